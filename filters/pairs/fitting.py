"""Fitting and scoring shared by the filters that read two texts; which network, a subclass says.

Two tasks, one training. Of a view, gold is told from the other candidates of its row: a pair has one logit, and the
loss is the cross-entropy over the row. Of texts with classes, a pair has a logit a class, and the loss is the
cross-entropy over them. A fit stops early on a slice of its own rows, whole groups, as in `swag_af.filters.neural`;
determinism, threads and precision are as there.

Every distinct text is encoded once a call, however many pairs it is part of, up to `WORDS_AT_ONCE`; pairs are compared
in chunks of like length.

Letters: `q` pairs of `t` distinct texts, `n` rows of `A` pairs, `O` outputs of a network.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F

from swag_af.data.errors import InputError
from swag_af.data.pool.view import View
from swag_af.data.splits import hold_aside
from swag_af.data.text.ragged import joined
from swag_af.filters.contract import check_fit, fields_of, unfitted
from swag_af.filters.neural import FitSettings, stopping_size
from swag_af.filters.pairs.batch import N_SPECIAL, Encoded, PairBatch, PairNetwork, WordTable
from swag_af.filters.pairs.texts import BLANK, Pairs, Texts, pairs_of_texts, pairs_of_view, texts_of, words_of
from swag_af.filters.pairs.vectors import open_vectors
from swag_af.filters.strings import check_inputs
from swag_af.nn.device import mixed_precision, pick_device, seeded
from swag_af.nn.threads import team
from swag_af.nn.training import Adam, batch_size, train_while_better


@dataclass(kw_only=True)
class PairFilter(FitSettings, ABC):
    """The engine; a subclass makes the network.

    `name[FILE]` reads word vectors from FILE. Words of the fit that have none there, or all of them without a file, get
    random ones, those met once only share one; words that come up later have those of the file, or that shared one.
    """

    vectors: str = ""
    """A file of word vectors in the layout of GloVe, word2vec as text, or Numberbatch; gzipped or not."""
    word_size: int = 100
    """Numbers of a word vector where no file says."""
    tune_vectors: bool = True
    """Train the vectors of the file too."""
    min_count: int = 2
    """Words in fewer places of the fitted texts, and not in the file, count as unknown."""
    inputs: Literal["second", "full"] = "full"
    """`full`: first sentence against second, where there is a first; otherwise, and with `second`, start against
    ending."""
    dropout: float = 0.3
    """Share of units that are set to zero while training."""
    batch_contexts: int = 64
    """Contexts, or texts with a class, a gradient step at most; fewer when there are few, see `batch_size`."""

    coverage: float = field(default=0.0, init=False, repr=False, compare=False)
    """After a fit: share of the words of its distinct texts, repeated ones counted, that the file of vectors has."""
    _fitted: "Fitted | None" = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str]
    argument: ClassVar[str] = "vectors"
    """What stands in the brackets of `name[...]`."""
    requires: ClassVar[tuple[str, ...]] = ()
    reads_one: ClassVar[bool] = False
    """Whether a pair is read as one text, so that it may lack a first."""

    @abstractmethod
    def make_network(self, words: WordTable, n_outputs: int) -> PairNetwork:
        """A fresh network on that table; torch's generator is seeded."""

    def check(self) -> None:
        """Raise InputError when a setting is out of range or the file of vectors cannot be read."""
        super().check()
        if min(self.word_size, self.min_count) < 1 or not 0 <= self.dropout < 1:
            raise InputError(
                f"filter {self.name}: word_size and min_count must be 1 or more, dropout from 0 to below 1."
            )
        check_inputs(self.name, self.inputs, ("second", "full"))
        if self.vectors:
            open_vectors(self.vectors)
        elif not self.tune_vectors:
            raise InputError(f"filter {self.name}: random vectors that are not tuned say nothing. Name a file.")

    def settings(self) -> dict[str, Any]:
        """The fields, with the hash of the file of vectors in place of its path."""
        return fields_of(self) | {"vectors": open_vectors(self.vectors).sha256 if self.vectors else ""}

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 from the others; keeps the weights of the best epoch.

        Raises InputError as `check` does, for fewer than 2 rows or 2 candidates a row, and where no row has two texts.
        """
        check_fit(self.name, view, fewest=2)
        pairs = self._read(view)
        if self.vectors:  # one reading of the file for all that this pool will ask
            firsts = dict.fromkeys(word for context in view.pool.contexts for word in words_of(context.sent1))
            open_vectors(self.vectors).find((*view.vocabulary.tokens, *firsts))
        self._fit(pairs, Task(np.zeros(len(view), np.int64), view.shape[1], 1), view.groups, rng)

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 logits."""
        fitted = self._ready(choices=True)
        return self._score(fitted, self._read(view)).reshape(view.shape)

    def fit_classes(
        self,
        firsts: Sequence[str],
        seconds: Sequence[str],
        labels: np.ndarray,
        n_labels: int,
        groups: np.ndarray,
        *,
        rng: np.random.Generator,
    ) -> None:
        """Learn the `labels` (q,), 0 to `n_labels` - 1, of q pairs of texts; `groups` (q,) stay together when rows are
        set aside to stop by. Forgets any earlier fit. Raises InputError as `fit` does."""
        if len(labels) < 2:
            raise InputError(f"a filter needs 2 texts or more to fit; there are {len(labels)}.")
        pairs = pairs_of_texts(firsts, seconds, as_one=self.reads_one)
        self._fit(pairs, Task(np.asarray(labels, np.int64), 1, n_labels, is_choices=False), np.asarray(groups), rng)

    def score_classes(self, firsts: Sequence[str], seconds: Sequence[str]) -> np.ndarray:
        """(q, n_labels) float32 logits."""
        fitted = self._ready(choices=False)
        return self._score(fitted, pairs_of_texts(firsts, seconds, as_one=self.reads_one))

    def encode_texts(self, texts: Sequence[str]) -> Encoded:
        """Texts as the fitted network knows them before two meet, to be kept for any number of `compare`."""
        fitted = self._ready()
        encoded, place = self._encode(fitted, texts_of(texts), np.arange(len(texts)))
        return _taken(encoded, place)

    def compare(self, encoded: Encoded, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(p, O) float32 logits of the pairs whose texts are `first` (p,) and `second` (p,) among `encoded`.

        A filter that `reads_one` reads `second` alone, the texts of a pair joined by a blank.
        """
        return self._compare(self._ready(), encoded, np.asarray(first), np.asarray(second))

    def _ready(self, *, choices: bool | None = None) -> "Fitted":
        if self._fitted is None:
            raise unfitted(f"filter {self.name}")
        if choices is not None and choices != self._fitted.task.is_choices:
            before, now = ("classes", "choices") if choices else ("choices", "classes")
            raise InputError(f"filter {self.name} was fitted on {before}, not on {now}. Fit it on {now} first.")
        return self._fitted

    def _read(self, view: View) -> Pairs:
        return pairs_of_view(view, see_context=self.inputs == "full", as_one=self.reads_one)

    def _fit(self, pairs: Pairs, task: "Task", groups: np.ndarray, rng: np.random.Generator) -> None:
        self.check()
        if not pairs.has_firsts and not self.reads_one:
            raise InputError(
                f"filter {self.name} compares two texts, and here nothing stands before the second: no first sentence, "
                "start or premise. Choose an input that has one, or a filter that reads one text, such as lstm."
            )
        device = pick_device(self.device)
        train, stop = hold_aside(groups, stopping_size(len(groups), self.stopping_share), rng=rng)
        with seeded(int(rng.integers(2**63 - 1)), device), team(self.threads_alike):
            rows, start = self.start_table(pairs.texts)
            words = WordTable(start, tune=self.tune_vectors)
            network = self.make_network(words, task.n_outputs).to(device)
            texts = pairs.texts.in_table(rows)
            self._train(network, Reader(Pairs(texts, pairs.first, pairs.second), task), train, stop, rng)
        self._fitted = Fitted(network, rows, task)

    def start_table(self, texts: Texts) -> tuple[dict[str, int], torch.Tensor]:
        """The row of each word that has one, and the table (V, E) that training starts from."""
        found = open_vectors(self.vectors).find(texts.words) if self.vectors else {}
        counts = np.bincount(texts.numbers, minlength=len(texts.words))
        known = [
            word
            for word, n in zip(texts.words, counts.tolist(), strict=True)
            if word in found or (n >= self.min_count and word != BLANK)
        ]
        is_found = np.array([word in found for word in texts.words])
        self.coverage = float(counts[is_found].sum() / counts.sum()) if self.vectors else 0.0
        if self.vectors and not found:
            raise InputError(f"{self.vectors}: it has none of the {len(known)} words. Is it of another language?")
        size = open_vectors(self.vectors).size if self.vectors else self.word_size
        given = torch.from_numpy(np.stack(list(found.values()))) if found else None
        start = torch.randn(N_SPECIAL + len(known), size) * (WORD_STD if given is None else given.std())
        start[:N_SPECIAL] = 0
        rows = {word: N_SPECIAL + i for i, word in enumerate(known)}
        if given is not None:
            start[[rows[word] for word in found]] = given
        return rows, start

    def _train(
        self, network: PairNetwork, reader: "Reader", train: np.ndarray, stop: np.ndarray, rng: np.random.Generator
    ) -> None:
        device = next(network.parameters()).device
        adam = Adam(network, self.learning_rate, self.weight_decay)
        self.held_out_losses = train_while_better(
            network,
            lambda: self.train_epoch(network, reader, rng.permutation(train), adam),
            lambda: held_out_loss(network, reader, stop, device),
            max_epochs=self.max_epochs,
            patience=self.patience,
            called=f"filter {self.name}",
        )

    def train_epoch(
        self,
        network: PairNetwork,
        reader: "Reader",
        order: np.ndarray,
        adam: Adam,
        advance: Callable[[int], None] = lambda n: None,
    ) -> None:
        """One pass over the rows in that `order`; `advance(n)` is told of every `n` that are done."""
        device = next(network.parameters()).device
        n_batches = max(1, round(len(order) / batch_size(len(order), self.batch_contexts)))
        for rows in np.array_split(order, n_batches):
            network.zero_grad()
            with mixed_precision(device, self.precision):
                logits, targets = reader.logits(network, rows, device)
            F.cross_entropy(logits.float(), targets).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), self.max_gradient_norm)
            adam.step()
            advance(len(rows))

    def restore(self, words: Sequence[str], weights: Mapping[str, torch.Tensor], n_labels: int) -> None:
        """Be as the filter that was fitted on classes and left these `words` in the order of its table, and `weights`.

        Raises RuntimeError or KeyError, as torch does, where they are not those of such a network.
        """
        table = WordTable(weights["words.weight"].clone(), tune=self.tune_vectors)
        network = self.make_network(table, n_labels)
        network.load_state_dict(weights)
        rows = {word: N_SPECIAL + i for i, word in enumerate(words)}
        self._fitted = Fitted(network.eval(), rows, Task(np.zeros(0, np.int64), 1, n_labels, is_choices=False))

    def score_pairs(self, pairs: Pairs) -> np.ndarray:
        """(q, O) float32 logits of pairs from wherever they are."""
        return self._score(self._ready(), pairs)

    def _score(self, fitted: "Fitted", pairs: Pairs) -> np.ndarray:
        """(q, O) float32 logits, some texts at a time."""
        out = np.empty((len(pairs), fitted.task.n_outputs), np.float32)
        for index in _blocks(pairs):
            used, at = np.unique(np.concatenate([pairs.first[index], pairs.second[index]]), return_inverse=True)
            encoded, place = self._encode(fitted, pairs.texts, used)
            first, second = np.split(place[at.reshape(-1)], 2)
            out[index] = self._compare(fitted, encoded, first, second)
        return out

    @torch.inference_mode()
    def _encode(self, fitted: "Fitted", texts: Texts, index: np.ndarray) -> tuple[Encoded, np.ndarray]:
        """The texts at `index` (k,), longest first, and the place (k,) of each of them."""
        device = pick_device(self.device)
        network = fitted.network.to(device)
        order = np.argsort(-texts.lengths[index], kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        rows, more = self._look_up(fitted, texts.words)
        network.words.more = more.to(device)
        in_table = texts.in_table(rows)
        with team(self.threads_alike):
            parts = [
                network.encode(in_table.batch(index[order[at : at + TEXTS_AT_ONCE]], device)[0])
                for at in range(0, len(order), TEXTS_AT_ONCE)
            ]
        states = torch.cat([part.states for part in parts])
        return Encoded(states, torch.cat([part.lengths for part in parts])), place

    @torch.inference_mode()
    def _compare(self, fitted: "Fitted", encoded: Encoded, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """(p, O) float32 logits; chunks of like length."""
        device = encoded.states.device
        lengths = encoded.lengths.cpu().numpy()
        order = np.lexsort((-lengths[first], -lengths[second]))
        out = np.empty((len(order), fitted.task.n_outputs), np.float32)
        for at in range(0, len(order), PAIRS_AT_ONCE):
            index = order[at : at + PAIRS_AT_ONCE]
            chunk = [torch.from_numpy(one[index]).to(device) for one in (first, second)]
            with team(self.threads_alike):
                out[index] = fitted.network.compare(encoded, *chunk).float().cpu().numpy()
        return out

    def _look_up(self, fitted: "Fitted", words: Sequence[str]) -> tuple[dict[str, int], torch.Tensor]:
        """The row of each word that has one, and the vectors of those of `words` that only the file has."""
        new = [word for word in words if word not in fitted.rows and word != BLANK] if self.vectors else []
        found = open_vectors(self.vectors).find(new) if new else {}
        n_known = len(fitted.network.words.weight)
        rows = fitted.rows | {word: n_known + i for i, word in enumerate(found)}
        more = torch.from_numpy(np.array(list(found.values()), np.float32).reshape(-1, fitted.network.words.size))
        return rows, more


WORD_STD = 0.1
"""Of new word vectors, where there is no file; with one, they vary as its vectors do."""
WORDS_AT_ONCE = 1 << 17
"""Words of the texts whose encodings are kept at a time: bounds the memory of scoring."""
TEXTS_AT_ONCE, PAIRS_AT_ONCE = 2048, 2048


@dataclass(frozen=True)
class Task:
    """What a network is fitted to say."""

    targets: np.ndarray
    """(n,) for each row, which of its logits is to be the highest."""
    n_each: int
    """Pairs of a row: candidates, or one text."""
    n_outputs: int
    """Logits of a pair: one, or a class each."""
    is_choices: bool = True


@dataclass(frozen=True)
class Fitted:
    network: PairNetwork
    rows: dict[str, int]
    """The row of each word in the table of vectors."""
    task: Task


@dataclass(frozen=True)
class Reader:
    """The rows of a fit, whose texts are rows of the table of vectors."""

    pairs: Pairs
    task: Task

    def logits(self, network: PairNetwork, rows: np.ndarray, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """(k, n_each * O) logits of `rows` (k,), and their targets (k,)."""
        index = (rows[:, None] * self.task.n_each + np.arange(self.task.n_each)).reshape(-1)
        sides = np.concatenate([self.pairs.first[index], self.pairs.second[index]])
        used, at = np.unique(sides, return_inverse=True)
        texts, place = self.pairs.texts.batch(used, device)
        first, second = torch.from_numpy(place[at.reshape(-1)]).to(device).chunk(2)
        logits = network(PairBatch(texts, first, second))  # (k * n_each, O)
        targets = torch.from_numpy(self.task.targets[rows]).to(device)
        return logits.reshape(len(rows), -1), targets


@torch.inference_mode()
def held_out_loss(network: PairNetwork, reader: Reader, rows: np.ndarray, device: torch.device) -> float:
    """Mean cross-entropy in nats, full precision."""
    network.eval()
    total = 0.0
    for part in np.array_split(rows, -(-len(rows) // 128)):
        logits, targets = reader.logits(network, part, device)
        total += float(F.cross_entropy(logits.float(), targets, reduction="sum"))
    return total / len(rows)


def _blocks(pairs: Pairs) -> list[np.ndarray]:
    """The pairs in parts whose texts have about `WORDS_AT_ONCE` words; those with the same first text together."""
    order = np.argsort(pairs.first, kind="stable")
    first = pairs.first[order]
    is_new = np.diff(first, prepend=-1) != 0
    n_words = pairs.texts.lengths[pairs.second[order]] + is_new * pairs.texts.lengths[first]
    return np.split(order, np.flatnonzero(np.diff(np.cumsum(n_words) // WORDS_AT_ONCE)) + 1)


def _taken(encoded: Encoded, place: np.ndarray) -> Encoded:
    """The texts at `place` (k,), in that order."""
    lengths = encoded.lengths.cpu().numpy()
    rows, _ = joined(np.arange(lengths.sum()), np.concatenate([[0], np.cumsum(lengths)]), place[:, None])
    at, index = (torch.from_numpy(one).to(encoded.states.device) for one in (rows, place))
    return Encoded(encoded.states[at], encoded.lengths[index])
