"""What is typed, as options: each verb is its options dataclass, and `--config FILE.toml` a table of them.

Neither numpy nor tyro is imported until something is parsed.
"""

import contextlib
import difflib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from swag_af.af.options import POLICIES, FilterOptions
from swag_af.auditing.options import AuditOptions, ExplainOptions
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.homes import path_of, paths_from_home
from swag_af.cli.layout import folded_help
from swag_af.cli.options import DemoOptions, ShowOptions
from swag_af.data.captions.options import ContextsOptions
from swag_af.data.display.terminal import is_utf8
from swag_af.data.errors import InputError, near_names
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.describing.options import DescribeOptions
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.endpoints.options import ProbeEndpointOptions
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.guarding.options import GuardOptions
from swag_af.judging.options import AgreementOptions
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.matching.options import MatchOptions
from swag_af.pruning.options import PruneOptions
from swag_af.refining.options import RefineOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions
from swag_af.scoring.options import CountCheckOptions, ScoreOptions
from swag_af.verify.options import BackupOptions, ExportOptions, ImportOptions, InviteOptions, ServeOptions

VERBS: dict[str, tuple[type, str]] = {
    "demo": (DemoOptions, "swag_af.cli.verbs:demo"),
    "contexts": (ContextsOptions, "swag_af.cli.runs.making:contexts"),
    "train-lm": (TrainLMOptions, "swag_af.cli.runs.making:train_lm"),
    "generate": (GenerateOptions, "swag_af.cli.runs.making:generate"),
    "probe-endpoint": (ProbeEndpointOptions, "swag_af.cli.verbs:probe_endpoint"),
    "features": (FeaturesOptions, "swag_af.cli.runs.making:features"),
    "pool": (PoolOptions, "swag_af.cli.runs.making:pool"),
    "match": (MatchOptions, "swag_af.cli.verbs:match"),
    "tag": (TagOptions, "swag_af.cli.runs.making:tag"),
    "train-tagger": (TrainTaggerOptions, "swag_af.cli.runs.making:train_tagger"),
    "filter": (FilterOptions, "swag_af.cli.verbs:filter"),
    "train-nli": (TrainNLIOptions, "swag_af.cli.verbs:train_nli"),
    "guard": (GuardOptions, "swag_af.cli.verbs:guard"),
    "audit": (AuditOptions, "swag_af.cli.verbs:audit"),
    "describe": (DescribeOptions, "swag_af.cli.verbs:describe"),
    "diagnose": (DiagnoseOptions, "swag_af.cli.verbs:diagnose"),
    "prune": (PruneOptions, "swag_af.cli.verbs:prune"),
    "refine": (RefineOptions, "swag_af.cli.verbs:refine"),
    "score": (ScoreOptions, "swag_af.cli.verbs:score"),
    "count-check": (CountCheckOptions, "swag_af.cli.verbs:count_check"),
    "baselines": (BaselinesOptions, "swag_af.cli.verbs:baselines"),
    "explain": (ExplainOptions, "swag_af.cli.verbs:explain"),
    "report": (ReportOptions, "swag_af.cli.verbs:report"),
    "release": (ReleaseOptions, "swag_af.cli.verbs:release"),
    "show": (ShowOptions, "swag_af.cli.verbs:show"),
    "verify serve": (ServeOptions, "swag_af.cli.runs.verifying:verify_serve"),
    "verify invite": (InviteOptions, "swag_af.cli.runs.verifying:verify_invite"),
    "verify backup": (BackupOptions, "swag_af.cli.runs.verifying:verify_backup"),
    "verify export": (ExportOptions, "swag_af.cli.runs.verifying:verify_export"),
    "verify import": (ImportOptions, "swag_af.cli.runs.verifying:verify_import"),
    "verify agreement": (AgreementOptions, "swag_af.cli.runs.verifying:verify_agreement"),
}
"""Each verb's options, and the function that takes them, loaded when the verb runs. A verb is one word or two."""


def parse(arguments: Sequence[str]) -> Any:
    """The options that `arguments` give, an instance of one of the verbs' dataclasses."""
    _check_encoding(arguments)
    verb, rest = _verb_of(arguments)
    words = _with_config(verb, rest)
    made = _parsed(verb, words)
    if verb == "filter":
        _check_policy(made, words)
    return made


def _check_policy(options: FilterOptions, words: Sequence[str]) -> None:
    """Raise InputError where an option stands beside a policy that means another, also where that is the default."""
    typed = {word.partition("=")[0].removeprefix("--") for word in words if word.startswith("--")}
    for name, value in (POLICIES[options.policy] if options.policy else {}).items():
        given = getattr(options.af, name)
        if name in typed and given != value:
            raise InputError(f"--policy {options.policy} means --{name} {value}, not {given}. Give one of the two.")


def _parsed(verb: str, words: Sequence[str]) -> Any:
    """The options that `words` give; InputError for words that are none, or none that go together."""
    import tyro

    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), folded_help(), paths_from_home():
            made: Any = tyro.cli(
                VERBS[verb][0],
                prog=f"swag-af {verb}",
                args=_added_up(verb, words),
                config=(tyro.conf.PositionalRequiredArgs, tyro.conf.OmitArgPrefixes),
            )
    except SystemExit as stopped:
        if not stopped.code:
            raise
        said = _unboxed(errors.getvalue())
        raise InputError(f"{verb}: {said} `swag-af {verb} --help` lists the options.") from None
    return made


def _added_up(verb: str, words: Sequence[str]) -> list[str]:
    """`words`, in which an option of several values that is given again stands once, with all of its values: otherwise
    the last ones alone would count. `--slurm a=1 --limit 9 --slurm b=2` is `--slurm a=1 b=2 --limit 9`."""
    several = _names_of_several(VERBS[verb][0])
    names = [word.partition("=")[0].replace("_", "-") if word.startswith("--") else "" for word in words]
    if all(names.count(name) < 2 for name in several):
        return list(words)
    parts: dict[str, list[str]] = {"": []}
    at = ""
    for i, (word, name) in enumerate(zip(words, names, strict=True)):
        if name in several:
            at, (_, has_value, value) = name, word.partition("=")
            parts.setdefault(at, [name]).extend([value] if has_value else [])
            continue
        at = str(i) if name else at
        parts.setdefault(at, []).append(word)
    return [word for part in parts.values() for word in part]


def _names_of_several(dataclass: type) -> set[str]:
    """The flags of options that take several values."""
    names = set[str]()
    for field in fields(dataclass):
        if isinstance(field.type, type) and is_dataclass(field.type):
            names |= _names_of_several(field.type)
        elif "tuple" in str(field.type) and field.default is not MISSING:
            names.add(f"--{field.name.replace('_', '-')}")
    return names


def _has_own_words(verb: str, rest: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether `rest`, flags first, has what is typed without a flag; `whole` has it from a file before that.

    Where one word is due, the last of a list would be taken for it: then `whole` is tried, in which it is one too many.
    """
    if not rest:
        return False
    required = _required_names(VERBS[verb][0])
    try:
        made = _parsed(verb, rest)
        if any(getattr(made, name) == () for name in required):
            return False
        if any(isinstance(getattr(made, name), tuple) for name in required):
            return True
    except InputError as error:  # any other fault may be mended by what the file adds, or is told of then
        if f"{verb}: Missing from" in str(error):
            return False
    try:
        _parsed(verb, whole)
    except InputError as error:
        return f"{verb}: Unrecognized" in str(error)
    return False


def _check_encoding(arguments: Sequence[str]) -> None:
    """Raise InputError naming the first argument that is not UTF-8: no file that we write could repeat it."""
    for i, argument in enumerate(arguments, start=1):
        if not is_utf8(argument):
            raise InputError(f"argument {i} is not UTF-8: {argument!a}. Rename the file, or type it in UTF-8.")


def group_names() -> list[str]:
    """The first words of the verbs of two words."""
    return list(dict.fromkeys(verb.partition(" ")[0] for verb in VERBS if " " in verb))


def _verb_of(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The verb that `arguments` begin with, and what follows it."""
    n_words = 2 if arguments[0] in group_names() and len(arguments) > 1 else 1
    verb = " ".join(arguments[:n_words])
    if verb in VERBS:
        return verb, list(arguments[n_words:])
    near = [known for known in VERBS if known.endswith(f" {verb}") or known.startswith(verb)]
    near = near or difflib.get_close_matches(verb, VERBS, n=2)
    near = near or difflib.get_close_matches(" ".join(arguments[:2]), VERBS, n=1)  # the first word of two is mistyped
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InputError(f"no verb {verb!r}.{hint} There are {', '.join(VERBS)}; `swag-af --help` says what they do.")


def _unboxed(box: str) -> str:
    """tyro's boxed error message as one sentence: what is wrong, and the nearest option."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", box)
    rows = [row.strip("│ ") for row in plain.splitlines()]
    rows = rows if plain.startswith("╭") else rows[2:]  # in ASCII boxes the title is a part of its own
    parts = re.split("[─-]{3,}", " ".join(row for row in rows if row[:1] not in ("╭", "╰")))
    fault = re.sub(r"^Error parsing [A-Za-z]+: ", "", parts[0].partition(" Got errors:")[0]).strip().rstrip(".")
    fault = re.sub(_UNREAD, lambda found: f"{found[1]} {found[3]}: {_DUE[found[2]]} is due", fault)
    near = re.search(r"Perhaps you meant:\s*(--[\w-]+)", " ".join(parts[1:]))
    return f"{fault}." + (f" Did you mean {near[1]}?" if near else "")


_UNREAD = (
    r"^(?:Error parsing )?(--[\w-]+): (?=no type|invalid literal|could not convert)[^']*?"
    r"(INT|FLOAT|int\(\)|to float)[^']*'(.*)'\]?$"
)
"""What tyro says of a number that is none: flag, what is due, and what was given."""
_DUE = {"INT": "a whole number", "int()": "a whole number", "FLOAT": "a number", "to float": "a number"}


def _with_config(verb: str, arguments: list[str]) -> list[str]:
    """`--config FILE.toml` replaced by the flags it stands for, except those given on the command line.

    What it says of words without a flag, such as files of data, counts where the command line lacks some.
    """
    path, rest = _config_in(arguments)
    if path is None:
        return arguments
    values = _read_toml(path)
    tables = _tables_of(path, values)
    flat = _flatten(path, verb, tables.get(verb, {}) if tables else values, VERBS[verb][0])
    _check_names(path, verb, flat)
    required = _required_names(VERBS[verb][0])
    given = {argument.partition("=")[0].replace("_", "-") for argument in rest if argument.startswith("--")}
    positional, flags = _words_of({name.replace("-", "_"): value for name, value in flat.items()}, required, given)
    own = [*rest, *flags]
    whole = [*(word for name in required for word in positional.get(name, ())), *own]
    if rest and not rest[0].startswith("-"):
        return _with_words(verb, own, positional)
    return own if not positional or _has_own_words(verb, rest, whole) else whole


def _config_in(arguments: Sequence[str]) -> tuple[Path | None, list[str]]:
    """The file that `--config` names, None where it is not there, and all other arguments."""
    places = [i for i, argument in enumerate(arguments) if argument.partition("=")[0] == "--config"]
    if not places:
        return None, list(arguments)
    at = places[0]
    inline = arguments[at].partition("=")[2]
    named = inline or "".join(arguments[at + 1 : at + 2])
    if not named:
        raise InputError("--config: no file given. Name a TOML file after it.")
    if "://" in named:
        raise InputError(f"--config {named}: read from this machine alone. Copy it here, and name the copy.")
    path, rest = path_of(named), [*arguments[:at], *arguments[at + (1 if inline else 2) :]]
    if any(argument.partition("=")[0] == "--config" for argument in rest):
        raise InputError("--config: given twice. Put both into one file.")
    return path, rest


def _words_of(
    flat: Mapping[str, Any], required: Sequence[str], given: set[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """What a file says as it is typed: by option the words without a flag, which are `required`, and the flags with
    their values, but for those that were `given`."""
    positional: dict[str, list[str]] = {}
    flags: list[str] = []
    for name, value in flat.items():
        words = [str(item) for item in value] if isinstance(value, list) else [str(value)]
        flag = name.replace("_", "-")
        if name in required:
            positional[name] = words
        elif not {f"--{flag}", f"--no-{flag}"} & given:
            flags += _flag_words(flag, value, words)
    return positional, flags


def _with_words(verb: str, own: list[str], positional: Mapping[str, list[str]]) -> list[str]:
    """`own` words, which begin with some without a flag, and behind these those that a file has of the options that
    they leave empty."""
    n_typed = next((i for i, word in enumerate(own) if word.startswith("-")), len(own))
    lacking: list[str] = []
    left = n_typed
    for field in fields(VERBS[verb][0]):
        if field.name in _required_names(VERBS[verb][0]):
            lacking += [] if left else positional.get(field.name, [])
            left = 0 if "tuple" in str(field.type) else max(0, left - 1)
    return [*own[:n_typed], *lacking, *own[n_typed:]]


def _flag_words(flag: str, value: Any, words: Sequence[str]) -> list[str]:
    """A flag and its value as they are typed."""
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    if len(words) == 1 and words[0].startswith("-"):
        return [f"--{flag}={words[0]}"]  # alone it would be a flag itself
    return [f"--{flag}", *words]


def _tables_of(path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of `values` that belong to a verb, by verb: `[filter]`, `[train_lm]` or `[train-lm]`, and
    `[verify.serve]` for one of two words; none where the file is of a single verb. InputError for anything that stands
    beside them, which no verb would read."""
    named, groups = {name.replace("_", "-"): value for name, value in values.items()}, set(group_names())
    if len(named) < len(values):
        _check_once(path, [name.replace("_", "-") for name in values])
    found = {name: value for name, value in named.items() if name in VERBS and isinstance(value, dict)}
    for group in groups & set(named):
        inner = named[group] if isinstance(named[group], dict) else {}
        found |= {f"{group} {name.replace('_', '-')}": value for name, value in inner.items()}
    beside = [name for name, value in named.items() if name not in found and name not in groups and value != {}]
    beside += [name for name in found if name not in VERBS]
    if found and beside:
        raise InputError(f"--config {path}: {beside[0]!r} stands beside the tables of verbs, and is none. Move it.")
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    from swag_af.data.disk.files import read_toml

    try:
        return read_toml(path)
    except InputError as error:
        raise InputError(f"--config {error}") from None


def _check_names(path: Path, verb: str, values: Mapping[str, Any]) -> None:
    known = _option_names(VERBS[verb][0])
    for name in values:
        if name.replace("-", "_") not in known:
            raise InputError(
                f"--config {path}: {verb} has no option {name!r}.{near_names(name, known)} `swag-af {verb} --help` "
                "lists the options."
            )


def _option_names(dataclass: type) -> list[str]:
    names = []
    for field in fields(dataclass):
        kind = field.type
        names += _option_names(kind) if isinstance(kind, type) and is_dataclass(kind) else [field.name]
    return names


def _flatten(path: Path, verb: str, values: dict[str, Any], kind: type) -> dict[str, Any]:
    """Nested tables (`[lm]`, `[columns]`) hold options of the same verb, and are called as a part of `kind`; names are
    unique within it. InputError for a table that is none, and for what is said twice."""
    parts = _parts_of(kind)
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        part = parts.get(name.replace("-", "_"))
        if not isinstance(value, dict):
            found.append((name, value))
        elif part is not None:
            found += _flatten(path, verb, value, part).items()
        else:
            raise InputError(
                f"--config {path}: {verb} has no table [{name}].{near_names(name, [*VERBS, *parts])} `swag-af {verb} "
                "--help` lists the options."
            )
    _check_once(path, [name.replace("_", "-") for name, _ in found])
    return dict(found)


def _parts_of(kind: type) -> dict[str, type]:
    """The dataclasses that options of such a dataclass are in, by name, those within others too."""
    found: dict[str, type] = {}
    for field in fields(kind):
        if isinstance(field.type, type) and is_dataclass(field.type):
            found |= {field.name: field.type} | _parts_of(field.type)
    return found


def _check_once(path: Path, names: Sequence[str]) -> None:
    """Raise InputError where something is said twice."""
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise InputError(f"--config {path}: {twice[0]} stands there twice. Leave one of them out.")


def _required_names(dataclass: type) -> list[str]:
    """The options that are words without a flag, in the order in which they are typed."""
    return [field.name for field in fields(dataclass) if field.default is MISSING and field.default_factory is MISSING]
