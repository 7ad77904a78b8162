"""What filters found in a refinement, on disk: a run that goes on reads it, and fits nothing again.

Answers of servers have journals of their own, so what was asked is asked again without being sent.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_array, write_array
from swag_af.data.disk.manifests import begin_folder
from swag_af.data.errors import FormatError

_AGAIN = "Delete the folder, and refine again."


class Work:
    """The tables in one folder."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]):
        """Raises InputError where the folder was begun with another `identity`."""
        self.folder = folder
        begin_folder(folder, identity)

    def hits(self, name: str, shape: tuple[int, int], make: Callable[[], np.ndarray]) -> np.ndarray:
        """The table of this name, made once."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            write_array(path, make())
        found = read_array(path)
        if found.shape != shape:
            raise FormatError(f"{path}: {found.shape}, where {shape} is due. {_AGAIN}")
        return found
