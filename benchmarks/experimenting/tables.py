"""The record as Markdown: tables, and sentences that say no more than the figures in it."""

from collections.abc import Mapping
from typing import Any

from experimenting.arms import arms_compared
from experimenting.phases import (
    audited_again,
    audits_by_phase,
    by_number,
    figure2,
    nested_jumps,
    read_together,
    same_contexts,
    seed_by_seed,
)
from experimenting.readers import growth_by_size, one_reader, released_beside_real, where_it_begins
from experimenting.steps import DOUBLE, MANY
from experimenting.wording import NAMES, Rows, told_parts
from swag_af.reporting.tables.markdown import markdown_table

BEGIN, END = "<!-- begin: benchmarks/experiment.py -->", "<!-- end: benchmarks/experiment.py -->"


def document(results: Mapping[str, Any], picture: str = "") -> str:
    """The whole part of the document that the experiment writes; `picture` is the folder of the figures."""
    parts = [
        _setting(results),
        figure2(results, picture),
        seed_by_seed(results),
        by_number(results),
        nested_jumps(results, picture),
        audits_by_phase(results, "bigger", f"{_together(results, 'bigger')}: what fresh filters find"),
        audits_by_phase(results, "big", f"{_together(results, 'big')}: what fresh filters find"),
        audits_by_phase(results, "parts", f"{told_parts(results, results['audited'])}: what fresh filters find"),
        read_together(results),
        audited_again(results),
        audits_by_phase(results, "double", "The arm `double`: what fresh filters find"),
        same_contexts(results),
        audits_by_phase(results, "weak", "The arm `weak`: what fresh filters find"),
        audits_by_phase(results, "dealt", "The arm `dealt`: what fresh filters find"),
        arms_compared(results),
        growth_by_size(results, picture),
        where_it_begins(results),
        released_beside_real(results),
        one_reader(results),
        _missing(results),
        _steps(results),
    ]
    return "\n\n".join(["\n".join(part) for part in parts if part]) + "\n"


TOGETHER = ("bigger", "big")
"""Runs on several parts together, the one with most contexts first."""


def _together(results: Mapping[str, Any], name: str) -> str:
    """A run on several parts together, as a heading has it."""
    return f"The run `{name}`, {results['arms'][name]['about']}" if name in results["arms"] else ""


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
        f"Commits: {', '.join(commits)}"
        f"{' (-dirty: with changes that were not committed)' if any('dirty' in one for one in commits) else ''}."
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
    if doubles := _of_doubles(results["parts"]):
        lines += ["", doubles]
    if counts := results.get("contexts"):
        lines += ["", f"{counts['kept']:,} of {counts['pairs']:,} pairs of captions make a context."]
    return lines


def _of_doubles(parts: Mapping[str, Any]) -> str:
    """Which of the pools of twice the contexts hold candidates of their part, and which were drawn whole."""
    doubles = [part for part in parts if part.endswith(f"-{DOUBLE}")]
    many = [part for part in parts if part.endswith(f"-{MANY}")]
    copies = [part for part in doubles if "copied_rows" in parts[part].get("candidates", {})]
    anew = [part for part in doubles if part not in copies and parts[part].get("candidates")]
    again = [part for part in anew if parts[part].get("models") != parts.get(part.split("-")[0], {}).get("models")]
    said = {
        "Rows of the part of the same number were copied, and what was drawn is of the other contexts: ": copies,
        "Drawn whole, by the models of the part: ": [part for part in anew if part not in again],
        "Drawn whole, by models trained again in the same way: ": again,
        "Rows of these were copied in turn, and two likelihoods computed for the candidates asked about: ": many,
    }
    return " ".join(f"{words}{', '.join(f'`{part}`' for part in which)}." for words, which in said.items() if which)


DRAWN = ("contexts", "endings drawn", "cut off", "too short", "repeated")


def _drawn(candidates: Mapping[str, Any]) -> tuple[str, ...]:
    """How many endings were drawn, and how many of them rejected, and why."""
    if not candidates:
        return ("",) * (len(DRAWN) - 1)
    rejected = candidates["rejected_draws"]
    return f"{candidates['n_draws']:,}", *(f"{rejected.get(why.replace(' ', '_'), 0):,}" for why in DRAWN[2:])


def _missing(results: Mapping[str, Any]) -> list[str]:
    """What this record does not hold, so that nobody takes it for measured."""
    parts = {
        **{f"the run `{name}`": name in results["curves"] for name in TOGETHER if name in results["arms"]},
        "the parts, seed by seed": "main" in results["ensemble"],
        "audits": any(results["audits"].values()),
        "runs with other seeds over the same contexts": bool(results.get("seeds")),
        "single changes": any(set(found) & set(NAMES) for found in results["compared"].values()),
        "growth with the number of contexts": bool(results["growth"]),
        "an adversary with pretrained weights": any("encoder" in found for found in results["audits"].values()),
        "the released questions beside real ones": bool(results["fourway"]),
        "a reader's sheet": "reading" in results,
    }
    missing = [name for name, is_there in parts.items() if not is_there]
    unread = [
        name for name, found in results["compared"].items() if name not in TOGETHER and not set(found) & set(NAMES)
    ]
    arms = {
        "the audits of the": [name for name in unread if name in results["ensemble"]],
        "the": [name for name in unread if name not in results["ensemble"]],
    }
    if parts["single changes"]:
        missing += [
            f"{which} {'arms' if len(names) > 1 else 'arm'} {', '.join(f'`{name}`' for name in names)}"
            for which, names in arms.items()
            if names
        ]
    lines = [f"**Not measured in this record**: {', '.join(missing)}."] if missing else []
    some = in_part(results)
    return [*lines, *[""][: len(lines)], f"**Measured in part**: {some}."] if some else lines


def in_part(results: Mapping[str, Any]) -> str:
    """What was begun and is not whole, and how far it is; empty where nothing is."""
    return ", ".join(f"{made:,} of {n:,} {what}" for what, (made, n) in results["done"].items() if 0 < made < n)


def _steps(results: Mapping[str, Any]) -> list[str]:
    """The commands, those of the first steps as they are, of the others the first."""
    size = results["size"]["name"]
    lines = ["### How", "", f"    python benchmarks/experiment.py --size {size} --out OUT --encoder ENCODER", ""]
    lines += ["Its first steps, and the first command of each later one:", ""]
    for listed in results["commands"].values():
        lines += [f"    {line}" for line in listed[:1]]
    return lines


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
