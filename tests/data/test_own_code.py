"""Sources of the classes and functions of others: what tells an edited one from the one before."""

import importlib
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swag_af.data.errors import ContractError
from swag_af.data.plugins.own_code import source_of
from swag_af.filters.contract import settings_of

ROOT = Path(__file__).parents[2]

TEXT = """
class Mine:
    name = "mine"
    common = ("the", "a")

    def score(self, view, least=2):
        return [len(word) > least for word in view if word not in {"x", "y", "z"}]

    @staticmethod
    def twice(x):
        return (lambda y: 2 * y)(x)

    @property
    def half(self):
        return 0.5
"""


def made(text: str, name: str = "Mine") -> Any:
    """What a text defines, as a notebook does: Python knows no file of it."""
    names: dict[str, Any] = {"__name__": "notebook"}
    exec(text, names)
    return names[name]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("least=2", "least=3"),
        ("> least", ">= least"),
        ('"z"}', '"w"}'),
        ("2 * y", "3 * y"),
        ("return 0.5", "return 0.25"),
        ('"the", "a"', '"the", "an"'),
        ("if word", "if view"),
    ],
)
def test_a_class_without_a_file_is_told_by_what_it_does(old: str, new: str) -> None:
    assert source_of(made(TEXT)) == source_of(made("\n\n# moved down\n" + TEXT))
    assert old in TEXT
    assert source_of(made(TEXT.replace(old, new))) != source_of(made(TEXT))


def test_it_is_the_same_in_another_process() -> None:
    code = "import sys; from tests.data.test_own_code import TEXT, made, source_of; print(source_of(made(TEXT)))"
    run = partial(subprocess.run, [sys.executable, "-c", code], text=True, check=True, stdout=subprocess.PIPE)
    found = {run(cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert found == {f"{source_of(made(TEXT))}\n"}


def test_a_function_behind_a_wrapper_is_told_by_itself() -> None:
    text = "def Mine(x):\n    return x"

    def wrapped(function: Any) -> Any:
        @wraps(function)
        def outer(x: Any) -> Any:
            return function(x)

        return outer

    assert source_of(wrapped(made(text))) == source_of(made(text)) != source_of(made(text + " + 1"))


@dataclass
class Settings:
    """A filter, as far as its settings go."""

    words: Any

    def settings(self) -> Any:
        return None if self.words is None else {"words": self.words}


def test_settings_that_a_run_cannot_keep_are_told() -> None:
    assert settings_of(Settings(np.arange(2)))["words"].tolist() == [0, 1]
    with pytest.raises(ContractError, match="its setting 'words' cannot be kept with a run: set has no place"):
        settings_of(Settings({"a", "b"}))
    with pytest.raises(ContractError, match=r"settings\(\) returned NoneType, not a dict"):
        settings_of(Settings(None))


def test_a_class_is_told_by_its_bases_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    base = tmp_path / "base_of_mine.py"
    base.write_text("class Base:\n    pass\n", encoding="utf-8")
    (tmp_path / "class_of_mine.py").write_text("from base_of_mine import Base\n\nclass Mine(Base):\n    pass\n")
    mine = importlib.import_module("class_of_mine").Mine
    before = source_of(mine)
    base.write_text("class Base:\n    x = 1\n", encoding="utf-8")
    assert source_of(mine) != before


class Plain:
    """A filter without settings that are told."""

    def __init__(self, sign: Any, *rest: int, least: int = 2):
        self.sign, self._least, self.fitted = sign, least, rest


def test_arguments_tell_filters_apart_that_say_nothing_of_settings() -> None:
    def told(*arguments: Any, **named: Any) -> dict[str, Any]:
        return {name: value for name, value in settings_of(Plain(*arguments, **named)).items() if name != "source"}

    assert told(1) == {"sign": 1, "least": 2}
    assert told(1, least=3) == {"sign": 1, "least": 3}
    assert told(lambda x: x) != told(lambda x: -x)
    one, other = told(Settings(1))["sign"], told(Settings(2))["sign"]  # known by its class and what it keeps
    assert (one["class"], one["keeps"]) == (told(Settings)["sign"], {"words": 1})
    assert other == {**one, "keeps": {"words": 2}}


def test_what_is_ours_or_not_written_in_python_has_none() -> None:
    assert source_of(source_of) is None
    assert source_of(len) is None
