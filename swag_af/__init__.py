"""Adversarial Filtering for multiple-choice datasets that style alone must not solve.

Each verb of the command line is a function here, which takes its options object, does the work, returns what it made
and prints nothing but progress, and warnings, on standard error:

    swag_af.release(swag_af.ReleaseOptions("run", "dataset"))

Options take paths as texts too, and one alone or a list where several may stand.

    contexts      ContextsOptions       the table of dropped pairs
    train_lm      TrainLMOptions        each trained fold's report
    generate      GenerateOptions       the pool
    probe_endpoint  ProbeEndpointOptions  what a server can do
    features      FeaturesOptions       the pool
    pool          PoolOptions           the pool
    match         MatchOptions          the matching: figures, and the folder with questions, pool and run
    sweep         MatchOptions          how hard questions are at each lambda
    tag           TagOptions            the pool
    train_tagger  TrainTaggerOptions    accuracies of the pipeline
    guard         GuardOptions          the pool, wrong endings marked that could be right
    train_nli     TrainNLIOptions       the model, with what it said of held-out pairs
    run_filter    FilterOptions         the run
    run_audit     AuditOptions          the audit of a dataset, beside another, against a gate
    audit_of_run  AuditOptions          the run and what filters that took no part find in it
    describe      DescribeOptions       counts, lengths, verbs and topics of a dataset
    diagnose      DiagnoseOptions       why the curve of a run is not lower
    prune         PruneOptions          what was removed, and the audits before and after
    refine        RefineOptions         what was flagged, rewritten or taken out
    score         ScoreOptions          what models and people get right
    count_check   CountCheckOptions     what percentages can be shares of
    run_baselines  BaselinesOptions     how far models get: Table 3
    report        ReportOptions         the path of the page
    release       ReleaseOptions        the dataset

The verb `filter` is `run_filter`, because `filter` is Python's own; `filter_pool` is the algorithm alone, and so is
`audit(data)` of `run_audit`.

Reading order (each folder imports only those named before it):

    data       contexts, texts, tags, captions, pools, runs: the ground
    nn         what networks share
    endpoints  language models behind an address
    lm         generators of candidate endings
    filters    readers of style
    af         Adversarial Filtering, the algorithm alone
    auditing   how well filters that took no part still find gold
    guarding   wrong endings that could be right, kept out of assignments
    judging    what people say of endings, and how far they agree
    scoring    what predictions get right, and people
    baselines  Table 3: how far models get
    describing  counts, lengths, verbs and topics of a dataset
    diagnosing  why the curve of a run is not lower
    reporting  a run told to people: curve, tables, page
    pruning    instances that are solved without the task, removed beside a control
    refining   questions that models answer blind, rewritten or taken out
    matching   right answers recycled as wrong answers of other questions
    releasing  a run to a dataset
    verify     people judge the endings of a run
    cli        the command line

`lm` and `filters` do not know each other, nor do `af`, `auditing` and `judging`. The names here are loaded when first
used; importing swag_af imports neither numpy, torch nor spaCy.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swag_af.af.loop import filter_pool
    from swag_af.af.options import AFOptions, FilterOptions
    from swag_af.auditing.dataset import Checks, audit
    from swag_af.auditing.options import AuditOptions
    from swag_af.auditing.outcome import Audit
    from swag_af.auditing.probes.probe import probe
    from swag_af.auditing.runs.audit import audit_of_run, audit_pool
    from swag_af.baselines.options import BaselinesOptions
    from swag_af.baselines.outcome import Baselines
    from swag_af.cli.datasets.auditing import run_audit
    from swag_af.cli.datasets.baselines import run_baselines
    from swag_af.cli.datasets.describing import describe
    from swag_af.cli.datasets.scoring import score
    from swag_af.cli.runs.diagnosing import diagnose
    from swag_af.cli.runs.filtering import run_filter
    from swag_af.data.captions.options import CaptionColumns, ContextRules, ContextsOptions
    from swag_af.data.captions.verb import contexts
    from swag_af.data.context import Context
    from swag_af.data.engines.options import EngineOptions, Workers
    from swag_af.data.errors import SwagAfError
    from swag_af.data.instances.instances import Instance, Instances
    from swag_af.data.instances.options import InstanceColumns, ReadingOptions
    from swag_af.data.instances.reading import read_instances
    from swag_af.data.pool.options import Columns, PoolOptions, TagOptions
    from swag_af.data.pool.pool import CandidatePool
    from swag_af.data.pooling.verb import pool, tag
    from swag_af.data.runs.findings import Finding
    from swag_af.data.runs.run import Run, open_run
    from swag_af.data.syntax.options import TrainTaggerOptions
    from swag_af.data.syntax.train_tagger import train_tagger
    from swag_af.describing.options import DescribeOptions
    from swag_af.diagnosing.options import DiagnoseOptions
    from swag_af.endpoints.options import EndpointOptions, ProbeEndpointOptions
    from swag_af.endpoints.verb import probe_endpoint
    from swag_af.filters.checking import check_filter
    from swag_af.filters.nli.entailing import entailment
    from swag_af.filters.nli.options import TrainNLIOptions
    from swag_af.filters.nli.training import train_nli
    from swag_af.filters.registry import make_filter
    from swag_af.guarding.checking import check_guard
    from swag_af.guarding.options import GuardOptions
    from swag_af.guarding.verb import guard
    from swag_af.lm.checking import check_generator
    from swag_af.lm.features import features
    from swag_af.lm.lstm.train import train_lm
    from swag_af.lm.options import FeaturesOptions, GenerateOptions, LMOptions, TextOptions, TrainLMOptions
    from swag_af.lm.registry import make_generator
    from swag_af.lm.scorers.checking import check_scorer
    from swag_af.lm.verb import generate
    from swag_af.matching.checking import check_relevance, check_similarity
    from swag_af.matching.options import MatchingOptions, MatchOptions, PairColumns, SweepOptions
    from swag_af.matching.sweep import sweep
    from swag_af.matching.texts import match_texts
    from swag_af.matching.verb import match
    from swag_af.pruning.options import PruneOptions
    from swag_af.pruning.verb import prune
    from swag_af.refining.options import RefineOptions
    from swag_af.refining.verb import refine
    from swag_af.releasing.options import ReleaseOptions
    from swag_af.releasing.verb import release
    from swag_af.reporting.options import ReportOptions
    from swag_af.reporting.verb import report, write_report
    from swag_af.scoring.counting import count_check, counts
    from swag_af.scoring.options import CountCheckOptions, PredictionOptions, ScoreOptions
    from swag_af.scoring.outcome import scores_of

os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # before torch: threads that wait must not spin for long

_MODULE_OF = {
    "AFOptions": "swag_af.af.options",
    "Audit": "swag_af.auditing.outcome",
    "AuditOptions": "swag_af.auditing.options",
    "Baselines": "swag_af.baselines.outcome",
    "BaselinesOptions": "swag_af.baselines.options",
    "CandidatePool": "swag_af.data.pool.pool",
    "Checks": "swag_af.auditing.dataset",
    "CaptionColumns": "swag_af.data.captions.options",
    "Columns": "swag_af.data.pool.options",
    "Context": "swag_af.data.context",
    "ContextRules": "swag_af.data.captions.options",
    "ContextsOptions": "swag_af.data.captions.options",
    "CountCheckOptions": "swag_af.scoring.options",
    "DescribeOptions": "swag_af.describing.options",
    "DiagnoseOptions": "swag_af.diagnosing.options",
    "EndpointOptions": "swag_af.endpoints.options",
    "EngineOptions": "swag_af.data.engines.options",
    "FeaturesOptions": "swag_af.lm.options",
    "FilterOptions": "swag_af.af.options",
    "Instance": "swag_af.data.instances.instances",
    "Instances": "swag_af.data.instances.instances",
    "InstanceColumns": "swag_af.data.instances.options",
    "Finding": "swag_af.data.runs.findings",
    "GenerateOptions": "swag_af.lm.options",
    "GuardOptions": "swag_af.guarding.options",
    "LMOptions": "swag_af.lm.options",
    "MatchOptions": "swag_af.matching.options",
    "MatchingOptions": "swag_af.matching.options",
    "PairColumns": "swag_af.matching.options",
    "PoolOptions": "swag_af.data.pool.options",
    "PredictionOptions": "swag_af.scoring.options",
    "ProbeEndpointOptions": "swag_af.endpoints.options",
    "PruneOptions": "swag_af.pruning.options",
    "ReadingOptions": "swag_af.data.instances.options",
    "RefineOptions": "swag_af.refining.options",
    "ReleaseOptions": "swag_af.releasing.options",
    "ReportOptions": "swag_af.reporting.options",
    "Run": "swag_af.data.runs.run",
    "ScoreOptions": "swag_af.scoring.options",
    "SwagAfError": "swag_af.data.errors",
    "SweepOptions": "swag_af.matching.options",
    "TagOptions": "swag_af.data.pool.options",
    "TextOptions": "swag_af.lm.options",
    "TrainLMOptions": "swag_af.lm.options",
    "TrainNLIOptions": "swag_af.filters.nli.options",
    "TrainTaggerOptions": "swag_af.data.syntax.options",
    "Workers": "swag_af.data.engines.options",
    "audit": "swag_af.auditing.dataset",
    "audit_of_run": "swag_af.auditing.runs.audit",
    "audit_pool": "swag_af.auditing.runs.audit",
    "check_filter": "swag_af.filters.checking",
    "check_generator": "swag_af.lm.checking",
    "check_guard": "swag_af.guarding.checking",
    "check_scorer": "swag_af.lm.scorers.checking",
    "contexts": "swag_af.data.captions.verb",
    "count_check": "swag_af.scoring.counting",
    "counts": "swag_af.scoring.counting",
    "describe": "swag_af.cli.datasets.describing",
    "diagnose": "swag_af.cli.runs.diagnosing",
    "entailment": "swag_af.filters.nli.entailing",
    "features": "swag_af.lm.features",
    "filter_pool": "swag_af.af.loop",
    "generate": "swag_af.lm.verb",
    "guard": "swag_af.guarding.verb",
    "make_filter": "swag_af.filters.registry",
    "make_generator": "swag_af.lm.registry",
    "match": "swag_af.matching.verb",
    "match_texts": "swag_af.matching.texts",
    "check_relevance": "swag_af.matching.checking",
    "check_similarity": "swag_af.matching.checking",
    "sweep": "swag_af.matching.sweep",
    "open_run": "swag_af.data.runs.run",
    "pool": "swag_af.data.pooling.verb",
    "refine": "swag_af.refining.verb",
    "release": "swag_af.releasing.verb",
    "probe": "swag_af.auditing.probes.probe",
    "probe_endpoint": "swag_af.endpoints.verb",
    "prune": "swag_af.pruning.verb",
    "read_instances": "swag_af.data.instances.reading",
    "report": "swag_af.reporting.verb",
    "run_baselines": "swag_af.cli.datasets.baselines",
    "run_audit": "swag_af.cli.datasets.auditing",
    "run_filter": "swag_af.cli.runs.filtering",
    "score": "swag_af.cli.datasets.scoring",
    "scores_of": "swag_af.scoring.outcome",
    "tag": "swag_af.data.pooling.verb",
    "train_lm": "swag_af.lm.lstm.train",
    "train_nli": "swag_af.filters.nli.training",
    "train_tagger": "swag_af.data.syntax.train_tagger",
    "write_report": "swag_af.reporting.verb",
}

__all__ = [
    "AFOptions",
    "Audit",
    "AuditOptions",
    "Baselines",
    "BaselinesOptions",
    "CandidatePool",
    "CaptionColumns",
    "Checks",
    "Columns",
    "Context",
    "ContextRules",
    "ContextsOptions",
    "CountCheckOptions",
    "DescribeOptions",
    "DiagnoseOptions",
    "EndpointOptions",
    "EngineOptions",
    "FeaturesOptions",
    "FilterOptions",
    "Finding",
    "GenerateOptions",
    "GuardOptions",
    "Instance",
    "InstanceColumns",
    "Instances",
    "LMOptions",
    "MatchOptions",
    "MatchingOptions",
    "PairColumns",
    "PoolOptions",
    "PredictionOptions",
    "ProbeEndpointOptions",
    "PruneOptions",
    "ReadingOptions",
    "RefineOptions",
    "ReleaseOptions",
    "ReportOptions",
    "Run",
    "ScoreOptions",
    "SwagAfError",
    "SweepOptions",
    "TagOptions",
    "TextOptions",
    "TrainLMOptions",
    "TrainNLIOptions",
    "TrainTaggerOptions",
    "Workers",
    "audit",
    "audit_of_run",
    "audit_pool",
    "check_filter",
    "check_generator",
    "check_guard",
    "check_relevance",
    "check_scorer",
    "check_similarity",
    "contexts",
    "count_check",
    "counts",
    "describe",
    "diagnose",
    "entailment",
    "features",
    "filter_pool",
    "generate",
    "guard",
    "make_filter",
    "make_generator",
    "match",
    "match_texts",
    "open_run",
    "pool",
    "probe",
    "probe_endpoint",
    "prune",
    "read_instances",
    "refine",
    "release",
    "report",
    "run_audit",
    "run_baselines",
    "run_filter",
    "score",
    "scores_of",
    "sweep",
    "tag",
    "train_lm",
    "train_nli",
    "train_tagger",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name == "filters":  # the classes that it has, for who writes swag_af.filters.SklearnFilter
        return import_module("swag_af.filters")
    if name == "__version__":
        return import_module("importlib.metadata").version("swag-af")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
