"""Claims about the work: folds apart, each response used once a round, killed anywhere it ends the same."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from swag_af.data.errors import InputError
from swag_af.matching.algorithm.work import Models, match_items, plan_of, preferred
from swag_af.matching.models.relevance import TfidfRelevance
from swag_af.matching.models.weights import Worth
from swag_af.matching.options import MatchingOptions
from swag_af.matching.rows.items import Items, items_of

OPTIONS = MatchingOptions(relevance="tfidf", folds=3, bucket_size=100)


def made(n: int = 360, seed: int = 0) -> Items:
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(40)]
    queries = [" ".join(rng.choice(words, 6)) + "?" for _ in range(n)]
    responses = [" ".join([*rng.choice(query.split(), 2), *rng.choice(words, 3)]) + "." for query in queries]
    return items_of(queries, responses, [f"movie {i}" for i in rng.integers(0, 30, n)])


def test_every_response_is_wrong_once_a_round_within_its_fold(tmp_path: Path) -> None:
    items = made()
    plan = plan_of(items, OPTIONS)
    (found,) = match_items(items, plan, OPTIONS, weights=[0.1], folder=tmp_path)
    for column in found.assigned.T:
        assert sorted(column.tolist()) == list(range(len(items)))
        assert (plan.folds[column] == plan.folds).all()
        assert (plan.buckets.numbers[column] == plan.buckets.numbers).all()
    assert (found.assigned != np.arange(len(items))[:, None]).all()
    assert len({tuple(sorted(row)) for row in found.assigned.tolist()}) > 1
    assert all(len(set(row)) == 3 for row in found.assigned.tolist())


def test_how_often_relevance_prefers_the_own_response_is_as_counted_one_by_one() -> None:
    rng = np.random.default_rng(0)
    relevance, texts = rng.integers(1, 5, (9, 9)) / 8, np.array([0, 0, 1, 2, 3, 4, 5, 5, 6])
    worth = Worth(relevance.astype(np.float32), np.zeros((9, 9), np.float32), texts, 0.1)
    for row, found in enumerate(preferred(worth)):
        others = [relevance[row, j] for j in range(9) if texts[j] != texts[row]]
        wins = [1.0 if other < relevance[row, row] else 0.5 * (other == relevance[row, row]) for other in others]
        assert found == pytest.approx(np.mean(wins))
    same = Worth(worth.relevance, worth.similarity, np.zeros(9, np.int64), 0.1)
    assert preferred(same).tolist() == [0.5] * 9


def twice_asked(n: int = 180) -> Items:
    """Questions with two right answers, a row each."""
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(60)]
    queries = [" ".join(rng.choice(words, 6)) + "?" for _ in range(n)]
    answers = [f"{query.split()[k]} {' '.join(rng.choice(words, 4))}." for k in (0, 1) for query in queries]
    return items_of(queries * 2, answers, [f"movie {i}" for i in range(n)] * 2)


@pytest.mark.parametrize("top", [None, 5])
def test_no_row_gets_what_is_right_for_its_own_question(top: int | None, tmp_path: Path) -> None:
    """Relevance likes such answers, so they were given as wrong ones."""
    items = twice_asked()
    options = replace(OPTIONS, top=top)
    plan = plan_of(items, options)
    (found,) = match_items(items, plan, options, weights=[0.1], folder=tmp_path)
    assert len(np.unique(items.questions)) == len(items) / 2
    assert (items.questions[found.assigned] != items.questions[:, None]).all()
    free = replace(items)
    object.__setattr__(free, "questions", np.arange(len(items)))
    (other,) = match_items(free, plan, options, weights=[0.1], folder=tmp_path / "free")
    assert (items.questions[other.assigned] == items.questions[:, None]).any(axis=1).mean() > 0.1


def answered_elsewhere() -> Items:
    """Questions with two right answers, a row each; the second is the right answer of another question as well."""
    items, rng = twice_asked(60), np.random.default_rng(4)
    others = [" ".join(rng.choice([f"v{i}" for i in range(60)], 6)) + "?" for _ in range(60)]
    again = items.responses[60:]
    groups = [item.context.video for item in items.rows]
    return items_of([*items.queries, *others], [*items.responses, *again], [*groups, *groups[60:]])


@pytest.mark.parametrize("top", [None, 5])
def test_no_row_gets_from_another_question_a_text_that_is_right_for_its_own(top: int | None, tmp_path: Path) -> None:
    """Rows of the question alone were forbidden, and their texts were given where another question has them."""
    items, options = answered_elsewhere(), replace(OPTIONS, buckets="none", top=top)
    (found,) = match_items(items, plan_of(items, options), options, weights=[0.1], folder=tmp_path)
    right = set(zip(items.questions.tolist(), items.responses, strict=True))
    pairs = zip(items.questions.tolist(), found.assigned.tolist(), strict=True)
    assert not any((question, items.responses[row]) in right for question, rows in pairs for row in rows)


def test_what_is_right_for_a_question_is_known_of_rows_of_all_buckets() -> None:
    items, rows = answered_elsewhere(), np.array([120, 0, 1, 61])  # right for question 0, question 0, 1 and 1
    slow = [[bool(items.texts[j] in items.texts[items.questions == items.questions[i]]) for j in rows] for i in rows]
    assert items.right_for(rows).tolist() == slow
    assert slow == [[True, *[False] * 3], [True, True, False, False], *[[False, False, True, True]] * 2]


@pytest.mark.parametrize("top", [None, 5])
def test_one_question_that_is_too_common_takes_nothing_from_the_others_of_its_bucket(
    top: int | None, tmp_path: Path
) -> None:
    """Others were given what is right for their own question too, since relevance likes that."""
    rng = np.random.default_rng(5)
    words = [f"w{i}" for i in range(60)]
    asked = [" ".join(rng.choice(words, 6)) + "?" for _ in range(52)]
    queries = asked[:40] + [query for query in asked[40:] for _ in range(5)] + ["What is there today?"] * 90
    answers = [f"{' '.join(query.split()[:3])} {' '.join(rng.choice(words, 4))}." for query in queries]
    items = items_of(queries, answers, ["first"] * 40 + ["second"] * 150)
    options = replace(OPTIONS, buckets="none", bucket_size=200, top=top)
    plan = plan_of(items, options, folds=np.repeat([0, 1], [40, 150]))
    (found,) = match_items(items, plan, options, weights=[0.1], folder=tmp_path)
    n_same = (items.questions[found.assigned] == items.questions[:, None]).sum(axis=1)
    assert n_same[-90:].sum() >= 3 * 30  # 90 rows, 60 answers to other questions
    assert n_same[:-90].sum() == 0


def test_the_same_words_about_other_videos_or_pictures_are_other_questions() -> None:
    items = items_of(["What is he doing?"] * 3, ["Running.", "Sitting.", "Cooking."], ["one", "one", "two"])
    assert [items.questions[0] == one for one in items.questions] == [True, True, False]
    rows = tuple(replace(row, media=f"{i}.jpg") for i, row in enumerate(items.rows))
    assert len(np.unique(replace(items, rows=rows).questions)) == 3
    rows = tuple(
        replace(row, context=replace(row.context, video="", media={"image": f"{i // 2}.jpg"}))
        for i, row in enumerate(items.rows)
    )
    assert replace(items, rows=rows).questions.tolist() == [0, 0, 1]


def test_groups_are_whole_in_folds() -> None:
    items = made()
    folds = plan_of(items, OPTIONS).folds
    assert all(len(set(folds[items.groups == group].tolist())) == 1 for group in range(int(items.groups.max()) + 1))


def test_what_was_kept_is_gone_on_with_to_the_same_end(tmp_path: Path) -> None:
    items = made()
    plan = plan_of(items, OPTIONS)
    (whole,) = match_items(items, plan, OPTIONS, weights=[0.1], folder=tmp_path / "whole")
    for path in sorted((tmp_path / "whole").rglob("*.npy")):
        target = tmp_path / "half" / path.relative_to(tmp_path / "whole")
        if path.parent.name < "bucket-0003" or path.name == "round-1.npy":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (resumed,) = match_items(items, plan, OPTIONS, weights=[0.1], folder=tmp_path / "half")
    assert (resumed.assigned == whole.assigned).all()
    files = sorted(path.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("*.npy"))
    assert all((tmp_path / "half" / f).read_bytes() == (tmp_path / "whole" / f).read_bytes() for f in files)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    items = made()
    shuffled = Items(tuple(items.rows[i] for i in np.random.default_rng(1).permutation(len(items))))
    results = [
        match_items(one, plan_of(one, OPTIONS), OPTIONS, weights=[0.1], folder=tmp_path / str(i))[0].assigned
        for i, one in enumerate((items, shuffled))
    ]
    assert (results[0] == results[1]).all()


class Spy:
    """Refuses to score a response that it learned from."""

    name: ClassVar[str] = "spy"
    fits: ClassVar[list[set[str]]] = []

    def fit(self, queries: list[str], responses: list[str], *, rng: np.random.Generator) -> None:
        self.fits.append(set(responses))

    def score(self, queries: list[str], responses: list[str]) -> np.ndarray:
        assert not self.fits[-1] & set(responses)
        return np.full((len(queries), len(responses)), 0.5, np.float32)


def test_relevance_reads_no_row_of_the_fold_that_it_scores(tmp_path: Path) -> None:
    items = made()
    options = replace(OPTIONS, relevance="tests.matching.test_work:Spy")
    match_items(items, plan_of(items, options), options, weights=[0.1], folder=tmp_path)
    assert len(import_module("tests.matching.test_work").Spy.fits) == 3  # pytest may have loaded it twice


def test_a_text_that_is_too_common_is_named_before_any_work() -> None:
    rows = [f"w{i} w{i + 1}?" for i in range(60)]
    items = items_of(rows, ["Yes."] * 20 + [f"it is w{i}." for i in range(40)])
    with pytest.raises(InputError, match=r"rows have the response 'Yes\.'"):
        plan_of(items, OPTIONS)


@pytest.mark.parametrize("similarity", ["lexical", "tests.matching.test_work:Letters"])
def test_texts_that_are_never_matched_are_counted_as_one(similarity: str) -> None:
    """They were told apart before any work, and a round failed after all scores."""
    common = ["Yes."] * 12 + ["Yes!"] * 12
    items = items_of([f"w{i} w{i + 1}?" for i in range(60)], common + [f"it is w{i} x{i}." for i in range(36)])
    options = replace(OPTIONS, folds=2, similarity=similarity, buckets="none")
    folds = np.arange(60) % 2
    if similarity == "lexical":
        with pytest.raises(InputError, match=r"12 of 30 rows have the response 'Yes\.' or one that means the same"):
            plan_of(items, options, folds=folds)
    else:
        assert len(plan_of(items, options, folds=folds).buckets.names) == 2
        models = Models(TfidfRelevance, Letters())
        assert len(plan_of(items, replace(options, similarity="lexical"), folds=folds, models=models).folds) == 60


@pytest.mark.parametrize(("common", "n"), [(["Yes."] * 30 + ["yes!"] * 30, 30), (["12", "12.0"] * 30, 30)])
def test_the_error_counts_all_that_are_never_matched(common: list[str], n: int) -> None:
    """It named 18 of 30 rows, those of exactly one text, and all 30 are one by the rule."""
    items = items_of([f"w{i} w{i + 1}?" for i in range(60)], common)
    with pytest.raises(InputError, match=rf"fold 0, none, other: {n} of 30 rows have the response '(Yes\.|12)'"):
        plan_of(items, replace(OPTIONS, folds=2, n_distractors=1, buckets="none"), folds=np.arange(60) // 2 % 2)


def test_numbers_of_one_value_are_one_text(tmp_path: Path) -> None:
    """A question had 12 and 12.0 as its right and as a wrong answer."""
    responses = [f"{i // 2}.0" if i % 2 else f"{i // 2}" for i in range(40)]
    items = items_of([f"w{i % 7} w{i % 5}?" for i in range(40)], responses)
    options = replace(OPTIONS, folds=2, buckets="none")
    (outcome,) = match_items(items, plan_of(items, options), options, weights=[0.0], folder=tmp_path)
    values = np.array([float(text) for text in items.responses])
    given = np.column_stack([values, values[outcome.assigned]])
    assert all(len(set(row)) == len(row) for row in given.tolist())


class Letters:
    """Says of no two texts beforehand that they mean the same."""

    name: ClassVar[str] = "letters"

    def score(self, first: list[str], second: list[str]) -> np.ndarray:
        return np.array([[one == other for other in second] for one in first], np.float32)


def halves(texts: list[str], common: int) -> Items:
    """120 rows of two movies, a fold each; half of the answers are of a woman, and so many of these the same."""
    responses = [f"{'She' if i < 60 else 'It'} is {text}." for i, text in enumerate(texts)]
    responses = ["She does."] * common + responses[common:]
    return items_of([f"Is {text} there?" for text in texts], responses, [f"movie {i % 2}" for i in range(120)])


@pytest.mark.parametrize(("common", "helps"), [(24, True), (40, False)])
def test_matching_without_buckets_is_advised_where_it_would_do(common: int, helps: bool) -> None:
    """It was advised where all rows were enough for a text, and those of its fold too few; and where it was given."""
    options = MatchingOptions(relevance="tfidf", folds=2, bucket_size=100, smallest_bucket=20)
    items = halves([f"w{i} x{i}" for i in range(120)], common)
    with pytest.raises(InputError, match=r"She does\.") as told:
        plan_of(items, options)
    assert ("--buckets none" in str(told.value)) is helps
    without = replace(options, buckets="none")
    if helps:
        assert len(plan_of(items, without).buckets.names) == 2
        return
    with pytest.raises(InputError, match=r"She does\.") as told:
        plan_of(items, without)
    assert "--buckets none" not in str(told.value)


@pytest.mark.parametrize("buckets", ["auto", "none"])
def test_rows_of_other_folds_are_no_help_to_a_text_that_is_too_common(buckets: str) -> None:
    """A quarter of all rows, and half of a fold."""
    items = items_of(
        [f"is w{i} x{i} there?" for i in range(120)],
        ["Yes."] * 30 + [f"it is w{i} x{i}." for i in range(90)],
        [f"movie {int(i >= 60)}" for i in range(120)],
    )
    with pytest.raises(InputError, match=r"30 of 60 rows have the response 'Yes\.'") as told:
        plan_of(items, MatchingOptions(folds=2, bucket_size=200, buckets=buckets))
    assert "--buckets none" not in str(told.value)


def test_own_buckets_keep_their_words_apart() -> None:
    items = made()
    plan = plan_of(items, MatchingOptions(folds=2, buckets="tests.matching.test_work:by_length"))
    kinds = by_length(items.queries, items.responses)
    assert all(len({kinds[row] for row in plan.buckets.rows(i)}) == 1 for i in range(len(plan.buckets.names)))


def by_length(queries: list[str], responses: list[str]) -> list[str]:
    return [f"of {len(response) % 2}" for response in responses]


def test_each_lambda_is_matched_as_if_it_were_alone(tmp_path: Path) -> None:
    items = made()
    plan = plan_of(items, OPTIONS)
    together = match_items(items, plan, OPTIONS, weights=[0.01, 1.0], folder=tmp_path / "both")
    (alone,) = match_items(items, plan, OPTIONS, weights=[1.0], folder=tmp_path / "one")
    assert (together[1].assigned == alone.assigned).all()
    assert together[0].similarity.mean() > together[1].similarity.mean()
