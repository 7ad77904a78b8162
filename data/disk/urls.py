"""Addresses in object stores, and the local folders that stand for them: `s3://bucket/pool` is `.../s3/bucket/pool`.

Folders keep the order of the addresses, so a path from one to another is the same here as there. This module knows
names alone, and commands that have them among their words; `stores` moves the files.
"""

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

from swag_af.data.errors import InputError

PROTOCOLS = {"s3": "s3", "gs": "gs"}
"""What an address may begin with, and the extra that brings its package."""

RECORDS_ONLY = {"fetch": "records"}
"""Metadata of an option whose folder is written, not read: small files are fetched, which say what is there."""

ROOTS: list[Path] = []
"""Where the mirrors of this process are; empty until an address is met."""


def is_url(text: str | Path) -> bool:
    """Whether `text` is an address in a store, as it is typed, or as a Path has it (`s3:/bucket/pool`)."""
    return re.match(rf"(?:{'|'.join(PROTOCOLS)}):/", str(text)) is not None


def urls_in(value: Any) -> list[str]:
    """The addresses among the paths of a path, a tuple, or a dataclass and those within it."""
    if isinstance(value, Path):
        return [normal_url(value)] if is_url(value) else []
    if isinstance(value, tuple):
        return [url for one in value for url in urls_in(one)]
    return (
        [url for field in fields(value) for url in urls_in(getattr(value, field.name))] if is_dataclass(value) else []
    )


def check_addresses(value: Any) -> None:
    """Raise InputError for a path that looks like an address of another kind, `hdfs://host/pool`: it would be taken for
    a folder called `hdfs:`."""
    if isinstance(value, Path) and str(value).removesuffix(":") in PROTOCOLS and str(value).endswith(":"):
        raise InputError(f"{value}//: no bucket is named. Write {value}//BUCKET/PATH.")
    if (
        isinstance(value, Path)
        and not is_url(value)
        and (found := re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", str(value)))
    ):
        known = " and ".join(f"{one}://BUCKET/PATH" for one in PROTOCOLS)
        slashes = "//" if found[1] == "file" else "/"  # of which a path keeps one
        given = f"{found[0]}{slashes}{str(value)[len(found[0]) :]}"
        raise InputError(
            f"{given}: no address that is known; there are {known}. A folder of that name needs its whole path."
        )
    if isinstance(value, tuple):
        for one in value:
            check_addresses(one)
    if is_dataclass(value):
        for field in fields(value):
            check_addresses(getattr(value, field.name))


def normal_url(text: str | Path) -> str:
    """The address with two slashes, and none at its end."""
    protocol, _, rest = str(text).partition(":")
    return f"{protocol}://{re.sub('/+', '/', rest).strip('/')}"


def place_of(url: str, root: Path) -> Path:
    """The folder or file that stands for `url` below `root`."""
    protocol, _, rest = url.partition("://")
    return root.joinpath(protocol, *rest.split("/"))


def url_of(path: Path) -> str | None:
    """The address that `path` stands for; None for a path of this machine."""
    for root in ROOTS:
        if path.is_relative_to(root):
            protocol, *rest = path.relative_to(root).parts
            return f"{protocol}://{'/'.join(rest)}"
    return None


def name_of(path: Path) -> str:
    """`path` as records name it: its address where it stands for one."""
    return url_of(path) or str(path)


def as_told(text: str) -> str:
    """`text` for people, with addresses in place of the folders that stand for them."""
    for root in ROOTS:
        for protocol in PROTOCOLS:
            text = text.replace(f"{root / protocol}/", f"{protocol}://")
    return text


def link(path: Path, start: Path) -> str:
    """What a record in folder `start` keeps to find `path` again: the way from there.

    Where one of the two is in a store and the other is not, or in another bucket, the address, or the whole path.
    """
    there, here = url_of(path), url_of(start)
    if _bucket(there) == _bucket(here):
        return os.path.relpath(path.resolve(), start.resolve())
    return there or str(path.resolve())


def _bucket(url: str | None) -> str | None:
    return None if url is None else "/".join(url.split("/")[:3])


def command(*words: object) -> str:
    """`swag-af` and these words, each quoted where a shell would read it otherwise; addresses in place of mirrors.

    `command("show", Path("my run"))` is `swag-af show 'my run'`.
    """
    return shlex.join(["swag-af", *(as_told(str(word)) for word in words)])


def option_words(kind: type, options: Mapping[str, Any]) -> list[str]:
    """The words by which a verb that takes the dataclass `kind` is given `options`, which are as `asdict` gives them.

    What has no default comes first, and options at their defaults are left out.
    """
    named = [value for _, value, default in _flat(kind, options) if default is MISSING]
    several = (value if isinstance(value, list | tuple) else [value] for value in named)
    return [*(str(one) for values in several for one in values), *flags(_differing(kind, options))]


def command_for(verb: str, options: Any, *, but: Collection[str] = ()) -> str:
    """The command line that runs `verb` with `options`, an object of its dataclass, as they were given, `but` those."""
    told = {name: value for name, value in asdict(options).items() if name not in but}
    return command(verb, *option_words(type(options), told))


def flags(options: Mapping[str, Any]) -> list[str]:
    """`--folds 3` and the like, for each of `options` by name."""
    words: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif isinstance(value, list | tuple):
            words += [flag, *map(str, value)]
        else:
            words += [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
    return words


def told_otherwise(options: Any) -> dict[str, Any]:
    """What a record keeps of the dataclass `options`: those that are not their defaults, by name; of paths their names.

    Options of dataclasses within it stand beside its own, as they do on the command line.
    """
    found = _differing(type(options), asdict(options))
    return {name: value.name if isinstance(value, Path) else value for name, value in found.items()}


def _differing(kind: type, options: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value, default in _flat(kind, options):
        if isinstance(value, list | tuple):
            is_other = tuple(value) != default
        else:
            is_other = value is not None and str(value) != str(default)
        if is_other and default is not MISSING:
            found[name] = value
    return found


def _flat(kind: type, options: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Name, value and default of every option, including those of nested dataclasses."""
    for field in fields(kind):
        if field.name not in options:
            continue
        value = options[field.name]
        if isinstance(field.type, type) and is_dataclass(field.type):
            yield from _flat(field.type, value)
        else:
            yield field.name, value, field.default
