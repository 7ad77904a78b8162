"""The rows of a pool: endings and features for the contexts of one fold, from that fold's language model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from swag_af.data.context import Context
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import SPECIAL_TOKENS, Vocabulary
from swag_af.lm.lstm.checkpoints import load_fold
from swag_af.lm.lstm.features import BACKWARD, Endings, backward_features, forward_features
from swag_af.lm.lstm.golds import Bounds, sentence_ends, unfit_gold
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.sampling import GivenUp, Prompt, Rejected, Said, SampledRow, Sampling, Types, sample_rows
from swag_af.lm.options import Precision
from swag_af.lm.seeding import rng_of


@dataclass(frozen=True)
class Readers:
    """One fold's model, ready to sample forwards and to score backwards."""

    forward: Reader
    backward: Reader


def load_readers(lms: Path, fold: int, *, device: str, precision: Precision) -> Readers:
    """The readers of the finished model of `fold`."""
    model, _ = load_fold(lms, fold, device=device)
    output = OutputLayer(model, precision)
    return Readers(Reader(model, "forward", output), Reader(model, "backward", output))


@dataclass(frozen=True)
class Row:
    """One context's candidates, gold first, and their features."""

    tokens: np.ndarray
    """(K, L) int32"""
    lengths: np.ndarray
    """(K,)"""
    features: np.ndarray
    """(K, F) float32; the columns of the backward model are NaN where they are left for later."""
    n_draws: int
    rejected: Rejected


@dataclass(frozen=True)
class Task:
    """One context as ids, with the place that its row is to have."""

    position: int
    sent1: Sequence[int]
    start: Sequence[int]
    gold: Sequence[int]
    gold_text: str
    rng: np.random.Generator


def task_of(context: Context, position: int, vocabulary: Vocabulary, seed: int) -> Task:
    """`context` as ids, with random numbers of its own."""
    sent1, start, gold = (vocabulary.ids(tokenize(text)) for text in (context.sent1, context.start, context.gold))
    return Task(position, sent1, start, gold, context.gold, rng_of(context, seed))


def unfit_reason(task: Task, rules: Sampling, ends: torch.Tensor) -> str | None:
    """Why no sample could look like this gold, which would give it away; or why there is nothing to continue."""
    empty = None if task.sent1 or task.start else "empty_context"
    return unfit_gold(task.gold_text, task.gold, Bounds(rules.min_tokens, rules.max_tokens), ends) or empty


def all_types(vocabulary: Vocabulary) -> Types:
    """Every token type but the special ones."""
    sampled = torch.ones(len(vocabulary), dtype=torch.bool)
    sampled[: len(SPECIAL_TOKENS)] = False
    return Types(sentence_ends(vocabulary), sampled)


def types_of_golds(contexts: Iterable[Context], vocabulary: Vocabulary, rules: Sampling) -> Types:
    """The token types that stand in a gold which can be sampled against: a negative with another would not be read to
    be told from gold."""
    ends, bounds = sentence_ends(vocabulary), Bounds(rules.min_tokens, rules.max_tokens)
    sampled = torch.zeros(len(vocabulary), dtype=torch.bool)
    for context in contexts:
        gold = vocabulary.ids(tokenize(context.gold))
        if unfit_gold(context.gold, gold, bounds, ends) is None:
            sampled[gold] = True
    return Types(ends, sampled)


def make_rows(
    readers: Readers,
    tasks: Iterable[Task],
    rules: Sampling,
    types: Types,
    said: Said,
    *,
    lazy: bool,
    live_rows: int | None = None,
    given_up: dict[int, GivenUp] | None = None,
) -> Iterator[tuple[int, Row | None]]:
    """Yield, for every task and as it is done, its position and its row; None when it gave too few endings: `given_up`
    then gets the counts of its draws.

    With `lazy` the columns of the backward model are left NaN. About `live_rows` endings are worked on together.
    """
    taken: list[Task] = []
    counts: dict[int, GivenUp] = {}

    def prompts() -> Iterator[Prompt]:
        for task in tasks:
            taken.append(task)
            yield Prompt([*task.sent1, *task.start], task.gold, task.rng)

    def noted() -> Iterator[tuple[int, SampledRow | None]]:
        sampled = sample_rows(readers.forward, prompts(), rules, types, said, live_rows=live_rows, given_up=counts)
        for i, row in sampled:
            if row is None and given_up is not None:
                given_up[taken[i].position] = counts.pop(i)
            yield i, row

    if lazy:
        for i, row in noted():
            yield taken[i].position, None if row is None else _row(taken[i], row)
        return
    waiting: dict[int, tuple[Task, SampledRow]] = {}
    exhausted: list[int] = []

    def endings() -> Iterator[Endings]:
        n = 0
        for i, row in noted():
            if row is None:
                exhausted.append(taken[i].position)
            else:
                waiting[n] = taken[i], row
                n += 1
                yield Endings([*taken[i].sent1, *taken[i].start], row.tokens, row.lengths)

    for item, values in backward_features(readers.backward, endings(), live_rows=live_rows):
        task, sampled_row = waiting.pop(item)
        made = _row(task, sampled_row)
        made.features[:, BACKWARD] = values
        yield task.position, made
    yield from ((position, None) for position in exhausted)


def _row(task: Task, row: SampledRow) -> Row:
    return Row(row.tokens, row.lengths, forward_features(row, task.sent1, task.start), row.n_draws, row.rejected)
