"""The command line: each verb is its options dataclass and the Python function of the same name.

`swag-af --help` is printed without numpy or tyro, which takes a tenth of a second; neither torch nor spaCy is imported
until a verb runs. Errors that the user can fix are one line and exit code 2.
"""

import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from errno import EDQUOT, EFBIG, EMFILE, ENOSPC
from importlib import import_module
from pathlib import Path
from typing import Any

import swag_af
from swag_af.af.options import FilterOptions
from swag_af.auditing.options import AuditOptions
from swag_af.cli.layout import folded
from swag_af.cli.parsing import VERBS, group_names, parse
from swag_af.cli.saying import say
from swag_af.cli.storing import in_stores
from swag_af.data.disk.replacing import becomes
from swag_af.data.disk.urls import as_told, urls_in
from swag_af.data.display.terminal import folded_for, nowhere, tell, unread, visible
from swag_af.data.errors import InputError, SwagAfError, in_one_line
from swag_af.data.scale import check_engine

HELP_FLAGS = ("--help", "-h", "help")

HELP = """swag-af: Adversarial Filtering for multiple-choice datasets that style alone must not solve.

{verbs}

For example:
  swag-af demo
  swag-af contexts captions.json --out contexts.jsonl
  swag-af generate contexts.jsonl --lms lms --out pool
  swag-af filter pool --iterations 140 --out run
  swag-af release run --out dataset
  swag-af show dataset

`swag-af VERB --help` lists the options of a verb. Every verb also takes --config FILE.toml, a table of its \
options by name; flags given beside it win. `swag-af --version` says which release this is."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one verb; exits with 0, with 2 for an error that the user can fix, with 130 when interrupted, with 70 for
    a bug of ours.

    Where nobody reads what it prints any more, as after `| head -1`, it goes on without a word, to the same end.
    """
    _print_anything()
    try:
        _main(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        _flush()


def _flush() -> None:
    """Print what is left here, where an error can be caught, not when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:  # told where it was printed
        unread(sys.stdout)


def _about(arguments: Sequence[str]) -> str:
    """What is printed where no verb is named: the release, or which verbs there are; empty where one is."""
    if arguments in (["--version"], ["-V"]):
        return f"swag-af {swag_af.__version__}"
    if not arguments or arguments[0] in HELP_FLAGS:
        return help_text()
    if arguments[0] in group_names() and (arguments[1:] or ["--help"])[0] in HELP_FLAGS:
        return group_help_text(arguments[0])
    return ""


def _main(arguments: list[str]) -> None:
    _terminated.clear()
    signal.signal(signal.SIGTERM, _interrupt)
    if "" not in sys.path:
        sys.path.append("")  # classes of the user's in the working directory, behind all that is installed
    try:
        if about := _about(arguments):
            say(about)
            return
        _check_place()
        options = parse(arguments)
        run = _function_of(type(options))
        if (where := getattr(options, "where", None)) is not None and where.is_remote:
            check_engine(where)
        if urls_in(options):
            _check_without_data(options)
        with in_stores(options) as options:
            run(options)
    except SwagAfError as error:
        if _terminated:  # somebody's class, or a library that it loads, made an error of its own of the signal
            _stop_interrupted()
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop_interrupted()
    except OSError as error:  # reported by the system, such as a full disk: not a bug of ours
        where = f"{becomes(Path(os.fsdecode(error.filename)))}: " if isinstance(error.filename, str | bytes) else ""
        which = "" if where and error.errno != EMFILE else _WHICH.get(error.errno or 0, "")
        _stop(
            f"{where}{error.strerror or error}{which}. Mend that and run the same command again{_kept(arguments)}.", 2
        )
    except MemoryError as error:
        _stop(f"not enough memory{f' ({error})' if str(error) else ''}. Ask for less, or use a larger machine.", 2)
    except Exception:
        if _terminated:  # while a library was loaded, which made an error of its own of it
            _stop_interrupted()
        if os.environ.get("SWAG_AF_TRACEBACK") == "1":
            raise
        _stop_for_bug(arguments)


_BEGIN_ANEW = ("count-check", "describe", "explain", "pool", "probe-endpoint", "release", "report", "score", "show")
"""Verbs of one word that keep nothing of what is not whole; those of two words are quick."""


def _kept(arguments: Sequence[str]) -> str:
    """That a verb goes on, where it does; an audit does so in the folder --out."""
    verb, *rest = arguments or [""]
    goes_on = any(word.startswith("--out") for word in rest) if verb == "audit" else verb not in _BEGIN_ANEW
    return ", which goes on from what it keeps" if goes_on and verb in VERBS else ""


_FULL = " on the disk of --out, of the cache or of temporary files"
_WHICH = {
    ENOSPC: _FULL,
    EDQUOT: _FULL,
    EMFILE: ": this process may have no more, which `ulimit -n` raises",
    EFBIG: ": a file would be larger than this process may write, which `ulimit -f` raises, or than its disk takes",
}
"""What the system does not say of an error without a file."""


def _check_place() -> None:
    """Raise InputError where the working folder is gone, which every path is from."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise InputError(
            "the folder that this is run in is gone. Change to another one, or to the same again."
        ) from None


def _print_anything() -> None:
    """Characters that the terminal's encoding lacks are printed as escapes, not refused with a traceback; where a
    stream is closed, as for some services, nothing is."""
    sys.stdout = sys.stdout or nowhere()
    sys.stderr = sys.stderr or nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _stop_for_bug(arguments: Sequence[str]) -> None:
    """End with a line that names a file with the traceback: code 70, or 2 where code of the user's own raised."""
    import tempfile
    import traceback

    from swag_af.data.plugins.own_code import raised_at  # not above: it loads numpy

    error = sys.exception()
    called = f"swag-af {swag_af.__version__}, Python {sys.version.split()[0]}: {' '.join(arguments)}"
    report = f"{called}\n\n{traceback.format_exc()}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="swag-af-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(report)
        kept = file.name
    except OSError:
        kept = ""
    said = in_one_line(error) if error else ""
    fault, shown = f"{type(error).__name__}: {said}", "SWAG_AF_TRACEBACK=1 shows the traceback."
    own = raised_at(error.__traceback__ if error else None)
    if own:
        _stop(f"{own}: {fault}. {f'The traceback is in {kept}; ' if kept else ''}{shown}", 2)
    where = f"Please report it with {kept}, which says where" if kept else "Please report it"
    _stop(f"a bug in swag-af, not a mistake of yours ({fault}). {where}; {shown}", 70)


def help_text() -> str:
    """What `swag-af --help` prints: one line per verb, from its docstring; verbs of two words come last."""
    single = [verb for verb in VERBS if " " not in verb]
    groups = [_verb_lines([verb for verb in VERBS if verb.startswith(f"{group} ")]) for group in group_names()]
    text = HELP.format(verbs="\n\n".join("\n".join(lines) for lines in [_verb_lines(single), *groups]))
    return folded(text)


def group_help_text(group: str) -> str:
    """What `swag-af GROUP` prints: the verbs that begin with that word."""
    lines = _verb_lines([verb for verb in VERBS if verb.startswith(f"{group} ")])
    return "\n".join([f"swag-af {group}:", "", *lines, "", f"`swag-af {group} VERB --help` lists the options of one."])


def _verb_lines(verbs: Sequence[str]) -> list[str]:
    width = max(len(verb) for verb in verbs) + 2
    first_lines = {verb: (VERBS[verb][0].__doc__ or "").splitlines()[0] for verb in verbs}
    return [folded(f"  {verb:<{width}}{line}", hanging=2 + width) for verb, line in first_lines.items()]


def _function_of(dataclass: type) -> Callable[[Any], None]:
    target = next(target for verb, target in VERBS.values() if verb is dataclass)
    module, _, name = target.partition(":")
    function: Callable[[Any], None] = getattr(import_module(module), name)
    return function


def _check_without_data(options: Any) -> None:
    """Raise InputError for what the verb would refuse whatever its addresses hold: to fetch them may take an hour."""
    if isinstance(options, FilterOptions):
        from swag_af.cli.runs.filtering import check_options

        check_options(options)
    if isinstance(options, AuditOptions):
        from swag_af.cli.datasets.auditing import check_names

        check_names(options)


_terminated: list[int] = []
"""The signals that asked this process to end, but for Ctrl-C."""


def _interrupt(number: int, _: object) -> None:
    _terminated.append(number)
    raise KeyboardInterrupt


def _stop_interrupted() -> None:
    _stop("interrupted. What was finished is kept, and nothing is half-written: run the same command again.", 130)


def _stop(message: str, code: int) -> None:
    told = f"swag-af: {visible(as_told(' '.join(message.split())))}"
    tell(folded_for(sys.stderr, told), is_error=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
