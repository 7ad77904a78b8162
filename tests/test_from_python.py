"""What a script hands over wrongly is told in one line before any work, and what it may hand over is taken as meant."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of, make_pool
from made_up_audits import questions

import swag_af
from swag_af import (
    AuditOptions,
    CandidatePool,
    Checks,
    CountCheckOptions,
    GenerateOptions,
    GuardOptions,
    Instance,
    Instances,
    MatchingOptions,
    MatchOptions,
    RefineOptions,
    Run,
    SweepOptions,
)
from swag_af.data.errors import InputError, UnknownNameError
from swag_af.data.instances.grouping import group

N = 12


def untyped(value: object) -> Any:
    """A value of a wrong type, or of one that is taken as meant, as a script without types hands it over."""
    return value


class Mine:
    """A model of texts, as a class."""

    name = "mine"

    def fit(self, texts: Any, labels: Any, n_labels: int, *, rng: Any) -> None:
        """Learns nothing."""

    def score(self, texts: Any) -> np.ndarray:
        """Nothing for all."""
        return np.zeros((len(texts), 2))


def classes(options: Any) -> Instances:
    """Labelled texts with such options each."""
    made = tuple(Instance(str(i), f"premise {i}", options, i % 2) for i in range(N))
    return Instances(made, "classes", classes=("no", "yes"))


def choices(**named: Any) -> Instances:
    """Questions, one of which is another in one thing."""
    made = questions(N)
    return replace(made, instances=(replace(made.instances[0], **named), *made.instances[1:]))


def pool() -> CandidatePool:
    """A small one."""
    return CandidatePool.from_texts(make_contexts_of(N, n_videos=N), [["a b.", "c d."]] * N)


def run() -> Run:
    """One of it."""
    return swag_af.filter_pool(pool(), "bow:1", swag_af.AFOptions(n_negatives=1))


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a text for options": (lambda: classes("sleeps"), "'0' has str options, where a tuple of texts is due"),
    "two texts of a class": (lambda: classes(("a b", "c d")), "'0' has 2 options, where the one text"),
    "options that are numbers": (lambda: choices(options=(1, 2, 3, 4)), "has 1 among its texts"),
    "no context": (lambda: choices(context=None), "has None among its texts"),
    "what is no instance": (lambda: Instances(untyped(({"id": "1"},)), "choices"), "a dict among the instances"),
    "no such kind": (lambda: replace(questions(N), kind="chices"), "kind 'chices', where one of choices, classes"),
    "rows that there are not": (lambda: questions(N).take([N]), f"rows [{N}]: numbers from 0 to {N - 1}"),
    "a mask of others": (lambda: questions(N).take(np.ones(3, bool)), f"a mask of shape (3,), where ({N},)"),
    "texts of some rows": (lambda: pool().texts(np.zeros((3, 2), np.int64)), f"of shape (3, 2), where ({N}, A) is"),
    "texts of more rows": (lambda: pool().texts(np.zeros((N + 1, 2), np.int64)), f"where ({N}, A) is due"),
    "a row by its name": (lambda: pool().text(untyped("0"), 0), "row '0': a whole number is due"),
    "nowhere to save": (lambda: pool().save(""), "path: '', where the path of a folder is due"),
    "normalise in words": (
        lambda: CandidatePool.from_texts(make_contexts_of(1, n_videos=1), [["a b."]], normalise=untyped("no")),
        "normalise: a str, where bool is due",
    ),
    "features without names": (
        lambda: CandidatePool.from_texts(
            make_contexts_of(1, n_videos=1), [["a b."]], features=[np.zeros((2, 3))], feature_names="abc"
        ),
        "feature_names 'abc': a list of names is due",
    ),
    "an iteration in words": (lambda: run().assignment(untyped("1")), "iteration '1': a whole number is due"),
    "the accuracy of none": (lambda: run().accuracy(untyped(None)), "iteration None: a whole number is due"),
    "groups that are none": (
        lambda: swag_af.scores_of(questions(N), [0] * N, groups=np.full(N, np.nan)),
        "groups: float64 (12,), where a number or a name is due",
    ),
    "parts without a kind": (
        lambda: swag_af.scores_of(questions(N), [0] * N, parts=untyped(["a"] * N)),
        "parts: a list",
    ),
    "golds that are texts": (
        lambda: swag_af.make_generator("ngram", golds=["a"]),
        "golds: a str, where Context is due",
    ),
    "a class for a model": (
        lambda: swag_af.probe(questions(N), "options", untyped(Mine)),
        "model Mine: this is a class",
    ),
    "a model that is not": (lambda: swag_af.probe(questions(N), "options", "tfid"), "Did you mean tfidf"),
    "a model of datasets": (
        lambda: swag_af.audit_pool(pool(), np.tile([0, 1], (N, 1)), ["tfidf"]),
        "this model reads datasets, not runs",
    ),
    "audits of two runs": (lambda: swag_af.audit_of_run(AuditOptions(untyped(("a", "b")))), "2 folders"),
    "a gate of a run": (
        lambda: swag_af.audit_of_run(AuditOptions((Path("run"),), gate=Path("g.toml"), out=Path("o"))),
        "--out, --gate: of a dataset",
    ),
    "a sweep for a matching": (
        lambda: swag_af.match(
            MatchOptions((Path("q.jsonl"),), Path("m"), matching=MatchingOptions(), sweeping=SweepOptions((0.1, 1.0)))
        ),
        "swag_af.sweep(options)",
    ),
    "percentages that are lists": (
        lambda: CountCheckOptions(untyped(([1],)), 5),
        "--percentages ([1],): a list is due, a text",
    ),
    "a dry run of refine": (
        lambda: swag_af.refine(RefineOptions((Path("d.jsonl"),), judge="ngrams", dry_run=True)),
        "swag_af.refining.verb.costs(options)",
    ),
    "a dry run of guard": (
        lambda: swag_af.guard(GuardOptions(Path("pool"), "words", dry_run=True)),
        "swag_af.guarding.verb.guard_estimate(options)",
    ),
    "a dry run of generate": (
        lambda: swag_af.generate(GenerateOptions(Path("contexts.jsonl"), dry_run=True)),
        "swag_af.lm.estimate.estimate(options)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_in_one_line(case: str) -> None:
    call, said = WRONG[case]
    with pytest.raises(InputError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_functions_that_errors_name_are_there() -> None:
    from swag_af.guarding.verb import guard_estimate
    from swag_af.lm.estimate import estimate
    from swag_af.lm.texts.estimate import estimate_texts
    from swag_af.lm.verb import make_shards
    from swag_af.refining.verb import costs

    assert all(map(callable, (guard_estimate, estimate, estimate_texts, make_shards, costs, swag_af.sweep)))


def test_one_percentage_may_stand_alone_and_be_a_number() -> None:
    assert swag_af.counts(41, 760) == swag_af.counts(["41"], 760)
    assert swag_af.counts(np.float64(41.5), 760) == swag_af.counts("41.5", 760)
    assert CountCheckOptions(untyped((41.5,)), 760).percentages == ("41.5",)


def test_parts_may_be_called_tiers_and_groups_be_those_of_the_dataset() -> None:
    """Other tiers than those of an audit, and what `group` returns, ended in a traceback."""
    data = questions(N)
    parts = {"tier": ["low"] * 5 + ["high"] * (N - 5)}
    score = swag_af.scores_of(data, data.answers, groups=group(data), parts=parts)
    assert score.figures == swag_af.scores_of(data, data.answers).figures
    assert [one.part for one in score.parts][-2:] == ["tier: high", "tier: low"]
    assert score.figure("accuracy", "tier: low").n == 5
    with pytest.raises(UnknownNameError, match=r"accuracy of low: not among the parts, .*, tier: high, tier: low"):
        score.figure("accuracy", "low")
    with pytest.raises(UnknownNameError, match="recall: not among the figures, accuracy"):
        score.figure("recall")


def test_a_mask_takes_the_rows_where_it_is_true() -> None:
    """True and False were rows 1 and 0."""
    data = questions(N)
    assert data.take(np.arange(N) % 3 == 0).instances == data.take([0, 3, 6, 9]).instances


def test_numbers_of_numpy_are_numbers() -> None:
    made = Checks(n_folds=untyped(np.int64(3)), seeds=(untyped(np.int64(1)),))
    assert (made.n_folds, made.seeds) == (3, (1,))


def test_texts_of_an_assignment_are_those_of_its_rows() -> None:
    made = make_pool(n=N)
    assignment = np.tile([0, 2], (N, 1))
    assert made.texts(assignment) == [[made.text(row, 0), made.text(row, 2)] for row in range(N)]
    assert made.texts_of(np.array([5]), assignment[5:6]) == [made.texts(assignment)[5]]
