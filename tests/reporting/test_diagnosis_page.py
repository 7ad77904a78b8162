"""Claims about the page of a diagnosis: the reason first, all figures are there, texts stay texts, no network."""

import re
from dataclasses import replace
from typing import Any

import pytest
from test_audit_page import Reader

from swag_af.diagnosing.agreement import Agreement
from swag_af.diagnosing.figures import Figure
from swag_af.diagnosing.growth import Against, Growth, Point
from swag_af.diagnosing.left import Left
from swag_af.diagnosing.outcome import Diagnosis, FewerPoint, OfFilter
from swag_af.diagnosing.told import advice, answers, fresh_rows, hardest_rows, headline, left_rows
from swag_af.diagnosing.trend import Trend
from swag_af.reporting.charts import escape
from swag_af.reporting.pages.diagnosis import diagnosis_page

NBSP = "\N{NO-BREAK SPACE}"


def around(value: float, half: float = 0.02) -> Figure:
    return Figure(value, value - half, value + half)


def made(now: float = 0.4, *, name: str = "run") -> Diagnosis:
    left = Left(
        none_above_easiest=around(0.1),
        none_above_gold=around(0.3),
        stuck=around(0.05),
        quantiles=(0.0, 2.0, 5.0, 9.0, 30.0),
        histogram=(0.1, 0.1, 0.2, 0.3, 0.2, 0.1),
        histogram_gold=(0.3, 0.2, 0.5),
        now=around(now),
        same_fit=around(0.05),
        other_fit=around(0.22),
        fall_other=around(now - 0.22),
        fresh_now=around(0.35),
        fresh_hardest=around(0.45),
        fall_fresh=around(-0.1),
    )
    points = tuple(Point(n, around(value)) for n, value in ((100, 0.3), (200, 0.4), (400, 0.48), (800, 0.55)))
    against = tuple(Against(n, 1 / (1 + n), around(0.55)) for n in (1, 9, 99))
    growth = Growth(points, points, against, Against(9, 0.1, around(0.11)))
    rising = Trend(800, around(0.07), around(0.05), (0.8, -2.0, 0.3), around(0.0), "")
    unknown = Trend(64, None, None, None, None, "3 sizes and 40 groups; 4 and 20 are needed")
    fewer = tuple(FewerPoint(n, around(value)) for n, value in ((10, 0.4), (32, 0.3), (64, 0.22)))
    main = OfFilter("bow", left, fewer, growth, rising, rising, unknown)
    return Diagnosis(
        name, 40, 900, 2000, 300, 64, 10, 0.31, 3, (main,), (agreement(),), {"seeds": 3}, ("A note.",), {"numpy": "2"}
    )


def agreement(**settings: Any) -> Agreement:
    figures = {name: around(0.6) for name in ("correlation", "easy", "swaps", "wrong")}
    gains = {"easy_gain": around(0.1), "wrong_gain": around(0.1)}
    luck = {"easy_by_luck": 0.5, "wrong_by_luck": 0.5}
    correlations = (0.0,) * 10 + (0.1,) * 10
    return Agreement(
        **{"of": ("bow", "bow"), "n_pairs": 6, "correlations": correlations, **figures, **gains, **luck, **settings}
    )


def test_the_reason_is_the_first_thing_said_and_every_answer_is_there() -> None:
    text = "".join(Reader(diagnosis_page(made(), command="swag-af diagnose run")).text)
    assert text.index(headline(made()).replace(" %", f"{NBSP}%")) < text.index("Has the pool harder candidates left?")
    for one in answers(made())[1:]:
        assert one.found.replace(" %", f"{NBSP}%") in text
        assert one.means.replace(" %", f"{NBSP}%") in text
    assert all(line.replace(" %", f"{NBSP}%") in text for line in advice(made()))
    assert all(cell in text for row in left_rows(made()) for cell in row)
    assert "swag-af diagnose run" in text


def test_it_has_six_pictures_and_loads_nothing() -> None:
    html = diagnosis_page(made())
    page = Reader(html)
    assert html.count("<figure") == 6
    assert not {"script", "img", "link", "iframe"} & page.tags
    assert not page.values("src")
    assert (
        page.values("href")
        == {f"#{name}" for name in ("pool", "filter", "candidates", "help", "making")}
        <= {f"#{name}" for name in page.values("id")}
    )


def test_markup_in_a_name_stays_text() -> None:
    html = diagnosis_page(made(name="<b>run</b>"))
    assert "<b>run" not in html
    assert "<b>run</b>, diagnosed" in "".join(Reader(html).text)


def test_a_known_trend_is_dashed_beyond_what_was_measured_and_an_unknown_one_is_not() -> None:
    dashed = diagnosis_page(made()).count('class="dash ')
    main = made().main
    unsure = replace(main, more_contexts_assigned=replace(main.more_contexts_assigned, doubled=around(0.0)))
    assert dashed == 2
    assert diagnosis_page(replace(made(), filters=(unsure,))).count('class="dash ') == 1


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (0.4, "even their hardest candidates leave 12.0 points above chance. Swaps may still lower it by 18.0 points"),
        (0.11, "The curve is at chance"),
        (0.02, "The curve is below chance"),
    ],
)
def test_the_headline_follows_the_figures(now: float, said: str) -> None:
    assert said in headline(made(now))


def test_of_a_pool_that_is_assigned_whole_nothing_is_said_of_candidates_that_are_not_there() -> None:
    whole = replace(made(), n_candidates=10, n_assigned=10)
    page = "".join(Reader(diagnosis_page(whole)).text)
    assert "Every candidate of the pool is assigned" in page
    assert "The pool is the limit" not in page
    assert "More iterations: none can swap anything." in page
    assert left_rows(whole)[1][1:] == ("–", "–", "–")
    assert hardest_rows(whole)[1][1:] == ("40.0 (38.0–42.0)", "–", "–")
    assert fresh_rows(whole)[1][2:] == ("–", "–")


def test_more_contexts_that_would_find_more_are_told_and_other_trends_are_unknown() -> None:
    said = " ".join(advice(made()))
    assert "fits on 1,600 would tell gold from the run's distractors better by 5.0 points (3.0 to 7.0)" in said
    assert "More candidates: not tested. What 128 a context would do cannot be predicted: 3 sizes and 40 groups" in said


def unknown(last: float | None = None, *, doubled: Figure | None = None, why: str = "3 sizes; 4 are needed") -> Trend:
    return Trend(800, None if last is None else around(last), doubled, None, None, "" if doubled else why)


def contexts_advice(assigned: Trend, random: Trend) -> list[str]:
    main = replace(made().main, more_contexts_assigned=assigned, more_contexts_random=random)
    return [line for line in advice(replace(made(), filters=(main,))) if line.startswith("More contexts")]


def test_that_more_contexts_are_unknown_is_said_once() -> None:
    both = "More contexts: not tested. Whether fits on 1,600 would tell gold better from the run's distractors or from "
    both += "random candidates cannot be predicted:"
    tested = "A run of more contexts, diagnosed, tests it."
    assert contexts_advice(unknown(), unknown()) == [f"{both} 3 sizes; 4 are needed. {tested}"]
    (said,) = contexts_advice(unknown(0.01), unknown(0.02, doubled=around(0.0)))
    assert said == (
        f"{both} of the run's distractors, 3 sizes; 4 are needed; of random candidates, the trend says +0.0 points "
        "(-2.0 to +2.0), which may be none. The last doubling changed accuracy by +1.0 points (-1.0 to +3.0) on the "
        f"run's distractors, +2.0 points (+0.0 to +4.0) on random candidates. {tested}"
    )


def test_a_known_trend_stands_beside_an_unknown_one() -> None:
    known, other = contexts_advice(unknown(), made().main.more_contexts_random)
    assert "fits on 1,600 would tell gold from random candidates better by 5.0 points" in known
    assert "from the run's distractors cannot be predicted: 3 sizes; 4 are needed." in other


def hard_left(now: Figure, fresh: float) -> Diagnosis:
    """Present fits are at chance among the hardest; fits on these find gold in `fresh`, and in 0.2 now."""
    main = made().main
    left = replace(main.left, now=now, other_fit=Figure(0.13, 0.08, 0.21), fall_other=around(0.07))
    left = replace(left, fresh_now=around(0.2), fresh_hardest=around(fresh), fall_fresh=around(0.2 - fresh))
    return replace(made(), filters=(replace(main, left=left),))


def test_more_iterations_are_not_promised_where_fits_on_the_hardest_find_gold() -> None:
    found = hard_left(around(0.3), 0.21)
    said = " ".join([headline(found), *advice(found)])
    assert "more iterations can" not in said
    assert "not needed" not in said
    assert answers(found)[1].status == "unknown"
    assert "at best they take accuracy from 30.0 % (28.0 to 32.0) down to 13.0 % (8.0 to 21.0) with this pool" in said
    assert "fits on the hardest find gold above chance, in 21.0 % (19.0 to 23.0)" in said


def test_more_iterations_are_told_of_where_no_figure_denies_them() -> None:
    found = hard_left(around(0.3), 0.09)
    assert "more iterations can lower it, by 7.0 points (5.0 to 9.0) at most" in headline(found)
    near = replace(found.main, left=replace(found.main.left, other_fit=Figure(0.1, 0.07, 0.14)))
    assert "enough for chance to within 5 points: more iterations can go there" in headline(
        replace(found, filters=(near,))
    )


WIDE = Figure(0.1, 0.01, 0.25)
CLAIMS = ("at chance", "as people do,", "as good as gold", "nothing", "not needed", "are noise to")


def test_nothing_is_said_to_be_absent_by_an_interval_that_allows_much() -> None:
    """Each figure holds chance, and allows 15 points."""
    found = hard_left(WIDE, 0.1)
    growth = replace(found.main.growth, against=tuple(Against(n, 0.1, WIDE) for n in (1, 9)))
    swaps = agreement(swaps=Figure(0.5, 0.4, 0.65))
    found = replace(found, filters=(replace(found.main, growth=growth),), agreements=(swaps,))
    said = [headline(found), *(one.means for one in answers(found)), *advice(found)]
    assert not [claim for claim in CLAIMS for one in said if claim in one]
    assert [one.status for one in answers(found)] == ["unknown"] * 4
    assert "the interval allows up to 15.0 points. So it is undecided whether" in said[0]


def test_the_same_figures_with_narrow_intervals_are_at_chance() -> None:
    found = hard_left(around(0.1), 0.1)
    growth = replace(found.main.growth, against=tuple(Against(n, 0.1, around(0.1)) for n in (1, 9)))
    found = replace(found, filters=(replace(found.main, growth=growth),))
    assert [one.status for one in answers(found)] == ["fine"] * 4
    assert "The curve is at chance, to within 5 points" in headline(found)
    assert "are as gold is, to within 5 points" in answers(found)[3].means
    assert "by it nothing more is to be gained" in advice(found)[0]


def test_swaps_that_are_rather_wrong_are_not_said_to_be_noise_to_within_5_points() -> None:
    found = replace(hard_left(around(0.3), 0.2), agreements=(agreement(swaps=Figure(0.448, 0.412, 0.485)),))
    assert "noise to the next, or worse: it may find as few as 41.2 % right" in answers(found)[2].means
    found = replace(found, agreements=(agreement(swaps=Figure(0.48, 0.46, 0.51)),))
    assert "noise to the next, to within 5 points" in answers(found)[2].means


def test_fits_without_a_swap_leave_the_filter_unknown() -> None:
    found = replace(made(), agreements=(agreement(swaps=None, easy=None, easy_gain=None, easy_by_luck=None),))
    assert answers(found)[2].status == "unknown"
    assert "No fit would make a swap." in diagnosis_page(found)


def test_what_a_colour_tells_apart_is_told_without_it_too() -> None:
    charts = {found[1]: found[0] for found in re.finditer(r"<figure.*?<figcaption>(.*?)<.*?</figure>", page_of(), re.S)}
    growth = charts["Accuracy by number of contexts"]
    assert re.findall(r'class="key (\w+)-key"', growth) == ["dot", "square", "ring"]
    hardest = charts["Accuracy if the hardest were taken"]
    numbers = re.findall(r"<span[^>]*>(\d)</span>", hardest.partition('class="xs"')[2])
    assert numbers == re.findall(r"</svg>(\d): ", hardest) == ["1", "2", "3", "4", "5"]
    order = charts["Agreement on the order of candidates"]
    assert re.findall(r'class="key (\w+)-key"', order) == ["line", "long", "short"]


def page_of() -> str:
    """The page of a diagnosis with three kinds of pairs."""
    kinds = (("bow", "bow"), ("bow", "mlp"), ("bow", "cnn"))
    return diagnosis_page(replace(made(), agreements=tuple(agreement(of=of) for of in kinds)))


def test_a_table_has_its_header_below_its_name() -> None:
    """Names of columns are read for the name of the table, and once more for its header."""
    html = diagnosis_page(made())
    for header in (left_rows(made())[0], fresh_rows(made())[0]):
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
        assert f"</caption><thead><tr>{cells}</tr>" in html
