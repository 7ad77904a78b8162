"""What checks of integrity share: a share of the instances as a diagnostic, and instances as examples."""

from collections.abc import Callable, Iterable

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic, Example
from swag_af.auditing.examples import AT_MOST, example
from swag_af.data.instances.instances import Instances
from swag_af.data.numbers.interval import interval
from swag_af.data.numbers.percent import digits_apart, in_percent
from swag_af.data.splits import renumbered


def of_share(
    code: str,
    subject: str,
    has: np.ndarray,
    groups: np.ndarray,
    *,
    said: str,
    is_hint: bool = False,
    examples: tuple[Example, ...] = (),
) -> Diagnostic:
    """The share of instances that have a fault: `has` (n,) bool, in `groups` (n,); found where any has it.

    `said` follows a count: `12 of 600 questions (2.0 %) {said}`. With `is_hint` the fault is only a possible one. An
    empty `has` is a check with nothing to look at.
    """
    n, n_having = len(has), int(has.sum())
    numbers = renumbered(groups)
    low, high = interval(has.astype(float), numbers) if n else (None, None)
    part = in_percent(n_having / n, digits_apart(0.0, n_having / n)) if n else ""
    return Diagnostic(
        code=code,
        subject=subject,
        status="clear" if not n_having else "hint" if is_hint else "found",
        value=round(n_having / n, 6) if n else 0.0,
        unit="share",
        said=f"{n_having:,} of {n:,} ({part}) {said}" if n else f"Nothing to look at: 0 {said}",
        low=None if low is None else round(low, 6),
        high=None if high is None else round(high, 6),
        chance=0.0,
        n=n,
        n_groups=int(numbers.max(initial=-1)) + 1,
        examples=examples,
    )


def examples_of(
    instances: Instances, rows: Iterable[int], why: Callable[[int], str], *, each: np.ndarray | None = None
) -> tuple[Example, ...]:
    """The first few of `rows` as examples, `why` of each; of rows with the same number in `each` (N,) the first."""
    seen, found = set[int](), list[Example]()
    for row in map(int, rows):
        number = row if each is None else int(each[row])
        if number not in seen and len(found) < AT_MOST:
            seen.add(number)
            found.append(example(instances, row, why(row)))
    return tuple(found)
