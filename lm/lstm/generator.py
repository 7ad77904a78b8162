"""The paper's generator: endings sampled by the language model of a fold that has not read the context."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from swag_af.data.context import Context
from swag_af.data.folds import FoldMap
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.contract import DRAWN_OUT, READ, Generated
from swag_af.lm.lstm.candidates import (
    Readers,
    Row,
    Task,
    all_types,
    load_readers,
    make_rows,
    task_of,
    types_of_golds,
    unfit_reason,
)
from swag_af.lm.lstm.checkpoints import open_vocabulary
from swag_af.lm.lstm.sampling import GivenUp, Sampling, Types
from swag_af.lm.lstm.wording import Wording
from swag_af.lm.options import GenerateOptions, Precision
from swag_af.nn.device import pick_device

_DEFAULT = GenerateOptions


@dataclass
class LSTMGenerator:
    """Samples from the full softmax at temperature 1 (Zellers et al. 2018, 3.3); see `sampling`."""

    lms: Path | str
    """The folder of `swag-af train-lm`; the folds of what is generated must be trained."""
    golds: Sequence[Context] = field(default=(), repr=False)
    """Contexts whose golds say which token types may be sampled, all of a dataset's: a negative with another type
    would not need reading to be told from gold. Not given: any type may be."""
    min_tokens: int = _DEFAULT.min_tokens
    max_tokens: int = _DEFAULT.max_tokens
    max_draws: int = _DEFAULT.max_draws
    live_rows: int | None = None
    device: str = "auto"
    output_precision: Literal["auto", "fp32", "bf16"] = "auto"
    _readers: dict[int, Readers] = field(default_factory=dict, init=False, repr=False)

    name: ClassVar[str] = "lstm"
    argument: ClassVar[str] = "lms"

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """As text; where features and ids are needed too, `rows`."""
        for position, made in self.rows(contexts, n_negatives, seed=seed, lazy=True):
            if isinstance(made, str):
                yield Generated(position, reason=made)
            else:
                ids = [tokens[:n].tolist() for tokens, n in zip(made.tokens, made.lengths, strict=True)]
                yield Generated(position, tuple(map(self.vocabulary.text, ids[1:])))

    def rows(
        self,
        contexts: Sequence[Context],
        n_negatives: int,
        *,
        seed: int,
        lazy: bool = False,
        given_up: dict[int, GivenUp] | None = None,
    ) -> Iterator[tuple[int, Row | str]]:
        """Yield, for every context, its position and its row, gold first, or the reason why there is none.

        Reasons that can be given without sampling come first; of others `given_up` gets the counts of draws. With
        `lazy`, the features of the backward model are NaN.
        """
        read = {position for position, context in enumerate(contexts) if self._folds.has_read(context)}
        yield from ((position, READ) for position in sorted(read))
        unread = [(position, context) for position, context in enumerate(contexts) if position not in read]
        yield from self.unread_rows(unread, n_negatives, seed=seed, lazy=lazy, given_up=given_up)

    def unread_rows(
        self,
        contexts: Iterable[tuple[int, Context]],
        n_negatives: int,
        *,
        seed: int,
        lazy: bool = False,
        given_up: dict[int, GivenUp] | None = None,
    ) -> Iterator[tuple[int, Row | str]]:
        """What `rows` yields for contexts, each with its position, of which is known that the models of their folds
        have not learnt the endings: what models have read is not looked up."""
        rules = Sampling(n_negatives, self.min_tokens, self.max_tokens, self.max_draws)
        types, said = self.types, self._wording
        todo: dict[int, list[Task]] = {}
        for position, context in contexts:
            task = task_of(context, position, self.vocabulary, seed)
            reason = unfit_reason(task, rules, types.ends)
            if reason is None:
                todo.setdefault(context.fold, []).append(task)
            else:
                yield position, reason
        for fold, tasks in sorted(todo.items()):
            readers = self._readers_of(fold)
            made = make_rows(readers, tasks, rules, types, said, lazy=lazy, live_rows=self.live_rows, given_up=given_up)
            for position, row in made:
                yield position, DRAWN_OUT if row is None else row

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The token types of the models."""
        return open_vocabulary(Path(self.lms))

    @property
    def precision(self) -> Precision:
        """Of the product with the vocabulary, made definite."""
        is_fast = self.output_precision == "auto" and pick_device(self.device).type == "cuda"
        return "bf16" if is_fast or self.output_precision == "bf16" else "fp32"

    @cached_property
    def types(self) -> Types:
        """The token types that may be sampled."""
        if not self.golds:
            return all_types(self.vocabulary)
        rules = Sampling(1, self.min_tokens, self.max_tokens, self.max_draws)
        return types_of_golds(self.golds, self.vocabulary, rules)

    @cached_property
    def _wording(self) -> Wording:
        return Wording(self.vocabulary)

    @cached_property
    def _folds(self) -> FoldMap:
        return FoldMap.load(Path(self.lms))

    def _readers_of(self, fold: int) -> Readers:
        """Those of the fold at hand alone are kept: five together would take most of a gigabyte."""
        if fold not in self._readers:
            self._readers.clear()
            device = pick_device(self.device).type
            self._readers[fold] = load_readers(Path(self.lms), fold, device=device, precision=self.precision)
        return self._readers[fold]
