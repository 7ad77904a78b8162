"""The size curve: how well probes do on what was left after some of the rounds, and on as many instances at random.

A probe that had a part in choosing the rows, or reads what chose them, falls by construction: instances that it got
right, some of them by luck, are gone. So beside each size stand sets of as many instances drawn at random, and probes
of other kinds. The sets are drawn apart from the random removals of the audits: the same quantity, on other rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from swag_af.auditing.probes.probe import AnyModel, planned, probes
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.records import Count, parse_record
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import mean_of_folds
from swag_af.pruning.rounds import Round, left_after


@dataclass(frozen=True, slots=True)
class Point:
    """What one probe found in one set."""

    n: Count
    """Instances of the set."""
    of: Literal["pruned", "random"]
    draw: Count
    """The number of the random removal; 0 of what was pruned."""
    probe: str
    """Its name: `options, tfidf`."""
    accuracy: float
    low: float
    high: float
    """The 95 % interval."""
    chance: float


@dataclass(frozen=True)
class Curve:
    """How the points are measured."""

    instances: Instances
    groups: Groups
    inputs: Sequence[str]
    models: Sequence[AnyModel]
    n_folds: int
    n_draws: int
    seed: int

    def points(self, sets: Sequence[np.ndarray], folder: Path, after: Callable[[], None]) -> list[Point]:
        """Points of each of `sets`, rows of what was left, and of as many drawn at random where it is not all.

        Each set's points are kept in `folder` when they are measured; `after` is called then.
        """
        found, n = [], len(self.instances)
        orders = [np.random.default_rng((self.seed, draw, *b"curve")).permutation(n) for draw in range(self.n_draws)]
        for rows in sets:
            found += self._kept(rows, "pruned", 0, folder, after)
            for draw, order in enumerate(orders if len(rows) < n else []):
                found += self._kept(np.sort(order[: len(rows)]), "random", draw, folder, after)
        return found

    def n_sets(self, sets: Sequence[np.ndarray]) -> int:
        """How often `points` calls `after`."""
        return sum(1 + self.n_draws * (len(rows) < len(self.instances)) for rows in sets)

    def _kept(
        self, rows: np.ndarray, of: Literal["pruned", "random"], draw: int, folder: Path, after: Callable[[], None]
    ) -> list[Point]:
        path = folder / f"curve-{len(rows)}-{of}-{draw}.json"
        if not path.exists():
            write_json(path, [asdict(point) for point in self._measured(rows, of, draw)])
        after()
        return parse_record(read_json(path), list[Point], path, "Delete the file.")

    def _measured(self, rows: np.ndarray, of: Literal["pruned", "random"], draw: int) -> list[Point]:
        part, groups = self.instances.take(rows), self.groups.take(rows)
        tasks = planned(part, groups, inputs=self.inputs, models=self.models, n_folds=self.n_folds, seeds=(self.seed,))
        made = probes(part, groups, tasks).found
        chance = round(float(part.chance.mean()), 6)
        points = []
        for one in made:
            if one.folds == "group":
                figures = mean_of_folds(one.hits, groups.numbers)
                points.append(Point(len(rows), of, draw, one.name, *figures, chance))
        return points


def sets_at(rounds: list[Round], n: int, n_points: int) -> list[np.ndarray]:
    """All `n` rows, and what was left after up to `n_points` of the rounds, evenly spaced, the last one among them."""
    numbers = np.unique(np.linspace(0, len(rounds), n_points + 1).round().astype(int))
    sets = {len(left): left for number in numbers.tolist() for left in [left_after(rounds, n, number)]}
    return [sets[size] for size in sorted(sets, reverse=True)]
