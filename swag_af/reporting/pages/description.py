"""The page of a dataset described: one HTML file with its tables and pictures. Computes nothing."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from swag_af.describing.description import Description
from swag_af.describing.tables import Table, tables_of
from swag_af.reporting.page import page, render

_SECTIONS = {
    "counts": ("How many of everything", ("counts", "splits", "sources", "labels", "questions", "vocabulary")),
    "lengths": ("How long the texts are", ("lengths",)),
    "verbs": ("What is done: verbs", ("verbs", "verbs-apart", "verbs-cumulative")),
    "topics": ("What it is about: topics", ("topics",)),
}
"""The title of each section, and how the names of its tables begin."""
_PICTURES = {
    "lengths": "The share of sentences of each length.",
    "verbs": "The commonest verbs, and below the share that they have.",
}


def description_page(description: Description, pictures: Sequence[Path], *, command: str = "") -> str:
    """The whole file; of `pictures`, those that are SVG are within it. `command` is what made the description."""
    svg = {path.stem: path.read_text(encoding="utf-8") for path in pictures if path.suffix == ".svg"}
    tables = tables_of(description)
    sections = {}
    for name, (title, beginnings) in _SECTIONS.items():
        ours = [one for one in tables if one.name.startswith(beginnings) and _section_of(one) == name]
        if ours:
            sections[name] = _section(name, title, ours, svg, _told(description, name))
    sections["making"] = render(
        "description_making",
        notes=description.notes,
        groups=description.groups,
        files=description.files,
        command=command,
    )
    return page(f"{description.name}, described", {"tiles": _tiles(description)}, sections, skeleton="description")


def _section_of(table: Table) -> str:
    return next(name for name, (_, beginnings) in _SECTIONS.items() if table.name.startswith(beginnings))


def _section(name: str, title: str, tables: Sequence[Table], svg: Mapping[str, str], told: Sequence[str]) -> str:
    shown = [(one.caption, *_split(one)) for one in tables]
    picture = _inline(svg[name]) if name in svg else ""
    return render(
        "description_section",
        name=name,
        title=title,
        tables=shown,
        picture=picture,
        label=_PICTURES.get(name, ""),
        told=told,
    )


def _split(table: Table) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    header, *rows = table.shown()
    return header, rows


_BEFORE_SVG = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)


def _inline(svg: str) -> str:
    """A picture of matplotlib as a part of a page."""
    return _METADATA.sub("", _BEFORE_SVG.sub("", svg))


def _told(description: Description, section: str) -> list[str]:
    """What is to be said beside the tables of a section; warnings of the whole stand at the top."""
    if section == "counts":
        return list(description.warnings)
    if section == "topics" and description.topics:
        topics = description.topics
        fit = []
        if topics.perplexity is not None and topics.by_frequency is not None:
            fit.append(
                f"Perplexity of held-out words (every other word of {topics.n_held_out:,} documents): "
                f"{topics.perplexity:,.0f}; by word frequencies alone {topics.by_frequency:,.0f}."
            )
        return [*fit, *topics.warnings]
    if section == "verbs" and description.verbs:
        return [f"Tagged by {description.verbs.tagger}; auxiliaries and copulas aside."]
    return []


def _tiles(description: Description) -> dict[str, str]:
    return {one.what: f"{one.n:,}" for one in description.counts.whole[:6]}
