"""Contexts: a sentence, the noun phrase that begins the next one, and the ending found in the source (gold).

Makes them from the videos that a reader yields, drops what the paper drops and counts every drop by reason. Reading
captions and splitting sentences happen elsewhere; the rules are in `drops`, the files in `context_set`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from swag_af.data.captions.context_set import joined_by_sentence
from swag_af.data.captions.drops import unfit_context, unfit_pair, with_full_stop
from swag_af.data.captions.language import foreign_videos
from swag_af.data.captions.options import ContextRules
from swag_af.data.captions.splitting import Captions, Splits, Splitting
from swag_af.data.context import Context, DroppedPair
from swag_af.data.errors import InputError
from swag_af.data.splits import deal
from swag_af.data.syntax.splitters import Splitter, TreeError, splits_of
from swag_af.data.text.near_duplicates import repeats
from swag_af.data.text.scripts import tokenize_any
from swag_af.data.tokens import tokenize
from swag_af.data.video import Caption, Video

_BATCH = 2048


def make_contexts(
    videos: Sequence[Video],
    splitter: Splitter | Splitting,
    rules: ContextRules,
    *,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda n: None,
) -> tuple[list[Context], list[DroppedPair]]:
    """All contexts of `videos` and all pairs that make none, in the order of the source.

    Second sentences are split by a splitter, or where a `Splitting` says: the contexts are the same. `progress` is
    called with the number of pairs that each step finished. Folds are drawn with `rng`, whole videos at a time, and
    videos that share a sentence, or a pair dropped as a repeat, together: a model trained on the other folds has not
    seen their endings.
    """
    pairs = _known_pairs(videos, rules)
    batches = [pairs[at : at + _BATCH] for at in range(0, len(pairs), _BATCH)]
    to_split = [[with_full_stop(pair.second) for pair in batch if pair.reason is None] for batch in batches]
    made: list[Context | DroppedPair] = []
    try:
        with _split(splitter, to_split) as splits:
            for batch, of_batch in zip(batches, splits, strict=True):
                made += _made(batch, of_batch, rules)
                progress(len(batch))
    except TreeError as error:
        whose = next((pair.video.id for pair in pairs if with_full_stop(pair.second) == error.caption), "")
        raise InputError(f"video {whose}: {error}") from None
    made, same = _without_duplicates(made)
    made, alike = _without_near_duplicates(made, rules.near_duplicates)
    folds = deal(joined_by_sentence(made, [*same, *alike]).groups, rules.n_folds, rng=rng)
    made = [replace(item, fold=fold) for item, fold in zip(made, folds.tolist(), strict=True)]
    return (
        [item for item in made if isinstance(item, Context)],
        [item for item in made if isinstance(item, DroppedPair)],
    )


def _split(splitter: Splitter | Splitting, batches: Sequence[Captions]) -> AbstractContextManager[Iterator[Splits]]:
    """The splits of each batch."""
    return (
        splitter.split(batches)
        if isinstance(splitter, Splitting)
        else nullcontext(map(partial(splits_of, splitter), batches))
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two consecutive captions as they were read, and what is known about them before the split."""

    video: Video
    number: int
    first: Caption
    second: Caption
    reason: str | None
    """Why it makes no context, where that is known already: then its second sentence is not split."""


def _known_pairs(videos: Sequence[Video], rules: ContextRules) -> list[_Pair]:
    """The pairs in order; numbers continue where a video id is listed again (two annotators)."""
    counts = Counter(t.lower() for v in videos for c in v.captions for t in tokenize(c.text))
    foreign = foreign_videos(videos) if rules.drop_foreign else [False] * len(videos)
    pairs: list[_Pair] = []
    numbered: Counter[str] = Counter()
    for video, is_foreign in zip(videos, foreign, strict=True):
        for first, second in pairwise(video.captions):
            reason = "foreign" if is_foreign else unfit_pair(first, second, video.source, rules, counts)
            pairs.append(_Pair(video, numbered[video.id], first, second, reason))
            numbered[video.id] += 1
    return pairs


def _made(pairs: Sequence[_Pair], splits: Splits, rules: ContextRules) -> Iterator[Context | DroppedPair]:
    """The context or the dropped pair that each pair makes, given the splits of those that may become a context."""
    split_of = iter(splits)
    for pair in pairs:
        sent1, sent2 = with_full_stop(pair.first).text, with_full_stop(pair.second).text
        split = next(split_of) if pair.reason is None else None
        start, gold = (split.start, split.ending) if split else ("", "")
        reason = pair.reason or unfit_context(sent1, start, gold, rules)
        identity: dict[str, Any] = {
            "id": f"{pair.video.id}-{pair.number}",
            "video": pair.video.id,
        }
        if reason is None:
            yield Context(sent1, start, gold, source=pair.video.source, **identity)
        else:
            yield DroppedPair(sent1, sent2, reason, **identity)


def _without_duplicates(
    made: Sequence[Context | DroppedPair],
) -> tuple[list[Context | DroppedPair], list[tuple[int, int]]]:
    """Contexts with the same three texts as an earlier one, as dropped pairs; and which pairs are the same."""
    first: dict[tuple[str, str, str], int] = {}
    out, same = list(made), list[tuple[int, int]]()
    for at, item in enumerate(made):
        if isinstance(item, Context) and first.setdefault((item.sent1, item.start, item.gold), at) != at:
            same.append((at, first[item.sent1, item.start, item.gold]))
            out[at] = _dropped(item, "duplicate")
    return out, same


def _without_near_duplicates(
    made: list[Context | DroppedPair], threshold: float
) -> tuple[list[Context | DroppedPair], list[tuple[int, int]]]:
    """Contexts that are nearly the same as an earlier one that is kept, as dropped pairs; and which pairs are alike.

    First sentences are compared with first ones only, and second with second: the words of the second are marked.
    Otherwise a context would resemble the next one of its video, whose first sentence is its second.
    """
    if not threshold:
        return made, []
    places = [at for at, item in enumerate(made) if isinstance(item, Context)]
    texts = [
        [
            *tokenize_any(item.sent1.lower()),
            *(f"2 {token}" for token in tokenize_any(f"{item.start} {item.gold}".lower())),
        ]
        for item in made
        if isinstance(item, Context)
    ]
    out, alike = list(made), repeats(texts, threshold=threshold)
    for i in alike:
        item = out[places[i]]
        assert isinstance(item, Context)
        out[places[i]] = _dropped(item, "near_duplicate")
    return out, [(places[i], places[first]) for i, first in alike.items()]


def _dropped(context: Context, reason: str) -> DroppedPair:
    return DroppedPair(*context.sentences, reason, id=context.id, video=context.video, fold=context.fold)
