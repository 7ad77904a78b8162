"""Claims about tables that verbs print: they fit a terminal of 80 columns, and nothing of them is lost for that."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import HashFilter, make_pool
from hypothesis import given
from hypothesis import strategies as st
from made_scores import choices, dataset
from made_up_audits import audit, probe, questions

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.diagnostics import Balanced, Diagnostic
from swag_af.cli.datasets.scoring import score_lines
from swag_af.cli.main import main
from swag_af.data.disk.files import write_jsonl
from swag_af.data.instances.instances import Instances
from swag_af.data.runs.findings import Finding
from swag_af.judging.verdicts import Item, Verdict, write_verdicts
from swag_af.reporting.tables.text import audit_lines, audited_lines, table
from swag_af.scoring.options import ScoreOptions
from swag_af.scoring.verb import Scoring, scores_in

WIDTH = 80
NAMES = st.lists(st.text("abc", min_size=1, max_size=20), max_size=9).map(" ".join)
CELLS = st.text("123.", max_size=30)


@given(st.integers(2, 12).flatmap(lambda n: st.lists(st.tuples(NAMES, *[CELLS] * (n - 1)), min_size=1, max_size=5)))
def test_a_table_fits_a_terminal_and_has_every_cell(rows: list[tuple[str, ...]]) -> None:
    lines = table(rows)
    assert max(map(len, lines)) <= WIDTH
    words = sorted(word for line in lines for word in line.split() if set(word) != {"-"})
    n_tables = sum(line.startswith("  -") for line in lines)
    names = [word for row in rows for word in row[0].split()] * n_tables
    assert words == sorted([*names, *(cell for row in rows for cell in row[1:] if cell)])


def test_a_table_that_fits_has_a_line_a_row_and_columns_below_their_heads() -> None:
    assert table([("check", "value"), ("the longest", "1"), ("-", "22")]) == [
        "  check        value",
        "  ------------------",
        "  the longest      1",
        "  -               22",
    ]


def told_of_run() -> list[str]:
    run = filter_pool(make_pool(n=60), HashFilter(), AFOptions(iterations=2, n_negatives=4))
    ranks = (20.0, 40.0, 0.0, 0.0, 0.0)
    one = Finding(0, "ensemble", 0.333, 0.28, 0.38, 0.2, 12_000, 8_000, 5, 0, ranks, "", ())
    return audit_lines(run, [one, replace(one, seed=1), replace(one, iteration=140, low=0.19)])


def told_of_data() -> list[str]:
    data = questions(90)
    made = audit(data, [probe(data, 0.9, input=one, model="fasttext") for one in ("options", "other-context")])
    equally = Balanced(0.8, 0.7, 0.87, 0.5, "found")
    split = Diagnostic(
        "AF108", "second-sentence, fasttext, train to validation", "found", 0.6, "accuracy", "", 0.55, 0.65
    )
    weighed = Diagnostic(
        "AF201", "characters", "found", 0.9, "accuracy", "", 0.88, 0.91, 0.9, 0.1, 12_000, 9, balanced=equally
    )
    return audited_lines(replace(made, diagnostics=(*made.diagnostics, replace(split, chance=0.25, n=12_000), weighed)))


def told_of_scores(data: Instances, folder: Path) -> list[str]:
    rng, files = np.random.default_rng(0), []
    for name, right in (("ours", 0.8), ("theirs", 0.4), ("blind", 0.2)):
        chosen = np.where(rng.random(len(data)) < right, data.answers, rng.integers(2, size=len(data)))
        files.append(folder / f"{name}.jsonl")
        write_jsonl(files[-1], ({"id": one.id, "pred": int(i)} for one, i in zip(data.instances, chosen, strict=True)))
    options = ScoreOptions(dataset(folder / "q.jsonl", data), tuple(files[:2]), blind=(f"no-image={files[2]}",))
    return score_lines(scores_in(Scoring(options)), options)


def told_of_people(folder: Path, printed: pytest.CaptureFixture[str]) -> list[str]:
    verdicts = [
        Verdict(Item(row, (0, 1, 2, 3)), name, ("likely", "unlikely", "unlikely", "gibberish"), k % 2, 2, 12.5)
        for row in range(40)
        for k, name in enumerate(("anna", "bert", "A1B2C3D4E")[: 2 + row % 2])
    ]
    write_verdicts(folder / "verdicts.jsonl", verdicts, "made up")
    main(["verify", "agreement", str(folder / "verdicts.jsonl")])
    return printed.readouterr().out.split("\n")


def test_tables_of_verbs_fit_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of an audit they were 89 to 98 columns wide, of scores 102, of verdicts 96."""
    made = {"run": told_of_run(), "data": told_of_data(), "people": told_of_people(tmp_path, capsys)}
    made["scores"] = told_of_scores(choices(120), tmp_path)
    rules = {name: [line for line in lines if re.fullmatch("  -+", line)] for name, lines in made.items()}
    assert {name: len(found) for name, found in rules.items()} == {"run": 1, "data": 1, "people": 5, "scores": 7}
    assert max(len(line) for found in rules.values() for line in found) <= WIDTH
