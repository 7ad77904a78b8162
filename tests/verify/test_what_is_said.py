"""Claims about what people are told of verdicts: on the card, in the report, on the admin page and on the terminal."""

from html import unescape
from pathlib import Path

import pytest
from verify_people import TOKEN, judge_next, make_client, make_desk, make_run, said, small_pool

from swag_af.cli.main import main
from swag_af.judging.agreement import INTERVALS
from swag_af.judging.verdicts import write_verdicts
from swag_af.verify.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Twelve items of two people, whose verdicts are in `verdicts.jsonl`; nobody picks gold best."""
    run = make_run(small_pool(), tmp_path / "run")
    desk = make_desk(run, annotators_per_item=2, max_annotators_per_item=2)
    for name, best in (("ann", 1), ("bob", 2)):
        while judge_next(desk, name, said("llllll", best=best, second=0)):
            pass
    write_verdicts(tmp_path / "verdicts.jsonl", desk.store.verdicts(), run.pool.unguarded_identity)
    return desk


def test_intervals_are_said_to_be_over_items_with_these_annotators(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, verdicts = tmp_path / "run", tmp_path / "verdicts.jsonl"
    main(["verify", "agreement", str(verdicts)])
    assert INTERVALS in " ".join(capsys.readouterr().out.split())
    release(tmp_path, "--no-screen")
    assert INTERVALS in (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    main(["report", str(run), "--verdicts", str(verdicts), "--no-screen"])
    assert INTERVALS in unescape((run / "report.html").read_text(encoding="utf-8"))
    client = make_client(desk, make_run(small_pool(), run))
    assert INTERVALS in unescape(client.get("/admin", headers={"authorization": f"Bearer {TOKEN}"}).text)


def release(folder: Path, *flags: str) -> None:
    """Release the run with its verdicts."""
    out, verdicts = folder / "dataset", folder / "verdicts.jsonl"
    formats = ("--audit", "none", "--formats", "none")
    main(["release", str(folder / "run"), "--out", str(out), "--verdicts", str(verdicts), *formats, *flags])


def test_the_card_says_that_gold_with_most_points_need_not_have_been_picked_best(desk: Desk, tmp_path: Path) -> None:
    assert not any(verdict.best == 0 for verdict in desk.store.verdicts())
    release(tmp_path, "--no-screen")
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert "`gold0-orig`" in card
    assert (
        "`gold0` had most points (two for best, one for second best, so that of several people none need have" in card
    )
