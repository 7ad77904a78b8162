"""Claims about who is screened out, on items of six endings and of fewer, and about what is said of it."""

import random
from html import unescape
from pathlib import Path

import pytest
from verify_people import make_run, small_pool

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json
from swag_af.judging.agreement import agreement_rows, measure
from swag_af.judging.screening import NOBODY_SCREENED, chance_of, needed_share, screened
from swag_af.judging.verdicts import Item, Verdict, write_verdicts


def verdict(row: int, name: str, n_endings: int, *, is_gold: bool) -> Verdict:
    """Gold best, or neither best nor second where there are other endings for both."""
    best, second = (0, 1) if is_gold or n_endings < 3 else (1, 2)
    return Verdict(Item(row, tuple(range(n_endings))), name, ("likely",) * n_endings, best, second)


def of(n_gold: int, n_items: int, n_endings: int, name: str = "a", first: int = 0) -> list[Verdict]:
    return [verdict(first + row, name, n_endings, is_gold=row < n_gold) for row in range(n_items)]


@pytest.mark.parametrize(
    ("n_endings", "chance", "needed"), [(6, 1 / 3, 0.55), (4, 0.5, 0.6625), (3, 2 / 3, 0.775), (2, 1.0, 1.0)]
)
def test_what_is_needed_is_as_far_above_chance_as_the_paper_s_of_six_endings(
    n_endings: int, chance: float, needed: float
) -> None:
    """It was 0.55 of any, which chance passes on items of three."""
    assert (chance_of({n_endings: 7}), needed_share({n_endings: 7})) == (chance, needed)


def test_few_who_guess_on_items_of_four_endings_are_kept() -> None:
    """Four in ten were. Of 20 items luck gives 14 or more, which is enough, to 5.8 %."""
    rng = random.Random(0)
    verdicts = [
        Verdict(Item(row, tuple(range(4))), f"a{name}", ("likely",) * 4, *rng.sample(range(4), 2))
        for name in range(300)
        for row in range(20)
    ]
    assert 0.9 < len(screened(verdicts)) / 300 < 0.98
    assert 0.5 < len(screened(verdicts, min_rate=0.55)) / 300 < 0.7


@pytest.mark.parametrize(
    ("n_gold", "is_kept"),
    [((53, 0), True), ((52, 0), False), ((25, 72), True), ((25, 71), False)],
)
def test_a_share_that_just_reaches_what_is_needed_is_enough_whatever_the_items(
    n_gold: tuple[int, int], is_kept: bool
) -> None:
    """0.6625 of 80 items of four endings are 53; of as many of six and of four together, 0.60625 of 160 are 97."""
    of_four, of_six = n_gold
    both = of(of_four, 80, 4) + (of(of_six, 80, 6, first=80) if of_six else [])
    assert screened(both) == (set() if is_kept else {"a"})


def test_of_two_endings_nobody_is_screened_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_verdicts(tmp_path / "v.jsonl", of(0, 30, 2), "pool")
    main(["verify", "agreement", str(tmp_path / "v.jsonl")])
    assert NOBODY_SCREENED in capsys.readouterr().out
    assert screened(of(0, 30, 2)) == set()


def test_agreement_says_what_is_needed_and_what_chance_is_and_who_would_be_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --no-screen the table called people dropped who are counted."""
    write_verdicts(tmp_path / "v.jsonl", [*of(16, 20, 4, "ann"), *of(12, 20, 4, "bob")], "pool")
    for flags, called, n_counted in ([[], "yes", 1], [["--no-screen"], "would be", 2]):
        main(["verify", "agreement", str(tmp_path / "v.jsonl"), "--json", str(tmp_path / "a"), "--force", *flags])
        lines = capsys.readouterr().out.splitlines()
        (bob,) = [line.split() for line in lines if line.strip().startswith("bob")]
        assert bob[1:6] == ["20", "60.0", "%", "66.2", "%"]
        assert " ".join(bob).endswith(f"% {called}")
        assert any("(chance 50.0 %)" in line and "gold in the best two" in line for line in lines)
        is_told = any("in under 66.2 % of 10 items or more (chance 50.0 %)" in line for line in lines)
        assert is_told is (n_counted == 1)
        assert [one["counts"] for one in read_json(tmp_path / "a")["annotators"]].count(True) == n_counted


def test_chance_beside_the_share_of_gold_is_the_mean_over_verdicts() -> None:
    found = measure([*of(5, 10, 6), *of(5, 30, 4, first=10)])
    assert found.gold_chance == pytest.approx((10 / 3 + 30 / 2) / 40)
    assert any("(chance 45.8 %)" in row[0] for row in agreement_rows(found))


def test_card_and_report_say_what_is_needed_and_what_chance_is(tmp_path: Path) -> None:
    run = make_run(small_pool(), tmp_path / "run", n_assigned=4)
    items = [Item(row, tuple(sorted(columns))) for row, columns in enumerate(run.assignment().tolist())]
    said = [Verdict(item, "ann", ("likely",) * 4, 0, 1) for item in items]
    said += [Verdict(item, "bob", ("likely",) * 4, *((0, 1) if i < 7 else (1, 2))) for i, item in enumerate(items)]
    path = tmp_path / "v.jsonl"
    write_verdicts(path, said, run.pool.unguarded_identity)
    rule = "in under 66.2 % of 10 items or more (chance 50.0 %)"
    quick = ("--audit", "none", "--formats", "none", "--n-distractors", "2")
    main(["release", str(run.path), "--verdicts", str(path), "--out", str(tmp_path / "dataset"), *quick])
    card = (tmp_path / "dataset" / "README.md").read_text(encoding="utf-8")
    assert f"1 of them were dropped, with 12 verdicts, for ranking gold among their two best {rule}" in card
    main(["report", str(run.path), "--verdicts", str(path), "--out", str(tmp_path / "report.html")])
    assert rule in unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
