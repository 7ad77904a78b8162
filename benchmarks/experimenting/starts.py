"""Where the curve begins: before any filtering, one thing of the candidates or of the likelihoods changed at a time.

The paper's curve begins near 60 %, ours at half of that. What the released code is known to do otherwise is tried here,
and what would be if a language model had read gold, on contexts that other arms filter.

Predicted before any of this was measured, but for one part of `ours` whose likelihoods alone were by models that have
read gold (9 points more): `unknown` adds 3 to 8 points, `short` 0 to 2, `read` 5 to 10, and `all` stays below 50 %.
Predicted of `unknown twice`, once `unknown` was known to add 9: half of that or less.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experimenting.findings import Hits, difference
from experimenting.pools import GoldReader, dealt_rows, reads_gold_of
from experimenting.steps import DEEP, N_NEGATIVES, Setting, has_wide_folds, models_of, seconds_of_fit
from swag_af.auditing.runs.audit import audit_columns
from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, read_jsonl, write_json
from swag_af.data.pool.assignments import random_assignment
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text.surface import SurfaceWarning
from swag_af.data.work.progress import progress
from swag_af.lm.features import features
from swag_af.lm.lstm.candidates import load_readers, make_rows, task_of, types_of_golds
from swag_af.lm.lstm.checkpoints import open_vocabulary
from swag_af.lm.lstm.sampling import Sampling
from swag_af.lm.lstm.wording import Wording
from swag_af.lm.options import FeaturesOptions, GenerateOptions
from swag_af.lm.scorers.table import score_pool

FOLDER = "starts"
OURS = "ours"
N_DRAWN = 15
"""Endings of a context that are drawn, for several assignments."""
N_DRAWS = 3
"""Assignments, each with a seed of its fits."""
UNKNOWN_WORD = "\N{REPLACEMENT CHARACTER}"
"""No caption has it."""


@dataclass(frozen=True)
class Way:
    """Candidates, and who computes their likelihoods."""

    about: str
    after_unknown: bool = False
    """Where the last word before the ending has a capital, the model reads an unknown word in its place: the released
    code looks it up as it is written, in a vocabulary of small letters. Likelihoods are of the right word."""
    is_scored_so: bool = False
    """Whether likelihoods are behind the unknown word, too."""
    min_tokens: int = GenerateOptions.min_tokens
    """Of an ending; the released code asks for none, and gold has five or more."""
    has_read: bool = False
    """Whether endings and likelihoods are by a model that has learnt gold."""


WAYS = {
    OURS: Way("as in every other run here"),
    "unknown": Way("drawn after an unknown word, where the last word before the ending has a capital", True),
    "unknown twice": Way("as in `unknown`, and all likelihoods are behind that word, too", True, True),
    "short": Way("of any length, also shorter than gold ever is", min_tokens=1),
    "both": Way("`unknown` and `short`: as the released code draws", True, min_tokens=1),
    "read": Way("by language models that have read gold, and likelihoods by the same", has_read=True),
    "all": Way("`unknown`, `short` and `read`", True, min_tokens=1, has_read=True),
}


def measure_starts(setting: Setting) -> None:
    """Fit an MLP on random assignments of every way; what is kept is not made again."""
    cells = start_cells(setting)
    todo = [cell for cell in cells if not _path(setting, *cell).exists()]
    with progress(FOLDER, len(cells), "fits", done=len(cells) - len(todo)) as advance:
        for way, draw in todo:
            pool = make_start(setting, way)
            rows, rng = np.arange(len(pool)), np.random.default_rng((draw, *b"start"))
            columns = random_assignment(pool.counts, 1 + N_NEGATIVES, rng=rng)
            (one,) = audit_columns(pool, rows, columns, pool.groups, ["mlp"], seed=draw)
            kept = {"contexts": [context.id for context in pool.contexts], "groups": pool.groups.tolist()}
            write_json(_path(setting, way, draw), kept | {"hits": list(one.hits)})
            advance(1, note=f"{way}: {one.accuracy:.3f}")


def starts_seconds(setting: Setting) -> float:
    """CPU seconds, forecast."""
    n = setting.size.n_contexts
    ways = len(dict(start_cells(setting)))
    return ways * (0.11 * n * setting.size.hidden / 256 + N_DRAWS * 5 * seconds_of_fit("mlp", n))


def starts_found(setting: Setting) -> list[dict[str, Any]]:
    """What a fresh MLP finds by way, means over the draws, and how much more than in ours, paired by context; the same
    of the contexts whose last word has a capital, and of the others."""
    found = {way: one for way in dict(start_cells(setting)) if (one := _hits(setting, way)) is not None}
    if not found:
        return []
    has_capital = {one.id: ends_in_capital(one) for one in read_contexts(setting.out / "contexts.jsonl")}
    made = []
    for way, (hits, draws) in found.items():
        capital = np.array([has_capital[name] for name in hits.ids])
        ours = found[OURS][0] if OURS in found and way != OURS else None
        parts = {CAPITAL: capital, OTHERS: ~capital}
        beside = {name: _told(_of(hits, which), ours) for name, which in parts.items() if which.any()}
        made.append({"set": way, "about": WAYS[way].about, **_told(hits, ours), "draws": draws, **beside})
    return made


def capitals_in_swag(setting: Setting) -> dict[str, Any]:
    """How many of SWAG's questions, of those at hand, have a capital at the beginning of the last word before the
    endings, and of how many; empty where none is at hand."""
    path = setting.data / "swag/swag_questions.jsonl"
    if not path.exists() or not start_cells(setting):
        return {}
    last = [one["startphrase"].split()[-1] for _, one in read_jsonl(path)]
    return {"capital": sum(word[0].isupper() for word in last), "n": len(last)}


CAPITAL, OTHERS = "after a capital", "the others"
"""The contexts whose last word before the ending has one, and those whose has none."""


def _told(hits: Hits, ours: Hits | None) -> dict[str, Any]:
    """A figure, and how much more that is than `ours`, paired by context."""
    return hits.figure() | ({} if ours is None else {"more": difference(ours, hits)})


def _of(hits: Hits, which: np.ndarray) -> Hits:
    """The hits of some contexts, `which` (n,)."""
    ids = tuple(name for name, is_one in zip(hits.ids, which, strict=True) if is_one)
    return Hits(ids, np.unique(hits.groups[which], return_inverse=True)[1], hits.values[which])


def make_start(setting: Setting, name: str) -> CandidatePool:
    """The pool of a way; the one that is there, if it is whole."""
    path, way = setting.out / FOLDER / name, WAYS[name]
    if not path.exists():
        deep = CandidatePool.open(setting.out / DEEP)
        dealt = [dealt_rows(deep.groups, setting.size.part_rows, part) for part in range(setting.size.n_parts)]
        contexts = [deep.contexts[row] for row in np.sort(np.concatenate(dealt)).tolist()]
        endings = _endings(setting, contexts, way)
        there = [row for row, mine in enumerate(endings) if len(mine) == N_DRAWN]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SurfaceWarning)  # that endings differ in form is the question
            scored = [_shown(contexts[row], way) if way.is_scored_so else contexts[row] for row in there]
            CandidatePool.from_texts(scored, [endings[row] for row in there], tagger="none").save(path)
    pool = CandidatePool.open(path)
    if "features" in pool.tables:
        return pool
    lms = setting.out / models_of("")
    if not way.has_read:
        return features(FeaturesOptions(path, lms=lms, workers=1))
    return score_pool(pool, f"{GoldReader.__module__}:{GoldReader.__name__}", workers=1, settings={"lms": str(lms)})


def _endings(setting: Setting, contexts: Sequence[Context], way: Way) -> list[list[str]]:
    """Endings of each of `contexts`; of one that is given up, none."""
    lms = setting.out / models_of("")
    vocabulary, rules = open_vocabulary(lms), Sampling(N_DRAWN, way.min_tokens, *_MOST)
    golds = read_contexts(setting.out / "contexts.jsonl")
    types = types_of_golds(golds, vocabulary, replace(rules, min_tokens=GenerateOptions.min_tokens))
    made: list[list[str]] = [[]] * len(contexts)
    for fold in sorted({context.fold for context in contexts}):
        reader = reads_gold_of(fold, lms) if way.has_read else fold
        readers = load_readers(lms, reader, device="cpu", precision="fp32")
        tasks = (
            task_of(_shown(context, way), row, vocabulary, 0)
            for row, context in enumerate(contexts)
            if context.fold == fold
        )
        for row, found in make_rows(readers, tasks, rules, types, Wording(vocabulary), lazy=True):
            if found is not None:
                ids = [tokens[:n].tolist() for tokens, n in zip(found.tokens[1:], found.lengths[1:], strict=True)]
                made[row] = list(map(vocabulary.text, ids))
    return made


_MOST = (GenerateOptions.max_tokens, GenerateOptions.max_draws)


def _shown(context: Context, way: Way) -> Context:
    """The context as the model reads it that draws."""
    if not way.after_unknown or not ends_in_capital(context):
        return context
    return replace(context, start=" ".join([*context.start.split()[:-1], UNKNOWN_WORD]))


def ends_in_capital(context: Context) -> bool:
    """Whether the last word before the ending begins with a capital; often it is the only one of its sentence."""
    words = context.start.split()
    return bool(words) and words[-1][0].isupper()


def start_cells(setting: Setting) -> list[tuple[str, int]]:
    """Way and draw of all that is measured: nothing where there are no contexts for it."""
    ways = WAYS if setting.size.nested and has_wide_folds(setting) else ()
    return [(way, draw) for way in ways for draw in range(N_DRAWS)]


def _hits(setting: Setting, way: str) -> tuple[Hits, list[float]] | None:
    """Means over the draws that were made, and the accuracy of each."""
    kept = [read_json(path) for draw in range(N_DRAWS) if (path := _path(setting, way, draw)).exists()]
    if not kept:
        return None
    hits = np.array([one["hits"] for one in kept])  # (draws, n)
    return Hits(tuple(kept[0]["contexts"]), np.array(kept[0]["groups"]), hits.mean(axis=0)), hits.mean(axis=1).tolist()


def _path(setting: Setting, way: str, draw: int) -> Path:
    return setting.out / FOLDER / f"{way}-{draw}.json"
