"""Claims about `diagnose`: planted causes are told apart, no fit knows what it scores, resumed is the same."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from folders import files_of
from killed import kill_at
from planted import CAUSES, A, CutFilter, K, N, exhausted, levels, obvious, planted_run, unfinished

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions, FilterOptions
from swag_af.cli.options import ShowOptions
from swag_af.cli.parsing import parse
from swag_af.cli.runs import diagnosing as verb
from swag_af.cli.runs.diagnosing import diagnose, diagnosed_lines, open_diagnosis
from swag_af.cli.runs.filtering import run_filter
from swag_af.cli.showing.show import show
from swag_af.data.context import Context
from swag_af.data.disk.records import Matching
from swag_af.data.errors import FormatError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.run import Run, begin_run
from swag_af.diagnosing import fits as fits_module
from swag_af.diagnosing.diagnosis import subject_of
from swag_af.diagnosing.figures import Figure
from swag_af.diagnosing.fits import Fits, curves
from swag_af.diagnosing.left import in_thirds
from swag_af.diagnosing.options import DiagnoseOptions
from swag_af.diagnosing.outcome import Diagnosis
from swag_af.diagnosing.told import advice, answers, headline
from swag_af.diagnosing.words import QUESTIONS, change, negative, status
from swag_af.filters import registry

PLANTED = {
    "level": "LevelFilter",
    "cut": "CutFilter",
    "gold-or-noise": "GoldOrNoiseFilter",
    "noise": "NoiseFilter",
}


@pytest.fixture(autouse=True)
def planted_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, of in PLANTED.items():
        monkeypatch.setitem(registry.FILTERS, name, f"planted:{of}")


def options(run: Run, **settings: Any) -> DiagnoseOptions:
    assert run.path is not None
    return DiagnoseOptions(run.path, **{"seeds": 2, "folds": 3, **settings})


@pytest.fixture(scope="module")
def diagnosed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Diagnosis]:
    """Of each planted cause."""
    with pytest.MonkeyPatch.context() as patch:
        for name, of in PLANTED.items():
            patch.setitem(registry.FILTERS, name, f"planted:{of}")
        folder = tmp_path_factory.mktemp("planted")
        return {name: diagnose(options(make(folder / name))) for name, make in CAUSES.items()}


STATUSES = {
    "exhausted": ("open", "limit", "unknown", "limit"),
    "unfinished": ("open", "open", "fine", "unknown"),
    "noisy": ("open", "limit", "limit", "limit"),
    "obvious": ("open", "limit", "fine", "limit"),
    "as_good_as_gold": ("fine", "fine", "fine", "fine"),
    "blind": ("unknown", "unknown", "unknown", "unknown"),
}
"""Of each planted cause: what is said of curve, pool, filter and candidates."""


@pytest.mark.parametrize("cause", CAUSES)
def test_planted_causes_are_told_apart(cause: str, diagnosed: dict[str, Diagnosis]) -> None:
    assert tuple(one.status for one in answers(diagnosed[cause])) == STATUSES[cause]


@pytest.mark.parametrize(
    ("said", "causes"),
    [
        ("The pool is used up: most contexts have no harder candidate left", ["exhausted"]),
        ("The pool has harder candidates left", ["unfinished"]),
        ("The filter is the limit: swaps of one fit are noise to the next", ["noisy"]),
        ("The pool is the limit: over all contexts", ["noisy", "obvious"]),
        ("Random candidates give themselves away", ["exhausted", "noisy", "obvious"]),
        ("to this filter random candidates are as good as gold", ["as_good_as_gold"]),
        ("its fits are not seen to agree: it may read nothing at all", ["blind"]),
    ],
)
def test_the_headline_names_the_planted_cause_and_no_other(
    said: str, causes: list[str], diagnosed: dict[str, Diagnosis]
) -> None:
    assert [name for name, one in diagnosed.items() if said in headline(one)] == causes


def test_a_pool_without_harder_candidates_is_counted_so(diagnosed: dict[str, Diagnosis]) -> None:
    left = diagnosed["exhausted"].main.left
    assert (left.none_above_easiest.value, left.none_above_gold.value, left.stuck.value) == (1, 1, 1)
    assert (left.now.value, left.same_fit.value, left.other_fit.value, left.fall_other.value) == (1, 1, 1, 0)
    assert left.histogram == left.histogram_gold == (1.0,)


def test_harder_candidates_that_are_left_take_the_curve_down(diagnosed: dict[str, Diagnosis]) -> None:
    left = diagnosed["unfinished"].main.left
    assert left.none_above_easiest.value == 0
    assert (left.now.value, left.other_fit.value, left.fall_other.value) == (1, 0, 1)
    assert "down to chance with this pool, as present fits see" in advice(diagnosed["unfinished"])[0]


def test_fits_of_noise_agree_on_nothing_and_others_on_everything(diagnosed: dict[str, Diagnosis]) -> None:
    noise, same = (diagnosed[name].agreements[0] for name in ("blind", "obvious"))
    assert noise.swaps is not None
    assert noise.correlation is not None
    assert not noise.swaps.excludes(0.5)
    assert not noise.correlation.excludes(0)
    assert not noise.wrong_gain.excludes(0)
    assert noise.easy_gain is not None
    assert not noise.easy_gain.excludes(0)
    assert same.swaps is not None
    assert same.correlation is not None
    assert (same.swaps.value, same.correlation.value) == (1, 1)


def test_the_control_is_at_chance_where_gold_is_obvious(diagnosed: dict[str, Diagnosis]) -> None:
    growth = diagnosed["obvious"].main.growth
    assert growth.control is not None
    assert not growth.control.accuracy.excludes(growth.control.chance)
    assert [(one.n_negatives, one.accuracy.value) for one in growth.against] == [(1, 1), (A - 1, 1), (K - 1, 1)]


def test_advice_says_what_was_not_tested_and_what_would_test_it(diagnosed: dict[str, Diagnosis]) -> None:
    """It said `we do not know`, and no more."""
    said = advice(diagnosed["obvious"])
    assert said[0].startswith("More iterations: not tested.")
    assert "`swag-af filter` with a larger --iterations goes on with this run" in said[0]
    assert said[1].startswith("More candidates: not tested.")
    assert said[1].endswith("A pool with more negatives, filtered and diagnosed in the same way, tests it.")
    assert "by another generator or from elsewhere: not tested." in said[-1]


@pytest.mark.parametrize("cause", CAUSES)
def test_a_diagnosis_is_read_without_knowing_it(cause: str, diagnosed: dict[str, Diagnosis]) -> None:
    """Figures stood in brackets within brackets, tables without a word on them, and were wider than a terminal."""
    lines = diagnosed_lines(diagnosed[cause], Path("why"))
    told = "\n".join(lines)
    assert not re.search(r"\([^()]*\(", told)
    assert "do not know" not in told
    for one in answers(diagnosed[cause])[1:]:
        at = lines.index(f"{QUESTIONS[one.about]} {status(diagnosed[cause], one)}")
        assert [line.partition(":")[0] for line in lines[at + 1 : at + 4]] == ["  Asked", "  Found", "  Means"]
    heads = [i - 1 for i, line in enumerate(lines) if line.startswith("  ---")]
    assert all(lines[i - 1].endswith(":") for i in heads)
    assert max(len(line) for i in heads for line in lines[i : i + 9] if "  " in line.strip()) <= 80


def test_all_candidates_of_a_pool_are_the_last_of_its_parts(diagnosed: dict[str, Diagnosis]) -> None:
    for one in diagnosed.values():
        assert [point.n_candidates for point in one.main.fewer] == [A, 6, 12, K]
        assert one.main.fewer[-1].accuracy == one.main.left.other_fit


class SpyFilter:
    """Notes the groups of the contexts it was fitted on, and is asked for none of them."""

    name = "spy"
    scored: ClassVar[list[int]] = []

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.known = set(view.groups.tolist())

    def score(self, view: View) -> np.ndarray:
        assert not self.known & set(view.groups.tolist())
        SpyFilter.scored.append(len(view))
        return np.zeros(view.shape)


class RowFilter(SpyFilter):
    """Its scores depend on what else is shown."""

    name = "by-row"
    reads_rows: ClassVar[bool] = True


def test_a_filter_that_reads_whole_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was shown all candidates at once, and its figures were of another question."""
    monkeypatch.setitem(registry.FILTERS, "by-row", f"{__name__}:RowFilter")
    with pytest.raises(InputError, match="its scores depend on what else is shown"):
        diagnose(options(obvious(tmp_path), filters="by-row"))


def test_no_context_is_scored_by_what_was_fitted_on_its_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FILTERS, "spy", f"{__name__}:SpyFilter")
    SpyFilter.scored.clear()
    diagnose(options(obvious(tmp_path), filters="spy"))
    assert sum(SpyFilter.scored) > 2 * N


class GoldReader:
    """Scores a candidate by how many fitted golds say its level: what knows gold's level is found out."""

    name = "gold-reader"

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        words = [[set(re.findall(r"\d+", text)[-1:]) for text in row] for row in view.texts]
        self.golds = [next(iter(row[0])) for row in words]
        self.others = [next(iter(one)) for row in words for one in row[1:]]

    def score(self, view: View) -> np.ndarray:
        def of(text: str) -> float:
            level = re.findall(r"\d+", text)[-1]
            return float(self.golds.count(level) - self.others.count(level))

        return np.array([[of(text) for text in row] for row in view.texts])


def test_in_thirds_no_gold_reaches_what_is_fitted_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gold of a third is changed: the fits that score it stay the same, what they are shown of others too."""
    monkeypatch.setitem(registry.FILTERS, "gold-reader", f"{__name__}:GoldReader")
    gold, negatives = levels_of_gold()
    seen: list[list[tuple[str, ...]]] = []
    fitted = GoldReader.fit

    def noting(self: GoldReader, view: View, *, rng: np.random.Generator) -> None:
        seen[-1].append(tuple(text for row in view.texts for text in row))
        fitted(self, view, rng=rng)

    monkeypatch.setattr(GoldReader, "fit", noting)
    for i, changed in enumerate((gold, np.where(np.arange(N) == 7, 99, gold))):
        seen.append([])
        run = planted_run(tmp_path / str(i), changed, negatives, phase="gold-reader")
        in_thirds(fits_of(run, tmp_path / f"work-{i}"), 0, 0)
    apart = [a for a, b in zip(*seen, strict=True) if a != b]
    with_it = [a for a in seen[0] if any(f"takes the 7th of level {gold[7]}." in text for text in a)]
    assert apart == with_it
    assert len(with_it) == 3  # where it chooses, and where it is fitted on, twice


def levels_of_gold() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(0, 6, N), rng.integers(0, 6, (N, K - 1))


def fits_of(run: Run, folder: Path) -> Fits:
    subject = subject_of(options(run))
    assigned = run.assignment().astype(np.int64)
    return Fits(run.pool, subject.rows, assigned, subject.groups, subject.filters, 3, 0, folder)


def with_flagged(fits: Fits, columns: list[int], monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """(N, K) what the pool says from here on is flagged: these candidates of every row."""
    flagged = np.zeros((N, K), bool)
    flagged[:, columns] = True
    gathered = CandidatePool.gather
    monkeypatch.setitem(fits.pool.manifest, "tables", [*fits.pool.tables, "flagged"])
    monkeypatch.setattr(
        CandidatePool,
        "gather",
        lambda self, table, rows, *more: flagged[rows] if table == "flagged" else gathered(self, table, rows, *more),
    )
    return flagged


def test_flagged_candidates_are_not_there_unless_they_are_assigned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = fits_of(obvious(tmp_path), tmp_path / "work")
    with_flagged(fits, [2, 9], monkeypatch)
    scores = fits.scores(0, 0)
    assert [k for k in range(K) if np.isnan(scores[:, k]).all()] == [9]  # 2 is assigned
    assert not np.isnan(np.delete(scores, 9, axis=1)).any()


@pytest.mark.parametrize("ignores", [False, True])
def test_random_candidates_are_those_that_a_run_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignores: bool
) -> None:
    """What the guards keep out was among them."""
    fits = replace(fits_of(obvious(tmp_path), tmp_path / "work"), ignores_guard=ignores)
    flagged = with_flagged(fits, [4, 5, 6, 7], monkeypatch)
    made = curves(fits, 0)
    for name in ("random", "control"):
        for columns in (made[name].fitted, made[name].scored):
            assert np.take_along_axis(flagged, columns, axis=1).any() == ignores


def test_smaller_fits_of_a_draw_are_parts_of_larger_ones_and_of_other_groups_than_the_test(tmp_path: Path) -> None:
    fits = fits_of(obvious(tmp_path), tmp_path / "work")
    for made in (curves(fits, draw) for draw in range(3)):
        train, test = made["random"].train, made["random"].test
        assert not set(fits.groups[train]) & set(fits.groups[test])
        assert sorted([*train, *test]) == list(range(N))
        changes = np.flatnonzero(np.diff(fits.groups[train]))
        assert len(changes) + 1 == len(set(fits.groups[train]))  # whole groups, one after the other
        assert (made["control"].fitted > 0).all()
        assert np.array_equal(made["assigned"].test, test)


def test_a_killed_diagnosis_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    run = planted_run(tmp_path, levels(0, 1000, seed=1, n=180)[:, 0], levels(0, 1000, n=180))
    killed = tmp_path / "diagnosis"
    found = diagnose(options(run, out=killed))
    straight = files_of(killed)
    shutil.rmtree(killed)
    made: dict[Path, int] = {}
    for n in (0, 1, 7, 12, 11):  # again and again, after so many fits more
        kill_at(fits_module, "write_array", n, diagnose, options(run, out=killed))
        before, made = made, {path: path.stat().st_mtime_ns for path in (killed / "fits").glob("*.npy")}
        assert len(made) == len(before) + n
        assert before.items() <= made.items()  # nothing is fitted twice
    kill_at(verb, "write_text", 0, diagnose, options(run, out=killed))  # before the page is written
    assert {path: path.stat().st_mtime_ns for path in made}.items() >= made.items()
    assert diagnose(options(run, out=killed)) == found
    assert files_of(killed) == straight
    assert set(files_of(killed)) == {"diagnosis.json", "diagnosis.html", "rows.jsonl"}


def test_a_finished_diagnosis_is_read_and_nothing_is_fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = exhausted(tmp_path)
    first = diagnose(options(run))
    monkeypatch.setattr(verb, "measure", None)
    assert diagnose(options(run, json=tmp_path / "why.json")) == first
    with pytest.raises(InputError, match=r"--json .*: this is read or written as something else"):
        diagnose(options(run, json=tmp_path / "run" / "manifest.json"))
    assert json.loads((tmp_path / "why.json").read_text()) == json.loads(
        (tmp_path / "run" / "diagnosis" / "diagnosis.json").read_text()
    )


def test_the_folder_of_another_diagnosis_is_left_alone(tmp_path: Path) -> None:
    run = exhausted(tmp_path)
    diagnose(options(run))
    with pytest.raises(InputError, match="begun with other options"):
        diagnose(options(run, seed=1))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="was not made by diagnose"):
        diagnose(options(run, out=tmp_path / "mine"))


@pytest.mark.parametrize("name", ["gauss.csv", "begun.json"])
def test_fits_of_somebody_else_are_left_alone(name: str, tmp_path: Path) -> None:
    run = exhausted(tmp_path)
    (tmp_path / "mine" / "fits").mkdir(parents=True)
    (tmp_path / "mine" / "fits" / name).write_text('["mine"]')
    with pytest.raises(InputError, match="was not made by diagnose"):
        diagnose(options(run, out=tmp_path / "mine"))
    assert files_of(tmp_path / "mine") == {f"fits/{name}": b'["mine"]'}


@pytest.mark.parametrize("gone", ["diagnosis.html", "rows.jsonl"])
def test_a_diagnosis_of_which_something_is_gone_is_not_called_written(gone: str, tmp_path: Path) -> None:
    run = exhausted(tmp_path)
    diagnose(options(run))
    (tmp_path / "run" / "diagnosis" / gone).write_text("")
    with pytest.raises(InputError, match=f"{re.escape(gone)} gone or empty since"):
        diagnose(options(run))
    (tmp_path / "run" / "diagnosis" / gone).unlink()
    with pytest.raises(InputError, match=f"{re.escape(gone)} gone or empty since"):
        diagnose(options(run))


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    run = exhausted(tmp_path)
    diagnose(options(run))
    path = tmp_path / "run" / "diagnosis" / "diagnosis.json"
    record = json.loads(path.read_text())
    record["filters"][0]["left"]["now"]["low"] = "much"
    path.write_text(json.dumps(record))
    with pytest.raises(FormatError, match=r"diagnosis\.json: filters\[0\]\.left\.now\.low: expected float"):
        open_diagnosis(path.parent)


def test_what_cannot_be_diagnosed_is_one_line_before_any_fit(tmp_path: Path) -> None:
    gold, negatives = levels_of_gold()
    few = planted_run(tmp_path / "few", gold[:4], negatives[:4])
    with pytest.raises(InputError, match="4 contexts of 4 groups, the largest of 1, are too few"):
        diagnose(options(few))
    run = exhausted(tmp_path / "run")
    with pytest.raises(InputError, match="no filter 'levle'"):
        diagnose(options(run, filters="levle"))
    with pytest.raises(InputError, match="seeds 1: at least 2"):
        options(run, seeds=1)


MATCHING: Matching = {"weight": 0.1, "relevance": "tfidf", "similarity": "lexical", "said": ["matched"]}


def test_a_matched_run_needs_a_filter_by_name(tmp_path: Path) -> None:
    planted_run(tmp_path, levels(0, 1000)[:, 0], levels(0, 1000, k=A), matching=MATCHING)
    with pytest.raises(InputError, match="matched, not filtered"):
        subject_of(DiagnoseOptions(tmp_path / "run"))


@pytest.mark.parametrize(
    ("gold", "status", "said"),
    [
        (np.full(N, 1000), "limit", "The wrong answers that the matching took from other rows are told from the right"),
        (np.full(N, -1), "fine", "the matching took answers that this filter prefers to the right ones"),
        (levels(0, 900, seed=1)[:, 0], "unknown", "it is undecided whether there is something that this filter finds"),
    ],
    ids=["above chance", "below chance", "nobody knows"],
)
def test_what_is_said_of_a_matched_run_is_about_its_matching(
    gold: np.ndarray, status: str, said: str, tmp_path: Path
) -> None:
    """It blamed a generator and swaps, though every wrong answer is a right one of another row."""
    run = planted_run(tmp_path, np.maximum(gold, 0), levels(1, 900, k=A), matching=MATCHING)
    found = diagnose(options(run, filters="level"))
    told = "\n".join(diagnosed_lines(found, tmp_path / "why"))
    page = (tmp_path / "run" / "diagnosis" / "diagnosis.html").read_text()
    assert said in headline(found)
    assert [(one.about, one.status) for one in answers(found)[1:]] == [("filter", "unknown"), ("matching", status)]
    assert "Another matching: " in told
    for word in ("generator", "other candidates", "iteration", "more candidates", "harder", "before any filtering"):
        assert word not in told.lower()
        assert word not in page.lower()
    shown = show(ShowOptions(tmp_path / "run" / "diagnosis"))
    assert "The contexts in which gold was found most often:" in shown


def test_a_run_of_one_negative_has_one_figure_for_it(tmp_path: Path) -> None:
    """It was printed twice: from one in 52.9 %, from 1 in 52.9 %."""
    start = np.tile(np.arange(2, dtype=np.int32), (N, 1))
    found = diagnose(options(planted_run(tmp_path, np.full(N, 1000), levels(0, 900), start)))
    assert answers(found)[-1].found.count(" in 100.0 %") == 1


@pytest.mark.parametrize(
    ("n", "limit", "said"),
    [
        (4, 0, "The groups are the folds of the matching: take a run matched in more --folds."),
        (N, 4, "The groups are the folds of the matching: take a larger --limit, or a run matched in more --folds."),
    ],
)
def test_too_few_folds_of_a_matching_are_told_as_such(n: int, limit: int, said: str, tmp_path: Path) -> None:
    """More videos, and a larger --limit where none was given, were advised; neither helps."""
    run = planted_run(tmp_path, *(one[:n] for one in levels_of_gold()), matching=MATCHING)
    with pytest.raises(InputError, match=re.escape(said)):
        subject_of(options(run, filters="level", limit=limit))


def test_no_larger_limit_is_advised_where_there_is_none(tmp_path: Path) -> None:
    run = planted_run(tmp_path, *(one[:4] for one in levels_of_gold()))
    with pytest.raises(InputError, match=r"score others\. Take a run of more videos\."):
        subject_of(options(run))


def test_a_pool_of_what_is_assigned_has_nothing_left(tmp_path: Path) -> None:
    """As a matched pool is: no unassigned candidates, so no swap either."""
    gold, negatives = levels_of_gold()
    found = diagnose(options(planted_run(tmp_path, gold, negatives[:, : A - 1])))
    assert found.main.left.none_above_easiest.value == 1
    assert found.main.left.now == found.main.left.other_fit
    assert found.agreements[0].swaps is None
    assert len(diagnosed_lines(found, tmp_path / "why")) > 20


def test_a_limit_that_leaves_too_few_groups_is_named(tmp_path: Path) -> None:
    """It was said that an audit needs several groups, and nothing of --limit."""
    with pytest.raises(InputError, match="Take a larger --limit, or"):
        diagnose(options(obvious(tmp_path), limit=1))


def test_rows_of_a_limited_diagnosis_are_whole_groups(tmp_path: Path) -> None:
    run = obvious(tmp_path)
    found = diagnose(options(run, limit=40))
    rows = [json.loads(line) for line in (tmp_path / "run" / "diagnosis" / "rows.jsonl").read_text().splitlines()]
    assert found.n == len(rows) >= 40
    assert found.n_all == N
    assert found.notes[-1] == f"A sample of {found.n} of {N} contexts: filters fitted on fewer find less."
    groups = run.pool.groups
    mine = [row["row"] for row in rows]
    assert set(np.flatnonzero(np.isin(groups, groups[mine]))) == set(mine)
    assert all(row["accuracy"] == 1 and row["id"] == run.pool.contexts[row["row"]].id for row in rows)


def test_the_accuracy_in_the_run_is_that_of_its_last_filter_alone(tmp_path: Path) -> None:
    planted_run(tmp_path, np.full(N, 50), levels(0, 100))
    af = AFOptions(n_negatives=A - 1)
    run = run_filter(FilterOptions(tmp_path / "pool", tmp_path / "two", "noise:6,level:2", audit="none", af=af))
    found = diagnose(options(run))
    assert found.n_last == 2
    assert found.last_accuracy == pytest.approx((run.accuracy(7) + run.accuracy(8)) / 2, abs=1e-6)


def test_the_filter_is_taken_from_the_run_brackets_and_all(tmp_path: Path) -> None:
    planted_run(tmp_path, np.full(N, 50), levels(0, 100))
    af = AFOptions(n_negatives=A - 1)
    given = "cut[60,rates=1,0.5]"
    run = run_filter(FilterOptions(tmp_path / "pool", tmp_path / "two", f"noise:1,{given}:2", audit="none", af=af))
    made = subject_of(options(run))
    assert (made.names, made.filters) == ((given,), [CutFilter("60", (1.0, 0.5))])
    assert made.notes == (f"No --filters given: diagnosed by the filter of the run's last phase, {given}.",)
    named = subject_of(options(run, filters=f"{given},cut[70],noise,level"))
    assert named.notes == ("cut[70] has other settings than in the run: cut, rates.", "level took no part in the run.")


def test_a_run_of_a_script_has_the_name_of_its_filter_alone(tmp_path: Path) -> None:
    planted_run(tmp_path, np.full(N, 50), levels(0, 100))
    pool, af = CandidatePool.open(tmp_path / "pool"), AFOptions(n_negatives=A - 1, iterations=1)
    assert subject_of(options(filter_pool(pool, "cut[60]", af, out=tmp_path / "named"))).names == ("cut[60]",)
    with pytest.raises(InputError, match=r"filter 'cut' needs its cut in brackets"):
        subject_of(options(filter_pool(pool, CutFilter("60"), af, out=tmp_path / "made")))


def test_two_filters_are_compared(tmp_path: Path) -> None:
    found = diagnose(options(unfinished(tmp_path), filters="level,noise"))
    assert [one.of for one in found.agreements] == [("level", "level"), ("level", "noise"), ("noise", "noise")]
    between = found.agreement("level", "noise")
    assert between.correlation is not None
    assert not between.correlation.excludes(0)
    assert found.notes == ("level took no part in the run.", "noise took no part in the run.")


def test_the_folder_is_shown(tmp_path: Path) -> None:
    run = exhausted(tmp_path)
    found = diagnose(options(run))
    lines = show(ShowOptions(tmp_path / "run" / "diagnosis", n=2)).split("\n")
    assert lines[0] == f"{tmp_path / 'run' / 'diagnosis'}: diagnosis"
    assert headline(found) in lines
    ids = [context.id for context in run.pool.contexts[:2]]
    assert lines[-2:] == [f"  {one}: 0 harder candidates" for one in ids]


def texts_run(folder: Path, gold_word: str) -> Run:
    """Plain texts: endings of six words of twenty; gold has `gold_word` among them."""
    rng = np.random.default_rng(5)
    words = np.array([f"w{i}" for i in range(20)])
    contexts = [
        Context(
            f"It is day {i}.",
            "She",
            " ".join([*rng.choice(words, 5), gold_word or str(rng.choice(words))]) + ".",
            id=f"c{i}",
            video=f"v{i // 2}",
        )
        for i in range(80)
    ]
    negatives = [[" ".join(rng.choice(words, 6)) + "." for _ in range(20)] for _ in contexts]
    pool = CandidatePool.from_texts(contexts, negatives, tagger="rules").save(folder / "pool")
    start = np.tile(np.arange(A, dtype=np.int32), (80, 1))
    identity = {"pool_identity": pool.identity, "phases": [["ngrams", 1]], "filters": {}, "options": {}}
    return begin_run(pool, start, folder / "run", identity, n_planned=0)


def test_a_real_filter_tells_an_obvious_generator_from_one_like_gold(tmp_path: Path) -> None:
    obvious_one = diagnose(options(texts_run(tmp_path / "a", "indeed")))
    alike = diagnose(options(texts_run(tmp_path / "b", "")))
    assert obvious_one.main.left.now.low > 0.9
    assert answers(obvious_one)[3].status == "limit"
    assert "even their hardest candidates" in headline(obvious_one)
    assert alike.main.left.now.low < 0.2 < alike.main.left.now.high
    assert "not distinguishable from chance: the interval allows up to" in headline(alike)
    # the same, with figures of a pool whose hardest candidates give gold away together
    left, found = obvious_one.main.left, []
    for fall in (Figure(-0.2, -0.3, -0.1), Figure(-0.1, -0.3, 0.1)):
        denied = replace(left, fall_other=Figure(0.5, 0.4, 0.6), other_fit=Figure(0.05, 0, 0.1), fall_fresh=fall)
        first = replace(obvious_one.filters[0], left=denied)
        said = answers(replace(obvious_one, filters=(first, *obvious_one.filters[1:])))
        found.append(next(one.means for one in said if one.about == "pool"))
    assert "and more often than on the run's distractors: the change is +20.0 points" in found[0]
    assert "and not surely less often than on the run's distractors: the change is +10.0 points" in found[1]


def test_no_change_is_no_negative_zero() -> None:
    assert change(negative(Figure(0.0, 0.0, 0.0))) == "+0.0 points (+0.0 to +0.0)"


def test_the_command_on_the_page_makes_the_page_again(tmp_path: Path) -> None:
    """The folder of the run and --out were left out of it, so that it ran nowhere."""
    run = planted_run(tmp_path, np.full(N, 1000), levels(0, 900))
    given = options(run, out=tmp_path / "why", filters="level")
    diagnose(given)
    page = (tmp_path / "why" / "diagnosis.html").read_text(encoding="utf-8")
    found = re.search(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    assert found
    assert parse(shlex.split(unescape(found[1]))[1:]) == given
