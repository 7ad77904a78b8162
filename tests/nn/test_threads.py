"""How many threads share a product: as many as the cores that others leave, and as before afterwards."""

import threading
import time
from pathlib import Path

import pytest
import torch

from swag_af.data.engines.processes import usable_cores
from swag_af.nn import threads as threads_module
from swag_af.nn.products import multiply
from swag_af.nn.threads import alike, pair, side_by_side, team, threads


def test_threads_are_as_before_after_an_error_too() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="inside"), threads(before + 1):
        assert torch.get_num_threads() == before + 1
        raise ValueError("inside")
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("free", "n"), [(8.0, 4), (4.4, 4), (3.0, 3), (2.6, 3), (1.2, 1), (0.1, 1)])
def test_a_team_has_no_more_threads_than_cores_are_free(free: float, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda: free)
    monkeypatch.setattr(threads_module, "_is_alike", lambda product: True)
    with threads(4):
        with team(8):
            assert torch.get_num_threads() == n
        with team(2):
            assert torch.get_num_threads() == 4, "three would give other bits"
        with pair():
            assert torch.get_num_threads() == min(n, 2)
        assert torch.get_num_threads() == 4
    with threads(1):
        for one in (team(), pair()):
            with one:
                assert torch.get_num_threads() == 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_works_are_done_at_once_by_one_thread_each_where_there_are_two(n: int) -> None:
    met = threading.Barrier(2, timeout=20)

    def work(name: str) -> tuple[str, int, bool, bool, int]:
        if n == 2:
            met.wait()
        states = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        return name, torch.get_num_threads(), *states, threading.get_ident()

    with threads(n), torch.inference_mode():
        one, other = side_by_side([lambda: work("one"), lambda: work("other")])
        assert torch.get_num_threads() == n
    seen = 1 if n == 2 else n
    assert (one[:4], other[:4]) == (("one", seen, False, True), ("other", seen, False, True))
    assert (one[4] == other[4]) == (n != 2)
    with threads(n), torch.enable_grad():
        assert all(state[2:4] == (True, False) for state in side_by_side([lambda: work("one"), lambda: work("other")]))
        assert side_by_side([lambda: 1, lambda: 2, lambda: 3]) == [1, 2, 3]
        assert side_by_side([lambda: 1]) == [1]


@pytest.mark.parametrize("n", [1, 2])
def test_an_error_of_either_work_is_raised_when_neither_works_any_more(n: int) -> None:
    done = []

    def fails(name: str) -> None:
        raise ValueError(name)

    def takes_time() -> None:
        time.sleep(0.2)
        done.append("worked")

    with threads(n):
        with pytest.raises(ValueError, match="first"):
            side_by_side([lambda: fails("first"), takes_time])
        assert done == (["worked"] if n == 2 else [])
        with pytest.raises(ValueError, match="second"):
            side_by_side([takes_time, lambda: fails("second")])
        assert torch.get_num_threads() == n


def by_pieces(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """A product whose sums are cut into as many pieces as there are threads, as MKL's are on Intel's processors."""
    n = torch.get_num_threads()
    pairs = zip(x.chunk(n, dim=1), weight.chunk(n, dim=1), strict=True)
    return torch.stack([mine @ its.T for mine, its in pairs]).sum(0)


def test_two_threads_are_taken_for_one_only_where_they_have_its_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda: 0.0)
    for n, found in ((1, 2), (2, 1), (3, 2)):
        with threads(n):
            assert alike(by_pieces) == found, "asked of two threads alone"
    with threads(2):
        with team(alike(by_pieces)):
            assert torch.get_num_threads() == 2, "one would give other bits, whoever uses the cores"
        monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda: 8.0)
        with pair(by_pieces):
            assert torch.get_num_threads() == 1, "never other bits than by one"


@pytest.mark.parametrize(("n_in", "n_out"), [(256, 1024), (512, 2048), (512, 6000), (24, 300)])
def test_what_is_taken_for_alike_is_alike_in_the_shapes_of_language_models(n_in: int, n_out: int) -> None:
    with threads(2):
        is_alike = alike(multiply) == 2
    rng = torch.Generator().manual_seed(1)
    x, weight = torch.rand(256, n_in, generator=rng), torch.rand(n_out, n_in, generator=rng)
    made = []
    for n in (1, 2):
        with threads(n):
            made.append(multiply(x, weight))
    assert torch.equal(*made) or not is_alike


def test_the_load_is_that_of_other_processes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, own, busy = [100.0], [7.0], [50.0]
    monkeypatch.setattr(threads_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(threads_module.time, "process_time", lambda: own[0])
    monkeypatch.setattr(threads_module.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(threads_module, "usable_cores", lambda: {0, 1, 5})
    monkeypatch.setattr(threads_module, "_busy_seconds", lambda cores: busy[0])
    load = threads_module._Load()
    assert load.free_cores() == pytest.approx(3.0)
    now[0], own[0], busy[0] = now[0] + 10, own[0] + 15, busy[0] + 20  # we used 1.5 cores, others half a core
    assert load.free_cores() == pytest.approx(2.5)
    now[0], busy[0] = now[0] + 1, busy[0] + 3
    assert load.free_cores() == pytest.approx(2.5), "looked a second ago"
    monkeypatch.setattr(threads_module, "_busy_seconds", lambda cores: None)
    now[0] += 10
    assert load.free_cores() == 3.0


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="only Linux tells it there; elsewhere all cores are free")
def test_the_system_says_how_long_the_cores_have_worked() -> None:
    cores = usable_cores()
    before = threads_module._busy_seconds(cores)
    assert before is not None
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    after = threads_module._busy_seconds(cores)
    assert after is not None
    assert after >= before + 0.2
    assert threads_module._busy_seconds({99_999}) is None
