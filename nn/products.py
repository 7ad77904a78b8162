"""Matrix products in full fp32 precision at the speed of the processor, for language models and filters alike.

On a CPU, torch sends fp32 products to MKL, which runs AVX2 code on AMD processors; the oneDNN kernels that torch
also carries run AVX-512 there, in the same precision and 2 to 3 times as fast (docs/PERFORMANCE.md). Everything here
that multiplies large matrices does so through this file. Without oneDNN, and on a GPU, these are torch's own products.
Under autocast products on a CPU are bf16, where the processor has instructions for these.

Letters: `M` rows, `I` inputs, `O` outputs.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


@cache
def has_onednn() -> bool:
    """Whether fp32 products on the CPU go to oneDNN."""
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        x, weight = torch.ones(2, 4), torch.ones(3, 4)
        packed = torch.ops.mkldnn._reorder_linear_weight(weight, 2)
        made = torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")
    except (AttributeError, RuntimeError, TypeError):
        return False
    return bool(torch.equal(made, torch.full((2, 3), 4.0)))


@cache
def has_bf16() -> bool:
    """Whether the processor has instructions for bf16 products (AVX512-BF16 or AMX), and oneDNN uses them."""
    found = [getattr(torch.cpu, f"_is_{name}_supported", None) for name in ("avx512_bf16", "amx_tile")]
    return has_onednn() and any(known is not None and known() for known in found)


def serves(x: Tensor) -> bool:
    """Whether hand-written gradients can stand in for torch's own on `x`: fp32 on a CPU, under autocast where its
    products are bf16 and the processor has these."""
    if x.device.type != "cpu" or x.dtype != torch.float32:
        return False
    return not torch.is_autocast_enabled("cpu") or (_kind() == torch.bfloat16 and has_bf16())


def kind_of_products(x: Tensor) -> torch.dtype:
    """In which products of `x` are to be made where `serves`: bf16 under autocast, its own elsewhere."""
    return _kind() if serves(x) and torch.is_autocast_enabled("cpu") else x.dtype


def _kind() -> torch.dtype:
    made: torch.dtype = torch.get_autocast_dtype("cpu")
    return made


def is_launched(x: Tensor) -> bool:
    """Whether operations on `x` are sent to another device, which takes longer than most of them do: few large ones are
    better there than many small ones, and padding costs nothing."""
    return x.device.type != "cpu"


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`multiply` with its gradient; torch's own where that does not serve."""
    if not serves(x):
        return nn.functional.linear(x, weight, bias)
    made: Tensor = _Linear.apply(x, weight, bias)
    return made


def linear_of_any(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`linear` of ever another number of rows: made for `round_number` of them, since kernels are compiled for each.

    `weight` may have gaps between its rows, on which the kernels crawl; it is copied.
    """
    return linear(filled_up(x), weight.contiguous(), bias)[: len(x)]


def filled_up(x: Tensor) -> Tensor:
    """`x` (M, I) with rows of zeros below it, `round_number` rows in all."""
    return nn.functional.pad(x, (0, 0, 0, round_number(len(x)) - len(x)))


def round_number(n: int) -> int:
    """`n` or a few more: 15 at most below 128, an eighth above. Few numbers of rows have kernels of their own so, and
    little is multiplied for nothing."""
    step = min(256, max(16, 1 << max(0, n.bit_length() - 4)))
    return -(-n // step) * step


class Linear(nn.Linear):
    """A layer of `linear_of_any`."""

    def forward(self, x: Tensor) -> Tensor:
        """(M, I) to (M, O)."""
        return linear_of_any(x, self.weight, self.bias)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.kind = kind_of_products(x)
        x, weight = x.detach().to(ctx.kind), weight.detach().to(ctx.kind)
        ctx.save_for_backward(x, weight)
        return multiply(x, weight, bias, dtype=ctx.kind)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous()  # (M, O); the kernels crawl on rows with gaps between them
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        rounded = gradient.to(ctx.kind)
        return (
            multiply(rounded, weight.T, dtype=ctx.kind) if needs_x else None,
            multiply(rounded.T, x.T, dtype=ctx.kind) if needs_weight else None,
            gradient.sum(0) if needs_bias else None,
        )


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """`x` (M, I) times `weight` (O, I) transposed, plus `bias` (O,): (M, O). Carries no gradient.

    `dtype` bfloat16 rounds all of them and the result to 8 bits of mantissa, and sums in fp32; what comes is fp32 then.
    """
    if dtype == torch.bfloat16:
        product = _onednn if has_bf16() else nn.functional.linear
        rounded = None if bias is None else bias.detach().to(dtype)
        made: Tensor = product(x.detach().to(dtype), weight.detach().to(dtype), rounded).to(torch.float32)
        return made
    if x.device.type == "cpu" and x.dtype == torch.float32 and has_onednn():
        return _onednn(x.detach(), weight.detach(), None if bias is None else bias.detach())
    with torch.no_grad():
        return nn.functional.linear(x, weight, bias)


def multiply_in_bf16(x: Tensor, weight: Tensor) -> Tensor:
    """`multiply` with products in bf16, without a bias."""
    return multiply(x, weight, dtype=torch.bfloat16)


class PackedLinear:
    """`multiply` by one weight many times over: the weight is laid out for the kernel once.

    `rows` is the number of rows expected in a call. `dtype` bfloat16 rounds weight, input and output to 8 bits of
    mantissa and sums in fp32; the outputs have the type of the input either way.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, *, rows: int, dtype: torch.dtype | None = None):
        self.dtype = weight.dtype if dtype is None else dtype
        self.weight = weight.detach().to(self.dtype)
        self.bias = None if bias is None else bias.detach()
        fits = weight.device.type == "cpu" and self.dtype in (torch.float32, torch.bfloat16)
        self.is_packed = fits and has_onednn()
        if self.is_packed:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous(), rows)

    def __call__(self, x: Tensor) -> Tensor:
        """(M, I) to (M, O)."""
        product = _onednn if self.is_packed else nn.functional.linear
        if x.dtype == self.dtype:
            made: Tensor = product(x, self.weight, self.bias)
            return made
        made = product(x.to(self.dtype), self.weight, None)
        if self.bias is not None and is_launched(made):
            return made + self.bias  # one reading of what is large, in place of two
        made = made.to(x.dtype)
        return made if self.bias is None else made.add_(self.bias)


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
