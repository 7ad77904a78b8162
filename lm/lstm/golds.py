"""Golds that no sampled ending could look like, which would give them away: told before models are trained."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch

from swag_af.data.context import Context
from swag_af.data.errors import several
from swag_af.data.text.sentences import sentences_of
from swag_af.data.tokens import SENTENCE_ENDS, tokenize
from swag_af.data.vocabulary import UNK, Vocabulary
from swag_af.lm.contract import UNKNOWN


class Bounds(NamedTuple):
    """Lengths of endings that are sampled, in tokens."""

    min_tokens: int
    max_tokens: int


_MANY = 0.05
"""So large a share of contexts that are lost is worth a warning."""

_ADVICE = {
    UNKNOWN: "train models with a lower --min-count",
    "gold_too_short": "lower --min-tokens",
    "gold_too_long": "raise --max-tokens",
    "gold_of_several_sentences": "give golds of one sentence",
    "gold_unfinished": "end golds with a full stop",
    "empty_context": "give each context a first sentence or a start",
}
"""What keeps contexts that are left out for a reason."""


def unfit_golds(contexts: Iterable[Context], vocabulary: Vocabulary, bounds: Bounds) -> list[str | None]:
    """Why each context is left out whatever is sampled; None for those that are not."""
    ends = sentence_ends(vocabulary)
    return [
        unfit_gold(context.gold, vocabulary.ids(tokenize(context.gold)), bounds, ends)
        or (None if context.sent1 or context.start else "empty_context")
        for context in contexts
    ]


def unfit_gold(text: str, gold: Sequence[int], bounds: Bounds, ends: torch.Tensor) -> str | None:
    """Why no sample could look like this gold; `gold` are its tokens, which end none of its sentences but the last."""
    if len(sentences_of(text)) > 1:
        return "gold_of_several_sentences"
    if UNK in gold:
        return UNKNOWN
    if len(gold) < bounds.min_tokens:
        return "gold_too_short"
    if len(gold) > bounds.max_tokens:
        return "gold_too_long"
    stops = ends[list(gold)].tolist()
    if any(stops[:-1]):
        return "gold_of_several_sentences"
    return None if stops[-1] else "gold_unfinished"


def sentence_ends(vocabulary: Vocabulary) -> torch.Tensor:
    """(V,) which tokens end a sentence."""
    return torch.tensor([token in SENTENCE_ENDS for token in vocabulary.tokens])


def unfit_lines(reasons: Sequence[str | None]) -> list[str]:
    """Warnings where many contexts are left out for these `reasons`, that of rare words apart."""
    drops, n_all = Counter(filter(None, reasons)), len(reasons)
    n_unknown, lines = drops.pop(UNKNOWN, 0), []
    if n_unknown and n_unknown >= _MANY * n_all:
        lines.append(
            f"Warning: {n_unknown:,} of {several(n_all, 'context')} have a word in gold that is too rare for the "
            "models to know, and generate leaves them out. Models trained with a lower --min-count keep them."
        )
    if drops and drops.total() >= _MANY * n_all:
        lines.append(
            f"Warning: {drops.total():,} of {several(n_all, 'context')} are left out by generate, since no ending that "
            f"it samples looks like their gold ({drop_counts(drops)}). To keep them, {advice_for(drops)}."
        )
    return lines


def advice_for(drops: Mapping[str, int]) -> str:
    """What to do where contexts are left out, by reason: `lower --min-tokens`; empty where nothing of this helps."""
    return " and ".join(_ADVICE[reason] for reason in drops if reason in _ADVICE)


def drop_counts(drops: Mapping[str, int]) -> str:
    """`40 gold_too_short, 2 gold_unfinished`."""
    return ", ".join(f"{n:,} {reason}" for reason, n in drops.items())
