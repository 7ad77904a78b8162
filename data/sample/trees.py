"""Constituency trees for the sample grammar: phrases in, trees out, and what follows from a tree for its sentence.

Trees carry Penn Treebank labels (a preposition `to` is `IN`, the infinitive's is `TO`). Everything known
about a sentence of the sample is read from its tree: tokens, universal tags, the split into start and ending.
This is no parser: `constituent` understands the phrases of the word tables and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from swag_af.data.sample.scenes import tables


@dataclass(frozen=True, slots=True)
class Node:
    """A tree: a label over children, or over one word."""

    label: str
    children: tuple["Node", ...] = ()
    word: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A line of the tables with its choices made: verb, particle, arguments as text."""

    verb: str
    particle: str
    arguments: tuple[str, ...]
    lasting: bool


def node(label: str, *parts: Node | None) -> Node:
    """A phrase of the parts that are not None."""
    return Node(label, tuple(part for part in parts if part is not None))


def leaf(label: str, word: str) -> Node:
    return Node(label, word=word)


# ---- What a tree says ----------------------------------------------------------------------------


def bracketed(tree: Node) -> str:
    """The tree on one line, as `nltk.Tree.fromstring` reads it."""
    if tree.word:
        return f"({tree.label} {tree.word})"
    return f"({tree.label} {' '.join(bracketed(child) for child in tree.children)})"


def words(tree: Node) -> list[str]:
    if tree.word:
        return [tree.word]
    return [word for child in tree.children for word in words(child)]


def split_position(tree: Node) -> int | None:
    """The token at which the final verb phrase reached from the root begins; None where there is none.

    Verb phrases inside a noun phrase or another verb phrase do not count (Zellers et al. 2018, footnote 2).
    """
    found = None
    for position, label in _outer_phrases(tree, 0):
        if label == "VP":
            found = position
    return found


def _outer_phrases(tree: Node, position: int) -> Iterator[tuple[int, str]]:
    """Position and label of each node that is reached from the root without entering noun and verb phrases."""
    yield position, tree.label
    if tree.label in {"NP", "VP"}:
        return
    for child in tree.children:
        yield from _outer_phrases(child, position)
        position += len(words(child))


_UNIVERSAL = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("VB", "VBZ", "VBP", "VBG", "VBN"), "VERB"),
    **dict.fromkeys(("PRP", "PRP$", "WP", "EX"), "PRON"),
    **dict.fromkeys(("TO", "POS"), "PART"),
    **dict.fromkeys(("IN", "RP"), "ADP"),
    **dict.fromkeys((",", "."), "PUNCT"),
    "JJ": "ADJ",
    "RB": "ADV",
    "DT": "DET",
    "PDT": "DET",
    "CC": "CCONJ",
    "CD": "NUM",
    "MD": "AUX",
}
_BE = frozenset(["is", "are", "be", "being"])


def universal_tags(tree: Node) -> list[str]:
    """One Universal Dependencies tag per token; `be` before a verb is AUX, `IN` before a clause SCONJ."""
    sisters = {child.label for child in tree.children}
    tags: list[str] = []
    for child in tree.children:
        if not child.word:
            tags += universal_tags(child)
        elif child.word in _BE and "VP" in sisters:
            tags.append("AUX")
        elif child.label == "IN" and "S" in sisters:
            tags.append("SCONJ")
        else:
            tags.append(_UNIVERSAL[child.label])
    return tags


def is_plural(noun_phrase: Node) -> bool:
    """Whether a verb agrees with the noun phrase in the plural."""
    head = noun_phrase.children[-1]
    if not head.word:  # what follows the head says nothing about its number
        return is_plural(noun_phrase.children[0])
    return head.label in {"NNS", "CD"} or head.word in {"they", "we", "both"}


def capitalised(tree: Node) -> Node:
    """The tree with the first letter of its first word upper case."""
    if tree.word:
        return leaf(tree.label, tree.word[:1].upper() + tree.word[1:])
    return Node(tree.label, (capitalised(tree.children[0]), *tree.children[1:]))


# ---- Phrases -------------------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def constituent(text: str) -> Node:
    """The tree of a phrase: `to the bench` is a PP, `up` a particle, `slowly` an ADVP, all else an NP."""
    first, *rest = text.split()
    if first in tables().prepositions and rest and rest[0] != "and":
        return node("PP", leaf("IN", first), constituent(" ".join(rest)))
    if not rest and first in tables().particles:
        return node("PRT", leaf("RP", first))
    if first in tables().adverbs | tables().particles:
        return node("ADVP", *(leaf("CC" if w == "and" else "RB", w) for w in (first, *rest)))
    return noun_phrase(text)


@lru_cache(maxsize=8192)
def noun_phrase(text: str) -> Node:
    """The tree of a noun phrase: modifiers before the head, then perhaps one prepositional phrase.

    A possessor ends in a free-standing `'s`. `a` becomes `an` before a vowel letter.
    """
    tokens = text.split()
    for i, token in enumerate(tokens):
        if i and token in tables().prepositions:
            return node("NP", _base(tokens[:i]), constituent(" ".join(tokens[i:])))
    return _base(tokens)


def _base(tokens: list[str]) -> Node:
    if "'s" in tokens:
        i = tokens.index("'s")
        possessor = Node("NP", (*_base(tokens[:i]).children, leaf("POS", "'s")))
        return Node("NP", (possessor, *_base(tokens[i + 1 :]).children))
    return Node("NP", tuple(_modifier_or_noun(token, tokens[i + 1 : i + 2]) for i, token in enumerate(tokens)))


def _modifier_or_noun(word: str, following: list[str]) -> Node:
    if word in {"a", "an"}:
        return leaf("DT", "an" if following and following[0][0] in "aeiou" else "a")
    if word in {"her", "his", "its", "their"} and following:
        return leaf("PRP$", word)
    if word in tables().determiners:
        return leaf("PDT" if following == ["the"] else "DT", word)
    if word in tables().numbers:
        return leaf("CD", word)
    if word in tables().adjectives:
        return leaf("JJ", word)
    if any(word in {subject, *others} for subject, others in tables().pronouns.items()) or word == "we":
        return leaf("PRP", word)
    return leaf("NNS" if is_plural_noun(word) else "NN", word)


def is_plural_noun(word: str) -> bool:
    s = word.endswith("s") and not word.endswith("ss") and word not in tables().singulars_in_s
    return s or word in tables().plurals_without_s


# ---- Verbs ---------------------------------------------------------------------------------------

_PARTICIPLES = {"cut": "cut", "put": "put", "take": "taken"}
"""The irregular ones among the verbs of passive sentences."""
_SHORT = re.compile(r"[^aeiou]*(?:qu)?[aeiou][bdgklmnprt]")
"""Verbs that double their last letter: one syllable, one vowel, one consonant."""


def verb_phrase(clause: Clause, form: str, adverb: str = "") -> Node:
    """The clause as a VP whose verb has the form VBZ, VBP, VB, VBG or VBN; an adverb goes to its end.

    A particle comes after a pronoun (`picks it up`) and before any other object (`picks up the ball`).
    """
    arguments = [constituent(text) for text in clause.arguments]
    if clause.particle:
        pronoun_first = bool(arguments) and arguments[0].children[0].label == "PRP"
        arguments.insert(int(pronoun_first), node("PRT", leaf("RP", clause.particle)))
    if adverb:
        arguments.append(constituent(adverb))
    return node("VP", leaf(form, inflect(clause.verb, form)), *arguments)


def inflect(verb: str, form: str) -> str:
    """`inflect("carry", "VBZ")` is `carries`."""
    stem = verb + verb[-1] if _SHORT.fullmatch(verb) else verb
    y = verb.endswith("y") and verb[-2] not in "aeiou"
    if form == "VBZ":
        if y:
            return verb[:-1] + "ies"
        return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    if form == "VBG":
        if verb.endswith("ie"):
            return verb[:-2] + "ying"
        silent = verb.endswith("e") and not verb.endswith("ee")
        return (verb[:-1] if silent else stem) + "ing"
    if form == "VBN":
        if verb in _PARTICIPLES:
            return _PARTICIPLES[verb]
        return verb[:-1] + "ied" if y else verb + "d" if verb.endswith("e") else stem + "ed"
    return verb
