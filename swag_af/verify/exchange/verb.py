"""The verbs `verify export` and `verify import`: tasks for other platforms, and verdicts from their replies.

All replies become `verdicts.jsonl`. Nothing here connects to a platform.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swag_af.data.disk.replacing import check_apart, check_output, check_outputs, replacing_all
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError, several
from swag_af.data.extras import needing
from swag_af.data.pool.folder import GUARD_TABLES, TEXT_TABLES
from swag_af.data.pool.guarded import n_marked
from swag_af.data.runs.run import Run, open_run
from swag_af.data.text.linked import linked_rows, links_of, unlinked
from swag_af.judging.screening import counted_of
from swag_af.judging.verdicts import (
    Item,
    Judgement,
    Verdict,
    check_assigned,
    check_in_pool,
    in_order,
    is_example,
    judge,
    make_items,
    read_verdicts,
    refill,
    write_verdicts,
)
from swag_af.verify.exchange.csv import read_csv, read_mturk, read_prolific, write_csv, write_mturk, write_prolific
from swag_af.verify.exchange.forms import (
    read_label_studio,
    write_label_studio,
    write_labeling_config,
    write_mturk_layout,
    write_prolific_questions,
)
from swag_af.verify.exchange.tasks import Reply, Task, key_path, make_tasks, read_key, verdicts_of, write_key
from swag_af.verify.options import ExportOptions, ImportOptions
from swag_af.verify.prospects import check_prospects, unseen_media

Writer = Callable[[Path, Sequence[Task]], None]


@dataclass(frozen=True)
class Platform:
    """How tasks are written for a platform, and its replies read."""

    write: Writer
    read: Callable[[Path], Iterator[Reply]]
    form: Writer | None = None
    """What is written beside the tasks."""
    form_suffix: str = ""


PLATFORMS = {
    "csv": Platform(write_csv, read_csv),
    "label-studio": Platform(write_label_studio, read_label_studio, write_labeling_config, ".config.xml"),
    "prolific": Platform(write_prolific, read_prolific, write_prolific_questions, ".questions.json"),
    "mturk": Platform(write_mturk, read_mturk, write_mturk_layout, ".layout.html"),
}


@dataclass(frozen=True)
class Exported:
    """The result of an export."""

    n: int
    """Tasks, or verdicts."""
    files: tuple[Path, ...]
    """Files to upload to the platform."""
    key: Path | None
    """The key file, never uploaded."""
    warnings: tuple[str, ...] = ()
    """Why questions will have fewer distractors than usual, what people will not see, and whose answers are left
    out."""


@dataclass(frozen=True)
class Imported:
    """The result of an import."""

    verdicts: list[Verdict]
    dropped: Counter[str]
    """Replies that do not count, by reason."""

    @property
    def alike(self) -> list[list[str]]:
        """Names of annotators that differ in letter case alone, and may be of one person: each with its others."""
        of = dict[str, list[str]]()
        for name in sorted({verdict.annotator for verdict in self.verdicts}):
            of.setdefault(name.casefold(), []).append(name)
        return [names for names in of.values() if len(names) > 1]


def export(options: ExportOptions) -> Exported:
    """Write tasks for a platform, with the form it needs and the key; or the verdicts of the web application."""
    out = options.out
    if options.to == "verdicts":
        return _export_verdicts(options)
    platform = PLATFORMS[options.to]
    form = out.with_name(out.name + platform.form_suffix)
    paths = tuple(dict.fromkeys((form, out, key_path(out))))  # the key comes last: without it, the tasks do not count
    for path in paths:
        check_apart("--out", path, (options.verdicts,))
    check_outputs(*paths, force=options.force)
    run = open_run(options.run)
    run.pool.check_tables((*TEXT_TABLES, *GUARD_TABLES))
    warning = check_prospects(run, options.iteration, is_begun=options.verdicts is not None)
    to_judge = items_to_judge(run, options)
    tasks = make_tasks(run, to_judge, seed=options.seed)
    with replacing_all(*paths) as temporaries:
        temporary = dict(zip(paths, temporaries, strict=True))
        if platform.form is not None:
            platform.form(temporary[form], tasks)
        platform.write(temporary[out], tasks)
        write_key(temporary[key_path(out)], options.to, run.pool.unguarded_identity, tasks)
    warnings = tuple(filter(None, (warning, unseen_media(run), _of_links(run, to_judge))))
    return Exported(len(tasks), tuple(dict.fromkeys((out, form))), key_path(out), warnings)


def _of_links(run: Run, to_judge: Sequence[Item]) -> str | None:
    """A line where some items tell the answer of others; None where none does."""
    n = len(linked_rows(links_of(run.pool.contexts), {item.row for item in to_judge}))
    if not n:
        return None
    return (
        f"{n:,} of {several(len(to_judge), 'item')} give each other away: the answer of one stands in the first "
        "sentence of another. Whoever gets both has read it: --linked none leaves one of two out, and `verify serve` "
        "gives nobody both."
    )


def _export_verdicts(options: ExportOptions) -> Exported:
    """What the web application collected; of dequalified people where `all` says so."""
    check_output(options.out, force=options.force)
    with needing("verify"):
        from swag_af.verify.store import open_store
    store = open_store(options.run, options.database)
    check_apart("--out", options.out, (store.file,))
    every = store.verdicts(include_dequalified=True)
    found = every if options.all else store.verdicts(include_dequalified=False)
    store.close()
    left_out = Counter(verdict.annotator for verdict in every) - Counter(verdict.annotator for verdict in found)
    said = f"{several(left_out.total(), 'answer')} of {several(len(left_out), 'person', 'people')}"
    if left_out and not found:
        raise InputError(
            f"{options.run}: {said}, all dequalified, so that none counts. --all writes them, as does the admin page "
            "(/admin/verdicts.jsonl?all=true)."
        )
    if not found:
        raise InputError(
            f"{options.run}: nobody has judged an item yet. `swag-af verify serve` lets people; where it had a "
            "--database, give the same here."
        )
    write_verdicts(options.out, found, store.settings["pool_identity"])
    gone = (f"{said} are left out, since these were dequalified: --all writes them.",) if left_out else ()
    return Exported(len(found), (options.out,), None, gone)


def items_to_judge(run: Run, options: ExportOptions) -> list[Item]:
    """The items still to be judged, given earlier verdicts: new ones, unfinished ones, and refills.

    Verdicts of annotators whom `release` would screen out do not count. Rows are in the order of the web application,
    so that `--limit` selects the same contexts in both.
    """
    assignment = run.assignment(options.iteration)
    made = make_items(assignment, seed=options.seed)
    earlier: dict[int, list[Judgement]] = {}
    if options.verdicts is not None:
        earlier_verdicts = read_verdicts(options.verdicts, run.pool.unguarded_identity)
        judged = in_order({verdict.item for verdict in earlier_verdicts})
        check_in_pool(judged, run.pool.counts, options.verdicts)
        check_assigned(judged, assignment, options.verdicts, options.run, "Give --iteration as it was.")
        for judgement in judge(counted_of(earlier_verdicts)[0], seed=options.seed):
            earlier.setdefault(judgement.item.row, []).append(judgement)
    order = np.random.default_rng(options.seed).permutation(len(assignment))[: options.limit]
    found = [
        _next_item(earlier[row], assignment[row, 1:], options.annotators_per_item) if row in earlier else made[row]
        for row in order.tolist()
    ]
    items = [item for item in found if item is not None]
    if options.linked == "none":
        rows = {item.row for item in items}
        is_there = [row in rows for row in range(len(assignment))]
        gone = unlinked(links_of(run.pool.contexts), is_there, [True] * len(assignment))
        items = [item for item in items if item.row not in gone]
    items.sort(key=lambda item: -n_marked(run.pool, item.row, item.columns))  # those with marked endings first
    if not items:
        raise InputError(
            f"{options.verdicts}: nothing is left to judge. Release it: `{command('release', options.run)}`."
        )
    return items


def _next_item(judged: Sequence[Judgement], assigned: np.ndarray, annotators: int) -> Item | None:
    """The item that a row with these judgements, one per round, needs next; None if none."""
    if any(is_example(one) and one.n_annotators >= annotators for one in judged):  # a release takes the first of these
        return None
    last = judged[-1]
    if last.n_annotators < annotators:
        return last.item
    return refill(last, assigned, {column for judgement in judged for column in judgement.item.columns})


def import_verdicts(options: ImportOptions) -> Imported:
    """Read the replies and write them as verdicts; the result also counts those that were dropped."""
    check_apart("--out", options.out, (*options.files, options.key))
    check_output(options.out, force=options.force)
    pool = open_run(options.run).pool
    identity = pool.unguarded_identity
    if options.key is None:
        found = _merged([verdict for path in options.files for verdict in read_verdicts(path, identity)])
    else:
        key = read_key(options.key, identity)
        if key.to not in PLATFORMS:
            raise InputError(f"{options.key}: the key of an export to {key.to!r}, which this release does not know.")
        check_in_pool((item for item, _ in key.tasks.values()), pool.counts, options.key)
        read = PLATFORMS[key.to].read
        replies = (reply for path in options.files for reply in read(path))
        found = Imported(*verdicts_of(key, replies, pool.text))
    check_in_pool((verdict.item for verdict in found.verdicts), pool.counts, options.files[0])
    if not found.verdicts:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in found.dropped.items()) or "no replies"
        raise InputError(f"{options.files[0]}: no verdict in it ({reasons}). Check that people have answered.")
    write_verdicts(options.out, found.verdicts, identity)
    return found


def _merged(verdicts: Sequence[Verdict]) -> Imported:
    """Verdicts of several files, the first on an item by each annotator."""
    first: dict[tuple[Item, str], Verdict] = {}
    for verdict in verdicts:
        first.setdefault((verdict.item, verdict.annotator), verdict)
    ordered = sorted(first, key=lambda found: (found[0].row, found[0].round, found[1]))
    n_again = len(verdicts) - len(first)
    dropped = Counter({"answered before by the same person": n_again} if n_again else {})
    return Imported([first[found] for found in ordered], dropped)
