"""Files whose names of columns alone do not tell what they hold. A layout rewrites their rows into plain columns.

    swag            `startphrase` is the context and the start of the second sentence
    hellaswag       `ctx` is, and `source_id` the video
    nlvr2           sentences with True and False, by the set of images that `identifier` names
    marked-pairs    `input` is "premise: ... hypothesis: ...", `output` the class
    lm-eval         what lm-evaluation-harness writes with --log_samples: requests, and the number of the right one

Every other set is told by the names of its columns (`guessing`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swag_af.data.cells.values import split_context
from swag_af.data.errors import RowError
from swag_af.data.instances.instances import Kind
from swag_af.data.instances.options import InstanceColumns, LayoutName
from swag_af.data.sources import Record


def _as_it_is(record: Record) -> Record:
    return record


@dataclass(frozen=True)
class Layout:
    """The columns of one kind of file; those that it does not name are looked for."""

    name: str
    requires: tuple[str, ...] = ()
    """Columns by which it is known."""
    kind: Kind | None = None
    """None where the columns say it."""
    columns: InstanceColumns = field(default_factory=InstanceColumns)
    mend: Callable[[Record], Record] = _as_it_is
    """The row with further columns; raises RowError where it is none of the layout."""


COLUMNS = Layout("columns")
"""Columns as they are."""


def layout_of(names: Sequence[str], sample: Sequence[Record], wanted: LayoutName) -> Layout:
    """The layout of a file with the columns `names`, of which `sample` are rows."""
    if wanted != "auto":
        return LAYOUTS.get(wanted, COLUMNS)
    fitting = (one for one in LAYOUTS.values() if set(one.requires) <= set(names) and _mends(one, sample))
    return next(fitting, COLUMNS)


def _mends(layout: Layout, sample: Sequence[Record]) -> bool:
    try:
        return all(layout.mend(record) for record in sample)
    except RowError:
        return False


def _parted(both: str, context: str, start: str) -> Callable[[Record], Record]:
    """Puts the text `both` into the columns `context` and `start`, where the row lacks them."""

    def mend(record: Record) -> Record:
        text = record.get(both)
        if (isinstance(record.get(context), str) and isinstance(record.get(start), str)) or not isinstance(text, str):
            return record
        return {**record, **dict(zip((context, start), split_context(text), strict=True))}

    return mend


_IDENTIFIER = re.compile(r"((.+?-\d+)-\d+)-\d+")


def _with_image_set(record: Record) -> Record:
    """`dev-850-0-0` is the first sentence for the first pair of images of the set `dev-850`; a pair is its media."""
    found = _IDENTIFIER.fullmatch(str(record.get("identifier")))
    if not found:
        raise RowError(f"has {record.get('identifier')!r} under identifier, where SPLIT-SET-PAIR-SENTENCE is due")
    return {**record, "image set": found[2], "images": found[1]}


_MARKED = re.compile(r"\s*premise: (.*?)\s*(?:\[SEP\])?\s*hypothesis: (.*)", re.DOTALL)


def _unmarked(record: Record) -> Record:
    found = _MARKED.fullmatch(str(record.get("input")))
    if not found:
        raise RowError("has no `premise: ... hypothesis: ...` under input")
    return {**record, "premise": found[1], "hypothesis": found[2]}


def _of_requests(record: Record) -> Record:
    """A line of a log of samples: the options are the requests, the context what comes before all of them."""
    requests = requests_of(record.get("arguments"))
    if any(before for before, _ in requests):  # those without are only to take out how likely an option is by itself
        requests = [request for request in requests if request[0]]
    befores, options = {before for before, _ in requests}, [option.strip() for _, option in requests]
    if len(befores) != 1:  # as of WinoGrande, where options stand within the sentence
        befores, options = {""}, [f"{before}{option}".strip() for before, option in requests]
    doc = record.get("doc")
    if options and all(re.fullmatch(r"\(?[A-Z][.)]?", option) for option in options) and isinstance(doc, Mapping):
        return _of_doc(record, doc)
    return {**record, "context": befores.pop().strip(), "options": options, "label": record.get("target")}


def requests_of(arguments: Any) -> list[tuple[str, str]]:
    """`(context, continuation)` of each request: a list of pairs, or `{"gen_args_0": {"arg_0": ..., "arg_1": ...}}`."""
    listed = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
    given = listed if isinstance(listed, list) else []
    pairs = [list(one.values()) if isinstance(one, Mapping) else one for one in given]
    if not pairs or not all(isinstance(one, list) and len(one) == 2 for one in pairs):
        raise RowError("has no pairs of texts under arguments, as logs of multiple choice have")
    if not all(isinstance(text, str) for one in pairs for text in one):
        raise RowError("has something else than texts under arguments, so it is no log of multiple choice")
    return [(before, option) for before, option in pairs]


def _of_doc(record: Record, doc: Mapping[str, Any]) -> Record:
    """Where the requests are letters alone, the question as the dataset has it."""
    choices = doc.get("choices", doc.get("options"))
    texts = choices.get("text") if isinstance(choices, Mapping) else choices
    if not isinstance(texts, list):
        raise RowError("has letters as requests, and no choices under doc")
    question = doc.get("question", doc.get("question_stem", ""))
    return {**record, "context": str(question), "options": texts, "label": record.get("target")}


LAYOUTS: dict[str, Layout] = {
    one.name: one
    for one in (
        Layout(
            "swag",
            ("startphrase",),
            "choices",
            InstanceColumns(context_column="sent1", passage_column="", start_column="sent2"),
            _parted("startphrase", "sent1", "sent2"),
        ),
        Layout(
            "hellaswag",
            ("ctx", "endings"),
            "choices",
            InstanceColumns(context_column="ctx_a", passage_column="", start_column="ctx_b"),
            _parted("ctx", "ctx_a", "ctx_b"),
        ),
        Layout(
            "nlvr2",
            ("sentence", "identifier", "label"),
            "classes",
            InstanceColumns(text_column="sentence", premise_column="", video_column="image set", media_column="images"),
            _with_image_set,
        ),
        Layout(
            "marked-pairs",
            ("input", "output"),
            "classes",
            InstanceColumns(
                premise_column="premise", hypothesis_column="hypothesis", endings_column="", label_column="output"
            ),
            _unmarked,
        ),
        Layout(
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
            _of_requests,
        ),
    )
}
"""By name, in the order in which they are tried."""
