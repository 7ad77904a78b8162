"""The verb `release`: makes a dataset of a run, and of the verdicts on its endings if there are any.

Writes a folder whole or not at all: SWAG's CSV files always, JSONL and Parquet beside them, a dataset card, Croissant
metadata, tasks for lm-evaluation-harness, and a manifest with the hash of every file.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import write_text
from swag_af.data.disk.manifests import (
    MANIFEST,
    check_replaceable,
    is_clutter,
    read_manifest,
    sha256_file,
    write_manifest,
)
from swag_af.data.disk.replacing import check_output, replacing
from swag_af.data.errors import InputError, takes_options
from swag_af.data.pool.folder import FILTER_TABLES, GUARD_TABLES, TEXT_TABLES
from swag_af.data.runs.run import open_run
from swag_af.data.splits import renumbered
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import Advance, progress
from swag_af.filters.registry import parse_names
from swag_af.releasing.cards.card import dataset_card
from swag_af.releasing.cards.style import style_in_short
from swag_af.releasing.dataset import Dataset, assemble
from swag_af.releasing.files.croissant import write_croissant
from swag_af.releasing.files.formats import formats_wanted, write_parquet, write_questions_jsonl
from swag_af.releasing.files.stages import write_stages
from swag_af.releasing.files.swag_csv import write_full, write_regular
from swag_af.releasing.lm_eval.harness import task_names, write_harness
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.questions import SPLITS
from swag_af.releasing.rationales import rationale_run
from swag_af.releasing.style import measure_style, style_filters
from swag_af.reporting.plot import plot_run


@takes_options
def release(options: ReleaseOptions) -> Dataset:
    """Apply the rules, split, shuffle, measure style and write; returns the dataset that was written."""
    check_output(options.out, force=True, folder=True)
    with alone(options.out, waits=False):
        return _released(options)


def _released(options: ReleaseOptions) -> Dataset:
    check_replaceable(options.out, "dataset", force=options.force)
    _check_untouched(options.out)
    formats = formats_wanted(parse_names("--formats", options.formats))
    run = open_run(options.run)
    names = style_filters(run, options)
    n_stages = 1 if rationale_run(run) is None else 2
    tables = FILTER_TABLES if names else (*TEXT_TABLES, "groups")
    run.pool.check_tables((*GUARD_TABLES, *tables))  # a fault is none of a filter's
    with progress("release", 3 + n_stages * len(names), "steps") as advance, replacing(options.out) as folder:
        dataset = assemble(run, options)
        advance(1)
        dataset = _with_style(dataset, names, advance)
        advance(0, note="writing the questions")
        folder.mkdir(parents=True)
        _write_questions(folder, dataset, formats)
        advance(1, note="writing the card")
        _write_about(folder, dataset, formats)
        advance(1)
    return dataset


def _check_untouched(folder: Path) -> None:
    """Raise InputError where the dataset in `folder`, which another one replaces, is no longer as it was written: the
    card is there to be filled in, and a publisher adds a licence."""
    if not folder.exists():
        return
    written = read_manifest(folder, "dataset")["sha256"]
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not is_clutter(path.name))
    names = [path.relative_to(folder).as_posix() for path in files]
    theirs = [
        name
        for name, path in zip(names, files, strict=True)
        if name != MANIFEST and (name not in written or sha256_file(path) != written[name])
    ]
    if theirs:
        more = f" and {len(theirs) - 1} more" if theirs[1:] else ""
        raise InputError(
            f"{folder}: {theirs[0]}{more} in it {'were' if more else 'was'} added or edited since it was made, and "
            "would go with the older dataset. Move it, or choose another --out."
        )


def _with_style(dataset: Dataset, names: Sequence[str], advance: Advance) -> Dataset:
    """The dataset with what fresh filters find in its questions, and in those about rationales."""
    groups, seed, why = np.array(dataset.groups), dataset.options.seed, dataset.rationales
    style = measure_style(dataset.run, dataset.questions, groups, names, seed=seed, advance=advance)
    if why is not None:
        group_of = dict(zip((question.id for question in dataset.questions), dataset.groups, strict=True))
        theirs = renumbered(np.array([group_of[question.id] for question in why.questions]))
        of_why = measure_style(why.run, why.questions, theirs, names, seed=seed, advance=advance)
        why = replace(why, style=of_why)
    return replace(dataset, style=style, rationales=why)


def _write_questions(folder: Path, dataset: Dataset, formats: tuple[str, ...]) -> None:
    write_regular(folder, dataset.questions)
    if dataset.opinions is not None:
        write_full(folder, dataset.questions)
    if "jsonl" in formats:
        write_questions_jsonl(folder, dataset.questions, dataset.groups)
    if "parquet" in formats:
        write_parquet(folder, dataset.questions, full=dataset.opinions is not None)
    write_stages(folder, dataset, formats)


def _write_about(folder: Path, dataset: Dataset, formats: tuple[str, ...]) -> None:
    """Everything beside the questions; the manifest last, because it has the hashes of all other files."""
    write_harness(folder, dataset)
    write_croissant(folder, dataset)
    if dataset.run.matching is None:
        plot_run(dataset.run, folder)
    write_text(folder / "README.md", dataset_card(dataset, formats))
    write_manifest(folder, "dataset", _manifest(folder, dataset, formats))


def _manifest(folder: Path, dataset: Dataset, formats: tuple[str, ...]) -> dict[str, Any]:
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        "n_questions": len(dataset.questions),
        "splits": dataset.sizes,
        "n_choices": 1 + dataset.options.n_distractors,
        "iteration": dataset.iteration,
        "pool_identity": dataset.run.pool.identity,
        **_generator_record(dataset),
        "human_verdicts": _verdicts_record(dataset),
        "n_generated_answers": dataset.n_generated,
        "left_out": dataset.left_out,
        "second_left_out": dataset.second_left_out,
        "linked": dataset.linked,
        "unlinked": dataset.n_unlinked,
        "n_groups": len(dataset.group_sizes),
        "near_duplicates": {
            "asked": dataset.near.asked,
            "joined_from": dataset.near.least,
            "phrases_do_not_count": dataset.near.is_templated,
            "pairs_left_apart": dataset.near.n_apart,
        },
        "audits": {"summary": style_in_short(dataset.run_so_far, dataset.style), **dataset.style.as_record()},
        **_rationales_record(dataset),
        "formats": ["csv", *formats],
        "harness_tasks": task_names(dataset),
        "sha256": {path.as_posix(): sha256_file(folder / path) for path in files},
        "made_by": {"verb": "release", "options": asdict(dataset.options)},
    }


def _rationales_record(dataset: Dataset) -> dict[str, Any]:
    """What there is of rationales, under `rationales`; nothing where there are none."""
    why = dataset.rationales
    if why is None:
        return {}
    record = {
        "n_questions": len(why.questions),
        "splits": {split: sum(question.split == split for question in why.questions) for split in SPLITS},
        "pool_identity": why.run.pool.identity,
        "audits": {"summary": style_in_short(why.run, why.style), **why.style.as_record()},
    }
    return {"rationales": record}


def _generator_record(dataset: Dataset) -> dict[str, Any]:
    """What wrote the wrong endings, where the pool says so."""
    record = dataset.run.pool.manifest.get("generator")
    return {} if record is None else {"generator": record}


def _verdicts_record(dataset: Dataset) -> dict[str, Any] | None:
    """Numbers and hashes of the verdicts; None without any."""
    opinions = dataset.opinions
    if opinions is None:
        return None
    return {
        "n_verdicts": len(opinions.verdicts),
        "n_annotators": opinions.n_annotators,
        "n_annotators_dropped": len(opinions.dropped),
        "judge": dataset.options.judge,
        "sha256": [sha256_file(path) for path in dataset.options.verdicts],
    }
