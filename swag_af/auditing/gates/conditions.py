"""One condition of a gate: how it is written, and whether a diagnostic meets it. Reads no files.

    AF101 <= 30%                     the value of every subject of AF101
    AF101[options, tfidf] <= 0.3     of one subject; `*` stands for any characters
    AF101.high <= chance + 5%        another figure, and a bound beside chance
    options-only-solvable > 20%      the name of a code
    AF5* not found                   every code that begins so: hints pass
    AF501 clear                      hints fail too
    AF102 not found if computed      passes where the audit computed no AF102

Comparators are `<=`, `<`, `>=`, `>` and `==`; figures are `value`, which need not be written, `low`, `high`, `effect`,
`n` and `n_groups`. Both sides of a comparison are rounded to six decimals, as audits keep them. A code or a subject
that the audit did not compute fails, and so does a probe that it left out: a gate that passes because nothing was
measured would be no gate.
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from swag_af.auditing.codes.code import codes, find_code
from swag_af.auditing.diagnostics import Diagnostic, LeftOut, Status
from swag_af.data.errors import InputError, near_names
from swag_af.data.numbers.percent import digits_apart, in_percent

Figure = Literal["value", "low", "high", "effect", "n", "n_groups"]
FIGURES: dict[str, Figure] = {name: name for name in get_args(Figure)}
COMPARATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
STATUSES: dict[str, frozenset[Status]] = {"not found": frozenset(("clear", "hint")), "clear": frozenset(("clear",))}
"""What may be asked of a status, and the statuses that meet it."""
IF_COMPUTED = "if computed"
EXAMPLES = "Write for example `AF101 <= 30%`, `AF101.high <= chance + 5%`, `AF501 clear` or `AF5* not found`."


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is asked of a figure."""

    figure: Figure
    comparator: str
    number: float
    """The bound, or what is added to chance; 0.3 for `30%`."""
    is_percentage: bool
    beside_chance: bool
    text: str
    """As written: `<= chance + 5%`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One line of a gate."""

    text: str
    """As written, with single blanks."""
    codes: tuple[str, ...]
    """The codes that it is about; several where it has a `*`."""
    subject: str | None
    """The subjects that it is about, `*` for any characters; all of them when None."""
    asked: Comparison | str
    """A comparison, or a key of `STATUSES`."""
    if_computed: bool
    where: str = ""
    """Its place: `pyproject.toml, line 12`."""

    def is_about(self, diagnostic: Diagnostic | LeftOut) -> bool:
        """Whether the code and the subject of `diagnostic` are among those that are named."""
        return diagnostic.code in self.codes and (self.subject is None or _fits(self.subject, diagnostic.subject))


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether one diagnostic meets one condition."""

    condition: Condition
    diagnostic: Diagnostic | None
    """None for what the condition is about and the audit did not compute."""
    status: Literal["passed", "failed", "skipped"]
    """`skipped`: not computed, and the condition says `if computed`."""
    said: str
    """One sentence with the figures, or two."""
    by_luck: bool = False
    """Whether the interval of the figure holds the bound, so that other instances of this kind might decide it
    otherwise."""


def parse_condition(text: str, where: str = "") -> Condition:
    """The condition that `text` is; raises InputError, with near matches, for what is none."""
    at = f"{where}: " if where else ""
    try:
        return _parsed(" ".join(text.split()), where)
    except InputError as error:
        raise InputError(f"{at}{text!r}: {error}") from None


def meaning(condition: Condition) -> Condition:
    """The condition without how it is written: `90 %` is `90%`, and `0.9`."""
    asked = condition.asked
    if isinstance(asked, Comparison):
        asked = replace(asked, number=round(asked.number, 9), is_percentage=False, text="")
    return replace(condition, text="", where="", asked=asked)


_TARGET = re.compile(r"(?P<codes>[^\s\[\].<>=]+)(?:\[(?P<subject>.+)\])?(?:\.(?P<figure>\w+))? ?(?P<asked>.*)")


def _parsed(text: str, where: str) -> Condition:
    found = _TARGET.fullmatch(text)
    if not found:
        raise InputError(f"not a condition. {EXAMPLES}")
    asked = found["asked"].removesuffix(IF_COMPUTED)
    if_computed, asked = asked != found["asked"], asked.strip()
    figure, is_status = found["figure"], asked in STATUSES
    if is_status and figure:
        raise InputError(f"`{asked}` asks for the status, which is no figure. Leave `.{figure}` out.")
    named = _codes_of(found["codes"])
    return Condition(
        text=text,
        codes=named,
        subject=found["subject"],
        asked=asked if is_status else _comparison(asked, _figure(figure or "value"), named),
        if_computed=if_computed,
        where=where,
    )


def _codes_of(wanted: str) -> tuple[str, ...]:
    """The codes of a number, a name, or a pattern of either."""
    if "*" not in wanted:
        return (find_code(wanted).code,)
    found = tuple(
        code.code for code in codes().values() if _fits(wanted.upper(), code.code) or _fits(wanted.lower(), code.name)
    )
    if not found:
        raise InputError(f"no code is like {wanted}. `swag-af explain` lists them all.")
    return found


def _figure(name: str) -> Figure:
    if name not in FIGURES:
        raise InputError(f"no figure {name!r}.{near_names(name, FIGURES)} There are {', '.join(FIGURES)}.")
    return FIGURES[name]


_COMPARISON = re.compile(r"(?P<comparator><=|>=|==|<|>) ?(?P<bound>[^=].*)")
_NUMBER = r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?) ?(?P<percent>%?)"
_BOUND = re.compile(rf"(?P<chance>chance ?(?P<sign>[+-]) ?)?{_NUMBER}")


def _comparison(text: str, figure: Figure, of: Sequence[str]) -> Comparison:
    """What `text` asks of `figure` of these codes: `<= 30%`."""
    found = _COMPARISON.fullmatch(text)
    if not found:
        hint = near_names(text, [*STATUSES, *COMPARATORS])
        raise InputError(f"{text or 'nothing'!r} asks for nothing.{hint} {EXAMPLES}")
    bound = _BOUND.fullmatch("chance + 0" if found["bound"] == "chance" else found["bound"])
    if not bound:
        raise InputError(f"{found['bound']!r} is no bound. Write a number, `30%`, `chance`, or `chance + 5%`.")
    beside_chance, is_percentage = bool(bound["chance"]), bool(bound["percent"])
    if figure in ("n", "n_groups") and (beside_chance or is_percentage):
        raise InputError(f"{figure} is a number of instances or groups. Compare it with a number.")
    counts = [code for code in of if codes()[code].is_count]
    if counts and is_percentage and figure != "effect":
        raise InputError(f"the value of {counts[0]} is a count, of which a percentage says nothing. Use a number.")
    if figure == "effect" and beside_chance:
        raise InputError("effect is 0 at chance. Compare it with a number or a percentage.")
    number = float(bound["number"]) / (100 if is_percentage else 1) * (-1 if bound["sign"] == "-" else 1)
    asked = Comparison(figure, found["comparator"], number, is_percentage, beside_chance, text)
    if not counts and figure not in ("n", "n_groups") and (fault := _no_share(asked)):
        raise InputError(fault)
    return asked


def _no_share(asked: Comparison) -> str:
    """Why no share can be compared with this bound; empty if one can."""
    is_beyond, number = abs(asked.number) > 1, abs(asked.number)
    if is_beyond and not asked.is_percentage:
        advice = f"Write {number:g}%." if number <= 100 else "Write a smaller one."
        return f"its {asked.figure} is a share, at most 1, and {number:g} is no bound. {advice}"
    if is_beyond and asked.figure != "effect":
        return f"its {asked.figure} is a share, at most 100 %: {100 * number:g}% is no bound. Write a smaller one."
    return ""


def decide_one(condition: Condition, diagnostic: Diagnostic) -> Decision:
    """Whether `diagnostic`, which `condition` is about, meets it."""
    if isinstance(condition.asked, Comparison):
        return _compared(condition, condition.asked, diagnostic)
    passed = diagnostic.status in STATUSES[condition.asked]
    against = "" if passed else f", where the gate asks for `{condition.asked}`"
    said = f"{_called(diagnostic)}: {diagnostic.status}{against}. {diagnostic.said}"
    return Decision(condition, diagnostic, "passed" if passed else "failed", said)


def _compared(condition: Condition, asked: Comparison, diagnostic: Diagnostic) -> Decision:
    figure: float | None = getattr(diagnostic, asked.figure)
    fault = _cannot(asked, figure, diagnostic)
    if fault or figure is None:
        return Decision(condition, diagnostic, "failed", f"{_called(diagnostic)}: {fault}")
    bound = asked.number + ((diagnostic.chance or 0.0) if asked.beside_chance else 0.0)
    passed = COMPARATORS[asked.comparator](round(figure, 6), round(bound, 6))
    low, high = _interval_of(asked.figure, diagnostic)
    by_luck = low is not None and high is not None and low < bound < high
    digits = digits_apart(bound, figure)
    said = f"{_called(diagnostic)}: {_figure_said(asked, figure, low, high, diagnostic, digits)}"
    said += f", which is {'' if passed else 'not '}{_bound_said(asked, bound, diagnostic, digits)}."
    if by_luck:
        said += " The interval holds the bound: other instances of this kind might decide it otherwise."
    return Decision(condition, diagnostic, "passed" if passed else "failed", said, by_luck)


def _cannot(asked: Comparison, figure: float | None, diagnostic: Diagnostic) -> str:
    """Why `asked` can not be asked of this diagnostic; empty if it can."""
    if figure is None:
        return f"it has no {asked.figure}, so a gate cannot ask for it. Compare its value."
    if asked.beside_chance and diagnostic.chance is None:
        return "it has no chance level, so a gate cannot compare with it. Compare with a number."
    is_share = diagnostic.unit in ("accuracy", "share") and asked.figure not in ("n", "n_groups")
    if is_share and (fault := _no_share(asked)):
        return fault
    if asked.is_percentage and asked.figure != "effect" and diagnostic.unit in ("count", "z"):
        kind = "standard score" if diagnostic.unit == "z" else "count"
        return f"its value is a {kind}, of which a percentage says nothing. Compare with a number."
    return ""


def _interval_of(figure: Figure, diagnostic: Diagnostic) -> tuple[float | None, float | None]:
    """The 95 % interval of a figure, where it has one."""
    low, high, chance = diagnostic.low, diagnostic.high, diagnostic.chance
    if figure == "value":
        return low, high
    if figure == "effect" and low is not None and high is not None and chance is not None and chance < 1:
        return (low - chance) / (1 - chance), (high - chance) / (1 - chance)
    return None, None


def _figure_said(
    asked: Comparison, figure: float, low: float | None, high: float | None, diagnostic: Diagnostic, digits: int
) -> str:
    """`34.3 % (95 % interval 31.0 % to 37.6 %)`, behind the name of the figure if it is not the value."""
    name = "" if asked.figure == "value" else f"{asked.figure} "
    said = f"{name}{figure_text(asked.figure, figure, diagnostic, digits)}"
    if low is None or high is None:
        return said
    ends = [figure_text(asked.figure, end, diagnostic) for end in (low, high)]
    return f"{said} (95 % interval {ends[0]} to {ends[1]})"


def _bound_said(asked: Comparison, bound: float, diagnostic: Diagnostic, digits: int) -> str:
    number = f" ({figure_text(asked.figure, bound, diagnostic, digits)})" if asked.beside_chance else ""
    return f"{asked.text}{number}"


def figure_text(figure: Figure, number: float, diagnostic: Diagnostic, digits: int = 1) -> str:
    """A figure of `diagnostic` for people: `34.3 %`, with so many `digits`, `12`, `2.31`."""
    if figure in ("n", "n_groups"):
        return f"{number:z,.0f}"
    if figure == "effect" or diagnostic.unit in ("accuracy", "share"):
        return in_percent(number, digits)
    return f"{number:z,.0f}" if diagnostic.unit == "count" and number == round(number) else f"{number:z,.2f}"


def not_computed(condition: Condition, diagnostics: Sequence[Diagnostic], computed: Sequence[Diagnostic]) -> Decision:
    """The decision on a condition that none of the `computed` ones of all `diagnostics` is what it is about."""
    subjects = sorted({one.subject for one in computed if one.code in condition.codes})
    if any(map(condition.is_about, diagnostics)):
        of = "" if condition.subject is None else f"[{condition.subject}]"
        said = f"{', '.join(condition.codes)}{of}: nothing to look at in this data{_needs(condition.codes)}."
    elif subjects and condition.subject is not None:
        said = f"{', '.join(condition.codes)}: no subject {condition.subject!r}."
        said += f"{near_names(condition.subject, subjects)} There are {'; '.join(subjects)}."
    else:
        said = f"{', '.join(condition.codes)}: not computed for this data{_needs(condition.codes)}."
    if condition.if_computed:
        return Decision(condition, None, "skipped", said)
    return Decision(condition, None, "failed", f"{said} Leave the line out, or end it with `{IF_COMPUTED}`.")


def left_out(condition: Condition, those: Sequence[LeftOut]) -> Decision:
    """The decision on a condition that is about `those`, which the audit left out."""
    named: dict[str, list[str]] = {}
    for one in those:
        named.setdefault(one.why, []).append(f"{one.code}[{one.subject}]")
    said = " ".join(f"{', '.join(which)}: left out. {why.rstrip('.')}." for why, which in named.items())
    if condition.if_computed:
        return Decision(condition, None, "skipped", said)
    is_of_probes = all(one.code.startswith("AF1") for one in those)
    advice = f"{'Or name --filters without it, or end' if is_of_probes else 'End'} the line with `{IF_COMPUTED}`."
    return Decision(condition, None, "failed", f"{said} {advice}")


def _needs(of: Sequence[str]) -> str:
    """What data of ours lacks, where one code is asked for and its record tells."""
    needs = codes()[of[0]].needs if len(of) == 1 else ""
    return f", which would need {needs}" if needs else ""


def _called(diagnostic: Diagnostic) -> str:
    """`AF101 options only solvable [options, tfidf]`."""
    known = codes().get(diagnostic.code)
    return f"{diagnostic.code}{f' {known.title}' if known else ''} [{diagnostic.subject}]"


def _fits(pattern: str, text: str) -> bool:
    """Whether `text` is `pattern`, in which `*` stands for any characters and all else for itself."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
