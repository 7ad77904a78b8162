"""Registries of names: a filter, tagger, splitter or generator by its name, imported when it is first used.

A name is a built-in one, one that an installed package registers in the entry-point group `swag_af.KINDs`, or
`package.module:Class`. What it takes is given in brackets, `NAME[ARGUMENT]`: `transformer[path/to/model]`,
`spacy[en_core_web_sm]`; other settings follow by their names, `encoder[path/to/model,inputs=ending]`,
`mlp[width=1024,max_epochs=5]`. Both are read as the types that they have in the class. A value of several parts goes on
until the next name: `transformer[path/to/model,learning_rates=2e-5,5e-5,patience=2]`. The older spelling
`NAME:ARGUMENT` still works for built-in names.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from multiprocessing import parent_process
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from swag_af.data.errors import (
    ContractError,
    InputError,
    SwagAfError,
    blamed,
    in_one_line,
    is_beyond_use,
    near_names,
    told,
)
from swag_af.data.work.progress import note


@dataclass(frozen=True)
class Registry:
    """The names of one kind of component."""

    kind: str
    """The kind in the singular, as messages call it: `filter`."""
    ours: Mapping[str, str]
    """Name to `module:attribute`, a class or a function that makes one."""
    takes: Mapping[str, str] = field(default_factory=dict)
    """For built-in names that take a setting, the word for it in brackets, as help shows it: `PIPELINE`."""
    checker: str = ""
    """What tests anyone's class, where there is such: `swag_af.check_filter`."""
    methods: tuple[str, ...] = ()
    """What `make` sees to that an instance has, beside a name; without any it looks at neither."""
    needs: str = ""
    """What one needs, in a sentence, where no checker says it."""

    @property
    def group(self) -> str:
        """The entry-point group in which packages register theirs."""
        return f"swag_af.{self.kind}s"

    def make(self, name: str, **settings: Any) -> Any:
        """A new instance; InputError for an unknown name or a setting that it does not take, ContractError for one
        without its `methods`.

        The argument is passed as the keyword that the class names in `argument`, and each named setting as its own, in
        place of one of `settings`.
        """
        base, argument, written = self._read(name)
        factory = self.find(base)
        takes = getattr(factory, "argument", None)
        for key, value in settings.items():
            if is_beyond_use(key, value):
                raise InputError(f"{self.kind} {base!r}: {key}={value} is infinite, no number, or too large.")
        if base in self.ours:
            self._check_types(base, factory, settings)
        settings |= self.in_brackets(name)
        if argument is not None and takes in written:
            raise InputError(f"{self.kind} {name}: {takes} is given twice.")
        if argument is not None and takes is None:
            raise InputError(f"{self.kind} {base!r} takes nothing in brackets, so not {base}[{argument}].")
        if argument is None and takes is not None and takes not in settings and _is_required(factory, takes):
            example = f"{base}[{self.takes.get(base, f'path/to/{takes}')}]"
            raise InputError(f"{self.kind} {base!r} needs its {takes} in brackets: {example}.")
        try:
            with self.blaming(base, "constructor"):
                made = factory(**settings)
        except TypeError as error:
            raise InputError(f"{self.kind} {base!r} cannot be made with {', '.join(settings)}: {error}.") from None
        if self.methods:
            self._check_methods(name, made)
        return made

    def _check_methods(self, name: str, made: Any) -> None:
        from swag_af.data.plugins.own_code import lacks  # loads numpy, which no `--help` needs

        if faults := lacks(made, *self.methods):
            needs = self.needs or f"`{self.checker}` says what one needs."
            raise ContractError(f"{self.kind} {name}: a {type(made).__name__} has {' and '.join(faults)}. {needs}")

    @contextmanager
    def blaming(self, name: str, part: str) -> Iterator[None]:
        """Tell what the `part` of somebody's own class raises as one line; what ours raises is our bug.

        A TypeError of a constructor is left to `make`, which knows what it was given.
        """
        try:
            yield
        except SwagAfError:
            raise
        except Exception as error:
            if self.parted(name)[0] in self.ours or (part == "constructor" and isinstance(error, TypeError)):
                raise
            hint = f"`{self.checker}` tries it with a traceback." if self.checker else ""
            raise blamed(error, f"{self.kind} {name}: its {part}", hint) from error

    def named(self, name: str) -> frozenset[str]:
        """The names of the settings that stand by their names in brackets."""
        return frozenset(self._read(name)[2])

    def written(self, name: str) -> frozenset[str]:
        """The names of all settings that stand in brackets, that of the argument too."""
        base, argument, named = self._read(name)
        takes = None if argument is None else getattr(self.find(base), "argument", None)
        return frozenset(named) | (frozenset() if takes is None else {takes})

    def in_brackets(self, name: str) -> dict[str, Any]:
        """Those that are `written`, each of the type that the class gives it; InputError where it has none of that name
        or type."""
        base, argument, named = self._read(name)
        factory = self.find(base)
        takes = getattr(factory, "argument", None)
        found = {key: self._typed(base, factory, key, value) for key, value in named.items()}
        if argument is not None and takes is not None:
            found[takes] = self._argument(base, factory, takes, argument)
        return found

    def settings_taken(self, name: str) -> frozenset[str] | None:
        """The names of the settings that the constructor takes; None where it takes any."""
        parameters = inspect.signature(self.find(name)).parameters.values()
        if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
            return None
        return frozenset(parameter.name for parameter in parameters)

    def find(self, name: str, *, beside: Sequence[str] = ()) -> Callable[..., Any]:
        """The class or function called `name`, without its brackets; InputError, with near matches, when there is
        none, and where several packages announce it. `beside` are names that the caller takes, too."""
        name, _, _ = self._read(name)
        self._check_one(name)
        target = self.ours.get(name) or self.announced().get(name) or (name if ":" in name else None)
        if target is None:
            hint = near_names(name, dict.fromkeys([*beside, *self.names()]), most=3)
            there = ", ".join(dict.fromkeys([*beside, *self.spellings()]))
            raise InputError(f"no {self.kind} {name!r}.{hint} There are {there}, or package.module:Class.")
        return self._loaded(name, target)

    def _check_one(self, name: str) -> None:
        """Raise InputError where packages announce different things by one name; say once that a built-in one goes
        before that of a package."""
        if ":" in name or (self.kind, name) in _TOLD:
            return
        found = {
            point.value: point for point in _points(entry_points, self.group, tuple(sys.path)) if point.name == name
        }
        who = " and ".join(f"{_whose(point)} ({value})" for value, point in found.items())
        if name in self.ours and found:
            _TOLD.add((self.kind, name))
            if parent_process() is None:  # workers find the same
                note(
                    f"Warning: {self.kind} {name} is the built-in one; {who} announces another by this name, which can "
                    "be named as package.module:Class."
                )
        elif len(found) > 1:
            raise InputError(
                f"{self.kind} {name!r}: announced by {who}. Name the one that is meant as package.module:Class, or "
                "remove one of the packages."
            )

    def _loaded(self, name: str, target: str) -> Callable[..., Any]:
        """What `module:attribute` is; InputError where it cannot be loaded, or makes nothing."""
        module, _, attribute = target.partition(":")
        if module.endswith(".py") or "/" in module:
            raise InputError(
                f"{self.kind} {name!r}: this is a file, and a module is due, as Python imports it: "
                f"{Path(module).stem}:{attribute}, from its folder, or with that in PYTHONPATH."
            )
        try:
            found: Callable[..., Any] = getattr(import_module(module), attribute)
        except Exception as error:
            is_missing = isinstance(error, ImportError | AttributeError | ValueError)
            if name in self.ours and not is_missing:
                raise
            what = in_one_line(error) if is_missing else f"{type(error).__name__}: {in_one_line(error)}"
            raise InputError(
                f"{self.kind} {name!r} cannot be loaded: {what}. Is its package installed, or its file in the working "
                "directory?"
            ) from None
        if not callable(found):
            what = f"{attribute} is a {type(found).__name__}"
            raise InputError(f"{self.kind} {name!r}: {what}. Name a class, or a function that makes one.")
        return found

    def names(self) -> list[str]:
        """Every name, built-in ones first."""
        return [*self.ours, *sorted(set(self.announced()) - set(self.ours))]

    def spellings(self) -> list[str]:
        """Every name as it may be written; those that take a setting with their brackets."""
        return [f"{name}[{self.takes[name]}]" if name in self.takes else name for name in self.names()]

    def parted(self, name: str) -> tuple[str, str | None]:
        """`NAME[ARGUMENT]`, or `NAME:ARGUMENT` where NAME is built in, as two parts, other named settings left out; the
        argument may stand by its name, too, and is None where there is none."""
        base, argument, written = self._read(name)
        if argument is None and written:
            argument = written.get(getattr(self.find(base), "argument", None) or "")
        return base, argument

    def _read(self, name: str) -> tuple[str, str | None, dict[str, str]]:
        """Name, argument, and named settings as they are written; InputError for one that is given twice."""
        if not isinstance(name, str):
            raise InputError(f"{self.kind} {told(name)}: a name is due.")
        found = re.fullmatch(r"([^\[\]]+)\[(.+)\]", name)
        if not found:
            head, colon, after = name.partition(":")
            return (head, after, {}) if colon and after and head in self.ours else (name, None, {})
        argument: str | None = None
        written: dict[str, str] = {}
        for piece in _named_pieces(found[2]):
            key, equals, value = piece.partition("=")
            if not re.fullmatch(_SETTING, key + equals):
                argument = piece
            elif key in written:
                raise InputError(f"{self.kind} {name}: {key} is given twice.")
            else:
                written[key] = value
        return found[1], argument, written

    def _check_types(self, base: str, factory: Callable[..., Any], settings: Mapping[str, Any]) -> None:
        """Raise InputError for one of `settings` of another type than the class gives it."""
        kinds = _kinds_of(factory)
        for key in settings.keys() & kinds.keys():
            plain = _PLAIN & {kinds[key], *get_args(kinds[key])}
            if not plain and get_origin(kinds[key]) is not Literal:
                continue  # objects with methods, which are not looked at
            value = settings[key]
            is_number = isinstance(value, Real) and not isinstance(value, bool)  # numpy's, too
            given = int(value) if isinstance(value, Integral) and is_number else float(value) if is_number else value
            try:
                msgspec.convert(os.fspath(given) if isinstance(given, os.PathLike) else given, kinds[key])
            except msgspec.ValidationError as error:
                raise InputError(f"{self.kind} {base!r}: {key}={told(value)} cannot be ({error}).") from None

    def _argument(self, base: str, factory: Callable[..., Any], key: str, value: str) -> Any:
        """The argument in brackets, of the type that the class gives it where that is a plain one; else the text."""
        kind = _kinds_of(factory).get(key, str)
        is_plain = kind is not str and str not in get_args(kind) and bool(_PLAIN & {kind, *get_args(kind)})
        return self._typed(base, factory, key, value) if is_plain or get_origin(kind) is Literal else value

    def _typed(self, base: str, factory: Callable[..., Any], key: str, value: str) -> Any:
        """A setting as the type that the class gives it; InputError where it has none of that name or type."""
        kinds = _kinds_of(factory)
        known = [one for one in kinds if not one.startswith("_")]
        if key not in known:
            hint = near_names(key, known)
            raise InputError(f"{self.kind} {base!r} has no setting {key!r}.{hint} There are {', '.join(known)}.")
        kind = kinds[key]
        raw = re.split(r"\s*,\s*", value) if tuple in (get_origin(kind), *map(get_origin, get_args(kind))) else value
        try:
            made = msgspec.convert(raw, kind, strict=False)
        except (msgspec.ValidationError, TypeError) as error:
            choices = f"; there are {', '.join(map(str, get_args(kind)))}" if get_origin(kind) is Literal else ""
            raise InputError(f"{self.kind} {base!r}: {key}={value} cannot be ({error}){choices}.") from None
        if any(is_beyond_use(key, one) for one in (made if isinstance(made, tuple) else [made])):
            raise InputError(f"{self.kind} {base!r}: {key}={value} is infinite, no number, or too large.")
        return made

    def announced(self) -> dict[str, str]:
        """Name to `module:attribute` of what installed packages register."""
        return {point.name: point.value for point in _points(entry_points, self.group, tuple(sys.path))}


_PLAIN = frozenset((bool, int, float, str))

_TOLD: set[tuple[str, str]] = set()
"""Kinds and built-in names of which it was said that a package announces them too."""


@lru_cache(maxsize=32)
def _points(find: Callable[..., Iterable[EntryPoint]], group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """What packages in the folders of `path` announce: `find` reads the records of all of them each time."""
    return tuple(find(group=group))


def _whose(point: EntryPoint) -> str:
    """The distribution that announces an entry point."""
    return getattr(point.dist, "name", "") or "a package"


def split_names(text: str) -> list[str]:
    """The parts of `text` between commas that stand in no brackets: `"a,b[c,d=e]"` to `["a", "b[c,d=e]"]`."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _kinds_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """The type of every parameter of a class or function; texts where it has none, or one that only type checkers
    import."""
    try:
        parameters = inspect.signature(factory, eval_str=True).parameters
    except Exception:  # whatever somebody's annotation raises
        parameters = inspect.signature(factory).parameters
    here = dict(vars(sys.modules[factory.__module__]))
    kinds: dict[str, Any] = {}
    for name, parameter in parameters.items():
        kind = parameter.annotation
        if isinstance(kind, str):
            with suppress(Exception):
                kind = eval(kind, here)
        kinds[name] = str if kind is inspect.Parameter.empty or isinstance(kind, str) else kind
    return kinds


_SETTING = r"[a-z_][a-z0-9_]*="
"""How a named setting begins; a path that begins so is written with `./` before it."""


def _named_pieces(inside: str) -> list[str]:
    """What stands in brackets, parted where a named setting begins; blanks beside a parting are no part of it."""
    pieces: list[str] = []
    for part in split_names(inside):
        if not pieces or re.match(_SETTING, part.lstrip()):
            pieces.append(part)
        else:
            pieces[-1] += f",{part}"
    return [piece.strip() for piece in pieces]


def _is_required(factory: Callable[..., Any], parameter: str) -> bool:
    found = inspect.signature(factory).parameters.get(parameter)
    return found is not None and found.default is inspect.Parameter.empty
