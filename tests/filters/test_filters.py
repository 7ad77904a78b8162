"""The filters: their contract, what each can and cannot learn, and the fast gradients against slow twins."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from slow.pools import slow_lstm_max_pool, slow_window_max_pool
from test_house import loaded_by

import swag_af.filters
from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import audit_pool
from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.splits import named_groups
from swag_af.filters import ContractError, check_filter, filter_names, make_filter
from swag_af.filters import sequences as sequences_module
from swag_af.filters.contract import Filter, check_is_filter
from swag_af.filters.members import CNNFilter
from swag_af.filters.networks import CNN, BagOfWords, Ensemble, PerplexityMLP, PosLSTM
from swag_af.filters.neural import NeuralFilter, cross_entropy, stopping_size, stopping_split
from swag_af.filters.registry import REGISTRY
from swag_af.filters.sequences import sequences_of
from swag_af.filters.threads import deciding_threads
from swag_af.nn import products
from swag_af.nn import threads as threads_module
from swag_af.nn.device import mixed_precision
from swag_af.nn.recurrent import lstm_max_pool
from swag_af.nn.training import batch_size
from swag_af.nn.windows import window_max_pool

SMALL = {"max_epochs": 2, "device": "cpu"}
SETTINGS = dict.fromkeys(("mlp", "bow", "cnn", "poslstm"), SMALL) | {"ensemble": SMALL | {"width": 32, "mlp_width": 16}}
N_TRAIN, N_TEST, N_COLUMNS = 160, 160, 4
CHANCE = 1 / N_COLUMNS
FOUR_SIGMA = 4 * np.sqrt(CHANCE * (1 - CHANCE) / N_TEST)


@pytest.fixture(scope="module")
def broad_pool():
    """300 rows of 24 candidates and 1,100 word types: so much that torch shares the work among its threads."""
    rng = np.random.default_rng(0)
    words = [a + b + c for a in "bdfgkmnprstvz" for b in "aeiou" for c in ("n", "rt", "lk", "sh", "v")]

    def phrase(n):
        return " ".join(rng.choice(words, n))

    contexts = [Context(phrase(9), phrase(3), f"{phrase(9)} g{i}.", video=f"v{i}") for i in range(300)]
    negatives = [[f"{phrase(9)} n{k}." for k in range(23)] for _ in contexts]
    features = [rng.normal(size=(24, 8)).astype(np.float32) for _ in contexts]
    return CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")


# ------------------------------------------------------------------------------------------- the contract


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_filter_of_ours_keeps_the_contract(name):
    check_filter(lambda: make_filter(name, **SETTINGS[name]))


class MeanDifference:
    """An honest filter on the features, in four lines of numpy; each class below breaks one sentence."""

    name = "mean_difference"
    requires = ("features",)

    def fit(self, view, *, rng):
        self.weights = view.features[:, 0].mean(0) - view.features[:, 1:].mean((0, 1))

    def score(self, view):
        return view.features @ self.weights


class DrawsAtConstruction(MeanDifference):
    def __init__(self):
        self.shift = np.random.default_rng().normal()


class RemembersEarlierFits(MeanDifference):
    weights = 0.0

    def fit(self, view, *, rng):
        earlier = self.weights
        super().fit(view, rng=rng)
        self.weights = self.weights + earlier


class LeaksThePosition(MeanDifference):
    def score(self, view):
        return super().score(view) - 0.1 * np.arange(view.shape[1])


class NormalisesOverTheCall(MeanDifference):
    def score(self, view):
        scores = super().score(view)
        return scores - scores.mean()


class MeasuresByTheLongest(MeanDifference):
    """Rarely seen in a third of the rows, where the longest ending mostly is too."""

    def score(self, view):
        return view.lengths / view.lengths.max()


class IgnoresTheGenerator(MeanDifference):
    def fit(self, view, *, rng):
        super().fit(view, rng=rng)
        self.weights = self.weights + np.random.default_rng().normal(size=self.weights.shape)


class SaysNothingFinite(MeanDifference):
    def score(self, view):
        return np.full(view.shape, np.nan)


class WritesWhileFitting(MeanDifference):
    def fit(self, view, *, rng):
        view.features[:] = view.features - view.features.mean((0, 1))
        super().fit(view, rng=rng)


class WritesWhileScoring(MeanDifference):
    def score(self, view):
        view.tokens[..., 0] = 0
        return super().score(view)


class DecidesByAHead(MeanDifference):
    """Its own head would decide in place of `score`."""

    def member_scores(self, view):
        return {self.name: -self.score(view)}


def test_check_filter_names_what_a_constructor_needs():
    """It ended in a TypeError, as if the mistake were ours."""

    class Wide(MeanDifference):
        def __init__(self, width: int, *, depth: int, seed: int = 0) -> None:
            self.width, self.depth, self._seed = width, depth, seed

    with pytest.raises(
        ContractError, match=r"Wide: it cannot be made without width, depth\. .*`lambda: Wide\(\.\.\.\)`"
    ):
        check_filter(Wide)
    check_filter(lambda: Wide(3, depth=1))


def test_check_filter_names_what_a_constructor_takes_and_does_not_keep():
    """A run would go on with another setting, since its manifest knows nothing of it."""

    class Signed(MeanDifference):
        def __init__(self, sign: int = 1, other: int = 2) -> None:
            self.weight, self.other = sign, other

    with pytest.raises(ContractError, match=r"sentence 1.*nothing under the name of sign,.*self\.sign.*settings\(\)"):
        check_filter(Signed)

    class Told(Signed):
        def settings(self):
            return {"sign": self.weight, "table": np.arange(3)}

    check_filter(Told)


class Numbers(MeanDifference):
    """Gold has the number 0 always."""

    def score(self, view):
        return -view.columns.astype(np.float64)


class Golds(MeanDifference):
    def score(self, view):
        return np.array([[t == c.gold for t in row] for c, row in zip(view.contexts, view.texts, strict=True)], float)


class Written(MeanDifference):
    """What many write: the overlap with the context as text, of which gold is a part."""

    def score(self, view):
        words = [set(re.findall(r"\w+", str(context))) for context in view.contexts]
        overlaps = [[len(own & set(t.split())) for t in row] for own, row in zip(words, view.texts, strict=True)]
        return np.array(overlaps, np.float64)


@pytest.mark.parametrize("reader", [Numbers, Golds, Written])
def test_check_filter_refuses_what_reads_the_answer(reader):
    with pytest.raises(ContractError, match=r"sentence 3.*it reads the answer, as `view\.contexts\[i\]\.gold`"):
        check_filter(reader)


@pytest.mark.parametrize("scale", [1e-4, 1e-9, 1e-30])
def test_features_of_any_scale_are_standardised(scale):
    """Sequence probabilities are as small: the MLP read none of them, and what it found was chance."""
    rng = np.random.default_rng(0)
    contexts = [Context(f"He opens {i}.", "He", f"takes {i}.") for i in range(60)]
    negatives = [[f"eats {i} {j}." for j in range(3)] for i in range(60)]
    plain = [np.concatenate([[[1.0]], rng.normal(0, 0.2, (3, 1))]) for _ in contexts]
    features = [np.concatenate([one * scale, np.full_like(one, scale)], axis=1) for one in plain]  # and a constant
    pool = CandidatePool.from_texts(contexts, negatives, features=features, tagger="none")
    filter = make_filter("mlp", max_epochs=5, device="cpu")
    view = pool.view(np.arange(60), np.tile(np.arange(4), (60, 1)))
    filter.fit(view.take(np.arange(40)), rng=np.random.default_rng(0))
    scores = filter.score(view.take(np.arange(40, 60)))
    assert (scores.argmax(axis=1) == 0).mean() > 0.9


def test_check_filter_accepts_a_plain_class_and_an_object():
    check_filter(MeanDifference)
    check_filter(MeanDifference())
    assert isinstance(MeanDifference(), Filter)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (DrawsAtConstruction, 1),
        (RemembersEarlierFits, 2),
        (WritesWhileFitting, 2),
        (LeaksThePosition, 3),
        (WritesWhileScoring, 3),
        (DecidesByAHead, 3),
        (NormalisesOverTheCall, 3),
        (MeasuresByTheLongest, 3),
        (SaysNothingFinite, 3),
        (IgnoresTheGenerator, 4),
    ],
)
def test_check_filter_names_the_broken_sentence(broken, sentence):
    with pytest.raises(ContractError, match=f"{broken.__name__} breaks sentence {sentence}"):
        check_filter(broken)


# --------------------------------------------------------------------------------------- what is learned


def pool_of(rng, ending, *, n=N_TRAIN + N_TEST, feature_shift=0.0):
    """A pool of random words whose endings are `ending(gold: bool)`, made distinct by a number."""
    contexts, negatives, features = [], [], []
    for i in range(n):
        contexts.append(Context("someone waits .", words(rng, 2), f"{ending(True)} {i}0 ."))
        negatives.append([f"{ending(False)} {i}{j} ." for j in range(1, N_COLUMNS)])
        values = rng.normal(size=(N_COLUMNS, 8)) * 10 ** np.arange(8)
        values[0, 2] += feature_shift * 100
        features.append(values)
    return CandidatePool.from_texts(contexts, negatives, features=features, tagger="rules")


def words(rng, n, suffix="", n_kinds=40):
    return " ".join(f"{chr(97 + k % 20)}{'aeiou'[k // 20 % 5]}b{suffix}" for k in rng.integers(0, n_kinds, n))


def random_ending(rng):
    return lambda gold: words(rng, int(rng.integers(2, 7)))


def halves(pool):
    columns = np.tile(np.arange(N_COLUMNS), (len(pool), 1))
    whole = pool.view(np.arange(len(pool)), columns)
    return whole.take(np.arange(N_TRAIN)), whole.take(np.arange(N_TRAIN, len(pool)))


def held_out_accuracy(pool, name, **settings):
    train, test = halves(pool)
    filter = make_filter(name, **settings)
    filter.fit(train, rng=np.random.default_rng(1))
    return (filter.score(test).argmax(1) == 0).mean()


class Scoring:
    """A filter whose scores are what it is told."""

    name = "told"

    def __init__(self, scores):
        self.scores = scores

    def fit(self, view, *, rng):
        pass

    def score(self, view):
        return self.scores(view)


NO_SCORES = {
    "not finite": (lambda view: np.where(view.columns == 2, np.nan, 1.0), "not all scores are finite"),
    "one axis": (lambda view: np.zeros(len(view)), "where numbers"),
    "too wide": (lambda view: np.zeros((len(view), 99)), "where numbers"),
    "a list": (lambda view: view.columns.tolist(), "where numbers"),
}


@pytest.mark.parametrize(("scores", "said"), NO_SCORES.values(), ids=NO_SCORES.keys())
def test_scores_that_are_none_end_a_run_and_an_audit(scores, said, plain_pool):
    """NaN is above nothing: counted as an answer it made accuracies of 0 % that were told as findings."""
    with pytest.raises(ContractError, match=f"filter told: .*{said}"):
        filter_pool(plain_pool, Scoring(scores), AFOptions(iterations=1, n_negatives=2))
    with pytest.raises(ContractError, match=said):
        audit_pool(plain_pool, np.tile(np.arange(3), (len(plain_pool), 1)), [Scoring(scores)], n_folds=2, seed=0)


def test_what_is_no_filter_is_told():
    for made in (None, 3, object()):
        with pytest.raises(ContractError, match="no method fit"):
            check_is_filter(made, "mine")


def test_the_mlp_learns_a_shifted_feature_among_others_of_larger_scale():
    rng = np.random.default_rng(0)
    assert held_out_accuracy(pool_of(rng, random_ending(rng), feature_shift=2.0), "mlp") > 0.6


def test_the_bag_of_words_learns_a_gold_word():
    rng = np.random.default_rng(0)
    pool = pool_of(rng, lambda gold: f"{'smiles' if gold else 'frowns'} {words(rng, 3)}")
    assert held_out_accuracy(pool, "bow") > 0.9


def test_the_cnn_learns_the_order_of_two_words():
    rng = np.random.default_rng(0)
    pool = pool_of(rng, lambda gold: f"{words(rng, 1)} {'up down' if gold else 'down up'} {words(rng, 1)}")
    assert held_out_accuracy(pool, "cnn") > 0.9
    assert abs(held_out_accuracy(pool, "bow") - CHANCE) < FOUR_SIGMA


def test_the_pos_lstm_learns_an_order_of_tags_from_words_it_never_met():
    rng = np.random.default_rng(0)

    def ending(gold):
        adjectives, adverbs = words(rng, 2, "ous", 100), words(rng, 2, "ly", 100)
        return f"{adjectives} {adverbs}" if gold else f"{adverbs} {adjectives}"

    assert held_out_accuracy(pool_of(rng, ending), "poslstm", max_epochs=4) > 0.9


def test_no_filter_finds_a_signal_where_there_is_none():
    rng = np.random.default_rng(0)
    pool = pool_of(rng, random_ending(rng))  # one law for gold and negatives
    for name, settings in SETTINGS.items():
        assert abs(held_out_accuracy(pool, name, **settings) - CHANCE) < FOUR_SIGMA, name


def test_the_ensemble_tells_the_scores_of_every_head_and_decides_by_its_own():
    rng = np.random.default_rng(0)
    train, test = halves(pool_of(rng, random_ending(rng)))
    filter = make_filter("ensemble", **SETTINGS["ensemble"])
    filter.fit(train, rng=rng)
    heads = filter.member_scores(test)
    assert list(heads) == ["mlp", "bow", "cnn", "poslstm", "ensemble"]
    assert all(scores.shape == test.shape for scores in heads.values())
    assert np.array_equal(heads["ensemble"], filter.score(test))


# --------------------------------------------------------------------------------------------- the fit


@pytest.fixture(scope="module")
def plain_pool():
    rng = np.random.default_rng(3)
    return pool_of(rng, random_ending(rng), feature_shift=0.5)


def test_the_best_weights_are_kept_not_the_last(plain_pool):
    train, _ = halves(plain_pool)
    filter = make_filter("mlp", learning_rate=0.02)  # so fast that it overfits
    filter.fit(train, rng=np.random.default_rng(5))
    stop = np.random.default_rng(5).permutation(len(train))[: stopping_size(len(train), 0.1)]
    scores = torch.from_numpy(filter.score(train.take(stop)))
    kept = float(F.cross_entropy(scores, torch.zeros(len(stop), dtype=torch.long)))
    assert filter.held_out_losses[-1] > min(filter.held_out_losses)
    assert kept == pytest.approx(min(filter.held_out_losses), abs=1e-5)


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_the_same_rng_gives_the_same_bits_and_torch_is_left_as_it_was(plain_pool, name):
    train, test = halves(plain_pool)
    train, test = train.take(np.arange(40)), test.take(np.arange(40))
    scores = []
    for noise in range(2):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        filter = make_filter(name, **SETTINGS[name])
        filter.fit(train, rng=np.random.default_rng(7))
        scores.append(filter.score(test))
        assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(scores[0], scores[1])


ONCE = {"max_epochs": 1, "device": "cpu"}
"""One pass over so broad a pool has steps enough to differ in a bit."""
WIDE = ONCE | {"width": 512, "mlp_width": 512}
BROAD = dict.fromkeys(("mlp", "bow", "cnn", "poslstm"), ONCE) | {"ensemble": WIDE, "chars": {}, "ngrams": {}}
ROUNDED = {"precision": "bfloat16"}


@pytest.mark.parametrize(
    ("name", "more"), [*((name, {}) for name in sorted(BROAD)), ("cnn", ROUNDED), ("ensemble", ROUNDED)]
)
def test_two_threads_give_the_bits_of_those_that_decide(name, more, broad_pool, monkeypatch):
    """Of one, where this processor's products have the same bits by two; whoever else uses the cores."""
    rows, columns = np.arange(300), np.tile(np.arange(10), (300, 1))
    with threads_module.threads(2):
        deciding = deciding_threads([make_filter(name, **BROAD[name] | more)])
    scores = []
    for n, free in ((deciding, 8.0), (2, 8.0), (2, 0.0)):
        monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda free=free: free)
        one = make_filter(name, **BROAD[name] | more)
        with threads_module.threads(n):
            one.fit(broad_pool.view(rows[:260], columns[:260]), rng=np.random.default_rng(3))
            scores.append(one.score(broad_pool.view(rows, columns)).tobytes())
    assert scores[0] == scores[1] == scores[2]


def test_a_run_has_the_same_bytes_whoever_else_uses_the_cores(broad_pool, monkeypatch):
    """Others come and go: a fit on two threads is followed by one on one, as the load says."""
    runs, used = [], []
    forward = PosLSTM.forward
    monkeypatch.setattr(PosLSTM, "forward", lambda *given: used.append(torch.get_num_threads()) or forward(*given))
    schedule = [(make_filter("poslstm", max_epochs=1), 2)]
    for free in ([2.0], [2.0, 1.1, 0.2, 1.6]):
        load = itertools.cycle(free)
        monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda load=load: next(load))
        with threads_module.threads(2):
            runs.append(filter_pool(broad_pool, schedule, AFOptions(seed=1)))
            may_be_fewer = threads_module.alike() == 2
        assert set(used) == ({1, 2} if len(free) > 1 and may_be_fewer else {2})
        used.clear()
    assert runs[0].log == runs[1].log
    np.testing.assert_array_equal(runs[0].assignment(), runs[1].assignment())


def test_a_filter_whose_bits_would_change_keeps_its_threads(broad_pool, monkeypatch):
    monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda: 0.0)
    monkeypatch.setattr(threads_module, "_is_alike", lambda product: True)
    used = []
    forward = PerplexityMLP.forward
    monkeypatch.setattr(
        PerplexityMLP, "forward", lambda *given: used.append(torch.get_num_threads()) or forward(*given)
    )
    view = broad_pool.view(np.arange(20), np.tile(np.arange(10), (20, 1)))
    for width, n, kept in ((64, 2, 1), (100, 2, 2), (64, 3, 3)):
        with threads_module.threads(n):
            make_filter("mlp", width=width, max_epochs=1, device="cpu").fit(view, rng=np.random.default_rng(0))
        assert set(used) == {kept}
        used.clear()


def test_small_train_sides_get_small_batches_and_a_stopping_slice():
    assert [batch_size(n, 128) for n in (3, 400, 4_000, 80_000)] == [16, 16, 31, 128]
    assert [stopping_size(n, 0.1) for n in (2, 10, 50, 400)] == [1, 5, 8, 40]


class Rows:
    """A view of which only the videos are known."""

    def __init__(self, videos):
        self.groups = named_groups(videos)

    def __len__(self):
        return len(self.groups)


VIDEOS = st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), min_size=2, max_size=40)


@given(VIDEOS, st.floats(0.01, 0.9), st.integers(0, 99))
def test_no_video_is_both_trained_on_and_stopped_by(videos, share, seed):
    train, stop = stopping_split(Rows(videos), share, rng=np.random.default_rng(seed))
    assert sorted([*train, *stop]) == list(range(len(videos)))
    assert 0 < len(stop) <= len(train)
    on_both_sides = {videos[i] for i in train} & {videos[i] for i in stop} - {""}
    assert not on_both_sides or set(videos) == on_both_sides  # all of one video: parted by row


@given(st.integers(2, 300), st.integers(0, 99))
def test_rows_without_videos_are_split_as_one_by_one(n, seed):
    train, stop = stopping_split(Rows([""] * n), 0.1, rng=np.random.default_rng(seed))
    order = np.random.default_rng(seed).permutation(n)
    assert [*stop, *train] == order.tolist()
    assert len(stop) == stopping_size(n, 0.1)


@given(st.integers(40, 200), st.integers(0, 99))
def test_a_stopping_slice_of_videos_is_as_large_as_one_of_rows_give_or_take_a_video(n, seed):
    videos = np.random.default_rng(seed).integers(0, n // 4, n).astype(str)
    _, stop = stopping_split(Rows(videos), 0.1, rng=np.random.default_rng(seed))
    largest = max(np.unique(videos, return_counts=True)[1])
    assert stopping_size(n, 0.1) <= len(stop) < stopping_size(n, 0.1) + largest


def test_a_fit_stops_on_videos_that_it_does_not_train_on(plain_pool, monkeypatch):
    plain_pool = pool_of_videos(plain_pool)
    seen = []
    monkeypatch.setattr(NeuralFilter, "_train", lambda self, *given, is_warm: seen.append(given[3]))
    train, _ = halves(plain_pool)
    make_filter("mlp").fit(train, rng=np.random.default_rng(0))
    ((trained, stopped),) = seen
    videos = np.array([context.video for context in train.contexts])
    assert not set(videos[trained]) & set(videos[stopped])


def pool_of_videos(pool):
    """The same rows, three to a video."""
    columns = np.tile(np.arange(N_COLUMNS), (len(pool), 1))
    view = pool.view(np.arange(len(pool)), columns)
    contexts = [replace(context, video=f"v{i // 3}") for i, context in enumerate(view.contexts)]
    return CandidatePool.from_texts(contexts, [texts[1:] for texts in view.texts], features=list(view.features))


def test_a_gpu_is_asked_for_bf16_products_and_a_cpu_for_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "autocast", lambda kind, dtype, enabled: asked.append((kind, dtype, enabled)))
    for precision in ("auto", "float32", "bfloat16"):
        mixed_precision(torch.device("cuda", 1), precision)
        mixed_precision(torch.device("cpu"), precision)
    assert [enabled for *_, enabled in asked] == [True, False, False, False, True, True]
    assert {(kind, dtype) for kind, dtype, _ in asked} == {("cuda", torch.bfloat16), ("cpu", torch.bfloat16)}


def test_every_step_of_a_fit_is_taken_in_mixed_precision_and_no_score(plain_pool, monkeypatch):
    inside = []
    own = torch.autocast("cpu", torch.bfloat16)
    monkeypatch.setattr("swag_af.filters.neural.mixed_precision", lambda device, precision="auto": own)
    forward = PerplexityMLP.forward

    def watched(self, batch):
        inside.append((self.training, torch.is_autocast_enabled("cpu")))
        return forward(self, batch)

    monkeypatch.setattr(PerplexityMLP, "forward", watched)
    train, test = halves(plain_pool)
    filter = make_filter("mlp", **SMALL)
    filter.fit(train, rng=np.random.default_rng(0))
    assert filter.score(test).dtype == np.float32
    assert set(inside) == {(True, True), (False, False)}
    assert all(weight.dtype == torch.float32 for weight in filter._network.state_dict().values())


def test_on_a_cpu_all_is_fp32(plain_pool, monkeypatch):
    kinds = set()
    logits = PerplexityMLP.logits

    def watched(self, batch):
        found = logits(self, batch)
        kinds.update(values.dtype for values in found.values())
        return found

    monkeypatch.setattr(PerplexityMLP, "logits", watched)
    make_filter("mlp", **SMALL).fit(halves(plain_pool)[0], rng=np.random.default_rng(0))
    assert kinds == {torch.float32}


def test_two_threads_are_tried_in_the_products_that_a_fit_has(monkeypatch):
    monkeypatch.setattr(threads_module, "_is_alike", lambda product: product is not products.multiply_in_bf16)
    with threads_module.threads(2):
        for name in ("cnn", "mlp", "ensemble"):
            assert make_filter(name).threads_alike == 2
            assert make_filter(name, precision="bfloat16").threads_alike == 1


@pytest.mark.parametrize("name", ["cnn", "poslstm", "ensemble"])
def test_a_fit_in_bf16_learns_as_one_in_fp32_does_and_is_the_same_twice(name, has_bf16, plain_pool):
    train, test = halves(plain_pool)
    scores = []
    for precision in ("float32", "bfloat16", "bfloat16"):
        filter = make_filter(name, **SETTINGS[name] | {"precision": precision})
        filter.fit(train, rng=np.random.default_rng(0))
        scores.append(filter.score(test))
        assert all(weight.dtype == torch.float32 for weight in filter._network.parameters())
    exact, rounded, again = scores
    assert np.array_equal(rounded, again)
    assert not np.array_equal(exact, rounded)
    assert np.corrcoef(exact.ravel(), rounded.ravel())[0, 1] > 0.98


def test_an_unknown_precision_is_refused():
    with pytest.raises(InputError, match="filter cnn: precision float16 is none of auto, float32, bfloat16"):
        CNNFilter(precision="float16").check()


def test_gradients_in_mixed_precision_are_those_of_fp32_but_for_rounding(plain_pool, has_bf16):
    train, _ = halves(plain_pool)
    filter = make_filter("ensemble", **SETTINGS["ensemble"])
    sequences = filter._read(train)
    torch.manual_seed(0)
    network = filter.make_network(train, sequences).eval()
    batch = sequences.take(torch.arange(16 * N_COLUMNS), torch.device("cpu"))
    found = []
    for enabled in (False, True):
        network.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            logits = network.logits(batch)
        assert isinstance(network, Ensemble)
        loss = sum(cross_entropy(values[batch.back].reshape(16, N_COLUMNS)) for values in logits.values())
        assert loss.dtype == torch.float32
        loss.backward()
        found.append(torch.cat([p.grad.flatten() for p in network.parameters()]))
        assert found[-1].dtype == torch.float32
    exact, mixed = found
    assert not torch.equal(exact, mixed)
    assert float(F.cosine_similarity(exact, mixed, dim=0)) > 0.99


def test_a_view_of_two_rows_can_be_fitted(plain_pool):
    filter = make_filter("mlp", max_epochs=1)
    view = halves(plain_pool)[0].take(np.arange(2))
    filter.fit(view, rng=np.random.default_rng(0))
    assert filter.score(view).shape == (2, N_COLUMNS)


def test_what_cannot_be_fitted_is_refused(plain_pool):
    train, test = halves(plain_pool)
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="filter mlp needs 2 rows of 2 candidates"):
        make_filter("mlp").fit(train.take(np.arange(1)), rng=rng)
    with pytest.raises(InputError, match="max_epochs"):
        make_filter("mlp", max_epochs=0).fit(train, rng=rng)
    with pytest.raises(InputError, match="not been fitted"):
        make_filter("mlp").score(test)
    without = CandidatePool.from_texts([Context("a b", "c", "d e f .")] * 2, [["g h ."]] * 2, tagger="rules")
    with pytest.raises(InputError, match="no table features"):
        make_filter("ensemble").fit(without.view(np.arange(2), np.array([[0, 1]] * 2)), rng=rng)


def test_nan_features_are_refused_when_fitting_and_when_scoring(plain_pool):
    train, test = (view.take(np.arange(20)) for view in halves(plain_pool))
    filter = make_filter("mlp", max_epochs=1)
    filter.fit(train, rng=np.random.default_rng(0))
    for view in (train, test):
        view.features[3, 1, 0] = np.nan
    with pytest.raises(InputError, match="row 3"):
        filter.score(test)
    with pytest.raises(InputError, match="row 3"):
        make_filter("mlp").fit(train, rng=np.random.default_rng(0))


def test_the_pos_lstm_says_that_it_needs_tags(plain_pool):
    untagged = CandidatePool(plain_pool.manifest, replace(plain_pool.vocabulary, tags=None), plain_pool._shards, None)
    with pytest.raises(InputError, match="part-of-speech"):
        make_filter("poslstm").fit(halves(untagged)[0], rng=np.random.default_rng(0))


# ------------------------------------------------------------------------------------- padding, slow twins


def text_networks(vocabulary):
    symbols = torch.arange(len(vocabulary)) % 30
    return BagOfWords(len(vocabulary)), CNN(len(vocabulary)), PosLSTM(symbols, 30)


def test_padding_does_not_change_a_score(plain_pool):
    sequences = sequences_of(halves(plain_pool)[0], words=True, features=False)
    batch = sequences.take(torch.arange(50), torch.device("cpu"))
    padded = replace(batch, words=F.pad(batch.words, (0, 7)))
    for network in text_networks(plain_pool.vocabulary):
        network.eval()
        for one, other in zip(network(batch), network(padded), strict=True):
            torch.testing.assert_close(one, other)


def test_a_sequence_is_its_start_and_then_its_ending(plain_pool):
    view = halves(plain_pool)[0]
    sequences = sequences_of(view, words=True, features=False)
    for row, column in ((0, 0), (5, 3), (159, 1)):
        ids = sequences.words[row * N_COLUMNS + column].tolist()
        context = view.contexts[row]
        expected = view.vocabulary.ids(f"{context.start} {view.texts[row][column]}".split())
        assert ids == expected + [0] * (len(ids) - len(expected))
        assert sequences.lengths[row * N_COLUMNS + column] == len(expected)


def test_sequences_read_in_parts_and_kept_in_files_are_the_same(plain_pool, monkeypatch):
    view = halves(plain_pool)[0]
    whole = sequences_of(view, words=True, features=True)
    monkeypatch.setattr(sequences_module, "READ_AT_ONCE", 7 * N_COLUMNS)
    monkeypatch.setattr(sequences_module, "MOST_IN_MEMORY", 0)
    parts = sequences_of(view, words=True, features=True)
    assert isinstance(sequences_module.room((3, 2), np.int32), np.memmap)
    for name in ("words", "lengths", "start_lengths", "features"):
        assert torch.equal(getattr(parts, name), getattr(whole, name))
        assert getattr(parts, name).dtype == getattr(whole, name).dtype


def falling_lengths(rng, b, longest):
    return torch.from_numpy(np.sort(rng.integers(1, longest + 1, b))[::-1].copy())


@pytest.fixture(params=[False, True], ids=["", "as-on-a-gpu"])
def launched(request, monkeypatch):
    monkeypatch.setattr(products, "is_launched", lambda x: request.param)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("masked", [False, True])
def test_the_lstm_and_its_gradient_equal_the_slow_twin(masked, n_threads, launched):
    rng, b, hidden, n_inputs = np.random.default_rng(0), 6, 5, 11
    lengths = falling_lengths(rng, b, 7)
    alive = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
    inputs = torch.from_numpy(rng.integers(0, n_inputs, (2, sum(alive))))
    table = torch.from_numpy(rng.normal(size=(2, n_inputs, 4 * hidden))).requires_grad_()
    weight = torch.from_numpy(rng.normal(size=(2, hidden, 4 * hidden))).requires_grad_()
    mask = torch.from_numpy(rng.integers(0, 2, (2, b, hidden)) / 0.5) if masked else None
    outer = torch.from_numpy(rng.normal(size=(2, b, hidden)))

    with threads_module.threads(n_threads):
        fast = lstm_max_pool(table, weight, inputs, alive, mask)
        fast_grads = torch.autograd.grad((fast * outer).sum(), (table, weight))
    slow = slow_lstm_max_pool(table, weight, inputs, alive, mask)
    slow_grads = torch.autograd.grad((slow * outer).sum(), (table, weight))
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(fast_grads, slow_grads)
    with torch.inference_mode(), threads_module.threads(n_threads):
        torch.testing.assert_close(lstm_max_pool(table, weight, inputs, alive, mask), slow)


def test_in_bf16_the_lstm_multiplies_what_is_rounded_and_adds_up_in_fp32(has_bf16):
    """Without instructions for it, all of it stays in fp32."""
    rng, b, hidden, n_inputs = np.random.default_rng(0), 40, 64, 11
    lengths = falling_lengths(rng, b, 9)
    alive = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
    inputs = torch.from_numpy(rng.integers(0, n_inputs, (2, sum(alive))))
    table = torch.from_numpy(rng.normal(size=(2, n_inputs, 4 * hidden)).astype(np.float32)).requires_grad_()
    weight = torch.from_numpy(rng.normal(size=(2, hidden, 4 * hidden)).astype(np.float32) / 8).requires_grad_()
    outer = torch.from_numpy(rng.normal(size=(2, b, hidden)).astype(np.float32))
    made = []
    for enabled in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            pooled = lstm_max_pool(table, weight, inputs, alive, None)
        made.append([pooled.detach(), *torch.autograd.grad((pooled * outer).sum(), (table, weight))])
    for exact, rounded in zip(*made, strict=True):
        assert rounded.dtype == torch.float32
        assert torch.equal(exact, rounded) is not has_bf16
        assert float(F.cosine_similarity(exact.flatten(), rounded.flatten(), dim=0)) > 0.999


@pytest.mark.parametrize("b", [163, 166])
def test_one_thread_and_two_read_the_same_bits_whatever_the_number_of_sequences(b):
    """Where two directions lie in one tensor, a step's numbers do not end where a register of the processor ends."""
    rng, hidden = np.random.default_rng(0), 200
    lengths = falling_lengths(rng, b, 9)
    alive = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
    inputs = torch.from_numpy(rng.integers(0, 30, (2, sum(alive))))
    table = torch.from_numpy(rng.normal(size=(2, 30, 4 * hidden)).astype(np.float32))
    weight = torch.from_numpy(rng.normal(size=(2, hidden, 4 * hidden)).astype(np.float32) / 15)
    made = []
    for n in (1, 2):
        with threads_module.threads(n), torch.inference_mode():
            made.append(lstm_max_pool(table, weight, inputs, alive, None))
    assert torch.equal(*made)


@pytest.mark.parametrize("longest", [3, 8])
def test_the_word_filters_and_their_gradient_equal_a_convolution(longest, launched):
    rng, b, n_filters, n_inputs, widths = np.random.default_rng(0), 9, 3, 12, (2, 3, 4, 5)
    lengths = falling_lengths(rng, b, longest)
    ids = torch.from_numpy(rng.integers(1, n_inputs, (b, int(lengths[0]))))
    ids[torch.arange(ids.shape[1]) >= lengths[:, None]] = 0
    inputs = torch.from_numpy(rng.normal(size=(n_inputs, 4)))
    inputs[0] = 0
    filters = torch.from_numpy(rng.normal(size=(4, sum(widths) * n_filters)))
    inputs.requires_grad_(), filters.requires_grad_()
    outer = torch.from_numpy(rng.normal(size=(b, len(widths) * n_filters)))

    table = (inputs @ filters).view(n_inputs, -1, n_filters)
    fast = window_max_pool(table, ids, lengths, widths)
    fast_grads = torch.autograd.grad((fast * outer).sum(), (inputs, filters))
    slow = slow_window_max_pool(inputs, filters.view(4, -1, n_filters), ids, lengths, widths)
    slow_grads = torch.autograd.grad((slow * outer).sum(), (inputs, filters))
    torch.testing.assert_close(fast, slow)
    torch.testing.assert_close(fast_grads[0][1:], slow_grads[0][1:])  # row 0 is no input
    torch.testing.assert_close(fast_grads[1], slow_grads[1])


# ---------------------------------------------------------------------------------------------- names


def test_an_unknown_name_is_answered_with_near_matches_and_the_list():
    with pytest.raises(InputError, match=r"no filter 'ensembel'\. Did you mean ensemble\?.*mlp, bow, cnn, poslstm"):
        make_filter("ensembel")


def test_a_filter_can_be_named_by_its_module_and_class():
    assert make_filter("swag_af.filters.members:MLPFilter", width=8).width == 8
    with pytest.raises(InputError, match="cannot be loaded"):
        make_filter("swag_af.filters.members:Nothing")


def test_a_setting_that_a_filter_does_not_take_is_refused():
    with pytest.raises(InputError, match="depth"):
        make_filter("mlp", depth=3)


def test_every_registered_filter_bears_its_name():
    assert [make_filter(name).name for name in filter_names()] == filter_names()


def test_importing_the_package_loads_no_torch_and_exposes_what_it_lists():
    assert "torch" not in loaded_by("swag_af.filters", "swag_af.filters.make_filter; swag_af.filters.check_filter")
    assert set(swag_af.filters.__all__) == set(swag_af.filters._MODULE_OF)
    assert all(getattr(swag_af.filters, name) for name in swag_af.filters.__all__)


def test_blanks_behind_commas_in_brackets_part_settings_as_commas_alone_do():
    """What stood behind one was a part of the text setting before it, and its own setting was the default."""
    named = "judge[http://localhost:8000, key_variable=MY_KEY, max_requests=5 , see=options]"
    argument, settings = "http://localhost:8000", {"key_variable": "MY_KEY", "max_requests": 5, "see": "options"}
    assert REGISTRY.in_brackets(named) == {"url": argument, **settings}
    assert REGISTRY.in_brackets(named.replace(" ", "")) == REGISTRY.in_brackets(named)


def test_a_setting_in_brackets_and_by_its_name_is_refused():
    """Which of them counted was nobody's guess."""
    with pytest.raises(InputError, match=r"filter bow\[max_epochs=1\]: max_epochs is given twice"):
        make_filter("bow[max_epochs=1]", max_epochs=2)
    with pytest.raises(InputError, match=r"filter dualbow\[f1\.txt\]: vectors is given twice"):
        make_filter("dualbow[f1.txt]", vectors="f2.txt")
