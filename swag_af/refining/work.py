"""Stages of a refinement on disk: what was found is read, and not made again, by a run that goes on.

Answers of servers have journals of their own, so a stage that was killed asks only what has no answer.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.errors import FormatError
from swag_af.data.files import check_same, read_array, read_json, remove_leftovers, write_array, write_json

_AGAIN = "Delete the folder, and refine again."


class Work:
    """The stages in one folder."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]):
        """Raises InputError where the folder was begun with another `identity`."""
        self.folder = folder
        remove_leftovers(folder)
        begun = folder / "begun.json"
        if begun.exists():
            check_same(read_json(begun), identity, begun, "--out")
        else:
            write_json(begun, identity)

    def hits(self, name: str, shape: tuple[int, int], make: Callable[[], np.ndarray]) -> np.ndarray:
        """The table of this name, made once."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            write_array(path, make())
        found = read_array(path)
        if found.shape != shape:
            raise FormatError(f"{path}: {found.shape}, where {shape} is due. {_AGAIN}")
        return found

    def texts(self, name: str, n: int, make: Callable[[], Sequence[Any]]) -> list[Any]:
        """The list of n texts, or lists of them, of this name, made once."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            write_json(path, list(make()))
        found = read_json(path)
        if not isinstance(found, list) or len(found) != n:
            raise FormatError(f"{path}: not a list of {n:,}. {_AGAIN}")
        return found
