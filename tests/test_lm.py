"""The language models: fast paths against slow twins, exact sampling, features, training and resume."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from swag_af.data.contexts import make_contexts, read_contexts, write_contexts
from swag_af.data.errors import ExhaustedError, FormatError, InputError
from swag_af.data.grammar import sample_videos
from swag_af.data.options import ContextRules
from swag_af.data.pool import FEATURES, CandidatePool
from swag_af.data.splitters import load_splitter
from swag_af.data.tokens import SENTENCE_ENDS, tokenize
from swag_af.data.vocabulary import BOS, EOS, SPECIAL_TOKENS
from swag_af.lm import generate as generate_module
from swag_af.lm import train as train_module
from swag_af.lm.corpus import batches, caption_vocabulary, corpus_hash, directions, fold_corpus, pairs_of
from swag_af.lm.features import backward_nats, feature_table
from swag_af.lm.generate import generate
from swag_af.lm.network import BidirectionalLM, HighwayLSTMLayer
from swag_af.lm.options import Generate, LMOptions, TrainLM
from swag_af.lm.sample import sample_row
from swag_af.lm.store import load_fold
from swag_af.lm.train import perplexity, train_lm

TINY = LMOptions(hidden=24, epochs=2, batch_size=16, learning_rate=1e-2, min_count=1)
N_TYPES = 12
STOP = 4
"""The id of the only sentence end in the toy vocabulary of `N_TYPES`."""


@pytest.fixture(scope="module")
def model() -> BidirectionalLM:
    torch.manual_seed(0)
    made = BidirectionalLM(N_TYPES, 16, 2).eval()
    with torch.no_grad():
        made.embedding.mul_(12)
        made.output_bias[STOP] += 0.8
    return made


@pytest.fixture(scope="module")
def ends() -> torch.Tensor:
    return torch.arange(N_TYPES) == STOP


@pytest.fixture(scope="module")
def contexts_path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("captions") / "contexts.jsonl"
    splitter = load_splitter("trees")
    rules = ContextRules(min_token_count=1, n_folds=2)
    made, dropped = make_contexts(sample_videos(40), splitter, rules, rng=np.random.default_rng(0))
    write_contexts(path, made, dropped, {})
    return path


@pytest.fixture(scope="module")
def lms(contexts_path) -> Path:
    path = contexts_path.parent / "lms"
    train_lm(TrainLM(contexts_path, path, lm=TINY))
    return path


def test_a_stack_carries_its_state_across_calls(model):
    x = torch.randn(7, 2, 16)
    whole, _ = model.forward_lm(x)
    first, state = model.forward_lm(x[:4])
    second, _ = model.forward_lm(x[4:], state)
    torch.testing.assert_close(torch.cat((first, second)), whole)


def test_a_single_step_equals_the_stack(model):
    x = torch.randn(3, 2, 16)
    whole, _ = model.backward_lm(x)
    state = [(torch.zeros(2, 16), torch.zeros(2, 16)) for _ in model.backward_lm.layers]
    for i in range(3):
        top, state = model.backward_lm.step(x[i], state)
        torch.testing.assert_close(top, whole[i])


def test_the_layer_computes_the_gates_it_documents():
    torch.manual_seed(1)
    layer, (x, h, c) = HighwayLSTMLayer(2), torch.randn(3, 1, 2)
    w, u = layer.from_input, layer.from_state
    a = w(x)[:, :10] + u(h)
    i, f, o, r = (torch.sigmoid(a[:, 2 * k : 2 * k + 2]) for k in range(4))
    new_c = f * c + i * torch.tanh(a[:, 8:])
    new_h = r * o * torch.tanh(new_c) + (1 - r) * w(x)[:, 10:]
    for got, expected in zip(layer.step(w(x), h, c), (new_h, new_c), strict=True):
        torch.testing.assert_close(got, expected)


def test_bos_and_eos_are_read_and_never_predicted():
    made = directions([(5, 6, 7), (8, 9)])
    np.testing.assert_array_equal(made["forward"][0].T, [[BOS, 5, 6], [BOS, 8, 0]])
    np.testing.assert_array_equal(made["forward"][1].T, [[5, 6, 7], [8, 9, 0]])
    np.testing.assert_array_equal(made["backward"][0].T, [[EOS, 7, 6], [EOS, 9, 0]])
    np.testing.assert_array_equal(made["backward"][1].T, [[7, 6, 5], [9, 8, 0]])


def test_padding_changes_no_loss(model):
    short = directions([(5, 6, 7)])["forward"]
    padded = tuple(np.pad(table, ((0, 3), (0, 0))) for table in short)
    losses = [model.loss(*map(torch.from_numpy, pair), "forward").item() for pair in (short, padded)]
    assert losses[0] == pytest.approx(losses[1])


def test_batches_hold_every_sequence_once_and_group_like_lengths():
    lengths = np.random.default_rng(0).integers(3, 30, 200)
    sequences = [tuple(range(n)) for n in lengths]
    groups = batches(sequences, 16, rng=np.random.default_rng(1))
    assert sorted(np.concatenate(groups).tolist()) == list(range(200))
    assert np.mean([np.ptp(lengths[group]) for group in groups]) < 5


def test_perplexity_weighs_tokens_not_sentences(model):
    sequences = [(5, 6, STOP), (7, 8, 9, 10, 11, 5, STOP)]
    nats = [
        model.loss(*map(torch.from_numpy, directions([s])["forward"]), "forward").item() * len(s) for s in sequences
    ]
    expected = np.exp(sum(nats) / sum(map(len, sequences)))
    assert perplexity(model, sequences, 2, "cpu")["forward"] == pytest.approx(expected, rel=1e-4)


def test_no_video_of_a_fold_or_of_its_held_out_part_is_learnt_from(contexts_path):
    contexts = read_contexts(contexts_path)
    vocabulary = caption_vocabulary(contexts, [], min_count=1)
    pairs = pairs_of(contexts, [], vocabulary)
    corpus = fold_corpus(pairs, 1, 0.2, rng=np.random.default_rng(0))
    assert len(corpus.train) + len(corpus.held_out) + len(corpus.fold) == len(pairs)
    videos = {part: {p.video for p in pairs if p.ids in set(ids)} for part, ids in vars(corpus).items()}
    assert not videos["fold"] & {p.video for p in pairs if p.fold != 1 and p.ids in set(corpus.train)}


def test_corpus_hash_ignores_where_sentences_are_split(contexts_path):
    contexts = read_contexts(contexts_path)
    vocabulary = caption_vocabulary(contexts, [], min_count=1)
    moved = [replace(c, start=f"{c.start} {c.gold.split()[0]}", gold=" ".join(c.gold.split()[1:])) for c in contexts]
    assert corpus_hash(pairs_of(contexts, [], vocabulary)) == corpus_hash(pairs_of(moved[::-1], [], vocabulary))


def sample(model, ends, *, n=20, seed=0, low=2, high=6, gold=(6, 7, STOP), max_draws=50):
    return sample_row(
        model,
        [5, 9, 8],
        list(gold),
        n_negatives=n,
        min_tokens=low,
        max_tokens=high,
        max_draws=max_draws,
        ends=ends,
        rng=np.random.default_rng(seed),
    )


def test_a_sampled_row_is_gold_then_distinct_endings_within_bounds(model, ends):
    row = sample(model, ends, n=200)
    endings = [tuple(tokens[:n]) for tokens, n in zip(row.tokens.tolist(), row.lengths, strict=True)]
    assert endings[0] == (6, 7, STOP)
    assert len(set(endings)) == 201
    for ending in endings[1:]:
        assert 2 <= len(ending) <= 6
        assert min(ending) >= len(SPECIAL_TOKENS)
        assert STOP not in ending[:-1]
        assert ending[-1] == STOP or len(ending) == 6


def test_the_same_generator_gives_the_same_row_and_another_does_not(model, ends):
    one, two, other = sample(model, ends, seed=3), sample(model, ends, seed=3), sample(model, ends, seed=4)
    np.testing.assert_array_equal(one.tokens, two.tokens)
    np.testing.assert_array_equal(one.ending_nats, two.ending_nats)
    assert not np.array_equal(one.tokens, other.tokens)


def test_a_context_that_cannot_give_enough_endings_gives_none(model, ends):
    assert sample(model, ends, n=500, low=1, high=2, max_draws=3) is None


def slow_endings(model, context, n, high, rng) -> list[tuple[int, ...]]:
    """The reference sampler: one ending at a time, one token at a time, by multinomial."""
    torch.manual_seed(int(rng.integers(2**31)))
    endings = []
    with torch.inference_mode():
        for _ in range(n):
            ids = [BOS, *context]
            while len(ids) - 1 - len(context) < high and (ids[-1] != STOP or len(ids) == 1 + len(context)):
                hidden, _ = model.forward_lm(model.embed(torch.tensor(ids)[:, None]))
                p = torch.softmax(model.logits(hidden[-1, 0]), -1)
                p[: len(SPECIAL_TOKENS)] = 0
                ids.append(int(torch.multinomial(p, 1)))
            endings.append(tuple(ids[1 + len(context) :]))
    return endings


def test_draws_follow_the_distribution_of_a_naive_sampler(model, ends):
    from scipy.stats import chi2_contingency

    from swag_af.lm.sample import _draw

    rng, n, context = np.random.default_rng(5), 1500, [5, 9, 8]
    with torch.inference_mode():
        hidden, state = model.forward_lm(model.embed(torch.tensor([BOS, *context])[:, None]))
        uniforms = torch.from_numpy(rng.random((n, 5), dtype=np.float32))
        draws = _draw(model, hidden[-1], state, uniforms, ends, None)
    fast = [tuple(t[:k]) for t, k in zip(draws.tokens.tolist(), draws.lengths, strict=True)]
    slow = slow_endings(model, context, n, 5, rng)
    for what in (lambda e: e[0], len, lambda e: e if len(e) < 3 else e[:2]):
        seen = sorted({what(e) for e in fast + slow}, key=str)
        table = np.array([[sum(what(e) == value for e in sample) for value in seen] for sample in (fast, slow)])
        table = table[:, table.sum(axis=0) >= 10]
        assert chi2_contingency(table).pvalue > 1e-4


def nats_one_by_one(model, direction: str, first: int, read: list[int]) -> list[float]:
    """Negative log-likelihood of every token of `read`, by running the stack over the whole sequence."""
    stack = model.forward_lm if direction == "forward" else model.backward_lm
    with torch.inference_mode():
        hidden, _ = stack(model.embed(torch.tensor([first, *read[:-1]])[:, None]))
        log_p = torch.log_softmax(model.logits(hidden[:, 0]), -1)
    return [-float(log_p[i, token]) for i, token in enumerate(read)]


def test_features_equal_a_slow_computation_one_candidate_at_a_time(model, ends):
    sent1, start = [5, 9], [8]
    row, context = sample(model, ends, n=30), [5, 9, 8]
    table = feature_table(model, sent1, start, row)
    for values, tokens, length in zip(table, row.tokens.tolist(), row.lengths, strict=True):
        ending = tokens[:length]
        forward = nats_one_by_one(model, "forward", BOS, context + ending)
        backward = nats_one_by_one(model, "backward", EOS, (context + ending)[::-1])
        expected = {
            "ending_given_context": np.mean(forward[3:]),
            "ending_alone": np.mean(backward[:length]),
            "context_given_ending": np.mean(backward[length:]),
            "context_alone": np.mean(forward[:3]),
            "last_token": forward[-1],
            "ending_length": length,
            "start_length": 1,
            "sent1_length": 2,
        }
        np.testing.assert_allclose(values, [expected[name] for name in FEATURES], rtol=2e-4)


def test_backward_scores_do_not_depend_on_the_other_rows(model, ends):
    row = sample(model, ends, n=30)
    whole = backward_nats(model, [5, 9, 8], row.tokens, row.lengths)
    some = np.array([17, 3, 8])
    part = backward_nats(model, [5, 9, 8], row.tokens[some], row.lengths[some])
    for one, two in zip(whole, part, strict=True):
        np.testing.assert_allclose(one[some], two, rtol=1e-5)


def test_training_lowers_perplexity_and_reports_it(lms):
    model, vocabulary = load_fold(lms, 0, device="cpu")
    torch.manual_seed(0)
    untrained = BidirectionalLM(len(vocabulary), 24, 2).eval()
    sequences = [tuple(vocabulary.ids(["She", "washes", "the", "onion", "in", "the", "sink", "."]))]
    assert perplexity(model, sequences, 1, "cpu")["forward"] < perplexity(untrained, sequences, 1, "cpu")["forward"]


def test_training_killed_after_an_epoch_resumes_to_the_same_weights(contexts_path, lms, tmp_path, monkeypatch):
    killed = tmp_path / "lms"
    whole_run = train_module._EpochLines.on_train_epoch_start

    def stop_at_second_epoch(self, trainer, module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt
        whole_run(self, trainer, module)

    monkeypatch.setattr(train_module._EpochLines, "on_train_epoch_start", stop_at_second_epoch)
    with pytest.raises(KeyboardInterrupt):
        train_lm(TrainLM(contexts_path, killed, folds=(0,), lm=TINY))
    monkeypatch.setattr(train_module._EpochLines, "on_train_epoch_start", whole_run)
    assert (killed / "fold-0" / "checkpoints" / "last.ckpt").exists()
    train_lm(TrainLM(contexts_path, killed, folds=(0,), lm=TINY))
    name = "fold-0/weights.safetensors"
    assert (killed / name).read_bytes() == (lms / name).read_bytes()
    assert not (killed / "fold-0" / "checkpoints").exists()


def test_training_leaves_the_global_generator_alone(contexts_path, tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    train_lm(TrainLM(contexts_path, tmp_path / "lms", folds=(1,), lm=replace(TINY, epochs=1)))
    assert torch.equal(torch.rand(1), expected)


def test_a_folder_of_models_begun_with_other_options_is_refused(contexts_path, lms):
    with pytest.raises(InputError, match=r"hidden \(24, now 32\)"):
        train_lm(TrainLM(contexts_path, lms, lm=replace(TINY, hidden=32)))


def test_an_unknown_fold_is_refused(contexts_path, tmp_path):
    with pytest.raises(InputError, match="folds 0 to 1"):
        train_lm(TrainLM(contexts_path, tmp_path / "lms", folds=(7,), lm=TINY))


def test_damaged_weights_are_named(contexts_path, lms, tmp_path):
    import shutil

    copy = tmp_path / "lms"
    shutil.copytree(lms, copy)
    (copy / "fold-0" / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"weights\.safetensors: damaged"):
        load_fold(copy, 0, device="cpu")


def options_for(contexts_path, lms, out, **more) -> Generate:
    settings = {"n_negatives": 15, "limit": 10, "shard_rows": 4, "lm": TINY} | more
    return Generate(contexts_path, lms, out, **settings)


def folder_bytes(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in sorted(path.rglob("*")) if p.is_file()}


def test_generate_makes_a_whole_pool(contexts_path, lms, tmp_path):
    pool = generate(options_for(contexts_path, lms, tmp_path / "pool"))
    assert (len(pool), pool.n_candidates) == (10, 16)
    for row, context in enumerate(pool.contexts):
        assert pool.text(row, 0).lower() == context.gold.lower()
        assert len({pool.text(row, k) for k in range(16)}) == 16
    features = pool.gather("features", np.arange(10))
    assert features.shape == (10, 16, len(FEATURES))
    assert np.isfinite(features).all()
    assert pool.vocabulary.tags is not None


def test_generate_killed_between_rows_resumes_to_the_same_bytes(contexts_path, lms, tmp_path, monkeypatch):
    whole = generate(options_for(contexts_path, lms, tmp_path / "one" / "pool"))
    made = generate_module._row
    calls = []

    def die_at_the_seventh(*arguments):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return made(*arguments)

    again = options_for(contexts_path, lms, tmp_path / "two" / "pool")
    monkeypatch.setattr(generate_module, "_row", die_at_the_seventh)
    with pytest.raises(KeyboardInterrupt):
        generate(again)
    with pytest.raises(FormatError, match="unfinished"):
        CandidatePool.open(again.out)
    monkeypatch.setattr(generate_module, "_row", made)
    resumed = generate(again)
    one, two = folder_bytes(tmp_path / "one" / "pool"), folder_bytes(tmp_path / "two" / "pool")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == ["manifest.json"], "the manifests name their --out"
    assert whole.identity == resumed.identity


def test_rows_do_not_depend_on_shards_or_limits(contexts_path, lms, tmp_path):
    many = generate(options_for(contexts_path, lms, tmp_path / "many", limit=12, shard_rows=5))
    few = generate(options_for(contexts_path, lms, tmp_path / "few", limit=4, shard_rows=64))
    row_of = {context.id: row for row, context in enumerate(many.contexts)}
    for row, context in enumerate(few.contexts):
        if context.id in row_of:
            same = np.array([row_of[context.id]])
            np.testing.assert_array_equal(few.gather("tokens", np.array([row])), many.gather("tokens", same))
            np.testing.assert_array_equal(few.gather("features", np.array([row])), many.gather("features", same))
    assert {context.id for context in few.contexts} & row_of.keys()


def test_generate_with_other_options_into_the_same_folder_is_refused(contexts_path, lms, tmp_path):
    generate(options_for(contexts_path, lms, tmp_path / "pool"))
    with pytest.raises(InputError, match="n_negatives"):
        generate(options_for(contexts_path, lms, tmp_path / "pool", n_negatives=14))


def test_models_of_other_contexts_are_refused(contexts_path, lms, tmp_path):
    contexts = read_contexts(contexts_path)
    write_contexts(tmp_path / "other.jsonl", [replace(c, fold=1 - c.fold) for c in contexts], [], {})
    with pytest.raises(InputError, match="other pairs"):
        generate(options_for(tmp_path / "other.jsonl", lms, tmp_path / "pool"))


def test_contexts_without_enough_endings_are_dropped_and_counted(contexts_path, lms, tmp_path, monkeypatch):
    made, calls = generate_module.sample_row, []

    def exhausted_every_third(*arguments, **settings):
        calls.append(1)
        return None if len(calls) % 3 == 0 else made(*arguments, **settings)

    monkeypatch.setattr(generate_module, "sample_row", exhausted_every_third)
    pool = generate(options_for(contexts_path, lms, tmp_path / "pool"))
    assert len(pool) == 7
    assert pool.manifest["drops"] == {"too_few_distinct_endings": 3}


def test_a_pool_without_any_row_is_refused(contexts_path, lms, tmp_path, monkeypatch):
    monkeypatch.setattr(generate_module, "sample_row", lambda *arguments, **settings: None)
    with pytest.raises(ExhaustedError, match="10 too_few_distinct_endings"):
        generate(options_for(contexts_path, lms, tmp_path / "pool"))


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ("washes the hands.", "gold_too_short"),
        ("walks to the old car and then", "gold_unfinished"),
        ("walks away . The man is there.", "gold_of_several_sentences"),
    ],
)
def test_a_gold_that_no_sample_could_look_like_is_dropped(contexts_path, lms, gold, reason):
    _, vocabulary = load_fold(lms, 0, device="cpu")
    every = vocabulary.ids(tokenize(gold))
    ids = [i if i != 1 else 50 for i in every]
    ends = torch.tensor([token in SENTENCE_ENDS for token in vocabulary.tokens])
    assert generate_module._unfit_gold(ids, ends, Generate(contexts_path)) == reason


def test_missing_folds_are_trained_first(contexts_path, tmp_path):
    options = options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", folds=(1,), lm=replace(TINY, epochs=1))
    pool = generate(options)
    assert {context.fold for context in pool.contexts} == {1}
    assert (tmp_path / "lms" / "fold-1" / "weights.safetensors").exists()
    assert not (tmp_path / "lms" / "fold-0").exists()
