"""A run that one simulated person has judged, for the tests of `release`."""

import csv
from pathlib import Path

import numpy as np
import pytest
from conftest import HashFilter, make_pool

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run, open_run
from swag_af.judging.verdicts import RATINGS, Item, Verdict, make_items, write_verdicts
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release

N = 60


def say(items: list[Item], annotators: str, *, seed: int = 0, gold: float = 3.0) -> list[Verdict]:
    """Verdicts at random; gold is `gold` times as often among the best two as any other ending."""
    rng = np.random.default_rng(seed)
    verdicts = []
    for item in items:
        for annotator in annotators:
            weights = np.array([gold, *[1.0] * (len(item.columns) - 1)])
            best, second = rng.choice(len(weights), 2, replace=False, p=weights / weights.sum())
            ratings = [
                str(rng.choice(RATINGS, p=[0.8, 0.17, 0.03] if i == 0 else [0.3, 0.55, 0.15]))
                for i in range(len(weights))
            ]
            verdicts.append(Verdict(item, annotator, tuple(ratings), int(best), int(second), 20.0))
    return verdicts


def make_run(folder: Path) -> Run:
    """Two iterations on a pool of N rows of ten videos."""
    make_pool(n=N).save(folder / "pool")
    options = AFOptions(iterations=2, n_negatives=9)
    filter_pool(CandidatePool.open(folder / "pool"), HashFilter(), options, out=folder / "run")
    return open_run(folder / "run")


def judged_options(run: Run, folder: Path) -> ReleaseOptions:
    """A release of the run, in which one annotator, who is not screened out, judged all rows but the last five. No
    audits: they take seconds."""
    items = make_items(run.assignment(), seed=0)
    write_verdicts(folder / "verdicts.jsonl", say(items[:-5], "a", gold=6.0), run.pool.identity)
    verdicts = (folder / "verdicts.jsonl",)
    return ReleaseOptions(run.path, folder / "kitchen", verdicts, audit="none", val_share=0.4, test_share=0.2)


def release_without_curve(options: ReleaseOptions) -> Dataset:
    """The curve takes most of the time; test_release.py draws it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
        return release(options)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
