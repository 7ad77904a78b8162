"""The false-negative guard: which negatives of a row are kept beside its gold.

A negative that means the same as gold would teach a filter, and later a model, that a right answer is wrong. Dropped,
and counted by reason: negatives without a visible character, equal to gold, equal to an earlier negative, and those
flagged by a function of the user. Texts are compared by their words (`wording`). Tables are made elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from swag_af.data.context import Context
from swag_af.data.errors import SwagAfError, blamed
from swag_af.data.text.wording import comparable

DROPPED_NEGATIVES: dict[str, str] = {
    "blank": "nothing to read in it",
    "equal_to_gold": "the words of gold",
    "repeated": "the words of an earlier negative of the row",
    "flagged": "flagged as gold-like by the user's function",
}
"""Every reason for dropping a negative, in the order in which they are tested."""

Flag = Callable[[Context, str], bool]
"""`flag(context, negative)`: whether the negative could pass for gold, and so must not be one."""


def kept_candidates(
    context: Context, negatives: Sequence[str], *, flag: Flag | None, dropped: Counter[str]
) -> list[int]:
    """Indices into `[context.gold, *negatives]` of gold, which comes first, and of the negatives that are kept.

    `dropped` counts the reason of each of the others. `flag` is called once for each negative that is not dropped
    already; an exception in it becomes a ContractError.
    """
    gold = comparable(context.gold)
    seen: set[str] = set()
    kept = [0]
    for i, negative in enumerate(negatives, start=1):
        key = comparable(negative)
        if not key:
            dropped["blank"] += 1
        elif key == gold:
            dropped["equal_to_gold"] += 1
        elif key in seen:
            dropped["repeated"] += 1
        elif flag is not None and _is_flagged(flag, context, negative):
            dropped["flagged"] += 1
        else:
            seen.add(key)
            kept.append(i)
    return kept


def _is_flagged(flag: Flag, context: Context, negative: str) -> bool:
    try:
        return bool(flag(context, negative))
    except (SwagAfError, OSError, MemoryError):  # the first say what is wrong, the others are reported by the system
        raise
    except Exception as error:
        name = getattr(flag, "__name__", type(flag).__name__)
        raise blamed(
            error,
            f"{context.id}: for the negative {negative[:60]!r} the flag function {name}",
            "It takes a Context and a text, and says whether the text could pass for gold. Mend it.",
        ) from error
