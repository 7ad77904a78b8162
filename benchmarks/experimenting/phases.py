"""What each phase of a run did, beside what Figure 2 of the paper led us to expect: tables and sentences."""

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from experimenting.predicted import PREDICTED, came
from experimenting.wording import (
    NAMES,
    Rows,
    told_both,
    told_change,
    told_level,
    told_parts,
    told_percent,
    told_points,
    told_way,
)
from swag_af.reporting.tables.markdown import bullets, markdown_table

POOLS = ("double", "weak", "dealt")
"""Arms by the paper's schedule on other pools, which are audited at every moment."""
RUN_BY_RUN = ("main", "bigger", "big", *POOLS)
"""Arms each run of which has a line; of the others each arm has one."""


def figure2(results: Mapping[str, Any], picture: str) -> list[str]:
    """What Figure 2 of the paper led us to expect, and what came out."""
    found = results["ensemble"]
    n = len(found["main"]["runs"]) if "main" in found else 0
    of_runs = {name: f"the run `{name}`" for name in ("bigger", "big")}
    of_runs["main"] = told_parts(results, n).replace(" together", ", mean").lower()
    of_runs |= {name: f"the arm `{name}`" for name in POOLS}
    asked = {label: found[name] for name, label in of_runs.items() if name in found}
    if not asked:
        return []
    lines = ["### Figure 2 or not?", ""]
    lines += [f"![The accuracy curve]({picture}/curve.svg)", ""] if picture else []
    lines += [
        f"Held-out accuracy of the filter that re-assigns, %, means of {results['size']['window']} iterations. "
        "Predicted is what we read in the words about the paper's Figure 2; the bounds are ours, and stand in "
        "benchmarks/experimenting/predicted.py. *So?* says yes or no where the whole interval lies inside or outside.",
        "",
    ]
    rows: Rows = [("", "predicted", *(cell for label in asked for cell in (label, "so?")))]
    for one in PREDICTED:
        figures = [_predicted(runs, one.figure) for runs in asked.values()]
        tell = told_change if one.figure in UNITS else told_level
        cells = [cell for figure in figures for cell in (tell(figure), came(one, figure))]
        rows.append((UNITS.get(one.figure, one.figure), one.told, *cells))
    single = "Intervals of a single run: of its levels by contexts, of its jump and slope two standard errors over "
    single += (
        "iterations, as if these were independent; a yes or no is about that run, and another seed may say other. "
    )
    several = "Intervals of several parts: Student's t, a figure a part."
    counts = [len(runs["jumps"]) for runs in asked.values()]
    told = (single if 1 in counts else "") + (several if max(counts) > 1 else "")
    first = [f"{label} {told_percent(mean(runs['first']))}" for label, runs in asked.items()]
    begin = f"In the first iteration alone, %: {', '.join(first)}."
    return [*lines, *markdown_table(rows), "", told.rstrip(), "", begin, "", *bullets(_verdicts(results))]


UNITS = {"jump": "jump, points", "slope": "slope of the ensemble, points in ten iterations"}
"""Figures that are changes, as the table calls them."""


def _predicted(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A figure of an arm; the jump or slope of a single run with two standard errors."""
    if name not in UNITS:
        level: Mapping[str, Any] = found["levels"][name]
        return level
    each: list[Mapping[str, float]] = found[f"{name}s"]
    if len(each) > 1:
        together: Mapping[str, Any] = found[name]
        return together
    value, error = each[0]["value"], each[0]["error"]
    return {"value": value, "low": value - 2 * error, "high": value + 2 * error}


def _verdicts(results: Mapping[str, Any]) -> list[str]:
    """Sentences, each from one interval."""
    told = []
    whole = f"On {told_parts(results, results['audited']).lower()}"
    labels = {"bigger": "In the run `bigger`", "big": "In the run `big`", "parts": whole}
    labels |= {name: f"In the arm `{name}`" for name in POOLS}
    for name, label in labels.items():
        audits, seeds = results["audits"].get(name, {}), _other_seeds(results, name)
        if "fresh jump" in audits:
            jump, of_seeds = audits["fresh jump"], seeds.get("fresh jump", {}).get("after the MLP")
            verdict = _way(jump, of_seeds, "it finds more", "it finds less", "no significant difference")
            told.append(
                f"{label}, after the MLP's iterations a fresh ensemble finds {told_both(jump)} points more than a "
                f"fresh MLP on the same assignment, paired by context{_told_seeds(of_seeds)}: {verdict}."
                f"{_control(audits, seeds.get('fresh jump', {}).get('change by the MLP'))}"
            )
        row = audits.get(results["size"]["joint"], {})
        row_of_seeds = seeds.get("filters", {}).get(results["size"]["joint"], {})
        for which, whose, paper in (
            ("change by the MLP", "the MLP's iterations", "not sufficient to lower it"),
            ("own change", "the ensemble's own iterations", "that it drops substantially"),
        ):
            if change := row.get(which):
                of_seeds = row_of_seeds.get(which)
                verdict = _way(change, of_seeds, "a rise", "a fall", "no significant change")
                told.append(
                    f"{label}, {whose} change what a fresh ensemble finds by {told_both(change)} points"
                    f"{_told_seeds(of_seeds)}: {verdict}. The paper: {paper}."
                )
    return told


def _other_seeds(results: Mapping[str, Any], arm: str) -> Mapping[str, Any]:
    """What runs found that differ in the seed alone from the only audited run of an arm."""
    families: list[Mapping[str, Any]] = [
        found for run, found in results.get("seeds", {}).items() if run.rpartition("-")[0] == arm
    ]
    is_of_parts = "over parts" in results["audits"].get(arm, {}).get("fresh jump", {})
    return families[0] if len(families) == 1 and not is_of_parts else {}


def _told_seeds(of_seeds: Mapping[str, Any] | None) -> str:
    """The same over runs with other seeds, whose chance is in no interval over contexts."""
    return f", and over {len(of_seeds['each'])} seeds of it {told_change(of_seeds)}" if of_seeds else ""


def _way(change: Mapping[str, Any], of_seeds: Mapping[str, Any] | None, above: str, below: str, neither: str) -> str:
    """What a difference says, where there are runs with other seeds by their interval as well."""
    return told_way({**change, "over seeds": of_seeds} if of_seeds else change, above, below, neither)


def _control(audits: Mapping[str, Any], of_seeds: Mapping[str, Any] | None) -> str:
    """How much of the difference was there before any iteration; `of_seeds` is what was added over other seeds."""
    if "fresh jump, beyond random" not in audits:
        return ""
    more = audits["fresh jump, beyond random"]
    told = _way(more, of_seeds, "they widened it", "they narrowed it", "no significant change")
    return (
        f" At the random start that difference is {told_both(audits['fresh jump, at random'])} points; the MLP's "
        f"iterations added {told_both(more)}{_told_seeds(of_seeds)}: {told}."
    )


def seed_by_seed(results: Mapping[str, Any]) -> list[str]:
    """Jump, slope and end of each run: of those on the parts, of those on all of them, and of the arms that change what
    is filtered."""
    found = results["ensemble"]
    if "main" not in found:
        return []
    figures = {"jumps": "jump, points", "slopes": "slope, points in ten iterations"}
    if found["main"]["later slopes"]:
        figures["later slopes"] = "without the iterations of the jump"
    rows: Rows = [("run, its seed and part", *figures.values(), "the ensemble's last iterations, %")]
    for name in (name for name in RUN_BY_RUN if name in found):
        told = found[name]
        for i, run in enumerate(told["runs"]):
            cells = [_told_error(told[one][i]) for one in figures]
            last = told["levels"]["ensemble ends"]["each"][i]
            rows.append((run.removeprefix("runs/"), *cells, told_percent(last)))
    begun = [
        f"`{name.removeprefix('runs/')}` has {one['iterations']} of its {one['planned']} iterations with the ensemble; "
        f"in the first {one['window']} a jump of {_told_error(one['jump'])} points{_beside(one)}."
        for name, one in results.get("begun", {}).items()
    ]
    told = ["", f"Not finished, and in no table: {' '.join(begun)}"] if begun else []
    seeds = ["Seed by seed, with one standard error over iterations:", "", *markdown_table(rows), *told]
    return [*seeds, *_other_curves(results)]


def _other_curves(results: Mapping[str, Any]) -> list[str]:
    """Jump, slope and end of the curves of all other arms, an arm a line."""
    whose = "slope of the second filter, points in ten iterations"
    rows: Rows = [("arm", "runs", "jump, points", whose, "its last iterations, %")]
    for name, one in results["ensemble"].items():
        if name not in RUN_BY_RUN:
            several = len(one["runs"]) > 1
            jumps = ", ".join(map(_told_error, one["jumps"])) + (f"; {told_change(one['jump'])}" if several else "")
            slope = told_change(one["slope"]) if several else _told_error(one["slopes"][0])
            end = told_level(one["levels"]["ensemble ends"])
            rows.append((_told_arm(results, name), f"{len(one['runs'])}", jumps, slope, end))
    for name, one in results.get("one filter", {}).items():
        rows.append((_told_arm(results, name), f"{len(one['runs'])}", "one filter alone", "", told_level(one["ends"])))
    if len(rows) < 2:
        return []
    title = (
        "The curves of the other arms: jumps run by run, with one standard error over iterations, then their mean over "
        "the parts; slopes and ends over the parts, of a single run with its standard error and over contexts."
    )
    if any(name.endswith("fixed") for name in results["ensemble"]):
        title += (
            " By `--splits fixed` a filter is asked again and again of contexts whose distractors it chose: its curve "
            "falls below chance, and says little of how hard the questions are."
        )
    return ["", title, "", *markdown_table(rows)]


def _told_arm(results: Mapping[str, Any], name: str) -> str:
    return f"`{name}`: {results['arms'][name]['about']}"


def _beside(begun: Mapping[str, Any]) -> str:
    """The jumps of other runs in as many iterations."""
    told = [f"`{run.removeprefix('runs/')}` {_told_error(jump)}" for run, jump in begun.get("beside", {}).items()]
    return f", where in as many there are {', '.join(told)}" if told else ""


def _told_error(jump: Mapping[str, Any]) -> str:
    return f"{told_points(jump['value'])} ± {100 * jump['error']:.1f}"


def by_number(results: Mapping[str, Any]) -> list[str]:
    """The jump by number of contexts, of runs that differ in nothing else but the seed."""
    found = results.get("by number", {})
    jumps = found.get("jumps", [])
    counts = sorted({round(one["contexts"], -1) for one in jumps})
    if len(counts) < 2:
        return []
    rows: Rows = [("contexts", "runs", "the MLP's last iterations, %", "the ensemble's first, %", "jump, points")]
    for n in counts:
        mine = sorted((one for one in jumps if round(one["contexts"], -1) == n), key=lambda one: str(one["run"]))
        levels = [told_percent(mean(one[side] for one in mine)) for side in ("before", "after")]
        each = ", ".join(map(_told_error, mine))
        rows.append((f"{n:,}", f"{len(mine)}", *levels, each))
    lines = ["The same by number of contexts (to the next ten), with one standard error over iterations:", ""]
    lines += markdown_table(rows)
    if growth := found.get("in twice as many"):
        lines += [
            "",
            f"In twice as many contexts the jump is {told_change(growth)} points larger, by a line through the "
            f"{growth['n']} runs, which its interval takes as independent: some of them share contexts or models.",
        ]
    return lines


def nested_jumps(results: Mapping[str, Any], picture: str) -> list[str]:
    """The jump by number of contexts where nothing else differs."""
    found = results.get("nested")
    if not found:
        return []
    size = results["size"]
    n_mlp, n_joint = size["nested_iterations"]
    folds = " and ".join(map(str, size["wide_folds"]))
    head = ("contexts", "draws", "first iteration, %", "the MLP's last, %", "the ensemble's first, %", "jump, points")
    asked = [when for when in NESTED_WHEN if any(when in row["lead"] for row in found["rows"])]
    rows: Rows = [(*head, "draw by draw", *(f"fresh ensemble less fresh MLP, {when}" for when in asked))]
    for row in found["rows"]:
        levels = [told_percent(row[level]) for level in ("first", "before", "after")]
        pairs = zip(row["jump"]["each"], row["errors"], strict=True)
        each = ", ".join(_told_error({"value": value, "error": error}) for value, error in pairs)
        leads = [told_change(row["lead"][when]) if when in row["lead"] else "" for when in asked]
        rows.append((f"{row['rows']:,}", f"{len(row['draws'])}", *levels, told_change(row["jump"]), each, *leads))
    lines = [
        "### The jump by the number of contexts alone",
        "",
        *([f"![The jump]({picture}/jumps.svg)", ""] if picture and is_drawn(found) else []),
        f"Runs over contexts of the folds {folds}, by models of their own, {size['n_few']:,} candidates each, {n_mlp} "
        f"iterations of the MLP and {n_joint} of the ensemble. All are of one pool; the fewer contexts of a draw are "
        "among the more, and a draw has a seed: nothing else differs but the number. Intervals are Student's t over "
        "the draws; those of the most contexts have the same contexts, and differ in their seeds alone. ± is one "
        "standard error over iterations.",
        "",
        *markdown_table(rows),
    ]
    more = [f"{told_wider(one)} than in {one['contexts']:,}" for one in found.get("more", []) if "value" in one]
    if more:
        lines += ["", f"In the most contexts the jump is larger by {', '.join(more)} points, paired by draw."]
    if lead := found.get("lead more"):
        few, many = lead["contexts"]
        told = ", ".join(f"{when} {told_change(lead['by moment'][when])}" for when in asked)
        lines += ["", f"Fresh ensemble less fresh MLP, in {many:,} contexts less in {few:,}, paired by draw: {told}."]
    if twice := found.get("in twice as many"):
        lines += ["", f"In twice as many it is {told_wider(twice)} points larger, by a line through each draw."]
    return lines


def told_wider(over: Mapping[str, Any]) -> str:
    """A mean over draws with its interval and, where the draws agree better than their curves' errors would have it, by
    two standard errors over iterations as well."""
    value, error = over["value"], over.get("error", 0.0)
    if over.get("low") is None or value - 2 * error >= over["low"]:
        return told_change(over)
    by_iterations = f"{told_points(value - 2 * error)} to {told_points(value + 2 * error)}"
    return f"{told_change(over)[:-1]}; by the errors over iterations {by_iterations})"


def is_drawn(found: Mapping[str, Any]) -> bool:
    """Whether there are jumps enough for a picture."""
    return sum(row["jump"].get("low") is not None for row in found.get("rows", [])) >= FEWEST_JUMPS


FEWEST_JUMPS = 3
"""Numbers of contexts from which on the jump is drawn."""
NESTED_WHEN = ("random", "after the MLP", "added by the MLP")
"""The moments at which these runs are audited, and the difference between them."""


def audits_by_phase(results: Mapping[str, Any], name: str, title: str) -> list[str]:
    """What fresh filters find before, between the phases and after, and how each phase changes it."""
    audits = {f: row for f, row in results["audits"].get(name, {}).items() if f in NAMES}
    if not audits:
        return []
    rows: Rows = [("fresh filter", *WHEN, *CHANGES.values())]
    for filter, row in audits.items():
        cells = [told_level(row[label]) if label in row else "" for label in WHEN]
        rows.append((NAMES[filter], *cells, *(told_change(row[one]) if one in row else "" for one in CHANGES)))
    took = (
        "Last, what the iterations of each phase change, in points, paired by context. The MLP and the ensemble took "
        "part, and are measured again by fresh fits; the others took no part."
    )
    both = _found_by_both(results["audits"][name])
    return [f"### {title}", "", *markdown_table(rows), "", took, *both, *_changes_of_parts(audits)]


def _found_by_both(audits: Mapping[str, Any]) -> list[str]:
    """Whether the pretrained encoder finds gold where likelihoods do."""
    if "mlp and encoder" not in audits:
        return []
    found = audits["mlp and encoder"]
    return [
        "",
        "At the random start the encoder, which sees words alone, and the MLP, which sees none, both find "
        f"gold in {told_percent(found['both'])} % of the contexts: {told_change(found['beyond'])} points more than "
        "readers who know nothing of each other would.",
    ]


def read_together(results: Mapping[str, Any]) -> list[str]:
    """What the runs on the parts leave, read by filters fitted on all of it, and how much more `big` leaves."""
    found = results.get("joined", {})
    rows: Rows = [("fresh filter", "what the parts' runs leave", "of all parts, %", "`big` less this, points")]
    for filter in (name for name in NAMES if name in found):
        for moment, cell in ((moment, found[filter][moment]) for moment in WHEN if moment in found[filter]):
            less = told_change(cell["big less this"]) if "big less this" in cell else ""
            rows.append((NAMES[filter], moment, told_level(cell["level"]), less))
    if len(rows) < 2:
        return []
    gaps = found.get("fresh jump", {})
    told = [f"{moment} {told_change(gaps[moment])}" for moment in WHEN if moment in gaps]
    beyond = f" What a fresh ensemble finds here beyond a fresh MLP, in points: {', '.join(told)}." if told else ""
    return [
        "### The parts' questions, read all together",
        "",
        "A filter learns more from more contexts. So here those that the runs on the parts leave are put together, and "
        "read by filters that are fitted on all of them, as in the audits of `big`; paired by context." + beyond,
        "",
        *markdown_table(rows),
        *_told_control(found),
    ]


def _told_control(found: Mapping[str, Any]) -> list[str]:
    """What the differences at the random start say about the others."""
    at_start = {
        name: cells["random"]["big less this"]
        for name, cells in found.items()
        if "big less this" in cells.get("random", {})
    }
    if not at_start:
        return []
    fails = [
        label for name, label in NAMES.items() if (one := at_start.get(name)) and not one["low"] <= 0 <= one["high"]
    ]
    told = (
        f"It fails for: {', '.join(fails)}. Luck does more there than the interval over contexts holds, and "
        "differences of that size say nothing at the other moments either."
        if fails
        else "No interval there excludes zero."
    )
    begin = (
        "At the random start nothing should differ but by luck, of the draw and of fits: those rows are the control."
    )
    return ["", f"{begin} {told}"]


def audited_again(results: Mapping[str, Any]) -> list[str]:
    """What other seeds of the same audits find, and which changes are larger than what a seed does."""
    found = results.get("repeats", {})
    rows: Rows = [("what is read", "fresh filter", *(f"{when}, seed by seed, %" for when in WHEN))]
    changes: Rows = [("what changes", "fresh filter", "points", "so?")]
    for of, row in found.items():
        for filter, one in row.items() if of != "luck" else ():
            read = "the parts' questions" if of == "parts" else f"`{of}`"
            told = (", ".join(told_percent(value) for value in one["seeds"][when]) for when in WHEN)
            rows.append((read, NAMES[filter], *told))
            named = {f"{read}, by the iterations of the {who}": one[f"by the {who}"] for who in ("MLP", "ensemble")}
            named |= {
                f"`big` less the parts' questions, {at}": less for at, less in one.get("big less this", {}).items()
            }
            for what, change in named.items():
                way = told_way(change, "more is found", "less is found", "inconclusive")
                changes.append((what, NAMES[filter], told_both(change), way))
    if len(rows) < 2:
        return []
    luck = ", ".join(f"{NAMES[filter]} {100 * value:.1f}" for filter, value in found["luck"].items())
    return [
        "### The same audits with other seeds",
        "",
        "Another seed draws other folds, and fits begin from other weights; the runs that are audited are the same "
        f"ones. Standard deviation of one audit, points, pooled over the rows: {luck}.",
        "",
        *markdown_table(rows),
        "",
        "The changes as means over the seeds, with their intervals over contexts and over seeds (Student's t with the "
        "pooled deviation, as if it were the same in all rows).",
        "",
        *markdown_table(changes),
    ]


def same_contexts(results: Mapping[str, Any]) -> list[str]:
    """What chance does in a run: the same contexts and candidates with other seeds."""
    lines = []
    for name, found in results.get("seeds", {}).items():
        n = len(found["runs"])
        rows: Rows = [("fresh filter", *WHEN, "one run, points", *CHANGES.values())]
        for filter, row in found["filters"].items():
            cells = [told_level(row[when]) if when in row else "" for when in WHEN]
            spread = [_deviation(row[when]["each"]) for when in WHEN if when in row]
            changes = [told_change(row[one]) if one in row else "" for one in CHANGES]
            rows.append((NAMES[filter], *cells, ", ".join(spread), *changes))
        jumps = {when: told_change(found["fresh jump"][when]) for when in WHEN if when in found["fresh jump"]}
        each = ", ".join(told_points(value) for value in found["jump"]["each"])
        lines += [
            f"### The same contexts, {n} seeds",
            "",
            f"Runs over the {found['contexts']:,} contexts of `{name}` that differ in the seed alone: other random "
            "assignments, splits and fits; and audits with the same seed. Means over the runs, %, and changes, points, "
            "with 95 % intervals over the runs (Student's t): what chance does in a run, not what other contexts would "
            "give. *One run* is the standard deviation of a run's figure at the three moments.",
            "",
            *markdown_table(rows),
            "",
            f"What a fresh ensemble finds beyond a fresh MLP, points: "
            f"{', '.join(f'{when} {jump}' for when, jump in jumps.items())}{_added(found['fresh jump'])}. "
            f"The curve's jump: "
            f"{told_change(found['jump'])} ({each}); its slope in ten iterations of the ensemble: "
            f"{told_change(found['slope'])}{_later(found)}.",
            "",
        ]
    return lines[:-1]


def _added(found: Mapping[str, Any]) -> str:
    added = found.get("change by the MLP")
    return f"; the MLP's iterations added {told_change(added)}" if added else ""


def _later(found: Mapping[str, Any]) -> str:
    later = found.get("later slope")
    return f", without the iterations of the jump {told_change(later)}" if later else ""


def _deviation(each: Sequence[float]) -> str:
    return f"{100 * stdev(each):.1f}"


WHEN = ("random", "after the MLP", "at the end")
"""The moments of a run that audits read."""
CHANGES = {"change by the MLP": "by the MLP", "own change": "by the ensemble", "change": "in all"}
"""What lies between them."""


def _changes_of_parts(audits: Mapping[str, Any]) -> list[str]:
    """The changes of each part, and their means with intervals over the parts."""
    over = {
        (filter, label): row[one]["over parts"]
        for filter, row in audits.items()
        for one, label in CHANGES.items()
        if "over parts" in row.get(one, {})
    }
    if not over:
        return []
    rows: Rows = [("fresh filter", "iterations", "mean (Student's t over the parts)", "part by part")]
    for (filter, label), one in over.items():
        each = ", ".join(told_points(value) for value in one["each"])
        rows.append((NAMES[filter], label, told_change(one), each))
    return [
        "",
        "The same changes, a figure a part. Each part has runs and fits of its own, so their chance is in these "
        "intervals. A change counts as shown where both of its intervals exclude zero.",
        "",
        *markdown_table(rows),
    ]
