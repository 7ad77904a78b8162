"""One language model fitted by Lightning, from its last finished epoch on: batches, loss, optimiser, checkpoints.

The order of batches depends on (seed, fold, epoch) and dropout on (seed, fold, epoch, batch) alone, so a run that was
killed and resumed ends in the same weights as one that was not. What is read and where it is kept is said by `train`.
"""

import logging
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, ModelCheckpoint
from pytorch_lightning.plugins.environments import LightningEnvironment
from pytorch_lightning.plugins.io import TorchCheckpointIO
from torch import Tensor
from torch.utils.data import DataLoader

from swag_af.data.disk.replacing import replacing
from swag_af.lm.lstm.checkpoints import CHECKPOINTS, last_checkpoint
from swag_af.lm.lstm.corpus import DIRECTIONS, FoldCorpus, batches, directions
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.lstm.telling import Listener
from swag_af.lm.options import LMOptions

Sequences = Sequence[tuple[int, ...]]

Batch = dict[str, tuple[Tensor, Tensor]]
"""For each direction the (T, B) ids that are read and those that follow them."""


def fit(
    module: "Training", folder: Path, epochs: int, label: str, listener: Listener, *, device: str
) -> dict[str, Any]:
    """Let Lightning train `module`, which lives in `folder`, to its last epoch; returns the checkpoint of the best one.

    `listener` is told how it goes; `label` is the model's name in notes.
    """
    keeper = _Checkpoints(
        folder / CHECKPOINTS, filename="best", monitor="held_out_nll", save_last=True, enable_version_counter=False
    )
    trainer = pl.Trainer(
        accelerator="gpu" if device == "cuda" else "cpu",
        devices=1,
        max_epochs=epochs,
        precision=module.options.precision,
        # one process, also where Slurm or torchrun has started this one
        plugins=[LightningEnvironment(), _WholeFiles()],
        logger=False,
        callbacks=[keeper, _EpochLines(label, listener)],
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
    with _interrupts_as_usual():
        trainer.fit(module, ckpt_path=last_checkpoint(folder), weights_only=False)
    found: dict[str, Any] = torch.load(keeper.best_model_path, map_location="cpu", weights_only=False)
    return found


class _WholeFiles(TorchCheckpointIO):
    """Checkpoints that are there whole or not at all: Lightning moves them out of the folder for temporary files, which
    is a copy where that is of another disk."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        """Write `checkpoint` beside `path`, then put it in its place."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with replacing(Path(path)) as temporary:
            torch.save(checkpoint, temporary)


class Training(pl.LightningModule):
    """What Lightning needs to know: batches, loss, optimiser."""

    def __init__(self, model: BidirectionalLM, corpus: FoldCorpus, options: LMOptions, *, seed: int, fold: int):
        super().__init__()
        self.model = model
        self.corpus = corpus
        self.options = options
        self.seed = seed
        self.fold = fold
        self.trained_on: list[dict[str, Any]] = []
        """Device and threads, and the epoch from which on (1, 2, ...): another entry where a resumed run had others."""
        self.curve: list[dict[str, Any]] = []
        """Of every finished epoch its number (1, 2, ...) and mean nats a token, read and held out; None where those are
        no finite number."""

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint |= {"trained_on": self.trained_on, "curve": self.curve}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.trained_on = list(checkpoint.get("trained_on", ()))  # older ones do not say
        self.curve = list(checkpoint.get("curve", ()))

    def on_train_start(self) -> None:
        here = {"device": self.device.type, "threads": torch.get_num_threads()}
        if not self.trained_on or self.trained_on[-1] | here != self.trained_on[-1]:
            self.trained_on.append({"from_epoch": self.current_epoch + 1, **here})

    def train_dataloader(self) -> DataLoader:
        rng = np.random.default_rng((self.seed, self.fold, self.current_epoch))
        return _loader(self.corpus.train, batches(self.corpus.train, self.options.batch_size, rng=rng))

    def val_dataloader(self) -> DataLoader:
        return _loader(self.corpus.held_out, batches(self.corpus.held_out, self.options.batch_size, rng=None))

    def on_train_epoch_start(self) -> None:
        self.nats, self.n_tokens = 0.0, 0

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        torch.manual_seed(torch_seed(self.seed, self.fold, 1 + self.current_epoch, batch_index))
        loss, _ = self.model.losses(batch)
        n_tokens = _n_tokens(batch)
        self.nats += n_tokens * float(loss.detach()) / len(DIRECTIONS)
        self.n_tokens += n_tokens
        return loss

    def validation_step(self, batch: Batch, _: int) -> None:
        n_tokens = _n_tokens(batch)
        loss, each = self.model.losses(batch)
        for name, nats in each.items():
            self.log(f"held_out_nll_{name}", nats, batch_size=n_tokens)
        self.log("held_out_nll", loss / len(DIRECTIONS), batch_size=n_tokens)

    def on_validation_epoch_end(self) -> None:
        nats = {"train_nll": self.nats / self.n_tokens}  # before checkpoints are saved, which keep it
        nats |= {name: float(self.trainer.callback_metrics[name]) for name in map("held_out_nll_{}".format, DIRECTIONS)}
        finite = {name: value if math.isfinite(value) else None for name, value in nats.items()}
        self.curve.append({"epoch": self.current_epoch + 1, **finite})

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
    return {name: _exp(total / n_tokens) if n_tokens else math.nan for name, total in nats.items()}


def _exp(nats: float) -> float:
    """The perplexity; infinite where no float holds it, as after steps that were too large."""
    return math.exp(nats) if nats < math.log(sys.float_info.max) else math.inf


def _loader(sequences: Sequences, groups: list[np.ndarray]) -> DataLoader:
    dataset: Any = groups  # a list is one, too, but for its class
    return DataLoader(dataset, batch_size=None, shuffle=False, collate_fn=partial(_batch, sequences))


def _batch(sequences: Sequences, index: np.ndarray) -> Batch:
    """The sequences at `index` as the network reads them."""
    made = directions([sequences[i] for i in index])
    return {name: (torch.from_numpy(inputs), torch.from_numpy(targets)) for name, (inputs, targets) in made.items()}


def _n_tokens(batch: Batch) -> int:
    """The tokens that each direction predicts."""
    return int((batch[DIRECTIONS[0]][1] != 0).sum())


def torch_seed(*parts: int) -> int:
    """A seed of torch's for what `parts` name: seed, fold, epoch, batch."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint32)[0])


class _Checkpoints(ModelCheckpoint):
    """Checkpoints whose folder may have been moved since: Lightning would forget which epoch was the best."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        here, there = str(self.dirpath), str(state_dict["dirpath"])

        def moved(value: Any) -> Any:
            return here + value.removeprefix(there) if isinstance(value, str) and value.startswith(there) else value

        best = {moved(path): score for path, score in state_dict["best_k_models"].items()}
        known = {name: moved(value) for name, value in state_dict.items()}
        super().load_state_dict(known | {"best_k_models": best})


class _EpochLines(Callback):
    """One line an epoch, for logs that no one watches live, and the progress of all models together."""

    def __init__(self, label: str, listener: Listener):
        self.label = label
        self.listener = listener
        self.started = 0.0
        self.n_tokens = 0

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.started = time.perf_counter()
        self.n_tokens = 0
        self.note = f"{self.label}, epoch {trainer.current_epoch + 1} of {trainer.max_epochs}"

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, _: int
    ) -> None:
        n = _n_tokens(batch)
        self.n_tokens += n
        self.seconds = time.perf_counter() - self.started
        self.listener.tell(n, self.note)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        values = {name: _exp(float(trainer.callback_metrics[f"held_out_nll_{name}"])) for name in DIRECTIONS}
        self.listener.say(
            f"{self.note}: held-out perplexity {values['forward']:.1f} forward, {values['backward']:.1f} backward, "
            f"{time.perf_counter() - self.started:.0f} s, {self.n_tokens / self.seconds:,.0f} tokens/s"
        )


@contextmanager
def _interrupts_as_usual() -> Iterator[None]:
    """Lightning answers Ctrl-C by ignoring the signal from then on and exiting; callers expect KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():  # no signal comes here, and none may be set
        yield
        return
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
