"""CoNLL-U treebanks: the gold words, universal tags, heads and relations of sentences, and their gold cuts.

Lines of multiword tokens (`1-2`) and of empty nodes (`1.1`) are skipped. Nothing is learned here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from swag_af.data.disk.files import read_text
from swag_af.data.errors import InputError
from swag_af.data.syntax.clauses import parsed_verb_group
from swag_af.data.tags import TAGS


class Sentence(NamedTuple):
    """One gold sentence."""

    text: str
    """The text as the treebank spells it, empty where it has none."""
    words: list[str]
    tags: list[str]
    heads: list[int]
    """Token indices, -1 for the root."""
    relations: list[str]


def read_treebank(path: Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file; raises InputError that names the first line which cannot be used."""
    sentences = [_sentence(block, path) for block in _blocks(read_text(path))]
    if not sentences:
        raise InputError(f"{path}: holds no sentence. Name a CoNLL-U treebank, such as en_ewt-ud-train.conllu.")
    return sentences


def gold_cut(sentence: Sentence) -> int | None:
    """First token of the final verb group when the root is a verb with its subject before it, else None."""
    if sentence.tags[sentence.heads.index(-1)] not in ("VERB", "AUX"):
        return None
    return parsed_verb_group(sentence.tags, sentence.heads, sentence.relations)


_Line = tuple[int, str]

_NUMBER = re.compile(r"[0-9]{1,9}")
"""A token, or a head."""
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""A multiword token, or an empty node."""


def _blocks(text: str) -> Iterator[list[_Line]]:
    """Numbered lines, a list for each sentence."""
    block: list[_Line] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            block.append((number, line))
        elif any(not line.startswith("#") for _, line in block):
            yield block
            block = []


def _sentence(block: list[_Line], path: Path) -> Sentence:
    text, lines = "", []
    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    for number, line in block:
        if line.startswith("# text = "):
            text = line[9:]
        if line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != 10:
            raise _fault(path, number, f"{len(row)} columns, not the 10 of CoNLL-U, parted by tabs")
        if _NO_WORD.fullmatch(row[0]):
            continue
        if not _NUMBER.fullmatch(row[0]):
            raise _fault(path, number, f"{row[0][:20]!r} is no number of a token")
        if int(row[0]) != len(words) + 1:
            raise _fault(path, number, f"token {row[0]} where {len(words) + 1} is next")
        if row[3] not in TAGS[1:]:
            raise _fault(path, number, f"{row[3][:20]!r} is no universal part-of-speech tag")
        if not row[1].strip():
            raise _fault(path, number, "a token without a word")
        if not _NUMBER.fullmatch(row[6]):
            raise _fault(path, number, f"the head {row[6][:20]!r} is no number")
        words.append(row[1])
        tags.append(row[3])
        heads.append(int(row[6]) - 1)
        relations.append(row[7])
        lines.append(number)
    _check_heads(heads, lines, path, block[0][0])
    return Sentence(text, words, tags, heads, relations)


def _check_heads(heads: list[int], lines: list[int], path: Path, first: int) -> None:
    for i, (head, number) in enumerate(zip(heads, lines, strict=True)):
        if head >= len(heads) or head == i:
            raise _fault(path, number, f"the head {head + 1} is no other token of the sentence")
    if heads.count(-1) != 1:
        raise _fault(path, first, f"the sentence that begins here has {heads.count(-1)} roots, not one")
    leads_to_root: set[int] = set()
    for i, number in enumerate(lines):
        way: dict[int, None] = {}
        while i >= 0 and i not in leads_to_root:
            if i in way:
                raise _fault(path, number, "the heads from here lead round in a circle and to no root")
            way[i] = None
            i = heads[i]
        leads_to_root |= way.keys()


def _fault(path: Path, number: int, what: str) -> InputError:
    return InputError(f"{path}, line {number}: {what}. Mend that sentence, or take it out.")
