"""What this process did with a journal that others use as well, such as that of a judge in the user's cache.

Who begins a command has not chosen such a file, nor what stands in it: so its limits count what this process used, the
server is asked which model it has, and whoever finds the file held waits.
"""

from dataclasses import dataclass, field
from pathlib import Path

from swag_af.endpoints.costs.usage import Usage


@dataclass
class Shared:
    """One such journal, from the start of the process."""

    spent: dict[str, Usage] = field(default_factory=dict)
    """By model, what was used."""
    models: dict[str, str] = field(default_factory=dict)
    """By address, the model whose answers are used, once that is settled."""
    has_told: bool = False
    """Whether it was told that somebody else holds the file."""


def shared_at(path: Path) -> Shared:
    """That of this file; the same one whenever this process asks."""
    return _KNOWN.setdefault(path.absolute(), Shared())


_KNOWN: dict[Path, Shared] = {}
