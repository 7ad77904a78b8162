"""Items that annotators judge, and their verdicts: the one file format in which verdicts are exchanged.

    verdicts.jsonl    one verdict per line: item, row, round, columns, annotator, ratings, best, second, seconds, pool

An item is a context with some of its assigned endings. Gold comes first here; the code that shows an item shuffles the
endings. Collecting verdicts, statistics over them, and releasing a dataset happen elsewhere.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from swag_af.data.disk.files import read_jsonl, write_jsonl
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError, several, told

Rating = Literal["likely", "unlikely", "gibberish"]
RATINGS: tuple[Rating, ...] = get_args(Rating)

MEANINGS: dict[Rating, str] = {
    "likely": "it may well be what happens next",
    "unlikely": "it can be understood, but one would not expect it here: it is improbable, absurd or impossible",
    "gibberish": "it is broken: hardly English, so that one cannot say what it means",
}
"""What each rating means, in the words that all annotators read: on our pages and on those of other platforms."""

MEANINGS_OF_ANSWERS = MEANINGS | {"likely": "it may well be a right answer"}
"""The same where questions are judged, and what is called an ending is an answer."""

IN_ANOTHER_SCRIPT = "it is broken: hardly a sentence of any language, so that one cannot say what it means"
"""What gibberish means where texts are not in Latin script, and so not in English."""

N_ENDINGS = 6
"""Endings an item, gold included (Zellers et al. 2018, 3.5)."""
TOO_FEW = 3
"""An item with this many endings that are not gibberish, or fewer, is no example (Zellers et al. 2018, 3.5)."""


@dataclass(frozen=True, slots=True)
class Item:
    """One context and the endings shown with it."""

    row: int
    """Row of the pool."""
    columns: tuple[int, ...]
    """Candidates of that row; the first is 0, gold."""
    round: int = 0
    """How often the item was refilled."""

    @property
    def id(self) -> str:
        """Unique in a run: the row, and the round."""
        return f"{self.row}-{self.round}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One annotator's answer to one item."""

    item: Item
    annotator: str
    ratings: tuple[Rating, ...]
    """One for each of the item's columns."""
    best: int
    """Place in the item's columns of the best ending; 0 is gold."""
    second: int
    """Place of the second best."""
    seconds: float = 0.0
    """How long it took, as far as known."""

    @property
    def gold_in_top2(self) -> bool:
        """Whether gold is best or second best."""
        return 0 in (self.best, self.second)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts of all annotators on one item, combined."""

    item: Item
    ratings: tuple[Rating, ...]
    likelihoods: tuple[float, ...]
    """Mean rating of each ending, likely 1, unlikely 0, gibberish -1: orders endings of one rating."""
    best: int
    second: int
    n_annotators: int
    seed: int = 0
    """Breaks the ties of its endings (`rank_endings`)."""

    @property
    def n_sensible(self) -> int:
        """Endings that are not gibberish."""
        return sum(rating != "gibberish" for rating in self.ratings)


def make_items(assignment: np.ndarray, *, seed: int) -> list[Item]:
    """One item per row of `assignment` (N, A): gold and `N_ENDINGS - 1` of its negatives, or all where it has fewer.

    The draw of a row depends on the seed and the row number only.
    """
    items = []
    for row, columns in enumerate(assignment):
        rng = np.random.default_rng((seed, row))
        drawn = rng.permutation(columns[1:])[: N_ENDINGS - 1]
        items.append(Item(row, (0, *(int(column) for column in drawn))))
    return items


def judge(verdicts: Sequence[Verdict], *, seed: int = 0) -> list[Judgement]:
    """Majority of all verdicts on each item, in order of row and round.

    A rating is the most frequent one; of three equally frequent ones the middle one, of two the worse one. Best and
    second best are the endings with most points, two for every best and one for every second best. Ties go to the
    likelier ending, then by `rank_endings`. Commands with a `--seed` pass it on; all others use 0.
    """
    of_item: dict[Item, list[Verdict]] = {}
    for verdict in verdicts:
        of_item.setdefault(verdict.item, []).append(verdict)
    return [_majority(item, of_item[item], seed) for item in in_order(of_item)]


def in_order(items: Iterable[Item]) -> list[Item]:
    """The items by row and round, then by their columns, whatever their places."""
    return sorted(items, key=lambda item: (item.row, item.round, sorted(item.columns), item.columns))


def rank_endings(item: Item, *values: Sequence[float], seed: int) -> list[int]:
    """Places of the item's endings, the greatest of the first `values` first; ties go by the next values.

    Endings that are equal in all values are ordered by a hash of seed, row, round and their own column. Their places
    must not decide: gold is first in every item, and would win every tie.
    """
    ties = [
        blake2b(f"{seed} {item.row} {item.round} {column}".encode(), digest_size=16).digest() for column in item.columns
    ]
    return sorted(range(len(ties)), key=lambda place: (*(-value[place] for value in values), ties[place]))


def _majority(item: Item, verdicts: Sequence[Verdict], seed: int) -> Judgement:
    votes = [Counter(verdict.ratings[i] for verdict in verdicts) for i in range(len(item.columns))]
    likelihoods = [(v["likely"] - v["gibberish"]) / len(verdicts) for v in votes]
    points = [0] * len(item.columns)
    for verdict in verdicts:
        points[verdict.best] += 2
        points[verdict.second] += 1
    best, second, *_ = rank_endings(item, points, likelihoods, seed=seed)
    return Judgement(
        item, tuple(_most_frequent(v) for v in votes), tuple(likelihoods), best, second, len(verdicts), seed
    )


def _most_frequent(votes: Mapping[Rating, int]) -> Rating:
    most = max(votes.values())
    tied = [rating for rating in RATINGS if votes[rating] == most]
    return tied[len(tied) // 2]


def is_example(judgement: Judgement) -> bool:
    """Whether enough of its endings are sensible (Zellers et al. 2018, 3.5)."""
    return judgement.n_sensible > TOO_FEW


def refill(judgement: Judgement, assigned: np.ndarray, shown: Iterable[int]) -> Item | None:
    """The item with its gibberish, and negatives that outrank gold, replaced (Zellers et al. 2018, footnote 6).

    Newcomers are the row's `assigned` negatives (A,) not in `shown`, in their order; None when there are too few of
    them to make an example, or nothing is to be replaced.
    """
    item = judgement.item
    kept = [
        column
        for i, column in enumerate(item.columns)
        if i == 0 or (judgement.ratings[i] != "gibberish" and not _outranks_gold(judgement, i))
    ]
    spare = [int(column) for column in assigned if int(column) not in {*shown, *item.columns}]
    columns = (*kept, *spare[: len(item.columns) - len(kept)])
    if columns == item.columns or len(columns) <= TOO_FEW:
        return None
    return Item(item.row, columns, item.round + 1)


def _outranks_gold(judgement: Judgement, i: int) -> bool:
    return i == judgement.best or (i == judgement.second and judgement.best != 0)


def write_verdicts(path: Path, verdicts: Iterable[Verdict], pool_identity: str) -> None:
    """Write one verdict per line, each with the identity of the pool that its rows and columns refer to."""
    write_jsonl(path, (as_record(verdict) | {"pool": pool_identity} for verdict in verdicts))


def as_record(verdict: Verdict) -> dict[str, Any]:
    """The verdict as the JSON object of its line."""
    return {
        "item": verdict.item.id,
        "row": verdict.item.row,
        "round": verdict.item.round,
        "columns": list(verdict.item.columns),
        "annotator": verdict.annotator,
        "ratings": list(verdict.ratings),
        "best": verdict.best,
        "second": verdict.second,
        "seconds": round(verdict.seconds, 3),
    }


def read_verdicts(path: Path, pool_identity: str | None = None) -> list[Verdict]:
    """The verdicts of a file, checked; InputError names the line that is invalid, or belongs to another pool.

    The columns of every item are in one order (`with_ordered_columns`), so that the same endings are the same item
    whichever seed laid them out. Where somebody judged them in two orders, the first verdict counts. Without
    `pool_identity` the first line that names a pool says which it is.
    """
    if path.suffix.lower() in (".csv", ".tsv"):
        how = command("verify", "import", "RUN", path, "--key", "KEY")
        raise InputError(
            f"{path}: a table, as platforms give answers back, and no file of verdicts. `{how}` makes one of it, with "
            "the key that `verify export` left beside the tasks."
        )
    verdicts: dict[tuple[Item, str], Verdict] = {}
    seen: set[tuple[Item, str]] = set()
    pool, whose = pool_identity, "this run"
    for number, record in read_jsonl(path):
        where = f"{path}, line {number}"
        verdict = _verdict_of(record, where)
        if pool is None and record.get("pool") is not None:
            pool, whose = record["pool"], f"one run: line {number} is of the first pool here"
        if pool is not None and record.get("pool", pool) != pool:
            raise InputError(f"{where}: a verdict on another pool. Give the verdicts of {whose}.")
        if (verdict.item, verdict.annotator) in seen:
            raise InputError(f"{where}: {verdict.annotator} judged item {verdict.item.id} before. Remove one of them.")
        seen.add((verdict.item, verdict.annotator))
        ordered = with_ordered_columns(verdict)
        verdicts.setdefault((ordered.item, ordered.annotator), ordered)
    if not verdicts:
        raise InputError(f"{path}: no verdicts in it. `swag-af verify export` writes them.")
    return list(verdicts.values())


def with_ordered_columns(verdict: Verdict) -> Verdict:
    """The same verdict with gold first and the other columns ascending; what was said moves with its ending."""
    item = verdict.item
    order = sorted(range(len(item.columns)), key=item.columns.__getitem__)
    return replace(
        verdict,
        item=replace(item, columns=tuple(item.columns[place] for place in order)),
        ratings=tuple(verdict.ratings[place] for place in order),
        best=order.index(verdict.best),
        second=order.index(verdict.second),
    )


def rows_apart(items: Iterable[Item]) -> set[int]:
    """The rows that were shown with different endings in one round, as by exports of several seeds: their verdicts
    cannot be brought together."""
    columns_of: dict[tuple[int, int], set[frozenset[int]]] = {}
    for item in items:
        columns_of.setdefault((item.row, item.round), set()).add(frozenset(item.columns))
    return {row for (row, _), shown in columns_of.items() if len(shown) > 1}


def told_apart(items: Iterable[Item]) -> str | None:
    """A line on `rows_apart`; None where there are none."""
    n = len(rows_apart(items))
    if not n:
        return None
    return (
        f"{several(n, 'context')} shown with different endings in one round, as by several --seed: each set of endings "
        "is judged by itself, and `swag-af release` takes a question only where none of them rejects gold."
    )


def check_in_pool(items: Iterable[Item], counts: np.ndarray, where: object) -> None:
    """Raise InputError unless the row and the columns of every item are in a pool of `counts` (N,) candidates a row."""
    for item in items:
        if item.row >= len(counts) or max(item.columns, default=0) >= counts[item.row]:
            raise InputError(
                f"{where}: item {item.id} has columns {list(item.columns)} of row {item.row}, which the pool does not "
                "have. Give the file that belongs to this run."
            )


def check_assigned(items: Iterable[Item], assignment: np.ndarray, where: object, run: object, advice: str) -> None:
    """Raise InputError unless the columns of every item are in `assignment` (N, A), that of an iteration of `run`."""
    for item in items:
        others = set(item.columns) - set(assignment[item.row].tolist())
        if others:
            raise InputError(
                f"{where}: item {item.id} shows ending {min(others)}, which this iteration of {run} does not assign. "
                f"{advice}"
            )


def _verdict_of(record: Any, where: str) -> Verdict:
    line = parse_record(record, _Line, f"{where}: not a verdict", "Mend or remove it.", error=InputError)
    item = Item(line.row, line.columns, line.round)
    ratings = cast("tuple[Rating, ...]", line.ratings)  # `check_verdict` says where they are none
    found = check_verdict(Verdict(item, line.annotator, ratings, line.best, line.second, line.seconds), where)
    if line.item not in ("", item.id):
        raise InputError(f"{where}: item {told(line.item)}, where row and round are of {item.id}. Mend or remove it.")
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file of verdicts; `check_verdict` says whether its values can be."""

    row: int
    columns: tuple[int, ...]
    annotator: str
    ratings: tuple[str, ...]
    best: int
    second: int
    round: int
    seconds: float = 0.0
    item: str = ""
    """The same as row and round, where it is given."""


def check_verdict(verdict: Verdict, where: str) -> Verdict:
    """The verdict itself, if it is valid; otherwise InputError with `where` and the first fault."""
    columns, n = verdict.item.columns, len(verdict.item.columns)
    top2 = {verdict.best, verdict.second}
    faults = (
        (columns[:1] != (0,), "its first column is not gold, 0"),
        (len(set(columns)) < n or min(columns, default=0) < 0, "its columns repeat, or are below 0"),
        (n < 2, "fewer than two endings"),
        (len(verdict.ratings) != n, f"{len(verdict.ratings)} ratings for {n} endings"),
        (any(rating not in RATINGS for rating in verdict.ratings), f"a rating that is none of {', '.join(RATINGS)}"),
        (len(top2) < 2 or not top2 <= set(range(n)), f"best and second are not two different places from 0 to {n - 1}"),
        (not verdict.annotator, "no annotator"),
        (min(verdict.item.row, verdict.item.round) < 0, "a row or a round below 0"),
        (not 0 <= verdict.seconds < inf, "seconds that are no time"),
    )
    fault = next((text for wrong, text in faults if wrong), None)
    if fault is not None:
        raise InputError(f"{where}: {fault}. Mend or remove it.")
    return verdict
