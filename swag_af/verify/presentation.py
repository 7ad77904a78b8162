"""An item as an annotator sees it: context and endings as sentences, the endings shuffled for every annotator.

The order depends on a secret, the seed, the item and the annotator only, so that a page looks the same when it is
loaded again.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.context import Context, display, readable
from swag_af.data.runs.run import Run
from swag_af.data.secrets import secret_rng
from swag_af.verify.qualification import QualificationQuestion


@dataclass(frozen=True, slots=True)
class Shown:
    """A context and its endings, as sentences in the order shown."""

    sent1: str
    start: str
    endings: tuple[str, ...]
    order: tuple[int, ...]
    """For each ending shown, its place in the item."""


def shown_item(
    run: Run, row: int, columns: Sequence[int], *, seed: int, item: str, annotator: str, secret: str | None
) -> Shown:
    """An item of the run; nobody can foretell its order who does not know the secret. None: of a study that was begun
    when the order followed from the seed."""
    context = run.pool.contexts[row]
    endings = [run.pool.text(row, column) for column in columns]
    if secret is None:
        rng = np.random.default_rng((seed, zlib.crc32(item.encode()), zlib.crc32(annotator.encode())))
    else:
        rng = secret_rng(secret, f"{item} {annotator} {seed}")
    return _shown(context, endings, rng)


def shown_question(question: QualificationQuestion, *, secret: str, annotator: str) -> Shown:
    """A qualification question; nobody can foretell its order who does not know the secret."""
    rng = secret_rng(secret, f"{question.id} {annotator}")
    return _shown(Context(question.sent1, question.start, ""), question.endings, rng)


def _shown(context: Context, endings: Sequence[str], rng: np.random.Generator) -> Shown:
    order = tuple(rng.permutation(len(endings)).tolist())
    return Shown(*display(context), tuple(readable(endings[i]) for i in order), order)
