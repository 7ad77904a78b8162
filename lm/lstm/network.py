"""The language model as a network: two stacks of LSTM layers, forward and backward, around one embedding.

Letters: `B` sequences, `T` steps, `H` hidden units, `V` token types. Sequences are time-major inside.
Neither texts nor training here.
"""

import torch
from torch import Tensor, nn

from swag_af.nn import gradients, products

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
        if state is None:
            zeros = self.from_state.weight.new_zeros(x.shape[1], self.hidden)
            state = zeros, zeros
        h, c = state
        if products.serves(x):
            rows = products.linear(x.flatten(0, 1), self.from_input.weight, self.from_input.bias)  # (T * B, 6H)
            y, c = gradients.highway_lstm(rows.unflatten(0, x.shape[:2]), self.from_state.weight, h, c, mask)
            return y, (y[-1], c)
        outputs = []
        for projected in self.from_input(x).unbind(0):  # (B, 6H)
            h, c = self.step(projected, h, c)
            if mask is not None:
                h = h * mask
            outputs.append(h)
        return torch.stack(outputs), (h, c)

    def step(self, projected: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """One step from the projected input (B, 6H) and the state (B, H) each."""
        H = self.hidden
        inputs, carried = projected.split((5 * H, H), dim=-1)
        gates = (inputs + self.from_state(h)).to(c.dtype)  # (B, 5H)
        i, f, o, r = torch.sigmoid(gates[..., : 4 * H]).chunk(4, dim=-1)
        c = f * c + i * torch.tanh(gates[..., 4 * H :])
        return torch.lerp(carried.to(c.dtype), o * torch.tanh(c), r), c


class DirectionalLM(nn.Module):
    """A stack of layers read in one direction; the embedding stays with its owner."""

    def __init__(self, hidden: int, n_layers: int):
        super().__init__()
        self.layers: nn.ModuleList = nn.ModuleList(HighwayLSTMLayer(hidden) for _ in range(n_layers))

    def forward(self, x: Tensor, state: State | None = None, *, dropout: float = 0.0) -> tuple[Tensor, State]:
        """(T, B, H) embedded inputs to (T, B, H) outputs and the state after the last step."""
        last: State = []
        for i, (layer, mask) in enumerate(zip(self.layers, self.masks(x, dropout), strict=True)):
            x, layer_state = layer(x, state[i] if state is not None else None, mask)
            last.append(layer_state)
        return x, last

    def masks(self, x: Tensor, dropout: float) -> list[Tensor | None]:
        """(B, H) of each layer, for embedded inputs (T, B, H); None where nothing is dropped."""
        if not (self.training and dropout):
            return [None] * len(self.layers)
        return [x.new_empty(x.shape[1:]).bernoulli_(1 - dropout).div_(1 - dropout) for _ in self.layers]

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
        return self._drop_types(self.embedding[ids], ids)

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., H) to (..., V)."""
        return nn.functional.linear(hidden, self.embedding, self.output_bias)

    def losses(self, batch: dict[str, tuple[Tensor, Tensor]]) -> tuple[Tensor, dict[str, Tensor]]:
        """The sum of the losses of the directions in `batch`, to learn from, and each by itself, without gradient.

        A loss is the mean cross-entropy in nats a token. `batch` holds (T, B) ids to read and (T, B) targets for each
        direction; target 0 counts for nothing.
        The directions read the same sequences and share the embedding, so they pass through it together.
        """
        inputs, targets = (torch.stack(tables) for tables in zip(*batch.values(), strict=True))  # (D, T, B)
        fused = products.serves(self.embedding)
        found, embedding = gradients.lookup(inputs, self.embedding) if fused else (self.embedding[inputs], None)
        stacks = [self.forward_lm if name == "forward" else self.backward_lm for name in batch]
        read = self._read_together if products.is_launched(self.embedding) else self._read
        predicted = targets != 0
        hidden, wanted = read(stacks, inputs, found)[predicted], targets[predicted]  # (M, H), (M,)
        n = len(wanted) // len(batch)
        if embedding is not None:
            loss, nats = gradients.cross_entropy(hidden, wanted, embedding, self.output_bias, divisor=n)
        else:
            nats = nn.functional.cross_entropy(self.logits(hidden).float(), wanted, reduction="none")
            loss = nats.sum() / n
        return loss, dict(zip(batch, nats.detach().view(len(batch), n).mean(1), strict=True))

    def _read(self, stacks: list[DirectionalLM], ids: Tensor, found: Tensor) -> Tensor:
        """(D, T, B, H) outputs of `stacks` for the embeddings `found` (D, T, B, H) of `ids` (D, T, B)."""
        both = zip(stacks, ids, found, strict=True)
        return torch.stack([s(self._drop_types(x, i), dropout=self.recurrent_dropout)[0] for s, i, x in both])

    def _read_together(self, stacks: list[DirectionalLM], ids: Tensor, found: Tensor) -> Tensor:
        """`_read` a step of all stacks at a time, for a device where operations cost more than what they compute."""
        kept, masks = [], []
        for stack, own, x in zip(stacks, ids, found, strict=True):
            kept.append(self._drop_types(x, own))
            masks.append(stack.masks(x, self.recurrent_dropout))
        read, zeros = torch.stack(kept), found.new_zeros(len(stacks), *found.shape[2:])  # (D, B, H)
        for layers, own in zip(zip(*(s.layers for s in stacks), strict=True), zip(*masks, strict=True), strict=True):
            mask = None if own[0] is None else torch.stack(own)
            projected = torch.stack([layer.from_input(x) for layer, x in zip(layers, read, strict=True)], dim=1)
            weight = torch.stack([layer.from_state.weight for layer in layers])  # (D, 5H, H)
            outputs, _ = gradients.highway_lstm(projected.float(), weight, zeros, zeros, mask)
            read = outputs.transpose(0, 1)
        return read

    def _drop_types(self, found: Tensor, ids: Tensor) -> Tensor:
        if not (self.training and self.embedding_dropout):
            return found
        keep = 1 - self.embedding_dropout
        kept = self.embedding.new_empty(len(self.embedding), 1).bernoulli_(keep).div_(keep)
        return found * kept[ids]
