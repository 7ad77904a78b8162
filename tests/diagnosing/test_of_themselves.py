"""Claims about what filters say of themselves: who answers, what is to be told, and fits that learned nothing."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from killed import kill_at
from planted import K, LevelFilter, N, planted_run

from swag_af.cli.runs.diagnosing import diagnose, diagnosed_lines
from swag_af.data.errors import InputError
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run
from swag_af.diagnosing import fits as fits_module
from swag_af.diagnosing.diagnosis import subject_of
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.diagnosing.told import headline
from swag_af.filters import registry


class Answered(LevelFilter):
    """Stands for what answers behind an address."""

    name = "answered"
    model: ClassVar[str] = "one"

    def answered_by(self) -> dict[str, Any]:
        return {"model": self.model}


class Stuck(LevelFilter):
    """Every third fit, more or less, does not converge, and says so; of its scores there is something to tell."""

    name = "stuck"
    fits: ClassVar[list[bool]] = []
    lines: ClassVar[list[str]] = ["stuck: one answer in ten could not be read"]

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        super().fit(view, rng=rng)
        self.converged = bool(rng.random() > 1 / 3)
        self.fits.append(self.converged)

    def fit_record(self) -> dict[str, Any]:
        return {"converged": self.converged}

    def said(self) -> list[str]:
        return self.lines


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for one in (Answered, LevelFilter, Stuck):
        monkeypatch.setitem(registry.FILTERS, one.name, f"{one.__module__}:{one.__name__}")
    rng = np.random.default_rng(3)
    return planted_run(tmp_path, rng.integers(0, 9, N), rng.integers(0, 9, (N, K - 1)))


def options(run: Run, filters: str, **settings: Any) -> DiagnoseOptions:
    assert run.path is not None
    return DiagnoseOptions(run.path, **{"seeds": 2, "folds": 3, "filters": filters, **settings})


def test_a_diagnosis_goes_on_at_the_model_that_began_it_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of two models were mixed: the model stands in no setting where the server chooses it."""
    kill_at(fits_module, "write_array", 3, diagnose, options(run, "level,answered"))
    with monkeypatch.context() as patch:
        patch.setattr(Answered, "model", "two")
        with pytest.raises(InputError, match=r"begun with other answered_by: answered: model \(one, now two\)"):
            diagnose(options(run, "level,answered"))
    assert len(diagnose(options(run, "level,answered")).filters) == 2


def test_of_filters_without_an_address_nothing_stands_in_the_identity(run: Run) -> None:
    assert subject_of(options(run, "level")).identity().keys() == {
        *("pool", "assignment", "filters", "options", "swag_af")
    }


def test_fits_that_learned_nothing_are_counted_and_told_resumed_or_not(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their scores were taken for those of fits that had learned, without a word."""
    monkeypatch.setattr(Stuck, "fits", [])
    straight = diagnose(options(run, "level,stuck", out=tmp_path / "straight"))
    level, stuck = straight.filters
    assert (level.n_fits, level.n_unlearned) == (len(Stuck.fits), 0)
    assert (stuck.n_fits, stuck.n_unlearned) == (len(Stuck.fits), Stuck.fits.count(False))
    assert 5 < stuck.n_unlearned < stuck.n_fits - 5
    said = f"Of {stuck.n_fits} fits of stuck, {stuck.n_unlearned} did not converge, and learned nothing"
    assert said in headline(straight)
    assert any(said in line for line in diagnosed_lines(straight, tmp_path))
    assert said in (tmp_path / "straight" / "diagnosis.html").read_text()
    assert "did not converge" not in headline(diagnose(options(run, "level", out=tmp_path / "of-level")))
    kill_at(fits_module, "write_array", 60, diagnose, options(run, "level,stuck", out=tmp_path / "killed"))
    assert diagnose(options(run, "level,stuck", out=tmp_path / "killed")) == straight
    assert (tmp_path / "killed" / "diagnosis.json").read_bytes() == (
        tmp_path / "straight" / "diagnosis.json"
    ).read_bytes()


def test_a_fit_of_which_it_is_not_known_what_it_said_is_made_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a diagnosis that was begun when that was not kept."""
    kill_at(fits_module, "write_array", 7, diagnose, options(run, "stuck"))
    assert run.path is not None
    for path in (run.path / "diagnosis" / "fits").glob("fit-*.json"):
        path.unlink()
    monkeypatch.setattr(Stuck, "fits", [])
    made = diagnose(options(run, "stuck")).main
    assert (made.n_fits, made.n_unlearned) == (len(Stuck.fits), Stuck.fits.count(False))


def test_what_filters_have_to_tell_of_their_scores_is_told(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    diagnose(options(run, "level,stuck"))
    assert capsys.readouterr().err.count(Stuck.lines[0]) == 1
