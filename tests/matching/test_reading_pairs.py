"""Claims about reading queries and responses: no row decides alone which columns there are."""

from pathlib import Path
from typing import Any

import pytest

from swag_af.data.errors import InputError
from swag_af.data.files import write_jsonl
from swag_af.matching.options import PairColumns
from swag_af.matching.reading import read_items


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
@pytest.mark.parametrize("value", ["", " ", None])
def test_an_empty_cell_in_the_first_row_is_told_with_its_row(column: str, value: str | None, tmp_path: Path) -> None:
    made = rows()
    made[0][column] = value
    with pytest.raises(InputError, match=rf"line 1 has (nothing|no text) under {column}"):
        read_items(written(tmp_path, made))


def test_short_answers_under_the_documented_names_are_answers(tmp_path: Path) -> None:
    items = read_items(written(tmp_path, [row | {"response": "A"} for row in rows()]))
    assert {item.response for item in items.rows} == {"A"}


def test_questions_without_a_question_are_refused(tmp_path: Path) -> None:
    made = [{"item stem": f"Why {i}?", "choices": [f"a {i}", "c d"], "label": 0} for i in range(12)]
    with pytest.raises(InputError, match=r"no column of questions.*--context-column.*not read: item stem"):
        read_items(written(tmp_path, made))
    with pytest.raises(InputError, match=r"it has ask, reply.*--query-column and --response-column"):
        read_items(written(tmp_path, [{"ask": f"Why {i}?", "reply": f"since {i}"} for i in range(12)]))
