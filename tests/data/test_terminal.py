"""Claims about text for terminals: what they obey is written out, all else stays."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.terminal import visible


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
