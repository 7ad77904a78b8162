"""Filters of two texts: what they read, that fast equals slow, what each can and cannot learn, classes, by name."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.pairs import slow_logits, slow_pairs, slow_words

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.filters import check_filter, make_filter
from swag_af.filters.neural import stopping_split
from swag_af.filters.pairs import fitting
from swag_af.filters.pairs.batch import PairBatch, WordTable
from swag_af.filters.pairs.networks import DualBow, InferSentBilinear, InferSentMLP, LSTMSequence
from swag_af.filters.pairs.texts import Texts, pairs_of_texts, pairs_of_view, texts_of
from swag_af.nn import threads as threads_module
from swag_af.nn.threads import threads

SMALL = {"max_epochs": 2, "device": "cpu", "word_size": 16}
SETTINGS = {"dualbow": SMALL} | dict.fromkeys(("infersent-mlp", "infersent-bilinear", "lstm"), SMALL | {"hidden": 16})
NAMES = sorted(SETTINGS)
N_COLUMNS = 4
CHANCE = 1 / N_COLUMNS
WORDS = ("a", "Dog", "runs", "isn't", "in", "park.", "no", "2", "lower,", "Ann's")
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def make_small(name, **more):
    return make_filter(name, **SETTINGS[name] | more)


def whole(pool):
    return pool.view(np.arange(len(pool)), np.tile(np.arange(pool.n_candidates), (len(pool), 1)))


def spelled(texts, number):
    return [texts.words[i] for i in texts.numbers[texts.offsets[number] : texts.offsets[number + 1]]]


# ------------------------------------------------------------------------------------------- what is read


@st.composite
def some_views(draw):
    """Views of a few rows, some without first sentence or start, and of few words, so that texts recur."""
    rows = draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
    contexts = [Context(sent1, start, f"gold {draw(TEXT)} {i % 2}") for i, (sent1, start) in enumerate(rows)]
    negatives = [[f"{draw(TEXT)} x", f"{draw(TEXT)} y"] for _ in rows]
    view = whole(CandidatePool.from_texts(contexts, negatives, tagger="none"))
    return view.take(np.array(draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=6))))


@given(some_views(), st.booleans(), st.booleans())
@settings(max_examples=60)
def test_a_view_is_read_as_one_would_read_it_pair_by_pair(view, see_context, as_one):
    made = pairs_of_view(view, see_context=see_context, as_one=as_one)
    expected = slow_pairs(view, see_context=see_context, as_one=as_one)
    read = [(spelled(made.texts, a), spelled(made.texts, b)) for a, b in zip(made.first, made.second, strict=True)]
    assert read == expected
    assert len(made.texts) == len({tuple(side) for pair in expected for side in pair})
    assert made.has_firsts == any(first != [""] for first, _ in expected)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8), st.booleans())
def test_strings_are_read_as_their_tokens_and_each_text_once(pairs, as_one):
    made = pairs_of_texts([a for a, _ in pairs], [b for _, b in pairs], as_one=as_one)
    expected = []
    for a, b in pairs:
        sides = (slow_words(a) + slow_words(b),) * 2 if as_one else (slow_words(a), slow_words(b))
        expected.append(tuple(side or [""] for side in sides))
    assert [(spelled(made.texts, a), spelled(made.texts, b)) for a, b in zip(made.first, made.second, strict=True)] == (
        expected
    )
    assert len(made.texts) == len({tuple(side) for pair in expected for side in pair})


def test_a_full_stop_within_a_text_is_a_word_and_that_of_a_title_is_not():
    made = texts_of(["Mr. Hill sits down. Dr. Who? He"])
    assert spelled(made, 0) == ["mr.", "hill", "sits", "down", ".", "dr.", "who", "?", "he"]


@given(st.lists(TEXT, min_size=1, max_size=8), st.data())
def test_a_batch_has_the_longest_first_and_says_where_each_text_went(strings, data):
    texts = texts_of(strings)
    index = np.array(data.draw(st.lists(st.integers(0, len(strings) - 1), min_size=1, max_size=8)))
    batch, place = texts.batch(index, torch.device("cpu"))
    for i, at in zip(index, place, strict=True):
        n = int(batch.lengths[at])
        assert batch.words[at, :n].tolist() == texts.numbers[texts.offsets[i] : texts.offsets[i + 1]].tolist()
        assert not batch.words[at, n:].any()
    assert batch.lengths.tolist() == sorted(batch.lengths.tolist(), reverse=True)
    assert batch.alive == [int((batch.lengths > t).sum()) for t in range(batch.words.shape[1])]


# --------------------------------------------------------------------------------- fast against slow twins

NETWORKS = {
    "dualbow": lambda words, n: DualBow(words, n, 0.3),
    "infersent-mlp": lambda words, n: InferSentMLP(words, n, 16, 8, 0.3),
    "infersent-bilinear": lambda words, n: InferSentBilinear(words, n, 16, 0.3),
    "lstm": lambda words, n: LSTMSequence(words, n, 16, 0.3),
}


@pytest.mark.parametrize(("name", "n_outputs"), product(NAMES, (1, 3)))
def test_a_network_and_its_gradients_are_those_of_the_slow_twin(name, n_outputs):
    torch.manual_seed(0)
    rng = np.random.default_rng(n_outputs)
    start = torch.randn(12, 10)
    start[0] = 0
    network = NETWORKS[name](WordTable(start), n_outputs).eval()
    lists = [rng.integers(1, 12, n).tolist() for n in (1, 4, 2, 7, 4)]
    texts = Texts(np.concatenate(lists), np.cumsum([0, *map(len, lists)]), ())
    first, second = rng.integers(5, size=9), rng.integers(5, size=9)
    batch, place = texts.batch(np.arange(5), torch.device("cpu"))
    fast = network(PairBatch(batch, torch.from_numpy(place[first]), torch.from_numpy(place[second])))
    slow = torch.stack([slow_logits(network, lists[a], lists[b]) for a, b in zip(first, second, strict=True)])
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-5)
    weights = torch.randn(9, n_outputs)
    names, parameters = zip(*network.named_parameters(), strict=True)
    gradients = [torch.autograd.grad((logits * weights).sum(), parameters) for logits in (fast, slow)]
    for parameter, one, other in zip(names, *gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5, msg=lambda said, name=parameter: f"{name}: {said}")


@pytest.fixture(scope="module")
def matched():
    """400 rows whose gold speaks of what the first sentence does; each ending is gold as often as not."""
    rng = np.random.default_rng(0)
    topics = [("rain", "wet"), ("sun", "warm"), ("snow", "cold"), ("wind", "blown"), ("night", "dark")]
    contexts, negatives = [], []
    for i in range(400):
        order = rng.permutation(len(topics))[:N_COLUMNS]
        filler = [f"w{k}" for k in rng.integers(30, size=6)]
        endings = [f"gets {topics[k][1]} {filler[j]} t{i}{j}." for j, k in enumerate(order)]
        contexts.append(Context(f"There is {topics[order[0]][0]} {' '.join(filler[:2])}.", "A man", endings[0]))
        negatives.append(endings[1:])
    view = whole(CandidatePool.from_texts(contexts, negatives, tagger="none"))
    return view.take(np.arange(240)), view.take(np.arange(240, 400))


def accuracy(name, views, **more):
    train, test = views
    filter = make_filter(name, **{"device": "cpu", "max_epochs": 12} | more)
    filter.fit(train, rng=np.random.default_rng(1))
    scores = filter.score(test)
    best = scores == scores.max(axis=1, keepdims=True)
    return (best[:, 0] / best.sum(axis=1)).mean()  # ties shared


@pytest.mark.parametrize("name", ["dualbow", "infersent-bilinear", "infersent-mlp"])
def test_two_texts_that_belong_together_are_found_where_neither_tells_alone(name, matched):
    more = {"learning_rate": 1e-2, "patience": 6} | ({} if name == "dualbow" else {"hidden": 32})
    assert accuracy(name, matched, **more) > 0.9
    assert abs(accuracy(name, matched, **more | {"inputs": "second", "max_epochs": 4}) - CHANCE) < 0.14  # 4 sigma


def test_the_lstm_learns_the_order_of_two_words_of_the_ending():
    rng = np.random.default_rng(0)

    def ending(order, i, j):
        return f"{rng.choice(['he', 'she'])} goes {order} w{rng.integers(9)} t{i}{j}."

    contexts = [Context("", "", ending("up down", i, 0)) for i in range(320)]
    negatives = [[ending("down up", i, j) for j in range(1, N_COLUMNS)] for i in range(320)]
    view = whole(CandidatePool.from_texts(contexts, negatives, tagger="none"))
    views = view.take(np.arange(160)), view.take(np.arange(160, 320))
    assert accuracy("lstm", views, hidden=32, learning_rate=5e-3) > 0.9


# --------------------------------------------------------------------------------------------- the engine


@pytest.mark.parametrize("name", NAMES)
def test_every_filter_of_two_texts_keeps_the_contract(name):
    check_filter(lambda: make_small(name))


@pytest.fixture(scope="module", params=NAMES)
def fitted(request, matched):
    filter = make_small(request.param)
    filter.fit(matched[0].take(np.arange(60)), rng=np.random.default_rng(2))
    return filter


def test_scores_are_those_of_each_pair_by_itself(fitted, matched):
    view = matched[1].take(np.arange(6))
    alone = np.array(
        [[fitted.score(replace_columns(view, i, j))[0, 0] for j in range(N_COLUMNS)] for i in range(len(view))]
    )
    assert np.abs(fitted.score(view) - alone).max() < 1e-5 * max(1.0, np.abs(alone).max())


def replace_columns(view, i, j):
    return view.pool.view(view.rows[i : i + 1], view.columns[i : i + 1, j : j + 1])


def test_small_parts_give_the_scores_of_one(fitted, matched, monkeypatch):
    view = matched[1]
    expected = fitted.score(view)
    for name, value in (("WORDS_AT_ONCE", 50), ("TEXTS_AT_ONCE", 7), ("PAIRS_AT_ONCE", 11)):
        monkeypatch.setattr(fitting, name, value)
    assert np.abs(fitted.score(view) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


def test_encodings_that_are_kept_give_the_scores_of_the_view(fitted, matched):
    view = matched[1].take(np.arange(5))
    firsts = [context.sent1 for context in view.contexts]
    seconds = [f"{c.start} {ending}" for c, row in zip(view.contexts, view.texts, strict=True) for ending in row]
    rows = np.repeat(np.arange(5), N_COLUMNS)
    if fitted.reads_one:
        seconds = [f"{firsts[row]} {second}" for row, second in zip(rows, seconds, strict=True)]
    encoded = fitted.encode_texts([*firsts, *seconds])
    made = fitted.compare(encoded, rows, 5 + np.arange(len(seconds)))
    assert made.shape == (len(seconds), 1)
    assert np.abs(made.reshape(view.shape) - fitted.score(view)).max() < 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_one_thread_and_two_give_the_same_bits_and_torch_is_left_as_it_was(name, matched):
    train, test = matched[0].take(np.arange(80)), matched[1]
    scores = []
    for n in (1, 2):
        torch.manual_seed(n)
        before = torch.get_rng_state()
        filter = make_small(name, hidden=128, max_epochs=1) if name != "dualbow" else make_small(name)
        with threads(n):
            filter.fit(train, rng=np.random.default_rng(7))
            scores.append(filter.score(test))
        assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(*scores)


@pytest.mark.parametrize("name", [*NAMES, "decomp", "esim"])
def test_the_bits_of_a_fit_do_not_depend_on_what_else_runs(name, monkeypatch):
    """Where another process took a core, decomp and esim went on by one thread, whose softmax has other bits."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(300)]
    firsts, seconds = ([" ".join(rng.choice(words, int(rng.integers(5, 32)))) for _ in range(60)] for _ in range(2))
    labels, scores = rng.integers(0, 3, 60), []
    for free in (1.0, 2.0):
        monkeypatch.setattr(threads_module._LOAD, "free_cores", lambda free=free: free)
        filter = make_filter(name, device="cpu", max_epochs=1)
        with threads(2):
            filter.fit_classes(firsts, seconds, labels, 3, np.arange(60), rng=np.random.default_rng(0))
            scores.append(filter.score_classes(firsts, seconds))
    assert np.array_equal(*scores)


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_in_bf16_learns_nearly_the_same(name, has_bf16, matched):
    train, test = matched
    scores = []
    for precision in ("float32", "bfloat16"):
        filter = make_small(name, precision=precision)
        filter.fit(train, rng=np.random.default_rng(7))
        scores.append(filter.score(test))
    assert not np.array_equal(*scores)
    assert np.corrcoef(*(one.ravel() for one in scores))[0, 1] > 0.98


def test_the_best_weights_are_kept(matched):
    filter = make_small("infersent-mlp", learning_rate=0.05, max_epochs=8)
    train = matched[0]
    filter.fit(train, rng=np.random.default_rng(5))
    _, stop = stopping_split(train, 0.1, rng=np.random.default_rng(5))
    scores = torch.from_numpy(filter.score(train.take(stop)))
    kept = float(torch.nn.functional.cross_entropy(scores, torch.zeros(len(stop), dtype=torch.long)))
    assert kept == pytest.approx(min(filter.held_out_losses), abs=1e-5)
    assert filter.held_out_losses[-1] > min(filter.held_out_losses)


def test_a_word_met_once_is_unknown_and_so_is_one_never_met(matched):
    filter = make_small("dualbow")
    filter.fit(matched[0], rng=np.random.default_rng(0))
    known = filter.encode_texts(["rain", "t00", "neverseen", ""]).states
    assert torch.equal(known[1], known[2])
    assert torch.equal(known[2], known[3])
    assert not torch.equal(known[0], known[1])


# ------------------------------------------------------------------------------------------------ classes


def nli(n, seed=0):
    """Yes where the second text has the animal of the first, no where another, perhaps where none."""
    rng = np.random.default_rng(seed)
    animals = np.array(["dog", "cat", "cow", "pig"])
    labels = rng.integers(3, size=n)
    firsts, seconds = [], []
    for label in labels:
        one, other = rng.choice(animals, 2, replace=False)
        firsts.append(f"A {one} sits w{rng.integers(20)}.")
        seconds.append(f"There is a {[one, other, 'thing'][label]} w{rng.integers(20)}.")
    return firsts, seconds, labels


@pytest.mark.parametrize("name", NAMES)
def test_classes_of_pairs_are_learned(name):
    firsts, seconds, labels = nli(500)
    more = {} if name == "dualbow" else {"hidden": 32}
    filter = make_filter(name, device="cpu", word_size=32, learning_rate=1e-2, max_epochs=8, patience=5, **more)
    filter.fit_classes(firsts[:400], seconds[:400], labels[:400], 3, np.arange(400), rng=np.random.default_rng(0))
    scores = filter.score_classes(firsts[400:], seconds[400:])
    assert scores.shape == (100, 3)
    assert (scores.argmax(1) == labels[400:]).mean() > 0.8  # the second text alone gives 0.67


def test_what_was_fitted_on_classes_scores_no_choices_and_the_other_way(matched):
    firsts, seconds, labels = nli(20)
    filter = make_small("dualbow")
    with pytest.raises(InputError, match="has not been fitted"):
        filter.score_classes(firsts, seconds)
    filter.fit_classes(firsts, seconds, labels, 3, np.arange(20), rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="fitted on classes, not on choices"):
        filter.score(matched[0])
    filter.fit(matched[0], rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="fitted on choices, not on classes"):
        filter.score_classes(firsts, seconds)


# ------------------------------------------------------------------------------------ by name, and faults


def test_where_nothing_stands_before_the_second_text_that_is_said():
    contexts = [Context("", "", f"runs {i}") for i in range(8)]
    view = whole(CandidatePool.from_texts(contexts, [[f"sits {i}"] for i in range(8)], tagger="none"))
    with pytest.raises(InputError, match="dualbow compares two texts"):
        make_small("dualbow").fit(view, rng=np.random.default_rng(0))
    make_small("lstm").fit(view, rng=np.random.default_rng(0))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"max_epochs": 0}, "must be 1 or more"),
        ({"dropout": 1.0}, "dropout from 0"),
        ({"tune_vectors": False}, "Name a file"),
        ({"vectors": "/nowhere.txt"}, "no such file"),
        ({"hidden": 20}, "multiple of 16"),
    ],
)
def test_faults_of_settings_are_one_line(more, said):
    with pytest.raises(InputError, match=said) as fault:
        make_small("lstm", **more).check()
    assert "\n" not in str(fault.value)


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(pool_folder, tmp_path):
    filter, options = make_small("infersent-mlp", max_epochs=1), AFOptions(iterations=3, n_negatives=3, seed=1)
    pool = CandidatePool.open(pool_folder)
    straight = filter_pool(pool, filter, options)
    with pytest.raises(KeyboardInterrupt):
        filter_pool(pool, filter, options, out=tmp_path / "run", after_iteration=_stop)
    again = filter_pool(pool, make_small("infersent-mlp", max_epochs=1), options, out=tmp_path / "run")
    assert np.array_equal(straight.assignment(), again.assignment())
    assert not np.array_equal(straight.assignment(), straight.start)


def _stop(run):
    raise KeyboardInterrupt
