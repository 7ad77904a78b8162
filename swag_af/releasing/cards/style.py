"""The text about style, for the card and the terminal: what fresh filters find in the released questions, what that
means, and what was not measured.
"""

from collections.abc import Sequence

from swag_af.auditing.runs.summary import (
    UNDECIDED,
    Rows,
    against_chance,
    audit_rows,
    below_lines,
    marked,
    repeated_lines,
    share,
    sizes_said,
    with_interval,
)
from swag_af.auditing.verdict import FEW
from swag_af.data.errors import several
from swag_af.data.runs.findings import Finding
from swag_af.data.runs.run import Run
from swag_af.filters.registry import is_pretrained
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.linked import HELD_OUT
from swag_af.releasing.style import Style
from swag_af.reporting.tables.markdown import bullets, markdown_table
from swag_af.reporting.tables.text import table

NOBODY = "Nobody has measured how much style gives away in these questions"


def style_in_short(run: Run, style: Style) -> str:
    """The findings in a sentence or two, for the beginning of the card."""
    if not style.findings:
        return f"{NOBODY}{f': {style.why_none}' if style.why_none else ''}."
    chance = share(style.findings[0].chance, words=True)
    figures = ", ".join(f"{marked(run, f.filter, words=True)} {with_interval(f, words=True)}" for f in style.findings)
    return (
        "Fresh filters, fitted on some of these very questions and scored on others, find the right ending this often: "
        f"{figures}; chance is {chance}. {_conclusion(style.findings)}"
    )


def _conclusion(findings: Sequence[Finding]) -> str:
    against = {against_chance(f) for f in findings}
    sentences = []
    if "above" in against:
        sentences.append("So style still gives some of the answers away.")
    if "below" in against:
        sentences.append(
            "Below chance is a finding too: the right ending can be found by avoiding what the filter prefers."
        )
    if against == {UNDECIDED}:
        sentences.append(
            "So these filters do not find gold more often than guessing might, and no more than that is known."
        )
    return " ".join(sentences)


def style_rows(run: Run, style: Style) -> Rows:
    """A header, then a row for each filter."""
    return audit_rows(run, style.findings, units=("questions", "groups"))


def linked_lines(dataset: Dataset) -> list[str]:
    """How many answers stand in the context of another question, and what that means; nothing where none does."""
    if not dataset.linked:
        return []
    where = ", ".join(f"{n:,} in {split}" for split, n in dataset.linked.items())
    remedy = " `--linked held-out` leaves one of two out there." if dataset.options.linked == "keep" else ""
    is_held_out = bool(HELD_OUT & dataset.linked.keys())
    withheld = ", also those of test, whose labels are withheld" if "test" in dataset.linked else ""
    return [
        f"The answers of {several(sum(dataset.linked.values()), 'question')} ({where}) stand in the context of "
        "another, as consecutive captions make them"
        + (
            f"{withheld}: whoever reads the whole file can look them up. A model that is asked question by question "
            f"cannot.{remedy}"
            if is_held_out
            else "."
        )
    ]


def style_section(dataset: Dataset, formats: Sequence[str]) -> list[str]:
    """The section of the card: figures, what they mean, what was not measured."""
    run, style = dataset.run_so_far, dataset.style
    lines = [f"{NOBODY}{f': {style.why_none}' if style.why_none else ''}."]
    few = f" With {several(len(dataset.group_sizes), 'group')} only large effects can be found."
    if style.findings:
        lines = [
            f"Measured on the {len(dataset.questions):,} questions of all splits, their "
            f"{1 + dataset.options.n_distractors} endings as they are released; each filter is fitted on "
            f"all but one of {style.findings[0].n_folds} parts of the groups that share a split, and scores that one. "
            "The interval allows for questions of one group being alike, and for fits that share most of what they "
            "learn from."
            + (few if len(dataset.group_sizes) < FEW else "")
            + ("" if run.matching or dataset.is_unfiltered else _MARKED),
            "",
            *markdown_table(style_rows(run, style)),
            *(part for line in (*below_lines(run, style.findings), *repeated_lines(run)) for part in ("", line)),
            *(["", _OF_THESE_GROUPS] if "jsonl" in formats else []),
        ]
    lines += [part for name, why in style.left_out for part in ("", f"`{name}` was left out: {why}")]
    return [*lines, "", "Not asked:", "", *bullets(_not_asked(dataset))]


_OF_THESE_GROUPS = (
    "By themselves, readers of these files go by videos or texts, which are smaller groups, and find other intervals. "
    "`swag-af audit jsonl/train.jsonl jsonl/validation.jsonl --video-column group` goes by the groups above, and "
    "draws folds of its own, so that its values differ by luck. test has no labels there."
)
_MARKED = " A filter whose kind took part in the filtering is marked: it is no fresh eye."


def _not_asked(dataset: Dataset) -> list[str]:
    names = [finding.filter for finding in dataset.style.findings]
    pretrained = any(map(is_pretrained, names))
    others = [
        "what larger pretrained models find;" if pretrained else "what pretrained models find, large or small;",
        "what anything finds that reads context and ending together more closely than these filters do;",
        "what people find who do not see the context;",
        "what lies outside the texts: the order of rows, ids, the choice of contexts;",
    ]
    if dataset.opinions is None:
        others.append("whether people can answer these questions at all;")
    return [*others[:-1], others[-1].rstrip(";") + "."]


def style_lines(run: Run, style: Style) -> list[str]:
    """The same as lines for the terminal."""
    left_out = [f"audit filter {name} was left out: {why}" for name, why in style.left_out]
    if not style.findings:
        return [style_in_short(run, style), *left_out]
    below = [*below_lines(run, style.findings), *repeated_lines(run)]
    return [
        "What style gives away in these questions:",
        "",
        *table(audit_rows(run, style.findings, units=())),
        "",
        f"({sizes_said(style.findings, 'question')}; fresh filters, fitted and scored on different groups; chance is "
        f"{style.findings[0].chance:.3f})",
        *(["", *below] if below else []),
        *left_out,
    ]
