"""Which contexts of a file are to get endings, what they are called, and how the work is shared."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError, several
from swag_af.data.splits import named_groups
from swag_af.lm.options import GenerateOptions


def positions_of(contexts: Sequence[Context], options: GenerateOptions) -> list[int]:
    """Where those of `contexts` stand that --folds and --limit choose, rising; InputError where there are none."""
    absent = sorted(set(options.folds) - {context.fold for context in contexts})
    if absent:
        raise InputError(f"--folds {' '.join(map(str, absent))}: {options.contexts} has no contexts in them.")
    at = [i for i, context in enumerate(contexts) if not options.folds or context.fold in options.folds]
    if options.limit is None or options.limit >= len(at):
        return at
    rng = np.random.default_rng(options.seed)
    if options.limit_by == "video":
        picked = whole_videos([contexts[i] for i in at], options.limit, rng=rng)
    else:
        picked = rng.permutation(len(at))[: options.limit]
    if not len(picked):
        raise InputError(
            f"--limit {options.limit} --limit-by video: the share of no fold has room for a whole video. Take a larger "
            "--limit, or fewer --folds."
        )
    return [at[i] for i in sorted(picked.tolist())]


def named(context: Context, number: int) -> Context:
    """`context` with an id and a video: one without an id is called by its `number`, where it stands in the file, and
    has a video of its own where it names none."""
    id = context.id or f"row-{number}"
    video = context.video or id
    return context if (id, video) == (context.id, context.video) else replace(context, id=id, video=video)


def check_ids(path: Path, ids: Iterable[str]) -> None:
    """Raise InputError where several of the contexts of `path` have one id: ids name the rows of a pool."""
    repeated = [id for id, n in Counter(ids).items() if n > 1]
    if repeated:
        raise InputError(
            f"{path}: {several(len(repeated), 'id stands', 'ids stand')} on several lines (first: {repeated[0]!r}). "
            "Give each its own, or take the ids away: then lines are numbered."
        )


def whole_videos(contexts: Sequence[Context], n: int, *, rng: np.random.Generator) -> np.ndarray:
    """(m,) positions of `n` of the contexts, or a few less: all those of videos drawn at random, from every fold its
    share. A video that would pass the share of its fold is passed over; a context of no video is drawn by itself."""
    folds = np.array([context.fold for context in contexts])
    videos = named_groups([context.video for context in contexts])
    videos = np.unique(np.stack([folds, videos]), axis=1, return_inverse=True)[1].ravel()  # a video of two folds is two
    of_fold = np.bincount(folds)
    shares = np.diff(np.rint(np.cumsum(of_fold) * n / len(contexts)).astype(np.int64), prepend=0)
    is_taken = np.zeros(int(videos.max()) + 1, bool)
    for fold in np.flatnonzero(of_fold):
        left = int(shares[fold])
        members, sizes = np.unique(videos[folds == fold], return_counts=True)
        for i in rng.permutation(len(members)).tolist():
            if sizes[i] <= left:
                is_taken[members[i]] = True
                left -= int(sizes[i])
    return np.flatnonzero(is_taken[videos])


def choice_of(options: GenerateOptions) -> dict[str, object]:
    """What a pool records of how its contexts were chosen; `limit_by` None where single contexts were drawn."""
    by = (
        None if options.limit_by == "context" else options.limit_by
    )  # never left out: what is not there is not compared
    return {"limit": options.limit, "folds": sorted(set(options.folds)), "limit_by": by}


def copies_line(contexts: Sequence[Context]) -> str | None:
    """A warning where contexts are copies of earlier ones; None where none is."""
    known = {(context.sent1, context.start, context.gold, str(context.media)) for context in contexts}
    if not (n := len(contexts) - len(known)):
        return None
    return (
        f"Warning: {n:,} of {several(len(contexts), 'context')} {'copies' if n == 1 else 'copy'} an earlier one: the "
        "same sentences and gold, and without ids of their own the same endings. Leave copies out, unless such a "
        "question is to count several times."
    )
