"""A view as strings, for filters that read text. What each sees of a candidate is named by a `Reading`.

All functions return `q` = n * m strings, row by row. Nothing is learned here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.pool.view import View

Reading = Literal["second_sentence", "ending", "tokens"]
Inputs = Literal["ending", "second", "full"]
"""What a pretrained reader sees of a candidate: the ending; start and ending, the second sentence; or the context's
first sentence too, as a text of its own."""
INPUTS: tuple[Inputs, ...] = get_args(Inputs)


def endings(view: View) -> list[str]:
    """The endings as a person reads them."""
    return [ending for row in view.texts for ending in row]


def second_sentences(view: View) -> list[str]:
    """Start and ending as a person reads them, one blank between."""
    starts = [context.start for context in view.contexts]
    return [with_start(start, ending) for start, row in zip(starts, view.texts, strict=True) for ending in row]


@dataclass(frozen=True)
class Pieces:
    """What a pretrained reader sees of q candidates, in pieces."""

    firsts: list[str]
    """First sentences of the contexts; empty where they are not read."""
    starts: list[str]
    """Of the second sentence; empty where they are not read."""
    endings: list[str]


def pieces_of(view: View, inputs: Inputs) -> Pieces:
    """The pieces of the candidates of `view` that `inputs` has."""
    every = [context for context in view.contexts for _ in range(view.shape[1])]
    firsts = [context.sent1 if inputs == "full" else "" for context in every]
    return Pieces(firsts, ["" if inputs == "ending" else context.start for context in every], endings(view))


def with_start(start: str, ending: str) -> str:
    """The second sentence as a person reads it, one blank between start and ending."""
    return f"{start} {ending}".strip()


def reads_ending_alone(made: object) -> bool:
    """Whether a filter sees neither context nor start, so that every input of a question is its options to it."""
    return getattr(made, "inputs", "") == "ending" or bool(getattr(made, "reads_ending_alone", False))


def check_inputs(name: str, inputs: str, known: Sequence[str] = INPUTS) -> None:
    """Raise InputError unless filter `name` may read `inputs`."""
    if inputs not in known:
        raise InputError(f"filter {name}: inputs {inputs!r} is none of {', '.join(known)}.")


def second_sentence_tokens(view: View) -> list[str]:
    """The tokens of start and ending, lower-cased, one blank between two: what the networks read, spelled out.

    A tenth of the cost of `second_sentences`, since nothing is detokenised.
    """
    at_once = np.array_split(np.arange(len(view)), 1 + len(view) // SPELLED_AT_ONCE)
    return [text for rows in at_once for text in _spelled(view.take(rows))]


SPELLED_AT_ONCE = 1024
"""Rows whose tokens become Python's numbers, of 36 bytes each, together."""


def _spelled(view: View) -> list[str]:
    words = view.vocabulary.tokens

    def joined(ids: list[int]) -> str:
        return " ".join([words[i] for i in ids])

    n_start, starts = view.start_lengths.tolist(), view.starts.tolist()
    opened = [joined(ids[:n]) for ids, n in zip(starts, n_start, strict=True)]  # n
    return [
        f"{start} {joined(ids[:n])}".strip()
        for start, row, row_lengths in zip(opened, view.tokens.tolist(), view.lengths.tolist(), strict=True)
        for ids, n in zip(row, row_lengths, strict=True)
    ]


READINGS: dict[Reading, Callable[[View], list[str]]] = {
    "second_sentence": second_sentences,
    "ending": endings,
    "tokens": second_sentence_tokens,
}
"""What a filter may read of a candidate, by name."""
