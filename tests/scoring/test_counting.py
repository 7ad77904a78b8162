"""Claims about the check of percentages against whole counts; the paper's figures are facts."""

import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow.scoring import by_luck, prints_as

from swag_af import counts
from swag_af.data.errors import InputError
from swag_af.scoring.options import CountCheckOptions
from swag_af.scoring.told import check_rows, check_sentences

PAPER = Path(__file__).resolve().parents[3] / "shared" / "papers" / "vcr_cs_pint_kim2023.txt"
TABLE_2 = {
    "ViLBERT": (("62.89", "41.50", "21.38"), "50.75", 159, (100, 66, 34), (34, 67)),
    "UNITER": (("61.84", "43.42", "19.74"), "46.88", 152, (94, 66, 30), (30, 64)),
    "VILLA": (("61.18", "42.76", "20.39"), "47.69", 152, (93, 65, 31), (31, 65)),
    "VL-BART": (("70.44", "38.99", "24.52"), "59.09", 159, (112, 62, 39), (39, 66)),
    "VL-T5": (("69.18", "42.13", "23.89"), "49.35", 159, (110, 67, 38), (38, 77)),
    "PINT": (("61.84", "46.71", "25.66"), "58.21", 152, (94, 71, 39), (39, 67)),
    "Human": (("91.64", "92.40", "87.84"), "93.78", 395, (362, 365, 347), (347, 370)),
}
"""Rows of VCR-CS's Table 2, the number that they are shares of, the counts, and the sensitivity's."""


@pytest.mark.parametrize("row", TABLE_2)
def test_the_rows_of_the_table_are_counts(row: str) -> None:
    percentages, sensitivity, n, expected, pair = TABLE_2[row]
    check = counts(percentages, n, sensitivity)
    assert tuple(one.least for one in check.shares) == tuple(one.most for one in check.shares) == expected
    assert check.sensitivity is not None
    assert check.sensitivity.pairs == (pair,)
    assert check.is_possible


@pytest.mark.parametrize("row", ["UNITER", "VILLA", "PINT"])
def test_three_rows_are_shares_of_152_and_not_of_159(row: str) -> None:
    check = counts(TABLE_2[row][0], 159)
    assert not check.is_possible
    assert check.others == (152,)


def test_one_sensitivity_is_impossible_beside_its_consistency() -> None:
    check = counts(["69.18", "39.62", "24.52"], 159, "38.36")
    assert [one.fit for one in check.shares] == ["rounded", "rounded", "cut"]
    assert check.sensitivity is not None
    assert (check.sensitivity.fit, check.sensitivity.pairs) == ("no", ((39, 101), (39, 102)))
    assert not check.is_possible


def test_the_table_is_that_of_the_paper() -> None:
    if not PAPER.exists():
        pytest.skip("no papers at ../shared/papers")
    lines = re.sub(r"</?u>", "", PAPER.read_text(encoding="utf-8")).splitlines()
    for row, (percentages, sensitivity, *_) in TABLE_2.items():
        line = next(line for line in lines if line.startswith(f"| {row} ") or line.startswith(f"| {row}("))
        assert re.findall(r"(?<![-+.\d])\d\d\.\d\d", line) == [*percentages, sensitivity]


@given(st.integers(1, 400), st.integers(0, 3), st.data())
def test_every_share_is_found_as_one_by_one(n: int, digits: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 100 * 10**digits))
    printed = f"{number / 10**digits:.{digits}f}"
    (share,) = counts([printed], n, near=0).shares
    ways = {k: prints_as(k, n, printed) for k in range(n + 1)}
    best = next((fit for fit in ("rounded", "cut") if fit in ways.values()), "no")
    assert share.fit == best
    if best != "no":
        assert [k for k, fit in ways.items() if fit == best] == list(range(share.least, share.most + 1))


@pytest.mark.parametrize(("n", "digits"), [(1, 0), (7, 0), (8, 0), (40, 0), (99, 0), (100, 0), (16, 1), (80, 1)])
@pytest.mark.parametrize("cut", [False, True])
def test_luck_is_the_share_of_all_percentages_that_fit(n: int, digits: int, cut: bool) -> None:
    """Where shares fall on a half it was too low: both neighbours of 12.5 % are 1 of 8, and 12 was not counted."""
    every = [f"{number / 10**digits:.{digits}f}" for number in range(100 * 10**digits + 1)]
    fit = "cut" if cut else "rounded"
    one = next((one for one in every if counts([one], n, near=0).shares[0].fit == fit), None)
    if one is not None:
        assert counts([one], n, near=0).by_luck == pytest.approx(by_luck(n, digits, cut=cut))


@given(st.integers(1, 60), st.integers(0, 2), st.data())
def test_every_sensitivity_is_found_as_one_by_one(n: int, digits: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    number = data.draw(st.integers(0, 100 * 10**digits))
    printed, consistency = f"{number / 10**digits:.{digits}f}", f"{100 * k / n:.6f}"
    found = counts([consistency], n, printed, near=0).sensitivity
    assert found is not None
    ways = {(k, m): prints_as(k, m, printed) for m in range(max(k, 1), n + 1)}
    best = next((fit for fit in ("rounded", "cut") if fit in ways.values()), "no")
    assert found.fit == best
    if best != "no":
        assert set(found.pairs) <= {pair for pair, fit in ways.items() if fit == best}
        assert len(found.pairs) == min(10, sum(fit == best for fit in ways.values()))


@given(st.integers(1, 60), st.integers(0, 2), st.integers(0, 2), st.data())
def test_the_first_pairs_of_all_are_told(n: int, digits: int, of_k: int, data: st.DataObject) -> None:
    """By the list of all, k by k, of which the first ten are told."""
    consistency, printed = (
        f"{data.draw(st.integers(0, 100 * 10**some)) / 10**some:.{some}f}" for some in (of_k, digits)
    )
    check = counts([consistency], n, printed, near=0)
    assert check.sensitivity is not None
    ks = range(check.shares[0].least, check.shares[0].most + 1)
    for fit in ("rounded", "cut"):
        listed = [(k, m) for k in ks for m in range(max(k, 1), n + 1) if prints_as(k, m, printed) == fit]
        if fit == check.sensitivity.fit:
            assert check.sensitivity.pairs == tuple(listed[:10])


def test_a_sensitivity_of_many_things_is_told_in_little_memory() -> None:
    """All pairs were listed, of which ten are told: of 100,000 things in 39 seconds and 262 MB."""
    tracemalloc.start()
    found = counts(["50"], 20_000, "50").sensitivity
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found is not None
    assert (found.fit, len(found.pairs), found.pairs[0]) == ("rounded", 10, (9_900, 19_604))
    assert peak < 1_000_000


@pytest.mark.parametrize("wrong", ["101", "-3", "x", "12.1234567", ""])
def test_what_is_no_percentage_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="no percentage"):
        counts([wrong], 100)
    with pytest.raises(InputError, match="no percentage"):
        CountCheckOptions((wrong,), 100)


def test_the_faults_of_the_options_are_told_together() -> None:
    with pytest.raises(InputError, match=r"no percentages.*--n N: how many things.*--near"):
        CountCheckOptions((), near=-1)


def test_a_percentage_may_have_its_sign() -> None:
    for printed in ("85.2%", "85.2 %", "85.2"):
        assert counts([printed], 108).shares[0].printed == "85.2"
        assert CountCheckOptions((printed,), 108).percentages == (printed,)


def test_how_many_more_numbers_fit_is_said() -> None:
    sentences = check_sentences(counts(["0", "100"], 7, near=10))
    assert "The percentages fit 6, 8, 5, 9, 4, 10, 3, 11 and 8 more near by (rounded)." in sentences


@pytest.mark.parametrize(
    ("consistency", "sensitivity", "said"),
    [
        ("21.38", "10", "below 34 of 159"),
        ("24.52", "38.36", "between 39 of 102 and 39 of 101"),
        ("19.74", "46.88", "between 31 of 67 and 31 of 66; between 32 of 69 and 32 of 68"),
    ],
)
def test_what_is_next_to_an_impossible_sensitivity_is_said(consistency: str, sensitivity: str, said: str) -> None:
    assert check_rows(counts([consistency], 159, sensitivity))[2][1:] == (said, "impossible")


@pytest.mark.parametrize(("n", "decimals"), [(159, 2), (7, 1), (99, 1), (101, 1)])
def test_how_many_percentages_fit_by_luck_is_counted(n: int, decimals: int) -> None:
    """Of 41.50 of 159, which fits as cut alone, the probability was that of percentages that fit as rounded."""
    printed = [f"{i / 10**decimals:.{decimals}f}" for i in range(100 * 10**decimals)]
    fits = {one: counts([one], n, near=0).shares[0].fit for one in printed}
    cut = next((one for one, fit in fits.items() if fit == "cut"), None)
    if cut is not None:
        accepted = sum(fit != "no" for fit in fits.values()) / len(printed)
        assert counts([cut], n).by_luck == pytest.approx(accepted, abs=2 / len(printed))
        assert counts([cut, cut], n).by_luck == pytest.approx(counts([cut], n).by_luck ** 2)


def test_one_percentage_may_stand_alone_and_numbers_that_are_none_are_refused() -> None:
    text: Any = "10"
    assert counts(41.5, 200) == counts([41.5], 200)
    with pytest.raises(InputError, match="counts of 10"):
        counts([41.5], text)
