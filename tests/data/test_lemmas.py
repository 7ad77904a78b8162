"""Claims about lemmas of verbs: irregular forms, spelling, and agreement with a gold treebank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from swag_af.data.syntax.lemmas import LEMMAS, inflected, verb_lemma

REGULAR = [
    "walk",
    "jump",
    "stop",
    "clap",
    "chop",
    "move",
    "dance",
    "bake",
    "hope",
    "change",
    "place",
    "face",
    "carry",
    "try",
    "wash",
    "mix",
    "pass",
    "buzz",
    "pull",
    "fill",
]
REGULAR += [
    "visit",
    "open",
    "enter",
    "travel",
    "prefer",
    "agree",
    "dye",
    "cheer",
    "float",
    "wait",
    "peel",
    "turn",
    "listen",
    "order",
    "hand",
    "point",
    "rock",
]


@pytest.mark.parametrize(
    ("form", "verb"),
    [
        *(("went", "go"), ("goes", "go"), ("Sitting", "sit"), ("wore", "wear"), ("’re", "be"), ("lying", "lie")),
        *(("dying", "die"), ("paying", "pay"), ("hoping", "hope"), ("hopping", "hop"), ("settled", "settle")),
        *(("calling", "call"), ("bathed", "bathe"), ("flipping", "flip"), ("puts", "put"), ("watches", "watch")),
        *(("zzyxing", "zzyx"), ("snowboards", "snowboard"), ("", ""), ("café", "café")),
    ],
)
def test_a_form_gives_its_verb(form: str, verb: str) -> None:
    assert verb_lemma(form) == verb


def test_of_equally_likely_verbs_that_in_y_counts_in_every_process() -> None:
    """In the order of a set, each would be `horrifi` in about half of all processes."""
    stems = ("horrif", "mystif", "zombif", "blobbif", "cattif", "doggif", "frostif", "gamif")
    assert [verb_lemma(f"{stem}ied") for stem in stems] == [f"{stem}y" for stem in stems]


@pytest.mark.parametrize("verb", REGULAR)
def test_every_form_that_spelling_makes_gives_the_verb_back(verb: str) -> None:
    assert {verb_lemma(form) for form in (verb, *inflected(verb))} == {verb}


@given(st.text(max_size=12))
def test_any_text_has_a_lemma_in_lower_case_and_no_longer_than_one_letter_more(text: str) -> None:
    lemma = verb_lemma(text)
    assert lemma == lemma.lower()
    assert text.lower() in LEMMAS or len(lemma) <= len(text.lower()) + 1


@pytest.mark.real
def test_lemmas_agree_with_a_treebank_that_they_were_not_made_for() -> None:
    """UD English EWT, test: no rule and no entry came from it."""
    lines = shared("ud_english_ewt/en_ewt-ud-test.conllu").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    verbs = [(row[1], row[2].lower()) for row in rows if len(row) == 10 and row[3] == "VERB" and row[0].isdigit()]
    assert len(verbs) > 2000
    assert sum(verb_lemma(form) == lemma for form, lemma in verbs) / len(verbs) > 0.99
