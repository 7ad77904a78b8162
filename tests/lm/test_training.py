"""Training the language models: hand-written gradients against torch's own, pretraining, resume, reports."""

import itertools
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from slow.recurrence import slow_layer, slow_loss
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from swag_af.cli.runs import making
from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.captions.contexts import make_contexts
from swag_af.data.captions.options import ContextRules
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.syntax.splitters import load_splitter
from swag_af.data.work.locks import alone
from swag_af.lm.lstm import telling
from swag_af.lm.lstm.checkpoints import fold_path, is_trained, load_fold, new_model
from swag_af.lm.lstm.corpus import directions
from swag_af.lm.lstm.network import BidirectionalLM, HighwayLSTMLayer
from swag_af.lm.lstm.reader import OutputLayer, Reader
from swag_af.lm.lstm.telling import Diary, Shown, followed
from swag_af.lm.lstm.train import threads_each, train_lm
from swag_af.lm.lstm.workers import n_trainers, token_operations, training_operations
from swag_af.lm.options import GenerateOptions, LMOptions, TrainLMOptions
from swag_af.lm.verb import generate
from swag_af.nn import gradients, products
from swag_af.nn.threads import threads

TINY = LMOptions(hidden=24, epochs=2, batch_size=16, learning_rate=1e-2, min_count=1)


def assert_same_gradients(one: Tensor, other: Tensor, inputs: list[Tensor]) -> None:
    """Two scalars have the same value and the same gradient by each of the inputs."""
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)
    pairs = zip(torch.autograd.grad(one, inputs), torch.autograd.grad(other, inputs), strict=True)
    for fast, slow in pairs:
        torch.testing.assert_close(fast, slow, rtol=1e-4, atol=2e-6 * (1 + float(slow.abs().max())))


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize(("rows", "n_in", "n_out"), [(1, 3, 5), (33, 16, 8), (200, 24, 100)])
def test_linear_equals_torch(rows, n_in, n_out):
    torch.manual_seed(rows)
    x, weight, bias, probe = random(rows, n_in), random(n_out, n_in), random(n_out), torch.randn(rows, n_out)
    one = (products.linear(x, weight, bias) * probe).sum()
    other = (nn.functional.linear(x, weight, bias) * probe).sum()
    assert_same_gradients(one, other, [x, weight, bias])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("steps", "rows", "hidden"), [(1, 1, 8), (6, 1, 24), (5, 3, 16), (9, 32, 64)])
def test_the_recurrence_equals_single_steps(steps, rows, hidden, masked):
    torch.manual_seed(steps)
    layer, x, h, c = HighwayLSTMLayer(hidden), random(steps, rows, hidden), random(rows, hidden), random(rows, hidden)
    mask = torch.empty(rows, hidden).bernoulli_(0.8) / 0.8 if masked else None
    probe_y, probe_c = torch.randn(steps, rows, hidden), torch.randn(rows, hidden)
    y, (last_h, last_c) = layer(x, (h, c), mask)
    slow_y, slow_c = slow_layer(layer, x, (h, c), mask)
    torch.testing.assert_close(y, slow_y)
    one = (y * probe_y).sum() + (last_c * probe_c).sum() + (last_h * probe_c).sum()
    other = (slow_y * probe_y).sum() + (slow_c * probe_c).sum() + (slow_y[-1] * probe_c).sum()
    assert_same_gradients(one, other, [x, h, c, *layer.parameters()])


@pytest.mark.parametrize(("rows", "hidden", "n_types"), [(1, 8, 5), (31, 16, 40), (300, 24, 700)])
@pytest.mark.parametrize("tile_bytes", [1, 31 << 20])
def test_the_output_layer_equals_softmax_and_log(rows, hidden, n_types, tile_bytes, monkeypatch):
    monkeypatch.setattr(gradients, "TILE_BYTES", tile_bytes)
    torch.manual_seed(rows)
    x, weight, bias = random(rows, hidden), random(n_types, hidden), random(n_types)
    targets = torch.randint(n_types, (rows,))
    mean, nats = gradients.cross_entropy(x, targets, weight, bias, divisor=rows)
    logits = nn.functional.linear(x, weight, bias)
    torch.testing.assert_close(nats, nn.functional.cross_entropy(logits, targets, reduction="none"))
    assert_same_gradients(3 * mean, 3 * nn.functional.cross_entropy(logits, targets), [x, weight, bias])


def test_a_hopeless_target_costs_its_full_nats_instead_of_infinitely_many():
    weight = torch.tensor([[200.0], [0.0], [-200.0]])
    _, nats = gradients.cross_entropy(torch.ones(1, 1), torch.tensor([2]), weight, torch.zeros(3), divisor=1)
    assert nats.item() == pytest.approx(400.0)


def test_without_gradients_the_loss_is_the_same_and_nothing_is_kept():
    torch.manual_seed(0)
    x, weight, bias, targets = random(40, 16), random(90, 16), random(90), torch.randint(90, (40,))
    learnt, _ = gradients.cross_entropy(x, targets, weight, bias, divisor=40)
    with torch.no_grad():
        read, _ = gradients.cross_entropy(x, targets, weight, bias, divisor=40)
    assert read.item() == learnt.item()
    assert not read.requires_grad


def batch_of(*sequences: tuple[int, ...]) -> dict[str, tuple[Tensor, Tensor]]:
    made = directions(sequences)
    return {name: (torch.from_numpy(inputs), torch.from_numpy(targets)) for name, (inputs, targets) in made.items()}


BATCHES = [batch_of((5, 6, 7)), batch_of((5,)), batch_of((5, 6, 5, 5, 9), (7, 8), (11, 4, 4, 10))]


@pytest.mark.parametrize("batch", BATCHES)
def test_a_model_learns_what_plain_torch_would(batch):
    torch.manual_seed(3)
    model = BidirectionalLM(12, 16, 2)
    loss, each = model.losses(batch)
    assert_same_gradients(loss, slow_loss(model, batch), list(model.parameters()))
    assert sum(each.values()).item() == pytest.approx(loss.item(), rel=1e-5)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_all_paths_learn_the_same(batch, dropout, monkeypatch):
    torch.manual_seed(3)
    model = BidirectionalLM(12, 16, 2, recurrent_dropout=dropout, embedding_dropout=dropout).train()
    torch.manual_seed(4)
    fused, _ = model.losses(batch)
    monkeypatch.setattr(products, "serves", lambda x: False)
    torch.manual_seed(4)
    plain, _ = model.losses(batch)
    assert_same_gradients(fused, plain, list(model.parameters()))
    torch.manual_seed(4)
    again, _ = model.losses(batch)
    monkeypatch.setattr(products, "is_launched", lambda x: True)  # as on a GPU
    torch.manual_seed(4)
    together, _ = model.losses(batch)
    assert_same_gradients(again, together, list(model.parameters()))


@pytest.mark.parametrize("masked", [False, True])
def test_directions_read_together_are_those_read_alone(masked):
    torch.manual_seed(0)
    layers = [HighwayLSTMLayer(16) for _ in range(2)]
    projected, h, c = random(7, 2, 3, 96), random(2, 3, 16), random(2, 3, 16)
    mask = torch.empty(2, 3, 16).bernoulli_(0.8) / 0.8 if masked else None
    weights = torch.stack([layer.from_state.weight for layer in layers])
    outputs, last = gradients.highway_lstm(projected, weights, h, c, mask)
    alone = [
        gradients.highway_lstm(projected[:, i], weights[i], h[i], c[i], None if mask is None else mask[i])
        for i in range(2)
    ]
    torch.testing.assert_close(outputs, torch.stack([one for one, _ in alone], dim=1))
    probe = torch.randn(7, 2, 3, 16)
    one = (outputs * probe).sum() + last.sum()
    other = sum((alone[i][0] * probe[:, i]).sum() + alone[i][1].sum() for i in range(2))
    inputs = [projected, h, c, *(layer.from_state.weight for layer in layers)]
    assert_same_gradients(one, other, inputs)


@pytest.mark.parametrize("batch", BATCHES[1:])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_mixed_precision_learns_what_fp32_does_but_for_rounding(batch, dropout, has_bf16):
    torch.manual_seed(3)
    model = BidirectionalLM(40, 64, 2, recurrent_dropout=dropout, embedding_dropout=dropout).train()
    found = []
    for mixed in (False, True):
        torch.manual_seed(4)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed):
            assert products.serves(model.embedding) == (has_bf16 or not mixed)
            loss, _ = model.losses(batch)
        gradients_of = torch.autograd.grad(loss, list(model.parameters()))
        assert {one.dtype for one in (loss, *gradients_of)} == {torch.float32}
        found.append((loss.item(), torch.cat([one.flatten() for one in gradients_of])))
    (whole, exact), (rounded, close) = found
    assert rounded != whole
    assert rounded == pytest.approx(whole, rel=0.01)
    assert float(nn.functional.cosine_similarity(exact, close, dim=0)) > 0.999


def test_other_kinds_of_autocast_are_left_to_torch():
    x = torch.zeros(2, 3)
    with torch.autocast("cpu", dtype=torch.float16):
        assert not products.serves(x)
        assert products.kind_of_products(x) == torch.float32
    assert not products.serves(x.double())


def test_operations_of_training_are_those_that_torch_counts(monkeypatch):
    monkeypatch.setattr(products, "serves", lambda x: False)  # oneDNN's products are not counted
    lm, n_types, n_tokens = LMOptions(hidden=32, layers=3), 256, 4 * 40
    model = new_model(n_types, lm)
    with FlopCounterMode(display=False) as counted:
        model.losses(batch_of(*[tuple(range(5, 45))] * 4))[0].backward()
    # Slightly fewer: no gradient goes back to the state before the first step.
    assert counted.get_total_flops() == pytest.approx(2 * n_tokens * training_operations(n_types, lm), rel=0.01)


def test_operations_of_reading_are_those_that_torch_counts(monkeypatch):
    monkeypatch.setattr(products, "has_onednn", lambda: False)
    lm, n_types = LMOptions(hidden=32, layers=3), 256
    model = new_model(n_types, lm).eval()
    reader = Reader(model, "forward", OutputLayer(model))
    n = reader.tile
    state, after = reader.no_state(n), reader.no_state(n)
    with torch.inference_mode(), FlopCounterMode(display=False) as counted:
        reader.output(reader.step(torch.zeros(n, 6 * lm.hidden), state, after))
    assert counted.get_total_flops() == n * token_operations(n_types, lm)


def test_the_gradient_of_the_shared_embedding_may_not_be_asked_for_twice():
    model = BidirectionalLM(12, 16, 1)
    loss, _ = model.losses(BATCHES[0])
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        loss.backward()


@pytest.fixture(scope="module")
def contexts_path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("captions") / "contexts.jsonl"
    rules, rng = ContextRules(min_token_count=1, n_folds=2), np.random.default_rng(0)
    made, dropped = make_contexts(sample_videos(40), load_splitter("trees"), rules, rng=rng)
    write_contexts(path, made, dropped, {})
    return path


@pytest.fixture(scope="module")
def book_path(tmp_path_factory) -> Path:
    """A book made of the captions' own words, so that the vocabulary knows them."""
    path = tmp_path_factory.mktemp("shelf") / "rooms.txt"
    text = "\n\n".join(
        f"The {who} walks to the {what}. {who.title()} sits down and looks at the {what}. Then the {who} washes it."
        for who in ("man", "woman", "boy", "girl", "dog")
        for what in ("table", "car", "room", "sink", "ball", "wall")
    )
    path.write_text(f"CHAPTER I\n\n{text}\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pretrained(contexts_path, book_path) -> Path:
    path = contexts_path.parent / "lms"
    train_lm(TrainLMOptions(contexts_path, path, folds=(0,), lm=TINY, pretrain=(book_path,)))
    return path


def test_pretraining_is_done_once_and_every_fold_starts_from_it(contexts_path, book_path, pretrained):
    weights = pretrained / "pretrained" / "weights.safetensors"
    before = weights.stat().st_mtime_ns
    train_lm(TrainLMOptions(contexts_path, pretrained, lm=TINY, pretrain=(book_path,)))
    assert weights.stat().st_mtime_ns == before
    report = read_json(pretrained / "pretrained" / "manifest.json")
    assert report["kind"] == "lm-pretrained"
    assert report["held_out_perplexity"]["forward"] > 1
    assert report["drops"]["pairs"] == report["drops"]["kept"] + sum(
        n for reason, n in report["drops"].items() if reason not in ("pairs", "kept")
    )
    assert report["drops"]["kept"] == report["n_train_pairs"] + report["n_held_out_pairs"]
    for fold in (0, 1):
        assert read_json(pretrained / f"fold-{fold}" / "manifest.json")["pretrained_sha256"] == report["weights_sha256"]


def test_a_pretrained_fold_is_another_than_one_that_is_not(contexts_path, pretrained, tmp_path):
    train_lm(TrainLMOptions(contexts_path, tmp_path / "plain", folds=(0,), lm=TINY))
    plain, _ = load_fold(tmp_path / "plain", 0, device="cpu")
    started, _ = load_fold(pretrained, 0, device="cpu")
    assert not torch.equal(plain.embedding, started.embedding)


def test_finished_pretraining_needs_its_books_no_more(contexts_path, pretrained):
    train_lm(TrainLMOptions(contexts_path, pretrained, folds=(1,), lm=TINY))
    assert "pretrained_sha256" in read_json(pretrained / "fold-1" / "manifest.json")


def test_train_lm_says_how_much_of_the_books_was_learnt_from(contexts_path, pretrained, book_path, tmp_path, capsys):
    lms = tmp_path / "lms"
    shutil.copytree(pretrained, lms)
    shutil.rmtree(lms / "fold-0")
    making.train_lm(TrainLMOptions(contexts_path, lms, folds=(0,), lm=TINY, pretrain=(book_path,)))
    drops = read_json(lms / "pretrained" / "manifest.json")["drops"]
    assert f"{drops['kept']:,} of {drops['pairs']:,} pairs of sentences" in capsys.readouterr().out


def test_passes_over_books_are_refused_without_books(contexts_path, pretrained, tmp_path):
    """They did nothing, and a command without them was then refused: begun with other pretrain_epochs."""
    often, lms, pool = replace(TINY, pretrain_epochs=3), tmp_path / "lms", tmp_path / "pool"
    said = r"--pretrain-epochs 3: goes with books, and .*lms has none\. Leave it out, or name books by --pretrain"
    for _ in range(2):
        with pytest.raises(InputError, match=said):
            train_lm(TrainLMOptions(contexts_path, lms, (0,), lm=often))
        with pytest.raises(InputError, match=said):
            generate(GenerateOptions(contexts_path, lms, pool, n_negatives=2, limit=2, folds=(0,), lm=often))
        train_lm(TrainLMOptions(contexts_path, lms, (0,), lm=TINY))  # the second time the folder is there
    with pytest.raises(InputError, match=r"pretrain_epochs \(2, now 3\)"):
        train_lm(TrainLMOptions(contexts_path, pretrained, (0,), lm=often))


def test_passes_over_books_that_older_folders_recorded_without_books_hinder_nobody(contexts_path, tmp_path):
    lms = tmp_path / "lms"
    train_lm(TrainLMOptions(contexts_path, lms, (0,), lm=TINY))
    manifest = read_json(lms / "manifest.json")
    write_json(lms / "manifest.json", manifest | {"options": manifest["options"] | {"pretrain_epochs": 3}})
    train_lm(TrainLMOptions(contexts_path, lms, (0,), lm=TINY))
    pool = generate(GenerateOptions(contexts_path, lms, tmp_path / "pool", n_negatives=2, limit=2, lm=TINY))
    assert len(pool) == 2
    assert (lms / "fold-1" / "manifest.json").exists()


def test_other_books_are_refused(contexts_path, pretrained, book_path, tmp_path):
    other = tmp_path / "rooms.txt"
    other.write_text(book_path.read_text(encoding="utf-8") + "\nThe end of it.\n", encoding="utf-8")
    with pytest.raises(InputError, match="begun with other books_sha256"):
        train_lm(TrainLMOptions(contexts_path, pretrained, lm=TINY, pretrain=(other,)))


def test_books_are_refused_for_models_begun_without(contexts_path, book_path, tmp_path):
    train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=replace(TINY, epochs=1)))
    with pytest.raises(InputError, match="books_sha256"):
        train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", lm=replace(TINY, epochs=1), pretrain=(book_path,)))


def test_killed_pretraining_resumes_to_the_same_weights(contexts_path, book_path, pretrained, tmp_path, monkeypatch):
    from swag_af.lm.lstm import fitting

    options = TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=TINY, pretrain=(book_path,))
    whole_run = fitting._EpochLines.on_train_epoch_start

    def stop_at_second_epoch(self, trainer, module):
        if trainer.current_epoch == 1:
            raise KeyboardInterrupt
        whole_run(self, trainer, module)

    with monkeypatch.context() as patch:
        patch.setattr(fitting._EpochLines, "on_train_epoch_start", stop_at_second_epoch)
        with pytest.raises(KeyboardInterrupt):
            train_lm(options)
    assert (options.out / "pretrained" / "checkpoints" / "last.ckpt").exists()
    with pytest.raises(InputError, match="unfinished"):
        train_lm(replace(options, pretrain=()))
    train_lm(options)
    for name in ("pretrained/weights.safetensors", "fold-0/weights.safetensors"):
        assert (options.out / name).read_bytes() == (pretrained / name).read_bytes()


def test_training_says_which_of_how_many_and_how_fast(contexts_path, tmp_path, capsys):
    train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", lm=replace(TINY, epochs=1)))
    lines = capsys.readouterr().err
    assert "fold 1 (2 of 2), epoch 1 of 1: held-out perplexity" in lines
    assert "tokens/s" in lines


def test_folds_side_by_side_are_those_of_one_process_and_told_of_as_well(contexts_path, tmp_path, capsys):
    lm, made = replace(TINY, epochs=2), []
    for workers in (1, 2):
        with threads(2):
            options = TrainLMOptions(contexts_path, tmp_path / f"{workers}", lm=lm, workers=workers)
            train_lm(options)
        lines = capsys.readouterr().err
        for fold, epoch in itertools.product((0, 1), (1, 2)):
            assert lines.count(f"fold {fold} ({fold + 1} of 2), epoch {epoch} of 2: held-out perp") == 1
        assert [one["threads"] for one in read_json(fold_path(options.out, 1) / "manifest.json")["trained_on"]] == [1]
        made.append([path.read_bytes() for path in sorted(options.out.glob("fold-*/weights.safetensors"))])
        assert not list(options.out.rglob("told*"))
    assert made[0] == made[1]


def test_a_fold_asked_for_alone_has_all_threads(contexts_path, tmp_path):
    options = TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,))
    with threads(3):
        assert threads_each(options, 1) == 3
        assert threads_each(options, 2) == 1
        assert threads_each(options, 5) == 1


def test_as_many_learn_side_by_side_as_there_are_threads_and_models():
    n_tokens, n_types, lm = 5_000_000, 10_000, LMOptions()
    with threads(3):
        assert n_trainers(None, "cpu", 5, n_tokens, n_types, lm) == 3
        assert n_trainers(None, "cpu", 2, n_tokens, n_types, lm) == 2
        assert n_trainers(None, "cpu", 5, 100, n_types, lm) == 1
        assert n_trainers(None, "cuda", 5, n_tokens, n_types, lm) == 2
        assert n_trainers(None, "cuda", 5, 100_000, n_types, lm) == 1
        assert n_trainers(4, "cpu", 5, 100, n_types, lm) == 4
    with threads(1):
        assert n_trainers(None, "cuda", 5, n_tokens, n_types, lm) == 1


def test_a_diary_is_followed_from_where_it_changes(tmp_path, monkeypatch):
    """What a killed run wrote is passed over, and nothing is counted twice where a worker begins anew."""
    monkeypatch.setattr(telling, "SECONDS_APART", 0.01)
    diaries = {fold: tmp_path / f"{fold}" / "told.json" for fold in (0, 1)}
    Diary(diaries[0], 90).say("of a killed run")
    done: list[tuple[int, str]] = []
    shown = Shown({0: 100, 1: 100}, {0: 50, 1: 0}, lambda n, note: done.append((n, note)))

    def settled(n: int) -> bool:
        deadline = time.monotonic() + 20
        while sum(n for n, _ in done) < n and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        return sum(n for n, _ in done) == n

    with followed(diaries, shown.reach):
        assert settled(0)
        Diary(diaries[0], 50).tell(10, "on")
        assert settled(10)
        Diary(diaries[1], 0).tell(20, "first")
        assert settled(30)
        lost = Diary(diaries[1], 0)  # the first was lost; another begins anew
        lost.tell(5, "second")
        lost._written = -1.0
        lost.tell(20, "second")
        assert settled(35)
    shown.reach(1, 100, "is done")
    assert sum(n for n, _ in done) == 110


def test_a_fold_that_another_run_is_at_work_on_is_waited_for(contexts_path, pretrained, tmp_path, capsys):
    """As after the death of a driver whose worker lives on: the fold is not trained a second time."""
    options = TrainLMOptions(contexts_path, tmp_path / "lms", folds=(0,), lm=TINY)
    waiting = threading.Event()

    def finish() -> None:
        with alone(fold_path(options.out, 0)):
            waiting.set()
            while "Waiting until it is done" not in told:
                told.append(capsys.readouterr().err.partition("is at work on this. ")[2].partition(".")[0])
                time.sleep(0.01)
            shutil.copytree(pretrained / "fold-0", fold_path(options.out, 0))

    told: list[str] = []
    other = threading.Thread(target=finish)
    other.start()
    waiting.wait()
    assert train_lm(options) == {}
    other.join()
    weights = "fold-0/weights.safetensors"
    assert (options.out / weights).read_bytes() == (pretrained / weights).read_bytes()
    assert sorted(path.name for path in options.out.iterdir()) == [
        *("fold-0", "folds.json", "manifest.json", "vocabulary.tsv")
    ]


def test_a_bad_book_is_refused_before_the_folder_is_begun(contexts_path, tmp_path):
    book = tmp_path / "rooms.txt"
    book.write_bytes(b"The caf\xe9 was shut.")
    with pytest.raises(InputError, match="not UTF-8"):
        train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", lm=TINY, pretrain=(book,)))
    assert not (tmp_path / "lms").exists()


def test_too_little_to_learn_from_is_refused_before_the_folder_is_begun(contexts_path, tmp_path):
    """The folder that was begun was in the way of the mended command."""
    few, book = tmp_path / "few.jsonl", tmp_path / "rooms.txt"
    made = [replace(context, fold=0) for context in read_contexts(contexts_path)]
    write_contexts(few, made, [], {})
    with pytest.raises(ExhaustedError, match="fold 0: 0 videos outside the fold"):
        train_lm(TrainLMOptions(few, tmp_path / "lms", lm=TINY))
    book.write_text("The man walks to the table. He sits down and looks at the table.", encoding="utf-8")
    with pytest.raises(ExhaustedError, match="one pair of sentences is not enough"):
        train_lm(TrainLMOptions(contexts_path, tmp_path / "lms", lm=TINY, pretrain=(book,)))
    assert not (tmp_path / "lms").exists()


def test_models_are_not_begun_among_somebody_elses_files_but_after_a_kill(contexts_path, pretrained, tmp_path):
    """They came to lie beside a thesis; a vocabulary and folds without a manifest are left by a run that was killed."""
    theirs, killed = tmp_path / "theirs", tmp_path / "killed"
    for folder in (theirs, killed):
        folder.mkdir()
    (theirs / "thesis.txt").write_text("mine")
    for name in ("vocabulary.tsv", "folds.json"):
        shutil.copy(pretrained / name, killed)
    with pytest.raises(InputError, match="was not made by train-lm"):
        train_lm(TrainLMOptions(contexts_path, theirs, (0,), lm=TINY))
    assert [one.name for one in theirs.iterdir()] == ["thesis.txt"]
    train_lm(TrainLMOptions(contexts_path, killed, (0,), lm=TINY))
    assert is_trained(killed, 0)
