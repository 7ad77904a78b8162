"""What is said of scores, on the terminal and on the page: tables, a header first, and sentences."""

from collections.abc import Iterable, Sequence

from swag_af.data.errors import several
from swag_af.data.numbers.percent import from_to
from swag_af.scoring.breakdown import SMALLEST
from swag_af.scoring.comparison import Comparison, Counts, Gap
from swag_af.scoring.counting import CountCheck, Sensitivity, Share
from swag_af.scoring.figures import FEWEST_GROUPS, Figure
from swag_af.scoring.outcome import Score, Scores
from swag_af.scoring.people import People

Rows = list[tuple[str, ...]]
N_GROUPS = 5
"""Groups told at either end."""
N_PAIRS = 4
"""Pairs of counts told of a sensitivity."""
N_NEARBY = 8
"""Other numbers told that percentages fit."""
SENSITIVITY = (
    "Sensitivity: of the pairs whose two predictions differ, the share with both right. The paper prints a sum of "
    "ratios (Kim et al. 2023); it is read as the ratio of the sums."
)
WORST = (
    "The worst of many groups is low by luck, too: compare the deviation of their accuracies with what luck alone "
    "gives. Within a group, instances count one by one."
)
COUNTS = "Counted are instances that both have right, one of them alone, and neither."
MCNEMAR = (
    "McNemar's test is exact, takes instances for independent and leaves out ties; Holm corrects it for all "
    "comparisons that have a test. Intervals and the bootstrap draw whole groups."
)
BY_OPTION = "Chance is what an option drawn at random gets."
BY_CLASS = (
    "Chance is what naming always the commonest class gets (NLVR2's reference), and by shares what classes drawn by "
    "their shares get, anew for each instance. Always one class is consistent only where all right answers of a set "
    "are that class, and never differs."
)


def headline(scores: Scores) -> str:
    """The first model's accuracy in a sentence; without a model what people get right, or how much is masked."""
    if not scores.models:
        return _without_models(scores)
    model = scores.models[0]
    one = model.figures[0]
    return (
        f"{model.model} is right on {percent(one.value)} % of {several(one.n, 'instance')} (95 % interval "
        f"{between(one)}), where {_guesses(one)}."
    )


def _guesses(one: Figure) -> str:
    if one.chance_by_shares is None:
        return f"an option at random gets {percent(one.chance)} %"
    drawn = percent(one.chance_by_shares)
    return f"always the commonest class gets {percent(one.chance)} %, classes drawn by their shares {drawn} %"


def chance_sentence(figures: Iterable[Figure]) -> str:
    """Which guesses the chance of `figures` is of; empty where none has any."""
    given = list(figures)
    if any(one.chance_by_shares is not None for one in given):
        return BY_CLASS
    return BY_OPTION if any(one.chance is not None for one in given) else ""


def _without_models(scores: Scores) -> str:
    if scores.people:
        people = scores.people
        who = f"{several(people.n_workers, 'person', 'people')} gave {several(people.n_answers, 'answer')}"
        who += f", of which {people.n_counted:,} count" if people.n_counted < people.n_answers else ""
        return f"{who}; {_first_of(people.figures)}." if people.figures else f"{who}."
    return _mask_sentence(scores)


def _first_of(figures: Sequence[Figure]) -> str:
    """The first figure of people: an accuracy, or kappa where no answer counts."""
    one = figures[0]
    return (
        f"{one.name}: {kappa_of(one)}"
        if _is_kappa(one)
        else f"{one.name}: {percent(one.value)} % right ({between(one)})"
    )


def _is_kappa(one: Figure) -> bool:
    return "kappa" in one.name


def _mask_sentence(scores: Scores) -> str:
    return f"{scores.n_masked or 0:,} of {several(scores.n, 'instance')} are changed by the mask {scores.mask}."


def further(scores: Scores) -> list[str]:
    """What else is to be known before the figures are read."""
    told = []
    for model in scores.models:
        if model.n_missing:
            have = (
                "instance has no prediction and counts"
                if model.n_missing == 1
                else ("instances have no prediction and count")
            )
            told.append(f"{model.model}: {model.n_missing:,} {have} as wrong.")
        if model.n_tied:
            tied = several(model.n_tied, "instance")
            what = "the highest score, or the text that was given, is shared by t answers"
            told.append(f"{model.model}: {what} in {tied}; each counts 1/t.")
    if scores.models and scores.n_masked is not None:
        told.append(_mask_sentence(scores))
    for gap in scores.gaps:
        told.append(gap_sentence(gap))
    return [*told, *_of_consistency(scores), *_of_sensitivity(scores)]


def _first_figure(scores: Scores, name: str) -> Figure | None:
    return next((one for model in scores.models for one in model.figures if one.name == name), None)


def _of_consistency(scores: Scores) -> list[str]:
    one = _first_figure(scores, "consistency")
    if one is None or not one.n_left_out:
        return []
    sets = several(one.n_left_out, "contrast set has", "contrast sets have")
    return [f"{sets} a row without a label, so that the rest would be right more easily: left out of consistency."]


def _of_sensitivity(scores: Scores) -> list[str]:
    one = _first_figure(scores, "sensitivity")
    if one is None:
        return []
    if not one.n_left_out:
        return [SENSITIVITY]
    of = "1 pair has" if one.n_left_out == 1 else f"{one.n_left_out:,} pairs have"
    return [SENSITIVITY, f"{of} the same right answer twice, and say nothing of sensitivity: left out of it."]


def gap_sentence(gap: Gap) -> str:
    """How much is lost where less is seen."""
    one = gap.gap
    tells = ""
    if one.high is not None and one.high < 0:
        tells = " It is below 0: seeing less gets more. Were the files given the wrong way round?"
    elif one.low is None or one.low <= 0:
        tells = " It is not distinguishable from 0: what was hidden may not be needed."
    return (
        f"{gap.sighted} has {signed(one.value)} points more than where it sees less ({gap.name}), {signed(one.low)} to "
        f"{signed(one.high)}; that gets {percent(gap.accuracy.value)} %.{tells}"
    )


def figure_rows(models: Sequence[Score]) -> Rows:
    """Every figure of every model: a column a model, then n, one for each model where they differ, and chance."""
    columns = [(*model.figures, *model.parts) for model in models]
    of_chance = _chances(columns[0])
    rows: Rows = [("figure", *(model.model for model in models), "n", *of_chance)]
    for alike in zip(*columns, strict=True):
        one = alike[0]
        sizes = list(map(_size, alike))
        n = sizes[0] if len(set(sizes)) == 1 else " / ".join(sizes)
        n += "" if one.of == "instances" else f" {one.of}"
        rows.append((_title(one), *map(shown, alike), n, *_chance_cells(one, of_chance)))
    return rows


def _size(one: Figure) -> str:
    """What a figure is a share of."""
    return f"{one.n:,}" if one.n_expected is None else f"{one.n_expected:,.2f}"


def _chances(figures: Iterable[Figure]) -> tuple[str, ...]:
    """The columns of chance: of classes two."""
    by_shares = any(one.chance_by_shares is not None for one in figures)
    return ("commonest", "by shares") if by_shares else ("chance",)


def _chance_cells(one: Figure, columns: Sequence[str]) -> tuple[str, ...]:
    given = (one.chance, one.chance_by_shares)[: len(columns)]
    return tuple("" if chance is None else percent(chance) for chance in given)


def _title(one: Figure) -> str:
    return one.name if not one.part else one.part


def group_rows(model: Score) -> Rows:
    """The worst and the best groups of a model; a header alone where there are none."""
    few = model.groups if len(model.groups) <= 2 * N_GROUPS else (*model.groups[:N_GROUPS], *model.groups[-N_GROUPS:])
    return [("group", model.model, "n"), *((one.part.partition(": ")[2], shown(one), f"{one.n:,}") for one in few)]


def spread_sentence(model: Score) -> str:
    """How much groups differ; empty where there are not two."""
    if model.spread is None:
        return ""
    spread = model.spread
    small = f" of {spread.n_named:,}, those of {SMALLEST} instances or more" if spread.n < spread.n_named else ""
    few = f"; the {N_GROUPS} worst and the {N_GROUPS} best are shown" if spread.n > 2 * N_GROUPS else ""
    return (
        f"{model.model}: {spread.n:,} groups{small}{few}; the standard deviation of their accuracies is "
        f"{percent(spread.deviation)} points, by luck alone {percent(spread.by_luck)}."
    )


def comparison_rows(comparisons: Sequence[Comparison]) -> Rows:
    """The first model beside each other one."""
    header = ("first less second", "points", "both", "first", "second", "neither")
    rows = [
        (f"{one.first} less {one.second}", signed_with(one.difference), *_counts(one.counts)) for one in comparisons
    ]
    return [header, *rows]


def p_rows(comparisons: Sequence[Comparison]) -> Rows:
    """The tests of the same comparisons."""
    header = ("first less second", "McNemar p", "of", "Holm p", "bootstrap points", "bootstrap p")
    return [
        header,
        *(
            (
                f"{one.first} less {one.second}",
                p_value(one.mcnemar),
                f"{one.n_discordant:,}",
                p_value(one.holm),
                "" if one.bootstrap_low is None else f"{signed(one.bootstrap_low)} to {signed(one.bootstrap_high)}",
                p_value(one.bootstrap_p),
            )
            for one in comparisons
        ),
    ]


def untested(comparisons: Sequence[Comparison]) -> list[str]:
    """Why there is no McNemar test where there is none, and no bootstrap."""
    told = []
    for one in comparisons:
        if one.mcnemar is None:
            why = (
                f"answers tie in {'the only instance' if one.n_ties == 1 else f'all {one.n_ties:,} instances'} where "
                "the two differ"
                if one.n_ties
                else "the two are right on the same instances"
            )
            told.append(f"{one.first} less {one.second}: nothing to test for McNemar, since {why}; Holm leaves it out.")
    if any(one.bootstrap_p is None for one in comparisons):
        told.append(f"No bootstrap, which is too sure of fewer than {FEWEST_GROUPS} groups: the interval above is not.")
    return told


def gap_rows(gaps: Sequence[Gap]) -> Rows:
    """Sighted beside blind."""
    header = ("seen", "blind", "sighted less blind", "both", "sighted", "blind", "neither")
    return [header, *((one.name, shown(one.accuracy), signed_with(one.gap), *_counts(one.counts)) for one in gaps)]


def people_rows(people: People) -> Rows:
    """What people get right."""
    of_chance = _chances(people.figures)
    rows: Rows = [("people", "value", "n", *of_chance)]
    for one in people.figures:
        value = kappa_of(one) if _is_kappa(one) else shown(one)
        rows.append((one.name, value, f"{one.n:,} {one.of}", *_chance_cells(one, of_chance)))
    return rows


def people_sentences(people: People) -> list[str]:
    """What was counted, and how much workers differ."""
    that_count = f"{people.n_counted:,} of {people.n_answers:,} answers count; {several(people.n_workers, 'worker')}"
    told = [f"{people.said}. {that_count}, {people.n_items:,} items."]
    mean = next((one for one in people.figures if one.name == "mean over workers"), None)
    if mean and people.deviation is not None:
        told.append(
            f"{percent(mean.value)} ± {percent(people.deviation)} over {mean.n:,} workers with {people.min_items:,} "
            "answers or more (standard deviation of the population)."
        )
    else:
        told.append(f"No worker has {people.min_items:,} answers that count, so there is no mean over workers.")
    return told


def check_rows(check: CountCheck) -> Rows:
    """What each percentage can be a share of."""
    rows: Rows = [("percentage", f"of {check.n:,}", "")]
    rows += [(one.printed, _of_share(one), _FITS[one.fit]) for one in check.shares]
    if check.sensitivity:
        one = check.sensitivity
        rows.append((f"{one.printed} (sensitivity)", _of_pairs(one), _FITS[one.fit]))
    return rows


_FITS = {"rounded": "fits, rounded", "cut": "fits, further decimals cut", "no": "impossible"}


def _of_share(one: Share) -> str:
    if one.fit == "no":
        return f"between {one.least:,} and {one.most:,}"
    return f"{one.least:,}" if one.least == one.most else f"{one.least:,} to {one.most:,}"


def _of_pairs(one: Sensitivity) -> str:
    if one.fit == "no":
        return _around(one.pairs)
    told = ", ".join(f"{k:,} of {m:,}" for k, m in one.pairs[:N_PAIRS])
    return told + _more(len(one.pairs) - N_PAIRS)


def _around(pairs: Sequence[tuple[int, int]]) -> str:
    """Which shares are next to one that cannot be: for each k one below and one above, or the lowest that there is."""
    of: dict[int, list[int]] = {}
    for k, m in pairs:
        of.setdefault(k, []).append(m)
    told = [
        f"between {k:,} of {max(ms):,} and {k:,} of {min(ms):,}" if len(ms) > 1 else f"below {k:,} of {ms[0]:,}"
        for k, ms in of.items()
        if k
    ]
    if 0 in of:
        told.insert(0, "0 of any number is 0")
    return "; ".join(told[: N_PAIRS // 2]) + _more(len(told) - N_PAIRS // 2)


def _more(n: int) -> str:
    return f" and {n:,} more" if n > 0 else ""


def check_sentences(check: CountCheck) -> list[str]:
    """Whether everything can be, and what it would fit."""
    fitting = "All can be." if check.is_possible else "Not all can be."
    how = "rounded or cut" if any(one.fit == "cut" for one in check.shares) else "rounded"
    told = [f"{fitting} So many at random would all fit one N, as {how}, with probability {check.by_luck:.2g}."]
    for others, how in ((check.others, "rounded"), (check.others_cut, "some cut")):
        if others:
            listed = ", ".join(f"{n:,}" for n in others[:N_NEARBY]) + _more(len(others) - N_NEARBY)
            told.append(f"The percentages fit {listed} near by ({how}).")
    return told


def shown(one: Figure) -> str:
    """A figure with its interval, in per cent: `62.89 (55.1 to 70.0)`; a difference in points."""
    if one.value is None:
        return "none"
    return signed_with(one) if one.kind == "difference" else f"{percent(one.value)} ({between(one)})"


def between(one: Figure) -> str:
    """The interval of a share: `55.1 to 70.0`."""
    return "" if one.low is None or one.high is None else from_to(one.low, one.high)


def kappa_of(one: Figure) -> str:
    """A coefficient with its interval."""
    value = "" if one.value is None else f"{one.value:z.3f}"
    return value if one.low is None or one.high is None else f"{value} ({one.low:z.3f} to {one.high:z.3f})"


def percent(value: float | None) -> str:
    """`0.6289` as `62.89`."""
    return "none" if value is None else f"{100 * value:z.2f}"


def signed(value: float | None) -> str:
    """A difference in points: `-21.38`."""
    return "none" if value is None else f"{100 * value:+z.2f}"


def signed_with(one: Figure) -> str:
    """A difference with its interval, in points."""
    return f"{signed(one.value)} ({signed(one.low)} to {signed(one.high)})"


def p_value(p: float | None) -> str:
    """`0.0310`, `< 0.0001` below that, and nothing where there is no test."""
    if p is None:
        return ""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _counts(counts: Counts) -> tuple[str, ...]:
    values = (counts.both, counts.only_first, counts.only_second, counts.neither)
    return tuple(f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}" for value in values)
