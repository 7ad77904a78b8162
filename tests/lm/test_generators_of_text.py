"""Pools of generators of text: the same tables as of texts, resumable by row, shared, and no option in vain."""

import fcntl
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import folders
import numpy as np
import pytest
from conftest import make_contexts_of
from killed import KilledError
from mock_server import ABLE, MockServer

from swag_af import check_generator
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.cli.main import main
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, read_jsonl, write_jsonl
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError, ExhaustedError, InputError, SwagAfError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text.lengths import RULES
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.contract import Generated
from swag_af.lm.features import features
from swag_af.lm.ngram import NgramGenerator
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TextOptions
from swag_af.lm.prompting.prompt import Prompt
from swag_af.lm.prompting.sieve import Sieve
from swag_af.lm.texts import estimate as estimate_module
from swag_af.lm.texts import making
from swag_af.lm.texts.estimate import estimate_texts
from swag_af.lm.texts.journal import Journal, writing
from swag_af.lm.texts.outcome import Texts
from swag_af.lm.texts.plan import prepare
from swag_af.lm.texts.settings import is_text, lms_of, prompt_of, settings_of
from swag_af.lm.verb import generate, make_shards
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.tables.text import text_estimate_lines
from swag_af.reporting.verb import report

ASKED: list[str] = []
"""The ids of all contexts that `Writer` was asked about."""


@dataclass
class Writer:
    """Writes capitals, blanks and no full stop; every second context of a video it declines."""

    prompt: Prompt
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    temperature: float = 1.0
    max_tokens: int = 25
    spoil: ClassVar[Mapping[str, Any]] = {}
    """Faults of answers, by the id of their context."""

    name = "writer"
    default_prompt = "continuation"

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        for position in reversed(range(len(contexts))):
            context = contexts[position]
            ASKED.append(context.id)
            endings = tuple(f"Walks {i}th  mile to the {context.id}" for i in range(n_negatives))
            made = Generated(position, endings, n_drawn=n_negatives + 2, rejected={"refusal": 2})
            if context.id.endswith("-1"):
                made = Generated(position, reason="too_few_distinct_endings", rejected={"refusal": n_negatives})
            yield replace(made, **self.spoil.get(context.id, {}))

    def record(self) -> dict[str, object]:
        return {"model": "a fake", "temperature": self.temperature}


class Careful(Writer):
    """One that asks for money, and says how much."""

    def forecast(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> list[str]:
        return [f"{len(contexts) * n_negatives:,} requests"]


class Spendthrift(Writer):
    """Takes whatever it is given."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings


@dataclass
class Told(Writer):
    """A writer whose prompt may be a file."""

    prompt: Prompt | str


WRITER = "test_generators_of_text:Writer"


@pytest.fixture(autouse=True)
def _nobody_asked() -> None:
    ASKED.clear()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty contexts of six videos."""
    path = tmp_path_factory.mktemp("texts") / "contexts.jsonl"
    write_contexts(path, make_contexts_of(30, n_videos=6), [], {})
    return path


def options_for(path: Path, out: Path, **more: Any) -> GenerateOptions:
    return GenerateOptions(path, out=out, **{"generator": WRITER, "n_negatives": 3, "tagger": "rules"} | more)


def ngram_for(path: Path, out: Path, **more: Any) -> GenerateOptions:
    return options_for(path, out, **{"generator": "ngram", "min_tokens": 4} | more)


files_of = partial(folders.files_of, but=("manifest.json",))
"""All that a pool consists of, without what names its folder."""


@pytest.mark.parametrize("normalise", [True, False])
def test_the_pool_is_that_of_the_same_texts(path: Path, tmp_path: Path, normalise: bool) -> None:
    options = options_for(path, tmp_path / "pool", text=TextOptions(normalise=normalise))
    made = generate(options)
    contexts = [context for context in read_contexts(path) if not context.id.endswith("-1")]
    answers = Writer(Prompt("t", "{{ context }}")).generate(contexts, 3, seed=0)
    endings = {answer.position: answer.endings for answer in answers}
    given = [endings[i] for i in range(len(contexts))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = CandidatePool.from_texts(contexts, given, tagger="rules", normalise=normalise)
    assert made.identity == expected.identity
    for name in ("shared_texts", "surface", "dropped_negatives", "n_candidates", "tagger"):
        assert made.manifest[name] == expected.manifest[name], name
    form = [one for one in made.manifest["surface"] if one["feature"] not in RULES]
    assert bool(form) == (not normalise)
    assert made.manifest["drops"] == {"too_few_distinct_endings": 6}
    assert made.manifest["n_draws"] == 24 * 5 + 6 * 3
    assert (made.is_generated, expected.is_generated) == (True, False)
    assert made.manifest["rejected_draws"] == {"refusal": 24 * 2 + 6 * 3}
    dropped = [record for _, record in read_jsonl(options.out / "dropped.jsonl")]
    assert [record["id"] for record in dropped] == [f"v{i}-1" for i in range(6)]
    assert not (options.out / "journal").exists()


def test_contexts_without_ids_are_called_by_their_line_whichever_are_chosen(path: Path, tmp_path: Path) -> None:
    """`row-0` was the first of those chosen, in a pool of the LSTMs the first of the file."""
    every = [replace(context, id="", video="") for context in read_contexts(path)]
    every[12] = replace(every[12], gold="sits.")
    write_contexts(tmp_path / "contexts.jsonl", every, [], {})
    folds = (every[12].fold, every[13].fold)
    options = ngram_for(tmp_path / "contexts.jsonl", tmp_path / "pool", folds=folds, text=TextOptions(normalise=False))
    pool = generate(options)
    assert {context.id for context in pool.contexts} == {
        f"row-{i}" for i, context in enumerate(every) if context.fold in folds and i != 12
    }
    for context in pool.contexts:
        assert context.gold == every[int(context.id.removeprefix("row-"))].gold
    assert next(iter(read_jsonl(tmp_path / "pool" / "dropped.jsonl")))[1]["id"] == "row-12"
    alone = NgramGenerator(every, min_tokens=4).generate(every, 3, seed=0)
    endings = {f"row-{answer.position}": answer.endings for answer in alone}
    for row, context in enumerate(pool.contexts):
        assert pool.texts_of_row(row)[1:] == list(endings[context.id]), "names change no ending"


def test_what_wrote_it_is_kept_with_its_prompt(path: Path, tmp_path: Path) -> None:
    kept = generate(options_for(path, tmp_path / "pool", limit=4)).manifest["generator"]
    assert {name: kept[name] for name in ("name", "model", "temperature")} == {
        "name": "test_generators_of_text:Writer".partition("[")[0],
        "model": "a fake",
        "temperature": 1.0,
    }
    assert kept["prompt"]["name"] == "continuation"
    assert kept["prompt"]["shows_gold"] is False


@pytest.mark.parametrize("n_kept", [0, 1, 17])
def test_stopped_at_a_row_it_resumes_at_the_next_to_the_same_bytes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_kept: int
) -> None:
    whole = generate(options_for(path, tmp_path / "one"))
    ASKED.clear()
    answers = making._answers

    def stop(job: Any, todo: Any) -> Iterator[Generated]:
        for n, answer in enumerate(answers(job, todo)):
            if n == n_kept:
                raise KilledError
            yield answer

    again = options_for(path, tmp_path / "two")
    with monkeypatch.context() as patched, pytest.raises(KilledError):
        patched.setattr(making, "_answers", stop)
        generate(again)
    file = next((again.out / "journal").glob("*.jsonl"))
    assert sum(line.startswith('{"row"') for line in file.read_text().splitlines()) == n_kept
    with file.open("a") as torn:
        torn.write('{"row": 3, "endings": ["walks')
    with pytest.raises(Exception, match="unfinished"):
        CandidatePool.open(again.out)
    assert generate(again).identity == whole.identity
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert len(ASKED) - len(set(ASKED)) == 1, "only the context whose answer was not kept is asked about twice"


def test_a_pool_that_is_there_is_not_made_again(path: Path, tmp_path: Path) -> None:
    options = options_for(path, tmp_path / "pool")
    generate(options)
    before, n_asked = (options.out / "manifest.json").stat().st_mtime_ns, len(ASKED)
    assert make_shards(options) == (30, 30)
    assert (before, n_asked) == ((options.out / "manifest.json").stat().st_mtime_ns, len(ASKED))


def test_shared_work_makes_the_same_pool(path: Path, tmp_path: Path) -> None:
    generate(ngram_for(path, tmp_path / "one"))
    shared = ngram_for(path, tmp_path / "two")
    assert make_shards(replace(shared, shard="2/3")) == (10, 30)
    assert make_shards(replace(shared, shard="1/3")) == (20, 30)
    assert make_shards(replace(shared, shard="2/2")) == (25, 30), "another way of sharing goes on from what is there"
    assert make_shards(shared) == (30, 30)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_answers_for_other_contexts_or_another_seed_are_refused(path: Path, tmp_path: Path) -> None:
    """Work shared by hand, with one folder begun by mistake: its endings were given to other contexts."""
    whole = options_for(path, tmp_path / "whole")
    first, second = (replace(whole, out=tmp_path / f"{i}", shard=f"{i}/2") for i in (1, 2))
    make_shards(first)
    journal = first.out / "journal"
    changes: list[tuple[dict[str, Any], str]] = [({"seed": 1}, r"seed \(1, now 0\)"), ({"limit": 20}, "limit")]
    for change, said in changes:
        other = replace(second, out=tmp_path / said[:4], **change)
        make_shards(other)
        copied = shutil.copy(other.out / "journal" / "00002-of-00002.jsonl", journal)
        with pytest.raises(InputError, match=rf"00002-of-00002\.jsonl: .* for another pool, with other .*{said}"):
            generate(replace(first, shard=None))
        Path(copied).unlink()
    make_shards(second)
    shutil.copy(second.out / "journal" / "00002-of-00002.jsonl", journal)
    old = journal / "00001-of-00002.jsonl"
    old.write_text("".join(old.read_text().splitlines(keepends=True)[1:]))  # as older releases wrote it
    n_asked = len(ASKED)
    joined = generate(replace(first, shard=None))
    assert len(ASKED) == n_asked
    assert joined.identity == generate(whole).identity


def test_two_processes_do_not_answer_the_same_contexts(path: Path, tmp_path: Path) -> None:
    options = options_for(path, tmp_path / "pool")
    (options.out / "journal").mkdir(parents=True)
    with (options.out / "journal" / "00001-of-00001.jsonl").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process"):
            generate(options)
    assert not ASKED


def test_processes_that_share_the_work_in_other_parts_do_not_answer_the_same_contexts(
    path: Path, tmp_path: Path
) -> None:
    options = options_for(path, tmp_path / "pool")
    with writing(options.out / "journal", (0, 2)), pytest.raises(InputError, match="by all processes in as many parts"):
        generate(options)
    assert not ASKED
    with writing(options.out / "journal", (0, 2)), writing(options.out / "journal", (1, 2)):
        pass
    generate(options)
    assert ASKED


def test_text_is_generated_in_this_process_where_that_is_asked(path: Path, tmp_path: Path) -> None:
    assert len(generate(replace(options_for(path, tmp_path / "pool"), where=EngineOptions(engine="local"))))
    with pytest.raises(InputError, match="--engine: for lstm alone"):
        generate(replace(options_for(path, tmp_path / "other"), where=EngineOptions(engine="processes")))


def test_a_damaged_journal_is_told_in_one_line(tmp_path: Path) -> None:
    with writing(tmp_path / "journal", (0, 1)) as writer:
        for row in range(3):
            writer.keep(row, Generated(row, ("walks.",)))
    file = tmp_path / "journal" / "00001-of-00001.jsonl"
    for damage in (b'"endings": 7', b'"endings": \xff', b'"endings": [}'):
        damaged = file.read_bytes().replace(b'1, "endings": ["walks."]', b"1, " + damage)
        (tmp_path / "journal" / "00001-of-00001.jsonl").write_bytes(damaged)
        with pytest.raises(InputError, match=r"00001-of-00001\.jsonl: line 2 is damaged"):
            list(Journal(tmp_path / "journal").answers(range(3)))
        file.write_bytes(damaged.replace(damage, b'"endings": ["walks."]'))
    assert [kept.row if kept else None for kept in Journal(tmp_path / "journal").answers(iter((2, 5, 0)))] == [
        2,
        None,
        0,
    ]


def test_an_answer_that_nobody_gave_is_told(path: Path, tmp_path: Path) -> None:
    options = options_for(path, tmp_path / "pool", shard="1/2")
    make_shards(options)
    file = next((options.out / "journal").glob("*.jsonl"))
    lines, asked = file.read_text().splitlines(), len(ASKED)
    file.write_text("\n".join(['{"row": 0}', *(line for line in lines if '"row": 0,' not in line), '{"row": 99}', ""]))
    with pytest.raises(InputError, match=r"journal: damaged \(context 0 has endings and a reason for none, or neither"):
        generate(replace(options, shard=None))
    assert len(ASKED) == asked, "told before more is asked for"
    assert {entry.name for entry in options.out.iterdir()} == {"journal", "manifest.json"}


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "generator": ({"generator": "ngram", "min_tokens": 4}, "generator.name"),
    "seed": ({"seed": 1}, "seed"),
    "number": ({"n_negatives": 4}, "n_negatives"),
    "parameter": ({"text": TextOptions(temperature=0.5)}, r"generator.temperature \(1.0, now 0.5\)"),
    "prompt": ({"text": TextOptions(prompt="wrong-ending")}, "generator.prompt.task"),
    "form": ({"text": TextOptions(normalise=False)}, "normalise"),
    "length": ({"max_tokens": 24}, "max_tokens"),
    "lstm": ({"generator": "lstm"}, "begun with other"),
}


@pytest.mark.parametrize(("change", "said"), OTHERS.values(), ids=OTHERS)
def test_another_way_of_making_it_is_refused(path: Path, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    options = options_for(path, tmp_path / "pool", shard="1/2")
    make_shards(options)
    before, n_asked = files_of(options.out), len(ASKED)
    with pytest.raises(InputError, match=said):
        make_shards(replace(options, **change))
    assert (before, n_asked) == (files_of(options.out), len(ASKED))


@pytest.mark.parametrize("normalised", [True, False])
def test_golds_are_as_long_as_in_the_pool(tmp_path: Path, normalised: bool) -> None:
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, [{"sent1": "A.", "start": "b", "gold": gold} for gold in ("carbon dioxide", "a big red dog.")])
    text = TextOptions(normalise=normalised)
    job = prepare(options_for(path, tmp_path / "pool", generator="ngram", min_tokens=3, max_tokens=4, text=text))
    assert job.unfit == ({1: "gold_too_long"} if normalised else {0: "gold_too_short", 1: "gold_too_long"})


def test_golds_that_no_ending_could_look_like_are_not_asked_about(tmp_path: Path) -> None:
    golds = [
        "walks home.",
        "walks " + "on and " * 20 + "on.",
        "walks. Then she sits.",
        "walks home",
        "...",
        "sits here.",
    ]
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, [{"sent1": "A.", "start": "b", "gold": gold, "id": f"c{i}"} for i, gold in enumerate(golds)])
    write_jsonl(path, [*(r for _, r in read_jsonl(path)), {"sent1": "", "start": "", "gold": "sits.", "id": "empty"}])
    made = generate(options_for(path, tmp_path / "pool"))
    assert made.manifest["drops"] == {
        "gold_too_long": 1,
        "gold_of_several_sentences": 1,
        "gold_without_words": 1,
        "empty_context": 1,
    }
    assert sorted(ASKED) == ["c0", "c3", "c5"], "with one surface form, the third gets its full stop"
    as_given = generate(options_for(path, tmp_path / "as-given", text=TextOptions(normalise=False)))
    assert as_given.manifest["drops"]["gold_unfinished"] == 1


@pytest.mark.parametrize("normalised", [True, False])
def test_golds_that_look_as_no_ending_may_are_not_asked_about(tmp_path: Path, normalised: bool) -> None:
    """An option that began with "I can't", or repeated the context, could be nothing but right."""
    golds = {
        "c0": "I can't believe it.",
        "c1": "I can’t believe it.",
        "c2": "Of course, he waved.",
        "c3": "walks down the long hill.",
        "c4": "walks down the hill.",
        "c5": "can't believe it.",
    }
    path = tmp_path / "contexts.jsonl"
    before = {"sent1": "A man walks down the long hill.", "start": "He"}
    write_jsonl(path, [{**before, "gold": gold, "id": name} for name, gold in golds.items()])
    text = TextOptions(normalise=normalised)
    made = generate(options_for(path, tmp_path / "pool", text=text))
    assert made.manifest["drops"] == {"gold_like_refusal": 3 if normalised else 2, "gold_echoes_context": 1}
    assert sorted(ASKED) == (["c4", "c5"] if normalised else ["c1", "c4", "c5"])
    for context in read_contexts(path):
        sieve = Sieve(replace(context, gold="..."), 1, 1, 25, normalise=normalised)
        assert bool(sieve.add(context.gold)) is (context.id not in ASKED), "as an ending, likewise"


def test_who_is_asked_in_no_words_has_golds_of_any_manner(tmp_path: Path) -> None:
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, [{"sent1": "A.", "start": "b", "gold": "I can't believe it."}])
    assert not prepare(options_for(path, tmp_path / "pool", generator="ngram", min_tokens=1)).unfit


def test_contexts_of_other_scripts_are_asked_about_as_others_are(tmp_path: Path) -> None:
    """All of them were dropped as unfinished, or too short, and their endings were single tokens."""
    path = tmp_path / "contexts.jsonl"
    records = [
        {"sent1": "一个人走下山。", "start": "他", "gold": f"{thing}{way}。", "video": thing, "fold": i % 2}
        for i, thing in enumerate(("看见一只鸟", "拿起一把刀", "打开一扇门", "走到一条河"))
        for way in ("然后坐下来", "就笑了", "又走开", "再跑回去")
    ]
    write_jsonl(path, [*records, {**records[0], "gold": "看见一只鸟。她坐下来。"}])
    pool = generate(options_for(path, tmp_path / "pool", generator="ngram", n_negatives=3))
    assert pool.manifest["drops"] == {"gold_of_several_sentences": 1}
    texts = [text for row in range(len(pool)) for text in pool.texts_of_row(row)]
    assert len(texts) == 64
    assert all(text.endswith("。") and text.count("。") == 1 and " " not in text for text in texts)
    assert pool.counts.tolist() == [4] * 16
    assert pool.gather("lengths", np.arange(16)).ravel().tolist() == [*map(len, texts)]


@pytest.mark.parametrize("mark", ["?", "？", "؟"])
def test_questions_of_any_script_have_wrong_answers(mark: str, tmp_path: Path) -> None:
    options = options_for(tmp_path / "contexts.jsonl", tmp_path / "pool")
    assert prompt_of(options, [Context(f"Which gas{mark} ", "", "oxygen")]).name == "wrong-answer"


def test_where_no_context_can_be_asked_about_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, [{"sent1": "Which gas?", "start": "", "gold": "oxygen"}] * 3)
    with pytest.raises(ExhaustedError, match=r"3 gold_too_short\)\. Lower --min-tokens\.$"):
        generate(options_for(path, tmp_path / "pool", generator="ngram"))
    assert not (tmp_path / "pool").exists()


class Vain(Writer):
    """One that gives nothing; what it was asked is on disk as that of a server is."""

    why: ClassVar[dict[str, Any]] = {}
    paid: ClassVar[Path | None] = None

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        if self.paid:
            self.paid.write_text("{}")
        for position in range(len(contexts)):
            yield Generated(position, **self.why)


WHYS: dict[str, tuple[dict[str, Any], str, str]] = {
    "refusals": (
        {"reason": "too_few_distinct_endings", "n_drawn": 8, "rejected": {"echo": 1, "refusal": 7}},
        "30 too_few_distinct_endings; of 240 texts 240 were left out: 210 refusal, 30 echo). "
        "Take another --prompt or another model",
        r"contexts dropped \(\d+ too few distinct endings\), 100 % of texts rejected \(\d+ refusal, \d+ echo\)",
    ),
    "no room": (
        {"reason": "too_long_for_the_model"},
        "30 too_long_for_the_model). Take --prompt continuation, which is short, or a model that reads more",
        r"contexts dropped \(\d+ too long for the model\), 0 % of texts rejected$",
    ),
}


@pytest.mark.parametrize("is_paid", [False, True])
@pytest.mark.parametrize(("why", "said", "tried"), WHYS.values(), ids=WHYS)
def test_where_nothing_comes_it_is_said_why_and_what_may_help(
    why: dict[str, Any],
    said: str,
    tried: str,
    is_paid: bool,
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was told to remove the folder with answers that were paid for, and to lower the number of negatives."""
    monkeypatch.setattr(Vain, "why", why)
    options = options_for(path, tmp_path / "pool", generator="test_generators_of_text:Vain")
    lines = text_estimate_lines(estimate_texts(options))
    assert any(re.search(tried, line) for line in lines)
    assert any(line.startswith("Warning") and said.split(". ")[1] in line for line in lines)
    monkeypatch.setattr(Vain, "paid", tmp_path / "pool" / "answers.jsonl" if is_paid else None)
    with pytest.raises(ExhaustedError) as raised:
        generate(options)
    kept = f", with another --out: {options.out} keeps the answers that were asked for."
    assert not (options.out / ".blocks").exists()
    assert str(raised.value).endswith(said + (kept if is_paid else f", and remove {options.out}."))


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "too few": ({"endings": ("walks.",)}, "1 of 3 endings"),
    "neither": ({"endings": ()}, "or neither"),
    "nowhere": ({"position": 99}, "context 99 of 4"),
    "twice": ({"position": 0}, "answered twice"),
    "no count": ({"n_drawn": -1}, "no numbers of texts"),
}


@pytest.mark.parametrize(("fault", "said"), FAULTS.values(), ids=FAULTS)
def test_a_generator_that_breaks_the_contract_is_named(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(Writer, "spoil", dict.fromkeys(("v1-0", "v2-0"), fault))
    contexts = tmp_path / "four.jsonl"
    write_jsonl(contexts, [context.record() for context in make_contexts_of(4, n_videos=6)])
    with pytest.raises(ContractError, match=said):
        generate(options_for(contexts, tmp_path / "pool"))


class Raises(Writer):
    """A mistake while it generates."""

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        yield from ()
        raise KeyError("boom")


class Lists(Writer):
    """Yields no answers but what should stand in them."""

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Any]:
        for position in range(len(contexts)):
            yield [f"goes {position}."] * n_negatives


class Numbers(Writer):
    """Endings that are no texts."""

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Any]:
        for position in range(len(contexts)):
            numbers: Any = tuple(range(n_negatives))
            yield Generated(position, numbers)


class Unmade:
    """A mistake when it is made."""

    def __init__(self) -> None:
        raise KeyError("boom")


class BadRecord(Writer):
    """A mistake when it tells of itself."""

    def record(self) -> dict[str, object]:
        raise KeyError("boom")


class NoModel(Writer):
    """Its model is no text, which no reader of pools takes."""

    def record(self) -> dict[str, object]:
        return {"model": 3}


class NoRecord(Writer):
    def record(self) -> Any:
        return None


class Nameless(Writer):
    name: Any = None


class Mute:
    """No generator at all."""


NO_CLASS = 3

MISTAKES = {
    "Raises": "its generate raised KeyError .'boom'.. `swag_af.check_generator`",
    "Lists": "it yields ..goes 0.*, a list, and not a swag_af.lm.contract.Generated.*check_generator",
    "Numbers": "context 0 has the endings .0, 1, 2., which are no tuple of texts.*check_generator",
    "Unmade": "its constructor raised KeyError.*check_generator",
    "BadRecord": "its record raised KeyError.*check_generator",
    "NoModel": r"NoModel: its record\(\): model: expected str, got int.*check_generator",
    "NoRecord": r"NoRecord: its record\(\) is None, where a dict is due.*check_generator",
    "Nameless": "a Nameless has no text `name`.*check_generator",
    "Mute": "a Mute has no method `generate`.*check_generator",
    "NO_CLASS": "NO_CLASS is a int",
}


@pytest.mark.parametrize(("name", "said"), MISTAKES.items(), ids=MISTAKES)
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_mistake_in_a_class_of_the_users_is_one_line(
    path: Path, tmp_path: Path, name: str, said: str, dry_run: bool
) -> None:
    asked = options_for(path, tmp_path / "pool", generator=f"test_generators_of_text:{name}")
    with pytest.raises(SwagAfError, match=said) as raised:
        is_text(asked)
        estimate_texts(asked) if dry_run else generate(asked)
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("plain_process")
def test_a_generator_that_was_edited_is_another_one(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the mistaken one has answered stays in the journal: that is not what the mended one would answer."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the verb adds the working directory
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # edits within a second, of one length
    text = (
        "from swag_af.lm.contract import Generated\n"
        "class Mine:\n"
        "    name = 'mine'\n"
        "    def generate(self, contexts, n_negatives, *, seed):\n"
        "        for i in range(len(contexts)):\n"
        "            yield Generated(i + FIRST, tuple(f'does it {k} times.' for k in range(n_negatives)), n_drawn=9)\n"
    )
    (tmp_path / "mine.py").write_text(text.replace("FIRST", "1"), encoding="utf-8")
    words = ["generate", str(path), "--generator", "mine:Mine", "--n-negatives", "3", "--out", "pool"]

    def said() -> str:
        with pytest.raises(SystemExit):
            main(words)
        sys.modules.pop("mine")  # the next one reads it again, as another process would
        return " ".join(capsys.readouterr().err.split())

    assert "is none" in said()  # the last of so many
    (tmp_path / "mine.py").write_text(text.replace("FIRST", "0"), encoding="utf-8")
    edited = said()
    assert "the source of generator mine:Mine has changed since this was begun. Undo the edit" in edited
    assert "Repeat" not in edited, "it is the first command"
    shutil.rmtree(tmp_path / "pool")
    swag_af = str(Path(sys.executable).with_name("swag-af"))
    assert "swag-af:" not in subprocess.run([swag_af, *words], capture_output=True, text=True).stderr
    assert CandidatePool.open(tmp_path / "pool").manifest["complete"]


def test_the_example_in_the_documents_keeps_the_contract(path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "GENERATORS.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import random\n.+?)```", page, re.S)
    assert code
    made: dict[str, Any] = {"__name__": "shuffled"}
    exec(code[1], made)
    check_generator(made["Shuffled"], read_contexts(path))


def test_a_mistake_in_a_generator_of_ours_is_a_bug(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NgramGenerator, "generate", Raises.generate)
    with pytest.raises(KeyError):
        generate(ngram_for(path, tmp_path / "pool"))


def test_texts_beyond_what_was_asked_for_are_no_rejected_ones() -> None:
    texts = Texts()
    texts.add(Generated(0, ("a.", "b."), n_drawn=8, rejected={"blank": 2}))
    assert (texts.rejected_share, texts.rejected, texts.n_drawn) == (0.25, {"blank": 2}, 8)


def test_endings_that_become_one_or_that_no_file_holds_leave_their_context_out(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil = {"v0-0": {"endings": ("a - b.", "a -- b.", "c.")}, "v1-0": {"endings": ("\ud800", "b.", "c.")}}
    spoil |= {"v2-0": {"endings": ("caf\ufffd.", "b.", "c.")}, "v3-0": {"endings": ("a \x1b.", "b.", "c.")}}
    monkeypatch.setattr(Writer, "spoil", spoil)
    drops = generate(options_for(path, tmp_path / "pool")).manifest["drops"]
    assert drops == {"too_few_distinct_endings": 7, "unreadable_text": 3}


VAIN: dict[str, tuple[dict[str, Any], str]] = {
    "of lstm": ({"features": "lazy", "lms": Path("x")}, "--lms: for lstm alone; --features: for lstm alone"),
    "not asked": ({"text": TextOptions(temperature=0.5)}, "--temperature: ngram does not take it"),
    "no prompt": ({"text": TextOptions(prompt="continuation")}, "--prompt: ngram"),
    "no server": ({"endpoint": EndpointOptions(max_requests=5)}, "--max-requests: ngram"),
    "no device": ({"device": "cpu"}, "--device: ngram"),
    "twice": (
        {"generator": f"{WRITER}[temperature=0.7,max_tokens=9]", "max_tokens": 8, "text": TextOptions(temperature=0.9)},
        "--max-tokens: max_tokens stands in test_generators_of_text:Writer.*; --temperature: .*too: give it once",
    ),
    "in no words": ({"generator": "lstm", "text": TextOptions(normalise=False)}, "--normalise: not for lstm"),
}


@pytest.mark.parametrize(("given", "said"), VAIN.values(), ids=VAIN)
def test_no_option_is_given_in_vain(path: Path, tmp_path: Path, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        is_text(ngram_for(path, tmp_path, **given))


def test_a_generator_gets_the_settings_that_it_takes(path: Path, tmp_path: Path) -> None:
    contexts = read_contexts(path)
    answers = tmp_path / "answers.jsonl"
    assert set(settings_of(options_for(path, tmp_path), contexts, answers)) == {
        "prompt",
        "endpoint",
        "temperature",
        "max_tokens",
    }
    everything = settings_of(
        options_for(path, tmp_path, generator="test_generators_of_text:Spendthrift"), contexts, answers
    )
    assert everything["golds"] == contexts
    assert everything["journal"] == answers
    assert {"min_tokens", "top_p", "device", "normalise", "max_draws"} < set(everything)
    shared = prepare(options_for(path, tmp_path / "pool", generator="test_generators_of_text:Spendthrift", shard="2/3"))
    assert vars(shared.generator)["settings"]["journal"] == tmp_path / "pool" / "answers.2-of-3.jsonl"


def test_a_question_is_asked_for_wrong_answers(path: Path, tmp_path: Path) -> None:
    question = Context("Which gas?", "", "oxygen")
    options = options_for(path, tmp_path)
    assert prompt_of(options, [question]).name == "wrong-answer"
    assert prompt_of(options, read_contexts(path)).name == "continuation", "what its class prefers"
    mine = tmp_path / "mine.toml"
    mine.write_text('task = "Mine."\ntemplate = "{{ context }}"')
    assert prompt_of(replace(options, text=TextOptions(prompt=str(mine))), [question]).task == "Mine."


def test_settings_in_brackets_bind_golds_as_they_bind_endings(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"sent1": "Which gas do plants take?", "start": "", "gold": gold} for gold in ("air", "carbon dioxide")]
    write_jsonl(path, rows)
    assert len(prepare(ngram_for(path, tmp_path / "pool")).unfit) == 2
    wide = prepare(options_for(path, tmp_path / "wide", generator="ngram[min_tokens=3,max_tokens=60]"))
    assert wide.unfit == {0: "gold_too_short"}
    assert (wide.plan["min_tokens"], wide.plan["max_tokens"]) == (3, 60)
    mine = tmp_path / "mine.toml"
    mine.write_text('task = "Mine."\ntemplate = "{{ context }}"\nends = "text"')
    told = prepare(options_for(path, tmp_path / "told", generator=f"test_generators_of_text:Told[prompt={mine}]"))
    assert told.record["prompt"]["task"] == "Mine."
    assert not told.unfit, "golds need no mark at the end where endings need none"


def test_lstm_in_brackets_names_its_folder(path: Path) -> None:
    options = GenerateOptions(path, generator="lstm[mine]")
    assert lms_of(options) == Path("mine")
    assert lms_of(GenerateOptions(path, Path("mine"))) == Path("mine")
    with pytest.raises(InputError, match="names another folder"):
        lms_of(replace(options, lms=Path("yours")))
    with pytest.raises(InputError, match=r"lstm\[mine,min_tokens=1\]: min_tokens is no setting in brackets"):
        lms_of(replace(options, generator="lstm[mine,min_tokens=1]"))
    with pytest.raises(InputError, match="at_once is no setting in brackets"):
        features(FeaturesOptions(path, scorer="lstm[mine,at_once=1]"))


def test_ids_on_several_lines_are_told_before_any_work(tmp_path: Path) -> None:
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, [{"sent1": "A.", "start": "b", "gold": "sits on it here.", "id": "x"}] * 2)
    with pytest.raises(InputError, match=r"1 id stands on several lines \(first: 'x'\)"):
        generate(options_for(path, tmp_path / "pool"))


def test_questions_without_ids_folds_and_starts_make_a_pool(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    things = [(f"{size} {colour}", kind) for size in ("big", "small") for colour in ("red", "old") for kind in "abcdef"]
    rows = [
        {"sent1": f"Which {k} is in room {i}?", "start": "", "gold": f"the {c} {k}"} for i, (c, k) in enumerate(things)
    ]
    write_jsonl(path, rows)
    pool = generate(ngram_for(path, tmp_path / "pool", min_tokens=1, n_negatives=2))
    assert len(pool) == len(rows)
    assert {pool.text(row, k)[-1] for row in range(len(pool)) for k in range(3)} == {"."}, "all have one surface form"
    assert len({context.id for context in pool.contexts}) == len(pool)


def test_a_dry_run_says_what_it_would_take_and_writes_nothing(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ngram_for(path, tmp_path / "pool", dry_run=True)
    found = estimate_texts(options)
    assert (found.n_contexts, found.unfit) == (30, {})
    assert found.n_tried >= 5
    assert found.disk_bytes > 0
    dry = ["--dry-run", "--n-negatives", "3", "--out", str(options.out)]
    main(["generate", str(path), "--generator", "ngram", "--min-tokens", "4", *dry])
    assert "30 contexts to answer" in capsys.readouterr().out
    main(["generate", str(path), "--generator", "test_generators_of_text:Careful", *dry])
    assert "90 requests" in capsys.readouterr().out
    assert not ASKED
    assert not options.out.exists()


class Learner(Writer):
    """One that learns a model a fold for ten seconds, keeps one, and answers in a tenth of a second."""

    now: ClassVar[float] = 0.0
    learns: ClassVar[bool] = True
    _fold: int | None = None

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        for answer in super().generate(contexts, n_negatives, seed=seed):
            fold = contexts[answer.position].fold
            Learner.now += 0.1 + 10 * (fold != self._fold and (self.learns or self._fold is None))
            self._fold = fold
            yield answer


@pytest.mark.parametrize(("learns", "seconds"), [(True, 50.1), (False, 10.1)])
def test_a_dry_run_counts_what_is_learnt_for_every_fold(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learns: bool, seconds: float
) -> None:
    """The models of four folds of five came for nothing."""
    monkeypatch.setattr(Learner, "learns", learns)
    monkeypatch.setattr(estimate_module.time, "perf_counter", lambda: Learner.now)
    found = estimate_texts(options_for(path, tmp_path / "pool", generator="test_generators_of_text:Learner"))
    assert found.seconds_to_begin == pytest.approx(seconds)
    assert found.seconds_a_context == pytest.approx(0.1)


def test_what_follows_works_on_such_a_pool(
    path: Path, tmp_path: Path, plain_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--generator", WRITER, "--n-negatives", "9", "--tagger", "rules", "--out", str(tmp_path / "pool")]
    main(["generate", str(path), *arguments])
    out = capsys.readouterr().out
    assert "24 contexts x 10 candidates; contexts dropped: 6 too few distinct endings" in out
    assert "rejected: 102 refusal" in out
    run_filter(
        FilterOptions(
            tmp_path / "pool", tmp_path / "run", "bow:2", audit="none", af=AFOptions(iterations=2, n_negatives=4)
        )
    )
    main(["show", str(tmp_path / "pool")])
    shown = capsys.readouterr().out
    assert f"written by {WRITER}, a fake (temperature 1.0)" in shown
    assert "Continue the text" in shown
    page = report(ReportOptions(tmp_path / "run")).read_text()
    assert "What wrote the endings" in page
    assert "is not shown the right ending" in page
    dataset = ReleaseOptions(tmp_path / "run", tmp_path / "dataset", audit="none", formats="jsonl")
    release(dataset)
    card = (dataset.out / "README.md").read_text()
    assert f"Candidate negatives are written by `{WRITER}`, a fake" in card
    assert "Sampled endings that did not count: 102 refusal" in card
    assert read_json(dataset.out / "manifest.json")["generator"]["prompt"]["task"] in card


def test_a_pool_of_a_server_that_was_stopped_by_its_budget_goes_on_with_it_at_another_port(
    path: Path, tmp_path: Path
) -> None:
    """Nothing that was answered is asked again: not by the rows that are done, nor by those under way."""
    settings: dict[str, Any] = {"limit": 6, "min_tokens": 1, "text": TextOptions(prompt="continuation")}
    with MockServer(able=ABLE - {"n"}) as server:
        named = {"generator": f"endpoint[{server.url}]"} | settings
        whole = generate(options_for(path, tmp_path / "one", **named))
        n_whole, few = len(server.asked), EndpointOptions(max_requests=20, concurrency=1)
        with pytest.raises(ExhaustedError, match="run the same command again"):
            generate(options_for(path, tmp_path / "two", endpoint=few, **named))
    with MockServer(able=ABLE - {"n"}) as server:
        again = generate(options_for(path, tmp_path / "two", **{"generator": f"endpoint[{server.url}]"} | settings))
        assert len(server.asked) <= n_whole - 8
    assert again.identity == whole.identity
    assert again.manifest["generator"]["model"] == "mock"
    assert again.manifest["generator"]["prompt"]["name"] == "continuation"
    assert (tmp_path / "two" / "answers.jsonl").exists(), "what was paid for stays"


def test_a_larger_pool_of_a_server_asks_nothing_again_that_a_smaller_one_has_asked(path: Path, tmp_path: Path) -> None:
    with MockServer(able=ABLE - {"n"}) as server:
        settings: dict[str, Any] = {"generator": f"endpoint[{server.url}]", "min_tokens": 1}
        generate(options_for(path, tmp_path / "small", limit=3, **settings))
        n_small = len(server.asked)
        whole = generate(options_for(path, tmp_path / "whole", limit=6, **settings))
        n_whole = len(server.asked) - n_small
        (tmp_path / "larger").mkdir()
        shutil.copy(tmp_path / "small/answers.jsonl", tmp_path / "larger")
        larger = generate(options_for(path, tmp_path / "larger", limit=6, **settings))
        assert larger.identity == whole.identity
        assert len(server.asked) - n_whole - n_small <= n_whole - 0.8 * n_small


def test_the_ngrams_of_the_verb_are_those_of_the_class(path: Path, tmp_path: Path) -> None:
    pool = generate(ngram_for(path, tmp_path / "pool", text=TextOptions(normalise=False)))
    contexts = read_contexts(path)
    answers = NgramGenerator(contexts, min_tokens=4).generate(contexts, 3, seed=0)
    made = {contexts[answer.position].id: answer.endings for answer in answers if answer.endings}
    assert {c.id: tuple(pool.text(row, k) for k in (1, 2, 3)) for row, c in enumerate(pool.contexts)} == made
    assert json.loads(json.dumps(pool.manifest["generator"])) == pool.manifest["generator"]


@pytest.mark.parametrize("theirs", ["vocabulary.tsv", "thesis.txt"])
def test_a_pool_is_not_begun_over_somebody_elses_files(theirs: str, path: Path, tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / theirs).write_text("mine")
    with pytest.raises(InputError, match="was not made by generate"):
        generate(ngram_for(path, tmp_path / "pool"))
    assert [(one.name, one.read_text()) for one in (tmp_path / "pool").iterdir()] == [(theirs, "mine")]


def test_generators_are_told_whether_a_pool_gives_one_surface_form(path: Path, tmp_path: Path) -> None:
    """Endings were measured without the full stop that it adds."""
    for normalised in (True, False):
        text = TextOptions(normalise=normalised)
        for name in ("ngram", "hf[gpt]", "endpoint[http://localhost:1]"):
            options = GenerateOptions(path, out=tmp_path / "pool", generator=name, text=text)
            assert settings_of(options, read_contexts(path), tmp_path / "answers.jsonl")["normalise"] is normalised


class Limited(Writer):
    """Has a setting that is called as an option of `generate` is."""

    def __init__(self, prompt: Prompt, limit: int = 3) -> None:
        super().__init__(prompt)
        self.limit = limit

    def record(self) -> dict[str, object]:
        return {"model": "a fake", "limit": self.limit}


@pytest.mark.parametrize("other", ["4", None])
def test_a_setting_that_is_called_as_an_option_is_compared_too(path: Path, tmp_path: Path, other: str | None) -> None:
    """Two shards by other settings were joined in one pool."""
    first, then = (f"test_generators_of_text:Limited[limit={limit}]" for limit in ("5", other or "3"))
    make_shards(options_for(path, tmp_path / "pool", generator=first, shard="1/2"))
    with pytest.raises(InputError, match=r"begun with other generator\.limit \(5, now [34]\)"):
        make_shards(options_for(path, tmp_path / "pool", generator=then, shard="2/2"))
