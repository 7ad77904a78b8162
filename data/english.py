"""Part-of-speech tags for English sentences from a word list and rules: no model, no download.

Every word type is looked up once in TextBlob's English lexicon (94,000 entries, the most common Penn
Treebank tag of each; Brill 1992). What that leaves open - *slices*, *cut*, *dressed*, *that* - is settled
from left to right by rules over the neighbours, and the result is mapped to universal tags. TextBlob was
chosen because its lexicon comes in the wheel, it is MIT-licensed and maintained, and it asks for nothing
but NLTK, which we need anyway. HanTa tags too, but is LGPL and many times slower; lemminflect says what a
word can be, not what it mostly is.

Words and tags only: loading taggers by name is in `taggers`, finding verb phrases in `splitters`.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple


def penn_tags(tokens: Sequence[str]) -> list[str]:
    """Penn Treebank tags of one sentence; they tell finite verbs (VBZ VBP VBD MD) from others (VB VBG VBN).

    Punctuation is `.`, symbols `SYM`, addresses `ADD`; *to* is always `TO` and particles are `IN`.
    """
    scan = _Scan([_word(token, i == 0) for i, token in enumerate(tokens)])
    for i, word in enumerate(scan.words):
        rule = _RULES.get(word.kind)
        scan.push(word, rule(scan, i) if rule else word.first)
    return scan.tags if scan.verb or len(tokens) == 1 else _with_a_verb(scan)


def universal_tags(tokens: Sequence[str], penn: Sequence[str]) -> list[str]:
    """Universal tags of one sentence from its Penn tags, by the conventions of UD English EWT."""
    lower = [_lower(token) for token in tokens]
    following = [*penn[1:], "."]
    tags = [_UNIVERSAL[tag] for tag in penn]
    for i, word in enumerate(lower):
        special = _SPECIAL.get(word)
        if special:
            tags[i] = special(lower, penn, i)
        elif penn[i] == "IN" and following[i] == "VBG" and word not in _PARTICLES:
            tags[i] = "SCONJ"
    return tags


# ---------------------------------------------------------------------------------------------- word lists


def _set(spec: str) -> frozenset[str]:
    return frozenset(spec.split())


FINITE = _set("VBZ VBP VBD MD")
VERBS = FINITE | _set("VB VBG VBN")
NOUNS = _set("NN NNS NNP NNPS")
ADJECTIVES = _set("JJ JJR JJS CD")
ADVERBS = _set("RB RBR RBS")
_NOMINAL_LEFT = ADJECTIVES | _set("DT PRP$ POS WP$")

BE = _set("be am is are was were been being 'm 're ai")
_HAVE = _set("have has had having 've")
_DO = _set("do does did")
_FINITE_AUXILIARIES = (BE | _HAVE) - _set("be been being having")
SUBORDINATORS = _set(
    """that if because while as when since after before until till though although whether once unless where
    wherever whenever whereas than how why"""
)
_PARTICLES = _set("up down off out over like")
_AFTER_VERB = _PARTICLES | _set("around back away in on into onto through at with her that how to along")
_SUBJECT_PRONOUNS = _set("i he she it we they you who there")
_OBJECT_PRONOUNS = _set("him them me us her it you himself herself themselves itself")
_ONLY_OBJECT = _set("him them me us")
_MOTION = _set("go goes going went gone come comes coming came get gets got next up down back close due")
_DETERMINERS_ALONE = _set("these those some all both")

_CLOSED_SPEC = {
    "DT": "the a an this these those each every some any all both another either neither half",
    "PRP": """i he she it we they you u him them me us myself yourself himself herself itself ourselves
        themselves yourselves mine yours hers ours theirs someone somebody something anyone anybody anything
        everyone everybody everything nobody nothing""",
    "PRP$": "my your his its our their her",
    "WP": "who whom what whoever whatever",
    "WP$": "whose",
    "WDT": "which whichever",
    "WRB": "when where why how wherever whenever",
    "MD": "can could will would shall should must might may ca wo 'll 'd ll ought cannot",
    "VBZ": "is has does 's",
    "VBP": "am are have do 'm 're 've ve ai",
    "VBD": "was were had did",
    "VB": "be",
    "VBN": "been",
    "VBG": "being having",
    "CC": "and or but nor & yet plus",
    "TO": "to na",
    "IN": """of in on at by for with from into onto about over under between through during without within
        against among amongst toward towards upon across behind beneath beside besides beyond near inside
        outside along around above below off out up down as like than per via despite except past throughout
        underneath atop alongside amid if because while since after before until till though although whether
        unless whereas that unlike amidst""",
    "RB": """not n't nt never always often then there here very too also just again now soon quickly slowly
        finally back away together apart forward backward backwards forwards upward upwards downward downwards
        aside almost already still even ever once twice only maybe perhaps instead however meanwhile therefore
        thus otherwise sometimes somewhere anywhere everywhere nowhere rather quite really so well later
        afterward afterwards ahead indoors outdoors upside overhead sideways halfway else far alone""",
    "JJ": "many few several such other same own first second third last next ok okay",
    "UH": "please yes yeah no hi hello oh wow hey ha haha ah bye lol",
    "CD": """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        twenty thirty forty fifty sixty hundred thousand million billion""",
    "NNS": "thanks people",
    "NN": "etc pm man water",
}
_CLOSED = {word: tag for tag, spec in _CLOSED_SPEC.items() for word in spec.split()}

_DOMAIN_VERBS = _set(
    """applaud arm-wrestle backflip bike bowl brush cartwheel chop curl cut dance demo dice dive dribble
    drum edge end fade flip float grate hammer hand-stand high-five hula-hoop hurdle juggle jump kayak
    knead lather lunge moonwalk mop mount mow paddle paint pan peel pirouette pivot putt raft rake ride
    rinse row sand saw shampoo skate skateboard ski sled slice snorkel snowboard somersault spar spin
    spray squat surf swing talk tattoo tube turn twirl vacuum wakeboard wash wave wax weld whisk windsurf
    wrestle zoom"""
)
"""Verbs of the captions' world that the lexicon lacks or takes for nouns."""

_VERBS_FIRST = _set(
    """become come drink eat feel find get give go hear help hope keep let like live look lose love make
    mean meet need pay prepare put rub run say see seem send sit stand start stay stop take thank try use
    walk want watch write"""
)
"""Base forms that are verbs more often than the lexicon thinks."""

_ONLY_PAST = _set(
    """went came became saw took gave ran began wrote rode drove ate fell flew grew knew threw drew sang
    swam drank rang sank sprang shook spoke broke chose wore tore bore rose froze stole woke hid bit
    forgot"""
)
_ONLY_PARTICIPLE = re.compile(r".*(en|wn|ne|ung)")
_NOT_VERBS = _set("person boy girl woman table ball team game car camera video")

_ADJECTIVE_NOUNS = _set(
    """right left front middle top bottom back side white black red blue green yellow pink orange brown
    purple gray grey male female individual blonde adult elderly young public floor inside outside
    outdoor final ground background present past future whole potential official professional original
    instrumental good best general animal commercial"""
)
_HOMOGRAPHS = _set("can will might back down while")
_DEGREES = _set("much most more less least long better best further fast close early late hard right enough")


# ------------------------------------------------------------------------------- what a word is by itself


class _Word(NamedTuple):
    """What is known of a word type before its neighbours are looked at."""

    lower: str
    first: str
    """Its most common Penn tag."""
    kind: str
    """The rule that settles its tag: a key of `_RULES`, or blank when `first` stands."""


def _lower(token: str) -> str:
    return token.lower().replace("’", "'")


@lru_cache(maxsize=1 << 18)
def _word(token: str, initial: bool) -> _Word:
    lower = _lower(token)
    if lower in _CLOSED and token not in ("US", "IT", "May"):
        return _Word(lower, _CLOSED[lower], lower if lower in _RULES else "")
    if not any(map(str.isalnum, token)):
        return _Word(lower, "SYM" if _SYMBOL.fullmatch(token) else ".", "")
    if _NUMERIC.match(token):
        return _Word(lower, _number_tag(lower), "")
    if _ADDRESS.search(lower):
        return _Word(lower, "ADD", "")
    tag = _open_tag(token, lower, initial)
    return _Word(lower, tag, lower if lower in _RULES else _open_kind(lower, tag))


_SYMBOL = re.compile(r"[$£€%+=/^#*|]|[:;=8][-o]?[()DPp]+")
_NUMERIC = re.compile(r"[+\-.'#$]?\d")
_ADDRESS = re.compile(r"\w@\w|^https?:|^www\.|\.(com|org|net|html?|doc|pdf)$")


def _number_tag(lower: str) -> str:
    if re.fullmatch(r"\d+(st|nd|rd|th)", lower):
        return "JJ"
    return "CD" if re.fullmatch(r"[+\-.'#$]*\d[\d.,:/\-%s]*", lower) else "NN"


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, str]:
    from textblob.en import lexicon

    len(lexicon)  # reads its file only when asked for something
    return {word: tag.split("|")[0] for word, tag in dict.items(lexicon)}


def _open_tag(token: str, lower: str, initial: bool) -> str:
    tag = _lexicon().get(lower, "")
    if token[0].isupper():
        cased = _lexicon().get(token, "")
        if not initial:
            return cased if cased[:2] in ("JJ", "NN", "CD") and cased != "NN" else "NNP"
        if not tag or tag.startswith("NNP"):
            return cased or (_guess(lower) if _stems(lower) else "NNP")
    if lower in _VERBS_FIRST:
        return "VB"
    if tag == "NNS" and _DOMAIN_VERBS.intersection(_stems(lower)):
        return "VBZ"
    return tag if tag in _OPEN_TAGS else _guess(lower)


_OPEN_TAGS = _set("NN NNS JJ JJR JJS RB RBR RBS VB VBD VBG VBN VBP VBZ IN CD UH MD PRP DT WP WRB")


def _guess(lower: str) -> str:
    """A tag from the word's ending, for words that the lexicon lacks."""
    for suffix, tag in _SUFFIXES:
        if lower.endswith(suffix) and len(lower) > len(suffix) + 1:
            return tag
    plural = lower.endswith("s") and not lower.endswith(("ss", "us", "is"))
    return "NNS" if plural else "NN"


_SUFFIXES = (
    ("ing", "VBG"), ("ed", "VBD"), ("ly", "RB"), ("ous", "JJ"), ("ful", "JJ"), ("able", "JJ"), ("ible", "JJ"),
    ("less", "JJ"), ("ish", "JJ"), ("ive", "JJ"), ("ical", "JJ"), ("ese", "JJ"), ("like", "JJ"),
    ("est", "JJS"),
)  # fmt: skip


def _open_kind(lower: str, tag: str) -> str:
    if tag == "VBG" or (lower.endswith("ing") and _stems(lower)):
        return "-ing"
    if tag in ("VBD", "VBN"):
        return "-past"
    known = lower in _lexicon()
    if tag == "VBZ" or (tag == "NNS" and (_stems(lower) or not known)):
        return "-s"
    if tag in ("VB", "VBP") or (tag in ("NN", "JJ", "RB") and (_is_verb(lower) or not known)):
        return "-base"
    return {"JJ": "-adjective", "NNS": "-plural"}.get(tag, "")


@lru_cache(maxsize=1 << 16)
def _stems(lower: str) -> tuple[str, ...]:
    """The verbs of which `lower` would be an inflected form: `slices` and `slicing` give `slice`."""
    return tuple(base for base in _uninflected(lower) if _is_verb(base))


def _uninflected(lower: str) -> list[str]:
    for suffix in ("ing", "ed"):
        if lower.endswith(suffix) and len(lower) > len(suffix) + 2:
            stem = lower[: -len(suffix)]
            single = stem[:-1] if stem[-1] == stem[-2] else stem
            return [stem, stem + "e", single, *([stem[:-1] + "y"] if stem.endswith("i") else [])]
    if lower.endswith("ies"):
        return [lower[:-3] + "y", lower[:-1]]
    if lower.endswith("es"):
        return [lower[:-1], lower[:-2]]
    return [lower[:-1]] if lower.endswith("s") and not lower.endswith("ss") else []


@lru_cache(maxsize=1 << 16)
def _is_verb(base: str) -> bool:
    """Whether `base` can be a verb: the lexicon says so of it or of one of its inflected forms."""
    if len(base) < 2 or base in _NOT_VERBS:
        return False
    tags = _lexicon()
    if base in _DOMAIN_VERBS or tags.get(base) in ("VB", "VBP"):
        return True
    stem = base[:-1] if base.endswith("e") else base
    past = base[:-1] + "ied" if base.endswith("y") else stem + "ed"
    gerunds = (stem + "ing", stem + stem[-1] + "ing")
    return (
        tags.get(past) in ("VBD", "VBN")
        or any(tags.get(gerund) == "VBG" for gerund in gerunds)
        or tags.get(base + "s") == "VBZ"
    )


# ------------------------------------------------------------------------------- what its neighbours say


class _Scan:
    """A sentence being tagged from left to right, and what its present clause still needs."""

    __slots__ = ("finite", "subordinate", "tags", "verb", "words")

    def __init__(self, words: list[_Word]) -> None:
        self.words = words
        self.tags: list[str] = []
        self.finite = "none"
        """Whether the clause has its finite verb: `none`, `seen` or, behind a comma, `maybe`."""
        self.subordinate = False
        """Whether this is a subordinate clause in front of its main clause."""
        self.verb = ""
        """Tag of the last verb that is no participle: what a conjoined verb is likely to agree with."""

    def push(self, word: _Word, tag: str) -> None:
        self.tags.append(tag)
        if tag in FINITE:
            owed = self.subordinate and self.finite == "none"  # the main clause still wants its own
            self.finite, self.subordinate = "maybe" if owed else "seen", owed
            self.verb = "VB" if tag == "MD" else tag
        elif tag == "VB":
            self.verb = tag
        elif word.lower == "," and self.subordinate:
            self.finite, self.subordinate = "none", False
        elif tag == "CC" or word.lower in ",;:-":
            self.finite = "none" if self.finite == "none" else "maybe"
        elif tag in ("WP", "WDT") or (tag in ("IN", "WRB") and word.lower in SUBORDINATORS):
            self.finite, self.subordinate = "none", self.finite == "none"

    def before(self, i: int) -> tuple[str, str, int]:
        """Tag, lower-cased word and index of the nearest token before `i` that is no adverb; -1 for none."""
        i -= 1
        while i >= 0 and (self.tags[i] in ADVERBS or self._floats(i)):
            i -= 1
        return (self.tags[i], self.words[i].lower, i) if i >= 0 else ("", "", -1)

    def _floats(self, i: int) -> bool:
        return self.words[i].lower in ("all", "both", "each") and i > 0 and self.tags[i - 1] == "PRP"

    def next(self, i: int) -> _Word:
        return self.words[i + 1] if i + 1 < len(self.words) else _END

    def takes_object(self, i: int) -> bool:
        """Whether what follows `i` looks like what follows a verb: an object's first word or a particle."""
        word = self.next(i)
        return word.first in ("DT", "PRP$", "PRP", "TO") or word.lower in _AFTER_VERB

    def article_follows(self, i: int) -> bool:
        return self.next(i).first in ("DT", "PRP$", "PRP")

    def finite_follows(self, i: int) -> bool:
        word = self.next(i)
        return word.first in ("VBZ", "MD", "VBD") or word.lower in _FINITE_AUXILIARIES

    def asks(self, i: int) -> bool:
        """Whether `i` is the subject of an inverted clause: `do you want`."""
        return i > 0 and (self.tags[i - 1] == "MD" or self.words[i - 1].lower in _DO)


_END = _Word(".", ".", "")


def _base(scan: _Scan, i: int) -> str:
    """A noun, adjective or verb without ending: `slice`, `open`, `walk`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    noun = word.first if word.first in ("NN", "JJ", "RB") else "NN"
    if left < 0:
        imperative = word.first == "NN" and scan.article_follows(i)
        return "VB" if word.first == "VB" or imperative else noun
    if tag == "TO":
        place = word.first != "VB" and scan.words[left - 1].lower in _MOTION and not scan.takes_object(i)
        return noun if place else "VB"
    if lower in _HAVE and word.first == "VB":
        return "VBN"
    if tag == "MD" or lower in _DO or lower in ("let", "lets", "please", "help", "helps"):
        return "VB"
    if tag in ("PRP", "WP", "EX", "WDT"):
        return _base_after_pronoun(scan, i, noun)
    if lower in _DETERMINERS_ALONE and word.first == "VB":
        return "VBP"
    if tag in NOUNS:
        return _base_after_noun(scan, i, noun)
    if tag == "CC" or lower == ",":
        return _base_conjoined(scan, i, noun)
    return "VB" if word.first == "VB" and tag not in _NOMINAL_LEFT | VERBS | {"IN"} else noun


def _base_after_pronoun(scan: _Scan, i: int, noun: str) -> str:
    _, lower, left = scan.before(i)
    first = scan.words[i].first
    if left > 0 and lower in _OBJECT_PRONOUNS and scan.tags[left - 1] in VERBS:
        return "VB" if first != "JJ" else "JJ"
    if scan.asks(left):
        return "VB"
    if lower in ("i", "we", "they", "you", "u", "he", "she", "who", "that", "which"):
        return "VBP"
    return "VBP" if first == "VB" and scan.finite != "seen" else noun


def _base_after_noun(scan: _Scan, i: int, noun: str) -> str:
    word = scan.words[i]
    plural = scan.before(i)[0] in ("NNS", "NNPS")
    if scan.finite == "seen" or word.first in ("JJ", "RB") or scan.finite_follows(i):
        return noun
    if plural or (scan.finite == "none" and scan.next(i).first in ("PRP$", "PRP")):
        return "VBP"
    return "VBP" if word.first == "VB" and (scan.takes_object(i) or scan.finite == "none") else noun


def _base_conjoined(scan: _Scan, i: int, noun: str) -> str:
    word = scan.words[i]
    verbal = word.first == "VB" or (scan.takes_object(i) and scan.verb != "VBZ" and word.first != "JJ")
    if not scan.verb or not verbal:
        return noun
    return "VBP" if scan.verb in ("VBP", "VBZ") else "VB"


def _s_form(scan: _Scan, i: int) -> str:
    """A plural noun or a verb in the third person: `slices`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    if left < 0:
        return "VBZ" if scan.article_follows(i) or (i > 0 and word.first == "VBZ") else "NNS"
    if lower in ("this", "another", "one") or (tag == "DT" and lower == "that"):
        return "VBZ"
    if tag in _NOMINAL_LEFT:
        return "VBZ" if tag == "JJ" and _ends_subject(scan, i) else "NNS"
    if tag in ("PRP", "EX", "WP", "WDT", "WRB"):
        object_before = lower in _ONLY_OBJECT and not (left > 0 and scan.words[left - 1].lower == "of")
        return "NNS" if object_before else "VBZ"
    if tag in NOUNS:
        return _s_form_after_noun(scan, i)
    if tag == "CC" or lower == ",":
        agrees = scan.verb in ("VBZ", "VBP") and (word.first == "VBZ" or scan.takes_object(i))
        return "VBZ" if agrees or (lower == "," and scan.finite == "none") else "NNS"
    return "VBZ" if tag not in VERBS | {"IN", "TO"} and (word.first == "VBZ" or left < i - 1) else "NNS"


def _ends_subject(scan: _Scan, i: int) -> bool:
    """Whether the adjective before a form in -s is the end of its subject: `a man in blue celebrates`."""
    if scan.finite != "none" or scan.words[i].first != "VBZ":
        return scan.finite == "none" and scan.article_follows(i)
    return scan.takes_object(i) or scan.tags[i - 2 : i - 1] == ["IN"]


def _plural(scan: _Scan, i: int) -> str:
    """A plural noun that nothing but its place can make a verb: `a man clips the rope`."""
    tag, lower, _ = scan.before(i)
    subject = tag in NOUNS or (tag == "PRP" and lower not in _ONLY_OBJECT)
    return "VBZ" if subject and scan.finite == "none" and scan.article_follows(i) else "NNS"


def _s_form_after_noun(scan: _Scan, i: int) -> str:
    word = scan.words[i]
    past_follows = word.first == "NNS" and scan.next(i).kind == "-past"
    if scan.finite == "seen" or scan.finite_follows(i) or past_follows:
        return "NNS"
    return "VBZ" if scan.finite == "none" or word.first == "VBZ" or scan.takes_object(i) else "NNS"


def _past(scan: _Scan, i: int) -> str:
    """A past tense or a participle: `dressed`."""
    word = scan.words[i]
    tag, lower, left = scan.before(i)
    if word.lower in _ONLY_PAST:
        return "NN" if word.lower == "saw" and tag in _NOMINAL_LEFT else "VBD"
    if left < 0 or (word.first == "VBN" and _ONLY_PARTICIPLE.fullmatch(word.lower)):
        return "VBN"
    if lower in BE or lower in _HAVE or tag in _NOMINAL_LEFT | VERBS | {"IN"}:
        return "VBN"
    if tag in ("PRP", "WP", "WDT", "EX"):
        inverted = left > 0 and scan.words[left - 1].lower in _HAVE | BE
        return "VBN" if inverted or lower in _ONLY_OBJECT else "VBD"
    if tag in NOUNS:
        participle = scan.finite == "seen" or scan.next(i).lower == "by" or _told_in_present(scan, i)
        return "VBN" if participle else "VBD"
    if tag == "CC" or lower == ",":
        return "VBD" if scan.verb == "VBD" else "VBN"
    return "VBD" if scan.finite == "none" else "VBN"


def _told_in_present(scan: _Scan, i: int) -> bool:
    """Whether a past form behind a noun is a participle, as its clause has another verb, in the present."""
    word = scan.words[i]
    if scan.verb in ("VBZ", "VBP") and word.lower.endswith("ed"):
        return True
    if word.first != "VBN":
        return False
    for later in scan.words[i + 1 :]:
        if later.lower in SUBORDINATORS or later.first == "WP" or later.lower in _SUBJECT_PRONOUNS:
            return False
        if later.first in ("VBZ", "MD", "VBP") or later.lower in BE:
            return True
    return False


def _ing(scan: _Scan, i: int) -> str:
    """A participle, a gerund or a noun: `building`."""
    first = scan.words[i].first
    tag, lower, left = scan.before(i)
    if left < 0:
        return first
    if tag in _NOMINAL_LEFT:
        return first if scan.next(i).first[:2] in ("NN", "JJ") else "NN"
    starts = tag in VERBS and lower.startswith(("start", "begin", "began", "continu", "keep"))
    return "VBG" if lower in BE or starts else first


def _adjective(scan: _Scan, i: int) -> str:
    """An adjective, or the noun that some are at the end of a noun phrase: `in the middle`."""
    if scan.words[i].lower not in _ADJECTIVE_NOUNS or i == 0 or scan.tags[i - 1] not in ("DT", "PRP$"):
        return "JJ"
    first = scan.next(i).first
    return "NN" if first in (".", "IN", "CC", "TO") or first in FINITE else "JJ"


def _degree(scan: _Scan, i: int) -> str:
    """`more`, `long`, `right`: an adjective before nouns and behind *be*, an adverb elsewhere."""
    first, lower = scan.next(i).first, scan.words[i].lower
    before, tag = (scan.words[i - 1].lower, scan.tags[i - 1]) if i else ("", "")
    if lower in ("right", "best", "close") and tag in ("DT", "PRP$", "JJ") and first[:2] != "NN":
        return "NN" if lower != "best" else "JJS"
    if before in BE or tag in ("DT", "PRP$") or first[:2] in ("NN", "CD", "DT") or first in ("IN", "VBG"):
        return "JJ"
    return "RB"


def _that(scan: _Scan, i: int) -> str:
    following, before = scan.next(i), scan.tags[i - 1] if i else ""
    if before in FINITE and following.first not in (".", "IN") and scan.words[i - 1].lower not in BE:
        return "IN"
    if before in NOUNS:
        return "WDT" if following.first in FINITE or following.kind in ("-s", "-base", "-past") else "IN"
    if following.first[:2] in ("NN", "JJ") and before not in FINITE | {"VBN"}:
        return "DT"
    begins_clause = following.first in ("PRP", "DT", "PRP$", "NNP", "NNS", "EX", "CD")
    return "IN" if begins_clause or following.lower == "there" else "DT"


def _her(scan: _Scan, i: int) -> str:
    return "PRP$" if scan.next(i).first[:2] in ("NN", "JJ", "VB", "CD") else "PRP"


def _clitic_s(scan: _Scan, i: int) -> str:
    before = scan.tags[i - 1] if i else ""
    if before in ("PRP", "EX", "WP", "WRB", "RB", "DT", "WDT"):
        return "POS" if scan.words[i - 1].lower.endswith(("one", "body")) else "VBZ"
    verbal = scan.next(i).first in ("DT", "IN", "VBG", "RB") and scan.next(i).lower != "back"
    return "VBZ" if verbal and scan.finite != "seen" else "POS"


def _there(scan: _Scan, i: int) -> str:
    following = scan.next(i)
    return "EX" if following.lower in BE | {"'s", "s"} or following.first == "MD" else "RB"


def _bare(scan: _Scan, i: int) -> str:
    """`do` and `have`: infinitives behind *to* and modals, finite elsewhere."""
    tag, _, left = scan.before(i)
    return "VB" if tag in ("TO", "MD") or (tag == "PRP" and scan.asks(left)) else "VBP"


def _no(scan: _Scan, i: int) -> str:
    return "DT" if scan.next(i).first[:2] in ("NN", "JJ", "CD", "VB") else "UH"


def _like(scan: _Scan, i: int) -> str:
    tag, lower = (scan.tags[i - 1], scan.words[i - 1].lower) if i else ("", "")
    if tag in ("TO", "MD"):
        return "VB"
    return "VBP" if lower in ("i", "we", "they", "you", "n't", "not") else "IN"


def _homograph(scan: _Scan, i: int) -> str:
    """A closed-class word that is a noun behind an article: `the can`, `his back`, `for a while`."""
    noun = i > 0 and scan.tags[i - 1] in ("DT", "PRP$", "JJ", "POS")
    return "NN" if noun else scan.words[i].first


def _left(scan: _Scan, i: int) -> str:
    """`left`: a side between article and noun, a past tense elsewhere."""
    if i and scan.tags[i - 1] in ("DT", "PRP$", "IN"):
        return "JJ" if scan.next(i).first[:2] == "NN" else "NN"
    return _past(scan, i)


_Rule = Callable[[_Scan, int], str]
_RULES: dict[str, _Rule] = {
    "-base": _base, "-s": _s_form, "-plural": _plural, "-past": _past, "-ing": _ing, "-adjective": _adjective,
    **dict.fromkeys(_DEGREES, _degree), **dict.fromkeys(_HOMOGRAPHS, _homograph),
    "that": _that, "her": _her, "'s": _clitic_s, "s": _clitic_s, "there": _there, "no": _no, "do": _bare,
    "have": _bare, "like": _like, "left": _left,
}  # fmt: skip


def _with_a_verb(scan: _Scan) -> list[str]:
    """The tags of a verbless sentence, the likeliest word made a verb: behind a noun, before an object."""
    for i in range(1, len(scan.tags)):
        if scan.words[i].kind in ("-base", "-s") and scan.tags[i - 1] in NOUNS and scan.takes_object(i):
            scan.tags[i] = "VBP" if scan.words[i].kind == "-base" else "VBZ"
            break
    return scan.tags


# ------------------------------------------------------------------------------- Penn to universal

_UNIVERSAL_SPEC = {
    "ADJ": "JJ JJR JJS", "ADP": "IN RP", "ADV": "RB RBR RBS WRB", "AUX": "MD", "CCONJ": "CC", "DET": "DT PDT",
    "INTJ": "UH", "NOUN": "NN NNS", "NUM": "CD", "PART": "TO POS", "PRON": "PRP PRP$ WP WP$ WDT EX",
    "PROPN": "NNP NNPS ADD", "PUNCT": ".", "SYM": "SYM", "VERB": "VB VBD VBG VBN VBP VBZ",
}  # fmt: skip
_UNIVERSAL = {penn: tag for tag, spec in _UNIVERSAL_SPEC.items() for penn in spec.split()}


def _after(penn: Sequence[str], i: int) -> str:
    """The next tag behind `i` that is no adverb."""
    i += 1
    while i < len(penn) and penn[i] in ADVERBS:
        i += 1
    return penn[i] if i < len(penn) else "."


def _be_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    if penn[i] == "POS":
        return "PART"
    return "VERB" if i > 0 and penn[i - 1] == "EX" and penn[i] in FINITE else "AUX"


def _have_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    following = _after(penn, i)
    if following == "PRP":
        following = _after(penn, i + 1)
    return "AUX" if following in ("VBN", "VBD") or lower[i] == "'ve" else "VERB"


def _do_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    negated = i + 1 < len(lower) and lower[i + 1] in ("n't", "not", "nt")
    helps = _after(penn, i) in ("VB", "VBP", "PRP") and penn[i] != "VB"
    return "AUX" if negated or helps else "VERB"


def _mark_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    """A subordinator when a participle or a finite verb comes before the phrase ends, else a preposition."""
    following = penn[i + 1 : i + 12]
    if lower[i] == "as" and following and following[0] in ("JJ", "RB"):
        return "ADV"
    if following and following[0] in ("VBG", "VBN", "TO"):
        return "SCONJ"
    before = ""
    for word, tag in zip(lower[i + 1 :], following, strict=False):
        if tag in FINITE:
            return "SCONJ"
        if tag == "PRP" and before in NOUNS:  # after the game she left
            break
        before = tag
        if tag in (".", "IN", "CC") and word not in ("of", "and", "or", "in"):
            break
    return "ADP"


def _once_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    begins_clause = i + 1 < len(penn) and penn[i + 1] in ("PRP", "DT", "PRP$")
    return "SCONJ" if begins_clause and _mark_tag(lower, penn, i) == "SCONJ" else "ADV"


def _that_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    if penn[i] == "DT":
        return _this_tag(lower, penn, i)
    return "PRON" if penn[i] == "WDT" else "SCONJ"


def _this_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    following = penn[i + 1] if i + 1 < len(penn) else "."
    nominal = following[:2] in ("NN", "JJ", "CD") or following in ("VBG", "VBN")
    return "DET" if nominal else "PRON"


def _about_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    return "ADV" if i + 1 < len(penn) and penn[i + 1] == "CD" else "ADP"


def _because_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    return "ADP" if i + 1 < len(lower) and lower[i + 1] == "of" else "SCONJ"


def _to_tag(lower: list[str], penn: Sequence[str], i: int) -> str:
    return "PART" if _after(penn, i) == "VB" else "ADP"


def _always(tag: str) -> Callable[[list[str], Sequence[str], int], str]:
    return lambda lower, penn, i: tag


_SPECIAL: dict[str, Callable[[list[str], Sequence[str], int], str]] = {
    **dict.fromkeys(BE | {"'s", "s"}, _be_tag),
    **dict.fromkeys(_HAVE, _have_tag),
    **dict.fromkeys(_DO, _do_tag),
    **dict.fromkeys(("as", "since", "after", "before", "until", "till"), _mark_tag),
    **dict.fromkeys(("this", "these", "those"), _this_tag),
    **dict.fromkeys(("if", "whether", "though", "although", "unless", "whereas"), _always("SCONJ")),
    **dict.fromkeys(("not", "n't", "nt"), _always("PART")),
    "once": _once_tag, "that": _that_tag, "about": _about_tag, "because": _because_tag, "to": _to_tag,
    "while": lambda lower, penn, i: "SCONJ" if penn[i] == "IN" else "NOUN",
}  # fmt: skip
