"""Which columns of a file of predictions hold ids, and answers or scores, by their names and by what is in them.

    columns    an id, and the answer or scores of all answers: a list, or columns that are numbered, or called by
               classes or by the letters of the options
    lm-eval    sample logs of lm-evaluation-harness: `doc_id`, and log-likelihoods in `filtered_resps` or `resps`,
               unless others of their columns are named

What a cell means is decided in `answers`; files without columns are read in `forms`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import isnan
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from swag_af.data.cells.order import counts_otherwise, is_unique, word_or_nothing
from swag_af.data.cells.values import did_you_mean, listed
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.errors import InputError, RowError
from swag_af.data.instances.layouts.logs import requests_of
from swag_af.data.instances.options import AUTO
from swag_af.data.tables.sources import Record, Source, open_source
from swag_af.scoring.options import Metric, PredictionOptions
from swag_af.scoring.reading.answers import UNKNOWN, Cells, checked_scores, number_in
from swag_af.scoring.reading.forms import ANSWERS, PREDICTED, Table, says_predicted, without_columns

COUNTED = ("ind", "idx", "index", "row", "Unnamed: 0")
"""Names of a column that may count the rows of the dataset."""
IDS = ("id", "ids", "identifier", "question_id", "qid", "uid", "annot_id", "example_id", "item", "doc_id", *COUNTED)
"""Names of the column of ids, the likeliest first."""
SCORES = ("scores", "probabilities", "probs", "log_likelihoods", "loglikelihoods", "logprobs", "log_probs", "logits")
"""Names of a column with a list of scores, or of numbered columns."""
NUMBERED = ("score", "prob", "logit", "p", "answer", "option", "choice")
"""Names of numbered columns of scores."""
LOG = ("doc_id", "doc", "arguments")
"""Columns by which a sample log is known."""
LIKELIHOODS = ("filtered_resps", "resps")
"""Columns of its log-likelihoods, the likelier first."""
_STEMS = ("", *NUMBERED, *SCORES, *(name.removesuffix("s") for name in SCORES))
"""What may stand before a class or a letter in the name of its column of scores."""
_SAMPLE = 50


def open_table(path: Path, cells: Cells, options: PredictionOptions) -> Table:
    """What the file at `path` is, for the instances of `cells`; InputError where nothing tells.

    Where the dataset has no ids of its own, a file without any is in its order.
    """
    if found := without_columns(path, cells.rows):
        return replace(found, unused=tuple(options.named))
    source = open_source(path)
    if set(LOG) <= set(source.columns) and set(LIKELIHOODS) & set(source.columns):
        return _log(source, options)
    id = id_column(with_whole_numbers(source, source.columns), cells, options)
    source = with_whole_numbers(source, [id])
    if not id:
        _check_order(source)
    answer, scores = answers_in(source, tuple(name for name in source.columns if name != id), cells, options)
    what = f"answers in {answer}" if answer else f"scores in {', '.join(scores)}"
    of = {column: name for name, column in _by_answer(scores, cells.instances.classes).items()}
    classes = tuple(of[column] for column in scores) if len(of) == len(scores) else ()
    return Table(source, id, answer, scores, classes, said=f"ids in {id}, {what}" if id else what)


def _log(source: Source, options: PredictionOptions) -> Table:
    """A sample log: the log-likelihoods of each `doc_id`, or what those of its columns hold that are named."""
    lists = listed(options.named.get("--scores-column", ""), source.columns)
    columns = {flag: lists if flag == "--scores-column" and lists else (name,) for flag, name in options.named.items()}
    unused = tuple(flag for flag, names in columns.items() if not set(names) <= set(source.columns))
    used = {flag: names for flag, names in columns.items() if flag not in unused}
    id = used.get("--prediction-id", ("doc_id",))[0]
    answer = "" if "--scores-column" in used else "".join(used.get("--prediction-column", ()))
    usual = next(name for name in LIKELIHOODS if name in source.columns)
    scores = () if answer else used.get("--scores-column", (usual,))
    said = f"log of lm-evaluation-harness, {answer or ', '.join(scores)}"
    if id != "doc_id":
        source, said = with_whole_numbers(source, [id]), f"{said}, ids in {id}"
    is_log = len(scores) == 1 and scores[0] in LIKELIHOODS
    return Table(source, id, answer, scores, (), is_log, said, id == "doc_id", unused)


def id_column(source: Source, cells: Cells, options: PredictionOptions, *, may_repeat: bool = False) -> str:
    """The column of ids, which stand there once unless they `may_repeat`; empty where there is none, and the dataset
    has no ids of its own either."""
    wanted = options.prediction_id
    if wanted != AUTO:
        return _found(source, wanted, "--prediction-id")
    if found := _of_known_ids(source, cells, may_repeat=may_repeat):
        return found
    if of_both := [name for name in source.columns if is_unique(cells.beside.get(name, ()))]:
        return of_both[0]
    if cells.has_ids:
        raise InputError(
            f"{source.path}: no column of ids (it has {', '.join(source.columns[:12])}). Say --prediction-id NAME."
        )
    return ""


def _of_known_ids(source: Source, cells: Cells, *, may_repeat: bool) -> str:
    """The first column by name that holds mostly ids of the dataset, then the one named for ids that holds the most;
    empty where none is named so, and none holds any.

    A column that says by its name that it holds answers is none of ids, nor is, beside one that is named for ids, one
    whose values repeat: numbers of options may be ids, too.
    """
    sample = [record for _, record in islice(source.read(source.columns), _SAMPLE)]
    words = {name: [word_or_nothing(one, name) for one in sample] for name in source.columns}
    n_known = {name: sum(cells.row(word) != UNKNOWN for word in column) for name, column in words.items()}
    named = [name for name in IDS if name in words]
    others = [
        name
        for name, column in words.items()
        if name not in (*named, *PREDICTED, *ANSWERS)
        and not says_predicted(name)
        and (may_repeat or not named or is_unique(column))
    ]
    others.sort(key=n_known.__getitem__, reverse=True)
    mostly = [name for name in (*named, *others) if 2 * n_known[name] > len(sample)]
    return next(
        iter([*mostly, *sorted(named, key=n_known.__getitem__, reverse=True), *filter(n_known.get, others)]), ""
    )


def _check_order(source: Source) -> None:
    """Raise InputError where rows without ids have a column without a name, as pandas writes its index, that counts
    them in another order."""
    if "" not in source.columns:
        return
    if counts_otherwise([str(record[""]) for _, record in source.read([""])]):
        raise InputError(
            f"{source.path}: its column without a name counts rows in another order than they stand in. Name that "
            "column id, or sort the rows by it."
        )


def answers_in(
    source: Source, others: tuple[str, ...], cells: Cells, options: PredictionOptions, *, may_be_scores: bool = True
) -> tuple[str, tuple[str, ...]]:
    """The column of answers, or those of scores where they `may_be_scores`, among the `others` of a file.

    Raises InputError where there is none, and where several could be.
    """
    if may_be_scores and options.scores_column != AUTO:
        return "", _named_scores(source, options.scores_column, cells)
    if options.prediction_column != AUTO:
        return _found(source, options.prediction_column, "--prediction-column"), ()
    if found := _guessed(source, others, cells, may_be_scores=may_be_scores):
        return found
    what, flags = (" or scores", " or --scores-column NAME") if may_be_scores else ("", "")
    raise InputError(
        f"{source.path}: no column of answers{what} (it has {', '.join(source.columns[:12])}). Say "
        f"--prediction-column NAME{flags}."
    )


def _named_scores(source: Source, wanted: str, cells: Cells) -> tuple[str, ...]:
    """The columns that `--scores-column` means: one of those that are called as all answers are, what stands before
    these, a list of numbered columns, or one column."""
    for stem, columns in _by_stem(source.columns, (wanted, *_STEMS), cells):
        if wanted in (stem, *columns):
            return columns
    return listed(wanted, source.columns) or (_found(source, wanted, "--scores-column"),)


def _guessed(
    source: Source, others: tuple[str, ...], cells: Cells, *, may_be_scores: bool
) -> tuple[str, tuple[str, ...]] | None:
    """As `answers_in`, by the names of columns: those that say that they were predicted, then those that gold and
    options may have as well, then the only one that there is. None where there is none."""
    predicted = [name for name in PREDICTED if name in others] or list(filter(says_predicted, others))
    scores = [found for name in SCORES if (found := listed(name, others))] if may_be_scores else []
    if predicted or scores:
        return _only_one(source, predicted, scores)
    may_be_gold = [name for name in ANSWERS if name in others]
    numbered = _numbered_scores(source, others, cells) if may_be_scores else []
    if may_be_gold or numbered:
        return _only_one(source, may_be_gold, numbered)
    return (others[0], ()) if len(others) == 1 else None


def _numbered_scores(source: Source, others: Sequence[str], cells: Cells) -> list[tuple[str, ...]]:
    """The lists of columns that are numbered, or called as all answers are, and may hold scores."""
    lists = [found for name in NUMBERED if len(found := listed(name, others)) >= 2]
    named_so = [columns for _, columns in _by_stem(others, _STEMS, cells) if columns not in lists]
    return [*lists, *(columns for columns in named_so if _are_scores(source, columns, cells))]


def _only_one(source: Source, named: Sequence[str], lists: Sequence[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    """The column of answers, or the list of scores; InputError where there are several."""
    if len(named) + len(lists) > 1:
        every = [*named, *(found[0] if len(found) == 1 else f"{found[0]} and so on" for found in lists)]
        flags = " or ".join(["--prediction-column NAME"] * bool(named) + ["--scores-column NAME"] * bool(lists))
        raise InputError(f"{source.path}: {', '.join(every)} could all be the answers. Say {flags}.")
    return (named[0], ()) if named else ("", lists[0])


def _by_stem(columns: Sequence[str], stems: Sequence[str], cells: Cells) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The columns that are called as all answers are, behind each of `stems`: by classes, else by letters from A on."""
    n_given = max(len(cells.given(row)) for row in range(len(cells.instances)))
    answers = cells.instances.classes or tuple(ascii_uppercase[:n_given])
    for stem in dict.fromkeys(stems):
        found = _by_answer(columns, answers, (stem,))
        if len(found) == n_given:
            yield stem, tuple(found.values())


def _by_answer(columns: Sequence[str], answers: Sequence[str], stems: Sequence[str] = ()) -> dict[str, str]:
    """By answer the column that is called so, behind one and the same of `stems`, whatever its letter case."""
    there = {name.lower(): name for name in columns}
    for stem, mark in product(stems or _STEMS, ("_", "-", " ", ".", "")):
        names = [f"{stem}{mark if stem else ''}{answer}".lower() for answer in answers]
        if names and len(set(names)) == len(names) and set(names) <= set(there):
            return {answer: there[name] for answer, name in zip(answers, names, strict=True)}
    return {}


def _are_scores(source: Source, columns: Sequence[str], cells: Cells) -> bool:
    """Whether columns hold numbers, and not those of the dataset: options may be called A to D, too."""
    sample = [[record.get(name) for name in columns] for _, record in islice(source.read(columns), _SAMPLE)]
    values = [value for row in sample for value in row if value not in (None, "")]
    own = {value for name in columns for value in cells.beside.get(name, ())}
    return all(number_in(value) is not None for value in values) and not {str(value) for value in values} <= own


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
