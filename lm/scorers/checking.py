"""`check_scorer`, which tests the four sentences of the contract on anyone's class."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from swag_af.data.context import Context
from swag_af.data.contracts import broken, constructor_fault, factory_of
from swag_af.data.errors import ContractError
from swag_af.lm.scorers.contract import COLUMNS, Scorer

Make = Callable[[], Scorer]
Values = list[np.ndarray]
"""Of each context (K, columns)."""


def check_scorer(
    scorer_or_factory: Scorer | Make,
    contexts: Sequence[Context],
    endings: Sequence[Sequence[str]],
    *,
    tolerance: float = 0.0,
) -> None:
    """Raise ContractError, naming the sentence, unless the scorer keeps the contract on `contexts` and `endings`.

    Takes a class, any function that returns a new scorer, or a scorer (copied before each use). There are four contexts
    at least, different ones, each with three different endings or more. Values may differ by `tolerance` nats a token
    with what else is asked for: 0 of what runs here on a CPU; a server that batches rounds otherwise.
    """
    if len(contexts) < 4 or len(contexts) != len(endings) or min(map(len, endings)) < 3:
        raise ValueError("check_scorer needs four contexts at least, and three endings of each.")
    make: Make = factory_of(scorer_or_factory, "score")
    fault = constructor_fault(make)
    if fault is not None:
        raise _broken(1, make(), fault)
    made = _scored(make(), contexts, endings)
    _check_company(make, contexts, endings, made, tolerance)
    _check_reading(make(), contexts, endings, made)


def _scored(scorer: Scorer, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Values:
    columns = tuple(scorer.columns)
    if not columns or columns != tuple(name for name in COLUMNS if name in columns):
        raise _broken(2, scorer, f"its columns are {', '.join(columns) or 'none'}; there are {', '.join(COLUMNS)}")
    made = list(scorer.score(contexts, endings))
    if len(made) != len(contexts):
        raise _broken(2, scorer, f"{len(made)} answers for {len(contexts)} contexts")
    for position, (values, mine) in enumerate(zip(made, endings, strict=True)):
        if values.shape != (len(mine), len(columns)):
            raise _broken(2, scorer, f"context {position} has {values.shape}, not {(len(mine), len(columns))}")
        if not np.isfinite(values).all() or (values < 0).any():
            raise _broken(2, scorer, f"context {position} has values that are not finite or below 0")
    return made


def _check_company(
    make: Make, contexts: Sequence[Context], endings: Sequence[Sequence[str]], made: Values, tolerance: float
) -> None:
    def check(now: Values, then: Values, how: str) -> None:
        if any((np.abs(one - other) > tolerance).any() for one, other in zip(now, then, strict=True)):
            raise _broken(3, make(), how)

    check(_scored(make(), contexts, endings), made, "the same texts have other values the second time")
    check(_scored(make(), contexts[::-1], endings[::-1])[::-1], made, "values depend on the order of the contexts")
    turned = [[*mine[1:], mine[0]] for mine in endings]
    back = [np.roll(values, 1, axis=0) for values in _scored(make(), contexts, turned)]
    check(back, made, "values depend on the order of the endings")
    fewer = _scored(make(), contexts[1:3], [mine[:2] for mine in endings[1:3]])
    check(fewer, [values[:2] for values in made[1:3]], "an ending has another value when fewer are scored with it")
    golds = [replace(context, gold="is something else altogether.") for context in contexts]
    check(_scored(make(), golds, endings), made, "values depend on gold")
    used = make()
    _scored(used, contexts[2:], endings[2:])
    check(_scored(used, contexts[:2], endings[:2]), made[:2], "what was scored before changes what comes next")


def _check_reading(scorer: Scorer, contexts: Sequence[Context], endings: Sequence[Sequence[str]], made: Values) -> None:
    """Other endings, and the same endings after other contexts, must have other values where they can."""
    alien = _scored(scorer, contexts, [*endings[1:], endings[0]])  # of the next context
    for column, name in enumerate(scorer.columns):
        if name != "context_alone" and all(np.ptp(values[:, column]) == 0 for values in made):
            raise _broken(4, scorer, f"{name} is the same for all endings")
        if name == "context_alone" and any(np.ptp(values[:, column]) > 0 for values in made):
            raise _broken(3, scorer, "context_alone differs between endings of a context")
        after = np.array([values[0, column] for values in alien[:-1]])
        before = np.array([values[0, column] for values in made[1:]])
        if name not in ("context_alone", "ending_alone") and (after == before).all():
            raise _broken(4, scorer, f"{name} is the same after any context")
        if name == "context_alone" and len({float(values[0, column]) for values in made}) == 1:
            raise _broken(4, scorer, "context_alone is the same for all contexts")


_SENTENCES = {
    1: "the constructor stores settings and does nothing else",
    2: "columns names what score gives, for every ending of every context, in nats a token",
    3: "a value depends on its context and its ending alone",
    4: "it reads what it scores",
}


def _broken(sentence: int, scorer: Scorer, how: str) -> ContractError:
    return broken(_SENTENCES, sentence, scorer, how)
