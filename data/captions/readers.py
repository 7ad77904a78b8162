"""Readers: sources of consecutive captions to videos in the order in which things happen.

The format is recognised by the name and the first lines of a file, so the usual ones need no flag. A reader cleans
blanks and sorts captions by time; it neither drops nor splits sentences. The formats themselves are in `published` and
`columns`.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swag_af.data.captions.columns import videos_of_table
from swag_af.data.captions.options import CaptionColumns
from swag_af.data.captions.published import CAPTION_SETS, LSMDC_CLIP
from swag_af.data.disk.files import check_is_file, json_value, read_json, read_lines
from swag_af.data.errors import InputError, several
from swag_af.data.tables.sources import check_unpacked, open_source
from swag_af.data.video import Video

TABLES = ("jsonl", "csv", "parquet", "datasets")
FORMATS = ("auto", *CAPTION_SETS, *TABLES)

_NAMES = {"activitynet": "ActivityNet Captions", "lsmdc": "LSMDC", "youcook2": "YouCook2", "charades": "Charades"}
_HEAD_BYTES = 4096


def read_videos(path: Path, *, format: str = "auto", columns: CaptionColumns | None = None) -> list[Video]:
    """The videos of one source; `format` is one of FORMATS, `auto` looks at the name and the first lines.

    `columns` names the columns of a table. Raises InputError when it contains no pair of captions.
    """
    chosen = format_of(path, format)
    if chosen in CAPTION_SETS:
        videos = CAPTION_SETS[chosen](path)
    else:
        videos = videos_of_table(open_source(path, chosen), columns or CaptionColumns())
    if not any(len(video.captions) > 1 for video in videos):
        raise InputError(
            f"{path}: no two consecutive captions of one video in it ({len(videos)} videos read as {chosen}). "
            "Check the file, or say its --format or its --video-column."
        )
    return videos


def format_of(path: Path, format: str = "auto") -> str:
    """The format to read `path` in: the given one, or the one that its name and its first lines look like."""
    if format not in FORMATS:
        raise InputError(f"--format {format}: not known. Choose one of {', '.join(FORMATS)}.")
    if not path.exists():
        raise InputError(f"{path}: no such file or folder. Check the path.")
    if format != "auto":
        return format
    if path.is_dir():
        return "datasets"
    check_is_file(path)
    check_unpacked(path)
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if head.startswith(b"PAR1"):
        return "parquet"
    if not text:
        raise InputError(f"{path}: nothing in it. Check the file.")
    if text.startswith("{"):
        return _json_format(path, text)
    return _text_format(path, text)


def _json_format(path: Path, head: str) -> str:
    """JSON lines by the name, or when the first line is an object of no published dataset; else the dataset whose shape
    it has."""
    first, *others = [line for line in head.split("\n") if line.strip()]
    try:
        values = json_value(first).values()
    except ValueError:  # or it goes on in the next line; what is wrong with the file is said when it is read
        values = None
    one_line_of_many = values is not None and any(line.startswith("{") for line in others)
    no_set = values is not None and not any(isinstance(value, dict) for value in values)
    if path.suffix.lower() in (".jsonl", ".ndjson") or one_line_of_many or no_set:
        return "jsonl"
    if re.match(r'\{\s*"database"', head):
        return "youcook2"
    return "youcook2" if isinstance(read_json(path).get("database"), dict) else "activitynet"


def _text_format(path: Path, head: str) -> str:
    first = head.splitlines()[0] if head else ""
    if LSMDC_CLIP.fullmatch(first.partition("\t")[0].strip()):
        return "lsmdc"
    names = {name.strip().strip('"') for name in first.split(",")}
    if {"id", "script", "descriptions"} <= names:
        return "charades"
    if path.suffix.lower() in (".csv", ".tsv"):
        return "csv"
    if head.startswith("["):
        raise InputError(
            f"{path}: one JSON list. Write one object a line instead, say with `jq -c '.[]' {path.name} > rows.jsonl`."
        )
    for _ in read_lines(path):
        break  # text in UTF-8 it is
    raise InputError(f"{path}: cannot tell what it is. Say --format {' | '.join(FORMATS[1:])}.")


def describe(path: Path, format: str, videos: Sequence[Video]) -> str:
    """One line that says which format the source was read in."""
    captions = [caption for video in videos for caption in video.captions]
    timed = sum(caption.seconds is not None for caption in captions)
    times = "times" if all(not caption.seconds or caption.seconds[1] is not None for caption in captions) else "starts"
    said = f"with {times}" if timed == len(captions) else f"{timed:,} with {times}" if timed else "without times"
    n_ids = len({(video.source, video.id) for video in videos})
    by = f" by {several(len(videos), 'annotation')}" if len(videos) > n_ids else ""
    return (
        f"{path.name}: {_NAMES.get(format, format)}; {several(len(captions), 'caption')} of "
        f"{several(n_ids, 'video')}{by}, {said}"
    )


def merge_videos(sources: list[list[Video]]) -> list[Video]:
    """The videos of several files, one after the other; a video that occurs again keeps its id, so its captions stay in
    one fold."""
    return [video for videos in sources for video in videos]


def caption_rows(videos: list[Video]) -> list[dict[str, Any]]:
    """The JSON-lines rows that `read_videos` reads back as the same videos, each of one annotator."""
    return [
        {"video": video.id, "source": video.source, "sentence": caption.text}
        | ({"start_time": caption.seconds[0], "end_time": caption.seconds[1]} if caption.seconds else {})
        | ({"tree": caption.tree} if caption.tree else {})
        for video in videos
        for caption in video.captions
    ]
