"""The judge: answers read or counted as ties, orders that places decide nothing in, likelihoods by a plain twin."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from hypothesis import example, given
from hypothesis import strategies as st
from judges import (
    FakeServer,
    has_opinions,
    knows_nothing,
    knows_style,
    log_probability,
    prefers_a,
    refuses,
)

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.probes.probe import probe
from swag_af.auditing.runs.audit import audit_pool
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.data.runs.findings import Finding
from swag_af.data.runs.run import Run
from swag_af.endpoints.contract import Abilities, Answer
from swag_af.filters.checking import check_filter
from swag_af.filters.contract import score_questions
from swag_af.filters.judge.answers import LETTERS, YES_NO, named_in, shares_of
from swag_af.filters.judge.asking import UNSCORED, Question
from swag_af.filters.judge.judge import JudgeFilter
from swag_af.filters.judge.orders import has_unseen_orders, orders_of, unseen_orders_of
from swag_af.filters.registry import make_filter

ABCD = LETTERS[:4]
READS = Abilities("fake", completions=True, echo_logprobs=True)
N_NEGATIVES = 3


def judge(server: FakeServer, **settings: object) -> JudgeFilter:
    return JudgeFilter(url=server.url, asker=server, **settings)


def marked_pool(n: int = 40) -> CandidatePool:
    """Golds have a word that no negative has."""
    contexts = make_contexts_of(n, n_videos=10)
    negatives = [[f"sees {k} birds and {i} trees." for k in range(N_NEGATIVES)] for i in range(n)]
    return CandidatePool.from_texts(contexts, negatives, tagger="none")


def all_of(pool: CandidatePool) -> View:
    return pool.view(np.arange(len(pool)), np.tile(np.arange(1 + N_NEGATIVES), (len(pool), 1)))


def audited(filter: JudgeFilter) -> Finding:
    pool = marked_pool()
    (found,) = audit_pool(pool, all_of(pool).columns, [filter], n_folds=2)
    return found


# ------------------------------------------------------------------------------------------------ reading answers


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("B", 1),
        (" b.", None),
        ("(B) because of the word", 1),
        ("**C**", 2),
        ("D) it falls.", 3),
        ("The answer is B.", 1),
        ("Answer: C\nIt has more words.", 2),
        ("A\nIt has the mark.", 0),
        ('{"answer": "C"}', 2),
        ("A dog runs off.", None),
        ("A or B.", None),
        ("E.", None),
        ("Option A is wrong, so the answer is B", 1),
        ("Option A does not fit. C", 2),
        ("Option B", 1),
        ("The correct option is B, as option C repeats it.", 1),
        ("B is the best choice. Option A contradicts the context.", None),
        ("Option A is implausible, so I choose B.", None),
        ("It is B rather than option C.", None),
        ("B seems right. The answer A would contradict it.", None),
        ("B fits best.\nChoice A is odd.", None),
        ("B\nOption A is implausible.", 1),
        ('{"reason": "Option A is implausible.", "answer": "B"}', 1),
        ('{"reasoning": "Option A is odd.", "letter": "B"}', 1),
        ('{"first": "A", "second": "B"}', None),
        ("A) is wrong. The answer is B.", None),
        ("A. Wrong\nB. Wrong\nC. Right\nAnswer: C", None),
        ("**A** is unlikely.\n\nThe answer is **C**.", None),
        ("C. It fits.\nAnswer: C", 2),
        ("None of the others fits.\nC", 2),
        ("A: no\nB: yes\nC: no", None),
        ("A) is wrong. B) is right.", None),
        ("A - no, B - yes", None),
        ("A\nB\nC\nD", None),
        ("A: no\nB: yes\nI am sure.", None),
        ("A) wrong\nB) right, since\n  it follows\nC) wrong", None),
        ("A. No.\nB. Yes.\nC. No.\n\nB is right.", None),
        ("B\n\nA) is odd.\nB) fits.", 1),
        ("A\n\nA) fits.\nB) is odd.", 0),
        ("I'm sorry, I can't help with that.", None),
        ("", None),
    ],
)
def test_a_letter_is_read_where_one_is_said(text: str, place: int | None) -> None:
    assert named_in(text, ABCD) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("A. It fits best. B, C and D do not follow.", 0),
        ("A\n\nB: he has no car.\nC: no car either.", 0),
        ("C\n\nA: he has no car.\nB: no car either.", 2),
        ("D) fits.\nA) no car\nB) no car\nC) no car", None),
    ],
)
def test_an_answer_is_read_beside_remarks_on_the_others_whichever_it_is(text: str, place: int | None) -> None:
    """It was thrown away where it was the first option, and a list that began with another one was an answer."""
    assert named_in(text, ABCD) == place


PIECES = ["\0", "\1", "\2", "\3", ". ", ") ", ": ", "\n", ", ", " - ", "**", " and ", "Answer: ", "it fits", "no car"]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14), st.permutations(range(4)))
@example([p for i in range(4) for p in (f"{i:c}", ") ", "no car", "\n")], [3, 0, 1, 2])
@example(["\0", ". ", "it fits", ". ", "\1", ", ", "\2", " and ", "\3", "no car"], [1, 0, 2, 3])
def test_all_letters_are_read_alike(pieces: list[str], order: list[int]) -> None:
    text = "".join(pieces)
    named = named_in(text.translate(dict(enumerate(ABCD))), ABCD)
    assert named_in(text.translate({i: ABCD[one] for i, one in enumerate(order)}), ABCD) == (
        None if named is None else order[named]
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("I'm sorry, I can't help with that.", None),
        ("I'd say that it is open.", None),
        ("I'm not sure, but the answer is C.", 2),
        ("I", 8),
        ("I. It fits.", 8),
        ("'I'", 8),
        ("The answer is A or B.", None),
        ("A, B and C are wrong, so D.", None),
        ("A and B", None),
        ("D'accord, B", None),
        ("B, because it fits.", 1),
    ],
)
def test_of_many_letters_a_refusal_is_none_and_two_are_none(text: str, place: int | None) -> None:
    """`I'm sorry` counted as a vote for the ninth option."""
    assert named_in(text, "ABCDEFGHIJ") == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("yes", 0),
        ("No, it is not.", 1),
        ("**Yes**", 0),
        ("Nobody knows.", None),
        ('{"why": "It is odd.", "verdict": "no"}', 1),
        ("Yes. No, nothing contradicts it.", 0),
        ("No. Yes, it is odd.", 1),
        ("No. Yes.", None),
    ],
)
def test_yes_and_no_are_read_in_any_case(text: str, place: int | None) -> None:
    assert named_in(text, YES_NO) == place


THOUGHT = "<think>Option A looks as if it had been written. Is the answer A? No.</think>"


@pytest.mark.parametrize(
    ("text", "end", "place"),
    [
        (f"{THOUGHT}\n\nC", "stop", 2),
        ("</think>\n\nB", "stop", 1),
        ("<think>Is the right answer D?", "length", None),
        ("<think>Is the right answer D?", "stop", None),
        ("Option A seems less natural, because it", "length", None),
        ("B) because it", "length", 1),
    ],
)
def test_a_letter_in_thoughts_or_in_a_remark_that_is_cut_off_is_no_answer(text: str, end: str, place: int) -> None:
    answer = Answer({"choices": [{"message": {"content": text}, "finish_reason": end}]})
    shares = shares_of(answer, ABCD)
    assert (None if shares is None else int(shares.argmax())) == place


def chat_answer(text: str, tops: dict[str, float]) -> Answer:
    listed = [{"token": token, "logprob": float(np.log(p))} for token, p in tops.items()]
    content = [{"token": next(iter(tops)), "logprob": listed[0]["logprob"], "top_logprobs": listed}]
    return Answer({"choices": [{"message": {"content": text}, "logprobs": {"content": content}}]})


def test_log_probabilities_give_shares_among_the_names_alone() -> None:
    answer = chat_answer("B", {"B": 0.4, " A": 0.2, "The": 0.4})
    np.testing.assert_allclose(shares_of(answer, ABCD), [1 / 3, 2 / 3, 0, 0])


def test_an_article_is_no_letter_and_yes_is_yes_in_any_case() -> None:
    answer = chat_answer("B", {"B": 0.4, " a": 0.3, "A": 0.1})
    np.testing.assert_allclose(shares_of(answer, ABCD), [0.2, 0.8, 0, 0])
    answer = chat_answer("Yes", {"Yes": 0.4, " yes": 0.2, "no": 0.2})
    np.testing.assert_allclose(shares_of(answer, YES_NO), [0.75, 0.25])


def test_completions_give_the_same_shares() -> None:
    logprobs = {"tokens": [" B"], "top_logprobs": [{" B": np.log(0.4), " A": np.log(0.2), "The": np.log(0.4)}]}
    answer = Answer({"choices": [{"text": " B", "logprobs": logprobs}]})
    np.testing.assert_allclose(shares_of(answer, ABCD), [1 / 3, 2 / 3, 0, 0])


def test_a_first_token_that_was_not_what_is_said_decides_nothing() -> None:
    answer = chat_answer("The answer is C", {"The": 0.9, "A": 0.1})
    np.testing.assert_array_equal(shares_of(answer, ABCD), [0, 0, 1, 0])


def test_an_answer_that_was_refused_says_nothing() -> None:
    assert shares_of(Answer({"choices": [{"text": "A"}]}, error="refused_400"), ABCD) is None


# ---------------------------------------------------------------------------------------------------------- orders


options = st.lists(st.text("abcdef ", min_size=1, max_size=6), min_size=2, max_size=6, unique=True)


@given(options, st.integers(1, 13), st.integers(0, 99), st.randoms())
def test_orders_follow_the_texts_and_not_their_places(texts: list[str], n: int, seed: int, random: object) -> None:
    other = texts[:]
    random.shuffle(other)
    shown = [[texts[i] for i in order] for order in orders_of(texts, n, seed=seed)]
    assert shown == [[other[i] for i in order] for order in orders_of(other, n, seed=seed)]


@given(options, st.integers(1, 3), st.integers(0, 99))
def test_every_option_stands_in_every_place_as_often(texts: list[str], blocks: int, seed: int) -> None:
    m = len(texts)
    orders = orders_of(texts, blocks * m, seed=seed)  # (blocks * m, m)
    for place in range(m):
        assert np.bincount(orders[:, place], minlength=m).tolist() == [blocks] * m


@pytest.mark.parametrize(
    ("m", "n", "is_exact"), [(4, 4, True), (2, 4, True), (5, 5, True), (5, 4, False), (3, 4, False)]
)
def test_who_always_says_a_is_at_chance_exactly_in_whole_blocks_and_else_on_average(
    m: int, n: int, is_exact: bool
) -> None:
    """It was said to be exact in any number of orders."""
    hits = []
    for i in range(1000):
        named = np.bincount(orders_of([f"text {i} {k}" for k in range(m)], n, seed=0)[:, 0], minlength=m)
        hits.append(float(named[0] == named.max()) / (named == named.max()).sum())  # option 0 is right
    assert (set(hits) == {1 / m}) is is_exact
    assert np.mean(hits) == pytest.approx(1 / m, abs=4 * np.std(hits) / len(hits) ** 0.5 + 1e-9)


@pytest.mark.parametrize("orders", [1, 4])
def test_who_always_says_a_is_at_chance_where_all_questions_have_the_same_options(orders: int) -> None:
    """All of them were shown in one order, so that to prefer a place was to prefer the commonest answer."""
    questions = [Question(f"Is it so in room {i}?", ("yes", "no", "maybe")) for i in range(600)]
    shown = [
        first for verdicts in judge(FakeServer(), by="letter", orders=orders).verdicts(questions) for first in verdicts
    ]
    said = np.bincount([int(one.order[0]) for one in shown], minlength=3) / len(shown)
    assert np.abs(said - 1 / 3).max() < 4 * (2 / 9 / 600) ** 0.5


def test_another_draw_is_another_order() -> None:
    texts = [f"text {i}" for i in range(8)]
    assert orders_of(texts, 3, seed=0).tolist() != orders_of(texts, 3, seed=0, draw="again").tolist()


@given(st.integers(2, 5), st.integers(1, 13), st.integers(0, 99))
def test_orders_that_were_not_shown_are_new_distinct_and_as_many(m: int, n: int, seed: int) -> None:
    texts = [f"text {i}" for i in range(m)]
    shown = set(map(tuple, orders_of(texts, n, seed=seed, draw="first").tolist()))
    is_left = math.factorial(m) - len(shown) >= n
    assert has_unseen_orders(texts, n, seed=seed, shown="first") == is_left
    if not is_left:
        with pytest.raises(InputError, match=rf"{m} options: not {n} orders"):
            unseen_orders_of(texts, n, seed=seed, draw="again", shown="first")
        return
    found = set(map(tuple, unseen_orders_of(texts, n, seed=seed, draw="again", shown="first").tolist()))
    assert len(found) == n
    assert not found & shown
    assert {tuple(sorted(order)) for order in found} == {tuple(range(m))}


def test_of_orders_that_were_not_shown_every_option_stands_in_every_place_as_often() -> None:
    texts = [f"text {i}" for i in range(4)]
    for seed in range(30):
        orders = unseen_orders_of(texts, 8, seed=seed, draw="again", shown="first")
        assert all(np.bincount(orders[:, place]).tolist() == [2] * 4 for place in range(4))


# -------------------------------------------------------------------------------------------------- the contract


def by_words(text: str) -> bool:
    return "x1x" in text


@pytest.mark.parametrize("settings", [{"by": "yes"}, {"by": "yes", "see": "options"}])
def test_judgements_of_single_candidates_keep_the_contract(settings: dict[str, object]) -> None:
    check_filter(lambda: judge(FakeServer(is_right=by_words), **settings))


@pytest.mark.parametrize("see", ["full", "options"])
@pytest.mark.parametrize("way", ["echo_logprobs", "prompt_logprobs"])
def test_likelihoods_keep_the_contract_and_are_those_of_a_plain_sum(see: str, way: str) -> None:
    server = FakeServer(can=Abilities("fake", completions=True, **{way: True}))
    check_filter(lambda: judge(server, see=see))
    view = all_of(marked_pool(4))
    before = "A woman stands in room 2 of the house. The tall man" if see == "full" else "Text:"
    text = f"{before} {view.texts[2][1]}"
    begin = len(before) // 3 * 3  # a token across the border belongs to the ending
    plain = sum(log_probability(text[:j], text[j]) for j in range(begin, len(text)))
    assert judge(server, see=see).score(view)[2, 1] == pytest.approx(plain / len(f" {view.texts[2][1]}"))


def test_a_server_that_reads_texts_is_asked_for_likelihoods_unless_told_otherwise() -> None:
    server = FakeServer(can=READS)
    judge(server).score(all_of(marked_pool(2)))
    assert not any("Say" in prompt for prompt in server.prompts)
    server = FakeServer(is_right=by_words)
    judge(server).score(all_of(marked_pool(2)))
    assert all("Say Yes or No" in prompt for prompt in server.prompts)


def test_a_server_without_log_probabilities_is_refused_for_likelihoods() -> None:
    with pytest.raises(InputError, match="Take by=yes"):
        judge(FakeServer(), by="likelihood").check()


def test_where_a_chat_is_wanted_the_server_is_asked() -> None:
    """It was sent texts at /v1/completions."""
    server = FakeServer(can=replace(READS, chat=True), is_right=by_words)
    judge(server, api="chat").score(all_of(marked_pool(2)))
    assert all("Say Yes or No" in prompt for prompt in server.prompts)
    with pytest.raises(InputError, match="by=likelihood reads texts, and api=chat asks"):
        judge(server, api="chat", by="likelihood").check()


def test_a_text_is_sent_with_the_limit_as_the_server_calls_it() -> None:
    class Noting(FakeServer):
        def _answer(self, body: dict[str, object]) -> Answer:
            assert body["max_completion_tokens"] == 1
            assert "max_tokens" not in body
            return super()._answer(body)

    server = Noting(can=Abilities("fake", completions=True, echo_logprobs=True, limit="max_completion_tokens"))
    judge(server).score(all_of(marked_pool(2)))
    assert server.prompts


def test_a_model_is_asked_at_the_temperature_that_it_takes() -> None:
    class Noting(FakeServer):
        def _answer(self, body: dict[str, object]) -> Answer:
            taken.add(body["temperature"])
            return super()._answer(body)

    taken: set[object] = set()
    view = all_of(marked_pool(2))
    judge(Noting(is_right=by_words)).score(view)
    made = judge(Noting(is_right=by_words), temperature=1.0)
    made.score(view)
    assert taken == {0, 1.0}
    assert made.settings()["temperature"] == 1.0
    with pytest.raises(InputError, match="temperature=-1, 0 or more"):
        judge(FakeServer(), temperature=-1.0).check()


@pytest.mark.parametrize(("can", "api"), [(Abilities("fake"), "auto"), (READS, "chat")])
def test_a_server_that_gives_no_text_where_it_is_asked_is_refused(can: Abilities, api: str) -> None:
    with pytest.raises(InputError, match=r"http://fake/chat/completions.*: gave no text"):
        judge(FakeServer(can=can), api=api).check()


def test_gaps_in_log_probabilities_are_an_error_and_no_score() -> None:
    class Gaps(FakeServer):
        def _answer(self, body: object) -> Answer:
            return Answer({"choices": [{"text": "x", "logprobs": None}]})

    with pytest.raises(InputError, match="no log-probabilities"):
        judge(Gaps(can=READS)).score(all_of(marked_pool(2)))


class Refusing(FakeServer):
    """Does not read the second ending of row 1."""

    def _answer(self, body: dict[str, object]) -> Answer:
        return Answer({}, "context_too_long") if "6 birds and 1 " in str(body) else super()._answer(body)


def view_with_a_refused_text() -> View:
    negatives = [[f"sees {k + 5} birds and {i} trees." for k in range(N_NEGATIVES)] for i in range(4)]
    return all_of(CandidatePool.from_texts(make_contexts_of(4, n_videos=4), negatives, tagger="none"))


def test_a_question_of_which_a_text_is_refused_is_a_tie_and_counted() -> None:
    """One text that was too long ended the audit for good."""
    view = view_with_a_refused_text()
    made = judge(Refusing(can=READS), by="likelihood")
    scores, plain = score_questions(made, view), judge(FakeServer(can=READS), by="likelihood").score(view)
    np.testing.assert_array_equal(scores[1], np.zeros(4))
    np.testing.assert_array_equal(scores[[0, 2, 3]], plain[[0, 2, 3]])
    assert made.said()[1:] == [
        "judge[http://fake]: 1 of 16 answers could not be read and count as ties, of one text in a run as the lowest "
        "score (context_too_long 1)"
    ]


def test_a_refused_text_changes_no_score_of_its_neighbours() -> None:
    """They were all 0, the highest log-likelihood that there is, in the call that asked about it and in no other."""
    view = view_with_a_refused_text()
    made = judge(Refusing(can=READS), by="likelihood")
    plain = judge(FakeServer(can=READS), by="likelihood").score(view)
    plain[1, 2] = UNSCORED
    np.testing.assert_array_equal(made.score(view), plain)
    alone = [made.score(View(view.pool, view.rows, view.columns[:, k : k + 1])) for k in range(4)]
    np.testing.assert_array_equal(np.concatenate(alone, axis=1), plain)


def test_what_is_hidden_is_not_sent() -> None:
    for by in ("yes", "letter"):
        server = FakeServer(is_right=by_words)
        judge(server, see="options", by=by).score(all_of(marked_pool(3)))
        assert server.prompts
        assert not any("room" in prompt or "tall man" in prompt for prompt in server.prompts)


@pytest.mark.parametrize("unread", ["horse", "sees 1 birds"])
def test_a_question_of_which_one_text_gets_no_answer_that_can_be_read_is_a_tie(unread: str) -> None:
    """It had even odds, more than a text answered No: unread gold was right, an unread wrong option made it wrong."""
    view = all_of(marked_pool(3))
    made = judge(FakeServer(is_right=lambda text: None if unread in text else False), by="yes")
    np.testing.assert_array_equal(score_questions(made, view), np.zeros((3, 4)))
    assert made.said()[1:] == [
        "judge[http://fake]: 3 of 12 answers could not be read and count as ties, of one text in a run as the lowest "
        "score (unreadable 3)"
    ]


def test_no_candidate_enters_a_run_by_an_answer_that_cannot_be_read() -> None:
    """It passed for one that is more like gold than those that were answered No."""
    server = FakeServer(is_right=lambda text: None if "sees 2 birds" in text else "horse" in text)
    run = filter_pool(marked_pool(), judge(server, by="yes"), AFOptions(iterations=3, n_negatives=1))
    entered = run.assignment()[:, 1][run.assignment()[:, 1] != run.assignment(0)[:, 1]]
    assert not (entered == 3).any()
    assert sum(one.n_easy for one in run.log) > 0


def test_beside_a_gold_that_cannot_be_judged_nothing_is_easy() -> None:
    server = FakeServer(is_right=lambda text: None if "horse" in text else False)
    run = filter_pool(marked_pool(), judge(server, by="yes"), AFOptions(iterations=3, n_negatives=1))
    assert sum(one.n_easy for one in run.log) == 0
    np.testing.assert_array_equal(run.assignment(), run.assignment(0))


def test_wrong_endings_that_cannot_be_judged_are_no_win_for_gold() -> None:
    """They ranked below gold in the loop, and tied with it in audits."""
    server = FakeServer(is_right=lambda text: True if "horse" in text else None)
    run = filter_pool(marked_pool(), judge(server, by="yes"), AFOptions(iterations=2, n_negatives=1))
    assert [one.accuracy for one in run.log] == [{"judge": 0.5}] * 2
    np.testing.assert_array_equal(run.assignment(), run.assignment(0))  # none that is read could enter


def test_a_wrong_ending_that_cannot_be_judged_leaves_for_one_that_can() -> None:
    """It stayed for good: its row was a tie, in which nothing was easy."""
    server = FakeServer(is_right=lambda text: None if "sees 2 birds" in text else "horse" in text)
    run = filter_pool(marked_pool(), judge(server, by="yes"), AFOptions(iterations=40, n_negatives=1))
    assert (run.assignment(0)[:, 1] == 3).any()
    assert not (run.assignment()[:, 1] == 3).any()


def test_a_run_goes_on_at_the_model_that_began_it_alone(tmp_path: Path) -> None:
    """Two measurements were mixed: the model and the way stand in no setting where the server chooses them."""
    pool, first = marked_pool(), FakeServer(can=replace(READS, model="one"))
    second = FakeServer(can=Abilities("two", chat=True), is_right=by_words)

    def run_by(server: FakeServer, iterations: int) -> Run:
        options = AFOptions(iterations=iterations, n_negatives=1)
        return filter_pool(pool, judge(server), options, out=tmp_path / "run")

    run_by(first, 1)
    with pytest.raises(InputError, match=r"model \(one, now two\), .*by \(likelihood, now yes\)"):
        run_by(second, 2)
    assert run_by(first, 2).n_finished == 2


def test_a_run_that_does_not_say_who_answered_goes_on(tmp_path: Path) -> None:
    pool, path = marked_pool(), tmp_path / "run"
    filter_pool(pool, judge(FakeServer(can=READS)), AFOptions(iterations=1, n_negatives=1), out=path)
    manifest = read_json(path / "manifest.json")
    write_json(path / "manifest.json", {name: one for name, one in manifest.items() if name != "answered_by"})
    other = judge(FakeServer(can=replace(READS, model="two")))
    assert filter_pool(pool, other, AFOptions(iterations=2, n_negatives=1), out=path).n_finished == 2


def test_no_request_is_sent_twice_in_a_call() -> None:
    server = FakeServer(is_right=by_words)
    view = all_of(marked_pool(3))
    twice = View(view.pool, np.repeat(view.rows, 2), np.repeat(view.columns, 2, axis=0))
    judge(server, by="yes").score(twice)
    assert len(server.asked) == 12
    assert set(server.asked.values()) == {1}


# -------------------------------------------------------------------------------------------------- whole questions


def test_a_loop_refuses_a_judge_that_reads_rows_together() -> None:
    with pytest.raises(InputError, match="by=letter"):
        filter_pool(marked_pool(), judge(FakeServer(), by="letter"))


def test_who_knows_the_style_of_gold_finds_it_by_letter() -> None:
    assert audited(judge(FakeServer(knows_style("horse")), by="letter")).accuracy == 1


def test_who_prefers_a_place_is_at_chance_exactly() -> None:
    assert audited(judge(FakeServer(prefers_a), by="letter")).accuracy == 0.25


@pytest.mark.parametrize("by", ["yes", "letter", "likelihood"])
def test_a_server_that_refuses_whatever_it_is_asked_is_no_judge_at_chance(by: str) -> None:
    class Refusing(FakeServer):
        def _answer(self, body: object) -> Answer:
            return Answer({}, "refused_400", "no temperature but 1")

    with pytest.raises(InputError, match=r"http://fake: refuses every request \(refused_400: no temperature but 1\)"):
        audited(judge(Refusing(can=replace(READS, chat=True)), by=by))


@pytest.mark.parametrize("chooses", [knows_nothing, has_opinions])
def test_who_knows_nothing_is_not_told_from_chance(chooses: object) -> None:
    found = audited(judge(FakeServer(chooses), by="letter"))
    assert found.low <= 0.25 <= found.high


def test_scores_by_letter_follow_the_candidates() -> None:
    view = all_of(marked_pool(8))
    order = np.random.default_rng(0).permuted(view.columns, axis=1)
    scores = judge(FakeServer(knows_nothing), by="letter").score(view)
    permuted = judge(FakeServer(knows_nothing), by="letter").score(view.permute(order))
    np.testing.assert_array_equal(permuted, np.take_along_axis(scores, order, axis=1))


def test_a_candidate_that_stands_twice_in_a_row_is_shown_once() -> None:
    view = all_of(marked_pool(2))
    server = FakeServer(knows_style("horse"))
    doubled = View(view.pool, view.rows, view.columns[:, [0, 1, 0, 1]])
    scores = judge(server, by="letter", orders=2).score(doubled)
    assert not any("\nC. " in prompt for prompt in server.prompts)
    np.testing.assert_array_equal(scores, [[1, 0, 1, 0]] * 2)


def test_places_and_what_could_not_be_read_are_told_once() -> None:
    made = judge(FakeServer(prefers_a), by="letter")
    made.score(all_of(marked_pool(5)))
    assert made.said() == [
        "judge[http://fake]: the model that answered: fake",
        "judge[http://fake]: places named, of 4 options: A 100.0 %, B 0.0 %, C 0.0 %, D 0.0 % (without a preference "
        "25.0 % each)",
    ]
    assert made.said() == []
    made = judge(FakeServer(lambda texts: 0 if "the 1th horse" in " ".join(texts) else None), by="letter")
    made.score(all_of(marked_pool(5)))
    told, _ = made.said()[1:]
    assert told == "judge[http://fake]: 16 of 20 answers could not be read and count as ties (unreadable 16)"


def test_a_judge_none_of_whose_letters_can_be_read_is_no_reader_at_chance() -> None:
    """It would end a run as a reader that tells gold from nothing."""
    few = View(marked_pool(5), np.arange(1), np.arange(4)[None])
    assert judge(FakeServer(refuses), by="letter").score(few).tolist() == [[0.25] * 4]
    with pytest.raises(InputError, match=r'http://fake: not one of 20 answers names an option \(one says "I\'d rather'):
        judge(FakeServer(refuses), by="letter").score(all_of(marked_pool(5)))


def test_more_options_than_letters_are_refused() -> None:
    made = judge(FakeServer(), by="letter")
    with pytest.raises(InputError, match="26 options at most"):
        made.of_questions([Question("", tuple(f"text {i}" for i in range(27)))])


def test_a_reason_is_kept_with_the_letter() -> None:
    (verdicts,) = judge(FakeServer(knows_style("horse")), by="letter").verdicts(
        [Question("", ("a cow", "a horse"))], reason=True
    )
    assert {verdict.text.splitlines()[1] for verdict in verdicts} == {"It has the mark."}
    assert all(verdict.shares.tolist() == [0, 1] for verdict in verdicts)


def questions_of_different_sizes() -> Instances:
    """Every right option has a mark."""
    rows = []
    for i in range(30):
        options = [f"walks {k + i} miles" for k in range(2 + i % 3)]
        options[i % len(options)] += " zip"
        rows.append(Instance(f"q{i}", f"Scene {i * 31}.", tuple(options), i % len(options)))
    return Instances(tuple(rows), "choices")


def test_a_judge_is_a_probe_of_any_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    server = FakeServer(knows_style("zip"))
    data = questions_of_different_sizes()
    assert probe(data, "options", judge(server, by="letter")).hits.mean() == 1
    assert not any("Scene" in prompt for prompt in server.prompts)
    assert "places named, of 4 options" in capsys.readouterr().err
    full = FakeServer(knows_style("zip"))
    probe(data, "full", judge(full, by="letter"))
    assert all("Scene" in prompt for prompt in full.prompts)
    unread = FakeServer(lambda texts: None if len(texts) > 2 else 0)
    hits = probe(data, "options", judge(unread, by="letter")).hits
    np.testing.assert_allclose(hits, data.chance)


def test_settings_stand_in_brackets() -> None:
    made = make_filter("judge[http://localhost:8000/v1,see=options,by=letter,orders=5,max_requests=100]")
    assert isinstance(made, JudgeFilter)
    assert (made.see, made.by, made.orders, made.max_requests) == ("options", "letter", 5, 100)
    assert made.endpoint_options().max_requests == 100
    assert "max_requests" not in made.settings()


def test_the_filter_has_a_name_and_its_address_in_brackets() -> None:
    made = make_filter("judge[http://localhost:8000/v1]")
    assert isinstance(made, JudgeFilter)
    assert made.url == "http://localhost:8000/v1"
