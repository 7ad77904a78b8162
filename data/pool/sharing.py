"""Which rows of a pool of texts share texts: counted, and kept together as far as that is possible.

Three ways of sharing matter when a filter is fitted on some rows and scores others. A sentence in two rows leaks from
one to the other. A gold that is a negative elsewhere (a recycled gold): a filter that was fitted on it as a negative
avoids it, and finds the gold of a held-out row less often than a guess would. A negative of several rows, as from a
bank of wrong answers: whoever was fitted on it avoids it too, and finds the gold of a held-out row as the text that is
new; where its rows are of several groups no folds keep them together, and they are counted alone. Needs 40 bytes per
row, and 16 per recycled gold.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.numbers.percent import in_percent
from swag_af.data.pool.rows import Block, Row
from swag_af.data.splits import Joined, a_story, counted, join_by_text, renumbered
from swag_af.data.text.wording import option_key, sentence_keys


class SharedTextWarning(UserWarning):
    """Warns that golds are negatives of other rows."""


def _keys() -> Any:
    return array("q")


@dataclass
class RowKeys:
    """Keys of the video, the sentences and the gold of every row that is read."""

    videos: Any = field(default_factory=_keys)
    sentences: Any = field(default_factory=_keys)
    n_sentences: Any = field(default_factory=_keys)
    """How many of `sentences` each row has."""
    golds: Any = field(default_factory=_keys)

    def noted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows unchanged, and note their keys."""
        for row in rows:
            video = blake2b(row.context.video.encode(), digest_size=8).digest()
            self.videos.append(int.from_bytes(video, "little", signed=True))
            keys = [key for text in row.context.sentences for key in sentence_keys(text)]
            self.sentences.extend(keys)
            self.n_sentences.append(len(keys))
            self.golds.append(option_key(row.candidates[0]))
            yield row


@dataclass(frozen=True)
class Sharing:
    """Which rows belong together, and how many share what."""

    groups: np.ndarray
    """(N,) group numbers: of one video, sharing a sentence or a recycled gold, as far as no group grows too large."""
    counts: dict[str, Any]
    """For the manifest, `shared_texts`."""


def sharing(keys: RowKeys, blocks: Iterable[Block], given: np.ndarray | None = None) -> Sharing:
    """Which rows belong together; `blocks` hold those that `keys` has noted.

    Where groups are `given` (N,), they are kept as they are, and only what they keep together is counted.
    """

    def joined(groups: np.ndarray, rows: np.ndarray, keys: np.ndarray) -> Joined:
        if given is None:
            return join_by_text(groups, rows, keys, few=a_story(len(groups)))
        return counted(groups, given, rows, keys)

    videos, sentences, counts = (
        np.frombuffer(column, np.int64) for column in (keys.videos, keys.sentences, keys.n_sentences)
    )
    groups = renumbered(videos)
    by_sentence = joined(groups, np.repeat(np.arange(len(groups)), counts), sentences)
    golds, repeats = np.frombuffer(keys.golds, np.int64), _Repeats()
    rows, texts, n_recycled = _recycled(golds, repeats.noted(blocks))
    by_gold = joined(by_sentence.groups, rows, texts)
    found = {
        "n_rows_joined_by_sentence": by_sentence.n_joined,
        "n_rows_apart_by_sentence": by_sentence.n_apart,
        "n_rows": len(np.unique(rows)),
        "n_golds_among_negatives": n_recycled,
        "n_rows_apart_by_gold": by_gold.n_apart,
        "kept_together": by_gold.n_apart == 0,
        "n_negatives": repeats.n_negatives,
        "n_repeated_negatives": repeats.n_repeated(golds, by_gold.groups),
    }
    return Sharing(by_gold.groups, found)


def n_parted(contexts: Iterable[Context], groups: np.ndarray) -> int:
    """How many rows have a sentence that rows of another of `groups` (N,) have too. One that more than half of the rows
    have does not count: that is no passage, but an instruction."""
    texts = (sentence_keys(text) for context in contexts for text in context.sentences)
    of_texts = [np.array(keys, np.int64) for keys in texts]  # two a row
    rows = np.repeat(np.arange(len(of_texts)) // 2, [len(keys) for keys in of_texts])
    pairs = np.unique(np.stack((np.concatenate(of_texts), rows)), axis=1)  # (2, t): keys and rows
    keys, at, n_rows = np.unique(pairs[0], return_inverse=True, return_counts=True)
    n_groups = np.bincount(np.unique(np.stack((at, groups[pairs[1]])), axis=1)[0], minlength=len(keys))
    parted = (n_groups > 1) & (n_rows <= len(groups) / 2)
    return len(np.unique(pairs[1][parted[at]]))


def _recycled(golds: np.ndarray, blocks: Iterable[Block]) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows and keys of the golds (N,) that are negatives of other rows, and of those negatives; how many the latter."""
    first, rows, texts = 0, [], []
    known = np.unique(golds)
    for block in blocks:
        counts, keys = block.column("counts").astype(np.int64), block.column("keys")
        row = first + np.repeat(np.arange(len(block)), counts)  # (candidates,)
        found = _are_negatives(block) & np.isin(keys, known) & (keys != golds[row])
        rows.append(row[found])
        texts.append(keys[found])
        first += len(block)
    recycled = np.concatenate(texts) if texts else np.zeros(0, np.int64)
    of_gold = np.flatnonzero(np.isin(golds, recycled))
    return np.concatenate([*rows, of_gold]), np.concatenate([recycled, golds[of_gold]]), len(recycled)


def _are_negatives(block: Block) -> np.ndarray:
    """(candidates,) which are no gold."""
    counts = block.column("counts").astype(np.int64)
    found = np.ones(int(counts.sum()), bool)
    found[np.cumsum(counts) - counts] = False
    return found


class _Repeats:
    """Counts negatives that stand as such in rows of several groups; of very many texts a part is looked at, whose keys
    end in as many zeros as it takes."""

    def __init__(self) -> None:
        self.n_negatives, self._n_rows = 0, 0
        self._kept, self._n_zeros = np.zeros((2, 0), np.int64), 0  # keys, and their rows

    def noted(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks unchanged, and note the keys of their negatives."""
        for block in blocks:
            row = self._n_rows + np.repeat(np.arange(len(block)), block.column("counts").astype(np.int64))
            found = np.stack((block.column("keys"), row))[:, _are_negatives(block)]  # (2, negatives)
            self.n_negatives += found.shape[1]
            self._n_rows += len(block)
            self._kept = np.concatenate((self._kept, self._looked_at(found)), axis=1)
            while self._kept.shape[1] > _MOST_LOOKED_AT:
                self._n_zeros += 1
                self._kept = self._looked_at(self._kept)
            yield block

    def _looked_at(self, found: np.ndarray) -> np.ndarray:
        return found[:, found[0] % (1 << self._n_zeros) == 0]

    def n_repeated(self, golds: np.ndarray, groups: np.ndarray) -> int:
        """How many stand in rows of several of `groups` (N,) and are none of the `golds` (N,); in proportion where a
        part was looked at."""
        keys, rows = self._kept
        texts, n_groups = np.unique(np.unique(np.stack((keys, groups[rows])), axis=1)[0], return_counts=True)
        repeated = texts[(n_groups > 1) & ~np.isin(texts, golds)]
        return int(np.isin(keys, repeated).sum()) << self._n_zeros


_MOST_LOOKED_AT = 4_000_000
"""Negatives whose keys and rows are held at a time, 16 bytes each."""

MANY_REPEATED = 0.05
"""So large a share of negatives that stand in rows of several groups is told with every figure."""


def repeated_line(shared: Mapping[str, Any]) -> str:
    """What many `n_repeated_negatives` of a manifest's `shared_texts` mean, as a sentence; empty where they are few."""
    n, of = shared.get("n_repeated_negatives", 0), shared.get("n_negatives", 0)
    if n < MANY_REPEATED * of or not n:
        return ""
    return (
        f"{in_percent(n / of)} of the pool's negatives stand in several contexts, and no folds part these: a filter "
        "knows those again that it has met as negatives. It finds gold where that is new to it, and avoids gold where "
        "that was a negative elsewhere, so what it finds, above chance or below, is not of style alone."
    )
