"""Instances and files of predictions, for the tests of scores."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from folders import write

from swag_af.data.instances.instances import Instance, Instances

OPTIONS = ("red", "green", "blue", "grey")


def options_of(i: int) -> tuple[str, ...]:
    """The options of question `i`."""
    return tuple(f"{text} {i}" for text in OPTIONS)


def choices(n: int = 40, *, n_groups: int = 10, n_options: int = 4, seed: int = 0) -> Instances:
    """`n` questions in `n_groups` named groups."""
    golds = np.random.default_rng(seed).integers(n_options, size=n).tolist()
    return Instances(
        tuple(
            Instance(f"q{i}", f"Question {i}?", options_of(i)[:n_options], gold, group=f"g{i % n_groups}")
            for i, gold in enumerate(golds)
        ),
        "choices",
    )


def pairs(n: int = 20, *, seed: int = 0) -> Instances:
    """`n` pairs of an original and a contrast, with other right answers and the options in another order."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        order = [OPTIONS[k] for k in rng.permutation(4)]
        first = int(rng.integers(4))
        other = order.index(OPTIONS[(first + 1) % 4])
        one = Instance(f"o{i}", f"Who is {i}?", OPTIONS, first, group=f"m{i % 8}", contrast_set=f"s{i}")
        made += [
            replace(one, variant="original"),
            replace(one, id=f"c{i}", variant="contrast", options=tuple(order), answer=other),
        ]
    return Instances(tuple(made), "choices")


def classes(n: int = 30) -> Instances:
    """Sentences with True and False, in sets of three."""
    made = (
        Instance(
            f"dev-{i}-0-0", "", (f"Sentence {i // 3}.",), int(i % 3 != 0), group=f"g{i // 6}", contrast_set=f"s{i // 3}"
        )
        for i in range(n)
    )
    return Instances(tuple(made), "classes", ("False", "True"))


def same_gold(instances: Instances, n: int) -> Instances:
    """Pairs of which the first `n` have the original's right answer in the contrast, too."""
    made = list(instances.instances)
    for i in range(n):
        one, other = made[2 * i : 2 * i + 2]
        made[2 * i + 1] = replace(other, answer=other.options.index(one.options[one.answer]))
    return replace(instances, instances=tuple(made))


def paired_classes(n: int, *, seed: int = 0) -> Instances:
    """`n` pairs of sentences with one of three classes, of an original and a contrast."""
    golds = np.random.default_rng(seed).integers(3, size=2 * n).tolist()
    made = (
        Instance(
            f"p{i}",
            f"Premise {i // 2}.",
            (f"Sentence {i}.",),
            gold,
            group=f"s{i // 2}",
            contrast_set=f"s{i // 2}",
            variant="contrast" if i % 2 else "original",
        )
        for i, gold in enumerate(golds)
    )
    return Instances(tuple(made), "classes", ("no", "perhaps", "yes"))


def staged(n: int = 12) -> Instances:
    """`n` questions asked in two stages."""
    made = (
        Instance(f"{i}/{stage}", f"Why {i}?", OPTIONS, i % 4, group=f"m{i % 5}", question=f"{i}", stage=stage)
        for i in range(n)
        for stage in ("QA->R", "Q->A")
    )
    return Instances(tuple(made), "choices")


def dataset(path: Path, instances: Instances) -> Path:
    """A file of the questions."""
    return write(
        path,
        (
            {
                "id": one.id,
                "question": one.context,
                "options": list(one.options),
                "label": one.answer,
                "video": one.group,
            }
            for one in instances.instances
        ),
    )
