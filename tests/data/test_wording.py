"""Claims about keys and words of texts that are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.text.wording import characters_apart, text_key, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop, the “Café” opens!", ["don", "t", "stop", "the", "café", "opens"]),
        ("ＦＵＬＬ width, 2 + 2 = 4 %", ["full", "width", "2", "+", "2", "=", "4", "%"]),
        ("我喜欢茶。", ["我", "喜", "欢", "茶"]),
        (" . ", []),
    ],
)
def test_words_are_without_punctuation_letter_case_and_width(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["\ud83d", "a \ud83d b"])
def test_a_text_with_half_a_character_has_a_key(text: str) -> None:
    assert text_key(text) != 0


@given(st.text())
def test_characters_apart_lose_nothing_and_leave_scripts_with_blanks_alone(text: str) -> None:
    apart = characters_apart(text)
    assert apart.replace(" ", "") == text.replace(" ", "")
    assert characters_apart("Ein Café, naïve 한국어") == "Ein Café, naïve 한국어"
    assert characters_apart("日本語 で").split() == ["日", "本", "語", "で"]


def test_a_text_without_a_visible_character_has_no_key() -> None:
    assert [text_key(text) for text in ("", " \t", "\u200b")] == [0, 0, 0]
