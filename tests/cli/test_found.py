"""The verb `show` of the folders of `audit` and `prune`."""

from pathlib import Path

import numpy as np
import pytest
from folders import write
from made_up_audits import audit, integrity, probe, questions

from swag_af.auditing.comparison import COMPARISON, compare, comparison_text
from swag_af.auditing.storing import DIAGNOSTICS, save_audit
from swag_af.auditing.verdict import verdict
from swag_af.cli.main import main
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.show import show
from swag_af.data.errors import FormatError
from swag_af.pruning.folder import WORK, open_pruned
from swag_af.pruning.options import PruneOptions
from swag_af.pruning.verb import prune


def told(path: Path, n: int = 3) -> list[str]:
    return show(ShowOptions(path, n=n)).splitlines()


def test_an_audit_is_shown_verdict_first_and_what_was_found(tmp_path: Path) -> None:
    made = audit(questions(100), [probe(questions(100), 0.7)], features={"longest": 0.5}, others=[integrity()])
    save_audit(made, tmp_path / "audit", {"audit.html": "<p>"})
    lines = told(tmp_path / "audit")
    assert lines[0] == f"{tmp_path / 'audit'}: audit"
    assert "100 instances in 30 groups, named by nobody" in lines
    assert verdict(made) in lines
    table = [line.split()[:2] for line in lines if line.startswith("  AF")]
    assert table == [["AF101", "options,"], ["AF201", "longest"], ["AF501", "exact"]]
    assert any("* option" in line for line in lines)
    assert lines[-3:] == [
        f"Page: {tmp_path / 'audit' / 'audit.html'}, for a browser",
        "",
        "Next: swag-af explain AF101; or swag-af prune made.jsonl --out pruned",
    ]
    assert not any("* option" in line for line in told(tmp_path / "audit", n=0))


def test_an_audit_beside_an_older_one_is_shown_with_what_changed(tmp_path: Path) -> None:
    data = questions(100)
    before, after = (audit(data.take(range(n)), [probe(data.take(range(n)), 0.7)]) for n in (100, 60))
    compared = compare(before, after, lambda cut: audit(cut, [probe(cut, 0.7)]))
    save_audit(after, tmp_path / "audit", {COMPARISON: comparison_text(compared)})
    lines = told(tmp_path / "audit")
    assert "made-up has 100 instances, made-up 60; 60 are in both, by id." in lines
    assert not any(line.startswith("Page") for line in lines)


def test_a_damaged_audit_is_told_by_file_and_line(tmp_path: Path) -> None:
    save_audit(audit(questions(12), [], others=[integrity()]), tmp_path / "audit")
    (tmp_path / "audit" / DIAGNOSTICS).write_text('{"code": 5}\n')
    with pytest.raises(FormatError, match=f"{DIAGNOSTICS}: line 1"):
        told(tmp_path / "audit")


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, rng = tmp_path_factory.mktemp("found"), np.random.default_rng(0)
    words = [f"w{k}" for k in range(40)]
    rows = []
    for i in range(60):
        options = [" ".join(rng.choice(words, 5)) for _ in range(3)]
        options[i % 3] += " indeed it is" if i % 4 else ""
        rows.append({"id": f"q{i}", "question": f"{i}?", "choices": options, "label": i % 3})
    data = root / "data.jsonl"
    write(data, rows)
    quick = {"partitions": 6, "slice_share": 0.1, "draws": 2, "points": 1, "folds": 2}
    prune(PruneOptions((data,), root / "pruned", audit_models="tfidf", **quick))
    return root / "pruned"


def test_a_pruned_folder_is_shown_and_leads_to_the_audit_after(
    pruned: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = told(pruned, n=2)
    about = open_pruned(pruned).about
    assert lines[0] == f"{pruned}: prune"
    assert f"{about.n - about.n_kept:,} of 60 instances removed" in lines[2]
    assert any(line.startswith("AF101 options, tfidf:") for line in lines)
    first = lines.index("The first that went:")
    assert "in round 1" in lines[first + 1]
    assert lines[first + 3] == ""
    assert lines[-1] == f"Next: swag-af show {pruned / 'after'}, the audit of what is kept"
    main(["show", str(pruned / "after")])
    assert "Next: swag-af explain" in capsys.readouterr().out


def test_where_nothing_was_removed_the_audit_of_the_data_is_next(tmp_path: Path) -> None:
    """ "Keep the data as it is" was said, of data whose leaks stay."""
    rows = [{"id": f"q{i}", "question": f"{i}?", "choices": [f"a{i} b", f"c{i} d"], "label": i % 2} for i in range(30)]
    data = tmp_path / "data.jsonl"
    write(data, rows)
    quick = {"partitions": 12, "draws": 2, "points": 1, "folds": 2, "threshold": 1.0}
    prune(PruneOptions((data,), tmp_path / "pruned", audit_models="tfidf", **quick))
    lines = told(tmp_path / "pruned")
    assert "0 of 30 instances removed" in lines[2]
    assert f"Page: {tmp_path / 'pruned' / 'before' / 'audit.html'}, for a browser" in lines
    assert lines[-1] == f"Next: swag-af show {tmp_path / 'pruned' / 'before'}, the audit of the data"


def test_a_folder_that_prune_has_not_finished_is_told(tmp_path: Path) -> None:
    (tmp_path / WORK).mkdir()
    (tmp_path / WORK / "begun.json").write_text("{}")
    lines = told(tmp_path)
    assert lines == [f"{tmp_path}: prune", "", "not finished", "", lines[-1]]
    assert lines[-1] == "Next: the command that began it goes on from here"
