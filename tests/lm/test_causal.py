"""Causal models of Hugging Face: samples and likelihoods as read one at a time, whatever else is asked for."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow.causal import SlowCausal, slow_choice, slow_sample
from tiny_bert import save_tiny_bert
from tiny_causal import save_tiny_gpt2, save_tiny_llama

from swag_af.data.context import Context, phrase
from swag_af.data.errors import InputError
from swag_af.data.tokens import tokenize
from swag_af.lm.causal.generator import CausalGenerator, Continuation, prompt_ids, stopping
from swag_af.lm.causal.model import Causal, Precision, load_causal, take
from swag_af.lm.causal.sampling import Sampling, choose, draw, read_prompt
from swag_af.lm.causal.scorer import AT_ONCE, CausalScorer
from swag_af.lm.checking import check_generator
from swag_af.lm.options import GenerateOptions
from swag_af.lm.prompting.prompt import Prompt, load_prompt
from swag_af.lm.prompting.sieve import Sieve
from swag_af.lm.registry import make_generator
from swag_af.lm.scorers.checking import check_scorer
from swag_af.lm.scorers.contract import COLUMNS
from swag_af.lm.scorers.registry import make_scorer
from swag_af.lm.verb import generate, make_shards

PEOPLE = ("woman", "man", "girl", "boy", "dancer", "carpenter")
CONTEXTS = [
    Context(f"A {who} walks to the street.", f"The {who}", "takes the bus to a house with a red door.", id=who)
    for who in PEOPLE
]
ENDINGS = [
    [f"takes the {what} {'and the water ' * k}to {who}." for k, what in enumerate(PEOPLE[: 3 + i % 3])]
    for i, who in enumerate(PEOPLE)
]


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_gpt2(tmp_path_factory.mktemp("models") / "gpt2")


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_llama(tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture(params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def causal(gpt2: str) -> Causal:
    return load_causal(gpt2, device="cpu")


@pytest.fixture(scope="module")
def slow(gpt2: str) -> SlowCausal:
    return SlowCausal(gpt2)


# --- the scorer


def test_the_scorer_keeps_the_contract(model: str) -> None:
    check_scorer(make_scorer(f"hf[{model}]"), CONTEXTS, ENDINGS)


def whole(model: str) -> CausalScorer:
    """In full precision, wherever it computes."""
    return CausalScorer(model, precision="float32")


def test_columns_are_those_of_texts_read_whole_one_at_a_time(model: str) -> None:
    slow = SlowCausal(model)
    for context, endings, values in zip(CONTEXTS, ENDINGS, whole(model).score(CONTEXTS, ENDINGS), strict=True):
        expected = [slow.columns(phrase(context), ending) for ending in endings]
        np.testing.assert_allclose(values, expected, rtol=2e-4)


WORDS = st.lists(st.sampled_from([*PEOPLE, "takes", "the", "bus", "slowly", ",", "3"]), min_size=1, max_size=14)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=2 * AT_ONCE["cpu"] + 3)


@settings(max_examples=15)
@given(endings=TEXTS, others=TEXTS)
def test_a_value_has_the_same_bits_whatever_is_scored_with_it(
    gpt2_scorer: CausalScorer, endings: list[str], others: list[str]
) -> None:
    together = list(gpt2_scorer.score([CONTEXTS[1], CONTEXTS[0]], [others, [*others, *endings]]))[1][len(others) :]
    alone = np.concatenate([next(gpt2_scorer.score(CONTEXTS[:1], [[ending]])) for ending in endings])
    assert np.array_equal(together, alone)


@pytest.fixture(scope="module")
def gpt2_scorer(gpt2: str) -> CausalScorer:
    return whole(gpt2)


def test_an_empty_context_has_nothing_to_be_likely(gpt2_scorer: CausalScorer, slow: SlowCausal) -> None:
    [values] = gpt2_scorer.score([Context("", "", "x.")], [["takes the bus."]])
    nats = slow.nats(slow.tokenizer.encode("takes the bus."))
    assert values[0, [2, 3]].tolist() == [0, 0]
    np.testing.assert_allclose(values[0, 1], nats.mean(), rtol=1e-4)


def test_a_text_that_is_too_long_is_told(gpt2_scorer: CausalScorer) -> None:
    long = replace(CONTEXTS[0], sent1="walks " * 160)
    with pytest.raises(InputError, match=r"context 'woman': with its longest ending it has \d+ tokens.*reads 160"):
        list(gpt2_scorer.score([long], [["goes."]]))
    with pytest.raises(InputError, match=r"context 'woman': its ending '' has no token"):
        list(gpt2_scorer.score(CONTEXTS[:1], [["goes.", ""]]))


@pytest.mark.parametrize("turned", [False, True])
def test_a_row_that_just_fits_is_read(gpt2_scorer: CausalScorer, slow: SlowCausal, turned: bool) -> None:
    """Lengths are filled up to a step, and went beyond the model's positions."""
    read = set[int]()
    for n, m in itertools.product(range(10, 160), range(6)):
        long = " ".join(["bus"] * n + ["."] * m)
        text, ending = ("bus", long) if turned else (long, "bus bus")
        context = Context(text, "", "x.")
        n_ids = 1 + len(slow.tokenizer.encode(f"{phrase(context)} {ending}", add_special_tokens=False))
        if 152 < n_ids <= 160 and n_ids not in read:
            try:
                [values] = gpt2_scorer.score([context], [[ending]])
            except InputError:  # one token too many, where the two are tokenised apart
                continue
            np.testing.assert_allclose(values[0], slow.columns(phrase(context), ending), rtol=2e-4)
            read.add(n_ids)
    assert {157, 158, 159, 160} & read


# --- samples


def test_samples_are_those_of_a_model_that_keeps_nothing(model: str) -> None:
    causal, slow = load_causal(model, device="cpu"), SlowCausal(model)
    uniforms = np.random.default_rng(0).random((6, 14))
    for rules in (Sampling(), Sampling(0.7, 0.9)):
        for context in CONTEXTS[:2]:
            ids = causal.ids(phrase(context))
            made = draw(causal, read_prompt(causal, ids), uniforms, rules, lambda ids: ids[-1] % 7 == 0)
            assert made == [
                slow_sample(slow, ids, row, rules.temperature, rules.top_p, lambda ids: ids[-1] % 7 == 0)
                for row in uniforms
            ]
            assert len({len(ids) for ids in made}) > 1  # some left the batch before others


def test_a_sample_is_the_same_whoever_is_drawn_with_it(causal: Causal) -> None:
    prompt, uniforms = read_prompt(causal, causal.ids("The man")), np.random.default_rng(1).random((9, 12))
    rules = Sampling()
    together = draw(causal, prompt, uniforms, rules, lambda ids: ids[-1] in causal.ends)
    apart = [draw(causal, prompt, row[None], rules, lambda ids: ids[-1] in causal.ends)[0] for row in uniforms]
    assert together == apart


@settings(max_examples=60)
@given(
    logits=st.lists(st.floats(-6, 6, width=32), min_size=2, max_size=9),
    uniform=st.floats(0, 1, exclude_max=True),
    temperature=st.sampled_from([0.5, 1.0, 1.7]),
    top_p=st.sampled_from([0.05, 0.5, 0.9, 1.0]),
)
def test_a_token_is_drawn_as_the_slow_way_draws_it(
    logits: list[float], uniform: float, temperature: float, top_p: float
) -> None:
    row = torch.tensor([logits, logits[::-1]])
    made = choose(row, np.array([uniform, uniform]), Sampling(temperature, top_p))
    expected = [slow_choice(one.double().numpy(), uniform, temperature, top_p) for one in row]
    p = torch.softmax(row.double() / temperature, dim=1)
    for i in range(2):  # equal probabilities may be summed in another order
        assert made[i] == expected[i] or abs(p[i, made[i]] - p[i, expected[i]]) < 1e-9 or _is_edge(p[i], uniform, top_p)


def _is_edge(p: torch.Tensor, uniform: float, top_p: float) -> bool:
    """Whether rounding may decide: the uniform number or `top_p` lies on a sum of probabilities."""
    ordered = p.sort(descending=True).values
    sums = torch.cat((p.cumsum(0), ordered.cumsum(0)))
    marks = torch.tensor([uniform, top_p]), sums[:, None] * uniform
    return any(bool((abs(sums[:, None] - mark.reshape(1, -1)) < 1e-9).any()) for mark in marks)


def test_draws_are_as_frequent_as_the_temperature_says() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, -3.0]])
    n = 20_000
    uniforms = np.random.default_rng(0).random(n)
    for temperature in (0.5, 2.0):
        drawn = np.bincount(choose(logits.expand(n, -1), uniforms, Sampling(temperature)), minlength=4) / n
        p = torch.softmax(logits[0] / temperature, dim=0).numpy()
        assert (abs(drawn - p) < 5 * np.sqrt(p * (1 - p) / n)).all()


# --- the generator


def generator(model: str, **settings: Any) -> CausalGenerator:
    return CausalGenerator(model, **{"min_tokens": 2, "max_tokens": 16, "precision": "float32", **settings})


def test_the_generator_keeps_the_contract(gpt2: str) -> None:
    check_generator(make_generator(f"hf[{gpt2}]", min_tokens=2, max_tokens=12), CONTEXTS[:4], n_negatives=2)


def test_endings_do_not_depend_on_how_many_are_drawn_at_once(gpt2: str) -> None:
    made = [list(generator(gpt2, at_once=n).generate(CONTEXTS[:2], 4, seed=3)) for n in (1, 5, 32)]
    assert all([a.endings for a in answers] == [a.endings for a in made[0]] for answers in made)


def test_the_endings_are_those_of_samples_read_whole(gpt2: str, causal: Causal, slow: SlowCausal) -> None:
    """The whole way, slowly: numbers by seed and words, samples in order, the sieve until it is full."""
    from swag_af.lm.seeding import rng_of

    context, prompt = CONTEXTS[2], load_prompt("continuation")
    ids = causal.ids(phrase(context))
    text, rng, sieve = Continuation(causal, ids[-1]), rng_of(context, 5), Sieve(context, 3, 2, 16)
    while not sieve.is_full:
        is_over = stopping(text, prompt, 16)
        drawn = slow_sample(slow, ids, rng.random(64), 0.8, 0.95, is_over)
        text.put_into(sieve, drawn, prompt, is_cut=not is_over(drawn))
    [answer] = generator(gpt2, temperature=0.8, top_p=0.95).generate([context], 3, seed=5)
    assert answer.endings == tuple(sieve.endings)


def test_endings_are_sentences_of_the_length_asked_for(gpt2: str) -> None:
    for answer in generator(gpt2, min_tokens=4, max_tokens=9).generate(CONTEXTS[:3], 4, seed=0):
        assert not answer.reason
        assert all(4 <= len(tokenize(ending)) <= 9 and ending[-1] in ".?!" for ending in answer.endings)
        assert answer.n_drawn >= 4 + answer.rejected.get("too_long", 0)


def test_a_context_is_given_up_after_so_many_draws(gpt2: str) -> None:
    [answer] = generator(gpt2, min_tokens=15, max_tokens=15, max_draws=2).generate(CONTEXTS[:1], 6, seed=0)
    assert (answer.reason, answer.n_drawn, answer.endings) == ("too_few_distinct_endings", 12, ())
    assert sum(answer.rejected.values()) <= 12


def test_of_lists_the_endings_are_counted_and_samples_bounded(gpt2: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More was rejected than was drawn."""
    said = '["I am sorry.", "takes it.", "takes it."]'
    monkeypatch.setattr(Continuation, "text", lambda self, ids: said)
    prompt = Prompt("t", "{{ context }}", way="list")
    [answer] = generator(gpt2, prompt=prompt, max_tokens=6, max_draws=2).generate(CONTEXTS[:1], 3, seed=0)
    assert (answer.n_drawn, answer.rejected) == (3 * 6, {"refusal": 6, "repeated": 11})


def test_a_prompt_that_fills_the_model_is_a_reason(gpt2: str) -> None:
    long, empty = replace(CONTEXTS[0], sent1="A man walks. " * 60), Context("", "", "x.")
    reasons = [answer.reason for answer in generator(gpt2).generate([long, empty], 2, seed=0)]
    assert reasons == ["too_long_for_the_model", "empty_context"]


def test_generate_stopped_goes_on_to_the_same_pool(
    gpt2: str, contexts_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = CausalGenerator._answer

    def stopping_at(self: CausalGenerator, *arguments: Any) -> Any:
        if arguments[2] == 3:
            raise KeyboardInterrupt
        return answer(self, *arguments)

    options = GenerateOptions(
        contexts_file, out=tmp_path / "pool", generator=f"hf[{gpt2}]", n_negatives=3, min_tokens=3, tagger="none"
    )
    straight = generate(replace(options, out=tmp_path / "straight"))
    monkeypatch.setattr(CausalGenerator, "_answer", stopping_at)
    with pytest.raises(KeyboardInterrupt):
        generate(options)
    monkeypatch.setattr(CausalGenerator, "_answer", answer)
    monkeypatch.chdir(Path(gpt2).parent)
    make_shards(
        replace(options, shard="2/2", generator="hf[./gpt2]")
    )  # the same model, by another spelling of its path
    made = generate(options)
    assert made.manifest == straight.manifest | {"made_by": made.manifest["made_by"]}
    assert made.manifest["generator"]["foreign"] is True
    assert (made.n_candidates, made.identity) == (4, straight.identity)


def told(causal: Causal, text: str, before: str = "The man") -> tuple[Continuation, list[int]]:
    return Continuation(causal, causal.ids(before)[-1]), causal.ids(before + text)[len(causal.ids(before)) :]


OVER = {
    " walks. The": True,
    " walks.": False,  # "walks.." or a quote may follow
    " walks to Mr. Bus": False,
    " walks 3.5 steps": False,
    " walks\n": True,
    "\n walks": False,
    "<|endoftext|>": True,
    " the" * 17: True,
}


@pytest.mark.parametrize(("text", "is_over"), OVER.items())
def test_a_sample_is_over_when_nothing_after_it_matters(causal: Causal, text: str, is_over: bool) -> None:
    continuation, ids = told(causal, text)
    assert stopping(continuation, load_prompt("continuation"), 16)(ids) is is_over


def test_a_text_is_over_at_its_line_and_a_list_at_its_bracket(causal: Causal) -> None:
    line = replace(load_prompt("continuation"), ends="text")
    for text, prompt, is_over in (
        (" walks. The man", line, False),
        (" walks\nThe", line, True),
        (' ["walks.", "sits', load_prompt("wrong-ending"), False),
        (' ["walks.", "sits."]', load_prompt("wrong-ending"), True),
        (' ["walks [slowly]', load_prompt("wrong-ending"), False),
        (' <think> ["walks."]', load_prompt("wrong-ending"), False),
    ):
        continuation, ids = told(causal, text)
        assert stopping(continuation, prompt, 16)(ids) is is_over


def test_a_sample_that_makes_another_word_of_the_context_is_left_out(causal: Causal) -> None:
    sieve = Sieve(CONTEXTS[0], 4, 2, 16)
    for text in ("kind walks.", " walks slowly.", ", slowly, walks."):
        continuation, _ = told(causal, "")
        continuation.put_into(sieve, causal.ids(text), load_prompt("continuation"), is_cut=False)
    assert sieve.endings == ["walks slowly.", ", slowly, walks."]
    assert sieve.rejected == {"mid_word": 1}


@pytest.mark.parametrize(
    ("prompt", "text", "is_cut", "endings"),
    [
        ("wrong-answer", "1. the man\n2. the house\n3. the pia", False, ["the man", "the house", "the pia"]),
        ("wrong-answer", "1. the man\n2. the house\n3. the pia", True, ["the man", "the house"]),
        ("wrong-answer", "1. the pia", True, []),
        ("line", " walks down the", True, []),
        ("line", " walks down the", False, ["walks down the"]),
    ],
)
def test_of_a_sample_that_is_cut_off_what_is_whole_counts(
    causal: Causal, prompt: str, text: str, is_cut: bool, endings: list[str]
) -> None:
    line = replace(load_prompt("continuation"), ends="text")
    sieve = Sieve(CONTEXTS[0], 4, 1, 16, "text")
    continuation, _ = told(causal, "")
    told_by = line if prompt == "line" else load_prompt(prompt)
    continuation.put_into(sieve, causal.ids(text), told_by, is_cut=is_cut)
    assert sieve.endings == endings
    assert sieve.rejected == ({} if endings else {"unfinished": 1})


def test_blanks_are_read_where_the_tokenizer_writes_them_as_part_of_words(llama: str) -> None:
    causal = load_causal(llama, device="cpu")
    assert causal.tokenizer.decode(causal.ids_after("walks")) == "walks"  # without its blank
    assert Continuation(causal, causal.ids("The man")[-1]).text(causal.ids_after("walks")) == " walks"


def test_a_model_that_chats_is_asked_for_lists_as_it_was_taught(causal: Causal, gpt2: str) -> None:
    prompt, plain = load_prompt("wrong-answer"), prompt_ids(causal, load_prompt("wrong-answer"), CONTEXTS[0], 3)
    assert causal.tokenizer.decode(plain) == prompt.text(CONTEXTS[0], 3)
    chatty = load_causal(gpt2, device="cpu")
    chatty.tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    told = chatty.tokenizer.decode(prompt_ids(chatty, prompt, CONTEXTS[0], 3))
    assert told.startswith("<system>You write wrong answers")
    assert told.endswith("<assistant>")
    knows_no_system = "{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    chatty.tokenizer.chat_template = chatty.tokenizer.chat_template.replace("<{{", knows_no_system + "<{{", 1)
    told = chatty.tokenizer.decode(prompt_ids(chatty, prompt, CONTEXTS[0], 3))
    assert told.startswith("<user>You write wrong answers")
    chatty.tokenizer.chat_template = "{{ raise_exception('never') }}"
    with pytest.raises(InputError, match=r"its chat template refuses the prompt \(never\)"):
        prompt_ids(chatty, prompt, CONTEXTS[0], 3)


def test_the_record_tells_models_apart_and_shows_what_was_asked(gpt2: str, llama: str) -> None:
    record = json.loads(json.dumps(generator(gpt2, top_p=0.9).record()))
    assert record["files"]["model.safetensors"] != generator(llama).record()["files"]["model.safetensors"]
    assert (record["foreign"], record["top_p"], record["prompt"]["name"]) == (True, 0.9, "continuation")


def test_an_ending_of_no_context_is_as_likely_as_alone(model: str) -> None:
    """It was read with a blank before it, straight after the begin of the text."""
    [values] = CausalScorer(model, precision="float32").score([Context("", "", "x.")], ENDINGS[:1])
    given, alone = (values[:, COLUMNS.index(name)] for name in ("ending_given_context", "ending_alone"))
    np.testing.assert_allclose(given, alone, rtol=1e-5)


# --- loading


def test_bfloat16_is_another_arithmetic_of_the_same_model(gpt2: str) -> None:
    exact, rough = (
        next(CausalScorer(gpt2, precision=precision).score(CONTEXTS[:1], ENDINGS[:1]))
        for precision in ("float32", "bfloat16")
    )
    assert 0 < abs(exact - rough).max() < 0.1
    assert CausalScorer(gpt2, precision="bfloat16").record()["precision"] == "bfloat16"


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_model_that_reads_both_ways_is_refused(tmp_path: Path, precision: Precision) -> None:
    with pytest.raises(InputError, match=r"reads texts in both directions\. Take a causal model"):
        load_causal(save_tiny_bert(tmp_path / "bert"), precision=precision)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_model_that_reads_from_left_to_right_is_taken(model: str, precision: Precision) -> None:
    assert load_causal(model, precision=precision).record()["precision"] == precision


def test_what_is_no_model_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no model that can be read"):
        load_causal(str(tmp_path))


FAULTS = {"temperature": 0.0, "top_p": 0.0, "at_once": 0, "precision": "float16"}


@pytest.mark.parametrize(("name", "value"), FAULTS.items())
def test_settings_out_of_range_are_told(gpt2: str, name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"generator hf: {name} "):
        list(generator(gpt2, **{name: value}).generate(CONTEXTS[:1], 2, seed=0))


def test_the_older_form_of_what_has_been_read_is_taken_row_by_row() -> None:
    past = tuple((torch.arange(6.0).reshape(3, 2), torch.arange(3.0)[:, None]) for _ in range(2))
    taken = take(past, [2, 2, 0])
    assert [piece[:, 0].tolist() for layer in taken for piece in layer] == [[4, 4, 0], [2, 2, 0]] * 2
