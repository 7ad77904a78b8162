"""Claims about `train-tagger` and the treebanks it reads: what it learns, that it goes on, and what it refuses."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from swag_af.data.disk.manifests import write_manifest
from swag_af.data.errors import FormatError, InputError
from swag_af.data.sample.grammar import SampleSentence, sample_sentences
from swag_af.data.syntax import train_tagger as module
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.data.syntax.splitters import load_splitter
from swag_af.data.syntax.train_tagger import _State, train_tagger
from swag_af.data.syntax.treebank import gold_cut, read_treebank
from swag_af.data.tags import load_tagger
from swag_af.data.tokens import tokenize
from swag_af.data.video import Caption

pytestmark = pytest.mark.skipif(not find_spec("spacy"), reason="spaCy is not installed")  # it takes long to load

SENTENCES = [sentence for video in sample_sentences(40) for sentence in video if sentence.start]
FRESH = [sentence for video in sample_sentences(55)[40:] for sentence in video if sentence.start]


def conllu(sentences: list[SampleSentence]) -> str:
    """A treebank in which every word hangs on the first of the ending, the last of the start as its subject."""
    blocks = []
    for sentence in sentences:
        root = len(tokenize(sentence.start))
        lines = [f"# text = {sentence.text}"]
        for i, (word, tag) in enumerate(zip(sentence.tokens, sentence.tags, strict=True)):
            head, relation = (0, "root") if i == root else (root + 1, "nsubj" if i == root - 1 else "dep")
            lines.append(f"{i + 1}\t{word}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks) + "\n"


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebanks") / "sample.conllu"
    path.write_text(conllu(SENTENCES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small(treebank: Path) -> Path:
    """A treebank of fifty sentences, for claims that need no learning."""
    path = treebank.parent / "small.conllu"
    path.write_text(conllu(SENTENCES[:50]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(treebank: Path) -> Path:
    """A pipeline of three epochs; not to be changed."""
    out = treebank.parent / "trained"
    train_tagger(TrainTaggerOptions(treebank, out, epochs=3, width=32))
    return out


def test_the_trained_pipeline_tags_sentences_it_never_saw(trained: Path) -> None:
    tagged = load_tagger(f"spacy:{trained}").tag([sentence.tokens for sentence in FRESH])
    pairs = [pair for s, tags in zip(FRESH, tagged, strict=True) for pair in zip(s.tags, tags, strict=True)]
    assert sum(a == b for a, b in pairs) / len(pairs) > 0.9


def test_the_trained_pipeline_splits_sentences_it_never_saw(trained: Path) -> None:
    splits = load_splitter(f"spacy:{trained}").split([Caption(sentence.text) for sentence in FRESH])
    right = sum(s.start == split.start for s, split in zip(FRESH, splits, strict=True) if split)
    assert right / len(FRESH) > 0.6


def weights(folder: Path) -> dict[str, bytes]:
    return {pipe: (folder / pipe / "model").read_bytes() for pipe in ("tok2vec", "morphologizer", "parser")}


def test_a_training_killed_after_any_epoch_goes_on_to_the_same_weights(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "again"
    options = TrainTaggerOptions(small, out, epochs=3, width=16)
    train_tagger(replace(options, out=tmp_path / "straight"))
    whole = module._run_epoch
    for _ in range(3):
        ran = []

        def once(*given: object, ran: list[int] = ran) -> None:
            if ran:
                raise KeyboardInterrupt
            ran.append(1)
            whole(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(module, "_run_epoch", once)
        try:
            train_tagger(options)
        except KeyboardInterrupt:
            assert not out.exists()
    assert weights(out) == weights(tmp_path / "straight")
    assert not (tmp_path / ".again.epochs").exists()


def test_a_training_that_goes_on_must_be_the_one_that_was_begun(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "measure", lambda *given, **named: {"tag_accuracy": 0.5})
    whole, ran = module._run_epoch, []

    def once(*given: object) -> None:
        if ran:
            raise KeyboardInterrupt
        ran.append(1)
        whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_run_epoch", once)
    with pytest.raises(KeyboardInterrupt):
        train_tagger(TrainTaggerOptions(small, tmp_path / "out", epochs=2, width=16, parser=False))
    with pytest.raises(InputError, match=r"begun with other seed \(0, now 1\)"):
        train_tagger(TrainTaggerOptions(small, tmp_path / "out", epochs=2, width=16, parser=False, seed=1))


def test_a_pipeline_without_a_parser_tags(small: Path, tmp_path: Path) -> None:
    figures = train_tagger(TrainTaggerOptions(small, tmp_path / "tags", epochs=3, width=16, parser=False))
    assert "split_accuracy" not in figures
    assert load_tagger(f"spacy:{tmp_path / 'tags'}").tag([["The", "man", "."]])[0][2] == "PUNCT"


def test_the_global_generators_are_as_they_were(small: Path, tmp_path: Path) -> None:
    import random

    random.seed(5)
    expected = random.random()
    random.seed(5)
    train_tagger(TrainTaggerOptions(small, tmp_path / "out", epochs=1, width=16, parser=False))
    assert random.random() == expected


def test_an_output_that_stands_there_is_not_replaced(treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_manifest(tmp_path / "out", "tagger", {})
    with pytest.raises(InputError, match="already exists"):
        train_tagger(TrainTaggerOptions(treebank, tmp_path / "out"))


def test_what_was_begun_otherwise_is_told_in_one_sentence(tmp_path: Path) -> None:
    """It said "another another --out"."""
    plan, reports = {"epochs": 1}, [{"tag": 0.5}]
    (tmp_path / "state.json").write_text(json.dumps({"plan": plan, "reports": reports}))
    with pytest.raises(InputError, match=r"Repeat the first command, or choose another --out\.$"):
        _State(tmp_path, {"epochs": 2})


@pytest.mark.parametrize("out", ["mine", "mine/..", "."])
def test_force_replaces_no_folder_but_a_taggers(
    treebank: Path, tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/precious").touch()
    with pytest.raises(FormatError, match=r"already exists, and is not a tagger\. Choose another --out"):
        train_tagger(TrainTaggerOptions(treebank, Path(out), force=True))
    assert Path("mine/precious").exists()


# -------------------------------------------------------------------------------------------------- treebanks

GOOD = (
    "# text = Don't go.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n"
    "3.1\tyou\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n"
)


def test_a_treebank_is_read_without_its_multiword_tokens_and_empty_nodes(tmp_path: Path) -> None:
    path = tmp_path / "t.conllu"
    path.write_text(GOOD)
    (sentence,) = read_treebank(path)
    assert sentence == (
        "Don't go.",
        ["Do", "n't", "go", "."],
        ["AUX", "PART", "VERB", "PUNCT"],
        [2, 2, -1, 2],
        ["aux", "advmod", "root", "punct"],
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\t_\t3\taux", " 3 aux"), "line 3: 7 columns"),
        (("VERB", "VRB"), "line 5: 'VRB' is no universal"),
        (("\t0\troot", "\t9\troot"), "line 5: the head 9 is no other token"),
        (("\t0\troot", "\t1\troot"), "line 1: .* has 0 roots"),
        (("\t0\troot", "\t_\troot"), "line 5: the head '_' is no number"),
        (("4\t.", "5\t."), "line 7: token 5 where 4 is next"),
        (("\t_\t3\taux", "\t_\t\u00b2\taux"), "line 3: the head '\u00b2' is no number"),
        (("2\tn't", "2\t"), "line 4: a token without a word"),
        (("2\tn't", "\u00b2\tn't"), "line 4: '\u00b2' is no number of a token"),
        (("2\tn't", "9" * 5_000 + "\tn't"), "line 4: '9{20}' is no number of a token"),
        (("\t_\t3\taux", "\t_\t" + "3" * 5_000 + "\taux"), "line 3: the head '3{20}' is no number"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "t.conllu"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change, 1))
    with pytest.raises(InputError, match=rf"t\.conllu, {message}"):
        read_treebank(path)


def test_heads_in_a_circle_are_named(tmp_path: Path) -> None:
    """spaCy would not come back from them."""
    circle = GOOD.replace("\t3\taux", "\t2\taux").replace("\t3\tadvmod", "\t1\tadvmod")
    (tmp_path / "t.conllu").write_text(circle)
    with pytest.raises(InputError, match=r"t\.conllu, line 3: the heads from here lead round in a circle"):
        read_treebank(tmp_path / "t.conllu")


def test_a_sentence_of_many_tokens_is_read_at_once(tmp_path: Path) -> None:
    """Each token hangs on the one before it: a way of the length of the sentence."""
    lines = [f"{i}\tgo\tgo\tVERB\tVB\t_\t{i - 1}\troot\t_\t_\n" for i in range(1, 30_001)]
    (tmp_path / "t.conllu").write_text("".join(lines))
    assert len(read_treebank(tmp_path / "t.conllu")[0].words) == 30_000


@pytest.mark.parametrize(("content", "line"), [(b"1\t\0", "NUL"), (b"\xff", "not UTF-8")])
def test_a_treebank_that_is_no_text_is_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    (tmp_path / "t.conllu").write_bytes(content)
    with pytest.raises(InputError, match=rf"t\.conllu: {line}"):
        read_treebank(tmp_path / "t.conllu")


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        ("state.json", b"[]", r"state\.json: expected object"),
        ("state.json", b'{"plan": {}, "reports": []}', r"state\.json: reports: expected array of length >= 1"),
        ("moments.npz", b"no archive", r"moments\.npz: not an \.npz archive"),
        ("last/meta.json", b"{", r"last: damaged"),
    ],
)
def test_a_damaged_state_of_a_training_is_one_line(tmp_path: Path, file: str, content: bytes, line: str) -> None:
    pipeline, folder = module.import_spacy().blank("en"), tmp_path / "state"
    pipeline.add_pipe("morphologizer").add_label("POS=NOUN")
    state = module._State(folder, {"seed": 0})
    state.keep(pipeline, pipeline.initialize(), {"tag_accuracy": 0.5})
    module._State(folder, {"seed": 0}).open()
    (folder / file).write_bytes(content)
    with pytest.raises((InputError, FormatError), match=f"{line}.* Remove {folder} and run the same command again"):
        module._State(folder, {"seed": 0}).open()


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0c"])
def test_a_line_ends_at_a_line_feed_only(tmp_path: Path, mark: str) -> None:
    (tmp_path / "t.conllu").write_text(GOOD.replace("4\t.", f"4\t.{mark}."), encoding="utf-8")
    assert read_treebank(tmp_path / "t.conllu")[0].words[3] == f".{mark}."


def test_a_mark_of_byte_order_is_no_word_of_a_treebank(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(GOOD, encoding="utf-8-sig")
    assert read_treebank(tmp_path / "t.conllu")[0].text == "Don't go."


@pytest.mark.parametrize("text", ["", "\n\n", "# text = x\n\n"])
def test_a_treebank_without_sentences_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.conllu").write_text(text)
    with pytest.raises(InputError, match="holds no sentence"):
        read_treebank(tmp_path / "t.conllu")


def test_gold_cuts_a_treebank_sentence_before_the_verb_group_of_its_root(treebank: Path) -> None:
    cuts = [gold_cut(sentence) for sentence in read_treebank(treebank)]
    expected = [len(tokenize(sentence.start)) for sentence in SENTENCES]
    assert sum(a == b for a, b in zip(cuts, expected, strict=True)) > 0.9 * len(cuts)


def test_a_treebank_too_poor_for_a_parser_is_one_line(tmp_path: Path) -> None:
    block = "1\tMen\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\trun\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
    path = tmp_path / "poor.conllu"
    path.write_text("\n".join([block] * 12) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"too few dependencies to learn a parser from.*--no-parser"):
        train_tagger(TrainTaggerOptions(path, tmp_path / "out", epochs=1, width=8))


def test_any_seed_trains(small: Path, tmp_path: Path) -> None:
    made = train_tagger(TrainTaggerOptions(small, tmp_path / "out", epochs=1, width=8, parser=False, seed=2**32))
    assert made["best_epoch"] == 1


def test_a_pipeline_without_a_parser_splits_nothing(small: Path, tmp_path: Path) -> None:
    train_tagger(TrainTaggerOptions(small, tmp_path / "out", epochs=2, width=16, parser=False))
    with pytest.raises(InputError, match=r"gives words no dependencies\. Give one with a parser, or split with rules"):
        load_splitter(f"spacy[{tmp_path / 'out'}]")
