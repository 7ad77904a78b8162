"""Claims about the sweep: points of every lambda, people asked blind and counted where they belong."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from swag_af.cli.main import main
from swag_af.cli.runs.matching import sweep_lines
from swag_af.data.disk.files import read_json, read_jsonl, write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.runs.run import open_run
from swag_af.judging.verdicts import Item, Verdict, make_items, write_verdicts
from swag_af.matching.options import MatchingOptions, MatchOptions, SweepOptions
from swag_af.matching.points import Accuracy, Point
from swag_af.matching.sweep import dry_run, recommended, sweep
from tests.matching.test_work import made

WEIGHTS = (0.01, 1.0)
module = import_module("swag_af.matching.sweep")


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> MatchOptions:
    path = tmp_path_factory.mktemp("sweep")
    items = made(400)
    rows = [
        {"id": i.context.id, "query": i.query, "response": i.response, "group": i.context.video} for i in items.rows
    ]
    write_jsonl(path / "rows.jsonl", rows)
    matching = MatchingOptions(relevance="tfidf", folds=3, bucket_size=200)
    return MatchOptions((path / "rows.jsonl",), path / "out", matching, sweeping=SweepOptions(sweep=WEIGHTS, shown=40))


@pytest.fixture(scope="module")
def points(options: MatchOptions) -> list[Point]:
    return sweep(options)


def test_each_lambda_has_a_point_and_a_larger_one_is_easier(points: list[Point]) -> None:
    assert [point.weight for point in points] == list(WEIGHTS)
    assert points[0].relevance.value < points[1].relevance.value
    assert points[0].similarity > points[1].similarity
    assert all(point.people is None for point in points)
    assert all(point.options_alone.low < 0.25 < point.options_alone.high + 0.1 for point in points)


def test_people_see_as_many_of_each_and_no_query_twice(options: MatchOptions, points: list[Point]) -> None:
    run = open_run(options.out / "people" / "run")
    weights = read_json(options.out / "people.json")["weights"]
    assert sorted(weights) == sorted(WEIGHTS * 40)
    assert len({context.sent1 for context in run.pool.contexts}) == len(run.pool) == 80
    assert len(set(weights[:20])) == 2


def test_of_rows_that_ask_the_same_people_see_one(options: MatchOptions, tmp_path: Path) -> None:
    """Who had seen what is right at one lambda met it again at another."""
    rows = [record for _, record in read_jsonl(options.data[0])]
    more = [row | {"id": f"{row['id']} {i}", "response": f"{row['response'][:-1]} x{i}."} for row in rows for i in "ab"]
    write_jsonl(tmp_path / "rows.jsonl", more[:120])
    sweeping = replace(options.sweeping, shown=40)
    again = replace(options, data=(tmp_path / "rows.jsonl",), out=tmp_path / "out", sweeping=sweeping)
    sweep(again)
    contexts = open_run(again.out / "people" / "run").pool.contexts
    assert len({context.sent1 for context in contexts}) == len(contexts) == 60
    assert "there are 120 rows of 60 queries" in " ".join(read_json(again.out / "sweep.json")["notes"])


def test_verdicts_on_an_older_draw_are_refused(
    options: MatchOptions, points: list[Point], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their accuracies would be of other groups."""
    copytree(options.out, tmp_path / "out")
    run = open_run(tmp_path / "out" / "people" / "run")
    verdicts = [Verdict(i, "ann", ("likely",) * 4, best=0, second=2) for i in make_items(run.assignment(), seed=0)]
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, run.pool.identity)
    asked = replace(
        options, out=tmp_path / "out", sweeping=replace(options.sweeping, verdicts=(tmp_path / "verdicts.jsonl",))
    )
    monkeypatch.setattr(module, "_queries", lambda items: np.arange(len(items)) // 2)
    with pytest.raises(InputError, match="an older draw"):
        sweep(asked)


def test_what_people_answered_is_counted_at_its_lambda(options: MatchOptions, points: list[Point]) -> None:
    run = open_run(options.out / "people" / "run")
    weights = read_json(options.out / "people.json")["weights"]
    items = make_items(run.assignment(), seed=0)
    verdicts = [
        Verdict(item, "ann", ("likely",) * 4, best=0 if weights[item.row] == 1.0 or i % 2 else 1, second=2)
        for i, item in enumerate(items)
    ]
    path = options.out.parent / "verdicts.jsonl"
    write_verdicts(path, verdicts, run.pool.identity)
    asked = replace(options, sweeping=replace(options.sweeping, verdicts=(path,)))
    first, second = sweep(asked)
    assert second.people is not None
    assert first.people is not None
    assert (second.people.value, second.people.n) == (1.0, 40)
    assert 0.3 < first.people.value < 0.7
    assert read_json(options.out / "sweep.json")["recommended"] == 1.0
    assert (options.out / "sweep.png").stat().st_size > 10_000


def test_two_people_who_disagree_are_half_right(options: MatchOptions, points: list[Point]) -> None:
    """A draw gave the question to one of them, and the order of two lambdas hung on it."""
    run = open_run(options.out / "people" / "run")
    items = make_items(run.assignment(), seed=0)
    verdicts = [
        Verdict(item, who, ("likely",) * 4, best=best, second=2)
        for item in items
        for who, best in (("ann", 0), ("bob", 1))
    ]
    path = options.out.parent / "split.jsonl"
    write_verdicts(path, verdicts, run.pool.identity)
    found = sweep(replace(options, sweeping=replace(options.sweeping, verdicts=(path,))))
    assert [one.people.value for one in found if one.people] == [0.5, 0.5]


def test_a_question_that_was_refilled_counts_as_it_was_first_shown(
    options: MatchOptions, points: list[Point], tmp_path: Path
) -> None:
    """What people chose in a refill, another question with fewer distractors, was added to it by place."""
    run = open_run(options.out / "people" / "run")
    first = make_items(run.assignment(), seed=0)
    refilled = [Item(one.row, (0, one.columns[2]), round=1) for one in first]
    verdicts = [
        *(Verdict(one, "ann", ("likely",) * 4, best=1, second=0) for one in first),
        *(Verdict(one, who, ("likely",) * 2, best=0, second=1) for one in refilled for who in ("bob", "cat")),
    ]
    write_verdicts(tmp_path / "refilled.jsonl", verdicts, run.pool.identity)
    asked = replace(options, sweeping=replace(options.sweeping, verdicts=(tmp_path / "refilled.jsonl",)))
    assert [one.people.value for one in sweep(asked) if one.people] == [0.0, 0.0]


def test_votes_for_an_ending_are_counted_wherever_it_stands(
    options: MatchOptions, points: list[Point], tmp_path: Path
) -> None:
    run = open_run(options.out / "people" / "run")
    first = make_items(run.assignment(), seed=0)
    turned = [Item(one.row, (0, *reversed(one.columns[1:]))) for one in first]
    chosen = [("ann", first, 0), ("bob", first, 1), ("cat", turned, 3)]  # bob and cat the same ending
    verdicts = [Verdict(one, who, ("likely",) * 4, best=best, second=2) for who, items, best in chosen for one in items]
    write_verdicts(tmp_path / "turned.jsonl", verdicts, run.pool.identity)
    asked = replace(options, sweeping=replace(options.sweeping, verdicts=(tmp_path / "turned.jsonl",)))
    assert [one.people.value for one in sweep(asked) if one.people] == [0.0, 0.0]


def test_people_who_are_shown_some_of_the_endings_have_a_chance_of_their_own(tmp_path: Path) -> None:
    """Six of eight are shown, and the line said that chance is one in eight."""
    items = made(200)
    rows = [
        {"id": i.context.id, "query": i.query, "response": i.response, "group": i.context.video} for i in items.rows
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    matching = MatchingOptions(relevance="tfidf", folds=2, n_distractors=7)
    sweeping = SweepOptions(WEIGHTS, shown=20)
    asked = MatchOptions((tmp_path / "rows.jsonl",), tmp_path / "out", matching, sweeping=sweeping)
    sweep(asked)
    run = open_run(tmp_path / "out" / "people" / "run")
    verdicts = [Verdict(i, "ann", ("likely",) * 6, best=0, second=2) for i in make_items(run.assignment(), seed=0)]
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, run.pool.identity)
    asked = replace(asked, sweeping=replace(asked.sweeping, verdicts=(tmp_path / "verdicts.jsonl",)))
    found = sweep(asked)
    assert [one.people_chance for one in found] == pytest.approx([1 / 6, 1 / 6])
    assert read_json(asked.out / "sweep.json")["points"][0]["people_chance"] == pytest.approx(1 / 6)
    assert "20, chance 16.7" in "\n".join(sweep_lines(found, asked))
    drawn = (asked.out / "sweep.svg").read_text(encoding="utf-8")
    assert "chance of people" in drawn


def test_the_same_sweep_gives_the_same_bytes(options: MatchOptions, points: list[Point], tmp_path: Path) -> None:
    again = replace(options, out=tmp_path / "again")
    sweep(again)
    for name in ("people.json", "sweep.svg"):
        if name == "people.json":
            assert (tmp_path / "again" / name).read_bytes() == (options.out / name).read_bytes()


def test_a_dry_run_is_not_swept_by_mistake(options: MatchOptions, tmp_path: Path) -> None:
    wanted = replace(options, out=tmp_path / "s", dry_run=True, sweeping=replace(options.sweeping, sample=200))
    with pytest.raises(InputError, match=r"dry_run\(options\)"):
        sweep(wanted)
    (made,) = dry_run(wanted)
    assert not wanted.out.exists()
    assert made.n < 260
    assert made.n_pairs < made.n**2
    assert made.seconds > 0


def test_what_the_best_few_of_each_row_cost_is_printed(
    options: MatchOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = replace(options, out=tmp_path / "few", matching=replace(options.matching, top=3))
    points = sweep(few)
    dearest = max(point.loss for point in points)
    assert dearest > 0
    said = sweep_lines(points, few)
    assert f"Matching only the 3 best of each row cost at most {dearest:.4f} of worth a row." in said
    command = ["match", str(few.data[0]), "--relevance", "tfidf", "--folds", "3", "--bucket-size", "200", "--top", "3"]
    main([*command, "--out", str(tmp_path / "one")])
    loss = read_json(tmp_path / "one" / "matched.json")["answers"]["loss"]
    assert loss > 0
    assert f"cost at most {loss / 400:.4f} of worth a row." in capsys.readouterr().out
    main([*command[:-2], "--out", str(tmp_path / "all")])
    assert "cost at most" not in capsys.readouterr().out


def test_another_lambda_in_the_same_folder_is_refused(options: MatchOptions, points: list[Point]) -> None:
    with pytest.raises(InputError, match="--out"):
        sweep(replace(options, sweeping=replace(options.sweeping, sweep=(0.5, 2.0))))


def test_the_smallest_lambda_that_people_solve_is_recommended() -> None:
    def point(weight: float, value: float | None) -> Point:
        people = None if value is None else Accuracy(value, 0, 1, 100)
        return Point(weight, Accuracy(0, 0, 1, 9), Accuracy(0, 0, 1, 9), 0.1, people)

    some = [point(0.01, 0.7), point(0.1, 0.92), point(1, 0.95)]
    assert recommended(some, 0.9) == 0.1
    assert recommended(some, 0.99) is None
    assert recommended([point(0.1, None)], 0.9) is None
    assert np.isclose(recommended(some, 0.94) or 0, 1)


def test_the_interval_of_people_is_clustered_by_groups_of_the_data(options: MatchOptions, points: list[Point]) -> None:
    """Twenty of twenty right is sure to a fifth, as far as groups differ; the three folds would leave it open."""
    run = open_run(options.out / "people" / "run")
    items = make_items(run.assignment(), seed=0)
    path = options.out.parent / "right.jsonl"
    write_verdicts(path, [Verdict(one, "ann", ("likely",) * 4, best=0, second=2) for one in items], run.pool.identity)
    groups = {row["id"]: row["group"] for _, row in read_jsonl(options.data[0])}
    group_of = {row["query"]: groups[row["id"]] for _, row in read_jsonl(options.data[0])}
    weights = read_json(options.out / "people.json")["weights"]
    for point in sweep(replace(options, sweeping=replace(options.sweeping, verdicts=(path,)))):
        n = len({group_of[c.sent1] for c, w in zip(run.pool.contexts, weights, strict=True) if w == point.weight})
        assert point.people is not None
        assert point.people.value == 1.0
        assert 1 - 5 / n < point.people.low < 1
        assert point.people.low > 0.7


def test_people_who_are_shown_fewer_than_asked_are_told_of(options: MatchOptions, tmp_path: Path) -> None:
    many = replace(options, out=tmp_path / "many", sweeping=replace(options.sweeping, shown=300))
    said = "people see 200 questions of each value and not the 300 of --shown"
    assert any(said in line for line in sweep_lines(sweep(many), many))


def test_a_sweep_and_rationales_are_shown(
    options: MatchOptions, points: list[Point], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["show", str(options.out)])
    said = capsys.readouterr().out
    assert "sweep of a matching" in said
    assert "relevance model" in said
    main(["show", str(options.out / "people")])
    assert "matched and not filtered" in capsys.readouterr().out


@pytest.mark.parametrize("sweeping", [{"sample": 200}, {"shown": 7}, {"human_accuracy": 0.5}])
def test_options_of_a_sweep_alone_are_refused(sweeping: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="only with --sweep"):
        MatchOptions((Path("a"),), sweeping=SweepOptions(**sweeping))


def test_the_weights_of_a_matching_are_refused_beside_a_sweep() -> None:
    """They were taken, and did nothing."""
    weights = MatchingOptions(weight=5, rationale_weight=3)
    said = r"--weight 5: not with --sweep, .*--rationale-weight 3: not with --sweep"
    with pytest.raises(InputError, match=said):
        MatchOptions((Path("a"),), matching=weights, sweeping=SweepOptions(sweep=(0.1, 0.3)))
    assert MatchOptions((Path("a"),), matching=weights).matching is weights


@pytest.mark.parametrize(
    ("values", "told"),
    [((0.0, float("inf")), "numbers, not below 0"), ((0.1234567, 0.12345674), "each value once, to six digits")],
)
def test_values_of_a_sweep_are_refused_before_any_work(values: tuple[float, ...], told: str) -> None:
    """Of lambdas that are one in six digits the second had the matching of the first."""
    with pytest.raises(InputError, match=told):
        MatchOptions((Path("a"),), sweeping=SweepOptions(sweep=values))
