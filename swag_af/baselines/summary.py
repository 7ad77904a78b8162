"""Cells as figures: scores meet labels, means over seeds, intervals, differences on the same questions, the order.

Every figure of a model is of hits averaged over its seeds, so an interval tells of other questions, and the deviation
of other seeds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from swag_af.auditing.ranking import hits
from swag_af.baselines.cells import Scored
from swag_af.baselines.fitting import Bench
from swag_af.baselines.models import DRAWS_NOTHING
from swag_af.baselines.order import rank_agreement
from swag_af.baselines.outcome import Difference, Figure, Order, PaperRow, ordered
from swag_af.baselines.parts import Part
from swag_af.baselines.published import INPUTS as PAPER_INPUTS
from swag_af.baselines.published import published_figure, published_row
from swag_af.data.errors import FormatError
from swag_af.data.numbers.interval import DIGITS, paired_difference, rounded_mean
from swag_af.data.splits import renumbered

FULLEST = "fullest"


@dataclass(frozen=True)
class Line:
    """One model on one input, trained on one set of rows: all its seeds."""

    model: str
    input: str
    trained_on: str
    seeds: tuple[Scored, ...]

    @property
    def draws(self) -> bool:
        """Whether its fits differ by seed."""
        return self.seeds[0].name.partition("[")[0] not in DRAWS_NOTHING

    def paper(self, part: str) -> float | None:
        """What a paper has there, whatever the data."""
        one = self.seeds[0]
        return published_figure(published_row(one.name, one.vectors), self.input, self.trained_on, part)


@dataclass(frozen=True)
class Summary:
    """The cells of a folder against the labels of its data."""

    bench: Bench
    cells: Sequence[Scored]
    models: Sequence[str]
    inputs: Sequence[str]
    """In the order of the table, as far as they were asked for."""

    @cached_property
    def lines(self) -> list[Line]:
        """By model, input and training, in the order of the table."""
        models = ordered([one.model for one in self.cells], self.models)
        inputs = ordered([one.input for one in self.cells], self.inputs)
        found: dict[tuple[int, int, str], list[Scored]] = {}
        for one in self.cells:
            key = models.index(one.model), inputs.index(one.input), one.trained_on
            found.setdefault(key, []).append(one)
        return [
            Line(models[row], inputs[column], trained_on, tuple(sorted(of, key=lambda one: one.seed)))
            for (row, column, trained_on), of in sorted(found.items(), key=lambda item: item[0])
        ]

    @cached_property
    def hits(self) -> dict[tuple[str, str, str, Part], np.ndarray]:
        """(seeds, n) of every line and part, by model, input, training and part."""
        return {
            (line.model, line.input, line.trained_on, part): np.stack([self._hits(one, part) for one in line.seeds])
            for line in self.lines
            for part in self.bench.parts.scored
        }

    def _hits(self, one: Scored, part: Part) -> np.ndarray:
        """(n,) of the rows of `part`, in our order; raises FormatError for scores of other data."""
        rows = self.bench.sorted.rows[self.bench.parts.scored[part]]
        taken = self.bench.given.take(rows)
        scores = np.array(one.scores.get(part, ()))
        if scores.shape != (int(taken.offsets[-1]),):
            raise FormatError(
                f"cells of {one.model}: {len(scores):,} scores of {part}, and there are {int(taken.offsets[-1]):,} "
                "answers. Remove the file, and run the command again."
            )
        return hits(scores, taken)

    def groups(self, part: Part) -> np.ndarray:
        """(n,) the groups of the rows of `part`, numbered from 0."""
        return renumbered(self.bench.sorted.groups[self.bench.parts.scored[part]])

    def figures(self) -> Iterator[Figure]:
        """Of every line and part."""
        for line in self.lines:
            for part in self.bench.parts.scored:
                yield self._figure(line, part)

    def _figure(self, line: Line, part: Part) -> Figure:
        by_seed = self.hits[line.model, line.input, line.trained_on, part]  # (seeds, n)
        mean, groups = by_seed.mean(axis=0), self.groups(part)
        accuracy, low, high = rounded_mean(mean, groups)
        chance = self.bench.given.take(self.bench.sorted.rows[self.bench.parts.scored[part]]).chance
        return Figure(
            model=line.model,
            input=line.input,
            trained_on=line.trained_on,
            part=part,
            accuracy=accuracy,
            deviation=_round(by_seed.mean(axis=1).std(ddof=1)) if len(by_seed) > 1 and line.draws else None,
            low=low,
            high=high,
            chance=_round(chance.mean()),
            n=len(mean),
            n_groups=int(groups.max()) + 1,
            n_seeds=len(by_seed),
            n_fitted=line.seeds[0].n_fitted,
            paper=self._paper(line, part),
        )

    def _paper(self, line: Line, part: Part) -> float | None:
        """What a paper has there; nothing for texts with classes, since SWAG is multiple choice."""
        return line.paper(part) if self.bench.given.kind == "choices" else None

    def differences(self) -> Iterator[Difference]:
        """Of every two models on the part on which models are compared, the one that stands first less the other."""
        part = self.bench.parts.main
        groups = self.groups(part)
        for one, other in combinations(self.lines, 2):
            if (one.input, one.trained_on) != (other.input, other.trained_on):
                continue
            ours, theirs = (self.hits[x.model, x.input, x.trained_on, part].mean(axis=0) for x in (one, other))
            found = paired_difference(theirs, ours, groups)
            values = (_round(x) for x in (found.mean, found.low, found.high))
            yield Difference(one.model, other.model, one.input, one.trained_on, part, *values)

    def orders(self) -> Iterator[Order]:
        """Of each column that the paper has three rows of, and of all rows, each in its fullest column."""
        part = self.bench.parts.main
        for trained_on in dict.fromkeys(line.trained_on for line in self.lines):
            lines = [line for line in self.lines if line.trained_on == trained_on]
            lines = [line for line in lines if self._paper(line, part) is not None]
            columns = {name: [line for line in lines if line.input == name] for name in PAPER_INPUTS}
            fullest = {line.model: line for of in columns.values() for line in of}
            chosen = [line for line in lines if fullest[line.model] is line]
            named = columns if chosen in columns.values() else columns | {FULLEST: chosen}
            for input, of in named.items():
                yield from self._order(of, input, trained_on, part)

    def _order(self, lines: Sequence[Line], input: str, trained_on: str, part: Part) -> Iterator[Order]:
        if not lines:
            return
        of = [self.hits[line.model, line.input, trained_on, part].mean(axis=0) for line in lines]
        paper = np.array([self._paper(line, part) for line in lines], np.float64)
        rng = np.random.default_rng((0, *b"order"))
        tau = rank_agreement(np.array(of), self.groups(part), paper, rng=rng)
        if tau is not None:
            values = (_round(x) for x in (tau.value, tau.low, tau.high, tau.p))
            yield Order(input, trained_on, part, len(lines), *values)

    def papers(self) -> Iterator[PaperRow]:
        """The papers' rows beside ours; none for texts with classes."""
        if self.bench.given.kind == "classes":
            return
        for model in dict.fromkeys(line.model for line in self.lines):
            one = next(line.seeds[0] for line in self.lines if line.model == model)
            row = published_row(one.name, one.vectors)
            if row is not None:
                yield PaperRow(model, row.name, row.source)


def _round(value: float) -> float:
    return round(float(value), DIGITS)
