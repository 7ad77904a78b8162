"""The verb `generate`: contexts and language models in, a pool of candidates out, row by row.

A row depends on the seed, the context's own words and the models alone: not on shards, limits, batches,
interruptions, or on how many processes share the work. Memory does not grow with the number of contexts.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions.context_set import read_contexts, read_contexts_manifest, read_dropped
from swag_af.data.context import Context
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.files import check_same, read_manifest, remove_leftovers, sha256_file, write_manifest
from swag_af.data.folds import FoldMap
from swag_af.data.pool.assembly import tagged
from swag_af.data.pool.drafts import ShardDraft, draft_path
from swag_af.data.pool.folder import (
    FEATURES,
    SHARDS,
    check_finite,
    finish_pool,
    pad,
    read_shard_entry,
    smallest_uint,
)
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.progress import Advance, progress
from swag_af.data.scale import share
from swag_af.data.tags import Tagger, load_tagger
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.candidates import (
    Row,
)
from swag_af.lm.lstm.checkpoints import check_fold, fold_path, is_trained, open_vocabulary, options_of
from swag_af.lm.lstm.corpus import corpus_hash, pairs_of
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.lstm.generator import LSTMGenerator
from swag_af.lm.lstm.train import train_lm
from swag_af.lm.options import GenerateOptions, LMOptions, Precision, TrainLMOptions
from swag_af.nn.device import pick_device

MOST_SHARDS = 64
"""Every shard keeps a file a table open, and systems allow a process about a thousand."""


def generate(options: GenerateOptions) -> CandidatePool:
    """Train what is missing, sample, score, tag and write; returns the pool opened from disk.

    All that can be checked is checked before the models are trained.
    """
    if options.shard is not None or options.dry_run:
        raise InputError("generate makes a whole pool. Call make_shards for a --shard, estimate for a --dry-run.")
    make_shards(options)
    return CandidatePool.open(options.out)


def make_shards(options: GenerateOptions) -> tuple[int, int]:
    """Make the shards that `options.shard` names, or all; returns how many stand now, and of how many.

    Whoever finds all shards made writes the manifest that makes them a pool.
    """
    job = prepare(options)
    _train_missing_folds(job)
    _check_corpus(job)
    plan = job.settings | {"lms": _weights(options.lms, job.contexts)}
    if _is_complete(options.out, plan):
        return len(job.groups), len(job.groups)
    vocabulary = tagged(open_vocabulary(options.lms), job.tagger)
    _Maker(job, vocabulary).make_shards()
    entries = [read_shard_entry(options.out, number) for number in range(len(job.groups))]
    made = [entry for entry in entries if entry is not None]
    if len(made) == len(entries):
        _join(job, vocabulary, made, plan)
    return len(made), len(entries)


@dataclass(frozen=True)
class Job:
    """What is to be made, checked against what stands in its folder; nothing is written yet."""

    options: GenerateOptions
    every_context: list[Context]
    contexts: list[Context]
    """Those that the options choose."""
    groups: list[list[Context]]
    """The contexts of each shard."""
    tagger: Tagger
    device: str
    precision: Precision
    settings: dict[str, Any]
    """What decides the bytes of the pool beside the models; a resumed run must have the same."""


def prepare(options: GenerateOptions) -> Job:
    """Read and check all that can be checked before any model is trained or loaded."""
    every_context = read_contexts(options.contexts)
    contexts = _choose(every_context, options)
    n_rows = options.shard_rows or max(64, -(-len(contexts) // MOST_SHARDS))
    groups = [contexts[at : at + n_rows] for at in range(0, len(contexts), n_rows)]
    tagger, device = load_tagger(options.tagger), pick_device(options.device).type
    precision: Precision = "fp32"
    if options.output_precision == "bf16" or (options.output_precision == "auto" and device == "cuda"):
        precision = "bf16"
    names = ("n_negatives", "min_tokens", "max_tokens", "max_draws", "features", "limit", "shard_rows", "seed")
    settings = {name: getattr(options, name) for name in names} | {
        "folds": list(options.folds),
        "tagger": tagger.name,
        "device": device,
        "output_precision": precision,
        "contexts_sha256": sha256_file(options.contexts),
    }
    if (options.out / "manifest.json").exists():
        begun = read_manifest(options.out, "pool").get("plan", {})
        check_same({name: begun.get(name) for name in settings}, settings, options.out, "--out")
    if options.part is not None and options.part[1] > len(groups):
        raise InputError(
            f"--shard {options.shard}: there are only {len(groups)} shards of {n_rows} contexts. "
            "Take a smaller N, or a smaller --shard-rows."
        )
    return Job(options, every_context, contexts, groups, tagger, device, precision, settings)


def _choose(contexts: list[Context], options: GenerateOptions) -> list[Context]:
    chosen = [context for context in contexts if not options.folds or context.fold in options.folds]
    if not chosen:
        raise InputError(f"--folds {' '.join(map(str, options.folds))}: {options.contexts} has no contexts in them.")
    if options.limit is not None and options.limit < len(chosen):
        picked = np.random.default_rng(options.seed).permutation(len(chosen))[: options.limit]
        chosen = [chosen[i] for i in sorted(picked.tolist())]
    return chosen


def missing_folds(job: Job) -> tuple[int, ...]:
    """The folds whose models are still to be trained."""
    return tuple(fold for fold in sorted({c.fold for c in job.contexts}) if not is_trained(job.options.lms, fold))


def lm_options(options: GenerateOptions) -> LMOptions:
    """Those of the folder of models where it has been begun, ours otherwise; InputError when ours contradict."""
    if not (options.lms / "manifest.json").exists():
        return options.lm
    begun = options_of(read_manifest(options.lms, "lm"), options.lms)
    if options.lm != LMOptions():
        check_same(asdict(begun), asdict(options.lm), options.lms, "--lms")
    return begun


def _train_missing_folds(job: Job) -> None:
    options, missing = job.options, missing_folds(job)
    lm, seed = lm_options(options), options.seed
    if missing and options.shard is not None:
        raise InputError(
            f"{options.lms}: fold {missing[0]} is not trained, and processes that share a pool would train it at "
            f"once. Run `swag-af train-lm {options.contexts} --out {options.lms}` first."
        )
    if (options.lms / "manifest.json").exists():
        seed = read_manifest(options.lms, "lm")["seed"]
    if missing:
        train_lm(
            TrainLMOptions(
                options.contexts,
                options.lms,
                missing,
                use_dropped=options.use_dropped,
                lm=lm,
                device=options.device,
                seed=seed,
            )
        )


def _check_corpus(job: Job) -> None:
    """The models must come from these contexts: other folds would let a model sample against what it has learnt."""
    options = job.options
    manifest = read_manifest(options.lms, "lm")
    vocabulary = open_vocabulary(options.lms)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    if corpus_hash(pairs_of(job.every_context, dropped, vocabulary)) != manifest["corpus_sha256"]:
        raise InputError(
            f"{options.lms}: trained on other pairs than those of {options.contexts}, so its folds may have seen these "
            "endings. Train anew with another --lms, or pass the contexts it was trained on."
        )


def _weights(lms: Path, contexts: Sequence[Context]) -> dict[str, str]:
    """The hash of the weights of every fold that is used, each checked, and the map of what they have read."""
    folds = sorted({context.fold for context in contexts})
    FoldMap.load(lms)
    for fold in folds:
        check_fold(lms, fold)
    return {str(fold): read_manifest(fold_path(lms, fold), "lm-fold")["weights_sha256"] for fold in folds}


def _is_complete(path: Path, plan: dict[str, Any]) -> bool:
    """Begin the folder, or find it begun under the same plan; whether nothing is left to do."""
    remove_leftovers(path)
    remove_leftovers(path / SHARDS)
    if not (path / "manifest.json").exists():
        write_manifest(path, "pool", {"complete": False, "plan": plan})
        return False
    manifest = read_manifest(path, "pool")
    check_same(manifest.get("plan", {}), plan, path, "--out")
    return bool(manifest["complete"])


class _Maker:
    """Makes the shards of a job, one after another."""

    def __init__(self, job: Job, vocabulary: Vocabulary):
        options = job.options
        self.job = job
        self.out = options.out
        self.vocabulary = vocabulary
        self.generator = LSTMGenerator(
            options.lms,
            job.every_context,
            options.min_tokens,
            options.max_tokens,
            options.max_draws,
            options.live_rows,
            job.device,
            job.precision,
        )
        self.widest_start = max(len(tokenize(context.start)) for context in job.contexts)
        K, L = 1 + options.n_negatives, options.max_tokens
        self.row_tables = {
            "tokens": np.zeros((K, L), vocabulary.id_dtype),
            "lengths": np.zeros(K, smallest_uint(L)),
            "features": np.zeros((K, len(FEATURES)), np.float32),
        }

    def make_shards(self) -> None:
        """Those that are this process's to make and are not there yet."""
        groups = dict(share(list(enumerate(self.job.groups)), self.job.options.part))
        done = {number for number in groups if read_shard_entry(self.out, number) is not None}
        n_done = sum(len(groups[number]) for number in done)
        with progress("generate", sum(map(len, groups.values())), "contexts", done=n_done) as advance:
            tally = _Tally(advance)
            for number, group in groups.items():
                if number in done:
                    shutil.rmtree(draft_path(self.out, number), ignore_errors=True)
                else:
                    self._make_shard(number, group, tally)

    def _make_shard(self, number: int, group: list[Context], tally: "_Tally") -> None:
        draft = ShardDraft(self.out, number, len(group), self.row_tables)
        settled = draft.done()
        tally.begin_shard(n_settled=len(settled))
        todo = [position for position in range(len(group)) if position not in settled]
        contexts, options = [group[position] for position in todo], self.job.options
        lazy = options.features == "lazy"
        for i, made in self.generator.rows(contexts, options.n_negatives, seed=options.seed, lazy=lazy):
            if isinstance(made, str):
                draft.drop(todo[i], made)
                tally.dropped()
            else:
                rejected = asdict(made.rejected)
                draft.keep(todo[i], self._tables(made), n_draws=made.n_draws, rejected=rejected)
                tally.kept(made)
        dtype = self.vocabulary.id_dtype
        starts, lengths = pad((self.vocabulary.ids(tokenize(c.start)) for c in group), dtype, width=self.widest_start)
        counts = np.full(len(group), 1 + options.n_negatives, np.uint32)
        more = {"starts": starts, "start_lengths": lengths.astype(np.uint16), "counts": counts}
        draft.finish(group, more, tally.of_shard())

    def _tables(self, row: Row) -> dict[str, np.ndarray]:
        known = np.delete(row.features, BACKWARD, axis=1) if self.job.options.features == "lazy" else row.features
        check_finite(known[None], f"{self.job.options.lms}")
        made = {"tokens": row.tokens, "lengths": row.lengths, "features": row.features}
        return {name: made[name].astype(pattern.dtype) for name, pattern in self.row_tables.items()}


class _Tally:
    """Counts what is made, for the bar and for each shard's `timing.json`."""

    def __init__(self, advance: Advance):
        self.advance = advance
        self.started = time.perf_counter()
        self.n_endings = self.n_dropped = 0
        self.begin_shard(n_settled=0)

    def begin_shard(self, *, n_settled: int) -> None:
        self.before = time.perf_counter(), self.n_endings, self.n_dropped
        if n_settled:
            self.advance(n_settled)

    def kept(self, row: Row) -> None:
        self.n_endings += len(row.lengths)
        self._show()

    def dropped(self) -> None:
        self.n_dropped += 1
        self._show()

    def of_shard(self) -> dict[str, float]:
        started, n_endings, n_dropped = self.before
        seconds, made = time.perf_counter() - started, self.n_endings - n_endings
        return {
            "seconds": round(seconds, 3),
            "n_endings": made,
            "endings_per_second": round(made / seconds, 1),
            "n_dropped": self.n_dropped - n_dropped,
        }

    def _show(self) -> None:
        rate = self.n_endings / (time.perf_counter() - self.started)
        self.advance(1, note=f"{rate:,.0f} endings/s, {self.n_dropped} contexts dropped")


def _join(job: Job, vocabulary: Vocabulary, entries: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """Make a pool of the shards."""
    options = job.options
    drops, rejected = Counter[str](), Counter[str]()
    for entry in entries:
        drops.update(entry["drops"])
        rejected.update(entry["rejected_draws"])
    if not sum(int(entry["n_rows"]) for entry in entries):
        why = ", ".join(f"{n} {reason}" for reason, n in drops.items())
        raise ExhaustedError(
            f"{options.out}: none of {len(job.contexts)} contexts gave {options.n_negatives} endings ({why}). "
            "Remove the folder, and lower --n-negatives or mend the contexts."
        )
    made: dict[str, Any] = {
        "plan": plan,
        "tagger": job.tagger.name,
        "n_draws": sum(int(entry["n_draws"]) for entry in entries),
        "rejected_draws": dict(rejected),
        "drops": dict(drops),
        "lms": {fold: read_manifest(fold_path(options.lms, int(fold)), "lm-fold") for fold in plan["lms"]},
        "contexts": (read_contexts_manifest(options.contexts) or {}).get("drops"),
        "made_by": {"verb": "generate", "options": asdict(replace(options, shard=None, live_rows=None))},
    }
    if options.features == "lazy":
        made["lazy_features"] = [FEATURES[column] for column in BACKWARD]
        made["lms_path"] = os.path.relpath(options.lms.resolve(), options.out.resolve())
    finish_pool(options.out, vocabulary, entries, made)
