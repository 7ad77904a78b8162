"""In which orders the options of a question are shown to a judge.

Orders are drawn from the seed and the texts alone, those before the options too, so the order of the dataset, in which
gold may stand first, decides nothing, and questions with the same options, yes and no say, have orders of their own. Of
each block of m orders of m options every option stands once in every place: who always says A says every option as
often where whole blocks are shown, and as likely where not.
"""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import count
from math import factorial

import numpy as np

from swag_af.data.errors import InputError


def orders_of(options: Sequence[str], n: int, *, seed: int, draw: str = "", before: str = "") -> np.ndarray:
    """(n, m) orders of m distinct options behind the text `before`, each a row of their numbers, first shown first.

    `draw` tells apart orders that are drawn anew, such as those of a later round. Whoever permutes the options gets the
    same texts in the same places.
    """
    m = len(options)
    blocks = [_block(options, _salt(seed, draw, block, before)) for block in range(-(-n // m))]  # each (m, m)
    return np.concatenate([*blocks, np.empty((0, m), np.int64)])[:n]


def unseen_orders_of(
    options: Sequence[str], n: int, *, seed: int, draw: str, shown: str, before: str = ""
) -> np.ndarray:
    """(n, m) distinct orders by `draw`, of which none is among the `n` that were drawn by `shown`.

    As long as they last, they are of blocks of which nothing was shown. InputError where there are too few.
    """
    m, seen = len(options), _seen(options, n, seed, shown, before)
    if not has_unseen_orders(options, n, seed=seed, shown=shown, before=before):
        raise InputError(f"{m} options: not {n} orders that were not shown before. Ask for fewer orders.")
    begun = {_turned(order) for order in seen}
    is_whole = n <= m * (factorial(m - 1) - len(begun))
    found: dict[tuple[int, ...], None] = {}
    for block in count():
        orders = [tuple(order) for order in _block(options, _salt(seed, draw, block, before)).tolist()]
        if not (is_whole and _turned(orders[0]) in begun):
            found |= dict.fromkeys(order for order in orders if order not in seen)
        if len(found) >= n:
            break
    return np.array([*found][:n], np.int64).reshape(n, m)


def has_unseen_orders(options: Sequence[str], n: int, *, seed: int, shown: str, before: str = "") -> bool:
    """Whether `n` orders are left beside the `n` that were drawn by `shown`."""
    return factorial(len(options)) - len(_seen(options, n, seed, shown, before)) >= n


def _seen(options: Sequence[str], n: int, seed: int, draw: str, before: str) -> set[tuple[int, ...]]:
    return set(map(tuple, orders_of(options, n, seed=seed, draw=draw, before=before).tolist()))


def _turned(order: tuple[int, ...]) -> tuple[int, ...]:
    """The same order, turned until option 0 is first: one for all orders of a block."""
    at = order.index(0)
    return order[at:] + order[:at]


def _salt(seed: int, draw: str, block: int, before: str) -> str:
    return f"{seed} {draw} {block}" + (f"\0{before}" if before else "")


def _block(options: Sequence[str], salt: str) -> np.ndarray:
    """(m, m) one shuffled order and its rotations, in a shuffled order."""
    together = "\n".join(sorted(options))
    shuffled = sorted(range(len(options)), key=lambda i: _hash(options[i], salt))
    steps = sorted(range(len(options)), key=lambda step: _hash(together, f"{salt} {step}"))
    return np.array([np.roll(shuffled, step) for step in steps], np.int64)


def _hash(text: str, salt: str) -> bytes:
    return blake2b(f"{salt}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
