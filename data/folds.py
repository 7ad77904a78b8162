"""Which fold's language model has not read a context: a map from videos and sentences to folds, stored with the models.

    lms/folds.json    {"videos": {NAME: fold}, "sentences": {KEY: [fold, ...]}}

The model of a fold learns from the pairs of all other folds. So it has read all of their sentences, and a sentence that
occurs in two folds has been read by every model. Code that lets a model read a context asks here which model may: the
fold number of a file made elsewhere says nothing. Whole sentences are compared, by their letters and digits; not books
that models were pretrained on, and not endings that were learnt after another beginning.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import read_manifest, sha256_file
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import FormatError, InputError
from swag_af.data.text.wording import open_end, sentence_keys

FOLDS = "folds.json"
MOST_FOLDS = 1_000_000
"""Fold numbers are below this: larger ones are mistakes."""
SEEN = -1
"""In place of a fold: every model has read the ending."""


@dataclass(frozen=True)
class Readable:
    """Which fold's model may read each context."""

    folds: np.ndarray
    """(n,) fold numbers; SEEN where no model may."""
    n_foreign: int
    """Number of contexts of which the models have read neither video nor second sentence: any model may read them."""


@dataclass(frozen=True)
class FoldMap:
    """The folds of everything that the models of a folder were trained on."""

    videos: Mapping[str, int]
    sentences: Mapping[str, tuple[int, ...]]
    """By key: the folds that a sentence occurs in, as the first or the second of a pair."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, Sequence[str], int]]) -> "FoldMap":
        """The map of `(video, sentences, fold)` triples; a blank video stands for none. Raises InputError when a video
        stands in two folds."""
        videos: dict[str, int] = {}
        sentences: defaultdict[str, set[int]] = defaultdict(set)
        for video, texts, fold in pairs:
            if video:
                check_one_fold(video, videos.setdefault(video, fold), fold)
            for key in (key for text in texts for key in _keys(text)):
                sentences[key].add(fold)
        return cls(videos, {key: tuple(sorted(folds)) for key, folds in sentences.items()})

    @classmethod
    def load(cls, lms: Path) -> "FoldMap":
        """The map of the models in folder `lms`; FormatError where there is none, or not the one that training began
        with."""
        path, manifest = lms / FOLDS, read_manifest(lms, "lm")
        if not path.is_file() or manifest.get("folds_sha256") != sha256_file(path):
            raise FormatError(
                f"{path}: missing or changed, so nothing says what these models have read. Run the `swag-af train-lm` "
                "that made them again: it writes the file, and trains nothing that is trained."
            )
        found = parse_record(read_json(path), cls, path, "Run the `swag-af train-lm` that made it again.")
        return cls(found.videos, {key: tuple(folds) for key, folds in found.sentences.items()})

    def save(self, lms: Path) -> str:
        """Write `folds.json` into the folder of the models; returns its hash."""
        write_json(lms / FOLDS, {"videos": dict(sorted(self.videos.items())), "sentences": self.sentences})
        return sha256_file(lms / FOLDS)

    def folds_of(self, context: Context) -> tuple[int, ...]:
        """The folds that the video and the second sentence of `context` occur in.

        None: no model has read it. One: that fold's model has not read it. More: every model has. The second sentence
        begins where the first one ends, whichever field that is in, or where start and ending do: a first sentence need
        have no mark at its end. Where it is several sentences, each counts. A video counts that somebody named. One
        that is called as the context may be none, and its fold another than that of the texts: where the first sentence
        is of other folds, these count too, so that no model reads what it may have learnt.
        """
        second = context.sentences[1]
        keys = {*_keys(f"{open_end(context.sent1)} {second}"), *_keys(second)}
        known = self._folds_with(keys)
        fold = self.videos.get(context.likely_video)
        if fold is not None:
            first = self._folds_with(_keys(context.sent1)) if context.video == context.id else set()
            known |= {fold} if fold in first else {fold, *first}
        return tuple(sorted(known))

    def has_read(self, context: Context) -> bool:
        """Whether the model of the context's own `fold` has learnt its video or its second sentence."""
        return self.folds_of(context) not in ((), (context.fold,))

    def _folds_with(self, keys: Iterable[str]) -> set[int]:
        """The folds in which some of the sentences with these keys occur."""
        return {fold for key in keys for fold in self.sentences.get(key, ())}

    def readable(self, contexts: Sequence[Context], trained: Sequence[int]) -> Readable:
        """Which of the `trained` folds' models may read each of `contexts`.

        A context that no model has read gets the model of the fold in which its first sentence occurs, if that is one
        fold; otherwise that of its own `fold`, and where that is not trained, the first.
        """
        folds, n_foreign = np.full(len(contexts), SEEN), 0
        for i, context in enumerate(contexts):
            known = self.folds_of(context)
            if not known:
                n_foreign += 1
                first = self._folds_with(_keys(context.sent1))
                likely = first if len(first) == 1 else set()
                folds[i] = next(f for f in (*likely, context.fold, trained[0]) if f in trained)
            elif len(known) == 1:
                folds[i] = known[0]
        return Readable(folds, n_foreign)


def check_one_fold(video: str, first: int, fold: int) -> None:
    """Raise InputError for a context of `video` in another `fold` than the `first` that it was found in."""
    if fold != first:
        raise InputError(
            f"video {video}: in folds {first} and {fold}, so a model would read the endings it is to compete with. "
            "Give all its contexts one fold."
        )


def _keys(text: str) -> list[str]:
    """The keys of a text and of its sentences, as `folds.json` stores them."""
    return [f"{key & (1 << 64) - 1:016x}" for key in sentence_keys(text)]
