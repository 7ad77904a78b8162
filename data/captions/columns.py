"""Any table of captions to videos: a row a caption, in JSONL, CSV, Parquet or a folder of `datasets.save_to_disk`.

The columns are named by options. Rows are grouped by video and annotator and sorted by time; nothing is dropped, split
or repaired here.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from shlex import quote
from typing import Any

from swag_af.data.captions.options import CaptionColumns
from swag_af.data.cells.values import integer, optional
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.cells.words import key_of
from swag_af.data.errors import InputError
from swag_af.data.tables.sources import Source
from swag_af.data.tokens import normalise_blanks
from swag_af.data.video import Caption, Video

_USUAL = {
    "video": ("videoid", "vid", "movie", "clip", "id"),
    "sentence": ("caption", "text", "description", "sentences"),
    "start": (
        *("start", "starttime", "begin", "begintime", "startseconds", "startsec", "startms", "starts", "tstart"),
        *("timestart", "timestamp", "timestamps", "time", "times", "onset"),
    ),
    "end": ("end", "endtime", "stop", "stoptime", "endseconds", "endsec", "endms", "ends", "tend", "timeend"),
}
"""Common names of these columns in other tables, in lower case, without marks."""

_DOTTED_CLOCK = re.compile(r"(\d+)\.(\d+)\.(\d+)\.(\d+)")
"""LSMDC's: `00.01.33.500`."""


_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_PLAIN = re.compile(r"[1-9]\d{2,}|\d+\.\d+")
"""Times that may have marks of thousands, and those that have none where they would, or a point for decimals."""


def videos_of_table(source: Source, columns: CaptionColumns) -> list[Video]:
    """The videos of a table, in order of first appearance; one Video for each annotator of a video.

    Raises InputError for what is missing, and for a time that may have a mark of thousands or of decimals.
    """
    names = _column_names(columns)
    if source.format != "jsonl":
        _check_columns(source, names, source.columns)
    else:
        _check_columns(source, {part: names[part] for part in ("video", "sentence") if part in names}, source.columns)
    named = with_whole_numbers(source, [names[part] for part in ("video", "annotator") if part in names])
    captions: dict[tuple[str, str, str], list[Caption]] = {}
    thousands, plain = dict[str, str](), set[str]()
    seen = dict.fromkeys(source.columns)
    for where, row in named.read(list(names.values())):
        seen |= dict.fromkeys(row)
        video = optional(row, names["video"]) if "video" in names else source.path.stem
        sentence = _cell(row, names, "sentence")
        if video is None or not isinstance(sentence, str):
            lacking = [
                names.get(part, part)
                for part, value in (("video", video), ("sentence", sentence))
                if value in (None, "")
            ]
            raise InputError(
                f"{source.path}: {where} has no {' and no '.join(map(repr, lacking)) or 'text as its sentence'}. "
                "Each caption needs its video and its sentence."
            )
        for part in ("video", "annotator", "source"):
            if isinstance(_cell(row, names, part), list | dict):
                raise InputError(
                    f"{source.path}: {where} has a list or an object under {names[part]!r}. Give a name or a number, "
                    f"or name another column with --{part}-column."
                )
        tree = optional(row, names.get("tree", ""))
        if not isinstance(tree, str | None):
            raise InputError(f"{source.path}: {where} has no text as its {names['tree']!r}. Give brackets, or nothing.")
        caption = Caption(normalise_blanks(sentence), _seconds_of(source, where, row, names), tree)
        for name in (names[part] for part in ("start", "end") if part in names):
            cell = str(row.get(name)).strip()
            if _THOUSANDS.fullmatch(cell):
                thousands.setdefault(name, f"{where} has {cell}")
            elif _PLAIN.fullmatch(cell):
                plain.add(name)
        annotator = optional(row, names.get("annotator", ""))
        of = str(optional(row, names.get("source", "")) or source.path.stem)
        captions.setdefault((_name(video), of, _name(annotator)), []).append(caption)
    _check_columns(source, names, seen)  # in JSONL, a row may have columns that the first one lacks
    for name in sorted(plain & thousands.keys()):
        raise InputError(
            f"{source.path}: {thousands[name]} under {name!r}, thousands or a decimal: others have no comma from "
            "100 on, or a decimal point. Write seconds without marks of thousands, and decimals with a point."
        )
    return [timed_video(video, of, items) for (video, of, _), items in captions.items()]


def _cell(row: Mapping[str, Any], names: Mapping[str, str], part: str) -> Any:
    """What a row has of a part as it stands; None where the options declare it absent."""
    return row.get(names[part]) if part in names else None


def _name(value: Any) -> str:
    """A name, or the whole number in its place, which a table may have made a float."""
    number = integer(value) if isinstance(value, float) else None
    return str(value if number is None else number)


def _column_names(columns: CaptionColumns) -> dict[str, str]:
    """`{"video": "video", ...}`, without those that the options declare absent."""
    parts = ("video", "sentence", "start", "end", "annotator", "tree", "source")
    return {part: name for part in parts if (name := getattr(columns, f"{part}_column"))}


def _check_columns(source: Source, names: Mapping[str, str], there: Iterable[str]) -> None:
    """Every fault of the columns at once: those that must be there, those that the user named but are not, and times
    under another name, without which captions would stand in the order of the file."""
    usual = _column_names(CaptionColumns())
    faults = []
    for part, name in names.items():
        needed = part in ("video", "sentence") or name != usual[part]
        if needed and name not in there:
            faults.append(f"no column {name!r}{_near(part, name, there)}")
        elif name not in there and (part == "start" or (part == "end" and "start" in names)):
            faults += [
                f"no column {name!r}, and {column!r} is not read (name it with --{part}-column {column}, or say "
                f"--{part}-column '' where it has no times)"
                for column in _by_usual_name(part, there)[:1]
                if column not in names.values()
            ]
    if faults:
        raise InputError(
            f"{source.path}: {'; '.join(faults)}. It was read as {source.format} and has "
            f"{', '.join(map(repr, there))}.{_hint(source, there)}"
        )


def _hint(source: Source, there: Iterable[str]) -> str:
    """Advice for a table that does not contain captions at all, or has them in lists, a video a name."""
    first = next((row for _, row in source.read(list(there))), {})
    if first and all(isinstance(value, list) and value and isinstance(value[0], dict) for value in first.values()):
        return (
            " If these names are videos, write a line for each caption: "
            f"jq -c 'to_entries[] | {{video: .key}} + .value[]' {quote(str(source.path))} > captions.jsonl"
        )
    if {"sent1", "gold"} <= set(there):
        return " These are contexts already: `swag-af generate` takes them."
    if {"endings", "ending0", "negatives"} & set(there):
        return " Contexts that have their endings are what `swag-af pool` takes."
    return ""


def _near(part: str, name: str, there: Iterable[str]) -> str:
    by_lower = {column.lower(): column for column in there}
    near = [by_lower[column] for column in difflib.get_close_matches(name.lower(), by_lower, n=1)]
    near += _by_usual_name(part, there)
    return f" (did you mean --{part}-column {near[0]}?)" if near else f" (name it with --{part}-column)"


def _by_usual_name(part: str, there: Iterable[str]) -> list[str]:
    """The columns that have a common name of this part, however it is written."""
    by_key = {key_of(column): column for column in there}
    return [by_key[name] for name in _USUAL.get(part, ()) if name in by_key]


def _seconds_of(
    source: Source, where: str, row: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[float, float | None] | None:
    given = _cell(row, names, "start"), _cell(row, names, "end")
    try:
        start, end = (None if value in (None, "") else seconds(value) for value in given)
    except (TypeError, ValueError):
        there = " or ".join(names[part] for part in ("start", "end") if part in names)
        raise InputError(
            f"{source.path}: {where} has a {there} that is no time. Give seconds, or hours:minutes:seconds."
        ) from None
    return None if start is None else (start, end)


def seconds(value: Any) -> float:
    """Seconds of a number or of a text: `93.5`, `00:01:33.5`, or `00.01.33.500`; ValueError for anything else."""
    text = _DOTTED_CLOCK.sub(r"\1:\2:\3.\4", value.strip()) if isinstance(value, str) else str(value)
    parts = text.replace(",", ".").split(":")
    if len(parts) > 3:
        raise ValueError("more than hours, minutes and seconds: frames, or days")
    given = [float(part) for part in parts]
    if "_" in text or (len(given) > 1 and (given[0] < 0 or not all(0 <= part < 60 for part in given[1:]))):
        raise ValueError("minutes or seconds that no clock shows")
    number = sum(part * 60**i for i, part in enumerate(reversed(given)))
    if not math.isfinite(number):
        raise ValueError("not finite, so there is no order of time")
    return number


def timed_video(id: str, source: str, captions: Sequence[Caption]) -> Video:
    """A video of these captions, sorted by time where all have one; it counts those that were listed out of order."""
    sorted_captions = in_order(captions)
    begins = [caption.seconds[0] for caption in captions if caption.seconds]
    n_back = sum(after < before for before, after in pairwise(begins)) if len(begins) == len(captions) else 0
    return Video(id, source, sorted_captions, n_back)


def in_order(captions: Sequence[Caption]) -> tuple[Caption, ...]:
    """Captions sorted by start time when every one has it, in their given order otherwise; ties keep their order."""
    if all(caption.seconds is not None for caption in captions):
        captions = sorted(captions, key=lambda caption: caption.seconds[0] if caption.seconds else 0.0)
    return tuple(captions)
