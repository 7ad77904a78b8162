"""A causal language model of Hugging Face with its tokenizer: texts to ids, ids to logits, what has been read kept.

Letters: `b` sequences read together, `T` tokens of each, `V` token types.
"""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from swag_af.data.errors import InputError
from swag_af.nn.device import Precision, pick_device
from swag_af.nn.pretrained import check_whole, network_and_lacking, read_config, read_tokenizer, readable, told_by

PRECISIONS = ("auto", "float32", "bfloat16")
"""auto: bfloat16 on a GPU, float32 on a CPU."""

_ANCHOR = "."
"""A text before another, to learn how a tokenizer writes that in the middle of a line."""


@dataclass
class Causal:
    """A model that reads from left to right, ready to read."""

    model: str
    """The folder or the name that it was loaded from."""
    network: Any
    tokenizer: Any
    begin: int
    """The id that every text begins with."""
    limit: int
    """Tokens that it can read, with `begin`."""

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        device: torch.device = self.network.device
        return device

    @cached_property
    def _past(self) -> str:
        """What transformers calls that which has been read: another name in 5.24."""
        return "cache" if "cache" in inspect.signature(self.network.forward).parameters else "past_key_values"

    @cached_property
    def ends(self) -> frozenset[int]:
        """The ids that end a text: those that stand for no text."""
        told = self.network.generation_config.eos_token_id
        return frozenset([*self.tokenizer.all_special_ids, *(told if isinstance(told, list) else [told])])

    def ids(self, text: str) -> list[int]:
        """`text` at the beginning of a line, without `begin`."""
        encoded: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return encoded

    def ids_after(self, text: str) -> list[int]:
        """`text` after another one and a blank, whatever that is."""
        before, whole = self.ids(_ANCHOR), self.ids(f"{_ANCHOR} {text}")
        return whole[len(before) :] if whole[: len(before)] == before else self.ids(f" {text}")

    @torch.inference_mode()
    def read(self, ids: torch.Tensor, past: Any = None) -> tuple[torch.Tensor, Any]:
        """(b, T, V) float32 logits of what follows each of `ids` (b, T), and all that has been read; `past` goes on
        from there, and must not be used again."""
        made = self.network(input_ids=ids.to(self.device), use_cache=True, **{self._past: past})
        return made.logits.float(), getattr(made, self._past, None)

    def record(self) -> dict[str, Any]:
        """What tells it from other models, and where its arithmetic is done."""
        precision = str(self.network.dtype).removeprefix("torch.")
        return {**told_by(self.model, self.network.config), "precision": precision, "device": self.device.type}


def take(past: Any, rows: Sequence[int], *, is_last: bool = False) -> Any:
    """What has been read of the sequences `rows`, one of them as often as it is named; `past` stays as it is, unless
    it `is_last` used here."""
    if isinstance(past, tuple):  # transformers' older form: keys and values by layer
        index = torch.tensor(rows, device=past[0][0].device)
        return tuple(tuple(piece.index_select(0, index) for piece in layer) for layer in past)
    kept = past if is_last else copy.deepcopy(past)
    kept.reorder_cache(torch.tensor(rows))
    return kept


def load_causal(model: str, *, device: str = "auto", precision: Precision = "auto") -> Causal:
    """Load it and try it; raises InputError where it cannot be read, or does not read from left to right."""
    where = pick_device(device)
    is_bf16 = precision == "bfloat16" or (precision == "auto" and where.type == "cuda")
    config = read_config(model)
    tokenizer = read_tokenizer(model, config)
    dtype = torch.bfloat16 if is_bf16 else torch.float32
    network, lacking = network_and_lacking(model, config, "AutoModelForCausalLM", dtype)
    known = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id)
    begin = next((i for i in known if i is not None), None)
    if begin is None:
        raise InputError(f"{model}: its tokenizer has no token that begins or ends a text. Take another model.")
    limit = getattr(config, "max_position_embeddings", None) or 1 << 30
    loaded = Causal(model, network.to(where).eval(), tokenizer, int(begin), int(limit))
    _check_reading(loaded)
    check_whole(model, lacking)
    return loaded


_CLOSE = {torch.float32: 1e-3, torch.bfloat16: 0.25}
"""How far logits may differ that are the same but for rounding, in units of their deviation."""

_UNMOVED = {torch.float32: 1e-3, torch.bfloat16: 1e-2}
"""How far those may differ, in the same units, of which only what comes after them is another: a mask leaves nothing of
that, but the experts of a mixture may multiply other numbers of rows."""


def _check_reading(causal: Causal) -> None:
    """A logit must not depend on what comes after it, nor on whether what came before was read at once.

    Encoders load as causal models and read both ways; a cache of another kind may not be meant for such use.
    """
    two = causal.begin
    one, three = [i for i in range(len(causal.tokenizer)) if i not in causal.ends][:2]
    whole, _ = causal.read(torch.tensor([[one, two, three]]))
    other, past = causal.read(torch.tensor([[one, two]]))
    changed, _ = causal.read(torch.tensor([[one, two, one]]))
    deviation = float(whole.std())
    nearly = _CLOSE[causal.network.dtype] * deviation
    if not torch.allclose(whole[:, :2], changed[:, :2], rtol=0, atol=_UNMOVED[causal.network.dtype] * deviation):
        raise InputError(f"{causal.model}: reads texts in both directions. Take a causal model, as GPT-2 is one.")
    with readable(causal.model):
        if past is None:
            raise ValueError("it keeps nothing of what it has read")
        rest, _ = causal.read(torch.tensor([[three]] * 2), take(past, [0, 0]))
        last = whole[:, 2:].expand(2, -1, -1)
        if not (torch.allclose(other, whole[:, :2], rtol=0, atol=nearly) and torch.allclose(rest, last, 0, nearly)):
            raise ValueError("read in two steps, a text is another to it than read at once")
