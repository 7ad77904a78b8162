"""An unfinished shard, stored as one file per row, so that a killed run resumes at the next row.

    pool/shards/.00003.rows/000017.npz       the tables of the 18th context
    pool/shards/.00003.rows/000018.dropped   why the 19th has none; in a second line, what was drawn in vain

Rows may be added in any order. After the last one, the shard is written as a whole and these files are deleted.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import empty_array, parse_json, read_arrays, read_text, write_text
from swag_af.data.disk.records import Count, Counts, parse_record
from swag_af.data.disk.replacing import remove, remove_leftovers, replacing
from swag_af.data.errors import FormatError, SwagAfError
from swag_af.data.pool.folder import SHARDS, write_shard

_REJECTED = "rejected_"
_AGAIN = "Remove it and run the same command again."
_ROW_FILE = re.compile(r"(\d{6,9})\.(?:npz|dropped)")


class _Vain(TypedDict):
    """What was drawn for a row without candidates."""

    n_draws: Count
    rejected: Counts


def draft_path(folder: Path, number: int) -> Path:
    """The folder with the finished rows of shard `number` of the pool in `folder`."""
    return folder / SHARDS / f".{number:05d}.rows"


class ShardDraft:
    """The rows of shard `number` of the pool in `folder`; `row_tables` are those of one row, as a pattern.

    Several processes may add rows, each its own.
    """

    def __init__(self, folder: Path, number: int, row_tables: Mapping[str, np.ndarray]):
        self.folder = folder
        self.number = number
        self.pattern = dict(row_tables)
        self.path = draft_path(folder, number)
        remove_leftovers(self.path)

    def done(self) -> set[int]:
        """The rows that are finished, kept or dropped."""
        found = (_ROW_FILE.fullmatch(path.name) for path in self.path.glob("*"))
        return {int(name[1]) for name in found if name}

    def keep(self, row: int, tables: Mapping[str, np.ndarray], *, n_draws: int, rejected: Mapping[str, int]) -> None:
        """Store a row that has candidates; `rejected` counts the draws that were rejected for it, by reason."""
        counts = {_REJECTED + reason: np.array(n) for reason, n in rejected.items()}
        with replacing(self.path / f"{row:06d}.npz") as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, n_draws=np.array(n_draws), **counts, **tables)

    def copy(self, row: int, tables: Mapping[str, np.ndarray]) -> None:
        """Store a row that another pool has, for which nothing was drawn."""
        self.keep(row, tables, n_draws=0, rejected={})

    def drop(self, row: int, reason: str, n_draws: int = 0, rejected: Mapping[str, int] | None = None) -> None:
        """Record that a row has no candidates, and why; `rejected` counts the draws made in vain, by reason."""
        counts = json.dumps({"n_draws": n_draws, "rejected": dict(rejected or {})}) if n_draws else ""
        write_text(self.path / f"{row:06d}.dropped", "\n".join(filter(None, (reason, counts))))

    def finish(
        self,
        contexts: Sequence[Context],
        more: Mapping[str, np.ndarray],
        timing: Mapping[str, float] | None = None,
        *,
        lazy: Sequence[int] = (),
        notes: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Write the shard from the rows' files and delete them; returns the content of its `shard.json`.

        `contexts` and the tables in `more` have all rows, dropped ones included; `timing` is stored beside them; the
        columns `lazy` of its features are no part of its hash; `notes` are added to `shard.json`. Memory does not grow
        with the number of rows. Raises OSError where the disk has no room for the shard; the rows' files stay.
        """
        reasons, n_vain, vain = self._dropped()
        kept = [row for row in range(len(contexts)) if row not in reasons]
        tables = self._empty_tables(len(kept))
        n_draws, rejected, n_copied = self._fill(tables, kept)
        rejected.update(vain)
        entry = write_shard(
            self.folder,
            self.number,
            [contexts[row] for row in kept],
            tables | {name: table[kept] for name, table in more.items()},
            notes={
                "n_draws": n_draws + n_vain,
                "rejected_draws": dict(rejected),
                "drops": dict(Counter(reasons.values())),
                "dropped": {contexts[row].id: reason for row, reason in reasons.items()},
                **({"copied_rows": n_copied} if n_copied else {}),
                **(notes or {}),
            },
            timing=timing,
            lazy=lazy,
        )
        del tables
        remove(self.path)
        return entry

    def _dropped(self) -> tuple[dict[int, str], int, Counter[str]]:
        """Why rows have no candidates; how many draws these had, and how many of them were rejected and why."""
        reasons, n_draws, rejected = dict[int, str](), 0, Counter[str]()
        for path in sorted(self.path.glob("*.dropped")):
            reason, _, counts = read_text(path).partition("\n")
            reasons[int(path.stem)] = reason
            if counts:
                found = parse_record(parse_json(counts, path), _Vain, path, _AGAIN)
                n_draws += found["n_draws"]
                rejected.update(found["rejected"])
        return reasons, n_draws, rejected

    def _fill(self, tables: Mapping[str, np.ndarray], kept: Sequence[int]) -> tuple[int, Counter[str], int]:
        """Put the rows `kept` into `tables`, in that order; returns their draws, how many were rejected and why, and
        how many rows are copies."""
        n_draws, rejected, n_copied = 0, Counter[str](), 0
        try:
            for i, row in enumerate(kept):
                made = self._read(row)
                n_draws += int(made["n_draws"])
                n_copied += not made["n_draws"]
                rejected.update({k.removeprefix(_REJECTED): int(n) for k, n in made.items() if k.startswith(_REJECTED)})
                for name, table in tables.items():
                    table[i] = made[name]
        except SwagAfError:
            self._remove_tables()
            raise
        return n_draws, rejected, n_copied

    def _read(self, row: int) -> dict[str, np.ndarray]:
        """What `keep` wrote for the row; FormatError where it is not that."""
        path = self.path / f"{row:06d}.npz"
        made = read_arrays(path, _AGAIN)
        counts = {name: np.zeros((), np.int64) for name in ("n_draws", *made) if name not in self.pattern}
        for name, pattern in {**self.pattern, **counts}.items():
            if name not in made or (made[name].shape, made[name].dtype) != (pattern.shape, pattern.dtype):
                raise FormatError(f"{path}: damaged (no table {name} of the right shape). {_AGAIN}")
        return made

    def _empty_tables(self, n_rows: int) -> dict[str, np.ndarray]:
        """The tables of the shard, to be filled; all of the disk that they need is taken."""
        try:
            return {name: self._empty(name, n_rows) for name in self.pattern}
        except OSError:
            self._remove_tables()
            raise

    def _empty(self, name: str, n_rows: int) -> np.ndarray:
        shape, dtype = (n_rows, *self.pattern[name].shape), self.pattern[name].dtype
        return empty_array(self.path / f"{name}.npy", shape, dtype) if n_rows else np.zeros(shape, dtype)

    def _remove_tables(self) -> None:
        for name in self.pattern:
            remove(self.path / f"{name}.npy")
