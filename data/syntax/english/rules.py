"""Penn Treebank tags for English sentences from a word list and rules: no model, no download.

What the look-up of a word by itself leaves open - *slices*, *cut*, *dressed*, *that* - is decided from left to right by
rules over the neighbours, one for each kind of word.

Penn tags only: the word lists are in `words`, universal tags in `universal`, loading taggers by name in `taggers`, and
finding verb phrases in `clauses`.
"""

from collections.abc import Callable, Sequence

from swag_af.data.syntax.english.scan import Scan
from swag_af.data.syntax.english.words import (
    ADJECTIVE_NOUNS,
    ADVERB_PARTICLES,
    ADVERBS,
    BE,
    DEGREES,
    DETERMINERS_ALONE,
    DO,
    FINITE,
    HAVE,
    HOMOGRAPHS,
    MOTION,
    NOMINAL_LEFT,
    NOUNS,
    OBJECT_PRONOUNS,
    ONLY_OBJECT,
    ONLY_PARTICIPLE,
    ONLY_PAST,
    ONLY_SUBJECT,
    VERBS,
    is_domain_noun,
    is_verb,
    look_up,
    set_of,
    stems,
)


def penn_tags(tokens: Sequence[str]) -> list[str]:
    """Penn Treebank tags of one sentence; they separate finite verbs (VBZ VBP VBD MD) from others (VB VBG VBN).

    Punctuation is `.`, symbols `SYM`, addresses `ADD`; *to* is always `TO` and particles are `IN`.
    """
    scan = Scan([look_up(token, i == 0) for i, token in enumerate(tokens)])
    for i, word in enumerate(scan.words):
        rule = _RULES.get(word.kind)
        scan.push(word, rule(scan, i) if rule else word.first)
    return _with_a_verb(scan) if scan.lacks_verb else scan.tags


def _base(scan: Scan, i: int) -> str:
    """A noun, adjective or verb without ending: `slice`, `open`, `walk`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    noun = word.first if word.first in ("NN", "JJ", "RB") else "NN"
    if left < 0:
        return "VB" if scan.orders(i) else noun
    if tag == "TO":
        place = word.first != "VB" and left > 0 and scan.words[left - 1].lower in MOTION and not scan.takes_object(i)
        return noun if place else "VB"
    if lower in HAVE and word.first == "VB":
        return "VBN"
    if tag == "MD" or lower in DO or lower in ("let", "lets", "please", "help", "helps"):
        return "VB"
    if tag in ("PRP", "WP", "EX", "WDT"):
        return _base_after_pronoun(scan, i, noun)
    if scan.begins_order(i):
        return "VB"
    if (tag == "CD" or lower in ("few", "others")) and scan.number_is_subject(i):
        return "VBP"
    if (
        word.first == "VB"
        and scan.finite == "none"
        and lower in ADJECTIVE_NOUNS
        and left > 0
        and scan.tags[left - 1] == "IN"
    ):
        return "VBP"  # kids in white celebrate
    if lower in DETERMINERS_ALONE and word.first == "VB":
        return "VBP"
    if tag in NOUNS:
        return _base_after_noun(scan, i, noun)
    if tag == "CC" or lower == ",":
        return _base_conjoined(scan, i, noun)
    return "VB" if word.first == "VB" and tag not in NOMINAL_LEFT | VERBS | {"IN"} else noun


def _base_after_pronoun(scan: Scan, i: int, noun: str) -> str:
    _, lower, left = scan.before(i)
    first = scan.words[i].first
    if left > 0 and lower in OBJECT_PRONOUNS and scan.tags[left - 1] in VERBS:
        return "VB" if first != "JJ" else "JJ"
    if scan.asks(left):
        return "VB"
    if lower in ("i", "we", "they", "you", "u", "he", "she", "who", "that", "which"):
        return "VBP"
    return "VBP" if first == "VB" and scan.finite != "seen" else noun


def _base_after_noun(scan: Scan, i: int, noun: str) -> str:
    word = scan.words[i]
    plural = scan.before(i)[0] in ("NNS", "NNPS")
    if scan.finite == "seen" or word.first in ("JJ", "RB") or scan.finite_follows(i):
        return noun
    pronoun_follows = scan.next(i).first in ("PRP$", "PRP") and scan.next(i).lower not in ONLY_SUBJECT
    if plural or (pronoun_follows and (scan.finite == "none" or is_verb(word.lower))):
        return "VBP"
    if scan.finite == "none" and scan.article_follows(i) and scan.tags[0] not in ("IN", "WRB", "TO"):
        return "VBP" if is_verb(word.lower) else noun
    continues = scan.takes_object(i) or scan.finite == "none" or scan.next(i).kind == "-ing"
    return "VBP" if word.first == "VB" and continues else noun


def _base_conjoined(scan: Scan, i: int, noun: str) -> str:
    word = scan.words[i]
    verbal = word.first == "VB" or (scan.takes_object(i) and scan.verb != "VBZ" and word.first != "JJ")
    if not scan.verb or not verbal:
        return noun
    return "VBP" if scan.verb in ("VBP", "VBZ") else "VB"


def _s_form(scan: Scan, i: int) -> str:
    """A plural noun or a verb in the third person: `slices`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    if left < 0:
        return "VBZ" if scan.article_follows(i) or (i > 0 and word.first == "VBZ") else "NNS"
    if lower in ("this", "another", "one") or (tag == "DT" and lower == "that"):
        return "VBZ"
    if tag in NOMINAL_LEFT:
        numbered = tag == "CD" and left > 0 and scan.tags[left - 1] in NOUNS  # number 1 throws the ball
        return "VBZ" if (tag == "JJ" or numbered) and _ends_subject(scan, i) else "NNS"
    if tag in ("PRP", "EX", "WP", "WDT", "WRB"):
        ends_subject = left > 0 and scan.tags[left - 1] == "IN" and scan.finite == "none"  # the man behind him walks
        ends_subject = ends_subject or (left > 0 and scan.words[left - 1].lower == "of")
        object_before = lower in ONLY_OBJECT and not ends_subject
        return "NNS" if object_before else "VBZ"
    if tag in NOUNS:
        return _s_form_after_noun(scan, i)
    if tag == "CC" or lower == ",":
        agrees = scan.verb in ("VBZ", "VBP") and (word.first == "VBZ" or scan.takes_object(i))
        return "VBZ" if agrees or (lower == "," and scan.finite == "none") else "NNS"
    return "VBZ" if tag not in VERBS | {"IN", "TO"} and (word.first == "VBZ" or left < i - 1) else "NNS"


def _ends_subject(scan: Scan, i: int) -> bool:
    """Whether the adjective before a form in -s is the end of its subject: `a man in blue celebrates`."""
    has_object = scan.article_follows(i) or scan.next(i).lower in ADVERB_PARTICLES
    if scan.words[i - 1].lower in ("other", "first", "second", "third") and has_object:
        return scan.finite != "seen"
    if scan.finite != "none" or scan.words[i].first != "VBZ":
        noun = scan.words[i - 1].lower in ADJECTIVE_NOUNS and has_object
        return scan.finite == "none" and (noun or scan.article_follows(i))
    return scan.takes_object(i) or scan.tags[i - 2 : i - 1] == ["IN"]


def _plural(scan: Scan, i: int) -> str:
    """A plural noun that only its position can make a verb: `a man clips the rope`."""
    tag, lower, _ = scan.before(i)
    subject = tag in NOUNS or (tag == "PRP" and lower not in ONLY_OBJECT)
    return "VBZ" if subject and scan.finite == "none" and scan.article_follows(i) else "NNS"


def _s_form_after_noun(scan: Scan, i: int) -> str:
    word = scan.words[i]
    following = scan.next(i)
    past_follows = word.first == "NNS" and following.kind == "-past"
    if scan.finite == "seen" or (scan.finite_follows(i) and not is_domain_noun(following)) or past_follows:
        return "NNS"
    if scan.finite == "maybe" and _begins_second_clause(scan, i):
        return "VBZ"
    return "VBZ" if scan.finite == "none" or word.first == "VBZ" or scan.takes_object(i) else "NNS"


def _begins_second_clause(scan: Scan, i: int) -> bool:
    """Whether the words between the last conjunction or comma and `i` are a subject: `..., and the crowd claps`."""
    begin = next((j for j in range(i - 1, -1, -1) if scan.tags[j] in ("CC", ".", "RB")), -1) + 1
    phrase = scan.tags[begin:i]
    if begin < 2 or phrase[:1] != ["DT"] or phrase[-1] != "NN" or not {"DT", "JJ", "NN"}.issuperset(phrase):
        return False
    if scan.words[begin].lower in _SINGULAR:
        return scan.next(i).first[:2] not in ("NN", "JJ")
    # nouns joined in one phrase would have a noun before the conjunction, and no comma
    commas = [j for j in range(begin) if scan.words[j].lower == ","]
    joined = scan.tags[begin - 1] == "CC" and scan.tags[begin - 2] not in NOUNS | {"."}
    return joined or (len(commas) == 1 and commas[0] >= begin - 2)


_SINGULAR = set_of("a an another one each this")


def _past(scan: Scan, i: int) -> str:
    """A past tense or a participle: `dressed`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    if word.lower in ONLY_PAST:
        return "NN" if word.lower == "saw" and tag in NOMINAL_LEFT else "VBD"
    if left < 0 or (word.first == "VBN" and ONLY_PARTICIPLE.fullmatch(word.lower)):
        return "VBN"
    if lower in BE or lower in HAVE or tag in NOMINAL_LEFT | VERBS | {"IN"}:
        return "VBN"
    if tag in ("PRP", "WP", "WDT", "EX"):
        inverted = left > 0 and scan.words[left - 1].lower in HAVE | BE
        object_before = lower in ONLY_OBJECT and not (left > 0 and scan.words[left - 1].lower == "of")
        return "VBN" if inverted or object_before else "VBD"
    if tag in NOUNS:
        participle = scan.finite == "seen" or scan.next(i).lower == "by" or _told_in_present(scan, i)
        return "VBN" if participle else "VBD"
    if tag == "CC" or lower == ",":
        return "VBD" if scan.verb == "VBD" else "VBN"
    return "VBD" if scan.finite == "none" else "VBN"


def _told_in_present(scan: Scan, i: int) -> bool:
    """Whether a past form after a noun is a participle, as its clause has another verb, in the present."""
    word = scan.words[i]
    if scan.verb in ("VBZ", "VBP") and word.lower.endswith("ed"):
        return True
    return word.first == "VBN" and scan.finite_ahead(i)


def _ing(scan: Scan, i: int) -> str:
    """A participle, a gerund or a noun: `building`."""
    first = scan.words[i].first
    tag, lower, left = scan.before(i)
    if left < 0:
        return first
    if tag in NOMINAL_LEFT:
        return first if scan.next(i).first[:2] in ("NN", "JJ") else "NN"
    starts = tag in VERBS and lower.startswith(("start", "begin", "began", "continu", "keep"))
    return "VBG" if lower in BE or starts else first


def _adjective(scan: Scan, i: int) -> str:
    """An adjective, or the noun that some are at the end of a noun phrase: `in the middle`."""
    if scan.words[i].lower not in ADJECTIVE_NOUNS or i == 0 or scan.tags[i - 1] not in ("DT", "PRP$"):
        return "JJ"
    first = scan.next(i).first
    return "NN" if first in (".", "IN", "CC", "TO") or first in FINITE else "JJ"


def _degree(scan: Scan, i: int) -> str:
    """`more`, `long`, `right`: an adjective before nouns and after *be*, an adverb elsewhere."""
    first, lower = scan.next(i).first, scan.words[i].lower
    before, tag = (scan.words[i - 1].lower, scan.tags[i - 1]) if i else ("", "")
    if lower in ("right", "best", "close") and tag in ("DT", "PRP$", "JJ") and first[:2] != "NN":
        return "NN" if lower != "best" else "JJS"
    if before in BE or tag in ("DT", "PRP$") or first[:2] in ("NN", "CD", "DT") or first in ("IN", "VBG"):
        return "JJ"
    return "RB"


def _that(scan: Scan, i: int) -> str:
    following, before = scan.next(i), scan.tags[i - 1] if i else ""
    if before in FINITE and following.first not in (".", "IN") and scan.words[i - 1].lower not in BE:
        return "IN"
    if before in NOUNS:
        return "WDT" if following.first in FINITE or following.kind in ("-s", "-base", "-past") else "IN"
    if following.first[:2] in ("NN", "JJ") and before not in FINITE | {"VBN"}:
        return "DT"
    begins_clause = following.first in ("PRP", "DT", "PRP$", "NNP", "NNS", "EX", "CD")
    return "IN" if begins_clause or following.lower == "there" else "DT"


def _her(scan: Scan, i: int) -> str:
    following = scan.next(i)
    ends_subject = i > 1 and scan.tags[i - 1] == "IN" and scan.finite == "none"  # the man behind her walks
    if ends_subject and following.first == "VBZ":
        return "PRP"
    return "PRP$" if following.first[:2] in ("NN", "JJ", "VB", "CD") else "PRP"


def _clitic_s(scan: Scan, i: int) -> str:
    before = scan.tags[i - 1] if i else ""
    if before in ("PRP", "EX", "WP", "WRB", "RB", "DT", "WDT"):
        return "POS" if scan.words[i - 1].lower.endswith(("one", "body")) else "VBZ"
    verbal = scan.next(i).first in ("DT", "IN", "VBG", "RB") and scan.next(i).lower != "back"
    return "VBZ" if verbal and scan.finite != "seen" else "POS"


def _there(scan: Scan, i: int) -> str:
    following = scan.next(i)
    return "EX" if following.lower in BE | HAVE | {"'s", "s"} or following.first == "MD" else "RB"


def _bare(scan: Scan, i: int) -> str:
    """`do` and `have`: infinitives after *to* and modals, finite elsewhere."""
    tag, _, left = scan.before(i)
    return "VB" if tag in ("TO", "MD") or (tag == "PRP" and scan.asks(left)) else "VBP"


def _no(scan: Scan, i: int) -> str:
    return "DT" if scan.next(i).first[:2] in ("NN", "JJ", "CD", "VB") else "UH"


def _like(scan: Scan, i: int) -> str:
    tag, lower = (scan.tags[i - 1], scan.words[i - 1].lower) if i else ("", "")
    if tag in ("TO", "MD"):
        return "VB"
    return "VBP" if lower in ("i", "we", "they", "you", "n't", "not") else "IN"


def _homograph(scan: Scan, i: int) -> str:
    """A closed-class word that is a noun after an article: `the can`, `his back`, `for a while`."""
    noun = i > 0 and scan.tags[i - 1] in ("DT", "PRP$", "JJ", "POS")
    return "NN" if noun else scan.words[i].first


def _left(scan: Scan, i: int) -> str:
    """`left`: a side between article and noun, a past tense elsewhere."""
    if i and scan.tags[i - 1] in ("DT", "PRP$", "IN"):
        return "JJ" if scan.next(i).first[:2] == "NN" else "NN"
    return _past(scan, i)


_Rule = Callable[[Scan, int], str]
_RULES: dict[str, _Rule] = {
    "-base": _base, "-s": _s_form, "-plural": _plural, "-past": _past, "-ing": _ing, "-adjective": _adjective,
    **dict.fromkeys(DEGREES, _degree), **dict.fromkeys(HOMOGRAPHS, _homograph),
    "that": _that, "her": _her, "'s": _clitic_s, "s": _clitic_s, "there": _there, "no": _no, "do": _bare,
    "have": _bare, "like": _like, "left": _left,
}  # fmt: skip


def _with_a_verb(scan: Scan) -> list[str]:
    """The tags, with the likeliest word made a verb where there is none before the first subordinate clause."""
    end = scan.first_subordinate() or (0 if scan.verb else len(scan.tags))
    if end > 1 and not FINITE.intersection(scan.tags[:end]) and not _verb_is_elsewhere(scan, end):
        for likely in (Scan.takes_object, _ends_clause):
            found = next((i for i in range(1, end) if _may_be_verb(scan, i) and likely(scan, i)), None)
            if found is not None:
                scan.tags[found] = "VBP" if scan.words[found].kind == "-base" else "VBZ"
                break
    return scan.tags


def _verb_is_elsewhere(scan: Scan, end: int) -> bool:
    """Whether the sentence is an imperative, or has its main verb after the relative clause that begins at `end`."""
    order = next((tag for tag in scan.tags if tag not in ADVERBS), "") == "VB"
    relative = end < len(scan.tags) and (scan.tags[end] in ("WP", "WDT") or scan.words[end].lower in ("that", "where"))
    return order or (relative and sum(tag in FINITE for tag in scan.tags[end:]) > 1)


def _may_be_verb(scan: Scan, i: int) -> bool:
    """Whether the word at `i` was taken for a noun but can be a verb, and a noun or pronoun comes before it."""
    word = scan.words[i]
    can = word.kind in ("-base", "-s") and scan.tags[i] not in ADVERBS
    return can and scan.before(i)[0] in NOUNS | {"PRP"}


def _ends_clause(scan: Scan, i: int) -> bool:
    """Whether a verb without an object is possible at `i`: after the subject and no noun of another phrase."""
    lower, subject = scan.words[i].lower, scan.tags[:i]
    if scan.next(i).first not in (".", "IN", "CC", "RB", "VBG") or not (is_verb(lower) or stems(lower)):
        return False
    if scan.tags[0] not in ("DT", "PRP", "PRP$", "CD", "NNS") and scan.words[0].kind:
        return False
    compound = subject[-1] in NOUNS and scan.words[i].first != "VB"  # a jet ski, a fishing line
    many = not {"NNS", "NNPS", "CC"}.isdisjoint(subject)
    return not compound or (VERBS.isdisjoint(subject) and subject.count("IN") <= many)
