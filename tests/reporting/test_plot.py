"""The curve: what is drawn is what was logged."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from swag_af.data.runs.findings import Audits, Finding
from swag_af.data.runs.run import Iteration, Run
from swag_af.filters.registry import label_of
from swag_af.reporting.plot import _draw, curves, ends, first_iterations, plot_run, smooth


def run_of(filters: list[str], pool) -> Run:
    log = [
        Iteration(
            i + 1,
            name,
            {"mlp": 0.1 * i, name: 0.1 * i},
            n_test=6,
            n_easy=0,
            n_replaced=0,
            n_scored=0,
            n_unassigned=9,
            scored_share=0.0,
        )
        for i, name in enumerate(filters)
    ]
    return Run(pool, np.zeros((len(pool), 3), np.int32), log=log)


def test_every_head_is_drawn_where_it_was_measured(pool):
    found = curves(run_of(["mlp", "mlp", "ensemble"], pool))
    np.testing.assert_array_equal(found["mlp"][0], [1, 2, 3])
    np.testing.assert_array_equal(found["ensemble"][0], [3])
    np.testing.assert_allclose(found["ensemble"][1], [0.2])


def test_a_phase_of_one_iteration_is_seen(pool):
    axes = Figure().subplots()
    _draw(run_of(["ensemble", "mlp", "mlp"], pool), axes, {"mlp": "red", "ensemble": "blue"})
    markers = {line.get_label(): line.get_marker() for line in axes.lines if len(line.get_xdata()) == 1}
    assert markers[label_of("ensemble")] == "o"


def test_phases_begin_where_another_filter_takes_over(pool):
    assert first_iterations(run_of(["mlp", "mlp", "bow", "mlp"], pool)) == [1, 3, 4]


def test_smoothing_keeps_a_constant_and_averages_the_middle():
    np.testing.assert_allclose(smooth(np.full(7, 0.3)), 0.3)
    assert smooth(np.array([0.0, 0, 5, 0, 0]))[2] == 1.0
    for values in ([1.0, 0, 0, 0], [1.0, 0], [3.0, 1, 2, 5, 0, 1]):
        np.testing.assert_allclose(smooth(np.array(values))[::-1], smooth(np.array(values[::-1])))


def test_the_same_run_gives_the_same_picture(pool, tmp_path):
    run = run_of(["mlp", "mlp", "ensemble"], pool)
    one, two = plot_run(run, tmp_path / "one"), plot_run(run, tmp_path / "two")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_an_empty_run_is_drawn_too(pool, tmp_path):
    assert all(path.exists() for path in plot_run(run_of([], pool), tmp_path))


@pytest.mark.parametrize(("n", "some"), [(1, 1), (2, 1), (6, 3), (9, 4), (10, 5), (140, 5)])
def test_first_and_last_are_means_of_five_or_of_half(n: int, some: int):
    values = np.random.default_rng(n).random(n)
    assert ends(values) == (values[:some].mean(), values[n - some :].mean())


def drawn(run: Run, folder, monkeypatch) -> Axes:
    """The axes as they were when the picture was saved."""
    seen = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: (seen.extend(self.axes), path.touch()))
    plot_run(run, folder)
    return seen[0]


def test_every_interval_of_an_audit_is_within_the_axes(pool, tmp_path, monkeypatch):
    """An audit of few contexts has long intervals, and may lie far above the curve."""
    run = run_of(["mlp", "mlp", "mlp"], pool)
    found = Finding(0, "ngrams", 0.6, 0.02, 0.97, 1 / 3, len(pool), 10, 5, 0, ())
    monkeypatch.setattr("swag_af.reporting.plot.read_audits", lambda path: Audits((found,)))
    bottom, top = drawn(run, tmp_path, monkeypatch).get_ylim()
    assert bottom == 0
    assert top > 97
