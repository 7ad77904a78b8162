"""The transformer filter: a pretrained encoder, fine-tuned on every fit, as HellaSwag does (Zellers et al. 2019).

Reads the context and each candidate as a pair of texts, gives one logit a candidate, and learns by cross-entropy
over the A assigned candidates of a row. Encoders come from Hugging Face: a folder, or a name that is fetched.

Letters: `n` rows, `A` assigned candidates a row (gold in column 0), `q` candidates in all, `b` of them in a batch.
"""

import itertools
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from swag_af.data.errors import InputError
from swag_af.data.pool.pool import View
from swag_af.filters.neural import cross_entropy, stopping_split
from swag_af.filters.pretrained import (
    Head,
    descend,
    import_transformers,
    load_config,
    load_network,
    load_tokenizer,
    padded,
    rate_of_step,
    read_config,
    readable,
    tokenized,
)
from swag_af.filters.strings import second_sentences
from swag_af.nn.device import mixed_precision, pick_device, seeded
from swag_af.nn.training import Adam, batch_size, train_while_better

HEAD: Head = "AutoModelForMultipleChoice"
"""One logit a candidate."""


@dataclass(kw_only=True)
class TransformerFilter:
    """A Hugging Face encoder with a multiple-choice head, from its pretrained weights in every fit.

    Constants: BERT's on SWAG (Devlin et al. 2019, 4.4). Its weight decay is left out: three epochs, with the best
    one kept, need none.
    """

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    max_epochs: int = 3
    """Passes over the training rows at most."""
    learning_rate: float = 2e-5
    """Reached after the first tenth of the steps, then falling linearly to 0."""
    batch_contexts: int = 16
    """Contexts a gradient step at most."""
    max_length: int = 128
    """Tokens of context and candidate together; what is longer loses tokens at the end of its longer part."""
    see_context: bool = True
    """Read the context's first sentence too; without it, the second sentence alone, as SWAG's filters do."""
    max_gradient_norm: float = 1.0
    stopping_share: float = 0.1
    """Share of the fitted rows (at least 8 of them) kept from training and used to stop early."""
    patience: int = 1
    """Epochs without improvement before the fit stops."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Products of the training; `auto`: bfloat16 on a GPU. Scores are float32 always: bfloat16 rounds otherwise in a
    batch of another size, and a score must not depend on what else is scored."""

    held_out_losses: list[float] = field(default_factory=list, init=False, repr=False, compare=False)
    """After a fit: cross-entropy on the stopping rows, one number an epoch, in nats."""
    _fitted: tuple[Any, Any] | None = field(default=None, init=False, repr=False, compare=False)
    """Network and tokenizer."""

    name: ClassVar[str] = "transformer"
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `transformer[...]`."""

    def check(self) -> None:
        """Raise InputError when the package or the model is missing, or a setting is out of range."""
        self._load()

    def _load(self) -> tuple[Any, Any]:
        """Configuration and tokenizer of the model, once the settings are known to be good."""
        if min(self.max_epochs, self.batch_contexts) < 1 or self.learning_rate <= 0 or self.max_length < 8:
            raise InputError(
                "filter transformer: max_epochs and batch_contexts must be 1 or more, max_length 8 or more, "
                "learning_rate above 0."
            )
        if self.precision not in ("auto", "float32", "bfloat16"):
            raise InputError(f"filter transformer: precision {self.precision!r} is none of auto, float32, bfloat16.")
        config = load_config(self.model, HEAD)
        return config, load_tokenizer(self.model, config, self.max_length)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others; keeps the weights of the best epoch.

        Raises InputError as `check` does, and for fewer than 2 rows or 2 candidates a row.
        """
        n, n_assigned = view.shape
        if n < 2 or n_assigned < 2:
            raise InputError(f"a filter needs 2 rows of 2 candidates or more to fit; this view is {n} x {n_assigned}.")
        config, tokenizer = self._load()
        candidates = self._read(view, tokenizer)
        device = pick_device(self.device)
        train, stop = stopping_split(view, self.stopping_share, rng=rng)
        with seeded(int(rng.integers(2**63 - 1)), device):
            network = load_network(self.model, config, HEAD).to(device)
            self._train(network, tokenizer, candidates, n_assigned, train, stop, rng)
        self._fitted = network, tokenizer

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 logits."""
        if self._fitted is None:
            raise InputError("filter transformer has not been fitted. Call fit(view, rng=...) first.")
        network, tokenizer = self._fitted
        device = pick_device(self.device)
        network.to(device)
        return _score(network, tokenizer, self._read(view, tokenizer), device).reshape(view.shape)

    def _read(self, view: View, tokenizer: Any) -> list[dict[str, list[int]]]:
        """The q candidates as token ids and what goes with them, unpadded."""
        seconds = second_sentences(view)
        firsts = [context.sent1 for context in view.contexts for _ in range(view.shape[1])]
        pairs = (firsts, seconds) if self.see_context else (seconds,)
        return tokenized(tokenizer, *pairs)

    def _train(
        self,
        network: Any,
        tokenizer: Any,
        candidates: list[dict[str, list[int]]],
        n_assigned: int,
        train: np.ndarray,
        stop: np.ndarray,
        rng: np.random.Generator,
    ) -> None:
        device = next(network.parameters()).device
        adam = Adam(network, self.learning_rate, weight_decay=0.0)
        n_batches = max(1, round(len(train) / batch_size(len(train), self.batch_contexts)))
        steps = itertools.count()

        def run_epoch() -> None:
            for rows in np.array_split(rng.permutation(train), n_batches):
                network.zero_grad()
                with mixed_precision(device, self.precision):
                    logits = _row_logits(network, tokenizer, candidates, rows, n_assigned, device)
                descend(
                    network,
                    cross_entropy(logits),
                    adam,
                    learning_rate=self.learning_rate * rate_of_step(next(steps), self.max_epochs * n_batches),
                    max_gradient_norm=self.max_gradient_norm,
                )

        self.held_out_losses = train_while_better(
            network,
            run_epoch,
            lambda: _held_out_loss(network, tokenizer, candidates, stop, n_assigned, device),
            max_epochs=self.max_epochs,
            patience=self.patience,
        )


def _row_logits(
    network: Any,
    tokenizer: Any,
    candidates: list[dict[str, list[int]]],
    rows: np.ndarray,
    n_assigned: int,
    device: torch.device,
) -> torch.Tensor:
    """(len(rows), A)."""
    batch = [candidates[row * n_assigned + column] for row in rows for column in range(n_assigned)]
    return _logits(network, tokenizer, batch, device).reshape(len(rows), n_assigned)


def _logits(network: Any, tokenizer: Any, batch: list[dict[str, list[int]]], device: torch.device) -> torch.Tensor:
    """(b,) logits. Each candidate is a question of one choice: the softmax over a row is taken outside."""
    inputs = {name: values[:, None] for name, values in padded(tokenizer, batch, device).items()}  # (b, 1, T)
    logits: torch.Tensor = network(**inputs).logits  # (b, 1)
    return logits[:, 0]


@torch.inference_mode()
def _held_out_loss(
    network: Any,
    tokenizer: Any,
    candidates: list[dict[str, list[int]]],
    rows: np.ndarray,
    n_assigned: int,
    device: torch.device,
) -> float:
    network.eval()
    total = 0.0
    for part in np.array_split(rows, -(-len(rows) // 16)):
        logits = _row_logits(network, tokenizer, candidates, part, n_assigned, device)
        total += float(cross_entropy(logits)) * len(part)
    return total / len(rows)


SCORED_AT_ONCE = 256
"""Candidates a batch: bounds the memory of scoring."""


@torch.inference_mode()
def _score(network: Any, tokenizer: Any, candidates: list[dict[str, list[int]]], device: torch.device) -> np.ndarray:
    """(q,) float32; batches of like length, so that little is padded."""
    out = np.empty(len(candidates), np.float32)
    order = np.argsort([-len(candidate["input_ids"]) for candidate in candidates], kind="stable")
    for at in range(0, len(order), SCORED_AT_ONCE):
        index = order[at : at + SCORED_AT_ONCE]
        out[index] = _logits(network, tokenizer, [candidates[i] for i in index], device).cpu().numpy()
    return out


def mean_vectors(model: str, texts: list[str], *, max_length: int = 128, device: str = "auto") -> np.ndarray:
    """(t, D) float32 the last layer of a pretrained encoder, averaged over the tokens of each of t texts.

    As `FrozenEncoder` has them; raises InputError when package or model is missing.
    """
    return FrozenEncoder(model, max_length=max_length, device=device).vectors(texts)


ENCODED_AT_ONCE = 8
"""Texts a batch of a frozen encoder: no slower on a CPU than more, and little is wasted where few are asked for."""
_STEP = 8
"""Lengths of batches are multiples of this, so that shapes are few."""


class FrozenEncoder:
    """A pretrained encoder as it is, which pools as sentence encoders do: the mean over the tokens of its last layer
    (Reimers and Gurevych 2019).

    All batches have as many texts and the lengths are multiples of a step, so on a CPU the vector of a text has the
    same bits whatever else is asked for, and may be kept.
    """

    def __init__(self, model: str, *, max_length: int = 128, device: str = "auto"):
        """Load it; raises InputError when package or model is missing."""
        config = read_config(model)
        self.tokenizer = load_tokenizer(model, config, max_length)
        with readable(model):
            network = import_transformers().AutoModel.from_pretrained(model, config=config, torch_dtype=torch.float32)
        self.network = network.to(pick_device(device)).eval()
        self.dim = int(config.hidden_size)

    @torch.inference_mode()
    def vectors(self, texts: list[str]) -> np.ndarray:
        """(t, D) float32, of an empty text those of a blank."""
        encoded = self.tokenizer([text or " " for text in texts], truncation=True)
        lengths = np.array([len(ids) for ids in encoded["input_ids"]], np.int64)
        padded = np.minimum(-(-lengths // _STEP) * _STEP, self.tokenizer.model_max_length)  # (t,)
        out = np.empty((len(texts), self.dim), np.float32)
        for length in np.unique(padded).tolist():
            alike = np.flatnonzero(padded == length)
            for at in range(0, len(alike), ENCODED_AT_ONCE):
                index = alike[at : at + ENCODED_AT_ONCE]
                out[index] = self._pooled(encoded, index, length)[: len(index)]
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
