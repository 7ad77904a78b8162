"""Answers for all contexts, by any generator of text, and a pool of them: `generate`, but for `lstm`.

A row depends on the seed, its context and the generator alone: not on limits, interruptions, or on how many processes
share the work. Endings wait in a journal until all contexts are answered.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from swag_af.data.context import Context
from swag_af.data.errors import ContractError, InputError
from swag_af.data.scale import share
from swag_af.data.stores.opened import mirror_of
from swag_af.data.text.wording import is_readable
from swag_af.data.work.locks import alone
from swag_af.data.work.progress import Advance, note, progress
from swag_af.lm.choosing import copies_line
from swag_af.lm.contract import Generated, answer_fault
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.sieve import UNREADABLE
from swag_af.lm.registry import GENERATORS
from swag_af.lm.texts.joining import check, join
from swag_af.lm.texts.journal import Journal, writing
from swag_af.lm.texts.outcome import Texts, nothing_left
from swag_af.lm.texts.plan import JOURNAL, Job, begin, plan_of, prepare


def make_texts(options: GenerateOptions) -> tuple[int, int]:
    """Answer the contexts that `options.shard` names, or all; returns how many are answered now, and of how many.

    Whoever finds all contexts answered makes the pool.
    """
    if options.part is not None and mirror_of(options.out) is not None:
        raise InputError(
            f"{options.out}: --shard goes with --generator lstm alone where the pool is in a store: answers wait in a "
            "journal on one machine. Leave it out, or generate into a folder that all machines see."
        )
    job = prepare(options)
    n = len(job.contexts)
    if len(job.unfit) == n:
        raise nothing_left(job, dict(Counter(job.unfit.values())))
    folder = options.out / JOURNAL
    if begin(job):
        Journal(folder).remove()
        return n, n
    if line := copies_line(job.contexts):
        note(line)
    rows = [row for row in share(range(n), options.part) if row not in job.unfit]
    plan = plan_of(job)
    check(job, Journal(folder, plan))
    with writing(folder, options.part, plan) as writer:
        journal = Journal(folder, plan)
        todo = [row for row in rows if row not in journal]
        with progress("generate", len(rows), "contexts", done=len(rows) - len(todo)) as advance:
            tally = _TextTally(advance)
            for answer in _answers(job, todo):
                writer.keep(todo[answer.position], answer)
                tally.add(answer)
    return _joined(job), n


def _joined(job: Job) -> int:
    """How many contexts are answered, by all runs; the pool is made where all are."""
    folder = job.options.out / JOURNAL
    n = len(job.contexts)
    with alone(folder / "joining"):
        journal = Journal(folder, plan_of(job))
        is_made = begin(job)  # another run was faster
        if not is_made:
            n = sum(row in job.unfit or row in journal for row in range(n))
            if n == len(job.contexts):
                join(job, journal)
    if n == len(job.contexts):
        journal.remove()
    return n


def _answers(job: Job, todo: Sequence[int]) -> Iterator[Generated]:
    """An answer for each of the rows `todo`, checked; raises ContractError for what is none."""
    return checked_answers(job, [job.contexts[row] for row in todo])


def checked_answers(job: Job, contexts: Sequence[Context]) -> Iterator[Generated]:
    """An answer for each of `contexts`; raises ContractError for what is none, and where somebody's class raises."""
    n, n_negatives, name = len(contexts), job.options.n_negatives, job.options.generator
    answered = set[int]()
    with GENERATORS.blaming(name, "generate"):
        for answer in job.generator.generate(contexts, n_negatives, seed=job.options.seed) if contexts else ():
            fault = answer_fault(answer, n, n_negatives)
            if not fault and answer.position in answered:
                fault = f"context {answer.position} is answered twice"
            if fault:
                raise ContractError(f"--generator {name}: {fault}. `check_generator` says more.")
            answered.add(answer.position)
            is_whole = all(map(is_readable, answer.endings))
            yield answer if is_whole else Generated(answer.position, reason=UNREADABLE)
    if len(answered) < n:
        raise ContractError(f"--generator {name}: {n - len(answered)} of {n} contexts are not answered.")


class _TextTally:
    """Counts what is made, for the bar."""

    def __init__(self, advance: Advance):
        self.advance = advance
        self.started = time.perf_counter()
        self.n_endings = self.n_dropped = 0
        self.texts = Texts()

    def add(self, answer: Generated) -> None:
        """What became of one context."""
        self.n_endings += len(answer.endings)
        self.n_dropped += not answer.endings
        self.texts.add(answer)
        rate = self.n_endings / max(time.perf_counter() - self.started, 1e-9)
        rejected = 100 * self.texts.rejected_share
        note = f"{rate:,.0f} endings/s, {rejected:.0f} % rejected, {self.n_dropped:,} contexts dropped"
        self.advance(1, note=note)
