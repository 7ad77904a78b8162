"""The verb `prune`: data read, rows chosen round by round, audits beside random removals, the curve, the folder.

Nothing is taken from the data's own files. A killed run goes on: rounds, vectors and points of the curve stand in the
folder (`swag_af.pruning.folder`) as soon as they are measured.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np

from swag_af.auditing.classes import class_counts
from swag_af.auditing.comparison import COMPARISON, Comparison, compare, comparison_text
from swag_af.auditing.dataset import Checks, audit
from swag_af.auditing.options import PROBE_MODELS
from swag_af.auditing.outcome import Audit
from swag_af.auditing.probes.folds import Sorted, sort
from swag_af.auditing.probes.inputs import Source, find_input, input_names, read
from swag_af.auditing.probes.probe import check_models
from swag_af.auditing.storing import save_audit, saved_form
from swag_af.auditing.tiers import WHOLE
from swag_af.data.disk.files import read_array, read_json, write_array
from swag_af.data.disk.manifests import (
    BEGUN,
    begin_folder,
    check_made_by,
    check_manifest,
    check_same,
    sha256_file,
    sha256_json,
    sha256_tree,
)
from swag_af.data.disk.replacing import remove, remove_leftovers
from swag_af.data.disk.urls import command_for, told_otherwise
from swag_af.data.errors import InputError, takes_options
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import AUTO
from swag_af.data.instances.reading import read_instances
from swag_af.data.plugins.own_code import source_of
from swag_af.data.work.progress import note, progress
from swag_af.filters.registry import REGISTRY, make_filter, parse_names
from swag_af.pruning.aflite import AFLite
from swag_af.pruning.agreement import (
    ByDifficulty,
    agreement_in_column,
    agreement_in_verdicts,
    by_difficulty,
    untold_line,
)
from swag_af.pruning.artifacts import made_lines, parted_by, told_by, took_part, without_hasty
from swag_af.pruning.by_probes import ByProbes, main_inputs
from swag_af.pruning.curve import Curve, Point, sets_at
from swag_af.pruning.features import REPRESENTATIONS, features_of
from swag_af.pruning.folder import (
    ABOUT,
    AFTER,
    BEFORE,
    NAMES,
    WORK,
    About,
    Pruned,
    PrunedRow,
    open_pruned,
    round_record,
    rows_of,
    write_pruned,
)
from swag_af.pruning.lines import check_lines, check_rows, check_target, write_kept
from swag_af.pruning.options import PruneOptions
from swag_af.pruning.plot import plot_curve
from swag_af.pruning.rounds import N_SHUFFLES, Limits, Measure, Round, above_by_luck, left_after, rounds_of, unreached


@takes_options
def prune(options: PruneOptions) -> Pruned:
    """The verb `prune`: the folder, made or, where it stands finished, read.

    Goes on from what a killed run left in it. Raises InputError, before any work, for what cannot be read or used.
    """
    _check(options)
    instances = _read(options)
    if options.write:
        check_rows(options.data[0], instances)
    agreement = _agreement(options, instances)
    identity = _identity(options, instances, agreement)
    if (options.out / ABOUT).exists():
        begun = check_manifest(read_json(options.out / ABOUT), options.out / ABOUT, "prune")
        check_same(begun.get("identity") or {}, identity, options.out / ABOUT, "--out", is_finished=True)
    else:
        _make(options, instances, identity, agreement)
    remove(options.out / WORK)
    pruned = open_pruned(options.out)
    if agreement is not None and pruned.about.agreement is None:
        note(untold_line(agreement, of=_kind_of_agreement(options)))
    if options.write:
        kept = [row for row, one in enumerate(pruned.rows) if one.kept]
        write_kept(options.data[0], options.write, instances, kept, options.reading.format)
    return pruned


def _check(options: PruneOptions) -> None:
    check_made_by("prune", options.out, ABOUT, work=WORK)
    if options.by == "aflite":
        made = REPRESENTATIONS.make(options.features)
        with REPRESENTATIONS.blaming(options.features, "check"):
            getattr(made, "check", lambda: None)()
    elif options.input in WHOLE:
        raise InputError(
            f"--input {options.input}: to probes that is the task itself, so they would choose nothing. Take --by "
            "aflite, or a part of the instances, such as --input options or hypothesis."
        )
    for name in _models(options):
        if name not in PROBE_MODELS:
            make_filter(name, beside=PROBE_MODELS)
    if options.write:
        check_target(options.write, options.out, NAMES, is_ours=(options.out / ABOUT).exists())  # that may have made it
        check_lines(options.data[0], options.reading.format)


def _models(options: PruneOptions) -> tuple[str, ...]:
    """The names of all that is to be fitted as a probe."""
    choosing = parse_names("--probe-models", options.probe_models) if options.by == "probes" else ()
    return (*choosing, *parse_names("--audit-models", options.audit_models))


def _read(options: PruneOptions) -> Instances:
    return read_instances(options.data, options.reading)


def _agreement(options: PruneOptions, instances: Instances) -> np.ndarray | None:
    """(N,) of annotators, where an option says where it is."""
    if options.verdicts:
        return agreement_in_verdicts(options.data[0], options.verdicts, instances)
    if options.agreement_column:
        return agreement_in_column(options.data, options.agreement_column, instances, format=options.reading.format)
    return None


def _kind_of_agreement(options: PruneOptions) -> str:
    return options.agreement_column or "verdicts with gold best"


def _identity(options: PruneOptions, instances: Instances, agreement: np.ndarray | None) -> dict[str, Any]:
    """What decides the bytes, so that no folder is gone on with for other options."""
    data = sha256_json([asdict(one) for one in instances.instances])
    verdicts = sha256_file(options.verdicts) if options.verdicts else ""
    agreed = [] if agreement is None or not options.agreement_column else list(map(repr, agreement.tolist()))
    own = {"verdicts": verdicts, "agreement": sha256_json(agreed), "instances": data, "swag_af": version("swag-af")}
    files, sources = _files(options), _sources(options)
    return {**_settings(options), **own, **({"files": files} if files else {}), **sources}


def _sources(options: PruneOptions) -> dict[str, str]:
    """The hash of the source of each class of somebody's own: an edited one makes other bytes."""
    made: dict[str, Any] = {name: make_filter(name) for name in _models(options) if name not in PROBE_MODELS}
    if options.by == "aflite":
        made[options.features] = REPRESENTATIONS.make(options.features)
    return {f"source of {name}": sha for name, one in made.items() if (sha := source_of(one))}


def _files(options: PruneOptions) -> dict[str, str]:
    """By its name, the hash of the model that stands in the brackets of one of ours: other weights may be there now."""
    found = {name: REGISTRY.parted(name)[1] for name in _models(options) if name not in PROBE_MODELS}
    if options.by == "aflite":
        found[options.features] = REPRESENTATIONS.parted(options.features)[1]
    return {name: sha256_tree(Path(path)) for name, path in found.items() if path and Path(path).exists()}


def _settings(options: PruneOptions) -> dict[str, Any]:
    """The options, without paths of the machine, which decide nothing."""
    apart = ("data", "out", "write", "verdicts", "reading")
    return {one.name: getattr(options, one.name) for one in fields(options) if one.name not in apart}


def _make(
    options: PruneOptions, instances: Instances, identity: Mapping[str, Any], agreement: np.ndarray | None
) -> None:
    """Write the folder, the record last."""
    work = _Work(options, instances, group(instances))
    work.check()
    work.begin(identity)
    try:
        rounds = work.rounds()
    except InputError:  # such as an encoder that cannot be read
        work.leave()
        raise
    rows = rows_of(instances, rounds, work.order.rows)
    comparison = work.audits(np.flatnonzero([row.kept for row in rows]))
    points = work.curve(rounds)
    about = work.about(rounds, comparison, work.agreement(agreement, rows))
    write_pruned(options.out, about, rows, points, identity)


@dataclass
class _Work:
    """A folder that is being made."""

    options: PruneOptions
    instances: Instances
    groups: Groups

    @cached_property
    def order(self) -> Sorted:
        """The same instances in the order of their texts, in which rows are chosen: that of the file decides
        nothing."""
        return sort(self.instances, self.groups.numbers)

    @cached_property
    def parted(self) -> np.ndarray:
        """(N,) what partitions and folds keep whole while rows are chosen, in our order."""
        return self.order.groups if self.options.split_by == "group" else np.arange(len(self.instances))

    def check(self) -> None:
        """Raise InputError, before a file is written, for data that these options cannot be used on."""
        name, n, target = self.instances.name, len(self.instances), self.options.target
        self.inputs()
        check_models([one for one in _models(self.options) if one not in PROBE_MODELS], self.instances.kind)
        if target >= n:
            raise InputError(f"--target {target}: {name} has {n:,} instances, so none would be removed. Name fewer.")
        if self.groups.n < 2:
            raise InputError(
                f"{name}: all instances are of one group, and probes are fitted on some groups and score others. "
                "Add instances of other groups, or name another --video-column."
            )
        smallest = int(np.unique(self.parted, return_counts=True)[1].min())
        if self.options.by == "aflite" and smallest > self.limits().fewest:
            raise InputError(
                f"{name}: each of {self.groups.n:,} groups has more than the {self.limits().fewest:,} instances of "
                f"--train-share {self.options.train_share:g}, so no fit has anything to learn from. Take a larger "
                "--train-share, or --split-by instance."
            )

    def begin(self, identity: Mapping[str, Any]) -> None:
        """The folder, empty or with what a killed run with the same options left."""
        remove_leftovers(self.options.out)
        begin_folder(self.folder, identity)

    def leave(self) -> None:
        """Take the folder away where nothing was measured, so that it stops no mended command."""
        if [path.name for path in self.folder.iterdir()] == [BEGUN]:
            remove(self.folder)
            if not any(self.options.out.iterdir()):
                remove(self.options.out)

    @cached_property
    def folder(self) -> Path:
        """Where everything is until it is whole."""
        return self.options.out / WORK

    def inputs(self) -> tuple[str, ...]:
        """What is read to choose rows."""
        main = main_inputs(self.order.instances)
        if self.options.input != AUTO:
            return (find_input(self.options.input, self.order.instances.texts).name,)
        if not main:
            names = " or ".join(input_names(self.order.instances.texts))
            by = "" if self.options.by == "aflite" else "--by aflite "
            raise InputError(
                f"{self.instances.name}: there is nothing to read but the task itself. Take {by}--input {names}."
            )
        return main if self.options.by == "probes" else main[:1]

    def limits(self) -> Limits:
        """In numbers, where options have shares of all instances."""
        n, options = len(self.instances), self.options
        n_train = max(2, round(options.train_share * n)) if options.by == "aflite" else 2 * options.folds
        return Limits(options.least, max(1, round(options.slice * n)), options.target, n_train)

    def measure(self) -> Measure:
        """What says how predictable instances are."""
        options, order, limits = self.options, self.order, self.limits()
        if options.by == "aflite":
            return AFLite(
                order.instances, self._features(), self.parted, limits.fewest, options.partitions, options.seed
            )
        models = parse_names("--probe-models", options.probe_models)
        return ByProbes(order.instances, self.parted, self.inputs(), models, options.folds, options.seed)

    def _features(self) -> np.ndarray:
        """Vectors of the entries, kept: an encoder takes its time."""
        path, texts = self.folder / "features.npy", self.order.instances.texts
        if not path.exists():
            (name,) = self.inputs()
            rng = np.random.default_rng((self.options.seed, *b"input"))
            reading = read(find_input(name, texts), Source.of(texts), self.order.groups, rng=rng)
            made = features_of(REPRESENTATIONS.make(self.options.features), reading, seed=self.options.seed)
            write_array(path, made)
        return read_array(path)

    def rounds(self) -> list[Round]:
        """All rounds of removal, with their progress; and how many instances luck alone would remove."""
        measure, limits = self.measure(), self.limits()
        n_most = N_SHUFFLES + limits.n_rounds(len(self.instances))
        with progress("prune", n_most, "rounds at most") as advance:
            above_by_luck(measure, limits, folder=self.folder, after_each=lambda: advance(1, note="random answers"))
            return rounds_of(measure, limits, folder=self.folder, after_round=lambda one: advance(1, note=_said(one)))

    def audits(self, left: np.ndarray) -> Comparison | None:
        """The audits before and after, saved, and what became of each check beside random removals."""
        models = parse_names("--audit-models", self.options.audit_models)
        checks = Checks(models, n_folds=self.options.folds, seeds=(self.options.seed,))
        row_of = {one.id: row for row, one in enumerate(self.instances.instances)}

        def audited(part: Instances) -> Audit:
            rows = np.array([row_of[one.id] for one in part.instances])
            return audit(part, checks, groups=self.groups.take(rows))

        with progress("audit", 2 + self.options.draws, "sets") as advance:
            before = audited(replace(self.instances, name=f"{self.instances.name} before pruning"))
            advance(1, note="before")
            self._save(before, BEFORE, None)
            if len(left) == len(self.instances):
                return None
            after = audited(_after(self.instances, left))
            advance(1, note="after")
            draws, seed = self.options.draws, self.options.seed
            comparison = without_hasty(compare(before, after, audited, n_draws=draws, seed=seed, advance=advance))
        self._save(after, AFTER, comparison)
        return comparison

    def _save(self, made: Audit, name: str, comparison: Comparison | None) -> None:
        from swag_af.reporting.pages.audit import audit_page

        saved = saved_form(made)
        saved = replace(saved, about=replace(saved.about, reading=told_otherwise(self.options.reading)))
        page = audit_page(saved, comparison, command=command_for("prune", self.options, but=("out", "write")))
        beside = {"audit.html": page} | ({COMPARISON: comparison_text(comparison)} if comparison else {})
        save_audit(saved, self.options.out / name, beside)

    def curve(self, rounds: list[Round]) -> list[Point]:
        """The points of the curve, which is drawn."""
        options, order = self.options, self.order
        inputs = main_inputs(order.instances)
        models = parse_names("--audit-models", options.audit_models)
        groups = Groups(order.groups, self.groups.said)
        how = Curve(order.instances, groups, inputs, models, options.folds, options.draws, options.seed)
        sets = sets_at(rounds, len(self.instances), options.points)
        with progress("curve", how.n_sets(sets), "sets") as advance:
            points = how.points(sets, self.folder, lambda: advance(1))
        title = f"{self.instances.name}: {len(sets[0]):,} instances pruned to {len(sets[-1]):,}"
        plot_curve(points, self.took_part(), options.out, title=title)
        return points

    def took_part(self) -> tuple[str, ...]:
        """The probes that fall by construction."""
        return took_part(self.options, self.inputs(), parse_names("--probe-models", self.options.probe_models))

    def about(self, rounds: list[Round], comparison: Comparison | None, found: ByDifficulty | None) -> About:
        """The record."""
        limits, data = self.limits(), self.instances
        kept = left_after(rounds, len(data), len(rounds))
        stay = self.order.rows[kept].tolist()
        by_luck = above_by_luck(self.measure(), limits, folder=self.folder)
        counts_wrong = self.options.by == "aflite" and int(data.n_answers.max()) == 2  # then luck gives as many
        return About(
            name=data.name,
            of=data.kind,
            n=len(data),
            chance=round(float(data.chance.mean()), 6),
            n_kept=len(kept),
            n_groups=self.groups.n,
            groups=self.groups.said,
            files=dict(data.files),
            notes=data.notes,
            options=_settings(self.options),
            inputs=self.inputs(),
            threshold=limits.threshold,
            n_train=limits.fewest if self.options.by == "aflite" else 0,
            most=limits.most,
            rounds=tuple(round_record(one, limits.threshold, counts_wrong=counts_wrong) for one in rounds),
            n_above_by_luck=median_low(by_luck),
            above_by_luck=by_luck,
            took_part=self.took_part(),
            told=tuple(told_by(comparison, self.took_part())) if comparison else (),
            made=tuple(made_lines(comparison, self.took_part())) if comparison else (),
            parted=parted_by(data, stay),
            classes=class_counts(data, data.take(stay)),
            agreement=found,
            versions={name: version(name) for name in ("swag-af", "numpy", "scikit-learn")},
            unreached=unreached(limits, len(kept)),
        )

    def agreement(self, known: np.ndarray | None, rows: list[PrunedRow]) -> ByDifficulty | None:
        """Agreement of annotators, (N,) where it is `known`, against predictability in the first round."""
        if known is None:
            return None
        first = np.array([np.nan if row.first is None else row.first for row in rows])
        kept = np.array([row.kept for row in rows])
        return by_difficulty(known, first, kept, self.groups.numbers, of=_kind_of_agreement(self.options))


def _after(instances: Instances, left: np.ndarray) -> Instances:
    """The rows `left` of `instances`, which say by name and note that they are what pruning kept."""
    kept = f"{len(left):,} of {len(instances):,}"
    note = f"{kept} instances are audited here: those that pruning kept"
    name = f"{instances.name} after pruning ({kept} kept)"
    return replace(instances.take(left), name=name, notes=(*instances.notes, note))


def _said(one: Round) -> str:
    return f"{len(one.removed):,} of {len(one.rows):,} removed, {one.n_above:,} above the threshold"
