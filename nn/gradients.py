"""Differentiable pieces of the language model with hand-written gradients, in fp32; under autocast their products are
bf16, sums and all else stay fp32.

The whole recurrence of a layer, and both ends of the shared embedding: looking words up, and the output layer with its
cross-entropy, whose (M, V) logits never exist whole. They multiply through `products`, which carries no gradient; that
is why these exist. On a GPU, where a step costs as many launches as it has operations, the recurrence is used as well,
in fp32 under autocast too; all else is torch's own there, as everything is under autocast on a CPU that has no bf16
products (`products.serves`). The tests hold both ways equal.

Letters: `T` steps, `D` directions, `B` sequences, `M` rows, `H` hidden units, `V` token types.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from swag_af.nn import products

TILE_BYTES = 31 << 20
"""Most that a temporary of the output layer takes. Up to 32 MiB glibc hands out pages that it has; for more the kernel
maps and clears fresh ones every time, which costs a third of the product (docs/PERFORMANCE.md)."""


def highway_lstm(projected: Tensor, weight: Tensor, h: Tensor, c: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """The recurrence of `HighwayLSTMLayer`: projected inputs (T, B, 6H) to outputs (T, B, H) and the last c (B, H).

    `weight` (5H, H) is `from_state`'s, `h` and `c` (B, H) the state before the first step; `mask` (B, H) multiplies
    every output. Layers of several directions are read together where `weight` is (D, 5H, H); all else has a D before
    its B then.
    """
    learns = torch.is_grad_enabled() and any(v.requires_grad for v in (projected, weight, h, c))
    kind = products.kind_of_products(projected)
    with torch.autocast(projected.device.type, enabled=False):  # all but products: it adds up what bf16 rounds
        outputs, last = _HighwayLSTM.apply(projected, weight, h, c, mask, kind, learns)
    return outputs, last


def lookup(ids: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The rows `ids` (...,) of `weight` (V, H), (..., H), and `weight` itself, to hand to `cross_entropy`.

    Its gradient from there comes here, and the rows' gradient is added to it in place: left to autograd that would be
    a second table of this size, of zeros almost everywhere.
    """
    rows, same = _Lookup.apply(ids, weight)
    return rows, same


def cross_entropy(
    hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, *, divisor: int
) -> tuple[Tensor, Tensor]:
    """The cross-entropy of `hidden` (M, H) through the output layer `weight` (V, H), `bias` (V,), summed over rows.

    `targets` (M,) are ids; the sum is divided by `divisor`. Also its (M,) terms in nats, which carry no gradient and
    are not divided. Gradients are made at once, tile by tile, while the logits are at hand; none when none is needed.
    """
    learns = torch.is_grad_enabled() and any(v.requires_grad for v in (hidden, weight, bias))
    loss, nats = _CrossEntropy.apply(hidden, targets, weight, bias, divisor, learns)
    return loss, nats


class _HighwayLSTM(torch.autograd.Function):
    """The gates stand in the order of the weights' rows: input, forget, output, highway, cell."""

    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        weight: Tensor,
        h: Tensor,
        c: Tensor,
        mask: Tensor | None,
        kind: torch.dtype,
        learns: bool,
    ) -> tuple[Tensor, Tensor]:
        T, H = len(projected), h.shape[-1]
        product = _product_of_state(weight, kind, rows=h.shape[-2])
        gates = projected.new_empty(T, *h.shape[:-1], 5 * H)
        squashed = projected.new_empty(T, *h.shape)  # tanh of c
        hs, cs = projected.new_empty(2, T + 1, *h.shape)
        hs[0], cs[0] = h, c
        for t in range(T):
            now = product(projected[t, ..., : 5 * H], hs[t], gates[t])  # (..., B, 5H)
            now[..., : 4 * H].sigmoid_()
            now[..., 4 * H :].tanh_()
            i, f, o, r, g = now.split(H, dim=-1)
            c = torch.mul(f, cs[t], out=cs[t + 1]).addcmul_(i, g)
            inner = torch.tanh(c, out=squashed[t]) * o
            h = torch.lerp(projected[t, ..., 5 * H :], inner, r, out=hs[t + 1])
            if mask is not None:
                h.mul_(mask)
        ctx.kind = kind
        if learns:
            ctx.save_for_backward(projected, weight, mask, gates, squashed, hs, cs)
        return hs[1:], cs[T].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_outputs: Tensor, d_last: Tensor) -> tuple[Tensor | None, ...]:
        projected, weight, mask, gates, squashed, hs, cs = ctx.saved_tensors
        T, H = len(squashed), squashed.shape[-1]
        product = _product_of_gates(weight, ctx.kind, rows=squashed.shape[-2])
        i, f, o, r, g = gates.split(H, dim=-1)
        carried = projected[..., 5 * H :]
        # What a step's gradients by h and c are multiplied by to give those by the gates before their nonlinearity.
        slopes = torch.empty_like(gates)
        for_i, for_f, for_o, for_r, for_g = slopes.split(H, dim=-1)  # (T, ..., B, H) each
        torch.sub(1, gates, out=slopes).mul_(gates)  # of the sigmoids
        for_i.mul_(g)
        for_f.mul_(cs[:-1])
        for_o.mul_(squashed).mul_(r)
        for_r.mul_(torch.addcmul(-carried, o, squashed))
        torch.addcmul(i, i * g, g, value=-1, out=for_g)
        for_c = torch.addcmul(o, o * squashed, squashed, value=-1).mul_(r)
        by_step = slopes.unflatten(-1, (5, H))

        d_projected = torch.empty_like(projected)  # (T, ..., B, 6H)
        d_gates = d_projected[..., : 5 * H]
        d_by_step = d_gates.unflatten(-1, (5, H))
        d_hs = torch.empty_like(squashed)
        d_h, d_c = torch.zeros_like(hs[0]), d_last.clone()
        for t in reversed(range(T)):
            d_h = torch.add(d_outputs[t], d_h, out=d_hs[t])
            if mask is not None:
                d_h.mul_(mask)
            d_c.addcmul_(d_h, for_c[t])
            torch.mul(by_step[t, ..., :2, :], d_c[..., None, :], out=d_by_step[t, ..., :2, :])
            torch.mul(by_step[t, ..., 2:4, :], d_h[..., None, :], out=d_by_step[t, ..., 2:4, :])
            torch.mul(by_step[t, ..., 4, :], d_c, out=d_by_step[t, ..., 4, :])
            d_c.mul_(f[t])
            d_h = product(d_gates[t])
        torch.addcmul(d_hs, d_hs, r, value=-1, out=d_projected[..., 5 * H :])
        return d_projected, _weight_gradient(d_gates, hs[:-1], ctx.kind), d_h, d_c, None, None, None


def _product_of_state(weight: Tensor, kind: torch.dtype, rows: int) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Writes to `out` (..., B, 5H) the sum of (..., B, 5H) and the product of `weight` with a state (..., B, H)."""
    if weight.dim() == 2:
        packed = products.PackedLinear(weight, None, rows=rows, dtype=kind)
        return lambda added, state, out: torch.add(added, packed(state), out=out)
    across = weight.transpose(1, 2)  # (D, H, 5H)
    return lambda added, state, out: torch.baddbmm(added, state, across, out=out)


def _product_of_gates(weight: Tensor, kind: torch.dtype, rows: int) -> Callable[[Tensor], Tensor]:
    """Takes gradients of the gates (..., B, 5H) to those of the state before (..., B, H)."""
    if weight.dim() == 2:
        return products.PackedLinear(weight.T, None, rows=rows, dtype=kind)
    return lambda d_gates: torch.bmm(d_gates, weight)


def _weight_gradient(d_gates: Tensor, states: Tensor, kind: torch.dtype) -> Tensor:
    """(..., 5H, H) from (T, ..., B, 5H) and (T, ..., B, H): all steps in one product."""
    if d_gates.dim() == 3:
        together = d_gates.reshape(-1, d_gates.shape[-1])
        return products.multiply(together.T, states.reshape(len(together), -1).T, dtype=kind)
    together, before = (one.transpose(0, 1).flatten(1, 2) for one in (d_gates, states))  # (D, T * B, ...)
    return torch.bmm(together.transpose(1, 2), before)


class _Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, ids: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(ids)
        return weight[ids], weight.view_as(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_rows: Tensor, d_weight: Tensor) -> tuple[None, Tensor]:
        (ids,) = ctx.saved_tensors
        return None, d_weight.index_add_(0, ids.flatten(), d_rows.flatten(0, -2))


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, divisor: int, learns: bool
    ) -> tuple[Tensor, Tensor]:
        (M, H), V, kind = hidden.shape, len(weight), products.kind_of_products(hidden)
        n_rows, n_columns = _tile(M, V), _tile(H, V)
        nats = hidden.new_empty(M)
        if learns:
            d_hidden, d_bias = torch.empty_like(hidden), torch.zeros_like(bias)
            d_weight = hidden.new_zeros(H, V)  # so laid out, its product is twice as fast as (V, H)
        rounded = weight.to(kind)
        for at in range(0, M, n_rows):
            x, wanted = hidden[at : at + n_rows], targets[at : at + n_rows, None]
            p = products.multiply(x, rounded, bias, dtype=kind)  # logits, (m, V)
            of_target, largest = p.gather(1, wanted), p.amax(1)
            torch.softmax(p, 1, out=p)
            # The largest of the shares is at least 1 / V: unlike the target's it cannot vanish.
            nats[at : at + n_rows] = largest - p.amax(1).log() - of_target[:, 0]
            if not learns:
                continue
            p.scatter_add_(1, wanted, p.new_full(wanted.shape, -1.0))  # now the gradient by the logits
            d_bias += p.sum(0)
            p = p.to(kind)
            d_hidden[at : at + n_rows] = products.multiply(p, rounded.T, dtype=kind)
            for columns, part in zip(x.split(n_columns, 1), d_weight.split(n_columns), strict=True):
                part += products.multiply((columns / divisor).T, p.T, dtype=kind)
        if learns:
            ctx.gradients = d_hidden.div_(divisor), d_weight.T.contiguous(), d_bias.div_(divisor)
        ctx.mark_non_differentiable(nats)
        return nats.sum() / divisor, nats

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.gradients is None:
            raise RuntimeError("the gradients of a cross_entropy cannot be asked for twice")
        d_hidden, d_weight, d_bias = ctx.gradients
        ctx.gradients = None  # handed over for good: `_Lookup` adds to the weight's
        if d_loss != 1:  # it is 1 when this is the loss itself, and the weight's gradient is large
            for gradient in (d_hidden, d_weight, d_bias):
                gradient.mul_(d_loss)
        return d_hidden, None, d_weight, d_bias, None, None


def _tile(n: int, width: int) -> int:
    """How many of `n` rows of `width` fp32 numbers to hold at a time: few enough, about equal shares, in 32s.

    Thirty-two rows are what the kernels like; a small remainder at the end would waste them.
    """
    most = max(1, TILE_BYTES // (4 * 32 * width))
    n_tiles = -(-n // (32 * most))
    return 32 * -(-n // (32 * n_tiles))
