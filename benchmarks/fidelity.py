"""What filtering with each filter and each policy leaves for others to find, and where the floor comes from.

    python benchmarks/fidelity.py pool --out study

Filters one pool eight times: by the perplexity MLP, by each other filter alone, by the ensemble, and by the MLP under
each policy. Then measures every final assignment, and the random one all began with, with fresh filters
cross-validated over whole videos. Last, for the runs of the MLP and of the ensemble, what stands in the way of
chance: fresh filters score every candidate of the rows they never saw. Interrupted, it goes on where it was: runs
are kept in --out, and so is every figure.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from kept import Kept

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions, with_policy
from swag_af.auditing.audit import audit_pool
from swag_af.auditing.crossval import audit_rng, scores_by_fold
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.run import Run, open_run
from swag_af.data.splits import deal
from swag_af.filters.registry import LABELS, make_filter
from swag_af.reporting.plot import COLOURS

RUNS: dict[str, tuple[list[tuple[str, int]], str]] = {
    "mlp": ([("mlp", 60)], "paper"),
    "bow": ([("bow", 30)], "paper"),
    "cnn": ([("cnn", 30)], "paper"),
    "poslstm": ([("poslstm", 30)], "paper"),
    "ensemble": ([("ensemble", 30)], "paper"),
    "mlp released": ([("mlp", 60)], "released"),
    "mlp hardest": ([("mlp", 60)], "hardest"),
    "mlp hellaswag": ([("mlp", 60)], "hellaswag"),
}
FINDERS = ("mlp", "bow", "cnn", "poslstm", "ngrams", "fasttext")
"""Fresh filters that are asked what they find in each assignment."""
N_FOLDS = 5
POLICY_COLOURS = {"paper": "#4477aa", "released": "#ee6677", "hardest": "#aa3377", "hellaswag": "#228833"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path, help="a pool with features and tags")
    parser.add_argument("--out", type=Path, default=Path("study"), help="runs and figures are kept here")
    parser.add_argument("--runs", default=",".join(RUNS), help="which of the eight: 'NAME,NAME'")
    parser.add_argument("--floor-rows", type=int, default=200, help="rows whose every candidate the ensemble scores")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON line, last")
    options = parser.parse_args()

    pool = CandidatePool.open(options.pool)
    asked = {"pool": str(options.pool.resolve()), "seed": options.seed, "floor_rows": options.floor_rows}
    kept = Kept(options.out / "figures.json", asked)
    figures, keep = kept.figures, kept.take
    for name in options.runs.split(","):
        phases, policy = RUNS[name]
        af = with_policy(AFOptions(seed=options.seed), policy)
        run = filter_pool(pool, phases, af, out=options.out / name.replace(" ", "-"))
        keep(f"curve: {name}", partial(curve_of, run))
        print(f"{name:<14}", *(f"{100 * value:5.1f}" for value in figures[f"curve: {name}"]), flush=True)
        for finder in FINDERS:
            start, last = run.start, run.assignment()
            keep(f"random: {finder}", partial(found_by, finder, pool, start, options.seed))
            keep(f"{name}: {finder}", partial(found_by, finder, pool, last, options.seed))
        print_found(figures, name)
    for name, n_rows in (("mlp", len(pool)), ("ensemble", options.floor_rows)):
        if name in options.runs.split(","):
            run = open_run(options.out / name)
            keep(f"floor: {name}", partial(floor_of, run, name, n_rows, options.seed))
            print(f"floor of {name}:", json.dumps(figures[f"floor: {name}"]))
    draw(options.out, options.runs.split(","))
    if options.json:
        print(json.dumps(figures))


def draw(folder: Path, names: list[str]) -> None:
    """`curves.svg`: the re-assigning filter's held-out accuracy, means of five; filters on the left, policies right."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "swag-af", "font.size": 10})
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for name in names:
        filter_name, _, policy = name.partition(" ")
        run = open_run(folder / name.replace(" ", "-"))
        means = np.convolve([100 * run.accuracy(i) for i in range(1, run.n_finished + 1)], np.ones(5) / 5, "valid")
        iterations = np.arange(len(means)) + 3  # the middle of each five
        for panel in panels:
            of_policies = panel is panels[1]
            if bool(policy) == of_policies or filter_name == name == "mlp":
                label = f"MLP, {policy or 'paper'}" if of_policies else LABELS[filter_name]
                colour = POLICY_COLOURS[policy or "paper"] if of_policies else COLOURS[filter_name]
                panel.plot(iterations, means, color=colour, label=label, linewidth=1.6)
    for panel in panels:
        panel.axhline(10, color="#888888", linestyle=":", linewidth=1)
        panel.set(xlabel="iteration", ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize=9)
    panels[0].set_ylabel("held-out accuracy, %")
    figure.savefig(folder / "curves.svg", metadata={"Date": None})


def curve_of(run: Run) -> list[float]:
    """The held-out accuracy of the filter that re-assigns, means of ten iterations."""
    accuracies = [run.accuracy(i) for i in range(1, run.n_finished + 1)]
    return [round(float(np.mean(accuracies[i : i + 10])), 4) for i in range(0, len(accuracies), 10)]


def found_by(finder: str, pool: CandidatePool, assignment: np.ndarray, seed: int) -> list[float]:
    """Accuracy of a fresh filter over folds of whole videos, with its 95 % interval."""
    (finding,) = audit_pool(pool, assignment, [finder], n_folds=N_FOLDS, seed=seed)
    return [round(value, 4) for value in (finding.accuracy, finding.low, finding.high)]


def print_found(figures: dict[str, Any], name: str) -> None:
    for row in ("random", name):
        values = (f"{finder} {100 * figures[f'{row}: {finder}'][0]:.1f}" for finder in FINDERS)
        print(f"   {row:<14}", "  ".join(values), flush=True)


def floor_of(run: Run, filter_name: str, n_rows: int, seed: int) -> dict[str, float]:
    """What stands between the last assignment and chance, seen by fresh filters on rows they never saw.

    accuracy            gold scores highest among the A
    control             the same for a pretended gold, one of the k negatives drawn at random, among the k
    no_better_negative  gold scores above all K - 1 negatives: no assignment could beat this filter here
    fewer_than_k        fewer than k negatives score above gold
    median_above        of all negatives, the share that scores above gold, in the median row
    hardest             accuracy of a filter fitted with another seed if each row were given its k highest negatives
    """
    pool, assignment = run.pool, run.assignment()
    rows = np.sort(np.random.default_rng(seed).permutation(len(pool))[:n_rows])
    folds = deal(pool.groups, N_FOLDS, rng=audit_rng(seed), largest_first=False)  # (N,)
    k = assignment.shape[1] - 1
    above: list[np.ndarray] = []
    hits = []
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(folds != fold), rows[folds[rows] == fold]
        fitted, other = make_filter(filter_name), make_filter(filter_name)
        for i, one in enumerate((fitted, other)):
            one.fit(pool.view(train, assignment[train]), rng=np.random.default_rng((seed, fold, i)))
        for row in test:
            columns = np.arange(pool.counts[row])[None, :]
            scores = fitted.score(pool.view(np.array([row]), columns))[0]  # (K,)
            above.append(scores[1:] > scores[0])
            hardest = np.concatenate([[0], 1 + np.argsort(-scores[1:])[:k]])  # (A,)
            hits.append(_top(other.score(pool.view(np.array([row]), hardest[None, :]))))
    n_above = np.array([int(which.sum()) for which in above])
    shares = np.array([which.mean() for which in above])
    pretended = np.random.default_rng(seed).permuted(assignment[:, 1:], axis=1)  # (N, k) a negative first
    scored = scores_by_fold(make_filter(filter_name), pool, pretended, folds, seed=seed)
    return {
        "n_rows": len(rows),
        "accuracy": found_by(filter_name, pool, assignment, seed)[0],
        "control": _top(np.concatenate([scores for _, scores in scored])),
        "no_better_negative": float((n_above == 0).mean()),
        "fewer_than_k": float((n_above < k).mean()),
        "median_above": float(np.median(shares)),
        "hardest": float(np.mean(hits)),
    }


def _top(scores: np.ndarray) -> float:
    """The share of rows (n, m) whose first scores highest."""
    return round(float((scores[:, 0] > scores[:, 1:].max(axis=1)).mean()), 4)


if __name__ == "__main__":
    main()
