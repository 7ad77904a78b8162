"""Claims about what audits are said to mean: the same in the terminal, in the report and in the card."""

import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import HashFilter, make_pool

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_run
from swag_af.auditing.runs.summary import (
    BELOW_MEANS,
    UNDECIDED,
    against_chance,
    audit_rows,
    below_lines,
    comparison_lines,
    comparisons,
    not_asked,
)
from swag_af.data.context import Context
from swag_af.data.numbers.interval import paired_difference
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import Finding, over_seeds
from swag_af.data.runs.run import Run
from swag_af.filters.registry import label_of
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.verb import release
from swag_af.reporting.tables.text import audit_lines, run_lines
from swag_af.reporting.verb import write_report

SIX = AFOptions(iterations=6, n_negatives=4, seed=5)


@pytest.fixture(scope="module")
def run() -> Run:
    """Six iterations, in memory, of 60 contexts of ten videos."""
    return filter_pool(make_pool(n=60), HashFilter(), SIX)


def finding(run: Run, iteration: int, hits: np.ndarray, *, seed: int = 0, name: str = "fresh") -> Finding:
    """One whose hits are made up."""
    p, n = float(hits.mean()), len(hits)
    ranks = (float(hits.sum()), n - float(hits.sum()), 0.0, 0.0, 0.0)
    return Finding(iteration, name, p, max(0, p - 0.05), p + 0.05, 0.2, n, 10, 5, seed, ranks, "", tuple(hits))


def hits_of(n: int, first: int) -> np.ndarray:
    """`n` hits, the `first` of which are 1."""
    return (np.arange(n) < first).astype(float)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("ngrams", "n-gram regression"),
        ("ngrams[longest=1]", "n-gram regression (longest=1)"),
        ("encoder[/home/somebody/models/minilm,inputs=second]", "frozen encoder (models/minilm, inputs=second)"),
        ("encoder[/minilm]", "frozen encoder (minilm)"),
        ("transformer[bert]", "fine-tuned transformer (bert)"),
        ("judge[http://host:8000/v1,model=a/b/c]", "zero-shot judge (http://host:8000/v1, model=a/b/c)"),
        ("my.package:Filter", "my.package:Filter"),
    ],
)
def test_a_filter_has_a_short_name_without_the_path_of_a_machine(name: str, label: str) -> None:
    assert label_of(name) == label


def test_what_was_asked_is_not_said_to_be_unasked(run: Run) -> None:
    plain = finding(run, 0, hits_of(60, 20), name="ngrams")
    assert "what pretrained models find" in not_asked([plain])
    for name in ("encoder[/models/minilm]", "transformer[bert]", "judge[http://host]"):
        told = not_asked([plain, finding(run, 0, hits_of(60, 20), name=name)])
        assert "what larger pretrained models find" in told


# ---------------------------------------------------------------------------------------------- before against after


def test_a_difference_is_paired_over_the_seeds_that_both_have(run: Run) -> None:
    n = len(run.pool)
    before = [finding(run, 0, hits_of(n, 30 + seed), seed=seed) for seed in range(3)]
    after = [finding(run, 6, hits_of(n, 20 + 3 * seed), seed=seed) for seed in range(2)]
    (found,) = comparisons(run, [*after, *before])
    expected = paired_difference(
        np.mean([f.hits for f in before[:2]], axis=0),
        np.mean([f.hits for f in after], axis=0),
        run.pool.groups,
    )
    assert found.difference == expected
    assert found.by_seed == pytest.approx((-10 / n, -8 / n))


def test_a_change_that_can_be_told_and_one_that_cannot(run: Run) -> None:
    n = len(run.pool)
    steady = [finding(run, 0, hits_of(n, 30)), finding(run, 6, hits_of(n, 29))]
    fallen = [finding(run, 0, hits_of(n, 60)), finding(run, 6, hits_of(n, 10))]
    assert comparison_lines(run, steady)[0].endswith("; no significant change.")
    assert comparison_lines(run, fallen)[0].endswith("paired by context, 10 groups).")


def test_the_sentence_says_every_number(run: Run) -> None:
    n = len(run.pool)
    found = [finding(run, at, hits_of(n, k), seed=s) for s, at, k in [(0, 0, 60), (0, 6, 12), (1, 0, 60), (1, 6, 18)]]
    (said,) = comparison_lines(run, found)
    assert re.fullmatch(
        r"fresh: 1\.000 before, 0\.250 after 6 iterations: difference -0\.750 "
        r"\(95 % interval -\d\.\d{3} to -\d\.\d{3}, "
        r"paired by context, 10 groups; 2 seeds: -0\.800 to -0\.700\)\.",
        said,
    )
    (worded,) = comparison_lines(run, found, words=True)
    assert "difference \N{MINUS SIGN}75.0 points" in worded


def test_a_run_audited_at_one_iteration_or_with_other_seeds_has_no_difference(run: Run) -> None:
    hits = hits_of(len(run.pool), 30)
    assert comparisons(run, [finding(run, 6, hits)]) == []
    assert comparisons(run, [finding(run, 0, hits)]) == []
    assert comparisons(run, [finding(run, 0, hits, seed=1), finding(run, 6, hits, seed=2)]) == []


def test_of_a_run_that_swapped_nothing_no_interval_is_told() -> None:
    pool = make_pool(n=60, fewest=4, most=4)
    run = filter_pool(pool, HashFilter(), replace(SIX, n_negatives=4, iterations=2))
    assert not any(record.n_replaced for record in run.log)
    (line,) = comparison_lines(run, [finding(run, i, hits_of(60, 20)) for i in (0, 2)])
    assert line.endswith(
        "0.333 before, 0.333 after 2 iterations; no ending was swapped, so these are the same questions."
    )


def test_seeds_have_a_column_where_there_are_several(run: Run) -> None:
    hits = hits_of(len(run.pool), 30)
    one, two = finding(run, 6, hits), finding(run, 6, hits, seed=1)
    assert "seeds" not in audit_rows(run, [one])[0]
    header, row = audit_rows(run, [one, two])
    assert dict(zip(header, row, strict=True))["seeds"] == "2"


# -------------------------------------------------------------------------------------------------------- chance


@pytest.mark.parametrize(("low", "high", "said"), [(0.21, 0.4, "above"), (0.1, 0.3, UNDECIDED), (0.0, 0.19, "below")])
def test_a_finding_is_told_from_chance_by_its_interval_alone(run: Run, low: float, high: float, said: str) -> None:
    one = replace(finding(run, 6, hits_of(len(run.pool), 12)), low=low, high=high)
    assert against_chance(one) == said
    assert said in audit_rows(run, [one])[1]


def test_nothing_is_said_of_what_lies_at_chance_or_above(run: Run) -> None:
    assert below_lines(run, [finding(run, 6, hits_of(len(run.pool), 40))]) == []


def test_below_chance_the_counts_of_shared_texts_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    below = [finding(run, 6, hits_of(len(run.pool), 0))]
    assert "Likely here" not in below_lines(run, below)[-1]
    shared = {"n_rows": 31, "n_golds_among_negatives": 1234, "kept_together": False}
    monkeypatch.setitem(run.pool.manifest, "shared_texts", shared)
    assert "1,234 negatives are the gold of another row" in below_lines(run, below)[-1]
    monkeypatch.setitem(run.pool.manifest, "shared_texts", dict.fromkeys(shared, 0))
    assert "Likely here" not in below_lines(run, below)[-1]


def recycled(n: int = 60) -> CandidatePool:
    """Every negative is the gold of another row."""
    contexts = [
        Context(f"A man waits {i}.", "He", f"lifts box{i} over fence{i} quickly.", video=f"v{i}") for i in range(n)
    ]
    negatives = [[contexts[(i + k) % n].gold for k in range(1, 8)] for i in range(n)]
    return CandidatePool.from_texts(contexts, negatives, tagger="rules")


@pytest.fixture(scope="module")
def avoided(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two iterations on such a pool, audited before and after."""
    pytest.importorskip("sklearn")
    options = AFOptions(iterations=2, n_negatives=4)
    made = filter_pool(recycled(), HashFilter(), options, out=tmp_path_factory.mktemp("runs") / "run")
    audit_run(made, AuditPlan([0, 2], ["ngrams"], seeds=range(2)))
    return made


def test_golds_that_are_negatives_elsewhere_teach_a_fit_to_avoid_them(avoided: Run) -> None:
    found = over_seeds(audit_run(avoided, AuditPlan([0, 2], ["ngrams"], seeds=range(2))))
    assert [against_chance(one) for one, _ in found] == ["below", "below"]


def test_the_terminal_names_what_is_below_chance(avoided: Run) -> None:
    said = "\n".join(run_lines(avoided))
    assert "ngrams is below chance (0.200): 0." in said
    assert BELOW_MEANS in said


def test_the_report_names_what_is_below_chance(avoided: Run, tmp_path: Path) -> None:
    write_report(avoided, tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    head, _, body = page.partition("</header>")
    assert f"Below chance: n-gram regression. {BELOW_MEANS}" in head
    assert "n-gram regression is below chance" in body
    assert BELOW_MEANS in body


def test_the_card_names_what_is_below_chance(avoided: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
    release(ReleaseOptions(avoided.path, tmp_path / "dataset", audit="ngrams"))
    card = (tmp_path / "dataset" / "README.md").read_text()
    assert "Below chance is a finding too" in card.partition("\n## ")[0]
    assert "ngrams is below chance (0.250): 0." in card.partition("## What style gives away")[2]
    assert BELOW_MEANS in card


def test_every_place_says_the_same_of_before_and_after(avoided: Run, tmp_path: Path) -> None:
    found = audit_run(avoided, AuditPlan([0, 2], ["ngrams"], seeds=range(2)))
    write_report(avoided, tmp_path / "page.html")
    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert comparison_lines(avoided, found)[0] in audit_lines(avoided, found)
    assert comparison_lines(avoided, found, words=True)[0] in page
    assert "Fresh fits of n-gram regression, which took no part, find gold in " in page
