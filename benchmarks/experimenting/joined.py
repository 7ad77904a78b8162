"""What the runs on the parts leave, all parts together, by filters that are fitted on all of it: as many contexts as
the run `big` has. A reader learns more from more, so what that run leaves is held against this, not against readers of
single parts.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.findings import Hits, change, finders, found
from experimenting.record import KeptRun, kept_run, whole_run
from experimenting.sizes import BIG, Size
from experimenting.steps import Setting, encoder_name, pool_of_all, seconds_of_encoder, seconds_of_fit
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.work.progress import progress

FOLDER = "joined"


def moments(size: Size) -> dict[str, int]:
    """The iterations whose assignments are read, the change of filters first."""
    return {"after the MLP": size.n_mlp, "at the end": size.n_mlp + size.n_ensemble, "random": 0}


def joined_seconds(setting: Setting) -> float:
    """CPU seconds, forecast: five fits a filter and moment."""
    size = setting.size
    deep = sum(5 * seconds_of_fit(name, size.n_contexts) for name in ("mlp", size.joint))
    frozen = seconds_of_encoder(size.n_contexts) if setting.encoder else 0.0
    return len(moments(size)) * (deep + frozen + 5 * size.n_contexts / 500)


def measure_joined(setting: Setting) -> None:
    """Fit and score the filters of the audits on the main runs' assignments together; those that are kept are not made
    again. InputError where a run is not finished."""
    cells = _cells(setting)
    todo = [cell for cell in cells if not _path(setting, *cell).exists()]
    if not todo:
        return
    pool, assignment = parts_together(setting)
    with progress("joined", len(cells), "fits", done=len(cells) - len(todo)) as advance:
        for at, filter in todo:
            named = encoder_name(setting) if filter == "encoder" else filter
            (one,) = audit_columns(pool, np.arange(len(pool)), assignment(at), pool.groups, [named])
            write_json(_path(setting, at, filter), {"hits": list(one.hits)})
            advance(1, note=f"{filter}, after iteration {at}: {one.accuracy:.3f}")


def _cells(setting: Setting) -> list[tuple[int, str]]:
    """Iteration and filter of all that is asked."""
    filters = [name for name in finders(setting) if name != "encoder" or setting.encoder]
    return [(at, filter) for at in moments(setting.size).values() for filter in filters]


def parts_together(setting: Setting) -> tuple[CandidatePool, Callable[[int], np.ndarray]]:
    """All parts in one pool, and what the main runs on them leave after an iteration; InputError where one is not
    finished."""
    runs = [whole_run(setting, f"runs/main-{part}") for part in range(setting.size.n_parts)]
    pool = CandidatePool.open(setting.out / pool_of_all(""))
    return pool, lambda at: np.concatenate([run.assignment(at) for run in runs])


def joined_hits(setting: Setting, big: KeptRun, filter: str, iteration: int) -> Hits | None:
    """What a filter finds in them, whose contexts are those of the run `big`; None where that was not asked."""
    path = _path(setting, iteration, filter)
    return Hits(big.ids, big.groups, np.array(read_json(path)["hits"])) if path.exists() else None


def joined_found(setting: Setting) -> dict[str, Any] | None:
    """What was found, by filter and moment; how much it differs from what fresh filters find in the run `big` at the
    same moment, and what the ensemble finds beyond the MLP. None until all that is asked is there."""
    big = kept_run(setting, BIG.name)
    made, asked = joined_done(setting, None)
    if big is None or made < asked:
        return None
    rows = {filter: _row(setting, big, filter) for filter in finders(setting)}
    mlp, joint = (rows[filter] for filter in ("mlp", setting.size.joint))
    cells = {
        filter: {moment: _cell(one, found(big, filter, moments(setting.size)[moment])) for moment, one in row.items()}
        for filter, row in rows.items()
        if row
    }
    return cells | {"fresh jump": {moment: change([mlp[moment]], [joint[moment]]) for moment in mlp}}


def joined_done(setting: Setting, figures: Any) -> list[int]:
    """How many fits are there, all where a record has their `figures`, and of how many that are asked."""
    cells = _cells(setting)
    return [len(cells) if figures else sum(_path(setting, *cell).exists() for cell in cells), len(cells)]


def _row(setting: Setting, big: KeptRun, filter: str) -> dict[str, Hits]:
    """What a filter finds at every moment; empty where one is not there."""
    row = {moment: joined_hits(setting, big, filter, at) for moment, at in moments(setting.size).items()}
    return {moment: one for moment, one in row.items() if one is not None} if None not in row.values() else {}


def _cell(one: Hits, of_big: Hits | None) -> dict[str, Any]:
    return {"level": one.figure()} | ({} if of_big is None else {"big less this": change([one], [of_big])})


def _path(setting: Setting, iteration: int, filter: str) -> Path:
    return setting.out / FOLDER / f"{iteration}-{filter}.json"
