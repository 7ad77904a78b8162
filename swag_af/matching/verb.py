"""The verb `match`: rows read, matched bucket by bucket, and written as questions, pool and run.

    matched.jsonl     the questions, a line each, much as VCR's
    matched.json      what was matched with what, hashes, figures; written last
    pool, run         the same for `show`, `report`, `verify` and `release`
    rationales        pool and run of the rationales, where the data has them
    work              rounds and scores of each bucket, from which a killed run goes on

The same data, options and seed give the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_json, write_json, write_jsonl
from swag_af.data.disk.manifests import (
    FORMAT,
    MANIFEST,
    MATCHED,
    check_manifest,
    check_same,
    is_bare,
    is_work,
    made_by_others,
    sha256_json,
    shortened,
)
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import check_output, remove, remove_leftovers
from swag_af.data.display.brief import brief
from swag_af.data.engines.options import Workers
from swag_af.data.errors import ContractError, InputError, check_faults, takes_options
from swag_af.data.plugins.own_code import load_function, name_fault, source_of
from swag_af.data.work.progress import progress
from swag_af.matching.algorithm.buckets import sizes_said
from swag_af.matching.algorithm.estimate import Estimate, estimate
from swag_af.matching.algorithm.work import NONE, Plan, match_items, plan_of
from swag_af.matching.contract import RELEVANCE, SIMILARITY
from swag_af.matching.options import AUTO, MatchingOptions, MatchOptions
from swag_af.matching.own import call_method, check_methods, settings_of
from swag_af.matching.results.cautions import cautions_of, cautions_of_plan
from swag_af.matching.results.questions import Figures, Stage, check_runs, figures, records, save_run, wrong_answers
from swag_af.matching.results.saying import said_of
from swag_af.matching.rows.items import Item, Items
from swag_af.matching.rows.reading import read_items
from swag_af.matching.rows.tags import TAG

ABOUT, QUESTIONS, WORK, RATIONALES = MATCHED, "matched.jsonl", "work", "rationales"
OF_SWEEP, OF_WORK = "sweep.json", "identity.json"
"""The record of a sweep, and in a work folder of both verbs what was begun."""
KIND = "matching"


@brief
@dataclass(frozen=True)
class Matched:
    """What the verb made."""

    path: Path
    answers: Figures
    rationales: Figures | None
    """Where the data has rationales."""
    about: Mapping[str, Any]
    """All that `matched.json` says."""


@takes_options
def match(options: MatchOptions) -> Matched:
    """Match the data of `options`; goes on with what its folder has already.

    Raises InputError for data that cannot be read or matched, and for a folder that holds something else.
    """
    if options.dry_run:
        raise InputError("dry_run matches nothing. In Python, `swag_af.matching.verb.dry_run(options)` estimates.")
    if options.sweeping.sweep:
        raise InputError("match makes one matching. For the values of `sweeping` call `swag_af.sweep(options)`.")
    check_folder(options.out)
    items = read_items(options.data, options.pairs, options.reading)
    check_asked(items, options.matching)
    identity = identity_of(options, items)
    if (options.out / ABOUT).exists():
        about = check_manifest(read_json(options.out / ABOUT), options.out / ABOUT, KIND)
        check_same_matching(about.get("identity") or {}, identity, options.out / ABOUT, is_finished=True)
        _check_whole(options.out, items)
        remove(options.out / WORK)  # a run that was killed with its record written has left it
        return open_matched(options.out)
    check_runs(options.out, options.out / RATIONALES)
    parts = parts_of(items, options.matching)
    plans = plans_of(parts, options.matching)
    begin_work(options.out, identity)
    stages = _stages(parts, plans, options)
    _write(options, stages, identity)
    remove(options.out / WORK)
    return open_matched(options.out)


def dry_run(options: MatchOptions) -> list[Estimate]:
    """What `match` would take with these options, for answers and, where the data has them, rationales; writes nothing.

    Raises InputError as `match` does.
    """
    check_folder(options.out)
    items = read_items(options.data, options.pairs, options.reading)
    matching = options.matching
    check_asked(items, matching)
    parts = parts_of(items, matching)
    return [
        _with_cautions(estimate(name, part, plan, matching, weight), part, plan)
        for (name, part, weight), plan in zip(parts, plans_of(parts, matching).values(), strict=True)
    ]


def _with_cautions(made: Estimate, items: Items, plan: Plan) -> Estimate:
    return replace(made, notes=(*made.notes, *cautions_of_plan(items, plan)))


def open_matched(path: Path) -> Matched:
    """The folder that `match` left; FormatError where it is none, or of another format."""
    about = check_manifest(read_json(path / ABOUT), path / ABOUT, KIND)
    answers = parse_record(about.get("answers"), Figures, path / ABOUT)
    rationales = about.get("rationales")
    of_rationales = parse_record(rationales, Figures, path / ABOUT) if rationales else None
    return Matched(path, answers, of_rationales, about)


def check_folder(out: Path, about: str = ABOUT) -> None:
    """Raise InputError where `out` holds something that `match` did not make, or that it made otherwise: a sweep where
    the record is to be `about` of a plain matching, or a matching where it is to be that of a sweep.

    A folder is known by its record, and before that is written by what its work says that was begun: others may have a
    folder of the name of ours, with files of theirs.
    """
    check_output(out, force=True, folder=True)
    begun = _record_begun_in(out)
    if any((out / name).exists() or begun == name for name in (ABOUT, OF_SWEEP) if name != about):
        made, asked = ("a sweep", "a plain matching") if about == ABOUT else ("a plain matching", "a sweep")
        raise InputError(f"{out}: {made} was begun here, and {asked} would be mixed with it. Choose another --out.")
    if not (begun or (out / about).exists() or is_bare(out, WORK, OF_WORK)):
        raise made_by_others("match", out)


def _record_begun_in(out: Path) -> str:
    """The record that what was begun in `out` is to have; empty where nothing of ours was begun there."""
    if not is_work(out, WORK, OF_WORK):
        return ""
    begun = read_json(out / WORK / OF_WORK)
    return OF_SWEEP if "weights" in begun else ABOUT


def _check_whole(out: Path, items: Items) -> None:
    """Raise InputError where something of a matching that was done is gone."""
    folders = [out, *([out / RATIONALES] if any(item.rationale for item in items.rows) else [])]
    files = [out / QUESTIONS, *(folder / name / MANIFEST for folder in folders for name in ("pool", "run"))]
    gone = [str(file.relative_to(out)) for file in files if not (file.is_file() and file.stat().st_size)]
    if gone:
        raise InputError(
            f"{out}: the matching is done, and {', '.join(gone)} gone or empty since. Put that back, or remove the "
            "folder and match again: the bytes are the same."
        )


def check_asked(items: Items, matching: MatchingOptions) -> None:
    """Raise InputError for a setting of what the data has not, for a name that there is not, and for what a model
    itself finds wrong."""
    usual = MatchingOptions
    has_tags = any(TAG.search(f"{item.response} {item.rationale}") for item in items.rows)
    has_rationales = any(item.rationale for item in items.rows)
    check_faults(
        [
            (
                matching.rationale_weight != usual.rationale_weight and not has_rationales,
                f"--rationale-weight {matching.rationale_weight:g}: {items.name} has no rationales to match",
            ),
            (
                matching.share_named != usual.share_named and not has_tags,
                f"--share-named {matching.share_named:g}: no answer of {items.name} has a tag such as [person1]",
            ),
        ]
    )
    relevance, similarity = RELEVANCE.make(matching.relevance), SIMILARITY.make(matching.similarity)
    check_methods(relevance, "fit", "score")
    check_methods(similarity, "score")
    for model in (relevance, similarity):
        if fault := name_fault(model):
            raise ContractError(
                f"{type(model).__name__}: it has {fault}. check_relevance and check_similarity say more."
            )
        if hasattr(model, "check"):
            call_method(model, "check")


def identity_of(options: MatchOptions, items: Items) -> dict[str, Any]:
    """What decides the bytes; models that say so stand in it by their content and not by their path."""
    matching = options.matching
    named = {"relevance": (RELEVANCE, matching.relevance), "similarity": (SIMILARITY, matching.similarity)}
    made = {which: registry.make(name) for which, (registry, name) in named.items()}
    told = {which: settings_of(model) for which, model in made.items() if hasattr(model, "settings")}
    without_paths = {which: named[which][0].parted(named[which][1])[0] for which in told}
    if matching.buckets not in (AUTO, NONE):
        made["buckets"] = load_function("--buckets", matching.buckets)
    sources = {f"source of {which}": sha for which, model in made.items() if (sha := source_of(model))}
    return {
        "options": asdict(matching) | without_paths,
        "models": list(told.values()),
        "items": _hash(items),
        "swag_af": version("swag-af"),
        **sources,
    }


def check_same_matching(
    begun: Mapping[str, Any], now: Mapping[str, Any], path: Path, *, is_finished: bool = False
) -> None:
    """Raise InputError naming each option and whatever else differs, with both values."""
    told = _flat(now)
    sources = {f"source of {which}": f"{which} {told.get(which)}" for which in ("relevance", "similarity", "buckets")}
    check_same(_flat(begun), told, path, "--out", sources=sources, is_finished=is_finished)


def _flat(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Options beside all else; what is long stands as its hash."""
    plain = {**identity, **(identity.get("options") or {})}
    plain["rows"] = plain.pop("items", None)
    plain.pop("options", None)
    return {name: shortened(one) for name, one in plain.items()}


def begin_work(out: Path, identity: Mapping[str, Any]) -> None:
    """Write down what a matching is of before its work; goes on with what was begun the same way, without the files
    that a killed run left in part.

    Raises InputError where rounds of another matching are there; what was begun and left nothing is begun anew.
    """
    for folder in (out, out / WORK):
        remove_leftovers(folder)
    begun = out / WORK / OF_WORK
    if begun.exists() and any((out / WORK).rglob("*.npy")):
        check_same_matching(read_json(begun), identity, begun)
    write_json(begun, identity)


def _stages(
    parts: Sequence[tuple[str, Items, float]], plans: Mapping[str, Plan], options: MatchOptions
) -> dict[str, Stage]:
    """The matchings of answers and, where the data has them, of rationales."""
    matching, work = options.matching, options.out / WORK
    stages = {}
    with progress("match", sum(len(plan.buckets.names) for plan in plans.values()), "buckets") as advance:
        for name, part, weight in parts:
            (outcome,) = match_items(
                part,
                plans[name],
                matching,
                weights=[weight],
                folder=work / name,
                advance=advance,
                workers=Workers(options.workers, options.where, _Part(options, name)),
            )
            stages[name] = Stage(part, plans[name], outcome, wrong_answers(part, outcome, matching))
    return stages


@dataclass(frozen=True)
class _Part:
    """Reads what is matched again, for another process."""

    options: MatchOptions
    name: str

    def __call__(self) -> Items:
        options = self.options
        items = same_items(read_items(options.data, options.pairs, options.reading), options.out)
        return next(part for name, part, _ in parts_of(items, options.matching) if name == self.name)


def same_items(items: Items, out: Path) -> Items:
    """`items`; InputError where the work that was begun in `out` is not of them, or is finished and gone."""
    begun = out / WORK / OF_WORK
    if not begun.exists() or read_json(begun).get("items") != _hash(items):
        raise InputError(f"{out}: the matching that was begun here is done, or of other data. Run the command again.")
    return items


def _hash(items: Items) -> str:
    return sha256_json([asdict(item) for item in items.rows])


def parts_of(items: Items, matching: MatchingOptions) -> list[tuple[str, Items, float]]:
    """What is matched, by name, with its lambda: answers and, where the data has them, rationales."""
    parts = [("answers", items, matching.weight)]
    if any(item.rationale for item in items.rows):
        parts.append(("rationales", with_rationales(items), matching.rationale_weight))
    return parts


def plans_of(parts: Sequence[tuple[str, Items, float]], matching: MatchingOptions) -> dict[str, Plan]:
    """The plan of each part, by name; rows of one fold are in one fold in all of them, so that no text crosses a fold.

    Folds of which a part has no row have no number in its plan. Raises InputError where a part has one fold alone.
    """
    _, answers, _ = parts[0]
    plans = {"answers": plan_of(answers, matching)}
    fold_of = dict(zip((item.context.id for item in answers.rows), plans["answers"].folds.tolist(), strict=True))
    for name, part, _ in parts[1:]:
        left, folds = np.unique([fold_of[item.context.id] for item in part.rows], return_inverse=True)
        if len(left) < 2:
            raise InputError(
                f"{part.name}: all {len(part):,} rows are in one fold, and relevance in a fold is learned from the "
                "others. Give rows of other groups one too, or leave the rationales out (of queries and responses with "
                "--rationale-column '')."
            )
        plans[name] = plan_of(part, matching, folds=folds)
    return plans


def with_rationales(items: Items) -> Items:
    """The rows that have a rationale, which is now the response; the query is the question with its right answer."""
    rows = tuple(_asked_why(item) for item in items.rows if item.rationale)
    return replace(items, rows=rows, name=f"{items.name}, rationales")


def _asked_why(item: Item) -> Item:
    context = replace(item.context, sent1=f"{item.query} {item.response}", start="", gold=item.rationale)
    return replace(item, context=context, rationale="")


def _write(options: MatchOptions, stages: Mapping[str, Stage], identity: Mapping[str, Any]) -> None:
    """Write the questions, the pool and the run, and last the record."""
    out, matching = options.out, options.matching
    answers, rationales = stages["answers"], stages.get("rationales")
    made = {name: figures(one.items, one.outcome, one.wrong) for name, one in stages.items()}
    said = {name: asdict(one) for name, one in made.items()}
    write_jsonl(out / QUESTIONS, records(answers, rationales, seed=matching.seed))
    cautions = {}
    if rationales is not None:
        used = replace(matching, weight=matching.rationale_weight)
        folder = out / RATIONALES
        of_rationales = said_of(rationales, used, made["rationales"])
        left_open = partial(cautions_of, rationales)
        cautions["rationales"] = save_run(
            rationales, used, of_rationales, folder, left_open=left_open, are_rationales=True
        )
    cautions["answers"] = save_run(
        answers,
        matching,
        said_of(answers, matching, made["answers"]),
        out,
        left_open=partial(cautions_of, answers),
        rationales=None if rationales is None else out / RATIONALES / "run",
    )
    write_json(
        out / ABOUT,
        {
            "format": FORMAT,
            "kind": KIND,
            "identity": identity,
            "name": answers.items.name,
            "files": answers.items.files,
            "notes": answers.items.notes,
            "cautions": {name: cautions[name] for name in stages},
            "folds": np.bincount(answers.plan.folds).tolist(),
            "pairs": sum(one.plan.n_pairs() for one in stages.values()),
            "buckets": {name: sizes_said(one.plan.buckets) for name, one in stages.items()},
            "answers": said["answers"],
            "rationales": said.get("rationales"),
        },
    )
