"""The section of a report about human verification: labels, agreement, annotators, and the resulting questions.

Verdicts are read, checked, screened and judged as in `release`; annotators are counted and plotted, never named.
Collecting verdicts is up to `swag_af.verify`, and making a dataset to `swag_af.releasing`.
"""

import importlib.util
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.context import phrase
from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.runs.run import Run
from swag_af.judging.agreement import (
    INTERVALS,
    PAPER,
    PAPER_FOUND,
    PAPER_GENERATED,
    Agreement,
    Kinds,
    agreement_rows,
    consensus_rows,
    distribution_rows,
    kinds_of,
    measure,
)
from swag_af.judging.consensus import RANKS, Method
from swag_af.judging.options import JudgingOptions
from swag_af.judging.people import Opinions, opinions_of
from swag_af.judging.rules import (
    LEFT_OUT,
    N_DISTRACTORS,
    SECOND_LEFT_OUT,
    found_examples,
    generated_is_preferred,
    second_examples,
    why_not_found,
)
from swag_af.judging.screening import NOBODY_SCREENED, gold_counts, screens_nobody, told_rule
from swag_af.judging.verdicts import RATINGS, Item, Judgement, rank_endings
from swag_af.reporting.charts import Frame, Series, bar, dot, figure, level, percent, percent_ticks, ticks
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.page import render
from swag_af.reporting.sections.subject import AFTER, BEFORE, GOLD, Subject

N_JUDGED = 12
"""The largest number of judged questions that are shown."""
JUDGES: dict[str, str] = {"majority": "the majority", "dawid-skene": "Dawid and Skene's model", "mace": "MACE"}


@dataclass(frozen=True)
class Verification:
    """The verdicts on a run's endings, and the questions that result by the rules of `release`."""

    opinions: Opinions
    agreement: Agreement
    """Of the verdicts that count."""
    judge: Method
    n_distractors: int
    """That a question is taken to have."""
    made: frozenset[Item]
    """The items that make questions, as most judged them."""
    questions: dict[str, int]
    """Questions by their answer, in words; second questions of all contexts, whichever split they would be in."""
    left_out: dict[str, int]
    """Contexts, and finally second questions, that are left out, by the reason in words."""

    @property
    def line(self) -> str:
        """The main result, for the header of the page."""
        opinions, gold = self.opinions, self.agreement.figures["gold_in_top2"].value
        assert gold is not None
        n_items = len({verdict.item for verdict in opinions.verdicts})
        return (
            f"{several(opinions.n_annotators, 'person', 'people')} judged {several(n_items, 'item')}: "
            f"gold is among the best two in {percent(gold)} of the verdicts that count "
            f"(chance {percent(self.agreement.gold_chance)}; {percent(PAPER['gold_in_top2'])} in the "
            f"{self.agreement.paper})."
        )


def verification_of(run: Run, options: ReportOptions) -> Verification | None:
    """The verdicts of `options`, read, checked, screened, judged and measured; None where none are given.

    Ties are broken as by a release with its default seed. Raises InputError for verdicts that do not fit the run.
    """
    if not options.verdicts:
        return None
    how = JudgingOptions(options.run, options.verdicts, options.judge, options.screen)
    opinions = opinions_of(run, run.assignment(options.iteration), how)
    model: Method = "dawid-skene" if options.judge == "majority" else options.judge
    shared = len({verdict.item for verdict in opinions.counted}) < len(opinions.counted)
    beside = model if shared and importlib.util.find_spec("crowdkit") else "majority"
    agreement = measure(opinions.counted, model=beside)
    n = _n_distractors(run, opinions)
    return Verification(opinions, agreement, options.judge, n, *_outcomes(opinions, run, n))


def how_to_include(run_path: Path | None) -> str | None:
    """The commands that add collected answers to the report; None where `verify serve` has collected none."""
    if run_path is None or not (run_path / "verification" / "answers.db").exists():
        return None
    export = command("verify", "export", run_path, "--to", "verdicts", "--out", "verdicts.jsonl")
    return f"{export} && {command('report', run_path, '--verdicts', 'verdicts.jsonl')}"


def _outcomes(
    opinions: Opinions, run: Run, n_distractors: int
) -> tuple[frozenset[Item], dict[str, int], dict[str, int]]:
    """`Verification.made`, `questions` and `left_out`, by the rules of `release`."""
    n_rows, is_matched = len(run.pool), run.matching is not None
    found, left_out = found_examples(opinions.judgements, n_rows, n_distractors, keep_second=is_matched)
    second, second_left_out = second_examples(found, dict.fromkeys(range(n_rows), "train"))
    sources = Counter(example.source for example, _ in found)
    made = frozenset(judgement.item for _, judgement in found)
    gold, others = kinds_of(run)
    questions = {
        f"{gold}, ranked best": sources["gold0-orig"],
        f"{gold}, ranked second best": sources["gold1-orig"],
        f"{gold}, after a refill": sources["gold0-reannot"] + sources["gold1-reannot"],
    }
    reasons = {why: left_out[reason] for reason, why in LEFT_OUT.items()}
    if is_matched:
        return made, questions, reasons
    questions[f"{others}, ranked best before gold"] = len(second)
    gibberish = "generated_gibberish"
    why = SECOND_LEFT_OUT[gibberish].replace("generated", others)
    return made, questions, reasons | {f"second question: {why}": second_left_out[gibberish]}


def _n_distractors(run: Run, opinions: Opinions) -> int:
    """How many a question is released with, unless fewer are asked for: the paper's three, or as many as there can be
    where people are shown fewer endings than the paper's."""
    most = opinions.most_distractors(run.start.shape[1], keep_second=run.matching is not None)
    return min(N_DISTRACTORS, most) or N_DISTRACTORS


def verification(subject: Subject, verified: Verification) -> str:
    """The whole section."""
    agreement, judgements = verified.agreement, _drawn(subject, verified)
    kinds = kinds_of(subject.run)
    return render(
        "verification",
        tiles=_tiles(verified),
        charts=[_labels_chart(agreement, kinds), _annotators_chart(verified.opinions)],
        distribution=distribution_rows(agreement, kinds),
        intervals=INTERVALS,
        agreement=agreement_rows(agreement),
        consensus=consensus_rows(agreement, kinds),
        about_model=_about_model(agreement),
        judge=JUDGES[verified.judge],
        flag="" if verified.n_distractors == N_DISTRACTORS else f" --n-distractors {verified.n_distractors}",
        has_second=subject.run.matching is None,
        others=kinds[1],
        questions=[(source, f"{n:,}") for source, n in verified.questions.items()],
        left_out=[(reason, f"{n:,}") for reason, n in verified.left_out.items()],
        n_judged=several(len(judgements), "item"),
        judged=[_judged_item(subject.run, verified, judgement) for judgement in judgements],
    )


def _tiles(verified: Verification) -> dict[str, str]:
    opinions, agreement = verified.opinions, verified.agreement
    return {
        "verdicts": f"{len(opinions.verdicts):,}",
        "annotators": f"{opinions.n_annotators:,}",
        "of them screened out": f"{len(opinions.dropped):,}",
        "verdicts that count": f"{len(opinions.counted):,}",
        "items they judge": f"{agreement.n_items:,}",
        "judged twice or more": f"{agreement.n_shared_items:,}",
    }


def _labels_chart(agreement: Agreement, called: Kinds) -> str:
    """Bars of how often found and generated endings get each label; rings show the shares in the paper."""
    of_gold, of_others = called
    labels = (*RANKS, *RATINGS)
    kinds = ((agreement.found, PAPER_FOUND, GOLD, of_gold), (agreement.generated, PAPER_GENERATED, BEFORE, of_others))
    shares = [value.value or 0.0 for figures, _, _, _ in kinds for value in figures.values()]
    top = 1.08 * max(*shares, *PAPER_FOUND.values())
    at = [(float(i), label) for i, label in enumerate(labels)]
    frame = Frame((-0.5, len(labels) - 0.5), (0, top), "", "share of the labels", at, percent_ticks(top, 6))
    shapes = []
    for k, (figures, paper, colour, kind) in enumerate(kinds):
        for i, label in enumerate(labels):
            left, share = i - 0.38 + 0.38 * k, figures[label].value or 0.0
            shapes.append(bar(frame, left, left + 0.36, share, colour, f"{kind}, {label}: {percent(share)}"))
            title = f"{kind}, {label}, the {agreement.paper}: {percent(paper[label])}"
            shapes.append(dot(frame, left + 0.18, paper[label], AFTER, "ring", title=title))
    spoken = "; ".join(
        f"{kind} endings are {', '.join(f'{label} {percent(figures[label].value or 0.0)}' for label in labels)}"
        for figures, _, _, kind in kinds
    )
    legend = [
        Series(f"{of_gold} (gold)", GOLD, "bar"),
        Series(of_others, BEFORE, "bar"),
        Series("the paper's", AFTER, "ring"),
    ]
    note = f"rings: Table 2 of the {agreement.paper}"
    return figure("What endings are called", f"Labels: {spoken}.", frame, shapes, legend, note=note, size="worded")


def _annotators_chart(opinions: Opinions) -> str:
    """One bar per annotator: the share of items with gold among the best two, highest first; grey if screened out."""
    counts = gold_counts(opinions.verdicts)
    names = sorted(counts, key=lambda name: (-counts[name].share, -counts[name].n_items, name))
    last = len(names)
    at = [(float(i), f"{i:g}") for i in ticks(1, last, 6) if i == int(i)]
    frame = Frame(
        (0.5, last + 0.5), (0, 1.04), "annotators, the highest first", "share of their items", at, percent_ticks(1.0, 6)
    )
    shapes = []
    for i, name in enumerate(names, start=1):
        one, is_dropped = counts[name], name in opinions.dropped
        title = f"{one.n_gold:,} of {several(one.n_items, 'item')}, {percent(one.share)}"
        title += ", screened out" if is_dropped else ""
        shapes.append(bar(frame, i - 0.4, i + 0.4, one.share, BEFORE if is_dropped else AFTER, title))
    needed, shares = [one.needed for one in counts.values()], [one.share for one in counts.values()]
    shapes += [level(frame, share) for share in sorted({min(needed), max(needed)})]
    spoken = (
        f"Gold among the best two, {several(last, 'annotator')}: from {percent(min(shares))} to "
        f"{percent(max(shares))} of their items; {len(opinions.dropped):,} screened out."
    )
    legend = [Series("counted", AFTER, "bar")]
    legend += [Series("screened out", BEFORE, "bar")] if opinions.dropped else []
    note = f"dotted: screening drops whoever has gold there in {told_rule(opinions.verdicts)}"
    note = NOBODY_SCREENED if screens_nobody(opinions.verdicts) else note
    return figure("Each annotator: gold among the best two", spoken, frame, shapes, legend, note=note)


def _about_model(agreement: Agreement) -> str:
    """Which model is compared with the majority, or why none is."""
    if len(agreement.consensus) > 1:
        return "By the majority, and by a model of who can be trusted, which never learns what is gold."
    if not agreement.n_shared_items:
        return "No item was judged twice: a model of who can be trusted would say the same."
    return "A model of who can be trusted stands here too where crowd-kit is installed, as by the extra `verify`."


def _drawn(subject: Subject, verified: Verification) -> list[Judgement]:
    """Some judged items, drawn at random."""
    judgements, seed = verified.opinions.judgements, int(subject.manifest.get("options", {}).get("seed", 0))
    drawn = np.random.default_rng((seed, *b"people")).permutation(len(judgements))[:N_JUDGED]
    return [judgements[i] for i in drawn.tolist()]


def _judged_item(run: Run, verified: Verification, judgement: Judgement) -> dict[str, object]:
    """The texts of an item, its endings from the most to the least likely."""
    item = judgement.item
    likeliest_first = rank_endings(item, judgement.likelihoods, seed=judgement.seed)
    order = sorted(likeliest_first, key=lambda place: _rank(judgement, place))
    by = several(judgement.n_annotators, "person", "people") + (", after a refill" if item.round else "")
    return {
        "phrase": phrase(run.pool.contexts[item.row]),
        "endings": [_judged_ending(run, judgement, place) for place in order],
        "outcome": f"{by}; {_outcome(run, verified, judgement)}",
    }


def _outcome(run: Run, verified: Verification, judgement: Judgement) -> str:
    """Whether an item, as most judged it, makes questions of the release, or why it does not."""
    n, is_matched = verified.n_distractors, run.matching is not None
    reason = why_not_found(judgement, n, fewest=n if is_matched else 0)
    if reason:
        return f"left out: {LEFT_OUT[reason]}"
    if judgement.item not in verified.made:
        return (
            "left out, as its context has another round that makes a question or other endings beside which gold fails"
        )
    second = generated_is_preferred(judgement) and not judgement.item.round and not is_matched
    return "makes two questions" if second else "makes a question"


def _judged_ending(run: Run, judgement: Judgement, place: int) -> dict[str, object]:
    rating, rank = judgement.ratings[place], RANKS[_rank(judgement, place)]
    words = {"best": f"best, {rating}", "neither": rating}
    return {
        "text": run.pool.text(judgement.item.row, judgement.item.columns[place]),
        "is_gold": place == 0,
        "rating": rating,
        "judgement": words.get(rank, f"second best, {rating}"),
    }


def _rank(judgement: Judgement, place: int) -> int:
    """Index in RANKS."""
    return 0 if place == judgement.best else 1 if place == judgement.second else 2
