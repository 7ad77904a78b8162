"""Claims about the house: imports point down, reading orders are true, and the public names are all there."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import swag_af

ROOT = Path(__file__).resolve().parents[1]
MAPPED = ("data", "nn", "lm", "filters")
"""Folders of the root that are installed within `swag_af`."""
BELOW = {
    "data": set[str](),
    "nn": {"data"},
    "endpoints": {"data"},
    "lm": {"data", "nn", "endpoints"},
    "filters": {"data", "nn", "endpoints"},
    "af": {"data", "filters"},
    "guarding": {"data", "filters", "endpoints"},
    "auditing": {"data", "filters"},
    "judging": {"data"},
    "scoring": {"data", "auditing", "judging"},
    "baselines": {"data", "filters", "auditing", "scoring"},
    "describing": {"data", "auditing"},
    "diagnosing": {"data", "filters", "auditing"},
    "reporting": {
        *("data", "lm", "filters", "auditing", "judging", "af", "scoring", "baselines", "describing", "diagnosing"),
    },
    "pruning": {"data", "filters", "auditing", "judging", "reporting"},
    "matching": {"data", "nn", "filters", "auditing", "judging", "reporting"},
    "refining": {"data", "endpoints", "lm", "filters", "auditing"},
    "releasing": {"data", "filters", "auditing", "judging", "reporting"},
    "verify": {"data", "judging"},
    "cli": {
        *(
            "data",
            "endpoints",
            "lm",
            "filters",
            "af",
            "auditing",
            "judging",
            "scoring",
            "baselines",
            "describing",
            "diagnosing",
            "matching",
            "reporting",
        ),
        *("guarding", "releasing", "pruning", "refining", "verify"),
    },
}
"""Whom each wing may import, beside itself."""


def packages_and_modules() -> Iterator[tuple[str, Path]]:
    """Every package (its folder) and module (its file) of ours, by its dotted name."""
    places = {"swag_af": ROOT / "swag_af"} | {f"swag_af.{name}": ROOT / name for name in MAPPED}
    for name, place in places.items():
        for path in sorted(place.rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            if name == "swag_af" and parts[0] in MAPPED:
                continue  # a link
            if parts[-1] == "__init__":
                yield ".".join((name, *parts[:-1])), path.parent
            else:
                yield ".".join((name, *parts)), path


FOLDERS = {name: path for name, path in packages_and_modules() if path.is_dir()}
MODULES = {name: path for name, path in packages_and_modules() if path.is_file()}


class Facts(NamedTuple):
    """What is asked here of a file, which is parsed once."""

    doc: str
    imported: set[str]
    """Whatever it imports at its top or within a function, with the module and each name taken from it."""
    removals: list[str]
    """Every place that deletes or renames files by another way than `swag_af.data.disk.replacing`."""
    lengths: dict[str, int]
    """Lines of every function and method, from `def` to its last line, those within it counted."""


@cache
def facts_of(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = Facts(ast.get_docstring(tree) or "", set(), [], {})
    names = {"unlink", "rmdir", "rmtree", "removedirs", "rename", "renames"}
    own = {("os", "remove"), ("os", "replace"), ("shutil", "move")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            made.imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            made.imported.update([node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            made.lengths[f"{node.name}:{node.lineno}"] = (node.end_lineno or node.lineno) - node.lineno + 1
        elif isinstance(node, ast.Attribute) and (
            node.attr in names or (getattr(node.value, "id", ""), node.attr) in own
        ):
            made.removals.append(f"{path}:{node.lineno}")
    return made


def imports_of(path: Path) -> set[str]:
    """Every module of ours that a file imports."""
    return facts_of(path).imported & MODULES.keys()


def wing_of(module: str) -> str:
    return module.split(".")[1]


OURS = {name: path for name, path in MODULES.items() if not name.endswith("__main__")}


def test_wings_import_only_those_below() -> None:
    above = {
        module: other
        for module, path in OURS.items()
        for other in imports_of(path)
        if wing_of(other) not in BELOW[wing_of(module)] | {wing_of(module)}
    }
    assert not above


def reading_order(folder: str) -> list[str]:
    """The files and folders in the order in which the folder's docstring names them."""
    doc = facts_of(FOLDERS[folder] / "__init__.py").doc
    return re.findall(r"^ {4}(\w+) {2,}", doc.partition("Reading order")[2], re.MULTILINE)


def test_the_reading_order_names_every_file_once() -> None:
    inside = {folder: list[str]() for folder in FOLDERS}
    for name in [*OURS, *FOLDERS]:
        folder, _, last = name.rpartition(".")
        if folder:
            inside[folder].append(last)
    assert {folder: sorted(reading_order(folder)) for folder in FOLDERS} == {
        folder: sorted(names) for folder, names in inside.items()
    }


def test_a_file_imports_only_what_is_named_before_it() -> None:
    """Where the ways to two modules part, the one that is imported comes first in the reading order."""
    orders = {folder: reading_order(folder) for folder in FOLDERS}
    later = []
    for module, path in OURS.items():
        mine = module.split(".")
        for other in imports_of(path):
            its = other.split(".")
            parting = next(i for i, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b)
            order = orders[".".join(mine[:parting])]
            if order.index(its[parting]) >= order.index(mine[parting]):
                later.append(f"{module} imports {other}")
    assert not later


def test_every_module_says_what_it_is_for() -> None:
    assert not [module for module, path in MODULES.items() if not facts_of(path).doc]


def test_files_of_tests_have_names_of_their_own() -> None:
    """pytest knows a file by its name alone, and refuses the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


def plain(requirement: str) -> str:
    """The name of a package, as indexes have it, without version and extras."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def brought_by(packages: Iterable[str]) -> set[str]:
    """These packages and what they need in turn, as far as they are installed here."""
    brought, todo = set[str](), list(packages)
    while todo:
        name = todo.pop()
        if name not in brought:
            brought.add(name)
            with suppress(PackageNotFoundError):
                todo += [plain(line) for line in requires(name) or [] if "extra ==" not in line]
    return brought


def test_nothing_is_imported_that_only_developers_have() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [lines for extra, lines in project["optional-dependencies"].items() if extra != "dev"]
    users = brought_by(plain(line) for lines in (project["dependencies"], *extras) for line in lines)
    packages = packages_distributions()
    for path in MODULES.values():
        tops = {name.partition(".")[0] for name in facts_of(path).imported}
        for top in tops - sys.stdlib_module_names - {"swag_af"}:
            having = {plain(one) for one in packages.get(top, [])}
            assert not having or having & users, f"{path} imports {top}, which only `dev` brings"


def test_files_are_removed_in_one_place_which_tells_stores() -> None:
    """Elsewhere a store would not hear of it, and would give the file back (docs/STORES.md)."""
    ours = ("swag_af.data.disk.replacing", "swag_af.data.work.locks", "swag_af.data.stores.")
    others = [path for name, path in MODULES.items() if not name.startswith(ours)]
    assert not [at for path in others for at in facts_of(path).removals]
    assert facts_of(MODULES["swag_af.data.disk.replacing"]).removals


def test_every_folder_is_installed() -> None:
    listed = re.search(r"packages = \[(.+?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    assert set(re.findall(r'"(.+?)"', listed[1])) == set(FOLDERS)


def loaded_by(module: str, then: str = "") -> list[str]:
    """Every module that a fresh interpreter has loaded once it has imported `module` and done what is said then."""
    code = f"import sys, {module}; {then}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_the_algorithm_loads_little() -> None:
    """No plot, page, audit, release or rules of English; the number is a bound that the issue of the house set."""
    loaded = loaded_by("swag_af.af.loop")
    ours = [name for name in loaded if name in MODULES]
    above = ("auditing", "judging", "reporting", "releasing", "verify", "cli", "data.syntax", "data.captions")
    assert not [name for name in ours if name.startswith(tuple(f"swag_af.{wing}" for wing in above))]
    assert not {"torch", "spacy", "matplotlib", "nltk", "scipy", "sklearn"} & set(loaded)
    assert len(ours) <= 27, ours


def test_torch_is_loaded_by_what_computes_with_it_alone() -> None:
    """It takes a second of each process: `show`, `release` and filters of n-grams are done before."""
    runs = [f"runs.{verb}" for verb in ("diagnosing", "filtering", "matching")]
    datasets = [f"datasets.{verb}" for verb in ("auditing", "baselines", "pruning", "refining")]
    verbs = [f"swag_af.cli.{verb}" for verb in (*runs, *datasets, "showing.show")]
    loaded = loaded_by(", ".join([*verbs, "swag_af.releasing.verb"]))
    assert "swag_af.filters.prepare" in loaded
    assert not {"torch", "sklearn", "scipy", "nltk", "matplotlib"} & set(loaded)


def test_lightning_is_loaded_where_a_model_is_trained_alone() -> None:
    """It takes three to five seconds of each process: where workers train, or a folder is finished, none are needed."""
    assert "pytorch_lightning" not in loaded_by("swag_af.lm.lstm.train, swag_af.lm.verb")


def test_the_filters_that_are_classes_are_there_without_another_import() -> None:
    asked = "import swag_af; print(swag_af.filters.SklearnFilter.__name__)"
    made = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert made.stdout == "SklearnFilter\n"


def test_every_public_name_resolves() -> None:
    assert not [name for name in swag_af.__all__ if getattr(swag_af, name) is None]


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


@pytest.mark.parametrize("folder", ["swag_af", "swag_af.filters"])
def test_no_module_takes_the_place_of_a_public_name(folder: str) -> None:
    """A submodule, once imported, is an attribute of its package, and wins over a name that is loaded when used."""
    package = import_module(folder)
    before = {name: getattr(package, name) for name in package.__all__}
    for module in [*FOLDERS, *MODULES]:
        if not module.endswith("__main__"):
            import_module(module)
    assert {name: getattr(package, name) for name in package.__all__} == before
    assert not [name for name, value in before.items() if isinstance(value, ModuleType)]


SCRIPTS = [path for folder in ("benchmarks", "examples", "docs") for path in sorted((ROOT / folder).glob("*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_what_a_script_imports_of_ours_is_there(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("swag_af"):
            module = import_module(node.module or "")
            absent = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            assert not [name for name in absent if not find_spec(f"{node.module}.{name}")], node.module


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = swag_af.nonsense


def test_threads_that_wait_give_their_core_away_in_python_too() -> None:
    """Read when torch loads OpenMP; with its default, waiting threads spin for long beside other work."""
    code = "import os, swag_af; print(os.environ['GOMP_SPINCOUNT'])"
    clean = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    for given, expected in (({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7")):
        done = subprocess.run(
            [sys.executable, "-c", code], env=clean | given, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected


def test_importing_swag_af_loads_nothing_heavy() -> None:
    loaded = loaded_by("swag_af, swag_af.data, swag_af.lm, swag_af.filters")
    assert "swag_af.filters" in loaded
    assert not {"torch", "spacy", "nltk", "numpy", "tyro", "matplotlib"} & set(loaded)


def test_functions_are_short() -> None:
    lengths = {f"{m}:{name}": n for m, path in MODULES.items() for name, n in facts_of(path).lengths.items()}
    assert not {name: n for name, n in lengths.items() if n > 60}
    assert sorted(lengths.values())[int(0.95 * len(lengths))] <= 26
