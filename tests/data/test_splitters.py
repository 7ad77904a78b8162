"""Claims about the splitters: where sentences are cut, that they agree, and accuracy on gold dependencies."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.captions.contexts import make_contexts
from swag_af.data.captions.drops import with_full_stop
from swag_af.data.captions.options import ContextRules
from swag_af.data.errors import InputError
from swag_af.data.syntax.clauses import parsed_verb_group
from swag_af.data.syntax.splitters import Split, cut, load_splitter
from swag_af.data.syntax.treebank import read_treebank
from swag_af.data.video import Caption, Video

TREEBANK = Path(__file__).parents[3] / "shared" / "data" / "ud_english_ewt" / "en_ewt-ud-test.conllu"
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "splitters.py"


def split(text: str, name: str = "rules", tree: str | None = None) -> str | None:
    """`start | ending`, or None."""
    found = load_splitter(name).split([Caption(text, tree=tree)])[0]
    return f"{found.start} | {found.ending}" if found else None


RULES_CUTS = [
    # one clause: subjects of every shape
    "The man | slices the onion and pours water into a bowl.",
    "A man wearing a hat | is seen sitting on a bench.",
    "A woman dressed in black | walks along the shore.",
    "The girl who is holding a kite | runs down the hill.",
    "A group of people in the park | are playing a game.",
    "A boy and a girl | dance on the stage.",
    "Two of the dogs | bark at the mailman.",
    "Several children | jump into the lake.",
    "The first thing he does | is wash the pan.",
    "There | is a man standing in the rain.",
    "A young boy in blue | celebrates.",
    "They | skydive, opening their parachutes over the water.",
    # auxiliaries go with the verb, adverbs before them with the subject
    "She then | will jump over the fence.",
    "He | does n't look at the camera.",
    "The credits | are then shown on the screen.",
    # what comes before the main clause
    "After that, the man | puts the lid on the pot.",
    "As she talks, the dog | runs around the room.",
    "Once they are ready she | rows away.",
    "After a moment she | begins to pretend that he is gone.",
    "When he is done he | rinses the brush.",
    "While holding the rope, a climber | waves at us.",
    # coordinated verb phrases: before the first; coordinated clauses: before the last
    "She | walks in and sits down and reads.",
    "He runs and she | jumps.",
    "He throws the ball and the dog | catches it.",
    "A man talks to the camera, then he | lifts the weight.",
    "They mix the eggs, but the pan | is too hot.",
    "They shout and dance happily, and the crowd | claps.",
    "A goat is released and the farmer | chases after it.",
    "One of them almost falls but the other | pulls back.",
    "Five swimmers are waiting and one of them | dives in.",
    "A girl rides holding a rope, at the end she | falls.",
    "The last time he jumps, the camera | rewinds.",
    "Sit down and we | will talk.",
    # numerals, colours, and nouns with a phrase behind them are subjects too
    "The two | continue around the track.",
    "Three | lift up the boat.",
    "The boy in green | bends over.",
    "Several nurses in white | celebrate.",
    "A woman behind her | pours the tea.",
    "Number 7 | throws the ball.",
    "A man | drinks from a cup.",
    # verbs that look like nouns, where there is no other
    "The audience | applaud and smile as they watch.",
    "A man and a woman | kiss.",
    # nothing inside the verb phrase moves the cut
    "We | see a man who throws a ball and a dog that barks.",
    "He | explains how the machine works.",
    "The woman | watches as the boat leaves the harbor.",
    "The man | says that he likes the soup and that it is warm.",
    "She | holds a brush and a comb and smiles.",
]


@pytest.mark.parametrize("expected", RULES_CUTS)
def test_rules_cut_before_the_final_verb_phrase(expected: str) -> None:
    text = expected.replace(" | ", " ").replace("does n't", "doesn't")
    assert split(text) == expected.replace("does n't", "doesn't")


@pytest.mark.parametrize(
    "text",
    [
        "place noodles on a dish.",
        "stir the soup until it is warm.",
        "now add salt and bread crumbs.",
        "deep fry the bean sprouts.",
        "in a small pot add sliced radish.",
        "when the soup is hot add pepper.",
        "once the cakes are done take them out.",
    ],
)
def test_rules_find_no_cut_in_an_order(text: str) -> None:
    assert split(text) is None


@pytest.mark.parametrize("start", ["Flour", "Water in a bowl", "Dry leaves", "In the park people", "As he turns, snow"])
def test_words_that_could_be_orders_are_subjects_where_a_verb_follows(start: str) -> None:
    verb = "are shown." if start.endswith(("leaves", "people")) else "is shown."
    assert split(f"{start} {verb}") == f"{start} | {verb}"


@pytest.mark.parametrize(
    "text",
    [
        "Put the pan on the stove.",
        "Then adds salt and stirs.",
        "Is it warm?",
        "A man riding a bike.",
        "The end.",
        "",
        "Wow!",
    ],
)
def test_rules_find_no_cut_without_a_finite_verb_behind_a_subject(text: str) -> None:
    assert split(text) is None


TREE = "(S (NP (DT The) (NN man)) (VP (VBZ eats) (CC and) (VP (VBZ drinks))) (. .))"


def test_trees_cut_before_the_verb_phrase() -> None:
    assert split("The man eats and drinks.", "trees", TREE) == "The man | eats and drinks."


def test_trees_take_the_last_of_several_clauses() -> None:
    tree = """(ROOT (S (S (NP (PRP He)) (VP (VBZ runs))) (CC and)
        (S (NP-SBJ (PRP she)) (ADVP (RB then)) (VP (VBZ jumps))) (. .)))"""
    assert split("He runs and she then jumps.", "trees", tree) == "He runs and she then | jumps."


def test_trees_ignore_verb_phrases_inside_noun_phrases() -> None:
    tree = """(S (NP (NP (DT A) (NN man)) (VP (VBG wearing) (NP (DT a) (NN hat))))
        (VP (VBZ sings)) (. .))"""
    assert split("A man wearing a hat sings.", "trees", tree) == "A man wearing a hat | sings."


def test_a_verb_phrase_without_words_is_none() -> None:
    """It ended in a traceback."""
    assert split("dog", "trees", "(S (NP dog) (VP ))") is None


def test_trees_find_no_cut_in_a_noun_phrase_or_when_nothing_comes_before() -> None:
    assert split("The end.", "trees", "(NP (DT The) (NN end) (. .))") is None
    assert split("Eat!", "trees", "(S (VP (VB Eat)) (. !))") is None


def test_a_caption_without_a_tree_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"no tree.*split with auto or rules"):
        split("The man eats.", "trees")


def test_a_tree_of_other_tokens_is_an_error_that_names_the_sentence() -> None:
    with pytest.raises(InputError, match=r"He eats\..*5 leaves for 3 tokens"):
        split("He eats.", "trees", TREE.replace(" (CC and) (VP (VBZ drinks))", " (RB well)"))


@pytest.mark.parametrize(
    ("text", "tree", "said"),
    [
        # one leaf too few is no missing full stop where a clitic is not parted
        (
            "The dog's owner runs home.",
            "(S (NP (NP (DT The) (NN dog's)) (NN owner)) (VP (VBZ runs) (ADVP (RB home))) (. .))",
            "has dog's where the caption has dog",
        ),
        (
            "The old dog walks.",
            "(S (NP (DT A) (JJ red) (NN cat)) (VP (VBZ sits)) (. .))",
            "has A where the caption has The",
        ),
    ],
)
def test_a_tree_of_another_caption_is_an_error(text: str, tree: str, said: str) -> None:
    """Leaves were counted alone, and gold was cut at the wrong word."""
    with pytest.raises(InputError, match=said):
        split(text, "trees", tree)


def test_leaves_may_be_written_as_the_treebank_writes_them() -> None:
    tree = "(S (NP (NP A man) (PRN (-LRB- -LRB-) (CD 1\\/2) (-RRB- -RRB-))) (VP (VBZ SAYS) (`` ``) (X hi) ('' '')))"
    assert split('A man (1/2) says "hi".', "trees", tree) == 'A man (1/2) | says "hi".'


def test_a_tree_may_lack_the_full_stop_that_its_caption_was_given() -> None:
    tree = TREE.replace("(. .)", "")
    assert split(with_full_stop(Caption("The man eats and drinks", tree=tree)).text, "trees", tree) == (
        "The man | eats and drinks."
    )


def test_a_broken_tree_is_an_error() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        split("He eats.", "trees", "(S (NP He)")


def test_auto_uses_the_tree_of_a_caption_that_has_one_and_the_rules_for_the_others() -> None:
    strange = "(S (NP (DT The) (NN man) (VBZ eats) (CC and)) (VP (VBZ drinks)) (. .))"
    captions = [Caption("The man eats and drinks.", tree=strange), Caption("The man eats and drinks.")]
    starts = [found.start for found in load_splitter("auto").split(captions) if found]
    assert starts == ["The man eats and", "The man"]
    assert load_splitter("auto").name.startswith("trees-or-")


def test_rules_and_trees_agree() -> None:
    text = "A man wearing a hat eats and drinks."
    tree = """(S (NP (NP (DT A) (NN man)) (VP (VBG wearing) (NP (DT a) (NN hat))))
        (VP (VP (VBZ eats)) (CC and) (VP (VBZ drinks))) (. .))"""
    assert split(text, "rules") == split(text, "trees", tree)


WORDS = [
    "the",
    "man",
    "dog",
    "she",
    "is",
    ",",
    "and",
    "who",
    "runs",
    "slices",
    "red",
    ".",
    "as",
    "then",
    "'s",
    "to",
]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_a_split_is_the_text_in_two_parts_without_loose_blanks(words: list[str]) -> None:
    text = " ".join(words)
    found = load_splitter("rules").split([Caption(text)])[0]
    if found:
        assert text.replace(" ", "") == (found.start + found.ending).replace(" ", "")
        assert text.startswith(found.start)
        assert text.endswith(found.ending)
        assert found == Split(found.start.strip(), found.ending.strip())


def test_a_cut_keeps_the_spelling_and_drops_the_blank() -> None:
    assert cut("He  can't go .", 4) == Split("He", "can't go .")


def test_a_cut_inside_a_word_loses_nothing() -> None:
    assert split("She's seen running.") == "She | 's seen running."


def test_a_cut_with_only_punctuation_before_it_is_no_cut() -> None:
    assert cut('" is it', 2) is None


def test_parsed_verb_group_starts_at_its_auxiliary_and_wants_a_subject() -> None:
    # She | will be going , and he | has left
    tags = ["PRON", "AUX", "AUX", "VERB", "PUNCT", "CCONJ", "PRON", "AUX", "VERB"]
    relations = ["nsubj", "aux", "aux", "root", "punct", "cc", "nsubj", "aux", "conj"]
    heads = [3, 3, 3, -1, 3, 8, 8, 8, 3]
    assert parsed_verb_group(tags, heads, relations) == 7
    assert parsed_verb_group(tags, heads, [*relations[:6], "obj", "aux", "conj"]) == 1


def test_an_unknown_name_is_answered_with_near_matches_and_the_list() -> None:
    with pytest.raises(InputError, match=r"no splitter 'tree'\. Did you mean trees.*spacy\[PIPELINE\]"):
        load_splitter("tree")


def test_a_missing_spacy_pipeline_names_the_command_that_installs_it() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match="python -m spacy download en_no_such"):
        load_splitter("spacy:en_no_such")


def test_spacy_cuts_by_the_parse_of_the_pipeline_at_a_path(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    register_hand_set_heads(spacy)
    nlp = spacy.blank("en")
    nlp.add_pipe("hand_set_heads")
    nlp.to_disk(tmp_path / "tiny")
    name = f"spacy:{tmp_path / 'tiny'}"
    assert split("The man is eating.", name) == "The man | is eating."
    assert split("Eat now.", name) is None
    assert load_splitter(name).name == name


def test_spacy_cuts_german_by_its_subject_and_never_by_rules_of_english(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    register_hand_set_heads(spacy)
    nlp = spacy.blank("de")
    nlp.add_pipe("hand_set_heads")
    nlp.to_disk(tmp_path / "tiny")
    name = f"spacy:{tmp_path / 'tiny'}"
    assert split("Der Mann isst.", name) == "Der Mann | isst."
    assert split("Brief am Bahnhof.", "rules") == "Brief | am Bahnhof."
    assert split("Brief am Bahnhof.", name) is None


def register_hand_set_heads(spacy: Any) -> None:
    """A spaCy component that knows the parses of a few sentences, one of which pipelines are tried with."""
    parses = {
        "The man is eating .": (
            ["DET", "NOUN", "AUX", "VERB", "PUNCT"],
            [1, 3, 3, 3, 3],
            ["det", "nsubj", "aux", "ROOT", "punct"],
        ),
        "The man walks .": (["DET", "NOUN", "VERB", "PUNCT"], [1, 2, 2, 2], ["det", "nsubj", "ROOT", "punct"]),
        "Eat now .": (["VERB", "ADV", "PUNCT"], [0, 0, 0], ["ROOT", "advmod", "punct"]),
        "Der Mann isst .": (["DET", "NOUN", "VERB", "PUNCT"], [1, 2, 2, 2], ["nk", "sb", "ROOT", "punct"]),
        "Brief am Bahnhof .": (["NOUN", "ADP", "NOUN", "PUNCT"], [0, 0, 1, 0], ["ROOT", "mnr", "nk", "punct"]),
    }

    @spacy.Language.component("hand_set_heads")
    def hand_set_heads(doc: Any) -> Any:
        pos, heads, deps = parses[" ".join(token.text for token in doc)]
        return spacy.tokens.Doc(doc.vocab, words=[t.text for t in doc], pos=pos, heads=heads, deps=deps)


@pytest.mark.real
@pytest.mark.skipif(not TREEBANK.exists(), reason="no treebank at ../shared/data")
def test_rules_cut_85_per_cent_of_gold_english_like_its_dependencies() -> None:
    benchmark = runpy.run_path(str(BENCHMARK))
    assert benchmark["measure_splits"](read_treebank(TREEBANK))["split_accuracy"] >= 0.85


@pytest.mark.parametrize(
    ("tree", "said"), [("(S (NP broken", "cannot be read"), (None, "no tree"), ("(S (NP He))", "1 leaves")]
)
def test_the_video_of_a_caption_whose_tree_is_of_no_use_is_named(tree: str | None, said: str) -> None:
    """The caption alone was named, which may stand there hundreds of times."""
    captions = tuple(Caption(text, tree=TREE) for text in ("The man eats and drinks.", "The man eats and drinks!"))
    videos = [
        Video("v1", "custom", captions),
        Video("v2", "custom", (captions[0], Caption("He sits down there.", tree=tree))),
    ]
    rules = ContextRules(min_sentence_tokens=1, min_token_count=1, drop_foreign=False)
    with pytest.raises(InputError, match=rf"video v2: 'He sits down there\.': .*{said}"):
        make_contexts(videos, load_splitter("trees"), rules, rng=np.random.default_rng(0))
