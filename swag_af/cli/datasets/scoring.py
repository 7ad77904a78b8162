"""The verb `score`: what it writes, and what it and `count-check` print."""

from swag_af.data.disk.files import write_json, write_text
from swag_af.data.disk.replacing import check_apart, check_output
from swag_af.data.disk.urls import command_for
from swag_af.data.errors import takes_options
from swag_af.reporting.tables.text import table
from swag_af.scoring.counting import CountCheck
from swag_af.scoring.masking import write_masked
from swag_af.scoring.options import ScoreOptions
from swag_af.scoring.outcome import Scores
from swag_af.scoring.told import (
    COUNTS,
    MCNEMAR,
    WORST,
    Rows,
    chance_sentence,
    check_rows,
    check_sentences,
    comparison_rows,
    figure_rows,
    further,
    gap_rows,
    group_rows,
    headline,
    p_rows,
    people_rows,
    people_sentences,
    spread_sentence,
    untested,
)
from swag_af.scoring.verb import Scoring, scores_in


@takes_options
def score(options: ScoreOptions) -> Scores:
    """The verb `score`: all figures; what the options name is written.

    Raises InputError, before any work, for what cannot be written, and for whatever cannot be read or used.
    """
    _check_outputs(options)
    scoring = Scoring(options)
    scores = scores_in(scoring)
    if options.write_masked and scoring.changed is not None:
        write_masked(options.write_masked, scoring.masked, scoring.changed)
    if options.json:
        write_json(options.json, scores.as_record())
    if options.out:
        write_text(options.out, _page(options, scores))
    return scores


def _check_outputs(options: ScoreOptions) -> None:
    read = [options.data, *options.also, *options.predictions, *options.blinds.values()]
    named = [options.people, options.audit, options.reading.labels_file]
    written = {"--json": options.json, "--out": options.out, "--write-masked": options.write_masked}
    for flag, path in written.items():
        if path is not None:
            others = [other for name, other in written.items() if name != flag]
            check_apart(flag, path, (*read, *named), written=others)
            check_output(path, force=options.force, flag=flag)


def _page(options: ScoreOptions, scores: Scores) -> str:
    from swag_af.reporting.pages.score import score_page

    return score_page(scores, command=command_for("score", options, but=("json", "out", "force")))


def score_lines(scores: Scores, options: ScoreOptions) -> list[str]:
    """The scores as text."""
    lines = [*scores.notes, *(model.said for model in scores.models), f"{scores.n:,} instances in {scores.groups}", ""]
    lines += [headline(scores), *further(scores)]
    if scores.models:
        lines += ["", *table(figure_rows(scores.models)), chance_sentence(scores.models[0].figures)]
    for model in scores.models:
        lines += _with(group_rows(model), spread_sentence(model), WORST)
    lines += _with(comparison_rows(scores.comparisons), COUNTS)
    lines += _with(p_rows(scores.comparisons), *untested(scores.comparisons), MCNEMAR)
    gaps = gap_rows(scores.gaps)
    lines += _with([row[:3] for row in gaps])
    lines += _with([(row[0], *row[3:]) for row in gaps], COUNTS)
    if scores.people:
        own_chance = "" if scores.models else chance_sentence(scores.people.figures)
        lines += _with(people_rows(scores.people), own_chance, *people_sentences(scores.people))
    return [*lines, *_written(options)]


def _with(rows: Rows, *sentences: str) -> list[str]:
    """A table with what is said of it below; nothing where it has a header alone."""
    return ["", *table(rows), *filter(None, sentences)] if len(rows) > 1 else []


def _written(options: ScoreOptions) -> list[str]:
    written = [str(path) for path in (options.json, options.out, options.write_masked) if path]
    return ["", f"Written to {', '.join(written)}."] if written else []


def check_lines(check: CountCheck) -> list[str]:
    """What percentages can be, as text."""
    return [*table(check_rows(check)), "", *check_sentences(check)]
