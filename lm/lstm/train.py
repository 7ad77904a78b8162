"""The verb `train-lm`: the language models of all folds, each resumable at its last finished epoch (`fitting`).

Where there are books, one model is pretrained on them first, in the same way, and every fold starts from it.
Models are blocks of `swag_af.data.scale`: whoever trains one holds its lock, so a driver that was killed and typed
again waits for a worker that outlived it.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from swag_af.data.captions.context_set import read_contexts, read_dropped
from swag_af.data.disk.files import write_jsonl
from swag_af.data.disk.manifests import MANIFEST, check_ours, read_manifest
from swag_af.data.disk.replacing import remove, remove_leftovers
from swag_af.data.errors import InputError, takes_options
from swag_af.data.scale import run_blocks
from swag_af.data.vocabulary import Vocabulary
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import note, progress
from swag_af.lm.lstm.books import Books, book_hashes, books_corpus, find_books, read_books
from swag_af.lm.lstm.checkpoints import (
    BEGUN,
    CHECKPOINTS,
    CURVE,
    epochs_done,
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
    FoldCorpus,
    Pair,
    caption_vocabulary,
    corpus_hash,
    fold_corpus,
    fold_map,
    pairs_of,
    videos_outside,
)
from swag_af.lm.lstm.golds import Bounds, unfit_golds, unfit_lines
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.lstm.telling import Diary, Listener, Shown, followed
from swag_af.lm.lstm.workers import n_trainers
from swag_af.lm.options import GenerateOptions, TrainLMOptions
from swag_af.nn.device import pick_device
from swag_af.nn.threads import threads

PRETRAINING = 1 << 20
"""Stands for the fold in the randomness of pretraining; no fold has this number."""


@takes_options
def train_lm(options: TrainLMOptions) -> dict[int, dict[str, Any]]:
    """Pretrain if asked to, then train every fold asked for that is not finished yet; returns the reports of those that
    were trained by this run.

    Other runs may train into the same folder: a model that one of them is at work on is waited for, not trained twice.
    """
    return train_for(options, Bounds(GenerateOptions.min_tokens, GenerateOptions.max_tokens))


def train_for(options: TrainLMOptions, bounds: Bounds) -> dict[int, dict[str, Any]]:
    """What `train_lm` does, for a `generate` that samples endings within `bounds`: it warns of golds that have no such
    ones."""
    check_ours("train-lm", options.out, *BEGUN)
    corpora = _Corpora(options)
    folds = corpora.folds_asked()
    if not options.where.is_remote:
        pick_device(options.device)  # InputError where there is none of this kind
    has_books = corpora.check(folds)
    corpora.begin()
    for folder in (pretrained_path(options.out), *(fold_path(options.out, fold) for fold in folds)):
        if is_finished(folder):
            with alone(folder):  # killed between its manifest and this; its lock goes too
                remove(folder / CHECKPOINTS)
    missing = [fold for fold in folds if not is_trained(options.out, fold)]
    if not missing:
        return {}
    for line in unfit_lines(unfit_golds(corpora.contexts, corpora.vocabulary, bounds)):
        note(line)
    blocks = [_Block(fold, f"fold {fold} ({i} of {len(missing)})") for i, fold in enumerate(missing, start=1)]
    stages = [_Stage([_Block(PRETRAINING, "pretraining")], 1)] if has_books else []
    reports = _trained(options, corpora, [*stages, _Stage(blocks, len(folds))])
    return {fold: report for fold, report in reports.items() if fold != PRETRAINING and report is not None}


class _Block(NamedTuple):
    """One model to train."""

    fold: int
    """The fold, or PRETRAINING."""
    label: str


class _Stage(NamedTuple):
    """Models that do not wait for each other."""

    blocks: Sequence[_Block]
    """Those that are still to be trained."""
    n_models: int
    """How many there were to begin with, among whom the threads are shared."""


def _trained(
    options: TrainLMOptions, corpora: "_Corpora", stages: Sequence[_Stage]
) -> dict[int, dict[str, Any] | None]:
    """The report of each model, None where another run has trained it; a stage begins when the one before is done."""
    tasks = {block.fold: corpora.task(block) for stage in stages for block in stage.blocks}
    n_tokens = {fold: task.epochs * task.n_tokens for fold, task in tasks.items()}
    done = {fold: epochs_done(task.folder) * task.n_tokens for fold, task in tasks.items()}
    reports: dict[int, dict[str, Any] | None] = {}
    with progress("train-lm", sum(n_tokens.values()), "tokens", done=sum(done.values())) as advance:
        shown = Shown(n_tokens, done, advance)
        for blocks, n_models in stages:
            left = sum(n_tokens[block.fold] - done[block.fold] for block in blocks)
            workers = _workers(options, n_models, left, len(corpora.vocabulary))
            job = _TrainJob(options, threads_each(options, n_models), corpora, shown)
            diaries = {block.fold: _diary_of(tasks[block.fold]) for block in blocks}
            with (
                followed(diaries, shown.reach),
                run_blocks(job, blocks, workers=workers, engine=options.where) as made,
            ):
                for block, (report, lines) in zip(blocks, made, strict=True):
                    reports[block.fold] = report
                    shown.reach(block.fold, n_tokens[block.fold], f"{block.label} is done", lines)
    return reports


def threads_each(options: TrainLMOptions, n_models: int) -> int:
    """Threads that learn each of `n_models`: an equal share of this process's, whoever trains and wherever, since the
    last bits of the weights depend on it; all of them where a GPU computes."""
    n = torch.get_num_threads()
    on_gpu = not options.where.is_remote and pick_device(options.device).type != "cpu"
    return n if on_gpu else max(1, n // n_models)


def _workers(options: TrainLMOptions, n_models: int, n_tokens: int, n_types: int) -> int | None:
    """How many train; None for as many as a cluster has room for."""
    if options.where.is_remote:
        return options.workers
    return n_trainers(options.workers, pick_device(options.device).type, n_models, n_tokens, n_types, options.lm)


@dataclass(frozen=True)
class _TrainJob:
    """Models to be trained, in this process or in others, which read the data again."""

    options: TrainLMOptions
    threads: int
    """That learn each model."""
    corpora: "_Corpora | None" = None
    shown: Shown | None = None
    """In the process that was started."""

    @property
    def cores(self) -> int:
        """Cores that a worker of a cluster is asked for."""
        return 1 if self.options.where.gpus_per_task else self.threads

    def open(self) -> Callable[[_Block], "_Made"]:
        """Read the data; returns what trains one model."""
        return partial(self._train, self.corpora or _Corpora(self.options))

    def _train(self, corpora: "_Corpora", block: _Block) -> "_Made":
        folder = corpora.folder(block.fold)
        with alone(folder), threads(self.threads):
            if is_finished(folder):
                return _Made(None)
            task = corpora.task(block)
            if self.shown:
                return _Made(_train(task, len(corpora.vocabulary), self.options, self.shown.near(block.fold)))
            diary = Diary(_diary_of(task), epochs_done(task.folder) * task.n_tokens)
            return _Made(_train(task, len(corpora.vocabulary), self.options, diary), diary.lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return _TrainJob, (self.options, self.threads)


class _Made(NamedTuple):
    """What became of a model."""

    report: dict[str, Any] | None
    """None where another run has trained it."""
    lines: Sequence[str] = ()
    """Those that its training had to say, perhaps not shown yet."""


def _diary_of(task: "_Task") -> Path:
    """Goes with the checkpoints."""
    return task.folder / CHECKPOINTS / "told.json"


class _Corpora:
    """What all models read, and what each of them reads of it."""

    def __init__(self, options: TrainLMOptions):
        self.options = options
        self.contexts = read_contexts(options.contexts)
        self.dropped = read_dropped(options.contexts) if options.use_dropped else []

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Of all models."""
        return caption_vocabulary(self.contexts, self.dropped, min_count=self.options.lm.min_count)

    @cached_property
    def pairs(self) -> list[Pair]:
        """All captions that are learnt from."""
        return pairs_of(self.contexts, self.dropped, self.vocabulary)

    @cached_property
    def books(self) -> list[Path]:
        """Those to pretrain on."""
        return find_books(self.options.pretrain)

    @cached_property
    def pretraining(self) -> Books | None:
        """What the books have, where there are any and pretraining is not finished."""
        if not self.options.pretrain or is_finished(pretrained_path(self.options.out)):
            return None
        return read_books(self.books, self.vocabulary)

    def folds_asked(self) -> tuple[int, ...]:
        """The folds to train; InputError for one that there is not."""
        there = sorted({context.fold for context in self.contexts})
        folds = tuple(dict.fromkeys(self.options.folds)) or tuple(there)
        if not set(folds) <= set(there):
            some = f"{', '.join(map(str, there[:20]))}{' ...' if len(there) > 20 else ''}"
            raise InputError(f"--folds {' '.join(map(str, folds))}: {self.options.contexts} has folds {some}.")
        return folds

    def check(self, folds: Sequence[int]) -> bool:
        """Raise InputError or ExhaustedError where a model has not enough to read, before any folder is begun; whether
        there is one to pretrain."""
        for fold in folds:
            if not is_trained(self.options.out, fold):
                videos_outside(self.pairs, fold)
        if self.pretraining is None:
            return False
        books_corpus(self.pretraining, self.options.lm.held_out, rng=np.random.default_rng(0))
        return True

    def begin(self) -> None:
        """Begin the folder of models, or go on with it."""
        options, hashes = self.options, book_hashes(self.books) if self.options.pretrain else None
        read = fold_map(self.contexts, self.dropped)
        with alone(options.out / MANIFEST):
            open_lm_folder(
                options.out, options.lm, corpus_hash(self.pairs), self.vocabulary, read, options.seed, hashes
            )

    def folder(self, fold: int) -> Path:
        """Where a model lives."""
        return pretrained_path(self.options.out) if fold == PRETRAINING else fold_path(self.options.out, fold)

    def task(self, block: _Block) -> "_Task":
        """All that is needed to train a model of a folder that was begun."""
        fold, options = block.fold, self.options
        rng = np.random.default_rng((options.seed, fold))
        if fold == PRETRAINING:
            read = self.pretraining
            assert read is not None, "a model that is trained is not finished"
            corpus = books_corpus(read, options.lm.held_out, rng=rng)
            return _Task(self.folder(fold), fold, corpus, options.lm.pretrain_epochs, None, block.label, read.drops)
        corpus = fold_corpus(self.pairs, fold, options.lm.held_out, rng=rng)
        start = pretrained_path(options.out) if read_manifest(options.out, "lm").get("books_sha256") else None
        return _Task(self.folder(fold), fold, corpus, options.lm.epochs, start, block.label)


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


def _train(task: _Task, n_types: int, asked: TrainLMOptions, listener: Listener) -> dict[str, Any]:
    """Train one model, going on from its last finished epoch, and save it in its folder."""
    from swag_af.lm.lstm.fitting import Training, fit, quiet_lightning, torch_seed  # Lightning takes seconds to load

    started = time.perf_counter()
    options, seed, device = asked.lm, asked.seed, pick_device(asked.device).type
    remove_leftovers(task.folder)
    quiet_lightning()
    with torch.random.fork_rng():
        torch.manual_seed(torch_seed(seed, task.fold, 0))
        model = new_model(n_types, options)
        if task.start is not None:
            load_weights(task.start, model)
        module = Training(model, task.corpus, options, seed=seed, fold=task.fold)
        best = fit(module, task.folder, task.epochs, task.label, listener, device=device)
    module.load_state_dict(best["state_dict"])
    model = module.model.to(device).eval()
    report = {"best_epoch": int(best["epoch"]) + 1} | _perplexities(model, task, options.batch_size, device)
    _check_learned(task, report["held_out_perplexity"])
    report |= {"n_types": n_types, "trained_on": module.trained_on}
    write_jsonl(task.folder / CURVE, module.curve)
    if task.start is not None:
        report["pretrained_sha256"] = read_manifest(task.start, "lm-pretrained")["weights_sha256"]
    if task.fold == PRETRAINING:
        save_model(task.folder, "lm-pretrained", model, report | {"drops": task.drops})
    else:
        report = {"fold": task.fold} | report
        save_model(task.folder, "lm-fold", model, report)
    remove(task.folder / CHECKPOINTS)
    return report | {"seconds": time.perf_counter() - started}


def _perplexities(model: BidirectionalLM, task: _Task, batch_size: int, device: str) -> dict[str, Any]:
    """Perplexity on the pairs held out and on the fold's own, and how many pairs there are of each kind."""
    from swag_af.lm.lstm.fitting import perplexity

    corpus = task.corpus
    found: dict[str, Any] = {"held_out_perplexity": perplexity(model, corpus.held_out, batch_size, device)}
    counts = {"n_train_pairs": len(corpus.train), "n_held_out_pairs": len(corpus.held_out)}
    if task.fold != PRETRAINING:
        found["fold_perplexity"] = perplexity(model, corpus.fold, batch_size, device)
        counts["n_fold_pairs"] = len(corpus.fold)
    return found | counts


def _check_learned(task: _Task, held_out: Mapping[str, float]) -> None:
    """Raise InputError where even the best epoch has no finite perplexity: such a model samples nothing."""
    if any(map(math.isinf, held_out.values())):
        raise InputError(
            f"{task.folder}: {task.label}: the training diverged, and no epoch has a finite perplexity. Train into "
            "another --out with a lower --learning-rate."
        )
