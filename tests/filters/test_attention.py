"""Claims about ESIM and decomposable attention: equal to plain padded twins, and to themselves in any company."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.attention import slow_decomposable, slow_esim

from swag_af.filters.pairs.batch import PairBatch, TextBatch, WordTable
from swag_af.filters.pairs.decomposable import DecomposableAttention
from swag_af.filters.pairs.esim import ESIM

TWINS = {ESIM: slow_esim, DecomposableAttention: slow_decomposable}
BOTH = pytest.mark.parametrize("kind", TWINS, ids=lambda kind: kind.__name__)


def network_of(kind, *, n_outputs=2, dropout=0.0, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    made = kind(WordTable(torch.randn(30, 6)), n_outputs, hidden=5, dropout=dropout).to(dtype)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, dtype=dtype)  # biases, too
    return made


def texts_of(lengths, seed=0):
    lengths = torch.tensor(sorted(lengths, reverse=True))
    words = torch.randint(1, 30, (len(lengths), int(lengths[0])), generator=torch.Generator().manual_seed(seed))
    real = torch.arange(words.shape[1]) < lengths[:, None]
    return TextBatch(words * real, lengths, real.sum(0).tolist())


def pairs_of(lengths, pairs, seed=0):
    first, second = torch.tensor(pairs).T
    return PairBatch(texts_of(lengths, seed), first, second)


SHAPES = st.lists(st.integers(1, 7), min_size=2, max_size=6).flatmap(
    lambda lengths: st.tuples(
        st.just(lengths),
        st.lists(st.tuples(*2 * [st.integers(0, len(lengths) - 1)]), min_size=1, max_size=6),
        st.integers(0, 99),
    )
)


@BOTH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["kernels", "torch"])
@given(shape=SHAPES)
@settings(max_examples=25)
def test_logits_and_gradients_equal_the_padded_twin(kind, dtype, shape):
    network, batch = network_of(kind, dtype=dtype, seed=shape[2]), pairs_of(*shape)
    parameters = list(network.parameters())
    fast, slow = network(batch), TWINS[kind](network, batch)
    outer = torch.randn(fast.shape, dtype=dtype)
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        torch.autograd.grad((fast * outer).sum(), parameters),
        torch.autograd.grad((slow * outer).sum(), parameters),
        rtol=1e-3,
        atol=1e-5,
    )
    with torch.inference_mode():
        torch.testing.assert_close(network(batch), slow, rtol=1e-4, atol=1e-5)


@BOTH
def test_other_pairs_and_padding_change_no_score(kind):
    network = network_of(kind, dropout=0.5).eval()
    among = pairs_of([9, 6, 4, 3, 1], [(2, 3), (0, 1), (4, 0), (2, 2)])
    alone = PairBatch(
        TextBatch(among.texts.words[2:4, :4], among.texts.lengths[2:4], [2, 2, 2, 1]),
        torch.tensor([0]),
        torch.tensor([1]),
    )
    padded = torch.cat([among.texts.words, torch.full((5, 3), 7)], dim=1)
    more = PairBatch(TextBatch(padded, among.texts.lengths, among.texts.alive), among.first, among.second)
    torch.testing.assert_close(network(among)[:1], network(alone), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(network(among), network(more), rtol=1e-5, atol=1e-6)


@BOTH
def test_texts_encoded_apart_score_as_texts_encoded_together(kind):
    """What matching needs: states that are kept, then met with others."""
    network = network_of(kind).eval()
    texts = texts_of([6, 4, 4, 2])
    together = network.encode(texts)
    parts = []
    for i, n in enumerate(texts.lengths.tolist()):
        parts.append(network.encode(TextBatch(texts.words[i : i + 1, :n], texts.lengths[i : i + 1], [1] * n)))
    apart = type(together)(torch.cat([one.states for one in parts]), torch.cat([one.lengths for one in parts]))
    first, second = torch.cartesian_prod(torch.arange(4), torch.arange(4)).T
    expected = network.compare(together, first, second)
    torch.testing.assert_close(network.compare(apart, first, second), expected, rtol=1e-5, atol=1e-6)
    one_by_one = [network.compare(apart, a[None], b[None]) for a, b in zip(first, second, strict=True)]
    torch.testing.assert_close(torch.cat(one_by_one), expected, rtol=1e-5, atol=1e-6)


@BOTH
def test_dropout_is_drawn_while_training_only(kind):
    network, batch = network_of(kind, dropout=0.5), pairs_of([5, 3], [(0, 1), (1, 0)])
    assert not torch.equal(network.train()(batch), network(batch))
    assert torch.equal(network.eval()(batch), network(batch))


@BOTH
def test_order_within_a_text_matters_to_esim_alone(kind):
    network = network_of(kind).eval()
    batch = pairs_of([4, 3], [(0, 1)])
    turned = batch.texts.words.clone()
    turned[0] = turned[0].flip(0)
    other = PairBatch(TextBatch(turned, batch.texts.lengths, batch.texts.alive), batch.first, batch.second)
    assert torch.allclose(network(batch), network(other), atol=1e-5) == (kind is DecomposableAttention)
