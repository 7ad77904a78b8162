"""What is known about an English word by itself: word lists, the lexicon, and the tag that a type mostly has.

Every word type is looked up once in TextBlob's English lexicon (94,000 entries, the most common Penn Treebank tag of
each; Brill 1992); closed classes and words typical of captions come from the lists here. TextBlob was chosen because
its wheel contains the lexicon, it is MIT-licensed and maintained, and it depends on nothing but NLTK, which is needed
anyway. HanTa tags too, but is LGPL and many times slower; lemminflect says what a word can be, not what it mostly is.

No sentences here: `rules` looks at the neighbours of a word.
"""

import re
from functools import lru_cache
from typing import NamedTuple

# ---------------------------------------------------------------------------------------------- word lists


def set_of(spec: str) -> frozenset[str]:
    return frozenset(spec.split())


COMMONEST_TAGS = {
    **dict.fromkeys(("this", "these", "those", "no"), "DET"),
    **dict.fromkeys(("best", "better", "more"), "ADJ"),
    "to": "PART",
    "there": "PRON",
    "as": "SCONJ",
}
"""Universal tags of words out of context: the most common one in EWT (train, dev), none that is rare in captions."""

FINITE = set_of("VBZ VBP VBD MD")
VERBS = FINITE | set_of("VB VBG VBN")
NOUNS = set_of("NN NNS NNP NNPS")
ADJECTIVES = set_of("JJ JJR JJS CD")
ADVERBS = set_of("RB RBR RBS")
NOMINAL_LEFT = ADJECTIVES | set_of("DT PRP$ POS WP$")

BE = set_of("be am is are was were been being 'm 're ai")
HAVE = set_of("have has had having 've")
DO = set_of("do does did")
FINITE_AUXILIARIES = (BE | HAVE) - set_of("be been being having")
SUBORDINATORS = set_of(
    """that if because while as when since after before until till though although whether once unless where
    wherever whenever whereas than how why"""
)
PARTICLES = set_of("up down off out over like")
AFTER_VERB = PARTICLES | set_of("around back away in on into onto through at with her that how to along")
ADVERB_PARTICLES = set_of("up down off out over back away around along")
SUBJECT_PRONOUNS = set_of("i he she it we they you who there")
OBJECT_PRONOUNS = set_of("him them me us her it you himself herself themselves itself")
ONLY_OBJECT = set_of("him them me us")
ONLY_SUBJECT = set_of("i he she we they")
MOTION = set_of("go goes going went gone come comes coming came get gets got next up down back close due")
DETERMINERS_ALONE = set_of("these those some all both")

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

DOMAIN_VERBS = set_of(
    """applaud arm-wrestle backflip bike bowl brush cartwheel chop curl cut dance demo dice dive dribble
    drum edge end fade flip float garnish grate grill hammer hand-stand high-five hula-hoop hurdle juggle jump kayak
    knead lather leap lunge marinate mash mince moonwalk mop mount mow paddle paint pan peel pirouette pivot
    preheat putt raft rake ride rinse row sand saw season shampoo simmer skate skateboard skewer ski sled slice
    snorkel snowboard somersault spar spin
    spray squat surf swing talk tattoo transition tube turn twirl vacuum wakeboard wash wave wax weld whisk windsurf
    wrestle zoom"""
)
"""Verbs common in captions that the lexicon lacks or takes for nouns."""

_VERBS_FIRST = set_of(
    """become come drink eat feel find get give go hear help hope keep let like live look lose love make
    mean meet need pay prepare put rub run say see seem send sit stand start stay stop take thank try use
    walk want watch write"""
)
"""Base forms that are verbs more often than the lexicon thinks."""

ONLY_PAST = set_of(
    """went came became saw took gave ran began wrote rode drove ate fell flew grew knew threw drew sang
    swam drank rang sank sprang shook spoke broke chose wore tore bore rose froze stole woke hid bit
    forgot"""
)
ONLY_PARTICIPLE = re.compile(r".*(en|wn|ne|ung)")
_NOT_VERBS = set_of("person boy girl woman table ball team game car camera video")

ADJECTIVE_NOUNS = set_of(
    """right left front middle top bottom back side white black red blue green yellow pink orange brown
    purple gray grey male female individual blonde adult elderly young public floor inside outside
    outdoor final ground background present past future whole potential official professional original
    instrumental good best general animal commercial"""
)
HOMOGRAPHS = set_of("can will might back down while")
DEGREES = set_of("much most more less least long better best further fast close early late hard right enough")
RULED = DEGREES | HOMOGRAPHS | set_of("-base -s -plural -past -ing -adjective that her 's s there no do have like left")
"""Kinds of words whose tag a rule decides: words with a rule of their own, and forms of other words."""


# ------------------------------------------------------------------------------- what a word is by itself


class Word(NamedTuple):
    """What is known about a word type before its neighbours are looked at."""

    lower: str
    first: str
    """Its most common Penn tag."""
    kind: str
    """The rule that decides its tag: one of `RULED`, or blank when `first` is final."""


def lower_case(token: str) -> str:
    return token.lower().replace("’", "'")


@lru_cache(maxsize=1 << 18)
def look_up(token: str, initial: bool) -> Word:
    lower = lower_case(token)
    if lower in _CLOSED and token not in ("US", "IT", "May"):
        return Word(lower, _CLOSED[lower], lower if lower in RULED else "")
    if not any(map(str.isalnum, token)):
        return Word(lower, "SYM" if _SYMBOL.fullmatch(token) else ".", "")
    if _NUMERIC.match(token):
        return Word(lower, _number_tag(lower), "")
    if _ADDRESS.search(lower):
        return Word(lower, "ADD", "")
    tag = _open_tag(token, lower, initial)
    return Word(lower, tag, lower if lower in RULED else _open_kind(lower, tag))


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

    len(lexicon)  # reads its file only when used
    return {word: tag.split("|")[0] for word, tag in dict.items(lexicon)}


def _open_tag(token: str, lower: str, initial: bool) -> str:
    tag = _lexicon().get(lower, "")
    if token[0].isupper():
        cased = _lexicon().get(token, "")
        if not initial:
            return cased if cased[:2] in ("JJ", "NN", "CD") and cased != "NN" else "NNP"
        if not tag or tag.startswith("NNP"):
            return cased if cased in _CASED_TAGS else _guess(lower) if stems(lower) else "NNP"
    if lower in _VERBS_FIRST:
        return "VB"
    if tag == "NNS" and DOMAIN_VERBS.intersection(stems(lower)):
        return "VBZ"
    return tag if tag in _OPEN_TAGS else _guess(lower)


_OPEN_TAGS = set_of("NN NNS JJ JJR JJS RB RBR RBS VB VBD VBG VBN VBP VBZ IN CD UH MD PRP DT WP WRB")
_CASED_TAGS = _OPEN_TAGS | {"NNP", "NNPS"}
"""The lexicon has others: of foreign words, and of strings that are no words."""


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
    if tag == "VBG" or (lower.endswith("ing") and stems(lower)):
        return "-ing"
    if tag in ("VBD", "VBN"):
        return "-past"
    known = lower in _lexicon()
    if tag == "VBZ" or (tag == "NNS" and (stems(lower) or not known)):
        return "-s"
    if tag in ("VB", "VBP") or (tag in ("NN", "JJ", "RB") and (is_verb(lower) or not known)):
        return "-base"
    return {"JJ": "-adjective", "NNS": "-plural"}.get(tag, "")


@lru_cache(maxsize=1 << 16)
def stems(lower: str) -> tuple[str, ...]:
    """The verbs of which `lower` would be an inflected form: `slices` and `slicing` give `slice`."""
    return tuple(base for base in _uninflected(lower) if is_verb(base))


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
def is_verb(base: str) -> bool:
    """Whether `base` can be a verb: the lexicon lists it, or one of its inflected forms, as one."""
    if len(base) < 2 or base in _NOT_VERBS:
        return False
    tags = _lexicon()
    if base in DOMAIN_VERBS or base in _VERBS_FIRST or tags.get(base) in ("VB", "VBP"):
        return True
    stem = base[:-1] if base.endswith("e") else base
    past = base[:-1] + "ied" if base.endswith("y") else stem + "ed"
    gerunds = (stem + "ing", stem + stem[-1] + "ing")
    return (
        tags.get(past) in ("VBD", "VBN")
        or any(tags.get(gerund) == "VBG" for gerund in gerunds)
        or tags.get(base + "s") == "VBZ"
    )


def is_domain_noun(word: Word) -> bool:
    """Whether a plural is a verb mostly in captions: `slices`."""
    return word.kind == "-s" and _lexicon().get(word.lower) == "NNS"
