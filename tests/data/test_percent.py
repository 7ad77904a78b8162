"""Claims about shares in sentences."""

from swag_af.data.numbers.percent import digits_apart, from_to, in_percent, in_points


def test_a_share_has_one_decimal_or_as_many_as_are_asked_for() -> None:
    assert (in_percent(0.12345), in_percent(0.12345, 0), in_percent(0.12345, 3)) == ("12.3 %", "12 %", "12.345 %")


def test_what_is_rounded_to_nothing_has_no_sign() -> None:
    assert in_percent(-0.0004) == "0.0 %"


def test_decimals_show_that_a_figure_is_not_the_bound() -> None:
    assert [digits_apart(0.5, figure) for figure in (0.5, 0.51, 0.50024, 0.500004)] == [1, 1, 2, 4]


def test_an_interval_names_no_unit() -> None:
    assert from_to(0.101, 0.1459) == "10.1 to 14.6"


def test_a_difference_has_its_sign_everywhere() -> None:
    assert in_points(0.012, -0.003, 0.021) == "+1.2 points (-0.3 to +2.1)"


def test_no_interval_and_no_difference_ends_at_a_negative_nothing() -> None:
    assert from_to(-0.0004, 0.12) == "0.0 to 12.0"
    assert in_points(-0.0004, -0.0004, 0.0) == "+0.0 points (+0.0 to +0.0)"
