"""A result is shown in a line or two, however much it holds."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swag_af import Context
from swag_af.data.display.brief import brief
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.run import Run


@brief
@dataclass(frozen=True, slots=True)
class Result:
    hits: np.ndarray
    names: tuple[str, ...]
    said: str
    by_name: dict[str, int]
    hidden: int = field(default=3, repr=False)


def test_arrays_are_shown_by_shape_and_long_sequences_by_number() -> None:
    made = Result(np.zeros((40, 3), np.float32), tuple("abcd"), "found", {"a": 1})
    assert repr(made) == "Result(hits=<40 x 3 float32>, names=<tuple of 4>, said='found', by_name={'a': 1})"


@given(st.integers(0, 3000), st.text(max_size=400))
def test_no_result_takes_more_than_a_line_or_two(n: int, said: str) -> None:
    made = Result(np.zeros(n), ("long " * 100,) * n, said, {str(i): i for i in range(n)})
    assert len(repr(made)) < 400


def test_results_of_many_rows_are_brief() -> None:
    many = Instances(tuple(Instance(f"q{i}", "Why?", ("a", "b"), 0) for i in range(2000)), "choices")
    assert "instances=<tuple of 2,000>" in repr(many)
    assert len(repr(many)) < 1000
    pool = CandidatePool.from_texts([Context("He sits.", "He", "stands up.")], [["falls down."]])
    assert repr(Run(pool, np.zeros((1, 2), int))) == "Run(1 rows x 2 endings, 0 iterations)"
    assert repr(pool.view(np.zeros(1, int), np.zeros((1, 2), int))) == "View(1 rows x 2 candidates)"
