"""Claims about tokens: nothing is lost, and ordinary sentences come back as a person wrote them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.tokens import capitalise, detokenize, normalise_blanks, token_spans, tokenize

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
]


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
@settings(max_examples=100, deadline=None)
def test_quotes_brackets_clitics_and_commas_come_back(sentence: str) -> None:
    assert detokenize(tokenize(sentence)) == sentence


@given(st.text(st.sampled_from("ab'\"`.,?!()%$&-; ’‘“”é中\u200b\xa0\n"), max_size=25) | st.text(max_size=25))
@settings(max_examples=150, deadline=None)
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
