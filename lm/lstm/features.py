"""The eight features of a candidate: five perplexities of two language models and three lengths.

Perplexities stand as negative log-likelihoods per token, in nats (Zellers et al. 2018, A.3). The released code
exponentiates and takes the log again, and its "ending alone" sums over more tokens than it divides by. What the
forward model says is known once an ending is sampled; the backward model reads it here, once, and then its context.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from swag_af.data.pool.folder import FEATURES
from swag_af.data.vocabulary import BOS, EOS
from swag_af.lm.lstm.reader import (
    LIVE_TILES,
    Columns,
    Distributions,
    Frontier,
    Reader,
    children,
    read_prompts,
    with_rows,
)
from swag_af.lm.lstm.sampling import SampledRow

BACKWARD = tuple(FEATURES.index(name) for name in ("ending_alone", "context_given_ending"))
"""The columns that need the backward model."""


def forward_features(row: SampledRow, sent1: Sequence[int], start: Sequence[int]) -> np.ndarray:
    """(K, F) float32, columns as `data.pool.folder.FEATURES` names them; those of the backward model are NaN."""
    nats = {
        "ending_given_context": row.ending_nats / row.lengths,
        "context_alone": np.full(len(row.lengths), row.context_nats / (len(sent1) + len(start))),
        "last_token": row.last_token_nats,
    }
    return _table(nats, row.lengths, sent1, start)


@dataclass(frozen=True)
class Endings:
    """Endings of one context, to be read."""

    context: Sequence[int]
    """Ids of all that comes before the ending."""
    tokens: np.ndarray
    """(m, L) ids of the endings, 0 beyond each length; L is the same for all contexts of a call."""
    lengths: np.ndarray
    """(m,)"""


def backward_features(
    reader: Reader, endings: Iterable[Endings], *, live_rows: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield, for every item and as it is done, its position and its `BACKWARD` columns, (m, 2) float32.

    The first is the ending read by itself, the second the context read after it, each per token and from right to
    left. About `live_rows` endings are read at a time. Each value depends on its own ending and context alone.
    """
    for item, nats in _Scorer(reader, live_rows, backward=True).run(iter(endings)):
        yield item, nats[:, :2]


def all_features(
    forward: Reader, backward: Reader, texts: Sequence[tuple[Sequence[int], Sequence[int], Endings]]
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield, for every `(sent1, start, endings)`, its position and its (m, F) features: for endings made elsewhere."""
    back = dict(backward_features(backward, (endings for *_, endings in texts)))
    for item, nats in _Scorer(forward, None, backward=False).run(endings for *_, endings in texts):
        sent1, start, endings = texts[item]
        read = {
            "context_alone": nats[:, 0],
            "ending_given_context": nats[:, 1],
            "last_token": nats[:, 2],
            "ending_alone": back[item][:, 0],
            "context_given_ending": back[item][:, 1],
        }
        yield item, _table(read, endings.lengths, sent1, start)


def _table(
    nats: Mapping[str, np.ndarray], lengths: np.ndarray, sent1: Sequence[int], start: Sequence[int]
) -> np.ndarray:
    """(K, F) float32 from columns of nats (K,), NaN where there is none, and the three lengths."""
    n = len(lengths)
    columns = {
        **nats,
        "ending_length": lengths,
        "start_length": np.full(n, len(start)),
        "sent1_length": np.full(n, len(sent1)),
    }
    unknown = np.full(n, np.nan)
    return np.stack([columns.get(name, unknown) for name in FEATURES], axis=1).astype(np.float32)


@dataclass
class _Rows(Columns):
    """`D` endings that are being read, each as one sequence: the ending, then its context, from right to left, or the
    context, then the ending, from left to right."""

    item: Tensor
    """(D,) whose ending it is."""
    number: Tensor
    """(D,) which of that item's."""
    sequence: Tensor
    """(D, T) 0 beyond each length."""
    first_length: Tensor
    """(D,) tokens of whichever comes first."""
    length: Tensor
    """(D,) of the whole sequence."""
    depth: Tensor
    """(D,) tokens scored so far."""
    node: Tensor
    """(D,) where it stands in the frontier."""
    first: Tensor
    """(D,) nats of it so far."""
    second: Tensor
    """(D,) nats so far of what comes after it."""
    last: Tensor
    """(D,) nats of the latest token."""

    def join(self, other: "_Rows") -> "_Rows":
        width = max(self.sequence.shape[1], other.sequence.shape[1])
        return super(_Rows, self.widened(width)).join(other.widened(width))

    def widened(self, width: int) -> "_Rows":
        """With room for `width` tokens a row, or with less than there is where none is longer."""
        return replace(self, sequence=torch.nn.functional.pad(self.sequence, (0, width - self.sequence.shape[1])))

    def token(self, depth: Tensor) -> Tensor:
        """(D,) the token at `depth` (D,) of each."""
        return self.sequence.gather(1, depth[:, None])[:, 0]

    def add(self, nats: Tensor) -> None:
        """The nats (D,) of every row's next token."""
        in_first = self.depth < self.first_length
        self.first += torch.where(in_first, nats, 0.0)
        self.second += torch.where(in_first, 0.0, nats)
        self.last = nats
        self.depth += 1


class _Scorer:
    """All endings that are being read. A round takes each of them a token on."""

    def __init__(self, reader: Reader, live_rows: int | None, *, backward: bool):
        self.reader = reader
        self.backward = backward
        self.device = reader.device
        self.n_types = reader.output.n_types
        self.live_rows = live_rows or LIVE_TILES[reader.device.type] * reader.tile
        self.frontier = Frontier(reader)
        self.made: dict[int, np.ndarray] = {}
        """Of the items at work (m, 3): nats a token of the first part and of the second, nats of the last token."""
        self.n_left: dict[int, int] = {}
        """How many of their rows are still to come."""

    def run(self, endings: Iterator[Endings]) -> Iterator[tuple[int, np.ndarray]]:
        numbered = enumerate(endings)
        with torch.inference_mode():
            self.root_state, self.root_logits, _ = read_prompts(self.reader, [[EOS if self.backward else BOS]])
        nothing = self._rows(-1, Endings((), np.zeros((0, 1), np.int64), np.zeros(0, np.int64)))
        rows = nothing
        while True:
            new = nothing
            while len(new) + len(rows) < self.live_rows and (taken := next(numbered, None)) is not None:
                new = new.join(self._rows(*taken))
            if not len(new) + len(rows):
                return
            with torch.inference_mode():
                given = Distributions.of(self.root_logits.clone())
                new.add(given.nats(new.node, new.token(new.depth)))
                at_once, new = self._part(new)
                finished, rows = self._part(self._advance(new, rows))
            yield from self._finish(at_once.join(finished))

    def _rows(self, item: int, endings: Endings) -> _Rows:
        """One item's endings, with nothing read."""
        lengths = torch.from_numpy(np.asarray(endings.lengths, np.int64))  # (m,)
        tokens = torch.from_numpy(np.asarray(endings.tokens, np.int64))  # (m, L)
        n, n_context = len(lengths), len(endings.context)
        forward = torch.cat((torch.tensor(endings.context, dtype=torch.long).expand(n, n_context), tokens), dim=1)
        whole = lengths + n_context
        at = torch.arange(forward.shape[1]).expand(n, -1)
        if self.backward:
            at = whole[:, None] - 1 - at  # (m, T)
        sequence = torch.where(at >= 0, forward.gather(1, at.clamp(min=0)), 0)
        if n:
            self.made[item], self.n_left[item] = np.empty((n, 3), np.float32), n
        return _Rows(
            item=torch.full((n,), item, device=self.device),
            number=torch.arange(n, device=self.device),
            sequence=sequence.to(self.device),
            first_length=(lengths if self.backward else torch.full_like(lengths, n_context)).to(self.device),
            length=whole.to(self.device),
            depth=torch.zeros(n, dtype=torch.long, device=self.device),
            node=torch.zeros(n, dtype=torch.long, device=self.device),
            first=torch.zeros(n, device=self.device),
            second=torch.zeros(n, device=self.device),
            last=torch.zeros(n, device=self.device),
        )

    def _part(self, rows: _Rows) -> tuple[_Rows, _Rows]:
        """Those that are through, and those that go on."""
        is_done = rows.depth == rows.length
        return rows.take(is_done), rows.take(~is_done)

    def _advance(self, new: _Rows, old: _Rows) -> _Rows:
        """The nats of one more token for every row; `new` ones go on from the root."""
        first, of_new = children(new.node, new.token(new.depth - 1), self.n_types)
        later, of_old = children(old.node, old.token(old.depth - 1), self.n_types)
        new.node, old.node = of_new, of_old + len(first)
        rows = new.join(old)
        if len(rows):
            rows = rows.widened(int(rows.length.max()))  # the longest may have gone
        rows = rows.take(rows.node.argsort(stable=True))
        wanted, nats = rows.token(rows.depth), torch.zeros_like(rows.first)
        roots = [piece.expand(len(first), -1) for piece in self.root_state]
        steps = self.frontier.advance(torch.cat((first.tokens, later.tokens)), later.parents, roots)
        for nodes, part, top in with_rows(steps, rows.node, self.reader.tile):
            given = Distributions.of(self.reader.output(top))
            nats[part] = given.nats(rows.node[part] - nodes.start, wanted[part])
        rows.add(nats)
        return rows

    def _finish(self, finished: _Rows) -> Iterator[tuple[int, np.ndarray]]:
        """Note the values of rows that are through; yields the items that are now complete."""
        items, numbers = finished.item.cpu().numpy(), finished.number.cpu().numpy()
        first = finished.first / finished.first_length.clamp(min=1)  # a context may be empty
        second = finished.second / (finished.length - finished.first_length).clamp(min=1)
        values = torch.stack((first, second, finished.last), dim=1).cpu().numpy()
        for item in np.unique(items).tolist():
            here = items == item
            self.made[item][numbers[here]] = values[here]
            self.n_left[item] -= int(here.sum())
            if not self.n_left[item]:
                del self.n_left[item]
                yield item, self.made.pop(item)
