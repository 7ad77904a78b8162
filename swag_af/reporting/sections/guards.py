"""The section of a report about guards: how many wrong endings could be right, of the pool and of what is assigned."""

import numpy as np

from swag_af.data.disk.manifests import MANIFEST, read_manifest
from swag_af.data.pool.guarded import GuardCounts, counts_before, guard_counts, guard_rows
from swag_af.data.runs.run import Run
from swag_af.reporting.page import render

UNJUDGED = (
    "A mark is a guard's suspicion, no verdict: some marked endings are wrong, and some that are not marked are right. "
    "People say which (swag-af verify)."
)


def guard_places(run: Run, iteration: int | None = None) -> dict[str, GuardCounts]:
    """What guards say of the pool and of the assignment after `iteration` (None: the last), by name; empty where the
    pool was not guarded."""
    assignment, before = run.assignment(iteration), counts_before(run.pool)
    places = {
        "of the pool before rows were left out": before,
        "of the pool": guard_counts(run.pool),
        "of the assigned": guard_counts(run.pool, np.arange(len(assignment)), assignment),
    }
    return {name: counts for name, counts in places.items() if counts is not None}


def guard_sentences(run: Run) -> list[str]:
    """Whether flagged endings were kept out of this run, and what a mark is worth."""
    if run.path is None or not (run.path / MANIFEST).exists():
        return [UNJUDGED]
    manifest = read_manifest(run.path, "run")
    is_same = manifest["pool_identity"] == run.pool.identity
    honoured = is_same and run.matching is None and not manifest.get("options", {}).get("ignore_guard")
    why = (
        "ignored the guard"
        if is_same and run.matching is None
        else "was made when the pool was guarded otherwise, or not"
    )
    said = (
        "Flagged endings were kept out of every assignment."
        if honoured
        else f"This run {why}, so flagged endings may be assigned."
    )
    return [said, UNJUDGED]


def guards(run: Run) -> str:
    """The rates, and whether they were kept out; nothing where the pool was not guarded."""
    places = guard_places(run)
    return render("guards", rows=guard_rows(places), sentences=guard_sentences(run)) if places else ""
