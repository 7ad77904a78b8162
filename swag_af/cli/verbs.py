"""What each verb prints. The work is done by the Python function of the same name, which prints nothing."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swag_af.af.options import FilterOptions
from swag_af.auditing.options import AuditOptions, ExplainOptions
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.commands import command
from swag_af.cli.options import DemoOptions, ShowOptions
from swag_af.data.captions.options import ContextsOptions
from swag_af.data.errors import InputError
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.data.terminal import visible
from swag_af.data.urls import as_told
from swag_af.describing.options import DescribeOptions
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.endpoints.options import ProbeEndpointOptions
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.guarding.options import GuardOptions
from swag_af.judging.options import AgreementOptions
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.matching.options import MatchOptions
from swag_af.pruning.options import PruneOptions
from swag_af.refining.options import RefineOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.text import (
    audit_lines,
    audited_lines,
    drop_reasons,
    estimate_lines,
    perplexity_rows,
    run_lines,
    table,
    text_estimate_lines,
)
from swag_af.scoring.options import CountCheckOptions, ScoreOptions
from swag_af.verify.options import BackupOptions, ExportOptions, ImportOptions, InviteOptions, ServeOptions


def contexts(options: ContextsOptions) -> None:
    """Print the format each source was read as, the table of dropped pairs, and what to run next."""
    from swag_af.data.captions.context_set import drop_report_path_of, read_contexts_manifest
    from swag_af.data.captions.verb import contexts as extract

    drops = extract(options)
    written = Path(os.path.abspath(options.out))  # where `folder/..` leads though there is no such folder
    made_by = (read_contexts_manifest(written) or {})["made_by"]
    _say(*(source["read"] for source in made_by["sources"]))
    _say(f"{drops['kept']:,} contexts from {drops['pairs']:,} pairs, split by {made_by['splitter']}")
    _say(_sharing_line(made_by["shared_sentences"]), "")
    _say(drop_report_path_of(written).read_text(encoding="utf-8"))
    _say(f"Written to {options.out}. Next: {command('generate', options.out, '--lms', 'lms', '--out', 'pool')}")


def _sharing_line(shared: Mapping[str, int]) -> str:
    """How many pairs share a sentence with another video, and are in one fold with it."""
    apart = f"; {shared['n_apart']:,} share one too common for that" if shared["n_apart"] else ""
    return f"{shared['n_joined']:,} pairs share a sentence with another video, and a fold with it{apart}"


def train_lm(options: TrainLMOptions) -> None:
    """Print each fold's perplexities."""
    from swag_af.lm.lstm.train import train_lm as train

    reports = list(train(options).values())
    if not reports:
        _say(f"Nothing to do: the folds asked for are trained in {options.out}.")
        return
    seconds = sum(report["seconds"] for report in reports)
    if options.pretrain:
        _say(*_pretraining_lines(options.out))
    _say("Token perplexity", "", *table(perplexity_rows(reports)), "", f"{seconds:.0f} seconds")
    following = command("generate", options.contexts, "--lms", options.out, "--out", "pool")
    _say(f"Written to {options.out}. Next: {following}")


def _pretraining_lines(lms: Path) -> list[str]:
    """How many pairs of the books the models were pretrained on, and why the others were left out."""
    from swag_af.data.manifests import read_manifest
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
    from swag_af.cli.following import filter_command
    from swag_af.data.pool.pool import CandidatePool
    from swag_af.lm.texts.settings import is_text
    from swag_af.lm.verb import make_shards

    if options.dry_run:
        _say(*_forecast_lines(options))
        return
    n_made, n_all = make_shards(options)
    if n_made < n_all:
        what = "contexts are answered" if is_text(options) else "shards stand"
        _say(f"{n_made:,} of {n_all:,} {what} in {options.out}. The process that makes the last one joins them.")
        return
    pool = CandidatePool.open(options.out)
    dropped = drop_reasons(pool.manifest["drops"]) or "none"
    _say(f"{len(pool):,} contexts x {pool.n_candidates:,} candidates; contexts dropped: {dropped}")
    rejected = drop_reasons(pool.manifest["rejected_draws"]) or "none"
    _say(f"{pool.manifest['n_draws']:,} endings drawn; rejected: {rejected}")
    if is_text(options) and (lines := _text_lines(pool.manifest, normalised=options.text.normalise)):
        _say(*lines)
    _say(f"Written to {options.out}. Next: {filter_command(options.out, pool)}")


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
    _say(f"{options.pool}: every feature of {len(pool):,} x {pool.n_candidates:,} candidates is there.")
    if told := pool.features_told:
        _say(told, f"columns: {', '.join(pool.feature_names)}")
    elif by := pool.manifest.get("features_by"):
        n_foreign, n = by["n_foreign_rows"], len(pool)
        _say(f"{n_foreign:,} rows are unseen: no model had read their video or second sentence (this was checked)")
        _say(f"{n - n_foreign:,} rows were read by the model of the one fold that had not learnt them")


def pool(options: PoolOptions) -> None:
    """Print the size of the pool, what was left out, which surface features give gold away, and what to run next."""
    from swag_af.cli.following import filter_command
    from swag_af.data.pool.verb import pool as build

    made = build(options)
    n_negatives = made.counts - 1  # (N,)
    fewest, most = int(n_negatives.min()), int(n_negatives.max())
    _say(
        f"{len(made):,} contexts, {int(n_negatives.sum()):,} negatives, "
        f"{fewest:,} {'' if fewest == most else f'to {most:,} '}a context; {len(made.vocabulary):,} token types",
        f"negatives left out: {drop_reasons(made.manifest['dropped_negatives']) or 'none'}",
    )
    if made.manifest["drops"]:
        _say(f"contexts dropped: {drop_reasons(made.manifest['drops'])}")
    _say(
        *_text_lines(made.manifest, normalised=options.normalise),
        "",
        f"Written to {options.out}. Next: {filter_command(options.out, made)}",
    )


def _shared_lines(shared: Mapping[str, Any]) -> list[str]:
    """Lines about texts that occur in several rows; none where no text does."""
    lines = []
    if n := shared["n_rows_joined_by_sentence"]:
        lines.append(f"{n:,} contexts share a sentence with another video; folds and splits keep those together")
    if n := shared["n_rows_apart_by_sentence"]:
        lines.append(f"{n:,} contexts share a sentence that is too common for folds and splits to keep them together")
    if n := shared["n_golds_among_negatives"]:
        lines.append(f"{n:,} negatives are the gold of another context; {shared['n_rows']:,} contexts are concerned")
        lines.append(
            "folds and splits keep those together"
            if shared["kept_together"]
            else "Warning: folds and splits cannot keep them together. A filter that has met a gold as a negative "
            "avoids it, so accuracies below chance are to be expected, and mean nothing good."
        )
    return lines


def match(options: MatchOptions) -> None:
    """Print how the data was read, what was matched with what, what came of it, and three questions."""
    from swag_af.cli.matching import dry_run_lines, matched_lines, sweep_lines
    from swag_af.matching.sweep import dry_run as dry_run_of_sweep
    from swag_af.matching.sweep import sweep
    from swag_af.matching.verb import dry_run
    from swag_af.matching.verb import match as make

    if options.dry_run:
        _say(*dry_run_lines((dry_run_of_sweep if options.sweeping.sweep else dry_run)(options)))
    elif options.sweeping.sweep:
        _say(*sweep_lines(sweep(options), options))
    else:
        _say(*matched_lines(make(options), options))


def tag(options: TagOptions) -> None:
    """Print which tagger was used, and how many word types have each tag."""
    from swag_af.cli.following import filter_command
    from swag_af.data.pool.verb import tag as retag
    from swag_af.data.tags import TAGS

    made = retag(options)
    if options.in_context:
        n = int(made.counts.sum())
        _say(f"{options.pool}: {n:,} candidates tagged in their sentences by {made.manifest['context_tagger']}")
    elif made.vocabulary.tags is not None:
        counts = Counter(TAGS[code] for code in made.vocabulary.tags)
        _say(f"{options.pool}: {len(made.vocabulary):,} token types tagged by {made.manifest['tagger']}")
        _say(", ".join(f"{n:,} {name}" for name, n in counts.most_common()))
    else:
        _say(f"{options.pool}: its {len(made.vocabulary):,} token types have no tags now")
    _say("", f"Runs made with other tags are of another pool. Next: {filter_command(options.pool, made)}")


def train_tagger(options: TrainTaggerOptions) -> None:
    """Print what the pipeline gets right on the held-out sentences, and what to run next."""
    from swag_af.data.syntax.train_tagger import train_tagger as train

    figures = train(options)
    following = command("tag", "pool", "--tagger", f"spacy[{options.out}]", "--in-context")
    _say(
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


def filter(options: FilterOptions) -> None:
    """Print the first and last accuracies of every head."""
    from swag_af.cli.filtering import run_filter
    from swag_af.cli.following import release_command

    run = run_filter(options)
    _say(*run_lines(run))
    following = release_command(options.out, run.start.shape[1] - 1)
    _say(f"Written to {options.out}, with curve.png and report.html. Next: {following}")


def audit(options: AuditOptions) -> None:
    """Print what was found, with intervals; of a run, by each audit filter. Stops with code 1 where a gate fails."""
    from swag_af.auditing.audit import audit_of_run
    from swag_af.cli.auditing import is_of_run, run_audit

    if not is_of_run(options):
        audited = run_audit(options)
        _say(*audited_lines(audited.audit, audited.comparison))
        _say(*(["", *audited.gate.lines()] if audited.gate else []))
        _say("", *_where_the_audit_is(options))
        if audited.gate:
            audited.gate.check()
        return
    run, found = audit_of_run(options)
    _say(*audit_lines(run, found))
    _say("", f"Kept in {options.data[0]}. Next: {command('report', options.data[0])}")


def _where_the_audit_is(options: AuditOptions) -> list[str]:
    """What was written, and what to do next."""
    if options.out is None:
        return ["`swag-af explain CODE` tells about a code; --out DIR keeps the page and the score of each question."]
    return [f"Written to {options.out}. Open {options.out / 'audit.html'} in a browser; it needs no network."]


def describe(options: DescribeOptions) -> None:
    """Print counts, lengths, verbs and topics of a dataset."""
    from swag_af.cli.describing import describe as description
    from swag_af.cli.describing import described_lines

    _say(*described_lines(description(options), options))


def train_nli(options: TrainNLIOptions) -> None:
    """Print the accuracy on the held-out pairs, with its interval."""
    from swag_af.cli.nli import trained_lines
    from swag_af.filters.nli.training import train_nli as train

    _say(*trained_lines(train(options)))


def baselines(options: BaselinesOptions) -> None:
    """Print how far models get, or with --dry-run the cells and about how long they take."""
    from swag_af.cli.baselines import baselines_lines

    _say(*baselines_lines(options))


def guard(options: GuardOptions) -> None:
    """Print what each guard marks, examples of it, and how many rows have few negatives left."""
    from swag_af.cli.guarding import dry_run_lines, guarded_lines
    from swag_af.guarding.verb import guard as keep_out
    from swag_af.guarding.verb import guard_estimate

    if options.dry_run:
        _say(*dry_run_lines(guard_estimate(options)))
        return
    _say(*guarded_lines(keep_out(options), options))


def probe_endpoint(options: ProbeEndpointOptions) -> None:
    """Print what the server can do, and what that is good for."""
    from swag_af.cli.probing import probed_lines
    from swag_af.endpoints.verb import probe_endpoint as probe

    _say(*probed_lines(probe(options), options))


def prune(options: PruneOptions) -> None:
    """Print how many instances went, in which rounds, beside random removals, and what the rest gives away."""
    from swag_af.cli.pruning import pruned_lines
    from swag_af.pruning.verb import prune as remove

    pruned = remove(options)
    _say(*pruned_lines(pruned, options))


def diagnose(options: DiagnoseOptions) -> None:
    """Print why the curve of a run is not lower, every figure behind that, and what would help."""
    from swag_af.cli.diagnosing import diagnose as make
    from swag_af.cli.diagnosing import diagnosed_lines, folder_of

    _say(*diagnosed_lines(make(options), folder_of(options)))


def refine(options: RefineOptions) -> None:
    """Print what was flagged beside luck, each round, the control, and audits before and after."""
    from swag_af.cli.refining import refined_lines

    _say(*refined_lines(options))


def score(options: ScoreOptions) -> None:
    """Print every figure with its interval, models compared, blind against sighted, and people."""
    from swag_af.cli.scoring import score as make
    from swag_af.cli.scoring import score_lines

    _say(*score_lines(make(options), options))


def count_check(options: CountCheckOptions) -> None:
    """Print what each percentage can be a share of, and what other numbers all of them would fit."""
    from swag_af.cli.scoring import check_lines
    from swag_af.scoring.counting import count_check as check

    _say(*check_lines(check(options)))


def explain(options: ExplainOptions) -> None:
    """Print what codes of an audit mean, or the list of all of them."""
    from swag_af.cli.explain import explain as text_of

    _say(text_of(options))


def report(options: ReportOptions) -> None:
    """Print where the page is and, if people judged endings, the command that includes their verdicts."""
    from swag_af.reporting.verb import report as write
    from swag_af.reporting.verification import how_to_include

    _say(f"Written to {write(options)}. Open it in a browser; it needs no network.")
    if not options.verdicts and (command := how_to_include(options.run)):
        _say("", f"People have been asked to judge these endings. To say in it what they said: {command}")


def release(options: ReleaseOptions) -> None:
    """Print the sizes of the splits, what was left out and why, and what style gives away."""
    from swag_af.judging.rules import LEFT_OUT
    from swag_af.releasing.card_style import style_lines
    from swag_af.releasing.dataset import shortfalls
    from swag_af.releasing.formats import has_pyarrow
    from swag_af.releasing.verb import release as make

    dataset = make(options)
    _say(
        f"{len(dataset.questions):,} questions: " + ", ".join(f"{split} {n:,}" for split, n in dataset.sizes.items()),
        f"{len(dataset.group_sizes):,} groups of {dataset.n_videos:,} videos stay together",
    )
    if dataset.opinions is None:
        _say("Nobody has judged these endings; the card says so. `swag-af verify serve` asks people.")
    else:
        dropped = len(dataset.opinions.dropped)
        _say(
            f"{len(dataset.opinions.verdicts):,} verdicts of {dataset.opinions.n_annotators:,} annotators, "
            f"{dropped:,} of them dropped"
            + ("" if dataset.run.matching else f"; {dataset.n_generated:,} questions have a generated answer"),
            "",
            *table(
                [
                    ("contexts left out because", "count"),
                    *((LEFT_OUT[r], f"{n:,}") for r, n in dataset.left_out.items()),
                ]
            ),
        )
    _say("", *style_lines(dataset.run, dataset.style))
    if why := dataset.rationales:
        _say("", f"{len(why.questions):,} of them ask for a rationale too (QA->R).", *style_lines(why.run, why.style))
    for line in shortfalls(dataset):
        _say("", f"Note: {line}")
    if options.formats == "auto" and not has_pyarrow():
        _say("", "Note: no Parquet, for want of pyarrow. Install it with: pip install 'swag-af[publish]'")
    _say("", f"Written to {options.out}, with README.md, the dataset card. Next: {command('show', options.out)}")


def show(options: ShowOptions) -> None:
    """Print what the path holds."""
    from swag_af.cli.show import show as text_of

    _say(text_of(options))


def verify_serve(options: ServeOptions) -> None:
    """Print the address of the web application, and serve it until Ctrl-C."""
    try:
        from swag_af.verify.web.server import serve
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed. Install it with: pip install 'swag-af[verify]'") from None
    serve(options, say=_say)


def verify_invite(options: InviteOptions) -> None:
    """Write the links, and say what to run next."""
    try:
        from swag_af.verify.invitations import invite
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed. Install it with: pip install 'swag-af[verify]'") from None
    n = invite(options)
    _say(f"{n:,} links. Written to {options.out}. Next: {command('verify', 'serve', options.run, '--invited-only')}")


def verify_backup(options: BackupOptions) -> None:
    """Copy the answers, and say how many they are."""
    from swag_af.verify.backup import backup

    n = backup(options)
    _say(f"{n:,} answers, those to trial questions included. Written to {options.out}.")


def verify_export(options: ExportOptions) -> None:
    """Print which files were written, which of them to upload, and which to keep private."""
    from swag_af.verify.exchange.verb import export

    done = export(options)
    if done.key is None:
        _say(f"{done.n:,} verdicts. Written to {options.out}. Next: {command('verify', 'agreement', options.out)}")
        return
    _say(f"{done.n:,} tasks for people elsewhere: {' and '.join(map(str, done.files))}")
    _say(f"{done.key} says which ending is gold: keep it here, and upload it nowhere.", "")
    _say(f"When answers are back: {command('verify', 'import', options.run, 'FILE', '--key', done.key)}")


def verify_import(options: ImportOptions) -> None:
    """Print how many verdicts there are, and what was dropped."""
    from swag_af.verify.exchange.verb import import_verdicts

    done = import_verdicts(options)
    annotators = len({verdict.annotator for verdict in done.verdicts})
    items = len({verdict.item for verdict in done.verdicts})
    _say(f"{len(done.verdicts):,} verdicts of {annotators:,} people on {items:,} items")
    _say(f"answers dropped: {', '.join(f'{n:,} {why}' for why, n in done.dropped.most_common()) or 'none'}")
    _say("", f"Written to {options.out}. Next: {command('verify', 'agreement', options.out)}")


def verify_agreement(options: AgreementOptions) -> None:
    """Print Table 2 of the paper next to the same figures for these verdicts."""
    from swag_af.data.files import check_output, write_json
    from swag_af.judging.agreement import agreement_rows, annotator_rows, consensus_rows, distribution_rows, measure
    from swag_af.judging.verdicts import read_verdicts

    if options.json is not None:
        check_output(options.json, force=options.force)
    found = measure(read_verdicts(options.verdicts), model=options.model, seed=options.seed)
    _say(
        f"{found.n_verdicts:,} verdicts of {len(found.annotators):,} people on {found.n_items:,} items, "
        f"{found.n_shared_items:,} of them judged twice or more",
        "",
    )
    for rows in (distribution_rows(found), agreement_rows(found), consensus_rows(found), annotator_rows(found)):
        _say(*table([tuple(row) for row in rows]), "")
    if options.json is not None:
        write_json(options.json, found.as_record())
        _say(f"Written to {options.json}.")


def demo(options: DemoOptions) -> None:
    """Run everything on the sample and print three questions."""
    from swag_af.cli.demo import demo as run_all

    _say(run_all(options))


def _say(*lines: str) -> None:
    """Print lines of text that may come from data: no character in them commands the terminal."""
    print(*(visible(as_told(line)) for line in lines), sep="\n", flush=True)
