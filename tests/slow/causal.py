"""A causal model the slow way: every text read whole, one at a time, in float64, nothing kept."""

from collections.abc import Callable, Sequence

import numpy as np
import torch


class SlowCausal:
    """A folder with a model, read as transformers reads it."""

    def __init__(self, folder: str):
        import transformers

        self.network = transformers.AutoModelForCausalLM.from_pretrained(folder).double().eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def logits(self, ids: Sequence[int]) -> np.ndarray:
        """(T, V) of what follows each of `ids`, begin of text first."""
        with torch.inference_mode():
            made: np.ndarray = self.network(torch.tensor([[self.tokenizer.bos_token_id, *ids]])).logits[0].numpy()
        return made

    def nats(self, ids: Sequence[int]) -> np.ndarray:
        """(T,) of each token after those before it."""
        logits = self.logits(ids)
        return np.array([np.log(np.exp(logits[t]).sum()) - logits[t, token] for t, token in enumerate(ids)])

    def columns(self, context: str, ending: str) -> list[float]:
        """The five columns of one candidate, each text tokenised whole."""
        first, last = self._parts(context, ending)
        ending_first, context_last = self._parts(ending, context)
        in_order, turned = self.nats([*first, *last]), self.nats([*ending_first, *context_last])
        return [
            float(in_order[len(first) :].mean()),
            float(turned[: len(ending_first)].mean()),
            float(turned[len(ending_first) :].mean()),
            float(in_order[: len(first)].mean()),
            float(in_order[-1]),
        ]

    def _parts(self, one: str, other: str) -> tuple[list[int], list[int]]:
        whole: list[int] = self.tokenizer.encode(f"{one} {other}", add_special_tokens=False)
        n = len(self.tokenizer.encode(one, add_special_tokens=False))
        return whole[:n], whole[n:]


def slow_choice(logits: np.ndarray, uniform: float, temperature: float, top_p: float) -> int:
    """The token of (V,) logits at which the cumulated probability passes `uniform`."""
    p = np.exp((logits - logits.max()) / temperature)
    p /= p.sum()
    order = sorted(range(len(p)), key=lambda i: -p[i]) if top_p < 1 else list(range(len(p)))
    kept, mass = [], 0.0
    for i in order:
        if mass >= top_p:
            break
        kept.append(i)
        mass += p[i]
    at, passed = 0, p[kept[0]]
    while passed <= uniform * mass and at < len(kept) - 1:
        at += 1
        passed += p[kept[at]]
    return kept[at]


def slow_sample(
    slow: SlowCausal,
    prompt: Sequence[int],
    uniforms: np.ndarray,
    temperature: float,
    top_p: float,
    is_over: Callable[[Sequence[int]], bool],
) -> list[int]:
    """One sample, the whole text read anew for each token."""
    made: list[int] = []
    for uniform in uniforms:
        made.append(slow_choice(slow.logits([*prompt, *made])[-1], uniform, temperature, top_p))
        if is_over(made):
            break
    return made
