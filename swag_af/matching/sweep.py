"""Lambda chosen by what it does: the same rows matched at several values, and how hard each makes them (VCR, Fig. 13).

    sweep.json         a point for each lambda: accuracy of the relevance model, of a model that sees the options alone,
                       and of people, with intervals; written last
    sweep.png, .svg    the same as a picture
    people             a run of questions of all values, mixed, for `verify serve`
    people.json        which row of it is of which lambda, and of what the sweep was: not for those who judge
    work               as of `match`

People are asked blind: nothing in the run tells which lambda a question is of, and no query is shown twice: of rows
with the same words about the same media one is drawn, or who has seen what is right would meet it again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.probes.probe import probe
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import FORMAT, check_manifest
from swag_af.data.disk.records import parse_record
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, several, takes_options
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.numbers.interval import CROSS_VALIDATED, interval
from swag_af.data.runs.run import Run, open_run
from swag_af.data.splits import numbered, renumbered
from swag_af.data.work.progress import progress
from swag_af.judging.options import JudgingOptions
from swag_af.judging.people import opinions_of
from swag_af.matching.algorithm.estimate import Estimate, estimate
from swag_af.matching.algorithm.work import Plan, match_items, plan_of
from swag_af.matching.options import MatchOptions
from swag_af.matching.plot import plot_sweep
from swag_af.matching.points import Accuracy, Point
from swag_af.matching.results.cautions import cautions_of_plan
from swag_af.matching.results.questions import Stage, check_runs, choices, hits_of_relevance, save_run, wrong_answers
from swag_af.matching.rows.items import Items
from swag_af.matching.rows.reading import read_items
from swag_af.matching.verb import (
    OF_SWEEP,
    WORK,
    begin_work,
    check_asked,
    check_folder,
    check_same_matching,
    identity_of,
    same_items,
)

SWEEP, PEOPLE = OF_SWEEP, "people.json"
KIND = "sweep"


@takes_options
def sweep(options: MatchOptions) -> list[Point]:
    """The points of all values of `options.sweeping.sweep`, in rising order; run again with verdicts, people's too.

    Raises InputError as `match` does, for verdicts on other questions, and before any work where points or people's
    questions of other data, options or values are there.
    """
    if options.dry_run:
        raise InputError("dry_run sweeps nothing. In Python, `swag_af.matching.sweep.dry_run(options)` estimates.")
    if not options.sweeping.sweep:
        raise InputError("sweep: no value of lambda is given. Name some, as SweepOptions(sweep=(0.1, 0.3)).")
    check_folder(options.out, SWEEP)
    read = read_items(options.data, options.pairs, options.reading)
    check_asked(read, options.matching)
    items = _sampled(read, options)
    weights = sorted(options.sweeping.sweep)
    identity = identity_of(options, items) | {"weights": weights, "shown": options.sweeping.shown}
    _check_same(options.out, identity)
    check_runs(options.out / "people")
    plan = plan_of(items, options.matching)
    begin_work(options.out, identity)
    stages = _matched(items, plan, options, weights)
    if not (options.out / PEOPLE).exists():
        _write_people(stages, options, identity)
    people = _people(options, items) if options.sweeping.verdicts else {}
    points = [_point(weight, stage, options, people.get(weight)) for weight, stage in stages.items()]

    plot_sweep(
        points, chance=1 / (1 + options.matching.n_distractors), asked=_asked(points, options), folder=options.out
    )
    record = {
        "format": FORMAT,
        "kind": KIND,
        "identity": identity,
        "files": items.files,
        "notes": (*items.notes, *_notes(items, options), *cautions_of_plan(items, plan)),
        "points": [asdict(point) for point in points],
        "recommended": recommended(points, options.sweeping.human_accuracy),
    }
    write_json(options.out / SWEEP, record)
    return points


def _check_same(out: Path, identity: Mapping[str, Any]) -> None:
    """Raise InputError where what is kept in `out` is of another `identity`; questions that do not say of which are of
    that of the points."""
    begun: Mapping[str, Any] = {}
    if (out / SWEEP).exists():
        begun = check_manifest(read_json(out / SWEEP), out / SWEEP, KIND).get("identity") or {}
        check_same_matching(begun, identity, out / SWEEP, is_finished=True)
    if (out / PEOPLE).exists():
        check_same_matching(read_json(out / PEOPLE).get("identity", begun), identity, out / PEOPLE)


def open_sweep(path: Path) -> tuple[list[Point], dict[str, Any]]:
    """The points of the folder that `sweep` left, and all that its record says; FormatError where it is none."""
    record = check_manifest(read_json(path / SWEEP), path / SWEEP, KIND)
    return parse_record(record.get("points"), list[Point], path / SWEEP, "Sweep again into another --out."), record


def dry_run(options: MatchOptions) -> list[Estimate]:
    """What `sweep` would take with these options: pairs are scored once, and matched for each lambda; writes nothing.

    Raises InputError as `sweep` does.
    """
    check_folder(options.out, SWEEP)
    read = read_items(options.data, options.pairs, options.reading)
    check_asked(read, options.matching)
    items = _sampled(read, options)
    matching, n = options.matching, len(options.sweeping.sweep)
    made = estimate(f"answers, {n} lambdas", items, plan_of(items, matching), matching, max(options.sweeping.sweep))
    return [replace(made, seconds_to_match=n * made.seconds_to_match)]


def _notes(items: Items, options: MatchOptions) -> list[str]:
    """What is not swept, and how many questions people see where they are fewer than was asked."""
    notes = []
    if any(item.rationale for item in items.rows):
        notes.append("rationales are not swept: every value is of answers")
    each, shown = _n_of_each(items, options), options.sweeping.shown
    if each < shown:
        notes.append(
            f"people see {each:,} questions of each value and not the {shown:,} of --shown: there are {len(items):,} "
            f"rows of {several(_n_queries(items), 'query', 'queries')}, and no query is shown twice"
        )
    return notes


def _n_of_each(items: Items, options: MatchOptions) -> int:
    return min(options.sweeping.shown, _n_queries(items) // len(options.sweeping.sweep))


def _n_queries(items: Items) -> int:
    return int(_queries(items).max()) + 1


def _queries(items: Items) -> np.ndarray:
    """(n,) numbers that are equal for rows whose query people would take for the same: the words, about the same
    media."""
    return numbered([row.asked for row in items.rows])


def _asked(points: Sequence[Point], options: MatchOptions) -> float | None:
    return options.sweeping.human_accuracy if any(point.people for point in points) else None


def _sampled(items: Items, options: MatchOptions) -> Items:
    """Whole groups at random until there are as many rows as asked for."""
    most = options.sweeping.sample
    if most is None or most >= len(items):
        return items
    order = np.random.default_rng((options.matching.seed, *b"sample")).permutation(int(items.groups.max()) + 1)
    sizes = np.bincount(items.groups)[order]
    taken = order[: 1 + int(np.searchsorted(np.cumsum(sizes), most))]
    return items.take(np.flatnonzero(np.isin(items.groups, taken)))


@dataclass(frozen=True)
class _Sample:
    """Reads the rows again, for another process."""

    options: MatchOptions

    def __call__(self) -> Items:
        options = self.options
        return same_items(_sampled(read_items(options.data, options.pairs, options.reading), options), options.out)


def _matched(items: Items, plan: Plan, options: MatchOptions, weights: Sequence[float]) -> dict[float, Stage]:
    with progress("match", len(plan.buckets.names), "buckets") as advance:
        outcomes = match_items(
            items,
            plan,
            options.matching,
            weights=weights,
            folder=options.out / WORK / "answers",
            advance=advance,
            workers=Workers(options.workers, options.where, _Sample(options)),
        )
    return {
        weight: Stage(items, plan, outcome, wrong_answers(items, outcome, options.matching))
        for weight, outcome in zip(weights, outcomes, strict=True)
    }


def _point(weight: float, stage: Stage, options: MatchOptions, people: "_Answers | None") -> Point:
    groups = stage.items.groups
    alone = probe(questions_of(stage, options.matching.seed), groups=_by_fold(stage), seed=options.matching.seed)
    return Point(
        weight=weight,
        relevance=_accuracy(hits_of_relevance(stage.outcome), groups),
        options_alone=_accuracy(alone.hits, groups, times=CROSS_VALIDATED),
        similarity=float(stage.outcome.similarity.mean()),
        people=None if people is None else _accuracy(people.hits, people.groups),
        people_chance=None if people is None else float(np.mean(1 / people.shown)),
        loss=stage.outcome.loss / len(groups),
    )


def questions_of(stage: Stage, seed: int) -> Instances:
    """The questions of a matching, options in the order in which they are written; groups are the folds of the
    matching, within which texts are right in one question and wrong in others."""
    rows = []
    for row, item in enumerate(stage.items.rows):
        made = choices(stage, row, "answer", seed)
        context = item.context
        options, gold = tuple(made["answer_choices"]), int(made["answer_label"])
        fold = f"fold {int(stage.plan.folds[row])}"
        rows.append(Instance(context.id, context.sent1, options, gold, context.start, fold))
    return Instances(tuple(rows), "choices", name=stage.items.name)


def _by_fold(stage: Stage) -> Groups:
    return Groups(stage.plan.folds, "the folds of the matching")


def _accuracy(hits: np.ndarray, groups: np.ndarray, *, times: float = 1.0) -> Accuracy:
    low, high = interval(hits, groups, times=times)
    return Accuracy(float(hits.mean()), low, high, len(hits))


def _write_people(stages: Mapping[float, Stage], options: MatchOptions, identity: Mapping[str, Any]) -> None:
    """A run of so many questions of each value, no query twice, in an order that tells nothing; then whose they are."""
    some = next(iter(stages.values()))
    drawn, weights = _drawn(some.items, options)
    wrong = [stages[float(weight)].wrong[row] for row, weight in zip(drawn.tolist(), weights, strict=True)]
    plan = replace(some.plan, folds=renumbered(some.plan.folds[drawn]))
    shown = replace(some, items=_in_this_order(some.items, drawn), plan=plan, wrong=wrong)
    said = [f"Questions matched at {len(stages)} values of lambda, mixed: a sample for people to answer."]
    save_run(shown, options.matching, said, options.out / "people")
    of_pool = open_run(options.out / "people" / "run").pool.unguarded_identity
    whose = {"pool_identity": of_pool, "identity": identity, "weights": weights.tolist()}
    write_json(options.out / PEOPLE, whose)


def _drawn(items: Items, options: MatchOptions) -> tuple[np.ndarray, np.ndarray]:
    """`(rows, lambdas)` of the questions that people are shown, in the order in which they stand in their run."""
    rng = np.random.default_rng((options.matching.seed, *b"people"))
    values, each = sorted(options.sweeping.sweep), _n_of_each(items, options)
    order = rng.permutation(len(items))
    first = np.sort(np.unique(_queries(items)[order], return_index=True)[1])  # of each query one row, in that order
    rows = order[first][: each * len(values)]
    return rows, rng.permutation(np.repeat(values, each))


def _in_this_order(items: Items, rows: np.ndarray) -> Items:
    """The items `rows` under ids that count them, so that their order is kept."""
    width = len(str(len(rows)))
    renamed = [
        replace(items.rows[row], context=replace(items.rows[row].context, id=f"{i:0{width}}"))
        for i, row in enumerate(rows.tolist())
    ]
    return replace(items, rows=tuple(renamed))


@dataclass(frozen=True)
class _Answers:
    """How far people chose the right answer, a question each: by 1/t where t are chosen by most."""

    hits: np.ndarray
    groups: np.ndarray
    shown: np.ndarray
    """Endings that were shown with each, the right one too."""

    def take(self, which: np.ndarray) -> "_Answers":
        """Those of some of the questions."""
        return _Answers(self.hits[which], self.groups[which], self.shown[which])


def _people(options: MatchOptions, items: Items) -> dict[float, _Answers]:
    """What people answered to the questions of each lambda as they were first shown, not refilled: the choice of most,
    ties shared; groups are those of `items`."""
    run: Run = open_run(options.out / "people" / "run")
    whose: dict[str, Any] = read_json(options.out / PEOPLE)
    if whose["pool_identity"] != run.pool.unguarded_identity:
        raise InputError(f"{options.out / PEOPLE}: of other questions than people/run. Sweep again into another --out.")
    judging = JudgingOptions(options.out / "people" / "run", options.sweeping.verdicts, screen=False)
    opinions = opinions_of(run, run.assignment(), judging)
    first = [verdict for verdict in opinions.verdicts if verdict.item.round == 0]
    votes: dict[int, Counter[int]] = {}
    for verdict in first:
        votes.setdefault(verdict.item.row, Counter())[verdict.item.columns[verdict.best]] += 1
    n_shown = {verdict.item.row: len(verdict.item.columns) for verdict in first}
    rows = sorted(votes)
    weights = np.array(whose["weights"])[rows]
    drawn = _drawn(items, options)[0]
    if [context.gold for context in run.pool.contexts] != [items.rows[row].context.gold for row in drawn.tolist()]:
        raise InputError(f"{options.out / 'people'}: an older draw of questions. Sweep again into another --out.")
    hits = np.array([_share_of_gold(votes[row]) for row in rows])
    answers = _Answers(hits, items.groups[drawn][rows], np.array([n_shown[row] for row in rows]))
    return {float(w): answers.take(weights == w) for w in np.unique(weights)}


def _share_of_gold(votes: Counter[int]) -> float:
    """1/t where gold, candidate 0, is one of t endings that most people chose; else 0."""
    most = [one for one, n in votes.items() if n == max(votes.values())]
    return 1 / len(most) if 0 in most else 0.0


def recommended(points: Sequence[Point], asked: float) -> float | None:
    """The smallest lambda at which people are right as often as `asked`; None where there is none, or nobody was asked.

    The smallest is the hardest for machines. Intervals of a hundred questions are wide: look at them.
    """
    good = [point.weight for point in points if point.people is not None and point.people.value >= asked]
    return min(good, default=None)
