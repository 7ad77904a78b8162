"""The verb `generate`: contexts and language models in, a pool of candidates out, shard by shard.

A row's randomness depends on (seed, the context's own words) alone, and every row is computed by itself, so
the pool does not depend on shards, limits or interruptions.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from swag_af.data.contexts import Context, read_contexts, read_contexts_manifest, read_dropped
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.files import check_same, read_manifest, remove_leftovers, sha256_file, write_manifest
from swag_af.data.pool import (
    FEATURES,
    SHARDS,
    CandidatePool,
    check_finite,
    finish_pool,
    pad,
    read_shard_entry,
    smallest_uint,
    write_shard,
)
from swag_af.data.progress import Advance, progress
from swag_af.data.taggers import load_tagger, tag_word_types
from swag_af.data.tokens import SENTENCE_ENDS, tokenize
from swag_af.data.vocabulary import UNK, Vocabulary
from swag_af.lm.corpus import corpus_hash, pairs_of
from swag_af.lm.features import feature_table
from swag_af.lm.network import BidirectionalLM
from swag_af.lm.options import Generate, LMOptions, TrainLM
from swag_af.lm.sample import SampledRow, sample_row
from swag_af.lm.store import fold_path, is_trained, load_fold, pick_device
from swag_af.lm.train import train_lm

MOST_SHARDS = 64
"""Every shard keeps a file a table open, and systems allow a process about a thousand."""


def generate(options: Generate) -> CandidatePool:
    """Train what is missing, sample, score, tag and write; returns the pool opened from disk.

    All that can be checked is checked before the models are trained.
    """
    every_context = read_contexts(options.contexts)
    contexts = _choose(every_context, options)
    tagger, device = load_tagger(options.tagger), pick_device(options.device)
    settings = _settings(options, tagger.name, device)
    _check_settings(options.out, settings)
    _train_missing_folds(contexts, options)
    _check_corpus(every_context, options)
    plan = settings | {"lms": _weights(options.lms, contexts)}
    if _is_complete(options.out, plan):
        return CandidatePool.open(options.out)
    vocabulary = Vocabulary.load(options.lms / "vocabulary.tsv")
    vocabulary = vocabulary.with_tags(tag_word_types(vocabulary.spellings, tagger))
    entries = _write_shards(contexts, vocabulary, options, device)
    drops = Counter[str]()
    for entry in entries:
        drops.update(entry["drops"])
    if not sum(int(entry["n_rows"]) for entry in entries):
        why = ", ".join(f"{n} {reason}" for reason, n in drops.items())
        raise ExhaustedError(
            f"{options.out}: none of {len(contexts)} contexts gave {options.n_negatives} endings ({why}). "
            "Remove the folder, and lower --n-negatives or mend the contexts."
        )
    made = {
        "plan": plan,
        "tagger": tagger.name,
        "drops": dict(drops),
        "lms": {fold: read_manifest(fold_path(options.lms, int(fold)), "lm-fold") for fold in plan["lms"]},
        "contexts": (read_contexts_manifest(options.contexts) or {}).get("drops"),
        "made_by": {"verb": "generate", "options": asdict(options)},
    }
    finish_pool(options.out, vocabulary, entries, made)
    return CandidatePool.open(options.out)


def _choose(contexts: list[Context], options: Generate) -> list[Context]:
    chosen = [context for context in contexts if not options.folds or context.fold in options.folds]
    if not chosen:
        raise InputError(f"--folds {' '.join(map(str, options.folds))}: {options.contexts} has no contexts in them.")
    if options.limit is not None and options.limit < len(chosen):
        picked = np.random.default_rng(options.seed).permutation(len(chosen))[: options.limit]
        chosen = [chosen[i] for i in sorted(picked.tolist())]
    return chosen


def _settings(options: Generate, tagger: str, device: str) -> dict[str, Any]:
    """What decides the bytes of the pool beside the models; a resumed run must have the same."""
    names = ("n_negatives", "min_tokens", "max_tokens", "max_draws", "limit", "shard_rows", "seed")
    settings = {name: getattr(options, name) for name in names}
    settings |= {"folds": list(options.folds), "tagger": tagger, "device": device}
    return settings | {"contexts_sha256": sha256_file(options.contexts)}


def _check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Refuse a folder begun otherwise, before any model is trained for it."""
    if (path / "manifest.json").exists():
        begun = read_manifest(path, "pool").get("plan", {})
        check_same({name: begun.get(name) for name in settings}, settings, path, "--out")


def _train_missing_folds(contexts: Sequence[Context], options: Generate) -> None:
    """Train with the options of the folder of models where it has been begun, with ours otherwise."""
    missing = tuple(fold for fold in sorted({c.fold for c in contexts}) if not is_trained(options.lms, fold))
    lm, seed = options.lm, options.seed
    if (options.lms / "manifest.json").exists():
        manifest = read_manifest(options.lms, "lm")
        lm, seed = LMOptions(**manifest["options"]), manifest["seed"]
        if options.lm != LMOptions():
            check_same(asdict(lm), asdict(options.lm), options.lms, "--lms")
    if missing:
        train_lm(TrainLM(options.contexts, options.lms, missing, options.use_dropped, lm, options.device, seed))


def _check_corpus(contexts: Sequence[Context], options: Generate) -> None:
    """The models must come from these contexts: other folds would let a model sample against what it has learnt."""
    manifest = read_manifest(options.lms, "lm")
    vocabulary = Vocabulary.load(options.lms / "vocabulary.tsv")
    dropped = read_dropped(options.contexts) if options.use_dropped else []
    if corpus_hash(pairs_of(contexts, dropped, vocabulary)) != manifest["corpus_sha256"]:
        raise InputError(
            f"{options.lms}: trained on other pairs than those of {options.contexts}, so its folds may have seen these "
            "endings. Train anew with another --lms, or pass the contexts it was trained on."
        )


def _weights(lms: Path, contexts: Sequence[Context]) -> dict[str, str]:
    """The hash of the weights of every fold that is used."""
    folds = sorted({context.fold for context in contexts})
    return {str(fold): read_manifest(fold_path(lms, fold), "lm-fold")["weights_sha256"] for fold in folds}


def _is_complete(path: Path, plan: dict[str, Any]) -> bool:
    """Begin the folder, or find it begun under the same plan; whether nothing is left to do."""
    if not (path / "manifest.json").exists():
        write_manifest(path, "pool", {"complete": False, "plan": plan})
        return False
    manifest = read_manifest(path, "pool")
    check_same(manifest.get("plan", {}), plan, path, "--out")
    remove_leftovers(path)
    remove_leftovers(path / SHARDS)
    return bool(manifest["complete"])


def _write_shards(
    contexts: Sequence[Context], vocabulary: Vocabulary, options: Generate, device: str
) -> list[dict[str, Any]]:
    models: dict[int, BidirectionalLM] = {}
    n_rows = options.shard_rows or max(64, -(-len(contexts) // MOST_SHARDS))
    groups = [contexts[at : at + n_rows] for at in range(0, len(contexts), n_rows)]
    known = [read_shard_entry(options.out, number) for number in range(len(groups))]
    done = sum(len(group) for group, entry in zip(groups, known, strict=True) if entry)
    widest = max(len(tokenize(context.start)) for context in contexts)
    entries = []
    with progress("generate", len(contexts), "contexts", done=done) as advance:
        for number, (group, entry) in enumerate(zip(groups, known, strict=True)):
            if entry is None:
                for fold in {context.fold for context in group} - models.keys():
                    models[fold], _ = load_fold(options.lms, fold, device=device)
                entry = _write_one_shard(number, group, models, vocabulary, widest, options, advance)
            entries.append(entry)
    return entries


def _write_one_shard(
    number: int,
    group: Sequence[Context],
    models: dict[int, BidirectionalLM],
    vocabulary: Vocabulary,
    widest_start: int,
    options: Generate,
    advance: Advance,
) -> dict[str, Any]:
    ends = torch.tensor([token in SENTENCE_ENDS for token in vocabulary.tokens])
    kept: list[tuple[Context, SampledRow, np.ndarray]] = []
    drops = Counter[str]()
    started, n_endings = time.perf_counter(), 0
    for context in group:
        model = models[context.fold]
        made = _row(context, model, vocabulary, ends.to(model.embedding.device), options)
        if isinstance(made, str):
            drops[made] += 1
        else:
            kept.append((context, *made))
            n_endings += len(made[0].lengths)
        rate = n_endings / (time.perf_counter() - started)
        advance(1, note=f"{rate:,.0f} endings/s, {sum(drops.values())} dropped in this shard")
    tables = _tables(
        [row for _, row, _ in kept],
        [table for *_, table in kept],
        [context for context, *_ in kept],
        vocabulary,
        widest_start,
        options,
    )
    return write_shard(options.out, number, [context for context, *_ in kept], tables, drops=dict(drops))


def _row(
    context: Context, model: BidirectionalLM, vocabulary: Vocabulary, ends: torch.Tensor, options: Generate
) -> tuple[SampledRow, np.ndarray] | str:
    """The candidates of one context and their features, or the reason why there are none."""
    sent1, start, gold = (vocabulary.ids(tokenize(text)) for text in (context.sent1, context.start, context.gold))
    reason = _unfit_gold(gold, ends, options)
    if reason is not None:
        return reason
    if not sent1 and not start:
        return "empty_context"
    row = sample_row(
        model,
        [*sent1, *start],
        gold,
        n_negatives=options.n_negatives,
        min_tokens=options.min_tokens,
        max_tokens=options.max_tokens,
        max_draws=options.max_draws,
        ends=ends,
        rng=np.random.default_rng((options.seed, _stable_hash(context))),
    )
    return "too_few_distinct_endings" if row is None else (row, feature_table(model, sent1, start, row))


def _unfit_gold(gold: Sequence[int], ends: torch.Tensor, options: Generate) -> str | None:
    """Why no sample could look like this gold, which would give it away."""
    if UNK in gold:
        return "unknown_word_in_gold"
    if len(gold) < options.min_tokens:
        return "gold_too_short"
    if len(gold) > options.max_tokens:
        return "gold_too_long"
    stops = ends[list(gold)].tolist()
    if any(stops[:-1]):
        return "gold_of_several_sentences"
    return None if stops[-1] else "gold_unfinished"


def _stable_hash(context: Context) -> int:
    text = "\x1f".join((context.id, context.sent1, context.start, context.gold))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _tables(
    rows: Sequence[SampledRow],
    features: Sequence[np.ndarray],
    contexts: Sequence[Context],
    vocabulary: Vocabulary,
    widest_start: int,
    options: Generate,
) -> dict[str, np.ndarray]:
    K, L = 1 + options.n_negatives, options.max_tokens
    starts, start_lengths = pad(
        (vocabulary.ids(tokenize(c.start)) for c in contexts), vocabulary.id_dtype, width=widest_start
    )
    table = np.array(features, np.float32).reshape(len(rows), K, len(FEATURES))
    check_finite(table, f"{options.lms}")
    return {
        "tokens": np.array([row.tokens for row in rows], vocabulary.id_dtype).reshape(len(rows), K, L),
        "lengths": np.array([row.lengths for row in rows], smallest_uint(L)).reshape(len(rows), K),
        "starts": starts,
        "start_lengths": start_lengths.astype(np.uint16),
        "counts": np.full(len(rows), K, np.uint32),
        "features": table,
    }
