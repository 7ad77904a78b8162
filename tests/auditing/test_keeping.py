"""Claims about probes that are kept: an audit that was stopped goes on, to the same bytes, and takes nothing of other
data or settings."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from folders import files_of
from killed import kill_at
from made import planned_probes, random_choices, random_classes, singles

from swag_af.auditing.dataset import Checks, audit, n_done, n_steps
from swag_af.auditing.options import AuditOptions
from swag_af.auditing.probes import probe as probes_module
from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.auditing.probes.probe import Task, check_models
from swag_af.cli.datasets.auditing import run_audit
from swag_af.data.disk.files import write_jsonl
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError, FormatError, InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import ReadingOptions
from swag_af.filters.registry import make_filter

INPUTS = ("options", "full")


def made_of(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks whose probes are computed from now on."""
    made: list[Task] = []
    make = probes_module._Bench.make

    def watched(bench: Any, task: Task) -> Any:
        made.append(task)
        return make(bench, task)

    monkeypatch.setattr(probes_module._Bench, "make", watched)
    return made


def write_data(path: Path, n: int, seed: int = 0) -> Path:
    rows = random_choices(n, seed=seed).instances
    write_jsonl(path, ({"question": one.context, "choices": list(one.options), "label": one.answer} for one in rows))
    return path


@pytest.mark.parametrize("data", [random_choices(30, seed=1), random_classes(30, seed=1)])
def test_probes_come_back_as_they_were(data: Instances, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = singles(data)
    kept = KeptProbes(tmp_path / "kept", data, groups)
    settings: dict[str, Any] = {"models": ("tfidf", "fasttext", "ngrams"), "n_folds": 2, "seeds": (0, 3)}
    first = planned_probes(data, groups, kept=kept, **settings)
    computed, calls = made_of(monkeypatch), list[int]()
    again = planned_probes(data, groups, kept=kept, advance=lambda n, **_: calls.append(n), **settings)
    assert len(first.found) > 6
    assert not {task.model for task in computed} & {one.model for one in first.found}, "but what could not be made"
    assert len(calls) == len(computed)
    for one, other in zip(first.found, again.found, strict=True):
        assert one.name == other.name
        for name, value in vars(one).items():
            np.testing.assert_array_equal(value, getattr(other, name), strict=True)
    assert n_done(data, groups, Checks(**settings), kept) == len(first.found)
    assert n_steps(data, groups, Checks(**settings)) > len(first.found)


def test_nothing_is_taken_from_other_data_or_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_choices(30, seed=1)
    one = data.instances[4]
    other_answer = (one.answer + 1) % len(one.options)
    relabelled = replace(data, instances=(*data.instances[:4], replace(one, answer=other_answer), *data.instances[5:]))
    paired = Groups(np.arange(30) // 2, "pairs")
    computed = made_of(monkeypatch)

    def n_made(data: Instances, groups: Groups, model: Any = "tfidf", **settings: Any) -> int:
        before = len(computed)
        kept = KeptProbes(tmp_path, data, groups)
        planned_probes(data, groups, inputs=("options",), models=(model,), kept=kept, **{"n_folds": 2} | settings)
        return len(computed) - before

    assert n_made(data, singles(data)) == 1
    assert n_made(data, singles(data)) == 0
    assert n_made(relabelled, singles(data)) == 1
    assert n_made(data, paired) == 2  # random folds too, where there are groups
    assert n_made(data, singles(data), n_folds=3) == 1
    assert n_made(data, singles(data), seeds=(1,)) == 1
    assert n_made(data, singles(data), make_filter("ngrams")) == 1
    assert n_made(data, singles(data), make_filter("ngrams[longest=1]")) == 1, "another setting is another model"
    assert n_made(data, singles(data), make_filter("ngrams[longest=1]")) == 0
    monkeypatch.setattr("swag_af.auditing.probes.keeping.version_of", lambda package: "99")
    assert n_made(data, singles(data)) == 1, "what another version has made"


OF_WEIGHTS = '''
from pathlib import Path

import numpy as np


class Weighing:
    """Likes long texts, or short ones, by what stands in a file."""

    name, argument = "weighing", "folder"

    def __init__(self, folder: str):
        self.weight = float((Path(folder) / "weight.txt").read_text())

    def settings(self):
        return {"weight": self.weight}

    def fit(self, texts, labels, n_labels, *, rng):
        pass

    def score(self, texts):
        return np.array([[0.0, self.weight * len(text)] for text in texts])
'''


def test_nothing_is_taken_of_other_weights_under_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names alone were asked, so that an audit that went on had probes of the weights that stood there before."""
    (tmp_path / "of_weights.py").write_text(OF_WEIGHTS)
    monkeypatch.syspath_prepend(tmp_path)
    data, model = random_choices(30, seed=1), f"of_weights:Weighing[{tmp_path}]"
    checks, kept = (
        Checks(models=[model], inputs=["options"], n_folds=2),
        KeptProbes(tmp_path / "kept", data, singles(data)),
    )
    found = []
    for weight in ("1", "-1", "1"):
        (tmp_path / "weight.txt").write_text(weight)
        alone = audit(data, checks, groups=singles(data))
        found.append(audit(data, checks, groups=singles(data), kept=kept))
        np.testing.assert_array_equal(found[-1].probes[0].scores, alone.probes[0].scores)
        assert n_done(data, singles(data), checks, kept) == 1
    settings = [one.record["checks"]["settings"][model] for one in found]
    assert settings[0] == settings[2] != settings[1]


class Answered:
    """Stands for what answers behind an address, which it knows once it was checked."""

    name: ClassVar[str] = "answered"
    model: ClassVar[str] = "one"
    fits: ClassVar[list[int]] = []

    def check(self) -> None:
        self.found = self.model

    def settings(self) -> dict[str, Any]:
        return {"url": "http://localhost"}

    def answered_by(self) -> dict[str, Any]:
        return {"model": self.found}

    def fit(self, texts: Sequence[str], labels: np.ndarray, n_labels: int, *, rng: np.random.Generator) -> None:
        self.fits.append(n_labels)

    def score(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0.0, float(len(text))] for text in texts])


def test_nothing_is_taken_of_another_model_behind_the_same_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings alone were asked, in which a model stands that the user named, and not one that the server chose."""
    data, model = random_choices(30, seed=1), "test_keeping:Answered"
    checks, kept = (
        Checks(models=[model], inputs=["options"], n_folds=2),
        KeptProbes(tmp_path / "kept", data, singles(data)),
    )
    computed, settings = made_of(monkeypatch), []
    for who in ("one", "one", "two"):
        monkeypatch.setattr(Answered, "model", who)
        settings.append(audit(data, checks, groups=singles(data), kept=kept).record["checks"]["settings"][model])
    assert len(computed) == 2
    assert settings[0] == settings[1] != settings[2]


def test_settings_that_cannot_be_kept_are_told_before_the_first_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were asked for when all was fitted, for the record, and hours of work were lost."""
    monkeypatch.setattr(Answered, "settings", lambda self: {"lock": object()})
    monkeypatch.setattr(Answered, "fits", [])
    data, model = random_choices(30, seed=1), "test_keeping:Answered"
    with pytest.raises(ContractError, match="Answered: its setting 'lock' cannot be kept"):
        audit(data, Checks(models=[model], inputs=["options"], n_folds=2), groups=singles(data))
    with pytest.raises(ContractError, match="Answered: its setting 'lock' cannot be kept"):
        check_models([model], "choices")
    assert not Answered.fits


def test_an_audit_that_was_stopped_makes_the_other_probes_alone(tmp_path: Path) -> None:
    data = write_data(tmp_path / "data.jsonl", 40)
    older = write_data(tmp_path / "older.jsonl", 60)

    def options(name: str) -> AuditOptions:
        return AuditOptions((data,), tmp_path / name / "audit", compare=older, filters="tfidf", folds=2, draws=3)

    run_audit(options("whole"))
    n_kept = []
    for n in (3, 9, 0):  # a few of the data's, then some of the older data's, then all that there are
        kill_at(KeptProbes, "keep", n, run_audit, options("stopped"))
        n_kept.append(len(list((tmp_path / "stopped/.audit.probes").iterdir())))
        assert not (tmp_path / "stopped/audit").exists()
    assert n_kept == [3, 12, 12]
    run_audit(options("stopped"))
    assert files_of(tmp_path / "stopped") == files_of(tmp_path / "whole"), "and what was kept is gone"


def test_processes_go_on_with_what_one_has_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = AuditOptions((write_data(tmp_path / "data.jsonl", 40),), tmp_path / "audit", filters="tfidf", folds=2)
    run_audit(replace(one, out=tmp_path / "whole/audit"))
    kill_at(KeptProbes, "keep", 2, run_audit, one)
    kept = []
    keep = KeptProbes.keep
    monkeypatch.setattr(KeptProbes, "keep", lambda self, *given: (kept.append(given), keep(self, *given)))
    run_audit(replace(one, workers=2, where=EngineOptions("processes")))
    found = (json.loads((tmp_path / name / "audit/audit.json").read_text()) for name in ("", "whole"))
    n_probes = {len(one["probes"]) for one in found}
    assert n_probes == {len(kept) + 2}
    here, there = (files_of(tmp_path / "audit"), files_of(tmp_path / "whole/audit"))
    page = "audit.html"  # it names its folder
    assert here.pop(page)
    assert there.pop(page)
    assert here == there
    assert {"questions.jsonl", "diagnostics.jsonl", "audit.json"} <= here.keys()


def test_a_damaged_probe_is_named_with_what_to_do(tmp_path: Path) -> None:
    data = random_choices(20, seed=1)
    kept = KeptProbes(tmp_path, data, singles(data))
    settings: dict[str, Any] = {"inputs": ("options",), "models": ("tfidf",), "n_folds": 2}
    planned_probes(data, singles(data), kept=kept, **settings)
    (path,) = tmp_path.iterdir()
    for content in (b"PK\x03\x04 and no more", b""):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"Remove {tmp_path}, and run the command again"):
            planned_probes(data, singles(data), kept=kept, **settings)
    with path.open("wb") as file:
        np.savez(file, rows=np.arange(3))
    with pytest.raises(FormatError, match="not a probe"):
        planned_probes(data, singles(data), kept=kept, **settings)


def test_without_a_folder_to_write_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = write_data(tmp_path / "data.jsonl", 20)
    run_audit(AuditOptions((data,), filters="tfidf", folds=2))
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize("name", ["data.jsonl", "older.jsonl", "gate.toml", "labels.csv"])
def test_an_audit_never_replaces_the_folder_of_what_it_reads(name: str, tmp_path: Path) -> None:
    """An older audit is deleted whole, and the file went with it."""
    data, out = write_data(tmp_path / "data.jsonl", 20), tmp_path / "audit"
    run_audit(AuditOptions((data,), out, filters="tfidf", folds=2))
    others = {
        "older.jsonl": data.read_text(),
        "gate.toml": 'gate = ["AF101 clear"]\n',
        "labels.csv": "label\n" + "0\n" * 20,
    }
    for other, content in others.items():
        (tmp_path / other).write_text(content)
    (tmp_path / name).rename(out / name)
    at = {one: (out if one == name else tmp_path) / one for one in ("data.jsonl", *others)}
    reading = ReadingOptions(labels_file=at["labels.csv"])
    options = AuditOptions((at["data.jsonl"],), out, compare=at["older.jsonl"], gate=at["gate.toml"], reading=reading)
    before = files_of(tmp_path)
    with pytest.raises(InputError, match=f"^--out {out}: {out / name} is read, and lies in it. Choose another --out.$"):
        run_audit(options)
    assert files_of(tmp_path) == before


def test_an_audit_in_python_goes_on_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_choices(30, seed=2)
    checks, groups = Checks(models=("tfidf",), inputs=INPUTS, n_folds=2), singles(data)
    kept = KeptProbes(tmp_path, data, groups)
    first = audit(data, checks, groups=groups, kept=kept)
    computed = made_of(monkeypatch)
    assert audit(data, checks, groups=groups, kept=kept).diagnostics == first.diagnostics
    assert not computed
