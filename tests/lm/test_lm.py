"""The language models: fast paths against slow twins, exact sampling, features, training and resume."""

import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from conftest import STOP, TINY

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context, DroppedPair
from swag_af.data.disk.files import read_json, read_jsonl, write_json, write_jsonl
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import FormatError, InputError
from swag_af.data.vocabulary import BOS, EOS
from swag_af.lm.lstm.checkpoints import fold_path, load_fold
from swag_af.lm.lstm.corpus import batches, caption_vocabulary, corpus_hash, directions, fold_corpus, pairs_of
from swag_af.lm.lstm.network import BidirectionalLM, HighwayLSTMLayer
from swag_af.lm.lstm.train import train_lm
from swag_af.lm.options import TrainLMOptions
from swag_af.nn.threads import threads


def forward_loss(model: BidirectionalLM, tables: tuple[np.ndarray, np.ndarray]) -> float:
    """Nats a token of one batch's inputs and targets, forwards."""
    inputs, targets = map(torch.from_numpy, tables)
    return model.losses({"forward": (inputs, targets)})[0].item()


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
    losses = [forward_loss(model, pair) for pair in (short, padded)]
    assert losses[0] == pytest.approx(losses[1])


def test_batches_hold_every_sequence_once_and_group_like_lengths():
    lengths = np.random.default_rng(0).integers(3, 30, 200)
    sequences = [tuple(range(n)) for n in lengths]
    groups = batches(sequences, 16, rng=np.random.default_rng(1))
    assert sorted(np.concatenate(groups).tolist()) == list(range(200))
    assert np.mean([np.ptp(lengths[group]) for group in groups]) < 5


def test_perplexity_weighs_tokens_not_sentences(model):
    from swag_af.lm.lstm.fitting import perplexity

    sequences = [(5, 6, STOP), (7, 8, 9, 10, 11, 5, STOP)]
    nats = [forward_loss(model, directions([s])["forward"]) * len(s) for s in sequences]
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


def test_nameless_lines_that_share_a_sentence_are_learnt_or_held_out_together():
    """With folds of their own each was a video by itself, so that held-out sentences had been learnt."""
    texts = [[f"Man {s} {verb} a {s} thing." for verb in "abcdefgh"] for s in range(12)]
    contexts = [
        Context(one, "", two, id=f"{s}-{i}", fold=s % 2)
        for s, story in enumerate(texts)
        for i, (one, two) in enumerate(pairwise(story))
    ]
    pairs = pairs_of(contexts, [], caption_vocabulary(contexts, [], min_count=1))
    corpus = fold_corpus(pairs, 1, 0.3, rng=np.random.default_rng(0))
    story = {pair.ids: pair.video for pair in pairs}
    assert len(set(story.values())) == 12
    assert not {story[ids] for ids in corpus.train} & {story[ids] for ids in corpus.held_out}
    assert corpus.held_out


def test_captions_dropped_as_foreign_or_broken_are_not_learnt_from():
    text = "She {} the {} dog."
    dropped = [
        DroppedPair(text.format(verb, reason), text.format("sees", reason), reason, f"v{verb}-0", f"v{verb}")
        for verb, reason in (("feeds", "duplicate"), ("wäscht", "foreign"), ("caf�", "broken_encoding"))
    ]
    vocabulary = caption_vocabulary([], dropped, min_count=1)
    assert {"feeds", "duplicate"} < {*vocabulary.tokens}
    assert not {"wäscht", "foreign", "broken_encoding"} & {*vocabulary.tokens}
    assert [pair.video for pair in pairs_of([], dropped, vocabulary)] == ["vfeeds"]


def test_corpus_hash_ignores_where_sentences_are_split(contexts_path):
    contexts = read_contexts(contexts_path)
    vocabulary = caption_vocabulary(contexts, [], min_count=1)
    moved = [replace(c, start=f"{c.start} {c.gold.split()[0]}", gold=" ".join(c.gold.split()[1:])) for c in contexts]
    assert corpus_hash(pairs_of(contexts, [], vocabulary)) == corpus_hash(pairs_of(moved[::-1], [], vocabulary))


def test_training_lowers_perplexity_and_reports_it(lms):
    from swag_af.lm.lstm.fitting import perplexity

    model, vocabulary = load_fold(lms, 0, device="cpu")
    torch.manual_seed(0)
    untrained = BidirectionalLM(len(vocabulary), 24, 2).eval()
    sequences = [tuple(vocabulary.ids(["She", "washes", "the", "onion", "in", "the", "sink", "."]))]
    assert perplexity(model, sequences, 1, "cpu")["forward"] < perplexity(untrained, sequences, 1, "cpu")["forward"]


def test_training_killed_after_an_epoch_resumes_to_the_same_weights(contexts_path, lms, tmp_path, monkeypatch):
    killed = tmp_path / "lms"
    killed_after(1, TrainLMOptions(contexts_path, killed, folds=(0,), lm=TINY), monkeypatch)
    assert (killed / "fold-0" / "checkpoints" / "last.ckpt").exists()
    train_lm(TrainLMOptions(contexts_path, killed, folds=(0,), lm=TINY))
    for name in ("fold-0/weights.safetensors", "fold-0/epochs.jsonl"):
        assert (killed / name).read_bytes() == (lms / name).read_bytes()
    curve = [line for _, line in read_jsonl(lms / "fold-0" / "epochs.jsonl")]
    assert [line["epoch"] for line in curve] == list(range(1, TINY.epochs + 1))
    assert curve[-1]["train_nll"] < curve[0]["train_nll"]
    assert not (killed / "fold-0" / "checkpoints").exists()


@pytest.mark.parametrize("is_older", [False, True])
def test_a_fold_records_on_what_it_was_trained(contexts_path, lms, tmp_path, monkeypatch, is_older):
    """Two threads go on where one was killed; an older checkpoint does not say who began."""
    begun = {"from_epoch": 1, "device": "cpu", "threads": 1}
    assert read_manifest(fold_path(lms, 0), "lm-fold")["trained_on"] == [begun]
    options = TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=TINY, device="cpu")
    killed_after(1, options, monkeypatch)
    if is_older:
        path = tmp_path / "lms" / "fold-0" / "checkpoints" / "last.ckpt"
        saved = torch.load(path, weights_only=False)
        torch.save({name: value for name, value in saved.items() if name != "trained_on"}, path)
    with threads(2):
        train_lm(options)
    made = read_manifest(fold_path(tmp_path / "lms", 0), "lm-fold")
    assert made["trained_on"] == [*([] if is_older else [begun]), {"from_epoch": 2, "device": "cpu", "threads": 2}]


def test_models_of_an_older_release_are_read(lms, tmp_path):
    shutil.copytree(lms, tmp_path / "lms")
    manifest = fold_path(tmp_path / "lms", 0) / "manifest.json"
    write_json(manifest, {name: value for name, value in read_json(manifest).items() if name != "trained_on"})
    load_fold(tmp_path / "lms", 0, device="cpu")
    assert "trained_on" not in read_manifest(fold_path(tmp_path / "lms", 0), "lm-fold")


def killed_after(n_epochs, options, monkeypatch):
    """Training that ends when epoch `n_epochs` + 1 begins."""
    from swag_af.lm.lstm import fitting

    whole_run = fitting._EpochLines.on_train_epoch_start

    def stop(self, trainer, module):
        if trainer.current_epoch == n_epochs:
            raise KeyboardInterrupt
        whole_run(self, trainer, module)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fitting._EpochLines, "on_train_epoch_start", stop)
        train_lm(options)


def test_a_folder_of_unfinished_models_that_was_moved_keeps_the_best_epoch(contexts_path, tmp_path, monkeypatch):
    """Steps that spoil the model: its first epoch is the best."""
    spoilt = replace(TINY, epochs=2, learning_rate=0.1, recurrent_dropout=0.0, embedding_dropout=0.0)
    options = TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=spoilt)
    (straight,) = train_lm(replace(options, out=tmp_path / "straight")).values()
    assert straight["best_epoch"] == 1
    killed_after(1, options, monkeypatch)
    (tmp_path / "lms").rename(tmp_path / "moved")
    train_lm(replace(options, out=tmp_path / "moved"))
    name = "fold-0/weights.safetensors"
    assert (tmp_path / "moved" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()


def test_training_that_diverges_is_told_in_one_line(contexts_path, tmp_path):
    wild = replace(TINY, epochs=1, learning_rate=20.0)
    with pytest.raises(InputError, match=r"fold 0 .*diverged.* lower --learning-rate"):
        train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=wild))
    assert not (tmp_path / "lms" / "fold-0" / "manifest.json").exists()


def test_training_leaves_the_global_generator_alone(contexts_path, tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", folds=(1,), lm=replace(TINY, epochs=1)))
    assert torch.equal(torch.rand(1), expected)


def test_a_folder_of_models_begun_with_other_options_is_refused(contexts_path, lms):
    with pytest.raises(InputError, match=r"hidden \(24, now 32\)"):
        train_lm(TrainLMOptions(contexts_path, lms, lm=replace(TINY, hidden=32)))


def test_an_unknown_fold_is_refused(contexts_path, tmp_path):
    with pytest.raises(InputError, match="has folds 0, 1"):
        train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", folds=(7,), lm=TINY))


def test_folds_are_those_of_the_contexts_and_each_is_trained_once(contexts_path, tmp_path):
    """Of folds 0 and 2 a model 1 was trained as well, and a fold named twice shared its threads with itself."""
    gap = tmp_path / "gap.jsonl"
    rows = [row | {"fold": 2 * row["fold"]} for _, row in read_jsonl(contexts_path)]
    write_jsonl(gap, rows)
    reports = train_lm(TrainLMOptions(gap, tmp_path / "lms", folds=(2, 2), lm=replace(TINY, epochs=1)))
    assert list(reports) == [2]
    with pytest.raises(InputError, match="has folds 0, 2"):
        train_lm(TrainLMOptions(gap, tmp_path / "lms", folds=(1,), lm=replace(TINY, epochs=1)))


def test_a_damaged_checkpoint_is_named(contexts_path, tmp_path, monkeypatch):
    killed = tmp_path / "lms"
    killed_after(1, TrainLMOptions(contexts_path, killed, folds=(0,), lm=TINY), monkeypatch)
    last = killed / "fold-0/checkpoints/last.ckpt"
    last.write_bytes(last.read_bytes()[:1000])
    with pytest.raises(FormatError, match=r"last\.ckpt: damaged .* Remove"):
        train_lm(TrainLMOptions(contexts_path, killed, folds=(0,), lm=TINY))


def test_checkpoints_are_there_whole_or_not_at_all(contexts_path, tmp_path, monkeypatch):
    """Through a folder for temporary files of another disk they were copied, and a kill left half of one."""
    moved = []
    monkeypatch.setattr("shutil.move", lambda *names: moved.append(names))
    train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=replace(TINY, epochs=1)))
    assert not moved


def test_damaged_weights_are_named(contexts_path, lms, tmp_path):
    import shutil

    copy = tmp_path / "lms"
    shutil.copytree(lms, copy)
    (copy / "fold-0" / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(FormatError, match=r"weights\.safetensors: damaged"):
        load_fold(copy, 0, device="cpu")
