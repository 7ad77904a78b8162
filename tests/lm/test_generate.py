"""The verb `generate`: whole pools, shared and interrupted work, features left for later, estimates."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import folders
import numpy as np
import pytest
import torch
from conftest import TINY

from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, write_jsonl
from swag_af.data.disk.manifests import MANIFEST
from swag_af.data.errors import ExhaustedError, FormatError, InputError
from swag_af.data.pool import drafts
from swag_af.data.pool.folder import FEATURES, SHARDS
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.tokens import SENTENCE_ENDS, tokenize
from swag_af.data.vocabulary import Vocabulary
from swag_af.data.work.locks import alone
from swag_af.lm.choosing import choice_of
from swag_af.lm.estimate import _seconds_a_token, estimate
from swag_af.lm.features import features
from swag_af.lm.lstm import generator as generator_module
from swag_af.lm.lstm import train
from swag_af.lm.lstm.candidates import Task, unfit_reason
from swag_af.lm.lstm.checkpoints import load_fold
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.lstm.lazy import _fill, _FillJob, with_features
from swag_af.lm.lstm.sampling import Sampling
from swag_af.lm.lstm.workers import CONTEXT_BYTES, n_workers, token_operations
from swag_af.lm.options import FeaturesOptions, GenerateOptions, LMOptions, TrainLMOptions
from swag_af.lm.rows import blocks_of
from swag_af.lm.verb import generate, make_shards, prepare
from swag_af.reporting.tables.text import estimate_lines


def options_for(contexts_path, lms, out, **more) -> GenerateOptions:
    settings = {"n_negatives": 15, "limit": 10, "shard_rows": 4, "lm": TINY} | more
    return GenerateOptions(contexts_path, lms, out, **settings)


files_of = partial(folders.files_of, but=("manifest.json", "timing.json"))
"""All that a pool consists of, without what names its folder or its seconds."""


@pytest.fixture(scope="module")
def whole(contexts_path, lms, tmp_path_factory) -> CandidatePool:
    """The pool of these options; not to be changed."""
    return generate(options_for(contexts_path, lms, tmp_path_factory.mktemp("whole") / "pool"))


def test_generate_makes_a_whole_pool(whole):
    pool = whole
    assert (len(pool), pool.n_candidates) == (10, 16)
    for row, context in enumerate(pool.contexts):
        assert pool.text(row, 0).lower() == context.gold.lower()
        assert len({pool.text(row, k) for k in range(16)}) == 16
        assert pool.texts_of(np.array([row]), np.arange(16)[None]) == [[pool.text(row, k) for k in range(16)]]
    features = pool.gather("features", np.arange(10))
    assert features.shape == (10, 16, len(FEATURES))
    assert np.isfinite(features).all()
    assert pool.vocabulary.tags is not None


def test_generate_stopped_at_a_row_resumes_at_the_next_to_the_same_bytes(
    contexts_path, lms, whole, tmp_path, monkeypatch
):
    keep, kept = drafts.ShardDraft.keep, []

    def stop_at_the_seventh(self, row, tables, **counts):
        kept.append((self.number, row))
        if len(kept) == 7:
            raise KeyboardInterrupt
        keep(self, row, tables, **counts)

    again = options_for(contexts_path, lms, tmp_path / "two")
    monkeypatch.setattr(drafts.ShardDraft, "keep", stop_at_the_seventh)
    with pytest.raises(KeyboardInterrupt):
        generate(again)
    with pytest.raises(FormatError, match="unfinished"):
        CandidatePool.open(again.out)
    resumed = generate(again)
    assert sorted(kept[:6] + kept[7:]) == [(row // 4, row % 4) for row in range(10)], "no row is made twice"
    assert files_of(whole.path) == files_of(tmp_path / "two")
    assert whole.identity == resumed.identity


def test_generate_killed_beside_its_workers_resumes_to_the_same_bytes(contexts_path, lms, tmp_path):
    """One process that is killed anywhere stands in `test_kills.py`."""
    settings = {"limit": 24, "shard_rows": 8, "n_negatives": 40}
    whole = generate(options_for(contexts_path, lms, tmp_path / "one", **settings))
    out = tmp_path / "two"
    script = (
        "import sys; from pathlib import Path; from swag_af.lm.verb import generate; "
        "from swag_af.lm.options import GenerateOptions; "
        "generate(GenerateOptions(*map(Path, sys.argv[1:]), n_negatives=40, limit=24, shard_rows=8, workers=2))"
    )
    command = [sys.executable, "-c", script, str(contexts_path), str(lms), str(out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"})
    while n_arrays(out / "shards") < 5 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() in (0, -signal.SIGKILL)
    resumed = generate(options_for(contexts_path, lms, out, **settings))
    assert files_of(tmp_path / "one") == files_of(out)
    assert whole.identity == resumed.identity


def n_arrays(folder):
    """How many arrays lie in a folder where others come and go while it is read."""
    return sum(".np" in name for _, _, names in os.walk(folder) for name in names)


def test_rows_do_not_depend_on_shards_limits_or_batches(contexts_path, lms, tmp_path):
    many = generate(options_for(contexts_path, lms, tmp_path / "many", limit=12, shard_rows=5))
    few = generate(options_for(contexts_path, lms, tmp_path / "few", limit=4, shard_rows=64, live_rows=1))
    row_of = {context.id: row for row, context in enumerate(many.contexts)}
    for row, context in enumerate(few.contexts):
        if context.id in row_of:
            same = np.array([row_of[context.id]])
            np.testing.assert_array_equal(few.gather("tokens", np.array([row])), many.gather("tokens", same))
            np.testing.assert_array_equal(few.gather("features", np.array([row])), many.gather("features", same))
    assert {context.id for context in few.contexts} & row_of.keys()


def test_processes_that_share_the_shards_make_the_same_pool(contexts_path, lms, whole, tmp_path):
    shared = options_for(contexts_path, lms, tmp_path / "two")
    assert make_shards(replace(shared, shard="2/2")) == (1, 3)
    with pytest.raises(FormatError, match="unfinished"):
        CandidatePool.open(shared.out)
    assert make_shards(replace(shared, shard="1/2")) == (3, 3)
    assert CandidatePool.open(shared.out).identity == whole.identity
    assert files_of(whole.path) == files_of(tmp_path / "two")


def test_shards_are_shared_by_all_processes_in_as_many_parts(contexts_path, lms, tmp_path):
    """Of 1/2 and 2/3 both were taken: some shards were made by both, and others by nobody."""
    shared = options_for(contexts_path, lms, tmp_path / "pool")
    assert make_shards(replace(shared, shard="2/2")) == (1, 3)
    with alone(shared.out / SHARDS / "1-of-2"):
        with pytest.raises(InputError, match=r"at work on this\. .* all processes in as many parts"):
            make_shards(replace(shared, shard="2/3"))
        assert make_shards(replace(shared, shard="2/2")) == (1, 3)
    (shared.out / SHARDS / ".1-of-2.lock").touch()  # of a process that was killed
    assert make_shards(replace(shared, shard="2/3")) == (1, 3), "the shard of 2/2 is that of 2/3, too"
    assert make_shards(shared) == (3, 3)


def test_processes_make_the_bytes_of_one(contexts_path, lms, tmp_path):
    for workers in (1, 2):
        settings = {"features": "lazy", "workers": workers, "live_rows": 16}  # blocks of two contexts
        whole = generate(options_for(contexts_path, lms, tmp_path / f"{workers}", **settings))
        assert whole.missing_features().all()
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")
    for workers in (1, 2):
        features(FeaturesOptions(tmp_path / f"{workers}", workers=workers))
    assert not CandidatePool.open(tmp_path / "2").missing_features().any()
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


def test_blocks_hold_every_context_that_is_missing_once_and_one_fold_each(contexts_path, lms, tmp_path):
    job = prepare(options_for(contexts_path, lms, tmp_path / "pool", limit=30, shard_rows=30, live_rows=24))
    (group,) = job.groups
    blocks = blocks_of(0, group, {0, 7}, job.options, "cpu")
    assert sorted(i for block in blocks for i in block.positions) == [i for i in range(30) if i not in (0, 7)]
    for block in blocks:
        assert [group[i] for i in block.positions] == block.contexts
        assert len({context.fold for context in block.contexts}) == 1
    assert max(len(block.contexts) for block in blocks) == 3  # twice 24 endings of 16 a context


def test_there_are_as_many_processes_as_torch_has_threads_where_there_is_much_to_do(monkeypatch):
    paper, small = LMOptions(), LMOptions(hidden=96)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    assert n_workers(None, "cpu", 100 * 1024, 10_000, paper) == 8
    assert n_workers(None, "cpu", 12 * 1024, 10_000, paper) == 1 < n_workers(None, "cpu", 20 * 1024, 10_000, paper) < 8
    assert n_workers(None, "cpu", 600 * 64, 1_200, small) == 1, "the demo starts none"
    assert n_workers(None, "cuda", 10**6 * 1024, 10_000, paper) == 1
    assert n_workers(3, "cpu", 1, 10_000, paper) == n_workers(3, "cuda", 1, 10_000, paper) == 3
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert n_workers(None, "cpu", 100 * 1024, 10_000, paper) == 1


@pytest.mark.parametrize("options", [GenerateOptions, FeaturesOptions])
def test_no_process_at_all_is_refused(options):
    with pytest.raises(InputError, match="--workers 0: at least 1"):
        options(Path("input"), workers=0)


def test_shards_made_on_two_machines_are_joined_by_generate_itself(contexts_path, lms, whole, tmp_path, monkeypatch):
    here, there = (options_for(contexts_path, lms, tmp_path / name, shard=f"{i}/2") for i, name in ((1, "a"), (2, "b")))
    make_shards(here)
    make_shards(there)
    for folder in (there.out / "shards").glob("[0-9]*"):
        shutil.copytree(folder, here.out / "shards" / folder.name)
    monkeypatch.setattr(generator_module, "load_readers", None)  # nothing is left to be sampled
    assert generate(replace(here, shard=None)).identity == whole.identity


def test_a_shard_that_is_no_share_is_refused(contexts_path, lms, tmp_path):
    for shard in ("0/2", "3/2", "2", "1/x"):
        with pytest.raises(InputError, match=r"--shard .*: write I/N"):
            options_for(contexts_path, lms, tmp_path, shard=shard)
    with pytest.raises(InputError, match="only 3 shards"):
        make_shards(options_for(contexts_path, lms, tmp_path / "pool", shard="1/4"))


def test_processes_that_share_a_pool_do_not_train(contexts_path, tmp_path):
    with pytest.raises(InputError, match="swag-af train-lm"):
        make_shards(options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", shard="1/2"))


def test_a_shard_says_what_was_dropped_and_how_fast_it_was_made(contexts_path, lms, tmp_path):
    contexts = read_contexts(contexts_path)
    contexts[0] = replace(contexts[0], gold="smiles at the camera for a while")
    write_contexts(tmp_path / "contexts.jsonl", contexts, [], {})
    options = options_for(tmp_path / "contexts.jsonl", tmp_path / "lms", tmp_path / "pool", limit=None)
    fold = contexts[0].fold
    pool = generate(replace(options, use_dropped=False, lm=TINY, shard_rows=64, n_negatives=5, folds=(fold,)))
    shard = json.loads((tmp_path / "pool/shards/00000/shard.json").read_text())
    assert shard["dropped"] == {contexts[0].id: "gold_unfinished"}
    assert shard["drops"] == pool.manifest["drops"] == {"gold_unfinished": 1}
    assert pool.manifest["n_draws"] >= 5 * len(pool)
    assert pool.is_generated
    timing = json.loads((tmp_path / "pool/shards/00000/timing.json").read_text())
    assert timing["n_endings"] == 6 * shard["n_rows"]
    assert timing["n_dropped"] == 1
    assert timing["endings_per_second"] > 0


def test_lazy_features_have_the_values_of_full_ones(contexts_path, lms, whole, tmp_path):
    full = whole
    lazy = generate(options_for(contexts_path, lms, tmp_path / "lazy", features="lazy"))
    np.testing.assert_array_equal(full.gather("tokens", np.arange(10)), lazy.gather("tokens", np.arange(10)))
    lazy = with_features(lazy)
    rows, columns = np.array([9, 2, 5]), np.array([[3, 0], [15, 15], [1, 2]])
    expected = full.gather("features", rows, columns)
    np.testing.assert_array_equal(lazy.gather("features", rows, columns), expected)
    on_disk = CandidatePool.open(tmp_path / "lazy")
    table = np.concatenate([np.load(p) for p in sorted((tmp_path / "lazy").rglob("features.npy"))])
    asked = np.zeros((10, 16), bool)
    asked[rows[:, None], columns] = True
    assert (np.isnan(table[:, :, BACKWARD]).all(axis=2) == ~asked).all(), "what was asked for is kept, and no more"
    np.testing.assert_array_equal(on_disk.gather("features", rows, columns), expected)
    features(FeaturesOptions(tmp_path / "lazy"))
    np.testing.assert_array_equal(on_disk.gather("features", np.arange(10)), full.gather("features", np.arange(10)))
    assert on_disk.identity == lazy.identity, "filling a table makes no other pool of it"
    on_disk.check_hashes()


def test_a_run_on_lazy_features_is_that_on_full_ones(contexts_path, lms, tmp_path):
    from swag_af import AFOptions, filter_pool

    options = AFOptions(n_negatives=3, iterations=2)
    runs = [
        filter_pool(
            generate(options_for(contexts_path, lms, tmp_path / kind, limit=30, shard_rows=64, features=kind)),
            "mlp",
            options,
            out=tmp_path / f"run-{kind}",
        )
        for kind in ("full", "lazy")
    ]
    assert runs[0].log == runs[1].log
    np.testing.assert_array_equal(runs[0].assignment(), runs[1].assignment())
    table = np.load(tmp_path / "lazy/shards/00000/features.npy")
    assert 0.2 < np.isnan(table).any(axis=2).mean() < 0.9, "only what the filter looked at was computed"


def test_lazy_features_without_their_models_say_where_they_should_be(contexts_path, lms, tmp_path):
    models = tmp_path / "lms"
    shutil.copytree(lms, models)
    pool = generate(options_for(contexts_path, models, tmp_path / "pool", features="lazy"))
    with pytest.raises(InputError, match="swag-af features"):
        pool.gather("features", np.arange(2))
    models.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="are not there"):
        with_features(pool)
    with_features(pool, tmp_path / "elsewhere").gather("features", np.arange(2))
    manifest = tmp_path / "elsewhere/fold-0/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"weights_sha256": "0"}))
    with pytest.raises(InputError, match="are others"):
        with_features(CandidatePool.open(tmp_path / "pool"), tmp_path / "elsewhere")


def test_features_that_a_shared_disk_lost_are_told(contexts_path, lms, tmp_path, monkeypatch):
    generate(options_for(contexts_path, lms, tmp_path / "pool", features="lazy"))
    monkeypatch.setattr("swag_af.lm.lstm.lazy._FillJob.open", lambda job: lambda block: len(block[1]))
    with pytest.raises(InputError, match="the features of 10 contexts that workers wrote are not there"):
        features(FeaturesOptions(tmp_path / "pool"))


def test_features_of_a_pool_at_which_another_process_is_at_work_are_refused(contexts_path, lms, tmp_path):
    generate(options_for(contexts_path, lms, tmp_path / "pool", features="lazy"))
    options = FeaturesOptions(tmp_path / "pool")
    with alone(tmp_path / "pool" / MANIFEST), pytest.raises(InputError, match="pool: another process is at work"):
        features(options)
    late = with_features(CandidatePool.open(tmp_path / "pool"))
    assert late.missing_features().all(), "nothing was computed beside the other"
    features(options)
    _fill(late, late.filler, options)  # who came to the lock when the other let it go: nothing is missing any more
    with alone(tmp_path / "pool" / MANIFEST):
        assert not features(options).missing_features().any(), "where all are there, nobody is in the way"


def test_a_worker_that_comes_when_all_features_are_there_has_nothing_to_do(contexts_path, lms, tmp_path, monkeypatch):
    """An actor of Ray that is hired late, or a task of Slurm that waited long in the queue."""
    generate(options_for(contexts_path, lms, tmp_path / "pool", features="lazy"))
    features(FeaturesOptions(tmp_path / "pool"))
    monkeypatch.setattr(CandidatePool, "gather", None)
    assert _FillJob(tmp_path / "pool", lms).open()((0, np.arange(3))) == 3


def test_a_lazy_pool_made_complete_needs_its_models_no_more(contexts_path, lms, tmp_path):
    shutil.copytree(lms, tmp_path / "lms")
    generate(options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", features="lazy"))
    features(FeaturesOptions(tmp_path / "pool"))
    shutil.rmtree(tmp_path / "lms")
    pool = with_features(CandidatePool.open(tmp_path / "pool"))
    assert np.isfinite(pool.gather("features", np.arange(10))).all()


def test_a_lazy_pool_saved_elsewhere_finds_its_models(contexts_path, lms, tmp_path):
    pool = generate(options_for(contexts_path, lms, tmp_path / "pool", features="lazy"))
    copy = with_features(pool.save(tmp_path / "deep" / "er" / "copy"))
    assert np.isfinite(copy.gather("features", np.arange(2))).all()


def test_a_shard_for_which_the_disk_has_no_room_keeps_its_rows(tmp_path, monkeypatch):
    draft = drafts.ShardDraft(tmp_path, 0, {"lengths": np.zeros(2, np.uint8), "tokens": np.zeros((2, 3), np.uint16)})
    draft.keep(0, draft.pattern, n_draws=1, rejected={})
    rows = sorted(draft.path.iterdir())
    take, taken = os.posix_fallocate, []

    def takes_one(*arguments):
        taken.append(take(*arguments))
        if len(taken) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", takes_one)
    with pytest.raises(OSError, match="No space left") as caught:
        draft.finish([Context("A man sits.", "He", "stands.")], {})
    assert caught.value.filename == str(draft.path / "tokens.npy")
    assert sorted(draft.path.iterdir()) == rows, "the table that had room is gone, too"


def test_models_that_give_no_numbers_are_named(contexts_path, lms, tmp_path, monkeypatch):
    from swag_af.lm.lstm.reader import Distributions

    nats = Distributions.nats
    monkeypatch.setattr(Distributions, "nats", lambda *arguments: nats(*arguments) * np.nan)
    with pytest.raises(InputError, match="NaN or infinity"):
        generate(options_for(contexts_path, lms, tmp_path / "pool"))


def test_an_estimate_writes_nothing_and_knows_the_disk(contexts_path, lms, tmp_path, monkeypatch):
    monkeypatch.setattr("swag_af.lm.estimate.measure_products", lambda *_: 1e8)  # so slow that only products count
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=80, limit=20)
    made = estimate(options)
    assert not (tmp_path / "pool").exists()
    assert (made.n_contexts, made.n_shards, made.folds_to_train) == (20, 5, ())
    assert made.seconds_to_generate > 0
    lazy = estimate(replace(options, features="lazy"))
    assert lazy.seconds_to_generate < lazy.seconds_for_lazy_features
    generate(options)
    used = sum(p.stat().st_size for p in (tmp_path / "pool/shards").rglob("*.npy"))
    assert used == pytest.approx(made.disk_bytes, rel=0.2)


def test_an_estimate_counts_draws_that_are_rejected_and_what_every_shard_costs(
    contexts_path, lms, tmp_path, monkeypatch
):
    """A small job on a fast machine took three times what the products alone would have."""
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=200, limit=20)
    seconds = {}
    for name, per_second in (("slow", 1e6), ("fast", 1e18)):
        monkeypatch.setattr("swag_af.lm.estimate.measure_products", lambda *_, rate=per_second: rate)
        seconds[name] = estimate(replace(options, features="lazy")).seconds_to_generate
    n_tokens = sum(len(tokenize(context.gold)) for context in prepare(options).contexts)
    kept = 201 * n_tokens * token_operations(len(Vocabulary.load(lms / "vocabulary.tsv")), TINY) / 1e6
    assert seconds["slow"] > 1.4 * kept  # over the floor, and every eighth drawn in vain
    assert seconds["fast"] > 5 * 2 * 0.2  # five shards of two folds
    assert estimate(replace(options, features="lazy", shard_rows=20)).seconds_to_generate < seconds["fast"] - 1


def test_an_estimate_tries_what_models_draw_in_vain(contexts_path, lms, tmp_path, monkeypatch):
    """Models that reject most draws took three to twenty times what was forecast."""
    monkeypatch.setattr("swag_af.lm.estimate.measure_products", lambda *_: 1e6)  # so slow that only products count
    options = options_for(contexts_path, lms, tmp_path / "pool", features="lazy", n_negatives=10)
    options = replace(options, limit=70, min_tokens=12)  # few draws are as long
    tried = estimate(options)
    assert not options.out.exists()
    made = generate(options)
    rejected = made.manifest["rejected_draws"]
    n_drawn = 25 * (rejected["cut_off"] + rejected["repeated"]) + 11 * rejected["too_short"]
    n_drawn += int(made.gather("lengths", np.arange(len(made))).sum())
    a_token, _ = _seconds_a_token("cpu", tried.products_per_second, TINY, len(made.vocabulary))
    assert tried.seconds_to_generate == pytest.approx(a_token * n_drawn, rel=0.25)
    monkeypatch.setattr("swag_af.lm.estimate.try_some", lambda *_, **__: None)
    untried = estimate(options)
    assert tried.seconds_to_generate > 1.5 * untried.seconds_to_generate
    assert 4 <= tried.n_tried <= 8
    assert f"{tried.n_tried} contexts just tried" in "\n".join(estimate_lines(tried))


def test_contexts_with_a_rare_word_in_gold_are_told_before_the_work(contexts_path, lms, tmp_path, capsys):
    """Of 1,005 contexts 631 went without a warning, and a dry run counted them."""
    lm = replace(TINY, min_count=3)
    options = options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", lm=lm, limit=None, n_negatives=2)
    before = estimate(options)
    assert "draw several times as many" in "\n".join(estimate_lines(before))
    assert capsys.readouterr().err == "", "no models, and no warning yet"
    train.train_lm(TrainLMOptions(contexts_path, options.lms, lm=lm))
    n, n_all = before.unfit["unknown_word_in_gold"], len(read_contexts(contexts_path))
    line = f"Warning: {n} of {n_all} contexts have a word in gold that is too rare for the models to know"
    assert line in capsys.readouterr().err
    assert estimate(options).unfit == before.unfit
    assert f"left out: {n} unknown word in gold" in "\n".join(estimate_lines(before))
    pool = generate(options)
    assert line in capsys.readouterr().err
    assert pool.manifest["drops"]["unknown_word_in_gold"] == n > 0.05 * n_all
    assert before.n_made == len(pool) + pool.manifest["drops"].get("too_few_distinct_endings", 0)
    generate(options_for(contexts_path, lms, tmp_path / "other"))
    assert "Warning" not in capsys.readouterr().err


def test_an_estimate_knows_how_many_processes_share_the_work(contexts_path, lms, tmp_path, monkeypatch):
    threads = []

    def measured(*_):
        threads.append(torch.get_num_threads())
        return 1e6

    monkeypatch.setattr("swag_af.lm.estimate.measure_products", measured)
    options = options_for(contexts_path, lms, tmp_path / "pool", limit=20)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    alone, shared = (estimate(replace(options, workers=n)) for n in (1, 2))
    torch.set_num_threads(before)
    assert (alone.workers, shared.workers) == (1, 2)
    assert threads == [2, 1], "a process has one thread"
    assert shared.products_per_second == 2 * alone.products_per_second
    of_contexts = CONTEXT_BYTES * len(read_contexts(contexts_path))
    assert shared.memory_bytes - of_contexts == 2 * (alone.memory_bytes - of_contexts)
    assert "in 2 processes (--workers)" in "\n".join(estimate_lines(shared))


def test_the_memory_of_all_contexts_of_the_file_is_counted_once(contexts_path, lms, tmp_path, monkeypatch):
    """It was said to be the same at any number: a run over ten million would have been killed for it."""
    monkeypatch.setattr("swag_af.lm.estimate.measure_products", lambda *_: 1e8)
    monkeypatch.setattr("swag_af.lm.estimate.CONTEXT_BYTES", 1e9)
    monkeypatch.setattr("swag_af.lm.estimate.worker_bytes", lambda *_: 1e9)
    made = estimate(options_for(contexts_path, lms, tmp_path / "pool", workers=3))
    n = len(read_contexts(contexts_path))  # not the few that are chosen: the file is read whole
    assert f"memory  about {n + 3:.1f} GB in 3 processes" in "\n".join(estimate_lines(made))


def test_an_estimate_on_a_gpu_is_what_was_measured_there_whatever_its_products_do():
    slow, fast = (_seconds_a_token("cuda", per_second, LMOptions(), 10_000) for per_second in (1e10, 1e15))
    assert slow == fast
    a_token, a_token_learnt = fast
    assert a_token * 1024 * 45 == pytest.approx(0.0243, rel=0.2)  # a context, sampled and scored
    assert 1 / (2 * a_token_learnt) == pytest.approx(25_200, rel=0.05)


def test_an_estimate_counts_the_training_that_is_still_to_be_done(contexts_path, tmp_path):
    made = estimate(options_for(contexts_path, tmp_path / "lms", tmp_path / "pool"))
    assert made.folds_to_train == (0, 1)
    assert made.seconds_to_train > 0
    assert not (tmp_path / "lms").exists()


def test_generate_with_other_options_into_the_same_folder_is_refused(contexts_path, lms, tmp_path):
    generate(options_for(contexts_path, lms, tmp_path / "pool"))
    for other in ({"n_negatives": 14}, {"features": "lazy"}, {"output_precision": "bf16"}):
        with pytest.raises(InputError, match=next(iter(other))):
            generate(options_for(contexts_path, lms, tmp_path / "pool", **other))


def test_models_of_other_contexts_are_refused(contexts_path, lms, tmp_path):
    contexts = read_contexts(contexts_path)
    write_contexts(tmp_path / "other.jsonl", [replace(c, fold=1 - c.fold) for c in contexts], [], {})
    with pytest.raises(InputError, match="other pairs"):
        generate(options_for(tmp_path / "other.jsonl", lms, tmp_path / "pool"))


def test_models_of_other_contexts_are_refused_before_a_missing_one_is_trained(contexts_path, lms, tmp_path):
    """The advice was to choose another --out, as that of `train-lm` is."""
    half = tmp_path / "half"
    shutil.copytree(lms, half)
    shutil.rmtree(half / "fold-1")
    with pytest.raises(InputError, match=r"half: trained with the pairs of .* Leave out --no-use-dropped"):
        generate(options_for(contexts_path, half, tmp_path / "pool", use_dropped=False))
    write_contexts(tmp_path / "other.jsonl", read_contexts(contexts_path)[1:], [], {})
    with pytest.raises(InputError, match=r"half: trained on other pairs .*other\.jsonl.* another --lms"):
        generate(options_for(tmp_path / "other.jsonl", half, tmp_path / "pool"))


def exhaust(monkeypatch, options, which) -> None:
    """Contexts at the places in their shards that `which` picks give too few endings."""
    rows = generator_module.LSTMGenerator.unread_rows
    picked = {context.id for group in prepare(options).groups for i, context in enumerate(group) if which(i)}

    def made(self, contexts, *arguments, **settings):
        contexts = dict(contexts)
        for position, row in rows(self, contexts.items(), *arguments, **settings):
            yield position, "too_few_distinct_endings" if contexts[position].id in picked else row

    monkeypatch.setattr(generator_module.LSTMGenerator, "unread_rows", made)


def test_contexts_without_enough_endings_are_dropped_and_counted(contexts_path, lms, tmp_path, monkeypatch):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    exhaust(monkeypatch, options, lambda place: place == 1)
    pool = generate(options)
    assert len(pool) == 7
    assert pool.manifest["drops"] == {"too_few_distinct_endings": 3}


def test_draws_of_contexts_that_are_given_up_are_counted(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=60, max_draws=1)
    with pytest.raises(ExhaustedError, match="none of 10 contexts"):
        generate(options)
    entries = [read_json(path) for path in sorted(options.out.rglob("shard.json"))]
    assert sum(entry["n_draws"] for entry in entries) == 60 * sum(len(entry["dropped"]) for entry in entries) == 600
    assert 0 < sum(n for entry in entries for n in entry["rejected_draws"].values()) < 600
    few = options_for(contexts_path, lms, tmp_path / "few", n_negatives=60, limit=2)
    made = generate(few)
    assert made.manifest["n_draws"] == 60 * len(made) + sum(made.manifest["rejected_draws"].values())


def test_a_shard_whose_every_row_is_dropped_stays_empty(contexts_path, lms, tmp_path, monkeypatch):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    exhaust(monkeypatch, options, lambda place: place < 2)
    pool = generate(options)
    assert [entry["n_rows"] for entry in pool.manifest["shards"]] == [2, 2, 0]
    assert np.isfinite(pool.gather("features", np.arange(4))).all()
    pool.check_tables()
    assert len(pool.counts) == 4


def test_a_pool_without_any_row_is_refused(contexts_path, lms, tmp_path, monkeypatch):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    exhaust(monkeypatch, options, lambda place: True)
    with pytest.raises(ExhaustedError, match=r"10 too_few_distinct_endings.* lower --n-negatives or mend"):
        generate(options)


def test_golds_of_words_that_the_models_do_not_know_are_told_as_such(contexts_path, tmp_path):
    """Fewer negatives would not have helped."""
    options = options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", limit=2, n_negatives=2)
    with pytest.raises(ExhaustedError, match=r"2 unknown_word_in_gold\)\. .* train models with a lower --min-count"):
        generate(replace(options, lm=replace(TINY, min_count=10**6)))


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("number {}", r"40 gold_too_short\)\. To keep them, lower --min-tokens, or take another --generator"),
        ("goes to see number {} and waits", r"40 gold_unfinished\)\. To keep them, end golds with a full stop"),
    ],
)
def test_golds_that_no_sample_could_look_like_are_told_before_models_are_trained(tmp_path, capsys, gold, said):
    """Five models were trained, and then no context was left."""
    path, lms = tmp_path / "contexts.jsonl", tmp_path / "lms"
    texts = [gold.format(i % 4) for i in range(40)]
    write_jsonl(path, ({"sent1": f"Question {i}?", "start": "It is", "gold": text} for i, text in enumerate(texts)))
    with pytest.raises(ExhaustedError, match=said):
        generate(GenerateOptions(path, lms, tmp_path / "pool", lm=TINY))
    assert not lms.exists()
    assert not (tmp_path / "pool").exists()
    capsys.readouterr()
    train.train_lm(TrainLMOptions(path, lms, folds=(0,), lm=TINY))
    assert "Warning: 40 of 40 contexts are left out by generate" in capsys.readouterr().err


def test_models_trained_by_generate_warn_by_its_own_bounds(tmp_path, capsys):
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, ({"sent1": f"Question {i}?", "start": "It", "gold": f"runs {i % 4}."} for i in range(40)))
    options = GenerateOptions(
        path, tmp_path / "lms", tmp_path / "pool", n_negatives=1, min_tokens=1, folds=(1,), lm=TINY
    )
    assert len(generate(options))
    assert "Warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ("washes the hands.", "gold_too_short"),
        ("walks to the old car and then", "gold_unfinished"),
        ("walks away . The man is there.", "gold_of_several_sentences"),
        ("walks away. The man is there.", "gold_of_several_sentences"),
        ("walks " + "on and " * 13 + "on.", "gold_too_long"),
        ("walks to the old car.", None),
    ],
)
def test_a_gold_that_no_sample_could_look_like_is_dropped(lms, gold, reason):
    _, vocabulary = load_fold(lms, 0, device="cpu")
    ids = [i if i != 1 else 50 for i in vocabulary.ids(tokenize(gold))]
    ends = torch.tensor([token in SENTENCE_ENDS for token in vocabulary.tokens])
    task = Task(0, [50], [50], ids, gold, np.random.default_rng(0))
    assert unfit_reason(task, Sampling(15, 5, 25, 40), ends) == reason


def test_missing_folds_are_trained_first(contexts_path, tmp_path):
    options = options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", folds=(1,), lm=TINY)
    pool = generate(options)
    assert {context.fold for context in pool.contexts} == {1}
    assert (tmp_path / "lms" / "fold-1" / "weights.safetensors").exists()
    assert not (tmp_path / "lms" / "fold-0").exists()


def test_models_that_are_trained_later_share_the_threads_as_if_none_were_trained(contexts_path, tmp_path, monkeypatch):
    """Killed between two folds and run again, the second was learnt on all threads, to other weights."""
    options = options_for(contexts_path, tmp_path / "lms", tmp_path / "pool", limit=8, n_negatives=2)
    generate(replace(options, folds=(1,)))
    shared_among: list[int] = []
    threads_each = train.threads_each

    def noted(options: TrainLMOptions, n_models: int) -> int:
        shared_among.append(n_models)
        return threads_each(options, n_models)

    monkeypatch.setattr(train, "threads_each", noted)
    generate(replace(options, out=tmp_path / "other"))
    assert shared_among == [2]


def test_a_pool_of_texts_gets_the_features_that_generate_would_give(lms, whole, tmp_path):
    made = whole
    texts = [[made.text(row, k) for k in range(1, 3 + row)] for row in range(10)]  # ragged
    mine = CandidatePool.from_texts(made.contexts, texts).save(tmp_path / "mine")
    with pytest.raises(InputError, match="swag-af features"):
        mine.gather("features", np.arange(1))
    with pytest.raises(InputError, match="--lms"):
        features(FeaturesOptions(tmp_path / "mine"))
    with_table = features(FeaturesOptions(tmp_path / "mine", lms))
    assert with_table.identity != mine.identity
    expected = made.gather("features", np.arange(10))
    got = with_table.gather("features", np.arange(10))
    for row in range(10):
        np.testing.assert_allclose(got[row, : 3 + row], expected[row, : 3 + row], rtol=1e-4)
        assert (got[row, 3 + row :] == 0).all()
    assert features(FeaturesOptions(tmp_path / "mine", lms)).identity == with_table.identity
    CandidatePool.from_texts(made.contexts, texts).save(tmp_path / "again")
    features(FeaturesOptions(tmp_path / "again", lms, workers=2))
    assert files_of(tmp_path / "again") == files_of(tmp_path / "mine")


def test_no_negative_holds_a_type_that_no_gold_holds_or_is_cut_off(contexts_path, whole):
    pool = whole
    tokens, lengths = (pool.gather(name, np.arange(10)) for name in ("tokens", "lengths"))
    golds = [pool.vocabulary.ids(tokenize(context.gold)) for context in read_contexts(contexts_path)]
    in_golds = {i for gold in golds for i in gold}
    assert len(in_golds) < len(pool.vocabulary), "else nothing was tried"
    assert set(tokens.ravel().tolist()) - {0} <= in_golds
    last = np.take_along_axis(tokens, lengths.astype(int)[:, :, None] - 1, axis=2)
    assert {pool.vocabulary.tokens[i] for i in np.unique(last)} <= set(SENTENCE_ENDS)
    rejected, n_draws = pool.manifest["rejected_draws"], pool.manifest["n_draws"]
    assert set(rejected) == {"cut_off", "too_short", "repeated"}
    assert n_draws - sum(rejected.values()) == 10 * 15


def test_contexts_without_ids_are_numbered_and_ids_on_several_lines_refused(contexts_path, lms, tmp_path):
    """All rows of a release were called "", and of contexts that were dropped one was told."""
    made = [replace(one, id="" if i % 3 else one.id) for i, one in enumerate(read_contexts(contexts_path))]
    made[1], made[2] = (replace(one, gold="smiles at the camera for a while") for one in made[1:3])
    path, own = tmp_path / "contexts.jsonl", tmp_path / "lms"
    write_contexts(path, [replace(one, video="") for one in made], [], {})
    options = options_for(path, own, tmp_path / "pool", limit=None, n_negatives=3, shard_rows=16)
    options = replace(options, use_dropped=False, folds=(made[1].fold,))
    pool = generate(options)
    numbered = {one.id or f"row-{i}": one for i, one in enumerate(made)}
    for context in pool.contexts:
        assert context.gold == numbered[context.id].gold
        assert context.video == context.id
    dropped = [
        record for at in sorted(pool.path.glob("shards/*")) for record in read_json(at / "shard.json")["dropped"]
    ]
    assert len(dropped) == len(set(dropped)) == sum(pool.manifest["drops"].values()) > 1
    again = generate(replace(options, out=tmp_path / "again", reuse=(options.out,)))
    assert (again.identity, again.manifest["n_draws"]) == (pool.identity, 0)
    write_contexts(path, [*made, replace(made[0], gold="does it otherwise.")], [], {})
    with pytest.raises(InputError, match="1 id stands on several lines"):
        generate(replace(options, out=tmp_path / "repeated", folds=()))


def test_a_shard_of_another_pool_is_refused(contexts_path, lms, tmp_path):
    """Work shared by hand, with one folder begun by mistake: its endings were given to other contexts."""
    mine = options_for(contexts_path, lms, tmp_path / "mine", n_negatives=3, limit=8, shard="1/2")
    make_shards(mine)
    there = tmp_path / "mine" / "shards" / "00001"
    for change, said in (({"seed": 1}, r"seed \(1, now 0\)"), ({"limit": 7}, r"limit \(7, now 8\)")):
        other = replace(mine, out=tmp_path / said[:4], shard="2/2", **change)
        make_shards(other)
        shutil.copytree(other.out / "shards" / "00001", there)
        with pytest.raises(InputError, match=rf"00001: made for another pool, with other .*{said}"):
            generate(replace(mine, shard=None))
        shutil.rmtree(there)
    theirs = replace(mine, out=tmp_path / "theirs", shard="2/2")
    make_shards(theirs)
    shutil.copytree(theirs.out / "shards" / "00001", there)
    entry = read_json(there / "shard.json")
    del entry["plan"]  # as older releases wrote it
    (there / "shard.json").write_text(json.dumps(entry))
    whole = generate(replace(mine, out=tmp_path / "whole", shard=None))
    assert generate(replace(mine, shard=None)).identity == whole.identity


def test_models_of_other_pairs_are_told_by_what_is_missing(contexts_path, lms, tmp_path):
    """The next command of `train-lm --no-use-dropped` was refused, and told to train anew."""
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=3, limit=2)
    with pytest.raises(
        InputError, match=r"trained with the pairs of .*dropped\.jsonl, too\. Leave out --no-use-dropped"
    ):
        generate(replace(options, use_dropped=False))
    alone = tmp_path / "contexts.jsonl"
    shutil.copy(contexts_path, alone)
    with pytest.raises(InputError, match=r"contexts\.dropped\.jsonl: not there, and .* Copy it along"):
        generate(replace(options, contexts=alone))
    without, folds = tmp_path / "without", (read_contexts(contexts_path)[0].fold,)
    made = generate(replace(options, lms=without, use_dropped=False, folds=folds))
    assert len(made) == 2
    with pytest.raises(InputError, match=r"trained without the pairs of .*dropped\.jsonl\. Pass --no-use-dropped"):
        generate(replace(options, lms=without, folds=folds, out=tmp_path / "other"))
    write_contexts(alone, read_contexts(contexts_path)[1:], [], {})
    with pytest.raises(InputError, match="trained on other pairs than those of"):
        generate(replace(options, contexts=alone, out=tmp_path / "fewer"))


def test_a_shard_under_the_number_of_another_is_refused(contexts_path, lms, tmp_path):
    """Eight contexts stood twice in a pool, and in its release; eight others were in neither."""
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=3, limit=8, shard="1/2")
    make_shards(options)
    shards = options.out / "shards"
    shutil.copytree(shards / "00000", shards / "00001")
    with pytest.raises(InputError, match=r"00001: this is shard 00000 of the pool\. Take it away"):
        make_shards(replace(options, shard=None))
    shutil.rmtree(shards / "00001")
    whole = generate(replace(options, out=tmp_path / "whole", shard=None))
    assert generate(replace(options, shard=None)).identity == whole.identity


def test_a_shard_that_is_gone_or_cut_short_is_made_again_alone(contexts_path, lms, tmp_path):
    """One of a complete pool cost all others: nothing but a new pool was left."""
    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=3, limit=8)
    identity = generate(options).identity
    shards = sorted((options.out / "shards").iterdir())
    before = [path.stat().st_mtime_ns for path in shards]
    shutil.rmtree(shards[1])
    assert generate(options).identity == identity
    assert [path.stat().st_mtime_ns == was for path, was in zip(shards, before, strict=True)] == [
        path != shards[1] for path in shards
    ]
    shutil.rmtree(shards[1])
    make_shards(replace(options, shard=f"1/{len(shards)}"))  # which begins it again
    shutil.copytree(shards[0], tmp_path / "copy")
    os.truncate(shards[0] / "tokens.npy", 100)
    with pytest.raises(FormatError, match=r"00000/tokens\.npy: damaged .*\. Remove the folder 00000, and run the same"):
        generate(options)
    shutil.rmtree(shards[0])
    assert generate(options).identity == identity
    shutil.rmtree(shards[1])
    manifest = read_json(options.out / "manifest.json") | {"tagger": "another"}
    (options.out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"00001: gone, and the pool was tagged or guarded since"):
        generate(options)


def test_work_that_cannot_begin_leaves_no_folder_begun(contexts_path, lms, tmp_path, monkeypatch):
    """A cluster that refuses left a manifest, and with it the command with other options was refused."""

    def refuse(*given, **named):
        raise InputError("no cluster answers there.")

    options = options_for(contexts_path, lms, tmp_path / "pool", n_negatives=3, limit=8)
    with monkeypatch.context() as patch:
        patch.setattr("swag_af.lm.verb.run_blocks", refuse)
        with pytest.raises(InputError, match="no cluster answers"):
            generate(options)
        assert not [*options.out.rglob("*.json")]

    def refuse_beside_another(*given, **named):
        (options.out / "shards" / ".2-of-2.lock").touch()
        refuse()

    with monkeypatch.context() as patch:
        patch.setattr("swag_af.lm.verb.run_blocks", refuse_beside_another)
        with pytest.raises(InputError, match="no cluster answers"):
            make_shards(replace(options, shard="1/2"))
        assert (options.out / "manifest.json").exists()
        shutil.rmtree(options.out)
    make_shards(replace(options, n_negatives=4, shard="1/2"))
    with monkeypatch.context() as patch:
        patch.setattr("swag_af.lm.verb.run_blocks", refuse)
        with pytest.raises(InputError, match="no cluster answers"):
            generate(replace(options, n_negatives=4))
    assert (options.out / "shards" / "00000" / "shard.json").exists()
    assert len(generate(replace(options, n_negatives=4))) == 8


def test_a_pool_begun_with_whole_videos_goes_on_with_these_alone(contexts_path, lms, tmp_path):
    """Typed again without --limit-by its finished rows were given to the contexts of the other choice, gold and all."""
    options = options_for(contexts_path, lms, tmp_path / "pool", limit=12, limit_by="video")
    generate(options)
    with pytest.raises(InputError, match="has other contexts, limit_by"):
        generate(replace(options, limit_by="context"))
    begun = replace(options, out=tmp_path / "begun", shard_rows=4, shard="1/2")
    make_shards(begun)
    with pytest.raises(InputError, match=r"begun with other limit_by \(video, now not given\)"):
        make_shards(replace(begun, limit_by="context"))


def test_folds_that_no_context_has_are_named_and_their_order_is_none(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool", folds=(0, 1))
    generate(options)
    assert generate(replace(options, folds=(1, 0, 1))).identity == CandidatePool.open(options.out).identity
    with pytest.raises(InputError, match=r"--folds 97: .* has no contexts in them"):
        generate(replace(options, folds=(0, 97)))


@pytest.mark.parametrize("shard", [None, "1/2"])
def test_a_pool_begun_with_folds_as_they_were_typed_goes_on(contexts_path, lms, tmp_path, monkeypatch, shard):
    """An earlier checkout wrote `--folds 1 0` so, and it was refused as another choice than 0 and 1."""
    options = options_for(contexts_path, lms, tmp_path / "pool", folds=(1, 0), shard=shard)
    with monkeypatch.context() as patch:
        patch.setattr("swag_af.lm.verb.choice_of", lambda options: choice_of(options) | {"folds": list(options.folds)})
        make_shards(options)
    assert read_json(options.out / "manifest.json")["plan"]["folds"] == [1, 0]
    assert len(generate(replace(options, shard=None))) > 0
