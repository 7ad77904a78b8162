"""Claims about text for terminals: what they obey is written out, all else stays."""

import fcntl
import json
import os
import pty
import re
import struct
import termios
import unicodedata
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.display.terminal import folded_for, visible


@given(st.text(st.characters(codec=None)))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    made = visible(text)
    assert not {unicodedata.category(c) for c in made} & {"Cs", "Zl", "Zp"}
    assert set(re.findall(r"[\x00-\x1f\x7f-\x9f]", made)) <= {"\n", "\t"}
    assert not {unicodedata.bidirectional(c) for c in made} & {"LRE", "RLE", "LRO", "RLO", "LRI", "RLI", "FSI", "PDF"}
    made.encode("utf-8")


def test_ordinary_text_of_any_language_stays() -> None:
    text = "Übermut “tut” 👩‍🍳 סלט, مرحبا\n\tand 日本語"
    assert visible(text) == text


def test_characters_are_written_as_python_writes_them() -> None:
    assert visible("a\x1b[2J\u202eb") == "a\\x1b[2J\\u202eb"


@pytest.fixture(autouse=True)
def _no_width_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may say one, which goes before that of the terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)


class Terminal:
    """A terminal of so many columns, and what is written to it."""

    def __init__(self, columns: int) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream = os.fdopen(theirs, "w")

    def __enter__(self) -> TextIO:
        return self.stream

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        os.close(self._ours)


PROSE = "The options alone tell which one is right, in 53.7 % of the questions, where guessing gets 25.0 %."
ROW = "  AF101 options, fasttext  39.7 %  34.3 to 45.3 %  25.0 %"


def test_prose_ends_between_words_at_the_width_of_a_terminal() -> None:
    with Terminal(30) as stream:
        folded = folded_for(stream, f"{PROSE}\n  {PROSE}").split("\n")
    assert max(map(len, folded)) <= 30
    assert " ".join(" ".join(folded).split()) == f"{PROSE} {PROSE}"
    assert {line[:2] for line in folded[len(folded) // 2 :]} == {"  "}


def test_rows_of_tables_and_commands_are_not_broken() -> None:
    command = "swag-af release run --out dataset --n-distractors 3"
    with Terminal(30) as stream:
        assert folded_for(stream, ROW) == ROW
        assert folded_for(stream, f"Written to run. Next: {command}").split("\n") == ["Written to run. Next:", command]
        assert "`swag-af verify serve --help`" in folded_for(stream, "Read what `swag-af verify serve --help` says.")


@pytest.mark.parametrize("kind", ["json", "markdown"])
def test_what_machines_read_is_not_broken_on_a_terminal(kind: str) -> None:
    """The JSON of `probe-endpoint --json` was none where a text in it was parted."""
    line = json.dumps({"url": "http://here", "said": PROSE}) if kind == "json" else f"| a | {PROSE} | b |"
    with Terminal(30) as stream:
        assert folded_for(stream, line) == line


def test_a_word_longer_than_the_terminal_is_not_broken() -> None:
    with Terminal(30) as stream:
        assert "x" * 600 in folded_for(stream, f"Here is {'x' * 600} to read.").split("\n")


def test_what_is_no_terminal_gets_lines_as_they_are(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as stream:
        assert folded_for(stream, PROSE) == PROSE
