"""Claims about the templates of the report and its style sheet."""

import re
import tomllib
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from test_house import loaded_by

from swag_af.reporting import description_plots, plot
from swag_af.reporting.page import DARK, page, render
from swag_af.reporting.pages import diagnosis as diagnosis_page
from swag_af.reporting.sections import subject

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "swag_af" / "reporting"


def test_jinja_is_not_imported_before_a_page_is_written() -> None:
    loaded = loaded_by("swag_af.reporting.verb")
    assert "swag_af.reporting.verb" in loaded
    assert "jinja2" not in loaded


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
    assert ".s0{--c:#222222}\n@media screen and (prefers-color-scheme:dark){.s0{--c:#f2f2f2}}" in html
    assert '<a href="#one">one</a>' in html
    assert "<p>part</p>" in html


def test_templates_and_style_sheet_are_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["swag_af.reporting"]
    installed = {path for pattern in patterns for path in FOLDER.glob(pattern)}
    inside = {path for name in ("static", "templates") for path in (FOLDER / name).iterdir()}
    assert inside
    assert inside <= installed


def luminance(colour: str) -> float:
    """As WCAG 2 has it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def named_colours() -> tuple[dict[str, str], dict[str, str]]:
    """The colours that the style sheets give names, on light pages and on dark ones."""
    sheets = [(FOLDER / "static" / f"{name}.css").read_text(encoding="utf-8") for name in ("report", "audit")]
    blocks = [re.findall(r":root{(.*?)}", sheet, re.DOTALL) for sheet in sheets]
    light, dark = (dict(re.findall(r"--([\w-]+):(#\w+)", "".join(blocks[k][i] for k in (0, 1)))) for i in (0, 1))
    return {name: colour if len(colour) == 7 else "#ffffff" for name, colour in light.items()}, dark


PALETTE = sorted(
    {
        *(*plot.COLOURS.values(), *plot.OTHER_COLOURS, *subject.FIXED_COLOURS),
        *(*diagnosis_page.COLOURS, *description_plots.COLOURS),
    }
)


@pytest.mark.parametrize("colour", PALETTE)
def test_every_colour_of_a_series_is_seen_on_light_pages_and_on_dark_ones(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 3
    assert contrast(DARK.get(colour, colour), named_colours()[1]["page"]) >= 3


@pytest.mark.parametrize("name", ["ink", "soft", "high", "low", "maybe", "none"])
def test_every_colour_of_a_text_can_be_read_on_light_pages_and_on_dark_ones(name: str) -> None:
    for colours in named_colours():
        assert min(contrast(colours[name], colours[ground]) for ground in ("page", "panel")) >= 4.5


@pytest.mark.parametrize("kind", ["gold", "out", "in"])
def test_texts_on_a_ground_of_their_own_can_be_read(kind: str) -> None:
    for colours in named_colours():
        assert contrast(colours[f"{kind}-ink"], colours[kind]) >= 4.5


def rules_within(medium: str, sheet: str) -> str:
    """What the style sheet says within `@media` of `medium`."""
    text = (FOLDER / "static" / f"{sheet}.css").read_text(encoding="utf-8")
    return "".join(re.findall(rf"@media ?{re.escape(medium)}\{{((?:[^{{}}]*\{{[^{{}}]*\}})*)\s*\}}", text))


def test_paper_has_charts_and_rows_whole_and_all_that_is_folded() -> None:
    rules = rules_within("print", "report")
    kept = next(part for part in rules.split("}") if "break-inside:avoid" in part)
    assert {".chart", ".picture", ".question", "tr", "li"} <= set(kept.strip().partition("{")[0].split(","))
    assert "details::details-content{content-visibility:visible" in rules
    assert "details>*{display:block}" in rules  # browsers that have no such part
    assert re.search(r"\.scroll th,\.scroll td{[^}]*white-space:normal", rules)


def test_paper_is_light_and_has_the_marks_that_are_backgrounds() -> None:
    assert "print-color-adjust:exact" in rules_within("print", "report")
    html = page("title", {"results": [], "tiles": {}, "command_for_verdicts": None}, {}, ["#222222"], sheet="audit")
    assert "@media(prefers-color-scheme" not in html
    assert html.count("@media screen and (prefers-color-scheme:dark)") == 3


@pytest.mark.parametrize("mark", [".strip .reach", ".strip .point", ".spot", ".gauge .gain", ".gauge .guess"])
def test_marks_are_seen_where_a_reader_forces_colours(mark: str) -> None:
    rules = rules_within("(forced-colors:active)", "audit")
    named = [rule.partition("{")[0].split(",") for rule in rules.split("}")]
    coloured = [names for names, rule in zip(named, rules.split("}"), strict=True) if "background:" in rule]
    assert any(mark in {name.strip() for name in names} or mark.split()[-1] in names for names in coloured)
    assert "forced-color-adjust:none" in rules


def test_sections_are_in_main_and_tables_can_be_scrolled_by_the_keyboard() -> None:
    body = render("score_section", name="one", title="One", tables=[[("a", "b"), ("1", "2")]], told=[])
    assert '<div class="scroll" tabindex="0" role="region" aria-label="a, b">' in body
    html = page("title", {"results": [], "tiles": {}, "command_for_verdicts": None}, {"one": body})
    assert '<section id="one">' in html.partition("<main>")[2].partition("</main>")[0]
