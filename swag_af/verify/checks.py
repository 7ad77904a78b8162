"""Attention checks: questions with known answers among the items, which nobody can tell from them.

One in every block of `--check-every` tasks of a person is a check, at a place drawn by a secret. Those that are drawn
are items of contexts that are not shown otherwise, in which words of two endings are shuffled; `--checks` may name a
file instead. What was answered never becomes a verdict.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, insert, select, union, update

from swag_af.data.errors import InputError, several
from swag_af.data.runs.run import Run
from swag_af.data.secrets import secret_rng
from swag_af.judging.verdicts import Item, Rating, make_items
from swag_af.verify.linked import rows_told_to
from swag_af.verify.qualification import (
    DRAWN,
    FEWEST_WORDS,
    N_NONSENSE,
    QualificationQuestion,
    is_long,
    n_whole_refused,
    parse_question,
    read_questions,
    shuffled,
)
from swag_af.verify.schema import checks, golds, tasks, writing
from swag_af.verify.store import Store

N_CHECKS = 200
"""Checks that are drawn; nobody gets one twice."""


@dataclass(frozen=True, slots=True)
class Attention:
    """How annotators are checked in the course of their work."""

    questions: tuple[QualificationQuestion, ...] = ()
    every: int = 0
    """One of so many tasks of a person is a check; 0 for none."""
    min_share: float = 0.6
    """Who passes a smaller share of the checks is flagged ..."""
    min_checks: int = 3
    """... once there are so many."""
    action: Literal["flag", "pause", "dequalify"] = "flag"
    secret: str = ""
    """Draws where in the work of a person checks stand, and which."""

    def flags(self, n: int, n_passed: int) -> bool:
        """Whether `n_passed` of `n` checks are too few."""
        return n >= self.min_checks and n_passed / max(1, n) < self.min_share

    def place(self, annotator: str, block: int) -> int:
        """Where in this block of `every` tasks, from 0, the check of this annotator stands."""
        return int(secret_rng(self.secret, f"check {block} of {annotator}").integers(self.every))

    def order(self, annotator: str) -> Iterator[QualificationQuestion]:
        """The checks in the order in which this annotator gets them."""
        order = secret_rng(self.secret, f"checks of {annotator}").permutation(len(self.questions))
        return (self.questions[i] for i in order)


def passes(question: QualificationQuestion, ratings: Sequence[str], best: int, second: int) -> bool:
    """Whether an answer shows attention.

    It does unless an ending known to be unlikely or gibberish is called likely, one known to be likely is called
    gibberish, the first of those known to be whole and most of them are, or the best or the second best is a wrong one.
    The first is gold where the check was drawn: negatives may read so badly that honest people call them gibberish.
    Unlikely and gibberish are told apart by taste.
    """
    wrong = {"likely": "gibberish", "unlikely": "likely", "gibberish": "likely"}
    is_wrong = any(known and given == wrong[known] for given, known in zip(ratings, question.ratings, strict=True))
    refuses_first = any(ratings[place] == "gibberish" for place in question.whole[:1])
    is_wrong |= refuses_first and 2 * n_whole_refused(question, ratings) > len(question.whole)
    return not is_wrong and best in question.best and (not question.second or second in question.second)


def read_checks(path: str, n_endings: int) -> tuple[QualificationQuestion, ...]:
    """The checks in a file like that of `--qualification`; each must have the `n_endings` of an item."""
    questions = read_questions(path)
    other = [i for i, question in enumerate(questions, start=1) if len(question.endings) != n_endings]
    if other:
        raise InputError(
            f"--checks {path}: {several(len(other), 'question')} (first: number {other[0]}) "
            f"{'has' if len(other) == 1 else 'have'} not the {n_endings} endings of an item, so that they would be "
            "known at once. Give each as many."
        )
    return questions


def draw_checks(
    run: Run, rows: Sequence[int], secret: str, *, assignment: np.ndarray, seed: int
) -> dict[int, QualificationQuestion]:
    """Checks of contexts that are not shown as items, by row: gold and negatives of `assignment` (N, A) as in an item,
    but for the shuffled words of two negatives.

    Which, and how the words are shuffled, depends on the secret. Known are the shuffled two: they are not likely, and
    neither the best nor the second best; most others are no gibberish. What is as likely as gold remains open.
    """
    rng, made = secret_rng(secret, "checks"), make_items(assignment, seed=seed)
    found: dict[int, QualificationQuestion] = {}
    for row in rng.permutation(rows).tolist():
        question = _spoilt(run, made[row], rng)
        if question is not None:
            found[row] = question
        if len(found) == N_CHECKS:
            break
    if not found:
        raise InputError(
            f"--checks {DRAWN}: needs contexts that are neither shown as items nor asked in the qualification, with "
            f"{N_NONSENSE} negatives of {FEWEST_WORDS} words or more. Leave some out with --limit, or name a file."
        )
    return found


def _spoilt(run: Run, item: Item, rng: np.random.Generator) -> QualificationQuestion | None:
    """The item with shuffled words in two of its negatives; None if they are too short, or nothing else is left."""
    endings = [run.pool.text(item.row, column) for column in item.columns]
    long = [i for i, text in enumerate(endings) if i and is_long(text)]
    if len(long) < N_NONSENSE or len(endings) < N_NONSENSE + 2:
        return None
    nonsense = set(rng.permutation(long)[:N_NONSENSE].tolist())
    shown = tuple(shuffled(text, rng) if i in nonsense else text for i, text in enumerate(endings))
    ratings: tuple[Rating | None, ...] = tuple("gibberish" if i in nonsense else None for i in range(len(endings)))
    others = tuple(i for i in range(len(endings)) if i not in nonsense)
    context = run.pool.contexts[item.row]
    return QualificationQuestion(context.sent1, context.start, shown, ratings, others, others, whole=others)


def keep_checks(store: Store, questions: Iterable[tuple[int | None, QualificationQuestion]]) -> None:
    """Keep the checks in the store, each with the row that it was made of, of which who gets the check gets no item;
    drawn questions of the qualification likewise.

    Where other answers are known to one than before, those that were given to it are marked again.
    """
    given = {one.id: (row, one) for row, one in questions}
    with writing(store.engine) as connection:
        known = set(connection.scalars(select(checks.c.id)))
        lines = [{"id": id, "row": row, "question": _kept(one)} for id, (row, one) in given.items() if id not in known]
        if lines:
            connection.execute(insert(checks), lines)
        there = {(line.question, line.row) for line in connection.execute(select(golds))}
        new = [(id, row) for id, (_, one) in given.items() for row in one.golds if (id, row) not in there]
        if new:
            connection.execute(insert(golds), [{"question": id, "row": row} for id, row in new])
        for id in known & set(given):
            if check_of(connection, id) != given[id][1]:
                _replace(connection, given[id][1])


def _kept(question: QualificationQuestion) -> dict[str, Any]:
    """The question as the store keeps it: as in a file; its golds stand in a table."""
    return {name: value for name, value in asdict(question).items() if name != "golds"}


def _replace(connection: Connection, question: QualificationQuestion) -> None:
    """Put other known answers in the place of those of a check, and mark again what was answered."""
    connection.execute(update(checks).where(checks.c.id == question.id).values(question=_kept(question)))
    answered = select(tasks).where(tasks.c.item == question.id, tasks.c.passed.is_not(None))
    for task in connection.execute(answered).all():
        passed = passes(question, task.ratings, task.best, task.second)
        connection.execute(update(tasks).where(tasks.c.id == task.id).values(passed=passed))


def check_of(connection: Connection, id: str) -> QualificationQuestion:
    """The check with this id."""
    record = connection.scalars(select(checks.c.question).where(checks.c.id == id)).one()
    return parse_question(record, f"check {id}")


def due_check(connection: Connection, annotator: str, attention: Attention) -> QualificationQuestion | None:
    """The check that `annotator` gets now in place of an item, if any; none where all are used up or kept away."""
    if not attention.every or not attention.questions:
        return None
    mine = (
        select(tasks.c.item, tasks.c.row, tasks.c.is_check)
        .where(tasks.c.annotator == annotator, tasks.c.answered_at.is_not(None))
        .order_by(tasks.c.answered_at.desc(), tasks.c.begun_at.desc())
    )
    answered = connection.execute(mine).all()
    done = [one for one in answered if one.row is not None or one.is_check]
    block, n_of_block = divmod(len(done), attention.every)
    is_due = n_of_block >= attention.place(annotator, block) and not any(one.is_check for one in done[:n_of_block])
    if not is_due:
        return None
    known = {one.item for one in answered}  # in the qualification, too
    known |= set(connection.scalars(_checks_told(annotator)))
    return next((one for one in attention.order(annotator) if one.id not in known), None)


def _checks_told(annotator: str) -> Any:
    """The query for the checks of a row of which `annotator` has opened another text, or of one linked with such a row.

    A check that was opened and not answered is none of them: it comes back.
    """
    opened = select(tasks.c.item).where(tasks.c.annotator == annotator)
    is_told = checks.c.row.in_(_rows_met(annotator)) | checks.c.row.in_(rows_told_to(annotator))
    return select(checks.c.id).where(is_told, checks.c.id.not_in(opened))


def _rows_met(annotator: str) -> Any:
    """The query for the rows of which `annotator` has opened a text, in an item, a check, or a drawn question."""
    of_checks = select(checks.c.row).join(tasks, tasks.c.item == checks.c.id)
    of_golds = select(golds.c.row).join(tasks, tasks.c.item == golds.c.question)
    return union(
        *(
            query.where(tasks.c.annotator == annotator, row.is_not(None))
            for query, row in ((select(tasks.c.row), tasks.c.row), (of_checks, checks.c.row), (of_golds, golds.c.row))
        )
    )


def counts_as_work() -> Any:
    """The condition that a task is an item of the run or a check, and no question of the qualification."""
    return tasks.c.row.is_not(None) | tasks.c.is_check.is_(True)


def scores(connection: Connection, annotator: str | None = None) -> dict[str, tuple[int, int]]:
    """`(n, n_passed)` of each annotator with checks, or of one: checks answered, and those of them passed."""
    answered = select(tasks.c.annotator, tasks.c.passed).where(tasks.c.passed.is_not(None))
    n, n_passed = Counter[str](), Counter[str]()
    for name, passed in connection.execute(
        answered if annotator is None else answered.where(tasks.c.annotator == annotator)
    ):
        n[name] += 1
        n_passed[name] += passed
    return {name: (n[name], n_passed[name]) for name in n}
