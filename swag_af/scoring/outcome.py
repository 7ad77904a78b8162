"""All scores of a dataset: of each model, of two together, and of people. Reads and writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from swag_af.data.disk.manifests import FORMAT
from swag_af.data.errors import InputError, UnknownNameError, check_kind
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances, Kind
from swag_af.scoring.breakdown import Spread, by_group, by_part, spread_of
from swag_af.scoring.comparison import Comparison, Gap
from swag_af.scoring.figures import Figure, clusters_of, figures_of
from swag_af.scoring.people import People
from swag_af.scoring.reading.predictions import Predictions, predictions_of


@dataclass(frozen=True, slots=True)
class Score:
    """What one model gets right."""

    model: str
    said: str
    """How its predictions were read."""
    n_missing: int
    """Instances without a prediction, counted as wrong."""
    n_tied: int
    """Instances in which several answers have the highest score, or the text given: each of t counts 1/t."""
    figures: tuple[Figure, ...]
    """Accuracy first; then by stage, consistency, original and contrast, sensitivity, where the dataset has them."""
    parts: tuple[Figure, ...]
    """Accuracy by split, audit tier, mask."""
    groups: tuple[Figure, ...]
    """Accuracy in each named group of five instances or more, the worst first."""
    spread: Spread | None
    """How much groups differ."""

    def figure(self, name: str, part: str = "") -> Figure:
        """The figure called `name`, of all instances or of a `part`, such as `split: val` or `group: v_1`;
        UnknownNameError where there is none."""
        found = {(one.name, one.part): one for one in (*self.figures, *self.parts, *self.groups)}
        if (name, part) not in found:
            if part:
                parts = ", ".join(other for one, other in found if one == name)
                raise UnknownNameError(f"{name} of {part}: not among the parts, {parts or 'none'}.")
            figures = ", ".join(one for one, other in found if not other)
            raise UnknownNameError(f"{name}: not among the figures, {figures}.")
        return found[name, part]


@dataclass(frozen=True)
class Scores:
    """What was computed of a dataset."""

    name: str
    of: Kind
    n: int
    """Instances."""
    n_groups: int
    groups: str
    """How groups were made, over which intervals are computed."""
    notes: tuple[str, ...]
    """How the dataset was read."""
    files: Mapping[str, str]
    """The SHA-256 of each file."""
    models: tuple[Score, ...]
    comparisons: tuple[Comparison, ...] = ()
    """The first model beside each other one."""
    gaps: tuple[Gap, ...] = ()
    """The first model beside what it answers where it sees less."""
    people: People | None = None
    mask: str = ""
    n_masked: int | None = None
    """Instances that the mask changes."""
    record: Mapping[str, Any] | None = None
    """Options and versions."""

    def as_record(self) -> dict[str, Any]:
        """As `--json` writes it."""
        return {"format": FORMAT, "kind": "score", **asdict(self)}


def score_of(
    instances: Instances, predictions: Predictions, groups: np.ndarray, parts: Mapping[str, Sequence[str]] | None = None
) -> Score:
    """All figures of a model, over the clusters `groups` (N,); `parts` name that of each instance, such as tiers."""
    figures = figures_of(instances, predictions, groups)
    named = {"split": [one.split for one in instances.instances], **(parts or {})}
    by = [one for kind, of in named.items() for one in by_part(kind, of, instances, predictions, groups)]
    of_groups = by_group(instances, predictions)
    n_named = len({one.group for one in instances.instances if one.group})
    spread = spread_of(of_groups, predictions.hits, n_named)
    counts = (predictions.n_missing, predictions.n_tied)
    return Score(predictions.name, predictions.said, *counts, tuple(figures), tuple(by), tuple(of_groups), spread)


def scores_of(
    instances: Instances,
    predictions: np.ndarray | Sequence[Any],
    *,
    groups: Groups | np.ndarray | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    name: str = "model",
) -> Score:
    """All figures of predictions in memory: (N,) whole numbers of answers, -1 for none, or (M,) scores of all answers,
    also as a list of them for each instance.

    Answers are counted as they stand in `instances`, not in a file: by the `options` of each instance, whose order was
    drawn where gold has a column of its own (`has_order` is false), or by `instances.classes`. `groups` (N,) are the
    clusters of intervals, numbers or names, or Groups as `group` makes them; those of the dataset unless given. `parts`
    name, by kind, the part of each instance. Raises InputError for arrays of another shape.
    """
    check_kind("instances", instances, Instances)
    if parts is not None and not isinstance(parts, Mapping):
        raise InputError(f"parts: a {type(parts).__name__}, where a dict is due, a list of parts to a kind.")
    numbers = _numbers(instances, groups)
    for kind, given in {"groups": numbers, **(parts or {})}.items():
        if len(given) != len(instances):
            raise InputError(f"{kind}: {len(given):,} are given for {len(instances):,} instances. Give one for each.")
    return score_of(instances, predictions_of(instances, predictions, name=name), numbers, parts)


def _numbers(instances: Instances, groups: Groups | np.ndarray | None) -> np.ndarray:
    """(N,) the number of the cluster of each instance."""
    if groups is None:
        return clusters_of(instances).numbers
    numbers = np.asarray(groups.numbers if isinstance(groups, Groups) else groups)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuU":
        raise InputError(f"groups: {numbers.dtype} {numbers.shape}, where a number or a name is due for each instance.")
    return numbers
