"""What the verbs print that lead to a pool: contexts, language models, candidates, features, tags."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swag_af.cli.saying import say
from swag_af.data.captions.options import ContextsOptions
from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.data.pool.sharing import repeated_line
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.reporting.tables.text import drop_reasons, estimate_lines, perplexity_rows, table, text_estimate_lines


def contexts(options: ContextsOptions) -> None:
    """Print the format each source was read as, the table of dropped pairs, and what to run next."""
    from swag_af.data.captions.context_set import drop_report_path_of, read_contexts_manifest
    from swag_af.data.captions.verb import contexts as extract

    drops = extract(options)
    written = Path(os.path.abspath(options.out))  # where `folder/..` leads though there is no such folder
    made_by = (read_contexts_manifest(written) or {})["made_by"]
    say(*(source["read"] for source in made_by["sources"]))
    say(f"{several(drops['kept'], 'context')} from {several(drops['pairs'], 'pair')}, split by {made_by['splitter']}")
    say(_sharing_line(made_by["shared_sentences"]), "")
    say(drop_report_path_of(written).read_text(encoding="utf-8"))
    say(f"Written to {options.out}. Next: {command('train-lm', options.out, '--out', 'lms')}")


def _sharing_line(shared: Mapping[str, int]) -> str:
    """How many pairs share a sentence with another video, and are in one fold with it."""
    apart = (
        f"; {several(shared['n_apart'], 'shares', 'share')} one that would join too many" if shared["n_apart"] else ""
    )
    return (
        f"{several(shared['n_joined'], 'pair shares', 'pairs share')} a sentence with another video, and a fold "
        f"with it{apart}"
    )


def train_lm(options: TrainLMOptions) -> None:
    """Print each fold's perplexities."""
    from swag_af.lm.lstm.train import train_lm as train

    reports = list(train(options).values())
    if not reports:
        say(f"Nothing to do: the folds asked for are trained in {options.out}.")
        return
    seconds = sum(report["seconds"] for report in reports)
    if options.pretrain:
        say(*_pretraining_lines(options.out))
    say("Token perplexity", "", *table(perplexity_rows(reports)), "", f"{seconds:.0f} seconds")
    apart = [] if options.use_dropped else ["--no-use-dropped"]
    following = command("generate", options.contexts, "--lms", options.out, *apart, "--out", "pool")
    say(f"Written to {options.out}. Next: {following}")


def _pretraining_lines(lms: Path) -> list[str]:
    """How many pairs of the books the models were pretrained on, and why the others were left out."""
    from swag_af.data.disk.manifests import read_manifest
    from swag_af.lm.lstm.checkpoints import pretrained_path

    made = read_manifest(pretrained_path(lms), "lm-pretrained")
    drops, perplexity = made["drops"], made["held_out_perplexity"]
    return [
        f"Pretrained on books: {drops['kept']:,} of {drops['pairs']:,} pairs of sentences, held-out perplexity "
        f"{perplexity['forward']:.1f} forward, {perplexity['backward']:.1f} backward",
        f"pairs left out: {drop_reasons(drops) or 'none'}",
        "",
    ]


def generate(options: GenerateOptions) -> None:
    """Print the size of the pool and what was dropped."""
    from swag_af.cli.following import command_for
    from swag_af.data.pool.pool import CandidatePool
    from swag_af.lm.texts.settings import is_text
    from swag_af.lm.verb import make_shards

    if options.dry_run:
        say(*_forecast_lines(options))
        return
    n_made, n_all = make_shards(options)
    if n_made < n_all:
        what = "contexts are answered" if is_text(options) else "shards stand"
        say(f"{n_made:,} of {n_all:,} {what} in {options.out}. The process that makes the last one joins them.")
        return
    pool = CandidatePool.open(options.out)
    dropped = drop_reasons(pool.manifest["drops"]) or "none"
    say(f"{several(len(pool), 'context')} x {pool.n_candidates:,} candidates; contexts dropped: {dropped}")
    rejected = drop_reasons(pool.manifest["rejected_draws"]) or "none"
    copied = f", {several(pool.manifest['copied_rows'], 'row')} copied" if "copied_rows" in pool.manifest else ""
    say(f"{pool.manifest['n_draws']:,} endings drawn{copied}; rejected: {rejected}")
    if is_text(options) and (lines := _text_lines(pool.manifest, normalised=options.text.normalise)):
        say(*lines)
    say(f"Written to {options.out}. Next: {command_for(options.out, pool)}")


def _forecast_lines(options: GenerateOptions) -> list[str]:
    """What it would take."""
    from swag_af.lm.estimate import estimate
    from swag_af.lm.texts.estimate import estimate_texts
    from swag_af.lm.texts.settings import is_text

    return text_estimate_lines(estimate_texts(options)) if is_text(options) else estimate_lines(estimate(options))


def _text_lines(manifest: Mapping[str, Any], *, normalised: bool) -> list[str]:
    """What of a pool of texts is as for `pool`: shared texts, and surface form that gives gold away."""
    from swag_af.data.text.lengths import warning_lines

    warned = warning_lines(manifest["surface"], normalised=normalised)
    shared = _shared_lines(manifest["shared_texts"])
    return [*shared, *(f"Warning: {finding}" for finding in warned[:-1]), *warned[-1:]]


def features(options: FeaturesOptions) -> None:
    """Print that the table is complete, and what the models that made it may have read."""
    from swag_af.lm.features import features as fill

    pool = fill(options)
    say(f"{options.pool}: every feature of {len(pool):,} x {pool.n_candidates:,} candidates is there.")
    if told := pool.features_told:
        say(told, f"columns: {', '.join(pool.feature_names)}")
    elif by := pool.manifest.get("features_by"):
        n_foreign, n = by["n_foreign_rows"], len(pool)
        say(
            f"{several(n_foreign, 'row is', 'rows are')} unseen: no model had read video or second sentence (this "
            "was checked)"
        )
        say(
            f"{several(n - n_foreign, 'row was', 'rows were')} read by the model of the one fold that had not "
            "learnt the text"
        )


def pool(options: PoolOptions) -> None:
    """Print the size of the pool, what was left out, which surface features give gold away, and what to run next."""
    from swag_af.cli.following import command_for
    from swag_af.data.pooling.verb import pool as build

    made = build(options)
    n_negatives = made.counts - 1  # (N,)
    fewest, most = int(n_negatives.min()), int(n_negatives.max())
    say(
        f"{several(len(made), 'context')}, {several(int(n_negatives.sum()), 'negative')}, "
        f"{fewest:,} {'' if fewest == most else f'to {most:,} '}a context; {len(made.vocabulary):,} token types",
        f"negatives left out: {drop_reasons(made.manifest['dropped_negatives']) or 'none'}",
    )
    if made.manifest["drops"]:
        say(f"contexts dropped: {drop_reasons(made.manifest['drops'])}")
    say(
        *_text_lines(made.manifest, normalised=options.normalise),
        "",
        f"Written to {options.out}. Next: {command_for(options.out, made)}",
    )


def _shared_lines(shared: Mapping[str, Any]) -> list[str]:
    """Lines about texts that occur in several rows; none where no text does."""
    lines = []
    if n := shared["n_rows_joined_by_sentence"]:
        lines.append(
            f"{several(n, 'context shares', 'contexts share')} a sentence with others; folds and splits keep those "
            "together"
        )
    if n := shared["n_rows_apart_by_sentence"]:
        lines.append(
            f"{several(n, 'context shares', 'contexts share')} a sentence with others and are apart in folds and "
            "splits, since it is too common or joins too many"
        )
    if n := shared["n_golds_among_negatives"]:
        lines.append(
            f"{several(n, 'negative is', 'negatives are')} the gold of another context; "
            f"{several(shared['n_rows'], 'context is', 'contexts are')} concerned"
        )
        lines.append(
            "folds and splits keep those together"
            if shared["kept_together"]
            else "Warning: folds and splits cannot keep them together"
            + (f", {n_apart:,} of them" if (n_apart := shared["n_rows_apart_by_gold"]) < shared["n_rows"] else "")
            + ". A filter that has met a gold as a negative avoids it, so accuracies below chance are to be expected, "
            "and mean nothing good."
        )
    if line := repeated_line(shared):
        lines.append(f"Warning: {line} Give each context negatives of its own where you can.")
    return lines


def tag(options: TagOptions) -> None:
    """Print which tagger was used, and how many word types have each tag."""
    from swag_af.cli.following import command_for
    from swag_af.data.pooling.verb import tag as retag
    from swag_af.data.tags import TAGS

    made = retag(options)
    if options.in_context:
        n = int(made.counts.sum())
        say(f"{options.pool}: {several(n, 'candidate')} tagged in their sentences by {made.manifest['context_tagger']}")
    elif made.vocabulary.tags is not None:
        counts = Counter(TAGS[code] for code in made.vocabulary.tags)
        say(f"{options.pool}: {len(made.vocabulary):,} token types tagged by {made.manifest['tagger']}")
        say(", ".join(f"{n:,} {name}" for name, n in counts.most_common()))
    else:
        say(f"{options.pool}: its {len(made.vocabulary):,} token types have no tags now")
    say("", f"Runs made with other tags are of another pool. Next: {command_for(options.pool, made)}")


def train_tagger(options: TrainTaggerOptions) -> None:
    """Print what the pipeline gets right on the held-out sentences, and what to run next."""
    from swag_af.data.syntax.train_tagger import train_tagger as train

    figures = train(options)
    following = command("tag", "pool", "--tagger", f"spacy[{options.out}]", "--in-context")
    say(
        f"{figures['n_sentences']:,} sentences learnt, {figures['n_held_out']:,} held out; epoch "
        f"{figures['best_epoch']} of {options.epochs} was best; {figures['cpu_seconds']:.0f} seconds of CPU",
        "",
        *table(
            [
                ("held-out sentences", "right"),
                *((name.replace("_", " "), f"{value:.1%}") for name, value in figures.items() if "accuracy" in name),
            ]
        ),
        "",
        f"Written to {options.out}. Next: {following}",
    )
