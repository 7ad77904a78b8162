"""The verb prune: the same bytes straight and resumed, in whatever order rows are; kept lines; errors in a line."""

import contextlib
import csv
import io
import json
import multiprocessing
import shutil
import signal
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import files_of, write
from judged import make_run
from killed import break_after, kill_at, killed_then_whole
from matplotlib.figure import Figure
from tiny_bert import save_tiny_bert

from swag_af.auditing.classes import ClassCount
from swag_af.auditing.comparison import Change, Comparison, Control, Side
from swag_af.cli.datasets.pruning import pruned_lines
from swag_af.cli.main import main
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.show import show
from swag_af.data.disk.files import read_jsonl, write_text
from swag_af.data.disk.manifests import begin_folder
from swag_af.data.disk.replacing import HOST
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import group
from swag_af.data.instances.reading import read_instances
from swag_af.judging.verdicts import Verdict, make_items, write_verdicts
from swag_af.pruning import verb
from swag_af.pruning.agreement import agreement_in_column, agreement_in_verdicts, by_difficulty
from swag_af.pruning.artifacts import (
    counted_line,
    is_made,
    left_line,
    made_lines,
    note_on,
    sentence,
    took_part,
    uncalled_line,
    without_hasty,
)
from swag_af.pruning.curve import Point
from swag_af.pruning.lines import write_kept
from swag_af.pruning.options import PruneOptions
from swag_af.pruning.plot import plot_curve
from swag_af.pruning.rounds import Limits, is_luck, unreached
from swag_af.pruning.verb import prune
from swag_af.reporting.plot import save_curve

Record = dict[str, Any]


def records(n: int = 90, *, seed: int = 0, noisy: bool = False) -> list[Record]:
    """Questions of three options in pairs of a group, two thirds of which give gold away; of the others, if `noisy`,
    annotators agree less."""
    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in range(40)]
    rows = []
    for i in range(n):
        label, tells = int(rng.integers(3)), i % 3 != 0
        options = [" ".join(rng.choice(words, 5)) for _ in range(3)]
        options[label] += " indeed it is" if tells else ""
        votes = [label, label, label if tells or not noisy else (label + 1) % 3]
        rows.append(
            {"id": f"q{i}", "group": f"g{i // 2}", "question": f"{i} {' '.join(rng.choice(words, 6))}?"}
            | {"choices": options, "label": label, "votes": votes}
        )
    return rows


@pytest.fixture(scope="module", autouse=True)
def _curves_are_written_down() -> Iterator[None]:
    """What a curve would show, in its files: drawing it takes a fifth of the time of these tests."""

    def written(points: Sequence[Point], took_part: Collection[str], folder: Path, *, title: str) -> None:
        for suffix in ("png", "svg"):
            write_text(folder / f"curve.{suffix}", f"{title} {points} {sorted(took_part)}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verb, "plot_curve", written)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "data.jsonl", records(noisy=True))


def options(data: Path, out: Path, **settings: Any) -> PruneOptions:
    quick = {"slice_share": 0.1, "audit_models": "tfidf", "draws": 2, "points": 1, "folds": 2}
    quick |= {} if settings.get("by") == "probes" else {"partitions": 8}
    return PruneOptions((data,), out, **{**quick, **settings})


@pytest.fixture(scope="module")
def straight(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("straight") / "out"
    prune(options(data, out, agreement_column="votes"))
    return out


def test_what_gives_itself_away_is_removed_and_all_is_written(straight: Path, data: Path) -> None:
    pruned = verb.open_pruned(straight)
    gone = [int(row.id[1:]) for row in pruned.rows if not row.kept]
    assert np.mean([i % 3 != 0 for i in gone]) > 0.85
    assert len(gone) > 20
    assert [one["id"] for _, one in read_jsonl(straight / "kept.jsonl")] == list(pruned.kept)
    assert all((row.round is None) == row.kept for row in pruned.rows)
    assert all((row.predictability or 0) >= 0.75 for row in pruned.rows if not row.kept)
    named = {"prune.json", "rows.jsonl", "kept.jsonl", "curve.jsonl", "curve.png", "curve.svg", "before", "after"}
    assert {path.name for path in straight.iterdir()} == named
    assert str(data.parent) not in (straight / "prune.json").read_text(encoding="utf-8")


def test_the_pages_name_the_whole_command(straight: Path, data: Path) -> None:
    for name in ("before", "after"):
        page = unescape((straight / name / "audit.html").read_text(encoding="utf-8"))
        assert f"swag-af prune {data} --partitions 8 --slice-share 0.1 --audit-models tfidf --draws 2" in page
        assert "--out " not in page


def test_the_lines_say_what_luck_does_and_what_falls_by_construction(straight: Path, data: Path) -> None:
    said = "\n".join(pruned_lines(verb.open_pruned(straight), options(data, straight)))
    assert "by luck, with answers drawn at random 19 times. Luck alone is above all of these 1 time in 20." in said
    assert "of a probe that took part a fall is by construction" in said
    assert "below chance" in said.lower()


def test_the_pages_say_which_rows_they_describe(straight: Path) -> None:
    """Both were "Audit of data", and said that 90 rows were read."""
    kept = f"{len(verb.open_pruned(straight).kept)} of 90"
    before, after = (unescape((straight / name / "audit.html").read_text()) for name in ("before", "after"))
    assert "<title>Audit of data before pruning</title>" in before
    assert f"<title>Audit of data after pruning ({kept} kept)</title>" in after
    assert f"{kept} instances are audited here: those that pruning kept" in after
    assert "data before pruning has 90 instances, data after pruning (" in after


def test_a_model_of_another_kind_is_named_where_all_read_what_chose_the_rows(straight: Path, data: Path) -> None:
    pruned, asked = verb.open_pruned(straight), options(data, straight, agreement_column="votes")
    lines = pruned_lines(pruned, asked)
    (told,) = (line for line in lines if line.startswith("swag-af prune "))
    assert f"--out {straight}-chars" in told
    assert "--audit-models tfidf,chars" in told
    assert "--agreement-column votes" in told
    classes = replace(pruned, about=replace(pruned.about, of="classes"))
    assert any("--audit-models tfidf,lstm" in line for line in pruned_lines(classes, asked))  # chars tell none apart
    other = replace(pruned, about=replace(pruned.about, took_part=()))  # as where an encoder chose
    assert told not in pruned_lines(other, asked)


def test_hard_rows_that_people_disagree_on_are_told(straight: Path) -> None:
    found = verb.open_pruned(straight).about.agreement
    assert found is not None
    assert found.high < 0
    assert found.rank_correlation > 0.2
    assert sum(part.n for part in found.parts[2:]) == 90


@pytest.mark.parametrize(
    ("where", "n"),
    [("above_by_luck", 0), ("rounds_of", 0), ("audit", 2), ("plot_curve", 0)],
)
def test_a_killed_run_goes_on_to_the_same_bytes(where: str, n: int, data: Path, straight: Path, tmp_path: Path) -> None:
    """Killed at `write_pruned` it measures nothing again, below; at any file, in `test_kills.py`."""
    killed_then_whole(verb, where, n, prune, options(data, tmp_path / "out", agreement_column="votes"), "prune.json")
    assert files_of(tmp_path / "out") == files_of(straight)


def test_rounds_and_points_that_stand_are_not_measured_again(
    data: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = options(data, tmp_path / "out", agreement_column="votes")
    kill_at(verb, "write_pruned", 0, prune, asked)
    for target in ("swag_af.pruning.aflite.AFLite.predictability", "swag_af.pruning.curve.probes"):
        monkeypatch.setattr(target, break_after(0, lambda: None))
    prune(asked)
    assert files_of(asked.out) == files_of(straight)


def test_a_finished_folder_is_read(data: Path, straight: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "_make", break_after(0, lambda: None))
    assert prune(options(data, straight, agreement_column="votes")) == verb.open_pruned(straight)


def test_what_kills_left_is_cleared_away(data: Path, straight: Path, tmp_path: Path) -> None:
    asked = options(data, tmp_path / "out", agreement_column="votes")
    kill_at(verb, "remove", 0, prune, asked)  # when all is written, and work still there
    prune(asked)
    assert files_of(asked.out) == files_of(straight)
    (asked.out / "prune.json").rename(tmp_path / "prune.json")
    begin_folder(
        asked.out / "work",
        verb._identity(asked, read_instances([data]), verb._agreement(asked, read_instances([data]))),
    )
    (asked.out / f".curve.png.{HOST}.999999999.tmp").write_text("half a picture")
    prune(asked)
    assert files_of(asked.out) == files_of(straight)


@pytest.mark.parametrize(
    ("n", "by_luck", "expected"),
    [(224, (248, 200), True), (142, (3, 5), False), (30, (5, 32, 18), True), (33, (5, 32, 18), False), (0, (0,), True)],
)
def test_no_more_than_luck_is_called_luck(n: int, by_luck: tuple[int, ...], expected: bool) -> None:
    """Two sets of random answers were as far apart as data and luck may be, in a quarter of all pairs."""
    assert is_luck(n, by_luck) is expected


def test_pruning_that_removes_luck_is_not_told_as_data_to_keep(straight: Path, data: Path) -> None:
    """ "Keep the data as it is" stood above a leak of 82 % that stays."""
    pruned = verb.open_pruned(straight)
    by_luck = replace(pruned, about=replace(pruned.about, n_above_by_luck=7, above_by_luck=(5, 90, 7)))
    said = "\n".join(pruned_lines(by_luck, options(data, straight)))
    assert "; 7 (5 to 90) by luck, with answers drawn at random 3 times. No more than luck may do, so what" in said
    assert "was removed is as good as random" in said
    assert "pruning like this does not help." in said
    assert "keep the data" not in said


def test_what_is_not_like_random_removal_is_not_called_as_good_as_random(straight: Path, data: Path) -> None:
    """It stood above a check that was weaker beyond what random removal does, and most of one class had gone."""
    pruned = verb.open_pruned(straight)
    by_luck = replace(pruned.about, above_by_luck=(90,))
    changes = Comparison("a", "b", 90, 60, 60, "id", 3, 0, (replace(BELOW, outcome="nearer"),))
    lopsided = (ClassCount("yes", 320, 70), ClassCount("no", 480, 410))
    for one in (
        replace(pruned, about=by_luck, comparison=changes),
        replace(pruned, about=replace(by_luck, classes=lopsided)),
    ):
        said = "\n".join(pruned_lines(one, options(data, straight)))
        assert "But what was removed is not like rows removed at random." in said
        assert "as good as random" not in said
    assert "Warning: removal is lopsided. Of yes 250 of 320 instances went (78.1 %)" in said


def test_random_answers_are_other_ones_each_time_and_all_are_kept(straight: Path) -> None:
    drawn = verb.open_pruned(straight).about.above_by_luck
    assert len(drawn) == 19
    assert len(set(drawn)) > 1


def test_a_folder_of_an_earlier_version_that_drew_answers_once_is_read(
    straight: Path, data: Path, tmp_path: Path
) -> None:
    shutil.copytree(straight, tmp_path / "old")
    record = json.loads((straight / "prune.json").read_text(encoding="utf-8"))
    del record["above_by_luck"], record["classes"]
    (tmp_path / "old" / "prune.json").write_text(json.dumps(record | {"n_above_by_luck": 3}), encoding="utf-8")
    said = "\n".join(pruned_lines(verb.open_pruned(tmp_path / "old"), options(data, straight)))
    assert "; 3 by luck, with answers drawn at random once. Luck alone is above all of these 1 time in 2." in said


@pytest.mark.parametrize(("n_options", "n_wrong"), [(2, True), (3, False)])
def test_what_is_as_surely_wrong_is_counted_of_two_answers(n_options: int, n_wrong: bool, tmp_path: Path) -> None:
    """It was counted of three classes too, if one had half of the instances."""
    rows = [
        {"premise": f"p{i}", "hypothesis": f"{i} w{i % 7}", "label": "abc"[i % 10 // 6 * (1 + i % (n_options - 1))]}
        for i in range(60)
    ]
    asked = options(write(tmp_path / "pairs.jsonl", rows), tmp_path / "out")
    instances = read_instances([write(tmp_path / "pairs.jsonl", rows)])
    assert (len(instances.classes), float(instances.chance.max())) == (n_options, 0.6)
    work = verb._Work(asked, instances, group(instances))
    work.begin({})
    about = work.about(work.rounds(), None, None)
    assert (about.rounds[0].n_wrong is not None) is n_wrong


def test_a_set_too_small_to_predict_anything_is_said_to_be(tmp_path: Path) -> None:
    rows = [{"premise": f"p{i}", "hypothesis": f"h{i}", "label": "abc"[i % 3]} for i in range(39)]
    asked = options(write(tmp_path / "few.jsonl", rows), tmp_path / "out")
    pruned = prune(asked)
    assert len(pruned.kept) == 39
    said = "\n".join(pruned_lines(pruned, asked))
    assert "Nothing was removed. The set is too small for more than a very plain sign to be found: each fit" in said
    assert "learns from 8 of 39 instances (--train-share 0.2), and 50 or more are needed." in said


@pytest.mark.parametrize("by", ["aflite", "probes"])
def test_the_order_of_rows_decides_nothing(by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb._Work, "audits", lambda *_: None)
    rows = records(60)
    order = np.random.default_rng(1).permutation(60)
    both = (write(tmp_path / "a.jsonl", rows), write(tmp_path / "b.jsonl", [rows[i] for i in order]))
    kept = [set(prune(options(path, tmp_path / path.stem, by=by)).kept) for path in both]
    assert kept[0] == kept[1]
    assert len(kept[0]) < 60


def test_classes_are_pruned_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "premise": f"p{i}",
            "hypothesis": f"{rng.integers(1e6)} {'no' if i % 2 else 'yes'} w{i % 7}",
            "label": "ab"[i % 2],
        }
        for i in range(80)
    ]
    pruned = prune(options(write(tmp_path / "pairs.jsonl", rows), tmp_path / "out", target=50))
    assert len(pruned.kept) == 50
    assert pruned.about.inputs == ("hypothesis",)


def test_the_kept_lines_may_stand_there_already_if_they_are_the_same(
    data: Path, straight: Path, tmp_path: Path
) -> None:
    """As where the command was killed at its very end, or is run twice."""
    asked = options(data, straight, agreement_column="votes", write=tmp_path / "kept.jsonl")
    prune(asked)
    before = (tmp_path / "kept.jsonl").read_bytes()
    prune(asked)
    assert (tmp_path / "kept.jsonl").read_bytes() == before
    (tmp_path / "kept.jsonl").write_bytes(before + b"{}\n")
    with pytest.raises(InputError, match="has other lines"):
        prune(asked)
    with pytest.raises(InputError, match="already exists"):
        prune(replace(asked, out=tmp_path / "new"))
    assert not (tmp_path / "new").exists()


def test_kept_lines_are_copied_byte_for_byte(data: Path, straight: Path, tmp_path: Path) -> None:
    pruned = prune(options(data, straight, agreement_column="votes", write=tmp_path / "kept.jsonl"))
    lines = data.read_bytes().splitlines(keepends=True)
    ids = set(pruned.kept)
    expected = b"".join(line for line in lines if json.loads(line)["id"] in ids)
    assert (tmp_path / "kept.jsonl").read_bytes() == expected


@pytest.mark.parametrize(
    ("features", "said"),
    [
        *((f"tfidf-svd[dim={n}]", f"dim={n}, at least 1") for n in (0, -3)),
        ("encoder[x,max_length=2]", "max_length=2, at least 8"),
    ],
)
def test_settings_of_features_out_of_range_are_told_before_any_work(
    features: str, said: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        prune(options(data, tmp_path / "out", features=features))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("features", ["encoder[{}]", "encoder[model={}]", "encoder[max_length=64,model={}]"])
def test_a_model_in_brackets_is_hashed_however_it_is_spelled(features: str, data: Path, tmp_path: Path) -> None:
    """Other weights behind `encoder[model=PATH]` were gone on with."""
    (tmp_path / "weights").write_text("1")
    asked = options(data, tmp_path / "out", features=features.format(tmp_path / "weights"))
    instances = read_instances([data])
    before = verb._identity(asked, instances, None)
    (tmp_path / "weights").write_text("2")
    assert verb._identity(asked, instances, None)["files"] != before["files"]
    audits = (f"encoder[model={tmp_path / 'weights'}]", f"encoder[{tmp_path / 'weights'},max_epochs=2]")
    assert took_part(replace(asked, audit_models=",".join(audits)), ["options"], ()) == tuple(
        f"options, {one}" for one in audits
    )


def test_rows_of_csv_are_copied_with_all_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb._Work, "audits", lambda *_: None)
    out = io.StringIO(newline="")
    made = csv.writer(out, lineterminator="\r\n")
    made.writerow(["id", "question", "a0", "a1", "a2", "label"])
    for row in records(60):
        made.writerow([row["id"], f"first\nsecond {row['question']}", *row["choices"], row["label"]])
    (tmp_path / "data.csv").write_bytes(out.getvalue().encode())
    asked = options(tmp_path / "data.csv", tmp_path / "out", write=tmp_path / "kept.csv", split_by="instance")
    ids = list(prune(asked).kept)
    kept = list(csv.DictReader(io.StringIO((tmp_path / "kept.csv").read_bytes().decode(), newline="")))
    assert [row["id"] for row in kept] == ids
    assert kept[0]["question"].startswith("first\nsecond")
    source = (tmp_path / "data.csv").read_bytes()
    assert b"\r\n" in (tmp_path / "kept.csv").read_bytes()
    assert all(line in source for line in (tmp_path / "kept.csv").read_bytes().splitlines(keepends=True))


def test_another_question_of_the_same_folder_is_refused(data: Path, straight: Path) -> None:
    with pytest.raises(InputError, match="finished with other partitions"):
        prune(options(data, straight, agreement_column="votes", partitions=9))


def test_a_killed_run_does_not_go_on_with_other_weights(data: Path, tmp_path: Path) -> None:
    folder = Path(save_tiny_bert(tmp_path / "bert"))
    asked = options(data, tmp_path / "out", features=f"encoder[{folder}]")
    kill_at(verb, "above_by_luck", 0, prune, asked)
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    with pytest.raises(InputError, match=r"begun with other files: encoder\[.*\] \(\w{8}, now \w{8}\)\. Repeat"):
        prune(asked)


def test_a_killed_run_does_not_go_on_with_an_edited_class(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features of the old class were mixed with what the new one makes."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "edited_features", raising=False)
    module = tmp_path / "edited_features.py"
    module.write_text(
        "import numpy as np\n\n\nclass Mine:\n    def vectors(self, reading, *, seed):\n"
        "        return np.random.default_rng(seed).normal(size=(len(reading.pieces), 5))\n",
        encoding="utf-8",
    )
    asked = options(data, tmp_path / "out", features="edited_features:Mine")
    kill_at(verb, "above_by_luck", 0, prune, asked)
    module.write_text(module.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    with pytest.raises(InputError, match="begun with other source of edited_features:Mine"):
        prune(asked)


def test_a_folder_of_somebody_else_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for name in ("thesis.txt", "begun.json"):
        with pytest.raises(InputError, match="was not made by prune"):
            prune(options(data, tmp_path))
        assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
        (tmp_path / "proj" / "work").mkdir(parents=True)
        (tmp_path / "proj" / "work" / name).write_text('["mine"]')
        before = files_of(tmp_path / "proj")
        with pytest.raises(InputError, match="was not made by prune"):
            prune(options(data, tmp_path / "proj"))
        assert files_of(tmp_path / "proj") == before
        (tmp_path / "proj").rename(tmp_path.with_name(f"{tmp_path.name}-{name}"))


def test_a_folder_that_was_killed_before_it_said_what_it_began_is_begun(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "work").mkdir(parents=True)
    (tmp_path / "out" / "work" / f".begun.json.{HOST}.999999999.tmp").write_text("{")
    assert prune(options(data, tmp_path / "out")).path == tmp_path / "out"
    assert not (tmp_path / "out" / "work").exists()


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"threshold": 1.5}, "--threshold 1.5"),
        ({"train_share": 1.0}, "--train-share 1"),
        ({"draws": 1}, "--draws 1: at least 2"),
        ({"agreement_column": "nothing"}, "no column 'nothing'"),
        ({"agreement_column": "question"}, "neither a number nor a list"),
        ({"features": "word2vec"}, "no representation 'word2vec'"),
        ({"input": "hypothesis"}, "input 'hypothesis'"),
        ({"verdicts": Path("verdicts.jsonl")}, "is no run folder"),
        ({"audit_models": "tfidf,nonsense"}, "no filter 'nonsense'. There are tfidf, fasttext, mlp"),
        ({"audit_models": "transformer"}, "needs its model in brackets"),
        ({"by": "probes", "probe_models": "nonsense"}, "no filter 'nonsense'"),
        ({"target": 90}, "--target 90: data has 90 instances, so none would be removed"),
        ({"target": 5000}, "--target 5000: data has 90 instances"),
        ({"features": "test_prune:Unreadable"}, "no model that can be read"),
        ({"by": "probes", "input": "full"}, "--input full: to probes that is the task itself.* Take --by aflite"),
        ({"by": "probes", "input": "shuffled"}, "--input shuffled: to probes that is the task itself"),
        ({"by": "probes", "features": "fasttext"}, "--features: of --by aflite alone"),
        (
            {"by": "probes", "partitions": 9, "train_share": 0.3},
            "--partitions: of --by aflite alone; --train-share: of",
        ),
        ({"probe_models": "chars"}, "--probe-models: of --by probes alone"),
    ],
)
def test_what_cannot_be_is_said_in_a_line_and_leaves_nothing(
    settings: Record, fault: str, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=fault) as raised:
        prune(options(data, tmp_path / "out", **settings))
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


class Unreadable:
    """Features that are refused when they are first asked for, as those of an encoder that is not there."""

    def vectors(self, reading: Any, *, seed: int) -> np.ndarray:
        raise InputError("nowhere: no model that can be read.")


def test_a_refusal_takes_away_nothing_that_was_measured(data: Path, tmp_path: Path) -> None:
    asked = options(data, tmp_path / "out", features="test_prune:Unreadable")
    work = asked.out / "work"
    begin_folder(work, verb._identity(asked, read_instances([data]), None))
    (work / "luck.npy").write_bytes(b"measured")
    with pytest.raises(InputError, match="no model that can be read"):
        prune(asked)
    assert {path.name for path in work.iterdir()} == {"begun.json", "luck.npy"}


@pytest.mark.parametrize("split_by", ["group", "instance"])
def test_data_of_one_group_is_refused_before_any_work(split_by: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", [row | {"question": "the same", "group": ""} for row in records(8)])
    with pytest.raises(InputError, match=r"all instances are of one group"):
        prune(options(path, tmp_path / "out", split_by=split_by))
    assert not (tmp_path / "out").exists()


def test_groups_that_are_all_too_large_to_fit_on_are_refused_before_any_work(tmp_path: Path) -> None:
    """Nothing was fitted, and that nothing was removed was told as luck."""
    path = write(tmp_path / "data.jsonl", [row | {"group": f"g{i // 30}"} for i, row in enumerate(records())])
    with pytest.raises(
        InputError, match=r"each of 3 groups has more .*Take a larger --train-share, or --split-by inst"
    ):
        prune(options(path, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("settings", [{"train_share": 0.4}, {"split_by": "instance"}, {"by": "probes"}])
def test_groups_are_not_too_large_where_they_are_fitted_on_or_parted(settings: Record, tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", [row | {"group": f"g{i // 30}"} for i, row in enumerate(records())])
    instances = read_instances([path])
    verb._Work(options(path, tmp_path / "out", **settings), instances, group(instances)).check()


def test_one_group_that_is_small_enough_is_fitted_on(tmp_path: Path) -> None:
    rows = [row | {"group": "small" if i < 15 else f"g{i // 45}"} for i, row in enumerate(records())]
    instances = read_instances([write(tmp_path / "data.jsonl", rows)])
    work = verb._Work(options(tmp_path / "data.jsonl", tmp_path / "out"), instances, group(instances))
    work.check()
    assert work.rounds()[0].n_above > 0


@pytest.mark.parametrize(("by", "take"), [("aflite", "--input"), ("probes", "--by aflite --input")])
def test_single_texts_have_no_part_to_read_and_that_is_said(by: str, take: str, tmp_path: Path) -> None:
    rows = [{"id": f"t{i}", "text": f"w{i % 7} {'no' if i % 2 else 'yes'}", "label": "ab"[i % 2]} for i in range(30)]
    with pytest.raises(InputError, match=rf"nothing to read but the task itself\. Take {take} shuffled or full"):
        prune(options(write(tmp_path / "texts.jsonl", rows), tmp_path / "out", by=by))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("data.jsonl", "already exists"),
        ("", "this is a folder"),
        ("data.jsonl/kept.jsonl", "is a file, not a folder"),
        ("out", "--out writes something else there"),
        ("out/kept.jsonl", "--out writes something else there"),
    ],
)
def test_where_kept_lines_cannot_go_is_said_of_write(name: str, fault: str, tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", records(8))
    with pytest.raises(InputError, match=r"--write .*Name another file\.") as raised:
        prune(options(path, tmp_path / "out", write=tmp_path / name))
    assert fault in str(raised.value)
    assert "--force" not in str(raised.value)
    assert [one.name for one in tmp_path.iterdir()] == ["data.jsonl"]


def test_two_random_removals_are_told_and_give_no_verdict(straight: Path, data: Path) -> None:
    """However near they lie together: the interval reckoned from them is then far too narrow."""
    pruned = verb.open_pruned(straight)
    assert pruned.comparison is not None
    controlled = [one for one in pruned.comparison.changes if one.control]
    assert {one.outcome for one in controlled} == {"untold"}
    drawn = next(one.control for one in controlled if one.subject == "options, tfidf")
    said = "\n".join(pruned_lines(pruned, options(data, straight)))
    assert drawn is not None
    values = " and ".join(f"{100 * value:.1f} %" for value in drawn.values)
    assert f"as many rows removed at random: {values}; chance" in said
    assert "No verdict: 2 random removals do not say how far luck goes. With --draws 3 or more" in said
    assert "95 %" not in said.partition("Agreement")[0]


UP, DOWN = Side(0.30, 0.27, 0.33, "found"), Side(0.21, 0.19, 0.23, "found")
BELOW = Change("AF101", "options, tfidf", "accuracy", 0.25, UP, DOWN, Control((0.3,), 0.3, 0.29, 0.31), None, "further")


def test_an_interval_is_said_to_be_of_so_many_random_removals() -> None:
    """ "41.2 % after; 42.6 to 47.7 %, as far from chance as when ..." read as the opposite of what it meant."""
    change = replace(BELOW, control=Control((0.3, 0.31, 0.29), 0.3, 0.25, 0.35))
    said = "AF101 options, tfidf: 30.0 % before, 21.0 % after; as many rows removed at random: 25.0 to 35.0 % (95 %, 3 "
    assert sentence(change) == f"{said}draws); chance 25.0 %."
    assert "(95 %, 3 draws, shifted by the change in chance); chance 30.0 % before, 25.0 % after." in sentence(
        replace(change, chance_before=0.3)
    )
    comparison = Comparison("a", "b", 90, 60, 60, "id", 3, 0, (change,))
    assert without_hasty(comparison) == comparison
    assert without_hasty(replace(comparison, n_draws=2)).changes == (replace(change, outcome="untold"),)


def test_what_lies_beyond_five_removals_is_told_by_count_and_as_one_of_many_checks() -> None:
    """With 5 draws a change was named that 20 did not bear out: it was one of sixty checks, each with an interval."""
    few = Comparison("a", "b", 90, 60, 60, "id", 5, 0, (replace(BELOW, outcome="same"),))
    said = "beyond all 5 of them is luck 1 time in 6, of each check: --draws 19 makes that 1 in 20."
    assert counted_line(few).endswith(said)
    assert not counted_line(replace(few, n_draws=19))
    said = " Outside its own interval, inside the one for all checks together: not significant."
    assert sentence(few.changes[0]).endswith(said)
    assert "Outside" not in sentence(BELOW)


def test_what_is_below_chance_after_and_may_be_luck_is_named() -> None:
    """ "Nothing fell below chance by the pruning" was said of 26.8 %, found below a chance of 37.6."""
    luck = replace(BELOW, outcome="same")
    made = made_lines(Comparison("a", "b", 90, 60, 60, "id", 3, 0, (luck,)), ())
    assert [
        line.startswith(f"{sentence(luck)} Below chance, where it was not before; beside 3 random") for line in made
    ]
    above = Comparison("a", "b", 90, 60, 60, "id", 3, 0, (replace(luck, after=UP), replace(luck, before=DOWN)))
    assert made_lines(above, ()) == ["Nothing fell below chance by the pruning."]
    weighed = replace(above, changes=(replace(luck, after=UP, balanced=True),))
    assert made_lines(weighed, ()) == ["Nothing fell below chance by the pruning, each class weighed equally."]


def test_where_nothing_was_above_chance_before_it_is_said_that_nothing_called_for_pruning() -> None:
    clear = replace(BELOW, before=replace(UP, status="clear"))
    for change, expected in [(clear, True), (replace(BELOW, before=DOWN), True), (BELOW, False)]:
        said = uncalled_line(Comparison("a", "b", 90, 60, 60, "id", 3, 0, (change,)))
        assert said.endswith("nothing called for pruning.") is expected


def test_the_largest_leak_that_stays_is_named() -> None:
    stays = replace(BELOW, code="AF201", subject="longest", before=Side(0.5, 0.4, 0.6, "found"), after=UP)
    full = replace(stays, code="AF110", after=Side(0.9, 0.8, 0.95, "clear"))
    comparison = Comparison("a", "b", 90, 60, 60, "id", 5, 0, (BELOW, stays, full))
    assert left_line(comparison) == (
        "The largest leak that stays: AF201 longest, 30.0 % after, 50.0 % before; chance 25.0 %."
    )
    assert left_line(replace(comparison, changes=(BELOW, full))).startswith("No probe and no single feature")


def test_what_weighs_each_class_equally_is_said_to_do_so() -> None:
    assert sentence(replace(BELOW, balanced=True)).startswith(
        "AF101 options, tfidf, each class weighed equally: 30.0 %"
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (BELOW, True),
        (replace(BELOW, before=DOWN), False),
        (replace(BELOW, before=UP, chance_before=0.375), False),
        (replace(BELOW, after=replace(DOWN, status="clear")), False),
        (replace(BELOW, after=UP), False),
        (replace(BELOW, control=Control((0.2,), 0.2, 0.19, 0.22)), False),
        (replace(BELOW, outcome="same"), False),  # beyond the interval of one check, and not of all
        (replace(BELOW, unit="share"), False),
        (replace(BELOW, outcome="untold"), False),
    ],
)
def test_what_falls_below_chance_and_was_not_so_was_made(change: Change, expected: bool) -> None:
    assert is_made(change) is expected


def test_agreement_is_compared_where_it_is_known() -> None:
    agreement = np.array([1, 1, 1, 1, 0.5, 0.5, 0.5, np.nan])
    predictability = np.array([0.9, 0.8, 0.9, 1, 0.1, 0.2, 0.3, 0.4])
    kept = predictability < 0.75
    found = by_difficulty(agreement, predictability, kept, np.arange(8), of="votes")
    assert found is not None
    assert [(part.name, part.n, part.agreement) for part in found.parts[:2]] == [("removed", 4, 1.0), ("kept", 3, 0.5)]
    assert found.difference == -0.5
    assert found.rank_correlation > 0.8
    nobody = by_difficulty(np.full(8, np.nan), predictability, kept, np.arange(8), of="votes")
    assert nobody is None


@pytest.mark.parametrize("sign", [1, -1])
def test_groups_on_both_sides_are_drawn_with_both(sign: int) -> None:
    """What a video adds to both sides does not count, and what it adds to one and takes from the other counts twice."""
    rng = np.random.default_rng(0)
    groups, kept = np.repeat(np.arange(100), 2), np.tile([True, False], 100)
    by_video = rng.uniform(-0.25, 0.25, 100)[groups]
    agreement = 0.6 + np.where(kept, 1, sign) * by_video + rng.normal(0, 0.02, 200)
    found = by_difficulty(agreement, rng.random(200), kept, groups, of="votes")
    assert found is not None
    paired = agreement[kept] - agreement[~kept]
    half = 1.984 * paired.std(ddof=1) / 10  # t of 99 degrees of freedom
    assert (found.low, found.high) == pytest.approx((paired.mean() - half, paired.mean() + half), abs=2e-3)


def test_ties_do_not_stand_in_fifths_as_they_stand_in_the_file() -> None:
    """Of a file in the order of agreement, whose predictability is 0 or 1, the fifths rose from 56 to 94 %."""
    agreement = np.linspace(0.5, 1.0, 500)
    predictability = (np.arange(500) % 5 == 0).astype(float)
    found = by_difficulty(agreement, predictability, predictability < 0.5, np.arange(500), of="votes")
    assert found is not None
    assert [part.n for part in found.parts[2:]] == [100] * 5
    assert max(abs(part.agreement - 0.75) for part in found.parts[2:]) < 0.06


def test_verdicts_on_a_run_are_agreement_on_its_rows(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    items = make_items(run.assignment(), seed=0)[::2]
    half = [(item, one, int(one == "b" and item.row % 4 == 0)) for item in items for one in "ab"]
    said = [Verdict(item, one, ("likely",) * 6, best, 2) for item, one, best in half]
    write_verdicts(tmp_path / "verdicts.jsonl", said, run.pool.identity)
    found = agreement_in_verdicts(run.path, tmp_path / "verdicts.jsonl", read_instances([run.path]))
    expected = [0.5 if row % 4 == 0 else 1.0 if row % 2 == 0 else np.nan for row in range(len(run.pool))]
    assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *((0.6, 0.6), ("1", 1.0), (["a", "a", "b", ""], 2 / 3), ({"x": "a", "y": "b"}, 0.5)),
        *(('["a", "b", "b"]', 2 / 3), (["a", None, "b", None, " "], 0.5), (["a", "a", None], 1.0)),
        *((["a"], np.nan), (["a", None, ""], np.nan), ({"x": "a", "y": None}, np.nan), ('["a", null]', np.nan)),
        *((" ", np.nan), ([], np.nan), ([1, 0, 1], 2 / 3)),
    ],
)
def test_agreement_is_a_number_or_the_share_of_the_commonest_label(cell: Any, expected: float, tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", [row | {"said": cell} for row in records(5)] + records(3, seed=1))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write(path, [row | {"id": f"r{i}"} for i, row in enumerate(rows)])
    found = agreement_in_column([path], "said", read_instances([path]), format="auto")
    assert found[:5].tolist() == pytest.approx([expected] * 5, nan_ok=True)
    assert np.isnan(found[5:]).all()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *(({"e": 98, "n": 1, "c": 1}, 0.98), ({"e": 0.34, "n": 0.33, "c": 0.33}, 0.34), ({"e": 3.0, "n": None}, 1.0)),
        *(({"e": 1, "n": 0}, np.nan), ({"e": 1.0, "n": 0.0}, 1.0), ({"e": None}, np.nan), (["e", "e", "n"], 2 / 3)),
    ],
)
def test_agreement_by_label_is_the_share_of_the_commonest(cell: Any, expected: float, tmp_path: Path) -> None:
    """Counts of 98, 1 and 1 were taken as three votes, two of which agree."""
    path = pairs(tmp_path, cell)
    found = agreement_in_column([path], "said", read_instances([path]), format="auto")
    assert found.tolist() == pytest.approx([expected] * 4, nan_ok=True)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        *(({"ann1": 0, "ann2": 0}, 1.0), ({"ann1": 1, "ann2": None}, np.nan)),
        *(({"A": 2, "B": 1, "C": 0}, 2 / 3), ({"0": 2, "1": 1}, 2 / 3), ({"x": 5, "y": 15}, 0.75), ({"x": 0.9}, 1.0)),
    ],
)
def test_numbers_by_annotator_are_labels_and_not_counts(cell: Any, expected: float, tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", [row | {"said": cell} for row in records(5)])
    found = agreement_in_column([path], "said", read_instances([path]), format="auto")
    assert found.tolist() == pytest.approx([expected] * 5, nan_ok=True)


TWO_ONE, TWO_TWO_ONE = {"e": 2, "n": 1}, {"e": 2, "n": 2, "c": 1}

COLUMNS: dict[str, tuple[list[dict[str, int]], list[float]]] = {
    "annotators, all of label 0 in a row": ([{"ann": 0, "bob": 0, "cid": 2}, {"ann": 0, "bob": 0}], [2 / 3, 1.0]),
    "annotators, of other names in each row": ([{f"w{i}{k}": k // 2 for k in range(3)} for i in range(3)], [2 / 3] * 3),
    "counts, of which one is no label": ([TWO_TWO_ONE, {"e": 4, "c": 1}], [0.4, 0.8]),
    "counts, since labels count from 0 or from 1": ([TWO_ONE, {"e": 3, "n": 0}], [2 / 3, 1.0]),
    "counts of one sum": ([TWO_ONE, {"e": 3}, {"e": 1, "n": 1, "c": 1}] * 4, [2 / 3, 1.0, 1 / 3] * 4),
    "either": ([{"e": 1}, {"n": 1}], [np.nan] * 2),
}


@pytest.mark.parametrize(("cells", "expected"), COLUMNS.values(), ids=COLUMNS.keys())
def test_what_objects_of_numbers_are_is_told_by_the_column(
    cells: list[dict[str, int]], expected: list[float], tmp_path: Path
) -> None:
    """Counts of 2, 2 and 1 beside classes 0, 1 and 2 were three votes of which two agree, cell by cell."""
    path = three_classes(tmp_path, cells)
    found = agreement_in_column([path], "said", read_instances([path]), format="auto")
    assert found[: len(cells)].tolist() == pytest.approx(expected, nan_ok=True)


def test_objects_that_may_be_labels_or_counts_are_refused(tmp_path: Path) -> None:
    path = three_classes(tmp_path, [{"e": 1}, TWO_TWO_ONE])
    with pytest.raises(InputError, match=r"line 2 has .* under said: labels by annotator, or how many .* Give lists"):
        agreement_in_column([path], "said", read_instances([path]), format="auto")


def test_counts_of_two_people_are_counts_where_a_row_has_none(tmp_path: Path) -> None:
    """That row made labels of all of them, three in each."""
    path = three_classes(
        tmp_path, [*({"e": 2 - k % 2, "n": k % 2, "c": 0} for k in range(11)), {"e": 0, "n": 0, "c": 0}]
    )
    with pytest.raises(InputError, match=r"line 12 .*all 0"):
        agreement_in_column([path], "said", read_instances([path]), format="auto")


def three_classes(folder: Path, cells: Sequence[object]) -> Path:
    """Pairs with labels 0, 1 and 2, each with what a cell says of its annotators; two more of each label with none."""
    rows = [{"id": str(i), "premise": f"p {i} word", "hypothesis": f"h {i} text", "label": i % 3} for i in range(18)]
    return write(folder / "data.jsonl", [row | {"said": c} for row, c in zip_longest(rows, cells)])


def test_numbers_by_the_text_of_an_option_are_counts(tmp_path: Path) -> None:
    rows = [row | {"said": {row["choices"][0]: 2, row["choices"][1]: 1}} for row in records(5)]
    path = write(tmp_path / "data.jsonl", rows)
    found = agreement_in_column([path], "said", read_instances([path]), format="auto")
    assert found.tolist() == pytest.approx([2 / 3] * 5)


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        *(([98, 1, 1], "list of numbers under said, and labels are e, n: "), ("[0.9, 0.1]", "list of numbers")),
        *(({"e": -1, "n": 3}, "below 0, or all 0"), ({"e": 0, "n": 0}, "below 0, or all 0")),
    ],
)
def test_numbers_that_say_nothing_of_agreement_are_refused(cell: Any, fault: str, tmp_path: Path) -> None:
    path = pairs(tmp_path, cell)
    with pytest.raises(InputError, match=fault):
        agreement_in_column([path], "said", read_instances([path]), format="auto")


def pairs(folder: Path, cell: Any) -> Path:
    """Four labelled pairs, of whose annotators `cell` is said."""
    texts = ({"premise": f"p {i} word", "hypothesis": f"h {i} text", "label": "en"[i % 2]} for i in range(4))
    return write(folder / "data.jsonl", [{"id": str(i), **row, "said": cell} for i, row in enumerate(texts)])


def test_agreement_that_was_asked_for_and_cannot_be_told_is_said(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One label a row agrees with itself."""
    rows = [row | {"votes": row["votes"][:1]} for _, row in read_jsonl(data)]
    asked = options(write(tmp_path / "data.jsonl", rows), tmp_path / "out", agreement_column="votes", draws=2)
    for _ in range(2):
        assert prune(asked).about.agreement is None
        told = capsys.readouterr().err
        assert "Agreement of annotators (votes): cannot be told, 0 of 90 instances have one." in told


def test_a_probe_of_the_same_words_is_no_independent_witness(data: Path, tmp_path: Path) -> None:
    took = took_part(options(data, tmp_path), ["options"], ["tfidf"])
    assert took == ("options, tfidf",)
    assert "by construction" in note_on("options, tfidf", took)
    assert "same words" in note_on("options, fasttext", took)
    assert not note_on("options, chars", took)
    assert not note_on("hypothesis, fasttext", took)
    assert not note_on("longest", took)
    assert not took_part(options(data, tmp_path, features="encoder[x]"), ["options"], ["tfidf"])
    assert took_part(options(data, tmp_path, by="probes"), ["options"], ["chars"]) == ("options, chars",)


def test_what_is_said_of_a_probe_that_took_part_is_true_of_one_that_rose(data: Path, tmp_path: Path) -> None:
    """It was said of an accuracy that rose that it falls by construction, and that its fall is no witness."""
    took = took_part(options(data, tmp_path), ["options"], ["tfidf"])
    assert "a fall is by construction" in note_on("options, tfidf", took)
    assert "a fall is no independent witness" in note_on("options, fasttext", took)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"threshold": 1.0}, "fewer than the 9 that it may remove at the threshold 1. Lower --threshold."),
        ({"threshold": 0.01, "train_share": 0.6}, "all needed to fit on. Take a smaller --train-share"),
    ],
)
def test_a_target_that_is_not_reached_is_told_and_kept(settings: Record, why: str, data: Path, tmp_path: Path) -> None:
    """Nothing was said of it."""
    asked = options(data, tmp_path / "out", target=10, **settings)
    pruned = prune(asked)
    assert pruned.about.unreached.startswith(f"Target 10 not reached, {len(pruned.kept)} are kept: ")
    assert why in pruned.about.unreached
    assert pruned.about.unreached in pruned_lines(pruned, asked)
    assert pruned.about.unreached in show(ShowOptions(asked.out))


def test_nothing_is_said_of_a_target_that_is_reached_or_was_not_asked_for(straight: Path) -> None:
    assert not verb.open_pruned(straight).about.unreached
    assert not unreached(Limits(0.75, 9, target=50), 50)


def test_a_probe_of_the_encoder_that_chose_the_rows_falls_by_construction(data: Path, tmp_path: Path) -> None:
    """It was recommended as one of another kind, and told as a witness."""
    audited = "encoder[x],encoder[y],encoder[x,max_length=64],transformer[x],tfidf"
    same = ("options, encoder[x]", "options, encoder[x,max_length=64]")
    by_features = options(data, tmp_path, features="encoder[x,max_length=32]", audit_models=audited)
    assert took_part(by_features, ["options"], []) == same
    by_probes = options(data, tmp_path, by="probes", audit_models=audited)
    assert took_part(by_probes, ["options"], ["encoder[x]"]) == same
    assert "by construction" in note_on("options, encoder[x]", same)
    assert not note_on("options, encoder[y]", same)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("anatomy_test.csv", ['"What is it,\nthen?",1,2,3,4,A\n', "Who is it?,1,2,3,4,B\n", "Why is it?,a,b,c,d,D\n"]),
        ("in_domain_train.tsv", ['a\t1\t\t"Go" he said.\n', 'a\t0\t*\tThem "ran.\n', "a\t0\t*\tHer sits.\n"]),
    ],
)
def test_lines_of_a_table_without_a_header_are_copied(name: str, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text("".join(lines))
    write_kept(tmp_path / name, tmp_path / "kept", read_instances([tmp_path / name]), [0, 2], "auto")
    assert (tmp_path / "kept").read_text() == lines[0] + lines[2]


def test_the_line_that_says_the_separator_is_copied(tmp_path: Path) -> None:
    rows = ["Who is it?;he;she;B\n", '"What; is\nit?";a;b;A\n', "Why?;so;no;A\n"]
    first = "sep=;\nquestion;A;B;answer\n"
    path = tmp_path / "rows.csv"
    path.write_text(first + "".join(rows))
    write_kept(path, tmp_path / "kept.csv", read_instances([path]), [0, 1], "auto")
    assert (tmp_path / "kept.csv").read_text() == first + "".join(rows[:2])


def test_rows_of_several_questions_share_their_agreement_and_are_not_copied(tmp_path: Path) -> None:
    race = {
        "article": "He sits.",
        "questions": ["Who?", "What?"],
        "options": [["he", "she"]] * 2,
        "answers": ["A", "B"],
    }
    path = write(tmp_path / "race.jsonl", [race | {"id": "one", "votes": 0.5}, race | {"id": "two", "votes": 0.75}])
    made = read_instances([path])
    assert agreement_in_column([path], "votes", made, format="auto").tolist() == [0.5, 0.5, 0.75, 0.75]
    with pytest.raises(InputError, match=r"--write: rows of .*race.jsonl hold several questions each"):
        prune(options(path, tmp_path / "out", write=tmp_path / "kept.jsonl"))
    assert not (tmp_path / "kept.jsonl").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("straight")  # so that what it imports is there, for all that are forked
def test_a_process_killed_at_random_moments_goes_on_to_the_same_bytes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command line, as often as it takes, drawn; the moments cover a whole run. AFLite is killed in
    `test_kills.py`."""
    monkeypatch.setattr(verb, "plot_curve", plot_curve)
    settings = "--slice-share 0.05 --threshold 0.3 --audit-models tfidf --draws 2 --points 2 --folds 2"
    command = ["prune", str(data), "--by", "probes", *settings.split(), "--out"]
    begin = time.monotonic()
    silently([*command, str(tmp_path / "straight")])
    took, rng, n_killed = time.monotonic() - begin, np.random.default_rng(0), 0
    while not (tmp_path / "killed" / "prune.json").exists():
        moment = rng.uniform(0.05, 0.2 + n_killed / 4) * took  # the first soon: it may be faster than `took` says
        ended = exit_code([*command, str(tmp_path / "killed")], kill_after=moment)
        assert ended in (0, -signal.SIGKILL)
        n_killed += ended != 0
    assert n_killed
    assert exit_code([*command, str(tmp_path / "killed")]) == 0  # removes what it worked with
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "straight")
    assert (tmp_path / "killed" / "curve.png").read_bytes()[:4] == b"\x89PNG"


def exit_code(command: list[str], *, kill_after: float | None = None) -> int | None:
    """That of the command in a process, killed after so many seconds; a fork, since imports take longer than work."""
    process = multiprocessing.get_context("fork").Process(target=silently, args=(command,))
    process.start()
    process.join(kill_after)
    process.kill()
    process.join()
    return process.exitcode


def silently(command: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(command)


def test_contrast_sets_that_are_left_in_part_are_told(tmp_path: Path) -> None:
    """What is left of a set is easier to have right as a whole, and an audit after it said nothing of that."""
    rows = [{**row, "contrast_set": f"s{i // 2}"} for i, row in enumerate(records())]
    made = options(write(tmp_path / "sets.jsonl", rows), tmp_path / "out")
    pruned = prune(made)
    stay = {one.id: one.kept for one in pruned.rows}
    pairs = [[stay[f"q{i}"], stay[f"q{i + 1}"]] for i in range(0, 90, 2)]
    n_parted, n_whole = sum(sum(pair) == 1 for pair in pairs), sum(map(all, pairs))
    assert n_parted > 5
    said = f"Of 45 contrast sets {n_parted} lost some of their instances and not all, and {n_whole} are whole."
    assert said in "\n".join(pruned_lines(pruned, made))


def test_agreement_that_was_edited_is_other_agreement(data: Path, tmp_path: Path) -> None:
    """The figures of the votes as they were came out again."""
    asked = options(data, tmp_path / "out", agreement_column="votes")
    instances = read_instances([data])
    agreement = verb._agreement(asked, instances)
    assert agreement is not None
    assert verb._identity(asked, instances, agreement) == verb._identity(asked, instances, agreement.copy())
    assert verb._identity(asked, instances, agreement) != verb._identity(asked, instances, 1 - agreement)


def test_the_curve_counts_whole_instances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had ticks at 119.8 instances."""
    labels: list[str] = []

    def seen(figure: Figure, folder: Path) -> list[Path]:
        figure.canvas.draw()
        labels.extend(tick.get_text() for tick in figure.axes[0].get_xticklabels())
        return save_curve(figure, folder)

    monkeypatch.setattr("swag_af.pruning.plot.save_curve", seen)
    points = [Point(n, "pruned", 0, "options, tfidf", 0.5, 0.4, 0.6, 0.25) for n in (119, 120)]
    plot_curve(points, (), tmp_path, title="one round")
    assert labels
    assert not any("." in label for label in labels)
