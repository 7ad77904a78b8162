"""The verb `generate`: contexts and language models in, a pool of candidates out, row by row.

Here for the paper's LSTMs, whose rows have ids and features; generators of text are in `texts`. A row depends on the
seed, the context's own words and the models alone: not on shards, limits, batches, interruptions, or on how many
processes share the work. The process that is started keeps all contexts of the file and, for a while, the map of what
the models have read, less than 2 KB a context together (docs/SCALE.md); the others keep neither. Rows are in files as
they are made.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions.context_set import dropped_path_of, read_contexts, read_contexts_manifest, read_dropped
from swag_af.data.context import Context, DroppedPair
from swag_af.data.disk.manifests import (
    MANIFEST,
    check_ours,
    check_same,
    differences,
    read_manifest,
    sha256_file,
)
from swag_af.data.disk.replacing import remove, remove_leftovers
from swag_af.data.disk.urls import command, link
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ExhaustedError, FormatError, InputError, several, takes_options
from swag_af.data.folds import FoldMap
from swag_af.data.pool.assembly import tagged
from swag_af.data.pool.drafts import ShardDraft, draft_path
from swag_af.data.pool.folder import (
    FEATURES,
    SHARDS,
    finish_pool,
    pad,
    read_shard_entry,
)
from swag_af.data.pool.joining import begin, check_tables, is_whole, read_entries
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.scale import run_blocks, share
from swag_af.data.stores.opened import refresh
from swag_af.data.tags import Tagger, load_tagger
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import Vocabulary
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import Advance, note, progress
from swag_af.lm.choosing import check_ids, choice_of, copies_line, named, positions_of
from swag_af.lm.contract import READ
from swag_af.lm.lstm.checkpoints import check_fold, check_options, fold_path, is_trained, open_vocabulary, options_of
from swag_af.lm.lstm.corpus import caption_vocabulary, corpus_hash, each_pair
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.lstm.generator import LSTMGenerator
from swag_af.lm.lstm.golds import Bounds, advice_for, drop_counts, unfit_golds, unfit_lines
from swag_af.lm.lstm.train import train_for
from swag_af.lm.lstm.workers import n_workers
from swag_af.lm.options import GenerateOptions, LMOptions, Precision, TrainLMOptions
from swag_af.lm.reuse import check_models, open_reused, take_rows
from swag_af.lm.rows import Block, RowsJob, blocks_of, row_tables
from swag_af.lm.texts.making import make_texts
from swag_af.lm.texts.settings import is_text, lms_of
from swag_af.nn.device import pick_device

MOST_SHARDS = 64
"""Every shard keeps a file a table open, and systems allow a process about a thousand."""


@takes_options
def generate(options: GenerateOptions) -> CandidatePool:
    """Train what is missing, sample, score, tag and write; returns the pool opened from disk.

    All that can be checked is checked before the models are trained.
    """
    if options.shard is not None or options.dry_run:
        module, of_dry_run = ("texts.estimate", "estimate_texts") if is_text(options) else ("estimate", "estimate")
        raise InputError(
            "generate makes a whole pool. In Python, `swag_af.lm.verb.make_shards(options)` makes a --shard, and "
            f"`swag_af.lm.{module}.{of_dry_run}(options)` estimates for a --dry-run."
        )
    make_shards(options)
    return CandidatePool.open(options.out)


def make_shards(options: GenerateOptions) -> tuple[int, int]:
    """Make the shards that `options.shard` names, or all; returns how many stand now, and of how many.

    Whoever finds all shards made writes the manifest that makes them a pool. For generators of text, contexts are
    counted in place of shards.
    """
    if is_text(options):
        return make_texts(options)
    options = replace(options, lms=lms_of(options))
    job = prepare(options)
    if (options.lms / MANIFEST).exists():  # otherwise they are begun with these contexts
        _check_corpus(job)
    reasons = _reasons(job)
    if line := copies_line(job.contexts):
        note(line)
    are_trained = not missing_folds(job)
    _train_missing_folds(job)
    plan = job.settings | {"lms": _weights(options.lms, _folds(job))}
    check_models(job.reused, plan["lms"])
    n_shards, is_begun = len(job.groups), (options.out / MANIFEST).exists()
    if _is_complete(options.out, n_shards, plan):
        return n_shards, n_shards
    vocabulary = tagged(open_vocabulary(options.lms), job.tagger)
    for line in unfit_lines(reasons) if are_trained else ():  # or training has said so
        note(line)
    read_entries(options.out, n_shards, plan)
    i, n = options.part or (0, 1)
    try:
        with alone(options.out / SHARDS / f"{i + 1}-of-{n}", waits=False, called=options.out):
            _check_parts(options.out, n)
            _make_missing(job, vocabulary, plan)
    except InputError:
        if not is_begun:
            _unbegin(options.out)
        raise
    refresh(options.out)  # other machines have made theirs
    entries = read_entries(options.out, n_shards, plan)
    made = [entry for entry in entries if entry is not None]
    if len(made) == n_shards:
        check_tables(options.out, made)
        _join(job, vocabulary, made, plan)
    return len(made), n_shards


def _unbegin(out: Path) -> None:
    """Take away the folder that was begun for work that could not be begun; nothing where any of it is done, or where
    another process has its lock there."""
    if not any(path.is_file() for path in (out / SHARDS).rglob("*")):
        remove(out / MANIFEST)
        remove(out / SHARDS)


@dataclass(frozen=True)
class Job:
    """What is to be made, checked against what stands in its folder; nothing is written yet."""

    options: GenerateOptions
    every_context: list[Context]
    contexts: list[Context]
    """Those that the options choose."""
    named: list[Context]
    """The same with the ids and videos that they have in the pool: made where they have none."""
    groups: list[list[Context]]
    """The contexts of each shard."""
    named_groups: list[list[Context]]
    """The same, of those that are named."""
    tagger: Tagger
    device: str
    precision: Precision
    settings: dict[str, Any]
    """What decides the bytes of the pool beside the models; a resumed run must have the same."""
    reused: list[CandidatePool]
    """Pools whose rows are copied where they have them."""


def prepare(options: GenerateOptions) -> Job:
    """Read and check all that can be checked before any model is trained or loaded."""
    models_in_pool = [options.lms.name] if options.lms.absolute().parent == options.out.absolute() else []
    check_ours("generate", options.out, *models_in_pool)
    every_context = read_contexts(options.contexts)
    positions = positions_of(every_context, options)
    contexts = [every_context[i] for i in positions]
    called = [named(context, i) for i, context in zip(positions, contexts, strict=True)]
    check_ids(options.contexts, (context.id for context in called))
    n_rows = options.shard_rows or max(64, -(-len(contexts) // MOST_SHARDS))
    groups, named_groups = (
        [some[at : at + n_rows] for at in range(0, len(some), n_rows)] for some in (contexts, called)
    )
    tagger, device = load_tagger(options.tagger), _device_of(options)
    precision: Precision = "fp32"
    if options.output_precision == "bf16" or (options.output_precision == "auto" and device == "cuda"):
        precision = "bf16"
    names = ("n_negatives", "min_tokens", "max_tokens", "max_draws", "features", "shard_rows", "seed")
    settings = {name: getattr(options, name) for name in names} | choice_of(options)
    settings |= {
        "tagger": tagger.name,
        "device": device,
        "output_precision": precision,
        "contexts_sha256": sha256_file(options.contexts),
    }
    if (options.out / "manifest.json").exists():
        _check_begun(options.out, settings, choice_of(options))
    if options.part is not None and options.part[1] > len(groups):
        raise InputError(
            f"--shard {options.shard}: there are only {len(groups)} shards of {n_rows} contexts. "
            "Take a smaller N, or a smaller --shard-rows."
        )
    reused = open_reused(options, settings)
    trained = [fold for fold in {context.fold for context in contexts} if is_trained(options.lms, fold)]
    check_models(reused, {str(fold): _weights_of(options.lms, fold) for fold in trained})
    return Job(
        options, every_context, contexts, called, groups, named_groups, tagger, device, precision, settings, reused
    )


def _device_of(options: GenerateOptions) -> str:
    """The kind of device that computes: on a cluster a GPU where its tasks are given one, whatever stands here."""
    if not options.where.is_remote:
        return pick_device(options.device).type
    return options.device if options.device != "auto" else "cuda" if options.where.gpus_per_task else "cpu"


def _check_begun(out: Path, settings: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
    """Raise InputError where the pool in `out` was begun otherwise, in its `choice` of contexts or beyond that."""
    manifest = read_manifest(out, "pool")
    begun = manifest.get("plan", {})
    rest = {name: value for name, value in settings.items() if name not in choice}
    if manifest["complete"] and not differences(begun, rest) and (others := differences(begun, choice)):
        raise InputError(
            f"{out}: has other contexts, {', '.join(others)}. Choose another --out; with `--reuse {out}` it takes over "
            "the rows that are there."
        )
    check_same({name: begun.get(name) for name in settings}, settings, out, "--out")


def _folds(job: Job) -> tuple[int, ...]:
    """The folds whose models are needed."""
    return tuple(sorted({context.fold for context in job.contexts}))


def missing_folds(job: Job) -> tuple[int, ...]:
    """The folds whose models are still to be trained."""
    return tuple(fold for fold in _folds(job) if not is_trained(job.options.lms, fold))


def lm_options(options: GenerateOptions) -> LMOptions:
    """Those of the folder of models where it has been begun, ours otherwise; InputError when ours contradict."""
    if options.lm != LMOptions():
        check_options(options.lms, options.lm, "--lms")
    if not (options.lms / MANIFEST).exists():
        return options.lm
    manifest = read_manifest(options.lms, "lm")
    begun = options_of(manifest, options.lms)
    return begun if manifest.get("books_sha256") else replace(begun, pretrain_epochs=LMOptions.pretrain_epochs)


def vocabulary_of(job: Job) -> Vocabulary:
    """That of the models, or the one that they will have."""
    options = job.options
    if (options.lms / MANIFEST).exists():
        return open_vocabulary(options.lms)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    return caption_vocabulary(job.every_context, dropped, min_count=lm_options(options).min_count)


def _reasons(job: Job) -> list[str | None]:
    """Why each context is left out whatever is sampled; ExhaustedError where all are."""
    options = job.options
    reasons = unfit_golds(job.contexts, vocabulary_of(job), Bounds(options.min_tokens, options.max_tokens))
    drops = Counter(filter(None, reasons))
    if drops.total() == len(reasons):
        raise ExhaustedError(
            f"{options.contexts}: none of {several(len(reasons), 'context')} can get endings ({drop_counts(drops)}). "
            f"To keep them, {advice_for(drops)}, or take another --generator (docs/GENERATORS.md)."
        )
    return reasons


def _train_missing_folds(job: Job) -> None:
    options, missing = job.options, missing_folds(job)
    lm, seed = lm_options(options), options.seed
    if missing and options.shard is not None:
        raise InputError(
            f"{options.lms}: fold {missing[0]} is not trained, and processes that share a pool would train it at "
            f"once. Run `{command('train-lm', options.contexts, '--out', options.lms)}` first."
        )
    if (options.lms / "manifest.json").exists():
        seed = read_manifest(options.lms, "lm")["seed"]
    if missing:
        train_for(
            TrainLMOptions(
                options.contexts,
                options.lms,
                _folds(job),  # those that are trained, too: the threads are shared among all, as if none were
                use_dropped=options.use_dropped,
                lm=lm,
                device=options.device,
                seed=seed,
                where=options.where if options.where.is_remote else EngineOptions(),
                workers=options.workers if options.where.is_remote else None,
            ),
            Bounds(options.min_tokens, options.max_tokens),
        )


def _check_corpus(job: Job) -> None:
    """The models must come from these contexts: other folds would let a model sample against what it has learnt."""
    options = job.options
    lms, beside = options.lms, dropped_path_of(options.contexts)
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    if _is_corpus(job, dropped):
        return
    if options.use_dropped and dropped and _is_corpus(job, []):
        raise InputError(f"{lms}: trained without the pairs of {beside}. Pass --no-use-dropped.")
    if not options.use_dropped and _is_corpus(job, _dropped_beside(options.contexts)):
        raise InputError(f"{lms}: trained with the pairs of {beside}, too. Leave out --no-use-dropped.")
    if not beside.exists():
        raise InputError(
            f"{beside}: not there, and {lms} was trained on other pairs than those of {options.contexts} alone. Copy "
            "it along if it was there in training, or train anew with another --lms."
        )
    raise InputError(
        f"{lms}: trained on other pairs than those of {options.contexts}, so its folds may have seen these "
        "endings. Train anew with another --lms, or pass the contexts it was trained on."
    )


def _is_corpus(job: Job, dropped: Sequence[DroppedPair]) -> bool:
    """Whether the models were trained on the pairs of the contexts and on those that were `dropped`."""
    lms = job.options.lms
    made = corpus_hash(each_pair(job.every_context, dropped, open_vocabulary(lms)))
    return made == read_manifest(lms, "lm")["corpus_sha256"]


def _dropped_beside(path: Path) -> list[DroppedPair]:
    """The dropped pairs that were written together with the contexts at `path`, if any were."""
    try:
        return read_dropped(path)
    except FormatError:
        return []


def _weights(lms: Path, folds: Sequence[int]) -> dict[str, str]:
    """The hash of the weights of each of `folds`, all checked, and the map of what they have read."""
    FoldMap.load(lms)
    for fold in folds:
        check_fold(lms, fold)
    return {str(fold): _weights_of(lms, fold) for fold in folds}


def _weights_of(lms: Path, fold: int) -> str:
    """As the manifest of a trained fold has it."""
    sha256: str = read_manifest(fold_path(lms, fold), "lm-fold")["weights_sha256"]
    return sha256


def _is_complete(path: Path, n: int, plan: dict[str, Any]) -> bool:
    """Begin the folder of `n` shards, or find it begun under the same plan; whether nothing is left to do."""
    remove_leftovers(path)
    remove_leftovers(path / SHARDS)
    if not (path / "manifest.json").exists():
        begin(path, plan)
        return False
    check_same(read_manifest(path, "pool").get("plan", {}), plan, path, "--out")
    return is_whole(path, n, plan)


def _check_parts(out: Path, n: int) -> None:
    """Raise InputError where a process is at work that shares the shards in other parts than `n`: some would
    be made twice, others not at all."""
    advice = "Wait until it is done, or share the work by all processes in as many parts, --shard I/N."
    for lock in sorted((out / SHARDS).glob(".*-of-*.lock")):
        part = lock.name.removeprefix(".").removesuffix(".lock")
        if not part.endswith(f"-of-{n}"):
            with alone(out / SHARDS / part, waits=False, called=out, advice=advice):
                pass  # left by a process that was killed


def _make_missing(job: Job, vocabulary: Vocabulary, plan: Mapping[str, Any]) -> None:
    """Make the shards that are this run's to make and are not there yet."""
    options = job.options
    groups = dict(share(list(enumerate(job.groups)), options.part))
    drafts: dict[int, ShardDraft] = {}
    blocks: dict[int, list[Block]] = {}
    n_done = 0
    for number, group in groups.items():
        if read_shard_entry(options.out, number) is not None:
            remove(draft_path(options.out, number))
            n_done += len(group)
        else:
            drafts[number] = ShardDraft(options.out, number, row_tables(options, vocabulary))
    take_rows(job.reused, {number: job.named_groups[number] for number in drafts}, drafts)
    settled = {number: draft.done() for number, draft in drafts.items()}
    n_done += sum(map(len, settled.values()))
    read = _read(options.lms, groups, settled)
    for number in drafts:
        blocks[number] = blocks_of(number, groups[number], settled[number] | read[number], options, job.device)
    todo = [block for mine in blocks.values() for block in mine]
    types = LSTMGenerator(options.lms, job.every_context, options.min_tokens, options.max_tokens).types
    rows_job = RowsJob(options, job.device, job.precision, types)
    with (
        progress("generate", sum(map(len, groups.values())), "contexts", done=n_done) as advance,
        run_blocks(rows_job, todo, workers=_workers(job, todo, vocabulary), engine=options.where) as made,
    ):
        tally = _ShardTally(advance, 1 + options.n_negatives)
        for number, draft in drafts.items():
            for position in sorted(read[number]):
                draft.drop(position, READ)
            tally.add(Counter({READ: len(read[number])}))
            for _ in blocks[number]:
                tally.add(next(made))
            tables = _start_tables(job, groups[number], vocabulary)
            lazy = BACKWARD if options.features == "lazy" else ()
            draft.finish(job.named_groups[number], tables, tally.of_shard(), lazy=lazy, notes={"plan": plan})


def _read(lms: Path, groups: Mapping[int, list[Context]], settled: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """For each shard that has `settled` positions, the other ones whose context the model of its fold has read."""
    folds = FoldMap.load(lms)
    return {
        number: {i for i, context in enumerate(groups[number]) if i not in done and folds.has_read(context)}
        for number, done in settled.items()
    }


def _workers(job: Job, blocks: Sequence[Block], vocabulary: Vocabulary) -> int | None:
    """On a cluster those asked for, or as many as it has room for."""
    remote = job.options.where.is_remote
    return job.options.workers if remote else workers_of(job, blocks, len(vocabulary))


def workers_of(job: Job, blocks: Sequence[Block], n_types: int) -> int:
    """Processes that make `blocks`, given the token types of the models."""
    n_endings = (1 + job.options.n_negatives) * sum(len(block.contexts) for block in blocks)
    return n_workers(job.options.workers, job.device, n_endings, n_types, lm_options(job.options))


def _start_tables(job: Job, group: list[Context], vocabulary: Vocabulary) -> dict[str, np.ndarray]:
    """The tables of a shard that have one entry for each of its contexts."""
    widest = max(len(tokenize(context.start)) for context in job.contexts)
    starts, lengths = pad((vocabulary.ids(tokenize(c.start)) for c in group), vocabulary.id_dtype, width=widest)
    counts = np.full(len(group), 1 + job.options.n_negatives, np.uint32)
    return {"starts": starts, "start_lengths": lengths.astype(np.uint16), "counts": counts}


class _ShardTally:
    """Counts what is made, for the bar and for each shard's `timing.json`."""

    def __init__(self, advance: Advance, n_candidates: int):
        self.advance = advance
        self.n_candidates = n_candidates
        self.started = self.shard_began = time.perf_counter()
        self.made = Counter[str]()
        self.before = Counter[str]()

    def add(self, made: Counter[str]) -> None:
        """What became of the contexts of one block."""
        self.made += made
        n_kept = self.made[""]
        rate = n_kept * self.n_candidates / (time.perf_counter() - self.started)
        note = f"{rate:,.0f} endings/s, {self.made.total() - n_kept} contexts dropped"
        self.advance(made.total(), note=note)

    def of_shard(self) -> dict[str, float]:
        """Of what was added since the last shard."""
        now, made = time.perf_counter(), self.made - self.before
        seconds, n_endings = now - self.shard_began, made[""] * self.n_candidates
        self.shard_began, self.before = now, self.made.copy()
        return {
            "seconds": round(seconds, 3),
            "n_endings": n_endings,
            "endings_per_second": round(n_endings / seconds, 1),
            "n_dropped": made.total() - made[""],
        }


def _recorded(options: GenerateOptions) -> dict[str, Any]:
    """The options, but for those that say who does the work."""
    told = asdict(replace(options, shard=None, live_rows=None, workers=None))
    return {name: value for name, value in told.items() if name != "where"}


def _join(job: Job, vocabulary: Vocabulary, entries: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """Make a pool of the shards."""
    options = job.options
    drops, rejected = Counter[str](), Counter[str]()
    for entry in entries:
        drops.update(entry["drops"])
        rejected.update(entry["rejected_draws"])
    n_copied = sum(int(entry.get("copied_rows", 0)) for entry in entries)
    if not sum(int(entry["n_rows"]) for entry in entries):
        most = dict(drops.most_common(1))
        raise ExhaustedError(
            f"{options.out}: none of {len(job.contexts)} contexts gave {options.n_negatives} endings "
            f"({drop_counts(drops)}). Remove the folder, and "
            f"{advice_for(most) or 'lower --n-negatives or mend the contexts'}."
        )
    made: dict[str, Any] = {
        "plan": plan,
        "tagger": job.tagger.name,
        "n_draws": sum(int(entry["n_draws"]) for entry in entries),
        "rejected_draws": dict(rejected),
        "drops": dict(drops),
        **({"copied_rows": n_copied} if n_copied else {}),
        "lms": {fold: read_manifest(fold_path(options.lms, int(fold)), "lm-fold") for fold in plan["lms"]},
        "contexts": (read_contexts_manifest(options.contexts) or {}).get("drops"),
        "made_by": {"verb": "generate", "options": _recorded(options)},
    }
    if options.features == "lazy":
        made["lazy_features"] = [FEATURES[column] for column in BACKWARD]
        made["lms_path"] = link(options.lms, options.out)
    finish_pool(options.out, vocabulary, entries, made)
