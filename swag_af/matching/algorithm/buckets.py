"""Folds of whole groups, and within them buckets of like rows: only rows of one bucket get each other's responses.

All pairs of a bucket are scored, so buckets bound the work: 3,000 rows in VCR (Zellers et al. 2019b, appendix C). They
also decide what wrong answers have in common with right ones. Responses with *she* or *her* are kept from those with
*he* or *him*, since a pronoun that fits nobody in the question gives an answer away; questions that begin with another
word are kept apart, since *Yes* is no answer to *why*; so are endings whose verb has another number, since *The man*
does not go on with *are dancing*; what is still too large is parted by what the texts are about.

Letters: `n` rows, `D` numbers a vector.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.errors import InputError, several
from swag_af.data.splits import deal
from swag_af.data.syntax.lemmas import LEMMAS
from swag_af.data.text.wording import last_sentence

Vectors = Callable[[Sequence[str]], np.ndarray]
"""(n, D) a vector for each of n texts."""


@dataclass(frozen=True)
class Buckets:
    """Which rows are matched with each other."""

    numbers: np.ndarray
    """(n,) a bucket for each row, from 0, in the order of the names."""
    names: tuple[str, ...]
    """What each is: `fold 3, female, why, part 2`."""

    def rows(self, bucket: int) -> np.ndarray:
        """The rows of a bucket, ascending."""
        return np.flatnonzero(self.numbers == bucket)


def folds_of_groups(groups: np.ndarray, n_folds: int, *, rng: np.random.Generator) -> np.ndarray:
    """(n,) a fold for each row, whole `groups` (n,) together, sizes as even as groups allow.

    No more folds than groups. Raises InputError for fewer than two folds, or groups: relevance in a fold is learned
    from the others.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if n_folds < 2:
        raise InputError(f"{n_folds} folds: at least 2, since relevance in one fold is learned from the others.")
    if len(groups) < 2:
        raise InputError(f"{several(len(groups), 'row')} with an answer: wrong ones come from other rows. Give more.")
    if n_groups < 2:
        raise InputError(
            f"all {len(groups):,} rows are one group, so they cannot be dealt into folds: relevance in one fold is "
            "learned from the others. They name the same group, or share a question or most of their words: name "
            "another --group-column, or take rows that are nearly the same out."
        )
    return deal(groups, min(n_folds, n_groups), rng=rng)


def buckets_of(
    queries: Sequence[str],
    responses: Sequence[str],
    folds: np.ndarray,
    vectors: Vectors,
    *,
    size: int,
    smallest: int,
    kinds: Sequence[str] | None = None,
) -> Buckets:
    """The buckets of n rows that are in `folds` (n,), none larger than `size`, most of `smallest` rows or more.

    `kinds` (n,) takes the place of pronoun class and question type: rows of different kinds are kept apart. A kind too
    small for a bucket joins the others of its pronoun class (what stands before its first comma), and where those are
    too few the largest other bucket of the fold. `vectors` part what is too large in halves of equal size, along the
    line between the centres of two clusters. The order of rows does not matter, but for rows with equal vectors.
    """
    if size < 2 * smallest:
        raise InputError(f"buckets of {size} rows: at least {2 * smallest}, twice the smallest.")
    named = list(kinds) if kinds is not None else kinds_of(queries, responses)
    labels = np.empty(len(queries), dtype=object)
    for fold in np.unique(folds).tolist():
        rows = np.flatnonzero(folds == fold)
        for name, mine in _joined({row: named[row] for row in rows.tolist()}, smallest).items():
            texts = [f"{queries[row]} {responses[row]}" for row in mine]
            parts = _parted(np.array(mine), texts, vectors, size)
            for number, part in enumerate(parts, start=1):
                labels[part] = f"fold {fold}, {name}" + (f", part {number}" if len(parts) > 1 else "")
    names = sorted(set(labels.tolist()), key=_by_number)
    place = {name: number for number, name in enumerate(names)}
    return Buckets(np.array([place[label] for label in labels.tolist()]), tuple(names))


def kinds_of(queries: Sequence[str], responses: Sequence[str], goes_on: Sequence[bool] | None = None) -> list[str]:
    """`female, why` and so on for each row: the pronouns of its response, and the kind of its question.

    Where a response goes on with a sentence that the query begins, the form of its verb in place of the question.
    """
    flags = goes_on or [False] * len(queries)
    return [
        f"{pronoun_class(response)}, {verb_form(response) if on else question_type(query)}"
        for query, response, on in zip(queries, responses, flags, strict=True)
    ]


def verb_form(text: str) -> str:
    """How the first verb of an ending agrees with its subject: `singular` (is, walks), `plural` (are, walk) or `other`
    (walked, went, walking); adverbs before it do not count."""
    words = re.findall(r"[a-z']+", text.lower())
    first = next((word for word in words if not word.endswith("ly") and word not in _ADVERBS), "")
    if first in _SINGULAR or (first.endswith("s") and not first.endswith(("ss", "'s")) and first not in _PLURAL):
        return "singular"
    is_past = LEMMAS.get(first, first) not in (first, "be", "have", "do")
    if not first or is_past or first in _OTHER or first.endswith(("ed", "ing")):
        return "other"
    return "plural"


_ADVERBS = frozenset({"then", "also", "now", "again", "just", "still", "both", "all", "each", "not", "never", "always"})
_SINGULAR = frozenset({"is", "was", "has", "does", "'s"})
_PLURAL = frozenset({"focus", "discuss"})
_OTHER = frozenset({"will", "would", "can", "could", "may", "might", "must", "should", "had", "did", "been", "began"})


def pronoun_class(text: str) -> str:
    """`female` or `male` where `text` has pronouns of one of the two alone, `both`, or `neutral`."""
    female, male = (pattern.search(text) is not None for pattern in (_FEMALE, _MALE))
    return "both" if female and male else "female" if female else "male" if male else "neutral"


def question_type(text: str) -> str:
    """The word that makes the last sentence of `text` a question: `why`, `what` ..., `yes or no`, or `statement`."""
    last = last_sentence(text)
    words = [_CLITIC.sub("", word) for word in re.findall(r"[a-z']+", last.lower().replace("’", "'"))]
    is_question = last.rstrip(" \"')”’").endswith("?")
    asked = [word for word in words if word in _ASKING]
    if words[:1] and words[0] in _AUXILIARIES:
        return "yes or no"
    if asked and (is_question or words[0] in _ASKING):
        return {"whom": "who", "whose": "who"}.get(asked[0], asked[0])
    return "yes or no" if is_question else "statement"


_FEMALE = re.compile(r"\b(?:she|her|hers|herself)\b", re.IGNORECASE)
_MALE = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
_CLITIC = re.compile(r"'(?:s|re|d|ll|ve|m)?$")
_ASKING = ("why", "what", "who", "whom", "whose", "how", "where", "when", "which")
_AUXILIARIES = frozenset(
    (
        *("is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would"),
        *("shall", "should", "may", "might", "must", "isn't", "aren't", "wasn't", "weren't", "don't", "doesn't"),
        *("didn't", "hasn't", "haven't", "hadn't", "can't", "couldn't", "won't", "wouldn't", "shouldn't"),
    )
)


def _joined(kind_of: dict[int, str], smallest: int) -> dict[str, list[int]]:
    """The rows of each kind, those of small kinds joined to others."""
    rows: dict[str, list[int]] = {}
    for row, kind in kind_of.items():
        rows.setdefault(kind, []).append(row)
    for kind in _small(rows, smallest):  # first to others of the same pronoun class
        mine = rows.pop(kind)
        rows.setdefault(f"{kind.partition(',')[0]}, other", []).extend(mine)
    for kind in _small(rows, smallest):
        same = [name for name in rows if name != kind and name.partition(",")[0] == kind.partition(",")[0]]
        others = same or [name for name in rows if name != kind]
        if others:
            rows[max(others, key=lambda name: (len(rows[name]), name))] += rows.pop(kind)
    return {kind: sorted(rows[kind]) for kind in sorted(rows)}


def _small(rows: dict[str, list[int]], smallest: int) -> list[str]:
    """The kinds with too few rows, the fewest first."""
    return sorted((kind for kind in rows if len(rows[kind]) < smallest), key=lambda kind: (len(rows[kind]), kind))


def _parted(rows: np.ndarray, texts: Sequence[str], vectors: Vectors, size: int) -> list[np.ndarray]:
    """`rows` in parts of at most `size`, sizes as even as halving makes them."""
    if len(rows) <= size:
        return [rows]
    return [rows[part] for part in _halved(np.arange(len(rows)), vectors(texts), size)]


def _halved(index: np.ndarray, table: np.ndarray, size: int) -> list[np.ndarray]:
    """The rows `index` of `table` (n, D) in parts of like vectors: halves of halves until none exceeds `size`."""
    if len(index) <= size:
        return [index]
    along = table[index] @ _between_centres(table[index])
    order = index[np.argsort(along, kind="stable")]
    half = len(order) // 2
    return [part for side in (order[:half], order[half:]) for part in _halved(np.sort(side), table, size)]


def _between_centres(table: np.ndarray) -> np.ndarray:
    """(D,) from one centre to the other of the two clusters of k-means in `table` (n, D)."""
    from sklearn.cluster import KMeans

    if not np.ptp(table, axis=0).any():
        return np.zeros(table.shape[1])

    first, second = KMeans(2, n_init=3, random_state=0).fit(table).cluster_centers_
    return np.asarray(second - first)


def _by_number(name: str) -> tuple[object, ...]:
    """Fold 10 after fold 9."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def sizes_said(buckets: Buckets) -> str:
    """`9 buckets of 2,812 to 2,999 rows`; `4 buckets of 250 rows` where all are as large."""
    sizes = Counter(buckets.numbers.tolist()).values()
    least = f"{min(sizes):,} to " if min(sizes) < max(sizes) else ""
    return f"{several(len(buckets.names), 'bucket')} of {least}{several(max(sizes), 'row')}"
