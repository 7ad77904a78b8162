"""How often 95 % intervals hold the truth where groups are of unequal sizes: ours, and those by the number of groups.

    python benchmarks/intervals.py [--draws 1500]
    python benchmarks/intervals.py --verdicts --draws 300
    python benchmarks/intervals.py --fits --draws 600

Made-up hits: each group has an accuracy of its own, around the truth (beta, with the given correlation of two hits of a
group). Sizes are lognormal, or one group has half of all rows. For paired differences no group differs on average.

`--verdicts`: figures of agreement of three annotators who choose among six endings. How often they choose gold
differs by item (beta of 2 and 0.5); the truth is the figure of 20,000 items.

`--fits`: hits of five-fold cross-validation, by naive Bayes on made-up words, with the variance of single hits and with
what audits take. Gold's words are drawn by the same shares as all others, or by tilted ones. The truth is what fits on
so many questions find on average: chance, or else the mean over draws. Beside it, the mean over three seeds of folds;
and paired differences that are told between two draws of wrong options beside the same gold, where there is none.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from swag_af.auditing.runs.crossval import rank_shares
from swag_af.data.numbers import interval as intervals
from swag_af.data.numbers.interval import CROSS_VALIDATED, interval, paired_difference
from swag_af.data.splits import deal
from swag_af.judging import reliability
from swag_af.judging.consensus import labels_of
from swag_af.judging.verdicts import Item, Verdict

Sizes = Callable[[np.random.Generator], np.ndarray]
"""Draws the sizes of the groups of one set."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1500)
    parser.add_argument("--verdicts", action="store_true")
    parser.add_argument("--fits", action="store_true")
    asked = parser.parse_args()
    draws = asked.draws
    if asked.fits:
        show_fits(draws)
        return
    if asked.verdicts:
        show_verdicts(draws)
        return
    for truth, alike in ((0.8, 0.3), (0.95, 0.5)):
        print(f"An accuracy of {truth}, hits of a group correlated by {alike}: intervals that hold it")
        show(partial(held, draws=draws, truth=truth, alike=alike))
    print("No difference: paired differences that are told")
    show(partial(differ, draws=draws))


def show(rate: Callable[[Sizes], float]) -> None:
    print(f"{'groups':40}{'%':>8}{'by their number':>18}")
    for name, sizes in cases():
        with patch.object(intervals, "effective_groups", lambda sizes: float(np.count_nonzero(sizes))):
            by_number = rate(sizes)
        print(f"{name:40}{100 * rate(sizes):8.1f}{100 * by_number:18.1f}", flush=True)
    print()


def cases() -> Iterator[tuple[str, Sizes]]:
    for n in (10, 30, 100):
        for sigma in (0.0, 0.8, 1.2):
            yield f"{n}, lognormal, sigma {sigma}" if sigma else f"{n}, equal", partial(lognormal, n, sigma)
    for n in (21, 101):
        yield f"{n}, one of half of all rows", partial(one_of_half, n)


def lognormal(n: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
    return np.maximum(1, rng.lognormal(2, sigma, n).round()).astype(int)


def one_of_half(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.array([3 * (n - 1), *[3] * (n - 1)])


def held(sizes: Sizes, *, draws: int, truth: float, alike: float) -> float:
    """The share of intervals of an accuracy that hold the truth."""
    rng, found = np.random.default_rng(0), []
    for _ in range(draws):
        groups = of_sizes(sizes(rng))
        spread = (1 - alike) / alike
        of_group = rng.beta(truth * spread, (1 - truth) * spread, int(groups.max()) + 1)
        low, high = interval((rng.random(len(groups)) < of_group[groups]).astype(float), groups)
        found.append(low <= truth <= high)
    return float(np.mean(found))


def differ(sizes: Sizes, *, draws: int) -> float:
    """The share of paired differences that are told where there is none."""
    rng, found = np.random.default_rng(1), []
    for _ in range(draws):
        groups = of_sizes(sizes(rng))
        lean, at = rng.normal(0, 0.3, int(groups.max()) + 1)[groups] / 2, rng.random(len(groups))
        fell, rose = np.clip(0.2 + lean, 0, 0.5), np.clip(0.2 - lean, 0, 0.5)
        before, after = at < fell, (at >= fell) & (at < fell + rose)
        found.append(paired_difference(before.astype(float), after.astype(float), groups).is_significant)
    return float(np.mean(found))


FIGURES = ("gold_in_top2", "rank_pairwise", "rank_alpha", "rank_kappa")


def show_verdicts(draws: int) -> None:
    with patch.object(reliability, "N_BOOTSTRAPS", 0):
        truth = verdict_figures(20_000, seed=0)
    print(f"{'items':8}{''.join(f'{name:>16}' for name in FIGURES)}")
    for n in (10, 12, 15, 30, 60):
        held = np.zeros(len(FIGURES))
        with patch.object(reliability, "MIN_BOOTSTRAP_ITEMS", 2):
            for seed in range(1, draws + 1):
                found = verdict_figures(n, seed=seed)
                held += [(found[name].low or 0) <= truth[name].value <= (found[name].high or 0) for name in FIGURES]
        print(f"{n:<8}{''.join(f'{100 * share:16.1f}' for share in held / draws)}", flush=True)


def verdict_figures(n_items: int, *, seed: int) -> dict[str, Any]:
    rng, said = np.random.default_rng(seed), []
    for row in range(n_items):
        prefers_gold = rng.beta(2, 0.5)
        for who in range(3):
            best, second = map(int, 1 + rng.permutation(5)[:2])
            best = 0 if rng.random() < prefers_gold else best
            said.append(Verdict(Item(row, tuple(range(6))), f"a{who}", ("likely",) * 6, best, second))
    return reliability.figures_of(labels_of(said), seed=0)


def of_sizes(sizes: np.ndarray) -> np.ndarray:
    return np.repeat(np.arange(len(sizes)), sizes)


N_TYPES, N_WORDS, N_FOLDS, N_SEEDS = 1500, 8, 5, 3
TIMES = (1.0, CROSS_VALIDATED)


def show_fits(draws: int) -> None:
    print(
        f"{'questions':12}{'options':>8}{'accuracy':>10}{'held':>8}{'twice':>8}{'3 seeds':>9}{'differ':>8}{'twice':>8}"
    )
    for n, n_options in ((200, 2), (400, 2), (400, 4), (1000, 4), (400, 10)):
        for tilt in (0.0, 0.3, 0.6, 1.2):
            made = [hits_of_fits(n, n_options, tilt, seed=seed) for seed in range(draws)]
            truth = float(np.mean([before for _, before, _ in made])) if tilt else 1 / n_options
            alone = np.arange(n)
            held = [rate_held([one for _, one, _ in made], truth, times) for times in TIMES]
            over_seeds = rate_held([one for one, _, _ in made], truth, 1.0)
            told = [
                np.mean([paired_difference(one, other, alone, times=times).is_significant for _, one, other in made])
                for times in TIMES
            ]
            shares = "".join(
                f"{100 * share:{width}.1f}" for share, width in zip((truth, *held), (10, 8, 8), strict=True)
            )
            print(
                f"{n:<12}{n_options:>8}{shares}{100 * over_seeds:9.1f}{100 * told[0]:8.1f}{100 * told[1]:8.1f}",
                flush=True,
            )


def rate_held(hits: list[np.ndarray], truth: float, times: float) -> float:
    """The share of intervals of accuracies that hold the truth."""
    ends = [interval(one, np.arange(len(one)), times=times) for one in hits]
    return float(np.mean([low <= truth <= high for low, high in ends]))


def hits_of_fits(n: int, n_options: int, tilt: float, *, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(n,) hits, mean over the seeds of folds; those of the first; and those with other wrong options."""
    rng, share = np.random.default_rng(seed), 1 / np.arange(3, N_TYPES + 3)
    of_gold = share * np.exp(tilt * np.random.default_rng(0).normal(size=N_TYPES))
    gold = drawn_words(of_gold, (n, 1), rng)
    first, second = (np.concatenate([gold, drawn_words(share, (n, n_options - 1), rng)], axis=1) for _ in range(2))
    seeds = [deal(np.arange(n), N_FOLDS, rng=rng, largest_first=False) for _ in range(N_SEEDS)]
    each = [naive_bayes(first, folds) for folds in seeds]
    mean: np.ndarray = np.mean(each, axis=0)
    return mean, each[0], naive_bayes(second, seeds[0])


def drawn_words(share: np.ndarray, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """`shape` texts of words by their `share` (V,)."""
    return np.searchsorted(np.cumsum(share / share.sum()), rng.random((*shape, N_WORDS))).clip(0, N_TYPES - 1)


def naive_bayes(words: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """(n,) how far gold, the first of the options `words` (n, options, L), comes first, fitted on the other folds."""
    hits = np.empty(len(words))
    for fold in range(N_FOLDS):
        train, test = words[folds != fold], folds == fold
        right, wrong = (1 + np.bincount(part.ravel(), minlength=N_TYPES) for part in (train[:, 0], train[:, 1:]))
        scores = np.log((right / right.sum()) / (wrong / wrong.sum()))[words[test]].sum(axis=2)
        hits[test] = rank_shares(scores)[:, 0]
    return hits


if __name__ == "__main__":
    main()
