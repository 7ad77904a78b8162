"""Claims about the command line: one line for what the user can mend, nothing half done, one schema in three forms."""

import ast
import contextlib
import errno
import io
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter, make_contexts_of, make_pool
from folders import files_of, write
from hypothesis import given
from hypothesis import strategies as st
from judged import say
from test_house import loaded_by

import swag_af
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.options import AuditOptions, ExplainOptions
from swag_af.baselines.options import BaselinesOptions
from swag_af.cli.main import help_text, main
from swag_af.cli.options import DemoOptions, ShowOptions
from swag_af.cli.parsing import VERBS, parse
from swag_af.data.captions.context_set import write_contexts
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, write_array, write_json
from swag_af.data.disk.manifests import write_manifest
from swag_af.data.disk.replacing import HOST
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.pool.options import Columns, PoolOptions, TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import open_run
from swag_af.data.syntax.options import TrainTaggerOptions
from swag_af.data.work.progress import note
from swag_af.describing.options import DescribeOptions
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.endpoints.options import EndpointOptions, ProbeEndpointOptions
from swag_af.filters.nli.options import TrainNLIOptions
from swag_af.guarding.options import GuardOptions
from swag_af.judging.options import AgreementOptions
from swag_af.judging.verdicts import Item, write_verdicts
from swag_af.lm.options import FeaturesOptions, GenerateOptions, LMOptions, TextOptions, TrainLMOptions
from swag_af.matching.options import MatchingOptions, MatchOptions, PairColumns
from swag_af.pruning.options import PruneOptions
from swag_af.refining.options import RefineOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions
from swag_af.scoring.options import CountCheckOptions, ScoreOptions
from swag_af.verify.options import BackupOptions, ExportOptions, ImportOptions, InviteOptions, ServeOptions

Refused = Callable[..., str]

CAPTIONS = [
    ("v1", "The man holds a big red kite."),
    ("v1", "The man is running down the long hill."),
    ("v2", "A woman holds a big red ball."),
    ("v2", "The woman is running down the long hill."),
]


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch, plain_process: None) -> None:
    """No curves, and wide help."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run a command that must be refused in one line, with code 2, and with no file changed; returns the line."""

    def run(*arguments: object) -> str:
        before = files_of(tmp_path)
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert stopped.value.code == 2
        assert out == ""
        assert re.fullmatch(r"swag-af: .+\n", err)
        assert files_of(tmp_path) == before
        return err.strip()

    return run


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    path = tmp_path / "captions.jsonl"
    write(path, ({"video": v, "sentence": s} for v, s in CAPTIONS))
    return path


@pytest.fixture
def small_run(pool_folder: Path, tmp_path: Path) -> Path:
    """Two iterations on the pool on disk."""
    main(["filter", str(pool_folder), "--out", str(tmp_path / "run"), *SETTINGS, "--iterations", "2"])
    return tmp_path / "run"


SETTINGS = ["--schedule", "hash:4", "--n-negatives", "4", "--audit", "none"]
"""Without audits, which tests/auditing/test_audit.py has `filter` make: they take seconds."""


# ------------------------------------------------------------------------------- sources and contexts


def test_a_missing_source_is_refused(refused: Refused, tmp_path: Path) -> None:
    line = refused("contexts", tmp_path / "none.json", "--out", tmp_path / "c.jsonl")
    assert "none.json: no such file" in line


def test_no_source_at_all_is_refused(refused: Refused) -> None:
    assert "source" in refused("contexts")


def test_broken_json_is_refused_with_its_line(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{\n\n"v1": }')
    assert "broken.json: not valid JSON at line 3" in refused("contexts", tmp_path / "broken.json")


def test_captions_named_twice_are_refused(refused: Refused, captions: Path) -> None:
    """Each of their pairs was there twice, and more tokens were frequent enough."""
    (link := captions.with_name("again.jsonl")).symlink_to(captions)
    line = refused("contexts", captions, link, "--out", captions.with_name("c.jsonl"))
    assert line == f"swag-af: {link}: named twice. Name each source once."


def test_captions_of_one_sentence_a_video_are_refused(refused: Refused, captions: Path) -> None:
    captions.write_text("".join(captions.read_text().splitlines(keepends=True)[::2]))
    line = refused("contexts", captions, "--out", captions.with_name("c.jsonl"))
    assert "no two consecutive captions" in line


def test_rules_that_leave_nothing_are_refused_with_the_reasons(refused: Refused, captions: Path) -> None:
    line = refused("contexts", captions, "--out", captions.with_name("c.jsonl"))
    assert "none of its 2 pairs made a context (2 rare_token)" in line


def test_contexts_are_made_and_the_next_command_named(captions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = captions.with_name("c.jsonl")
    main(["contexts", str(captions), "--out", str(out), "--min-token-count", "1", "--splitter", "rules"])
    assert len(out.read_text().splitlines()) == 2
    assert f"Next: swag-af train-lm {out}" in capsys.readouterr().out


@pytest.mark.parametrize("flag", [["--drop-enclosed"], ["--max-gap-seconds", "2"]])
@pytest.mark.parametrize("names", ["t0,t1", "start_time,t1"])
def test_rules_about_times_are_refused_where_no_end_is_read(
    refused: Refused, tmp_path: Path, names: str, flag: list[str]
) -> None:
    """They did nothing, and the manifest said that they were applied."""
    table = tmp_path / "log.csv"
    table.write_text(f"video,sentence,{names}\nv,He runs.,0,9\nv,He sits down.,1,2\n")
    line = refused("contexts", table, "--out", tmp_path / "c.jsonl", *flag)
    assert f"{flag[0]}: no caption has an end that was read. Name the columns of times by --start-column" in line
    assert not (tmp_path / "c.jsonl").exists()


def test_columns_of_times_are_not_advised_where_columns_are_known(refused: Refused, tmp_path: Path) -> None:
    """The advice was refused."""
    source = tmp_path / "Charades_v1_train.csv"
    source.write_text("id,script,descriptions\nA1,He runs. He sits down.,\n")
    line = refused("contexts", source, "--out", tmp_path / "c.jsonl", "--drop-enclosed")
    assert line.endswith("--drop-enclosed: no caption has an end that was read. Leave out --drop-enclosed.")


@pytest.mark.parametrize(("policy", "flag", "value"), [("released", "rule", "paper"), ("hellaswag", "swaps", "always")])
@pytest.mark.parametrize("in_a_file", [True, False])
def test_a_default_that_is_typed_beside_a_policy_of_another_is_refused(
    refused: Refused, pool_folder: Path, tmp_path: Path, policy: str, flag: str, value: str, in_a_file: bool
) -> None:
    """The policy won, without a word."""
    config = tmp_path / "filter.toml"
    config.write_text(f'[filter.af]\n{flag} = "{value}"\n')
    given = ["--config", config] if in_a_file else [f"--{flag}", value]
    line = refused("filter", pool_folder, "--policy", policy, *given, "--out", tmp_path / "run")
    assert f"--policy {policy} means --{flag} " in line


def test_faults_of_a_filter_command_are_one_line_without_warnings(
    refused: Refused, pool_folder: Path, tmp_path: Path
) -> None:
    rest = [
        "--n-negatives",
        3,
        "--schedule",
        "ngrams:2",
        "--splits",
        "fixed",
        "--audit",
        "none",
        "--out",
        tmp_path / "run",
    ]
    assert "ngrams" in refused("filter", pool_folder, *rest)  # one line: `refused` looks
    rest = ["--n-negatives", 3, "--schedule", "ngrams:2", "--test-share", 0.999, "--out", tmp_path / "run"]
    assert "or another --test-share" in refused("filter", pool_folder, *rest)


def test_a_pool_of_too_few_contexts_is_not_advised_to_be_filtered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        json.dumps({"sent1": "A man sits.", "start": "He", "gold": "eats.", "negatives": ["runs.", "sings."]})
    )
    main(["pool", str(rows), "--out", str(tmp_path / "pool")])
    assert f"Next: swag-af show {tmp_path / 'pool'}" in capsys.readouterr().out


def test_contexts_that_exist_are_refused_without_force(refused: Refused, captions: Path, contexts_file: Path) -> None:
    assert "--force" in refused("contexts", captions, "--out", contexts_file, "--min-token-count", 1)


def test_contexts_of_somebody_else_are_refused_without_force(refused: Refused, captions: Path) -> None:
    theirs = captions.with_name("theirs.jsonl")
    theirs.write_text('{"sent1": "A.", "start": "He", "gold": "runs."}\n')
    assert "theirs.jsonl: already exists" in refused("contexts", captions, "--out", theirs, "--min-token-count", 1)


def test_a_source_is_not_overwritten_even_with_force(refused: Refused, captions: Path) -> None:
    assert "source" in refused("contexts", captions, "--out", captions, "--force", "--min-token-count", 1)


# ------------------------------------------------------------------------------- words of the command line


def test_an_unknown_verb_gets_the_nearest(refused: Refused) -> None:
    assert "Did you mean filter?" in refused("fliter", "pool")


@pytest.mark.parametrize("words", [("verify", "sevre", "run"), ("serve", "run"), ("verify-serve", "run")])
def test_an_unknown_verb_of_two_words_gets_the_nearest(refused: Refused, words: tuple[str, ...]) -> None:
    assert "Did you mean verify serve" in refused(*words)


@pytest.mark.parametrize(
    ("words", "near"), [(("verfy", "serve", "run"), "verify serve"), (("gen",), "generate"), (("train",), "train-lm")]
)
def test_a_mistyped_first_word_and_an_abbreviation_get_the_nearest(
    refused: Refused, words: tuple[str, ...], near: str
) -> None:
    assert f"Did you mean {near}" in refused(*words)


def test_an_unknown_flag_gets_the_nearest(refused: Refused) -> None:
    line = refused("filter", "pool", "--itrations", 4)
    assert "--itrations" in line
    assert "Did you mean --iterations?" in line


def test_a_fault_of_a_verb_of_two_words_names_it(refused: Refused) -> None:
    line = refused("verify", "serve", "run", "--prt", 4)
    assert "verify serve:" in line
    assert "`swag-af verify serve --help`" in line


BAD_FLAGS = [
    (["filter", "pool", "--iterations", "many"], "--iterations"),
    (["filter", "pool", "--rule", "mine"], "--rule"),
    (["filter", "pool", "--n-easy", "0", "--window", "0"], "--n-easy 0: at least 1; --window 0: at least 1"),
    (["filter"], "Missing"),
    (["release", "run", "--val-share", "0.9"], "--val-share and --test-share"),
    (["contexts", "c.json", "--n-folds", "1"], "--n-folds 1"),
    (["filter", "pool", "--schedule", "mlp"], "NAME:COUNT"),
    (["filter", "pool", "--config"], "--config: no file given"),
    (["verify", "serve", "run", "--limit", "0"], "--limit 0: at least 1"),
    (
        ["verify", "serve", "run", "--annotators-per-item", "4", "--max-annotators-per-item", "3"],
        "--max-annotators-per-item 3: below",
    ),
    (["verify", "serve", "run", "--completion-url", "javascript:alert(1)"], "begins with https://"),
    (["verify", "serve", "run", "--admin-token", "short"], "at least 12 plain characters"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_FLAGS, ids=[said for _, said in BAD_FLAGS])
def test_a_flag_that_cannot_be_used_is_named(
    refused: Refused, pool_folder: Path, arguments: list[str], said: str
) -> None:
    assert said in refused(*(pool_folder if argument == "pool" else argument for argument in arguments))


def test_an_unknown_filter_gets_the_nearest(refused: Refused, pool_folder: Path, tmp_path: Path) -> None:
    assert "Did you mean mlp" in refused("filter", pool_folder, "--schedule", "mpl:3", "--out", tmp_path / "run")


# ------------------------------------------------------------------------------- pools, runs, datasets


def test_a_pool_of_another_format_is_refused(refused: Refused, pool_folder: Path, tmp_path: Path) -> None:
    pool = Path(shutil.copytree(pool_folder, tmp_path / "pool"))
    write_json(pool / "manifest.json", read_json(pool / "manifest.json") | {"format": 2})
    assert "format 2, and this release reads format 1" in refused("filter", pool, "--out", tmp_path / "run")


def test_a_run_of_another_pool_is_refused(refused: Refused, small_run: Path, tmp_path: Path) -> None:
    make_pool(1).save(tmp_path / "other")
    assert "another pool" in refused("filter", tmp_path / "other", "--out", small_run, *SETTINGS)


def test_bad_features_are_refused_with_their_row(
    pool_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = Path(shutil.copytree(pool_folder, tmp_path / "pool"))
    table = pool / "shards" / "00000" / "features.npy"
    values = np.load(table)
    values[7] = np.nan
    write_array(table, values)
    with pytest.raises(SystemExit) as stopped:
        main(["filter", str(pool), "--out", str(tmp_path / "run"), "--schedule", "feature:2", "--n-negatives", "4"])
    assert stopped.value.code == 2
    assert re.fullmatch(rf"swag-af: {pool}: .* NaN .*first: row 7\).*\n", capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("verb", ["filter", "show"])
def test_a_shard_that_is_gone_is_named_with_what_to_do(
    refused: Refused, pool_folder: Path, tmp_path: Path, verb: str
) -> None:
    pool = Path(shutil.copytree(pool_folder, tmp_path / "pool"))
    shutil.rmtree(pool / "shards" / "00000")
    line = refused(verb, pool, *(["--out", tmp_path / "run"] if verb == "filter" else []))
    assert "00000: this shard of the pool is gone. Put its folder back, or make the pool again" in line
    assert not (tmp_path / "run").exists()


def test_contexts_in_place_of_a_pool_say_that_a_pool_is_a_folder(
    refused: Refused, contexts_path: Path, tmp_path: Path
) -> None:
    line = refused("filter", contexts_path, "--out", tmp_path / "run")
    assert "this is a file, and a pool is a folder. " in line
    assert f"`swag-af show {contexts_path}` says what a file of ours is and what to run next." in line


@pytest.mark.parametrize(("verb", "due"), [("filter", "a pool"), ("release", "a run")])
def test_a_table_of_questions_in_place_of_a_pool_or_a_run_is_to_go_through_pool(
    refused: Refused, tmp_path: Path, verb: str, due: str
) -> None:
    """Only `show` was advised, which does not read it."""
    table = write(tmp_path / "q.jsonl", [{"question": "Who?", "choices": ["a", "b"], "label": 0}])
    line = refused(verb, table, "--out", tmp_path / "out")
    assert f"{due} is a folder. If it is a table of questions, `swag-af pool {table} --out pool` makes a pool" in line


@pytest.mark.parametrize(
    ("flag", "value", "due"),
    [("--iterations", "abc", "a whole number"), ("--test-share", "x", "a number"), ("--seed", "1.5", "a whole number")],
)
def test_a_number_that_is_none_is_told_in_plain_words(
    refused: Refused, pool_folder: Path, tmp_path: Path, flag: str, value: str, due: str
) -> None:
    line = refused("filter", pool_folder, "--out", tmp_path / "run", flag, value)
    assert f"filter: {flag} {value}: {due} is due. `swag-af filter --help`" in line


def test_an_option_of_another_generator_is_named(refused: Refused, contexts_path: Path, tmp_path: Path) -> None:
    line = refused("generate", contexts_path, "--generator", "ngram", "--hidden", 5, "--out", tmp_path / "pool")
    assert "--hidden: for lstm alone, so leave it out." in line
    assert not (tmp_path / "pool").exists()


def test_pairs_that_were_left_out_are_told_from_contexts(refused: Refused, contexts_path: Path) -> None:
    line = refused("show", contexts_path.with_name("contexts.dropped.jsonl"))
    assert re.search(r"left out, one a line\. `swag-af show .*contexts\.jsonl` counts them by reason", line)


def test_more_negatives_than_there_are_is_refused(refused: Refused, pool_folder: Path, tmp_path: Path) -> None:
    line = refused("filter", pool_folder, "--out", tmp_path / "run", "--schedule", "hash:2", "--n-negatives", 40)
    assert "no row has 40 negatives" in line


def test_fewer_iterations_than_are_done_is_refused(refused: Refused, pool_folder: Path, small_run: Path) -> None:
    line = refused("filter", pool_folder, "--out", small_run, *SETTINGS, "--iterations", 1)
    assert "2 iterations are done" in line
    assert "--iteration 1" in line


def test_a_folder_that_is_no_dataset_is_not_replaced(refused: Refused, small_run: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("one")
    for force in ([], ["--force"]):
        said = refused("release", small_run, "--out", tmp_path / "thesis", *force)
        assert "already exists, and is not a dataset. Choose another --out." in said


def test_more_distractors_than_assigned_is_refused(refused: Refused, small_run: Path, tmp_path: Path) -> None:
    line = refused("release", small_run, "--out", tmp_path / "dataset", "--n-distractors", 5)
    assert "assigns 4 negatives" in line


def test_an_iteration_that_never_was_is_refused(refused: Refused, small_run: Path, tmp_path: Path) -> None:
    assert "0 to 2" in refused("release", small_run, "--out", tmp_path / "dataset", "--iteration", 3)


@pytest.mark.parametrize("what", ["nothing", "folder", "captions.jsonl"])
def test_showing_what_is_none_of_ours_is_refused(refused: Refused, tmp_path: Path, captions: Path, what: str) -> None:
    (tmp_path / "folder").mkdir()
    refused("show", tmp_path / what)


def test_filter_refuses_slurm_where_there_is_no_slurm_too(
    refused: Refused, pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sent the user to a machine with Slurm, where it would have been refused."""
    monkeypatch.setenv("PATH", str(tmp_path))
    told = refused("filter", pool_folder, "--engine", "slurm", "--out", tmp_path / "run")
    assert "would wait in the queue every time" in told
    assert "sbatch" not in told


# ------------------------------------------------------------------------------- a disk that fills up


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_full_while_contexts_are_replaced_keeps_the_old_ones(
    refused: Refused, captions: Path, contexts_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", full)
    command = ("contexts", captions, "--out", contexts_file, "--min-token-count", 1, "--splitter", "rules", "--force")
    assert "No space left" in refused(*command)


def test_a_disk_full_while_a_run_goes_on_keeps_what_was_finished(
    pool_folder: Path, small_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["filter", str(pool_folder), "--out", str(small_run), *SETTINGS]
    before = (small_run / "log.jsonl").read_bytes()
    capsys.readouterr()
    with monkeypatch.context() as patched, pytest.raises(SystemExit) as stopped:
        patched.setattr(np, "save", full)
        main(command)
    assert stopped.value.code == 2
    assert re.fullmatch(r"swag-af: No space left on device on the disk of --out, .*\n", capsys.readouterr().err)
    assert (small_run / "log.jsonl").read_bytes() == before
    assert not list(small_run.rglob("*.tmp"))
    main(command)
    assert open_run(small_run).n_finished == 4


def test_a_disk_of_temporary_files_without_room_is_told_and_named(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is written through a map to a full disk ends the process by SIGBUS, so room is taken first."""
    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr("swag_af.filters.sequences.MOST_IN_MEMORY", 0)
    with pytest.raises(SystemExit) as stopped:
        main(["filter", str(pool_folder), "--schedule", "bow:2", "--audit", "none", "--out", str(tmp_path / "run")])
    assert stopped.value.code == 2
    named = re.escape(tempfile.gettempdir())
    assert re.fullmatch(rf"swag-af: {named}: No space left on device\. Mend that.*\n", capsys.readouterr().err)


def test_a_disk_full_while_a_dataset_is_replaced_keeps_the_old_one(
    refused: Refused, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("release", small_run, "--out", tmp_path / "dataset", "--n-distractors", 3, "--audit", "none")
    main(list(map(str, command)))
    monkeypatch.setattr(os, "replace", full)
    assert "No space left" in refused(*command, "--force", "--seed", 1)


@pytest.mark.parametrize(("verb", "goes_on"), [("pool", False), ("contexts", True), ("--help", False)])
def test_what_the_system_refuses_names_the_file_asked_for_and_says_that_a_verb_goes_on_only_where_it_does(
    verb: str, goes_on: bool, refused: Refused, captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file was named that nobody had heard of, and it was advised to go on where nothing is kept."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / f".x.csv.{HOST}.7.tmp"))

    where = {"pool": "swag_af.data.pooling.verb.pool", "contexts": "swag_af.data.captions.verb.contexts"}
    monkeypatch.setattr(where.get(verb, "swag_af.cli.main.help_text"), refuse)
    line = refused(verb, *([] if verb == "--help" else [captions, "--out", tmp_path / "x.csv"]))
    advice = ", which goes on from what it keeps" if goes_on else ""
    assert line == (f"swag-af: {tmp_path}/x.csv: Permission denied. Mend that and run the same command again{advice}.")


def test_an_interrupted_run_says_how_to_go_on_with_code_130(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(HashFilter, "fit", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main(["filter", str(pool_folder), "--out", str(tmp_path / "run"), *SETTINGS])
    assert stopped.value.code == 130
    assert re.fullmatch(r"swag-af: interrupted.*What was finished is kept.*\n", capsys.readouterr().err)


def test_an_interrupt_while_modules_are_loaded_is_one_line_with_code_130() -> None:
    """In the first tenth of a second there was a traceback."""
    begun = (
        "import os, runpy, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # of a background job it is ignored
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'swag_af.cli.parsing':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "runpy.run_module('swag_af', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", begun], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "swag-af: interrupted. Nothing was begun.\n")


def test_a_signal_that_a_library_makes_an_error_of_ends_as_one(
    pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a module of C raises while it is loaded is an ImportError, which was told as a bug of ours."""

    def interrupt(*_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr(HashFilter, "fit", interrupt)
    with pytest.raises(SystemExit) as stopped:
        main(["filter", str(pool_folder), "--out", str(tmp_path / "run"), *SETTINGS])
    assert stopped.value.code == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_run_that_is_removed_while_it_is_made_is_told_and_not_begun_in_the_middle(
    refused: Refused, pool_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = HashFilter.fit

    def removing(self: HashFilter, *given: Any, **named: Any) -> None:
        fit(self, *given, **named)
        shutil.rmtree(tmp_path / "run")

    monkeypatch.setattr(HashFilter, "fit", removing)
    said = refused("filter", pool_folder, "--out", tmp_path / "run", *SETTINGS)
    assert "run: removed or moved while the run was at work" in said
    assert not (tmp_path / "run").exists()


def test_a_command_in_a_folder_that_is_gone_is_told(
    refused: Refused, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "the folder that this is run in is gone" in refused("show", small_run)


# ------------------------------------------------------------------------------- help


def examples(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.startswith(("  swag-af ", "      swag-af "))]


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_shows_its_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*verb.split(), "--help"])
    out = capsys.readouterr().out
    shown = examples(VERBS[verb][0].__doc__ or "")
    assert stopped.value.code == 0
    assert "Try:" in out
    assert shown
    assert all(example in out for example in shown)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_of_the_program_names_every_verb(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments)
    out = capsys.readouterr().out
    assert all(re.search(rf"^  {verb} +\S", out, re.MULTILINE) for verb in VERBS)


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--help"]])
def test_the_first_word_alone_lists_its_verbs(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(arguments)
    out = capsys.readouterr().out
    verbs = [verb for verb in VERBS if verb.startswith("verify ")]
    assert re.findall(r"^  (verify \w+) +\S", out, re.MULTILINE) == verbs


@pytest.mark.parametrize("arguments", [[], ["verify"], *([*verb.split(), "--help"] for verb in VERBS)])
def test_help_breaks_lines_only_between_words_and_where_it_must(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with contextlib.suppress(SystemExit):
        main(arguments)
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if len(line) > 80 and not line.startswith("  swag-af ")] == []


@pytest.mark.parametrize("columns", ["60", "80", "100"])
@pytest.mark.parametrize("verb", VERBS)
def test_help_is_as_people_would_write_it_in_boxes_that_are_whole(
    verb: str, columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had `{None}|PATH`, and `(default: )` or `(default: None)` where the default is nothing."""
    monkeypatch.setenv("COLUMNS", columns)
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for stream in (sys.stdout, shown):  # boxes are of spaces, then of lines
        with contextlib.redirect_stdout(stream), pytest.raises(SystemExit):
            main([*verb.split(), "--help"])
    shown.seek(0)
    boxes = [line for line in shown.read().splitlines() if line.startswith(("│", "╭", "╰"))]
    assert len({len(row) for row in boxes}) == 1
    for text in (capsys.readouterr().out, "\n".join(row.strip("│") for row in boxes)):
        assert "{None}" not in text
        assert not re.search(r"\(default: (None)?\)", " ".join(text.split()))


@pytest.mark.parametrize("wish", [{}, {"NO_COLOR": "1"}])
def test_help_has_no_colours_on_a_terminal_where_nobody_wants_some(wish: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    code = "from swag_af.cli.main import main; main(['show', '--help'])"
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm", "COLUMNS": "80", **wish}
    with subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=theirs, env=environment):
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # the end of what a terminal gets
            while part := os.read(ours, 65536):
                written += part
    os.close(ours)
    assert b"seconds" in written
    assert (b"\x1b[" in written) is not bool(wish)


def test_an_option_is_described_in_one_paragraph(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines of its docstring in the source are not those of the help."""
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main(["filter", "--help"])
    assert "has it in brackets: transformer" in capsys.readouterr().out


ALL_EXAMPLES = [line for dataclass, _ in VERBS.values() for line in examples(dataclass.__doc__ or "")]


@pytest.mark.parametrize("example", [*ALL_EXAMPLES, *examples(help_text())])
def test_every_example_is_a_command_that_parses(example: str) -> None:
    words = shlex.split(example)[1:]
    verb = words[0] if words[0] in VERBS else " ".join(words[:2])
    assert isinstance(parse(words), VERBS[verb][0])


def test_help_imports_little() -> None:
    """Less than a fifth of a second; only the help of a verb needs tyro."""
    loaded = loaded_by("swag_af.cli.main", "swag_af.cli.main.main(['--help'])")
    assert "swag_af.cli.main" in loaded
    assert not {"torch", "spacy", "nltk", "matplotlib", "sklearn", "numpy", "tyro"} & set(loaded)


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--version"])
    told = capsys.readouterr().out
    assert re.fullmatch(r"swag-af \d+\.\d+\.\d+\n", told)
    assert told == f"swag-af {swag_af.__version__}\n"


# ------------------------------------------------------------------------------- one schema in three forms

THREE_FORMS = {
    "demo": ("out = 'd'\nseed = 3", "demo --out d --seed 3", DemoOptions(Path("d"), 3)),
    "contexts": (
        "sources = ['a.json', 'b.json']\nout = 'c.jsonl'\nforce = true\n[rules]\nmax_gap_seconds = 25.0\nn-folds = 3",
        "contexts a.json b.json --out c.jsonl --force --max-gap-seconds 25 --n-folds 3",
        ContextsOptions(
            (Path("a.json"), Path("b.json")),
            Path("c.jsonl"),
            rules=ContextRules(max_gap_seconds=25.0, n_folds=3),
            force=True,
        ),
    ),
    "train-lm": (
        "contexts = 'c.jsonl'\nfolds = [0, 2]\nuse_dropped = false\n[lm]\nhidden = 64\nlearning_rate = 4e-3",
        "train-lm c.jsonl --folds 0 2 --no-use-dropped --hidden 64 --learning-rate 0.004",
        TrainLMOptions(Path("c.jsonl"), folds=(0, 2), use_dropped=False, lm=LMOptions(hidden=64, learning_rate=4e-3)),
    ),
    "generate": (
        "contexts = 'c.jsonl'\nlimit = 500\nfolds = []\nfeatures = 'lazy'\nshard = '2/8'\ndry_run = true\n"
        "generator = 'ngram'\n[text]\nprompt = 'p.toml'\nnormalise = false\n[endpoint]\nmax_requests = 9",
        "generate c.jsonl --limit 500 --features lazy --shard 2/8 --dry-run --generator ngram --prompt p.toml "
        "--no-normalise --max-requests 9",
        GenerateOptions(
            Path("c.jsonl"),
            generator="ngram",
            limit=500,
            features="lazy",
            shard="2/8",
            dry_run=True,
            text=TextOptions("p.toml", normalise=False),
            endpoint=EndpointOptions(max_requests=9),
        ),
    ),
    "train-nli": (
        "data = ['p.jsonl']\nmodel = 'decomp'\nhidden = 64\nneutral_share = 0.5\n[reading]\nlayout = 'columns'",
        "train-nli p.jsonl --model decomp --hidden 64 --neutral-share 0.5 --layout columns",
        TrainNLIOptions(
            (Path("p.jsonl"),), model="decomp", hidden=64, neutral_share=0.5, reading=ReadingOptions(layout="columns")
        ),
    ),
    "guard": (
        "pool = 'p'\nby = 'words,likelihood'\nthresholds = 'words=0.7'\nout = 'g'\nmin-negatives = 9",
        "guard p --by words,likelihood --thresholds words=0.7 --out g --min-negatives 9",
        GuardOptions(Path("p"), "words,likelihood", "words=0.7", out=Path("g"), min_negatives=9),
    ),
    "refine": (
        "data = ['q.jsonl']\njudge = 'ngrams,chars'\nrecipe = 'mmmu-pro'\nmore_than = 4\nvotes = 2\n"
        "[reading]\nkind = 'choices'",
        "refine q.jsonl --judge ngrams,chars --recipe mmmu-pro --more-than 4 --votes 2 --kind choices",
        RefineOptions(
            (Path("q.jsonl"),),
            judge="ngrams,chars",
            recipe="mmmu-pro",
            more_than=4,
            votes=2,
            reading=ReadingOptions(kind="choices"),
        ),
    ),
    "explain": ("codes = ['AF101', 'AF505']", "explain AF101 AF505", ExplainOptions(("AF101", "AF505"))),
    "features": ("pool = 'p'\nlms = 'l'", "features p --lms l", FeaturesOptions(Path("p"), Path("l"))),
    "pool": (
        "sources = ['a.csv', 'b.csv']\nflag = 'f.py:g'\ndrop_empty = true\n"
        "[columns]\nstart_column = ''\nid-column = 'n'",
        "pool a.csv b.csv --flag f.py:g --drop-empty --start-column '' --id-column n",
        PoolOptions(
            (Path("a.csv"), Path("b.csv")),
            flag="f.py:g",
            drop_empty=True,
            columns=Columns(start_column="", id_column="n"),
        ),
    ),
    "match": (
        "data = ['q.jsonl']\nout = 'm'\ndry_run = true\n[matching]\nweight = 0.3\n[pairs]\nquery-column = 'ask'",
        "match q.jsonl --out m --dry-run --weight 0.3 --query-column ask",
        MatchOptions(
            (Path("q.jsonl"),),
            Path("m"),
            matching=MatchingOptions(weight=0.3),
            pairs=PairColumns(query_column="ask"),
            dry_run=True,
        ),
    ),
    "tag": ("pool = 'p'\ntagger = 'none'", "tag p --tagger none", TagOptions(Path("p"), "none")),
    "train-tagger": (
        "treebank = 't.conllu'\ndev = 'd.conllu'\nparser = false\nlower-share = 0.5",
        "train-tagger t.conllu --dev d.conllu --no-parser --lower-share 0.5",
        TrainTaggerOptions(Path("t.conllu"), dev=Path("d.conllu"), parser=False, lower_share=0.5),
    ),
    "filter": (
        "pool = 'p'\nschedule = 'mlp:3,bow:2'\n[af]\niterations = 9\nrule = 'released'\nuntil = 0.05",
        "filter p --schedule mlp:3,bow:2 --iterations 9 --rule released --until 0.05",
        FilterOptions(Path("p"), schedule="mlp:3,bow:2", af=AFOptions(iterations=9, rule="released", until=0.05)),
    ),
    "audit": (
        "data = ['r']\nfilters = 'cnn'\niteration = 0",
        "audit r --filters cnn --iteration 0",
        AuditOptions((Path("r"),), filters="cnn", iteration=0),
    ),
    "score": (
        "data = 'd.jsonl'\npredictions = ['a.jsonl', 'b.csv']\nblind = ['x=b.csv']\n[reading]\nmask = 'persons'",
        "score d.jsonl a.jsonl b.csv --blind x=b.csv --mask persons",
        ScoreOptions(
            Path("d.jsonl"),
            (Path("a.jsonl"), Path("b.csv")),
            blind=("x=b.csv",),
            reading=ReadingOptions(mask="persons"),
        ),
    ),
    "count-check": (
        "percentages = ['62.89', '41.5']\nn = 159\nsensitivity = '50.75'",
        "count-check 62.89 41.5 --n 159 --sensitivity 50.75",
        CountCheckOptions(("62.89", "41.5"), 159, "50.75"),
    ),
    "describe": (
        "data = ['a.jsonl']\nbeside = ['b.jsonl']\ntopics = 0\n[columns]\nlabel_column = 'gold'",
        "describe a.jsonl --beside b.jsonl --topics 0 --label-column gold",
        DescribeOptions(
            (Path("a.jsonl"),),
            beside=(Path("b.jsonl"),),
            topics=0,
            reading=ReadingOptions(columns=InstanceColumns(label_column="gold")),
        ),
    ),
    "probe-endpoint": (
        "url = 'http://h:1'\njournal = 'j'\n[endpoint]\nmodel = 'm'\nmax_requests = 9",
        "probe-endpoint http://h:1 --journal j --model m --max-requests 9",
        ProbeEndpointOptions("http://h:1", Path("j"), endpoint=EndpointOptions(model="m", max_requests=9)),
    ),
    "prune": (
        "data = ['a.jsonl']\nby = 'probes'\ntarget = 900\n[columns]\nlabel_column = 'gold'",
        "prune a.jsonl --by probes --target 900 --label-column gold",
        PruneOptions(
            (Path("a.jsonl"),),
            by="probes",
            target=900,
            reading=ReadingOptions(columns=InstanceColumns(label_column="gold")),
        ),
    ),
    "diagnose": (
        "run = 'r'\nfilters = 'bow,ngrams'\nlimit = 900\njson = 'd.json'",
        "diagnose r --filters bow,ngrams --limit 900 --json d.json",
        DiagnoseOptions(Path("r"), filters="bow,ngrams", limit=900, json=Path("d.json")),
    ),
    "baselines": (
        "data = ['a.jsonl']\nmodels = 'random,tfidf'\nseeds = 2\n[columns]\nlabel_column = 'gold'",
        "baselines a.jsonl --models random,tfidf --seeds 2 --label-column gold",
        BaselinesOptions(
            (Path("a.jsonl"),),
            models="random,tfidf",
            seeds=2,
            reading=ReadingOptions(columns=InstanceColumns(label_column="gold")),
        ),
    ),
    "report": ("run = 'r'\nout = 'x.html'", "report r --out x.html", ReportOptions(Path("r"), out=Path("x.html"))),
    "release": ("run = 'r'\niteration = 4", "release r --iteration 4", ReleaseOptions(Path("r"), iteration=4)),
    "show": ("path = 'p'\nn = 5", "show p --n 5", ShowOptions(Path("p"), n=5)),
    "verify serve": (
        "run = 'r'\nannotators_per_item = 2\nqualification = 'builtin'\nmin-gold-share = 0.6",
        "verify serve r --annotators-per-item 2 --qualification builtin --min-gold-share 0.6",
        ServeOptions(Path("r"), annotators_per_item=2, qualification="builtin", min_gold_share=0.6),
    ),
    "verify invite": (
        "run = 'r'\nn = 5\nout = 'l.csv'",
        "verify invite r --n 5 --out l.csv",
        InviteOptions(Path("r"), n=5, out=Path("l.csv")),
    ),
    "verify backup": (
        "run = 'r'\nout = 'b.db'",
        "verify backup r --out b.db",
        BackupOptions(Path("r"), Path("b.db")),
    ),
    "verify export": (
        "run = 'r'\nto = 'mturk'\nout = 'h.csv'\nverdicts = 'v.jsonl'\nannotators-per-item = 2",
        "verify export r --to mturk --out h.csv --verdicts v.jsonl --annotators-per-item 2",
        ExportOptions(Path("r"), "mturk", Path("h.csv"), verdicts=Path("v.jsonl"), annotators_per_item=2),
    ),
    "verify import": (
        "run = 'r'\nfiles = ['a.csv', 'b.csv']\nkey = 'k.json'",
        "verify import r a.csv b.csv --key k.json",
        ImportOptions(Path("r"), (Path("a.csv"), Path("b.csv")), key=Path("k.json")),
    ),
    "verify agreement": (
        "verdicts = 'v.jsonl'\nmodel = 'mace'\njson = 'a.json'",
        "verify agreement v.jsonl --model mace --json a.json",
        AgreementOptions(Path("v.jsonl"), "mace", Path("a.json")),
    ),
}


def test_every_verb_has_its_three_forms() -> None:
    assert set(THREE_FORMS) == set(VERBS)


@pytest.mark.parametrize(("verb", "forms"), THREE_FORMS.items(), ids=THREE_FORMS.keys())
def test_toml_equals_flags_equals_python(tmp_path: Path, verb: str, forms: tuple[str, str, object]) -> None:
    toml, flags, python = forms
    (tmp_path / "c.toml").write_text(toml)
    assert parse(shlex.split(flags)) == python
    assert parse([*verb.split(), "--config", str(tmp_path / "c.toml")]) == python
    assert parse([*verb.split(), f"--config={tmp_path / 'c.toml'}"]) == python


def test_words_of_a_config_fill_what_the_command_line_leaves_empty(tmp_path: Path) -> None:
    """Predictions of a file were not scored, without a word, where the data was typed."""
    (tmp_path / "c.toml").write_text('predictions = ["p.jsonl"]\npeople = "a.jsonl"\n')
    expected = ScoreOptions(Path("d.jsonl"), (Path("p.jsonl"),), people=Path("a.jsonl"))
    assert parse(["score", "d.jsonl", "--config", str(tmp_path / "c.toml")]) == expected
    typed = parse(["score", "d.jsonl", "q.jsonl", "--config", str(tmp_path / "c.toml")])
    assert typed.predictions == (Path("q.jsonl"),)


def test_flags_beside_a_config_win(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("pool = 'p'\nseed = 1\nn_easy = 1")
    options = parse(["filter", "other", "--config", str(tmp_path / "c.toml"), "--seed", "2"])
    assert (options.pool, options.af.seed, options.af.n_easy) == (Path("other"), 2, 1)


def test_an_option_of_several_values_may_be_given_again() -> None:
    """The last one alone counted, without a word."""
    words = "generate c.jsonl --engine slurm --slurm a=1 --limit 9 --slurm=b=2 c=3 --folds 0 --seed 4 --folds 2"
    made = parse(words.split())
    assert (made.where.slurm, made.folds, made.limit, made.seed) == (("a=1", "b=2", "c=3"), (0, 2), 9, 4)
    assert parse(["match", "d.jsonl", "--sweep=0.5", "--seed", "3", "--sweep", "0.7"]).sweeping.sweep == (0.5, 0.7)
    assert parse(["report", "run", "--verdicts", "a", "--verdicts", "b"]).verdicts == (Path("a"), Path("b"))
    with pytest.raises(InputError, match="--slurm a: given twice"):
        parse(["generate", "c.jsonl", "--engine", "slurm", "--slurm", "a=1", "--slurm", "a=2"])


def test_a_flag_spelt_with_underscores_wins_too(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("pool = 'p'\nn_easy = 1")
    assert parse(["filter", "--config", str(tmp_path / "c.toml"), "--n_easy", "3"]).af.n_easy == 3


def test_a_tilde_that_the_shell_leaves_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `--out=~/run` a folder of the name `~` was made."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "filter.toml").write_text('lms = "~/lms"\nreuse = ["~/a", "b~"]')
    options = parse(["generate", "~/c.jsonl", "--out=~/pool", "--config=~/filter.toml"])
    assert (options.contexts, options.out, options.lms) == tuple(tmp_path / name for name in ("c.jsonl", "pool", "lms"))
    assert options.reuse == (tmp_path / "a", Path("b~"))
    for word in ("./~/pool", "s3://bucket/~/pool", "~no-such-user/pool"):
        assert parse(["filter", word, f"--out={word}"]).out == Path(word)


@pytest.mark.parametrize("words", [["pool", "--out", ""], ["pool", "--out="], [""]])
def test_an_empty_path_is_refused_as_such(words: list[str]) -> None:
    """It was taken for the working folder, as where a variable of the shell is not set."""
    with pytest.raises(InputError, match="empty, and a path is due"):
        parse(["filter", *words])
    with pytest.raises(InputError, match="--config: no file given"):
        parse(["filter", "pool", "--config", ""])


def test_a_config_may_hold_a_table_a_verb(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[release]\nrun = 'r'\n[filter]\npool = 'p'\nseed = 4\n")
    config = str(tmp_path / "c.toml")
    assert parse(["filter", "--config", config]) == FilterOptions(Path("p"), af=AFOptions(seed=4))
    assert parse(["show", "x", "--config", config]) == ShowOptions(Path("x"))


@pytest.mark.parametrize("table", ["[verify.serve]", "[verify]\nserve.run = 'r'\n[other]", '["verify serve"]'])
def test_a_table_of_a_config_may_belong_to_a_verb_of_two_words(tmp_path: Path, table: str) -> None:
    run = "" if "serve.run" in table else "\nrun = 'r'\n"
    (tmp_path / "c.toml").write_text(f"[filter]\npool = 'p'\n{table}{run}")
    assert parse(["verify", "serve", "--config", str(tmp_path / "c.toml")]) == ServeOptions(Path("r"))


def test_files_may_stand_behind_flags_where_a_config_has_others(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("data = ['other.jsonl']\nfolds = 4\nmask = '-x'")
    config = str(tmp_path / "c.toml")
    for words in (["--folds", "3", "mine.jsonl"], ["mine.jsonl", "--folds", "3"]):
        made = parse(["audit", *words, "--config", config])
        assert (made.data, made.folds, made.reading.mask) == ((Path("mine.jsonl"),), 3, "-x")
    assert parse(["audit", "--folds", "3", "--config", config]).data == (Path("other.jsonl"),)


def test_words_without_a_flag_stand_in_any_order_in_a_config(tmp_path: Path) -> None:
    """They were typed in the order of the file: predictions were read as the data."""
    (tmp_path / "c.toml").write_text("predictions = ['model.jsonl', 'b.jsonl']\ndata = 'questions.jsonl'")
    made = parse(["score", "--config", str(tmp_path / "c.toml")])
    assert made == parse(["score", "questions.jsonl", "model.jsonl", "b.jsonl"])


def test_a_table_of_a_config_may_be_spelt_with_an_underscore(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("[filter]\nseed = 6\n[train_lm]\nseed = 5\n")
    assert parse(["train-lm", "x", "--config", str(tmp_path / "c.toml")]).seed == 5


@pytest.mark.parametrize(
    ("verb", "toml", "words"),
    [
        ("train-lm", "contexts = 'c.jsonl'\nfolds = [0, 1]", "c.jsonl --folds 0 1"),
        ("release", "verdicts = ['a.jsonl', 'b.jsonl']\nrun = 'r'", "r --verdicts a.jsonl b.jsonl"),
        ("report", "run = 'r'\nverdicts = ['v.jsonl']", "r --verdicts v.jsonl"),
        ("describe", "beside = ['b.jsonl', 'c.jsonl']\ndata = ['a.jsonl']", "a.jsonl --beside b.jsonl c.jsonl"),
    ],
)
def test_the_order_of_a_config_decides_nothing(tmp_path: Path, verb: str, toml: str, words: str) -> None:
    """The last of a list was taken for the word without a flag, and the one in the file went unread."""
    (tmp_path / "c.toml").write_text(toml)
    assert parse([verb, "--config", str(tmp_path / "c.toml")]) == parse([verb, *words.split()])
    if verb == "release":
        made = parse([verb, "--seed", "3", "--config", str(tmp_path / "c.toml")])
        assert made == parse([verb, "--seed", "3", *words.split()])
        typed = parse([verb, "--verdicts", "mine.jsonl", "--config", str(tmp_path / "c.toml")])
        assert (typed.run, typed.verdicts) == (Path("r"), (Path("mine.jsonl"),))
        typed = parse([verb, "--no-screen", "mine", "--config", str(tmp_path / "c.toml")])
        assert (typed.run, typed.verdicts) == (Path("mine"), (Path("a.jsonl"), Path("b.jsonl")))


BAD_CONFIGS = {
    "a key beside tables": ("seed = 5\n[filter]\nseed = 6\n", "'seed' stands beside the tables of verbs"),
    "a table of no verb": ("[fitler]\nseed = 5\n[filter]\nseed = 6\n", "'fitler' stands beside the tables of verbs"),
    "broken": ("seed = \n", "not valid TOML"),
    "unknown key": ("pool = 'p'\nitrations = 4", "no option 'itrations'. Did you mean iterations?"),
    "another verb's key": ("pool = 'p'\nsplitter = 'rules'", "no option 'splitter'"),
    "wrong type": ("pool = 'p'\nn_easy = 'two'", "--n-easy"),
    "said twice": ("pool = 'p'\nn-easy = 1\nn_easy = 5", "n-easy stands there twice"),
    "said in a table, too": ("pool = 'p'\nseed = 1\n[af]\nseed = 7", "seed stands there twice"),
    "a table twice": ("[train-lm]\nseed = 3\n[train_lm]\nseed = 4", "train-lm stands there twice"),
    "a mistyped table alone": ("[fliter]\niterations = 5", "filter has no table [fliter]. Did you mean filter?"),
    "another verb's part": ("pool = 'p'\n[lm]\niterations = 5", "filter has no table [lm]"),
}


@pytest.mark.parametrize(("content", "said"), BAD_CONFIGS.values(), ids=BAD_CONFIGS.keys())
def test_a_bad_config_is_refused(refused: Refused, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "c.toml").write_text(content)
    assert said in refused("filter", "--config", tmp_path / "c.toml")


def test_a_second_config_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("pool = 'p'")
    config = ("--config", tmp_path / "c.toml")
    assert "--config: given twice" in refused("filter", *config, *config)


def test_a_config_in_a_store_is_refused_with_its_whole_address(refused: Refused) -> None:
    said = refused("filter", "pool", "--config", "s3://bucket/filter.toml")
    assert "--config s3://bucket/filter.toml: read from this machine alone" in said


def test_a_missing_config_is_refused(refused: Refused, tmp_path: Path) -> None:
    assert "none.toml: no such file" in refused("filter", "pool", "--config", tmp_path / "none.toml")


def test_options_say_no_before_anything_is_read() -> None:
    with pytest.raises(InputError, match="--n-negatives 0"):
        parse(["filter", "nowhere", "--n-negatives", "0"])


# ------------------------------------------------------------------------------- show


def shown(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    capsys.readouterr()
    main(["show", str(path)])
    return capsys.readouterr().out


def test_contexts_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_contexts(tmp_path / "c.jsonl", make_contexts_of(6, n_videos=3), [], {})
    out = shown(capsys, tmp_path / "c.jsonl")
    assert "6 contexts of 3 videos in 3 folds" in out
    assert f"Next: swag-af generate {tmp_path / 'c.jsonl'}" in out


def test_a_pool_is_shown(capsys: pytest.CaptureFixture[str], pool_folder: Path) -> None:
    out = shown(capsys, pool_folder)
    assert "30 contexts x 19 candidates" in out
    assert f"Next: swag-af filter {pool_folder}" in out


def test_a_run_is_shown_finished_or_not(
    capsys: pytest.CaptureFixture[str], pool_folder: Path, small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shown(capsys, small_run)
    assert "2 of 2 iterations finished" in out
    assert "2 replaced at most, splits fresh, rule paper, pick random" in out
    assert "chance is 0.200" in out
    assert f"Next: swag-af release {small_run}" in out
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(SystemExit):
        main(["filter", str(pool_folder), "--out", str(small_run), *SETTINGS])
    out = shown(capsys, small_run)
    assert "2 of 4 iterations finished" in out
    assert "goes on" in out


def test_a_run_that_has_just_begun_is_shown(capsys: pytest.CaptureFixture[str], small_run: Path) -> None:
    (small_run / "log.jsonl").unlink()
    assert "0 of 2 iterations finished" in shown(capsys, small_run)


def test_a_dataset_is_shown(capsys: pytest.CaptureFixture[str], small_run: Path, tmp_path: Path) -> None:
    main(["release", str(small_run), "--out", str(tmp_path / "dataset"), "--audit", "none"])
    out = shown(capsys, tmp_path / "dataset")
    assert "30 questions of 4 endings: train " in out
    assert "no human verdicts" in out
    assert "Next: read" in out


def test_verdicts_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verdicts = say([Item(row, (0, 1, 2, 3)) for row in range(5)], "ab")
    write_verdicts(tmp_path / "verdicts.jsonl", verdicts, "a pool")
    out = shown(capsys, tmp_path / "verdicts.jsonl")
    assert "10 verdicts of 2 people on 5 items" in out
    assert f"{sum(v.ratings.count('gibberish') for v in verdicts)} gibberish" in out
    assert f"Next: swag-af verify agreement {tmp_path / 'verdicts.jsonl'}" in out


def test_a_single_fold_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    perplexity = {"forward": 12.5, "backward": 13.5}
    made = {"held_out_perplexity": perplexity, "fold_perplexity": perplexity, "fold": 3, "n_train_pairs": 1788}
    made |= {"seconds": 3.0, "best_epoch": 1, "weights_sha256": "0" * 64}
    write_manifest(tmp_path / "fold-3", "lm-fold", made)
    out = shown(capsys, tmp_path / "fold-3")
    assert "fold 3, which have not read it; 1,788 pairs" in out
    assert "12.5" in out
    assert f"swag-af show {tmp_path}" in out


def test_a_verification_is_shown(capsys: pytest.CaptureFixture[str], small_run: Path) -> None:
    pytest.importorskip("sqlalchemy")
    from swag_af.verify.store import begin_store

    begun_with = {"pool_identity": read_json(small_run / "manifest.json")["pool_identity"], "iteration": 2, "seed": 0}
    begin_store(small_run, None, begun_with).close()
    out = shown(capsys, small_run / "verification")
    assert "0 verdicts of 0 people on 0 items" in out
    assert f"swag-af verify serve {small_run}" in out
    assert isinstance(parse(next_command(out)), ExportOptions)


# ------------------------------------------------------------------------------- commands to run next


def pool_of_negatives(path: Path, *n_negatives: int) -> Path:
    """A pool of texts, made by `pool`, with so many negatives in each row."""
    rows = [
        {
            "sent1": f"A man number {i} walks in.",
            "start": "He",
            "gold": f"takes {i} cups from the shelf.",
            "negatives": [f"eats {k} of {i} stones." for k in range(n)],
        }
        for i, n in enumerate(n_negatives)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.with_suffix(".jsonl")
    write(source, rows)
    main(["pool", str(source), "--out", str(path), "--tagger", "none"])
    return path


def next_command(out: str) -> list[str]:
    """The arguments of the command that `out` ends with, up to a semicolon."""
    return shlex.split(out.rpartition("Next: swag-af ")[2].partition(";")[0])


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4))
def test_a_command_is_read_by_a_shell_as_it_was_meant(words: list[str]) -> None:
    assert shlex.split(command(*words)) == ["swag-af", *words]


def test_what_verbs_say_to_run_next_can_be_pasted_where_a_name_has_a_blank(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fake_filters: None
) -> None:
    here = tmp_path / "my 'own' data; here"
    pool, run, dataset = here / "a pool", here / "a run", here / "a data set"
    pool_of_negatives(pool, *[3] * 12)
    assert pasted(capsys)[:2] == ["filter", str(pool)]
    main(["tag", str(pool), "--tagger", "rules"])
    assert pasted(capsys)[:2] == ["filter", str(pool)]
    main(["filter", str(pool), "--out", str(run), "--n-negatives", "2", "--schedule", "hash:1", "--audit", "none"])
    assert pasted(capsys) == ["release", str(run), "--n-distractors", "2", "--out", "dataset"]
    main(["show", str(run)])
    release, audit = pasted_all(capsys)
    assert release == ["release", str(run), "--n-distractors", "2", "--out", "dataset"]
    assert audit == ["audit", f"{run},", "to", "see", "what", "fresh", "filters", "find"]
    main([*release[:-1], str(dataset), "--audit", "none", "--formats", "jsonl"])
    assert pasted(capsys) == ["show", str(dataset)]
    main(["show", str(pool)])
    assert pasted(capsys)[:2] == ["filter", str(pool)]
    write_contexts(here / "my contexts.jsonl", make_contexts_of(6, n_videos=3), [], {})
    main(["show", str(here / "my contexts.jsonl")])
    assert pasted(capsys) == ["generate", str(here / "my contexts.jsonl"), "--lms", "lms", "--out", "pool"]


def pasted(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a shell takes from the last line that tells what to run next."""
    return pasted_all(capsys)[0]


def pasted_all(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The same of each command of that line; those who paste the line cut it there."""
    line = capsys.readouterr().out.strip().splitlines()[-1]
    following = line.partition("Next: ")[2]
    return [shlex.split(one)[1:] for one in re.split(r";(?: or)? (?=swag-af )", following)]


ROOT = Path(__file__).resolve().parents[2]


def all_sources() -> set[Path]:
    """Every file of the package, wherever it lies."""
    return {path.resolve() for name in PACKAGES for path in (ROOT / name).rglob("*.py")}


PACKAGES = ("swag_af", "data", "nn", "lm", "filters")


def commands_by_hand(path: Path) -> list[str]:
    """Every place in a file where a command of ours is put together from words that nobody quotes."""
    return [
        f"{path}:{node.lineno}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.JoinedStr) and re.search(r"swag-af [a-z][^`]*\{\}", said_by(node))
    ]


def said_by(node: ast.JoinedStr) -> str:
    """The text of an f-string, with {} for each value."""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def test_commands_that_are_printed_are_made_by_one_function() -> None:
    assert not [at for path in all_sources() for at in commands_by_hand(path)]


def test_a_command_that_is_made_by_hand_is_found(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("x = f'Next: swag-af show {path}'\ny = f'{path}: see `swag-af show`, {n}'\n")
    assert commands_by_hand(tmp_path / "odd.py") == [f"{tmp_path / 'odd.py'}:1"]


@pytest.mark.parametrize("n_negatives", [3, 2, 1])
def test_what_show_says_to_run_next_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_negatives: int
) -> None:
    """A pool without features cannot be filtered by the default schedule, nor can a run of one negative be released
    with three distractors."""
    monkeypatch.chdir(tmp_path)
    following = next_command(shown(capsys, pool_of_negatives(tmp_path / "pool", *[n_negatives] * 12)))
    assert following[:2] == ["filter", str(tmp_path / "pool")]
    main([*following, "--iterations", "1", "--audit", "none"])
    said = capsys.readouterr().out
    assert "Written to run" in said
    assert next_command(said) == next_command(shown(capsys, Path("run")))
    main([*next_command(said), "--audit", "none", "--formats", "none"])
    assert (tmp_path / "dataset" / "train.csv").exists()


def test_a_run_that_cannot_swap_says_so_before_it_begins(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fake_filters: None
) -> None:
    flags = ["--schedule", "hash:1", "--audit", "none"]
    even = pool_of_negatives(tmp_path / "even", *[3] * 12)
    main(["filter", str(even), "--out", str(tmp_path / "a"), "--n-negatives", "3", *flags])
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith("Warning: no row of the pool has a negative beyond the 3 assigned")
    main(["filter", str(even), "--out", str(tmp_path / "b"), "--n-negatives", "2", *flags])
    assert "Warning" not in capsys.readouterr().err
    uneven = pool_of_negatives(tmp_path / "uneven", *[3] * 4, *[4] * 8)
    main(["filter", str(uneven), "--out", str(tmp_path / "c"), "--n-negatives", "3", *flags])
    assert "Warning: 4 of 12 rows have no negative beyond the 3 assigned" in capsys.readouterr().err


def test_rows_with_too_few_negatives_are_refused_and_not_warned_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fake_filters: None
) -> None:
    short = pool_of_negatives(tmp_path / "short", *[3] * 8, *[2] * 4)
    with pytest.raises(SystemExit):
        main(["filter", str(short), "--out", str(tmp_path / "a"), "--n-negatives", "3", "--schedule", "hash:1"])
    said = capsys.readouterr().err
    assert "4 of 12 rows have fewer than 3 negatives" in said
    assert "Warning" not in said


@pytest.mark.parametrize("splits", ["fresh", "fixed"])
def test_where_folds_stay_filter_says_what_its_accuracy_is_not(
    capsys: pytest.CaptureFixture[str], pool_folder: Path, tmp_path: Path, splits: str
) -> None:
    words = ["--schedule", "bow[max_epochs=1]:2", "--n-negatives", "3", "--audit", "none", "--splits", splits]
    main(["filter", str(pool_folder), "--out", str(tmp_path / "run"), *words])
    assert ("do not say how hard the questions are" in capsys.readouterr().err) == (splits == "fixed")


@pytest.mark.parametrize(("groups", "warns"), [(range(12), True), ([0, 1] * 6, False)])
def test_negatives_that_are_golds_of_other_rows_are_warned_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fake_filters: None, groups: Sequence[int], warns: bool
) -> None:
    contexts = [Context(f"It rains {i}.", "He", f"runs {i} miles.", id=str(i)) for i in range(12)]
    golds = [[f"runs {(i + 2 * k) % 12} miles." for k in (1, 2, 3)] for i in range(12)]
    CandidatePool.from_grouped_texts(contexts, golds, np.array(groups)).save(tmp_path / "pool")
    flags = ["--schedule", "hash:1", "--audit", "none", "--n-negatives", "2"]
    for name, split_by in (("a", "video"), ("b", "context")):
        main(["filter", str(tmp_path / "pool"), "--out", str(tmp_path / name), "--split-by", split_by, *flags])
        warned = "Warning: 36 negatives are the gold of another context" in capsys.readouterr().err
        assert warned is (warns or split_by == "context")


@pytest.mark.parametrize("verb", ["filter", "audit"])
def test_help_names_every_filter(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    text = capsys.readouterr().out.partition("Try:")[0]
    for name in ("ngrams", "fasttext", "bow", "cnn", "poslstm", "chars", "transformer", "mlp", "ensemble"):
        assert re.search(rf"\b{name}\b", text)


# ------------------------------------------------------------------------------- what a terminal gets

HOSTILE = "\x1b]0;owned\x07He \x9b31m runs\u202e.\r\x08"


def assert_harmless(text: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert "\\x1b]0;owned\\x07" in text
    assert "\\x9b31m" in text
    assert "\\u202e" in text


def test_show_prints_no_character_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    contexts = [replace(context, gold=HOSTILE) for context in make_contexts_of(6, n_videos=3)]
    write_contexts(tmp_path / "c.jsonl", contexts, [], {})
    assert_harmless(shown(capsys, tmp_path / "c.jsonl"))


def test_an_error_prints_none_either(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path / HOSTILE)])
    assert_harmless(capsys.readouterr().err.rstrip("\n"))


def test_a_note_prints_none_either(capsys: pytest.CaptureFixture[str]) -> None:
    note(HOSTILE)
    assert_harmless(capsys.readouterr().err.rstrip("\n"))


@pytest.mark.parametrize("verb", ["show", "contexts", "verify serve", "nonsense"])
def test_an_argument_that_is_not_utf8_is_one_line(verb: str, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.jsonl")).write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "swag_af", *verb.split(), os.fsdecode(b"caf\xe9.jsonl")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    n = 1 + len(verb.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"swag-af: argument {n} is not UTF-8: 'caf\\udce9\.jsonl'\. Rename .*\n", done.stderr)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["verify"], ["filter", "--help"]])
def test_a_reader_who_goes_away_ends_it_quietly(arguments: list[str]) -> None:
    """As `| head -1` does."""
    program = subprocess.Popen(
        [sys.executable, "-m", "swag_af", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    program.stdout.close()
    assert program.stderr is not None
    assert program.stderr.read() == ""
    program.stderr.close()
    assert program.wait() == 0


def test_a_reader_who_goes_away_changes_no_outcome(tmp_path: Path) -> None:
    """A file that was not there ended with 0."""
    program = [sys.executable, "-m", "swag_af"]
    for arguments, code in ((["show", tmp_path / "nope"], 2), (["explain", "AF101"], 0)):
        quiet = subprocess.Popen([*program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert quiet.stdout is not None
        assert quiet.stderr is not None
        quiet.stdout.close()
        quiet.stderr.close()
        assert quiet.wait() == code


def test_without_any_output_a_verb_works_all_the_same() -> None:
    for arguments in (["explain", "AF101"], ["--help"]):
        closed = f"{sys.executable} -m swag_af {' '.join(arguments)} >&- 2>&-"
        assert subprocess.run(["bash", "-c", closed], check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line_for_help_too() -> None:
    for arguments in ("--help", "filter --help", "explain AF101"):
        full = f"{sys.executable} -m swag_af {arguments} > /dev/full"
        done = subprocess.run(["bash", "-c", full], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "standard output: No space left" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_error_that_cannot_be_printed_has_its_code(tmp_path: Path) -> None:
    """It ended with 1, which is a gate that failed."""
    (tmp_path / "show").write_text(f"exec {sys.executable} -m swag_af show nothing\n")
    for errors in ("2> /dev/full", "2>&-"):
        assert subprocess.run(["bash", "-c", f"bash {tmp_path / 'show'} {errors}"], check=False).returncode == 2


def test_a_device_that_is_not_there_begins_no_run(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run was begun, and the same command without the device was refused."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    make_pool().save(tmp_path / "pool")
    words = ("filter", tmp_path / "pool", "--out", tmp_path / "run", "--n-negatives", "3")
    assert "sees no GPU" in refused(*words, "--schedule", "bow:1", "--device", "cuda")
    assert "sees no GPU" in refused(*words, "--schedule", "bow[device=cuda]:1")
    assert not (tmp_path / "run").exists()
