"""Claims about keys and words of texts that are compared."""

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from slow import patterns

from swag_af.data import tokens
from swag_af.data.captions import drops
from swag_af.data.captions.published import sentences_of
from swag_af.data.text import normalise as normalising
from swag_af.data.text import sentences, wording
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import (
    characters_apart,
    characters_joined,
    full_stop_after,
    is_latin,
    lower,
    tokenize_any,
)
from swag_af.data.text.wording import (
    END,
    by_value,
    comparable,
    compatible,
    marked_words,
    option_key,
    text_key,
    words,
    words_of,
)
from swag_af.data.video import Caption

MARKS = st.sampled_from([" ", ", ", ". ", "... ", "; ", " - ", " – ", "—", "--", "-", '!" ', " (", ") ", "? ", " + "])
"""What stands between words of prose."""


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3 or −3, –3 and ±3", ["-3", "or", "-3", "-3", "and", "±3"]),
        ("x=-12,345.6, (-.5) '-3' $-4$", ["x", "=", "-12,345.6", "-.5", "-3", "$", "-4", "$"]),
        ("3-5, (a)-3, COVID-19, 3 - 5, 5%-10%", ["3", "5", "a", "3", "covid", "19", "3", "5", "5", "%", "10", "%"]),
        ("C++/C# in .NET; F#.", ["c++", "/", "c#", "in", ".net", "f#"]),
        ("0.5 or 5.0, 10,000 m, v1.2.3 3.5mm", ["0.5", "or", "5.0", "10,000", "m", "v1", "2.3", "3.5mm"]),
        ("1,2,3 and 1,0000, the 3.", ["1", "2", "3", "and", "1", "0000", "the", "3"]),
        ("x+y...and --3 times-", ["x", "+", "y", "and", "3", "times"]),
    ],
)
def test_words_keep_the_marks_that_make_them_others(text: str, expected: list[str]) -> None:
    assert marked_words(text) == expected


@given(st.lists(st.tuples(st.sampled_from(["He", "a", "don't", "well-known", "3rd", "10%", "café"]), MARKS)))
def test_words_of_prose_have_no_such_marks(parts: list[tuple[str, str]]) -> None:
    text = "".join(map("".join, parts))
    assert marked_words(text) == words(text)


@pytest.mark.parametrize(
    ("one", "other"), [("10⁵ m", "105 m"), ("1½ cups", "11⁄2 cups"), ("x² + 1", "x2 + 1"), ("H₂", "H2")]
)
def test_numbers_that_are_raised_are_other_numbers(one: str, other: str) -> None:
    """A negative with another number was dropped as equal to gold."""
    assert comparable(one) != comparable(other)
    assert text_key(one) != text_key(other)
    assert option_key(one) != option_key(other)
    assert normalise(one) != normalise(other)
    assert normalise(normalise(one)) == normalise(one)


@pytest.mark.parametrize("text", ["घर गया।", "वह गया॥", "ሄደ።", "သွား။", "ទៅ។", "وہ گیا۔", "գնաց։", "走了。", "gone ."])
def test_final_full_stops_do_not_count_in_any_script(text: str) -> None:
    """Gold without its mark stayed as a wrong answer."""
    assert comparable(text) == comparable(text[:-1])
    assert comparable(text) != comparable(text[:-1] + "?")


@given(st.text(st.characters() | st.sampled_from("²½ªﬁＡ①\u0301e1")))
def test_all_but_what_is_raised_is_in_nfkc(text: str) -> None:
    def slow(c: str) -> str:
        is_raised = unicodedata.decomposition(c).startswith(("<super>", "<sub>", "<fraction>"))
        return f"\0{c}\0" if is_raised else c

    parts = "".join(map(slow, text.replace("\0", ""))).split("\0")
    expected = "".join(part if i % 2 else unicodedata.normalize("NFKC", part) for i, part in enumerate(parts))
    assert compatible(text.replace("\0", "")) == expected
    assert compatible(expected) == expected


def test_every_raised_character_is_known() -> None:
    tags = ("<super>", "<sub>", "<fraction>")
    raised = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.decomposition(c).startswith(tags)]
    assert [c for c in raised if compatible(c) != c] == []


@given(st.lists(st.text() | st.text(st.characters(max_codepoint=127))))
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert words_of(texts) == [word for text in texts for word in (*words(text), END)]


@pytest.mark.parametrize("texts", [[], [""], ["a\0b", "\0\0", "\x1f"], ["É +", "a+b_c'd", "é"]])
def test_no_text_is_taken_for_the_end_of_one(texts: list[str]) -> None:
    assert words_of(texts) == [word for text in texts for word in (*words(text), END)]


@pytest.mark.parametrize("text", ["\ud83d", "a \ud83d b"])
def test_a_text_with_half_a_character_has_a_key(text: str) -> None:
    assert text_key(text) != 0


@given(st.text())
def test_characters_apart_lose_nothing_and_leave_scripts_with_blanks_alone(text: str) -> None:
    apart = characters_apart(text)
    assert apart.replace(" ", "") == text.replace(" ", "")
    assert characters_apart("Ein Café, naïve 한국어") == "Ein Café, naïve 한국어"
    assert characters_apart("日本語 で").split() == ["日", "本", "語", "で"]


@given(st.text("他走了。！กินカ「」", max_size=9))
def test_characters_of_one_script_are_joined_again(text: str) -> None:
    assert characters_joined(" ".join(characters_apart(text).split())) == text


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("ทำที่น้ำ", ["ทำ", "ที่", "น้ำ"]),
        ("ភ្នំពេញ។", ["ភ្នំ", "ពេ", "ញ", "។"]),
        ("သတ္တဝါ။", ["သ", "တ္တ", "ဝါ", "။"]),
        ("ຖ້ຳ", ["ຖ້ຳ"]),
        ("བཀྲ་ཤིས།", ["བཀྲ་", "ཤིས", "།"]),
        ("か\u3099く", ["か\u3099", "く"]),
        ("人々", ["人", "々"]),
        ("หน้า๑๒", ["ห", "น้", "า", "๑๒"]),
    ],
)
def test_marks_stand_with_their_letters_in_every_script_without_blanks(text: str, tokens: list[str]) -> None:
    """A sentence of Khmer was one word, and a tone of Thai one of its own."""
    assert tokenize_any(text) == characters_apart(text).split() == tokens
    assert characters_joined(" ".join(tokens)) == text


def test_lower_case_leaves_no_loose_dot_and_no_accent_apart() -> None:
    assert lower("İYİ Bu\u0308ro IŞIK") == "iyi büro işik"
    assert comparable("İyi bir gün") == comparable("iyi bir gün") != comparable("ıyı bir gün")


def test_marks_of_other_scripts_are_tokens() -> None:
    assert tokenize_any("वह गया।") == ["वह", "गया", "।"]
    assert tokenize_any("هل ذهب؟") == ["هل", "ذهب", "؟"]
    assert tokenize_any("他用 Python 写。") == ["他", "用", "Python", "写", "。"]
    assert characters_joined("他 用 Python 写 。 वह गया ।") == "他用 Python 写。 वह गया।"
    assert [full_stop_after(one) for one in "a他カहก9"] == [".", "。", "。", "।", "", "."]


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("She runs.", True),
        ("Łódź, naïve, Đà Nẵng", True),
        ("12 + 30 = 42", True),
        ("👩‍🚀 🚀", True),
        ("他用 Python 写。", True),  # six of nine letters
        ("他用笔写。 OK", False),
        ("يفتح الرجل الباب", False),
        ("Ελλάδα", False),
    ],
)
def test_a_text_is_latin_where_most_of_its_letters_are(text: str, latin: bool) -> None:
    assert is_latin(text) is latin


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("他走了。她来了！吗？！好", ["他走了。", "她来了！", "吗？！", "好"]),
        ("「走れ。」と言った。次。", ["「走れ。」と言った。", "次。"]),
        ("वह गया। वह आया।", ["वह गया।", "वह आया।"]),
        ("هل ذهب؟ نعم.", ["هل ذهب؟", "نعم."]),
        ("値は3．5です．次です．", ["値は3．5です．", "次です．"]),
        ("gießt Wasser ein, z. B. aus dem Krug.", ["gießt Wasser ein, z. B. aus dem Krug."]),
        ("ruft am 3. Mai an. Er geht.", ["ruft am 3. Mai an.", "Er geht."]),
        ("Er kommt, d. h. Er geht.", ["Er kommt, d. h. Er geht."]),
        (
            "likes vitamin c. He runs to plan B. She is 9. It ends.",
            ["likes vitamin c.", "He runs to plan B.", "She is 9.", "It ends."],
        ),
    ],
)
def test_sentences_of_other_scripts(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


def test_a_text_without_a_visible_character_has_no_key() -> None:
    assert [text_key(text) for text in ("", " \t", "\u200b")] == [0, 0, 0]


def test_selectors_of_emoji_make_no_other_words() -> None:
    """Equal sentences were in two folds, and golds with one were drawn as wrong endings."""
    for plain, selected in (("gives a ❤.", "gives a ❤️."), ("☺", "☺️"), ("ab", "a\u034fb")):
        assert comparable(plain) == comparable(selected)
        assert text_key(plain) == text_key(selected)


@pytest.mark.parametrize(
    ("one", "other"), [("x > y", "x < y"), ("-3", "3"), ("1/2", "12"), ("C++", "C#"), ("3.5", "35"), ("1 1/2", "11/2")]
)
def test_options_that_differ_in_a_sign_are_others(one: str, other: str) -> None:
    """Rows in which x < y is wrong were said to have the gold of those in which x > y is right."""
    assert option_key(one) != option_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Walks, slowly.", "walks slowly"),
        ("ca n't go", "can't go !"),
        ("a well-known man", "a well known man"),
        ("¿", "¿"),
    ],
)
def test_options_that_differ_in_punctuation_are_the_same(one: str, other: str) -> None:
    assert option_key(one) == option_key(other) != 0


OF_OPTIONS = st.text(st.characters() | st.sampled_from("²½⁵₂ª.,;'’-−+<>x3 1/a\u0301ﬁＡ①日\u200bßİ"), max_size=8)


@given(OF_OPTIONS, OF_OPTIONS)
@example("10⁵", "105")
def test_options_of_other_letters_and_digits_are_others(one: str, other: str) -> None:
    """105 was taken for 10⁵, so that a gold was left out as the negative of another row."""
    have_words = all(any(map(str.isalnum, comparable(text))) for text in (one, other))
    if have_words and text_key(one) != text_key(other):
        assert option_key(one) != option_key(other)


def test_an_option_without_a_visible_character_has_no_key() -> None:
    assert [option_key(text) for text in ("", " \t", "\u200b")] == [0, 0, 0]


PIECES = st.sampled_from(
    [
        *(". ", ".", " ", "-", "--", "a", "A", "Mr", "mr.", "St", "!", "?", '"', "'", ")", "？", "。", "．", "5", "…"),
        *(",", "；", "b.", "z. B. ", "am 3.", "J.", "a.b.", "approx.", "»", "\n", " \t", "n't", " 's"),
    ]
)
TWINS = [
    (wording.SENTENCE_END, patterns.SENTENCE_END),
    (normalising._DASH, patterns.DASH),
    (normalising._LOOSE_END, patterns.LOOSE_END),
    (tokens._CLITIC, patterns.CLITIC),
    (drops._MARKS, patterns.MARKS),
    (drops._MARK_WITHIN, patterns.MARK_WITHIN),
]


@given(st.lists(PIECES, max_size=14).map("".join))
@example("Mr.. A-- -- .\u3002 . x")
def test_patterns_match_as_their_slow_twins(text: str) -> None:
    for fast, slow in TWINS:
        assert [(found.span(), found.groups()) for found in fast.finditer(text)] == [
            (found.span(), found.groups()) for found in slow.finditer(text)
        ]
    ends = re.compile(rf"{wording.SENTENCE_END.pattern}(?=[^a-z\s])")
    assert ends.split(text) == re.split(rf"{patterns.SENTENCE_END.pattern}(?=[^a-z\s])", text)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_abbreviations_are_those_of_the_whole_text_before(text: str) -> None:
    window = text[-sentences._LONGEST :]
    for fast, slow in ((sentences._TITLE, patterns.TITLE), (sentences._ABBREVIATION, patterns.ABBREVIATION)):
        assert bool(fast.search(window)) == bool(slow.search(text))


HOSTILE = [".", "…", "- ", "mr. ", "a. b. ", " "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_run_of_marks_or_blanks_takes_no_minutes(piece: str) -> None:
    """Twice as many dots took four times as long: forty thousand half a minute."""
    text = f"A man{piece * (40_000 // len(piece))}x"
    began = time.process_time()
    for read in (normalise, sentences.sentences_of, wording.sentence_keys, wording.open_end, tokens.attach_clitics):
        read(text)
    drops.with_full_stop(Caption(text))
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("one", "other"),
    [("12", "12.0"), ("12", "012"), (".5", "0.50"), ("1e5", "100000"), ("0", "-0.0"), ("−3", "-3.0"), ("+7", "7")],
)
def test_numbers_of_one_value_have_one_key(one: str, other: str) -> None:
    assert by_value(comparable(one)) == by_value(comparable(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.5", "5.0"),
        ("-3", "3"),
        ("12", "12a"),
        ("1/2", "12"),
        ("10⁵", "105"),
        ("1234567890123456789", "1234567890123456788"),
    ],
)
def test_other_numbers_have_keys_of_their_own(one: str, other: str) -> None:
    assert by_value(comparable(one)) != by_value(comparable(other))


@pytest.mark.parametrize(
    "text", ["", "nan", "NaN123", "infinity", "1,000", "1e", "12 km", "v2", "1e99999999999999999999"]
)
def test_what_is_no_number_keeps_its_key(text: str) -> None:
    assert by_value(comparable(text)) == comparable(text)
