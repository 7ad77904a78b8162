"""The page around a report: templates of the skeleton and the sections (`templates/`) and a style sheet (`static/`).

The result is one HTML file with no script and no link to the network: a content security policy in its head forbids
loading anything. Its colours follow the reader's light or dark mode, and on a phone it has one column.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from swag_af.data.display.terminal import visible
from swag_af.reporting.charts import escape, percent

if TYPE_CHECKING:
    from jinja2 import Environment

DARK = {
    "#4477aa": "#77aadd",
    "#228833": "#44bb66",
    "#8f8f00": "#d9c84f",
    "#ee6677": "#ff8f9c",
    "#222222": "#f2f2f2",
    "#aa3377": "#dd77b0",
    "#d95f0e": "#ff9a5c",
    "#2a9cc4": "#66ccee",
    "#8c510a": "#cc9966",
    "#009988": "#44bbaa",
    "#bb5566": "#dd8899",
    "#332288": "#9988dd",
    "#b07d00": "#e3b341",
    "#7d8590": "#9aa4b0",
    "#2563c9": "#6ea8fe",
}
"""Colours that are too dark for a dark page, and their replacements there."""


def page(
    title: str,
    header: Mapping[str, object],
    sections: Mapping[str, str],
    colours: Sequence[str] = (),
    *,
    skeleton: str = "report",
    sheet: str = "",
) -> str:
    """A whole HTML file, from the values of its header and the HTML of its sections, by the names that links use.

    `colours` are those of the chart series `s0`, `s1`, ... in a light page. A `skeleton` other than that of a report
    has a template, and a style sheet of its own that follows the report's: `sheet`, or that of its name.
    """
    sheets = dict.fromkeys(["report", sheet or skeleton])
    folder = files("swag_af.reporting") / "static"
    css = "".join((folder / f"{sheet}.css").read_text(encoding="utf-8") for sheet in sheets)
    dark = [DARK.get(colour, colour) for colour in colours]
    return render(skeleton, title=title, css=css, light=colours, dark=dark, sections=sections, **header)


def render(template: str, **values: object) -> str:
    """The HTML of `templates/TEMPLATE.html`, filled in with `values`.

    Text is escaped wherever the template does not mark it `|safe`; a value that is missing raises an error.
    """
    return _environment().get_template(f"{template}.html").render(values)


@cache
def _environment() -> "Environment":
    """Loaded when the first page is written, so that importing this package does not import Jinja."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("swag_af.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_as_html,
    )
    environment.filters |= {"percent": percent, "thousands": "{:,}".format, "visible": visible, "prose": prose}
    return environment


def prose(text: str) -> str:
    """A sentence of ours that may quote data: control characters are shown, and no line ends before a percent sign."""
    return visible(text).replace(" %", "\N{NO-BREAK SPACE}%")


def _as_html(value: object) -> object:
    """What a template writes for `value`: escaped as in the charts, control characters too; HTML as it is."""
    from markupsafe import Markup

    return value if hasattr(value, "__html__") else Markup(escape(value))
