"""What the verb `match` prints."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from swag_af.cli.following import release_command
from swag_af.data.disk.files import read_json, read_jsonl
from swag_af.data.disk.urls import command
from swag_af.data.errors import several
from swag_af.data.numbers.percent import from_to
from swag_af.data.work.progress import duration
from swag_af.matching.algorithm.estimate import Estimate
from swag_af.matching.options import MatchOptions
from swag_af.matching.points import Accuracy, Point
from swag_af.matching.results.questions import Figures
from swag_af.matching.results.saying import figure_lines
from swag_af.matching.sweep import SWEEP, recommended
from swag_af.matching.verb import QUESTIONS, Matched
from swag_af.reporting.tables.text import question_lines, table

N_EXAMPLES = 3


def matched_lines(matched: Matched, options: MatchOptions) -> list[str]:
    """How the data was read and parted, what can be said of the matching, three questions, what to run next."""
    about = matched.about
    return [
        *about["notes"],
        f"{several(matched.answers.n, 'row')} in {several(len(about['folds']), 'fold')}; {_sizes(about['buckets'])}",
        f"{several(about['pairs'], 'pair')} scored by {options.matching.relevance} and {options.matching.similarity}",
        "",
        *figure_lines(matched.answers),
        *_loss_lines(options, matched.answers.loss / matched.answers.n),
        *_rationale_lines(matched.rationales, options),
        *caution_lines(about.get("cautions", {})),
        "",
        *(line for record in examples(matched.path / QUESTIONS) for line in (*_question_lines(record), "")),
        f"Written to {matched.path}: {QUESTIONS}, a pool and a run. A release draws the order of options anew: "
        f"score predictions on what they were made of. Next: {_release(matched.path / 'run', options)}; "
        f"or {command('verify', 'serve', matched.path / 'run')}, to ask people",
    ]


def _sizes(buckets: Mapping[str, str]) -> str:
    return "; ".join(said if name == "answers" else f"{name}: {said}" for name, said in buckets.items())


def caution_lines(cautions: Mapping[str, Sequence[str]]) -> list[str]:
    """What the matching leaves open, none where nothing; what is said of both stages stands once, and what is said of
    the second alone, rationales, says so."""
    stages = list(cautions.items())
    said = list(stages[0][1]) if stages else []
    said += [f"{name.capitalize()}: {one}" for name, rest in stages[1:] for one in rest if one not in said]
    return ["", "Look at this:", *(f"  {one}" for one in said)] if said else []


def _rationale_lines(made: Figures | None, options: MatchOptions) -> list[str]:
    return ["", "Rationales:", *figure_lines(made), *_loss_lines(options, made.loss / made.n)] if made else []


def _loss_lines(options: MatchOptions, loss: float) -> list[str]:
    """How much worth a row the best few of each row cost at most, where not all pairs were matched."""
    if options.matching.top is None:
        return []
    return [f"Matching only the {options.matching.top} best of each row cost at most {loss:.4f} of worth a row."]


def examples(path: Path) -> Iterator[Mapping[str, Any]]:
    """The first few questions of `matched.jsonl`."""
    return (record for _, record in islice(read_jsonl(path), N_EXAMPLES))


def _question_lines(record: Mapping[str, Any]) -> list[str]:
    lines = question_lines(record["question"], record["answer_choices"], record["answer_label"])
    if "rationale_choices" in record:
        lines += question_lines("  because", record["rationale_choices"], record["rationale_label"])
    return lines


def _release(run: Path, options: MatchOptions) -> str:
    return release_command(run, options.matching.n_distractors)


def sweep_lines(points: Sequence[Point], options: MatchOptions) -> list[str]:
    """A row for each lambda, which one is recommended, what to run next."""
    chance = 1 / (1 + options.matching.n_distractors)
    return [
        *read_json(options.out / SWEEP)["notes"],
        "",
        f"Accuracy in % with 95 % intervals at each lambda, {several(points[0].relevance.n, 'question')}; "
        f"chance {chance:.1%}. Intervals are clustered by the groups of the data.",
        "",
        *points_table(points),
        "",
        *_loss_lines(options, max(one.loss for one in points)),
        *_advice(points, options),
    ]


def points_table(points: Sequence[Point]) -> list[str]:
    """A line for each lambda."""
    header = ("lambda", "relevance model", "options alone (tf-idf)", "same meaning", "people")
    rows = [
        (f"{one.weight:g}", _percent(one.relevance), _percent(one.options_alone), f"{one.similarity:.3f}", _people(one))
        for one in points
    ]
    return table([header, *rows])


def _percent(one: Accuracy) -> str:
    return f"{100 * one.value:.1f} ({from_to(one.low, one.high)})"


def _people(point: Point) -> str:
    if not point.people:
        return "not asked"
    by_chance = "" if point.people_chance is None else f", chance {100 * point.people_chance:.1f}"
    return f"{_percent(point.people)}, {point.people.n}{by_chance}"


def _advice(points: Sequence[Point], options: MatchOptions) -> list[str]:
    """Which lambda is recommended, or how to ask people."""
    asked, out = options.sweeping.human_accuracy, options.out
    if not any(point.people for point in points):
        serve = command("verify", "serve", out / "people" / "run", "--min-gold-share", "0")
        return [
            f"Written to {out}: sweep.png. Next: {serve}, to ask people and keep those who are often wrong; then "
            "the same command again with --verdicts."
        ]
    best = recommended(points, asked)
    if best is None:
        return [f"People reach {asked:.0%} at no lambda that was tried. Try larger ones. See {out / 'sweep.png'}."]
    return [
        f"The smallest lambda at which people are right in {asked:.0%} or more is {best:g}; look at its interval. "
        f"See {out / 'sweep.png'}."
    ]


def dry_run_lines(estimates: Sequence[Estimate]) -> list[str]:
    """Buckets, pairs, memory and time of each matching that would be made; nothing was written."""
    lines: list[str] = []
    for one in estimates:
        lines += [
            *one.notes,
            f"{one.name}: {several(one.n, 'row')} in {several(one.n_folds, 'fold')}; {one.buckets}",
            f"pairs   {one.n_pairs:,} to score",
            f"memory  about {one.memory_bytes / 1e9:.2f} GB, for the largest bucket",
            f"time    about {duration(one.seconds)}: {duration(one.seconds_to_fit)} to learn relevance, "
            f"{duration(one.seconds_to_score)} to score, {duration(one.seconds_to_match)} to match",
            "",
        ]
    return [*lines, "From a small sample that was just scored and matched here. Nothing was written."]
