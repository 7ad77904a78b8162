"""Endings sampled from any causal language model of Hugging Face, as a prompt asks for them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from swag_af.data.context import Context
from swag_af.data.errors import InputError, check_faults
from swag_af.data.text.thoughts import without_thoughts
from swag_af.data.tokens import normalise_blanks, token_spans
from swag_af.lm.causal.model import PRECISIONS, Causal, Precision, load_causal
from swag_af.lm.causal.sampling import Sampling, draw, read_prompt
from swag_af.lm.contract import DRAWN_OUT, TOO_LONG, Generated
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.answers import endings_in, first_sentence, is_whole_list
from swag_af.lm.prompting.prompt import IN_A_LIST, Prompt, load_prompt
from swag_af.lm.prompting.sieve import MID_WORD, NOTHING, UNFINISHED, Sieve, is_within_word
from swag_af.lm.seeding import rng_of

_DEFAULT = GenerateOptions

FEWEST = 8
"""Samples of a prompt together at least: reading the weights for one takes nearly as long."""
TOKENS_A_TOKEN = 4
"""The model's tokens to one of ours at most: a sample with more has other faults."""


@dataclass
class CausalGenerator:
    """Samples of a causal model by temperature and top-p; a context's prompt is read once for all of its samples.

    The model is foreign: it may have read the golds when it was trained, and they are never shown to it by us unless
    the prompt names them.
    """

    model: str
    """A folder that holds model and tokenizer, or a name on the Hugging Face hub."""
    prompt: Prompt | str = "continuation"
    """What it is told: a prompt, the name of one of ours, or a TOML file."""
    temperature: float = 1.0
    """Logits are divided by it: below 1 for likelier endings, above for stranger ones."""
    top_p: float = 1.0
    """Tokens are drawn from the likeliest that together have this probability."""
    at_once: int = 32
    """Samples of a context that are drawn together at most."""
    min_tokens: int = _DEFAULT.min_tokens
    max_tokens: int = _DEFAULT.max_tokens
    max_draws: int = _DEFAULT.max_draws
    normalise: bool = False
    """Whether a pool gives gold and endings one surface form: their lengths and words are those that it will hold."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    precision: Precision = "auto"
    """float32, bfloat16, or `auto`: bfloat16 on a GPU."""
    _causal: Causal | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "hf"
    argument: ClassVar[str] = "model"
    """What stands in the brackets of `hf[...]`."""
    default_prompt: ClassVar[str] = "continuation"

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """An answer for every context, in order; raises InputError for settings or a model that cannot be used."""
        causal, prompt = self._loaded(), self._told()
        for position, context in enumerate(contexts):
            yield self._answer(causal, prompt, position, context, n_negatives, seed)

    def record(self) -> dict[str, Any]:
        """The model and the hashes of its files, the prompt, and every setting that decides endings."""
        names = ("temperature", "top_p", "at_once", "min_tokens", "max_tokens", "max_draws")
        settings = {name: getattr(self, name) for name in names}
        return {**self._loaded().record(), "foreign": True, "prompt": self._told().record(), **settings}

    def _answer(
        self, causal: Causal, prompt: Prompt, position: int, context: Context, n_negatives: int, seed: int
    ) -> Generated:
        ids = prompt_ids(causal, prompt, context, min(n_negatives, IN_A_LIST))
        most = min(self._most_tokens(prompt, n_negatives), causal.limit - 1 - len(ids))
        if most < self.max_tokens or not ids:
            return Generated(position, reason=TOO_LONG if ids else "empty_context")
        sieve = Sieve(context, n_negatives, self.min_tokens, self.max_tokens, prompt.ends, normalise=self.normalise)
        text = Continuation(causal, ids[-1])
        read, rng, rules = read_prompt(causal, ids), rng_of(context, seed), Sampling(self.temperature, self.top_p)
        is_over, n_samples = stopping(text, prompt, self.max_tokens), 0
        while not sieve.is_full and n_samples < self.max_draws * n_negatives:
            missing = n_negatives - len(sieve.endings)
            n = min(self.at_once, self.max_draws * n_negatives - n_samples, max(FEWEST, 2 * missing))
            for drawn in draw(causal, read, rng.random((n, most)), rules, is_over):
                text.put_into(sieve, drawn, prompt, is_cut=not is_over(drawn))
            n_samples += n
        endings, reason = (tuple(sieve.endings), "") if sieve.is_full else ((), DRAWN_OUT)
        return Generated(position, endings, reason, sieve.n_seen, dict(sieve.rejected))

    def _most_tokens(self, prompt: Prompt, n_negatives: int) -> int:
        """The model's tokens of a sample at most."""
        return TOKENS_A_TOKEN * self.max_tokens * prompt.endings_a_text(n_negatives)

    def _told(self) -> Prompt:
        return self.prompt if isinstance(self.prompt, Prompt) else load_prompt(self.prompt)

    def _loaded(self) -> Causal:
        """The model, once the settings are known to be good."""
        precisions = ", ".join(PRECISIONS)
        check_faults(
            [
                (self.temperature <= 0, f"generator hf: temperature {self.temperature} must be above 0"),
                (not 0 < self.top_p <= 1, f"generator hf: top_p {self.top_p} must be above 0 and not above 1"),
                (self.at_once < 1, f"generator hf: at_once {self.at_once} must be at least 1"),
                (self.precision not in PRECISIONS, f"generator hf: precision {self.precision} is none of {precisions}"),
            ]
        )
        self._causal = self._causal or load_causal(self.model, device=self.device, precision=self.precision)
        return self._causal


def prompt_ids(causal: Causal, prompt: Prompt, context: Context, n: int) -> list[int]:
    """What the model is told about one context; a model that chats is asked for lists as it was taught to be asked."""
    if prompt.way == "continue" or not causal.tokenizer.chat_template:
        return causal.ids(prompt.text(context, n))
    ids = causal.ids(_in_its_template(causal, prompt.messages(context, n)))
    return ids[1:] if ids[:1] == [causal.begin] else ids


def _in_its_template(causal: Causal, messages: Sequence[Mapping[str, str]]) -> str:
    """The turns as the model was taught to be asked; where its template knows no system, that stands before the first
    turn."""
    from jinja2 import TemplateError

    fill = partial(causal.tokenizer.apply_chat_template, tokenize=False, add_generation_prompt=True)
    first, *others = messages
    ways = [messages]
    if first["role"] == "system" and others:
        ways.append([{**others[0], "content": f"{first['content']}\n\n{others[0]['content']}"}, *others[1:]])
    for way in ways:
        try:
            return str(fill(way))
        except TemplateError as error:
            said = error
    raise InputError(f"{causal.model}: its chat template refuses the prompt ({said}). Take --prompt continuation.")


@dataclass(frozen=True)
class Continuation:
    """Samples as text. The last token of the prompt is decoded with them: some tokenizers write the blank before a word
    only in the middle of a text."""

    causal: Causal
    last: int

    def text(self, ids: Sequence[int]) -> str:
        """What a sample adds to the prompt."""
        return self._decoded([self.last, *ids])[len(self._decoded([self.last])) :]

    def put_into(self, sieve: Sieve, ids: Sequence[int], prompt: Prompt, *, is_cut: bool) -> None:
        """Offer the endings of a sample to `sieve`; `is_cut` where the model might have gone on."""
        text = self.text(ids)
        if prompt.way == "continue" and is_within_word(self._decoded([self.last]), text):
            sieve.leave_out(MID_WORD)
            return
        is_half = is_cut and prompt.way == "continue" and prompt.ends == "text"
        endings = [] if is_half else endings_in(text, prompt, is_cut=is_cut, keeps=sieve.keeps)
        if not endings:
            sieve.leave_out(UNFINISHED if is_cut else NOTHING)
        for ending in endings:
            sieve.add(ending)

    def _decoded(self, ids: Sequence[int]) -> str:
        decoded: str = self.causal.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return decoded


def stopping(text: Continuation, prompt: Prompt, max_tokens: int) -> Callable[[Sequence[int]], bool]:
    """A function that says of the ids of a sample whether nothing after them can matter.

    A sentence is over when another has begun: only then is a full stop known to be no abbreviation or fraction.
    """

    def is_over(ids: Sequence[int]) -> bool:
        if ids[-1] in text.causal.ends:
            return True
        made = text.text(ids).lstrip()
        if prompt.way == "list":
            return is_whole_list(without_thoughts(made))
        plain = normalise_blanks(made)
        is_another = prompt.ends == "sentence" and first_sentence(plain) != plain
        return "\n" in made or is_another or len(token_spans(plain)) > max_tokens

    return is_over
