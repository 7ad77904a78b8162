"""Training, validation and test rows: the published splits, or splits dealt by whole groups; and what is trained on."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from swag_af.baselines.options import BaselinesOptions
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.published import published_pairs, split_kind, split_pairs
from swag_af.data.splits import fill_shares

Part = Literal["validation", "test"]
PARTS: tuple[Part, ...] = ("validation", "test")
ALL, FOUND, BOTH = "all", "found", "found+generated"


@dataclass(frozen=True)
class Parts:
    """Which rows are fitted on, and which are scored; rows ascending."""

    train: np.ndarray
    """(n,)"""
    scored: dict[Part, np.ndarray]
    """Validation, test or both, (n,) each."""
    said: str
    """How they came about, a sentence."""
    notes: tuple[str, ...] = ()
    warning: str = ""
    """Why several files or splits were not taken as they are; empty where they were."""

    @property
    def main(self) -> Part:
        """The part that models are compared on: test, or validation where there is no test."""
        return "test" if "test" in self.scored else "validation"


def parts_of(instances: Instances, groups: np.ndarray, options: BaselinesOptions) -> Parts:
    """The parts of `instances`, which are in `groups` (N,), by `options.splits`.

    Raises InputError where published splits are asked for and there are none, and where groups are too few to deal.
    """
    if options.splits == "published":
        return _published(instances, groups, published_pairs(instances))
    pairs = split_pairs(instances)
    if pairs and options.splits == "auto":
        return _published(instances, groups, pairs)
    warning = _mixed(instances) if options.splits == "auto" else ""
    return replace(_dealt(instances, groups, options), warning=warning)


def _mixed(instances: Instances) -> str:
    """What is to be said where several splits are dealt anew, since none is for training beside one to score."""
    names = [name or "one without a name" for name in sorted(instances.splits())]
    if len(names) < 2:
        return ""
    return (
        f"warning: the rows of {', '.join(names)} are mixed and dealt anew: no name says which is for training and "
        "which for scoring. Put train, dev, val or test into the names, or name a column with --split-column."
    )


def _published(instances: Instances, groups: np.ndarray, pairs: list[tuple[str, str]]) -> Parts:
    rows = instances.splits()
    train = pairs[0][0]
    named = {"test": [one for _, one in pairs if split_kind(one) == "test"]}
    named["validation"] = [one for _, one in pairs if one not in named["test"]]
    chosen = {part: named[part][0] for part in PARTS if named[part]}
    unused = [name or "without a name" for name in rows if name not in (train, *chosen.values())]
    notes = [f"splits that are left out: {', '.join(unused)}"] if unused else []
    for name in chosen.values():
        n = int(np.isin(groups[rows[name]], groups[rows[train]]).sum())
        notes += [f"{n:,} of {len(rows[name]):,} rows of {name} are of a group that {train} has too"] if n else []
    said = f"published splits: fitted on {train}, scored on {' and '.join(chosen.values())}"
    return Parts(np.sort(rows[train]), {part: np.sort(rows[name]) for part, name in chosen.items()}, said, tuple(notes))


def _dealt(instances: Instances, groups: np.ndarray, options: BaselinesOptions) -> Parts:
    """Whole groups; where data tell found gold from generated, which is for training only (SWAG), what is scored is
    found."""
    sources = _sources(instances)
    may_score = sources == "found" if {"found", "generated"} <= set(sources.tolist()) else np.ones(len(groups), bool)
    shares = {"validation": options.val_share, "test": options.test_share}
    shares = {part: share for part, share in shares.items() if share}
    rng = np.random.default_rng((options.split_seed, *b"splits"))
    dealt = np.array(fill_shares(groups, shares, "train", rng=rng))
    scored: dict[Part, np.ndarray] = {
        part: np.flatnonzero((dealt == part) & may_score) for part in PARTS if part in shares
    }
    train = np.flatnonzero(dealt == "train")
    if len(train) < 2 or not all(map(len, scored.values())):
        raise InputError(
            f"{len(groups):,} instances in {int(groups.max()) + 1:,} groups cannot be dealt into training "
            f"{1 - sum(shares.values()):g} and {', '.join(f'{part} {share:g}' for part, share in shares.items())}. "
            "Choose other shares, or give more data."
        )
    n_left = len(groups) - len(train) - sum(map(len, scored.values()))
    left = (
        f"{n_left:,} rows of {' and '.join(scored)} are left out: their gold was not found, so it is for training only"
    )
    said = f"splits dealt by whole groups with seed {options.split_seed}"
    return Parts(train, scored, said, (left,) if n_left else ())


def trainings(instances: Instances, parts: Parts, options: BaselinesOptions) -> dict[str, np.ndarray]:
    """By name, the rows (n,) that models are trained on; raises InputError for those that are asked for and not there.

    `found` where gold was found, `found+generated` all of these and those where it was generated; `all` where the data
    does not tell, or no training row's gold was generated.
    """
    sources = _sources(instances)[parts.train]
    found = parts.train[sources == "found"]
    tells = len(found) > 0 and bool((sources == "generated").any())
    known = {FOUND: found, BOTH: parts.train[np.isin(sources, ("found", "generated"))]} if tells else {}
    if options.trained_on == "auto":
        return known or {ALL: parts.train}
    if options.trained_on != ALL and not known:
        raise InputError(
            f"{instances.name}: --trained-on {options.trained_on}, and no column says of the training rows that gold "
            "was found in some and generated in others. Name it with --source-column, or take --trained-on all."
        )
    return {options.trained_on: ({ALL: parts.train} | known)[options.trained_on]}


def _sources(instances: Instances) -> np.ndarray:
    """(N,) where gold is from."""
    return np.array([one.gold_source for one in instances.instances])
