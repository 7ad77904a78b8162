"""Runs, models and questions as text: aligned tables for the terminal, rows for the dataset card."""

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from swag_af.auditing.comparison import Comparison
from swag_af.auditing.comparison import comparison_lines as repair_lines
from swag_af.auditing.outcome import Audit
from swag_af.auditing.runs.summary import (
    Rows,
    audit_rows,
    below_lines,
    comparison_lines,
    not_asked,
    repeated_lines,
    said_lines,
    sizes_said,
    unseen_lines,
)
from swag_af.auditing.storing import SavedAudit, saved_form
from swag_af.auditing.verdict import NOT_ASKED as NOT_ASKED_OF_DATA
from swag_af.auditing.verdict import diagnostic_rows, further, strongest, verdict
from swag_af.data.errors import several, told
from swag_af.data.numbers.percent import in_percent
from swag_af.data.runs.findings import Finding, read_audits
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import duration
from swag_af.reporting.plot import ends, turns

if TYPE_CHECKING:
    from swag_af.lm.estimate import Estimate
    from swag_af.lm.texts.estimate import TextEstimate


WIDTH, NAMED = 80, 20
"""Columns of a terminal, and how narrow the names of rows may become before a table is split."""


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as aligned columns, the first row a header; the first column is left-aligned, the others right-aligned.

    No line is wider than `WIDTH`, but where a cell is so by itself: names of rows are broken between words, and if that
    does not do, the columns go into several tables, one below the other, each with the names of the rows.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    values = sum(widths[1:]) + 2 * len(widths)  # with what is before and between columns
    word = max((len(word) for row in rows for word in row[0].split()), default=0)
    room = max(min(widths[0], max(NAMED, word)), WIDTH - values)
    if room + values <= WIDTH or len(widths) < 3:
        return _aligned(rows, [min(widths[0], room), *widths[1:]])
    fitting = max(1, sum(room + sum(widths[1:k]) + 2 * k <= WIDTH for k in range(2, len(widths))))
    n = 1 + ceil((len(widths) - 1) / ceil((len(widths) - 1) / fitting))  # as many columns in each, not in the first
    first, rest = [row[:n] for row in rows], [(row[0], *row[n:]) for row in rows]
    return [*table(first), "", *table(rest)]


def _aligned(rows: Sequence[tuple[str, ...]], widths: Sequence[int]) -> list[str]:
    head, *body = [_broken(row, widths) for row in rows]
    return [*head, "  " + "-" * (sum(widths) + 2 * len(widths) - 2), *(line for lines in body for line in lines)]


def _broken(row: tuple[str, ...], widths: Sequence[int]) -> list[str]:
    """The lines of a row: one, and others for what is too long of its name."""
    name, *more = (
        [row[0]]
        if len(row[0]) <= widths[0]
        else wrap(row[0], widths[0], break_long_words=False, break_on_hyphens=False)
    )
    cells = [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
    return ["  " + "  ".join(cells).rstrip(), *("    " + line for line in more)]


def drop_lines(drops: Mapping[str, int]) -> list[str]:
    """The counts of dropped pairs as a table, with shares of all pairs; reasons with a count of 0 are left out."""
    counts = {name: n for name, n in drops.items() if name == "kept" or (n and name != "pairs")}
    rows: Rows = [
        (name.replace("_", " "), f"{n:,}", f"{100 * n / max(1, drops['pairs']):.1f} %")
        for name, n in {**counts, "all": drops["pairs"]}.items()
    ]
    return table([("pairs", "count", "share"), *rows])


def drop_reasons(drops: Mapping[str, int]) -> str:
    """The counts that are not zero, on one line."""
    return ", ".join(
        f"{n:,} {name.replace('_', ' ')}" for name, n in drops.items() if n and name not in ("pairs", "kept")
    )


def estimate_lines(estimate: "Estimate") -> list[str]:
    """The time, memory and disk space that `generate` would take, as text."""
    e = estimate
    copied = f", {e.n_copied:,} of them copied" if e.n_copied else ""
    lines = [
        f"{e.n_contexts:,} contexts in {e.n_shards} shards{copied}",
        *_unfit_lines(e.unfit),
        f"disk    {e.disk_bytes / 1e9:.2f} GB",
        f"memory  about {e.memory_bytes / 1e9:.1f} GB{_of_workers(e.workers)}",
        f"time    about {duration(e.seconds_to_generate)}, {e.seconds_to_generate / max(1, e.n_made):.2g} s a context",
    ]
    if e.seconds_for_lazy_features:
        lines.append(f"        and {duration(e.seconds_for_lazy_features)} if every lazy feature were asked for")
    if e.folds_to_train:
        folds = " ".join(map(str, e.folds_to_train))
        lines.append(f"        and about {duration(e.seconds_to_train)} first, to train the models of folds {folds}")
    rate = f"{e.products_per_second / 1e9:,.0f} GFLOP/s"
    by = f"the operations that it takes, the {rate} just measured here"
    if e.n_tried:
        by += f", and {several(e.n_tried, 'context')} just tried"
    elif e.folds_to_train:
        by += "; models that have learnt little draw several times as many endings as is reckoned with"
    return [*lines, "", f"From {by}. Nothing was written."]


def _unfit_lines(unfit: Mapping[str, int]) -> list[str]:
    """Which contexts are left out before anything is sampled; none where all can be made."""
    return [f"        left out: {drop_reasons(unfit)}"] if unfit else []


def text_estimate_lines(estimate: "TextEstimate") -> list[str]:
    """The same of a generator of text: what it says itself, or what a few contexts took."""
    e = estimate
    left_out = f"; left out: {drop_reasons(e.unfit)}" if e.unfit else ""
    lines = [f"{e.n_contexts:,} contexts to answer{left_out}"]
    if e.forecast or not e.n_tried:
        return [*lines, *e.forecast, "", "No pool was begun."]
    seconds = e.seconds_to_begin + e.seconds_a_context * e.n_contexts
    dropped = f"{sum(e.dropped.values())} of {e.n_tried} contexts dropped{_reasons(e.dropped)}"
    rejected = f"{in_percent(e.rejected_share, 0)} of texts rejected{_reasons(e.rejected)}"
    advice = [f"Warning: no context that was tried has its endings. {e.advice}."] if e.advice else []
    return [
        *lines,
        f"disk    {e.disk_bytes / 1e9:.2f} GB, half of it until the pool is there",
        f"time    about {duration(seconds)}, {e.seconds_a_context:.2g} s a context",
        f"tried   {dropped}, {rejected}",
        *advice,
        "",
        f"From {e.n_tried} contexts just answered here. Nothing was written.",
    ]


def _reasons(counts: Mapping[str, int]) -> str:
    return f" ({drop_reasons(counts)})" if counts else ""


def generator_lines(manifest: Mapping[str, Any]) -> list[str]:
    """What wrote the endings of a pool, with its prompt, in sentences; empty for the paper's LSTMs and for texts of
    one's own."""
    record = manifest.get("generator")
    if record is None:
        return []
    settings = {name: value for name, value in record.items() if name not in ("name", "model", "prompt")}
    said = ", ".join(f"{name.replace('_', ' ')} {told(value)}" for name, value in settings.items())
    model = f", {record['model']}" if record.get("model") else ""
    lines = [f"Candidate negatives are written by `{record['name']}`{model}" + (f" ({said})." if said else ".")]
    if prompt := record.get("prompt"):
        gold = "is shown the right ending" if prompt["shows_gold"] else "is not shown the right ending"
        name = f"`{prompt['name']}`, " if prompt.get("name") else ""
        lines.append(f"Prompt: {name}{prompt['task'].rstrip('. ')}. The model {gold}. SHA-256 {prompt['sha256'][:12]}.")
    return lines


def _of_workers(n: int) -> str:
    return "" if n == 1 else f" in {n} processes (--workers)"


def accuracy_rows(run: Run, last: int | None = None) -> Rows:
    """A header, then a row for each head in each filter's turns: iterations, mean held-out accuracy at their beginning
    and end (`ends`); of the iterations up to `last`, of all if None."""
    rows: Rows = [("filter", "iterations", "held-out accuracy: first", "last")]
    for one in turns(run, last):
        rows.append((one.called(), str(len(one.values)), *(f"{mean:.3f}" for mean in ends(one.values))))
    return rows


def audit_lines(run: Run, findings: Sequence[Finding]) -> list[str]:
    """Findings as text: a table, before against after, and filters below chance; empty without findings."""
    if not findings:
        return []
    compared, below = comparison_lines(run, findings), below_lines(run, findings)
    told = [*repeated_lines(run), *unseen_lines(run), *said_lines(findings)]
    groups = "folds of the matching" if run.is_matched else "videos, and contexts that share a sentence"
    return [
        *table(audit_rows(run, findings, units=())),
        "",
        f"({sizes_said(findings)}; fresh filters, fitted and scored on different groups: {groups}; chance is "
        f"{run.chance:.3f})",
        *(["", *compared] if compared else []),
        *(["", *below] if below else []),
        *(["", *told] if told else []),
        "",
        not_asked(findings),
    ]


def skipped_lines(run: Run, until: int | None = None) -> list[str]:
    """How many iterations, up to `until`, swapped nothing because their fit had learned nothing; nothing for none."""
    log = run.log[:until]
    n = sum(record.skipped for record in log)
    if not n:
        return []
    told = "the fit" if n == 1 else "fits"
    return [f"In {n:,} of {several(len(log), 'iteration')} {told} learned nothing, so no ending was swapped there."]


def run_lines(run: Run) -> list[str]:
    """Accuracies, iterations, seconds and share of candidates scored, or how it was matched; then the audits in the run
    folder."""
    seconds = sum(t.seconds for t in run.timing)
    audits = read_audits(run.path)
    audited = audit_lines(run, audits.findings)
    if run.matching:
        return [*run.matching["said"], *(["", *audited] if audited else [])]
    return [
        *table(accuracy_rows(run)),
        "",
        f"(means of five iterations, or of half where there are fewer than ten; chance is {run.chance:.3f})",
        f"{several(run.n_finished, 'iteration')}, {several(round(seconds), 'second')}, "
        f"{in_percent(run.scored_share)} of the candidates met were scored",
        *skipped_lines(run),
        *(["", *audited] if audited else []),
        *(f"audit filter {name} was left out: {reason}" for name, reason in audits.left_out),
    ]


def perplexity_rows(reports: Sequence[Mapping[str, Any]]) -> Rows:
    """A header, then a row for each fold: best epoch and token perplexities."""
    rows: Rows = [("fold", "best epoch", "held-out forward", "backward", "own fold forward", "backward")]
    for report in reports:
        values = [
            report[name][way] for name in ("held_out_perplexity", "fold_perplexity") for way in ("forward", "backward")
        ]
        rows.append((str(report["fold"]), str(report["best_epoch"]), *(f"{value:.1f}" for value in values)))
    return rows


def question_lines(phrase: str, endings: Sequence[str], label: int) -> list[str]:
    """One question with lettered endings, gold marked with a star."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [phrase, *(f"  {'*' if i == label else ' '} {letters[i % 26]}) {text}" for i, text in enumerate(endings))]


def audited_lines(
    audit: Audit | SavedAudit, comparison: Comparison | None = None, *, most: int | None = None
) -> list[str]:
    """An audit of a dataset as text: how it was read, the verdict, what was found, before against after; of the checks
    that found something the `most` strongest where that is given."""
    saved = saved_form(audit)
    about = saved.about
    lines = [*about.notes, f"{several(about.n, 'instance')} in {about.groups}", ""]
    lines += [verdict(saved), *further(saved), ""]
    rows = diagnostic_rows(strongest(saved.diagnostics, most))
    n_more = len(diagnostic_rows(saved.diagnostics)) - len(rows)
    lines += table(rows) if len(rows) > 1 else []
    lines += [f"And {n_more:,} weaker. A pipe (`| cat`) gets all of them, and --out keeps them."] if n_more else []
    lines += [""] if len(rows) > 1 else []
    lines += [*(f"Left out: {why}" for why in about.record.get("left_out", ())), NOT_ASKED_OF_DATA]
    return lines if comparison is None else [*lines, "", *repair_lines(comparison)]
