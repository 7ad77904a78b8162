"""What the other verbs print. The work is done by the Python function of the same name, which prints nothing."""

import sys

from swag_af.af.options import FilterOptions
from swag_af.auditing.options import AuditOptions, ExplainOptions
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.options import DemoOptions, ShowOptions
from swag_af.cli.saying import how_to_open, say
from swag_af.data.disk.urls import command
from swag_af.describing.options import DescribeOptions
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.endpoints.options import ProbeEndpointOptions
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.guarding.options import GuardOptions
from swag_af.matching.options import MatchOptions
from swag_af.pruning.options import PruneOptions
from swag_af.refining.options import RefineOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.tables.text import audit_lines, audited_lines, run_lines
from swag_af.scoring.options import CountCheckOptions, ScoreOptions

ON_A_TERMINAL = 12
"""Rows of a table of checks that a terminal shows."""


def match(options: MatchOptions) -> None:
    """Print how the data was read, what was matched with what, what came of it, and three questions."""
    from swag_af.cli.runs.matching import dry_run_lines, matched_lines, sweep_lines
    from swag_af.matching.sweep import dry_run as dry_run_of_sweep
    from swag_af.matching.sweep import sweep
    from swag_af.matching.verb import dry_run
    from swag_af.matching.verb import match as make

    if options.dry_run:
        say(*dry_run_lines((dry_run_of_sweep if options.sweeping.sweep else dry_run)(options)))
    elif options.sweeping.sweep:
        say(*sweep_lines(sweep(options), options))
    else:
        say(*matched_lines(make(options), options))


def filter(options: FilterOptions) -> None:
    """Print the first and last accuracies of every head."""
    from swag_af.cli.following import release_command
    from swag_af.cli.runs.filtering import run_filter

    run = run_filter(options)
    say(*run_lines(run))
    following = release_command(options.out, run.start.shape[1] - 1)
    say(f"Written to {options.out}, with curve.png and report.html. Next: {following}")


def audit(options: AuditOptions) -> None:
    """Print what was found, with intervals; of a run, by each audit filter. Stops with code 1 where a gate fails."""
    from swag_af.auditing.runs.audit import audit_of_run
    from swag_af.cli.datasets.auditing import is_of_run, run_audit

    if not is_of_run(options):
        audited = run_audit(options)
        say(*audited_lines(audited.audit, audited.comparison, most=ON_A_TERMINAL if sys.stdout.isatty() else None))
        say(*(["", *audited.gate.lines()] if audited.gate else []))
        say("", *_where_the_audit_is(options))
        if audited.gate:
            audited.gate.check()
        return
    run, found = audit_of_run(options)
    say(*audit_lines(run, found))
    say("", f"Kept in {options.data[0]}. Next: {command('report', options.data[0])}")


def _where_the_audit_is(options: AuditOptions) -> list[str]:
    """What was written, and what to do next."""
    if options.out is None:
        return ["`swag-af explain CODE` tells about a code; --out DIR keeps the page and the score of each question."]
    return [f"Written to {options.out}. {how_to_open(options.out / 'audit.html')}"]


def describe(options: DescribeOptions) -> None:
    """Print counts, lengths, verbs and topics of a dataset."""
    from swag_af.cli.datasets.describing import describe as description
    from swag_af.cli.datasets.describing import described_lines

    say(*described_lines(description(options), options))


def train_nli(options: TrainNLIOptions) -> None:
    """Print the accuracy on the held-out pairs, with its interval."""
    from swag_af.cli.runs.nli import trained_lines
    from swag_af.filters.nli.training import train_nli as train

    say(*trained_lines(train(options)))


def baselines(options: BaselinesOptions) -> None:
    """Print how far models get, or with --dry-run the cells and about how long they take."""
    from swag_af.cli.datasets.baselines import baselines_lines

    say(*baselines_lines(options))


def guard(options: GuardOptions) -> None:
    """Print what each guard marks, examples of it, and how many rows have few negatives left."""
    from swag_af.cli.runs.guarding import dry_run_lines, guarded_lines
    from swag_af.guarding.verb import guard as keep_out
    from swag_af.guarding.verb import guard_estimate

    if options.dry_run:
        say(*dry_run_lines(guard_estimate(options)))
        return
    say(*guarded_lines(keep_out(options), options))


def probe_endpoint(options: ProbeEndpointOptions) -> None:
    """Print what the server can do, and what that is good for."""
    from swag_af.cli.runs.probing import probed_lines
    from swag_af.endpoints.verb import probe_endpoint as probe

    say(*probed_lines(probe(options), options))


def prune(options: PruneOptions) -> None:
    """Print how many instances went, in which rounds, beside random removals, and what the rest gives away."""
    from swag_af.cli.datasets.pruning import pruned_lines
    from swag_af.pruning.verb import prune as remove

    pruned = remove(options)
    say(*pruned_lines(pruned, options))


def diagnose(options: DiagnoseOptions) -> None:
    """Print why the curve of a run is not lower, every figure behind that, and what would help."""
    from swag_af.cli.runs.diagnosing import diagnose as make
    from swag_af.cli.runs.diagnosing import diagnosed_lines, folder_of

    say(*diagnosed_lines(make(options), folder_of(options)))


def refine(options: RefineOptions) -> None:
    """Print what was flagged beside luck, each round, the control, and audits before and after."""
    from swag_af.cli.datasets.refining import refined_lines

    say(*refined_lines(options))


def score(options: ScoreOptions) -> None:
    """Print every figure with its interval, models compared, blind against sighted, and people."""
    from swag_af.cli.datasets.scoring import score as make
    from swag_af.cli.datasets.scoring import score_lines

    say(*score_lines(make(options), options))


def count_check(options: CountCheckOptions) -> None:
    """Print what each percentage can be a share of, and what other numbers all of them would fit."""
    from swag_af.cli.datasets.scoring import check_lines
    from swag_af.scoring.counting import count_check as check

    say(*check_lines(check(options)))


def explain(options: ExplainOptions) -> None:
    """Print what codes of an audit mean, or the list of all of them."""
    from swag_af.cli.explain import explain as text_of

    say(text_of(options))


def report(options: ReportOptions) -> None:
    """Print where the page is and, if people judged endings, the command that includes their verdicts."""
    from swag_af.reporting.sections.verification import how_to_include
    from swag_af.reporting.verb import report as write

    page = write(options)
    say(f"Written to {page}. {how_to_open(page)}")
    if not options.verdicts and (command := how_to_include(options.run)):
        say("", f"People have been asked to judge these endings. To say in it what they said: {command}")


def release(options: ReleaseOptions) -> None:
    """Print the sizes of the splits, what was left out and why, and what style gives away."""
    from swag_af.cli.runs.releasing import released_lines
    from swag_af.releasing.verb import release as make

    say(*released_lines(make(options), options))


def show(options: ShowOptions) -> None:
    """Print what the path holds."""
    from swag_af.cli.showing.show import show as text_of

    say(text_of(options))


def demo(options: DemoOptions) -> None:
    """Run everything on the sample and print three questions."""
    from swag_af.cli.demo import demo as run_all

    say(run_all(options))
