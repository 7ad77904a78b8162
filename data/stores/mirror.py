"""The local copy of a folder or a file in a store: fetched before it is read, sent as its files are finished.

The store wins: what differs there is fetched anew, and what is gone there is removed here. What was changed here since
it was last sent stays: a command that was killed had taken the old file away there, and nobody else has the new one.
A folder that is gone there goes here only where all that it has was sent; else it is moved aside, and that is told.
Files that are new or changed here are sent in the order in which they were written, those that make others count last
(`COMMITS`), and what we remove is removed there at once. So the store is at every moment as the folder was at some
moment, and whoever fetches it goes on from there. Of another machine's files that are made under the same name, the
first stays. What somebody else deletes here, say a cleaner of caches, stays there.

What stays here: names with a leading point (temporary files, rows of unfinished shards) and `LOCAL`.

    MIRRORS/s3/bucket/pool/...      the files
    MIRRORS/.seen/HASH.json         what each was when it was last fetched or sent
"""

import hashlib
import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import MANIFEST, is_clutter
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import part_of, remove_parts
from swag_af.data.disk.urls import place_of
from swag_af.data.display.terminal import tell, visible
from swag_af.data.errors import InputError
from swag_af.data.stores.remote import Entry, Store
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import note, progress

LOG = "log.jsonl"
COMMITS = (MANIFEST, "shard.json", LOG)
"""Files that say that others are there; beside a file, NAME.manifest.json does."""
LOCAL = ("checkpoints", "journal")
"""Folders that stay here: an unfinished fold, and answers that are not a pool yet, go on where they were begun."""
FILES = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".conllu"),
    *(".txt", ".toml", ".html", ".svg", ".xml", ".sarif"),
)
"""An address that ends so is of a file; it travels with the files that have its name and another ending."""

SMALL = 100_000
"""Bytes of a file that is always fetched."""
MEGABYTE = 1_000_000
_BATCH = 32
"""Files that are fetched or sent together."""


@dataclass(frozen=True)
class Seen:
    """A file as it was there and here when both were the same."""

    size: int
    tag: str
    mtime_ns: int
    """Of the local file."""


class Mirror:
    """The copy of `url` below `root`. With `records_only` large tables of shards stay there (`SMALL`)."""

    def __init__(self, url: str, root: Path, *, records_only: bool = False):
        self.url = url
        self.records_only = records_only
        self.path = place_of(url, root)
        self.is_file = self.path.suffix.lower() in FILES
        self.folder = self.path.parent if self.is_file else self.path
        self.store = Store(url.rpartition("/")[0] if self.is_file else url)
        seen = root / ".seen"
        self._record = seen / f"{hashlib.sha256(url.encode()).hexdigest()[:20]}.json"
        self._is_begun = False

    def has(self, path: Path) -> bool:
        """Whether `path` is one of the files, or a folder of them, that are kept the same here and there."""
        if not path.is_relative_to(self.folder):
            return False
        name = path.relative_to(self.folder).as_posix()
        return self._is_ours(name) and (not self.is_file or "/" not in name)

    def holds(self, path: Path) -> bool:
        """As `has`, whether it is kept the same or stays here: hidden files too."""
        if not path.is_relative_to(self.folder):
            return False
        first = path.relative_to(self.folder).as_posix().partition("/")[0]
        return not self.is_file or _stem(first.lstrip(".")) == _stem(self.path.name)

    def pull(self) -> None:
        """Fetch what is new or other there; remove here what was removed there, and what a killed fetch left."""
        with self._locked() as seen:
            remove_parts(self.folder, deep=not self.is_file)
            there = {n: e for n, e in self.store.entries(deep=not self.is_file).items() if self._is_ours(n)}
            self._drop_gone(there, seen)
            for name in [name for name in seen if not (self.folder / name).is_file()]:
                del seen[name]  # a cache that was cleared: what is there is not to be removed for that
            wanted = [name for name, entry in there.items() if not (self.records_only and _is_bulky(name, entry))]
            todo = [name for name in wanted if not self._is_here(name, there[name], seen.get(name))]
            self._fetch({name: there[name] for name in sorted(todo, key=_is_commit)}, seen)

    def _drop_gone(self, there: Mapping[str, Entry], seen: dict[str, Seen]) -> None:
        """Remove here what was removed there, but for files that were changed here since: nobody else has them."""
        here = [name for name in seen if self._is_there(name)]
        is_ours = bool(here) and all(self._is_new(name, seen) for name in here)  # put in place of what was there
        if seen and not there and not self.is_file and not is_ours:
            self._drop_folder(seen)  # made anew: nothing is left of what was here
        for name in [name for name in seen if name not in there and self._is_ours(name)]:
            if not self._is_new(name, seen):
                (self.folder / name).unlink(missing_ok=True)
            del seen[name]

    def _drop_folder(self, seen: dict[str, Seen]) -> None:
        """Remove the folder here, or, where anything in it is only here, move it beside itself, and say so.

        A hidden name is sent by no mirror, this one's or that of a folder above it.
        """
        found = [Path(folder) / name for folder, _, names in os.walk(self.folder) for name in names]
        names = [path.relative_to(self.folder).as_posix() for path in found if not is_clutter(path.name)]
        alone_here = sorted(name for name in names if name not in seen or self._is_new(name, seen))
        if not alone_here:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        places = (self.folder.with_name(f".{self.folder.name}.removed{end}") for end in _endings())
        aside = next(place for place in places if not os.path.lexists(place))
        os.replace(self.folder, aside)
        more = f" and {len(alone_here) - 1:,} more" if alone_here[1:] else ""
        line = f"{self.url}: removed there; {alone_here[0]}{more} {'were' if more else 'was'} only here, so what was "
        line += f"here is kept in {aside}. Copy from it what you need, and delete it."
        tell(visible(line), is_error=True)  # not by `note`, which would make an address of the path

    def take(self, names: Sequence[str]) -> None:
        """Fetch these files, which a worker has sent; hidden ones are removed there."""
        if not names:
            return
        with self._locked() as seen:
            there = self._entries(names)
            self._fetch({n: there[n] for n in there if not self._is_here(n, there[n], seen.get(n))}, seen)
            self._delete([name for name in there if not self._is_ours(name)], seen)

    def changed(self, path: Path) -> None:
        """Send the file or folder that was written at `path`, and first whatever an earlier run has not sent."""
        with self._locked() as seen:
            if path.is_dir():  # put in place of another one: what it has no more is gone, and what it has counts last
                within = [name for name in seen if self._is_within(name, path)]
                self._delete([name for name in within if not self._is_there(name) or _is_commit(name)], seen)
            names = self._unsent(path if self._is_begun else self.folder, seen)
            self._is_begun = True
            self._send(names, seen)

    def removed(self, path: Path) -> None:
        """Remove there the file or folder that was removed at `path`, on purpose."""
        with self._locked() as seen:
            self._delete([name for name in seen if self._is_within(name, path) and not self._is_there(name)], seen)

    def finish(self) -> None:
        """Send whatever is left, where anything was written."""
        if self._is_begun:
            with self._locked() as seen:
                self._send(self._unsent(self.folder, seen), seen)

    def send_left(self) -> None:
        """Send what a command that was killed here had not sent: the next one may find nothing left to write."""
        with self._locked() as seen:
            if left := self._unsent(self.folder, seen):
                note(f"{self.url}: sends what an earlier command had written here and not sent.")
                self._send(left, seen)

    def send_hidden(self, paths: Sequence[Path], *, are_kept: bool) -> list[str]:
        """Send those of `paths`, which this mirror holds, that stay here otherwise, rows of unfinished shards; returns
        the names of all. Unless they `are_kept`, rows are removed here."""
        names = {path.relative_to(self.folder).as_posix(): path for path in paths}
        if hidden := {name: path for name, path in names.items() if not self._is_ours(name)}:
            self.store.put(hidden)
            for name, path in hidden.items():
                if _is_hidden(name) and not are_kept:
                    path.unlink(missing_ok=True)
        return list(names)

    def _is_ours(self, name: str) -> bool:
        stays = _is_hidden(name) or bool(set(LOCAL) & set(name.split("/")))
        return not stays and (not self.is_file or _stem(name) == _stem(self.path.name))

    def _is_there(self, name: str) -> bool:
        return (self.folder / name).exists()

    def _is_within(self, name: str, path: Path) -> bool:
        return (self.folder / name).is_relative_to(path)

    def _names(self, path: Path) -> list[str]:
        """The files at or below `path` that are to be the same there, in the order in which they are sent."""
        found = [path] if path.is_file() else list(self._below(path))
        ours = [name for one in found if self._is_ours(name := one.relative_to(self.folder).as_posix())]
        written = {name: about.st_mtime_ns for name in ours if (about := self._about(name))}
        return sorted(written, key=lambda name: (_is_commit(name), written[name], name))

    def _unsent(self, path: Path, seen: dict[str, Seen]) -> list[str]:
        """Those of them that are new or changed since they were fetched or sent."""
        return [name for name in self._names(path) if self._is_new(name, seen)]

    def _below(self, path: Path) -> Iterator[Path]:
        """The files below a folder, but for those in folders that stay here, where other processes come and go."""
        for folder, folders, files in os.walk(path):
            folders[:] = [one for one in folders if not (self.is_file or one.startswith(".") or one in LOCAL)]
            yield from (Path(folder) / one for one in files)

    def _about(self, name: str) -> os.stat_result | None:
        """What the system knows of a file here; None of one that another process has removed meanwhile."""
        try:
            return (self.folder / name).stat()
        except FileNotFoundError:
            return None

    def _is_here(self, name: str, entry: Entry, seen: Seen | None) -> bool:
        """Whether what is there was fetched or sent before, and a file of it is here, changed since or not."""
        return seen is not None and seen.tag == entry.tag and (self.folder / name).is_file()

    def _is_new(self, name: str, seen: dict[str, Seen]) -> bool:
        about, known = self._about(name), seen.get(name)
        return about is not None and (
            known is None or (known.size, known.mtime_ns) != (about.st_size, about.st_mtime_ns)
        )

    def _fetch(self, there: dict[str, Entry], seen: dict[str, Seen]) -> None:
        with _megabytes(f"fetch {self.url}", sum(entry.size for entry in there.values())) as advance:
            for names in _batches(list(there)):
                parts = {n: part_of(self.folder / n) for n in names}  # not by `replacing`, which would have it sent
                for part in parts.values():
                    part.parent.mkdir(parents=True, exist_ok=True)
                try:
                    self.store.fetch(parts)
                    for name, part in parts.items():
                        self._settle(name, part, there[name], seen)
                finally:
                    for part in parts.values():
                        part.unlink(missing_ok=True)
                advance(sum(there[name].size for name in names))

    def _settle(self, name: str, part: Path, entry: Entry, seen: dict[str, Seen]) -> None:
        about = part.stat()
        if about.st_size != entry.size:
            raise InputError(
                f"{self.store.url}/{name}: {about.st_size:,} of {entry.size:,} bytes came, or it is being replaced. "
                "Run the same command again."
            )
        os.replace(part, self.folder / name)
        seen[name] = Seen(entry.size, entry.tag, about.st_mtime_ns)

    def _delete(self, names: Sequence[str], seen: dict[str, Seen]) -> None:
        """Remove the files there, those that make others count first."""
        for some in ([n for n in names if _is_commit(n)], [n for n in names if not _is_commit(n)]):
            self.store.delete(some)
            for name in some:
                seen.pop(name, None)

    def _send(self, names: Sequence[str], seen: dict[str, Seen]) -> None:
        """Put the files, in this order as far as it matters: commits one by one, after all others.

        Where others take the place of files there, the old commits, which would vouch for them, are removed first.
        """
        anew = [name for name in names if name in seen]
        old = [name for name in anew if _is_commit(name) and not _is_log(name)]
        if old and not all(_is_commit(name) for name in anew):
            self._delete(old, seen)
        n_bytes = sum((self.folder / name).stat().st_size for name in names)
        with _megabytes(f"send {self.url}", n_bytes) as advance:
            for batch in _batches([name for name in names if not _is_commit(name)]):
                stats = {name: (self.folder / name).stat() for name in batch}
                self.store.put({name: self.folder / name for name in batch})
                advance(self._settle_sent(stats, seen))
            for name in filter(_is_commit, names):
                path = self.folder / name
                stats = {name: path.stat()}
                if name in seen:
                    self.store.put({name: path})
                elif not self.store.put_new(name, path):  # another machine was faster: its file stays
                    self._give_way(name, seen)
                    continue
                advance(self._settle_sent(stats, seen))

    def _settle_sent(self, stats: Mapping[str, os.stat_result], seen: dict[str, Seen]) -> int:
        """Write down what was sent, which was `stats` here before; returns its bytes."""
        for name, entry in self._entries(list(stats)).items():
            seen[name] = Seen(entry.size, entry.tag, stats[name].st_mtime_ns)
        return sum(about.st_size for about in stats.values())

    def _give_way(self, name: str, seen: dict[str, Seen]) -> None:
        """Fetch what another machine has sent under `name`; InputError where by that it does other work than this."""
        ours = (self.folder / name).read_bytes()
        self._fetch(self._entries([name]), seen)
        if _is_manifest(name) and (self.folder / name).read_bytes() != ours:
            raise InputError(
                f"{self.url}: another machine has begun other work here meanwhile. Run the same command again, which "
                "goes on with it or says in what it differs; or choose another --out."
            )

    def _entries(self, names: Sequence[str]) -> dict[str, Entry]:
        """What is there under these names."""
        found: dict[str, Entry] = {}
        for under in sorted({os.path.dirname(name) for name in names}):
            found |= self.store.entries(under, deep=False)
        return {name: found[name] for name in names if name in found}

    @contextmanager
    def _locked(self) -> Iterator[dict[str, Seen]]:
        """What was seen, for one process of this machine at a time; written down when the block is left."""
        with alone(self._record, is_told=False):
            kept = read_json(self._record) if self._record.exists() else {}
            seen = {
                name: parse_record(one, Seen, f"{self._record}: {name}", "Remove it.") for name, one in kept.items()
            }
            before = dict(seen)
            try:
                yield seen
            finally:
                if seen != before:
                    write_json(self._record, {name: asdict(one) for name, one in seen.items()})


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in name.split("/") if part != ".")


def _is_commit(name: str) -> bool:
    return name.rpartition("/")[2] in COMMITS or _is_manifest(name)


def _is_manifest(name: str) -> bool:
    return name.rpartition("/")[2] == MANIFEST or name.endswith(f".{MANIFEST}")


def _is_log(name: str) -> bool:
    """Whether it is a list to which only lines are added: an old one stays true."""
    return name.rpartition("/")[2] == LOG


def _is_bulky(name: str, entry: Entry) -> bool:
    """Whether it is a table, or the contexts, of a shard that is no small one."""
    return name.startswith("shards/") and not name.endswith(".json") and entry.size > SMALL


def _endings() -> Iterator[str]:
    """What tells names apart: nothing, -2, -3 ..."""
    yield ""
    yield from (f"-{n}" for n in itertools.count(2))


def _stem(name: str) -> str:
    return name.partition(".")[0]


@contextmanager
def _megabytes(label: str, n_bytes: int) -> Iterator[Callable[[int], None]]:
    """Progress in whole megabytes of `n_bytes`, told of bytes."""
    done = 0
    with progress(label, n_bytes // MEGABYTE, "MB") as advance:

        def add(n: int) -> None:
            nonlocal done
            before, done = done, done + n
            advance(done // MEGABYTE - before // MEGABYTE)

        yield add


def _batches(names: Sequence[str]) -> list[Sequence[str]]:
    return [names[at : at + _BATCH] for at in range(0, len(names), _BATCH)]
