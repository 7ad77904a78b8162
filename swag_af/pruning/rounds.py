"""Rounds of removal: the most predictable instances go, a few at a time, until few are left above the threshold.

As published: predictability is measured on what is left; the `most` most predictable of those at the threshold or above
are removed; when there were fewer, or the set has its target size, it is done. Which of equally predictable instances
goes is drawn. With a folder every round is kept when it is measured, so that a killed run goes on to the same bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from swag_af.data.disk.files import read_array, write_array
from swag_af.data.errors import FormatError
from swag_af.data.instances.instances import Instances
from swag_af.pruning.aflite import AFLite
from swag_af.pruning.by_probes import ByProbes

Measure = AFLite | ByProbes

N_SHUFFLES = 19
"""How often answers are drawn at random: luck alone is above all of so many 1 time in 20."""


@dataclass(frozen=True)
class Limits:
    """What is removed, and when that ends."""

    threshold: float
    """Instances less predictable than this stay."""
    most: int
    """Removed in a round at most."""
    target: int = 0
    """No removal leaves fewer instances than this."""
    fewest: int = 1
    """With so few left, predictability cannot be measured any more: they are all needed to fit on."""

    def n_rounds(self, n: int) -> int:
        """How many rounds `n` instances can take at most."""
        return max(0, -(-(n - max(self.target, self.fewest)) // self.most))


@dataclass(frozen=True)
class Round:
    """One removal."""

    number: int
    """From 1."""
    rows: np.ndarray
    """(r,) the instances that were left before it, ascending."""
    predictability: np.ndarray
    """(r,) of each; NaN where it was not measured."""
    removed: np.ndarray
    """(k,) the instances that it removed, ascending."""
    n_above: int
    """How many were at the threshold or above."""


def rounds_of(
    measure: Measure,
    limits: Limits,
    *,
    folder: Path | None = None,
    after_round: Callable[[Round], None] = lambda done: None,
) -> list[Round]:
    """The rounds of removal by `measure`, in order; at least one, unless there are too few instances.

    With a `folder`, rounds that it has are not measured again.
    """
    rows, done = np.arange(len(measure.instances)), list[Round]()
    while len(rows) > max(limits.target, limits.fewest):
        number = 1 + len(done)
        one = _round(measure, limits, rows, number, folder)
        done.append(one)
        after_round(one)
        rows = np.setdiff1d(rows, one.removed, assume_unique=True)
        if len(one.removed) < limits.most:
            break
    return done


def left_after(rounds: list[Round], n: int, number: int) -> np.ndarray:
    """The rows, of `n`, that are left after round `number`; all of them for 0."""
    gone = [one.removed for one in rounds[:number]]
    return np.setdiff1d(np.arange(n), np.concatenate([*gone, np.zeros(0, np.int64)]), assume_unique=True)


def unreached(limits: Limits, n_left: int) -> str:
    """Why the rounds ended with `n_left` instances, above their target, and what to do; empty where they did not."""
    if not limits.target or n_left <= limits.target:
        return ""
    said = f"Target {limits.target:,} not reached, {n_left:,} are kept:"
    if n_left <= limits.fewest:
        return (
            f"{said} so few are all needed to fit on. Take a smaller --train-share, or with --by probes fewer --folds."
        )
    return (
        f"{said} the last round found fewer than the {limits.most:,} that it may remove at the threshold "
        f"{limits.threshold:g}. Lower --threshold."
    )


def choose(predictability: np.ndarray, limits: Limits, *, rng: np.random.Generator) -> np.ndarray:
    """Which of r instances to remove, ascending: the most predictable, drawn among equals; never those with NaN."""
    above = np.flatnonzero(predictability >= limits.threshold)
    order = above[np.lexsort((rng.random(len(above)), -predictability[above]))]
    return np.sort(order[: min(limits.most, len(predictability) - limits.target)])


def above_by_luck(
    measure: Measure, limits: Limits, *, folder: Path | None = None, after_each: Callable[[], None] = lambda: None
) -> tuple[int, ...]:
    """How many of all instances would be at the threshold or above if no text told anything of the answers, each time
    that answers are drawn at random; with the partitions, or folds, of the first round."""
    rows, counts = np.arange(len(measure.instances)), []
    for draw in range(N_SHUFFLES):
        rng = np.random.default_rng((measure.seed, draw, *b"shuffled"))
        luck = replace(measure, instances=shuffled(measure.instances, rng=rng))
        found = _measured(luck, rows, 1, folder and folder / f"luck-{draw:02d}.npy")
        counts.append(int((found >= limits.threshold).sum()))
        after_each()
    return tuple(counts)


def is_luck(n_above: int, by_luck: Sequence[int]) -> bool:
    """Whether so many above the threshold are no more than luck: random answers gave as many, in one draw at least."""
    return n_above <= max(by_luck)


def shuffled(instances: Instances, *, rng: np.random.Generator) -> Instances:
    """The same with other answers: of choices a random option each, of classes those of other instances."""
    n_answers, is_classes = instances.n_answers, instances.kind == "classes"
    answers = rng.permutation(instances.answers) if is_classes else rng.integers(0, n_answers)
    rows = (replace(one, answer=answer) for one, answer in zip(instances.instances, answers.tolist(), strict=True))
    return replace(instances, instances=tuple(rows))


def _round(measure: Measure, limits: Limits, rows: np.ndarray, number: int, folder: Path | None) -> Round:
    found = _measured(measure, rows, number, folder and folder / f"round-{number:04d}.npy")
    chosen = choose(found, limits, rng=np.random.default_rng((measure.seed, number, *b"ties")))
    return Round(number, rows, found, rows[chosen], int((found >= limits.threshold).sum()))


def _measured(measure: Measure, rows: np.ndarray, number: int, path: Path | None) -> np.ndarray:
    """(r,) predictability, read from `path` where it stands there."""
    if path is None or not path.exists():
        found = measure.predictability(rows, number)
        if path is not None:
            write_array(path, found)
        return found
    found = read_array(path)
    if found.shape != rows.shape:
        raise FormatError(f"{path}: {found.shape}, where ({len(rows)},) is due. Delete the folder, and prune again.")
    return found
