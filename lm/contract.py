"""What a generator is, in four sentences; `checking` tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `generate` answers every context once: with as many endings as were asked for, or with the reason why not.
    3. The endings of a context are distinct, readable, and none has the words of its gold.
    4. They depend on the context and the seed alone: not on what else is generated, nor in which order.

The third makes them negatives, the fourth lets a killed run go on and many machines share the work. A server that is
asked may answer otherwise the second time: it keeps the fourth as far as its answers are kept.

`swag-af generate` knows these settings, by name, and gives a constructor those that it takes:

    golds        every context of the file: what may be learnt from, but for the fold of the context that is answered
    min_tokens   tokens of the shortest ending, and max_tokens of the longest; golds that are shorter or longer are
                 left out, where the constructor takes the bound
    max_draws    a context is given up after this many times as many draws as endings are asked for
    prompt       a `swag_af.lm.prompting.prompt.Prompt`
    temperature  of sampling, and top_p
    device       `auto`, `cpu` or `cuda`
    endpoint     a `swag_af.endpoints.options.EndpointOptions`
    journal      the path of a file for answers that are paid for; it stays beside the pool
    normalise    whether gold and endings get one surface form afterwards

No generator lives here, and nothing of torch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from swag_af.data.context import Context
from swag_af.data.disk.records import OwnRecord
from swag_af.data.errors import told
from swag_af.data.plugins.own_code import recorded

DRAWN_OUT = "too_few_distinct_endings"
"""The reason of a context that was given up."""
TOO_LONG = "too_long_for_the_model"
"""The reason of a context whose prompt leaves the model no room for endings."""
UNKNOWN = "unknown_word_in_gold"
"""The reason of a context whose gold has a word that the language models do not know: no sample could look like it."""
READ = "read_by_its_model"
"""The reason of a context whose second sentence stands in another fold too, so the model of its fold has learnt it."""


@dataclass(frozen=True, slots=True)
class Generated:
    """What a generator answers for one context."""

    position: int
    """Which of the contexts that it was given, from 0."""
    endings: tuple[str, ...] = ()
    """As many as were asked for, distinct; none where there is a `reason`."""
    reason: str = ""
    """Why there are no endings, in words that can be counted: `too_few_distinct_endings`."""
    n_drawn: int = 0
    """Texts that were made for it and looked at, those left out among them; 0 where nobody counted."""
    rejected: Mapping[str, int] = field(default_factory=dict, hash=False)
    """How many of them were left out, by reason, in words that can be counted (`swag_af.lm.prompting.sieve`)."""


@runtime_checkable
class Generator(Protocol):
    """Something that continues contexts with endings of its own.

    Optional are
        `argument`, the name of the setting that stands in brackets where the generator is named:
            `lstm[path/to/lms]` (`swag_af.data.plugins.registry`);
        `default_prompt`, the name of the prompt of a generator that takes one and is given none;
        `record() -> dict`, JSON that says what makes the endings (model, revision or hashes, parameters, prompt): a
            pool keeps it, and another record in the same folder is refused;
        `forecast(contexts, n_negatives, *, seed) -> list of lines`, what it would take (requests, tokens, money), for a
            generator that `--dry-run` must not try as it does others: it may ask for a few answers that it keeps.
    """

    name: str

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        """An answer for every context, as it is done."""
        ...


def answer_fault(answer: Generated, n_contexts: int, n_negatives: int) -> str:
    """What breaks the second sentence in one answer; empty if nothing does."""
    if fault := _type_fault(answer):
        return fault
    who = f"context {answer.position}"
    if not 0 <= answer.position < n_contexts:
        return f"{who} of {n_contexts} is none"
    if bool(answer.reason) == bool(answer.endings):
        return f"{who} has endings and a reason for none, or neither"
    if answer.endings and len(answer.endings) != n_negatives:
        return f"{who} has {len(answer.endings)} of {n_negatives} endings"
    counts = (answer.n_drawn, *answer.rejected.values())
    if any(not isinstance(n, int) or n < 0 for n in counts):
        return f"{who} counts {list(counts)}, which are no numbers of texts"
    return ""


def _type_fault(answer: object) -> str:
    """What is of a wrong type in an answer that anybody's class gave."""
    if not isinstance(answer, Generated):
        return f"it yields {told(answer)}, a {type(answer).__name__}, and not a swag_af.lm.contract.Generated"
    if not isinstance(answer.position, int):
        return f"it answers for {told(answer.position)}, which is no position of a context"
    endings: object = answer.endings
    if not isinstance(endings, list | tuple) or not all(isinstance(one, str) for one in endings):
        return f"context {answer.position} has the endings {told(endings)}, which are no tuple of texts"
    if not isinstance(answer.reason, str) or not isinstance(answer.rejected, Mapping):
        return f"context {answer.position} has a reason that is no text, or counts that are no mapping"
    return ""


def record_of(generator: Generator) -> dict[str, Any]:
    """What `generator` says of itself, as a pool keeps it; empty where it has no `record`.

    Raises ContractError for what is no JSON object, or what no reader of pools takes: a `model` that is no text.
    """
    record = getattr(generator, "record", None)
    if record is None:
        return {}
    return recorded(record(), f"{type(generator).__name__}: its record()", ADVICE, kind=OwnRecord)


ADVICE = "`check_generator` says more."


_HASHED = ("files", "weights")
"""Where records have the hashes of what a model is made of."""


MEASURED = frozenset({"repeats", "completions", "chat", "echo_logprobs", "prompt_logprobs", "answer_logprobs"})
"""What a server was found to be able to do that decides no request beside `api` and `way`, which records name. Of a
busy server it may be found otherwise the next time."""


def deciding(record: Mapping[str, Any]) -> dict[str, Any]:
    """What of the record of a generator or a scorer decides what it gives: not where a server is asked, for that may
    change as the port of one that was started again, what was `MEASURED` of it, what share of the tokens it does not
    know, nor what a folder is called whose files stand there by their hashes."""
    is_hashed = any(isinstance(record.get(name), Mapping) and record[name] for name in _HASHED)
    places = ("server", "unknown_share", *(("model", "lms") if is_hashed else ()))
    found = {name: value for name, value in record.items() if name not in places}
    if "server" in record and isinstance(able := record.get("abilities"), Mapping):
        found["abilities"] = {name: value for name, value in able.items() if name not in MEASURED}
    return found
