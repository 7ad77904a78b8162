"""`generate --reuse`: rows that other pools have are copied, and the pool is the one that sampling all would make."""

import pickle
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import TINY
from folders import files_of

from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import FormatError, InputError
from swag_af.data.folds import FOLDS
from swag_af.data.pool import drafts
from swag_af.data.pool.options import TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import tag
from swag_af.lm.estimate import estimate
from swag_af.lm.lstm import generator as generator_module
from swag_af.lm.lstm.candidates import all_types
from swag_af.lm.lstm.checkpoints import open_vocabulary
from swag_af.lm.lstm.features import BACKWARD
from swag_af.lm.lstm.lazy import with_features
from swag_af.lm.options import GenerateOptions
from swag_af.lm.rows import RowsJob, blocks_of
from swag_af.lm.verb import generate, prepare


def options_for(contexts_path, lms, out, **more) -> GenerateOptions:
    settings = {"n_negatives": 7, "limit": 12, "limit_by": "video", "shard_rows": 4, "lm": TINY} | more
    if settings["limit"] is None:
        settings["limit_by"] = "context"
    return GenerateOptions(contexts_path, lms, out, **settings)


@pytest.mark.parametrize("features", ["full", "lazy"])
def test_a_larger_pool_is_the_one_that_sampling_all_would_make(contexts_path, lms, tmp_path, monkeypatch, features):
    small = generate(options_for(contexts_path, lms, tmp_path / "small", features=features, shard_rows=5))
    larger = options_for(contexts_path, lms, tmp_path / "whole", features=features, limit=20)
    whole = generate(larger)
    sampled = []
    keep = drafts.ShardDraft.keep

    def noted(self, row, tables, *, n_draws, rejected):
        sampled.append(n_draws > 0)
        keep(self, row, tables, n_draws=n_draws, rejected=rejected)

    monkeypatch.setattr(drafts.ShardDraft, "keep", noted)
    grown = generate(replace(larger, out=tmp_path / "grown", reuse=(tmp_path / "small",)))
    shared = {context.id for context in small.contexts} & {context.id for context in whole.contexts}
    assert len(shared) > 6, "a draw of whole videos has most of a smaller one"
    assert sampled.count(False) == len(shared) == grown.manifest["copied_rows"]
    assert sampled.count(True) == len(whole) - len(shared)
    assert files_of(tmp_path / "grown", like="*.npy") == files_of(tmp_path / "whole", like="*.npy")
    assert grown.identity == whole.identity
    assert grown.manifest["plan"] == whole.manifest["plan"]
    assert 0 < grown.manifest["n_draws"] < whole.manifest["n_draws"]


def test_folds_made_one_by_one_become_one_pool_without_sampling(contexts_path, lms, tmp_path, monkeypatch):
    few = {"limit": None, "n_negatives": 2, "shard_rows": 64}
    whole = generate(options_for(contexts_path, lms, tmp_path / "whole", **few))
    folds = sorted({context.fold for context in whole.contexts})
    parts = [options_for(contexts_path, lms, tmp_path / f"{k}", folds=(k,), **few) for k in folds]
    for part in parts:
        generate(part)
    monkeypatch.setattr(generator_module, "load_readers", None)
    again = options_for(contexts_path, lms, tmp_path / "again", **few, reuse=tuple(part.out for part in parts))
    forecast = estimate(again)
    assert (forecast.n_copied, forecast.n_made) == (len(whole), 0)
    joined = generate(again)
    assert joined.identity == whole.identity
    assert (joined.manifest["n_draws"], joined.manifest["copied_rows"]) == (0, len(whole))


def test_contexts_that_were_dropped_are_dropped_again(contexts_path, lms, tmp_path, monkeypatch):
    contexts = read_contexts(contexts_path)
    contexts[0] = replace(contexts[0], gold="smiles at the camera for a while")
    write_contexts(tmp_path / "contexts.jsonl", contexts, [], {})
    options = options_for(tmp_path / "contexts.jsonl", tmp_path / "lms", tmp_path / "pool", limit=None, shard_rows=64)
    options = replace(options, use_dropped=False, n_negatives=3, folds=(contexts[0].fold,))
    pool = generate(options)
    monkeypatch.setattr(generator_module, "load_readers", None)
    again = generate(replace(options, out=tmp_path / "again", reuse=(options.out,)))
    assert again.identity == pool.identity
    assert again.manifest["drops"] == pool.manifest["drops"] == {"gold_unfinished": 1}


def test_contexts_are_told_apart_by_what_they_say_not_by_ids(contexts_path, lms, tmp_path):
    """Every other one has no id, and one context stands there twice."""
    made = [replace(one, id="" if i % 2 else f"{i}") for i, one in enumerate(read_contexts(contexts_path))]
    write_contexts(tmp_path / "contexts.jsonl", [*made, made[3]], [], {})
    few = options_for(tmp_path / "contexts.jsonl", tmp_path / "lms", tmp_path / "few", limit=6, limit_by="context")
    few = replace(few, use_dropped=False, n_negatives=3, folds=(made[3].fold,))
    generate(few)
    whole = generate(replace(few, limit=20, out=tmp_path / "whole"))
    grown = generate(replace(few, limit=20, out=tmp_path / "grown", reuse=(few.out,)))
    assert grown.identity == whole.identity
    assert grown.manifest["copied_rows"] >= 6
    for row, context in enumerate(grown.contexts):
        assert grown.text(row, 0).lower() == context.gold.lower()


def test_a_lazy_pool_is_the_same_whatever_was_asked_for_before_it_was_tagged(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "asked", features="lazy")
    pool = with_features(generate(options))
    fresh = generate(replace(options, out=tmp_path / "fresh"))
    pool.gather("features", np.array([0, 3]), np.array([[1, 2], [0, 4]]))
    tagged = [tag(TagOptions(one.path, "rules", in_context=True)) for one in (pool, fresh)]
    assert tagged[0].identity == tagged[1].identity
    assert tagged[0].save(tmp_path / "saved").identity == tagged[1].identity


@pytest.mark.parametrize("reused", ["lazy", "full"])
def test_a_lazy_pool_takes_over_what_is_known_of_its_features(contexts_path, lms, tmp_path, reused):
    few = options_for(contexts_path, lms, tmp_path / "few", features=reused)
    pool = with_features(generate(few))
    if reused == "lazy":
        pool.gather("features", np.array([0, 3]), np.array([[1, 2], [0, 4]]))
    larger = replace(few, limit=20, features="lazy")
    whole = with_features(generate(replace(larger, out=tmp_path / "whole")))
    grown = with_features(generate(replace(larger, out=tmp_path / "grown", reuse=(few.out,))))
    assert grown.identity == whole.identity
    assert {**grown.manifest["plan"], "lms": None} == {**whole.manifest["plan"], "lms": None}
    assert grown.manifest["copied_rows"] > 6
    made = [np.concatenate([np.load(path) for path in one.path.glob("shards/*/features.npy")]) for one in (pool, grown)]
    n_known = [int((~np.isnan(table[:, :, BACKWARD[0]])).sum()) for table in made]
    assert n_known[1] == (4 if reused == "lazy" else 8 * grown.manifest["copied_rows"])
    every = np.arange(len(whole)), np.broadcast_to(np.arange(8), (len(whole), 8))
    assert grown.gather("features", *every).tobytes() == whole.gather("features", *every).tobytes()
    with pytest.raises(InputError, match=r"features \(lazy, now full\)"):
        generate(replace(larger, features="full", out=tmp_path / "full", reuse=(grown.path,)))


def test_workers_elsewhere_are_not_told_of_pools_whose_rows_are_copied_here(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool", reuse=(tmp_path / "small",))
    job = RowsJob(options, "cpu", "fp32", all_types(open_vocabulary(lms)))
    assert pickle.loads(pickle.dumps(job)).options == replace(options, reuse=())


def test_workers_read_neither_the_contexts_nor_what_models_have_learnt(contexts_path, lms, tmp_path):
    """Of ten million contexts each worker would hold 12 GB."""
    options = options_for(
        shutil.copy(contexts_path, tmp_path), shutil.copytree(lms, tmp_path / "lms"), tmp_path / "pool"
    )
    job = prepare(options)
    blocks = blocks_of(0, job.groups[0], set(), options, "cpu")
    rows = RowsJob(options, "cpu", "fp32", all_types(open_vocabulary(options.lms)))
    Path(options.contexts).unlink()
    (options.lms / FOLDS).unlink()
    make = pickle.loads(pickle.dumps(rows)).open()
    assert sum((make(block) for block in blocks), Counter()) == {"": 4}


@pytest.mark.parametrize(("gpus", "device"), [(0.0, "cpu"), (1.0, "cuda")])
def test_on_a_cluster_a_gpu_is_used_where_tasks_are_given_one(contexts_path, lms, tmp_path, gpus, device):
    """The machine that was started on may have none, or one that its workers have not."""
    options = options_for(contexts_path, lms, tmp_path / "pool", where=EngineOptions("ray", gpus_per_task=gpus))
    assert prepare(options).settings["device"] == device


def test_stopped_while_copying_it_goes_on(contexts_path, lms, tmp_path, monkeypatch):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    pool = generate(options)
    copy, copied = drafts.ShardDraft.copy, []

    def stop_at_the_fifth(self, row, tables):
        copied.append((self.number, row))
        if len(copied) == 5:
            raise KeyboardInterrupt
        copy(self, row, tables)

    monkeypatch.setattr(drafts.ShardDraft, "copy", stop_at_the_fifth)
    again = replace(options, out=tmp_path / "again", reuse=(options.out,))
    with pytest.raises(KeyboardInterrupt):
        generate(again)
    assert generate(again).identity == pool.identity
    assert len(copied) == len(pool) + 1, "no row is copied twice"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 1}, r"--reuse .*made with other seed \(0, now 1\)"),
        ({"n_negatives": 5}, r"n_negatives \(7, now 5\)"),
    ],
)
def test_rows_of_other_settings_are_refused(contexts_path, lms, tmp_path, change, said):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    generate(options)
    again = replace(options, out=tmp_path / "again", reuse=(options.out,), **change)
    with pytest.raises(InputError, match=said):
        generate(again)
    with pytest.raises(InputError, match=said):
        estimate(again)
    assert not again.out.exists()


def test_rows_of_other_models_are_refused(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    generate(options)
    again = replace(options, lms=tmp_path / "lms", out=tmp_path / "again", reuse=(options.out,))
    again = replace(again, lm=replace(TINY, hidden=8, epochs=1))
    with pytest.raises(InputError, match="made with other models of fold 0"):
        generate(again)
    with pytest.raises(InputError, match="made with other models of fold 0"):
        estimate(again)  # trained by now
    assert not again.out.exists()


def test_pools_of_texts_are_refused(contexts_path, lms, tmp_path):
    texts = CandidatePool.from_texts(read_contexts(contexts_path)[:4], [["goes away ."]] * 4).save(tmp_path / "texts")
    options = options_for(contexts_path, lms, tmp_path / "pool", reuse=(texts.path,))
    with pytest.raises(InputError, match="rows are not as language models"):
        generate(options)


def test_a_damaged_pool_is_not_copied(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    generate(options)
    path = tmp_path / "pool/shards/00001/features.npy"
    table = np.load(path)
    table[0, 0, 0] += 1
    np.save(path, table)
    with pytest.raises(FormatError, match="00001: damaged"):
        generate(replace(options, out=tmp_path / "again", reuse=(options.out,)))


def test_a_larger_choice_in_the_same_folder_is_told_how_to_grow(contexts_path, lms, tmp_path):
    options = options_for(contexts_path, lms, tmp_path / "pool")
    generate(options)
    with pytest.raises(InputError, match=r"pool: has other contexts, limit \(12, now 20\).*--reuse .*pool` it takes"):
        generate(replace(options, limit=20))
    with pytest.raises(InputError, match=r"begun with other seed \(0, now 1\), limit"):
        generate(replace(options, limit=20, seed=1))
