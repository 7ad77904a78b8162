"""Shares in sentences: per cent, their intervals, and their differences in points.

Pages have a form of their own, in which the sign stays with its number (`swag_af.reporting.charts.percent`).
"""


def in_percent(share: float, digits: int = 1) -> str:
    """`0.1234` as `12.3 %`."""
    return f"{100 * share:z.{digits}f} %"


def digits_apart(bound: float, *figures: float) -> int:
    """Decimals of percentages that show of each figure that it is not the bound, where it is not: one at least, four at
    most."""
    return max(
        next((n for n in (1, 2, 3) if round(100 * figure, n) != round(100 * bound, n)), 1 if figure == bound else 4)
        for figure in figures
    )


def from_to(low: float, high: float) -> str:
    """An interval without the sign: `10.1 to 14.6`."""
    return f"{100 * low:z.1f} to {100 * high:z.1f}"


def in_points(difference: float, low: float, high: float) -> str:
    """A difference of two shares, and its interval: `+1.2 points (+0.3 to +2.1)`."""
    return f"{100 * difference:+z.1f} points ({100 * low:+z.1f} to {100 * high:+z.1f})"
