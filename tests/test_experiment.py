"""Claims about benchmarks/experiment.py: a tiny size of it, from synthetic captions to tables and back."""

import contextlib
import json
import math
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pytest
import scipy.stats
from experimenting import command, nested, released, results, running, starts
from experimenting.curves import growth_of_jump, jump_of, slope_of
from experimenting.findings import Hits, change, difference, joined, over_parts
from experimenting.growth import growth_cells, nested_rows, wide_cells
from experimenting.nested import nested_found
from experimenting.phases import told_wider
from experimenting.pools import dealt_rows, make_variant
from experimenting.predicted import PREDICTED, Prediction, came, is_as_hard
from experimenting.reading import CAME, HEADER, LETTERS, OUT, of_both, one_a_group, read_sheet, write_questions
from experimenting.record import RECORD, as_lines, figures_of, is_whole, keep_runs, kept_run, packed, unpacked
from experimenting.released import largest, measure_released, released_found
from experimenting.repeats import change_of_means, luck_of, mean_of
from experimenting.results import RESULTS, collect, read_results, shown
from experimenting.sizes import ARMS, BIG, BIGGER, PAPER, SIZES, TINY, Arm, Size
from experimenting.starts import (
    CAPITAL,
    OTHERS,
    WAYS,
    ends_in_capital,
    start_cells,
    starts_found,
)
from experimenting.steps import (
    DEALT,
    DOUBLE,
    PER_RUN,
    RELEASED,
    SHARED,
    Setting,
    commands,
    nested_cells,
    rows_of,
    shares,
)
from experimenting.tables import BEGIN, END, document, part_of, with_part
from experimenting.wording import told_way
from folders import write
from hypothesis import given
from hypothesis import strategies as st

from swag_af.auditing.probes import models as probe_models
from swag_af.cli.main import main as swag_af_main
from swag_af.cli.parsing import parse
from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import read_audits
from swag_af.data.runs.run import open_run
from swag_af.filters.estimators import NgramFilter
from swag_af.filters.fast_text import FastTextSettings
from swag_af.filters.members import BagOfWordsFilter, MLPFilter

DOCS = Path(__file__).parents[1] / "docs"


def here(words: Sequence[str], folder: Path, output: TextIO) -> int:
    """A command in this process: a process of its own takes seconds to begin."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            swag_af_main(list(words))
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        os.chdir(before)
    return 0


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Fits of two epochs and of few buckets, one draw of the released questions and of the starts: what is asked here
    is what becomes of their figures."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (MLPFilter, BagOfWordsFilter):
            patch.setitem(kind.__init__.__kwdefaults__, "max_epochs", 2)
        patch.setitem(NgramFilter.__init__.__kwdefaults__, "n_buckets", 1024)
        patch.setattr(probe_models, "FastTextSettings", partial(FastTextSettings, n_buckets=1024))
        patch.setattr(released, "N_DRAWS", 1)
        patch.setattr(starts, "N_DRAWS", 1)
        patch.setattr(starts, "N_DRAWN", 10)
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory, contexts_path: Path, lms: Path) -> Setting:
    """The tiny experiment, whole, on contexts and models that stand already; not to be changed."""
    folder = tmp_path_factory.mktemp("experiment")
    setting = Setting(TINY, folder / "out", folder / "data")
    shutil.copytree(contexts_path.parent, setting.out)
    handler = signal.getsignal(signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])
        patch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
        running.run_steps(setting, command.ORDER, command.MEASUREMENTS, here)
    signal.signal(signal.SIGTERM, handler)
    return setting


def test_every_step_leaves_its_part_of_the_results(tiny: Setting) -> None:
    results = read_results(tiny.out / RESULTS)
    assert set(results["curves"]) == {"big", *(run for run, _, _ in tiny.runs())}
    assert set(results["audits"]["big"]) == {
        *("ngrams", "mlp", "bow"),
        *("fresh jump", "fresh jump, at random", "fresh jump, beyond random"),
    }
    assert {one["contexts"] for one in results["growth"]} == set(TINY.growth)
    assert {one["contexts"] for one in results["wide"]} == set(TINY.wide)
    assert [(row["contexts"], row["draws"]) for row in results["nested"]["rows"]] == [(n, [0, 1]) for n in TINY.nested]
    assert set(results["joined"]) == {"ngrams", "mlp", "bow", "fresh jump"}
    assert set(results["joined"]["mlp"]) == {"random", "after the MLP", "at the end"}
    assert set(results["repeats"]) == {"big", "parts", "luck"}
    seeds = results["repeats"]["big"]["mlp"]["seeds"]["random"]
    assert len(seeds) == 1 + TINY.n_repeats
    assert seeds[0] == results["audits"]["big"]["mlp"]["random"]["value"], "the seed of the other audits comes first"
    assert {one["set"] for one in results["fourway"]} == {"ours", "ours, unfiltered"}
    assert set(results["parts"]) == {"0", "1"}
    assert results["environment"][0]["commit"]


def test_jumps_are_told_by_the_number_of_contexts_of_runs_that_differ_in_nothing_else(tiny: Setting) -> None:
    results = read_results(tiny.out / RESULTS)
    jumps = results["by number"]["jumps"]
    assert {one["run"] for one in jumps} == {"big", "runs/main-0", "runs/main-1", "runs/again-0"}
    assert [one["contexts"] for one in jumps] == sorted(one["contexts"] for one in jumps)
    for one in jumps:
        assert one["value"] == pytest.approx(one["after"] - one["before"], abs=2e-5)
    (big,) = (one["value"] for one in jumps if one["run"] == "big")
    assert big == results["ensemble"]["big"]["jumps"][0]["value"]
    assert "The same by number of contexts" in document(results)


def test_nested_runs_differ_in_the_number_of_contexts_and_are_told_with_pairs_of_draws(tiny: Setting) -> None:
    few, many = TINY.nested
    found = nested_found(tiny)
    pool = CandidatePool.open(tiny.out / "deep")
    assert pool.manifest["n_candidates"] == TINY.n_few
    assert [row["rows"] for row in found["rows"]] == pytest.approx([few, len(pool)], abs=3)
    curves = {}
    for draw in range(TINY.nested_draws):
        smaller, larger = (open_run(tiny.out / f"nested/{n}-{draw}") for n in TINY.nested)
        assert {context.id for context in smaller.pool.contexts} < {context.id for context in larger.pool.contexts}
        manifests = [read_manifest(run.path, "run") for run in (smaller, larger)]
        assert [manifest["options"]["seed"] for manifest in manifests] == [draw, draw]
        for n, run in ((few, smaller), (many, larger)):
            curves[n, draw] = np.array([run.accuracy(record.iteration) for record in run.log])
    jumps = {cell: curve[3:].mean() - curve[1:3].mean() for cell, curve in curves.items()}
    for row in found["rows"]:
        assert row["jump"]["each"] == pytest.approx([jumps[row["contexts"], 0], jumps[row["contexts"], 1]], abs=1e-5)
        assert set(row["lead"]) == {"random", "after the MLP", "added by the MLP"}
        before, after, added = (np.array(row["lead"][when]["each"]) for when in row["lead"])
        assert added == pytest.approx(after - before)
    more = [jumps[many, draw] - jumps[few, draw] for draw in (0, 1)]
    assert found["more"][0]["each"] == pytest.approx(more, abs=1e-5)
    assert found["in twice as many"]["each"] == pytest.approx(more, abs=2e-5), "twice the contexts are one doubling"
    audits = read_audits(tiny.out / f"nested/{few}-0").findings
    fresh = {(one.filter, one.iteration): one.accuracy for one in audits}
    assert found["rows"][0]["lead"]["random"]["each"][0] == pytest.approx(fresh["bow", 0] - fresh["mlp", 0])
    assert "### The jump by the number of contexts alone" in document(read_results(tiny.out / RESULTS))


def test_figures_of_a_nested_run_are_kept_where_it_is_not_audited_again(tiny: Setting, tmp_path: Path) -> None:
    name, kept = f"nested/{TINY.nested[0]}-0", replace(tiny, out=tmp_path)
    shutil.copytree(tiny.out / RECORD / "nested", tmp_path / RECORD / "nested")
    before = figures_of(kept, name, None)
    assert figures_of(kept, name, before | {"fresh": {}}) == before == figures_of(kept, name, None)
    unfinished = figures_of(kept, name, before | {"accuracy": before["accuracy"][:-1], "fresh": {}})
    assert not unfinished["fresh"]
    assert not is_whole(kept, name)


def test_nested_runs_are_told_from_their_records_and_as_far_as_they_go(tiny: Setting, tmp_path: Path) -> None:
    collect(tiny)
    shutil.copytree(tiny.out / RECORD / "nested", tmp_path / RECORD / "nested")
    kept = replace(tiny, out=tmp_path)
    assert nested_found(kept) == nested_found(tiny)
    assert all(is_whole(kept, "nested/{}-{}".format(*cell)) for cell in nested_cells(kept))
    (tmp_path / RECORD / f"nested/{TINY.nested[-1]}-1.json").unlink()
    found = nested_found(kept)
    assert [row["draws"] for row in found["rows"]] == [[0, 1], [0]]
    assert found["more"][0]["n"] == found["in twice as many"]["n"] == 1
    shutil.rmtree(tmp_path / RECORD)
    assert nested_found(kept) == {}


def test_candidates_made_in_another_way_differ_in_that_alone(tiny: Setting) -> None:
    pools = {way: CandidatePool.open(tiny.out / f"starts/{way}") for way in WAYS}
    ours, texts = pools["ours"], {way: list(map(pool.texts_of_row, range(len(pool)))) for way, pool in pools.items()}
    assert {tuple(context.id for context in pool.contexts) for pool in pools.values()} == {
        tuple(context.id for context in ours.contexts)
    }
    assert {len(mine) for of_way in texts.values() for mine in of_way} == {1 + starts.N_DRAWN}
    capital = list(map(ends_in_capital, ours.contexts))
    assert capital == [context.start.split()[-1][0].isupper() for context in ours.contexts]
    assert any(capital)
    assert texts["unknown twice"] == texts["unknown"]
    for plain, changed in (("ours", "unknown"), ("short", "both")):
        same = [a == b for a, b in zip(texts[plain], texts[changed], strict=True)]
        assert all(same[row] or capital[row] for row in range(len(ours)))
        assert not all(same)
    shortest = {way: int(pool.gather("lengths", np.arange(len(pool))).min()) for way, pool in pools.items()}
    assert shortest["ours"] == shortest["unknown"] == shortest["read"] == 5
    assert max(shortest["short"], shortest["both"], shortest["all"]) < 5
    golds = {way: pool.gather("features", np.arange(len(pool)))[:, 0] for way, pool in pools.items()}
    for way, one in WAYS.items():
        assert np.allclose(golds[way], golds["ours"], atol=1e-4) != (one.has_read or one.is_scored_so)
    other = np.abs(golds["unknown twice"] - golds["ours"]).max(axis=1) > 1e-4
    assert other.tolist() == capital


def test_where_the_curve_begins_is_told_by_pairs_of_contexts(tiny: Setting, tmp_path: Path) -> None:
    results = read_results(tiny.out / RESULTS)
    assert [one["set"] for one in results["starts"]] == list(WAYS)
    hits = {
        way: np.array([read_json(tiny.out / f"starts/{way}-{draw}.json")["hits"] for draw in range(starts.N_DRAWS)])
        for way in WAYS
    }
    for one in results["starts"]:
        assert one["value"] == pytest.approx(hits[one["set"]].mean(), abs=1e-5)
        if one["set"] != "ours":
            assert one["more"]["mean"] == pytest.approx((hits[one["set"]] - hits["ours"]).mean(), abs=1e-5)
        parts = [one[part] for part in (CAPITAL, OTHERS)]
        assert one["n"] * one["value"] == pytest.approx(sum(part["n"] * part["value"] for part in parts), abs=1e-2)
    assert "### Where the curve begins" in document(results)
    shutil.copytree(tiny.out / RECORD, tmp_path / RECORD)
    kept = replace(tiny, out=tmp_path)
    assert starts_found(kept) == []
    assert figures_of(kept, "starts", starts_found(kept)) == starts_found(tiny)
    assert start_cells(replace(tiny, parts=(0,))) == []


@pytest.mark.parametrize("seed", range(3))
def test_growth_of_the_jump_is_the_slope_of_the_obvious_fit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([1000, 2000, 5000, 10_000], 9)
    jumps = [{"contexts": int(n), "value": float(rng.normal(0.01 * np.log2(n), 0.01))} for n in counts]
    made = growth_of_jump(jumps)
    assert made is not None
    expected = scipy.stats.linregress(np.log2(counts), [one["value"] for one in jumps])
    assert made["value"] == pytest.approx(expected.slope)
    assert made["high"] - made["value"] == pytest.approx(scipy.stats.t.ppf(0.975, 7) * expected.stderr)
    assert growth_of_jump(jumps[:3]) is None
    assert growth_of_jump([one | {"contexts": 1000} for one in jumps]) is None


def test_draws_that_agree_by_luck_are_told_with_the_errors_of_their_curves() -> None:
    draws = [[(0.01, 0.012), (0.03, 0.01)], [(0.02, 0.01), (0.04, 0.01)]]
    found = nested._in_twice_as_many([1000, 2000], draws)
    assert found["each"] == pytest.approx([0.02, 0.02])
    assert found["error"] == pytest.approx(math.sqrt(0.012**2 + 3 * 0.01**2) / 2)
    assert told_wider(found) == "+2.0 (+2.0 to +2.0; by the errors over iterations -0.1 to +4.1)"
    assert told_wider(found | {"low": -0.05, "high": 0.09}) == "+2.0 (-5.0 to +9.0)"
    assert nested._more({0: (0.01, 0.1)}, {0: (0.04, 0.1), 1: (0.1, 0.1)})["each"] == pytest.approx([0.03])
    assert nested._more({}, {1: (0.1, 0.1)}) == {}


def test_the_curves_of_all_arms_are_told(tiny: Setting) -> None:
    collected = read_results(tiny.out / RESULTS)
    told = document(collected).partition("The curves of the other arms")[2].partition("###")[0]
    assert f"`{DEALT}-fixed`: " in told
    found = collected["ensemble"][f"{DEALT}-fixed"]
    assert found["runs"] == [f"runs/{DEALT}-fixed-0", f"runs/{DEALT}-fixed-1"]
    alone = Arm("mlp-only", "the MLP alone", "mlp:{all}", 2)
    size = replace(TINY, arms=(*TINY.arms, alone))
    run = kept_run(tiny, "runs/main-0")
    assert run is not None
    mine = [replace(run, name=f"runs/mlp-only-{part}", filters=["mlp"] * len(run.filters)) for part in (0, 1)]
    made = results._alone(replace(tiny, size=size), mine)
    assert made["mlp-only"]["ends"]["each"] == pytest.approx([run.accuracy[-size.window :].mean()] * 2)


def test_a_size_with_a_seed_of_its_own_has_other_contexts_and_runs() -> None:
    of = {seed: commands(Setting(replace(PAPER, seed=seed), Path("out"), Path("data"))) for seed in (0, 10)}
    for step in ("generate", "filter"):
        mine, other = ([one.words for one in of[seed][step] if "parts/3" in one.words] for seed in (0, 10))
        seeds = [[int(words[words.index("--seed") + 1]) for words in one] for one in (mine, other)]
        assert seeds[0]
        assert [seed + 10 for seed in seeds[0]] == seeds[1]
    assert of[0]["train-lm"] == of[10]["train-lm"]


def test_steps_of_released_questions_wait_for_the_part_that_is_released() -> None:
    whole = Setting(PAPER, Path("out"), Path("data"))
    assert not command.out_of_reach(whole)
    assert {"release", "reading", "fourway"} <= command.out_of_reach(replace(whole, parts=(1, 3)))
    assert not {"release", "reading", "fourway"} & command.out_of_reach(replace(whole, parts=(0, 2)))


def test_runs_that_differ_in_the_seed_alone_say_what_chance_does(tiny: Setting) -> None:
    results = read_results(tiny.out / RESULTS)
    seeds = results["seeds"]["main-0"]
    runs = [kept_run(tiny, name) for name in ("runs/main-0", "runs/again-0")]
    assert seeds["runs"] == [run.name for run in runs if run] == ["runs/main-0", "runs/again-0"]
    last = TINY.n_mlp + TINY.n_ensemble
    first, then = ([float(run.hits["ngrams", at].mean()) for run in runs if run] for at in (0, last))
    told = seeds["filters"]["ngrams"]
    assert told["at the end"]["each"] == pytest.approx(then, abs=1e-5)
    assert told["change"]["each"] == pytest.approx(np.subtract(then, first), abs=1e-5)
    assert seeds["fresh jump"]["random"]["each"] == pytest.approx(
        [float(run.hits["bow", 0].mean() - run.hits["mlp", 0].mean()) for run in runs if run], abs=1e-5
    )
    assert "again" not in results["compared"]
    assert "### The same contexts, 2 seeds" in document(results)


def test_typed_again_nothing_is_made_again(tiny: Setting) -> None:
    results = (tiny.out / RESULTS).read_bytes()
    before = {path: path.stat().st_mtime_ns for path in tiny.out.rglob("*") if path.suffix in (".npy", ".safetensors")}

    def nothing(words: Sequence[str], folder: Path, output: TextIO) -> int:
        assert words[0] in ("train-lm", "generate", "filter", "audit"), "a verb that would refuse"
        return 0

    cell = next((tiny.out / "growth").iterdir())
    content = cell.read_bytes()
    cell.unlink()  # as after a kill: made again, to the same bytes
    steps = [step for step in command.ORDER if step != "results"]
    running.run_steps(tiny, steps, command.MEASUREMENTS, nothing)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert cell.read_bytes() == content
    assert command.collect(tiny)["growth"] == json.loads(results)["growth"]


def test_a_step_that_is_begun_is_said_and_in_no_table(
    tiny: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of `joined` what was there was a table."""
    monkeypatch.setattr(command, "draw", lambda results, folder: None)  # it takes seconds
    setting = replace(tiny, out=tmp_path)
    shutil.copytree(tiny.out / RECORD, tmp_path / RECORD)
    for name in ("joined", "repeats"):
        shutil.copytree(tiny.out / name, tmp_path / name)
        (tmp_path / RECORD / f"{name}.json").unlink()
    (tmp_path / "joined" / "0-mlp.json").unlink()
    for seed in range(1, 1 + TINY.n_repeats):
        (tmp_path / "repeats" / f"big-0-mlp-{seed}.json").unlink()
    command.write_results(setting)
    results = read_results(tmp_path / RESULTS)
    assert "joined" not in results
    assert "mlp" not in results["repeats"]["big"]
    assert "The parts' questions, read all together" not in (tmp_path / "results.md").read_text(encoding="utf-8")
    n = len(list((tiny.out / "repeats").iterdir()))
    said = (
        f"8 of 9 fits of the parts' questions, read all together, {n - TINY.n_repeats} of {n} audits with other seeds"
    )
    assert f"results: measured in part: {said}\n" in capsys.readouterr().err


def test_a_part_is_of_one_fold_and_all_together_are_the_pool(tiny: Setting) -> None:
    pool = CandidatePool.open(tiny.out / "pool")
    parts = [CandidatePool.open(tiny.out / f"parts/{i}") for i in range(TINY.n_parts)]
    assert [{context.fold for context in part.contexts} for part in parts] == [{0}, {1}]
    assert [context.id for part in parts for context in part.contexts] == [context.id for context in pool.contexts]
    for name in pool.tables:
        if name != "groups":
            whole = pool.gather(name, np.arange(len(pool)))
            at = 0
            for part in parts:
                own = part.gather(name, np.arange(len(part)))
                mine = whole[at : at + len(part)]
                assert np.array_equal(mine[..., : own.shape[-1]] if own.ndim > 1 else mine, own)
                at += len(part)
    columns = np.tile(np.arange(pool.n_candidates), (len(pool), 1))
    texts = [text for part in parts for text in part.texts(columns[: len(part)])]
    assert pool.texts(columns) == texts


def test_all_parts_together_are_kept_as_what_tells_them_from_the_parts(tiny: Setting, tmp_path: Path) -> None:
    told = json.loads((tiny.out / RECORD / "parts/pool.json").read_text(encoding="utf-8"))
    assert told["of"] == ["0", "1"]
    pool, run = CandidatePool.open(tiny.out / "pool"), kept_run(tiny, "big")
    assert run is not None
    assert run.ids == tuple(context.id for context in pool.contexts)
    assert len(set(zip(run.groups.tolist(), pool.groups.tolist(), strict=True))) == len(set(run.groups.tolist()))
    shutil.copytree(tiny.out / RECORD, tmp_path / RECORD)
    path = tmp_path / RECORD / "parts/pool.json"
    first, second = np.unique(pool.groups)[:2].tolist()
    path.write_text(as_lines(told | {"same": [[first, second]]}), encoding="utf-8")
    joined = kept_run(replace(tiny, out=tmp_path), "big")
    assert joined is not None
    assert len(set(joined.groups.tolist())) == len(set(run.groups.tolist())) - 1
    (tmp_path / RECORD / "parts/1.json").unlink()
    with pytest.raises(InputError, match=r"1\.json: not there, and a kept run needs it"):
        kept_run(replace(tiny, out=tmp_path), "big")


def test_a_pool_of_fewer_candidates_has_the_first_ones(tiny: Setting) -> None:
    part, few = CandidatePool.open(tiny.out / "parts/0"), make_variant(tiny, "few", tiny.out / "parts/0")
    assert few.n_candidates == TINY.n_few
    assert few.counts.max() == TINY.n_few
    rows, columns = np.arange(len(part)), np.tile(np.arange(TINY.n_few), (len(part), 1))
    assert part.texts(columns) == few.texts(columns)
    assert np.array_equal(part.gather("features", rows, columns), few.gather("features", rows))


def test_models_that_have_read_gold_like_it_better(tiny: Setting) -> None:
    honest, read = (make_variant(tiny, name, tiny.out / "parts/1") for name in ("few", "few-read"))
    assert read.manifest["features_by"]["has_read_gold"]
    rows, gold = np.arange(len(honest)), np.zeros((len(honest), 1), int)
    nats = [pool.feature("ending_given_context", rows, gold).mean() for pool in (honest, read)]
    assert nats[1] < nats[0]


def test_half_of_a_part_is_of_whole_groups(tiny: Setting) -> None:
    part, half = CandidatePool.open(tiny.out / "parts/0"), make_variant(tiny, "half", tiny.out / "parts/0")
    kept = {context.id for context in half.contexts}
    is_kept = np.array([context.id in kept for context in part.contexts])
    assert 0 < is_kept.sum() < len(part)
    assert all(len(set(is_kept[part.groups == group])) == 1 for group in np.unique(part.groups))


@given(
    sizes=st.lists(st.integers(1, 5), min_size=4, max_size=60).filter(lambda sizes: sum(sizes) >= 20),
    n=st.integers(4, 10),
)
def test_what_is_dealt_has_no_group_twice(sizes: list[int], n: int) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    parts = [dealt_rows(groups, n, part) for part in range(len(groups) // n)]
    of_parts = [set(groups[rows].tolist()) for rows in parts]
    assert sum(map(len, of_parts)) == len(set[int]().union(*of_parts))
    assert all(len(rows) == sum(sizes[one] for one in of) for rows, of in zip(parts, of_parts, strict=True))
    assert all(n - max(sizes) < len(rows) < n + max(sizes) for rows in parts)


def test_arms_on_dealt_contexts_are_held_against_their_own_exact_loop(tiny: Setting) -> None:
    compared = read_results(tiny.out / RESULTS)["compared"]
    assert DEALT not in compared
    found = compared[f"{DEALT}-fixed"]
    assert (found["against"], found["parts"]) == (DEALT, 2)
    assert found["ngrams"]["difference"]["over parts"]["n"] == 2
    assert found["mlp at random, mine"] == found["mlp at random, its"], "both begin with the same assignment"
    names = [CandidatePool.open(tiny.out / f"parts/{part}-{DEALT}").contexts for part in range(2)]
    assert not {one.id for one in names[0]} & {one.id for one in names[1]}


def test_a_command_that_fails_ends_all_with_one_line(tiny: Setting, tmp_path: Path) -> None:
    setting = Setting(TINY, tmp_path / "out", tmp_path / "nothing")
    with pytest.raises(InputError, match=r"logs.contexts\.log.*exit code 2.*type the same again"):
        running.run_steps(setting, ["contexts"], {})
    assert "$ swag-af contexts" in (setting.out / "logs/contexts.log").read_text(encoding="utf-8")


def test_processes_that_share_the_work_keep_logs_of_their_own(tmp_path: Path) -> None:
    whole = Setting(TINY, tmp_path / "out", tmp_path / "data")
    shares = [(replace(whole, parts=(part,)), None) for part in (0, 1)]
    shares += [(replace(whole, parts=(0,), arms=("main",)), None), (whole, (0, 2)), (whole, (1, 2)), (whole, None)]
    for setting, part in shares:
        running.run_steps(setting, ["filter"], {}, lambda words, folder, output: 0, part)
    logs = sorted(path.name for path in (whole.out / "logs").iterdir())
    assert len(logs) == len(shares)
    assert "filter.main.parts-0.log" in logs


@pytest.mark.parametrize("size", SIZES.values(), ids=lambda size: size.name)
def test_every_command_is_one_that_the_verbs_understand(size: Size) -> None:
    setting = Setting(size, Path("out"), Path("data"), encoder=Path("model"))
    kinds = {words[:2]: words for made in commands(setting).values() for words in (one.words for one in made)}
    for words in kinds.values():
        parse(words)


def test_a_dry_run_prints_every_command_and_runs_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = Setting(PAPER, tmp_path / "out", Path("data"))
    running.print_plan(setting, command.ORDER, {})
    printed = capsys.readouterr().out
    assert all(f"swag-af {' '.join(one.words)}" in printed for made in commands(setting).values() for one in made)
    assert not setting.out.exists()


def test_the_paper_size_is_the_one_that_was_asked_for() -> None:
    made = commands(Setting(PAPER, Path("out"), Path("/data")))
    assert " ".join(made["train-lm"][0].words) == (
        "train-lm contexts.jsonl --out lms --pretrain /data/novels --hidden 256 --epochs 4 --decay-every 2 "
        "--pretrain-epochs 1 --precision bf16-mixed --folds 0"
    )
    assert (PAPER.n_mlp, PAPER.n_ensemble, PAPER.n_candidates) == (100, 40, 1024)
    seeds = [arm for arm in PAPER.arms if arm.pool == DOUBLE and arm.parts == 5]
    for size in SIZES.values():
        pools = {arm.name: arm.pool for arm in (*size.arms, *size.together)}
        assert all(arm.pool == pools.get(arm.against, "") for arm in (*size.arms, *size.together) if arm.seed)
    assert [rows_of(PAPER, arm) for arm in (BIG, BIGGER, *seeds)] == [5000, 10_000, 2000]


def sheet_of(setting: Setting, path: Path, **changes: str) -> Path:
    """A sheet of a reader who always finds gold, or what filtering took out, and calls all other endings unlikely."""
    lines = [",".join(HEADER)]
    for one in json.loads((setting.out / "reading/key.json").read_text(encoding="utf-8")):
        likely = [letter for letter, kind in zip(LETTERS, one["kinds"], strict=True) if kind in ("gold", OUT)]
        row = {"number": str(one["number"]), "best": likely[0], "second": "AB"[likely[0] == "A"]}
        row |= {letter: "l" if letter in likely else "u" for letter in LETTERS} | changes
        lines.append(",".join(row[name] for name in HEADER))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


@given(st.integers(1, 40))
def test_shares_hold_every_run_once_and_take_about_as_long(n: int) -> None:
    setting = Setting(PAPER, Path("out"), Path("data"), Path("encoder"))
    found = shares(setting, n)
    by_name = commands(setting)
    nested = [f"nested/{n}-{draw}" for n, draw in nested_cells(setting)]
    assert sorted(run for share in found for run in share) == sorted(
        {"big", "bigger", *nested, *(run for run, _, _ in setting.runs())}
    )
    for steps in SHARED:
        of_runs = [one for step in steps for one in by_name[step]]
        takes = [sum(one.seconds for one in of_runs if one.run in share) for share in found]
        longest = max(sum(one.seconds for one in of_runs if one.run == run) for run in found[takes.index(max(takes))])
        assert max(takes) - min(takes) <= longest


def test_processes_that_share_the_runs_type_every_command_once(tmp_path: Path) -> None:
    setting = Setting(PAPER, tmp_path, Path("data"), Path("encoder"))
    typed: list[tuple[str, ...]] = []

    def start(words: Sequence[str], folder: Path, output: TextIO) -> int:
        typed.append(tuple(words))
        return 0

    for i in range(3):
        running.run_steps(setting, PER_RUN, {}, start, part=(i, 3))
    assert sorted(typed) == sorted(one.words for step in PER_RUN for one in commands(setting)[step])
    with pytest.raises(InputError, match="--shard: generate, growth cannot be shared"):
        running.run_steps(setting, ("generate", "filter", "growth"), {}, start, part=(0, 3))


def test_a_sheet_is_read_back_against_the_key(tiny: Setting, tmp_path: Path) -> None:
    found = read_sheet(tiny, sheet_of(tiny, tmp_path / "sheet.csv"), "a test")
    (tiny.out / "reading/found.json").unlink()
    assert found["n"] == TINY.n_read
    assert found["gold best"]["value"] == found["gold likely"]["value"] == 1
    assert found["generated gibberish"]["value"] == found["gold second"]["value"] == 0


def test_shares_of_generated_endings_are_of_five_a_context(tiny: Setting, tmp_path: Path) -> None:
    """As in Table 2 of Zellers et al. 2018, where 53.5 and five times 9.3 are 100."""
    found = read_sheet(tiny, sheet_of(tiny, tmp_path / "sheet.csv", A="g"), "a test")
    (tiny.out / "reading/found.json").unlink()
    assert found["generated second"]["value"] == pytest.approx(1 / 5)
    for rating in ("best", "second", "in the best two", "likely", "unlikely", "gibberish"):
        gold, generated = (found[f"{kind} {rating}"]["value"] for kind in ("gold", "generated"))
        made = {"best": 1, "second": 1, "in the best two": 2, "gibberish": 1}.get(rating)
        assert made is None or gold + 5 * generated == pytest.approx(made)
    for kind in ("gold", "generated"):
        assert sum(found[f"{kind} {rating}"]["value"] for rating in ("likely", "unlikely", "gibberish")) == (
            pytest.approx(1)
        )


@given(seed=st.integers(0, 50), n=st.integers(1, 30), n_groups=st.integers(1, 20))
def test_a_reader_sees_one_context_of_a_group(seed: int, n: int, n_groups: int) -> None:
    groups = np.random.default_rng(seed).integers(0, n_groups, 40)
    rows = one_a_group(groups, n, rng=np.random.default_rng(seed))
    assert len(rows) == len({groups[row] for row in rows}) == min(n, len(np.unique(groups)))


def unfinished(setting: Setting, folder: Path, run: str = "runs/main-0") -> Setting:
    """The tiny experiment with a run whose last iteration is not done, nothing released, no sheet, no record."""
    shutil.copytree(setting.out, folder / "out")
    manifest = folder / f"out/{run}/manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(told | {"n_planned": told["n_planned"] + 1}), encoding="utf-8")
    for name in ("released", "reading", "fourway"):
        shutil.rmtree(folder / "out" / name)
    for kept in (run, "fourway"):
        (folder / f"out/record/{kept}.json").unlink()
    return Setting(TINY, folder / "out", setting.data)


def test_nothing_is_released_of_a_run_that_goes_on(tiny: Setting, tmp_path: Path) -> None:
    setting = unfinished(tiny, tmp_path)
    for step in (lambda: running.run_steps(setting, ["release"], {}, here), lambda: write_questions(setting)):
        with pytest.raises(InputError, match="main-0: not all of its iterations are there"):
            step()
    with pytest.raises(InputError, match="released: not there"):
        measure_released(setting)


def test_of_a_run_that_goes_on_what_it_has_is_kept(tiny: Setting, tmp_path: Path) -> None:
    """Its curve and audits may be all that a machine leaves; its jump is told apart, nothing is called finished."""
    setting = unfinished(tiny, tmp_path)
    made = collect(setting)
    assert (
        made["curves"]["runs/main-0"]["accuracy"]
        == read_results(tiny.out / RESULTS)["curves"]["runs/main-0"]["accuracy"]
    )
    assert made["ensemble"]["main"]["runs"] == ["runs/main-1"]
    assert made["audited"] == 1
    assert made["begun"]["runs/main-0"].keys() == {"iterations", "planned", "window", "jump", "beside"}
    assert made["begun"]["runs/main-0"]["beside"] == {}, "it is what others are held against"
    assert "in no table: `main-0` has 2 of its 3 iterations with the ensemble; in the first 2 a jump of " in document(
        made
    )
    assert "**Measured in part**: 5 of 6 iterations of `runs/main-0`, 7 of 8 runs" in document(made)
    run = kept_run(setting, "runs/main-0")
    assert run is not None
    assert not run.is_finished
    assert run.hits
    assert not is_whole(setting, "runs/main-0")
    assert collect(Setting(TINY, alone(setting, tmp_path / "alone"), tiny.data)) == made


def test_a_run_that_goes_on_is_told_beside_what_it_is_held_against_in_as_many_iterations(
    tiny: Setting, tmp_path: Path
) -> None:
    made = collect(unfinished(tiny, tmp_path, "runs/again-0"))
    main = kept_run(tiny, "runs/main-0")
    assert main is not None
    jump = {name: round(value, 5) for name, value in jump_of(main.accuracy, TINY.n_mlp, TINY.window).items()}
    assert made["begun"]["runs/again-0"]["beside"] == {"runs/main-0": jump}
    assert f"points, where in as many there are `main-0` {100 * jump['value']:+.1f} ±" in document(made)


@pytest.mark.parametrize("n_left", [2, 3, 4])
def test_a_run_is_kept_from_the_end_of_its_first_phase_on(tiny: Setting, tmp_path: Path, n_left: int) -> None:
    setting = unfinished(tiny, tmp_path)
    log = setting.out / "runs/main-0/log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:n_left]), encoding="utf-8")
    keep_runs(setting)
    run = kept_run(setting, "runs/main-0")
    assert (run is not None) == (n_left >= TINY.n_mlp)
    assert run is None or len(run.accuracy) == n_left
    log.write_text("".join(lines), encoding="utf-8")
    keep_runs(setting)
    log.write_text("".join(lines[:4]), encoding="utf-8")  # made anew, and not as far
    keep_runs(setting)
    run = kept_run(setting, "runs/main-0")
    assert run is not None
    assert len(run.accuracy) == len(lines)


def test_a_run_of_another_size_is_no_jump(tiny: Setting) -> None:
    other = Setting(replace(TINY, n_mlp=2, n_ensemble=3), tiny.out, tiny.data)
    with pytest.raises(InputError, match=r"big: 3 of its 5 iterations are of its first filter, not 2 of 5"):
        collect(other)


def test_of_two_encoders_the_one_that_was_named_is_kept(tiny: Setting, tmp_path: Path) -> None:
    shutil.copytree(tiny.out / "big", tmp_path / "big")
    shutil.copytree(tiny.out / "pool", tmp_path / "pool")
    audits = tmp_path / "big/audits.jsonl"
    lines = [json.loads(line) for line in audits.read_text(encoding="utf-8").splitlines()]
    one = next(line for line in lines if line["filter"] == "ngrams" and line["iteration"] == 0)
    named = {
        name: one | {"filter": f"encoder[{name},inputs=second]", "hits": [of] * len(one["hits"])}
        for name, of in (("a", 0), ("b", 1))
    }
    write(audits, named.values())
    for name, of in (("a", 0), ("b", 1)):
        setting = Setting(TINY, tmp_path, tmp_path, encoder=Path(name))
        keep_runs(setting)
        run = kept_run(setting, "big")
        assert run is not None
        assert run.hits["encoder", 0].tolist() == [of] * len(run.ids)


def alone(setting: Setting, folder: Path) -> Path:
    """A folder with the record of an experiment, and nothing that it was made of."""
    shutil.copytree(setting.out / RECORD, folder / RECORD)
    for path in setting.out.glob("contexts*"):
        shutil.copy(path, folder)
    return folder


def test_the_record_alone_gives_the_same_results(tiny: Setting, tmp_path: Path) -> None:
    assert collect(Setting(TINY, alone(tiny, tmp_path), tiny.data)) == read_results(tiny.out / RESULTS)


def test_a_run_whose_record_is_whole_is_not_made_again(tiny: Setting, tmp_path: Path) -> None:
    shutil.copytree(tiny.out / RECORD, tmp_path / RECORD)
    setting = Setting(TINY, tmp_path, tiny.data)
    kept = tmp_path / RECORD / "runs/main-1.json"
    told = json.loads(kept.read_text(encoding="utf-8"))
    kept.write_text(json.dumps(told | {"audits": told["audits"][1:]}), encoding="utf-8")  # an audit is missing
    typed: list[str] = []

    def start(words: Sequence[str], folder: Path, output: TextIO) -> int:
        typed.append(words[words.index("--out") + 1] if words[0] == "filter" else words[1])
        return 0

    steps = ("filter", "release", "reading", "audit", "fourway")
    (tmp_path / RECORD / "reading.json").write_text('{"size": "tiny"}', encoding="utf-8")
    running.run_steps(setting, steps, command.MEASUREMENTS, start)
    assert set(typed) == {"runs/main-1"}
    for name in ("fourway", "reading"):
        (tmp_path / RECORD / f"{name}.json").unlink()
    for step in ("release", "reading"):
        with pytest.raises(InputError, match=r"only its record is there. Delete .*main-0.json"):
            running.run_steps(setting, (step,), command.MEASUREMENTS, start)


def test_audits_that_were_kept_stay_with_the_same_run_only(tiny: Setting, tmp_path: Path) -> None:
    shutil.copytree(tiny.out, tmp_path / "out")
    setting = Setting(TINY, tmp_path / "out", tiny.data)
    (setting.out / "runs/main-0/audits.jsonl").unlink()
    keep_runs(setting)
    assert is_whole(setting, "runs/main-0")
    kept = setting.out / RECORD / "runs/main-0.json"
    told = json.loads(kept.read_text(encoding="utf-8"))
    told["iterations"][0][1] += 0.1  # of other code, say
    kept.write_text(json.dumps(told), encoding="utf-8")
    keep_runs(setting)
    run = kept_run(setting, "runs/main-0")
    assert run is not None
    assert not run.hits


def test_figures_that_were_kept_stay_until_there_are_better_ones(tmp_path: Path) -> None:
    """As on another machine, where part of a measurement is made again."""
    setting = Setting(TINY, tmp_path, tmp_path)

    def figure(contexts: int, value: float, *draws: float) -> dict[str, object]:
        return {"filter": "ngrams", "contexts": contexts, "value": value, "n": contexts, "draws": list(draws)}

    figures_of(setting, "growth", [figure(24, 0.1, 0.1, 0.1), figure(48, 0.2, 0.2)])
    assert figures_of(setting, "growth", []) == [figure(24, 0.1, 0.1, 0.1), figure(48, 0.2, 0.2)]
    more = [figure(24, 0.3, 0.3), figure(48, 0.4, 0.4), figure(96, 0.5, 0.5)]
    assert figures_of(setting, "growth", more) == [figure(24, 0.1, 0.1, 0.1), *more[1:]]
    sets = [{"set": "ours", "input": "options", "model": "tfidf", "n": n, "draws": 1} for n in (5, 9)]
    assert largest(sets) == sets[1:]


def test_a_record_of_another_size_is_refused(tiny: Setting) -> None:
    with pytest.raises(InputError, match=r"of size tiny, not other\. Give its --size"):
        kept_run(Setting(replace(TINY, name="other"), tiny.out, tiny.data), "big")


@given(st.lists(st.sampled_from([0.0, 1.0, 0.5, 1 / 3, 0.25, 0.75]), min_size=1, max_size=60))
def test_hits_are_the_same_when_unpacked(hits: list[float]) -> None:
    assert unpacked(json.loads(json.dumps(packed(np.array(hits))))) == pytest.approx(hits, abs=1e-6)


def test_chosen_parts_and_arms_alone_are_worked_on() -> None:
    chosen = Setting(PAPER, Path("out"), Path("data"), parts=(1,), arms=("main", "fixed"))
    made = commands(chosen)
    assert [one.run for one in made["filter"]] == ["runs/main-1", "runs/fixed-1"]
    assert {one.run for one in made["audit"]} == {"runs/main-1", "runs/fixed-1"}
    assert [one.words[one.words.index("--folds") + 1] for one in made["generate"]] == ["1"]
    assert growth_cells(chosen) == []
    assert {n for n, _, _ in growth_cells(replace(chosen, parts=(0,)))} == {250, 500, 1000}
    assert {n for n, _, _ in growth_cells(chosen.whole())} == set(PAPER.growth)
    assert wide_cells(chosen) == wide_cells(replace(chosen, parts=(3,))) == []
    wide = wide_cells(replace(chosen, parts=(3, 4)))
    assert [n for n, _, filter in wide if filter == "mlp"] == [10_000, 5000, 2500, 1250] * 3
    made_wide = commands(replace(chosen, parts=(3, 4)))
    assert {"wide", "deep"} <= {word for one in made_wide["generate"] for word in one.words}
    assert [one.run for one in made_wide["nested"]][:5] == [
        *("nested/10000-0", "nested/5000-0", "nested/2500-0", "nested/1250-0"),
        "nested/10000-1",
    ]
    assert made["nested"] == []
    whole = commands(chosen.whole())
    assert next(one.run for one in whole["filter"]) == "big"
    assert all(one in whole["audit"] for one in made["audit"])


def test_probes_of_another_number_of_questions_are_not_mixed_in(tmp_path: Path) -> None:
    setting = Setting(TINY, tmp_path, tmp_path)
    (tmp_path / "fourway").mkdir()
    for n, draw, hit in ((90, 0, 0), (100, 0, 1), (100, 1, 1)):
        made = {"ids": [str(i) for i in range(n)], "groups": list(range(n)), "hits": [hit] * n}
        path = tmp_path / f"fourway/ours-{n}-second-sentence-tfidf-{draw}.json"
        path.write_text(json.dumps(made), encoding="utf-8")
    (one,) = released_found(setting)
    assert (one["input"], one["n"], one["draws"], one["value"]) == ("second-sentence", 100, 2, 1)


def test_a_prediction_has_come_where_the_whole_interval_says_so() -> None:
    near = Prediction("level", "near 10", 0.05, 0.15)
    said = [came(near, {"low": low, "high": high}) for low, high in ((0.06, 0.14), (0.16, 0.2), (0.1, 0.2), (0, 0.04))]
    assert said == ["yes", "no", "inconclusive", "no"]
    assert came(near, {"value": 0.1, "n": 1}) == ""
    assert [one.figure for one in PREDICTED][-2:] == ["jump", "slope"]


def with_changes(results: dict[str, Any], **changes: tuple[float, float, float]) -> str:
    """The document of a record with other figures in the big run's audits."""
    told = json.loads(json.dumps(results))
    big = told["audits"]["big"]
    for name, (mean, low, high) in changes.items():
        of = big if name.startswith("fresh") else big[TINY.joint]
        of[name.replace("_", " ").replace("mlp", "MLP")] = {"mean": mean, "low": low, "high": high, "n": 48}
    return document(told, "figures")


@pytest.mark.parametrize(
    ("figure", "jump", "change"),
    [
        ((0.2, 0.1, 0.3), "it finds more", "a rise"),
        ((-0.2, -0.3, -0.1), "it finds less", "a fall"),
        ((0.0, -0.1, 0.1), "no significant difference", "no significant change"),
    ],
)
def test_every_outcome_has_a_sentence_of_its_own(
    tiny: Setting, figure: tuple[float, float, float], jump: str, change: str
) -> None:
    results = read_results(tiny.out / RESULTS)
    made = with_changes(results, **{"fresh_jump": figure, "change_by_the_mlp": figure, "own_change": figure})
    lines = [line for line in made.splitlines() if line.startswith("* In the run `big`")]
    assert len(lines) == 3
    assert f"paired by context: {jump}." in lines[0]
    assert all(f"points: {change}. The paper" in line for line in lines[1:])


def test_a_change_that_its_parts_do_not_bear_cannot_be_told(tiny: Setting) -> None:
    results = read_results(tiny.out / RESULTS)
    for each, told in (((0.19, 0.2, 0.21), "a rise"), ((-0.1, 0.2, 0.5), "no significant change")):
        found = over_parts(list(each))
        results["audits"]["parts"][TINY.joint]["own change"] = {
            "mean": 0.2,
            "low": 0.1,
            "high": 0.3,
            "over parts": found,
        }
        made = document(results, "figures")
        (line,) = (
            one for one in made.splitlines() if "the ensemble's own iterations" in one and "parts together" in one
        )
        both = f"+20.0 (+10.0 to +30.0; over the parts {100 * found['low']:+.1f} to {100 * found['high']:+.1f})"
        assert f"by {both} points: {told}." in line
        assert f"{', '.join(f'{100 * one:+.1f}' for one in each)} |" in made


def test_weaker_models_write_a_pool_of_their_own(tiny: Setting, tmp_path: Path) -> None:
    arms = tuple(replace(arm, parts=1) for arm in SIZES["small"].arms if arm.name in ("main", "weak"))
    whole = Setting(replace(TINY, arms=arms), tmp_path / "out", tiny.data)
    shutil.copytree(tiny.out, whole.out)
    steps = ("train-lm", "generate", "variants", "filter", "audit")
    running.run_steps(replace(whole, parts=(0,), arms=("weak",)), steps, command.MEASUREMENTS, here)
    weak, part = (CandidatePool.open(whole.out / f"parts/{name}") for name in ("0-weak", "0"))
    assert {one.fold for one in weak.contexts} == {0}
    assert len({one.id for one in weak.contexts} & {one.id for one in part.contexts}) > len(part) / 2
    results = collect(whole)
    perplexities = [results["parts"][name]["models"]["held_out_perplexity"]["forward"] for name in ("0", "0-weak")]
    assert perplexities[0] < perplexities[1]
    assert set(results["audits"]["weak"][TINY.joint]) > {"random", "after the MLP", "at the end", "own change"}
    assert results["compared"]["weak"]["mlp"]["difference"]["n"] > len(part) / 2
    made = document(results)
    assert "### The arm `weak`: what fresh filters find" in made
    assert "| 0-weak |" in made
    assert "the arm `weak` | so? |" in made


def test_larger_parts_hold_the_smaller_ones_and_several_are_filtered_in_one_run(tiny: Setting, tmp_path: Path) -> None:
    arms = (*TINY.arms, *(replace(arm, parts=2) for arm in ARMS if arm.pool == DOUBLE))
    bigger = replace(BIGGER, first_part=0)
    whole = Setting(replace(TINY, arms=arms, together=(BIG, bigger)), tmp_path / "out", tiny.data)
    shutil.copytree(tiny.out, whole.out)
    steps = ("generate", "pool", "filter", "audit")
    running.run_steps(replace(whole, arms=("double", "bigger")), steps, command.MEASUREMENTS, here)
    for number in range(2):
        double, part = (CandidatePool.open(whole.out / f"parts/{number}{more}") for more in ("-double", ""))
        row_of = {one.id: row for row, one in enumerate(double.contexts)}
        rows = [(row_of[one.id], row) for row, one in enumerate(part.contexts) if one.id in row_of]
        assert len(rows) == double.manifest["copied_rows"] > 0.8 * len(part)
        mine, its = np.array(rows).T
        assert np.array_equal(double.gather("features", mine), part.gather("features", its))
        assert len(double) > 1.8 * len(part)
        many = CandidatePool.open(whole.out / f"parts/{number}-many")
        assert len({one.id for one in many.contexts} & {one.id for one in double.contexts}) > 0.8 * len(double)
        assert len(many) > 1.3 * len(double)
    pool = CandidatePool.open(whole.out / "pool-many")
    assert [one.fold for one in pool.contexts] == sorted(one.fold for one in pool.contexts)
    assert pool.missing_features().any(), "nobody has asked for them"
    results = collect(whole)
    assert [results["compared"][name]["against"] for name in ("double", "bigger")] == ["main", "double"]
    n_shared = sum(len(CandidatePool.open(whole.out / f"parts/{number}-double")) for number in range(2))
    assert 0.8 * n_shared < results["compared"]["bigger"]["mlp"]["difference"]["n"] <= n_shared
    assert json.loads((whole.out / RECORD / "parts/pool-many.json").read_text())["of"] == ["0-many", "1-many"]
    made = document(results)
    assert "### The arm `double`: what fresh filters find" in made
    assert "### The run `bigger`, five times the contexts of two parts in one run: what fresh filters find" in made
    assert "| 0-double |" in made
    assert "drawn is of the other contexts: `0-double`, `1-double`." in made
    del results["parts"]["0-double"]["candidates"]["copied_rows"]
    assert "contexts: `1-double`. Drawn whole, by the models of the part: `0-double`." in document(results)
    results["parts"]["0-double"]["models"] = {}
    assert "`1-double`. Drawn whole, by models trained again in the same way: `0-double`." in document(results)
    assert "the run `bigger` | so? | the run `big` | so? | all 2 parts, mean | so? | the arm `double` | so? |" in made


def test_a_part_that_is_missing_does_not_rename_the_others(tiny: Setting, tmp_path: Path) -> None:
    shutil.copytree(tiny.out, tmp_path / "out")
    shutil.rmtree(tmp_path / "out/runs/main-0")
    (tmp_path / "out/record/runs/main-0.json").unlink()
    made = collect(Setting(TINY, tmp_path / "out", tiny.data))
    assert made["ensemble"]["main"]["runs"] == ["runs/main-1"]
    seeds = document(made).partition("Seed by seed,")[2].partition("###")[0]
    assert "| main-1 |" in seeds
    assert "| main-0 |" not in seeds


def arms_of(results: dict[str, Any], **arms: dict[str, Any]) -> str:
    """The part of the document on arms, of made-up comparisons with the main one."""
    told = results | {"compared": {name: {"against": "main", **arm} for name, arm in arms.items()}}
    told["arms"] = results["arms"] | {name: {"about": "made up"} for name in arms}
    return document(told).partition("### One thing")[2].partition("###")[0]


def between(low: float, high: float) -> dict[str, float]:
    """A difference."""
    return {"mean": (low + high) / 2, "low": low, "high": high}


def of_parts(over_contexts: dict[str, float], *each: float) -> dict[str, Any]:
    """A difference over contexts with that of each part."""
    return over_contexts | {"over parts": over_parts(list(each))}


def test_arms_say_whose_jump_it_is_and_how_much_easier_fixed_splits_may_be(tiny: Setting) -> None:
    level = {"value": 0.2, "low": 0.1, "high": 0.3}
    asked = {"mine": level, "its": level, "difference": between(-0.01, 0.02)}
    made = arms_of(
        read_results(tiny.out / RESULTS),
        single={"parts": 1, "mlp": asked, "fresh jump, its": between(0.1, 0.2)},
        fixed={"parts": 3, "ngrams": asked | {"difference": of_parts(asked["difference"], 0.01, 0.02, 0.03)}},
    )
    assert "none / +15.0 (+10.0 to +20.0) |" in made
    assert "`single`: one run each" in made
    assert "| `fixed` | 3 | +2.0 (-0.5 to +4.5) |" in made
    assert "is at most +2.0 points by the intervals over contexts" in made
    assert "+4.5 by those over the parts" in made
    assert "no more than +2.0 for all of them, and no interval above zero. These do not show it." in made


def test_arms_that_both_have_audits_after_the_mlp_are_compared_there_as_well(tiny: Setting) -> None:
    results = read_results(tiny.out / RESULTS)
    asked = {"difference": of_parts(between(-0.01, 0.02), 0.01, 0.02, 0.03)}
    level = {"value": 0.2, "low": 0.1, "high": 0.3}
    at_the_end = {"parts": 3, "mlp": asked | {"mine": level, "its": level}}
    made = arms_of(results, fixed=at_the_end | {"after the MLP": {"mlp": asked}}, single=at_the_end)
    assert "| `fixed` | 3 | +0.5 (-1.0 to +2.0; over the parts -0.5 to +4.5) |" in made
    assert "iterations are over, before" not in arms_of(results, single=at_the_end)
    kept = [kept_run(tiny, f"runs/dealt-fixed-{part}") for part in range(results["compared"]["dealt-fixed"]["parts"])]
    hits = np.concatenate([run.hits["mlp", TINY.n_mlp] for run in kept if run is not None])
    found = results["compared"]["dealt-fixed"]["after the MLP"]["mlp"]["mine"]["value"]
    assert found == round(float(hits.mean()), 5)


def test_questions_are_as_hard_where_no_interval_leaves_room_for_more() -> None:
    narrow, wide = between(-0.01, 0.02), between(-0.01, 0.021)
    assert is_as_hard([{"difference": narrow | {"over parts": narrow}}, {"difference": between(-0.03, -0.02)}])
    assert not is_as_hard([{"difference": narrow}, {"difference": narrow | {"over parts": wide}}])
    assert not is_as_hard([{"difference": between(0.001, 0.01)}])


def test_an_arm_of_another_seed_begins_elsewhere_and_changes_nothing_else() -> None:
    filters = {one.run: one.words for one in commands(Setting(PAPER, Path("out"), Path("data")))["filter"]}
    double, again = filters["runs/double-2"], filters["runs/again-100-2"]
    changed = [(a, b) for a, b in zip(double, again, strict=True) if a != b]
    assert changed == [("runs/double-2", "runs/again-100-2"), ("2", "102")]
    audits = [one.words for one in commands(Setting(PAPER, Path("out"), Path("data")))["audit"]]
    starts = {words[1] for words in audits if words[2:4] == ("--iteration", "0")}
    assert {"runs/main-1", "runs/again-100-2", "runs/half-0"} <= starts
    assert "runs/fixed-1" not in starts


def test_what_one_run_found_is_held_against_other_seeds_of_it(tiny: Setting) -> None:
    """A fall by a single run that other seeds of it do not have is no fall."""
    results, joint = read_results(tiny.out / RESULTS), TINY.joint
    change, level = between(-0.07, -0.03), {"value": 0.2, "low": 0.1, "high": 0.3}
    row = {"own change": change, "change by the MLP": change, "at the end": level}
    seeds = {"own change": over_parts([-0.05, 0.01, 0.02]), "change by the MLP": over_parts([-0.05, -0.04, -0.045])}
    of_run = {
        **results["seeds"].get("double-2", {}),
        **{"runs": ["a", "b", "c"], "contexts": 48, "filters": {joint: seeds}, "fresh jump": {}},
        **{"jump": over_parts([0.1, 0.2, 0.3]), "slope": over_parts([0.1, 0.2, 0.3])},
    }
    told = document(results | {"audits": results["audits"] | {"double": {joint: row}}, "seeds": {"double-2": of_run}})
    (own,) = [line for line in told.splitlines() if line.startswith("* In the arm `double`, the ensemble's own")]
    assert "by -5.0 (-7.0 to -3.0) points, and over 3 seeds of it -0.7 (-10.1 to +8.7): no significant change." in own
    (first,) = [line for line in told.splitlines() if line.startswith("* In the arm `double`, the MLP's iterations")]
    assert first.partition(": ")[2].startswith("a fall.")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"second": "G"}, "two letters from A to F"),
        ({"best": "A", "second": "A"}, "two letters from A to F"),
        ({"C": "maybe"}, "ending C is rated 'maybe'"),
        ({"number": "0"}, "'0' is no number of a context"),
        ({"number": "1"}, "are missing"),
    ],
)
def test_a_sheet_that_cannot_be_counted_is_refused(
    tiny: Setting, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_sheet(tiny, sheet_of(tiny, tmp_path / "sheet.csv", **changes), "a test")


def test_the_questions_do_not_tell_which_ending_is_gold(tiny: Setting) -> None:
    lines = (tiny.out / "reading/reading.jsonl").read_text(encoding="utf-8").splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"number", "context", "endings"}] * TINY.n_read
    key = json.loads((tiny.out / "reading/key.json").read_text(encoding="utf-8"))
    golds = {context.id: context for context in open_run(tiny.out / RELEASED).pool.contexts}
    for line, one in zip(lines, key, strict=True):
        told = json.loads(line)["endings"]
        assert len(set(told)) == len(LETTERS)
        assert sorted(one["kinds"]) == ["generated"] * 5 + ["gold"]
        assert told[one["kinds"].index("gold")].lower().split()[0] in golds[one["id"]].gold.lower()


@given(seed=st.integers(0, 50), n_changed=st.integers(0, 9))
def test_mixed_endings_are_those_that_filtering_changed(seed: int, n_changed: int) -> None:
    start, end = np.arange(20).reshape(2, 10), np.arange(20).reshape(2, 10)
    end[1, 1 : 1 + n_changed] += 100
    kinds = of_both(1, start, end, np.random.default_rng(seed))
    assert of_both(0, start, end, np.random.default_rng(seed)) == {}
    if n_changed < 3:
        assert kinds == {}
    else:
        assert sorted(kinds.values()) == [CAME] * 3 + [OUT] * 3
        assert all((column >= 100) == (kind == CAME) for column, kind in kinds.items())
        assert not {10, *range(11 + n_changed, 20)} & set(kinds)


def test_what_filtering_does_to_how_endings_read_is_paired_by_context(tmp_path: Path) -> None:
    setting = Setting(TINY, tmp_path, tmp_path)
    (tmp_path / "reading").mkdir()
    kinds = [[OUT, CAME, OUT, CAME, OUT, CAME], [CAME, CAME, CAME, OUT, OUT, OUT]]
    key = [{"number": n, "kinds": of, "columns": []} for n, of in enumerate(kinds, start=1)]
    (tmp_path / "reading/key.json").write_text(json.dumps(key), encoding="utf-8")
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("\n".join([",".join(HEADER), "1,A,B,l,g,l,g,l,u", "2,A,B,g,g,u,g,u,u", ""]), encoding="utf-8")
    found = read_sheet(setting, sheet, "a test")
    assert (found["n"], found["n mixed"]) == (0, 2)
    assert found[f"{OUT} likely"]["value"] == pytest.approx(3 / 6)
    assert found[f"{CAME} gibberish"]["value"] == pytest.approx(4 / 6)
    assert found["change gibberish"]["mean"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found["change in the best two"]["mean"] == pytest.approx((0 + 2 / 3) / 2)


PAGES = ("paper", "small", "many", "large", "full", "one-commit")


@pytest.mark.parametrize("size", PAGES)
def test_the_document_of_a_size_is_what_its_results_give(size: str) -> None:
    """It holds nothing between its marks that benchmarks/experiment.py did not write."""
    folder = DOCS / command.KEPT / size
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert part_of(text) == document(read_results(folder / RESULTS), ".")


@pytest.mark.parametrize(("page", "size"), [("small", "small"), ("one-commit", "full")])
def test_the_figures_of_a_page_are_those_of_the_record_beside_it(page: str, size: str, tmp_path: Path) -> None:
    """All but what the captions and the commands say: hits, names and groups of contexts give every interval again."""
    folder = DOCS / command.KEPT / page
    shutil.copytree(folder / RECORD, tmp_path / RECORD)
    made = shown(collect(Setting(SIZES[size], tmp_path, tmp_path, tmp_path / "encoder")))
    kept = read_results(folder / RESULTS)
    others = {"commands", "contexts"}
    assert json.loads(as_lines(made)) | dict.fromkeys(others) == kept | dict.fromkeys(others)


def test_a_size_of_its_own_is_written_beside_its_introduction(tiny: Setting, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no place for the tables"):
        command.write_docs(tiny, tmp_path)
    assert not any(tmp_path.iterdir())
    page = tmp_path / command.KEPT / tiny.size.name / "README.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"# Words\n\n{BEGIN}\n{END}\n", encoding="utf-8")
    command.write_docs(tiny, tmp_path)
    made = document(shown(read_results(tiny.out / RESULTS)), ".")
    assert page.read_text(encoding="utf-8") == f"# Words\n\n{BEGIN}\n{made}{END}\n"
    for line in (line for line in made.splitlines() if line.startswith("![")):
        assert (page.parent / line.partition("](")[2].rstrip(")")).exists()
    kept = sorted(path.relative_to(tiny.out) for path in (tiny.out / RECORD).rglob("*.json*"))
    assert sorted(path.relative_to(page.parent) for path in (page.parent / RECORD).rglob("*.json*")) == kept
    logs = {path.name: path.read_text(encoding="utf-8") for path in (page.parent / "logs").iterdir()}
    assert {"train-lm.log", "filter.log", "audit.log"} <= set(logs)
    assert "$ swag-af filter pool --out big " in logs["filter.log"]
    assert not any(str(tiny.data) in log or str(tiny.out) in log or "/s, " in log for log in logs.values())


def test_what_is_said_in_words_quotes_the_tables() -> None:
    """Every figure with a decimal in the part written by hand, and every interval, stands in the part that was not."""
    text = (DOCS / command.KEPT / "paper" / "README.md").read_text(encoding="utf-8")
    words = text.split("## What holds so far")[1].split("## The experiment")[0]
    elsewhere = {"31.2", "30.4", "34.6", "34.8"}  # the paper's perplexities; an audit that is not in the record yet
    figures = figures_in(words) - elsewhere
    assert len(figures) > 100
    assert not {one for one in figures if not stands_in(one, part_of(text))}


NUMBER = r"(?<![\d.])[-+]?\d+\.\d+"


def figures_in(words: str) -> set[str]:
    """Every number with a decimal, and every interval."""
    return set(re.findall(rf"{NUMBER} to {NUMBER}|{NUMBER} ± {NUMBER}|{NUMBER}", words))


def stands_in(figure: str, tables: str) -> bool:
    """Whether it is there, and not a part of another."""
    return re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", tables) is not None


def test_what_is_said_in_results_and_on_the_pages_of_sizes_quotes_the_tables() -> None:
    """Those of any size; of a range, which need not be an interval, both ends."""
    pages = {size: (DOCS / command.KEPT / size / "README.md").read_text(encoding="utf-8") for size in PAGES}
    tables = "".join(map(part_of, pages.values()))
    said = [page.replace(part_of(page), "") for size, page in pages.items() if size != "paper"]  # above, by its own
    said.append((DOCS / "RESULTS.md").read_text(encoding="utf-8"))
    assert [len(figures_in(words)) > 10 for words in said] == [True] * 6
    for words in said:
        made_up = [one for one in figures_in(words) if not stands_in(one, tables)]
        assert not [end for one in made_up for end in re.findall(NUMBER, one) if not stands_in(end, tables)]


def test_the_whole_document_is_written_from_results(tiny: Setting) -> None:
    made = document(read_results(tiny.out / RESULTS), "figures")
    assert (tiny.out / "results.md").read_text(encoding="utf-8") == made
    kept = shown(read_results(tiny.out / RESULTS))
    assert document(kept, "figures") == made
    assert json.loads(as_lines(kept)) == kept
    for title in ("Figure 2 or not?", "One thing changed at a time", "by number of contexts", "beside real ones"):
        assert title in made
    assert str(tiny.out) not in made
    assert str(tiny.data) not in made
    marked = with_part(f"before\n{command_marks()}\nafter\n", made)
    assert part_of(marked) == made
    assert with_part(marked, made) == marked


def command_marks() -> str:
    from experimenting.tables import BEGIN, END

    return f"{BEGIN}\n{END}"


def test_jump_and_slope_of_a_line_with_a_step_are_known() -> None:
    accuracy = np.concatenate([np.full(20, 0.2), 0.5 - 0.01 * np.arange(20)])
    assert slope_of(accuracy[20:])["value"] == pytest.approx(-0.1)
    assert slope_of(accuracy[20:])["error"] == pytest.approx(0, abs=1e-9)
    jump = jump_of(accuracy, 20, 10)
    assert jump["value"] == pytest.approx(0.3 - 0.045)
    assert jump["error"] == pytest.approx(np.std(0.01 * np.arange(10), ddof=1) / 10**0.5)


@given(seed=st.integers(0, 50), n=st.integers(3, 40))
def test_the_slope_is_that_of_the_obvious_fit(seed: int, n: int) -> None:
    y = np.random.default_rng(seed).random(n)
    fit, covariance = np.polyfit(np.arange(n), y, 1, cov="unscaled")
    rest = y - np.polyval(fit, np.arange(n))
    error = np.sqrt(covariance[0, 0] * (rest @ rest) / max(1, n - 2))
    assert slope_of(y) == pytest.approx({"value": 10 * fit[0], "error": 10 * error}, abs=1e-9)


@given(seed=st.integers(0, 50), n=st.integers(1, 60), n_groups=st.integers(1, 20))
def test_fewer_rows_are_among_more_and_groups_are_whole(seed: int, n: int, n_groups: int) -> None:
    groups = np.arange(60) % n_groups
    few, many = (nested_rows(groups, m, rng=np.random.default_rng(seed)) for m in (n // 2 + 1, n))
    assert set(few.tolist()) <= set(many.tolist()) or n // 2 + 1 > n
    assert len(many) >= n
    assert len(many) < n + np.bincount(groups).max()
    assert set(np.flatnonzero(np.isin(groups, groups[many])).tolist()) == set(many.tolist())


def test_differences_are_paired_by_the_contexts_that_both_have() -> None:
    one = Hits(("a", "b", "c", "d"), np.arange(4), np.array([1.0, 0.0, 1.0, 0.0]))
    other = Hits(("d", "x", "b"), np.arange(3), np.array([1.0, 1.0, 0.0]))
    found = difference(one, other)
    assert found["n"] == 2
    assert found["mean"] == pytest.approx(0.5)  # d: 0 to 1; b: 0 to 0
    assert joined([one, other]).groups.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_change_over_parts_is_the_mean_of_each_parts_own() -> None:
    before = [Hits((f"{part}a", f"{part}b"), np.arange(2), np.array([1.0, 0.0])) for part in "xyz"]
    after = [
        Hits(one.ids, one.groups, np.array(values))
        for one, values in zip(before, ([1, 1], [1, 0], [0, 0]), strict=True)
    ]
    found = change(before, after)
    assert found["over parts"] == over_parts([0.5, 0.0, -0.5])
    assert found | {"over parts": None} == difference(joined(before), joined(after)) | {"over parts": None}
    assert "over parts" not in change(before[:1], after[:1])
    assert "over parts" not in change(before, after[:1])  # the big run's one pool against several


def test_a_change_over_seeds_is_held_against_what_a_seed_does() -> None:
    ids, groups = tuple(map(str, range(200))), np.arange(200)

    def seeds(*rights: int) -> list[Hits]:
        return [Hits(ids, groups, (np.arange(200) < n).astype(float)) for n in rights]

    before, after = seeds(60, 80), seeds(30, 34)
    luck = luck_of([{"before": before, "after": after}])
    assert luck.freedom == 2
    assert luck.deviation == pytest.approx(np.sqrt((2 * 0.05**2 + 2 * 0.01**2) / 2))
    found = change_of_means(before, after, luck)
    assert found["mean"] == pytest.approx(0.16 - 0.35)
    half = scipy.stats.t.ppf(0.975, 2) * luck.deviation  # times the root of 1/2 + 1/2
    assert found["over seeds"] == pytest.approx({"low": found["mean"] - half, "high": found["mean"] + half})
    paired = difference(mean_of(before), mean_of(after))
    assert {key: found[key] for key in paired} == paired
    assert told_way(found, "more", "less", "inconclusive") == "inconclusive"  # one excludes zero, the other does not
    assert found["high"] < 0 < found["over seeds"]["high"]


def test_the_command_line_says_in_one_line_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["experiment", "--size", "small", "--out", str(tmp_path / "none"), "--write-docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
