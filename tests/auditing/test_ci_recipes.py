"""Claims about docs/AUDIT-CI.md: its recipes run as they stand, and its tables say what a gate takes."""

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from folders import write

from swag_af.auditing.codes.code import codes
from swag_af.auditing.gates import conditions
from swag_af.auditing.gates.conditions import COMPARATORS, FIGURES, STATUSES, parse_condition
from swag_af.auditing.gates.gate import read_gate
from swag_af.auditing.options import AuditOptions

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "AUDIT-CI.md").read_text(encoding="utf-8")
RECIPES = {
    block.partition("\n")[0].removeprefix("# "): yaml.safe_load(block)
    for block in re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
}
"""The recipes, by the file that each is."""
(GATE,) = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
ACTION = RECIPES[".github/workflows/audit.yml"]["jobs"]["audit"]["steps"]
GITLAB = RECIPES[".gitlab-ci.yml"]["audit"]
(HOOK,) = RECIPES[".pre-commit-config.yaml"]["repos"][0]["hooks"]

has_gate = pytest.mark.skipif("gate" not in {f.name for f in fields(AuditOptions)}, reason="`audit` takes no gate yet")
has_all_codes = pytest.mark.skipif("AF505" not in codes(), reason="not all families have their codes yet")


def row(i: int, draw: random.Random, *, give_away: bool) -> dict[str, Any]:
    """A question whose answer nothing gives away, or the word `verily` does."""
    words = ("river stone lamp paper window garden music coat bread letter horse cloud " * 2).split()
    options = [" ".join(draw.sample(words, 4)) for _ in range(4)]
    answer = draw.randrange(4)
    if give_away:
        options[answer] = f"verily {options[answer]}"
    question = f"Which belongs to {' '.join(draw.sample(words, 5))}?"
    return {"id": f"q{i}", "question": question, "options": options, "answer": answer}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the gate of the document, sound data, and commands of this checkout first in its path."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name, text in {"swag-af": f'exec "{sys.executable}" -m swag_af "$@"', "pip": 'echo "$@" >> pip.log'}.items():
        (bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (bin / name).chmod(0o755)
    (tmp_path / "pyproject.toml").write_text(GATE)
    write_data(tmp_path, give_away=False)
    return tmp_path


def write_data(repository: Path, *, give_away: bool) -> None:
    path, draw = repository / "data" / "questions.jsonl", random.Random(0)
    path.parent.mkdir(exist_ok=True)
    write(path, (row(i, draw, give_away=give_away) for i in range(200)))


def run(command: str, repository: Path) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does."""
    environment = {**os.environ, "PATH": f"{repository / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=repository, env=environment, capture_output=True, text=True, check=False
    )


EXAMPLES = [
    re.split("  +", line.strip())[0]
    for text in (*re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL), conditions.__doc__ or "")
    for line in text.splitlines()
    if "   " in line.strip()
]
"""The conditions that the document and the module explain."""


@has_all_codes
@pytest.mark.parametrize("text", EXAMPLES)
def test_every_condition_that_is_explained_can_be_written(text: str) -> None:
    assert parse_condition(text).text == text


def test_every_figure_and_every_bound_is_explained() -> None:
    assert all(f".{figure} " in DOCUMENT or f".{figure}:" in DOCUMENT for figure in FIGURES if figure != "value")
    assert all(f"`{comparator}`" in DOCUMENT for comparator in COMPARATORS)
    assert all(any(text.endswith(status) for text in EXAMPLES) for status in STATUSES)


@has_all_codes
def test_the_gate_of_the_document_is_a_gate(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(GATE)
    gate = read_gate(tmp_path / "pyproject.toml")
    assert [one.text for one in gate.conditions] == tomllib.loads(GATE)["tool"]["swag-af"]["audit"]["gate"]
    assert all("line" in one.where for one in gate.conditions)


def test_what_is_uploaded_is_what_is_written() -> None:
    (command,) = (step["run"] for step in ACTION if "swag-af audit" in step.get("run", ""))
    (upload,) = (step for step in ACTION if "upload-sarif" in step.get("uses", ""))
    assert shlex.split(command)[-2:] == ["--sarif", upload["with"]["sarif_file"]]
    assert upload["with"]["sarif_file"] in upload["if"]
    assert shlex.split(GITLAB["script"][-1])[-2:] == ["--junit", GITLAB["artifacts"]["reports"]["junit"]]


def test_recipes_install_what_the_default_probes_need() -> None:
    installed = [step["run"] for step in ACTION if "pip" in step.get("run", "")]
    for text in (*installed, GITLAB["script"][0], *HOOK["additional_dependencies"]):
        assert "swag-af[fasttext]" in text


def test_the_hook_runs_when_the_data_or_the_gate_changes() -> None:
    named = [word for word in shlex.split(HOOK["entry"]) if "." in word]
    assert named == ["data/questions.jsonl", "pyproject.toml"]
    assert all(re.search(HOOK["files"], name) for name in named)
    assert not re.search(HOOK["files"], "data/questions_jsonl")


@has_gate
@has_all_codes
@pytest.mark.slow
@pytest.mark.parametrize("give_away", [False, True])
def test_the_action_runs(repository: Path, give_away: bool) -> None:
    pytest.importorskip("fasttext")  # the recipes install it
    write_data(repository, give_away=give_away)
    install, audit = (run(step["run"], repository) for step in ACTION if "run" in step)
    assert install.returncode == 0
    assert (repository / "pip.log").read_text() == "install swag-af[fasttext] @ git+https://HOST/OWNER/swag-af\n"
    assert audit.returncode == int(give_away), audit.stdout + audit.stderr
    made = json.loads((repository / "audit.sarif").read_text(encoding="utf-8"))
    failing = [one for one in made["runs"][0]["results"] if one["level"] == "error"]
    assert bool(failing) == give_away
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in failing]
    assert set(places) <= {"data/questions.jsonl"}
    assert ("AF101 <= chance + 10%" in audit.stdout + audit.stderr) == give_away


@has_gate
@has_all_codes
@pytest.mark.slow
def test_the_job_of_gitlab_and_the_hook_run(repository: Path) -> None:
    pytest.importorskip("fasttext")  # the recipes install it
    assert [run(command, repository).returncode for command in GITLAB["script"]] == [0, 0]
    assert ET.parse(repository / "audit.xml").getroot().get("failures") == "0"
    write_data(repository, give_away=True)
    assert run(HOOK["entry"], repository).returncode == 1


@has_gate
@has_all_codes
def test_a_wrong_gate_is_found_before_the_audit(repository: Path) -> None:
    (repository / "pyproject.toml").write_text(GATE.replace("clear", "cleer"))
    (repository / "data" / "questions.jsonl").unlink()
    done = run(HOOK["entry"], repository)
    assert done.returncode == 2
    assert "Did you mean clear?" in done.stderr
    assert done.stderr.count("\n") == 1
