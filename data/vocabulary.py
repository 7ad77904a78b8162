"""The vocabulary: lower-cased tokens to integer ids and back to text as a person would write it.

Ids 0 to 3 are special and never sampled. The other tokens follow by falling count, then by spelling, so the same texts
always give the same ids. Each token keeps its commonest spelling inside a sentence ("i" is shown as "I"): gold and
generated endings are shown by the same table, so letter case cannot reveal gold.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from swag_af.data.disk.files import write_text
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import FormatError
from swag_af.data.tags import TAGS
from swag_af.data.tokens import detokenize

PAD, UNK, BOS, EOS = range(4)
SPECIAL_TOKENS = ("<pad>", "<unk>", "<bos>", "<eos>")


@dataclass(frozen=True)
class Vocabulary:
    """`V` token types. `tokens[i]`, `spellings[i]`, `counts[i]` and, once tagged, `tags[i]` belong to id `i`."""

    tokens: tuple[str, ...]
    counts: np.ndarray
    """(V,) int64: occurrences in the texts it was built from; 0 for the special tokens."""
    spellings: tuple[str, ...]
    """The commonest spelling, but for capitals that the beginning of a sentence may have given."""
    tags: np.ndarray | None = None
    """(V,) uint8 codes of `swag_af.data.tags.TAGS`: the tag of the word type, out of context."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: i for i, token in enumerate(self.tokens)}

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Ids of `tokens`, lower-cased; `UNK` for those not listed."""
        get = self._id_of.get
        return [get(token.lower(), UNK) for token in tokens]

    def text(self, ids: Iterable[int]) -> str:
        """Detokenised text of `ids`, padding left out."""
        return detokenize([self.spellings[i] for i in ids if i != PAD])

    def with_tags(self, tags: np.ndarray) -> "Vocabulary":
        """The same vocabulary with a tag for each type; `tags` are (V,) codes."""
        return replace(self, tags=tags.astype(np.uint8))

    @property
    def id_dtype(self) -> type[np.unsignedinteger]:
        """The smallest integer type that holds every id: uint16, or uint32 beyond 65,536 types."""
        return np.uint16 if len(self) <= 1 << 16 else np.uint32

    def save(self, path: Path) -> None:
        """Write one tab-separated line for each type: token, count, spelling, tag (`-` when untagged)."""
        write_text(path, self._lines)

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the lines that `save` writes."""
        return hashlib.sha256(self._lines.encode()).hexdigest()

    @property
    def _lines(self) -> str:
        tags = ["-"] * len(self) if self.tags is None else [TAGS[code] for code in self.tags]
        rows = zip(self.tokens, self.counts, self.spellings, tags, strict=True)
        return "".join(f"{token}\t{count}\t{spelling}\t{tag}\n" for token, count, spelling, tag in rows)

    @classmethod
    def load(cls, path: Path, sha256: str | None = None) -> "Vocabulary":
        """Read what `save` wrote; FormatError when the file is damaged, or has another hash than `sha256`."""
        if not path.is_file():
            raise FormatError(f"{path}: the vocabulary is missing; the folder is damaged. Make it again.")
        if sha256 is not None and sha256_file(path) != sha256:
            raise FormatError(f"{path}: changed since the manifest was written. Make the folder again.")
        try:
            rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]
            tokens, counts, spellings, tags = zip(*rows, strict=True)
            codes = None if tags[0] == "-" else np.array([TAGS.index(tag) for tag in tags], np.uint8)
            loaded = cls(tokens, np.array(counts, np.int64), spellings, codes)
        except (ValueError, OverflowError) as error:
            raise FormatError(f"{path}: not a vocabulary of this format ({error}). Make the folder again.") from None
        if tokens[:4] != SPECIAL_TOKENS:
            raise FormatError(f"{path}: not a vocabulary of this format. Make the folder again.")
        return loaded


def build_vocabulary(sentences: Iterable[Sequence[str]], *, min_count: int = 3) -> Vocabulary:
    """The types that occur `min_count` times or more in `sentences` (token lists in their own letter case).

    A capital that may be one of the beginning alone says nothing of a spelling; `I`, `NASA` and `iPhone` have others.
    The paper's vocabulary keeps tokens seen 3 times or more (Zellers et al. 2018, released code).
    """
    counts: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for position, token in enumerate(sentence):
            lower = token.lower()
            counts[lower] += 1
            if token != lower and (position or token == "I" or token[1:] != lower[1:]):
                spellings.setdefault(lower, Counter())[token] += 1
    kept = sorted((t for t, c in counts.items() if c >= min_count), key=lambda t: (-counts[t], t))
    tokens = (*SPECIAL_TOKENS, *(t for t in kept if t not in SPECIAL_TOKENS))
    shown = tuple(_commonest_spelling(t, counts[t], spellings.get(t)) for t in tokens)
    return Vocabulary(tokens, np.array([counts.get(t, 0) for t in tokens], np.int64), shown)


def _commonest_spelling(token: str, count: int, capitalised: Counter[str] | None) -> str:
    if not capitalised:
        return token
    spelling, n = max(capitalised.items(), key=lambda item: (item[1], item[0]))
    return spelling if 2 * n > count else token
