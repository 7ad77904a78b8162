"""Qualification questions: items with known answers that every annotator judges before the items of a run.

    FILE.jsonl    one question per line: sent1, start, endings, and the known answers: ratings, best, second

A rating is null where the answer is open. `best` is one place, or a list of places that are all correct; `second` is a
place, a list, or absent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swag_af.data.errors import InputError
from swag_af.data.files import read_jsonl, sha256_json
from swag_af.judging.verdicts import RATINGS, Rating

BUILTIN = "builtin"


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

    @property
    def id(self) -> str:
        """A hash of the text: the same question has the same id in any file."""
        return f"q-{sha256_json([self.sent1, self.start, self.endings])[:16]}"


def read_questions(name: str | None) -> tuple[QualificationQuestion, ...]:
    """The questions that `--qualification` names: a file, or the built-in ones; empty for None."""
    if name is None:
        return ()
    if name == BUILTIN:
        return tuple(_question_of(record, BUILTIN) for record in _BUILTIN)
    path = Path(name)
    questions = [_question_of(record, f"{path}, line {number}") for number, record in read_jsonl(path)]
    if not questions:
        raise InputError(f"{path}: no question in it. Write one a line, or leave --qualification away.")
    if len({question.id for question in questions}) < len(questions):
        raise InputError(f"{path}: a question stands there twice. Remove one of them.")
    return tuple(questions)


def share_right(question: QualificationQuestion, ratings: Sequence[str], best: int, second: int) -> tuple[int, int]:
    """`(right, known)`: how many known answers of `question` were answered correctly, and how many there are."""
    checks = [given == right for given, right in zip(ratings, question.ratings, strict=True) if right is not None]
    checks.append(best in question.best)
    if question.second:
        checks.append(second in question.second)
    return sum(checks), len(checks)


def _question_of(record: Mapping[str, Any], where: str) -> QualificationQuestion:
    try:
        endings = tuple(str(ending) for ending in record["endings"])
        ratings = tuple(record.get("ratings") or [None] * len(endings))
        question = QualificationQuestion(
            str(record["sent1"]),
            str(record["start"]),
            endings,
            ratings,
            _places(record["best"]),
            _places(record.get("second", [])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: not a question ({type(error).__name__}: {error}). Mend or remove it.") from None
    n, places = len(endings), {*question.best, *question.second}
    faults = (
        (not 2 <= n <= 9, "from two to nine endings are asked for"),
        (len(ratings) != n, f"{len(ratings)} ratings for {n} endings"),
        (
            any(rating not in (*RATINGS, None) for rating in ratings),
            f"a rating that is neither null nor one of {', '.join(RATINGS)}",
        ),
        (
            not question.best or not places <= set(range(n)),
            f"best and second are places from 0 to {n - 1}, and best names one at least",
        ),
    )
    fault = next((text for wrong, text in faults if wrong), None)
    if fault is not None:
        raise InputError(f"{where}: {fault}. Mend or remove it.")
    return question


def _places(value: Any) -> tuple[int, ...]:
    return tuple(int(place) for place in (value if isinstance(value, list) else [value]))


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
