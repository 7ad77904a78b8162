"""`check_generator`, which tests the four sentences of the contract on anyone's class."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Generator as Yielding
from dataclasses import replace
from typing import Any

from swag_af.data.context import Context
from swag_af.data.errors import ContractError, InputError, told
from swag_af.data.plugins.contracts import as_sentence, broken, constructor_fault, factory_of, lacking
from swag_af.data.plugins.own_code import blaming
from swag_af.data.text.wording import comparable, is_readable
from swag_af.lm.contract import ADVICE, Generated, Generator, answer_fault, record_of


def check_generator(
    generator_or_factory: Generator | Callable[[], Generator], contexts: Sequence[Context], *, n_negatives: int = 4
) -> None:
    """Raise ContractError, naming the sentence, unless the generator keeps the contract on `contexts`.

    Takes a class, any function that returns a new generator, or a generator (copied before each use). `contexts` are at
    least four that it can continue; it is asked for `n_negatives` endings of each, nine times.
    """
    if len(contexts) < 4:
        raise InputError(f"{len(contexts)} contexts: check_generator needs four at least.")
    make: Callable[[], Generator] = factory_of(generator_or_factory, "generate")
    fault = lacking(make(), "generate") or constructor_fault(make)
    if fault is not None:
        raise _broken(1, make(), fault)
    made = _answers(make(), contexts, n_negatives, seed=0)
    _check_endings(make(), contexts, made, n_negatives)
    _check_company(make, contexts, made, n_negatives)
    _check_gold_is_avoided(make(), contexts, made, n_negatives)
    _check_resuming(make, contexts, made, n_negatives)
    if any(made) and made == _answers(make(), contexts, n_negatives, seed=1):
        raise _broken(4, make(), "two seeds give the same endings everywhere")
    _check_record(make, contexts, n_negatives)


def _answers(
    generator: Generator, contexts: Sequence[Context], n_negatives: int, *, seed: int
) -> list[tuple[str, ...]]:
    """The endings of each context, in order, empty where there is a reason for none."""
    found: dict[int, tuple[str, ...]] = {}
    for answer in _asked(generator, contexts, n_negatives, seed):
        if fault := answer_fault(answer, len(contexts), n_negatives):
            raise _broken(2, generator, fault)
        if answer.position in found:
            raise _broken(2, generator, f"context {answer.position} is answered twice")
        found[answer.position] = tuple(answer.endings)
    missing = len(contexts) - len(found)
    if missing:
        raise _broken(2, generator, f"{missing} of {len(contexts)} contexts are not answered")
    return [found[position] for position in range(len(contexts))]


def _asked(generator: Generator, contexts: Sequence[Context], n_negatives: int, seed: int) -> Yielding[Generated]:
    """Its answers; ContractError, whose cause has the traceback, where it raises."""
    with blaming(generator, "generate"):
        answers: object = generator.generate(contexts, n_negatives, seed=seed)
        if not isinstance(answers, Iterable):
            raise _broken(2, generator, f"generate gave {told(answers)}, where answers are due")
        yield from answers


def _check_endings(
    generator: Generator, contexts: Sequence[Context], made: Sequence[tuple[str, ...]], n_negatives: int
) -> None:
    for position, (context, endings) in enumerate(zip(contexts, made, strict=True)):
        words = [comparable(ending) for ending in endings]
        if not all(map(is_readable, endings)):
            raise _broken(
                3, generator, f"context {position} has an ending with half a character or a control character"
            )
        if not all(words):
            raise _broken(3, generator, f"context {position} has an ending without a word")
        if len(set(words)) < len(words):
            raise _broken(3, generator, f"context {position} has one ending twice")
        if comparable(context.gold) in words:
            raise _broken(3, generator, f"context {position} has its gold among its endings")
    if not any(made):
        raise _broken(2, generator, f"not one of {len(contexts)} contexts gets {n_negatives} endings")


def _check_gold_is_avoided(
    generator: Generator, contexts: Sequence[Context], made: Sequence[tuple[str, ...]], n_negatives: int
) -> None:
    """Where one of its own endings is the gold, it must not make that one."""
    tried = [(context, endings[0]) for context, endings in zip(contexts, made, strict=True) if endings]
    golds = [replace(context, gold=ending) for context, ending in tried]
    for position, endings in enumerate(_answers(generator, golds, n_negatives, seed=0)):
        if comparable(tried[position][1]) in map(comparable, endings):
            raise _broken(3, generator, f"it makes {tried[position][1]!r} though that is gold")


def _check_company(
    make: Callable[[], Generator], contexts: Sequence[Context], made: list[tuple[str, ...]], n_negatives: int
) -> None:
    if _answers(make(), contexts, n_negatives, seed=0) != made:
        raise _broken(4, make(), "the same contexts and seed give other endings the second time")
    if _answers(make(), contexts[::-1], n_negatives, seed=0)[::-1] != made:
        raise _broken(4, make(), "the endings depend on the order of the contexts")
    if _answers(make(), contexts[1:3], n_negatives, seed=0) != made[1:3]:
        raise _broken(4, make(), "a context has other endings when fewer are asked about with it")
    used = make()
    _answers(used, contexts[2:], n_negatives, seed=0)
    if _answers(used, contexts[:2], n_negatives, seed=0) != made[:2]:
        raise _broken(4, used, "what was generated before changes what comes next")


def _check_resuming(
    make: Callable[[], Generator], contexts: Sequence[Context], made: list[tuple[str, ...]], n_negatives: int
) -> None:
    """Stopped after its first answer, and asked about the rest: by the same generator, and by a new one."""
    stopped = make()
    answers = _asked(stopped, contexts, n_negatives, 0)
    first = next(answers).position
    answers.close()
    rest = [position for position in range(len(contexts)) if position != first]
    for generator in (stopped, make()):
        again = _answers(generator, [contexts[position] for position in rest], n_negatives, seed=0)
        if again != [made[position] for position in rest]:
            raise _broken(4, generator, "stopped and asked about the rest, it gives other endings")


def _check_record(make: Callable[[], Generator], contexts: Sequence[Context], n_negatives: int) -> None:
    """What it says of itself is JSON, and the same before and after generating."""
    generator = make()
    before = _record(generator)
    if before != _record(make()):
        raise _broken(1, generator, "two constructions have other record()s")
    _answers(generator, contexts, n_negatives, seed=0)
    if before != _record(generator):
        raise _broken(1, generator, "its record() changes while it generates")


def _record(generator: Generator) -> dict[str, Any]:
    with as_sentence(_SENTENCES, 1, generator, "record", advice=ADVICE):
        return record_of(generator)


_SENTENCES = {
    1: "the constructor stores settings and does nothing else",
    2: "generate answers every context once, with all endings or a reason",
    3: "endings are distinct, readable, and never gold",
    4: "endings depend on the context and the seed alone",
}


def _broken(sentence: int, generator: Generator, how: str) -> ContractError:
    return broken(_SENTENCES, sentence, generator, how)
