"""Contexts: a sentence, the noun phrase that begins the next one, and the ending found in the source (gold).

Makes them from the videos a reader yields, drops what the paper drops and counts every drop by reason, and
keeps them in `NAME.jsonl` beside `NAME.dropped.jsonl` (every pair left out, with its reason) and
`NAME.manifest.json` (the options, the drop table, the hash). Reading captions and splitting sentences happen
elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions import Caption, Video
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
)
from swag_af.data.options import ContextRules
from swag_af.data.splitters import Splitter
from swag_af.data.tokens import SENTENCE_ENDS, normalise_blanks, tokenize


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


@dataclass(frozen=True, slots=True)
class DroppedPair:
    """Two consecutive captions that made no context, and why."""

    sent1: str
    sent2: str
    reason: str
    id: str
    video: str
    fold: int


REASONS: dict[str, str] = {
    "empty_caption": "one of the two captions is empty",
    "gap": "too long between the two captions",
    "repeated": "the second caption repeats the first",
    "short_sentence": "second sentence too short",
    "rare_token": "a rare token in the second sentence",
    "no_verb_phrase": "no verb phrase, or nothing before it",
    "short_context": "context too short",
    "long_context": "context too long",
    "short_ending": "ending too short",
    "long_ending": "ending too long",
    "duplicate": "same context and ending as an earlier pair",
}
"""Every reason for a drop, in the order in which a pair is tested."""

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

    `progress` is told how many pairs each step finished. Folds go by video id, drawn with `rng`.
    """
    fold_of = deal_folds([video.id for video in videos], rules.n_folds, rng=rng)
    counts = Counter(t.lower() for v in videos for c in v.captions for t in tokenize(c.text))
    pairs = _consecutive_pairs(videos)
    contexts: list[Context] = []
    dropped: list[DroppedPair] = []
    seen: set[tuple[str, str, str]] = set()
    for at in range(0, len(pairs), _BATCH):
        batch = pairs[at : at + _BATCH]
        splits = splitter.split([with_full_stop(second) for *_, second in batch])
        for (video, i, first, second), split in zip(batch, splits, strict=True):
            sent1, sent2 = with_full_stop(first).text, with_full_stop(second).text
            identity: dict[str, Any] = {"id": f"{video.id}-{i}", "video": video.id, "fold": fold_of[video.id]}
            start, gold = (split.start, split.ending) if split else ("", "")
            reason = _reason_to_drop(first, second, start, gold, rules, counts)
            if reason is None and (sent1, start, gold) in seen:
                reason = "duplicate"
            if reason is None:
                seen.add((sent1, start, gold))
                contexts.append(Context(sent1, start, gold, source=video.source, **identity))
            else:
                dropped.append(DroppedPair(sent1, sent2, reason, **identity))
        progress(len(batch))
    return contexts, dropped


def _consecutive_pairs(videos: Sequence[Video]) -> list[tuple[Video, int, Caption, Caption]]:
    """`(video, number, first, second)`; the numbers go on where a video id is listed again (two annotators)."""
    pairs: list[tuple[Video, int, Caption, Caption]] = []
    numbered: Counter[str] = Counter()
    for video in videos:
        for first, second in zip(video.captions, video.captions[1:], strict=False):
            pairs.append((video, numbered[video.id], first, second))
            numbered[video.id] += 1
    return pairs


def _reason_to_drop(
    first: Caption, second: Caption, start: str, gold: str, rules: ContextRules, counts: Counter[str]
) -> str | None:
    if not first.text or not second.text:
        return "empty_caption"
    if rules.max_gap_seconds is not None and gap_seconds(first, second) > rules.max_gap_seconds:
        return "gap"
    if first.text.lower() == second.text.lower():
        return "repeated"
    sent2_tokens = tokenize(with_full_stop(second).text)
    if len(sent2_tokens) < rules.min_sentence_tokens:
        return "short_sentence"
    if any(counts[t.lower()] < rules.min_token_count for t in sent2_tokens if t not in SENTENCE_ENDS):
        return "rare_token"
    if not start or not gold:
        return "no_verb_phrase"
    n_context = len(tokenize(with_full_stop(first).text)) + len(tokenize(start))
    if n_context < rules.min_context_tokens:
        return "short_context"
    if n_context > rules.max_context_tokens:
        return "long_context"
    n_ending = len(tokenize(gold))
    if n_ending < rules.min_ending_tokens:
        return "short_ending"
    if n_ending > rules.max_ending_tokens:
        return "long_ending"
    return None


def gap_seconds(first: Caption, second: Caption) -> float:
    """Seconds from the end of `first` to the start of `second`; 0 when times are not known."""
    return second.seconds[0] - first.seconds[1] if first.seconds and second.seconds else 0.0


def with_full_stop(caption: Caption) -> Caption:
    """The caption, closed with a full stop when nothing closes it: generation stops only at `. ? !`."""
    if not caption.text or caption.text[-1] in SENTENCE_ENDS:
        return caption
    text = caption.text.rstrip(",;: ") + "."
    return replace(caption, text=text) if caption.tree is None else caption


def deal_folds(videos: Iterable[str], n_folds: int, *, rng: np.random.Generator) -> dict[str, int]:
    """A fold for each video id, sizes even to within one; by id, so a video listed twice stays together."""
    ids = sorted(set(videos))
    order = rng.permutation(len(ids))
    return {ids[row]: place % n_folds for place, row in enumerate(order.tolist())}


def drop_table(n_kept: int, dropped: Sequence[DroppedPair]) -> dict[str, int]:
    """Pairs, kept, and one count for every reason, those of zero too."""
    by_reason = Counter(pair.reason for pair in dropped)
    return {"pairs": n_kept + len(dropped), "kept": n_kept} | {reason: by_reason[reason] for reason in REASONS}


def write_contexts(
    path: Path, contexts: Sequence[Context], dropped: Sequence[DroppedPair], made_by: dict[str, Any]
) -> None:
    """Write the three files of a context set, none before all are ready.

    The old manifest goes first and the new one comes last, so that its presence means all is there.
    """
    manifest_path = manifest_path_of(path)
    with replacing(manifest_path) as manifest, replacing(dropped_path_of(path)) as beside, replacing(path) as main:
        write_jsonl(main, (asdict(context) for context in contexts))
        write_jsonl(beside, (asdict(pair) for pair in dropped))
        content = {
            "format": FORMAT,
            "kind": "contexts",
            "n_contexts": len(contexts),
            "n_videos": len({context.video for context in contexts}),
            "drops": drop_table(len(contexts), dropped),
            "sha256": sha256_file(main),
            "dropped_sha256": sha256_file(beside),
            "made_by": made_by,
        }
        write_json(manifest, content)
        manifest_path.unlink(missing_ok=True)


def read_contexts(path: Path) -> list[Context]:
    """The contexts of a JSON-lines file, ours or anyone's: `sent1`, `start` and `gold` are enough.

    Where no line has a `fold`, folds are dealt here, by video where lines name one.
    """
    contexts, has_folds = [], False
    for number, record in read_jsonl(path):
        contexts.append(_context_of(path, number, record))
        has_folds = has_folds or "fold" in record
    if not contexts:
        raise InputError(f"{path}: no contexts in it. `swag-af contexts SOURCE --out {path}` makes them.")
    if has_folds:
        return contexts
    videos = [context.video or f"line {i}" for i, context in enumerate(contexts)]
    fold_of = deal_folds(videos, ContextRules().n_folds, rng=np.random.default_rng(0))
    return [replace(context, fold=fold_of[video]) for context, video in zip(contexts, videos, strict=True)]


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
