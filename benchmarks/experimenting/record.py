"""What the results are made of: small files, a run each, that outlive pools and models.

    OUT/record/parts/0.json ...     a part: names and groups of its contexts, its language models, what was drawn
    OUT/record/parts/0-half.json    a pool made of it: names and groups
    OUT/record/parts/pool.json      all parts together: which parts, and which of their groups are one there
    OUT/record/runs/main-0.json     a run, from the end of its first phase on: its curve, and every audit's hits,
                                    context by context
    OUT/record/nested/5000-1.json   a run over so many contexts of one pool: its curve, and how far an ensemble leads
    OUT/record/fourway.json ...     figures of the other measurements

A folder of records copied into OUT/record stands for its runs: those that are whole are not made again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.steps import (
    TIMES,
    WEAK,
    Setting,
    audited,
    encoder_audited,
    encoder_name,
    generated,
    models_of,
    pool_of_all,
)
from swag_af.data.disk.files import read_json, write_text
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import over_seeds, read_audits
from swag_af.data.runs.run import Run, open_run
from swag_af.filters.registry import parse_schedule

RECORD = "record"
FOURWAY, READING = "fourway", "reading"
"""Names in it of what is measured of released questions, and of a reader's."""

Asked = tuple[str, int]
"""A filter, its brackets aside, and the iteration whose assignment it audited."""


@dataclass(frozen=True)
class KeptRun:
    """A run that has all iterations of its first phase, or more."""

    name: str
    ids: tuple[str, ...]
    """(N,) names of the contexts."""
    groups: np.ndarray
    """(N,) which contexts no split may separate."""
    filters: list[str]
    """The filter of each iteration."""
    accuracy: np.ndarray
    """(iterations,) the held-out accuracy of the filter that re-assigns."""
    n_test: int
    """Contexts held out in an iteration."""
    n_planned: int
    """Iterations that it is to have."""
    hits: dict[Asked, np.ndarray] = field(default_factory=dict)
    """(N,) what fresh filters find, means over seeds."""

    @property
    def is_finished(self) -> bool:
        """Whether it has all of its iterations."""
        return len(self.filters) == self.n_planned


def run_so_far(out: Path, name: str) -> Run | None:
    """A run in the experiment's folder `out`, with the iterations that it has."""
    return open_run(out / name) if (out / name / "log.jsonl").exists() else None


def whole_run(setting: Setting, name: str) -> Run:
    """The same, once it has all of them; InputError before."""
    run = run_so_far(setting.out, name)
    if run is None and is_kept(setting, name) and not (setting.out / name).exists():
        raise InputError(
            f"{setting.out / name}: only its record is there. Delete {_path(setting, name)} and run the step `filter`."
        )
    if run is None or run.n_finished < run.n_planned:
        raise InputError(f"{setting.out / name}: not all of its iterations are there. Run the step `filter` first.")
    return run


def is_kept(setting: Setting, name: str) -> bool:
    """Whether the record has something of this name."""
    return _path(setting, name).exists()


def asked_of(setting: Setting, name: str) -> set[Asked]:
    """The audits of a run that are asked for."""
    filters = (*setting.size.unseen, "mlp", setting.size.joint)
    made = {(filter, at) for run, at, _ in audited(setting) if run == name for filter in filters}
    if setting.encoder:
        made |= {("encoder", at) for run, at, _ in encoder_audited(setting) if run == name}
    return made


def is_whole(setting: Setting, name: str) -> bool:
    """Whether the record of a run holds all of its iterations and audits; of a nested one, all of its figures."""
    figures = (_read(setting, name) or {}).get("figures")
    if figures is not None:
        return len(figures["accuracy"]) == sum(setting.size.nested_iterations) and len(figures["fresh"]) == 2
    run = kept_run(setting, name)
    return run is not None and run.is_finished and asked_of(setting, name) <= set(run.hits)


def keep_runs(setting: Setting) -> None:
    """Write the record of every run that is there and whose first phase is done, with the audits made so far; of the
    parts first."""
    of_parts = {out: arm for out, arm, _ in setting.runs()}
    for name in sorted(setting.run_names(), key=lambda name: "/" not in name):
        run = run_so_far(setting.out, name)
        phases = parse_schedule(setting.size.schedule(of_parts.get(name, setting.size.arms[0])))
        if run is not None and run.n_finished >= min(phases[0][1], run.n_planned):
            _keep(setting, name, run)


def _keep(setting: Setting, name: str, run: Run) -> None:
    """Write the record of a run, and of the contexts that it has; what was kept of the same run stays, and so does a
    run that was kept with more iterations."""
    pool = Path(run.pool.path or "").name
    phases = [(record.filter, run.accuracy(record.iteration)) for record in run.log]
    audits = hits_of(setting, setting.out / name)
    before = kept_run(setting, name)
    if before is not None:
        if len(before.filters) > len(phases):
            return
        if before.accuracy.tolist() == [accuracy for _, accuracy in phases[: len(before.filters)]]:
            audits = before.hits | audits
    told = [{"filter": filter, "iteration": at, **packed(hits)} for (filter, at), hits in sorted(audits.items())]
    for arm in setting.size.together:
        parts = [setting.out / setting.pool_of(arm, part) for part in setting.size.parts_of(arm) if arm.name == name]
        for part in (part for part in parts if part.exists()):
            _keep_pool(setting, CandidatePool.open(part))
    _keep_pool(setting, run.pool)
    unfinished = {"planned": run.n_planned} if run.n_finished < run.n_planned else {}
    made = {"pool": pool, "n_test": run.log[0].n_test, **unfinished, "iterations": phases, "audits": told}
    _write(setting, name, made)


def _keep_pool(setting: Setting, pool: CandidatePool) -> None:
    """Write the record of a pool."""
    name = Path(pool.path or "").name
    _write(setting, f"parts/{name}", _rows_of(setting, name, pool) | _made_by(setting, name))


def _rows_of(setting: Setting, name: str, pool: CandidatePool) -> dict[str, Any]:
    """Names and groups of a pool's contexts; of all parts together, where they are kept, what tells it from these: a
    sentence that many rows share joins groups in a pool that is large enough."""
    ids, groups = tuple(context.id for context in pool.contexts), pool.groups
    for arm in setting.size.together:
        of = [Path(setting.pool_of(arm, part)).name for part in setting.size.parts_of(arm)]
        if name == pool_of_all(arm.pool) and all(is_kept(setting, f"parts/{part}") for part in of):
            told = {"of": of, "same": _same(_joined(setting, of)[1], groups)}
            names, again = _told_rows(setting, told)
            if names == ids and _is_same(again, groups):
                return told
    return {"contexts": list(zip(ids, groups.tolist(), strict=True))}


def _same(finer: np.ndarray, groups: np.ndarray) -> list[list[int]]:
    """Which of the groups `finer` (N,) are one in `groups` (N,)."""
    pairs = np.unique(np.stack([groups, finer]), axis=1)
    return [pairs[1, pairs[0] == one].tolist() for one in np.flatnonzero(np.bincount(pairs[0]) > 1)]


def _is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two lists of groups (N,) divide the rows alike, however they are numbered."""
    pairs = np.unique(np.stack([one, other]), axis=1)
    return all(len(np.unique(side)) == pairs.shape[1] for side in pairs)


def _joined(setting: Setting, of: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and groups of several parts together."""
    ids, groups, n = list[str](), list[int](), 0
    for part in of:
        told = _read(setting, f"parts/{part}")
        if told is None:
            raise InputError(f"{_path(setting, f'parts/{part}')}: not there, and a kept run needs it. Copy it as well.")
        ids += (name for name, _ in told["contexts"])
        groups += (n + group for _, group in told["contexts"])
        n = max(groups, default=-1) + 1
    return tuple(ids), np.array(groups)


def _told_rows(setting: Setting, told: Mapping[str, Any]) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and groups (N,) of a pool's contexts as they were kept."""
    if "contexts" in told:
        ids, numbers = zip(*told["contexts"], strict=True)
        return ids, np.array(numbers)
    names, groups = _joined(setting, told["of"])
    for several in told["same"]:
        groups[np.isin(groups, several)] = several[0]
    return names, np.unique(groups, return_inverse=True)[1]


def _made_by(setting: Setting, pool: str) -> dict[str, Any]:
    """What a pool's manifest tells of its candidates, and that of its fold of its models; nothing of pools that no
    models of their own have written."""
    part, _, variant = pool.partition("-")
    if not part.isdecimal() or variant not in ("", *TIMES, WEAK):
        return {}
    models = setting.out / models_of(variant) / f"fold-{part}/manifest.json"
    fold = read_json(models) if models.exists() else {}
    manifest = read_manifest(setting.out / f"parts/{pool}", "pool")
    drawn = ("n_rows", "n_candidates", "n_draws", "rejected_draws", "drops", "copied_rows")
    reached = ("held_out_perplexity", "fold_perplexity", "n_train_pairs", "best_epoch")
    return {
        "candidates": {name: manifest[name] for name in drawn if name in manifest},
        "models": {name: fold[name] for name in reached if name in fold},
    }


def hits_of(setting: Setting, path: Path) -> dict[Asked, np.ndarray]:
    """What the audits of a run found; of two encoders, the one that was named."""
    made: dict[Asked, np.ndarray] = {}
    ours = encoder_name(setting)
    for one, _ in over_seeds(read_audits(path).findings):
        asked = one.filter.partition("[")[0], int(one.iteration or 0)
        if asked not in made or one.filter == ours:
            made[asked] = np.array(one.hits)
    return made


CODES = [chr(code) for code in range(35, 127) if chr(code) != "\\"]
"""Printable characters that JSON writes as they are."""


def packed(hits: np.ndarray) -> dict[str, Any]:
    """Hits (N,) as a character a context, which stand for `levels`, most often 0 and 1; to six digits."""
    levels, which = np.unique(hits.round(6), return_inverse=True)
    return {"levels": levels.tolist(), "hits": "".join(CODES[i] for i in which.tolist())}


def unpacked(packed: dict[str, Any]) -> np.ndarray:
    """(N,) the hits again."""
    return np.array(packed["levels"])[[CODES.index(code) for code in packed["hits"]]]


def kept_run(setting: Setting, name: str) -> KeptRun | None:
    """A run as it was kept; None where it was not."""
    told = _read(setting, name)
    if told is None:
        return None
    pool = _read(setting, f"parts/{told['pool']}")
    if pool is None:
        raise InputError(f"{setting.out / RECORD}: has the run {name}, and not its pool {told['pool']}. Copy both.")
    ids, groups = _told_rows(setting, pool)
    filters, accuracy = zip(*told["iterations"], strict=True)
    hits = {(one["filter"], one["iteration"]): unpacked(one) for one in told["audits"]}
    planned = told.get("planned", len(filters))
    return KeptRun(name, ids, groups, list(filters), np.array(accuracy), told["n_test"], planned, hits)


def kept_parts(setting: Setting) -> dict[str, dict[str, Any]]:
    """What was kept of the parts, by number, and of those that other models wrote."""
    names = [f"{part}-{variant}" if variant else f"{part}" for part, variant in generated(setting)]
    found = {name: _read(setting, f"parts/{name}") for name in names}
    return {name: one for name, one in found.items() if one is not None}


def figures_of(setting: Setting, name: str, found: Any) -> Any:
    """What a measurement has `found`, kept; where it has found nothing here, what was kept of it."""
    told = _read(setting, name)
    if not found:
        return found if told is None else told["figures"]
    if told is not None and isinstance(found, list):
        found = _with_kept(found, told["figures"])
    if told is not None and "fresh" in found and found["accuracy"] == told["figures"]["accuracy"]:  # the same run
        found = found | {"fresh": told["figures"]["fresh"] | found["fresh"]}
    _write(setting, name, {"figures": found})
    return found


_KEYS = ("set", "input", "model", "filter", "contexts")
"""What tells one figure of a list from another."""


def _with_kept(found: Sequence[dict[str, Any]], kept: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The figures of both; where both have one, that of more questions or draws, and of as many the one found here."""

    def weight(figure: dict[str, Any]) -> tuple[int, int]:
        draws = figure["draws"]
        return figure["n"], draws if isinstance(draws, int) else len(draws)

    made: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in (*kept, *found):
        key = tuple(one.get(key) for key in _KEYS)
        if key not in made or weight(one) >= weight(made[key]):
            made[key] = one
    return list(made.values())


def _path(setting: Setting, name: str) -> Path:
    return setting.out / RECORD / f"{name}.json"


def _write(setting: Setting, name: str, made: dict[str, Any]) -> None:
    write_text(_path(setting, name), as_lines({"size": setting.size.name} | made))


def as_lines(record: Mapping[str, Any]) -> str:
    """A record as JSON, an entry of each part a line."""
    parts = []
    for name, part in record.items():
        if isinstance(part, dict):
            entries, ends = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in part.items()], "{}"
        elif isinstance(part, list | tuple):
            entries, ends = [json.dumps(one) for one in part], "[]"
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(part)}")
            continue
        parts.append(f"{json.dumps(name)}: {ends[0]}\n" + ",\n".join(entries) + f"\n{ends[1]}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _read(setting: Setting, name: str) -> dict[str, Any] | None:
    """A file of the record; None where there is none; InputError for one of another size."""
    path = _path(setting, name)
    if not path.exists():
        return None
    told: dict[str, Any] = read_json(path)
    if told["size"] != setting.size.name:
        raise InputError(f"{path}: of size {told['size']}, not {setting.size.name}. Give its --size, or another --out.")
    return told
