"""Claims about answers of people: majorities, workers, agreement, and NLVR2's own figures."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write
from hypothesis import given
from hypothesis import strategies as st
from judged import make_run
from made_scores import choices, classes, dataset
from shared_data import shared
from slow.scoring import fleiss_kappa
from slow.scoring import majority_right as by_all_draws

import swag_af
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances, Unlabelled
from swag_af.data.numbers.interval import interval
from swag_af.judging.verdicts import Item, Verdict, make_items, write_verdicts
from swag_af.scoring.options import PredictionOptions
from swag_af.scoring.people import People, majority_right, people_of
from swag_af.scoring.reading.answers import Cells
from swag_af.scoring.reading.judgements import read_judgements
from swag_af.scoring.told import headline


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any), st.integers(1, 5))
def test_a_majority_is_that_of_all_draws(votes: list[int], m: int) -> None:
    if m <= sum(votes):
        assert majority_right(tuple(votes), m) == pytest.approx(by_all_draws(votes, m))


def measure(path: Path, data: Instances, *, min_items: int = 1, expert: str = "", run: Path | None = None) -> People:
    groups = np.arange(len(data))
    return people_of(read_judgements(path, Cells(data), run or path, groups), min_items=min_items, expert=expert)


def figures(people: People) -> dict[str, float | None]:
    return {one.name: one.value for one in people.figures}


def rows(data: Instances, workers: Iterable[str], answers: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "worker": worker, "answer": answers[i][j]}
        for i, one in enumerate(data.instances)
        for j, worker in enumerate(workers)
    ]


def test_workers_majorities_expert_and_kappa(tmp_path: Path) -> None:
    data = choices(30, n_options=3)
    rng = np.random.default_rng(0)
    answers = np.where(rng.random((30, 3)) < 0.6, data.answers[:, None], rng.integers(3, size=(30, 3)))
    path = write(tmp_path / "p.jsonl", rows(data, "abc", answers.tolist()))
    found = measure(path, data, expert="b")
    right = answers == data.answers[:, None]
    values = figures(found)
    assert values["majority of 1"] == pytest.approx(right.mean())
    assert values["expert"] == pytest.approx(right[:, 1].mean())
    assert values["mean over workers"] == pytest.approx(right.mean())
    assert found.deviation == pytest.approx(right.mean(axis=0).std())
    assert values["Fleiss' kappa"] == pytest.approx(fleiss_kappa(answers.tolist()))
    others = [row[row != gold] for row, gold in zip(answers, data.answers, strict=True)]
    votes = [(3 - len(wrong), *np.bincount(wrong, minlength=3).tolist()) for wrong in others]
    assert values["majority of 3"] == pytest.approx(np.mean([by_all_draws(of, 3) for of in votes]))
    assert "majority of 5" not in values


def test_a_copy_of_gold_is_not_what_people_answered(tmp_path: Path) -> None:
    """It was: all were right, and kappa was 1."""
    data = choices(30)
    said = np.random.default_rng(3).integers(4, size=(30, 3)).tolist()
    given = [{"label": int(data.answers[int(row["id"][1:])]), **row} for row in rows(data, "abc", said)]
    plain = measure(write(tmp_path / "plain.jsonl", rows(data, "abc", said)), data)

    def renamed(name: str) -> Path:
        changed = ({name if key == "answer" else key: value for key, value in row.items()} for row in given)
        return write(tmp_path / f"{name}.jsonl", changed)

    assert figures(measure(renamed("pred_label"), data)) == figures(plain)
    with pytest.raises(InputError, match="label is right in every row, as gold is, and vote could be the answers"):
        measure(renamed("vote"), data)


def test_the_text_of_equal_options_is_no_answer_of_anybody(tmp_path: Path) -> None:
    """It was the first of them."""
    data = choices(3)
    same = replace(data.instances[0], options=("same", "same", "other", "B"))
    path = write(tmp_path / "p.jsonl", [{"id": "q0", "worker": "a", "answer": "same"}])
    with pytest.raises(InputError, match="the text of several of its options: give a number or letter"):
        measure(path, replace(data, instances=(same, *data.instances[1:])))


def test_answers_to_rows_without_a_label_are_left_out(tmp_path: Path) -> None:
    data = replace(choices(30), unlabelled=(Unlabelled("x", 2),))
    said = rows(data, "ab", [[1, 2]] * 30)
    found = measure(write(tmp_path / "p.jsonl", [*said, {"id": "x", "worker": "a", "answer": 0}]), data)
    assert figures(found) == figures(measure(write(tmp_path / "q.jsonl", said), data))
    assert "1 answer is to rows without a label, left out" in found.said


@pytest.mark.parametrize("beside", [{}, {"x": 3}])
def test_answers_to_rows_without_a_label_alone_are_refused(beside: dict[str, Any], tmp_path: Path) -> None:
    """It was a ValueError of numpy's, or said that answer is right in every row."""
    data = replace(choices(30), unlabelled=(Unlabelled("x", 2),))
    path = write(tmp_path / "p.jsonl", [{"id": "x", "worker": worker, "answer": 0, **beside} for worker in "ab"])
    with pytest.raises(InputError, match="no answer to a row with a label"):
        measure(path, data, run=path)


def test_workers_who_agree_leave_open_what_their_answers_do(tmp_path: Path) -> None:
    """Of two who are right in all of 12 answers the interval was from 100 to 100 %; of two in 10 of 12, from 83.3 to
    83.3 %."""
    data = choices(12)
    for n_wrong in (0, 2):
        answers = [[int(gold + (i < n_wrong)) % 4] * 2 for i, gold in enumerate(data.answers)]
        found = measure(write(tmp_path / f"{n_wrong}.jsonl", rows(data, "ab", answers)), data)
        mean = next(one for one in found.figures if one.name == "mean over workers")
        assert mean.value == pytest.approx(1 - n_wrong / 12)
        assert mean.low is not None
        assert mean.low < 0.6


@pytest.mark.parametrize(("n", "has_interval"), [(19, False), (20, True)])
def test_of_few_groups_kappa_has_no_interval(tmp_path: Path, n: int, has_interval: bool) -> None:
    answers = np.random.default_rng(0).integers(2, size=(n, 3))
    path = write(tmp_path / "p.jsonl", rows(choices(n), "abc", answers.tolist()))
    kappa = next(one for one in measure(path, choices(n)).figures if "kappa" in one.name)
    assert kappa.value is not None
    assert (kappa.low is not None, kappa.high is not None) == (has_interval, has_interval)


def test_the_own_items_of_a_writer_do_not_count(tmp_path: Path) -> None:
    data = choices(20)
    given = [row | {"writer": "a"} for row in rows(data, "ab", [[0, 1]] * 20)]
    found = measure(write(tmp_path / "p.jsonl", given), data)
    assert (found.n_answers, found.n_counted) == (40, 20)
    assert [one.worker for one in found.workers] == ["b"]


def test_workers_with_few_answers_are_no_part_of_the_mean(tmp_path: Path) -> None:
    data = choices(20)
    given = [*rows(data, "a", [[0]] * 20), {"id": "q3", "worker": "b", "answer": 1}]
    found = measure(write(tmp_path / "p.jsonl", given), data, min_items=5)
    assert next(one.n for one in found.figures if one.name == "mean over workers") == 1
    assert len(found.workers) == 2


def test_the_labels_of_nlvr2_that_made_gold_count_for_agreement_alone(tmp_path: Path) -> None:
    data = classes(30)
    path = write(
        tmp_path / "dev.jsonl",
        (
            {
                "identifier": one.id,
                "validation": {"w": str(one.answer == 1)},
                "extra_validations": {"w": "True", "x": "False"},
                "writer": "x",
            }
            for one in data.instances
        ),
    )
    found = measure(path, data)
    assert (found.n_answers, found.n_counted) == (90, 30)
    assert figures(found)["mean over workers"] == pytest.approx(data.answers.mean())
    assert next(one for one in found.figures if "kappa" in one.name).of == "items with 3 labels"


def test_verdicts_are_answers(tmp_path: Path) -> None:
    ratings = ("likely", "likely", "unlikely")
    verdicts = [
        Verdict(Item(row, (0, 4, 2)), who, ratings, best, 1 if best != 1 else 0)
        for row in range(12)
        for who, best in (("a", 0), ("b", row % 3))
    ]
    path, run = tmp_path / "verdicts.jsonl", make_run(tmp_path)
    write_verdicts(path, verdicts, run.pool.identity)
    found = measure(path, choices(3), run=tmp_path / "run")
    values = figures(found)
    assert values["majority of 1"] == pytest.approx((12 + 4) / 24)
    assert found.figures[0].chance == pytest.approx(1 / 3)
    assert "Fleiss' kappa" not in values


def test_the_verdicts_of_a_run_have_its_groups(tmp_path: Path) -> None:
    """Each row stood for a video: of 60 rows in ten videos, each wholly right or wrong, half were right, 37 to 63 %."""
    run = make_run(tmp_path)
    found = [
        Verdict(item, "a", ("likely",) * len(item.columns), best, 1 - best)
        for item in make_items(run.assignment(), seed=0)
        for best in [int(run.pool.groups[item.row]) % 2]
    ]
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, found, run.pool.identity)
    judgements = read_judgements(path, Cells(choices(3)), tmp_path / "run", np.arange(3))
    (one,) = [one for one in people_of(judgements, min_items=1, expert="").figures if one.name == "majority of 1"]
    hits = (run.pool.groups % 2 == 0).astype(float)
    assert (one.low, one.high) == pytest.approx(interval(hits, run.pool.groups), abs=1e-6)


def test_verdicts_on_what_the_dataset_is_not_made_of_are_refused(tmp_path: Path) -> None:
    """People were said to be right on a dataset that they had never seen."""
    path = tmp_path / "verdicts.jsonl"
    write_verdicts(path, [Verdict(Item(0, (0, 1, 2)), "a", ("likely",) * 3, 0, 1)], "another")
    with pytest.raises(InputError, match="verdicts on the items of a run"):
        measure(path, choices(3))
    make_run(tmp_path)
    with pytest.raises(InputError, match="a verdict on another pool"):
        measure(path, choices(3), run=tmp_path / "run")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown id": ({"id": "zz", "worker": "a", "answer": 0}, "'zz', which is not in data"),
    "no worker": ({"id": "q1", "worker": "", "answer": 0}, "has no worker"),
    "no option": ({"id": "q1", "worker": "a", "answer": 9}, "answer 9"),
    "twice": ({"id": "q0", "worker": "a", "answer": 0}, "answered before"),
    "no column": ({"id": "q0", "who": "a", "answer": 0}, "no column of workers"),
}


@pytest.mark.parametrize(("row", "said"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_used_is_told(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    first = [] if "who" in row else [{"id": "q0", "worker": "a", "answer": 0}]
    with pytest.raises(InputError, match=said):
        measure(write(tmp_path / "p.jsonl", [*first, row]), choices())


def test_an_expert_whom_nobody_knows_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", rows(choices(3), "ab", [[0, 0]] * 3))
    with pytest.raises(InputError, match=r"--expert c: no such worker \(there are a, b\)\."):
        measure(path, choices(3), expert="c")


@pytest.mark.real
def test_the_figures_of_nlvr2(tmp_path: Path) -> None:
    path = shared("nlvr2/dev.json")
    data = swag_af.read_instances([path])
    always = tmp_path / "true.csv"
    always.write_text("".join(f"{one.id},1\n" for one in data.instances))
    found = swag_af.score(swag_af.ScoreOptions(path, (always,), people=path))
    assert round(100 * (found.models[0].figures[0].value or 0), 2) == 50.86
    people = found.people
    assert people is not None
    mean = next(one for one in people.figures if one.name == "mean over workers")
    kappa = next(one for one in people.figures if one.name == "Fleiss' kappa")
    assert mean.value is not None
    assert kappa.value is not None
    assert people.deviation is not None
    assert (round(100 * mean.value, 2), round(100 * people.deviation, 2), mean.n) == (96.28, 2.13, 51)
    assert (round(kappa.value, 3), kappa.n) == (0.893, 6870)


@pytest.mark.real
def test_always_true_is_consistent_on_few_sentences_of_nlvr2() -> None:
    data = swag_af.read_instances([shared("nlvr2/dev.json")])
    consistency = swag_af.scores_of(data, np.ones(len(data), int)).figure("consistency")
    assert consistency.value is not None
    assert (round(100 * consistency.value, 2), consistency.n) == (3.87, 2018)
    assert consistency.chance == consistency.value


def test_people_alone_are_scored(tmp_path: Path) -> None:
    data = choices(10)
    questions = dataset(tmp_path / "q.jsonl", data)
    path = write(tmp_path / "p.jsonl", rows(data, "abc", [[0, 1, 2]] * 10))
    found = swag_af.score(swag_af.ScoreOptions(questions, (), people=path, min_items=1))
    assert found.people is not None
    assert found.models == ()
    assert found.people.n_workers == 3


def test_chance_for_people_is_that_for_models(tmp_path: Path) -> None:
    data = classes(30)
    path = write(tmp_path / "p.jsonl", rows(data, "abc", [["True"] * 3] * 30))
    found, model = measure(path, data), swag_af.scores_of(data, np.ones(30, int)).figure("accuracy")
    assert (found.figures[0].chance, found.figures[0].chance_by_shares) == (model.chance, model.chance_by_shares)
    assert found.figures[0].value == pytest.approx(model.chance)


def test_the_headline_says_how_many_answers_count(tmp_path: Path) -> None:
    data = choices(20)
    questions = dataset(tmp_path / "q.jsonl", data)
    path = write(tmp_path / "p.jsonl", (row | {"writer": "a"} for row in rows(data, "ab", [[0, 1]] * 20)))
    found = swag_af.score(swag_af.ScoreOptions(questions, (), people=path, min_items=1))
    assert headline(found).startswith("2 people gave 40 answers, of which 20 count; majority of 1")


def test_kappa_is_no_share_that_is_right(tmp_path: Path) -> None:
    """The headline said so where no answer counts: -33.33 % right."""
    data = choices(20)
    questions, given = dataset(tmp_path / "q.jsonl", data), [*rows(data, "a", [[0]] * 20), *rows(data, "b", [[1]] * 20)]
    path = write(tmp_path / "p.jsonl", (row | {"writer": row["worker"]} for row in given))
    found = swag_af.score(swag_af.ScoreOptions(questions, (), people=path))
    assert headline(found) == "2 people gave 40 answers, of which 0 count; Fleiss' kappa: -1.000."


@pytest.mark.parametrize("has_order", [True, False])
def test_agreement_is_told_of_answers_whose_numbers_mean_something(has_order: bool, tmp_path: Path) -> None:
    """Where gold has a column of its own, kappa was that of numbers that were drawn for each row."""
    data = replace(choices(30), has_order=has_order)
    given = [
        {"id": one.id, "worker": worker, "answer": one.options[0 if worker == "a" else one.answer]}
        for one in data.instances
        for worker in "ab"
    ]
    found = measure(write(tmp_path / "p.jsonl", given), data)
    assert ("Fleiss' kappa" in figures(found)) == has_order


def test_answers_of_people_count_from_1_where_all_say_so(tmp_path: Path) -> None:
    data = choices(20)
    answers = [[1 + int(gold)] for gold in data.answers]
    assert figures(measure(write(tmp_path / "p.jsonl", rows(data, "a", answers)), data))["majority of 1"] == 1.0
    few = Instances(tuple(replace(one, answer=1) for one in choices(8).instances), "choices")
    path = write(tmp_path / "few.jsonl", rows(few, "a", [[2]] * 8))
    assert figures(measure(path, few))["majority of 1"] == 0.0
    cells, groups = Cells(few), np.arange(8)
    from_1 = people_of(
        read_judgements(path, cells, path, groups, options=PredictionOptions(prediction_base="1")), min_items=1
    )
    assert figures(from_1)["majority of 1"] == 1.0
    assert "see whether --prediction-base 1 is meant" in read_judgements(path, cells, path, groups).said


def test_a_key_beside_what_people_answered_is_not_scored_as_theirs(tmp_path: Path) -> None:
    """The first known name was taken: the key, with which people were right in 100 %."""
    data = choices(20)
    given = [
        {"id": one.id, "number": f"q{19 - i}", "worker": "a", "answer": one.answer, "response": 1 - min(one.answer, 1)}
        for i, one in enumerate(data.instances)
    ]
    path = write(tmp_path / "p.jsonl", given)
    questions = dataset(tmp_path / "q.jsonl", data)
    alone = swag_af.ScoreOptions(questions, (), people=path)
    with pytest.raises(InputError, match=r"answer, response could all be the answers\. Say --prediction-column NAME\."):
        swag_af.score(alone)
    for id in ("id", "number"):
        named = PredictionOptions(prediction_id=id, prediction_column="response")
        people = swag_af.score(replace(alone, predicted=named)).people
        assert people is not None
        assert people.said == f"p.jsonl: ids in {id}, workers in worker, answers in response"
        by_id = {one[id]: one["response"] for one in given}
        assert figures(people)["majority of 1"] == np.mean([by_id[one.id] == one.answer for one in data.instances])
    with pytest.raises(InputError, match="no column 'respons' for --prediction-column"):
        swag_af.score(replace(alone, predicted=PredictionOptions(prediction_column="respons")))


def test_a_column_that_models_alone_have_is_not_looked_for_among_answers_of_people(tmp_path: Path) -> None:
    data = choices(20)
    questions, path = dataset(tmp_path / "q.jsonl", data), write(tmp_path / "p.jsonl", rows(data, "a", [[0]] * 20))
    model = write(tmp_path / "m.jsonl", ({"id": one.id, "mine": 0, "yours": 1} for one in data.instances))
    named = PredictionOptions(prediction_column="mine")
    people = swag_af.score(swag_af.ScoreOptions(questions, (model,), people=path, predicted=named)).people
    assert people is not None
    assert people.said == "p.jsonl: ids in id, workers in worker, answers in answer"
