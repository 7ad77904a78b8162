"""An audit in sentences and rows: the verdict, what else was found, a table of checks; for terminal and page."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from swag_af.auditing.balance import equally
from swag_af.auditing.codes.code import FAMILIES, codes
from swag_af.auditing.diagnostics import Diagnostic, Status, Unit, as_found, balanced_form
from swag_af.auditing.outcome import Association, Audit
from swag_af.auditing.runs.summary import Rows
from swag_af.auditing.storing import SavedAudit, saved_form
from swag_af.data.errors import several
from swag_af.data.instances.published import pairs_of_splits
from swag_af.data.numbers.percent import digits_apart, in_percent
from swag_af.filters.registry import label_of

NOT_ASKED = (
    "Not asked: what larger models would find, so a value at chance does not prove that nothing is there; whether the "
    "answers are right; whether people can answer without the rest."
)
BELOW_CAUSES = (
    "Usual causes of values below chance: labels balanced within a group, gold of other questions among the wrong "
    "options, distractors filtered too far."
)
PARTIAL = ("AF101", "AF105", "AF106", "AF102", "AF103", "AF104")
"""The codes of what is solved without the task, the plainest first; others of their family compare ways of folding."""
RECYCLED = "AF515"
SHUFFLED = "AF104"
SPLIT = "AF108"
"""The code of probes that are fitted on one published split and scored on another."""
CONSISTENCY = "AF109"
"""The code of contrast sets wholly right."""
FEW = 100
"""Groups below which an audit says little: an interval of 50 % is then 20 points wide or more."""
SLIGHT = 0.1
"""The share of what guessing leaves, up to which a gain is called slight."""
SIGNIFICANT = 0.05
"""The largest q of a word that is told."""
WITHOUT: Mapping[str, str] = {
    "options": "from the options alone, without the question",
    "second-sentence": "from the second sentence alone, without the first",
    "other-context": "with the context of another question in place of their own",
    "shuffled": "with their words in random order",
    "hypothesis": "from the hypothesis alone, without the premise",
    "text": "from the text alone, without what is shown with it",
    "premise": "from the premise alone, without the hypothesis",
    "full": "from all that they show",
}
"""What a probe that reads this partial input goes by."""
EQUALLY = ", each class weighed equally"
"""What is said of a figure that is the mean recall of all classes."""
_READS_PART = WITHOUT.keys() - {"full", "shuffled"}
DONE = {"choices": ("questions", "answered", "answers"), "classes": ("instances", "labelled", "labels")}
"""What is there, what is done with it, and what a probe does with it."""


def verdict(audit: Audit | SavedAudit) -> str:
    """How much of the data can be solved without doing the task, by what, against chance, and how sure that is."""
    saved = saved_form(audit)
    things, done, does = DONE[saved.about.of]
    best, n_made = headline(saved), len(tried(saved))
    if best is None:
        return f"Whether these {things} can be {done} from a part of them was not asked: no probe was made."
    by = f"{how(best)}, by {_by(best)}" + (f", one of {n_made} probes" if n_made > 1 else "")
    if family_of(best) == "single":
        by = f"by one feature alone, {best.subject}"
    weighed = f"{EQUALLY}," if best.tells_balanced else ""
    value = f"{figure(best.value, best.unit)} of the {things} (95 % interval {between(best)}){weighed}"
    said = f"{value} are {done} rightly {by}."
    more = f"{_split_said(saved, best)}{_avoiding_said(saved, best)}"
    if best.status != "found" or best.chance is None or best.value <= best.chance:
        where = " on folds of whole groups" if more else ""
        guessing = f"guessing{where}, which gets {_chance(best)}"
        return f"No probe surely {does} these {things} better than {guessing}: {said}{more}"
    slight = "A little more than by guessing: " if (best.effect or 0.0) < SLIGHT else ""
    return f"{slight}{said} Guessing gets {_chance(best)}.{more}"


def gained(saved: SavedAudit) -> tuple[Diagnostic | None, str]:
    """What is surely gained most of all that the verdict names, and how, in words that follow `gained`: the headline,
    or more than that by a published split or by avoiding what a probe prefers; None where no probe was made."""
    best = headline(saved)
    if best is None:
        return None, ""
    ways = {"by the published split": _of_split(saved, best), "by avoiding": _of_avoiding(saved, best)}
    more = [(one, said) for said, one in ways.items() if one]
    return max(more, key=lambda way: _least_gain(way[0]), default=(best, "without the task"))


def _of_split(saved: SavedAudit, best: Diagnostic) -> Diagnostic | None:
    """What the published splits give where that is surely more than on folds of whole groups; None elsewhere.

    It is what whoever trains on one and is scored on the other can get without the task.
    """
    of_parts = [one for one in found(saved, "partial") if one.code == SPLIT and _reads(one) in _READS_PART]
    surest = max(of_parts, key=_least_gain, default=None)
    return surest if surest and _is_surely_more(surest, best) else None


def _split_said(saved: SavedAudit, best: Diagnostic) -> str:
    surest = _of_split(saved, best)
    if surest is None:
        return ""
    weighed = f"{EQUALLY}," if surest.tells_balanced else ""
    return (
        f" But the published splits share what tells: {figure(surest.value, surest.unit)}{_of_scored(surest)} (95 % "
        f"interval {between(surest)}){weighed} are {DONE[saved.about.of][1]} rightly {how(surest)}, by {_by(surest)}."
    )


def _of_avoiding(saved: SavedAudit, best: Diagnostic) -> Diagnostic | None:
    """What gets whoever avoids what a probe prefers, on folds or by a published split, where that is surely more than
    the best does; None elsewhere."""
    below = [one for one in found(saved, "partial") if one.avoiding and _reads(one) in _READS_PART]
    turned = [
        replace(one, **asdict(one.avoiding), effect=_beyond(one, one.avoiding.value)) for one in below if one.avoiding
    ]
    surest = max(turned, key=_least_gain, default=None)
    return surest if surest and _is_surely_more(surest, best) else None


def _avoiding_said(saved: SavedAudit, best: Diagnostic) -> str:
    surest = _of_avoiding(saved, best)
    if surest is None:
        return ""
    return (
        f" But gold can be found by avoiding what a probe prefers: the option that {_by(surest)} finds least likely "
        f"{how(surest)}, is right in {figure(surest.value, surest.unit)}{_of_scored(surest)} (95 % interval "
        f"{between(surest)})."
    )


def _is_surely_more(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether what `one` surely gains is more than the most that `other` does, or guessing; False where the classes of
    one are unequal and it cannot be told how far the other gets with each weighed equally."""
    made, beside = equally(one, other)
    if made is None or beside is None or made.low is None:
        return False
    return _least_gain(made) > _beyond(beside, max(beside.value, beside.high or 0.0, beside.chance or 0.0))


def headline(saved: SavedAudit) -> Diagnostic | None:
    """The probe to name first, or the single feature that is surely better than it; None where there is neither.

    What was found comes before what was not, whatever it gains. Of probes that gain as much over chance as the best, as
    far as its interval tells, the one with the plainest input.
    """
    made, feature = tried(saved), _best_feature(saved)
    best = max(made, key=lambda one: (one.status == "found", _gain(one)), default=None)
    if feature and feature.low is not None and (best is None or _least_gain(feature) > _gain(best)):
        return feature
    if best is None or best.low is None:
        return best
    lowest = _least_gain(best)
    alike = [one for one in made if one.status == best.status and _gain(one) >= lowest]
    return min(alike, key=lambda one: (PARTIAL.index(one.code), -_gain(one), one.subject))


def _gain(one: Diagnostic) -> float:
    """What is gained over chance; of unequal classes with each weighed equally, also where accuracy is told: so all are
    on one scale."""
    form = balanced_form(one)
    return _beyond(form, form.value)


def _least_gain(one: Diagnostic) -> float:
    """The same at the lower end of the interval."""
    form = balanced_form(one)
    return _beyond(form, form.low or 0.0)


def _beyond(one: Diagnostic, value: float) -> float:
    """The share of what chance leaves that `value` of a diagnostic gains: comparable where chance is another."""
    return value if one.chance is None or one.chance == 1.0 else (value - one.chance) / (1 - one.chance)


def tried(saved: SavedAudit) -> list[Diagnostic]:
    """The probes of what should carry nothing; words in random order may rightly help, so they are none of these."""
    return [as_found(one) for one in saved.diagnostics if one.code in PARTIAL and one.code != SHUFFLED]


def further(audit: Audit | SavedAudit) -> list[str]:
    """What else is worth a sentence: features to choose by or avoid, what is below chance, tiers, words, item writing,
    integrity, counts."""
    saved = saved_form(audit)
    sayers = [_few_line, _split_line, _feature_line, _avoided_line, _below_line, _recycling_line]
    sayers += [_set_line, _tried_line, _tier_line, _word_line, _writing_line, _integrity_line]
    return [*(line for sayer in sayers for line in sayer(saved)), _count_line(saved.about.counts)]


def _count_line(counts: Mapping[str, int]) -> str:
    """How many checks there were, and what came of them; folders of earlier versions count idle ones as clear."""
    made = f"Of {several(sum(counts.values()), 'check')} {counts['found']:,} found something"
    hints = f", {counts['hint']:,} {'hints' if counts['hint'] == 1 else 'hint'} at it" if counts["hint"] else ""
    idle = f", {counts['idle']:,} had nothing to look at" if counts.get("idle") else ""
    return f"{made}{hints}, {counts['clear']:,} clear{idle}."


def how(diagnostic: Diagnostic) -> str:
    """What the probe of a diagnostic goes by, in words."""
    reads = _reads(diagnostic)
    return WITHOUT.get(reads, f"from {reads}")


def _reads(diagnostic: Diagnostic) -> str:
    return diagnostic.subject.partition(",")[0]


def diagnostic_rows(diagnostics: Sequence[Diagnostic], statuses: Sequence[Status] = ("found", "hint")) -> Rows:
    """A header, then the diagnostics of these `statuses`: in order of code, the largest effect first."""
    rows: Rows = [("check", "value", "95 % interval", "chance", "of", "status")]
    for one in ordered([as_found(one) for one in diagnostics]):
        if one.status in statuses:
            value, weighed = figure(one.value, one.unit), EQUALLY if one.tells_balanced else ""
            check = f"{one.code} {one.subject}{weighed}"
            rows.append((check, value, between(one), _chance(one), f"{one.n:,}", one.status))
    return rows


def strongest(diagnostics: Sequence[Diagnostic], most: int | None) -> Sequence[Diagnostic]:
    """The `most` strongest of those that found something, or a hint; all where `most` is None. Values without an effect
    count as 1 at most, as shares do."""
    return sorted(diagnostics, key=lambda one: (_RANK[one.status], -min(strength(one), 1.0), one.code))[:most]


def ordered(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """By code; within a code what is found first, the largest effect or value leading."""
    return sorted(diagnostics, key=lambda one: (one.code, _RANK[one.status], -strength(one), one.subject))


_RANK: Mapping[Status, int] = {"found": 0, "hint": 1, "clear": 2}


def strength(diagnostic: Diagnostic) -> float:
    """How far a value is from the one that would be no finding: the size of the effect, else of the difference; of
    unequal classes with each weighed equally."""
    form = balanced_form(diagnostic)
    return abs(form.value - (form.chance or 0.0)) if form.effect is None else abs(form.effect)


def figure(value: float | None, unit: Unit) -> str:
    """A value in its unit: `71.3 %`, `0.04 %`, `1,204`, `12.6`; a dash where there is none."""
    if value is None:
        return "–"
    if unit in ("accuracy", "share"):
        return in_percent(value, digits_apart(0.0, value))
    return f"{value:z,.0f}" if unit == "count" and value == int(value) else f"{value:z,.1f}"


def between(diagnostic: Diagnostic) -> str:
    """The interval: `68.1 to 74.3 %`, with as many decimals as show that chance is not its end; a dash where there is
    none."""
    low, high, chance = diagnostic.low, diagnostic.high, diagnostic.chance
    if low is None or high is None:
        return "–"
    if diagnostic.unit == "accuracy" and chance is not None:
        digits = digits_apart(chance, low, high)
        return f"{in_percent(low, digits).removesuffix(' %')} to {in_percent(high, digits)}"
    return span(low, high, diagnostic.unit)


def span(low: float, high: float, unit: Unit) -> str:
    """From one value to another, the unit named once."""
    return f"{figure(low, unit).removesuffix(' %')} to {figure(high, unit)}"


def family_of(diagnostic: Diagnostic) -> str:
    """The family of its code, by the hundred: `partial`, `single`, `words`, `writing`, `integrity`."""
    return tuple(FAMILIES)[int(diagnostic.code[2]) - 1]


def title_of(code: str) -> str:
    """What a code stands for, in a few words; the code itself where this release does not know it."""
    return codes()[code].title if code in codes() else code


def _by(diagnostic: Diagnostic) -> str:
    """The model of a probe's diagnostic, in words, and the published split that it was fitted on, if any."""
    subject, fitted, _ = _splits_of(diagnostic)
    model = subject.partition(",")[2].strip() or subject
    label = "a linear model over words" if model == "tfidf" else label_of(model)
    return f"{label} fitted on {fitted}" if fitted else label


def _of_scored(diagnostic: Diagnostic) -> str:
    """` of test`, where that published split was scored; empty of folds."""
    _, _, scored = _splits_of(diagnostic)
    return f" of {scored}" if scored else ""


def _splits_of(diagnostic: Diagnostic) -> tuple[str, str, str]:
    """The subject without its published splits, the one that was fitted on and the one that was scored."""
    if diagnostic.code != SPLIT:
        return diagnostic.subject, "", ""
    subject, _, splits = diagnostic.subject.rpartition(", ")
    fitted, _, scored = splits.partition(" to ")
    return subject, fitted, scored


def _chance(diagnostic: Diagnostic) -> str:
    return figure(diagnostic.chance, diagnostic.unit)


def _strongest(diagnostics: Sequence[Diagnostic]) -> Diagnostic | None:
    return max(diagnostics, key=strength, default=None)


def _few_line(saved: SavedAudit) -> list[str]:
    n = saved.about.n_groups
    return (
        [f"With {several(n, 'group')} only large effects can be found, so little is said by what is clear."]
        if n < FEW
        else []
    )


def _split_line(saved: SavedAudit) -> list[str]:
    """That several splits were not fitted on and scored, since no names say which are for what."""
    names = [name or "one without a name" for name in sorted(saved.about.splits)]
    if len(names) < 2 or pairs_of_splits(saved.about.splits):
        return []
    return [
        f"What the splits {', '.join(names)} share was not asked of probes ({SPLIT}): no names say which is for "
        "training and which for scoring. Put train, dev, val or test into them as words of their own, or name a column "
        "with --split-column."
    ]


def _best_feature(saved: SavedAudit) -> Diagnostic | None:
    """The single feature that is right most often, of those found above chance."""
    return _strongest([one for one in found(saved, "single") if one.chance is not None and one.value > one.chance])


def _feature_line(saved: SavedAudit) -> list[str]:
    best = _best_feature(saved)
    if best is None or best == headline(saved):
        return []
    sure = f"95 % interval {between(best)}" if best.low is not None else f"chance {_chance(best)}"
    sure += EQUALLY if best.tells_balanced else ""
    return [f"One feature alone, {best.subject}, is right in {figure(best.value, best.unit)} ({sure})."]


def _avoided_line(saved: SavedAudit) -> list[str]:
    """The single feature that chooses gold least often, where whoever never chooses by it gets more than by any."""
    best, below = _best_feature(saved), [one for one in found(saved, "single") if _is_below(one)]
    worst = max(below, key=_by_avoiding, default=None)
    if worst is None or saved.about.of != "choices" or (best and best.value >= _by_avoiding(worst)):
        return []
    gets = figure(_by_avoiding(worst), worst.unit)
    return [
        f"By one feature alone, {worst.subject}, gold is found in {figure(worst.value, worst.unit)} (95 % interval "
        f"{between(worst)}), where a guess finds {_chance(worst)}: a guess among the other options finds {gets} or so."
    ]


def _by_avoiding(one: Diagnostic) -> float:
    """How often a guess among the options that a rule does not choose is right, if it chooses one of each question."""
    return (1 - one.value) / (1 / (one.chance or 1.0) - 1) if one.chance != 1.0 else 0.0


def _below_line(saved: SavedAudit) -> list[str]:
    worst = min(_below(saved), key=_gain, default=None)
    return [] if worst is None else [worst.said]


def _below(saved: SavedAudit) -> list[Diagnostic]:
    """The probes of what should carry nothing that are surely below chance."""
    return [one for one in found(saved, "partial") if one.code in PARTIAL and _is_below(one)]


def _is_below(one: Diagnostic) -> bool:
    return one.chance is not None and one.value < one.chance


def _recycling_line(saved: SavedAudit) -> list[str]:
    """What of the figures must not be believed, where options are right in one question and wrong in another."""
    parted = [one for one in saved.diagnostics if one.code == RECYCLED and one.status == "found"]
    return [f"{one.code}: {one.said}, so probes learn to avoid what is right." for one in parted]


def _set_line(saved: SavedAudit) -> list[str]:
    """How many contrast sets the probe of a part that does best has wholly right."""
    made = [one for one in saved.diagnostics if one.code == CONSISTENCY and _reads(one) in _READS_PART]
    best = max(made, key=lambda one: (one.value, one.subject), default=None)
    if best is None:
        return []
    does = f"{figure(best.value, best.unit)} of {several(best.n, 'contrast set')} (by guessing {_chance(best)})"
    return [f"No probe of a part has more than {does} wholly right."]


def _tried_line(saved: SavedAudit) -> list[str]:
    """The probes among which the verdict names the best, each input with its models."""
    models: dict[str, list[str]] = {}
    for one in tried(saved):
        input, _, model = one.subject.partition(", ")
        models.setdefault(input, []).append(model)
    named = "; ".join(f"{input} by {', '.join(by)}" for input, by in models.items())
    return [f"The probes: {named}."] if len(tried(saved)) > 1 else []


def _tier_line(saved: SavedAudit) -> list[str]:
    tiers, n = saved.about.tiers, saved.about.n
    if not tiers:
        return []
    easy, hard = (figure(tiers[name] / n, "share") for name in ("easy", "hard"))
    but = ", but for whoever avoids what they like" if _below(saved) else ""
    return [f"Question by question, the probes settle {easy} and are no help with {hard}{but}."]


def _word_line(saved: SavedAudit) -> list[str]:
    """The strongest, of choices those that tell a wrong option among them."""
    is_told = saved.about.of == "choices"
    telling = plain_words([one for one in saved.associations if one.q < SIGNIFICANT and (one.z > 0 or is_told)])
    if not telling:
        return []
    words = ", ".join(f'"{one.shown}" ({one.label if one.z > 0 else "wrong"})' for one in telling[:3])
    return [f"The most telling words: {words}."]


def plain_words(associations: Sequence[Association]) -> list[Association]:
    """Without those that hold, or stand in, an earlier one with the same label: `comment .` after `comment`."""
    kept: list[Association] = []
    for one in associations:
        words = f" {one.ngram} "
        if not any(f" {other.ngram} " in words or words in f" {other.ngram} " for other in kept if _alike(one, other)):
            kept.append(one)
    return kept


def _alike(one: Association, other: Association) -> bool:
    return one.label == other.label and (one.z > 0) == (other.z > 0)


def _writing_line(saved: SavedAudit) -> list[str]:
    """What a rule of item writing tells, the one furthest from chance; a rule that rules options out is no probe, so
    the verdict leaves it out."""
    best = _strongest(found(saved, "writing"))
    return [] if best is None else [f"By a rule of item writing: {best.said}"]


def _integrity_line(saved: SavedAudit) -> list[str]:
    """What is wrong with the data, and in how many instances; of several faults under one code the commonest."""
    commonest: dict[str, Diagnostic] = {}
    for one in found(saved, "integrity"):
        commonest[one.code] = max(one, commonest.get(one.code, one), key=lambda one: one.value * one.n)
    named = "; ".join(f"{title_of(one.code)}{_in_how_many(one, saved)}" for one in commonest.values())
    return [f"Faults in the data itself: {named}."] if named else []


def _in_how_many(one: Diagnostic, saved: SavedAudit) -> str:
    """` in 2 of 2,001 instances`; empty of what is no share of faulty ones, such as the balance of labels."""
    if one.unit != "share" or one.chance != 0.0:
        return ""
    return f" in {round(one.value * one.n):,} of {one.n:,} {DONE[saved.about.of][0]}"


def found(saved: SavedAudit, family: str) -> list[Diagnostic]:
    """The diagnostics of a family that found something."""
    those = (one for one in saved.diagnostics if one.status == "found" and family_of(one) == family)
    return [as_found(one) for one in those]
