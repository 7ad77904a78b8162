"""Sampling and scoring many contexts at once, against slow twins that take one token at a time."""

from dataclasses import asdict

import numpy as np
import pytest
import torch
from conftest import N_TYPES, STOP
from hypothesis import given, settings
from hypothesis import strategies as st
from slow import lm as slow_lm

from swag_af.data.pool.folder import FEATURES
from swag_af.data.text.wording import comparable
from swag_af.data.vocabulary import BOS, EOS, SPECIAL_TOKENS, Vocabulary
from swag_af.lm.lstm import features
from swag_af.lm.lstm import reader as reader_module
from swag_af.lm.lstm.features import BACKWARD, Endings, backward_features, forward_features
from swag_af.lm.lstm.reader import BLOCK, Choices, Distributions, OutputLayer, Reader, children, read_prompts
from swag_af.lm.lstm.sampling import Prompt, Rejected, SampledRow, Sampling, Types, sample_rows
from swag_af.lm.lstm.wording import Wording

CONTEXTS = ([5, 9, 8], [7], [11, 11, 6, 5, 9])
GOLD = (6, 7, STOP)


@pytest.fixture(scope="module")
def forward(model) -> Reader:
    return Reader(model, "forward", OutputLayer(model))


@pytest.fixture(scope="module")
def backward(model) -> Reader:
    return Reader(model, "backward", OutputLayer(model))


def every_type_but(never=()) -> Types:
    """All types of the toy vocabulary may be sampled, but for those that are `never`."""
    return Types(torch.arange(N_TYPES) == STOP, ~torch.isin(torch.arange(N_TYPES), torch.tensor(never)))


def sample(
    reader,
    *,
    n=20,
    contexts=CONTEXTS,
    seeds=None,
    low=2,
    high=6,
    gold=GOLD,
    max_draws=50,
    live_rows=None,
    never=(),
    given_up=None,
    said=tuple,
):
    """The rows of `contexts`, in their order."""
    seeds = range(len(contexts)) if seeds is None else seeds
    prompts = [Prompt(c, gold, np.random.default_rng(seed)) for c, seed in zip(contexts, seeds, strict=True)]
    rules = Sampling(n, low, high, max_draws)
    types = every_type_but(never)
    made = dict(sample_rows(reader, prompts, rules, types, said, live_rows=live_rows, given_up=given_up))
    assert sorted(made) == list(range(len(contexts)))
    return [made[i] for i in range(len(contexts))]


def halves(ids) -> tuple[int, ...]:
    """Two types each say the same."""
    return tuple(i // 2 for i in ids)


def vocabulary_of(*spellings: str) -> Vocabulary:
    """The special tokens and those."""
    shown = (*SPECIAL_TOKENS, *spellings)
    return Vocabulary(tuple(map(str.lower, shown)), np.zeros(len(shown), np.int64), shown)


def endings_of(row: SampledRow) -> list[tuple[int, ...]]:
    return [tuple(tokens[:n]) for tokens, n in zip(row.tokens.tolist(), row.lengths, strict=True)]


def assert_same_row(one: SampledRow, two: SampledRow) -> None:
    for name, value in vars(one).items():
        np.testing.assert_array_equal(value, getattr(two, name), err_msg=name)


def test_a_row_is_gold_then_distinct_endings_within_bounds(forward):
    for row in sample(forward, n=200):
        endings = endings_of(row)
        assert endings[0] == GOLD
        assert len(set(endings)) == 201
        for ending in endings[1:]:
            assert 2 <= len(ending) <= 6
            assert min(ending) >= len(SPECIAL_TOKENS)
            assert STOP not in ending[:-1]
            assert ending[-1] == STOP


@pytest.mark.parametrize(("never", "said"), [((), tuple), ((8, 11), tuple), ((), halves)])
def test_a_row_is_that_of_the_slow_sampler_and_no_draw_is_in_vain(model, forward, never, said):
    for i, (context, row) in enumerate(zip(CONTEXTS, sample(forward, n=25, never=never, said=said), strict=True)):
        expected, outcomes, n_drawn_tokens = slow_lm.row(
            model,
            context,
            GOLD,
            n_negatives=25,
            min_tokens=2,
            max_tokens=6,
            stop=STOP,
            rng=np.random.default_rng(i),
            never=never,
            said=said,
        )
        assert endings_of(row) == expected
        assert (row.n_draws, row.n_drawn_tokens) == (len(outcomes), n_drawn_tokens)
        assert row.rejected == Rejected(*(outcomes.count(why) for why in ("cut_off", "too_short", "repeated")))
        assert row.rejected.cut_off
        assert row.rejected.too_short


def test_no_ending_has_the_words_of_gold_or_of_another_in_other_tokens(forward):
    """ "gets on to the beam." was a negative of "gets onto the beam." """
    vocabulary = vocabulary_of(".", "on", "to", "onto", "can", "not", "cannot", "beam")
    gold = vocabulary.ids(["onto", "beam", "."])
    by_ids, by_words = (sample(forward, n=300, gold=gold, said=said) for said in (tuple, Wording(vocabulary)))
    for one, two in zip(by_ids, by_words, strict=True):
        texts, kept = ([comparable(vocabulary.text(ending)) for ending in endings_of(row)] for row in (one, two))
        assert len(set(texts)) < len(texts), "else nothing was tried"
        assert len(set(kept)) == len(kept) == 301
        assert kept[0] == "ontobeam"
        assert [text for text in kept if text in texts] == list(dict.fromkeys(texts)), "the first of each is kept"
        assert two.rejected.repeated > one.rejected.repeated


def test_a_row_without_such_endings_is_what_it_is_by_tokens(forward):
    vocabulary = vocabulary_of(".", *"abcdefg")
    for one, two in zip(sample(forward, n=200), sample(forward, n=200, said=Wording(vocabulary)), strict=True):
        assert_same_row(one, two)


SPELLINGS = """
    . , ? ! : ; $ # @ & % ( ) [ ] - ' ` " '' `` n't 's 'S s 'T 'til til 90s 3 .5 ... can not gon na Ann A B don o'clock
    <unk> <pad> dogs says … ’ ’s “ é ﬁ Straße e\u0301 \u0301 \u00ad İ 。 ᄀ ᅡ ½ ´ 日 本
"""
TOKENS = st.sampled_from([*SPELLINGS.split(), "x\u00a0y"]) | st.text(max_size=3)


@settings(max_examples=1000)
@given(st.lists(TOKENS, max_size=8), st.data())
def test_what_is_said_is_the_comparable_form_of_the_readable_text(spellings, data):
    vocabulary = vocabulary_of(*spellings)
    ids = data.draw(st.lists(st.integers(0, len(vocabulary) - 1), max_size=10))
    assert Wording(vocabulary)(ids) == comparable(vocabulary.text(ids))


def test_numbers_side_by_side_are_no_single_one() -> None:
    said = Wording(vocabulary := vocabulary_of("1", "1/2", "11/2", "cups"))
    one, other = (vocabulary.ids(text.split()) for text in ("1 1/2 cups", "11/2 cups"))
    assert said(one) == comparable("1 1/2 cups") != said(other) == comparable("11/2 cups")


def test_types_that_no_gold_holds_are_in_no_negative(forward):
    usual = {token for row in sample(forward, n=200) for ending in endings_of(row) for token in ending}
    assert {8, 11} <= usual
    for row in sample(forward, n=200, never=(8, 11)):
        assert not {8, 11} & {token for ending in endings_of(row) for token in ending}


def test_gold_may_hold_what_is_not_sampled_and_has_its_nats_all_the_same(model, forward):
    gold = (8, 11, STOP)
    for context, row in zip(CONTEXTS, sample(forward, n=20, gold=gold, never=(8, 11)), strict=True):
        read = slow_lm.nats(model, "forward", BOS, [*context, *gold])[len(context) :]
        assert row.ending_nats[0] == pytest.approx(sum(read), rel=1e-4)


@pytest.mark.parametrize("never", [(), (8, 11)])
def test_nats_are_those_of_the_whole_model_read_slowly(model, forward, never):
    for context, row in zip(CONTEXTS, sample(forward, n=30, never=never), strict=True):
        assert row.context_nats == pytest.approx(sum(slow_lm.nats(model, "forward", BOS, context)), rel=1e-5)
        for k, ending in enumerate(endings_of(row)):
            read = slow_lm.nats(model, "forward", BOS, [*context, *ending])[len(context) :]
            assert row.ending_nats[k] == pytest.approx(sum(read), rel=1e-4)
            assert row.last_token_nats[k] == pytest.approx(read[-1], rel=1e-4)


@pytest.mark.parametrize(("live_rows", "said"), [(1, tuple), (300, tuple), (100_000, tuple), (40, halves)])
def test_a_row_is_the_same_bits_whatever_is_sampled_beside_it(forward, live_rows, said):
    contexts = [CONTEXTS[i % 3] for i in range(9)]
    alone = [sample(forward, n=150, contexts=[c], seeds=[i], said=said)[0] for i, c in enumerate(contexts)]
    together = sample(forward, n=150, contexts=contexts, live_rows=live_rows, said=said)
    for one, two in zip(alone, together, strict=True):
        assert_same_row(one, two)


def test_another_generator_gives_another_row(forward):
    one, two = sample(forward, contexts=[CONTEXTS[0]] * 2, seeds=[3, 4])
    assert not np.array_equal(one.tokens, two.tokens)


def test_contexts_that_cannot_give_enough_endings_give_none(forward):
    counts = {}
    assert sample(forward, n=500, low=1, high=2, gold=(6, STOP), max_draws=3, given_up=counts) == [None] * 3
    assert sorted(counts) == [0, 1, 2]
    for given_up in counts.values():
        assert given_up.n_draws == 3 * 500
        assert given_up.n_draws - sum(asdict(given_up.rejected).values()) < 500, "those that count were too few"


def test_nothing_to_sample_yields_nothing(forward):
    assert sample(forward, contexts=()) == []


def test_a_gold_longer_than_any_sample_is_an_error(forward):
    with pytest.raises(ValueError, match="gold has 7 tokens"):
        sample(forward, gold=(6, 7, 6, 7, 6, 7, STOP))


def test_draws_follow_the_distribution_of_a_multinomial_sampler(model, forward):
    """First tokens, lengths and whole endings; each test errs in one case of a thousand."""
    from scipy.stats import chi2_contingency

    n, context = 3000, CONTEXTS[0]
    rows = sample(forward, n=1, contexts=[context] * n, low=1, high=3, gold=(N_TYPES - 1,) * 3)
    fast = [endings_of(row)[1] for row in rows]
    slow = [e for e in slow_lm.by_multinomial(model, context, 2 * n, 3, STOP, seed=5) if e[-1] == STOP]
    for what in (lambda e: e[0], len, lambda e: e):
        values = sorted({what(e) for e in fast + slow}, key=str)
        counts = [dict.fromkeys(values, 0) for _ in range(2)]
        for count, drawn in zip(counts, (fast, slow), strict=True):
            for ending in drawn:
                count[what(ending)] += 1
        table = np.array([list(count.values()) for count in counts])
        rare = table.sum(axis=0) < 10
        pooled = np.column_stack((table[:, ~rare], table[:, rare].sum(axis=1)))
        pooled = pooled[:, pooled.sum(axis=0) > 0]
        assert pooled.shape[1] > 1
        assert chi2_contingency(pooled).pvalue > 1e-3


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(6, 300), st.floats(0.1, 8), st.floats(0, 0.9))
def test_choosing_by_blocks_inverts_the_whole_cumulative_distribution(seed, n_types, spread, share_never):
    rng = np.random.default_rng(seed)
    allowed = rng.random(n_types) >= share_never
    allowed[int(rng.integers(4, n_types))] = True
    logits = np.full((3, -(-n_types // BLOCK) * BLOCK), -np.inf, np.float32)
    logits[:, :n_types] = rng.normal(0, spread, (3, n_types))
    nodes, u = rng.integers(0, 3, 40), rng.random(40)
    choices = Choices(torch.from_numpy(allowed.copy()), logits.shape[1])
    chosen = Distributions.of(torch.from_numpy(logits.copy())).choose(
        torch.from_numpy(nodes), torch.from_numpy(u), choices
    )
    allowed[: len(SPECIAL_TOKENS)] = False
    p = np.exp(logits[:, :n_types].astype(np.float64)) * allowed
    upper = np.cumsum(p, axis=1)[nodes] / p.sum(axis=1)[nodes, None]
    lower = np.pad(upper, ((0, 0), (1, 0)))[:, :-1]
    here = np.arange(40), chosen.numpy()
    assert allowed[chosen.numpy()].all()
    assert (lower[here] - 1e-6 <= u).all()
    assert (u <= upper[here] + 1e-6).all()


def all_of(n_types: int, n_columns: int) -> Choices:
    return Choices(torch.ones(n_types, dtype=torch.bool), n_columns)


def test_the_rarest_types_are_within_reach():
    logits = torch.full((1, 20032), -torch.inf)
    logits[:, :20_000] = -18.0
    logits[0, 4] = 0.0
    total = 1 + 19_995 * np.exp(-18.0)
    u = torch.tensor([(1 + (j - 4.5) * np.exp(-18.0)) / total for j in (5, 12_345, 19_999)], dtype=torch.float64)
    chosen = Distributions.of(logits).choose(torch.zeros(3, dtype=torch.long), u, all_of(20_000, 20_032))
    # the rounding of the largest probability, in float32, is worth four of these types
    np.testing.assert_allclose(chosen.numpy(), [5, 12_345, 19_999], atol=5)


def test_a_uniform_of_almost_one_chooses_a_type_that_exists():
    logits = torch.full((1, BLOCK), -torch.inf)
    logits[:, :N_TYPES] = 0.0
    u = torch.tensor([np.nextafter(1.0, 0.0)], dtype=torch.float64)
    chosen = Distributions.of(logits).choose(torch.zeros(1, dtype=torch.long), u, all_of(N_TYPES, BLOCK))
    assert chosen.item() == N_TYPES - 1


def test_types_beyond_the_kept_projections_are_projected_as_they_come(model, monkeypatch):
    expected = sample(Reader(model, "forward", OutputLayer(model)), n=100)
    monkeypatch.setitem(reader_module._PROJECTIONS, "cpu", 7)
    for one, two in zip(expected, sample(Reader(model, "forward", OutputLayer(model)), n=100), strict=True):
        assert_same_row(one, two)


def test_rows_with_the_same_past_share_a_node():
    parents, tokens = torch.tensor([1, 0, 1, 1, 0]), torch.tensor([7, 7, 3, 7, 7])
    made, of_row = children(parents, tokens, N_TYPES)
    assert list(zip(made.parents.tolist(), made.tokens.tolist(), strict=True)) == [(0, 7), (1, 3), (1, 7)]
    assert of_row.tolist() == [2, 0, 1, 2, 0]


def test_prompts_of_all_lengths_are_read_as_one_by_one(model, forward):
    prompts = [[BOS, *c] for c in (*CONTEXTS, [])]
    with torch.inference_mode():
        states, logits, nats = read_prompts(forward, prompts)
        for i, prompt in enumerate(prompts):
            hidden, state = model.forward_lm(model.embed(torch.tensor(prompt)[:, None]))
            for mine, expected in zip(states, (piece[0] for layer in state for piece in layer), strict=True):
                torch.testing.assert_close(mine[i], expected, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(logits[i, :N_TYPES], model.logits(hidden[-1, 0]), rtol=1e-4, atol=1e-4)
            assert (logits[i, N_TYPES:] == -torch.inf).all()
            assert nats[i] == pytest.approx(sum(slow_lm.nats(model, "forward", BOS, prompt[1:])), rel=1e-4)


def test_prompts_are_read_to_the_same_bits_however_few_at_a_time(forward, monkeypatch):
    """All were read together: one of a thousand words made room for as many in each of the others."""
    prompts = [[BOS, *c] for c in (*CONTEXTS, [], CONTEXTS[0] * 5)]
    with torch.inference_mode():
        together = read_prompts(forward, prompts)
        monkeypatch.setitem(reader_module.PROMPT_BYTES, "cpu", 1.0)
        one_by_one = read_prompts(forward, prompts)
    assert all(torch.equal(a, b) for a, b in zip(together[0], one_by_one[0], strict=True))
    assert torch.equal(together[1], one_by_one[1])
    assert torch.equal(together[2], one_by_one[2])


def test_a_long_context_takes_room_while_it_is_read_alone(forward, backward, monkeypatch):
    """Every later row of a call was as wide."""
    widths: list[tuple[int, int]] = []
    take = features._Rows.take

    def seen(rows, index):
        if index.dtype == torch.long:  # in the order of nodes
            widths.append((rows.sequence.shape[1], int(rows.length.max())))
        return take(rows, index)

    monkeypatch.setattr(features._Rows, "take", seen)
    rows = sample(forward, n=30)
    contexts = [CONTEXTS[0] * 8, *CONTEXTS[1:]]
    items = [*items_of(rows, contexts), *items_of(rows)]
    scored = dict(backward_features(backward, items, live_rows=40))
    assert all(width == longest for width, longest in widths)
    assert len(set(widths)) > 1
    monkeypatch.undo()
    assert np.array_equal(scored[len(rows)], dict(backward_features(backward, items_of(rows)))[0])


def items_of(rows, contexts=CONTEXTS) -> list[Endings]:
    return [Endings(c, row.tokens, row.lengths) for c, row in zip(contexts, rows, strict=True)]


def test_features_equal_a_slow_computation_one_candidate_at_a_time(model, forward, backward):
    rows = sample(forward, n=30)
    scored = dict(backward_features(backward, items_of(rows)))
    for i, (context, row) in enumerate(zip(CONTEXTS, rows, strict=True)):
        sent1, start = context[:-1], context[-1:]
        table = forward_features(row, sent1, start)
        assert np.isnan(table[:, BACKWARD]).all()
        table[:, BACKWARD] = scored[i]
        for values, ending in zip(table, endings_of(row), strict=True):
            ahead = slow_lm.nats(model, "forward", BOS, [*context, *ending])
            back = slow_lm.nats(model, "backward", EOS, [*context, *ending][::-1])
            expected = {
                "ending_given_context": np.mean(ahead[len(context) :]),
                "ending_alone": np.mean(back[: len(ending)]),
                "context_given_ending": np.mean(back[len(ending) :]),
                "context_alone": np.mean(ahead[: len(context)]),
                "last_token": ahead[-1],
                "ending_length": len(ending),
                "start_length": len(start),
                "sent1_length": len(sent1),
            }
            np.testing.assert_allclose(values, [expected[name] for name in FEATURES], rtol=2e-4)


@pytest.mark.parametrize("live_rows", [1, 40, 100_000])
def test_a_backward_feature_is_the_same_bits_whatever_is_scored_beside_it(forward, backward, live_rows):
    rows = sample(forward, n=150)
    whole = dict(backward_features(backward, items_of(rows), live_rows=live_rows))
    some = [np.array([17]), np.array([3, 8, 120]), np.arange(0, 150, 7)]
    few = [Endings(c, row.tokens[k], row.lengths[k]) for c, row, k in zip(CONTEXTS, rows, some, strict=True)]
    for i, values in backward_features(backward, few):
        np.testing.assert_array_equal(values, whole[i][some[i]])


def test_a_bf16_output_layer_is_close_and_says_what_it_says(model, forward):
    rounded = Reader(model, "forward", OutputLayer(model, "bf16"))
    one, two = (read_prompts(reader, [[BOS, *c] for c in CONTEXTS])[1] for reader in (forward, rounded))
    distance = 0.5 * (Distributions.of(one).p - Distributions.of(two).p).abs().sum(dim=1)
    assert 0 < distance.max() < 0.02
