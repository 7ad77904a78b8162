"""Steps run one after another: commands in processes of their own, each step with a log; what ran is written down."""

import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TextIO

from experimenting.record import FOURWAY, RECORD, is_kept, is_whole, whole_run
from experimenting.steps import PER_RUN, Command, Setting, commands, shares, total_of, without_places
from swag_af.data.disk.files import read_log, write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.scale import Part
from swag_af.data.work.locks import alone

Work = Callable[[Setting], None]
Start = Callable[[Sequence[str], Path, TextIO], int]

ENVIRONMENT = Path(RECORD) / "environment.jsonl"
LOGS = "logs"
"""The folder of what the commands said."""

PACKAGES = ("swag-af", "torch", "numpy", "scikit-learn", "scipy", "fasttext", "transformers")


def run_steps(
    setting: Setting,
    wanted: Sequence[str],
    measurements: Mapping[str, Work],
    start: Start | None = None,
    part: Part | None = None,
) -> None:
    """Run the `wanted` steps in their order; raises InputError where a command fails.

    With `part`, of the steps that go run by run, those of its share of the runs only; such steps alone may be shared.
    `start` runs the words of one command in a folder, its output to a file, and returns its exit code; a process of its
    own when not given.
    """
    start = start or in_a_process
    if part and (others := [name for name in wanted if name not in PER_RUN]):
        raise InputError(f"--shard: {', '.join(others)} cannot be shared. Give --steps, of {', '.join(PER_RUN)}.")
    mine = shares(setting, part[1])[part[0]] if part else None
    setting.out.mkdir(parents=True, exist_ok=True)
    (setting.out / LOGS).mkdir(exist_ok=True)
    if set(wanted) != {"results"}:
        _write_environment(setting, wanted)
    by_name = commands(setting)
    for name in wanted:
        with _step(setting, name, part) as log:
            if name in measurements:
                measurements[name](setting)
            if name == "encoder" and not by_name[name]:
                why = "these runs have no audits by it" if setting.encoder else "--encoder PATH names a pretrained one"
                print(f"encoder: left out; {why}", file=sys.stderr)
            for command in by_name.get(name, ()):
                if mine is None or command.run in mine:
                    _run(setting, name, command, log, start)


def in_a_process(words: Sequence[str], folder: Path, output: TextIO) -> int:
    """Run a command of swag-af; what it says of the time left is told here, too. Told to end, it is ended as well."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    whole = [sys.executable, "-m", "swag_af", *words]
    with subprocess.Popen(whole, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                output.write(line)
                output.flush()
                if is_progress(line):
                    print(f"  {line.rstrip()}", file=sys.stderr, flush=True)
            return process.wait()
        finally:
            process.terminate()
            signal.signal(signal.SIGTERM, before)


def is_progress(line: str) -> bool:
    """Whether a line of a command says how far it is."""
    return "/s, " in line


def told_log(setting: Setting, log: str) -> str:
    """What a `log` says, without lines of progress, and with the names that results have for what lies elsewhere."""
    lines = [line for line in log.splitlines() if not is_progress(line)]
    return without_places(setting, "\n".join([*lines, ""]))


def _run(setting: Setting, name: str, command: Command, log: Path, start: Start) -> None:
    """One command, its output at the end of the log; nothing where what it makes is there, or a whole record of it."""
    if command.made and (setting.out / command.made).exists():
        return
    if command.run and not (setting.out / command.run).exists() and is_whole(setting, command.run):
        print(f"{name}: {command.run} is in the record", file=sys.stderr)
        return
    if command.needs and not (setting.out / command.needs).exists() and is_kept(setting, FOURWAY):
        print(f"{name}: what is measured of {command.made} is in the record", file=sys.stderr)
        return
    if command.needs:
        whole_run(setting, command.needs)
    said = f"swag-af {' '.join(command.words)}"
    print(f"{name}: {said}", file=sys.stderr, flush=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {said}\n")
        file.flush()
        code = start(command.words, setting.out, file)
    if code:
        last = log.read_text(encoding="utf-8").strip().splitlines()[-1]
        raise InputError(f"{log}: `{said}` ended with exit code {code} ({last}). Mend that, then type the same again.")


@contextmanager
def _step(setting: Setting, name: str, part: Part | None) -> Iterator[Path]:
    """The log of a step, of each process that has its own share of the work, and a line on its seconds."""
    started = time.perf_counter()
    share = [f"parts-{'-'.join(map(str, setting.parts))}"] if setting.parts else []
    share += [f"{part[0] + 1}-of-{part[1]}"] if part else []
    yield setting.out / LOGS / ".".join([name, *setting.arms, *share, "log"])
    print(f"{name}: done, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)


def _write_environment(setting: Setting, wanted: Sequence[str]) -> None:
    """A line more in the record: commit, versions and machine of what measures, and when."""
    path = setting.out / ENVIRONMENT
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path, is_told=False):
        kept = [line for _, line in read_log(path)] if path.exists() else []
        write_jsonl(path, [*kept, environment() | {"size": setting.size.name, "steps": list(wanted)}])


def environment() -> dict[str, object]:
    """What computes here: commit of the source, versions of what matters, kind of processor."""
    here = Path(__file__).parent
    git = ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    return {
        "commit": found.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "processor": _processor(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _processor() -> str:
    """Its model where the system tells, and its kind."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return ", ".join([*models[:1], platform.machine()])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def print_plan(setting: Setting, wanted: Sequence[str], forecasts: Mapping[str, float]) -> None:
    """The commands of every wanted step with forecasts of CPU time."""
    by_name = commands(setting)
    whole = 0.0
    print(f"cd {setting.out}")
    for name in wanted:
        made = by_name.get(name, [])
        seconds = total_of(made) + forecasts.get(name, 0.0)
        whole += seconds
        print(f"\n# {name}: {told(seconds)}")
        for command in made:
            done = "  # done" if command.made and (setting.out / command.made).exists() else ""
            print(f"swag-af {' '.join(command.words)}  # {told(command.seconds)}{done}")
    print(f"\nIn all {told(whole)} of one thread, by the measurements in docs/PERFORMANCE.md; nothing was run.")


def told(seconds: float) -> str:
    """A time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
