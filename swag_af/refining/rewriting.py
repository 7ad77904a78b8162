"""Wrong answers written by a language model behind an address, for questions whose right answer stays as it is.

What comes back is read as tolerantly as endings are (`swag_af.lm.prompting.sieve`), and kept where it is distinct,
readable and not the right answer. No rule may hold for wrong answers alone, or breaking it gives the right one away: a
piece of the passage is welcome, and where the right answer reads as a model that declines none is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from swag_af.data.context import Context
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.errors import check_faults
from swag_af.data.instances.instances import Instance
from swag_af.data.plugins.registry import Registry
from swag_af.data.tokens import one_after_another
from swag_af.endpoints.contract import Abilities, Request
from swag_af.endpoints.settings import ServerSettings
from swag_af.lm.prompting.answers import endings_in
from swag_af.lm.prompting.prompt import Prompt
from swag_af.lm.prompting.sieve import Sieve, is_refusal

PROMPTS = {
    "rewrite": "Here is a question, or the beginning of a text, with its right answer and with wrong ones.\n\n"
    "{before}\n\nRight: {gold}\n{wrong}\n\nA reader who was not shown everything could tell which one is right. The "
    "reader said: {reason}\n\nWrite {n} new wrong answers that do not give the right one away: as plausible as it is, "
    "alike in style and length, and surely wrong. Attempt {attempt}.\n\n"
    "Answer with a JSON list of {n} strings, and nothing else.",
    "add": "Here is a question, or the beginning of a text, with its right answer and with wrong ones.\n\n{before}\n\n"
    "Right: {gold}\n{wrong}\n\nWrite {n} more wrong answers: as plausible as the right one, alike in style and length, "
    "surely wrong, and different from those above. Attempt {attempt}.\n\n"
    "Answer with a JSON list of {n} strings, and nothing else.",
}
"""All that is said to a rewriter."""
_LIST = Prompt(task="Wrong answers.", template="", way="list", ends="text")
_LONGEST = 60
"""Tokens that a wrong answer may always have; more where those of the question are longer."""


@dataclass(frozen=True)
class Wanted:
    """Wrong answers that are asked for."""

    of: Instance
    n: int
    attempt: int
    reason: str = ""
    """How a judge could tell which is right; empty where answers are to be added to those that are there."""

    @property
    def gold(self) -> str:
        """The right answer."""
        return self.of.options[self.of.answer]

    @property
    def wrong(self) -> list[str]:
        """The wrong ones that are there."""
        return [option for i, option in enumerate(self.of.options) if i != self.of.answer]

    @property
    def prompt(self) -> str:
        """What is asked."""
        before = one_after_another(self.of.context, self.of.start) or "(nothing comes before it)"
        wrong = "\n".join(f"Wrong: {one}" for one in self.wrong)
        said = {"before": before, "gold": self.gold, "wrong": wrong, "n": self.n, "attempt": self.attempt}
        return PROMPTS["rewrite" if self.reason else "add"].format(**said, reason=self.reason)


@dataclass(kw_only=True)
class Rewriter(ServerSettings):
    """A model that chats, asked for wrong answers."""

    temperature: float = 0.7
    """Above 0, so that another attempt is another answer."""
    max_tokens: int = 600
    """The longest answer, in tokens."""

    name: ClassVar[str] = "endpoint"
    argument: ClassVar[str] = "url"
    """What stands in the brackets of `endpoint[...]`."""

    def check(self) -> None:
        """Raise InputError for settings out of range, and where the server is not there or gives no text."""
        check_faults(
            [
                (self.temperature < 0, f"rewriter: temperature={self.temperature:g}, not below 0"),
                (self.max_tokens < 1, f"rewriter: max_tokens={self.max_tokens}, at least 1"),
            ]
        )
        self.asks_chat(self.able())

    def settings(self) -> dict[str, Any]:
        """What decides what is written, with a hash of what is said to the model."""
        names = ("url", "model", "api", "temperature", "max_tokens")
        return {name: getattr(self, name) for name in names} | {"prompts": sha256_json(PROMPTS)[:12]}

    def write(self, wanted: Sequence[Wanted]) -> list[tuple[str, ...]]:
        """For each the new answers, as many as are wanted, or none where too few could be used."""
        asker, found = self.opened(), [""] * len(wanted)
        able = asker.abilities()
        for position, answer in asker.ask([self._request(one.prompt, able) for one in wanted]):
            found[position] = next(iter(answer.texts), "")
        return [sifted(text, one) for text, one in zip(found, wanted, strict=True)]

    def _request(self, prompt: str, able: Abilities) -> Request:
        body: dict[str, Any] = {"temperature": self.temperature, able.limit: self.max_tokens}
        if self.asks_chat(able):
            return Request("chat/completions", {"messages": [{"role": "user", "content": prompt}], **body})
        return Request("completions", {"prompt": f"{prompt}\n\n", **body})


REWRITERS = Registry("rewriter", {"endpoint": "swag_af.refining.rewriting:Rewriter"}, {"endpoint": "URL"})


def sifted(text: str, wanted: Wanted) -> tuple[str, ...]:
    """The answers in a text that can be used, `wanted.n` of them; none where there are fewer, or where the right answer
    could not be told from what a model says that declines."""
    if is_refusal(wanted.gold):
        return ()
    context = Context(wanted.of.context, wanted.of.start, wanted.gold)
    known = [] if wanted.reason else wanted.wrong
    most = max(_LONGEST, 3 * max(len(option.split()) for option in wanted.of.options))
    sieve = Sieve(context, len(known) + wanted.n, 1, most, "text", list(known), may_echo=True)
    for one in endings_in(text, _LIST, keeps=sieve.keeps):
        sieve.add(one)
    return tuple(sieve.endings[len(known) :]) if sieve.is_full else ()
