"""Word filters (a convolution over words) pooled by maximum, with its gradient by hand.

A window's value is a sum of what each of its words gives at its place, so the product with the filters is
done once per *distinct* word of a batch and a window costs a few lookups. A maximum passes its gradient to
one window alone, so the gradient is a handful of additions per sequence and filter instead of a product per
window. On a GPU windows beyond a sequence's end are summed too, and masked: that is fewer operations. A slow twin by
`torch.nn.functional.conv1d` stands in `tests/slow/pools.py`.
"""

from typing import Any

import torch
import torch.nn.functional as F

from swag_af.nn import products


def window_max_pool(
    table: torch.Tensor, ids: torch.Tensor, lengths: torch.Tensor, widths: tuple[int, ...]
) -> torch.Tensor:
    """(b, len(widths) * C) maximum over the whole windows of each sequence, one block of `C` a width.

    `table` (Q, sum(widths), C): what input `q` adds to a window at each place of each width, in order; row 0
    is zero and fills up what lies beyond a sequence. `ids` (b, T) names rows of it, `lengths` (b,) falls.
    A sequence shorter than a width is one window of that width.
    """
    assert products.is_launched(ids) or ids.shape[1] >= int(lengths[0])  # a GPU would be waited for
    ids = F.pad(ids, (0, max(widths) - 1))
    table = table.to(torch.promote_types(table.dtype, torch.float32))  # bf16 in mixed precision
    pooled: torch.Tensor = _WindowMaxPool.apply(table, ids, lengths, widths, torch.is_grad_enabled())
    return pooled


class _WindowMaxPool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: torch.Tensor,
        ids: torch.Tensor,
        lengths: torch.Tensor,
        widths: tuple[int, ...],
        keep: bool,
    ) -> torch.Tensor:
        n_places, n_filters = table.shape[1:]
        flat = table.view(-1, n_filters)  # row q * n_places + place
        pooled = table.new_empty(len(ids), len(widths), n_filters)
        best = torch.empty(pooled.shape, dtype=torch.int32, device=ids.device) if keep else None
        of_width, place = _padded_max if products.is_launched(ids) else _ragged_max, 0
        rows, longest = ids * n_places, ids.shape[1] - max(widths) + 1
        for k, width in enumerate(widths):
            places = torch.arange(place, place + width, device=ids.device)
            highest, position = of_width(flat, rows, lengths, places, longest, keep)
            pooled[:, k] = highest
            if best is not None and position is not None:
                best[:, k] = position
            place += width
        ctx.save_for_backward(ids, best)
        ctx.widths, ctx.shape = widths, table.shape
        return pooled.flatten(1)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        ids, best = ctx.saved_tensors
        n_places, n_filters = ctx.shape[1:]
        grad_pooled = grads[0].reshape(best.shape)  # (b, widths, C)
        grad = grad_pooled.new_zeros(ctx.shape[0] * n_places, n_filters)
        place = 0
        for k, width in enumerate(ctx.widths):
            for offset in range(width):
                words = ids.gather(1, best[:, k].long() + offset)  # (b, C)
                grad.scatter_add_(0, words * n_places + place, grad_pooled[:, k])
                place += 1
        grad = grad.view(ctx.shape)
        grad[0] = 0  # row 0 stands for nothing
        return grad, None, None, None, None


def _ragged_max(
    flat: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor, places: torch.Tensor, longest: int, keep: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(b, C) maximum over the whole windows of each sequence and, if kept, the position (int32) where it lies.

    Place `o` of a window that begins with `rows` (b, T) at a position reads row `rows[position + o] + places[o]` of
    `flat`. Windows are laid out position by position, without those beyond a sequence's end.
    """
    width = len(places)
    at = torch.arange(max(longest - width, 0) + 1, device=rows.device)[:, None]
    whole = at <= (lengths - width).clamp(min=0)  # (T', b)
    index = torch.stack([rows[:, o : o + len(at)].T[whole] for o in range(width)], dim=1)  # (M, width)
    values = F.embedding_bag(index + places, flat, mode="sum")  # (M, C)
    first, *alive = whole.sum(1).tolist()
    pooled, begin = values[:first].clone(), first
    best = torch.zeros(pooled.shape, dtype=torch.int32, device=values.device) if keep else None
    for position, n in enumerate(alive, start=1):
        now = values[begin : begin + n]
        if best is not None:
            later = (now > pooled[:n]).int().mul_(position)  # positions rise, so the largest is the last gain
            torch.maximum(best[:n], later, out=best[:n])
        torch.maximum(pooled[:n], now, out=pooled[:n])
        begin += n
    return pooled, best


def _padded_max(
    flat: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor, places: torch.Tensor, longest: int, keep: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """`_ragged_max` by every window of the `longest` sequence, those beyond the end of another masked."""
    width = len(places)
    n = max(longest - width, 0) + 1
    index = rows.unfold(1, width, 1)[:, :n] + places  # (b, T', width)
    values = F.embedding_bag(index.reshape(-1, width), flat, mode="sum").view(len(rows), n, -1)
    beyond = torch.arange(n, device=rows.device) > (lengths - width).clamp(min=0)[:, None]  # (b, T')
    highest, position = values.masked_fill_(beyond[..., None], -torch.inf).max(dim=1)
    return highest, position.int()
