"""SWAG and HellaSwag: a context and the start of the second sentence, in two columns or in one.

swag        `startphrase` is both
hellaswag   `ctx` is both, and `source_id` the video
"""

from collections.abc import Callable, Mapping

from swag_af.data.cells.values import split_context
from swag_af.data.instances.layouts.layout import Expand, Layout, one_each
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.tables.sources import Record


def _parted(both: str, context: str, start: str) -> Expand:
    """Puts the text `both` into the columns `context` and `start`, where the row lacks them."""

    def mend(record: Record) -> Record:
        text = record.get(both)
        if (isinstance(record.get(context), str) and isinstance(record.get(start), str)) or not isinstance(text, str):
            return record
        return {**record, **dict(zip((context, start), split_context(text), strict=True))}

    return one_each(mend)


def _made_of(both: str, context: str, start: str) -> Callable[[Record], Mapping[str, str]]:
    """That both come from the text `both`, where a row lacks one of them."""
    return lambda row: {} if context in row and start in row else {context: both, start: both}


SWAG = Layout(
    "swag",
    ("startphrase",),
    "choices",
    InstanceColumns(context_column="sent1", passage_column="", start_column="sent2"),
    _parted("startphrase", "sent1", "sent2"),
    reads=("sent1", "sent2"),
    made=_made_of("startphrase", "sent1", "sent2"),
)
HELLASWAG = Layout(
    "hellaswag",
    ("ctx", "endings"),
    "choices",
    InstanceColumns(context_column="ctx_a", passage_column="", start_column="ctx_b"),
    _parted("ctx", "ctx_a", "ctx_b"),
    reads=("ctx_a", "ctx_b"),
    made=_made_of("ctx", "ctx_a", "ctx_b"),
)
