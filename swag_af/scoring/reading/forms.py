"""Files of predictions without named columns, each brought to rows of an id and an answer or scores.

    no header      lines of `identifier,answer`, as NLVR2's evaluation script takes them
    one object     a JSON file of ids, each with its answer or scores
    one list       a JSON file of answers or lists of scores, in the order of the dataset
    lines          one answer, or one JSON list of scores, a line, in the order of the dataset

Only a dataset whose ids were made from file and line takes answers in its order. Columns are found in `tables`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_af.data.cells.values import optional
from swag_af.data.disk.files import parse_json, read_json, read_lines
from swag_af.data.errors import InputError
from swag_af.data.tables.sources import Record, Records, Source, read_csv, rows_by_columns, separator_of

PREDICTED = ("prediction", "predictions", "pred", "predicted", "predicted_label", "prediction_label", "model_answer")
"""Names of a column that can only hold what was predicted."""
ANSWERS = ("answer", "choice", "response", "output", "label", "answerKey")
"""Names of a column that may hold what was predicted, where none of those above is there."""
_SAYS_PREDICTED = frozenset(("pred", "preds", "predicted", "prediction", "predictions"))
_TEXT = (".csv", ".tsv", ".txt", ".pred", "")
_JSON = (".json", ".jsonl", ".ndjson")


def says_predicted(column: str) -> bool:
    """Whether a part of the name of a column says that it was predicted: `pred_label`, `modelPrediction`.

    Such a column, too, can only hold what was predicted.
    """
    return any(part.lower() in _SAYS_PREDICTED for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column))


@dataclass(frozen=True)
class Table:
    """A file of predictions, and what its columns mean."""

    source: Source
    id: str
    """The column of ids; empty where the rows are in the order of the dataset."""
    answer: str = ""
    """The column of answers; empty where there are scores."""
    scores: tuple[str, ...] = ()
    """One column with a list, or one for each answer."""
    classes: tuple[str, ...] = ()
    """The class that each column of `scores` is for; empty where they count answers."""
    is_log: bool = False
    """Whether its scores are log-likelihoods of requests, as lm-evaluation-harness logs them."""
    said: str = ""
    """How it is read, in a few words."""
    may_count: bool = False
    """Whether its ids are those of such a log, which may count the rows of the dataset."""
    unused: tuple[str, ...] = ()
    """The flags that name no column of it."""

    def rows(self) -> Records:
        """All rows, with their places."""
        return self.source.read([*filter(None, [self.id, self.answer]), *self.scores, "arguments", "resps"])

    def value(self, record: Record) -> Any:
        """The cell with the answer or the list of scores."""
        if self.answer:
            return optional(record, self.answer)
        if len(self.scores) == 1:
            return record.get(self.scores[0])
        cells = [optional(record, name) for name in self.scores]
        if self.classes:
            return dict(zip(self.classes, cells, strict=True))
        while cells and cells[-1] is None:  # rows with fewer options than others
            cells.pop()
        return cells


def without_columns(path: Path, known: Mapping[str, int]) -> Table | None:
    """The table in the file at `path`, for instances with the ids that are `known`; None where it has columns."""
    if not path.is_file():
        return None
    return _pairs(path, known) or _one_value(path, known) or _lines(path, known)


def _pairs(path: Path, known: Mapping[str, int]) -> Table | None:
    """A table of two columns whose first line is about an instance."""
    if path.suffix.lower() not in _TEXT:
        return None
    separator = separator_of(path)
    first = next(read_csv(path, separator, strict=False), (0, []))[1]
    if len(first) != 2 or first[0].strip() not in known:
        return None

    def read(_: Sequence[str]) -> Records:
        for line, cells in read_csv(path, separator):
            if len(cells) != 2:
                raise InputError(f"{path}: line {line} has {len(cells)} cells, where id and answer are due. Mend it.")
            yield f"line {line}", {"id": cells[0].strip(), "answer": cells[1].strip()}

    n = sum(1 for _ in read_csv(path, separator, strict=False))
    return Table(Source(path, "csv", ("id", "answer"), n, read), "id", "answer", said="lines of id and answer")


def _one_value(path: Path, known: Mapping[str, int]) -> Table | None:
    """A JSON file of one object whose keys are the ids, or of one list of answers; None where its keys are columns."""
    if path.suffix.lower() != ".json":
        return None
    try:
        given = read_json(path)
    except InputError:
        return None  # objects line by line, or nothing that can be read, as `open_source` says
    if not given:
        return None
    if isinstance(given, dict):
        if not known.keys() & given and rows_by_columns(given):
            return None
        rows = [(f"entry {i}", {"id": id, "answer": value}) for i, (id, value) in enumerate(given.items(), start=1)]
        return _of_rows(path, rows, "id", "one object of ids and")
    if isinstance(given, list) and not isinstance(given[0], dict):
        return _of_rows(
            path, [(f"entry {i}", {"answer": one}) for i, one in enumerate(given, start=1)], "", "a list of"
        )
    return None


def _lines(path: Path, known: Mapping[str, int]) -> Table | None:
    """A file of one answer a line, or of one JSON value a line that is no object."""
    read = _values if path.suffix.lower() in _TEXT else _json_values if path.suffix.lower() in _JSON else None
    values = list(read(path)) if read else []
    if len(values) == 1 and isinstance(values[0][1], list) and len(known) > 1:
        values = [(f"entry {i}", one) for i, one in enumerate(values[0][1], start=1)]
    return _of_rows(path, [(place, {"answer": one}) for place, one in values], "", "lines of") if values else None


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """`("line 7", answer)` of every line but a header; nothing of a table of several columns, or of JSON objects."""
    if path.suffix.lower() in (".csv", ".tsv"):
        cells = read_csv(path, separator_of(path), strict=False)
        lines = _only_cells(path, cells)
    else:
        lines = ((number, text) for number, text in read_lines(path) if text.strip())
    for i, (number, given) in enumerate(lines):
        text = given.strip()
        if i == 0 and (text.startswith(("{", "[{")) or text == "["):
            return
        if i > 0 or text not in (*PREDICTED, *ANSWERS):
            yield f"line {number}", parse_json(text, path, number) if text.startswith("[") else text


def _only_cells(path: Path, rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, str]]:
    """The one cell of every row; nothing where the first has several, as in a table of several columns."""
    for i, (number, row) in enumerate(rows):
        if len(row) != 1 and i == 0:
            return
        if len(row) != 1:
            raise InputError(
                f"{path}: line {number} has {len(row)} cells, where one is due. Put an answer with commas in quotes."
            )
        yield number, row[0]


def _json_values(path: Path) -> Iterator[tuple[str, Any]]:
    """`("line 7", value)` of every line, unless the first is an object, a list of them, or no whole value."""
    lines = ((number, text) for number, text in read_lines(path) if text.strip())
    for i, (number, text) in enumerate(lines):
        try:
            value = parse_json(text, path, number)
        except InputError:
            if i:
                raise
            return  # told when the file is opened
        if i == 0 and ((not value and value != 0) or isinstance(value, dict) or _is_of_objects(value)):
            return
        yield f"line {number}", value


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and isinstance(value[0], dict)


def _of_rows(path: Path, rows: Sequence[tuple[str, Record]], id: str, said: str) -> Table:
    columns = tuple(filter(None, [id, "answer"]))
    source = Source(path, "json", columns, len(rows), lambda _: iter(rows))
    if isinstance(rows[0][1]["answer"], list | dict):
        return Table(source, id, scores=("answer",), said=f"{said} scores")
    return Table(source, id, "answer", said=f"{said} answers")
