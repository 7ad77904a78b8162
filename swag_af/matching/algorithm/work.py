"""Folds and buckets one after another: relevance learned on the other folds, all pairs of a bucket scored, matched.

What is done is kept in a folder at once, so a killed run goes on after its last round; with `--top` after its last
bucket, for what the rounds before cost is known once they are made again:

    weight-0.1/bucket-0003/round-1.npy    (b,) the row whose response each row of the bucket got
    weight-0.1/bucket-0003/scores.npy     (b, 3 + 2 rounds) relevance of the right response and of each round's, how
                                          similar each round's is to the right one, how often relevance prefers the
                                          right one to any other of the bucket, and the loss; written last

Letters: `n` rows, `b` rows of a bucket, `R` rounds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_array, write_array
from swag_af.data.disk.replacing import remove_leftovers
from swag_af.data.display.brief import brief
from swag_af.data.engines.options import Workers
from swag_af.data.errors import ContractError, FormatError, InputError, several, told
from swag_af.data.plugins.own_code import load_function
from swag_af.data.scale import run_blocks
from swag_af.data.splits import numbered
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import Advance
from swag_af.matching.algorithm.buckets import Buckets, buckets_of, folds_of_groups, kinds_of
from swag_af.matching.algorithm.rounds import InfeasibleError, match_rounds
from swag_af.matching.contract import RELEVANCE, SIMILARITY, Relevance, Similarity
from swag_af.matching.models.relevance import Weights
from swag_af.matching.models.weights import Worth
from swag_af.matching.options import AUTO, MatchingOptions
from swag_af.matching.own import call, call_method, scores_of
from swag_af.matching.rows.items import Items

NONE = "none"


@dataclass(frozen=True)
class Plan:
    """Which rows are matched with which, and what learns from which."""

    folds: np.ndarray
    """(n,)"""
    buckets: Buckets

    def n_pairs(self) -> int:
        """How many pairs of query and response are scored."""
        return int((np.bincount(self.buckets.numbers).astype(np.int64) ** 2).sum())


@dataclass(frozen=True)
class Models:
    """What relevance and similarity are asked of."""

    relevance: Callable[[], Relevance]
    """Makes a new model for each fold."""
    similarity: Similarity

    @staticmethod
    def of(options: MatchingOptions) -> "Models":
        """Those that `options` name."""
        return Models(lambda: RELEVANCE.make(options.relevance), SIMILARITY.make(options.similarity))


@brief
@dataclass(frozen=True)
class Outcome:
    """What every query got."""

    assigned: np.ndarray
    """(n, R) the rows whose responses it got, in the order of the rounds."""
    relevance: np.ndarray
    """(n, 1 + R) float32 how probable its own response and each of those is as an answer to it."""
    similarity: np.ndarray
    """(n, R) float32 how probable it is that each of those means the same as its own."""
    preferred: np.ndarray
    """(n,) float32 how often its own response is more probable than another text of its bucket, ties half; 0 to 1."""
    loss: float
    """How much worth was lost at most where not all pairs were matched; 0 where all were."""


def plan_of(
    items: Items, options: MatchingOptions, *, folds: np.ndarray | None = None, models: Models | None = None
) -> Plan:
    """Folds and buckets of `items`; `folds` (n,) where they have been dealt already, `models` where they are not those
    that the options name.

    Raises InputError, for all buckets together, where a text is too common in one, and where a fold leaves too few rows
    to learn relevance from.
    """
    models = models or Models.of(options)
    if folds is None:
        folds = folds_of_groups(items.groups, options.folds, rng=np.random.default_rng((options.seed, *b"folds")))
    buckets = _buckets(items, folds, options)
    _check_feasible(items, Plan(folds, buckets), options, _same(items, models.similarity))
    _check_learnable(items, folds, models.relevance())
    return Plan(folds, buckets)


def _buckets(items: Items, folds: np.ndarray, options: MatchingOptions) -> Buckets:
    return buckets_of(
        items.queries,
        items.responses,
        folds,
        _vectors,
        size=options.bucket_size,
        smallest=options.smallest_bucket,
        kinds=_kinds(items, options.buckets),
    )


def _kinds(items: Items, named: str) -> Sequence[str]:
    """A word for each row that keeps it apart from rows with others."""
    if named == AUTO:
        return kinds_of(items.queries, items.responses, [bool(item.context.start) for item in items.rows])
    if named == NONE:
        return [NONE] * len(items)
    given: object = call(load_function("--buckets", named), f"--buckets {named}", items.queries, items.responses)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise ContractError(f"--buckets {named}: it gave {told(given)}, where a word for each row is due.")
    made = list(given)
    if len(made) != len(items):
        raise InputError(f"--buckets {named}: {len(made)} words for {len(items)} rows.")
    return list(map(str, made))


def _vectors(texts: Sequence[str]) -> np.ndarray:
    """(n, D) tf-idf of words, reduced to 50 numbers (latent semantic analysis), of length 1."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    table = Weights.of(texts).table(texts)
    if min(table.shape) <= _DIMENSIONS:
        return np.asarray(table.toarray())
    return np.asarray(normalize(TruncatedSVD(_DIMENSIONS, random_state=0).fit_transform(table)))


_DIMENSIONS = 50


def _check_feasible(items: Items, plan: Plan, options: MatchingOptions, same: tuple[np.ndarray, ...]) -> None:
    """Raise InputError where a bucket has too few rows, or too many with the same text, by numbers of texts (n,)."""
    buckets, n_rounds = plan.buckets, options.n_distractors
    sizes, needs = np.bincount(buckets.numbers), "needs" if n_rounds == 1 else "need"
    if sizes.min() <= n_rounds:
        raise InputError(
            f"{items.name}: {several(n_rounds, 'wrong answer')} of each question {needs} {n_rounds + 1} rows or more "
            f"that are matched with each other, and {buckets.names[int(sizes.argmin())]} has {sizes.min():,}. Ask for "
            "fewer --n-distractors or --folds, or for a larger --smallest-bucket."
        )
    faults = _too_common(items, buckets, n_rounds, same)
    if faults:
        without = _buckets(items, plan.folds, replace(options, buckets=NONE))
        or_none = "" if _too_common(items, without, n_rounds, same) else ", or match with --buckets none"
        raise InputError(
            f"{items.name}: with {several(n_rounds, 'round')} no text of a bucket may be the response of more than one "
            f"row in {n_rounds + 1}; in {several(len(faults), 'bucket')} one is ({'; '.join(faults[:3])}). Take such "
            f"rows out, ask for fewer --n-distractors or --folds{or_none}."
        )


def _check_learnable(items: Items, folds: np.ndarray, relevance: Relevance) -> None:
    """Raise InputError where the rows outside the largest of `folds` (n,) are fewer than `relevance` learns from."""
    fewest, left = getattr(relevance, "fewest", 0), len(folds) - int(np.bincount(folds).max())
    if left < fewest:
        raise InputError(
            f"{items.name}: the largest fold leaves {several(left, 'query', 'queries')} to learn relevance from, and "
            f"the model takes at least {fewest}. Take more --folds or --relevance tfidf."
        )


def _same(items: Items, model: Similarity) -> tuple[np.ndarray, ...]:
    """(n,) numbers that are equal for responses of which none may be given for another, as `Worth.matrix` has it: of
    the same text, and those that surely mean the same as far as the model says so beforehand."""
    if not hasattr(model, "key"):
        return (items.texts,)
    return items.texts, numbered([str(call_method(model, "key", text)) for text in items.responses])


def _too_common(items: Items, buckets: Buckets, n_rounds: int, same: tuple[np.ndarray, ...]) -> list[str]:
    """The buckets with a text that is too common to be matched, and which it is; `same` are numbers of texts (n,).

    Each of k responses with one text goes, in each round, to a row that has not had it: at most 1 / (rounds + 1) of a
    bucket may have the same text. That is needed and not enough: rounds are the best one after another, so that several
    texts that are nearly as common may leave the last one nothing.
    """
    faults = []
    for number, name in enumerate(buckets.names):
        rows = buckets.rows(number)
        commonest = [Counter(texts[rows].tolist()).most_common(1)[0] for texts in same]
        which = max(range(len(same)), key=lambda i: commonest[i][1])  # of equals the first, the same text
        text, k = commonest[which]
        if k * (n_rounds + 1) > len(rows):
            said = next(items.rows[row].response for row in rows.tolist() if same[which][row] == text)
            or_same = " or one that means the same" if which else ""
            faults.append(f"{name}: {k:,} of {len(rows):,} rows have the response {said[:60]!r}{or_same}")
    return faults


def match_items(
    items: Items,
    plan: Plan,
    options: MatchingOptions,
    *,
    weights: Sequence[float],
    folder: Path,
    models: Models | None = None,
    advance: Advance | None = None,
    workers: Workers[Items] | None = None,
) -> list[Outcome]:
    """The rounds of all buckets of `plan`, for each of `weights` (lambda): pairs are scored once for all of them.

    `folder` keeps what is done, and what is there already is not done again. The same items, options and seed give the
    same files, whatever `workers`, who each match a fold at a time; without them this process does. `models` are those
    that the options name, if not given, and work in this process alone. `advance` is called with buckets that are done.
    Raises InputError naming rows for which there is no matching.
    """
    who: Workers[Items] = workers if workers and models is None else Workers()
    tell = advance or _silent
    job = _FoldJob(plan, options, tuple(weights), folder, who.source, items, models, tell)
    with run_blocks(job, np.unique(plan.folds).tolist(), workers=who.n, engine=who.engine) as done:
        for n_buckets in done:
            tell(n_buckets)
    return [_gathered(plan, options.n_distractors, one) for one in job.folders.values()]


@dataclass(frozen=True)
class _FoldJob:
    """Folds to be matched, here or by others, who read the rows again."""

    plan: Plan
    options: MatchingOptions
    weights: tuple[float, ...]
    folder: Path
    source: Callable[[], Items] | None
    items: Items | None = None
    models: Models | None = None
    tell: Advance | None = None

    @property
    def folders(self) -> dict[float, Path]:
        """Where the rounds of each lambda are kept."""
        return {weight: self.folder / f"weight-{weight:g}" for weight in self.weights}

    def open(self) -> Callable[[int], int]:
        """What matches a fold and returns how many of its buckets nobody has been told of."""
        models = self.models or Models.of(self.options)
        items = self.items
        if items is None:
            assert self.source is not None
            items = self.source()
        return lambda fold: self._match_alone(items, fold, models)

    def __reduce__(self) -> tuple[Any, ...]:
        return _FoldJob, (self.plan, self.options, self.weights, self.folder, self.source)

    def _match_alone(self, items: Items, fold: int, models: Models) -> int:
        """Match a fold while nobody else does: a worker may have outlived the run that it was of."""
        if not self.folder.parent.exists():
            raise InputError(f"{self.folder.parent}: gone, so this was done by another run. Run the command again.")
        with alone(self.folder / f"fold-{fold}"):
            n_buckets = self._match(items, fold, models, self.tell or _silent)
        return 0 if self.tell else n_buckets

    def _match(self, items: Items, fold: int, models: Models, tell: Advance) -> int:
        """Match the buckets of a fold that are not done yet; returns how many it has."""
        plan, options = self.plan, self.options
        mine = [i for i in range(len(plan.buckets.names)) if plan.folds[plan.buckets.rows(i)[0]] == fold]
        todo = [i for i in mine if not all((_folder(one, i) / SCORES).exists() for one in self.folders.values())]
        if len(todo) < len(mine):
            tell(len(mine) - len(todo))
        if todo:
            relevance = _fitted(models.relevance(), items, plan.folds != fold, (options.seed, *b"relevance", fold))
            for number in todo:
                rows = plan.buckets.rows(number)
                scores = _scored(items, rows, relevance, models.similarity)
                for weight, one in self.folders.items():
                    worth = Worth(*scores, weight, items.right_for(rows))
                    _match_bucket(items, plan.buckets, number, worth, options, one)
                tell(1, note=plan.buckets.names[number])
        return len(mine)


def _silent(n: int = 1, note: str | None = None) -> None:
    """Tells nobody."""


SCORES = "scores.npy"


def _fitted(model: Relevance, items: Items, others: np.ndarray, seed: tuple[int, ...]) -> Relevance:
    """`model` once it has learned from the rows of `others` (n,) alone."""
    rows = np.flatnonzero(others).tolist()
    rng = np.random.default_rng(seed)
    texts = [items.queries[row] for row in rows], [items.responses[row] for row in rows]
    call_method(model, "fit", *texts, rng=rng)
    return model


def _scored(
    items: Items, rows: np.ndarray, relevance: Relevance, similarity: Similarity
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(b, b) relevance of all pairs of `rows` (b,), (b, b) similarity of their responses, (b,) numbers of their
    texts."""
    queries, responses = [items.queries[row] for row in rows], [items.responses[row] for row in rows]
    return scores_of(relevance, queries, responses), scores_of(similarity, responses, responses), items.texts[rows]


def _match_bucket(
    items: Items, buckets: Buckets, number: int, worth: Worth, options: MatchingOptions, folder: Path
) -> None:
    """Match a bucket round by round, and keep each."""
    rows, mine = buckets.rows(number), _folder(folder, number)
    remove_leftovers(mine)
    assigned, losses = np.zeros((len(rows), 0), np.int64), []
    place = np.full(len(items), -1)
    place[rows] = np.arange(len(rows))
    for round_number in range(1, options.n_distractors + 1):
        path = mine / f"round-{round_number}.npy"
        if path.exists() and options.top is None:  # with `top` a round is made again: no file has its loss
            assigned = np.concatenate([assigned, _kept(path, place)[:, None]], axis=1)
            continue
        found = _matched(items, buckets, number, worth, round_number, options.top, assigned)
        assigned = found.assigned
        losses.append(float(found.loss[0]))
        write_array(path, rows[assigned[:, -1]])
    at = np.arange(len(rows))[:, None]
    own = np.concatenate([at, assigned], axis=1)
    scores = np.concatenate([worth.relevance[at, own], worth.similarity[at, assigned]], axis=1)
    loss = np.full(len(rows), sum(losses) / len(rows))
    scores = np.concatenate([scores, np.stack([preferred(worth), loss], axis=1)], axis=1)
    write_array(mine / SCORES, scores.astype(np.float32))


def preferred(worth: Worth) -> np.ndarray:
    """(b,) how often relevance prefers the own response of each row to one that is not right for it, ties half.

    Luck gives 1/2; a query whose bucket has no other, 1/2 too.
    """
    own = np.diagonal(worth.relevance)[:, None]
    other = worth.texts[:, None] != worth.texts  # (b, b)
    if worth.right is not None:
        other &= ~worth.right
    won = ((worth.relevance < own) & other).sum(axis=1) + 0.5 * ((worth.relevance == own) & other).sum(axis=1)
    n = other.sum(axis=1)
    return np.where(n > 0, won / np.maximum(n, 1), 0.5)


def _matched(
    items: Items, buckets: Buckets, number: int, worth: Worth, round_number: int, top: int | None, assigned: np.ndarray
) -> Any:
    try:
        return match_rounds(worth, round_number, top=top, first=assigned)
    except InfeasibleError as fault:
        if worth.right is not None and not worth.yields:  # too common a question; how often that is so is told
            worth = replace(worth, yields=True)
            return _matched(items, buckets, number, worth, round_number, top, assigned)
        rows = buckets.rows(number)[fault.rows]
        shown = ", ".join(f"{items.rows[row].context.id} ({items.rows[row].response[:40]!r})" for row in rows[:3])
        raise InputError(
            f"{buckets.names[number]}: {fault} The first: {shown}. Several responses that are common, though "
            "each alone is not too common, can come to that. Take some of them out, ask for fewer "
            "--n-distractors, or for larger buckets."
        ) from None


def _kept(path: Path, place: np.ndarray) -> np.ndarray:
    """(b,) the places within the bucket of the rows of a round that was kept."""
    found = read_array(path)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found < 0).any() or (found >= len(place)).any():
        raise FormatError(f"{path}: damaged. Remove it, and run the same command again.")
    places = place[found]
    if sorted(places.tolist()) != list(range(len(places))):
        raise FormatError(f"{path}: not the rows of its bucket. Remove it, and run the same command again.")
    return places


def _gathered(plan: Plan, n_rounds: int, folder: Path) -> Outcome:
    n = len(plan.folds)
    assigned = np.zeros((n, n_rounds), np.int64)
    scores = np.zeros((n, 3 + 2 * n_rounds), np.float32)
    for number in range(len(plan.buckets.names)):
        rows, mine = plan.buckets.rows(number), _folder(folder, number)
        found = read_array(mine / SCORES)
        if found.shape != (len(rows), scores.shape[1]):
            raise FormatError(f"{mine / SCORES}: damaged, or of another version. Remove it, and run the command again.")
        scores[rows] = found
        for i in range(n_rounds):
            assigned[rows, i] = read_array(mine / f"round-{i + 1}.npy")
    loss = float(scores[:, -1].sum(dtype=np.float64))
    relevance, similarity = scores[:, : 1 + n_rounds], scores[:, 1 + n_rounds : -2]
    return Outcome(assigned, relevance, similarity, scores[:, -2], loss)


def _folder(folder: Path, number: int) -> Path:
    return folder / f"bucket-{number:04d}"
