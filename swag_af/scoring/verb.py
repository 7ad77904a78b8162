"""All that `score` computes: files read, figures made. What it writes and prints: `swag_af.cli.datasets.scoring`."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import MANIFEST, sha256_file
from swag_af.data.disk.urls import command, told_otherwise
from swag_af.data.errors import InputError
from swag_af.data.instances.beside import columns_beside
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import AUTO
from swag_af.data.instances.reading import names_of, read_instances
from swag_af.scoring.breakdown import tiers_in
from swag_af.scoring.comparison import Gap, compare, gap_of
from swag_af.scoring.figures import clusters_of
from swag_af.scoring.masking import changed_by_mask, parts_by_mask
from swag_af.scoring.options import ScoreOptions
from swag_af.scoring.outcome import Scores, score_of
from swag_af.scoring.partial import only_rows, predicted_rows
from swag_af.scoring.people import People, people_of
from swag_af.scoring.reading.answers import Cells
from swag_af.scoring.reading.judgements import are_verdicts, read_judgements
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
        return read_instances(self._paths, replace(self.options.reading, mask=mask))

    @property
    def _paths(self) -> tuple[Path, ...]:
        return self.options.data, *self.options.also

    @cached_property
    def changed(self) -> np.ndarray | None:
        """(N,) whether the mask changes an instance; None without a mask."""
        return changed_by_mask(self.instances, self.masked) if self.options.reading.mask else None

    @cached_property
    def rows(self) -> np.ndarray:
        """(n,) the rows of the instances that are scored: all, or those with predictions."""
        if not self.options.predicted.only_predicted:
            return np.arange(len(self.instances))
        return predicted_rows(self.instances, [*self._models, *self._blinds])

    @cached_property
    def scored(self) -> Instances:
        """The instances that are scored."""
        return self.instances if len(self.rows) == len(self.instances) else only_rows(self.instances, self.rows)

    @cached_property
    def _clusters(self) -> Groups:
        """Those of all instances."""
        return clusters_of(self.instances)

    @cached_property
    def groups(self) -> Groups:
        """What intervals are computed over."""
        taken = self._clusters.take(self.rows)
        return taken if self.scored is self.instances else replace(taken, said=f"{taken.n:,} of {taken.said}")

    @cached_property
    def cells(self) -> Cells:
        """The reader of cells."""
        return Cells(self.instances, self.options.predicted.class_order, self._beside)

    def _beside(self) -> dict[str, list[str]]:
        return columns_beside(self._paths, self.options.reading, self.instances)

    @cached_property
    def parts(self) -> dict[str, Sequence[str]]:
        """By kind the part of each instance that is scored, beside its split."""
        parts: dict[str, Sequence[str]] = {}
        if self.options.audit:
            parts["tier"] = tiers_in(self.options.audit, self.scored)
        if self.changed is not None:
            parts["mask"] = parts_by_mask(self.changed[self.rows])
        return parts

    @property
    def n_masked(self) -> int | None:
        """How many of the instances that are scored the mask changes."""
        return None if self.changed is None else int(self.changed[self.rows].sum())

    def predictions(self) -> list[Predictions]:
        """Those of each model."""
        return self._scored(self._models)

    @cached_property
    def _models(self) -> list[Predictions]:
        paths = self.options.predictions
        stems = [path.stem for path in paths]
        names = stems if len(set(stems)) == len(stems) else names_of(paths)
        return [self._predictions(path, name) for path, name in zip(paths, names, strict=True)]

    @cached_property
    def _blinds(self) -> list[Predictions]:
        return [self._predictions(path, name) for name, path in self.options.blinds.items()]

    def _scored(self, given: Sequence[Predictions]) -> list[Predictions]:
        """Predictions of all instances, brought to those that are scored."""
        if self.scored is self.instances:
            return list(given)
        return [one.take(self.instances, self.rows) for one in given]

    def _predictions(self, path: Path, name: str) -> Predictions:
        made = read_predictions(path, self.cells, self.options.predicted, name=name)
        is_data = path.resolve() in {one.resolve() for one in self._paths}
        all_right = made.hits.sum() == len(made.hits) - made.n_missing
        if is_data and all_right and self.options.predicted.prediction_column == AUTO and not made.is_log:
            raise InputError(
                f"{path}: this is the dataset itself, whose labels are all right. Name a file of predictions, or the "
                "column of this one that has them with --prediction-column."
            )
        return made

    def gaps(self, sighted: Predictions) -> list[Gap]:
        """The model that sees all beside each blind input."""
        numbers, gaps = self.groups.numbers, []
        for blind in self._scored(self._blinds):
            accuracy = score_of(self.scored, blind, numbers).figures[0]
            gaps.append(gap_of(blind.name, sighted, blind, numbers, accuracy))
        return gaps

    def check_metric(self) -> None:
        """Raise InputError where a metric of logs is asked for and no file is a log."""
        metric, given = self.options.predicted.metric, [*self._models, *self._blinds]
        if metric != "acc" and given and not any(one.is_log for one in given):
            raise InputError(
                f"--metric {metric}: none of the files is a sample log of lm-evaluation-harness, which alone has "
                "log-likelihoods to divide. Leave it out, or give a log."
            )

    def check_named(self) -> None:
        """Raise InputError where a flag names a column that no file has; of a file with a header that is told when it
        is read, but sample logs and files without a header are read without it."""
        given = [*self._models, *self._blinds]
        for flag, name in self.options.predicted.named.items():
            if given and self.options.people is None and all(flag in one.unused for one in given):
                raise InputError(
                    f"{flag} {name}: no file has such a column, and sample logs and files without a header are read "
                    "without one. Leave it out, or name a column that is there."
                )

    def people(self) -> People | None:
        """What people get right, where their answers are given."""
        options = self.options
        if options.people is None:
            return None
        judgements = read_judgements(
            options.people,
            self.cells,
            options.data,
            self._clusters.numbers,
            options=options.predicted,
            are_alone=not options.predictions,
        )
        return people_of(judgements, min_items=options.min_items, expert=options.expert, seed=options.seed)


def scores_in(scoring: Scoring) -> Scores:
    """Everything that its options ask for, and nothing written; InputError for whatever cannot be read or used."""
    scoring.check_metric()
    scoring.check_named()
    options, instances, groups = scoring.options, scoring.scored, scoring.groups
    predictions, parts, people = scoring.predictions(), scoring.parts, scoring.people()
    gaps = scoring.gaps(predictions[0]) if predictions else []
    compared = compare(predictions[0], predictions[1:], groups.numbers, seed=options.seed) if predictions else []
    return Scores(
        instances.name,
        instances.kind,
        len(instances),
        groups.n,
        groups.said,
        (*instances.notes, *_chosen_by(options)),
        {**instances.files, **_hashes(options)},
        tuple(score_of(instances, one, groups.numbers, parts) for one in predictions),
        tuple(compared),
        tuple(gaps),
        people,
        options.reading.mask,
        scoring.n_masked,
        _record(options),
    )


def _chosen_by(options: ScoreOptions) -> list[str]:
    """What is to be told where people are scored on questions of a release that verdicts have chosen."""
    folder = options.data if options.data.is_dir() else options.data.parent
    if options.people is None or not (chosen := _verdicts_of(folder)):
        return []
    is_theirs = sha256_file(options.people) in chosen.get("sha256", ())
    whose = "by these very answers" if is_theirs else "by what people said of them"
    warning = f"Warning: the questions of {folder.name} were chosen {whose}, so what people get right is higher than"
    if not is_theirs and not are_verdicts(options.people):  # answers to questions, of which the run has none
        return [f"{warning} it is of all."]
    figure_of_run = command("score", "RUN", "--people", options.people)
    return [f"{warning} it is of all: take the figure of the run, {figure_of_run}."]


def _verdicts_of(folder: Path) -> dict[str, Any]:
    """What the manifest of a release says of the verdicts that chose its questions; nothing of any other folder."""
    path = folder / MANIFEST
    try:
        manifest = read_json(path) if path.is_file() else {}
    except InputError:  # somebody else's
        return {}
    is_release = isinstance(manifest, dict) and manifest.get("kind") == "dataset"
    return manifest.get("human_verdicts") or {} if is_release else {}


def _hashes(options: ScoreOptions) -> dict[str, str]:
    """The SHA-256 of every file of answers, by name."""
    paths = [*options.predictions, *options.blinds.values(), *filter(None, [options.people])]
    distinct = list({path.resolve(): path for path in paths}.values())
    return {name: sha256_file(path) for name, path in zip(names_of(distinct), distinct, strict=True)} if paths else {}


def _record(options: ScoreOptions) -> dict[str, Any]:
    """What decides the figures, without paths of the machine."""
    kept = {one.name: getattr(options.predicted, one.name) for one in fields(options.predicted)}
    own = {name: getattr(options, name) for name in ("expert", "min_items", "seed")}
    return {**own, **kept, **told_otherwise(options.reading), "swag_af": version("swag-af")}
