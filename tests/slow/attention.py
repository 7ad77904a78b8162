"""Plain padded twins of ESIM and decomposable attention: every pair encodes both its texts, padded.

Built from the parameters of the fast networks, with torch's own layers on padded tensors; gradients by autograd.
"""

import torch
from torch import nn
from torch.nn.functional import linear


def padded_texts(texts, which):
    """(p, T) words and (p, T) which of them are real."""
    lengths = texts.lengths[which]
    words = texts.words[which, : int(lengths.max())]
    return words, torch.arange(words.shape[1], device=words.device) < lengths[:, None]


def plain(layers, x):
    """`layers` on `x`, linear ones by torch's own product."""
    for layer in layers:
        x = linear(x, layer.weight, layer.bias) if isinstance(layer, nn.Linear) else layer(x)
    return x


def masked_softmax(logits, real):
    """Over the last dimension, among real words."""
    return logits.masked_fill(~real[:, None, :], -torch.inf).softmax(2)


def slow_lstm(layer, words, real):
    """(p, T, 2H) by `nn.LSTM` without packing: the way back reads each text turned round within its own length."""
    lengths = real.sum(1)
    at = torch.arange(words.shape[1], device=words.device)
    turned = torch.where(real, lengths[:, None] - 1 - at, at)[..., None]  # (p, T, 1)
    both = []
    for end in ("", "_reverse"):
        one_way = nn.LSTM(words.shape[2], layer.hidden, batch_first=True)
        weights = {f"{name}_l0": getattr(layer.lstm, f"{name}_l0{end}") for name in NAMES}
        read = words.gather(1, turned.expand_as(words)) if end else words
        out = _run(one_way, weights, read)
        both.append(out.gather(1, turned.expand_as(out)) if end else out)
    return torch.cat(both, dim=2) * real[..., None]


NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _run(module, weights, read):
    """`nn.LSTM` with other weights, in the graph of autograd."""
    zeros = read.new_zeros(1, len(read), module.hidden_size)
    flat = [weights[f"{name}_l0"] for name in NAMES]
    return torch.lstm(read, (zeros, zeros), flat, True, 1, 0.0, False, False, True)[0]


def slow_esim(network, batch):
    """(p, n_outputs) logits as `ESIM` gives them, with its parameters; draws dropout in its own order."""
    states, reals = [], []
    for which in (batch.first, batch.second):
        words, real = padded_texts(batch.texts, which)
        states.append(slow_lstm(network.reader, network.dropout(network.words(words)), real))
        reals.append(real)
    logits = states[0] @ states[1].transpose(1, 2)
    weights = masked_softmax(logits, reals[1]), masked_softmax(logits.transpose(1, 2), reals[0])
    pooled = []
    for i, over in enumerate(weights):
        mine, aligned = states[i], over @ states[1 - i]
        enhanced = torch.cat([mine, aligned, mine - aligned, mine * aligned], dim=2)
        projected = linear(enhanced, network.project.weight, network.project.bias).relu()
        out = slow_lstm(network.composer, network.dropout(projected), reals[i])
        mean = out.sum(1) / reals[i].sum(1)[:, None]
        pooled += [mean, out.masked_fill(~reals[i][..., None], -torch.inf).amax(1)]
    return plain([*network.classify, network.head], torch.cat(pooled, dim=1))


def slow_decomposable(network, batch):
    """(p, n_outputs) logits as `DecomposableAttention` gives them."""
    projected, reals = [], []
    for which in (batch.first, batch.second):
        words, real = padded_texts(batch.texts, which)
        projected.append(linear(network.words(words), network.project.weight))
        reals.append(real)
    keys = [plain(network.attend, words) for words in projected]
    logits = keys[0] @ keys[1].transpose(1, 2)
    weights = masked_softmax(logits, reals[1]), masked_softmax(logits.transpose(1, 2), reals[0])
    compare = torch.cat([network.own.weight, network.other.weight], dim=1)  # the first layer of G
    vectors = []
    for i, over in enumerate(weights):
        both = torch.cat([projected[i], over @ projected[1 - i]], dim=2)
        compared = plain(network.compared, linear(network.dropout(both), compare, network.own.bias))
        vectors.append((compared * reals[i][..., None]).sum(1))
    return plain([*network.aggregate, network.head], torch.cat(vectors, dim=1))
