"""Folds that stay, with a filter each: never fitted on what it scores, resumable to the same bytes, and cheaper."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import FeatureFilter
from killed import KilledError, break_after

from swag_af.af.fitting import WARM, fixed_folds
from swag_af.af.loop import FREE, filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.run import Run
from swag_af.filters.members import BagOfWordsFilter, MLPFilter

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


def files_of(run: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in ("timing.jsonl", "manifest.json")
    }


def test_a_filter_was_never_fitted_on_what_it_scores(pool: CandidatePool) -> None:
    seen = SeenFilter()
    filter_pool(pool, seen, OPTIONS)
    assert len(seen.fits) >= 13
    for learnt, scored in seen.fits:
        assert not np.intersect1d(learnt, scored).size
        assert not np.intersect1d(pool.groups[learnt], pool.groups[scored]).size


def test_folds_are_whole_groups_and_take_turns(pool: CandidatePool) -> None:
    folds = fixed_folds(pool.groups, 0.2, seed=3)
    assert len(np.unique(folds)) == 5
    assert all(len(set(folds[pool.groups == group])) == 1 for group in np.unique(pool.groups))
    run = filter_pool(pool, FitsAnew(), AFOptions(iterations=5, n_negatives=3, splits="fixed", seed=3))
    for fold, changes in enumerate(run.replacements):
        assert set(folds[changes[:, 0]]) <= {fold}


class FitsAnew(FeatureFilter):
    """A fake that goes on, and learns nothing new."""

    name = "anew"

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        self.fit(view, rng=rng)

    def state(self) -> dict[str, np.ndarray]:
        return {}


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


def test_a_kill_between_state_and_log_changes_nothing(
    pool: CandidatePool, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Run, "append", break_after(8, Run.append))
    with pytest.raises(KilledError):
        filter_pool(pool, PHASES, OPTIONS, out=tmp_path / "run")
    monkeypatch.undo()
    filter_pool(pool, PHASES, OPTIONS, out=tmp_path / "run")
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
    view = pool.view(rows, np.tile(np.arange(4), (len(pool), 1)))
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
