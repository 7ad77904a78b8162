"""The table as text, CSV, Markdown and LaTeX, and the picture: every figure in its place, the same bytes."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from swag_af.baselines.outcome import Baselines, Blank, Difference, Figure, Order, PaperRow
from swag_af.reporting.tables.table3 import (
    accuracy_rows,
    as_csv,
    as_latex,
    as_markdown,
    baseline_lines,
    difference_rows,
    interval_rows,
    write_tables,
)
from swag_af.reporting.tables.table3_plot import plot_baselines


def figure(model: str, input: str, trained_on: str, part: str, accuracy: float, paper: float | None = None) -> Figure:
    deviation = 0.012 if model == "esim" else None
    low, high = accuracy - 0.04, accuracy + 0.04
    return Figure(model, input, trained_on, part, accuracy, deviation, low, high, 0.25, 90, 30, 3, 400, paper)


@pytest.fixture
def found() -> Baselines:
    """Two models on two inputs, one of them blank, trained in two ways."""
    figures = [
        figure(model, input, trained_on, part, accuracy + (trained_on != "found") / 100, paper)
        for model, input, accuracy, paper in (
            ("longest", "ending", 0.27, None),
            ("esim", "ending", 0.3, None),
            ("esim", "full", 0.456, 0.527),
        )
        for trained_on in ("found", "found+generated")
        for part in ("validation", "test")
    ]
    return Baselines(
        name="my_data & more",
        of="choices",
        parts="published splits",
        groups="30 groups",
        models=("longest", "esim"),
        inputs=("ending", "full"),
        trained_on=("found", "found+generated"),
        main="test",
        figures=tuple(figures),
        blanks=(Blank("longest", "full", "reads the ending alone"),),
        differences=(Difference("longest", "esim", "ending", "found", "test", -0.03, -0.05, -0.01),),
        orders=(Order("full", "found", "test", 5, 0.6, 0.2, 0.9, 0.23),),
        papers=(PaperRow("esim", "ESIM+GloVe", "Zellers et al. 2018, Table 3"),),
        people={"expert": 0.85},
        notes=("read as multiple choice",),
    )


def test_a_row_is_a_model_and_a_column_an_input_and_a_part(found: Baselines) -> None:
    header, longest, esim = accuracy_rows(found, "found")
    assert header == ("model", "ending val", "ending test", "full val", "full test", "paper full")
    assert longest == ("longest", "27.0", "27.0", "", "", "")
    assert esim == ("esim", "30.0 ± 1.2*", "30.0 ± 1.2*", "45.6 ± 1.2*", "45.6 ± 1.2*", "52.7")
    assert interval_rows(found, "found+generated")[2] == ("esim", "27.0 to 35.0", "42.6 to 50.6")


def test_differences_are_row_less_column_and_dots_where_chance_may_have_made_them(found: Baselines) -> None:
    assert difference_rows(found, "ending", "found") == [
        ("", "longest", "esim"),
        ("longest", "", "-3.0"),
        ("esim", "+3.0", ""),
    ]
    (one,) = found.differences
    unsure = replace(found, differences=(replace(one, high=0.01),))
    assert difference_rows(unsure, "ending", "found")[1] == ("longest", "", ".")


def test_the_text_has_all_of_it(found: Baselines) -> None:
    said = "\n".join(baseline_lines(found))
    for part in (
        "trained on found and generated endings",
        "Kendall's tau +0.60 (with other questions +0.20 to +0.90; rows in a random order: p = 0.23, ties kept)",
        "esim = ESIM+GloVe",
        "expert 85.0",
        "blank: longest, full: reads the ending alone",
        "read as multiple choice",
        "(train 400, validation 90, test 90)",
    ):
        assert part in said


def test_how_many_stars_luck_would_give_is_said_beside_the_table(found: Baselines) -> None:
    lines = baseline_lines(found)
    assert any("leaves out chance: 4 of 6 do, where about 0.3 would if none differed" in line for line in lines)
    guesses = [replace(one, model="random", accuracy=0.25, low=0.21, high=0.29) for one in found.figures]
    alone = baseline_lines(replace(found, models=("random",), figures=tuple(guesses), differences=()))
    assert not any("would if none differed" in line for line in alone)


def test_the_csv_has_a_line_for_each_figure_and_for_people(found: Baselines) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert len(rows) == len(found.figures) + 1
    esim = next(r for r in rows if (r["model"], r["input"], r["part"]) == ("esim", "full", "test"))
    assert (esim["accuracy"], esim["paper"], esim["paper_row"]) == ("0.456", "0.527", "ESIM+GloVe")
    assert (rows[-1]["model"], rows[-1]["paper"], rows[-1]["accuracy"]) == ("expert", "0.85", "")


def test_markdown_and_latex_have_the_rows_of_the_text(found: Baselines) -> None:
    markdown, latex = "\n".join(as_markdown(found)), as_latex(found)
    assert "| esim | 30.0 ± 1.2 | 30.0 ± 1.2 | 45.6 ± 1.2 | 45.6 ± 1.2 | 52.7 |" in markdown
    assert "| expert |  |  |  |  | 85.0 |" in markdown
    assert r"esim & 30.0 $\pm$ 1.2 & 30.0 $\pm$ 1.2 & 45.6 $\pm$ 1.2 & 45.6 $\pm$ 1.2 & 52.7 \\" in latex
    assert r"my\_data \& more" in latex
    assert latex.count(r"\toprule") == 2


def test_the_same_figures_give_the_same_files(found: Baselines, tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        paths = [*write_tables(found, tmp_path / name), *plot_baselines(found, tmp_path / name)]
        made.append({path.name: path.read_bytes() for path in paths})
    assert made[0] == made[1]
    assert set(made[0]) == {"table.txt", "table.csv", "table.md", "table.tex", "baselines.png", "baselines.svg"}


def test_the_picture_marks_what_the_paper_has(found: Baselines, tmp_path: Path) -> None:
    plot_baselines(found, tmp_path)
    with_paper = (tmp_path / "baselines.svg").read_text(encoding="utf-8")
    plot_baselines(replace(found, figures=tuple(replace(one, paper=None) for one in found.figures)), tmp_path)
    without = (tmp_path / "baselines.svg").read_text(encoding="utf-8")
    assert "the paper, on SWAG" in with_paper
    assert "the paper, on SWAG" not in without
