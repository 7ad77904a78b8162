"""Whether instances that are hard to predict are those that people disagree on.

Pruning keeps what models get wrong, and models get wrong what is labelled wrong. Where annotators agree less on what is
kept than on what is removed, a part of the difficulty is noise in the labels.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.cells.labels import AS_TEXT, index_of
from swag_af.data.cells.values import as_list, did_you_mean, optional, with_nested
from swag_af.data.errors import Faults, InputError, RowError, told
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.own import kind_of
from swag_af.data.instances.reading import names_of
from swag_af.data.numbers.interval import DIGITS, difference_of_means, rounded_mean
from swag_af.data.numbers.percent import in_percent, in_points
from swag_af.data.runs.run import open_run
from swag_af.data.tables.sources import open_sources
from swag_af.judging.verdicts import read_verdicts

FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Part:
    """Agreement on a part of the instances."""

    name: str
    n: int
    agreement: float
    low: float
    high: float
    """The 95 % interval of the mean."""


@dataclass(frozen=True, slots=True)
class ByDifficulty:
    """Agreement of annotators against predictability."""

    of: str
    """What agreement is: the column, or the verdicts."""
    parts: tuple[Part, ...]
    """Removed, kept, then fifths of all instances by predictability in the first round, the most predictable last."""
    difference: float
    """Kept less removed."""
    low: float
    high: float
    """Its 95 % interval, whole groups drawn, of which some have instances on both sides."""
    rank_correlation: float
    """Spearman's, of agreement with predictability."""


def by_difficulty(
    agreement: np.ndarray, predictability: np.ndarray, kept: np.ndarray, groups: np.ndarray, *, of: str
) -> ByDifficulty | None:
    """`agreement` (N,) from 0 to 1, NaN where nobody knows, against `predictability` (N,) and `kept` (N,).

    `groups` (N,) are clusters. None where fewer than two kept or two removed groups have an agreement.
    """
    known = ~np.isnan(agreement) & ~np.isnan(predictability)
    agreement, predictability, kept, groups = (one[known] for one in (agreement, predictability, kept, groups))
    if min(len(np.unique(groups[kept])), len(np.unique(groups[~kept]))) < 2:
        return None
    parts = [_part("removed", agreement[~kept], groups[~kept]), _part("kept", agreement[kept], groups[kept])]
    ties = np.random.default_rng((0, *b"fifths")).permutation(len(predictability))  # not as they stand in the file
    fifths = np.array_split(np.lexsort((ties, predictability)), FIFTHS)
    parts += [_part(f"fifth {i + 1}", agreement[rows], groups[rows]) for i, rows in enumerate(fifths) if len(rows)]
    found = difference_of_means(agreement[~kept], agreement[kept], (groups[~kept], groups[kept]))
    rho = _rank_correlation(agreement, predictability)
    figures = (round(one, DIGITS) for one in (found.mean, found.low, found.high, rho))
    return ByDifficulty(of, tuple(parts), *figures)


def agreement_line(found: ByDifficulty) -> str:
    """What was found, in a sentence or two."""
    removed, kept = found.parts[:2]
    said = (
        f"Agreement of annotators ({found.of}): {in_percent(kept.agreement)} on what is kept, "
        f"{in_percent(removed.agreement)} on what is removed; difference "
        f"{in_points(found.difference, found.low, found.high)}, rank correlation with predictability "
        f"{found.rank_correlation:+z.2f}."
    )
    if found.high < 0:
        return f"{said} Hard instances have less agreement: a part of what is kept is noise in the labels."
    return f"{said} {'Hard instances have more agreement.' if found.low > 0 else 'No significant difference.'}"


def untold_line(agreement: np.ndarray, *, of: str) -> str:
    """That `by_difficulty` found nothing in `agreement` (N,), and what it takes."""
    n_known = int((~np.isnan(agreement)).sum())
    return (
        f"Agreement of annotators ({of}): cannot be told, {n_known:,} of {len(agreement):,} instances have one. It "
        "takes two groups with one among what is removed, and two among what is kept."
    )


def agreement_in_column(paths: Sequence[Path], column: str, instances: Instances, *, format: str) -> np.ndarray:
    """(N,) the agreement that each instance's row has under `column`, NaN where the cell has none.

    A number from 0 to 1; a list of the annotators' labels, or an object of them by annotator; or an object that says of
    each label how many gave it, or what share. Which of the two objects of numbers are is decided once for the column,
    by `_are_by_annotator`. Agreement is the share of the commonest label; nulls and blanks are no labels, and one label
    agrees with nobody. Raises InputError for a column that is not there, for cells that are none of these, for objects
    that could be either, and for lists of numbers where labels are no numbers: those may be counts, and do not say of
    what.
    """
    tables = list(_tables(paths, column, instances, format))
    by_name = [(table, cell) for table in tables if not table.words for cell in table.cells if _numbers(cell.value)]
    are_by_annotator = _are_by_annotator([cell for _, cell in by_name])
    if are_by_annotator is None:
        table, cell = next((table, cell) for table, cell in by_name if _differ(cell))
        raise InputError(
            f"{table.path}: {cell.where} has {told(cell.value)} under {column}: labels by annotator, or how many gave "
            "each label? Both could be, and their agreement is another. Give lists of labels, as [0, 0, 2], or name "
            "another --agreement-column."
        )
    found = np.full(len(instances), np.nan)
    for table in tables:
        faults = Faults(str(table.path), "Mend them, or name another --agreement-column.")
        for cell in table.cells:
            try:
                found[cell.rows] = _agreement(cell.value, column, table.words, by_annotator=are_by_annotator)
            except RowError as fault:
                faults.add(cell.where, fault)
        faults.check()
    return found


@dataclass(frozen=True, slots=True)
class _Cell:
    """What a row of a file says of the agreement on its instances."""

    where: str
    rows: list[int]
    """The instances of that row."""
    value: Any
    answers: list[tuple[str, ...]]
    """What the labels of these instances name, of each that is another: its options, or the classes."""


@dataclass(frozen=True, slots=True)
class _Table:
    """The cells of a file, and the `words` that are its labels where these are no numbers."""

    path: Path
    words: Sequence[str]
    cells: list[_Cell]


def _tables(paths: Sequence[Path], column: str, instances: Instances, format: str) -> Iterator[_Table]:
    """The cells of each source under `column`, of rows that have instances."""
    at: dict[str, list[int]] = {}
    for row, one in enumerate(instances.instances):  # several where a row of the file has several questions
        at.setdefault(one.where, []).append(row)
    first = column.partition(".")[0]
    for path, name in zip(paths, names_of(paths), strict=True):
        for source in open_sources(path, format):
            if first not in source.columns:
                known = did_you_mean([column], source.columns)
                raise InputError(f"{source.path}: no column {column!r} for --agreement-column.{known}")
            cells = []
            for where, record in source.read([first]):
                rows = at.get(f"{name}, {where}", at.get(f"{source.path.name}, {where}"))
                if rows is not None:
                    value = optional(with_nested(record, [column]), column)
                    cells.append(_Cell(where, rows, value, _answers(instances, rows)))
            yield _Table(source.path, () if source.class_names else _words(instances.classes), cells)


def agreement_in_verdicts(run: Path, verdicts: Path, instances: Instances) -> np.ndarray:
    """(N,) the share of verdicts on each row of a run that have gold as the best ending; NaN where there is none.

    Raises InputError where the source is no run, or the verdicts are of another.
    """
    if kind_of(run) != "run":
        raise InputError(f"--verdicts: {run} is no run folder. Verdicts are on the endings of a run.")
    n, best = np.zeros((2, len(instances)))
    at = {int(one.where.rpartition(" ")[2]): row for row, one in enumerate(instances.instances)}
    for verdict in read_verdicts(verdicts, open_run(run).pool.unguarded_identity):
        if verdict.item.row in at:
            n[at[verdict.item.row]] += 1
            best[at[verdict.item.row]] += verdict.best == 0
    return np.divide(best, n, out=np.full(len(instances), np.nan), where=n > 0)


def _words(classes: Sequence[str]) -> Sequence[str]:
    """The names of the classes where none is a number; else nothing, as for choices, whose labels are numbers."""
    return () if any(re.fullmatch(r"[-+]?\d+([.]\d+)?", name.strip()) for name in classes) else classes


def _answers(instances: Instances, rows: Sequence[int]) -> list[tuple[str, ...]]:
    """What the labels of these instances name, of each that is another: its options, or the classes."""
    if instances.kind == "classes":
        return [instances.classes]
    return list(dict.fromkeys(instances.instances[row].options for row in rows))


def _agreement(value: Any, column: str, words: Sequence[str], *, by_annotator: bool) -> float:
    """That of one cell; `words` are the labels of the dataset where these are no numbers, else objects of numbers are
    labels `by_annotator`, or counts."""
    if _is_blank(value):
        return float("nan")
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = as_list(value, column)
    if isinstance(value, list | tuple | dict):
        given = _given(value)
        if _are_numbers(given) and isinstance(value, dict) and (words or not by_annotator):
            return _share_of_commonest(given, column)
        if _are_numbers(given) and words:
            raise RowError(
                f"has a list of numbers under {column}, and labels are {', '.join(words)}: counts are read by label, "
                f'as {{"{words[0]}": 2}}'
            )
        return _share_of_votes(given)
    try:
        share = float(value)
    except (TypeError, ValueError):
        raise RowError(f"has {str(value)[:40]!r} under {column}, neither a number nor a list of labels") from None
    if not 0 <= share <= 1:
        raise RowError(f"has {share:g} under {column}; agreement is a number from 0 to 1")
    return share


def _given(value: Any) -> list[Any]:
    """What a list or an object has that is not blank."""
    return [one for one in (value.values() if isinstance(value, dict) else value) if not _is_blank(one)]


def _are_numbers(given: Sequence[Any]) -> bool:
    return bool(given) and all(isinstance(one, int | float) and not isinstance(one, bool) for one in given)


def _numbers(value: Any) -> list[float]:
    """The numbers of an object that has no others; empty for anything else."""
    given = _given(value) if isinstance(value, dict) else []
    return given if _are_numbers(given) else []


FEW = 10
"""So many rows at least tell that numbers are counts by their sums."""


def _are_by_annotator(cells: Sequence[_Cell]) -> bool | None:
    """Whether the objects of numbers of a column are labels by annotator, and not how many gave each label; None where
    both could be and it matters.

    They are counts where some number is no label, where all names are labels, or where the numbers of every row, though
    they are others, have one sum. They are labels where the numbers of some row are all 0 and those of others have
    several sums, or names are so many that they are none of labels.
    """
    are_labels = any(all(_is_label(n, cell, base) for cell in cells for n in _numbers(cell.value)) for base in _BASES)
    if not are_labels or all(
        any(_is_label(name, cell, base) for base in _BASES) for cell in cells for name in cell.value
    ):
        return False
    n_labels = max(len(texts) for cell in cells for texts in cell.answers)
    n_names = len({name for cell in cells for name in cell.value})
    if n_names > 2 * n_labels:
        return True
    kinds = {tuple(sorted(filter(None, _numbers(cell.value)))) for cell in cells}
    sums = {sum(kind) for kind in kinds - {()}}
    if len(cells) >= FEW and len(kinds - {()}) > 1 and len(sums) == 1:
        return False
    says_labels = () in kinds and (len(sums) > 1 or len(cells) < FEW)
    return True if says_labels or not any(map(_differ, cells)) else None


def _differ(cell: _Cell) -> bool:
    """Whether the numbers of a cell say something else as labels than as counts."""
    given = _numbers(cell.value)
    return not np.array_equal(_share_of_votes(given), _share_of_commonest(given, ""), equal_nan=True)


_BASES = (0, 1, AS_TEXT)
"""From what numbers of labels may count, or that they are texts."""


def _is_label(value: Any, cell: _Cell, base: int) -> bool:
    """Whether it may name one of the options or classes: by number from `base`, by letter, or by its text."""
    for options in cell.answers:
        with suppress(RowError):
            index_of(value, "label", options, what="options", base=base)
            return True
    return False


def _share_of_votes(labels: Sequence[Any]) -> float:
    """Of the commonest of them; NaN where one is all there is."""
    votes = Counter(map(str, labels))
    return max(votes.values()) / votes.total() if votes.total() > 1 else float("nan")


def _share_of_commonest(counts: Sequence[float], column: str) -> float:
    """Of counts of labels, or their shares; NaN where one is all there is."""
    total = sum(counts)
    if min(counts) < 0 or not 0 < total < float("inf"):
        raise RowError(f"has numbers of labels under {column} that are below 0, or all 0")
    is_single = total == 1 and all(isinstance(one, int) for one in counts)
    return float("nan") if is_single else max(counts) / total


def _is_blank(value: Any) -> bool:
    """Whether nothing is said: a null, NaN, or a text of blanks."""
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or (isinstance(value, str) and not value.strip())


def _part(name: str, agreement: np.ndarray, groups: np.ndarray) -> Part:
    return Part(name, len(agreement), *rounded_mean(agreement, groups))


def _rank_correlation(agreement: np.ndarray, predictability: np.ndarray) -> float:
    """Spearman's; 0 where one of them is the same for all."""
    from scipy.stats import rankdata

    ranks = [rankdata(one) - (len(one) + 1) / 2 for one in (agreement, predictability)]
    scale = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / scale if scale > 0 else 0.0
