"""How many threads share a product: as many as the cores that others leave, and as before afterwards."""

import time
from pathlib import Path

import pytest
import torch

from swag_af.nn import threads as threads_module
from swag_af.nn.threads import pair, team, threads


def test_threads_are_as_before_after_an_error_too() -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="inside"), threads(before + 1):
        assert torch.get_num_threads() == before + 1
        raise ValueError("inside")
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("free", "n"), [(8.0, 4), (4.4, 4), (3.0, 3), (2.6, 3), (1.2, 1), (0.1, 1)])
def test_a_team_has_no_more_threads_than_cores_are_free(free: float, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda: free)
    with threads(4):
        with team(alike=8):
            assert torch.get_num_threads() == n
        with team(alike=2):
            assert torch.get_num_threads() == 4, "three would give other bits"
        with pair():
            assert torch.get_num_threads() == min(n, 2)
        assert torch.get_num_threads() == 4
    with threads(1):
        for one in (team(), pair()):
            with one:
                assert torch.get_num_threads() == 1


def test_the_load_is_that_of_other_processes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, own, busy = [100.0], [7.0], [50.0]
    monkeypatch.setattr(threads_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(threads_module.time, "process_time", lambda: own[0])
    monkeypatch.setattr(threads_module.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    monkeypatch.setattr(threads_module, "_cores", lambda: {0, 1, 5})
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
    cores = threads_module._cores()
    before = threads_module._busy_seconds(cores)
    assert before is not None
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    after = threads_module._busy_seconds(cores)
    assert after is not None
    assert after >= before + 0.2
    assert threads_module._busy_seconds({99_999}) is None
