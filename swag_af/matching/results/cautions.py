"""What a matching leaves open, a sentence each: questions in several folds, copies, lost tags, small folds.

Nothing here stops a matching; each sentence says what to do. They are printed, and kept in `matched.json`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from swag_af.data.numbers.interval import interval
from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.data.splits import numbered, rows_apart
from swag_af.data.text.wording import comparable, words
from swag_af.matching.algorithm.work import Plan
from swag_af.matching.results.questions import Stage, hits_of_relevance
from swag_af.matching.rows.items import Items
from swag_af.matching.rows.tags import TAG, tags_in

SMALL_FOLD = 50
"""A fold of fewer rows has few answers to choose from."""

WORDS_OF_A_COPY = 3
"""Answers of fewer words stand in many questions by chance."""


def cautions_of(stage: Stage, surface: Sequence[str] = ()) -> list[str]:
    """What there is to be said of a matching that was made; `surface` are rules of form that find the right answer."""
    return [
        *cautions_of_plan(stage.items, stage.plan),
        *_ignorant(stage),
        *_unpreferred(stage),
        *_of_surface(surface),
        *_right_as_well(stage),
        *_right_elsewhere(stage),
        *_copies(stage),
        *_tags(stage),
    ]


def cautions_of_plan(items: Items, plan: Plan) -> list[str]:
    """What there is to be said of folds before anything is matched."""
    return [*_templated(items), *_common_questions(items, plan.folds), *_small_folds(plan.folds)]


def n_with_question_elsewhere(items: Items, folds: np.ndarray) -> int:
    """How many rows have the words of a question that a row of another of `folds` (n,) has too."""
    texts = numbered([comparable(item.query) for item in items.rows])
    return int(rows_apart(folds, np.arange(len(items)), texts + 1).sum())


def _templated(items: Items) -> list[str]:
    if not items.near_joined.is_templated:
        return []
    return [
        "So many rows hang together, as behind one instruction or in chains, that they would be one group. Joined as "
        f"near-duplicates are those with a similarity of {items.near_joined.told}. Leave a template out of the query "
        "if there is one."
    ]


def _common_questions(items: Items, folds: np.ndarray) -> list[str]:
    n = n_with_question_elsewhere(items, folds)
    if not n:
        return []
    return [
        f"{n:,} of {len(items):,} rows share a question that is too common to keep them in one fold, so that splits "
        "share it: harmless where the question says nothing of its row, as What happens next?; otherwise take such "
        "rows out."
    ]


def _small_folds(folds: np.ndarray) -> list[str]:
    sizes = np.unique(folds, return_counts=True)[1]
    if sizes.min() >= SMALL_FOLD:
        return []
    remedy = "Take fewer --folds, 5 at least" if len(sizes) > 5 else "Only more rows help"
    return [
        f"The smallest of {len(sizes)} folds has {sizes.min():,} rows, fewer than {SMALL_FOLD}: few answers to choose "
        f"from, so wrong ones fit badly. {remedy}."
    ]


def _ignorant(stage: Stage) -> list[str]:
    """Where the model of relevance is not seen to know anything, wrong answers are as good as drawn at random."""
    low, high = interval(stage.outcome.preferred, stage.items.groups)
    if low > 0.5:
        return []
    share = float(stage.outcome.preferred.mean(dtype=np.float64))
    return [
        f"The model of relevance is not seen to know which answer belongs to a question: of the right one and a random "
        f"one it prefers the right one in {in_percent(share)} (95 % interval {from_to(low, high)}; "
        "luck: 50). Wrong answers chosen by it may fit no better than random ones: take another --relevance, or more "
        "rows to learn from."
    ]


def _unpreferred(stage: Stage) -> list[str]:
    hits, chance = hits_of_relevance(stage.outcome), 1 / (1 + stage.outcome.assigned.shape[1])
    low, high = interval(hits, stage.items.groups)
    if low <= chance:
        return []
    return [
        f"The model of relevance tells the right answer from these wrong ones ({in_percent(float(hits.mean()))}, 95 % "
        f"interval {from_to(low, high)}; chance {in_percent(chance)}), though they were chosen to be preferred: the "
        "rows of a bucket have none that fit as well. Give more rows of a kind, fewer --folds, larger buckets "
        "(--buckets none is one a fold), or a smaller --weight."
    ]


def _of_surface(surface: Sequence[str]) -> list[str]:
    if not surface:
        return []
    return [
        f"By form: {'; '.join(surface[:2])}. Wrong answers are others' right ones, but which of them the models prefer "
        "depends on it; see AF201 and AF205 to AF210 in `swag-af audit`."
    ]


def _right_as_well(stage: Stage) -> list[str]:
    """Rows of one question get no text that is right in another of them, unless their bucket leaves no other."""
    questions, texts = stage.items.questions, stage.items.texts
    right = questions * len(texts) + texts  # (n,) a number for each question with a text that is right for it
    given = questions[:, None] * len(texts) + texts[stage.outcome.assigned]
    n = int(np.isin(given, right).any(axis=1).sum())
    if not n:
        return []
    return [
        f"{n:,} of {len(questions):,} questions have as a wrong answer what is right for the same question in another "
        "row: rows of one question are too many in their bucket to avoid it. Take some of them out, or larger buckets; "
        "if they ask about different pictures or films, name the column that tells (--media-column, of pairs "
        "--group-column)."
    ]


def _right_elsewhere(stage: Stage) -> list[str]:
    """Rows of the same words in two named groups are two questions, and may get right answers of each other."""
    items, texts = stage.items, stage.items.texts
    asked = [row.asked for row in items.rows]
    groups = [row.context.video for row in items.rows]
    where_right: dict[tuple[str, int], set[str]] = {}  # in which groups a text is right for these words
    for words_of, group, text in zip(asked, groups, texts.tolist(), strict=True):
        where_right.setdefault((words_of, text), set()).add(group)
    given = zip(asked, groups, texts[stage.outcome.assigned].tolist(), strict=True)
    n = sum(any(where_right.get((words_of, text), set()) - {group} for text in row) for words_of, group, row in given)
    if not n:
        return []
    return [
        f"{n:,} of {len(items):,} questions have as a wrong answer what is right for the same words in another group "
        "that the data names, where they are taken for another question, as about another film. If they ask the same "
        'thing, match without the column of groups (of pairs --group-column ""), or take all but one of them out.'
    ]


def is_copy(answer: str, query: str) -> bool:
    """Whether an answer of several words stands word for word in the query."""
    said = words(answer)
    return len(said) >= WORDS_OF_A_COPY and f" {' '.join(said)} " in f" {' '.join(words(query))} "


def _copies(stage: Stage) -> list[str]:
    """Relevance likes words of the query, and an answer that repeats it is easily seen to be no answer."""
    rows = stage.items.rows
    n = sum(any(is_copy(text, row.query) for text in texts) for row, texts in zip(rows, stage.wrong, strict=True))
    n_right = sum(is_copy(row.response, row.query) for row in rows)
    if n <= n_right:
        return []
    return [
        f"{n:,} of {len(rows):,} questions have a wrong answer of {WORDS_OF_A_COPY} words or more that stands word for "
        f"word in the question (right answers: {n_right:,}), and is easily ruled out. Captions that follow each other "
        "do that: take out of the question what is another row's answer, or take such rows out."
    ]


def n_that_lost_a_tag(stage: Stage) -> int:
    """How many wrong answers have fewer tags than they have in their own row."""
    return sum(len(TAG.findall(text)) < len(TAG.findall(own)) for text, own in _recycled(stage))


def n_with_merged_tags(stage: Stage) -> int:
    """How many wrong answers name fewer objects than in their own row, though no tag was lost."""
    return sum(
        len(tags_in(text)) < len(tags_in(own)) and len(TAG.findall(text)) == len(TAG.findall(own))
        for text, own in _recycled(stage)
    )


def _recycled(stage: Stage) -> Iterator[tuple[str, str]]:
    """Every wrong answer as it stands, and in its own row."""
    for texts, others in zip(stage.wrong, stage.outcome.assigned.tolist(), strict=True):
        yield from zip(texts, (stage.items.rows[other].response for other in others), strict=True)


def _tags(stage: Stage) -> list[str]:
    told = (
        (
            n_that_lost_a_tag(stage),
            "lost a tag, since their new row has no object of its kind; no right one did, so a bare word such as "
            "person gives them away. List more kinds under objects, or take such answers out.",
        ),
        (
            n_with_merged_tags(stage),
            "name one object where they named several, since their new row has too few of its kind: [person1] and "
            "[person1] gives them away. List more objects, or take such answers out.",
        ),
    )
    return [f"{n:,} of {stage.outcome.assigned.size:,} wrong answers {what}" for n, what in told if n]
