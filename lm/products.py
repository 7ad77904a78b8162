"""Matrix products in full fp32 precision at the speed of the processor.

On a CPU, torch sends fp32 products to MKL, which runs AVX2 code on AMD processors; the oneDNN kernels that torch
also carries run AVX-512 there, in the same precision and 2 to 3 times as fast (docs/PERFORMANCE.md). Everything in
this folder that multiplies large matrices does so here. Without oneDNN, and on a GPU, these are torch's own products.

Letters: `M` rows, `I` inputs, `O` outputs.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn


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


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x` (M, I) times `weight` (O, I) transposed, plus `bias` (O,): (M, O). Carries no gradient."""
    if x.device.type == "cpu" and x.dtype == torch.float32 and has_onednn():
        return _onednn(x.detach(), weight.detach(), None if bias is None else bias.detach())
    with torch.no_grad():
        return nn.functional.linear(x, weight, bias)


class PackedLinear:
    """`linear` by one weight many times over: the weight is laid out for the kernel once.

    `rows` is the number of rows expected in a call. `dtype` bfloat16 rounds weight and input to 8 bits of mantissa
    and sums in fp32; the outputs are fp32 either way.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, *, rows: int, dtype: torch.dtype = torch.float32):
        self.dtype = dtype
        self.weight = weight.detach().to(dtype)
        self.bias = None if bias is None else bias.detach()
        self.packed = self.weight.device.type == "cpu" and has_onednn()
        if self.packed:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous(), rows)

    def __call__(self, x: Tensor) -> Tensor:
        """(M, I) fp32 to (M, O) fp32."""
        if self.dtype == torch.float32:
            if self.packed:
                return _onednn(x, self.weight, self.bias)
            return nn.functional.linear(x, self.weight, self.bias)
        rounded = x.to(self.dtype)
        if self.packed:
            made = _onednn(rounded, self.weight, None)
        else:
            made = nn.functional.linear(rounded, self.weight)
        return made.float() if self.bias is None else made.float().add_(self.bias)


def _onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
