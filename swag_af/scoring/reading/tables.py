"""Which columns of a file of predictions hold ids, and answers or scores, by their names and by what is in them.

    columns        an id, and the answer or scores of all answers: a list, or numbered columns
    one object     a JSON file of ids, each with its answer or scores
    no header      lines of `identifier,answer`, as NLVR2's evaluation script takes them
    lm-eval        sample logs of lm-evaluation-harness: `doc_id`, and log-likelihoods in `filtered_resps` or `resps`

What a cell means is decided in `answers`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isnan
from pathlib import Path
from typing import Any

from swag_af.data.cells.values import did_you_mean, listed, optional, word_of
from swag_af.data.errors import InputError, RowError
from swag_af.data.files import read_json
from swag_af.data.instances.layouts.logs import requests_of
from swag_af.data.instances.options import AUTO
from swag_af.data.sources import Record, Records, Source, open_source, read_csv
from swag_af.scoring.options import Metric, PredictionOptions
from swag_af.scoring.reading.answers import checked_scores

IDS = ("id", "ids", "identifier", "question_id", "qid", "uid", "annot_id", "example_id", "item", "doc_id", "ind", "idx")
"""Names of the column of ids, the likeliest first."""
PREDICTED = ("prediction", "predictions", "pred", "predicted", "predicted_label", "prediction_label", "model_answer")
"""Names of a column that can only hold what was predicted."""
SCORES = ("scores", "probabilities", "probs", "log_likelihoods", "loglikelihoods", "logprobs", "log_probs", "logits")
"""Names of a column with a list of scores, or of numbered columns."""
ANSWERS = ("answer", "choice", "response", "output", "label", "answerKey")
"""Names of a column that may hold what was predicted, where none of those above is there."""
NUMBERED = ("score", "prob", "logit", "answer", "option", "choice")
"""Names of numbered columns of scores."""
LOG = ("doc_id", "doc", "arguments")
"""Columns by which a sample log is known."""
_SAMPLE = 50


@dataclass(frozen=True)
class Table:
    """A file of predictions, and what its columns mean."""

    source: Source
    id: str
    answer: str = ""
    """The column of answers; empty where there are scores."""
    scores: tuple[str, ...] = ()
    """One column with a list, or numbered ones."""
    is_log: bool = False
    said: str = ""
    """How it is read, in a few words."""

    def rows(self) -> Records:
        """All rows, with their places."""
        return self.source.read([self.id, *filter(None, [self.answer]), *self.scores, "arguments", "resps"])

    def value(self, record: Record) -> Any:
        """The cell with the answer or the list of scores."""
        if self.answer:
            return optional(record, self.answer)
        if len(self.scores) == 1:
            return record.get(self.scores[0])
        cells = [optional(record, name) for name in self.scores]
        while cells and cells[-1] is None:  # rows with fewer options than others
            cells.pop()
        return cells


def open_table(path: Path, known: Mapping[str, int], options: PredictionOptions) -> Table:
    """What the file at `path` is, for instances with the ids that are `known`; InputError where nothing tells."""
    if found := _without_header(path, known) or _one_object(path):
        return found
    source = open_source(path)
    if set(LOG) <= set(source.columns) and {"resps", "filtered_resps"} & set(source.columns):
        name = "filtered_resps" if "filtered_resps" in source.columns else "resps"
        return Table(source, "doc_id", scores=(name,), is_log=True, said=f"log of lm-evaluation-harness, {name}")
    id = _id_of(source, known, options)
    answer, scores = _what(source, id, options)
    what = f"answers in {answer}" if answer else f"scores in {', '.join(scores)}"
    return Table(source, id, answer, scores, said=f"ids in {id}, {what}")


def _without_header(path: Path, known: Mapping[str, int]) -> Table | None:
    """A CSV file of two columns whose first line is about an instance."""
    if path.suffix.lower() not in (".csv", ".tsv", ".txt", ".pred", "") or not path.is_file():
        return None
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
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


def _one_object(path: Path) -> Table | None:
    """A JSON file of one object whose keys are the ids."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    try:
        given = read_json(path)
    except InputError:
        return None  # objects line by line, or nothing that can be read, as `open_source` says
    if not isinstance(given, dict) or not given:
        return None
    rows = [(f"entry {i}", {"id": id, "answer": value}) for i, (id, value) in enumerate(given.items(), start=1)]
    source = Source(path, "json", ("id", "answer"), len(rows), lambda _: iter(rows))
    if isinstance(rows[0][1]["answer"], list | dict):
        return Table(source, "id", scores=("answer",), said="one object of ids and scores")
    return Table(source, "id", "answer", said="one object of ids and answers")


def _id_of(source: Source, known: Mapping[str, int], options: PredictionOptions) -> str:
    wanted = options.prediction_id
    if wanted != AUTO:
        return _found(source, wanted, "--prediction-id")
    sample = [record for _, record in islice(source.read(source.columns), _SAMPLE)]
    named = [name for name in IDS if name in source.columns]
    fitting = [name for name in (*named, *source.columns) if any(_id_in(one, name) in known for one in sample)]
    if not (fitting or named):
        raise InputError(
            f"{source.path}: no column of ids (it has {', '.join(source.columns[:12])}). Say --prediction-id NAME."
        )
    return (fitting or named)[0]


def _id_in(record: Record, name: str) -> str:
    try:
        return word_of(record, name)
    except RowError:
        return ""


def _what(source: Source, id: str, options: PredictionOptions) -> tuple[str, tuple[str, ...]]:
    """The column of answers, or those of scores."""
    if options.scores_column != AUTO:
        names = listed(options.scores_column, source.columns)
        return "", names or (_found(source, options.scores_column, "--scores-column"),)
    if options.prediction_column != AUTO:
        return _found(source, options.prediction_column, "--prediction-column"), ()
    others = tuple(name for name in source.columns if name != id)
    for answers, scores, least in ((PREDICTED, SCORES, 1), (ANSWERS, NUMBERED, 2)):
        if named := [name for name in answers if name in others]:
            return named[0], ()
        lists = (listed(name, others) for name in scores)
        if found := next((names for names in lists if len(names) >= least), ()):
            return "", found
    if len(others) == 1:
        return others[0], ()
    raise InputError(
        f"{source.path}: no column of answers or scores (it has {', '.join(source.columns[:12])}). Say "
        "--prediction-column NAME or --scores-column NAME."
    )


def _found(source: Source, name: str, flag: str) -> str:
    if name not in source.columns:
        raise InputError(f"{source.path}: no column {name!r} for {flag}.{did_you_mean([name], source.columns)}")
    return name


def log_scores(record: Record, column: str, metric: Metric) -> dict[str, float] | list[float]:
    """The log-likelihood of each continuation of a sample, divided by its length where the `metric` says so.

    By the text of the continuation where no two are the same, else in their order.

    As in lm-evaluation-harness, whose lengths are those of the choices without the blank before them; the further
    requests of acc_mutual_info, which have no context, are left out.
    """
    requests = requests_of(record.get("arguments"))
    answers = record.get(column)
    if column == "resps" and isinstance(answers, list):
        answers = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in answers]
    if not isinstance(answers, list) or len(answers) != len(requests):
        raise RowError(f"has no log-likelihood of each request under {column}")
    numbers = [_log_likelihood(one) for one in answers]
    conditional = [i for i, (before, _) in enumerate(requests) if before]
    if conditional and 2 * len(conditional) == len(requests):
        requests, numbers = [requests[i] for i in conditional], [numbers[i] for i in conditional]
    found = checked_scores(numbers, column)
    scores = [one / _length(text, metric) for one, (_, text) in zip(found, requests, strict=True)]
    by_text = {text.strip(): score for (_, text), score in zip(requests, scores, strict=True)}
    return by_text if len(by_text) == len(scores) else scores


def _log_likelihood(value: Any) -> float | None:
    """Of `[-3.2, False]`, whose numbers may be written as text."""
    first = value[0] if isinstance(value, list) and value else value
    try:
        number = float(first)
    except (TypeError, ValueError):
        return None
    return None if isnan(number) else number


def _length(text: str, metric: Metric) -> int:
    choice = text.removeprefix(" ")
    if metric == "acc":
        return 1
    return max(1, len(choice) if metric == "acc_norm" else len(choice.encode()))
