"""Writes docs/CLI.md: what `swag-af --help` and `swag-af VERB --help` print, verb by verb.

    python docs/make_cli.py

A test fails when the file is not what this makes. The width is fixed and there are no colours, so that every machine
makes the same bytes with the same release of tyro, which lays out the help of a verb.
"""

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from swag_af.cli.main import help_text
from swag_af.cli.parsing import VERBS, parse

PAGE = Path(__file__).parent / "CLI.md"

COLUMNS = 100
"""Characters in a line of help."""

HEAD = """# The command line

Written by `python docs/make_cli.py` from what the program prints; do not edit. Options are also fields of the
verb's options class, or of one within it ([PYTHON.md](PYTHON.md)), and keys in a `--config` file.
"""


def cli_page() -> str:
    """The text of docs/CLI.md."""
    with mock.patch.dict(os.environ, {"COLUMNS": str(COLUMNS)}):
        sections = [("swag-af", help_text()), *((f"swag-af {verb}", verb_help(verb)) for verb in VERBS)]
    return "\n".join([HEAD, *(f"## {title}\n\n```text\n{text}\n```\n" for title, text in sections)])


def verb_help(verb: str) -> str:
    """What `swag-af VERB --help` prints, without blanks at the ends of lines."""
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # no terminal, and boxes drawn with Unicode lines
    with (
        contextlib.redirect_stdout(shown),
        contextlib.suppress(SystemExit),
    ):
        parse([*verb.split(), "--help"])
    shown.seek(0)
    return "\n".join(line.rstrip() for line in shown.read().strip().splitlines())


if __name__ == "__main__":
    PAGE.write_text(cli_page(), encoding="utf-8")
    print(f"Written to {PAGE}.")
