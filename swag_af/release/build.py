"""The verb `release`: a run to SWAG's files and a dataset card.

`train.csv` and `val.csv` have SWAG's columns; `test.csv` has them without the label, and `test_labels.csv` keeps
the answers. No video stands in two splits. Human verdicts are not applied here.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.contexts import Context
from swag_af.data.errors import ExhaustedError
from swag_af.data.files import check_output, read_manifest, replacing, sha256_file, write_manifest, write_text
from swag_af.data.tokens import capitalise, detokenize, tokenize
from swag_af.options import Release
from swag_af.plot import plot_run
from swag_af.runs import Run, open_run
from swag_af.summary import accuracy_rows, drop_reasons, scored_share

SPLITS = ("train", "val", "test")


@dataclass(frozen=True, slots=True)
class Question:
    """One multiple-choice question as it is released."""

    context: Context
    endings: tuple[str, ...]
    label: int
    split: str
    number: int
    """Its row in the pool."""


def release(options: Release) -> list[Question]:
    """Split, draw, shuffle and write; returns the questions in pool order."""
    _check_replaceable(options.out, options.force)
    run = open_run(options.run)
    if options.n_distractors >= run.start.shape[1]:
        raise ExhaustedError(
            f"--n-distractors {options.n_distractors}: {options.run} assigns {run.start.shape[1] - 1} "
            "negatives a context. Ask for fewer."
        )
    assignment = run.assignment(options.iteration)
    questions = make_questions(run, assignment, options)
    with replacing(options.out) as folder:
        folder.mkdir(parents=True)
        for split in SPLITS:
            _write_split(folder, split, [q for q in questions if q.split == split], options.n_distractors)
        plot_run(run, folder)
        write_text(folder / "README.md", dataset_card(run, questions, options))
        files = sorted(path for path in folder.iterdir() if path.suffix == ".csv")
        write_manifest(
            folder,
            "dataset",
            {
                "n_questions": len(questions),
                "splits": Counter(q.split for q in questions),
                "n_choices": 1 + options.n_distractors,
                "iteration": run.n_finished if options.iteration is None else options.iteration,
                "pool_identity": run.pool.identity,
                "human_verdicts": None,
                "sha256": {path.name: sha256_file(path) for path in files},
                "made_by": {"verb": "release", "options": asdict(options)},
            },
        )
    return questions


def make_questions(run: Run, assignment: np.ndarray, options: Release) -> list[Question]:
    """A question a row: gold and `n_distractors` of its negatives, the answer's place uniform over all questions."""
    rng = np.random.default_rng(options.seed)
    contexts = run.pool.contexts
    split_of = split_by_video([c.video or c.id for c in contexts], options.val_share, options.test_share, rng=rng)
    n, n_choices = len(contexts), 1 + options.n_distractors
    labels = rng.permutation(np.arange(n) % n_choices)  # as even as the number of questions allows
    questions = []
    for row, context in enumerate(contexts):
        distractors = [
            run.pool.text(row, int(column)) for column in rng.permutation(assignment[row, 1:])[: options.n_distractors]
        ]
        label = int(labels[row])
        endings = (*distractors[:label], run.pool.text(row, 0), *distractors[label:])
        questions.append(Question(context, endings, label, split_of[context.video or context.id], row))
    return questions


def split_by_video(
    videos: Sequence[str], val_share: float, test_share: float, *, rng: np.random.Generator
) -> dict[str, str]:
    """A split for every video, each filled with whole videos in random order until it has its share of the rows."""
    size = Counter(videos)
    wanted = {"test": test_share * len(videos), "val": val_share * len(videos)}
    split_of: dict[str, str] = {}
    filled: Counter[str] = Counter()
    names = sorted(size)
    for i in rng.permutation(len(names)):
        video = names[i]
        open_splits = [split for split, share in wanted.items() if filled[split] + size[video] / 2 <= share]
        split_of[video] = open_splits[0] if open_splits else "train"
        filled[split_of[video]] += size[video]
    return split_of


def display(context: Context) -> tuple[str, str]:
    """`(sent1, start)` as released: detokenised, each with a capital at its beginning."""
    return capitalise(detokenize(tokenize(context.sent1))), capitalise(detokenize(tokenize(context.start)))


def _check_replaceable(out: Path, force: bool) -> None:
    """With --force only a dataset gives way to a dataset."""
    check_output(out, force=force)
    if out.exists():
        read_manifest(out, "dataset")


def _write_split(folder: Path, split: str, questions: list[Question], n_distractors: int) -> None:
    endings = [f"ending{i}" for i in range(1 + n_distractors)]
    header = ["", "video-id", "fold-ind", "startphrase", "sent1", "sent2", "gold-source", *endings]
    with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header if split == "test" else [*header, "label"])
        for index, question in enumerate(questions):
            sent1, start = display(question.context)
            row = [
                index,
                question.context.video,
                question.number,
                f"{sent1} {start}",
                sent1,
                start,
                "gold",
                *question.endings,
            ]
            writer.writerow(row if split == "test" else [*row, question.label])
    if split == "test":
        labels = "".join(f"{index},{question.label}\n" for index, question in enumerate(questions))
        write_text(folder / "test_labels.csv", ",label\n" + labels)


def dataset_card(run: Run, questions: Sequence[Question], options: Release) -> str:
    """The card, with this run's numbers; what only people can say is marked to be filled in."""
    manifest = run.pool.manifest
    splits = Counter(q.split for q in questions)
    labels = Counter(q.label for q in questions)
    header, *rows = accuracy_rows(run)
    accuracies = [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    lines = [
        "---",
        "task_categories:\n- multiple-choice",
        "language:\n- en",
        "license: other",
        "configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: train.csv\n  - split: "
        "validation\n    path: val.csv",
        "---",
        "",
        f"# {options.out.name}",
        "",
        f"{len(questions):,} multiple-choice questions of {1 + options.n_distractors} endings, made by "
        "Adversarial Filtering "
        "(Zellers et al. 2018) so that style alone does not solve them.",
        "",
        "**No person has verified these distractors.** Some may be as good an ending as gold. Licence and citation "
        "of the source captions are to be filled in by the publisher.",
        "",
        "## Files",
        "",
        "| split | questions |",
        "|---|---|",
        *[f"| {split} | {splits[split]:,} |" for split in SPLITS],
        "",
        "Whole videos go to one split. Answers are shuffled; labels: "
        f"{', '.join(f'{k}: {labels[k]}' for k in sorted(labels))}. "
        "`test.csv` carries no label; `test_labels.csv` does.",
        "",
        "## Construction",
        "",
        *_construction(manifest, run),
        "",
        "## Filtering",
        "",
        f"{run.n_finished} iterations; the assignment after iteration "
        f"{run.n_finished if options.iteration is None else options.iteration} is released. "
        f"Chance is {100 * run.chance:.1f} % among {run.start.shape[1]} candidates. {100 * scored_share(run):.1f} % of "
        "the unassigned candidates met were scored.",
        "",
        *accuracies,
        "",
        "![held-out accuracy by iteration](curve.png)",
        "",
    ]
    return "\n".join(lines)


def _construction(manifest: dict[str, Any], run: Run) -> list[str]:
    lines = [
        f"* {len(run.pool):,} contexts with {run.pool.n_candidates - 1:,} candidate negatives each (at most, "
        "where rows are ragged)."
    ]
    drops = manifest.get("contexts")
    if drops:
        reasons = drop_reasons(drops)
        lines.append(
            f"* From {drops['pairs']:,} pairs of consecutive captions, {drops['kept']:,} kept; dropped: "
            f"{reasons or 'none'}."
        )
    if manifest.get("drops"):
        lines.append(
            "* Contexts without enough candidates: "
            + ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in manifest["drops"].items())
            + "."
        )
    for fold, report in sorted(manifest.get("lms", {}).items()):
        p = report["fold_perplexity"]
        lines.append(
            f"* Language model of fold {fold}: token perplexity on the fold it never saw {p['forward']:.1f} "
            f"forward, {p['backward']:.1f} backward."
        )
    if "tagger" in manifest:
        lines.append(f"* Tags: {manifest['tagger']}.")
    return lines
