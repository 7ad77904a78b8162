"""Claims about the verb: what it writes, prints and refuses."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from folders import write
from made_scores import choices, classes, dataset, options_of, paired_classes, pairs

import swag_af
from swag_af import scores_of
from swag_af.auditing.storing import save_audit
from swag_af.cli.main import main
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.reporting.pages.score import score_page
from swag_af.scoring.figures import Figure
from swag_af.scoring.masking import changed_by_mask, write_masked
from swag_af.scoring.options import PredictionOptions, ScoreOptions
from swag_af.scoring.outcome import Scores, score_of
from swag_af.scoring.partial import only_rows, predicted_rows
from swag_af.scoring.reading.predictions import predictions_of
from swag_af.scoring.told import figure_rows, further, headline, kappa_of, shown, spread_sentence
from swag_af.scoring.verb import _chosen_by


def predictions(path: Path, data: Instances, right: float, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    chosen = np.where(rng.random(len(data)) < right, data.answers, rng.integers(4, size=len(data)))
    return write(path, ({"id": one.id, "pred": int(i)} for one, i in zip(data.instances, chosen, strict=True)))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path, Path]:
    """A dataset, two models, and what the first does blind."""
    data = choices(120, n_groups=20)
    questions = dataset(tmp_path / "q.jsonl", data)
    made = [predictions(tmp_path / f"{name}.jsonl", data, right, i) for i, (name, right) in enumerate(MODELS)]
    return questions, made[0], made[1], made[2]


MODELS = (("ours", 0.8), ("<theirs>", 0.4), ("blind", 0.1))


def test_everything_is_written_and_printed(
    files: tuple[Path, Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, ours, theirs, blind = map(str, files)
    out, record = tmp_path / "s.html", tmp_path / "s.json"
    main(["score", questions, ours, theirs, "--blind", f"no-image={blind}", "--json", str(record), "--out", str(out)])
    printed = capsys.readouterr().out
    assert "ours is right on" in printed
    assert "ours has +" in printed
    found = json.loads(record.read_text())
    assert found["kind"] == "score"
    assert [one["model"] for one in found["models"]] == ["ours", "<theirs>"]
    assert {"figures", "parts", "groups", "spread", "n_missing", "n_tied"} <= set(found["models"][0])
    assert found["comparisons"][0]["mcnemar"] < 0.01
    assert found["gaps"][0]["gap"]["low"] > 0
    page = out.read_text(encoding="utf-8")
    assert "&lt;theirs&gt;" in page
    assert "<theirs>" not in page
    for section in ("figures", "comparison", "blind", "groups", "making"):
        assert f'<section id="{section}">' in page
    assert_closed(page)


def test_the_dataset_is_not_taken_for_predictions_unless_it_has_some(tmp_path: Path) -> None:
    """Its labels were right on 100 %, without a remark."""
    data = choices(12, n_groups=4)
    questions = dataset(tmp_path / "q.jsonl", data)
    (link := tmp_path / "model.jsonl").symlink_to(questions)
    with pytest.raises(InputError, match=r"model\.jsonl: this is the dataset itself, whose labels are all right"):
        swag_af.score(ScoreOptions(questions, (link,)))
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    write(questions, (row | {"prediction": 0} for row in rows))
    scores = swag_af.score(ScoreOptions(questions, (questions,)))
    assert scores.models[0].figures[0].value == round(np.mean(data.answers == 0), 9)


class Tags(HTMLParser):
    """Notes which tags are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_closed(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    assert not tags.open


def test_the_same_command_writes_the_same_bytes(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    questions, ours, theirs, _ = files
    written = []
    for name in ("a", "b"):
        record, page = tmp_path / f"{name}.json", tmp_path / f"{name}.html"
        swag_af.score(swag_af.ScoreOptions(questions, (ours, theirs), json=record, out=page))
        written.append((record.read_bytes(), page.read_bytes()))
    assert written[0] == written[1]


def test_the_order_of_lines_changes_no_figure(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    questions, ours, theirs, _ = files
    before = swag_af.score(swag_af.ScoreOptions(questions, (ours, theirs)))
    for path in (questions, ours, theirs):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(sorted(lines, key=lambda line: line[::-1])))
    after = swag_af.score(swag_af.ScoreOptions(questions, (ours, theirs)))
    assert (before.models, before.comparisons) == (after.models, after.comparisons)


def test_tiers_of_an_audit_are_parts(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    questions, ours, _, _ = files
    audited = swag_af.run_audit(swag_af.AuditOptions((questions,), filters="tfidf", seeds=1)).audit
    save_audit(audited, tmp_path / "audit")
    found = swag_af.score(swag_af.ScoreOptions(questions, (ours,), audit=tmp_path / "audit"))
    parts = [one for one in found.models[0].parts if one.part.startswith("tier: ")]
    assert sum(one.n for one in parts) == 120
    assert parts[-1].part == "tier: hard"
    other = dataset(tmp_path / "other.jsonl", choices(130))
    with pytest.raises(InputError, match=r"--audit .*10 ids"):
        swag_af.score(swag_af.ScoreOptions(other, (), people=ours, audit=tmp_path / "audit"))


def test_an_audit_of_other_answers_is_refused(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    questions, ours, _, _ = files
    audited = swag_af.run_audit(swag_af.AuditOptions((questions,), filters="tfidf", seeds=1)).audit
    save_audit(audited, tmp_path / "audit")
    dataset(questions, choices(120, n_groups=20, seed=1))
    with pytest.raises(InputError, match="another right answer"):
        swag_af.score(swag_af.ScoreOptions(questions, (ours,), audit=tmp_path / "audit"))


def test_masked_questions_are_written_without_labels(tmp_path: Path) -> None:
    data = choices(6)
    hidden = tuple(replace(one, context="[MASK]?") if i % 2 else one for i, one in enumerate(data.instances))
    masked = replace(data, instances=hidden)
    changed = changed_by_mask(data, masked)
    assert changed.tolist() == [False, True] * 3
    assert write_masked(tmp_path / "m.jsonl", masked, changed) == 3
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert rows[0] == {"id": "q1", "context": "[MASK]?", "options": list(options_of(1))}


REFUSED = {
    "no predictions": ([], "no predictions: name a file of them"),
    "output is read": (["{ours}", "--json", "{ours}"], "this is read or written as something else"),
    "output is there": (["{ours}", "--out", "{theirs}"], "already exists"),
    "blind without a name": (["{ours}", "--blind", "b.jsonl"], "--blind: NAME=FILE"),
    "expert of nobody": (["{ours}", "--expert", "x"], "--expert: only with --people"),
    "mask to write": (["{ours}", "--write-masked", "m.jsonl"], "--write-masked: only with --mask"),
    "missing file": (["none.jsonl"], "none.jsonl: no such file"),
    "missing blind": (["{ours}", "--blind", "x=none.jsonl"], "none.jsonl: no such file"),
    "missing audit": (["{ours}", "--audit", "none"], "none: no such folder"),
    "min items of nobody": (["{ours}", "--min-items", "5"], "--min-items: only with --people"),
    "predictions behind --also": (["--also", "{ours}"], "--also takes every file behind it"),
    "a metric without a log": (["{ours}", "--metric", "acc_norm"], "none of the files is a sample log"),
    "missing allowed and left out": (["{ours}", "--allow-missing", "--only-predicted"], "not both"),
    "only predicted by nobody": (["--people", "{ours}", "--only-predicted"], "--only-predicted: only with PREDICTIONS"),
    "min items": (["{ours}", "--min-items", "0"], "--min-items 0: at least 1"),
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_done_is_refused_in_one_line(
    arguments: list[str], said: str, files: tuple[Path, Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    questions, ours, theirs, _ = files
    before = {path: path.read_bytes() for path in files[0].parent.iterdir()}
    with pytest.raises(SystemExit) as stopped:
        main(["score", str(questions), *(word.format(ours=ours, theirs=theirs) for word in arguments)])
    told = capsys.readouterr().err
    assert stopped.value.code == 2
    assert said in told
    assert told.count("\n") == 1
    assert {path: path.read_bytes() for path in files[0].parent.iterdir()} == before


def test_the_count_check_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["count-check", "61.84", "46.71", "25.66", "--n", "159"])
    printed = capsys.readouterr().out
    assert "impossible" in printed
    assert "152" in printed


def first_of(path: Path, n: int) -> Path:
    made = path.with_name(f"{path.stem}-{n}.jsonl")
    made.write_text("".join(path.read_text().splitlines(keepends=True)[:n]))
    return made


def test_only_what_is_predicted_is_scored(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    """The same figures as of a dataset that has no other instances; all models on the same ones."""
    questions, ours, theirs, blind = files
    only = PredictionOptions(only_predicted=True)
    given = (first_of(ours, 50), first_of(theirs, 70))
    found = swag_af.score(swag_af.ScoreOptions(questions, given, blind=(f"x={first_of(blind, 60)}",), predicted=only))
    cut = swag_af.score(swag_af.ScoreOptions(first_of(questions, 50), tuple(first_of(path, 50) for path in files[1:3])))
    assert [one.figures for one in found.models] == [one.figures for one in cut.models]
    assert found.gaps[0].gap.n == found.n == 50
    assert "--only-predicted: 70 of 120 instances have no prediction in every file: left out" in found.notes
    assert [one.n_missing for one in found.models] == [0, 0]


def test_whole_predictions_are_the_same_with_only_predicted(files: tuple[Path, Path, Path, Path]) -> None:
    questions, ours, theirs, _ = files
    one, other = (
        swag_af.score(swag_af.ScoreOptions(questions, (ours, theirs), predicted=PredictionOptions(only_predicted=only)))
        for only in (False, True)
    )
    assert (one.models, one.comparisons, one.notes) == (other.models, other.comparisons, other.notes)


def test_sets_of_which_a_part_is_predicted_are_in_no_figure_of_sets() -> None:
    """Half a contrast set is right more often than a whole one."""
    instances = pairs(20)
    answers = instances.answers.copy()
    answers[:10:2] = -1
    given = predictions_of(instances, answers)
    rows = predicted_rows(instances, [given])
    kept = only_rows(instances, rows)
    found = score_of(kept, given.take(instances, rows), np.arange(len(kept)))
    assert (found.figure("accuracy").n, found.figure("consistency").n, found.figure("sensitivity").n) == (35, 15, 15)
    assert "5 contrast sets with a part of them" in kept.notes[-1]


def test_figures_of_variants_are_those_of_whole_sets_alone() -> None:
    """Originals whose contrasts have no prediction were counted too, in sets whose numbers nobody had set."""
    instances = pairs(40)
    answers = np.random.default_rng(0).integers(4, size=80)
    answers[1:40:2] = -1
    given = predictions_of(instances, answers)
    rows = predicted_rows(instances, [given])
    kept = only_rows(instances, rows)
    found = score_of(kept, given.take(instances, rows), np.arange(len(kept)))
    whole = score_of(instances.take(np.arange(40, 80)), given.take(instances, np.arange(40, 80)), np.arange(40))
    for name in ("original accuracy", "contrast accuracy", "contrast less original"):
        assert found.figure(name) == whole.figure(name)


def test_originals_and_contrasts_in_no_set_are_in_no_figure_of_sets() -> None:
    instances = pairs(20)
    ones = [
        replace(one, variant="") if i < 20 else replace(one, contrast_set="")
        for i, one in enumerate(instances.instances)
    ]
    found = scores_of(replace(instances, instances=tuple(ones)), instances.answers)
    assert [(one.name, one.n) for one in found.figures] == [("accuracy", 40), ("consistency", 10), ("sensitivity", 10)]


def test_nothing_predicted_by_all_is_told(files: tuple[Path, Path, Path, Path], tmp_path: Path) -> None:
    questions, ours, theirs, _ = files
    last = tmp_path / "last.jsonl"
    last.write_text(theirs.read_text().splitlines(keepends=True)[-1])
    only = PredictionOptions(only_predicted=True)
    with pytest.raises(InputError, match="no instance of q has a prediction in every file"):
        swag_af.score(swag_af.ScoreOptions(questions, (first_of(ours, 3), last), predicted=only))


def test_each_model_has_its_own_n_where_they_differ() -> None:
    instances = pairs(20)
    red = np.array([one.options.index("red") for one in instances.instances])
    models = [scores_of(instances, given, name="m") for given in (instances.answers, red)]
    row = next(row for row in figure_rows(models) if row[0] == "sensitivity")
    assert row[3] == "20 / 0 pairs that differ"
    assert next(row for row in figure_rows(models) if row[0] == "consistency")[3] == "20 sets"


def test_a_mask_that_changes_all_makes_no_part() -> None:
    instances = choices(20)
    found = scores_of(instances, instances.answers, parts={"mask": ["masked"] * 20, "tier": ["hard"] * 20})
    assert [one.part for one in found.parts] == ["tier: hard"]


def test_how_many_groups_are_shown_of_how_many_is_said() -> None:
    instances = choices(70, n_groups=13)
    few = tuple(replace(one, group=f"few{i}") if i < 3 else one for i, one in enumerate(instances.instances))
    found = scores_of(replace(instances, instances=few), instances.answers)
    said = spread_sentence(found)
    assert "13 groups of 16, those of 5 instances or more; the 5 worst and the 5 best are shown; " in said


def figure(value: float, low: float, high: float, chance: float | None, by_shares: float | None) -> Figure:
    return Figure("consistency", value, low, high, 60, "sets", chance, chance_by_shares=by_shares)


def test_an_interval_is_written_as_other_verbs_do() -> None:
    assert shown(figure(0.6289, 0.551, 0.7, 0.0, 0.25)) == "62.89 (55.1 to 70.0)"
    assert kappa_of(figure(0.5, 0.25, 0.75, None, None)) == "0.500 (0.250 to 0.750)"


@pytest.mark.parametrize(
    ("one", "tone"),
    [
        (figure(0.2167, 0.13, 0.34, 0.0, 0.25), "clear"),
        (figure(0.5, 0.4, 0.6, 0.0, 0.25), "good"),
        (figure(0.1, 0.05, 0.2, 0.0, 0.25), "clear"),
        (figure(0.3, 0.2, 0.4, 0.5, 0.45), "below"),
        (figure(0.7, 0.6, 0.8, None, 0.5), "good"),
        (figure(0.7, 0.6, 0.8, 0.25, None), "good"),
    ],
)
def test_green_is_above_every_kind_of_chance(one: Figure, tone: str) -> None:
    instances = choices(10)
    score = replace(scores_of(instances, instances.answers, name="m"), figures=(one,), parts=())
    made = score_page(Scores("d", "classes", 10, 10, "10 groups", (), {}, (score,)))
    assert f'<tr class="{tone}"><th scope="row">consistency' in made
    assert made.count('class="chance"') == sum(chance is not None for chance in (one.chance, one.chance_by_shares))


def test_the_kind_of_chance_is_said() -> None:
    for instances, kind in ((choices(), "an option at random"), (classes(), "always the commonest class")):
        score = scores_of(instances, instances.answers, name="m")
        scores = Scores("d", instances.kind, len(instances), 10, "10 groups", (), {}, (score,))
        assert kind in headline(scores)
    assert figure_rows([score])[0][-2:] == ("commonest", "by shares")


def test_the_page_says_which_chance_is_which() -> None:
    instances = paired_classes(20)
    score = scores_of(instances, instances.answers, name="m")
    made = score_page(Scores("d", "classes", 40, 20, "20 groups", (), {}, (score,)))
    assert "chance: commonest class / by shares" in made
    drawn = {one.name: f"{100 * (one.chance_by_shares or 0):.2f}" for one in score.figures}
    assert f'<td class="extra">- / {drawn["sensitivity"]}</td>' in made
    of_options = scores_of(choices(), choices().answers, name="m")
    assert "commonest" not in score_page(Scores("d", "choices", 40, 10, "10 groups", (), {}, (of_options,)))


@pytest.mark.parametrize("are_named", [True, False])
def test_what_is_left_of_a_contrast_set_is_not_consistent(are_named: bool, tmp_path: Path) -> None:
    """Of 30 pairs whose originals alone were right 20 lacked the contrast's label: two thirds were consistent."""
    instances = pairs(30).instances
    rows = [
        {
            "id": one.id,
            "contrast_set": one.contrast_set,
            **({"variant": one.variant} if are_named else {}),
            "context": f"{one.context} {one.variant}",
            "options": list(one.options),
            "label": None if one.variant == "contrast" and i >= 20 else one.answer,
        }
        for i, one in enumerate(instances)
    ]
    said = [{"id": one.id, "prediction": (one.answer + (one.variant == "contrast")) % 4} for one in instances]
    given = [one for one, row in zip(said, rows, strict=True) if row["label"] is not None]
    files = write(tmp_path / "q.jsonl", rows), write(tmp_path / "p.jsonl", given)
    found = swag_af.score(swag_af.ScoreOptions(files[0], files[1:]))
    consistency = found.models[0].figure("consistency")
    assert (consistency.value, consistency.n, consistency.n_left_out) == (0.0, 10, 20)
    assert found.models[0].figure("sensitivity").n <= 10
    assert any(one.startswith("20 contrast sets have a row without a label") for one in further(found))


def test_a_contrast_set_that_is_published_with_one_instance_stays() -> None:
    instances = pairs(10)
    alone = replace(instances, instances=instances.instances[:-1])
    consistency = scores_of(alone, alone.answers).figure("consistency")
    assert (consistency.value, consistency.n, consistency.n_left_out) == (1.0, 10, 0)


def test_where_every_contrast_set_is_cut_none_is_consistent() -> None:
    instances = pairs(4)
    cut = replace(instances, cut_sets=frozenset(one.contrast_set for one in instances.instances))
    consistency = scores_of(cut, cut.answers).figure("consistency")
    assert (consistency.value, consistency.n, consistency.n_left_out) == (None, 0, 4)


@pytest.mark.parametrize(
    ("is_theirs", "said"), [(True, "by these very answers"), (False, "by what people said of them")]
)
def test_people_on_questions_that_people_chose_are_told_to_be_so(tmp_path: Path, is_theirs: bool, said: str) -> None:
    """A release kept what people had answered rightly, and then people were right in 100 %."""
    data = choices(6)
    folder = tmp_path / "dataset"
    folder.mkdir()
    answers = write(tmp_path / "people.jsonl", [{"id": one.id, "worker": "a", "answer": 0} for one in data.instances])
    hashes = [sha256_file(answers)] if is_theirs else ["0"]
    (folder / "manifest.json").write_text(json.dumps({"kind": "dataset", "human_verdicts": {"sha256": hashes}}))
    source = dataset(folder / "train.jsonl", data)
    (line,) = _chosen_by(ScoreOptions(source, (), people=answers))
    assert f"Warning: the questions of dataset were chosen {said}" in line
    assert ("take the figure of the run" in line) == is_theirs, "a run has none of the questions that others answered"
    verdict = dict.fromkeys(("row", "columns", "annotator", "ratings", "best", "second"), 0)
    (line,) = _chosen_by(ScoreOptions(source, (), people=write(tmp_path / "verdicts.jsonl", [verdict])))
    assert "take the figure of the run, swag-af score RUN --people " in line
    assert not _chosen_by(ScoreOptions(source, (answers,)))


@pytest.mark.parametrize("manifest", ["[1]", "{", '{"kind": "dataset"}', '{"kind": "dataset", "human_verdicts": null}'])
def test_a_manifest_of_somebody_else_beside_the_data_is_none_of_ours(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "manifest.json").write_text(manifest)
    data = choices(6)
    answers = write(tmp_path / "people.jsonl", [{"id": one.id, "worker": "a", "answer": 0} for one in data.instances])
    assert not _chosen_by(ScoreOptions(dataset(tmp_path / "train.jsonl", data), (), people=answers))
