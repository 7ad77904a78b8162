"""What the options of all verbs have in common."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import swag_af
from swag_af.af.options import AFOptions
from swag_af.data.errors import InputError, Options
from swag_af.scoring.options import PredictionOptions


@dataclass(frozen=True)
class Some(Options):
    path: Path = Path("here")
    other: Path | None = None
    several: tuple[Path, ...] = ()
    words: tuple[str, ...] = ()
    folds: tuple[int, ...] = ()
    text: str = ""
    rate: float = 1.0
    size: int | None = None
    seed: int = 0
    within: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize("given", [{"rate": float("nan")}, {"rate": float("inf")}, {"size": 1 << 40}])
def test_numbers_beyond_all_use_are_refused(given: dict) -> None:
    with pytest.raises(InputError, match=rf"^--{next(iter(given))}: infinite, no number, or too large\.$"):
        Some(**given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"split_by": "videos"}, "--split-by 'videos': one of video, context is due"),
        ({"rule": "Paper"}, "--rule 'Paper': one of paper, released is due"),
        ({"rule": None}, "--rule None: one of paper, released is due"),
        ({"pick": None}, "--pick None: one of random, hardest is due"),
    ],
)
def test_none_of_the_choices_is_refused(given: dict, said: str) -> None:
    """A script's misspelling ran the other method, for each place asked for one choice only."""
    with pytest.raises(InputError, match=f"^{said}"):
        AFOptions(**given)


def test_numbers_that_are_choices_and_paths_that_are_texts_are_taken(tmp_path: Path) -> None:
    number: Any = 1
    path: Any = tmp_path
    several: Any = ("yes", "no")
    assert PredictionOptions(prediction_base=number).prediction_base == "1"
    assert Some(text=path).text == str(tmp_path)
    with pytest.raises(InputError, match=r"^--class-order \('yes', 'no'\): a text is due"):
        PredictionOptions(class_order=several)


def test_a_large_seed_is_a_seed() -> None:
    assert Some(seed=1 << 40).seed == 1 << 40


def test_a_script_may_write_paths_as_texts() -> None:
    some = Some("a", other="b", several=["c", Path("d")], text="e")
    assert some == Some(Path("a"), other=Path("b"), several=(Path("c"), Path("d")), text="e")
    assert hash(some.several) == hash((Path("c"), Path("d")))
    assert Some("s3://bucket/pool").path == Path("s3://bucket/pool")


@pytest.mark.parametrize("one", ["a path.csv", Path("a path.csv")])
def test_one_alone_is_one_of_several_and_no_letters(one: str | Path) -> None:
    assert Some(several=one).several == (Path("a path.csv"),)
    assert Some(words="ngrams", folds=0) == Some(words=("ngrams",), folds=(0,))


@pytest.mark.parametrize("name", ["path", "other", "several"])
def test_a_name_that_is_not_utf8_is_refused_before_any_work(name: str) -> None:
    """It was refused by the manifest, in a traceback, after all rows were read."""
    path = os.fsdecode(b"caf\xe9.jsonl")
    with pytest.raises(InputError, match=rf"^--{name} 'caf\\udce9\.jsonl': this name is not UTF-8; rename the file"):
        Some(**{name: path})


def test_what_is_given_as_meant_stays_the_same_object() -> None:
    given = {"path": Path("a"), "several": (Path("b"),), "folds": (0, 1), "within": {}}
    some = Some(**given)
    assert all(getattr(some, name) is value for name, value in given.items())


def test_all_public_options_are_of_this_kind() -> None:
    names = [name for name in swag_af.__all__ if name.endswith("Options")]
    assert len(names) > 25
    assert [name for name in names if not issubclass(getattr(swag_af, name), Options)] == []
