"""Claims about damaged files: whatever is wrong with a file of ours, a verb says so in one line, and leaves nothing.

Every file of a small pool, run, folder of language models, dataset, context set and verdicts is damaged in turn: it is
removed, cut, given wrong bytes, or a field of it is dropped or gets another type. The verbs that read it then end with
code 2 and one line, or succeed where the damage does no harm.
"""

import contextlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter, make_contexts_of, make_pool
from judged import say

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.disk.files import write_array, write_json, write_jsonl
from swag_af.data.pool.drafts import ShardDraft
from swag_af.data.pool.options import PoolOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool
from swag_af.data.runs.findings import Finding, keep
from swag_af.data.runs.run import open_run
from swag_af.data.sample.grammar import sample_videos
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import guard
from swag_af.judging.verdicts import make_items, write_verdicts
from swag_af.lm.options import GenerateOptions
from swag_af.lm.verb import make_shards
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.verify.exchange.verb import export
from swag_af.verify.options import ExportOptions
from swag_af.verify.store import read_keys

N_MUTATIONS = int(os.environ.get("SWAG_AF_MUTATIONS", "6"))
"""Random mutations of the files of each kind, for each verb that reads them."""


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch, plain_process: None) -> None:
    """No curves, and a bug of ours is a traceback."""
    monkeypatch.setenv("SWAG_AF_TRACEBACK", "1")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, contexts_path: Path, lms: Path) -> Path:
    """A folder with one of everything, each small."""
    folder = tmp_path_factory.mktemp("world")
    make_pool(n=20).save(folder / "pool")
    filter_pool(CandidatePool.open(folder / "pool"), HashFilter(), AFOptions(iterations=2), out=folder / "run")
    run = open_run(folder / "run")
    finding = Finding(2, "hash", 0.5, 0.4, 0.6, 0.1, 20, 10, 5, 0, (1.0,) * 10, "", (0.0,) * 20)
    keep(run.path, finding=finding)
    items = make_items(run.assignment(), seed=0)
    write_verdicts(folder / "verdicts.jsonl", say(items, "ab"), run.pool.identity)
    export(ExportOptions(folder / "run", out=folder / "tasks.csv"))
    _answer(folder / "tasks.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
        release(ReleaseOptions(folder / "run", folder / "dataset", audit="none"))
    write_contexts(folder / "contexts.jsonl", make_contexts_of(20, n_videos=10), [], {"verb": "contexts"})
    shutil.copytree(lms, folder / "lms")
    _write_published(folder)
    (folder / "run" / "verification").mkdir()
    read_keys(folder / "run")
    for beside in contexts_path.parent.glob("contexts.*"):
        shutil.copy(beside, folder / beside.name.replace("contexts", "captions"))
    pool(PoolOptions((_choices(folder),), folder / "plain", tagger="none", lms=folder / "lms"))
    guard(GuardOptions(folder / "pool", "words", "words=0.9", out=folder / "guarded"))
    filter_pool(CandidatePool.open(folder / "guarded"), HashFilter(), AFOptions(iterations=2), out=folder / "kept")
    _begin(folder)
    _share(folder)
    return folder


def _write_published(folder: Path) -> None:
    """A set of captions in each of two published formats."""
    videos = sample_videos(6)
    times = {v.id: [[float(i), i + 1.0] for i in range(len(v.captions))] for v in videos}
    entries = {v.id: {"sentences": [c.text for c in v.captions], "timestamps": times[v.id]} for v in videos}
    write_json(folder / "activitynet.json", entries)
    lines = [
        f"{v.id}_00.00.0{i}.000-00.00.0{i + 1}.000\t{i}\t{i + 1}\t{i}\t{i + 1}\t{c.text}\n"
        for v in videos
        for i, c in enumerate(v.captions[:8])
    ]
    (folder / "lsmdc.csv").write_text("".join(lines), encoding="utf-8")


def _choices(folder: Path) -> Path:
    """Endings of the captions' contexts beside one another, as somebody's own file."""
    contexts = read_contexts(folder / "captions.jsonl")[:4]
    golds = [context.gold for context in contexts]
    lines = ({**context.record(), "negatives": golds[:i] + golds[i + 1 :]} for i, context in enumerate(contexts))
    write_jsonl(folder / "choices.jsonl", lines)
    return folder / "choices.jsonl"


def _begin(folder: Path) -> None:
    """A pool that `generate` was killed over: its first row is there."""
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShardDraft, "finish", lambda *_, **__: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception, match="killed"):
            make_shards(GenerateOptions(Path("captions.jsonl"), Path("lms"), Path("begun"), limit=2, n_negatives=3))


def _share(folder: Path) -> None:
    """A pool of texts of which every second context is answered."""
    options = GenerateOptions(Path("captions.jsonl"), out=Path("written"), generator="ngram", limit=4, n_negatives=3)
    with contextlib.chdir(folder):
        make_shards(replace(options, shard="1/2"))


def _answer(path: Path) -> None:
    """Fill in the table of tasks as one annotator would."""
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {name: "likely" for name in row if name.startswith("rating")}
        row |= {"best": "1", "second": "2", "annotator": "a", "seconds": "3"}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@dataclass(frozen=True)
class Reader:
    """A command, and the files that it reads, as patterns within the world."""

    command: str
    """`OUT` is where it writes."""
    reads: str

    @property
    def name(self) -> str:
        return "-".join(self.command.split()[:2])


READERS = [
    Reader("show pool", "pool/**/*"),
    Reader("show run", "run/**/*"),
    Reader("show lms", "lms/**/*"),
    Reader("show dataset", "dataset/manifest.json dataset/train.csv"),
    Reader("show contexts.jsonl", "contexts.*"),
    Reader("filter pool --iterations 1 --schedule hash:1 --audit none --out OUT", "pool/**/*"),
    Reader("tag pool --tagger rules", "pool/**/*"),
    Reader("show guarded", "guarded/**/*"),
    Reader("guard guarded --by words --thresholds words=0.8", "guarded/**/*"),
    Reader("guard pool --by words --only-assigned run --out OUT", "pool/**/* run/**/*"),
    Reader("filter guarded --iterations 1 --schedule hash:1 --audit none --out OUT", "guarded/**/*"),
    Reader("report kept --out OUT", "kept/**/* guarded/**/*"),
    Reader("release kept --audit none --formats jsonl --out OUT", "kept/**/* guarded/**/*"),
    Reader("audit run --filters hash --folds 2", "run/**/* pool/**/*"),
    Reader("report run --out OUT", "run/**/*"),
    Reader("release run --audit none --formats jsonl --out OUT", "run/**/* pool/**/*"),
    Reader("release run --audit none --verdicts verdicts.jsonl --out OUT", "verdicts.jsonl"),
    Reader("release run --audit none --force --out dataset", "dataset/manifest.json"),
    Reader("verify export run --out OUT --verdicts verdicts.jsonl --annotators-per-item 3", "run/**/* verdicts.jsonl"),
    Reader("verify import run tasks.csv --key tasks.csv.key.json --out OUT", "tasks.csv tasks.csv.key.json"),
    Reader("verify import run verdicts.jsonl --out OUT", "verdicts.jsonl run/manifest.json"),
    Reader("verify agreement verdicts.jsonl", "verdicts.jsonl"),
    Reader("generate captions.jsonl --lms lms --limit 2 --n-negatives 3 --out OUT", "lms/**/* captions.*"),
    Reader("generate captions.jsonl --lms lms --limit 2 --n-negatives 3 --out begun", "begun/**/*"),
    Reader("generate captions.jsonl --generator ngram --limit 4 --n-negatives 3 --out written", "written/**/*"),
    Reader("features plain --lms lms", "lms/**/* plain/**/*"),
    Reader("contexts activitynet.json --min-token-count 1 --out OUT", "activitynet.json"),
    Reader("contexts lsmdc.csv --min-token-count 1 --out OUT", "lsmdc.csv"),
    Reader("verify invite run --n 2 --out OUT", "run/manifest.json run/verification/keys.json"),
]


def _names(readers: list[Reader]) -> list[str]:
    return [f"{i:02d}-{reader.name}" for i, reader in enumerate(readers)]


@pytest.mark.parametrize("reader", READERS, ids=_names(READERS))
def test_the_verb_reads_the_files_as_they_were(reader: Reader, world: Path, tmp_path: Path) -> None:
    """Otherwise every refusal below would prove nothing."""
    outcome = _run(reader, world, tmp_path / "world", lambda folder: "nothing")
    assert outcome.code == 0 or "nothing to" in outcome.err, outcome.err


@pytest.mark.parametrize("reader", READERS, ids=_names(READERS))
def test_damage_is_one_line_or_harmless(
    reader: Reader, world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [path for pattern in reader.reads.split() for path in sorted(world.glob(pattern)) if path.is_file()]
    faults = []
    for seed in range(N_MUTATIONS):
        rng = random.Random(f"{reader.command} {seed}")
        path = rng.choice(files).relative_to(world)
        outcome = _run(reader, world, tmp_path / "world", lambda folder, p=path, r=rng: damage(folder / p, r))
        if fault := outcome.fault:
            faults.append(f"{seed}: {path}: {outcome.what}: {fault}")
    assert not faults, "\n".join([reader.command, *faults])


CHECKED = [
    ("release run --out OUT --formats jsonl", "starts"),
    ("release run --audit none --out OUT --formats jsonl", "groups"),
    ("release run --audit none --out OUT --formats jsonl", "tokens"),
    ("audit run --filters hash --folds 2", "tokens"),
    ("report run --out OUT", "tokens"),
    ("verify export run --out OUT", "tokens"),
    ("features plain --lms lms", "groups"),
]
"""Commands, and tables of which they would use little, or one that a filter alone reads."""


@pytest.mark.parametrize(("command", "table"), CHECKED)
def test_tables_are_checked_whole_before_any_work(command: str, table: str, world: Path, tmp_path: Path) -> None:
    def spoil(folder: Path) -> str:
        (path,) = (folder / command.replace("run", "pool").removeprefix("verify ").split()[1]).glob(
            f"shards/*/{table}.npy"
        )
        values = np.load(path)
        values.reshape(-1)[-1] = np.iinfo(values.dtype).max
        write_array(path, values)
        return table

    outcome = _run(Reader(command, ""), world, tmp_path / "world", spoil)
    assert (outcome.code, outcome.fault) == (2, "")
    assert f"{table}.npy: damaged (values from" in outcome.err


def test_a_check_reads_only_the_tables_that_are_touched(world: Path, tmp_path: Path) -> None:
    """Features are the largest, and no verb but `filter` and audits by them needs them all."""
    for command in ("release run --audit none --formats jsonl --out OUT", "verify export run --out OUT"):
        outcome = _run(
            Reader(command, ""),
            world,
            tmp_path / "world",
            lambda folder: str(next(folder.glob("pool/shards/*/features.npy")).unlink()),
        )
        assert outcome.code == 0, outcome.err


@dataclass(frozen=True)
class Outcome:
    """What a command did with a damaged world."""

    what: str
    code: int | str
    err: str
    new: set[str]
    """Files that were not there before."""

    @property
    def fault(self) -> str:
        """What is wrong with the outcome, empty if nothing is."""
        leftovers = sorted(name for name in self.new if ".tmp" in name)
        if leftovers:
            return f"left behind {leftovers}"
        if self.code == 0:
            return ""
        if self.code != 2:
            return f"exit code {self.code}: {self.err}"
        lines = [line for line in self.err.splitlines() if line.startswith("swag-af: ")]
        if len(lines) != 1 or not self.err.rstrip().endswith(lines[0]) or "Traceback" in self.err:
            return f"not one line: {self.err}"
        return f"wrote {sorted(self.new)[:4]}" if self.new else ""


def _run(reader: Reader, world: Path, here: Path, spoil: Callable[[Path], str]) -> Outcome:
    """Run the command on a copy of the world that `spoil` has damaged."""
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(world, here)
    what = spoil(here)
    before = _tree(here)
    arguments = reader.command.replace("OUT", "out").split()
    err = _Capture()
    with contextlib.chdir(here), contextlib.redirect_stdout(_Capture()), contextlib.redirect_stderr(err):
        try:
            main(arguments)
            code: Any = 0
        except SystemExit as stopped:
            code = stopped.code or 0
        except BaseException as error:  # a traceback, to the user
            import traceback

            code = "".join(traceback.format_exception(error)[-3:])
    return Outcome(what, code, err.getvalue(), _tree(here) - before)


def _Capture() -> Any:  # noqa: N802
    import io

    return io.StringIO()


def _tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def damage(path: Path, rng: random.Random) -> str:
    """Damage the file in a random way that fits it; returns what was done."""
    ways: list[Callable[[Path, random.Random], str]] = [_drop, _truncate, _flip, _other_text]
    if path.suffix in (".json", ".jsonl"):
        ways += [_change_a_field] * 8
    if path.suffix == ".npy":
        ways += [_change_the_table] * 5
    return rng.choice(ways)(path, rng)


def _drop(path: Path, rng: random.Random) -> str:
    path.unlink()
    if rng.random() < 0.5:
        path.mkdir()
        return "a folder in its place"
    return "removed"


def _truncate(path: Path, rng: random.Random) -> str:
    content = path.read_bytes()
    n = rng.choice([0, 1, len(content) // 2, max(0, len(content) - 1)])
    path.write_bytes(content[:n])
    return f"cut to {n} bytes"


def _flip(path: Path, rng: random.Random) -> str:
    content = bytearray(path.read_bytes() or b"\0")
    places = [rng.randrange(min(len(content), rng.choice([128, 1 << 30]))) for _ in range(rng.choice([1, 8]))]
    for place in places:
        content[place] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    return f"bits changed at {places}"


OTHER_TEXTS = {
    "deep JSON": b"[" * 100_000,
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "a number of 5,000 digits": b"1" * 5_000,
    "a list": b"[]\n",
    "null": b"null\n",
    "UTF-16": '{"sent1": "a"}\n'.encode("utf-16"),
    "UTF-16 without a mark": '{"sent1": "a"}\n'.encode("utf-16-le"),
    "latin-1": '{"sent1": "caf\xe9"}\n'.encode("latin-1"),
    "NUL": b"\0" * 64,
    "a zip archive": b"PK\x03\x04" + b"\0" * 40,
}


def _other_text(path: Path, rng: random.Random) -> str:
    name = rng.choice(list(OTHER_TEXTS))
    path.write_bytes(OTHER_TEXTS[name])
    return name


DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]

OTHER_VALUES: tuple[Any, ...] = (
    None,
    "",
    "text",
    "\ud800",
    "a\0b",
    "../..",
    -1,
    0,
    1,
    10**6,
    10**25,
    -(10**400),
    0.5,
    float("nan"),
    float("inf"),
    True,
    [],
    {},
    [None],
    {"a": None},
    DEEP,
)


def _change_a_field(path: Path, rng: random.Random) -> str:
    """Drop a field at any depth, or give it another value."""
    lines = path.suffix == ".jsonl"
    text = path.read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines() if line] if lines else [json.loads(text)]
    places = [(record, key) for record in records for record, key in _places(record)]
    if not places:
        return _flip(path, rng)
    owner, key = rng.choice(places)
    if rng.random() < 0.3:
        del owner[key]
        what = f"no {key!r}"
    else:
        owner[key] = rng.choice(OTHER_VALUES)
        what = f"{key!r}: {str(owner[key])[:30]!r}"
    path.write_text("".join(json.dumps(r) + "\n" for r in records) if lines else json.dumps(records[0]))
    return what


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every `(owner, key)` within a JSON value; of a long list, three."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))[:3]
    for key, inner in items if isinstance(value, dict | list) else []:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _change_the_table(path: Path, rng: random.Random) -> str:
    """A table of another shape or type, or with a value that cannot be."""
    try:
        table = np.load(path)
    except ValueError:
        return "was no table"
    bad = rng.choice(["rows", "axis", "type", "text", "large", "negative", "archive", "object"])
    if bad == "rows":
        write_array(path, table[:-1])
    elif bad == "axis":
        write_array(path, table[..., None])
    elif bad == "type":
        write_array(path, table.astype(np.float64 if table.dtype.kind in "iu" else np.int32))
    elif bad == "text":
        write_array(path, np.array(["a", "b"]))
    elif bad == "archive":
        with path.open("wb") as file:
            np.savez(file, table=table)
    elif bad == "object":
        with path.open("wb") as file:
            np.save(file, np.array([{}, None]), allow_pickle=True)
    elif table.size:
        table = table.copy()
        value = np.iinfo(table.dtype).max if table.dtype.kind in "iu" else np.inf
        table.reshape(-1)[rng.randrange(table.size)] = value if bad == "large" or table.dtype.kind == "u" else -value
        write_array(path, table)
    return f"table: {bad}"


def test_one_line_is_what_it_says() -> None:
    assert re.fullmatch(r"wrote .*", Outcome("", 2, "swag-af: no.\n", {"out"}).fault)
    assert not Outcome("", 2, "swag-af: no.\n", set()).fault
    assert Outcome("", 1, "", set()).fault
    assert Outcome("", 2, "Traceback\nswag-af: no.\n", set()).fault
