"""The arms beside the one that each is held against: tables and sentences."""

from collections.abc import Mapping
from typing import Any

from experimenting.predicted import AS_HARD, is_as_hard
from experimenting.wording import NAMES, Rows, told_both, told_change, told_level, told_percent, told_points, told_way
from swag_af.reporting.tables.markdown import bullets, markdown_table


def arms_compared(results: Mapping[str, Any]) -> list[str]:
    """One thing changed at a time."""
    rows: Rows = [
        ("arm", "against", "parts", "n-grams", "fastText", "MLP", "ensemble", "jump by fresh filters, points")
    ]
    for name, found in results["compared"].items():
        filters = ("ngrams", "fasttext", "mlp", results["size"]["joint"])
        if not any(filter in found for filter in filters):
            continue
        cells = [
            f"{told_percent(found[f]['mine']['value'])}: {told_change(found[f]['difference'])}" if f in found else ""
            for f in filters
        ]
        both = [found.get(f"fresh jump, {which}") for which in ("mine", "its")]
        jump = " / ".join(told_change(one) if one else "none" for one in both) if any(both) else ""
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
        "where an arm has no such moment, or where it was not measured.",
        "",
        *markdown_table(rows),
        "",
        *bullets([*_arm_lines(results), *_starts(results)]),
        "",
        *_arm_cautions(results),
        *_over_parts(results),
        *_after_the_mlp(results),
    ]


def _after_the_mlp(results: Mapping[str, Any]) -> list[str]:
    """The differences of arms when the MLP's iterations are over, where both have audits of that moment."""
    found = {name: one["after the MLP"] for name, one in results["compared"].items() if one.get("after the MLP")}
    asked = [f for f in NAMES if any(f in one for one in found.values())]
    if not asked:
        return []
    rows: Rows = [("arm", "parts", *(NAMES[f] for f in asked))]
    for name, one in found.items():
        cells = (told_both(one[f]["difference"]) if f in one else "" for f in asked)
        rows.append((f"`{name}`", f"{results['compared'][name]['parts']}", *cells))
    return [
        "",
        "The differences when the MLP's iterations are over, before the ensemble's, in points: over contexts and, "
        "where there are several parts, over these.",
        "",
        *markdown_table(rows),
    ]


def _starts(results: Mapping[str, Any]) -> list[str]:
    """What a fresh MLP finds at random, where two arms begin differently."""
    lines = []
    for name, found in results["compared"].items():
        mine, its = (found.get(f"mlp at random, {which}") for which in ("mine", "its"))
        if mine and its and mine != its:
            lines.append(
                f"Before any iteration a fresh MLP finds {told_level(mine)} % in `{name}` and {told_level(its)} % in "
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
            rows.append((f"`{name}`", f"{n}", *(told_change(over[f]) if f in over else "" for f in asked)))
    return [
        "",
        "The same differences in points, a figure a part (Student's t over the parts). Each part has runs and fits of "
        "its own, so their chance is in these intervals.",
        "",
        *markdown_table(rows),
        *(line for name in ("fixed", "dealt-fixed") for line in _as_hard(results, name)),
    ]


def _difference_of(found: Mapping[str, Any], filter: str) -> Mapping[str, Any]:
    """How much more a filter finds than in the other arm; empty where it was not asked."""
    difference: Mapping[str, Any] = found[filter]["difference"] if filter in found else {}
    return difference


def _as_hard(results: Mapping[str, Any], name: str) -> list[str]:
    """How much more the filters that took no part may find in the questions of an arm by `--splits fixed`."""
    found = results["compared"].get(name, {})
    asked = [found[f] for f in (*results["size"]["unseen"], "encoder") if f in found]
    over = [one["difference"]["over parts"]["high"] for one in asked if "over parts" in one["difference"]]
    if not over:
        return []
    most = max(one["difference"]["high"] for one in asked)
    return [
        "",
        f"`{name}` (`--splits fixed`): what a filter that took no part ({len(asked)} were fitted) finds more in its "
        f"questions than in those of the exact loop is at most {told_points(most)} points by the intervals over "
        f"contexts, and {told_points(max(over))} by those over the parts. Set before the runs: no more than "
        f"{told_points(AS_HARD)} for all of them, and no interval above zero. "
        f"{'These show it' if is_as_hard(asked) else 'These do not show it'}.",
    ]


def _arm_cautions(results: Mapping[str, Any]) -> list[str]:
    """What the comparisons of arms do not allow."""
    compared = {name: found for name, found in results["compared"].items() if set(found) & set(NAMES)}
    n = sum(name in found for found in compared.values() for name in NAMES)
    single = [f"`{name}`" for name, found in compared.items() if found["parts"] == 1]
    sizes = [f"`{name}`" for name in ("bigger", "big", "double", "half", "quarter") if name in compared]
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
        told = {f: way for f, one in asked.items() if (way := told_way(one, "more", "less", "", over_parts=False))}
        as_well = [NAMES[f] for f in told if told_way(asked[f], "more", "less", "")]
        text = ", ".join(f"{NAMES[f]} {way}" for f, way in told.items()) or "no significant difference"
        if any("over parts" in asked[f] for f in told):
            text += f"; over the parts as well: {', '.join(as_well) or 'none of them'}"
        if any(f in found for f in ("ngrams", "mlp")):
            lines.append(f"`{name}` against `{found['against']}`: {text}.")
    return lines
