"""All that an audit of a dataset found, in memory: diagnostics, probes, words. Computes and writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, LeftOut
from swag_af.data.display.brief import brief
from swag_af.data.errors import UnknownNameError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import CROSS_VALIDATED
from swag_af.data.text.scripts import characters_joined
from swag_af.data.text.surface import is_unseen

FoldKind = Literal["group", "random", "split"]
"""How what a model was fitted on and what it was scored on were parted: folds of whole groups, folds of single
instances, or the published splits."""


@brief
@dataclass(frozen=True)
class Probe:
    """What one model found in one partial input, every instance scored by a fit that never saw it."""

    input: str
    """What it reads: `options`, `second-sentence`, `other-context` ..."""
    model: str
    """Which model: `tfidf`, `fasttext`, or the name of a filter."""
    folds: FoldKind
    rows: np.ndarray
    """(n,) the instances that were scored: all of them, ascending; with splits those of the test split."""
    hits: np.ndarray
    """(n,) how far gold came first: 1, 0, or 1/t where t answers tie with it."""
    probabilities: np.ndarray
    """(n,) the probability of gold."""
    scores: np.ndarray
    """(m,) of all answers of `rows`, flat, in their order; the likelier an answer, the higher, on any scale."""
    n_folds: int
    seed: int
    fitted_on: str = ""
    """The split that it was fitted on, where it was a split."""
    scored_on: str = ""
    """The split that was scored."""

    @property
    def name(self) -> str:
        """The same for all seeds, else unique in an audit, and the subject of its diagnostic: `options, tfidf`."""
        return probe_name(self.input, self.model, self.folds, self.fitted_on, self.scored_on)

    @property
    def times(self) -> float:
        """That of `interval`: nothing that a split is scored by has learned from it."""
        return 1.0 if self.folds == "split" else CROSS_VALIDATED


def probe_name(input: str, model: str, folds: FoldKind, fitted_on: str = "", scored_on: str = "") -> str:
    """What a probe is called, whether it was made or not."""
    how = {"group": "", "random": ", random folds", "split": f", {fitted_on} to {scored_on}"}
    return f"{input}, {model}{how[folds]}"


def over_seeds(probes: Sequence[Probe]) -> list[Probe]:
    """One probe for each name, in the order in which names begin: the mean of those that differ in their seed only."""
    named: dict[str, list[Probe]] = {}
    for probe in probes:
        named.setdefault(probe.name, []).append(probe)
    return [_mean(alike) for alike in named.values()]


def _mean(alike: Sequence[Probe]) -> Probe:
    if len(alike) == 1:
        return alike[0]
    columns = ("hits", "probabilities", "scores")
    means = {column: np.mean([getattr(probe, column) for probe in alike], axis=0) for column in columns}
    return replace(min(alike, key=lambda probe: probe.seed), **means)


def chance_of(probe: Probe, instances: Instances) -> np.ndarray:
    """(n,) how often a guess is right, for each row that the probe scored; of a split, by what is in it."""
    return instances.take(probe.rows).chance if probe.folds == "split" else instances.chance[probe.rows]


@dataclass(frozen=True, slots=True)
class Association:
    """How a word or an n-gram of the options goes with a label."""

    ngram: str
    label: str
    """`gold`, or the name of a class."""
    n: int
    """Texts that contain it; of choices, questions in which some options contain it and others do not."""
    share: float
    """How many of them have the label; of choices, in how many of them gold contains it."""
    chance: float
    """How many would if it told nothing."""
    z: float
    """(share - chance) / sqrt(chance (1 - chance) / n), n divided by the design effect of groups where above 1."""
    q: float
    """The p-value after Benjamini and Hochberg, over all n-grams tested."""
    pmi: float
    """Pointwise mutual information with the label, in bits, smoothed."""

    @property
    def shown(self) -> str:
        """The n-gram as people read it and search for it: characters of scripts without blanks side by side, what is
        invisible by its number (`U+200B`)."""
        return "".join(f"U+{ord(c):04X}" if is_unseen(c) else c for c in characters_joined(self.ngram))


@brief
@dataclass(frozen=True)
class Audit:
    """What was found in a dataset."""

    instances: Instances
    groups: Groups
    diagnostics: tuple[Diagnostic, ...]
    """In order of code, then subject."""
    probes: tuple[Probe, ...]
    associations: tuple[Association, ...]
    """Strongest first."""
    record: Mapping[str, Any]
    """What decides the figures: options, seed, hashes of the files, versions."""
    left_out: tuple[LeftOut, ...] = ()
    """Diagnostics of the probes that could not be made."""

    def diagnostic(self, code: str, subject: str | None = None) -> Diagnostic:
        """The diagnostic of `code`; of several subjects the one named, or the one whose value is highest."""
        found = [one for one in self.diagnostics if one.code == code and subject in (None, one.subject)]
        if not found:
            known = ", ".join(sorted({one.code for one in self.diagnostics}))
            called = f"{code} of {subject}" if subject else code
            raise UnknownNameError(f"{called}: not in this audit, which has {known}.")
        return max(found, key=lambda one: one.value)
