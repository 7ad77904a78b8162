"""The verb `contexts`: sources of captions in, a context set out."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions.advice import (
    drop_warnings,
    language_warnings,
    markup_warnings,
    most_common_advice,
    sentence_warnings,
    time_warnings,
)
from swag_af.data.captions.context_set import joined_by_sentence, manifest_path_of, set_paths, write_contexts
from swag_af.data.captions.contexts import make_contexts
from swag_af.data.captions.drops import drop_table
from swag_af.data.captions.options import CaptionColumns, ContextsOptions
from swag_af.data.captions.readers import TABLES, describe, format_of, merge_videos, read_videos
from swag_af.data.captions.repair import mend_videos
from swag_af.data.captions.splitting import PLAN, Splitting
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.disk.replacing import check_outputs, remove
from swag_af.data.errors import ExhaustedError, InputError, takes_options
from swag_af.data.syntax.splitters import load_splitter
from swag_af.data.tables.sources import check_once
from swag_af.data.video import Video
from swag_af.data.work.locks import alone, clear_lock
from swag_af.data.work.progress import note, progress


@takes_options
def contexts(options: ContextsOptions) -> dict[str, int]:
    """Read, repair, split, drop, assign folds and write; returns the drop table. InputError where another process is at
    it."""
    folder = options.out.with_name(f".{options.out.name}.splits")
    _check(options)
    if not options.force and manifest_path_of(options.out).exists():
        _clear(options.out, folder)
    check_outputs(*set_paths(options.out), force=options.force)
    with alone(options.out, waits=False):
        return _contexts(options, folder)


def _contexts(options: ContextsOptions, folder: Path) -> dict[str, int]:
    """What is said above, where nobody else does it."""
    splitter = load_splitter(options.splitter)
    splitting = Splitting(options.splitter, splitter, folder, options.workers, options.where)
    read = [_read(source, options) for source in options.sources]
    videos = merge_videos([videos for videos, _ in read])
    _check_times(videos, options)
    n_pairs = sum(max(0, len(video.captions) - 1) for video in videos)
    with progress("contexts", n_pairs, "pairs") as advance:
        made, dropped = make_contexts(
            videos, splitting, options.rules, rng=np.random.default_rng(options.seed), progress=advance
        )
    table = drop_table(len(made), dropped)
    if not options.rules.drop_foreign:
        del table["foreign"]  # nobody looked
    foreign = language_warnings(videos, options.splitter)
    if not made:
        relax = f"Use more captions, or relax the rules{most_common_advice(table)} (`swag-af contexts --help`)."
        reasons = ", ".join(f"{n} {reason}" for reason, n in table.items() if n and reason not in ("pairs", "kept"))
        raise ExhaustedError(
            f"{options.sources[0]}: none of its {n_pairs} pairs made a context ({reasons}). {(foreign or [relax])[0]}"
        )
    joined = joined_by_sentence([*made, *dropped])
    made_by = {
        "verb": "contexts",
        "splitter": splitter.name,
        "sources": [record for _, record in read],
        "rules": asdict(options.rules),
        "seed": options.seed,
        "shared_sentences": {"n_joined": joined.n_joined, "n_apart": joined.n_apart},
    }
    write_contexts(options.out, made, dropped, made_by, drops=table)
    splitting.clear()
    odd = []
    for path, (videos, _) in zip(options.sources, read, strict=True):
        odd += [*time_warnings(path.name, videos, options.rules), *sentence_warnings(path.name, videos)]
        odd += markup_warnings(path.name, videos)
    for line in [*foreign, *odd, *drop_warnings(table)]:
        note(f"Warning: {line}")
    return table


def _clear(out: Path, folder: Path) -> None:
    """Remove what a run that was killed when the set was whole left beside it; what a run at work keeps stays, or one
    that was killed before it replaced the set."""
    if folder.exists():
        with suppress(InputError), alone(out, waits=False):
            plan = folder / PLAN
            if not plan.exists() or plan.stat().st_mtime_ns <= manifest_path_of(out).stat().st_mtime_ns:
                remove(folder)
    clear_lock(out)


def _check(options: ContextsOptions) -> None:
    """Stop before any work when a source is missing, or would be overwritten."""
    if not options.sources:
        raise InputError(
            "contexts: no source file given. Name one or more; `swag-af contexts --help` says which kinds."
        )
    check_once(options.sources)
    formats = [format_of(source, options.format) for source in options.sources]
    if options.columns != CaptionColumns() and not set(formats) & set(TABLES):
        raise InputError(
            f"{options.sources[0]}: names of columns are for tables of captions, and this is read as {formats[0]}, "
            "whose columns are known. Leave out the options --...-column, or say another --format."
        )
    if options.out.is_dir():
        raise InputError(f"{options.out}: this is a folder. Name a file in it, such as contexts.jsonl, as --out.")
    for output in set_paths(options.out):
        if output.resolve() in {source.resolve() for source in options.sources}:
            raise InputError(f"{output}: this is a source and would be overwritten. Choose another --out.")


def _check_times(videos: Sequence[Video], options: ContextsOptions) -> None:
    """Raise InputError where a rule about times is asked for that needs the end of a caption, and none has one."""
    rules = options.rules
    asked = ["--max-gap-seconds"] * (rules.max_gap_seconds is not None) + ["--drop-enclosed"] * rules.drop_enclosed
    times = (caption.seconds for video in videos for caption in video.captions)
    if asked and not any(seconds is not None and seconds[1] is not None for seconds in times):
        is_table = any(format_of(source, options.format) in TABLES for source in options.sources)
        advice = (
            "Name the columns of times by --start-column and --end-column, or leave out" if is_table else "Leave out"
        )
        raise InputError(f"{' and '.join(asked)}: no caption has an end that was read. {advice} {asked[0]}.")


def _read(path: Path, options: ContextsOptions) -> tuple[list[Video], dict[str, Any]]:
    """The videos of a source, repaired, and what the manifest records about it."""
    format = format_of(path, options.format)
    videos, n_mended = mend_videos(read_videos(path, format=format, columns=options.columns))
    said = describe(path, format, videos) + (f", {n_mended:,} mended" if n_mended else "")
    return videos, {"name": path.name, "format": format, "read": said, "sha256": _sha256_of(path)}


def _sha256_of(path: Path) -> str | dict[str, str]:
    """The hash of a file, or of each file of a folder."""
    if path.is_file():
        return sha256_file(path)
    return {file.name: sha256_file(file) for file in sorted(path.glob("*.arrow"))}
