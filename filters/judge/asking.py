"""What a judge is asked: of one ending alone whether it is right, of a whole question which option is; or nothing but
how likely a text is.

No example is shown, and no answer is asked for twice: requests that are equal are one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swag_af.data.errors import InputError, told
from swag_af.endpoints.contract import FEWEST_REFUSED, Abilities, Answer, Asker, Request, refuses_all
from swag_af.endpoints.likelihood import reading, tokens_of_prompt
from swag_af.filters.judge.answers import LETTERS, YES_NO, Tally, words_of

PROMPTS: Mapping[str, str] = {
    "ending": "{before}\n\nIs this how it goes on or, where it is a question, the right answer?\n\n{ending}",
    "ending alone": "What comes before this text is hidden. Is it the text that really stood there, and not one that "
    "was made to look like it?\n\n{ending}",
    "question": "{before}\n\nWhich of these is how it goes on or, where it is a question, the right answer?"
    "\n\n{options}",
    "options alone": "What comes before these texts is hidden. One of them really stood there; the others were made to "
    "look like it. Which one is it?\n\n{options}",
    "yes or no": "Say Yes or No, and nothing else.",
    "letter": "Say the letter of one of them, and nothing else.",
    "letter and reason": "Say the letter of one of them in the first line. In the second line say in one sentence how "
    "you could tell.",
    "nothing before": "Text:",
}
"""All that is ever said to a judge."""
_TOP = 20
"""How many tokens a server is asked to give log-probabilities of, the most that hosted services allow ..."""
_TOP_OF_COMPLETIONS = 5
"""... and the most that /v1/completions allows."""
UNSCORED = -1e9
"""In place of the score of a text about which there is no answer, or none that can be read: below all others, whatever
else is asked."""
LONGER_WITH_REASON = 10
"""How many times as long an answer with a reason may be."""


@dataclass(frozen=True)
class Question:
    """What is shown to a judge of one row."""

    before: str
    """Context and start; empty where they are hidden."""
    options: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What a judge said of a question in one order of its options."""

    order: np.ndarray
    """(m,) the number of the option in each place."""
    shares: np.ndarray
    """(m,) how far it chose each option, by number; a tie where it could not be read."""
    text: str
    """Its words."""
    readable: bool = True


@dataclass(frozen=True)
class Asking:
    """A server that is asked as it can be asked."""

    asker: Asker
    abilities: Abilities
    chat: bool
    """By /v1/chat/completions."""
    max_tokens: int = 16
    """The longest answer, in tokens; with a reason `LONGER_WITH_REASON` times as many."""
    temperature: float = 0

    def yes_or_no(self, questions: Sequence[Question], tally: Tally) -> list[np.ndarray]:
        """Of each question (m,) log-odds of Yes for each option, asked about alone; `UNSCORED` where no answer can
        be read."""
        asked = [self._of_one(one.before, ending) for one in questions for ending in one.options]
        answers = iter(self._answers(self._request(text, self.max_tokens) for text in asked))
        return [np.array([_log_odds(tally.of_one(next(answers), YES_NO)) for _ in one.options]) for one in questions]

    def yes_to(self, prompts: Sequence[str], tally: Tally) -> np.ndarray:
        """(q,) how far the answer to each of the prompts is Yes and not No, from 0 to 1; 0.5 where none can be read."""
        asked = (self._request(f"{text}\n\n{PROMPTS['yes or no']}", self.max_tokens) for text in prompts)
        return np.array([tally.read(answer, YES_NO, has_places=False)[0] for answer in self._answers(asked)], float)

    def letters(
        self, questions: Sequence[Question], orders: Sequence[np.ndarray], tally: Tally, *, reason: bool = False
    ) -> list[list[Verdict]]:
        """Of each question a verdict for each of its `orders` (n, m), with a `reason` in words or without.

        Raises InputError where of all answers in `tally` none can be read.
        """
        longest = self.max_tokens * (LONGER_WITH_REASON if reason else 1)
        asked = (
            self._request(_of_all(one, order, reason=reason), longest)
            for one, drawn in zip(questions, orders, strict=True)
            for order in drawn
        )
        answers = self._answers(asked)
        one_by_one = iter(answers)
        verdicts = [[_verdict(next(one_by_one), order, tally) for order in drawn] for drawn in orders]
        if tally.n >= FEWEST_REFUSED and not tally.n_read:  # neither ties nor wrong answers: nothing was measured
            raise _reads_none(self.asker.url, answers, tally)
        return verdicts

    def likelihoods(self, questions: Sequence[Question], tally: Tally) -> list[np.ndarray]:
        """Of each question (m,) log-probabilities of each option behind what comes before it, a character;
        `UNSCORED` of one that was refused.

        Divided by the length in UTF-8, so that tokenizers and short options decide nothing, as EleutherAI's harness
        normalises. Raises InputError where the server does not give the log-probability of every token of a text.
        """
        texts = [(one.before or PROMPTS["nothing before"], ending) for one in questions for ending in one.options]
        answers = self._answers(reading(f"{before} {ending}", self.abilities) for before, ending in texts)
        values = iter(
            UNSCORED
            if tally.refused(answer)
            else _sum_behind(answer, len(before), f"{before} {ending}", self.asker.url) / len(f" {ending}".encode())
            for answer, (before, ending) in zip(answers, texts, strict=True)
        )
        return [np.array([next(values) for _ in one.options]) for one in questions]

    def _answers(self, requests: Iterable[Request]) -> list[Answer]:
        """An answer to each request, in order; those that are equal are one. InputError where all are refused."""
        numbered = [(request.key, request) for request in requests]
        distinct = dict(numbered)
        keys = list(distinct)
        answers = {keys[position]: answer for position, answer in self.asker.ask(iter(distinct.values()))}
        refused = [answer for answer in answers.values() if answer.error]
        if len(refused) == len(answers) >= FEWEST_REFUSED:  # as ties they would be chance, and look like a measurement
            advice = ", so nothing is judged. Change what it refuses, and run the same command again."
            raise refuses_all(self.asker.url, refused[0], advice)
        return [answers[key] for key, _ in numbered]

    def _of_one(self, before: str, ending: str) -> str:
        prompt = PROMPTS["ending" if before else "ending alone"]
        return f"{prompt}\n\n{PROMPTS['yes or no']}".format(before=before, ending=ending)

    def _request(self, prompt: str, max_tokens: int) -> Request:
        body: dict[str, Any] = {"temperature": self.temperature, self.abilities.limit: max_tokens}
        if self.chat:
            tops = {"logprobs": True, "top_logprobs": _TOP} if self.abilities.answer_logprobs else {}
            return Request("chat/completions", {"messages": [{"role": "user", "content": prompt}], **body, **tops})
        tops = {"logprobs": _TOP_OF_COMPLETIONS} if self.abilities.answer_logprobs else {}
        return Request("completions", {"prompt": f"{prompt}\n\nAnswer:", **body, **tops})


_SMALLEST = 1e-6
"""Added to shares before they become odds: a plain Yes is log-odds of 13.8."""


def _log_odds(shares: np.ndarray | None) -> float:
    """Of Yes against No, by their `shares` (2,)."""
    if shares is None:
        return UNSCORED
    return float(np.log(shares[0] + _SMALLEST) - np.log(shares[1] + _SMALLEST))


def _of_all(question: Question, order: np.ndarray, *, reason: bool) -> str:
    lines = "\n".join(f"{LETTERS[place]}. {question.options[i]}" for place, i in enumerate(order))
    prompt = PROMPTS["question" if question.before else "options alone"]
    asked = f"{prompt}\n\n{PROMPTS['letter and reason' if reason else 'letter']}"
    return asked.format(before=question.before, options=lines)


def _verdict(answer: Answer, order: np.ndarray, tally: Tally) -> Verdict:
    """The answer, by options and not by places."""
    n_read = tally.n_read
    by_place = tally.read(answer, LETTERS[: len(order)], has_places=True)  # (m,)
    shares = np.empty(len(order))
    shares[order] = by_place
    return Verdict(order, shares, words_of(answer).strip(), tally.n_read > n_read)


def _reads_none(url: str, answers: Sequence[Answer], tally: Tally) -> InputError:
    """The error for a model that never says what it is asked for."""
    said = next((text for answer in answers if (text := words_of(answer).strip())), "")
    example = f"one says {told(said)}" if said else "they say nothing"
    return InputError(
        f"{url}: not one of {tally.n:,} answers names an option ({example}), so nothing is judged. Give a larger "
        "max_tokens where it thinks before it answers, or take another model."
    )


def _sum_behind(answer: Answer, begin: int, text: str, url: str) -> float:
    """The sum of log-probabilities of the tokens of `text` that end behind its character `begin`.

    A token across the border belongs to what comes behind it.
    """
    tokens = tokens_of_prompt(answer.body, text) or []
    nats = [token.nats for token in tokens if token.end > begin]
    if not nats or None in nats:
        why = "it gives none, or not of every token"
        raise InputError(f"{url}: no log-probabilities of a text of {len(text):,} characters ({why}). Take by=yes.")
    return -sum(value for value in nats if value is not None)
