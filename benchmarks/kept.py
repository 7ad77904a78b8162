"""What a long benchmark has measured so far, in a JSON file, so that a second start goes on where the first ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import read_json, write_json


class Kept:
    """Figures by name, with the settings that all of them were measured under.

    Exits with one line where the file holds figures of other settings: they would be told as those of this start.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        kept = read_json(path) if path.exists() else {"settings": settings, "figures": {}}
        others = {name for name in settings if kept.get("settings", {}).get(name) != settings[name]}
        if others:
            raise SystemExit(
                f"{path}: measured under other settings ({', '.join(sorted(others))}). Give another --out."
            )
        self.settings, self.figures = settings, kept["figures"]

    def take(self, name: str, make: Callable[[], Any]) -> Any:
        """The figure of this name: the one that is kept, or else made now and kept."""
        if name not in self.figures:
            self.figures[name] = make()
            write_json(self.path, {"settings": self.settings, "figures": self.figures})
        return self.figures[name]
