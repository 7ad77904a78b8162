"""Claims about tags in context: the tables say what the tagger says of each sentence, and filters read them."""

import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from folders import files_of

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError, InputError
from swag_af.data.pool import in_context as tagging
from swag_af.data.pool.folder import finish_pool, write_shard
from swag_af.data.pool.joining import is_whole
from swag_af.data.pool.options import TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import tag
from swag_af.data.syntax.taggers import RulesTagger
from swag_af.data.tags import CODES, TAGS, load_tagger
from swag_af.data.tokens import capitalise
from swag_af.data.work.locks import alone
from swag_af.filters.members import PosLSTMFilter, word_symbols
from swag_af.filters.networks import PosLSTM
from swag_af.filters.sequences import sequences_of

TABLES = {"tags", "start_tags"}


@pytest.fixture
def folder(pool_folder: Path, tmp_path: Path) -> Path:
    """A pool of one's own."""
    shutil.copytree(pool_folder, tmp_path / "pool")
    return tmp_path / "pool"


@pytest.fixture
def sharded(pool: CandidatePool, folder: Path) -> Path:
    """The same rows in shards of 12, 12 and 6."""
    shard = pool._shards[0]
    entries = [
        write_shard(
            folder,
            number,
            shard.contexts[begin : begin + 12],
            {t: shard.load(t)[begin : begin + 12] for t in pool.tables if not t.startswith("text")},
        )
        for number, begin in enumerate(range(0, 30, 12))
    ]
    finish_pool(folder, pool.vocabulary, entries, {"tagger": "rules"})
    return folder


def sentence_of(pool: CandidatePool, row: int, column: int) -> tuple[list[str], list[str]]:
    """The words of a start and of an ending as a tagger gets them: a capital first, spelt as a person would."""
    vocabulary = pool.vocabulary.spellings
    at, columns = np.array([row]), np.array([[column]])
    n_start = int(pool.gather("start_lengths", at)[0])
    n_ending = int(pool.gather("lengths", at, columns)[0, 0])
    start = [vocabulary[i] for i in pool.gather("starts", at)[0, :n_start].tolist()]
    ending = [vocabulary[i] for i in pool.gather("tokens", at, columns)[0, 0, :n_ending].tolist()]
    if start:
        return [capitalise(start[0]), *start[1:]], ending
    return [], [capitalise(ending[0]), *ending[1:]]


@pytest.mark.parametrize("asked", [{"workers": 2}, {"where": EngineOptions("ray")}])
def test_word_types_are_tagged_by_nobody_else(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="--engine and --workers are for --in-context"):
        TagOptions(Path("pool"), **asked)


def test_tags_in_context_are_those_of_each_sentence_tagged_by_hand(folder: Path) -> None:
    made = tag(TagOptions(folder, "rules", in_context=True))
    tagger = load_tagger("rules")
    for row in range(0, len(made), 7):
        for column in range(made.counts[row]):
            start, ending = sentence_of(made, row, column)
            by_hand = tagger.tag([[*start, *ending]])[0][len(start) :]
            codes = made.gather("tags", np.array([row]), np.array([[column]]))[0, 0]
            assert [TAGS[code] for code in codes[: len(ending)]] == by_hand
            assert not codes[len(ending) :].any()
        codes = made.gather("start_tags", np.array([row]))[0]
        assert codes[: len(start)].tolist() == [CODES[name] for name in tagger.tag([start])[0]]


def test_a_shard_that_is_gone_takes_no_tags_with_it(sharded: Path) -> None:
    """The pool was begun again, as it was before it was tagged, without a word."""
    plan = {"tagger": CandidatePool.open(sharded).manifest["tagger"]}
    n = len(tag(TagOptions(sharded, "rules", in_context=True)).manifest["shards"])
    shutil.rmtree(sharded / "shards" / "00001")
    with pytest.raises(InputError, match="00001: gone, and the pool was tagged or guarded since"):
        is_whole(sharded, n, plan)


def test_a_word_has_the_tag_of_its_sentence_and_not_of_its_type(tmp_path: Path) -> None:
    from swag_af.data.context import Context

    contexts = [Context("A man cooks.", "He", "slices the bread .", id=str(i), video=str(i)) for i in range(2)]
    pool = CandidatePool.from_texts(contexts, [["eats the slices ."]] * 2, tagger="rules").save(tmp_path / "pool")
    made = tag(TagOptions(tmp_path / "pool", "rules", in_context=True))
    tags = made.gather("tags", np.array([0]))[0]  # (K, L)
    assert [TAGS[tags[0, 0]], TAGS[tags[1, 2]]] == ["VERB", "NOUN"]
    assert pool.identity != made.identity


def test_the_pool_says_who_tagged_it_in_context(folder: Path) -> None:
    before = CandidatePool.open(folder)
    made = tag(TagOptions(folder, "rules", in_context=True))
    assert made.manifest["context_tagger"] == "rules"
    assert made.identity != before.identity
    assert set(made.tables) - set(before.tables) == TABLES
    assert not (folder / tagging.PLAN).exists()


def test_tagging_word_types_again_gives_the_pool_as_it_was(folder: Path) -> None:
    before = CandidatePool.open(folder).identity
    tag(TagOptions(folder, "rules", in_context=True))
    again = tag(TagOptions(folder, "rules"))
    assert again.identity == before
    assert not TABLES & set(again.tables)
    assert again.manifest["context_tagger"] is None


def test_saved_elsewhere_the_pool_keeps_its_tags(folder: Path, tmp_path: Path) -> None:
    made = tag(TagOptions(folder, "rules", in_context=True))
    saved = made.save(tmp_path / "copy")
    assert saved.identity == made.identity
    assert saved.manifest["context_tagger"] == "rules"


def test_tagging_twice_by_the_same_tagger_does_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tag(TagOptions(folder, "rules", in_context=True))
    monkeypatch.setattr(tagging, "_tag_shards", lambda *given: pytest.fail("tagged again"))
    assert tag(TagOptions(folder, "rules", in_context=True)).identity == made.identity


def test_several_processes_give_the_bytes_of_one(
    sharded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tagging, "_BLOCK_SENTENCES", 40)
    shutil.copytree(sharded, tmp_path / "other")
    one = tag(TagOptions(sharded, "rules", in_context=True))
    two = tag(TagOptions(tmp_path / "other", "rules", in_context=True, workers=2))
    assert files_of(sharded, like="*tags.npy") == files_of(tmp_path / "other", like="*tags.npy")
    assert one.identity == two.identity
    assert not multiprocessing.active_children()


def test_on_a_cluster_there_are_as_many_workers_as_it_has_room_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    here = tagging.run_blocks

    def noted(job: Any, blocks: Sequence[Any], *, workers: int | None, engine: EngineOptions) -> Any:
        asked.append((workers, engine))
        return here(job, blocks)

    monkeypatch.setattr(tagging, "run_blocks", noted)
    tag(TagOptions(folder, "rules", in_context=True, where=EngineOptions("ray")))
    assert asked == [(None, EngineOptions("ray"))]


def test_processes_end_when_their_parent_is_killed(sharded: Path) -> None:
    """They are asked for their parent's death only: killed, it cannot tell them to stop."""
    script = (
        "import os, time\nfrom pathlib import Path\nfrom swag_af.data.pool import in_context as tagging\n"
        "tagging._BLOCK_SENTENCES = 40\n"
        "def write(path, array):\n"
        "    import multiprocessing\n"
        "    print(*(child.pid for child in multiprocessing.active_children()), flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "tagging.write_array = write\n"
        "if __name__ == '__main__':\n"
        f"    tagging.tag_in_context(Path({str(sharded)!r}), 'rules', workers=2)\n"
    )
    path = sharded.parent / "killed.py"
    path.write_text(script)
    done = subprocess.run([sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    processes = [int(number) for number in done.stdout.split()]
    assert len(processes) == 2
    until = time.monotonic() + 20
    while any(map(runs, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(runs, processes))


def runs(process: int) -> bool:
    """Whether it is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("n_writes", range(6))
def test_killed_at_any_write_the_pool_is_the_old_one_and_tagging_goes_on_to_the_same_bytes(
    sharded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_writes: int
) -> None:
    shutil.copytree(sharded, tmp_path / "other")
    before, straight = (
        CandidatePool.open(sharded).identity,
        tag(TagOptions(tmp_path / "other", "rules", in_context=True)),
    )
    written, write = [], tagging.write_array

    def write_some(path: Path, array: np.ndarray) -> None:
        if len(written) == n_writes:
            raise KeyboardInterrupt
        written.append(path)
        write(path, array)

    with monkeypatch.context() as patch:
        patch.setattr(tagging, "write_array", write_some)
        with pytest.raises(KeyboardInterrupt):
            tag(TagOptions(sharded, "rules", in_context=True))
        assert CandidatePool.open(sharded).identity == before
    jobs: list[tuple[int, int]] = []
    tag_block = tagging._Tagging.tag
    monkeypatch.setattr(tagging._Tagging, "tag", lambda self, block: (jobs.append(block), tag_block(self, block))[1])
    assert tag(TagOptions(sharded, "rules", in_context=True)).identity == straight.identity
    assert files_of(sharded, like="*tags.npy") == files_of(tmp_path / "other", like="*tags.npy")
    assert len(jobs) == 3 - n_writes // 2


def test_a_shard_without_rows_is_tagged_too(sharded: Path) -> None:
    """All contexts of a shard may have been dropped."""
    pool = CandidatePool.open(sharded)
    shard = pool._shards[0]
    entries = [read_json(sharded / "shards" / one["name"] / "shard.json") for one in pool.manifest["shards"]]
    entries.insert(1, write_shard(sharded, 7, [], {t: shard.load(t)[:0] for t in pool.tables}))
    finish_pool(sharded, pool.vocabulary, entries, {"tagger": "rules"})
    made = tag(TagOptions(sharded, "rules", in_context=True))
    assert {str(np.load(sharded / f"shards/00007/{table}.npy").shape) for table in TABLES} == {
        str((0, *made.gather(table, np.arange(1)).shape[1:])) for table in TABLES
    }
    assert set(made.tables) >= TABLES


def test_what_another_tagger_left_is_done_again(sharded: Path) -> None:
    table = sharded / "shards" / "00000" / "tags.npy"
    (sharded / tagging.PLAN).write_text('{"context_tagger": "spacy:other", "context_tagger_sha256": "0"}')
    np.save(table, np.full((12, 19, 9), 7, np.uint8))
    made = tag(TagOptions(sharded, "rules", in_context=True))
    assert (made.gather("tags", np.array([0]))[0, 0] != 7).any()


def test_what_other_rules_left_is_done_again(sharded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed tagging must not go on with the rules of another release."""
    with monkeypatch.context() as patch:
        patch.setattr(RulesTagger, "sha256", "of another release")
        patch.setattr(tagging, "_tag_shards", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            tag(TagOptions(sharded, "rules", in_context=True))
    np.save(sharded / "shards" / "00000" / "tags.npy", np.full((12, 19, 9), 7, np.uint8))
    made = tag(TagOptions(sharded, "rules", in_context=True))
    assert (made.gather("tags", np.array([0]))[0, 0] != 7).any()


def test_what_another_spacy_left_is_done_again(sharded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed tagging went on with tags of two versions of spaCy."""
    jobs: list[object] = []
    tag_shards = tagging._tag_shards

    def kill(pool: CandidatePool, *given: Any) -> None:
        tag_shards(pool, *given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tagging, "_tag_shards", kill)
        patch.setattr(tagging, "version_of", lambda name: "3.0")
        with pytest.raises(KeyboardInterrupt):
            tag(TagOptions(sharded, "rules", in_context=True))
    tag_block = tagging._Tagging.tag
    monkeypatch.setattr(tagging._Tagging, "tag", lambda self, block: (jobs.append(block), tag_block(self, block))[1])
    tag(TagOptions(sharded, "rules", in_context=True))
    assert len(jobs) == 3


def test_tags_of_another_tagger_take_the_place_of_those_that_stand(folder: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler").add([[{"IS_ALPHA": True}]], {"POS": "INTJ"})
    nlp.to_disk(tmp_path / "tiny")
    tag(TagOptions(folder, "rules", in_context=True))
    made = tag(TagOptions(folder, f"spacy:{tmp_path / 'tiny'}", in_context=True))
    assert made.manifest["context_tagger"] == f"spacy:{tmp_path / 'tiny'}"
    assert TAGS[made.gather("tags", np.array([0]))[0, 0, 0]] == "INTJ"


def test_a_tagger_that_does_not_exist_changes_nothing(folder: Path) -> None:
    before = {path.name for path in folder.rglob("*")}
    with pytest.raises(InputError, match="no tagger"):
        tag(TagOptions(folder, "rule", in_context=True))
    assert {path.name for path in folder.rglob("*")} == before


def test_faults_of_the_options_are_told_together() -> None:
    with pytest.raises(InputError, match=r"--workers 0.*--tagger none"):
        TagOptions(Path("p"), "none", in_context=True, workers=0)


def test_the_verb_says_how_many_candidates_were_tagged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["tag", str(folder), "--tagger", "rules", "--in-context"])
    n = int(CandidatePool.open(folder).counts.sum())
    assert f"{n:,} candidates tagged in their sentences by rules" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------------- filters


def test_the_pos_lstm_reads_the_tags_in_context_of_the_words_that_are_not_common(folder: Path) -> None:
    tag(TagOptions(folder, "none"))
    made = tag(TagOptions(folder, "rules", in_context=True))
    view = made.view(np.arange(30), np.tile(np.arange(4), (30, 1)))
    sequences = sequences_of(view, words=True, features=False, tags=True)
    assert sequences.tags is not None
    symbols = torch.from_numpy(word_symbols(made.vocabulary.with_tags(np.zeros(len(made.vocabulary))), 5))
    network = PosLSTM(symbols, 6 + len(TAGS), first_tag=6).eval()
    batch = sequences.take(torch.arange(12), torch.device("cpu"))
    before = network(batch)[1]
    assert batch.tags is not None
    batch.tags[:] = torch.where(batch.words >= 0, CODES["X"], 0)
    common = (network.symbols[batch.words] < network.first_tag).all(1)
    changed = (network(batch)[1] - before).abs() > 1e-6
    assert changed.any()
    assert not (changed & common).any()


def test_a_filter_fits_and_scores_on_tags_in_context_alone(folder: Path) -> None:
    tag(TagOptions(folder, "none"))
    made = tag(TagOptions(folder, "rules", in_context=True))
    view = made.view(np.arange(30), np.tile(np.arange(4), (30, 1)))
    one = PosLSTMFilter(max_epochs=1)
    one.fit(view, rng=np.random.default_rng(0))
    assert np.isfinite(one.score(view)).all()


def test_the_types_of_a_pool_are_not_tagged_while_another_is_at_work_on_it(pool_folder: Path, tmp_path: Path) -> None:
    """The tables of the other, or the vocabulary, were lost."""
    folder = Path(shutil.copytree(pool_folder, tmp_path / "pool"))
    with alone(folder / "manifest.json"), pytest.raises(InputError, match="another process is at work on this"):
        tag(TagOptions(folder, "none"))
    with pytest.raises(InputError, match="no such folder"):
        tag(TagOptions(tmp_path / "mistyped" / "pool", "rules", in_context=True))
    assert not (tmp_path / "mistyped").exists()


def test_a_pool_that_changes_while_its_tables_are_hashed_is_not_written_over(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(pool_folder, tmp_path / "pool"))
    pool, hashed = CandidatePool.open(folder), CandidatePool.shard_entries

    def hash_slowly(self: CandidatePool, tables: Sequence[str]) -> list[dict[str, Any]]:
        monkeypatch.setattr(CandidatePool, "shard_entries", hashed)
        tag(TagOptions(folder, "none"))
        return hashed(self, tables)

    monkeypatch.setattr(CandidatePool, "shard_entries", hash_slowly)
    with pytest.raises(InputError, match="another command has changed this pool meanwhile"):
        pool.with_tables(pool.tables, {"mine": 1})
    CandidatePool.open(folder).check_tables()


def test_tags_of_word_types_leave_nothing_of_tags_in_context(sharded: Path) -> None:
    tag(TagOptions(sharded, "rules", in_context=True))
    assert list(sharded.glob("shards/*/tags.npy"))
    (sharded / tagging.PLAN).write_text("{}")
    tag(TagOptions(sharded, "rules"))
    assert not [
        *sharded.glob("shards/*/tags.npy"),
        *sharded.glob("shards/*/start_tags.npy"),
        *sharded.glob(tagging.PLAN),
    ]


OWN = """
class Base:
    name, sha256 = "own", "abc"
    def tag(self, sentences):
        return [["NOUN"] * len(words) for words in sentences]

class Unknown(Base):
    def tag(self, sentences):
        return [["NN"] * len(words) for words in sentences]

class OneTooFew(Base):
    def tag(self, sentences):
        return [["NOUN"] * (len(words) - 1) for words in sentences]

class Fewer(Base):
    def tag(self, sentences):
        return [["NOUN"] * len(words) for words in sentences[1:]]

class Raises(Base):
    def tag(self, sentences):
        raise KeyError("no such word")

class Blank(Base):
    def tag(self, sentences):
        return [[""] * len(words) for words in sentences]

class Nothing(Base):
    def tag(self, sentences):
        return [[None] * len(words) for words in sentences]

class Lists(Base):
    def tag(self, sentences):
        return [[["NOUN"]] * len(words) for words in sentences]

class Alone(Base):
    alone = None

class AloneElse(Base):
    alone = {"a": "DETERMINER"}

class Nameless:
    def tag(self, sentences):
        return []

class NoHash(Base):
    sha256 = None
"""
BROKEN = {
    "Unknown": "tagger own: gave 'NN', which is none of TAGS",
    "OneTooFew": "for .*, which has . token",
    "Fewer": "tagger own: gave .* for .* sentences",
    "Raises": r"Raises\.tag raised KeyError .*owntagger.py, line",
    "Blank": "tagger own: gave '', which is none of TAGS",
    "Nothing": "tagger own: gave None, which is none of TAGS",
    "Lists": r"tagger own: gave \['NOUN'\], which is none of TAGS",
    "Alone": "an `alone` None, where a tag of TAGS by word is due",
    "AloneElse": "an `alone` .*DETERMINER.*, where a tag of TAGS by word is due",
    "Nameless": "a Nameless has no text `name`",
}


@pytest.mark.parametrize("in_context", [False, True])
@pytest.mark.parametrize("name", [*BROKEN, "NoHash", "Base"])
def test_what_breaks_of_ones_own_tagger_is_told_in_a_line(
    name: str, in_context: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was called a bug of ours."""
    (folder.parent / "owntagger.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(folder.parent))
    options = TagOptions(folder, f"owntagger:{name}", in_context=in_context)
    if name in BROKEN or (name == "NoHash" and in_context):
        with pytest.raises(ContractError, match=BROKEN.get(name, "a NoHash has no `sha256`")) as told:
            tag(options)
        assert "\n" not in str(told.value)
    else:
        tag(options)
    sys.modules.pop("owntagger", None)
