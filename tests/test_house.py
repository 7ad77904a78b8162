"""Claims about the house: imports point down, reading orders are true, and the public names are all there."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swag_af

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "swag_af": ROOT / "swag_af",
    "swag_af.data": ROOT / "data",
    "swag_af.lm": ROOT / "lm",
    "swag_af.filters": ROOT / "filters",
    "swag_af.release": ROOT / "swag_af" / "release",
    "swag_af.verify": ROOT / "swag_af" / "verify",
}
BELOW = {
    "swag_af": set(FOLDERS),
    "swag_af.release": {"swag_af.release", "swag_af", "swag_af.data"},
    "swag_af.verify": {"swag_af.verify", "swag_af", "swag_af.data"},
    "swag_af.lm": {"swag_af.lm", "swag_af.data"},
    "swag_af.filters": {"swag_af.filters", "swag_af.data"},
    "swag_af.data": {"swag_af.data"},
}
"""Whom each folder may import."""

CAPABILITIES = {"swag_af.release", "swag_af.verify"}
"""Folders within `swag_af`, each with a place in its reading order."""

MODULES = {
    f"{folder}.{path.stem}": path
    for folder, place in FOLDERS.items()
    for path in sorted(place.glob("*.py"))
    if path.stem != "__init__"
}


def imports_of(path: Path) -> set[str]:
    """Every module of ours that a file imports, at its top or within a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return {name for name in found if name in MODULES or name in FOLDERS}


def folder_of(module: str) -> str:
    return module if module in FOLDERS else module.rpartition(".")[0]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down_only(module: str) -> None:
    assert {folder_of(name) for name in imports_of(MODULES[module])} <= BELOW[folder_of(module)]


def reading_order(folder: str) -> list[str]:
    """The modules in the order in which the folder's docstring names them: a table, or names in backticks."""
    doc = ast.get_docstring(ast.parse((FOLDERS[folder] / "__init__.py").read_text(encoding="utf-8"))) or ""
    text = doc.partition("Reading order")[2]
    return re.findall(r"^ {4}(\w+) {2,}", text, re.MULTILINE) or re.findall(r"`(\w+)`", text)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_reading_order_names_every_file_once(folder: str) -> None:
    files = {name.rpartition(".")[2] for name in MODULES if folder_of(name) == folder} - {"__main__"}
    order = reading_order(folder)
    assert set(order) == files | ({name.rpartition(".")[2] for name in CAPABILITIES} if folder == "swag_af" else set())
    assert len(order) == len(set(order))


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_a_file_imports_only_files_named_before_it(module: str) -> None:
    folder, _, name = module.rpartition(".")
    imported = {other for other in imports_of(MODULES[module]) if other in MODULES}
    assert {other for other in imported if folder_of(other) == folder} <= named_before(folder, name)
    if folder in CAPABILITIES:
        folder, name = "swag_af", folder.rpartition(".")[2]
        assert {other for other in imported if folder_of(other) == folder} <= named_before(folder, name)
    if folder == "swag_af" and MODULES[module].parent.name == "swag_af":
        assert {folder_of(other) for other in imported} & CAPABILITIES <= named_before(folder, name)


def named_before(folder: str, name: str) -> set[str]:
    """The modules of a folder that its reading order names before `name`."""
    order = reading_order(folder)
    return {f"{folder}.{other}" for other in order[: order.index(name)]}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_says_what_it_is_for(module: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[module].read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", swag_af.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(swag_af, name) is not None


@pytest.mark.parametrize("folder", ["swag_af", "swag_af.filters"])
def test_the_lists_of_public_names_agree(folder: str) -> None:
    tree = ast.parse((FOLDERS[folder] / "__init__.py").read_text(encoding="utf-8"))
    assigned = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for_checkers = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("swag_af")
        for alias in node.names
    }
    assert set(assigned["__all__"]) == set(assigned["_MODULE_OF"]) == for_checkers
    assert assigned["__all__"] == sorted(assigned["__all__"])


def test_what_the_readme_imports_is_public() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {
        name.strip()
        for line in re.findall(r"^from swag_af import (.+)$", readme, re.MULTILINE)
        for name in line.split(",")
    }
    assert names <= set(swag_af.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = swag_af.nonsense


def test_importing_swag_af_loads_nothing_heavy() -> None:
    code = (
        "import sys, swag_af, swag_af.data, swag_af.lm, swag_af.filters;"
        "print(sorted({'torch', 'spacy', 'nltk', 'numpy', 'tyro', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
