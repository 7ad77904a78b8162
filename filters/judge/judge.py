"""The filter `judge[URL]`: a language model behind an address that nobody trained for the task says which is right.

In a loop it reads every candidate alone, as filters do. As an audit, or as what ends a run, it may read all options of
a question together and name one by its letter (`by=letter`): then no score is that of a candidate alone, and a loop
refuses it. Nothing is fitted, and no gold is ever shown as such.

Letters: `n` rows, `m` candidates a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from swag_af.data.context import phrase
from swag_af.data.disk.cache import cache_folder
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.errors import InputError, check_faults
from swag_af.data.pool.view import View
from swag_af.endpoints.address import base_of, spellings
from swag_af.endpoints.contract import Abilities
from swag_af.endpoints.settings import ServerSettings
from swag_af.filters.judge.answers import LETTERS, Tally
from swag_af.filters.judge.asking import PROMPTS, UNSCORED, Asking, Question, Verdict
from swag_af.filters.judge.orders import has_unseen_orders, orders_of, unseen_orders_of

Way = Literal["auto", "likelihood", "yes", "letter"]


@dataclass(kw_only=True)
class JudgeFilter(ServerSettings):
    """Zero-shot judgements of a language model: how likely an ending is, whether it is right, or which one is."""

    see: Literal["full", "options"] = "full"
    """What is shown: context and candidates, or candidates alone."""
    by: Way = "auto"
    """likelihood: of the ending behind what is shown, a character; yes: the log-odds of Yes when asked whether it is
    right; letter: all candidates of a row are shown together and one is named, for audits alone. auto: likelihood where
    the server reads texts and `api` is not chat, else yes."""
    orders: int = 4
    """Of letter: orders in which the candidates are shown, over which answers are averaged; a multiple of the number of
    candidates evens out a preference for a place exactly, another number on average."""
    seed: int = 0
    """Draws the orders."""
    max_tokens: int = 16
    """The longest answer, in tokens; a model that thinks before it answers needs more."""
    temperature: float = 0
    """0: the likeliest answer; 1 for models that take no other."""

    _tally: Tally = field(default_factory=Tally, init=False, repr=False, compare=False)
    _models: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    """Who was asked since it was last told."""

    name: ClassVar[str] = "judge"
    argument: ClassVar[str] = "url"
    """What stands in the brackets of `judge[...]`."""
    unscored: ClassVar[float] = UNSCORED

    @property
    def reads_rows(self) -> bool:
        """Whether the candidates of a row are read together: such scores can audit, and cannot filter."""
        return self.by == "letter"

    @property
    def inputs(self) -> Literal["ending", "full"]:
        """What it reads, in the words of filters that are fitted."""
        return "ending" if self.see == "options" else "full"

    def settings(self) -> dict[str, Any]:
        """What decides the scores, with a hash of what is said to the model."""
        names = ("url", "model", "api", "see", "by", "orders", "seed", "max_tokens", "temperature")
        return {name: getattr(self, name) for name in names} | {"prompts": sha256_json(dict(PROMPTS))[:12]}

    def answered_by(self) -> dict[str, Any]:
        """The model that answers, as the server calls it, and what it is asked for where `by` is auto."""
        abilities = self.asking().abilities
        return {"model": abilities.model, "by": self.way(abilities)}

    def check(self) -> None:
        """Raise InputError when a setting is out of range, the server is not there, or cannot do what is asked."""
        check_faults(
            [
                (self.orders < 1, f"filter judge: orders={self.orders}, at least 1"),
                (self.max_tokens < 1, f"filter judge: max_tokens={self.max_tokens}, at least 1"),
                (self.temperature < 0, f"filter judge: temperature={self.temperature:g}, 0 or more"),
            ]
        )
        self.asking()

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Nothing is learnt, and no gold read."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) log-likelihoods a character, or log-odds of Yes, `UNSCORED` of a text about which no answer can be
        read; or shares of the answers by letter.

        Equal endings of a row are asked about once. Raises InputError as `check` does.
        """
        if not len(view):
            return np.zeros(view.shape)
        befores = [phrase(context) if self.see == "full" else "" for context in view.contexts]
        distinct = [list(dict.fromkeys(row)) for row in view.texts]
        questions = [Question(before, tuple(row)) for before, row in zip(befores, distinct, strict=True)]
        scores = self.of_questions(questions)
        rows = zip(view.texts, distinct, scores, strict=True)
        return np.array([[float(found[known.index(text)]) for text in row] for row, known, found in rows])

    def of_questions(self, questions: Sequence[Question]) -> list[np.ndarray]:
        """The same scores, (m,) of each question."""
        asking = self._noted()
        by = self.way(asking.abilities)
        if by == "likelihood":
            return asking.likelihoods(questions, self._tally)
        if by == "yes":
            return asking.yes_or_no(questions, self._tally)
        return [mean_shares(verdicts) for verdicts in self.verdicts(questions)]

    def verdicts(
        self,
        questions: Sequence[Question],
        *,
        draw: str = "",
        reason: bool = False,
        n: int | None = None,
        shown: Sequence[str] = (),
    ) -> list[list[Verdict]]:
        """What is said of each question in each of `orders` orders, or `n`; `draw` tells apart orders drawn anew, and
        those that were drawn by `shown`, a draw for each question, are left out.

        Of questions without a choice, a tie. Raises InputError where there are more options than letters, where too few
        orders are left (see `has_unseen`), and where no answer at all can be read.
        """
        most = max((len(one.options) for one in questions), default=0)
        if most > len(LETTERS):
            raise InputError(f"filter judge: by=letter shows {len(LETTERS)} options at most, and there are {most}.")
        n = self.orders if n is None else n
        if shown:
            pairs = zip(questions, shown, strict=True)
            orders = [
                unseen_orders_of(one.options, n, seed=self.seed, draw=draw, shown=was, before=one.before)
                for one, was in pairs
            ]
        else:
            orders = [orders_of(one.options, n, seed=self.seed, draw=draw, before=one.before) for one in questions]
        return self._noted().letters(questions, orders, self._tally, reason=reason)

    def has_unseen(self, question: Question, *, n: int, shown: str) -> bool:
        """Whether there are `n` orders of its options beside those that were drawn by `shown`."""
        return has_unseen_orders(question.options, n, seed=self.seed, shown=shown, before=question.before)

    def way(self, abilities: Abilities) -> Way:
        """`by`, and in place of `auto` what the server is able to do where it is asked: a chat reads no texts."""
        reads = abilities.reads_prompts and self.api != "chat"
        return self.by if self.by != "auto" else "likelihood" if reads else "yes"

    def said(self, unread: str = "count as ties") -> list[str]:
        """What is to be told of the answers since this was last asked: whose they are, those not read, of which
        `unread` says what became, and places preferred."""
        models = [f"the model that answered: {name or 'without a name'}" for name in self._models]
        lines, self._tally, self._models = [*models, *self._tally.lines(unread)], Tally(), []
        return [f"judge[{self.url}]: {line}" for line in lines]

    def asking(self) -> Asking:
        """The server, ready to be asked; raises InputError where it cannot do what is wanted."""
        if self.by == "likelihood" and self.api == "chat":
            raise InputError("filter judge: by=likelihood reads texts, and api=chat asks. Leave out one of the two.")
        asker = self.opened()
        abilities = self.able(lambda found: self.by != "likelihood" or found.reads_prompts)
        if self.by == "likelihood" and not abilities.reads_prompts:
            raise InputError(
                f"{self.url}: gives no log-probabilities of texts that it is sent. Take by=yes, or letter."
            )
        return Asking(asker, abilities, self.asks_chat(abilities), self.max_tokens, self.temperature)

    def default_journal(self) -> Path | None:
        """In the cache, beside those of other servers, so that no question is asked twice: one for every way in which
        the address may be written. One that was named by another way of writing it is gone on with."""
        folder = cache_folder()
        if folder is None:
            return None
        names = dict.fromkeys((base_of(self.url), *spellings(self.url), self.url))
        paths = [folder / "judges" / f"{sha256_json(name)[:16]}.jsonl" for name in names]
        return next((path for path in paths if path.exists()), paths[0])

    def _noted(self) -> Asking:
        """The same as `asking`, with a note of who answers."""
        asking = self.asking()
        if asking.abilities.model not in self._models:
            self._models.append(asking.abilities.model)
        return asking


def mean_shares(verdicts: Sequence[Verdict]) -> np.ndarray:
    """(m,) the shares of each option, averaged over orders; rounded, so that what is equal is a tie."""
    return np.array([verdict.shares for verdict in verdicts]).mean(axis=0).round(12)
