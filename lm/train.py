"""Training the language models of all folds with Lightning, each resumable at its last finished epoch.

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
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, ModelCheckpoint, RichProgressBar
from pytorch_lightning.loggers import TensorBoardLogger
from torch import Tensor
from torch.utils.data import DataLoader

from swag_af.data.contexts import read_contexts, read_dropped
from swag_af.data.errors import InputError
from swag_af.data.files import remove_leftovers
from swag_af.lm.corpus import (
    DIRECTIONS,
    FoldCorpus,
    batches,
    caption_vocabulary,
    corpus_hash,
    directions,
    fold_corpus,
    pairs_of,
)
from swag_af.lm.network import BidirectionalLM
from swag_af.lm.options import LMOptions, TrainLM
from swag_af.lm.store import fold_path, is_trained, new_model, open_lm_folder, pick_device, save_fold

Sequences = Sequence[tuple[int, ...]]


def train_lm(options: TrainLM) -> dict[int, dict[str, Any]]:
    """Train every fold asked for that is not finished yet; returns each fold's report."""
    contexts = read_contexts(options.contexts)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    n_folds = 1 + max(context.fold for context in contexts)
    folds = options.folds or tuple(range(n_folds))
    if not set(folds) <= set(range(n_folds)):
        raise InputError(f"--folds {' '.join(map(str, folds))}: {options.contexts} has folds 0 to {n_folds - 1}.")
    device = pick_device(options.device)
    vocabulary = caption_vocabulary(contexts, dropped, min_count=options.lm.min_count)
    pairs = pairs_of(contexts, dropped, vocabulary)
    open_lm_folder(options.out, options.lm, corpus_hash(pairs), vocabulary, options.seed)
    reports = {}
    for fold in folds:
        if is_trained(options.out, fold):
            shutil.rmtree(fold_path(options.out, fold) / "checkpoints", ignore_errors=True)
            continue
        corpus = fold_corpus(pairs, fold, options.lm.held_out, rng=np.random.default_rng((options.seed, fold)))
        reports[fold] = train_fold(
            options.out, fold, corpus, len(vocabulary), options.lm, seed=options.seed, device=device
        )
    return reports


def train_fold(
    path: Path, fold: int, corpus: FoldCorpus, n_types: int, options: LMOptions, *, seed: int, device: str
) -> dict[str, Any]:
    """Train one fold's model, going on from its last finished epoch, and save it in the folder of models."""
    started = time.perf_counter()
    folder = fold_path(path, fold)
    checkpoints = folder / "checkpoints"
    remove_leftovers(folder)
    _quiet()
    with torch.random.fork_rng():
        torch.manual_seed(_torch_seed(seed, fold, 0))
        module = _Training(new_model(n_types, options), corpus, options, seed=seed, fold=fold)
        keeper = ModelCheckpoint(
            checkpoints, filename="best", monitor="held_out_nll", save_last=True, enable_version_counter=False
        )
        trainer = pl.Trainer(
            accelerator="gpu" if device == "cuda" else "cpu",
            devices=1,
            max_epochs=options.epochs,
            gradient_clip_val=options.clip_norm,
            precision=options.precision,
            logger=TensorBoardLogger(folder, name="", version="tensorboard"),
            callbacks=[keeper, *_progress(fold)],
            reload_dataloaders_every_n_epochs=1,
            num_sanity_val_steps=0,
            enable_model_summary=False,
            enable_progress_bar=sys.stderr.isatty(),
        )
        last = checkpoints / "last.ckpt"
        with _interrupts_as_usual():
            trainer.fit(module, ckpt_path=last if last.exists() else None, weights_only=False)
        best = torch.load(keeper.best_model_path, map_location="cpu", weights_only=False)
    module.load_state_dict(best["state_dict"])
    model = module.model.to(device).eval()
    report = {
        "fold": fold,
        "best_epoch": int(best["epoch"]) + 1,
        "held_out_perplexity": perplexity(model, corpus.held_out, options.batch_size, device),
        "fold_perplexity": perplexity(model, corpus.fold, options.batch_size, device),
        "n_train_pairs": len(corpus.train),
        "n_held_out_pairs": len(corpus.held_out),
        "n_fold_pairs": len(corpus.fold),
        "n_types": n_types,
    }
    save_fold(path, fold, model, report)
    shutil.rmtree(checkpoints)
    return report | {"seconds": time.perf_counter() - started}


class _Training(pl.LightningModule):
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

    def training_step(self, batch: dict[str, tuple[Tensor, Tensor]], batch_index: int) -> Tensor:
        torch.manual_seed(_torch_seed(self.seed, self.fold, 1 + self.current_epoch, batch_index))
        forward, backward = (self.model.loss(*batch[name], name) for name in DIRECTIONS)
        self.log("train_nll", (forward + backward) / 2, prog_bar=True)
        return forward + backward

    def validation_step(self, batch: dict[str, tuple[Tensor, Tensor]], _: int) -> None:
        n_tokens = int((batch["forward"][1] != 0).sum())
        forward, backward = (self.model.loss(*batch[name], name) for name in DIRECTIONS)
        self.log("held_out_nll_forward", forward, batch_size=n_tokens)
        self.log("held_out_nll_backward", backward, batch_size=n_tokens)
        self.log("held_out_nll", (forward + backward) / 2, batch_size=n_tokens, prog_bar=True)

    def configure_optimizers(self) -> Any:
        adam = torch.optim.Adam(self.parameters(), self.options.learning_rate, weight_decay=self.options.weight_decay)
        return [adam], [torch.optim.lr_scheduler.StepLR(adam, self.options.decay_every, gamma=0.1)]


@torch.inference_mode()
def perplexity(model: BidirectionalLM, sequences: Sequences, batch_size: int, device: str) -> dict[str, float]:
    """Token perplexity in each direction: exp of the mean negative log-likelihood of all tokens.

    The released code averages per-sentence means instead, which weighs short sentences more.
    """
    nats = dict.fromkeys(DIRECTIONS, 0.0)
    n_tokens = sum(map(len, sequences))
    for index in batches(sequences, batch_size, rng=None):
        chosen = [sequences[i] for i in index]
        for name, (inputs, targets) in directions(chosen).items():
            loss = model.loss(torch.from_numpy(inputs).to(device), torch.from_numpy(targets).to(device), name)
            nats[name] += float(loss) * sum(map(len, chosen))
    return {name: math.exp(total / n_tokens) if n_tokens else math.nan for name, total in nats.items()}


def _loader(sequences: Sequences, groups: list[np.ndarray]) -> DataLoader:
    def collate(index: np.ndarray) -> dict[str, tuple[Tensor, Tensor]]:
        made = directions([sequences[i] for i in index])
        return {name: (torch.from_numpy(inputs), torch.from_numpy(targets)) for name, (inputs, targets) in made.items()}

    return DataLoader(groups, batch_size=None, shuffle=False, collate_fn=collate)  # type: ignore[arg-type]


def _torch_seed(*parts: int) -> int:
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint32)[0])


class _EpochLines(Callback):
    """One line an epoch, for logs that no one watches live."""

    def __init__(self, fold: int):
        self.fold = fold
        self.started = 0.0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.started = time.perf_counter()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        values = {name: math.exp(float(trainer.callback_metrics[f"held_out_nll_{name}"])) for name in DIRECTIONS}
        epochs = trainer.max_epochs or 0
        seconds = time.perf_counter() - self.started
        left = (epochs - trainer.current_epoch - 1) * seconds
        print(
            f"fold {self.fold}, epoch {trainer.current_epoch + 1} of {epochs}: held-out perplexity "
            f"{values['forward']:.1f} forward, {values['backward']:.1f} backward, {seconds:.0f} s, about "
            f"{left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def _progress(fold: int) -> list[Callback]:
    return [_EpochLines(fold), RichProgressBar()] if sys.stderr.isatty() else [_EpochLines(fold)]


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


def _quiet() -> None:
    """Lightning's greetings and hints about loaders are no business of the user's."""
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module="pytorch_lightning")
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=".*isinstance.treespec, LeafSpec.*")
