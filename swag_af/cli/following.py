"""Commands to run next: those that the verbs print, with the options that a pool or a run needs. Runs none of them."""

from pathlib import Path

from swag_af.af.options import AFOptions
from swag_af.data.disk.manifests import MATCHED
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import check_split
from swag_af.releasing.options import ReleaseOptions


def command_for(path: Path, pool: CandidatePool) -> str:
    """A `swag-af filter` that this pool has enough negatives and tables for, or `show` where it has too few contexts.

    Of a pool that `match` made, the release of its run: where some answers are replaced, how often each is an option
    tells the right one.
    """
    if (path.parent / MATCHED).exists():
        return release_command(path.parent / "run", pool.n_candidates - 1)
    try:
        check_split(pool.groups, round(AFOptions.test_share * len(pool)), AFOptions.test_share)
    except InputError:
        return command("show", path)
    fewest = int(pool.n_eligible.min()) - 1
    assigned = min(AFOptions.n_negatives, max(1, fewest // 2))  # others must remain that can enter
    schedule = [] if "features" in pool.tables else ["--schedule", "bow:40"]
    negatives = [] if assigned == AFOptions.n_negatives else ["--n-negatives", assigned]
    return command("filter", path, *schedule, *negatives, "--out", "run")


def release_command(path: Path, n_assigned: int) -> str:
    """A `swag-af release` of as many distractors as the run at `path` assigns."""
    distractors = [] if n_assigned >= ReleaseOptions.n_distractors else ["--n-distractors", n_assigned]
    return command("release", path, *distractors, "--out", "dataset")
