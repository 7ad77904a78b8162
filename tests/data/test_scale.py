"""Claims about where work runs: the results are those of a plain `map`, wherever the blocks were done."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError
from swag_af.data.scale import run_blocks, share, standing_workers


@dataclass(frozen=True)
class Squares:
    """Squares numbers; leaves a file in `opened` every time that it is opened."""

    opened: Path | None = None

    def open(self) -> Callable[[int], tuple[int, int]]:
        if self.opened is not None:
            (self.opened / f"{os.getpid()}-{len(list(self.opened.iterdir()))}").touch()
        return self._square

    def _square(self, number: int) -> tuple[int, int]:
        if number < 0:
            raise InputError(f"{number} is negative.")
        return number, number * number


def slow_twin(numbers: list[int]) -> list[tuple[int, int]]:
    return [(number, number * number) for number in numbers]


@given(st.lists(st.integers(0, 99)), st.integers(1, 7))
def test_the_parts_of_all_runs_are_every_block_once(numbers: list[int], n: int) -> None:
    done = []
    for i in range(n):
        with run_blocks(Squares(), numbers, part=(i, n)) as results:
            done.append(list(results))
    whole = [done[at % n][at // n] for at in range(len(numbers))]
    assert whole == slow_twin(numbers)
    assert sum(map(len, done)) == len(numbers)


@given(st.lists(st.integers()), st.integers(1, 7))
def test_shares_differ_by_one_item_at_most(items: list[int], n: int) -> None:
    sizes = [len(share(items, (i, n))) for i in range(n)]
    assert max(sizes) - min(sizes) <= 1
    assert share(items, None) == items


@pytest.mark.parametrize(("n_blocks", "workers"), [(0, 2), (1, 2), (2, 3), (60, 2), (60, 3)])
def test_processes_give_the_results_of_one_in_order(n_blocks: int, workers: int) -> None:
    numbers = list(range(n_blocks))[::-1]
    with run_blocks(Squares(), numbers, workers=workers) as results:
        assert list(results) == slow_twin(numbers)
    assert not multiprocessing.active_children()


def test_processes_do_the_share_of_their_run_alone() -> None:
    with run_blocks(Squares(), range(11), workers=2, part=(1, 3)) as results:
        assert [number for number, _ in results] == [1, 4, 7, 10]


def test_a_job_is_opened_once_in_each_process_that_works(tmp_path: Path) -> None:
    with run_blocks(Squares(tmp_path), range(40), workers=2) as results:
        assert len(list(results)) == 40
    processes = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert 1 <= len(processes) == len(set(processes)) <= 2
    assert str(os.getpid()) not in processes


def test_nothing_is_opened_where_nothing_is_to_be_done(tmp_path: Path) -> None:
    with run_blocks(Squares(tmp_path), []) as results:
        assert list(results) == []
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_where_its_result_is_taken(workers: int) -> None:
    taken = []
    with pytest.raises(InputError, match="-1 is negative"), run_blocks(Squares(), [3, 2, -1, 5], workers=workers) as r:
        for result in r:
            taken.append(result)
    assert taken == slow_twin([3, 2])
    assert not multiprocessing.active_children()


def test_blocks_that_nobody_takes_are_not_waited_for() -> None:
    with run_blocks(Squares(), range(100_000), workers=2) as results:
        assert next(results) == (0, 0)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_standing_workers_open_the_job_once_for_many_lists(workers: int, tmp_path: Path) -> None:
    with standing_workers(Squares(tmp_path), workers=workers) as crew:
        assert list(crew.map([])) == []
        for numbers in ([5, 4, 3], [9], list(range(30))):
            assert list(crew.map(numbers)) == slow_twin(numbers)
        assert next(crew.map([7, 8, 9])) == (7, 49)  # the others are not taken
        with pytest.raises(InputError, match="-2 is negative"):
            list(crew.map([1, -2]))
        assert list(crew.map([6])) == slow_twin([6])
    assert 1 <= len(list(tmp_path.iterdir())) <= workers
    assert not multiprocessing.active_children()


def test_slurm_has_no_standing_workers() -> None:
    with (
        pytest.raises(InputError, match="--engine processes --workers N"),
        standing_workers(Squares(), engine=EngineOptions("slurm[local]")),
    ):
        pass


@dataclass(frozen=True)
class Waits:
    """Waits for so many seconds; ends its process where they are negative."""

    def open(self) -> Callable[[float], float]:
        return self._wait

    def _wait(self, seconds: float) -> float:
        if seconds < 0:
            os._exit(3)
        time.sleep(seconds)
        return seconds


def test_standing_workers_are_not_waited_for_when_nobody_wants_their_block() -> None:
    started = time.monotonic()
    with standing_workers(Waits(), workers=2) as crew:
        assert next(crew.map([0.0, 120.0])) == 0.0
    assert time.monotonic() - started < 60
    assert not multiprocessing.active_children()


def test_whoever_leaves_by_an_error_waits_for_no_block() -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), run_blocks(Waits(), [0.0, 120.0], workers=2) as results:
        next(results)
        raise KeyboardInterrupt
    assert time.monotonic() - started < 60
    assert not multiprocessing.active_children()


def test_a_process_that_ends_by_itself_is_one_line() -> None:
    with pytest.raises(InputError, match="fewer --workers"), run_blocks(Waits(), [0.0, -1.0], workers=2) as results:
        list(results)
    assert not multiprocessing.active_children()


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "from test_scale import Squares\n"
        "from swag_af.data.scale import run_blocks\n"
        "print('once')\n"
        "with run_blocks(Squares(), [1, 2, 3], workers=2) as results:\n"
        "    print(list(results))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path])
    command = [sys.executable, str(tmp_path / "script.py")]
    made = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert made.stdout.splitlines() == ["once", "[(1, 1), (2, 4), (3, 9)]"]
