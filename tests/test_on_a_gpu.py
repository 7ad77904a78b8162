"""Networks on a GPU against the same on the CPU: losses, gradients, samples, features, filters, verbs.

Skipped where there is none. Bits are not compared across devices: fp32 sums are taken in another order there.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import STOP, TINY
from slow.recurrence import slow_loss
from tiny_causal import save_tiny_gpt2, save_tiny_llama

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run
from swag_af.filters import make_filter
from swag_af.filters.networks import CNN, BagOfWords, Ensemble, PerplexityMLP, PosLSTM
from swag_af.filters.neural import cross_entropy
from swag_af.filters.sequences import Sequences
from swag_af.lm.causal.generator import CausalGenerator
from swag_af.lm.causal.scorer import CausalScorer
from swag_af.lm.lstm.corpus import directions
from swag_af.lm.lstm.features import Endings, backward_features
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.sampling import Prompt, SampledRow, Sampling, Types, sample_rows
from swag_af.lm.lstm.train import train_lm
from swag_af.lm.options import GenerateOptions, Precision, TrainLMOptions
from swag_af.lm.verb import generate
from swag_af.nn.bidirectional import BiLSTM, Steps

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

CPU, GPU = torch.device("cpu"), torch.device("cuda")
NEURAL = ("mlp", "bow", "cnn", "poslstm", "ensemble")
PAIRS = ("dualbow", "infersent-mlp", "infersent-bilinear", "lstm", "decomp", "esim")


def new_lm(hidden: int = 64, n_types: int = 500) -> BidirectionalLM:
    """Untrained, far from uniform, with a sentence end about every eighth token."""
    torch.manual_seed(0)
    model = BidirectionalLM(n_types, hidden, 2)
    with torch.no_grad():
        model.embedding.mul_(8)
        model.output_bias.copy_(-torch.log(torch.arange(n_types) + 5.0))
        model.output_bias[STOP] = model.output_bias.logsumexp(0) - 1.9
    return model


def relative(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """The length of the difference over that of what is wanted."""
    return float((found.cpu().double() - wanted.cpu().double()).norm() / wanted.cpu().double().norm().clamp(min=1e-30))


def gradients(module: torch.nn.Module) -> torch.Tensor:
    """All of them in one row."""
    return torch.cat([p.grad.flatten().cpu() for p in module.parameters() if p.grad is not None])


# ------------------------------------------------------------------------------------------- language models


def some_batch(n_types: int = 500) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    rng = np.random.default_rng(0)
    made = directions([tuple(rng.integers(4, n_types, n).tolist()) for n in rng.integers(5, 30, 24)])
    return {name: (torch.from_numpy(a), torch.from_numpy(b)) for name, (a, b) in made.items()}


@pytest.mark.parametrize("enabled", [False, True])
def test_a_loss_and_its_gradients_are_those_of_a_slow_twin(enabled: bool) -> None:
    batch = some_batch()
    slow = new_lm()
    wanted = slow_loss(slow, batch)
    wanted.backward()
    model = new_lm().to(GPU)
    with torch.autocast("cuda", torch.bfloat16, enabled=enabled):
        loss, _ = model.losses({name: (a.to(GPU), b.to(GPU)) for name, (a, b) in batch.items()})
    loss.backward()
    assert relative(loss.detach(), wanted.detach()) < (2e-3 if enabled else 1e-5)
    assert relative(gradients(model), gradients(slow)) < (5e-2 if enabled else 1e-4)


def readers(device: torch.device, precision: Precision, direction: str = "forward") -> Reader:
    model = new_lm().eval().to(device)
    return Reader(model, direction, OutputLayer(model, precision))


def rows_of(reader: Reader, *, seeds: range = range(5), live_rows: int | None = None) -> dict[int, SampledRow]:
    """Of each seed, by its number."""
    prompts = [Prompt([5 + seed, 9, 8], [6, 7, STOP], np.random.default_rng(seed)) for seed in seeds]
    types = Types(torch.arange(500) == STOP, torch.arange(500) % 5 != 3)
    found = sample_rows(reader, prompts, Sampling(120, 2, 12, 40), types, tuple, live_rows=live_rows)
    return {seeds[at]: row for at, row in found if row is not None}


def nats_by_ending(row: SampledRow) -> dict[tuple[int, ...], float]:
    return {tuple(t[:n]): nats for t, n, nats in zip(row.tokens.tolist(), row.lengths, row.ending_nats, strict=True)}


@pytest.mark.parametrize(("precision", "most_others", "far"), [("fp32", 0.01, 1e-3), ("bf16", 0.3, 0.3)])
def test_endings_are_those_of_the_cpu_but_for_rounding(precision: Precision, most_others: float, far: float) -> None:
    here, there = rows_of(readers(CPU, "fp32")), rows_of(readers(GPU, precision))
    assert sorted(here) == sorted(there) == list(range(5))
    n_same = 0
    for seed, row in here.items():
        one, two = nats_by_ending(row), nats_by_ending(there[seed])
        same = one.keys() & two.keys()
        n_same += len(same)
        assert max(abs(one[ending] - two[ending]) for ending in same) < far
        assert abs(row.context_nats - there[seed].context_nats) < far
    assert n_same >= (1 - most_others) * 5 * 121


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_row_does_not_depend_on_its_company(precision: Precision) -> None:
    reader = readers(GPU, precision)
    together = rows_of(reader)
    for seed in range(5):
        alone = rows_of(readers(GPU, precision), seeds=range(seed, seed + 1), live_rows=40)[seed]
        for name, value in vars(together[seed]).items():
            np.testing.assert_array_equal(value, getattr(alone, name), err_msg=name)


@pytest.mark.parametrize(("precision", "far"), [("fp32", 1e-4), ("bf16", 0.03)])
def test_features_of_the_backward_model_are_those_of_the_cpu(precision: Precision, far: float) -> None:
    rows = rows_of(readers(CPU, "fp32"))
    items = [Endings([5 + seed, 9, 8], row.tokens, row.lengths) for seed, row in sorted(rows.items())]
    here = dict(backward_features(readers(CPU, "fp32", "backward"), items))
    there = dict(backward_features(readers(GPU, precision, "backward"), items))
    for i, values in here.items():
        np.testing.assert_allclose(there[i], values, rtol=0, atol=far)


# ------------------------------------------------------------------------------------------- networks of filters


def sequences_of(n: int, n_words: int) -> Sequences:
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 20, n)
    words = rng.integers(1, n_words, (n, 20))
    words[np.arange(20) >= lengths[:, None]] = 0
    return Sequences(
        words=torch.from_numpy(words.astype(np.int32)),
        tags=None,
        lengths=torch.from_numpy(lengths.astype(np.int32)),
        start_lengths=torch.ones(n, dtype=torch.int32),
        features=torch.from_numpy(rng.normal(size=(n, 8)).astype(np.float32)),
    )


def network(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    members = {
        "mlp": PerplexityMLP(torch.zeros(8), torch.ones(8), 64, dropout=0),
        "bow": BagOfWords(90),
        "cnn": CNN(90),
        "poslstm": PosLSTM(torch.arange(90) % 30, 30, first_tag=20, dropout=0),
    }
    return Ensemble(members, 64) if name == "ensemble" else members[name]


@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("name", NEURAL)
def test_logits_and_gradients_of_a_filter_are_those_of_the_cpu(name: str, enabled: bool) -> None:
    sequences, found = sequences_of(60, 90), {}
    for device in (CPU, GPU):
        made = network(name).to(device).train()
        batch = sequences.take(torch.arange(60), device)
        with torch.autocast(device.type, torch.bfloat16, enabled=enabled and device == GPU):
            logits = {head: logit[batch.back] for head, logit in made.logits(batch).items()}
        torch.stack([cross_entropy(one.reshape(12, 5)) for one in logits.values()]).sum().backward()
        found[device] = torch.cat([one.detach().float().cpu() for one in logits.values()]), gradients(made)
    for there, here in zip(found[GPU], found[CPU], strict=True):
        assert relative(there, here) < (0.1 if enabled else 1e-4)


def test_a_bidirectional_layer_is_that_of_the_cpu() -> None:
    torch.manual_seed(0)
    tokens, lengths = torch.randn(40, 12), torch.tensor([7, 1, 12, 9, 11])
    found = {}
    for device in (CPU, GPU):
        torch.manual_seed(1)
        layer, steps = BiLSTM(12, 16).to(device), Steps.of(lengths.to(device))
        pooled = layer.pooled(tokens.to(device), steps)
        outputs = layer(tokens.to(device), torch.arange(40, device=device), steps)
        (pooled.square().sum() + outputs.square().sum()).backward()
        found[device] = pooled.detach().cpu(), outputs.detach().cpu(), gradients(layer)
    bounds = 1e-5, 1e-5, 1e-3  # gradients are of tf32 there, as torch has it; scores are not
    for there, here, bound in zip(found[GPU], found[CPU], bounds, strict=True):
        assert relative(there, here) < bound


# ------------------------------------------------------------------------------------------- filters


def planted(n: int = 160) -> CandidatePool:
    """Gold is told by a word, by its order and by its features; each filter finds one of them at least."""
    rng = np.random.default_rng(0)
    nouns = [f"{a}{b}" for a in "bdfgkl" for b in ("ook", "ag", "ell", "oat")]

    def ending(is_gold: bool) -> str:
        first, second = rng.choice(nouns, 2)
        return f"softly takes the {first} to the {second}." if is_gold else f"takes a {first} to the {second}."

    contexts = [Context(f"A man stands near {i} trees.", "He", ending(True), video=f"v{i // 2}") for i in range(n)]
    negatives = [list({ending(False) for _ in range(40)})[:11] for _ in range(n)]
    features = [rng.normal(size=(1 + len(row), 8)).astype(np.float32) for row in negatives]
    for table in features:
        table[0] += 1.0
    return CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")


@pytest.fixture(scope="module")
def planted_pool() -> CandidatePool:
    return planted()


def halves(pool: CandidatePool) -> tuple[View, View]:
    columns = np.tile(np.arange(6), (len(pool), 1))
    n = len(pool) // 2
    return pool.view(np.arange(n), columns[:n]), pool.view(np.arange(n, 2 * n), columns[n:])


def accuracy(scores: np.ndarray) -> float:
    return float((scores.argmax(1) == 0).mean())


@pytest.mark.parametrize("name", [*NEURAL, *PAIRS])
def test_a_filter_learns_as_much_on_either_device(name: str, planted_pool: CandidatePool) -> None:
    train, test = halves(planted_pool)
    made = {}
    for device in ("cpu", "cuda"):
        one = make_filter(name, device=device, max_epochs=6)
        one.fit(train, rng=np.random.default_rng(0))
        made[device] = accuracy(one.score(test))
    here, there = made.values()
    assert min(here, there) > 0.3
    assert abs(here - there) < 0.2


@pytest.mark.parametrize("name", NEURAL)
def test_a_filter_that_learnt_on_a_gpu_goes_on_and_scores_on_a_cpu(name: str, planted_pool: CandidatePool) -> None:
    train, test = halves(planted_pool)
    one = make_filter(name, device="cuda", max_epochs=3)
    one.fit_on(train, None, rng=np.random.default_rng(0))
    wanted = one.score(test)
    for device in ("cuda", "cpu"):
        other = make_filter(name, device=device, max_epochs=3)
        other.restore(train, one.state())
        np.testing.assert_allclose(other.score(test), wanted, rtol=0, atol=1e-3)
        other.fit_on(train, one.state(), rng=np.random.default_rng(1))
        assert accuracy(other.score(test)) > 0.3


@pytest.mark.parametrize("splits", ["fresh", "fixed"])
def test_a_run_on_a_gpu_is_interrupted_and_goes_on(splits: str, planted_pool: CandidatePool, tmp_path: Path) -> None:
    options = AFOptions(splits=splits)
    schedule = [("mlp[device=cuda]", 5), ("ensemble[device=cuda,width=64,mlp_width=64]", 2)]

    def interrupt(run: Run) -> None:
        if run.n_finished == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filter_pool(planted_pool, schedule, options, out=tmp_path / "run", after_iteration=interrupt)
    run = filter_pool(planted_pool, schedule, options, out=tmp_path / "run")
    assert run.n_finished == 7
    assert min(run.accuracy(i) for i in (1, 2)) > 0.3


# ------------------------------------------------------------------------------------------- verbs


def test_models_trained_on_a_gpu_generate_there_and_on_a_cpu(contexts_path: Path, tmp_path: Path) -> None:
    train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", lm=TINY, device="cuda"))
    pools = {}
    for name, device, workers in (("gpu", "cuda", 1), ("again", "cuda", 1), ("two", "cuda", 2), ("cpu", "cpu", 1)):
        options = GenerateOptions(
            contexts_path, tmp_path / "lms", tmp_path / name, n_negatives=15, limit=24, device=device, workers=workers,
            max_draws=200, output_precision="fp32",
        )  # fmt: skip
        generate(options)
        pools[name] = CandidatePool.open(tmp_path / name)
    columns = np.arange(16)[None].repeat(len(pools["gpu"]), 0)
    views = {name: pool.view(np.arange(len(pool)), columns) for name, pool in pools.items()}
    for name in ("again", "two"):
        assert views[name].texts == views["gpu"].texts
        np.testing.assert_array_equal(views[name].features, views["gpu"].features)
    same = np.mean([set(a) == set(b) for a, b in zip(views["cpu"].texts, views["gpu"].texts, strict=True)])
    assert same > 0.8


def test_models_are_trained_side_by_side_on_one_gpu(contexts_path: Path, tmp_path: Path) -> None:
    for n in (1, 2):
        train_lm(TrainLMOptions(contexts_path, tmp_path / f"lms-{n}", lm=TINY, device="cuda", workers=n))
    alone, beside = (
        [read_json(tmp_path / f"lms-{n}" / f"fold-{fold}" / "manifest.json") for fold in (0, 1)] for n in (1, 2)
    )
    for one, two in zip(alone, beside, strict=True):
        assert [where["device"] for where in two["trained_on"]] == ["cuda"]
        for direction, perplexity in one["held_out_perplexity"].items():
            assert two["held_out_perplexity"][direction] == pytest.approx(perplexity, rel=0.3)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_causal_models_draw_and_score_on_a_gpu(kind: str, tmp_path: Path) -> None:
    model = (save_tiny_gpt2 if kind == "gpt2" else save_tiny_llama)(tmp_path / kind)
    contexts = [Context(f"A {who} walks to the street.", f"The {who}", "takes the bus.") for who in ("man", "girl")]
    endings = [["takes the bus.", "takes the water to the man."], ["runs.", "takes a house."]]
    made = {}
    for device in ("cpu", "cuda"):
        scorer = CausalScorer(model, device=device, precision="float32")
        made[device] = [np.asarray(one) for one in scorer.score(contexts, endings)]
    for here, there in zip(made["cpu"], made["cuda"], strict=True):
        np.testing.assert_allclose(there, here, rtol=0, atol=1e-3)
    generator = CausalGenerator(model, device="cuda", precision="float32", max_draws=40)
    found = list(generator.generate(contexts, 3, seed=0))
    assert [len(one.endings) for one in found] == [3, 3]
