"""Claims about models of relevance and similarity: ours keep their contracts, and those that break them are told."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import ContractError, InputError
from swag_af.data.text.wording import words
from swag_af.matching.checking import check_relevance, check_similarity
from swag_af.matching.contract import training_pairs
from swag_af.matching.models.encoder import DualEncoder, Texts
from swag_af.matching.models.relevance import TfidfRelevance
from swag_af.matching.models.similarity import LexicalSimilarity
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.verb import match

TOPICS = ("guitar music song strings", "snow ski slope jacket", "pan egg oil stove", "ball net court serve")


def pairs(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Queries and responses of four topics, no word of one in the other."""
    rng = np.random.default_rng(seed)
    queries, responses = [], []
    for _ in range(n):
        topic = TOPICS[int(rng.integers(4))].split()
        queries.append(f"A person with {topic[0]} and {topic[1]} {rng.integers(9)}")
        responses.append(f"takes the {topic[2]} to the {topic[3]} {rng.integers(9)}.")
    return queries, responses


@pytest.mark.parametrize("make", [TfidfRelevance, lambda: DualEncoder(max_epochs=2)])
def test_our_models_of_relevance_keep_the_contract(make: Callable[[], Any]) -> None:
    check_relevance(make)


@given(st.lists(st.text("ab .+", max_size=8)))
def test_texts_are_read_at_once_as_one_by_one(texts: list[str]) -> None:
    """A text without a known word has the word 0."""
    number = {"a": 1, "ab": 2, "+": 3}
    read = Texts.of(texts, number)
    slow = [[number[word] for word in words(text) if word in number] or [0] for text in texts]
    assert read.words.tolist() == [word for one in slow for word in one]
    assert read.offsets.tolist() == np.cumsum([0, *map(len, slow)]).tolist()


def test_our_model_of_similarity_keeps_the_contract() -> None:
    check_similarity(LexicalSimilarity)


def test_a_dual_encoder_learns_what_words_do_not_share() -> None:
    queries, responses = pairs(400)
    model = DualEncoder(size=32)
    model.fit(queries, responses, rng=np.random.default_rng(0))
    held, answers = pairs(60, seed=1)
    scores = model.score(held, answers)
    same = np.array([[a.split()[3] == b.split()[3] for b in held] for a in held])
    assert scores[same].mean() > 3 * scores[~same].mean()


def test_the_encoder_tells_how_far_it_is_before_the_first_bucket_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was shown for minutes."""
    monkeypatch.setattr("swag_af.data.work.progress._SECONDS_BETWEEN_LINES", 0)
    queries, responses = pairs(120)
    write_jsonl(tmp_path / "q.jsonl", ({"query": q, "response": r} for q, r in zip(queries, responses, strict=True)))
    quick = MatchingOptions(folds=2, n_distractors=1, relevance="encoder[max_epochs=2]", buckets="none")
    match(MatchOptions((tmp_path / "q.jsonl",), tmp_path / "out", matching=quick))
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith(("encoder:", "match:"))]
    first = next(i for i, line in enumerate(told) if line.startswith("match:"))
    assert first > 2
    assert all(re.match(r"encoder: \d+ of \d+ queries learned at most, .* left", line) for line in told[:first])


class _Broken:
    name: ClassVar[str] = "broken"

    def __init__(self, fault: str = ""):
        self.fault, self.n, self.noise = fault, 0, 0.0

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        self.n = self.n + len(queries) if self.fault == "remembers" else len(queries)
        self.noise = np.random.default_rng().random() if self.fault == "random" else 0.0

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        made = np.full((len(queries), len(responses)), 0.1 + 1e-3 * self.n + self.noise / 2, np.float32)
        if self.fault == "relative":
            made /= len(queries)
        if self.fault == "logits":
            made -= 5
        return made[:, 0] if self.fault == "shape" else made


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("remembers", "forgets"),
        ("random", "same rng"),
        ("relative", "among fewer"),
        ("logits", "from 0 to 1"),
        ("shape", "64 x 64"),
    ],
)
def test_a_relevance_that_breaks_a_sentence_is_told_which(fault: str, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        check_relevance(lambda: _Broken(fault))


class _OneWay:
    name: ClassVar[str] = "one way"

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        return np.array([[len(a) / (len(a) + len(b)) for b in second] for a in first], np.float32)


def test_a_similarity_that_depends_on_the_order_is_told() -> None:
    with pytest.raises(ContractError, match="one way round"):
        check_similarity(_OneWay)


def test_one_pair_in_four_is_true_and_all_are_false_equally_often() -> None:
    first, second = training_pairs(50, rng=np.random.default_rng(0))
    assert (first == second).mean() == 0.25
    assert np.bincount(second).tolist() == [4] * 50


def slow_containment(a: Sequence[str], b: Sequence[str]) -> tuple[float, float]:
    """The shares of the parts of two texts that both have: of the one with fewer, and of all."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    def weight(parts: set[str]) -> float:
        return sum(0.25 if part in ENGLISH_STOP_WORDS else 1.0 for part in parts)

    one, other = set(a), set(b)
    return weight(one & other) / min(weight(one), weight(other)), weight(one & other) / weight(one | other)


def test_lexical_similarity_is_containment_written_out() -> None:
    texts = ["on the table", "a cup on the table", "jumps over it", "jump over them", "He says: cup!"]
    found = LexicalSimilarity(letter_weight=0).score(texts, texts)
    for i, a in enumerate(texts):
        for j, b in enumerate(texts):
            lighter, union = slow_containment(words(a), words(b))
            assert found[i, j] == pytest.approx(0.9 * lighter + 0.1 * union, rel=1e-5)


def test_letters_that_spell_a_stop_word_within_another_word_weigh_as_others_do() -> None:
    found = LexicalSimilarity(letter_weight=1).score(["bother"], ["other", "bothal"])[0]
    assert found[0] == pytest.approx(0.9 * 4 / 5 + 0.1 * 4 / 7, rel=1e-5)  # oth the her er^, of five and six triples
    assert found[1] == pytest.approx(0.9 * 3 / 6 + 0.1 * 3 / 9, rel=1e-5)  # ^bo bot oth


def test_lexical_similarity_sees_inclusion_and_inflection() -> None:
    one, other, third = LexicalSimilarity().score(
        ["a cup on the table"], ["on the table", "cups on tables", "he walks away"]
    )[0]
    assert one > 0.85
    assert 0.3 < other < one
    assert third < 0.2
    assert LexicalSimilarity().score(["Sit down."], ["down, sit"])[0, 0] == 1
    assert LexicalSimilarity().score(["..."], ["!"])[0, 0] == 0


def test_numbers_with_a_minus_and_names_with_marks_are_other_texts_to_the_lexical_similarity() -> None:
    model, texts = LexicalSimilarity(), ["3", "-3", "c", "C++", "C#"]
    assert len(set(map(model.key, texts))) == len(texts)
    assert np.count_nonzero(model.score(texts, texts)) == len(texts)


@pytest.mark.parametrize("model", [TfidfRelevance(), DualEncoder()])
def test_scores_before_a_fit_are_refused(model: Any) -> None:
    with pytest.raises(InputError, match="has not been fitted"):
        model.score(["a"], ["b"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(({"size": one}, "size: expected int, got") for one in ("a", 8.0, True, None)),
        *(({"learning_rate": one}, f"learning_rate: {one} is not a finite number") for one in (np.nan, np.inf)),
        *(({name: "a"}, f"{name}: expected ") for name in ("weight_decay", "dropout", "held_out", "patience")),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
        ({"dropout": 1.0, "held_out": -0.1}, "dropout must be from 0 to below 1, held_out must be from 0 to below 1"),
    ],
)
def test_settings_of_an_encoder_that_are_no_such_numbers_are_told(given: dict[str, Any], said: str) -> None:
    """A text was a ValueError, and NaN was fitted with."""
    with pytest.raises(InputError, match=re.escape(f"relevance encoder: {said}")):
        DualEncoder(**given).check()
    DualEncoder(size=np.int64(4), dropout=0, weight_decay=0, held_out=0).check()


@pytest.mark.parametrize(
    ("relevance", "similarity", "said"),
    [
        *((f"tfidf[pairs_per_query={n}]", "lexical", f"pairs_per_query={n}, at least 2") for n in (0, 1)),
        *(("tfidf", f"lexical[letter_weight={w}]", f"letter_weight={w}, from 0 to 1") for w in (5, -1)),
        *((f"encoder[{name}=0]", "lexical", f"{name} must be") for name in ("size", "batch_queries", "max_epochs")),
        *((f"encoder[held_out={x}]", "lexical", "held_out must be from 0 to below 1") for x in (1, -1)),
        *(("encoder[dropout=1.5]", "lexical", "dropout must"), ("encoder[learning_rate=-1]", "lexical", "above 0")),
        ("encoder[device=toaster]", "lexical", "device toaster is none of auto, cpu, cuda"),
    ],
)
def test_settings_out_of_range_are_told_before_any_work(
    relevance: str, similarity: str, said: str, tmp_path: Path
) -> None:
    """They were tracebacks, or went unseen."""
    queries, responses = pairs(60)
    rows = [
        {"id": f"{i}", "query": f"{q} {i}", "response": f"{r[:-1]} {i}."}
        for i, (q, r) in enumerate(zip(queries, responses, strict=True))
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    matching = MatchingOptions(relevance=relevance, similarity=similarity, folds=2, n_distractors=1)
    with pytest.raises(InputError, match=re.escape(said)):
        match(MatchOptions((tmp_path / "rows.jsonl",), tmp_path / "out", matching))
    assert not (tmp_path / "out").exists()
