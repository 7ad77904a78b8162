"""Our own pools and runs as questions: gold is stored first, so the order of the options is drawn."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import MANIFEST, check_manifest, sha256_file
from swag_af.data.instances.rows import Found, drawn_order
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.data.splits import join_pairs

KINDS = ("pool", "run")


def kind_of(path: Path) -> str:
    """`pool`, `run` or whatever else of ours the folder is; empty where it is none."""
    manifest = path / MANIFEST
    return str(check_manifest(read_json(manifest), manifest)["kind"]) if manifest.is_file() else ""


@dataclass(frozen=True)
class Own:
    """A pool with all its candidates, or a run with those assigned after its last iteration."""

    path: Path
    pool: CandidatePool
    texts: Iterable[Sequence[str]]
    """Of each row gold, then the others."""
    files: dict[str, str]
    """The hashes of the files that say what is in it."""
    said: str
    """How it is read."""


def open_own(path: Path) -> Own:
    """The pool or the run at `path`."""
    if kind_of(path) == "pool":
        pool = CandidatePool.open(path)
        texts: Iterable[Sequence[str]] = map(pool.texts_of_row, range(len(pool)))
        files, said = [path / MANIFEST], "gold and all candidates of a pool"
    else:
        run = open_run(path)
        pool, texts = run.pool, run.texts()
        files = [path / name for name in (MANIFEST, "start.npy", "log.jsonl") if (path / name).exists()]
        said = f"the assignment after iteration {run.n_finished} of a run"
    hashes = {f"{path.name}/{file.name}": sha256_file(file) for file in files}
    said = f"{path.name}: read as {said}, in an order that was drawn; groups are those of the pool"
    return Own(path, pool, texts, hashes, said)


def group_names(pools: Sequence[CandidatePool]) -> list[list[str]]:
    """What the group of each row of each pool is called: by a video of it, or by a number that no other has.

    Groups of two pools are one where they have a video in common, or a row that is the same.
    """
    same = [context.named_video or context for pool in pools for context in pool.contexts]
    first = np.cumsum([0, *(int(pool.groups.max()) + 1 for pool in pools)])
    groups = np.concatenate([start + pool.groups for start, pool in zip(first[:-1].tolist(), pools, strict=True)])
    met: dict[str | Context, int] = {}
    joined = join_pairs(groups, [(met.setdefault(one, row), row) for row, one in enumerate(same)]).tolist()
    names: dict[int, str] = {}
    for number, one in zip(joined, same, strict=True):
        if isinstance(one, str):
            names.setdefault(number, one)
    named = iter([names.get(number, f"group {number}") for number in joined])
    return [list(islice(named, len(pool))) for pool in pools]


def questions_of(own: Own, groups: Sequence[str]) -> Iterator[Found]:
    """The questions of a pool or a run, whose rows are in `groups`."""
    rows = zip(own.pool.contexts, groups, own.texts, strict=True)
    for row, (context, group, given) in enumerate(rows):
        yield _question(context, group, given, f"{own.path.name}, row {row}")


def _question(context: Context, group: str, texts: Sequence[str], where: str) -> Found:
    options, gold = drawn_order(texts)
    media = json.dumps(context.media, sort_keys=True, ensure_ascii=False) if context.media else ""
    return Found(context.id, context.sent1, options, gold, context.start, group, "", where, media)
