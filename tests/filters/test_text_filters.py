"""Filters that read text: what they find, what they leave alone, and how each says what it lacks."""

import importlib
import json
import math
import re
import shutil
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tiny_bert import LETTERS, save_tiny_bert

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_run
from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import read_audits
from swag_af.data.runs.run import open_run
from swag_af.filters import (
    EncoderFilter,
    SklearnFilter,
    TransformerFilter,
    characters,
    check_filter,
    estimators,
    filter_names,
    make_filter,
    strings,
)
from swag_af.filters.characters import character_counts
from swag_af.filters.fast_text import FastTextFilter
from swag_af.filters.pretrained import load_tokenizer, second_sentences_within, tokenized, tokenized_pieces
from swag_af.filters.registry import parse_schedule
from swag_af.filters.strings import endings, second_sentence_tokens, second_sentences
from swag_af.filters.transformer import Trial
from swag_af.nn.pretrained import read_config

N_TRAIN, N_TEST, N_COLUMNS = 160, 160, 4
CHANCE = 1 / N_COLUMNS
FOUR_SIGMA = 4 * np.sqrt(CHANCE * (1 - CHANCE) / N_TEST)
STRANGE = ("two\nlines\r\nhere", "\u2028", "naïve café 日本語 🙂", "__label__gold </s> \ue000gold", "a\tb\x00c", "-")


def words(rng, n):
    return " ".join(f"{chr(97 + k % 20)}{'aeiou'[k // 20]}b" for k in rng.integers(0, 40, n))


def pool_of(*, sent1=lambda rng: "someone waits .", ending=lambda rng, gold: words(rng, 4), n=N_TRAIN + N_TEST):
    """A pool whose endings are `ending(rng, gold)`, made distinct by a number that tells nothing; noisy features."""
    rng = np.random.default_rng(0)
    contexts, negatives, features = [], [], []
    for i in range(n):
        gold, *others = (f"{i}{j}" for j in rng.permutation(N_COLUMNS))
        contexts.append(Context(sent1(rng), words(rng, 2), f"{ending(rng, True)} {gold} ."))
        negatives.append([f"{ending(rng, False)} {other} ." for other in others])
        features.append(rng.normal(size=(N_COLUMNS, 8)))
    return CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")


@pytest.fixture(scope="module")
def tell_tale():
    """Gold smiles and nothing else does."""
    return pool_of(ending=lambda rng, gold: f"{words(rng, 2)} {'smiles' if gold else 'frowns'} {words(rng, 1)}")


@pytest.fixture(scope="module")
def no_signal():
    return pool_of()


@pytest.fixture(scope="module")
def strange():
    """Texts that could break a line, a label or a tokenizer; some starts are empty."""
    contexts = [Context(text, "" if i % 2 else text, f"{text} {i}0") for i, text in enumerate(STRANGE * 2)]
    negatives = [[f"{text} {i}{j}" for j in (1, 2, 3)] for i, text in enumerate(STRANGE * 2)]
    return CandidatePool.from_texts(contexts, negatives, tagger="rules")


def view_of(pool, rows=None):
    rows = np.arange(len(pool)) if rows is None else rows
    return pool.view(rows, np.tile(np.arange(N_COLUMNS), (len(rows), 1)))


def fitted(filter, pool, n=N_TRAIN, seed=1):
    filter.fit(view_of(pool, np.arange(n)), rng=np.random.default_rng(seed))
    return filter


def held_out_accuracy(pool, filter):
    scores = fitted(filter, pool).score(view_of(pool, np.arange(N_TRAIN, N_TRAIN + N_TEST)))
    best = scores == scores.max(axis=1, keepdims=True)
    return float((best[:, 0] / best.sum(axis=1)).mean())  # a tie is a guess among the tied


# ------------------------------------------------------------------------------------ a pretrained encoder


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    return save_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


def tiny_transformer(folder, **settings):
    quick = {"device": "cpu", "learning_rates": (3e-3,), "max_length": 48}
    return TransformerFilter(model=folder, **(quick | settings))


@pytest.fixture(params=["sklearn", "ngrams", "chars", "fasttext", "transformer", "encoder"])
def make(request):
    """Every text filter, as a function that makes one."""
    if request.param == "sklearn":
        return lambda: SklearnFilter(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    if request.param == "fasttext":
        pytest.importorskip("fasttext")
    if request.param == "transformer":
        folder = request.getfixturevalue("tiny_bert")
        return lambda: tiny_transformer(folder)
    if request.param == "encoder":
        folder = request.getfixturevalue("tiny_bert")
        return lambda: EncoderFilter(model=folder, device="cpu", max_length=48)
    return lambda: make_filter(request.param)


# ---------------------------------------------------------------------------------------- all text filters


def test_every_text_filter_keeps_the_contract(make):
    check_filter(make)


def test_every_text_filter_finds_a_word_that_only_gold_has(make, tell_tale):
    assert held_out_accuracy(tell_tale, make()) > 0.9


def test_no_text_filter_finds_what_is_not_there(make, no_signal):
    assert abs(held_out_accuracy(no_signal, make()) - CHANCE) < FOUR_SIGMA


def test_line_ends_labels_and_foreign_letters_are_text_like_any_other(make, strange):
    scores = fitted(make(), strange, n=len(strange)).score(view_of(strange))
    assert scores.shape == (len(strange), N_COLUMNS)
    assert np.isfinite(scores).all()


def test_a_text_filter_that_is_not_fitted_says_so(make, no_signal):
    with pytest.raises(InputError, match="not been fitted"):
        make().score(view_of(no_signal))


def test_a_view_without_negatives_cannot_be_fitted(make, no_signal):
    with pytest.raises(InputError, match="2 candidates"):
        make().fit(no_signal.view(np.arange(9), np.zeros((9, 1), int)), rng=np.random.default_rng(0))


def test_the_same_rng_gives_the_same_bits_whatever_was_computed_before(make, tell_tale):
    test = view_of(tell_tale, np.arange(N_TRAIN, N_TRAIN + 40))
    one = fitted(make(), tell_tale, n=60).score(test)
    for size in (10, 1_000, 10_000, 100_000, 1_000_000) * 3:
        _ = np.full(size, np.nan)  # memory that a fit may be given next
    torch.manual_seed(9)
    assert np.array_equal(fitted(make(), tell_tale, n=60).score(test), one)


# ------------------------------------------------------------------------------------------------- reading


def test_the_three_readings_are_of_start_and_ending_row_by_row():
    contexts = [Context("Someone waits.", "The Man", "doesn't smile."), Context("They sing.", "", "Then leave.")]
    pool = CandidatePool.from_texts(contexts, [["Runs off."], ["Stays."]], tagger="rules")
    view = pool.view(np.arange(2), np.array([[1, 0], [0, 1]]))
    assert endings(view) == ["Runs off.", "doesn't smile.", "Then leave.", "Stays."]
    assert second_sentences(view) == ["The Man Runs off.", "The Man doesn't smile.", "Then leave.", "Stays."]
    assert second_sentence_tokens(view) == [
        "the man runs off .",
        "the man does n't smile .",
        "then leave .",
        "stays .",
    ]


def test_tokens_spelled_some_rows_at_a_time_are_the_same(no_signal, monkeypatch):
    view = no_signal.view(np.arange(20), np.tile(np.arange(3), (20, 1)))
    whole = second_sentence_tokens(view)
    monkeypatch.setattr(strings, "SPELLED_AT_ONCE", 3)
    assert second_sentence_tokens(view) == whole


# --------------------------------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(CountVectorizer(), MultinomialNB()),
        make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(2, 3)), Ridge()),
        make_pipeline(CountVectorizer(), RandomForestClassifier(20)),
    ],
    ids=["probability", "prediction", "random_state"],
)
def test_classifiers_and_regressors_of_every_kind_keep_the_contract_and_learn(estimator, tell_tale):
    check_filter(SklearnFilter(estimator))
    assert held_out_accuracy(tell_tale, SklearnFilter(estimator)) > 0.9


def test_the_estimator_that_is_passed_stays_as_it_was(tell_tale):
    estimator = make_pipeline(TfidfVectorizer(), SGDClassifier(random_state=3))
    before = repr(estimator)
    fitted(SklearnFilter(estimator), tell_tale)
    assert repr(estimator) == before
    assert not hasattr(estimator[0], "vocabulary_")
    assert not hasattr(estimator[1], "coef_")


@dataclass(frozen=True)
class FirstCharacters:
    n: int

    def __call__(self, view):
        return character_counts(view, self.n)


def test_settings_that_are_numbers_of_numpy_or_callable_objects_tell_filters_apart():
    """As `C=float32()` a sweep's second run went on with the first one's folder."""

    def told(of="ending", **given):
        return SklearnFilter(MultinomialNB(**given), of=of).settings()

    assert told(alpha=np.float32(0.5)) == told(alpha=0.5) != told(alpha=np.float64(0.25))
    assert told(class_prior=np.array([0.5, 0.5])) != told(class_prior=np.array([0.9, 0.1]))
    assert told(partial(character_counts, 1)) != told(partial(character_counts, 2))
    assert told(FirstCharacters(1)) != told(FirstCharacters(2))
    assert told(FirstCharacters(1)) == told(FirstCharacters(1))


def test_functions_and_classes_of_ones_own_are_told_by_their_sources(tmp_path, monkeypatch):
    """Edited ones went on with the runs of those before."""
    module = tmp_path / "words_of_mine.py"
    module.write_text("def words(text):\n    return text.split()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    words = importlib.import_module("words_of_mine").words

    def told(of="ending"):
        estimator = make_pipeline(CountVectorizer(tokenizer=words, token_pattern=None), MultinomialNB())
        return SklearnFilter(estimator, of=of).settings()

    before = told()
    assert len(before["sources"]) == 1
    assert told(partial(character_counts, 1))["sources"] == before["sources"]  # ours are not among them
    module.write_text("def words(text):\n    return text.split()[:2]\n", encoding="utf-8")
    assert told() != before
    assert told(lambda view: view.texts[0]) != told(lambda view: view.texts[1])
    assert "sources" not in SklearnFilter(make_pipeline(CountVectorizer(), MultinomialNB())).settings()


def test_every_random_state_comes_from_the_rng(tell_tale):
    view = view_of(tell_tale, np.arange(20))
    filters = [
        SklearnFilter(make_pipeline(CountVectorizer(), RandomForestClassifier(5, random_state=state)))
        for state in (None, 3)
    ]
    one, other = (fitted(filter, tell_tale, n=40).score(view) for filter in filters)
    assert np.array_equal(one, other)
    assert not np.array_equal(fitted(filters[0], tell_tale, n=40, seed=2).score(view), one)


def test_features_are_read_as_a_table(no_signal):
    rng = np.random.default_rng(5)
    texts = [row[1:] for row in view_of(no_signal).texts]
    shifted = [rng.normal(size=(N_COLUMNS, 8)) + 4 * (np.arange(N_COLUMNS) == 0)[:, None] for _ in texts]
    pool = CandidatePool.from_texts(no_signal.contexts, texts, features=shifted, tagger="rules")
    filter = SklearnFilter(make_pipeline(StandardScaler(), LogisticRegression()), of="features")
    assert filter.requires == ("features",)
    check_filter(filter)
    assert held_out_accuracy(pool, filter) > 0.9
    assert abs(held_out_accuracy(no_signal, filter) - CHANCE) < FOUR_SIGMA


def test_a_filter_on_features_says_when_the_pool_has_none(strange):
    with pytest.raises(InputError, match="no table features"):
        fitted(SklearnFilter(LogisticRegression(), of="features"), strange, n=4)


def test_an_estimator_of_endings_sees_no_start(no_signal):
    by_ending = SklearnFilter(make_pipeline(CountVectorizer(), LogisticRegression()), of="ending")
    seen = fitted(by_ending, no_signal, n=5)._fitted[0].get_feature_names_out()
    assert set(seen) == {word for text in endings(view_of(no_signal, np.arange(5))) for word in text.split()} - {"."}


def test_an_estimator_can_be_given_any_function_of_the_view(no_signal):
    seen = []

    def ending_lengths(view):
        seen.append(view.shape)
        return view.lengths.reshape(-1, 1)

    filter = SklearnFilter(LogisticRegression(), of=ending_lengths, requires=("counts",))
    fitted(filter, no_signal, n=10).score(view_of(no_signal, np.arange(3)))
    assert seen == [(10, N_COLUMNS), (3, N_COLUMNS)]
    assert filter.requires == ("counts",)


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        (SklearnFilter(LogisticRegression(), of="paragraph"), "of='paragraph' is none of second_sentence, ending, tok"),
        (SklearnFilter(LogisticRegression(), of=lambda view: [1, 2]), "gave 2 rows for 32 candidates"),
        (SklearnFilter("logistic"), "str is no scikit-learn estimator"),
        (SklearnFilter(LogisticRegression), r"is a class. Give an object of it: LogisticRegression\(\.\.\.\)"),
        (SklearnFilter(KMeans(2)), "KMeans finds clusters, and learns no gold"),
        (SklearnFilter(make_pipeline(CountVectorizer(min_df=99), LogisticRegression())), "cannot be fitted: max_df"),
    ],
)
def test_what_cannot_be_fitted_is_said_in_one_line(filter, message, no_signal):
    with pytest.raises(InputError, match=message) as caught:
        fitted(filter, no_signal, n=8)
    assert "\n" not in str(caught.value)


def test_the_settings_tell_estimators_apart_and_fit_into_a_run_folder():
    def settings_with(**arguments):
        filter = SklearnFilter(make_pipeline(TfidfVectorizer(**arguments), LogisticRegression()), of=endings)
        return json.dumps(filter.settings())

    assert settings_with() == settings_with()
    assert settings_with() != settings_with(ngram_range=(1, 2))
    assert "swag_af.filters.strings:endings" in settings_with()


def test_settings_of_the_ngrams_out_of_range_are_refused(no_signal):
    with pytest.raises(InputError, match="strength above 0"):
        fitted(make_filter("ngrams", strength=0.0), no_signal, n=8)


def test_ngrams_learn_from_so_many_rows_at_most(no_signal, monkeypatch):
    few, seen = 30, []
    monkeypatch.setattr(estimators, "MOST_FITTED", few)
    monkeypatch.setattr(SklearnFilter, "fit", lambda self, view, rng: seen.append(view.rows))
    for seed in (0, 0, 1):
        make_filter("ngrams").fit(no_signal.view(*everything(no_signal)), rng=np.random.default_rng(seed))
    assert [len(rows) for rows in seen] == [few] * 3
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])
    assert np.array_equal(np.unique(seen[0]), seen[0])
    make_filter("ngrams").fit(no_signal.view(np.arange(few), np.tile([0, 1], (few, 1))), rng=np.random.default_rng(0))
    assert np.array_equal(seen[3], np.arange(few))


def everything(pool):
    return np.arange(len(pool)), np.tile(np.arange(N_COLUMNS), (len(pool), 1))


# ----------------------------------------------------------------------------------------------- characters


def slow_counts(text, longest):
    """The n-grams of a text and of its shape, each framed, by slicing."""
    shape = "".join("X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdecimal() else c for c in text)
    found = Counter()
    for kind, symbols in (("text", text), ("shape", shape)):
        framed = ("begin", *symbols, "end")
        found.update((kind, framed[i : i + n]) for n in range(1, longest + 1) for i in range(len(framed) - n + 1))
    return found


@settings(max_examples=60)
@given(texts=st.lists(st.text(st.sampled_from("aAbé  .’'\u200b1²日"), max_size=8), min_size=1, max_size=5))
def test_characters_are_counted_as_slicing_counts_them(texts):
    counts = character_counts(texts, longest=3, n_buckets=2**30).tocoo()
    slow = [slow_counts(text, 3) for text in texts]
    products = [[sum(n * other[gram] for gram, n in one.items()) for other in slow] for one in slow]
    buckets, place = np.unique(counts.col, return_inverse=True)
    dense = np.zeros((len(texts), len(buckets)))
    dense[counts.row, place] = counts.data
    assert np.array_equal(dense @ dense.T, products)


def test_characters_see_what_words_do_not():
    pool = pool_of(ending=lambda rng, gold: words(rng, 3).capitalize() if gold else words(rng, 3))
    assert held_out_accuracy(pool, make_filter("chars")) > 0.95
    assert abs(held_out_accuracy(pool, make_filter("ngrams")) - CHANCE) < FOUR_SIGMA


def test_counts_are_the_same_in_parts(monkeypatch):
    texts = ["a dog.", "", "Two cats", "x" * 40, "a dog.", "9 lives"] * 3
    whole = character_counts(texts, longest=3, n_buckets=64)
    monkeypatch.setattr(characters, "AT_ONCE", 4)
    parts = character_counts(texts, longest=3, n_buckets=64)
    for table in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(whole, table), getattr(parts, table))
    assert character_counts([], longest=3, n_buckets=64).shape == (0, 64)


def test_settings_of_the_characters_out_of_range_are_refused(no_signal):
    with pytest.raises(InputError, match="filter chars: longest and n_buckets must be 1 or more"):
        fitted(make_filter("chars", longest=0), no_signal, n=8)


# ------------------------------------------------------------------------------------------------- fastText


def test_fasttext_scores_are_the_log_odds_of_its_own_probabilities(tell_tale):
    pytest.importorskip("fasttext")
    filter = fitted(FastTextFilter(epochs=2), tell_tale)
    view = view_of(tell_tale, np.arange(30))
    labels, probabilities = filter._fitted.model.predict(second_sentence_tokens(view), k=2)
    gold = np.array([p[label.index("\ue0001")] for label, p in zip(labels, probabilities, strict=True)])  # (q,)
    inside = (gold > 0.01) & (gold < 0.99)
    assert inside.any()
    expected = np.log(gold / (1 - gold))
    assert np.allclose(filter.score(view).reshape(-1)[inside], expected[inside], atol=0.02)


def test_fasttext_does_not_tie_where_its_probabilities_do(tell_tale):
    pytest.importorskip("fasttext")
    filter = fitted(FastTextFilter(learning_rate=1.0, epochs=100), tell_tale)
    scores = filter.score(view_of(tell_tale, np.arange(N_TRAIN)))
    assert len(np.unique(scores)) > 0.95 * scores.size


def test_settings_of_fasttext_out_of_range_are_refused(no_signal):
    pytest.importorskip("fasttext")
    with pytest.raises(InputError, match="1 or more"):
        fitted(make_filter("fasttext", dim=0), no_signal, n=8)


def test_a_training_of_fasttext_that_diverges_is_told_in_one_line(no_signal):
    """It ended as a bug of ours."""
    pytest.importorskip("fasttext")
    with pytest.raises(
        InputError, match=r"^filter fasttext: the training diverges at learning_rate=100\. Take a lower"
    ):
        fitted(make_filter("fasttext[learning_rate=100]"), no_signal)


# ---------------------------------------------------------------------------------------------- transformer


@pytest.fixture(scope="module")
def tokenizer(tiny_bert):
    """It cuts at 32 tokens."""
    return load_tokenizer(tiny_bert, read_config(tiny_bert), 32)


def test_only_a_filter_that_sees_the_context_finds_what_stands_there(tiny_bert):
    """Gold does what the context says, its negatives do the other thing; over all rows both are as frequent."""
    contexts, negatives = [], []
    for i in range(2 * (N_TRAIN + N_TEST)):
        does, does_not = ("smiles", "frowns") if i % 2 else ("frowns", "smiles")
        contexts.append(Context(does, "a", f"{does} {LETTERS[i % 26]}"))
        negatives.append([f"{does_not} {LETTERS[(i + j) % 26]}" for j in range(1, N_COLUMNS)])
    pool = CandidatePool.from_texts(contexts, negatives, tagger="rules")
    train, test = np.arange(2 * N_TRAIN), np.arange(2 * N_TRAIN, len(pool))
    right = {}
    for inputs in ("ending", "second", "full"):
        filter = tiny_transformer(tiny_bert, inputs=inputs, max_epochs=12, patience=12)
        filter.fit(view_of(pool, train), rng=np.random.default_rng(0))
        scores = filter.score(view_of(pool, test))
        right[inputs] = (scores[:, 0] > scores[:, 1:].max(1)).mean()
    assert max(right["ending"], right["second"]) < 0.6
    assert right["full"] > 0.9


def test_the_transformer_keeps_its_best_epoch_and_leaves_torch_as_it_was(tiny_bert, no_signal):
    before = torch.get_rng_state()
    filter = fitted(tiny_transformer(tiny_bert, max_epochs=6), no_signal, n=60)
    assert torch.equal(torch.get_rng_state(), before)
    stop = np.random.default_rng(1).permutation(60)[:8]
    scores = torch.from_numpy(filter.score(view_of(no_signal, stop)))
    kept = float(torch.nn.functional.cross_entropy(scores, torch.zeros(8, dtype=torch.long)))
    assert kept == pytest.approx(min(filter.chosen.held_out_losses), abs=1e-5)
    assert not filter._fitted[0].training


def made_pieces(rng, sizes):
    """A first sentence, a start and an ending of each of `sizes`, numbers of letters that are a token each."""
    sides = ([" ".join(rng.choice(list("abcdefgh"), n)) for n in side] for side in zip(*sizes, strict=True))
    return strings.Pieces(*map(list, sides))


SIZES = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40))


@settings(max_examples=30)
@given(st.lists(SIZES, min_size=1, max_size=6), st.integers(0, 999))
def test_endings_stay_whole_as_far_as_there_is_room(tokenizer, sizes, seed):
    pieces, room = made_pieces(np.random.default_rng(seed), sizes), 32 - 3
    found = tokenized_pieces(tokenizer, pieces, as_pairs=True)
    texts = [strings.with_start(*both) for both in zip(pieces.starts, pieces.endings, strict=True)]
    as_ever = tokenized(tokenizer, pieces.firsts, texts)
    for (n_first, n_start, n_ending), one, before, ending in zip(sizes, found, as_ever, pieces.endings, strict=True):
        n_seconds = sum(one["token_type_ids"]) - 1
        assert len(one["input_ids"]) == min(n_first + n_start + n_ending, room) + 3
        if n_first + n_start + n_ending <= room or n_start + n_ending <= room // 2:
            assert one == before
        if n_ending < room:
            assert tokenizer.decode(one["input_ids"]).removesuffix(" [SEP]").endswith(ending)
            half = max(room - n_first, room // 2)
            assert n_seconds == min(n_start + n_ending, max(half, n_ending)), (
                "no more of the start is lost than need be"
            )


@settings(max_examples=30)
@given(st.lists(SIZES, min_size=1, max_size=6), st.integers(0, 999))
def test_a_second_sentence_loses_the_fewest_words_of_its_start(tokenizer, sizes, seed):
    """The slow twin leaves out one word after another."""
    pieces, room = made_pieces(np.random.default_rng(seed), sizes), 32 - 2
    found = second_sentences_within(tokenizer, pieces, np.full(len(sizes), room))
    for text, start, ending in zip(found, pieces.starts, pieces.endings, strict=True):
        left = start.split()
        while left and len(left) + len(ending.split()) > room:
            del left[0]
        assert text == " ".join([*left, ending])
    alone = tokenized_pieces(tokenizer, pieces, as_pairs=False)
    assert alone == tokenized(tokenizer, found)


@pytest.mark.parametrize("inputs", ["second", "full"])
@pytest.mark.parametrize("kind", [EncoderFilter, TransformerFilter])
def test_a_long_start_leaves_the_endings_that_tell_candidates_apart(tiny_bert, kind, inputs):
    """It cut them off, and all candidates of a row were a tie."""
    contexts = [Context("a b", " ".join("cdefghij" * 12), f"smiles {i}") for i in range(12)]
    negatives = [[f"frowns {i} {letter}" for letter in "abc"] for i in range(12)]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="none")
    scores = fitted(kind(model=tiny_bert, inputs=inputs, device="cpu"), pool, n=12).score(view_of(pool))
    assert (np.ptp(scores, axis=1) > 0).all()


def test_a_candidate_longer_than_the_model_is_cut(tiny_bert):
    pool = pool_of(sent1=lambda rng: words(rng, 90), ending=lambda rng, gold: words(rng, 60), n=12)
    scores = fitted(tiny_transformer(tiny_bert, max_epochs=1, max_length=128), pool, n=8).score(view_of(pool))
    assert np.isfinite(scores).all()


def test_the_transformer_stops_on_videos_that_it_does_not_train_on(tiny_bert, no_signal, monkeypatch):
    seen = []
    monkeypatch.setattr(
        TransformerFilter, "_train", lambda self, *given: seen.append(given[2:4]) or Trial(1e-3, 0.1, [0.1], True)
    )
    rows = np.arange(len(no_signal))
    view = no_signal.view(rows, np.tile([0, 1], (len(rows), 1)))
    view.groups = rows // 3
    tiny_transformer(tiny_bert).fit(view, rng=np.random.default_rng(0))
    ((trained, stopped),) = seen
    assert not set(view.groups[trained]) & set(view.groups[stopped])
    assert len(stopped)


# -------------------------------------------------------------- learning rates, and fits that learn nothing


def test_of_several_learning_rates_the_one_with_the_lowest_loss_on_the_stopping_rows_is_kept(tiny_bert, tell_tale):
    rates = (1e-7, 3e-3)
    both = fitted(tiny_transformer(tiny_bert, learning_rates=rates, max_epochs=2), tell_tale, n=64)
    alone = [fitted(tiny_transformer(tiny_bert, learning_rates=(one,), max_epochs=2), tell_tale, n=64) for one in rates]
    assert both.trials == [one.chosen for one in alone]
    assert both.chosen.learning_rate == 3e-3
    assert both.fit_record()["learning_rate"] == 3e-3
    assert np.array_equal(both.score(view_of(tell_tale)), alone[1].score(view_of(tell_tale)))


def test_a_rate_that_converged_goes_before_one_that_did_not():
    made = TransformerFilter(model="x", learning_rates=(1.0, 2.0, 3.0))
    made.trials = [Trial(1.0, 1.4, [0.1], False), Trial(2.0, 1.0, [0.9, 0.5], True), Trial(3.0, 1.0, [0.5], True)]
    assert made.chosen.learning_rate == 2.0
    made.trials = made.trials[:1]
    assert made.chosen.learning_rate == 1.0


@pytest.fixture(scope="module")
def unreadable():
    """Endings of words that the tokenizer does not know, all as long: to the model they are one text."""
    letters = "αβγδεζηθικλμ"

    def ending(i, j):
        return f"{letters[i % 12]}{letters[j]} {letters[i // 12]}{letters[j]}"

    contexts = [Context("", "", ending(i, 0), video=str(i)) for i in range(48)]
    return CandidatePool.from_texts(contexts, [[ending(i, j) for j in range(1, 6)] for i in range(48)], tagger="none")


def test_a_fit_that_learns_nothing_is_told_and_logged_and_nothing_is_replaced(tiny_bert, unreadable, tmp_path, capsys):
    made = tiny_transformer(tiny_bert, max_epochs=1)
    options = AFOptions(n_negatives=3, iterations=2, until=1.0, window=1)
    run = filter_pool(unreadable, made, options, out=tmp_path / "run")
    assert [one.skipped for one in run.log] == [True, True]  # and `until` did not take chance for success
    assert [(one.n_replaced, one.n_scored) for one in run.log] == [(0, 0), (0, 0)]
    assert np.array_equal(run.assignment(), run.start)
    said = [line for line in capsys.readouterr().err.splitlines() if "this fit learned nothing" in line]
    assert len(said) == 2
    line = json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])
    assert line["skipped"] is True
    assert line["fit"]["converged"] is False
    assert open_run(tmp_path / "run").log == run.log


def test_a_fit_that_learns_is_logged_with_its_learning_rate_and_goes_on(tiny_bert, tell_tale, tmp_path):
    made = tiny_transformer(tiny_bert, learning_rates=(1e-7, 3e-3), max_epochs=2)
    run = filter_pool(tell_tale, made, AFOptions(n_negatives=2, iterations=1, test_share=0.5), out=tmp_path / "run")
    (line,) = map(json.loads, (tmp_path / "run" / "log.jsonl").read_text().splitlines())
    assert line["fit"]["learning_rate"] == 3e-3
    assert "skipped" not in line
    assert run.log[0].n_easy > 0


def test_a_filter_that_says_nothing_of_its_fits_leaves_the_log_as_it_was(tell_tale, tmp_path):
    filter_pool(tell_tale, "ngrams", AFOptions(n_negatives=2, iterations=1), out=tmp_path / "run")
    assert not {"fit", "skipped"} & set(json.loads((tmp_path / "run" / "log.jsonl").read_text()))


def test_an_audit_keeps_the_learning_rate_of_every_fold(tiny_bert, tell_tale, tmp_path):
    run = filter_pool(tell_tale, "ngrams", AFOptions(n_negatives=2, iterations=1), out=tmp_path / "run")
    made = tiny_transformer(tiny_bert, learning_rates=(1e-7, 3e-3), max_epochs=1)
    audit_run(run, AuditPlan([1], [made, "ngrams"], n_folds=2))
    of_model, of_ngrams = sorted(read_audits(tmp_path / "run").findings, key=lambda one: one.filter, reverse=True)
    assert [fit["learning_rate"] for fit in of_model.fits] == [3e-3, 3e-3]
    assert of_ngrams.fits == ()
    lines = map(json.loads, (tmp_path / "run" / "audits.jsonl").read_text().splitlines())
    assert sorted("fits" in line for line in lines) == [False, True]


def test_one_fit_of_the_transformer_reads_its_configuration_once(tiny_bert, no_signal, monkeypatch):
    from transformers import AutoConfig

    read = []
    load = AutoConfig.from_pretrained
    monkeypatch.setattr(AutoConfig, "from_pretrained", lambda *a, **k: read.append(a) or load(*a, **k))
    view = no_signal.view(np.arange(4), np.tile([0, 1], (4, 1)))
    tiny_transformer(tiny_bert).fit(view, rng=np.random.default_rng(0))
    assert len(read) == 1


def test_training_in_bfloat16_gives_float32_scores(tiny_bert, tell_tale):
    filter = tiny_transformer(tiny_bert, precision="bfloat16")
    assert held_out_accuracy(tell_tale, filter) > 0.9
    assert filter.score(view_of(tell_tale, np.arange(2))).dtype == np.float32


def test_loading_a_model_again_and_again_says_nothing(tiny_bert, no_signal, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(tiny_transformer(tiny_bert, max_epochs=1), no_signal, n=8).score(view_of(no_signal, np.arange(2)))
    printed, told = capfd.readouterr()
    assert printed == ""
    assert [line for line in told.splitlines() if "learned nothing" not in line] == []


def test_a_model_that_is_not_there_is_named_in_one_line(tmp_path, no_signal, tiny_bert):
    (tmp_path / "empty").mkdir()
    for missing in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(InputError, match=r"no model that can be read|no such folder") as caught:
            fitted(TransformerFilter(model=str(missing)), no_signal, n=8)
        assert str(missing) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lost", ["tokenizer", "weights"])
def test_a_model_that_is_not_whole_is_named_in_one_line(lost, tmp_path, no_signal, tiny_bert):
    for path in Path(tiny_bert).iterdir():
        if path.name == "config.json" or ("model" if lost == "tokenizer" else "token") in path.name:
            shutil.copy(path, tmp_path)
    with pytest.raises(InputError, match="no model that can be read") as caught:
        TransformerFilter(model=str(tmp_path), device="cpu").check()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["transformer", "encoder"])
def test_a_run_does_not_go_on_with_other_weights_under_the_same_path(name, tiny_bert, tmp_path, tell_tale):
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    filter, options = f"{name}[{model},device=cpu]", AFOptions(iterations=1, n_negatives=2)
    filter_pool(tell_tale, filter, options, out=tmp_path / "run")
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    with pytest.raises(
        InputError, match=r"begun with other .*: model: model\.safetensors \(\w{8}, now \w{8}\)\. Repeat"
    ):
        filter_pool(tell_tale, filter, replace(options, iterations=2), out=tmp_path / "run")


def test_an_audit_by_other_weights_is_another_one_and_stands_where_the_model_is_gone(tiny_bert, tmp_path, tell_tale):
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    plan = AuditPlan([0], [f"encoder[{model},device=cpu]"], n_folds=2)
    run = filter_pool(tell_tale, "chars", AFOptions(iterations=1, n_negatives=2), out=tmp_path / "run")
    (first,) = audit_run(run, plan)
    assert audit_run(run, plan) == [first]
    shutil.copytree(save_tiny_bert(tmp_path / "other", seed=1), model, dirs_exist_ok=True)
    (second,) = audit_run(run, plan)
    assert second.settings != first.settings
    shutil.rmtree(model)
    assert audit_run(run, plan)[0] in (first, second)


def test_a_model_without_a_multiple_choice_head_is_refused(tmp_path, no_signal):
    transformers = pytest.importorskip("transformers")
    transformers.T5Config().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="t5 has no multiple-choice head"):
        fitted(TransformerFilter(model=str(tmp_path)), no_signal, n=8)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"max_epochs": 0}, {"max_length": 3}, {"precision": "float16"}, {"learning_rates": ()}),
        *({"max_gradient_norm": -1.0}, {"stopping_share": 2.0}, {"stopping_share": -2.0}, {"patience": 0}),
    ],
)
def test_settings_of_the_transformer_out_of_range_are_refused(wrong, tiny_bert):
    """With a norm below 0 the fit climbed its loss."""
    with pytest.raises(InputError, match=f"filter transformer: {next(iter(wrong))}"):
        tiny_transformer(tiny_bert, **wrong).check()


# ---------------------------------------------------------------------------------------- names, packages


def test_a_schedule_names_a_model_in_brackets(tiny_bert):
    ((name, n_iterations),) = parse_schedule(f"transformer[{tiny_bert}]:5")
    filter = make_filter(name)
    assert (filter.name, filter.model, n_iterations) == ("transformer", tiny_bert, 5)
    assert make_filter("transformer", model="a[b]").model == make_filter("transformer[a[b]]").model == "a[b]"


def test_a_transformer_without_a_model_says_how_to_name_one():
    with pytest.raises(InputError, match=r"needs its model.*transformer\[path/to/model\]"):
        make_filter("transformer")
    with pytest.raises(InputError, match=r"Did you mean transformer\?.*transformer\[path/to/model\]"):
        make_filter("transfomer[x]")


def test_brackets_on_a_filter_that_takes_none_are_refused():
    with pytest.raises(InputError, match=r"takes nothing in brackets, so not ngrams\[3\]"):
        make_filter("ngrams[3]")


def test_the_names_that_stand_alone_can_all_be_made():
    assert {"ngrams", "chars", "fasttext"} <= set(filter_names())
    assert "transformer" not in filter_names()


@pytest.mark.parametrize(
    ("package", "extra", "filter"),
    [("fasttext", "fasttext", FastTextFilter()), ("transformers", "hf", TransformerFilter(model="x"))],
)
def test_a_missing_package_is_answered_with_the_command_that_installs_it(
    package, extra, filter, monkeypatch, no_signal
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package} is not installed.*{re.escape(install(extra))}") as caught:
        fitted(filter, no_signal, n=8)
    assert "\n" not in str(caught.value)


def test_of_learning_rates_of_which_none_has_learned_one_without_a_loss_is_the_last() -> None:
    """The first was taken, and gave scores that are no numbers."""
    filter = TransformerFilter(model="model")
    filter.trials = [Trial(1e-2, math.nan, [math.nan], False), Trial(2e-5, 2.31, [2.31], False)]
    assert filter.chosen.learning_rate == 2e-5


def test_an_estimator_that_refuses_sparse_tables_is_told_in_one_line(pool: CandidatePool) -> None:
    filter = SklearnFilter(make_pipeline(TfidfVectorizer(), GaussianNB()))
    with pytest.raises(InputError, match="the estimator cannot be fitted"):
        filter_pool(pool, filter, AFOptions(iterations=1, n_negatives=3))


class Odd(BaseEstimator, ClassifierMixin):
    """Raises what no estimator of scikit-learn does."""

    def __init__(self, at: str = "fit") -> None:
        self.at = at

    def fit(self, examples, labels):
        if self.at == "fit":
            raise AttributeError("no\n  lower")
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, examples):
        raise KeyError("gone")


@pytest.mark.parametrize(("at", "said"), [("fit", "cannot be fitted: no lower"), ("score", "cannot score: 'gone'")])
def test_whatever_an_estimator_raises_is_one_line(tell_tale, at, said):
    with pytest.raises(InputError, match=f"^filter sklearn: the estimator {said}[.]$"):
        fitted(SklearnFilter(Odd(at)), tell_tale).score(view_of(tell_tale, np.arange(N_TRAIN)))
