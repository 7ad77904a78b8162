"""A simulated crowd over a synthetic truth: does screening, does a model of the annotators recover what is true?

    python benchmarks/crowd.py --json crowd.json
    python benchmarks/crowd.py --screening 4

The second only asks whom screening drops, on items of four endings; all else is on the paper's six.

Every ending has a true appeal; the truth rates and ranks endings by it, drawn so that a good annotator's labels are
spread as in Table 2 of Zellers et al. 2018 (the output shows both). Good annotators see the appeal with noise of their
own. Careless ones answer at random on a share of their items. Adversarial ones see it upside down: they like what is
worst. Nothing here says how many of each there are among real people; the rates are arguments.

The same crowd is judged twice, its verdicts alike, with gold listed first in every item and last; and so is one that
answers at random, whose gold should be best by chance: what nobody said must not come out.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.judging.agreement import PAPER, PAPER_FOUND, PAPER_GENERATED, measure
from swag_af.judging.consensus import METHODS, judge_by
from swag_af.judging.screening import screened, told_rule
from swag_af.judging.verdicts import N_ENDINGS, RATINGS, Item, Judgement, Verdict, is_example

CUTS = 0.55, -1.71
"""Appeal above the first is likely, below the second gibberish."""
GOLD_APPEAL = 1.76, 1.16
"""Mean and deviation of gold's appeal; a negative's are 0 and 1. With CUTS and the noise they give Table 2's shares."""
NOISE = 0.7
"""Deviation of what a good annotator sees, for every ending afresh."""
SCREENED_AFTER = 10, 15, 20, 30, 50, 100
"""Items that an annotator has done when screening looks."""
OWN_CUTS = 0.4
"""Deviation of how strict an annotator is."""


@dataclass(frozen=True)
class Crowd:
    """Who is asked, and how much."""

    n_items: int = 500
    n_annotators: int = 30
    each: int = 3
    """Annotators an item."""
    careless: float = 0.2
    """Share of the annotators who answer at random on `randomness` of their items."""
    randomness: float = 0.8
    adversarial: float = 0.1
    """Share of the annotators who see every ending's appeal upside down."""
    seed: int = 0
    n_endings: int = N_ENDINGS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--screening", type=int, metavar="K", help="only whom screening drops, with K endings an item")
    options = parser.parse_args()
    if options.screening:
        print_screening(screening(n, range(200), options.screening) for n in SCREENED_AFTER)
        return
    seeds = range(options.seeds)
    found = {
        "calibration": calibration(options.items),
        "consensus": [
            consensus(Crowd(options.items, each=each, careless=careless, adversarial=adversarial), seeds)
            for careless, adversarial in ((0.0, 0.0), (0.2, 0.1), (0.3, 0.2))
            for each in (1, 3, 5)
        ],
        "control": [
            control(name, Crowd(options.items, each=2, careless=careless, randomness=1, adversarial=0), seeds)
            for name, careless in (("good annotators", 0), ("random annotators", 1))
        ],
        "screening": [screening(n, seeds=range(200)) for n in SCREENED_AFTER],
    }
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print_all(found)


def calibration(n_items: int) -> dict[str, Any]:
    """Labels and agreement of good annotators only, and the paper's."""
    verdicts = simulate(Crowd(n_items, careless=0, adversarial=0))[1]
    figures = measure(verdicts)
    return {
        "found": {name: [figure.value, PAPER_FOUND[name]] for name, figure in figures.found.items()},
        "generated": {name: [figure.value, PAPER_GENERATED[name]] for name, figure in figures.generated.items()},
        "agreement": {name: [figures.figures[name].value, paper] for name, paper in PAPER.items()},
    }


def consensus(crowd: Crowd, seeds: Sequence[int]) -> dict[str, Any]:
    """Accuracy of every method against the truth, with and without screening, and what it has over the majority.

    Each figure is a mean over seeds with its standard error; differences are of the same verdicts.
    """
    rows: dict[str, list[dict[str, float]]] = {}
    for seed in seeds:
        truth, verdicts, _ = simulate(replace(crowd, seed=seed))
        dropped = screened(verdicts)
        kept = [verdict for verdict in verdicts if verdict.annotator not in dropped]
        for method in METHODS if crowd.each > 1 else ("majority",):
            for name, said in ((method, verdicts), (f"{method}, screened", kept)):
                rows.setdefault(name, []).append(accuracy(judge_by(method, said), truth))
    over = {
        f"{name} - {base}": [
            {key: row[key] - other[key] for key in row} for row, other in zip(of, rows[base], strict=True)
        ]
        for name, of in rows.items()
        for base in ("majority", "majority, screened")
        if name != base and not (name == "majority" and base != "majority")
    }
    return {"crowd": asdict(crowd), "accuracy": _means(rows), "difference": _means(over)}


def _means(rows: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, list[float]]]:
    """For each name and figure its mean over the rows, and the standard error of that."""
    return {name: {key: _mean([row[key] for row in of]) for key in of[0]} for name, of in rows.items()}


def _mean(values: Sequence[float]) -> list[float]:
    return [float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0]


def control(name: str, crowd: Crowd, seeds: Sequence[int]) -> dict[str, Any]:
    """How often each method calls gold best and second with gold listed first, and with the same verdicts last."""
    rows: dict[str, list[dict[str, float]]] = {}
    for seed in seeds:
        verdicts = simulate(replace(crowd, seed=seed))[1]
        for method in METHODS:
            first, last = (judge_by(method, said) for said in (verdicts, [gold_last(verdict) for verdict in verdicts]))
            row = {}
            for rank in ("best", "second"):
                row[f"{rank}, first"] = float(np.mean([getattr(one, rank) == 0 for one in first]))
                row[f"{rank}, last"] = float(np.mean([getattr(one, rank) == N_ENDINGS - 1 for one in last]))
            rows.setdefault(method, []).append(row)
    return {"crowd": name, "each": crowd.each, "n_items": crowd.n_items, "gold": _means(rows)}


def gold_last(verdict: Verdict) -> Verdict:
    """The same verdict on the same endings, each a place earlier, and gold at the end."""
    item = replace(verdict.item, columns=(*verdict.item.columns[1:], verdict.item.columns[0]))
    best, second = ((place - 1) % N_ENDINGS for place in (verdict.best, verdict.second))
    return replace(verdict, item=item, ratings=(*verdict.ratings[1:], verdict.ratings[0]), best=best, second=second)


def screening(n_items_each: int, seeds: Sequence[int], n_endings: int = N_ENDINGS) -> dict[str, Any]:
    """Of each kind of annotator, the share that screening drops once they have done so many items.

    `ever` is for a rule that looks after every item from the tenth on, as one that runs along with the work does.
    """
    rates: dict[str, list[bool]] = {}
    for seed in seeds:
        crowd = Crowd(n_items_each, 10, each=10, careless=0.3, adversarial=0.2, seed=seed, n_endings=n_endings)
        _, verdicts, kinds = simulate(crowd)
        rule = told_rule(verdicts)
        dropped = screened(verdicts)
        ever = set().union(*(screened([v for v in verdicts if v.item.row < n]) for n in range(10, n_items_each + 1)))
        for name, kind in kinds.items():
            rates.setdefault(kind, []).append(name in dropped)
            rates.setdefault(f"{kind}, ever", []).append(name in ever)
    caught = {name: float(np.mean(flags)) for name, flags in rates.items()}
    n_bad = sum(rates["careless"]) + sum(rates["adversarial"])
    return {
        "items": n_items_each,
        "rule": rule,
        **caught,
        "precision": n_bad / max(1, n_bad + sum(rates["good"])),
        "recall": n_bad / (len(rates["careless"]) + len(rates["adversarial"])),
    }


def simulate(crowd: Crowd) -> tuple[list[Judgement], list[Verdict], dict[str, str]]:
    """The truth of every item, what annotators say, and of which kind each annotator is."""
    rng = np.random.default_rng(crowd.seed)
    appeal = rng.normal(size=(crowd.n_items, crowd.n_endings))
    appeal[:, 0] = GOLD_APPEAL[0] + GOLD_APPEAL[1] * appeal[:, 0]
    truth = [judgement_of(Item(row, tuple(range(crowd.n_endings))), appeal[row]) for row in range(crowd.n_items)]
    n_careless = round(crowd.careless * crowd.n_annotators)
    n_adversarial = round(crowd.adversarial * crowd.n_annotators)
    kinds = ["careless"] * n_careless + ["adversarial"] * n_adversarial
    kinds += ["good"] * (crowd.n_annotators - len(kinds))
    strictness = rng.normal(scale=OWN_CUTS, size=crowd.n_annotators)
    verdicts = []
    for row in range(crowd.n_items):
        for who in rng.permutation(crowd.n_annotators)[: crowd.each]:
            seen = appeal[row] + rng.normal(scale=NOISE, size=crowd.n_endings)
            if kinds[who] == "careless" and rng.random() < crowd.randomness:
                seen = rng.permutation(seen)
            elif kinds[who] == "adversarial":
                seen = appeal.mean() * 2 - seen
            said = judgement_of(truth[row].item, seen - strictness[who])
            verdicts.append(Verdict(said.item, f"{kinds[who]}-{who}", said.ratings, said.best, said.second))
    return truth, verdicts, {f"{kind}-{who}": kind for who, kind in enumerate(kinds)}


def judgement_of(item: Item, appeal: np.ndarray) -> Judgement:
    """What somebody says who sees the endings so."""
    levels = (appeal <= CUTS[0]).astype(int) + (appeal < CUTS[1])
    order = np.argsort(-appeal)
    return Judgement(item, tuple(RATINGS[i] for i in levels), tuple(appeal.tolist()), int(order[0]), int(order[1]), 1)


def accuracy(judged: Sequence[Judgement], truth: Sequence[Judgement]) -> dict[str, float]:
    """The share of the items that anybody is left on, and shares of those on which the consensus is right."""
    true_of = {true.item.row: true for true in truth}
    both = [(found, true_of[found.item.row]) for found in judged]
    kept = [true for found, true in both if keeps(found)]
    return {
        "judged": len(judged) / len(truth),
        "ratings": float(np.mean([np.equal(found.ratings, true.ratings) for found, true in both])),
        "best": float(np.mean([found.best == true.best for found, true in both])),
        "keep": float(np.mean([keeps(found) == keeps(true) for found, true in both])),
        "wrongly kept": sum(not keeps(true) for true in kept) / max(1, len(kept)),
    }


def keeps(judgement: Judgement) -> bool:
    """Whether the release keeps it as a found example: gold among the best two, and enough endings sensible."""
    return 0 in (judgement.best, judgement.second) and is_example(judgement)


def print_all(found: dict[str, Any]) -> None:
    print("calibration: simulated good annotators, and the paper's")
    for group, figures in found["calibration"].items():
        print(f"  {group}: " + ", ".join(f"{name} {here:.3f} ({paper:.3f})" for name, (here, paper) in figures.items()))
    for one in found["consensus"]:
        crowd = one["crowd"]
        print(f"\n{crowd['each']} an item, careless {crowd['careless']:.0%}, adversarial {crowd['adversarial']:.0%}")
        for name, row in (one["accuracy"] | one["difference"]).items():
            print(f"  {name:<44}" + "  ".join(_figure(key, *value) for key, value in row.items()))
    for one in found["control"]:
        print(
            f"\n{one['crowd']}, {one['each']} an item: gold, listed first and listed last, same verdicts (chance 16.7)"
        )
        for name, row in one["gold"].items():
            print(f"  {name:<24}" + "  ".join(_figure(key, *value) for key, value in row.items()))
    print("\nscreening")
    print_screening(found["screening"])


def print_screening(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        shares = "  ".join(f"{name} {value:.3f}" for name, value in row.items() if name not in ("items", "rule"))
        print(f"  {row['items']:3d} items, {row['rule']}  {shares}", flush=True)


def _figure(name: str, mean: float, error: float) -> str:
    return f"{name} {100 * mean:5.1f} ±{100 * error:.1f}"


if __name__ == "__main__":
    main()
