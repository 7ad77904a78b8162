"""Claims about progress: one bar at a time, and lines within it."""

import io
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from swag_af.data.work import progress as module
from swag_af.data.work.progress import progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> tuple[_Terminal, list[str]]:
    """Standard error is a terminal from here on: what is written to it, and the labels of its bars."""
    made, labels, bar = _Terminal(), list[str](), module._bar

    def counted(label: str, *more: Any) -> Any:
        labels.append(label)
        return bar(label, *more)

    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(module, "_bar", counted)
    return made, labels


def test_within_a_bar_there_is_no_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    _, bars = terminal(monkeypatch)
    with progress("outer", 2, "rows") as advance, progress("inner", 2, "rows") as advance_inner:
        advance_inner(2)
        advance(2)
    assert bars == ["outer"]


def test_after_a_bar_that_failed_there_is_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _, bars = terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError), progress("first", 2, "rows"):
        raise ZeroDivisionError
    with progress("second", 2, "rows") as advance:
        advance(2)
    assert bars == ["first", "second"]


def test_lines_within_a_bar_are_written_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    written, _ = terminal(monkeypatch)
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LINES", 0.0)
    with progress("outer", 2, "rows"), progress("inner", 8, "pairs") as advance:
        advance(2)
    assert "inner: 2 of 8 pairs" in written.getvalue()


def test_a_note_of_work_that_has_not_begun_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LINES", 0.0)
    with progress("training", 5, "epochs") as advance:
        advance(0, note="first epoch")
        advance(1)
    first, second = capsys.readouterr().err.splitlines()
    assert "0 of 5 epochs" in first
    assert "time left unknown  first epoch" in first
    assert " s left  first epoch" in second


def timed(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock that stands still until it is told to go on by so many seconds."""
    now = 0.0

    def go_on(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(module.time, "perf_counter", lambda: now)
    return go_on


def test_the_time_until_work_begins_is_no_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on = timed(monkeypatch)
    with progress("training", 100_000, "tokens") as advance:
        for seconds, n in ((60, 100), (30, 3_000), (30, 3_000)):
            go_on(seconds)
            advance(n)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "training: 3100 of 100000 tokens, 100/s, 16 min left"
    assert second == "training: 6100 of 100000 tokens, 100/s, 16 min left"


def test_the_last_line_says_that_all_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on = timed(monkeypatch)
    with progress("generate", 3, "contexts") as advance:
        for seconds in (30, 2, 2):
            go_on(seconds)
            advance(note="none dropped")
    first, last = capsys.readouterr().err.splitlines()
    assert "1 of 3 contexts" in first
    assert last == "generate: 3 of 3 contexts  none dropped"
    with progress("generate", 3, "contexts") as advance:
        advance(3)
    with pytest.raises(ZeroDivisionError), progress("generate", 3, "contexts") as advance:
        go_on(30)
        advance(1)
        raise ZeroDivisionError
    assert "3 of 3" not in capsys.readouterr().err, "nothing where nothing was told before, or nothing was finished"


def test_the_first_line_comes_soon_and_others_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log of eight blocks of six seconds showed nothing before the fourth."""
    go_on = timed(monkeypatch)
    with progress("match", 8, "buckets") as advance:
        for _ in range(5):
            go_on(6)
            advance()
    told = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in told] == ["match: 1 of 8 buckets", "match: 5 of 8 buckets"]


def test_one_slow_item_of_few_is_a_rate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    go_on = timed(monkeypatch)
    with progress("filter", 40, "iterations") as advance:
        go_on(60)
        advance()
    assert capsys.readouterr().err == "filter: 1 of 40 iterations, 0.017/s, 39 min left\n"


def test_time_left_is_that_of_the_part_at_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After 90 quick iterations of an MLP a run was said to be over in a minute; its ensemble took 20."""
    go_on = timed(monkeypatch)
    with progress("filter", 140, "iterations", stages=[("mlp", 100), ("ensemble", 40)]) as advance:
        for seconds, n in ((40, 40), (20, 20), (40, 40), (30, 1), (30, 1)):
            go_on(seconds)
            advance(n)
    assert capsys.readouterr().err.splitlines() == [
        "filter: 40 of 140 iterations, 1/s, 60 s left of mlp",
        "filter: 60 of 140 iterations, 1/s, 40 s left of mlp",
        "filter: 101 of 140 iterations, 0.033/s, 20 min left",
        "filter: 102 of 140 iterations, 0.033/s, 19 min left",
    ]


def test_time_left_of_items_of_several_kinds_is_by_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the quick one of two filters the slow one was told to take as long."""
    go_on = timed(monkeypatch)
    with progress("audit", 4, "audits", kinds=["mlp", "ensemble"] * 2) as advance:
        for seconds in (25, 600, 25, 600):
            go_on(seconds)
            advance(1)
    assert capsys.readouterr().err.splitlines() == [
        "audit: 1 of 4 audits, 0.04/s, time left unknown",
        "audit: 2 of 4 audits, 0.0032/s, 10 min left",
        "audit: 3 of 4 audits, 0.0046/s, 10 min left",
        "audit: 4 of 4 audits, 0.0032/s, 0 s left",
    ]


def test_time_left_is_by_the_rate_of_late(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    go_on = timed(monkeypatch)
    with progress("generate", 1000, "contexts") as advance:
        for seconds in [1] * 100 + [0.1] * 600:
            go_on(seconds)
            advance(1)
    assert capsys.readouterr().err.splitlines()[-1] == "generate: 563 of 1000 contexts, 10/s, 44 s left"


def test_the_time_left_on_a_bar_begins_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute of loading before the first of 100,000 rows made hours of it."""
    written, _ = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "160")
    go_on = timed(monkeypatch)
    with progress("pool", 100_000, "rows") as advance:
        for seconds, n in ((60, 1), (30, 3_000)):
            go_on(seconds)
            advance(n)
    assert "16 min left" in written.getvalue()


def test_a_bars_rate_begins_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    rates: list[float] = []
    monkeypatch.setattr(module, "_rate", lambda rate: rates.append(rate) or "")
    go_on = timed(monkeypatch)
    with progress("training", 100_000, "tokens") as advance:
        for seconds, n in ((60, 100), (30, 3_000)):
            go_on(seconds)
            advance(n)
    assert rates == [0.0, 100.0]


def test_what_an_earlier_run_has_kept_says_nothing_of_the_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on = timed(monkeypatch)
    with progress("audit", 10, "audits") as advance:
        for _ in range(6):
            advance(1, kept=True)
        go_on(100.0)
        advance(1)
    assert "7 of 10 audits, 0.01/s, 5 min left" in capsys.readouterr().err


def test_a_bar_does_not_count_what_is_kept_either(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = timed(monkeypatch)
    written, _ = terminal(monkeypatch)
    with progress("audit", 10, "audits") as advance:
        advance(6, kept=True)
        go_on(100.0)
        advance(1)
    assert "7/10" in written.getvalue()
    assert "0.01/s" in written.getvalue()


def test_what_is_kept_first_is_no_rate_and_does_not_hide_what_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on = timed(monkeypatch)
    with progress("audit", 3_000, "audits") as advance:
        advance(20, kept=True)
        go_on(60.0)  # machines join
        advance(5)
        go_on(30.0)
        advance(30)
    assert capsys.readouterr().err == "audit: 55 of 3000 audits, 1/s, 49 min left\n"


def test_names_with_brackets_are_shown_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    written, _ = terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "160")
    with progress("audit encoder[/models/tiny]", 2, "fits") as advance:
        advance(1, note="nli[cross-encoder/x]")
    assert "audit encoder[/models/tiny]" in written.getvalue()
    assert "nli[cross-encoder/x]" in written.getvalue()


def test_a_bar_whose_last_part_is_done_has_a_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    written, _ = terminal(monkeypatch)
    with progress("work", 4, "rows", stages=[("one", 2), ("two", 2)]) as advance:
        for _ in range(4):
            time.sleep(0.01)
            advance(1)
    last = written.getvalue().rpartition("4/4")[2]
    assert re.search(r"rows  [\d.,e+]+/s", re.sub(r"\x1b\[[0-9;]*m", "", last))
    assert not re.search(r"\b0/s", last)


def test_a_bar_of_work_that_an_earlier_run_has_kept_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    written, _ = terminal(monkeypatch)
    with progress("work", 2, "rows") as advance:
        advance(2, kept=True)
    assert "/s" not in written.getvalue()
