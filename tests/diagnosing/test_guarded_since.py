"""A run whose pool was guarded after it began, or otherwise then: its assignment may have what is flagged now."""

from pathlib import Path

import pytest
from conftest import FeatureFilter, make_pool

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.runs.diagnosing import diagnose
from swag_af.data.disk.manifests import begin_folder
from swag_af.data.errors import InputError
from swag_af.data.runs.run import open_run
from swag_af.diagnosing.diagnosis import subject_of
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard


def test_what_was_flagged_later_counts_and_is_told(tmp_path: Path) -> None:
    made = make_pool().save(tmp_path / "pool")
    filter_pool(made, FeatureFilter(), AFOptions(iterations=2, n_negatives=9), out=tmp_path / "run")
    options = DiagnoseOptions(tmp_path / "run", filters="bow")
    before = subject_of(options)
    guard(GuardOptions(tmp_path / "pool", "words", "words=0.01"))
    after = subject_of(options)
    flagged = open_run(tmp_path / "run").pool.flagged(after.rows)
    assert (~flagged).sum(axis=1).min() < 1 + 9, "some rows have fewer left than are assigned"
    assert (before.ignores_guard, after.ignores_guard) == (False, True)
    assert not any("guarded after" in note for note in before.notes)
    assert any("guarded after the run began" in note for note in after.notes)


@pytest.mark.parametrize("ignore_guard", [False, True])
@pytest.mark.parametrize(("by", "became"), [("words", "changed"), ("none", "removed")])
def test_guards_that_were_changed_or_removed_since_are_told_as_such(
    by: str, became: str, ignore_guard: bool, tmp_path: Path
) -> None:
    """Both were told as a pool that had been guarded after the run began."""
    make_pool().save(tmp_path / "pool")
    made = guard(GuardOptions(tmp_path / "pool", "words", "words=0.6"))
    rules = AFOptions(iterations=2, n_negatives=9, ignore_guard=ignore_guard)
    filter_pool(made, FeatureFilter(), rules, out=tmp_path / "run")
    options = DiagnoseOptions(tmp_path / "run", filters="bow")
    before = subject_of(options)
    assert before.ignores_guard is ignore_guard
    assert not any("guard" in note for note in before.notes)
    guard(GuardOptions(tmp_path / "pool", by, "words=0.01" if by == "words" else ""))
    after = subject_of(options)
    (told,) = [note for note in after.notes if "guard" in note]
    assert after.ignores_guard
    assert f"The guards of the pool were {became} after the run began" in told
    assert ("which ignored them" in told) is ignore_guard
    assert ("some of them may have been out of the run" in told) is not ignore_guard


@pytest.mark.parametrize("by", ["words", "none"])
def test_a_diagnosis_of_a_pool_that_was_guarded_since_says_so(by: str, tmp_path: Path) -> None:
    """It said that it was begun with another pool, and to repeat the first command, which this was."""
    pool, options = tmp_path / "pool", DiagnoseOptions(tmp_path / "run", filters="bow")
    made = make_pool().save(pool)
    if by == "none":
        made = guard(GuardOptions(pool, "words"))
    filter_pool(made, FeatureFilter(), AFOptions(iterations=2, n_negatives=9), out=tmp_path / "run")
    begin_folder(tmp_path / "run/diagnosis/fits", subject_of(options).identity())
    guard(GuardOptions(pool, by))
    advice = {
        "words": rf"`swag-af guard {pool} --by none` makes it what it was; run that",
        "none": "Guard it as it was",
    }
    said = rf"begun when {pool} had other guards, or none: .* {advice[by]}, choose another --out, or"
    with pytest.raises(InputError, match=said):
        diagnose(options)
    if by == "words":
        guard(GuardOptions(pool, "none"))
        assert diagnose(options).n
