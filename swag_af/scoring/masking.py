"""Which questions a mask changes, and those questions without their labels, for a model to answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances

CHANGED = ("masked", "no mask")
"""The two parts of a dataset: a mask changes the question, or finds nothing in it."""


def changed_by_mask(plain: Instances, masked: Instances) -> np.ndarray:
    """(N,) whether the texts of an instance differ between two readings of the same files."""
    if [one.id for one in plain.instances] != [one.id for one in masked.instances]:
        raise InputError(f"{plain.name}: other instances are read with the mask than without. Give the rows ids.")
    pairs = zip(plain.instances, masked.instances, strict=True)
    return np.array([_texts(one) != _texts(other) for one, other in pairs])


def _texts(one: Instance) -> tuple[str, str, tuple[str, ...]]:
    return one.context, one.start, one.options


def parts_by_mask(changed: np.ndarray) -> list[str]:
    """(N,) the part of each instance, by `changed` (N,)."""
    return [CHANGED[0] if one else CHANGED[1] for one in changed.tolist()]


def write_masked(path: Path, masked: Instances, changed: np.ndarray) -> int:
    """Write the instances that are `changed` (N,), as they read with the mask and without labels; returns how many."""
    return write_jsonl(path, _questions(masked, changed))


def _questions(masked: Instances, changed: np.ndarray) -> Iterator[dict[str, Any]]:
    for one, is_changed in zip(masked.instances, changed.tolist(), strict=True):
        if not is_changed:
            continue
        media = {"media": one.media} if one.media else {}
        if masked.kind == "classes":
            premise = {"premise": one.context} if one.context else {}
            yield {"id": one.id, **premise, "text": one.options[0], "classes": list(masked.classes), **media}
        else:
            start = {"start": one.start} if one.start else {}
            yield {"id": one.id, "context": one.context, **start, "options": list(one.options), **media}
