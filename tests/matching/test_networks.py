"""Claims about the models of VCR: entailment as similarity, a cross-encoder as relevance."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_bert import save_tiny_bert

from swag_af.data.disk.files import write_jsonl
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError
from swag_af.data.text.wording import comparable
from swag_af.filters.nli.entailing import entailment
from swag_af.filters.nli.folder import open_nli
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.filters.nli.training import train_nli
from swag_af.matching.checking import check_relevance, check_similarity
from swag_af.matching.contract import RELEVANCE, SIMILARITY
from swag_af.matching.models import tiles
from swag_af.matching.models.cross import SCORED_AT_ONCE, CrossEncoder
from swag_af.matching.models.entailment import NliSimilarity
from swag_af.matching.models.filtered import FilterRelevance
from swag_af.matching.models.weights import LEAST
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.verb import Matched, dry_run, match

THINGS = ("dog", "cat", "man", "girl", "horse", "boy")
DOES = ("runs", "sleeps", "eats", "sings", "waits")


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small ESIM that has learned that *a dog runs* follows from *the dog runs near house 3*."""
    folder, rng, rows = tmp_path_factory.mktemp("nli"), np.random.default_rng(0), []
    for i in range(150):
        who, other = rng.choice(THINGS, 2, replace=False)
        what, kind = rng.choice(DOES), ("entailment", "contradiction", "neutral")[i % 3]
        said = {"entailment": f"A {who} {what}", "contradiction": f"No {who} {what}", "neutral": f"Some {other} {what}"}
        rows.append({"premise": f"The {who} {what} near house {i}.", "hypothesis": said[kind], "label": kind})
    write_jsonl(folder / "pairs.jsonl", rows)
    return train_nli(TrainNLIOptions((folder / "pairs.jsonl",), folder / "esim", hidden=16, epochs=5)).path


@pytest.fixture(scope="module")
def similarity(nli: Path) -> NliSimilarity:
    return NliSimilarity(folder=str(nli), device="cpu")


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


def cross(folder: str, **changed: Any) -> CrossEncoder:
    return CrossEncoder(model=folder, **({"device": "cpu", "max_length": 48, "learning_rate": 3e-3} | changed))


# ------------------------------------------------------------------------------- entailment


def slow_similarity(folder: Path, one: str, other: str) -> float:
    """Both directions of one pair, by the model itself."""
    if comparable(one) == comparable(other):
        return 1.0
    found = max(entailment([one], [other], folder)[0], entailment([other], [one], folder)[0])
    return min(float(found), 1 - LEAST)


TEXTS = st.lists(st.lists(st.sampled_from([*THINGS, *DOES, "No", "a", "zzz"]), max_size=5).map(" ".join), min_size=1)


@given(first=TEXTS.map(lambda texts: texts[:3]), second=TEXTS.map(lambda texts: texts[:3]), as_one=st.booleans())
@settings(max_examples=25)
def test_all_pairs_are_what_each_pair_is_alone(
    nli: Path, similarity: NliSimilarity, first: list[str], second: list[str], as_one: bool
) -> None:
    second = first if as_one else second
    slow = [[slow_similarity(nli, one, other) for other in second] for one in first]
    found = similarity.score(first, second)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, slow, rtol=1e-4, atol=1e-6)


def test_entailment_keeps_the_contract_of_similarity(similarity: NliSimilarity) -> None:
    check_similarity(similarity)


def test_the_same_words_are_surely_the_same_and_no_others(similarity: NliSimilarity) -> None:
    texts = ["The dog runs near house 3.", "the dog runs near house 3", "A dog runs", ""]
    found = similarity.score(texts, texts)
    assert (found == 1).tolist() == [[i == j or i + j == 1 for j in range(4)] for i in range(4)]


def test_tiles_of_any_size_give_the_same(similarity: NliSimilarity, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"The {who} {what} near house 3." for who in THINGS for what in DOES]
    whole = similarity.score(texts, texts[:7])
    monkeypatch.setattr(tiles, "PAIRS_AT_ONCE", 11)
    np.testing.assert_allclose(similarity.score(texts, texts[:7]), whole, rtol=1e-4, atol=1e-6)


def test_each_text_is_encoded_once_and_a_square_is_compared_once(
    similarity: NliSimilarity, monkeypatch: pytest.MonkeyPatch
) -> None:
    filter, encoded, compared = similarity.model.filter, [], []
    encode, compare = filter.encode_texts, filter.compare
    monkeypatch.setattr(filter, "encode_texts", lambda texts: (encoded.extend(texts), encode(texts))[1])
    monkeypatch.setattr(filter, "compare", lambda kept, i, j: (compared.append(len(i)), compare(kept, i, j))[1])
    texts = ["A dog runs", "No dog runs", "A dog runs", "Some cat eats"]
    similarity.score(texts, texts)
    assert sorted(encoded) == sorted(set(texts))
    assert sum(compared) == 16


def test_what_follows_is_more_similar_than_what_does_not(similarity: NliSimilarity) -> None:
    said = [f"The {who} {what} near house 3." for who in THINGS for what in DOES]
    repeated = [f"A {who} {what}" for who in THINGS for what in DOES]
    denied = [f"No {who} {what}" for who in THINGS for what in DOES]
    found = similarity.score(said, [*repeated, *denied])
    assert found[:, :30].diagonal().mean() > found[:, 30:].diagonal().mean()


def test_a_folder_without_a_model_is_told_before_any_work(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "q.jsonl", [{"query": "Why is it so?", "response": "It is late."}])
    wanted = MatchingOptions(similarity=f"nli[{tmp_path / 'none'}]")
    with pytest.raises(InputError, match="no such folder"):
        match(MatchOptions((tmp_path / "q.jsonl",), tmp_path / "m", matching=wanted))
    assert not (tmp_path / "m").exists()


# ------------------------------------------------------------------------------- a cross-encoder

TOPICS = ("smiles frowns", "frowns smiles", "aaa bbb", "ccc ddd")


def pairs(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Queries and responses of four topics; a response has its topic's second word."""
    rng = np.random.default_rng(seed)
    topics = [TOPICS[int(rng.integers(4))].split() for _ in range(n)]
    return [f"{one} x {i % 5}" for i, (one, _) in enumerate(topics)], [
        f"y {two} {i % 7}." for i, (_, two) in enumerate(topics)
    ]


def same_topic(queries: list[str], responses: list[str]) -> np.ndarray:
    """(n, m) whether response j is of the topic of query i."""
    second = {topic.split()[0]: topic.split()[1] for topic in TOPICS}
    return np.array([[second[q.split()[0]] == r.split()[1] for r in responses] for q in queries])


@pytest.fixture(scope="module")
def fitted(tiny_bert: str) -> CrossEncoder:
    model = cross(tiny_bert, max_epochs=1)
    model.fit(*pairs(60), rng=np.random.default_rng(0))
    return model


def test_a_cross_encoder_keeps_the_contract_of_relevance(tiny_bert: str) -> None:
    check_relevance(lambda: cross(tiny_bert, max_epochs=1))


@given(
    queries=st.lists(st.text("abc 12", min_size=1, max_size=30), min_size=1, max_size=4),
    responses=st.lists(st.text("xyz 12.", min_size=1, max_size=60), min_size=1, max_size=4),
)
@settings(max_examples=20)
def test_scores_are_those_of_each_pair_alone(fitted: CrossEncoder, queries: list[str], responses: list[str]) -> None:
    assert fitted._fitted is not None
    network, tokenizer = fitted._fitted

    def slow(query: str, response: str) -> float:
        inputs = tokenizer(query, response, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            return float(network(**inputs).logits.softmax(dim=1)[0, 1])

    expected = [[slow(query, response) for response in responses] for query in queries]
    np.testing.assert_allclose(fitted.score(queries, responses), expected, atol=1e-5)


def test_more_pairs_than_a_batch_has_keep_their_places(fitted: CrossEncoder) -> None:
    queries, responses = pairs(20, seed=3)
    assert len(queries) ** 2 > SCORED_AT_ONCE
    whole = fitted.score(queries, responses)
    for i, j in ((0, 0), (19, 3), (7, 19)):
        alone = fitted.score(queries[i : i + 1], responses[j : j + 1])
        assert whole[i, j] == pytest.approx(float(alone[0, 0]), abs=1e-5)


def test_a_cross_encoder_learns_what_answers_what(tiny_bert: str) -> None:
    model = cross(tiny_bert, max_epochs=4, patience=4)
    model.fit(*pairs(300), rng=np.random.default_rng(0))
    queries, responses = pairs(40, seed=1)
    scores = model.score(queries, responses)
    same = same_topic(queries, responses)
    assert scores[same].mean() > 2 * scores[~same].mean()
    assert len(model.held_out_losses) == 4


def test_what_a_cross_encoder_cannot_use_is_one_line(tiny_bert: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_length must be 8 or more"):
        cross(tiny_bert, max_length=4).check()
    for setting in ({"held_out": 1.0}, {"held_out": -1.0}, {"patience": 0}, {"max_gradient_norm": 0.0}):
        with pytest.raises(InputError, match=f"relevance cross: {next(iter(setting))} must be"):
            cross(tiny_bert, **setting).check()
    with pytest.raises(InputError, match="relevance cross: device toaster is none of auto, cpu, cuda"):
        cross(tiny_bert, device="toaster").check()
    with pytest.raises(InputError, match="no model that can be read"):
        cross(str(tmp_path)).check()
    with pytest.raises(InputError, match="at least 20"):
        cross(tiny_bert).fit(["a"] * 19, ["b"] * 19, rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="has not been fitted"):
        cross(tiny_bert).score(["a"], ["b"])


# ------------------------------------------------------------------------------- filters


@pytest.mark.parametrize("name", ["dualbow", "lstm", "encoder"])
def test_a_filter_of_two_texts_keeps_the_contract_of_relevance(name: str, tiny_bert: str) -> None:
    check_relevance(lambda: FilterRelevance(filter=f"encoder[{tiny_bert}]" if name == "encoder" else name))


@pytest.mark.parametrize("name", ["dualbow", "lstm"])
def test_a_filter_scores_each_pair_as_it_would_alone(name: str) -> None:
    queries, responses = pairs(80)
    model = FilterRelevance(filter=name)
    model.fit(queries, responses, rng=np.random.default_rng(0))
    found = model.score(queries[:9], responses[:7])
    for i in range(9):
        for j in range(7):
            logits = model._fitted.score_classes([queries[i]], [responses[j]])[0].astype(np.float64)
            assert found[i, j] == pytest.approx(1 / (1 + np.exp(logits[0] - logits[1])), rel=1e-3, abs=1e-6)


def test_a_filter_learns_what_answers_what() -> None:
    model = FilterRelevance(filter="dualbow")
    model.fit(*pairs(400), rng=np.random.default_rng(0))
    queries, responses = pairs(40, seed=1)
    scores, same = model.score(queries, responses), same_topic(queries, responses)
    assert scores[same].mean() > 2 * scores[~same].mean()


def test_what_a_relevance_by_a_filter_cannot_use_is_one_line() -> None:
    with pytest.raises(InputError, match="learns no pairs"):
        FilterRelevance(filter="ngrams").check()
    with pytest.raises(InputError, match="no filter 'esmi'"):
        FilterRelevance(filter="esmi").check()
    with pytest.raises(InputError, match="has not been fitted"):
        FilterRelevance(filter="esim").score(["a"], ["b"])
    assert RELEVANCE.make("filter[encoder[x/y]]") == FilterRelevance(filter="encoder[x/y]")


# ------------------------------------------------------------------------------- both in the verb


def test_names_in_brackets_make_both(nli: Path, tiny_bert: str) -> None:
    assert RELEVANCE.make(f"cross[{tiny_bert}]") == CrossEncoder(model=tiny_bert)
    assert SIMILARITY.make(f"nli[{nli}]") == NliSimilarity(folder=str(nli))


@pytest.fixture(scope="module")
def matched(nli: Path, tiny_bert: str, tmp_path_factory: pytest.TempPathFactory) -> Matched:
    folder, (queries, responses) = tmp_path_factory.mktemp("both"), pairs(60)
    rows = [
        {"query": f"{q} {i}?", "response": f"{r} {i}", "group": f"g{i % 12}"}
        for i, (q, r) in enumerate(zip(queries, responses, strict=True))
    ]
    write_jsonl(folder / "q.jsonl", rows)
    wanted = MatchingOptions(relevance=f"cross[{tiny_bert}]", similarity=f"nli[{nli}]", folds=2)
    return match(MatchOptions((folder / "q.jsonl",), folder / "m", matching=wanted))


def test_a_run_knows_the_model_of_entailment_by_its_content(matched: Matched, nli: Path) -> None:
    assert {"folder": sha256_file(nli / "manifest.json"), "device": "auto"} in matched.about["identity"]["models"]
    assert open_nli(nli).manifest.classes[0] == "contradiction"


def test_a_run_knows_a_cross_encoder_by_its_files(matched: Matched, nli: Path, tiny_bert: str, tmp_path: Path) -> None:
    """The same files elsewhere are the same model; other weights are another."""
    (of_cross, _) = matched.about["identity"]["models"]
    assert of_cross["model"]["model.safetensors"] == sha256_file(Path(tiny_bert) / "model.safetensors")
    assert tiny_bert not in str(matched.about["identity"])
    moved = [shutil.copytree(path, tmp_path / Path(path).name) for path in (tiny_bert, nli)]
    wanted = MatchingOptions(relevance=f"cross[{moved[0]}]", similarity=f"nli[{moved[1]}]", folds=2)
    options = MatchOptions((matched.path.parent / "q.jsonl",), matched.path, matching=wanted)
    assert match(options).about == matched.about
    weights = moved[0] / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with pytest.raises(InputError, match="--out"):
        match(options)


def test_a_card_tells_models_by_the_names_of_their_folders(matched: Matched, nli: Path) -> None:
    said = (matched.path / "run" / "manifest.json").read_text(encoding="utf-8").partition('"said"')[2]
    assert "Relevance: cross[tiny-bert], a cross-encoder" in said
    assert "Similarity: nli[esim], entailment in either direction" in said
    assert str(nli.parent) not in said


def test_a_dry_run_measures_few_rows_of_slow_models(matched: Matched, nli: Path, tiny_bert: str) -> None:
    wanted = MatchingOptions(relevance=f"cross[{tiny_bert}]", similarity=f"nli[{nli}]", folds=2)
    (made,) = dry_run(MatchOptions((matched.path.parent / "q.jsonl",), matched.path.parent / "x", matching=wanted))
    assert made.n_pairs == matched.about["pairs"]
    assert made.seconds_to_score > 0
