"""Addresses in object stores, and the local folders that stand for them: `s3://bucket/pool` is `.../s3/bucket/pool`.

Folders keep the order of the addresses, so a path from one to another is the same here as there. This module knows
names alone, and commands that have them among their words; `stores` moves the files.
"""

import os
import re
import shlex
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

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
