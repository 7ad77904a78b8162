"""Claims about the taggers: tags of caption-like sentences, codes, names, and accuracy on a gold treebank."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from test_house import loaded_by

from swag_af.data.errors import InputError
from swag_af.data.syntax import taggers
from swag_af.data.syntax.english.rules import _RULES, penn_tags
from swag_af.data.syntax.english.universal import universal_tags
from swag_af.data.syntax.english.words import RULED, _lexicon
from swag_af.data.syntax.taggers import _unneeded_for_tags
from swag_af.data.syntax.treebank import read_treebank
from swag_af.data.tags import TAGS, load_tagger, tag_word_types

TREEBANK = Path(__file__).parents[3] / "shared" / "data" / "ud_english_ewt" / "en_ewt-ud-test.conllu"
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "splitters.py"


def test_the_hash_of_the_rules_covers_every_file_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    monkeypatch.setattr(taggers, "sha256_file", lambda path: hashed.append(path.stem) or path.stem)
    before = load_tagger("rules").sha256
    assert {"rules", "scan", "universal", "words"} <= set(hashed)
    monkeypatch.setattr(taggers, "sha256_file", lambda path: "other" if path.stem == "words" else path.stem)
    assert load_tagger("rules").sha256 != before


def tags(sentence: str) -> str:
    return " ".join(load_tagger("rules").tag([_tokens(sentence)])[0])


def _tokens(sentence: str) -> list[str]:
    return sentence.split()


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The man slices the onion and pours water .",
            "DET NOUN VERB DET NOUN CCONJ VERB NOUN PUNCT",
        ),
        ("She is seen walking her dogs .", "PRON AUX VERB VERB PRON NOUN PUNCT"),
        ("They have eaten , but he has two plates .", "PRON AUX VERB PUNCT CCONJ PRON VERB NUM NOUN PUNCT"),
        ("He does n't want to jump .", "PRON AUX PART VERB PART VERB PUNCT"),
        ("She goes to the store as he watches .", "PRON VERB ADP DET NOUN SCONJ PRON VERB PUNCT"),
        ("The dog that barks is his .", None),
        ("Two girls dance on the stage .", "NUM NOUN VERB ADP DET NOUN PUNCT"),
        ("There is a boat .", "PRON VERB DET NOUN PUNCT"),
    ],
)
def test_captions_get_the_tags_a_person_would_give(sentence: str, expected: str | None) -> None:
    if expected is None:
        assert tags(sentence).split()[2:5] == ["PRON", "VERB", "AUX"]
    else:
        assert tags(sentence) == expected


def test_the_kinds_of_words_that_the_look_up_tells_apart_are_those_with_a_rule() -> None:
    assert set(_RULES) == RULED


def test_the_same_form_is_a_verb_behind_a_subject_and_a_noun_behind_an_article() -> None:
    assert tags("He slices bread .").split()[1] == "VERB"
    assert tags("He eats the slices .").split()[3] == "NOUN"


def test_a_past_form_is_a_participle_where_the_clause_has_another_verb() -> None:
    assert penn_tags(_tokens("A man dressed in black walks away ."))[2] == "VBN"
    assert penn_tags(_tokens("A man dressed in black ."))[2] == "VBD"


def test_a_base_form_begins_an_order_unless_a_verb_follows() -> None:
    assert penn_tags(_tokens("Season the soup ."))[0] == "VB"
    assert penn_tags(_tokens("To slice bread down"))[1] == "VB"  # whatever the last word is
    assert penn_tags(_tokens("Place toasted bread on a dish ."))[0] == "VB"
    assert penn_tags(_tokens("Place mats are shown ."))[0] == "NN"


def test_there_is_a_pronoun_before_have() -> None:
    assert tags("There have been rumors .").split()[0] == "PRON"


def test_tags_are_parallel_to_tokens_and_known() -> None:
    sentences = [[], ["Hm"], _tokens("Wow ! ! 3.5 kg £ of tofu , 2nd-rate :) a.b@c.org http://x.y ’s")]
    tagged = load_tagger("rules").tag(sentences)
    assert [len(s) for s in tagged] == [len(s) for s in sentences]
    assert all(tag in TAGS for sentence in tagged for tag in sentence)


def test_every_penn_tag_has_a_universal_one() -> None:
    tokens = _tokens("Please note that 5 of Ann 's oldest friends will have gladly given up % there !")
    assert set(universal_tags(tokens, penn_tags(tokens))) <= set(TAGS)


def test_every_word_of_the_lexicon_may_begin_a_sentence() -> None:
    """The lexicon tags foreign words and odd strings by tags that no universal one is for."""
    words = [word for word in _lexicon() if word.strip() == word and word]
    assert {"Bonjour", "US$", "Il"} <= set(words)
    tagger = load_tagger("rules")
    for word in {*words, *(word[0].upper() + word[1:] for word in words)}:
        (made,) = tagger.tag([[word, "is", "written", "."]])
        assert set(made) <= set(TAGS), word


def test_a_pipeline_that_tags_nothing_is_refused(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="gives words no parts of speech"):
        load_tagger(f"spacy[{tmp_path / 'blank'}]")


def test_word_types_get_one_code_each() -> None:
    words = ["The", "man", "is", "quickly", ",", "7", "to"]
    codes = tag_word_types(words, load_tagger("rules"))
    assert codes.dtype == np.uint8
    assert [TAGS[code] for code in codes] == ["DET", "NOUN", "AUX", "ADV", "PUNCT", "NUM", "PART"]


def test_a_type_that_sentences_spell_with_a_capital_is_a_name() -> None:
    codes = tag_word_types(["Frisbee", "frisbee", "Rome"], load_tagger("rules"))
    assert [TAGS[code] for code in codes] == ["PROPN", "NOUN", "PROPN"]


def test_code_zero_is_no_tag_of_a_word() -> None:
    assert TAGS[0] == "_"
    assert 0 not in tag_word_types(["a", "xyzzy", "?", "$"], load_tagger("rules"))


def test_tagging_is_the_same_alone_and_in_company() -> None:
    sentences = [_tokens("The saw is sharp ."), _tokens("She saw it .")]
    tagger = load_tagger("rules")
    assert tagger.tag(sentences) == [tagger.tag([sentence])[0] for sentence in sentences]


def test_an_unknown_name_is_answered_with_near_matches_and_the_list() -> None:
    with pytest.raises(InputError, match=r"no tagger 'rule'\. Did you mean rules\?.*auto, rules, spacy\[PIPELINE\]"):
        load_tagger("rule")


def test_a_missing_spacy_pipeline_names_the_command_that_installs_it() -> None:
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match="python -m spacy download no_such_pipeline"):
        load_tagger("spacy:no_such_pipeline")


def test_spacy_tags_come_from_the_pipeline_at_a_path(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "runs"}]], {"POS": "VERB"})
    nlp.to_disk(tmp_path / "tiny")
    tagger = load_tagger(f"spacy:{tmp_path / 'tiny'}")
    assert tagger.tag([["Rex", "runs"]]) == [["X", "VERB"]]


def test_a_spacy_tag_that_is_not_universal_is_x(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("attribute_ruler").add([[{}]], {"POS": "SPACE"})
    nlp.to_disk(tmp_path / "tiny")
    assert load_tagger(f"spacy:{tmp_path / 'tiny'}").tag([["Rex"]]) == [["X"]]


@pytest.mark.parametrize(("with_rules", "parses"), [(False, False), (True, True)])
def test_a_tagger_parses_only_where_rules_on_attributes_may_want_it(with_rules: bool, parses: bool) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    if with_rules:
        nlp.add_pipe("attribute_ruler")
    assert ("parser" not in _unneeded_for_tags(nlp)) is parses


def test_a_damaged_spacy_pipeline_is_an_error_in_one_line(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "tiny")
    (tmp_path / "tiny" / "config.cfg").write_text("[nlp]\nlang = 'xx'\npipeline = ['no']\n")
    with pytest.raises(InputError, match="tiny: spaCy cannot load this pipeline") as caught:
        load_tagger(f"spacy:{tmp_path / 'tiny'}")
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_no_pipeline_is_not_to_be_downloaded(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    with pytest.raises(InputError, match=r"no such spaCy pipeline\. Check the path"):
        load_tagger(f"spacy:{tmp_path}")


def test_auto_is_the_rules_where_no_pipeline_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swag_af.data.syntax.taggers.has_spacy_pipeline", lambda: False)
    assert load_tagger("auto").name == "rules"


def test_importing_the_taggers_imports_neither_spacy_nor_the_lexicon() -> None:
    assert not {"spacy", "textblob", "nltk"} & set(loaded_by("swag_af.data.syntax.splitters"))


@pytest.mark.real
@pytest.mark.skipif(not TREEBANK.exists(), reason="no treebank at ../shared/data")
def test_rules_reach_86_per_cent_on_gold_english() -> None:
    benchmark = runpy.run_path(str(BENCHMARK))
    figures = benchmark["measure_tags"](read_treebank(TREEBANK))
    assert figures["tag_accuracy"] >= 0.91
    assert figures["word_type_tag_accuracy"] >= 0.86


def test_without_spacy_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InputError, match=r"^spacy is not installed\. Install it with"):
        load_tagger("spacy:somewhere")
