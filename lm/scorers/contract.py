"""What a scorer is, in four sentences; `checking` tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `columns` names what it can give, of `COLUMNS` and in their order; `score` answers every context, in order, with
       these values for each of its endings: nats a token, finite, not below 0.
    3. A value depends on its context and its ending alone: not on gold, nor on what else is scored, nor in which order.
    4. It reads what it scores: other endings have other values, and so have endings of other contexts.

The third lets a killed run go on and keeps gold out of what it is compared by; the fourth finds servers that answer
without having read. No scorer lives here, and nothing of torch.

What each column is, of a model that reads from left to right. A text is what a person would read: the context as
released (`swag_af.data.context.phrase`), a blank, the ending. A token is the model's own; a value is the mean negative
log-likelihood of a part's tokens.

    ending_given_context   the ending, in "CONTEXT ENDING"
    ending_alone           the ending, in "ENDING CONTEXT": with nothing before it but the begin of the text
    context_given_ending   the context, in "ENDING CONTEXT": after the ending, though it comes first in truth
    context_alone          the context, in "CONTEXT ENDING": the same for all endings of a context
    last_token             the last token of the ending alone, in "CONTEXT ENDING"

The paper's models have `ending_alone` and `context_given_ending` from a second model, which reads from right to left
(Zellers et al. 2018, A.3). Lengths are no business of a scorer: they are counted in our tokens for all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.records import OwnRecord
from swag_af.data.errors import ContractError, told
from swag_af.data.plugins.own_code import recorded
from swag_af.data.pool.folder import FEATURES

COLUMNS = FEATURES[:5]
"""Every likelihood column, in the order in which scorers give theirs."""
LENGTHS = FEATURES[5:]
"""The columns that are counted, never scored."""


@runtime_checkable
class Scorer(Protocol):
    """Something that says how likely endings are.

    Optional is `argument`, the name of the setting that stands in brackets where the scorer is named:
    `hf[path/to/model]` (`swag_af.data.plugins.registry`).
    """

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of `COLUMNS` that it can give; may open a model, or ask a server what it can do."""
        ...

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        """For each of n contexts, in order and as it is done: (K, columns) float32 of its K endings.

        Contexts may have different numbers of endings, one at least. Of a context `sent1` and `start` are read; gold
        may only say which model is allowed to. Raises InputError for a text that cannot be scored.
        """
        ...

    def record(self) -> dict[str, Any]:
        """For the pool's manifest, as JSON: `model`, what tells its weights from others, settings that decide values.

        `foreign` is false where the scorer sees to it that no row is read by a model that has learnt it; where it is
        left out, the model may have. Holds no key and no password.
        """
        ...


def columns_of(scorer: Scorer) -> tuple[str, ...]:
    """What it can give; ContractError unless these are of `COLUMNS`, each once and in their order."""
    columns: object = scorer.columns
    if isinstance(columns, list | tuple) and columns and tuple(columns) == tuple(c for c in COLUMNS if c in columns):
        return tuple(columns)
    are_texts = isinstance(columns, list | tuple) and all(isinstance(one, str) for one in columns)
    said = ", ".join(columns) or "none" if isinstance(columns, list | tuple) and are_texts else told(columns)
    raise ContractError(
        f"{type(scorer).__name__}: its columns are {said}; there are {', '.join(COLUMNS)}, each once and in this order"
    )


def record_of(scorer: Scorer) -> dict[str, Any]:
    """What it says of itself, as a manifest keeps it; ContractError for what none can hold."""
    return recorded(scorer.record(), f"{type(scorer).__name__}: its record()", ADVICE, kind=OwnRecord)


ADVICE = "`check_scorer` says more."


def answers_of(
    scorer: Scorer, contexts: Sequence[Context], endings: Sequence[Sequence[str]], n_columns: int
) -> Iterator[np.ndarray]:
    """What it answers for each of n contexts; ContractError unless that is a table (K, columns) of its endings."""
    answers: object = scorer.score(contexts, endings)
    if not isinstance(answers, Iterable):
        raise ContractError(f"{type(scorer).__name__}: score gave {told(answers)}, where a table a context is due")
    n = 0
    for n, values in enumerate(answers, start=1):
        if n > len(contexts):
            raise ContractError(f"{type(scorer).__name__}: more than {len(contexts)} answers for as many contexts")
        if fault := answer_fault(values, (len(endings[n - 1]), n_columns)):
            raise ContractError(f"{type(scorer).__name__}: context {n - 1} has {fault}")
        yield values
    if n < len(contexts):
        raise ContractError(f"{type(scorer).__name__}: {n} answers for {len(contexts)} contexts")


def answer_fault(values: object, due: tuple[int, int]) -> str:
    """What is wrong with the answer for a context, where numbers (K, columns) are due; empty if nothing is."""
    if not isinstance(values, np.ndarray):
        return f"{told(values)}, not an array {due}"
    if values.dtype.kind not in "fiu":
        return f"a table of {values.dtype}, not of numbers"
    return f"{values.shape}, not {due}" if values.shape != due else ""
