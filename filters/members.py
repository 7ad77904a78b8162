"""The five filters: which network each one trains, and on what. How they are trained: `neural`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from swag_af.data.errors import InputError
from swag_af.data.pool.view import View
from swag_af.data.tags import TAGS
from swag_af.data.vocabulary import Vocabulary
from swag_af.filters.networks import CNN, BagOfWords, Ensemble, Network, PerplexityMLP, PosLSTM
from swag_af.filters.neural import NeuralFilter
from swag_af.filters.sequences import Sequences


@dataclass(kw_only=True)
class MLPFilter(NeuralFilter):
    """The language model's likelihoods and the lengths: the filter of the first phase."""

    width: int = 512
    """Hidden units of both layers (released code: 2048)."""
    learning_rate: float = 2e-3
    """Twice the released step: 512 units then do as well as 1024 or 2048, at a third to a tenth of the cost."""

    name: ClassVar[str] = "mlp"
    requires: ClassVar[tuple[str, ...]] = ("features",)
    reads_words: ClassVar[bool] = False

    @property
    def threads_alike(self) -> int:
        """One where half a layer's outputs may not fill whole vectors."""
        return super().threads_alike if fills_vectors(self.width) else 1

    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A `PerplexityMLP` that standardises by the fitted candidates."""
        return _perplexity_mlp(sequences, self.width)


@dataclass(kw_only=True)
class BagOfWordsFilter(NeuralFilter):
    """The mean of the word embeddings of the second sentence."""

    name: ClassVar[str] = "bow"

    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A `BagOfWords` over the pool's vocabulary."""
        return BagOfWords(len(view.vocabulary))


@dataclass(kw_only=True)
class CNNFilter(NeuralFilter):
    """Filters over two to five neighbouring words."""

    name: ClassVar[str] = "cnn"

    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A `CNN` over the pool's vocabulary."""
        return CNN(len(view.vocabulary))


@dataclass(kw_only=True)
class PosLSTMFilter(NeuralFilter):
    """A bidirectional LSTM over the 100 most common words and the tags of all others."""

    name: ClassVar[str] = "poslstm"
    requires: ClassVar[tuple[str, ...]] = ("tags",)

    def make_network(self, view: View, sequences: Sequences) -> Network:
        """A `PosLSTM` over symbols; raises InputError when the vocabulary is not tagged."""
        return _pos_lstm(view)


@dataclass(kw_only=True)
class EnsembleFilter(NeuralFilter):
    """The four others trained together, and a fifth network over their representations that decides."""

    width: int = 2048
    """Hidden units over the concatenated representations."""
    mlp_width: int = 1024
    """Hidden units of the MLP among the members."""

    name: ClassVar[str] = "ensemble"
    heads: ClassVar[tuple[str, ...]] = ("mlp", "bow", "cnn", "poslstm")
    """The filters that its members are, by name."""
    requires: ClassVar[tuple[str, ...]] = ("features", "tags")

    @property
    def threads_alike(self) -> int:
        """As of the MLP, for both widths."""
        return super().threads_alike if fills_vectors(self.width, self.mlp_width) else 1

    def make_network(self, view: View, sequences: Sequences) -> Network:
        """An `Ensemble` of the four."""
        members = {
            "mlp": _perplexity_mlp(sequences, self.mlp_width),
            "bow": BagOfWords(len(view.vocabulary)),
            "cnn": CNN(len(view.vocabulary)),
            "poslstm": _pos_lstm(view),
        }
        return Ensemble(members, self.width)


def fills_vectors(*widths: int) -> bool:
    """Whether halves of layers of SELU units do: what two threads need to have the bits of one (`nn.threads`)."""
    return all(width % (2 * _VECTOR) == 0 for width in widths)


_VECTOR = 16
"""Numbers that the widest register holds (AVX-512)."""

N_COMMON_WORDS = 100
"""Words that the POS LSTM reads as they are (Zellers et al. 2018, 3.4)."""


def word_symbols(vocabulary: Vocabulary, n_common: int = N_COMMON_WORDS) -> np.ndarray:
    """(V,) the symbol of each word type: 0 padding, 1 to `n_common` common words, then tags."""
    if vocabulary.tags is None:
        raise InputError(
            "the pool's vocabulary has no part-of-speech tags, which the POS LSTM reads. "
            "`swag-af tag POOL` adds them; or choose a filter that does without."
        )
    symbols = 1 + n_common + vocabulary.tags.astype(np.int64)
    common = np.argsort(-vocabulary.counts, kind="stable")[:n_common]
    common = common[vocabulary.counts[common] > 0]
    symbols[common] = 1 + np.arange(len(common))
    symbols[0] = 0
    return symbols


def _pos_lstm(view: View) -> PosLSTM:
    vocabulary = view.vocabulary
    if "tags" in view.pool.tables:  # each token's own stands in place of its type's
        vocabulary = vocabulary.with_tags(np.zeros(len(vocabulary)))
    first_tag = 1 + N_COMMON_WORDS
    return PosLSTM(torch.from_numpy(word_symbols(vocabulary)), first_tag + len(TAGS), first_tag)


def _perplexity_mlp(sequences: Sequences, width: int) -> PerplexityMLP:
    features = sequences.features
    assert features is not None
    std, mean = torch.std_mean(features, dim=0, correction=0)  # (F,)
    exact_std, exact_mean = torch.std_mean(features.double(), dim=0, correction=0)  # squares of 1e-30 are none in fp32
    small = torch.where(exact_std > 1e-6 * exact_mean.abs(), exact_std.float(), torch.ones_like(std))
    return PerplexityMLP(mean, torch.where(std > 1e-6, std, small), width)
