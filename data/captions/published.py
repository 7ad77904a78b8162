"""Published caption datasets in their original files: ActivityNet Captions, LSMDC, YouCook2 and Charades to videos.

Each reader sorts captions by time; nothing is dropped, split at its verb phrase, or repaired here. docs/DATA.md says
where to get the files.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from swag_af.data.captions.columns import in_order, seconds, timed_video
from swag_af.data.disk.files import read_json, read_lines
from swag_af.data.errors import InputError
from swag_af.data.tables.sources import open_source
from swag_af.data.text.sentences import sentences_of
from swag_af.data.tokens import normalise_blanks
from swag_af.data.video import Caption, Video

LSMDC_CLIP = re.compile(r"(.+)_\d\d\.\d\d\.\d\d\.\d{3}-\d\d\.\d\d\.\d\d\.\d{3}")
"""A clip of LSMDC: the movie, then begin and end."""


def read_activitynet(path: Path) -> list[Video]:
    """ActivityNet Captions (Krishna et al. 2017): `{id: {duration, timestamps, sentences}}`.

    Sentences have stray blanks, and the captions of some videos are not in order of time; both are fixed. val_1 and
    val_2 have the same videos by two annotators: given both, a video's id repeats and both parts are in the same fold.
    """
    content = _object(path, "ActivityNet Captions, which is one JSON object by video id")
    return [_timed_video(path, key, "activitynet", *_activitynet_entry(path, key, e)) for key, e in content.items()]


def _activitynet_entry(path: Path, key: str, entry: Any) -> tuple[list[Any], list[Any]]:
    try:
        return entry["sentences"], entry["timestamps"]
    except (KeyError, TypeError):
        raise _bad_entry(path, key, "`sentences`, or one [begin, end] in seconds for each under `timestamps`") from None


def read_youcook2(path: Path) -> list[Video]:
    """YouCook2 (Zhou et al. 2018): `{"database": {id: {"annotations": [{"segment", "sentence"}]}}}`, recipes."""
    content = _object(path, "YouCook2, whose JSON holds its videos under `database`").get("database")
    if not isinstance(content, dict):
        raise InputError(f"{path}: not YouCook2, whose JSON holds its videos under `database`. Say its --format.")
    videos = []
    for key, entry in content.items():
        try:
            steps = entry.get("annotations", [])  # the test part has none
            sentences, times = [step["sentence"] for step in steps], [step["segment"] for step in steps]
        except (KeyError, TypeError, AttributeError):
            raise _bad_entry(path, key, "a `sentence` or a `segment` of [begin, end] in an annotation") from None
        videos.append(_timed_video(path, key, "youcook2", sentences, times))
    return videos


def _object(path: Path, what: str) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: not {what}. Say its --format.")
    return content


def _timed_video(path: Path, key: str, source: str, sentences: list[Any], times: list[Any]) -> Video:
    try:
        if any(isinstance(part, str) for part in (sentences, times, *times)):
            raise TypeError("one text, whose letters are no captions and no times")
        captions = [
            Caption(normalise_blanks(sentence), (seconds(time[0]), seconds(time[1])))
            for sentence, time in zip(sentences, times, strict=True)
        ]
    except (TypeError, ValueError, IndexError, AttributeError, KeyError):
        raise _bad_entry(path, key, "a text, or one [begin, end] in seconds, for each of its captions") from None
    return timed_video(key, source, captions)


def _bad_entry(path: Path, key: str, lacking: str) -> InputError:
    return InputError(f"{path}: video {key!r} lacks {lacking}. Mend or remove that entry.")


def read_lsmdc(path: Path) -> list[Video]:
    """LSMDC's annotations (Rohrbach et al. 2017): a clip a row, its name, aligned begin and end, extracted begin and
    end, and sentence, by tabs. There is no header and no quoting; a movie is one video; SOMEONE stands for every name.
    """
    movies: dict[str, list[Caption]] = {}
    for number, line in read_lines(path, newline="\n"):
        cells = line.rstrip("\r\n").split("\t")
        clip = LSMDC_CLIP.fullmatch(cells[0].strip())
        if not line.strip() or (number == 1 and not clip and len(cells) > 5):  # a header that was added later
            continue
        if not clip or len(cells) < 6:
            raise InputError(
                f"{path}: line {number} is no annotation of LSMDC: a clip as 0001_Title_00.00.51.926-00.00.54.129, "
                f"four times and a sentence, by tabs; it has {len(cells)} cells. The blind test part has no sentences."
            )
        try:
            times = seconds(cells[1]), seconds(cells[2])
        except ValueError:
            raise InputError(f"{path}: line {number} has times that are none, as 00.00.51.926. Mend it.") from None
        movies.setdefault(clip[1], []).append(Caption(normalise_blanks("\t".join(cells[5:])), times))
    return [Video(movie, "lsmdc", in_order(captions)) for movie, captions in movies.items()]


def read_charades(path: Path) -> list[Video]:
    """Charades (Sigurdsson et al. 2016): a CSV row a video, whose script is a text of several sentences without times.

    Reads the scripts, not the descriptions that annotators wrote of the finished videos.
    """
    source = open_source(path, "csv")
    missing = [name for name in ("id", "script") if name not in source.columns]
    if missing:
        raise InputError(f"{path}: not Charades: no column {' and no '.join(map(repr, missing))}. Say its --format.")
    videos = []
    for where, row in source.read(("id", "script")):
        if not row["id"]:
            raise InputError(f"{path}: {where} has no 'id'. Each script needs its video.")
        videos.append(Video(row["id"], "charades", tuple(map(Caption, sentences_of(row["script"])))))
    return videos


CAPTION_SETS: dict[str, Callable[[Path], list[Video]]] = {
    "activitynet": read_activitynet,
    "lsmdc": read_lsmdc,
    "youcook2": read_youcook2,
    "charades": read_charades,
}
"""The reader of each published dataset, by format name."""
