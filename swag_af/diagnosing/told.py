"""The diagnosis in words: an answer to each question, what would help, rows of tables. Measures nothing.

Advice is given only where an interval leaves out zero, and that something is at chance is said only where its whole
interval is within `MARGIN` of it; elsewhere it says that this is not known, and how much the interval allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from swag_af.auditing.runs.summary import Rows
from swag_af.data.numbers.percent import in_percent
from swag_af.diagnosing.agreement import Agreement
from swag_af.diagnosing.figures import MARGIN, Figure
from swag_af.diagnosing.growth import Against
from swag_af.diagnosing.left import Left
from swag_af.diagnosing.matched import advice_on_matching, matched_answers
from swag_af.diagnosing.outcome import Diagnosis, OfFilter
from swag_af.diagnosing.trend import Trend
from swag_af.diagnosing.words import (
    UNKNOWN,
    WITHIN,
    Answer,
    Status,
    above_chance,
    at_chance,
    change,
    control_said,
    negative,
    no_gain,
    not_told,
    number,
    on_accuracy,
    percent,
    points,
)

ALL_ASSIGNED = "Every candidate of the pool is assigned, so that no swap is possible."


def not_asked(diagnosis: Diagnosis) -> str:
    """What the figures are silent on."""
    wrong = "wrong answers are wrong" if diagnosis.is_matched else "the harder candidates are still wrong"
    return (
        f"Not asked: what other kinds of filters would find, and whether {wrong}. Intervals cover other contexts of "
        "this kind; fits of one filter share most contexts that they are fitted on."
    )


def headline(diagnosis: Diagnosis) -> str:
    """Why the curve is not lower, in a sentence or two; and what makes figures of a filter less than they seem."""
    found, caveats = answers(diagnosis), _caveats(diagnosis)
    if found[0].status != "open":
        return " ".join([found[0].found, found[0].means, *caveats])
    said = [one.means for one in found[1:] if one.status in ("limit", "open")]
    said = said or [f"{UNKNOWN} why it is not lower: no figure here decides it."]
    return " ".join([found[0].found, *said, *caveats])


def _caveats(diagnosis: Diagnosis) -> list[str]:
    """What is missing of the scores of each filter; nothing of most."""
    no_swap = "" if diagnosis.is_matched else "a run makes no swap by such, and "
    lines = []
    for one in diagnosis.filters:
        if one.unread:
            lines.append(
                f"In {in_percent(one.unread)} of the contexts {one.name} could not read gold or a distractor: these "
                "count as ties."
            )
        if one.n_unlearned:
            lines.append(
                f"Of {one.n_fits:,} fits of {one.name}, {one.n_unlearned:,} did not converge, and learned nothing: "
                f"{no_swap}the figures here are partly theirs."
            )
    return lines


def answers(diagnosis: Diagnosis) -> list[Answer]:
    """On the curve, the pool, the filter and the candidates, in this order; of a matched run on its accuracy, the
    filter and the matching."""
    if diagnosis.is_matched:
        return matched_answers(diagnosis)
    return [one(diagnosis) for one in (_curve, _pool, _filter, _source)]


def _curve(diagnosis: Diagnosis) -> Answer:
    at = f"The curve is at chance, {WITHIN}: there is no more than that left that"
    answer = on_accuracy(diagnosis, _BELOW, at, "something left")
    return answer if answer.status == "open" else replace(answer, means=f"{answer.means} {_sees(diagnosis)}")


_BELOW = (
    "The curve is below chance, as after swaps that went too far: whoever avoids what the filter prefers beats "
    "guessing."
)


def _sees(diagnosis: Diagnosis) -> str:
    """Whether a filter at chance sees anything at all."""
    name, random = diagnosis.main.name, _against_assigned(diagnosis)
    agreement = diagnosis.agreement(name, name)
    if random.accuracy.low > random.chance:
        return f"Random candidates it does tell from gold ({percent(random.accuracy)}), so swaps did this."
    neither = (
        f"Fitted on {diagnosis.main.growth.random[-1].n:,} contexts, it is not seen to tell random candidates from "
        f"gold either ({percent(random.accuracy)})"
    )
    less = " Fits on all contexts may see more: --limit left some out." if diagnosis.n < diagnosis.n_all else ""
    if not _correlated(agreement):
        return f"{neither}, and its fits are not seen to agree: it may read nothing at all.{less}"
    agree = f"{neither}, though its fits agree in part (rank correlation {number(agreement.correlation)})"
    if not random.accuracy.is_near(random.chance):
        return f"{agree}.{less}"
    return f"{agree}: to this filter random candidates are as good as gold, {WITHIN}, before any filtering.{less}"


def _correlated(agreement: Agreement) -> bool:
    return agreement.correlation is not None and agreement.correlation.low > 0


def _pool(diagnosis: Diagnosis) -> Answer:
    if not diagnosis.has_spares:
        return Answer("pool", "unknown", ALL_ASSIGNED, "What harder candidates would do cannot be asked of this pool.")
    left = diagnosis.main.left
    found = (
        f"No unassigned candidate scores above the easiest distractor in {percent(left.none_above_easiest)} of the "
        f"contexts, above gold in {percent(left.none_above_gold)}; in {percent(left.stuck)} a swap is wanted and none "
        f"is possible. If all took their hardest candidates: accuracy {percent(left.same_fit)} by the fit that chose "
        f"them (an optimist's bound), {percent(left.other_fit)} by another fit; now {percent(left.now)}. Fits on these "
        f"themselves find gold in {percent(left.fresh_hardest)}, beside {percent(left.fresh_now)} on the run's "
        "distractors, each fitted on a third of the contexts."
    )
    return Answer("pool", *_of_pool(diagnosis, found))


def _of_pool(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    left, chance = diagnosis.main.left, diagnosis.chance
    if at_chance(diagnosis):
        return "fine", found, "At chance or below, so the pool does not hold this curve up."
    if not above_chance(diagnosis):
        return (
            "unknown",
            found,
            f"{UNKNOWN} whether the pool holds it up: the curve is not distinguishable from chance.",
        )
    if left.other_fit.low > chance:
        up = f"even their hardest candidates leave {100 * (left.other_fit.value - chance):z.1f} points above chance."
        if left.none_above_easiest.low > 0.5:
            return "limit", found, f"The pool is used up: most contexts have no harder candidate left, and {up}"
        more = f" Swaps may still lower it by {points(left.fall_other)}." if left.fall_other.low > 0 else ""
        return "limit", found, f"The pool is the limit: of all contexts, {up}{more}"
    if left.fall_other.low <= 0:
        return "unknown", found, f"{UNKNOWN} whether the candidates that are left would lower the curve."
    seen = "The pool has harder candidates left, as present fits see them"
    if _is_denied(left, chance):
        return (
            "unknown",
            found,
            f"{seen}, but {_denial(left)}: {UNKNOWN.lower()} whether more iterations would lower it.",
        )
    if left.other_fit.high <= chance + MARGIN:
        return "open", found, f"{seen}, enough for chance {WITHIN}: more iterations can go there."
    return "open", found, f"{seen}: more iterations can lower it, by {points(left.fall_other)} at most."


def _is_denied(left: Left, chance: float) -> bool:
    """Whether fits on the hardest candidates find gold after all, and are not seen to find it less often than now."""
    return left.fresh_hardest.low > chance and left.fall_fresh.low <= 0


def _denial(left: Left) -> str:
    changed = change(negative(left.fall_fresh))
    return (
        f"fits on the hardest find gold above chance, in {percent(left.fresh_hardest)}, and not surely less often than "
        f"on the run's distractors ({changed})"
    )


def _filter(diagnosis: Diagnosis) -> Answer:
    name = diagnosis.main.name
    agreement = diagnosis.agreement(name, name)
    if not diagnosis.has_spares:
        found = f"Rank correlation of fits of {name} over candidates {number(agreement.correlation)}."
        return Answer("filter", "unknown", found, "Whether fits agree on swaps cannot be asked: none is possible.")
    if agreement.swaps is None:
        return Answer("filter", "unknown", "No fit would make a swap.", f"{UNKNOWN} whether swaps would be noise.")
    found = (
        f"Of the swaps that one fit of {name} would make, another fit finds {percent(agreement.swaps)} right; a coin "
        f"gives 50 %. Rank correlation over candidates {number(agreement.correlation)}."
    )
    if agreement.swaps.low <= 0.5:
        return Answer("filter", *_of_noise(agreement.swaps, diagnosis, found))
    seen = 200 * agreement.swaps.value - 100
    means = f"Fits agree more than by luck: {seen:.0f} % of the way from a coin to full agreement on swaps."
    return Answer("filter", "fine", found, means)


def _of_noise(swaps: Figure, diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    """Of fits that are not seen to agree on swaps."""
    # what is assigned was chosen among many, so a swap by noise may well bring in what is easier
    worse = f"or worse: it may find as few as {in_percent(swaps.low)} right"
    noise = f"swaps of one fit are noise to the next, {worse if swaps.low < 0.5 - MARGIN else WITHIN}"
    if swaps.high > 0.5 + MARGIN:
        most = 100 * (swaps.high - 0.5)
        return (
            "unknown",
            found,
            f"Not distinguishable from a coin; the interval allows up to {most:.1f} points: {UNKNOWN.lower()}.",
        )
    if at_chance(diagnosis):
        return "fine", found, f"{noise.capitalize()}; the curve is at chance all the same."
    if not above_chance(diagnosis):
        return "unknown", found, f"{noise.capitalize()}; the curve is not distinguishable from chance."
    means = f"The filter is the limit: {noise}. A filter that learns the same from other contexts would go on."
    return "limit", found, means


def _source(diagnosis: Diagnosis) -> Answer:
    one, some = diagnosis.main.growth.against[0], _against_assigned(diagnosis)
    found = (
        f"Random candidates of the pool: {diagnosis.main.name} tells gold from one in {percent(one.accuracy)} "
        f"(guessing {in_percent(one.chance)})"
    )
    if some.n_negatives > 1:
        found += f", from {some.n_negatives} in {percent(some.accuracy)} (guessing {in_percent(some.chance)})"
    found += f".{control_said(diagnosis.main)}"
    if some.accuracy.low > some.chance:
        return Answer("candidates", *_given_away(diagnosis, found))
    if some.accuracy.is_near(some.chance):
        means = f"To this filter random candidates are as gold is, {WITHIN}."
        return Answer("candidates", "fine", found, means)
    if some.accuracy.high < some.chance:
        means = "Below chance: gold looks like what is wrong to this filter, as where candidates are golds of others."
        return Answer("candidates", "unknown", found, means)
    told = not_told(some.accuracy, some.chance)
    return Answer("candidates", "unknown", found, f"That is {told} whether they are as gold is.")


def _given_away(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    means = "Random candidates give themselves away to this filter before any filtering"
    if above_chance(diagnosis):
        return "limit", found, f"{means}, and some of that is left."
    if at_chance(diagnosis):
        return "fine", found, f"{means}; swaps have taken that away."
    return "unknown", found, f"{means}; {UNKNOWN.lower()} whether some of that is left."


def _against_assigned(diagnosis: Diagnosis) -> Against:
    """Gold against as many random candidates as the run assigns, or as there are."""
    largest = diagnosis.n_assigned - 1
    return [one for one in diagnosis.main.growth.against if one.n_negatives <= largest][-1]


def advice(diagnosis: Diagnosis) -> list[str]:
    """What would help, a sentence for each: more iterations, candidates or contexts, other candidates, another
    matching."""
    if diagnosis.is_matched:
        return [advice_on_matching(diagnosis), *_contexts(diagnosis)]
    if not above_chance(diagnosis):
        return [f"More iterations, more candidates, others: {no_gain(diagnosis)}", *_contexts(diagnosis)]
    if not diagnosis.has_spares:
        more = "More iterations: none can swap anything. More candidates: a pool without spare ones does not say."
        return [more, *_contexts(diagnosis), _better(diagnosis)]
    return [_iterations(diagnosis), _candidates(diagnosis), *_contexts(diagnosis), _better(diagnosis)]


def _iterations(diagnosis: Diagnosis) -> str:
    left = diagnosis.main.left
    if left.fall_other.low <= 0:
        changed = change(negative(left.fall_other))
        return f"More iterations: {UNKNOWN.lower()}; taking the hardest candidates changes accuracy by {changed}."
    lowest = f"chance, {in_percent(diagnosis.chance)},"
    if left.other_fit.high > diagnosis.chance:
        lowest = f"{percent(left.other_fit)}, chance {in_percent(diagnosis.chance)},"
    said = f"More iterations: down to {lowest} at best with this pool, as present fits see what is hardest."
    return f"{said} But {_denial(left)}." if _is_denied(left, diagnosis.chance) else said


def _candidates(diagnosis: Diagnosis) -> str:
    left, chance, trend = diagnosis.main.left, diagnosis.chance, diagnosis.main.more_candidates
    twice = 2 * trend.largest
    if left.other_fit.low <= chance:
        if _is_denied(left, chance):
            return f"More candidates: {UNKNOWN.lower()}; {_denial(left)}."
        if left.other_fit.high <= chance + MARGIN:
            return f"More candidates: not needed; the hardest that are there bring present fits to chance, {WITHIN}."
        told = not_told(left.other_fit, chance)
        return f"More candidates: present fits on the hardest that are there are {told} whether more are needed."
    if trend.direction < 0 and trend.doubled is not None:
        return (
            f"More candidates: {twice:,} a context in place of {trend.largest:,} would lower the accuracy among the "
            f"hardest by {points(negative(trend.doubled))}, by a power law and present fits."
        )
    return f"More candidates: {_unsaid(trend, f'{twice:,} a context')}"


def _better(diagnosis: Diagnosis) -> str:
    main, chance, some = diagnosis.main, diagnosis.chance, _against_assigned(diagnosis)
    if some.accuracy.low <= some.chance:
        return (
            f"Other candidates, by another generator or from elsewhere: {UNKNOWN.lower()}; {main.name} is not seen to "
            f"tell random ones of these from gold ({percent(some.accuracy)}, guessing {in_percent(some.chance)})."
        )
    return (
        f"Other candidates, by another generator or from elsewhere: {main.name} finds gold among random ones of these "
        f"{100 * (some.accuracy.value - some.chance):z.1f} points more often than by chance, and among the run's "
        f"distractors {100 * (main.left.now.value - chance):z.1f} points. Such as it could not tell from "
        "gold would take both to chance; how near others come, we do not know."
    )


def _contexts(diagnosis: Diagnosis) -> list[str]:
    """A sentence for each trend that is known, one for those that are not."""
    asked = {"the run's distractors": diagnosis.main.more_contexts_assigned}
    if not diagnosis.is_matched:  # whose random candidates are the run's distractors
        asked["random candidates"] = diagnosis.main.more_contexts_random
    told, unknown = [], dict[str, Trend]()
    for what, trend in asked.items():
        if trend.doubled is None or not trend.direction:
            unknown[what] = trend
        else:
            told.append(_of_contexts(2 * trend.largest, trend.doubled, what))
    return [*told, *([_unknown_contexts(unknown)] if unknown else [])]


def _of_contexts(n: int, doubled: Figure, what: str) -> str:
    is_more = doubled.value > 0
    changed, told = points(doubled if is_more else negative(doubled)), "better" if is_more else "worse"
    said = f"More contexts: fitted on {n:,}, it would tell gold from {what} {told} by {changed}"
    if is_more and what.startswith("the run"):
        return f"{said}: accuracy is as low as it is partly for want of contexts to learn from."
    return f"{said}."


def _unknown_contexts(trends: Mapping[str, Trend]) -> str:
    """What is not known of each, the reason once where all have one."""
    twice = 2 * max(trend.largest for trend in trends.values())
    said = f"More contexts: {UNKNOWN.lower()} whether fits on {twice:,} would tell gold better from"
    whys = {what: f" ({_why_unsaid(trend)})" for what, trend in trends.items()}
    if len(set(whys.values())) == 1:
        said = f"{said} {' or from '.join(trends)}{next(iter(whys.values()))}."
    else:
        said = f"{said} {' or from '.join(what + why for what, why in whys.items())}."
    lasts = [f"{change(trend.last)} on {what}" for what, trend in trends.items() if trend.last]
    return f"{said} The last doubling changed accuracy by {', '.join(lasts)}." if lasts else said


def _unsaid(trend: Trend, what: str) -> str:
    """Why nothing is said of twice as much; and what the last doubling did."""
    last = f" The last doubling changed accuracy by {change(trend.last)}." if trend.last else ""
    return f"{UNKNOWN.lower()} what {what} would do ({_why_unsaid(trend)}).{last}"


def _why_unsaid(trend: Trend) -> str:
    return f"the power law says {change(trend.doubled)}" if trend.doubled else trend.why_unknown


def tables(diagnosis: Diagnosis) -> dict[str, list[Rows]]:
    """The tables behind each answer, and behind what would help; all that there are, in the order of the answers."""
    of_filter, against = agreement_rows(diagnosis), against_rows(diagnosis.filters)
    if diagnosis.is_matched:
        return {"filter": [of_filter], "matching": [against, growth_rows(diagnosis)], "help": []}
    return {
        "pool": [left_rows(diagnosis), fresh_rows(diagnosis)],
        "filter": [of_filter],
        "candidates": [against, growth_rows(diagnosis)],
        "help": [fewer_rows(diagnosis.main)],
    }


def left_rows(diagnosis: Diagnosis) -> Rows:
    """What the pool has left, a row for each filter."""
    rows: Rows = [("filter", "no harder one left", "none above gold", "now", "hardest: same fit", "another fit")]
    for one in diagnosis.filters:
        left = one.left
        figures = (left.none_above_easiest, left.none_above_gold, left.now, left.same_fit, left.other_fit)
        known = figures if diagnosis.has_spares else (None, None, left.now, None, None)
        rows.append((one.name, *map(percent, known)))
    return rows


def fresh_rows(diagnosis: Diagnosis) -> Rows:
    """What fits on a third find: on the run's distractors, on the hardest candidates."""
    rows: Rows = [("fitted on a third", "the run's distractors", "the hardest", "change")]
    for one in diagnosis.filters:
        left = one.left
        hardest = (percent(left.fresh_hardest), change(negative(left.fall_fresh)))
        rows.append((one.name, percent(left.fresh_now), *(hardest if diagnosis.has_spares else ("–", "–"))))
    return rows


def agreement_rows(diagnosis: Diagnosis) -> Rows:
    """How far fits agree, a row for each kind of pair."""
    rows: Rows = [("fits", "rank correlation", "swaps right", "easy to both", "by luck", "wrong too", "by luck")]
    for one in diagnosis.agreements:
        easy = "–" if one.easy_by_luck is None else in_percent(one.easy_by_luck)
        wrong = (percent(one.wrong), in_percent(one.wrong_by_luck))
        rows.append((pair_name(one), number(one.correlation), percent(one.swaps), percent(one.easy), easy, *wrong))
    return rows


def pair_name(agreement: Agreement) -> str:
    """`bow, other seeds`, or `bow and cnn`."""
    one, other = agreement.of
    return f"{one}, other seeds" if one == other else f"{one} and {other}"


def growth_rows(diagnosis: Diagnosis) -> Rows:
    """The accuracy of the first filter by number of contexts."""
    growth = diagnosis.main.growth
    if diagnosis.is_matched:
        of_each = [(f"{one.n:,}", percent(one.accuracy)) for one in growth.assigned]
        return [("contexts", "the run's distractors"), *of_each]
    rows: Rows = [("contexts", "random candidates", "the run's distractors")]
    for random, assigned in zip(growth.random, growth.assigned, strict=True):
        rows.append((f"{random.n:,}", percent(random.accuracy), percent(assigned.accuracy)))
    return rows


def against_rows(filters: Sequence[OfFilter]) -> Rows:
    """Gold against one random candidate, as many as are assigned, many; and the control."""
    rows: Rows = [("filter", "random candidates", "accuracy", "chance")]
    for one in filters:
        for of in one.growth.against:
            rows.append((one.name, f"{of.n_negatives:,}", percent(of.accuracy), in_percent(of.chance)))
        if control := one.growth.control:
            of_control = f"{control.n_negatives:,}, one for gold"
            rows.append((one.name, of_control, percent(control.accuracy), in_percent(control.chance)))
    return rows


def fewer_rows(main: OfFilter) -> Rows:
    """Accuracy if contexts took their hardest candidates, by how many they have."""
    rows: Rows = [("candidates a context", "accuracy by another fit")]
    return [*rows, *((f"{one.n_candidates:,}", percent(one.accuracy)) for one in main.fewer)]
