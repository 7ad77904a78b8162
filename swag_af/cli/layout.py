"""The layout of help: lines that end between words at the width of the terminal. Imports nothing heavy."""

import contextlib
import io
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import Any
from unittest import mock

from swag_af.data.display.terminal import tell

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_BOX = ("╭", "│", "╰", "+", "|")


def folded(text: str, *, hanging: int = 0) -> str:
    """`text` with every line that is too wide for the terminal broken between words, later parts indented like the
    first, or by `hanging` characters. Boxes stay as they are."""
    width = shutil.get_terminal_size().columns
    return "\n".join(_folded_line(line, width, hanging) for line in text.split("\n"))


def _folded_line(line: str, width: int, hanging: int) -> str:
    plain = _STYLE.sub("", line)
    if len(plain) <= width or plain.startswith(_BOX):
        return line
    indent = " " * (hanging or len(plain) - len(plain.lstrip()) + 2 * plain.startswith(" "))
    # A command stays whole: it could not be copied otherwise.
    if plain.lstrip().startswith("swag-af ") and not hanging:
        return line
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


class _Screen(io.StringIO):
    """Takes what is printed, and looks like standard output to whoever asks."""

    encoding = "utf-8"

    def __init__(self, screen: Any) -> None:
        super().__init__()
        self.encoding = getattr(screen, "encoding", None) or "utf-8"
        self._is_terminal = screen.isatty()

    def isatty(self) -> bool:
        """As standard output, but no terminal, which would have colours, for whoever wants none."""
        return bool(self._is_terminal) and not os.environ.get("NO_COLOR")


@contextlib.contextmanager
def folded_help() -> Iterator[None]:
    """Within it, what is printed to standard output is folded and plain, and the docstring of an option one paragraph.

    tyro keeps the line ends that a docstring has in the source, and does not break the lines of a description.
    """
    import docstring_parser

    parse = docstring_parser.parse_from_object

    def parse_joined(obj: Any) -> docstring_parser.Docstring:
        found = parse(obj)
        for one in found.params:
            one.description = None if one.description is None else " ".join(one.description.split())
        return found

    screen = _Screen(sys.stdout)
    try:
        with contextlib.redirect_stdout(screen), mock.patch.object(docstring_parser, "parse_from_object", parse_joined):
            yield
    finally:
        tell(folded(plain(screen.getvalue())), end="")


_STYLES = r"(?:\x1b\[[0-9;]*m)*"
_BLANK = r"(?: |\x1b\[[0-9;]*m)*"
_EDGE = r"(?P<edge>[│|]?)"
"""Of a box; there is none where boxes are of spaces."""
_ON_ONE_LINE = re.compile(rf"\(default:(?P<style>{_STYLES}) (?P<none>(?:None)?)\)")
_ON_TWO = re.compile(
    rf"\(default:(?P<end>{_STYLES}) ?(?P<room>{_BLANK}{_EDGE}{_STYLES})\n"
    rf"{_STYLES}(?P=edge){_BLANK}(?:None)?\){_BLANK}(?P=edge){_STYLES}"
)


def plain(text: str) -> str:
    """tyro's help as people would write it, boxes kept: `--out PATH` for `--out {None}|PATH`, and `(optional)` where
    the default is nothing, or None."""
    text = re.sub(r"\{None\}\|([^\s\x1b]+)", _padded, text)
    text = _ON_TWO.sub(r"(optional)\g<end>\g<room>", text)
    return _ON_ONE_LINE.sub(lambda found: f"(optional){found['style']} {' ' * len(found['none'])}", text)


def _padded(found: re.Match[str]) -> str:
    """The kind of a value, as wide as before; in the line of usage, in brackets, without the room."""
    return found[1] if found[1].endswith("]") else found[1] + " " * len("{None}|")
