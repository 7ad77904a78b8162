"""The n-gram generator: its draws against a slow twin, and what it may learn from."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from conftest import make_contexts_of
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.data.text.normalise import normalise
from swag_af.data.text.sentences import sentences_of
from swag_af.data.text.wording import comparable, text_key
from swag_af.data.tokens import SENTENCE_ENDS, detokenize, tokenize
from swag_af.data.vocabulary import BOS, EOS
from swag_af.lm.checking import check_generator
from swag_af.lm.contract import DRAWN_OUT, READ
from swag_af.lm.ngram import ORDER, NgramGenerator, Ngrams
from swag_af.lm.registry import make_generator
from swag_af.lm.seeding import rng_of

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "."]), min_size=1, max_size=5).map(" ".join)
CONTEXTS = st.lists(
    st.builds(Context, sent1=st.one_of(WORDS, st.just("")), start=st.one_of(WORDS, st.just("")), gold=WORDS),
    min_size=2,
    max_size=8,
)
MADE = [
    Context("A man sits.", "He", f"{verb} the {thing} {way}.", id=f"{i}-{way}", video=f"v{i}", fold=i % 3)
    for i, (verb, thing) in enumerate(product(["takes", "throws", "drops"], ["red ball", "ball", "old hat", "dog"]))
    for way in ["up", "down", "to him", "again"]
]
"""Twelve videos of four contexts in three folds; no two golds are the same."""


class Twin:
    """The model as its definition says it, one token at a time."""

    def __init__(self, contexts: list[Context], generator: NgramGenerator):
        self.vocabulary, sampled = generator.vocabulary, generator._sampled(contexts)
        self.types = np.flatnonzero(sampled).tolist()
        self.followed: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for context in contexts:
            ids = [BOS] * (ORDER - 1) + self.before(context) + self.ids(context.gold) + [EOS]
            for at in range(ORDER - 1, len(ids)):
                for n in range(ORDER):
                    if sampled[ids[at]]:
                        self.followed[tuple(ids[at - n : at])].append(ids[at])
        for following in self.followed.values():
            following.sort()

    def ids(self, text: str) -> list[int]:
        ids: list[int] = []
        for i, sentence in enumerate(sentences_of(text)):
            ids += [*([EOS] if i else []), *self.vocabulary.ids(tokenize(sentence))]
        return ids

    def before(self, context: Context) -> list[int]:
        return [*self.ids(context.sent1), *([EOS] if context.sent1 else []), *self.ids(context.start)]

    def probability(self, token: int, history: tuple[int, ...]) -> float:
        below = self.probability(token, history[1:]) if history else 1 / len(self.types)
        following = self.followed.get(history, [])
        n_types = len(set(following))
        return (following.count(token) + n_types * below) / (len(following) + n_types) if following else below

    def n_pieces(self, token: int, history: tuple[int, ...]) -> int:
        """Into how many intervals of numbers a token can be cut."""
        return sum(self.followed[history[at:]].count(token) + 1 for at in range(len(history) + 1))

    def drawn(self, history: tuple[int, ...], number: float) -> int:
        for at in range(len(history) + 1):
            following = self.followed.get(history[at:], [])
            if following:
                kept = len(following) / (len(following) + len(set(following)))
                if number < kept:
                    return following[min(int(number / kept * len(following)), len(following) - 1)]
                number = (number - kept) / (1 - kept)
        return self.types[min(int(number * len(self.types)), len(self.types) - 1)]


def both(contexts: list[Context]) -> tuple[Ngrams, Twin]:
    generator = NgramGenerator(contexts, min_tokens=1)
    model = Ngrams(contexts, generator.vocabulary, generator._sampled(contexts))
    return model, Twin(contexts, generator)


@settings(max_examples=40)
@given(CONTEXTS, st.lists(st.integers(BOS, 9), min_size=ORDER - 1, max_size=ORDER - 1))
def test_tokens_are_drawn_as_often_as_witten_and_bell_say(contexts: list[Context], history: list[int]) -> None:
    model, twin = both(contexts)
    n = 2000
    drawn = Counter(model.next(np.tile(history, (n, 1)), (np.arange(n) + 0.5) / n).tolist())
    assert sum(twin.probability(token, tuple(history)) for token in twin.types) == pytest.approx(1)
    assert set(drawn) <= set(twin.types)
    for token in twin.types:
        far = abs(drawn[token] / n - twin.probability(token, tuple(history)))
        assert far <= twin.n_pieces(token, tuple(history)) / n


@settings(max_examples=40)
@given(CONTEXTS, st.integers(0, 2**32))
def test_endings_are_those_of_one_draw_after_the_other(contexts: list[Context], seed: int) -> None:
    model, twin = both(contexts)
    numbers = np.random.default_rng(seed).random((20, 9))
    asked = [contexts[i % len(contexts)] for i in range(len(numbers))]
    made = model.draw(np.array([model.history_of(context) for context in asked]), numbers)
    for context, row, mine in zip(asked, made.tolist(), numbers.tolist(), strict=True):
        history = ([BOS] * (ORDER - 1) + twin.before(context))[1 - ORDER :]
        expected: list[int] = []
        for number in mine:
            if expected[-1:] != [EOS]:
                expected.append(twin.drawn(tuple(history), number))
                history = [*history[1:], expected[-1]]
        assert row == expected + [EOS] * (len(row) - len(expected))


def slow_answer(generator: NgramGenerator, context: Context, n: int, seed: int) -> tuple[list[str], Counter[str], int]:
    """Endings, rejected draws and draws of a context, one draw after the other, by the words of the reasons."""
    vocabulary, model = generator.vocabulary, generator._model(context.fold)
    golds = {text_key(other.gold) for other in generator.golds}
    rng, endings, rejected, n_drawn = rng_of(context, seed), list[str](), Counter[str](), 0
    while len(endings) < n and n_drawn < generator.max_draws * n:
        n_more = min(n + n // 4 + 8, generator.max_draws * n - n_drawn)
        for numbers in rng.random((n_more, generator.max_tokens + 1)):
            if len(endings) == n:
                break
            (ids,) = model.draw(model.history_of(context)[None], numbers[None]).tolist()
            tokens = [vocabulary.spellings[i] for i in ids[: ids.index(EOS) if EOS in ids else None]]
            ending, n_drawn = detokenize(tokens), n_drawn + 1
            faults = {
                "unfinished": EOS not in ids,
                "too_short": len(tokens) < generator.min_tokens,
                "several_sentences": bool(SENTENCE_ENDS & set(tokens[:-1])),
                "blank": not any(map(str.isalnum, ending)),
                "equal_to_gold": comparable(ending) == comparable(context.gold),
                "repeated": comparable(ending) in map(comparable, endings),
                "gold_of_another": text_key(ending) in golds,
            }
            fault = next((name for name, is_so in faults.items() if is_so), "")
            if fault:
                rejected[fault] += 1
            else:
                endings.append(ending)
    return endings if len(endings) == n else [], rejected, n_drawn


@settings(max_examples=25)
@given(CONTEXTS, st.integers(1, 3), st.integers(3, 8), st.integers(1, 12), st.integers(0, 2**32))
def test_blocks_of_draws_are_read_as_one_draw_after_the_other(
    contexts: list[Context], min_tokens: int, max_tokens: int, n: int, seed: int
) -> None:
    dealt = [replace(context, id=f"{i}", video=f"v{i}", fold=i % 2) for i, context in enumerate(contexts)]
    generator = NgramGenerator(dealt, min_tokens=min_tokens, max_tokens=max_tokens, max_draws=3)
    for answer in generator.generate(dealt, n, seed=seed):
        context = dealt[answer.position]
        if answer.reason == "gold_of_several_sentences":
            assert SENTENCE_ENDS & set(tokenize(context.gold)[:-1])
        elif answer.reason != READ:
            expected = slow_answer(generator, context, n, seed)
            assert (list(answer.endings), answer.rejected, answer.n_drawn) == expected


def test_it_keeps_the_contract() -> None:
    check_generator(lambda: NgramGenerator(MADE, min_tokens=2), MADE[:8])
    check_generator(make_generator("ngram", golds=MADE, min_tokens=2), MADE[8:16], n_negatives=2)


def test_a_context_learns_nothing_from_its_fold() -> None:
    """With the golds of its fold dealt anew among their contexts, what is left to learn from is the same."""
    generator = NgramGenerator(MADE, min_tokens=2)
    fold = [i for i, context in enumerate(MADE) if context.fold == 1]
    shuffled = list(MADE)
    for i, other in zip(fold[1:], [*fold[2:], fold[1]], strict=True):
        shuffled[i] = replace(MADE[i], gold=MADE[other].gold)
    asked = MADE[fold[0]]
    assert shuffled[fold[0]] == asked
    one, two = (next(iter(g.generate([asked], 9, seed=3))) for g in (generator, NgramGenerator(shuffled, 2)))
    assert one == two
    assert one.endings


def test_a_type_that_stands_in_the_fold_alone_is_never_drawn() -> None:
    """Few contexts, so that draws often come to the uniform distribution."""
    few = [Context("A.", "b", f"sees {w} {w}{w}.", id=w, fold=i % 3) for i, w in enumerate("cdefgh")]
    generator = NgramGenerator(few, min_tokens=1, max_tokens=6, max_draws=60)
    drawn: Counter[int] = Counter()
    for fold in range(3):
        mine = {token for context in few if context.fold == fold for token in tokenize(context.gold)}
        others = {token for context in few if context.fold != fold for token in tokenize(context.gold)}
        asked = [context for context in few if context.fold == fold]
        for answer in generator.generate(asked, 30, seed=0):
            drawn[fold] += len(answer.endings)
            assert not (mine - others) & {token for ending in answer.endings for token in tokenize(ending)}
    assert min(drawn[fold] for fold in range(3)) > 0


def test_no_word_keeps_the_full_stop_of_a_sentence_and_none_stands_inside_an_ending() -> None:
    """Golds of two sentences: tokenised as one, `ball.` is a word."""
    two = [replace(c, gold=f"{c.gold} Then number {i} runs.") for i, c in enumerate(MADE)]
    answers = list(NgramGenerator(two, min_tokens=2, max_draws=200).generate(MADE, 6, seed=0))
    endings = [ending for answer in answers for ending in answer.endings]
    assert endings
    assert not [ending for ending in endings if "." in ending[:-1]]


def test_an_ending_of_several_sentences_is_left_out_and_counted() -> None:
    """Few contexts, so that a word is drawn after a full stop now and then."""
    few = [Context("A.", "b", f"sees {w}. Goes {w}{w}.", id=w, fold=i % 3) for i, w in enumerate("cdefgh")]
    asked = [replace(context, gold=context.gold.split(".")[0] + ".") for context in few]
    answers = list(NgramGenerator(few, min_tokens=1, max_tokens=9, max_draws=60).generate(asked, 20, seed=0))
    assert sum(answer.rejected.get("several_sentences", 0) for answer in answers) > 0
    assert not [ending for answer in answers for ending in answer.endings if "." in ending[:-1]]


def test_a_gold_of_several_sentences_has_no_ending_like_it() -> None:
    """Beside endings of one sentence it would tell itself."""
    two = replace(MADE[0], gold=f"{MADE[0].gold} Then it stops.")
    answers = sorted(NgramGenerator(MADE, min_tokens=2).generate([two, MADE[1]], 3, seed=0), key=lambda a: a.position)
    assert [answer.reason for answer in answers] == ["gold_of_several_sentences", ""]


def test_types_and_lengths_are_those_of_golds() -> None:
    """`room` and `house` stand in first sentences only; three tokens are too few, and six too many."""
    contexts = make_contexts_of(30, n_videos=6)
    golds = {token for context in contexts for token in tokenize(context.gold)}
    generator = NgramGenerator(contexts, min_tokens=4, max_tokens=8)
    for answer in generator.generate(contexts, 6, seed=0):
        assert len(answer.endings) == 6
        assert answer.n_drawn == 6 + sum(answer.rejected.values())
        for ending in answer.endings:
            assert 4 <= len(tokenize(ending)) <= 8
            assert set(tokenize(ending)) <= golds


def test_the_gold_of_another_context_does_not_count() -> None:
    golds = {comparable(context.gold) for context in MADE}
    answers = list(NgramGenerator(MADE, min_tokens=2).generate(MADE, 6, seed=0))
    assert sum(answer.rejected.get("gold_of_another", 0) for answer in answers) > 0
    assert not golds & {comparable(ending) for answer in answers for ending in answer.endings}


def test_nor_does_one_whose_words_the_pool_writes_otherwise() -> None:
    """With an emoji and its selector, which the pool leaves out, 242 golds of 40 contexts were wrong endings."""
    made = [replace(one, gold=f"{one.gold.rstrip('.')} ❤\ufe0f.") for one in MADE]
    generator = NgramGenerator(made, min_tokens=2, normalise=True)
    golds = {comparable(generator.held(context.gold)) for context in made}
    answers = list(generator.generate(made, 6, seed=0))
    assert sum(answer.rejected.get("gold_of_another", 0) for answer in answers) > 0
    assert not golds & {comparable(ending) for answer in answers for ending in answer.endings}


def test_a_context_whose_second_sentence_stands_in_another_fold_is_not_answered() -> None:
    twice = [*MADE, replace(MADE[0], id="again", video="other", fold=2)]
    answers = list(NgramGenerator(twice, min_tokens=2).generate(twice[-1:], 3, seed=0))
    assert [answer.reason for answer in answers] == [READ]


def test_one_fold_has_nothing_to_learn_from() -> None:
    alone = [replace(context, fold=0) for context in MADE]
    with pytest.raises(InputError, match="no context outside fold 0"):
        list(NgramGenerator(alone).generate(alone, 3, seed=0))


def test_more_endings_than_there_are_is_a_reason_and_counts_its_draws() -> None:
    few = [Context("A.", "b", f"sees {i % 2}.", id=str(i), fold=i % 2) for i in range(4)]
    answer = next(iter(NgramGenerator(few, min_tokens=1, max_tokens=3, max_draws=3).generate(few, 99, seed=0)))
    assert (answer.reason, answer.n_drawn) == (DRAWN_OUT, 297)
    assert answer.rejected["repeated"] + answer.rejected["gold_of_another"] > 0


def test_a_question_without_a_start_is_answered_like_others() -> None:
    """After a question, what begins is an answer: nothing of a question comes after one."""
    questions = [
        Context(f"Which {w} is it?", "", f"the {w} {c}", fold=i % 2) for i, w in enumerate("abcdef") for c in w
    ]
    for answer in NgramGenerator(questions, min_tokens=1).generate(questions, 3, seed=0):
        assert all("which" not in ending and "?" not in ending for ending in answer.endings)


def test_contexts_of_other_words_are_answered() -> None:
    foreign = Context("Une femme rit.", "Elle", "danse avec lui.", fold=0)
    answer = next(iter(NgramGenerator(MADE, min_tokens=2).generate([foreign], 5, seed=0)))
    assert len(answer.endings) == 5


@pytest.mark.parametrize("step", [1, -1])
def test_a_video_in_several_folds_is_refused_whatever_the_order_of_lines(step: int) -> None:
    """Of such a video all contexts but those of its last fold were said to be read by their model."""
    golds = [*MADE, replace(MADE[0], id="elsewhere", fold=1)][::step]
    with pytest.raises(InputError, match=r"video v0: in folds (0 and 1|1 and 0), so a model would read"):
        list(NgramGenerator(golds).generate(golds, 3, seed=0))


def test_lengths_are_those_of_the_pool() -> None:
    """A full stop that a pool adds is a token: endings had one more than golds may have."""
    golds = [
        replace(context, gold=f"{context.gold.rstrip('.')}{' and so on' * (i % 2)}") for i, context in enumerate(MADE)
    ]
    for normalised, longest in ((True, 7), (False, 8)):
        generator = NgramGenerator(golds, min_tokens=1, max_tokens=7, normalise=normalised)
        answers = [answer for answer in generator.generate(golds, 6, seed=0) if answer.endings]
        lengths = [len(tokenize(normalise(ending))) for answer in answers for ending in answer.endings]
        assert max(lengths) == longest


def test_endings_that_the_pool_makes_alike_are_drawn_once() -> None:
    """A context was lost where two endings differ in a comma before the full stop that the pool adds."""
    contexts = [
        Context("A man sits.", "He", f"{verb} the ball{end}", id=f"{verb}{i}", video=verb, fold=k % 2)
        for k, verb in enumerate(["takes", "throws", "drops", "kicks", "hides", "sells"])
        for i, end in enumerate([",", ".", " ,."])
    ]
    generator = NgramGenerator(contexts, min_tokens=3, normalise=True)
    full = [one for one in generator.generate(contexts, 2, seed=0) if not one.reason]
    assert full
    for one in full:
        assert len({comparable(normalise(ending)) for ending in one.endings}) == 2
