"""Second sentences split batch by batch: in this process, in several, or on a cluster, each batch kept when it is done.

    .contexts.jsonl.splits/plan.json     the splitter, beside the contexts to be written
    .contexts.jsonl.splits/000012.json   the splits of a batch, and the hash of its sentences

A parser takes hours for a million sentences: killed and run again, `contexts` goes on at the next batch. The folder is
gone when the contexts are written.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from swag_af.data import tokens
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import sha256_file, sha256_json, sha256_tree, version_of
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import remove, remove_leftovers
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError
from swag_af.data.plugins.own_code import source_of
from swag_af.data.scale import run_blocks
from swag_af.data.syntax import splitters
from swag_af.data.syntax.splitters import Split, Splitter, load_splitter, splits_of
from swag_af.data.video import Caption

PLAN = "plan.json"
"""In the folder of batches: older than the contexts that were made of them."""

Splits = list[Split | None]
Captions = Sequence[Caption]
"""A batch."""


@dataclass(frozen=True)
class Splitting:
    """Who splits, and where it is kept."""

    name: str
    """The splitter, as it was asked for."""
    splitter: Splitter
    """The same, loaded here."""
    folder: Path
    workers: int | None = None
    where: EngineOptions | None = None

    @contextmanager
    def split(self, batches: Sequence[Captions]) -> Iterator[Iterator[Splits]]:
        """The splits of each batch, in order; those that are kept are not made again, and one batch is not kept."""
        plan = self._begin() if len(batches) > 1 else None
        known = [self._kept(number, batch) if plan else None for number, batch in enumerate(batches)]
        todo = [batch for batch, splits in zip(batches, known, strict=True) if splits is None]
        job = _SplitJob(self.name, self.splitter.name, self.splitter)
        with run_blocks(job, todo, workers=self.workers, engine=self.where) as made:
            yield (self._next(made, number, batch, known[number], plan) for number, batch in enumerate(batches))

    def clear(self) -> None:
        """Remove what is kept."""
        remove(self.folder)

    def _begin(self) -> dict[str, Any]:
        """The plan, which is in the folder; what another splitter left, or this one with other rules, is removed."""
        model = getattr(self.splitter, "model", None)  # the one at a path may be trained again
        plan = {
            "splitter": self.splitter.name,
            **{name: version_of(name) for name in ("swag-af", "spacy", "benepar", "textblob")},
            "source": source_of(self.splitter),
            "rules": _rules(),
            "model": sha256_tree(model) if isinstance(model, Path) else None,
        }
        if not self._plan.exists() or read_json(self._plan) != plan:
            self.clear()
            write_json(self._plan, plan)
        remove_leftovers(self.folder)
        return plan

    @property
    def _plan(self) -> Path:
        return self.folder / PLAN

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.json"

    def _kept(self, number: int, batch: Captions) -> Splits | None:
        """The splits of a batch, where its sentences are those that they were made of."""
        path = self._path(number)
        if not path.exists():
            return None
        kept = parse_record(read_json(path), _Kept, path, f"Remove {self.folder}, and run the command again.")
        return list(kept.splits) if kept.sha256 == _hash(batch) and len(kept.splits) == len(batch) else None

    def _next(
        self, made: Iterator[Splits], number: int, batch: Captions, known: Splits | None, plan: dict[str, Any] | None
    ) -> Splits:
        """The splits of a batch, kept where there is a `plan`."""
        if known is not None:
            return known
        splits = next(made)
        if plan:
            if not self._plan.exists():  # somebody removed the folder
                write_json(self._plan, plan)
            write_json(self._path(number), asdict(_Kept(_hash(batch), tuple(splits))))
        return splits


@dataclass(frozen=True)
class _Kept:
    """The file of a batch."""

    sha256: str
    splits: tuple[Split | None, ...]


@dataclass(frozen=True)
class _SplitJob:
    """Batches to be split; another process loads its own splitter."""

    name: str
    expected: str
    """What the splitter calls itself here: `auto` may be another one on another machine."""
    splitter: Splitter | None = None

    def open(self) -> Callable[[Captions], Splits]:
        splitter = self.splitter or load_splitter(self.name)
        if splitter.name != self.expected:
            raise InputError(
                f"--splitter {self.name}: {splitter.name} on a worker, where it is {self.expected} here. Install the "
                "same on all machines, or name one that all have."
            )
        return partial(splits_of, splitter)

    def __reduce__(self) -> tuple[Any, ...]:
        return _SplitJob, (self.name, self.expected)


def _rules() -> str:
    """Hex SHA-256 of the source by which splitters of this package cut."""
    files = sorted(Path(splitters.__file__).parent.rglob("*.py"))
    return sha256_json([sha256_file(file) for file in (*files, Path(tokens.__file__))])


def _hash(batch: Captions) -> str:
    return sha256_json([[caption.text, caption.tree] for caption in batch])
