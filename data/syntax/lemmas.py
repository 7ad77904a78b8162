"""Lemmas of English verbs: `went` is `go`, `stopping` is `stop`. For counting; nothing here tags.

Irregular forms stand in a table; regular endings are undone, and of the verbs that are left the lexicon of the rule
tagger and English spelling choose one. Of a form of two verbs the commoner one counts (`found` is `find`, `saw` is
`see`). No library that the project depends on has lemmas without a download: NLTK's are in WordNet's data, TextBlob
uses NLTK's, spaCy's are in its pipelines.
"""

import re
from functools import lru_cache

from swag_af.data.syntax.english.words import is_verb, look_up, lower_case

_FORMS = """
be am is are was were been being 's 're 'm
have has had having 've
do does did done doing
arise arose arisen; awake awoke awoken; bear bore borne born; beat beaten; become became; begin began begun; bend bent
bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built
burn burnt; buy bought; catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug
draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; dwell dwelt; eat ate eaten; fall fell fallen
feed fed; feel felt; fight fought; find found; flee fled; fling flung; fly flew flown flies; forbid forbade forbidden
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone
grind ground; grow grew grown; hang hung hanging
hear heard; hide hid hidden; hold held; keep kept; kneel knelt; overhear overheard
know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt; leave left; lend lent; lie lain lying
light lit; lose lost; make made; mean meant; meet met; overcome overcame; overtake overtook overtaken; pay paid
prove proven; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see saw seen; seek sought
sell sold; send sent; sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk
sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; sling slung; slink slunk; speak spoke spoken
speed sped; spend spent; spill spilt; spin spun; spit spat; spoil spoilt; spring sprang sprung; stand stood
steal stole stolen; stick stuck; sting stung; stink stank stunk; stride strode stridden; strike struck stricken
string strung; strive strove striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; tread trod trodden
understand understood; undertake undertook undertaken; undo undid undone; undergo underwent undergone; wake woke woken
wear wore worn; weave wove woven; weep wept; win won; wind wound; withdraw withdrew withdrawn; withhold withheld
withstand withstood; wring wrung; write wrote written; mistake mistook mistaken; misunderstand misunderstood
rebuild rebuilt; redo redid redone; retell retold; rewrite rewrote rewritten; uphold upheld; outgrow outgrew outgrown
tie tying; die dying; use used using; go going goes gon; want wan; focus; bring bringing; sling slinging
fling flinging; wring wringing
belie belying; unite united uniting; ski skiing skied skis; pay paying; panic panicked panicking
picnic picnicked picnicking
chat chatted chatting; cheer cheering cheered; cost costing; effect effecting effected
mimic mimicked mimicking; traffic trafficked trafficking
"""
"""A verb and its forms that spelling does not tell: a line or a part between semicolons each."""

LEMMAS = {form: words[0] for line in re.split(r"[;\n]", _FORMS) if (words := line.split()) for form in words}
"""The verb of each irregular form, and of itself."""

_ENDINGS = (
    *(("ying", "ie"), ("ies", "y"), ("ied", "y"), ("ing", ""), ("ing", "e")),
    *(("ed", ""), ("ed", "e"), ("es", ""), ("s", "")),
)
"""What is taken off a form, and put in its place."""
_SHORT = re.compile(r"(?:[^aeiou]|qu)*[aeiouy][bdgkmnprtv]")
"""Verbs of one syllable that double their last letter: `stop`, so that `hoping` is no form of `hop`."""
_LONG = re.compile(r".*[aeiou].*[^aeiou](?:[aeiou]|ui)[bdgklmnprst]")
"""Longer verbs, which may: `travel`, `prefer`; `visit` does not."""
_NO_END = re.compile(r".*(?:[^aeioulrw]l|[cjuvz]|[lr][cgsv]|dg|[ae]ng|..at|..is|..ag)")
"""How no verb ends that does not end in a silent e: `mov`, `chanc`, `forg`, `settl`."""


@lru_cache(maxsize=1 << 16)
def verb_lemma(token: str) -> str:
    """The base form of a token that is known to be a verb, in lower case; the token itself where none is known."""
    lower = lower_case(token)
    if lower in LEMMAS:
        return LEMMAS[lower]
    if look_up(lower, False).first in ("VB", "VBP"):
        return lower
    found = [base for base in _bases(lower) if lower in inflected(base) and _evidence(base)]
    return max(found, key=_likelihood, default=lower)


def inflected(base: str) -> frozenset[str]:
    """The forms of a regular verb that English spelling allows: `stop` gives `stops stopped stopping`."""
    third = base + "es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else base + "s"
    if base.endswith("ie"):
        return frozenset({third, base + "d", base[:-2] + "ying"})
    if base.endswith("e"):
        stem = base if base.endswith(("ee", "oe", "ye")) else base[:-1]
        return frozenset({third, base + "d", stem + "ing"})
    if base.endswith("y") and base[-2:-1] not in ("a", "e", "o", "u"):
        return frozenset({base[:-1] + "ies", base[:-1] + "ied", base + "ing"})
    plain, doubled = {base + "ed", base + "ing"}, {base + base[-1] + "ed", base + base[-1] + "ing"}
    if _SHORT.fullmatch(base):
        return frozenset({third, *doubled})
    return frozenset({third, *plain, *(doubled if _LONG.fullmatch(base) else ())})


def _bases(form: str) -> list[str]:
    """What a form may be of, real words or not; of equally likely ones the first counts."""
    stems = [form[: -len(end)] + put for end, put in _ENDINGS if form.endswith(end)]
    undoubled = [stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]]
    return [base for base in stems + undoubled if len(base) > 1]


def _likelihood(base: str) -> tuple[bool, bool, int, int]:
    """What orders verbs that a form could be of: known, spelled as verbs are, known as a verb, short."""
    evidence = _evidence(base)
    return evidence > 1, not _NO_END.fullmatch(base), evidence, -len(base)


def _evidence(base: str) -> int:
    """3 where the lexicon has the word as a verb first, 2 where it has it as another word, 1 where it lacks it."""
    from textblob.en import lexicon

    if base in LEMMAS or base not in lexicon:
        return 3 if base in LEMMAS else int(len(base) > 2)
    return 3 if look_up(base, False).first in ("VB", "VBP") else int(is_verb(base)) + 1
