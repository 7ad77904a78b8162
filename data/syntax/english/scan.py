"""A sentence while it is tagged from left to right, and the questions that rules ask about it.

It knows the tags so far and what the current clause still needs. It assigns no tags itself: that is done in `rules`.
"""

from swag_af.data.syntax.english.words import (
    ADVERBS,
    AFTER_VERB,
    BE,
    DO,
    DOMAIN_VERBS,
    FINITE,
    FINITE_AUXILIARIES,
    HAVE,
    ONLY_PAST,
    ONLY_SUBJECT,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    VERBS,
    Word,
    is_domain_noun,
    is_verb,
)


class Scan:
    """A sentence being tagged from left to right, and what its current clause still needs."""

    __slots__ = ("finite", "lacks_verb", "opened", "subordinate", "tags", "verb", "words")

    def __init__(self, words: list[Word]) -> None:
        self.words = words
        self.tags: list[str] = []
        self.finite = "none"
        """Whether the clause has its finite verb: `none`, `seen` or, after a comma, `maybe`."""
        self.subordinate = False
        """Whether this is a subordinate clause in front of its main clause."""
        self.lacks_verb = True
        """Whether no finite verb has come, or a subordinate clause came before the first."""
        self.opened = False
        """Whether a subordinate clause has begun after the first word."""
        self.verb = ""
        """Tag of the last verb that is no participle: what a conjoined verb is likely to agree with."""

    def push(self, word: Word, tag: str) -> None:
        self.tags.append(tag)
        if tag in FINITE:
            owed = self.subordinate and self.finite == "none"  # the main clause still needs its own
            self.finite, self.subordinate = "maybe" if owed else "seen", owed
            self.verb = "VB" if tag == "MD" else tag
            self.lacks_verb = self.lacks_verb and self.opened
        elif tag == "VB":
            self.verb = tag
        elif word.lower == "," and self.subordinate:
            self.finite, self.subordinate = "none", False
        elif tag == "CC" or word.lower in ",;:-":
            self.finite = "none" if self.finite == "none" else "maybe"
        elif tag in ("WP", "WDT") or (word.lower in SUBORDINATORS and (tag in ("IN", "WRB") or len(self.tags) == 1)):
            self.finite, self.subordinate = "none", self.finite == "none"
            self.opened = self.opened or len(self.tags) > 1

    def before(self, i: int) -> tuple[str, str, int]:
        """Tag, lower-cased word and index of the nearest token before `i` that is no adverb; -1 for none."""
        i -= 1
        while i >= 0 and (self.tags[i] in ADVERBS or self._floats(i)):
            i -= 1
        return (self.tags[i], self.words[i].lower, i) if i >= 0 else ("", "", -1)

    def _floats(self, i: int) -> bool:
        return self.words[i].lower in ("all", "both", "each") and i > 0 and self.tags[i - 1] == "PRP"

    def next(self, i: int) -> Word:
        return self.words[i + 1] if i + 1 < len(self.words) else _END

    def takes_object(self, i: int) -> bool:
        """Whether what follows `i` looks like what follows a verb: an object's first word or a particle."""
        word = self.next(i)
        return word.first in ("DT", "PRP$", "PRP", "TO") or word.lower in AFTER_VERB

    def article_follows(self, i: int) -> bool:
        return self.next(i).first in ("DT", "PRP$", "PRP")

    def finite_follows(self, i: int) -> bool:
        word = self.next(i)
        return word.first in ("VBZ", "MD", "VBD") or word.lower in FINITE_AUXILIARIES

    def orders(self, i: int) -> bool:
        """Whether a base form that begins its sentence is an imperative, not a noun whose verb follows."""
        word, following = self.words[i], self.next(i)
        if (i and self.words[0].lower in SUBORDINATORS) or following.lower in ONLY_SUBJECT:
            return False
        if self.article_follows(i):
            return True
        if word.first == "VB":
            return following.first not in ("VBZ", "MD") and following.lower not in FINITE_AUXILIARIES
        if word.lower not in DOMAIN_VERBS and (word.first != "NN" or not is_verb(word.lower)):
            return False
        past = following.kind == "-past" and (following.lower[-2:] != "ed" or self.next(i + 1).first == ".")
        statement = past or following.first in (".", "CC", "VBG", "NNP") or self.finite_ahead(i, certain=True)
        return not statement

    def begins_order(self, i: int) -> bool:
        """Whether an imperative follows its first word (`deep fry the egg`) or a clause (`when it is hot add salt`)."""
        if i > 1 and not self.subordinate:
            return False
        tag, _, left = self.before(i)
        if left == 0:
            return tag == "JJ" and self.article_follows(i)
        in_front = self.subordinate and self.words[0].lower in SUBORDINATORS
        owed = in_front and self.finite == "maybe" and self.words[i].first == "VB"
        predicate = tag == "VBN" or (tag == "JJ" and self.before(left)[0] in VERBS)
        return owed and (predicate or (tag in FINITE and self.article_follows(i)))

    def number_is_subject(self, i: int) -> bool:
        """Whether a numeral before `i` is all of a subject: `the two walk away`."""
        _, _, left = self.before(i)
        alone = left == 0 or (left == 1 and self.tags[0] == "DT") or self.tags[left - 1] in ("CC", ".")
        counted = self.tags[left] == "CD" or left > 0
        verbal = self.words[i].first == "VB" or self.takes_object(i) or left < i - 1
        return alone and counted and verbal and self.finite == "none" and not self.finite_follows(i)

    def finite_ahead(self, i: int, *, certain: bool = False) -> bool:
        """Whether a word after `i` is mostly a verb in the present, before any subordinate clause.

        With `certain`, words such as `slices` do not count, which are verbs mostly in captions.
        """
        sure = ONLY_PAST | HAVE if certain else ()
        for j, later in enumerate(self.words[i + 1 :], i + 1):
            if later.lower in SUBORDINATORS or later.first == "WP" or later.lower in SUBJECT_PRONOUNS:
                return False
            if certain and later.kind in ("-s", "-past") and later.lower not in ONLY_PAST:
                if self.article_follows(j) or (j == i + 1 and later.first == "VBZ" and not is_domain_noun(later)):
                    return True
            elif later.first in ("VBZ", "MD", "VBP") or later.lower in BE or later.lower in sure:
                return True
        return False

    def first_subordinate(self) -> int:
        """Where the first subordinate or relative clause begins; the length of the sentence without one."""
        for i, (tag, word) in enumerate(zip(self.tags, self.words, strict=True)):
            opens = tag in ("WP", "WDT") or (tag in ("IN", "WRB") and word.lower in SUBORDINATORS)
            if opens and self.next(i).lower != ",":  # after, ... for afterwards
                return i
        return len(self.tags)

    def asks(self, i: int) -> bool:
        """Whether `i` is the subject of an inverted clause: `do you want`."""
        return i > 0 and (self.tags[i - 1] == "MD" or self.words[i - 1].lower in DO)


_END = Word(".", ".", "")
