"""What a fold's language model reads: pairs of consecutive sentences as ids, split and batched.

The pairs are the contexts and, if asked for, the pairs that made none though their captions are sound. A fold's
training pairs come from the videos of the other folds; some of those videos are held out to choose the best epoch.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from swag_af.data.captions.context_set import joined_by_sentence, with_videos
from swag_af.data.context import Context, DroppedPair
from swag_af.data.disk.manifests import sha256_json_list
from swag_af.data.errors import ExhaustedError, several
from swag_af.data.folds import FoldMap, check_one_fold
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import BOS, EOS, Vocabulary, build_vocabulary

DIRECTIONS = ("forward", "backward")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two consecutive sentences as one list of ids, with the video and fold they come from."""

    ids: tuple[int, ...]
    video: str
    fold: int


@dataclass(frozen=True)
class FoldCorpus:
    """The pairs of one fold's model: to learn from, to choose the epoch by, and the fold itself."""

    train: list[tuple[int, ...]]
    held_out: list[tuple[int, ...]]
    fold: list[tuple[int, ...]]


UNSOUND = frozenset({"foreign", "broken_encoding"})
"""Why pairs were dropped whose captions no model should write like."""

_tokenize = lru_cache(maxsize=1 << 16)(tokenize)


def caption_vocabulary(contexts: Sequence[Context], dropped: Sequence[DroppedPair], *, min_count: int) -> Vocabulary:
    """One vocabulary for all folds, so that their pools share ids; every caption counts once a video."""
    captions = dict.fromkeys((p.video, s) for p in _sentences(contexts, dropped) for s in p.sentences)
    return build_vocabulary((_tokenize(text) for _, text in captions), min_count=min_count)


def pairs_of(contexts: Sequence[Context], dropped: Sequence[DroppedPair], vocabulary: Vocabulary) -> list[Pair]:
    """Every pair of sentences as ids, sorted by video and id; unknown words become UNK, learnt and never sampled.

    Raises InputError when a video stands in two folds.
    """
    return list(each_pair(contexts, dropped, vocabulary))


def each_pair(contexts: Sequence[Context], dropped: Sequence[DroppedPair], vocabulary: Vocabulary) -> Iterator[Pair]:
    """What `pairs_of` lists, one by one."""
    pairs = sorted(_sentences(contexts, dropped), key=lambda pair: (pair.video, pair.id))
    fold_of: dict[str, int] = {}
    for pair in pairs:
        if pair.video:
            check_one_fold(pair.video, fold_of.setdefault(pair.video, pair.fold), pair.fold)
    for pair in pairs:
        ids = (i for sentence in pair.sentences for i in vocabulary.ids(_tokenize(sentence)))
        yield Pair(tuple(ids), pair.video, pair.fold)


def fold_map(contexts: Sequence[Context], dropped: Sequence[DroppedPair]) -> FoldMap:
    """What the model of every fold will have read, and what not."""
    learnt: list[Context | DroppedPair] = [*contexts, *(pair for pair in dropped if pair.sent1 and pair.sent2)]
    return FoldMap.of((pair.video, pair.sentences, pair.fold) for pair in learnt)


def corpus_hash(pairs: Iterable[Pair]) -> str:
    """Hex SHA-256 of sentences, videos and folds: where second sentences are split does not enter."""
    return sha256_json_list([pair.ids, pair.video, pair.fold] for pair in pairs)


def fold_corpus(pairs: Sequence[Pair], fold: int, held_out: float, *, rng: np.random.Generator) -> FoldCorpus:
    """The corpus of the model of `fold`; whole videos are held out."""
    videos = videos_outside(pairs, fold)
    n_out = min(len(videos) - 1, max(1, round(held_out * len(videos))))
    out = {videos[i] for i in rng.permutation(len(videos))[:n_out]}
    return FoldCorpus(
        [p.ids for p in pairs if p.fold != fold and p.video not in out],
        [p.ids for p in pairs if p.fold != fold and p.video in out],
        [p.ids for p in pairs if p.fold == fold],
    )


def videos_outside(pairs: Sequence[Pair], fold: int) -> list[str]:
    """The videos that the model of `fold` may read; ExhaustedError where there are not two, one of them to be held
    out."""
    videos = sorted({pair.video for pair in pairs if pair.fold != fold})
    if len(videos) < 2:
        raise ExhaustedError(
            f"fold {fold}: {several(len(videos), 'video')} outside the fold to learn from. Use more videos, or fewer "
            "folds."
        )
    return videos


def batches(
    sequences: Sequence[Sequence[int]], batch_size: int, *, rng: np.random.Generator | None
) -> list[np.ndarray]:
    """Indices of sequences of like length, `batch_size` each; with `rng` the batches and ties are shuffled."""
    lengths = np.array([len(s) for s in sequences])
    if rng is None:
        order = np.argsort(lengths, kind="stable")
    else:
        jitter = rng.random(len(lengths))
        order = np.lexsort((jitter, lengths))
    groups = [order[at : at + batch_size] for at in range(0, len(order), batch_size)]
    return groups if rng is None else [groups[i] for i in rng.permutation(len(groups))]


def directions(sequences: Sequence[Sequence[int]]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each direction (T, B) inputs and targets. BOS and EOS are read, never predicted."""
    width = max(len(s) for s in sequences)
    out = {}
    for direction, first, step in zip(DIRECTIONS, (BOS, EOS), (1, -1), strict=True):
        inputs = np.zeros((width, len(sequences)), np.int64)
        targets = np.zeros((width, len(sequences)), np.int64)
        for column, sequence in enumerate(sequences):
            read = sequence[::step]
            inputs[0, column] = first
            inputs[1 : len(read), column] = read[:-1]
            targets[: len(read), column] = read
        out[direction] = inputs, targets
    return out


@dataclass(frozen=True, slots=True)
class _Sentences:
    id: str
    sentences: tuple[str, str]
    video: str
    fold: int


def _sentences(contexts: Sequence[Context], dropped: Sequence[DroppedPair]) -> list[_Sentences]:
    kept = [_Sentences(c.id, c.sentences, video, c.fold) for c, video in zip(contexts, _videos(contexts), strict=True)]
    sound = (p for p in dropped if p.sent1 and p.sent2 and p.reason not in UNSOUND)
    return kept + [_Sentences(p.id, p.sentences, p.video, p.fold) for p in sound]


def _videos(contexts: Sequence[Context]) -> list[str]:
    """The video of each context; those without one that share a sentence are one of their fold, so that no sentence is
    learnt and held out as well."""
    if all(context.video for context in contexts):
        return [context.video for context in contexts]
    named = with_videos(contexts, joined_by_sentence(contexts).groups)
    return [
        context.video or (f"{made.video}, fold {context.fold}" if made.video else f"line {i}")
        for i, (context, made) in enumerate(zip(contexts, named, strict=True))
    ]
