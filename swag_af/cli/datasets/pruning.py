"""What the verb `prune` prints."""

from collections.abc import Sequence
from dataclasses import replace

from swag_af.auditing.comparison import changed, comparison_rows
from swag_af.data.disk.urls import command_for
from swag_af.data.errors import several
from swag_af.pruning.agreement import agreement_line
from swag_af.pruning.artifacts import PROBES, counted_line, left_line, note_on
from swag_af.pruning.folder import AFTER, Pruned
from swag_af.pruning.options import PruneOptions
from swag_af.reporting.tables.text import table

CONTROL = (
    "Judge by probes of another kind than chose the rows, and beside as many rows removed at random: of a probe that "
    "took part a fall is by construction (regression to the mean)."
)


def pruned_lines(pruned: Pruned, options: PruneOptions) -> list[str]:
    """How many went and why, what luck does, what was mended and made, agreement, where it all is."""
    return [*summary_lines(pruned), *_independent(pruned, options), "", *_where(pruned, options)]


def summary_lines(pruned: Pruned) -> list[str]:
    """The same without where it is."""
    about = pruned.about
    n_gone = about.n - about.n_kept
    lines = [
        f"{about.name}: {n_gone:,} of {several(about.n, 'instance')} removed in {several(len(about.rounds), 'round')}, "
        f"{about.n_kept:,} kept; {several(about.n_groups, 'group')}",
        _above(pruned),
        *([about.unreached] if about.unreached else []),
    ]
    if about.parted:
        lines += ["", about.parted]
    if pruned.comparison is not None:
        rows = comparison_rows(pruned.comparison)
        counted = filter(None, [counted_line(pruned.comparison)])
        lines += ["", CONTROL, *counted, *about.told, *about.made, *_other(pruned), left_line(pruned.comparison)]
        header = tuple("at random, 95 %" if name == rows[0][2] else name for name in rows[0])
        lines += ["", *table([header, *rows[1:]]), f"(at random: {rows[0][2]})"] if len(rows) > 1 else []
    if about.agreement:
        lines += ["", agreement_line(about.agreement)]
    return lines


def _above(pruned: Pruned) -> str:
    """How many were predictable at first, and how many are by luck alone."""
    about = pruned.about
    first = about.rounds[0] if about.rounds else None
    if first is None:
        return "Too few instances to measure predictability, so nothing was removed."
    wrong = first.n_wrong if about.options["by"] == "aflite" and about.chance >= _TWO else None
    luck = max(about.n_above_by_luck, wrong or 0)
    tail = "." if not is_luck(first.n_above, luck) else _ALL_LUCK if about.n_kept < about.n else _NOTHING_GONE
    return (
        f"Predictability {about.threshold:g} or more: {first.n_above:,} at first"
        f"{'' if wrong is None else f'; as surely wrong: {wrong:,}'}; with answers drawn at random "
        f"{about.n_above_by_luck:,}, which is luck{tail}"
    )


_TWO = 0.499
"""The chance of two answers, where as many are surely wrong as surely right if nothing is found."""
_ALL_LUCK = ". No more than luck may do, so what was removed is as good as random: pruning like this does not help."

_NOTHING_GONE = ". Nothing was removed."


def is_luck(n_above: int, by_luck: int) -> bool:
    """Whether so many above the threshold are no more than `by_luck`, two standard errors of both counts allowed."""
    return n_above - by_luck <= 2 * (n_above + by_luck) ** 0.5


def _other(pruned: Pruned) -> Sequence[str]:
    """How many other checks found something that the removal made stronger than random removal does."""
    worse = len(changed(pruned.comparison, "further")) if pruned.comparison else 0
    return [f"{several(worse, 'check')} found more than before, beyond what random removal does."] if worse else []


def _independent(pruned: Pruned, options: PruneOptions) -> list[str]:
    """The command that audits by a model of another kind too, where all that did read what chose the rows."""
    probes = [one for one in pruned.comparison.changes if one.code in PROBES] if pruned.comparison else []
    if not probes or not all(note_on(one.subject, pruned.about.took_part) for one in probes):
        return []
    model = _OF_ANOTHER_KIND[pruned.about.of]
    more = replace(options, out=options.out.with_name(f"{options.out.name}-{model}"), write=None)
    told = command_for("prune", replace(more, audit_models=f"{options.audit_models},{model}"))
    return ["", "Every model of the audits reads what chose the rows. With one of another kind beside them:", told]


_OF_ANOTHER_KIND = {"choices": "chars", "classes": "lstm"}
"""By kind of instances, what reads more than which words there are: letters, or words in their order."""


def _where(pruned: Pruned, options: PruneOptions) -> list[str]:
    written = [f"The kept lines are in {options.write}."] if options.write else []
    page = f" Open {pruned.path / AFTER / 'audit.html'} in a browser." if pruned.comparison else ""
    return [*written, f"Written to {pruned.path}: rows.jsonl and kept.jsonl have the ids, curve.png the sizes.{page}"]
