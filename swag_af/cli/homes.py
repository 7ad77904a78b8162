"""The home folder in paths of the command line: shells replace a `~` that begins a word, and leave that of
`--out=~/pool` as it is, which would make a folder of the name `~`. Imports nothing heavy."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the help of all verbs is printed without it
    from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo


def path_of(word: str) -> Path:
    """The path that `word` names, a leading `~` or `~USER` being the home folder; `./~` is a file of that name.

    Raises ValueError for an empty word, which a variable of the shell may be that is not set: it is no `.`.
    """
    if not word:
        raise ValueError("empty, and a path is due")
    return Path(os.path.expanduser(word))  # not Path.expanduser: of a path, `./` is gone


def paths_from_home() -> "ConstructorRegistry":
    """What tells tyro to read every option that is a path by `path_of`."""
    from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec

    registry = ConstructorRegistry()

    @registry.primitive_rule
    def rule(kind: "PrimitiveTypeInfo") -> "PrimitiveConstructorSpec[Path] | None":
        if kind.type is not Path:
            return None
        return PrimitiveConstructorSpec(
            nargs=1,
            metavar="PATH",
            instance_from_str=lambda words: path_of(words[0]),
            is_instance=lambda value: isinstance(value, Path),
            str_from_instance=lambda path: [str(path)],
        )

    return registry
