"""Claims about the splitter `benepar`: what is missing is told, and a model trained here cuts like the grammar."""

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.data.sample.grammar import SampleSentence, sample_sentences
from swag_af.data.syntax import constituency as parsers
from swag_af.data.syntax import splitters
from swag_af.data.syntax.splitters import Split, load_splitter
from swag_af.data.video import Caption

needs_benepar = pytest.mark.skipif(importlib.util.find_spec("benepar") is None, reason="benepar is not installed")

PARSES = {
    "He runs and she then jumps .": "(TOP (S (S (NP (UNK He)) (VP (UNK runs))) (UNK and) "
    "(S (NP (UNK she)) (ADVP (UNK then)) (VP (UNK jumps))) (UNK .)))",
    "He ca n't go -LRB- now -RRB- .": "(TOP (S (NP (UNK He)) (VP (UNK ca) (UNK n't) (VP (UNK go)) (PRN (UNK -LRB-) "
    "(ADVP (UNK now)) (UNK -RRB-))) (UNK .)))",
    "The end .": "(TOP (NP (UNK The) (UNK end) (UNK .)))",
}


class FakeParser:
    """Knows three sentences."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def parse_sents(self, inputs: list[Any]) -> list[Any]:
        from nltk import Tree

        self.batches.append(len(inputs))
        typed = {"(": "-LRB-", ")": "-RRB-"}
        return [Tree.fromstring(PARSES[" ".join(typed.get(w, w) for w in one.words)]) for one in inputs]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeParser:
    parser = FakeParser()
    monkeypatch.setattr(splitters, "load_benepar", lambda model: parser)
    return parser


def split(*texts: str) -> list[Split | None]:
    return load_splitter("benepar:fake").split([Caption(text) for text in texts])


@needs_benepar
def test_the_cut_is_before_the_final_verb_phrase_of_the_tree(fake: FakeParser) -> None:
    assert split("He runs and she then jumps.") == [Split("He runs and she then", "jumps.")]


@needs_benepar
def test_spelling_and_blanks_stay_as_they_were(fake: FakeParser) -> None:
    assert split("He  can't go (now).") == [Split("He", "can't go (now).")]


@needs_benepar
def test_answers_come_in_order_and_none_where_there_is_nothing_to_cut(fake: FakeParser) -> None:
    found = split("The end.", "", "He runs and she then jumps.", "so " * (parsers.MAX_TOKENS + 1), "The end.")
    assert [one is not None for one in found] == [False, False, True, False, False]


@needs_benepar
def test_a_batch_has_a_bounded_number_of_chart_cells() -> None:
    lengths = [1, 200, 3, 40, 0, 201, *[7] * 600]
    batches = list(parsers._batches(lengths))
    assert sorted(i for batch in batches for i in batch) == [i for i, n in enumerate(lengths) if 0 < n <= 200]
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) ** 2 <= parsers._CELLS for b in batches)


@needs_benepar
def test_a_parser_that_fails_is_an_error_that_names_the_sentence(
    fake: FakeParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"benepar failed on a batch that begins with 'An unknown one \.'"):
        split("An unknown one.")


@needs_benepar
def test_a_missing_model_names_the_command_that_downloads_it() -> None:
    with pytest.raises(InputError, match=r"not on this machine.*benepar\.download\('benepar_no_such'\)"):
        load_splitter("benepar:benepar_no_such")


@needs_benepar
def test_a_path_without_a_model_is_told_as_a_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no benepar model stands there"):
        load_splitter(f"benepar:{tmp_path / 'none.pt'}")


@needs_benepar
def test_a_file_that_is_no_model_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "junk.pt").write_bytes(b"junk")
    with pytest.raises(InputError, match=r"junk\.pt: benepar cannot load this model"):
        load_splitter(f"benepar:{tmp_path / 'junk.pt'}")


def test_without_benepar_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "benepar", None)
    parsers.load_benepar.cache_clear()
    with pytest.raises(InputError, match=re.escape(install("benepar"))):
        load_splitter("benepar")


@needs_benepar
def test_the_extra_imports_with_the_installed_torch_and_transformers() -> None:
    import benepar
    import transformers

    assert int(transformers.__version__.partition(".")[0]) < 5
    assert benepar.Parser
    assert benepar.InputSentence(words=["Hm"]).words == ["Hm"]


@pytest.mark.parametrize(
    ("has", "expected"),
    [((True, True), "benepar"), ((False, True), "spacy"), ((False, False), "rules")],
)
def test_auto_takes_the_best_that_is_at_hand(
    monkeypatch: pytest.MonkeyPatch, has: tuple[bool, bool], expected: str
) -> None:
    monkeypatch.setattr(splitters, "has_benepar", lambda: has[0])
    monkeypatch.setattr(splitters, "has_spacy_pipeline", lambda: has[1])
    assert splitters.best_at_hand() == expected


def test_auto_says_what_it_took(fake: FakeParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitters, "has_benepar", lambda: True)
    assert load_splitter("auto").name == "trees-or-benepar:benepar_en3"


@needs_benepar
@pytest.mark.slow
def test_a_model_trained_on_other_trees_splits_nearly_all_as_the_grammar_does(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    demo = sentences_of(sample_sentences(60))
    found = splits_by_a_model_of(sentences_of(sample_sentences(200, seed=1)), demo, tmp_path, epochs=5)
    equal = sum(pair == (s.start, s.ending) for pair, s in zip(found, demo, strict=True))
    assert equal / len(demo) >= 0.95
    assert capfd.readouterr() == ("", "")


def sentences_of(videos: list[list[SampleSentence]]) -> list[SampleSentence]:
    return [sentence for video in videos for sentence in video]


def splits_by_a_model_of(
    learnt: list[SampleSentence], asked: list[SampleSentence], folder: Path, *, epochs: int
) -> list[tuple[str, str]]:
    """Start and ending of the sentences `asked`, by a tiny model that learnt the trees of `learnt`, read from disk."""
    from tiny_benepar import train_benepar

    train_benepar(folder / "tiny.pt", [s.tree for s in learnt], epochs=epochs, batch_size=8, learning_rate=2e-2)
    splits = load_splitter(f"benepar:{folder / 'tiny.pt'}").split([Caption(s.text) for s in asked])
    return [(s.start, s.ending) if s else ("", "") for s in splits]
