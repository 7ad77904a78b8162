"""What the folder of a grid belongs to: data, and how they are read and parted; what differs is named."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.baselines.fitting import Bench
from swag_af.baselines.options import BaselinesOptions
from swag_af.baselines.outcome import KIND
from swag_af.data.disk.manifests import read_manifest, sha256_json
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances

PARTING = ("splits", "val_share", "test_share", "split_seed")
"""The options that part rows."""


def about(instances: Instances, bench: Bench, options: BaselinesOptions) -> dict[str, Any]:
    """The manifest: `identity`, which decides by the data, their rows in whatever order, and by their parts; and what
    tells why another is another."""
    parts: dict[str, np.ndarray] = {"train": bench.parts.train}
    parts |= {str(part): rows for part, rows in bench.parts.scored.items()}
    ours = bench.sorted
    unplaced = [{**asdict(one), "id": "", "where": ""} for one in ours.instances.instances]
    order = ours.answers - np.repeat(instances.offsets[ours.rows], ours.instances.n_answers)  # (M,) within their rows
    reading = asdict(options.reading)
    reading |= reading.pop("columns")
    return {
        "identity": {
            "instances": sha256_json(unplaced),
            "splits": sha256_json({name: rows.tolist() for name, rows in parts.items()}),
            "options": sha256_json(order.tolist()),  # scores are kept in the order of the file
        },
        "name": instances.name,
        "files": dict(instances.files),
        "parts": {name: len(rows) for name, rows in parts.items()},
        "reading": {name: value.name if isinstance(value, Path) else value for name, value in reading.items()},
        "parting": {name: getattr(options, name) for name in PARTING},
    }


def check_begun(folder: Path, now: Mapping[str, Any]) -> None:
    """Raise InputError, saying which files or options differ, where `folder` was begun with other data or parts than
    those that `now` is `about`."""
    begun = read_manifest(folder, KIND)
    identity = begun.get("identity") or {}
    if identity == now["identity"]:
        return
    of_data = [name for name in ("instances", "options") if identity.get(name) != now["identity"][name]]
    said = [*_files(begun, now), *_flags(begun, now, "reading")] if of_data else []
    said += _flags(begun, now, "parting")
    what = (
        {"instances": "other data", "options": "its options in another order"}[of_data[0]]
        if of_data
        else "other splits"
    )
    raise InputError(
        f"{folder}: begun with {what}{': ' if said else ''}{'; '.join(said)}. Repeat the first command, or choose "
        "another --out."
    )


def _files(begun: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Which files have changed, are gone, or are new."""
    old, new = begun.get("files") or {}, now["files"]
    yield from (f"{name} has changed since" for name in old if name in new and old[name] != new[name])
    yield from (f"it had {name}" for name in old if name not in new)
    yield from (f"it had no {name}" for name in new if name not in old)


def _flags(begun: Mapping[str, Any], now: Mapping[str, Any], which: str) -> Iterator[str]:
    """The flags that differ: `--split-seed 0, now 5`."""
    old, new = begun.get(which) or {}, now[which]
    for name in new:
        if name in old and old[name] != new[name]:
            yield f"--{name.replace('_', '-')} {_value(old[name])}, now {_value(new[name])}"


def _value(value: Any) -> Any:
    return "nothing" if value in ("", None) else value
