"""The sections of a report about the endings: gold against distractors, and example questions, before and after.

Reads only the assigned candidates from the pool's tables, so that memory does not grow with K.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from swag_af.data.context import phrase
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run
from swag_af.reporting.charts import Frame, Series, figure, percent, percent_ticks, plain_ticks, steps
from swag_af.reporting.page import render
from swag_af.reporting.sections.subject import AFTER, BEFORE, GOLD, Subject

FEATURE_TITLES = {
    "ending_given_context": "Ending given context, nats a token",
    "ending_alone": "Ending alone, nats a token",
    "context_given_ending": "Context given ending, nats a token",
    "context_alone": "Context alone, nats a token",
    "last_token": "Last token, nats",
}
N_BINS = 24
MOST_FEATURES = 12
"""The largest number of charts of features, for pools with features of their own."""
N_OPEN = 5
"""Questions that are visible at once; the others can be unfolded."""
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Quantity:
    """A measurement of every assigned candidate: gold's (N,), and the distractors' (N, A - 1) before and after."""

    title: str
    gold: np.ndarray
    before: np.ndarray
    after: np.ndarray
    is_count: bool = False


def distributions(run: Run) -> str:
    """Histograms of the lengths and features of gold and of its distractors, before and after."""
    draw, why_no_features = partial(_distribution_chart, filtered=run.matching is None), ""
    charts = [draw(_lengths(run))]
    try:
        charts += map(draw, islice(_features(run), MOST_FEATURES))
    except InputError as error:
        why_no_features = str(error)
    return render(
        "distributions",
        iteration=run.n_finished,
        has_features=len(charts) > 1,
        features_told=run.pool.features_told,
        why_no_features=why_no_features,
        matched=run.matching is not None,
        charts=charts,
    )


def _lengths(run: Run) -> Quantity:
    before, after = (_gathered(run.pool, "lengths", a).astype(float) for a in (run.start, run.assignment()))  # (N, A)
    return Quantity("Length, tokens", before[:, 0], before[:, 1:], after[:, 1:], is_count=True)


def _features(run: Run) -> Iterator[Quantity]:
    """Every feature that differs within a row; features of the context alone do not, and lengths are shown already.

    One at a time is in memory. Raises InputError where they are computed on demand and cannot be computed here.
    """
    for i, name in enumerate(run.pool.feature_names if "features" in run.pool.tables else ()):
        if name == "ending_length":
            continue
        before, after = (
            _gathered(run.pool, "features", a, i).astype(float) for a in (run.start, run.assignment())
        )  # (N, A)
        if (before != before[:, :1]).any() or (after != after[:, :1]).any():
            yield Quantity(_title(name), before[:, 0], before[:, 1:], after[:, 1:])


def _title(feature: str) -> str:
    return FEATURE_TITLES.get(feature, feature[:1].upper() + feature[1:].replace("_", " "))


def _gathered(pool: CandidatePool, table: str, assignment: np.ndarray, feature: int | None = None) -> np.ndarray:
    """(N, A) the values of `table` at `assignment` (N, A), or one feature of each, read a block of rows at a time."""
    starts = range(0, len(assignment), ROWS_AT_ONCE)
    rows = [np.arange(at, min(at + ROWS_AT_ONCE, len(assignment))) for at in starts]
    blocks = (pool.gather(table, some, assignment[some]) for some in rows)
    return np.concatenate([block if feature is None else block[:, :, feature] for block in blocks])


def _distribution_chart(quantity: Quantity, *, filtered: bool) -> str:
    """Gold, and its distractors before and after; where nothing is `filtered` those are the same, drawn once."""
    names = ("gold", "before", "after") if filtered else ("gold", "wrong answers")
    groups = (quantity.gold.ravel(), quantity.before.ravel(), quantity.after.ravel())[: len(names)]
    edges = _edges(np.concatenate(groups), is_count=quantity.is_count)
    shares = [np.histogram(np.clip(g, edges[0], edges[-1]), edges)[0] / max(1, g.size) for g in groups]
    top = 1.08 * max(float(s.max()) for s in shares)
    low, high = float(edges[0]), float(edges[-1])
    inside = (low + 0.5, high - 0.5) if quantity.is_count else (low, high)
    frame = Frame((low, high), (0, top), "", "share of endings", plain_ticks(*inside), percent_ticks(top, 4))
    series = (Series(names[0], GOLD, "area"), Series(names[1], BEFORE, "dash"), Series(names[-1], AFTER))[: len(names)]
    shapes = [steps(frame, edges, share, one.colour, one.mark) for share, one in zip(shares, series, strict=True)]
    lower = {
        name: _gold_lower(quantity.gold, others)
        for name, others in zip(names[1:], (quantity.before, quantity.after), strict=False)
    }
    means = ", ".join(f"{n} {g.mean():.2f}" for n, g in zip(names, groups, strict=True))
    when = {name: f" {name}" if filtered else "" for name in lower}
    said = ", ".join(f"{percent(value)}{when[name]}" for name, value in lower.items())
    spoken = f"{quantity.title}; means: {means}. Gold is lower {said}."
    note = "gold lower: " + ", ".join(f"{percent(value, 0)}{when[name]}" for name, value in lower.items())
    return figure(quantity.title, spoken, frame, shapes, series, note=note)


def _edges(values: np.ndarray, *, is_count: bool) -> np.ndarray:
    """Bin edges from the 0.5th to the 99.5th percentile; values outside are counted in the first or last bin."""
    low, high = np.quantile(values, [0.005, 0.995]).tolist()
    if is_count:  # as many numbers in each bin, or the bins would have teeth
        low, high = np.floor(low), np.ceil(high)
        width = 1 if high - low < 60 else np.ceil((high - low + 1) / N_BINS)
        return np.arange(low, high + 1 + width, width) - 0.5
    return np.linspace(low, high if high > low else low + 1, N_BINS + 1)


def _gold_lower(gold: np.ndarray, others: np.ndarray) -> float:
    gold = gold[:, None]
    return float((gold < others).mean() + 0.5 * (gold == others).mean())


def questions(subject: Subject, n: int) -> str:
    """`n` contexts drawn at random, with the distractors that were replaced and their replacements."""
    run, seed = subject.run, int(subject.manifest.get("options", {}).get("seed", 0))
    rows = np.random.default_rng((seed, *b"report")).permutation(len(run.pool))[:n]
    after = run.assignment()
    shown = [_question(run, int(row), run.start[row], after[row]) for row in rows]
    return render(
        "questions", questions=shown, n_open=N_OPEN, iteration=run.n_finished, matched=run.matching is not None
    )


def _question(run: Run, row: int, before: np.ndarray, after: np.ndarray) -> dict[str, object]:
    """The texts of a context and its endings; `before` and `after` (A,) are its assigned candidates."""
    pairs = list(zip(before[1:].tolist(), after[1:].tolist(), strict=True))
    return {
        "phrase": phrase(run.pool.contexts[row]),
        "gold": run.pool.text(row, int(before[0])),
        "replaced": [(run.pool.text(row, old), run.pool.text(row, new)) for old, new in pairs if old != new],
        "stayed": [run.pool.text(row, old) for old, new in pairs if old == new],
    }
