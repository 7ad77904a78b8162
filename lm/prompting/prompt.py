"""Prompts are files: a template with examples, in TOML. Three are ours: `PROMPTS`.

    task = "Endings that go on with a context."
    way = "list"              # or "continue"
    ends = "sentence"         # or "text"
    system = "You write ..."
    template = "Context: {{ context }} ..."

    [[examples]]
    sent1 = "A man sits at a piano."
    start = "He"
    gold = "begins to play."
    endings = ["closes the lid.", "eats it."]

Templates are Jinja's; they know `sent1`, `start`, `context` (both in one text), `gold` and `n` (how many endings are
asked for), and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from swag_af.data.context import Context, display, phrase
from swag_af.data.disk.files import check_is_file, read_toml
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.errors import InputError, in_one_line, several, told
from swag_af.data.tokens import one_after_another

PROMPTS = ("continuation", "wrong-ending", "wrong-answer")
"""Ours: continue the text as it is; write a plausible but wrong ending; write a wrong answer to a question."""
IN_A_LIST = 8
"""Endings that are asked for in one text, at most."""


@dataclass(frozen=True)
class Example:
    """One context with endings as the prompt wants them."""

    sent1: str = ""
    start: str = ""
    gold: str = ""
    endings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prompt:
    """How a language model is asked for endings."""

    task: str
    """What it asks for, in a sentence, for records and cards."""
    template: str
    """What is asked about one context."""
    system: str = ""
    """What is said before everything else."""
    way: Literal["continue", "list"] = "continue"
    """continue: every text that comes back begins with one ending; list: it has a JSON list of endings, or a line for
    each."""
    ends: Literal["sentence", "text"] = "sentence"
    """An ending goes on to the end of its sentence, or of its text or line."""
    examples: tuple[Example, ...] = ()
    name: str = field(default="", compare=False)
    """Ours, or the name of the file."""

    @property
    def shows_gold(self) -> bool:
        """Whether the model is shown the right ending, which it is then told to avoid."""
        return "gold" in _compiled(self.template, self.name)[1]

    @cached_property
    def sha256(self) -> str:
        """A hash of all that the model is told."""
        return sha256_json({name: value for name, value in asdict(self).items() if name != "name"})

    def endings_a_text(self, n: int) -> int:
        """How many of `n` endings one text has, if it has what it is asked for."""
        return min(n, IN_A_LIST) if self.way == "list" else 1

    def asked(self, context: Context, n: int) -> str:
        """The template about one context, without `system` and examples."""
        sent1, start = display(context)
        example = Example(sent1, start, context.gold)
        return self._rendered(example, phrase(context), n)

    def messages(self, context: Context, n: int) -> list[dict[str, str]]:
        """For a model that chats: `system`, the examples as turns, and the question."""
        turns = [{"role": "system", "content": self.system}] if self.system else []
        for example in self.examples:
            turns.append({"role": "user", "content": self._of_example(example)})
            turns.append({"role": "assistant", "content": self._answer(example)})
        return [*turns, {"role": "user", "content": self.asked(context, n)}]

    def text(self, context: Context, n: int) -> str:
        """For a model that continues texts: the same, one after another; it is to go on where this ends."""
        parts = [self.system] if self.system else []
        parts += [f"{self._of_example(example)} {self._answer(example)}" for example in self.examples]
        return "\n\n".join([*parts, self.asked(context, n)])

    def record(self) -> dict[str, Any]:
        """What a pool keeps of it: all that was said."""
        return asdict(self) | {"sha256": self.sha256, "shows_gold": self.shows_gold}

    def _of_example(self, example: Example) -> str:
        return self._rendered(example, one_after_another(example.sent1, example.start), len(example.endings))

    def _answer(self, example: Example) -> str:
        return json.dumps(list(example.endings), ensure_ascii=False) if self.way == "list" else example.endings[0]

    def _rendered(self, example: Example, context: str, n: int) -> str:
        known = {"sent1": example.sent1, "start": example.start, "gold": example.gold, "context": context, "n": n}
        template = _compiled(self.template, self.name)[0]
        try:
            rendered = str(template.render(known)).strip()
        except Exception as error:  # a template is a program of the user's
            why = f"{type(error).__name__}: {in_one_line(error)}"
            raise InputError(f"{self.name}: template cannot be filled ({why}). Mend it.") from None
        if not rendered and context.strip():  # of an empty context the generators leave out the row
            raise InputError(f"{self.name}: template is empty where it is filled for {several(n, 'ending')}. Mend it.")
        return rendered


@lru_cache
def _compiled(template: str, name: str) -> tuple[Any, set[str]]:
    """The template, ready to be filled, and the names that it uses; InputError for one that is no template."""
    from jinja2 import StrictUndefined, TemplateError, meta
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        used = meta.find_undeclared_variables(environment.parse(template))
        unknown = used - set(_NAMES)
        if unknown:
            raise InputError(f"{name}: template knows no {', '.join(sorted(unknown))}. There are {', '.join(_NAMES)}.")
        return environment.from_string(template), used
    except TemplateError as error:
        raise InputError(f"{name}: template is not Jinja's ({error}). Mend it.") from None


_NAMES = ("sent1", "start", "context", "gold", "n")


def load_prompt(name: str) -> Prompt:
    """One of `PROMPTS`, or the one in a TOML file; InputError for a file that is none."""
    if name in PROMPTS:
        path = Path(str(files("swag_af.lm.prompting") / f"{name}.toml"))
    else:
        path = Path(name)
        if path.suffix != ".toml" and not path.exists():
            raise InputError(f"--prompt {name}: there are {', '.join(PROMPTS)}, or a TOML file of your own.")
        check_is_file(path)
    prompt = replace(_parsed(read_toml(path), path), name=name if name in PROMPTS else path.name)
    if not _compiled(prompt.template, str(path))[1] & {"sent1", "start", "context", "gold"}:
        raise InputError(
            f"{path}: template names no context, so that all would be asked the same. Write {{{{ context }}}}, or "
            "{{ sent1 }} and {{ start }}, into it."
        )
    return prompt


def _parsed(table: Mapping[str, Any], path: Path) -> Prompt:
    import msgspec

    for name, known in {"way": ("continue", "list"), "ends": ("sentence", "text")}.items():
        if name in table and table[name] not in known:
            raise InputError(f"{path}: {name} is {told(table[name])}. There are {', '.join(known)}.")
    try:
        prompt = msgspec.convert(dict(table), Prompt, strict=True)
    except msgspec.ValidationError as error:
        needed = "" if {"task", "template"} <= table.keys() else "`task` and `template` are needed; "
        raise InputError(f"{path}: {error}. Mend it; {needed}see docs/GENERATORS.md.") from None
    unknown = set(table) - {"task", "template", "system", "way", "ends", "examples"}
    if unknown:
        raise InputError(f"{path}: a prompt has no {told(min(unknown))}. Take it out.")
    for number, example in enumerate(prompt.examples, start=1):
        if not example.endings:
            raise InputError(f"{path}: example {number} has no endings. Give it one or more.")
    return prompt
