"""Context sets: the files that contexts are stored in. Writes and reads them, and assigns folds where a file has none.

`NAME.jsonl` has the contexts; beside it are `NAME.dropped.jsonl` (every pair left out, with its reason),
`NAME.dropped.txt` (the drop table for people) and `NAME.manifest.json` (the options, the drop table, the hashes).
`contexts` makes contexts from captions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.captions.drops import drop_report, drop_table
from swag_af.data.context import Context, DroppedPair
from swag_af.data.disk.files import read_json, read_jsonl, read_records, write_json, write_jsonl, write_text
from swag_af.data.disk.manifests import FORMAT, check_manifest, sha256_file
from swag_af.data.disk.records import PairCounts, check_record, strange_number
from swag_af.data.disk.replacing import replacing_all
from swag_af.data.disk.urls import command
from swag_af.data.errors import FormatError, InputError, several
from swag_af.data.folds import MOST_FOLDS
from swag_af.data.splits import (
    FEW_TOGETHER,
    MOST_TOGETHER,
    Joined,
    a_story,
    deal,
    join_by_text,
    join_pairs,
    least_of_few,
    named_groups,
)
from swag_af.data.text.near_duplicates import (
    is_templated,
    same_sets,
    shingle_sets,
    similar_sets,
    similar_without_phrases,
)
from swag_af.data.text.scripts import tokenize_any
from swag_af.data.text.wording import sentence_keys
from swag_af.data.tokens import normalise_blanks
from swag_af.data.work.progress import note

N_FOLDS = 5
"""Number of folds for a file that has none (the paper's number, and `ContextRules.n_folds`)."""


def write_contexts(
    path: Path,
    contexts: Sequence[Context],
    dropped: Sequence[DroppedPair],
    made_by: dict[str, Any],
    *,
    drops: Mapping[str, int] | None = None,
) -> None:
    """Write the four files of a context set, none of them before all are ready. A manifest means that all are there.

    `drops` is the table of `dropped`; it has every reason where it is None.
    """
    drops = drop_table(len(contexts), dropped) if drops is None else drops
    with replacing_all(*set_paths(path)) as (report, beside, main, manifest):
        write_text(report, "\n".join([*drop_report(drops, dropped), ""]))
        write_jsonl(beside, (asdict(pair) for pair in dropped))
        write_jsonl(main, (context.record() for context in contexts))
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


def joined_by_sentence(made: Sequence[Context | DroppedPair], repeated: Sequence[tuple[int, int]] = ()) -> Joined:
    """Groups of contexts: those of one video, joined with others that share a sentence or are a pair of rows in
    `repeated`.

    Sentences found in so many videos that a tenth of the rows would form one group do not join any (`join_by_text`);
    of few rows a group may be `a_story`.
    """
    groups = join_pairs(named_groups([item.video for item in made]), repeated)
    keys = [[key for text in item.sentences for key in sentence_keys(text)] for item in made]
    rows = np.repeat(np.arange(len(made)), [len(of_row) for of_row in keys])
    of_texts = np.array([key for of_row in keys for key in of_row], dtype=np.int64)
    return join_by_text(groups, rows, of_texts, few=a_story(len(made)))


@dataclass(frozen=True)
class NearJoined:
    """Groups that were joined where their contexts are near-duplicates."""

    groups: np.ndarray
    """(n,) group numbers, from 0."""
    asked: float
    """The similarity from which on contexts were to be joined."""
    least: float | None
    """The one from which on they are, where phrases that many have did not count; None where copies alone are."""
    is_templated: bool
    """Whether so many contexts would hang together that phrases that many have did not count."""
    n_apart: int
    """At least so many pairs of different texts are as similar as was asked for, and in two groups."""

    @property
    def is_as_asked(self) -> bool:
        """Whether all that is as similar as was asked for is together, but for phrases that many have."""
        return self.least == self.asked and not self.n_apart

    @property
    def told(self) -> str:
        """From which similarity on contexts are together, and what is not: `0.7 or more`."""
        if not self.is_templated:
            return f"{self.asked:g} or more"
        how = f"{self.least:g} or more" if self.least is not None else "1, copies alone"
        raised = "" if self.least == self.asked else f" instead of the {self.asked:g} asked for"
        several_apart = f"at least {several(self.n_apart, 'pair reaches', 'pairs reach')} {self.asked:g} and"
        apart = f"; {several_apart} can stand apart" if self.n_apart else ""
        return (
            f"{how}{raised}, where phrases that many have, as behind one instruction, do not count, since more than a "
            f"tenth would hang together{apart}"
        )


def join_near_duplicates(groups: np.ndarray, contexts: Sequence[Context], threshold: float) -> NearJoined:
    """`groups` (n,), such as those of one video, joined where contexts are near-duplicates.

    Near-duplicates are pairs whose lower-cased tokens of `sent1`, `start` and `gold` have a Jaccard similarity of
    3-grams of at least `threshold`; joining is transitive. Of a script without blanks a character is a token. Where
    more than `MOST_TOGETHER` of the texts would hang together, phrases that many have do not count (`peculiar`), and
    where that is not enough, texts must be more similar (`STRICTER`). Copies are always together.
    """
    tokens = [[token.lower() for text in (c.sent1, c.start, c.gold) for token in tokenize_any(text)] for c in contexts]
    sets = shingle_sets(tokens)
    first = same_sets(sets)
    copies = join_pairs(groups, np.stack([first, np.arange(len(first))], axis=1))
    distinct = np.unique(first)
    some = sets[distinct]
    alone, largest = np.arange(len(distinct)), max(FEW_TOGETHER, MOST_TOGETHER * len(distinct))
    alike = None if is_templated(some, threshold) else similar_sets(some, threshold)[0]  # (p, 2), or too many to list
    if alike is not None and np.bincount(join_pairs(alone, alike)).max(initial=0) <= largest:
        return NearJoined(join_pairs(copies, distinct[alike]), threshold, threshold, is_templated=False, n_apart=0)
    known, similarity = similar_without_phrases(some, threshold)
    least = least_of_few(alone, known, similarity, largest, least=threshold)
    made = known[similarity >= least] if least is not None else known[:0]
    joined = join_pairs(copies, distinct[made])
    one, other = joined[distinct[known if alike is None else alike]].T
    return NearJoined(joined, threshold, least, is_templated=True, n_apart=int((one != other).sum()))


def read_contexts(path: Path) -> list[Context]:
    """The contexts of a JSON-lines file, made here or elsewhere: `sent1`, `start` and `gold` are enough.

    Where no line has a `fold`, folds are assigned here: whole videos at a time, and lines that share a sentence, as the
    pairs of one video do, together. Such lines get a common `video` where they have none. Both are reported on standard
    error.
    """
    contexts, n_folds = [], 0
    for number, record in read_jsonl(path):
        contexts.append(_context_of(path, number, record))
        n_folds += "fold" in record
    if not contexts:
        raise InputError(f"{path}: no contexts in it. `{command('contexts', 'SOURCE', '--out', path)}` makes them.")
    if 0 < n_folds < len(contexts):
        raise InputError(
            f"{path}: {len(contexts) - n_folds:,} of {len(contexts):,} lines have no fold. Give every line one, or no "
            "line: then they are dealt."
        )
    if n_folds:
        return contexts
    joined = joined_by_sentence(contexts)
    _say_joined(path, contexts, joined)
    folds = deal(joined.groups, N_FOLDS, rng=np.random.default_rng(0)).tolist()
    named = with_videos(contexts, joined.groups)
    return [replace(context, fold=fold) for context, fold in zip(named, folds, strict=True)]


def with_videos(contexts: Sequence[Context], groups: np.ndarray) -> list[Context]:
    """Contexts without a video are named by the first line of their group, where the group has several."""
    first = np.unique(groups, return_index=True)[1][groups] + 1  # (n,) line, counting those that are not blank
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
        f"{several(n_groups, 'group')} that folds keep together"
        + (f"; {joined.n_apart:,} share one that would join too many" if joined.n_apart else "")
    )


_KINDS = (
    ("id", str, "an id that is no text"),
    ("video", str, "a video that is no text"),
    ("source", str, "a source that is no text"),
    ("fold", int, "a fold that is no whole number"),
    ("media", dict, "media that are no object"),
)
"""The fields that a line may leave out, what they are, and what is said of others."""


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
    for name, kind, said in _KINDS:
        if kind is str and type(values.get(name)) is int:
            values[name] = str(values[name])
        if name in values and (not isinstance(values[name], kind) or isinstance(values[name], bool)):
            raise InputError(f"{path}: line {number} has {said}. Write {name} as one.")
    if bad := strange_number(values.get("media"), "media"):
        raise InputError(f"{path}: line {number} has {bad}. Write null where there is none, or a text.")
    if not 0 <= values.get("fold", 0) < MOST_FOLDS:
        raise InputError(
            f"{path}: line {number} has fold {str(values['fold'])[:20]}. Number folds from 0, below {MOST_FOLDS:,}."
        )
    return Context(**values)


def read_dropped(path: Path) -> list[DroppedPair]:
    """The dropped pairs stored beside the contexts at `path`; an empty list when no such file was written.

    Raises FormatError unless the manifest says that both files were written together: with other folds, a language
    model could be trained on the endings that it is to compete with; and where the file that it names is gone, since
    models would have learnt from fewer pairs than elsewhere.
    """
    beside, manifest = dropped_path_of(path), read_contexts_manifest(path)
    if not beside.exists():
        if manifest is not None and manifest["sha256"] == sha256_file(path):
            raise FormatError(
                f"{beside}: not there, though it was written with {path}. Copy it along, or leave the dropped pairs "
                "out with --no-use-dropped."
            )
        return []
    if manifest is None or (manifest["sha256"], manifest["dropped_sha256"]) != (sha256_file(path), sha256_file(beside)):
        raise FormatError(
            f"{beside}: not written together with {path} as it is now. Make both again with `swag-af contexts "
            "--force`, "
            "or leave the dropped pairs out with --no-use-dropped."
        )
    return list(read_records(beside, DroppedPair))


def read_contexts_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest beside a contexts file, None for a file that was not written by this package."""
    beside = manifest_path_of(path)
    if not beside.exists():
        return None
    manifest = check_manifest(read_json(beside), beside, "contexts")
    check_record(manifest["drops"], PairCounts, f"{beside}: drops")
    return manifest


def set_paths(path: Path) -> tuple[Path, Path, Path, Path]:
    """The files of the context set at `path` in the order in which they are put in place, the manifest last."""
    return drop_report_path_of(path), dropped_path_of(path), path, manifest_path_of(path)


def manifest_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.manifest.json`."""
    return path.with_name(f"{path.stem}.manifest.json")


def dropped_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.dropped.jsonl`."""
    return path.with_name(f"{path.stem}.dropped.jsonl")


def drop_report_path_of(path: Path) -> Path:
    """`contexts.jsonl` -> `contexts.dropped.txt`."""
    return path.with_name(f"{path.stem}.dropped.txt")
