"""How many of everything, as Table 6 of Zellers et al. 2018: questions, endings, groups, images, types of words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.text.wording import last_sentence
from swag_af.data.tokens import one_after_another
from swag_af.describing.parts import others, token_list

MOST_SOURCES = 12
"""Groups whose names begin in more ways than this are not taken to be of named sources."""
_FREQUENT = 3
"""SWAG's language model keeps types that occur so often."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are of something."""

    what: str
    n: int
    share: float | None = None
    """Of all, where it is a part; 0 to 1."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of everything."""

    whole: tuple[Count, ...]
    splits: tuple[Count, ...]
    """Instances of each published split."""
    sources: tuple[Count, ...]
    """Instances by the letters that the names of their groups begin with, such as `anetv` and `lsmdc`."""
    labels: tuple[Count, ...]
    """Instances of each class, or with gold at each place, where the order of options is that of the dataset."""
    first_words: tuple[Count, ...]
    """Contexts by what they ask, and those that ask nothing."""
    vocabulary: tuple[Count, ...]
    """Of all different texts, in lower case."""


def counts_of(instances: Instances) -> Counts:
    """How many of everything are in a set."""
    return Counts(
        tuple(_whole(instances)),
        _shares({name or "(no name)": len(rows) for name, rows in _splits(instances)}, least=2),
        _sources(instances.instances),
        _labels(instances),
        _first_words(instances.instances),
        tuple(_vocabulary(instances)),
    )


def _splits(instances: Instances) -> list[tuple[str, np.ndarray]]:
    """The published splits in their usual order, then others by name."""
    usual = ("train", "val", "valid", "validation", "dev", "test")
    at = {name: i for i, name in enumerate(usual)}
    return sorted(instances.splits().items(), key=lambda one: (at.get(one[0].lower(), len(usual)), one[0]))


def _whole(instances: Instances) -> Iterator[Count]:
    ones, choices = instances.instances, instances.kind == "choices"
    yield Count("questions" if choices else "texts with a class", len(ones))
    whole = (one_after_another(one.context, one.start) for one in ones)
    yield from _different("contexts" if choices else "premises", whole)
    if any(one.start for one in ones):
        yield from _different("first sentences", (one.context for one in ones))
        yield from _different("starts", (one.start for one in ones))
    yield from _different("endings" if choices else "texts", (text for one in ones for text in one.options))
    if choices:
        yield from _different("golds", (one.options[one.answer] for one in ones))
        yield from _different("distractors", (text for one in ones for text in others(one)))
        for n, questions in sorted(Counter(map(len, (one.options for one in ones))).items()):
            yield Count(f"questions with {n} options", questions)
    for source, n in sorted(Counter(one.gold_source for one in ones if one.gold_source).items()):
        yield Count(f"questions whose gold was {source}", n)
    yield from _different("groups (videos, movies, passages)", (one.group for one in ones), unique=False)
    yield from _different("images or other media", (one.media for one in ones), unique=False)
    yield from _contrast_sets(ones)


def _different(what: str, texts: Iterable[str], *, unique: bool = True) -> Iterator[Count]:
    n = len({text for text in texts if text})
    if n:
        yield Count(f"unique {what}" if unique else what, n)


def _contrast_sets(ones: Sequence[Instance]) -> Iterator[Count]:
    sizes = Counter(one.contrast_set for one in ones if one.contrast_set)
    if sizes:
        yield Count("contrast sets", len(sizes))
        for size, n in sorted(Counter(sizes.values()).items()):
            yield Count(f"contrast sets of {size}", n, n / len(sizes))
    for variant, n in sorted(Counter(one.variant for one in ones if one.variant).items()):
        yield Count(f"instances that are {variant}", n, n / len(ones))


def _shares(counts: Mapping[str, int], *, least: int = 1) -> tuple[Count, ...]:
    """With the share of each; none where there are fewer than `least`."""
    total = sum(counts.values())
    return tuple(Count(what, n, n / total) for what, n in counts.items()) if len(counts) >= least else ()


_SOURCE = re.compile(r"[^\W\d_]{2,}")


def _sources(ones: Sequence[Instance]) -> tuple[Count, ...]:
    """By the letters that names of groups begin with, where these are few and each has several groups."""
    first_of = {one.group: found[0].lower() if (found := _SOURCE.match(one.group)) else "" for one in ones}
    groups = Counter(first_of.values())
    if "" in groups or not 2 <= len(groups) <= MOST_SOURCES or min(groups.values()) < 2:
        return ()
    return _shares(dict(sorted(Counter(first_of[one.group] for one in ones).items())))


def _labels(instances: Instances) -> tuple[Count, ...]:
    if instances.kind == "choices" and not instances.has_order:
        return ()
    counts = np.bincount(instances.answers, minlength=int(instances.n_answers.max()))
    names = instances.classes or [f"gold is option {place}" for place in range(1, len(counts) + 1)]
    return _shares(dict(zip(names, counts.tolist(), strict=True)))


_ASKED = ("what", "which", "who", "whose", "where", "when", "why", "how")
_OF_CLAUSES = ("where", "when")
"""With these statements begin, too: `When ice melts, it`."""
_AUXILIARIES = {
    *("is", "are", "was", "were", "am", "do", "does", "did", "have", "has", "had"),
    *("can", "could", "will", "would", "shall", "should", "may", "might", "must"),
}
YES_NO, OTHER, NONE = "yes or no", "other", "no question"
FEW_ASKED = 0.1
"""Where a smaller share of the contexts asks anything, they are no questions; of OpenBookQA's more than a third do."""


def _first_words(ones: Sequence[Instance]) -> tuple[Count, ...]:
    """What the contexts ask, of all; empty where they are no questions."""
    asked = Counter(question_word(one.context) or NONE for one in ones)
    if len(ones) - asked[NONE] < FEW_ASKED * len(ones):
        return ()
    return _shares({word: asked[word] for word in (*_ASKED, YES_NO, OTHER, NONE) if asked[word]})


def question_word(text: str) -> str:
    """What a text asks; empty if nothing.

    With a question mark at its end: the first question word of its last sentence (`whom` is `who`), `yes or no` if that
    begins with an auxiliary, else `other`. Without any mark there, as in NExT-QA: what that sentence begins with.
    """
    end = text.rstrip(" \"')”’")[-1:]
    if end in (".", "!"):
        return ""
    words = ["who" if token == "whom" else token for token in map(str.lower, token_list(last_sentence(text)))]
    if words and words[0] in _AUXILIARIES:
        return YES_NO
    if end == "?":
        return next((word for word in words if word in _ASKED), OTHER)
    first, second = [*words, "", ""][:2]
    is_clause = first in _OF_CLAUSES and second not in _AUXILIARIES
    return first if first in _ASKED and not is_clause else ""


def _vocabulary(instances: Instances) -> Iterator[Count]:
    texts = {text for one in instances.instances for text in (one.context, one.start, *one.options)}
    tally = Counter(token.lower() for text in texts for token in token_list(text))
    n_words = sum(any(map(str.isalnum, token)) for token in tally)
    yield Count("tokens", sum(tally.values()))
    yield Count("types", len(tally))
    yield Count("types with a letter or digit", n_words, n_words / max(1, len(tally)))
    for what, n in (
        (f"types that occur {_FREQUENT} times or more", sum(n >= _FREQUENT for n in tally.values())),
        ("types that occur once", sum(n == 1 for n in tally.values())),
    ):
        yield Count(what, n, n / max(1, len(tally)))
