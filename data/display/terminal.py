"""Text that is safe to print on a terminal: texts from data may hold characters that terminals obey.

Text from a terminal, too: arguments and names of files come as bytes, in whatever encoding.

An escape sequence can move the cursor, set the title, or hide what stands before it; a bidirectional override reverses
the order of letters. Such characters are shown, not removed.
"""

import io
import os
import re
import sys
import textwrap
from contextlib import suppress
from typing import TextIO

_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, delete, C1
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # bidirectional marks and overrides, line separators
    "\ud800-\udfff]"  # halves of a character, which no terminal can be sent
)


def is_utf8(text: str) -> bool:
    """Whether `text` can be written as UTF-8; arguments and names of files in another encoding cannot."""
    return not re.search("[\ud800-\udfff]", text)


def visible(text: str) -> str:
    """`text` with its control characters written out: an escape character as `\\x1b`, an override as `\\u202e`."""
    return _OBEYED.sub(lambda found: _written_out(ord(found[0])), text)


def _written_out(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def tell(text: str, *, is_error: bool = False, end: str = "\n") -> None:
    """Print to standard output, or standard error. Once nobody reads it any more, as after `| head -1`, what is printed
    goes nowhere, and the work goes on; so it does where nothing can be printed to standard error, such as a full disk.
    """
    stream = sys.stderr if is_error else sys.stdout
    try:
        print(text, end=end, file=stream, flush=True)
    except OSError as error:
        if not is_error and not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "standard output") from None
        unread(stream)


def folded_for(stream: TextIO, text: str) -> str:
    """`text` with prose broken between words where a terminal would break it within them; anywhere else as it is.

    Rows of tables, in Markdown too, and lines of JSON stay, and commands, in backticks or from `swag-af` to the end of
    a line, are not broken.
    """
    width = _columns(stream)
    return "\n".join(_folded(line, width) for line in text.split("\n")) if width else text


def _columns(stream: TextIO) -> int:
    """The width of the terminal that a stream is; 0 where it is none, or of no known width."""
    with suppress(OSError, ValueError):
        if stream.isatty():
            asked = os.environ.get("COLUMNS", "")
            return int(asked) if asked.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    return 0


_IS_ROW = re.compile(r"\s*\S.*\S {2,}\S|\s*[|{\[]")
"""A row of a table, or a line of JSON."""
_WHOLE = re.compile(r"`[^`]*`|\bswag-af (?!-).*")
_KEPT = "\x00"
"""Stands for a blank that no line ends at; `visible` leaves none in a text."""


def _folded(line: str, width: int) -> str:
    if len(line) <= width or _IS_ROW.match(line):
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")))
    kept = _WHOLE.sub(lambda found: found[0].replace(" ", _KEPT), line[len(indent) :])
    folded = textwrap.wrap(
        kept,
        max(width, 20),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(folded).replace(_KEPT, " ")


def nowhere() -> TextIO:
    """A stream whose text goes nowhere, in place of one that is closed."""
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")


def unread(stream: TextIO) -> None:
    """Have what is still to be printed go nowhere."""
    with suppress(OSError, ValueError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
