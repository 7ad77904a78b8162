"""The diagnosis in words: an answer to each question, what would help, rows of tables. Measures nothing.

Advice is given only where an interval leaves out zero; elsewhere it says that this is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from swag_af.auditing.summary import Rows
from swag_af.diagnosing.agreement import Agreement
from swag_af.diagnosing.figures import Figure
from swag_af.diagnosing.growth import Against
from swag_af.diagnosing.left import Left
from swag_af.diagnosing.outcome import Diagnosis, OfFilter
from swag_af.diagnosing.trend import Trend

Status = Literal["limit", "open", "fine", "unknown"]
"""It holds the curve up; it leaves room to go on; it is not the reason; the figures do not say."""
UNKNOWN = "We do not know"
NOT_ASKED = (
    "Not asked: what other kinds of filters would find, and whether the harder candidates are still wrong. Intervals "
    "cover other contexts of this kind; fits of one filter share most contexts that they are fitted on."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found on one question."""

    about: Literal["curve", "pool", "filter", "generator"]
    status: Status
    found: str
    """The figures, in a sentence."""
    means: str
    """What that means, in a sentence or two."""


def headline(diagnosis: Diagnosis) -> str:
    """Why the curve is not lower, in a sentence or two."""
    found = answers(diagnosis)
    if found[0].status == "fine":
        return f"{found[0].found} {found[0].means}"
    said = [one.means for one in found[1:] if one.status in ("limit", "open")]
    return " ".join([found[0].found, *(said or [f"{UNKNOWN} why it is not lower: no figure here decides it."])])


def answers(diagnosis: Diagnosis) -> list[Answer]:
    """On the curve, the pool, the filter and the generator, in this order."""
    return [one(diagnosis) for one in (_curve, _pool, _filter, _generator)]


def _curve(diagnosis: Diagnosis) -> Answer:
    main, chance = diagnosis.main, diagnosis.chance
    now = main.left.now
    found = f"Fresh fits of {main.name} find gold in {percent(now)} of the contexts; guessing finds {share(chance)}."
    if now.low > chance:
        gap = f"{100 * (now.value - chance):.1f} points above chance are to be explained."
        return Answer("curve", "open", found, gap)
    means = "The curve is at chance: there is nothing left that this filter finds."
    if now.high < chance:
        means = (
            "The curve is below chance, as after swaps that went too far: whoever avoids what the filter prefers beats "
            "guessing."
        )
    return Answer("curve", "fine", found, " ".join([means, _sees(diagnosis)]))


def _sees(diagnosis: Diagnosis) -> str:
    """Whether a filter at chance sees anything at all."""
    name, random = diagnosis.main.name, _against_assigned(diagnosis)
    agreement = diagnosis.agreement(name, name)
    if random.accuracy.low > random.chance:
        return f"Random candidates it does tell from gold ({percent(random.accuracy)}), so swaps did this."
    neither = (
        f"Fitted on {diagnosis.main.growth.random[-1].n:,} contexts, it tells no random candidate from gold either"
    )
    less = " Fits on all contexts may see more: --limit left some out." if diagnosis.n < diagnosis.n_all else ""
    if not _correlated(agreement):
        return f"{neither}, and its fits do not agree: it may read nothing at all.{less}"
    return (
        f"{neither}, though its fits agree in part (rank correlation {number(agreement.correlation)}): to this filter "
        f"the generator is as good as gold, before any filtering.{less}"
    )


def _at_chance(diagnosis: Diagnosis) -> bool:
    return diagnosis.main.left.now.low <= diagnosis.chance


def _correlated(agreement: Agreement) -> bool:
    return agreement.correlation is not None and agreement.correlation.low > 0


def _pool(diagnosis: Diagnosis) -> Answer:
    left = diagnosis.main.left
    found = (
        f"No unassigned candidate scores above the easiest distractor in {percent(left.none_above_easiest)} of the "
        f"contexts, above gold in {percent(left.none_above_gold)}; in {percent(left.stuck)} a swap is wanted and none "
        f"is possible. If all took their hardest candidates: accuracy {percent(left.same_fit)} by the fit that chose "
        f"them (an optimist's bound), {percent(left.other_fit)} by another fit; now {percent(left.now)}. Fits on these "
        f"themselves find gold in {percent(left.fresh_hardest)}, beside {percent(left.fresh_now)} on the run's "
        "distractors, each fitted on a third of the contexts."
    )
    return Answer("pool", *_of_pool(left, diagnosis.chance, found))


def _of_pool(left: Left, chance: float, found: str) -> tuple[Status, str, str]:
    if left.now.low <= chance:
        return "fine", found, "At chance or below, so the pool does not hold this curve up."
    if left.other_fit.low > chance:
        up = f"even their hardest candidates leave {100 * (left.other_fit.value - chance):.1f} points above chance."
        if left.none_above_easiest.low > 0.5:
            return "limit", found, f"The pool is used up: most contexts have no harder candidate left, and {up}"
        more = f" Swaps may still lower it by {points(left.fall_other)}." if left.fall_other.low > 0 else ""
        return "limit", found, f"The pool is the limit: of all contexts, {up}{more}"
    if left.fall_other.low > 0:
        enough = "enough for chance as present fits see them: more iterations can go there."
        return "open", found, f"The pool has harder candidates left, {enough}"
    return "unknown", found, f"{UNKNOWN} whether the candidates that are left would lower the curve."


def _filter(diagnosis: Diagnosis) -> Answer:
    name = diagnosis.main.name
    agreement = diagnosis.agreement(name, name)
    if agreement.swaps is None:
        return Answer("filter", "unknown", "No fit would make a swap.", f"{UNKNOWN} whether swaps would be noise.")
    found = (
        f"Of the swaps that one fit of {name} would make, another fit finds {percent(agreement.swaps)} right; a coin "
        f"gives 50 %. Rank correlation over candidates {number(agreement.correlation)}."
    )
    if agreement.swaps.low <= 0.5 and _at_chance(diagnosis):
        return Answer(
            "filter", "fine", found, "Swaps of one fit are noise to the next; the curve is at chance all the same."
        )
    if agreement.swaps.low <= 0.5:
        means = (
            "The filter is the limit: swaps of one fit are noise to the next. A filter that learns the same from other "
            "contexts would go on."
        )
        return Answer("filter", "limit", found, means)
    seen = 200 * agreement.swaps.value - 100
    means = f"Fits agree more than by luck: {seen:.0f} % of the way from a coin to full agreement on swaps."
    return Answer("filter", "fine", found, means)


def _generator(diagnosis: Diagnosis) -> Answer:
    one, some = diagnosis.main.growth.against[0], _against_assigned(diagnosis)
    found = (
        f"Random candidates of the pool: {diagnosis.main.name} tells gold from one in {percent(one.accuracy)} "
        f"(guessing {share(one.chance)}), from {some.n_negatives} in {percent(some.accuracy)} (guessing "
        f"{share(some.chance)})."
    )
    found += _control_said(diagnosis.main)
    if some.accuracy.low <= some.chance:
        return Answer("generator", "fine", found, "To this filter the generator writes as people do.")
    means = "What the generator writes gives itself away to this filter before any filtering"
    if _at_chance(diagnosis):
        return Answer("generator", "fine", found, f"{means}; swaps have taken that away.")
    return Answer("generator", "limit", found, f"{means}, and some of that is left.")


def _control_said(main: OfFilter) -> str:
    control = main.growth.control
    if control is None:
        return ""
    said = (
        f" With a random candidate in the place of gold: {percent(control.accuracy)}, guessing {share(control.chance)}."
    )
    if control.accuracy.excludes(control.chance):
        said += " That is off chance, as one control in twenty is by luck; if it stays so, candidates are not random."
    return said


def _against_assigned(diagnosis: Diagnosis) -> Against:
    """Gold against as many random candidates as the run assigns, or as there are."""
    largest = diagnosis.n_assigned - 1
    return [one for one in diagnosis.main.growth.against if one.n_negatives <= largest][-1]


def advice(diagnosis: Diagnosis) -> list[str]:
    """What would help, a sentence for each: more iterations, candidates, contexts, another generator."""
    main = diagnosis.main
    if _at_chance(diagnosis):
        nothing = f"{main.name} is at chance or below, nothing is to be gained."
        return [f"More iterations, candidates, another generator: {nothing}", *_contexts(main)]
    return [_iterations(diagnosis), _candidates(diagnosis), *_contexts(main), _better(diagnosis)]


def _iterations(diagnosis: Diagnosis) -> str:
    left = diagnosis.main.left
    if left.fall_other.low <= 0:
        changed = change(_negative(left.fall_other))
        return f"More iterations: {UNKNOWN.lower()}; taking the hardest candidates changes accuracy by {changed}."
    lowest = max(left.other_fit.value, diagnosis.chance)
    said = f"More iterations: down to {share(lowest)} at best with this pool, as present fits see what is hardest."
    if left.fall_fresh.high < 0:
        more = points(_negative(left.fall_fresh))
        said += f" But fits on the hardest find gold more often, by {more}, from what those have in common."
    return said


def _candidates(diagnosis: Diagnosis) -> str:
    trend = diagnosis.main.more_candidates
    twice = 2 * trend.largest
    if diagnosis.main.left.other_fit.low <= diagnosis.chance:
        return "More candidates: not needed; the hardest that are there bring present fits to chance."
    if trend.direction < 0 and trend.doubled is not None:
        return (
            f"More candidates: {twice:,} a context in place of {trend.largest:,} would lower the accuracy among the "
            f"hardest by {points(_negative(trend.doubled))}, by a power law and present fits."
        )
    return f"More candidates: {_unsaid(trend, f'{twice:,} a context')}"


def _better(diagnosis: Diagnosis) -> str:
    main, chance, some = diagnosis.main, diagnosis.chance, _against_assigned(diagnosis)
    if some.accuracy.low <= some.chance:
        return (
            f"Another generator: {UNKNOWN.lower()}; {main.name} does not tell random candidates of this one from gold."
        )
    return (
        f"Another generator: {main.name} finds gold among random candidates of this one "
        f"{100 * (some.accuracy.value - some.chance):.1f} points more often than by chance, and among the run's "
        f"distractors {100 * (main.left.now.value - chance):.1f} points. One that it could not tell from gold would "
        "take both to chance; how near another comes, we do not know."
    )


def _contexts(main: OfFilter) -> list[str]:
    asked = {"the run's distractors": main.more_contexts_assigned, "random candidates": main.more_contexts_random}
    return [_of_contexts(trend, what) for what, trend in asked.items()]


def _of_contexts(trend: Trend, what: str) -> str:
    twice = 2 * trend.largest
    if trend.doubled is None or not trend.direction:
        return f"More contexts: {_unsaid(trend, f'{twice:,} contexts to fit on')} Asked of {what}."
    changed = points(trend.doubled if trend.direction > 0 else _negative(trend.doubled))
    told = "better" if trend.direction > 0 else "worse"
    said = f"More contexts: fitted on {twice:,}, it would tell gold from {what} {told} by {changed}"
    if told == "better" and what.startswith("the run"):
        return f"{said}: the curve is as low as it is partly for want of contexts to learn from."
    return f"{said}."


def _unsaid(trend: Trend, what: str) -> str:
    """Why nothing is said of twice as much; and what the last doubling did."""
    why = f"the power law says {change(trend.doubled)}" if trend.doubled else trend.why_unknown
    last = f" The last doubling changed accuracy by {change(trend.last)}." if trend.last else ""
    return f"{UNKNOWN.lower()} what {what} would do ({why}).{last}"


def _negative(figure: Figure) -> Figure:
    return Figure(-figure.value, -figure.high, -figure.low)


def share(value: float) -> str:
    """`0.1` as `10.0 %`."""
    return f"{100 * value:.1f} %"


def percent(figure: Figure | None) -> str:
    """A share with its interval: `12.3 % (10.1 to 14.6)`; a dash where there is none."""
    if figure is None:
        return "–"
    return f"{100 * figure.value:.1f} % ({100 * figure.low:.1f} to {100 * figure.high:.1f})"


def points(figure: Figure) -> str:
    """A difference of shares: `1.2 points (0.3 to 2.1)`."""
    return f"{100 * figure.value:.1f} points ({100 * figure.low:.1f} to {100 * figure.high:.1f})"


def change(figure: Figure) -> str:
    """The same with its sign."""
    return f"{100 * figure.value:+.1f} points ({100 * figure.low:+.1f} to {100 * figure.high:+.1f})"


def number(figure: Figure | None) -> str:
    """A correlation: `0.42 (0.40 to 0.44)`."""
    return "–" if figure is None else f"{figure.value:.2f} ({figure.low:.2f} to {figure.high:.2f})"


def left_rows(diagnosis: Diagnosis) -> Rows:
    """What the pool has left, a row for each filter."""
    rows: Rows = [("filter", "no harder one left", "none above gold", "now", "hardest: same fit", "another fit")]
    for one in diagnosis.filters:
        left = one.left
        figures = (left.none_above_easiest, left.none_above_gold, left.now, left.same_fit, left.other_fit)
        rows.append((one.name, *map(percent, figures)))
    return rows


def fresh_rows(diagnosis: Diagnosis) -> Rows:
    """What fits on a third find: on the run's distractors, on the hardest candidates."""
    rows: Rows = [("fitted on a third", "the run's distractors", "the hardest", "change")]
    for one in diagnosis.filters:
        left = one.left
        rows.append(
            (one.name, percent(left.fresh_now), percent(left.fresh_hardest), change(_negative(left.fall_fresh)))
        )
    return rows


def agreement_rows(diagnosis: Diagnosis) -> Rows:
    """How far fits agree, a row for each kind of pair."""
    rows: Rows = [("fits", "rank correlation", "swaps right", "easy to both", "by luck", "wrong too", "by luck")]
    for one in diagnosis.agreements:
        easy = "–" if one.easy_by_luck is None else share(one.easy_by_luck)
        wrong = (percent(one.wrong), share(one.wrong_by_luck))
        rows.append((pair_name(one), number(one.correlation), percent(one.swaps), percent(one.easy), easy, *wrong))
    return rows


def pair_name(agreement: Agreement) -> str:
    """`bow and bow, other seeds`, or `bow and cnn`."""
    one, other = agreement.of
    return f"{one}, other seeds" if one == other else f"{one} and {other}"


def growth_rows(main: OfFilter) -> Rows:
    """The accuracy by number of contexts."""
    rows: Rows = [("contexts", "random candidates", "the run's distractors")]
    for random, assigned in zip(main.growth.random, main.growth.assigned, strict=True):
        rows.append((f"{random.n:,}", percent(random.accuracy), percent(assigned.accuracy)))
    return rows


def against_rows(filters: Sequence[OfFilter]) -> Rows:
    """Gold against one random candidate, as many as are assigned, many; and the control."""
    rows: Rows = [("filter", "random candidates", "accuracy", "chance")]
    for one in filters:
        for of in one.growth.against:
            rows.append((one.name, f"{of.n_negatives:,}", percent(of.accuracy), share(of.chance)))
        if control := one.growth.control:
            of_control = f"{control.n_negatives:,}, one for gold"
            rows.append((one.name, of_control, percent(control.accuracy), share(control.chance)))
    return rows


def fewer_rows(main: OfFilter) -> Rows:
    """Accuracy if contexts took their hardest candidates, by how many they have."""
    rows: Rows = [("candidates a context", "accuracy by another fit")]
    return [*rows, *((f"{one.n_candidates:,}", percent(one.accuracy)) for one in main.fewer)]
