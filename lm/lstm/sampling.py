"""Sampling distinct endings for many contexts at once from the forward language model's full softmax.

Temperature 1, no beam, no top-k: the paper's "greedy" is plain sampling in its released code (Zellers et al.
2018, 3.3), since beams give endings of too low a perplexity. Samples keep gold's rules: types that no gold can hold are
not sampled, and an ending counts when it is finished and long enough, for what no gold could look like needs no reading
to be told from gold. The d-th draw of a context takes its choices from the d-th `max_tokens` uniforms of the context's
own generator, and a row is gold with the first draws that count and say something new: what else is sampled at the same
time changes speed and nothing else. No draw is made that could turn out not to be needed. Scoring by the backward model
happens elsewhere.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from swag_af.data.vocabulary import BOS
from swag_af.lm.lstm.reader import (
    LIVE_TILES,
    Choices,
    Columns,
    Distributions,
    Frontier,
    Reader,
    children,
    read_prompts,
    with_rows,
)

Said = Callable[[Sequence[int]], Hashable]
"""What an ending of token ids says: equal for two that may not stand in one row (`wording.Wording`)."""

_GOLD = -1
"""The number of the draw that takes gold's tokens instead of sampling."""


@dataclass(frozen=True)
class Sampling:
    """How many endings a row needs, and which draws count."""

    n_negatives: int
    min_tokens: int
    max_tokens: int
    max_draws: int
    """Give a context up after this many times `n_negatives` draws."""


@dataclass(frozen=True)
class Types:
    """Which of the V token types end a sentence, and which may be sampled."""

    ends: Tensor
    """(V,) whether the type ends a sentence."""
    sampled: Tensor
    """(V,) whether it may be sampled; special tokens never are."""


@dataclass(frozen=True)
class Rejected:
    """Draws of a row that did not count."""

    cut_off: int = 0
    """Unfinished at `max_tokens`."""
    too_short: int = 0
    """Finished below `min_tokens`."""
    repeated: int = 0
    """Says what gold or another draw says."""


@dataclass(frozen=True)
class Prompt:
    """One context to be continued."""

    context: Sequence[int]
    """Ids of all that comes before the ending; may be empty."""
    gold: Sequence[int]
    """Ids of the gold ending, at most `max_tokens`."""
    rng: np.random.Generator


@dataclass(frozen=True)
class SampledRow:
    """The candidates of one context, gold first, with what the forward model says of them."""

    tokens: np.ndarray
    """(K, L) int32 ids, 0 beyond each length."""
    lengths: np.ndarray
    """(K,) tokens."""
    ending_nats: np.ndarray
    """(K,) negative log-likelihood of the ending given the context."""
    last_token_nats: np.ndarray
    """(K,) the same of the last token alone."""
    context_nats: float
    """Negative log-likelihood of the context."""
    n_draws: int
    """How many endings were drawn to get K - 1 that count."""
    n_drawn_tokens: int
    """Tokens of all these draws."""
    rejected: Rejected
    """Which of them did not count."""


@dataclass(frozen=True)
class GivenUp:
    """What became of the draws of a context that gave too few endings."""

    n_draws: int
    rejected: Rejected


def sample_rows(
    reader: Reader,
    prompts: Iterable[Prompt],
    rules: Sampling,
    types: Types,
    said: Said,
    *,
    live_rows: int | None = None,
    given_up: dict[int, GivenUp] | None = None,
) -> Iterator[tuple[int, SampledRow | None]]:
    """Yield, for every prompt and as it is done, its position and its row: gold, then `n_negatives` endings, no two of
    all equal by what is `said`.

    The row is None when `max_draws * n_negatives` draws have not given enough: `given_up` then gets their counts.
    About `live_rows` endings are sampled at a time. Log-likelihoods are those of the whole model, types that are
    not sampled included.
    """
    return _Sampler(reader, rules, types, said, live_rows, {} if given_up is None else given_up).run(iter(prompts))


@dataclass
class _Draws(Columns):
    """`D` endings in the making; column d of `tokens` and `uniforms` belongs to the d-th token."""

    slot: Tensor
    """(D,) whose context it continues."""
    number: Tensor
    """(D,) which draw of its context it is; -1 is gold."""
    depth: Tensor
    """(D,) tokens so far."""
    node: Tensor
    """(D,) where it stands in the frontier."""
    tokens: Tensor
    """(D, L)"""
    uniforms: Tensor
    """(D, L) float64"""
    nats: Tensor
    """(D,) of all tokens so far."""
    last: Tensor
    """(D,) of the latest token."""

    def latest(self) -> Tensor:
        """(D,) the last token of each."""
        return self.tokens.gather(1, (self.depth - 1).clamp_(min=0)[:, None])[:, 0]

    def extend(self, tokens: Tensor, nats: Tensor) -> None:
        """Every draw gets its next token (D,)."""
        self.tokens.scatter_(1, self.depth[:, None], tokens[:, None])
        self.depth += 1
        self.nats += nats
        self.last = nats


class _Slot:
    """A context at work: how far its row has come."""

    def __init__(self, position: int, prompt: Prompt, width: int, said: Said):
        self.position = position
        self.rng = prompt.rng
        self.n_drawn = 0
        self.n_live = 0
        self.n_drawn_tokens = 0
        self.n_cut_off = self.n_too_short = 0
        self.width = width
        self.said = said
        self.kept: dict[Hashable, tuple[int, bytes, int, float, float]] = {}
        """What is said to the first draw that says so: its number, ids, tokens and nats, all and last; gold's nats come
        when it is through."""
        gold = np.zeros((1, width), np.int32)
        gold[0, : len(prompt.gold)] = prompt.gold
        self.keep(prompt.gold, _packed(gold)[0], _GOLD, 0.0, 0.0)

    def keep(self, ids: Sequence[int], packed: bytes, number: int, nats: float, last: float) -> None:
        """Take note of a finished ending; of those that say the same the first counts."""
        key = self.said(ids)
        known = self.kept.get(key)
        if known is None or number <= known[0]:
            self.kept[key] = number, packed, len(ids), nats, last

    def row(self, context_nats: float) -> SampledRow:
        numbers, packed, *columns = zip(*self.kept.values(), strict=True)
        order = np.argsort(numbers)
        tokens = np.frombuffer(b"".join(packed), np.int32).reshape(-1, self.width)[order]
        lengths, nats, last = (np.array(column)[order] for column in columns)
        nats, last = nats.astype(np.float32), last.astype(np.float32)
        return SampledRow(tokens, lengths, nats, last, context_nats, self.n_drawn, self.n_drawn_tokens, self.rejected())

    def rejected(self) -> Rejected:
        """The draws that did not count, once none is live."""
        n_repeated = self.n_drawn - self.n_cut_off - self.n_too_short - (len(self.kept) - 1)
        return Rejected(self.n_cut_off, self.n_too_short, n_repeated)


def _packed(tokens: np.ndarray) -> list[bytes]:
    """The rows of `tokens` (n, L) int32."""
    rows: list[bytes] = np.ascontiguousarray(tokens).view(np.dtype((np.void, tokens.shape[1] * 4)))[:, 0].tolist()
    return rows


class _Sampler:
    """All contexts at work and all their draws. A round takes every draw a token on."""

    def __init__(
        self,
        reader: Reader,
        rules: Sampling,
        types: Types,
        said: Said,
        live_rows: int | None,
        given_up: dict[int, GivenUp],
    ):
        self.said = said
        self.given_up = given_up
        self.reader = reader
        self.rules = rules
        self.device = device = reader.device
        self.n_types = reader.output.n_types
        self.ends = types.ends.to(device)
        self.choices = Choices(types.sampled.to(device), reader.output.n_columns)
        self.live_rows = live_rows or LIVE_TILES[device.type] * reader.tile
        self.frontier = Frontier(reader)
        self.slots: dict[int, _Slot] = {}
        n = self.n_slots = int(np.clip(6 * self.live_rows // (1 + rules.n_negatives), 32, 512))
        self.root_logits = torch.empty(n, reader.output.n_columns, device=device)
        self.root_states = reader.no_state(n)
        self.context_nats = torch.zeros(n, device=device)
        self.gold = torch.zeros(n, rules.max_tokens, dtype=torch.long, device=device)
        self.gold_length = torch.zeros(n, dtype=torch.long, device=device)
        self.draws = self._no_draws()

    def run(self, prompts: Iterator[Prompt]) -> Iterator[tuple[int, SampledRow | None]]:
        numbered = enumerate(prompts)
        while True:
            with torch.inference_mode():
                if len(self.draws) < self.live_rows and all(slot.n_drawn for slot in self.slots.values()):
                    self._admit(numbered)
                if not self.slots:
                    return
                done = self._round()
            yield from done

    def _admit(self, prompts: Iterator[tuple[int, Prompt]]) -> None:
        """Read the next contexts, many at once, so that their endings can begin."""
        free = [i for i in range(self.n_slots) if i not in self.slots][: max(1, self.n_slots // 2)]
        taken = list(islice(prompts, len(free)))
        if not taken:
            return
        here = torch.tensor(free[: len(taken)], device=self.device)
        states, logits, nats = read_prompts(self.reader, [[BOS, *prompt.context] for _, prompt in taken])
        for piece, read in zip(self.root_states, states, strict=True):
            piece[here] = read
        self.root_logits[here] = logits
        self.context_nats[here] = nats
        for i, (position, prompt) in zip(free, taken, strict=False):
            if not 0 < len(prompt.gold) <= self.rules.max_tokens:
                raise ValueError(f"gold has {len(prompt.gold)} tokens; 1 to {self.rules.max_tokens} are possible")
            self.slots[i] = _Slot(position, prompt, self.rules.max_tokens, self.said)
            self.gold[i, : len(prompt.gold)] = torch.tensor(prompt.gold, device=self.device)
            self.gold_length[i] = len(prompt.gold)

    def _round(self) -> list[tuple[int, SampledRow | None]]:
        """First tokens for new draws, then one more token for all; returns what is done."""
        new = self._launch()
        if len(new):
            slots, of_draw = torch.unique(new.slot, return_inverse=True)
            given = Distributions.of(self.root_logits[slots])
            new.extend(*self._choose(new, given, of_draw))
        new, finished = self._part(new)
        self.draws, finished_later = self._part(self._advance(new, self.draws))
        return self._finish(finished.join(finished_later))

    def _advance(self, new: _Draws, old: _Draws) -> _Draws:
        """The model reads the latest token of every draw and gives it its next; `new` ones go on from their roots."""
        first, of_new = children(new.slot, new.latest(), self.n_types)
        later, of_old = children(old.node, old.latest(), self.n_types)
        new.node, old.node = of_new, of_old + len(first)
        draws = new.join(old)
        draws = draws.take(draws.node.argsort(stable=True))
        tokens, nats = torch.zeros_like(draws.slot), torch.zeros_like(draws.nats)
        roots = [piece[first.parents] for piece in self.root_states]
        steps = self.frontier.advance(torch.cat((first.tokens, later.tokens)), later.parents, roots)
        for nodes, part, top in with_rows(steps, draws.node, self.reader.tile):
            here = draws.take(part)
            given = Distributions.of(self.reader.output(top))
            tokens[part], nats[part] = self._choose(here, given, here.node - nodes.start)
        draws.extend(tokens, nats)
        return draws

    def _choose(self, draws: _Draws, given: Distributions, of_draw: Tensor) -> tuple[Tensor, Tensor]:
        """The next tokens (D,) and their nats; `of_draw` (D,) says which distribution is whose."""
        at, is_gold = draws.depth[:, None], draws.number == _GOLD
        forced = self.gold[draws.slot].gather(1, at)[:, 0]
        forced_nats = given.nats(of_draw, forced)  # before choosing, which spends the distributions
        sampled = given.choose(of_draw, draws.uniforms.gather(1, at)[:, 0], self.choices)
        nats = given.nats(of_draw, sampled)
        return torch.where(is_gold, forced, sampled), torch.where(is_gold, forced_nats, nats)

    def _part(self, draws: _Draws) -> tuple[_Draws, _Draws]:
        """Those that go on, and those that are finished."""
        by_itself = self.ends[draws.latest()] | (draws.depth == self.rules.max_tokens)
        done = torch.where(draws.number == _GOLD, draws.depth == self.gold_length[draws.slot], by_itself)
        return draws.take(~done), draws.take(done)

    def _finish(self, finished: _Draws) -> list[tuple[int, SampledRow | None]]:
        """Hand finished endings to their contexts; returns the rows that are now complete, or given up."""
        columns = (finished.slot, finished.depth, finished.number, self.ends[finished.latest()])
        slots, lengths, numbers, whole = (column.tolist() for column in columns)
        nats, last = finished.nats.tolist(), finished.last.tolist()
        tokens = finished.tokens.to("cpu", torch.int32).numpy()
        ids, packed = tokens.tolist(), _packed(tokens)
        for row, (i, length, number) in enumerate(zip(slots, lengths, numbers, strict=True)):
            slot = self.slots[i]
            slot.n_live -= 1
            slot.n_drawn_tokens += length if number != _GOLD else 0
            if number != _GOLD and not whole[row]:
                slot.n_cut_off += 1
            elif number != _GOLD and length < self.rules.min_tokens:
                slot.n_too_short += 1
            else:  # gold is as it is
                slot.keep(ids[row][:length], packed[row], number, nats[row], last[row])
        done: list[tuple[int, SampledRow | None]] = []
        for i in dict.fromkeys(slots):
            slot = self.slots[i]
            if slot.n_live:
                continue
            if len(slot.kept) == 1 + self.rules.n_negatives:
                done.append((slot.position, slot.row(float(self.context_nats[i]))))
            elif slot.n_drawn >= self.rules.max_draws * self.rules.n_negatives:
                self.given_up[slot.position] = GivenUp(slot.n_drawn, slot.rejected())
                done.append((slot.position, None))
            else:
                continue
            del self.slots[i]
        return done

    def _launch(self) -> _Draws:
        """The draws that are missing to the contexts at work; new contexts begin while there is room."""
        slots, numbers, uniforms = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        n_live = len(self.draws)
        for i, slot in self.slots.items():
            is_first = not slot.n_drawn
            if is_first and n_live >= self.live_rows:
                continue
            wanted = 1 + self.rules.n_negatives - len(slot.kept) - slot.n_live  # while gold is live, too few by one
            wanted = min(wanted, self.rules.max_draws * self.rules.n_negatives - slot.n_drawn)
            if wanted <= 0:
                continue
            drawn = slot.rng.random((wanted, self.rules.max_tokens))
            number = slot.n_drawn
            slot.n_drawn += wanted
            slot.n_live += wanted
            if is_first:
                number, drawn = _GOLD, np.concatenate((np.zeros((1, self.rules.max_tokens)), drawn))
                slot.n_live += 1
            n_live += len(drawn)
            slots.append(np.full(len(drawn), i, np.int64))
            numbers.append(np.arange(number, number + len(drawn)))
            uniforms.append(drawn)
        return self._new_draws(*map(np.concatenate, (slots, numbers, uniforms))) if slots else self._no_draws()

    def _no_draws(self) -> _Draws:
        nothing = np.zeros(0, np.int64)
        return self._new_draws(nothing, nothing, np.zeros((0, self.rules.max_tokens)))

    def _new_draws(self, slots: np.ndarray, numbers: np.ndarray, uniforms: np.ndarray) -> _Draws:
        """A draw for each of `slots` (D,), numbered by `numbers` (D,), with a row of `uniforms` (D, L)."""
        n = len(slots)
        return _Draws(
            slot=torch.from_numpy(slots).to(self.device),
            number=torch.from_numpy(numbers).to(self.device),
            depth=torch.zeros(n, dtype=torch.long, device=self.device),
            node=torch.zeros(n, dtype=torch.long, device=self.device),
            tokens=torch.zeros(n, self.rules.max_tokens, dtype=torch.long, device=self.device),
            uniforms=torch.from_numpy(uniforms).to(self.device),
            nats=torch.zeros(n, device=self.device),
            last=torch.zeros(n, device=self.device),
        )
