"""A bidirectional LSTM over sequences of few distinct inputs, its outputs or their maximum, with gradients by hand.

Five things make it fast on a CPU, none changes a result beyond rounding:

* the input side of the gates is a table with one row per distinct input, so a token costs a lookup;
* sequences come longest first and a step touches only those still alive: no arithmetic on padding;
* products are the fastest at hand, the weight's gradient is one over all steps, and activations and gradients share
  their memory;
* tanh(x) is taken as 2 sigmoid(2x) - 1: torch's tanh takes six times as long as its sigmoid here;
* directions know nothing of each other: where torch has two threads each takes one, and they meet at the end, not at
  every operation of every step.

On a GPU, where sending an operation takes longer than most of them do, both directions go through each together.

A slow twin by ordinary autograd stands in `tests/slow/pools.py`.
"""

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import torch

from swag_af.nn import products
from swag_af.nn.products import PackedLinear, multiply, round_number
from swag_af.nn.threads import side_by_side


def lstm_max_pool(
    table: torch.Tensor,
    weight: torch.Tensor,
    inputs: torch.Tensor,
    alive: list[int],
    mask: torch.Tensor | None,
) -> torch.Tensor:
    """(d, b, H) maximum over time of the outputs of `d` directions.

    `table` (d, Q, 4H) holds the input side of the gates for each of `Q` distinct inputs, in the order input,
    forget, output, update; `weight` (d, H, 4H) is the recurrent side. `inputs` (d, M) names a row of `table`
    for each token, step by step: first the `alive[0]` tokens of step 0, and so on, `alive` falling. `mask`
    (d, b, H) multiplies every output: recurrent dropout with one mask a sequence (Gal & Ghahramani 2016).
    The gradient can be asked for once.
    """
    keep = torch.is_grad_enabled()
    table = table.to(torch.promote_types(table.dtype, torch.float32))
    kind = products.kind_of_products(table)
    with torch.autocast(table.device.type, enabled=False):  # all but products: a recurrence adds up what bf16 rounds
        pooled: torch.Tensor = _LstmMaxPool.apply(table, weight, inputs, alive, mask, kind, keep)
    return pooled


def lstm_outputs(table: torch.Tensor, weight: torch.Tensor, inputs: torch.Tensor, alive: list[int]) -> torch.Tensor:
    """(d, M, H) the outputs of `d` directions at every step, in the order of `inputs`; arguments as in `lstm_max_pool`.

    The gradient can be asked for once.
    """
    kind = products.kind_of_products(table)
    outputs: torch.Tensor = _LstmOutputs.apply(table, weight, inputs, alive, kind, torch.is_grad_enabled())
    return outputs


class _LstmMaxPool(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: torch.Tensor,
        weight: torch.Tensor,
        inputs: torch.Tensor,
        alive: list[int],
        mask: torch.Tensor | None,
        kind: torch.dtype,
        keep: bool,
    ) -> torch.Tensor:
        def read(part: slice) -> tuple[torch.Tensor, _States]:
            own = weight[part]
            pooled = table.new_full((len(own), alive[0], own.shape[1]), -torch.inf)

            def see(begin: int, output: torch.Tensor) -> None:
                here = pooled[:, : output.shape[1]]
                torch.maximum(here, output, out=here)

            masked = None if mask is None else mask[part]
            return pooled, _forward(table[part], own, inputs[part], alive, masked, kind, keep, see)

        made = side_by_side([partial(read, part) for part in _parts(weight)])
        if keep:
            ctx.save_for_backward(weight, inputs, mask, *(one for pooled, states in made for one in (pooled, *states)))
        ctx.alive, ctx.n_inputs, ctx.kind = alive, table.shape[1], kind
        return torch.cat([pooled for pooled, _ in made])

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, inputs, mask, *kept = ctx.saved_tensors
        (grad_pooled,) = grads

        def read_back(part: slice, pooled: torch.Tensor, *states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            outputs, above = _States(*states).outputs, grad_pooled[part]

            def add_to(grad: torch.Tensor, now: slice, work: torch.Tensor) -> None:
                n = grad.shape[1]
                here = torch.eq(outputs[:, now], pooled[:, :n], out=work[:, :n, : grad.shape[2]])
                grad.addcmul_(above[:, :n], here)

            masked = None if mask is None else mask[part]
            grad_gates, grad_weight = _through_time(add_to, ctx.alive, weight[part], masked, _States(*states), ctx.kind)
            return _table_gradient(grad_gates, inputs[part], ctx.n_inputs), grad_weight

        made = side_by_side([partial(read_back, part, *own) for part, own in _dealt(weight, kept)])
        by_table, by_weight = (torch.cat(parts) for parts in zip(*made, strict=True))
        return by_table, by_weight, None, None, None, None, None


class _LstmOutputs(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        table: torch.Tensor,
        weight: torch.Tensor,
        inputs: torch.Tensor,
        alive: list[int],
        kind: torch.dtype,
        keep: bool,
    ) -> torch.Tensor:
        made = table.new_empty(len(weight), inputs.shape[1], weight.shape[1])

        def read(part: slice) -> _States:
            def see(begin: int, output: torch.Tensor) -> None:
                made[part, begin : begin + output.shape[1]] = output

            return _forward(table[part], weight[part], inputs[part], alive, None, kind, keep, see)

        kept = side_by_side([partial(read, part) for part in _parts(weight)])
        if keep:
            ctx.save_for_backward(weight, inputs, *(one for states in kept for one in states))
        ctx.alive, ctx.n_inputs, ctx.kind = alive, table.shape[1], kind
        return made

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight, inputs, *kept = ctx.saved_tensors
        (grad_outputs,) = grads

        def read_back(part: slice, *states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            def add_to(grad: torch.Tensor, now: slice, work: torch.Tensor) -> None:
                grad += grad_outputs[part, now]

            grad_gates, grad_weight = _through_time(add_to, ctx.alive, weight[part], None, _States(*states), ctx.kind)
            return _table_gradient(grad_gates, inputs[part], ctx.n_inputs), grad_weight

        made = side_by_side([partial(read_back, part, *own) for part, own in _dealt(weight, kept)])
        by_table, by_weight = (torch.cat(parts) for parts in zip(*made, strict=True))
        return by_table, by_weight, None, None, None, None


def _parts(weight: torch.Tensor) -> list[slice]:
    """The directions, each by itself; together on a GPU, to which every operation is sent."""
    return [slice(None)] if products.is_launched(weight) else [slice(i, i + 1) for i in range(len(weight))]


def _dealt(weight: torch.Tensor, kept: list[torch.Tensor]) -> list[tuple[slice, list[torch.Tensor]]]:
    """Each part, and its share of what was kept of all, part by part."""
    parts = _parts(weight)
    size = len(kept) // len(parts)
    return [(part, kept[i * size : (i + 1) * size]) for i, part in enumerate(parts)]


class _States(NamedTuple):
    """What a pass forward leaves for the one back; of a single step where no gradient is asked for."""

    gates: torch.Tensor
    """(d, M or more, 4H) after their activations; where a gradient is asked for, zeros follow, up to `_later`'s end."""
    cells: torch.Tensor
    """(d, M, H)"""
    squashed: torch.Tensor
    """(d, M, H) tanh of the cells."""
    outputs: torch.Tensor
    """(d, M, H)"""


def _forward(
    table: torch.Tensor,
    weight: torch.Tensor,
    inputs: torch.Tensor,
    alive: list[int],
    mask: torch.Tensor | None,
    kind: torch.dtype,
    keep: bool,
    see: Callable[[int, torch.Tensor], None],
) -> _States:
    """All steps; `see(begin, output)` is shown the outputs (d, n, H) of each, which begin at `begin` among the M."""
    d, hidden, _ = weight.shape
    rows = _doubled_update(table).flatten(0, 1)  # (d * Q, 4H)
    index = inputs + table.shape[1] * torch.arange(d, device=inputs.device)[:, None]  # (d, M)
    add_recurrent = _product_added(_doubled_update(weight), kind, rows=alive[0])
    size = inputs.shape[1] if keep else alive[0]
    gates = table.new_empty(d, _later(alive).stop if keep else size, 4 * hidden)
    gates[:, size:] = 0
    cells, squashed, outputs = (table.new_empty(d, size, hidden) for _ in range(3))
    if keep:
        for own, names in zip(gates, index, strict=True):
            torch.index_select(rows, 0, names, out=own[:size])
    begin = last = 0
    for step, n in enumerate(alive):
        now = slice(begin, begin + n) if keep else slice(0, n)
        before = slice(last, last + n)
        gate = gates[:, now] if keep else _lookup(rows, index[:, begin : begin + n])
        if step:
            add_recurrent(gate, outputs, before)
        gate.sigmoid_()
        update = gate[..., 3 * hidden :].mul_(2).sub_(1)
        enter, forget, leave = gate[..., : 3 * hidden].split(hidden, dim=2)  # (d, n, H) each
        if step:
            torch.mul(forget, cells[:, before], out=cells[:, now]).addcmul_(enter, update)
        else:
            torch.mul(enter, update, out=cells[:, now])
        _tanh(cells[:, now], squashed[:, now])
        torch.mul(leave, squashed[:, now], out=outputs[:, now])
        if mask is not None:
            outputs[:, now].mul_(mask[:, :n])
        see(begin, outputs[:, now])
        last = begin if keep else 0
        begin += n
    return _States(gates, cells, squashed, outputs)


def _table_gradient(grad_gates: torch.Tensor, inputs: torch.Tensor, n_inputs: int) -> torch.Tensor:
    """(d, Q, 4H): the gradients of the tokens that share an input, summed."""
    return torch.stack(
        [
            torch.ops.aten.embedding_dense_backward(grad, index, n_inputs, -1, False)
            for grad, index in zip(grad_gates, inputs, strict=True)
        ]
    )


def _through_time(
    add_to: Callable[[torch.Tensor, slice, torch.Tensor], None],
    alive: list[int],
    weight: torch.Tensor,
    mask: torch.Tensor | None,
    states: _States,
    kind: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(d, M, 4H) gradient below the gates' activations, written over them, and (d, H, 4H) of `weight`.

    `add_to(grad, now, work)` adds what comes from above at the places `now` to `grad` (d, n, H); `work` is free for it.
    """
    gates, cells, squashed, outputs = states
    d, hidden, _ = weight.shape
    set_recurrent = _product_set(weight, kind, rows=alive[0])
    grad_output = gates.new_zeros(d, alive[0], hidden)  # from the step after; rows that ended hold 0
    grad_cell = torch.zeros_like(grad_output)
    work = gates.new_empty(d, alive[0], 3 * hidden)
    end = size = cells.shape[1]
    for step in range(len(alive) - 1, -1, -1):
        n = alive[step]
        now = slice(end - n, end)
        before = slice(end - n - alive[step - 1], end - alive[step - 1])  # n of them, used when step > 0
        gate = gates[:, now]
        enter, forget, leave, update = gate.split(hidden, dim=2)  # (d, n, H) each
        grad, cell = grad_output[:, :n], grad_cell[:, :n]
        add_to(grad, now, work)
        if mask is not None:
            grad *= mask[:, :n]
        cell += torch.ops.aten.tanh_backward(grad * leave, squashed[:, now])
        above = work[:, :n]  # gradient above the three sigmoids
        torch.mul(cell, update, out=above[..., :hidden])
        if step:
            torch.mul(cell, cells[:, before], out=above[..., hidden : 2 * hidden])
        else:
            above[..., hidden : 2 * hidden] = 0
        torch.mul(grad, squashed[:, now], out=above[..., 2 * hidden :])
        above_update = cell * enter
        cell *= forget
        _sigmoid_backward(above, gate[..., : 3 * hidden])
        _tanh_backward(above_update, update)
        if step:
            set_recurrent(grad, gates, now)
        end -= n
    return gates[:, :size], _weight_gradient(outputs, gates, alive, kind)


_Product = Callable[[torch.Tensor, torch.Tensor, slice], None]


def _product_added(weight: torch.Tensor, kind: torch.dtype, rows: int) -> _Product:
    """Adds to gates (d, n, 4H) the product of `weight` (d, H, 4H) with the rows `before` of outputs (d, M, H)."""
    packed = [] if products.is_launched(weight) else [PackedLinear(w.T, None, rows=rows, dtype=kind) for w in weight]

    def add(gate: torch.Tensor, outputs: torch.Tensor, before: slice) -> None:
        if not packed:
            gate.baddbmm_(outputs[:, before], weight)
        for direction, product in enumerate(packed):
            gate[direction] += _product(product, outputs[direction], before)

    return add


def _product_set(weight: torch.Tensor, kind: torch.dtype, rows: int) -> _Product:
    """Writes to gradients (d, n, H) the product of `weight` (d, H, 4H) with the rows `now` of gates (d, M, 4H)."""
    packed = [] if products.is_launched(weight) else [PackedLinear(w, None, rows=rows, dtype=kind) for w in weight]
    back = weight.transpose(1, 2)

    def put(grad: torch.Tensor, gates: torch.Tensor, now: slice) -> None:
        if not packed:
            grad.baddbmm_(gates[:, now], back, beta=0)
        for direction, product in enumerate(packed):
            grad[direction] = _product(product, gates[direction], now)

    return put


def _product(product: PackedLinear, table: torch.Tensor, rows: slice) -> torch.Tensor:
    """`product` of the `rows` of a table, made for a multiple of 16 rows where there are so many.

    The kernels keep what they compile for each number of rows: all numbers up to 160 took half a gigabyte.
    """
    n = rows.stop - rows.start
    return product(table[rows.start : rows.start + -(-n // 16) * 16])[:n]


def _weight_gradient(
    outputs: torch.Tensor, grad_gates: torch.Tensor, alive: list[int], kind: torch.dtype
) -> torch.Tensor:
    """(d, H, 4H): each step's outputs times the gradient of the gates a step later, all steps in one product. Zeros
    follow the gates, up to `_later`'s end."""
    if len(alive) == 1:  # no kernel multiplies no rows
        return outputs.new_zeros(len(outputs), outputs.shape[2], grad_gates.shape[2])
    begins = [0, *accumulate(alive)]
    later = _later(alive)
    n_more = later.stop - begins[-1]  # their gradients are zeros: any outputs do
    before = [torch.arange(begin, begin + n) for begin, n in zip(begins, alive[1:], strict=False)]
    index = torch.cat([*before, torch.zeros(n_more, dtype=torch.long)]).to(outputs.device)
    return torch.stack(
        [multiply(output[index].T, grad[later].T, dtype=kind) for output, grad in zip(outputs, grad_gates, strict=True)]
    )


def _later(alive: list[int]) -> slice:
    """The places of all steps but the first, and so many more that there is a `round_number` of them."""
    return slice(alive[0], alive[0] + round_number(sum(alive[1:])))


def _doubled_update(gates: torch.Tensor) -> torch.Tensor:
    """The gates' inputs with the update block doubled, so that one sigmoid serves all four."""
    doubled = gates.clone()
    doubled[..., 3 * gates.shape[-1] // 4 :] *= 2
    return doubled


def _tanh(x: torch.Tensor, out: torch.Tensor) -> None:
    """tanh of `x`, in the way that is fast where it is."""
    if products.is_launched(x):
        torch.tanh(x, out=out)
    else:
        torch.mul(x, 2, out=out).sigmoid_().mul_(2).sub_(1)


def _lookup(rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return rows.index_select(0, index.flatten()).view(*index.shape, -1)


def _sigmoid_backward(grad: torch.Tensor, value: torch.Tensor) -> None:
    """Write the gradient below a sigmoid over its value."""
    torch.ops.aten.sigmoid_backward.grad_input(grad, value, grad_input=value)


def _tanh_backward(grad: torch.Tensor, value: torch.Tensor) -> None:
    """Write the gradient below a tanh over its value."""
    torch.ops.aten.tanh_backward.grad_input(grad, value, grad_input=value)
