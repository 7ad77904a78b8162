"""Claims about rationales that some rows have: they are matched in the folds where they stand, or refused before."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from swag_af.data.disk.files import read_json, read_jsonl, write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.runs.run import open_run
from swag_af.matching.algorithm.work import Plan, plan_of
from swag_af.matching.options import MatchOptions
from swag_af.matching.results.cautions import cautions_of_plan
from swag_af.matching.verb import dry_run, match
from tests.matching.test_work import OPTIONS, made


def options_of(folder: Path, folds: Collection[int]) -> MatchOptions:
    """Of rows that have a rationale where they are dealt into one of `folds`, of three."""
    items = made()
    rows = []
    for item, fold in zip(items.rows, plan_of(items, OPTIONS).folds.tolist(), strict=True):
        one = item.context
        rows.append({"id": one.id, "query": item.query, "response": item.response, "group": one.video})
        rows[-1] |= {"rationale": f"since {one.id} {item.response}"} if fold in folds else {}
    write_jsonl(folder / "rows.jsonl", rows)
    return MatchOptions((folder / "rows.jsonl",), folder / "matched", matching=OPTIONS)


@pytest.mark.parametrize("folds", [(0, 1), (0, 2), (1, 2)])
def test_rationales_of_some_folds_are_matched_in_those(folds: tuple[int, ...], tmp_path: Path) -> None:
    """A fold without any ended the matching when all answers were matched."""
    matched = match(options_of(tmp_path, folds))
    rows = [row for _, row in read_jsonl(matched.path / "matched.jsonl")]
    fold_of = {row["annot_id"]: row["match_fold"] for row in rows}
    having = [row for row in rows if "rationale_choices" in row]
    assert {row["match_fold"] for row in having} == set(folds)
    for row in having:
        assert {fold_of[source] for source in row["rationale_sources"]} == {row["match_fold"]}
    assert matched.rationales is not None
    assert matched.rationales.n == len(having)
    run = open_run(matched.path / "rationales" / "run")
    assert run.matching is not None
    assert any(f"{len(having)} rows in 2 folds" in line for line in run.matching["said"])
    assert len(read_json(matched.path / "matched.json")["folds"]) == 3


def test_rationales_of_one_fold_are_refused_before_any_work(tmp_path: Path) -> None:
    options = options_of(tmp_path, (1,))
    for verb in (match, dry_run):
        with pytest.raises(InputError, match=r"rationales: all \d+ rows are in one fold.*leave the rationales out"):
            verb(options)
    assert not options.out.exists()
    assert match(replace(options, pairs=replace(options.pairs, rationale_column=""))).rationales is None


def test_folds_without_a_row_are_no_small_folds() -> None:
    items = made()
    plan = plan_of(items, OPTIONS)
    assert cautions_of_plan(items, Plan(2 * plan.folds, plan.buckets)) == []
    few = items.take(np.flatnonzero(plan.folds != 1)[:90])
    assert "smallest of 2 folds" in cautions_of_plan(few, Plan(np.arange(90) % 2 * 2, plan.buckets))[0]
