"""The verb `describe`: a dataset read, described, and written as tables, pictures, one page and one record."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from swag_af.data.disk.files import LineFeeds, write_json, write_text
from swag_af.data.disk.manifests import FORMAT, check_made_by, check_nothing_lost
from swag_af.data.disk.replacing import check_output, replacing
from swag_af.data.disk.urls import command_for
from swag_af.data.display.brief import cut
from swag_af.data.errors import takes_options
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import names_of, read_instances
from swag_af.data.tags import load_tagger
from swag_af.describing.description import Description, description_of
from swag_af.describing.options import DescribeOptions
from swag_af.describing.tables import Table, tables_of
from swag_af.reporting.description_plots import plot_description
from swag_af.reporting.pages.description import description_page
from swag_af.reporting.tables.latex import latex_table
from swag_af.reporting.tables.markdown import markdown_table
from swag_af.reporting.tables.text import table

ABOUT, PAGE, TABLES = "describe.json", "describe.html", "tables"


@takes_options
def describe(options: DescribeOptions) -> Description:
    """The verb `describe`; with `options.out`, the folder is there whole or not at all.

    Raises InputError, before any work, for what cannot be read or written.
    """
    _check_out(options)
    tagger = load_tagger(options.tagger)
    instances = read_instances(options.data, options.reading)
    made = description_of(instances, options, beside=_beside(options), tagger=tagger)
    if options.out:
        _write(made, options.out, options)
    return made


def _check_out(options: DescribeOptions) -> None:
    if options.out is None:
        return
    check_output(options.out, force=options.force, folder=True)
    check_made_by("describe", options.out, ABOUT)
    check_nothing_lost(options.out, "description")


def _beside(options: DescribeOptions) -> list[Instances]:
    """The other corpora, each by its file's name, without its suffix where that tells it from all others; how the
    dataset is read says of theirs only what is hidden."""
    reading = replace(ReadingOptions(), persons=options.reading.persons, mask=options.reading.mask)
    names = names_of([*options.data, *options.beside])
    stems = [Path(name).with_suffix("").as_posix() for name in names]
    told = (stems if len(set(stems)) == len(stems) else names)[len(options.data) :]
    return [read_instances([path], reading, name=name) for path, name in zip(options.beside, told, strict=True)]


def _write(made: Description, folder: Path, options: DescribeOptions) -> None:
    with replacing(folder) as temporary:
        (temporary / TABLES).mkdir(parents=True)
        for one in tables_of(made):
            for suffix, text in (("csv", _csv(one)), ("md", _markdown(one)), ("tex", _latex(one))):
                write_text(temporary / TABLES / f"{one.name}.{suffix}", text)
        pictures = plot_description(made, temporary)
        write_text(
            temporary / PAGE, description_page(made, pictures, command=command_for("describe", options, but=("force",)))
        )
        write_json(temporary / ABOUT, {"format": FORMAT, "kind": "description", **asdict(made)})


def _csv(one: Table) -> str:
    """The values as they are: shares from 0 to 1, nothing where there is none."""
    text = io.StringIO()
    writer = csv.writer(LineFeeds(text))
    writer.writerow([column.name for column in one.columns])
    writer.writerows(one.rows)
    return text.getvalue()


def _markdown(one: Table) -> str:
    return "\n".join([*markdown_table(one.shown()), "", one.caption, ""])


def _latex(one: Table) -> str:
    left = [i for i, column in enumerate(one.columns) if column.form == "text"]
    return latex_table(one.shown(), one.caption, one.name, left=left)


def described_lines(made: Description, options: DescribeOptions) -> list[str]:
    """The description as text: how it was read, warnings, each table, where it all is."""
    lines = [*made.notes, *(f"warning: {warning}" for warning in made.warnings)]
    for one in tables_of(made):
        lines += ["", one.caption, *_shortened(table([tuple(map(cut, row)) for row in one.shown()]))]
    if made.topics:
        lines += [*(f"  {warning}" for warning in made.topics.warnings), *_fit(made)]
    return [*lines, "", _where(options)]


def _shortened(lines: Sequence[str]) -> Sequence[str]:
    return lines if len(lines) <= 60 else [*lines[:60], f"  ... and {len(lines) - 60} more"]


def _fit(made: Description) -> list[str]:
    topics = made.topics
    if topics is None or topics.perplexity is None or topics.by_frequency is None:
        return []
    return [f"  perplexity of held-out words {topics.perplexity:,.0f}, by word frequencies {topics.by_frequency:,.0f}"]


def _where(options: DescribeOptions) -> str:
    if options.out is None:
        return "--out DIR keeps each table as CSV, Markdown and LaTeX, pictures as PNG, SVG and PDF, and one page."
    return f"Written to {options.out}. Open {options.out / PAGE} in a browser; it needs no network."
