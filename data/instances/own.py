"""Our own pools and runs as questions: gold is stored first, so the order of the options is drawn."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from swag_af.data.context import Context
from swag_af.data.files import read_json
from swag_af.data.instances.rows import Found, drawn_order
from swag_af.data.manifests import MANIFEST, check_manifest, sha256_file
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.run import open_run

KINDS = ("pool", "run")


def kind_of(path: Path) -> str:
    """`pool`, `run` or whatever else of ours the folder is; empty where it is none."""
    manifest = path / MANIFEST
    return str(check_manifest(read_json(manifest), manifest)["kind"]) if manifest.is_file() else ""


def questions_of(path: Path) -> tuple[Iterator[Found], dict[str, str], str]:
    """The questions of a pool with all its candidates, or of a run with those assigned after its last iteration.

    Also the hashes of the files that say what is in it, and how it was read.
    """
    if kind_of(path) == "pool":
        pool = CandidatePool.open(path)
        texts: Iterable[Sequence[str]] = (
            [pool.text(row, k) for k in range(count)] for row, count in enumerate(pool.counts.tolist())
        )
        files, said = [path / MANIFEST], "gold and all candidates of a pool"
    else:
        run = open_run(path)
        pool, texts = run.pool, run.texts()
        files = [path / name for name in (MANIFEST, "start.npy", "log.jsonl") if (path / name).exists()]
        said = f"the assignment after iteration {run.n_finished} of a run"
    hashes = {f"{path.name}/{file.name}": sha256_file(file) for file in files}
    said = f"{path.name}: read as {said}, in an order that was drawn; groups are those of the pool"
    return _questions(pool, texts, path.name), hashes, said


def _questions(pool: CandidatePool, texts: Iterable[Sequence[str]], name: str) -> Iterator[Found]:
    for row, (context, group, given) in enumerate(zip(pool.contexts, pool.groups.tolist(), texts, strict=True)):
        yield _question(context, group, given, f"{name}, row {row}")


def _question(context: Context, group: int, texts: Sequence[str], where: str) -> Found:
    options, gold = drawn_order(texts)
    return Found(context.id, context.sent1, options, gold, context.start, f"group {group}", "", where)
