"""Claims about the language of a set of texts."""

from itertools import permutations

import pytest

from swag_af.data.captions.language import foreign_language

TEXTS = {
    "": ("The dog sleeps on the sofa.", "A woman cooks soup.", "The child plays in the garden."),
    "de": ("Der Hund schläft auf dem Sofa.", "Die Frau kocht Suppe.", "Das Kind spielt im Garten."),
    "fr": ("Le chien dort sur le canapé.", "La femme prépare une soupe.", "L'enfant joue dans le jardin."),
    "zh": ("小狗在沙发上睡觉,它很累了。", "女人在厨房里做汤,她很高兴。", "孩子们在花园里玩,天气非常好。"),
}


@pytest.mark.parametrize("language", TEXTS)
def test_texts_are_judged_together_in_whatever_order(language: str) -> None:
    assert {foreign_language(texts) for texts in permutations(TEXTS[language])} == {language}


@pytest.mark.parametrize("texts", [(), ("",), ("12 + 30 = 42", "7 * 6"), ("Hund", "Katze")])
def test_a_few_letters_are_not_judged(texts: tuple[str, ...]) -> None:
    assert foreign_language(texts) == ""
