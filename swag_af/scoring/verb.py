"""All that `score` computes: files read, figures made. What it writes and prints stands in `swag_af.cli.scoring`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.files import sha256_file
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.reading import names_of, read_instances
from swag_af.scoring.breakdown import tiers_in
from swag_af.scoring.comparison import Gap, compare, gap_of
from swag_af.scoring.figures import clusters_of
from swag_af.scoring.masking import changed_by_mask, parts_by_mask
from swag_af.scoring.options import ScoreOptions
from swag_af.scoring.outcome import Scores, score_of
from swag_af.scoring.people import People, people_of
from swag_af.scoring.reading.answers import Cells
from swag_af.scoring.reading.judgements import read_judgements
from swag_af.scoring.reading.predictions import Predictions, read_predictions


@dataclass(frozen=True)
class Scoring:
    """What is to be scored, each file read once, when it is first asked for."""

    options: ScoreOptions

    @cached_property
    def instances(self) -> Instances:
        """As they read without a mask, so that a mask changes no figure but those by mask."""
        return self._read("")

    @cached_property
    def masked(self) -> Instances:
        """As they read with the mask."""
        return self._read(self.options.reading.mask)

    def _read(self, mask: str) -> Instances:
        return read_instances((self.options.data, *self.options.also), replace(self.options.reading, mask=mask))

    @cached_property
    def changed(self) -> np.ndarray | None:
        """(N,) whether the mask changes an instance; None without a mask."""
        return changed_by_mask(self.instances, self.masked) if self.options.reading.mask else None

    @cached_property
    def groups(self) -> Groups:
        """What intervals are computed over."""
        return clusters_of(self.instances)

    @cached_property
    def cells(self) -> Cells:
        """The reader of cells."""
        return Cells(self.instances, self.options.predicted.class_order)

    @cached_property
    def parts(self) -> dict[str, Sequence[str]]:
        """By kind the part of each instance, beside its split."""
        parts: dict[str, Sequence[str]] = {}
        if self.options.audit:
            parts["tier"] = tiers_in(self.options.audit, self.instances)
        if self.changed is not None:
            parts["mask"] = parts_by_mask(self.changed)
        return parts

    def predictions(self) -> list[Predictions]:
        """Those of each model."""
        paths = self.options.predictions
        stems = [path.stem for path in paths]
        names = stems if len(set(stems)) == len(stems) else names_of(paths)
        return [self._predictions(path, name) for path, name in zip(paths, names, strict=True)]

    def _predictions(self, path: Path, name: str) -> Predictions:
        return read_predictions(path, self.cells, self.options.predicted, name=name)

    def gaps(self, sighted: Predictions) -> list[Gap]:
        """The model that sees all beside each blind input."""
        numbers, gaps = self.groups.numbers, []
        for name, path in self.options.blinds.items():
            blind = self._predictions(path, name)
            accuracy = score_of(self.instances, blind, numbers).figures[0]
            gaps.append(gap_of(name, sighted, blind, numbers, accuracy))
        return gaps

    def people(self) -> People | None:
        """What people get right, where their answers are given."""
        options = self.options
        if options.people is None:
            return None
        judgements = read_judgements(options.people, self.cells, options.data, self.groups.numbers)
        return people_of(judgements, min_items=options.min_items, expert=options.expert, seed=options.seed)


def scores_in(scoring: Scoring) -> Scores:
    """Everything that its options ask for, and nothing written; InputError for whatever cannot be read or used."""
    options, instances, groups = scoring.options, scoring.instances, scoring.groups
    predictions, parts, people = scoring.predictions(), scoring.parts, scoring.people()
    gaps = scoring.gaps(predictions[0]) if predictions else []
    compared = compare(predictions[0], predictions[1:], groups.numbers, seed=options.seed) if predictions else []
    return Scores(
        instances.name,
        instances.kind,
        len(instances),
        groups.n,
        groups.said,
        instances.notes,
        {**instances.files, **_hashes(options)},
        tuple(score_of(instances, one, groups.numbers, parts) for one in predictions),
        tuple(compared),
        tuple(gaps),
        people,
        options.reading.mask,
        None if scoring.changed is None else int(scoring.changed.sum()),
        _record(options),
    )


def _hashes(options: ScoreOptions) -> dict[str, str]:
    """The SHA-256 of every file of answers, by name."""
    paths = [*options.predictions, *options.blinds.values(), *filter(None, [options.people])]
    distinct = list(dict.fromkeys(paths))
    return {name: sha256_file(path) for name, path in zip(names_of(distinct), distinct, strict=True)} if paths else {}


def _record(options: ScoreOptions) -> dict[str, Any]:
    """What decides the figures, without paths of the machine."""
    kept = {one.name: getattr(options.predicted, one.name) for one in fields(options.predicted)}
    own = {name: getattr(options, name) for name in ("expert", "min_items", "seed")}
    return {**own, **kept, "swag_af": version("swag-af")}
