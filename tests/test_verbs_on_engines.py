"""Claims about verbs: the same bytes here, in processes, on a Ray cluster that loses a machine, by Slurm's executor.

Each way is taken by one verb, since processes take seconds to start; what verbs do is the same on all of them.
Matching in two processes stands in `matching/test_runs.py`, the audit of a dataset in `auditing/test_keeping.py`.
"""

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import folders
import numpy as np
import pytest

from swag_af.auditing.comparison import control_cuts
from swag_af.auditing.options import AuditOptions
from swag_af.auditing.runs.audit import audit_of_run
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.datasets.auditing import _Cut, _Reading, run_audit
from swag_af.cli.datasets.baselines import run_baselines
from swag_af.data.captions import contexts as contexts_module
from swag_af.data.captions.context_set import read_contexts
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.verb import contexts
from swag_af.data.disk.files import write_jsonl
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.engines import on_ray, on_slurm
from swag_af.data.engines.options import EngineOptions
from swag_af.data.engines.ordered import FleetCrew
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.pool.folder import SHARDS
from swag_af.data.pool.options import TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import tag
from swag_af.data.runs.findings import AUDITS
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.work.locks import alone
from swag_af.lm.features import features
from swag_af.lm.lstm.checkpoints import CHECKPOINTS, fold_path, is_finished
from swag_af.lm.lstm.train import PRETRAINING, train_lm
from swag_af.lm.options import FeaturesOptions, GenerateOptions, LMOptions, TrainLMOptions
from swag_af.lm.verb import generate
from swag_af.matching.options import MatchingOptions, MatchOptions
from swag_af.matching.rows.reading import read_items
from swag_af.matching.sweep import _Sample
from swag_af.matching.verb import _Part, begin_work, identity_of, match

LM = LMOptions(hidden=16, layers=1, epochs=9, batch_size=16, learning_rate=1e-2, pretrain_epochs=1, min_count=1)
"""One that has not learnt where sentences end draws for ever, and one that has soon learnt all is done before somebody
can take its machine away."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captions, a book, contexts of the captions, their models, queries and questions; not to be changed."""
    folder = tmp_path_factory.mktemp("engines")
    rows = [
        {"video": video.id, "sentence": caption.text, "start_time": caption.seconds[0], "end_time": caption.seconds[1]}
        for video in sample_videos(30)
        for caption in video.captions
        if caption.seconds
    ]
    write_jsonl(folder / "captions.jsonl", rows)
    said = [str(row["sentence"]) for row in rows[:60]]
    (folder / "book.txt").write_text("\n\n".join([" ".join(said[:30]), " ".join(said[30:])]), encoding="utf-8")
    rng, words = np.random.default_rng(0), [f"{a}{b}" for a in "bdkl" for b in ("ra", "ven", "wick", "lo")]
    write_jsonl(
        folder / "queries.jsonl",
        (
            {"query": f"Why does {' '.join(rng.choice(words, 6))} {i}?", "response": " ".join(rng.choice(words, 5))}
            for i in range(60)
        ),
    )
    write_jsonl(
        folder / "questions.jsonl",
        (
            {"question": f"What is {i}?", "choices": [" ".join(rng.choice(words, 4)) for _ in range(3)], "label": i % 3}
            for i in range(30)
        ),
    )
    train(folder, folder, EngineOptions("local"), None)
    return folder


def train(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    options = ContextsOptions((made / "captions.jsonl",), out / "c.jsonl", splitter="rules", rules=RULES)
    contexts(options)
    train_lm(
        TrainLMOptions(options.out, out / "lms", lm=LM, pretrain=(made / "book.txt",), where=where, workers=workers)
    )
    assert not list(out.rglob("*.lock"))
    return out / "lms"


def write_endings(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    given = made / "c.jsonl", made / "lms", out / "pool"
    generate(GenerateOptions(*given, n_negatives=7, limit=40, shard_rows=8, where=where, workers=workers))
    assert "where" not in read_manifest(out / "pool", "pool")["made_by"]["options"]
    return out / "pool" / SHARDS


def fill_features(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    """Of a pool that was made without them."""
    given = made / "c.jsonl", made / "lms", out / "pool"
    generate(GenerateOptions(*given, n_negatives=7, limit=16, shard_rows=8, features="lazy", workers=1))
    features(FeaturesOptions(out / "pool", where=where, workers=workers))
    assert not CandidatePool.open(out / "pool").missing_features().any()
    return out / "pool" / SHARDS


def texts_of(made: Path, folder: Path) -> Path:
    """A pool without features and tags."""
    some = read_contexts(made / "c.jsonl")[:12]
    endings = [[one.gold for one in some if one.gold != context.gold][:5] for context in some]
    CandidatePool.from_texts(some, endings, tagger="none").save(folder)
    return folder


def score_endings(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    pool = texts_of(made, out / "pool")
    features(FeaturesOptions(pool, made / "lms", where=where, workers=workers))
    return pool


def tag_endings(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    pool = texts_of(made, out / "pool")
    tag(TagOptions(pool, "rules", in_context=True, where=where, workers=workers))
    return pool


RULES = ContextRules(min_token_count=1, n_folds=3)


def make_contexts(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    sources = (made / "captions.jsonl",)
    contexts(ContextsOptions(sources, out / "c.jsonl", splitter="rules", rules=RULES, where=where, workers=workers))
    assert not (out / ".c.jsonl.splits").exists()
    return out


def test_workers_read_what_is_matched_again_and_refuse_what_is_done(made: Path, tmp_path: Path) -> None:
    options = MatchOptions((made / "queries.jsonl",), tmp_path / "out", matching=MatchingOptions(relevance="tfidf"))
    items = read_items(options.data, options.pairs, options.reading)
    begin_work(options.out, identity_of(options, items))
    for source in (_Part(options, "answers"), _Sample(options)):
        assert pickle.loads(pickle.dumps(source))().rows == items.rows
        with pytest.raises(InputError, match="done, or of other data"):
            replace(source, options=replace(options, out=tmp_path / "none"))()


MATCHING = MatchingOptions(relevance="tfidf", folds=3, buckets="none", n_distractors=2, smallest_bucket=5)


def match_answers(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    match(MatchOptions((made / "queries.jsonl",), out / "matched", matching=MATCHING, where=where, workers=workers))
    return out


def audit_questions(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    run_audit(AuditOptions((made / "questions.jsonl",), out, filters="tfidf", folds=2, where=where, workers=workers))
    return out


def fit_baselines(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    options = BaselinesOptions((made / "questions.jsonl",), out, "random,length,tfidf", where=where, jobs=workers)
    run_baselines(options)
    return out


def audit_a_run(made: Path, out: Path, where: EngineOptions, workers: int | None) -> Path:
    run = match_answers(made, out, EngineOptions("local"), None) / "matched" / "run"
    audit_of_run(AuditOptions((run,), filters="ngrams", seeds=2, folds=2, where=where, workers=workers))
    assert (run / AUDITS).read_text(encoding="utf-8").count("\n") == 2
    return out


def test_a_comparison_reads_again_in_another_process_what_it_cuts_here(made: Path) -> None:
    reading = _Reading((made / "questions.jsonl",), ReadingOptions())
    cuts = partial(control_cuts, n=20, n_draws=2, seed=3)
    for draw, cut in enumerate(cuts(reading.instances())):
        again, groups = pickle.loads(pickle.dumps(_Cut(reading, cuts, draw)))()
        assert again.instances == cut.instances
        assert np.array_equal(groups.numbers, group(cut).numbers)


Verb = Callable[[Path, Path, EngineOptions, int | None], Path]


files_of = partial(folders.files_of, but=("timing.json",))
"""All files but those with times in them."""


@pytest.fixture(autouse=True)
def small_batches_and_no_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contexts_module, "_BATCH", 16)
    monkeypatch.setattr("swag_af.cli.datasets.baselines.plot_baselines", lambda found, folder: [])


@pytest.fixture(scope="module")
def local(made: Path) -> Callable[[Verb], dict[str, bytes]]:
    """What a verb leaves that does all by itself; made once."""
    known = {train.__name__: files_of(made / "lms")}

    def bytes_here(verb: Verb) -> dict[str, bytes]:
        name = verb.__name__
        if name not in known:
            known[name] = files_of(verb(made, made.parent / f"engines-{name}", EngineOptions("local"), None))
        return known[name]

    return bytes_here


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray's head, of one core; tests add a second machine and take it away.

    Its actors are as important as the other tests: at Ray's own niceness of 15 they wait while any of these works.
    """
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        yield made
        made.shutdown()


@pytest.mark.parametrize("verb", [audit_a_run])
def test_two_processes_leave_the_bytes_of_one(verb: Verb, made: Path, tmp_path: Path, local: Any) -> None:
    assert files_of(verb(made, tmp_path / "out", EngineOptions(), 2)) == local(verb)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The blocks that are sent to workers of a cluster."""
    blocks = list[Any]()

    def noted(self: Any, worker: Any, block: Any) -> Any:
        blocks.append(block)
        return send(self, worker, block)

    send = on_ray._Actors.send
    monkeypatch.setattr(on_ray._Actors, "send", noted)
    return blocks


@pytest.mark.parametrize(
    "verb", [score_endings, fill_features, tag_endings, match_answers, audit_a_run, audit_questions, fit_baselines]
)
def test_a_cluster_leaves_the_bytes_of_one_process(
    verb: Verb, made: Path, tmp_path: Path, local: Any, cluster: Any, sent: list[Any]
) -> None:
    assert files_of(verb(made, tmp_path / "out", EngineOptions(f"ray[{cluster.address}]"), 1)) == local(verb)
    assert sent


@pytest.mark.parametrize("verb", [write_endings])
def test_a_cluster_that_loses_a_machine_leaves_the_bytes_of_one_process(
    verb: Verb, made: Path, tmp_path: Path, local: Any, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = cluster.add_node(num_cpus=1)
    lost: list[Any] = []

    def lose_a_machine(self: FleetCrew, blocks: Sequence[Any]) -> Iterator[Any]:
        for result in in_order(self, blocks):
            if not lost:
                lost.append(cluster.remove_node(second, allow_graceful=False))
            yield result

    in_order = FleetCrew.map
    monkeypatch.setattr(FleetCrew, "map", lose_a_machine)
    assert files_of(verb(made, tmp_path / "out", EngineOptions(f"ray[{cluster.address}]"), None)) == local(verb)
    assert lost


def test_a_fold_whose_machine_is_lost_in_training_is_trained_again(
    made: Path, tmp_path: Path, local: Any, cluster: Any, sent: list[Any]
) -> None:
    second = cluster.add_node(num_cpus=1)
    with ThreadPoolExecutor(1) as beside:
        lost = beside.submit(lose_in_training, cluster, second, tmp_path / "out" / "lms")
        there = train(made, tmp_path / "out", EngineOptions(f"ray[{cluster.address}]"), None)
    assert files_of(there) == local(train)
    assert Counter(block.fold for block in sent) == Counter([PRETRAINING, 0, 1, 2, lost.result()])


def lose_in_training(cluster: Any, machine: Any, lms: Path) -> int:
    """Take `machine` away as soon as it has trained a fold for an epoch; returns the fold.

    Nobody gets to train before it has a fold of its own. Its process is stopped first, so that it gets no further.
    """
    with ExitStack() as held:
        for fold in range(3):
            held.enter_context(alone(fold_path(lms, fold)))
        raylet = machine.all_processes["raylet"][0].process.pid
        process, fold = awaited(lambda: fold_of_a_child(raylet, lms), every=0.2)  # a look takes most of a core
    awaited((fold_path(lms, fold) / CHECKPOINTS / "last.ckpt").exists)
    os.kill(process, signal.SIGSTOP)
    assert not is_finished(fold_path(lms, fold)), "the fold is in training"
    os.kill(process, signal.SIGKILL)
    cluster.remove_node(machine, allow_graceful=False)
    return fold


def fold_of_a_child(parent: int, lms: Path) -> tuple[int, int] | None:
    """A process that `parent` has started and that holds or waits for the lock of a fold, and the fold."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if int(status.read_text().rpartition(")")[2].split()[1]) != parent:
                continue
            for file in status.with_name("fd").iterdir():
                found = re.fullmatch(rf"{re.escape(str(lms))}/\.fold-(\d+)\.lock", os.readlink(file))
                if found:
                    return int(status.parent.name), int(found[1])
    return None


T = TypeVar("T")


def awaited(look: Callable[[], T], seconds: float = 1800.0, *, every: float = 0.002) -> T:
    """What `look` finds, as soon as that is something; on a busy machine Ray takes minutes."""
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, "it never came"
        time.sleep(every)
    return found


def test_a_driver_that_is_killed_and_typed_again_leaves_the_bytes_of_one_process(
    made: Path, tmp_path: Path, cluster: Any
) -> None:
    """The cluster has room for one worker, so the second driver has none until that of the first is gone."""
    given, there = (made / "c.jsonl", made / "lms"), tmp_path / "there"
    here = generate(GenerateOptions(*given, tmp_path / "here", n_negatives=60, limit=40, shard_rows=8))
    words = f"--n-negatives 60 --limit 40 --shard-rows 8 --engine ray[{cluster.address}]".split()
    paths = ("generate", given[0], "--lms", given[1], "--out", there)
    command = [sys.executable, "-m", "swag_af", *map(str, paths), *words]
    with subprocess.Popen(command) as first:
        awaited(lambda: any((there / SHARDS).glob(".*.rows/*.npz")))
        first.kill()
    assert not read_manifest(there, "pool")["complete"], "it was killed on the way"
    subprocess.run(command, check=True, timeout=600)
    assert files_of(there / SHARDS) == files_of(tmp_path / "here" / SHARDS)
    assert CandidatePool.open(there).identity == here.identity


@pytest.mark.parametrize("verb", [make_contexts, write_endings])
def test_two_tasks_of_slurm_leave_the_bytes_of_one_process(
    verb: Verb, made: Path, tmp_path: Path, local: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("submitit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(on_slurm, "CHUNKS", 1)
    assert files_of(verb(made, tmp_path / "out", EngineOptions("slurm[local]"), 2)) == local(verb)
