"""Pairs in one text, and what lm-evaluation-harness logs.

marked-pairs   `input` is "premise: ... hypothesis: ...", `output` the class
lm-eval        what is written with --log_samples: requests, and the number of the right one
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from swag_af.data.cells.values import text_of, texts_of, with_nested
from swag_af.data.cells.words import key_of
from swag_af.data.errors import RowError
from swag_af.data.instances.layouts.layout import Layout, one_each
from swag_af.data.instances.names import CONTEXTS, OPTIONS, PASSAGES, QUESTIONS, lists_by_key, shortly, within
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record

_MARKED = re.compile(r"\s*premise: (.*?)\s*(?:\[SEP\])?\s*hypothesis: (.*)", re.DOTALL)


def _unmarked(record: Record) -> Record:
    found = _MARKED.fullmatch(str(record.get("input")))
    if not found:
        raise RowError("has no `premise: ... hypothesis: ...` under input")
    return {**record, "premise": found[1], "hypothesis": found[2]}


def _made_of_requests(record: Record) -> Mapping[str, str]:
    """The options, and what comes before them, stand in `doc` where the requests are letters."""
    of, label = "arguments", "target"
    with suppress(RowError):  # of a damaged row
        requests = requests_of(record.get(of))
        of = "doc" if _are_letters([after.strip() for _, after in requests]) else of
        label = label if _right(record, requests) == record.get(label) else "doc.answer"
    return {"context": of, "options": of, "label": label}


def _are_letters(options: Sequence[str]) -> bool:
    return bool(options) and all(re.fullmatch(r"\(?[A-Z][.)]?", option) for option in options)


def _of_requests(record: Record) -> Record:
    """A line of a log of samples: the options are the requests, the context what comes before all of them."""
    requests = requests_of(record.get("arguments"))
    if any(before for before, _ in requests):  # those without are only to take out how likely an option is by itself
        requests = [request for request in requests if request[0]]
    befores, options = {before for before, _ in requests}, [option.strip() for _, option in requests]
    if len(befores) != 1:  # as of WinoGrande, where options stand within the sentence
        befores, options = {""}, [f"{before}{option}".strip() for before, option in requests]
    doc = record.get("doc")
    if _are_letters(options) and isinstance(doc, Mapping):
        return {**record, **_of_doc(doc), "label": record.get("target")}
    return {**record, "context": befores.pop().strip(), "options": options, "label": _right(record, requests)}


def _right(record: Record, requests: Sequence[tuple[str, str]]) -> Any:
    """What says which request is right: `target`, or, where that is how all requests end, `answer` of the question,
    which counts from 1."""
    target, doc = record.get("target"), record.get("doc")
    is_ending_of_all = isinstance(target, str) and all(target.strip() == after.strip() for _, after in requests)
    if not is_ending_of_all or not isinstance(doc, Mapping):
        return target
    answer = str(doc.get("answer", ""))
    if not re.fullmatch(r"[1-9]", answer) or int(answer) > len(requests):
        raise RowError("has one target for all requests, and no number of the right one under doc.answer")
    return int(answer) - 1


def requests_of(arguments: Any) -> list[tuple[str, str]]:
    """`(context, continuation)` of each request: a list of pairs, or `{"gen_args_0": {"arg_0": ..., "arg_1": ...}}`.

    Nulls behind the last are none: tables have as many as any row, as `datasets` writes objects.
    """
    listed = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    given = listed if isinstance(listed, list) else []
    pairs = [list(one.values()) if isinstance(one, Mapping) else one for one in given]
    while pairs and (pairs[-1] is None or pairs[-1] == [None, None]):
        pairs.pop()
    if not pairs or not all(isinstance(one, list) and len(one) == 2 for one in pairs):
        raise RowError("has no pairs of texts under arguments, as logs of multiple choice have")
    if not all(isinstance(text, str) for one in pairs for text in one):
        raise RowError("has something else than texts under arguments, so it is no log of multiple choice")
    return [(before, option) for before, option in pairs]


def _of_doc(doc: Mapping[str, Any]) -> Record:
    """Where the requests are letters alone, the question as the dataset has it, a passage before it, and its options;
    by the usual names of their columns."""
    names = tuple(dict.fromkeys((*doc, *within(doc))))
    by_key, lists = {key_of(name): name for name in reversed(names)}, lists_by_key(doc)
    row = with_nested(doc, names)
    called = (name for key in OPTIONS for table in (by_key, lists) if (name := table.get(key)))
    options = next((name for name in called if _has_several(row, name)), "")
    if not options:
        raise RowError(f"has letters as requests, and no options under doc (it has {shortly(tuple(doc))}). {_BY_NAME}")
    asked = next((name for key in CONTEXTS if (name := by_key.get(key)) and name != options and _has(row, name)), "")
    if not asked:
        raise RowError(f"has letters as requests, and no question under doc (it has {shortly(tuple(doc))}). {_BY_NAME}")
    known = PASSAGES if key_of(asked) in QUESTIONS else ()
    passage = next((name for key in known if (name := by_key.get(key)) and name != asked and _has(row, name)), "")
    context = " ".join(text_of(row, name).strip() for name in (passage, asked) if name)
    cell = row.get(options)
    return {"context": context, "options": cell if isinstance(cell, list) else texts_of(row, options)}


_BY_NAME = "Say --layout columns --context-column doc.NAME --endings-column doc.NAME --label-column target"


def _has(row: Record, name: str) -> bool:
    return isinstance(row.get(name), str) and bool(row[name].strip())


def _has_several(row: Record, name: str) -> bool:
    """Whether there are several options, which may still be no texts: that is told where they are read."""
    cell = row.get(name)
    try:
        return len(cell if isinstance(cell, list) else texts_of(row, name)) > 1
    except RowError:
        return False


MARKED_PAIRS = Layout(
    "marked-pairs",
    ("input", "output"),
    "classes",
    InstanceColumns(premise_column="premise", hypothesis_column="hypothesis", endings_column="", label_column="output"),
    one_each(_unmarked),
    made=lambda _: {"premise": "input", "hypothesis": "input"},
)
LM_EVAL = Layout(
    "lm-eval",
    ("doc", "target", "arguments"),
    None,
    InstanceColumns(
        context_column="context",
        passage_column="",
        start_column="",
        endings_column="options",
        label_column="label",
        id_column="doc_id",
    ),
    one_each(_of_requests),
    made=_made_of_requests,
    is_sure=True,
)
