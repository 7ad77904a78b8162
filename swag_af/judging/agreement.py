"""How far annotators agree, and how they label found and generated endings: the paper's Table 2 for one's own verdicts.

The figures are computed in `reliability`, and judgements in `consensus`; nothing is dropped or judged here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.data.runs.run import Run
from swag_af.judging.consensus import RANKS, Labels, Method, judge_by, labels_of, worker_skills
from swag_af.judging.reliability import Figure, agreement_with_others, figures_of
from swag_af.judging.screening import chance_of, gold_counts, screened
from swag_af.judging.verdicts import N_ENDINGS, RATINGS, Verdict, is_example

PAPER = {
    "rank_alpha": 0.43,
    "rank_pairwise": 0.72,
    "rating_alpha": 0.39,
    "rating_pairwise": 0.64,
    "top2_pairwise": 0.79,
    "gold_in_top2": 0.737,
}
"""Table 2, and for the top two A.5 (Zellers et al. 2018)."""
PAPER_FOUND = {
    "best": 0.535,
    "second": 0.202,
    "neither": 0.263,
    "likely": 0.803,
    "unlikely": 0.190,
    "gibberish": 0.007,
}
PAPER_GENERATED = {
    "best": 0.093,
    "second": 0.159,
    "neither": 0.748,
    "likely": 0.333,
    "unlikely": 0.575,
    "gibberish": 0.091,
}

Kinds = tuple[str, str]
"""What gold is called, and what the negatives are."""
FILTERED: Kinds = ("found", "generated")
"""Those of Table 2."""
MATCHED: Kinds = ("right", "wrong")
"""Where nothing was generated: negatives are right answers of other questions, or texts of one's own."""
ANY: Kinds = ("gold", "other")
"""Where nothing but verdicts is known."""

NAMES = {
    "rank_alpha": "ranking: Krippendorff's alpha (nominal)",
    "rank_alpha_ordinal": "ranking: Krippendorff's alpha (ordinal)",
    "rank_pairwise": "ranking: pairs that agree",
    "rank_kappa": "ranking: Fleiss' kappa",
    "top2_pairwise": "in the best two: pairs that agree",
    "rating_alpha": "likelihood: Krippendorff's alpha (nominal)",
    "rating_alpha_ordinal": "likelihood: Krippendorff's alpha (ordinal)",
    "rating_pairwise": "likelihood: pairs that agree",
    "rating_kappa": "likelihood: Fleiss' kappa",
    "gold_in_top2": "verdicts with gold in the best two",
}


@dataclass(frozen=True)
class AnnotatorFigures:
    """One annotator's numbers."""

    annotator: str
    n_items: int
    gold_in_top2: float
    """Share of the items with gold among the best two."""
    chance: float
    """That share by luck, with so many endings an item."""
    needed: float
    """The share below which screening drops an annotator of such items (`screening.needed_share`)."""
    median_seconds: float | None
    rating_pairwise: float | None
    """Share of the pairs with another annotator's rating of the same ending that agree."""
    rank_pairwise: float | None
    skill: float | None
    """See `consensus.worker_skills`; None without a model."""
    is_screened: bool
    """Whether screening drops this annotator (`screening.screened`)."""
    counts: bool
    """Whether the other figures are of their verdicts too."""


@dataclass(frozen=True)
class Agreement:
    """The result of `measure`."""

    n_verdicts: int
    n_items: int
    n_shared_items: int
    """Items that two annotators or more have judged."""
    n_judged_more: int
    """Those of them that more annotators have judged than others of them."""
    figures: dict[str, Figure]
    """By the names of NAMES."""
    n_endings: tuple[int, ...]
    """How many endings items have, each number once; what is by luck depends on it."""
    gold_chance: float
    """How often luck puts gold in the best two of these verdicts."""
    found: dict[str, Figure]
    """Share of each label among the verdicts on gold."""
    generated: dict[str, Figure]
    """Share of each label among the verdicts on negatives."""
    consensus: dict[str, dict[str, float]]
    """For each method the shares of `consensus_shares`."""
    annotators: tuple[AnnotatorFigures, ...]

    @property
    def paper(self) -> str:
        """What figures of the paper are called beside these: of how many endings they are, where items have others."""
        return "paper" if self.n_endings == (N_ENDINGS,) else "paper, of six endings"

    def as_record(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


def measure(
    verdicts: Sequence[Verdict],
    *,
    model: Method = "majority",
    seed: int = 0,
    everyone: Sequence[Verdict] | None = None,
) -> Agreement:
    """All figures of `verdicts`; `model` stands beside the majority, and gives annotators their skill.

    `seed` draws the bootstrap and breaks ties. `everyone`: the verdicts of those who were left out too, which the rows
    of annotators, and nothing else, are of.
    """
    labels, every = labels_of(verdicts), verdicts if everyone is None else everyone
    n_of = Counter(len(verdict.item.columns) for verdict in verdicts)
    found = figures_of(labels, seed=seed)
    shared = len(np.unique(labels.item[labels.shared]))
    methods: tuple[Method, ...] = ("majority",) if model == "majority" else ("majority", model)
    return Agreement(
        n_verdicts=len(verdicts),
        n_items=len(labels.items),
        n_shared_items=shared,
        n_judged_more=_n_judged_more(verdicts),
        figures={name: found[name] for name in NAMES},
        n_endings=tuple(sorted(n_of)),
        gold_chance=chance_of(n_of),
        found={label: found[f"found_{label}"] for label in (*RANKS, *RATINGS)},
        generated={label: found[f"generated_{label}"] for label in (*RANKS, *RATINGS)},
        consensus={method: consensus_shares(verdicts, method, seed=seed) for method in methods},
        annotators=_annotators(
            every,
            labels if everyone is None else labels_of(every),
            worker_skills(every, model, seed=seed) if model != "majority" else {},
            frozenset(labels.annotators),
        ),
    )


def _n_judged_more(verdicts: Sequence[Verdict]) -> int:
    """Items with more verdicts than the fewest of those with two or more."""
    shared = [n for n in Counter(verdict.item for verdict in verdicts).values() if n > 1]
    fewest = min(shared, default=0)
    return sum(n > fewest for n in shared)


def consensus_shares(verdicts: Sequence[Verdict], method: Method, *, seed: int = 0) -> dict[str, float]:
    """The judgements of a method in numbers: the rank of gold, the ratings of negatives, the share of examples."""
    judgements = judge_by(method, verdicts, seed=seed)
    negatives = [rating for judgement in judgements for rating in judgement.ratings[1:]]
    n = len(judgements)
    return {
        "found ending best": sum(judgement.best == 0 for judgement in judgements) / n,
        "found ending second": sum(judgement.second == 0 for judgement in judgements) / n,
        **{f"generated {rating}": negatives.count(rating) / len(negatives) for rating in RATINGS},
        "more than three endings sensible": sum(map(is_example, judgements)) / n,
    }


INTERVALS = (
    "Intervals are over items, with these annotators: others may differ by more, the more the fewer they are and the "
    "more items each has judged."
)
"""What to say beside the rows with intervals."""
ANNOTATORS = (
    "Gold: how often it is among the person's best two. Needed: the share below which screening drops a person. "
    "Ratings, ranks: of the pairs with others on the same endings, how many agree."
)
"""What to say below the rows of annotators."""


def kinds_of(run: Run) -> Kinds:
    """What gold and negatives of `run` are called."""
    return FILTERED if run.pool.is_generated and not run.is_matched else MATCHED


def distribution_rows(agreement: Agreement, kinds: Kinds = FILTERED) -> list[list[str]]:
    """Table 2's distribution of labels by type of ending, the paper's beside it; a header first."""
    of_gold, of_others = kinds
    beside = [f"{agreement.paper}: found", "generated"]
    rows = [["label", of_gold, "95 % interval", of_others, "95 % interval", *beside]]
    for label in (*RANKS, *RATINGS):
        found, generated = agreement.found[label], agreement.generated[label]
        rows.append(
            [
                label,
                _percent(found.value),
                _interval(found, percent=True),
                _percent(generated.value),
                _interval(generated, percent=True),
                _percent(PAPER_FOUND[label]),
                _percent(PAPER_GENERATED[label]),
            ]
        )
    return rows


def agreement_rows(agreement: Agreement) -> list[list[str]]:
    """The figures of agreement with their intervals, the paper's beside them; a header first."""
    rows = [["agreement", "here", "95 % interval", agreement.paper]]
    why = "no item was judged twice" if not agreement.n_shared_items else "all labels are the same"
    for name, title in NAMES.items():
        figure, paper = agreement.figures[name], PAPER.get(name)
        percent = name.endswith(("pairwise", "top2"))
        title += f" (chance {in_percent(agreement.gold_chance)})" if name == "gold_in_top2" else ""
        here = f"not defined: {why}" if figure.value is None else _number(figure.value, percent=percent)
        rows.append(
            [title, here, _interval(figure, percent=percent), "" if paper is None else _number(paper, percent=percent)]
        )
    return [*rows, *_uneven_rows(agreement)]


def _uneven_rows(agreement: Agreement) -> list[list[str]]:
    """What follows where more annotators judged some items than others; no rows where each has as many.

    Where only disagreement brings a third, disputed items make three pairs and others one. To kappa they count as one
    item still, which agrees more than the two did who disagreed. Alpha may come out either way.
    """
    if not agreement.n_judged_more:
        return []
    n = f"{agreement.n_judged_more:,} of {agreement.n_shared_items:,}"
    asked = "if asked only where others disagreed"
    return [
        ["items judged by more people than others", n, "", ""],
        [f"{asked}: the ranking's kappa", "too high", "", ""],
        [f"{asked}: pairs that agree, gold", "too low", "", ""],
    ]


def consensus_rows(agreement: Agreement, kinds: Kinds = FILTERED) -> list[list[str]]:
    """The judgements by the majority, and by the model beside it; a header first."""
    methods, (of_gold, of_others) = list(agreement.consensus), kinds
    return [
        ["consensus", *methods],
        *(
            [
                name.replace("found", of_gold).replace("generated", of_others),
                *(_percent(agreement.consensus[m][name]) for m in methods),
            ]
            for name in agreement.consensus[methods[0]]
        ),
    ]


def annotator_rows(agreement: Agreement) -> list[list[str]]:
    """A row an annotator, those with most items first; a header first."""
    rows = [["annotator", "items", "gold", "needed", "seconds", "ratings", "ranks", "skill", "dropped"]]
    for one in sorted(agreement.annotators, key=lambda one: (-one.n_items, one.annotator)):
        rows.append(
            [
                one.annotator,
                f"{one.n_items:,}",
                *map(in_percent, (one.gold_in_top2, one.needed)),
                "" if one.median_seconds is None else f"{one.median_seconds:.1f}",
                _percent(one.rating_pairwise),
                _percent(one.rank_pairwise),
                "" if one.skill is None else f"{one.skill:.2f}",
                ("would be" if one.counts else "yes") if one.is_screened else "",
            ]
        )
    return rows


def _annotators(
    verdicts: Sequence[Verdict], labels: Labels, skills: Mapping[str, float], counted: Collection[str]
) -> tuple[AnnotatorFigures, ...]:
    agreed = [agreement_with_others(labels, values) for values in (labels.rating, labels.rank)]
    of_annotator: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        of_annotator.setdefault(verdict.annotator, []).append(verdict)
    dropped, golds = screened(verdicts), gold_counts(verdicts)
    found = []
    for i, name in enumerate(labels.annotators):
        own = of_annotator[name]
        seconds = [verdict.seconds for verdict in own if verdict.seconds > 0]
        found.append(
            AnnotatorFigures(
                annotator=name,
                n_items=len(own),
                gold_in_top2=golds[name].share,
                chance=golds[name].chance,
                needed=golds[name].needed,
                median_seconds=float(np.median(seconds)) if seconds else None,
                rating_pairwise=_defined(agreed[0][i]),
                rank_pairwise=_defined(agreed[1][i]),
                skill=skills.get(name),
                is_screened=name in dropped,
                counts=name in counted,
            )
        )
    return tuple(found)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _percent(value: float | None) -> str:
    return "" if value is None else in_percent(value)


def _number(value: float, *, percent: bool) -> str:
    return _percent(value) if percent else f"{value:z.2f}"


def _interval(figure: Figure, *, percent: bool) -> str:
    if figure.low is None or figure.high is None:
        return ""
    if percent:
        return f"{from_to(figure.low, figure.high).replace(' to ', '–')} %"
    return f"{figure.low:z.2f} to {figure.high:z.2f}"
