"""Pretrained networks of Hugging Face: loaded with a head, their tokens, a step of their fine-tuning.

A model is a folder, or a name that is fetched. Letters: `b` texts, or pairs of them, in a batch; `T` tokens of the
longest.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal

import torch

from swag_af.data.errors import InputError
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


def tokenized(tokenizer: Any, *sides: Sequence[str]) -> list[dict[str, list[int]]]:
    """Texts, or pairs of them, as token ids and what goes with them, unpadded; what is too long is cut."""
    encoded = tokenizer(*map(list, sides), truncation=True, return_attention_mask=False)
    names = [name for name in tokenizer.model_input_names if name in encoded]
    return [{name: encoded[name][i] for name in names} for i in range(len(sides[0]))]


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
