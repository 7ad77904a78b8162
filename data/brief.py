"""What a notebook shows of results: arrays by their shape, and long sequences by how much they hold."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=type)

_SHOWN = 3
"""Entries up to which a sequence is written out."""
_WIDTH = 80


def brief(cls: T) -> T:
    """A dataclass whose `repr` has a line's worth of each field, however many rows it holds."""

    def told(self: Any) -> str:
        parts = (f"{field.name}={_told(getattr(self, field.name))}" for field in fields(self) if field.repr)
        return f"{type(self).__name__}({', '.join(parts)})"

    type.__setattr__(cls, "__repr__", told)
    return cls


def _told(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, list | tuple | set | frozenset | Mapping) and len(value) > _SHOWN:
        return f"<{type(value).__name__} of {len(value):,}>"
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
