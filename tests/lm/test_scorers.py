"""The contract of scorers: one that keeps it, and what is said of those that do not."""

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of

from swag_af.data.context import Context, phrase
from swag_af.data.errors import ContractError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.lm.scorers.checking import check_scorer
from swag_af.lm.scorers.contract import COLUMNS, Scorer
from swag_af.lm.scorers.registry import SCORERS, make_scorer
from swag_af.lm.scorers.table import score_pool


def number(*texts: str) -> float:
    """Between 0 and 10, by the texts alone."""
    return zlib.crc32("\x1f".join(texts).encode()) / 2**32 * 10


@dataclass
class HashScorer:
    """Values that depend on the texts that each column depends on."""

    columns: tuple[str, ...] = COLUMNS
    name = "hash"

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        for context, mine in zip(contexts, endings, strict=True):
            yield np.array([self.values(phrase(context), ending) for ending in mine], np.float32)

    def values(self, context: str, ending: str) -> list[float]:
        read = {"context_alone": (context,), "ending_alone": (ending,)}
        return [number(name, *read.get(name, (context, ending))) for name in self.columns]

    def record(self) -> dict[str, Any]:
        return {"model": "crc32"}


CONTEXTS = make_contexts_of(5, n_videos=5)
ENDINGS = [[f"sees {k} birds and {i} trees." for k in range(3 + i % 2)] for i in range(5)]


@pytest.mark.parametrize("columns", [COLUMNS, COLUMNS[:1], ("context_given_ending", "last_token")])
def test_a_scorer_of_some_columns_keeps_the_contract(columns: tuple[str, ...]) -> None:
    assert isinstance(HashScorer(), Scorer)
    check_scorer(lambda: HashScorer(columns), CONTEXTS, ENDINGS)


Spoil = Callable[[list[np.ndarray], Sequence[Context], Sequence[Sequence[str]]], list[np.ndarray]]


@dataclass
class Broken(HashScorer):
    """A good scorer whose answers go through `spoil`."""

    spoil: Spoil = field(kw_only=True)

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        yield from self.spoil(list(super().score(contexts, endings)), contexts, endings)


FAULTS: dict[str, tuple[Spoil, str]] = {
    "one left out": (lambda made, contexts, endings: made[1:], "sentence 2.*4 answers for 5 contexts"),
    "a column missing": (
        lambda made, contexts, endings: [m[:, 1:] for m in made],
        r"sentence 2.*\(3, 4\), not \(3, 5\)",
    ),
    "not a number": (lambda made, contexts, endings: [m * np.nan for m in made], "sentence 2.*not finite"),
    "log-likelihoods": (lambda made, contexts, endings: [-m for m in made], "sentence 2.*below 0"),
    "by company": (lambda made, contexts, endings: [m + len(m) for m in made], "sentence 3.*fewer are scored"),
    "by position": (
        lambda made, contexts, endings: [m + np.arange(len(m))[:, None] for m in made],
        "sentence 3.*order of the endings",
    ),
    "by number of context": (
        lambda made, contexts, endings: [m + i for i, m in enumerate(made)],
        "sentence 3.*order of the contexts",
    ),
    "by gold": (
        lambda made, contexts, endings: [m + number(c.gold) for m, c in zip(made, contexts, strict=True)],
        "sentence 3.*gold",
    ),
    "context alone that reads the ending": (
        lambda made, contexts, endings: [m[:, [0, 1, 2, 0, 4]] for m in made],
        "sentence 3.*context_alone differs",
    ),
    "chance": (lambda made, contexts, endings: [np.ones_like(m) for m in made], "sentence 4.*same for all endings"),
    "blind to the context": (
        lambda made, contexts, endings: [m[:, [1, 1, 2, 3, 4]] for m in made],
        "sentence 4.*ending_given_context is the same after any context",
    ),
    "one context": (
        lambda made, contexts, endings: [np.concatenate([m[:, :3], m[:, 3:4] * 0, m[:, 4:]], axis=1) for m in made],
        "sentence 4.*same for all contexts",
    ),
}


@pytest.mark.parametrize(("spoil", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_broken_scorer_is_named_with_its_sentence(spoil: Spoil, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        check_scorer(lambda: Broken(spoil=spoil), CONTEXTS, ENDINGS)


class Logarithms(HashScorer):
    """Its sign is that of logarithms."""

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        return (-one for one in super().score(contexts, endings))


def test_likelihoods_above_certainty_are_refused_by_features(tmp_path: Path) -> None:
    pool = CandidatePool.from_texts(CONTEXTS, ENDINGS).save(tmp_path / "pool")
    with pytest.raises(InputError, match=r"values below 0\. Give nats a token"):
        score_pool(pool, f"{__name__}:Logarithms", workers=1)
    assert "features" in score_pool(pool, f"{__name__}:HashScorer", workers=1).tables


@pytest.mark.parametrize("columns", [(), ("ending_length",), COLUMNS[::-1], (*COLUMNS, "last_token")])
def test_columns_are_those_that_there_are_in_their_order(columns: tuple[str, ...]) -> None:
    with pytest.raises(ContractError, match=r"sentence 2.*its columns are"):
        check_scorer(lambda: HashScorer(columns), CONTEXTS, ENDINGS)


def test_what_was_scored_before_must_not_change_what_comes_next() -> None:
    @dataclass
    class Counting(HashScorer):
        n_calls: int = 0

        def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
            self.n_calls += 1
            changed = [replace(context, sent1=f"{context.sent1} {self.n_calls}") for context in contexts]
            return super().score(changed, endings)

    with pytest.raises(ContractError, match=r"sentence 3.*what was scored before"):
        check_scorer(Counting, CONTEXTS, ENDINGS)


@dataclass
class Padding(HashScorer):
    """Divides by the longest ending that is scored with it, as a mean over padded texts does."""

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        for values, mine in zip(super().score(contexts, endings), endings, strict=True):
            yield values / np.float32(max(map(len, mine)))


def test_a_value_that_depends_on_the_longest_ending_is_found() -> None:
    """Endings of like lengths did not show it."""
    with pytest.raises(ContractError, match=r"sentence 3.*when a longer one is scored too"):
        check_scorer(Padding, CONTEXTS, ENDINGS)


RECORDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "none": (lambda scorer: None, "is None, where a dict is due"),
    "changing": (lambda scorer: {"n": next(COUNTING)}, "two constructions have other record"),
    "no json": (lambda scorer: {"made": scorer}, "no JSON object"),
    "no text": (lambda scorer: {"model": 3}, "model: expected str"),
    "raises": (lambda scorer: {}["model"], r"record raised KeyError"),
}
COUNTING = itertools.count()


@pytest.mark.parametrize(("record", "said"), RECORDS.values(), ids=RECORDS)
def test_a_record_is_json_and_stays_the_same(record: Callable[[Any], Any], said: str) -> None:
    class Recorded(HashScorer):
        def record(self) -> Any:
            return record(self)

    with pytest.raises(ContractError, match=f"Recorded breaks sentence 1.*{said}"):
        check_scorer(Recorded, CONTEXTS, ENDINGS)


def test_a_tolerance_allows_for_rounding_and_no_more() -> None:
    def rounded(made: list[np.ndarray], contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Any:
        return [m + 1e-4 * len(made) * (np.arange(len(COLUMNS)) != 3) for m in made]

    check_scorer(lambda: Broken(spoil=rounded), CONTEXTS, ENDINGS, tolerance=1e-3)
    with pytest.raises(ContractError, match="sentence 3"):
        check_scorer(lambda: Broken(spoil=rounded), CONTEXTS, ENDINGS, tolerance=1e-5)


def test_few_texts_test_nothing() -> None:
    with pytest.raises(ValueError, match="needs four contexts"):
        check_scorer(HashScorer, CONTEXTS[:3], ENDINGS[:3])


def test_an_unknown_scorer_gets_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no scorer 'endpiont'\. Did you mean endpoint\?.*hf\[path/to/model\]"):
        make_scorer("endpiont")


def test_a_package_may_announce_a_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(SCORERS), "announced", lambda self: {"hash": "test_scorers:HashScorer"})
    assert make_scorer("hash").record() == {"model": "crc32"}
