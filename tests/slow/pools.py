"""The slow, obvious twins of the filters' pooled layers: a sequence at a time, gradients by autograd."""

import numpy as np
import torch
import torch.nn.functional as F


def slow_lstm_max_pool(table, weight, inputs, alive, mask):
    """One sequence after the other, one direction after the other."""
    begins = np.cumsum([0, *alive[:-1]])
    directions = []
    for d in range(2):
        pooled = []
        for i in range(alive[0]):
            h = c = table.new_zeros(weight.shape[1])
            outputs = []
            for begin, n in zip(begins, alive, strict=True):
                if i < n:
                    gates = table[d, inputs[d, begin + i]] + h @ weight[d]
                    enter, forget, leave, update = gates.chunk(4)
                    c = forget.sigmoid() * c + enter.sigmoid() * update.tanh()
                    h = leave.sigmoid() * c.tanh() * (1 if mask is None else mask[d, i])
                    outputs.append(h)
            pooled.append(torch.stack(outputs).amax(0))
        directions.append(torch.stack(pooled))
    return torch.stack(directions)


def slow_window_max_pool(inputs, filters, ids, lengths, widths):
    rows = []
    for sequence, length in zip(ids, lengths.tolist(), strict=True):
        place, pooled = 0, []
        for width in widths:
            embedded = inputs[F.pad(sequence[:length], (0, max(width - length, 0)))]
            kernel = filters[:, place : place + width].permute(2, 0, 1)  # (C, in, width)
            pooled.append(F.conv1d(embedded.T[None], kernel)[0].amax(1))
            place += width
        rows.append(torch.cat(pooled))
    return torch.stack(rows)
