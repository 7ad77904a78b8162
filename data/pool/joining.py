"""Shards that were made one by one, perhaps on several machines, before they become a pool: each of this pool, under
its own number, and whole.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import read_array
from swag_af.data.disk.manifests import differences, read_manifest, write_manifest
from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.folder import CONTEXT_TAGS, GUARD_TABLES, read_shard_entry, shard_path
from swag_af.data.stores.opened import mirror_of

_AWAY = "Take it away, and run the same command again."


def read_entries(folder: Path, n: int, plan: Mapping[str, Any]) -> list[dict[str, Any] | None]:
    """What is known of each of `n` shards, None of one that is not made yet; InputError for one of another pool, and
    for one that stands under another's number."""
    entries = [read_shard_entry(folder, number) for number in range(n)]
    for number, entry in enumerate(entries):
        path = shard_path(folder, number)
        begun = (entry or {}).get("plan")  # older releases wrote none
        others = differences(begun, dict.fromkeys(begun) | dict(plan)) if isinstance(begun, dict) else []
        if others:
            raise InputError(f"{path}: made for another pool, with other {', '.join(others)}. {_AWAY}")
        if entry and entry["name"] != path.name:
            raise InputError(f"{path}: this is shard {entry['name']} of the pool. {_AWAY}")
    return entries


def check_tables(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Raise FormatError where a table of a shard is gone, or is no table of its size: a copy may have been cut short.

    Reads what stands before the values, and no value: their hashes are checked by who reads them. Nothing is asked of
    a folder that stands for an address, whose tables are not fetched for this.
    """
    if mirror_of(folder) is not None:
        return
    for number, entry in enumerate(entries):
        path = shard_path(folder, number)
        for table in entry["tables"]:
            try:
                read_array(path / f"{table}.npy", mode="r")
            except (FormatError, OSError) as error:
                fault = (
                    error.strerror if isinstance(error, OSError) else str(error).partition(": ")[2].partition(". ")[0]
                )
                raise FormatError(
                    f"{path / table}.npy: {fault}. Remove the folder {path.name}, and run the same command again: that "
                    "shard alone is made anew."
                ) from None


def begin(folder: Path, plan: Mapping[str, Any]) -> None:
    """Write the manifest of a pool whose shards are to be made."""
    write_manifest(folder, "pool", {"complete": False, "plan": plan})


def is_whole(folder: Path, n: int, plan: Mapping[str, Any]) -> bool:
    """Whether the pool in `folder` is complete; where shards of a complete one are gone, it is begun again, to have
    them made.

    Raises InputError where they cannot be: the others were guarded or tagged anew since, or have other tables.
    """
    manifest = read_manifest(folder, "pool")
    if not manifest["complete"]:
        return False
    gone = [number for number in range(n) if not shard_path(folder, number).exists()]
    if not gone:
        return True
    standing = filter(None, (read_shard_entry(folder, number) for number in range(n)))
    made = next((set(entry["tables"]) for entry in standing), set(manifest["tables"]) - {*GUARD_TABLES, *CONTEXT_TAGS})
    if manifest["tagger"] != plan["tagger"] or set(manifest["tables"]) != made:
        raise InputError(
            f"{shard_path(folder, gone[0])}: gone, and the pool was tagged or guarded since it was made. Put the "
            "folder back, or make the pool again."
        )
    begin(folder, plan)
    return False
