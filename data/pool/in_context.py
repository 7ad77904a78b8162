"""Tags in context: every candidate tagged in its own sentence, start and ending together, into tables of the pool.

`tags` (n, K, L) holds the tags of the endings, `start_tags` (n, S) those of the starts, each start tagged alone, since
all candidates of a row share it. Shards are finished one by one and kept, so a killed tagging resumes; until the last
one is done, the pool has none of these tables. Word types are tagged elsewhere (`taggers`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_json, write_array, write_json
from swag_af.data.disk.manifests import MANIFEST, version_of
from swag_af.data.disk.replacing import remove
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError
from swag_af.data.pool.folder import CONTEXT_TAGS, SHARDS, clear_pool
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import run_blocks
from swag_af.data.tags import CODES, Tagger, load_tagger, tags_of
from swag_af.data.tokens import capitalise
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import progress

PLAN = "tagging.json"
"""A file beside the manifest while tagging is in progress: which tagger is used, and by which versions."""

Rows = tuple[int, int]
"""`(begin, end)`: the rows of the pool from `begin` up to `end`."""

_BLOCK_SENTENCES = 4096


def tag_in_context(
    folder: Path, tagger_name: str, *, workers: int | None = 1, engine: EngineOptions | None = None
) -> CandidatePool:
    """Tag every candidate in its sentence, with `workers` processes; returns the pool with the two tables.

    Tags by another tagger are removed first. The tables are the same bytes whatever the number of processes and however
    often the work was interrupted.
    """
    with alone(folder / MANIFEST, waits=False, called=folder):
        return _tagged(folder, tagger_name, workers, engine)


def _tagged(folder: Path, tagger_name: str, workers: int | None, engine: EngineOptions | None) -> CandidatePool:
    clear_pool(folder)
    pool = CandidatePool.open(folder)
    tagger = load_tagger(tagger_name)
    if not isinstance(getattr(tagger, "sha256", None), str):
        raise ContractError(
            f"tagger {tagger_name}: a {type(tagger).__name__} has no `sha256`, a text by which its tags are known."
        )
    plan = {"context_tagger": tagger.name, "context_tagger_sha256": tagger.sha256}
    if "tags" in pool.tables:
        if all(pool.manifest.get(key) == value for key, value in plan.items()):
            remove(folder / PLAN)  # of a run that was killed after its last step but this
            return pool
        pool = pool.with_tables([t for t in pool.tables if t not in CONTEXT_TAGS], dict.fromkeys(plan))
    _begin(folder, plan | {name: version_of(name) for name in ("swag-af", "spacy")})
    _tag_shards(pool, _Job(folder, tagger_name, tagger), workers, engine)
    made = pool.with_tables([*pool.tables, *CONTEXT_TAGS], plan)
    remove(folder / PLAN)
    return made


def _begin(folder: Path, plan: dict[str, Any]) -> None:
    """Record the tagger and what it depends on; what another one left in the shards is deleted."""
    if (folder / PLAN).exists() and read_json(folder / PLAN) == plan:
        return
    remove_tables(folder)
    write_json(folder / PLAN, plan)


def remove_tables(folder: Path) -> None:
    """Delete what was tagged in context in the pool in `folder`, finished or not."""
    for path in (folder / SHARDS).glob("[0-9]*"):
        for table in CONTEXT_TAGS:
            remove(path / f"{table}.npy")
    remove(folder / PLAN)


def _tag_shards(pool: CandidatePool, job: "_Job", workers: int | None, engine: EngineOptions | None) -> None:
    """Write the tables of every shard that lacks them."""
    todo = _shards_to_do(pool, job.folder)
    blocks = [block for _, mine in todo for block in mine]
    done = len(pool) - sum(end - begin for begin, end in blocks)
    with (
        progress("tag", len(pool), "contexts", done=done) as advance,
        run_blocks(job, blocks, workers=workers, engine=engine) as made,
    ):
        for path, mine in todo:
            parts = []
            for _ in mine:
                parts.append(next(made))
                advance(len(parts[-1][0]))
            for table, arrays in zip(CONTEXT_TAGS, zip(*parts, strict=True), strict=True):
                write_array(path / f"{table}.npy", np.concatenate(arrays))


def _shards_to_do(pool: CandidatePool, folder: Path) -> list[tuple[Path, list[Rows]]]:
    """The shards that lack their tables, each with its rows in blocks."""
    n_rows, first, todo = max(1, _BLOCK_SENTENCES // pool.n_candidates), 0, []
    for entry in pool.manifest["shards"]:
        path, end = folder / SHARDS / entry["name"], first + int(entry["n_rows"])
        if not (path / f"{CONTEXT_TAGS[-1]}.npy").exists():
            begins = range(first, max(end, first + 1), n_rows)  # a shard without rows has tables without rows
            todo.append((path, [(begin, min(begin + n_rows, end)) for begin in begins]))
        first = end
    return todo


@dataclass(frozen=True)
class _Job:
    """Tagging a pool, in blocks of rows."""

    folder: Path
    tagger_name: str
    tagger: Tagger | None = None
    """The tagger, where this process has loaded it; another process loads its own."""

    def open(self) -> Callable[[Rows], tuple[np.ndarray, np.ndarray]]:
        return _Tagging(CandidatePool.open(self.folder), self.tagger or load_tagger(self.tagger_name)).tag

    def __reduce__(self) -> tuple[Any, ...]:
        return _Job, (self.folder, self.tagger_name)


@dataclass(frozen=True)
class _Tagging:
    """A pool and its tagger, opened in the process that uses them."""

    pool: CandidatePool
    tagger: Tagger

    def tag(self, block: Rows) -> tuple[np.ndarray, np.ndarray]:
        """`start_tags` (n, S) and `tags` (n, K, L) uint8 of the rows from `block[0]` up to `block[1]`."""
        rows = np.arange(*block)
        view = self.pool.view(rows, np.tile(np.arange(self.pool.n_candidates), (len(rows), 1)))
        starts, ends = _words(view.starts, view.start_lengths, self.pool.vocabulary.spellings), view.lengths
        tags, start_tags = np.zeros(view.tokens.shape, np.uint8), np.zeros(view.starts.shape, np.uint8)
        counts = self.pool.counts[rows]
        sentences = [_first_capital(start) for start in starts]
        places: list[tuple[int, int]] = []
        for i, start in enumerate(starts):
            endings = _words(view.tokens[i], ends[i], self.pool.vocabulary.spellings)
            for k in range(int(counts[i])):
                sentences.append(_first_capital([*start, *endings[k]]))
                places.append((i, k))
        tagged = tags_of(self.tagger, sentences)
        for i, codes in enumerate(tagged[: len(rows)]):
            start_tags[i, : len(codes)] = [CODES[tag] for tag in codes]
        for (i, k), codes in zip(places, tagged[len(rows) :], strict=True):
            tags[i, k, : ends[i, k]] = [CODES[tag] for tag in codes[len(starts[i]) :]]
        return start_tags, tags


def _words(ids: np.ndarray, lengths: np.ndarray, spellings: Sequence[str]) -> list[list[str]]:
    return [[spellings[i] for i in row[:n]] for row, n in zip(ids.tolist(), lengths.tolist(), strict=True)]


def _first_capital(words: list[str]) -> list[str]:
    return [capitalise(words[0]), *words[1:]] if words else []
