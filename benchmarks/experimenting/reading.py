"""A hundred contexts for one careful reader, blind, rated as in Zellers et al. 2018 (3.5), and what the reader said.

    OUT/reading/questions.md    the first sentence, the start, and six endings, A to F: gold and five distractors
    OUT/reading/reading.jsonl   the same as records
    OUT/reading/sheet.csv       to be filled in: the best and the second best, and l, u or g for each ending
    OUT/reading/key.json        which ending is what: not to be opened before the sheet is full
    OUT/reading/found.json      after --read: shares of each kind of ending, with intervals

Three of the distractors are those of the released question; two more of the same assignment make six, so that the
figures stand beside the paper's. Behind the hundred come contexts whose six endings are three that filtering took out
and three that it brought in, mixed: what it does to how endings read.
"""

import csv
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.record import READING, is_kept, whole_run
from experimenting.steps import RELEASED, Setting
from swag_af.data.disk.files import read_json, write_json, write_jsonl, write_text
from swag_af.data.errors import InputError
from swag_af.data.numbers.interval import interval, paired_difference
from swag_af.releasing.dataset import assemble
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import Question

LETTERS = "ABCDEF"
RATINGS = {"l": "likely", "u": "unlikely", "g": "gibberish"}
HEADER = ("number", "best", "second", *LETTERS)
HOW = """Each context is the caption of a video clip that breaks off, with six ways to end it. Choose the
ending that goes on best and the second best, by their letters, and rate all six:

    l  likely     a sensible way for this caption to go on
    u  unlikely   can be read as English, but what it says is absurd here, or could hardly happen
    g  gibberish  errors so serious that it does not read as an English sentence

Several endings of a context may have the same rating, and the best need not be likely; in some contexts none is the
caption's own. Take the contexts in order, and do not go back. Write letters into sheet.csv. Do not look into key.json,
nor at the captions, before the sheet is full.
"""


def write_questions(setting: Setting) -> None:
    """Draw the contexts by seed and write them, unless they are there (a reader may be at work) or were read.

    Of a group of contexts one is drawn at most: the next context of a video begins with the gold of the one before.
    Raises InputError for a run that has not all of its iterations.
    """
    folder, size = setting.out / "reading", setting.size
    if (folder / "key.json").exists() or is_kept(setting, READING):
        return
    run = whole_run(setting, RELEASED)
    questions = assemble(run, ReleaseOptions(setting.out / RELEASED, n_distractors=3, audit="none")).questions
    rng = np.random.default_rng((0, *b"reading"))
    start, end = run.assignment(0), run.assignment()
    groups = run.pool.groups[[question.example.row for question in questions]]
    drawn = [questions[at] for at in one_a_group(groups, len(groups), rng=rng)]
    of_questions = ((question, _of_question(question, end, rng)) for question in drawn[: size.n_read])
    both = ((question, of_both(question.example.row, start, end, rng)) for question in drawn[size.n_read :])
    mixed = islice(((question, kind_of) for question, kind_of in both if kind_of), size.n_mixed)
    records, key = [], []
    for number, (question, kind_of) in enumerate(chain(of_questions, mixed), start=1):
        columns = rng.permutation(list(kind_of))
        (endings,) = run.pool.view(np.array([question.example.row]), columns[None]).texts
        records.append({"number": number, "context": question.startphrase, "endings": endings})
        kinds = [kind_of[column] for column in columns.tolist()]
        key.append({"number": number, "id": question.id, "kinds": kinds, "columns": columns.tolist()})
    write_jsonl(folder / "reading.jsonl", records)
    write_text(folder / "questions.md", "\n".join([HOW, *map(_shown, records)]))
    write_text(folder / "sheet.csv", "\n".join([",".join(HEADER), *(f"{r['number']},,,,,,,," for r in records), ""]))
    write_json(folder / "key.json", key)


def _of_question(question: Question, end: np.ndarray, rng: np.random.Generator) -> dict[int, str]:
    """The columns of a released question and of two more distractors of `end` (N, A), and their kinds."""
    shown = list(question.columns)
    more = [column for column in end[question.example.row].tolist() if column not in shown]
    columns = [*shown, *rng.permutation(more)[: len(LETTERS) - len(shown)].tolist()]
    return {column: "gold" if column == question.example.answer else "generated" for column in columns}


def of_both(row: int, start: np.ndarray, end: np.ndarray, rng: np.random.Generator) -> dict[int, str]:
    """As many distractors of the context `row` that filtering took out as it brought in, and their kinds; none where it
    changed too few."""
    half = len(LETTERS) // 2
    before, after = (set(assignment[row].tolist()) for assignment in (start, end))
    out, came = sorted(before - after), sorted(after - before)
    if min(len(out), len(came)) < half:
        return {}
    drawn = ((OUT, out), (CAME, came))
    return {column: kind for kind, columns in drawn for column in rng.permutation(columns)[:half].tolist()}


OUT, CAME = "taken out", "brought in"


def one_a_group(groups: np.ndarray, n: int, *, rng: np.random.Generator) -> list[int]:
    """`n` rows in random order, or fewer, no two of one of `groups` (N,)."""
    order = rng.permutation(len(groups))
    firsts = np.sort(np.unique(groups[order], return_index=True)[1])
    return [int(row) for row in order[firsts][:n]]


def _shown(record: dict[str, Any]) -> str:
    """A context as the reader sees it."""
    endings = [f"   {letter} {ending}" for letter, ending in zip(LETTERS, record["endings"], strict=True)]
    return "\n".join([f"{record['number']}. {record['context']} ...", *endings, ""])


def read_sheet(setting: Setting, sheet: Path, reader: str) -> dict[str, Any]:
    """The shares of what one `reader` said, kept as found.json, with intervals, contexts drawn again: of gold endings
    and of generated ones, five a context, as in Table 2 of Zellers et al. 2018; and, in other contexts, of endings that
    filtering took out and of those that it brought in, with the differences."""
    kinds_of = {one["number"]: one["kinds"] for one in read_json(setting.out / "reading/key.json")}
    said = _said(sheet, set(kinds_of))
    letters = np.array(list(LETTERS))
    kinds = np.array([kinds_of[number] for number in said])  # (n, 6)
    best, second = (letters == np.array([one[name] for one in said.values()])[:, None] for name in ("best", "second"))
    ratings = np.array([[one[letter] for letter in LETTERS] for one in said.values()])  # (n, 6)
    told = {"best": best, "second": second, "in the best two": best | second}
    told |= {name: ratings == letter for letter, name in RATINGS.items()}
    made: dict[str, Any] = {"reader": reader, "n": int((kinds == "gold").sum())}
    for kind in np.unique(kinds).tolist():
        made |= {f"{kind} {name}": _share(values, kinds == kind) for name, values in told.items()}
    mixed = (kinds == CAME).any(axis=1)
    made["n mixed"] = int(mixed.sum())
    for name, values in told.items() if mixed.any() else ():
        signs = (kinds == CAME).astype(float) - (kinds == OUT)
        changes = (values * signs)[mixed].sum(axis=1) / (len(LETTERS) // 2)
        made[f"change {name}"] = asdict(paired_difference(np.zeros(len(changes)), changes, np.arange(len(changes))))
    write_json(setting.out / "reading/found.json", made)
    return made


def _share(values: np.ndarray, counted: np.ndarray) -> dict[str, float]:
    """The share of the endings `counted` (n, 6) for which `values` (n, 6) hold; the six of a context are not parted."""
    contexts = np.unique(np.nonzero(counted)[0], return_inverse=True)[1]
    low, high = interval(values[counted].astype(float), contexts)
    return {"value": float(values[counted].mean()), "low": low, "high": high}


def _said(sheet: Path, numbers: set[int]) -> dict[int, dict[str, str]]:
    """The rows of a sheet by number; InputError where something is missing or is no answer."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    faults = [f"line {i}: {fault}" for i, row in enumerate(rows, start=2) if (fault := _fault(row, numbers))]
    given = {int(row["number"]): row for row in rows if not faults}
    if not faults and set(given) != numbers:
        faults = [f"{len(numbers - set(given))} contexts are missing (first: {min(numbers - set(given))})"]
    if faults:
        raise InputError(f"{sheet}: {faults[0]}{f', and {len(faults) - 1} more' if faults[1:] else ''}. Fill it in.")
    return {number: {name: row[name].strip() for name in HEADER[1:]} for number, row in given.items()}


def _fault(row: dict[str, str], numbers: set[int]) -> str:
    """What is wrong with a row; empty where it is right."""
    if not (row.get("number") or "").isdecimal() or int(row["number"]) not in numbers:
        return f"{row.get('number')!r} is no number of a context"
    two = [(row.get(name) or "").strip() for name in ("best", "second")]
    if not all(len(one) == 1 and one in LETTERS for one in two) or two[0] == two[1]:
        return f"best and second are two letters from A to F, not {' and '.join(map(repr, two))}"
    wrong = [letter for letter in LETTERS if (row.get(letter) or "").strip() not in RATINGS]
    return f"ending {wrong[0]} is rated {row.get(wrong[0])!r}, not l, u or g" if wrong else ""
