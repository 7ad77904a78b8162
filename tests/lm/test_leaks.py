"""Claims tried by leaking on purpose: folds renamed, sentences copied, golds recycled. Nothing leaks, or it is told."""

import json
import warnings
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from conftest import TINY, make_contexts_of

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_run
from swag_af.data.captions.context_set import read_contexts, read_dropped, write_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.folds import FoldMap
from swag_af.data.pool import sharing as sharing_module
from swag_af.data.pool.options import PoolOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool as build
from swag_af.lm.features import features
from swag_af.lm.lstm import lazy as lazy_module
from swag_af.lm.lstm import scorer as scorer_module
from swag_af.lm.lstm.train import train_lm
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.lm.verb import generate
from swag_af.reporting.tables.text import audit_lines

NEGATIVES = ["walks to the old car.", "sings in the rain."]


def rows_of(contexts: list[Context]) -> list[dict]:
    """Contexts as a foreign file has them: no folds."""
    return [
        {name: value for name, value in asdict(c).items() if name != "fold"} | {"negatives": NEGATIVES}
        for c in contexts
    ]


def reading_folds(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """For every context that a model reads from now on, that model's fold."""
    found: dict[str, int] = {}
    load, texts = scorer_module.load_readers, lazy_module._TableMaker._texts
    at = [-1]

    def load_readers(lms, fold, **settings):
        at[0] = fold
        return load(lms, fold, **settings)

    def texts_of(maker, row):
        found[maker.pool.contexts[row].id] = at[0]
        return texts(maker, row)

    monkeypatch.setattr(scorer_module, "load_readers", load_readers)
    monkeypatch.setattr(lazy_module._TableMaker, "_texts", texts_of)
    return found


@pytest.mark.parametrize("names", ["folds", "videos", "none"])
def test_features_come_from_the_model_that_has_not_read_the_row_whatever_its_fold_number(
    contexts_path, lms, tmp_path, monkeypatch, names
):
    contexts = read_contexts(contexts_path)[:30]
    changed = {
        "folds": [replace(c, fold=1 - c.fold) for c in contexts],  # dealt by somebody else
        "videos": [replace(c, video=f"renamed-{i}", fold=i % 2) for i, c in enumerate(contexts)],
        "none": [replace(c, video="", fold=0) for c in contexts],
    }[names]
    CandidatePool.from_texts(changed, [NEGATIVES] * len(changed)).save(tmp_path / "pool")
    found = reading_folds(monkeypatch)
    made = features(FeaturesOptions(tmp_path / "pool", lms))
    assert found == {c.id: c.fold for c in contexts}
    assert made.manifest["features_by"]["n_foreign_rows"] == 0


def test_rows_that_no_model_has_read_are_counted_as_such(lms, tmp_path):
    foreign = [replace(c, fold=9) for c in make_contexts_of(6, n_videos=3)]
    CandidatePool.from_texts(foreign, [NEGATIVES] * 6).save(tmp_path / "pool")
    made = features(FeaturesOptions(tmp_path / "pool", lms))
    assert made.manifest["features_by"]["n_foreign_rows"] == 6


@pytest.fixture(scope="module")
def read_by_all(contexts_path, tmp_path_factory) -> tuple[Path, Context]:
    """Contexts and models of which the ending of one context in fold 0 was learnt by its own fold's model too; not to
    be changed."""
    folder = tmp_path_factory.mktemp("read")
    contexts, dropped = read_contexts(contexts_path), read_dropped(contexts_path)
    leaked = next(c for c in contexts if c.fold == 0)
    copy = next(i for i, pair in enumerate(dropped) if pair.fold == 1)
    dropped[copy] = replace(dropped[copy], sent1=leaked.sentences[1].upper())
    write_contexts(folder / "contexts.jsonl", contexts, dropped, {})
    train_lm(TrainLMOptions(folder / "contexts.jsonl", folder / "lms", lm=TINY))
    return folder, leaked


def test_a_context_whose_ending_its_model_has_read_is_dropped_by_generate_and_counted(read_by_all, tmp_path):
    folder, leaked = read_by_all
    options = GenerateOptions(folder / "contexts.jsonl", folder / "lms", tmp_path / "pool", n_negatives=3, lm=TINY)
    made = generate(options)
    assert leaked.id not in {context.id for context in made.contexts}
    assert made.manifest["drops"]["read_by_its_model"] == sum(
        len(FoldMap.load(folder / "lms").folds_of(c)) > 1 for c in read_contexts(folder / "contexts.jsonl")
    )


def test_a_row_that_every_model_has_read_is_refused_by_features_and_left_out_by_pool(read_by_all, tmp_path):
    folder, leaked = read_by_all
    contexts = [leaked, *make_contexts_of(6, n_videos=3)]
    write_jsonl(tmp_path / "mine.jsonl", rows_of(contexts))
    build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "mine"))
    with pytest.raises(InputError, match=rf"1 row has a second sentence that several folds .*{leaked.id}\).*--lms"):
        features(FeaturesOptions(tmp_path / "mine", folder / "lms"))
    made = build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "without", lms=folder / "lms"))
    assert made.manifest["drops"] == {"read_by_all_models": 1}
    assert len(features(FeaturesOptions(tmp_path / "without", folder / "lms"))) == 6


def test_a_pool_made_for_models_has_their_folds(contexts_path, lms, tmp_path):
    contexts = read_contexts(contexts_path)[:30]
    write_jsonl(tmp_path / "mine.jsonl", rows_of(contexts))
    made = build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "pool", lms=lms))
    assert [c.fold for c in made.contexts] == [c.fold for c in contexts]


def test_lazy_features_of_a_row_that_its_model_has_read_are_refused(read_by_all, tmp_path):
    folder, leaked = read_by_all
    settings = {"n_negatives": 3, "limit": 6, "features": "lazy", "lm": TINY}
    generate(GenerateOptions(folder / "contexts.jsonl", folder / "lms", tmp_path / "pool", **settings))
    path = tmp_path / "pool/shards/00000/contexts.jsonl"
    first, _, others = path.read_text().partition("\n")
    path.write_text(json.dumps(json.loads(first) | asdict(leaked)) + "\n" + others)
    with pytest.raises(InputError, match="1 row would be read by models that have learnt the endings"):
        lazy_module.with_features(CandidatePool.open(tmp_path / "pool"))


def test_lines_without_a_video_that_share_a_sentence_are_held_together(tmp_path, capsys):
    """Pairs of consecutive captions: without names, every line would be its own video, and its neighbour would tell."""
    captions = [[f"Story {v} has a part number {i} of {5 * v + i}." for i in range(5)] for v in range(12)]
    pairs = [(v, texts[i], texts[i + 1]) for v, texts in enumerate(captions) for i in range(4)]
    lines = [
        {"sent1": one, "start": two.split(" has")[0], "gold": "has" + two.partition(" has")[2]} for _, one, two in pairs
    ]
    write_jsonl(tmp_path / "theirs.jsonl", lines)
    contexts = read_contexts(tmp_path / "theirs.jsonl")
    for v in range(12):
        mine = [c for c, (video, *_) in zip(contexts, pairs, strict=True) if video == v]
        assert len({(c.video, c.fold) for c in mine}) == 1
    assert len({c.video for c in contexts}) == 12
    told = capsys.readouterr().err
    assert "48 of 48 contexts name no video; 48 that share a sentence with another were joined" in told
    assert "12 groups" in told


def test_lines_that_tell_a_story_so_far_are_held_together(tmp_path):
    """`S1`, then `S1 S2`, then `S1 S2 S3`: the second sentence of a line stands inside the first field of the next."""
    lines = []
    for v in range(12):
        told = [f"Story {v} has a part number {i} of {5 * v + i}." for i in range(5)]
        for i in range(4):
            start, _, rest = told[i + 1].partition(" has")
            lines.append({"sent1": " ".join(told[: i + 1]), "start": start, "gold": f"has{rest}"})
    write_jsonl(tmp_path / "theirs.jsonl", lines)
    contexts = read_contexts(tmp_path / "theirs.jsonl")
    for v in range(12):
        assert len({(c.video, c.fold) for c in contexts[4 * v : 4 * v + 4]}) == 1
    assert len({c.video for c in contexts}) == 12


def test_folds_on_some_lines_only_are_refused(tmp_path):
    line = {"sent1": "He sits.", "start": "She", "gold": "runs."}
    write_jsonl(tmp_path / "theirs.jsonl", [line | {"fold": 1}, line])
    with pytest.raises(InputError, match="1 of 2 lines have no fold"):
        read_contexts(tmp_path / "theirs.jsonl")


def test_rows_of_a_pool_without_a_fold_get_one_beside_those_that_have_one(tmp_path):
    rows = rows_of(make_contexts_of(40, n_videos=20))
    rows[3]["fold"] = 7
    write_jsonl(tmp_path / "mine.jsonl", rows)
    folds = [c.fold for c in build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "pool")).contexts]
    assert folds[3] == folds[23] == 7, "of one video"
    assert {fold for i, fold in enumerate(folds) if i not in (3, 23)} == set(range(5))


def test_rows_of_a_pool_that_share_a_sentence_share_a_group(tmp_path):
    contexts = [Context(f"Line {i}.", "He", f"does thing {i}.", video=f"v{i}") for i in range(40)]
    contexts[7] = replace(contexts[7], sent1="he does thing 30")
    write_jsonl(tmp_path / "mine.jsonl", rows_of(contexts))
    pools = [
        CandidatePool.from_texts(contexts, [NEGATIVES] * 40),
        build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "p")),
    ]
    for made in pools:
        assert made.groups[7] == made.groups[30]
        assert len(set(made.groups.tolist())) == 39
        assert made.manifest["shared_texts"]["n_rows_joined_by_sentence"] == 2
    assert pools[1].contexts[7].fold == pools[1].contexts[30].fold
    assert pools[0].groups.tolist() == pools[1].groups.tolist()


def recycled(n: int, shift: tuple[int, ...]) -> CandidatePool:
    """Every negative is the gold of another row."""
    contexts = [Context(f"Line {i}.", "He", f"does thing {i}.", video=f"v{i}") for i in range(n)]
    return CandidatePool.from_texts(contexts, [[contexts[(i + s) % n].gold for s in shift] for i in range(n)])


def test_recycled_golds_are_counted_and_told_to_be_beyond_keeping_together():
    made = recycled(40, (1, 2, 3))
    assert made.manifest["shared_texts"] == {
        "n_rows_joined_by_sentence": 0,
        "n_rows_apart_by_sentence": 0,
        "n_rows": 40,
        "n_golds_among_negatives": 120,
        "n_rows_apart_by_gold": 40,
        "kept_together": False,
        "n_negatives": 120,
        "n_repeated_negatives": 0,
    }


def test_few_recycled_golds_are_kept_together():
    contexts = [Context(f"Line {i}.", "He", f"does thing {i}.", video=f"v{i}") for i in range(40)]
    negatives = [["walks away.", "sings a song."] for _ in range(40)]
    negatives[3] = ["Does thing 20", "walks away."]
    made = CandidatePool.from_texts(contexts, negatives)
    assert made.groups[3] == made.groups[20]
    assert made.manifest["shared_texts"]["n_rows"] == 2
    assert made.manifest["shared_texts"]["n_golds_among_negatives"] == 1
    assert made.manifest["shared_texts"]["kept_together"]


def test_what_is_counted_of_recycled_golds_is_what_a_slow_look_counts():
    rng = np.random.default_rng(0)
    golds = [f"does thing {int(rng.integers(0, 30))}." for _ in range(60)]
    contexts = [Context(f"Line {i}.", "He", gold, video=f"v{i}") for i, gold in enumerate(golds)]
    negatives = [[f"does thing {int(k)}." for k in rng.integers(0, 60, 4)] + ["sings."] for _ in range(60)]
    shared = CandidatePool.from_texts(contexts, negatives).manifest["shared_texts"]
    kept = [list(dict.fromkeys(n for n in row if n != gold)) for row, gold in zip(negatives, golds, strict=True)]
    n_recycled = sum(n in golds for row in kept for n in row)
    told = {i for i, row in enumerate(kept) if any(n in golds for n in row)}
    told |= {i for i, gold in enumerate(golds) if any(gold in row for row in kept)}
    assert (shared["n_golds_among_negatives"], shared["n_rows"]) == (n_recycled, len(told))
    times = Counter(n for row in kept for n in row if n not in golds)
    assert shared["n_negatives"] == sum(map(len, kept))
    assert shared["n_repeated_negatives"] == sum(n for n in times.values() if n > 1)


def test_the_verb_pool_counts_what_from_texts_counts(tmp_path: Path):
    """Its blocks come from disk, one after another."""
    contexts = make_contexts_of(40, n_videos=20)
    write_jsonl(tmp_path / "mine.jsonl", rows_of(contexts))
    made = build(PoolOptions((tmp_path / "mine.jsonl",), tmp_path / "pool", tagger="none"))
    here = CandidatePool.from_texts([replace(c, fold=0) for c in contexts], [NEGATIVES] * 40)
    assert made.manifest["shared_texts"] == here.manifest["shared_texts"]
    assert made.manifest["shared_texts"]["n_repeated_negatives"] == 80


def test_negatives_that_repeat_within_a_group_alone_are_not_told():
    """Of a matching with tags 41 negatives repeated, all within folds, and filters were said to know them again."""
    contexts = [Context(f"Line {i}.", "He", f"does thing {i}.", video=f"v{i}") for i in range(40)]
    negatives = [[f"sings song {i // 10}.", f"eats {i}."] for i in range(40)]
    groups = np.arange(40) // 10
    held = CandidatePool.from_grouped_texts(contexts, negatives, groups).manifest["shared_texts"]
    assert (held["n_negatives"], held["n_repeated_negatives"]) == (80, 0)
    negatives[0][0] = "sings song 1."
    apart = CandidatePool.from_grouped_texts(contexts, negatives, groups).manifest["shared_texts"]
    assert apart["n_repeated_negatives"] == 11


def test_repeated_negatives_beyond_a_limit_are_counted_in_part(monkeypatch: pytest.MonkeyPatch):
    contexts = [Context(f"Line {i}.", "He", f"does thing {i}.", video=f"v{i}") for i in range(400)]
    negatives = [
        [f"sings song {i} {k}." for k in range(6)] + [f"eats {(i + k) % 200}." for k in range(6)] for i in range(400)
    ]
    whole = CandidatePool.from_texts(contexts, negatives).manifest["shared_texts"]
    assert (whole["n_negatives"], whole["n_repeated_negatives"]) == (4800, 2400)
    monkeypatch.setattr(sharing_module, "_MOST_LOOKED_AT", 1500)
    part = CandidatePool.from_texts(contexts, negatives).manifest["shared_texts"]
    assert part["n_repeated_negatives"] == pytest.approx(2400, rel=0.3)


def bank(n: int, *, is_reused: bool) -> CandidatePool:
    """Gold and negatives are drawn alike, from words that say nothing; negatives perhaps from a few that all share."""
    rng = np.random.default_rng(3)
    texts = iter(" ".join(rng.choice([f"w{i}" for i in range(900)], 8)) for _ in range(20 * n))
    contexts = [Context(f"Line {i}.", "He", next(texts), video=f"v{i}") for i in range(n)]
    shared = [next(texts) for _ in range(n)]
    negatives = [
        [shared[k] for k in rng.choice(n, 4, replace=False)] if is_reused else [next(texts) for _ in range(4)]
        for _ in range(n)
    ]
    return CandidatePool.from_texts(contexts, negatives)


@pytest.mark.parametrize("is_reused", [False, True])
def test_negatives_of_a_bank_give_gold_away_and_are_told(is_reused: bool):
    """A fresh filter found gold in 80 % of such rows, chance 20, and nothing said that style was not the reason."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = bank(200, is_reused=is_reused)
    run = filter_pool(made, "ngrams", AFOptions(iterations=1, n_negatives=4))
    found = audit_run(run, AuditPlan([0], ["ngrams"]))
    assert found[0].accuracy > 0.6 if is_reused else found[0].accuracy < 0.4, "there is no other way to tell gold"
    texts = ["\n".join(audit_lines(run, found)), " ".join(str(one.message) for one in warned)]
    assert ["stand in several contexts" in text for text in texts] == [is_reused, is_reused]
