"""All layouts by name, and which one a file has. Every other file is told by the names of its columns (`guessing`)."""

from collections.abc import Sequence

from swag_af.data.errors import InputError, RowError
from swag_af.data.instances.layouts.images import NLVR2
from swag_af.data.instances.layouts.layout import COLUMNS, Layout
from swag_af.data.instances.layouts.logs import LM_EVAL, MARKED_PAIRS
from swag_af.data.instances.layouts.passages import BOOLQ_CONTRAST, RACE
from swag_af.data.instances.layouts.sentences import HELLASWAG, SWAG
from swag_af.data.instances.layouts.staged import VCR, VCR_CS
from swag_af.data.instances.options import LayoutName
from swag_af.data.tables.sources import Record, Source

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


def check_layout(layout: Layout, sample: Sequence[Record], source: Source) -> None:
    """Raise InputError where most rows are of another layout than was named; where it is a few, those are damaged."""
    if layout.is_sure or layout is COLUMNS or _fits(layout, sample):
        return
    fault = next(filter(None, (_fault_of(layout, record) for record in sample)))
    raise InputError(
        f"{source.path}: a row {fault}, so it is not of the layout {layout.name}. Leave --layout out, or name another."
    )


def _fits(layout: Layout, sample: Sequence[Record]) -> bool:
    return 2 * sum(_fault_of(layout, record) is None for record in sample) > len(sample)


def _fault_of(layout: Layout, record: Record) -> str | None:
    try:
        layout.expand(record, FIRST)
    except RowError as fault:
        return str(fault)
    return None
