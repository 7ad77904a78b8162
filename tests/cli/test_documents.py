"""Claims about the documents: code and example run, commands parse, links lead somewhere, the help is today's."""

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest
from folders import write

import swag_af
from swag_af.cli.parsing import VERBS, parse

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLI = (ROOT / "docs" / "CLI.md").read_text(encoding="utf-8")
DOCUMENTS = [
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "CLI.md"),
]


def blocks(text: str, language: str) -> list[str]:
    """What a document holds in fenced blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(name: str) -> list[str]:
    """The lines of a document that are commands of ours."""
    return re.findall(r"^ *(swag-af .+)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_the_code_for_python_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "PYTHON.md").read_text(encoding="utf-8")
    exec("\n".join(blocks(page, "python")), {})
    said = capsys.readouterr().out
    assert "(40, 3) (40, 3)" in said
    assert "Above chance: the options alone give answers away." in said
    assert "fit='cut', least=316, most=316" in said
    assert {name for name in swag_af.__all__ if not re.search(rf"\b{name}\b", page)} == UNTOLD


UNTOLD = {"Baselines", "EndpointOptions", "Instance", "write_report"}
"""Public names that the page says nothing of."""


def test_the_code_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec("\n".join(blocks(README, "python")), {})
    assert "(40, 3)" in capsys.readouterr().out
    assert (tmp_path / "run-longest" / "log.jsonl").exists()


@pytest.mark.parametrize(("name", "command"), [(name, command) for name in DOCUMENTS for command in commands(name)])
def test_every_command_parses(name: str, command: str) -> None:
    words = shlex.split(command, comments=True)[1:]
    verb = next(verb for verb in VERBS if words[: len(verb.split())] == verb.split())
    assert isinstance(parse(words), VERBS[verb][0])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_verb_and_flag_in_a_sentence_is_there(name: str) -> None:
    for command in re.findall(r"`swag-af ([a-z][^`]*)`", (ROOT / name).read_text(encoding="utf-8")):
        verb = next((verb for verb in VERBS if command.split()[: len(verb.split())] == verb.split()), None)
        assert verb, command
        assert flags_of(command) <= flags_of(CLI.split(f"\n## swag-af {verb}\n")[1].split("\n## ")[0]), command


def flags_of(text: str) -> set[str]:
    """The long flags that stand in a text."""
    return set(re.findall(r"(?<!\S)--[a-z][a-z-]*[a-z]", text))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_link_leads_somewhere(name: str) -> None:
    for found in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", (ROOT / name).read_text(encoding="utf-8")):
        path, _, anchor = "".join(found).partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        if path.startswith("http"):
            continue
        assert target.exists(), path
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), f"{path}#{anchor}"


def anchors(text: str) -> set[str]:
    """The names that GitHub gives the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_option_that_the_readme_names_is_in_the_help() -> None:
    ours = [line for line in README.splitlines() if not line.startswith("lm_eval ")]
    named = set(re.findall(r"--[a-z][a-z-]*[a-z]", "\n".join(ours)))
    assert len(named) > 10
    assert named <= set(re.findall(r"--[a-z][a-z-]*[a-z]", CLI))


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "sent1": f"It rains {i}.",
            "start": "He",
            "gold": "runs home.",
            "negatives": ["home runs.", "sits.", f"is {i}."],
        }
        for i in range(20)
    ]
    questions = tmp_path / "questions.jsonl"
    write(questions, rows)
    command = f"custom_negatives.py {questions} --filter bow --iterations 2 --n-negatives 1"
    monkeypatch.setattr("sys.argv", shlex.split(command))
    runpy.run_path(str(ROOT / "examples" / "custom_negatives.py"), run_name="__main__")
    kept = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["gold"] for row in kept] == ["runs home."] * 20
    assert not [row for row in kept if row["distractors"] == ["home runs."]]


def test_what_is_imported_is_public() -> None:
    lines = re.findall(r"^from swag_af import (.+)$", README, re.MULTILINE)
    assert lines
    assert {name.strip() for line in lines for name in line.split(",")} <= set(swag_af.__all__)


def test_the_page_of_help_is_what_the_program_prints() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))["cli_page"]()
    assert page == CLI, "docs/CLI.md is out of date. Make it anew with: python docs/make_cli.py"


def test_the_page_of_filters_is_what_they_say() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make_filters.py"))["filters_page"]()
    kept = (ROOT / "docs" / "FILTERS.md").read_text(encoding="utf-8")
    assert page == kept, "docs/FILTERS.md is out of date. Make it anew with: python docs/make_filters.py"
    assert not [line for line in kept.splitlines() if re.match(r"[|] `.*[|] +[|]$", line)], "a setting without a word"
