"""What a matching makes: questions with their options in a drawn order, a pool and a run; and what can be said of them.

Texts of other rows get tags of the row that they are given to (`tags.remapped`), drawn by the seed and the two rows, so
that a text has the same tags wherever the question is written.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.ranking import hits
from swag_af.auditing.single.likeness import content_overlap
from swag_af.auditing.single.tables import Seen
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import MANIFEST
from swag_af.data.disk.records import Matching
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.layouts.staged import rationale_id
from swag_af.data.numbers.interval import interval
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.sharing import SharedTextWarning
from swag_af.data.pooling.columns import MATCH_FOLD
from swag_af.data.runs.run import begin_run, open_run
from swag_af.data.text.surface import SurfaceFinding, SurfaceWarning
from swag_af.matching.algorithm.buckets import pronoun_class
from swag_af.matching.algorithm.work import Outcome, Plan
from swag_af.matching.options import MatchingOptions
from swag_af.matching.rows.items import Items
from swag_af.matching.rows.tags import TAG, remapped, share_of_tags_named

MADE_BY = {"verb": "match"}
"""What the manifests of pool and run say."""


@dataclass(frozen=True)
class Figures:
    """What can be said of a matching without asking anybody."""

    n: int
    relevance_accuracy: float
    """How often the model of relevance prefers the right response to all others, ties shared; 0 to 1."""
    chance: float
    similarity: float
    """Mean probability that a wrong answer means the same as the right one."""
    same_pronouns: float | None
    """Share of wrong answers with the pronoun class of the right one (VCR-CS: 88.9 %); None where no answer has an
    English pronoun of a class."""
    tags_named: float | None
    """Share of the tags of wrong answers that occur in the query or the right answer (VCR-CS: 68.9 %); None where
    there are no tags."""
    loss: float
    """How much worth was lost at most where not all pairs were matched."""
    preferred: float | None = None
    """How often the model of relevance prefers the right response to a random other of the same bucket, ties half: what
    it knows before anything is matched. None in what was matched before this was counted."""
    preferred_interval: Sequence[float] = ()
    """(2,) its 95 % interval, over groups."""
    least_overlap: Sequence[float] = ()
    """(3,) how often the option with the least content overlap with the question is right (AF203), ties shared, and
    the 95 % interval over groups; empty in what was matched before this was counted."""
    most_overlap: Sequence[float] = ()
    """(3,) the same of the option with the most."""


def wrong_answers(items: Items, outcome: Outcome, options: MatchingOptions) -> list[list[str]]:
    """The wrong answers of each row in the order of the rounds, with tags of its own objects."""
    made = []
    for row, columns in enumerate(outcome.assigned.tolist()):
        item = items.rows[row]
        scene = item.scene()
        made.append(
            [
                remapped(
                    items.rows[other].response,
                    scene,
                    options.share_named,
                    rng=np.random.default_rng((options.seed, *b"tags", row, other)),
                )
                if TAG.search(items.rows[other].response)
                else items.rows[other].response
                for other in columns
            ]
        )
    return made


def figures(items: Items, outcome: Outcome, wrong: Sequence[Sequence[str]]) -> Figures:
    """What can be said of `outcome`, whose wrong answers are the texts `wrong`."""
    pronouns = [pronoun_class(item.response) for item in items.rows]
    same = [pronoun_class(text) == mine for mine, texts in zip(pronouns, wrong, strict=True) for text in texts]
    tags = [
        share_of_tags_named(text, item.query, item.response)
        for item, texts in zip(items.rows, wrong, strict=True)
        for text in texts
    ]
    n_tags = sum(n for _, n in tags)
    least, most = (_share_right(of_rule, items.groups) for of_rule in hits_of_overlap(items, wrong))
    return Figures(
        n=len(items),
        relevance_accuracy=float(hits_of_relevance(outcome).mean()),
        chance=1 / (1 + outcome.assigned.shape[1]),
        similarity=float(outcome.similarity.mean()),
        same_pronouns=float(np.mean(same)) if set(pronouns) != {"neutral"} else None,
        tags_named=sum(named for named, _ in tags) / n_tags if n_tags else None,
        loss=outcome.loss,
        preferred=float(outcome.preferred.mean(dtype=np.float64)),
        preferred_interval=interval(outcome.preferred, items.groups),
        least_overlap=least,
        most_overlap=most,
    )


def hits_of_overlap(items: Items, wrong: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """(n,) and (n,) how far the option with the least and that with the most content overlap with the query is right,
    as AF203 of an audit has it; `wrong` are the wrong answers of each row."""
    asked = zip(items.rows, wrong, strict=True)
    rows = tuple(Instance(row.context.id, row.query, (row.response, *texts), 0) for row, texts in asked)
    instances = Instances(rows, "choices")
    overlap = content_overlap(Seen(instances.texts))
    return hits(-overlap, instances), hits(overlap, instances)


def _share_right(of_rule: np.ndarray, groups: np.ndarray) -> tuple[float, ...]:
    return (float(of_rule.mean()), *interval(of_rule, groups))


def hits_of_relevance(outcome: Outcome) -> np.ndarray:
    """(n,) how far the relevance model prefers the right response: 1, 0, or 1/t where t responses tie with it."""
    own, others = outcome.relevance[:, :1], outcome.relevance[:, 1:]
    ties = (others == own).sum(axis=1)
    return np.where((others > own).any(axis=1), 0.0, 1 / (1 + ties))


@dataclass(frozen=True)
class Stage:
    """One of the two matchings of a dataset: answers to questions, or rationales of answers."""

    items: Items
    plan: Plan
    outcome: Outcome
    wrong: list[list[str]]


def records(answers: Stage, rationales: Stage | None, *, seed: int) -> Iterator[dict[str, Any]]:
    """A question a line, much as VCR has it: options in an order drawn for each row, the label, and whose they were.

    Read as VCR is (`swag_af.data.instances.layouts.staged`): `score` has Q->A, QA->R and Q->AR of it.
    `answer_match_iter` is 0 for the right answer and else the round that gave it.
    """
    place = {} if rationales is None else {item.context.id: i for i, item in enumerate(rationales.items.rows)}
    for row, item in enumerate(answers.items.rows):
        fold = int(answers.plan.folds[row])
        record = {
            "annot_id": item.context.id,
            "movie": item.context.video,
            MATCH_FOLD: fold,
            "question": item.query,
            **choices(answers, row, "answer", seed),
        }
        if rationales is not None and item.context.id in place:
            record |= choices(rationales, place[item.context.id], "rationale", seed)
        if item.objects:
            record["objects"] = list(item.objects)
        if item.media:
            record["img_fn"] = item.media
        yield record


def choices(stage: Stage, row: int, name: str, seed: int) -> dict[str, Any]:
    """The options of a row in the order that was drawn for it, the label, whose they were, and the rounds."""
    texts = [stage.items.rows[row].response, *stage.wrong[row]]
    sources = [row, *stage.outcome.assigned[row].tolist()]
    order = np.random.default_rng((seed, *name.encode(), row)).permutation(len(texts)).tolist()
    return {
        f"{name}_choices": [texts[i] for i in order],
        f"{name}_label": order.index(0),
        f"{name}_sources": [stage.items.rows[sources[i]].context.id for i in order],
        f"{name}_match_iter": order,
    }


def check_runs(*folders: Path) -> None:
    """Raise InputError where a pool or a run that `save_run` would replace in one of `folders` was not made by it."""
    for path in (folder / name for folder in folders for name in ("pool", "run")):
        manifest = read_json(path / MANIFEST) if (path / MANIFEST).is_file() else {}
        is_ours = isinstance(manifest, dict) and manifest.get("made_by") == MADE_BY
        if path.exists() and not is_ours and not _is_begun(path):
            raise InputError(
                f"{path}: this is there, and was not made by match, which would replace it. Move it away, or choose "
                "another --out."
            )


def _is_begun(path: Path) -> bool:
    """Whether the folder holds nothing, or only what a kill leaves of a run that has no manifest yet."""
    return path.is_dir() and all(one.name == "start.npy" or one.name.startswith(".") for one in path.iterdir())


def save_run(
    stage: Stage,
    options: MatchingOptions,
    said: Sequence[str],
    folder: Path,
    *,
    left_open: Callable[[Sequence[str]], list[str]] = lambda surface: [],
    rationales: Path | None = None,
    are_rationales: bool = False,
) -> list[str]:
    """A pool of the right response and the wrong ones of each row, and a run that has all of them assigned; returns
    what the matching leaves open: `left_open` of the rules of surface form that find the right one, a sentence each.

    The groups of the pool are the folds of the matching, so that no split or fold of an audit has an answer on both
    sides: right in one row, and wrong in another. `said` tells how it was matched. `rationales` is the run of the
    rationales of these answers, which is released with this one. Rows of a stage whose responses `are_rationales` have
    in the pool the ids of questions that ask for one.
    """
    check_runs(folder)
    contexts = [item.with_media() for item in stage.items.rows]
    contexts = [_asking_why(context) for context in contexts] if are_rationales else contexts
    with warnings.catch_warnings():
        for kind in (SurfaceWarning, SharedTextWarning):  # their advice is for endings that were written
            warnings.simplefilter("ignore", kind)
        made = CandidatePool.from_grouped_texts(contexts, stage.wrong, stage.plan.folds)
    pool = made.save(folder / "pool", force=True, changes={"made_by": MADE_BY})
    width = int(pool.counts.min())
    start = np.tile(np.arange(width), (len(pool), 1))
    identity = {"pool_identity": pool.identity, "phases": [], "filters": {}, "options": asdict(options)}
    cautions = left_open([str(SurfaceFinding(**record)) for record in made.manifest["surface"]])
    matching: Matching = {
        "weight": options.weight,
        "relevance": options.relevance,
        "similarity": options.similarity,
        "said": list(said),
        "cautions": cautions,
    }
    if rationales is not None:
        identity_there = open_run(rationales).pool.identity
        matching["rationales"] = {"run": os.path.relpath(rationales, folder / "run"), "pool_identity": identity_there}
    begin_run(pool, start, folder / "run", identity, n_planned=0, made_by=MADE_BY, matching=matching)
    return cautions


def _asking_why(context: Context) -> Context:
    id = rationale_id(context.id)
    return replace(context, id=id, video=id if context.video == context.id else context.video)
