"""Pretrained networks of Hugging Face: loaded with a head, their tokens, a step of their fine-tuning.

A model is a folder, or a name that is fetched. Letters: `b` texts, or pairs of them, in a batch; `T` tokens of the
longest; `q` candidates.
"""

import re
from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
import torch

from swag_af.data.errors import InputError
from swag_af.filters.strings import Pieces, with_start
from swag_af.nn.device import seeded
from swag_af.nn.pretrained import import_transformers, read_config, read_network, read_tokenizer
from swag_af.nn.training import Adam

Head = Literal["AutoModelForMultipleChoice", "AutoModelForSequenceClassification"]
"""What stands on top of an encoder, by the name of the class in transformers that loads it."""
_TASKS: dict[Head, str] = {
    "AutoModelForMultipleChoice": "multiple-choice",
    "AutoModelForSequenceClassification": "classification",
}


def load_config(model: str, head: Head) -> Any:
    """The model's configuration; InputError when it cannot be had or its kind has no such head."""
    config = read_config(model)
    if type(config) not in getattr(import_transformers(), head)._model_mapping:
        raise InputError(
            f"{model}: a {config.model_type} has no {_TASKS[head]} head in transformers. Take an encoder like "
            "bert, roberta, deberta-v2 or electra."
        )
    return config


def load_tokenizer(model: str, config: Any, max_length: int) -> Any:
    """The model's tokenizer, which cuts pairs at `max_length` or at what the model can read."""
    tokenizer = read_tokenizer(model, config)
    # Many tokenizers do not know how much their model reads; RoBERTa's positions begin at 2.
    n_positions = getattr(config, "max_position_embeddings", None) or 0
    limits = [max_length, tokenizer.model_max_length, n_positions - 2 if n_positions > 2 else None]
    tokenizer.model_max_length = min(limit for limit in limits if limit is not None)
    if takes := _inputs_of(config):  # a tokenizer of another model may give more
        tokenizer.model_input_names = [name for name in tokenizer.model_input_names if name in takes]
    # pad() tells fast tokenizers to pad as they encode; here they encode once and pad batch by batch.
    tokenizer.deprecation_warnings["Asking-to-pad-a-fast-tokenizer"] = True
    return tokenizer


def _inputs_of(config: Any) -> frozenset[str]:
    """What the network without a head can be given; nothing where transformers does not know it."""
    found = import_transformers().MODEL_MAPPING.get(type(config), ())
    kinds = found if isinstance(found, tuple) else (found,)
    return frozenset(name for kind in kinds for name in signature(kind.forward).parameters)


def load_network(model: str, config: Any, head: Head) -> Any:
    """The pretrained weights in float32, with a new head drawn from torch's generator."""
    return read_network(model, config, head, torch.float32, new_head=True)


def check_network(model: str, config: Any, head: Head) -> None:
    """Raise InputError where `load_network` would: reading all weights takes seconds, and a fit comes late."""
    with seeded(0, torch.device("cpu")):
        load_network(model, config, head)


def tokenized(tokenizer: Any, *sides: Sequence[str], cuts: str = "longest_first") -> list[dict[str, list[int]]]:
    """Texts, or pairs of them, as token ids and what goes with them, unpadded; what is too long is cut at its end, in a
    pair on the side that transformers calls `cuts`."""
    encoded = tokenizer(*map(list, sides), truncation=cuts, return_attention_mask=False)
    names = [name for name in tokenizer.model_input_names if name in encoded]
    return [{name: encoded[name][i] for name in names} for i in range(len(sides[0]))]


def tokenized_pieces(tokenizer: Any, pieces: Pieces, *, as_pairs: bool) -> list[dict[str, list[int]]]:
    """As `tokenized`, of first sentences beside second ones where `as_pairs`, else of the second ones alone; endings
    stay whole as far as there is room.

    Of a pair that is too long each side has half of the room, and more where the other needs less, or the ending needs
    it: first sentences lose tokens at their end, second ones words at their beginning. An ending that is longer than
    all room is cut at its end.
    """
    room = tokenizer.model_max_length - tokenizer.num_special_tokens_to_add(pair=as_pairs)
    if not as_pairs:
        return tokenized(tokenizer, second_sentences_within(tokenizer, pieces, np.full(len(pieces.endings), room)))
    n_firsts, n_endings = n_tokens(tokenizer, pieces.firsts), n_tokens(tokenizer, pieces.endings)
    share = np.maximum(room - n_firsts, room // 2)
    seconds = second_sentences_within(tokenizer, pieces, np.maximum(share, np.minimum(n_endings, room)))
    made: dict[int, dict[str, list[int]]] = {}
    for cuts, index in (("only_first", n_endings < room), ("longest_first", n_endings >= room)):
        at = np.flatnonzero(index).tolist()
        sides = [pieces.firsts[i] for i in at], [seconds[i] for i in at]
        made |= dict(zip(at, tokenized(tokenizer, *sides, cuts=cuts), strict=True)) if at else {}
    return [made[i] for i in range(len(seconds))]


def second_sentences_within(tokenizer: Any, pieces: Pieces, rooms: np.ndarray) -> list[str]:
    """q second sentences of at most `rooms` (q,) tokens, special ones aside: one that is longer loses as few words as
    need be at the beginning of its start, and stands without a start where that is not enough."""
    starts = pieces.starts
    texts = [with_start(start, ending) for start, ending in zip(starts, pieces.endings, strict=True)]
    # A token has a character of ASCII or more, so most need no tokenizer.
    open_ = [i for i, text in enumerate(texts) if starts[i] and not (text.isascii() and len(text) < rooms[i])]
    is_long = n_tokens(tokenizer, [texts[i] for i in open_]) > rooms[open_]
    long = np.array(open_, np.int64)[is_long]  # (t,)
    words = [re.findall(_WORD, starts[i]) for i in long]

    def without(place: int, n: int) -> str:
        return with_start("".join(words[place][n:]).strip(), pieces.endings[long[place]])

    few, enough = np.zeros(len(long), np.int64), np.array([len(one) for one in words], np.int64)  # words left out
    while len(busy := np.flatnonzero(enough - few > 1)):
        tried = (few[busy] + enough[busy]) // 2
        fits = n_tokens(tokenizer, list(map(without, busy.tolist(), tried.tolist()))) <= rooms[long[busy]]
        enough[busy[fits]], few[busy[~fits]] = tried[fits], tried[~fits]
    for place, i in enumerate(long.tolist()):
        texts[i] = without(place, int(enough[place]))
    return texts


_WORD = r"\S{1,20}\s*"
"""What is left out of a start at a time; scripts without blanks have it too."""


def n_tokens(tokenizer: Any, texts: Sequence[str]) -> np.ndarray:
    """(q,) how many tokens each text has, special ones aside."""
    distinct = list(dict.fromkeys(texts))
    plain = {"add_special_tokens": False, "return_attention_mask": False, "return_token_type_ids": False}
    counts: dict[str, int] = {}
    for at in range(0, len(distinct), _COUNTED_AT_ONCE):
        part = distinct[at : at + _COUNTED_AT_ONCE]
        found = tokenizer(part, verbose=False, **plain)["input_ids"]
        counts |= {text: len(ids) for text, ids in zip(part, found, strict=True)}
    return np.array([counts[text] for text in texts], np.int64)


_COUNTED_AT_ONCE = 1024
"""Texts whose tokens are in memory together while they are counted."""


def padded(tokenizer: Any, batch: list[dict[str, list[int]]], device: torch.device) -> dict[str, torch.Tensor]:
    """(b, T) each: what the network reads of a batch of `tokenized` texts."""
    return {name: values.to(device) for name, values in tokenizer.pad(batch, return_tensors="pt").items()}


def descend(network: Any, loss: torch.Tensor, adam: Adam, *, learning_rate: float, max_gradient_norm: float) -> None:
    """One step down the gradient of `loss`, which is cut to a norm."""
    loss.backward()
    for parameter in network.parameters():  # some encoders hold weights that a task leaves out
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    torch.nn.utils.clip_grad_norm_(network.parameters(), max_gradient_norm)
    adam.learning_rate = learning_rate
    adam.step()


WARM_UP = 0.1
"""Share of the steps in which the learning rate rises (Devlin et al. 2019, released code)."""


def rate_of_step(step: int, n_steps: int) -> float:
    """The factor of the learning rate in step 0, 1, ... of `n_steps`: up to 1, then down towards 0."""
    n_rising = max(1, round(WARM_UP * n_steps))
    return min((step + 1) / n_rising, (n_steps - step) / max(1, n_steps - n_rising), 1.0)
