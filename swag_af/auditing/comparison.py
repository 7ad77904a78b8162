"""Before and after a repair, beside a control: as many rows removed at random.

Whoever removes rows, or changes distractors, wants to know what became of each artifact, and whether there is a new
one. A smaller set has other values by itself: models are fitted on less, and which rows stay is luck. So the older set
is cut at random to the size of the newer one, several times, and audited in the same way. What lies outside the
prediction interval of those draws, the repair did; where several checks could be told of, of an interval that all of
one more draw would fall into 19 times in 20. Rows of one group are alike, so where whole groups went, whole groups are
drawn (`drawn_groups`). Where chance is another one, as of fewer options, it is no doing of the artifact: then it is
distances that are compared, of each set and each draw from its own chance.

GoldenSwag is why there is a control: of HellaSwag's questions it kept those with short right options (docs/AUDIT.md),
and made "the shortest option" an artifact. A table of what the repair aimed at would not show it.

Where no row was removed, random removal says nothing: then the same instances are paired, before and after (probes,
which keep their hits), or the intervals decide where they do not overlap; of a hundred values that a repair left alone,
five differ there by luck.
"""

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from swag_af.auditing.balance import equally
from swag_af.auditing.classes import ClassCount, class_counts, classes_lines
from swag_af.auditing.diagnostics import Balanced, Diagnostic, Status, Unit, balanced_form, mirrored
from swag_af.auditing.options import FEWEST_DRAWS
from swag_af.auditing.outcome import Audit, Probe, chance_of, over_seeds
from swag_af.auditing.runs.summary import Rows
from swag_af.auditing.verdict import EQUALLY, PARTIAL, SPLIT, figure, span
from swag_af.data.disk.files import read_json
from swag_af.data.disk.records import Count, parse_record
from swag_af.data.errors import InputError, several
from swag_af.data.instances.grouping import text_order
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.rows import has_own_ids
from swag_af.data.numbers.interval import Difference, paired_difference, t_quantile
from swag_af.data.numbers.percent import in_points
from swag_af.data.splits import numbered_as_met
from swag_af.data.text.wording import text_key
from swag_af.data.work.progress import Advance

COMPARISON = "comparison.json"
DIFFERENCE = "AF107"
"""The code whose share is a difference of two, and so may be below 0."""
Outcome = Literal["nearer", "further", "same", "untold"]
"""`nearer` to the value that would be no finding than the control (or the value before), `further` from it, `same`: no
difference can be told, `untold`: nothing to judge it by."""


@dataclass(frozen=True, slots=True)
class Side:
    """A check on one side of the repair."""

    value: float
    low: float | None
    high: float | None
    status: Status
    avoiding: float | None = None
    """How often the option is right that a probe below chance finds least likely."""


@dataclass(frozen=True, slots=True)
class Control:
    """The same check on as many rows drawn at random from the older set."""

    values: tuple[float, ...]
    """One for each draw; where chance is another one, the value as far from that of the newer set as it was from its
    own."""
    mean: float
    low: float
    """The 95 % prediction interval of one more draw begins here ..."""
    high: float
    """... and ends here."""


@dataclass(frozen=True, slots=True)
class Change:
    """A check before and after."""

    code: str
    subject: str
    unit: Unit
    chance: float | None
    """That of the newer set."""
    before: Side
    after: Side
    control: Control | None
    """None where no row was removed, or a draw lacked the check."""
    difference: Difference | None
    """After less before, paired over the instances that both have; of probes, where there is no control. Where chance
    is another one, how far they are from theirs."""
    outcome: Outcome
    chance_before: float | None = None
    """That of the older set, where it is another one; else None."""
    balanced: bool = False
    """Whether its figures are those with each class weighed equally."""

    @property
    def called(self) -> str:
        """Code and subject, and how classes are weighed: `AF201 characters, each class weighed equally`."""
        return f"{self.code} {self.subject}{EQUALLY if self.balanced else ''}"

    @property
    def was_found(self) -> bool:
        """Whether there was a finding, before or after."""
        return "found" in (self.before.status, self.after.status)

    @property
    def is_turned(self) -> bool:
        """Whether what was above chance is surely below it after, or the other way round. What is further from chance
        than before was surely on the other side, or it is stronger or new."""
        if self.outcome not in ("nearer", "further") or self.chance is None or self.after.status != "found":
            return False
        old, chance = self.before, self.chance if self.chance_before is None else self.chance_before
        was_sure = old.low is not None and old.high is not None and not old.low <= chance <= old.high
        is_opposite = (old.value - chance) * (self.after.value - self.chance) < 0
        return is_opposite and not self.is_new and (was_sure or self.outcome == "nearer")

    @property
    def is_new(self) -> bool:
        """Whether nothing was found before."""
        return self.outcome == "further" and self.before.status == "clear"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a repair did."""

    before: str
    after: str
    """Names of the sets."""
    n_before: Count
    n_after: Count
    n_matched: Count
    """Instances that both have."""
    matched_by: Literal["id", "text"]
    n_draws: Count
    seed: Count
    changes: tuple[Change, ...]
    """In order of code, then subject; checks that only one side made are left out."""
    drawn: Literal["rows", "groups"] = "rows"
    """What was drawn at random: single rows, or whole groups until the size is met as nearly as can be."""
    classes: tuple[ClassCount, ...] = ()
    """How many instances of each class there are; empty of choices."""

    @property
    def is_of_two(self) -> bool:
        """Whether the sets share so little that neither is a repair of the other."""
        return 2 * self.n_matched < min(self.n_before, self.n_after)


def compare(
    before: Audit,
    after: Audit,
    audit_of: Callable[[Instances], Audit],
    *,
    n_draws: int = 5,
    seed: int = 0,
    advance: Advance | None = None,
) -> Comparison:
    """What became of each check of `before` in `after`, beside `n_draws` random cuts of `before` to its size.

    `audit_of` audits a set as both were audited; it is called once a draw, and not at all where `after` has no fewer
    instances. `advance` is told of each draw. Raises InputError for sets of two kinds, and for fewer than 2 draws.
    """
    if before.instances.kind != after.instances.kind:
        raise InputError(
            f"{after.instances.name}: {after.instances.kind}, and {before.instances.name} has "
            f"{before.instances.kind}. Compare two versions of one dataset."
        )
    if n_draws < 2:
        raise InputError(f"{n_draws} draws: at least 2, or there is no telling how far draws differ.")
    rows, matched_by = match(before.instances, after.instances)
    draws, groups = [], drawn_groups(before, after.instances)
    for cut in control_cuts(before.instances, len(after.instances), n_draws=n_draws, seed=seed, groups=groups):
        draws.append(audit_of(cut))
        if advance is not None:
            advance(1, note="as many rows removed at random")
    return Comparison(
        before=before.instances.name,
        after=after.instances.name,
        n_before=len(before.instances),
        n_after=len(after.instances),
        n_matched=len(rows),
        matched_by=matched_by,
        n_draws=len(draws),
        seed=seed,
        changes=tuple(_changes(before, after, draws, rows)),
        drawn="rows" if groups is None else "groups",
        classes=class_counts(before.instances, after.instances),
    )


def weighed_after(comparison: Comparison, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Those `diagnostics` of the newer set that are compared with each class weighed equally, with these figures; not
    those that have them already."""
    compared = {(one.code, one.subject): one for one in comparison.changes if one.balanced}
    made = []
    for one in diagnostics:
        change = compared.get((one.code, one.subject))
        if change is not None and not one.tells_balanced:
            side, chance = change.after, change.chance
            assert side.low is not None  # what is weighed has an interval and a chance
            assert side.high is not None
            assert chance is not None
            balanced = Balanced(side.value, side.low, side.high, chance, side.status)
            made.append(replace(balanced_form(replace(one, balanced=balanced)), status=side.status))
    return made


def comparison_text(comparison: Comparison) -> str:
    """The comparison as JSON, for the file `COMPARISON` in the folder of the newer audit."""
    return json.dumps(asdict(comparison), indent=2, ensure_ascii=False) + "\n"


def read_comparison(folder: Path) -> Comparison | None:
    """The comparison that was saved in the folder of an audit; None where there is none."""
    path = folder / COMPARISON
    return parse_record(read_json(path), Comparison, path, "Compare again.") if path.exists() else None


WHOLE = 0.9
"""Whole groups went where this share of the removed rows or more are of groups of which no row stayed ..."""
SEVERAL = 0.5
"""... and more than this share of groups that had several rows: of single rows, groups say nothing. Our choices."""


def drawn_groups(before: Audit, after: Instances) -> np.ndarray | None:
    """(N,) the groups of `before` where the control is to be of whole groups, since whole ones are not in `after`; None
    where single rows went, all, or none."""
    groups, sizes = before.groups.numbers, np.bincount(before.groups.numbers)
    went = np.ones(len(groups), bool)
    went[match(before.instances, after)[0][:, 0]] = False
    if went.all() or not went.any() or len(after) >= len(groups):
        return None
    whole = (np.bincount(groups, went) == sizes)[groups[went]]
    is_of_groups = whole.mean() >= WHOLE and (whole & (sizes[groups[went]] > 1)).mean() > SEVERAL
    return groups if is_of_groups else None


def control_cuts(
    instances: Instances, n: int, *, n_draws: int, seed: int, groups: np.ndarray | None = None
) -> list[Instances]:
    """`n_draws` sets of `n` instances drawn without replacement, in their order; none where there are not more.

    With `groups` (N,) whole ones are removed, one at least, until what is left is as near to `n` as can be. Which are
    drawn depends on their texts and the seed, and not on the order of rows.
    """
    if n >= len(instances):
        return []
    order = text_order(instances)
    rngs = [np.random.default_rng((seed, draw, *b"control")) for draw in range(n_draws)]
    if groups is not None:
        numbers = numbered_as_met(groups[order])
        return [instances.take(np.sort(order[_without_groups(numbers, n, rng)])) for rng in rngs]
    return [instances.take(np.sort(order[rng.choice(len(order), n, replace=False)])) for rng in rngs]


def _without_groups(groups: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """The rows, about `n`, that are left of `groups` (N,) without some at random; one group stays at least."""
    sizes = np.bincount(groups)
    order = rng.permutation(np.flatnonzero(sizes))
    n_left = len(groups) - np.cumsum(sizes[order])[:-1]
    n_removed = int(np.abs(n_left - n).argmin()) + 1
    return np.flatnonzero(~np.isin(groups, order[:n_removed]))


def match(before: Instances, after: Instances) -> tuple[np.ndarray, Literal["id", "text"]]:
    """(n, 2) rows of `before` and of `after` that are the same instance, and by what they were matched.

    By id where both have ids of their own, and most of the shared ones have the same context or the same gold; else by
    context and gold together, each text once, letter case and punctuation aside.
    """
    named = has_own_ids(before.instances) and has_own_ids(after.instances)
    by_id = _pairs([one.id for one in before.instances], [one.id for one in after.instances])
    if named and len(by_id):
        alike = [_is_alike(before, after, old, new) for old, new in by_id.tolist()]
        if sum(alike) > len(alike) / 2:
            return by_id, "id"
    return _pairs(_keys(before), _keys(after)), "text"


def changed(comparison: Comparison, *outcomes: Outcome) -> list[Change]:
    """The changes of these outcomes that concern something found, before or after: the furthest from chance first."""
    concerned = [one for one in comparison.changes if one.outcome in outcomes and one.was_found]
    side = "before" if outcomes == ("nearer",) else "after"

    def distance(one: Change) -> float:
        chance = one.chance_before if side == "before" and one.chance_before is not None else one.chance
        told: Side = getattr(one, side)
        return max(abs(value - (chance or 0.0)) for value in (told.value, told.avoiding) if value is not None)

    return sorted(concerned, key=lambda one: -distance(one))


def comparison_lines(comparison: Comparison) -> list[str]:
    """What the repair did, in sentences: sizes, what is weaker, stronger, turned round or new, and the rest."""
    c = comparison
    lines = [
        f"{c.before} has {several(c.n_before, 'instance')}, {c.after} {c.n_after:,}; "
        f"{f'{c.n_matched:,}' if c.n_matched else 'none'} {'is' if c.n_matched < 2 else 'are'} in both, by "
        f"{c.matched_by}."
    ]
    if c.is_of_two:
        share = "Most are not in both, so these" if c.n_matched else "These"
        lines.append(f"{share} are two sets rather than one that was repaired: how they differ is told.")
    lines += classes_lines(c.classes)
    if c.n_draws:
        how = "whole groups drawn at random, since whole groups went" if c.drawn == "groups" else "drawn at random"
        about = "about " if c.drawn == "groups" else ""
        lines.append(
            f"The control: {c.n_draws} cuts of {c.before} to {about}{several(c.n_after, 'instance')}, {how}. A "
            "change is told where luck makes one as large, in any of the checks that found something, 1 time in 20."
        )
    worse, both = changed(c, "further"), changed(c, "nearer", "further")
    than, where = (" than before", ", made by the repair") if not c.is_of_two else (" in the newer set",) * 2
    told = {
        f"Weaker{than}": [one for one in changed(c, "nearer") if not one.is_turned],
        f"Stronger{than}": [one for one in worse if not (one.is_turned or one.is_new)],
        f"Turned round{where}": [one for one in both if one.is_turned],
        f"New{where}": [one for one in worse if one.is_new],
    }
    for what, changes in told.items():
        lines += [f"{what}: {change_sentence(one)}" for one in changes[:_SAID]]
        lines += [f"{what}: {several(len(changes) - _SAID, 'check')} more."] if len(changes) > _SAID else []
    n_left = sum(one.outcome == "same" and one.before.status == "found" for one in c.changes)
    if n_left:
        lines.append(f"No significant change: {several(n_left, 'check')} that had found something before.")
    if not both and (largest := _largest_same(c)):
        lines.append(f"The largest change, and it is not significant: {change_sentence(largest)}")
    if untold := changed(c, "untold"):
        more = f", and {several(len(untold) - _SAID, 'check')} more" if len(untold) > _SAID else ""
        shown = "; ".join(change_sentence(one).removesuffix(".") for one in untold[:_SAID])
        lines.append(f"Not judged, for want of an interval, a control or texts of a class: {shown}{more}.")
    return lines


def _largest_same(comparison: Comparison) -> Change | None:
    """The accuracy that changed most, beside its control where there is one, of those whose change is not significant;
    of what was found where anything was."""
    same = [one for one in comparison.changes if one.outcome == "same" and one.unit == "accuracy"]

    def size(one: Change) -> float:
        expected = one.control.mean if one.control else one.before.value + _of_chance(one)
        return abs(one.after.value - expected)

    return max([one for one in same if one.was_found] or same, key=size, default=None)


def _of_chance(change: Change) -> float:
    """How much further up chance is after."""
    return 0.0 if change.chance_before is None else (change.chance or 0.0) - change.chance_before


def change_sentence(change: Change) -> str:
    """`AF201 shortest: 23.7 % before, 34.5 % after; as many rows removed at random: 22.9 to 25.1 % (95 %, 5 draws);
    chance 25.0 %.`"""
    c, are_ends_told = change, change.control is None and change.difference is None
    before, after = (_figure_of(side, c.unit, with_ends=are_ends_told) for side in (c.before, c.after))
    said = f"{c.called}: {before} before, {after} after"
    if c.control:
        said += f"; as many rows removed at random: {_drawn(c, c.control)}"
    elif c.difference:
        points = in_points(c.difference.mean, c.difference.low, c.difference.high)
        said += f"; {points}{'' if c.chance_before is None else ' from chance'} in those that are in both"
    if c.after.avoiding is not None:
        said += f"; the option that it finds least likely is right in {figure(c.after.avoiding, c.unit)} after"
    return f"{said}{chance_said(c)}."


def _figure_of(side: Side, unit: Unit, *, with_ends: bool) -> str:
    """`23.7 %`, or `23.7 % (20.1 to 27.4 %)`."""
    if not with_ends or side.low is None or side.high is None:
        return figure(side.value, unit)
    return f"{figure(side.value, unit)} ({span(side.low, side.high, unit)})"


def _drawn(change: Change, control: Control) -> str:
    """`22.9 to 25.1 % (95 %, 5 draws)`; of too few draws their values alone."""
    n, moved = len(control.values), [] if change.chance_before is None else ["shifted by the change in chance"]
    if n < FEWEST_DRAWS:
        values = " and ".join(figure(one, change.unit) for one in control.values)
        return " ".join([values, *(f"({one})" for one in moved)])
    return f"{span(control.low, control.high, change.unit)} ({', '.join(['95 %', f'{n} draws', *moved])})"


def chance_said(change: Change) -> str:
    """`; chance 25.0 %`, or `; chance 37.5 % before, 25.0 % after`; empty where there is none."""
    if change.chance is None:
        return ""
    before, after = _chances(change)
    return f"; chance {after}" if before == after else f"; chance {before} before, {after} after"


def _chances(c: Change) -> tuple[str, str]:
    """Chance before and after, as figures."""
    return figure(c.chance if c.chance_before is None else c.chance_before, c.unit), figure(c.chance, c.unit)


def comparison_rows(comparison: Comparison, *, told: bool = True) -> Rows:
    """A header, then each significant change of something found, before or after; with `told` False the others."""
    shown = [c for c in comparison.changes if (c.outcome in ("nearer", "further") and c.was_found) is told]
    differs = any(one.control and one.chance_before is not None for one in shown)
    removal = f"random removal, 95 %{', shifted by the change in chance' if differs else ''}"
    rows: Rows = [("check", "before", removal, "after", "chance", "so it is")]
    for c in shown:
        control = span(c.control.low, c.control.high, c.unit) if c.control else "–"
        chance = ", then ".join(dict.fromkeys(_chances(c)))
        values = (figure(c.before.value, c.unit), control, figure(c.after.value, c.unit), chance)
        rows.append((c.called, *values, "turned round" if c.is_turned else SO_IT_IS[c.outcome]))
    return rows


SO_IT_IS = {"nearer": "weaker", "further": "stronger", "same": "not significant", "untold": "not judged"}
"""What an outcome means for an artifact."""
_SAID = 3
"""Changes of a kind that have a sentence; all are in the table."""


def _changes(before: Audit, after: Audit, draws: Sequence[Audit], rows: np.ndarray) -> list[Change]:
    with_mirrors = [_by_key(one) | _mirrors(one) for one in (before, *draws)]
    (made, old, *drawn), weighed, untold = _told_alike([_by_key(after), *with_mirrors])
    paired = _paired(before, after, rows)
    both = {key: now for key, now in made.items() if key in old}
    n_told = sum("found" in (old[key].status, now.status) for key, now in both.items())
    changes = []
    for key, now in both.items():
        moved = _moved(old[key], now) != 0
        values = [one[key].value + (_moved(one[key], now) if moved else 0.0) for one in drawn if key in one]
        has_control = bool(draws) and key not in untold and len(values) == len(draws)
        control = _control(values, now) if has_control else None
        beyond = _control(values, now, of=max(1, n_told)) if has_control else None
        of_probe = now.code in (*PARTIAL, SPLIT) and control is None and key not in weighed | untold
        difference = paired.get(now.subject) if of_probe else None
        outcome: Outcome = "untold" if key in untold else _outcome(old[key], now, beyond, difference)
        changes.append(_change(old[key], now, control, difference, outcome, is_balanced=key in weighed))
    return changes


def _moved(one: Diagnostic, now: Diagnostic) -> float:
    """How much further up the chance of `now` is than that of `one`."""
    return (now.chance or 0.0) - (one.chance or 0.0)


_Key = tuple[str, str]


def _told_alike(
    every: Sequence[dict[_Key, Diagnostic]],
) -> tuple[list[dict[_Key, Diagnostic]], set[_Key], set[_Key]]:
    """The checks of after, before and each draw: what is to be weighed so, with each class weighed equally in all.

    Beside them the keys of these, and those of checks that cannot be judged, since one of `every` has no such figure.
    """
    after, before, *_ = every
    told, weighed, untold = [dict(made) for made in every], set[_Key](), set[_Key]()
    for key in (key for key, now in after.items() if key in before and _is_weighed(before[key], now)):
        those = [made for made in told if key in made]
        forms = equally(*(made[key] for made in those))
        untold |= {key} if None in forms else set()
        if None not in forms[:2]:
            weighed.add(key)
            for made, form in zip(those, forms, strict=True):
                if form:
                    made[key] = form
                else:
                    del made[key]
    return told, weighed, untold


def _is_weighed(old: Diagnostic, now: Diagnostic) -> bool:
    """Whether a check is compared with each class weighed equally: where a status stands on that, and where chance is
    another one and the status is the same so, for the shares of classes move accuracy and chance by themselves."""
    if old.stands_on_balanced or now.stands_on_balanced:
        return True
    forms = [form.status if form else None for form in equally(old, now)]
    return bool(old.balanced or now.balanced) and _moved(old, now) != 0 and forms == [old.status, now.status]


def _by_key(audit: Audit) -> dict[_Key, Diagnostic]:
    return {(one.code, one.subject): one for one in audit.diagnostics}


def _mirrors(audit: Audit) -> dict[_Key, Diagnostic]:
    """Rules of two options that were left out for their opposite, which may be the better one on the other side."""
    return {(one.code, one.subject): one for one in map(mirrored, audit.diagnostics) if one is not None}


def _change(
    old: Diagnostic,
    now: Diagnostic,
    control: Control | None,
    difference: Difference | None,
    outcome: Outcome,
    *,
    is_balanced: bool,
) -> Change:
    return Change(
        code=now.code,
        subject=now.subject,
        unit=now.unit,
        chance=now.chance,
        before=_side(old),
        after=_side(now),
        control=control,
        difference=difference,
        outcome=outcome,
        chance_before=old.chance if _moved(old, now) else None,
        balanced=is_balanced,
    )


def _side(one: Diagnostic) -> Side:
    return Side(one.value, one.low, one.high, one.status, one.avoiding.value if one.avoiding else None)


def _outcome(old: Diagnostic, now: Diagnostic, control: Control | None, difference: Difference | None) -> Outcome:
    """Judged by the control where there is one, which allows for all checks that could be told of, else by the pairs,
    else by the intervals; all at the chance of `now`."""
    moved, chance = _moved(old, now), now.chance or 0.0
    reference = control.mean if control else old.value + moved
    if control:
        differs = not control.low <= now.value <= control.high
    elif difference:
        differs = difference.is_significant
    elif old.low is None or old.high is None or now.low is None or now.high is None:
        return "untold"
    else:
        differs = now.low > old.high + moved or now.high < old.low + moved
    if not differs:
        return "same"
    reached = reference + difference.mean if difference and not control else now.value
    return "nearer" if abs(reached - chance) < abs(reference - chance) else "further"


def _limits(one: Diagnostic) -> tuple[float, float]:
    """Between which a value of this check always lies."""
    if one.code == DIFFERENCE:
        return -1.0, 1.0
    return {"count": (0.0, np.inf), "z": (-np.inf, np.inf)}.get(one.unit, (0.0, 1.0))


def _step(one: Diagnostic) -> float:
    """How far two values of this check are apart at least, if they differ; 0 where any are possible."""
    return {"count": 1.0, "z": 0.0}.get(one.unit, 1 / one.n if one.n else 0.0)


def _control(values: Sequence[float], of_check: Diagnostic, *, of: int = 1) -> Control:
    """The draws and the interval that one more draw would fall into, of 20 such 19 times; within the check's limits.

    A few draws can agree by luck, so their deviation is taken to be half a step at least, that of a value which is as
    often one of two neighbours as the other. With `of` checks, the interval for each that all of one more draw would
    fall into as often: a cut at random would else be called a repair, of one check or another, every other time.
    """
    mean, n = float(np.mean(values)), len(values)
    deviation, limits = max(float(np.std(values, ddof=1)), _step(of_check) / 2), _limits(of_check)
    half = t_quantile(n - 1, of=of) * deviation * (1 + 1 / n) ** 0.5
    low, high = max(limits[0], mean - half), min(limits[1], mean + half)
    return Control(tuple(values), round(mean, 6), round(low, 6), round(high, 6))


def _paired(before: Audit, after: Audit, rows: np.ndarray) -> dict[str, Difference]:
    """How each probe's hits changed on the instances `rows` (n, 2) that both have, by the name of the probe."""
    if len(rows) < 2:
        return {}
    old, groups = {probe.name: probe for probe in over_seeds(before.probes)}, before.groups.numbers
    found = {}
    for probe in over_seeds(after.probes):
        if probe.name in old:
            pairs = _scored(old[probe.name], probe, rows)
            if len(pairs) > 1:
                chances = chance_of(old[probe.name], before.instances), chance_of(probe, after.instances)
                if round(float(chances[0].mean()), 6) == round(float(chances[1].mean()), 6):
                    chances = np.zeros(len(chances[0])), np.zeros(len(chances[1]))
                hits = (
                    _of(old[probe.name], old[probe.name].hits - chances[0], pairs[:, 0]),
                    _of(probe, probe.hits - chances[1], pairs[:, 1]),
                )
                found[probe.name] = paired_difference(*hits, groups[pairs[:, 0]], times=probe.times)
    return found


def _scored(old: Probe, new: Probe, rows: np.ndarray) -> np.ndarray:
    """Those of the pairs `rows` (n, 2) that both probes scored."""
    return rows[np.isin(rows[:, 0], old.rows) & np.isin(rows[:, 1], new.rows)]


def _of(probe: Probe, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(n,) those of `values`, one for each row that the probe scored, that are of `rows` (n,), all of them scored."""
    found: np.ndarray = values[np.searchsorted(probe.rows, rows)]
    return found


def _pairs(old: Sequence[object], new: Sequence[object]) -> np.ndarray:
    """(n, 2) rows with the same key, in the order of `new`; of equal keys the first with the first, and so on."""
    waiting: dict[object, deque[int]] = {}
    for row, key in enumerate(old):
        waiting.setdefault(key, deque()).append(row)
    shared = [(waiting[key].popleft(), row) for row, key in enumerate(new) if waiting.get(key)]
    return np.array(shared, np.int64).reshape(-1, 2)


def _is_alike(before: Instances, after: Instances, old: int, new: int) -> bool:
    one, other = before.instances[old], after.instances[new]
    same_context = bool(one.context) and text_key(one.context) == text_key(other.context)
    return same_context or text_key(_gold(before, one)) == text_key(_gold(after, other))


def _keys(instances: Instances) -> list[tuple[int, int]]:
    """Context with start, which one version may have apart and another not; and gold."""
    rows = instances.instances
    return [(text_key(f"{one.context} {one.start}"), text_key(_gold(instances, one))) for one in rows]


def _gold(instances: Instances, one: Instance) -> str:
    """The text of gold; of classes the text that is classified."""
    return one.options[one.answer if instances.kind == "choices" else 0]
