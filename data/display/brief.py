"""What a notebook shows of results: arrays by their shape, and long sequences by how much they hold; and words that are
longer than any."""

import re
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


def cut(text: str, most: int = 40) -> str:
    """`text` with an ellipsis in words of more than `most` letters, where these would make a table or picture too wide;
    files have them whole."""
    return re.sub(rf"(\S{{{most - 1}}})\S{{2,}}", r"\1…", text)


def _told(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, list | tuple | set | frozenset | Mapping) and len(value) > _SHOWN:
        return f"<{type(value).__name__} of {len(value):,}>"
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
