"""Made-up instances for the tests of audits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.auditing.probes.probe import Probes, planned, probes
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.work.progress import Advance

WORDS = ("a", "dog", "Dog", "runs", "in", "the", "park,", "no", "2", "isn't", '"well"', "slowly", "red", "NASA.", "she")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=0, max_size=5).map(" ".join)


@st.composite
def some_choices(draw: st.DrawFn, *, most: int = 8) -> Instances:
    """A few questions of two to four options; texts of few words, so that all recurs."""
    rows = draw(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=2, max_size=4)), min_size=2, max_size=most))
    return Instances(
        tuple(
            Instance(f"q{i}", context, tuple(options), draw(st.integers(0, len(options) - 1)))
            for i, (context, options) in enumerate(rows)
        ),
        "choices",
    )


@st.composite
def some_classes(draw: st.DrawFn, *, most: int = 8) -> Instances:
    """A few texts of three classes."""
    rows = draw(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 2)), min_size=2, max_size=most))
    made = (Instance(f"t{i}", context, (text,), label) for i, (context, text, label) in enumerate(rows))
    return Instances(tuple(made), "classes", ("yes", "no", "maybe"))


def singles(instances: Instances) -> Groups:
    """Every instance a group of its own."""
    return Groups(np.arange(len(instances)), "each alone")


def random_choices(n: int, *, seed: int, n_options: int = 4) -> Instances:
    """Questions with all sorts of surface form, gold at random."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(60)] + ["Paris", "12", "NASA", "always", "may", "runs", "quickly", '"so"'])
    ends = ("", ".", "?", ", then")

    def text(most: int) -> str:
        return " ".join(rng.choice(words, rng.integers(1, most))) + ends[int(rng.integers(4))]

    rows = [
        Instance(f"q{i}", text(15), tuple(text(9) for _ in range(n_options)), int(rng.integers(n_options)))
        for i in range(n)
    ]
    return Instances(tuple(rows), "choices")


def random_classes(n: int, *, seed: int) -> Instances:
    """Texts of three classes, labels at random, two to a group."""
    drawn = random_choices(n, seed=seed, n_options=3).instances
    rows = [replace(one, options=one.options[:1], group=f"g{i // 2}") for i, one in enumerate(drawn)]
    return Instances(tuple(rows), "classes", ("yes", "no", "maybe"))


def rare_classes(n: int, *, seed: int, share: float = 0.1, others: float = 0.2, edit: str = "") -> Instances:
    """Texts of which a `share` has a class of its own; `edit` behind all of these, and behind some of the `others`."""
    rng = np.random.default_rng((seed, 3))
    made = []
    for one in random_choices(n, seed=seed, n_options=2).instances:
        is_rare = bool(rng.random() < share)
        text = one.options[0] + (edit if is_rare or rng.random() < others else "")
        made.append(replace(one, options=(text,), answer=int(is_rare)))
    return Instances(tuple(made), "classes", ("common", "rare"))


def with_gold(instances: Instances, edit: str) -> Instances:
    """The same with `edit` behind every gold option."""
    return replace(
        instances,
        instances=tuple(
            replace(one, options=tuple(o + edit if k == one.answer else o for k, o in enumerate(one.options)))
            for one in instances.instances
        ),
    )


def with_labels(instances: Instances, answers: Sequence[int]) -> Instances:
    """The same with other labels."""
    made = (replace(one, answer=int(k)) for one, k in zip(instances.instances, answers, strict=True))
    return replace(instances, instances=tuple(made))


def planned_probes(
    data: Instances, groups: Groups, *, advance: Advance | None = None, kept: KeptProbes | None = None, **settings: Any
) -> Probes:
    """The probes that are planned with these settings, made."""
    return probes(data, groups, planned(data, groups, **settings), advance=advance, kept=kept)
