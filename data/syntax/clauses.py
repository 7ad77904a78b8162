"""Where the final verb phrase of a sentence begins: from part-of-speech tags alone, or from a dependency parse.

Both return a token, or None where no clause has a verb after a subject of its own. Takes tokens, tags and heads;
`splitters` handles texts and trees.
"""

from collections.abc import Sequence

from swag_af.data.syntax.english.rules import penn_tags
from swag_af.data.syntax.english.universal import universal_tags
from swag_af.data.syntax.english.words import BE, DO, FINITE, HAVE, NOUNS

_NOMINAL = NOUNS | {"PRP", "PRP$", "EX", "CD", "DT", "WP"}
_NO_SUBJECT = frozenset({"RB", "RBR", "RBS", "CC", "UH", ".", "SYM"})
_BOUNDARIES = frozenset({",", ";", ":", "-", "--", "...", "then"})
_PRONOUNS = frozenset({"he", "she", "they", "i", "we", "you", "it"})
_TAKERS = frozenset({"IN", "TO", "VB", "VBG", "VBN"})
_SUBJECT_PRONOUNS = _PRONOUNS - {"you", "it"}
_NO_ORDERS = BE | HAVE | DO
_HELPERS = DO | {"let", "lets"}
_TIMES = frozenset({"time", "times", "day", "days", "moment", "moments", "point", "while", "end", "year"})
_TIMES |= {"second", "seconds", "minute", "minutes"}


def rules_verb_group(words: Sequence[str]) -> int | None:
    """First token of the final verb phrase that no verb or noun phrase contains, or None."""
    penn = penn_tags(words)
    universal = universal_tags(words, penn)
    return _final_group([word.lower() for word in words], penn, universal)


def _final_group(lower: list[str], penn: Sequence[str], universal: Sequence[str]) -> int | None:
    """One walk from left to right.

    Every subordinator and relative word claims one finite verb for itself; the first finite verb that nothing claims is
    the main one; a later one replaces it when it is in a new clause, that is after a conjunction or punctuation and a
    subject of its own.
    """
    walk = _Walk(lower, penn, universal)
    for i, tag in enumerate(penn):
        if tag in ("VB", "VBP") and walk.main is None and walk.orders(i):
            return _behind_order(walk, i)
        if tag in FINITE:
            walk.meet_verb(i)
        elif walk.opens_clause(i):
            walk.meet_opener(i)
        elif tag == "CC" or lower[i] in _BOUNDARIES:
            walk.meet_boundary(i)
        elif tag in ("VBG", "VBN", "VB") and walk.before(i) in ("CC", "."):
            walk.boundary = False
        elif tag in _NOMINAL:
            walk.subject = True
    return walk.main if walk.main is not None else walk.claimed


def _behind_order(walk: "_Walk", order: int) -> int | None:
    """The final verb phrase of a statement after an imperative, if one follows: `Sit down and we will talk.`"""
    for i in range(order + 2, len(walk.lower)):
        if walk.penn[i - 1] == "CC" or walk.lower[i - 1] == ",":
            group = _final_group(walk.lower[i:], walk.penn[i:], walk.universal[i:])
            sure = walk.lower[i] in _SUBJECT_PRONOUNS or walk.penn[i] in ("DT", "EX", "NNP")
            if group is not None and (sure or walk.penn[i + group] == "MD" or walk.lower[i + group] in BE):
                return i + group
    return None


class _Walk:
    """What `_final_group` has seen so far."""

    def __init__(self, lower: list[str], penn: Sequence[str], universal: Sequence[str]) -> None:
        self.lower, self.penn, self.universal = lower, penn, universal
        self.main: int | None = None
        """The verb that opens the final verb phrase, as far as we know."""
        self.claimed: int | None = None
        """The last verb of a subordinate clause before the main one."""
        self.claims = 0
        """Number of subordinate clauses whose finite verb is still to come."""
        self.inside = False
        """Whether this is an adverbial clause after the main verb, where *and* joins its parts."""
        self.fronted = False
        """Whether the first subordinate clause begins the sentence."""
        self.headless = False
        """Whether the last verb had no subject before it: an imperative, a question, a fragment."""
        self.boundary = self.subject = False
        """Whether a new clause may have begun, and whether it (or the first) has had a subject."""

    def orders(self, i: int) -> bool:
        """Whether the base form at `i` is the main verb of an imperative: `In a pan, fry the eggs.`"""
        if self.claims or self.lower[i] in _NO_ORDERS:
            return False
        if self.before(i) in ("TO", "MD", "VB", "VBG", "PRP") or _HELPERS.intersection(self.lower[max(i - 3, 0) : i]):
            return False
        statement = self.claimed is not None and not (self.fronted and self.penn[i] == "VB")
        return not statement and not self.has_bare_subject(i)

    def has_bare_subject(self, i: int) -> bool:
        """Whether there is a noun before `i`, after any subordinate clause, that no preposition or participle
        governs."""
        begin = 0 if self.claimed is None else self.claimed + 1
        taken, before = begin > 0, "VB" if begin else ""
        for word, tag in zip(self.lower[begin:i], self.penn[begin:i], strict=True):
            # after a noun, an article begins another noun phrase; a pronoun begins one anywhere
            another = before in NOUNS if tag in ("DT", "PRP$") else tag == "PRP" and before not in _TAKERS
            if word in _SUBJECT_PRONOUNS or tag == "EX" or (tag in _NOMINAL and (another or not taken)):
                return True
            taken = (tag in _TAKERS and word != "of") or (taken and tag != ".")
            before = before if tag == "CC" else tag
        return taken and before in ("NNS", "NNPS") and self.penn[i] == "VBP"

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
        """Whether there is more than adverbs, conjunctions and punctuation before `i`; *here* is enough."""
        before = zip(self.lower[:i], self.penn, strict=False)
        return any(tag not in _NO_SUBJECT or word == "here" for word, tag in before)

    def meet_opener(self, i: int) -> None:
        first = self.claimed is None and not self.claims and not self.headless
        self.fronted = self.fronted or (first and not self.has_bare_subject(i))
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
        """Whether a pronoun right after a noun begins a relative clause: `the first thing he does`."""
        if i == 0 or self.lower[i] not in _PRONOUNS or self.penn[i - 1] not in ("NN", "NNS"):
            return False
        if self.main is None:
            return self.penn[0] in ("DT", "PRP$", "CD", "JJ", "NNS") and self.lower[i - 1] not in _TIMES
        return not (self.boundary and self.behind_phrase(i))

    def behind_phrase(self, i: int) -> bool:
        """Whether there is only a prepositional phrase between the boundary and `i`: `..., at the end he falls`."""
        while self.penn[i - 1] in _NOMINAL or self.penn[i - 1] == "JJ":
            i -= 1
        return self.penn[i - 1] == "IN" and i > 1 and self.before(i - 1) in ("CC", ".")


# ---------------------------------------------------------------------------------------------- dependencies


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl", "sb"})  # sb: spaCy's of German
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
    """The root and the tokens conjoined with it, in order."""
    clauses = {i for i, head in enumerate(heads) if head < 0}
    for i, head in enumerate(heads):
        if head in clauses and labels[i] == "conj":
            clauses.add(i)
    return sorted(clauses)
