"""Names to what makes a thing: brackets, the older spelling, entry points, and what is said of the unknown."""

import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.errors import ContractError, InputError
from swag_af.data.plugins import registry as module
from swag_af.data.plugins.registry import Registry, split_names
from swag_af.filters.registry import make_filter


@dataclass
class Plain:
    """Takes nothing in brackets."""

    width: int = 3


@dataclass
class Optional:
    """May have something in brackets."""

    pipeline: str = "small"

    argument: ClassVar[str] = "pipeline"


@dataclass
class Required:
    """Must have something in brackets."""

    model: str
    inputs: Literal["little", "more"] = "little"
    rates: tuple[float, ...] = (1.0,)
    seen: bool = False

    argument: ClassVar[str] = "model"


class Raising:
    """Fails with an error of several lines, and with one of none."""

    def __init__(self, said: str = "one\n  two\n") -> None:
        raise ValueError(said)


class Loose:
    """Takes whatever it is given, and has an annotation that cannot be read."""

    argument: ClassVar[str] = "path"

    def __init__(self, width: int = 3, **settings: object) -> None:
        self.width, self.settings = width, settings


Loose.__init__.__annotations__["width"] = "np.nothing"


HERE = "test_registry"
KNOWN = Registry(
    "reader",
    {"plain": f"{HERE}:Plain", "optional": f"{HERE}:Optional", "required": f"{HERE}:Required"},
    {"optional": "PIPELINE", "required": "path/to/model"},
)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("plain", Plain()),
        ("optional", Optional()),
        ("optional[large]", Optional("large")),
        ("optional:large", Optional("large")),
        ("optional[C:/models/large]", Optional("C:/models/large")),
        ("required[one/two]", Required("one/two")),
        ("required:one/two", Required("one/two")),
        (f"{HERE}:Plain", Plain()),
        (f"{HERE}:Required[here]", Required("here")),
        ("plain[width=5]", Plain(5)),
        ("required[one,two]", Required("one,two")),
        ("required[one,two,rates=1e-3,2,seen=true]", Required("one,two", rates=(1e-3, 2.0), seen=True)),
        ("required[one[a,seen=true],inputs=more]", Required("one[a,seen=true]", inputs="more")),
        ("required[./seen=/two]", Required("./seen=/two")),
        ("required[model=one]", Required("one")),
        (f"{HERE}:Plain[width=5]", Plain(5)),
    ],
)
def test_a_name_is_made_with_what_stands_in_its_brackets(name: str, made: object) -> None:
    assert KNOWN.make(name) == made


def test_what_stands_in_brackets_without_its_name_counts_as_written() -> None:
    assert KNOWN.written("required[one,seen=true]") == {"model", "seen"}
    assert KNOWN.named("required[one,seen=true]") == {"seen"}
    assert KNOWN.in_brackets("required[one,rates=1,2]") == {"model": "one", "rates": (1.0, 2.0)}
    assert KNOWN.written("optional") == KNOWN.written("plain[one]") == frozenset()


def test_other_settings_are_passed_on() -> None:
    assert KNOWN.make("plain", width=5) == Plain(5)
    assert KNOWN.make("required", model="here") == Required("here")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plane", r"no reader 'plane'\. Did you mean plain\?.*plain, optional\[PIPELINE\], required\[path/to/model\]"),
        ("xyz", r"^no reader 'xyz'\. There are plain"),
        ("plain[one]", r"reader 'plain' takes nothing in brackets, so not plain\[one\]"),
        ("required", r"reader 'required' needs its model in brackets: required\[path/to/model\]"),
        (f"{HERE}:Nothing", "cannot be loaded.*Is its package installed"),
        ("no_such_package:Nothing", "cannot be loaded"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        KNOWN.make(name)


def test_a_setting_is_a_number_of_use_and_brackets_go_before_others() -> None:
    assert KNOWN.make("plain[width=5]", width=6) == Plain(5)
    with pytest.raises(InputError, match="width=nan is infinite, no number, or too large"):
        KNOWN.make("plain", width=float("nan"))


def test_a_setting_that_it_does_not_take_is_named() -> None:
    with pytest.raises(InputError, match=r"reader 'plain' cannot be made with depth: "):
        KNOWN.make("plain", depth=2)


def test_installed_packages_announce_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        asked.append(group)
        return [EntryPoint("theirs", f"{HERE}:Optional", group), EntryPoint("plain", f"{HERE}:Required", group)]

    monkeypatch.setattr(module, "entry_points", entry_points)
    assert KNOWN.make("theirs[large]") == Optional("large")
    assert KNOWN.make("plain") == Plain()  # ours come first
    assert KNOWN.names() == ["plain", "optional", "required", "theirs"]
    assert set(asked) == {"swag_af.readers"}


@dataclass
class Sized:
    """Has a number in brackets, and what may be one or nothing."""

    dim: int | None = 3

    argument: ClassVar[str] = "dim"


def test_what_stands_in_brackets_without_its_name_is_of_the_type_of_its_parameter() -> None:
    """It was a text there, and a number behind `dim=`."""
    assert KNOWN.make(f"{HERE}:Sized[32]") == KNOWN.make(f"{HERE}:Sized[dim=32]") == Sized(32)
    with pytest.raises(InputError, match="dim=wide cannot be"):
        KNOWN.make(f"{HERE}:Sized[wide]")


class Package:
    def __init__(self, name: str) -> None:
        self.name = name


def points(*pairs: tuple[str, str]) -> list[EntryPoint]:
    """The entry points `theirs` of packages, and what each means by it."""
    made = [EntryPoint("theirs", value, "swag_af.readers") for _, value in pairs]
    for point, (package, _) in zip(made, pairs, strict=True):
        vars(point)["dist"] = Package(package)
    return made


def test_a_name_that_two_packages_announce_is_refused_with_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first on the path was taken without a word."""
    found = points(("one", f"{HERE}:Plain"), ("two", f"{HERE}:Sized"))
    monkeypatch.setattr(module, "entry_points", lambda *, group: found)
    said = rf"reader 'theirs': announced by one \({HERE}:Plain\) and two \({HERE}:Sized\)\. Name the one that is meant"
    with pytest.raises(InputError, match=said):
        KNOWN.make("theirs")
    twice = points(("one", f"{HERE}:Plain"), ("one", f"{HERE}:Plain"))
    monkeypatch.setattr(module, "entry_points", lambda *, group: twice)
    assert KNOWN.make("theirs") == Plain()


def test_a_package_that_announces_a_built_in_name_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody learnt why theirs was never reached."""
    known = Registry("reader", {"theirs": f"{HERE}:Plain"})
    monkeypatch.setattr(module, "_TOLD", set())
    monkeypatch.setattr(module, "entry_points", lambda *, group: points(("one", f"{HERE}:Sized")))
    assert known.make("theirs") == known.make("theirs") == Plain()
    said = capsys.readouterr().err
    assert said.count("Warning: reader theirs is the built-in one; one (test_registry:Sized) announces another") == 1


def test_a_file_where_a_module_is_due_is_told() -> None:
    with pytest.raises(InputError, match=r"this is a file, and a module is due, .*: mine:Filter, from its folder"):
        KNOWN.make("folder/mine.py:Filter")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plain[widht=5]", "has no setting 'widht'. Did you mean width\\? There are width."),
        ("plain[width=wide]", "width=wide cannot be"),
        ("plain[width=5,width=5]", "width is given twice"),
        ("required[one,inputs=all]", "inputs=all cannot be .*; there are little, more"),
        ("required[one,rates=1e-3,nan]", "rates=1e-3,nan is infinite, no number, or too large"),
        ("plain[width=9000000000]", "width=9000000000 is infinite, no number, or too large"),
        ("required[inputs=more]", "needs its model in brackets"),
        ("required[one,model=two]", "model is given twice"),
    ],
)
def test_a_setting_that_cannot_be_is_one_line(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        KNOWN.make(name)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{HERE}:Raising", "its constructor raised ValueError (one two)."),
        (f"{HERE}:Raising[said= ]", "its constructor raised ValueError."),
    ],
)
def test_what_somebody_elses_class_raises_is_one_line(name: str, said: str) -> None:
    with pytest.raises(ContractError) as raised:
        KNOWN.make(name)
    assert str(raised.value) == f"reader {HERE}:Raising: {said}"
    assert isinstance(raised.value.__cause__, ValueError)


@given(names=st.lists(st.from_regex(r"[a-z]+(\[[a-z/]+(,[a-z]+=[a-z0-9]+(,[0-9])?)?\])?", fullmatch=True), min_size=1))
def test_names_are_parted_where_no_bracket_is_open(names: list[str]) -> None:
    assert split_names(",".join(names)) == names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        *(("required[a/b]", ("required", "a/b")), ("required[model=a/b]", ("required", "a/b"))),
        *(("plain[width=4]", ("plain", None)), ("optional", ("optional", None)), ("optional:a", ("optional", "a"))),
    ],
)
def test_an_argument_may_stand_by_its_name(name: str, parts: tuple[str, str | None]) -> None:
    assert KNOWN.parted(name) == parts


def test_a_file_that_is_no_python_is_told_as_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was told as a bug of ours."""
    (tmp_path / "no_python.py").write_text("def f(:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="cannot be loaded: SyntaxError"):
        KNOWN.make("no_python:F")


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("mlp", {"width": "a"}, "width='a' cannot be"),
        ("mlp", {"width": 1.5}, "width=1.5 cannot be"),
        ("mlp", {"width": True}, "width=True cannot be"),
        ("mlp", {"learning_rate": None}, "learning_rate=None cannot be"),
        ("encoder", {"model": "m", "inputs": "all"}, "inputs='all' cannot be"),
        ("judge", {"url": "http://localhost", "max_requests": "3"}, "max_requests='3' cannot be"),
    ],
)
def test_settings_by_their_names_are_of_the_types_that_the_class_gives_them(
    name: str, settings: dict[str, object], said: str
) -> None:
    """They ended in errors of torch, in the first fit."""
    with pytest.raises(InputError, match=re.escape(said)):
        make_filter(name, **settings)


def test_numbers_of_numpy_and_paths_are_numbers_and_texts() -> None:
    assert make_filter("mlp", width=np.int64(8), learning_rate=1)
    assert make_filter("encoder", model=Path("m"), strengths=[0.1, 1])


def test_settings_are_typed_where_others_are_known_to_type_checkers_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["class F:", "    def __init__(self, width: 'int' = 3, other: 'Unknown' = None,"]
    lines += [
        "                 sizes: tuple[int, ...] | None = None) -> None:",
        "        self.had = width, other, sizes",
    ]
    (tmp_path / "typed_elsewhere.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert KNOWN.make("typed_elsewhere:F[width=5,other=a,sizes=1,2]").had == (5, "a", (1, 2))


def test_a_class_that_takes_any_setting_and_has_an_odd_annotation_is_made() -> None:
    made = KNOWN.make(f"{HERE}:Loose")
    assert isinstance(made, Loose)
    assert (made.width, made.settings) == (3, {})
