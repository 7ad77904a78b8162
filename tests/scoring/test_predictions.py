"""Claims about files of predictions: each form of file says the same, and what does not fit is told in one line."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import numpy as np
import pytest
from folders import write
from made_scores import choices, classes, dataset, options_of

import swag_af
from swag_af.data.cells.options import LabelBase
from swag_af.data.errors import InputError, SwagAfError
from swag_af.data.instances.instances import Instance, Instances, Unlabelled
from swag_af.data.instances.reading import read_instances
from swag_af.scoring.options import Metric, PredictionOptions, ScoreOptions
from swag_af.scoring.reading.answers import Cells
from swag_af.scoring.reading.predictions import Predictions, read_predictions

N = 40
DATA = choices(N)
CHOSEN = np.random.default_rng(9).integers(4, size=N).tolist()
IDS = [one.id for one in DATA.instances]


def read(path: Path, options: PredictionOptions | None = None, data: Instances = DATA) -> Predictions:
    return read_predictions(path, Cells(data), options or PredictionOptions(), name="m")


def one_hot(i: int) -> list[float]:
    return [-9.0 + 2.5 * (k == i) for k in range(4)]


def logged(i: int, **changed: object) -> dict[str, Any]:
    """A line of a log of samples."""
    arguments = [[f"Question {i}?", f" {text}"] for text in options_of(i)]
    resps = [[[str(score), "False"]] for score in one_hot(CHOSEN[i])]
    return {
        "doc_id": i,
        "doc": {"question": f"Question {i}?"},
        "target": "0",
        "arguments": arguments,
        "resps": resps,
        "filtered_resps": [one[0] for one in resps],
    } | changed


def as_csv(header: str, cells: Callable[[int], str]) -> str:
    return f"{header}\n" + "".join(f"{IDS[i]},{cells(i)}\n" for i in range(N))


def as_jsonl(cells: Callable[[int], dict[str, object]]) -> str:
    return "".join(json.dumps({"id": IDS[i], **cells(i)}) + "\n" for i in range(N))


FORMS = {
    "number.csv": as_csv("id,prediction", lambda i: str(CHOSEN[i])),
    "number from 1.csv": as_csv("id,prediction", lambda i: str(CHOSEN[i] + 1)),
    "letter.csv": as_csv("id,answer", lambda i: "ABCD"[CHOSEN[i]]),
    "text.jsonl": as_jsonl(lambda i: {"answer": options_of(i)[CHOSEN[i]]}),
    "no header.csv": "".join(f"{IDS[i]},{CHOSEN[i]}\n" for i in range(N)),
    "list of scores.jsonl": as_jsonl(lambda i: {"label": 0, "scores": one_hot(CHOSEN[i])}),
    "list in a cell.csv": as_csv("id,probs", lambda i: '"' + json.dumps(one_hot(CHOSEN[i])) + '"'),
    "numbered scores.csv": as_csv("id,score0,score1,score2,score3", lambda i: ",".join(map(str, one_hot(CHOSEN[i])))),
    "by letter.jsonl": as_jsonl(lambda i: {"logits": dict(zip("ABCD", one_hot(CHOSEN[i]), strict=True))}),
    "answers of another column.jsonl": as_jsonl(lambda i: {"label": 0, "pred": CHOSEN[i]}),
    "one object.json": json.dumps({IDS[i]: CHOSEN[i] for i in range(N)}, indent=1),
    "one object of scores.json": json.dumps({IDS[i]: one_hot(CHOSEN[i]) for i in range(N)}),
    "columns.json": json.dumps({"id": dict(enumerate(IDS)), "pred": dict(enumerate(CHOSEN))}),
    "columns in lists.json": json.dumps({"id": IDS, "pred": list(CHOSEN)}, indent=1),
    "lines.json": as_jsonl(lambda i: {"pred": CHOSEN[i]}),
    "log.jsonl": "".join(json.dumps(logged(i)) + "\n" for i in range(N)),
    "log without filtered.jsonl": "".join(
        json.dumps({k: v for k, v in logged(i).items() if k != "filtered_resps"}) + "\n" for i in range(N)
    ),
}


def test_from_what_numbers_count_is_said_where_it_is_not_0_for_sure(tmp_path: Path) -> None:
    """Who never chooses the last option and counts from 1 was read from 0, and nothing said so."""
    for of, said in (
        (lambda i: 1 + i % 3, "see whether --prediction-base 1 is meant"),
        (lambda i: 1 + i % 4, "count from 1"),
    ):
        path = tmp_path / "p.csv"
        path.write_text(as_csv("id,prediction", lambda i, of=of: str(of(i))), encoding="utf-8")
        assert said in read(path).said
    path.write_text(FORMS["number.csv"], encoding="utf-8")
    assert "count" not in read(path).said


def test_where_nothing_tells_predictions_count_as_the_labels_do(tmp_path: Path) -> None:
    """A model that always says 1 was scored as if it said the second option."""
    rows = [{"question": f"Why {i}?", "choices": [f"a{i}", f"b{i}"], "label": "12"[i % 4 == 0]} for i in range(N)]
    data = read_instances([write(tmp_path / "data.jsonl", rows)])
    path = write(tmp_path / "p.jsonl", ({"id": one.id, "pred": 1} for one in data.instances))
    found = read(path, data=data)
    assert found.hits.mean() == 0.75
    assert "taken to count from 1: as the labels do, so see whether --prediction-base 0 is meant" in found.said


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(form: str, tmp_path: Path) -> None:
    path = tmp_path / form
    path.write_text(FORMS[form], encoding="utf-8")
    found = read(path)
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    assert found.hits.tolist() == [float(a == b) for a, b in zip(CHOSEN, DATA.answers.tolist(), strict=True)]
    assert (found.n_missing, found.n_tied) == (0, 0)


@pytest.mark.parametrize("said", ["{0}", "False", "{0:d}"])
def test_classes_are_named_or_counted(said: str, tmp_path: Path) -> None:
    data = classes(30)
    words = {"{0}": ["False", "True"], "False": ["false", "TRUE"], "{0:d}": ["0", "1"]}[said]
    path = tmp_path / "p.csv"
    path.write_text("".join(f"{one.id},{words[one.answer]}\n" for one in data.instances))
    assert read(path, data=data).hits.all()


def test_truth_values_and_scores_by_class_are_read(tmp_path: Path) -> None:
    data = classes(30)
    truth = write(tmp_path / "a.jsonl", ({"id": one.id, "pred": one.answer == 1} for one in data.instances))
    scores = write(
        tmp_path / "b.jsonl",
        ({"id": one.id, "probs": {"True": 0.2 + one.answer / 2, "False": 0.5}} for one in data.instances),
    )
    assert read(truth, data=data).hits.all()
    assert read(scores, data=data).hits.all()


NLI = ("contradiction", "entailment", "neutral")


def nli() -> Instances:
    """Classes whose order nobody can know, as data sets count them in another."""
    return replace(classes(30), classes=NLI)


@pytest.mark.parametrize("cell", [{"pred": 1}, {"scores": [0.1, 0.9, 0.3]}])
def test_numbers_of_named_classes_take_an_order(cell: dict[str, object], tmp_path: Path) -> None:
    """MNLI counts entailment, neutral, contradiction: by letter, all would be read wrongly, without a word."""
    data = nli()
    path = write(tmp_path / "p.jsonl", ({"id": one.id, **cell} for one in data.instances))
    with pytest.raises(InputError, match="say --class-order"):
        read(path, data=data)
    order = "entailment,neutral,contradiction"
    found = read_predictions(path, Cells(data, order), PredictionOptions(class_order=order), name="m")
    assert set(found.shares.reshape(30, 3).argmax(axis=1).tolist()) == {NLI.index("neutral")}


@pytest.mark.parametrize("order", ["entailment,neutral", "a,b,c"])
def test_an_order_of_other_classes_is_refused(order: str) -> None:
    with pytest.raises(InputError, match="--class-order"):
        Cells(nli(), order)


def test_a_log_names_classes_by_its_requests(tmp_path: Path) -> None:
    data = nli()
    words = ["entailment", "neutral", "contradiction"]
    rows = (
        logged(
            i,
            arguments=[["Q", f" {word}"] for word in words],
            filtered_resps=[[-1.0 - (word != NLI[one.answer]), False] for word in words],
        )
        for i, one in enumerate(data.instances)
    )
    assert read(write(tmp_path / "log.jsonl", rows), data=data).hits.all()


def test_ties_are_shared(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", ({"id": id, "scores": [1, 1, 1, 0]} for id in IDS))
    found = read(path)
    assert found.n_tied == N
    assert found.hits.tolist() == pytest.approx([(answer < 3) / 3 for answer in DATA.answers.tolist()])


@pytest.mark.parametrize("has_order", [True, False])
@pytest.mark.parametrize("gold", [0, 1, 2])
def test_the_text_of_equal_options_is_shared_by_them(gold: int, has_order: bool, tmp_path: Path) -> None:
    """It was the first's, so that their order made 100 % or 0."""
    one = replace(DATA.instances[0], options=("same", "same", "other", "B"), answer=gold)
    data = replace(DATA, instances=(one, DATA.instances[1]), has_order=has_order)
    rows = [{"id": "q0", "prediction": " same"}, {"id": "q1", "prediction": options_of(1)[DATA.instances[1].answer]}]
    found = read(write(tmp_path / "p.jsonl", rows), data=data)
    assert found.hits.tolist() == [(gold < 2) / 2, 1.0]
    assert (found.n_tied, found.n_missing) == (1, 0)


@pytest.mark.parametrize("base", ["0", "text"])
def test_a_number_is_shared_only_where_it_is_a_text(base: LabelBase, tmp_path: Path) -> None:
    one = replace(DATA.instances[0], options=("3", "1", "1", "0"), answer=1)
    data = replace(DATA, instances=(one,))
    path = write(tmp_path / "p.jsonl", [{"id": "q0", "prediction": 1}])
    found = read(path, PredictionOptions(prediction_base=base), data)
    assert found.hits.tolist() == [{"0": 1.0, "text": 0.5}[base]]


@pytest.mark.parametrize(("metric", "chosen"), [("acc", 0), ("acc_norm", 2), ("acc_bytes", 1)])
def test_the_metric_of_a_log_chooses_as_the_harness_does(metric: Metric, chosen: int, tmp_path: Path) -> None:
    """Log-likelihoods -4, -8, -5 of choices with 2, 7 and 4 characters, which have 2, 9 and 4 bytes less or more."""
    texts, scores = ["ab", "éééééééé", "abcdefg"], [-4.0, -8.5, -6.0]
    lengths = {"acc": [1, 1, 1], "acc_norm": [2, 8, 7], "acc_bytes": [2, 16, 7]}[metric]
    assert int(np.argmax(np.array(scores) / lengths)) == chosen
    rows = (
        logged(
            i,
            arguments=[["Q", f" {text}"] for text in texts] + [["", f" {text}"] for text in texts],
            filtered_resps=[[score, False] for score in (*scores, 0.0, 0.0, 0.0)],
        )
        for i in range(N)
    )
    data = choices(N, n_options=3)
    path = write(tmp_path / "log.jsonl", rows)
    found = read(path, PredictionOptions(metric=metric), data)
    assert set(found.shares.reshape(N, 3).argmax(axis=1).tolist()) == {chosen}
    assert "count the rows" in found.said


def test_missing_double_and_unknown_ids_are_told_together(tmp_path: Path) -> None:
    ids = [*IDS[2:], IDS[5], "zz"]
    path = write(tmp_path / "p.jsonl", ({"id": id, "pred": 0} for id in ids))
    with pytest.raises(InputError) as told:
        read(path)
    line = str(told.value)
    assert "2 ids of data are missing (first: q0, q1); 1 id occurs twice (first: q5); 1 id is not in data" in line
    assert "--allow-missing" in line
    with pytest.raises(InputError, match="occurs twice"):
        read(path, PredictionOptions(allow_missing=True))


def test_missing_answers_may_be_allowed_and_are_wrong(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", ({"id": one.id, "pred": one.answer} for one in DATA.instances[4:]))
    found = read(path, PredictionOptions(allow_missing=True))
    assert found.n_missing == 4
    assert found.hits.sum() == N - 4


@pytest.mark.parametrize("none", [None, "", -1])
@pytest.mark.parametrize("flag", ["allow_missing", "only_predicted"])
def test_rows_that_say_nothing_are_missing_where_they_may_be(none: object, flag: str, tmp_path: Path) -> None:
    rows = ({"id": one.id, "pred": one.answer if i > 3 else none} for i, one in enumerate(DATA.instances))
    found = read(write(tmp_path / "p.jsonl", rows), PredictionOptions(**{flag: True}))
    assert (found.n_missing, found.hits.sum()) == (4, N - 4)


BAD = {
    "other ids": (as_jsonl(lambda i: {"pred": 0}).replace('"q', '"other-'), "none of its ids is in data"),
    "no answers": (as_jsonl(lambda i: {"x": 1, "y": 2}), "no column of answers or scores"),
    "no such option": (as_jsonl(lambda i: {"pred": 7 if i == 3 else 0}), "line 4"),
    "another text": (as_jsonl(lambda i: {"pred": "purple"}), "purple"),
    "few scores": (as_jsonl(lambda i: {"scores": [1, 2]}), "2 scores under scores for 4 answers"),
    "no numbers": (as_jsonl(lambda i: {"scores": [1, 2, 3, None]}), "are no numbers"),
    "infinite": (as_jsonl(lambda i: {"scores": ["inf", "0", "0", "0"]}), "are no numbers"),
    "empty answer": (as_jsonl(lambda i: {"pred": "" if i == 2 else 0}), "has no pred"),
    "minus one": (as_jsonl(lambda i: {"pred": -1 if i == 2 else 0}), "line 3 has -1, which is no answer, as pred"),
    "a list without ids": (json.dumps(CHOSEN), "predictions without ids, and data has some (q0, q1, q2)"),
    "lines without ids": ("".join(f"{i}\n" for i in CHOSEN), "predictions without ids, and data has some"),
    "broken log": (json.dumps(logged(0) | {"filtered_resps": [[-1, False]]}) + "\n", "no log-likelihood of each"),
    "no json": ("{\n", "not valid JSON"),
    "nothing": ("", "no rows"),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_used_is_told_in_one_line(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as told:
        read(path)
    assert said in str(told.value)
    assert str(told.value).startswith(str(path))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "options",
    [
        PredictionOptions(prediction_id="nr"),
        PredictionOptions(prediction_column="prod"),
        PredictionOptions(scores_column="scors"),
    ],
)
def test_a_column_that_is_not_there_is_told(options: PredictionOptions, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(as_jsonl(lambda i: {"pred": 0, "scores": [0, 0, 0, 1]}))
    with pytest.raises(InputError, match="no column"):
        read(path, options)


@pytest.mark.parametrize(
    ("columns", "taken"),
    [
        ({"id": "0{i}", "prediction": "{k}"}, "none of its ids is in data (it has 00, 01, 02; data has 0, 1, 2)"),
        ({"id": "0{i}", "guess": "{k}"}, "none of its ids is in data (it has 00, 01, 02; data has 0, 1, 2)"),
        ({"id": "run {i}", "question": "{i}", "prediction": "{k}"}, "ids in question"),
        ({"row": "{k}", "qid": "{i}", "prediction": "{k}"}, "ids in qid"),
        ({"idx": "{i}", "id": "{some}", "prediction": "{k}"}, "1 id is not in data"),
    ],
)
def test_ids_are_in_the_column_of_which_most_are_known(columns: dict[str, str], taken: str, tmp_path: Path) -> None:
    """The first column with one id of the dataset was taken, as that of the predictions is where ids are numbers."""
    data = replace(DATA, instances=tuple(replace(one, id=str(i)) for i, one in enumerate(DATA.instances)))
    rows = [
        {name: cell.format(i=i, k=k, some=i or "zz") for name, cell in columns.items()} for i, k in enumerate(CHOSEN)
    ]
    path = write(tmp_path / "p.jsonl", rows)
    if taken.startswith("ids in"):
        assert taken in read(path, data=data).said
        return
    with pytest.raises(InputError) as fault:
        read(path, data=data)
    assert taken in str(fault.value)


@pytest.mark.parametrize("repeats", [True, False])
def test_why_a_dataset_has_none_of_the_ids_is_told(repeats: bool, tmp_path: Path) -> None:
    """It was said to have none."""
    ids = ["q5" if repeats and id == "q7" else id for id in IDS]
    name = "id" if repeats else "pid"
    questions = write(
        tmp_path / "d.jsonl", ({name: id, **question_of(one)} for id, one in zip(ids, DATA.instances, strict=True))
    )
    path = write(tmp_path / "p.jsonl", ({"id": id, "pred": 0} for id in set(ids)))
    with pytest.raises(InputError) as fault:
        swag_af.score(ScoreOptions(questions, (path,)))
    due = "id, but 'q5' is there twice, so that file and line" if repeats else "pid: say --id-column pid."
    assert f"They are in its column {due}" in str(fault.value)


def test_named_columns_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(as_jsonl(lambda i: {"pred": 0, "mine": CHOSEN[i], "a0": 1, "a1": 0, "a2": 0, "a3": 0}))
    mine = read(path, PredictionOptions(prediction_column="mine"))
    assert mine.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    first = read(path, PredictionOptions(scores_column="a"))
    assert set(first.shares.reshape(N, 4).argmax(axis=1).tolist()) == {0}


def test_a_log_of_a_dataset_with_other_ids_counts_its_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", (logged(i) for i in range(10)))
    found = read(path, PredictionOptions(allow_missing=True))
    assert "count the rows" in found.said
    assert found.n_missing == N - 10
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist()[:10] == CHOSEN[:10]


def test_a_log_that_counts_rows_is_not_taken_by_ids_that_happen_to_be_such_numbers(tmp_path: Path) -> None:
    """A perfect model on a shuffled file that had kept its index as ids: 22 % of the questions were right."""
    order = np.random.default_rng(0).permutation(N).tolist()
    numbered = tuple(replace(one, id=str(i)) for one, i in zip(DATA.instances, order, strict=True))
    data = replace(DATA, instances=numbered)
    log = write(tmp_path / "log.jsonl", (logged(i) for i in range(N)))
    found = read(log, data=data)
    assert "count the rows" in found.said
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    by_id = write(tmp_path / "ids.jsonl", (logged(i, doc_id=order[i]) for i in range(N)))
    assert read(by_id, data=data).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    letters = [[["Question?", f" {letter}"] for letter in "ABCD"]] * N
    untold = write(tmp_path / "letters.jsonl", (logged(i, arguments=letters[i]) for i in range(N)))
    with pytest.raises(InputError, match=r"its doc_id may be ids of data or count its rows, which are others"):
        read(untold, data=replace(data, name="data"))


NAMELESS = replace(
    DATA,
    instances=tuple(
        replace(one, id=f"val:{i + 1}", where=f"val.jsonl, line {i + 1}") for i, one in enumerate(DATA.instances)
    ),
)
"""The same without ids of its own: file and line stand for them."""
IN_ORDER = {
    "list.json": json.dumps(CHOSEN),
    "list over lines.json": json.dumps(CHOSEN, indent=1),
    "list in jsonl.jsonl": json.dumps(CHOSEN) + "\n",
    "list of scores.json": json.dumps([one_hot(i) for i in CHOSEN]),
    "lines.txt": "".join(f"{i}\n" for i in CHOSEN),
    "letters.txt": "".join(f"{'ABCD'[i]}\n" for i in CHOSEN),
    "texts.txt": "".join(f"{options_of(k)[i]}\n" for k, i in enumerate(CHOSEN)),
    "header.txt": "prediction\n" + "".join(f"{i}\n" for i in CHOSEN),
    "lines.csv": "".join(f"{i}\n" for i in CHOSEN),
    "column.csv": "prediction\n" + "".join(f"{i}\n" for i in CHOSEN),
    "lines.jsonl": "".join(f"{i}\n" for i in CHOSEN),
    "scores by line.jsonl": "".join(f"{json.dumps(one_hot(i))}\n" for i in CHOSEN),
    "scores by line.txt": "".join(f"{json.dumps(one_hot(i))}\n" for i in CHOSEN),
    "objects.jsonl": "".join(f"{json.dumps({'pred': i})}\n" for i in CHOSEN),
    "objects.json": json.dumps([{"pred": i} for i in CHOSEN]),
    "p.csv": "p0,p1,p2,p3\n" + "".join(",".join(map(str, one_hot(i))) + "\n" for i in CHOSEN),
    "scores.csv": "score0,score1,score2,score3\n" + "".join(",".join(map(str, one_hot(i))) + "\n" for i in CHOSEN),
}
BY_NUMBER = {
    "index.tsv": "index\tprediction\n" + "".join(f"{k}\t{i}\n" for k, i in reversed(list(enumerate(CHOSEN)))),
    "idx.csv": "idx,prediction\n" + "".join(f"{k},{i}\n" for k, i in enumerate(CHOSEN)),
    "semicolons.csv": "idx;prediction\n" + "".join(f"{k};{i}\n" for k, i in enumerate(CHOSEN)),
    "row.jsonl": "".join(json.dumps({"row": k, "pred": i}) + "\n" for k, i in enumerate(CHOSEN)),
    "id.jsonl": "".join(json.dumps({"id": k, "pred": i}) + "\n" for k, i in enumerate(CHOSEN)),
    "object.json": json.dumps({str(k): i for k, i in enumerate(CHOSEN)}),
}


@pytest.mark.parametrize("form", [*IN_ORDER, *BY_NUMBER])
def test_predictions_for_a_dataset_without_ids_are_matched_by_its_order(form: str, tmp_path: Path) -> None:
    path = tmp_path / form
    path.write_text((IN_ORDER | BY_NUMBER)[form], encoding="utf-8")
    found = read(path, data=NAMELESS)
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    assert ("matched by the order" if form in IN_ORDER else "count the rows of the dataset from 0") in found.said


def test_the_ids_that_were_made_are_taken(tmp_path: Path) -> None:
    rows = ({"id": one.id, "pred": CHOSEN[i]} for i, one in enumerate(NAMELESS.instances))
    found = read(write(tmp_path / "p.jsonl", rows), data=NAMELESS)
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN


UNMATCHED = {
    "too few": ("\n".join("0" * (N - 1)), "39 predictions without ids for 40 instances of data"),
    "a line too many": ("\n".join("0" * (N + 1)), "41 predictions without ids for 40 instances"),
    "from 1": ("index,prediction\n" + "".join(f"{k},0\n" for k in range(1, N + 1)), "from 0 to 39, with 0 among"),
    "twice": ("index,prediction\n" + "0,1\n" * 2 + "".join(f"{k},0\n" for k in range(1, N)), "1 id occurs twice"),
    "ids of elsewhere": ("id,prediction\nv_1,0\nv_2,1\n", "have no ids, so that file and line stand for them"),
    "few numbers": ("index,prediction\n0,1\n1,1\n", "38 ids of data are missing"),
}


@pytest.mark.parametrize(("content", "said"), UNMATCHED.values(), ids=UNMATCHED.keys())
def test_an_order_that_does_not_fit_is_told(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(content + "\n", encoding="utf-8")
    with pytest.raises(InputError) as told:
        read(path, data=NAMELESS)
    assert said in str(told.value)


def test_numbers_of_some_rows_are_refused_where_rows_were_left_out(tmp_path: Path) -> None:
    """A number may then mean another instance than the one that it counts."""
    letters = [[["Question?", f" {letter}"] for letter in "ABCD"]] * N
    path = write(tmp_path / "log.jsonl", (logged(i, arguments=letters[i]) for i in range(10)))
    data = replace(DATA, unlabelled=(Unlabelled("x", 3), Unlabelled("y", 3), Unlabelled("z", N)))
    with pytest.raises(InputError, match="so that some may mean others"):
        read(path, PredictionOptions(only_predicted=True), data)
    with pytest.raises(InputError, match="so that some may mean others"):
        read(path, PredictionOptions(allow_missing=True), data)
    rows = (logged(i, doc_id=i if i < 3 else i + 2) for i in range(10))  # which its texts say
    found = read(write(tmp_path / "texts.jsonl", rows), PredictionOptions(allow_missing=True), data)
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist()[:10] == CHOSEN[:10]


def some_hidden(path: Path, *, ids: bool, first: int = 0) -> Instances:
    """The questions in a file of which three without a label stand before question `first`."""
    rows = [{"id": one.id, **question_of(one)} for one in DATA.instances]
    hidden = [{**row, "id": f"x{k}", "label": -1} for k, row in enumerate(rows[:3])]
    every = [*rows[:first], *hidden, *rows[first:]]
    kept = every if ids else [{name: cell for name, cell in row.items() if name != "id"} for row in every]
    return read_instances([write(path, kept)])


def question_of(one: Instance) -> dict[str, Any]:
    return {"question": one.context, "options": list(one.options), "label": one.answer}


def test_numbers_that_may_count_all_rows_or_those_with_a_label_are_refused(tmp_path: Path) -> None:
    """They counted those with a label, without a word, though three without one stand first: accuracy was chance."""
    first, last = (some_hidden(tmp_path / f"{k}.jsonl", ids=False, first=k) for k in (0, N))
    golds = DATA.answers.tolist()
    some = write(tmp_path / "some.jsonl", ({"idx": i, "pred": k} for i, k in enumerate(golds)))
    every = write(tmp_path / "every.jsonl", ({"idx": i, "pred": k} for i, k in enumerate([0, 0, 0, *golds])))
    with pytest.raises(InputError, match="its idx count rows, but 0 has rows without a label"):
        read(some, data=first)
    assert read(some, data=last).hits.all()
    found = read(every, data=first)
    assert found.hits.all()
    assert "; 3 predictions are of rows without a label, left out" in found.said


@pytest.mark.parametrize("ids", [True, False])
def test_predictions_of_rows_without_a_label_are_left_out(ids: bool, tmp_path: Path) -> None:
    """Their ids were said to be unknown, and no flag led on."""
    data = some_hidden(tmp_path / "d.jsonl", ids=ids, first=5)
    golds = DATA.answers.tolist()
    given = [
        *zip(IDS[:5], golds[:5], strict=True),
        ("x0", 0),
        ("x1", 0),
        ("x2", 0),
        *zip(IDS[5:], golds[5:], strict=True),
    ]
    rows = [{"id": id, "pred": k} if ids else {"pred": k} for id, k in given]
    found = read(write(tmp_path / "p.jsonl", rows), data=data)
    assert found.hits.all()
    assert found.n_missing == 0
    assert "3 predictions are of rows without a label, left out" in found.said
    if ids:
        with pytest.raises(InputError, match="1 id is not in d"):
            read(write(tmp_path / "p.jsonl", [*rows, {"id": "x3", "pred": 0}]), data=data)
        with pytest.raises(InputError, match="all its predictions are of rows without a label"):
            read(write(tmp_path / "p.jsonl", rows[5:8]), data=data)


def test_a_log_in_another_order_is_read_by_its_texts(tmp_path: Path) -> None:
    """A perfect model was right in no question whose options the log had in reverse."""
    rows = []
    for i in range(N):
        line = logged(i)
        rows.append(line | {name: list(reversed(line[name])) for name in ("arguments", "resps", "filtered_resps")})
    found = read(write(tmp_path / "log.jsonl", rows))
    assert found.shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    letters = [
        logged(i, arguments=[[f"Question {i}?", f" {letter}"] for letter in "ABCD"]) for i in range(N)
    ]  # say no text, so they stand in order
    assert read(write(tmp_path / "letters.jsonl", letters)).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN


def test_scores_by_text_are_of_these_texts_though_they_are_numbers(tmp_path: Path) -> None:
    data = Instances((replace(DATA.instances[0], options=("4", "1", "3", "0"), answer=0),), "choices")
    given = [{"id": "q0", "scores": {"0": 0.1, "1": 0.2, "3": 0.3, "4": 0.9}}]
    assert read(write(tmp_path / "p.jsonl", given), data=data).hits.tolist() == [1.0]


NO_ORDER = {
    "number": ({"prediction": 0}, "the text of none of its answers: the dataset has no order of answers"),
    "letter": ({"prediction": "A"}, "the text of none of its answers"),
    "list": ({"scores": [1, 0, 0, 0]}, "has a list under scores: the dataset has no order"),
}


@pytest.mark.parametrize(("given", "said"), NO_ORDER.values(), ids=NO_ORDER.keys())
def test_an_order_that_was_drawn_is_nobodys(given: dict[str, object], said: str, tmp_path: Path) -> None:
    """Where gold has a column of its own, a number means a place that no user can know."""
    data = replace(DATA, has_order=False)
    with pytest.raises(InputError, match=said):
        read(write(tmp_path / "p.jsonl", [{"id": id, **given} for id in IDS]), data=data)
    texts = [{"id": IDS[i], "prediction": options_of(i)[CHOSEN[i]]} for i in range(N)]
    assert (
        read(write(tmp_path / "t.jsonl", texts), data=data).hits.tolist()
        == read(write(tmp_path / "n.jsonl", [{"id": IDS[i], "prediction": CHOSEN[i]} for i in range(N)])).hits.tolist()
    )
    log = write(tmp_path / "log.jsonl", map(logged, range(N)))
    assert read(log, data=data).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN


@pytest.mark.parametrize("form", ["letters", "scores", "scores of all"])
def test_predictions_count_as_labels_do_where_options_are_blank(form: str, tmp_path: Path) -> None:
    """A perfect model was right in half of the questions, for predictions counted the options that are left."""
    lines = [f"q{i},Which {i}?,{'' if i % 2 else f'w {i}'},x {i},y {i},z {i},{'BCD'[i % 3]}" for i in range(12)]
    table = tmp_path / "data.csv"
    table.write_text("\n".join(["id,question,a,b,c,d,answer", *lines]) + "\n", encoding="utf-8")
    data = read_instances([table])
    given = []
    for i, one in enumerate(data.instances):
        scores = [float(k == one.answer) for k in range(len(one.options))]
        every = [0.5, *scores] if i % 2 else scores
        values = {
            "letters": {"prediction": "BCD"[i % 3]},
            "scores": {"scores": scores},
            "scores of all": {"scores": every},
        }
        given.append({"id": f"q{i}", **values[form]})
    assert read(write(tmp_path / "p.jsonl", given), data=data).hits.all()
    given[1] = {"id": "q1", "prediction": "A"}
    if form == "letters":
        with pytest.raises(InputError, match="which is a blank option of the row"):
            read(write(tmp_path / "p.jsonl", given), data=data)


def test_what_may_be_gold_is_not_taken_for_the_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", [{"id": id, "answer": 0, "response": 1} for id in IDS])
    with pytest.raises(InputError, match=r"answer, response could all be the answers\. Say --prediction-column NAME"):
        read(path)
    assert read(path, PredictionOptions(prediction_column="response")).shares.reshape(N, 4)[:, 1].all()


@pytest.mark.parametrize(
    "name", ["pred_label", "answer_pred", "prediction_idx", "answer-Predicted", "modelPrediction", "preds 1"]
)
@pytest.mark.parametrize("gold", ["label", "answer"])
def test_a_column_whose_name_says_that_it_was_predicted_comes_before_gold(name: str, gold: str, tmp_path: Path) -> None:
    """The gold column beside it was scored: 100 %."""
    rows = [{"id": one.id, gold: one.answer, name: CHOSEN[i]} for i, one in enumerate(DATA.instances)]
    assert read(write(tmp_path / "p.jsonl", rows)).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
    two = write(tmp_path / "two.jsonl", [row | {"preds": 0, "pred_2": 0, "y_pred": 1} for row in rows])
    assert read(two, PredictionOptions(prediction_column="y_pred")).shares.reshape(N, 4)[:, 1].all()
    unsure = write(tmp_path / "unsure.jsonl", [row | {"y_pred": 1} for row in rows])
    with pytest.raises(InputError, match=r"y_pred could all be the answers\. Say --prediction-column NAME"):
        read(unsure)


@pytest.mark.parametrize("name", ["model_output", "guess", "gpt4", "hyp", "system"])
@pytest.mark.parametrize("n", [3, N])
def test_a_copy_of_gold_is_not_taken_for_the_answers(name: str, n: int, tmp_path: Path) -> None:
    """It was: 100 %, whatever the model had said."""
    data = replace(DATA, instances=DATA.instances[:n])
    rows = [{"id": one.id, "label": one.answer, name: CHOSEN[i]} for i, one in enumerate(data.instances)]
    path = write(tmp_path / "p.jsonl", rows)
    with pytest.raises(InputError) as told:
        read(path, data=data)
    assert f"label is right in every row, as gold is, and {name} could be the answers." in str(told.value)
    assert read(path, PredictionOptions(prediction_column="label"), data).hits.all()
    of_data = Cells(data, beside=lambda: {name: [""] * n})  # nothing that was answered
    assert read_predictions(path, of_data, PredictionOptions(), name="m").hits.all()
    rows[0]["label"] = (data.instances[0].answer + 1) % 4
    assert read(write(tmp_path / "one wrong.jsonl", rows), data=data).hits.sum() == n - 1


@pytest.mark.parametrize("prefix", ["", "prob_", "score ", "logit-", "logprob_"])
@pytest.mark.parametrize("of", ["classes", "letters", "small letters"])
def test_columns_of_scores_may_be_called_by_classes_or_letters(of: str, prefix: str, tmp_path: Path) -> None:
    """They were refused, with advice that led nowhere."""
    data = nli() if of == "classes" else DATA
    names = {"classes": ("neutral", "Entailment", "contradiction"), "letters": "ABCD", "small letters": "abcd"}[of]

    def is_gold(one: Instance, name: str) -> bool:
        return name.lower() == (NLI[one.answer] if of == "classes" else "abcd"[one.answer])

    lines = [",".join([one.id, *(str(0.1 + is_gold(one, name) / 2) for name in names)]) for one in data.instances]
    path = tmp_path / "p.csv"
    path.write_text("\n".join([",".join(["id", *(f"{prefix}{name}" for name in names)]), *lines]) + "\n")
    assert read(path, data=data).hits.all()
    assert read(path, PredictionOptions(scores_column=f"{prefix}{names[0]}"), data).hits.all()
    both = tmp_path / "both.csv"
    both.write_text("".join(f"{line},{'label' if i == 0 else 0}\n" for i, line in enumerate(path.read_text().split())))
    if " " not in prefix:
        with pytest.raises(
            InputError, match=r"label, .* could all be the answers\. Say --prediction-column NAME or --sc"
        ):
            read(both, data=data)


def test_columns_of_options_are_no_scores(tmp_path: Path) -> None:
    """A to D may hold the options beside what was answered, numbers too."""
    rows = [{"id": id, **dict(zip("ABCD", options_of(i), strict=True)), "answer": 1} for i, id in enumerate(IDS)]
    path = write(tmp_path / "p.jsonl", rows)
    assert read(path).shares.reshape(N, 4)[:, 1].all()
    numbers = [{**row, **{name: str(i + k) for k, name in enumerate("ABCD")}} for i, row in enumerate(rows)]
    cells = Cells(DATA, beside=lambda: {name: [row[name] for row in numbers] for name in "ABCD"})
    path = write(tmp_path / "n.jsonl", numbers)
    assert read_predictions(path, cells, PredictionOptions(), name="m").shares.reshape(N, 4)[:, 1].all()


@pytest.mark.parametrize(("given", "there"), [("NFD", "NFC"), ("NFC", "NFD")])
@pytest.mark.parametrize("form", ["texts", "scores", "ids", "classes"])
def test_letters_with_accents_are_the_same_in_both_forms(
    form: str, given: Literal["NFC", "NFD"], there: Literal["NFC", "NFD"], tmp_path: Path
) -> None:
    """They were refused beside texts that look the same."""
    names = ("Äpfel", "Öl", "Übung", "Wört")

    def written(how: Literal["NFC", "NFD"]) -> tuple[str, ...]:
        return tuple(normalize(how, name) for name in names)

    made = tuple(replace(one, options=written(there), id=normalize(there, f"ü{one.id}")) for one in DATA.instances)
    data = replace(DATA, instances=made)
    if form == "classes":
        made = tuple(replace(one, options=("Which is it?",)) for one in made)
        data = replace(data, kind="classes", classes=written(there), instances=made)
    rows = []
    for one in made:
        id = normalize(given, one.id) if form == "ids" else one.id
        scores = {name: float(k == one.answer) for k, name in enumerate(written(given))}
        rows.append({"id": id, **({"scores": scores} if form == "scores" else {"pred": written(given)[one.answer]})})
    assert read(write(tmp_path / "p.jsonl", rows), data=data).hits.all()


def test_forms_of_a_letter_are_told_apart_where_the_dataset_does(tmp_path: Path) -> None:
    both = tuple(normalize(how, "é") for how in ("NFC", "NFD"))
    first = replace(DATA.instances[0], options=(*both, "a", "b"), answer=1, id=both[0])
    data = replace(DATA, instances=(first, replace(first, id=both[1])))
    rows = [{"id": id, "pred": both[k]} for k, id in enumerate(both)]
    assert read(write(tmp_path / "p.jsonl", rows), data=data).hits.tolist() == [0.0, 1.0]


STARS = ("1", "2", "3")


def test_numbers_are_names_where_classes_are_numbers(tmp_path: Path) -> None:
    """Of 0 to 2 for classes 1 to 3 some were taken as names and others as places, and a perfect model was right in a
    third."""
    data = replace(classes(30), classes=STARS)
    named = write(tmp_path / "named.jsonl", ({"id": one.id, "pred": 1 + one.answer} for one in data.instances))
    counted = write(tmp_path / "counted.jsonl", ({"id": one.id, "pred": one.answer} for one in data.instances))
    scores = write(
        tmp_path / "scores.jsonl",
        (
            {"id": one.id, "scores": {name: float(name == STARS[one.answer]) for name in STARS}}
            for one in data.instances
        ),
    )
    assert read(named, data=data).hits.all()
    assert read(scores, data=data).hits.all()
    with pytest.raises(InputError, match=r"has 0 under pred, which is none of 1, 2, 3: .* --prediction-base 0"):
        read(counted, data=data)
    assert read(counted, PredictionOptions(prediction_base="0"), data=data).hits.all()
    assert read(named, PredictionOptions(prediction_base="1"), data=data).hits.all()


@pytest.mark.parametrize("names", [["B", "A", "D", "C"], ["d", "c", "b", "a"], ["w", "x", "y", "z"]])
def test_predictions_may_say_what_the_dataset_calls_its_options(names: list[str], tmp_path: Path) -> None:
    """Letters were places for predictions, and names for gold: a perfect model was right in none."""
    rows = [
        {"id": f"q{i}", "question": f"Which {i}?", "options": {name: f"{name} {i}" for name in names}}
        | {"answer": names[i % 4]}
        for i in range(12)
    ]
    data = read_instances([write(tmp_path / "data.jsonl", rows)])
    given = ({"id": row["id"], "prediction": row["answer"]} for row in rows)
    assert read(write(tmp_path / "p.jsonl", given), data=data).hits.all()
    numbers = ({"id": f"q{i}", "prediction": i % 4} for i in range(12))
    assert read(write(tmp_path / "n.jsonl", numbers), data=data).hits.all()


@pytest.mark.parametrize("header", ["", "Unnamed: 0"])
def test_an_index_as_pandas_writes_it_is_not_passed_over(header: str, tmp_path: Path) -> None:
    order = np.random.default_rng(3).permutation(N).tolist()
    path = tmp_path / "p.csv"
    path.write_text(f"{header},pred\n" + "".join(f"{k},{CHOSEN[k]}\n" for k in order), encoding="utf-8")
    if header:
        assert read(path, data=NAMELESS).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN
        return
    with pytest.raises(InputError, match="column without a name counts rows in another order"):
        read(path, data=NAMELESS)
    path.write_text(",pred\n" + "".join(f"{k},{CHOSEN[k]}\n" for k in range(N)), encoding="utf-8")
    assert read(path, data=NAMELESS).shares.reshape(N, 4).argmax(axis=1).tolist() == CHOSEN


def test_an_answer_with_a_comma_and_a_row_without_an_id_are_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("answer\nred\nred, or blue\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 3 has 2 cells, where one is due"):
        read(path, data=NAMELESS)
    rows = ({"id": id if i > 2 else None, "pred": 0} for i, id in enumerate(IDS))
    with pytest.raises(InputError, match=r"3 ids of data are missing .*; 3 rows have no id"):
        read(write(tmp_path / "p.jsonl", rows))


@pytest.mark.parametrize("other", [{"scores": [0.1, 0.2, 0.3, 0.4]}, {"pred": 1}, {"logit0": 1.0, "logit1": 2.0}])
def test_of_two_columns_that_can_only_be_predicted_one_is_named(other: dict[str, object], tmp_path: Path) -> None:
    """The first was taken without a word, whatever the other said."""
    path = write(tmp_path / "p.jsonl", [{"id": id, "prediction": 0, **other} for id in IDS])
    flag = "column NAME" if "pred" in other else "column NAME or --scores-column NAME"
    with pytest.raises(InputError, match=rf"prediction, .* could all be the answers\. Say --prediction-{flag}"):
        read(path)
    assert read(path, PredictionOptions(prediction_column="prediction")).shares.reshape(N, 4)[:, 0].all()


def test_scores_by_instance_are_scores_of_all_answers() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((N, 4))
    expected = swag_af.scores_of(DATA, scores.reshape(-1)).figure("accuracy").value
    assert swag_af.scores_of(DATA, scores).figure("accuracy").value == expected
    assert swag_af.scores_of(DATA, scores.tolist()).figure("accuracy").value == expected
    with pytest.raises(InputError, match="160 in all, and 40x3 are given"):
        swag_af.scores_of(DATA, scores[:, :3])


def test_scores_of_rows_with_other_numbers_of_options_may_be_lists() -> None:
    some = replace(DATA.instances[1], options=options_of(1)[:2], answer=1)
    data = replace(DATA, instances=(DATA.instances[0], some))
    assert swag_af.scores_of(data, [[0.1, 0.2, 0.9, 0.3], [0.0, 1.0]]).figure("accuracy").value == pytest.approx(
        ((data.instances[0].answer == 2) + 1) / 2
    )


def test_none_within_lists_is_no_score() -> None:
    """It was a TypeError of numpy's; a row of None alone has no prediction."""
    scores: list[list[float | None]] = [[0.1, 0.2, 0.3, 0.4] for _ in range(N)]
    scores[0] = [None] * 4
    assert swag_af.scores_of(DATA, scores).n_missing == 1
    scores[0] = [0.1, None, 0.3, 0.4]
    with pytest.raises(InputError, match="some scores of an instance are no numbers"):
        swag_af.scores_of(DATA, scores)


@pytest.mark.parametrize(
    "given",
    [
        [["a", "b", "c", "d"]] * N,
        [["0.1", "0.2", "0.3", None]] * N,
        [*([[0.1, 0.2, 0.3, 0.4]] * (N - 1)), None],
        np.full((N, 4), 1j),
        [{0}] * N,
        [{"a": 1}] * N,
        [[10**400, 0.0, 0.0, 0.0]] * N,
    ],
)
def test_what_is_no_number_is_refused_in_one_line(given: Any) -> None:
    """Complex numbers scored 0, and others were errors of numpy's."""
    with pytest.raises(InputError, match=r"^predictions: numbers of answers or scores of all are due"):
        swag_af.scores_of(DATA, given)


@pytest.mark.parametrize("kind", ["uint8", "uint64", "int16"])
def test_whole_numbers_of_any_kind_are_answers(kind: str) -> None:
    assert swag_af.scores_of(DATA, DATA.answers.astype(kind)) == swag_af.scores_of(DATA, DATA.answers)


def test_of_no_answer_at_all_it_is_not_said_that_it_is_right(tmp_path: Path) -> None:
    """It was: a file in which every answer is null, and another column, "is right in every row, as gold is"."""
    path = write(tmp_path / "p.jsonl", [{"id": one.id, "answer": None, "x": i} for i, one in enumerate(DATA.instances)])
    assert read(path, PredictionOptions(allow_missing=True)).n_missing == N


def test_a_figure_that_is_not_there_is_an_error_of_ours() -> None:
    with pytest.raises(SwagAfError, match="acc: not among the figures, accuracy") as fault:
        swag_af.scores_of(DATA, np.zeros(N, np.int64)).figure("acc")
    assert isinstance(fault.value, KeyError)


def test_named_columns_of_a_log_are_read(tmp_path: Path) -> None:
    """Flags that named its columns did nothing."""
    other = [[-1.0 if k == (CHOSEN[i] + 1) % 4 else -5.0, False] for i in range(N) for k in range(4)]
    rows = [
        logged(i, filtered_resps=other[4 * i : 4 * i + 4], mine=(CHOSEN[i] + 2) % 4, qid=IDS[N - 1 - i], doc_id=i)
        for i in range(N)
    ]
    path = write(tmp_path / "samples.jsonl", rows)

    def chosen(**named: str) -> list[int]:
        return read(path, PredictionOptions(**named)).shares.reshape(N, 4).argmax(axis=1).tolist()

    assert chosen() == [(i + 1) % 4 for i in CHOSEN]
    assert chosen(scores_column="resps") == CHOSEN
    assert chosen(prediction_column="mine", prediction_base="0") == [(i + 2) % 4 for i in CHOSEN]
    assert chosen(scores_column="resps", prediction_id="qid") == CHOSEN[::-1]


@pytest.mark.parametrize("named", ["prediction_column", "prediction_id", "scores_column"])
@pytest.mark.parametrize("form", ["log", "no header"])
def test_a_flag_that_names_no_column_of_any_file_is_refused(named: str, form: str, tmp_path: Path) -> None:
    questions = dataset(tmp_path / "q.jsonl", DATA)
    bare = tmp_path / "bare.csv"
    bare.write_text(as_csv("", lambda i: str(CHOSEN[i])).lstrip())
    path = write(tmp_path / "samples.jsonl", map(logged, range(N))) if form == "log" else bare
    options = ScoreOptions(questions, (path,), predicted=replace(PredictionOptions(), **{named: "zz"}))
    with pytest.raises(InputError, match=rf"--{named.replace('_', '-')} zz: no file has such a column"):
        swag_af.score(options)


def test_a_log_beside_a_file_whose_column_is_named_is_read_as_ever(tmp_path: Path) -> None:
    questions = dataset(tmp_path / "q.jsonl", DATA)
    mine = write(tmp_path / "m.jsonl", ({"id": id, "a": k, "b": 0} for id, k in zip(IDS, CHOSEN, strict=True)))
    log = write(tmp_path / "samples.jsonl", map(logged, range(N)))
    found = swag_af.score(ScoreOptions(questions, (mine, log), predicted=PredictionOptions(prediction_column="a")))
    assert found.models[0].figures == found.models[1].figures
