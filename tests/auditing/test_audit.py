"""Claims about audits: honest folds, honest intervals, the same bytes however often the run was killed."""

import itertools
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_contexts_of, make_pool
from folders import write

from swag_af.af.loop import filter_pool
from swag_af.af.measures import accuracy
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.options import AuditOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_columns, audit_of_run, audit_pool, audit_run, due_iterations
from swag_af.auditing.runs.crossval import audit_rng, rank_shares, scores_by_fold
from swag_af.auditing.runs.summary import audit_rows
from swag_af.cli.datasets.auditing import is_of_run, run_audit
from swag_af.cli.options import ShowOptions
from swag_af.cli.runs.filtering import run_filter
from swag_af.cli.showing.show import show
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError, FormatError, InputError
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.numbers.interval import interval
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.findings import AUDITS, keep, over_seeds, read_audits
from swag_af.data.runs.run import Run, open_run
from swag_af.data.splits import deal
from swag_af.filters import registry
from swag_af.filters.registry import DEFAULT_AUDIT
from swag_af.reporting.plot import audit_places, audit_points, colours, plot_run
from swag_af.reporting.tables.text import run_lines

SIX = AFOptions(iterations=6, n_negatives=4, seed=5)


def assignment_of(pool: CandidatePool, n_assigned: int = 5) -> np.ndarray:
    return random_assignment(pool.counts, n_assigned, rng=np.random.default_rng(1))


def planted(pool: CandidatePool) -> CandidatePool:
    """`pool` with features that give gold away."""
    pool._shards[0]._arrays["features"] = pool.gather("features", np.arange(len(pool))).copy()
    pool._shards[0]._arrays["features"][:, 0] += 3
    return pool


@pytest.fixture(autouse=True)
def plain(fake_filters: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes by name, and no curves."""
    monkeypatch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])


class Watched(HashFilter):
    """Notes which rows each fit and each score saw."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, np.ndarray]] = []

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.seen.append(("fit", view.rows))
        super().fit(view, rng=rng)

    def score(self, view: View) -> np.ndarray:
        self.seen.append(("score", view.rows))
        return super().score(view)


# ------------------------------------------------------------------------------------------------------------ folds


class HashOf(HashFilter):
    """A filter that takes a setting in brackets."""

    argument = "word"

    def __init__(self, word: str = "") -> None:
        self.word = word


def fold_of(groups: np.ndarray, n_folds: int, *, seed: int) -> np.ndarray:
    """The folds that an audit of this seed uses."""
    n_parts = min(n_folds, int(groups.max()) + 1)
    return deal(groups, n_parts, rng=audit_rng(seed), largest_first=False)


@pytest.mark.parametrize(
    "fault", ["gold is not first", "a candidate that is not there", "gold twice", "rows are missing"]
)
def test_what_is_no_assignment_is_refused(pool: CandidatePool, fault: str) -> None:
    """An audit told how often a wrong ending, or an empty one, is found."""
    assignment = assignment_of(pool)
    if fault == "gold is not first":
        assignment = assignment[:, ::-1]
    elif fault == "rows are missing":
        assignment = assignment[:5]
    else:
        assignment[:, 1] = 0 if fault == "gold twice" else pool.counts
    with pytest.raises(InputError, match="assignment"):
        audit_pool(pool, assignment, ["hash"])


def test_no_video_is_fitted_on_and_scored_by_the_same_fit(pool: CandidatePool) -> None:
    watched = Watched()
    audit_pool(pool, assignment_of(pool), [watched])
    videos = np.array([context.video for context in pool.contexts])
    for (_, fitted), (_, scored) in zip(watched.seen[::2], watched.seen[1::2], strict=True):
        assert not set(videos[fitted]) & set(videos[scored])


def test_every_context_is_scored_once(pool: CandidatePool) -> None:
    watched = Watched()
    audit_pool(pool, assignment_of(pool), [watched], n_folds=3)
    scored = np.concatenate([rows for what, rows in watched.seen if what == "score"])
    np.testing.assert_array_equal(np.sort(scored), np.arange(len(pool)))


def out_of_fold(
    pool: CandidatePool, columns: np.ndarray, folds: np.ndarray, rows: np.ndarray | None = None
) -> np.ndarray:
    """(n, m) the scores of all folds, in the order of the rows."""
    scores = np.full(columns.shape, np.nan)
    for test, found in scores_by_fold(HashFilter(), pool, columns, folds, rows=rows, seed=0):
        scores[test] = found
    return scores


def test_many_rows_are_scored_some_at_a_time_with_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = make_pool()
    folds = fold_of(pool.groups, 5, seed=0)
    whole = out_of_fold(pool, assignment_of(pool), folds)
    monkeypatch.setattr("swag_af.filters.contract.SCORED_AT_ONCE", 7)
    np.testing.assert_array_equal(out_of_fold(pool, assignment_of(pool), folds), whole)


@pytest.mark.parametrize("n_folds", [2, 5, 9])
def test_folds_hold_whole_groups_and_differ_by_one_group_at_most(n_folds: int) -> None:
    groups = np.repeat(np.arange(40), np.random.default_rng(0).integers(1, 7, 40))
    folds = fold_of(groups, n_folds, seed=3)
    assert all(len(set(folds[groups == group])) == 1 for group in range(40))
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.max() - sizes.min() <= np.bincount(groups).max()


def test_there_are_never_more_folds_than_videos(pool: CandidatePool) -> None:
    (found,) = audit_pool(pool, assignment_of(pool), ["hash"], n_folds=50)
    assert found.n_folds == found.n_groups == 10


def test_a_pool_of_one_video_is_refused() -> None:
    pool = CandidatePool.from_texts(make_contexts_of(6, n_videos=1), [["a b.", "c d."]] * 6, tagger="rules")
    with pytest.raises(InputError, match="of one group"):
        audit_pool(pool, assignment_of(pool, 3), ["hash"])


# --------------------------------------------------------------------------------------------- accuracy and interval


def test_the_first_rank_is_the_accuracy_of_the_loop_and_ranks_share_ties() -> None:
    scores = np.random.default_rng(0).integers(0, 4, (500, 6)).astype(float)
    ranks = rank_shares(scores)
    assert ranks[:, 0].mean() == pytest.approx(accuracy(scores))
    np.testing.assert_allclose(ranks.sum(axis=1), 1)
    np.testing.assert_allclose(rank_shares(np.array([[1.0, 2, 1, 0]])), [[0, 0.5, 0.5, 0]])


def test_a_planted_signal_is_found_and_its_interval_excludes_chance() -> None:
    pool = planted(make_pool())
    (found,) = audit_pool(pool, assignment_of(pool), ["feature"])
    assert found.accuracy > 0.8
    assert found.low > found.chance == 0.2
    assert found.low <= found.accuracy <= found.high


def test_where_there_is_no_signal_the_interval_holds_chance_about_nineteen_times_in_twenty() -> None:
    pool = make_pool(n=60)
    found = [audit_pool(pool, assignment_of(pool), ["hash"], seed=seed)[0] for seed in range(20)]
    assert sum(f.low <= f.chance <= f.high for f in found) >= 17


@pytest.mark.parametrize("name", ["ngrams", "chars", "fasttext", "bow"])
def test_real_filters_find_a_word_that_only_gold_has(name: str) -> None:
    if name in ("ngrams", "chars"):
        pytest.importorskip("sklearn")
    if name == "fasttext":
        pytest.importorskip("fasttext")
    contexts = [replace(c, gold=f"gladly {c.gold}") for c in make_contexts_of(60, n_videos=20)]
    words = np.array(["runs", "sits", "sees", "birds", "trees", "far", "near", "often"])
    rng = np.random.default_rng(0)
    negatives = [[" ".join(rng.permutation(words)[:5]) + "." for _ in range(4)] for _ in contexts]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="rules")
    (found,) = audit_pool(pool, assignment_of(pool, 4), [name])
    assert found.filter == name
    assert found.low > 0.5


class NotFinite(HashFilter):
    """Breaks its contract."""

    def score(self, view: View) -> np.ndarray:
        return np.full(view.shape, np.nan)


def test_scores_that_are_not_finite_are_refused_not_counted(pool: CandidatePool) -> None:
    with pytest.raises(ContractError, match="not all scores are finite"):
        audit_pool(pool, assignment_of(pool), [NotFinite()])


def test_the_same_seed_finds_the_same_and_another_deals_other_folds(pool: CandidatePool) -> None:
    first, again, other = (audit_pool(pool, assignment_of(pool), ["hash"], seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first[0].ranks != other[0].ranks


def test_one_filter_with_two_arguments_is_two_filters(pool: CandidatePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FILTERS, "hash", "test_audit:HashOf")
    run = filter_pool(pool, HashFilter(), SIX)
    found = audit_run(run, AuditPlan([6], ["hash[one]", "hash[two]"]))
    assert [f.filter for f in found] == ["hash[one]", "hash[two]"]
    assert all("took part" in row[0] for row in audit_rows(run, found)[1:])


def test_what_one_filter_finds_does_not_hang_on_the_others(pool: CandidatePool) -> None:
    both = audit_pool(pool, assignment_of(pool), ["feature", "hash"])
    assert both[1:] == audit_pool(pool, assignment_of(pool), [HashFilter()])


# -------------------------------------------------------------------------------------------------- within `filter`


def options(pool_folder: Path, out: Path, **changes) -> FilterOptions:
    return FilterOptions(
        pool_folder, out, **{"schedule": "hash:6", "audit": "feature,hash", "audit_every": 2, **changes}, af=SIX
    )


@pytest.fixture(scope="module")
def audited(pool_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six iterations audited at 0, 2, 4 and 6, at one go; not to be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.FILTERS, "hash", "conftest:HashFilter")
        patch.setitem(registry.FILTERS, "feature", "conftest:FeatureFilter")
        patch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])
        out = tmp_path_factory.mktemp("audited") / "run"
        run_filter(options(pool_folder, out))
    return out


@pytest.fixture
def straight(audited: Path, tmp_path: Path) -> Run:
    """The same, to be changed."""
    return open_run(shutil.copytree(audited, tmp_path / "straight"))


def keys(folder: Path) -> list[tuple[int | None, str]]:
    return [(f.iteration, f.filter) for f in read_audits(folder).findings]


def test_a_run_is_audited_at_the_start_every_nth_and_at_the_end(straight: Run) -> None:
    assert keys(straight.path) == list(itertools.product((0, 2, 4, 6), ("feature", "hash")))


def test_by_default_a_run_is_audited_before_and_after(pool_folder: Path, tmp_path: Path) -> None:
    run_filter(options(pool_folder, tmp_path / "run", audit="hash", audit_every=0))
    assert keys(tmp_path / "run") == [(0, "hash"), (6, "hash")]


def test_none_audits_nothing(pool_folder: Path, tmp_path: Path) -> None:
    run_filter(options(pool_folder, tmp_path / "run", audit="none", audit_every=0))
    assert not (tmp_path / "run" / AUDITS).exists()
    with pytest.raises(InputError, match="--audit-every 2: --audit none names no filter"):
        options(pool_folder, tmp_path / "run", audit="none")


def test_audits_change_nothing_in_the_run(straight: Run, pool_folder: Path, tmp_path: Path) -> None:
    run_filter(options(pool_folder, tmp_path / "run", audit="none", audit_every=0))
    for name in ("start.npy", "log.jsonl", "replacements/0006.npy"):
        assert (tmp_path / "run" / name).read_bytes() == (straight.path / name).read_bytes()


class KilledAt(HashFilter):
    """Interrupted in one of its fits, counted over all of its objects."""

    fits_left = 0

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        KilledAt.fits_left -= 1
        if KilledAt.fits_left == 0:
            raise KeyboardInterrupt
        super().fit(view, rng=rng)


@pytest.mark.parametrize("fit", [2, 4, 9, 11, 14, 17, 25], ids=lambda fit: f"fit {fit}")
def test_a_run_killed_anywhere_ends_with_the_audits_of_a_straight_one(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fit: int
) -> None:
    monkeypatch.setitem(registry.FILTERS, "hash", "test_audit:KilledAt")
    KilledAt.fits_left = 0
    run_filter(options(pool_folder, tmp_path / "straight"))
    KilledAt.fits_left = fit
    with pytest.raises(KeyboardInterrupt):
        run_filter(options(pool_folder, tmp_path / "run"))
    run_filter(options(pool_folder, tmp_path / "run"))
    assert (tmp_path / "run" / AUDITS).read_bytes() == (tmp_path / "straight" / AUDITS).read_bytes()


def test_audits_that_were_lost_are_made_again_and_no_other(
    straight: Run, pool_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (straight.path / AUDITS).read_text()
    (straight.path / AUDITS).write_text(
        "".join(line + "\n" for line in whole.splitlines() if '"iteration": 4' not in line)
    )
    n_made = []
    monkeypatch.setattr(
        "swag_af.auditing.runs.audit.audit_pool", lambda *a, **k: n_made.append(1) or audit_pool(*a, **k)
    )
    run_filter(options(pool_folder, straight.path))
    assert (straight.path / AUDITS).read_text() == whole
    assert len(n_made) == 2


def test_what_is_due_hangs_on_the_iterations_finished(pool: CandidatePool) -> None:
    run = filter_pool(pool, HashFilter(), SIX)
    assert due_iterations(run, 0, ended=False) == []
    assert due_iterations(run, 0, ended=True) == [0, 6]
    assert due_iterations(run, 4, ended=False) == [0, 4]
    assert due_iterations(run, 4, ended=True) == [0, 4, 6]


NOT_TO_BE_HAD = {
    "unknown": ("hahs", "Did you mean hash"),
    "no such class": ("conftest:Nothing", "cannot be loaded"),
    "blank": ("hash,,feature", "blank or repeated"),
    "twice": ("hash,hash", "blank or repeated"),
}


@pytest.mark.parametrize(("names", "said"), NOT_TO_BE_HAD.values(), ids=NOT_TO_BE_HAD.keys())
def test_an_audit_filter_named_by_hand_that_cannot_be_had_is_refused_before_any_work(
    pool_folder: Path, tmp_path: Path, names: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        run_filter(options(pool_folder, tmp_path / "run", audit=names))
    assert not (tmp_path / "run").exists()


class Packageless(HashFilter):
    """Cannot be fitted where its package is not installed."""

    def check(self) -> None:
        raise InputError("its package is not installed. Install it with: pip install it")


class Longest(HashFilter):
    """Likes long endings."""

    name = "longest"

    def score(self, view: View) -> np.ndarray:
        return view.lengths.astype(float)


class OtherPackageless(Packageless):
    """With a name of its own."""

    name = "fasttext"


def test_a_default_audit_filter_without_its_package_is_left_out_with_a_note_and_made_later(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.FILTERS, "ngrams", "conftest:HashFilter")
    monkeypatch.setitem(registry.FILTERS, "chars", "test_audit:Longest")
    monkeypatch.setitem(registry.FILTERS, "fasttext", "test_audit:OtherPackageless")
    default = options(pool_folder, tmp_path / "run", audit=",".join(DEFAULT_AUDIT))
    run = run_filter(default)
    assert {name for _, name in keys(run.path)} == {"hash", "longest"}
    assert read_audits(run.path).left_out[0][0] == "fasttext"
    assert "fasttext was left out: its package is not installed" in "\n".join(run_lines(run))
    monkeypatch.setitem(registry.FILTERS, "fasttext", "conftest:FeatureFilter")
    run_filter(default)
    assert {name for _, name in keys(run.path)} == {"hash", "longest", "feature"}


# ------------------------------------------------------------------------------------------------------ the verb


def test_the_verb_finds_what_the_run_found_and_adds_no_second_line(straight: Run) -> None:
    before = (straight.path / AUDITS).read_bytes()
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=4))
    assert found[0] in read_audits(straight.path).findings
    assert (straight.path / AUDITS).read_bytes() == before


def test_the_verb_keeps_what_it_finds_in_order(straight: Run) -> None:
    audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=3))
    audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=3, folds=2, seed=9))
    assert [i for i, name in keys(straight.path) if name == "hash"] == [0, 2, 3, 3, 4, 6]


def test_two_that_audit_one_run_at_the_same_time_lose_nothing_of_each_other(straight: Run) -> None:
    others = iter([AuditPlan([1, 3, 5], ["feature"], seeds=[SIX.seed])])  # at once, while the first is at work

    def advance(*_: object, **__: object) -> None:
        for plan in others:
            audit_run(straight, plan)

    audit_run(straight, AuditPlan([1, 3, 5], ["hash"], seeds=[SIX.seed]), advance=advance)
    assert keys(straight.path) == list(itertools.product(range(7), ["feature", "hash"]))


def test_findings_kept_by_several_threads_are_all_there(straight: Run) -> None:
    one = read_audits(straight.path).findings[0]
    with ThreadPoolExecutor(8) as threads:
        for made in [threads.submit(keep, straight.path, finding=replace(one, seed=seed)) for seed in range(50, 90)]:
            made.result()
    assert len(read_audits(straight.path).findings) == 8 + 40
    assert not list(straight.path.glob(".*.lock"))


def test_the_verb_audits_before_and_after_unless_told_an_iteration(straight: Run) -> None:
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash"))
    assert [f.iteration for f in found] == [0, 6]


@pytest.mark.parametrize("more", ["out", "compare", "gate", "junit", "sarif"])
def test_an_iteration_is_of_a_run_that_is_audited_itself(straight: Run, tmp_path: Path, more: str) -> None:
    """The assignment after the last one was audited in its place."""
    options = AuditOptions((straight.path,), iteration=3, **{more: tmp_path / "made"})
    assert not is_of_run(options)
    with pytest.raises(InputError, match=r"^--iteration 3: of a run folder alone, without --out, --compare, --gate"):
        run_audit(options)
    assert is_of_run(AuditOptions((straight.path,), iteration=3))


def test_how_files_are_read_is_no_option_of_a_run_that_is_audited_itself(straight: Run, tmp_path: Path) -> None:
    reading = ReadingOptions(format="csv", columns=InstanceColumns(id_column="nr"), mask="persons")
    options = AuditOptions((straight.path,), reading=reading)
    with pytest.raises(InputError, match=r"^--format, --id-column, --mask: of files, and without --out a run itself"):
        is_of_run(options)
    assert not is_of_run(replace(options, out=tmp_path / "audit"))
    assert is_of_run(replace(options, reading=ReadingOptions()))


def test_several_seeds_are_counted_from_the_first_and_what_is_there_is_not_made_again(
    straight: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(
        "swag_af.auditing.runs.audit.audit_pool", lambda *a, **k: made.append(k["seed"]) or audit_pool(*a, **k)
    )
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash", seeds=3))
    assert [(f.iteration, f.seed) for f in found] == [(0, 5), (0, 6), (0, 7), (6, 5), (6, 6), (6, 7)]
    assert made == [6, 7, 6, 7]
    assert len({f.hits for f in found}) == 6
    audit_of_run(AuditOptions((straight.path,), filters="hash", seeds=3))
    assert len(made) == 4


@pytest.mark.parametrize("more", [{"workers": 2}, {"where": EngineOptions("processes")}])
def test_a_judge_is_not_shared_among_processes_which_write_one_journal(straight: Run, more: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"judge\[http://localhost:1\]: one process writes its answers"):
        audit_of_run(AuditOptions((straight.path,), filters="hash,judge[http://localhost:1]", **more))


@pytest.mark.parametrize("iteration", [-1, 7])
def test_the_verb_refuses_an_iteration_that_never_was(straight: Run, iteration: int) -> None:
    with pytest.raises(InputError, match="0 to 6"):
        audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=iteration))


def test_the_verb_raises_where_a_long_run_would_go_on(straight: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FILTERS, "hash", "test_audit:NotFinite")
    with pytest.raises(ContractError, match="finite"):
        audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=5))


@pytest.mark.parametrize("wrong", [{"filters": "none"}, {"folds": 1}, {"seed": -1}, {"seeds": 0}, {"draws": 2}])
def test_options_of_an_audit_out_of_range_are_refused_when_made(wrong: dict) -> None:
    with pytest.raises(InputError, match="--"):
        AuditOptions((Path("run"),), **wrong)


def test_a_run_in_memory_is_audited_and_nothing_is_written(pool: CandidatePool) -> None:
    run = filter_pool(pool, HashFilter(), SIX)
    found = audit_run(run, AuditPlan([0, 6], [FeatureFilter()], n_folds=3))
    assert [f.iteration for f in found] == [0, 6]


def test_an_audit_of_a_run_is_that_of_its_assignment(straight: Run) -> None:
    found = next(f for f in read_audits(straight.path).findings if (f.iteration, f.filter) == (4, "feature"))
    (alone,) = audit_pool(straight.pool, open_run(straight.path).assignment(4), ["feature"], seed=SIX.seed)
    assert replace(alone, iteration=4) == found


def test_a_filter_that_took_part_is_marked(straight: Run) -> None:
    said = "\n".join(run_lines(straight))
    assert "hash (took part)" in said
    assert "feature (took part)" not in said


def test_two_filters_in_brackets_are_kept_as_two_by_the_verb(straight: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FILTERS, "hash", "test_audit:HashOf")
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash[one],hash[two]", iteration=6))
    assert [f.filter for f in found] == ["hash[one]", "hash[two]"]
    assert {name for _, name in keys(straight.path)} >= {"hash[one]", "hash[two]"}


def test_what_was_found_already_is_told_by_who_can_no_longer_find_it(
    straight: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (straight.path / AUDITS).read_bytes()
    monkeypatch.setattr(HashFilter, "check", Packageless.check, raising=False)
    audit_run(straight, AuditPlan([0, 2, 4, 6], ["feature", "hash"], seeds=[SIX.seed]), forgiving=True)
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash"))
    assert [(f.iteration, f.filter) for f in found] == [(0, "hash"), (6, "hash")]
    assert (straight.path / AUDITS).read_bytes() == whole


def test_the_verb_checks_every_filter_that_is_new_before_any_fit(
    straight: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (straight.path / AUDITS).read_bytes()
    monkeypatch.setitem(registry.FILTERS, "new", "test_audit:Watched")
    with pytest.raises(InputError, match="no filter 'nonsense'"):
        audit_of_run(AuditOptions((straight.path,), filters="new,nonsense"))
    assert (straight.path / AUDITS).read_bytes() == whole


@dataclass(kw_only=True)
class Shifted(HashFilter):
    """A filter with settings."""

    shift: float = 0.0
    device: str = "auto"

    name: ClassVar[str] = "shifted"

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        super().fit(view, rng=rng)
        self.salt += str(self.shift)


def test_a_finding_of_other_settings_is_no_answer(straight: Run) -> None:
    (one,) = audit_run(straight, AuditPlan([6], [Shifted(shift=1.0)]))
    (two,) = audit_run(straight, AuditPlan([6], [Shifted(shift=2.0)]))
    assert one.ranks != two.ranks
    assert audit_run(straight, AuditPlan([6], [Shifted(shift=1.0)])) == [one]
    assert keys(straight.path).count((6, "shifted")) == 2


def test_where_a_filter_computes_makes_no_other_finding(straight: Run) -> None:
    audit_run(straight, AuditPlan([6], [Shifted(device="auto")]))
    audit_run(straight, AuditPlan([6], [Shifted(device="cpu")]))
    assert keys(straight.path).count((6, "shifted")) == 1


def test_a_line_that_knows_no_settings_is_that_of_the_filter_as_named(
    straight: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.FILTERS, "shifted", "test_audit:Shifted")
    audit_run(straight, AuditPlan([6], ["shifted"], seeds=[SIX.seed]))
    lines = [json.loads(line) for line in (straight.path / AUDITS).read_text().splitlines()]
    assert any(line.pop("settings") for line in lines)
    write(straight.path / AUDITS, lines)
    audit_run(straight, AuditPlan([6], ["shifted"], seeds=[SIX.seed]))
    assert keys(straight.path).count((6, "shifted")) == 1
    audit_run(straight, AuditPlan([6], [Shifted(shift=1.0)], seeds=[SIX.seed]))
    assert keys(straight.path).count((6, "shifted")) == 2


@pytest.mark.parametrize(
    "line", ["{}", '{"iteration": 0, "filter": "hash"}', '{"iteration": 1, "what": 2, "ranks": []}']
)
def test_a_damaged_line_is_named(straight: Run, line: str) -> None:
    with (straight.path / AUDITS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(FormatError, match="line 9 is not an audit"):
        read_audits(straight.path)


def test_a_path_is_no_pool_and_says_what_opens_one(pool_folder: Path) -> None:
    with pytest.raises(InputError, match=r"pool: a \w*Path, where CandidatePool is due\. CandidatePool\.open"):
        audit_pool(pool_folder, np.zeros((30, 4)))


def test_a_last_line_that_is_cut_short_is_audited_again(straight: Run, pool_folder: Path) -> None:
    whole = (straight.path / AUDITS).read_bytes()
    (straight.path / AUDITS).write_bytes(whole[:-9])
    assert len(read_audits(straight.path).findings) == whole.count(b"\n") - 1
    run_filter(options(pool_folder, straight.path))
    assert (straight.path / AUDITS).read_bytes() == whole


def test_a_finding_keeps_every_hit_and_its_accuracy_is_their_mean(straight: Run) -> None:
    for finding in read_audits(straight.path).findings:
        assert len(finding.hits) == len(straight.pool)
        assert np.mean(finding.hits) == pytest.approx(finding.accuracy, abs=1e-4)
        assert sum(finding.hits) == pytest.approx(finding.ranks[0], abs=1e-2)


def test_a_tie_at_the_top_is_a_part_of_a_hit(pool: CandidatePool) -> None:
    class Undecided(HashFilter):
        def score(self, view: View) -> np.ndarray:
            return np.zeros(view.shape)

    (found,) = audit_pool(pool, assignment_of(pool, 3), [Undecided()])
    assert found.hits == (0.3333,) * len(pool)


def test_audits_that_an_earlier_checkout_kept_are_told_with_the_intervals_of_now(straight: Run) -> None:
    """They had the variance of single hits, and stood beside those of now as if they said the same."""
    now, lines = read_audits(straight.path).findings, []
    for record in map(json.loads, (straight.path / AUDITS).read_text().splitlines()):
        low, high = interval(np.array(record["hits"]), straight.pool.groups)
        del record["variance_times"]
        lines.append(json.dumps(record | {"low": round(low, 6), "high": round(high, 6)}) + "\n")
    (straight.path / AUDITS).write_text("".join(lines))
    for old, new in zip(read_audits(straight.path).findings, now, strict=True):
        assert (old.low, old.high) == pytest.approx((new.low, new.high), abs=1e-4)
        assert replace(old, low=new.low, high=new.high) == new


def test_older_files_have_no_hits_and_are_read(straight: Run) -> None:
    lines = [json.loads(line) for line in (straight.path / AUDITS).read_text().splitlines()]
    assert all(line.pop("hits") for line in lines)
    write(straight.path / AUDITS, lines)
    assert all(finding.hits == () for finding in read_audits(straight.path).findings)
    assert "not paired" in "\n".join(run_lines(straight))


def test_seeds_are_brought_together_as_their_mean(straight: Run) -> None:
    _, found = audit_of_run(AuditOptions((straight.path,), filters="hash", iteration=6, seeds=4))
    ((mean, n_seeds),) = over_seeds(found)
    assert n_seeds == 4
    assert mean.accuracy == pytest.approx(np.mean([f.accuracy for f in found]))
    np.testing.assert_allclose(mean.hits, np.mean([f.hits for f in found], axis=0))
    assert over_seeds(found[:1]) == [(found[0], 1)]


def test_rows_and_columns_of_ones_own_are_audited_like_a_pool_of_them(pool: CandidatePool) -> None:
    rows = np.arange(0, len(pool), 2)
    columns, groups = assignment_of(pool)[rows], np.arange(len(rows)) // 2
    (found,) = audit_columns(pool, rows, columns, groups, ["hash"], n_folds=3)
    folds = fold_of(groups, 3, seed=0)
    scores = out_of_fold(pool, columns, folds, rows)
    assert found.n == len(rows)
    assert found.n_groups == int(groups.max()) + 1
    assert found.accuracy == pytest.approx(accuracy(scores), abs=1e-6)


def test_every_line_is_plain_json(straight: Run) -> None:
    records = [json.loads(line) for line in (straight.path / AUDITS).read_text().splitlines()]
    assert all(0 <= r["low"] <= r["accuracy"] <= r["high"] <= 1 for r in records)
    assert all(sum(r["ranks"]) == pytest.approx(r["n"], abs=0.01) for r in records)


# ------------------------------------------------------------------------------------------------ where it is shown


def test_audits_stand_beside_the_curve_clear_of_its_ends(straight: Run) -> None:
    places = audit_places(straight, audit_points(straight, read_audits(straight.path)))
    assert len(places) == 8
    assert all(x < 0 if finding.iteration == 0 else x > finding.iteration for finding, _, x in places)
    assert len({x for *_, x in places}) == 8


def test_the_same_audits_give_the_same_picture_and_others_another(straight: Run, tmp_path: Path) -> None:
    one, two = (plot_run(straight, tmp_path / name)[1].read_bytes() for name in ("one", "two"))
    (straight.path / AUDITS).unlink()
    assert one == two != plot_run(straight, tmp_path / "three")[1].read_bytes()


def test_unknown_filters_have_colours_of_their_own() -> None:
    found = colours(["mlp", "mine", "ngrams", "yours", "fasttext", "chars", "ours"])
    assert len(set(found.values())) == 7


def test_a_run_is_shown_with_its_audits_and_its_report(straight: Run) -> None:
    text = show(ShowOptions(straight.path))
    assert "95 % interval" in text
    assert str(straight.path / "report.html") in text
    assert "swag-af audit" not in text
    (straight.path / AUDITS).unlink()
    assert f"swag-af audit {straight.path}" in show(ShowOptions(straight.path))


def test_a_model_of_datasets_is_no_filter_of_runs(straight: Run) -> None:
    assert straight.path is not None
    with pytest.raises(InputError, match="this model reads datasets, not runs"):
        audit_of_run(AuditOptions((straight.path,), filters="tfidf"))
