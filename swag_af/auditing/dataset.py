"""Audits of any dataset: every check, one family after the other, and all that they found in one `Audit`.

    instances, groups -> integrity, single features, words, rules of item writing, probes -> diagnostics

Nothing is written here: `swag_af.auditing.storing` keeps an audit; the command line adds page, gate and comparison.
"""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any

from swag_af.auditing.diagnostics import Diagnostic, LeftOut
from swag_af.auditing.integrity.integrity import integrity_diagnostics
from swag_af.auditing.outcome import Association, Audit
from swag_af.auditing.probes.findings import diagnostics_of, left_out_of
from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.auditing.probes.probe import (
    DEFAULT_MODELS,
    AnyModel,
    Data,
    check_groups,
    instances_of,
    model_name,
    n_kept,
    planned,
    probes,
    said_by,
)
from swag_af.auditing.runs.audit import fingerprint_of
from swag_af.auditing.single.features import FEATURES, OTHERS, Feature, feature_diagnostics
from swag_af.auditing.single.tables import Seen
from swag_af.auditing.single.words import word_associations, word_diagnostics
from swag_af.auditing.single.writing import RULES, Rule, writing_diagnostics
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, check_faults
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.work.progress import Advance


@dataclass(frozen=True)
class Checks:
    """What may be chosen about the checks of an audit; features, words, rules and integrity are always made."""

    models: Sequence[AnyModel] = DEFAULT_MODELS
    """The models of the probes, by name or as objects."""
    inputs: Sequence[str] | None = None
    """What they read; when not given, tf-idf all that applies, others the options or the hypothesis alone."""
    n_folds: int = 5
    seeds: Sequence[int] = (0,)
    """Each deals folds of its own and seeds fits of its own; probes are averaged over them."""

    def __post_init__(self) -> None:
        whole = isinstance(self.seeds, Sequence) and all(
            isinstance(seed, Integral) and seed >= 0 for seed in self.seeds
        )
        inputs = self.inputs is None or (_is_list(self.inputs) and all(isinstance(one, str) for one in self.inputs))
        check_faults(
            [
                (not (_is_list(self.models) and self.models), f"models {self.models!r}: a list of one or more"),
                (not inputs, f"inputs {self.inputs!r}: a list of names, or None"),
                (
                    not (isinstance(self.n_folds, Integral) and self.n_folds > 1),
                    f"n_folds {self.n_folds!r}: at least 2",
                ),
                (not (whole and self.seeds), f"seeds {self.seeds!r}: a list of one or more, none below 0"),
                (whole and len(set(self.seeds)) < len(self.seeds), f"seeds {self.seeds!r}: each once"),
            ]
        )


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


def audit(
    data: Instances | Path | str | Sequence[Path | str],
    checks: Checks | None = None,
    *,
    groups: Groups | None = None,
    advance: Advance | None = None,
    workers: Workers[Data] | None = None,
    kept: KeptProbes | None = None,
) -> Audit:
    """Everything that an audit finds in `data`: instances, or a file or folder, whose columns are guessed.

    The same data and checks give the same audit. `groups` are those of `group` when not given; `advance` is called for
    each of `n_steps`, but for probes that are `kept` already: these are not made again. `workers` make the probes,
    reading instances and groups again. Raises InputError for files and models that cannot be used, and for `groups` and
    `kept` probes of another set.
    """
    if not isinstance(checks, Checks | None):
        raise InputError(f"checks {reprlib.repr(checks)}: Checks(...), or nothing for the default ones.")
    instances = instances_of(data)
    check_groups(groups, instances)
    checks, groups = checks or Checks(), groups or group(instances)
    if kept:
        kept.check(instances, groups)
    record = _record(checks)  # first of all, for there are models that cannot tell their settings
    step = advance or _nobody
    found, associations = _without_models(instances, groups, checks, step)
    tasks = planned(instances, groups, **_chosen(checks))
    made = probes(instances, groups, tasks, advance=advance, workers=workers, kept=kept)
    found += diagnostics_of(made.found, instances, groups)
    for_english = _for_english(instances)
    left_out = [*made.left_out, *([f"{_named(for_english)}: {for_english[0].why}"] if for_english else [])]
    return Audit(
        instances=instances,
        groups=groups,
        diagnostics=tuple(sorted(found, key=lambda one: (one.code, one.subject))),
        probes=made.found,
        associations=tuple(associations),
        record=record | {"left_out": left_out},
        left_out=(*left_out_of(made.not_made, instances), *for_english),
    )


def n_steps(instances: Instances, groups: Groups, checks: Checks) -> int:
    """How often `audit` calls `advance`."""
    return len(_FAMILIES) + 1 + len(planned(instances, groups, **_chosen(checks)))


def n_done(instances: Instances, groups: Groups, checks: Checks, kept: KeptProbes) -> int:
    """Of these, the probes that are `kept`."""
    return n_kept(planned(instances, groups, **_chosen(checks)), kept)


def _without_models(
    instances: Instances, groups: Groups, checks: Checks, step: Advance
) -> tuple[list[Diagnostic], list[Association]]:
    """What all families but the probes find. Tables of tokens are made once, and are gone when models need memory."""
    found, seen = list[Diagnostic](), Seen(instances.texts)
    for name, family in _FAMILIES.items():
        step(0, note=name)
        found += family(instances, groups, checks, seen)
        step(1)
    associations = word_associations(instances, groups, seen=seen)
    found += word_diagnostics(instances, groups, associations)
    step(1)
    return found, associations


def _features(instances: Instances, groups: Groups, checks: Checks, seen: Seen) -> list[Diagnostic]:
    names = [*_asked(FEATURES, instances), *OTHERS]
    return feature_diagnostics(
        instances, groups, features=names, n_folds=checks.n_folds, seed=checks.seeds[0], seen=seen
    )


def _rules(instances: Instances, groups: Groups, checks: Checks, seen: Seen) -> list[Diagnostic]:
    return writing_diagnostics(instances, groups, rules=_asked(RULES, instances), seen=seen)


def _asked(those: Mapping[str, Feature] | Mapping[str, Rule], instances: Instances) -> list[str]:
    """The names of what is looked for in the language of the texts."""
    return [name for name, one in those.items() if not (one.in_english and instances.foreign_language)]


def _for_english(instances: Instances) -> tuple[LeftOut, ...]:
    """What is looked for in English alone, where the texts are not."""
    if not instances.foreign_language:
        return ()
    why = f"looked for in English only; these texts are not English (language {instances.foreign_language})."
    subjects = {(one.code, name) for name, one in RULES.items() if one.in_english and instances.kind == "choices"}
    for name, one in FEATURES.items():
        named = (one.highest, one.lowest) if instances.kind == "choices" else (name,)
        subjects |= {(one.code, subject) for subject in named if one.in_english}
    return tuple(LeftOut(code, subject, why) for code, subject in sorted(subjects))


def _named(those: Sequence[LeftOut]) -> str:
    """Their codes; of AF203, which looks for more than that, with what it is."""
    codes = dict.fromkeys(one.code for one in those)
    return ", ".join(f"{code} (content overlap)" if code == "AF203" else code for code in codes)


_FAMILIES: dict[str, Callable[[Instances, Groups, Checks, Seen], list[Diagnostic]]] = {
    "integrity": lambda instances, groups, checks, seen: integrity_diagnostics(instances, groups),
    "single features": _features,
    "rules of item writing": _rules,
}
"""The families that give diagnostics alone."""


def _chosen(checks: Checks) -> dict[str, Any]:
    return {"models": checks.models, "inputs": checks.inputs, "n_folds": checks.n_folds, "seeds": checks.seeds}


def _record(checks: Checks) -> dict[str, object]:
    """What decides the figures, beside the data and the probes that had to be left out."""
    made = _chosen(checks) | {"models": [model_name(model) for model in checks.models], "seeds": list(checks.seeds)}
    told = [one for one in checks.models if not isinstance(one, str) or _is_set(one)]
    made["settings"] = {model_name(one): fingerprint_of(said_by(one)) for one in told}
    return {"swag_af": version("swag-af"), "checks": made}


def _is_set(name: str) -> bool:
    """Whether the name of a model says a setting, or a class of anybody's."""
    return "[" in name or ":" in name


def _nobody(*_: object, **__: object) -> None:
    """Where nobody is told of progress."""
