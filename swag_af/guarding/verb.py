"""The verb `guard`: a pool's candidates scored by guards, and those flagged that no assignment may have.

Scores wait in a folder of blocks, beside the shards or beside `--out`, until all are there. Then the pool gets its two
tables; where it had others, a kill between the last steps may leave it with none, which the next guard completes first.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_array, read_json, write_array, write_json
from swag_af.data.disk.manifests import MANIFEST, check_replaceable, made_by_others
from swag_af.data.disk.replacing import remove, replacing
from swag_af.data.errors import ExhaustedError, InputError, takes_options
from swag_af.data.plugins.own_code import said_of
from swag_af.data.pool.folder import GUARD_TABLES, SHARDS, TEXT_TABLES, clear_pool
from swag_af.data.pool.guarded import BEFORE, NO_LONGER, ROWS_DROPPED, guard_counts, no_longer_kept_out
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.recount import recounted
from swag_af.data.runs.run import open_run
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import note
from swag_af.guarding.checking import checked
from swag_af.guarding.contract import GUARDS, Chosen, chosen_guards
from swag_af.guarding.estimate import Estimate, estimate
from swag_af.guarding.options import NONE, GuardOptions
from swag_af.guarding.scoring import Asked, is_of_blocks, score_all, scores_of

WORK = "guarding"
"""The folder of blocks while guards are asked."""

GIVES_GOLD_AWAY = (
    "Warning: likelihood keeps out every candidate that the language model finds likelier than gold. At margin 0 that "
    "made gold the likeliest of four endings in 100 % of questions, not 37 % as before (docs/GUARD.md): choosing it is "
    "a giveaway. Without --exclude likelihood it marks them only."
)


@takes_options
def guard(options: GuardOptions) -> CandidatePool:
    """Score and flag the candidates of a pool; returns the pool, or the copy at `options.out`.

    Its identity changes: runs on the pool as it was are read, and not gone on with. `--by none` gives it back the
    identity that it had. Guards of an earlier call give way to these; what they kept out and these do not is counted in
    the manifest. Raises InputError before any work for guards that cannot be used, ExhaustedError where no row
    has enough negatives left.
    """
    if options.dry_run:
        raise InputError(
            "dry_run guards nothing. In Python, `swag_af.guarding.verb.guard_estimate(options)` estimates."
        )
    CandidatePool.open(options.pool)  # nothing is locked that is no pool
    place = options.pool / MANIFEST if options.out is None else options.out
    with alone(place, waits=False, called=options.out or options.pool):
        return _guarded(options)


def _guarded(options: GuardOptions) -> CandidatePool:
    clear_pool(options.pool)
    pool = CandidatePool.open(options.pool)
    if options.by == NONE:
        return _unguarded(pool)
    work = options.pool / WORK if options.out is None else options.out.with_name(f"{options.out.name}.{WORK}")
    if options.out is not None:
        _check_ours(work)
    if options.out is not None and options.out.exists() and not options.force:
        remove(work)  # of a run that was killed when the copy stood
    if options.out is None and (work / WHOLE).exists():
        pool = _switched(pool, work / WHOLE)  # of a run that was killed while it wrote its tables
    chosen, asked = _checked(pool, options)
    score_all(asked, chosen, work, workers=options.workers)
    for line in (line for one in chosen for line in said_of(one.guard)):
        note(line)
    arrays = _tables(asked, chosen, work)
    records = _records(pool, chosen, arrays["flagged"])
    if options.out is None:
        _save_whole(arrays, records, work / WHOLE)
        guarded = _switched(pool, work / WHOLE)
    else:
        guarded = _kept(pool, arrays, records, options)
    remove(work)
    return guarded


def _check_ours(work: Path) -> None:
    """Raise InputError where `work`, which is removed in the end, holds anything but folders of blocks."""
    is_folder = work.is_dir() and all(is_of_blocks(path.name) for path in work.iterdir())
    if work.exists() and not is_folder:
        raise made_by_others("guard", work)


def guard_estimate(options: GuardOptions) -> list[Estimate]:
    """What `guard` would take, guard by guard, from a few rows scored here; writes nothing."""
    chosen, asked = _checked(CandidatePool.open(options.pool), options)
    return estimate(asked, chosen)


def _checked(pool: CandidatePool, options: GuardOptions) -> tuple[list[Chosen], Asked]:
    """The guards, fit for use, and what they are asked about; warns of exclusion by likelihood."""
    chosen = chosen_guards(options)
    pool.check_tables((*TEXT_TABLES, *GUARD_TABLES) if options.out is None else None)
    for one in chosen:
        pool.require(*getattr(one.guard, "requires", ()))
        with GUARDS.blaming(one.spelled, "check"):
            getattr(one.guard, "check", lambda: None)()
        one.record()  # what no manifest can hold is told before it is needed
        with GUARDS.blaming(one.spelled, "score"):
            checked(one.guard, pool.view(np.zeros(1, np.int64), np.zeros((1, 1), np.int64)))  # what would fail later
    if options.out is not None:
        check_replaceable(options.out, "pool", force=options.force)
        if options.out.resolve() == options.pool.resolve():
            raise InputError(f"{options.out}: this is the pool itself. Leave out --out, or choose another.")
    if any(one.excludes and one.guard.name == "likelihood" for one in chosen):
        note(GIVES_GOLD_AWAY)
    return chosen, Asked(pool, _assigned(pool, options.only_assigned))


def _assigned(pool: CandidatePool, run: Path | None) -> np.ndarray | None:
    """(N, A) what the run assigns; InputError where it is one of another pool."""
    if run is None:
        return None
    found = open_run(run)
    if found.pool.unguarded_identity != pool.unguarded_identity:
        raise InputError(f"--only-assigned {run}: a run of {found.pool.path}, and not of {pool.path}. Name one of it.")
    return found.assignment()


def _unguarded(pool: CandidatePool) -> CandidatePool:
    """The pool without its tables of guards; what they kept out is counted in its manifest."""
    assert pool.path is not None
    if GUARD_TABLES[0] in pool.tables:
        free = no_longer_kept_out(pool, np.zeros((len(pool), pool.n_candidates), bool))
        of_guards: dict[str, Any] = {name: None for name in ("guards", NO_LONGER) if name in pool.manifest}
        of_guards |= {NO_LONGER: free} if free else {}
        pool = pool.with_tables([table for table in pool.tables if table not in GUARD_TABLES], of_guards)
    assert pool.path is not None
    for shard in (pool.path / SHARDS).glob("[0-9]*"):
        for table in GUARD_TABLES:
            remove(shard / f"{table}.npy")
    remove(pool.path / WORK)
    return pool


def _tables(asked: Asked, chosen: list[Chosen], work: Path) -> dict[str, np.ndarray]:
    """The two tables, G + 1 numbers a candidate, by name."""
    scores = np.concatenate([block for _, block in scores_of(asked, chosen, work)])  # (N, K, G)
    reached = scores >= np.array([one.threshold for one in chosen], np.float32)  # NaN reaches nothing
    flagged = (reached & np.array([one.excludes for one in chosen])).any(axis=2)  # (N, K)
    return dict(zip(GUARD_TABLES, (flagged, scores), strict=True))


def _records(pool: CandidatePool, chosen: list[Chosen], flagged: np.ndarray) -> dict[str, Any]:
    """What the manifest is to say: the guards, and what those before them kept out that these do not."""
    records: dict[str, Any] = {"guards": [one.record() for one in chosen]}
    free = no_longer_kept_out(pool, flagged)
    are_others = pool.manifest.get("guards") != records["guards"]  # and not of a run that was killed at its end
    return records | ({NO_LONGER: free or None} if free or (are_others and NO_LONGER in pool.manifest) else {})


WHOLE = "whole"
"""In the folder of the work: the tables of all rows, before those of earlier guards give way to them, since these are
what a guard of other candidates would not ask about again."""


def _save_whole(arrays: Mapping[str, np.ndarray], records: Mapping[str, Any], path: Path) -> None:
    with replacing(path) as temporary:
        temporary.mkdir(parents=True)
        for name, array in arrays.items():
            write_array(temporary / f"{name}.npy", array)
        write_json(temporary / RECORDS, dict(records))


RECORDS = "records.json"


def _switched(pool: CandidatePool, whole: Path) -> CandidatePool:
    """Write the tables that are kept in `whole` into the shards of `pool`, then the manifest that lists them."""
    arrays = {name: read_array(whole / f"{name}.npy") for name in GUARD_TABLES}
    records: dict[str, Any] = read_json(whole / RECORDS)
    others = [table for table in pool.tables if table not in GUARD_TABLES]
    if len(others) < len(pool.tables):
        pool = pool.with_tables(others, {"guards": None})
    pool.write_arrays(arrays)
    return pool.with_tables([*others, *GUARD_TABLES], {**records, BEFORE: None})


def _kept(
    pool: CandidatePool, arrays: Mapping[str, np.ndarray], records: Mapping[str, Any], options: GuardOptions
) -> CandidatePool:
    """Write the pool with its tables to `options.out`, without the rows that have too few negatives left."""
    made = pool.with_arrays(arrays, records)
    kept = np.flatnonzero(made.n_eligible > options.min_negatives)
    if not len(kept):
        raise ExhaustedError(
            f"{options.pool}: no row has {options.min_negatives} negatives that are not flagged. Ask for fewer with "
            "--min-negatives, or raise the --thresholds."
        )
    assert options.out is not None
    if len(kept) == len(made):
        of_others = {BEFORE: None} if BEFORE in pool.manifest else {}
        return made.save(options.out, force=True, changes=of_others)
    counts = guard_counts(made)
    assert counts is not None
    dropped = pool.manifest.get(ROWS_DROPPED, 0) + len(made) - len(kept)
    changes = {ROWS_DROPPED: dropped, BEFORE: asdict(counts), **recounted(pool, kept)}
    return made.save(options.out, force=True, rows=kept, changes=changes)
