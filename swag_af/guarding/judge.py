"""The guard `judge[URL]`: a language model behind an address says whether an ending is as plausible as gold."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from swag_af.data.context import phrase
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.pool.view import View
from swag_af.endpoints.contract import Asker
from swag_af.endpoints.options import EndpointOptions
from swag_af.filters.judge.answers import Tally
from swag_af.filters.judge.asking import Asking
from swag_af.filters.judge.judge import JudgeFilter

PROMPT = (
    "{before}\n\nThis is how it goes on or, where it is a question, the right answer:\n\n{gold}\n\nIs what follows as "
    "plausible in its place, so that a careful person could take it for right too?\n\n{ending}"
)
"""What is asked about an ending; gold is shown as such."""


@dataclass(kw_only=True)
class JudgeGuard:
    """How far the answer is Yes, from 0 to 1, by its log-probabilities where the server gives some.

    An answer that cannot be read counts 0.5, and is told. Answers are kept where those of the filter `judge` are, so
    nothing is asked twice. Gold itself is not asked about.
    """

    url: str
    """Where the server is: http://localhost:8000/v1."""
    options: EndpointOptions = field(default_factory=EndpointOptions)
    """How it is asked."""
    max_tokens: int = 16
    """The longest answer, in tokens; a model that thinks before it answers needs more."""
    asker: Asker | None = field(default=None, repr=False, compare=False)
    """Who answers, where it is not the server at `url`."""

    _tally: Tally = field(default_factory=Tally, init=False, repr=False, compare=False)

    name: ClassVar[str] = "judge"
    argument: ClassVar[str] = "url"
    asks: ClassVar[bool] = True
    threshold: ClassVar[float] = 0.6
    is_share: ClassVar[bool] = True
    excludes: ClassVar[bool] = True
    about: ClassVar[str] = "as plausible as gold, says a model"

    def check(self) -> None:
        """Raise InputError for settings out of range, and where the server is not there or cannot answer."""
        self._asking()

    def settings(self) -> dict[str, Any]:
        """What decides the scores, with a hash of what is said to the model."""
        own = {"url": self.url, "model": self.options.model, "api": self.options.api, "max_tokens": self.max_tokens}
        return own | {"prompt": sha256_json(PROMPT)[:12]}

    def answered_by(self) -> dict[str, str]:
        """The model that answers, as the server calls it: scores by another are none of this guard's."""
        return {"model": self._asking().abilities.model}

    def score(self, view: View) -> np.ndarray:
        """(n, m) shares of Yes; 0 for gold."""
        made = np.zeros(view.shape)
        at, places = np.nonzero(view.columns)
        texts, befores = view.texts, [phrase(context) for context in view.contexts]
        prompts = [
            PROMPT.format(before=befores[i], gold=view.contexts[i].gold, ending=texts[i][k])
            for i, k in zip(at.tolist(), places.tolist(), strict=True)
        ]
        if prompts:
            made[at, places] = self._asking().yes_to(prompts, self._tally)
        return made

    def said(self) -> list[str]:
        """How many answers could not be read, and why, since this was last asked."""
        lines, self._tally = self._tally.lines(unread="count 0.5"), Tally()
        return [f"judge[{self.url}]: {line}" for line in lines]

    def _asking(self) -> Asking:
        known: dict[str, Any] = {one.name: getattr(self.options, one.name) for one in fields(self.options)}
        known |= {"prices": str(self.options.prices or ""), "asker": self.asker}
        judge = JudgeFilter(url=self.url, max_tokens=self.max_tokens, **known)
        judge.check()
        asking, self.asker = judge.asking(), judge.asker
        return asking
