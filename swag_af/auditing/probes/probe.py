"""Probes of a set: what a model finds in a part of each instance, scored by fits that never saw it.

`probe` makes one, `probes` all that apply, sharing what they can: texts are read once, an input is counted once for
all its fits. Instances are first put in an order that their texts decide (`folds.sort`), so that permuting rows or
options changes no figure, and the same seed gives the same bytes. Labels reach a model with the rows that it is fitted
on, and no others; scores meet labels in `swag_af.auditing.ranking`.
"""

import inspect
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import Any, get_args

import numpy as np

from swag_af.auditing.outcome import FoldKind, Probe
from swag_af.auditing.probes.bridge import check_reads, scorer_of
from swag_af.auditing.probes.folds import deal_folds, parted, sort
from swag_af.auditing.probes.inputs import FULL, MAIN, Reading, Source, find_input, input_names, read
from swag_af.auditing.probes.keeping import KeptProbes
from swag_af.auditing.probes.models import (
    ByEntry,
    FastTextModel,
    Model,
    OfStrings,
    Scorer,
    Tfidf,
    answers_of,
    with_all_shares,
)
from swag_af.auditing.ranking import gold_probabilities, hits
from swag_af.data.engines.options import Workers
from swag_af.data.errors import InputError, SwagAfError, check_faults, several, told
from swag_af.data.instances.grouping import Groups, group
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.published import published_pairs, split_pairs
from swag_af.data.instances.reading import read_instances
from swag_af.data.plugins.own_code import said_of
from swag_af.data.scale import is_here, run_blocks
from swag_af.data.work.progress import Advance, note
from swag_af.filters.contract import Filter, identity_of, settings_of
from swag_af.filters.registry import REGISTRY, label_of
from swag_af.filters.strings import reads_ending_alone

TFIDF, FASTTEXT = "tfidf", "fasttext"
DEFAULT_MODELS = (TFIDF, FASTTEXT)
RANDOM_TOO = (*MAIN, "premise")
"""Inputs that tf-idf reads on random folds too."""

WITH_TWO = ("second-sentence", FULL)
"""Inputs of two texts: start and option, context and the rest, premise and hypothesis."""

Data = tuple[Instances, Groups]
"""A set and its groups."""

AnyModel = str | Model | Filter
"""A name: `tfidf`, `fasttext`, a filter's, `package.module:Class`; or an object."""


@dataclass(frozen=True)
class Task:
    """A probe to be made."""

    input: str
    model: AnyModel
    folds: FoldKind = "group"
    n_folds: int = 5
    seed: int = 0
    fitted_on: str = ""
    scored_on: str = ""
    """The splits, where `folds` is `split`."""


@dataclass(frozen=True)
class Probes:
    """The probes of a set."""

    found: tuple[Probe, ...]
    not_made: tuple[tuple[Task, str], ...]
    """What could not be made, and why."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """The same by model, a line each."""
        return tuple(dict.fromkeys(f"{model_name(task.model)}: {why}" for task, why in self.not_made))


def probe(
    data: Instances | Path | str,
    input: str = "options",
    model: AnyModel = TFIDF,
    *,
    groups: Groups | None = None,
    folds: FoldKind = "group",
    n_folds: int = 5,
    seed: int = 0,
) -> Probe:
    """What `model` finds in one `input` of `data`, instances or a file (the names: `inputs`), by folds of whole groups.

    `folds` `random` parts groups (`folds.parted`); `split` fits on the published training split and scores the
    validation split, or the test split where there is none. `groups` are those of `group` when not given. Raises
    InputError for an input that the instances have not, an unknown model, one group, no such splits, and for groups of
    more or fewer instances.
    """
    instances = instances_of(data)
    check_groups(groups, instances)
    check_faults(
        [
            (not isinstance(input, str), f"input {reprlib.repr(input)}: a name, such as options"),
            (folds not in get_args(FoldKind), f"folds {reprlib.repr(folds)}: {', '.join(get_args(FoldKind))}"),
            (not _is_whole(n_folds, 2), f"n_folds {reprlib.repr(n_folds)}: a whole number, at least 2"),
            (not _is_whole(seed, 0), f"seed {reprlib.repr(seed)}: a whole number, at least 0"),
        ]
    )
    task = Task(input, model, folds, n_folds, seed)
    if folds == "split":
        fitted_on, scored_on = published_pairs(instances)[0]
        task = replace(task, fitted_on=fitted_on, scored_on=scored_on)
    return _Bench(instances, groups or group(instances)).make(task)


def instances_of(data: Instances | Path | str | Sequence[Path | str]) -> Instances:
    """`data` itself, or what is read from a file or folder, or several, whose columns are guessed.

    Raises InputError for what cannot be read, and for anything else than these.
    """
    if isinstance(data, Instances):
        return data
    paths = [data] if isinstance(data, Path | str) else data
    if not isinstance(paths, Sequence) or not all(isinstance(path, Path | str) for path in paths):
        raise InputError(f"data {told(data)}: no dataset. Give a path, a list of paths, or Instances.")
    return read_instances(paths)


def _is_whole(number: object, least: int) -> bool:
    return isinstance(number, Integral) and int(number) >= least


def check_groups(groups: object, instances: Instances) -> None:
    """Raise InputError unless `groups` are None, or Groups with a number for each of `instances`."""
    if not isinstance(groups, Groups | None):
        raise InputError(f"groups {reprlib.repr(groups)}: Groups, as `group(instances)` makes them, or nothing.")
    if groups and len(groups.numbers) != len(instances):
        raise InputError(
            f"groups: those of {several(len(groups.numbers), 'instance')}, where {instances.name} has "
            f"{len(instances):,}. Give `group(instances)` of the set itself, or nothing."
        )


def planned(
    instances: Instances,
    groups: Groups,
    *,
    inputs: Sequence[str] | None = None,
    models: Sequence[AnyModel] = DEFAULT_MODELS,
    n_folds: int = 5,
    seeds: Iterable[int] = (0,),
) -> tuple[Task, ...]:
    """The probes that these models and inputs call for, for `probes` to make.

    Every model reads every one of `inputs`; when they are not given, tf-idf all that apply, filters of two texts those
    that have two, and other models those of `MAIN`. Tf-idf is fitted on random folds too where groups have several
    instances, and every model on the published training split where there is one. Raises InputError for two models of
    one name.
    """
    _check_told_apart(models)
    names = input_names(instances.texts)
    pairs, has_groups = split_pairs(instances), groups.n < len(instances)
    tasks = []
    for seed in seeds:
        for model in models:
            for name in _inputs_of(model, names) if inputs is None else inputs:
                task = Task(name, model, "group", n_folds, seed)
                tasks.append(task)
                if has_groups and model == TFIDF and name in RANDOM_TOO:
                    tasks.append(replace(task, folds="random"))
                tasks += [replace(task, folds="split", fitted_on=one, scored_on=other) for one, other in pairs]
    return tuple(tasks)


def probes(
    instances: Instances,
    groups: Groups,
    tasks: Sequence[Task],
    *,
    advance: Advance | None = None,
    workers: Workers[Data] | None = None,
    kept: KeptProbes | None = None,
) -> Probes:
    """The probes of all `tasks`, as `planned` gives them, each as `probe` makes it.

    A model that cannot be used here is left out with a note; an unknown name of an input or model raises InputError, as
    does a set that is all of one group. `advance` is called for each probe, whether it was made or left out. `workers`
    read instances and groups again and fit side by side; the probes are the same. Those that are among `kept` are taken
    from there, without a call of `advance`, and others are put there as soon as they are made.
    """
    for task in tasks:
        find_input(task.input, instances.texts)
        _check_name(task.model)
    for n_folds in {task.n_folds for task in tasks}:
        deal_folds(groups.numbers, n_folds, rng=np.random.default_rng(0))
    made = _taken_or_made(tasks, instances, groups, advance, workers, kept)
    not_made = tuple((task, one) for task, one in zip(tasks, made, strict=True) if isinstance(one, str))
    return Probes(tuple(one for one in made if isinstance(one, Probe)), not_made)


def _taken_or_made(
    tasks: Sequence[Task],
    instances: Instances,
    groups: Groups,
    advance: Advance | None,
    workers: Workers[Data] | None,
    kept: KeptProbes | None,
) -> list[Probe | str | None]:
    """The probe of each task, or why there is none: from among `kept`, or made here or by `workers`, and kept."""
    made_by = _made_by(tasks) if kept else []
    made: list[Probe | str | None] = [kept.find(one) for one in made_by] if kept else [None] * len(tasks)
    todo = [i for i, one in enumerate(made) if one is None]

    def done(number: int, one: Probe | str) -> None:
        made[todo[number]] = one
        if kept and isinstance(one, Probe):
            kept.keep(made_by[todo[number]], one)
        if advance is not None:
            advance(1, note=one if isinstance(one, str) else f"{one.name} {one.hits.mean():.3f}")

    mine = [tasks[i] for i in todo]
    if workers is None or is_here(len(mine), workers.n, workers.engine):
        _make(_Bench(instances, groups), mine, done)
    else:
        _make_by(workers, mine, done)
    return made


def n_kept(tasks: Sequence[Task], kept: KeptProbes) -> int:
    """How many of the probes of `tasks` are there already."""
    return sum(map(kept.has, _made_by(tasks)))


def _made_by(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """All that decides each probe, beside the data. A model says once what it is, for its files may be large."""
    models = {model_name(task.model): task.model for task in tasks}
    settings = {name: repr(said_by(model)) for name, model in models.items()}
    return [
        {field.name: getattr(task, field.name) for field in fields(task)}
        | {"model": model_name(task.model), "settings": settings[model_name(task.model)]}
        for task in tasks
    ]


def said_by(model: AnyModel) -> dict[str, Any]:
    """The settings of a model, such as hashes of its files, and what answers behind its address; none of tf-idf and
    fastText by their names, and of a name that makes no model here."""
    if model in DEFAULT_MODELS:
        return {}
    try:
        made = _made(model)
        if hasattr(made, "answered_by"):
            getattr(made, "check", lambda: None)()
        return identity_of(made)
    except InputError:
        return {}


Done = Callable[[int, Probe | str], None]
"""Called with the number of a task, and its probe or why there is none."""


def _make(bench: "_Bench", tasks: Sequence[Task], done: Done) -> None:
    """Each task's probe. fastText, which leaves Python's lock, works beside all others."""
    telling = Lock()

    def work(numbers: Sequence[int]) -> None:
        mine = bench.beside()
        for i in numbers:
            one = _tried(mine, tasks[i])
            with telling:
                done(i, one)

    beside = [i for i, task in enumerate(tasks) if task.model == FASTTEXT]
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(work, beside)
        work([i for i in range(len(tasks)) if i not in set(beside)])
        future.result()


def _tried(bench: "_Bench", task: Task) -> Probe | str:
    try:
        return bench.make(task)
    except InputError as fault:
        return str(fault)


def _make_by(workers: Workers[Data], tasks: Sequence[Task], done: Done) -> None:
    """As `_make`, by others; those that share a model and an input are made together, since both are got ready once."""
    numbers: dict[tuple[Any, ...], list[int]] = {}
    for i, task in enumerate(tasks):
        numbers.setdefault(_ready_for(task), []).append(i)
    blocks = [[tasks[i] for i in mine] for mine in numbers.values()]
    assert workers.source is not None
    with run_blocks(_ProbeJob(workers.source), blocks, workers=workers.n, engine=workers.engine) as results:
        for mine, found in zip(numbers.values(), results, strict=True):
            for i, one in zip(mine, found, strict=True):
                done(i, one)


@dataclass(frozen=True)
class _ProbeJob:
    """Probes in another process, which reads the data again."""

    source: Callable[[], Data]

    def open(self) -> Callable[[Sequence[Task]], list[Probe | str]]:
        """Read the data; returns what makes probes."""
        bench = _Bench(*self.source())
        return lambda tasks: [_tried(bench, task) for task in tasks]


def _ready_for(task: Task) -> tuple[Any, ...]:
    """What a scorer is made ready for: the same for probes that differ in their folds alone."""
    return task.input, model_name(task.model), id(task.model), task.seed


class _Bench:
    """The instances in their own order, their texts read once, and the last input made ready for a model."""

    def __init__(self, instances: Instances, groups: Groups):
        self.given = instances
        self.sorted = sort(instances, groups.numbers)
        self._ready: tuple[tuple[Any, ...], Scorer] | None = None

    @cached_property
    def source(self) -> Source:
        """All texts."""
        return Source.of(self.sorted.instances.texts)

    def beside(self) -> "_Bench":
        """One for another thread, with the same instances and texts."""
        other = object.__new__(_Bench)
        other.given, other.sorted, other._ready = self.given, self.sorted, None
        other.source = self.source
        return other

    def make(self, task: Task) -> Probe:
        """The probe of `task`; raises InputError where it cannot be made."""
        scorer = self.scorer(task)
        parts = self._parts(task)
        rows = np.sort(np.concatenate([scored for _, scored in parts]))  # (n,) in our order
        instances = self.sorted.instances
        scores = np.zeros(int(instances.offsets[-1]))
        rngs = _rng(task.seed, "fits", task.input, model_name(task.model)).spawn(len(parts))
        for (fitted, scored), rng in zip(parts, rngs, strict=True):
            found = scorer.fit_score(fitted, instances.answers[fitted], scored, rng=rng)
            if instances.kind == "classes" and task.folds != "split":
                found = with_all_shares(found, instances.answers[fitted], instances.answers, len(instances.classes))
            scores[answers_of(scored, instances.offsets)] = found
        for line in said_of(getattr(scorer, "filter", None)):
            note(f"{line}; it read {task.input}")
        given = self.sorted.rows[rows]  # (n,) in the order that was given
        order = np.argsort(given)
        as_given = np.empty_like(scores)
        as_given[self.sorted.answers] = scores
        return Probe(
            input=task.input,
            model=model_name(task.model),
            folds=task.folds,
            rows=given[order],
            hits=hits(scores, instances)[rows][order],
            probabilities=gold_probabilities(scores, instances)[rows][order],
            scores=as_given[answers_of(given[order], self.given.offsets)],
            n_folds=len(parts),
            seed=task.seed,
            fitted_on=task.fitted_on,
            scored_on=task.scored_on,
        )

    def scorer(self, task: Task) -> Scorer:
        """The model ready for the input; the last one is kept, for other folds."""
        key = _ready_for(task)
        if self._ready is None or self._ready[0] != key:
            self._ready = None  # two at once would double the memory
            one = find_input(task.input, self.source.texts)
            reading = read(one, self.source, self.sorted.groups, rng=_rng(task.seed, "input", task.input))
            self._ready = key, make_scorer(task.model, reading, self.sorted.groups)
        return self._ready[1]

    def _parts(self, task: Task) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to fit on and rows to score, for each fit."""
        if task.folds == "split":
            splits = self.sorted.instances.splits()
            return [(splits[task.fitted_on], splits[task.scored_on])]
        rng = _rng(task.seed, "folds", "group")
        folds = deal_folds(self.sorted.groups, task.n_folds, rng=rng)
        if task.folds == "random":
            folds = parted(folds, self.sorted.groups, rng=rng)
        return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(int(folds.max()) + 1)]


def make_scorer(model: AnyModel, reading: Reading, groups: np.ndarray) -> Scorer:
    """`model` ready for what `reading` has of each entry; rows of one of `groups` (N,) are stopped by together.

    Raises InputError for a model that cannot read it, and for what is no model.
    """
    if model == TFIDF:
        return ByEntry(reading.texts, Tfidf(reading))
    made = _made(model)
    if reads_texts(made):
        return ByEntry(reading.texts, OfStrings(made, reading, of_words=isinstance(made, FastTextModel)))
    return scorer_of(made, reading, groups)


def check_models(models: Sequence[AnyModel], kind: str) -> None:
    """Raise one InputError that names every model of which instances of this `kind` can have no probe: its package or
    its weights are missing, it is none, or it reads what they have not. ContractError where settings cannot be kept."""
    faults: dict[str, None] = {}
    for model in models:
        try:
            made = _made(model) if model != TFIDF else model
            if isinstance(made, Filter) and not reads_texts(made):
                check_reads(made, kind)
            getattr(made, "check", lambda: None)()
            settings_of(made)
        except InputError as fault:
            faults[str(fault)] = None
    if faults:
        raise InputError(" ".join(faults))


def _made(model: AnyModel) -> Any:
    """The object that a name of an audit stands for; InputError for what is no model, or whose package is missing."""
    if isinstance(model, type):
        raise InputError(f"model {model.__name__}: this is a class. Give an object of it, {model.__name__}(...).")
    if isinstance(model, str):
        REGISTRY.find(model, beside=(TFIDF, FASTTEXT))
    made: Any = model if not isinstance(model, str) else FastTextModel() if model == FASTTEXT else REGISTRY.make(model)
    if not reads_texts(made) and not isinstance(made, Filter):
        raise InputError(
            f"model {model_name(model)}: it has no name, fit and score. `swag_af.auditing.probes.models` says how."
        )
    return made


def _inputs_of(model: AnyModel, names: Sequence[str]) -> Sequence[str]:
    """Which of the inputs `names` a model reads unless it is told: see `planned`."""
    if model == TFIDF:
        return names
    named = isinstance(model, str) and model not in DEFAULT_MODELS
    made = REGISTRY.find(str(model), beside=DEFAULT_MODELS) if named else model
    if getattr(made, "reads_one", True):
        main = [name for name in names if name in MAIN]
        is_alone = reads_ending_alone(_with_settings(str(model)) if named else made)
        return [name for name in main if name != "second-sentence"] if is_alone else main
    return [name for name in names if name in WITH_TWO]


def _with_settings(name: str) -> Any:
    """The object of that name, whose brackets may say what it reads; None where it cannot be made, which is told where
    it is to be fitted."""
    try:
        return REGISTRY.make(name)
    except SwagAfError:
        return None


def _check_told_apart(models: Sequence[AnyModel]) -> None:
    """Raise InputError where two models have one name."""
    named = Counter(map(model_name, models))
    if repeated := next((name for name, n in named.items() if n > 1), ""):
        raise InputError(
            f"models: two are called {repeated}, by which their figures are told. Audit one at a time, or compare them "
            "with baselines."
        )


def _check_name(model: AnyModel) -> None:
    """Raise InputError, with near matches, for a name that there is not."""
    if isinstance(model, str) and model not in DEFAULT_MODELS:
        REGISTRY.find(model, beside=DEFAULT_MODELS)


def reads_texts(model: Any) -> bool:
    """Whether it is fitted on texts with labels, not on a view as filters are."""
    return isinstance(model, Model) and "labels" in inspect.signature(model.fit).parameters


def model_name(model: AnyModel) -> str:
    """The name by which it was asked for, or its own; raises InputError for what has none."""
    if not isinstance(getattr(model, "name", model), str):
        raise InputError(f"model {reprlib.repr(model)}: a name, or an object with name, fit and score.")
    return model if isinstance(model, str) else model.name


def model_label(name: str) -> str:
    """A model as it begins a sentence: `Tf-idf regression`."""
    return "Tf-idf regression" if name == TFIDF else label_of(name)


def _rng(seed: int, *what: str) -> np.random.Generator:
    """A generator that depends on the seed and on what it is for."""
    return np.random.default_rng((seed, *b"probe ", *" ".join(what).encode()))
