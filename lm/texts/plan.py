"""Which contexts are asked about, by which generator, and what a folder was begun with. Nothing is generated here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context, phrase
from swag_af.data.disk.manifests import check_ours, check_same, read_manifest, sha256_file, shortened, write_manifest
from swag_af.data.disk.records import GeneratorRecord
from swag_af.data.disk.replacing import remove_leftovers
from swag_af.data.errors import InputError
from swag_af.data.plugins.own_code import recorded, source_of
from swag_af.data.pool.folder import NO_TAGGER
from swag_af.data.tags import Tagger, load_tagger
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import tokenize_any
from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.surface import is_finished
from swag_af.data.text.wording import comparable
from swag_af.lm.choosing import check_ids, choice_of, named, positions_of
from swag_af.lm.contract import ADVICE, Generator, deciding, record_of
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.prompt import Prompt
from swag_af.lm.prompting.sieve import is_echo, is_refusal
from swag_af.lm.registry import GENERATORS, make_generator
from swag_af.lm.texts.settings import settings_of

JOURNAL = "journal"
"""The folder with the answers, within an unfinished pool."""
DROPPED = "dropped.jsonl"
"""The contexts that are not in the pool, and why."""


@dataclass(frozen=True)
class Job:
    """What is to be made, checked against what stands in its folder; nothing is written yet."""

    options: GenerateOptions
    contexts: list[Context]
    """Those that the options choose, N of them."""
    positions: list[int]
    """Where they stand in the file: what one without an id is called by in the pool."""
    unfit: dict[int, str]
    """Rows that are not asked about, and why."""
    generator: Generator
    tagger: Tagger | None
    plan: dict[str, Any]
    """What decides the pool beside the generator; a resumed run must have the same."""
    record: dict[str, Any]
    """What the generator says of itself, and how it was set up."""


def prepare(options: GenerateOptions) -> Job:
    """Read and check all that can be checked before anything is generated."""
    check_ours("generate", options.out, "answers*.jsonl", JOURNAL)
    every = read_contexts(options.contexts)
    positions = positions_of(every, options)
    contexts = [every[i] for i in positions]
    _check_part(options, len(contexts))
    check_ids(options.contexts, (named(every[i], i).id for i in positions))
    settings = settings_of(options, every, _answers_path(options))
    tagger = None if options.tagger == NO_TAGGER else load_tagger(options.tagger)
    unfit = _unfit(contexts, settings, normalised=options.text.normalise)
    generator = make_generator(options.generator, **settings)
    record = _record(generator, settings, options.generator)
    plan = choice_of(options) | {
        "n_negatives": options.n_negatives,
        "seed": options.seed,
        "tagger": tagger.name if tagger else NO_TAGGER,
        "normalise": options.text.normalise,
        "contexts_sha256": sha256_file(options.contexts),
    }
    plan |= {name: settings[name] for name in ("min_tokens", "max_tokens", "max_draws") if name in settings}
    plan |= {"source_sha256": sha256} if (sha256 := source_of(generator)) else {}  # of somebody's own class
    job = Job(options, contexts, positions, unfit, generator, tagger, plan, record)
    _check_begun(job)
    return job


def begin(job: Job) -> bool:
    """Begin the folder, or find it begun in the same way; whether nothing is left to do."""
    out = job.options.out
    remove_leftovers(out)
    if not (out / "manifest.json").exists():
        write_manifest(out, "pool", {"complete": False, "plan": job.plan, "generator": job.record})
        return False
    return bool(_check_begun(job))


def _check_begun(job: Job) -> bool:
    """Whether the folder is there and complete; InputError where it was begun otherwise."""
    out = job.options.out
    if not (out / "manifest.json").exists():
        return False
    manifest = read_manifest(out, "pool")
    begun = {"generator": manifest.get("generator", {"name": "lstm"}), **manifest.get("plan", {})}
    sources = {"source_sha256": f"generator {job.options.generator}"}
    check_same(_flat(begun), plan_of(job), out, "--out", sources=sources)
    return bool(manifest["complete"])


def plan_of(job: Job) -> dict[str, Any]:
    """All that decides the answers, `generator.prompt.task` and the like, as messages name it."""
    return _flat({"generator": deciding(job.record), **job.plan})


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested tables as one, `generator.prompt.task`; what is long stands as its hash."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[before + name] = shortened(value)
    return flat


def _check_part(options: GenerateOptions, n: int) -> None:
    if options.part is not None and options.part[1] > n:
        raise InputError(f"--shard {options.shard}: there are only {n} contexts. Take a smaller N.")


def _answers_path(options: GenerateOptions) -> Path:
    """Where answers are kept that are paid for: a file for each of the runs that share the work."""
    i, n = options.part or (0, 1)
    return options.out / ("answers.jsonl" if n == 1 else f"answers.{i + 1}-of-{n}.jsonl")


def _record(generator: Generator, settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What makes the endings, as JSON; raises ContractError for a record that is none."""
    with GENERATORS.blaming(name, "record"):
        own = record_of(generator)
    prompt = {"prompt": settings["prompt"].record()} if "prompt" in settings else {}
    base = GENERATORS.parted(name)[0] if own else name
    return recorded({"name": base, **prompt, **own}, f"{name}: its record()", ADVICE, kind=GeneratorRecord)


def _unfit(contexts: Sequence[Context], settings: Mapping[str, Any], *, normalised: bool) -> dict[int, str]:
    """Rows that no ending could go with, and why."""
    shortest, longest = settings.get("min_tokens", 0), settings.get("max_tokens")
    prompt = settings.get("prompt")
    is_asked = isinstance(prompt, Prompt)  # by words, so that its texts go through a sieve
    is_sentence = isinstance(prompt, Prompt) and prompt.ends == "sentence"
    found: dict[int, str] = {}
    for row, context in enumerate(contexts):
        gold = normalise(context.gold) if normalised else context.gold  # as it is shown
        n_tokens, before = len(tokenize_any(gold)), comparable(phrase(context))
        tests = {
            "empty_context": not context.sent1 and not context.start,
            "gold_without_words": not any(map(str.isalnum, comparable(context.gold))),
            "gold_too_short": n_tokens < shortest,
            "gold_too_long": longest is not None and n_tokens > longest,
            "gold_of_several_sentences": is_sentence and len(sentences_of(context.gold)) > 1,
            "gold_unfinished": is_sentence and not is_finished(gold),
            "gold_like_refusal": is_asked and is_refusal(gold),
            "gold_echoes_context": is_asked and is_echo(comparable(gold), n_tokens, before),
        }
        reason = next((reason for reason, is_so in tests.items() if is_so), "")
        if reason:
            found[row] = reason
    return found
