"""Stores: a folder there is as it was here at some moment, and machines that share nothing else agree."""

import contextlib
import itertools
import json
import os
import pickle
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from signal import SIGKILL
from typing import Any

import fsspec
import pytest
from conftest import make_pool
from folders import files_of
from hypothesis import given, settings
from hypothesis import strategies as st
from killed import KilledError, break_after
from stores import BUCKET, content, files, in_fork, move_to, point_at, s3_server

from swag_af.cli.main import main
from swag_af.cli.storing import in_stores
from swag_af.data import scale
from swag_af.data.disk import urls
from swag_af.data.disk.files import read_array, read_json, write_json, write_text
from swag_af.data.disk.replacing import WATCHERS, changed, part_of, remove, replacing
from swag_af.data.disk.urls import as_told, is_url, link, normal_url, place_of, url_of, urls_in
from swag_af.data.engines.contract import cores_of
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.data.pool.folder import shard_hashes, shard_path
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.data.stores import opened
from swag_af.data.stores.mirror import SMALL as SMALL_BYTES
from swag_af.data.stores.mirror import Mirror
from swag_af.data.stores.remote import Store
from swag_af.data.stores.travelling import sent
from swag_af.lm.options import GenerateOptions
from swag_af.lm.verb import generate


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A machine whose cache is empty; nothing of it is left."""
    monkeypatch.setitem(urls.PROTOCOLS, "memory", "none")
    move_to(tmp_path / "cache", monkeypatch)
    fsspec.filesystem("memory").makedirs("b", exist_ok=True)
    yield monkeypatch
    opened.close()
    urls.ROOTS.clear()
    fsspec.filesystem("memory").store.clear()


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, s3_server(patch):
        yield


def test_addresses_are_known_as_typed_and_as_paths(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [is_url(text) for text in ("s3://b/p", Path("gs://b/p"), "pool", "http://b", "C:/s3:/b")] == [1, 1, 0, 0, 0]
    assert normal_url(Path("s3://b//p/")) == "s3://b/p"
    options = GenerateOptions(Path("c.jsonl"), Path("s3://b/lms"), Path("s3://b/pool"))
    assert urls_in(options) == ["s3://b/lms", "s3://b/pool"]
    patch.setattr(urls, "ROOTS", [tmp_path])
    pool, run = place_of("s3://b/p/pool", tmp_path), place_of("s3://b/run", tmp_path)
    assert url_of(pool) == "s3://b/p/pool"
    assert as_told(f"{pool}: damaged.") == "s3://b/p/pool: damaged."
    assert link(pool, run) == "../p/pool"
    assert link(pool, Path("run")) == "s3://b/p/pool"
    assert link(Path("pool"), run) == str(Path("pool").resolve())


NAMES = st.sampled_from(["manifest.json", "a.npy", "shards/0/shard.json", "shards/0/t.npy", ".rows/x", "n.jsonl"])
STEPS = st.lists(st.tuples(NAMES, st.one_of(st.sampled_from(["removed", "cleaned"]), st.integers(0, 9))), max_size=12)
"""Names, each written with a length, removed by a verb, or deleted by somebody else, who cleans a cache."""


@given(STEPS)
@settings(max_examples=20)
def test_the_store_has_what_was_written_and_not_removed_by_us(steps: list[tuple[str, int | str]]) -> None:
    """Against the obvious twin: a dictionary. A second machine that fetches at any time has the same files."""
    import tempfile

    twin: dict[str, bytes] = {}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setitem(urls.PROTOCOLS, "memory", "none")
        fsspec.filesystem("memory").store.clear()
        mirror = Mirror("memory://b/x", Path(folder) / "one")
        mirror.pull()
        for name, value in steps:
            path = mirror.path / name
            if isinstance(value, str):
                path.unlink(missing_ok=True)
                if value == "removed":
                    twin.pop(name, None)
                    mirror.removed(path)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x" * value + name)
                if name[0] != ".":
                    twin[name] = path.read_bytes()
                    mirror.changed(path)
            assert content("memory://b/x") == twin
        other = Mirror("memory://b/x", Path(folder) / "two")
        other.pull()
        mirror.finish()
        assert content("memory://b/x") == twin
        other.pull()
        assert files_of(other.path) == content("memory://b/x")


@pytest.mark.parametrize("by_another_process", [False, True])
@pytest.mark.parametrize("n_calls", range(5))
def test_a_killed_send_leaves_nothing_that_is_taken_for_whole(
    n_calls: int, by_another_process: bool, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A pool in place of another one, its sending killed after some calls of the store."""
    folder = opened.local("memory://b/pool")
    make_pool(n=4).save(folder)
    if by_another_process:
        opened.close()
        opened.local("memory://b/pool")
    calls = itertools.count()
    with pytest.MonkeyPatch.context() as killed:
        for name in ("put", "put_new", "delete"):
            killed.setattr(Store, name, broken(calls, n_calls, getattr(Store, name)))
        with pytest.raises(KilledError):
            make_pool(1, n=4).save(folder, force=True)
    move_to(tmp_path / "second", patch)
    other = opened.local("memory://b/pool")
    if (other / "manifest.json").exists():
        check_whole(CandidatePool.open(other))
    assert (other / "manifest.json").exists() == (n_calls < 1)  # call 0 removes what makes others count
    move_to(tmp_path / "cache", patch)
    again = opened.local("memory://b/pool")
    changed(again / "vocabulary.tsv")
    assert content("memory://b/pool").keys() >= {"manifest.json", "vocabulary.tsv"}


def check_whole(pool: CandidatePool) -> None:
    """A pool of one shard, whose tables are those that its manifest speaks of."""
    assert pool.path is not None
    tables = {name: read_array(shard_path(pool.path, 0) / f"{name}.npy") for name in pool.tables}
    assert shard_hashes(pool.contexts, tables)["sha256"] == pool.manifest["shards"][0]["sha256"]


@contextlib.contextmanager
def killed_at(n_calls: int) -> Iterator[None]:
    """A kill at that call by which the store is changed, counted from 0: what was seen is not written down either."""
    calls = itertools.count()
    with pytest.MonkeyPatch.context() as killed, pytest.raises(KilledError):
        for name in ("put", "put_new", "delete"):
            killed.setattr(Store, name, broken(calls, n_calls, getattr(Store, name)))
        killed.setattr("swag_af.data.stores.mirror.write_json", lambda *_: None)
        yield


@pytest.mark.parametrize("n_calls", range(5))
def test_a_folder_whose_sending_was_killed_is_kept_and_sent_by_the_next_command(
    n_calls: int, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next fetch took the manifest for one that was removed there, and removed the only copy."""
    folder = opened.local("memory://b/pool")
    make_pool(n=4).save(folder)
    with killed_at(n_calls):
        make_pool(1, n=4).save(folder, force=True)
    opened.close()
    assert CandidatePool.open(opened.local("memory://b/pool")).identity == make_pool(1, n=4).identity
    opened.opened("memory://b/pool").send_left()
    move_to(tmp_path / "second", patch)
    assert CandidatePool.open(opened.local("memory://b/pool")).identity == make_pool(1, n=4).identity


@pytest.mark.parametrize("by_another_write", [False, True])
@pytest.mark.parametrize("n_calls", range(5))
def test_what_was_left_is_sent_without_an_old_manifest_over_new_tables(
    n_calls: int, by_another_write: bool, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first sending was killed before all else, and the second one, of what it had left, after some calls."""
    folder = opened.local("memory://b/pool")
    make_pool(n=4).save(folder)
    with killed_at(0):
        make_pool(1, n=4).save(folder, force=True)
    opened.close()
    opened.local("memory://b/pool")
    with killed_at(n_calls):
        if by_another_write:
            write_text(folder / "added.txt", "")
        else:
            opened.opened("memory://b/pool").send_left()
    move_to(tmp_path / "second", patch)
    other = opened.local("memory://b/pool")
    assert (other / "manifest.json").exists() == (n_calls < 1)  # as in the test above
    if n_calls < 1:
        check_whole(CandidatePool.open(other))


@pytest.mark.parametrize("n_calls", range(3))
def test_a_log_is_in_the_store_while_what_was_left_beside_it_is_sent(
    n_calls: int, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It only grows: without it a run would begin anew elsewhere."""
    folder = opened.local("memory://b/run")
    for n in (1, 2):
        with killed_at(0) if n == 2 else contextlib.nullcontext():
            for name in ("timing.jsonl", "log.jsonl"):
                write_text(folder / name, "{}\n" * n)
    opened.close()
    opened.local("memory://b/run")
    (folder / "log.jsonl").write_text("{}\n" * 2)
    with killed_at(n_calls) if n_calls < 2 else contextlib.nullcontext():
        opened.opened("memory://b/run").send_left()
    assert content("memory://b/run")["log.jsonl"] == b"{}\n" * (2 if n_calls == 2 else 1)


def test_a_folder_is_kept_of_which_nothing_was_sent_and_all_of_the_old_one_is_gone(patch: pytest.MonkeyPatch) -> None:
    folder = opened.local("memory://b/x")
    for names in (("a", "manifest.json"), ("b", "manifest.json")):
        with killed_at(2) if "b" in names else contextlib.nullcontext(), replacing(folder) as made:
            for name in names:
                write_text(made / name, f"of {names[0]}")
    assert content("memory://b/x") == {}
    opened.close()
    opened.local("memory://b/x")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"b": "of b", "manifest.json": "of b"}


def test_a_folder_that_somebody_removed_in_the_store_goes_here_where_all_was_sent(patch: pytest.MonkeyPatch) -> None:
    folder = opened.local("memory://b/x")
    for name in ("manifest.json", "shards/0.npy"):
        write_text(folder / name, "here")
    opened.close()
    (folder / ".log.jsonl.host.123.tmp").touch()
    fsspec.filesystem("memory").rm("/b/x", recursive=True)
    opened.local("memory://b/x")
    assert not list(folder.parent.iterdir())


@pytest.mark.parametrize("name", ["log.jsonl", "added.npy", "shards/.0.rows/1", "journal/answers.jsonl"])
def test_a_folder_that_was_removed_in_the_store_is_moved_aside_with_what_is_only_here(
    name: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was changed, never sent or paid for went with the rest, unasked."""
    for ending in ("", "-2"):
        folder = opened.local("memory://b/top/x")
        for whole in ("manifest.json", "log.jsonl"):
            write_text(folder / whole, "here")
        opened.close()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"here alone{ending}")
        fsspec.filesystem("memory").rm("/b/top/x", recursive=True)
        opened.local("memory://b/top/x")
        assert not folder.exists()
        aside = folder.with_name(f".x.removed{ending}")
        assert (aside / name).read_text() == f"here alone{ending}"
        assert (aside / "manifest.json").read_text() == "here"
        said = capsys.readouterr().err
        assert said.startswith(
            f"memory://b/top/x: removed there; {name} was only here, so what was here is kept in {aside}."
        )
        opened.close()
    write_text(opened.local("memory://b/top") / "a.json", "{}")
    assert set(content("memory://b")) == {"top/a.json"}


@pytest.mark.parametrize("name", ["x", "x/a.jsonl"])
def test_what_a_killed_fetch_left_is_removed_by_the_next(name: str, patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a folder, in folders within it too, and of a file; what a process at work has fetched in part stays."""
    names = ["a.jsonl"] if "." in name else ["a.jsonl", "shards/0/tokens.npy"]
    for one in names:
        fsspec.filesystem("memory").pipe_file(f"/b/x/{one}", b"whole")
    fetch = Store.fetch

    def fetch_and_die(*given: Any) -> None:
        fetch(*given)
        os.kill(os.getpid(), SIGKILL)

    with patch.context() as dying:
        dying.setattr(Store, "fetch", fetch_and_die)
        assert in_fork(lambda: opened.local(f"memory://b/{name}")) == -SIGKILL
    folder = tmp_path / "cache/mirrors/memory/b/x"
    left = [path.relative_to(folder).as_posix() for path in folder.rglob("*.part")]
    assert len(left) == len(names)
    at_work = part_of(folder / "other.jsonl")
    at_work.touch()
    opened.local(f"memory://b/{name}")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == {*names, at_work.name}


CAPTIONS = {
    f"v_{i}": {
        "duration": 20.0,
        "timestamps": [[0.0, 9.0], [9.5, 19.0]],
        "sentences": [f"A man {verb} the {thing}.", f"He then {other} a {thing} to the woman."],
    }
    for i, (verb, thing, other) in enumerate(
        [("opens", "box", "gives"), ("washes", "car", "shows"), ("paints", "wall", "sells"), ("lifts", "dog", "hands")]
    )
}


@pytest.mark.parametrize("n_calls", range(6))
def test_what_a_killed_command_had_not_sent_is_sent_by_the_same_command(
    n_calls: int, server: None, patch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The next one found everything done in the mirror, wrote nothing, and left the bucket as it was."""
    (tmp_path / "videos.json").write_text(json.dumps(CAPTIONS), encoding="utf-8")
    where = f"s3://{BUCKET}/killed-{n_calls}"
    command = f"contexts {tmp_path}/videos.json --splitter rules --min-token-count 1 --out {where}/c.jsonl".split()

    def killed_by_the_system() -> None:
        calls = itertools.count()
        for name in ("put", "put_new", "delete"):
            patch.setattr(Store, name, dying(calls, n_calls, getattr(Store, name)))
        main(command)

    was_killed = in_fork(killed_by_the_system) == -SIGKILL
    assert was_killed or n_calls == 5
    assert (content(where).keys() >= {"c.jsonl", "c.manifest.json"}) != was_killed
    in_fork(lambda: main(command))
    if n_calls == 4:  # all was there but for the last put
        assert "sends what an earlier command had written here" in capfd.readouterr().err
    here = {path.name: path for path in (tmp_path / "cache" / f"mirrors/s3/{BUCKET}/killed-{n_calls}").iterdir()}
    assert content(where) == {name: path.read_bytes() for name, path in here.items() if name[0] != "."}
    assert here.keys() >= {"c.jsonl", "c.manifest.json"}


def test_a_fold_that_generate_trained_and_could_not_send_is_sent_by_the_next(patch: pytest.MonkeyPatch) -> None:
    """It trains the models that are missing into `--lms`, a folder beside the one it is asked for."""
    options = GenerateOptions(Path("contexts.jsonl"), Path("memory://b/lms"), Path("memory://b/pool"))
    with killed_at(1), in_stores(options) as local:
        for name in ("weights.safetensors", "manifest.json"):
            write_text(local.lms / "fold-0" / name, name)
    assert content("memory://b/lms").keys() == {"fold-0/weights.safetensors"}
    with in_stores(options):
        assert content("memory://b/lms").keys() == {"fold-0/weights.safetensors", "fold-0/manifest.json"}


def dying(calls: Iterator[int], n: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, at which the process is killed once `calls`, which several share, are more than `n`."""

    def counted(*given: Any, **named: Any) -> Any:
        if next(calls) >= n:
            os.kill(os.getpid(), SIGKILL)
        return function(*given, **named)

    return counted


def broken(calls: Iterator[int], n: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` that raises KilledError once `calls`, which several share, are more than `n`."""

    def counted(*given: Any) -> Any:
        if next(calls) >= n:
            raise KilledError
        return function(*given)

    return counted


def test_of_two_machines_the_first_to_begin_stays(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    one, two = (Mirror("memory://b/x", tmp_path / name) for name in "ab")
    for mirror in (one, two):
        mirror.pull()
        write_json(mirror.path / "manifest.json", {"by": mirror.path.parts[-4]})
    one.changed(one.path / "manifest.json")
    with pytest.raises(InputError, match="another machine has begun other work here meanwhile"):
        two.changed(two.path / "manifest.json")
    assert read_json(two.path / "manifest.json") == read_json(one.path / "manifest.json")
    two.changed(two.path / "manifest.json")


def test_of_two_machines_that_do_the_same_both_go_on(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for mirror in (Mirror("memory://b/x", tmp_path / name) for name in "ab"):
        mirror.path.mkdir(parents=True)
        write_json(mirror.path / "manifest.json", {"by": "both"})
        mirror.changed(mirror.path / "manifest.json")
        write_json(mirror.path / "log.jsonl", {"by": mirror.path.parts[-4]})
        mirror.changed(mirror.path / "log.jsonl")
    assert read_json(mirror.path / "log.jsonl") == {"by": "a"}


def test_names_are_no_patterns_of_others(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What stands in brackets was: `run[1]` written anew removed the files of `run1`."""
    for name in ("run1", "run[1]"):
        folder = opened.local(f"memory://b/{name}")
        write_text(folder / "a", name)
    remove(folder / "a")
    assert content("memory://b/run1") == {"a": b"run1"}
    assert content("memory://b/run[1]") == {}


def test_what_consoles_mark_folders_with_is_no_file(patch: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch) -> None:
    about = {
        "b/x/": {"type": "file", "size": 0},
        "b/x/sub/": {"type": "file", "size": 0},
        "b/x/a": {"type": "file", "size": 1},
    }
    monkeypatch.setattr(Store, "_found", lambda *_: about)
    assert Store("memory://b/x").entries().keys() == {"a"}


@pytest.mark.parametrize("name", ["rows.ndjson", "ROWS.JSONL"])
def test_files_are_known_by_their_endings(patch: pytest.MonkeyPatch, name: str) -> None:
    path = opened.local(f"memory://b/{name}")
    write_text(path, "{}")
    assert content("memory://b") == {name: b"{}"}


def test_what_is_fetched_in_parts_is_told_to_the_end(
    patch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each batch was counted in whole megabytes, and the rest of each forgotten."""
    patch.setattr("swag_af.data.stores.mirror._BATCH", 1)
    patch.setattr("swag_af.data.stores.mirror.MEGABYTE", 10)
    patch.setattr("swag_af.data.work.progress._SECONDS_BETWEEN_LINES", 0)
    folder = opened.local("memory://b/pool")
    for name in "abcde":
        write_text(folder / name, "x" * 6)
    opened.close()
    move_to(tmp_path / "elsewhere", patch)
    opened.local("memory://b/pool")
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("fetch ")]
    assert [line.partition(": ")[2].partition(",")[0] for line in told] == [f"{n} of 3 MB" for n in (0, 1, 1, 2, 3)]


def test_a_whole_bucket_is_no_folder(patch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="a whole bucket"):
        opened.local("memory://b/")


def test_a_link_to_another_bucket_is_followed(patch: pytest.MonkeyPatch) -> None:
    pool, run = opened.local("memory://b/pool"), opened.local("memory://c/run")
    assert link(pool, run) == "memory://b/pool"
    assert opened.followed(run, link(pool, run)) == pool


def test_files_that_go_while_a_folder_is_looked_at_are_left_out(patch: pytest.MonkeyPatch) -> None:
    """As those of other processes that share the mirror do."""
    path = opened.local("memory://b/pool")
    patch.setattr("swag_af.data.stores.mirror.os.walk", lambda folder: [(folder, [], ["gone.txt", "kept.txt"])])
    write_text(path / "kept.txt", "kept")
    opened.all_open()[0].finish()
    assert content("memory://b/pool").keys() == {"kept.txt"}


def test_the_store_wins_over_what_is_left_here(patch: pytest.MonkeyPatch) -> None:
    folder = opened.local("memory://b/x")
    for name in ("a", "b"):
        write_text(folder / name, "here")
    there = fsspec.filesystem("memory")
    there.pipe_file("/b/x/a", b"other")
    there.rm_file("/b/x/b")
    opened.refresh(folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a": "other"}


@pytest.mark.parametrize("records_only", [True, False])
def test_a_mirror_that_was_cleared_takes_nothing_from_the_store(records_only: bool, tmp_path: Path, patch: Any) -> None:
    """By `rm -r mirrors/*`, which leaves what is hidden."""
    mirror = Mirror("memory://b/x", tmp_path, records_only=records_only)
    mirror.pull()
    for name, size in {"shards/0/tokens.npy": SMALL_BYTES + 1, "shards/0/shard.json": 2}.items():
        (mirror.path / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror.path / name).write_bytes(b"x" * size)
        mirror.changed(mirror.path / name)
    shutil.rmtree(tmp_path / "memory")
    again = Mirror("memory://b/x", tmp_path, records_only=records_only)
    again.pull()
    write_text(again.path / "shards/1/shard.json", "{}")
    again.changed(again.path / "shards/1/shard.json")
    again.finish()
    assert content("memory://b/x").keys() == {"shards/0/tokens.npy", "shards/0/shard.json", "shards/1/shard.json"}


def test_what_a_cache_cleaner_deletes_during_a_run_stays_in_the_store(patch: pytest.MonkeyPatch) -> None:
    folder = opened.local("memory://b/x")
    for name in ("manifest.json", "shards/0/tokens.npy", "shards/1/tokens.npy"):
        write_text(folder / name, "here")
    (folder / "shards/0/tokens.npy").unlink()
    (folder / "manifest.json").unlink()
    shutil.rmtree(folder / "shards/1")
    write_text(folder / "new", "here")
    opened.opened("memory://b/x").finish()
    kept = {"manifest.json", "shards/0/tokens.npy", "shards/1/tokens.npy", "new"}
    assert content("memory://b/x").keys() == kept
    opened.refresh(folder)
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == kept


def test_what_we_remove_or_replace_is_removed_in_the_store(patch: pytest.MonkeyPatch) -> None:
    """Files, a folder, and what a replaced folder has no more, whether or not it was deleted here before."""
    folder = opened.local("memory://b/x")
    for name in ("a", "b", "work/0", "work/1/2", "shard/old", "shard/older", "shard/kept"):
        write_text(folder / name, "here")
    (folder / "b").unlink()
    for name in ("a", "b", "work", "never"):
        remove(folder / name)
    assert content("memory://b/x").keys() == {"shard/old", "shard/older", "shard/kept"}
    (folder / "shard/older").unlink()
    with replacing(folder / "shard") as made:
        made.mkdir()
        (made / "kept").write_text("anew")
    assert content("memory://b/x") == {"shard/kept": b"anew"}


def test_a_pool_that_is_tagged_anew_is_the_same_there(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its vocabulary is moved into place, and tables of tags are removed."""
    make_pool(n=4).save(opened.local("memory://b/pool"))
    opened.close()
    for tagged in (["--tagger", "rules", "--in-context"], ["--tagger", "none"]):
        main(["tag", "memory://b/pool", *tagged])
        assert content("memory://b/pool") == files_of(tmp_path / "cache/mirrors/memory/b/pool")


SMALL: dict[str, Any] = {"n_negatives": 3, "min_tokens": 2, "max_tokens": 14, "limit": 4, "shard_rows": 2}
SMALL |= {"tagger": "rules", "workers": 1}


def shard_command(i: int, **other: Any) -> list[str]:
    made = [f"--{name.replace('_', '-')}={value}" for name, value in (SMALL | other).items()]
    where = f"s3://{BUCKET}/w"
    named = [f"{where}/contexts.jsonl", "--lms", f"{where}/lms", "--out", f"{where}/pool"]
    return ["generate", *named, *made, "--shard", f"{i}/2"]


def send(contexts_path: Path, lms: Path) -> None:
    for path in contexts_path.parent.glob("contexts.*"):
        files().put_file(str(path), f"{BUCKET}/w/{path.name}")
    files().put(f"{lms}/", f"{BUCKET}/w/lms", recursive=True)


def without_names(manifest: bytes) -> Any:
    """A manifest but for the paths that were typed."""
    made = json.loads(manifest)
    made["made_by"]["options"] |= {"contexts": "", "lms": "", "out": ""}
    return made


def test_shards_by_processes_that_share_the_store_alone(
    server: None, patch: pytest.MonkeyPatch, contexts_path: Path, lms: Path, tmp_path: Path
) -> None:
    send(contexts_path, lms)
    generate(GenerateOptions(contexts_path, lms, tmp_path / "pool", **SMALL))

    def work(i: int, *, killed: bool = False) -> None:
        move_to(tmp_path / f"machine-{i}-{killed}", patch)
        if killed:
            patch.setattr(Store, "put", break_after(0, Store.put))
        main(shard_command(i))

    assert in_fork(lambda: work(2, killed=True)) != 0
    assert "shards/00001/shard.json" not in content(f"s3://{BUCKET}/w/pool")
    assert [in_fork(partial(work, i)) for i in (1, 2)] == [0] * 2
    made = content(f"s3://{BUCKET}/w/pool")
    alone = files_of(tmp_path / "pool", like="*.*")
    assert made.keys() == alone.keys()
    assert without_names(made["manifest.json"]) == without_names(alone["manifest.json"])
    varying = {"manifest.json"} | {name for name in made if name.endswith("timing.json")}
    assert {n: made[n] for n in made if n not in varying} == {n: alone[n] for n in alone if n not in varying}
    assert not [name for name, held in made.items() if str(tmp_path).encode() in held]


def test_workers_without_the_disk_send_their_rows(
    server: None, patch: pytest.MonkeyPatch, contexts_path: Path, lms: Path, tmp_path: Path
) -> None:
    """The engine is a copy of this process with a cache of its own; what it is given has been pickled."""

    @contextlib.contextmanager
    def elsewhere(job: Any, blocks: Sequence[Any], workers: Any, engine: Any) -> Iterator[Iterator[Any]]:
        def work() -> None:
            move_to(tmp_path / "worker", patch)
            do = pickle.loads(packed).open()
            (tmp_path / "made").write_bytes(pickle.dumps([do(block) for block in blocks]))

        packed = pickle.dumps(job)
        assert str(tmp_path / "cache").encode() not in packed
        assert in_fork(work) == 0
        yield iter(pickle.loads((tmp_path / "made").read_bytes()))

    send(contexts_path, lms)
    patch.setattr(scale, "_elsewhere", elsewhere)
    alone = generate(GenerateOptions(contexts_path, lms, tmp_path / "pool", **SMALL | {"limit": 2, "shard_rows": 1}))
    command = [*shard_command(1, limit=2, shard_rows=1)[:-2], "--out", f"s3://{BUCKET}/far", "--engine", "ray"]
    main(command)
    assert opened.local(f"s3://{BUCKET}/far").exists()
    assert json.loads(content(f"s3://{BUCKET}/far")["manifest.json"])["shards"] == alone.manifest["shards"]
    assert not [name for name in content(f"s3://{BUCKET}/far") if ".rows" in name]
    assert not [path for path in (tmp_path / "worker").rglob("*.rows/*") if path.is_file()]


@dataclass(frozen=True)
class MakesARow:
    """A job that writes what `generate` does of an unfinished shard."""

    folder: Path

    def open(self) -> Callable[[int], None]:
        return lambda number: write_text(self.folder / "shards/.00000.rows" / f"{number}.npz", "row")


@pytest.mark.parametrize("is_shared", [True, False])
def test_rows_that_were_sent_are_kept_by_workers_whose_cache_is_the_callers(
    is_shared: bool, patch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A caller that is killed goes on from them; elsewhere nobody would ever read them."""
    job = sent(MakesARow(opened.local("memory://b/pool")))
    if not is_shared:
        move_to(tmp_path / "worker", patch)
    made = job.open()(3)
    WATCHERS.pop()  # the worker's
    names = ["shards/.00000.rows/3.npz"]
    assert made == (None, {"memory://b/pool": names})
    assert (place_of("memory://b/pool", urls.ROOTS[0]) / names[0]).exists() == is_shared
    move_to(tmp_path / "cache", patch)
    folder = opened.local("memory://b/pool")
    opened.opened("memory://b/pool").take(names)
    assert (folder / names[0]).read_text() == "row"
    assert content("memory://b/pool") == {}


@pytest.mark.parametrize("n_caches", [1, 2])
def test_models_that_workers_train_are_in_the_store_when_they_are_told(
    server: None, patch: pytest.MonkeyPatch, contexts_path: Path, tmp_path: Path, n_caches: int
) -> None:
    """Beside the contexts' file, whose mirror is of the folder above; by workers with one cache or with two."""

    @contextlib.contextmanager
    def elsewhere(job: Any, blocks: Sequence[Any], workers: Any, engine: Any) -> Iterator[Iterator[Any]]:
        packed = pickle.dumps(job)

        def work(number: int) -> None:
            move_to(tmp_path / f"worker-{number % n_caches}", patch)
            (tmp_path / "made").write_bytes(pickle.dumps(pickle.loads(packed).open()(blocks[number])))

        def results() -> Iterator[Any]:
            for number in range(len(blocks)):
                assert in_fork(partial(work, number)) == 0
                yield pickle.loads((tmp_path / "made").read_bytes())
                there = content(f"s3://{BUCKET}/t{n_caches}/lms")
                assert {"manifest.json", "weights.safetensors"} <= {
                    name.rpartition("/")[2] for name in there if name.startswith(f"fold-{number}/")
                }

        yield results()

    for path in contexts_path.parent.glob("contexts.*"):
        files().put_file(str(path), f"{BUCKET}/t{n_caches}/{path.name}")
    patch.setattr(scale, "_elsewhere", elsewhere)
    where = f"s3://{BUCKET}/t{n_caches}"
    small = ["--hidden=24", "--epochs=1", "--batch-size=16", "--learning-rate=1e-2", "--min-count=1", "--engine=ray"]
    main(["train-lm", f"{where}/contexts.jsonl", "--out", f"{where}/lms", *small])
    there = content(f"{where}/lms")
    assert {"fold-0/weights.safetensors", "fold-1/weights.safetensors"} <= there.keys()
    assert not [name for name in there if "/." in name or "checkpoints" in name]


@pytest.mark.usefixtures("plain_process")
def test_a_run_goes_on_elsewhere_and_is_read_elsewhere(
    server: None, patch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_pool().save(tmp_path / "pool")
    files().put(f"{tmp_path}/pool/", f"{BUCKET}/pool", recursive=True)

    def command(n: int, place: str) -> list[str]:
        return ["filter", f"{place}/pool", "--out", f"{place}/run", "--schedule", f"hash:{n}", "--audit", "none"]

    main(command(4, str(tmp_path)))
    main(command(2, f"s3://{BUCKET}"))
    move_to(tmp_path / "second", patch)
    main(command(4, f"s3://{BUCKET}"))
    there = content(f"s3://{BUCKET}/run")
    for name in ("log.jsonl", "start.npy", *(f"replacements/000{i}.npy" for i in range(1, 5))):
        assert there[name] == (tmp_path / "run" / name).read_bytes()
    assert json.loads(there["manifest.json"])["pool"] == "../pool"
    assert not [name for name, held in there.items() if str(tmp_path).encode() in held]
    move_to(tmp_path / "third", patch)
    main(["show", f"s3://{BUCKET}/run"])
    main(["release", f"s3://{BUCKET}/run", "--out", f"s3://{BUCKET}/set", "--audit", "none", "--formats", "jsonl"])
    said = capsys.readouterr().out
    assert f"s3://{BUCKET}/run" in said
    assert str(tmp_path / "third") not in said
    assert "jsonl/train.jsonl" in content(f"s3://{BUCKET}/set")


@pytest.mark.usefixtures("plain_process")
def test_a_run_here_of_a_pool_there_is_found_again(patch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make_pool().save(tmp_path / "pool")
    fsspec.filesystem("memory").put(f"{tmp_path}/pool/", "/b/pool", recursive=True)
    main(["filter", "memory://b/pool", "--out", str(tmp_path / "run"), "--schedule", "hash:1", "--audit", "none"])
    assert read_json(tmp_path / "run" / "manifest.json")["pool"] == "memory://b/pool"
    move_to(tmp_path / "second", patch)
    assert len(open_run(tmp_path / "run").pool) == 30


@dataclass(frozen=True)
class Wide:
    """A job of several cores."""

    cores: int = 3

    def open(self) -> Callable[[int], int]:
        return abs


def test_a_job_asks_for_as_many_cores_when_it_travels() -> None:
    assert cores_of(sent(Wide())) == cores_of(Wide()) == 3


class BadServer(HTTPServer):
    """A server that answers everything with one status; with none, it hangs up."""

    status = 0


class Answers(BaseHTTPRequestHandler):
    """Its answers."""

    def do_GET(self) -> None:
        assert isinstance(self.server, BadServer)
        if self.server.status:
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "said"), [(403, "does not let you"), (404, "not in the store"), (0, "does not answer as it should")]
)
def test_what_a_store_refuses_is_one_line(
    status: int, said: str, server: None, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = BadServer(("127.0.0.1", 0), Answers)
    bad.status = status
    threading.Thread(target=bad.serve_forever, daemon=True).start()
    try:
        point_at(bad.server_port, patch)
        with pytest.raises(SystemExit, match="2"):
            main(["show", "s3://bucket/pool"])
    finally:
        bad.shutdown()
        bad.server_close()
    told = capsys.readouterr().err
    assert told.startswith("swag-af: s3://bucket/pool: ")
    assert said in told
    assert told.count("\n") == 1


def test_what_cannot_be_is_told_before_any_work(patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for command, said in (
        ("demo --out s3://b/demo", "take addresses"),
        ("generate memory://b/c.jsonl --generator ngram --out memory://b/pool --shard 1/2", "lstm alone"),
        ("show memory://b/nothing", "memory://b/nothing"),
        ("show hdfs://b/pool", "hdfs://b/pool: no address that is known; there are s3://BUCKET/PATH and gs://"),
        ("filter pool --out s3://", "s3://: no bucket is named. Write s3://BUCKET/PATH."),
        ("filter pool --out file:///tmp/run", "file:///tmp/run: no address that is known"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(command.split())
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("filter memory://b/pool --schedule nope:3", "nope"),
        ("filter memory://b/pool --schedule bow:0", "COUNT is 1 or more"),
        ("filter memory://b/pool --schedule bow:3 --audit nope", "nope"),
        ("filter memory://b/pool --schedule bow:3 --until-unseen bow", "is not unseen"),
        ("filter pool --out memory://b/run --engine ray[auto]", "on a disk that all see, not in a store"),
        ("audit memory://b/run --filters nope", "nope"),
    ],
)
def test_what_no_data_could_mend_is_told_before_any_is_fetched(
    words: str, said: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole pool was fetched first."""
    patch.setattr("swag_af.cli.main.check_engine", lambda engine: None)  # a cluster that is there
    patch.setattr(Store, "entries", lambda *_, **__: pytest.fail("the store was asked"))
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert said in capsys.readouterr().err


def test_a_missing_package_is_named(patch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ImportError("Install gcsfs")

    with pytest.MonkeyPatch.context() as without, pytest.raises(InputError, match=re.escape(install("gs"))):
        without.setattr(fsspec, "filesystem", refuse)
        opened.local("gs://b/pool")
