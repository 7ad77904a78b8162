"""The verb `contexts`: source files of captions in, a context set out."""

from dataclasses import asdict

import numpy as np

from swag_af.data.contexts import drop_table, dropped_path_of, make_contexts, manifest_path_of, write_contexts
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.files import check_output, sha256_file
from swag_af.data.options import Contexts
from swag_af.data.progress import progress
from swag_af.data.readers import merge_videos, read_videos
from swag_af.data.splitters import load_splitter


def contexts(options: Contexts) -> dict[str, int]:
    """Read, split, drop, deal into folds and write; returns the drop table."""
    if not options.sources:
        raise InputError(
            "contexts: no source file given. Name one or more; `swag-af contexts --help` says which kinds."
        )
    outputs = (options.out, dropped_path_of(options.out), manifest_path_of(options.out))
    for output in outputs:
        check_output(output, force=options.force)
        if output.resolve() in {source.resolve() for source in options.sources}:
            raise InputError(f"{output}: this is a source and would be overwritten. Choose another --out.")
    splitter = load_splitter(options.splitter)
    videos = merge_videos([read_videos(source, format=options.format) for source in options.sources])
    n_pairs = sum(max(0, len(video.captions) - 1) for video in videos)
    with progress("contexts", n_pairs, "pairs") as advance:
        made, dropped = make_contexts(
            videos, splitter, options.rules, rng=np.random.default_rng(options.seed), progress=advance
        )
    table = drop_table(len(made), dropped)
    if not made:
        reasons = ", ".join(f"{n} {reason}" for reason, n in table.items() if n and reason not in ("pairs", "kept"))
        raise ExhaustedError(
            f"{options.sources[0]}: none of its {n_pairs} pairs made a context ({reasons}). Use more "
            "captions, or relax the rules (`swag-af contexts --help`)."
        )
    sources = [{"name": source.name, "sha256": sha256_file(source)} for source in options.sources]
    write_contexts(
        options.out,
        made,
        dropped,
        {
            "verb": "contexts",
            "splitter": splitter.name,
            "sources": sources,
            "rules": asdict(options.rules),
            "seed": options.seed,
        },
    )
    return table
