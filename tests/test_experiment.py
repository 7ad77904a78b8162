"""Claims about benchmarks/experiment.py: a tiny size of it, from synthetic captions to tables and back."""

import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import numpy as np
import pytest
from experimenting import command, running
from experimenting.curves import jump_of, slope_of
from experimenting.findings import Hits, difference, joined
from experimenting.growth import nested_rows
from experimenting.pools import make_variant
from experimenting.reading import HEADER, LETTERS, read_sheet
from experimenting.results import RESULTS, as_lines, read_results, shown
from experimenting.sizes import PAPER, SIZES, TINY, Size
from experimenting.steps import PER_RUN, Setting, commands, shares
from experimenting.tables import document, part_of, with_part
from hypothesis import given
from hypothesis import strategies as st

from swag_af.cli.main import main as swag_af_main
from swag_af.cli.main import parse
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.run import open_run

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
    assert {one["set"] for one in results["fourway"]} == {"ours"}
    assert len(results["models"]) == TINY.n_folds
    assert results["environment"][0]["commit"]


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


def test_parts_are_whole_groups_and_together_the_pool(tiny: Setting) -> None:
    pool = CandidatePool.open(tiny.out / "pool")
    parts = [CandidatePool.open(tiny.out / f"parts/{i}") for i in range(TINY.n_parts)]
    assert sorted(c.id for part in parts for c in part.contexts) == sorted(c.id for c in pool.contexts)
    group_of = {context.id: group for context, group in zip(pool.contexts, pool.groups.tolist(), strict=True)}
    kept = [{group_of[context.id] for context in part.contexts} for part in parts]
    assert not kept[0] & kept[1]


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


def test_a_command_that_fails_ends_all_with_one_line(tiny: Setting, tmp_path: Path) -> None:
    setting = Setting(TINY, tmp_path / "out", tmp_path / "nothing")
    with pytest.raises(InputError, match=r"logs.contexts\.log.*exit code 2.*type the same again"):
        running.run_steps(setting, ["contexts"], {})
    assert "$ swag-af contexts" in (setting.out / "logs/contexts.log").read_text(encoding="utf-8")


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


def test_the_paper_size_is_the_one_that_was_begun() -> None:
    """Folders and options of models that took days must be taken over, not made anew."""
    made = commands(Setting(PAPER, Path("out"), Path("/data")))
    assert " ".join(made["train-lm"][0].words) == (
        "train-lm contexts.jsonl --out lms --pretrain /data/novels --hidden 256 --epochs 6 --decay-every 3 "
        "--precision bf16-mixed"
    )
    assert (PAPER.n_mlp, PAPER.n_ensemble, PAPER.n_contexts, PAPER.n_candidates) == (100, 40, 10_000, 1024)


def sheet_of(setting: Setting, path: Path, **changes: str) -> Path:
    """A sheet of a reader who always finds gold, and calls all other endings unlikely."""
    lines = [",".join(HEADER)]
    for one in json.loads((setting.out / "reading/key.json").read_text(encoding="utf-8")):
        row = {"number": str(one["number"]), "best": one["gold"], "second": "AB"[one["gold"] == "A"]}
        row |= {letter: "l" if letter == one["gold"] else "u" for letter in LETTERS} | changes
        lines.append(",".join(row[name] for name in HEADER))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


@given(st.integers(1, 40))
def test_shares_hold_every_run_once_and_take_about_as_long(n: int) -> None:
    setting = Setting(PAPER, Path("out"), Path("data"), Path("encoder"))
    found = shares(setting, n)
    by_name = commands(setting)
    of_runs = [one for step in PER_RUN for one in by_name[step]]
    assert sorted(run for share in found for run in share) == sorted({"big", *(run for run, _, _ in setting.runs())})
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
    found = read_sheet(tiny, sheet_of(tiny, tmp_path / "sheet.csv"))
    (tiny.out / "reading/found.json").unlink()
    assert found["n"] == TINY.n_read
    assert found["gold best"]["value"] == found["gold likely"]["value"] == 1
    assert found["generated gibberish"]["value"] == found["gold second"]["value"] == 0


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
        read_sheet(tiny, sheet_of(tiny, tmp_path / "sheet.csv", **changes))


def test_the_questions_do_not_tell_which_ending_is_gold(tiny: Setting) -> None:
    lines = (tiny.out / "reading/reading.jsonl").read_text(encoding="utf-8").splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"number", "context", "endings"}] * TINY.n_read
    key = json.loads((tiny.out / "reading/key.json").read_text(encoding="utf-8"))
    golds = {context.id: context for context in open_run(tiny.out / "big").pool.contexts}
    for line, one in zip(lines, key, strict=True):
        told = json.loads(line)["endings"]
        assert len(set(told)) == len(LETTERS)
        assert told[LETTERS.index(one["gold"])].lower().split()[0] in golds[one["id"]].gold.lower()


def test_the_document_is_what_its_results_give() -> None:
    """docs/RESULTS.md holds nothing between its marks that benchmarks/experiment.py did not write."""
    kept = DOCS / command.KEPT / RESULTS
    text = (DOCS / command.DOCUMENT).read_text(encoding="utf-8")
    assert part_of(text) == document(read_results(kept), command.KEPT)


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


def test_the_command_line_says_in_one_line_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["experiment", "--size", "small", "--out", str(tmp_path / "none"), "--write-docs", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        command.main()
    assert end.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
