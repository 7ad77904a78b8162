"""The slow twin of replacement: one row whose scores are all known."""

import numpy as np

from swag_af.af.replacement import Policy


def replace_row(
    scores: np.ndarray,
    assigned: np.ndarray,
    count: int,
    easy_keys: np.ndarray,
    keys: np.ndarray,
    policy: Policy,
    flagged: np.ndarray | None = None,
) -> np.ndarray:
    """The reference: (K,) scores and an (A,) assignment to the next (A,) assignment; none `flagged` (K,) enters."""
    gold = scores[0]
    easy = [j for j in range(1, len(assigned)) if scores[assigned[j]] < gold]
    easy.sort(key=lambda j: easy_keys[j - 1] if policy.pick == "random" else scores[assigned[j]])
    leaving = easy[: policy.n_easy]
    if policy.rule == "paper":
        leaving.sort(key=lambda j: (scores[assigned[j]], j))
    outside = sorted(
        set(range(count)) - set(assigned.tolist()) - set([] if flagged is None else np.flatnonzero(flagged).tolist()),
        key=lambda k: (keys[k] if policy.pick == "random" else -scores[k], k),
    )
    after = assigned.copy()
    for j in leaving:  # of paper easiest first: whoever passes for the second would have passed for the first
        threshold = gold if policy.rule == "released" else scores[assigned[j]]
        newcomer = next((k for k in outside if scores[k] > threshold and k not in after), None)
        after[j] = assigned[j] if newcomer is None else newcomer
    return after
