"""Claims about what a filter could not read: as in the loop it wins nothing, enters nowhere, agrees with nobody."""

import itertools
import json
import zlib
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import test_parts
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import A, K, LevelFilter, N, planted_run
from scipy.stats import spearmanr
from slow.replacement import replace_row

from swag_af.af.measures import accuracy
from swag_af.af.replacement import Policy
from swag_af.cli.runs.diagnosing import diagnose
from swag_af.data.disk.files import write_json
from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.diagnosing import diagnosis as diagnosis_module
from swag_af.diagnosing.agreement import agreements
from swag_af.diagnosing.diagnosis import subject_of
from swag_af.diagnosing.fits import UNREAD
from swag_af.diagnosing.growth import hits_against
from swag_af.diagnosing.left import Measured, count_harder, hardest, hits_of
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.diagnosing.told import headline
from swag_af.filters import registry
from swag_af.filters.contract import with_ties

SEEDS = st.integers(0, 2**32 - 1)
UNSCORED = -1e9


class HalfRead(LevelFilter):
    """Noise of each fit alone; every third text it cannot read, each fit another."""

    name = "half-read"
    unscored: ClassVar[float] = UNSCORED

    def of(self, text: str) -> float:
        noise = zlib.crc32((self.salt + text).encode())
        return UNSCORED if noise % 3 == 0 else noise / 2**32


made = partial(test_parts.made, share=0.3)
"""With some that could not be read."""


def as_given(scores: np.ndarray) -> np.ndarray:
    """The scores as the filter gave them."""
    return np.where(scores == UNREAD, UNSCORED, scores)


@given(SEEDS)
@settings(max_examples=60)
def test_accuracy_is_that_of_the_loop(seed: int) -> None:
    scores, assigned = made(seed)
    raw = np.take_along_axis(as_given(scores), assigned, axis=1)
    assert hits_of(scores, assigned).mean() == pytest.approx(accuracy(with_ties(HalfRead(), raw)))


@given(SEEDS, st.integers(1, 6))
@settings(max_examples=60)
def test_hits_against_some_are_the_mean_over_all_subsets_in_the_loop(seed: int, n_negatives: int) -> None:
    scores = made(seed, n=3, k=7, a=7, share=0.15)[0]
    found = hits_against(scores, n_negatives)
    for row, hit in zip(as_given(scores), found.tolist(), strict=True):
        shown = [[row[0], *some] for some in itertools.combinations(row[1:].tolist(), n_negatives)]
        assert hit == pytest.approx(accuracy(with_ties(HalfRead(), np.array(shown))))


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_a_context_wants_a_swap_and_has_one_where_the_loop_makes_one(seed: int, is_paper: bool) -> None:
    scores, assigned = made(seed)
    counted = count_harder(scores, assigned)
    above = counted.above_easiest if is_paper else counted.above_gold
    policy = Policy(n_easy=3, rule="paper" if is_paper else "released")
    for i, (row, mine) in enumerate(zip(as_given(scores), assigned, strict=True)):
        count = int((~np.isnan(row)).sum())
        after = replace_row(row, mine, count, np.arange(3.0), np.arange(9.0), policy)
        assert (counted.has_easy[i] and above[i] > 0) == (after != mine).any()


@given(SEEDS)
@settings(max_examples=60)
def test_the_hardest_could_be_read_as_long_as_there_are_such_and_are_always_there(seed: int) -> None:
    scores, assigned = made(seed, share=0.5)
    keys = np.random.default_rng(seed).random(scores.shape)
    for row, key, chosen in zip(scores, keys, hardest(scores, assigned.shape[1], keys).tolist(), strict=True):
        there = [k for k in range(1, len(row)) if not np.isnan(row[k])]
        ranked = sorted(there, key=lambda k: (row[k] == UNREAD, -row[k], key[k]))
        assert chosen == [0, *ranked[: assigned.shape[1] - 1]]


@given(SEEDS)
@settings(max_examples=40)
def test_fits_are_compared_on_what_both_could_read(seed: int) -> None:
    (one, assigned), other = made(seed), made(seed + 1)[0]
    other = np.where(np.isnan(one), np.nan, np.where(np.isnan(other), 2.0, other))
    found = agreements(["x"], [[one, other]], assigned, np.arange(len(one)))[0]
    swaps, easy = [], [0, 0, 0]
    orders: list[float] = []
    for a, b in ((one, other), (other, one)):
        shares = [swaps_in(a[i], b[i], assigned[i].tolist()) for i in range(len(a))]
        swaps.append([np.mean(share) if share else np.nan for share in shares])
        for i, mine in enumerate(assigned.tolist()):
            of_one = [UNREAD < a[i, j] < a[i, 0] for j in mine[1:]]
            of_other = [UNREAD < b[i, j] < b[i, 0] for j in mine[1:]]
            easy = [easy[0] + sum(of_one), easy[1] + sum(map(all, zip(of_one, of_other, strict=True))), 0]
    for a, b in zip(one[:, 1:], other[:, 1:], strict=True):
        both = np.isfinite(a) & np.isfinite(b)
        if both.any() and np.ptp(a[both]) and np.ptp(b[both]):
            orders.append(spearmanr(a[both], b[both]).statistic)
    known = np.array(swaps)[:, ~np.isnan(swaps).all(axis=0)]
    assert (found.swaps is None) == (known.size == 0)
    if found.swaps is not None:
        assert found.swaps.value == pytest.approx(np.nanmean(known, axis=0).mean(), abs=1e-6)
    assert (found.easy is None) == (easy[0] == 0)
    if found.easy is not None:
        assert found.easy.value == pytest.approx(easy[1] / easy[0], abs=1e-6)
    assert (found.correlation is None) == (not orders)
    if found.correlation is not None:
        assert found.correlation.value == pytest.approx(np.mean(orders), abs=1e-6)


def swaps_in(one: np.ndarray, other: np.ndarray, mine: list[int]) -> list[float]:
    """Of the swaps that `one` would make in a row and both could read, whether `other` finds each right."""
    return [
        1.0 if other[k] > other[j] else 0.5 if other[k] == other[j] else 0.0
        for j in mine[1:]
        for k in range(len(one))
        if k not in mine and all(np.isfinite([one[0], one[j], one[k], other[j], other[k]]))
        if one[j] < one[0] and one[k] > one[j]
    ]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setitem(registry.FILTERS, "half-read", f"{__name__}:HalfRead")
    monkeypatch.setitem(registry.FILTERS, "level", "planted:LevelFilter")
    rng = np.random.default_rng(3)
    return planted_run(tmp_path, rng.integers(0, 9, N), rng.integers(0, 9, (N, K - 1)), phase="half-read")


def options(run: Run, **settings: Any) -> DiagnoseOptions:
    assert run.path is not None
    return DiagnoseOptions(run.path, **{"seeds": 2, "folds": 3, **settings})


def test_a_diagnosis_has_the_accuracy_of_the_loop_and_the_swaps_that_one_would_count(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A distractor that could not be read was beaten by gold, and swapped in agreement."""
    seen: list[Measured] = []
    measured_of = diagnosis_module.measured_of

    def noting(*args: Any) -> Measured:
        seen.append(measured_of(*args))
        return seen[-1]

    monkeypatch.setattr(diagnosis_module, "measured_of", noting)
    diagnosis = diagnose(options(run))
    found, assigned, scores = diagnosis.main, run.assignment(), seen[0].scores
    raw = [np.take_along_axis(as_given(one), assigned, axis=1) for one in scores]
    tied = np.mean([(one == UNSCORED).any(axis=1) for one in raw])
    assert 0.7 < tied < 1
    assert found.unread == pytest.approx(tied, abs=1e-6)
    assert found.left.now.value == pytest.approx(
        np.mean([accuracy(with_ties(HalfRead(), one)) for one in raw]), abs=1e-6
    )
    pairs = [(scores[0], scores[1]), (scores[1], scores[0])]
    shares = [[swaps_in(a, b, row) for a, b, row in zip(*pair, assigned.tolist(), strict=True)] for pair in pairs]
    means = [np.mean([np.mean(one) for one in each if one]) for each in zip(*shares, strict=True) if any(each)]
    swaps = diagnosis.agreements[0].swaps
    assert swaps is not None
    assert swaps.value == pytest.approx(np.mean(means), abs=1e-6)
    assert {one.shape[1] for one in seen[0].chosen} == {A}


def test_ties_of_what_could_not_be_read_are_told(run: Run, tmp_path: Path) -> None:
    found = diagnose(options(run))
    assert f"{100 * found.main.unread:.1f} % of the contexts half-read could not read gold or a" in headline(found)
    assert "could not read" not in headline(diagnose(options(run, filters="level", out=tmp_path / "of-level")))


def test_a_diagnosis_begun_before_unread_ones_were_ties_is_not_gone_on_with(run: Run, tmp_path: Path) -> None:
    diagnose(options(run))
    path = tmp_path / "run" / "diagnosis" / "diagnosis.json"
    record = json.loads(path.read_text())
    assert record["identity"].pop("unread") == "ties"
    write_json(path, record)
    with pytest.raises(InputError, match="begun with other unread"):
        diagnose(options(run))
    assert "unread" not in subject_of(options(run, filters="level")).identity()
