"""Shared by the tests: a small pool in memory, a tiny contexts file, and filters that cost nothing."""

import fcntl
import gc
import os
import signal
import zlib
from collections.abc import Generator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: at these sizes more threads wait longer than they work

import numpy as np
import pytest
import shapes
from hypothesis import settings

from swag_af.data.captions.context_set import write_contexts
from swag_af.data.captions.contexts import make_contexts
from swag_af.data.captions.options import ContextRules
from swag_af.data.context import Context
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.syntax.splitters import load_splitter
from swag_af.data.work.locks import alone
from swag_af.filters import registry
from swag_af.lm.options import LMOptions, TrainLMOptions

if TYPE_CHECKING:
    from swag_af.data.runs.run import Run
    from swag_af.lm.lstm.network import BidirectionalLM


def pytest_configure() -> None:
    """Every test runs with the shapes of arrays checked, leaves no vectors where the user keeps theirs, and may take as
    long as a busy machine makes it."""
    gc.disable()  # until all tests are imported
    os.environ["SWAG_AF_CACHE"] = "none"
    shapes.check_signatures()
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    """What was imported stays, and the collector of garbage need not look at it again every few tests. Nor at the rest
    as often as it would: that takes a twentieth of the time."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker reads all files of tests. The first to come compiles one, which takes longer than all the rest of
    reading it; the others wait, and take what it leaves."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with collector.path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """More than there are cores: the tests that take longest wait for servers and processes of their own."""
    return 3 + (os.cpu_count() or 1)


@pytest.fixture(params=[True, False], ids=["instructions", "torch"])
def has_bf16(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether products in bf16 are made by instructions of the processor. Where it has none, torch's alone are tried:
    nothing can stand in for an instruction that is not there."""
    from swag_af.nn import products

    by_instruction: bool = request.param
    if by_instruction and not products.has_bf16():
        pytest.skip("this processor has no instructions for bf16 products")
    monkeypatch.setattr(products, "has_bf16", lambda: by_instruction)
    return by_instruction


class HashFilter:
    """The fake of the main extension point: every text gets a number in [0, 1) that depends on it and on the fit.

    A fit draws one number from its `rng` and notes what its golds were, so a run that is not given the same
    contexts, assignment and generator scores otherwise.
    """

    name = "hash"

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        golds = "".join(sorted(row[0] for row in view.texts))
        self.salt = f"{rng.integers(2**32)} {zlib.crc32(golds.encode())} "

    def score(self, view: View) -> np.ndarray:
        return np.array(
            [[zlib.crc32((self.salt + text).encode()) / 2**32 for text in row] for row in view.texts]
        )  # (n, m)


class FeatureFilter:
    """A fake that reads the features: their sum is the score."""

    name = "feature"
    requires = ("features",)

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.mean = view.features.mean()

    def score(self, view: View) -> np.ndarray:
        return view.features.astype(np.float64).sum(axis=2) - self.mean  # (n, m)


class FitsAnew(FeatureFilter):
    """A fake that goes on, and learns nothing new."""

    name = "anew"

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        self.fit(view, rng=rng)

    def state(self) -> dict[str, np.ndarray]:
        return {}


def chained(n_videos: int, n_captions: int) -> list[Context]:
    """Contexts of consecutive captions: the second sentence of each is the first of the next of its video."""
    made = []
    for video in range(n_videos):
        captions = [f"The person {video} does the thing number {i} now." for i in range(n_captions)]
        for i, (first, second) in enumerate(pairwise(captions)):
            start, gold = second.split(" does ")
            made.append(Context(first, start, f"does {gold}", id=f"{video:03}-{i:02}", video=f"v{video:03}"))
    return made


def make_contexts_of(n: int, *, n_videos: int) -> list[Context]:
    """`n` contexts of `n_videos` videos in five folds."""
    verbs = ("rides", "paints", "lifts", "washes", "throws")
    return [
        Context(
            f"A woman stands in room {i} of the house.",
            "The tall man",
            f"{verbs[i % 5]} the {i}th horse down the hill.",
            id=f"v{i % n_videos}-{i // n_videos}",
            video=f"v{i % n_videos}",
            source="tests",
            fold=i % n_videos % 5,
        )
        for i in range(n)
    ]


def make_pool(seed: int = 0, *, n: int = 30, fewest: int = 12, most: int = 18) -> CandidatePool:
    """A pool of `n` rows with `fewest` to `most` negatives each and random features."""
    rng = np.random.default_rng(seed)
    contexts = make_contexts_of(n, n_videos=10)
    n_negatives = rng.integers(fewest, most + 1, n)
    negatives = [[f"sees {k} birds, {i} trees and café {seed}." for k in range(m)] for i, m in enumerate(n_negatives)]
    features = [rng.normal(size=(1 + m, len(FEATURES))).astype(np.float32) for m in n_negatives]
    return CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")


@pytest.fixture(scope="session")
def pool() -> CandidatePool:
    """30 ragged rows of 10 videos, in memory."""
    return make_pool()


@pytest.fixture(scope="session")
def pool_folder(pool: CandidatePool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pool on disk; not to be changed."""
    folder = tmp_path_factory.mktemp("pools") / "pool"
    pool.save(folder)
    return folder


N_TYPES = 12
STOP = 4
"""The id of the only sentence end in the toy vocabulary of `N_TYPES`."""


@pytest.fixture(scope="session")
def model() -> "BidirectionalLM":
    """An untrained model of that vocabulary that is far from uniform; not to be changed."""
    import torch

    from swag_af.lm.lstm.network import BidirectionalLM

    torch.manual_seed(0)
    made = BidirectionalLM(N_TYPES, 16, 2).eval()
    with torch.no_grad():
        made.embedding.mul_(12)
        made.output_bias[STOP] += 0.8
    return made


TINY = LMOptions(hidden=24, epochs=4, batch_size=16, learning_rate=1e-2, min_count=1)
"""A language model that trains in two seconds, long enough to finish most of its sentences."""


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for what is made once, by the worker that first needs it; the others wait. Its locks lie in no folder
    that somebody copies."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "shared"


@pytest.fixture(scope="session")
def contexts_path(made_once: Path) -> Path:
    """The contexts of 40 synthetic videos in two folds; not to be changed."""
    path = made_once / "captions" / "contexts.jsonl"
    with alone(made_once / "contexts", is_told=False):
        if not path.exists():
            rules = ContextRules(min_token_count=1, n_folds=2)
            rng = np.random.default_rng(0)
            write_contexts(path, *make_contexts(sample_videos(40), load_splitter("trees"), rules, rng=rng), {})
    return path


@pytest.fixture(scope="session")
def lms(made_once: Path, contexts_path: Path) -> Path:
    """Language models of both folds; not to be changed."""
    from swag_af.lm.lstm.checkpoints import is_trained

    path = contexts_path.parent / "lms"
    with alone(made_once / "lms", is_told=False):
        if not all(is_trained(path, fold) for fold in (0, 1)):
            from swag_af.lm.lstm.train import train_lm

            train_lm(TrainLMOptions(contexts_path, path, lm=TINY))
    return path


@pytest.fixture
def contexts_file(tmp_path: Path) -> Path:
    """Six contexts of three videos, with the files that stand beside them."""
    path = tmp_path / "contexts.jsonl"
    write_contexts(path, make_contexts_of(6, n_videos=3), [], {"verb": "contexts"})
    return path


@pytest.fixture
def run(tmp_path: Path) -> "Run":
    """A run of no iterations, for people to judge; tests of other runs have a fixture of their own."""
    from verify_people import make_run, small_pool

    return make_run(small_pool(), tmp_path / "run")


@pytest.fixture
def fake_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    """`hash` and `feature` are names that every schedule knows."""
    monkeypatch.setitem(registry.FILTERS, "hash", "conftest:HashFilter")
    monkeypatch.setitem(registry.FILTERS, "feature", "conftest:FeatureFilter")


@pytest.fixture
def plain_process(monkeypatch: pytest.MonkeyPatch, fake_filters: None) -> Iterator[None]:
    """Verbs run without drawing curves (tests/reporting/test_plot.py does), and the process is as it was afterwards."""
    for module in ("reporting.verb", "releasing.verb"):
        monkeypatch.setattr(f"swag_af.{module}.plot_run", lambda run, folder: [])
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


class ContextFilter:
    """A fake that reads first sentences: an ending is as good as its words stand in what comes before it."""

    name = "context"
    inputs = "full"

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.n = len(view)

    def score(self, view: View) -> np.ndarray:
        rows = [(set(context.sent1.split()), row) for context, row in zip(view.contexts, view.texts, strict=True)]
        return np.array([[float(len(first & set(text.split()))) for text in row] for first, row in rows])  # (n, m)
