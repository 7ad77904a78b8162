"""A run that a filter of a kind it does not use ends: when, told how, to the same bytes however often it is killed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import HashFilter, make_contexts_of

from swag_af.af.options import AFOptions, FilterOptions
from swag_af.auditing.runs.summary import unseen_lines
from swag_af.auditing.runs.unseen import UnseenRule, has_ended
from swag_af.cli.runs.filtering import run_filter
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.findings import UnseenCheck, read_unseen
from swag_af.data.runs.run import open_run
from swag_af.filters import registry
from swag_af.reporting.tables.text import run_lines


class KnowsGold(HashFilter):
    """Finds gold always."""

    name = "oracle"

    def score(self, view: View) -> np.ndarray:
        return np.where(view.columns == 0, 1.0, 0.0)


class AvoidsGold(KnowsGold):
    """Never takes gold: below chance."""

    name = "avoids"

    def score(self, view: View) -> np.ndarray:
        return -super().score(view)


class TellsNothing(KnowsGold):
    """Scores all candidates alike: at chance."""

    name = "level"

    def score(self, view: View) -> np.ndarray:
        return np.zeros(view.shape)


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "test_until_unseen"
    for name, of in {"oracle": "KnowsGold", "avoids": "AvoidsGold", "level": "TellsNothing"}.items():
        monkeypatch.setitem(registry.FILTERS, name, f"{here}:{of}")
    monkeypatch.setitem(registry.FILTERS, "hash", "conftest:HashFilter")
    monkeypatch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])


@pytest.fixture
def options(tmp_path: Path) -> FilterOptions:
    negatives = [[f"sees {k} birds and {i} trees." for k in range(12)] for i in range(30)]
    pool = CandidatePool.from_texts(make_contexts_of(30, n_videos=15), negatives, tagger="rules")
    pool.save(tmp_path / "pool")
    af = AFOptions(n_negatives=3, iterations=9)
    unseen = {"until_unseen": "level", "within": 0.3, "unseen_every": 2}
    return replace(FilterOptions(tmp_path / "pool", tmp_path / "run", "hash:9", audit="none", af=af), **unseen)


def bytes_of(folder: Path) -> dict[str, bytes]:
    kept = ("log.jsonl", "audits.jsonl", "unseen.jsonl", "manifest.json", "start.npy")
    return {name: (folder / name).read_bytes() for name in kept}


def test_a_run_ends_at_the_second_check_that_is_near_chance(options: FilterOptions) -> None:
    run = run_filter(options)
    assert run.n_finished == 4
    assert [check.iteration for check in read_unseen(run.path)] == [2, 4]
    assert all(check.is_near for check in read_unseen(run.path))


def test_a_run_goes_on_where_the_filter_finds_gold(options: FilterOptions) -> None:
    run = run_filter(replace(options, until_unseen="oracle"))
    assert run.n_finished == 9
    assert [check.accuracy for check in read_unseen(run.path)] == [1.0] * 4


def test_a_run_goes_on_where_the_filter_is_below_chance_and_says_so(
    options: FilterOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_filter(replace(options, until_unseen="avoids", af=replace(options.af, n_negatives=1)))
    assert run.n_finished == 9
    assert all(check.is_below and not check.is_near for check in read_unseen(run.path))
    said = "not near enough to chance 0.500; below chance: swaps have gone past it, or the pool recycles golds"
    assert capsys.readouterr().err.count(said) == 4
    assert "below chance: swaps have gone past it" in unseen_lines(run)[0]


def check(low: float, high: float) -> UnseenCheck:
    return UnseenCheck("level", 2, (low + high) / 2, low, high, 0.25, 0.05)


NEAR = (0.21, 0.29)


@pytest.mark.parametrize(
    ("intervals", "ended"),
    [
        ([NEAR], False),
        ([NEAR, (0.2, 0.3)], True),
        ([NEAR, (0.21, 0.31)], False),
        ([NEAR, (0.19, 0.29)], False),
        ([NEAR, (0.21, 0.31), NEAR], False),
        ([(0.7, 0.9), NEAR, (0.21, 0.24)], True),
        ([(0.03, 0.08), (0.03, 0.08)], False),
    ],
)
def test_both_ends_of_the_interval_count_and_twice_in_a_row(intervals: list[tuple[float, float]], ended: bool) -> None:
    assert has_ended([check(*interval) for interval in intervals]) == ended


@pytest.mark.parametrize("schedule", ["level:9", "hash:3,level:6"])
def test_a_filter_of_the_schedule_is_not_unseen(options: FilterOptions, schedule: str) -> None:
    with pytest.raises(InputError, match="--until-unseen level: level of the schedule is of that kind"):
        run_filter(replace(options, schedule=schedule))
    assert not options.out.exists()


@pytest.mark.parametrize("head", ["mlp", "bow", "cnn", "poslstm"])
def test_a_head_of_the_ensemble_is_not_unseen(head: str) -> None:
    with pytest.raises(InputError, match="ensemble of the schedule"):
        UnseenRule(head, 0.05, 2).check([registry.make_filter("ensemble")])
    UnseenRule("ngrams", 0.05, 2).check([registry.make_filter("ensemble")])


class Stopped(BaseException):
    """As a kill, for those who may not catch it."""


def killed_after(n: int, function: Callable[..., object]) -> Callable[..., object]:
    calls = iter(range(n))

    def counted(*args: object, **keywords: object) -> object:
        if next(calls, None) is None:
            raise Stopped
        return function(*args, **keywords)

    return counted


@pytest.mark.parametrize("n", range(6))
@pytest.mark.parametrize("place", ["swag_af.auditing.runs.audit.keep", "swag_af.auditing.runs.unseen.write_unseen"])
def test_a_run_that_was_killed_ends_with_the_same_bytes(
    options: FilterOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, n: int
) -> None:
    straight = bytes_of(run_filter(replace(options, out=tmp_path / "run")).path or tmp_path)
    (tmp_path / "run").rename(tmp_path / "straight")
    module, _, name = place.rpartition(".")
    with monkeypatch.context() as patched:
        found = __import__(module, fromlist=[name])
        patched.setattr(place, killed_after(n, getattr(found, name)))
        try:
            run_filter(replace(options, out=tmp_path / "run"))
        except Stopped:
            assert (tmp_path / "run" / "manifest.json").exists()
    run_filter(replace(options, out=tmp_path / "run"))
    assert bytes_of(tmp_path / "run") == straight


def test_what_ended_a_run_ends_it_still_where_audits_state_wider_intervals_now(options: FilterOptions) -> None:
    """As after a checkout whose intervals were narrower: the same command went on with a run that had ended."""
    run = run_filter(options)
    audits, kept = run.path / "audits.jsonl", (run.path / "unseen.jsonl").read_bytes()
    records = [json.loads(line) | {"low": 0.0, "high": 1.0} for line in audits.read_text().splitlines()]
    audits.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert run_filter(options).n_finished == 4
    assert (run.path / "unseen.jsonl").read_bytes() == kept


def test_what_ended_the_run_is_said_to_be_selected_upon(options: FilterOptions) -> None:
    run_filter(options)
    run = open_run(options.out)
    (line,) = unseen_lines(run)
    assert line.startswith("level takes no part and could end the run: within 0.300 of chance (0.250)")
    assert line in run_lines(run)
    page = (options.out / "report.html").read_text()
    assert "selected upon" in page
    assert "decided when to end" in page


def test_few_contexts_are_warned_of_before_any_work(options: FilterOptions, capsys: pytest.CaptureFixture[str]) -> None:
    run_filter(replace(options, within=0.1))
    assert "Warning: with 30 contexts the interval of a filter at chance ends" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("within", "n_groups", "said"),
    [
        (0.05, 10, "ends 0.157 above it, and up to 0.459 where those of a group are alike, so --within 0.05 is met by"),
        (0.2, 10, "and up to 0.459 where those of a group are alike, so --within 0.2 may be met by luck only."),
        (0.5, 10, ""),
        (0.05, 100, "above it, so --within 0.05 is met by luck only"),
        (0.2, 100, ""),
    ],
)
def test_contexts_of_few_groups_may_tell_less_than_they_are_many(
    within: float, n_groups: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Groups counted for nothing: of 100 contexts in ten videos nobody was warned."""
    UnseenRule("level", within, 1).warn(np.arange(100) % n_groups, 0.25)
    told = capsys.readouterr().err
    assert ("Warning" in told) == bool(said)
    assert said in " ".join(told.split())


@pytest.mark.parametrize(("field", "value"), [("within", -0.1), ("unseen_every", 0)])
def test_options_out_of_range_are_refused(options: FilterOptions, field: str, value: float) -> None:
    with pytest.raises(InputError, match=field.replace("_", "-")):
        replace(options, **{field: value})
