"""Claims about filtering and its runs, with a fake filter: exact, resumable, and only what was held out changes."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_pool

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.disk.replacing import HOST
from swag_af.data.errors import ContractError, ExhaustedError, FormatError, InputError
from swag_af.data.pool.assignments import check_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run, open_run
from swag_af.filters.registry import parse_schedule

SIX = AFOptions(iterations=6, n_negatives=4, seed=5)
N_TEST = 6
"""A fifth of the pool's 30 rows."""


def run_bytes(folder: Path) -> dict[str, bytes]:
    """What the same seed must make again, byte for byte."""
    kept = [folder / "start.npy", folder / "log.jsonl", *sorted((folder / "replacements").iterdir())]
    return {path.name: path.read_bytes() for path in kept}


@pytest.fixture(scope="module")
def straight(pool: CandidatePool, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Six iterations at one go, kept on disk."""
    return filter_pool(pool, HashFilter(), SIX, out=tmp_path_factory.mktemp("runs") / "run")


def test_the_run_swaps_something_in_every_iteration(straight: Run) -> None:
    assert straight.n_finished == 6
    assert all(len(changes) for changes in straight.replacements)


def test_a_resumed_run_has_the_bytes_of_a_straight_one(straight: Run, pool: CandidatePool, tmp_path: Path) -> None:
    filter_pool(pool, HashFilter(), replace(SIX, iterations=3), out=tmp_path / "run")
    assert open_run(tmp_path / "run").n_finished == 3
    filter_pool(pool, HashFilter(), SIX, out=tmp_path / "run")
    assert run_bytes(tmp_path / "run") == run_bytes(straight.path)


class StopsAt(HashFilter):
    """Interrupted in the middle of an iteration."""

    def __init__(self, fit: int, method: str):
        self.fits_left, self.method = fit, method

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.fits_left -= 1
        if self.fits_left == 0 and self.method == "fit":
            raise KeyboardInterrupt
        super().fit(view, rng=rng)

    def score(self, view: View) -> np.ndarray:
        if self.fits_left == 0:
            raise KeyboardInterrupt
        return super().score(view)


@pytest.mark.parametrize("method", ["fit", "score"])
def test_a_run_stopped_in_the_middle_of_an_iteration_ends_in_the_same_bytes(
    pool: CandidatePool, tmp_path: Path, method: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        filter_pool(pool, StopsAt(4, method), SIX, out=tmp_path / "run")
    assert open_run(tmp_path / "run").n_finished == 3
    for name in ("run", "straight"):
        filter_pool(pool, StopsAt(1000, method), SIX, out=tmp_path / name)
    assert run_bytes(tmp_path / "run") == run_bytes(tmp_path / "straight")


def test_a_run_does_not_go_on_with_another_class_of_the_same_name(pool: CandidatePool, tmp_path: Path) -> None:
    filter_pool(pool, HashFilter(), replace(SIX, iterations=3), out=tmp_path / "run")
    with pytest.raises(InputError, match="begun with other hash"):
        filter_pool(pool, StopsAt(1000, "fit"), SIX, out=tmp_path / "run")


def test_a_run_that_nothing_was_done_of_is_begun_anew(pool: CandidatePool, straight: Run, tmp_path: Path) -> None:
    """A filter that fails in its first fit blocked the mended command."""
    with pytest.raises(KeyboardInterrupt):
        filter_pool(pool, StopsAt(1, "fit"), replace(SIX, seed=9), out=tmp_path / "run")
    filter_pool(pool, HashFilter(), SIX, out=tmp_path / "run")
    assert run_bytes(tmp_path / "run") == run_bytes(straight.path)


def test_a_run_that_has_an_audit_is_not_begun_anew(pool: CandidatePool, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        filter_pool(pool, StopsAt(1, "fit"), SIX, out=tmp_path / "run")
    (tmp_path / "run" / "audits.jsonl").write_text("")
    with pytest.raises(InputError, match=r"begun with other schedule \(\w+ from iteration 1, now"):
        filter_pool(pool, FeatureFilter(), SIX, out=tmp_path / "run")


def test_a_run_killed_before_its_log_line_ends_in_the_same_bytes(
    straight: Run, pool: CandidatePool, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    filter_pool(pool, HashFilter(), replace(SIX, iterations=3), out=run)
    (run / "replacements" / "0004.npy").write_bytes(b"of an iteration that never ended")
    (run / "timing.jsonl").write_text((run / "timing.jsonl").read_text() + '{"iteration": 4, "seconds": 9}\n')
    (run / "replacements" / f".0004.npy.{HOST}.{1 << 23}.tmp").write_bytes(b"half")
    filter_pool(pool, HashFilter(), SIX, out=run)
    assert run_bytes(run) == run_bytes(straight.path)
    assert [record.iteration for record in open_run(run).timing] == [1, 2, 3, 4, 5, 6]


def test_a_full_scan_has_the_bytes_of_a_lazy_one(straight: Run, pool: CandidatePool) -> None:
    full = filter_pool(pool, HashFilter(), replace(SIX, scan="full"))
    np.testing.assert_array_equal(full.assignment(), straight.assignment())
    assert full.log != straight.log  # more was scored


def test_another_seed_gives_another_run(straight: Run, pool: CandidatePool) -> None:
    other = filter_pool(pool, HashFilter(), replace(SIX, seed=6))
    assert (other.assignment() != straight.assignment()).any()


def test_a_run_in_memory_equals_one_on_disk(straight: Run, pool: CandidatePool) -> None:
    run = filter_pool(pool, HashFilter(), SIX)
    assert run.path is None
    assert run.log == straight.log
    assert run.texts() == straight.texts()


class Watched(HashFilter):
    """Notes which rows each fit saw, and under which assignment."""

    def __init__(self) -> None:
        self.seen: list[tuple[np.ndarray, np.ndarray]] = []

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.seen.append((view.rows, view.columns))
        super().fit(view, rng=rng)


@pytest.mark.parametrize("pick", ["random", "hardest"])
@pytest.mark.parametrize("rule", ["paper", "released"])
def test_only_held_out_rows_change_and_two_places_of_each_at_most(pool: CandidatePool, rule: str, pick: str) -> None:
    watched = Watched()
    run = filter_pool(pool, watched, replace(SIX, rule=rule, pick=pick))
    for iteration, (train, _) in enumerate(watched.seen, start=1):
        held_out = np.setdiff1d(np.arange(len(pool)), train)
        changed = run.assignment(iteration) != run.assignment(iteration - 1)
        assert len(held_out) == N_TEST
        assert not changed[train].any()
        assert changed.sum(axis=1).max() <= SIX.n_easy


def test_every_fit_sees_the_assignment_of_the_iteration_before(pool: CandidatePool) -> None:
    watched = Watched()
    run = filter_pool(pool, watched, SIX)
    for iteration, (train, columns) in enumerate(watched.seen, start=1):
        np.testing.assert_array_equal(columns, run.assignment(iteration - 1)[train])


def test_each_iteration_holds_out_other_rows(pool: CandidatePool) -> None:
    watched = Watched()
    filter_pool(pool, watched, replace(SIX, split_by="context"))
    assert len({rows.tobytes() for rows, _ in watched.seen}) == 6


@pytest.mark.parametrize("rule", ["paper", "released"])
def test_gold_stays_and_nothing_repeats_over_a_whole_run(pool: CandidatePool, rule: str) -> None:
    run = filter_pool(pool, HashFilter(), replace(SIX, iterations=12, rule=rule))
    for iteration in range(13):
        check_assignment(run.assignment(iteration), pool.counts)


def test_an_assignment_is_the_first_one_with_the_replacements_up_to_it_made(straight: Run) -> None:
    expected = straight.start.copy()
    for iteration, changes in enumerate(straight.replacements, start=1):
        for row, column, newcomer in changes:
            expected[row, column] = newcomer
        np.testing.assert_array_equal(straight.assignment(iteration), expected)
    np.testing.assert_array_equal(straight.assignment(), expected)
    np.testing.assert_array_equal(straight.assignment(0), straight.start)


@pytest.mark.parametrize("iteration", [-1, 7])
def test_an_iteration_that_never_was_is_refused(straight: Run, iteration: int) -> None:
    with pytest.raises(InputError, match="0 to 6"):
        straight.assignment(iteration)


@pytest.mark.parametrize("iteration", [-1, 0, 7])
def test_an_accuracy_that_never_was_is_refused(straight: Run, iteration: int) -> None:
    """Before any iteration there is none: that of the last one was given."""
    with pytest.raises(InputError, match="accuracies of 1 to 6"):
        straight.accuracy(iteration)


def test_the_first_assignment_is_the_callers_own(straight: Run) -> None:
    """Whoever sorted it for printing changed the finished run."""
    straight.assignment(0)[:] = 0
    assert straight.assignment(0)[:, 1:].all()


def test_an_opened_run_equals_the_one_that_was_made(straight: Run) -> None:
    opened = open_run(straight.path)
    assert (opened.log, opened.timing) == (straight.log, straight.timing)
    assert opened.texts() == straight.texts()


def test_opening_a_run_leaves_alone_what_a_living_process_writes(straight: Run) -> None:
    temporary = straight.path / f".log.jsonl.{HOST}.{os.getpid()}.tmp"
    temporary.touch()
    open_run(straight.path)
    assert temporary.exists()
    temporary.unlink()


def test_a_finished_run_goes_on_when_more_iterations_are_asked_for(
    straight: Run, pool: CandidatePool, tmp_path: Path
) -> None:
    shutil.copytree(straight.path, tmp_path / "run")
    longer = filter_pool(pool, HashFilter(), replace(SIX, iterations=8), out=tmp_path / "run")
    assert longer.n_finished == 8
    assert longer.log == filter_pool(pool, HashFilter(), replace(SIX, iterations=8)).log


@dataclass
class RatedFilter(HashFilter):
    """Has a setting of several values, which JSON keeps as a list."""

    rates: tuple[float, ...] = (1.0, 0.1)


def test_a_run_of_a_filter_with_several_values_in_a_setting_goes_on(pool: CandidatePool, tmp_path: Path) -> None:
    filter_pool(pool, RatedFilter(), replace(SIX, iterations=2), out=tmp_path / "run")
    assert filter_pool(pool, RatedFilter(), replace(SIX, iterations=3), out=tmp_path / "run").n_finished == 3
    with pytest.raises(InputError, match=r"begun with other hash: rates \(\[1\.0, 0\.1\], now \[1\.0, 0\.2\]\)\. Rep"):
        filter_pool(pool, RatedFilter((1.0, 0.2)), replace(SIX, iterations=4), out=tmp_path / "run")


def test_a_finished_run_asked_for_less_is_refused_and_stays_as_it_is(
    straight: Run, pool: CandidatePool, tmp_path: Path
) -> None:
    shutil.copytree(straight.path, tmp_path / "run")
    with pytest.raises(InputError, match="6 iterations are done"):
        filter_pool(pool, HashFilter(), replace(SIX, iterations=2), out=tmp_path / "run")
    with pytest.raises(InputError, match="6 iterations are done, and 2 in all are asked for"):
        filter_pool(pool, [(HashFilter(), 2)], replace(SIX, iterations=None), out=tmp_path / "run")
    assert run_bytes(tmp_path / "run") == run_bytes(straight.path)


def test_the_last_phase_goes_on_until_the_iterations_asked_for(pool: CandidatePool) -> None:
    run = filter_pool(pool, [(HashFilter(), 2), (FeatureFilter(), 1)], replace(SIX, iterations=5))
    assert [record.filter for record in run.log] == ["hash", "hash", "feature", "feature", "feature"]


def test_a_schedule_ends_with_its_own_sum(pool: CandidatePool) -> None:
    run = filter_pool(pool, [(HashFilter(), 2), (FeatureFilter(), 1)], replace(SIX, iterations=None))
    assert run.n_finished == 3


OTHERS = {
    "seed": (HashFilter, {"seed": 6}, "seed"),
    "rule": (HashFilter, {"rule": "released"}, "rule"),
    "negatives": (HashFilter, {"n_negatives": 5}, "n_negatives"),
    "filter": (FeatureFilter, {}, "schedule"),
}


@pytest.mark.parametrize(("filter", "changes", "said"), OTHERS.values(), ids=OTHERS.keys())
def test_a_run_begun_otherwise_is_refused_and_left_alone(
    straight: Run, pool: CandidatePool, filter: type, changes: dict, said: str
) -> None:
    before = run_bytes(straight.path)
    with pytest.raises(InputError, match=f"begun with other .*({said})"):
        filter_pool(pool, filter(), replace(SIX, **changes), out=straight.path)
    assert run_bytes(straight.path) == before


def test_a_run_of_another_pool_is_refused(straight: Run) -> None:
    with pytest.raises(InputError, match="belongs to another pool"):
        filter_pool(make_pool(1), HashFilter(), SIX, out=straight.path)


def test_a_folder_that_is_no_run_is_refused(pool: CandidatePool, pool_folder: Path) -> None:
    with pytest.raises(FormatError, match="this is a pool, not a run"):
        filter_pool(pool, HashFilter(), SIX, out=pool_folder)


NOT_TO_BE_DONE = {
    "too many negatives": (HashFilter(), {"n_negatives": 13}, ExhaustedError, "fewer than 13 negatives"),
    "too few to hold out": (HashFilter(), {"test_share": 0.01}, InputError, "cannot be split"),
    "too few to fit": (HashFilter(), {"test_share": 0.99}, InputError, "cannot be split"),
    "no phases": ([], {}, InputError, "empty"),
    "empty phase": ([(HashFilter(), 0)], {}, InputError, "no whole number of iterations"),
    "one name, two filters": ([(HashFilter(), 1), (Watched(), 1)], {}, InputError, "called 'hash'"),
    "unknown filter": ("mpl", {}, InputError, "Did you mean mlp"),
}


@pytest.mark.parametrize(("filter", "changes", "kind", "said"), NOT_TO_BE_DONE.values(), ids=NOT_TO_BE_DONE.keys())
def test_what_cannot_be_done_is_refused_before_any_work(
    pool: CandidatePool, tmp_path: Path, filter, changes: dict, kind: type, said: str
) -> None:
    with pytest.raises(kind, match=said):
        filter_pool(pool, filter, replace(SIX, **changes), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_filter_that_needs_a_missing_table_is_refused_before_any_work(tmp_path: Path) -> None:
    bare = make_pool(n=10)
    bare.manifest["tables"] = [table for table in bare.tables if table != "features"]
    with pytest.raises(InputError, match="no table features"):
        filter_pool(bare, FeatureFilter(), SIX, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_until_stops_after_its_window_and_the_run_counts_as_finished(pool: CandidatePool, tmp_path: Path) -> None:
    run = filter_pool(pool, HashFilter(), replace(SIX, until=1.0, window=2), out=tmp_path / "run")
    assert run.n_finished == 2
    assert read_manifest(tmp_path / "run", "run")["n_planned"] == 2


def test_until_looks_at_the_last_phase_alone(pool: CandidatePool) -> None:
    phases = [(HashFilter(), 4), (FeatureFilter(), 5)]
    assert filter_pool(pool, phases, replace(SIX, iterations=None, until=1.0, window=2)).n_finished == 6


def test_until_far_below_goes_on_to_the_end(pool: CandidatePool) -> None:
    class Oracle(HashFilter):
        def score(self, view: View) -> np.ndarray:
            return -view.columns.astype(float)

    run = filter_pool(pool, Oracle(), replace(SIX, until=0.0, window=1))
    assert run.n_finished == 6
    assert [run.accuracy(i) for i in range(1, 7)] == [1.0] * 6


def test_every_bad_option_is_named_at_once() -> None:
    with pytest.raises(InputError, match=r"--n-easy 0.*--test-share 1.*--seed -1"):
        AFOptions(n_easy=0, test_share=1, seed=-1)


def test_a_schedule_is_names_and_counts() -> None:
    assert parse_schedule("mlp:100, my.module:Class:4") == (("mlp", 100), ("my.module:Class", 4))


@pytest.mark.parametrize("text", ["", "mlp", "mlp:", ":3", "mlp:-1", "mlp:1.5", "mlp:3,"])
def test_a_schedule_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="NAME:COUNT"):
        parse_schedule(text)


def test_a_phase_of_no_iterations_is_refused_as_such() -> None:
    """It was told not to be NAME:COUNT, which it is."""
    with pytest.raises(InputError, match="'bow:0': COUNT is 1 or more"):
        parse_schedule("mlp:2,bow:0")


def test_a_count_beyond_all_use_and_an_open_bracket_are_told() -> None:
    """So many iterations were made a list of before any work, until the memory was full."""
    with pytest.raises(InputError, match="COUNT is below 10,000,000"):
        parse_schedule("mlp:2,bow:999999999999999999999")
    with pytest.raises(InputError, match="COUNT is below 10,000,000"):  # Python makes no number of so many digits
        parse_schedule("mlp:" + 5000 * "9")
    with pytest.raises(InputError, match="COUNT is 1 or more"):
        parse_schedule("mlp:" + 5000 * "0")
    assert parse_schedule("mlp:00000005") == (("mlp", 5),)
    with pytest.raises(InputError, match=r"'bow\[max_epochs=1:2' opens a bracket and does not close it"):
        parse_schedule("bow[max_epochs=1:2")


def test_a_schedule_from_python_beyond_all_use_is_told(pool: CandidatePool) -> None:
    with pytest.raises(InputError, match="fewer than 10,000,000 iterations"):
        filter_pool(pool, [(HashFilter(), 10**12)], AFOptions(iterations=1))


def test_a_run_and_its_pool_move_together(straight: Run, tmp_path: Path) -> None:
    shutil.copytree(straight.path, tmp_path / "elsewhere" / "run")
    assert open_run(tmp_path / "elsewhere" / "run").texts() == straight.texts()


def damage_line(path: Path, number: int) -> None:
    """Cut the end of a line, not of the file."""
    lines = path.read_text().splitlines()
    lines[number - 1] = lines[number - 1][:-9]
    path.write_text("".join(f"{line}\n" for line in lines))


def repeat_a_newcomer(path: Path) -> None:
    """Let the first replacement bring in what stands in another column of its row already."""
    run = open_run(path)
    number = next(i for i in range(1, 1 + run.n_finished) if len(run.replacements[i - 1]))
    file = path / "replacements" / f"{number:04d}.npy"
    changes = np.load(file)
    row, column = changes[0, :2]
    other = next(i for i in range(1, run.start.shape[1]) if i != column)
    changes[0, 2] = run.assignment(number)[row, other]
    np.save(file, changes)


DAMAGES = {
    "a candidate twice in a row": (repeat_a_newcomer, r"replacements.*a candidate is twice in row"),
    "a replacement gone": (lambda run: (run / "replacements" / "0003.npy").unlink(), "damaged"),
    "start cut short": (lambda run: (run / "start.npy").write_bytes(b""), "damaged"),
    "pool gone": (lambda run: shutil.rmtree(run / "pool"), "its pool .* is gone"),
    "another pool": (lambda run: make_pool(1).save(run / "pool", force=True), "another pool"),
    "log broken": (lambda run: (run / "log.jsonl").write_text("{}\n{"), "line 1"),
    "log damaged in the middle": (lambda run: damage_line(run / "log.jsonl", 3), "line 3 is not valid JSON"),
    "manifest of a newer format": (
        lambda run: (run / "manifest.json").write_text('{"format": 2, "kind": "run"}'),
        "format 2",
    ),
    "manifest bare": (lambda run: (run / "manifest.json").write_text('{"format": 1, "kind": "run"}'), "damaged"),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_run_is_refused_in_one_line(straight: Run, tmp_path: Path, damage, said: str) -> None:
    run = Path(shutil.copytree(straight.path, tmp_path / "run"))
    damage(run)
    with pytest.raises((InputError, FormatError), match=said):
        open_run(run)


@pytest.mark.parametrize("name", ["log.jsonl", "timing.jsonl"])
@pytest.mark.parametrize(
    ("cut", "more"), [(9, b""), (1, b""), (0, b'{"iteration": 7, "filt'), (9, b"\0" * 9), (9, b"\n"), (0, b'{"\xc3')]
)
def test_a_log_whose_last_line_is_cut_short_goes_on_to_the_bytes_of_a_straight_run(
    straight: Run, pool: CandidatePool, tmp_path: Path, name: str, cut: int, more: bytes
) -> None:
    run = Path(shutil.copytree(straight.path, tmp_path / "run"))
    content = (run / name).read_bytes()
    (run / name).write_bytes(content[: len(content) - cut] + more)
    assert open_run(run).n_finished == (5 if cut and name == "log.jsonl" else 6)
    filter_pool(pool, HashFilter(), SIX, out=run)
    assert run_bytes(run) == run_bytes(straight.path)
    assert [one.iteration for one in open_run(run).timing] == [1, 2, 3, 4, 5, 6]


def test_a_copy_of_a_run_without_its_timing_goes_on(straight: Run, pool: CandidatePool, tmp_path: Path) -> None:
    """The next iteration was its first line, which nothing could read."""
    filter_pool(pool, HashFilter(), replace(SIX, iterations=3), out=tmp_path / "run")
    (tmp_path / "run" / "timing.jsonl").unlink()
    filter_pool(pool, HashFilter(), SIX, out=tmp_path / "run")
    assert [one.iteration for one in open_run(tmp_path / "run").timing] == list(range(1, 7))
    assert run_bytes(tmp_path / "run") == run_bytes(straight.path)


class Saying(HashFilter):
    """Says something of its fits."""

    name = "saying"

    def __init__(self, said: object) -> None:
        self.said = said

    def fit_record(self) -> dict[str, object]:
        return {"loss": self.said}


def test_what_a_fit_says_is_kept_so_that_it_can_be_read(pool: CandidatePool, tmp_path: Path) -> None:
    """A loss that is no number made the log unreadable."""
    filter_pool(pool, Saying(float("nan")), replace(SIX, iterations=2), out=tmp_path / "run")
    assert [one.fit for one in open_run(tmp_path / "run").log] == [{"loss": "nan"}] * 2
    with pytest.raises(ContractError, match="its fit_record cannot be kept"):
        filter_pool(pool, Saying(object()), SIX, out=tmp_path / "other")
