"""Names of filters to their classes, loaded when first asked for.

A name is one of ours, one that an installed package announces in the entry-point group `swag_af.filters`,
or `package.module:Class`. A filter that cannot do without one setting takes it in brackets, `NAME[ARGUMENT]`:
`transformer[path/to/model]`. Imports no filter by itself.
"""

import difflib
import re
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
    "ngrams": "swag_af.filters.estimators:NgramFilter",
    "chars": "swag_af.filters.estimators:CharFilter",
    "fasttext": "swag_af.filters.fast_text:FastTextFilter",
}
"""Filters that can be made without a word more."""
FILTERS_OF: dict[str, str] = {
    "transformer": "swag_af.filters.transformer:TransformerFilter",
}
"""Filters that take an argument: the setting that their class names in `argument`."""
ENTRY_POINT_GROUP = "swag_af.filters"


def make_filter(name: str, **settings: Any) -> Filter:
    """A new, unfitted filter; raises InputError for an unknown name or a setting that it does not take."""
    name, argument = _split(name)
    factory = filter_class(name)
    takes = getattr(factory, "argument", None)
    if argument is not None:
        if takes is None:
            raise InputError(f"filter {name!r} takes nothing in brackets, so not {name}[{argument}].")
        settings[takes] = argument
    elif takes is not None and takes not in settings:
        example = f"{name}[path/to/{takes}]"
        raise InputError(f"filter {name!r} needs its {takes} in brackets: {example}, in a schedule {example}:10.")
    try:
        made = factory(**settings)
    except TypeError as error:
        raise InputError(f"filter {name!r} cannot be made with {settings}: {error}.") from None
    return made


def filter_class(name: str) -> Callable[..., Filter]:
    """The class behind `name`, brackets aside; raises InputError, with near matches, when there is none."""
    name, _ = _split(name)
    target = FILTERS.get(name) or FILTERS_OF.get(name) or _announced().get(name) or (name if ":" in name else None)
    if target is None:
        near = difflib.get_close_matches(name, [*filter_names(), *FILTERS_OF], n=3)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        known = ", ".join([*filter_names(), *(f"{one}[...]" for one in FILTERS_OF)])
        raise InputError(f"no filter {name!r}.{hint} There are {known}, or package.module:Class.")
    module, _, attribute = target.partition(":")
    try:
        found: Callable[..., Filter] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"filter {name!r} cannot be loaded: {error}. Is its package installed?") from None
    return found


def filter_names() -> list[str]:
    """The names that `make_filter` takes as they are, ours first."""
    return [*FILTERS, *sorted(set(_announced()) - {*FILTERS, *FILTERS_OF})]


def _split(name: str) -> tuple[str, str | None]:
    """`NAME[ARGUMENT]` to its two parts; the argument is None where there are no brackets."""
    found = re.fullmatch(r"([^\[\]]+)\[(.+)\]", name)
    return (found[1], found[2]) if found else (name, None)


def _announced() -> dict[str, str]:
    found: tuple[EntryPoint, ...] = tuple(entry_points(group=ENTRY_POINT_GROUP))
    return {point.name: point.value for point in found}
