"""Vectors on disk: what is kept is found again bit by bit, by this encoder alone, within a bound, whatever happens."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_bert import save_tiny_bert

from swag_af.data.disk.cache import cache_folder
from swag_af.filters.frozen import FrozenEncoder
from swag_af.filters.vector_cache import VectorCache

D = 8


def vectors_of(texts: list[str], seed: int = 0) -> dict[str, np.ndarray]:
    made = np.random.default_rng(seed).standard_normal((len(texts), D)).astype(np.float32)
    return dict(zip(texts, made, strict=True))


@settings(max_examples=20)
@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=30, unique=True), n_kept=st.integers(0, 30))
def test_what_was_kept_is_found_bit_by_bit_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], n_kept: int
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    made = vectors_of(texts[:n_kept])
    VectorCache(folder, "one", D).keep(made)
    found = VectorCache(folder, "one", D).find(texts)
    assert set(found) == set(made)
    assert all(found[text].tobytes() == made[text].tobytes() for text in made)
    assert not VectorCache(folder, "another", D).find(texts)


def test_more_texts_than_one_question_to_the_file_takes(tmp_path: Path) -> None:
    made = vectors_of([str(i) for i in range(1700)])
    cache = VectorCache(tmp_path, "one", D)
    cache.keep(made)
    assert set(cache.find([*made, "absent"])) == set(made)


def test_the_file_stays_within_its_bound_and_the_newest_stay(tmp_path: Path) -> None:
    most = 200_000
    cache = VectorCache(tmp_path, "one", D, most)
    texts = [str(i) for i in range(6000)]
    for at in range(0, len(texts), 500):
        cache.keep(vectors_of(texts[at : at + 500]))
    with sqlite3.connect(tmp_path / "vectors-1.sqlite") as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    batch = 100_000  # what 500 rows may take before room is made
    assert (tmp_path / "vectors-1.sqlite").stat().st_size < most + batch
    found = cache.find(texts)
    assert set(texts[-500:]) <= set(found)
    assert texts[0] not in found


def test_a_damaged_vector_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "one", D)
    cache.keep(vectors_of(["a", "b"]))
    with sqlite3.connect(tmp_path / "vectors-1.sqlite") as file:
        file.execute("UPDATE vectors SET vector = zeroblob(32) WHERE id = 1")
    assert set(cache.find(["a", "b"])) == {"b"}


def test_a_file_of_another_kind_is_told_once_and_done_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vectors-1.sqlite").write_bytes(b"no database at all, but long enough to be taken for one" * 30)
    cache = VectorCache(tmp_path, "one", D)
    cache.keep(vectors_of(["a"]))
    assert cache.find(["a"]) == {}
    (line,) = capsys.readouterr().err.splitlines()
    assert "SWAG_AF_CACHE names another folder, or none" in line


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("here is no folder")
    cache = VectorCache(tmp_path / "file" / "cache", "one", D)
    cache.keep(vectors_of(["a"]))
    assert cache.find(["a"]) == {}
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "vectors-1.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE begun (id INTEGER)")
    other.execute("BEGIN IMMEDIATE")
    done = threading.Timer(0.3, other.rollback)
    done.start()
    cache = VectorCache(tmp_path, "one", D)
    cache.keep(vectors_of(["a"]))
    done.join()
    other.close()
    assert set(cache.find(["a"])) == {"a"}


def test_several_processes_may_write_at_once(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np; from pathlib import Path; from swag_af.filters.vector_cache import VectorCache\n"
        f"cache = VectorCache(Path({str(tmp_path)!r}), 'one', {D})\n"
        "for i in range(60): cache.keep({f'{sys.argv[1]} {i}': np.full(8, i, np.float32)})"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "abc"]
    assert [one.wait() for one in running] == [0, 0, 0]
    found = VectorCache(tmp_path, "one", D).find([f"{name} {i}" for name in "abc" for i in range(60)])
    assert len(found) == 180
    assert all((vector == int(text.split()[1])).all() for text, vector in found.items())


def test_the_variable_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SWAG_AF_CACHE", "None")
    assert cache_folder() is None
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("SWAG_AF_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/swag-af")


@pytest.fixture
def model(tmp_path: Path) -> str:
    return save_tiny_bert(tmp_path / "tiny-bert")


def test_a_second_encoder_encodes_nothing_again_and_has_the_same_bits(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["a b c .", "", "smiles d e f g h", "a b c ."]
    without = FrozenEncoder(model, device="cpu").vectors(texts)
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path / "cache"))
    first = FrozenEncoder(model, device="cpu").vectors(texts[:2])
    encoded: list[str] = []
    encode = FrozenEncoder.encode
    monkeypatch.setattr(FrozenEncoder, "encode", lambda self, some, *more: encoded.extend(some) or encode(self, some))
    second = FrozenEncoder(model, device="cpu").vectors(texts)
    assert encoded == ["smiles d e f g h"]
    assert np.array_equal(second, without)
    assert np.array_equal(first, without[:2])


@pytest.mark.parametrize("change", ["weights", "max_length", "tokenizer"])
def test_another_model_finds_no_vectors_of_this_one(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path / "cache"))
    FrozenEncoder(model, max_length=48, device="cpu").vectors(["smiles a"])
    if change == "weights":
        from safetensors.torch import load_file, save_file

        weights = load_file(Path(model) / "model.safetensors")
        weights["embeddings.word_embeddings.weight"] = torch.flip(weights["embeddings.word_embeddings.weight"], [0])
        save_file(weights, Path(model) / "model.safetensors", metadata={"format": "pt"})
    if change == "tokenizer":
        path = Path(model) / "tokenizer_config.json"
        path.write_text(path.read_text().replace('"do_lower_case": true', '"do_lower_case": false'))
    other = FrozenEncoder(model, max_length=16 if change == "max_length" else 48, device="cpu")
    assert other.cache is not None
    assert other.cache.find(["smiles a"]) == {}


def test_a_model_that_was_moved_finds_its_vectors(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path / "cache"))
    FrozenEncoder(model, device="cpu").vectors(["smiles a"])
    moved = Path(model).rename(tmp_path / "moved")
    cache = FrozenEncoder(str(moved), device="cpu").cache
    assert cache is not None
    assert set(cache.find(["smiles a"])) == {"smiles a"}
