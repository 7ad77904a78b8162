"""Claims about what filters say of themselves: who answers, what is to be told, and fits that learned nothing."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from killed import KilledError, break_after
from planted import K, LevelFilter, N, planted_run

from swag_af.cli.diagnosing import diagnose
from swag_af.data.errors import InputError
from swag_af.data.run import Run
from swag_af.diagnosing import fits as fits_module
from swag_af.diagnosing.diagnosis import subject_of
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.filters import registry


class Answered(LevelFilter):
    """Stands for what answers behind an address."""

    name = "answered"
    model: ClassVar[str] = "one"

    def answered_by(self) -> dict[str, Any]:
        return {"model": self.model}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for one in (Answered, LevelFilter):
        monkeypatch.setitem(registry.FILTERS, one.name, f"{one.__module__}:{one.__name__}")
    rng = np.random.default_rng(3)
    return planted_run(tmp_path, rng.integers(0, 9, N), rng.integers(0, 9, (N, K - 1)))


def options(run: Run, filters: str, **settings: Any) -> DiagnoseOptions:
    assert run.path is not None
    return DiagnoseOptions(run.path, **{"seeds": 2, "folds": 3, "filters": filters, **settings})


def test_a_diagnosis_goes_on_at_the_model_that_began_it_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of two models were mixed: the model stands in no setting where the server chooses it."""
    with monkeypatch.context() as patch:
        patch.setattr(fits_module, "write_array", break_after(3, fits_module.write_array))
        with pytest.raises(KilledError):
            diagnose(options(run, "level,answered"))
    with monkeypatch.context() as patch:
        patch.setattr(Answered, "model", "two")
        with pytest.raises(InputError, match=r"begun with other answered_by: answered: model \(one, now two\)"):
            diagnose(options(run, "level,answered"))
    assert len(diagnose(options(run, "level,answered")).filters) == 2


def test_of_filters_without_an_address_nothing_stands_in_the_identity(run: Run) -> None:
    assert subject_of(options(run, "level")).identity().keys() == {
        *("pool", "assignment", "filters", "options", "swag_af")
    }
