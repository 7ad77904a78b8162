"""A store that does not answer is told of once, while it is waited for."""

import threading

import pytest

from swag_af.data.stores import remote


class Slow:
    """A file system whose answers come when they may."""

    def __init__(self) -> None:
        self.may = threading.Event()

    def invalidate_cache(self) -> None:
        pass

    def find(self, place: str, detail: bool) -> dict[str, dict[str, object]]:
        assert self.may.wait(30)
        return {f"{place}/a": {"type": "file", "size": 3}}


def test_who_waits_for_a_store_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    slow = Slow()

    def note(line: str) -> None:
        said.append(line)
        slow.may.set()  # only now is there an answer

    monkeypatch.setattr(remote, "SILENT", 0.02)
    monkeypatch.setattr(remote, "note", note)
    store = remote.Store("s3://bucket/run")
    store.__dict__["files"] = slow
    assert list(store.entries()) == ["a"]
    assert len(said) == 1
    assert "s3://bucket/run: nothing is finished there" in said[0]
    slow.may.clear()
    threading.Timer(0.2, slow.may.set).start()
    assert list(store.entries()) == ["a"]
    assert len(said) == 1


def test_who_has_an_answer_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(remote, "note", said.append)
    store = remote.Store("memory://bucket/run")
    assert store.entries() == {}
    assert not said
