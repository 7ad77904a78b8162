"""Classes and functions that are not of this package: what tells one of them, its edits and its arguments apart.

A run goes on with what it began; a tokenizer that was edited meanwhile is another one, as is a class with another base.
What such a class raises, and what it says of itself that nobody can use, is told in one line that names it: it is no
bug of this package.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from swag_af.data.disk.manifests import sha256_file, sha256_json
from swag_af.data.disk.records import check_record
from swag_af.data.errors import ContractError, InputError, SwagAfError, blamed, in_one_line, told

OURS = "swag_af"


def is_own(made: Any) -> bool:
    """Whether a class, a function or what a class made is somebody else's."""
    return (getattr(_thing(made), "__module__", None) or "").partition(".")[0] != OURS


def is_installed(made: Any) -> bool:
    """Whether it is Python's own, or stands in an installed package."""
    thing = _thing(made)
    if getattr(thing, "__module__", None) in (None, "builtins"):
        return True
    try:
        file = Path(inspect.getfile(thing)).resolve()
    except (TypeError, OSError):
        return False
    folders = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(file.is_relative_to(Path(folder).resolve()) for folder in folders)


def source_of(made: Any) -> str | None:
    """The SHA-256 of the file in which somebody else's class or function stands; None for ours.

    Of the script that runs it is that of the class alone, so that the rest of it may change. Where Python knows no
    source, as in a notebook, it is that of what it compiled; None for what was not written in Python. Of a class
    with bases that were not installed either it is one of all their sources.
    """
    thing = inspect.unwrap(made) if hasattr(made, "__name__") else type(made)
    if not is_own(thing):
        return None
    bases = [one for one in getattr(thing, "__mro__", ())[1:] if is_own(one) and not is_installed(one)]
    sources = [source for source in map(_source_of_one, (thing, *bases)) if source]
    return sources[0] if len(set(sources)) == 1 else sha256_json(sources) if sources else None


def _source_of_one(thing: Any) -> str | None:
    try:
        if thing.__module__ == "__main__":
            return sha256_json(inspect.getsource(thing))
        file = inspect.getsourcefile(thing)
    except (TypeError, OSError):
        return compiled_of(thing)
    return sha256_file(Path(file)) if file and Path(file).is_file() else compiled_of(thing)


def name_and_source(thing: Any) -> str:
    """A class or a function by its module, name and source; one without a name of its own, as a lambda, by what it
    does as well."""
    does = compiled_of(thing) if "<" in thing.__qualname__ else None
    parts = (f"{thing.__module__}:{thing.__qualname__}", None if is_installed(thing) else source_of(thing), does)
    return " ".join(filter(None, parts))


def arguments_of(made: Any) -> dict[str, Any]:
    """The arguments of a constructor that it kept under their names, or under these behind a `_`."""
    kept = getattr(made, "__dict__", {})
    names = [(name, called) for name in _taken_by(made) for called in (f"_{name}", name)]
    return {name: kept[called] for name, called in names if called in kept}


def arguments_lost(made: Any) -> list[str]:
    """The arguments of a constructor that it did not keep so."""
    kept = arguments_of(made)
    return [name for name in _taken_by(made) if name not in kept]


def _taken_by(made: Any) -> list[str]:
    """The names of the arguments that the constructor of `made` takes."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    try:
        parameters = inspect.signature(type(made)).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.kind in named]


def takes_anything(made: Any) -> bool:
    """Whether the constructor of `made` takes arguments that it does not name, or Python cannot say which it takes."""
    anything = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    try:
        return any(one.kind in anything for one in inspect.signature(type(made)).parameters.values())
    except (TypeError, ValueError):
        return True


def compiled_of(thing: Any) -> str | None:
    """The SHA-256 of what Python made of a function, or of the methods and attributes of a class; None of others."""
    if isinstance(thing, type):
        own = {name: _unwrapped(one) for name, one in sorted(vars(thing).items()) if name != "__firstlineno__"}
        methods = {name: _instructions(one) for name, one in own.items() if inspect.isfunction(one)}
        return sha256_json(methods | {name: repr(one) for name, one in own.items() if _is_plain(one)})
    function = getattr(thing, "__func__", thing)
    return sha256_json(_instructions(function)) if inspect.isfunction(function) else None


def _thing(made: Any) -> Any:
    """A class or a function as it is, of anything else its class."""
    return made if hasattr(made, "__name__") else type(made)


def _unwrapped(attribute: Any) -> Any:
    """The function of a method of a class, a static one or a property."""
    attribute = getattr(attribute, "__func__", getattr(attribute, "fget", attribute))
    return inspect.unwrap(attribute) if callable(attribute) else attribute


def _instructions(function: Any) -> list[Any]:
    """Instructions, names, constants, defaults and what a function closes over, without its place in a file."""
    around = inspect.getclosurevars(function).nonlocals
    given = {"defaults": function.__defaults__ or (), **(function.__kwdefaults__ or {}), **around}
    return [*_of_code(function.__code__), *(f"{name}={one!r}" for name, one in given.items() if _is_plain(one))]


def _is_plain(value: Any) -> bool:
    """Whether a value's text is the same in every process."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float | bytes)


def _of_code(code: CodeType) -> list[Any]:
    constants = [_of_code(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    return [code.co_code.hex(), *code.co_names, *code.co_varnames, *constants]


def _constant(value: Any) -> str:
    """A constant as text; the order of a set's members differs between processes."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


@contextmanager
def blaming(made: Any, method: str, advice: str = "") -> Iterator[None]:
    """Tell what a `method` of somebody else's class raises as one line, with its place; what ours raises is our bug.

    What the system reports, as a full disk, is told as it is.
    """
    try:
        yield
    except (SwagAfError, OSError, MemoryError):
        raise
    except Exception as error:
        if not is_own(made):
            raise
        place = raised_at(error.__traceback__)
        where = f" It was raised by {place}." if place else ""
        raise blamed(error, f"{type(made).__name__}.{method}", f"{advice}{where}".strip()) from error


def raised_at(trace: TracebackType | None) -> str:
    """The file and line of the user's own code that raised, a filter's for example; empty where it was ours.

    Libraries raise for those who call them: of the frames the innermost counts that is of no library.
    """
    libraries = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
    for frame, line in reversed(list(traceback.walk_tb(trace))):
        module, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
        if module.partition(".")[0] == OURS:
            return ""
        if not file.startswith((*libraries, "<")):
            return f"{file}, line {line}, in {frame.f_code.co_name}"
    return ""


def recorded(value: Any, whose: str, advice: str = "", *, kind: Any = dict[str, Any]) -> dict[str, Any]:
    """What a class says of itself, as a manifest gives it back; ContractError where none can hold it, or where it is
    not of the `kind` that readers of manifests take."""
    if not isinstance(value, Mapping):
        raise ContractError(f"{whose} is {told(value)}, where a dict is due. {advice}".strip())
    try:
        made: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ContractError(f"{whose} is no JSON object ({error}). {advice}".strip()) from None
    check_record(made, kind, whose, advice, error=ContractError)
    return made


def name_fault(made: Any) -> str:
    """What is wrong with the name by which manifests and messages call a class of others; empty if nothing is."""
    name = getattr(made, "name", None)
    if not isinstance(name, str):
        return "no text `name`"
    return "" if name.strip() and name.isprintable() else f"a `name` that nobody can read, {told(name)}"


def lacks(made: Any, *methods: str) -> list[str]:
    """Which of `methods` a class of others lacks, and whether its name is one, as `has ...` goes on."""
    missing = [f"no method `{method}`" for method in methods if not callable(getattr(made, method, None))]
    return [*missing, *filter(None, [name_fault(made)])]


def requires_fault(made: Any) -> str:
    """What is wrong with the tables that a class of others requires; empty if nothing is."""
    names = getattr(made, "requires", ())
    is_right = isinstance(names, list | tuple | set | frozenset) and all(isinstance(one, str) for one in names)
    hint = f"({names!r},)" if isinstance(names, str) else '("features",)'
    return "" if is_right else f"a `requires` {told(names)}, where names of tables are due, as {hint}"


def said_of(made: Any, advice: str = "") -> list[str]:
    """The lines that somebody's filter or guard has to tell; ContractError where they are none."""
    if not hasattr(made, "said"):
        return []
    with blaming(made, "said", advice):
        said = made.said()
    if not isinstance(said, list | tuple) or not all(isinstance(line, str) for line in said):
        raise ContractError(
            f"{type(made).__name__}.said gave {told(said)}, where a list of lines is due. {advice}".strip()
        )
    return list(said)


def load_function(option: str, named: str) -> Callable[..., Any]:
    """The function that `FILE.py:NAME` or `MODULE:NAME` stands for, as `option` names it; InputError where there is
    none."""
    where, _, attribute = named.rpartition(":")
    if not where or not attribute:
        raise InputError(f"{option} {named}: not FILE.py:NAME or MODULE:NAME. Write it like checks.py:function.")
    try:
        module = _module_of(Path(where)) if where.endswith(".py") else importlib.import_module(where)
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {in_one_line(error)}"
        raise InputError(f"{option} {named}: importing {where} failed ({what}).") from error
    found: Callable[..., Any] | None = getattr(module, attribute, None)
    if not callable(found):
        raise InputError(f"{option} {named}: {where} has no function {attribute}. Check the name.")
    return found


def _module_of(path: Path) -> ModuleType:
    """The file as a module, where dataclasses find it by its name: its path, which no other module has."""
    name = os.path.abspath(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
