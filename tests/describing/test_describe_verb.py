"""Claims about the verb `describe`: what it writes, that it writes the same again, and what it refuses."""

import csv
import json
import re
import shlex
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest
from folders import files_of
from matplotlib.figure import Figure

import swag_af
from swag_af.cli.datasets.describing import _csv, _latex, described_lines
from swag_af.cli.parsing import parse
from swag_af.data.disk.files import read_jsonl, write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.describing.description import Description
from swag_af.describing.options import DescribeOptions
from swag_af.describing.tables import Column, Table
from swag_af.reporting.plot import save_figure
from swag_af.reporting.tables.latex import escaped, latex_table

THINGS = ("lake", "river", "house", "garden", "street", "bridge", "harbour", "tower")
VERBS = ("rides a bike", "paints walls", "lifted the box", "is washing dishes")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mine & 50%.jsonl"
    rows = [
        {
            "id": f"q{i}",
            "question": f"Who {VERBS[i % 4]} by the {THINGS[i % 8]}?",
            "choices": [f"She {v} at {i}." for v in VERBS],
            "label": i % 4,
        }
        for i in range(24)
    ]
    write_jsonl(path, rows)
    return path


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "other.jsonl"
    labels = ("yes", "no")
    rows = [
        {"premise": f"A dog {i} sleeps.", "hypothesis": f"Dog {i} {VERBS[i % 2]}.", "label": labels[i % 2]}
        for i in range(30)
    ]
    write_jsonl(path, rows)
    return path


@pytest.fixture(scope="module")
def options(data: Path, other: Path, tmp_path_factory: pytest.TempPathFactory) -> DescribeOptions:
    return DescribeOptions((data,), beside=(other,), topics=2, out=tmp_path_factory.mktemp("both") / "out", force=True)


@pytest.fixture(scope="module")
def made(options: DescribeOptions) -> Description:
    """Both, described in a folder."""
    return swag_af.describe(options)


@pytest.fixture
def out(options: DescribeOptions, made: Description) -> Path:
    """That folder; not to be changed."""
    assert options.out is not None
    return options.out


def test_the_folder_has_every_table_thrice_every_picture_thrice_a_page_and_a_record(
    made: Description, data: Path, out: Path
) -> None:
    files = set(files_of(out))  # no verb is surely apart in so few rows
    names = {
        "counts",
        "labels",
        "questions",
        "vocabulary",
        "lengths",
        "lengths-sentences",
        "verbs",
        "verbs-cumulative",
        "topics",
    }
    tables = {f"tables/{name}.{suffix}" for name in names for suffix in ("csv", "md", "tex")}
    pictures = {f"{name}.{suffix}" for name in ("verbs", "lengths") for suffix in ("png", "svg", "pdf")}
    assert files == {*tables, *pictures, "describe.html", "describe.json"}
    assert made.verbs is not None
    assert made.verbs.corpora == (data.stem, "other")
    record = json.loads((out / "describe.json").read_text())
    assert (record["format"], record["kind"], record["n"]) == (1, "description", 24)


def test_a_corpus_without_verbs_stands_beside_one_that_has_some(data: Path, tmp_path: Path) -> None:
    """Right options that are numbers have no verb: the picture of verbs ended all with an error of ours."""
    numbers = [{"question": f"Sum {i}?", "choices": [f"{k} {i}" for k in range(3)], "label": i % 3} for i in range(12)]
    write_jsonl(tmp_path / "numbers.jsonl", numbers)
    swag_af.describe(DescribeOptions((data,), beside=(tmp_path / "numbers.jsonl",), topics=0, out=tmp_path / "out"))
    assert {"verbs.png", "verbs-cumulative.csv"} <= {path.name for path in (tmp_path / "out").rglob("*")}


def test_the_same_command_writes_the_same_bytes(options: DescribeOptions, out: Path) -> None:
    one = files_of(out)
    swag_af.describe(options)
    two = files_of(out)
    assert [name for name in one if one[name] != two[name]] == []
    assert one.keys() == two.keys()


def test_the_page_needs_no_network_and_shows_text_as_text(out: Path) -> None:
    page = (out / "describe.html").read_text(encoding="utf-8")
    assert "mine &amp; 50%" in page
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert page.count("<svg") == 2


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take most of the time, and others look at them."""
    monkeypatch.setattr("swag_af.cli.datasets.describing.plot_description", lambda made, folder: [])


@pytest.mark.usefixtures("no_pictures")
def test_a_killed_run_leaves_no_folder_and_the_next_one_the_same(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = DescribeOptions((data,), topics=0, out=tmp_path / "out")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("swag_af.cli.datasets.describing.description_page", stop)
        with pytest.raises(KeyboardInterrupt):
            swag_af.describe(options)
    assert not (tmp_path / "out").exists()
    swag_af.describe(options)
    assert (tmp_path / "out" / "describe.json").is_file()


@pytest.mark.usefixtures("no_pictures")
def test_folders_of_others_are_not_replaced_and_ours_with_force_alone(data: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not made by describe"):
        swag_af.describe(DescribeOptions((data,), topics=0, verbs=0, out=taken, force=True))
    ours = DescribeOptions((data,), topics=0, verbs=0, out=tmp_path / "out")
    swag_af.describe(ours)
    with pytest.raises(InputError, match="already exists"):
        swag_af.describe(ours)
    swag_af.describe(DescribeOptions((data,), topics=0, verbs=0, out=tmp_path / "out", force=True))
    assert (taken / "letter.txt").read_text() == "dear"
    (tmp_path / "out" / ".notes").write_text("mine")
    with pytest.raises(InputError, match=r"\.notes in it is of no description"):
        swag_af.describe(DescribeOptions((data,), topics=0, verbs=0, out=tmp_path / "out", force=True))


def test_faults_of_options_are_told_together() -> None:
    with pytest.raises(InputError, match=r"--verbs -1: .*; --topics 1: .*; --seed -1"):
        DescribeOptions((Path("a"),), verbs=-1, topics=1, seed=-1)


def test_a_tagger_that_is_none_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nonsense"):
        swag_af.describe(DescribeOptions((tmp_path / "missing.jsonl",), tagger="nonsense"))


def test_other_corpora_are_read_with_the_same_mask(data: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a mask does is tested where texts are read."""
    seen: list[str] = []

    def read(paths: Sequence[Path], options: ReadingOptions, *, name: str = "") -> Instances:
        seen.append(options.mask)
        return read_instances(paths, ReadingOptions(), name=name)

    monkeypatch.setattr("swag_af.cli.datasets.describing.read_instances", read)
    swag_af.describe(DescribeOptions((data,), beside=(other,), topics=0, reading=ReadingOptions(mask="bike")))
    assert seen == ["bike", "bike"]


def test_the_terminal_shows_every_table_and_where_to_look(data: Path, other: Path) -> None:
    options = DescribeOptions((data,), beside=(other,), topics=2)
    text = "\n".join(described_lines(swag_af.describe(options), options))
    for said in (
        "Statistics of mine & 50%.",
        "odds ratio, shrunk towards 1",
        "few for 2 topics",
        "--out DIR",
    ):
        assert said in text


def test_warnings_stand_above_the_tables_on_the_terminal_and_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "de.jsonl"
    texts = ("Der Hund schläft auf dem Sofa.", "Die Frau kocht eine Suppe in der Küche.")
    write_jsonl(path, [{"text": f"{texts[i % 2]} {i}", "label": "ab"[i % 2]} for i in range(12)])
    options = DescribeOptions((path,), topics=0, out=tmp_path / "out")
    lines = described_lines(swag_af.describe(options), options)
    warned = [i for i, line in enumerate(lines) if line.startswith("warning: The texts of de are not English")]
    assert warned
    assert warned[0] < lines.index("Statistics of de.")
    assert "are not English" in (tmp_path / "out" / "describe.html").read_text(encoding="utf-8")


TABLE = Table(
    "t",
    "A 50 % {caption}_",
    (Column("word"), Column("n", "count"), Column("share", "share"), Column("times", "times")),
    (("a & b|c", 1234, 0.1234567, 450.4), ("d", 0, 0.0, None)),
)


def test_csv_has_values_as_they_are() -> None:
    rows = list(csv.reader(_csv(TABLE).splitlines()))
    assert rows == [["word", "n", "share", "times"], ["a & b|c", "1234", "0.1234567", "450.4"], ["d", "0", "0.0", ""]]


def test_latex_is_escaped_and_ruled() -> None:
    text = _latex(TABLE)
    assert r"a \& b\textbar{}c & 1,234 & 12.35 \% & 450 \\" in text
    assert r"\caption{A 50 \% \{caption\}\_}" in text
    assert r"\begin{tabular}{lrrr}" in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]


def test_no_character_of_a_text_commands_latex() -> None:
    assert escaped("\\input{x}\n~^") == r"\textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}"
    assert latex_table([("a",), ("b",)], "c", "l").count(r"\\") == 2


def test_files_of_one_name_keep_their_hashes_and_corpora_names_of_their_own(data: Path, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    rows = [line for _, line in read_jsonl(data)]
    write_jsonl(tmp_path / "a" / "q.jsonl", rows)
    write_jsonl(tmp_path / "b" / "q.jsonl", rows[:12])
    write_jsonl(tmp_path / "b" / "q.json", rows[12:])
    beside = (tmp_path / "b" / "q.jsonl", tmp_path / "b" / "q.json")
    made = swag_af.describe(DescribeOptions((tmp_path / "a" / "q.jsonl",), beside=beside, topics=0))
    assert len(set(made.files.values())) == len(made.files) == 3
    assert made.verbs is not None
    assert len(set(made.verbs.corpora)) == 3


def test_a_name_that_looks_like_a_formula_or_is_hidden_elsewhere_is_in_the_pictures(data: Path, tmp_path: Path) -> None:
    odd, hidden = tmp_path / "cost_$x_$y.jsonl", tmp_path / "_mine.jsonl"
    for path in (odd, hidden):
        path.write_bytes(data.read_bytes())
    swag_af.describe(DescribeOptions((hidden,), beside=(odd,), topics=0, out=tmp_path / "out"))
    picture = (tmp_path / "out" / "lengths.svg").read_text(encoding="utf-8")
    legend = picture[picture.index('id="legend_1"') :]
    assert "_mine, mean" in legend
    assert "cost_$x_$y, mean" in legend


def test_the_command_on_the_page_makes_the_page_again(data: Path, other: Path, tmp_path: Path) -> None:
    """Folders of files and --out were left out of it, so that it ran nowhere."""
    reading = ReadingOptions(mask="bike")
    options = DescribeOptions((data,), beside=(other,), topics=0, out=tmp_path / "out", reading=reading)
    swag_af.describe(options)
    page = (tmp_path / "out" / "describe.html").read_text(encoding="utf-8")
    found = re.search(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    assert found
    assert parse(shlex.split(unescape(found[1]))[1:]) == options


def test_a_word_longer_than_any_is_cut_on_the_terminal_and_whole_in_files(data: Path, tmp_path: Path) -> None:
    rows = [line for _, line in read_jsonl(data)]
    rows[0]["choices"][0] = f"She {'x' * 600}ing the box."
    write_jsonl(tmp_path / "long.jsonl", rows)
    options = DescribeOptions((tmp_path / "long.jsonl",), topics=0, verbs=200, out=tmp_path / "out")
    made = swag_af.describe(options)
    assert made.verbs is not None
    long = next(row.verb for row in made.verbs.rows if len(row.verb) > 500)
    lines = described_lines(made, options)
    assert any("x" * 39 + "…" in line for line in lines)
    assert max(len(line) for line in lines if "  " in line.strip()) < 200
    assert "x" * 30 not in (tmp_path / "out" / "verbs.svg").read_text(encoding="utf-8")
    assert long in (tmp_path / "out" / "tables" / "verbs.csv").read_text(encoding="utf-8")


def test_odds_ratios_are_said_to_be_shrunk_on_the_terminal_and_on_the_page(
    made: Description, options: DescribeOptions, out: Path
) -> None:
    assert "shrunk towards 1" in "\n".join(described_lines(made, options))
    assert "shrunk towards 1" in (out / "describe.html").read_text(encoding="utf-8")


def test_lines_of_corpora_are_told_apart_without_colours(
    data: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, list[tuple[str, str]]] = {}

    def seen(figure: Figure, folder: Path, name: str) -> list[Path]:
        lines = figure.axes[-1].get_lines()
        drawn[name] = [(line.get_marker(), line.get_linestyle()) for line in lines]
        return save_figure(figure, folder, name)

    monkeypatch.setattr("swag_af.reporting.description_plots.save_figure", seen)
    swag_af.describe(DescribeOptions((data,), beside=(other,), topics=0, out=tmp_path / "out"))
    assert all(len(set(styles)) == len(styles) >= 2 for styles in drawn.values())
    assert drawn.keys() == {"lengths", "verbs"}
