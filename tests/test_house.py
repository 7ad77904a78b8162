"""The house: imports point down, reading orders are true, and nothing heavy is loaded for nothing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swag_af

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("data", "lm", "filters", "swag_af")
BELOW = {"data": set(), "lm": {"data"}, "filters": {"data"}, "swag_af": {"data", "lm", "filters"}}


def modules(folder: str) -> dict[str, Path]:
    return {path.stem: path for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("__")}


def imports_of(path: Path) -> set[tuple[str, str]]:
    """`(folder, module)` of every import of ours in a file, those inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] != "swag_af" or len(parts) < 2:
                continue
            folder, module = (
                (parts[1], parts[2] if len(parts) > 2 else "") if parts[1] in FOLDERS else ("swag_af", parts[1])
            )
            if module in modules(folder):
                found.add((folder, module))
    return found


def reading_order(folder: str) -> list[str]:
    """The modules that the folder's docstring names, in its order."""
    docstring = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    names = re.findall(r"^ {4}(\w+) ", docstring, re.MULTILINE) or re.findall(r"`(\w+)`", docstring)
    return [name for name in names if name in modules(folder)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_point_down(folder):
    for name, path in modules(folder).items():
        for target, _ in imports_of(path):
            assert target == folder or target in BELOW[folder], f"{folder}/{name} imports {target}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_file_imports_only_files_named_before_it(folder):
    order = reading_order(folder)
    assert sorted(order) == sorted(modules(folder)), "the docstring names every module once"
    for name, path in modules(folder).items():
        for target, module in imports_of(path):
            if target == folder:
                assert order.index(module) < order.index(name), f"{folder}/{name} imports {module}, named after it"


def test_every_public_name_resolves():
    for name in swag_af.__all__:
        assert getattr(swag_af, name).__doc__
    assert sorted(swag_af.__all__) == sorted(swag_af._MODULE_OF)


@pytest.mark.parametrize("code", ["import swag_af", "from swag_af.cli import main; main(['--help'])"])
def test_neither_torch_nor_spacy_is_loaded_for_nothing(code):
    code += "; import sys; print('loaded', [m for m in ('torch', 'spacy', 'nltk', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded []\n")


def test_links_of_the_source_tree_lead_to_the_folders():
    for folder in ("data", "lm", "filters"):
        assert (ROOT / "swag_af" / folder).resolve() == ROOT / folder
