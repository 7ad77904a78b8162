"""Claims about tokens: nothing is lost, and ordinary sentences come back as a person wrote them."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from shared_data import shared

from swag_af.data import tokens
from swag_af.data.tokens import capitalise, detokenize, normalise_blanks, one_after_another, token_spans, tokenize

SENTENCES = [
    "She can't swim, but he'll try.",
    "They don't know that it's the man's hat.",
    "The dogs' tails wag, don't they?",
    "These coats are the girls'.",
    "He cannot stop.",
    "He's gonna fall, and she wants to, but you gotta wait; gimme that.",
    'She says "yes", then "no".',
    'He shouts "go!" and runs.',
    '"Stop," she says.',
    "A man (in red) pays $5 for 20% of it; it's #1.",
    "It is 5:30 o'clock -- late... or not?",
    "A well-known 3.5 kg U.S. box, i.e. a big one.",
    "The man’s hat “falls” off, and he doesn’t care.",
    "They see 1,000 birds [or more]!",
    "He reads 'the old man' to the boys' mother.",
    "He points at the number '2' and says 'go'.",
    'The sign reads "Food & Drug by M&S", sent to @home at 6 p.m. today.',
    "He jumps 6'2\" at last.",
]


@pytest.mark.parametrize(
    "sentence",
    [
        "He fires a .22 rifle.",
        "She adds .5 cups.",
        "They met in the '90s.",
        "Songs of the '90s and the '80s play.",
        "He waits 'til noon.",
        "She hands 'em over.",
        "The dogs' round ears move.",
        "The teams' 2019 season ends.",
    ],
)
def test_letters_and_zeros_that_are_left_out_keep_their_blank(sentence: str) -> None:
    """`a .22 rifle` became `a.22 rifle`, in golds and in endings."""
    assert detokenize(tokenize(sentence)) == sentence


@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_ordinary_sentence_comes_back_from_its_tokens(sentence: str) -> None:
    assert detokenize(tokenize(sentence)) == sentence


WORDS = [
    "the",
    "man",
    "Ann",
    "dogs",
    "walks",
    "well-known",
    "3.5",
    "don't",
    "they'll",
    "it's",
    "man's",
    "o'clock",
    "e.g.",
]


@st.composite
def written_sentences(draw: st.DrawFn) -> str:
    phrases = draw(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=4))
    dressed = [draw(st.sampled_from(["{}", '"{}"', "({})"])).format(" ".join(phrase)) for phrase in phrases]
    glue = draw(st.sampled_from([" ", ", ", "; ", " -- "]))
    return glue.join(dressed) + " there" + draw(st.sampled_from([".", "?", "!"]))


@given(written_sentences())
@settings(max_examples=100)
def test_quotes_brackets_clitics_and_commas_come_back(sentence: str) -> None:
    assert detokenize(tokenize(sentence)) == sentence


@given(st.text(st.sampled_from("ab'\"`.,?!()%$&-; ’‘“”é中\u200b\xa0\n"), max_size=25) | st.text(max_size=25))
@settings(max_examples=150)
def test_no_letter_is_lost_or_made_up(text: str) -> None:
    assert "".join(tokenize(text)) == "".join(text.split())


def test_spans_point_into_the_text() -> None:
    text = "She  can't."
    assert [text[begin:end] for begin, end in token_spans(text)] == ["She", "ca", "n't", "."]
    assert token_spans("") == []


def test_stray_blanks_become_one() -> None:
    assert normalise_blanks("  a\t b\n\xa0c ") == "a b c"


def test_a_capital_is_added_and_none_taken() -> None:
    assert capitalise("ann sees Bob.") == "Ann sees Bob."
    assert capitalise("") == ""


def by_nltk(text: str) -> list[tuple[int, int]]:
    return list(NLTKWordTokenizer().span_tokenize(text)) if text else []


PARTS = [
    "the",
    "Dogs",
    "can't",
    "CAN'T",
    "n't",
    "it's",
    "we'll",
    "I'm",
    "cannot",
    "gonna",
    "well-known",
    "-",
    "--",
    "3",
    "1,000",
]
PARTS += [
    ",",
    ".",
    "!",
    "?",
    ";",
    ":",
    "'",
    '"',
    "e.g.",
    "dogs'",
    "o'clock",
    "'tis",
    "\u212a",
    "é",
    "Don't",
    "N'T",
    "'LL",
    "'Ll",
]


@given(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(["", " ", " ", " "])), max_size=8))
@settings(max_examples=400)
def test_tokens_are_nltks_by_the_short_way_too(parts: list[tuple[str, str]]) -> None:
    text = "".join(part + blank for part, blank in parts)
    assert token_spans(text) == by_nltk(text)
    assert tokenize(text) == [text[begin:end] for begin, end in by_nltk(text)]


@given(st.text(st.sampled_from("aBsnt'3-, .?!"), max_size=12))
@settings(max_examples=400)
def test_any_plain_letters_have_nltks_tokens(text: str) -> None:
    assert token_spans(text) == by_nltk(text)


@pytest.mark.real
def test_real_captions_have_nltks_tokens_and_come_back_from_them() -> None:
    videos = json.loads(shared("activitynet_captions/val_1.json").read_text(encoding="utf-8")).values()
    texts = [normalise_blanks(text) for video in videos for text in video["sentences"]][:6000]
    assert [text for text in texts if token_spans(text) != by_nltk(text)] == []
    assert sum(tokenize(detokenize(tokenize(text))) != tokenize(text) for text in texts) <= 1
    shown = " | ".join(detokenize(tokenize(text)) for text in texts)
    assert re.findall(r"\w [,.?!;:](?!\d)| n't\b| '(?:s|re|ve|ll)\b|\( | \)", shown) == []


TOKENS = st.lists(
    st.sampled_from(
        ["a", "can", "Not", "not", "gim", "me", "got", "ta", "-", "mid-air", ".", ",", "!", ":", "", " ", "b c"]
    )
    | st.text("aZ9 .,?!;:'$&\"(-", max_size=4),
    max_size=8,
)


@settings(max_examples=300)
@given(TOKENS)
@example(["got", "", "ta"])
def test_texts_without_quotes_and_signs_are_joined_as_any_other(words: list[str]) -> None:
    assert detokenize(words) == tokens._detokenize_any(words)


def test_no_blank_stands_between_sentences_of_scripts_without_blanks() -> None:
    assert one_after_another("医生在公园里。", "他") == "医生在公园里。他"
    assert one_after_another("A man sits.", "", "He", "runs.") == "A man sits. He runs."
    assert one_after_another("A man sits.", "他") == "A man sits. 他"
    assert one_after_another() == one_after_another("") == ""
