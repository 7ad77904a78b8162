"""Cells fitted and scored, by the machinery of an audit's probes (`swag_af.auditing.probes`).

A model is handed the texts of one input and the labels of training rows; scores meet labels in `summary`. All work of a
cell is done by one thread, so that it has the same bytes in one process and in several.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swag_af.auditing.probes.folds import Sorted
from swag_af.auditing.probes.inputs import FULL, Reading, Source, find_input, input_names, read
from swag_af.auditing.probes.models import Scorer, answers_of
from swag_af.auditing.probes.probe import make_scorer, reads_texts
from swag_af.baselines.cells import Cell
from swag_af.baselines.models import CONCEPTNET, LONGEST, OF_OPTIONS, SHORTEST, Row, rule_scores
from swag_af.baselines.parts import Part, Parts
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances, Texts
from swag_af.data.plugins.own_code import said_of
from swag_af.filters.contract import Filter

ENDING, SECOND = "ending", "second-sentence"
OPTIONS = "options"
HYPOTHESIS, TEXT = "hypothesis", "text"


def input_of(name: str) -> str:
    """What the audit calls an input of the table."""
    return OPTIONS if name == ENDING else name


def column_of(name: str) -> str:
    """What the table calls an input of the audit."""
    return ENDING if name == OPTIONS else name


def inputs_of(texts: Texts) -> tuple[str, ...]:
    """The columns of the table that `texts` have: what Table 3 has, or hypothesis and full."""
    columns = (ENDING, SECOND, FULL) if texts.kind == "choices" else (HYPOTHESIS, TEXT, FULL)
    known = input_names(texts)
    found = tuple(name for name in columns if input_of(name) in known)
    reads_more = any(texts.contexts) or texts.kind == "classes"
    return found if reads_more else tuple(name for name in found if name != FULL)


def why_blank(row: Row, input: str, texts: Texts) -> str:
    """Why a row has no cell in a column, as far as can be told before any work; empty where it has one."""
    of_options = (SHORTEST, LONGEST, CONCEPTNET)
    if row.name in of_options and texts.kind == "classes":
        return OF_OPTIONS
    if row.name in (SHORTEST, LONGEST):
        return "" if input == ENDING else "reads the ending alone"
    if row.name == CONCEPTNET:
        wanted = SECOND if any(texts.starts) else ENDING
        return "" if input == wanted else f"reads the {wanted.replace('-', ' ')} alone"
    if texts.kind == "classes":
        return ""
    if input != ENDING and row.reads == "ending":
        return "reads the ending alone"
    has_two = input != ENDING and (any(texts.contexts) or any(texts.starts))  # before the options, context or start
    return "reads two texts, and here there is one" if row.reads == "two" and not has_two else ""


@dataclass
class Bench:
    """The instances in their own order (`swag_af.auditing.probes.folds`), and the last input made ready for a model."""

    given: Instances
    sorted: Sorted
    parts: Parts
    trainings: dict[str, np.ndarray]
    """By name, the rows (n,) of each training set."""

    def __post_init__(self) -> None:
        self._ready: tuple[tuple[Row, str], Scorer] | None = None

    @cached_property
    def source(self) -> Source:
        """All texts."""
        return Source.of(self.sorted.instances.texts)

    @cached_property
    def scored(self) -> np.ndarray:
        """(n,) the rows of all parts, ascending."""
        return np.sort(np.concatenate(list(self.parts.scored.values())))

    def scores(self, cell: Cell) -> tuple[dict[Part, np.ndarray], tuple[str, ...]]:
        """(a,) of each part, the scores of its answers, as the data orders the options of a row; and what the model has
        to tell of them, a line each.

        Raises InputError where the model cannot read the input.
        """
        instances, fitted = self.sorted.instances, self.trainings[cell.trained_on]
        made = np.zeros(int(instances.offsets[-1]))
        said: list[str] = []
        if cell.row.is_rule:
            made = rule_scores(cell.row, instances.texts, instances.answers[fitted], len(instances.classes))
        else:
            with one_thread():
                scorer = self._scorer(cell)
                rng = _rng(cell)
                found = scorer.fit_score(fitted, instances.answers[fitted], self.scored, rng=rng)
                said = said_of(getattr(scorer, "filter", None))
            made[answers_of(self.scored, instances.offsets)] = found
        return {part: self._as_given(made, rows) for part, rows in self.parts.scored.items()}, tuple(said)

    def _scorer(self, cell: Cell) -> Scorer:
        """The model of `cell` ready for its input; the last one is kept, for other seeds."""
        key = cell.row, cell.input
        if self._ready is None or self._ready[0] != key:
            self._ready = None  # two at once would double the memory
            one = find_input(input_of(cell.input), self.source.texts)
            rng = np.random.default_rng((0, *b"input ", *one.name.encode()))
            reading = read(one, self.source, self.sorted.groups, rng=rng)
            model = cell.row.make()
            reading = fused(reading) if reads_no_context(model) else reading
            self._ready = key, make_scorer(model, reading, self.sorted.groups)
        return self._ready[1]

    def _as_given(self, scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(a,) the scores of the answers of `rows`, of all `scores` (M,) in our order, options as they were given."""
        as_given = np.empty_like(scores)
        as_given[self.sorted.answers] = scores
        given: np.ndarray = as_given[answers_of(self.sorted.rows[rows], self.given.offsets)]
        return given


def reads_no_context(model: Any) -> bool:
    """Whether it is a filter that reads no first sentence: it reads one text, and its `inputs` are not `full` or it has
    none to choose."""
    reads_two = not getattr(model, "reads_one", True) or getattr(model, "inputs", "") == "full"
    return isinstance(model, Filter) and not reads_texts(model) and not reads_two


def fused(reading: Reading) -> Reading:
    """The same with context and start as one start, for what reads no context: it sees all that the input has."""
    strings, joined = list(reading.strings), dict[tuple[int, int], int]()
    pieces = reading.pieces.copy()  # (q, 3)
    for context, start in dict.fromkeys(map(tuple, pieces[:, :2].tolist())):
        joined[context, start] = len(strings)
        strings.append(f"{strings[context]} {strings[start]}".strip())
    pieces[:, 1] = [joined[context, start] for context, start in map(tuple, pieces[:, :2].tolist())]
    pieces[:, 0] = len(reading.strings) - 1  # the empty text
    return Reading(reading.texts, pieces, tuple(strings), reading.tokens)


@contextmanager
def one_thread() -> Iterator[None]:
    """Products of numpy, scikit-learn and torch by one thread inside, and by as many as before afterwards."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


def check_inputs(names: tuple[str, ...], texts: Texts) -> None:
    """Raise InputError for an input that `texts` have not, named as the table names them."""
    for name in names:
        try:
            find_input(input_of(name), texts)
        except InputError:
            known = map(column_of, input_names(texts))
            raise InputError(f"--inputs {name}: this data has {', '.join(known)}.") from None


def _rng(cell: Cell) -> np.random.Generator:
    """A generator that depends on what the cell is, and not on the order in which cells are made."""
    what = f"{cell.row.label} {cell.input} {cell.trained_on}"
    return np.random.default_rng((cell.seed, *b"baseline ", *what.encode()))
