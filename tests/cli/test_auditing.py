"""The verb `audit` of a dataset: what it must never write over, and the command that its page tells."""

import html
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from folders import write

from swag_af.auditing.options import AuditOptions
from swag_af.cli.datasets.auditing import run_audit
from swag_af.cli.main import main
from swag_af.cli.parsing import parse
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.data.instances.options import InstanceColumns, ReadingOptions


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"question": f"what is number {i}?", "choices": [f"a{i} is", f"b{i} was", f"c{i}"], "label": i % 3}
        for i in range(30)
    ]
    path = tmp_path / "questions.jsonl"
    write(path, rows)
    return path


@pytest.mark.parametrize("flag", ["--sarif", "--junit"])
def test_an_output_never_replaces_the_data(flag: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = data.read_bytes()
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(data), flag, str(data)])
    assert stopped.value.code == 2
    assert "read or written as something else" in capsys.readouterr().err
    assert data.read_bytes() == before


@pytest.mark.parametrize("flag", ["--sarif", "--junit"])
def test_an_output_never_replaces_a_file_of_the_data(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    for name in ("train.csv", "report.xml"):
        with pytest.raises(SystemExit) as stopped:
            main(["audit", str(folder), flag, str(folder / name)])
        assert stopped.value.code == 2
        assert "read or written as something else" in capsys.readouterr().err
    assert not any(folder.iterdir())


def test_draws_without_a_comparison_are_refused(data: Path) -> None:
    with pytest.raises(InputError, match="--draws: only with --compare"):
        AuditOptions((data,), draws=9)
    assert AuditOptions((data,), draws=9, compare=data).draws == 9


def test_an_output_never_replaces_another_or_the_gate(data: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text('gate = ["AF101 <= 100%"]\n')
    for flags in (["--gate", str(gate), "--junit", str(gate)], ["--junit", "x.xml", "--sarif", "x.xml"]):
        with pytest.raises(SystemExit) as stopped:
            main(["audit", str(data), *flags])
        assert stopped.value.code == 2
    assert gate.read_text() == 'gate = ["AF101 <= 100%"]\n'


def test_an_older_set_without_labels_of_its_own_is_told(data: Path, tmp_path: Path) -> None:
    """The flag that was given was advised."""
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    old, labels = tmp_path / "old.jsonl", tmp_path / "labels.txt"
    write(old, ({k: v for k, v in row.items() if k != "label"} for row in rows))
    labels.write_text("".join(f"{row['label']}\n" for row in rows))
    reading = ReadingOptions(labels_file=labels)
    with pytest.raises(InputError) as told:
        run_audit(AuditOptions((old,), compare=old, filters="tfidf", folds=2, draws=3, reading=reading))
    assert str(told.value) == (
        f"--compare {old}: its rows have no labels, and --labels-file {labels} has those of the newer set alone. Write "
        "its labels into its own rows, as a column such as label."
    )
    found = run_audit(AuditOptions((old,), compare=data, filters="tfidf", folds=2, draws=3, reading=reading))
    assert found.comparison is not None
    assert found.comparison.n_matched == 30


def test_a_filter_that_was_named_and_cannot_be_used_stops_the_audit(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was left out with a note, and the gate was decided without it."""
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(data), "--filters", "tfidf,mlp", "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert "filter mlp reads the features of a language model" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    monkeypatch.setitem(sys.modules, "fasttext", None)
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(data), "--filters", "fasttext"])
    assert stopped.value.code == 2
    assert install("fasttext") in capsys.readouterr().err


def test_an_audit_replaces_an_older_one_of_its_dataset_alone(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--filters", "tfidf", "--folds", "2", "--out", str(tmp_path / "out")]
    main(["audit", str(data), *out])
    main(["audit", str(data), "--seed", "3", *out])
    other = data.rename(data.with_name("others.jsonl"))
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(other), *out])
    assert stopped.value.code == 2
    assert "the audit of questions is there, and this is one of others. Choose another" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["name"] == "questions"
    (tmp_path / "b").mkdir()
    rows = [json.loads(line) | {"id": f"b{i}"} for i, line in enumerate(other.read_text().splitlines())]
    namesake = tmp_path / "b" / "questions.jsonl"
    write(namesake, rows)
    with pytest.raises(SystemExit) as stopped:
        main(["audit", str(namesake), *out])
    assert stopped.value.code == 2
    assert "this is one of another dataset of that name" in capsys.readouterr().err


def test_an_audit_takes_no_file_of_others_with_an_older_one(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "audit", tmp_path / "audit" / "junit.xml"
    asked = ["audit", str(data), "--out", str(out), "--filters", "tfidf", "--folds", "2"]
    main(asked)
    main([*asked, "--junit", str(report)])
    main([*asked, "--junit", f"{out}/../audit/junit.xml"])
    (out / "notes.txt").write_text("what we saw")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for others, named in ((["--junit", str(report)], "notes.txt in it is"), ([], "junit.xml and 1 more in it are")):
        with pytest.raises(SystemExit) as stopped:
            main([*asked, *others])
        assert stopped.value.code == 2
        assert f"{named} of no audit, and would go with the older one. Move it, or" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (out / "notes.txt").unlink()
    report.unlink()
    (out / ".DS_Store").touch()
    (out / ".git").mkdir()
    with pytest.raises(SystemExit):
        main(asked)
    assert ".git in it is of no audit" in capsys.readouterr().err
    (out / ".git").rmdir()
    main(asked)  # nobody misses what a system leaves


def test_a_repaired_set_whose_rows_repeat_is_matched_whole(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = data.read_text().splitlines()
    old, new = data.with_name("old.jsonl"), data.with_name("new.jsonl")
    old.write_text("\n".join([*rows, *rows[:5]]) + "\n")
    new.write_text("\n".join([*rows[::-1], *rows[:5]]) + "\n")
    main(["audit", str(new), "--compare", str(old), "--filters", "tfidf"])
    assert "35 are in both" in capsys.readouterr().out


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Questions whose columns nobody would guess."""
    rows = [f"q{i},c{i % 9},what is number -{i}?,a{i} is,b{i} was,c{i},{'ABC'[i % 3]}" for i in range(27)]
    path = tmp_path / "a quiz.csv"
    path.write_text("\n".join(["nr,clip,item stem,opt_A,opt_B,opt_C,correct", *rows]) + "\n")
    return path


def told(page: Path) -> AuditOptions:
    """The options of the command that is on a page."""
    said = page.read_text().partition("<pre><code>")[2].partition("</code>")[0]
    found = parse(shlex.split(html.unescape(said))[1:])
    assert isinstance(found, AuditOptions)
    return found


COLUMNS = InstanceColumns(context_column="item stem", video_column="clip", id_column="nr")


def test_the_page_tells_all_options_that_decide_the_figures(odd: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[audit]\ncontext_column = "item stem"\nfolds = 2\nmask = "-[0-9]"\n')
    words = ["--video-column", "clip", "--id-column", "nr", "--filters", "tfidf", "--seeds", "2", "--workers", "1"]
    main(["audit", str(odd), *words, "--config", str(config), "--out", str(tmp_path / "audit")])
    meant = AuditOptions((odd,), filters="tfidf", reading=ReadingOptions(columns=COLUMNS, mask="-[0-9]"))
    assert told(tmp_path / "audit" / "audit.html") == replace(meant, folds=2, seeds=2)


def test_options_of_a_script_are_told_too(odd: Path) -> None:
    reading = ReadingOptions(columns=COLUMNS)
    options = AuditOptions((odd,), compare=odd, filters="tfidf", reading=reading, folds=2, seed=3, draws=3)
    out = odd.with_name("audit")
    run_audit(replace(options, out=out, workers=1, where=EngineOptions()))
    assert told(out / "audit.html") == options


def test_of_a_run_a_folder_is_told_without_which_its_filtering_is_audited(
    pool_folder: Path, tmp_path: Path, fake_filters: None
) -> None:
    run, settings = tmp_path / "run", ["--schedule", "hash:1", "--n-negatives", "4", "--audit", "none"]
    main(["filter", str(pool_folder), "--out", str(run), *settings, "--iterations", "1"])
    run_audit(AuditOptions((run,), filters="tfidf", folds=2, out=tmp_path / "its audit"))
    page = tmp_path / "its audit" / "audit.html"
    assert told(page) == AuditOptions((run,), filters="tfidf", folds=2, out=Path("audit"))


def test_how_a_file_was_read_is_part_of_what_to_run_next(
    odd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels, rows = tmp_path / "gold.csv", [line.rsplit(",", 1) for line in odd.read_text().splitlines()]
    labels.write_text("".join(f"{label}\n" for _, label in rows))
    odd.write_text("".join(f"{row}\n" for row, _ in rows))
    reading = ReadingOptions(columns=COLUMNS, labels_file=labels)
    run_audit(AuditOptions((odd,), filters="tfidf", reading=reading, folds=2, out=tmp_path / "audit"))
    main(["show", str(tmp_path / "audit")])
    line = capsys.readouterr().out.splitlines()[-1]
    pruning = parse(shlex.split(line.rpartition("; or ")[2])[1:])
    assert pruning.data == (Path("a quiz.csv"),)
    assert pruning.reading == replace(reading, labels_file=Path("gold.csv"))
