"""Claims about reading queries and responses: no row decides alone which columns there are."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import write

from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.matching.options import PairColumns
from swag_af.matching.rows.items import items_of
from swag_af.matching.rows.reading import read_items


def rows(n: int = 40) -> list[dict[str, Any]]:
    return [{"query": f"Why {i}?", "response": f"since it is {i}.", "group": f"g{i % 4}"} for i in range(n)]


def written(path: Path, records: list[dict[str, Any]]) -> list[Path]:
    write_jsonl(path / "rows.jsonl", records)
    return [path / "rows.jsonl"]


@pytest.mark.parametrize("n_without", [1, 25])
def test_groups_count_though_the_first_rows_have_none(n_without: int, tmp_path: Path) -> None:
    made = rows()
    for row in made[:n_without]:
        del row["group"]
    items = read_items(written(tmp_path, made))
    assert [item.context.video for item in items.rows] == [row.get("group", "") for row in made]
    assert f"{n_without} of 40 rows have no group, and are by themselves" in items.notes[0]


def test_rows_without_any_groups_are_told(tmp_path: Path) -> None:
    made = [{name: row[name] for name in ("query", "response")} for row in rows()]
    assert "no column of groups" in read_items(written(tmp_path, made)).notes[0]


def test_rationales_and_objects_may_be_missing_in_some_rows(tmp_path: Path) -> None:
    made = rows()
    made[3] |= {"rationale": "it says so.", "objects": ["person"]}
    items = read_items(written(tmp_path, made))
    assert [i for i, item in enumerate(items.rows) if item.rationale and item.objects] == [3]


def test_a_column_that_is_named_and_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no column grup .*Did you mean group"):
        read_items(written(tmp_path, rows()), PairColumns(group_column="grup"))


@pytest.mark.parametrize("column", ["query", "response"])
@pytest.mark.parametrize("value", ["", " ", None, "\u200b"])
def test_an_empty_cell_in_the_first_row_is_told_with_its_row(column: str, value: str | None, tmp_path: Path) -> None:
    made = rows()
    made[0][column] = value
    with pytest.raises(InputError, match=rf"line 1 has (nothing|no text) under {column}"):
        read_items(written(tmp_path, made))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"sent1": "He goes.", "start": "He", "gold": "\u200b\u2060"}, "line 4 has nothing .* seen as gold"),
        (
            {"question": "Why?", "choices": ["\u200b", "it is"], "label": 0},
            "line 4 .* seen as its right answer",
        ),
    ],
)
def test_an_answer_that_nobody_can_see_is_told_with_its_row(made: dict[str, Any], told: str, tmp_path: Path) -> None:
    """It was found when all was scored and matched, by the pool."""
    rest = contexts(3) if "gold" in made else questions(3)
    (tmp_path / "rows.jsonl").write_text("\n")  # blank lines count
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in (*rest[:2], made, rest[2])))
    with pytest.raises(InputError, match=told):
        read_items([tmp_path / "rows.jsonl"])


def test_a_rationale_that_nobody_can_see_is_none(tmp_path: Path) -> None:
    made = [row | {"rationale": "\u200b" if i % 2 else f"it says {i}."} for i, row in enumerate(rows())]
    assert [bool(item.rationale) for item in read_items(written(tmp_path, made)).rows] == [True, False] * 20


@pytest.mark.parametrize("names", [("id", "query", "response", "video_id"), ("ID", "Query", "RESPONSE", "Video ID")])
def test_columns_are_found_by_their_names_however_these_are_written(names: tuple[str, ...], tmp_path: Path) -> None:
    """`ID` was no id, and nobody was told."""
    values = [(f"q{i}", f"Why {i}?", f"since it is {i}.", f"v{i % 4}") for i in range(40)]
    path = written(tmp_path, [dict(zip(names, row, strict=True)) for row in values])
    rows_of = read_items(path).rows
    found = [(row.context.id, row.query, row.response, row.context.video) for row in rows_of]
    assert found == sorted(values)
    counted = read_items(path, reading=ReadingOptions(columns=InstanceColumns(id_column=""))).rows
    assert [row.context.id for row in counted[:2]] == ["rows.jsonl:00000000", "rows.jsonl:00000001"]


def test_rows_that_have_wrong_answers_are_no_pairs_however_the_column_is_written(tmp_path: Path) -> None:
    made = [
        {"Question": f"Why {i}?", "Choices": [f"since it is {i}.", "no reason."], "Answer": f"since it is {i}."}
        for i in range(40)
    ]
    (note, *_) = read_items(written(tmp_path, made)).notes
    assert "read as queries and responses" not in note


def test_short_answers_under_the_documented_names_are_answers(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, [row | {"response": "A"} for row in rows()]))
    assert {item.response for item in items.rows} == {"A"}


def test_questions_without_a_question_are_refused(tmp_path: Path) -> None:
    made = [{"item stem": f"Why {i}?", "choices": [f"a {i}", "c d"], "label": 0} for i in range(12)]
    with pytest.raises(InputError, match=r"no column of questions.*--context-column.*not read: item stem"):
        read_items(written(tmp_path, made))
    with pytest.raises(InputError, match=r"it has ask, reply.*--query-column and --response-column"):
        read_items(written(tmp_path, [{"ask": f"Why {i}?", "reply": f"since {i}"} for i in range(12)]))


def questions(n: int = 40) -> list[dict[str, Any]]:
    return [
        {"question": f"Why {i}?", "choices": [f"so {i}", "it is"], "label": 0, "clip": f"c{i % 4}"} for i in range(n)
    ]


@pytest.mark.parametrize(
    ("made", "pairs", "reading", "refused"),
    [
        (rows(), {}, ReadingOptions(columns=InstanceColumns(video_column="group")), "--video-column says nothing"),
        (rows(), {}, ReadingOptions(mask="since", labels_file=Path("x")), "--labels-file, --mask say nothing"),
        (rows(), {}, ReadingOptions(columns=InstanceColumns(media_column="imge")), "no column imge"),
        (rows(), {}, ReadingOptions(columns=InstanceColumns(id_column="nosuch")), "no column nosuch"),
        (questions(), {"group_column": "clip"}, ReadingOptions(), r"--video-column\), of which --group-column says"),
        (questions(), {"objects_column": "nosuch"}, ReadingOptions(), "--objects-column says nothing"),
    ],
)
def test_flags_of_another_kind_of_file_are_refused(
    made: list[dict[str, Any]], pairs: dict[str, str], reading: ReadingOptions, refused: str, tmp_path: Path
) -> None:
    """They were taken and ignored: clips that `--video-column` named were parted by the folds."""
    path = written(tmp_path, made)
    assert len(read_items(path)) == 40
    with pytest.raises(InputError, match=refused):
        read_items(path, PairColumns(**pairs), reading)


def test_flags_of_columns_are_refused_of_contexts(tmp_path: Path) -> None:
    made = [{"id": f"{i}", "sent1": "A man sits.", "start": "He", "gold": f"eats {i}."} for i in range(40)]
    path = written(tmp_path, made)
    assert len(read_items(path)) == 40
    with pytest.raises(InputError, match=r"contexts, whose form is fixed, of which --group-column says nothing"):
        read_items(path, PairColumns(group_column="video"))


def contexts(n: int = 40) -> list[dict[str, Any]]:
    return [{"sent1": f"A man sits on {i}.", "start": "He", "gold": f"eats {i}."} for i in range(n)]


def table(path: Path, records: list[dict[str, Any]]) -> list[Path]:
    with path.open("w", newline="") as file:
        made = csv.DictWriter(file, records[0])
        made.writeheader()
        made.writerows(records)
    return [path]


def test_contexts_without_ids_are_numbered(tmp_path: Path) -> None:
    """Two of them were refused as two of one id, the empty one."""
    items = read_items(written(tmp_path, [row | ({"id": "own"} if i == 3 else {}) for i, row in enumerate(contexts())]))
    assert [item.context.id for item in items.rows[:2]] == ["own", "rows.jsonl:00000000"]
    assert len(items) == 40
    (tmp_path / "more").mkdir()
    both = [*written(tmp_path, contexts(3)), *written(tmp_path / "more", contexts(2))]
    assert len({item.context.id for item in read_items(both).rows}) == 5


def test_contexts_in_a_table_are_refused_as_such(tmp_path: Path) -> None:
    """They were read as JSONL, and the first line was no valid JSON."""
    path = table(tmp_path / "contexts.csv", contexts())
    with pytest.raises(
        InputError, match=r"has the columns of contexts \(sent1, start, gold\), which are read as JSONL"
    ):
        read_items(path)


def test_wrong_answers_in_numbered_columns_make_questions_and_no_contexts(tmp_path: Path) -> None:
    path = table(tmp_path / "questions.csv", [row | {"negative0": "a", "negative1": "b"} for row in contexts()])
    assert {(one.query, one.response) for one in read_items(path).rows} == {
        (f"A man sits on {i}. He", f"eats {i}.") for i in range(40)
    }


def test_objects_in_one_text_are_parted_at_commas(tmp_path: Path) -> None:
    """They were one kind, called person, person, chair."""
    made = [row | {"objects": "person, person,potted plant"} for row in rows()]
    made[1]["objects"] = ""
    made[2]["objects"] = '["person", "chair"]'
    items = read_items(table(tmp_path / "rows.csv", made))
    assert [item.objects for item in items.rows[:3]] == [
        ("person", "person", "potted plant"),
        (),
        ("person", "chair"),
    ]
    assert items.rows[3].objects == items.rows[0].objects


def test_media_that_are_named_are_kept(tmp_path: Path) -> None:
    path = written(tmp_path, [row | {"shot": f"{i}.jpg"} for i, row in enumerate(rows())])
    items = read_items(path, reading=ReadingOptions(columns=InstanceColumns(media_column="shot")))
    assert items.rows[3].media == "3.jpg"


@pytest.mark.parametrize("odd", ["7", 7, "A"])
def test_one_short_answer_makes_no_labels(odd: object, tmp_path: Path) -> None:
    """By one among the first twenty the whole file was taken for texts with classes."""
    made = [{"question": f"How many are {i}?", "answer": f"there are {i}."} for i in range(40)]
    path = written(tmp_path, [*made[:6], made[6] | {"answer": odd}, *made[7:]])
    if isinstance(odd, str):
        assert read_items(path).rows[6].response == odd
    else:
        with pytest.raises(InputError, match="line 7 has a number under answer, where a text is due"):
            read_items(path)


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([*range(40)], "line 1 has a number under answer, where a text is due"),
        ([[f"since {i}"] for i in range(40)], "line 1 has a list under answer, where a text is due"),
        ([f"{i}" for i in range(40)], "answer seems to hold right answers alone.*--query-column and --response-column"),
    ],
)
def test_answers_that_are_no_texts_are_told_and_no_wrong_ones_asked_for(
    answers: list[Any], told: str, tmp_path: Path
) -> None:
    """Right answers alone are what is matched; that wrong ones are missing was the fault that was told."""
    path = written(tmp_path, [{"question": f"Why {i}?", "answer": answer} for i, answer in enumerate(answers)])
    with pytest.raises(InputError, match=told):
        read_items(path)


def test_ids_that_occur_twice_are_told_with_their_rows(tmp_path: Path) -> None:
    (path,) = written(tmp_path, [row | {"id": f"q{i % 39}"} for i, row in enumerate(rows())])
    with pytest.raises(InputError, match=rf"^{path}: line 40 has the id 'q0' of line 1\. Make ids unique"):
        read_items([path])
    other = path.with_name("other.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:39]))
    other.write_text(path.read_text())
    with pytest.raises(InputError, match=rf"^{other}: line 1 has the id 'q0' of {path}: line 1\."):
        read_items([path, other])


def test_ids_of_contexts_that_occur_twice_are_told_with_their_lines(tmp_path: Path) -> None:
    (path,) = written(tmp_path, [row | {"id": "same"} for row in contexts(3)])
    with pytest.raises(InputError, match="line 2 has the id 'same' of line 1"):
        read_items([path])


def test_answers_that_say_none_and_rows_that_are_there_twice_are_told_and_kept(tmp_path: Path) -> None:
    given = rows()
    for i, text in ((2, "N/A"), (4, "null"), (7, "N/A")):
        given[i]["response"] = text
    (path,) = written(tmp_path, [*given, given[30], given[31] | {"response": "another"}])
    items = read_items([path])
    assert len(items) == 42
    assert items.notes[1:] == (
        f"2 rows with the answer 'N/A' (the first: {path.name}, line 3), 1 row with the answer 'null' (the first: "
        f"{path.name}, line 5): remove them if that is no answer",
        f"1 row with question, answer and group of an earlier one (the first: {path.name}, line 41, as {path.name}, "
        "line 31): remove them",
    )
    assert len(read_items(written(tmp_path, rows())).notes) == 1


@pytest.mark.parametrize(
    ("queries", "responses", "groups", "told"),
    [
        (["a?", "b?"], ["c", " "], None, "row 1 its response is empty"),
        (["a?", "b?"], ["c", "\u200b"], None, "row 1 its response is empty"),
        (["a?", None], ["c", "d"], None, "row 1 its query is NoneType, no text"),
        (["a?", "b?"], ["c", float("nan")], None, "row 1 its response is float, no text"),
        (["a?", "b?"], ["c", "d"], ["g"], "2 queries, 2 responses and 1 groups"),
        (["a?", "b?"], ["c"], None, "2 queries, 1 responses: give as many"),
        ([], [], None, "no queries"),
    ],
)
def test_texts_in_memory_are_checked(queries: list[Any], responses: list[Any], groups: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        items_of(queries, responses, groups)


def test_groups_in_memory_may_be_an_array() -> None:
    items = items_of(["a?", "b?"], ["c", "d"], np.array(["g", "h"]))
    assert [item.context.video for item in items.rows] == ["g", "h"]


def test_a_tag_of_an_object_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Numbered over all objects, the third of person, person, chair was a chair of its own: [chair1] and [chair3]."""
    made = rows()
    made[3] |= {"objects": ["person", "person", "chair"], "response": "since [person2] sits on [chair1]."}
    assert read_items(written(tmp_path, made)).rows[3].objects == ("person", "person", "chair")
    for column in ("query", "response", "rationale"):
        with pytest.raises(InputError, match=r"line 4 names \[chair3\], and its objects number from 1 within each"):
            read_items(
                written(tmp_path, [*made[:3], made[3] | {column: "since [person2] sits on [chair3]."}, *made[4:]])
            )


def test_names_of_persons_go_with_no_answer(tmp_path: Path) -> None:
    made = [{"question": f"Why {i}?", "choices": ["so", "no"], "label": 0} for i in range(40)]
    with pytest.raises(InputError, match=r"--persons names: a name would go with its answer into scenes where nobody"):
        read_items(written(tmp_path, made), reading=ReadingOptions(persons="names"))


@pytest.mark.parametrize(
    ("names", "unread"), [(("question", "Context"), "Context"), (("instruction", "input", "context"), "input, context")]
)
def test_columns_that_may_be_of_the_query_and_are_not_read_are_named(
    names: tuple[str, ...], unread: str, tmp_path: Path
) -> None:
    """Of instruction and input the first alone was read, and nothing said so."""
    path = tmp_path / "q.jsonl"
    rows = [{name: f"The {name} of {i}." for name in names} | {"output": f"It is number {i}."} for i in range(9)]
    write(path, rows)
    (said,) = read_items([path]).notes
    assert f"query = {names[0]}, response = output; not read: {unread} (--query-column names one column: " in said
    (named,) = read_items([path], PairColumns(query_column=names[1])).notes
    assert "not read" not in named
