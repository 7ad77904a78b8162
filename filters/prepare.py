"""Filters made ready for a pool: made, and everything that can go wrong found before any work, all of it at once."""

import inspect
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from swag_af.data.errors import InputError
from swag_af.data.plugins.own_code import blaming
from swag_af.data.pool.folder import CONTEXT_TAGS, FILTER_TABLES
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters.contract import Filter, check_is_filter
from swag_af.filters.registry import make_filter


def prepare(filters: Iterable[str | Filter], pool: CandidatePool, *, device: str | None = None) -> list[Filter]:
    """The filters, names made into objects, each able to fit and score on `pool`.

    Checked are names, settings, packages, the tables that each one reads, and the features in them; a filter's own
    `check()` is asked. Where it has a `device`, that becomes `device`, as `place` says. Raises one InputError that
    names every fault.
    """
    made: list[Filter] = []
    faults: dict[str, None] = {}
    for entry in filters:
        try:
            one = make_filter(entry) if isinstance(entry, str) else entry
            check_is_filter(one, type(one).__name__)
            place(one, device)
            made.append(one)
            with blaming(one, "check"):
                getattr(one, "check", lambda: None)()
            _check_tables(one, pool)
        except InputError as fault:
            faults[str(fault)] = None
    if faults:
        raise InputError(" ".join(faults))
    return made


def place(filter: Any, device: str | None) -> None:
    """Have a filter compute on `device`, unless it has none or its own settings name another: None and `auto` name
    none."""
    if device is None or not hasattr(filter, "device"):
        return
    own = filter.device
    if own in (None, "auto") or own == _default_device(filter, own):
        with suppress(AttributeError):  # of a device that can only be read it is the filter's own
            filter.device = device


def _default_device(filter: Any, own: Any) -> Any:
    """What `device` is where the constructor is told none; `own` where it takes none."""
    taken = inspect.signature(type(filter)).parameters.get("device")
    return getattr(type(filter), "device", own) if taken is None else taken.default


def check_devices(filters: Iterable[Any]) -> None:
    """Raise InputError where a filter is to compute on a device that this machine lacks."""
    for device in {getattr(one, "device", "auto") for one in filters} - {"auto", "cpu"}:
        if isinstance(device, str):
            from swag_af.nn.device import pick_device  # not above: it loads torch, which most filters do without

            pick_device(device)


def _check_tables(filter: Filter, pool: CandidatePool) -> None:
    required = getattr(filter, "requires", ())
    pool.require(*required)
    pool.check_tables({*FILTER_TABLES, *required, *(CONTEXT_TAGS if "tags" in required else ())})
    if "features" in required:
        pool.check_features()  # makes those that are lazy ready, too
