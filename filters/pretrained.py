"""Pretrained networks of Hugging Face: loaded with a head, their tokens, a step of their fine-tuning.

A model is a folder, or a name that is fetched. Letters: `b` texts, or pairs of them, in a batch; `T` tokens of the
longest.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import torch

from swag_af.data.errors import InputError
from swag_af.data.files import sha256_file
from swag_af.nn.training import Adam

Head = Literal["AutoModelForMultipleChoice", "AutoModelForSequenceClassification"]
"""What stands on top of an encoder, by the name of the class in transformers that loads it."""
_TASKS: dict[Head, str] = {
    "AutoModelForMultipleChoice": "multiple-choice",
    "AutoModelForSequenceClassification": "classification",
}


def read_config(model: str) -> Any:
    """The model's configuration; InputError when it cannot be had."""
    transformers = import_transformers()
    with readable(model):
        if Path(model).is_dir() and not (Path(model) / "config.json").exists():
            raise OSError("no config.json in it")  # transformers would guess the kind from the folder's name
        return transformers.AutoConfig.from_pretrained(model)


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
    with readable(model):
        tokenizer = import_transformers().AutoTokenizer.from_pretrained(model)
    # Many tokenizers do not know how much their model reads; RoBERTa's positions begin at 2.
    n_positions = getattr(config, "max_position_embeddings", None) or 0
    limits = [max_length, tokenizer.model_max_length, n_positions - 2 if n_positions > 2 else None]
    tokenizer.model_max_length = min(limit for limit in limits if limit is not None)
    # pad() tells fast tokenizers to pad as they encode; here they encode once and pad batch by batch.
    tokenizer.deprecation_warnings["Asking-to-pad-a-fast-tokenizer"] = True
    return tokenizer


def load_network(model: str, config: Any, head: Head) -> Any:
    """The pretrained weights in float32, with a new head drawn from torch's generator."""
    with readable(model):
        return getattr(import_transformers(), head).from_pretrained(model, config=config, torch_dtype=torch.float32)


def hashes_of_model(model: str) -> dict[str, str]:
    """What decides a model's weights and tokens: the SHA-256 of each such file of its folder by name; of a name on the
    hub the commit that was fetched. Raises InputError where it cannot be had."""
    config, folder = read_config(model), Path(model)
    if not folder.is_dir():
        return {model: str(getattr(config, "_commit_hash", None))}
    return {path.name: sha256_file(path) for path in sorted(folder.iterdir()) if path.suffix in _FILES_OF_MODEL}


_FILES_OF_MODEL = (".json", ".txt", ".model", ".jinja", ".safetensors", ".bin")
"""Suffixes of configuration, vocabularies and weights in a folder that transformers reads."""


@contextlib.contextmanager
def readable(model: str) -> Iterator[None]:
    """Loading without transformers' remarks about the new head, and its failures as one line."""
    logging = import_transformers().utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError) as error:
        why = re.split(r"\.\s|\n", str(error).strip())[0].rstrip(".")
        raise InputError(
            f"{model}: no model that can be read ({why}). Give a folder with a model and its tokenizer, or a name on "
            "the Hugging Face hub."
        ) from error
    finally:
        logging.set_verbosity(before)


def import_transformers() -> Any:
    """The package; InputError where it is missing."""
    try:
        import transformers
    except ImportError as error:
        raise InputError("transformers is not installed. Install it with: pip install 'swag-af[hf]'") from error
    return transformers


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
