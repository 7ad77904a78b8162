"""Claims about `train-nli`, the folder that it leaves, and the filter made of it."""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from folders import files_of, write

from swag_af.cli.main import main
from swag_af.cli.runs.nli import model_lines
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import FormatError, InputError
from swag_af.filters.checking import check_filter
from swag_af.filters.nli import training
from swag_af.filters.nli.entailing import entailment, entailment_class, probabilities, shares
from swag_af.filters.nli.folder import open_nli
from swag_af.filters.nli.member import PENALTY, NLIFilter, fit_weights
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.filters.nli.training import train_nli
from swag_af.filters.registry import make_filter
from swag_af.guarding.entailment import EntailmentGuard
from swag_af.matching.models.entailment import NliSimilarity

THINGS = ("dog", "cat", "man", "girl", "horse", "boy")
DOES = ("runs", "sleeps", "eats", "sings", "waits")


def pairs_of(n, seed=0):
    """Premises that name who does what; the hypothesis repeats it, denies it, or is about another."""
    rng, rows = np.random.default_rng(seed), []
    for i in range(n):
        who, other = rng.choice(THINGS, 2, replace=False)
        what = rng.choice(DOES)
        kind = ("entailment", "contradiction", "neutral")[i % 3]
        said = {"entailment": f"A {who} {what}", "contradiction": f"No {who} {what}", "neutral": f"Some {other} {what}"}
        rows.append({"premise": f"The {who} {what} near house {i}.", "hypothesis": said[kind], "label": kind})
    return rows


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nli")
    data = write(folder / "pairs.jsonl", pairs_of(240))
    return TrainNLIOptions((data,), folder / "nli", hidden=16, epochs=4)


@pytest.fixture(scope="module")
def model(options):
    return train_nli(options)


def test_what_is_plain_in_words_is_learned(options, tmp_path):
    learned = train_nli(replace(options, out=tmp_path / "n", epochs=10, patience=10))
    assert learned.manifest.accuracy > 0.8
    held = learned.held_out()
    assert np.mean([one.label == one.said for one in held]) == learned.manifest.accuracy
    assert len(held) == learned.manifest.n_held_out


@pytest.mark.parametrize(
    ("firsts", "seconds"), [(["a"], ["b", "c"]), (["a", "b"], ["c"]), ("a man", "a man"), ([], []), (["a"], [None])]
)
def test_entailment_takes_as_many_texts_on_both_sides(model, firsts, seconds):
    """Those beyond the shorter list were dropped, and of two texts the letters were compared."""
    with pytest.raises(InputError, match="two lists of as many texts"):
        entailment(firsts, seconds, model.path)


def test_no_premise_is_on_two_sides(model, options):
    held = {int(one.id.rpartition(":")[2]) for one in model.held_out()}
    manifest = model.manifest
    assert len(held) == manifest.n_held_out >= 24
    assert manifest.n_train + manifest.n_stop + manifest.n_held_out == 240


def test_the_order_of_the_file_decides_nothing(model, options, tmp_path):
    rows = pairs_of(240)
    data = write(tmp_path / "pairs.jsonl", [rows[i] for i in np.random.default_rng(1).permutation(240)])
    other = train_nli(replace(options, data=(data,), out=tmp_path / "nli"))
    assert (other.path / "weights.safetensors").read_bytes() == (model.path / "weights.safetensors").read_bytes()


def test_held_out_labels_and_words_touch_no_weight(model, options, tmp_path):
    rows = pairs_of(240)
    for one in model.held_out():
        row = rows[int(one.id.rpartition(":")[2]) - 1]
        row["hypothesis"] += " quietly"
        row["label"] = "neutral" if row["label"] == "entailment" else "entailment"
    other = train_nli(replace(options, data=(write(tmp_path / "p.jsonl", rows),), out=tmp_path / "nli"))
    assert (other.path / "words.json").read_bytes() == (model.path / "words.json").read_bytes()
    assert (other.path / "weights.safetensors").read_bytes() == (model.path / "weights.safetensors").read_bytes()


def test_word_vectors_are_found_from_wherever_the_model_is_opened(options, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("v.txt").write_text("".join(f"{word} {' '.join(['0.1'] * 8)}\n" for word in (*THINGS, *DOES)))
    train_nli(replace(options, out=Path("nli"), epochs=1, vectors="v.txt"))
    monkeypatch.chdir(tmp_path / "inside")
    make_filter("nli[../nli]").check()
    shutil.move(tmp_path / "v.txt", tmp_path / "w.txt")
    with pytest.raises(FormatError, match=r"nli: its word vectors \.\./v\.txt are not there\. Put them back"):
        make_filter("nli[../nli]").check()


def test_the_same_command_again_reads_what_is_there(model, options):
    before = files_of(model.path)
    assert train_nli(options).manifest == model.manifest
    assert files_of(model.path) == before
    with pytest.raises(InputError, match=r"manifest.json: begun with other --seed \(0, now 1\). Repeat"):
        train_nli(replace(options, seed=1))


def refusal(options):
    with pytest.raises(InputError) as caught:
        train_nli(options)
    return str(caught.value)


def test_a_refusal_names_each_option_that_differs_and_prints_no_hash(model, options, tmp_path):
    said = refusal(replace(options, hidden=32, neutral_share=0.5))
    assert "begun with other --hidden (16, now 32), --neutral-share (0.0, now 0.5). Repeat" in said
    other = write(tmp_path / "other.jsonl", pairs_of(240, seed=1))
    said = refusal(replace(options, data=(other,)))
    assert "begun with other pairs (DATA, its columns or how it is read). Repeat" in said
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {'0.1 ' * 50}\n".replace(" \n", "\n") for word in THINGS))
    assert "begun with other --vectors (none, now a file). Repeat" in refusal(replace(options, vectors=str(vectors)))
    assert "begun with other --limit (0, now 200). Repeat" in refusal(replace(options, limit=200))


def test_a_folder_half_made_refuses_other_options_by_name(options, tmp_path, monkeypatch):
    def stop(path, tensors):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "write_tensors", stop)
    with pytest.raises(KeyboardInterrupt):
        train_nli(replace(options, out=tmp_path / "nli"))
    monkeypatch.undo()
    said = refusal(replace(options, out=tmp_path / "nli", epochs=5))
    assert "begun.json: begun with other --epochs (4, now 5). Repeat" in said


def test_a_run_stopped_after_any_epoch_goes_on_to_the_same_bytes(model, options, tmp_path, monkeypatch):
    out = tmp_path / "nli"
    write_tensors, stopped = training.write_tensors, []

    def stop_after(path, tensors):
        write_tensors(path, tensors)
        if path.name == "checkpoint.safetensors":
            stopped.append(path)
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "write_tensors", stop_after)
    for _ in range(len(model.manifest.losses)):
        with pytest.raises(KeyboardInterrupt):
            train_nli(replace(options, out=out))
        assert not (out / "manifest.json").exists()
    monkeypatch.setattr(training, "write_tensors", write_tensors)
    train_nli(replace(options, out=out))
    assert len(stopped) == len(model.manifest.losses)
    assert files_of(out) == files_of(model.path)


def test_a_killed_process_goes_on_to_the_same_bytes(model, options, tmp_path):
    out, data = tmp_path / "nli", options.data[0]
    command = [sys.executable, "-m", "swag_af", "train-nli", str(data), "--out", str(out)]
    command += ["--hidden", "16", "--epochs", "4"]
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    checkpoint = out / "work" / "checkpoint.safetensors"
    while running.poll() is None and not checkpoint.exists():
        time.sleep(0.01)
    running.kill()  # nothing where it has ended meanwhile
    running.wait()
    main(command[3:])
    assert files_of(out) == files_of(model.path)


def test_a_folder_that_was_not_made_here_is_left_alone(options, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="not made by train-nli"):
        train_nli(replace(options, out=tmp_path))
    assert files_of(tmp_path) == {"letter.txt": b"dear"}


@pytest.mark.parametrize("name", ["weights.safetensors", "words.json", "held_out.jsonl"])
def test_a_changed_file_is_told(model, tmp_path, name):
    folder = tmp_path / "nli"
    shutil.copytree(model.path, folder)
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    with pytest.raises(FormatError, match=f"{name}: missing, or changed"):
        open_nli(folder)


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([{"question": "q?", "options": ["a", "b"], "label": 0}] * 3, {}, "no pairs of texts with classes"),
        ([{**row, "label": row["label"][:2]} for row in pairs_of(60)], {"neutral_share": 1.0}, "no class is called"),
        (pairs_of(4), {}, "too few"),
    ],
)
def test_data_of_no_use_is_refused_before_any_work(tmp_path, rows, more, message):
    data = write(tmp_path / "d.jsonl", [{"id": str(i), **row} for i, row in enumerate(rows)])
    with pytest.raises(InputError, match=message):
        train_nli(TrainNLIOptions((data,), tmp_path / "nli", hidden=16, **more))
    assert not (tmp_path / "nli").exists()


def test_options_out_of_range_are_told_together():
    with pytest.raises(InputError, match=r"--hidden 20.*--epochs 0.*--held-out 0.9"):
        TrainNLIOptions((Path("x"),), hidden=20, epochs=0, held_out=0.9)


def test_neutral_pairs_are_added_to_training_alone(model, options, tmp_path):
    more = train_nli(replace(options, out=tmp_path / "nli", neutral_share=1.0))
    firsts, seconds = ["The dog runs near house 3."] * 2, ["A cat sings", "A horse waits"]
    neutral = model.manifest.classes.index("neutral")
    assert [one.id for one in more.held_out()] == [one.id for one in model.held_out()]
    assert (probabilities(more, firsts, seconds)[:, neutral] > probabilities(model, firsts, seconds)[:, neutral]).all()


def test_entailment_is_one_of_the_probabilities_in_any_company(model):
    firsts = ["The dog runs near house 3.", "The cat sings near house 9.", ""]
    seconds = ["A dog runs", "No cat sings", "Some man eats zzz"]
    all_at_once = entailment(firsts, seconds, model.path)
    np.testing.assert_allclose(probabilities(model, firsts, seconds).sum(axis=1), 1)
    for i in range(3):
        alone = entailment(firsts[i : i + 1], seconds[i : i + 1], model.path)
        np.testing.assert_allclose(alone, all_at_once[i : i + 1], rtol=1e-4)
    encoded = model.filter.encode_texts([*firsts, *seconds])
    kept = shares(model.filter.compare(encoded, np.arange(3), 3 + np.arange(3)))[:, entailment_class(model)]
    np.testing.assert_allclose(kept, all_at_once, rtol=1e-4)


def test_the_filter_keeps_the_contract(model):
    check_filter(lambda: NLIFilter(folder=str(model.path)))
    assert make_filter(f"nli[{model.path}]").settings()["folder"] == sha256_file(model.path / "manifest.json")


def test_a_filter_without_its_folder_says_so(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        make_filter(f"nli[{tmp_path / 'none'}]").check()


def test_the_weights_are_where_the_loss_is_lowest():
    rng = np.random.default_rng(0)
    features = rng.dirichlet(np.ones(3), (200, 4))
    features[:, 0, 1] += 0.3

    def loss(weights):
        logits = features @ weights
        return np.mean(np.log(np.exp(logits).sum(1)) - logits[:, 0]) + PENALTY * (weights**2).sum()

    found = fit_weights(features)
    assert found.argmax() == 1
    for step in 1e-2 * np.vstack([np.eye(3), -np.eye(3)]):
        assert loss(found) < loss(found + step)


def test_the_verb_prints_the_accuracy_with_its_interval(model, options, capsys):
    main(["train-nli", str(options.data[0]), "--out", str(model.path), "--hidden", "16", "--epochs", "4"])
    out = capsys.readouterr().out
    assert f"{model.manifest.accuracy:.3f}" in out
    assert "95 % interval" in out


def test_how_the_pairs_were_read_is_told_and_kept(options, tmp_path, capsys):
    """Rows without a label went without a word."""
    rows = pairs_of(120)
    unlabelled = [{**rows[0], "label": -1}, {**rows[1], "label": None}]
    data = write(tmp_path / "pairs.jsonl", [*rows, *unlabelled])
    main(["train-nli", str(data), "--out", str(tmp_path / "nli"), "--hidden", "16", "--epochs", "1"])
    notes = open_nli(tmp_path / "nli").manifest.notes
    assert any("2 of 122 rows have no label and were left out; 1 of these have -1" in note for note in notes)
    assert "classes: contradiction, entailment, neutral" in notes
    trained = capsys.readouterr().out
    main(["show", str(tmp_path / "nli")])
    shown = capsys.readouterr().out
    assert all(note in trained and note in shown for note in notes)


def test_classes_that_guard_and_match_cannot_ask_are_told_before_training(options, tmp_path, monkeypatch, capsys):
    """Numbers were refused by `guard` alone, when the model was trained."""
    number = {"entailment": 0, "neutral": 1, "contradiction": 2}
    data = write(tmp_path / "pairs.jsonl", [{**row, "label": number[row["label"]]} for row in pairs_of(120)])

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_trained", stop)
    with pytest.raises(KeyboardInterrupt):
        train_nli(replace(options, data=(data,), out=tmp_path / "nli"))
    said = capsys.readouterr().err
    assert "which of the classes 0, 1, 2 is entailment?" in said
    assert "in SNLI and MultiNLI 0 is entailment" in said


@pytest.fixture(scope="module")
def ignorant(tmp_path_factory):
    """A model of pairs whose classes are drawn by lot."""
    folder, rng = tmp_path_factory.mktemp("ignorant"), np.random.default_rng(5)
    rows = [{**row, "label": str(rng.choice(["entailment", "neutral"]))} for row in pairs_of(240)]
    return train_nli(TrainNLIOptions((write(folder / "p.jsonl", rows),), folder / "nli", hidden=16, epochs=1))


def test_a_model_that_knows_nothing_is_told_and_used_with_a_warning(ignorant, options, tmp_path, capsys):
    """One that called every pair neutral was taken without a word by `guard` and `match`."""
    said = "it is not seen to know anything"
    assert said in "\n".join(model_lines(ignorant))
    for use in (EntailmentGuard, NliSimilarity):
        use(folder=str(ignorant.path)).check()
        assert said in capsys.readouterr().err
    learned = train_nli(replace(options, out=tmp_path / "n", epochs=10, patience=10))
    EntailmentGuard(folder=str(learned.path)).check()
    assert said not in capsys.readouterr().err + "\n".join(model_lines(learned))
