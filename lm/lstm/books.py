"""Plain-text books as pairs of consecutive sentences in the vocabulary of the captions, for pretraining.

Zellers et al. 2018 (A.2) pretrain on such pairs for two epochs. A book is UTF-8 text, paragraphs between blank lines,
lines wrapped or not; Project Gutenberg's header and licence are cut off. Sentences are split by NLTK's Punkt,
which learns the abbreviations from the books themselves. This module does not train the model.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from swag_af.data.disk.files import read_text
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.display.terminal import is_utf8
from swag_af.data.errors import ExhaustedError, InputError, check_faults
from swag_af.data.tokens import normalise_blanks, tokenize
from swag_af.data.vocabulary import UNK, Vocabulary
from swag_af.lm.lstm.corpus import FoldCorpus

SHORTEST, LONGEST = 3, 60
"""Tokens of a sentence that is learnt from: shorter ones are cries and remnants, longer ones are rare in captions and
make batches that cost as much as they hold."""

MOST_UNKNOWN = 0.25
"""Pairs with a larger share of tokens outside the captions' vocabulary are left out: what they teach is mostly to
predict the unknown word, which is never sampled. `features` warns of pools with a larger share: models of all
of ActivityNet do not know 2 to 4 % of the tokens of SWAG, SNLI and HellaSwag, 23 % of MNLI's, and all of another
language's."""

RUN = 100
"""Whole runs of so many pairs are held out: neighbouring pairs share a sentence."""

TITLES = frozenset(
    {"capt", "col", "dr", "esq", "gen", "hon", "lt", "messrs", "mme", "mr", "mrs", "ms", "prof", "rev", "st"}
)
"""Abbreviations that a short book may be too short to learn."""

_START = re.compile(r"^\s*\*\*\*\s*START OF (?:THE|THIS) PROJECT GUTENBERG.*?$", re.MULTILINE)
_END = re.compile(r"^\s*\*\*\*\s*END OF (?:THE|THIS) PROJECT GUTENBERG.*?$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
_HYPHEN = re.compile(r"(?<=\w)-[ \t]*\n(?=\w)")
_SHOUTING_LINE = re.compile(r"^[^a-z\n]*[A-Z][^a-z\n]*[A-Z][^a-z\n]*$", re.MULTILINE)
_CHAPTER = re.compile(r"(chapter|book|part|volume|canto|act|scene)\s+([ivxlcdm]+|\d+)\b", re.IGNORECASE)
_HEADING_WORDS = 10
_TYPESETTING = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "_": None, "\ufeff": None})
"""Captions are typed with straight quotes; underscores are how plain text marks italics."""


@dataclass(frozen=True)
class Books:
    """The pairs of every book in order, and what was left out of how many."""

    pairs: list[list[tuple[int, ...]]]
    drops: dict[str, int]
    """Pairs left out by reason; `kept` and `pairs` beside them."""


def find_books(paths: Sequence[Path]) -> list[Path]:
    """The files meant: files as they are, the `.txt` files of folders. Every fault at once, before any is read."""
    found: list[Path] = []
    faults = []
    for path in paths:
        inside = sorted(path.glob("*.txt")) if path.is_dir() else [path]
        faults += [
            (not path.exists(), f"--pretrain {path}: no such file or folder"),
            (path.is_dir() and not inside, f"--pretrain {path}: no .txt files in this folder"),
        ]
        found += inside
    check_faults(faults)
    check_faults((not path.is_file(), f"--pretrain {path}: a folder, a pipe or a device, not a file") for path in found)
    names = Counter(path.name for path in found)
    check_faults((not is_utf8(name), f"--pretrain {name!a}: this name is not UTF-8") for name in names)
    check_faults((n > 1, f"--pretrain {name}: {n} books of this name; each needs its own") for name, n in names.items())
    return found


def book_hashes(books: Sequence[Path]) -> dict[str, str]:
    """Name to hex SHA-256 of the bytes, sorted by name, whatever folder they lie in and however they were given."""
    return {path.name: sha256_file(path) for path in sorted(books, key=lambda path: path.name)}


def read_books(books: Sequence[Path], vocabulary: Vocabulary) -> Books:
    """Every pair of consecutive sentences of `books`, as ids of `vocabulary`, sorted by name of book.

    Sentences are consecutive across paragraphs, as captions are, but not across headings. Raises InputError for a
    book that is empty or not UTF-8, ExhaustedError when no pair is left.
    """
    chapters = [list(_chapters(_text(path))) for path in sorted(books, key=lambda path: path.name)]
    split = _sentence_splitter([paragraph for book in chapters for chapter in book for paragraph in chapter])
    drops = Counter[str](pairs=0, kept=0)
    pairs = []
    for book in chapters:
        kept: list[tuple[int, ...]] = []
        for chapter in book:
            sentences = [vocabulary.ids(tokenize(s)) for paragraph in chapter for s in split(paragraph)]
            for first, second in pairwise(sentences):
                reason = _unfit(first, second)
                drops["pairs"] += 1
                drops[reason or "kept"] += 1
                if reason is None:
                    kept.append((*first, *second))
        pairs.append(kept)
    if not drops["kept"]:
        why = ", ".join(f"{n} {reason}" for reason, n in drops.items() if reason not in ("pairs", "kept"))
        raise ExhaustedError(
            f"--pretrain: no pair of sentences to learn from in {len(books)} books ({why or 'no two sentences'}). "
            "Give longer books, in the language of the captions."
        )
    return Books(pairs, dict(drops))


def books_corpus(books: Books, held_out: float, *, rng: np.random.Generator) -> FoldCorpus:
    """The pairs to learn from and, in whole runs, those held out; there is no fold."""
    runs = [book[at : at + RUN] for book in books.pairs for at in range(0, len(book), RUN)]
    if len(runs) < 2:  # a very short book: half of it
        runs = [run[at:to] for run in runs for at, to in ((0, len(run) // 2), (len(run) // 2, len(run)))]
    n_out = min(len(runs) - 1, max(1, round(held_out * len(runs))))
    out = set(rng.permutation(len(runs))[:n_out].tolist())
    train = [pair for i, run in enumerate(runs) if i not in out for pair in run]
    held = [pair for i, run in enumerate(runs) if i in out for pair in run]
    if not train or not held:
        raise ExhaustedError("--pretrain: one pair of sentences is not enough to learn from. Give longer books.")
    return FoldCorpus(train, held, [])


def _text(path: Path) -> str:
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path}: empty. Leave it out of --pretrain.")
    begin, end = _START.search(text), _END.search(text)
    text = text[begin.end() if begin else 0 : end.start() if end else len(text)]
    return _HYPHEN.sub("-", text.translate(_TYPESETTING))


def _chapters(text: str) -> Iterator[list[str]]:
    """Lists of paragraphs that follow each other with no heading between them."""
    chapter: list[str] = []
    for paragraph in _paragraphs(text):
        if not _is_heading(paragraph):
            chapter.append(paragraph)
        elif chapter:
            yield chapter
            chapter = []
    if chapter:
        yield chapter


def _paragraphs(text: str) -> Iterator[str]:
    """Blocks between blank lines, each on one line; a block that a blank line has cut in mid-sentence is joined."""
    begun = ""
    for block in _BLANK_LINES.split(_SHOUTING_LINE.sub(r"\n\n\g<0>\n\n", text)):
        paragraph = normalise_blanks(block)
        if begun and paragraph[:1].islower() and (begun[-1].isalnum() or begun[-1] in ",;"):
            begun = f"{begun} {paragraph}"
            continue
        if begun:
            yield begun
        begun = paragraph
    if begun:
        yield begun


def _is_heading(paragraph: str) -> bool:
    """Chapter headings, shouting, ornaments, and short lines that end without any punctuation."""
    if not any(letter.islower() for letter in paragraph):
        return True
    short = len(paragraph.split()) <= _HEADING_WORDS
    return short and (paragraph[-1].isalnum() or _CHAPTER.match(paragraph) is not None)


def _sentence_splitter(paragraphs: Sequence[str]) -> Callable[[str], list[str]]:
    """A function from a paragraph to its sentences, by Punkt trained on all of them (Kiss and Strunk 2006)."""
    from nltk.tokenize.punkt import PunktSentenceTokenizer, PunktTrainer

    trainer = PunktTrainer()
    trainer.train("\n\n".join(paragraphs), finalize=True)
    learnt = trainer.get_params()
    learnt.abbrev_types |= TITLES
    tokenizer = PunktSentenceTokenizer(learnt)
    return lambda paragraph: list(tokenizer.tokenize(paragraph))


def _unfit(first: Sequence[int], second: Sequence[int]) -> str | None:
    lengths = len(first), len(second)
    if min(lengths) < SHORTEST:
        return "short_sentence"
    if max(lengths) > LONGEST:
        return "long_sentence"
    if (first.count(UNK) + second.count(UNK)) / sum(lengths) > MOST_UNKNOWN:
        return "unknown_words"
    return None
