"""How far models get on a dataset, as Table 3 of SWAG shows it: text, CSV, Markdown, LaTeX. Computes no figure.

A row is a model, a column an input and a part; beside ours stand the figures that a paper has in the same place, which
are of SWAG. Accuracies are in percent, with the standard deviation over seeds behind a sign.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from swag_af.baselines.models import MAJORITY, RANDOM
from swag_af.baselines.outcome import Baselines, Difference, Figure, Order
from swag_af.data.disk.files import LineFeeds, write_text
from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.reporting.tables.latex import latex_table
from swag_af.reporting.tables.markdown import markdown_table
from swag_af.reporting.tables.text import table

Rows = list[tuple[str, ...]]
SHORT = {"validation": "val", "test": "test"}
_BEYOND = "*"


def write_tables(found: Baselines, folder: Path) -> list[Path]:
    """Write `table.txt`, `.csv`, `.md` and `.tex` into `folder`; the same figures give the same bytes."""
    texts = {
        "txt": "\n".join(baseline_lines(found)) + "\n",
        "csv": as_csv(found),
        "md": "\n".join(as_markdown(found)) + "\n",
        "tex": as_latex(found),
    }
    paths = {suffix: folder / f"table.{suffix}" for suffix in texts}
    for suffix, text in texts.items():
        write_text(paths[suffix], text)
    return list(paths.values())


def baseline_lines(found: Baselines) -> list[str]:
    """All of it for the terminal: accuracies, intervals, differences, order, blanks, notes."""
    lines = [_head(found), *filter(None, [found.warning])]
    for trained_on in found.trained_on:
        signs = f"{_SIGNS}{_by_luck(found, trained_on)}"
        lines += ["", f"Accuracy, %{_trained(trained_on)}; {signs}", *table(accuracy_rows(found, trained_on))]
        lines += ["", f"95 % intervals on {found.main}, %", *table(interval_rows(found, trained_on))]
        lines += _difference_lines(found, trained_on)
    lines += ["", *(order_line(one) for one in found.orders)] if found.orders else []
    lines += ["", *paper_lines(found), *people_lines(found)] if found.of == "choices" else []
    lines += ["", *blank_lines(found)] if found.blanks else []
    return [*lines, "", *found.notes]


_SIGNS = f"± deviation over seeds; {_BEYOND} the 95 % interval leaves out chance"


def _by_luck(found: Baselines, trained_on: str) -> str:
    """How many figures have a star, and how many would if no model knew anything; those of guesses do not count."""
    told = [one for one in found.figures if one.trained_on == trained_on and one.model not in (RANDOM, MAJORITY)]
    n = sum(map(is_beyond, told))
    return f": {n:,} of {len(told):,} do, where about {0.05 * len(told):.1f} would if none differed" if n else ""


def _head(found: Baselines) -> str:
    sizes = ", ".join(f"{part} {n:,}" for part, n in _sizes(found).items())
    chance = " / ".join(in_percent(_any(found, part).chance) for part in found.scored)
    return f"{found.name}: {found.parts} ({sizes}); {found.groups}; chance {chance}"


def _sizes(found: Baselines) -> dict[str, int]:
    fitted = max(one.n_fitted for one in found.figures)
    return {"train": fitted, **{part: _any(found, part).n for part in found.scored}}


def _any(found: Baselines, part: str) -> Figure:
    return next(one for one in found.figures if one.part == part)


def _trained(trained_on: str) -> str:
    return "" if trained_on == "all" else f", trained on {trained_on.replace('+', ' and ')} endings"


def accuracy_rows(found: Baselines, trained_on: str, *, marked: bool = True) -> Rows:
    """Accuracies of each model, by input and part, then the paper's on the main part; the first row is the header."""
    places = [(input, part) for input in found.inputs for part in found.scored]
    in_paper = [input for input in found.inputs if any(one.paper and one.input == input for one in found.figures)]
    ours = (f"{input} {SHORT[part]}" for input, part in places)
    rows: Rows = [("model", *ours, *(f"paper {input}" for input in in_paper))]
    for model in found.models:
        figures = [found.figure(model, input, trained_on, part) for input, part in places]
        papers = [found.figure(model, input, trained_on, found.main) for input in in_paper]
        shown = [_percent(one.paper) if one and one.paper else "" for one in papers]
        if any(figures):
            rows.append((model, *(_shown(one, marked) for one in figures), *shown))
    return rows


def _shown(one: Figure | None, marked: bool) -> str:
    if one is None:
        return ""
    deviation = "" if one.deviation is None else f" ± {100 * one.deviation:.1f}"
    return f"{_percent(one.accuracy)}{deviation}{_BEYOND if marked and is_beyond(one) else ''}"


def is_beyond(one: Figure) -> bool:
    """Whether the interval of a figure leaves out chance."""
    return not one.low <= one.chance <= one.high


def _percent(share: float) -> str:
    return f"{100 * share:z.1f}"


def interval_rows(found: Baselines, trained_on: str) -> Rows:
    """Intervals of each model on the main part, by input."""
    rows: Rows = [("model", *found.inputs)]
    for model in found.models:
        figures = [found.figure(model, input, trained_on, found.main) for input in found.inputs]
        if any(figures):
            rows.append((model, *(from_to(f.low, f.high) if f else "" for f in figures)))
    return rows


def _difference_lines(found: Baselines, trained_on: str) -> list[str]:
    """Of the last input, the fullest: which models are told apart on the same questions."""
    rows = difference_rows(found, found.inputs[-1], trained_on)
    if len(rows) < 3:
        return []
    chosen = [one for one in found.differences if (one.input, one.trained_on) == (found.inputs[-1], trained_on)]
    n = sum(one.is_beyond_chance for one in chosen)
    said = (
        f"{found.inputs[-1]}, {found.main}, on the same questions: row less column in points, where its 95 % interval "
        f"leaves out 0; {n:,} of {len(chosen):,} do, where about {0.05 * len(chosen):.1f} would if none differed"
    )
    return ["", said, *table(rows)]


def difference_rows(found: Baselines, input: str, trained_on: str) -> Rows:
    """A matrix of models: the row's accuracy less the column's in points, a dot where chance may have made it."""
    by_pair = {
        (one.first, one.second): one for one in found.differences if (one.input, one.trained_on) == (input, trained_on)
    }
    models = [model for model in found.models if any(model in pair for pair in by_pair)]
    header = ("", *models)
    return [header, *((row, *(_difference(by_pair, row, column) for column in models)) for row in models)]


def _difference(by_pair: dict[tuple[str, str], Difference], row: str, column: str) -> str:
    one, sign = by_pair.get((row, column)), 1
    if one is None:
        one, sign = by_pair.get((column, row)), -1
    if one is None:
        return ""
    return f"{100 * sign * one.mean:+z.1f}" if one.is_beyond_chance else "."


def order_line(one: Order) -> str:
    """Whether rows are in the paper's order, in a sentence."""
    where = "each in the fullest column it has" if one.input == "fullest" else one.input
    return (
        f"Order of {one.n:,} rows beside the paper's, {where}{_trained(one.trained_on)}, {one.part}: Kendall's tau "
        f"{one.tau:+z.2f} (with other questions {one.low:+z.2f} to {one.high:+z.2f}; rows in a random order: "
        f"p = {one.p:.2g}, ties kept)"
    )


def paper_lines(found: Baselines) -> list[str]:
    """Which row of which paper stands beside which of ours."""
    sources = dict.fromkeys(one.source for one in found.papers)
    return [
        f"paper ({source}, of SWAG, four options, chance 25 %): "
        + ", ".join(f"{one.model} = {one.name}" for one in found.papers if one.source == source)
        for source in sources
    ]


def people_lines(found: Baselines) -> list[str]:
    """What people get right on SWAG."""
    if found.of != "choices":
        return []
    return ["people on SWAG, reading all: " + ", ".join(f"{who} {_percent(x)}" for who, x in found.people.items())]


def blank_lines(found: Baselines) -> list[str]:
    """Why places of the table are blank."""
    places: dict[tuple[str, str], list[str]] = {}
    for one in found.blanks:
        places.setdefault((one.model, one.reason), []).append(one.input)
    return [f"blank: {model}, {', '.join(inputs)}: {why}" for (model, why), inputs in places.items()]


def as_csv(found: Baselines) -> str:
    """A line for each figure, accuracies from 0 to 1; what papers have of people stands in lines of its own."""
    papers = {one.model: one for one in found.papers}
    names = [one.name for one in fields(Figure)]
    file = io.StringIO()
    writer = csv.writer(LineFeeds(file))
    writer.writerow([*names, "paper_row", "paper_source"])
    for one in found.figures:
        paper = papers.get(one.model) if one.paper is not None else None
        writer.writerow([*asdict(one).values(), *((paper.name, paper.source) if paper else ("", ""))])
    for who, accuracy in found.people.items() if found.of == "choices" else ():
        writer.writerow(_line_of_people(names, who, accuracy))
    return file.getvalue()


def _line_of_people(names: Sequence[str], who: str, accuracy: float) -> list[object]:
    values: dict[str, object] = {"model": who, "input": "full", "part": "test", "paper": accuracy}
    return [*(values.get(name, "") for name in names), "Human", "Zellers et al. 2018, Table 3"]


def as_markdown(found: Baselines) -> Iterator[str]:
    """The table of each kind of training."""
    for trained_on in found.trained_on:
        yield f"Accuracy on {found.name}, %{_trained(trained_on)}; ± deviation over seeds{_main_said(found)}"
        yield ""
        yield from markdown_table(_with_people(found, accuracy_rows(found, trained_on, marked=False)))
        yield ""


def as_latex(found: Baselines) -> str:
    """The tables with booktabs' rules; `paper` columns are of SWAG."""
    tables = []
    for trained_on in found.trained_on:
        caption = f"Accuracy on {found.name} (%){_trained(trained_on)}; deviation over seeds{_main_said(found)}"
        rows = _with_people(found, accuracy_rows(found, trained_on, marked=False))
        tables.append(latex_table(rows, caption, f"baselines-{trained_on.replace('+', '-')}"))
    return "\n".join(tables).replace("±", r"$\pm$")


def _main_said(found: Baselines) -> str:
    if not found.papers:
        return "."
    return f"; paper: {SHORT[found.main]} accuracy on SWAG (Zellers et al. 2018; transformer: Zellers et al. 2019)."


def _with_people(found: Baselines, rows: Rows) -> Rows:
    """The same with what people get right on SWAG, where the table has a column for it."""
    if found.of != "choices" or "paper full" not in rows[0]:
        return rows
    at = rows[0].index("paper full")
    made = [(who, *("" if i != at else _percent(x) for i in range(1, len(rows[0])))) for who, x in found.people.items()]
    return [*rows, *made]
