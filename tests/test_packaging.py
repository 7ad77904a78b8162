"""Claims about what is installed: the wheel holds every file of the packages and no other, and works by itself."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
from test_house import MAPPED, ROOT

pytestmark = pytest.mark.slow

MADE = shutil.ignore_patterns("__pycache__", "*.egg-info")

BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "constraints.txt")
FOLDERS = ("benchmarks", "docs", "examples", "tests")
"""What the sdist has beside the packages."""

DEMO = """
from pathlib import Path
import swag_af, swag_af.data, swag_af.verify
from swag_af.cli import demo
from swag_af.cli.main import main

demo.N_VIDEOS, demo.N_CONTEXTS, demo.N_NEGATIVES, demo.SCHEDULE = 60, 30, 15, "mlp:1,cnn:1"
demo.AUDIT = "chars"
demo.LM = swag_af.LMOptions(hidden=24, epochs=1, learning_rate=1e-2)
main(["demo"])
main(["show", "demo/dataset"])
print(*(Path(package.__file__).parent for package in (swag_af, swag_af.data, swag_af.verify)), sep="\\n")
"""
"""The demo, so small that it takes seconds."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the build reads, since a build leaves folders beside it that the next one would read."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", *BESIDE):
        shutil.copy(ROOT / name, folder)
    for name in (*MAPPED, "swag_af", *FOLDERS):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=MADE)
    return folder


@pytest.fixture(scope="module")
def sdist(source: Path) -> Path:
    return build("sdist", source)


@pytest.fixture(scope="module")
def wheel(source: Path) -> Path:
    return build("wheel", source)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel is installed in, alone."""
    folder = tmp_path_factory.mktemp("installed")
    command = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel)
    subprocess.run(command, check=True)
    return folder


def build(kind: str, source: Path) -> Path:
    """A `wheel` or an `sdist` of a source tree, by the hooks that every installer calls."""
    code = f"import setuptools.build_meta as backend; print(backend.build_{kind}('dist'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=True)
    return source / "dist" / done.stdout.splitlines()[-1]


def run(installed: Path, folder: Path, *arguments: str | Path) -> list[str]:
    """The lines that Python prints in `folder`, with the wheel and what it depends on, but without the source tree.

    Without `site` (-S) the editable install, which a .pth file brings in, does not exist.
    """
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def files_of_the_packages() -> set[str]:
    """Every file of the source tree that belongs in a wheel, where the wheel has it."""
    places = {ROOT / "swag_af": "swag_af", **{ROOT / name: f"swag_af/{name}" for name in MAPPED}}
    return {
        f"{inside}/{path.relative_to(place).as_posix()}"
        for place, inside in places.items()
        for path in place.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.relative_to(place).parts[0] not in MAPPED
    }


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    held = {name for name in contents(wheel) if ".dist-info/" not in name}
    assert held == files_of_the_packages()
    assert "swag_af/py.typed" in held


def test_the_wheel_of_the_sdist_is_the_same(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert {path.name for path in unpacked.iterdir()} >= {*MAPPED, "swag_af", "pyproject.toml", "LICENSE"}
    assert contents(build("wheel", unpacked)) == contents(wheel)


def test_the_sdist_has_documents_and_tests_whole(sdist: Path, source: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for folder in FOLDERS:
        files = {path.relative_to(source).as_posix() for path in (source / folder).rglob("*") if path.is_file()}
        assert files <= held, folder
    assert {*BESIDE} <= held


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, installed / "bin" / "swag-af", "--version")[0].startswith("swag-af ")


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    printed = run(installed, tmp_path, "-c", DEMO)
    package = installed / "swag_af"
    assert [Path(line) for line in printed[-3:]] == [package, package / "data", package / "verify"]
    assert (tmp_path / "demo" / "dataset" / "train.csv").stat().st_size
    assert any("questions of 4 endings: train" in line for line in printed)
