"""The filters of two texts: which network each one trains. How they are trained: `fitting`."""

from dataclasses import dataclass
from typing import ClassVar

from swag_af.data.errors import InputError
from swag_af.filters.pairs.batch import PairNetwork, WordTable
from swag_af.filters.pairs.decomposable import DecomposableAttention
from swag_af.filters.pairs.esim import ESIM
from swag_af.filters.pairs.fitting import PairFilter
from swag_af.filters.pairs.networks import DualBow, InferSentBilinear, InferSentMLP, LSTMSequence


@dataclass(kw_only=True)
class DualBowFilter(PairFilter):
    """Two bags of word vectors and a matrix between them: SWAG's DualBoW."""

    name: ClassVar[str] = "dualbow"

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """A `DualBow`."""
        return DualBow(words, n_outputs, self.dropout)


@dataclass(kw_only=True)
class RecurrentFilter(PairFilter):
    """What the filters with a BiLSTM share; makes no network itself."""

    hidden: int = 128
    """Units a direction."""

    def check(self) -> None:
        """As all; and `hidden` must be a multiple of 16, for which halves of a layer fill whole vectors."""
        super().check()
        if self.hidden < 16 or self.hidden % 16:
            raise InputError(f"filter {self.name}: hidden is {self.hidden}; take a multiple of 16.")


@dataclass(kw_only=True)
class InferSentMLPFilter(RecurrentFilter):
    """A BiLSTM over each text, pooled by maximum, and an MLP on what the two have in common and apart."""

    width: int = 128
    """Units of the MLP."""

    name: ClassVar[str] = "infersent-mlp"

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """An `InferSentMLP`."""
        return InferSentMLP(words, n_outputs, self.hidden, self.width, self.dropout)


@dataclass(kw_only=True)
class InferSentBilinearFilter(RecurrentFilter):
    """A BiLSTM over each text, pooled by maximum, and a matrix between the two."""

    name: ClassVar[str] = "infersent-bilinear"

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """An `InferSentBilinear`."""
        return InferSentBilinear(words, n_outputs, self.hidden, self.dropout)


@dataclass(kw_only=True)
class LSTMFilter(RecurrentFilter):
    """A BiLSTM over all that there is as one text, pooled by maximum: SWAG's LSTM sequence model, of one layer."""

    name: ClassVar[str] = "lstm"
    reads_one: ClassVar[bool] = True

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """An `LSTMSequence`."""
        return LSTMSequence(words, n_outputs, self.hidden, self.dropout)


class AligningFilter(RecurrentFilter):
    """What the filters share that align the words of two texts; makes no network itself."""

    @property
    def threads_alike(self) -> int:
        """One: a softmax over the words of a text, and its gradient, have other bits by two threads."""
        return 1


@dataclass(kw_only=True)
class DecompFilter(AligningFilter):
    """Words of one text aligned to those of the other, in no order: decomposable attention (Parikh et al. 2016)."""

    hidden: int = 208
    """Units of every layer; published with 200, which is no multiple of 16."""
    dropout: float = 0.2
    """As published."""

    name: ClassVar[str] = "decomp"

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """A `DecomposableAttention`."""
        return DecomposableAttention(words, n_outputs, hidden=self.hidden, dropout=self.dropout)


@dataclass(kw_only=True)
class ESIMFilter(AligningFilter):
    """Two texts read by BiLSTMs, aligned word by word, and read again: ESIM (Chen et al. 2017)."""

    hidden: int = 304
    """Units a direction; published with 300, which is no multiple of 16."""
    dropout: float = 0.5
    """As published."""
    batch_contexts: int = 32

    name: ClassVar[str] = "esim"

    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """An `ESIM`."""
        return ESIM(words, n_outputs, hidden=self.hidden, dropout=self.dropout)
