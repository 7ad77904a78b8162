"""Claims about likelihoods from servers: the scorer's contract, a slow twin, borders, servers that give none."""

from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from mock_server import ABLE, Asked, MockServer, Said, answer, nats_of, tokens_of

from swag_af.data.context import Context, phrase
from swag_af.data.errors import ContractError, ExhaustedError, InputError
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.endpoint.scorer import EndpointScorer, _Reading, _Row
from swag_af.lm.scorers.checking import check_scorer
from swag_af.lm.scorers.contract import COLUMNS
from swag_af.lm.scorers.registry import make_scorer

CONTEXTS = make_contexts_of(5, n_videos=5)
ENDINGS = [[f"sees {k} birds and {i} trees." for k in range(3 + i % 2)] for i in range(5)]
VLLM = (ABLE - {"echo"}) | {"prompt_logprobs"}


@pytest.mark.parametrize("able", [ABLE, VLLM], ids=["echo", "prompt_logprobs"])
def test_it_keeps_the_contract_with_servers_that_read_prompts(able: frozenset[str]) -> None:
    with MockServer(able=able) as server:
        check_scorer(lambda: EndpointScorer(server.url), CONTEXTS, ENDINGS)


def nats(text: str, begin: int, end: int) -> list[float]:
    """The slow way: of every token of the mock that ends behind `begin`, up to `end`."""
    found, at = [], 0
    for token in tokens_of(text):
        if begin < at + len(token) <= end:
            found.append(-nats_of(text[:at], token))
        at += len(token)
    return found


def columns(context: str, ending: str) -> list[float]:
    after, before = f"\n{context} {ending}", f"\n{ending} {context}"
    border, turned = 1 + len(context), 1 + len(ending)
    given = nats(after, border, len(after))
    return [
        float(np.mean(part))
        for part in (
            given,
            nats(before, 1, turned),
            nats(before, turned, len(before)),
            nats(f"\n{context}", 1, border),
            given[-1:],
        )
    ]


@pytest.mark.parametrize("able", [ABLE, VLLM], ids=["echo", "prompt_logprobs"])
def test_values_are_those_of_the_slow_way(able: frozenset[str]) -> None:
    with MockServer(able=able) as server:
        made = list(EndpointScorer(server.url).score(CONTEXTS, ENDINGS))
    for context, endings, values in zip(CONTEXTS, ENDINGS, made, strict=True):
        assert values == pytest.approx(np.array([columns(phrase(context), one) for one in endings]), rel=1e-5)
    assert len(COLUMNS) == values.shape[1]


def spanning(asked: Asked) -> Said:
    """Tokens of nine characters, whatever they are."""
    text = asked.body["prompt"]
    tokens = [text[at : at + 9] for at in range(0, len(text), 9)]
    given = {"tokens": tokens, "token_logprobs": [None, *(-float(i) for i in range(1, len(tokens)))]}
    return Said(body={"choices": [{"text": text, "logprobs": given}]})


def test_a_token_on_the_border_counts_as_the_endings() -> None:
    """ "\\nIt rains| today. H|e runs aw|ay.": the third token has letters of both, and nats of 2."""
    with MockServer() as server:
        scorer = EndpointScorer(server.url)
        assert scorer.columns == COLUMNS
        server.say = spanning
        (values,) = scorer.score([Context("It rains today.", "He", "")], [["runs away."]])
    assert values[0, COLUMNS.index("ending_given_context")] == pytest.approx((2 + 3) / 2)
    assert values[0, COLUMNS.index("last_token")] == 3


def test_an_empty_context_is_zero_and_its_endings_are_read() -> None:
    with MockServer() as server:
        (values,) = EndpointScorer(server.url).score([Context("", "", "")], [["runs away.", "sits."]])
    assert np.isfinite(values).all()
    assert (values[:, COLUMNS.index("context_alone")] == 0).all()
    assert (values[:, COLUMNS.index("ending_alone")] > 0).all()


@pytest.mark.parametrize("able", [ABLE - {"echo"}, ABLE - {"completions"}, ABLE - {"logprobs", "echo"}])
def test_a_server_without_likelihoods_is_one_line_and_no_column(able: frozenset[str]) -> None:
    """Such servers accept `echo` and `logprobs` all the same."""
    with MockServer(able=able) as server:
        for use in (lambda scorer: scorer.columns, lambda scorer: list(scorer.score(CONTEXTS, ENDINGS))):
            with pytest.raises(InputError, match="tried: completions with echo and logprobs, prompt_") as raised:
                use(EndpointScorer(server.url))
            assert "\n" not in str(raised.value)


def test_a_server_that_stops_giving_them_is_told_and_nothing_is_made_up() -> None:
    with MockServer() as server:
        scorer = EndpointScorer(server.url)
        scorer.record()
        server.say = lambda asked: answer(asked, ABLE - {"echo"})
        with pytest.raises(InputError, match="without likelihoods of all its tokens"):
            list(scorer.score(CONTEXTS, ENDINGS))
        server.say = lambda asked: Said(400, {"error": {"message": "maximum context length"}})
        with pytest.raises(InputError, match=r"is refused \(context_too_long: maximum context length\)"):
            list(scorer.score(CONTEXTS[::-1], [*ENDINGS[1:], ENDINGS[0]]))


def test_a_server_that_answers_without_reading_breaks_the_contract() -> None:
    def say(asked: Asked) -> Said | None:
        if not asked.body.get("echo"):
            return None
        tokens = tokens_of(asked.body["prompt"])
        given = {"tokens": tokens, "token_logprobs": [None, *[-1.0] * (len(tokens) - 1)]}
        return Said(body={"choices": [{"text": "", "logprobs": given}]})

    with MockServer(say=say) as server, pytest.raises(ContractError, match="it reads what it scores"):
        check_scorer(lambda: EndpointScorer(server.url), CONTEXTS, ENDINGS)


def test_a_stopped_scoring_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    with MockServer() as server:
        straight = list(EndpointScorer(server.url).score(CONTEXTS, ENDINGS))
        n = len(server.asked)
        options = EndpointOptions(max_requests=n // 2)
        with pytest.raises(ExhaustedError):
            list(EndpointScorer(server.url, options, tmp_path / "j").score(CONTEXTS, ENDINGS))
        again = list(EndpointScorer(server.url, journal=tmp_path / "j").score(CONTEXTS, ENDINGS))
        assert len(server.asked) == 2 * n
    assert all((one == other).all() for one, other in zip(straight, again, strict=True))


def test_the_name_of_the_registry_makes_it() -> None:
    scorer = make_scorer("endpoint[http://localhost:8000]")
    assert isinstance(scorer, EndpointScorer)


def test_an_answer_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    """It was kept for good: the same command ended in the same way, whatever the server did by then."""
    journal = tmp_path / "j"
    n_asked = 0

    def failing(asked: Asked) -> Said | None:
        nonlocal n_asked
        n_asked += 1
        return Said(body={"choices": [{"text": "x", "logprobs": None}]}) if n_asked == 4 else None

    with MockServer() as server:
        scorer = EndpointScorer(server.url, journal=journal)
        assert scorer.columns == COLUMNS
        server.say = failing
        with pytest.raises(InputError, match="that answer alone is not kept"):
            list(scorer.score(CONTEXTS, ENDINGS))
        n = len(server.asked)
        made = list(EndpointScorer(server.url, journal=journal).score(CONTEXTS, ENDINGS))
        assert len(made) == len(CONTEXTS)
        assert n < len(server.asked)
        twice = [asked.body.get("prompt") for asked in server.asked if asked.body.get("echo")]
        assert max(twice.count(prompt) for prompt in twice if prompt and prompt.startswith("\n")) == 2


def test_a_text_of_one_token_that_begins_with_the_line_break_has_no_likelihood() -> None:
    """`take` ended in an IndexError."""
    row = _Row(1, has_context=False)
    row.take(_Reading(0, "after", 0, "", "b"), ([], []))
    assert not row.values.any()
