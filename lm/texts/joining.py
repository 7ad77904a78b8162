"""All answers to a pool: the same tables as `CandidatePool.from_texts` makes of the same contexts and endings.

Contexts without endings are left out and counted, and so are those whose endings say the same once all have one surface
form: rows stay of one width. Memory grows as for `swag-af pool`.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from swag_af.data.captions.context_set import read_contexts_manifest
from swag_af.data.disk.files import write_jsonl
from swag_af.data.disk.replacing import remove
from swag_af.data.errors import InputError, RowError
from swag_af.data.pool.folder import NO_TAGGER, finish_pool
from swag_af.data.pool.rows import EmptyRowError, Row, RowMaker, ShortRowError
from swag_af.data.pool.spool import Spool, write_shards
from swag_af.data.work.progress import progress
from swag_af.lm.choosing import named
from swag_af.lm.contract import DRAWN_OUT, Generated, answer_fault
from swag_af.lm.texts.journal import Journal, Kept
from swag_af.lm.texts.outcome import Texts, nothing_left
from swag_af.lm.texts.plan import DROPPED, JOURNAL, Job

_BLOCKS = ".blocks"


@dataclass
class _Counts(Texts):
    """What became of contexts, too."""

    dropped: list[dict[str, str]] = field(default_factory=list)

    @property
    def drops(self) -> dict[str, int]:
        return dict(Counter(record["reason"] for record in self.dropped))


def join(job: Job, journal: Journal) -> None:
    """Write the pool; every context is answered. Killed, it is done again from the answers."""
    out = job.options.out
    remove(out / _BLOCKS)
    spool, counts = Spool(out / _BLOCKS), _Counts()
    maker = RowMaker(normalise=job.options.text.normalise, min_negatives=job.options.n_negatives)
    spool.read(_rows(job, journal, maker, counts))
    if not spool.n_rows:
        remove(spool.folder)
        raise nothing_left(job, counts.drops, counts)
    known = spool.known(job.tagger)
    entries = write_shards(out, spool, known, lambda contexts, _: contexts)
    remove(spool.folder)
    write_jsonl(out / DROPPED, counts.dropped)
    found = {
        "dropped_negatives": maker.dropped_negatives(),
        "surface": [*maker.surface.records(), *known.lengths],
        "shared_texts": known.shared.counts,
    }
    finish_pool(out, known.vocabulary, entries, _notes(job, counts) | found)


def check(job: Job, journal: Journal) -> None:
    """Read every answer that is there already, before more are asked for; InputError for a damaged one."""
    for kept in journal.answers(range(len(job.contexts))):
        if kept is not None:
            _check(job, kept)


def _rows(job: Job, journal: Journal, maker: RowMaker, counts: _Counts) -> Iterator[Row]:
    """The rows of the pool, in the order of the contexts."""
    asked = (row for row in range(len(job.contexts)) if row not in job.unfit)
    answers = journal.answers(asked)
    with progress("generate: joining", len(job.contexts), "contexts") as advance:
        for row, context in enumerate(job.contexts):
            reason = job.unfit.get(row, "")
            kept = None if reason else next(answers)
            if kept is not None:
                counts.add(kept)
                made = _made(maker, job, kept)
                if isinstance(made, Row):
                    yield made
                else:
                    reason = made
            if reason:
                counts.dropped.append({"id": named(context, job.positions[row]).id, "reason": reason})
            advance(1)


def _made(maker: RowMaker, job: Job, kept: Kept) -> Row | str:
    """The row of an answer, or why there is none."""
    _check(job, kept)
    if kept.reason:
        return kept.reason
    context, position = job.contexts[kept.row], job.positions[kept.row]
    try:
        return maker.make(position, context, kept.endings)
    except (EmptyRowError, ShortRowError):
        return DRAWN_OUT
    except RowError as fault:
        raise InputError(f"{job.options.contexts}: context {named(context, position).id} {fault}. Mend it.") from None


def _check(job: Job, kept: Kept) -> None:
    """InputError for an answer that nobody gave."""
    answer = Generated(kept.row, kept.endings, kept.reason)
    if fault := answer_fault(answer, len(job.contexts), job.options.n_negatives):
        where, advice = job.options.out / JOURNAL, "Remove the line of that context, and run the same command again."
        raise InputError(f"{where}: damaged ({fault}). {advice}")


def _notes(job: Job, counts: _Counts) -> dict[str, Any]:
    """What the manifest records beside the shards."""
    options = job.options
    return {
        "plan": job.plan,
        "generator": job.record,
        "tagger": job.tagger.name if job.tagger else NO_TAGGER,
        "n_draws": counts.n_drawn,
        "rejected_draws": dict(sorted(counts.rejected.items())),
        "drops": counts.drops,
        "contexts": (read_contexts_manifest(options.contexts) or {}).get("drops"),
        "made_by": {
            "verb": "generate",
            "options": {k: v for k, v in asdict(replace(options, shard=None)).items() if k != "where"},
            "normalise": options.text.normalise,
        },
    }
