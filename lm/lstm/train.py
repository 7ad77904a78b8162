"""Training the language models of all folds with Lightning, each resumable at its last finished epoch.

Where there are books, one model is pretrained on them first, in the same way, and every fold starts from it.
The order of batches depends on (seed, fold, epoch) and dropout on (seed, fold, epoch, batch) alone, so a run that
was killed and resumed ends in the same weights as one that was not.
"""

import logging
import math
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, ModelCheckpoint
from pytorch_lightning.loggers import TensorBoardLogger
from torch import Tensor
from torch.utils.data import DataLoader

from swag_af.data.captions.context_set import read_contexts, read_dropped
from swag_af.data.errors import InputError
from swag_af.data.files import read_manifest, remove_leftovers
from swag_af.data.progress import Advance, progress
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.books import book_hashes, books_corpus, find_books, read_books
from swag_af.lm.lstm.checkpoints import (
    fold_path,
    is_finished,
    is_trained,
    load_weights,
    new_model,
    open_lm_folder,
    pretrained_path,
    save_model,
)
from swag_af.lm.lstm.corpus import (
    DIRECTIONS,
    FoldCorpus,
    batches,
    caption_vocabulary,
    corpus_hash,
    directions,
    fold_corpus,
    fold_map,
    pairs_of,
)
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.options import LMOptions, TrainLMOptions
from swag_af.nn.device import pick_device

Sequences = Sequence[tuple[int, ...]]

Batch = dict[str, tuple[Tensor, Tensor]]
"""For each direction the (T, B) ids that are read and those that follow them."""

PRETRAINING = 1 << 20
"""Stands for the fold in the randomness of pretraining; no fold has this number."""


def train_lm(options: TrainLMOptions) -> dict[int, dict[str, Any]]:
    """Pretrain if asked to, then train every fold asked for that is not finished yet; returns each fold's report."""
    contexts = read_contexts(options.contexts)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    n_folds = 1 + max(context.fold for context in contexts)
    folds = options.folds or tuple(range(n_folds))
    if not set(folds) <= set(range(n_folds)):
        raise InputError(f"--folds {' '.join(map(str, folds))}: {options.contexts} has folds 0 to {n_folds - 1}.")
    device = pick_device(options.device).type
    vocabulary = caption_vocabulary(contexts, dropped, min_count=options.lm.min_count)
    pairs = pairs_of(contexts, dropped, vocabulary)
    pretraining, hashes = _pretraining(options, vocabulary)
    folds_read = fold_map(contexts, dropped)
    manifest = open_lm_folder(options.out, options.lm, corpus_hash(pairs), vocabulary, folds_read, options.seed, hashes)
    start = pretrained_path(options.out) if manifest.get("books_sha256") else None
    missing = [fold for fold in folds if not is_trained(options.out, fold)]
    for folder in (pretrained_path(options.out), *(fold_path(options.out, fold) for fold in folds)):
        if is_finished(folder):  # killed between its manifest and this
            shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    tasks = [pretraining] if pretraining and missing else []
    for i, fold in enumerate(missing, start=1):
        corpus = fold_corpus(pairs, fold, options.lm.held_out, rng=np.random.default_rng((options.seed, fold)))
        label = f"fold {fold} ({i} of {len(missing)})"
        tasks.append(_Task(fold_path(options.out, fold), fold, corpus, options.lm.epochs, start, label))
    if not tasks:
        return {}
    reports = {}
    n_tokens = sum(task.epochs * task.n_tokens for task in tasks)
    done = sum(task.epochs_done() * task.n_tokens for task in tasks)
    with progress("train-lm", n_tokens, "tokens", done=done) as advance:
        for task in tasks:
            reports[task.fold] = _train(task, len(vocabulary), options.lm, advance, seed=options.seed, device=device)
    return {fold: report for fold, report in reports.items() if fold != PRETRAINING}


def _pretraining(options: TrainLMOptions, vocabulary: Vocabulary) -> tuple["_Task | None", dict[str, str] | None]:
    """What pretraining is still to do, and the hashes of the books; the books are read before any folder is begun."""
    if not options.pretrain:
        return None, None
    books, folder = find_books(options.pretrain), pretrained_path(options.out)
    if is_finished(folder):
        return None, book_hashes(books)
    rng = np.random.default_rng((options.seed, PRETRAINING))
    read = read_books(books, vocabulary)
    corpus = books_corpus(read, options.lm.held_out, rng=rng)
    task = _Task(folder, PRETRAINING, corpus, options.lm.pretrain_epochs, None, "pretraining", read.drops)
    return task, book_hashes(books)


@dataclass(frozen=True)
class _Task:
    """One model to train: where it lives, what it reads and how often, and the finished model it starts from."""

    folder: Path
    fold: int
    """The fold, or PRETRAINING."""
    corpus: FoldCorpus
    epochs: int
    start: Path | None
    label: str
    drops: dict[str, int] | None = None
    """Of the pretraining: the pairs that the books had and those left out, by reason."""

    @property
    def n_tokens(self) -> int:
        """Tokens of an epoch."""
        return sum(map(len, self.corpus.train))

    @property
    def last_checkpoint(self) -> Path | None:
        """The last finished epoch of an earlier, killed run."""
        path = self.folder / "checkpoints" / "last.ckpt"
        return path if path.exists() else None

    def epochs_done(self) -> int:
        """How many epochs an earlier run has finished."""
        if self.last_checkpoint is None:
            return 0
        saved = torch.load(self.last_checkpoint, map_location="cpu", mmap=True, weights_only=False)
        return int(saved["epoch"]) + 1


def _train(
    task: _Task, n_types: int, options: LMOptions, advance: Advance, *, seed: int, device: str
) -> dict[str, Any]:
    """Train one model, going on from its last finished epoch, and save it in its folder."""
    started = time.perf_counter()
    remove_leftovers(task.folder)
    quiet_lightning()
    with torch.random.fork_rng():
        torch.manual_seed(_torch_seed(seed, task.fold, 0))
        model = new_model(n_types, options)
        if task.start is not None:
            load_weights(task.start, model)
        module = Training(model, task.corpus, options, seed=seed, fold=task.fold)
        best = _fit(module, task, options, advance, device=device)
    module.load_state_dict(best["state_dict"])
    model = module.model.to(device).eval()
    report = {"best_epoch": int(best["epoch"]) + 1} | _perplexities(model, task, options.batch_size, device)
    report |= {"n_types": n_types}
    if task.start is not None:
        report["pretrained_sha256"] = read_manifest(task.start, "lm-pretrained")["weights_sha256"]
    if task.fold == PRETRAINING:
        save_model(task.folder, "lm-pretrained", model, report | {"drops": task.drops})
    else:
        report = {"fold": task.fold} | report
        save_model(task.folder, "lm-fold", model, report)
    shutil.rmtree(task.folder / "checkpoints")
    return report | {"seconds": time.perf_counter() - started}


def _fit(module: "Training", task: _Task, options: LMOptions, advance: Advance, *, device: str) -> dict[str, Any]:
    """Let Lightning train `module` to the task's last epoch; returns the checkpoint of the best one."""
    checkpoints = task.folder / "checkpoints"
    keeper = ModelCheckpoint(
        checkpoints, filename="best", monitor="held_out_nll", save_last=True, enable_version_counter=False
    )
    trainer = pl.Trainer(
        accelerator="gpu" if device == "cuda" else "cpu",
        devices=1,
        max_epochs=task.epochs,
        precision=options.precision,
        logger=TensorBoardLogger(task.folder, name="", version="tensorboard"),
        callbacks=[keeper, _EpochLines(task.label, advance)],
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
    with _interrupts_as_usual():
        trainer.fit(module, ckpt_path=task.last_checkpoint, weights_only=False)
    found: dict[str, Any] = torch.load(keeper.best_model_path, map_location="cpu", weights_only=False)
    return found


def _perplexities(model: BidirectionalLM, task: _Task, batch_size: int, device: str) -> dict[str, Any]:
    """Perplexity on the pairs held out and on the fold's own, and how many pairs there are of each kind."""
    corpus = task.corpus
    found: dict[str, Any] = {"held_out_perplexity": perplexity(model, corpus.held_out, batch_size, device)}
    counts = {"n_train_pairs": len(corpus.train), "n_held_out_pairs": len(corpus.held_out)}
    if task.fold != PRETRAINING:
        found["fold_perplexity"] = perplexity(model, corpus.fold, batch_size, device)
        counts["n_fold_pairs"] = len(corpus.fold)
    return found | counts


class Training(pl.LightningModule):
    """What Lightning needs to know: batches, loss, optimiser."""

    def __init__(self, model: BidirectionalLM, corpus: FoldCorpus, options: LMOptions, *, seed: int, fold: int):
        super().__init__()
        self.model = model
        self.corpus = corpus
        self.options = options
        self.seed = seed
        self.fold = fold

    def train_dataloader(self) -> DataLoader:
        rng = np.random.default_rng((self.seed, self.fold, self.current_epoch))
        return _loader(self.corpus.train, batches(self.corpus.train, self.options.batch_size, rng=rng))

    def val_dataloader(self) -> DataLoader:
        return _loader(self.corpus.held_out, batches(self.corpus.held_out, self.options.batch_size, rng=None))

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        torch.manual_seed(_torch_seed(self.seed, self.fold, 1 + self.current_epoch, batch_index))
        loss, _ = self.model.losses(batch)
        self.log("train_nll", loss.detach() / len(DIRECTIONS))
        return loss

    def validation_step(self, batch: Batch, _: int) -> None:
        n_tokens = int((batch["forward"][1] != 0).sum())
        loss, each = self.model.losses(batch)
        for name, nats in each.items():
            self.log(f"held_out_nll_{name}", nats, batch_size=n_tokens)
        self.log("held_out_nll", loss / len(DIRECTIONS), batch_size=n_tokens)

    def configure_optimizers(self) -> Any:
        options = self.options
        adam = torch.optim.Adam(self.parameters(), options.learning_rate, weight_decay=options.weight_decay, fused=True)
        return [adam], [torch.optim.lr_scheduler.StepLR(adam, options.decay_every, gamma=0.1)]

    def configure_gradient_clipping(self, *_: Any, **__: Any) -> None:
        """Lightning's own refuses a fused optimiser under bf16-mixed, for the sake of scalers, which bf16 has not."""
        torch.nn.utils.clip_grad_norm_(self.parameters(), self.options.clip_norm)


@torch.inference_mode()
def perplexity(model: BidirectionalLM, sequences: Sequences, batch_size: int, device: str) -> dict[str, float]:
    """Token perplexity in each direction: exp of the mean negative log-likelihood of all tokens.

    The released code averages per-sentence means instead, which weighs short sentences more.
    """
    nats = dict.fromkeys(DIRECTIONS, 0.0)
    n_tokens = sum(map(len, sequences))
    for index in batches(sequences, batch_size, rng=None):
        made = _batch(sequences, index)
        batch = {name: (inputs.to(device), targets.to(device)) for name, (inputs, targets) in made.items()}
        for name, loss in model.losses(batch)[1].items():
            nats[name] += float(loss) * sum(len(sequences[i]) for i in index)
    return {name: math.exp(total / n_tokens) if n_tokens else math.nan for name, total in nats.items()}


def _loader(sequences: Sequences, groups: list[np.ndarray]) -> DataLoader:
    return DataLoader(
        groups,  # type: ignore[arg-type]  # a list is a dataset too, but for its class
        batch_size=None,
        shuffle=False,
        collate_fn=partial(_batch, sequences),
    )


def _batch(sequences: Sequences, index: np.ndarray) -> Batch:
    """The sequences at `index` as the network reads them."""
    made = directions([sequences[i] for i in index])
    return {name: (torch.from_numpy(inputs), torch.from_numpy(targets)) for name, (inputs, targets) in made.items()}


def _torch_seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint32)[0])


class _EpochLines(Callback):
    """One line an epoch, for logs that no one watches live, and the progress of all models together."""

    def __init__(self, label: str, advance: Advance):
        self.label = label
        self.advance = advance
        self.started = 0.0
        self.n_tokens = 0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.started = time.perf_counter()
        self.n_tokens = 0
        self.note = f"{self.label}, epoch {trainer.current_epoch + 1} of {trainer.max_epochs}"

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, _: int
    ) -> None:
        n = int((batch[DIRECTIONS[0]][1] != 0).sum())
        self.n_tokens += n
        self.seconds = time.perf_counter() - self.started
        self.advance(n, note=self.note)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        values = {name: math.exp(float(trainer.callback_metrics[f"held_out_nll_{name}"])) for name in DIRECTIONS}
        print(
            f"{self.note}: held-out perplexity {values['forward']:.1f} forward, {values['backward']:.1f} backward, "
            f"{time.perf_counter() - self.started:.0f} s, {self.n_tokens / self.seconds:,.0f} tokens/s",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def _interrupts_as_usual() -> Iterator[None]:
    """Lightning answers Ctrl-C by ignoring the signal from then on and exiting; callers expect KeyboardInterrupt."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit:
        raise KeyboardInterrupt from None
    finally:
        signal.signal(signal.SIGINT, handler)


def quiet_lightning() -> None:
    """Lightning's greetings and hints about loaders are no business of the user's."""
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module="pytorch_lightning")
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
