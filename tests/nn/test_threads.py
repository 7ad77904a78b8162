"""Items shared by threads: every one once, errors raised, nothing left running."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from swag_af.nn import threads
from swag_af.nn.threads import by_threads, n_workers


def squares(items: Iterator[int]) -> Iterator[int]:
    for item in items:
        yield item * item


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_item_is_worked_on_once(n: int) -> None:
    assert sorted(by_threads([squares] * n, range(200))) == [i * i for i in range(200)]
    assert list(by_threads([squares] * n, [])) == []


def test_each_thread_has_one_core_and_the_caller_keeps_its_own() -> None:
    def count(items: Iterator[int]) -> Iterator[int]:
        for _ in items:
            yield torch.get_num_threads()

    before = torch.get_num_threads()
    assert set(by_threads([count, count], range(50))) == {1}
    assert torch.get_num_threads() == before


def test_an_error_in_a_thread_is_raised_here() -> None:
    def failing(items: Iterator[int]) -> Iterator[int]:
        for item in items:
            if item == 20:
                raise ValueError("item 20")
            yield item

    with pytest.raises(ValueError, match="item 20"):
        list(by_threads([failing, failing], range(100)))


def test_an_error_of_the_items_is_raised_here() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone"):
        list(by_threads([squares, squares], items()))


def test_who_stops_early_leaves_no_thread_and_takes_few_items() -> None:
    taken = []

    def items() -> Iterator[int]:
        for i in range(100_000):
            taken.append(i)
            yield i

    before = threading.active_count()
    results = by_threads([squares, squares], items())
    next(results)
    results.close()
    until = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == before
    assert len(taken) < 1000


def test_a_team_works_on_a_quiet_machine_and_threads_on_a_busy_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    for others, n in ((0.1, 1), (1.0, 4)):
        monkeypatch.setattr(threads._LOAD, "of_others", lambda others=others: others)
        assert n_workers(torch.device("cpu")) == n
        assert n_workers(torch.device("cuda", 0)) == 1


def test_the_load_is_that_of_other_processes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, own, busy = [100.0], [7.0], [50.0]
    monkeypatch.setattr(threads.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(threads.time, "process_time", lambda: own[0])
    monkeypatch.setattr(threads.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(threads, "_busy_seconds", lambda: busy[0])
    load = threads._Load()
    assert load.of_others() == pytest.approx(0.0)
    now[0], own[0], busy[0] = now[0] + 10, own[0] + 15, busy[0] + 20  # we used 1.5 cores, others half a core
    assert load.of_others() == pytest.approx(0.5)
    monkeypatch.setattr(threads, "_busy_seconds", lambda: None)
    now[0] += 10
    assert load.of_others() == 0.0


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux tells it there; elsewhere the load is 0")
def test_the_system_says_how_long_all_cores_have_worked() -> None:
    before = threads._busy_seconds()
    assert before is not None
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    after = threads._busy_seconds()
    assert after is not None
    assert after >= before + 0.2
