"""What is exchanged with other platforms: tasks that do not reveal gold, the key to them, and replies.

    FILE             tasks with ids that reveal nothing, endings shuffled for every task
    FILE.key.json    the item of each id, and the order of its endings; never given away

`csv` and `forms` read and write the formats of the platforms.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from textwrap import shorten

from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import FORMAT, check_manifest
from swag_af.data.disk.records import Count, parse_record
from swag_af.data.errors import InputError, told
from swag_af.data.runs.run import Run
from swag_af.data.text.scripts import is_latin
from swag_af.data.text.wording import fold
from swag_af.data.work.progress import progress
from swag_af.judging.verdicts import (
    IN_ANOTHER_SCRIPT,
    MEANINGS,
    MEANINGS_OF_ANSWERS,
    RATINGS,
    Item,
    Rating,
    Verdict,
    check_verdict,
    with_ordered_columns,
)
from swag_af.verify.presentation import shown_item

KIND = "verification key"
SEVERAL = "several answers to one question"
"""Why a reply does not count that chose more than one of what only one can be."""


def _brief(what: str, meanings: Mapping[Rating, str]) -> str:
    explained = " ".join(f"{name.capitalize()}: {text}." for name, text in meanings.items())
    return (
        f"You see {what}. Judge each ending by itself first. {explained} Then choose the ending that fits best, and "
        "the one that fits second best, even where several fit or none does."
    )


BRIEF = _brief("a sentence, the beginning of the next one, and several ways in which it could go on", MEANINGS)
BRIEF_OF_QUESTIONS = _brief("a question and several answers to it, called endings here", MEANINGS_OF_ANSWERS)
BEST = "Which ending fits best?"
SECOND = "Which ending fits second best?"


@dataclass(frozen=True, slots=True)
class Task:
    """An item as an annotator on another platform sees it."""

    id: str
    item: Item
    sent1: str
    start: str
    endings: tuple[str, ...]
    order: tuple[int, ...]
    """For each ending shown, its place in the item."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One person's reply to one task, as text."""

    where: str
    """File and line, for errors."""
    task: str
    annotator: str
    ratings: Mapping[int, str]
    """By the number of the ending shown, from 1."""
    best: str
    """The number of the best ending shown."""
    second: str
    seconds: float = 0.0
    left_out: str | None = None
    """Why it does not count, if the platform reports so."""
    endings: Mapping[int, str] = field(default_factory=dict)
    """The texts that the file has beside the answers, by the number of the ending shown."""
    named_after: str = ""
    """The file after which the annotator is called, where the row names none."""


@dataclass(frozen=True)
class Key:
    """The items behind the tasks of an export."""

    to: str
    pool: str
    tasks: dict[str, tuple[Item, tuple[int, ...]]]
    """Task id -> its item, and for each ending shown its place in the item."""


def make_tasks(run: Run, items: Sequence[Item], *, seed: int) -> list[Task]:
    """One task per item. Ids and orders depend on the pool, the seed and the item only; orders on what nobody knows who
    has not the pool. An id begins with a letter: spreadsheets write 6031e2 as another number."""
    tasks = []
    identity = run.pool.unguarded_identity
    with progress("texts", len(items), "items") as advance:
        for item in items:
            columns = ",".join(map(str, item.columns))
            mark = hashlib.sha256(f"{identity} {seed} {item.id} {columns}".encode()).hexdigest()[:16]
            shown = shown_item(
                run, item.row, item.columns, seed=seed, item=mark, annotator=identity, secret=run.pool.secret
            )
            tasks.append(Task(f"t{mark}", item, shown.sent1, shown.start, shown.endings, shown.order))
            advance()
    return tasks


def brief_of(tasks: Sequence[Task]) -> str:
    """What people are told: of endings, or of answers where most tasks are questions; of English, where most are in
    Latin script."""
    brief = BRIEF_OF_QUESTIONS if 2 * sum(not task.start for task in tasks) > len(tasks) else BRIEF
    n_latin = sum(is_latin(" ".join((task.sent1, *task.endings))) for task in tasks)
    return brief if 2 * n_latin > len(tasks) else brief.replace(MEANINGS["gibberish"], IN_ANOTHER_SCRIPT)


def key_path(path: Path) -> Path:
    """Where the key of the tasks in `path` is."""
    return path.with_name(f"{path.name}.key.json")


def write_key(path: Path, to: str, pool_identity: str, tasks: Iterable[Task]) -> None:
    """Write the key of an export."""
    content = {
        task.id: {
            "row": task.item.row,
            "round": task.item.round,
            "columns": list(task.item.columns),
            "order": list(task.order),
        }
        for task in tasks
    }
    write_json(path, {"format": FORMAT, "kind": KIND, "to": to, "pool": pool_identity, "tasks": content})


def read_key(path: Path, pool_identity: str) -> Key:
    """The key in `path`; InputError when it is of another pool."""
    content = check_manifest(read_json(path), path, KIND)
    if content.get("pool") != pool_identity:
        raise InputError(f"{path}: the key of another pool. Give the run that the tasks were exported from.")
    key = parse_record(content, _KeyFile, path, "Export the tasks again.", error=InputError)
    for mark, entry in key.tasks.items():
        if sorted(entry.order) != list(range(len(entry.columns))) or entry.columns[:1] != (0,):
            raise InputError(
                f"{path}: tasks.{mark}: order {list(entry.order)} for the columns {list(entry.columns)}. Export the "
                "tasks again."
            )
    items = {mark: (Item(entry.row, entry.columns, entry.round), entry.order) for mark, entry in key.tasks.items()}
    return Key(key.to, key.pool, items)


@dataclass(frozen=True)
class _Entry:
    """A task in the key."""

    row: Count
    round: Count
    columns: tuple[Count, ...]
    order: tuple[Count, ...]


@dataclass(frozen=True)
class _KeyFile:
    """The key as it is in its file."""

    to: str
    pool: str
    tasks: dict[str, _Entry]


def verdicts_of(
    key: Key, replies: Iterable[Reply], text_of: Callable[[int, int], str]
) -> tuple[list[Verdict], Counter[str]]:
    """The verdicts in the replies, in order of item and annotator, and how many replies were dropped, by reason.

    `text_of(row, column)` is an ending of the pool. InputError names replies to tasks that are not in the key, answers
    that cannot be read, and endings that are not those of the task: cells were moved, or texts edited.
    """
    verdicts: dict[tuple[Item, str], Verdict] = {}
    dropped = Counter[str]()
    faults, are_others = [], False
    file_of = dict[str, str]()
    most = max((len(order) for _, order in key.tasks.values()), default=0)
    for reply in replies:
        if reply.named_after and file_of.setdefault(reply.annotator, reply.named_after) != reply.named_after:
            raise InputError(
                f"{reply.named_after}: has rows without an annotator, whom the name of the file would name, as that of "
                f"{file_of[reply.annotator]} does. Fill in the column, or rename one file."
            )
        if reply.task not in key.tasks:
            faults.append(f"{reply.where}: no task {reply.task!r} in the key")
            are_others = True
            continue
        item, order = key.tasks[reply.task]
        moved = _moved(reply, [text_of(item.row, item.columns[place]) for place in order])
        found = moved or _verdict_of(reply, item, order, most)
        if isinstance(found, Verdict):
            if verdicts.setdefault((found.item, found.annotator), found) is not found:
                dropped["answered before by the same person"] += 1
        elif found.startswith(reply.where):
            faults.append(found)
            are_others |= moved is not None
        else:
            dropped[found] += 1
    if faults:
        more = f"; and {len(faults) - 5:,} more" if len(faults) > 5 else ""
        advice = "Give the files and the key of one export." if are_others else "Correct these cells, and import again."
        raise InputError("; ".join(faults[:5]) + f"{more}. {advice}")
    return [
        verdicts[found] for found in sorted(verdicts, key=lambda found: (found[0].row, found[0].round, found[1]))
    ], dropped


def _moved(reply: Reply, endings: Sequence[str]) -> str | None:
    """The fault of a reply beside whose answers other texts stand than the `endings` of its task, in their order.

    Another text is that of another ending, or one that has no word of its own; spreadsheets change others a little.
    """
    for i, ending in enumerate(endings, start=1):
        given = reply.endings.get(i, "")
        if not given or _is_same(given, ending):
            continue
        if any(_is_same(given, other) for other in endings) or not _shares_a_word(given, ending):
            return (
                f"{reply.where}: ending {i} is {_begun(given)}, where task {reply.task} has {_begun(ending)}: cells "
                "were moved, or the text edited"
            )
    return None


def _begun(text: str) -> str:
    return told(shorten(text, 50, placeholder=" ..."))


def _is_same(given: str, ending: str) -> bool:
    """Whether the texts have the same value, if both are numbers, or else the same letters and digits of any script."""
    numbers = _values(given), _values(ending)
    if all(numbers):
        return bool(numbers[0] & numbers[1])
    words = _words(given), _words(ending)
    if not any(words):
        return "".join(fold(given).split()) == "".join(fold(ending).split())
    return "".join(words[0]) == "".join(words[1])


def _shares_a_word(given: str, ending: str) -> bool:
    """Whether texts that are not the same have a word in common; true of two without words, false of two numbers."""
    if _values(given) and _values(ending):
        return False
    words = _words(given), _words(ending)
    return bool(set(words[0]) & set(words[1])) or not any(words)


def _words(text: str) -> list[str]:
    """The runs of letters, digits and the signs that belong to letters: what spreadsheets leave as it is."""
    return "".join(sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in fold(text)).split()


def _values(text: str) -> set[Decimal]:
    """What the whole of a text may be as a number, its comma a point or one of thousands; none where it is none."""
    found = set()
    for mark in (".", ""):
        with suppress(InvalidOperation):
            found.add(Decimal(text.strip().replace(",", mark)))
    return {value for value in found if value.is_finite()}


def _verdict_of(reply: Reply, item: Item, order: Sequence[int], most: int) -> Verdict | str:
    """The verdict, or why there is none: a reason to drop it, or a fault that begins with where it stands.

    Forms offer the numbers up to `most`, the endings of the longest item, for shorter ones too.
    """
    if reply.left_out:
        return reply.left_out
    if not reply.annotator:
        return "no annotator"
    ratings = [reply.ratings.get(i, "").strip().lower() for i in range(1, len(order) + 1)]
    if not all(ratings):
        return "a rating is missing"
    strange = next((rating for rating in ratings if rating not in RATINGS), None)
    if strange is not None:
        return f"{reply.where}: {strange!r} is none of {', '.join(RATINGS)}"
    if not (reply.best and reply.second):
        return "best or second best is missing"
    numbers = [_number(answer, len(order)) for answer in (reply.best, reply.second)]
    if None in numbers and None not in (_number(answer, most) for answer in (reply.best, reply.second)):
        return "best or second best is an ending that is not there"
    if None in numbers:
        return f"{reply.where}: best {reply.best!r} and second {reply.second!r} are not from 1 to {len(order)}"
    best, second = (order[number] for number in numbers if number is not None)
    if best == second:
        return "best is second best too"
    of_place = dict(zip(order, ratings, strict=True))
    in_order = tuple(rating for place in range(len(order)) for rating in RATINGS if rating == of_place[place])
    verdict = check_verdict(Verdict(item, reply.annotator, in_order, best, second, reply.seconds), reply.where)
    return with_ordered_columns(verdict)


def _number(answer: str, n: int) -> int | None:
    """The place from 0 that a number from 1 to `n` stands for; a spreadsheet may have written it as 2.0."""
    try:
        number = float(answer)
    except ValueError:
        return None
    return int(number) - 1 if number.is_integer() and 1 <= number <= n else None
