"""Claims about the simulation of benchmarks/scale.py: where the answer is known, it gives that answer."""

import heapq
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.errors import InputError

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "simulated_cluster.py"


@pytest.fixture(scope="module")
def cluster() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulated_cluster", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["simulated_cluster"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def slow_twin(seconds: list[float], n_nodes: int, start: float) -> float:
    """Every block to the node that is free first."""
    free = [start] * n_nodes
    for one in seconds:
        heapq.heappush(free, heapq.heappop(free) + one)
    return max(free)


TIMES = st.lists(st.floats(0.1, 100), min_size=1, max_size=20)
"""No more blocks than are sent ahead of the first."""


@given(TIMES, st.integers(5, 9), st.floats(0, 10))
@settings(max_examples=60)
def test_blocks_go_to_the_node_that_is_free_first(
    cluster: ModuleType, seconds: list[float], n: int, start: float
) -> None:
    fleet = cluster.SimulatedFleet(seconds, cluster.Nodes(n, start), np.random.default_rng(0))
    workers = min(n, len(seconds))
    assert len(list(cluster.in_order(fleet, range(len(seconds)), workers, ahead=4 * n))) == len(seconds)
    assert fleet.now == pytest.approx(slow_twin(seconds, workers, start))
    assert fleet.useful == pytest.approx(sum(seconds))


@given(st.integers(1, 200), st.floats(0, 5), st.floats(0, 1))
@settings(max_examples=30)
def test_one_node_takes_the_sum(cluster: ModuleType, n_blocks: int, start: float, driver: float) -> None:
    done = cluster.simulate(np.array([3.0]), n_blocks, cluster.Nodes(1, start, driver), rng=np.random.default_rng(0))
    assert done.seconds == pytest.approx(start + n_blocks * (3 + driver))


@given(st.integers(1, 300), st.integers(1, 64))
@settings(max_examples=60)
def test_equal_blocks_take_rounds(cluster: ModuleType, n_blocks: int, n: int) -> None:
    done = cluster.simulate(np.array([2.0]), n_blocks, cluster.Nodes(n), rng=np.random.default_rng(0))
    assert done.seconds == pytest.approx(2 * -(-n_blocks // n))
    assert done.efficiency == pytest.approx(2 * n_blocks / (n * done.seconds))
    assert done.n_lost == 0


def test_lost_nodes_cost_what_they_had_begun_and_a_start(cluster: ModuleType) -> None:
    nodes = cluster.Nodes(4, start_seconds=5, losses_per_hour=20)
    done = cluster.simulate(np.array([20.0]), 200, nodes, rng=np.random.default_rng(1))
    assert done.n_lost > 5
    spent = 4 * done.seconds
    assert 200 * 20 + done.n_lost * 5 < spent < 200 * 20 + (done.n_lost + 4) * (20 + 5) + 4 * 20


def test_a_block_longer_than_nodes_live_stops_the_run_as_the_engine_does(cluster: ModuleType) -> None:
    with pytest.raises(InputError, match="ended before it was done"):
        cluster.simulate(np.array([1e6]), 3, cluster.Nodes(2, losses_per_hour=60), rng=np.random.default_rng(0))
