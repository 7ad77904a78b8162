"""Likelihoods by a causal language model: all five columns, from two ways of reading each candidate.

"CONTEXT ENDING" is read with the context once for all endings; "ENDING CONTEXT" is read as it stands. What the columns
mean says `swag_af.lm.scorers.contract`. All batches have as many rows, and lengths are multiples of a step, so on a CPU
a value has the same bits whatever else is scored.

Letters: `K` endings of a context, `b` sequences in a batch, `T` tokens of each, `V` token types.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch

from swag_af.data.context import Context, phrase
from swag_af.data.errors import InputError
from swag_af.lm.causal.model import PRECISIONS, Causal, Precision, load_causal, take
from swag_af.lm.scorers.contract import COLUMNS

AT_ONCE = {"cpu": 8, "cuda": 64}
"""Sequences a batch, by device: fewer where there are not as many are filled up."""
STEP = 8
"""Lengths of batches are multiples of this, so that shapes are few."""
WINDOW = 256
"""Endings whose second reading is sorted by length together."""


@dataclass
class CausalScorer:
    """How likely endings are to a causal model of Hugging Face, which may have read them when it was trained."""

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Precision = "auto"
    """float32, bfloat16, or `auto`: bfloat16 on a GPU."""
    _causal: Causal | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "hf"
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `hf[...]`."""
    columns: ClassVar[tuple[str, ...]] = COLUMNS

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        """For each context, in order: (K, 5) float32, columns as `COLUMNS`; InputError for texts that it cannot
        read."""
        causal = self._loaded()
        waiting: list[_Texts] = []
        for context, mine in zip(contexts, endings, strict=True):
            waiting.append(_Texts.of(causal, context, mine))
            if sum(len(texts.after) for texts in waiting) >= WINDOW:
                yield from _values(causal, waiting)
                waiting = []
        yield from _values(causal, waiting)

    def record(self) -> dict[str, Any]:
        """The model, the hashes of its files, where and in which precision it computes."""
        return self._loaded().record()

    def _loaded(self) -> Causal:
        if self.precision not in PRECISIONS:
            raise InputError(f"scorer hf: precision {self.precision!r} is none of {', '.join(PRECISIONS)}.")
        self._causal = self._causal or load_causal(self.model, device=self.device, precision=self.precision)
        return self._causal


@dataclass(frozen=True)
class _Texts:
    """A context and its K endings as ids, each as it is at the beginning of a line and after another text."""

    first: list[int]
    """The context at the beginning."""
    then: list[int]
    """The context after an ending."""
    alone: list[list[int]]
    """The endings at the beginning."""
    after: list[list[int]]
    """The endings after the context; where there is none, at the beginning."""

    @classmethod
    def of(cls, causal: Causal, context: Context, endings: Sequence[str]) -> "_Texts":
        text = phrase(context)
        first, then = (causal.ids(text), causal.ids_after(text)) if text else ([], [])
        alone = list(map(causal.ids, endings))
        texts = cls(first, then, alone, list(map(causal.ids_after, endings)) if text else alone)
        where = f"{causal.model}: context {context.id!r}"
        empty = [ending for ending, ids in zip(endings, texts.alone, strict=True) if not ids]
        if empty:
            raise InputError(f"{where}: its ending {empty[0]!r} has no token. Leave it out.")
        longest = 1 + max(len(first) + max(map(len, texts.after)), len(then) + max(map(len, texts.alone)))
        if longest > causal.limit:
            raise InputError(
                f"{where}: with its longest ending it has {longest} tokens, and the model reads {causal.limit}. Leave "
                "the row out, or take a model that reads more."
            )
        return texts


def _values(causal: Causal, texts: Sequence[_Texts]) -> Iterator[np.ndarray]:
    """(K, 5) float32 of each."""
    turned = iter(_turned(causal, texts))
    for mine in texts:
        context, endings = _in_order(causal, mine)
        made = np.empty((len(mine.after), len(COLUMNS)), np.float32)
        for row, nats in zip(made, endings, strict=True):
            alone, given = next(turned)
            row[:] = nats.mean(), alone, given, context, nats[-1]
        yield made


def _in_order(causal: Causal, texts: _Texts) -> tuple[float, list[np.ndarray]]:
    """Nats a token of the context, and (T,) nats of each ending after it; the context is read once."""
    logits, past = causal.read(torch.tensor([[causal.begin, *texts.first]]))  # (1, 1 + T, V)
    context = _nats(logits[:, :-1], torch.tensor([texts.first]))[0]
    at_first = torch.log_softmax(logits[0, -1], dim=0).cpu().numpy()  # (V,)
    endings = [np.full(len(ids), -at_first[ids[0]], np.float64) for ids in texts.after]
    n_at_once = AT_ONCE[causal.device.type]
    longer = [i for i, ids in enumerate(texts.after) if len(ids) > 1]
    most = causal.limit - len(texts.first)
    for part, batch in _batches([texts.after[i] for i in longer], n_at_once, most):
        made, _ = causal.read(batch[:, :-1], take(past, [0] * n_at_once))
        for i, nats in zip(part, _nats(made, batch[:, 1:]), strict=False):
            endings[longer[i]][1:] = nats[: len(texts.after[longer[i]]) - 1]
    return _mean(context), endings


def _turned(causal: Causal, texts: Sequence[_Texts]) -> list[tuple[float, float]]:
    """Of each ending of all contexts, in order: nats a token of the ending by itself, and of the context after it."""
    pairs = [(alone, mine.then) for mine in texts for alone in mine.alone]
    found = [(0.0, 0.0)] * len(pairs)
    sequences = [[causal.begin, *alone, *then] for alone, then in pairs]
    for part, batch in _batches(sequences, AT_ONCE[causal.device.type], 1 + causal.limit):
        made, _ = causal.read(batch[:, :-1])
        for i, nats in zip(part, _nats(made, batch[:, 1:]), strict=False):
            n, m = map(len, pairs[i])
            found[i] = _mean(nats[:n]), _mean(nats[n : n + m])
    return found


def _batches(sequences: Sequence[list[int]], n: int, most: int) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
    """Which sequences, n at most, and their ids (n, 1 + a multiple of `STEP`, or `most`), filled up with 0 and with the
    last one over again; the length of a batch depends on each of its sequences alone."""
    padded = np.array([min(most, 1 + -(-(len(ids) - 1) // STEP) * STEP) for ids in sequences], np.int64)
    for length in np.unique(padded).tolist():
        alike = np.flatnonzero(padded == length)
        for at in range(0, len(alike), n):
            part = alike[at : at + n]
            batch = torch.zeros((n, length), dtype=torch.long)
            for row in range(n):
                ids = sequences[part[min(row, len(part) - 1)]]
                batch[row, : len(ids)] = torch.tensor(ids)
            yield part, batch


def _nats(logits: torch.Tensor, ids: torch.Tensor) -> np.ndarray:
    """(b, T) float64 negative log-likelihoods of `ids` (b, T) by `logits` (b, T, V)."""
    target = logits.gather(2, ids.to(logits.device)[:, :, None])[:, :, 0]
    nats: np.ndarray = (logits.logsumexp(dim=2) - target).cpu().double().numpy()
    return nats


def _mean(nats: np.ndarray) -> float:
    """The mean; 0 of no token, as of an empty context."""
    return float(nats.mean()) if len(nats) else 0.0
