"""What folders of ours say of themselves: manifests, hashes, and of what they were begun."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from swag_af.data.disk.files import plain, read_json, write_json
from swag_af.data.disk.records import AGAIN, MANIFESTS, check_record, parse_record
from swag_af.data.disk.replacing import check_output, check_there, remove_leftovers
from swag_af.data.disk.urls import command
from swag_af.data.errors import MOST_TOLD, FormatError, InputError

T = TypeVar("T")

FORMAT = 1
"""The version that every manifest carries; a reader stops at a newer one."""

MANIFEST = "manifest.json"


def write_manifest(folder: Path, kind: str, content: Mapping[str, Any]) -> None:
    """Write `folder/manifest.json`: format version and kind first, then `content`."""
    write_json(folder / MANIFEST, {"format": FORMAT, "kind": kind, **content})


def read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """The manifest of `folder`, of this `kind` and of a format version that this release reads."""
    path = folder / MANIFEST
    check_there(folder, f"no such folder. Check the path; `swag-af --help` lists what makes {an(kind)}.")
    if not folder.is_dir():
        raise FormatError(
            f"{folder}: this is a file, and {an(kind)} is a folder. {_of_table(folder, kind)}"
            f"`{command('show', folder)}` says what a file of ours is and what to run next."
        )
    if not path.is_file():
        hint = matched_hint(folder) or "Check the path."
        raise FormatError(f"{folder}: no {MANIFEST} here, so this is not {an(kind)}. {hint}")
    return check_manifest(read_json(path), path, kind)


def _of_table(path: Path, kind: str) -> str:
    """What makes a pool of the file at `path`, where a pool or a run is due."""
    made = f"If it is a table of questions, `{command('pool', path, '--out', 'pool')}` makes a pool of it; "
    return made if kind in ("pool", "run") else ""


def an(kind: str) -> str:
    """`a pool`, `an audit`; `an lm` and `an nli`, which are read letter by letter."""
    return f"{'an' if kind[:1] in 'aeiou' or kind.startswith(('lm', 'nli')) else 'a'} {kind}"


MATCHED = "matched.json"
"""The record of a folder of `swag-af match`, which holds a pool, a run and a file of questions."""


def matched_hint(folder: Path) -> str:
    """Where the run and the questions of a folder of `swag-af match` are; empty for other folders."""
    if not (folder / MATCHED).is_file():
        return ""
    return f"It is of `swag-af match`: its run is {folder / 'run'}, its questions {folder / 'matched.jsonl'}."


def check_manifest(manifest: Any, path: Path, kind: str | None = None) -> dict[str, Any]:
    """`manifest` itself when its format, its kind and the fields of that kind are right; FormatError otherwise."""
    if not isinstance(manifest, dict) or "format" not in manifest or not isinstance(manifest.get("kind"), str):
        raise FormatError(f"{path}: not a manifest of swag-af. Check the path.")
    if manifest["format"] != FORMAT:
        raise FormatError(
            f"{path}: format {str(manifest['format'])[:20]}, and this release reads format {FORMAT}. "
            "Update swag-af, or make the folder again with this release."
        )
    if kind is not None and manifest["kind"] != kind:
        raise FormatError(
            f"{path}: this is {an(manifest['kind'])}, not {an(kind)}. `swag-af show` says what it is for."
        )
    if manifest["kind"] in MANIFESTS:
        check_record(manifest, MANIFESTS[manifest["kind"]], path)
    return manifest


def read_finished(path: Path, kind: str, of: type[T], advice: str = AGAIN) -> T:
    """The record `path`, by which a folder is known as finished, as an instance of `of`; FormatError names what is
    wrong with it, or says that it is not there."""
    if not path.is_file():
        raise FormatError(f"{path.parent}: no {path.name} here. Check the path; if its run was stopped: {advice}")
    return parse_record(check_manifest(read_json(path), path, kind), of, path, advice)


def check_ours(verb: str, folder: Path, *left: str) -> None:
    """As `check_output`, for a folder that `verb` begins or goes on with: InputError where it has something of others.

    It is known by its manifest; before that is written, a run that was killed leaves hidden files and those whose names
    match one of the patterns in `left`, and nothing else may be there.
    """
    check_output(folder, force=True, folder=True)
    if folder.exists() and not (folder / MANIFEST).exists():
        patterns = (".*", *left)
        if not all(any(fnmatchcase(one.name, pattern) for pattern in patterns) for one in folder.iterdir()):
            raise made_by_others(verb, folder)


def check_replaceable(folder: Path, kind: str, *, force: bool) -> None:
    """As `check_output`, for a folder of this `kind`: `force` replaces such a one, and nothing else; nor one that has
    hidden files of others."""
    check_output(folder, force=True, folder=True)
    if folder.exists():
        if not (folder / MANIFEST).is_file():
            raise FormatError(f"{folder}: already exists, and is not {an(kind)}. Choose another --out.")
        read_manifest(folder, kind)
    check_output(folder, force=force, folder=True)
    check_nothing_lost(folder, kind)


CLUTTER = (
    *(".DS_Store", "._*", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints", ".nfs*"),
    *(".*.[0-9].tmp", ".*.[0-9]*[0-9].tmp", ".*.[0-9]*.part", ".*.lock"),
)
"""Names of what systems and Jupyter leave in folders, and of our own temporary files: nobody misses them. A folder that
was moved aside (`.old.tmp`) is none of them: it may be all that is left of it."""


def is_clutter(name: str) -> bool:
    """Whether a file or folder of this name may go with the folder that it is in."""
    return any(fnmatchcase(name, pattern) for pattern in CLUTTER)


def check_nothing_lost(folder: Path, kind: str, ours: Collection[str] | None = None) -> None:
    """Raise InputError where `folder`, which another one of this `kind` replaces whole, holds something of others that
    would go with it: what is neither among the names `ours` nor `CLUTTER`; where these are not given, as with --force,
    what is hidden, such as a `.git`. What killed runs left in it is cleared away first."""
    remove_leftovers(folder)
    names = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in names if (name not in ours if ours is not None else name.startswith("."))]
    theirs = [name for name in others if not is_clutter(name)]
    if theirs:
        more = f" and {len(theirs) - 1} more" if theirs[1:] else ""
        raise InputError(
            f"{folder}: {theirs[0]}{more} in it {'are' if more else 'is'} of no {kind}, and would go with the older "
            "one. Move it, or choose another --out."
        )


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_tree(path: Path) -> str:
    """Hex SHA-256 of a file, or of all files of a folder with their names; empty where there is nothing."""
    if path.is_file():
        return sha256_file(path)
    files = sorted(one for one in path.rglob("*") if one.is_file())
    return sha256_json([[str(one.relative_to(path)), sha256_file(one)] for one in files]) if files else ""


def version_of(package: str) -> str:
    """The version of a package that is installed; empty where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def sha256_json(value: object) -> str:
    """Hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=plain).encode()).hexdigest()


def sha256_json_list(values: Iterable[object]) -> str:
    """What `sha256_json` gives for the list of `values`, which are taken one by one."""
    digest, separator = hashlib.sha256(b"["), b""
    for value in values:
        digest.update(separator + json.dumps(value, sort_keys=True, default=plain).encode())
        separator = b", "
    digest.update(b"]")
    return digest.hexdigest()


def check_same(
    begun: Mapping[str, Any],
    now: Mapping[str, Any],
    path: Path,
    flag: str,
    *,
    sources: Mapping[str, str] | None = None,
    is_finished: bool = False,
) -> None:
    """Raise InputError naming what of `now` differs between how `path` was begun, or finished, and what is asked for
    now.

    `begun` was read from JSON: a tuple of `now` equals a list there. `sources` says whose source stands under a name,
    of somebody's own class: where that alone differs, the first command was repeated and the class was edited.
    """
    differing = differences(begun, now)
    whose = sources or {}
    edited = [whose[name] for name in (one.partition(" (")[0] for one in differing) if name in whose]
    if differing and len(edited) == len(differing):
        raise InputError(
            f"{path}: the source of {', '.join(edited)} has changed since this was begun. Undo the edit, or choose "
            f"another {flag}."
        )
    if differing:
        raise InputError(
            f"{path}: {'finished' if is_finished else 'begun'} with other {', '.join(differing)}. Repeat the first "
            f"command, or choose another {flag}."
        )


def differences(begun: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What of `now` is otherwise in `begun`, which was read from JSON: `seed (0, now 1)`; of settings that both have,
    the one that differs: `mlp: max_epochs (8, now 9)`."""
    found = []
    for name, asked in now.items():
        was, is_now = begun.get(name), as_read(asked)
        if name == "folds" and isinstance(was, list) and sorted(set(was)) == is_now:
            continue  # earlier checkouts wrote them as they were typed
        if isinstance(was, dict) and isinstance(is_now, dict):
            found += [f"{name}: {one}" for one in differences(was, dict.fromkeys(was) | is_now)]
        elif was != is_now:
            found.append(f"{name} ({_brief(was)}, now {_brief(is_now)})")
    return found


def _brief(value: Any) -> Any:
    """A setting as a message repeats it: nothing in words, and of a hash its first digits."""
    is_hash = isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value)
    return "not given" if value is None else value[:8] if is_hash else value


BEGUN = "begun.json"
"""In a work folder: what it is of."""


def begin_folder(folder: Path, identity: Mapping[str, Any]) -> None:
    """Write into the work `folder` what it is of, or find that there; what a killed run has done in it is kept.

    Raises InputError where it was begun for something else than `identity`, which has all that decides the bytes.
    """
    remove_leftovers(folder)
    begun = folder / BEGUN
    if begun.exists():
        check_same(read_json(begun), identity, begun, "--out")
    else:
        write_json(begun, identity)


def is_work(folder: Path, work: str, name: str = BEGUN) -> bool:
    """Whether the folder `work` in `folder` is ours: the file `name` in it says what was begun. Others may have one of
    that name, too."""
    path = folder / work / name
    begun = read_json(path) if path.is_file() else None
    return isinstance(begun, dict) and "swag_af" in begun


def is_bare(folder: Path, work: str, name: str = BEGUN) -> bool:
    """Whether `folder` holds nothing, or only what a run leaves there that was killed before it said what it began."""
    if not folder.exists() or not any(folder.iterdir()):
        return True
    alone = [path.name for path in folder.iterdir()] == [work] and (folder / work).is_dir()
    return alone and all(path.name.startswith(f".{name}.") for path in (folder / work).iterdir())


def check_made_by(verb: str, folder: Path, *records: str, work: str = "") -> None:
    """As `check_output`, for a folder that `verb` makes, goes on with or replaces: InputError where it holds something
    of others.

    It is known by one of its `records`; before any is written, by its folder `work`, which says what was begun.
    """
    check_output(folder, force=True, folder=True)
    is_known = any((folder / record).is_file() for record in records) or (bool(work) and is_work(folder, work))
    if not (is_known or is_bare(folder, work)):
        raise made_by_others(verb, folder)


def made_by_others(verb: str, folder: Path) -> InputError:
    """What is said of a `folder` that `verb` was to make, and that holds something of others."""
    return InputError(f"{folder}: this is there, and was not made by {verb}. Choose another --out.")


def as_read(value: Any) -> Any:
    """`value` as it is once it was written to JSON and read again: tuples are lists, paths are texts."""
    return json.loads(json.dumps(value, default=plain))


def shortened(value: Any) -> Any:
    """`value` as a message repeats it: what is long stands as its hash."""
    return value if len(str(value)) <= MOST_TOLD else f"sha256 {sha256_json(value)[:8]}"
