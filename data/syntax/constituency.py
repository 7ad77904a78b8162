"""Constituency trees of tokenised sentences by the Berkeley Neural Parser (benepar; Kitaev et al. 2019).

A model is a name (`benepar_en3`, downloaded by benepar) or the path of a model of your own. The tokens of this package
become the leaves of the tree. `splitters` finds the split in a tree.
"""

import contextlib
import importlib.util
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from swag_af.data.errors import InputError, in_one_line
from swag_af.data.extras import install

BENEPAR_MODEL = "benepar_en3"
"""The model of a splitter called `benepar` without a model name."""

MAX_TOKENS = 200
"""Longer sentences are not parsed: the memory of a chart grows with the square of the sentence, and contexts have at
most 100 tokens."""

_CELLS = 64 * 40**2
"""Chart cells parsed at once: 64 sentences of 40 tokens."""


def has_benepar() -> bool:
    """Whether benepar is installed and its usual model available, found without importing either."""
    if any(importlib.util.find_spec(module) is None for module in ("benepar", "transformers")):
        return False
    return _at_hand(BENEPAR_MODEL)


@lru_cache(maxsize=1)
def load_benepar(model: str = BENEPAR_MODEL) -> Any:
    """The parser called `model`, or at that path; InputError with the command that installs or downloads it."""
    with _quiet():
        try:
            import benepar
        except ImportError as error:
            raise InputError(f"benepar cannot be imported ({error}). Install it with: {install('benepar')}") from error
        if not _at_hand(model):
            if os.sep in model or "." in model:
                raise InputError(f"{model}: no benepar model stands there. Check the path.")
            raise InputError(
                f"{model}: this benepar model is not on this machine. Download it with: "
                f"python -c \"import benepar; benepar.download('{model}')\""
            )
        try:
            return benepar.Parser(model)
        except Exception as error:
            raise InputError(
                f"{model}: benepar cannot load this model ({type(error).__name__}: {in_one_line(error)}). benepar 0.2 "
                f"wants transformers below 5: {install('benepar')}; else download or train the model again."
            ) from error


def parse(parser: Any, sentences: Sequence[Sequence[str]], spaced: Sequence[Sequence[bool]]) -> list[Any]:
    """An `nltk.Tree` for each sentence, in order; None for sentences without tokens or with more than `MAX_TOKENS`.

    `spaced` says for every token whether a blank follows it. InputError when the parser fails.
    """
    from benepar import InputSentence

    trees: list[Any] = [None] * len(sentences)
    inputs = [
        InputSentence(words=[_TYPED.get(word, word) for word in words], space_after=list(blanks))
        for words, blanks in zip(sentences, spaced, strict=True)
    ]
    for batch in _batches([len(words) for words in sentences]):
        with _quiet():
            try:
                made = list(parser.parse_sents([inputs[i] for i in batch]))
            except Exception as error:
                first = " ".join(sentences[batch[0]])
                raise InputError(
                    f"benepar failed on a batch that begins with {first[:80]!r} ({type(error).__name__}: "
                    f"{in_one_line(error)}). Leave that sentence out, or split with rules."
                ) from error
        for i, tree in zip(batch, made, strict=True):
            trees[i] = tree
    return trees


_TYPED = {
    "`": "'",
    "«": '"',
    "»": '"',
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "‹": "'",
    "›": "'",
    "—": "--",
    "``": '"',
    "''": '"',
}
"""Typographic marks in the spelling of the treebanks that the models were trained on."""


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of the sentences that can be parsed, those of similar length together, at most `_CELLS` chart cells
    each."""
    batch: list[int] = []
    for i in sorted((i for i, n in enumerate(lengths) if 0 < n <= MAX_TOKENS), key=lambda i: (lengths[i], i)):
        if len(batch) == 256 or (batch and (len(batch) + 1) * lengths[i] ** 2 > _CELLS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _at_hand(model: str) -> bool:
    if os.path.exists(model):
        return True
    if os.sep in model or "." in model:
        return False
    import nltk.data

    try:
        nltk.data.find(f"models/{model}")
    except LookupError:
        return False
    return True


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide the warnings and prints of benepar's libraries, which a user can do nothing about."""
    logger = logging.getLogger("transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
