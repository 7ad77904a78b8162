"""CinePile 2.0's refinement (Rawal et al. 2024, "CinePile 2.0: making stronger datasets with adversarial refinement").

A model that neither sees nor hears the film answers each question in five orders of its five options; right in three,
the question is degenerate, and a model rewrites it, given the first one's reason, up to five times. There, question and
options are rewritten, by GPT-4; of the test set 90 % were mended, the others mended by hand or left out, and those of
the training set kept. Here only wrong options are, so that the right one stays right without anybody checking. There,
a version that is judged fewer than three times right is mended, though a question that was not touched may be judged so
as well the second time: see `Control`.
"""

from collections.abc import Sequence

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.refining.chance import luck_of_orders
from swag_af.refining.recipe import Bench, Control, Outcome, RoundCount, Share, replaced, with_wrong
from swag_af.refining.rewriting import Wanted
from swag_af.refining.voting import ALIKE, JudgeVoter


def cinepile(bench: Bench) -> Outcome:
    """The questions, those that the judge answers blind rewritten round by round."""
    options, every = bench.options, np.arange(len(bench.instances))
    now, right, flagged = bench.instances, *_judged(bench, "round-0", bench.instances, every)
    first = flagged.copy()
    versions, rounds = bench.versions(0, now, every, right, flagged), list[RoundCount]()
    stages = np.full(len(every), "round-0", object)
    for number in range(1, 1 + options.rounds):
        rows = np.flatnonzero(flagged)
        if not len(rows):
            break
        now, done, reasons = _rewritten(bench, number, now, rows)
        right, flags = _judged(bench, f"round-{number}", now, done)
        flagged[done], stages[done] = flags, f"round-{number}"
        versions += bench.versions(number, now, done, right, flags, reasons)
        rounds.append(RoundCount(number, len(rows), len(done), int((~flags).sum())))
    return Outcome(
        instances=now,
        flagged=flagged,
        first=Share.of_flags(first, bench.groups.numbers),
        luck=luck_of_orders(bench.instances.chance, options.orders, options.degenerate_at),
        versions=tuple(versions),
        rounds=tuple(rounds),
        control=_control(bench, now, np.flatnonzero(first), stages),
    )


def _control(bench: Bench, now: Instances, flagged: np.ndarray, stages: np.ndarray) -> Control | None:
    """The rows that were `flagged` at first, judged once more where both versions have orders left that were not shown
    at the stage that judged them; the last of each of all questions is in `stages`."""
    was, k = bench.instances, bench.options.orders
    is_left = bench.has_unseen(was, flagged, k, ["round-0"] * len(flagged))
    is_left &= bench.has_unseen(now, flagged, k, stages[flagged].tolist())
    rows = flagged[is_left]
    if not len(rows):
        return None
    _, flags_then = _judged(bench, "control as-it-was", was, rows, ["round-0"] * len(rows))
    _, flags_now = _judged(bench, "control as-it-is", now, rows, stages[rows].tolist())
    return bench.control(flags_then, flags_now, rows, len(flagged) - len(rows))


def _judged(
    bench: Bench, stage: str, instances: Instances, rows: np.ndarray, shown: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """(r, 1) how often the judge is right about `rows`, and (r,) whether that flags them."""
    right = bench.hits(0, stage, instances, rows, bench.options.orders, shown).sum(axis=1, keepdims=True)
    return right, right[:, 0] >= bench.options.degenerate_at - ALIKE


def _rewritten(bench: Bench, number: int, now: Instances, rows: np.ndarray) -> tuple[Instances, np.ndarray, list[str]]:
    """The set with new wrong options for those of `rows` that got some, which these are, and why they were wanted."""
    judge = bench.voters[0]
    assert isinstance(judge, JudgeVoter)  # the verb sees to it
    asked = [now.instances[row] for row in rows.tolist()]
    reasons = judge.reasons(asked, f"reason-{number}")
    wanted = [
        Wanted(one, len(one.options) - 1, number, reason or "(nothing)")
        for one, reason in zip(asked, reasons, strict=True)
    ]
    written = bench.written(wanted)
    got = [i for i, wrong in enumerate(written) if wrong]
    new = [with_wrong(asked[i], written[i]) for i in got]
    done = rows[np.array(got, np.int64)]
    return replaced(now, done.tolist(), new), done, [reasons[i] for i in got]
