"""What a user can do wrong: one line that says what, where and what next, exit code 2, nothing half-written."""

import errno
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from swag_af.cli import main, parse
from swag_af.data.options import ContextRules, Contexts
from swag_af.lm.options import Generate, LMOptions, TrainLM
from swag_af.loop import filter_pool
from swag_af.options import AFOptions, Filter, Release


def refused(arguments: list[str], capsys) -> str:
    """Run the command line, check that it refuses in one line with exit code 2, and return the line."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert stop.value.code == 2
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("swag-af: ")
    return line


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def captions(path: Path, n_videos: int = 6) -> Path:
    rows = [
        {"video": f"v{i}", "sentence": sentence}
        for i in range(n_videos)
        for sentence in ("A man walks into a small kitchen.", "He slowly washes the big pan in the sink.")
    ]
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def test_a_missing_source(tmp_path, capsys):
    line = refused(["contexts", tmp_path / "no.json", "--out", tmp_path / "c.jsonl"], capsys)
    assert "no.json: no such file" in line


def test_broken_json_is_named_with_its_line(tmp_path, capsys):
    source = write(tmp_path / "a.jsonl", '{"video": "a", "sentence": "He runs."}\n{"video": \n')
    assert "line 2" in refused(["contexts", source, "--out", tmp_path / "c.jsonl"], capsys)
    source = write(tmp_path / "a.json", '{\n"v": {\n')
    assert "line 3" in refused(["contexts", source, "--out", tmp_path / "c.jsonl"], capsys)


def test_videos_of_one_sentence_only(tmp_path, capsys):
    source = write(tmp_path / "a.csv", "video,sentence\na,He runs away quickly.\nb,She runs away too.\n")
    line = refused(["contexts", source, "--out", tmp_path / "c.jsonl"], capsys)
    assert "no two consecutive captions" in line
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv"]


def test_captions_of_which_none_makes_a_context(tmp_path, capsys):
    source = write(tmp_path / "a.csv", "video,sentence\na,Hm.\na,A close view of the big old red house.\n")
    line = refused(["contexts", source, "--out", tmp_path / "c.jsonl", "--min-token-count", "1"], capsys)
    assert "1 no_verb_phrase" in line


def test_an_empty_caption_and_a_verbless_one_are_counted_drops(tmp_path, capsys):
    source = captions(tmp_path / "a.jsonl")
    with source.open("a") as file:
        for sentence in ("He washes the pan.", " ", "A small pan in the big kitchen."):
            file.write(json.dumps({"video": "w", "sentence": sentence}) + "\n")
    main(["contexts", str(source), "--out", str(tmp_path / "c.jsonl"), "--min-token-count", "1"])
    drops = json.loads((tmp_path / "c.manifest.json").read_text())["drops"]
    assert drops["empty_caption"] == 2
    assert drops["pairs"] == sum(n for name, n in drops.items() if name != "pairs")
    assert "empty caption" in capsys.readouterr().out


def test_an_output_that_exists_is_kept_without_force(tmp_path, capsys):
    source, out = captions(tmp_path / "a.jsonl"), write(tmp_path / "c.jsonl", "mine")
    assert "already exists" in refused(["contexts", source, "--out", out], capsys)
    assert out.read_text() == "mine"


def test_a_source_is_never_overwritten(tmp_path, capsys):
    source = captions(tmp_path / "a.jsonl")
    before = source.read_bytes()
    assert "is a source" in refused(["contexts", source, "--out", source, "--force"], capsys)
    assert source.read_bytes() == before


def test_no_source_at_all(capsys):
    assert "no source file given" in refused(["contexts"], capsys)


def test_an_unknown_verb_is_answered_with_near_ones(capsys):
    assert "Did you mean filter" in refused(["filtr"], capsys)


def test_an_unknown_filter_is_answered_with_near_ones(pool_folder, tmp_path, capsys):
    line = refused(["filter", pool_folder, "--schedule", "ensembel:3", "--out", tmp_path / "run"], capsys)
    assert "ensemble" in line
    assert not (tmp_path / "run").exists()


def test_a_pool_of_another_format(pool_folder, tmp_path, capsys):
    copy = tmp_path / "pool"
    shutil.copytree(pool_folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    write(copy / "manifest.json", json.dumps(manifest | {"format": 2}))
    assert "format 2" in refused(["filter", copy, "--out", tmp_path / "run"], capsys)


def test_a_folder_of_another_kind(pool_folder, tmp_path, capsys):
    assert "this is a pool, not a run" in refused(["release", pool_folder, "--out", tmp_path / "d"], capsys)


def test_a_run_folder_of_another_pool(pool, pool_folder, fake_filters, tmp_path, capsys):
    from conftest import HashFilter, make_pool

    filter_pool(make_pool(1), HashFilter(), AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    arguments = ["filter", pool_folder, "--schedule", "hash:1", "--n-negatives", "3", "--out", tmp_path / "run"]
    assert "another pool" in refused(arguments, capsys)


def test_nan_in_the_features_of_a_pool(pool_folder, tmp_path, capsys):
    copy = tmp_path / "pool"
    shutil.copytree(pool_folder, copy)
    table = copy / "shards" / "00000" / "features.npy"
    features = np.load(table)
    features[4] = np.nan
    np.save(table, features)
    line = refused(["filter", copy, "--schedule", "mlp:1", "--n-negatives", "3", "--out", tmp_path / "run"], capsys)
    assert "NaN" in line


def test_k_larger_than_the_negatives_at_hand(pool_folder, tmp_path, capsys):
    line = refused(["filter", pool_folder, "--n-negatives", "200", "--out", tmp_path / "run"], capsys)
    assert "fewer than 200 negatives" in line
    assert not (tmp_path / "run").exists()


def test_a_full_disk_half_way_leaves_nothing_half_written(tmp_path, capsys, monkeypatch):
    source = captions(tmp_path / "a.jsonl")
    written = Path.open

    def full(self, mode="r", *arguments, **settings):
        if "w" in mode and "dropped" in self.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return written(self, mode, *arguments, **settings)

    monkeypatch.setattr(Path, "open", full)
    line = refused(["contexts", source, "--out", tmp_path / "c.jsonl", "--min-token-count", "1"], capsys)
    assert "No space left" in line
    assert not list(tmp_path.glob(".*")), "no temporary file stays"
    assert not (tmp_path / "c.manifest.json").exists(), "the manifest, written last, says that all is there"


def test_a_write_that_falls_short_is_one_line_too(pool_folder, fake_filters, tmp_path, capsys, monkeypatch):
    def short(*_, **__):
        raise OSError("1048576 requested and 24984 written")

    monkeypatch.setattr(np, "save", short)
    arguments = ["filter", pool_folder, "--schedule", "hash:1", "--n-negatives", "3", "--out", tmp_path / "run"]
    assert "24984 written" in refused(arguments, capsys)


@pytest.mark.parametrize(
    ("text", "message"),
    [("hidden = [", "not valid TOML"), (None, "no such file")],
)
def test_a_config_that_cannot_be_read(tmp_path, capsys, text, message):
    path = tmp_path / "x.toml"
    if text is not None:
        write(path, text)
    assert message in refused(["filter", "pool", "--config", path], capsys)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContextRules(n_folds=1),
        lambda: Contexts((), seed=-1),
        lambda: LMOptions(epochs=0),
        lambda: LMOptions(recurrent_dropout=1.0),
        lambda: TrainLM(Path("c"), seed=-1),
        lambda: Generate(Path("c"), limit=0),
        lambda: Generate(Path("c"), min_tokens=9, max_tokens=5),
        lambda: AFOptions(window=0),
        lambda: Release(Path("r"), val_share=0.6, test_share=0.6),
    ],
)
def test_options_out_of_range_are_refused_when_made(make):
    with pytest.raises(ValueError, match="--"):
        make()


def test_flags_toml_and_the_dataclass_are_one(tmp_path):
    flags = ["generate", "c.jsonl", "--limit", "5", "--folds", "0", "2", "--hidden", "64", "--no-use-dropped"]
    expected = Generate(Path("c.jsonl"), limit=5, folds=(0, 2), use_dropped=False, lm=LMOptions(hidden=64))
    toml = write(
        tmp_path / "x.toml",
        '[generate]\ncontexts = "c.jsonl"\nlimit = 5\nfolds = [0, 2]\nuse_dropped = false\n'
        "[generate.lm]\nhidden = 64\n",
    )
    assert parse(flags) == expected
    assert parse(["generate", "--config", str(toml)]) == expected
    assert parse(["generate", "c.jsonl", "--config", str(toml), "--limit", "7"]).limit == 7


def test_a_config_for_one_verb_says_nothing_to_another(tmp_path):
    toml = write(tmp_path / "x.toml", "[generate]\nlimit = 5\n")
    assert parse(["filter", "pool", "--config", str(toml)]) == Filter(Path("pool"))


@pytest.mark.parametrize("verb", ["demo", "contexts", "train-lm", "generate", "filter", "release", "show"])
def test_help_of_every_verb_has_examples_that_parse(verb, capsys):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    examples = [line.split()[1:] for line in printed.splitlines() if line.strip().startswith(f"swag-af {verb}")]
    assert examples
    for example in examples:
        parse(example)
