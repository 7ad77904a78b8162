"""The contract of generators: two that keep it, and what is said of those that do not."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import make_contexts_of

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context
from swag_af.data.errors import ContractError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.text.wording import comparable
from swag_af.data.tokens import detokenize, tokenize
from swag_af.lm.checking import check_generator
from swag_af.lm.contract import Generated, Generator
from swag_af.lm.lstm.generator import LSTMGenerator
from swag_af.lm.options import GenerateOptions
from swag_af.lm.registry import GENERATORS, make_generator
from swag_af.lm.verb import generate

BEGIN, END = "<s>", "</s>"


@dataclass
class NgramGenerator:
    """Chains of words, each drawn by the one before it as often as in the endings that it read."""

    texts: Sequence[str] = field(repr=False)
    max_tokens: int = 12
    max_draws: int = 50

    name = "ngram"

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        following = self._counts()
        for position, context in enumerate(contexts):
            own = hashlib.sha256(f"{context.sent1}\x1f{context.start}".encode()).digest()
            rng = np.random.default_rng((seed, int.from_bytes(own[:8], "little")))
            kept = {comparable(context.gold): ""}
            for _ in range(self.max_draws * n_negatives):
                ending = self._draw(following, rng)
                kept.setdefault(comparable(ending), ending)
                if len(kept) > n_negatives:
                    break
            endings = tuple(kept.values())[1:]
            yield Generated(position, endings) if len(endings) == n_negatives else Generated(position, reason="too_few")

    def _counts(self) -> dict[str, Counter[str]]:
        following: dict[str, Counter[str]] = defaultdict(Counter)
        for text in self.texts:
            words = [BEGIN, *tokenize(text), END]
            for word, after in pairwise(words):
                following[word][after] += 1
        return following

    def _draw(self, following: dict[str, Counter[str]], rng: np.random.Generator) -> str:
        words = [BEGIN]
        while words[-1] != END and len(words) <= self.max_tokens:
            after = following[words[-1]]
            p = np.array(list(after.values())) / after.total()
            words.append(str(rng.choice(list(after), p=p)))
        return detokenize([word for word in words if word not in (BEGIN, END)])


CONTEXTS = make_contexts_of(12, n_videos=6)
TEXTS = [context.gold for context in make_contexts_of(60, n_videos=6)]


def test_an_ngram_generator_keeps_the_contract() -> None:
    check_generator(lambda: NgramGenerator(TEXTS), CONTEXTS)


def test_the_lstm_keeps_the_contract(lms: Path, contexts_path: Path) -> None:
    contexts = read_contexts(contexts_path)
    golds = [context for context in contexts if 5 <= len(tokenize(context.gold)) <= 25][:6]
    check_generator(lambda: LSTMGenerator(lms, contexts), golds, n_negatives=3)
    check_generator(make_generator(f"lstm[{lms}]"), golds, n_negatives=3)


def test_the_lstm_gives_no_ending_in_the_words_of_gold_or_of_another(lms: Path, contexts_path: Path) -> None:
    """ "jumps on to the mat." was a negative of "jumps onto the mat." """
    contexts = read_contexts(contexts_path)
    generator = LSTMGenerator(lms, contexts)
    alike = ("thing",) * len(generator.vocabulary)
    generator.vocabulary = replace(generator.vocabulary, spellings=alike)
    golds = [context for context in contexts if 5 <= len(tokenize(context.gold)) <= 25][:6]
    for answer in generator.generate(golds, 7, seed=0):
        n_tokens = [text.count("thing") for text in answer.endings]
        assert len({len(tokenize(golds[answer.position].gold)), *n_tokens}) == 8


def test_the_lstm_makes_the_endings_of_the_verb(lms: Path, contexts_path: Path, tmp_path: Path) -> None:
    pool = generate(GenerateOptions(contexts_path, lms, tmp_path / "pool", n_negatives=5, limit=9, tagger="rules"))
    assert isinstance(pool, CandidatePool)
    generator = LSTMGenerator(lms, read_contexts(contexts_path))
    answers = {answer.position: answer for answer in generator.generate(pool.contexts, 5, seed=0)}
    for row in range(len(pool)):
        assert answers[row].endings == tuple(pool.text(row, column) for column in range(1, 6))


Spoil = Callable[[list[Generated], Sequence[Context], int], list[Generated]]


@dataclass
class Broken(NgramGenerator):
    """A good generator whose answers go through `spoil`."""

    spoil: Spoil = field(kw_only=True)

    def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
        yield from self.spoil(list(super().generate(contexts, n_negatives, seed=seed)), contexts, seed)


def _with_first(answer: Generated, ending: str) -> Generated:
    return replace(answer, endings=(ending, *answer.endings[1:]))


FAULTS = {
    "one left out": (lambda answers, contexts, seed: answers[1:], "sentence 2.*1 of 12 contexts are not answered"),
    "one twice": (lambda answers, contexts, seed: [*answers, answers[0]], "sentence 2.*answered twice"),
    "one too few": (
        lambda answers, contexts, seed: [replace(a, endings=a.endings[1:]) for a in answers],
        "sentence 2.*3 of 4 endings",
    ),
    "neither": (
        lambda answers, contexts, seed: [Generated(a.position) for a in answers],
        "sentence 2.*or neither",
    ),
    "never any": (
        lambda answers, contexts, seed: [Generated(a.position, reason="tired") for a in answers],
        "not one of 12 contexts",
    ),
    "gold": (
        lambda answers, contexts, seed: [_with_first(a, contexts[a.position].gold) for a in answers],
        "sentence 3.*gold among its endings",
    ),
    "gold in capitals": (
        lambda answers, contexts, seed: [_with_first(a, contexts[a.position].gold.upper()) for a in answers],
        "sentence 3.*gold among its endings",
    ),
    "repeated": (
        lambda answers, contexts, seed: [_with_first(a, a.endings[1]) for a in answers],
        "sentence 3.*twice",
    ),
    "blank": (lambda answers, contexts, seed: [_with_first(a, "  ") for a in answers], "sentence 3.*without a word"),
    "by position": (
        lambda answers, contexts, seed: [_with_first(a, f"walks {a.position} miles.") for a in answers],
        "sentence 4.*order",
    ),
    "by company": (
        lambda answers, contexts, seed: [_with_first(a, f"walks {len(answers)} miles.") for a in answers],
        "sentence 4.*(order|fewer)",
    ),
    "deaf to the seed": (
        lambda answers, contexts, seed: [
            replace(a, endings=tuple(f"walks {i} miles to {contexts[a.position].id}." for i in range(4)))
            for a in answers
        ],
        "sentence 4.*two seeds|sentence 3.*though that is gold",
    ),
}


@pytest.mark.parametrize(("spoil", "said"), FAULTS.values(), ids=FAULTS.keys())
def test_a_broken_generator_is_named_with_its_sentence(spoil, said) -> None:
    with pytest.raises(ContractError, match=said):
        check_generator(lambda: Broken(TEXTS, spoil=spoil), CONTEXTS)


def test_what_comes_before_must_not_change_what_comes_next() -> None:
    class Counting(NgramGenerator):
        n_calls = 0

        def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
            self.n_calls += 1
            return super().generate(contexts, n_negatives, seed=seed + 7 * (self.n_calls > 1))

    with pytest.raises(ContractError, match=r"sentence 4.*what was generated before"):
        check_generator(lambda: Counting(TEXTS), CONTEXTS)


def test_stopped_and_asked_about_the_rest_it_must_answer_the_same() -> None:
    class Unfinished(NgramGenerator):
        """One that goes on where it was stopped, with other numbers."""

        def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
            self.was_stopped = getattr(self, "is_at_work", False)
            self.is_at_work = True
            yield from super().generate(contexts, n_negatives, seed=seed + 7 * self.was_stopped)
            self.is_at_work = False

    with pytest.raises(ContractError, match=r"sentence 4.*stopped and asked about the rest"):
        check_generator(lambda: Unfinished(TEXTS), CONTEXTS)


def test_counts_must_be_numbers_of_texts() -> None:
    def spoil(answers: list[Generated], contexts: Sequence[Context], seed: int) -> list[Generated]:
        return [replace(answer, rejected={"repeated": -1}) for answer in answers]

    with pytest.raises(ContractError, match=r"sentence 2.*no numbers of texts"):
        check_generator(lambda: Broken(TEXTS, spoil=spoil), CONTEXTS)


RECORDS: list[tuple[Any, str]] = [
    ({"path": Path("x")}, "no JSON"),
    ({"p": float("nan")}, "no JSON"),
    ({"model": None}, "model: expected str, got null"),
    (None, "is None, where a dict is due"),
]


@pytest.mark.parametrize(("record", "said"), RECORDS)
def test_a_record_must_be_json(record: dict[str, object], said: str) -> None:
    class Recorded(NgramGenerator):
        def record(self) -> dict[str, object]:
            return record

    with pytest.raises(ContractError, match=said):
        check_generator(lambda: Recorded(TEXTS), CONTEXTS)


def test_a_record_must_not_change() -> None:
    class Learning(NgramGenerator):
        n_read = 0

        def generate(self, contexts: Sequence[Context], n_negatives: int, *, seed: int) -> Iterator[Generated]:
            self.n_read += len(contexts)
            return super().generate(contexts, n_negatives, seed=seed)

        def record(self) -> dict[str, object]:
            return {"n_read": self.n_read}

    with pytest.raises(ContractError, match="changes while it generates"):
        check_generator(lambda: Learning(TEXTS), CONTEXTS)


def test_a_constructor_that_draws_is_named() -> None:
    made = count()

    class Drawing(NgramGenerator):
        def __init__(self, texts: Sequence[str]) -> None:
            super().__init__(texts)
            self.max_draws += next(made)  # another each time, as a draw without a seed is but by luck

    with pytest.raises(ContractError, match="sentence 1"):
        check_generator(lambda: Drawing(TEXTS), CONTEXTS)


def test_few_contexts_test_nothing() -> None:
    with pytest.raises(ValueError, match="needs four"):
        check_generator(lambda: NgramGenerator(TEXTS), CONTEXTS[:3])


def test_an_unknown_generator_gets_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no generator 'lstn'\. Did you mean lstm\?.*lstm\[path/to/lms\]"):
        make_generator("lstn")
    with pytest.raises(InputError, match=r"generator 'lstm' needs its lms in brackets"):
        make_generator("lstm")


def test_a_package_may_announce_a_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(GENERATORS), "announced", lambda self: {"chain": "test_generators:NgramGenerator"})
    assert isinstance(make_generator("chain", texts=TEXTS), Generator)
    assert make_generator("test_generators:NgramGenerator", texts=TEXTS).name == "ngram"
