"""Endings of a language model behind an address, as a prompt asks for them.

Every answer is in the journal before it is used, so a run that is killed goes on without asking anything twice, and
what is done again with the same journal gives the same endings. Without it they are the same only if the server is: a
hosted model may change, and few servers keep to a seed when they are busy.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from swag_af.data.context import Context
from swag_af.data.errors import check_faults
from swag_af.data.work.progress import note
from swag_af.endpoints.client import Endpoint
from swag_af.endpoints.contract import FEWEST_REFUSED, Answer, Api, Choice, Request, chosen_api, refuses_all
from swag_af.endpoints.forecast import forecast, forecast_lines, spread
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.contract import DRAWN_OUT, Generated
from swag_af.lm.endpoint.requests import Asking, longest_answer
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.answers import endings_in
from swag_af.lm.prompting.prompt import Prompt, load_prompt
from swag_af.lm.prompting.sieve import FILTERED, MID_WORD, NOTHING, UNFINISHED, Sieve, is_within_word

_DEFAULT = GenerateOptions

BLOCK = 256
"""Contexts that are worked on together; their endings do not depend on it."""
_DRY_CONTEXTS, _DRY_LENGTHS = 8, 10_000


@dataclass
class EndpointGenerator:
    """Asks until every context has its endings. The model is foreign: it may have read the golds in training."""

    url: str
    """The server's address: `http://HOST:PORT`, or what comes before `/chat/completions`."""
    prompt: Prompt | str = "wrong-ending"
    """What it is told: a prompt, the name of one of ours, or a TOML file."""
    temperature: float = 1.0
    top_p: float = 1.0
    min_tokens: int = _DEFAULT.min_tokens
    max_tokens: int = _DEFAULT.max_tokens
    max_draws: int = _DEFAULT.max_draws
    """A context is given up after this many times as many endings as are asked for."""
    normalise: bool = False
    """Whether a pool gives gold and endings one surface form: their lengths and words are those that it will hold."""
    answer_tokens: int | None = None
    """The longest answer, in the model's tokens; more for a model that thinks first. Not given: what endings need."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    journal: Path | None = None
    """The file of the answers; in memory where there is none."""
    _endpoint: Endpoint | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "endpoint"
    argument: ClassVar[str] = "url"
    """What stands in the brackets of `endpoint[...]`."""
    default_prompt: ClassVar[str] = "wrong-ending"

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """An answer for every context, as it is done; raises InputError for settings or a server that cannot be used,
        ExhaustedError when a limit of `endpoint` is reached."""
        endpoint, asking = self._opened(), self._asking(n_negatives)
        refusals, n_before = _Refusals(endpoint.url), endpoint.usage().n_requests
        for first in range(0, len(contexts), BLOCK):
            todo = [
                _Work(position, self._sieve(context, n_negatives, asking.prompt.ends))
                for position, context in enumerate(contexts[first : first + BLOCK], start=first)
            ]
            while todo:
                yield from self._wave(endpoint, asking, todo, refusals, seed)
                todo = [work for work in todo if not work.is_over]
        if (used := endpoint.usage()).n_requests > n_before:
            note(f"{endpoint.url}: {used.told(endpoint.price)} in all")

    def _sieve(self, context: Context, n_negatives: int, ends: str) -> Sieve:
        return Sieve(context, n_negatives, self.min_tokens, self.max_tokens, ends, normalise=self.normalise)

    def record(self) -> dict[str, Any]:
        """The model and the server, what it was found to be able to do, the prompt, and every setting that decides what
        it is asked."""
        endpoint, prompt = self._opened(), self._told()
        abilities = endpoint.abilities()
        names = ("temperature", "top_p", "min_tokens", "max_tokens", "max_draws", "answer_tokens")
        return {
            "model": abilities.model,
            "server": endpoint.url,
            "api": self._api(),
            "abilities": asdict(abilities),
            "foreign": True,
            "may_change": "A server's model may change under the same name; the journal keeps what it answered.",
            "prompt": prompt.record(),
            **{name: getattr(self, name) for name in names},
        }

    def forecast(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> list[str]:
        """What it would take, from a few contexts that are asked about: their answers are kept and count."""
        endpoint, asking = self._opened(), self._asking(n_negatives)
        n_texts = -(-n_negatives // asking.prompt.endings_a_text(n_negatives))

        def first(context: Context) -> Request:
            return next(iter(asking.requests(context, n_negatives, n_texts, seed=seed, draw=0)))

        rejected = Counter[str]()

        def kept_of(answers: Mapping[int, Answer]) -> float:
            return self._kept_share(sampled, answers, asking, n_negatives, rejected)

        sampled = spread(contexts, _DRY_CONTEXTS)
        n_requests = len(list(asking.requests(contexts[0], n_negatives, n_texts, seed=seed, draw=0))) * len(contexts)
        length = fmean(len(str(first(context).body)) for context in spread(contexts, _DRY_LENGTHS))
        found = forecast(endpoint, list(map(first, sampled)), n_requests, length=length, kept_of=kept_of)
        why = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in rejected.most_common())
        in_vain = [f"Warning: nothing of these can be kept ({why})."] if rejected.total() and not found.kept else []
        return [*forecast_lines(found), *in_vain]

    def _kept_share(
        self,
        contexts: Sequence[Context],
        answers: Mapping[int, Answer],
        asking: Asking,
        n_negatives: int,
        rejected: Counter[str],
    ) -> float:
        """The share of the endings in `answers`, one to each of `contexts`, that can be kept; 1 of none. Others are
        counted by reason in `rejected`."""
        n_kept = n_wanted = 0
        for position, context in enumerate(contexts):
            work = _Work(position, self._sieve(context, n_negatives, asking.prompt.ends), {0: answers[position]}, 1)
            work.take(asking, self.max_draws)
            rejected.update(work.sieve.rejected)
            n_kept += len(work.sieve.endings)
            n_wanted += min(work.n_asked, n_negatives)
        return n_kept / n_wanted if n_wanted else 1.0

    def _wave(
        self, endpoint: Endpoint, asking: Asking, todo: Sequence["_Work"], refusals: "_Refusals", seed: int
    ) -> Iterator[Generated]:
        """Ask for what is missing of every context, once; yields those that are done with it."""
        requests = [
            (work, request)
            for work in todo
            for request in asking.requests(
                work.sieve.context, work.sieve.n, work.texts_wanted(asking), seed=seed, draw=work.n_requests
            )
        ]
        for work, _ in requests:
            work.n_requests += 1
        for position, answer in endpoint.ask([request for _, request in requests]):
            work, request = requests[position]
            refusals.note(answer)
            work.answers[request.draw] = answer
            if len(work.answers) == work.n_requests:
                work.take(asking, self.max_draws)
                if work.is_over:
                    yield work.generated()

    def _asking(self, n_negatives: int) -> Asking:
        """How the server is asked, once the settings are known to be good."""
        check_faults(
            [
                (self.temperature < 0, f"generator endpoint: temperature {self.temperature} must not be below 0"),
                (not 0 < self.top_p <= 1, f"generator endpoint: top_p {self.top_p} must be above 0 and not above 1"),
                (self.max_draws < 1, f"generator endpoint: max_draws {self.max_draws} must be at least 1"),
            ]
        )
        prompt = self._told()
        settings = {"temperature": self.temperature} | ({"top_p": self.top_p} if self.top_p != 1 else {})
        tokens = self.answer_tokens or longest_answer(prompt, n_negatives, self.max_tokens)
        return Asking(self._opened().abilities(), prompt, self._api(), settings, tokens)

    def _api(self) -> Api:
        """How it is asked: a prompt that is continued is best continued, and one that asks for a list is told to a
        model that chats."""
        endpoint = self._opened()
        first: Api = "chat" if self._told().way == "list" else "completions"
        return chosen_api(self.endpoint.api, endpoint.abilities(), endpoint.url, first=first)

    def _opened(self) -> Endpoint:
        self._endpoint = self._endpoint or Endpoint(self.url, self.endpoint, journal=self.journal)
        return self._endpoint

    def _told(self) -> Prompt:
        return self.prompt if isinstance(self.prompt, Prompt) else load_prompt(self.prompt)


@dataclass
class _Work:
    """One context, until it has its endings or is given up."""

    position: int
    sieve: Sieve
    answers: dict[int, Answer] = field(default_factory=dict)
    """By the number of their request, over all waves."""
    n_requests: int = 0
    """Those that were made for it so far."""
    n_taken: int = 0
    """Answers that the sieve has seen."""
    n_asked: int = 0
    """Endings that the answers should have had, or had: what is asked next goes by it."""
    reason: str = ""

    @property
    def is_over(self) -> bool:
        return self.sieve.is_full or bool(self.reason)

    def texts_wanted(self, asking: Asking) -> int:
        """Texts that should have what is missing, if as many can be kept as before; an eighth at least."""
        missing = self.sieve.n - len(self.sieve.endings)
        share = max((len(self.sieve.endings) + 1) / (self.n_asked + 1), 1 / 8)
        return -(-round(missing / share) // asking.prompt.endings_a_text(self.sieve.n))

    def take(self, asking: Asking, max_draws: int) -> None:
        """Offer what came to the sieve, in the order in which it was asked for, not that in which it came."""
        for number in range(self.n_taken, self.n_requests):
            answer = self.answers[number]
            for choice in answer.choices:
                self._offer(choice, asking)
            if answer.error and not self.sieve.is_full:
                self.reason = answer.error
                break
        self.n_taken = self.n_requests
        if not self.is_over and self.n_asked >= max_draws * self.sieve.n:
            self.reason = DRAWN_OUT

    def _offer(self, choice: Choice, asking: Asking) -> None:
        reason = _fault(choice, asking, self.sieve.context)
        is_cut = choice.end == "length"
        endings = [] if reason else endings_in(choice.text, asking.prompt, is_cut=is_cut, keeps=self.sieve.keeps)
        self.n_asked += max(len(endings), asking.prompt.endings_a_text(self.sieve.n))
        reason = reason or ("" if endings else UNFINISHED if is_cut else NOTHING)
        if reason:
            self.sieve.leave_out(reason)
        for ending in endings:
            self.sieve.add(ending)

    def generated(self) -> Generated:
        """The answer for this context."""
        counts: dict[str, Any] = {"n_drawn": self.sieve.n_seen, "rejected": dict(self.sieve.rejected)}
        if self.sieve.is_full:
            return Generated(self.position, tuple(self.sieve.endings), **counts)
        return Generated(self.position, reason=self.reason, **counts)


def _fault(choice: Choice, asking: Asking, context: Context) -> str:
    """Why a whole text has no ending, beside what its words say; empty where it may have some."""
    if choice.end == "content_filter":
        return FILTERED
    if asking.prompt.way != "continue":
        return ""
    is_one_line = "\n" not in choice.text.strip()
    if choice.end == "length" and asking.prompt.ends == "text" and is_one_line:
        return UNFINISHED
    has_blanks = asking.api == "completions" and asking.abilities.blanks
    return MID_WORD if has_blanks and is_within_word(asking.prompt.asked(context, 1), choice.text) else ""


class _Refusals:
    """Stops where the server refuses whatever it is asked."""

    def __init__(self, url: str):
        self._url = url
        self._n = Counter[bool]()

    def note(self, answer: Answer) -> None:
        """Count an answer or a refusal; InputError where there were only refusals."""
        self._n[bool(answer.error)] += 1
        if not self._n[False] and self._n[True] >= FEWEST_REFUSED:
            advice = ". Change what it refuses, and take another --out: refusals are kept as answers are."
            raise refuses_all(self._url, answer, advice)
