"""What a guard is, in three sentences; `checking` tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `score` gives one finite float per candidate, whatever else is scored in the same call.
    3. The same candidate has the same score in every call.

A guard compares candidates with gold, so it learns nothing from them, and no filter may read what it says.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swag_af.data.disk.manifests import as_read
from swag_af.data.disk.records import GuardEntry
from swag_af.data.errors import ContractError, InputError, told
from swag_af.data.plugins.own_code import name_fault, recorded, requires_fault
from swag_af.data.plugins.registry import Registry
from swag_af.data.pool.view import View
from swag_af.filters.contract import identity_of
from swag_af.filters.registry import parse_names
from swag_af.guarding.options import AUTO, GuardOptions, parse_thresholds


@runtime_checkable
class Guard(Protocol):
    """A model of which candidates could be right.

    Ten attributes are optional:

    * `excludes`, whether candidates that it marks are kept out of assignments where the user says nothing: True;
    * `about`, a class attribute: what a mark means, in a few words for tables;
    * `is_share`, true where scores are from 0 to 1, so that no threshold above 1 can be meant;
    * `requires`, the names of the pool tables that it reads beyond those every pool has;
    * `check()`, called before any work, which raises InputError for what would fail later;
    * `settings() -> dict`, what must be the same for scores to be kept, where the guard is no dataclass;
    * `argument`, a class attribute: the name of the setting that stands in brackets, `nli[path/to/model]`;
    * `asks`, a class attribute, true where a server answers: such a guard takes `options`, an `EndpointOptions`, is
      asked by one process, and not for a dry run;
    * `answered_by() -> dict`, asked after `check`: what answers behind an address, without which scores are not kept;
    * `said() -> list[str]`, what is to be told once all is scored.
    """

    name: str
    threshold: float
    """The score from which a candidate is marked, where the user says nothing."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats, higher = more likely to be right too. Column 0 of the pool is gold; where gold is asked about,
        or stands in for a candidate that a row does not have, its score is not used."""


GUARDS = Registry(
    "guard",
    {
        "words": "swag_af.guarding.words:WordsGuard",
        "nli": "swag_af.guarding.entailment:EntailmentGuard",
        "likelihood": "swag_af.guarding.likelihood:LikelihoodGuard",
        "judge": "swag_af.guarding.judge:JudgeGuard",
    },
    {"nli": "path/to/model", "judge": "URL"},
    "swag_af.check_guard",
)
"""By the names of `--by`."""


@dataclass(frozen=True)
class Chosen:
    """A guard, and what its scores are used for."""

    spelled: str
    """As it was named: `nli[path/to/model]`."""
    guard: Guard
    threshold: float
    excludes: bool

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What must be the same for its scores to be kept, as a manifest gives it back; not to be asked before `check`,
        for what answers behind an address is a part of it."""
        return as_read({"guard": GUARDS.parted(self.spelled)[0], **identity_of(self.guard)})

    def record(self) -> dict[str, Any]:
        """For the manifest of the pool; ContractError for what none can hold."""
        made = {
            "name": self.guard.name,
            "threshold": self.threshold,
            "excludes": self.excludes,
            "about": getattr(self.guard, "about", "could be right"),
            "settings": self.settings,
        }
        return recorded(made, f"guard {self.spelled}: its record", kind=GuardEntry)


def chosen_guards(options: GuardOptions) -> list[Chosen]:
    """The guards that `options` name; InputError for names that are not there, or that thresholds or exclusions name
    and `--by` does not."""
    spelled = parse_names("--by", options.by)
    if options.endpoint.given and not any(_asks(name) for name in spelled):
        raise InputError(f"{', '.join(options.endpoint.given)}: no guard of --by asks a server. Leave them out.")
    made = [_made(name, options) for name in spelled]
    names = [guard.name for guard in made]
    if len(set(names)) < len(names):
        raise InputError(f"--by {options.by}: two guards are called {_repeated(names)}. Name one of them.")
    thresholds = parse_thresholds(options.thresholds)
    for guard in made:
        if getattr(guard, "is_share", False) and thresholds.get(guard.name, 0) > 1:
            raise InputError(
                f"--thresholds {guard.name}={thresholds[guard.name]:g}: its scores are from 0 to 1, so it would mark "
                "nothing. Give a number up to 1."
            )
    excluding = None if options.exclude == AUTO else parse_names("--exclude", options.exclude)
    for flag, given in (("--thresholds", thresholds), ("--exclude", excluding or ())):
        if strange := [name for name in given if name not in names]:
            raise InputError(f"{flag}: {', '.join(strange)} is none of the guards {', '.join(names)} of --by.")
    return [
        Chosen(
            name,
            guard,
            thresholds.get(guard.name, float(guard.threshold)),
            getattr(guard, "excludes", True) if excluding is None else guard.name in excluding,
        )
        for name, guard in zip(spelled, made, strict=True)
    ]


def _made(name: str, options: GuardOptions) -> Guard:
    asks = _asks(name)
    if asks and options.workers > 1:
        raise InputError(f"--workers {options.workers}: {name} is asked by one process, as far as --concurrency goes.")
    guard: Guard = GUARDS.make(name, **({"options": options.endpoint} if asks else {}))
    if faults := faults_of(guard):
        raise ContractError(
            f"guard {name}: a {type(guard).__name__} has {', '.join(faults)}. `check_guard` says what one needs."
        )
    return guard


def faults_of(guard: Any) -> list[str]:
    """What a guard lacks, or has of another type than a pool's manifest can keep: `no text `name``."""
    threshold, excludes = getattr(guard, "threshold", None), getattr(guard, "excludes", True)
    about, is_share = getattr(guard, "about", ""), getattr(guard, "is_share", False)
    number = float(threshold) if isinstance(threshold, Real) and not isinstance(threshold, bool) else None
    tests = {
        name_fault(guard): True,
        "no number `threshold`": number is None,
        f"no finite `threshold`, but {told(threshold)}": number is not None and not math.isfinite(number),
        "no method `score`": not callable(getattr(guard, "score", None)),
        f"an `excludes` that is not True or False, but {told(excludes)}": not isinstance(excludes, bool),
        f"an `about` that is no text, but {told(about)}": not isinstance(about, str),
        f"an `is_share` that is not True or False, but {told(is_share)}": not isinstance(is_share, bool),
        requires_fault(guard): True,
    }
    return [fault for fault, is_so in tests.items() if fault and is_so]


def _asks(name: str) -> bool:
    return bool(getattr(GUARDS.find(name), "asks", False))


def _repeated(names: list[str]) -> str:
    return next(name for name in names if names.count(name) > 1)
