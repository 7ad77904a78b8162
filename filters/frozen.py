"""A pretrained encoder that stays as it is: the vector of each text, the same bits whatever else is asked for.

Letters: `t` texts, `b` of them in a batch, `T` tokens of a batch, `D` numbers a vector.
"""

import hashlib
import platform
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from swag_af.data.disk.cache import cache_folder
from swag_af.data.errors import InputError
from swag_af.data.work.progress import note, progress
from swag_af.filters.pretrained import load_tokenizer
from swag_af.filters.vector_cache import VectorCache
from swag_af.nn.device import pick_device
from swag_af.nn.pretrained import import_transformers, read_config, read_network, readable
from swag_af.nn.threads import alike


def mean_vectors(model: str, texts: list[str], *, max_length: int = 128, device: str = "auto") -> np.ndarray:
    """(t, D) float32 the last layer of a pretrained encoder, averaged over the tokens of each of t texts.

    As `FrozenEncoder` has them; raises InputError when package or model is missing.
    """
    return FrozenEncoder(model, max_length=max_length, device=device).vectors(texts)


ENCODED_AT_ONCE = 8
"""Texts a batch: no slower on a CPU than more, and little is wasted where few are asked for."""
STEP = 8
"""Lengths of batches are multiples of this, so that shapes are few."""
_KEPT_AT_ONCE = 2048
"""Texts after which their vectors go to disk: what a kill may lose."""


class FrozenEncoder:
    """A pretrained encoder as it is, which pools as sentence encoders do: the mean over the tokens of its last layer
    (Reimers and Gurevych 2019).

    All batches have as many texts and the lengths are multiples of a step, so on a CPU the vector of a text has the
    same bits whatever else is asked for, and is kept on disk (`swag_af.filters.vector_cache`).
    """

    def __init__(self, model: str, *, max_length: int = 128, device: str = "auto"):
        """Load it; raises InputError when package or model is missing."""
        _tell_loading(model)
        config = read_config(model)
        self.tokenizer = load_tokenizer(model, config, max_length)
        if getattr(config, "is_encoder_decoder", False) or self.tokenizer.pad_token is None:
            raise InputError(f"{model}: no encoder, or its tokenizer cannot pad. Name a model as BERT is one.")
        where = pick_device(device)
        self.network = read_network(model, config, "AutoModel", torch.float32).to(where).eval()
        with readable(model):
            self.dim = int(config.hidden_size)
            with torch.inference_mode():
                self._pooled(self.tokenizer(["a"], truncation=True), np.zeros(1, np.int64), STEP)
        self.cache = self._cache()

    @property
    def room(self) -> int:
        """Tokens of a text that it reads, special ones aside."""
        return int(self.tokenizer.model_max_length - self.tokenizer.num_special_tokens_to_add())

    def vectors(self, texts: list[str]) -> np.ndarray:
        """(t, D) float32, of an empty text those of a blank; what the cache has is not encoded."""
        known = self.cache.find(texts) if self.cache else {}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        with progress("encode", len(missing), "texts") as advance:
            for at in range(0, len(missing), _KEPT_AT_ONCE):
                part = missing[at : at + _KEPT_AT_ONCE]
                made = dict(zip(part, self.encode(part, advance), strict=True))
                if self.cache:
                    self.cache.keep(made)
                known |= made
        return np.array([known[text] for text in texts], np.float32).reshape(len(texts), self.dim)

    @torch.inference_mode()
    def encode(self, texts: list[str], advance: Callable[[int], None] = lambda n: None) -> np.ndarray:
        """As `vectors`, each of them encoded now; `advance(n)` is told of every `n` that are done."""
        encoded = self.tokenizer([text or " " for text in texts], truncation=True)
        lengths = np.array([len(ids) for ids in encoded["input_ids"]], np.int64)
        padded = np.minimum(-(-lengths // STEP) * STEP, self.tokenizer.model_max_length)  # (t,)
        out = np.empty((len(texts), self.dim), np.float32)
        for length in np.unique(padded).tolist():
            alike = np.flatnonzero(padded == length)
            for at in range(0, len(alike), ENCODED_AT_ONCE):
                index = alike[at : at + ENCODED_AT_ONCE]
                out[index] = self._pooled(encoded, index, length)[: len(index)]
                advance(len(index))
        return out

    def _pooled(self, encoded: Any, index: np.ndarray, length: int) -> np.ndarray:
        """(ENCODED_AT_ONCE, D) the texts `index`, and the last of them over and over."""
        names = [name for name in encoded if name in (*self.tokenizer.model_input_names, "attention_mask")]
        filled = [*index, *[index[-1]] * (ENCODED_AT_ONCE - len(index))]
        batch = [{name: encoded[name][i] for name in names} for i in filled]
        padded = self.tokenizer.pad(batch, padding="max_length", max_length=length, return_tensors="pt")
        inputs = {name: table.to(self.network.device) for name, table in padded.items()}  # (b, T) each
        states = self.network(**inputs).last_hidden_state  # (b, T, D)
        mask = inputs["attention_mask"][:, :, None].to(states.dtype)
        pooled: np.ndarray = ((states * mask).sum(dim=1) / mask.sum(dim=1)).cpu().numpy()
        return pooled

    def _cache(self) -> VectorCache | None:
        """Where vectors are kept; nowhere for a tokenizer whose rules cannot be hashed, which older models have."""
        folder = cache_folder()
        if folder is None or not self.tokenizer.is_fast:
            return None
        return VectorCache(folder, self._fingerprint(), self.dim)

    def _fingerprint(self) -> str:
        """A hash of all that decides the bits of a vector: weights, tokenizer, lengths, packages, processor."""
        told = hashlib.blake2b(digest_size=16)
        for name, weights in self.network.state_dict().items():
            told.update(name.encode())
            told.update(weights.cpu().contiguous().view(torch.uint8).numpy().data)
        config = {name: value for name, value in self.network.config.to_dict().items() if name != "_name_or_path"}
        shapes = ENCODED_AT_ONCE, STEP, self.tokenizer.model_max_length
        versions = torch.__version__, import_transformers().__version__
        n_threads = torch.get_num_threads()
        deciding = 1 if n_threads <= alike() else n_threads
        cpu = platform.machine(), torch.backends.cpu.get_cpu_capability(), deciding
        rest = (config, self.tokenizer.backend_tokenizer.to_str(), shapes, versions, cpu, self.network.device.type)
        told.update(repr(rest).encode())
        return told.hexdigest()


@cache
def _tell_loading(model: str) -> None:
    """Say, once a process, what the first seconds are for."""
    note(f"{model}: loading the encoder.")
