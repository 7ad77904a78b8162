"""Claims about how many actors of a Ray cluster are asked for, and of how many cores; Ray is a stand-in."""

from types import SimpleNamespace
from typing import Any

import pytest

from swag_af.data.engines import on_ray
from swag_af.data.engines.contract import cores_of
from swag_af.data.engines.on_ray import _largest_node, _room
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError


def ray_of(*nodes: dict[str, float]) -> Any:
    """Of machines with such resources."""
    total = {name: sum(node.get(name, 0.0) for node in nodes) for name in ("CPU", "GPU")}
    listed = [{"Resources": node, "Alive": True} for node in nodes]
    return SimpleNamespace(nodes=lambda: listed, cluster_resources=lambda: total)


@pytest.mark.parametrize(
    ("asked", "workers", "actors"),
    [(1, None, 12), (4, None, 3), (4, 2, 2), (100, None, 1), (1, 99, 12)],
)
def test_no_actor_asks_for_more_cores_than_a_machine_has(asked: int, workers: int | None, actors: int) -> None:
    ray = ray_of({"CPU": 8.0}, {"CPU": 4.0}, {})
    cores = min(asked, _largest_node(ray))
    assert cores <= 8
    assert _room(ray, EngineOptions("ray"), cores, workers) == actors


def test_graphics_cards_bound_the_actors() -> None:
    ray = ray_of({"CPU": 8.0, "GPU": 2.0})
    assert _room(ray, EngineOptions("ray", gpus_per_task=0.5), 1, None) == 4
    with pytest.raises(InputError, match="0 GPUs"):
        _room(ray_of({"CPU": 8.0}), EngineOptions("ray", gpus_per_task=1), 1, None)


def test_a_cluster_without_graphics_cards_is_found_before_any_folder_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder said afterwards that it was begun for a GPU, and could not be gone on with."""
    ray = ray_of({"CPU": 2.0})
    ray.is_initialized = lambda: True
    monkeypatch.setattr(on_ray, "_imported", lambda: ray)
    on_ray.check_ray(EngineOptions("ray"))
    with pytest.raises(InputError, match="--gpus-per-task 1: the Ray cluster has 0 GPUs and 2 cores"):
        on_ray.check_ray(EngineOptions("ray", gpus_per_task=1))


def test_a_job_that_names_no_cores_takes_one() -> None:
    job: Any = SimpleNamespace(open=lambda: None)
    assert cores_of(job) == 1
    job.cores = 3
    assert cores_of(job) == 3
