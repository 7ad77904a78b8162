"""Claims about a dataset described: counts, lengths, verbs beside another corpus, topics; slow twins, and real data."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shared_data import shared

from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.reading import read_instances
from swag_af.data.tags import load_tagger
from swag_af.data.tokens import tokenize
from swag_af.describing.counts import counts_of, question_word
from swag_af.describing.description import Description, description_of
from swag_af.describing.lengths import LONGEST, curve_of, lengths_of
from swag_af.describing.options import DescribeOptions, Of
from swag_af.describing.parts import Sentence, parts_of, plain, sentences, size_of, sizes_of, token_list
from swag_af.describing.tables import tables_of
from swag_af.describing.topics import _BATCH, _held_out, _passes, content_words, n_batches, topics_of
from swag_af.describing.verbs import (
    PRIOR,
    Ratio,
    VerbCounts,
    compare,
    count_verbs,
    cumulative,
    design_effect,
    log_odds,
    verbs_in,
)

TAGGER = load_tagger("rules")


def questions(n: int = 12) -> Instances:
    verbs = ("rides", "paints", "lifts", "washed")
    ones = tuple(
        Instance(
            f"q{i}",
            "What does the man do next?" if i % 3 else f"A woman waits in room {i}.",
            (f"{verbs[i % 4]} the horse.", f"{verbs[(i + 1) % 4]} a car {i}.", "sleeps."),
            i % 3,
            start="The man",
            group=f"{'anetv' if i % 2 else 'lsmdc'}_{i % 6}",
            media=f"image {i // 2}",
            contrast_set=f"set {i // 2}",
            variant=("original", "contrast")[i % 2],
            gold_source=("found", "generated")[i % 2],
        )
        for i in range(n)
    )
    return Instances(ones, "choices", name="made up")


def described(instances: Instances, *, verbs: int = 40, topics: int = 2) -> Description:
    options = DescribeOptions((Path("a"),), verbs=verbs, topics=topics)
    return description_of(instances, options, tagger=TAGGER)


def test_everything_is_counted_once() -> None:
    counts = {one.what: one.n for one in counts_of(questions()).whole}
    assert counts == {
        "questions": 12,
        "unique contexts": len({(one.context, one.start) for one in questions().instances}),
        "unique first sentences": 5,
        "unique starts": 1,
        "unique endings": 17,
        "unique golds": len({one.options[one.answer] for one in questions().instances}),
        "unique distractors": len(
            {text for one in questions().instances for text in one.options if text != one.options[one.answer]}
        ),
        "questions with 3 options": 12,
        "questions whose gold was found": 6,
        "questions whose gold was generated": 6,
        "groups (videos, movies, passages)": 6,
        "images or other media": 6,
        "contrast sets": 6,
        "contrast sets of 2": 6,
        "instances that are contrast": 6,
        "instances that are original": 6,
    }


def test_sources_are_told_by_the_names_of_groups_only_where_all_have_one() -> None:
    made = questions()
    assert {one.what: one.n for one in counts_of(made).sources} == {"anetv": 6, "lsmdc": 6}
    numbered = replace(made, instances=tuple(replace(one, group=str(i)) for i, one in enumerate(made.instances)))
    assert counts_of(numbered).sources == ()


def test_places_of_gold_are_not_told_where_the_order_was_drawn() -> None:
    assert [one.n for one in counts_of(questions()).labels] == [4, 4, 4]
    assert counts_of(replace(questions(), has_order=False)).labels == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(("What is that?", "what"), ("In the end, to whom does he talk?", "who"), ("He eats. Why?", "why")),
        *(("Is she here?", "yes or no"), ("Where he is. Does he know what to do?", "yes or no")),
        *(("The largest planet?", "other"), ("What a day.", ""), ("", "")),
        *(("why did the boy jump", "why"), ("He sat. Whom does he see", "who"), ("is she here", "yes or no")),
        *(("where is the man", "where"), ("Where he goes depends on", ""), ("When ice melts, it", "")),
        *(("A plant which grows", ""), ("How to peel a banana.", ""), ("Which is colder:", "which")),
    ],
)
def test_a_question_asks_by_its_first_question_word(text: str, word: str) -> None:
    assert question_word(text) == word


def asking(*contexts: str) -> Instances:
    return Instances(tuple(Instance(f"{i}", text, ("a", "b"), 0) for i, text in enumerate(contexts)), "choices")


def test_what_is_asked_without_a_question_mark_counts_and_shares_are_of_all() -> None:
    made = counts_of(asking("why did he jump", "why does he sit?", "what is this", "Ice is made by")).first_words
    assert [(one.what, one.n, one.share) for one in made] == [
        ("what", 1, 0.25),
        ("why", 2, 0.5),
        ("no question", 1, 0.25),
    ]


def test_of_contexts_that_are_no_questions_nothing_is_told() -> None:
    statements = [f"A man sits in room {i}." for i in range(19)]
    assert counts_of(asking(*statements, "Why?")).first_words == ()
    assert len(counts_of(asking(*statements[:9], "Why?")).first_words) == 2


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("She can't.", (4, 3, 5)), ("", (0, 0, 0)), ("[person1] and [person2] dance.", (5, 4, 3))),
        *(("\u006ee\u0301 l\u00e0.", (3, 2, 3)), ("\u0915\u094c\u0928 1", (2, 2, 2)), ("a_b", (1, 1, 3))),
        *(("What is [person3]'s job?", (6, 5, 7)), ("[person1][person2]'s", (3, 3, 3))),
    ],
)
def test_a_text_has_tokens_words_and_signs(text: str, size: tuple[int, int, int]) -> None:
    assert size_of(text) == size


SENTENCES = (
    "Mr. Smith weighs 3.5 lbs at St. Mary's.",
    "She can't, i.e. won't, smile at Dr. Who!",
    "he laughed.",
    "Is it 10 p.m. already?",
    '"Go home," they said...',
    "[person1] and [person2][person3] walked.",
)


@given(st.lists(st.sampled_from(SENTENCES), max_size=5))
def test_a_text_of_several_sentences_has_the_tokens_of_each(sentences: list[str]) -> None:
    apart = [tokenize(re.sub(r"\[(\w+)\]", r" \1 ", sentence)) for sentence in sentences]
    assert token_list(" ".join(sentences)) == [token for tokens in apart for token in tokens]


def test_the_vocabulary_has_no_word_with_a_full_stop_but_abbreviations() -> None:
    passage, options = "Mr. Smith smiled. She laughed. They walked 3.5 miles.", ("He smiled. He walked.", "She.")
    counts = {
        one.what: one.n for one in counts_of(Instances((Instance("a", passage, options, 0),), "choices")).vocabulary
    }
    types = {"mr.", "smith", "smiled", ".", "she", "laughed", "they", "walked", "3.5", "miles", "he"}
    assert (counts["types"], counts["tokens"]) == (len(types), 12 + 6 + 2)


def test_golds_of_several_sentences_count_by_sentence_the_first_behind_its_start() -> None:
    ones = (Instance("a", "", ("smiled. She laughed. They walked.", "sat."), 0, start="The man who waits"),)
    made = Instances(ones, "choices")
    found = sentences(made, np.zeros(1, np.int64), "golds")
    assert {(one.start, one.text) for one in found} == {
        ("The man who waits", "smiled."),
        ("", "She laughed."),
        ("", "They walked."),
    }
    assert sorted(verb for verbs in verbs_in(found, TAGGER) for verb in verbs) == ["laugh", "smile", "walk"]
    curve = curve_of(made, "golds", {})
    assert (curve.n, curve.mean) == (3, 4)  # 6 tokens, 3 and 3


@given(st.lists(st.text(max_size=30), max_size=8))
def test_sizes_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    twice = [*texts, *texts]
    assert sizes_of(twice, {}).tolist() == [list(size_of(text)) for text in twice]


@given(st.lists(st.integers(1, 90), min_size=1, max_size=40))
def test_lengths_and_curve_agree_with_a_slow_count(lengths: list[int]) -> None:
    texts = [" ".join(["word"] * n) for n in lengths]
    ones = tuple(Instance(str(i), "", (text,), i % 2) for i, text in enumerate(texts))
    made = Instances(ones, "classes", ("a", "b"))
    row = lengths_of(parts_of(made), {})[0]
    assert (row.part, row.n, row.least, row.most) == ("texts", len(lengths), min(lengths), max(lengths))
    assert row.mean == row.words == row.signs == round(sum(lengths) / len(lengths), 4)
    different = set(lengths)
    curve = curve_of(made, "golds", {})
    assert curve.shares == tuple(
        round(sum(min(n, LONGEST) == k for n in different) / len(different), 6) for k in range(LONGEST + 1)
    )


def test_lengths_are_told_by_variant_and_by_class() -> None:
    names = [part.name for part in parts_of(questions())]
    assert names[:5] == ["contexts", "starts", "options", "golds", "other options"]
    assert {"golds, original", "contexts, contrast"} <= set(names)
    assert sum(len(part.texts) for part in parts_of(questions()) if part.name.startswith("golds, ")) == 12


def test_verbs_of_an_ending_are_those_of_the_ending_alone() -> None:
    made = count_verbs("x", [Sentence(0, "A woman who waits", "painted the car and is riding.")], TAGGER)
    assert dict(zip(made.verbs, made.totals.tolist(), strict=True)) == {"paint": 1, "ride": 1}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("[person2] smiles at [person1] and [chair1].", "someone smiles at someone and someone."),
        ("[person1][person2]'s car", "someone someone's car"),
        ("[header] How to step [title]", "[header] How to step [title]"),
        ("[MASK]'s dog pl[MASK]nt[MASK] it.", " someone 's dog  someone  it."),
        ("They c[MASK]n't b[MASK][MASK]t-up.", "They  someone   someone ."),
    ],
)
def test_a_tagger_reads_a_noun_for_a_tag_and_for_a_word_with_a_mask(text: str, read: str) -> None:
    assert plain(text) == read


class EverythingIsAVerb:
    name, sha256 = "verbs", ""

    def tag(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        return [["VERB"] * len(tokens) for tokens in texts]


@given(st.lists(st.sampled_from(["[person2]", "[MASK]", "pl[MASK]nt", "[tie1]", "smiles", "mask", " ", "'s", "-"])))
def test_neither_tags_nor_masks_are_verbs_whatever_the_tagger_says(parts: list[str]) -> None:
    text = "".join(parts)
    found = verbs_in([Sentence(0, "[person1]", text)], EverythingIsAVerb())[0]
    assert not [verb for verb in found if any(bad in verb for bad in ("person", "MASK", "tie", "plmask", "someone"))]
    spaced = " ".join(part for part in parts if "[" not in part and part not in ("'s", "-"))
    assert verbs_in([Sentence(0, "", spaced)], EverythingIsAVerb())[0].count("smile") == spaced.split().count("smiles")


def test_hidden_words_are_in_no_topic() -> None:
    assert content_words("A [MASK] wears a mask beside [person1].") == ["wears", "mask"]


def test_verbs_are_compared_with_no_corpus_that_has_none() -> None:
    """A prior alone makes a ratio of 1 for every verb, even for 78 against none."""
    none = VerbCounts("none", (), csr_array((3, 0), dtype=np.int64), 3)
    for one, other in ((tally_of([[9, 2, 0, 4], [1, 1, 1, 1]]), none), (none, tally_of([[9, 2, 0, 4], [1, 1, 1, 1]]))):
        made = compare([one, other], of="golds", tagger="-", n_verbs=4, seed=0)
        assert {row.ratios for row in made.rows} == {(Ratio(None, None, None),)}
        assert made.commoner == made.rarer == ((),)


GERMAN = ("Der Hund schläft auf dem Sofa.", "Die Frau kocht eine Suppe in der Küche.", "Das Kind spielt im Garten.")


def in_language(texts: Sequence[str], name: str) -> Instances:
    return Instances(
        tuple(Instance(f"{i}", "", (f"{text} {i}",), i % 2) for i, text in enumerate(texts * 4)),
        "classes",
        ("a", "b"),
        name=name,
    )


CHINESE = ("小狗在沙发上睡觉，它很累了。", "女人在厨房里做汤，她很高兴。", "孩子们在花园里玩，天气非常好。")


def test_lengths_of_texts_without_blanks_are_trusted_for_each_character_is_a_token() -> None:
    made = description_of(in_language(CHINESE, "zh"), DescribeOptions((Path("a"),), topics=0), tagger=TAGGER)
    assert "zh are not English (language zh): question words" in made.warnings[0]
    assert made.warnings[0].endswith("texts, and lengths, in which each letter is a token.")
    assert size_of(CHINESE[0]).tokens == len(CHINESE[0])


def test_texts_in_another_language_and_corpora_without_verbs_are_warned_of() -> None:
    options = DescribeOptions((Path("a"),), topics=0)
    german = in_language(GERMAN, "de")
    made = description_of(german, options, beside=[questions()], tagger=TAGGER)
    assert "de are not English (language de): tokens, question words" in made.warnings[0]
    assert not [warning for warning in made.warnings if "made up" in warning]
    assert described(questions()).warnings == ()
    mute = in_language(("A red sofa and a blue lamp.", "The dog of the neighbours."), "mute")
    made = description_of(questions(), options, beside=[mute], tagger=TAGGER)
    said = "No verb is found in the texts of mute that are read for verbs, so none is compared with it."
    assert made.warnings == (said,)
    rows = next(table for table in tables_of(made) if table.name == "verbs").shown()
    assert {row[-3:] for row in rows[1:]} == {("", "", "")}


def test_each_character_is_a_word_where_there_are_no_blanks_between_words() -> None:
    assert size_of("小狗在沙发上睡觉。") == (9, 8, 9)
    assert size_of("她用 Python 写。") == (5, 4, 5)
    chinese = in_language(("小狗在沙发上睡觉。", "女人在厨房里做汤。", "孩子们在花园里玩。"), "zh")
    made = described(chinese, topics=0)
    assert made.lengths[0].words == 9  # and a number
    assert "(language zh)" in made.warnings[0]


def test_labels_are_told_of_every_option_even_where_gold_is_never_there() -> None:
    ones = tuple(Instance(str(i), f"What {i}?", ("a.", "b.", "c.", "d."), i % 2) for i in range(4))
    labels = counts_of(Instances(ones, "choices")).labels
    assert [one.what for one in labels] == [f"gold is option {i}" for i in (1, 2, 3, 4)]
    assert [one.n for one in labels] == [2, 2, 0, 0]


def test_the_means_of_the_picture_of_lengths_are_in_a_table() -> None:
    made = described(questions())
    table = next(table for table in tables_of(made) if table.name == "lengths-sentences")
    assert table.rows == (("made up", made.curves[0].n, made.curves[0].mean),)
    assert table.caption.startswith("Different sentences of the golds (right options")
    asked: tuple[tuple[Of, str], ...] = (("options", "options, each with its start"), ("contexts", "contexts, and"))
    for of, said in asked:
        others = description_of(questions(), DescribeOptions((Path("a"),), of=of, topics=0), tagger=TAGGER)
        (other,) = (one for one in tables_of(others) if one.name == "lengths-sentences")
        assert other.caption.startswith(f"Different sentences of the {said}")


def test_a_text_counts_once_in_each_group() -> None:
    ones = tuple(Instance(str(i), "A man. He runs.", ("runs.", "eats."), 0, group="g") for i in range(4))
    made = Instances(ones, "choices")
    groups = np.array([0, 0, 1, 1])
    assert sentences(made, groups, "golds") == [Sentence(0, "", "runs."), Sentence(1, "", "runs.")]
    assert len(sentences(made, groups, "options")) == len(sentences(made, groups, "contexts")) == 4


TABLES = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=n, max_size=n)
)


def tally_of(table: list[list[int]], name: str = "x") -> VerbCounts:
    return VerbCounts(name, ("a", "b", "c", "d"), csr_array(np.array(table, np.int64)), len(table))


@given(TABLES)
def test_the_design_effect_is_that_of_a_slow_sum_over_groups(table: list[list[int]]) -> None:
    n = sum(map(sum, table))
    effective = n**2 / sum(sum(row) ** 2 for row in table) if n else 0.0
    expected = []
    for v in range(4):
        p = sum(row[v] for row in table) / n if n else 0.0
        single = p * (1 - p) / n if n else 0.0
        squares = sum((row[v] - p * sum(row)) ** 2 for row in table)
        whole = effective / (effective - 1) * squares / n**2 if effective > 1 else 0.0
        expected.append(max(1.0, whole / single) if single else 1.0)
    assert design_effect(tally_of(table)) == pytest.approx(expected)


@given(TABLES, TABLES)
def test_log_odds_are_those_of_the_paper_and_turn_around(one: list[list[int]], other: list[list[int]]) -> None:
    """Monroe et al. 2008, equations 15 and 16, by hand."""
    a, b = tally_of(one), tally_of(other)
    middle, half = log_odds(a, b)
    back, half_back = log_odds(b, a)
    if not a.n or not b.n:
        assert np.isnan([middle, back]).all()
        return
    assert back == pytest.approx(-middle)
    assert half_back == pytest.approx(half)
    n, m = a.totals.tolist(), b.totals.tolist()
    total = sum(n) + sum(m)
    for v in range(4):
        prior = PRIOR * (n[v] + m[v]) / total if total else 0.0
        if 0 < n[v] + m[v] < total:
            mine, its = n[v] + prior, m[v] + prior
            expected = math.log(mine / (sum(n) + PRIOR - mine)) - math.log(its / (sum(m) + PRIOR - its))
            assert middle[v] == pytest.approx(expected)


def test_intervals_of_the_same_corpus_twice_cover_one() -> None:
    """Two draws from one distribution: of 40 verbs the interval leaves out 1 about one time in twenty."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(40))
    names = tuple(f"v{i:02}" for i in range(40))
    missed = 0
    for _ in range(25):
        one, other = (VerbCounts(name, names, csr_array(rng.multinomial(12, shares, 150)), 150) for name in "ab")
        made = compare([one, other], of="golds", tagger="none", n_verbs=40, seed=0)
        missed += sum(row.ratios[0].is_sure for row in made.rows)
    assert 0.01 < missed / (25 * 40) < 0.09


def test_verbs_that_come_in_bursts_have_wider_intervals() -> None:
    rng = np.random.default_rng(1)
    spread = csr_array(rng.multinomial(10, [0.2, 0.3, 0.5], 60))
    bursts = csr_array(np.eye(3, dtype=np.int64)[rng.choice(3, 60, p=[0.2, 0.3, 0.5])] * 10)
    names = ("a", "b", "c")
    even, uneven = VerbCounts("even", names, spread, 60), VerbCounts("uneven", names, bursts, 60)
    assert (log_odds(uneven, even)[1] > 1.5 * log_odds(even, even)[1]).all()


def test_of_a_single_group_no_interval_is_told() -> None:
    made = compare(
        [tally_of([[1, 2, 3, 4]]), tally_of([[1, 1, 1, 1], [2, 2, 2, 2]])], of="golds", tagger="-", n_verbs=4, seed=0
    )
    assert {(row.ratios[0].low, row.ratios[0].high) for row in made.rows} == {(None, None)}
    assert made.commoner == made.rarer == ((),)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30))
def test_the_cumulative_curve_is_that_of_a_slow_sum(totals: list[int]) -> None:
    made = cumulative("x", np.array(totals, np.int64))
    falling, n = sorted((t for t in totals if t), reverse=True), sum(totals)
    assert (made.n, made.n_types) == (n, len(falling))
    assert made.shares == tuple(round(sum(falling[: i + 1]) / n, 6) for i in range(len(falling)))
    if n:
        assert made.half == next(i + 1 for i in range(len(falling)) if 2 * sum(falling[: i + 1]) >= n)


def test_a_larger_corpus_is_drawn_down_to_the_smaller() -> None:
    small, large = tally_of([[1, 2, 0, 0], [3, 0, 1, 0]], "small"), tally_of([[90, 80, 7, 6], [5, 40, 3, 2]], "large")
    curves = compare([small, large], of="golds", tagger="-", n_verbs=4, seed=0).curves
    assert [(one.name, one.n, one.drawn) for one in curves] == [
        ("small", 7, False),
        ("large", 233, False),
        ("large", 7, True),
    ]


def about(n: int, seed: int = 0) -> Instances:
    """Texts of two plain subjects, half each."""
    rng = np.random.default_rng(seed)
    subjects = [[f"{a}{b}{c}" for a in "bdf" for b in vowels for c in "klm"] for vowels in ("ae", "ou")]
    ones = tuple(
        Instance(f"t{i}", "", (" ".join(rng.choice(subjects[i % 2], 8)),), i % 2, group=f"g{i}") for i in range(n)
    )
    return Instances(ones, "classes", ("a", "b"))


def test_topics_part_two_subjects_and_tell_held_out_words() -> None:
    made = topics_of(about(600), np.arange(600), 2, seed=0)
    vowels = [{letter for word in topic.words for letter in word if letter in "aeou"} for topic in made.topics]
    assert sorted(map(sorted, vowels)) == [["a", "e"], ["o", "u"]]
    assert made.perplexity is not None
    assert made.by_frequency is not None
    assert made.perplexity < 20 < 29 < made.by_frequency < 34  # 18 words a subject; 31 are in not too many texts
    assert (made.n_held_out, made.warnings) == (60, ())
    assert sum(topic.share for topic in made.topics) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_is_held_out_though_one_group_is_large(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(141), [300, *(300 // 140 + (i < 20) for i in range(140))]))
    held = _held_out(groups)
    assert 0.09 <= held.mean() <= 0.1
    assert all(len(set(held[groups == group])) == 1 for group in range(141))


def test_splits_have_one_order_whatever_that_of_the_rows() -> None:
    ones = [
        Instance(f"t{i}", "", (f"Text {i}.",), i % 2, split=("test", "odd", "val", "train")[i % 4]) for i in range(8)
    ]
    made = [counts_of(Instances(tuple(rows), "classes", ("a", "b"))).splits for rows in (ones, ones[::-1])]
    assert made[0] == made[1]
    assert [one.what for one in made[0]] == ["train", "val", "test", "odd"]


@pytest.mark.parametrize("n", [0, 1, 512, 2048, 2100, 100_000])
def test_topics_of_fewer_documents_take_no_more_batches_than_are_announced(n: int) -> None:
    """Of 2,048 instances 192 were, and with 2,000 different documents they took 200."""
    every = [_passes(m) * math.ceil(m / _BATCH) for m in range(n + 1)]
    assert max(every) == n_batches(n)


def test_topics_of_words_at_random_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    words = [f"{a}{b}{c}" for a in "bdf" for b in "aeou" for c in "klm"]
    ones = tuple(Instance(str(i), "", (" ".join(rng.choice(words, 8)),), i % 2) for i in range(200))
    warnings = topics_of(Instances(ones, "classes", ("a", "b")), np.arange(200), 8, seed=0).warnings
    assert len(warnings) == 2
    assert "few for 8 topics" in warnings[0]
    assert "no more than word frequencies" in warnings[1]


def test_topics_of_hardly_any_words_are_none() -> None:
    made = topics_of(questions(2), np.arange(2), 2, seed=0)
    assert made.topics == ()
    assert made.warnings == ("Too few different words for topics.",)


def test_the_order_of_the_rows_changes_nothing() -> None:
    made = questions()
    order = np.random.default_rng(3).permutation(12)
    assert described(made) == described(made.take(order))


def test_another_seed_is_another_topic_model() -> None:
    one, other = (topics_of(about(120), np.arange(120), 5, seed=seed) for seed in (0, 1))
    assert one.topics != other.topics


def test_every_figure_of_a_table_is_one_of_the_record() -> None:
    made = described(questions())
    record = json.dumps(asdict(made))
    for table in tables_of(made):
        assert len({len(row) for row in (table.columns, *table.rows)}) == 1
        for row in table.rows:
            assert all(json.dumps(value) in record for value in row if isinstance(value, float | int))


# ---------------------------------------------------------------------------------------------- real data


@pytest.mark.real
def test_vcr_cs_has_the_images_movies_and_lengths_of_its_paper() -> None:
    """Kim et al. 2023, Table 6: 143 images, 16 movies, questions of 6.38, answers (those of the contrast) of 7.08."""
    made = described(read_instances([shared("vcr_cs/vcr_cs_val.jsonl")]), verbs=0, topics=0)
    counts = {one.what: one.n for one in made.counts.whole}
    assert (counts["images or other media"], counts["groups (videos, movies, passages)"]) == (143, 16)
    assert (counts["contrast sets"], counts["contrast sets of 2"]) == (159, 159)
    signs = {one.part: round(one.signs, 2) for one in made.lengths}
    assert (signs["contexts"], signs["contexts, original"], signs["golds, contrast"]) == (6.38, 6.38, 7.08)


@pytest.mark.real
def test_questions_of_nextqa_have_no_question_marks_and_are_told_by_their_first_words() -> None:
    instances = read_instances([shared("mcq/nextqa_val.csv")])
    told = {one.what: one.n for one in counts_of(instances).first_words}
    first = Counter(one.context.split()[0].lower() for one in instances.instances)
    words = ("why", "what", "how", "where", "which", "who", "whose")
    assert {word: told[word] for word in words} == {word: first[word] for word in words}
    assert (told["yes or no"], told["no question"], sum(told.values())) == (4, 5, 4996)


@pytest.mark.real
def test_nlvr2_sentences_are_as_long_as_its_paper_says() -> None:
    """Suhr et al. 2019: 14.8 tokens in all of NLVR2."""
    instances = read_instances([shared("nlvr2/dev.json")])
    texts = sorted({one.options[0] for one in instances.instances})
    assert sizes_of(texts, {})[:, 1].mean() == pytest.approx(14.8, abs=0.3)


@pytest.mark.real
def test_swag_moves_and_starts_where_snli_sits_and_wears() -> None:
    """Zellers et al. 2018, Figure 4; of SNLI the hypotheses."""
    paths = [shared(f"{name}.jsonl") for name in ("swag/swag_questions", "swag/swag_pairs", "snli/snli_pairs")]
    swag, snli = read_instances(paths[:2]), read_instances(paths[2:])
    snli = snli.take([i for i in range(len(snli)) if Counter(snli.instances[i].context)[" "] % 3 == 0][:15000])
    options = DescribeOptions((paths[0],), topics=0, verbs=5000)
    made = description_of(swag, options, beside=[snli], tagger=TAGGER).verbs
    assert made is not None
    ratios = {row.verb: row.ratios[0] for row in made.rows}
    for verb in ("move", "start", "continue", "pull"):
        assert (ratios[verb].low or 0) > 1, verb
    for verb in ("sit", "wear"):
        assert (ratios[verb].high or 9) < 1, verb
