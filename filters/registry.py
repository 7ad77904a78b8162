"""Names of filters to their classes, loaded when first asked for.

A name is one of ours, one that an installed package announces in the entry-point group `swag_af.filters`,
or `package.module:Class`. Imports no filter by itself.
"""

import difflib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from swag_af.data.errors import InputError
from swag_af.filters.contract import Filter

FILTERS: dict[str, str] = {
    "mlp": "swag_af.filters.members:MLPFilter",
    "bow": "swag_af.filters.members:BagOfWordsFilter",
    "cnn": "swag_af.filters.members:CNNFilter",
    "poslstm": "swag_af.filters.members:PosLSTMFilter",
    "ensemble": "swag_af.filters.members:EnsembleFilter",
}
ENTRY_POINT_GROUP = "swag_af.filters"


def make_filter(name: str, **settings: Any) -> Filter:
    """A new, unfitted filter; raises InputError for an unknown name or a setting that it does not take."""
    factory = filter_class(name)
    try:
        made = factory(**settings)
    except TypeError as error:
        raise InputError(f"filter {name!r} cannot be made with {settings}: {error}.") from None
    return made


def filter_class(name: str) -> Callable[..., Filter]:
    """The class behind `name`; raises InputError, with near matches, when there is none."""
    target = FILTERS.get(name) or _announced().get(name) or (name if ":" in name else None)
    if target is None:
        near = difflib.get_close_matches(name, filter_names(), n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"no filter {name!r}.{hint} There are {', '.join(filter_names())}, or package.module:Class.")
    module, _, attribute = target.partition(":")
    try:
        found: Callable[..., Filter] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"filter {name!r} cannot be loaded: {error}. Is its package installed?") from None
    return found


def filter_names() -> list[str]:
    """The names that `make_filter` knows, ours first."""
    return [*FILTERS, *sorted(set(_announced()) - set(FILTERS))]


def _announced() -> dict[str, str]:
    found: tuple[EntryPoint, ...] = tuple(entry_points(group=ENTRY_POINT_GROUP))
    return {point.name: point.value for point in found}
