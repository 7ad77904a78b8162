"""Claims about length that reveals gold: it is told with an interval, and lengths that say nothing are not."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.context import Context
from swag_af.data.numbers.interval import interval
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text import surface
from swag_af.data.text.lengths import RULES, LengthHits, warning_lines
from swag_af.data.text.surface import SurfaceFinding, SurfaceWarning

Lengths = list[tuple[list[int], list[int]]]
"""Characters and tokens of the endings of each row, gold first."""
LENGTHS = st.lists(
    st.integers(2, 6).flatmap(lambda m: st.tuples(*[st.lists(st.integers(1, 4), min_size=m, max_size=m)] * 2)),
    min_size=1,
    max_size=12,
)


def found_in(rows: Lengths, groups: np.ndarray) -> list[SurfaceFinding]:
    hits = LengthHits()
    for characters, tokens in rows:
        hits.add(characters, tokens)
    return hits.findings(groups)


def slow_twin(rows: Lengths, rule: str) -> np.ndarray:
    """(N,) how far the rule finds gold in each row: 1/t where gold is one of t that are the longest or the shortest."""
    hits = []
    for row in rows:
        lengths = row["tokens" in rule]
        best = sorted(lengths)[-1 if "most" in rule else 0]
        hits.append(lengths.count(best) ** -1.0 if lengths[0] == best else 0.0)
    return np.array(hits)


@settings(max_examples=100)
@given(rows=LENGTHS, seed=st.integers(0, 9))
def test_each_rule_gives_what_trying_it_in_every_row_gives(rows: Lengths, seed: int) -> None:
    groups = np.unique(np.random.default_rng(seed).integers(4, size=len(rows)), return_inverse=True)[1]
    chance = float(np.mean([1 / len(characters) for characters, _ in rows]))
    expected = {}
    for rule in RULES:
        hits = slow_twin(rows, rule)
        low, high = interval(hits, groups)
        if hits.mean() - chance > 1e-6 and low > chance:
            expected[rule] = (hits.mean(), chance, low, high)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(surface, "MATTERS", 1e-9)
        patched.setattr(surface, "_LOG_ALLOWED", 0.0)
        found = {one.feature: (one.accuracy, one.chance, one.low, one.high) for one in found_in(rows, groups)}
    assert found.keys() == expected.keys()
    for rule, told in found.items():
        assert told == pytest.approx(expected[rule], abs=1e-5)


def endings(rng: np.random.Generator, lengths: np.ndarray) -> list[str]:
    return [
        " ".join(rng.choice(["kab", "lom", "din", "bet"], n)) + f" {i}{rng.integers(1000)}."
        for i, n in enumerate(lengths)
    ]


def pool_of(gold: int, others: int, *, n_videos: int = 200) -> CandidatePool:
    """200 rows of eight endings, gold of up to `gold` words and the others of up to `others`."""
    rng = np.random.default_rng(0)
    rows = [endings(rng, np.r_[rng.integers(4, gold + 1), rng.integers(4, others + 1, 7)]) for _ in range(200)]
    contexts = [Context("A man waits.", "He", row[0], video=f"v{i % n_videos}") for i, row in enumerate(rows)]
    return CandidatePool.from_texts(contexts, [row[1:] for row in rows], tagger="none")


def test_endings_that_are_longer_than_gold_are_warned_of_and_the_rest_is_said_once() -> None:
    with pytest.warns(SurfaceWarning, match="choosing the ending that has the fewest") as warned:
        leaking = pool_of(6, 14)
    assert str(warned[0].message).count("finds gold in") == 1
    first = leaking.manifest["surface"][0]
    assert first["chance"] == 0.125
    assert first["chance"] < 0.3 < first["low"] < first["accuracy"] < first["high"]
    assert {one["feature"] for one in leaking.manifest["surface"]} == {
        "has the fewest characters",
        "has the fewest tokens",
    }


def test_a_few_groups_make_the_interval_wide_and_one_group_tells_nothing() -> None:
    with pytest.warns(SurfaceWarning):
        many, few = (pool_of(6, 14, n_videos=n).manifest["surface"][0] for n in (200, 4))
    assert few["accuracy"] == many["accuracy"]
    assert few["high"] - few["low"] > many["high"] - many["low"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pool_of(6, 14, n_videos=1).manifest["surface"] == []


def test_lengths_that_say_nothing_are_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pool_of(9, 9).manifest["surface"] == []


def test_what_to_do_fits_what_was_found() -> None:
    length = {"feature": "has the most tokens", "rule": "has", "accuracy": 0.8, "chance": 0.25, "low": 0.7, "high": 0.9}
    form = {"feature": "has dashes", "rule": "has", "accuracy": 0.8, "chance": 0.25}
    counts = {"n_rows": 100, "n_differing": 90, "z": 9.0}
    of_length, of_form = ([{**one, **counts}] for one in (length, form))
    said = warning_lines(of_length, normalised=True)
    assert "has the most tokens finds gold in 80.0 % (70.0 to 90.0) of 100 rows (chance 25.0 %;" in said[0]
    assert "--max-tokens" in said[1]
    assert "one surface form" not in said[1]
    assert "--max-tokens" not in warning_lines(of_form, normalised=False)[1]
    assert len(warning_lines([*of_form, *of_length], normalised=False)) == 3
    assert warning_lines([], normalised=False) == []
