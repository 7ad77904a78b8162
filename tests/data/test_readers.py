"""Claims about tables of captions and ActivityNet's files: what they say, in order of time, and errors by line."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.captions.drops import gap_seconds, is_enclosed
from swag_af.data.captions.options import CaptionColumns
from swag_af.data.captions.readers import caption_rows, describe, format_of, merge_videos, read_videos
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.tables.sources import open_source
from swag_af.data.video import Caption, Video


def written(folder: Path, name: str, content: str, *, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(content, encoding=encoding)
    return path


def texts(videos: list[Video]) -> dict[str, list[str]]:
    return {video.id: [caption.text for caption in video.captions] for video in videos}


def activitynet(folder: Path, **entries: object) -> Path:
    return written(folder, "train.json", json.dumps(entries))


def test_activitynet_gives_captions_with_their_times(tmp_path: Path) -> None:
    path = activitynet(tmp_path, v1={"duration": 9, "timestamps": [[0, 1.5], [2, 3]], "sentences": ["A b.", "C d."]})
    assert read_videos(path) == [
        Video("v1", "activitynet", (Caption("A b.", (0.0, 1.5)), Caption("C d.", (2.0, 3.0)))),
    ]


def test_activitynet_loses_its_stray_blanks(tmp_path: Path) -> None:
    path = activitynet(tmp_path, v1={"timestamps": [[0, 1], [2, 3]], "sentences": ["  A  b.\n", " C\td."]})
    assert texts(read_videos(path)) == {"v1": ["A b.", "C d."]}


def test_activitynet_is_put_in_order_of_time_and_ties_keep_theirs(tmp_path: Path) -> None:
    times = [[5, 9], [0, 3], [0, 1], [2, 3]]
    path = activitynet(tmp_path, v1={"timestamps": times, "sentences": ["late", "first", "second", "third"]})
    assert texts(read_videos(path)) == {"v1": ["first", "second", "third", "late"]}


def test_an_empty_caption_and_a_video_of_one_sentence_are_kept(tmp_path: Path) -> None:
    path = activitynet(
        tmp_path,
        v1={"timestamps": [[0, 1], [2, 3]], "sentences": ["A.", "  "]},
        v2={"timestamps": [[0, 1]], "sentences": ["Alone."]},
    )
    assert texts(read_videos(path)) == {"v1": ["A.", ""], "v2": ["Alone."]}


BROKEN_ENTRIES = {
    "unequal lengths": {"timestamps": [[0, 1]], "sentences": ["A.", "B."]},
    "no timestamps": {"sentences": ["A."]},
    "sentence no text": {"timestamps": [[0, 1]], "sentences": [3]},
    "time no number": {"timestamps": [["x", 1]], "sentences": ["A."]},
    "time not a number": {"timestamps": [[float("nan"), 1]], "sentences": ["A."]},
    "one text for sentences": {"timestamps": [[0, 1], [1, 2]], "sentences": "AB"},
    "times as texts": {"timestamps": ["12", "34"], "sentences": ["A.", "B."]},
    "one text for times": {"timestamps": "12", "sentences": ["A.", "B."]},
    "half a time": {"timestamps": [[0]], "sentences": ["A."]},
    "no object": ["A."],
}


@pytest.mark.parametrize("entry", BROKEN_ENTRIES.values(), ids=BROKEN_ENTRIES.keys())
def test_a_broken_entry_of_activitynet_is_named(tmp_path: Path, entry: object) -> None:
    path = activitynet(tmp_path, v7=entry)
    with pytest.raises(InputError, match="'v7'"):
        read_videos(path)


def test_broken_json_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"train\.json: not valid JSON at line 2"):
        read_videos(written(tmp_path, "train.json", '{\n"v": }'))


def test_json_that_is_no_object_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one JSON list"):
        read_videos(written(tmp_path, "train.json", "[1]"))
    with pytest.raises(InputError, match="--format"):
        read_videos(written(tmp_path, "train.json", "[1]"), format="activitynet")


def test_jsonl_groups_by_video_in_order_of_appearance(tmp_path: Path) -> None:
    rows = [("b", "1"), ("a", "2"), ("b", "3")]
    path = tmp_path / "mine.jsonl"
    write_jsonl(path, ({"video": video, "sentence": text} for video, text in rows))
    assert list(texts(read_videos(path)).items()) == [("b", ["1", "3"]), ("a", ["2"])]


def test_captions_stay_as_they_stand_unless_every_one_has_a_time(tmp_path: Path) -> None:
    rows = [
        {"video": "a", "sentence": "late", "start_time": 9, "end_time": 10},
        {"video": "a", "sentence": "timeless"},
        {"video": "b", "sentence": "late", "start_time": 9, "end_time": 10},
        {"video": "b", "sentence": "early", "start_time": 0, "end_time": 1},
    ]
    path = tmp_path / "mine.jsonl"
    write_jsonl(path, rows)
    assert texts(read_videos(path)) == {"a": ["late", "timeless"], "b": ["early", "late"]}


def test_starts_alone_put_captions_in_order(tmp_path: Path) -> None:
    """They were taken for no times, and pairs went backwards."""
    rows = [{"video": "a", "sentence": text, "start_time": at} for text, at in (("late", 9), ("early", "0:05"))]
    path = tmp_path / "mine.jsonl"
    write_jsonl(path, rows)
    (video,) = videos = read_videos(path)
    assert [(caption.text, caption.seconds) for caption in video.captions] == [
        ("early", (5, None)),
        ("late", (9, None)),
    ]
    assert (gap_seconds(*video.captions), is_enclosed(*video.captions)) == (0, False)
    assert describe(path, "jsonl", videos).endswith("2 captions of 1 video, with starts")
    write_jsonl(path, caption_rows(videos))
    assert [video.captions for video in read_videos(path)] == [video.captions]


def test_a_start_that_is_no_time_is_refused_without_an_end_too(tmp_path: Path) -> None:
    path = written(tmp_path, "mine.csv", "video,sentence,start_time\na,B.,1:xx\n")
    with pytest.raises(InputError, match="line 2 has a start_time or end_time that is no time"):
        read_videos(path)


@pytest.mark.parametrize(("part", "other"), [("start", "end"), ("end", "start")])
def test_a_time_that_is_no_time_is_told_beside_no_other(tmp_path: Path, part: str, other: str) -> None:
    """A KeyError of the other, which the options declare absent, was raised in its place."""
    path = written(tmp_path, "mine.csv", f"video,sentence,{part}_time\na,B.,1:xx\n")
    with pytest.raises(InputError, match=f"line 2 has a {part}_time that is no time"):
        read_videos(path, columns=CaptionColumns(**{f"{other}_column": ""}))


@pytest.mark.parametrize("start", ["1:75", "1:-5", "-1:05", "1_000", "0:60:00"])
def test_what_no_clock_shows_is_no_time(tmp_path: Path, start: str) -> None:
    with pytest.raises(InputError, match="is no time"):
        read_videos(written(tmp_path, "mine.csv", f"video,sentence,start_time\na,B.,{start}\n"))


def test_a_time_with_a_mark_that_may_be_of_thousands_is_refused(tmp_path: Path) -> None:
    """1,200 seconds were 1.2 and came before 900."""
    head = "video,sentence,start_time\na,B.,{}\na,C.,{}\n"
    path = written(tmp_path, "mine.csv", head.format("900", '"1,200"'))
    with pytest.raises(InputError, match="line 3 has 1,200 under 'start_time', thousands or a decimal"):
        read_videos(path)
    with pytest.raises(InputError, match="or a decimal point"):
        read_videos(written(tmp_path, "mine.csv", head.format("10.5", '"1,200"')))
    for first, second, seconds in (("9", "1,200", 1.2), ("900", "0:00:01,200", 1.2), ("900", "901,5", 901.5)):
        (video,) = read_videos(written(tmp_path, "mine.csv", head.format(first, f'"{second}"')))
        assert (seconds, None) in [caption.seconds for caption in video.captions]


def test_a_row_without_source_takes_the_name_of_its_file(tmp_path: Path) -> None:
    lines = '{"video": 0, "sentence": "A."}\n{"video": 0, "sentence": "B."}\n'
    assert read_videos(written(tmp_path, "mine.jsonl", lines))[0].source == "mine"


CSV = 'video,sentence,start_time,end_time\nv1,"A man, tall.",3,4\nv1,B b.,0,1\n'


@pytest.mark.parametrize(
    ("name", "content", "encoding"),
    [
        ("a.csv", CSV, "utf-8"),
        ("a.CSV", CSV.replace("\n", "\r\n"), "utf-8-sig"),
        ("a.csv", CSV.replace("\n", "\r"), "utf-8"),
        ("a.tsv", 'video\tsentence\tstart_time\tend_time\nv1\t"A man, tall."\t3\t4\nv1\tB b.\t0\t1\n', "utf-8"),
    ],
)
def test_csv_with_commas_tabs_or_a_byte_order_mark_is_read(
    tmp_path: Path, name: str, content: str, encoding: str
) -> None:
    captions = (Caption("B b.", (0.0, 1.0)), Caption("A man, tall.", (3.0, 4.0)))
    assert read_videos(written(tmp_path, name, content, encoding=encoding)) == [Video("v1", "a", captions)]


def test_json_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    content = json.dumps({"v": {"timestamps": [[0, 1], [1, 2]], "sentences": ["A.", "B."]}})
    assert texts(read_videos(written(tmp_path, "a.json", content, encoding="utf-8-sig"))) == {"v": ["A.", "B."]}


BROKEN_FILES = [
    ("a.jsonl", '{"video": "v", "sentence": "A."}\n{"video": \n', "line 2"),
    ("a.jsonl", '{"video": "v", "sentence": "A."}\n{"video": "v"}\n', "line 2"),
    ("a.jsonl", '{"video": "", "sentence": "A."}\n', "line 1"),
    ("a.jsonl", '{"video": "v", "sentence": "A.", "start_time": "x", "end_time": 1}\n', "line 1"),
    ("a.jsonl", '{"video": "v", "sentence": "A.", "start_time": NaN, "end_time": 1}\n', "line 1"),
    ("a.csv", "video,sentence,start_time,end_time\nv,A.,0,1\nv,B.,soon,2\n", "line 3"),
    ("a.jsonl", '{"video": "v", "sentence": "A.", "tree": 5}\n', "line 1 has no text as its 'tree'"),
]


@pytest.mark.parametrize(("name", "content", "where"), BROKEN_FILES)
def test_a_broken_row_is_named_with_its_line(tmp_path: Path, name: str, content: str, where: str) -> None:
    with pytest.raises(InputError, match=where) as caught:
        read_videos(written(tmp_path, name, content))
    assert name in str(caught.value)


def test_csv_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="UTF-8"):
        read_videos(written(tmp_path, "a.csv", "video,sentence\nv,café\n", encoding="latin-1"))


def test_a_source_where_every_video_has_one_sentence_is_refused(tmp_path: Path) -> None:
    rows = '{"video": "a", "sentence": "A."}\n{"video": "b", "sentence": "B."}\n'
    with pytest.raises(InputError, match="no two consecutive captions"):
        read_videos(written(tmp_path, "a.jsonl", rows))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.txt"])
def test_a_missing_source_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_videos(tmp_path / name)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_a_source_that_is_empty_or_no_utf8_is_told_as_such(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(" \n")
    with pytest.raises(InputError, match="nothing in it"):
        format_of(tmp_path / name)
    (tmp_path / name).write_text('{"v": 1}', encoding="utf-16")
    with pytest.raises(InputError, match=r"not UTF-8 text.*`iconv -f utf-16 -t utf-8 .* > NEW`\.$"):
        format_of(tmp_path / name)


def test_a_compressed_source_is_to_be_unpacked(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(InputError, match=r"compressed.*gunzip a\.json\.gz"):
        read_videos(tmp_path / "a.json.gz")
    for name, head in (("gz", gzip.compress(b"{}")), ("zst", b"(\xb5/\xfd\x04"), ("zip", b"PK\x03\x04")):
        path = tmp_path / f"{name}.jsonl"  # whose advice was iconv
        path.write_bytes(head)
        for read in (read_videos, open_source):
            with pytest.raises(InputError, match=r"jsonl: compressed\. Unpack it first\.$"):
                read(path)


def test_a_name_that_tells_no_format_needs_one(tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", CSV)
    with pytest.raises(InputError, match="--format"):
        read_videos(path)
    assert texts(read_videos(path, format="csv")) == {"v1": ["B b.", "A man, tall."]}
    with pytest.raises(InputError, match="not known"):
        read_videos(path, format="xml")


CAPTIONS = st.builds(
    Caption,
    st.text("ab .é", min_size=1).map(str.strip).map(lambda text: " ".join(text.split())),
    st.none() | st.tuples(st.floats(0, 99), st.floats(0, 99)),
    st.none() | st.just("(ROOT (S a b))"),
)


@given(st.lists(st.lists(CAPTIONS, min_size=2, max_size=3), min_size=1, max_size=3))
@settings(max_examples=25)
def test_caption_rows_read_back_as_the_same_videos(
    tmp_path_factory: pytest.TempPathFactory, captions: list[list[Caption]]
) -> None:
    videos = [
        Video(f"v{i}", "s", tuple(sorted(c, key=lambda c: c.seconds[0]) if all(x.seconds for x in c) else c))
        for i, c in enumerate(captions)
    ]
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    write_jsonl(path, caption_rows(videos))
    assert read_videos(path) == videos


def test_merged_videos_stand_one_file_after_the_other() -> None:
    one, two = Video("v", "a", ()), Video("v", "b", ())
    assert merge_videos([[one], [two]]) == [one, two]


ROWS = [
    {"clip": "b", "text": "Late.", "begin": "0:01:02.5", "stop": "0:01:03", "who": "x", "from": "film"},
    {"clip": "b", "text": "Early.", "begin": "1:01", "stop": "1:02", "who": "x", "from": "film"},
    {"clip": "b", "text": "Theirs.", "begin": "30", "stop": "31", "who": "y", "from": "film"},
    {"clip": "b", "text": "Theirs too.", "begin": "32", "stop": "33", "who": "y", "from": "film"},
]
NAMED = CaptionColumns("clip", "text", "begin", "stop", "who", "", "from")
EXPECTED = [
    Video("b", "film", (Caption("Early.", (61.0, 62.0)), Caption("Late.", (62.5, 63.0)))),
    Video("b", "film", (Caption("Theirs.", (30.0, 31.0)), Caption("Theirs too.", (32.0, 33.0)))),
]


def stored(folder: Path, kind: str, rows: list[dict]) -> Path:
    """The rows as a file, or folder, of this kind."""
    path = folder / f"rows.{kind}"
    if kind == "jsonl":
        write_jsonl(path, rows)
    elif kind == "csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pylist(rows)
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:  # as `datasets.save_to_disk` lays a folder out
            path.mkdir()
            with (
                pa.OSFile(str(path / "data-00000-of-00001.arrow"), "wb") as f,
                pa.ipc.new_stream(f, table.schema) as to,
            ):
                to.write_table(table)
            (path / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "datasets"])
def test_columns_have_the_names_that_are_said_and_annotators_stay_apart(tmp_path: Path, kind: str) -> None:
    path = stored(tmp_path, kind, ROWS)
    assert format_of(path) == kind
    assert read_videos(path, columns=NAMED) == EXPECTED


def test_a_column_that_is_missing_is_named_with_what_is_near(tmp_path: Path) -> None:
    path = stored(tmp_path, "csv", ROWS)
    with pytest.raises(
        InputError, match=r"'video' .*--video-column clip.*'sentence' .*--sentence-column text"
    ) as caught:
        read_videos(path)
    assert "'begin'" in str(caught.value)
    with pytest.raises(InputError, match=r"'begins' .did you mean --start-column begin"):
        read_videos(path, columns=CaptionColumns("clip", "text", "begins"))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "datasets"])
@pytest.mark.parametrize("part", ["start", "end", "annotator", "tree", "source"])
def test_an_optional_column_that_is_named_must_be_in_some_row(tmp_path: Path, kind: str, part: str) -> None:
    """A mistyped name must not lose the times, or mix the annotators, without a word."""
    path = stored(tmp_path, kind, ROWS)
    with pytest.raises(InputError, match=rf"no column 'begim' .did you mean --{part}-column"):
        read_videos(path, columns=CaptionColumns("clip", "text", **{f"{part}_column": "begim"}))


@pytest.mark.parametrize("part", ["video", "annotator", "source"])
def test_a_list_is_no_name(tmp_path: Path, part: str) -> None:
    """The id of a video was "['v1']"."""
    row: dict[str, object] = {"video": "v1", "sentence": "A.", part: ["v1"]}
    path = tmp_path / "mine.jsonl"
    write_jsonl(path, [row, row])
    with pytest.raises(InputError, match=rf"line 1 has a list or an object under '{part}'.*--{part}-column"):
        read_videos(path)


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "datasets"])
def test_times_under_a_usual_name_are_read_or_refused(tmp_path: Path, kind: str) -> None:
    """They were not read, and captions were paired in the order of the file."""
    rows = [
        {"video": "a", "sentence": text, "start": at, "end": at + 1} for text, at in (("late", 9.0), ("early", 0.0))
    ]
    path = stored(tmp_path, kind, rows)
    with pytest.raises(InputError, match=r"--start-column start,.*--end-column end,"):
        read_videos(path)
    timed = read_videos(path, columns=CaptionColumns(start_column="start", end_column="end"))
    assert texts(timed) == {"a": ["early", "late"]}
    assert texts(read_videos(path, columns=CaptionColumns(start_column=""))) == {"a": ["late", "early"]}


@pytest.mark.parametrize("name", ["startTime", "start_sec", "timestamp", "t_start", "Onset", "time"])
def test_times_under_other_usual_names_are_told(name: str, tmp_path: Path) -> None:
    """Captions stood in the order of the file, and made pairs the wrong way round."""
    path = written(tmp_path, "mine.csv", f"video,{name},sentence\na,9,Late.\na,1,Early.\n")
    with pytest.raises(InputError, match=rf"'{name}' is not read .name it with --start-column {name},"):
        read_videos(path)
    assert texts(read_videos(path, columns=CaptionColumns(start_column=name))) == {"a": ["Early.", "Late."]}


def test_lists_of_captions_under_the_names_of_videos_are_told_with_what_makes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "by video.json"
    path.write_text(
        '{"v1": [{"start": 0, "sentence": "A."}, {"start": 5, "sentence": "B."}], "v2": [{"sentence": "C."}]}'
    )
    with pytest.raises(InputError, match=r"If these names are videos, write a line for each caption: jq .*by video"):
        read_videos(path)


def test_a_usual_name_that_holds_something_else_is_no_time(tmp_path: Path) -> None:
    path = written(tmp_path, "mine.csv", "video,Begin\na,A.\na,B.\n")
    with pytest.raises(InputError, match=r"'Begin' is not read .name it with --start-column Begin,"):
        read_videos(path, columns=CaptionColumns(sentence_column="video"))
    assert texts(read_videos(path, columns=CaptionColumns(sentence_column="Begin"))) == {"a": ["A.", "B."]}


def test_a_column_that_only_later_lines_have_is_read(tmp_path: Path) -> None:
    lines = '{"video": "v", "sentence": "A."}\n{"video": "v", "sentence": "B.", "who": "Eva"}\n'
    lines += '{"video": "v", "sentence": "C.", "who": "Eva"}\n'
    path = written(tmp_path, "mine.jsonl", lines)
    assert [len(v.captions) for v in read_videos(path, columns=CaptionColumns(annotator_column="who"))] == [1, 2]


def test_json_lines_under_the_name_json_are_read_as_lines(tmp_path: Path) -> None:
    lines = '{"video": "v", "sentence": "A."}\n{"video": "v", "sentence": "B."}\n'
    assert texts(read_videos(written(tmp_path, "mine.json", lines))) == {"v": ["A.", "B."]}


def test_json_lines_of_nested_objects_are_lines_too(tmp_path: Path) -> None:
    lines = '{"video": "v", "sentence": "A.", "x": {}}\n' * 2
    assert format_of(written(tmp_path, "mine.json", lines)) == "jsonl"


@pytest.mark.parametrize(("columns", "verb"), [("sent1,start,gold", "generate"), ("ctx,endings,label", "pool")])
def test_a_table_of_another_verb_is_told_so(tmp_path: Path, columns: str, verb: str) -> None:
    with pytest.raises(InputError, match=f"swag-af {verb}"):
        read_videos(written(tmp_path, "a.csv", f"{columns}\na,b,c\n"))


def test_what_was_read_is_said_in_a_line(tmp_path: Path) -> None:
    path = stored(tmp_path, "csv", ROWS)
    said = describe(path, "csv", read_videos(path, columns=NAMED))
    assert said == "rows.csv: csv; 4 captions of 1 video by 2 annotations, with times"


def test_one_name_in_two_sources_is_two_videos(tmp_path: Path) -> None:
    """Their captions were merged by time, and made pairs over both."""
    path = tmp_path / "both.csv"
    rows = [("1", "lsmdc", 0), ("1", "garden", 1), ("1", "lsmdc", 2), ("1", "garden", 3)]
    lines = [f"{video},{source},{source} {at}.,{at},{at + 1}" for video, source, at in rows]
    path.write_text("\n".join(["video,source,sentence,start_time,end_time", *lines]) + "\n", encoding="utf-8")
    videos = read_videos(path, columns=CaptionColumns())
    assert "of 2 videos, " in describe(path, "csv", videos)
    assert [(v.source, [c.text for c in v.captions]) for v in videos] == [
        ("lsmdc", ["lsmdc 0.", "lsmdc 2."]),
        ("garden", ["garden 1.", "garden 3."]),
    ]
