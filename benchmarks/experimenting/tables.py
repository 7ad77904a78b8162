"""The record as Markdown: tables, and sentences that say no more than the figures in it."""

from collections.abc import Mapping
from typing import Any

from experimenting.predicted import AS_HARD, PREDICTED, came, is_as_hard
from swag_af.filters.registry import LABELS
from swag_af.reporting.markdown import bullets, markdown_table

BEGIN, END = "<!-- begin: benchmarks/experiment.py -->", "<!-- end: benchmarks/experiment.py -->"

Rows = list[tuple[str, ...]]

NAMES = LABELS | {"encoder": "a frozen pretrained encoder"}


def document(results: Mapping[str, Any], picture: str = "") -> str:
    """The whole part of the document that the experiment writes; `picture` is the folder of the figures."""
    parts = [
        _setting(results),
        _figure2(results, picture),
        _seeds(results),
        _audits(results, "big", "The big run: what fresh filters find"),
        _audits(results, "parts", f"{_parts(results, results['audited'])}: what fresh filters find"),
        _arms(results),
        _growth(results, picture),
        _fourway(results),
        _reading(results),
        _missing(results),
        _steps(results),
    ]
    return "\n\n".join(["\n".join(part) for part in parts if part]) + "\n"


def _setting(results: Mapping[str, Any]) -> list[str]:
    size = results["size"]
    commits = sorted({one["commit"] for one in results["environment"]})
    n_parts = size["n_folds"]
    lines = [
        f"Size `{size['name']}`: {n_parts} parts of {size['n_contexts'] // n_parts:,} contexts of whole videos x "
        f"{size['n_candidates']:,} candidates, {size['n_mlp']} iterations with the MLP and {size['n_ensemble']} with "
        f"the ensemble. A part is a fold's: contexts of its videos, language models of {size['hidden']} units that "
        "have learnt from the other folds, runs with a seed of its own. Chance is 10 % where nothing else is said. "
        "Intervals are 95 %, with whole groups (videos, and what shares a sentence) drawn again, runs and fits as they "
        "are: what another seed of the same run or audit would give is not in them. "
        f"Commits: {', '.join(commits)}."
    ]
    rows: Rows = [("part", "held out, forward", "backward", "its own videos, forward", "backward", *DRAWN)]
    for part, one in results["parts"].items():
        held, own = (one.get("models", {}).get(of, {}) for of in ("held_out_perplexity", "fold_perplexity"))
        reached = [f"{of[way]:.1f}" if way in of else "" for of in (held, own) for way in ("forward", "backward")]
        rows.append((part, *reached, f"{one['contexts']:,}", *_drawn(one.get("candidates", {}))))
    if len(rows) > 1:
        lines += [
            "",
            "Token perplexity of the language models, and what was drawn from them:",
            "",
            *markdown_table(rows),
        ]
    if counts := results.get("contexts"):
        lines += ["", f"{counts['kept']:,} of {counts['pairs']:,} pairs of captions make a context."]
    return lines


DRAWN = ("contexts", "endings drawn", "cut off", "too short", "repeated")


def _drawn(candidates: Mapping[str, Any]) -> tuple[str, ...]:
    """How many endings were drawn, and how many of them rejected, and why."""
    if not candidates:
        return ("",) * (len(DRAWN) - 1)
    rejected = candidates["rejected_draws"]
    return f"{candidates['n_draws']:,}", *(f"{rejected.get(why.replace(' ', '_'), 0):,}" for why in DRAWN[2:])


def _parts(results: Mapping[str, Any], n: int) -> str:
    """`n` parts of all that are planned, in words."""
    planned = results["size"]["n_folds"]
    return f"All {n} parts together" if n == planned else "One part" if n == 1 else f"{n} of {planned} parts together"


def _figure2(results: Mapping[str, Any], picture: str) -> list[str]:
    """What Figure 2 of the paper led us to expect, and what came out."""
    found = results["ensemble"]
    n = len(found["main"]["runs"]) if "main" in found else 0
    of_runs = {"big": "the big run", "main": _parts(results, n).replace(" together", ", mean").lower()}
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
        tell = _points_of if one.figure in UNITS else _figure
        cells = [cell for figure in figures for cell in (tell(figure), came(one, figure))]
        rows.append((UNITS.get(one.figure, one.figure), one.told, *cells))
    single = "Intervals of a single run: of its levels by contexts, of its jump and slope two standard errors over "
    single += "iterations, as if these were independent. "
    several = "Intervals of several parts: Student's t, a figure a part."
    counts = [len(runs["jumps"]) for runs in asked.values()]
    told = (single if 1 in counts else "") + (several if max(counts) > 1 else "")
    return [*lines, *markdown_table(rows), "", told.rstrip(), "", *bullets(_verdicts(results))]


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
    for name, label in (("big", "In the big run"), ("parts", f"On {_parts(results, results['audited']).lower()}")):
        audits = results["audits"].get(name, {})
        if "fresh jump" in audits:
            jump = audits["fresh jump"]
            verdict = _which(jump, "it finds more", "it finds less", "which finds more cannot be told")
            told.append(
                f"{label}, after the MLP's iterations a fresh ensemble finds {_points_both(jump)} points more than a "
                f"fresh MLP on the same assignment, paired by context: {verdict}.{_control(audits)}"
            )
        row = audits.get(results["size"]["joint"], {})
        for which, whose, paper in (
            ("change by the MLP", "the MLP's iterations", "not sufficient to lower it"),
            ("own change", "the ensemble's own iterations", "that it drops substantially"),
        ):
            if change := row.get(which):
                told.append(
                    f"{label}, {whose} change what a fresh ensemble finds by {_points_both(change)} points: "
                    f"{_which(change, 'a rise', 'a fall', 'no change can be told')}. The paper: {paper}."
                )
    return told


def _control(audits: Mapping[str, Any]) -> str:
    """How much of the difference was there before any iteration."""
    if "fresh jump, beyond random" not in audits:
        return ""
    more = audits["fresh jump, beyond random"]
    told = _which(more, "they widened it", "they narrowed it", "whether they widened it cannot be told")
    return (
        f" At the random start that difference is {_points_both(audits['fresh jump, at random'])} points; the MLP's "
        f"iterations added {_points_both(more)}: {told}."
    )


def _which(figure: Mapping[str, Any], above: str, below: str, neither: str, *, over_parts: bool = True) -> str:
    """What a difference says, by its interval over contexts and, where there is one, by that over parts."""
    intervals = [figure, figure["over parts"]] if over_parts and "over parts" in figure else [figure]
    if all(one["low"] > 0 for one in intervals):
        return above
    return below if all(one["high"] < 0 for one in intervals) else neither


def _seeds(results: Mapping[str, Any]) -> list[str]:
    main = results["ensemble"].get("main")
    if not main:
        return []
    rows: Rows = [
        ("seed and part", "jump, points", "slope, points in ten iterations", "the ensemble's last iterations, %")
    ]
    for i, (jump, slope) in enumerate(zip(main["jumps"], main["slopes"], strict=True)):
        cells = [f"{_points(one['value'])} ± {100 * one['error']:.1f}" for one in (jump, slope)]
        rows.append((main["runs"][i].rpartition("-")[2], *cells, _percent(main["levels"]["ensemble ends"]["each"][i])))
    return ["Seed by seed:", "", *markdown_table(rows)]


def _audits(results: Mapping[str, Any], name: str, title: str) -> list[str]:
    audits = {f: row for f, row in results["audits"].get(name, {}).items() if f in NAMES}
    if not audits:
        return []
    when = ("random", "after the MLP", "at the end")
    changes = {"change by the MLP": "by the MLP", "own change": "by the ensemble", "change": "in all"}
    rows: Rows = [("fresh filter", *when, *changes.values())]
    for filter, row in audits.items():
        cells = [_figure(row[label]) if label in row else "" for label in when]
        rows.append((NAMES[filter], *cells, *(_points_of(row[one]) if one in row else "" for one in changes)))
    took = (
        "Last, what the iterations of each phase change, in points, paired by context. The MLP and the ensemble took "
        "part, and are asked again by fresh fits; the others took no part."
    )
    return [f"### {title}", "", *markdown_table(rows), "", took, *_changes_of_parts(audits, changes)]


def _changes_of_parts(audits: Mapping[str, Any], changes: Mapping[str, str]) -> list[str]:
    """The changes of each part, and their means with intervals over the parts."""
    over = {
        (filter, label): row[one]["over parts"]
        for filter, row in audits.items()
        for one, label in changes.items()
        if "over parts" in row.get(one, {})
    }
    if not over:
        return []
    rows: Rows = [("fresh filter", "iterations", "mean (Student's t over the parts)", "part by part")]
    for (filter, label), one in over.items():
        each = ", ".join(_points(value) for value in one["each"])
        rows.append((NAMES[filter], label, _points_of(one), each))
    return [
        "",
        "The same changes, a figure a part. Each part has runs and fits of its own, so their chance is in these "
        "intervals. A change stands here where both of its intervals exclude zero.",
        "",
        *markdown_table(rows),
    ]


def _arms(results: Mapping[str, Any]) -> list[str]:
    """One thing changed at a time."""
    rows: Rows = [
        ("arm", "against", "parts", "n-grams", "fastText", "MLP", "ensemble", "jump by fresh filters, points")
    ]
    for name, found in results["compared"].items():
        filters = ("ngrams", "fasttext", "mlp", results["size"]["joint"])
        if not any(filter in found for filter in filters):
            continue
        cells = [
            f"{_percent(found[f]['mine']['value'])}: {_points_of(found[f]['difference'])}" if f in found else ""
            for f in filters
        ]
        both = [found.get(f"fresh jump, {which}") for which in ("mine", "its")]
        jump = " / ".join(_points_of(one) if one else "none" for one in both) if any(both) else ""
        arm = results["arms"][name]
        rows.append((f"`{name}`: {arm['about']}", f"`{found['against']}`", f"{found['parts']}", *cells, jump))
    if len(rows) < 2:
        return []
    return [
        "### One thing changed at a time",
        "",
        "What fresh filters find at the end of each arm, %, and how much more that is than at the end of the arm "
        "beside it, in points, on the same parts and paired by the contexts that both have. Last: what a fresh "
        "ensemble finds beyond a fresh MLP when the MLP's iterations are over, in this arm and in the other; none "
        "where an arm has no such moment, or was not asked.",
        "",
        *markdown_table(rows),
        "",
        *bullets([*_arm_lines(results), *_starts(results)]),
        "",
        *_arm_cautions(results),
        *_over_parts(results),
    ]


def _starts(results: Mapping[str, Any]) -> list[str]:
    """What a fresh MLP finds at random, where two arms begin differently."""
    lines = []
    for name, found in results["compared"].items():
        mine, its = (found.get(f"mlp at random, {which}") for which in ("mine", "its"))
        if mine and its and mine != its:
            lines.append(
                f"Before any iteration a fresh MLP finds {_figure(mine)} % in `{name}` and {_figure(its)} % in "
                f"`{found['against']}`."
            )
    return lines


def _over_parts(results: Mapping[str, Any]) -> list[str]:
    """The differences of arms on several parts, a figure a part; how much easier those of `fixed` may be."""
    compared = results["compared"]
    of_parts = {
        name: {f: found[f]["difference"]["over parts"] for f in NAMES if "over parts" in _difference_of(found, f)}
        for name, found in compared.items()
    }
    asked = [f for f in NAMES if any(f in over for over in of_parts.values())]
    if not asked:
        return []
    rows: Rows = [("arm", "parts", *(NAMES[f] for f in asked))]
    for name, over in of_parts.items():
        if over:
            n = max(one["n"] for one in over.values())
            rows.append((f"`{name}`", f"{n}", *(_points_of(over[f]) if f in over else "" for f in asked)))
    return [
        "",
        "The same differences in points, a figure a part (Student's t over the parts). Each part has runs and fits of "
        "its own, so their chance is in these intervals.",
        "",
        *markdown_table(rows),
        *_as_hard(results),
    ]


def _difference_of(found: Mapping[str, Any], filter: str) -> Mapping[str, Any]:
    """How much more a filter finds than in the other arm; empty where it was not asked."""
    difference: Mapping[str, Any] = found[filter]["difference"] if filter in found else {}
    return difference


def _as_hard(results: Mapping[str, Any]) -> list[str]:
    """How much more the filters that took no part may find in the questions of `--splits fixed`."""
    found = results["compared"].get("fixed", {})
    asked = [found[f] for f in (*results["size"]["unseen"], "encoder") if f in found]
    over = [one["difference"]["over parts"]["high"] for one in asked if "over parts" in one["difference"]]
    if not over:
        return []
    most = max(one["difference"]["high"] for one in asked)
    return [
        "",
        f"`--splits fixed`: of {len(asked)} filters that took no part, the intervals allow that one finds up to "
        f"{_points(most)} points more than in the questions of the exact loop (over contexts), {_points(max(over))} "
        f"(over the parts). Asked before the runs: no more than {_points(AS_HARD)} for all of them, and no interval "
        f"above zero. {'It holds' if is_as_hard(asked) else 'It does not hold'}.",
    ]


def _arm_cautions(results: Mapping[str, Any]) -> list[str]:
    """What the comparisons of arms do not allow."""
    compared = {name: found for name, found in results["compared"].items() if set(found) & set(NAMES)}
    n = sum(name in found for found in compared.values() for name in NAMES)
    single = [f"`{name}`" for name, found in compared.items() if found["parts"] == 1]
    sizes = [f"`{name}`" for name in ("big", "half", "quarter") if name in compared]
    lines = [
        f"Of {n} such intervals about {max(1, round(n / 20))} would exclude zero by luck alone; none is corrected for "
        "that."
    ]
    if single:
        lines.append(f"{', '.join(single)}: one run each; another seed of it might differ by more than the interval.")
    if sizes:
        lines.append(
            f"{', '.join(sizes)}: the filters that read the questions are fitted on as many contexts as the arm has: "
            "a difference is also one of readers, who learn more from more; what the loop did cannot be told from it."
        )
    return [" ".join(lines)]


def _arm_lines(results: Mapping[str, Any]) -> list[str]:
    """What each arm's intervals over contexts exclude, and which of these the intervals over parts exclude too."""
    lines = []
    for name, found in results["compared"].items():
        asked = {f: one for f in NAMES if (one := _difference_of(found, f))}
        told = {f: way for f, one in asked.items() if (way := _which(one, "more", "less", "", over_parts=False))}
        as_well = [NAMES[f] for f in told if _which(asked[f], "more", "less", "")]
        text = ", ".join(f"{NAMES[f]} {way}" for f, way in told.items()) or "no difference can be told"
        if told and found["parts"] > 1:
            text += f"; over the parts as well: {', '.join(as_well) or 'none of them'}"
        if any(f in found for f in ("ngrams", "mlp")):
            lines.append(f"`{name}` against `{found['against']}`: {text}.")
    return lines


FEWEST_DRAWN = 4
"""Numbers of contexts from which on growth is drawn: of fewer the table tells as much."""


def _growth(results: Mapping[str, Any], picture: str) -> list[str]:
    if not results["growth"]:
        return []
    sizes = sorted({one["contexts"] for one in results["growth"]})
    found = {(one["filter"], one["contexts"]): one for one in results["growth"]}
    rows: Rows = [("contexts", *(f"{n:,}" for n in sizes))]
    for filter in dict.fromkeys(one["filter"] for one in results["growth"]):
        rows.append((NAMES[filter], *(_figure(found[filter, n]) if (filter, n) in found else "" for n in sizes)))
    lines = ["### What each filter finds, by number of contexts", ""]
    lines += [f"![Growth]({picture}/growth.svg)", ""] if picture and len(sizes) >= FEWEST_DRAWN else []
    most, fewest = (choose(len(one["draws"]) for one in results["growth"]) for choose in (max, min))
    draws = f"{most} draws" if most == fewest else f"{fewest} to {most} draws"
    return [*lines, f"On random assignments, five folds of whole groups, {draws}, %.", "", *markdown_table(rows)]


def _fourway(results: Mapping[str, Any]) -> list[str]:
    if not results["fourway"]:
        return []
    named = ("ours, unfiltered", "ours", "SWAG", "HellaSwag")
    sets = [name for name in named if any(one["set"] == name for one in results["fourway"])]
    found = {(one["input"], one["model"], one["set"]): one for one in results["fourway"]}
    rows: Rows = [("input, reader", *sets)]
    for input, model in sorted({(i, m) for i, m, _ in found}):
        cells = [_figure(found[input, model, one]) if (input, model, one) in found else "" for one in sets]
        rows.append((f"{input}, {model}", *cells))
    n = results["fourway"][0]["n"]
    most, fewest = (choose(one["draws"] for one in results["fourway"]) for choose in (max, min))
    draws = f"{most}" if most == fewest else f"{fewest} to {most}"
    return [
        "### The released four-way questions beside real ones",
        "",
        f"{n:,} questions of each, five folds, %, chance 25; {draws} draws where a set has more. No person has chosen "
        "among our endings; SWAG's and HellaSwag's were. The paper's SWAG, with 73,000 training questions: n-grams "
        "29.0, fastText 27.8.",
        "",
        *markdown_table(rows),
    ]


PAPER_TABLE_2 = {
    "gold": {"best": 53.5, "second": 20.2, "in the best two": 73.7, "likely": 80.3, "unlikely": 19.0, "gibberish": 0.7},
    "generated": {"best": 9.3, "second": 15.9, "likely": 33.3, "unlikely": 57.5, "gibberish": 9.1},
}
"""% of found and of generated endings (Zellers et al. 2018, 3.5 and Table 2)."""


def _reading(results: Mapping[str, Any]) -> list[str]:
    if "reading" not in results:
        return []
    said = results["reading"]
    rows: Rows = [("", "gold: one reader", "the paper's workers", "generated: one reader", "the paper's workers")]
    for name in PAPER_TABLE_2["gold"]:
        cells = [
            cell
            for kind, of_paper in PAPER_TABLE_2.items()
            for cell in (_figure(said[f"{kind} {name}"]), f"{of_paper[name]}" if name in of_paper else "")
        ]
        rows.append((name, *cells))
    about = (
        f"{said['n']} contexts, each of another group, six endings each, read blind by {said['reader']}; % of gold "
        "endings and of generated ones, five a context. Intervals say what other contexts would give, not what other "
        "readers."
    )
    return ["### One reader", "", about, "", *markdown_table(rows), *_mixed(said)]


def _mixed(said: Mapping[str, Any]) -> list[str]:
    """How endings read that filtering took out and brought in, and the differences."""
    if not said["n mixed"]:
        return []
    rows: Rows = [("", "taken out", "brought in", "difference, points, paired by context")]
    for name in ("in the best two", "likely", "unlikely", "gibberish"):
        cells = [_figure(said[f"{kind} {name}"]) for kind in ("taken out", "brought in")]
        rows.append((name, *cells, _points_of(said[f"change {name}"])))
    change = said["change gibberish"]
    told = _which(change, "more", "less", "")
    verdict = (
        f"filtering brings in {told} gibberish" if told else "whether filtering brings in more gibberish cannot be told"
    )
    about = (
        f"{said['n mixed']} other contexts, where the same reader saw six generated endings, three that filtering took "
        f"out and three that it brought in, mixed and without gold: {verdict}."
    )
    return ["", about, "", *markdown_table(rows)]


def _missing(results: Mapping[str, Any]) -> list[str]:
    """What this record does not hold, so that nobody takes it for measured."""
    parts = {
        "the big run": "big" in results["curves"],
        "the parts, seed by seed": "main" in results["ensemble"],
        "audits": any(results["audits"].values()),
        "single changes": any(set(found) & set(NAMES) for found in results["compared"].values()),
        "growth with the number of contexts": bool(results["growth"]),
        "an adversary with pretrained weights": any("encoder" in found for found in results["audits"].values()),
        "the released questions beside real ones": bool(results["fourway"]),
        "a reader's sheet": "reading" in results,
    }
    missing = [name for name, is_there in parts.items() if not is_there]
    lines = [f"**Not measured in this record**: {', '.join(missing)}."] if missing else []
    some = [f"{made:,} of {n:,} {what}" for what, (made, n) in results["done"].items() if 0 < made < n]
    return [*lines, *[""][: len(lines)], f"**Measured in part**: {', '.join(some)}."] if some else lines


def _steps(results: Mapping[str, Any]) -> list[str]:
    """The commands, those of the first steps as they are, of the others the first."""
    size = results["size"]["name"]
    lines = ["### How", "", f"    python benchmarks/experiment.py --size {size} --out OUT --encoder ENCODER", ""]
    lines += ["Its first steps, and the first command of each later one:", ""]
    for listed in results["commands"].values():
        lines += [f"    {line}" for line in listed[:1]]
    return lines


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _figure(one: Mapping[str, Any]) -> str:
    if one.get("low") is None:
        return _percent(one["value"])
    return f"{_percent(one['value'])} ({_percent(one['low'])} to {_percent(one['high'])})"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _points_both(one: Mapping[str, Any]) -> str:
    """A difference with its interval over contexts and, where there is one, that over parts."""
    if "over parts" not in one:
        return _points_of(one)
    over = one["over parts"]
    return f"{_points_of(one)[:-1]}; over the parts {_points(over['low'])} to {_points(over['high'])})"


def _points_of(one: Mapping[str, Any]) -> str:
    value = one["mean"] if "mean" in one else one["value"]
    if one.get("low") is None:
        return _points(value)
    return f"{_points(value)} ({_points(one['low'])} to {_points(one['high'])})"


def with_part(text: str, part: str) -> str:
    """A document with `part` between the marks."""
    head, found, rest = text.partition(BEGIN)
    _, ended, tail = rest.partition(END)
    if not found or not ended:
        raise ValueError("the marks are not there")
    return f"{head}{BEGIN}\n{part}{END}{tail}"


def part_of(text: str) -> str:
    """What stands between the marks."""
    return text.partition(BEGIN)[2].partition(END)[0].removeprefix("\n")
