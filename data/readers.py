"""Readers: files of consecutive captions to videos in the order in which things happen.

A reader cleans blanks and puts captions in order of time; it neither drops nor splits sentences. Formats are
told by the name of the file, so no flag is needed for the usual ones.
"""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swag_af.data.captions import Caption, Video
from swag_af.data.errors import InputError
from swag_af.data.files import read_json, read_jsonl
from swag_af.data.tokens import normalise_blanks

FORMATS = ("auto", "activitynet", "jsonl", "csv")


def read_videos(path: Path, *, format: str = "auto") -> list[Video]:
    """The videos of one source file; `format` is one of FORMATS, `auto` looks at the name."""
    if format not in FORMATS:
        raise InputError(f"--format {format}: not known. Choose one of {', '.join(FORMATS)}.")
    chosen = _guess_format(path) if format == "auto" else format
    videos = _READERS[chosen](path)
    if not any(len(video.captions) > 1 for video in videos):
        raise InputError(
            f"{path}: no two consecutive captions of one video in it ({len(videos)} videos read as {chosen}). "
            "Check the file, or say its --format."
        )
    return videos


def merge_videos(sources: list[list[Video]]) -> list[Video]:
    """The videos of several files, one after the other; an id met again keeps its id, so its captions stay in
    one fold."""
    return [video for videos in sources for video in videos]


def _guess_format(path: Path) -> str:
    if path.suffix.lower() in {".csv", ".tsv"}:
        return "csv"
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        return "jsonl"
    if path.suffix.lower() == ".json":
        return "activitynet"
    if not path.exists():
        raise InputError(f"{path}: no such file. Check the path.")
    raise InputError(f"{path}: cannot tell its format from its name. Say --format {' | '.join(FORMATS[1:])}.")


def _read_activitynet(path: Path) -> list[Video]:
    """ActivityNet Captions (Krishna et al. 2017): `{id: {duration, timestamps, sentences}}`.

    Sentences carry stray blanks, and the captions of some videos are not in order of time; both are mended.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: not ActivityNet Captions, which is one JSON object by video id. Say its --format.")
    return [_activitynet_video(path, key, entry) for key, entry in content.items()]


def _activitynet_video(path: Path, key: str, entry: Any) -> Video:
    try:
        sentences, times = entry["sentences"], entry["timestamps"]
        captions = [
            Caption(normalise_blanks(sentence), _finite(time[0], time[1]))
            for sentence, time in zip(sentences, times, strict=True)
        ]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(
            f"{path}: video {key!r} lacks `sentences`, or one [begin, end] in seconds for each under `timestamps`. "
            "Mend or remove that entry."
        ) from None
    return Video(key, "activitynet", _in_order(captions))


def _read_jsonl(path: Path) -> list[Video]:
    """One caption a line: `video` and `sentence`, and if known `start_time`, `end_time`, `tree`, `source`."""
    rows = [(f"line {number}", record) for number, record in read_jsonl(path)]
    return _videos_of_rows(path, rows, source=path.stem)


def _read_csv(path: Path) -> list[Video]:
    """The same columns as JSON lines, with a header line; tabs when the name ends in `.tsv`."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path.")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        try:
            rows: list[tuple[str, dict[str, Any]]] = [(f"line {reader.line_num}", row) for row in reader]
        except (csv.Error, UnicodeDecodeError) as error:
            raise InputError(
                f"{path}: line {reader.line_num + 1} is not readable as UTF-8 CSV ({error}). Mend it."
            ) from None
    return _videos_of_rows(path, rows, source=path.stem)


def _videos_of_rows(path: Path, rows: list[tuple[str, dict[str, Any]]], *, source: str) -> list[Video]:
    """Captions grouped by video, videos in order of first appearance."""
    captions: dict[str, list[Caption]] = {}
    sources: dict[str, str] = {}
    for where, row in rows:
        video, sentence = row.get("video"), row.get("sentence")
        if video in (None, "") or not isinstance(sentence, str):
            raise InputError(f"{path}: {where} has no `video` or no `sentence`. Each caption needs both.")
        caption = Caption(normalise_blanks(sentence), _seconds_of(path, where, row), row.get("tree") or None)
        captions.setdefault(str(video), []).append(caption)
        sources.setdefault(str(video), str(row.get("source") or source))
    return [Video(video, sources[video], _in_order(items)) for video, items in captions.items()]


def _seconds_of(path: Path, where: str, row: dict[str, Any]) -> tuple[float, float] | None:
    start, end = row.get("start_time"), row.get("end_time")
    if start in (None, "") or end in (None, ""):
        return None
    try:
        return _finite(start, end)
    except (TypeError, ValueError):
        raise InputError(f"{path}: {where} has a start_time or end_time that is no number. Give seconds.") from None


def _finite(start: Any, end: Any) -> tuple[float, float]:
    seconds = float(start), float(end)
    if not all(map(math.isfinite, seconds)):
        raise ValueError("not finite, so there is no order of time")
    return seconds


def _in_order(captions: list[Caption]) -> tuple[Caption, ...]:
    """Captions by start time when every one has it, as they stand otherwise; ties keep their order."""
    if all(caption.seconds is not None for caption in captions):
        captions = sorted(captions, key=lambda caption: caption.seconds[0] if caption.seconds else 0.0)
    return tuple(captions)


def caption_rows(videos: list[Video]) -> list[dict[str, Any]]:
    """The JSON-lines rows that `_read_jsonl` reads back as the same videos."""
    return [
        {"video": video.id, "source": video.source, "sentence": caption.text}
        | ({"start_time": caption.seconds[0], "end_time": caption.seconds[1]} if caption.seconds else {})
        | ({"tree": caption.tree} if caption.tree else {})
        for video in videos
        for caption in video.captions
    ]


_READERS: dict[str, Callable[[Path], list[Video]]] = {
    "activitynet": _read_activitynet,
    "jsonl": _read_jsonl,
    "csv": _read_csv,
}
