"""Why a pair of captions makes no context: the rules in the order in which a pair is tested, and the table of them.

A rule looks at one pair at a time; duplicates, which need all of them, are found by `contexts`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import shorten

from swag_af.data.captions.options import ContextRules
from swag_af.data.captions.repair import is_broken
from swag_af.data.context import DroppedPair
from swag_af.data.text.scripts import END_MARKS
from swag_af.data.text.wording import comparable
from swag_af.data.tokens import SENTENCE_ENDS, tokenize
from swag_af.data.video import Caption

GAP_OF_SOURCE = {"lsmdc": 25.0}
"""Most seconds between two captions by default (Zellers et al. 2018, §2)."""


REASONS: dict[str, str] = {
    "foreign": "the captions of the video are not English",
    "empty_caption": "one of the two captions is empty",
    "broken_encoding": "letters that were decoded wrongly and cannot be mended",
    "gap": "too long between the two captions",
    "enclosed": "the second caption lies within the time of the first",
    "repeated": "the second caption repeats the first",
    "short_sentence": "second sentence too short",
    "rare_token": "a rare token in the second sentence",
    "no_verb_phrase": "no verb phrase, or nothing before it",
    "short_context": "context too short",
    "long_context": "context too long",
    "short_ending": "ending too short",
    "long_ending": "ending too long",
    "duplicate": "same context and ending as an earlier pair",
    "near_duplicate": "nearly the same as an earlier pair",
}
"""Every reason for a drop, in the order in which a pair is tested."""

_OF_BOTH = frozenset(
    {"foreign", "empty_caption", "broken_encoding", "gap", "repeated", "short_context", "long_context"}
) | {"duplicate", "near_duplicate"}
"""Reasons whose examples show both captions; the others concern the second one only."""


def unfit_pair(first: Caption, second: Caption, source: str, rules: ContextRules, counts: Counter[str]) -> str | None:
    """The reason for a drop that is known before the second sentence is split, if any; `counts` are those of
    lower-cased tokens."""
    if not first.text or not second.text:
        return "empty_caption"
    if is_broken(first.text) or is_broken(second.text):
        return "broken_encoding"
    longest = GAP_OF_SOURCE.get(source.casefold()) if rules.max_gap_seconds is None else rules.max_gap_seconds
    if longest is not None and gap_seconds(first, second) > longest:
        return "gap"
    if rules.drop_enclosed and is_enclosed(first, second):
        return "enclosed"
    if comparable(first.text) == comparable(second.text):
        return "repeated"
    tokens = tokenize(with_full_stop(second).text)
    if len(tokens) < rules.min_sentence_tokens:
        return "short_sentence"
    if any(counts[token.lower()] < rules.min_token_count for token in tokens if token not in SENTENCE_ENDS):
        return "rare_token"
    return None


def unfit_context(sent1: str, start: str, gold: str, rules: ContextRules) -> str | None:
    """The reason for a drop that is known only after the split, if any; start and gold are empty where there was
    none."""
    if not start or not gold:
        return "no_verb_phrase"
    n_context = len(tokenize(sent1)) + len(tokenize(start))
    if n_context < rules.min_context_tokens:
        return "short_context"
    if n_context > rules.max_context_tokens:
        return "long_context"
    n_ending = len(tokenize(gold))
    if n_ending < rules.min_ending_tokens:
        return "short_ending"
    if n_ending > rules.max_ending_tokens:
        return "long_ending"
    return None


def gap_seconds(first: Caption, second: Caption) -> float:
    """Seconds from the end of `first` to the start of `second`; 0 when times are not known."""
    if not first.seconds or not second.seconds or first.seconds[1] is None:
        return 0.0
    return second.seconds[0] - first.seconds[1]


def is_enclosed(first: Caption, second: Caption) -> bool:
    """Whether `second` lies within the time of `first`; false when times are not known."""
    if not first.seconds or not second.seconds or second.seconds[0] < first.seconds[0]:
        return False
    end, second_end = first.seconds[1], second.seconds[1]
    return end is not None and second_end is not None and second_end <= end


def with_full_stop(caption: Caption) -> Caption:
    """The caption, with a full stop added when no end mark is there: generation stops only at `. ? !`.

    A mark before closing quotes or brackets goes behind them, and in place of an ellipsis stands a stop. Of several
    marks, as `?!`, the first that is no full stop is left; those in a tree stay, which has them too.
    """
    text = caption.text if caption.tree else _MARKS.sub(_one_mark, caption.text)
    if text and text[-1] not in END_MARKS:
        ended = text.rstrip(",;:… ")
        is_ended = ended != "" and ended[-1] in END_MARKS
        within = _MARK_WITHIN.search(ended)
        moved = f"{ended[: within.start()]}{within[2]}{_one_mark(within)}" if within else f"{ended}."
        text = ended if is_ended else moved
    return caption if text == caption.text else replace(caption, text=text)


_MARKS = re.compile(r"(?<![.!?…])([.!?…]{2,})$")


def _one_mark(found: re.Match[str]) -> str:
    return next((mark for mark in found[1] if mark in "!?"), ".")


_MARK_WITHIN = re.compile(r"(?<![.!?…])([.!?…]+)([\"')\]}”’»]+)$")


def drop_table(n_kept: int, dropped: Sequence[DroppedPair]) -> dict[str, int]:
    """The numbers of pairs, of contexts kept, and of drops for every reason, zeros included."""
    by_reason = Counter(pair.reason for pair in dropped)
    return {"pairs": n_kept + len(dropped), "kept": n_kept} | {reason: by_reason[reason] for reason in REASONS}


def drop_report(drops: Mapping[str, int], dropped: Sequence[DroppedPair]) -> list[str]:
    """The drop table as readable lines: how many pairs for which reason, and the first pair of each."""
    n = max(1, drops["pairs"])
    example = {pair.reason: pair for pair in reversed(dropped)}
    lines = [f"  {'kept':<16}{drops['kept']:>8,}  {100 * drops['kept'] / n:5.1f} %"]
    for reason, meaning in REASONS.items():
        if not drops.get(reason):
            continue
        name = reason.replace("_", " ")
        lines.append(f"  {name:<16}{drops[reason]:>8,}  {100 * drops[reason] / n:5.1f} %  {meaning}")
        pair = example[reason]
        said = f"{pair.sent1} / {pair.sent2}" if reason in _OF_BOTH else pair.sent2
        lines.append(f"{'':37}{pair.id}: {shorten(said, 80, placeholder=' ...')}")
    return [*lines, "  " + "-" * 33, f"  {'all':<16}{drops['pairs']:>8,}  100.0 %"]
