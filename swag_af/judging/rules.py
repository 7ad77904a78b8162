"""Which judged items become questions, and for what reason the others are left out.

The rules of Zellers et al. 2018, 3.5 and A.4, one function each. Several verdicts become one judgement before
(`swag_af.judging.consensus`); splitting, shuffling and writing come after. Where passages of the paper contradict each
other, docs/DECISIONS.md states what was chosen.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swag_af.judging.verdicts import TOO_FEW, Judgement, Rating, is_example, rank_endings, rows_apart

LEFT_OUT: dict[str, str] = {
    "not_judged": "no verdict on it, or only of annotators who were screened out",
    "gold_not_preferred": "gold is neither best nor second best",
    "gold_gibberish": "gold is gibberish, though best or second best",
    "too_few_sensible": "three or fewer endings are not gibberish",
    "too_few_distractors": "fewer distractors than a question needs are left",
}
"""Every reason for leaving a context out, in the order in which it is tested."""

SECOND_LEFT_OUT: dict[str, str] = {
    "evaluation_context": "its context is in val or test (footnote 5)",
    "generated_gibberish": "the generated ending is gibberish, though best",
}
"""Every reason for leaving out a second example, whose answer is generated."""


N_DISTRACTORS = 3
"""Distractors a question, unless more or fewer are asked for (Zellers et al. 2018: four endings)."""


@dataclass(frozen=True, slots=True)
class Example:
    """A context, its answer and its distractors, as candidates of a row of the pool."""

    row: int
    answer: int
    """0 is gold, the found ending; any other is generated."""
    distractors: tuple[int, ...]
    """Least likely first, so that the fourth, when there is one, is the likeliest (A.4)."""
    source: str
    """`gold0-orig`, `gold1-orig`, `gold0-reannot`, `gold1-reannot` or `gen-orig`, as in SWAG's full files; `gold`
    where nobody judged."""
    answer_rating: Rating | None = None
    distractor_ratings: tuple[Rating, ...] = ()

    @property
    def is_generated(self) -> bool:
        """Whether its answer is a generated ending: for training only (footnote 5)."""
        return self.answer != 0


def found_examples(
    judgements: Sequence[Judgement], n_rows: int, n_distractors: int, *, keep_second: bool = False
) -> tuple[list[tuple[Example, Judgement]], Counter[str]]:
    """Found examples, each with the judgement that made it, in order of rows; how many rows make none, by reason.

    With `keep_second` the second best ending is a distractor where fewer than `n_distractors` are left without it: SWAG
    showed six endings of which four were needed, and where wrong answers were matched all that there are may be needed.
    Of the rounds of a row the first that makes a question counts, so a refilled round is looked at only where the
    ones before failed (footnote 6); the reason is that of the last. Where a round was shown with several sets of
    endings, the row makes a question only if none of its judgements rejects gold.
    """
    found: list[tuple[Example, Judgement]] = []
    left_out: Counter[str] = Counter()
    rounds = _rounds_of(judgements)
    apart = rows_apart(judgement.item for judgement in judgements)
    fewest = n_distractors if keep_second else 0
    for row in range(n_rows):
        reason: str | None = "not_judged"
        of_row = rounds.get(row, [])
        rejection = next(filter(None, map(_rejection_of_gold, of_row)), None) if row in apart else None
        if rejection is not None:
            left_out[rejection] += 1
            continue
        for judgement in of_row:
            reason = why_not_found(judgement, n_distractors, fewest=fewest)
            if reason is None:
                found.append((found_example(judgement, fewest=fewest), judgement))
                break
        if reason is not None:
            left_out[reason] += 1
    return found, left_out


def second_examples(
    found: Sequence[tuple[Example, Judgement | None]], split_of_row: Mapping[int, str]
) -> tuple[list[Example], Counter[str]]:
    """The examples for training whose answer is generated; how many were left out, by reason.

    None where nobody judged. Only of first rounds: SWAG's files know `gen-orig` and no `gen-reannot`.
    """
    second: list[Example] = []
    left_out: Counter[str] = Counter()
    for example, judgement in found:
        if judgement is None or not generated_is_preferred(judgement) or judgement.item.round > 0:
            continue
        reason = why_not_second(judgement, split_of_row[example.row])
        if reason is None:
            second.append(generated_example(judgement))
        else:
            left_out[reason] += 1
    return second, left_out


def why_not_found(judgement: Judgement, n_distractors: int, *, fewest: int = 0) -> str | None:
    """The first reason of LEFT_OUT why this judgement makes no question; None when it makes one.

    `fewest` is that of `distractors_of`; above 0 it takes the place of SWAG's number of sensible endings.
    """
    rejection = _rejection_of_gold(judgement)
    if rejection is not None:
        return rejection
    if not fewest and not is_example(judgement):
        return "too_few_sensible"
    if len(distractors_of(judgement, fewest)) < n_distractors:
        return "too_few_distractors"
    return None


def _rejection_of_gold(judgement: Judgement) -> str | None:
    """The reason of LEFT_OUT why gold is no answer to this judgement; None where it is one."""
    if not gold_is_preferred(judgement):
        return "gold_not_preferred"
    return "gold_gibberish" if judgement.ratings[0] == "gibberish" else None


def why_not_second(judgement: Judgement, split: str) -> str | None:
    """The reason of SECOND_LEFT_OUT why its generated best ending answers no second question; None when it does.

    "We didn't perform this procedure on answers from the evaluation sets' context" (footnote 5).
    """
    if split != "train":
        return "evaluation_context"
    return "generated_gibberish" if judgement.ratings[judgement.best] == "gibberish" else None


def gold_is_preferred(judgement: Judgement) -> bool:
    """Gold is best or second best: "we add the found ending as a gold example" (3.5)."""
    return 0 in (judgement.best, judgement.second)


def generated_is_preferred(judgement: Judgement) -> bool:
    """A generated ending is best and gold second: "this lets us add an additional training example" (3.5)."""
    return judgement.best != 0 and judgement.second == 0


def distractors_of(judgement: Judgement, fewest: int = 0) -> list[int]:
    """Places of the generated endings that are not gibberish (3.5), and neither best (3.5) nor second best (A.4); the
    second best is there all the same where fewer than `fewest` are left without it."""
    sensible = [
        place
        for place in range(1, len(judgement.ratings))
        if judgement.ratings[place] != "gibberish" and place != judgement.best
    ]
    others = [place for place in sensible if place != judgement.second]
    return others if len(others) >= fewest else sensible


def most_distractors(n_negatives: int, *, keep_second: bool = False) -> int:
    """The most distractors of a question, whatever people say, where an item shows gold and so many negatives; 0 where
    no verdict makes a question. `keep_second` as in `found_examples`."""
    if keep_second:
        return n_negatives
    return n_negatives - 1 if 1 + n_negatives > TOO_FEW else 0


def likeliest_last(places: Iterable[int], judgement: Judgement) -> list[int]:
    """In order of likelihood, "so that the fourth distractor was the one deemed most likely" (A.4).

    Endings of one likelihood are in the order of `rank_endings`, by the judgement's seed.
    """
    chosen = set(places)
    ranked = rank_endings(judgement.item, judgement.likelihoods, seed=judgement.seed)
    return [place for place in reversed(ranked) if place in chosen]


def found_example(judgement: Judgement, *, fewest: int = 0) -> Example:
    """The question whose answer is gold (3.5); `fewest` is that of `distractors_of`."""
    rank = 0 if judgement.best == 0 else 1
    again = "reannot" if judgement.item.round else "orig"
    return _example(judgement, 0, f"gold{rank}-{again}", distractors_of(judgement, fewest))


def generated_example(judgement: Judgement) -> Example:
    """The question that a generated best ending answers, with the "remaining generations as negatives" (3.5)."""
    return _example(judgement, judgement.best, "gen-orig", distractors_of(judgement))


def _example(judgement: Judgement, answer: int, source: str, distractors: Sequence[int]) -> Example:
    places = likeliest_last(distractors, judgement)
    columns, ratings = judgement.item.columns, judgement.ratings
    return Example(
        judgement.item.row,
        columns[answer],
        tuple(columns[place] for place in places),
        source,
        ratings[answer],
        tuple(ratings[place] for place in places),
    )


def _rounds_of(judgements: Sequence[Judgement]) -> dict[int, list[Judgement]]:
    rounds: dict[int, list[Judgement]] = {}
    for judgement in sorted(judgements, key=lambda judgement: (judgement.item.row, judgement.item.round)):
        rounds.setdefault(judgement.item.row, []).append(judgement)
    return rounds
