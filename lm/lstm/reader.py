"""One direction of a language model laid out for reading many rows at once, a token a row a step, without gradients.

Rows go through in tiles of one fixed size, padded where they do not fill it, so that what is computed for a row
never depends on which rows happen to share its batch: the kernels see the same shapes whatever the batch. Rows that
have read the same tokens so far are one node, computed once. This module knows the arithmetic; what is read, and
what is done with the distributions, is its callers' business.

Letters: `n` nodes, `D` rows, `M` rows of a tile, `H` hidden units, `V` token types, `W` = `V` rounded up to whole
blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Self

import torch
from torch import Tensor

from swag_af.data.vocabulary import SPECIAL_TOKENS
from swag_af.lm.lstm.network import BidirectionalLM, HighwayLSTMLayer
from swag_af.lm.options import Precision
from swag_af.nn.products import PackedLinear

TILE = {"cpu": 256, "cuda": 8192}
"""Rows of a tile: on a CPU its distributions stay in cache, on a GPU they fill the machine."""

LIVE_TILES = {"cpu": 16, "cuda": 8}
"""Tiles that are kept filled at once: enough that a step's last tile, filled in part, costs next to nothing."""

BLOCK = 64
"""Token types in a block; a draw first finds its block, then its token inside."""

_PROJECTIONS = {"cpu": 8192, "cuda": 1 << 20}
"""Token types whose first-layer input is kept: 100 MB at 512 hidden units."""

FlatState = list[Tensor]
"""An h and a c a layer, (n, H) each."""

_N_SPECIAL = len(SPECIAL_TOKENS)
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class OutputLayer:
    """The layer from states to logits, tied to the embedding and shared by both directions; padded to `W` columns."""

    def __init__(self, model: BidirectionalLM, precision: Precision = "fp32"):
        self.n_types = len(model.embedding)
        padding = -self.n_types % BLOCK
        weight = torch.nn.functional.pad(model.embedding.detach(), (0, 0, 0, padding))
        bias = torch.nn.functional.pad(model.output_bias.detach(), (0, padding), value=-torch.inf)
        self.n_columns = len(weight)
        self.tile = TILE[weight.device.type]
        self.dtype = _DTYPES[precision]
        self.product = PackedLinear(weight, bias, rows=self.tile, dtype=self.dtype)

    def __call__(self, top: Tensor) -> Tensor:
        """(M, H) to (M, W) logits, -inf beyond the vocabulary."""
        return self.product(top)


class Reader:
    """`model` in one direction, for inference; `output` is shared with the other direction's reader."""

    def __init__(self, model: BidirectionalLM, direction: str, output: OutputLayer):
        stack = model.forward_lm if direction == "forward" else model.backward_lm
        self.embedding = model.embedding.detach()
        self.device = self.embedding.device
        self.output = output
        self.tile = output.tile
        # on a GPU fp32 products are slow, so there the layers go with the output; on a CPU they cost little
        dtype = output.dtype if self.device.type == "cuda" else torch.float32
        self.layers = [_Layer(layer, self.tile, dtype) for layer in stack.layers if isinstance(layer, HighwayLSTMLayer)]
        hidden = self.embedding.shape[1]
        n_kept = min(self.output.n_types, _PROJECTIONS[self.device.type])
        self.is_known = torch.zeros(n_kept, dtype=torch.bool, device=self.device)
        self.projections = torch.empty(n_kept + 8 * self.tile, 6 * hidden, device=self.device)

    def no_state(self, n: int) -> FlatState:
        """Of `n` rows that have read nothing."""
        return [torch.zeros(n, self.embedding.shape[1], device=self.device) for _ in range(2 * len(self.layers))]

    def project(self, tokens: Tensor) -> Tensor:
        """(n,) ids to the (n,) rows of `projections` that hold what the first layer makes of their embeddings.

        Valid until the next call. Frequent types, which have the lowest ids, are computed once and for all.
        """
        types, of_token = torch.unique(tokens, return_inverse=True)
        is_rare = types >= len(self.is_known)
        frequent, rare = types[~is_rare], types[is_rare]
        new = frequent[~self.is_known[frequent]]
        first_rare = len(self.is_known)
        if len(self.projections) < first_rare + len(rare):
            more = self.projections.new_empty(2 * len(rare), self.projections.shape[1])
            self.projections = torch.cat((self.projections[:first_rare], more))
        rows = types.clone()
        rows[is_rare] = torch.arange(first_rare, first_rare + len(rare), device=self.device)
        wanted = torch.cat((new, rare))
        into = torch.cat((new, rows[is_rare]))
        for part, at in zip(wanted.split(self.tile), into.split(self.tile), strict=True):
            self.projections[at] = self.layers[0].from_input(_padded(self.embedding[part], self.tile))[: len(part)]
        self.is_known[new] = True
        return rows[of_token]

    def step(self, projected: Tensor, state: Sequence[Tensor], after: Sequence[Tensor]) -> Tensor:
        """A tile one token on: from (M, 6H) and a state to the top output (M, H); the new state goes to `after`.

        A state is an h and a c a layer, (M, H) each.
        """
        top = projected
        for i, layer in enumerate(self.layers):
            projected = layer.from_input(top) if i else projected
            top = layer.step(projected, *state[2 * i : 2 * i + 2], *after[2 * i : 2 * i + 2])
        return top


class _Layer:
    """`HighwayLSTMLayer.step` on packed weights, reusing its temporaries."""

    def __init__(self, layer: HighwayLSTMLayer, tile: int, dtype: torch.dtype):
        self.hidden = layer.hidden
        self.from_input = PackedLinear(layer.from_input.weight, layer.from_input.bias, rows=tile, dtype=dtype)
        self.from_state = PackedLinear(layer.from_state.weight, None, rows=tile, dtype=dtype)

    def step(self, projected: Tensor, h: Tensor, c: Tensor, h_after: Tensor, c_after: Tensor) -> Tensor:
        H = self.hidden
        gates = self.from_state(h).add_(projected[:, : 5 * H])  # (M, 5H)
        i, f, o, r = gates[:, : 4 * H].sigmoid_().chunk(4, dim=1)
        torch.mul(f, c, out=c_after).addcmul_(i, gates[:, 4 * H :].tanh_())
        return torch.lerp(projected[:, 5 * H :], o.mul_(c_after.tanh()), r, out=h_after)


class Frontier:
    """The nodes that rows have reached: advance them by a token each, tile by tile."""

    def __init__(self, reader: Reader):
        self.reader = reader
        self.states = reader.no_state(0)
        """Those after the last `advance`, in the order of its nodes; rows beyond them are padding."""

    def advance(self, tokens: Tensor, parents: Tensor, roots: FlatState) -> Iterator[tuple[slice, Tensor]]:
        """Read `tokens` (n,) and yield, tile by tile, nodes and their top outputs (M, H), which may be padded.

        The first nodes continue the states `roots` (m rows), one each in order; the others continue those of
        `parents` (n - m,) among `states`.
        """
        reader, n, m = self.reader, len(tokens), len(roots[0])
        rows = _padded(reader.project(tokens), reader.tile)
        after = [piece.new_empty(len(rows), piece.shape[1]) for piece in self.states]
        for at in range(0, n, reader.tile):
            tile, last = slice(at, at + reader.tile), min(at + reader.tile, n)
            old = parents[max(0, at - m) : max(0, last - m)]
            state = [
                _padded(torch.cat((root[tile], piece[old])) if at < m else piece[old], reader.tile)
                for root, piece in zip(roots, self.states, strict=True)
            ]
            top = reader.step(reader.projections[rows[tile]], state, [piece[tile] for piece in after])
            yield slice(at, last), top
        self.states = after


@dataclass
class Columns:
    """A base for dataclasses of tensors that all have a row for each of the same things."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    def take(self, index: Tensor | slice) -> Self:
        """The rows that `index` picks."""
        return type(self)(*(getattr(self, field.name)[index] for field in fields(self)))

    def join(self, other: Self) -> Self:
        """These rows, then those of `other`."""
        return type(self)(*(torch.cat((getattr(self, f.name), getattr(other, f.name))) for f in fields(self)))


@dataclass(frozen=True)
class Children:
    """`n` distinct nodes that are one token further than their parents, in order of parent and token."""

    parents: Tensor
    """(n,)"""
    tokens: Tensor
    """(n,)"""

    def __len__(self) -> int:
        return len(self.tokens)


def children(parents: Tensor, tokens: Tensor, n_types: int) -> tuple[Children, Tensor]:
    """The nodes that rows reach from `parents` (D,) by reading `tokens` (D,), and which of them each row is at (D,)."""
    keys, of_row = torch.unique(parents * n_types + tokens, return_inverse=True)
    return Children(keys // n_types, keys % n_types), of_row


def with_rows(
    steps: Iterator[tuple[slice, Tensor]], node_of_row: Tensor, tile: int
) -> Iterator[tuple[slice, slice, Tensor]]:
    """Add to every tile of `Frontier.advance` the rows at its nodes; `node_of_row` (D,) ascends."""
    n_nodes = int(node_of_row[-1]) + 1 if len(node_of_row) else 0
    first_nodes = torch.arange(0, n_nodes + tile, tile, device=node_of_row.device)
    at = torch.searchsorted(node_of_row, first_nodes).tolist()
    for i, (nodes, top) in enumerate(steps):
        yield nodes, slice(at[i], at[i + 1]), top


PROMPT_BYTES = {"cpu": 64e6, "cuda": 4e9}
"""Outputs of the steps of prompts that are read together: few of long ones."""


def read_prompts(reader: Reader, prompts: Sequence[Sequence[int]]) -> tuple[FlatState, Tensor, Tensor]:
    """Read `n` sequences from the start: states and logits (n, W) at their ends, and (n,) nats.

    The nats are those of all tokens but the first of each.
    """
    longest_first = sorted(range(len(prompts)), key=lambda i: -len(prompts[i]))
    a_token = 4 * reader.embedding.shape[1]
    parts, begin = [], 0
    while begin < len(prompts):
        n = max(1, int(PROMPT_BYTES[reader.device.type] // (a_token * len(prompts[longest_first[begin]]))))
        parts.append(_read_together(reader, [prompts[i] for i in longest_first[begin : begin + n]]))
        begin += n
    states, logits, nats = zip(*parts, strict=True)
    back = torch.tensor(longest_first, device=reader.device).argsort()
    return (
        [torch.cat(pieces)[back] for pieces in zip(*states, strict=True)],
        torch.cat(logits)[back],
        torch.cat(nats)[back],
    )


def _read_together(reader: Reader, prompts: Sequence[Sequence[int]]) -> tuple[FlatState, Tensor, Tensor]:
    """The same of prompts that are there longest first."""
    lengths = torch.tensor([len(prompt) for prompt in prompts], device=reader.device)
    tokens = torch.zeros(len(prompts), int(lengths[0]), dtype=torch.long, device=reader.device)  # (n, T)
    for row, prompt in enumerate(prompts):
        tokens[row, : len(prompt)] = torch.tensor(prompt, device=reader.device)
    frontier = Frontier(reader)
    tops = reader.embedding.new_zeros(tokens.shape[1], len(prompts), reader.embedding.shape[1])  # (T, n, H)
    states, nothing = reader.no_state(len(prompts)), reader.no_state(0)
    for t in range(tokens.shape[1]):
        n = int((lengths > t).sum())
        begin, parents = (states, lengths[:0]) if t == 0 else (nothing, torch.arange(n, device=reader.device))
        for nodes, top in frontier.advance(tokens[:n, t], parents, begin):
            tops[t, nodes] = top[: nodes.stop - nodes.start]
        for piece, after in zip(states, frontier.states, strict=True):
            piece[:n] = after[:n]
    nats = _nats_along(reader, tops, tokens, lengths)
    last = tops[lengths - 1, torch.arange(len(prompts), device=reader.device)]  # (n, H)
    logits = torch.cat([reader.output(_padded(part, reader.tile))[: len(part)] for part in last.split(reader.tile)])
    return states, logits, nats


def _nats_along(reader: Reader, tops: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
    """(n,) nats of `tokens` (n, T) after the first, from the outputs `tops` (T, n, H) before them."""
    wanted = torch.arange(1, tokens.shape[1], device=reader.device) < lengths[:, None]  # (n, T - 1)
    rows, at = wanted.nonzero(as_tuple=True)
    nats, total = tops.new_zeros(wanted.shape), tops.new_zeros(len(tokens))
    for row, t in zip(rows.split(reader.tile), at.split(reader.tile), strict=True):
        given = Distributions.of(reader.output(_padded(tops[t, row], reader.tile)))
        nats[row, t] = given.nats(torch.arange(len(row), device=reader.device), tokens[row, t + 1])
    for column in nats.unbind(1):  # in this order, whatever the longest is: `index_add_` has none on a GPU
        total += column
    return total


def _padded(x: Tensor, tile: int) -> Tensor:
    """`x` with rows of zeros up to whole tiles, one at least."""
    n = max(1, -(-len(x) // tile)) * tile - len(x)
    return torch.cat((x, x.new_zeros(n, *x.shape[1:]))) if n else x


class Choices:
    """The token types that may be sampled: those of `allowed` (V,) but for the special ones."""

    def __init__(self, allowed: Tensor, n_columns: int):
        allowed = torch.nn.functional.pad(allowed, (0, n_columns - len(allowed)), value=False)  # (W,)
        allowed[:_N_SPECIAL] = False
        self.allowed = allowed.float()
        """(W,) 1 for the types that may be chosen, 0 for the others."""
        at = torch.arange(n_columns, device=allowed.device)
        before = torch.where(allowed, at, -1).cummax(dim=0).values
        self.nearest = torch.where(before < 0, int(torch.nonzero(allowed)[0, 0]), before)
        """(W,) each allowed type itself; for another the allowed one before it, to which rounding at the end of a block
        may come."""


@dataclass
class Distributions:
    """What a tile's logits say."""

    p: Tensor
    """(M, W) probabilities."""

    @classmethod
    def of(cls, logits: Tensor) -> "Distributions":
        """Of logits (M, W), which are written over: one tile fits into the cache, two do not."""
        return cls(torch.softmax(logits, dim=1, out=logits))

    def nats(self, nodes: Tensor, tokens: Tensor) -> Tensor:
        """(D,) negative log-likelihoods of `tokens` (D,) at rows `nodes` (D,) of the tile, 87 at most."""
        return self.p[nodes, tokens].clamp_(min=torch.finfo(torch.float32).tiny).log_().neg_()

    def choose(self, nodes: Tensor, uniforms: Tensor, choices: Choices) -> Tensor:
        """(D,) tokens by inverting the cumulative distribution of rows `nodes` (D,) at `uniforms` (D,) in [0, 1).

        Only `choices` are chosen and share the probability of the others, which is gone from `p` afterwards. Sums over
        blocks of 64, and those within a block, are in float64; a block's own in float32.
        """
        self.p.mul_(choices.allowed)
        blocks = self.p.view(len(self.p), -1, BLOCK)  # (M, W / BLOCK, BLOCK)
        cumulative = blocks.sum(dim=2).cumsum(dim=1, dtype=torch.float64)  # (M, W / BLOCK)
        here = cumulative[nodes]
        wanted = (uniforms * here[:, -1])[:, None]  # (D, 1)
        block = torch.searchsorted(here, wanted, right=True).clamp_(max=here.shape[1] - 1)  # (D, 1)
        before = torch.where(block > 0, here.gather(1, (block - 1).clamp_(min=0)), 0.0)
        inside = blocks[nodes, block[:, 0]].cumsum(dim=1, dtype=torch.float64) + before  # (D, BLOCK)
        token = torch.searchsorted(inside, wanted, right=True).clamp_(max=BLOCK - 1) + block * BLOCK
        return choices.nearest[token[:, 0]]
