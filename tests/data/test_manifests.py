"""Claims about manifests: read back as they were, refused where they are not ours to read."""

from pathlib import Path

import pytest

from swag_af.data.disk import manifests
from swag_af.data.disk.files import write_json
from swag_af.data.disk.replacing import HOST
from swag_af.data.errors import FormatError, InputError


def test_a_manifest_reads_back_with_format_and_kind(tmp_path: Path) -> None:
    manifests.write_manifest(tmp_path, "pool", {"complete": False})
    assert manifests.read_manifest(tmp_path, "pool") == {"format": 1, "kind": "pool", "complete": False}


def test_kinds_have_their_article() -> None:
    kinds = {"pool": "a pool", "audit": "an audit", "lm-fold": "an lm-fold", "nli": "an nli", "run": "a run"}
    assert {kind: manifests.an(kind) for kind in kinds} == kinds


REFUSED_MANIFESTS = [
    ({"format": 2, "kind": "pool"}, "format 2, and this release reads format 1"),
    ({"format": 1, "kind": "run"}, "this is a run, not a pool"),
    ({"name": "somebody else's"}, "not a manifest of swag-af"),
    ([], "not a manifest of swag-af"),
]


@pytest.mark.parametrize(("manifest", "said"), REFUSED_MANIFESTS)
def test_a_manifest_that_is_not_ours_to_read_is_refused(tmp_path: Path, manifest: object, said: str) -> None:
    write_json(tmp_path / manifests.MANIFEST, manifest)
    with pytest.raises(FormatError, match=said):
        manifests.read_manifest(tmp_path, "pool")


def test_a_kind_has_the_article_that_it_is_read_with(tmp_path: Path) -> None:
    manifests.write_manifest(tmp_path, "pool", {"complete": False})
    with pytest.raises(FormatError, match="this is a pool, not an lm"):
        manifests.read_manifest(tmp_path, "lm")


def test_a_folder_without_manifest_and_no_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no manifest\.json here"):
        manifests.read_manifest(tmp_path, "pool")
    with pytest.raises(InputError, match="no such folder"):
        manifests.read_manifest(tmp_path / "nowhere", "pool")


def test_a_folder_that_a_killed_run_had_moved_aside_is_read(tmp_path: Path) -> None:
    """It was told as no such folder."""
    manifests.write_manifest(tmp_path / f".mine.{HOST}.{1 << 23}.old.tmp", "pool", {"complete": False})
    assert manifests.read_manifest(tmp_path / "mine", "pool")["complete"] is False


def test_the_hash_of_a_value_does_not_know_the_order_of_keys() -> None:
    assert manifests.sha256_json({"a": 1, "b": 2}) == manifests.sha256_json({"b": 2, "a": 1})
    assert manifests.sha256_json({"a": 1}) != manifests.sha256_json({"a": 2})


@pytest.mark.parametrize("values", [[], [1], [[(1, 2), "a", 0], {"b": 1, "a": None}, "é"]])
def test_the_hash_of_a_list_needs_no_list(values):
    assert manifests.sha256_json_list(iter(values)) == manifests.sha256_json(values)


def test_a_folder_of_somebody_elses_files_is_not_begun_in(tmp_path: Path) -> None:
    manifests.check_ours("filter", tmp_path / "new")
    for name in (".start.npy.host.7.tmp", "start.npy", "answers.2-of-8.jsonl"):  # left by a start that was killed
        (tmp_path / name).write_text("ours")
    manifests.check_ours("filter", tmp_path, "start.npy", "answers*.jsonl")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="this is there, and was not made by filter"):
        manifests.check_ours("filter", tmp_path, "start.npy", "answers*.jsonl")
    manifests.write_manifest(tmp_path, "run", {})
    manifests.check_ours("filter", tmp_path)  # notes on a run may stay with it
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match="link: a link to what is not there"):
        manifests.check_ours("filter", tmp_path / "link")
    with pytest.raises(InputError, match="this is a file, and a folder is to be written"):
        manifests.check_ours("filter", tmp_path / "notes.txt")


def test_what_force_would_not_replace_is_not_said_to_be_replaceable(tmp_path: Path) -> None:
    there = tmp_path / "there"
    manifests.check_replaceable(there, "pool", force=False)
    there.mkdir()
    for force in (False, True):
        with pytest.raises(FormatError, match=r"there: already exists, and is not a pool\. Choose another --out\.$"):
            manifests.check_replaceable(there, "pool", force=force)
    manifests.write_manifest(there, "pool", {"complete": False})
    for force in (False, True):
        with pytest.raises(FormatError, match="this is a pool, not a dataset"):
            manifests.check_replaceable(there, "dataset", force=force)
    with pytest.raises(InputError, match="or replace it with --force"):
        manifests.check_replaceable(there, "pool", force=False)
    manifests.check_replaceable(there, "pool", force=True)


def test_what_is_replaced_with_force_takes_no_hidden_files_of_others_with_it(tmp_path: Path) -> None:
    """A `.git` in such a folder went with it, unasked."""
    folder = tmp_path / "mine"
    folder.mkdir()
    manifests.write_manifest(folder, "pool", {"complete": False})
    for clutter in (".DS_Store", "Thumbs.db", ".manifest.json.host.123.tmp", ".audits.jsonl.lock"):
        (folder / clutter).touch()
    manifests.check_replaceable(folder, "pool", force=True)
    aside = folder / ".shards.other-host.123.old.tmp"  # perhaps all that is left of a folder there
    aside.mkdir()
    with pytest.raises(InputError, match=r"^\S+mine: \.shards\.other-host\.123\.old\.tmp in it is of no pool"):
        manifests.check_replaceable(folder, "pool", force=True)
    aside.rmdir()
    (folder / ".git").mkdir()
    (folder / ".notes.md").touch()
    with pytest.raises(InputError, match=r"^\S+mine: \.git and 1 more in it are of no pool, and would go with"):
        manifests.check_replaceable(folder, "pool", force=True)
