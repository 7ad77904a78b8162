"""Rows of text to the tables of a pool, in two steps, so that millions of rows need little memory.

First every row is checked, tokenised once and put into a `Block` of flat arrays, in which token types are numbered by
their first occurrence. When all rows are read, the vocabulary and the pool's own `K`, `L` and `S` are known, and each
block becomes tables. Blocks may stay in memory, as for a pool made of lists, or wait in files. Pools and source files
are handled elsewhere.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import plain, read_arrays, read_jsonl, write_jsonl
from swag_af.data.disk.records import strange_number
from swag_af.data.disk.replacing import replacing
from swag_af.data.errors import InputError, RowError, told
from swag_af.data.folds import MOST_FOLDS
from swag_af.data.pool.folder import numbered_features
from swag_af.data.pool.guard import DROPPED_NEGATIVES, Flag, kept_candidates
from swag_af.data.text.lengths import LengthHits
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import characters_apart, tokenize_any
from swag_af.data.text.surface import SurfaceCounts
from swag_af.data.text.wording import comparable, option_key
from swag_af.data.tokens import has_signs
from swag_af.data.vocabulary import Vocabulary

BLOCK_CANDIDATES = 1 << 18
BLOCK_TEXT_BYTES = 1 << 25
"""A block is full when it holds this many candidates, or this much text."""

NO_FOLD = -1
"""The fold of a row that names none, until one is assigned."""

_NONE = ("", None)
"""What an id or a video is that is not given."""

_MAX_START_TOKENS = (1 << 16) - 1  # what the uint16 of `start_lengths` holds


class EmptyRowError(RowError):
    """A row that has no negative, or none left."""


class ShortRowError(RowError):
    """A row that has fewer negatives left than the user asks for."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a pool as text: gold first, then the negatives that passed the guard."""

    context: Context
    candidates: tuple[str, ...]
    features: np.ndarray | None
    """(len(candidates), F) float32, or None."""
    as_given: bool = True
    """Whether the candidates are kept as texts, or made from their tokens again."""


def must_be_kept(texts: Sequence[str]) -> bool:
    """Whether some of the texts cannot be made from their tokens again, which tell neither where characters of scripts
    without blanks were apart, nor how code, formulas and addresses are written."""
    return any(has_signs(text) or characters_apart(text) != text for text in texts)


class RowMaker:
    """Makes rows one by one: checks them, and drops the negatives that the guard rejects.

    With `normalise` all candidates get one surface form before they are compared.
    """

    def __init__(
        self,
        flag: Flag | None = None,
        *,
        normalise: bool = False,
        feature_names: Sequence[str] | None = None,
        min_negatives: int = 1,
    ) -> None:
        self.flag = flag
        self.min_negatives = min_negatives
        self.normalise = normalise
        self.surface = SurfaceCounts()
        """Counts of surface form that separates gold from the negatives that are kept."""
        self.dropped: Counter[str] = Counter()
        """Negatives dropped so far, by reason."""
        self._names = feature_names
        self._n_features: int | None = None

    def make(self, number: int, context: Context, negatives: Sequence[str], features: object = None) -> Row:
        """The row that `context`, its negatives and their features make.

        `features`, if given, is (1 + len(negatives), F), gold first. A context without an id is named by its `number`,
        and one without a video gets a video of its own. Raises RowError; EmptyRowError when no negative is left,
        and ShortRowError when fewer than `min_negatives` are.
        """
        if not is_list(negatives):
            raise RowError(f"has {told(negatives)} for negatives, where a list of texts is due")
        named = replace(context, id=f"row-{number}" if context.id in _NONE else context.id)
        named = replace(named, video=named.id if named.video in _NONE else named.video)
        _check_texts(named, negatives)
        if self.normalise:
            named, negatives = replace(named, gold=normalise(named.gold)), [normalise(text) for text in negatives]
        if not comparable(named.gold):
            raise RowError("has an empty gold ending")
        values = self._checked_features(features, 1 + len(negatives))
        dropped: Counter[str] = Counter()
        kept = kept_candidates(named, negatives, flag=self.flag, dropped=dropped)
        if len(kept) < 2:
            raise EmptyRowError(_why_none(dropped))
        if len(kept) - 1 < self.min_negatives:
            raise ShortRowError(f"has fewer than {self.min_negatives} negatives ({len(kept) - 1})")
        self._n_features = 0 if values is None else values.shape[1]
        self.dropped.update(dropped)
        every = (named.gold, *negatives)
        texts = tuple(every[i] for i in kept)
        is_kept = not self.normalise or must_be_kept(texts)
        self.surface.add(texts if is_kept else [text.lower() for text in texts])  # letter case is not shown
        return Row(named, texts, None if values is None else values[kept], as_given=is_kept)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features: those given, otherwise numbered; none where rows have no features."""
        return tuple(self._names) if self._names is not None else numbered_features(self._n_features or 0)

    def _checked_features(self, features: object, n: int) -> np.ndarray | None:
        """`features` as (n, F) float32, or None; raises RowError when they do not fit names or earlier rows."""
        values = None if features is None else _as_features(features, n)
        width = 0 if values is None else values.shape[1]
        if self._names is not None and width != len(self._names):
            raise RowError(f"has {width} features a candidate, and {len(self._names)} feature names are given")
        if self._n_features not in (None, width):
            raise RowError(f"has {width} features a candidate, and the rows before it have {self._n_features}")
        return values

    def dropped_negatives(self) -> dict[str, int]:
        """A count for every reason of the guard, zeros included."""
        return {reason: self.dropped[reason] for reason in DROPPED_NEGATIVES}


def is_list(given: object) -> bool:
    """Whether `given` holds things one after another, and is no text, whose letters are not meant."""
    return hasattr(given, "__len__") and hasattr(given, "__getitem__") and not isinstance(given, str | bytes | Mapping)


def _check_texts(context: Context, negatives: Sequence[str]) -> None:
    for what, text in (("sent1", context.sent1), ("start", context.start), ("gold", context.gold)):
        _check_text(what, text)
    for what, text in (("id", context.id), ("video", context.video), ("source", context.source)):
        _check_text(what, text)
    if not isinstance(context.fold, Integral) or isinstance(context.fold, bool):
        raise RowError(f"has {told(context.fold)} as fold, where a whole number is due")
    if not NO_FOLD <= context.fold < MOST_FOLDS:
        raise RowError(f"has {context.fold} as fold, where a number from 0, below {MOST_FOLDS:,}, is due")
    _check_media(context.media)
    for i, text in enumerate(negatives):
        _check_text(f"negative {i}", text)


def _check_media(media: object) -> None:
    if not isinstance(media, Mapping):
        raise RowError(f"has {told(media)} as media, where an object of names is due")
    for name, value in media.items():
        try:
            written = json.dumps(value, allow_nan=False, default=plain)
            if strange_number(json.loads(written)):
                raise ValueError
        except (TypeError, ValueError, RecursionError):
            raise RowError(
                f"has media under {told(name)} that JSON cannot hold. Give paths, texts, finite "
                "numbers of up to 64 bits, or lists"
            ) from None


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise RowError(f"has no text under {what}" + ("" if text is None else f", but {told(text)}"))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RowError(f"has half a surrogate pair under {what}, which is no text") from None


def _why_none(dropped: Counter[str]) -> str:
    """Why a row has no negatives, of those that were dropped by reason."""
    if dropped["flagged"]:
        return f"has no negatives that the flag function leaves (it flags {dropped['flagged']})"
    return "has no negatives that differ from gold" if dropped else "has no negatives"


def _as_features(features: object, n: int) -> np.ndarray:
    try:
        given = np.asarray(features)
        if given.dtype.kind == "c":
            raise TypeError
        with np.errstate(over="ignore"):
            values = given.astype(np.float32)
    except (TypeError, ValueError):
        raise RowError("has features that are no table of numbers") from None
    if values.ndim != 2 or len(values) != n or not values.shape[1]:
        raise RowError(f"has features of shape {values.shape} for {n} candidates, where ({n}, F) is due")
    if not np.isfinite(values).all():
        raise RowError("has NaN, infinity or a number beyond float32 among its features")
    return values


@dataclass(frozen=True, slots=True)
class Sizes:
    """The widths that the tables of all shards of a pool share."""

    n_candidates: int = 0
    """`K`, gold included."""
    n_tokens: int = 0
    """`L`, the longest ending."""
    n_start_tokens: int = 0
    """`S`, the longest start."""
    has_texts: bool = False
    """Whether texts of some candidates are kept."""

    def __or__(self, other: "Sizes") -> "Sizes":
        """Wide enough for both."""
        return Sizes(
            max(self.n_candidates, other.n_candidates),
            max(self.n_tokens, other.n_tokens),
            max(self.n_start_tokens, other.n_start_tokens),
            self.has_texts or other.has_texts,
        )


_COLUMNS = {
    "ids": "I",
    "lengths": "I",
    "start_ids": "I",
    "start_lengths": "I",
    "counts": "I",
    "text": "B",
    "text_lengths": "Q",
    "keys": "q",
    "features": "f",
}
"""The flat arrays of a block and their type codes."""


class Block:
    """Consecutive rows as flat arrays, one entry a token, a candidate, a byte or a row."""

    def __init__(self, contexts: list[Context] | None = None, columns: dict[str, Any] | None = None) -> None:
        self.contexts: list[Context] = contexts or []
        self._columns = columns or {name: array(code) for name, code in _COLUMNS.items()}

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def is_full(self) -> bool:
        """Whether the next row belongs to another block."""
        return len(self._columns["lengths"]) >= BLOCK_CANDIDATES or len(self._columns["text"]) >= BLOCK_TEXT_BYTES

    def add(self, row: Row, start: Sequence[int], endings: Sequence[Sequence[int]]) -> None:
        """Append a row whose start and candidates have these token ids."""
        columns = self._columns
        self.contexts.append(row.context)
        columns["start_ids"].extend(start)
        columns["start_lengths"].append(len(start))
        columns["counts"].append(len(endings))
        for text, ids in zip(row.candidates, endings, strict=True):
            columns["ids"].extend(ids)
            columns["lengths"].append(len(ids))
            columns["keys"].append(option_key(text))
            encoded = text.encode() if row.as_given else b""
            columns["text"].frombytes(encoded)
            columns["text_lengths"].append(len(encoded))
        if row.features is not None:
            columns["features"].frombytes(np.ascontiguousarray(row.features, np.float32).tobytes())

    def column(self, name: str) -> np.ndarray:
        """The flat array of this name, not to be changed."""
        return np.frombuffer(self._columns[name], np.dtype(_COLUMNS[name]))

    @property
    def sizes(self) -> Sizes:
        """Wide enough for every row of the block."""
        counts, lengths, starts = (
            int(self.column(name).max(initial=0)) for name in ("counts", "lengths", "start_lengths")
        )
        return Sizes(counts, lengths, starts, has_texts=bool(len(self._columns["text"])))

    def save(self, path: Path) -> None:
        """Write the block to `path`.npz and `path`.jsonl."""
        with replacing(path.with_suffix(".npz")) as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **{name: self.column(name) for name in _COLUMNS})
        write_jsonl(path.with_suffix(".jsonl"), (context.record() for context in self.contexts))

    @classmethod
    def load(cls, path: Path) -> "Block":
        """What `save` wrote."""
        contexts = [Context(**record) for _, record in read_jsonl(path.with_suffix(".jsonl"))]
        return cls(contexts, read_arrays(path.with_suffix(".npz")))

    def tables(
        self, begin: int, end: int, final_ids: np.ndarray, vocabulary: Vocabulary, sizes: Sizes
    ) -> dict[str, np.ndarray]:
        """The tables of rows `begin` to `end`, as `swag_af.data.pool.pool` describes them.

        `final_ids` maps the numbers by first occurrence to ids of `vocabulary`.
        """
        n, K, L, S = end - begin, sizes.n_candidates, sizes.n_tokens, sizes.n_start_tokens
        counts = self.column("counts").astype(np.int64)
        first, last = (int(counts[:at].sum()) for at in (begin, end))  # candidates
        counts = counts[begin:end]
        present = np.arange(K) < counts[:, None]  # (n, K)
        lengths = np.zeros((n, K), np.min_scalar_type(max(L, 1)))
        lengths[present] = self.column("lengths")[first:last]
        start_lengths = self.column("start_lengths")[begin:end]
        return {
            "tokens": _padded(final_ids[self._run("ids", "lengths", first, last)], lengths, L, vocabulary),  # (n, K, L)
            "lengths": lengths,  # (n, K)
            "starts": _padded(
                final_ids[self._run("start_ids", "start_lengths", begin, end)], start_lengths, S, vocabulary
            ),  # (n, S)
            "start_lengths": start_lengths.astype(np.uint16),
            "counts": counts.astype(np.uint32),
            **(self._texts(present, first, last) if sizes.has_texts else {}),
            **self._features(present, first, last),
        }

    def _texts(self, present: np.ndarray, first: int, last: int) -> dict[str, np.ndarray]:
        """`text` and `text_ends` (n, K) of candidates `first` to `last`: empty where no text is kept."""
        lengths = np.zeros(present.shape, np.int64)
        lengths[present] = self.column("text_lengths")[first:last]
        return {
            "text": self._run("text", "text_lengths", first, last),
            "text_ends": np.cumsum(lengths).reshape(present.shape),
        }

    def _features(self, present: np.ndarray, first: int, last: int) -> dict[str, np.ndarray]:
        """`features` (n, K, F) of candidates `first` to `last`, where there are any."""
        if not len(self.column("features")):
            return {}
        features = self.column("features").reshape(len(self.column("lengths")), -1)  # (candidates, F)
        table = np.zeros((*present.shape, features.shape[1]), np.float32)
        table[present] = features[first:last]
        return {"features": table}

    def _run(self, name: str, lengths: str, first: int, last: int) -> np.ndarray:
        """The entries of `name` for items `first` to `last`; `lengths` has the number of entries of each item."""
        sizes = self.column(lengths)
        begin = int(sizes[:first].sum(dtype=np.int64))
        return self.column(name)[begin : begin + int(sizes[first:last].sum(dtype=np.int64))]


def _padded(ids: np.ndarray, lengths: np.ndarray, width: int, vocabulary: Vocabulary) -> np.ndarray:
    """(..., width) the runs of `ids` that `lengths` (...) gives the lengths of, 0 beyond each."""
    table = np.zeros((*lengths.shape, width), vocabulary.id_dtype)
    table[np.arange(width) < lengths[..., None]] = ids
    return table


def fill_blocks(
    rows: Iterable[Row], types: dict[str, int], keep: Callable[[Block], None], lengths: LengthHits
) -> Iterator[list[str]]:
    """Yield the token list of every start and ending, in order, and pass full blocks of them to `keep`.

    `types` is filled with every lower-cased token and its number by first occurrence, `lengths` with those of endings.
    """
    block = Block()
    for row in rows:
        if block.is_full:
            keep(block)
            block = Block()
        sentences = [tokenize_any(text) for text in (row.context.start, *row.candidates)]
        if len(sentences[0]) > _MAX_START_TOKENS:
            raise InputError(f"{row.context.id}: its start has {len(sentences[0]):,} tokens. Put most into sent1.")
        start, *endings = [[types.setdefault(token.lower(), len(types)) for token in tokens] for tokens in sentences]
        block.add(row, start, endings)
        lengths.add([*map(len, row.candidates)], [*map(len, endings)])
        yield from sentences
    if len(block):
        keep(block)


def final_ids(types: dict[str, int], vocabulary: Vocabulary) -> np.ndarray:
    """(number of types,) the id in `vocabulary` of each type, by the number of its first occurrence."""
    return np.array(vocabulary.ids(types), vocabulary.id_dtype)


class Ids:
    """The ids seen so far, in 8 bytes each: finds rows that repeat one."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, id: str) -> None:
        """Note the id of the next row."""
        self._hashes.append(hash(id))

    def repeats(self) -> list[tuple[int, int]]:
        """`(earlier row, later row)` for every row whose id an earlier row has."""
        hashes = np.frombuffer(self._hashes, np.int64)
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        return sorted(((int(order[i]), int(order[i + 1])) for i in same), key=lambda pair: pair[1])
