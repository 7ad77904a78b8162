"""The slow, obvious twins of the language model's layers and loss: a step at a time, gradients by autograd."""

import torch
from torch import Tensor, nn

from swag_af.lm.lstm.corpus import DIRECTIONS
from swag_af.lm.lstm.network import BidirectionalLM, HighwayLSTMLayer


def slow_layer(
    layer: HighwayLSTMLayer, x: Tensor, state: tuple[Tensor, Tensor], mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The reference: one step after another by `HighwayLSTMLayer.step`, gradients by autograd."""
    h, c = state
    outputs = []
    for now in x:
        h, c = layer.step(layer.from_input(now), h, c)
        h = h if mask is None else h * mask
        outputs.append(h)
    return torch.stack(outputs), c


def slow_loss(model: BidirectionalLM, batch: dict[str, tuple[Tensor, Tensor]]) -> Tensor:
    """The reference: steps, whole logits and torch's cross-entropy; without dropout."""
    total = torch.zeros(())
    for name, stack in zip(DIRECTIONS, (model.forward_lm, model.backward_lm), strict=True):
        inputs, targets = batch[name]
        x = model.embedding[inputs]
        for layer in stack.layers:
            zeros = torch.zeros(x.shape[1:])
            x, _ = slow_layer(layer, x, (zeros, zeros), None)
        logits = nn.functional.linear(x, model.embedding, model.output_bias)
        total = total + nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    return total
