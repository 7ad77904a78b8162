"""Claims about what a matching leaves open: it is counted and said, and nothing is said where all is well."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swag_af.cli.runs.matching import caution_lines
from swag_af.data.errors import InputError
from swag_af.matching.algorithm.work import match_items, plan_of
from swag_af.matching.options import MatchingOptions
from swag_af.matching.results.cautions import (
    cautions_of,
    cautions_of_plan,
    is_copy,
    n_that_lost_a_tag,
    n_with_question_elsewhere,
)
from swag_af.matching.results.questions import Stage, wrong_answers
from swag_af.matching.rows.items import Items, items_of
from tests.matching.test_work import OPTIONS, answered_elsewhere, made


def with_common_question(n: int) -> Items:
    items = made()
    queries = ["What happens next?" if i < n else query for i, query in enumerate(items.queries)]
    return items_of(queries, items.responses, [f"movie {i % 30}" for i in range(len(items))])


def stage_of(items: Items, folder: Path, options: MatchingOptions = OPTIONS) -> Stage:
    plan = plan_of(items, options)
    (outcome,) = match_items(items, plan, options, weights=[0.1], folder=folder)
    return Stage(items, plan, outcome, wrong_answers(items, outcome, options))


def test_rows_whose_question_is_in_other_folds_are_counted() -> None:
    items = with_common_question(60)
    plan = plan_of(items, OPTIONS)
    slow = sum(
        any(items.queries[other] == query and plan.folds[other] != plan.folds[row] for other in range(len(items)))
        for row, query in enumerate(items.queries)
    )
    assert n_with_question_elsewhere(items, plan.folds) == slow == 60
    assert "60 of 360 rows share a question that is too common" in cautions_of_plan(items, plan)[0]


def test_questions_too_common_in_their_bucket_are_matched_and_counted(tmp_path: Path) -> None:
    """Of 24 rows 16 are of one question, and the others too few to give them wrong answers."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    answers = [" ".join(rng.choice(words, 5)) + "." for _ in range(120)]
    queries = ["Which of these words does she say to him?"] * 16 + [
        f"{' '.join(words[k : k + 4])} {k}?" for k in range(8)
    ]
    queries += [f"Who says {' '.join(rng.choice(words, 4))} {k}?" for k in range(96)]
    groups = [f"movie {0 if i < 16 else i}" for i in range(120)]
    items = items_of(queries, answers, groups)
    options = replace(OPTIONS, buckets="none", folds=2, n_distractors=1)
    folds = np.where(np.arange(120) < 24, 0, 1)

    def matched(rows: np.ndarray) -> Stage:
        some, folder = items.take(rows), tmp_path / str(len(rows))
        plan = plan_of(some, options, folds=folds[rows])
        (outcome,) = match_items(some, plan, options, weights=[0.1], folder=folder)
        return Stage(some, plan, outcome, wrong_answers(some, outcome, options))

    stage = matched(np.arange(120))
    n = n_right_by_words(stage)
    assert n >= 8
    said = "questions have as a wrong answer what is right"
    assert any(one.startswith(f"{n} of 120 {said}") for one in cautions_of(stage))
    fewer = matched(np.arange(8, 120))  # as is advised
    assert n_right_by_words(fewer) == 0
    assert not any(said in one for one in cautions_of(fewer))


def test_texts_that_are_right_in_another_row_of_the_question_are_counted(tmp_path: Path) -> None:
    items = answered_elsewhere()
    stage = stage_of(items, tmp_path, replace(OPTIONS, buckets="none"))
    assigned = stage.outcome.assigned.copy()
    assigned[:5, 0] = np.arange(120, 125)  # the second answers of these questions, from rows of others
    told = cautions_of(replace(stage, outcome=replace(stage.outcome, assigned=assigned)))
    assert any(one.startswith("5 of 180 questions have as a wrong answer what is right for the same") for one in told)


def test_right_answers_of_the_same_words_in_another_group_are_counted(tmp_path: Path) -> None:
    """Rows of one question in two documents gave each other's right answers as wrong ones, and nothing said so."""
    items = made()
    queries = [items.queries[row - row % 2] for row in range(len(items))]
    in_documents = items_of(queries, items.responses, [f"document {row}" for row in range(len(items))])
    stage = stage_of(in_documents, tmp_path / "documents", replace(OPTIONS, buckets="none"))
    n = sum(row ^ 1 in others for row, others in enumerate(stage.outcome.assigned.tolist()))
    assert n > 0
    said = f"{n} of {len(items)} questions have as a wrong answer what is right for the same words in another group"
    assert any(one.startswith(said) for one in cautions_of(stage))
    alone = stage_of(items_of(queries, items.responses), tmp_path / "alone", replace(OPTIONS, buckets="none"))
    assert not any("the same words in another group" in one for one in cautions_of(alone))


def test_right_answers_of_a_common_question_in_other_groups_are_counted_by_their_text(tmp_path: Path) -> None:
    """Such rows are not joined to one group, and were left out."""
    made = with_common_question(60)
    responses = [*made.responses[:60] * 2, *made.responses[120:]]  # those of the common question stand elsewhere, too
    items = items_of(made.queries, responses, [row.context.video for row in made.rows])
    stage = stage_of(items, tmp_path, replace(OPTIONS, buckets="none"))
    n = slow = 0
    for row, others in zip(items.rows, stage.outcome.assigned.tolist(), strict=True):
        asked = [one for one in items.rows if one.query == row.query and one.context.video != row.context.video]
        slow += any(items.rows[other].response in [one.response for one in asked] for other in others)
        n += any(items.rows[other] in asked for other in others)
    assert slow > n > 0
    told = f"{slow} of 360 questions have as a wrong answer what is right for the same words in another group"
    assert any(one.startswith(told) for one in cautions_of(stage))


def test_without_the_groups_no_row_gets_what_is_right_for_the_same_words(tmp_path: Path) -> None:
    """Rows of a question that was too common for one group were questions of their own, so that what was advised hid
    the fault."""
    named = with_common_question(60)
    alone = items_of(named.queries, named.responses)
    assert n_right_by_words(stage_of(named, tmp_path / "named")) > 0
    stage = stage_of(alone, tmp_path / "alone")
    assert n_with_question_elsewhere(alone, stage.plan.folds) == 60
    assert n_right_by_words(stage) == 0
    assert not any("have as a wrong answer what is right" in one for one in cautions_of(stage))


def test_a_question_too_common_to_avoid_its_right_answers_is_counted_in_whatever_folds(tmp_path: Path) -> None:
    stage = stage_of(items_of(["What happens next?"] * 360, made().responses), tmp_path)
    assert n_right_by_words(stage) == 360
    assert any(one.startswith("360 of 360 questions have as a wrong answer what") for one in cautions_of(stage))


def n_right_by_words(stage: Stage) -> int:
    """How many rows got what is right for the words of their query in another row."""
    items = stage.items
    right: dict[str, set[str]] = {}
    for query, response in zip(items.queries, items.responses, strict=True):
        right.setdefault(query, set()).add(response)
    return sum(
        any(items.responses[other] in right[items.queries[row]] for other in others)
        for row, others in enumerate(stage.outcome.assigned.tolist())
    )


def test_nothing_is_said_where_all_is_well(tmp_path: Path) -> None:
    assert cautions_of(stage_of(made(), tmp_path)) == []


def test_a_matching_whose_wrong_answers_are_not_preferred_is_told(tmp_path: Path) -> None:
    stage = stage_of(made(), tmp_path)
    own_first = np.sort(stage.outcome.relevance, axis=1)[:, ::-1]
    told = cautions_of(replace(stage, outcome=replace(stage.outcome, relevance=own_first)))
    assert any(one.startswith("The model of relevance tells the right answer from these wrong ones (") for one in told)
    assert any("choosing the shortest" in one for one in cautions_of(stage, ["choosing the shortest"]))


@pytest.mark.parametrize("share", [None, 0.25, 0.27])
def test_a_model_of_relevance_that_is_at_chance_is_not_said_to_tell_the_right_answer(
    share: float | None, tmp_path: Path
) -> None:
    """It was, at chance to the digit, as where all answers tie (None)."""
    stage = stage_of(made(), tmp_path)
    first = [int(row >= (share or 0) * 360) for row in range(360)]  # 0 where relevance prefers the right one
    relevance = np.ones((360, 4)) if share is None else np.eye(4)[first]
    told = cautions_of(replace(stage, outcome=replace(stage.outcome, relevance=relevance.astype(np.float32))))
    assert not any("tells the right answer from these wrong ones" in one for one in told)


def test_a_model_of_relevance_that_knows_nothing_is_told(tmp_path: Path) -> None:
    stage = stage_of(made(), tmp_path)
    luck = np.random.default_rng(0).random(len(stage.items), dtype=np.float32)
    (told,) = cautions_of(replace(stage, outcome=replace(stage.outcome, preferred=luck)))
    assert told.startswith("The model of relevance is not seen to know which answer belongs to a question")


def test_wrong_answers_that_repeat_their_question_are_counted(tmp_path: Path) -> None:
    items = made()
    queries = [f"{query} {items.responses[i - 1].upper()}!" for i, query in enumerate(items.queries)]
    stage = stage_of(items_of(queries, items.responses), tmp_path)
    copied = sum(
        any(text.upper() in query for text in texts) for query, texts in zip(queries, stage.wrong, strict=True)
    )
    assert copied > 0
    said = f"{copied} of 360 questions have a wrong answer of 3 words or more that stands word for word"
    assert said in cautions_of(stage)[0]
    assert is_copy("a dog runs.", "There: a dog  runs away")
    assert not is_copy("dog runs", "A dog runs away")
    assert not is_copy("a dog runs", "A dog runsaway")


def test_small_folds_are_told() -> None:
    items = made()
    options = replace(OPTIONS, folds=9)
    assert "has 38 rows, fewer than 50" in cautions_of_plan(items, plan_of(items, options))[0]


def test_wrong_answers_that_lost_a_tag_are_counted(tmp_path: Path) -> None:
    items = made()
    tagged = [f"[dog1] {text}" if i % 4 == 0 else text for i, text in enumerate(items.responses)]
    stage = stage_of(items_of(items.queries, tagged), tmp_path)
    bare = sum(text.startswith("dog ") for texts in stage.wrong for text in texts)
    assert n_that_lost_a_tag(stage) == bare > 0
    assert f"{bare} of {stage.outcome.assigned.size:,} wrong answers lost a tag" in cautions_of(stage)[0]


def test_more_distractors_than_rows_are_refused_for_that_reason() -> None:
    with pytest.raises(InputError, match=r"200 wrong answers .* need 201 rows or more .* has \d+\. Ask for fewer"):
        plan_of(made(), replace(OPTIONS, n_distractors=200))


def test_what_is_open_of_rationales_alone_says_so() -> None:
    cautions = {"answers": ["few rows", "both"], "rationales": ["both", "lost tags"]}
    assert caution_lines(cautions)[2:] == ["  few rows", "  both", "  Rationales: lost tags"]
    assert caution_lines({"answers": [], "rationales": []}) == []


@pytest.mark.parametrize("wrong", [{"n_distractors": 0}, {"folds": 1}, {"seed": -1}, {"top": 1}, {"weight": -0.1}])
def test_numbers_that_make_no_matching_are_refused_where_they_are_given(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')}"):
        MatchingOptions(**wrong)
