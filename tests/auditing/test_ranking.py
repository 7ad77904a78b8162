"""Hits and probabilities over answers that lie flat agree with a loop over instances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.data.instances.instances import Instance, Instances

ROWS = st.lists(
    st.lists(st.integers(-3, 3), min_size=2, max_size=5).flatmap(
        lambda scores: st.tuples(st.just(scores), st.integers(0, len(scores) - 1))
    ),
    min_size=1,
    max_size=8,
)


@given(ROWS)
def test_both_are_those_of_a_loop(rows: list[tuple[list[int], int]]) -> None:
    instances = Instances(
        tuple(Instance(str(i), "", ("o",) * len(scores), answer) for i, (scores, answer) in enumerate(rows)), "choices"
    )
    flat = np.array([score for scores, _ in rows for score in scores], float)
    top = [scores.count(max(scores)) for scores, _ in rows]
    expected = [(scores[gold] == max(scores)) / n for (scores, gold), n in zip(rows, top, strict=True)]
    assert np.allclose(hits(flat, instances), expected)
    shares = [np.exp(scores[gold]) / np.exp(scores).sum() for scores, gold in rows]
    assert np.allclose(gold_probabilities(flat, instances), shares)
