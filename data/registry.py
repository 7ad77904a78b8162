"""Registries of names: a filter, tagger, splitter or generator by its name, imported when it is first used.

A name is a built-in one, one that an installed package registers in the entry-point group `swag_af.KINDs`, or
`package.module:Class`. A setting is given in brackets, `NAME[SETTING]`: `transformer[path/to/model]`,
`spacy[en_core_web_sm]`. The older spelling `NAME:SETTING` still works for built-in names.
"""

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from swag_af.data.errors import InputError


@dataclass(frozen=True)
class Registry:
    """The names of one kind of component."""

    kind: str
    """The kind in the singular, as messages call it: `filter`."""
    ours: Mapping[str, str]
    """Name to `module:attribute`, a class or a function that makes one."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """For built-in names that take a setting, the word for it in brackets, as help shows it: `PIPELINE`."""

    @property
    def group(self) -> str:
        """The entry-point group in which packages register theirs."""
        return f"swag_af.{self.kind}s"

    def make(self, name: str, **settings: Any) -> Any:
        """A new instance; InputError for an unknown name or a setting that it does not take.

        The setting is passed as the keyword that the class names in `argument`.
        """
        base, argument = self.parted(name)
        factory = self.find(base)
        takes = getattr(factory, "argument", None)
        if argument is not None:
            if takes is None:
                raise InputError(f"{self.kind} {base!r} takes nothing in brackets, so not {base}[{argument}].")
            settings[takes] = argument
        elif takes is not None and takes not in settings and _is_required(factory, takes):
            example = f"{base}[path/to/{takes}]"
            raise InputError(f"{self.kind} {base!r} needs its {takes} in brackets: {example}.")
        try:
            return factory(**settings)
        except TypeError as error:
            raise InputError(f"{self.kind} {base!r} cannot be made with {settings}: {error}.") from None

    def find(self, name: str) -> Callable[..., Any]:
        """The class or function called `name`, without its brackets; InputError, with near matches, when there is
        none."""
        name, _ = self.parted(name)
        target = self.ours.get(name) or self.announced().get(name) or (name if ":" in name else None)
        if target is None:
            near = difflib.get_close_matches(name, self.names(), n=3)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise InputError(
                f"no {self.kind} {name!r}.{hint} There are {', '.join(self.spellings())}, or package.module:Class."
            )
        module, _, attribute = target.partition(":")
        try:
            found: Callable[..., Any] = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise InputError(f"{self.kind} {name!r} cannot be loaded: {error}. Is its package installed?") from None
        return found

    def names(self) -> list[str]:
        """Every name, built-in ones first."""
        return [*self.ours, *sorted(set(self.announced()) - set(self.ours))]

    def spellings(self) -> list[str]:
        """Every name as it may be written; those that take a setting with their brackets."""
        return [f"{name}[{self.takes[name]}]" if name in self.takes else name for name in self.names()]

    def parted(self, name: str) -> tuple[str, str | None]:
        """`NAME[SETTING]`, or `NAME:SETTING` where NAME is built in, as two parts; the setting is None where there is
        none."""
        found = re.fullmatch(r"([^\[\]]+)\[(.+)\]", name)
        if found:
            return found[1], found[2]
        head, colon, setting = name.partition(":")
        return (head, setting) if colon and setting and head in self.ours else (name, None)

    def announced(self) -> dict[str, str]:
        """Name to `module:attribute` of what installed packages register."""
        return {point.name: point.value for point in entry_points(group=self.group)}


def _is_required(factory: Callable[..., Any], parameter: str) -> bool:
    return inspect.signature(factory).parameters[parameter].default is inspect.Parameter.empty
