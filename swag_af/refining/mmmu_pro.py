"""MMMU-Pro's vote (Yue et al. 2024, "MMMU-Pro: A More Robust Multi-discipline Multimodal Understanding Benchmark").

Four language models that see no image answer each question ten times; a model answers a question that it gets right
more than five times, and a question that at least three answer is taken out. What is left is given up to ten options,
which people with the help of GPT-4o did there, and checked. Here a model writes them and nobody checks: see `swag-af
verify`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swag_af.data.instances.instances import Instances
from swag_af.data.instances.rows import drawn_order
from swag_af.refining.chance import luck_of_votes
from swag_af.refining.recipe import Bench, Control, Outcome, Share, replaced
from swag_af.refining.rewriting import Wanted
from swag_af.refining.voting import ALIKE, FilterVoter


def mmmu_pro(bench: Bench) -> Outcome:
    """The questions, those that most models answer blind flagged, and the others with more options where wanted."""
    options, every = bench.options, np.arange(len(bench.instances))
    right, flagged, repeats = _voted(bench, "round-0", every)
    now, n_short = _with_more(bench, np.flatnonzero(~flagged))
    return Outcome(
        instances=now,
        flagged=flagged,
        first=Share.of_flags(flagged, bench.groups.numbers),
        luck=luck_of_votes(bench.instances.chance, options.tries, options.more_than + 1, options.n_votes, repeats),
        versions=tuple(bench.versions(0, bench.instances, every, right, flagged)),
        rounds=(),
        control=None if any(repeats) else _control(bench, np.flatnonzero(flagged)),
        n_short=n_short,
        one_try=tuple(one.name for one, is_one in zip(bench.voters, repeats, strict=True) if is_one),
    )


def _control(bench: Bench, flagged: np.ndarray) -> Control | None:
    """The rows that were `flagged`, judged once more where orders are left that were not shown."""
    shown = ["round-0"] * len(flagged)
    rows = flagged[bench.has_unseen(bench.instances, flagged, bench.options.tries, shown)]
    if not len(rows):
        return None
    _, again, _ = _voted(bench, "control", rows, shown[: len(rows)])
    return bench.control(again, None, rows, len(flagged) - len(rows))


def _voted(
    bench: Bench, stage: str, rows: np.ndarray, shown: Sequence[str] = ()
) -> tuple[np.ndarray, np.ndarray, list[bool]]:
    """(r, judges) how often each is right about `rows`, (r,) whether enough of them answer it, and whether each is a
    filter whose tries are one."""
    tries, voters = bench.options.tries, bench.voters
    found = [bench.hits(i, stage, bench.instances, rows, tries, shown) for i in range(len(voters))]
    right = np.stack([hits.sum(axis=1) for hits in found], axis=1)
    enough = (right > bench.options.more_than + ALIKE).sum(axis=1) >= bench.options.n_votes
    pairs = zip(voters, found, strict=True)
    return right, enough, [isinstance(one, FilterVoter) and one.is_one_try(hits) for one, hits in pairs]


def _with_more(bench: Bench, rows: np.ndarray) -> tuple[Instances, int]:
    """The set with `--to-options` options for `rows`, in an order that their texts decide; and how many got none."""
    most, now = bench.options.to_options, bench.instances
    short = [row for row in rows.tolist() if len(now.instances[row].options) < most]
    if not short:
        return now, 0
    wanted = [Wanted(now.instances[row], most - len(now.instances[row].options), 1) for row in short]
    made = {}
    for row, one, new in zip(short, wanted, bench.written(wanted), strict=True):
        if new:
            shown, answer = drawn_order([one.gold, *one.wrong, *new])
            made[row] = replace(one.of, options=tuple(shown), answer=answer)
    return replaced(now, list(made), list(made.values())), len(short) - len(made)
