"""What the verb `refine` prints."""

from collections.abc import Sequence

from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.numbers.interval import Difference
from swag_af.refining.audits import BeforeAfter
from swag_af.refining.estimate import Cost
from swag_af.refining.folder import ANSWERS, Refined
from swag_af.refining.options import RefineOptions
from swag_af.refining.recipe import Share
from swag_af.refining.verb import costs, refine
from swag_af.reporting.tables.text import table


def refined_lines(options: RefineOptions) -> list[str]:
    """What was flagged beside luck, rounds, the control, audits, where it all is; of a dry run, what it may cost."""
    if options.dry_run:
        return cost_lines(costs(options))
    refined = refine(options)
    where = f"questions.jsonl has what is kept, versions.jsonl every version, {ANSWERS} what servers said"
    following = f"Next: {command('audit', refined.path / 'questions.jsonl')}"
    return [*summary_lines(refined), "", f"Written to {refined.path}: {where}. {following}"]


def summary_lines(refined: Refined) -> list[str]:
    """The same without where it is."""
    about = refined.about
    return [
        f"{about.name}: {several(about.n, 'question')} in {several(about.n_groups, 'group')}, {about.n_kept:,} kept, "
        f"{about.n_rewritten:,} of them with other options",
        *first_lines(refined),
        *round_lines(refined),
        *control_lines(refined),
        *(["", *table(_audit_rows(about.audits)), *_changes(refined)] if about.audits else []),
        *(["", *about.said] if about.said else []),
    ]


def cost_lines(found: Sequence[Cost]) -> list[str]:
    """A table, and what is not in it."""
    rows: list[tuple[str, ...]] = [("at most", "requests", "tokens", "money")]
    for one in found:
        money = "-" if one.money is None else f"{one.money:,.4g}"
        rows.append((one.what, f"{one.n_requests:,}", f"{one.tokens:,}", money))
    return [
        *table(rows),
        "",
        "Tokens are a fourth of the characters, and the longest answers; nothing was asked, and nothing written.",
    ]


def first_lines(refined: Refined) -> list[str]:
    """How many were flagged as they were given, and how many guessing alone would flag."""
    about, luck = refined.about, refined.about.luck
    lines = [f"Flagged as they were: {_share(about.first)}"]
    if luck is not None:
        lines.append(
            f"By luck alone: {luck.anew:.1%} if a model guesses anew in every try, {luck.steady:.1%} if it holds to "
            "one guess a question"
        )
    return [*lines, *([about.one_try] if about.one_try else [])]


def round_lines(refined: Refined) -> list[str]:
    """Each round, and what is left."""
    about = refined.about
    lines = [
        f"Round {one.round}: {one.n_flagged:,} flagged, {one.n_written:,} written anew, {one.n_mended:,} not flagged "
        "any more"
        for one in about.rounds
    ]
    if about.rounds and about.n_flagged:
        kept = "kept and marked" if about.options["unmended"] == "flag" else "dropped"
        lines.append(f"{about.n_flagged:,} are still flagged after the last round, and {kept}")
    if about.n_short:
        lines.append(f"{about.n_short:,} could not be given as many options as were wanted")
    return lines


def control_lines(refined: Refined) -> list[str]:
    """What judging once more makes of the flagged ones, as they were and as they are."""
    control = refined.about.control
    if control is None:
        return []
    lines = [f"Judged once more in new {control.anew}, as they were: {_share(control.was)} are flagged again"]
    if control.now and control.difference:
        lines.append(f"Judged once more, as they are now: {_share(control.now)}; {_paired(control.difference)}")
    return lines


def _audit_rows(audits: Sequence[BeforeAfter]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("reads the options", "before", "95 % interval", "after", "95 % interval", "chance")]
    for one in audits:
        sides = [(f"{side.accuracy:.3f}", f"{side.low:.3f} to {side.high:.3f}") for side in (one.before, one.after)]
        chances = dict.fromkeys(f"{side.chance:.3f}" for side in (one.before, one.after))
        rows.append((one.model, *sides[0], *sides[1], ", then ".join(chances)))
    return rows


def _changes(refined: Refined) -> list[str]:
    """Each audit on the questions that both have, and what is no mending about it."""
    lines = []
    for one in refined.about.audits:
        voted = " (voted)" if one.model in refined.about.judges else ""
        above = "" if one.before.chance == one.after.chance else "above chance, "
        lines.append(f"{one.model}{voted}, {one.n_paired:,} questions that both have: {above}{_paired(one.difference)}")
        if one.after.high < one.after.chance:
            lines.append(
                f"{one.model}{voted} is below chance now, which the refining made: gold is found by avoiding what it "
                "prefers."
            )
    if any(one.model in refined.about.judges for one in refined.about.audits):
        lines.append("What voted falls by construction; judge by audits of another kind.")
    return lines


def _paired(found: Difference) -> str:
    told = "" if found.is_significant else "; no significant change"
    return f"difference {found.mean:+z.3f} ({found.low:+z.3f} to {found.high:+z.3f}, paired{told})"


def _share(one: Share) -> str:
    part = one.n / max(1, one.of)
    return f"{one.n:,} of {one.of:,}, {part:.1%} ({one.low:.1%} to {one.high:.1%})"
