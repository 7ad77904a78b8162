"""Words by which a row says what it is: the original of a contrast set or a contrast, gold found or generated, a stage
of a question; and what columns of groups and of ids are called."""

import re

from swag_af.data.errors import RowError, told

PLACEHOLDERS = frozenset(
    {"-", "nan", "null", "n/a", "#n/a", "<na>", "undefined", "todo", "tbd", "[deleted]", "[removed]"}
)
"""What programs and people write where a text is missing, in whatever case."""
NO_LABEL = frozenset({"na", "none", "?", "unknown"})
"""What is written beside these for no label. As texts they are none of them: *none* is an answer, *na* a word of many
languages."""


def is_placeholder(text: str) -> bool:
    """Whether a text says only that there is none; it may still be an answer, so nothing is left out for it."""
    word = text.strip()
    return word == "NA" or word.lower() in PLACEHOLDERS


ORIGINAL, CONTRAST = "original", "contrast"
FOUND, GENERATED = "found", "generated"

_VARIANTS = {
    **dict.fromkeys((ORIGINAL, "orig"), ORIGINAL),
    **dict.fromkeys((CONTRAST, "contrastive", "counter", "counterfactual", "perturbed", "edited", "edit"), CONTRAST),
}


def variant_of(word: str) -> str:
    """`original` or `contrast`, empty for an empty word; raises RowError for any other."""
    variant = _VARIANTS.get(word.strip().lower(), "")
    if not variant and word.strip():
        raise RowError(f"has the variant {told(word)}, where {ORIGINAL} or {CONTRAST} is due")
    return variant


STAGES = ("Q->A", "QA->R")
"""The stages of VCR: the answer, and why it is right."""


def stage_of(word: str) -> str:
    """The stage that is called so; empty for any other word."""
    return word if word in STAGES else ""


def source_of(word: str) -> str:
    """`found` or `generated`, empty for an empty word; raises RowError for any other.

    SWAG says `gold` and `gen`, in its full files with more behind: `gold0-orig`, `gen-orig`.
    """
    known = word.strip().lower()
    if not known:
        return ""
    if known.startswith(("gold", FOUND)):
        return FOUND
    if not known.startswith("gen"):
        raise RowError(f"has the source of gold {told(word)}, where {FOUND} or {GENERATED} is due")
    return GENERATED


FOLD = "matchfold"
"""The column of what Adversarial Matching kept together: answers are recycled within it, as in VCR."""
GROUPS = (
    FOLD,
    *("video", "videoid", "videoname", "sourceid", "group", "groupid", "imageset", "setid", "passageid", "articleid"),
    *("storyid", "documentid", "contextid", "paragraphid", "promptid", "captionid", "movie"),
)
"""Of columns that say which rows belong together, as `key_of` has them."""


MORE_GROUPS = (
    *("movieid", "clip", "clipid", "clipname", "sourcedoc", "sourcedocid", "sourcedocument", "episodeid", "sceneid"),
    *("dialogueid", "dialogid", "conversationid", "threadid", "chapterid", "bookid", "recipeid", "docid"),
)
"""Likewise, where their values repeat: they may be ids of rows as well."""
IDS = (
    *("id", "qid", "questionid", "exampleid", "uid", "pairid", "idx", "index", "ind", "identifier", "docid", "itemid"),
    *("instanceid", "niid"),
)
"""Of columns that name a row, likewise."""


def key_of(name: str) -> str:
    """What is compared of a name: its letters in lower case, digits and dots."""
    return re.sub(r"[^a-z0-9.]", "", name.lower())
