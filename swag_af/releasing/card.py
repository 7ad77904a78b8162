"""The dataset card, `README.md`: how the dataset was made and what is known of it, in numbers.

What only people can say (licence, citation, where the captions come from) is marked to be filled in.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from swag_af.auditing.summary import audit_rows, below_lines, comparison_lines
from swag_af.data.files import read_manifest
from swag_af.data.findings import read_audits
from swag_af.data.run import Run
from swag_af.data.text.surface import warning_lines
from swag_af.judging.rules import LEFT_OUT, SECOND_LEFT_OUT
from swag_af.releasing.card_people import people_lines
from swag_af.releasing.card_style import style_section, style_summary
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.harness import FOLDER, VARIANTS, task_names
from swag_af.releasing.hub import header_lines
from swag_af.releasing.markdown import bullets, markdown_table
from swag_af.releasing.questions import SPLITS
from swag_af.reporting.text import accuracy_rows, drop_reasons

UNVERIFIED = "**No person has verified these distractors.** Some may be as good an ending as gold."


def dataset_card(dataset: Dataset, formats: Sequence[str]) -> str:
    """The card, with this dataset's numbers."""
    name = dataset.options.out.resolve().name
    sections = [
        header_lines(dataset, formats),
        [f"# {name}", "", *_summary(dataset)],
        ["## What a question looks like", "", *_example(dataset)],
        ["## Files", "", *_files(dataset, formats)],
        ["## Splits and labels", "", *_splits(dataset)],
        ["## Construction", "", *bullets(_construction(dataset.run))],
        ["## Filtering", "", *_filtering(dataset)],
        ["## What style gives away", "", *style_section(dataset)],
        ["## Human verification", "", *(people_lines(dataset) if dataset.opinions else [UNVERIFIED])],
        ["## What was left out", "", *_left_out(dataset)],
        *([["## Scoring a model", "", *_scoring(dataset)]] if task_names(dataset) else []),
        ["## For the publisher to fill in", "", *bullets([*_TO_FILL_IN, *(_OF_PEOPLE if dataset.opinions else ())])],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


_TO_FILL_IN = (
    "**Source of the captions**, and who is shown or named in them:",
    "**Licence** of the captions and of this dataset (`license:` at the head of this file, `license` in "
    "`croissant.json`):",
    "**Citation** and address (`citeAs` and `url` in `croissant.json`):",
    "**Contact**, and how to have an entry removed:",
)
_OF_PEOPLE = ("**Annotators**: how they were found, instructed and paid:",)


def _summary(dataset: Dataset) -> list[str]:
    n_choices = 1 + dataset.options.n_distractors
    lines = [
        f"{len(dataset.questions):,} multiple-choice questions of {n_choices} endings: what happens next? The wrong "
        "endings were chosen by Adversarial Filtering ([Zellers et al. 2018](https://arxiv.org/abs/1808.05326)), which "
        "is meant to keep style alone from giving the right one away.",
        "",
        style_summary(dataset.run, dataset.style),
        "",
    ]
    if dataset.opinions is None:
        return [*lines, UNVERIFIED]
    judged = f"{dataset.opinions.n_annotators:,} annotators judged the endings; "
    return [*lines, judged + f"{dataset.n_generated:,} training questions have a generated ending as their answer."]


def _example(dataset: Dataset) -> list[str]:
    question = next(question for split in SPLITS for question in dataset.of_split(split))
    shown = [
        f"> {'**' if i == question.label else ''}({i}) {_plain(ending)}{'**' if i == question.label else ''}"
        for i, ending in enumerate(question.endings)
    ]
    return [f"> {_plain(question.startphrase)} ...", ">", "> " + "  \n> ".join(line[2:] for line in shown)]


def _plain(text: str) -> str:
    """Text that Markdown shows as it stands."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in text)


def _files(dataset: Dataset, formats: Sequence[str]) -> list[str]:
    rows = [("file", "holds"), ("`train.csv`, `val.csv`", "SWAG's regular columns, answers shuffled")]
    rows.append(("`test.csv`, `test_labels.csv`", "the same without `label`, and the labels by index"))
    if dataset.opinions is not None:
        rows.append(("`train_full.csv`, `val_full.csv`", "SWAG's full columns: answer apart, all distractors, ratings"))
    if "jsonl" in formats:
        rows.append(
            ("`jsonl/`", "one object a question: `sent1`, `start`, `endings`, `label`; `swag-af pool` reads it")
        )
    if "parquet" in formats:
        rows.append(("`data/`", "Parquet, the columns of the regular files; the label is -1 in test"))
    if "parquet" in formats and dataset.opinions is not None:
        rows.append(("`full/`", "Parquet, the columns of the full files"))
    if task_names(dataset):
        rows.append((f"`{FOLDER}/`", "tasks for EleutherAI's lm-evaluation-harness"))
    full = "" if dataset.opinions is None else '\nfull = load_dataset("path/of/this/folder", "full")'
    rows.append(("`croissant.json`", "the files, hashes and columns for machines"))
    rows.append(("`manifest.json`", "sizes, drops, options and hashes of all files"))
    return [
        *markdown_table(rows),
        "",
        "`startphrase` is `sent1` and `sent2` together; `sent2` is the beginning of the second sentence, which an "
        "ending finishes. `fold-ind` is the number of the context in the pool. `gold-source` says whether the answer "
        "was found in the source (`gold`) or generated (`gen`).",
        "",
        f'```python\nfrom datasets import load_dataset\n\nquestions = load_dataset("path/of/this/folder"){full}\n```',
    ]


def _splits(dataset: Dataset) -> list[str]:
    n_choices = 1 + dataset.options.n_distractors
    rows: list[tuple[str, ...]] = [("split", "questions", "videos", *(f"label {i}" for i in range(n_choices)))]
    for split in SPLITS:
        questions = dataset.of_split(split)
        labels = Counter(question.label for question in questions)
        videos = len({question.video for question in questions})
        rows.append((split, f"{len(questions):,}", f"{videos:,}", *(f"{labels[i]:,}" for i in range(n_choices))))
    largest = dataset.group_sizes[0]
    return [
        *markdown_table(rows),
        "",
        "No video stands in two splits. Contexts share a split, with all of their videos, where they share a sentence, "
        "where the gold of one is a candidate negative of the other (both as far as a tenth of the contexts or fewer "
        "hang together), and where their lower-cased tokens (first sentence, start and gold) have a Jaccard similarity "
        f"of 3-grams of {dataset.options.near_duplicates:g} or more. That makes {len(dataset.group_sizes):,} groups of "
        f"{dataset.n_videos:,} videos; the largest has {largest:,} contexts.",
    ]


def _construction(run: Run) -> list[str]:
    manifest = run.pool.manifest
    lines = [
        f"{len(run.pool):,} contexts with {run.pool.n_candidates - 1:,} candidate negatives each (at most, "
        "where rows are ragged)."
    ]
    drops = manifest.get("contexts")
    if drops:
        reasons = drop_reasons(drops)
        lines.append(
            f"From {drops['pairs']:,} pairs of consecutive captions, {drops['kept']:,} kept; dropped: "
            f"{reasons or 'none'}."
        )
    if manifest.get("drops"):
        lines.append(f"Contexts left out when candidates were made: {drop_reasons(manifest['drops'])}.")
    if any(manifest.get("rejected_draws", {}).values()):
        lines.append(f"Sampled endings that did not count: {drop_reasons(manifest['rejected_draws'])}.")
    if any(manifest.get("dropped_negatives", {}).values()):
        lines.append(f"Negatives left out: {drop_reasons(manifest['dropped_negatives'])}.")
    for fold, report in sorted(manifest.get("lms", {}).items()):
        p = report["fold_perplexity"]
        lines.append(
            f"Language model of fold {fold}: token perplexity on that fold, which it did not learn from, "
            f"{p['forward']:.1f} forward, {p['backward']:.1f} backward."
        )
    if shared := manifest.get("shared_texts", {}).get("n_golds_among_negatives"):
        lines.append(f"{shared:,} candidate negatives are the gold of another context.")
    warned = warning_lines(
        manifest.get("surface", []), normalised=(manifest.get("made_by") or {}).get("normalise", False)
    )
    lines += [f"Warned of before filtering: {line}" for line in warned[:-1]]
    if "tagger" in manifest:
        lines.append(f"Tags: {manifest['tagger']}.")
    return lines


def _filtering(dataset: Dataset) -> list[str]:
    run = dataset.run
    lines = [
        f"{_phases(run)} The assignment after iteration {dataset.iteration} of {run.n_finished} is released: "
        f"{run.start.shape[1] - 1} negatives a context. Chance is {100 * run.chance:.1f} %; accuracies are those of "
        "finding gold in held-out contexts, means of five iterations or of all where there are fewer. The filters "
        "scored "
        f"{100 * run.scored_share:.1f} % of those contexts' unassigned candidates.",
        "",
        *markdown_table(accuracy_rows(run)),
        "",
        "![held-out accuracy by iteration](curve.png)",
        "",
        "### Audit",
        "",
    ]
    findings = [f for f in read_audits(run.path).findings if f.iteration is None or f.iteration <= dataset.iteration]
    if not findings:
        return [*lines, "No fresh filters have been tried on the run (`swag-af audit`)."]
    compared, below = comparison_lines(run, findings), below_lines(run, findings)
    n_assigned, n_choices = run.start.shape[1], 1 + dataset.options.n_distractors
    others = "" if n_assigned == n_choices else f", not the {n_choices} that are released"
    return [
        *lines,
        f"What fresh filters find among the {n_assigned} endings that the run assigns{others}; fitted and scored on "
        "different groups:",
        "",
        *markdown_table(audit_rows(run, findings)),
        *(["", *bullets(compared)] if compared else []),
        *(part for line in below for part in ("", line)),
    ]


def _phases(run: Run) -> str:
    """The schedule in a sentence; a run in memory has none to tell."""
    if run.path is None:
        return ""
    manifest = read_manifest(run.path, "run")
    phases = ", ".join(f"`{name}` from iteration {first}" for name, first in manifest["phases"])
    options = manifest["options"]
    return f"Filters: {phases}; rule `{options['rule']}`, pick `{options['pick']}`, seed {options['seed']}."


def _left_out(dataset: Dataset) -> list[str]:
    n, kept = len(dataset.run.pool), len(dataset.run.pool) - sum(dataset.left_out.values())
    if dataset.opinions is None:
        return [f"Nothing: all {n:,} contexts of the pool are questions."]
    lines = [
        f"Of {n:,} contexts, {kept:,} make a question.",
        "",
        *markdown_table(_reason_rows("context left out because", dataset.left_out, LEFT_OUT)),
    ]
    lines += [
        "",
        f"Second questions for training, whose answer is a generated ending that was ranked above gold: "
        f"{dataset.n_generated:,}.",
    ]
    if any(dataset.second_left_out.values()):
        lines += ["", *markdown_table(_reason_rows("left out because", dataset.second_left_out, SECOND_LEFT_OUT))]
    return lines


def _reason_rows(title: str, counts: Mapping[str, int], reasons: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [(title, "count"), *((text, f"{counts[name]:,}") for name, text in reasons.items())]


def _scoring(dataset: Dataset) -> list[str]:
    *tasks, group = task_names(dataset)
    told = {
        "full": "shows context and endings",
        "ending_only": "the endings alone",
        "shuffled_context": "the context of a question about another video",
    }
    variants = [f"`{task}` {told[name]}" for task in tasks for name in VARIANTS if task.endswith(name)]
    return [
        f"```\nlm_eval --include_path path/of/this/folder/{FOLDER} --tasks {group} --model hf --model_args "
        "pretrained=MODEL\n```",
        "",
        f"{', '.join(variants)}. A model that scores above chance, "
        f"{100 / (1 + dataset.options.n_distractors):.0f} %, without the right context reads answers off the endings. "
        "The validation split is scored, and shots are drawn from train.",
    ]
