"""Claims about the templates of the report and its style sheet."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from swag_af.reporting.page import page, render

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "swag_af" / "reporting"


def test_jinja_is_not_imported_before_a_page_is_written() -> None:
    code = "import sys, swag_af.reporting.verb; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_text_is_escaped_and_control_characters_are_replaced() -> None:
    html = render("timing", values={"<b>\x00": "'\"&"})
    assert "<dt>&lt;b&gt;\ufffd</dt><dd>&#x27;&quot;&amp;</dd>" in html


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("timing")


def test_the_style_sheet_stands_in_the_page() -> None:
    header = {"results": [], "tiles": {}, "command_for_verdicts": None}
    html = page("title", header, {"one": "<p>part</p>\n"}, ["#222222"])
    assert (FOLDER / "static" / "report.css").read_text(encoding="utf-8") in html
    assert ".s0{--c:#222222}\n@media(prefers-color-scheme:dark){.s0{--c:#f2f2f2}}" in html
    assert '<a href="#one">one</a>' in html
    assert "<p>part</p>" in html


def test_templates_and_style_sheet_are_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["swag_af.reporting"]
    installed = {path for pattern in patterns for path in FOLDER.glob(pattern)}
    inside = {path for name in ("static", "templates") for path in (FOLDER / name).iterdir()}
    assert inside
    assert inside <= installed
