"""What the answer of a judge says: which letter, or Yes or No; and a count of the answers that say nothing.

An answer is read where its text begins with one of the names that were asked for, or says that the answer is one of
them; what the model thinks aloud before is no part of it. Where the server gives log-probabilities of that token, their
shares are the answer; else it is the name alone. What cannot be read, or was refused, is counted, and is never right or
wrong: a tie among all names, or, of a text that is asked about alone, no score.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

import numpy as np

from swag_af.data.text.thoughts import without_thoughts
from swag_af.endpoints.contract import Answer

LETTERS = ascii_uppercase
"""The names of options, as many as a question may have."""
YES_NO = ("Yes", "No")


def shares_of(answer: Answer, names: Sequence[str]) -> np.ndarray | None:
    """(len(names),) how far the answer names each, with sum 1; None where it cannot be read."""
    named = None if answer.error else _named(answer, names)
    if named is None:
        return None
    shares = _token_shares(answer, names, named)
    return np.eye(len(names))[named] if shares is None else shares


def words_of(answer: Answer) -> str:
    """What the model says, without what it thinks aloud before."""
    return without_thoughts(next(iter(answer.texts), ""))


def _named(answer: Answer, names: Sequence[str]) -> int | None:
    choice = next(iter(answer.choices), None)
    return named_in(words_of(answer), names, is_cut=choice is not None and choice.end == "length")


def named_in(text: str, names: Sequence[str], *, is_cut: bool = False) -> int | None:
    """Which of `names` a text says, by its number; None where it says none, or more than one.

    It is said at the beginning, alone or before a mark or the end of the line, or behind `answer:` or `the right option
    is`, or as a JSON value: `B`, `(B) because ...`, `**B**`, `The answer is B.`, `Option B`, `{"answer": "B"}`. `A dog`
    and `I'm sorry` say nothing, and neither do `A or B` and a remark on an option, as in `I chose B. Option A is odd.`,
    also before the letter of another, as in `A) is wrong. The answer is B.`, nor a list of options, as in `A: no` and
    then `B: yes`, in whatever order. `A. It fits. B, C and D do not.` is no list and says `A`. Of a text that `is_cut`
    off the beginning counts alone: it might have come to another answer.
    """
    either = "|".join(map(re.escape, names))
    plain = _from_json(text, names)
    folded = re.IGNORECASE if _in_any_case(names) else 0
    named = rf"({either})(?=[\W_]*$|[*_]*(?:[).:,;!\]\"\n]|'(?!\w))|\s+[-–—(]|[*_]+\s)"
    begins = re.match(rf"[\W_]*{named}", plain, folded)
    if begins and _is_list(plain, rf"[\W_]*({either})[*_\"']*([).:\]]|\s+[-–—]|\s*$)", folded):
        return None
    says = rf"\b(?i:answer|option|choice)[*_\"']*(?:\s+(?i:is)\b|\s*:)[\s:*_\"'(]*({either})(?![\w'])"
    whole = re.fullmatch(rf"[\W_]*(?i:answer|option|choice)[\W_]+({either})[\W_]*", plain, folded)
    said = [] if is_cut else [whole] if whole else list(re.finditer(says, plain, folded))
    joins = r"(?:\s*[,;/&]\s*(?:(?i:or|and)\s+)?|\s+(?i:or|and)\s+)"
    another = re.compile(rf"[*_)\"'\]]*{joins}[*_(\"']*(?:{either})(?![\w'])", folded)
    ends = [] if is_cut else re.finditer(rf"[.:\n][\s*_\"'(]*({either})[\W_]*$", plain, folded)
    places = [begins, *(one for one in said if one[0][:6].casefold() == "answer")] if begins else [*said, *ends]
    if any(another.match(plain, place.end(1)) for place in places):
        return None
    found = {place[1] for place in places}
    index = {name.casefold(): i for i, name in enumerate(names)}
    return index[found.pop().casefold()] if len({one.casefold() for one in found}) == 1 else None


def _is_list(text: str, item: str, folded: int) -> bool:
    """Whether the first two lines of a text begin as an `item`, or parts of its only line, with different names and one
    mark behind them. In `B. It fits.` and then `A) is odd.` the marks differ: that is an answer and why."""
    lines = [line for line in text.splitlines() if line.strip()]
    parts = (
        lines if len(lines) > 1 else re.split(rf"(?<=[.;,!?])\s+(?={item})", text, flags=folded)[::3]
    )  # without the groups of `item`
    first, second = (re.match(item, part, folded) for part in [*parts, "", ""][:2])
    if not (first and second):
        return False
    return first[1].casefold() != second[1].casefold() and first[2].strip() == second[2].strip()


def _in_any_case(names: Sequence[str]) -> bool:
    """Whether `names` may be written in small letters or capitals: letters may not, since "a" is an article."""
    return len(names[0]) > 1


def _from_json(text: str, names: Sequence[str]) -> str:
    """What a JSON object has as its answer, by name, else its only string, or the only one that is one of `names`; or
    the text as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, Mapping):
        strings = {str(key).casefold(): one for key, one in value.items() if isinstance(one, str)}
        named = [strings[key] for key in ("answer", "option", "choice") if key in strings]
        alone = [*strings.values()]
        if len(alone) > 1:
            folded = str.casefold if _in_any_case(names) else str
            alone = [one for one in alone if folded(_bare(one)) in map(folded, names)]
        value = named[0] if named else alone[0] if len(alone) == 1 else ""
    return value if isinstance(value, str) else text


def _token_shares(answer: Answer, names: Sequence[str], named: int) -> np.ndarray | None:
    """(len(names),) probabilities of the first token, among `names` alone; None where the server gives none, or the
    first token is not what was read."""
    first = _first_token(answer)
    folded: Callable[[str], str] = str.casefold if _in_any_case(names) else str
    if first is None or folded(_bare(first[0])) != folded(names[named]):
        return None
    found = np.zeros(len(names))
    index = {folded(name): i for i, name in enumerate(names)}
    for token, logprob in first[1]:
        if folded(_bare(token)) in index:
            found[index[folded(_bare(token))]] += math.exp(min(0.0, logprob))
    return found / found.sum() if found.sum() > 0 else None


def _bare(token: str) -> str:
    """A token without the blanks and marks that tokenizers keep with it."""
    return token.strip().strip("().:*\"'ĠĊ▁")


def _first_token(answer: Answer) -> tuple[str, list[tuple[str, float]]] | None:
    """The first token and `(token, log-probability)` of what could have stood there, of either kind of answer."""
    choice = next(iter(answer.body.get("choices") or []), None)
    found = choice.get("logprobs") if isinstance(choice, Mapping) else None
    if not isinstance(found, Mapping):
        return None
    content = found.get("content")
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        return str(content[0].get("token", "")), _pairs(content[0].get("top_logprobs") or [content[0]])
    tokens, tops = found.get("tokens"), found.get("top_logprobs")
    if not (isinstance(tokens, list) and isinstance(tops, list) and tokens and tops and isinstance(tops[0], Mapping)):
        return None
    return str(tokens[0]), _pairs({"token": token, "logprob": value} for token, value in tops[0].items())


def _pairs(tops: Iterable[Any]) -> list[tuple[str, float]]:
    known = [one for one in tops if isinstance(one, Mapping) and isinstance(one.get("logprob"), int | float)]
    return [(str(one.get("token", "")), float(one["logprob"])) for one in known]


@dataclass
class Tally:
    """How the answers of a judge could be read, and which places it prefers."""

    n_read: int = 0
    unreadable: Counter[str] = field(default_factory=Counter)
    """By reason: `unreadable`, or the error that the server gave."""
    n_unscored: int = 0
    """Those among them that leave a text which was asked about alone without a score."""
    places: dict[int, np.ndarray] = field(default_factory=dict)
    """By number of options m: (m,) how often each place was named, shares added up."""

    def read(self, answer: Answer, names: Sequence[str], *, has_places: bool) -> np.ndarray:
        """(len(names),) the shares of an answer, a tie where it cannot be read; counted either way."""
        shares = self._counted(answer, names)
        if shares is None:
            return np.full(len(names), 1 / len(names))
        if has_places:
            self.places[len(names)] = self.places.get(len(names), np.zeros(len(names))) + shares
        return shares

    def of_one(self, answer: Answer, names: Sequence[str]) -> np.ndarray | None:
        """(len(names),) the shares of an answer that scores one text, None where it leaves that without a score."""
        shares = self._counted(answer, names)
        self.n_unscored += shares is None
        return shares

    def _counted(self, answer: Answer, names: Sequence[str]) -> np.ndarray | None:
        shares = shares_of(answer, names)
        if shares is None:
            self.unreadable[answer.error or "unreadable"] += 1
        else:
            self.n_read += 1
        return shares

    def refused(self, answer: Answer) -> bool:
        """Whether there is an error in place of an answer of which no words are read; counted either way."""
        if answer.error:
            self.unreadable[answer.error] += 1
            self.n_unscored += 1
        else:
            self.n_read += 1
        return bool(answer.error)

    @property
    def n(self) -> int:
        """Answers in all."""
        return self.n_read + self.unreadable.total()

    def lines(self, unread: str = "count as ties") -> list[str]:
        """What is to be told: how many answers could not be read, and what becomes of these `unread` ones; how often
        each place was named."""
        lines = []
        if self.unreadable:
            reasons = ", ".join(f"{name} {n:,}" for name, n in sorted(self.unreadable.items()))
            lowest = ", of one text in a run as the lowest score" if self.n_unscored else ""
            n = f"{self.unreadable.total():,} of {self.n:,}"
            lines.append(f"{n} answers could not be read and {unread}{lowest} ({reasons})")
        for m, named in sorted(self.places.items()):
            shares = ", ".join(f"{LETTERS[i]} {100 * share:.1f} %" for i, share in enumerate(named / named.sum()))
            lines.append(f"places named, of {m} options: {shares} (without a preference {100 / m:.1f} % each)")
        return lines
