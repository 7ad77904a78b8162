"""What the verb `prune` prints."""

from collections.abc import Sequence
from dataclasses import replace

from swag_af.auditing.classes import classes_lines, lopsided_line
from swag_af.auditing.comparison import changed, comparison_rows
from swag_af.data.disk.urls import command_for
from swag_af.data.errors import several
from swag_af.pruning.agreement import agreement_line
from swag_af.pruning.artifacts import PROBES, counted_line, left_line, note_on, uncalled_line
from swag_af.pruning.folder import AFTER, About, Pruned
from swag_af.pruning.options import PruneOptions
from swag_af.pruning.rounds import is_luck
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
        *(classes_lines(about.classes) if n_gone else []),
    ]
    if about.parted:
        lines += ["", about.parted]
    if pruned.comparison is not None:
        rows = comparison_rows(pruned.comparison)
        counted = filter(None, [counted_line(pruned.comparison)])
        uncalled = filter(None, [uncalled_line(pruned.comparison)])
        lines += [
            "",
            *uncalled,
            CONTROL,
            *counted,
            *about.told,
            *about.made,
            *_other(pruned),
            left_line(pruned.comparison),
        ]
        header = (*rows[0][:2], "at random, 95 %", *rows[0][3:])
        _, _, shifted = rows[0][2].partition(" %, ")
        note = [f"(at random: {shifted})"] if shifted else []
        lines += ["", *table([header, *rows[1:]]), *note] if len(rows) > 1 else []
    if about.agreement:
        lines += ["", agreement_line(about.agreement)]
    return lines


def _above(pruned: Pruned) -> str:
    """How many were predictable at first, and how many are by luck alone."""
    about = pruned.about
    first = about.rounds[0] if about.rounds else None
    if first is None:
        return "Too few instances to measure predictability, so nothing was removed."
    n_wrong, luck = _n_wrong(about), about.above_by_luck
    wrong = "" if n_wrong is None else f"; as surely wrong: {n_wrong:,}"
    ends, times = (f" ({min(luck):,} to {max(luck):,})", f"{len(luck)} times") if luck else ("", "once")
    return (
        f"Predictability {about.threshold:g} or more: {first.n_above:,} at first{wrong}; {about.n_above_by_luck:,}"
        f"{ends} by luck, with answers drawn at random {times}. {_judged(pruned)}"
    )


def _n_wrong(about: About) -> int | None:
    """How many are as surely predicted wrongly; an earlier version counted them of more than two answers too."""
    return about.rounds[0].n_wrong if about.above_by_luck else None


def _judged(pruned: Pruned) -> str:
    """Whether so many above the threshold are luck, and what that means for what was removed."""
    about, first = pruned.about, pruned.about.rounds[0]
    drawn = about.above_by_luck or (about.n_above_by_luck,)
    if not is_luck(first.n_above, (*drawn, _n_wrong(about) or 0)):
        return f"Luck alone is above all of these 1 time in {1 + len(drawn)}."
    if about.n_kept == about.n:
        return f"Nothing was removed.{_too_small(pruned)}"
    has_changed = pruned.comparison is not None and bool(changed(pruned.comparison, "nearer", "further"))
    return _UNLIKE_RANDOM if has_changed or lopsided_line(about.classes) else _ALL_LUCK


_ALL_LUCK = "No more than luck may do, so what was removed is as good as random: pruning like this does not help."
_UNLIKE_RANDOM = (
    "No more than luck may do: no text need give anything away for that. But what was removed is not like rows removed "
    "at random."
)


def _too_small(pruned: Pruned) -> str:
    """That fits of AFLite had little to learn from, a blank before it; empty where they had enough."""
    about = pruned.about
    if not 0 < about.n_train < _FEW:
        return ""
    return (
        f" The set is too small for more than a very plain sign to be found: each fit learns from {about.n_train:,} of "
        f"{about.n:,} instances (--train-share {about.options['train_share']:g}), and {_FEW} or more are needed."
    )


_FEW = 50
"""Instances from which on a fit can be expected to learn what a frequent word gives away. Our choice."""


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
