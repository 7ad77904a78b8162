"""The verb `show`: what a path holds, its numbers, a few examples and what to run next."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.cli.following import command_for, release_command
from swag_af.cli.options import ShowOptions
from swag_af.cli.runs.matching import caution_lines, points_table
from swag_af.cli.showing.found import kind_of_found, show_audit, show_diagnosis, show_pruned, show_refined
from swag_af.cli.showing.results import SHOWERS, kind_of_record, kind_of_result
from swag_af.data.captions.context_set import manifest_path_of, read_contexts, read_contexts_manifest
from swag_af.data.context import phrase
from swag_af.data.disk.files import read_json, read_jsonl
from swag_af.data.disk.manifests import MANIFEST, an, check_manifest, read_manifest
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import check_there
from swag_af.data.disk.urls import command
from swag_af.data.errors import FormatError, InputError, SwagAfError, several
from swag_af.data.extras import needing
from swag_af.data.pool.guarded import guard_counts, guard_rows
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import read_audits
from swag_af.data.runs.run import Run, open_run, verb_manifest
from swag_af.data.tables.sources import read_csv
from swag_af.data.vocabulary import Vocabulary
from swag_af.judging.verdicts import RATINGS, Verdict, read_verdicts
from swag_af.lm.options import LMOptions
from swag_af.matching.results.saying import figure_lines
from swag_af.matching.sweep import SWEEP, open_sweep
from swag_af.matching.verb import ABOUT, KIND, QUESTIONS, WORK, open_matched
from swag_af.reporting.tables.text import (
    drop_lines,
    drop_reasons,
    generator_lines,
    perplexity_rows,
    question_lines,
    run_lines,
    table,
)
from swag_af.reporting.verb import REPORT

Example = tuple[str, list[str], int]
"""A phrase, its endings, and the place of gold among them."""
Kind = tuple[str, Callable[[Path, ShowOptions], list[str]]]
"""What a path holds, and what says it."""
BESIDE = "pool and run"
"""A folder of which only that is known: much else may lie in it."""


def show(options: ShowOptions) -> str:
    """The text that the verb prints."""
    kind, shower = _kind_of(options.path)
    if options.check and kind != "pool":
        raise InputError(f"--check: {options.path} is {an(kind)}, and pools alone are checked. Leave it out.")
    lines = [f"{options.path}: {kind}", ""]
    return "\n".join([*lines, *shower(options.path, options)])


def _kind_of(path: Path) -> Kind:
    check_there(path)
    result = kind_of_result(path) if path.is_dir() else kind_of_record(path)
    if result:
        return result, SHOWERS[result]
    if path.is_file():
        return _kind_of_file(path)
    try:
        return _kind_of_folder(path)
    except FormatError as error:
        above = _above(path) if str(error).endswith(_KNOWN) else ""
        raise FormatError(f"{path}: not a folder that show reads. {above}") if above else error from None


def _kind_of_folder(path: Path) -> Kind:
    found = kind_of_found(path)
    if found:
        showers = {"audit": show_audit, "prune": show_pruned, "diagnosis": show_diagnosis, "refine": show_refined}
        return found, showers[found]
    manifest_path = path / MANIFEST
    if not manifest_path.exists():
        if (path / "answers.db").exists():
            return "verification", _show_verification
        if (path / ABOUT).exists():
            return KIND, _show_matched
        if (path / SWEEP).exists():
            return "sweep of a matching", _show_sweep
        if (path / "run" / MANIFEST).exists():
            return BESIDE, lambda path, options: _show_run(path / "run", options)
        if (path / WORK / "identity.json").exists():
            raise FormatError(
                f"{path}: begun by `swag-af match`, and not finished. Type that command again: it goes on."
            )
        raise FormatError(f"{path}: no {MANIFEST} here. {_KNOWN}")
    kind = check_manifest(read_json(manifest_path), manifest_path)["kind"]
    if kind not in _SHOWERS:
        raise FormatError(f"{path}: {an(kind)}, which this release cannot show. {_KNOWN}")
    return kind, _SHOWERS[kind]


_KNOWN = (
    "`swag-af show` knows context files, LMs and their folds, pools, matchings, sweeps, runs, datasets, folders of "
    "audit, prune, diagnose, refine, baselines, describe and train-nli, records of score, baselines and describe, "
    "files of verdicts, and the folder `verification` of a run."
)


def _kind_of_file(path: Path) -> Kind:
    """Verdicts or contexts, told by the first line; contexts of ours even where that is damaged."""
    try:
        _, first = next(iter(read_jsonl(path)), (0, {}))
    except InputError:
        if path.suffix == ".jsonl":
            raise  # which line
        first = {}
    if {"ratings", "best", "annotator"} <= set(first):
        return "verdicts", _show_verdicts
    is_dropped = {"sent1", "sent2", "reason"} <= set(first)
    is_elsewhere = is_dropped or "endings" in first or (path.parent / "shard.json").exists()
    if (not is_elsewhere and {"sent1", "start", "gold"} & set(first)) or manifest_path_of(path).exists():
        return "contexts", _show_contexts
    if is_dropped:
        raise FormatError(f"{path}: the pairs that `swag-af contexts` left out, one a line. {_of_dropped(path)}")
    raise FormatError(f"{path}: not a file that show reads. {_instead(path)}")


def _of_dropped(path: Path) -> str:
    """What shows pairs that were left out."""
    contexts = path.with_name(f"{path.name.removesuffix('.dropped.jsonl')}.jsonl")
    known = f"`{command('show', contexts)}` counts them by reason" if contexts.exists() else "Each has its reason"
    return f"{known}; {path.with_suffix('.txt').name} has examples."


def _instead(path: Path) -> str:
    """What to do with a file that `show` does not read."""
    above = _above(path)
    what = [above] if above else []
    if path.suffix.lower() in (".html", ".htm"):
        what.append("Open it in a browser.")
    elif path.suffix.lower() in (".csv", ".tsv", ".jsonl", ".parquet") or (path.suffix == ".json" and not what):
        what.append(f"If it is a dataset, `{command('audit', path)}` reads it.")
    return " ".join(what) or _KNOWN


def _above(path: Path) -> str:
    """What shows the folder of ours that `path` is part of; empty where none of the next three is."""
    above = next((folder for folder in list(path.absolute().parents)[:3] if _is_of_ours(folder)), None)
    if above is None:
        return ""
    named = path.parent if above == path.absolute().parent else above
    return f"`{command('show', named)}` shows the folder that it is in."


def _is_of_ours(folder: Path) -> bool:
    """Whether a verb of ours wrote `folder`, so that its files are of it."""
    try:
        kind = kind_of_result(folder) or _kind_of_folder(folder)[0]
    except SwagAfError:
        return False
    return kind != BESIDE


def _show_contexts(path: Path, options: ShowOptions) -> list[str]:
    contexts = read_contexts(path)
    manifest = read_contexts_manifest(path)
    lines = [
        f"{several(len(contexts), 'context')} of {several(len({c.video for c in contexts}), 'video')} in "
        f"{several(1 + max(c.fold for c in contexts), 'fold')}"
    ]
    if manifest:
        lines += ["", *drop_lines(manifest["drops"])]
    lines += ["", *_examples([(phrase(c), [c.gold], 0) for c in _some(contexts, options)])]
    if manifest is None:
        lines += ["", f"No {manifest_path_of(path).name} beside it: written by somebody else."]
    return [*lines, "", f"Next: {command('generate', path, '--lms', 'lms', '--out', 'pool')}"]


def _show_lm(path: Path, options: ShowOptions) -> list[str]:
    manifest = read_manifest(path, "lm")
    size = parse_record(manifest["options"], LMOptions, f"{path / MANIFEST}: options")
    n_types = len(Vocabulary.load(path / "vocabulary.tsv", manifest.get("vocabulary_sha256")))
    folders = sorted(path.glob("fold-*"))
    reports = [read_manifest(folder, "lm-fold") for folder in folders if (folder / MANIFEST).exists()]
    unfinished = [folder.name for folder in folders if not (folder / MANIFEST).exists()]
    return [
        f"{size.layers} layers of {size.hidden} each way, {n_types:,} token types",
        "",
        *(table(perplexity_rows(reports)) if reports else ["no fold is trained yet"]),
        *([f"unfinished: {', '.join(unfinished)}"] if unfinished else []),
        "",
        "(token perplexity)",
        "",
        f"Next: {command('generate', 'CONTEXTS', '--lms', path, '--out', 'pool')}",
    ]


def _show_lm_fold(path: Path, options: ShowOptions) -> list[str]:
    manifest = read_json(path / MANIFEST)
    return [
        f"the models of fold {manifest['fold']}, which have not read it; {manifest['n_train_pairs']:,} pairs learnt",
        "",
        *table(perplexity_rows([manifest])),
        "",
        "(token perplexity)",
        "",
        f"Next: {command('show', path.parent)}, the folder of all folds",
    ]


def _show_verdicts(path: Path, options: ShowOptions) -> list[str]:
    return [*_verdict_lines(read_verdicts(path)), "", f"Next: {command('verify', 'agreement', path)}"]


def _show_verification(path: Path, options: ShowOptions) -> list[str]:
    with needing("verify"):
        from swag_af.verify.store import open_store
    run = path.absolute().parent
    store = open_store(run)
    try:
        lines = _verdict_lines(store.verdicts())
    finally:
        store.close()
    export = command("verify", "export", run, "--to", "verdicts", "--out", "verdicts.jsonl")
    return [*lines, "", f"Next: {export}; or {command('verify', 'serve', run)}"]


def _verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """How many verdicts, people and items; how endings were rated."""
    n_people, n_items = len({v.annotator for v in verdicts}), len({v.item for v in verdicts})
    ratings = Counter(rating for verdict in verdicts for rating in verdict.ratings)
    rated = ", ".join(f"{ratings[rating]:,} {rating}" for rating in RATINGS)
    return [
        f"{several(len(verdicts), 'verdict')} of {several(n_people, 'person', 'people')} on {several(n_items, 'item')}",
        f"endings rated: {rated}",
        f"gold is the best ending in {several(sum(v.best == 0 for v in verdicts), 'verdict')}",
    ]


def _show_pool(path: Path, options: ShowOptions) -> list[str]:
    pool = CandidatePool.open(path)
    if options.check:
        pool.check_tables()
        pool.check_hashes()
    lines = [
        *(["contexts and tables have the hashes of the manifest"] if options.check else []),
        f"{several(len(pool), 'context')} x {pool.n_candidates:,} candidates, gold first",
        f"{len(pool.vocabulary):,} token types; tables: {', '.join(pool.tables)}; tags: "
        f"{pool.manifest.get('tagger', 'none')}"
        + (f", in context {pool.manifest['context_tagger']}" if pool.manifest.get("context_tagger") else ""),
    ]
    lines += [line.replace("`", "") for line in generator_lines(pool.manifest)]
    if "n_draws" in pool.manifest:
        n_endings = len(pool) * (pool.n_candidates - 1)
        why = drop_reasons(pool.manifest.get("rejected_draws", {})) or "none"
        lines.append(f"{pool.manifest['n_draws']:,} endings drawn for {n_endings:,} that count; rejected: {why}")
    if pool.lazy_features:
        n_missing = int(pool.missing_features().sum())
        lines.append(
            f"computed on demand: {', '.join(pool.lazy_features)}; still to come in {several(n_missing, 'context')}"
        )
    lines += [pool.features_told] if pool.features_told else []
    if pool.manifest.get("drops"):
        lines.append("dropped contexts: " + ", ".join(f"{n} {reason}" for reason, n in pool.manifest["drops"].items()))
    if counts := guard_counts(pool):
        lines += ["", *table(guard_rows({"of the pool": counts}))]
    rows = _some(range(len(pool)), options)
    examples = [
        (phrase(pool.contexts[row]), [pool.text(row, k) for k in range(min(4, int(pool.counts[row])))], 0)
        for row in rows
    ]
    return [*lines, "", *_examples(examples), "", f"Next: {command_for(path, pool)}"]


def _show_run(path: Path, options: ShowOptions, drawn: Sequence[Example] = ()) -> list[str]:
    """Of a run; its examples are `drawn`, with options in the order of `matched.jsonl`, where given."""
    run = open_run(path)
    manifest = verb_manifest(path)
    lines = _matched_lines(run) if run.matching else _filtered_lines(run, manifest)
    if (path / REPORT).exists():
        lines += [f"Report: {path / REPORT}, a page for a browser", ""]
    assignment = run.assignment()
    rows_shown = _some(range(len(run.pool)), options)
    examples = drawn or [
        (phrase(run.pool.contexts[row]), [run.pool.text(row, int(c)) for c in assignment[row, :4]], 0)
        for row in rows_shown
    ]
    following = release_command(path, run.start.shape[1] - 1)
    if not read_audits(path).findings:
        following += f"; or {command('audit', path)}, to see what fresh filters find"
    if run.n_finished < manifest.get("n_planned", 0):
        following = f"the command that began it goes on from here; or {following}"
    return [*lines, *_examples(examples), "", f"Next: {following}"]


def _filtered_lines(run: Run, manifest: Mapping[str, Any]) -> list[str]:
    phases, used = ", ".join(f"{name} from {first}" for name, first in manifest["phases"]), manifest["options"]
    return [
        f"{run.n_finished} of {several(manifest['n_planned'], 'iteration')} finished ({phases}), "
        f"pool {manifest['pool']}",
        f"{several(len(run.pool), 'context')}, {several(run.start.shape[1] - 1, 'negative')} assigned each, "
        f"{used['n_easy']} replaced at most, splits {used.get('splits', 'fresh')}, rule {used['rule']}, "
        f"pick {used['pick']}",
        "",
        *([*run_lines(run), ""] if run.log else []),
    ]


def _matched_lines(run: Run) -> list[str]:
    each = several(run.start.shape[1] - 1, "wrong answer")
    return [f"{several(len(run.pool), 'question')}, {each} each, matched and not filtered", "", *run_lines(run), ""]


def _show_matched(path: Path, options: ShowOptions) -> list[str]:
    found = open_matched(path)
    why = found.rationales
    beside = ["Rationales:", *figure_lines(why), ""] if why else []
    cautions = caution_lines(found.about.get("cautions", {}))
    rows = _some(range(found.answers.n), options)
    records = {row: record for row, (_, record) in enumerate(read_jsonl(path / QUESTIONS)) if row in rows}
    drawn = [(one["question"], one["answer_choices"], one["answer_label"]) for one in map(records.__getitem__, rows)]
    return [*found.about["notes"], *cautions, *beside, *_show_run(path / "run", options, drawn)]


def _show_sweep(path: Path, options: ShowOptions) -> list[str]:
    points, record = open_sweep(path)
    best = record["recommended"]
    said = f"lambda {best:g} is recommended" if best is not None else "no lambda is recommended; people decide"
    return [*record["notes"], "", *points_table(points), "", f"{said}. See {path / 'sweep.png'}."]


def _show_dataset(path: Path, options: ShowOptions) -> list[str]:
    manifest = read_manifest(path, "dataset")
    rows = _questions(path / "train.csv", manifest["n_choices"])
    splits = ", ".join(f"{name} {manifest['splits'].get(name, 0):,}" for name in ("train", "val", "test"))
    chosen = _some(rows, options)
    lines = [
        f"{several(manifest['n_questions'], 'question')} of {manifest['n_choices']} endings: {splits}",
        *([f"{manifest['rationales']['n_questions']:,} ask for a rationale too"] if "rationales" in manifest else []),
        *_people_lines(manifest),
        *([manifest["audits"]["summary"]] if "audits" in manifest else []),
        *([f"files: {', '.join(manifest['formats'])}"] if "formats" in manifest else []),
        *([f"lm-evaluation-harness: {', '.join(manifest['harness_tasks'])}"] if manifest.get("harness_tasks") else []),
        "",
    ]
    return [*lines, *_examples(chosen), "", f"Next: read {path / 'README.md'}, the dataset card"]


def _questions(path: Path, n_choices: int) -> list[Example]:
    """The rows of a released CSV file: start phrase, endings and label."""
    rows = read_csv(path)
    _, header = next(rows, (0, []))
    needed = ["startphrase", *(f"ending{i}" for i in range(min(n_choices, len(header) + 1))), "label"]
    if not set(needed) <= set(header):
        raise FormatError(f"{path}: not every column of {', '.join(needed)}. Release the dataset again.")
    questions = []
    for line, cells in rows:
        row = dict(zip(header, cells, strict=False))
        label = row.get("label", "")
        if len(cells) != len(header) or label not in map(str, range(n_choices)):
            raise FormatError(f"{path}: line {line} is no question of {n_choices} endings. Release the dataset again.")
        questions.append((row["startphrase"], [row[name] for name in needed[1:-1]], int(label)))
    return questions


def _people_lines(manifest: Mapping[str, Any]) -> list[str]:
    people = manifest["human_verdicts"]
    if people is None:
        return ["no human verdicts"]
    return [
        f"{several(people['n_verdicts'], 'verdict')} of {several(people['n_annotators'], 'annotator')}, "
        f"{people['n_annotators_dropped']:,} of them dropped; brought together by {people['judge']}",
        f"{several(manifest['n_generated_answers'], 'question has', 'questions have')} a generated answer",
        f"contexts left out: {drop_reasons(manifest['left_out']) or 'none'}",
    ]


_SHOWERS: dict[str, Callable[[Path, ShowOptions], list[str]]] = {
    "lm": _show_lm,
    "lm-fold": _show_lm_fold,
    "pool": _show_pool,
    "run": _show_run,
    "dataset": _show_dataset,
}


def _examples(examples: Sequence[Example]) -> list[str]:
    lines: list[str] = []
    for example in examples:
        lines += [*question_lines(*example), ""]
    return lines[:-1]


def _some(items: Sequence[Any], options: ShowOptions) -> list[Any]:
    chosen = np.random.default_rng(options.seed).permutation(len(items))[: options.n]
    return [items[i] for i in chosen]
