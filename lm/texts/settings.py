"""What a generator is given of what the verb knows: the settings that its constructor takes, and no option in vain."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from swag_af.data.context import Context
from swag_af.data.errors import InputError, check_faults
from swag_af.data.text.scripts import QUESTION_MARKS
from swag_af.data.text.surface import final_mark
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.options import GenerateOptions, LMOptions, TextOptions, flag
from swag_af.lm.prompting.prompt import Prompt, load_prompt
from swag_af.lm.registry import GENERATORS

LSTM = "lstm"
"""The generator that makes ids and features, not texts, in a way of its own (`swag_af.lm.verb`)."""
OF_LSTM = ("lms", "features", "reuse", "shard_rows", "workers", "live_rows", "output_precision", "use_dropped")
"""Options that are for the language models of `train-lm` alone."""
PASSED = ("min_tokens", "max_tokens", "max_draws", "device")
"""Options that are passed as they are."""


def is_text(options: GenerateOptions) -> bool:
    """Whether the endings come as texts; raises InputError for options that the generator has no use for."""
    if GENERATORS.parted(options.generator)[0] != LSTM:
        check_faults([*_in_vain(options), *_twice(options)])
        return True
    given = [name for name, value in _nested(options) if value]
    check_faults([(True, f"--{flag(name)}: not for lstm, which is asked in no words") for name in given])
    return False


def _nested(options: GenerateOptions) -> Iterator[tuple[str, bool]]:
    """Every option of generators of text, and whether it was given."""
    for group, untouched in ((options.text, TextOptions()), (options.endpoint, EndpointOptions())):
        for one in fields(group):
            yield one.name, getattr(group, one.name) != getattr(untouched, one.name)


def _in_vain(options: GenerateOptions) -> list[tuple[bool, str]]:
    """The options that a generator of text does not use, beside those of `lstm`."""
    untouched = GenerateOptions(options.contexts)
    faults = [
        (getattr(options, name) != getattr(untouched, name), f"--{flag(name)}: for lstm alone") for name in OF_LSTM
    ]
    faults.append(
        (options.where.kind not in ("auto", "local"), "--engine: for lstm alone; machines share other work by --shard")
    )
    trained = LMOptions()
    faults += [
        (
            getattr(options.lm, one.name) != getattr(trained, one.name),
            f"--{flag(one.name)}: for lstm alone, so leave it out",
        )
        for one in fields(trained)
    ]
    taken = GENERATORS.settings_taken(options.generator)
    if taken is None:
        return faults
    of_text = {one.name for one in fields(TextOptions)}
    for name, is_given in _nested(options):
        needed = name if name in of_text else "endpoint"
        is_vain = is_given and name != "normalise" and needed not in taken  # pools are normalised in any case
        faults.append((is_vain, f"--{flag(name)}: {options.generator} does not take it"))
    for name in PASSED:
        is_vain = getattr(options, name) != getattr(untouched, name) and name not in taken
        faults.append((is_vain, f"--{flag(name)}: {options.generator} does not take it"))
    return faults


def _twice(options: GenerateOptions) -> list[tuple[bool, str]]:
    """The settings that stand in the generator's brackets and are options, too."""
    untouched = GenerateOptions(options.contexts)
    given = {name for name in PASSED if getattr(options, name) != getattr(untouched, name)}
    given |= {name for name, is_given in _nested(options) if is_given}
    twice = sorted(given & GENERATORS.written(options.generator))
    said = f"stands in {options.generator}, too: give it once"
    return [(True, f"--{flag(name)}: {name} {said}") for name in twice]


def settings_of(options: GenerateOptions, contexts: Sequence[Context], answers: Path) -> dict[str, Any]:
    """The settings of `swag_af.lm.contract` that the generator takes; `contexts` are all of the file."""
    taken = GENERATORS.settings_taken(options.generator)
    text = options.text
    known: dict[str, Any] = {name: getattr(options, name) for name in PASSED}
    known |= {"golds": contexts, "endpoint": options.endpoint, "journal": answers}
    known |= {"temperature": text.temperature, "top_p": text.top_p, "normalise": text.normalise}
    known = {name: value for name, value in known.items() if taken is None or name in taken}
    if taken is None or "prompt" in taken:
        known["prompt"] = prompt_of(options, contexts)
    in_brackets = GENERATORS.in_brackets(options.generator)
    return known | {name: in_brackets[name] for name in in_brackets.keys() & known.keys() - {"prompt"}}


def prompt_of(options: GenerateOptions, contexts: Sequence[Context]) -> Prompt:
    """The prompt that the generator's brackets or the options name, or the one that suits contexts and generator."""
    in_brackets = GENERATORS.in_brackets(options.generator).get("prompt")
    if isinstance(in_brackets, str):
        return load_prompt(in_brackets)
    if options.text.prompt != "auto":
        return load_prompt(options.text.prompt)
    n_questions = sum(not context.start and final_mark(context.sent1) in QUESTION_MARKS for context in contexts)
    if 2 * n_questions > len(contexts):
        return load_prompt("wrong-answer")
    return load_prompt(getattr(GENERATORS.find(options.generator), "default_prompt", "wrong-ending"))


def lms_of(options: GenerateOptions) -> Path:
    """The folder of language models of `lstm`: that in brackets, or --lms; InputError where both are given, or more
    stands in brackets."""
    _, argument = GENERATORS.parted(options.generator)
    check_alone(options.generator, GENERATORS.named(options.generator))
    if argument is None:
        return options.lms
    if options.lms not in (GenerateOptions.lms, Path(argument)):
        raise InputError(f"--lms {options.lms}: --generator {options.generator} names another folder. Give one.")
    return Path(argument)


def check_alone(name: str, named: Iterable[str]) -> None:
    """Raise InputError where settings are `named` in the brackets of `lstm`: its options are the verb's."""
    first = min(named, default="")
    if first:
        raise InputError(f"{name}: {first} is no setting in brackets, where the folder of models stands alone.")
