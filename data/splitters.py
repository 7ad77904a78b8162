"""Cut a caption at its final verb phrase: what comes before is `start`, the rest the gold ending (SWAG §2).

The paper's rule runs on a constituency tree: go down from the root through nodes that are neither a verb
phrase nor a noun phrase; of the verb phrases met, the last one is the ending. Three splitters give that
cut: `trees` reads it off a tree the caption carries, `rules` finds it from tags alone, `spacy` from a
dependency parse. No reading of files here and no dropping: a caption that cannot be cut is answered with
None.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from swag_af.data.captions import Caption
from swag_af.data.english import FINITE, NOUNS, penn_tags, universal_tags
from swag_af.data.errors import InputError
from swag_af.data.taggers import load_by_name, load_spacy, parse_tokens
from swag_af.data.tokens import token_spans


@dataclass(frozen=True, slots=True)
class Split:
    """A caption in two: `start` up to the final verb phrase, `ending` from there on, both as spelt in it."""

    start: str
    ending: str


class Splitter(Protocol):
    """Something that cuts captions at their final verb phrase."""

    name: str
    """Recorded in the pool's manifest."""

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        """One split per caption; None where there is no verb phrase or nothing before it."""
        ...


_SPLITTERS = {
    "auto": "swag_af.data.splitters:AutoSplitter",
    "rules": "swag_af.data.splitters:RulesSplitter",
    "trees": "swag_af.data.splitters:TreesSplitter",
    "spacy": "swag_af.data.splitters:SpacySplitter",
}


def load_splitter(name: str = "auto") -> Splitter:
    """The splitter called `name`: `rules`, `trees`, `spacy`, `spacy:PIPELINE` (package or folder) or `auto`.

    `auto` uses a caption's tree where it has one and the rules where it has none.
    """
    splitter: Splitter = load_by_name("splitter", name, _SPLITTERS)
    return splitter


def cut(text: str, at: int) -> Split | None:
    """`text` cut before character `at`, blanks around the cut dropped; None when a side would be empty."""
    start, ending = text[:at].rstrip(), text[at:].lstrip()
    return Split(start, ending) if any(map(str.isalnum, start)) and ending else None


class AutoSplitter:
    """A caption's own tree where it has one, the rules where it has none."""

    name = "trees-or-rules"

    def __init__(self) -> None:
        self._trees, self._rules = TreesSplitter(), RulesSplitter()

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [(self._trees if caption.tree else self._rules).split([caption])[0] for caption in captions]


# ---------------------------------------------------------------------------------------------------- trees


class TreesSplitter:
    """The paper's rule on bracketed trees with Penn Treebank labels."""

    name = "trees"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [_split_by_tree(caption) for caption in captions]


def _split_by_tree(caption: Caption) -> Split | None:
    spans = token_spans(caption.text)
    tree = _read_tree(caption)
    n_leaves = len(tree.leaves())
    if n_leaves != len(spans):
        raise InputError(
            f"{caption.text!r}: its tree has {n_leaves} leaves for {len(spans)} tokens. Parse the tokens of "
            "swag_af.data.tokens.tokenize, or split with rules."
        )
    starts = list(_verb_phrases(tree, 0))
    return cut(caption.text, spans[starts[-1]][0]) if starts else None


def _read_tree(caption: Caption) -> Any:
    if not caption.tree:
        raise InputError(f"{caption.text!r}: no tree. Give captions with trees, or split with auto or rules.")
    from nltk import Tree

    try:
        return Tree.fromstring(caption.tree)
    except ValueError as error:
        raise InputError(f"{caption.text!r}: its tree cannot be read ({str(error).splitlines()[0]}).") from error


def _verb_phrases(node: Any, first_leaf: int) -> Iterator[int]:
    """First leaves of the verb phrases under `node` that no verb phrase or noun phrase contains."""
    if isinstance(node, str):
        return
    label = node.label().split("-")[0].split("=")[0]
    if label == "VP":
        yield first_leaf
    elif label != "NP":
        for child in node:
            yield from _verb_phrases(child, first_leaf)
            first_leaf += 1 if isinstance(child, str) else len(child.leaves())


# ---------------------------------------------------------------------------------------------------- spaCy


class SpacySplitter:
    """The verb group of the last clause with its own subject, by a spaCy dependency parse."""

    def __init__(self, pipeline: str = "en_core_web_sm") -> None:
        self.name = f"spacy:{pipeline}"
        self._nlp = load_spacy(pipeline)

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        spans = [token_spans(caption.text) for caption in captions]
        words = [[c.text[begin:end] for begin, end in s] for c, s in zip(captions, spans, strict=True)]
        docs = parse_tokens(self._nlp, words)
        return [
            _cut_at_token(caption.text, s, _verb_group_of(doc))
            for caption, s, doc in zip(captions, spans, docs, strict=True)
        ]


def _cut_at_token(text: str, spans: list[tuple[int, int]], i: int | None) -> Split | None:
    return cut(text, spans[i][0]) if i is not None else None


def _verb_group_of(doc: Any) -> int | None:
    heads = [token.head.i if token.head.i != token.i else -1 for token in doc]
    return parsed_verb_group([token.pos_ for token in doc], heads, [token.dep_ for token in doc])


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
_AUXILIARIES = frozenset({"aux", "auxpass", "cop"})


def parsed_verb_group(tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]) -> int | None:
    """First token of the verb group of the last top clause that has a subject before its verb, or None.

    Takes UPOS tags, head indices (-1 for the root) and dependency labels, spaCy's or UD's.
    """
    labels = [relation.lower().split(":")[0] for relation in relations]
    found = None
    for clause in _conjuncts(heads, labels):
        parts = [i for i, head in enumerate(heads) if head == clause and i < clause]
        auxiliaries = [i for i in parts if labels[i] in _AUXILIARIES]
        verbal = tags[clause] in ("VERB", "AUX") or any(labels[i] == "cop" for i in parts)
        group = min([clause, *auxiliaries])
        if verbal and any(labels[i] in _SUBJECTS and i < group for i in parts):
            found = group
    return found


def _conjuncts(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    """The root and what is conjoined with it, in order."""
    clauses = {i for i, head in enumerate(heads) if head < 0}
    for i, head in enumerate(heads):
        if head in clauses and labels[i] == "conj":
            clauses.add(i)
    return sorted(clauses)


# ---------------------------------------------------------------------------------------------------- rules


class RulesSplitter:
    """The final verb phrase from part-of-speech tags: no parser, thousands of captions a second."""

    name = "rules"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        return [_split_by_rules(caption.text) for caption in captions]


def _split_by_rules(text: str) -> Split | None:
    spans = token_spans(text)
    return _cut_at_token(text, spans, rules_verb_group([text[begin:end] for begin, end in spans]))


_NOMINAL = NOUNS | {"PRP", "EX", "CD", "DT", "WP"}
_NO_SUBJECT = frozenset({"RB", "RBR", "RBS", "CC", "UH", ".", "SYM"})
_BOUNDARIES = frozenset({",", ";", ":", "-", "--", "...", "then"})
_PRONOUNS = frozenset({"he", "she", "they", "i", "we", "you", "it"})
_TIMES = frozenset({"time", "times", "day", "days", "moment", "moments", "point", "while", "end", "year"})
_TIMES |= {"second", "seconds", "minute", "minutes"}


def rules_verb_group(words: Sequence[str]) -> int | None:
    """First token of the final verb phrase that no verb or noun phrase contains, or None.

    One walk from left to right. Every subordinator and relative word claims one finite verb for itself; the
    first finite verb that nothing claims is the main one; a later one takes over when it stands in a new
    clause, that is behind a conjunction or punctuation and a subject of its own.
    """
    penn = penn_tags(words)
    universal = universal_tags(words, penn)
    walk = _Walk([word.lower() for word in words], penn, universal)
    for i, tag in enumerate(penn):
        if tag in FINITE:
            walk.meet_verb(i)
        elif walk.opens_clause(i):
            walk.meet_opener(i)
        elif tag == "CC" or walk.lower[i] in _BOUNDARIES:
            walk.meet_boundary(i)
        elif tag in ("VBG", "VBN", "VB") and walk.before(i) in ("CC", "."):
            walk.boundary = False
        elif tag in _NOMINAL:
            walk.subject = True
    return walk.main if walk.main is not None else walk.claimed


class _Walk:
    """What `rules_verb_group` has seen so far."""

    def __init__(self, lower: list[str], penn: Sequence[str], universal: Sequence[str]) -> None:
        self.lower, self.penn, self.universal = lower, penn, universal
        self.main: int | None = None
        """The verb that opens the final verb phrase, as far as we know."""
        self.claimed: int | None = None
        """The last verb of a subordinate clause before the main one."""
        self.claims = 0
        """Subordinate clauses that still wait for their finite verb."""
        self.inside = False
        """Whether we are in an adverbial clause behind the main verb, where *and* joins what is in it."""
        self.headless = False
        """Whether the last verb had no subject before it: an order, a question, a fragment."""
        self.boundary = self.subject = False
        """Whether a new clause may have begun, and whether it (or the first) has had a subject."""

    def meet_verb(self, i: int) -> None:
        before = self.before(i)
        if self.claims:
            self.claims -= 1
            self.claimed = i if self.main is None else self.claimed
        elif self.main is None:
            conjoined = before == "CC" and (self.headless or self.claimed is not None)
            self.headless = not self.has_subject(i)
            self.main = i if not self.headless and not conjoined else None
        elif before == "CC":
            self.boundary = False
        elif self.boundary and self.subject and before != ".":
            self.main, self.boundary, self.inside = i, False, False

    def has_subject(self, i: int) -> bool:
        """Whether more than adverbs, conjunctions and punctuation stands before `i`; *here* will do."""
        before = zip(self.lower[:i], self.penn, strict=False)
        return any(tag not in _NO_SUBJECT or word == "here" for word, tag in before)

    def meet_opener(self, i: int) -> None:
        self.claims += 1
        self.inside = self.main is not None and self.universal[i] == "SCONJ"
        self.boundary = self.boundary and self.before(i) != "." and self.lower[i] != "so"
        self.subject = self.subject or self.penn[i] in ("PRP", "WP")

    def meet_boundary(self, i: int) -> None:
        if self.main is None:
            self.claims = 0 if self.lower[i] == "," else self.claims
        elif not self.claims:
            joins_inside = self.inside and self.penn[i] == "CC" and self.before(i) != "."
            self.boundary, self.subject = not joins_inside, False

    def before(self, i: int) -> str:
        """The tag before `i`, adverbs left out."""
        i -= 1
        while i > 0 and self.penn[i] == "RB":
            i -= 1
        return self.penn[i] if i >= 0 else "."

    def opens_clause(self, i: int) -> bool:
        """Whether the word at `i` begins a clause with a finite verb of its own."""
        following = self.penn[i + 1] if i + 1 < len(self.penn) else "."
        if self.universal[i] == "SCONJ" or self.penn[i] in ("WP", "WDT", "WRB", "WP$"):
            return following not in ("VBG", "VBN", "TO", "IN", "JJ")
        if self.lower[i] == "so" and self.main is not None:
            return following in ("PRP", "DT", "PRP$", "IN")
        return self.reduced_relative(i)

    def reduced_relative(self, i: int) -> bool:
        """Whether a pronoun right behind a noun begins a relative clause: `the first thing he does`."""
        if i == 0 or self.lower[i] not in _PRONOUNS or self.penn[i - 1] not in ("NN", "NNS"):
            return False
        if self.main is None:
            return self.penn[0] in ("DT", "PRP$", "CD", "JJ", "NNS") and self.lower[i - 1] not in _TIMES
        return True
