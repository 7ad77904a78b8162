"""Representations are made of texts alone, equal for equal texts, the same in any batch, and on one scale."""

from pathlib import Path

import numpy as np
import pytest
from tiny_bert import save_tiny_bert

from swag_af.auditing.probes.inputs import Reading, Source, find_input, read
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.filters.transformer import mean_vectors
from swag_af.pruning.features import REPRESENTATIONS, Encoder, FastTextVectors, TfidfSvd, features_of


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
