"""Slow, obvious twins of patterns: from every character of a long run of marks or blanks they look to its end."""

import re

from swag_af.data.text.scripts import OTHER_END

SENTENCE_END = re.compile(
    r"""(?:(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.?!]+["')\]’”]*\s+|"""
    rf"""(?:.{OTHER_END})+["')\]’”」』）]*\s*)"""
)
DASH = re.compile(r"\s*--+\s*|\s+-+\s+")
LOOSE_END = re.compile(r"[\s.,;:，、；：-]+$")
MARKS = re.compile(r"([.!?…]{2,})$")
MARK_WITHIN = re.compile(r"([.!?…]+)([\"')\]}”’»]+)$")
TITLE = re.compile(r"\b(?:mr|mrs|ms|dr|st|prof)\.$", re.IGNORECASE)
ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|vs|approx)|\b\w(?:\.\w)+)\.$", re.IGNORECASE)
CLITIC = re.compile(r"\s+(n['’]t|['’](?:s|m|d|re|ve|ll))(?!\w)", re.IGNORECASE)
