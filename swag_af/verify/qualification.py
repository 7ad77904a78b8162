"""Qualification questions: items with known answers that every annotator judges before the items of a run.

    FILE.jsonl    one question per line: sent1, start, endings, and the known answers: ratings, best, second, whole

A rating is null where the answer is open. `best` is one place, or a list of places that are all correct; `second` is a
place, a list, or absent. `whole` lists places of endings that are no gibberish, whether they are likely or not.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.files import read_jsonl
from swag_af.data.disk.manifests import sha256_json
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import InputError
from swag_af.data.runs.run import Run
from swag_af.data.secrets import secret_rng
from swag_af.data.text.linked import links_of, unlinked
from swag_af.data.text.wording import comparable, words
from swag_af.judging.verdicts import Rating

BUILTIN, DRAWN = "builtin", "drawn"

N_DRAWN, N_DRAWN_EACH = 60, 4
"""Questions that are made of a run, and how many of them one annotator is asked."""

N_NONSENSE = 2
"""Endings of a question or a check that is drawn whose words are shuffled."""

FEWEST_WORDS = 5
"""Words of an ending that is shuffled, and ..."""
FEWEST_DIFFERENT = 3
"""... how many different ones: of fewer, another order may be as good."""


@dataclass(frozen=True, slots=True)
class QualificationQuestion:
    """One context, its endings, and the known answers."""

    sent1: str
    start: str
    endings: tuple[str, ...]
    ratings: tuple[Rating | None, ...]
    """The correct rating of each ending; None where several are correct."""
    best: tuple[int, ...]
    """Places that are correct for the best ending."""
    second: tuple[int, ...] = ()
    """Places that are correct for the second best; empty when any is."""
    whole: tuple[int, ...] = ()
    """Places of endings that are no gibberish, likely or not; gold first where the question was drawn."""
    golds: tuple[int, ...] = field(default=(), compare=False)
    """Other rows whose golds are among the endings, where the question was drawn."""

    @property
    def id(self) -> str:
        """A hash of the text: the same question has the same id in any file."""
        return f"q-{sha256_json([self.sent1, self.start, self.endings])[:16]}"


def read_questions(name: str | None) -> tuple[QualificationQuestion, ...]:
    """The questions that `--qualification` names: a file, or the built-in ones; empty for None and for DRAWN."""
    if name is None or name == DRAWN:
        return ()
    if name == BUILTIN:
        return tuple(parse_question(record, BUILTIN) for record in _BUILTIN)
    path = Path(name)
    questions = [parse_question(record, f"{path}, line {number}") for number, record in read_jsonl(path)]
    if not questions:
        raise InputError(f"{path}: no question in it. Write one a line, or leave --qualification away.")
    if len({question.id for question in questions}) < len(questions):
        raise InputError(f"{path}: a question stands there twice. Remove one of them.")
    return tuple(questions)


def draw_questions(run: Run, rows: Sequence[int], secret: str) -> dict[int, QualificationQuestion]:
    """Questions of contexts that are not shown as items, by row: gold, three endings of other videos, two with shuffled
    words.

    Those are golds of contexts that are not shown either: who met the gold of an item here would know it there. No two
    endings of a question are the same text, so that none stands there as right and as wrong. No question's first
    sentence has the answer of another one.
    Which, and how the words are shuffled, depends on a secret of the verification, so that nobody can prepare the
    answers. Known are the best ending (gold), the two that are gibberish, and that the four others are not.
    """
    rng, contexts = secret_rng(secret, "questions"), run.pool.contexts
    found: dict[int, QualificationQuestion] = {}
    ratings: tuple[Rating | None, ...] = (None, None, None, None, "gibberish", "gibberish")
    can_be_shuffled = cache(lambda row: is_long(run.pool.text(row, 0)))
    for row in rng.permutation(rows)[:N_DRAWN].tolist():
        others_in_order = _other_golds(run, row, rng.permutation(rows).tolist())
        whole = list(islice(others_in_order, 3))
        spoilt = list(islice(filter(can_be_shuffled, others_in_order), N_NONSENSE))
        if len(spoilt) == N_NONSENSE:
            golds = [run.pool.text(one, 0) for one in (row, *whole)]
            endings = (*golds, *(shuffled(run.pool.text(other, 0), rng) for other in spoilt))
            texts = contexts[row].sent1, contexts[row].start, endings
            others = tuple(sorted({*whole, *spoilt}))
            made = QualificationQuestion(*texts, ratings, (0,), whole=(0, 1, 2, 3), golds=others)
            if made not in found.values():
                found[row] = made
    apart = _without_linked(found, contexts)
    if len(apart) < N_DRAWN_EACH:
        raise InputError(
            f"--qualification {DRAWN}: needs {N_DRAWN_EACH} contexts or more that are not shown as items and do not "
            "tell each other's answers, each with five of other videos and golds among them, "
            f"{N_NONSENSE} of which have golds of {FEWEST_WORDS} words or more. Leave some out with --limit, or name a "
            "file of questions."
        )
    return apart


def _without_linked(
    found: Mapping[int, QualificationQuestion], contexts: Sequence[Context]
) -> dict[int, QualificationQuestion]:
    """The questions without one of each two of which one tells the other's answer."""
    rows = list(found)
    everywhere = [True] * len(rows)
    gone = unlinked(links_of([contexts[row] for row in rows]), everywhere, everywhere)
    return {row: found[row] for i, row in enumerate(rows) if i not in gone}


def _other_golds(run: Run, row: int, order: Sequence[int]) -> Iterator[int]:
    """Those of the rows `order` that are of another video than `row`, each text of gold once, and not that of `row`."""
    video, met = run.pool.contexts[row].video, {comparable(run.pool.text(row, 0))}
    for other in order:
        text = comparable(run.pool.text(other, 0))
        if text not in met and run.pool.contexts[other].video != video:
            met.add(text)
            yield other


def is_long(text: str) -> bool:
    """Whether `text` has words enough to be shuffled, and not the same one again and again."""
    return len(text.split()) >= FEWEST_WORDS and len(set(words(text))) >= FEWEST_DIFFERENT


def shuffled(text: str, rng: np.random.Generator) -> str:
    """The words of `text` in another order, with as few neighbours left together as twenty tries give.

    Its last marks stay last, and a capital at its beginning there, or whoever looks for these need not read.
    """
    mark = re.search(r"\W*$", text)
    assert mark is not None
    words, begins = text[: mark.start()].split(), text[:1].isupper()
    if begins and len(words[0]) > 1:
        words[0] = words[0][0].lower() + words[0][1:]
    orders = [rng.permutation(len(words)).tolist() for _ in range(20)]
    best = min(orders, key=lambda order: sum(b - a == 1 for a, b in pairwise(order)))
    made = " ".join(words[i] for i in best)
    return (made[:1].upper() + made[1:] if begins else made) + mark[0].rstrip()


def share_right(question: QualificationQuestion, ratings: Sequence[str], best: int, second: int) -> tuple[int, int]:
    """`(right, known)`: how many known answers of `question` were answered correctly, and how many there are.

    That no whole ending is called gibberish is one of them: who calls everything so has found those that are.
    """
    checks = [given == right for given, right in zip(ratings, question.ratings, strict=True) if right is not None]
    checks.append(best in question.best)
    if question.second:
        checks.append(second in question.second)
    if question.whole:
        checks.append(n_whole_refused(question, ratings) == 0)
    return sum(checks), len(checks)


def n_whole_refused(question: QualificationQuestion, ratings: Sequence[str]) -> int:
    """How many of the endings that are known to be whole are called gibberish."""
    return sum(ratings[place] == "gibberish" for place in question.whole)


def parse_question(record: Mapping[str, Any], where: str) -> QualificationQuestion:
    """The question in a JSON object; InputError says what is wrong with it."""
    given = parse_record(record, _Record, where, "Mend or remove it.", error=InputError)
    endings = tuple(given["endings"])
    ratings = tuple(given.get("ratings") or [None] * len(endings))
    best, second = _places(given["best"]), _places(given.get("second", []))
    whole = tuple(given.get("whole", ()))
    question = QualificationQuestion(given["sent1"], given["start"], endings, ratings, best, second, whole)
    n, places = len(endings), {*best, *second, *whole}
    faults = (
        (not 2 <= n <= 9, "from two to nine endings are asked for"),
        (len(ratings) != n, f"{len(ratings)} ratings for {n} endings"),
        (
            not question.best or not places <= set(range(n)),
            f"best, second and whole are places from 0 to {n - 1}, and best names one at least",
        ),
        (len(best) == 1 and best == second, "best and second are the same place, and nobody can choose one for both"),
        (any(ratings[i : i + 1] == ("gibberish",) for i in whole), "an ending that whole names is known as gibberish"),
        (len({ending.strip() for ending in endings}) < n, "two of its endings are the same"),
    )
    fault = next((text for wrong, text in faults if wrong), None)
    if fault is not None:
        raise InputError(f"{where}: {fault}. Mend or remove it.")
    return question


def _places(value: int | list[int]) -> tuple[int, ...]:
    return tuple(value if isinstance(value, list) else [value])


class _Record(TypedDict):
    """A line of a file of questions."""

    sent1: str
    start: str
    endings: list[str]
    ratings: NotRequired[list[Rating | None] | None]
    best: int | list[int]
    second: NotRequired[int | list[int]]
    whole: NotRequired[list[int]]


_BUILTIN: tuple[Mapping[str, Any], ...] = (
    {
        "sent1": "A boy stands on a diving board above a swimming pool.",
        "start": "He",
        "endings": [
            "jumps and lands in the water with a splash.",
            "bends his knees and looks down at the water.",
            "plants a row of carrots in the water.",
            "eats the diving board with a spoon.",
            "of the and pool is are wet the.",
            "turns into a cloud of paper birds.",
        ],
        "ratings": ["likely", "likely", "unlikely", "unlikely", "gibberish", "unlikely"],
        "best": [0, 1],
        "second": [0, 1],
    },
    {
        "sent1": "Two women sit at a kitchen table and peel potatoes.",
        "start": "One of the women",
        "endings": [
            "drops a peeled potato into a pot.",
            "wins the bicycle race by a minute.",
            "peels she the potato a into were.",
            "reaches for another potato.",
            "folds the kitchen into an envelope.",
            "the, is table and on of.",
        ],
        "ratings": ["likely", "unlikely", "gibberish", "likely", "unlikely", "gibberish"],
        "best": [0, 3],
        "second": [0, 3],
    },
    {
        "sent1": "A man brushes the snow off the windscreen of his car.",
        "start": "The man",
        "endings": [
            "gets into the car and drives away.",
            "waters the car until it grows leaves.",
            "scrapes ice from the glass with a small plastic tool.",
            "snow by off his the windscreen brush.",
            "swims across the windscreen to the other shore.",
            "is served breakfast by the windscreen.",
        ],
        "ratings": ["likely", "unlikely", "likely", "gibberish", "unlikely", "unlikely"],
        "best": [0, 2],
        "second": [0, 2],
    },
    {
        "sent1": "A girl throws a stick across the park, and her dog watches it fly.",
        "start": "The dog",
        "endings": [
            "reads the newspaper aloud to the stick.",
            "runs after the stick and picks it up.",
            "is run stick of a throwing at.",
            "pays for the stick with a bank card.",
            "wags its tail and chases the stick over the grass.",
            "a grass, the with tail in was.",
        ],
        "ratings": ["unlikely", "likely", "gibberish", "unlikely", "likely", "gibberish"],
        "best": [1, 4],
        "second": [1, 4],
    },
)
