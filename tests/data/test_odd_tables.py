"""Tables that are not as most are: labels from elsewhere, options that come late, nulls, other scripts."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from folders import write
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.captions.columns import videos_of_table
from swag_af.data.captions.options import CaptionColumns, ContextsOptions
from swag_af.data.context import Context
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.data.pool.options import Columns, PoolOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool
from swag_af.data.tables.sources import open_source
from swag_af.data.text.wording import text_key

Rows = list[dict[str, Any]]


def written(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(path, rows)


def read(folder: Path, rows: Rows, **options: Any) -> Instances:
    return read_instances(written(folder / "rows.jsonl", rows), ReadingOptions(**options))


def answers(made: Instances) -> list[str]:
    texts = made.classes if made.kind == "classes" else ()
    return [(texts or one.options)[one.answer] for one in made.instances]


def test_labels_of_a_file_of_their_own_are_read_and_not_those_of_the_rows(tmp_path: Path) -> None:
    """Old ones in a column of a better name were."""
    rows = [{"id": i, "premise": f"a {i}", "hypothesis": f"b {i}", "gold_label": "yes"} for i in range(20)]
    labels = written(tmp_path / "labels.jsonl", [{"id": i, "label": ("no", "maybe")[i % 2]} for i in range(20)])
    assert answers(read(tmp_path, rows, labels_file=labels)) == ["no", "maybe"] * 10


def test_a_labels_file_of_the_same_name_is_told_apart_from_what_it_labels(tmp_path: Path) -> None:
    """Its hash stood in place of the other's."""
    rows = written(tmp_path / "test.jsonl", [{"id": i, "premise": f"a {i}", "hypothesis": f"b {i}"} for i in range(9)])
    labels = written(tmp_path / "labels" / "test.jsonl", [{"id": i, "label": "yn"[i % 2]} for i in range(9)])
    made = read_instances([rows], ReadingOptions(labels_file=labels))
    assert made.files == {"test.jsonl": sha256_file(rows), "labels/test.jsonl": sha256_file(labels)}


def test_splits_that_write_their_classes_otherwise_are_refused(tmp_path: Path) -> None:
    """They were four classes."""
    paths = [
        written(
            tmp_path / f"{split}.jsonl",
            [{"premise": f"a {i}", "hypothesis": f"b {i}", "label": classes[i % 2]} for i in range(9)],
        )
        for split, classes in (("train", ("entailment", "neutral")), ("val", (0, 1)))
    ]
    with pytest.raises(
        InputError, match=r"val.jsonl: its classes are 0, 1, those of .*train.jsonl entailment, neutral"
    ):
        read_instances(paths)


def test_blanks_beside_the_names_of_groups_make_no_others(tmp_path: Path) -> None:
    """One video was in two folds."""
    rows: Rows = [
        {"question": f"q {i}", "options": [f"a{i}", f"b{i}"], "label": 0, "video": "v1 "[: 2 + i % 2]} for i in range(9)
    ]
    assert {one.group for one in read(tmp_path, rows).instances} == {"v1"}


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_late_row_that_leaves_out_an_option_keeps_the_places_of_others(tmp_path: Path, form: str) -> None:
    """In a JSON list those behind it moved up, and gold with them, where only later rows have so many options."""
    rows: Rows = [{"question": f"q {i}?", "option0": f"a {i}", "option1": f"b {i}", "label": i % 2} for i in range(210)]
    rows.append({"question": "five?", **{f"option{i}": "abcde"[i] for i in range(5)}, "label": 4})
    rows.append({"question": "four?", **{f"option{i}": "abcde"[i] for i in (0, 1, 3, 4)}, "label": 3})
    path = tmp_path / f"rows.{form}"
    path.write_text(json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert answers(read_instances([path]))[-2:] == ["e", "d"]


def test_a_table_of_a_header_and_blank_lines_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("id,question,a,b,c,label\n\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"blank\.csv: no rows in it"):
        read_instances([path])


def test_options_that_come_late_are_not_taken_for_classes(tmp_path: Path) -> None:
    rows: Rows = [{"question": f"q {i}", "options": ["yes", "no"], "label": i % 2} for i in range(220)]
    late = [{"question": f"r {i}", "options": [f"a{i}", f"b{i}"], "label": 0} for i in range(20)]
    with pytest.raises(InputError, match=r"has other options than the first rows.*--kind choices"):
        read(tmp_path, rows + late)
    assert read(tmp_path, rows + late, kind="choices").kind == "choices"
    assert read(tmp_path, rows).classes == ("no", "yes")


def test_ten_lettered_columns_are_ten_options(tmp_path: Path) -> None:
    letters = "ABCDEFGHIJ"
    rows = [{"q": f"what {i}?", **{c: f"{c}{i}" for c in letters}, "answer": letters[i % 10]} for i in range(30)]
    made = read(tmp_path, rows, columns=InstanceColumns(context_column="q"))
    assert {len(one.options) for one in made.instances} == {10}
    assert answers(made) == [f"{letters[i % 10]}{i}" for i in range(30)]


def test_files_of_one_name_are_splits_by_their_folders(tmp_path: Path) -> None:
    rows = [{"question": f"q {i}", "options": [f"a{i}", f"b{i}"], "label": i % 2} for i in range(6)]
    paths = [written(tmp_path / split / "0000.jsonl", rows) for split in ("train", "validation")]
    assert {one.split for one in read_instances(paths).instances} == {"train", "validation"}


def test_passages_whose_ids_repeat_are_read(tmp_path: Path) -> None:
    row = {"id": "1.txt", "article": "An article.", "questions": ["q?", "r?"], "answers": ["A", "B"]}
    row["options"] = [["a", "b", "c", "d"], ["e", "f", "g", "h"]]
    made = read(tmp_path, [row | {"article": f"Article {i}."} for i in range(3)])
    assert len({one.id for one in made.instances}) == 6
    assert answers(made) == ["a", "f"] * 3


def test_an_option_that_is_null_is_none(tmp_path: Path) -> None:
    rows = [{"question": f"q {i}", "options": {"A": f"x{i}", "B": f"y{i}", "C": None}, "answer": "B"} for i in range(4)]
    made = read(tmp_path, rows)
    assert answers(made) == [f"y{i}" for i in range(4)]
    assert {len(one.options) for one in made.instances} == {2}


@pytest.mark.parametrize("base", ["auto", "text", "letters"])
def test_a_label_that_is_the_text_of_two_options_is_the_first(tmp_path: Path, base: str) -> None:
    """An audit looks for such options, and could not read them."""
    rows = [{"question": f"q {i}?", "options": [f"no {i}", "so", "so"], "answer": "so"} for i in range(4)]
    made = read(tmp_path, rows, label_base=base)
    assert [one.answer for one in made.instances] == [1] * 4


def test_labels_that_are_texts_are_no_letters(tmp_path: Path) -> None:
    rows = [{"question": f"which group {i}?", "options": ["B", "A", "AB"], "answer": "A"} for i in range(4)]
    with pytest.raises(
        InputError, match=r"may stand for several of its options: .* Say which with --label-base letters or text"
    ):
        read(tmp_path, rows)
    assert answers(read(tmp_path, rows, label_base="text")) == ["A"] * 4


def test_a_passage_may_be_null_in_some_rows(tmp_path: Path) -> None:
    rows = [{"passage": "p." if i else None, "question": f"q {i}", "options": ["a", "b"], "label": 0} for i in range(4)]
    made = read(tmp_path, rows, kind="choices")
    assert [one.context for one in made.instances] == ["q 0", "p. q 1", "p. q 2", "p. q 3"]


def test_floats_are_the_names_that_options_have(tmp_path: Path) -> None:
    choices = {"label": ["1", "2", "3"], "text": ["a", "b", "c"]}
    rows = [{"question": f"q {i}", "choices": choices, "answerKey": float(1 + i % 3)} for i in range(6)]
    assert answers(read(tmp_path, rows, kind="choices")) == ["a", "b", "c"] * 2


def lettered(n: int, last: Callable[[int], bool]) -> list[dict[str, Any]]:
    """Questions with options A, B, C and, in some rows, D; the last one that is there is right."""
    rows = []
    for i in range(n):
        letters = "ABCD" if last(i) else "ABC"
        rows.append({"question": f"q {i}", **{x: f"{x.lower()}{i}" for x in letters}, "answer": letters[-1]})
    return rows


def test_rows_may_lack_the_last_of_lettered_columns(tmp_path: Path) -> None:
    """They were read as texts with the classes A to D where most rows lacked one."""
    made = read(tmp_path, lettered(9, lambda i: i % 3 == 1))
    assert made.kind == "choices"
    assert answers(made) == [f"{'d' if i % 3 == 1 else 'c'}{i}" for i in range(9)]
    assert [len(one.options) for one in made.instances] == [3, 4, 3] * 3


LACKING = [(0, "ending", 0), (2, "ending", 0), (0, "a", 1), (1, "a", 1), (3, "option_", 1)]


def numbered(stem: str, first: int, lost: int) -> Rows:
    """Questions with four options, of which every fifth row lacks one that is not right."""
    rows: Rows = []
    for i in range(30):
        options = {f"{stem}{first + k}": f"says {i} words and {k} more." for k in range(4)}
        rows.append({"question": f"What is {i}?", **options, "label": first + i % 4})
        if i % 5 == 3 and i % 4 != lost:
            del rows[-1][f"{stem}{first + lost}"]
    return rows


@pytest.mark.parametrize(("lost", "stem", "first"), LACKING)
def test_a_numbered_column_that_a_row_lacks_moves_no_option_up(
    tmp_path: Path, lost: int, stem: str, first: int
) -> None:
    """The label was taken for that of the option after it."""
    made = read(tmp_path, numbered(stem, first, lost))
    assert answers(made) == [f"says {i} words and {i % 4} more." for i in range(30)]
    (places,) = {one.places for one in made.instances if len(one.options) == 3}
    assert places == (() if lost == 3 else tuple(k for k in range(4) if k != lost))


@pytest.mark.parametrize(("lost", "stem", "first"), LACKING)
def test_a_pool_keeps_the_places_of_such_options_too(tmp_path: Path, lost: int, stem: str, first: int) -> None:
    path = written(tmp_path / "rows.jsonl", numbered(stem, first, lost))
    columns = Columns(context_column="question", endings_column=stem)
    made = pool(PoolOptions((path,), tmp_path / "pool", columns=columns, tagger="none"))
    assert [context.gold for context in made.contexts] == [f"says {i} words and {i % 4} more." for i in range(30)]


OMITTING: Rows = [
    {"question": "What is it?", "ending0": "one.", "ending1": "two.", "label": 0},
    {"question": "Who is it?", "ending1": "he.", "ending2": "she.", "label": 2},
    {"question": "Where is it?", "ending0": "a.", "ending1": "b.", "ending3": "d.", "ending4": "e.", "label": 3},
    {"question": "When is it?", **{f"ending{i}": f"at {i}." for i in range(5)}, "label": 4},
]
"""Of which each but the last leaves out endings, some before the right one."""


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(OMITTING), n_before=st.sampled_from([0, 200]))
def test_rows_that_leave_out_options_are_read_alike_in_any_order(order: Rows, n_before: int) -> None:
    """Where the first rows were narrower, those after an omitted option moved up, and the label meant the next."""
    narrow = [{"question": f"q {i}", "ending0": f"a {i}.", "ending1": f"b {i}.", "label": 1} for i in range(n_before)]
    right = {"What is it?": "one.", "Who is it?": "she.", "Where is it?": "d.", "When is it?": "at 4."}
    with TemporaryDirectory() as folder:
        path = written(Path(folder) / "rows.jsonl", [*narrow, *order])
        instances = read_instances(path).instances
        named = Columns(context_column="question")
        made = pool(PoolOptions((path,), Path(folder) / "pool", columns=named, tagger="none"))
        golds = {context.sent1: context.gold for context in made.contexts}
    assert {one.context: one.options[one.answer] for one in instances}.items() >= right.items()
    assert golds.items() >= right.items()


@pytest.mark.parametrize("numbers", [(10, 20, 30), (1, 3, 5), (0, 1, 3), (2019, 2021, 2150)])
def test_numbers_that_no_row_has_are_no_places(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    rows = [
        {"question": f"q {i}", **{f"answer{n}": f"{'abc'[k]}{i}" for k, n in enumerate(numbers)}, "label": i % 3}
        for i in range(12)
    ]
    made = read(tmp_path, rows, columns=InstanceColumns(endings_column="answer", label_column="label"))
    assert answers(made) == [f"{'abc'[i % 3]}{i}" for i in range(12)]


def test_columns_that_are_written_in_two_ways_are_the_same_places(tmp_path: Path) -> None:
    rows = [
        {"question": f"q {i}", **{f"ending{'_' * (i % 2)}{k}": f"{'abc'[k]}{i}" for k in range(3)}, "label": i % 3}
        for i in range(12)
    ]
    assert answers(read(tmp_path, rows)) == [f"{'abc'[i % 3]}{i}" for i in range(12)]


def test_an_option_that_only_later_rows_have_is_told(tmp_path: Path) -> None:
    """It was left out without a word."""
    rows = lettered(300, lambda i: i > 250)
    rows[299] |= {"answer": "A"}
    with pytest.raises(
        InputError, match="line 252 has D, and the first rows no such option: say --endings-column A,B,C,D"
    ):
        read(tmp_path, rows)
    named = read(tmp_path, rows, columns=InstanceColumns(endings_column="A,B,C,D"))
    assert answers(named)[250:252] == ["c250", "d251"]
    chosen = [row | {"answer": "A"} for row in rows]
    assert {
        len(one.options) for one in read(tmp_path, chosen, columns=InstanceColumns(endings_column="A,B")).instances
    } == {2}


def test_a_damaged_row_does_not_change_the_layout(tmp_path: Path) -> None:
    rows = [{"input": f"premise: p {i} hypothesis: h {i}", "output": "yno"[i % 3]} for i in range(9)]
    rows[4]["input"] = "premise: alone"
    with pytest.raises(InputError, match=r"line 5 .*has no `premise: \.\.\. hypothesis: \.\.\.` under input"):
        read(tmp_path, rows)
    others = [row if i < 4 else row | {"input": f"Say {i}."} for i, row in enumerate(rows)]
    assert read(tmp_path, others).instances[0].context == ""


@pytest.mark.parametrize(
    "name",
    ["correct_choice_idx", "correctAnswerId", "correct_option_index", "correct_answer_idx", "correct choice index"],
)
def test_the_right_one_goes_by_many_names(tmp_path: Path, name: str) -> None:
    rows = [{"question": f"q {i}", "choices": [f"a{i}", f"b{i}", f"c{i}"], name: i % 3} for i in range(6)]
    assert answers(read(tmp_path, rows)) == [f"{'abc'[i % 3]}{i}" for i in range(6)]


def test_marks_of_other_scripts_tell_words_apart() -> None:
    for one, other in (("काला", "काली"), ("ไม้", "ไม่"), ("কালো", "কালি")):
        assert text_key(one) != text_key(other)
    assert text_key("It's done!") == text_key("its done")


def test_columns_that_are_declared_absent_are_not_the_one_without_a_name(tmp_path: Path) -> None:
    """Which is the index that pandas writes: captions came in its order, as if it were their times."""
    path = tmp_path / "captions.csv"
    path.write_text(",video,sentence\n9,v,A man sits.\n8,v,He stands up.\n", encoding="utf-8")
    absent = CaptionColumns(start_column="", end_column="", tree_column="", annotator_column="", source_column="")
    (video,) = videos_of_table(open_source(path), absent)
    assert [(one.text, one.seconds) for one in video.captions] == [("A man sits.", None), ("He stands up.", None)]
    (video,) = videos_of_table(open_source(path), CaptionColumns(video_column=""))
    assert (video.id, len(video.captions)) == ("captions", 2)
    with pytest.raises(InputError, match="--sentence-column: a caption needs one"):
        ContextsOptions((path,), columns=CaptionColumns(sentence_column=""))


def test_a_caption_whose_video_is_nan_is_refused(tmp_path: Path) -> None:
    """Those of all such rows were one video called nan, whose captions became pairs."""
    nan = float("nan")
    table = {"video": [1.0, 1.0, nan, nan], "sentence": ["A dog.", "It runs.", "A cat.", "A ship."]}
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pytest.importorskip("pyarrow").table(table), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="row 2 has no 'video'"):
        videos_of_table(open_source(tmp_path / "rows.parquet"), CaptionColumns())


def test_the_source_or_tree_of_a_caption_may_be_nan(tmp_path: Path) -> None:
    nan = float("nan")
    table = {"video": ["v", "v"], "sentence": ["A dog.", "It runs."], "source": [nan, nan], "tree": [nan, nan]}
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pytest.importorskip("pyarrow").table(table), tmp_path / "rows.parquet")
    columns = CaptionColumns(source_column="source", tree_column="tree")
    (video,) = videos_of_table(open_source(tmp_path / "rows.parquet"), columns)
    assert (video.source, [caption.tree for caption in video.captions]) == ("rows", [None, None])


@pytest.mark.parametrize("names", [("video_id",), ("storyId",), ("video_id", "story_id")])
def test_rows_of_a_pool_are_grouped_by_the_only_column_that_is_called_as_groups_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: tuple[str, ...]
) -> None:
    """It was left out without a word, and one video crossed splits."""
    rows: Rows = [
        {"sent1": f"Word{i} is.", "start": "He", "gold": f"goes {i}.", "negatives": [f"sits {i}.", f"eats {i}."]}
        | dict.fromkeys(names, f"v{i // 3}")
        for i in range(9)
    ]
    path = written(tmp_path / "rows.jsonl", rows)
    made = pool(PoolOptions((path,), tmp_path / "pool", tagger="none"))
    alone = len(names) == 1
    assert len({context.video for context in made.contexts}) == (3 if alone else 9)
    said = capsys.readouterr().err
    assert (f"rows of one {names[0]} stay together" if alone else "video_id, story_id are not read") in said
    parted = pool(PoolOptions((path,), tmp_path / "parted", tagger="none", columns=Columns(video_column="")))
    assert len({context.video for context in parted.contexts}) == 9


@pytest.mark.parametrize("first", ['{"data": [\n', '{"version": 1, "data":\n[\n', '{"data": ['])
def test_one_object_with_a_compact_row_a_line_is_one_object(tmp_path: Path, first: str) -> None:
    """It was taken for JSON lines whose first is damaged."""
    (tmp_path / "rows.json").write_text(first + '{"id": 1},\n{"id": 2}]}')
    assert [row for _, row in open_source(tmp_path / "rows.json").read(())] == [{"id": 1}, {"id": 2}]


def test_json_lines_with_commas_between_them_are_refused_as_lines(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"id": 1},\n{"id": 2},\n')
    with pytest.raises(InputError, match="line 1 is not valid JSON"):
        open_source(tmp_path / "rows.json")


def test_media_that_no_reader_takes_make_no_pool() -> None:
    """The pool was made, and could not be read."""
    contexts = [Context("A dog.", "It", "runs.", media={"ids": [1 << 64]})]
    with pytest.raises(
        InputError, match=r"media under 'ids' that JSON cannot hold\. Give paths, texts, finite numbers"
    ):
        CandidatePool.from_texts(contexts, [["sits."]], tagger="none")


def test_images_in_a_table_are_no_media_and_are_told(tmp_path: Path) -> None:
    """They ended in a traceback, when all rows were read."""
    row = {"sent1": "A dog.", "start": "It", "gold": "runs.", "negatives": ["sits."]}
    image = {"bytes": b"PNG", "path": "a.png"}
    table = pytest.importorskip("pyarrow").Table.from_pylist([row | {"image": image}] * 2)
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "rows.parquet")
    columns = Columns(media_columns="image")
    with pytest.raises(InputError, match=r"row 0 has media under 'image' that JSON cannot hold\. Give paths"):
        pool(PoolOptions((tmp_path / "rows.parquet",), tmp_path / "pool", tagger="none", columns=columns))
