"""Two texts aligned word by word: what both networks with attention share.

Letters: `p` pairs, `A` and `B` words of the longest text on either side, `M` words of all texts of a side, one text
after another. Words beyond a text's end get a weight of exactly 0, so padding and other pairs change nothing.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding

from swag_af.filters.pairs.batch import TextBatch


@dataclass(frozen=True)
class Side:
    """What one side of p pairs reads, as rows of the states of the texts."""

    rows: Tensor
    """(p, A) the state of each word; beyond a text's end that of its last word."""
    real: Tensor
    """(p, A) whether there is a word."""
    lengths: Tensor
    """(p,)"""

    @staticmethod
    def of(lengths: Tensor, which: Tensor) -> "Side":
        """The texts `which` (p,) among texts of these `lengths` (t,), whose states stand one after another."""
        begins, own = (lengths.cumsum(0) - lengths)[which], lengths[which]
        at = torch.arange(int(own.max()), device=own.device)
        return Side(begins[:, None] + torch.minimum(at, own[:, None] - 1), at < own[:, None], own)

    def of_words(self) -> Tensor:
        """(M,) the states of the real words, one pair after another."""
        return self.rows[self.real]

    def padded(self, states: Tensor) -> Tensor:
        """(p, A, D) the `states` (rows, D) of the words."""
        return embedding(self.rows, states)

    def ragged(self, padded: Tensor) -> Tensor:
        """(M, D) of (p, A, D), the real words alone."""
        return embedding(self.real.flatten().nonzero().squeeze(1), padded.flatten(0, 1))

    def summed(self, ragged: Tensor) -> Tensor:
        """(p, D) the sum over the words of each text of (M, D)."""
        pair = torch.arange(len(self.lengths), device=ragged.device).repeat_interleave(self.lengths)
        return ragged.new_zeros(len(self.lengths), ragged.shape[1]).index_add(0, pair, ragged)


def soft_alignment(keys: tuple[Tensor, Tensor], sides: tuple[Side, Side]) -> tuple[Tensor, Tensor]:
    """(p, A, B) weights over the second text for each word of the first, and (p, B, A) the other way round.

    `keys` are (p, A, D) and (p, B, D), whose products are the logits (Parikh et al. 2016, equations 1 and 2).
    """
    first, second = keys
    logits = first @ second.transpose(1, 2)  # (p, A, B)
    over_second = logits.masked_fill(~sides[1].real[:, None, :], -torch.inf).softmax(2)
    over_first = logits.masked_fill(~sides[0].real[:, :, None], -torch.inf).softmax(1)
    return over_second, over_first.transpose(1, 2)


def distinct_words(texts: TextBatch) -> tuple[Tensor, Tensor]:
    """(Q,) the distinct words of all texts, and (M,) the place among them of each word, one text after another."""
    at = torch.arange(texts.words.shape[1], device=texts.words.device)
    words = texts.words[at < texts.lengths[:, None]]  # (M,)
    distinct, places = words.unique(return_inverse=True)
    return distinct, places
