"""What readers find: filters by number of contexts, an MLP where a curve begins, models in the released questions and
in real ones, one reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from experimenting.starts import CAPITAL, OTHERS
from experimenting.wording import NAMES, Rows, told_change, told_level, told_percent, told_way
from swag_af.reporting.tables.markdown import markdown_table

FEWEST_DRAWN = 4
"""Numbers of contexts from which on growth is drawn: of fewer the table tells as much."""


def growth_by_size(results: Mapping[str, Any], picture: str) -> list[str]:
    """What each filter finds in so many contexts."""
    if not results["growth"]:
        return []
    sizes = sorted({one["contexts"] for one in results["growth"]})
    lines = ["### What each filter finds, by number of contexts", ""]
    lines += [f"![Growth]({picture}/growth.svg)", ""] if picture and len(sizes) >= FEWEST_DRAWN else []
    of_a_part = results["size"]["n_contexts"] // results["size"]["n_folds"]
    whose = ""
    if sizes[-1] > of_a_part:
        whose = f" Up to {of_a_part:,} contexts are of the first part; more are of all, each with models of its own."
    draws = _draws_told(results["growth"])
    lines += [
        f"On random assignments, five folds of whole groups, {draws}, %.{whose}",
        "",
        *_by_size(results["growth"]),
    ]
    return [*lines, *_wide(results)]


def _wide(results: Mapping[str, Any]) -> list[str]:
    """The same in more contexts, with as few candidates as a question has."""
    if not results.get("wide"):
        return []
    folds = " and ".join(map(str, results["size"]["wide_folds"]))
    about = (
        f"The same in contexts of the folds {folds}, with models of their own and no more candidates than the nine "
        f"wrong endings of a question; {_draws_told(results['wide'])}; the fewer contexts of a draw are among the more:"
    )
    lines = ["", about, "", *_by_size(results["wide"])]
    if gaps := results.get("wide gaps"):
        told = "; ".join(f"{told_change(one)} in {one['contexts']:,} ({_draws_told([one])})" for one in gaps)
        which = NAMES[results["size"]["joint"]]
        lines += [
            "",
            f"There the {which} finds more than the MLP on the same assignments, paired by context, by {told}.",
        ]
    return lines


def _draws_told(figures: Sequence[Mapping[str, Any]]) -> str:
    most, fewest = (choose(len(one["draws"]) for one in figures) for choose in (max, min))
    if most == fewest:
        return "one draw" if most == 1 else f"{most} draws"
    return f"{fewest} to {most} draws"


def _by_size(figures: Sequence[Mapping[str, Any]]) -> list[str]:
    sizes = sorted({one["contexts"] for one in figures})
    found = {(one["filter"], one["contexts"]): one for one in figures}
    rows: Rows = [("contexts", *(f"{n:,}" for n in sizes))]
    for filter in dict.fromkeys(one["filter"] for one in figures):
        rows.append((NAMES[filter], *(told_level(found[filter, n]) if (filter, n) in found else "" for n in sizes)))
    return markdown_table(rows)


def where_it_begins(results: Mapping[str, Any]) -> list[str]:
    """What a fresh MLP finds before any filtering, where candidates or likelihoods are made in another way."""
    if not results.get("starts"):
        return []
    parts = (CAPITAL, OTHERS)
    rows: Rows = [("", "endings are", "a fresh MLP finds, %", "more than in ours, points", *(f"{p}, %" for p in parts))]
    for one in results["starts"]:
        more = told_change(one["more"]) if "more" in one else ""
        cells = (told_level(one[part]) if part in one else "" for part in parts)
        rows.append((f"`{one['set']}`", one["about"], told_level(one), more, *cells))
    first = results["starts"][0]
    share = first[CAPITAL]["n"] / first["n"] if CAPITAL in first else 0.0
    return [
        "### Where the curve begins",
        "",
        f"Random assignments of {first['n']:,} contexts of the arm `dealt`, {_draws_told(results['starts'])} each, "
        "five folds of whole groups, paired by context; one thing changed at a time, then several together. `unknown` "
        "and `short` are what the released code does otherwise; the last word before an ending has a capital in "
        f'{told_percent(share)} % of these contexts, as in "He", and the others of `unknown` have the same candidates '
        f"as in ours.{_of_swag(results)} A model that has read gold is in no run, nor in the paper.",
        "",
        *markdown_table(rows),
    ]


def _of_swag(results: Mapping[str, Any]) -> str:
    """How often the last word has a capital in SWAG itself."""
    told = results.get("capitals")
    return (
        f" Of {told['n']:,} questions of SWAG it has one in {told_percent(told['capital'] / told['n'])} %."
        if told
        else ""
    )


def released_beside_real(results: Mapping[str, Any]) -> list[str]:
    """What models find in the released questions, and in as many of SWAG and HellaSwag."""
    if not results["fourway"]:
        return []
    named = ("ours, unfiltered", "ours", "SWAG", "HellaSwag")
    sets = [name for name in named if any(one["set"] == name for one in results["fourway"])]
    found = {(one["input"], one["model"], one["set"]): one for one in results["fourway"]}
    rows: Rows = [("input, reader", *sets)]
    for input, model in sorted({(i, m) for i, m, _ in found}):
        cells = [told_level(found[input, model, one]) if (input, model, one) in found else "" for one in sets]
        rows.append((f"{input}, {model}", *cells))
    n = results["fourway"][0]["n"]
    most, fewest = (choose(one["draws"] for one in results["fourway"]) for choose in (max, min))
    draws = f"{most}" if most == fewest else f"{fewest} to {most}"
    return [
        "### The released four-way questions beside real ones",
        "",
        f"{n:,} questions of each, five folds, %, chance 25; means over {draws} seeds of the folds, of larger sets of "
        "as many draws, too. No person has chosen among our endings; SWAG's and HellaSwag's were. The paper's SWAG, "
        "with 73,000 training questions: n-grams 29.0, fastText 27.8.",
        "",
        *markdown_table(rows),
    ]


PAPER_TABLE_2 = {
    "gold": {"best": 53.5, "second": 20.2, "in the best two": 73.7, "likely": 80.3, "unlikely": 19.0, "gibberish": 0.7},
    "generated": {"best": 9.3, "second": 15.9, "likely": 33.3, "unlikely": 57.5, "gibberish": 9.1},
}
"""% of found and of generated endings (Zellers et al. 2018, 3.5 and Table 2)."""


def one_reader(results: Mapping[str, Any]) -> list[str]:
    """What a reader said of endings, beside what the paper's workers said."""
    if "reading" not in results:
        return []
    said = results["reading"]
    rows: Rows = [("", "gold: one reader", "the paper's workers", "generated: one reader", "the paper's workers")]
    for name in PAPER_TABLE_2["gold"]:
        cells = [
            cell
            for kind, of_paper in PAPER_TABLE_2.items()
            for cell in (told_level(said[f"{kind} {name}"]), f"{of_paper[name]}" if name in of_paper else "")
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
    for name in ("best", "second", "in the best two", "likely", "unlikely", "gibberish"):
        cells = [told_level(said[f"{kind} {name}"]) for kind in ("taken out", "brought in")]
        rows.append((name, *cells, told_change(said[f"change {name}"])))
    change = said["change gibberish"]
    told = told_way(change, "more", "less", "")
    verdict = (
        f"there filtering brought in {told} gibberish, by one of six figures"
        if told
        else "whether filtering brings in more gibberish is inconclusive"
    )
    about = (
        f"{said['n mixed']} other contexts, where the same reader saw six generated endings, three that filtering took "
        f"out and three that it brought in, mixed and without gold: {verdict}."
    )
    chosen = "Six figures, of which the last three sum to 100; none is corrected for how many there are."
    return ["", about, "", *markdown_table(rows), "", chosen]
