"""What columns of others are called, and which names belong together.

Names compare without case, blanks, `_` and `-`. What is in the columns is looked at in `guessing`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from swag_af.data.cells.values import numbered_columns
from swag_af.data.cells.words import key_of

OPTIONS = (
    *("choices.text", "question.choices.text", "choices", "options", "endings", "candidates", "alternatives"),
    *("answerchoices", "mc1targets.choices", "answers", "ending", "choice", "option", "alternative", "candidate"),
    *("sol", "solution", "answer", "hyp", "hypothesis", "opt", "op", "a", "", "randomfifthsentencequiz", "quiz"),
)
"""Of options; a name of numbered or lettered columns stands for them all, none for A, B, C."""
LABELS = (
    *("label", "labels", "answerkey", "answeridx", "answerindex", "correctindex", "correctanswerindex", "goldindex"),
    *("goldlabel", "answerlabel", "gold", "correctoption", "correctchoice", "correctchoiceidx", "correctchoiceindex"),
    *("correctansweridx", "correctanswerid", "correctoptionidx", "correctoptionindex", "cop", "answer", "correct"),
    *("correctanswer", "target", "key", "mc1targets.labels", "answerrightending", "output", "solution", "rightanswer"),
)
"""Of what says which option is right."""
GOLDS = ("gold", "goldending", "correctanswer", "bestanswer", "rightanswer", "correct", "sentencegood", "right")
ANSWERS = ("answers", "answer", "answer.aliases", "answer.value", "aliases", "answeraliases", "possibleanswers")
"""What may hold answers in free text, without others to choose from."""
NEGATIVES = (
    *("negatives", "negative", "distractors", "distractor", "incorrectanswers", "incorrectanswer", "wronganswers"),
    *("wronganswer", "incorrect", "sentencebad", "wrong"),
)
CONTEXTS = (
    *("question.stem", "questionstem", "question", "goal", "stem", "query", "problem", "prompt", "questiontext"),
    *("ques", "q", "sent1", "ctx", "startphrase", "inputsentence", "obs", "context", "sentence", "premise", "passage"),
    *("article", "story", "text", "input", "instruction", "utterance", "dialogue", "dialog", "conversation"),
    *("scenario", "situation"),
)
QUESTIONS = (
    *("question.stem", "questionstem", "question", "stem", "query", "problem", "prompt", "questiontext", "ques", "q"),
)
"""Contexts that may have a passage before them."""
PASSAGES = (
    *("passage", "article", "context", "paragraph", "story", "text", "premise", "document", "background"),
    *("dialogue", "dialog", "conversation"),
)
PAIRS = (
    *(("premise", "hypothesis"), ("sentence1", "sentence2"), ("question1", "question2"), ("text1", "text2")),
    *(("texta", "textb"), ("sentencea", "sentenceb"), ("passage", "question"), ("question", "sentence")),
)
"""Of pairs with classes."""
TEXTS = (
    "sentence",
    "text",
    "review",
    "content",
    "tweet",
    "comment",
    "headline",
    "statement",
    "claim",
    "input",
    "question",
    "utterance",
)
CLASSES = (
    *("goldlabel", "label", "labels", "labeltext", "class", "category", "sentiment", "stance", "entailmentlabel"),
    *("entailmentjudgment", "isduplicate", "polarity", "type", "target", "output", "answer"),
)
"""Of classes."""
MEDIA = ("media", "image", "img", "imgfn", "imageid", "imageurl", "imagepath", "imagefile")
SPLITS = ("split",)
SOURCES = ("goldsource",)
CONTRAST_SETS = ("contrastset", "contrastsetid")
VARIANTS = ("variant",)
STAGE_NAMES = ("stage",)
QUESTION_IDS = ("questionid",)


def shortly(names: Sequence[str]) -> str:
    """The first names, and whether there are more."""
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def within(record: Mapping[str, Any], depth: int = 2) -> Iterator[str]:
    """The dotted names of what is within the cells of a row."""
    for name, value in record.items():
        inner = value if isinstance(value, Mapping) else None
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            inner = dict.fromkeys(value[0])
        if inner is not None and "." not in name:
            yield from (f"{name}.{key}" for key in inner)
            yield from (f"{name}.{deeper}" for deeper in (within(inner, depth - 1) if depth else ()))


def lists_by_key(names: Iterable[str]) -> dict[str, str]:
    """What numbered and lettered columns are called together: `a` for a0, a1 ...; `opA,opB` for those two, and
    `answer1,answer2` where there is an `answer` too."""
    names = tuple(names)
    numbered, lettered = dict[str, str](), dict[str, list[str]]()
    for name in names:
        if (found := re.fullmatch(r"(.*?)[-_ ]?\d+", name)) and found[1]:
            columns = [one for _, one in numbered_columns(found[1], names)]
            if len(columns) > 1:  # answer1 and answer2 beside a column answer, which says which is right
                numbered.setdefault(key_of(found[1]), ",".join(columns) if found[1] in names else found[1])
        if found := re.fullmatch(r"(.*?)([A-Za-z])", name):
            lettered.setdefault(found[1] + ("a" if found[2].islower() else "A"), []).append(name)
    runs = {key: from_a_on(sorted(run)) for key, run in lettered.items()}
    rows = {key: run for key, run in runs.items() if len(run) > 1}
    return {key_of(key[:-1]): ",".join(run) for key, run in rows.items()} | numbered


def from_a_on(names: Sequence[str]) -> list[str]:
    """Those of `names`, in their order, that end in A, B and so on without a gap."""
    in_order = takewhile(lambda one: one[1][-1].upper() == chr(ord("A") + one[0]), enumerate(names))
    return [name for _, name in in_order]


_NUMERALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNTED = re.compile(rf"(.*?)[\s_([-]*(?:(\d\d?)|([a-z])|({'|'.join(_NUMERALS)})|({'|'.join(_ORDINALS)}))[\s)\].:]*")


def runs_of(names: Iterable[str]) -> list[list[str]]:
    """The names that one way of counting parts, in its order, each way that has two or more without a gap: `ans1`,
    `ans2`; `A)`, `B)`; `choice one`, `choice two`; `first`, `second`. Numbers begin with 0 or 1."""
    runs: dict[tuple[str, str], dict[int, str]] = {}
    for name in names:
        if found := _COUNTED.fullmatch(name.strip().lower()):
            way, at = _way_of(found)
            runs.setdefault((found[1], way), {}).setdefault(at, name)
    whole = ([by_place[at] for at in sorted(by_place)] for by_place in runs.values() if _has_no_gap(by_place))
    return [run for run in whole if len(run) > 1]


def _way_of(found: re.Match[str]) -> tuple[str, int]:
    """In what way a name is counted, and where."""
    number, letter, numeral, ordinal = found[2], found[3], found[4], found[5]
    if number:
        return "number", int(number)
    if letter:
        return "letter", ord(letter) - ord("a")
    return ("numeral", _NUMERALS.index(numeral)) if numeral else ("ordinal", _ORDINALS.index(ordinal))


def _has_no_gap(places: Iterable[int]) -> bool:
    there = sorted(places)
    return there[0] in (0, 1) and there == list(range(there[0], there[0] + len(there)))
