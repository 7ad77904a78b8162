"""The bundled sample keeps its promises: a tree for each sentence, all else from the tree, few rare words."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from nltk import Tree

from swag_af.data.sample import scenes as grammar_words
from swag_af.data.sample.grammar import SampleSentence, sample_sentences, sample_videos
from swag_af.data.sample.trees import constituent, inflect, is_plural
from swag_af.data.tokens import tokenize

UNIVERSAL = {
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
    *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
}


@cache
def full_sample(seed: int) -> list[list[SampleSentence]]:
    return sample_sentences(seed=seed)


@pytest.fixture(scope="module")
def sentences() -> list[SampleSentence]:
    return [sentence for video in full_sample(0) for sentence in video]


@pytest.fixture(scope="module")
def trees(sentences: list[SampleSentence]) -> list[Tree]:
    return [Tree.fromstring(sentence.tree) for sentence in sentences]


def test_the_same_seed_gives_the_same_videos() -> None:
    assert sample_videos(40, seed=3) == sample_videos(40, seed=3)


def test_another_seed_gives_other_videos() -> None:
    assert sample_videos(40, seed=3) != sample_videos(40, seed=4)


def test_a_smaller_sample_is_the_beginning_of_a_larger() -> None:
    assert sample_videos(40)[:15] == sample_videos(15)


def test_videos_carry_the_texts_and_trees_of_the_sentences() -> None:
    told = [[(sentence.text, sentence.tree) for sentence in video] for video in sample_sentences(40)]
    assert [[(caption.text, caption.tree) for caption in video.captions] for video in sample_videos(40)] == told


def test_videos_are_named_by_their_number_and_sourced() -> None:
    videos = sample_videos(18)
    assert [video.id for video in videos] == [f"sample-{i:05d}" for i in range(18)]
    assert {video.source for video in videos} == {"sample"}


def test_times_increase() -> None:
    for video in sample_videos(60):
        times = [second for caption in video.captions for second in caption.seconds or ()]
        assert len(times) == 2 * len(video.captions)
        assert times == sorted(times)
        assert all(begin < end for begin, end in zip(times[::2], times[1::2], strict=True))


def test_videos_have_three_to_six_captions_and_make_about_3500() -> None:
    sizes = [len(video) for video in full_sample(0)]
    assert set(sizes) == {3, 4, 5, 6}
    assert 3300 < sum(sizes) < 3800


def test_leaves_are_the_tokens_and_the_tokens_of_the_text(sentences: list[SampleSentence], trees: list[Tree]) -> None:
    for sentence, tree in zip(sentences, trees, strict=True):
        assert tree.label() == "S"
        assert tree.leaves() == list(sentence.tokens) == tokenize(sentence.text)


def test_every_token_has_a_universal_tag(sentences: list[SampleSentence]) -> None:
    assert all(len(sentence.tags) == len(sentence.tokens) for sentence in sentences)
    assert {tag for sentence in sentences for tag in sentence.tags} <= UNIVERSAL


def test_be_is_an_auxiliary_before_a_verb_and_a_verb_after_there(sentences: list[SampleSentence]) -> None:
    for sentence in sentences:
        tags = [tag for token, tag in zip(sentence.tokens, sentence.tags, strict=True) if token in {"is", "are"}]
        if sentence.tokens[0] == "There":
            assert tags[0] == "VERB"
        else:
            assert set(tags) <= {"AUX"}


def test_sentences_are_capitalised_short_and_end_with_a_full_stop(sentences: list[SampleSentence]) -> None:
    for sentence in sentences:
        assert sentence.text[0].isupper()
        assert sentence.text.endswith(".")
        assert 6 <= len(sentence.tokens) <= 19


def test_the_split_is_before_the_final_outermost_verb_phrase(
    sentences: list[SampleSentence], trees: list[Tree]
) -> None:
    for sentence, tree in zip(sentences, trees, strict=True):
        predicates = list(_outermost_verb_phrases(tree))
        n_ending = len(tokenize(sentence.ending))
        if predicates:
            last = predicates[-1].leaves()
            assert list(sentence.tokens[-n_ending:]) == [*last, "."]
        else:
            assert n_ending == 0


def _outermost_verb_phrases(tree: Tree) -> Iterator[Tree]:
    """Those that can be reached from the root without entering a noun phrase or another verb phrase."""
    for child in tree:
        if isinstance(child, Tree) and child.label() == "VP":
            yield child
        elif isinstance(child, Tree) and child.label() != "NP":
            yield from _outermost_verb_phrases(child)


def test_start_and_ending_make_the_text(sentences: list[SampleSentence]) -> None:
    for sentence in sentences:
        assert sentence.text == f"{sentence.start} {sentence.ending}" or not (sentence.start or sentence.ending)


def test_one_to_three_in_a_hundred_sentences_have_no_verb(sentences: list[SampleSentence]) -> None:
    verbless = [sentence for sentence in sentences if not sentence.ending]
    assert 0.01 < len(verbless) / len(sentences) < 0.03
    assert not any("VERB" in sentence.tags for sentence in verbless)


@pytest.mark.parametrize("seed", [0, 1])
def test_few_sentences_are_said_twice(seed: int) -> None:
    texts = [sentence.text for video in full_sample(seed) for sentence in video]
    assert len(set(texts)) > 0.97 * len(texts)


@pytest.mark.parametrize("seed", [0, 1])
def test_few_sentences_hold_a_rare_token(seed: int) -> None:
    told = [[token.lower() for token in sentence.tokens] for video in full_sample(seed) for sentence in video]
    counts = Counter(token for tokens in told for token in tokens)
    assert 500 < len(counts) < 900
    assert sum(any(counts[token] <= 3 for token in tokens) for tokens in told) < 0.02 * len(told)


def test_an_stands_before_vowel_letters_and_a_before_others(sentences: list[SampleSentence]) -> None:
    for sentence in sentences:
        for article, word in zip(sentence.tokens, sentence.tokens[1:], strict=False):
            if article.lower() in {"a", "an"}:
                assert (article.lower() == "an") == (word[0] in "aeiou"), sentence.text


def test_verbs_agree_with_their_subjects(trees: list[Tree]) -> None:
    for tree in trees:
        for clause in tree.subtrees(lambda t: t.label() == "S"):
            labels = [child.label() for child in clause]
            if "NP" not in labels or "VP" not in labels:
                continue
            subject = clause[labels.index("NP")].leaves()
            verb = clause[labels.index("VP")].pos()[0]
            if subject in (["he"], ["He"], ["she"], ["She"]):
                assert verb[1] in {"VBZ", "MD"}
            if subject in (["they"], ["They"]):
                assert verb[1] in {"VBP", "MD"}
                assert verb[0] != "is"


def test_every_scene_is_told_in_every_eighty_videos() -> None:
    texts = [" ".join(sentence.text for sentence in video) for video in sample_sentences(80)]
    for word in ("kitchen", "clay", "barber", "paddl", "snow", "bowling"):
        assert any(word in text for text in texts)


def test_every_scene_has_something_for_the_first_half() -> None:
    for scene in grammar_words.SCENES:
        for lines in (scene.events, scene.shots):
            assert any(not line.startswith("+") for line in lines.strip().splitlines()), scene.name


def test_every_word_class_is_listed_once_and_used() -> None:
    tables = " ".join(
        [
            *(f"{s.openings}{s.steps}{s.sides}{s.events}{s.shots}{s.places}{s.adverbs}" for s in grammar_words.SCENES),
            *(value for scene in grammar_words.SCENES for value in scene.slots.values()),
            *grammar_words.AGES.values(),
            *(grammar_words.LOOKS, grammar_words.COLORS, grammar_words.COUNTS, grammar_words.GENERAL_SIDES),
            *(grammar_words.CLOSINGS, grammar_words.OPENERS, "first other last"),
        ]
    )
    used = set("".join(c if c.isalpha() else " " for c in tables).split())
    assert used >= grammar_words.ADJECTIVES
    assert not grammar_words.ADJECTIVES & grammar_words.ADVERBS


@pytest.mark.parametrize(
    ("verb", "form", "word"),
    [
        ("carry", "VBZ", "carries"),
        ("play", "VBZ", "plays"),
        ("wash", "VBZ", "washes"),
        ("tie", "VBG", "tying"),
        ("cut", "VBG", "cutting"),
        ("open", "VBG", "opening"),
        ("squeeze", "VBG", "squeezing"),
        ("take", "VBN", "taken"),
        ("carry", "VBN", "carried"),
        ("wash", "VBN", "washed"),
    ],
)
def test_verbs_are_inflected_as_in_english(verb: str, form: str, word: str) -> None:
    assert inflect(verb, form) == word


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [
        ("two boys", True),
        ("a group of boys", False),
        ("they", True),
        ("the two", True),
        ("both of them", True),
        ("the children", True),
        ("the glass", False),
        ("the canvas", False),
        ("the dog 's ears", True),
    ],
)
def test_noun_phrases_know_their_number(phrase: str, plural: bool) -> None:
    assert is_plural(constituent(phrase)) is plural
