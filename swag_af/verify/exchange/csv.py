"""Tasks and replies in tables: plain CSV, Prolific's Task Builder and MTurk's batches.

    csv         a row an item, with empty cells to fill in: ratings, best, second, annotator
    prolific    the data set of a Task Builder batch, a row an item; its report repeats each row for every participant
    mturk       the input of a batch, a row a HIT; its results have Input.* and Answer.* columns

Endings are hostile text: no cell begins as a formula, and MTurk's are escaped, since it puts them into a page as they
stand.
"""

import csv
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import parse_json, write_text
from swag_af.data.errors import InputError, told
from swag_af.data.tables.sources import read_csv as csv_rows
from swag_af.data.tables.sources import separator_of
from swag_af.verify.exchange.tasks import SEVERAL, Reply, Task

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes a cell that begins so for a formula."""

LEFT_OUT = ("rejected", "returned", "timed-out", "timed out", "screened out")
"""The platforms' words for work that does not count, in lower case."""


def write_csv(path: Path, tasks: Sequence[Task]) -> None:
    """One row per item, with cells to fill in."""
    n = _most_endings(tasks)
    answers = [*(f"rating{i}" for i in range(1, n + 1)), "best", "second", "annotator", "seconds"]
    header = [*_columns(n), *answers]
    _write(path, header, ([*_cells(task, n), *[""] * len(answers)] for task in tasks))


def write_prolific(path: Path, tasks: Sequence[Task]) -> None:
    """The data set of a Task Builder batch."""
    n = _most_endings(tasks)
    _write(path, _columns(n), (_cells(task, n) for task in tasks))


def write_mturk(path: Path, tasks: Sequence[Task]) -> None:
    """The input of a batch; every text is HTML."""
    n = _most_endings(tasks)
    texts = ([task.sent1, task.start, *_padded(task.endings, n)] for task in tasks)
    rows = ([task.id, *map(as_html, row)] for task, row in zip(tasks, texts, strict=True))
    _write(path, _columns(n), rows)


def read_csv(path: Path) -> Iterator[Reply]:
    """Replies in the columns of `write_csv`; a row without an annotator is by the one whom the file is named after.

    Rows without any answer are skipped.
    """
    for where, row in _rows(path, "task", "best", "second", is_rated=True):
        ratings = {i: row[f"rating{i}"] for i in _numbers(row, "rating")}
        if any((*ratings.values(), row["best"], row["second"])):
            named = row.get("annotator", "")
            who = {"annotator": named or path.stem, "named_after": "" if named else str(path)}
            seconds = _seconds(row.get("seconds"), where)
            best, second = row["best"], row["second"]
            yield Reply(
                where,
                row["task"],
                **who,
                ratings=ratings,
                best=best,
                second=second,
                seconds=seconds,
                endings=_endings(row),
            )


def read_prolific(path: Path) -> Iterator[Reply]:
    """Replies in a Task Builder report: a column's heading ends with the question's name in brackets, `[rating1]`."""
    for where, row in _rows(path, "task"):
        answers = {heading.rpartition("[")[2][:-1]: row[heading] for heading in row if heading.endswith("]")}
        missing = [f"[{name}]" for name in ("rating1", "best", "second") if name not in answers]
        if missing:
            raise InputError(
                f"{path}: no column whose heading ends with {', '.join(missing)}. Give the report of the batch."
            )
        named = {heading.lower().replace("_", " "): value for heading, value in row.items()}
        annotator = named.get("participant id") or named.get("prolific pid") or ""
        ratings = {i: answers[f"rating{i}"] for i in _numbers(answers, "rating")}
        seconds = _seconds(named.get("time taken"), where)
        left_out = _left_out(named.get("submission status") or named.get("status"))
        best, second = answers["best"], answers.get("second", "")
        yield Reply(where, row["task"], annotator, ratings, best, second, seconds, left_out, _endings(row))


def read_mturk(path: Path) -> Iterator[Reply]:
    """Replies in the results of a batch, whichever of its three ways of writing answers MTurk chose."""
    for where, row in _rows(path, "Input.task", "WorkerId"):
        answers, is_double = _mturk_answers(row, where)
        ratings = {i: answers[f"rating{i}"] for i in _numbers(answers, "rating")}
        best, second = answers.get("best", ""), answers.get("second", "")
        seconds = _seconds(row.get("WorkTimeInSeconds"), where)
        left_out = _left_out(row.get("AssignmentStatus")) or (SEVERAL if is_double else None)
        texts = {i: html.unescape(text) for i, text in _endings(row, "Input.").items()}
        yield Reply(where, row["Input.task"], row["WorkerId"], ratings, best, second, seconds, left_out, texts)


def as_html(text: str) -> str:
    """`text` in one line such that a page shows it, no spreadsheet computes it, and MTurk takes it for no variable."""
    escaped = html.escape(text).replace("$", "&#36;").replace("\r", "&#13;").replace("\n", "&#10;")
    return f"&#{ord(escaped[0])};{escaped[1:]}" if escaped.startswith(FORMULA) else escaped


def _columns(n: int) -> list[str]:
    return ["task", "sent1", "start", *(f"ending{i}" for i in range(1, n + 1))]


def _cells(task: Task, n: int) -> list[str]:
    return [task.id, *(_harmless(text) for text in (task.sent1, task.start, *_padded(task.endings, n)))]


def _harmless(text: str) -> str:
    """`text` as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _padded(endings: Sequence[str], n: int) -> list[str]:
    return [*endings, *[""] * (n - len(endings))]


def _most_endings(tasks: Sequence[Task]) -> int:
    return max(len(task.endings) for task in tasks)


def _write(path: Path, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, table.getvalue())


def _rows(path: Path, *required: str, is_rated: bool = False) -> Iterator[tuple[str, dict[str, str]]]:
    """For each row its place for errors, and its cells by heading, stripped.

    A table that `is_rated` has a column of ratings for each of endings, and for the first in any case.
    """
    rows = csv_rows(path, separator_of(path), strict=False)
    _, header = next(rows, (0, []))
    numbers = {1, *_numbers(dict.fromkeys(header), "ending")} if is_rated else ()
    columns = (*required, *(f"rating{i}" for i in sorted(numbers)))
    if missing := [heading for heading in columns if heading not in header]:
        raise InputError(f"{path}: {_lacking(missing, header)}. Give the file as the platform wrote it.")
    for line, row in rows:
        cells = dict.fromkeys(header, "") | {name: cell.strip() for name, cell in zip(header, row, strict=False)}
        if any(cells.values()):
            yield f"{path}, line {line}", cells


def _lacking(missing: Sequence[str], header: Sequence[str]) -> str:
    """Which columns there are not, and which are called nearly so."""
    alike = [name for name in header if _plain(name) in map(_plain, missing)]
    return f"no column {', '.join(missing)}" + (f" (it has {', '.join(alike)})" if alike else "")


def _plain(heading: str) -> str:
    return re.sub(r"[\W_]", "", heading).lower()


def _endings(row: Mapping[str, str], prefix: str = "") -> dict[int, str]:
    """The texts of a row, by their numbers."""
    return {i: row[f"{prefix}ending{i}"] for i in _numbers(row, f"{prefix}ending")}


def _numbers(names: Mapping[str, Any], prefix: str) -> list[int]:
    """The numbers behind the names that are `prefix` and a number."""
    found = (re.fullmatch(prefix + r"([1-9][0-9]{0,8})", name) for name in names)
    return sorted(int(match[1]) for match in found if match)


def _seconds(text: str | None, where: str) -> float:
    """A number of seconds, perhaps with a decimal comma, 0 where the cell is empty; InputError where it is none, or
    where the comma may part thousands."""
    if _THOUSANDS.fullmatch(text or ""):
        raise InputError(
            f"{where}: {told(text)} seconds may be thousands or a fraction. Write a point before a fraction, and "
            "nothing between thousands."
        )
    try:
        seconds = float((text or "0").replace(",", "."))
    except ValueError:
        seconds = -1.0
    if seconds < 0 or not isfinite(seconds):
        raise InputError(f"{where}: {told(text)} is no number of seconds. Mend that, or empty the cell.")
    return seconds


_THOUSANDS = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")
"""`1,234`, which is 1234 to some and 1.234 to others; `0,234` and `12,5` are fractions."""


def _left_out(status: str | None) -> str | None:
    known = (status or "").lower().replace("_", " ")
    return known.replace("-", " ") if known in LEFT_OUT else None


def _mturk_answers(row: Mapping[str, str], where: str) -> tuple[dict[str, str], bool]:
    """`Answer.best` as it stands, `Answer.best.2` that is true, or all of them in `Answer.taskAnswers`; and whether one
    has several answers."""
    answers = dict[str, str]()
    is_double = False
    for heading, value in row.items():
        if heading.startswith("Answer."):
            name, _, choice = heading.removeprefix("Answer.").partition(".")
            if not choice:
                answers[name] = value
            elif value.lower() == "true":
                is_double |= name in answers
                answers[name] = choice
    if "taskAnswers" not in answers:
        return answers, is_double
    try:
        (given,) = parse_json(answers["taskAnswers"], where)
        chosen = {name: _chosen(value) for name, value in given.items()}
        return {name: next(iter(one), "") for name, one in chosen.items()}, any(len(one) > 1 for one in chosen.values())
    except (ValueError, TypeError, AttributeError):  # InputError among them
        raise InputError(f"{where}: Answer.taskAnswers is not JSON of one form. Download the results again.") from None


def _chosen(value: Any) -> list[str]:
    return (
        [str(choice) for choice, is_chosen in value.items() if is_chosen] if isinstance(value, dict) else [str(value)]
    )
