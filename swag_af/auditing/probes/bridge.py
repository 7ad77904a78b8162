"""Filters as models: the options of a set as a pool, in an order that has no label in it.

A filter is fitted on views whose column 0 is gold, and gives each candidate a score that its column does not change
(`swag_af.filters.contract`). So the pool has the options in the order of the set, gold stands first only in the views
of fitted rows, and rows are scored in the order of the set. A filter sees what an input has: behind `options` a
context without sentence and start.

Classes take a filter that has `fit_classes` and `score_classes`, as those of `swag_af.filters.pairs` do.

A pool has no text twice in a row, and no blank one: options with the same words (`comparable`) share a candidate, and
so a score; blank ones become a full stop. Rows with fewer options than the longest have some of them twice in a view.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.probes.inputs import Reading
from swag_af.auditing.probes.models import Scorer, answers_of, label_scores
from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.plugins.own_code import blaming
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text.wording import comparable
from swag_af.filters.contract import ClassFilter, Filter, class_logits, fit_filter, score_questions
from swag_af.filters.prepare import prepare

_BLANK = "."


class FilterScorer:
    """A filter that is ready for one input of one set of choices."""

    def __init__(self, filter: Filter, reading: Reading, groups: np.ndarray):
        """`groups` (N,) are kept together by filters that hold rows aside to stop by.

        Raises InputError for a filter that cannot be used.
        """
        self.offsets = reading.texts.offsets
        self.candidates = _distinct(reading)
        self.rows = np.flatnonzero(self.candidates.counts > 1)  # those that a pool can have
        self.pool = _pool(reading, self.candidates, self.rows, groups, tagger="auto" if _reads_tags(filter) else "none")
        (self.filter,) = prepare([filter], self.pool)

    def fit_score(
        self, fitted: np.ndarray, answers: np.ndarray, scored: np.ndarray, *, rng: np.random.Generator
    ) -> np.ndarray:
        """As `Scorer` says; options of a row that are all the same have 0."""
        usable = np.isin(fitted, self.rows)
        rows, gold = fitted[usable], self.candidates.of_option[self.offsets[:-1][fitted] + answers][usable]
        view = self.pool.view(np.searchsorted(self.rows, rows), self._gold_first(rows, gold))
        fit_filter(self.filter, view, rng=rng)
        scores = np.zeros(int(self.offsets[-1]))
        mine = scored[np.isin(scored, self.rows)]
        if len(mine):
            columns = np.arange(self.width) % self.candidates.counts[mine][:, None]  # (n, K)
            of_candidate = score_questions(self.filter, self.pool.view(np.searchsorted(self.rows, mine), columns))
            at = answers_of(mine, self.offsets)
            of_row = np.repeat(np.arange(len(mine)), np.diff(self.offsets)[mine])
            scores[at] = of_candidate[of_row, self.candidates.of_option[at]]
        return scores[answers_of(scored, self.offsets)]

    @property
    def width(self) -> int:
        """Candidates of the longest row."""
        return int(self.candidates.counts.max())

    def _gold_first(self, rows: np.ndarray, gold: np.ndarray) -> np.ndarray:
        """(n, K) columns of `rows`: `gold` (n,), then the others in order, over and over."""
        counts = self.candidates.counts[rows][:, None]  # (n, 1)
        others = (gold[:, None] + 1 + np.arange(self.width - 1) % (counts - 1)) % counts
        return np.concatenate([gold[:, None], others], axis=1)


class ClassScorer:
    """A filter that is ready for one input of one set of classes: contexts on one side, texts on the other."""

    def __init__(self, filter: Filter, reading: Reading, groups: np.ndarray):
        """As `FilterScorer`; raises InputError for a filter that cannot be used."""
        assert isinstance(filter, ClassFilter)
        with blaming(filter, "check"):
            getattr(filter, "check", lambda: None)()
        self.filter: ClassFilter = filter
        self.groups, self.n_labels = groups, int(reading.texts.offsets[1])
        pieces, strings = reading.pieces.tolist(), reading.strings
        self.firsts = [strings[context] for context, _, _ in pieces]
        self.seconds = [f"{strings[start]} {strings[option]}".strip() for _, start, option in pieces]

    def fit_score(
        self, fitted: np.ndarray, answers: np.ndarray, scored: np.ndarray, *, rng: np.random.Generator
    ) -> np.ndarray:
        """As `Scorer` says; a class that no fitted text has is never named."""
        with blaming(self.filter, "fit_classes"):
            self.filter.fit_classes(*self._sides(fitted), answers, self.n_labels, self.groups[fitted], rng=rng)
        with blaming(self.filter, "score_classes"):
            given = self.filter.score_classes(*self._sides(scored))
        scores = label_scores(given, (len(scored), self.n_labels), f"{type(self.filter).__name__}.score_classes")
        found = np.unique(answers)
        return class_logits(scores[:, found], found, self.n_labels).ravel()

    def _sides(self, rows: np.ndarray) -> tuple[list[str], list[str]]:
        return [self.firsts[row] for row in rows], [self.seconds[row] for row in rows]


def scorer_of(filter: Filter, reading: Reading, groups: np.ndarray) -> Scorer:
    """`filter` ready for `reading`; raises InputError for one that cannot be used, or cannot read it."""
    check_reads(filter, reading.texts.kind)
    made = ClassScorer if reading.texts.kind == "classes" else FilterScorer
    return made(filter, reading, groups)


def check_reads(filter: Filter, kind: str) -> None:
    """Raise InputError for a filter that can read no input of instances of this `kind`: one that needs tables which
    plain texts do not have, or tells no classes apart where there are classes."""
    if kind == "classes":
        if not isinstance(filter, ClassFilter):
            raise InputError(f"filter {filter.name} tells options of a question apart; classes have none. Use tfidf.")
    elif "features" in getattr(filter, "requires", ()):
        raise InputError(
            f"filter {filter.name} reads the features of a language model, which texts alone do not have. Audit a run "
            "of a pool with features, or choose a filter that reads words."
        )


def _reads_tags(filter: Filter) -> bool:
    return "tags" in getattr(filter, "requires", ())


@dataclass(frozen=True)
class _Candidates:
    """The options of every row that differ in their words."""

    texts: Sequence[Sequence[str]]
    """(N,) lists of them, in the order of the set."""
    counts: np.ndarray
    """(N,) how many there are."""
    of_option: np.ndarray
    """(M,) which of its row's candidates each option is."""


def _distinct(reading: Reading) -> _Candidates:
    offsets, options = reading.texts.offsets, reading.pieces[:, 2].tolist()
    texts, of_option = [], np.zeros(len(options), np.int64)
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        first: dict[str, tuple[int, str]] = {}
        for at in range(begin, end):
            text = reading.strings[options[at]]
            key = comparable(text) or _BLANK
            of_option[at], _ = first.setdefault(key, (len(first), text if comparable(text) else _BLANK))
        texts.append([text for _, text in first.values()])
    return _Candidates(texts, np.array([len(row) for row in texts]), of_option)


def _pool(
    reading: Reading, candidates: _Candidates, rows: np.ndarray, groups: np.ndarray, *, tagger: str
) -> CandidatePool:
    """The pool of `rows`: the first candidate stands where gold does in other pools, and means nothing."""
    if not len(rows):
        raise InputError("no question has two options that differ. A filter has nothing to tell apart.")
    first, strings = reading.texts.offsets[:-1], reading.strings
    contexts = []
    for row in rows.tolist():
        context, start, _ = reading.pieces[first[row]]
        contexts.append(Context(strings[context], strings[start], candidates.texts[row][0], video=f"{groups[row]}"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # surface form that tells column 0 apart is no finding here
        return CandidatePool.from_texts(contexts, [candidates.texts[row][1:] for row in rows], tagger=tagger)
