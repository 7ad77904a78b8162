"""A bidirectional LSTM over texts of different lengths, laid end to end: every output, or their mean and maximum.

On a CPU by the kernels of `recurrent`: no arithmetic on padding, and inputs that occur more than once are projected
once. Elsewhere by torch's own on packed sequences. Its parameters are those of `torch.nn.LSTM`.

Letters: `n` sequences, `M` tokens of all of them, one sequence after another, `I` numbers an input, `H` hidden units.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from swag_af.nn import products
from swag_af.nn.recurrent import lstm_outputs
from swag_af.nn.threads import threads


@dataclass(frozen=True)
class Steps:
    """Which tokens an LSTM reads at each step, in both directions, when sequences stand in falling order of length."""

    order: Tensor
    """(n,) the sequences in that order."""
    lengths: Tensor
    """(n,) their lengths in that order, at least 1."""
    alive: list[int]
    """How many sequences have a token at each step."""
    tokens: Tensor
    """(2, M) the token at each place, step by step: read forward, and read backward from each end."""

    @staticmethod
    def of(lengths: Tensor) -> "Steps":
        """The steps of sequences of these `lengths` (n,), each at least 1, in any order."""
        sorted_lengths, order = lengths.sort(descending=True, stable=True)
        begins = (lengths.cumsum(0) - lengths)[order]
        at = torch.arange(int(sorted_lengths[0]), device=lengths.device)[:, None]  # (T, 1)
        real = at < sorted_lengths  # (T, n)
        forward, backward = begins + at, begins + sorted_lengths - 1 - at
        return Steps(order, sorted_lengths, real.sum(1).tolist(), torch.stack([forward[real], backward[real]]))

    def places(self) -> Tensor:
        """(2, M) the place of each token: what `tokens` undoes."""
        places = torch.empty_like(self.tokens)
        at = torch.arange(self.tokens.shape[1], device=places.device)
        return places.scatter_(1, self.tokens, at.expand_as(places))


class BiLSTM(nn.Module):
    """A layer; orthogonal recurrent weights (Saxe et al. 2014), forget biases of 1 (Jozefowicz et al. 2015)."""

    def __init__(self, n_inputs: int, hidden: int):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(n_inputs, hidden, bidirectional=True)
        self._initialise()

    def _initialise(self) -> None:
        """On one thread: LAPACK's bits depend on their number."""
        with torch.no_grad(), threads(1):
            for name, parameter in self.lstm.named_parameters():
                if name.startswith("bias"):
                    parameter.zero_()
                    if "_ih_" in name:
                        parameter[self.hidden : 2 * self.hidden] = 1.0
                    continue
                for block in parameter.split(self.hidden):
                    (nn.init.orthogonal_ if "_hh_" in name else nn.init.xavier_uniform_)(block)

    def forward(self, rows: Tensor, inputs: Tensor, steps: Steps) -> Tensor:
        """(M, 2H) outputs of the tokens, whose inputs are the rows `inputs` (M,) of `rows` (Q, I)."""
        if not products.serves(rows):
            padded, real = self._by_torch(rows[inputs], steps)
            return padded[real]
        outputs = self._outputs(rows, inputs[steps.tokens], steps)  # (2, M, H)
        both = [nn.functional.embedding(places, out) for places, out in zip(steps.places(), outputs, strict=True)]
        return torch.cat(both, dim=1)

    def pooled(self, tokens: Tensor, steps: Steps) -> Tensor:
        """(n, 4H) mean and maximum of the outputs of each sequence, whose tokens are `tokens` (M, I)."""
        if not products.serves(tokens):
            padded, real = self._by_torch(tokens, steps)
            largest = padded.masked_fill(~real[..., None], -torch.inf).amax(1)
            return torch.cat([padded.sum(1) / real.sum(1, keepdim=True), largest], dim=1)
        outputs = self._outputs(tokens, steps.tokens, steps)
        total, largest = _SumMax.apply(outputs, steps.alive)  # (2, n, H) each
        mean = total / steps.lengths[:, None]
        return torch.cat([*mean, *largest], dim=1)[steps.order.argsort()]

    def _outputs(self, rows: Tensor, inputs: Tensor, steps: Steps) -> Tensor:
        """(2, M, H), in the order of steps; `inputs` (2, M) likewise."""
        rows = products.filled_up(rows)
        projected, recurrent = [], []
        for end in ("", "_reverse"):
            into, across, bias, more = (
                _gates_in_our_order(getattr(self.lstm, f"{name}_l0{end}"))
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            projected.append(products.linear(rows, into, bias + more))  # (Q, 4H)
            recurrent.append(across.T)
        return lstm_outputs(torch.stack(projected), torch.stack(recurrent), inputs, steps.alive)

    def _by_torch(self, tokens: Tensor, steps: Steps) -> tuple[Tensor, Tensor]:
        """(n, T, 2H) outputs, sequences in the order given and zeros after their ends; (n, T) where they are."""
        back = steps.order.argsort()
        packed = PackedSequence(tokens[steps.tokens[0]], torch.tensor(steps.alive), steps.order, back)
        with _without_tf32():
            padded, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        at = torch.arange(padded.shape[1], device=padded.device)
        return padded, at < steps.lengths[back][:, None]


@contextmanager
def _without_tf32() -> Iterator[None]:
    """cuDNN's LSTMs in fp32, where torch's default is 10 bits of mantissa. Whoever has set torch's newer options of
    precision has said what is wanted, and torch refuses the older one."""
    with ExitStack() as stack:
        with suppress(RuntimeError):
            stack.enter_context(torch.backends.cudnn.flags(enabled=True, allow_tf32=False))
        yield


def _gates_in_our_order(parameter: Tensor) -> Tensor:
    """Input, forget, update, output, as torch has them, to input, forget, output, update."""
    enter, forget, update, leave = parameter.chunk(4)
    return torch.cat([enter, forget, leave, update])


class _SumMax(torch.autograd.Function):
    """Outputs (d, M, H) in the order of steps to their sums and their maxima, (d, n, H) each."""

    @staticmethod
    def forward(ctx: Any, outputs: Tensor, alive: list[int]) -> tuple[Tensor, Tensor]:
        total, largest = outputs[:, : alive[0]].clone(), outputs[:, : alive[0]].clone()
        begin = alive[0]
        for n in alive[1:]:
            here = outputs[:, begin : begin + n]
            total[:, :n] += here
            torch.maximum(largest[:, :n], here, out=largest[:, :n])
            begin += n
        ctx.save_for_backward(outputs, largest)
        ctx.alive = alive
        return total, largest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor, d_largest: Tensor) -> tuple[Tensor, None]:
        outputs, largest = ctx.saved_tensors
        gradient, begin = torch.empty_like(outputs), 0
        for n in ctx.alive:
            now = gradient[:, begin : begin + n]
            torch.eq(outputs[:, begin : begin + n], largest[:, :n], out=now)
            now.mul_(d_largest[:, :n]).add_(d_total[:, :n])
            begin += n
        return gradient, None
