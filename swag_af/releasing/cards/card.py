"""The dataset card, `README.md`: how the dataset was made, and the numbers that are known about it.

What only its publisher knows (licence, citation, source of the captions, often their language) is marked to be filled
in.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swag_af.auditing.runs.summary import audit_rows, below_lines, comparison_lines
from swag_af.data.errors import several
from swag_af.data.numbers.percent import in_percent
from swag_af.data.pool.guarded import ROWS_DROPPED, guard_counts, guard_rows
from swag_af.data.pool.sharing import repeated_line
from swag_af.data.runs.findings import read_audits
from swag_af.data.runs.run import Run, verb_manifest
from swag_af.data.text.lengths import warning_lines
from swag_af.judging.rules import LEFT_OUT, SECOND_LEFT_OUT
from swag_af.releasing.cards.hub import header_lines
from swag_af.releasing.cards.matching import columns, introduction, matching_section, rationales_section, splits_of
from swag_af.releasing.cards.style import linked_lines, style_in_short, style_section
from swag_af.releasing.cards.verification import verification_lines
from swag_af.releasing.dataset import Dataset, told_iterations
from swag_af.releasing.files.stages import FOLDER as STAGES
from swag_af.releasing.lm_eval.harness import FOLDER, VARIANTS, task_names
from swag_af.releasing.questions import SPLITS
from swag_af.reporting.sections.guards import guard_places, guard_sentences
from swag_af.reporting.tables.markdown import bullets, markdown_table
from swag_af.reporting.tables.text import accuracy_rows, drop_reasons, generator_lines, skipped_lines

UNVERIFIED = "**No person has verified these distractors.** Some may be as good an ending as gold."


def dataset_card(dataset: Dataset, formats: Sequence[str]) -> str:
    """The card of this dataset, as Markdown with a YAML header."""
    name = dataset.options.out.resolve().name
    sections = [
        header_lines(dataset, formats),
        [f"# {name}", "", *_introduction(dataset)],
        ["## What a question looks like", "", *_example(dataset)],
        ["## Files", "", *_files(dataset, formats)],
        ["## Splits and labels", "", *_splits(dataset)],
        ["## Construction", "", *bullets(_construction(dataset.run))],
        _selection(dataset),
        *([["## Wrong endings that could be right", "", *guarded]] if (guarded := _guards(dataset)) else []),
        ["## What style gives away", "", *style_section(dataset, formats)],
        ["## Human verification", "", *(verification_lines(dataset) if dataset.opinions else [UNVERIFIED])],
        ["## What was left out", "", *_left_out(dataset)],
        *([["## Scoring a model", "", *_scoring(dataset)]] if task_names(dataset) else []),
        ["## For the publisher to fill in", "", *bullets(_to_fill_in(dataset))],
    ]
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


_TO_FILL_IN = (
    "**Source of the captions**, and who is shown or named in them:",
    "**Licence** of the captions and of this dataset (`license:` at the head of this file, `license` in "
    "`croissant.json`):",
    "**Citation** and address (`citeAs` and `url` in `croissant.json`):",
    "**Contact**, and how to have an entry removed:",
)
_IF_UNKNOWN = (
    "**Language** of the captions (`language:` at the head of this file, `inLanguage` in `croissant.json`):",
)
_IF_VERIFIED = ("**Annotators**: how they were found, instructed and paid:",)


def _to_fill_in(dataset: Dataset) -> list[str]:
    lines = [*_TO_FILL_IN, *(() if dataset.is_english else _IF_UNKNOWN), *(_IF_VERIFIED if dataset.opinions else ())]
    return lines if dataset.goes_on else [line.replace("captions", "texts") for line in lines]


def _introduction(dataset: Dataset) -> list[str]:
    lines = [
        introduction(dataset) if dataset.run.is_matched else _what_is_filtered(dataset),
        "",
        style_in_short(dataset.run_so_far, dataset.style),
        "",
    ]
    if dataset.opinions is None:
        return [*lines, UNVERIFIED]
    judges = dataset.opinions.told
    if dataset.run.matching:
        return [*lines, f"{judges} judged the answers."]
    generated = (
        f"{several(dataset.n_generated, 'training question has', 'training questions have')} a generated "
        "ending as the answer."
    )
    return [*lines, f"{judges} judged the endings; {generated}"]


def _what_is_filtered(dataset: Dataset) -> str:
    n_choices = 1 + dataset.options.n_distractors
    of = f"{n_choices} endings: what happens next?" if dataset.goes_on else f"{n_choices} options."
    told = f"{len(dataset.questions):,} multiple-choice questions of {of}"
    if dataset.iteration == 0:
        return f"{told} The wrong endings were drawn at random: these are the questions before any filtering."
    if dataset.is_unfiltered:
        return f"{told} Filtering swapped none of the wrong endings: these are the questions before it."
    return (
        f"{told} The wrong endings were chosen by Adversarial Filtering "
        "([Zellers et al. 2018](https://arxiv.org/abs/1808.05326)), which is meant to keep style alone from giving the "
        "right one away."
    )


def _example(dataset: Dataset) -> list[str]:
    question = next(question for split in SPLITS for question in dataset.of_split(split))
    label = None if question.split == "test" else question.label  # whose labels nobody gets
    marks = ["**" if i == label else "" for i in range(len(question.endings))]
    shown = [
        f"> {mark}({i}) {_plain(ending)}{mark}"
        for i, (mark, ending) in enumerate(zip(marks, question.endings, strict=True))
    ]
    goes_on = " ..." if question.start else ""
    return [f"> {_plain(question.startphrase)}{goes_on}", ">", "> " + "  \n> ".join(line[2:] for line in shown)]


def _plain(text: str) -> str:
    """Text on one line, with its Markdown characters escaped."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in " ".join(text.split()))


def _files(dataset: Dataset, formats: Sequence[str]) -> list[str]:
    full = "" if dataset.opinions is None else '\nfull = load_dataset("path/of/this/folder", "full")'
    full += f'\nboth = load_dataset("path/of/this/folder", "{STAGES}")' if dataset.rationales else ""
    return [
        *markdown_table(_file_rows(dataset, formats)),
        "",
        (columns(dataset) if dataset.run.is_matched else _COLUMNS) + _media_told(dataset),
        "",
        f'```python\nfrom datasets import load_dataset\n\nquestions = load_dataset("path/of/this/folder"){full}\n```',
    ]


_COLUMNS = (
    "`startphrase` is `sent1` and `sent2` together; `sent2` is the beginning of the second sentence, which an ending "
    "finishes. `fold-ind` is the number of the context in the pool. `gold-source` says whether the answer was found in "
    "the source (`gold`) or generated (`gen`). `sent1` and `sent2` begin with a capital, and texts that were "
    "tokenised lost the blanks of their tokens; else all texts are those of the pool."
)


def _media_told(dataset: Dataset) -> str:
    names = [f"`{name}`" for name in dataset.questions[0].media]
    if not names:
        return ""
    verb = "says" if len(names) == 1 else "say"
    return (
        f" {' and '.join(names)} {verb} what is shown with the text, as the source has it; what it names is not here."
    )


def _file_rows(dataset: Dataset, formats: Sequence[str]) -> list[tuple[str, str]]:
    """A header, then each file or folder and what it holds."""
    is_judged, parquet = dataset.opinions is not None, "parquet" in formats
    full = "SWAG's full columns: answer apart, all distractors, ratings"
    jsonl = "one object a question: `sent1`, `start`, `endings`, `label`; `swag-af pool` reads it"
    rows = (
        (True, "file", "holds"),
        (True, "`train.csv`, `val.csv`", "SWAG's regular columns, answers shuffled"),
        (True, "`test.csv`, `test_labels.csv`", "the same without `label`, and the labels by index"),
        (is_judged, "`train_full.csv`, `val_full.csv`", full),
        ("jsonl" in formats, "`jsonl/`", jsonl),
        (parquet, "`data/`", "Parquet, the columns of the regular files; the label is -1 in test"),
        (dataset.rationales is not None, f"`{STAGES}/`", _BOTH_STAGES),
        (parquet and is_judged, "`full/`", "Parquet, the columns of the full files"),
        (bool(task_names(dataset)), f"`{FOLDER}/`", "tasks for EleutherAI's lm-evaluation-harness"),
        (True, "`croissant.json`", "the files, hashes and columns for machines"),
        (True, "`manifest.json`", "sizes, drops, options and hashes of all files"),
    )
    return [(name, holds) for is_there, name, holds in rows if is_there]


_BOTH_STAGES = (
    "both questions of a row, in VCR's columns: which answer (Q->A), and which rationale, given the right one (QA->R); "
    "labels of test apart, in `test_labels.jsonl`"
)


def _splits(dataset: Dataset) -> list[str]:
    n_choices = 1 + dataset.options.n_distractors
    videos = ("videos",) * dataset.names_videos
    rows: list[tuple[str, ...]] = [("split", "questions", *videos, *(f"label {i}" for i in range(n_choices)))]
    for split in SPLITS:
        questions = dataset.of_split(split)
        labels = Counter(question.label for question in questions)
        of = (f"{len({question.context.video for question in questions}):,}",) * dataset.names_videos
        rows.append((split, f"{len(questions):,}", *of, *(f"{labels[i]:,}" for i in range(n_choices))))
    together = splits_of(dataset) if dataset.run.is_matched else _together(dataset)
    return [*markdown_table(rows), "", together, *(part for line in linked_lines(dataset) for part in ("", line))]


def _together(dataset: Dataset) -> str:
    """What shares a split."""
    by_gold = "groups" in dataset.run.pool.tables  # of generated endings alone nobody has looked for golds among them
    shared = (
        "where they share a sentence, where the gold of one is a candidate negative of the other (both "
        if by_gold
        else "where they share a sentence ("
    )
    no_video, with_videos = "", ""
    if dataset.names_videos:
        no_video, with_videos = "No video stands in two splits. ", ", with all of their videos,"
    return (
        f"{no_video}Contexts share a split{with_videos} {shared}as far as a tenth "
        "of the contexts or fewer hang together, or 20 of few), and where their lower-cased tokens (first sentence, "
        f"start and gold) have a Jaccard similarity of 3-grams of {dataset.near.told}. "
        f"That makes {dataset.kept_together}; the largest has {several(dataset.group_sizes[0], 'context')}."
    )


def _construction(run: Run) -> list[str]:
    manifest = run.pool.manifest
    lines = [
        f"{len(run.pool):,} contexts with {run.pool.n_candidates - 1:,} candidate negatives each (at most, "
        "where rows are ragged).",
        *generator_lines(manifest),
        *_drop_sentences(manifest),
        *_perplexity_sentences(manifest),
        *filter(None, [run.pool.features_told]),
    ]
    if shared := manifest.get("shared_texts", {}).get("n_golds_among_negatives"):
        lines.append(f"{shared:,} candidate negatives are the gold of another context.")
    lines += filter(None, [repeated_line(manifest.get("shared_texts", {}))])
    is_normalised = (manifest.get("made_by") or {}).get("normalise", False)
    warned = warning_lines(manifest.get("surface", []), normalised=is_normalised)
    lines += [f"Warned of before filtering: {line}" for line in warned[:-1]]
    if "tagger" in manifest:
        lines.append(f"Tags: {manifest['tagger']}.")
    return lines


def _drop_sentences(manifest: Mapping[str, Any]) -> list[str]:
    """How many pairs, contexts and candidates were dropped on the way to the pool, and why."""
    lines = []
    if drops := manifest.get("contexts"):
        reasons = drop_reasons(drops) or "none"
        lines.append(
            f"From {drops['pairs']:,} pairs of consecutive captions, {drops['kept']:,} kept; dropped: {reasons}."
        )
    if manifest.get("drops"):
        lines.append(f"Contexts left out when candidates were made: {drop_reasons(manifest['drops'])}.")
    titles = {"rejected_draws": "Sampled endings that did not count", "dropped_negatives": "Negatives left out"}
    counts = {title: manifest.get(key, {}) for key, title in titles.items()}
    return [*lines, *(f"{title}: {drop_reasons(some)}." for title, some in counts.items() if any(some.values()))]


def _perplexity_sentences(manifest: Mapping[str, Any]) -> list[str]:
    return [
        f"Language model of fold {fold}: token perplexity on that fold, which it did not learn from, "
        f"{report['fold_perplexity']['forward']:.1f} forward, {report['fold_perplexity']['backward']:.1f} backward."
        for fold, report in sorted(manifest.get("lms", {}).items())
    ]


def _selection(dataset: Dataset) -> list[str]:
    """The section on how the wrong endings were chosen."""
    matching = dataset.run.matching
    if matching:
        why = rationales_section(dataset)
        return ["## Matching", "", *matching_section(matching), "", *why, *([""] * bool(why)), *_audited(dataset)]
    return ["## Filtering", "", *_filtering(dataset)]


def _audited(dataset: Dataset) -> list[str]:
    return ["### Audit", "", *_audit(dataset)]


def _filtering(dataset: Dataset) -> list[str]:
    run = dataset.run
    in_all = "" if dataset.iteration == run.n_finished else " in all iterations; the curve shows all, too"
    header, *accuracies = accuracy_rows(run, dataset.iteration)
    return [
        f"{_phases(run)} The assignment after iteration {dataset.iteration} of {told_iterations(run)} is released: "
        f"{run.start.shape[1] - 1} negatives a context. Chance is {in_percent(run.chance)}; accuracies are those of "
        "finding gold in held-out contexts, means of five iterations, or of half where there are fewer than ten. The "
        "filters scored "
        f"{in_percent(run.scored_share)} of those contexts' unassigned candidates{in_all}.",
        *skipped_lines(run, dataset.iteration),
        "",
        *([*markdown_table([header, *accuracies]), ""] if accuracies else []),
        "![held-out accuracy by iteration](curve.png)",
        "",
        *_audited(dataset),
    ]


def _guards(dataset: Dataset) -> list[str]:
    """How many endings guards mark, of the pool, the assigned and the released; nothing where it was not guarded."""
    pool = dataset.run.pool
    places = guard_places(dataset.run, dataset.iteration)
    released = guard_counts(
        pool,
        np.array([question.example.row for question in dataset.questions]),
        np.array([question.columns[1:] for question in dataset.questions]),  # the answer first
    )
    if released is None:
        return []
    sentences = guard_sentences(dataset.run)
    if dropped := pool.manifest.get(ROWS_DROPPED):
        sentences.append(
            f"{several(dropped, 'context')} had too few endings left that were not flagged, and "
            f"{'was' if dropped == 1 else 'were'} left out."
        )
    return [*markdown_table(guard_rows(places | {"of the released": released})), "", " ".join(sentences)]


def _audit(dataset: Dataset) -> list[str]:
    """The audits of the run, of the released iteration and those before."""
    run = dataset.run_so_far
    findings = [f for f in read_audits(run.path).findings if f.iteration is None or f.iteration <= dataset.iteration]
    if not findings:
        return ["No fresh filters have been tried on the run (`swag-af audit`)."]
    compared, below = comparison_lines(run, findings), below_lines(run, findings)
    n_assigned, n_choices = run.start.shape[1], 1 + dataset.options.n_distractors
    others = "" if n_assigned == n_choices else f", not the {n_choices} that are released"
    return [
        f"What fresh filters find among the {n_assigned} endings that the run assigns{others}; fitted and scored on "
        "different groups:",
        "",
        *markdown_table(audit_rows(run, findings)),
        *(["", *bullets(compared)] if compared else []),
        *(part for line in below for part in ("", line)),
    ]


def _phases(run: Run) -> str:
    """The schedule in a sentence; empty for a run in memory, whose schedule is not known."""
    if run.path is None:
        return ""
    manifest = verb_manifest(run.path)
    phases = ", ".join(f"`{name}` from iteration {first}" for name, first in manifest["phases"])
    options = manifest["options"]
    return f"Filters: {phases}; rule `{options['rule']}`, pick `{options['pick']}`, seed {options['seed']}."


def _left_out(dataset: Dataset) -> list[str]:
    n, kept = len(dataset.run.pool), len(dataset.run.pool) - sum(dataset.left_out.values()) - dataset.n_unlinked
    unlinked = (
        f"{several(dataset.n_unlinked, 'context')}, so that no answer stands in the context of another question"
        + (", but in training." if dataset.options.linked == "held-out" else ".")
    )
    if dataset.opinions is None:
        nothing = f"Nothing: all {n:,} contexts of the pool are questions."
        return [unlinked if dataset.n_unlinked else nothing]
    lines = [
        f"Of {n:,} contexts, {kept:,} make a question.",
        "",
        *markdown_table(_reason_rows("context left out because", dataset.left_out, LEFT_OUT)),
        *(["", f"And {unlinked}"] if dataset.n_unlinked else []),
    ]
    if dataset.run.matching:
        return lines
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
    shows = {
        "full": "shows context and endings",
        "ending_only": "the endings alone",
        "shuffled_context": "the context of a question about another video",
    }
    variants = [f"`{task}` {shows[name]}" for task in tasks for name in VARIANTS if task.endswith(name)]
    return [
        f"```\nlm_eval --include_path path/of/this/folder/{FOLDER} --tasks {group} --model hf --model_args "
        "pretrained=MODEL\n```",
        "",
        f"{', '.join(variants)}. A model that scores above chance, "
        f"{100 / (1 + dataset.options.n_distractors):.0f} %, without the right context reads answers off the endings. "
        "The validation split is scored, and shots are drawn from train.",
        *(_SCORING_STAGES if dataset.rationales else ()),
    ]


_SCORING_STAGES = (
    "",
    "```\nswag-af score path/of/this/folder predictions.jsonl\n```",
    "",
    "takes a prediction for each `annot_id`, and one for its rationale under the same with `:rationale` behind it; it "
    "tells Q->A, QA->R, and Q->AR, both right, which is right by chance in the product of both.",
)
