"""The diagnosis in words: an answer to each question, what would help, rows of tables. Measures nothing.

Advice is given only where an interval leaves out zero, and that something is at chance is said only where its whole
interval is within `MARGIN` of it; elsewhere it says what was not tested and what would test it, or that it is undecided
and how much the interval allows. No brackets stand within brackets.
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
    NARROWER,
    WITHIN,
    Answer,
    Status,
    above_chance,
    at_chance,
    cell,
    change,
    control_said,
    negative,
    no_gain,
    not_told,
    number,
    on_accuracy,
    percent,
    points,
    told_from,
)

ALL_ASSIGNED = "Every candidate of the pool is assigned, so that no swap is possible."
LARGER = "A pool with more negatives, filtered and diagnosed in the same way, tests it."
CONTINUED = "`swag-af filter` with a larger --iterations goes on with this run, and tests it."

Captioned = list[tuple[str, Rows]]
"""Tables, each after a sentence that explains it."""


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
    said = said or ["No figure here decides why it is not lower: see below what was not tested."]
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
        return f"It does find gold among random candidates, in {percent(random.accuracy)}, so swaps did this."
    neither = (
        f"Fitted on {diagnosis.main.growth.random[-1].n:,} contexts, it is not seen to tell random candidates from "
        f"gold either, and finds it in {percent(random.accuracy)}"
    )
    less = " Fits on all contexts may see more: --limit left some out." if diagnosis.n < diagnosis.n_all else ""
    if not _correlated(agreement):
        return f"{neither}. And its fits are not seen to agree: it may read nothing at all.{less}"
    agree = f"{neither}. Its fits do agree in part, with a rank correlation of {number(agreement.correlation)}"
    if not random.accuracy.is_near(random.chance):
        return f"{agree}.{less}"
    return f"{agree}: to this filter random candidates are as good as gold, {WITHIN}, before any filtering.{less}"


def _correlated(agreement: Agreement) -> bool:
    return agreement.correlation is not None and agreement.correlation.low > 0


def _pool(diagnosis: Diagnosis) -> Answer:
    if not diagnosis.has_spares:
        means = f"Not tested: what harder candidates would do, since this pool has none to spare. {LARGER}"
        return Answer("pool", "unknown", ALL_ASSIGNED, means)
    left = diagnosis.main.left
    found = (
        f"Gold is found in {percent(left.now)} now. If every context took its hardest candidates, another fit would "
        f"find it in {percent(left.other_fit)}. In {percent(left.none_above_easiest)} of the contexts no unassigned "
        "candidate is harder than the easiest distractor. New fits that learn from the hardest candidates find gold in "
        f"{percent(left.fresh_hardest)}; such fits on the run's distractors, of as many contexts, in "
        f"{percent(left.fresh_now)}."
    )
    return Answer("pool", *_of_pool(diagnosis, found))


def _of_pool(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    left, chance = diagnosis.main.left, diagnosis.chance
    if at_chance(diagnosis):
        common = " The hardest have something in common that new fits learn: all of them at once would give gold away."
        is_found_again = left.fresh_hardest.low > chance and left.fall_fresh.high < 0
        means = "The curve is at chance or below, so the pool does not hold it up."
        return "fine", found, means + (common if is_found_again else "")
    if not above_chance(diagnosis):
        return "unknown", found, "The curve is not distinguishable from chance, so there may be little to hold up."
    if left.other_fit.low > chance:
        up = f"even their hardest candidates leave {100 * (left.other_fit.value - chance):z.1f} points above chance."
        if left.none_above_easiest.low > 0.5:
            return "limit", found, f"The pool is used up: most contexts have no harder candidate left, and {up}"
        more = f" Swaps may still lower it by {points(left.fall_other)}." if left.fall_other.low > 0 else ""
        return "limit", found, f"The pool is the limit: over all contexts, {up}{more}"
    if left.fall_other.low <= 0:
        means = (
            f"Taking the hardest candidates changes accuracy by {change(negative(left.fall_other))}, which may be none."
        )
        return "unknown", found, means
    seen = "The pool has harder candidates left, as present fits see them"
    if _is_denied(left, chance):
        return "unknown", found, f"{seen}. But {_denial(left)}. So more iterations may lower the curve, or may not."
    if left.other_fit.high <= chance + MARGIN:
        return "open", found, f"{seen}, enough for chance {WITHIN}: more iterations can go there."
    return "open", found, f"{seen}: more iterations can lower it, by {points(left.fall_other)} at most."


def _is_denied(left: Left, chance: float) -> bool:
    """Whether fits on the hardest candidates find gold after all, and are not seen to find it less often than now."""
    return left.fresh_hardest.low > chance and left.fall_fresh.low <= 0


def _denial(left: Left) -> str:
    changed, beside = change(negative(left.fall_fresh)), "not surely less" if left.fall_fresh.high >= 0 else "more"
    return (
        f"fits on the hardest find gold above chance, in {percent(left.fresh_hardest)}, and {beside} often than on the "
        f"run's distractors: the change is {changed}"
    )


def _filter(diagnosis: Diagnosis) -> Answer:
    name = diagnosis.main.name
    agreement = diagnosis.agreement(name, name)
    if not diagnosis.has_spares:
        found = f"The rank correlation of two fits of {name} over the candidates is {number(agreement.correlation)}."
        means = f"Not tested: whether fits agree on swaps, since none is possible. {LARGER}"
        return Answer("filter", "unknown", found, means)
    if agreement.swaps is None:
        means = (
            "Not tested: whether fits agree on swaps. Another filter (--filters) may find distractors that are easy."
        )
        return Answer("filter", "unknown", "No fit would make a swap.", means)
    found = (
        f"Of the swaps that one fit of {name} would make, another fit finds {percent(agreement.swaps)} right; a coin "
        f"gives 50 %. The rank correlation of two fits over all candidates is {number(agreement.correlation)}; 1 is "
        "the same order, 0 is no agreement."
    )
    if agreement.swaps.low <= 0.5:
        return Answer("filter", *_of_noise(agreement.swaps, diagnosis, found))
    seen = 200 * agreement.swaps.value - 100
    means = f"Fits agree on swaps more than by luck: {seen:.0f} % of the way from a coin to full agreement."
    return Answer("filter", "fine", found, means)


def _of_noise(swaps: Figure, diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    """Of fits that are not seen to agree on swaps."""
    # what is assigned was chosen among many, so a swap by noise may well bring in what is easier
    worse = f"or worse: it may find as few as {in_percent(swaps.low)} right"
    noise = f"swaps of one fit are noise to the next, {worse if swaps.low < 0.5 - MARGIN else WITHIN}"
    if swaps.high > 0.5 + MARGIN:
        most = 100 * (swaps.high - 0.5)
        means = f"Swaps are not distinguishable from a coin: the interval allows up to {most:.1f} points. {NARROWER}"
        return "unknown", found, means
    if at_chance(diagnosis):
        return "fine", found, f"{noise.capitalize()}; the curve is at chance all the same."
    if not above_chance(diagnosis):
        return "unknown", found, f"{noise.capitalize()}; the curve is not distinguishable from chance."
    means = f"The filter is the limit: {noise}. A filter that learns the same from other contexts would go on."
    return "limit", found, means


def _source(diagnosis: Diagnosis) -> Answer:
    one, some = diagnosis.main.growth.against[0], _against_assigned(diagnosis)
    found = f"{diagnosis.main.name} tells gold from {told_from(one, 'random candidate')}"
    found += f"; from {told_from(some, 'random candidate')}" if some.n_negatives > 1 else ""
    found += f".{control_said(diagnosis.main)}"
    if some.accuracy.low > some.chance:
        return Answer("candidates", *_given_away(diagnosis, found))
    if some.accuracy.is_near(some.chance):
        means = f"To this filter random candidates are as gold is, {WITHIN}."
        return Answer("candidates", "fine", found, means)
    if some.accuracy.high < some.chance:
        means = "Below chance: gold looks like what is wrong to this filter, as where candidates are golds of others."
        return Answer("candidates", "unknown", found, means)
    return Answer("candidates", "unknown", found, f"That is {not_told(some.accuracy, some.chance)}. {NARROWER}")


def _given_away(diagnosis: Diagnosis, found: str) -> tuple[Status, str, str]:
    means = "Random candidates give themselves away to this filter before any filtering"
    if above_chance(diagnosis):
        return "limit", found, f"{means}, and some of that is left."
    if at_chance(diagnosis):
        return "fine", found, f"{means}; swaps have taken that away."
    return "unknown", found, f"{means}. The curve is too near to chance to say whether some of that is left."


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
        more = ["More iterations: none can swap anything.", f"More candidates: not tested. {LARGER}"]
        return [*more, *_contexts(diagnosis), _better(diagnosis)]
    return [_iterations(diagnosis), _candidates(diagnosis), *_contexts(diagnosis), _better(diagnosis)]


def _iterations(diagnosis: Diagnosis) -> str:
    left = diagnosis.main.left
    if left.fall_other.low <= 0:
        changed = change(negative(left.fall_other))
        return (
            f"More iterations: not tested. Taking the hardest candidates changes accuracy by {changed}, which may be "
            f"none. {CONTINUED}"
        )
    lowest = "chance"
    if left.other_fit.high > diagnosis.chance:
        lowest = percent(left.other_fit)
    said = (
        f"More iterations: at best they take accuracy from {percent(left.now)} down to {lowest} with this pool, as "
        f"present fits see what is hardest; chance is {in_percent(diagnosis.chance)}."
    )
    but = f" But {_denial(left)}." if _is_denied(left, diagnosis.chance) else ""
    return f"{said}{but} {CONTINUED}"


def _candidates(diagnosis: Diagnosis) -> str:
    left, chance, trend = diagnosis.main.left, diagnosis.chance, diagnosis.main.more_candidates
    twice = 2 * trend.largest
    if left.other_fit.low <= chance:
        if _is_denied(left, chance):
            return f"More candidates: not tested. Present fits cannot tell, for {_denial(left)}. {LARGER}"
        if left.other_fit.high <= chance + MARGIN:
            return f"More candidates: not needed; the hardest that are there bring present fits to chance, {WITHIN}."
        told = not_told(left.other_fit, chance)
        return f"More candidates: not tested. Present fits on the hardest that are there are {told}. {LARGER}"
    if trend.direction < 0 and trend.doubled is not None:
        return (
            f"More candidates: {twice:,} a context in place of {trend.largest:,} would lower the accuracy among the "
            f"hardest by {points(negative(trend.doubled))}, if the trend over smaller pools goes on. {LARGER}"
        )
    last = f" The last doubling changed accuracy by {change(trend.last)}." if trend.last else ""
    said = f"More candidates: not tested. What {twice:,} a context would do cannot be predicted: {_why_unsaid(trend)}."
    return f"{said}{last} {LARGER}"


def _better(diagnosis: Diagnosis) -> str:
    main, chance, some = diagnosis.main, diagnosis.chance, _against_assigned(diagnosis)
    if some.accuracy.low <= some.chance:
        return (
            f"{_OTHERS} {main.name} is not seen to tell random ones of these from gold: it finds gold in "
            f"{percent(some.accuracy)}, where guessing finds {in_percent(some.chance)}. {_OTHER_POOL}"
        )
    return (
        f"{_OTHERS} {main.name} finds gold among random ones of these "
        f"{100 * (some.accuracy.value - some.chance):z.1f} points more often than by chance, and among the run's "
        f"distractors {100 * (main.left.now.value - chance):z.1f} points. Candidates that it cannot tell from gold "
        f"would take both to chance. {_OTHER_POOL}"
    )


_OTHERS = "Other candidates, by another generator or from elsewhere: not tested."
_OTHER_POOL = "Make a pool of them from the same contexts, and filter and diagnose it: that tells how near they come."


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
    said = f"More contexts: fits on {n:,} would tell gold from {what} {told} by {changed}, if the trend goes on."
    if is_more and what.startswith("the run"):
        return f"{said} So accuracy is as low as it is partly for want of contexts to learn from."
    return said


def _unknown_contexts(trends: Mapping[str, Trend]) -> str:
    """What is not known of each, the reason once where all have one."""
    twice = 2 * max(trend.largest for trend in trends.values())
    said = (
        f"More contexts: not tested. Whether fits on {twice:,} would tell gold better from {' or from '.join(trends)} "
    )
    whys = {what: _why_unsaid(trend) for what, trend in trends.items()}
    if len(set(whys.values())) == 1:
        said += f"cannot be predicted: {next(iter(whys.values()))}."
    else:
        said += f"cannot be predicted: {'; '.join(f'of {what}, {why}' for what, why in whys.items())}."
    lasts = [f"{change(trend.last)} on {what}" for what, trend in trends.items() if trend.last]
    said += f" The last doubling changed accuracy by {', '.join(lasts)}." if lasts else ""
    return f"{said} A run of more contexts, diagnosed, tests it."


def _why_unsaid(trend: Trend) -> str:
    return f"the trend says {change(trend.doubled)}, which may be none" if trend.doubled else trend.why_unknown


def tables(diagnosis: Diagnosis) -> dict[str, Captioned]:
    """The tables behind each answer, and behind what would help; all that there are, in the order of the answers."""
    of_filter: Captioned = [(_ORDER, order_rows(diagnosis)), (_BOTH, agreement_rows(diagnosis))]
    growth: Captioned = [(_AGAINST, against_rows(diagnosis.filters)), (_GROWTH, growth_rows(diagnosis))]
    if diagnosis.is_matched:
        return {"filter": of_filter, "matching": growth, "help": []}
    pool = [(_LEFT, left_rows(diagnosis)), (_HARDEST, hardest_rows(diagnosis)), (_FRESH, fresh_rows(diagnosis))]
    return {"pool": pool, "filter": of_filter, "candidates": growth, "help": [(_FEWER, fewer_rows(diagnosis.main))]}


_LEFT = "In how many contexts, in %, no unassigned candidate is harder; in how many an easy distractor has to stay:"
_HARDEST = "How often gold is found, in %: now, and if every context took its hardest candidates:"
_FRESH = "How often new fits find gold, in %, that learn from these candidates in a third of the contexts:"
_ORDER = "How far two fits agree: on the order of candidates (1 is the same), and on swaps, in % (50 is a coin):"
_BOTH = "Of what one fit finds easy, or gets wrong, the share that another does too, in %, and the share by luck:"
_AGAINST = "How often gold is found, in %, beside so many random candidates; in the control a random one stands for it:"
_GROWTH = "How often gold is found, in %, by fits on so many contexts:"
_FEWER = "How often another fit finds gold, in %, if contexts had so many candidates and took the hardest:"


def left_rows(diagnosis: Diagnosis) -> Rows:
    """What the pool has left, a row for each filter."""
    rows: Rows = [("filter", "than the easiest", "than gold", "has to stay")]
    for one in diagnosis.filters:
        figures = (one.left.none_above_easiest, one.left.none_above_gold, one.left.stuck)
        rows.append((one.name, *map(cell, figures if diagnosis.has_spares else (None, None, None))))
    return rows


def hardest_rows(diagnosis: Diagnosis) -> Rows:
    """Accuracy now, and if the hardest were taken, a row for each filter."""
    rows: Rows = [("filter", "now", "by the fit that chose", "by another fit")]
    for one in diagnosis.filters:
        hardest = (one.left.same_fit, one.left.other_fit) if diagnosis.has_spares else (None, None)
        rows.append((one.name, *map(cell, (one.left.now, *hardest))))
    return rows


def fresh_rows(diagnosis: Diagnosis) -> Rows:
    """What fits on a third find: on the run's distractors, on the hardest candidates."""
    rows: Rows = [("filter", "run's distractors", "the hardest", "change in points")]
    for one in diagnosis.filters:
        left = one.left
        hardest = (cell(left.fresh_hardest), change(negative(left.fall_fresh)).replace(" points", ""))
        rows.append((one.name, cell(left.fresh_now), *(hardest if diagnosis.has_spares else ("–", "–"))))
    return rows


def order_rows(diagnosis: Diagnosis) -> Rows:
    """How far fits agree on order and on swaps, a row for each kind of pair."""
    rows: Rows = [("fits", "rank correlation", "swaps found right")]
    return [*rows, *((pair_name(one), number(one.correlation), cell(one.swaps)) for one in diagnosis.agreements)]


def agreement_rows(diagnosis: Diagnosis) -> Rows:
    """How far fits agree on what is easy and in their mistakes, a row for each kind of pair."""
    rows: Rows = [("fits", "easy to both", "by luck", "both are wrong", "by luck")]
    for one in diagnosis.agreements:
        easy = "–" if one.easy_by_luck is None else f"{100 * one.easy_by_luck:z.1f}"
        wrong = (cell(one.wrong), f"{100 * one.wrong_by_luck:z.1f}")
        rows.append((pair_name(one), cell(one.easy), easy, *wrong))
    return rows


def pair_name(agreement: Agreement) -> str:
    """`bow, other seeds`, or `bow and cnn`."""
    one, other = agreement.of
    return f"{one}, other seeds" if one == other else f"{one} and {other}"


def growth_rows(diagnosis: Diagnosis) -> Rows:
    """The accuracy of the first filter by number of contexts."""
    growth = diagnosis.main.growth
    if diagnosis.is_matched:
        of_each = [(f"{one.n:,}", cell(one.accuracy)) for one in growth.assigned]
        return [("contexts", "the run's distractors"), *of_each]
    rows: Rows = [("contexts", "random candidates", "the run's distractors")]
    for random, assigned in zip(growth.random, growth.assigned, strict=True):
        rows.append((f"{random.n:,}", cell(random.accuracy), cell(assigned.accuracy)))
    return rows


def against_rows(filters: Sequence[OfFilter]) -> Rows:
    """Gold against one random candidate, as many as are assigned, many; and the control."""
    rows: Rows = [("filter", "random candidates", "accuracy", "chance")]
    for one in filters:
        for of in one.growth.against:
            rows.append((one.name, f"{of.n_negatives:,}", cell(of.accuracy), f"{100 * of.chance:.1f}"))
        if control := one.growth.control:
            of_control = f"control, {control.n_negatives:,}"
            rows.append((one.name, of_control, cell(control.accuracy), f"{100 * control.chance:.1f}"))
    return rows


def fewer_rows(main: OfFilter) -> Rows:
    """Accuracy if contexts took their hardest candidates, by how many they have."""
    rows: Rows = [("candidates a context", "accuracy by another fit")]
    return [*rows, *((f"{one.n_candidates:,}", cell(one.accuracy)) for one in main.fewer)]
