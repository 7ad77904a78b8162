"""The verb `demo`: from captions to a dataset, on the bundled synthetic captions."""

import time
from collections.abc import Callable
from pathlib import Path

from swag_af.af.options import AFOptions, FilterOptions
from swag_af.cli.options import DemoOptions
from swag_af.data.captions.context_set import manifest_path_of
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.readers import caption_rows
from swag_af.data.captions.verb import contexts
from swag_af.data.disk.files import write_jsonl
from swag_af.data.disk.replacing import remove_leftovers_of
from swag_af.data.disk.urls import command
from swag_af.data.display.terminal import tell
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.work.locks import clear_lock
from swag_af.lm.options import GenerateOptions, LMOptions, TrainLMOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.tables.text import drop_lines, question_lines, run_lines

N_VIDEOS = 800
RULES = ContextRules(n_folds=3)
"""Three folds: each model learns from two thirds of the videos, and there are fewer to train than five."""
LM = LMOptions(hidden=96, epochs=5, batch_size=64, learning_rate=1e-2, decay_every=4)
"""Small enough to train in about a minute on two cores."""
N_CONTEXTS, N_NEGATIVES = 600, 63
"""More contexts rather than more candidates: filters that read words learn little from a few hundred contexts."""
SCHEDULE = "mlp:15,cnn:20"
"""A filter that reads perplexities, then one that reads words; the ensemble of all four would take many minutes."""
AUDIT = "chars,ngrams,mlp"
"""Two filters that the schedule does not use, and its first one again: endings that fool the second filter need not
fool the first."""


def demo(options: DemoOptions) -> str:
    """Make the sample, run every verb that has not been run in `options.out` yet; returns the summary to print."""
    started = time.perf_counter()
    folder, seed = options.out, options.seed
    captions, context_path = folder / "captions.jsonl", folder / "contexts.jsonl"
    if not captions.exists():
        remove_leftovers_of(captions)
        _step("captions", lambda: write_jsonl(captions, caption_rows(sample_videos(N_VIDEOS, seed=seed))))
    if manifest_path_of(context_path).exists():
        clear_lock(context_path)
    else:
        _step(
            "contexts",
            lambda: contexts(ContextsOptions((captions,), context_path, splitter="trees", rules=RULES, seed=seed)),
        )
    _step("train-lm", lambda: _train(context_path, folder / "lms", seed))
    _step("generate", lambda: _generate(context_path, folder, seed))
    _step("filter", lambda: _filter(folder, seed))
    if not (folder / "dataset").exists():
        _step("release", lambda: _release(folder, seed))
    return _summary(folder, time.perf_counter() - started, seed)


def _step(name: str, work: Callable[[], object]) -> None:
    started = time.perf_counter()
    tell(f"{name} ...", is_error=True)
    work()
    tell(f"{name}: {time.perf_counter() - started:.0f} s", is_error=True)


def _train(context_path: Path, lms: Path, seed: int) -> None:
    from swag_af.lm.lstm.train import train_lm

    train_lm(TrainLMOptions(context_path, lms, lm=LM, seed=seed))


def _generate(context_path: Path, folder: Path, seed: int) -> None:
    from swag_af.lm.verb import generate

    generate(
        GenerateOptions(
            context_path,
            folder / "lms",
            folder / "pool",
            n_negatives=N_NEGATIVES,
            limit=N_CONTEXTS,
            lm=LM,
            seed=seed,
        )
    )


def _filter(folder: Path, seed: int) -> None:
    from swag_af.cli.runs.filtering import run_filter

    run_filter(FilterOptions(folder / "pool", folder / "run", SCHEDULE, audit=AUDIT, af=AFOptions(seed=seed)))


def _release(folder: Path, seed: int) -> None:
    from swag_af.releasing.verb import release

    release(_release_options(folder, seed))


def _release_options(folder: Path, seed: int) -> ReleaseOptions:
    return ReleaseOptions(folder / "run", folder / "dataset", seed=seed)


def _summary(folder: Path, seconds: float, seed: int) -> str:
    from swag_af.data.captions.context_set import read_contexts_manifest
    from swag_af.data.runs.run import open_run
    from swag_af.releasing.dataset import assemble

    run = open_run(folder / "run")
    manifest = read_contexts_manifest(folder / "contexts.jsonl") or {}
    questions = assemble(run, _release_options(folder, seed)).questions
    lines = [
        "",
        "Synthetic captions, made by a grammar: a demonstration, not a dataset.",
        "",
        *drop_lines(manifest["drops"]),
        "",
        *run_lines(run),
        "",
        "Three of the questions, gold starred:",
        "",
    ]
    for question in questions[:3]:
        lines += [*question_lines(question.startphrase, question.endings, question.label), ""]
    lines += [
        f"{seconds:.0f} seconds. The curve: {folder / 'run' / 'curve.png'}; the dataset: {folder / 'dataset'}",
        f"Next: {command('show', folder / 'dataset')}, or your own captions: swag-af contexts --help",
    ]
    return "\n".join(lines)
