"""Contexts: a sentence, the noun phrase that begins the next one, and the ending found in the source (gold).

Makes them from the videos a reader yields, drops what the paper drops and counts every drop by reason, and
keeps them in `NAME.jsonl` beside `NAME.dropped.jsonl` (every pair left out, with its reason), `NAME.dropped.txt` (the
drop table for people) and `NAME.manifest.json` (the options, the drop table, the hashes). Reading captions and
splitting sentences happen elsewhere; the rules stand in `drops`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions import Caption, Video
from swag_af.data.drops import DroppedPair, drop_report, drop_table, unfit_context, unfit_pair, with_full_stop
from swag_af.data.errors import FormatError, InputError
from swag_af.data.files import (
    FORMAT,
    check_manifest,
    read_json,
    read_jsonl,
    replacing,
    sha256_file,
    write_json,
    write_jsonl,
    write_text,
)
from swag_af.data.groups import Joined, deal, join_by_text, join_pairs, named_groups
from swag_af.data.language import foreign_videos
from swag_af.data.near_duplicates import repeats
from swag_af.data.options import ContextRules
from swag_af.data.progress import note
from swag_af.data.splitters import Splitter
from swag_af.data.tokens import normalise_blanks, tokenize
from swag_af.data.wording import sentence_keys


@dataclass(frozen=True, slots=True)
class Context:
    """One question without its distractors."""

    sent1: str
    start: str
    gold: str
    id: str = ""
    video: str = ""
    source: str = "custom"
    fold: int = 0

    @property
    def sentences(self) -> tuple[str, str]:
        """The first sentence, and the whole second one with its gold ending."""
        return self.sent1, f"{self.start} {self.gold}"


_BATCH = 2048


def make_contexts(
    videos: Sequence[Video],
    splitter: Splitter,
    rules: ContextRules,
    *,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda n: None,
) -> tuple[list[Context], list[DroppedPair]]:
    """All contexts of `videos` and all pairs that made none, in the order of the source.

    `progress` is told how many pairs each step finished. Folds are dealt with `rng`, whole videos at a time, and videos
    that share a sentence, or a pair dropped as a repeat, together: a model of other folds has not read their endings.
    """
    counts = Counter(t.lower() for v in videos for c in v.captions for t in tokenize(c.text))
    made: list[Context | DroppedPair] = []
    pairs = _consecutive_pairs(videos, rules)
    for at in range(0, len(pairs), _BATCH):
        made += _make_batch(pairs[at : at + _BATCH], splitter, rules, counts)
        progress(len(pairs[at : at + _BATCH]))
    made, repeated = _without_near_duplicates(_without_duplicates(made), rules.near_duplicates)
    folds = deal(joined_by_sentence(made, repeated).groups, rules.n_folds, rng=rng)
    made = [replace(item, fold=fold) for item, fold in zip(made, folds.tolist(), strict=True)]
    return (
        [item for item in made if isinstance(item, Context)],
        [item for item in made if isinstance(item, DroppedPair)],
    )


def joined_by_sentence(made: Sequence[Context | DroppedPair], repeated: Sequence[tuple[int, int]] = ()) -> Joined:
    """Groups of those of one video, joined where they share a sentence; the pairs of rows in `repeated` are alike too.

    Not by sentences that are found in so many videos that a tenth of the rows would hang together (`join_by_text`).
    """
    groups = join_pairs(named_groups([item.video for item in made]), repeated)
    keys = [[key for text in item.sentences for key in sentence_keys(text)] for item in made]
    rows = np.repeat(np.arange(len(made)), [len(of_row) for of_row in keys])
    return join_by_text(groups, rows, np.array([key for of_row in keys for key in of_row], dtype=np.int64))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two consecutive captions, closed with full stops, and what is known of them before the split."""

    video: Video
    number: int
    is_foreign: bool
    first: Caption
    second: Caption


def _consecutive_pairs(videos: Sequence[Video], rules: ContextRules) -> list[_Pair]:
    """The pairs in order; the numbers go on where a video id is listed again (two annotators)."""
    foreign = foreign_videos(videos) if rules.drop_foreign else [False] * len(videos)
    pairs: list[_Pair] = []
    numbered: Counter[str] = Counter()
    for video, is_foreign in zip(videos, foreign, strict=True):
        for first, second in pairwise(video.captions):
            pairs.append(_Pair(video, numbered[video.id], is_foreign, first, second))
            numbered[video.id] += 1
    return pairs


def _make_batch(
    pairs: Sequence[_Pair], splitter: Splitter, rules: ContextRules, counts: Counter[str]
) -> Iterator[Context | DroppedPair]:
    """What each pair makes; only pairs that the split could still make a context are split."""
    reasons = [
        "foreign" if p.is_foreign else unfit_pair(p.first, p.second, p.video.source, rules, counts) for p in pairs
    ]
    fit = [with_full_stop(p.second) for p, reason in zip(pairs, reasons, strict=True) if reason is None]
    splits = iter(splitter.split(fit))
    for pair, known in zip(pairs, reasons, strict=True):
        sent1, sent2 = with_full_stop(pair.first).text, with_full_stop(pair.second).text
        split = next(splits) if known is None else None
        start, gold = (split.start, split.ending) if split else ("", "")
        reason = known or unfit_context(sent1, start, gold, rules)
        identity: dict[str, Any] = {
            "id": f"{pair.video.id}-{pair.number}",
            "video": pair.video.id,
        }
        if reason is None:
            yield Context(sent1, start, gold, source=pair.video.source, **identity)
        else:
            yield DroppedPair(sent1, sent2, reason, **identity)


def _without_duplicates(made: Sequence[Context | DroppedPair]) -> list[Context | DroppedPair]:
    """Contexts of the same three texts as an earlier one, as dropped pairs."""
    seen: set[tuple[str, str, str]] = set()
    out: list[Context | DroppedPair] = []
    for item in made:
        if isinstance(item, Context):
            texts = (item.sent1, item.start, item.gold)
            out.append(_dropped(item, "duplicate") if texts in seen else item)
            seen.add(texts)
        else:
            out.append(item)
    return out


def _without_near_duplicates(
    made: list[Context | DroppedPair], threshold: float
) -> tuple[list[Context | DroppedPair], list[tuple[int, int]]]:
    """Contexts that are nearly the same as an earlier one that stays, as dropped pairs; and which are alike.

    First and second sentences are compared with their like only: the words of the second are marked. Otherwise
    a context would resemble the next one of its video, whose first sentence is its second.
    """
    if not threshold:
        return made, []
    places = [at for at, item in enumerate(made) if isinstance(item, Context)]
    texts = [
        [*tokenize(item.sent1.lower()), *(f"2 {token}" for token in tokenize(f"{item.start} {item.gold}".lower()))]
        for item in made
        if isinstance(item, Context)
    ]
    out, alike = list(made), repeats(texts, threshold=threshold)
    for i in alike:
        item = out[places[i]]
        assert isinstance(item, Context)
        out[places[i]] = _dropped(item, "near_duplicate")
    return out, [(places[i], places[first]) for i, first in alike.items()]


def _dropped(context: Context, reason: str) -> DroppedPair:
    return DroppedPair(*context.sentences, reason, id=context.id, video=context.video, fold=context.fold)


def write_contexts(
    path: Path, contexts: Sequence[Context], dropped: Sequence[DroppedPair], made_by: dict[str, Any]
) -> None:
    """Write the four files of a context set, none before all are ready.

    The old manifest goes first and the new one comes last, so that its presence means all is there.
    """
    manifest_path = manifest_path_of(path)
    drops = drop_table(len(contexts), dropped)
    with (
        replacing(manifest_path) as manifest,
        replacing(drop_report_path_of(path)) as report,
        replacing(dropped_path_of(path)) as beside,
        replacing(path) as main,
    ):
        write_jsonl(main, (asdict(context) for context in contexts))
        write_jsonl(beside, (asdict(pair) for pair in dropped))
        write_text(report, "\n".join([*drop_report(drops, dropped), ""]))
        content = {
            "format": FORMAT,
            "kind": "contexts",
            "n_contexts": len(contexts),
            "n_videos": len({context.video for context in contexts}),
            "drops": drops,
            "sha256": sha256_file(main),
            "dropped_sha256": sha256_file(beside),
            "made_by": made_by,
        }
        write_json(manifest, content)
        manifest_path.unlink(missing_ok=True)


def read_contexts(path: Path) -> list[Context]:
    """The contexts of a JSON-lines file, ours or anyone's: `sent1`, `start` and `gold` are enough.

    Where no line has a `fold`, folds are dealt here: whole videos at a time, and lines that share a sentence, as the
    pairs of one video do, together. Such lines get a `video` in common where they have none. Both are said on standard
    error.
    """
    contexts, n_folds = [], 0
    for number, record in read_jsonl(path):
        contexts.append(_context_of(path, number, record))
        n_folds += "fold" in record
    if not contexts:
        raise InputError(f"{path}: no contexts in it. `swag-af contexts SOURCE --out {path}` makes them.")
    if 0 < n_folds < len(contexts):
        raise InputError(
            f"{path}: {len(contexts) - n_folds:,} of {len(contexts):,} lines have no fold. Give every line one, or no "
            "line: then they are dealt."
        )
    if n_folds:
        return contexts
    joined = joined_by_sentence(contexts)
    _say_joined(path, contexts, joined)
    folds = deal(joined.groups, ContextRules().n_folds, rng=np.random.default_rng(0)).tolist()
    named = _with_videos(contexts, joined.groups)
    return [replace(context, fold=fold) for context, fold in zip(named, folds, strict=True)]


def _with_videos(contexts: Sequence[Context], groups: np.ndarray) -> list[Context]:
    """Contexts without a video named by the first line of their group, where that has several."""
    first = np.unique(groups, return_index=True)[1][groups] + 1  # (n,) line, of those that are not blank
    is_alone = (np.bincount(groups) == 1)[groups]
    return [
        context if context.video or alone else replace(context, video=f"line-{line}")
        for context, line, alone in zip(contexts, first.tolist(), is_alone.tolist(), strict=True)
    ]


def _say_joined(path: Path, contexts: Sequence[Context], joined: Joined) -> None:
    n_groups, n_lines = int(joined.groups.max()) + 1, len(contexts)
    nameless = sum(not context.video for context in contexts)
    which = f"{nameless:,} of {n_lines:,} contexts name no video" if nameless else f"{n_lines:,} contexts name no fold"
    note(
        f"{path}: {which}; {joined.n_joined:,} that share a sentence with another were joined, which makes "
        f"{n_groups:,} groups that folds keep together"
        + (f"; {joined.n_apart:,} share one too common to join" if joined.n_apart else "")
    )


def _context_of(path: Path, number: int, record: dict[str, Any]) -> Context:
    missing = [name for name in ("sent1", "start", "gold") if not isinstance(record.get(name), str)]
    if missing:
        raise InputError(
            f"{path}: line {number} has no text under {', '.join(missing)}. Each line needs sent1, start and gold."
        )
    values = {field.name: record[field.name] for field in fields(Context) if field.name in record}
    values |= {name: normalise_blanks(values[name]) for name in ("sent1", "start", "gold")}
    if not values["gold"]:
        raise InputError(f"{path}: line {number} has an empty gold ending. Drop the line or give it one.")
    for name, kind in (("id", str), ("video", str), ("source", str), ("fold", int)):
        if name in values and (not isinstance(values[name], kind) or isinstance(values[name], bool)):
            raise InputError(f"{path}: line {number} has a {name} that is no {kind.__name__}. Write {name} as one.")
    if values.get("fold", 0) < 0:
        raise InputError(f"{path}: line {number} has fold {values['fold']}. Number folds from 0.")
    return Context(**values)


def read_dropped(path: Path) -> list[DroppedPair]:
    """The dropped pairs that stand beside the contexts at `path`; none when there is no such file.

    Raises FormatError unless the manifest says that both files were written together: with the folds of another
    deal, a language model could read the endings that it is to compete with.
    """
    beside = dropped_path_of(path)
    if not beside.exists():
        return []
    manifest = read_contexts_manifest(path)
    if manifest is None or (manifest["sha256"], manifest["dropped_sha256"]) != (sha256_file(path), sha256_file(beside)):
        raise FormatError(
            f"{beside}: not written together with {path} as it is now. Make both again with `swag-af contexts "
            "--force`, "
            "or leave the dropped pairs out with --no-use-dropped."
        )
    return [DroppedPair(**record) for _, record in read_jsonl(beside)]


def read_contexts_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest beside a contexts file, None for a file that somebody else wrote."""
    beside = manifest_path_of(path)
    return check_manifest(read_json(beside), beside, "contexts") if beside.exists() else None


def manifest_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.manifest.json`."""
    return path.with_name(f"{path.stem}.manifest.json")


def dropped_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.dropped.jsonl`."""
    return path.with_name(f"{path.stem}.dropped.jsonl")


def drop_report_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.dropped.txt`."""
    return path.with_name(f"{path.stem}.dropped.txt")
