"""The ConceptNet rule of SWAG: how many causal relations stand between the head verb of an ending and its object.

Zellers et al. 2018, 4.3 i: the score of an ending is the number of ConceptNet relations Causes, CapableOf,
ReceivesAction, UsedFor and HasSubevent between synonyms of its head verb and synonyms of the verb's object. The paper
finds verb and object by spaCy's dependency parser; here the tags of `swag_af.data.syntax.english` find them, so that
no model is needed. Synonyms and inflected forms are those that ConceptNet itself has (Synonym, FormOf); of a verb also
the base form (`swag_af.data.syntax.lemmas`).

The file is ConceptNet's own, `assertions.csv` or `.csv.gz`: edge, relation, start, end and JSON, parted by tabs.
"""

import gzip
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from swag_af.data.disk.files import check_is_file
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Texts
from swag_af.data.syntax.english.rules import penn_tags
from swag_af.data.syntax.english.words import BE, DO, HAVE
from swag_af.data.syntax.lemmas import verb_lemma
from swag_af.data.tokens import tokenize
from swag_af.data.work.progress import Advance, progress

CAUSAL = frozenset({"Causes", "CapableOf", "ReceivesAction", "UsedFor", "HasSubevent"})
"""Zellers et al. 2018, footnote 9."""
_SYNONYM, _FORM = "Synonym", "FormOf"
_WANTED = {b"/r/" + name.encode(): name for name in (*CAUSAL, _SYNONYM, _FORM)}
_ENGLISH = b"/c/en/"


@dataclass(frozen=True)
class ConceptNet:
    """What the rule needs of ConceptNet's English part."""

    causal: Counter[tuple[str, str]]
    """How many causal relations lead from one term to another."""
    synonyms: dict[str, frozenset[str]]
    """Those of each term, in both directions."""
    lemmas: dict[str, frozenset[str]]
    """What each term is a form of."""

    @classmethod
    def read(cls, path: Path) -> "ConceptNet":
        """The relations of the file; raises InputError naming the first line that is none of ConceptNet's."""
        causal: Counter[tuple[str, str]] = Counter()
        synonyms: defaultdict[str, set[str]] = defaultdict(set)
        lemmas: defaultdict[str, set[str]] = defaultdict(set)
        for relation, start, end in _edges(path):
            if relation == _SYNONYM:
                synonyms[start].add(end)
                synonyms[end].add(start)
            elif relation == _FORM:
                lemmas[start].add(end)
            else:
                causal[start, end] += 1
        if not causal:
            raise InputError(f"{path}: no causal relation between English terms. Name ConceptNet's assertions.csv.")
        frozen = [{term: frozenset(others) for term, others in found.items()} for found in (synonyms, lemmas)]
        return cls(causal, *frozen)

    def score(self, verb: str, object: str) -> int:
        """Causal relations between synonyms of the two, in either direction."""
        verbs, objects = self.alike(verb, verb_lemma(verb)), self.alike(object)
        pairs = {pair for a in verbs for b in objects if a != b for pair in ((a, b), (b, a))}
        return sum(self.causal[pair] for pair in pairs)

    def alike(self, *words: str) -> frozenset[str]:
        """The words, what they are forms of, and the synonyms of all these."""
        forms = {*words}.union(*(self.lemmas.get(word, frozenset()) for word in words))
        return frozenset(forms.union(*(self.synonyms.get(form, frozenset()) for form in forms)))


def conceptnet_scores(net: ConceptNet, texts: Texts) -> np.ndarray:
    """(M,) the score of each option, read behind its start; 0 without a verb that has an object."""
    starts = [texts.starts[row] for row in texts.rows.tolist()]
    pairs = [verb_and_object(start, option) for start, option in zip(starts, texts.options, strict=True)]
    known = {pair: net.score(*pair) for pair in set(pairs) if pair is not None}
    return np.array([known[pair] if pair is not None else 0 for pair in pairs], np.float64)


def verb_and_object(start: str, ending: str) -> tuple[str, str] | None:
    """The head verb of an ending and the head noun of its object, in lower case: `("rides", "bike")`; None if there is
    no such object."""
    n_start = len(tokenize(start))
    tokens = [token.lower() for token in tokenize(f"{start} {ending}".strip())]
    tags = penn_tags(tokenize(f"{start} {ending}".strip()))
    verb = next((i for i in range(min(n_start, len(tags)), len(tags)) if tags[i][:2] in ("VB", "MD")), None)
    while verb is not None and _is_auxiliary(tokens[verb], tags[verb]) and (later := _next_verb(tags, verb)):
        verb = later
    noun = None if verb is None else _object(tokens, tags, verb)
    return None if verb is None or noun is None else (tokens[verb], tokens[noun])


def _is_auxiliary(token: str, tag: str) -> bool:
    return tag == "MD" or token in BE | HAVE | DO


def _next_verb(tags: Sequence[str], at: int) -> int | None:
    """The verb that an auxiliary belongs to: the next word, adverbs aside."""
    i = at + 1
    while i < len(tags) and tags[i][:2] == "RB":
        i += 1
    return i if i < len(tags) and tags[i][:2] == "VB" else None


def _object(tokens: Sequence[str], tags: Sequence[str], verb: int) -> int | None:
    """The last noun of the noun phrase right behind the verb, adverbs and particles aside; without one its last
    adjective, as which the tagger takes some nouns."""
    i, noun, adjective = verb + 1, None, None
    while i < len(tags) and (tags[i][:2] == "RB" or tokens[i] in _PARTICLES):
        i += 1
    while i < len(tags) and (tags[i] in _WITHIN or tags[i][:2] in ("NN", "JJ")):
        if tags[i][:2] == "NN":
            noun = i
        elif noun is not None and tags[i] != "POS":
            break  # another phrase begins
        adjective = i if tags[i][:2] == "JJ" else adjective
        i += 1
    return adjective if noun is None else noun


_PARTICLES = frozenset({"up", "out", "off", "away", "back"})
_WITHIN = frozenset({"DT", "PRP$", "CD", "POS", "PDT"})


def check_conceptnet(path: Path) -> None:
    """Raise InputError where the first line is none of ConceptNet's, or cannot be read."""
    next(_edges(path), None)


def _edges(path: Path) -> Iterator[tuple[str, str, str]]:
    """`(relation, start, end)` of the wanted relations between English terms, blanks for underscores."""
    check_is_file(path)
    n_bytes = path.stat().st_size
    with path.open("rb") as file, progress("ConceptNet", n_bytes, "bytes") as advance, _unpacked(path, file) as lines:
        yield from _parsed(path, lines, file, advance)


@contextmanager
def _unpacked(path: Path, file: BinaryIO) -> Iterator[Iterator[bytes]]:
    try:
        yield iter(gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else iter(file)
    except (gzip.BadGzipFile, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{path}: cannot be unpacked ({error}). Download it again.") from None


def _parsed(path: Path, lines: Iterator[bytes], file: BinaryIO, advance: Advance) -> Iterator[tuple[str, str, str]]:
    read = 0
    for number, line in enumerate(lines, start=1):
        fields = line.split(b"\t")
        if len(fields) != 5 or not fields[1].startswith(b"/r/"):
            raise InputError(
                f"{path}: line {number} is none of ConceptNet's (edge, relation, start, end, JSON; tabs between). Name "
                "its assertions.csv."
            )
        relation = _WANTED.get(fields[1])
        if relation and fields[2].startswith(_ENGLISH) and fields[3].startswith(_ENGLISH):
            yield relation, _term(fields[2]), _term(fields[3])
        if number % 100_000 == 0:
            at = file.tell()
            advance(at - read)
            read = at


def _term(uri: bytes) -> str:
    """`ride a horse` of `/c/en/ride_a_horse/v`."""
    return uri.decode("utf-8", "replace").split("/")[3].replace("_", " ")
