"""How often rules of item writing are right on these data. Codes AF401 to AF411; choices only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.single import flaws
from swag_af.auditing.single.rules import Tried, choose, diagnostics_of
from swag_af.auditing.single.tables import Seen
from swag_af.data.errors import InputError, near_names, several
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances

PRECISE = 0.7
"""The precision from which a rule is found rather than hinted at."""


@dataclass(frozen=True)
class Rule:
    """A rule that marks options, and what people say of those."""

    code: str
    claim: Literal["right", "wrong"]
    """Whether the marked options are said to be right or wrong."""
    options: str
    """What the marked options are, in words."""
    marks: Callable[[Seen], np.ndarray]
    """(M,)"""
    in_english: bool = False
    """Whether it goes by words or tags of English."""


RULES: dict[str, Rule] = {
    "all of the above": Rule("AF401", "right", "“all of the above”", flaws.all_of_the_above, in_english=True),
    "none of the above": Rule("AF402", "wrong", "“none of the above”", flaws.none_of_the_above, in_english=True),
    "negation": Rule(
        "AF403", "right", "the option least like the others of a negated question", flaws.exception, in_english=True
    ),
    "absolute terms": Rule("AF404", "wrong", "options with absolute terms", flaws.absolute_terms, in_english=True),
    "hedges": Rule("AF405", "right", "options with hedges", flaws.hedges, in_english=True),
    "article": Rule(
        "AF406", "wrong", "options that the article before them does not fit", flaws.unfit_article, in_english=True
    ),
    "repeated words": Rule(
        "AF407", "right", "the only option that repeats the question", flaws.repeated_words, in_english=True
    ),
    "detail": Rule("AF408", "right", "the option that is by far the longest", flaws.detail),
    "contained": Rule("AF409", "wrong", "options that contain another, or are contained in one", flaws.contained),
    "out of order": Rule("AF410", "right", "the number that is out of order", flaws.out_of_order),
    "extremes": Rule("AF411", "wrong", "the smallest and the largest number", flaws.extremes),
}
"""The rules by name, which is the subject of their diagnostics."""


def writing_diagnostics(
    instances: Instances, groups: Groups, *, rules: Sequence[str] = tuple(RULES), seen: Seen | None = None
) -> list[Diagnostic]:
    """The measured precision of each of `rules`; none of classes.

    Precision: how often a marked option is right, or wrong where the rule says so, among the questions in which the
    rule marks some options and not all. `found` from PRECISE on, if that is more than luck; what is more or less than
    luck otherwise is a hint. A rule that applies nowhere has the value 0 and no interval. Raises InputError for a name
    that is no rule. `seen` are tables of the texts that were made already.
    """
    unknown = [name for name in rules if name not in RULES]
    if unknown:
        raise InputError(f"{unknown[0]}: no such rule.{near_names(unknown[0], RULES)} There are {', '.join(RULES)}.")
    if instances.kind == "classes":
        return []
    seen = seen or Seen(instances.texts)
    return diagnostics_of([tried(name, seen, instances) for name in rules], instances, groups)


def tried(name: str, seen: Seen, instances: Instances) -> Tried:
    """One of `RULES`, tried on the questions to which it applies."""
    rule = RULES[name]
    marked = rule.marks(seen)
    chosen = choose(rule.code, name, marked.astype(float), instances)
    rows = np.flatnonzero(chosen.variances > 0)  # some options are marked, and not all
    sign = 1 if rule.claim == "right" else -1
    hits, chance = chosen.hits[rows], chosen.chance[rows]
    return replace(
        chosen,
        said=_said(rule, len(rows)),
        rows=rows,
        hits=hits if sign > 0 else 1 - hits,
        chance=chance if sign > 0 else 1 - chance,
        residuals=sign * chosen.residuals[rows],
        variances=chosen.variances[rows],
        margins=chosen.margins[rows],
        found_from=PRECISE,
    )


def _said(rule: Rule, n: int) -> str:
    if not n:
        return f"{rule.options[0].upper()}{rule.options[1:]}: no question has any, so the rule does not apply."
    return (
        f"{rule.options[0].upper()}{rule.options[1:]}: {rule.claim} in {{value}} of {several(n, 'question')} that "
        f"{'has' if n == 1 else 'have'} any ({{low}} to {{high}}; chance {{chance}})."
    )
