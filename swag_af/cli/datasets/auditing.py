"""The verb `audit`: a dataset read, audited, compared with another, kept with its page, and held against a gate."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

from swag_af.auditing.comparison import COMPARISON, Comparison, compare, comparison_text, control_cuts, drawn_groups
from swag_af.auditing.dataset import Checks, audit, n_done, n_steps
from swag_af.auditing.gates.gate import GateResult, decide, read_gate
from swag_af.auditing.gates.junit import write_junit
from swag_af.auditing.gates.sarif import write_sarif
from swag_af.auditing.options import PROBE_MODELS, AuditOptions
from swag_af.auditing.outcome import Audit
from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.auditing.probes.probe import AnyModel, Data, check_models
from swag_af.auditing.storing import ABOUT, RECORDS, SavedAudit, check_out, check_replaces, save_audit, saved_form
from swag_af.data.disk.manifests import check_nothing_lost
from swag_af.data.disk.replacing import check_apart, check_output, remove
from swag_af.data.disk.urls import command_for, told_otherwise
from swag_af.data.display.brief import brief
from swag_af.data.engines.options import EngineOptions, Workers
from swag_af.data.errors import InputError, takes_options
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import AUTO, ReadingOptions
from swag_af.data.instances.own import kind_of
from swag_af.data.instances.reading import read_instances
from swag_af.data.work.progress import progress
from swag_af.filters.prepare import place
from swag_af.filters.registry import make_filter

PAGE = "audit.html"


@brief
@dataclass(frozen=True)
class Audited:
    """What the verb found in a dataset."""

    audit: Audit
    comparison: Comparison | None = None
    """With the dataset before a repair, where one was named."""
    gate: GateResult | None = None
    """What the gate says, where there is one."""


def is_of_run(options: AuditOptions) -> bool:
    """Whether the run itself is audited, before the filtering and after it, and not the questions that it made.

    Raises InputError for options that say how files are read, where it is.
    """
    made = (options.out, options.compare, options.gate, options.junit, options.sarif)
    if not _is_one_run(options) or any(made):
        return False
    if given := told_otherwise(options.reading):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise InputError(
            f"{named}: of files, and without --out a run itself is audited, as it is. Leave this out, or name an --out."
        )
    return True


def _is_one_run(options: AuditOptions) -> bool:
    return len(options.data) == 1 and kind_of(options.data[0]) == "run"


def check_names(options: AuditOptions) -> None:
    """Raise InputError for a model that there is not, whatever is audited by it."""
    if options.filters != AUTO:
        _checks(options)


@takes_options
def run_audit(options: AuditOptions) -> Audited:
    """The verb `audit` of a dataset; everything that the options name is written. Gate and folders are checked first.

    A failed gate is in the result and raises nothing. Raises InputError for whatever cannot be read or used.
    """
    if options.iteration is not None:
        raise InputError(
            f"--iteration {options.iteration}: of a run folder alone, without --out, --compare, --gate, --junit and "
            "--sarif. Leave it out."
        )
    gate = read_gate(options.gate) if options.gate else None
    _check_outputs(options)
    reading = _Reading(options.data, options.reading)
    older = _Reading((options.compare,), replace(options.reading, labels_file=None)) if options.compare else None
    instances, before = reading.instances(), _older(older, options.reading.labels_file) if older else None
    if options.filters != AUTO:  # of the default ones, those that cannot be used are left out
        check_models(_checks(options).models, instances.kind)
    if options.out:
        check_replaces(options.out, instances)
    made = _audited(options, instances, reading)
    comparison = _compared(options, before, older, made) if before and older else None
    result = decide(gate, made.diagnostics, made.left_out) if gate else None
    if options.out:
        saved = _kept_form(made, options)
        beside = {PAGE: _page(options, saved, comparison)}
        save_audit(saved, options.out, beside | ({COMPARISON: comparison_text(comparison)} if comparison else {}))
        remove(_kept_in(options.out))
    if options.junit:
        write_junit(options.junit, made.diagnostics, result)
    if options.sarif:
        write_sarif(options.sarif, made.diagnostics, result, data=options.data)
    return Audited(made, comparison, result)


def _check_outputs(options: AuditOptions) -> None:
    """Raise InputError, before any work, for what cannot be written, or would replace what is read."""
    if options.compare and (options.compare / ABOUT).is_file():
        raise InputError(f"--compare {options.compare}: this is an audit. Name the data that it was made of.")
    named = (*options.data, options.compare, options.gate, options.reading.labels_file)
    read = [path for path in named if path]
    if options.out:
        check_out(options.out)
        inside = [path for path in read if path.resolve().is_relative_to(options.out.resolve())]
        if inside:
            raise InputError(f"--out {options.out}: {inside[0]} is read, and lies in it. Choose another --out.")
        written = [path.resolve() for path in (options.junit, options.sarif) if path]
        beside = [path.name for path in written if path.parent == options.out.resolve()]
        check_nothing_lost(options.out, "audit", (*RECORDS, COMPARISON, PAGE, *beside))
    for flag, path, other in (("--junit", options.junit, options.sarif), ("--sarif", options.sarif, options.junit)):
        if path:
            check_apart(flag, path, read, written=(options.out, other))
            check_output(path, force=True, flag=flag)


@dataclass(frozen=True)
class _Reading:
    """Reads a dataset, in this process or in another."""

    paths: tuple[Path, ...]
    options: ReadingOptions

    def instances(self) -> Instances:
        """The dataset."""
        return read_instances(self.paths, self.options)

    def __call__(self) -> Data:
        """The dataset and its groups."""
        instances = self.instances()
        return instances, group(instances)


def _older(older: _Reading, labels_file: Path | None) -> Instances:
    """The dataset before a repair; `labels_file` has the labels of the newer one alone."""
    try:
        return older.instances()
    except InputError as fault:
        if labels_file is None or "--labels-file" not in str(fault):  # advised where there are no labels
            raise
        raise InputError(
            f"--compare {older.paths[0]}: its rows have no labels, and --labels-file {labels_file} has those of the "
            "newer set alone. Write its labels into its own rows, as a column such as label."
        ) from None


@dataclass(frozen=True)
class _Cut:
    """Reads a dataset and cuts it at random."""

    reading: _Reading
    cuts: Callable[[Instances], list[Instances]]
    draw: int

    def __call__(self) -> Data:
        """The cut and its groups."""
        cut = self.cuts(self.reading.instances())[self.draw]
        return cut, group(cut)


def _audited(options: AuditOptions, instances: Instances, reading: _Reading) -> Audit:
    """The audit, with its progress."""
    checks, groups = _checks(options), group(instances)
    workers = Workers(options.workers, options.where, reading)
    kept = _kept(options, instances, groups)
    done = n_done(instances, groups, checks, kept) if kept else 0
    with progress("audit", n_steps(instances, groups, checks), "checks", done=done) as advance:
        return audit(instances, checks, groups=groups, advance=advance, workers=workers, kept=kept)


def _kept(options: AuditOptions, instances: Instances, groups: Groups) -> KeptProbes | None:
    """Where probes are kept until all is written; nowhere where nothing is to be written."""
    return KeptProbes(_kept_in(options.out), instances, groups) if options.out else None


def _kept_in(out: Path) -> Path:
    out = Path(os.path.abspath(out))
    return out.with_name(f".{out.name}.probes")


def _compared(options: AuditOptions, before: Instances, reading: _Reading, after: Audit) -> Comparison:
    """What became of each check; random cuts are audited with the same checks, and one seed."""
    once, seed, draws = replace(_checks(options), seeds=[options.seed or 0]), options.seed or 0, count()
    old = _audited(options, before, reading)
    groups = drawn_groups(old, after.instances)
    cuts = partial(control_cuts, n=len(after.instances), n_draws=options.draws, seed=seed, groups=groups)

    def audit_of(cut: Instances) -> Audit:
        workers, groups = Workers(options.workers, options.where, _Cut(reading, cuts, next(draws))), group(cut)
        return audit(cut, once, groups=groups, workers=workers, kept=_kept(options, cut, groups))

    with progress("compare", options.draws, "random removals") as advance:
        return compare(old, after, audit_of, n_draws=options.draws, seed=seed, advance=advance)


def _checks(options: AuditOptions) -> Checks:
    models = [_model(name, options.device) for name in options.names(PROBE_MODELS)]
    first = options.seed or 0
    return Checks(models, n_folds=options.folds, seeds=range(first, first + options.seeds))


def _model(name: str, device: str) -> AnyModel:
    """A name that probes know as it is, or a filter that computes on `device`."""
    if name in PROBE_MODELS:
        return name
    made = make_filter(name, beside=PROBE_MODELS)
    place(made, device)
    return made


def _kept_form(made: Audit, options: AuditOptions) -> SavedAudit:
    """What is kept, with how the files were read."""
    saved = saved_form(made)
    return replace(saved, about=replace(saved.about, reading=told_otherwise(options.reading)))


def _page(options: AuditOptions, saved: SavedAudit, comparison: Comparison | None) -> str:
    from swag_af.reporting.pages.audit import audit_page

    return audit_page(saved, comparison, command=_command(options))


def _command(options: AuditOptions) -> str:
    """What finds the same again: every option that decides a figure; --out only of a run, which is audited itself
    without it."""
    told = replace(options, out=None, gate=None, junit=None, sarif=None, workers=None)
    told = replace(told, where=EngineOptions())
    told = replace(told, out=Path("audit")) if _is_one_run(told) and not told.compare else told
    return command_for("audit", told)
