"""The grid: the same bytes straight, killed and in processes; row order; no label that leaks; blanks; errors."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import folders
import numpy as np
import pytest
from folders import write
from killed import break_after, killed_then_whole
from mock_server import MockServer
from scipy.stats import kendalltau
from tiny_bert import save_tiny_bert

from swag_af.auditing.ranking import hits
from swag_af.baselines import grid
from swag_af.baselines.cells import missing, read_cells
from swag_af.baselines.fitting import Bench
from swag_af.baselines.grid import Costs, Grid, run_grid
from swag_af.baselines.models import rows_asked
from swag_af.baselines.options import BaselinesOptions
from swag_af.baselines.outcome import Baselines, open_baselines
from swag_af.cli.datasets.baselines import baselines_lines, run_baselines
from swag_af.cli.main import main
from swag_af.data.disk.files import read_json, read_jsonl, write_json, write_text
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import FormatError, InputError
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances

Record = dict[str, Any]
QUICK = "random,length,tfidf,bow,conftest:HashFilter"
WORDS = [f"w{k}" for k in range(30)]


def records(n: int = 80, *, seed: int = 0) -> list[Record]:
    """Questions of SWAG's shape in pairs of a video; gold ends in the last word of the context."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        label, key = int(rng.integers(3)), str(rng.choice(["up", "down", "out"]))
        endings = [f"{' '.join(rng.choice(WORDS, rng.integers(2, 6)))} {k}{i}" for k in range(3)]
        endings[label] += f" {key} indeed"
        rows.append(
            {"id": f"q{i}", "group": f"v{i // 2}", "endings": endings, "label": label}
            | {"startphrase": f"{' '.join(rng.choice(WORDS, 4)).capitalize()} {i} {key}. She"}
        )
    return rows


@pytest.fixture(scope="module", autouse=True)
def _pictures_are_written_down() -> Iterator[None]:
    """What a picture would show, in its files: `reporting/test_table3.py` draws it."""

    def written(found: Baselines, folder: Path) -> None:
        for suffix in ("png", "svg"):
            write_text(folder / f"baselines.{suffix}", repr(found.figures))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.cli.datasets.baselines.plot_baselines", written)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "data.jsonl", records())


def options(data: Path, out: Path, **settings: Any) -> BaselinesOptions:
    return BaselinesOptions((data,), out, **({"models": QUICK, "seeds": 2, "epochs": 2} | settings))


files_of = partial(folders.files_of, but=("timing.json",))


@pytest.fixture(scope="module")
def straight(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("straight") / "out"
    run_baselines(options(data, out))
    return out


def test_all_is_written_and_read_back(straight: Path) -> None:
    found = open_baselines(straight)
    assert {path.name for path in straight.iterdir()} == {
        *("baselines.json", "manifest.json", "questions.jsonl", "cells", "timing.json"),
        *("table.txt", "table.csv", "table.md", "table.tex", "baselines.png", "baselines.svg"),
    }
    assert found.inputs == ("ending", "second-sentence", "full")
    assert found.models == ("random", "shortest", "longest", "tfidf", "bow", "conftest:HashFilter")
    assert found.scored == ("validation", "test")
    assert {one.n_seeds for one in found.figures if one.model in ("random", "tfidf", "shortest")} == {1}
    assert {one.n_seeds for one in found.figures if one.model == "bow"} == {2}
    assert set(json.loads((straight / "timing.json").read_text())) == {p.stem for p in (straight / "cells").iterdir()}


def test_guessing_has_exactly_its_expected_accuracy(straight: Path) -> None:
    found = open_baselines(straight)
    assert {one.accuracy for one in found.figures if one.model == "random"} == {round(1 / 3, 6)}


def test_figures_follow_from_cells_and_questions(straight: Path, data: Path) -> None:
    """The slow way: scores of a cell beside the answers of `questions.jsonl`, one question after the other."""
    found, rows = open_baselines(straight), [row for _, row in read_jsonl(straight / "questions.jsonl")]
    labels = {row["id"]: row["label"] for row in records()}
    assert all(labels[row["id"]] == row["answer"] for row in rows)
    for one in found.figures:
        of = [c for c in read_cells(straight) if (c.model, c.input) == (one.model, one.input)]
        slow = []
        for cell in of:
            scores, right = list(cell.scores[one.part]), []
            for row in (row for row in rows if row["part"] == one.part):
                mine, scores = scores[: row["n_answers"]], scores[row["n_answers"] :]
                right.append((mine[row["answer"]] == max(mine)) / mine.count(max(mine)))
            slow.append(np.mean(right))
        assert one.accuracy == pytest.approx(np.mean(slow), abs=1e-6)
        assert one.n_seeds == len(of)
        assert one.deviation == (pytest.approx(np.std(slow, ddof=1), abs=1e-6) if len(of) > 1 else None)
        assert one.low <= one.accuracy <= one.high


def test_scores_are_of_the_options_as_the_data_orders_them(straight: Path) -> None:
    shortest = next(cell for cell in read_cells(straight) if cell.model == "shortest")
    endings = {row["id"]: row["endings"] for row in records()}
    rows = [row for _, row in read_jsonl(straight / "questions.jsonl") if row["part"] == "test"]
    lengths = [-float(len(ending.split())) for row in rows for ending in endings[row["id"]]]
    assert list(shortest.scores["test"]) == lengths


@pytest.mark.parametrize(("where", "n"), [("write_cell", 7), ("_summed", 0)])
def test_a_killed_run_goes_on_to_the_same_bytes(where: str, n: int, data: Path, straight: Path, tmp_path: Path) -> None:
    """At any file, in `test_kills.py`."""
    killed_then_whole(grid, where, n, run_baselines, options(data, tmp_path / "out"), "baselines.json")
    assert files_of(tmp_path / "out") == files_of(straight)


def test_cells_that_stand_are_not_fitted_again(data: Path, straight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files_of(straight)
    monkeypatch.setattr(Bench, "scores", break_after(0, Bench.scores))
    run_baselines(options(data, straight))
    assert files_of(straight) == before


def test_on_a_cluster_there_are_as_many_workers_as_it_has_room_for(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    here = grid.run_blocks

    def noted(job: Any, blocks: Sequence[Any], *, workers: int | None, engine: EngineOptions) -> Any:
        asked.append(workers)
        return here(job, blocks)

    monkeypatch.setattr(grid, "run_blocks", noted)
    run_baselines(options(data, tmp_path / "out", models="random,length", where=EngineOptions("ray")))
    assert asked == [None]


def test_processes_give_the_bytes_of_one(data: Path, straight: Path, tmp_path: Path) -> None:
    run_baselines(options(data, tmp_path / "out", jobs=2, models="random,length,tfidf,bow"))
    cells = {name: content for name, content in files_of(straight).items() if name.startswith("cells")}
    made = {name: content for name, content in files_of(tmp_path / "out").items() if name.startswith("cells")}
    assert len(made) > 10
    assert made == {name: content for name, content in cells.items() if "HashFilter" not in name}


def test_seeds_and_models_that_come_later_give_the_bytes_of_all_at_once(
    data: Path, straight: Path, tmp_path: Path
) -> None:
    run_baselines(options(data, tmp_path / "out", models="bow", seeds=1))
    run_baselines(options(data, tmp_path / "out"))
    assert files_of(tmp_path / "out") == files_of(straight)


def permuted(rows: list[Record], rng: np.random.Generator) -> list[Record]:
    made = []
    for row in (rows[i] for i in rng.permutation(len(rows))):
        order = rng.permutation(3).tolist()
        made.append(row | {"endings": [row["endings"][k] for k in order], "label": order.index(row["label"])})
    return made


def test_the_order_of_rows_and_options_changes_no_figure(straight: Path, tmp_path: Path) -> None:
    shuffled = write(tmp_path / "data.jsonl", permuted(records(), np.random.default_rng(1)))
    run_grid(options(shuffled, tmp_path / "out"))
    one, other = open_baselines(straight), open_baselines(tmp_path / "out")
    assert one.figures == other.figures
    assert one.differences == other.differences


def test_options_are_the_ending_of_the_table(data: Path, tmp_path: Path) -> None:
    grids = [
        Grid.of(options(data, tmp_path / "out", models="length", inputs=name))
        for name in ("options,full", "ending,full")
    ]
    assert grids[0].inputs == grids[1].inputs == ("ending", "full")
    assert [len(grid.cells) for grid in grids] == [2, 2]


def test_no_label_of_a_scored_row_reaches_its_scores(data: Path, straight: Path, tmp_path: Path) -> None:
    scored = {row["id"] for _, row in read_jsonl(straight / "questions.jsonl")}
    rows = [row | ({"label": (row["label"] + 1) % 3} if row["id"] in scored else {}) for row in records()]
    run_grid(options(write(tmp_path / "data.jsonl", rows), tmp_path / "out"))
    ours = {(c.model, c.input, c.seed): c.scores for c in read_cells(straight)}
    theirs = {(c.model, c.input, c.seed): c.scores for c in read_cells(tmp_path / "out")}
    assert ours == theirs


def test_what_only_the_context_tells_is_found_in_the_full_input_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for i in range(240):
        pair, label = rng.permutation(["up", "down"]).tolist(), int(rng.integers(2))
        rows.append({"question": f"{i} goes {pair[label]}", "choices": [f"{pair[0]} {i}", f"{pair[1]} {i}"]})
        rows[-1] |= {"label": label, "id": f"q{i}", "group": f"g{i}"}
    data = write(tmp_path / "data.jsonl", rows)
    found = run_baselines(options(data, tmp_path / "out", models="bow,conftest:ContextFilter", seeds=1, epochs=0))
    assert found.inputs == ("ending", "full")
    figure = found.figure("conftest:ContextFilter", "full", "all", "test")
    blind = found.figure("conftest:ContextFilter", "ending", "all", "test")
    assert figure is not None
    assert blind is not None
    assert figure.accuracy == 1
    assert blind.low < 0.5 < blind.high


def test_groups_are_whole_in_dealt_splits_and_published_ones_are_taken(data: Path, tmp_path: Path) -> None:
    dealt = Grid.of(options(data, tmp_path / "a")).bench
    parts = [dealt.parts.train, *dealt.parts.scored.values()]
    groups = [set(dealt.sorted.groups[rows].tolist()) for rows in parts]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 40
    assert sorted(np.concatenate(parts).tolist()) == list(range(80))
    named = [row | {"split": ("train", "train", "dev", "test")[i // 2 % 4]} for i, row in enumerate(records())]
    published = Grid.of(options(write(tmp_path / "b.jsonl", named), tmp_path / "b")).bench
    for part, split in (("validation", "dev"), ("test", "test")):
        rows = published.parts.scored[part]
        assert {published.sorted.instances.instances[row].split for row in rows} == {split}
    assert len(published.parts.train) == 40


def test_files_are_splits_by_the_word_in_their_names(tmp_path: Path) -> None:
    rows = [row | {"startphrase": f"{i} {row['startphrase']}"} for i, row in enumerate(records())]
    files = {"train_full": rows[:50], "val": rows[50:64], "test_l": rows[64:]}
    paths = tuple(write(tmp_path / f"{name}.jsonl", some) for name, some in files.items())
    asked = BaselinesOptions(paths, tmp_path / "out", models="tfidf")
    parts = Grid.of(asked).bench.parts
    assert parts.said == "published splits: fitted on train_full, scored on val and test_l"
    assert (len(parts.train), parts.warning) == (50, "")
    assert {part: len(of) for part, of in parts.scored.items()} == {"validation": 14, "test": 16}


def test_files_without_a_word_of_splits_are_dealt_with_a_warning_on_a_line_of_its_own(tmp_path: Path) -> None:
    rows = records()
    paths = tuple(write(tmp_path / f"{name}.jsonl", some) for name, some in (("a", rows[:40]), ("b", rows[40:])))
    asked = BaselinesOptions(paths, tmp_path / "out", models="random,tfidf")
    for said in (baselines_lines(replace(asked, dry_run=True)), baselines_lines(asked)):
        assert said[1].startswith("warning: the rows of a, b are mixed and dealt anew")
    assert open_baselines(tmp_path / "out").warning == said[1]
    assert Grid.of(replace(asked, out=tmp_path / "dealt", splits="dealt")).bench.parts.warning == ""
    with pytest.raises(InputError, match="there are a, b"):
        Grid.of(replace(asked, out=tmp_path / "published", splits="published"))


def test_the_order_is_of_rows_each_once(data: Path, tmp_path: Path) -> None:
    """The rows that no column has three of are put in order by the fullest column that each has."""
    found = run_baselines(options(data, tmp_path / "out", models="random,length,lstm", seeds=1, epochs=1))
    orders = {one.input: one for one in found.orders}
    assert {name: one.n for name, one in orders.items()} == {"ending": 3, "fullest": 3}
    where = {"random": "full", "shortest": "ending", "lstm": "full"}
    chosen = [found.figure(model, input, "all", "test") for model, input in where.items()]
    ours, papers = ([getattr(one, name) for one in chosen] for name in ("accuracy", "paper"))
    tau = kendalltau(ours, papers).statistic
    assert orders["fullest"].tau == pytest.approx(0 if np.isnan(tau) else tau, abs=1e-6)
    assert orders["fullest"].p >= 1 / 3 - 1e-6


def test_a_group_on_both_sides_of_published_splits_is_told(tmp_path: Path) -> None:
    rows = [row | {"split": "test" if i % 2 else "train"} for i, row in enumerate(records())]
    bench = Grid.of(options(write(tmp_path / "data.jsonl", rows), tmp_path / "out")).bench
    assert bench.parts.notes == ("40 of 40 rows of test are of a group that train has too",)
    assert bench.parts.main == "test"
    assert "validation" not in bench.parts.scored


def test_found_and_generated_are_trained_on_apart(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = read_instances([data])
    told = [replace(one, gold_source="generated" if i % 4 > 1 else "found") for i, one in enumerate(given.instances)]
    monkeypatch.setattr(grid, "read_instances", lambda *_: replace(given, instances=tuple(told)))
    found = run_baselines(options(data, tmp_path / "out", models="tfidf"))
    assert found.trained_on == ("found", "found+generated")
    fitted = {one.trained_on: one.n_fitted for one in found.figures}
    assert 0 < fitted["found"] < fitted["found+generated"]
    n = {one.trained_on: one.n for one in found.figures}
    assert n["found"] == n["found+generated"]


def test_generated_gold_is_never_scored_where_splits_are_dealt(tmp_path: Path) -> None:
    told = [row | {"gold-source": "gen" if i % 2 else "gold"} for i, row in enumerate(records())]
    bench = Grid.of(options(write(tmp_path / "data.jsonl", told), tmp_path / "out")).bench
    rows = bench.sorted.instances.instances
    assert {rows[row].gold_source for of in bench.parts.scored.values() for row in of.tolist()} == {"found"}
    assert {rows[row].gold_source for row in bench.parts.train.tolist()} == {"found", "generated"}
    n = len(rows) - len(bench.parts.train) - sum(map(len, bench.parts.scored.values()))
    assert n == sum(map(len, bench.parts.scored.values()))  # every group has as many of both
    (note,) = bench.parts.notes
    assert note.startswith(f"{n} rows of validation and test are left out")


def test_classes_have_a_majority_and_a_hypothesis(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"premise": f"{i} {' '.join(rng.choice(WORDS, 4))}", "hypothesis": f"{' '.join(rng.choice(WORDS, 3))} {k}"}
        | {"label": ("yes", "no", "maybe")[k]}
        for i, k in enumerate(rng.choice(3, 150, p=[0.5, 0.3, 0.2]).tolist())
    ]
    data = write(tmp_path / "data.jsonl", rows)
    with pytest.raises(InputError, match=r"no model could be fitted \(.*length: chooses among options"):
        run_baselines(options(data, tmp_path / "none", models="length"))
    assert not (tmp_path / "none").exists()
    found = run_baselines(options(data, tmp_path / "out", models="random,length,tfidf,lstm", seeds=1, epochs=1))
    assert (found.models, found.inputs) == (("majority", "tfidf", "lstm"), ("hypothesis", "full"))
    guess, made = (found.figure(model, "hypothesis", "all", "test") for model in found.models[:2])
    assert guess is not None
    assert made is not None
    assert guess.accuracy == pytest.approx(guess.chance, abs=1e-6)
    assert made.accuracy > 0.9
    assert any("length: chooses among options" in note for note in found.notes)
    assert (found.papers, found.orders) == ((), ())
    assert {one.paper for one in found.figures} == {None}
    said = (tmp_path / "out" / "table.txt").read_text(encoding="utf-8")
    assert "\n\n\n" not in said
    assert not any("paper" in text.read_text(encoding="utf-8") for text in (tmp_path / "out").glob("table.[tm]*"))


def test_the_lines_say_what_is_told_apart_and_where_the_paper_stands(straight: Path, data: Path) -> None:
    said = "\n".join(baselines_lines(options(data, straight)))
    assert "(train 56, validation 12, test 12)" in said
    assert (
        "paper (Zellers et al. 2018, Table 3, of SWAG, four options, chance 25 %): random = Random, shortest = Length"
        in said
    )
    assert "5 annotators 88.0" in said
    assert "blank: shortest, second-sentence, full: reads the ending alone" in said
    assert (straight / "table.txt").read_text(encoding="utf-8").strip() in said


def test_a_dry_run_lists_cells_and_writes_nothing(data: Path, straight: Path, tmp_path: Path) -> None:
    said = "\n".join(baselines_lines(options(data, tmp_path / "out", dry_run=True)))
    assert not (tmp_path / "out").exists()
    assert "20 of 20 cells to make" in said
    assert "a guess" in said
    again = "\n".join(baselines_lines(options(data, straight, seeds=3, dry_run=True)))
    assert "6 of 26 cells to make" in again
    assert "a guess" not in again


def test_an_encoder_is_told_by_its_files_and_not_by_its_path(data: Path, tmp_path: Path) -> None:
    model = Path(save_tiny_bert(tmp_path / "tiny"))
    cells = []
    for name in ("a", "b"):
        here = tmp_path / name / "here"
        here.mkdir(parents=True)
        model = model.rename(here / "tiny")
        run_grid(options(data, tmp_path / f"out-{name}", models=f"encoder[{model}]", inputs="ending,full"))
        cells.append({path.name: path.read_bytes() for path in (tmp_path / f"out-{name}" / "cells").iterdir()})
    assert cells[0] == cells[1]
    assert len(cells[0]) == 2 * 2, "two inputs, two seeds"
    assert not any(str(tmp_path).encode() in content for content in cells[0].values())
    (found,) = {one.model for one in open_baselines(tmp_path / "out-a").figures}
    assert found == "encoder[here/tiny]"


def test_a_file_that_decides_nothing_leaves_a_model_the_same(data: Path, tmp_path: Path) -> None:
    """A README in its folder had the table refused."""
    model = save_tiny_bert(tmp_path / "tiny")
    asked = options(data, tmp_path / "out", models=f"encoder[{model}]", inputs="ending", seeds=1)
    run_grid(asked)
    before = files_of(tmp_path / "out")
    (Path(model) / "README.md").write_text("mine")
    run_grid(asked)
    assert files_of(tmp_path / "out") == before
    (Path(model) / "vocab.txt").write_text((Path(model) / "vocab.txt").read_text() + "\nmore")
    with pytest.raises(InputError, match="have different files"):
        run_grid(asked)


def test_two_models_of_one_name_are_refused_and_settings_are_in_a_name(data: Path, tmp_path: Path) -> None:
    """Their figures were averaged as if they were seeds of one."""
    models = [tmp_path / name / "here" / "tiny" for name in ("a", "b")]
    for seed, model in enumerate(models):
        model.parent.mkdir(parents=True)
        save_tiny_bert(model, seed)
    both = f"encoder[{models[0]}],encoder[{models[1]}]"
    with pytest.raises(InputError, match=r"are both encoder\[here/tiny\] in the table"):
        run_baselines(options(data, tmp_path / "out", models=both, inputs="ending"))
    named = f"encoder[{models[0]}],encoder[{models[0]},inputs=ending]"
    rows, _ = rows_asked(options(data, tmp_path / "out", models=named), read_instances([data]))
    assert [row.label for row in rows] == ["encoder[here/tiny]", "encoder[here/tiny,inputs=ending]"]


def test_what_draws_nothing_has_no_deviation_over_seeds(data: Path, tmp_path: Path) -> None:
    for seed in (3, 0):
        found = run_baselines(options(data, tmp_path / "out", models="random", seed=seed, seeds=1))
    assert {one.deviation for one in found.figures} == {None}


def test_json_replaces_no_file_that_is_read_or_made(data: Path, tmp_path: Path) -> None:
    for path in (data, tmp_path / "out" / "manifest.json"):
        with pytest.raises(InputError, match=r"--json .*: this is read or written as something else"):
            run_baselines(options(data, tmp_path / "out", json=path, models="random"))
        (tmp_path / "out").mkdir(exist_ok=True)


def test_progress_reaches_its_end_whatever_cells_cost(data: Path, tmp_path: Path) -> None:
    made = Grid.of(options(data, tmp_path / "out"))
    todo = missing(tmp_path / "out", made.cells)
    costs, rng = Costs(made, todo), np.random.default_rng(0)
    steps = [costs.done(cell, float(rng.exponential(5))) for cell in todo]
    assert sum(steps) == 1000
    assert min(steps) >= 0


def test_ties_are_shared_like_everywhere(straight: Path, data: Path) -> None:
    made = Grid.of(options(data, straight))
    rows = made.bench.sorted.rows[made.bench.parts.scored["test"]]
    cell = next(one for one in read_cells(straight) if one.model == "shortest")
    mean = hits(np.array(cell.scores["test"]), made.instances.take(rows)).mean()
    found = open_baselines(straight).figure("shortest", "ending", "all", "test")
    assert found is not None
    assert found.accuracy == pytest.approx(mean, abs=1e-6)


# ------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"models": "nonsense"}, "no filter 'nonsense'. There are random, length, .*conceptnet, tfidf, fasttext, mlp"),
        ({"models": "tfidv"}, "no filter 'tfidv'. Did you mean tfidf"),
        ({"models": "nonsense,encoder[/no/model]"}, "no filter 'nonsense'.*no such folder"),
        ({"models": "conceptnet"}, "name its file, --conceptnet"),
        ({"conceptnet": Path("/nope.csv"), "models": "random"}, "none of the models reads it"),
        ({"conceptnet": Path("/nope.csv")}, "--conceptnet /nope.csv: not there"),
        ({"inputs": "premise"}, "--inputs premise: this data has ending, second-sentence"),
        ({"splits": "published"}, "data: the rows name no split"),
        ({"trained_on": "found"}, "--trained-on found, and no column"),
        ({"val_share": 0.5, "test_share": 0.5}, "above 0 and below 1"),
        ({"seeds": 0, "jobs": 0}, "--seeds 0: at least 1; --jobs 0"),
        ({"vectors": Path("glove.txt"), "models": "tfidf"}, "none of the models reads word vectors"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_work(
    settings: dict[str, Any], message: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        run_baselines(options(data, tmp_path / "out", **settings))
    assert not (tmp_path / "out").exists()


def test_what_reads_the_ending_alone_has_no_other_cell(data: Path, tmp_path: Path) -> None:
    """Its figure stood in columns of which it reads nothing."""
    model = save_tiny_bert(tmp_path / "tiny")
    names = f"chars,chars[longest=2],encoder[{model},inputs=ending],transformer[{model},inputs=ending],encoder[{model}]"
    made = Grid.of(options(data, tmp_path / "out", models=names, seeds=1))
    inputs = {row.name: [cell.input for cell in made.cells if cell.row is row] for row in made.asked[0]}
    assert list(inputs.values()) == [["ending"]] * 4 + [["ending", "second-sentence", "full"]]
    assert [one.reason for one in made.blanks] == ["reads the ending alone"] * 8


def test_answers_of_a_judge_that_cannot_be_read_are_told_and_kept(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They count as ties, and a table of ties looked like a measurement."""
    with MockServer() as server:
        asked = options(data, tmp_path / "out", models=f"judge[{server.url},by=yes]", inputs="full")
        told = "answers could not be read and count as ties"
        assert any(told in line and line.endswith("it read full, trained on all") for line in baselines_lines(asked))
        monkeypatch.setattr(Bench, "scores", break_after(0, Bench.scores))
        notes = run_baselines(asked).notes
    assert sum(told in line for line in notes) == 1, "once for both seeds, by cells that stand"


def test_word_vectors_in_brackets_go_before_those_of_the_option(data: Path, tmp_path: Path) -> None:
    """One file was read, and the hash of the other stood in the folder."""
    ours, others = tmp_path / "numberbatch.txt", tmp_path / "glove.txt"
    ours.write_text("w1 0.5 0.25\nw2 0.125 1\n")
    others.write_text("w1 1 2 3\nw2 3 2 1\n")
    names = f"dualbow[{ours}],dualbow[vectors={ours}],dualbow"
    asked = options(data, tmp_path / "out", models=names, vectors=others)
    rows, _ = rows_asked(asked, read_instances([data]))
    assert [row.make().vectors for row in rows] == [str(ours), str(ours), str(others)]
    assert [row.vectors_read for row in rows] == ["numberbatch.txt", "numberbatch.txt", "glove.txt"]
    assert rows[0].label.endswith("/numberbatch.txt]")
    assert rows[2].label == "dualbow + glove"
    with pytest.raises(InputError, match="none of the models reads word vectors, or their brackets name others"):
        run_grid(options(data, tmp_path / "out", models=f"dualbow[{ours}]", vectors=others))


def test_the_papers_row_is_that_of_the_word_vectors_that_were_read(data: Path, tmp_path: Path) -> None:
    ours = tmp_path / "numberbatch.txt"
    ours.write_text("w1 0.5 0.25\nw2 0.125 1\n")
    asked = options(data, tmp_path / "out", models=f"dualbow[{ours}]", inputs="full", seeds=1, epochs=1)
    assert [row.name for row in run_baselines(asked).papers] == ["DualBoW+Numberbatch"]


def test_a_folder_of_other_data_settings_or_somebody_else_is_refused(
    data: Path, straight: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "other.jsonl", records(seed=1))
    with pytest.raises(InputError, match=r"begun with other data: it had data\.jsonl; it had no other\.jsonl\. Repeat"):
        run_baselines(options(other, straight))
    with pytest.raises(InputError, match=r"begun with other splits: --split-seed 0, now 5\."):
        run_baselines(options(data, straight, split_seed=5))
    same_name = write(tmp_path / "data.jsonl", records(seed=1))
    with pytest.raises(InputError, match=r"other data: data\.jsonl has changed since\."):
        run_baselines(options(same_name, straight))
    with pytest.raises(InputError, match=r"other data: --mask nothing, now w1\."):
        run_baselines(options(data, straight, reading=ReadingOptions(mask="w1")))
    turned = write(tmp_path / "data.jsonl", permuted(records(), np.random.default_rng(1)))
    with pytest.raises(InputError, match=r"its options in another order: data\.jsonl has changed since\."):
        run_baselines(options(turned, straight))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not made by baselines"):
        run_baselines(options(data, tmp_path / "theirs"))


def test_one_row_with_two_settings_is_refused_before_any_fit(data: Path, tmp_path: Path) -> None:
    run_grid(options(data, tmp_path / "out", models="bow", seeds=1))
    before = files_of(tmp_path / "out")
    with pytest.raises(InputError, match=r"cells of bow have different max_epochs \(--epochs; 2 there, now 3\)"):
        run_grid(options(data, tmp_path / "out", models="tfidf,bow", seeds=1, epochs=3))
    assert files_of(tmp_path / "out") == before
    run_grid(options(data, tmp_path / "out", models="bow", seeds=1))
    assert files_of(tmp_path / "out") == before


def test_cells_of_two_settings_that_are_there_are_refused_whatever_is_asked(data: Path, tmp_path: Path) -> None:
    for name, epochs in (("a", 2), ("b", 3)):
        run_grid(options(data, tmp_path / name, models="bow", seeds=1, inputs="ending", epochs=epochs))
    (other,) = (tmp_path / "b" / "cells").iterdir()
    other.rename(tmp_path / "a" / "cells" / other.name)
    with pytest.raises(InputError, match=r"different max_epochs .* or remove cells/bow--\*--[0-9a-f]{8}\.json"):
        run_grid(options(data, tmp_path / "a", models="tfidf"))
    assert len([*(tmp_path / "a" / "cells").iterdir()]) == 2


def test_a_damaged_cell_is_named(data: Path, tmp_path: Path) -> None:
    run_grid(options(data, tmp_path / "out", models="length"))
    path = next((tmp_path / "out" / "cells").glob("shortest*"))
    write_json(path, read_json(path) | {"scores": {"validation": [1.0], "test": [1.0]}})
    with pytest.raises(FormatError, match="cells of shortest: 1 scores of validation"):
        run_grid(options(data, tmp_path / "out", models="length"))
    write_json(path, read_json(path) | {"seed": "x"})
    with pytest.raises(FormatError, match="seed"):
        run_grid(options(data, tmp_path / "out", models="length"))


def test_a_filter_that_needs_what_texts_lack_is_blank_with_its_reason(data: Path, tmp_path: Path) -> None:
    found = run_baselines(options(data, tmp_path / "out", models="random,mlp"))
    assert {(one.model, one.input) for one in found.blanks} == {("mlp", input) for input in found.inputs}
    assert "features of a language model" in found.blanks[0].reason
    with pytest.raises(InputError, match="no model could be fitted"):
        run_baselines(options(data, tmp_path / "other", models="mlp"))
    assert not (tmp_path / "other").exists()


def test_the_verb_prints_and_writes_json(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, copy = tmp_path / "out", tmp_path / "copy.json"
    main(["baselines", str(data), "--out", str(out), "--models", "random,length", "--json", str(copy)])
    printed = capsys.readouterr().out
    assert "Written to" in printed
    assert copy.read_bytes() == (out / "baselines.json").read_bytes()
    assert isinstance(open_baselines(out), Baselines)
