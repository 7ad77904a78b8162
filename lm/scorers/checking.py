"""`check_scorer`, which tests the four sentences of the contract on anyone's class."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import ContractError, InputError, told
from swag_af.data.plugins.contracts import as_sentence, broken, constructor_fault, factory_of, lacking
from swag_af.data.plugins.own_code import blaming
from swag_af.lm.scorers.contract import ADVICE, Scorer, answer_fault, columns_of, record_of

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
        raise InputError("check_scorer needs four contexts at least, and three endings of each.")
    make: Make = factory_of(scorer_or_factory, "score")
    fault = lacking(make(), "score", "record") or constructor_fault(make)
    if fault is not None:
        raise _broken(1, make(), fault)
    scorer = make()
    record = _record(scorer)
    if record != _record(make()):
        raise _broken(1, scorer, "two constructions have other record()s")
    made = _scored(scorer, contexts, endings)
    if record != _record(scorer):
        raise _broken(1, scorer, "its record() changes when it scores")
    _check_company(make, contexts, endings, made, tolerance)
    _check_reading(make(), contexts, endings, made)


def _record(scorer: Scorer) -> dict[str, Any]:
    with as_sentence(_SENTENCES, 1, scorer, "record", advice=ADVICE):
        return record_of(scorer)


def _scored(scorer: Scorer, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Values:
    with as_sentence(_SENTENCES, 2, scorer, "columns"):
        columns = columns_of(scorer)
    with blaming(scorer, "score"):
        answers: object = scorer.score(contexts, endings)
        made = list(answers) if isinstance(answers, Iterable) else None
    if made is None or len(made) != len(contexts):
        given = told(answers) if made is None else f"{len(made)} answers"
        raise _broken(2, scorer, f"{given} for {len(contexts)} contexts")
    for position, (values, mine) in enumerate(zip(made, endings, strict=True)):
        if fault := answer_fault(values, (len(mine), len(columns))):
            raise _broken(2, scorer, f"context {position} has {fault}")
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
    longer = _scored(make(), contexts[:2], [[*mine, " ".join(mine)] for mine in endings[:2]])
    check([values[:-1] for values in longer], made[:2], "an ending has another value when a longer one is scored too")
    for position, mine in enumerate(endings[:2]):
        i = list(mine).index(min(mine, key=len))
        alone = _scored(make(), [contexts[position]], [[mine[i]]])
        check(alone, [made[position][[i]]], "an ending that is scored alone has another value")
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
