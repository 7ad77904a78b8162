"""Audits that nobody made: instances, probes and diagnostics with figures that a test chooses."""

from collections.abc import Sequence

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Example, of_accuracy
from swag_af.auditing.outcome import Association, Audit, FoldKind, Probe
from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances

CODES = {"options": "AF101", "other-context": "AF103", "shuffled": "AF104", "full": "AF110"}


def questions(n: int = 60, n_options: int = 4, *, name: str = "made-up", seed: int = 0) -> Instances:
    """Questions whose gold has a random place."""
    rng = np.random.default_rng((seed, 1))
    rows = []
    for i in range(n):
        options = tuple(f"option {k} of {i}" for k in range(n_options))
        answer = int(rng.integers(n_options))
        split = "train" if i % 3 else "test"
        rows.append(
            Instance(f"q{i}", f"question {i}?", options, answer, split=split, where=f"made.jsonl, line {i + 1}")
        )
    return Instances(tuple(rows), "choices", name=name, files={"made.jsonl": "00ff"}, notes=("read as: made up",))


def probe(
    instances: Instances,
    accuracy: float,
    *,
    input: str = "options",
    model: str = "tfidf",
    folds: FoldKind = "group",
    sure: float = 1.0,
    seed: int = 0,
) -> Probe:
    """A probe that gets this share right, on average; `sure` is the scale of its scores.

    One answer of each instance stands out, by more or by less: gold with probability `accuracy`, else another.
    """
    rng = np.random.default_rng((seed, 2))
    n = instances.n_answers
    other = rng.integers(1, n)
    first = np.where(rng.permutation(len(n)) < accuracy * len(n), 0, other)  # away from gold
    scores = sure * rng.uniform(0, 0.2, int(n.sum()))
    scores[instances.offsets[:-1] + (instances.answers + first) % n] += sure * rng.uniform(0.5, 2.5, len(n))
    rows = np.arange(len(n))
    found = (hits(scores, instances), gold_probabilities(scores, instances))
    return Probe(input, model, folds, rows, *found, scores, 5, 0)


def audit(
    instances: Instances,
    probes: Sequence[Probe],
    *,
    features: dict[str, float] | None = None,
    others: Sequence[Diagnostic] = (),
    words: Sequence[Association] = (),
) -> Audit:
    """The audit of these probes, of `features` that get the given share right, and of other diagnostics."""
    groups = np.arange(len(instances)) // 2
    found = [of_probe(instances, one, groups) for one in probes]
    for number, (name, share) in enumerate((features or {}).items()):
        hits = probe(instances, share, seed=number).hits
        found.append(of_accuracy("AF201", name, hits, instances.chance, groups, said=f"{name}: {{value}}"))
    found += others
    found.sort(key=lambda one: (one.code, one.subject))
    record = {"options": {"folds": 5, "models": ("tfidf",)}, "seed": 0, "versions": {"swag-af": "0"}}
    said = "30 groups, named by nobody"
    return Audit(instances, Groups(groups, said), tuple(found), tuple(probes), tuple(words), record)


def of_probe(instances: Instances, one: Probe, groups: np.ndarray) -> Diagnostic:
    """The diagnostic of a probe, with an example."""
    first = instances.instances[int(np.argmax(one.probabilities))]
    marked = [f"{'*' if k == first.answer else '-'} {text}" for k, text in enumerate(first.options)]
    example = Example(first.id, first.where, "\n".join([first.context, *marked]), "gold 0.97")
    said = "{value} right ({low} to {high}), chance {chance}"
    code = {"group": CODES[one.input], "random": "AF107", "split": "AF108"}[one.folds]
    return of_accuracy(code, one.name, one.hits, instances.chance, groups, said=said, examples=(example,))


def integrity(n: int = 3, *, text: str = "the same text") -> Diagnostic:
    """A fault in the data."""
    examples = (Example("q1", "made.jsonl, line 2", text, "as line 7"),)
    said = f"{n} questions stand twice."
    return Diagnostic("AF501", "exact duplicates", "found", n, "count", said, n=60, n_groups=30, examples=examples)


def word(ngram: str, z: float, label: str = "gold") -> Association:
    """An association of that strength."""
    return Association(ngram, label, 40, 0.25 + z / 40, 0.25, z, 0.001, 0.5)
