"""Penn Treebank tags of English sentences to universal tags, by the conventions of UD English EWT.

It reads words and Penn tags only and takes these as right: they come from `rules`.
"""

from collections.abc import Callable, Sequence

from swag_af.data.syntax.english.words import ADVERBS, BE, DO, FINITE, HAVE, NOUNS, PARTICLES, lower_case


def universal_tags(tokens: Sequence[str], penn: Sequence[str]) -> list[str]:
    """Universal tags of one sentence from its Penn tags, by the conventions of UD English EWT."""
    lower = [lower_case(token) for token in tokens]
    following = [*penn[1:], "."]
    tags = [_UNIVERSAL[tag] for tag in penn]
    for i, word in enumerate(lower):
        special = _SPECIAL.get(word)
        if special:
            tags[i] = special(lower, penn, i)
        elif penn[i] == "IN" and following[i] == "VBG" and word not in PARTICLES:
            tags[i] = "SCONJ"
    return tags


_UNIVERSAL_SPEC = {
    "ADJ": "JJ JJR JJS", "ADP": "IN RP", "ADV": "RB RBR RBS WRB", "AUX": "MD", "CCONJ": "CC", "DET": "DT PDT",
    "INTJ": "UH", "NOUN": "NN NNS", "NUM": "CD", "PART": "TO POS", "PRON": "PRP PRP$ WP WP$ WDT EX",
    "PROPN": "NNP NNPS ADD", "PUNCT": ".", "SYM": "SYM", "VERB": "VB VBD VBG VBN VBP VBZ",
}  # fmt: skip
_UNIVERSAL = {penn: tag for tag, spec in _UNIVERSAL_SPEC.items() for penn in spec.split()}


def _after(penn: Sequence[str], i: int) -> str:
    """The next tag after `i` that is no adverb."""
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
    **dict.fromkeys(HAVE, _have_tag),
    **dict.fromkeys(DO, _do_tag),
    **dict.fromkeys(("as", "since", "after", "before", "until", "till"), _mark_tag),
    **dict.fromkeys(("this", "these", "those"), _this_tag),
    **dict.fromkeys(("if", "whether", "though", "although", "unless", "whereas"), _always("SCONJ")),
    **dict.fromkeys(("not", "n't", "nt"), _always("PART")),
    "once": _once_tag, "that": _that_tag, "about": _about_tag, "because": _because_tag, "to": _to_tag,
    "while": lambda lower, penn, i: "SCONJ" if penn[i] == "IN" else "NOUN",
}  # fmt: skip
