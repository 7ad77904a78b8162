"""The folder that pruning leaves, and its reader. Measures nothing.

    prune.json     options, hashes of the files, rounds, what luck does, what was mended and made; written last
    rows.jsonl     a line for each instance: kept or not, in which round removed, how predictable
    kept.jsonl     the ids that are kept, in the order of the data, a line each
    curve.jsonl    accuracy of each probe at each size, pruned and random (drawn apart from the random removals of the
                   audits); curve.png and curve.svg show it
    before, after  the audits (`swag_af.auditing.storing`), `after` beside the random removals, each with its page
    work           while it is being made: rounds, vectors and points of the curve, from which a killed run goes on

The same data, options and seed give the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.classes import ClassCount
from swag_af.auditing.comparison import Comparison, read_comparison
from swag_af.data.disk.files import read_records, write_json, write_jsonl
from swag_af.data.disk.manifests import FORMAT, read_finished
from swag_af.data.disk.records import Count
from swag_af.data.display.brief import brief
from swag_af.data.errors import FormatError
from swag_af.data.instances.instances import Instances
from swag_af.pruning.agreement import ByDifficulty
from swag_af.pruning.curve import Point
from swag_af.pruning.rounds import Round

ABOUT, ROWS, KEPT, CURVE = "prune.json", "rows.jsonl", "kept.jsonl", "curve.jsonl"
BEFORE, AFTER, WORK = "before", "after", "work"
NAMES = (ABOUT, ROWS, KEPT, CURVE, "curve.png", "curve.svg", BEFORE, AFTER, WORK)
"""All that may stand in the folder."""
_AGAIN = "Prune the data again."


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One removal, in numbers."""

    n: Count
    """Instances before it."""
    n_above: Count
    """How many were predictable enough to go."""
    n_wrong: Count | None
    """How many are as surely predicted wrongly: predictability up to 1 - threshold. None where there are more than two
    answers, and by probes, whose predictability is information, of which 0 is none."""
    n_removed: Count
    lowest: float | None
    """The least predictable that went."""


@dataclass(frozen=True, slots=True)
class About:
    """What was pruned, and what came of it."""

    name: str
    of: str
    """choices or classes."""
    n: Count
    chance: float
    """How often a guess that knows no texts is right."""
    n_kept: Count
    n_groups: Count
    groups: str
    """How groups were made, in a sentence."""
    files: dict[str, str]
    """The SHA-256 of each file."""
    notes: tuple[str, ...]
    """How the files were read."""
    options: dict[str, Any]
    inputs: tuple[str, ...]
    """What was read of the instances."""
    threshold: float
    n_train: Count
    """Instances that a fit of AFLite is given; 0 for probes."""
    most: Count
    """Removed in a round at most."""
    rounds: tuple[RoundRecord, ...]
    n_above_by_luck: Count
    """How many would be at the threshold or above in the first round with answers drawn at random: the median."""
    took_part: tuple[str, ...]
    """Probes that fall by construction."""
    told: tuple[str, ...]
    """What became of each probe, in sentences."""
    made: tuple[str, ...]
    """What fell below chance, in sentences."""
    parted: str
    """How many contrast sets are left in part, in a sentence; empty where none is."""
    agreement: ByDifficulty | None
    """Of annotators, where it is known."""
    versions: dict[str, str]
    above_by_luck: tuple[Count, ...] = ()
    """Those of each time that answers were drawn; empty of an earlier version, which drew them once."""
    classes: tuple[ClassCount, ...] = ()
    """How many instances of each class there were and are kept; empty of choices."""
    unreached: str = ""
    """Why more instances are kept than the target, in a sentence; empty where there is none, or it was reached."""


@dataclass(frozen=True, slots=True)
class PrunedRow:
    """A line of `rows.jsonl`."""

    id: str
    where: str
    """Its place in the file."""
    kept: bool
    round: int | None
    """In which it was removed."""
    predictability: float | None
    """When it was last measured."""
    first: float | None
    """In the first round, among all."""


@brief
@dataclass(frozen=True)
class Pruned:
    """A folder of `prune`."""

    path: Path
    about: About
    rows: tuple[PrunedRow, ...]
    comparison: Comparison | None
    """Of the audits before and after; None where nothing was removed."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The ids that are kept, in the order of the data."""
        return tuple(row.id for row in self.rows if row.kept)


def open_pruned(folder: Path) -> Pruned:
    """The finished folder of `prune`; FormatError names the file of what is damaged."""
    about = read_finished(folder / ABOUT, "prune", About, _AGAIN)
    rows = tuple(read_records(folder / ROWS, PrunedRow, _AGAIN))
    if len(rows) != about.n:
        raise FormatError(f"{folder / ROWS}: {len(rows):,} lines for {about.n:,} instances. {_AGAIN}")
    return Pruned(folder, about, rows, read_comparison(folder / AFTER))


def write_pruned(
    folder: Path, about: About, rows: Sequence[PrunedRow], points: Sequence[Point], identity: Mapping[str, Any]
) -> None:
    """Write the records; `prune.json`, by which the folder is known as finished, last."""
    write_jsonl(folder / ROWS, map(asdict, rows))
    write_jsonl(folder / KEPT, ({"id": row.id} for row in rows if row.kept))
    write_jsonl(folder / CURVE, map(asdict, points))
    write_json(folder / ABOUT, {"format": FORMAT, "kind": "prune", "identity": identity, **asdict(about)})


def round_record(one: Round, threshold: float, *, counts_wrong: bool) -> RoundRecord:
    """A round in numbers; with `counts_wrong`, how many are surely predicted wrongly too."""
    gone = one.predictability[np.isin(one.rows, one.removed)]
    lowest = round(float(gone.min()), 6) if len(gone) else None
    n_wrong = int((one.predictability <= 1 - threshold).sum()) if counts_wrong else None
    return RoundRecord(len(one.rows), one.n_above, n_wrong, len(gone), lowest)


def rows_of(instances: Instances, rounds: Sequence[Round], given: np.ndarray) -> list[PrunedRow]:
    """A record for each of `instances`; row r of the `rounds` is their row `given[r]`."""
    n = len(instances)
    first, last = np.full((2, n), np.nan)
    number = np.zeros(n, np.int64)  # 0: kept
    for one in rounds:
        last[given[one.rows]] = one.predictability
        number[given[one.removed]] = one.number
    if rounds:
        first[given[rounds[0].rows]] = rounds[0].predictability
    return [
        PrunedRow(one.id, one.where, not gone, gone or None, _known(now), _known(then))
        for one, gone, now, then in zip(instances.instances, number.tolist(), last, first, strict=True)
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else round(float(value), 6)
