"""The language model as a network: two stacks of LSTM layers, forward and backward, around one embedding.

Letters: `B` sequences, `T` steps, `H` hidden units, `V` token types. Sequences are time-major inside.
This module knows neither texts nor training.
"""

from typing import Any

import torch
from torch import Tensor, nn

State = list[tuple[Tensor, Tensor]]
"""One `(h, c)` a layer, each (B, H)."""


class HighwayLSTMLayer(nn.Module):
    """An LSTM layer whose output mixes with a projection of its input through a highway gate.

    As in the released code of Zellers et al. 2018 (after Srivastava et al. 2015 and He et al. 2017); the mixed
    output is what recurs. Recurrent dropout multiplies it by one mask a sequence (Gal and Ghahramani 2016).
    """

    def __init__(self, hidden: int):
        super().__init__()
        self.hidden = hidden
        self.from_input = nn.Linear(hidden, 6 * hidden)
        self.from_state = nn.Linear(hidden, 5 * hidden, bias=False)
        for weight in (self.from_input.weight, self.from_state.weight):
            for block in weight.split(hidden):
                nn.init.orthogonal_(block)
        nn.init.zeros_(self.from_input.bias)
        with torch.no_grad():
            self.from_input.bias[hidden : 2 * hidden] = 1.0  # forget gate open at first

    def forward(
        self, x: Tensor, state: tuple[Tensor, Tensor] | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """(T, B, H) inputs to (T, B, H) outputs and the last state; `mask` (B, H) drops from the recurrence."""
        projected = self.from_input(x)  # (T, B, 6H)
        if state is None:
            zeros = self.from_state.weight.new_zeros(x.shape[1], self.hidden)
            state = zeros, zeros
        if mask is None:
            mask = torch.ones_like(state[0])
        outputs, c = _Recurrence.apply(projected, self.from_state.weight, *state, mask)
        return outputs, (outputs[-1], c)

    def forward_by_steps(self, x: Tensor, mask: Tensor) -> Tensor:
        """The slow twin of `forward` from a zero state: one `step` at a time, gradients by autograd."""
        h = c = x.new_zeros(x.shape[1], self.hidden)
        outputs = []
        for projected in self.from_input(x).unbind(0):
            h, c = self.step(projected, h, c)
            h = h * mask
            outputs.append(h)
        return torch.stack(outputs)

    def step(self, projected: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """One step from the projected input (B, 6H) and the state (B, H) each."""
        H = self.hidden
        inputs, carried = projected.split((5 * H, H), dim=-1)
        gates = (inputs + self.from_state(h)).to(c.dtype)  # (B, 5H)
        i, f, o, r = torch.sigmoid(gates[..., : 4 * H]).chunk(4, dim=-1)
        c = f * c + i * torch.tanh(gates[..., 4 * H :])
        return torch.lerp(carried.to(c.dtype), o * torch.tanh(c), r), c


class _Recurrence(torch.autograd.Function):
    """The steps of a `HighwayLSTMLayer` in one node of the graph.

    Autograd over single steps adds up the weight's gradient T times and keeps a node an operation; here the
    gates are kept in one table and the weight's gradient is one product. The arithmetic is `step`'s.
    """

    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, weight: Tensor, h: Tensor, c: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        T, B, H = projected.shape[0], *h.shape
        matrix = weight.to(projected.dtype).t()  # (H, 5H)
        hs, cs = h.new_empty(T + 1, B, H), h.new_empty(T + 1, B, H)
        gates = h.new_empty(T, B, 5 * H)
        hs[0], cs[0] = h, c
        for t in range(T):
            torch.add(projected[t, :, : 5 * H], hs[t].to(matrix.dtype) @ matrix, out=gates[t])
            gates[t, :, : 4 * H].sigmoid_()
            gates[t, :, 4 * H :].tanh_()
            i, f, o, r, g = gates[t].chunk(5, dim=-1)
            torch.mul(f, cs[t], out=cs[t + 1])
            cs[t + 1].addcmul_(i, g)
            torch.lerp(projected[t, :, 5 * H :].to(o.dtype), o * torch.tanh(cs[t + 1]), r, out=hs[t + 1])
            hs[t + 1].mul_(mask)
        ctx.save_for_backward(projected, weight, gates, hs, cs, mask)
        ctx.mark_non_differentiable(cs[T])
        return hs[1:], cs[T]

    @staticmethod
    def backward(ctx: Any, d_outputs: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        projected, weight, gates, hs, cs, mask = ctx.saved_tensors
        T, B, H = d_outputs.shape
        matrix = weight.to(projected.dtype)  # (5H, H)
        d_projected = gates.new_empty(T, B, 6 * H)
        d_h, d_c = torch.zeros_like(mask), torch.zeros_like(mask)
        tanh_c = torch.tanh(cs[1:])
        for t in reversed(range(T)):
            i, f, o, r, g = gates[t].chunk(5, dim=-1)
            d_i, d_f, d_o, d_r, d_g, d_carried = d_projected[t].chunk(6, dim=-1)
            carried = projected[t, :, 5 * H :].to(o.dtype)
            d_y = (d_outputs[t] + d_h).mul_(mask)
            d_m = d_y * r
            torch.sub(d_y, d_m, out=d_carried)
            d_c.add_(d_m * o * (1 - tanh_c[t].square()))
            d_o.copy_(d_m * tanh_c[t])
            d_r.copy_(d_y * (o * tanh_c[t] - carried))
            torch.mul(d_c, g, out=d_i)
            torch.mul(d_c, cs[t], out=d_f)
            torch.mul(d_c, i, out=d_g).mul_(1 - g.square())
            d_sigmoid = d_projected[t, :, : 4 * H]
            d_sigmoid.mul_(gates[t, :, : 4 * H]).mul_(1 - gates[t, :, : 4 * H])
            d_c.mul_(f)
            d_h = (d_projected[t, :, : 5 * H].to(matrix.dtype) @ matrix).to(mask.dtype)
        flat = d_projected[..., : 5 * H].reshape(T * B, 5 * H).to(matrix.dtype)
        d_weight = flat.t() @ hs[:-1].reshape(T * B, H).to(matrix.dtype)
        return d_projected.to(projected.dtype), d_weight.to(weight.dtype), None, None, None


class DirectionalLM(nn.Module):
    """A stack of layers read in one direction; the embedding stays with its owner."""

    def __init__(self, hidden: int, n_layers: int):
        super().__init__()
        self.layers: nn.ModuleList = nn.ModuleList(HighwayLSTMLayer(hidden) for _ in range(n_layers))

    def forward(self, x: Tensor, state: State | None = None, *, dropout: float = 0.0) -> tuple[Tensor, State]:
        """(T, B, H) embedded inputs to (T, B, H) outputs and the state after the last step."""
        last: State = []
        for i, layer in enumerate(self.layers):
            mask = None
            if self.training and dropout:
                mask = x.new_empty(x.shape[1:]).bernoulli_(1 - dropout).div_(1 - dropout)  # (B, H)
            x, layer_state = layer(x, state[i] if state is not None else None, mask)
            last.append(layer_state)
        return x, last

    def step(self, x: Tensor, state: State) -> tuple[Tensor, State]:
        """One embedded token a row, (B, H), from `state` to the top output (B, H) and the next state; no dropout."""
        following: State = []
        for layer, (h, c) in zip(self.layers, state, strict=True):
            assert isinstance(layer, HighwayLSTMLayer)
            x, c = layer.step(layer.from_input(x), h, c)
            following.append((x, c))
        return x, following


class BidirectionalLM(nn.Module):
    """Forward and backward language models with one embedding, tied to the output layer of both."""

    def __init__(
        self,
        n_types: int,
        hidden: int,
        n_layers: int,
        *,
        recurrent_dropout: float = 0.0,
        embedding_dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(n_types, hidden).uniform_(-0.1, 0.1))  # (V, H)
        self.output_bias = nn.Parameter(torch.zeros(n_types))
        self.forward_lm = DirectionalLM(hidden, n_layers)
        self.backward_lm = DirectionalLM(hidden, n_layers)
        self.recurrent_dropout = recurrent_dropout
        self.embedding_dropout = embedding_dropout

    def embed(self, ids: Tensor) -> Tensor:
        """(...,) ids to (..., H); in training whole word types are dropped, the same ones across the batch."""
        if not (self.training and self.embedding_dropout):
            return self.embedding[ids]
        keep = 1 - self.embedding_dropout
        kept = self.embedding.new_empty(len(self.embedding), 1).bernoulli_(keep).div_(keep)
        return self.embedding[ids] * kept[ids]

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., H) to (..., V)."""
        return nn.functional.linear(hidden, self.embedding, self.output_bias)

    def loss(self, inputs: Tensor, targets: Tensor, direction: str) -> Tensor:
        """Mean cross-entropy in nats a token; `inputs` and `targets` are (T, B) ids, target 0 counts for nothing."""
        stack = self.forward_lm if direction == "forward" else self.backward_lm
        hidden, _ = stack(self.embed(inputs), dropout=self.recurrent_dropout)
        wanted = targets != 0
        return nn.functional.cross_entropy(self.logits(hidden[wanted]).float(), targets[wanted])
