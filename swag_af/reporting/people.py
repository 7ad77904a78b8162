"""The section of a report that says what people said: labels, agreement, annotators, what becomes of the contexts.

Verdicts are read, checked, screened and judged as `release` does it; annotators are counted and drawn, never named.
Nothing is collected here (`swag_af.verify`), and no dataset is made (`swag_af.release`).
"""

import importlib.util
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.context import display
from swag_af.data.run import Run
from swag_af.judging.agreement import (
    PAPER,
    PAPER_FOUND,
    PAPER_GENERATED,
    Agreement,
    agreement_rows,
    consensus_rows,
    distribution_rows,
    measure,
)
from swag_af.judging.consensus import MIN_ITEMS, MIN_RATE, RANKS, Method
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
from swag_af.judging.verdicts import RATINGS, Judgement, rank_endings
from swag_af.reporting.charts import Frame, Series, bar, dot, escape, figure, level, percent, percent_ticks, ticks
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.page import facts, paragraph, section, table
from swag_af.reporting.subject import AFTER, BEFORE, GOLD, Subject

N_JUDGED = 12
"""Judged questions that are shown, at most."""
JUDGES: dict[str, str] = {"majority": "the majority", "dawid-skene": "Dawid and Skene's model", "mace": "MACE"}


@dataclass(frozen=True)
class People:
    """What people said of a run's endings, and what it comes to by the rules of `release`."""

    opinions: Opinions
    agreement: Agreement
    """Of the verdicts that count."""
    judge: Method
    questions: dict[str, int]
    """Questions by their answer, in words; the second ones of all contexts, whatever split they would come to."""
    left_out: dict[str, int]
    """Contexts, and at last second questions, that are left out, by the reason in words."""

    @property
    def line(self) -> str:
        """The most important, for the head of the page."""
        said, gold = self.opinions, self.agreement.figures["gold_in_top2"].value
        assert gold is not None
        n_items = len({verdict.item for verdict in said.verdicts})
        return (
            f"{_counted(said.n_annotators, 'person', 'people')} judged {_counted(n_items, 'item')}: "
            f"gold is among the best two in {percent(gold)} of the verdicts that count "
            f"({percent(PAPER['gold_in_top2'])} in the paper)."
        )


def people_of(run: Run, options: ReportOptions) -> People | None:
    """Verdicts read, checked, screened, judged and measured; None where none are given. Raises as `opinions_of`.

    Ties are broken as by a release with its default seed.
    """
    if not options.verdicts:
        return None
    how = JudgingOptions(options.run, options.verdicts, options.judge, options.screen)
    opinions = opinions_of(run, run.assignment(options.iteration), how)
    model: Method = "dawid-skene" if options.judge == "majority" else options.judge
    shared = len({verdict.item for verdict in opinions.counted}) < len(opinions.counted)
    beside = model if shared and importlib.util.find_spec("crowdkit") else "majority"
    agreement = measure(opinions.counted, model=beside)
    return People(opinions, agreement, options.judge, *_outcomes(opinions, len(run.pool), N_DISTRACTORS))


def how_to_include(run_path: Path | None) -> str | None:
    """The commands that put collected answers into the report; None where `verify serve` has collected none here."""
    if run_path is None or not (run_path / "verification" / "answers.db").exists():
        return None
    run = shlex.quote(str(run_path))
    return (
        f"swag-af verify export {run} --to verdicts --out verdicts.jsonl && "
        f"swag-af report {run} --verdicts verdicts.jsonl"
    )


def _outcomes(opinions: Opinions, n_rows: int, n_distractors: int) -> tuple[dict[str, int], dict[str, int]]:
    """`People.questions` and `People.left_out`, by the rules of `release`."""
    found, left_out = found_examples(opinions.judgements, n_rows, n_distractors)
    second, second_left_out = second_examples(found, dict.fromkeys(range(n_rows), "train"))
    sources = Counter(example.source for example, _ in found)
    questions = {
        "found, ranked best": sources["gold0-orig"],
        "found, ranked second best": sources["gold1-orig"],
        "found, after a refill": sources["gold0-reannot"] + sources["gold1-reannot"],
        "generated, ranked best before gold": len(second),
    }
    reasons = {why: left_out[reason] for reason, why in LEFT_OUT.items()}
    gibberish = "generated_gibberish"
    return questions, reasons | {f"second question: {SECOND_LEFT_OUT[gibberish]}": second_left_out[gibberish]}


def people(subject: Subject, said: People) -> str:
    """The whole section."""
    opinions, agreement = said.opinions, said.agreement
    n_dropped = len(opinions.dropped)
    tiles = {
        "verdicts": f"{len(opinions.verdicts):,}",
        "annotators": f"{opinions.n_annotators:,}",
        "of them screened out": f"{n_dropped:,}",
        "verdicts that count": f"{len(opinions.counted):,}",
        "items they judge": f"{agreement.n_items:,}",
        "judged twice or more": f"{agreement.n_shared_items:,}",
    }
    told = paragraph(
        "Each item is a context with gold and other assigned endings in random order. Every ending was rated likely, "
        "unlikely or gibberish, and the best and the second best were picked. The figures are of the verdicts that "
        "count, beside those of Zellers et al. 2018."
    )
    charts = _labels_chart(agreement) + _annotators_chart(opinions)
    return section(
        "people",
        "What people said",
        told,
        facts(tiles, kind="tiles"),
        f'<div class="charts">{charts}</div>\n',
        _rows("Labels by type of ending, and Table 2 of the paper", distribution_rows(agreement)),
        _pair(_rows("How far annotators agree", agreement_rows(agreement)), _consensus(agreement)),
        _becomes(said),
        _judged(subject, said),
    )


def _labels_chart(agreement: Agreement) -> str:
    """Bars of how often found and generated endings are given each label, the paper's shares as rings."""
    labels = (*RANKS, *RATINGS)
    kinds = ((agreement.found, PAPER_FOUND, GOLD, "found"), (agreement.generated, PAPER_GENERATED, BEFORE, "generated"))
    shares = [value.value or 0.0 for figures, _, _, _ in kinds for value in figures.values()]
    top = 1.08 * max(*shares, *PAPER_FOUND.values())
    at = [(float(i), label) for i, label in enumerate(labels)]
    frame = Frame((-0.5, len(labels) - 0.5), (0, top), "", "share of the labels", at, percent_ticks(top, 6))
    shapes = []
    for k, (figures, paper, colour, kind) in enumerate(kinds):
        for i, label in enumerate(labels):
            left, share = i - 0.38 + 0.38 * k, figures[label].value or 0.0
            shapes.append(bar(frame, left, left + 0.36, share, colour, f"{kind}, {label}: {percent(share)}"))
            title = f"{kind}, {label}, the paper: {percent(paper[label])}"
            shapes.append(dot(frame, left + 0.18, paper[label], AFTER, hollow=True, title=title))
    spoken = "; ".join(
        f"{kind} endings are {', '.join(f'{label} {percent(figures[label].value or 0.0)}' for label in labels)}"
        for figures, _, _, kind in kinds
    )
    legend = [
        Series("found (gold)", GOLD, "bar"),
        Series("generated", BEFORE, "bar"),
        Series("the paper's", AFTER, "ring"),
    ]
    note = "rings: Table 2 of the paper"
    return figure("What endings are called", f"Labels: {spoken}.", frame, shapes, legend, note=note, size="worded")


def _annotators_chart(opinions: Opinions) -> str:
    """A bar an annotator, the highest share of items with gold among the best two first; those screened out in grey."""
    n_items = Counter(verdict.annotator for verdict in opinions.verdicts)
    n_gold = Counter(verdict.annotator for verdict in opinions.verdicts if verdict.gold_in_top2)
    names = sorted(n_items, key=lambda name: (-n_gold[name] / n_items[name], -n_items[name], name))
    last = len(names)
    at = [(float(i), f"{i:g}") for i in ticks(1, last, 6) if i == int(i)]
    frame = Frame(
        (0.5, last + 0.5), (0, 1.04), "annotators, the highest first", "share of their items", at, percent_ticks(1.0, 6)
    )
    shapes = []
    for i, name in enumerate(names, start=1):
        share, is_dropped = n_gold[name] / n_items[name], name in opinions.dropped
        title = f"{n_gold[name]:,} of {_counted(n_items[name], 'item')}, {percent(share)}"
        title += ", screened out" if is_dropped else ""
        shapes.append(bar(frame, i - 0.4, i + 0.4, share, BEFORE if is_dropped else AFTER, title))
    shapes.append(level(frame, MIN_RATE))
    shares = [n_gold[name] / n_items[name] for name in names]
    spoken = (
        f"Gold among the best two, {_counted(last, 'annotator')}: from {percent(min(shares))} to "
        f"{percent(max(shares))} of their items; {len(opinions.dropped):,} screened out."
    )
    legend = [Series("counted", AFTER, "bar")]
    legend += [Series("screened out", BEFORE, "bar")] if opinions.dropped else []
    note = f"dotted: {percent(MIN_RATE, 0)}, needed once {MIN_ITEMS} items are judged"
    return figure("Each annotator: gold among the best two", spoken, frame, shapes, legend, note=note)


def _rows(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Rows whose first is the header."""
    return f"<h3>{escape(title)}</h3>\n" + table(rows[0], rows[1:])


def _consensus(agreement: Agreement) -> str:
    rows = _rows("What the items come to", consensus_rows(agreement))
    if len(agreement.consensus) > 1:
        return rows + paragraph(
            "By the majority, and by a model of who can be trusted, which never learns what is gold."
        )
    if not agreement.n_shared_items:
        return rows + paragraph("No item was judged twice: a model of who can be trusted would say the same.")
    install = "pip install 'swag-af[verify]'"
    return rows + paragraph(f"A model of who can be trusted stands here too where crowd-kit is installed: {install}.")


def _becomes(said: People) -> str:
    told = paragraph(
        f"By {JUDGES[said.judge]} and the rules of the paper (3.5, A.4), as swag-af release applies them. Second "
        "questions, whose answer is generated, are for training: it leaves out those of contexts in val and test."
    )
    made, left_out = (
        table((name, "number"), [(why, f"{n:,}") for why, n in counts.items()])
        for name, counts in (("answer of a question", said.questions), ("left out because", said.left_out))
    )
    return "<h3>What becomes of the contexts</h3>\n" + told + _pair(made, left_out)


def _pair(one: str, other: str) -> str:
    """Two things side by side, where there is room."""
    return f'<div class="pair"><div>{one}</div><div>{other}</div></div>\n'


def _judged(subject: Subject, said: People) -> str:
    """Some judged items, drawn at random, their endings from the best to the least likely."""
    judgements, seed = said.opinions.judgements, int(subject.manifest.get("options", {}).get("seed", 0))
    drawn = np.random.default_rng((seed, *b"people")).permutation(len(judgements))[:N_JUDGED]
    shown = "".join(_judged_item(subject.run, judgements[i]) for i in drawn.tolist())
    told = paragraph(f"{_counted(len(drawn), 'item')} drawn at random, as {JUDGES[said.judge]} judges. ★ gold.")
    return f'<h3>Judged questions</h3>\n{told}<div class="judged">\n{shown}</div>\n'


def _judged_item(run: Run, judgement: Judgement) -> str:
    item = judgement.item
    likeliest_first = rank_endings(item, judgement.likelihoods, seed=judgement.seed)
    order = sorted(likeliest_first, key=lambda place: _rank(judgement, place))
    rows = "".join(_judged_ending(run, judgement, place) for place in order)
    phrase = " ".join(display(run.pool.contexts[item.row]))
    reason = why_not_found(judgement, N_DISTRACTORS)
    second = reason is None and generated_is_preferred(judgement) and not item.round
    fate = f"left out: {LEFT_OUT[reason]}" if reason else "makes two questions" if second else "makes a question"
    by = _counted(judgement.n_annotators, "person", "people") + (", after a refill" if item.round else "")
    head, foot = f"<h4><bdi>{escape(phrase)}</bdi></h4>", f"<p>{escape(f'{by}; {fate}')}</p>"
    return f"<article>\n{head}\n<ol>\n{rows}</ol>\n{foot}</article>\n"


def _judged_ending(run: Run, judgement: Judgement, place: int) -> str:
    rating = judgement.ratings[place]
    rank = RANKS[_rank(judgement, place)]
    said = rating if rank == "neither" else f"{'best' if rank == 'best' else 'second best'}, {rating}"
    is_gold = ' class="gold"' if place == 0 else ""
    unseen = '<span class="unseen">gold: </span>' if place == 0 else ""
    text = escape(run.pool.text(judgement.item.row, judgement.item.columns[place]))
    return f'<li{is_gold}>{unseen}<bdi>{text}</bdi><span class="said {rating}">{said}</span></li>\n'


def _rank(judgement: Judgement, place: int) -> int:
    """Place in RANKS."""
    return 0 if place == judgement.best else 1 if place == judgement.second else 2


def _counted(n: int, one: str, many: str = "") -> str:
    """`1 item`, `2 items`."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"
