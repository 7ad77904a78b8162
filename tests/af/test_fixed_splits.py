"""Folds that stay, with a filter each: never fitted on what it scores, resumable to the same bytes, and cheaper."""

import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import folders
import numpy as np
import pytest
from conftest import FeatureFilter, FitsAnew
from hypothesis import given
from hypothesis import strategies as st
from killed import KilledError, break_after, kill_at

from swag_af.af.fitting import WARM, dealt_folds
from swag_af.af.loop import FREE, filter_pool
from swag_af.af.measures import accuracy
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.disk.replacing import HOST
from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run
from swag_af.filters import neural
from swag_af.filters.members import BagOfWordsFilter, MLPFilter
from swag_af.filters.neural import newest
from swag_af.nn.training import Adam

OPTIONS = AFOptions(iterations=13, n_negatives=3, splits="fixed")


class SeenFilter(FeatureFilter):
    """A fake that remembers every row it was fitted on, in all fits that its state comes from."""

    name = "seen"

    def __init__(self) -> None:
        self.fits: list[tuple[np.ndarray, np.ndarray]] = []
        """Rows that were learnt from until then, and rows that were scored."""

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        self.fit(view, rng=rng)
        before = state["rows"] if state else np.zeros(0, np.int64)
        self.rows = np.union1d(before, view.rows)

    def state(self) -> dict[str, np.ndarray]:
        return {"rows": self.rows}

    def score(self, view: View) -> np.ndarray:
        self.fits.append((self.rows, view.rows))
        return super().score(view)


files_of = partial(folders.files_of, but=("timing.jsonl", "manifest.json"))


def test_a_filter_was_never_fitted_on_what_it_scores(pool: CandidatePool) -> None:
    seen = SeenFilter()
    filter_pool(pool, seen, OPTIONS)
    assert len(seen.fits) >= 13
    for learnt, scored in seen.fits:
        assert not np.intersect1d(learnt, scored).size
        assert not np.intersect1d(pool.groups[learnt], pool.groups[scored]).size


def test_folds_are_whole_groups_and_take_turns(pool: CandidatePool) -> None:
    folds = dealt_folds(pool.groups, 0.2, seed=3)
    assert len(np.unique(folds)) == 5
    assert all(len(set(folds[pool.groups == group])) == 1 for group in np.unique(pool.groups))
    run = filter_pool(pool, FitsAnew(), AFOptions(iterations=5, n_negatives=3, splits="fixed", seed=3))
    for fold, changes in enumerate(run.replacements):
        assert set(folds[changes[:, 0]]) <= {fold}


PHASES = [("mlp", 6), ("bow", 7)]


@pytest.fixture(scope="module")
def straight(pool: CandidatePool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in one go."""
    out = tmp_path_factory.mktemp("straight") / "run"
    filter_pool(pool, PHASES, OPTIONS, out=out)
    return out


def test_a_run_in_memory_is_that_on_disk(pool: CandidatePool, straight: Path) -> None:
    run = filter_pool(pool, PHASES, OPTIONS)
    changes = [np.load(path) for path in sorted((straight / "replacements").glob("*.npy"))]
    assert all(np.array_equal(a, b) for a, b in zip(run.replacements, changes, strict=True))


@pytest.mark.parametrize("n", [1, 4, 6, 9])
def test_a_stopped_run_goes_on_to_the_same_bytes(pool: CandidatePool, straight: Path, tmp_path: Path, n: int) -> None:
    for again in (True, False):
        try:
            filter_pool(pool, PHASES, OPTIONS, out=tmp_path / "run", after_iteration=stop_after(n if again else 99))
        except KilledError:
            assert again
    assert files_of(tmp_path / "run") == files_of(straight)


def stop_after(n: int):
    return break_after(n, lambda run: None)


def test_a_kill_between_state_and_log_changes_nothing(pool: CandidatePool, straight: Path, tmp_path: Path) -> None:
    run = partial(filter_pool, pool, PHASES, OPTIONS, out=tmp_path / "run")
    kill_at(Run, "append", 8, run)
    run()
    assert files_of(tmp_path / "run") == files_of(straight)


def test_one_state_a_filter_and_fold_is_kept(straight: Path) -> None:
    kept = sorted(path.name for path in (straight / WARM).iterdir())
    assert kept == [f"{i:04d}.npz" for i in (2, 3, 4, 5, 6, 9, 10, 11, 12, 13)]


def test_a_run_whose_states_are_gone_cannot_go_on(pool: CandidatePool, tmp_path: Path) -> None:
    out = tmp_path / "run"
    filter_pool(pool, "mlp", AFOptions(iterations=6, n_negatives=3, splits="fixed"), out=out)
    (out / WARM / "0002.npz").unlink()
    with pytest.raises(FormatError, match=r"0002.npz: missing"):
        filter_pool(pool, "mlp", AFOptions(iterations=7, n_negatives=3, splits="fixed"), out=out)


def test_what_is_not_ours_among_the_states_is_left_alone(pool: CandidatePool, straight: Path, tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        filter_pool(pool, PHASES, OPTIONS, out=tmp_path / "run", after_iteration=stop_after(7))
    strays = [
        tmp_path / "run" / WARM / name for name in ("foo.npz", "0001.npz.bak", "00001 copy.npz", "-3.npz", "²³.npz")
    ]
    for path in strays:
        path.write_bytes(b"mine")
    (tmp_path / "run" / WARM / "0099.npz").mkdir()
    filter_pool(pool, PHASES, OPTIONS, out=tmp_path / "run")
    assert [path.read_bytes() for path in strays] == [b"mine"] * len(strays)
    ours = {name: held for name, held in files_of(tmp_path / "run").items() if tmp_path / "run" / name not in strays}
    assert ours == files_of(straight)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.write_bytes(b"mine"), "0002.npz: not an .npz archive"),
        (lambda path: path.write_bytes(path.read_bytes()[:-60]), "0002.npz: damaged"),
        (lambda path: np.savez(path, other=np.zeros(2)), "its state has no "),
        (
            lambda path: rewrite(path, lambda weights: weights[..., None]),
            "of its state is",
        ),
        (
            lambda path: rewrite(path, lambda weights: weights.astype(str)),
            "of its state is",
        ),
    ],
)
def test_a_damaged_state_is_told_in_one_line(
    damage: Callable[[Path], None], said: str, pool: CandidatePool, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    filter_pool(pool, "mlp", AFOptions(iterations=6, n_negatives=3, splits="fixed"), out=out)
    damage(out / WARM / "0002.npz")
    with pytest.raises(FormatError, match=said) as told:
        filter_pool(pool, "mlp", AFOptions(iterations=7, n_negatives=3, splits="fixed"), out=out)
    assert "\n" not in str(told.value)


def rewrite(path: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """Its weights changed, and its rows as they are."""
    with np.load(path) as kept:
        changed = {name: change(kept[name]) if kept[name].dtype.kind == "f" else kept[name] for name in kept.files}
    np.savez(path, allow_pickle=False, **changed)


@pytest.mark.parametrize("splits", ["fresh", "fixed"])
def test_a_second_run_into_the_same_folder_is_refused(splits: Any, pool: CandidatePool, tmp_path: Path) -> None:
    out, options = tmp_path / "run", replace(OPTIONS, splits=splits, iterations=2)
    said = []

    def begin_another(run: Run) -> None:
        before = folders.files_of(out)
        with pytest.raises(InputError, match=r"another process is at work on this\. Wait") as told:
            filter_pool(pool, "mlp", options, out=out)
        said.append(str(told.value))
        assert folders.files_of(out) == before

    filter_pool(pool, "mlp", options, out=out, after_iteration=begin_another)
    assert len(said) == 2
    assert not [line for line in said if "\n" in line]
    assert not list(out.rglob(".*"))
    filter_pool(pool, "mlp", options, out=out)


def test_filters_that_cannot_go_on_and_odd_shares_are_refused(pool: CandidatePool) -> None:
    with pytest.raises(InputError, match="feature cannot go on"):
        filter_pool(pool, FeatureFilter(), OPTIONS)
    with pytest.raises(InputError, match="one over a whole number"):
        filter_pool(pool, "mlp", AFOptions(n_negatives=3, splits="fixed", test_share=0.3))


def test_fresh_splits_are_not_recorded_so_older_runs_go_on(pool: CandidatePool, tmp_path: Path) -> None:
    filter_pool(pool, "mlp", AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    assert '"splits"' not in (tmp_path / "run" / "manifest.json").read_text()


CHANGED: dict[str, Any] = {
    "rule": "released",
    "pick": "hardest",
    "swaps": "gap",
    "n_negatives": 4,
    "n_easy": 1,
    "test_share": 0.25,
    "split_by": "context",
    "splits": "fixed",
    "most_fitted": 12,
    "seed": 1,
    "ignore_guard": True,
}
"""Of each option that decides what is made, another value than the default."""


@pytest.mark.parametrize("name", [f.name for f in fields(AFOptions) if f.name not in FREE])
def test_an_option_that_changed_is_refused_either_way(pool: CandidatePool, tmp_path: Path, name: str) -> None:
    if name == "ignore_guard":
        pool = pool.save(tmp_path / "pool")
        pool.write_arrays({"flagged": np.zeros((len(pool), pool.n_candidates), bool)})
        pool = pool.with_table("flagged", {})
    one = AFOptions(iterations=1, n_negatives=3)
    other = replace(one, **{name: CHANGED[name]})
    for number, (first, then) in enumerate([(one, other), (other, one)]):
        filter_pool(pool, FitsAnew(), first, out=tmp_path / str(number))
        with pytest.raises(InputError, match=rf"begun with other {name} \(.*, now .*\)\. Repeat the first command"):
            filter_pool(pool, FitsAnew(), replace(then, iterations=2), out=tmp_path / str(number))


@pytest.mark.parametrize("make", [MLPFilter, BagOfWordsFilter])
def test_going_on_starts_from_what_was_learnt(pool: CandidatePool, make: type) -> None:
    """No worse on the rows that stop the fit than it was, and from the same state the same bits."""
    rows = np.arange(len(pool))
    view = pool.view(rows, np.tile(np.arange(2), (len(pool), 1)))  # so few: it goes on with all
    first = make(max_epochs=4)
    first.fit(view, rng=np.random.default_rng(0))
    best = min(first.held_out_losses)
    scores = []
    for _ in range(2):
        again = make(max_epochs=4)
        again.fit_on(view, first.state(), rng=np.random.default_rng(1))
        assert again.held_out_losses[0] == pytest.approx(best, abs=1e-6)
        assert min(again.held_out_losses) <= best + 1e-6
        scores.append(again.score(view))
    assert np.array_equal(*scores)


@pytest.mark.parametrize("make", [MLPFilter, BagOfWordsFilter])
def test_going_on_takes_one_gentle_pass(pool: CandidatePool, make: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each training row once, at a share of the rate; a fit from scratch has the whole rate."""
    rates: list[float] = []
    monkeypatch.setattr(neural, "Adam", lambda network, rate, decay: rates.append(rate) or Adam(network, rate, decay))
    view = pool.view(np.arange(len(pool)), np.tile(np.arange(4), (len(pool), 1)))
    filter = make(max_epochs=4)
    filter.fit(view, rng=np.random.default_rng(0))
    filter.fit_on(view, filter.state(), rng=np.random.default_rng(1))
    assert rates == [filter.learning_rate, filter.learning_rate * neural.WARM_SHARE]
    assert len(filter.held_out_losses) == 2  # before the pass and after it


def test_a_state_of_other_code_is_refused_in_one_line(pool: CandidatePool) -> None:
    view = pool.view(np.arange(len(pool)), np.tile(np.arange(4), (len(pool), 1)))
    filter = BagOfWordsFilter(max_epochs=1)
    filter.fit(view, rng=np.random.default_rng(0))
    state = filter.state()
    del state["columns"]
    with pytest.raises(FormatError, match="Begin another run"):
        filter.fit_on(view, state, rng=np.random.default_rng(1))


@given(st.integers(1, 6), st.integers(2, 12), st.integers(0, 10), st.integers(0, 99))
def test_new_candidates_come_first_and_gold_before_all(n: int, n_assigned: int, fewer: int, seed: int) -> None:
    """Against the lists that the definition says."""
    dice, n_kept = np.random.default_rng(seed), max(2, n_assigned - fewer)
    columns, before = (
        np.array([[0, *(1 + dice.permutation(15)[: n_assigned - 1])] for _ in range(n)]) for _ in range(2)
    )
    kept = newest(columns, before, n_kept, rng=np.random.default_rng(0))
    assert kept.shape == (n, n_kept)
    for row, was, chosen in zip(columns.tolist(), before.tolist(), kept.tolist(), strict=True):
        new = [one for one in row if one not in was]
        assert chosen[0] == row[0] == 0
        assert len(set(chosen)) == n_kept
        assert set(chosen) <= set(row)
        is_new = [one in new for one in chosen[1:]]
        assert is_new == sorted(is_new, reverse=True)
        assert sum(is_new) == min(len(new), n_kept - 1)


def test_a_filter_that_goes_on_learns_of_new_candidates() -> None:
    """Signal that appears after the first fit is found by going on from it, and not by staying as one was."""
    flat, told = (made_up(signal) for signal in (0.0, 2.0))
    columns, rng = np.tile(np.arange(4), (len(flat), 1)), np.random.default_rng
    filter = MLPFilter()
    filter.fit(flat.view(np.arange(len(flat)), columns), rng=rng(0))
    view = told.view(np.arange(len(told)), columns)
    before = accuracy(filter.score(view))
    filter.fit_on(view, filter.state(), rng=rng(1))
    assert filter.held_out_losses[1] < filter.held_out_losses[0]
    assert accuracy(filter.score(view)) > before + 0.2


def made_up(signal: float, n: int = 120) -> CandidatePool:
    """Texts that tell nothing, and features of which the first is so much higher for gold."""
    dice = np.random.default_rng(5)
    features = dice.normal(size=(n, 4, 3)).astype(np.float32)
    features[:, 0, 0] += signal
    contexts = [Context(f"She sees {i} .", "He", f"waits {i} .", video=f"v{i}") for i in range(n)]
    return CandidatePool.from_texts(contexts, [["runs .", "falls .", "sings ."]] * n, features=list(features))


@pytest.mark.parametrize("theirs", ["log.jsonl", "thesis.txt", "pool"])
def test_a_run_is_not_begun_over_somebody_elses_files(theirs: str, pool: CandidatePool, tmp_path: Path) -> None:
    """They were written over, or came to lie among those of a run; and a pool in the folder was replaced."""
    out, options = tmp_path / "run", replace(OPTIONS, iterations=2)
    out.mkdir()
    if theirs == "pool":
        some = np.arange(len(pool) - 1)
        texts = [row[1:] for row in pool.view(some, np.tile(np.arange(pool.n_candidates), (len(some), 1))).texts]
        CandidatePool.from_texts([pool.contexts[row] for row in some], texts, tagger="rules").save(out / "pool")
    else:
        (out / theirs).write_text("mine")
    before = folders.files_of(out)
    with pytest.raises(InputError, match=r"was not made by filter|another pool than the one"):
        filter_pool(pool, "mlp", options, out=out)
    assert folders.files_of(out) == before


def test_a_run_that_was_killed_before_its_manifest_is_begun_again(pool: CandidatePool, tmp_path: Path) -> None:
    options = replace(OPTIONS, iterations=2)
    filter_pool(pool, "mlp", options, out=tmp_path / "straight")
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "straight/pool", killed / "pool")
    shutil.copy(tmp_path / "straight/start.npy", killed)
    (killed / f".manifest.json.{HOST}.999999999.tmp").write_text("{")
    filter_pool(pool, "mlp", options, out=killed)
    assert files_of(killed) == files_of(tmp_path / "straight")
