"""Every verb that writes is killed before one of its file operations, run again, and must end in the same bytes.

The kill is an exception that an audit hook raises before the k-th file is opened for writing, renamed, made or removed;
every later operation fails too, so that no clean-up runs, as after SIGKILL. Where a verb has many operations or takes
long, some are tried: the first, the last, and those beside renames.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of, make_pool

from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.options import AuditOptions
from swag_af.auditing.runs.audit import audit_of_run
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.datasets.auditing import run_audit
from swag_af.cli.datasets.baselines import run_baselines
from swag_af.cli.datasets.describing import describe
from swag_af.cli.demo import demo
from swag_af.cli.main import main
from swag_af.cli.options import DemoOptions
from swag_af.cli.runs.diagnosing import diagnose
from swag_af.cli.runs.filtering import run_filter
from swag_af.cli.runs.verifying import verify_agreement
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.readers import caption_rows
from swag_af.data.captions.verb import contexts
from swag_af.data.disk import replacing
from swag_af.data.disk.files import write_jsonl, write_text
from swag_af.data.errors import InputError
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool, tag
from swag_af.data.runs.run import open_run
from swag_af.data.sample import grammar
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.describing.options import DescribeOptions
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.filters import registry
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.filters.nli.training import train_nli
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.judging.options import AgreementOptions
from swag_af.judging.verdicts import RATINGS, Verdict, make_items, write_verdicts
from swag_af.lm.features import features
from swag_af.lm.lstm.train import train_lm
from swag_af.lm.options import FeaturesOptions, GenerateOptions, LMOptions, TrainLMOptions
from swag_af.lm.verb import generate
from swag_af.matching.options import MatchingOptions, MatchOptions, SweepOptions
from swag_af.matching.sweep import sweep
from swag_af.matching.verb import match
from swag_af.refining.options import RefineOptions
from swag_af.refining.verb import refine
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.reporting.options import ReportOptions
from swag_af.reporting.verb import report
from swag_af.verify.exchange.verb import export, import_verdicts
from swag_af.verify.options import ExportOptions, ImportOptions
from swag_af.verify.store import read_keys

DEAD = 1 << 23
"""No process has this number: Linux stops at 1 << 22."""

VARYING = {"timing.json", "timing.jsonl", "keys.json"}
"""Files of seconds and of secrets, which must be there and may differ."""


class Killed(BaseException):
    """What stands for SIGKILL."""


class Watch:
    """Records the file operations below a folder, and raises Killed at the k-th and all that follow."""

    def __init__(self) -> None:
        self.root = ""
        self.kill_at: int | None = None
        self.operations: list[str] = []

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if self.root and (operation := self._operation(event, given)):
            self.operations.append(operation)
            if self.kill_at is not None and len(self.operations) > self.kill_at:
                raise Killed(operation)

    def _operation(self, event: str, given: tuple[Any, ...]) -> str | None:
        """The operation in words, None where it changes nothing below the folder."""
        if event == "open":
            mode, flags = given[1:]
            writes = any(letter in mode for letter in "wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR)
            paths = given[:1] if writes else ()
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"):
            paths = given[: 2 if event == "os.rename" else 1]
        else:
            return None
        named = [os.fsdecode(path) for path in paths if isinstance(path, str | bytes | os.PathLike)]
        ours = [name for name in named if name.startswith(self.root)]
        return f"{event} {' -> '.join(name.removeprefix(self.root) for name in ours)}" if ours else None


WATCH = Watch()


@pytest.fixture(scope="module", autouse=True)
def _watched() -> None:
    sys.addaudithook(WATCH)  # there for good; it looks on only while it has a folder to watch


@dataclass(frozen=True)
class Case:
    """A verb to be killed."""

    needs: str
    """Its inputs, by name."""
    run: Callable[[Path], object]
    """Runs it in the folder of its inputs."""
    most: int = 16
    """How many of its operations are tried."""


def operations_of(run: Callable[[Path], object], root: Path, *, kill_at: int | None = None) -> list[str]:
    """Run the verb, perhaps to be killed; the operations it came to."""
    WATCH.root, WATCH.kill_at, WATCH.operations = f"{root}/", kill_at, []
    is_alive = replacing._is_alive
    try:
        with pytest.MonkeyPatch.context() as patch:
            if kill_at is not None:
                patch.setattr(os, "getpid", lambda: DEAD)  # its temporary files are those of a process that has ended
                patch.setattr(replacing, "_is_alive", lambda process: process == DEAD or is_alive(process))  # not yet
            run(root)
    except Killed:
        pass
    finally:
        WATCH.root = ""
    return WATCH.operations


def places(operations: list[str], most: int) -> list[int]:
    """Up to `most` of the operations: first, last, renames and what follows them, then others; and the first rename
    into each folder, before which a part of a file lies there."""
    n = len(operations)
    renames = [i for i, operation in enumerate(operations) if operation.startswith(("os.rename", "shutil.rmtree"))]
    beside = list(dict.fromkeys(i for r in renames for i in (r, r + 1) if 0 < i < n - 1))
    others = [i for i in range(1, n - 1) if i not in beside]
    folders = {os.path.dirname(operations[r].rpartition(" -> ")[2]): r for r in reversed(renames)}
    first = [r for folder, r in folders.items() if ".tmp" not in folder]
    chosen = [0, n - 1, *first, *spread(beside, most - 2)]
    return sorted({*chosen, *spread(others, most - len(chosen))})


def spread(values: list[int], most: int) -> list[int]:
    """Up to `most` of them, evenly."""
    return [values[i] for i in np.unique(np.linspace(0, len(values) - 1, max(0, min(most, len(values)))).astype(int))]


def content_of(root: Path) -> dict[str, bytes]:
    """Every file and folder below, hidden ones too; without what tells seconds."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if "__pycache__" in name:
            continue
        content = b"" if path.is_dir() or path.name in VARYING else path.read_bytes()
        if path.name == "report.html":
            content = re.sub(rb'<section id="timing">.*?</section>', b"", content, flags=re.DOTALL)
        found[name] = content
    return found


def write_book(path: Path) -> None:
    rooms = ("kitchen", "garden", "hall", "cellar", "attic")
    lines = [f"The man walks into the {a}. He looks at the {b} for a while." for a in rooms for b in rooms]
    path.write_text("\n\n".join(lines), encoding="utf-8")


def write_treebank(path: Path) -> None:
    """Twenty sentences; every word depends on the first one."""
    blocks = []
    for sentence in [s for video in grammar.sample_sentences(6) for s in video][:20]:
        words = enumerate(zip(sentence.tokens, sentence.tags, strict=True), start=1)
        blocks.append(
            "".join(f"{i}\t{w}\t_\t{t}\t_\t_\t{i > 1:d}\t{'dep' if i > 1 else 'root'}\t_\t_\n" for i, (w, t) in words)
        )
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")


def write_run(root: Path) -> None:
    """A pool and a run of it, with verdicts of one person."""
    run_filter(filter_options(root))
    run = open_run(root / "run")
    items = make_items(run.assignment(), seed=0)
    ratings = (RATINGS[0], *[RATINGS[1]] * (len(items[0].columns) - 1))
    verdicts = [Verdict(item, "a", ratings, 0, 1 + i % 2, 20.0) for i, item in enumerate(items)]
    write_verdicts(root / "judged.jsonl", verdicts, run.pool.identity)


def filter_options(root: Path) -> FilterOptions:
    af = AFOptions(iterations=2, n_negatives=9)
    return FilterOptions(root / "pool", root / "run", schedule="hash:2", audit="hash", af=af)


SMALL = LMOptions(hidden=8, layers=1, epochs=2, pretrain_epochs=1, batch_size=128, learning_rate=1e-2, min_count=1)


def generate_options(root: Path, features: Any) -> GenerateOptions:
    settings: dict[str, Any] = {"n_negatives": 4, "limit": 3, "shard_rows": 2, "tagger": "rules"}
    return GenerateOptions(root / "contexts.jsonl", root / "lms", root / "made", features=features, **settings)


def generate_texts(root: Path) -> None:
    settings: dict[str, Any] = {"n_negatives": 3, "limit": 6, "tagger": "rules", "min_tokens": 3}
    generate(GenerateOptions(root / "contexts.jsonl", out=root / "made", generator="ngram", **settings))


def contexts_options(root: Path, name: str, *, force: bool = False) -> ContextsOptions:
    rules = ContextRules(min_token_count=1)
    return ContextsOptions((root / "captions.jsonl",), root / name, splitter="rules", rules=rules, force=force)


def pool_options(root: Path, name: str, *, force: bool = False) -> PoolOptions:
    return PoolOptions((root / "rows.jsonl",), root / name, tagger="rules", force=force)


def train_small(root: Path) -> None:
    train_lm(TrainLMOptions(root / "contexts.jsonl", root / "new", (0,), lm=SMALL, pretrain=(root / "book.txt",)))


def generate_lazily(root: Path) -> None:
    generate(generate_options(root, "lazy"))
    features(FeaturesOptions(root / "made"))


def train_tagger(root: Path) -> None:
    pytest.importorskip("spacy")
    from swag_af.data.syntax.train_tagger import train_tagger as train

    train(TrainTaggerOptions(root / "treebank.conllu", root / "tagger", epochs=2, width=8, parser=False))


def release_judged(root: Path) -> None:
    release(ReleaseOptions(root / "run", root / "set", (root / "judged.jsonl",), audit="none", formats="jsonl"))


def import_judged(root: Path) -> None:
    import_verdicts(ImportOptions(root / "run", (root / "judged.jsonl",), out=root / "verdicts.jsonl"))


def prune_by_command(root: Path) -> None:
    """The command line, with curves that nobody draws."""
    settings = "--partitions 4 --slice-share 0.2 --audit-models tfidf --draws 2 --points 1 --folds 2"
    given = (root / "questions.jsonl", "--out", root / "pruned", "--write", root / "kept.jsonl", *settings.split())
    main(["prune", *map(str, given)])


def refine_by_vote(root: Path) -> None:
    """Two filters vote, in one try each."""
    filters = {"judge": "ngrams,chars", "tries": 1, "more_than": 0, "votes": 2, "folds": 2, "audit_models": "chars"}
    refine(RefineOptions((root / "questions.jsonl",), recipe="mmmu-pro", out=root / "refined", **filters))


def audit_questions(root: Path) -> None:
    run_audit(AuditOptions((root / "questions.jsonl",), root / "audit", filters="tfidf", folds=2))


def fit_baselines(root: Path) -> None:
    run_baselines(BaselinesOptions((root / "questions.jsonl",), root / "table", models="random,length,tfidf"))


def write_questions(path: Path) -> None:
    """Forty questions, three in four of which their options give away."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(40):
        options = [" ".join(f"w{k}" for k in rng.integers(30, size=4)) for _ in range(2)]
        options[i % 2] += " indeed it is" if i % 4 else ""
        rows.append({"id": f"q{i}", "question": f"what of {i}?", "choices": options, "label": i % 2})
    write_jsonl(path, rows)


def write_asked(path: Path) -> None:
    """Forty questions with right answers alone, and why these are right."""
    words = np.random.default_rng(0).integers(30, size=(40, 8))
    texts = [[" ".join(f"w{k}" for k in part) for part in (row[:5], row[3:], row[[0, 7]])] for row in words]
    rows = ({"question": f"what of {q}?", "answer": f"{a}.", "rationale": f"so is {r}."} for q, a, r in texts)
    write_jsonl(path, rows)


def write_pairs(path: Path) -> None:
    """Sixty pairs of three classes."""
    labels = ("entailment", "neutral", "contradiction")
    rows = (
        {"premise": f"w{i // 3} is x{i % 7}.", "hypothesis": f"x{i % 5}.", "label": labels[i % 3]} for i in range(60)
    )
    write_jsonl(path, rows)


def train_pairs(root: Path) -> None:
    train_nli(TrainNLIOptions((root / "pairs.jsonl",), root / "nli", hidden=16, epochs=2))


def match_options(root: Path, name: str, **settings: Any) -> MatchOptions:
    matching = MatchingOptions(relevance="tfidf", folds=2, n_distractors=2, buckets="none")
    return MatchOptions((root / "asked.jsonl",), root / name, matching, **settings)


def sweep_two(root: Path) -> None:
    sweep(match_options(root, "swept", sweeping=SweepOptions(sweep=(0.1, 1.0), shown=5)))


def begin_demo(root: Path) -> None:
    """The demo as far as its own files and the contexts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.cli.demo.N_VIDEOS", 6)
        patch.setattr("swag_af.cli.demo.RULES", ContextRules(min_token_count=1))
        for step in ("_train", "_generate", "_filter", "_release", "_summary"):
            patch.setattr(f"swag_af.cli.demo.{step}", lambda *given: "")
        demo(DemoOptions(root / "demo"))


def describe_questions(root: Path) -> None:
    describe(DescribeOptions((root / "questions.jsonl",), out=root / "described", topics=0))


SET = "contexts.jsonl contexts.dropped.jsonl contexts.dropped.txt contexts.manifest.json"
RUN = "pool run judged.jsonl"
CASES = {
    "demo": Case("", begin_demo),
    "contexts": Case("captions.jsonl", lambda root: contexts(contexts_options(root, "made.jsonl"))),
    "contexts-forced": Case(
        f"captions.jsonl {SET}", lambda root: contexts(contexts_options(root, "contexts.jsonl", force=True))
    ),
    "train-lm": Case(f"{SET} book.txt", train_small, most=10),
    "generate": Case(f"{SET} lms", lambda root: generate(generate_options(root, "full")), most=8),
    "generate-lazy": Case(f"{SET} lms", generate_lazily, most=8),
    "generate-texts": Case(SET, generate_texts),
    "features": Case("texts lms", lambda root: features(FeaturesOptions(root / "texts", root / "lms")), most=6),
    "pool": Case("rows.jsonl", lambda root: pool(pool_options(root, "made"))),
    "pool-forced": Case("rows.jsonl texts", lambda root: pool(pool_options(root, "texts", force=True))),
    "tag": Case("texts", lambda root: tag(TagOptions(root / "texts", "rules"))),
    "tag-in-context": Case("texts", lambda root: tag(TagOptions(root / "texts", "rules", in_context=True))),
    "train-tagger": Case("treebank.conllu", train_tagger, most=6),
    "guard": Case("pool", lambda root: guard(GuardOptions(root / "pool", "words"))),
    "guard-again": Case("guarded", lambda root: guard(GuardOptions(root / "guarded", "words", "words=0.2"))),
    "guard-out": Case("pool", lambda root: guard(GuardOptions(root / "pool", "words", out=root / "copy"))),
    "guard-none": Case("guarded", lambda root: guard(GuardOptions(root / "guarded", "none"))),
    "match": Case("asked.jsonl", lambda root: match(match_options(root, "matched")), most=8),
    "match-sweep": Case("asked.jsonl", sweep_two, most=8),
    "filter": Case("pool", lambda root: run_filter(filter_options(root)), most=12),
    "audit": Case(RUN, lambda root: audit_of_run(AuditOptions((root / "run",), filters="hash", seed=5))),
    "audit-of-data": Case("questions.jsonl", audit_questions, most=10),
    "diagnose": Case(
        RUN, lambda root: diagnose(DiagnoseOptions(root / "run", filters="hash", seeds=2, folds=2)), most=8
    ),
    "describe": Case("questions.jsonl", describe_questions, most=6),
    "train-nli": Case("pairs.jsonl", train_pairs, most=8),
    "report": Case(RUN, lambda root: report(ReportOptions(root / "run"))),
    "report-out": Case(RUN, lambda root: report(ReportOptions(root / "run", root / "page.html"))),
    "release": Case(RUN, release_judged, most=12),
    "prune": Case("questions.jsonl", prune_by_command, most=8),
    "refine": Case("questions.jsonl", refine_by_vote, most=7),
    "baselines": Case("questions.jsonl", fit_baselines, most=14),
    "serve": Case("", lambda root: read_keys(root / "run")),
    "export-csv": Case(RUN, lambda root: export(ExportOptions(root / "run", "csv", root / "tasks.csv"))),
    "export-studio": Case(RUN, lambda root: export(ExportOptions(root / "run", "label-studio", root / "tasks.json"))),
    "import": Case(RUN, import_judged),
    "agreement": Case(RUN, lambda root: verify_agreement(AgreementOptions(root / "judged.jsonl", json=root / "table"))),
}


@pytest.fixture(scope="module")
def inputs(contexts_path: Path, lms: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the verbs read; the drawing of curves, which takes most of the time, is replaced by an empty file."""
    root = tmp_path_factory.mktemp("kills") / "work"
    root.mkdir()
    for name in SET.split():
        shutil.copy(contexts_path.parent / name, root)
    shutil.copytree(lms, root / "lms")
    write_jsonl(root / "captions.jsonl", caption_rows(grammar.sample_videos(6)))
    write_book(root / "book.txt")
    write_questions(root / "questions.jsonl")
    write_asked(root / "asked.jsonl")
    write_pairs(root / "pairs.jsonl")
    write_treebank(root / "treebank.conllu")
    rows = [(c.id, c.video, c.sent1, c.start, c.gold) for c in make_contexts_of(6, n_videos=3)]
    names, negatives = ("id", "video", "sent1", "start", "gold"), [f"sees {k} trees." for k in range(4)]
    write_jsonl(root / "rows.jsonl", (dict(zip(names, row, strict=True)) | {"negatives": negatives} for row in rows))
    CandidatePool.from_texts(make_contexts_of(4, n_videos=2), [negatives] * 4, tagger="none").save(root / "texts")
    make_pool().save(root / "pool")
    guard(GuardOptions(root / "pool", "words", out=root / "guarded"))
    with pytest.MonkeyPatch.context() as patch:
        for module in ("reporting.verb", "releasing.verb"):
            patch.setattr(f"swag_af.{module}.plot_run", lambda run, folder: write_text(folder / "curve.svg", ""))
        patch.setattr("swag_af.cli.datasets.baselines.plot_baselines", lambda found, folder: [])
        patch.setattr("swag_af.matching.sweep.plot_sweep", lambda points, chance, asked, folder: [])
        patch.setattr("swag_af.cli.datasets.describing.plot_description", lambda made, folder: {})
        patch.setattr("swag_af.pruning.verb.plot_curve", lambda points, took, folder, title: [])
        patch.setitem(registry.FILTERS, "hash", "conftest:HashFilter")
        write_run(root)
        yield root


@pytest.mark.parametrize("name", CASES)
def test_a_verb_killed_anywhere_and_run_again_ends_in_the_same_bytes(name: str, inputs: Path, tmp_path: Path) -> None:
    case, root = CASES[name], tmp_path / "work"
    begin_anew(inputs, root, case)
    operations = operations_of(case.run, root)
    expected, faults = content_of(root), {}
    for place in places(operations, case.most):
        begin_anew(inputs, root, case)
        assert len(operations_of(case.run, root, kill_at=place)) > place, "the verb was killed"
        try:
            case.run(root)
        except InputError as error:  # a set that was finished before the kill
            if "already exists" not in str(error):
                raise
        found = content_of(root)
        if found != expected:
            differing = [n for n in {**found, **expected} if found.get(n) != expected.get(n)]
            faults[f"{place} of {len(operations)}, {operations[place]}"] = sorted(differing)
    assert not faults


def begin_anew(inputs: Path, root: Path, case: Case) -> None:
    """A folder with the inputs of the verb and nothing else."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    for name in case.needs.split():
        (shutil.copytree if (inputs / name).is_dir() else shutil.copy)(inputs / name, root / name)


def test_a_finished_set_still_needs_force_and_files_of_others_do_too(inputs: Path, tmp_path: Path) -> None:
    begin_anew(inputs, tmp_path / "work", CASES["contexts-forced"])
    options = contexts_options(tmp_path / "work", "contexts.jsonl")
    before = content_of(tmp_path)
    with pytest.raises(InputError, match=r"contexts\.jsonl: already exists"):
        contexts(options)
    options.out.with_name("contexts.manifest.json").unlink()  # as a file made by hand has none
    with pytest.raises(InputError, match=r"contexts\.jsonl: already exists"):
        contexts(options)
    assert content_of(tmp_path).items() <= before.items()


def test_an_unfinished_set_is_replaced_without_force(inputs: Path, tmp_path: Path) -> None:
    case, root = CASES["contexts-forced"], tmp_path / "work"
    begin_anew(inputs, root, case)
    operations = operations_of(case.run, root)
    expected = content_of(root)
    commit = next(i for i, operation in enumerate(operations) if operation == "os.remove contexts.manifest.json")
    for place in (commit + 1, commit + 2, commit + 4):
        begin_anew(inputs, root, case)
        operations_of(case.run, root, kill_at=place)
        contexts(contexts_options(root, "contexts.jsonl"))
        assert content_of(root) == expected
