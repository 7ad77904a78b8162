"""All layouts by name, and which one a file has. Every other file is told by the names of its columns (`guessing`)."""

from collections.abc import Sequence

from swag_af.data.errors import RowError
from swag_af.data.instances.layouts.images import NLVR2
from swag_af.data.instances.layouts.layout import COLUMNS, Layout
from swag_af.data.instances.layouts.logs import LM_EVAL, MARKED_PAIRS
from swag_af.data.instances.layouts.passages import BOOLQ_CONTRAST, RACE
from swag_af.data.instances.layouts.sentences import HELLASWAG, SWAG
from swag_af.data.instances.layouts.staged import VCR, VCR_CS
from swag_af.data.instances.options import LayoutName
from swag_af.data.sources import Record

LAYOUTS: dict[str, Layout] = {
    one.name: one for one in (SWAG, HELLASWAG, NLVR2, VCR, VCR_CS, RACE, BOOLQ_CONTRAST, MARKED_PAIRS, LM_EVAL)
}
"""By name, in the order in which they are tried."""

FIRST = "row:1"
"""The place of a row that is only looked at."""


def layout_of(names: Sequence[str], sample: Sequence[Record], wanted: LayoutName) -> Layout:
    """The layout of a file with the columns `names`, of which `sample` are rows."""
    if wanted != "auto":
        return LAYOUTS.get(wanted, COLUMNS)
    fitting = (one for one in LAYOUTS.values() if set(one.requires) <= set(names))
    return next((one for one in fitting if one.is_sure or _fits(one, sample)), COLUMNS)


def _fits(layout: Layout, sample: Sequence[Record]) -> bool:
    try:
        return all(layout.expand(record, FIRST) for record in sample)
    except RowError:
        return False
