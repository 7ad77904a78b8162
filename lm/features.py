"""The eight features of a candidate: five perplexities of two language models and three lengths.

Perplexities stand as negative log-likelihoods per token, in nats (Zellers et al. 2018, A.3). The released code
exponentiates and takes the log again, and its "ending alone" sums over more tokens than it divides by.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from swag_af.data.pool import FEATURES
from swag_af.data.vocabulary import EOS
from swag_af.lm.network import BidirectionalLM
from swag_af.lm.sample import SampledRow


def feature_table(model: BidirectionalLM, sent1: Sequence[int], start: Sequence[int], row: SampledRow) -> np.ndarray:
    """(K, F) float32, columns as `swag_af.data.pool.FEATURES` names them."""
    context = [*sent1, *start]
    alone, context_nats = backward_nats(model, context, row.tokens, row.lengths)
    columns = {
        "ending_given_context": row.ending_nats / row.lengths,
        "ending_alone": alone / row.lengths,
        "context_given_ending": context_nats / len(context),
        "context_alone": np.full(len(row.lengths), row.context_nats / len(context)),
        "last_token": row.last_token_nats,
        "ending_length": row.lengths,
        "start_length": np.full(len(row.lengths), len(start)),
        "sent1_length": np.full(len(row.lengths), len(sent1)),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)


@torch.inference_mode()
def backward_nats(
    model: BidirectionalLM, context: Sequence[int], tokens: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nats of each ending read alone, and of the context read after it, both right to left; (K,) each.

    `tokens` is (K, L). Rows are ordered by length, so that those whose ending is read leave at the tail.
    """
    device = model.embedding.device
    order = np.argsort(-lengths, kind="stable")
    n, width = len(order), int(lengths.max())
    reach = torch.from_numpy(lengths[order]).to(device)  # (K,)
    at = (reach[:, None] - 1 - torch.arange(width, device=device)).clamp(min=0)
    backwards = torch.from_numpy(tokens[order].astype(np.int64)).to(device).gather(1, at)  # (K, L), last token first
    active = [int((lengths > step).sum()) for step in range(width)]

    alone = torch.zeros(n, device=device)
    state = [(torch.zeros(n, model.embedding.shape[1], device=device),) * 2 for _ in model.backward_lm.layers]
    read = torch.full((n,), EOS, device=device)
    for step, going in enumerate(active):
        top, part = model.backward_lm.step(model.embedding[read[:going]], [(h[:going], c[:going]) for h, c in state])
        state = [
            (torch.cat((h, old_h[going:])), torch.cat((c, old_c[going:])))
            for (h, c), (old_h, old_c) in zip(part, state, strict=True)
        ]
        alone[:going] += _nats(model, top, backwards[:going, step])
        read[:going] = backwards[:going, step]

    given = torch.zeros(n, device=device)
    for token in reversed(context):
        top, state = model.backward_lm.step(model.embedding[read], state)
        read = torch.full_like(read, token)
        given += _nats(model, top, read)
    back = np.argsort(order, kind="stable")
    return alone.cpu().numpy()[back], given.cpu().numpy()[back]


def _nats(model: BidirectionalLM, top: Tensor, targets: Tensor) -> Tensor:
    """(R, H) outputs and (R,) targets to (R,) negative log-likelihoods."""
    logits = model.logits(top)
    return torch.logsumexp(logits, dim=-1) - logits.gather(1, targets[:, None])[:, 0]
