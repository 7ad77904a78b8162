"""Claims about endings from servers: the generator's contract, reasons, resuming, records."""

import json
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of
from mock_server import ABLE, Asked, MockServer, Said, answer

from swag_af.data.captions.context_set import write_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import read_json, write_json
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.text.wording import comparable
from swag_af.endpoints.forecast import spread
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.checking import check_generator
from swag_af.lm.contract import DRAWN_OUT, Generated
from swag_af.lm.endpoint.generator import EndpointGenerator
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.prompt import PROMPTS
from swag_af.lm.registry import make_generator
from swag_af.lm.verb import make_shards

CONTEXTS = make_contexts_of(6, n_videos=3)
ABILITIES = {
    "all": ABLE,
    "completions only": ABLE - {"chat"},
    "chat only": ABLE - {"completions"},
    "chat without anything": frozenset({"chat", "seed"}),
    "completions without anything": frozenset({"completions", "seed"}),
}


def made(generator: EndpointGenerator, n: int = 4, seed: int = 0) -> list[Generated]:
    return sorted(generator.generate(CONTEXTS, n, seed=seed), key=lambda one: one.position)


@pytest.mark.parametrize(
    ("able", "prompt"), [*((name, "wrong-ending") for name in ABILITIES), *(("all", prompt) for prompt in PROMPTS[::2])]
)
def test_it_keeps_the_contract_with_any_server_that_takes_a_seed(able: str, prompt: str) -> None:
    """The mock answers by prompt and seed alone, and n choices differ from as many requests for one."""
    with MockServer(able=ABILITIES[able]) as server:
        check_generator(lambda: EndpointGenerator(server.url, prompt), CONTEXTS)


def test_a_journal_makes_it_the_same_with_a_server_that_takes_no_seed(tmp_path: Path) -> None:
    """Each draw is asked for by itself; another server, which would say other things, is not needed any more."""

    def say(asked: Asked) -> Said:
        changed = {**asked.body, "seed": len(server.asked)}
        return answer(Asked(asked.path, changed, asked.headers), ABLE - {"n"})

    with MockServer(say=say, able=ABLE - {"seed", "n"}) as server:
        url, journal = server.url, tmp_path / "answers.jsonl"
        first = made(EndpointGenerator(url, "continuation", journal=journal))
        assert all(one.endings for one in first)
        n = len(server.asked)
        assert made(EndpointGenerator(url, "continuation", journal=journal)) == first
        assert len(server.asked) == n
    assert made(EndpointGenerator(url, "continuation", journal=journal)) == first


def test_endings_do_not_depend_on_the_order_in_which_answers_come(tmp_path: Path) -> None:
    with MockServer() as server:
        alone = made(EndpointGenerator(server.url, endpoint=EndpointOptions(concurrency=1)), n=12)
        many = made(EndpointGenerator(server.url, endpoint=EndpointOptions(concurrency=6)), n=12)
    assert alone == many


def test_a_run_that_is_stopped_anywhere_goes_on_to_the_same_endings(tmp_path: Path) -> None:
    with MockServer(able=ABLE - {"n"}) as server:
        straight = made(EndpointGenerator(server.url), n=12)
        n_asked = len(server.asked)
        for limit in range(3, n_asked, 4):
            options = EndpointOptions(max_requests=limit, concurrency=2)
            with pytest.raises(ExhaustedError, match="run the same command again"):
                made(EndpointGenerator(server.url, endpoint=options, journal=tmp_path / "j"), n=12)
        assert made(EndpointGenerator(server.url, journal=tmp_path / "j"), n=12) == straight
        prompts = [json.dumps(asked.body) for asked in server.asked[n_asked:] if "response_format" in asked.body]
        assert len(prompts) - len(set(prompts)) <= 2 * len(range(3, n_asked, 4))  # under way when it stopped


def generated_with(said: Said, **settings: Any) -> list[Generated]:
    """What comes of a server that always says the same once it has been probed."""
    with MockServer() as server:
        generator = EndpointGenerator(server.url, **{"max_draws": 2, **settings})
        generator.record()
        server.say = lambda asked: said
        return made(generator, n=2)


def chat_of(text: str | None, **choice: Any) -> Said:
    return Said(body={"choices": [{"message": {"content": text}, "finish_reason": "stop", **choice}]})


REASONS = {
    "refusal": chat_of("I'm sorry, but I can't help with that."),
    "repeated": chat_of('["rides the horse down the street."]'),
    "echo": chat_of('["of the house. The tall man"]'),
    "unfinished": chat_of('["rides the horse down the"]'),
    "blank": chat_of('["..."]'),
    "too_short": chat_of('["rides."]'),
    "filtered": chat_of(None, finish_reason="content_filter"),
    "nothing_found": chat_of("[]"),
}


@pytest.mark.parametrize(("reason", "said"), REASONS.items(), ids=REASONS.keys())
def test_what_is_no_ending_is_counted_by_reason_and_ends_after_so_many_draws(reason: str, said: Said) -> None:
    found = generated_with(said)
    assert {one.reason for one in found} == {DRAWN_OUT}
    assert all(one.rejected.get(reason, 0) >= 1 for one in found)
    assert all(one.n_drawn >= 2 for one in found)
    assert not any(one.endings for one in found)


@pytest.mark.parametrize("said", [REASONS["refusal"], REASONS["filtered"], REASONS["nothing_found"]])
def test_of_a_server_that_only_refuses_all_is_rejected(said: Said) -> None:
    """An eighth was, as each text counted as the eight endings that it should have had."""
    for one in generated_with(said):
        assert one.n_drawn == sum(one.rejected.values()) > 0


def test_what_comes_when_there_are_enough_is_no_draw() -> None:
    good = [f"opens door {i} of the house." for i in range(5)]
    for one in generated_with(chat_of(json.dumps(["rides.", *good]))):
        assert (one.n_drawn, one.rejected) == (3, {"too_short": 1})


def test_gold_is_left_out_and_counted() -> None:
    with MockServer() as server:
        generator = EndpointGenerator(server.url, max_draws=2)
        generator.record()
        golds = {context.sent1: context.gold for context in CONTEXTS}

        def say(asked: Asked) -> Said:
            told = asked.body["messages"][-1]["content"]
            gold = next(gold for sent1, gold in golds.items() if sent1 in told)
            return chat_of(json.dumps([gold.upper(), f'"{gold}"']))

        server.say = say
        found = made(generator, n=2)
    assert all(one.reason == DRAWN_OUT and one.rejected == {"equal_to_gold": one.n_drawn} for one in found)


def test_a_text_that_goes_on_within_a_word_is_none() -> None:
    with MockServer() as server:
        generator = EndpointGenerator(server.url, "continuation", max_draws=2)
        generator.record()
        server.say = lambda asked: Said(body={"choices": [{"text": "kind of dog sits on the roof."}]})
        found = made(generator, n=2)
    assert all(one.rejected == {"mid_word": one.n_drawn} for one in found)


def test_a_refusal_of_one_context_is_its_reason_and_the_others_have_endings() -> None:
    def say(asked: Asked) -> Said | None:
        too_long = "room 3 " in str(asked.body)
        return Said(400, {"error": {"message": "maximum context length"}}) if too_long else None

    with MockServer(say=say) as server:
        found = made(EndpointGenerator(server.url))
    assert [one.reason for one in found] == ["", "", "", "context_too_long", "", ""]


def test_a_server_that_refuses_all_is_one_line_with_what_it_says() -> None:
    with pytest.raises(InputError, match=r"refuses every request \(refused_400: no top_p\)") as raised:
        generated_with(Said(400, {"error": {"message": "no top_p"}}))
    assert "\n" not in str(raised.value)


def test_a_server_that_gives_no_text_is_told_with_what_was_tried() -> None:
    with (
        MockServer(able=frozenset()) as server,
        pytest.raises(InputError, match=r"/v1/chat/completions and .*: gave no"),
    ):
        made(EndpointGenerator(server.url))
    with MockServer(able=ABLE - {"chat"}) as server, pytest.raises(InputError, match="/v1/chat/completions: gave no"):
        made(EndpointGenerator(server.url, endpoint=EndpointOptions(api="chat")))


def test_the_way_that_suits_the_prompt_is_asked() -> None:
    with MockServer() as server:
        for prompt, path in (("continuation", "/v1/completions"), ("wrong-ending", "/v1/chat/completions")):
            generator = EndpointGenerator(server.url, prompt)
            generator.record()
            before = len(server.asked)
            made(generator)
            assert {asked.path for asked in server.asked[before:]} == {path}


def test_a_schema_is_asked_for_where_the_server_keeps_it_only() -> None:
    for able, expected in ((ABLE, True), (ABLE - {"json_schema"}, False)):
        with MockServer(able=able) as server:
            made(EndpointGenerator(server.url))
            assert ("response_format" in server.asked[-1].body) is expected


def test_the_record_says_what_decided_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with MockServer() as server:
        record = EndpointGenerator(server.url, temperature=0.7).record()
    assert (record["model"], record["server"], record["api"]) == ("mock", f"{server.url}/v1", "chat")
    assert (record["temperature"], record["foreign"]) == (0.7, True)
    assert record["prompt"]["sha256"]
    assert "sk-secret" not in json.dumps(record)


def test_a_forecast_scales_what_a_few_requests_took(tmp_path: Path) -> None:
    """The mock's answers have 7 tokens a choice; 32 endings are 4 texts of 8, in one request, and half can be kept."""
    prices = tmp_path / "prices.toml"
    prices.write_text('["mock"]\nprompt = 0\nanswer = 1_000_000\n')
    contexts = make_contexts_of(40, n_videos=8)
    with MockServer() as server:
        options = EndpointOptions(prices=prices)
        generator = EndpointGenerator(server.url, endpoint=options, journal=tmp_path / "j")
        lines = generator.forecast(contexts, 32, seed=0)
        n = len(server.asked)
        assert lines[0].startswith("about 80 requests, as 8 that were sent now")
        assert "and 2,240 of answers" in lines[1]
        assert lines[-1] == "cost 2,240.00, in the money of --prices"
        list(EndpointGenerator(server.url, endpoint=options, journal=tmp_path / "j").generate(contexts, 32, seed=0))
        assert len(server.asked) == n + 80 - 8, "as it was forecast"
        sampled = {json.dumps(asked.body) for asked in server.asked[n - 8 : n]}
        assert not sampled & {json.dumps(asked.body) for asked in server.asked[n:]}


def test_a_forecast_knows_of_long_contexts_that_come_last() -> None:
    """Of 15 contexts the last 7 were never in the sample: a forecast was 15 times too low."""
    contexts = [
        Context(f"Video {i}. " + "and so on " * (1000 if i > 8 else 1), "he", "sings a song.") for i in range(15)
    ]

    def say(asked: Asked) -> Said:
        choices = [{"message": {"content": "[]"}, "finish_reason": "stop"}]
        used = {"prompt_tokens": len(str(asked.body)), "completion_tokens": 1}
        return Said(body={"choices": choices, "usage": used})

    with MockServer(say=say) as server:
        lines = EndpointGenerator(server.url).forecast(contexts, 4, seed=0)
        rest = min(len(str(asked.body)) for asked in server.asked[-8:]) - len(contexts[0].sent1)
    said = int(lines[1].split()[0].replace(",", ""))
    once = sum(rest + len(one.sent1) for one in contexts)
    assert said == pytest.approx(8 * once, rel=0.02), "where nothing can be kept others are asked for"
    assert lines[2] == "reckoned in: 0% of what these gave could be kept, and each took 1.0 tries"
    assert lines[-1] == "Warning: nothing of these can be kept (8 nothing found)."


def test_a_forecast_reckons_with_what_cannot_be_kept_and_with_tries_again() -> None:
    """Of a server that often refused and failed the half was forecast."""
    n_asked = Counter[str]()

    def say(asked: Asked) -> Said | None:
        key = json.dumps(asked.body)
        n_asked[key] += 1
        if n_asked[key] == 1 and "temperature" in asked.body and "seed" not in asked.body:
            return Said(500, {})
        texts = [f"sings song {i} to her." if i % 2 else "I'm sorry, I cannot." for i in range(8)]
        choices = [{"message": {"content": json.dumps(texts)}, "finish_reason": "stop"}]
        return Said(body={"choices": choices, "usage": {"prompt_tokens": 10, "completion_tokens": 4}})

    with MockServer(say=say, able=ABLE - {"n", "seed"}) as server:
        generator = EndpointGenerator(server.url)
        lines = generator.forecast(make_contexts_of(20, n_videos=4), 8, seed=0)
    assert "reckoned in: 50% of what these gave could be kept" in lines[2]
    assert lines[1].startswith("400 tokens of prompts and 160 of answers")


@pytest.mark.parametrize(("n", "of"), [(8, 15), (8, 205), (8, 8), (8, 3), (1, 9)])
def test_a_sample_is_spread_over_all(n: int, of: int) -> None:
    found = spread(range(of), n)
    assert len(set(found)) == len(found) == min(n, of)
    gaps = np.diff([-found[0] - 1, *found, 2 * of - found[-1] - 1])  # mirrored at both ends
    assert gaps.max() <= gaps.min() + 2


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        ("room", "Warning: all 8 requests sent now are refused (refused_400: no room). Change what it refuses."),
        ("room 3 ", "Warning: 1 of these 8 are refused (first: refused_400: no room)"),
    ],
)
def test_a_forecast_says_which_requests_are_refused(tmp_path: Path, refused: str, told: str) -> None:
    def say(asked: Asked) -> Said | None:
        return Said(400, {"error": {"message": "no room"}}) if refused in str(asked.body) else None

    with MockServer(say=say) as server:
        lines = EndpointGenerator(server.url, journal=tmp_path / "j").forecast(
            make_contexts_of(8, n_videos=4), 8, seed=0
        )
    assert [line for line in lines if "Warning" in line] == [told]
    assert any("requests, as" in line for line in lines) == (refused != "room")


def test_the_name_of_the_registry_makes_it() -> None:
    generator = make_generator("endpoint[http://localhost:8000]", temperature=0.5)
    assert isinstance(generator, EndpointGenerator)
    assert (generator.url, generator.temperature) == ("http://localhost:8000", 0.5)


@pytest.mark.parametrize("settings", [{"temperature": -1.0}, {"top_p": 0.0}, {"max_draws": 0}])
def test_settings_that_cannot_be_are_told(settings: dict[str, Any]) -> None:
    with MockServer() as server, pytest.raises(InputError, match=f"generator endpoint: {next(iter(settings))}"):
        made(EndpointGenerator(server.url, **settings))


def test_no_ending_has_the_words_of_another(tmp_path: Path) -> None:
    with MockServer() as server:
        for one in made(EndpointGenerator(server.url), n=24):
            assert len({comparable(ending) for ending in one.endings}) == 24


def test_a_context_may_be_a_question() -> None:
    question = Context("What does a plant take from the air?", "", "carbon dioxide")
    with MockServer() as server:
        generator = EndpointGenerator(server.url, "wrong-answer", min_tokens=1)
        (one,) = generator.generate([question], 3, seed=0)
    assert len(one.endings) == 3


NEXT = count()


def busy(asked: Asked) -> Said:
    """A server that does not repeat a seeded answer when it is tried."""
    if asked.body.get("seed") == 7 and asked.body.get("temperature") == 1.0:
        return answer(Asked(asked.path, {**asked.body, "seed": next(NEXT)}, asked.headers), ABLE)
    return answer(asked, ABLE)


def test_shards_of_one_pool_need_not_find_that_a_server_repeats(tmp_path: Path) -> None:
    """The second was refused, with other generator.abilities.repeats."""
    write_contexts(tmp_path / "contexts.jsonl", CONTEXTS, [], {"command": "test"})
    for shard, server_of in (("1/2", MockServer(say=busy)), ("2/2", MockServer())):
        with server_of as server:
            generator = f"endpoint[{server.url}]"
            options = GenerateOptions(
                tmp_path / "contexts.jsonl", generator=generator, out=tmp_path / "pool", n_negatives=4, tagger="none"
            )
            n, _ = make_shards(replace(options, shard=shard))
    assert n == len(CONTEXTS)


def test_a_pool_goes_on_that_was_begun_with_all_that_was_measured(tmp_path: Path) -> None:
    write_contexts(tmp_path / "contexts.jsonl", CONTEXTS, [], {"command": "test"})
    with MockServer() as server:
        generator = f"endpoint[{server.url}]"
        options = GenerateOptions(
            tmp_path / "contexts.jsonl", generator=generator, out=tmp_path / "pool", n_negatives=4, tagger="none"
        )
        make_shards(replace(options, shard="1/2"))
        journal = tmp_path / "pool" / "journal" / "00001-of-00002.jsonl"
        first, *others = journal.read_text().splitlines(keepends=True)
        plan = json.loads(first)["plan"] | {"generator.abilities.repeats": False, "generator.abilities.chat": True}
        journal.write_text("".join([json.dumps({"plan": plan}) + "\n", *others]))
        manifest = read_json(tmp_path / "pool" / "manifest.json")
        manifest["generator"]["abilities"]["repeats"] = False
        write_json(tmp_path / "pool" / "manifest.json", manifest)
        assert make_shards(options) == (len(CONTEXTS), len(CONTEXTS))
