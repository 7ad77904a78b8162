"""The released four-way questions beside SWAG's and HellaSwag's, by the same readers on as many questions."""

from typing import Any

import numpy as np

from experimenting.findings import Hits
from experimenting.record import FOURWAY, is_kept
from experimenting.steps import UNFILTERED, Setting
from swag_af.auditing.probes.probe import probe
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.work.progress import progress

INPUTS = ("options", "second-sentence", "full")
N_DRAWS = 3
"""Samples of the sets that have more questions than the smallest."""


def sets_of(setting: Setting) -> dict[str, Instances]:
    """Ours, and the real ones that are there, by name."""
    paths = {
        "ours": setting.out / "released",
        "ours, unfiltered": setting.out / UNFILTERED,
        "SWAG": setting.data / "swag/swag_questions.jsonl",
        "HellaSwag": setting.data / "hellaswag/hellaswag_val_rows_0-4999.jsonl",
    }
    return {name: read_instances([path]) for name, path in paths.items() if path.exists()}


def measure_released(setting: Setting) -> None:
    """Probe every set on as many questions as the smallest has; probes that are kept are not made again.

    Raises InputError where nothing is released yet, and nothing of it was kept.
    """
    sets, folder = sets_of(setting), setting.out / "fourway"
    if "ours" not in sets and is_kept(setting, FOURWAY):
        return
    if "ours" not in sets:
        raise InputError(f"{setting.out / 'released'}: not there. Run the step `release` first.")
    n = min(map(len, sets.values()))
    models = ["tfidf", "fasttext", *([f"encoder[{setting.encoder}]"] if setting.encoder else [])]
    cells = [(name, i, m, d) for name in sets for i in INPUTS for m in models for d in range(N_DRAWS)]
    with progress("four-way", len(cells), "probes") as advance:
        for name, input, model, draw in cells:
            path = folder / f"{name}-{n}-{input}-{model.partition('[')[0]}-{draw}.json"
            if not path.exists():
                some = drawn(sets[name], n, seed=draw)
                groups = group(some)
                hits = probe(some, input, model, groups=groups, seed=draw).hits
                ids = [one.id for one in some.instances]
                write_json(path, {"ids": ids, "groups": groups.numbers.tolist(), "hits": hits.round(4).tolist()})
            advance(1, note=f"{name}, {input}, {model.partition('[')[0]}")


def drawn(instances: Instances, n: int, *, seed: int) -> Instances:
    """`n` of the questions at random, or all."""
    if len(instances) <= n:
        return instances
    return instances.take(np.sort(np.random.default_rng(seed).permutation(len(instances))[:n]))


def released_found(setting: Setting) -> list[dict[str, Any]]:
    """Accuracy by set, input and model: the mean over draws, with the mean of their intervals; measured so far."""
    kept: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for path in sorted((setting.out / "fourway").glob("*.json")):
        name, n, rest = path.stem.split("-", 2)
        input, model, _ = rest.rsplit("-", 2)
        one = read_json(path)
        hits = Hits(tuple(one["ids"]), np.array(one["groups"]), np.array(one["hits"]))
        kept.setdefault((name, input, model, n), []).append(hits.figure())
    figures = [
        {"set": name, "input": input, "model": model, "n": int(n), "draws": len(figures)}
        | {key: float(np.mean([one[key] for one in figures])) for key in ("value", "low", "high")}
        for (name, input, model, n), figures in sorted(kept.items())
    ]
    return largest(figures)


def largest(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of as many questions as any: others are of earlier, smaller sets."""
    most = max((one["n"] for one in figures), default=0)
    return [one for one in figures if one["n"] == most]
