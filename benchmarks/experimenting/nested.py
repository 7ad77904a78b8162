"""How high the ensemble begins above the MLP's end, by the number of contexts alone: runs over more and more contexts
of one pool, in several draws of contexts and seeds.

Runs that are compared elsewhere differ in their parts, candidates or language models, too. Here nothing else differs;
the fewer contexts of a draw are among the more, and those of other draws among the same.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np

from experimenting.curves import jump_of
from experimenting.findings import over_parts
from experimenting.growth import nested_rows
from experimenting.record import figures_of, hits_of, run_so_far
from experimenting.steps import DEEP, NESTED, Setting, nested_cells, nested_pool
from swag_af.data.pool.pool import CandidatePool


def make_nested(setting: Setting) -> None:
    """The pools of fewer contexts; those that are there stay."""
    for n, draw in nested_cells(setting):
        path = setting.out / nested_pool(setting.size, n, draw)
        if not path.exists():
            pool = CandidatePool.open(setting.out / DEEP)
            pool.save(path, rows=nested_rows(pool.groups, n, rng=np.random.default_rng((draw, *b"rows"))))


ADDED = "added by the MLP"
"""How much more an ensemble finds than an MLP after the MLP's iterations than before, draw by draw."""


def nested_found(setting: Setting) -> dict[str, Any]:
    """Curves, jumps and leads of the ensemble by number of contexts, over the draws that are finished, and how much
    larger they are in the most contexts, paired by draw; empty where none is."""
    size, runs = setting.size, _runs(setting)
    counts = [n for n in size.nested if any(of == n for of, _ in runs)]
    rows = [_of_number(setting, n, {draw: run for (of, draw), run in runs.items() if of == n}) for n in counts]
    made: dict[str, Any] = {"rows": rows}
    if len(counts) > 1:
        jumps = [_by_draw(row) for row in rows]
        whole = [draw for draw in jumps[-1] if all(draw in of for of in jumps)]
        made["more"] = [_more(of, jumps[-1]) | {"contexts": n} for n, of in zip(counts, jumps[:-1], strict=False)]
        made["lead more"] = _lead_more(rows)
        made["in twice as many"] = _in_twice_as_many(counts, [[of[draw] for of in jumps] for draw in whole])
    return made if rows else {}


_Jump = tuple[float, float]
"""A jump, and its standard error over iterations."""


def _by_draw(row: dict[str, Any]) -> dict[int, _Jump]:
    return dict(zip(row["draws"], zip(row["jump"]["each"], row["errors"], strict=True), strict=True))


def _runs(setting: Setting) -> dict[tuple[int, int], dict[str, Any]]:
    """What is kept of every finished run, by number of contexts and draw."""
    cells = nested_cells(setting)
    found = {cell: figures_of(setting, "{}/{}-{}".format(NESTED, *cell), _run(setting, *cell)) for cell in cells}
    return {cell: one for cell, one in found.items() if one}


def _run(setting: Setting, n: int, draw: int) -> dict[str, Any]:
    """A finished run: its contexts, its curve, and what an ensemble finds beyond an MLP, by fresh fits."""
    name = f"{NESTED}/{n}-{draw}"
    run = run_so_far(setting.out, name)
    if run is None or run.n_finished < run.n_planned:
        return {}
    hits = hits_of(setting, setting.out / name)
    accuracy = [round(float(run.accuracy(record.iteration)), 6) for record in run.log]
    found: dict[str, Any] = {"contexts": len(run.pool), "accuracy": accuracy, "fresh": {}}
    for when, at in _moments(setting).items():
        asked = {filter: hits.get((filter, at)) for filter in ("mlp", setting.size.joint)}
        levels = {filter: float(one.mean()) for filter, one in asked.items() if one is not None}
        if len(levels) == len(asked):
            found["fresh"][when] = levels
    return found


def _moments(setting: Setting) -> dict[str, int]:
    return {"random": 0, "after the MLP": setting.size.nested_iterations[0]}


def _of_number(setting: Setting, n: int, runs: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """The runs over `n` contexts, by draw: levels, and jumps with their errors over iterations; leads of fresh
    ensembles over fresh MLPs."""
    size = setting.size
    n_first, window = size.nested_iterations[0], min(size.window, size.nested_iterations[1])
    curves = [np.array(run["accuracy"]) for run in runs.values()]
    jumps = [jump_of(curve, n_first, window) for curve in curves]
    made = {
        "contexts": n,
        "rows": round(mean(run["contexts"] for run in runs.values())),
        "draws": list(runs),
        "first": mean(float(curve[0]) for curve in curves),
        "before": mean(float(curve[n_first - window : n_first].mean()) for curve in curves),
        "after": mean(float(curve[n_first : n_first + window].mean()) for curve in curves),
        "jump": over_parts([one["value"] for one in jumps]),
        "errors": [one["error"] for one in jumps],
    }
    leads = [
        {when: levels[size.joint] - levels["mlp"] for when, levels in run["fresh"].items()} for run in runs.values()
    ]
    of_all = {when: [one[when] for one in leads if when in one] for when in _moments(setting)}
    start, end = of_all
    of_all[ADDED] = [one[end] - one[start] for one in leads if start in one and end in one]
    return made | {"lead": {when: over_parts(each) for when, each in of_all.items() if each}}


def _lead_more(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How much larger the leads are in the most contexts in which all draws were asked than in the fewest, paired by
    draw; empty where one number of contexts alone was."""
    asked = [row for row in rows if len(row["lead"].get(ADDED, {}).get("each", ())) == len(row["draws"])]
    if len(asked) < 2 or asked[0]["draws"] != asked[-1]["draws"]:
        return {}
    fewest, most = asked[0]["lead"], asked[-1]["lead"]
    more = {
        when: over_parts([b - a for a, b in zip(fewest[when]["each"], most[when]["each"], strict=True)])
        for when in most
    }
    return {"contexts": [asked[0]["rows"], asked[-1]["rows"]], "by moment": more}


def _more(fewer: dict[int, _Jump], most: dict[int, _Jump]) -> dict[str, Any]:
    """How much larger the jump is in the most contexts, over the draws that both have."""
    return _over_draws([-1.0, 1.0], [[fewer[draw], most[draw]] for draw in most if draw in fewer])


def _in_twice_as_many(counts: Sequence[int], draws: Sequence[Sequence[_Jump]]) -> dict[str, Any]:
    """The slope of each draw's jumps for twice the contexts, by least squares, over the draws; empty for none."""
    x = np.log2(counts) - np.log2(counts).mean()
    return _over_draws(x / (x @ x), draws)


def _over_draws(weights: Sequence[float] | np.ndarray, draws: Sequence[Sequence[_Jump]]) -> dict[str, Any]:
    """The sum of each draw's jumps with `weights`, over the draws, and the standard error of their mean that the errors
    over iterations alone would give; empty for no draw."""
    if not draws:
        return {}
    values, errors = np.moveaxis(np.array(draws), 2, 0)  # (draws, jumps) each
    of_mean = float(np.sqrt(((weights * errors) ** 2).sum())) / len(draws)
    return over_parts([float(one) for one in values @ np.array(weights)]) | {"error": of_mean}
