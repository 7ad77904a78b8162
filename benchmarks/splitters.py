"""How well and how fast the default tagger and the rules splitter work.

    python benchmarks/splitters.py --treebank en_ewt-ud-test.conllu --captions train.json --json

Tags are compared with a UD treebank's gold tags on its gold tokens. Splits are compared with the cut its gold
dependencies give, on sentences whose root is a verb with a subject before it. Captions (ActivityNet's
`{id: {"sentences": [...]}}`) give the speed and the share that cannot be cut; without them the treebank's
sentences give the speed. Prints a table, and with --json one JSON line last.
"""

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

from swag_af.data.captions import Caption
from swag_af.data.splitters import load_splitter, parsed_verb_group, rules_verb_group
from swag_af.data.taggers import load_tagger
from swag_af.data.tokens import normalise_blanks


class Sentence(NamedTuple):
    """One gold sentence of a treebank; `heads` are token indices, -1 for the root."""

    text: str
    words: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]


def main() -> None:
    options = _options()
    sentences = read_conllu(options.treebank)
    texts = read_captions(options.captions) if options.captions else [s.text for s in sentences]
    figures = {
        **measure_tags(sentences),
        **measure_splits(sentences),
        **measure_speed(texts[: options.n_captions]),
    }
    for name, value in figures.items():
        print(f"{name:24} {value:12.4f}" if value < 2 else f"{name:24} {value:12,.0f}")
    if options.json:
        print(json.dumps(figures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--treebank", type=Path, required=True, help="a CoNLL-U file with gold tags and heads")
    parser.add_argument("--captions", type=Path, help="ActivityNet Captions, JSON")
    parser.add_argument("--n-captions", type=int, default=20_000, help="captions to time (default 20000)")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON line, last")
    return parser.parse_args()


def read_conllu(path: Path) -> list[Sentence]:
    """The sentences of a treebank, multiword-token and empty-node lines skipped."""
    return [_sentence(block) for block in path.read_text(encoding="utf-8").split("\n\n") if block.strip()]


def _sentence(block: str) -> Sentence:
    lines = block.strip().split("\n")
    text = next((line[9:] for line in lines if line.startswith("# text = ")), "")
    rows = [row for row in (line.split("\t") for line in lines if line[0] != "#") if row[0].isdigit()]
    return Sentence(
        text,
        [row[1] for row in rows],
        [row[3] for row in rows],
        [int(row[6]) - 1 for row in rows],
        [row[7] for row in rows],
    )


def read_captions(path: Path) -> list[str]:
    videos = json.loads(path.read_text(encoding="utf-8"))
    return [normalise_blanks(text) for video in videos.values() for text in video["sentences"]]


def measure_tags(sentences: list[Sentence], name: str = "rules") -> dict[str, float]:
    """Share of gold tokens tagged as in the treebank, and tokens tagged a second with a warm cache."""
    tagger = load_tagger(name)
    words = [sentence.words for sentence in sentences]
    tagged = tagger.tag(words)
    begin = time.perf_counter()
    tagger.tag(words)
    seconds = time.perf_counter() - begin
    pairs = [pair for s, tags in zip(sentences, tagged, strict=True) for pair in zip(s.tags, tags, strict=True)]
    right = sum(gold == tag for gold, tag in pairs)
    return {"tag_accuracy": right / len(pairs), "tokens_per_second": len(pairs) / seconds}


def measure_splits(sentences: list[Sentence]) -> dict[str, float]:
    """Share of eligible sentences that the rules cut before the same token as the gold dependencies."""
    cuts = [(s, gold) for s in sentences if (gold := gold_cut(s)) is not None]
    right = sum(rules_verb_group(s.words) == gold for s, gold in cuts)
    return {"split_accuracy": right / len(cuts), "n_split_sentences": len(cuts)}


def gold_cut(sentence: Sentence) -> int | None:
    """First token of the final verb group when the root is a verb with its subject before it, else None."""
    if sentence.tags[sentence.heads.index(-1)] not in ("VERB", "AUX"):
        return None
    return parsed_verb_group(sentence.tags, sentence.heads, sentence.relations)


def measure_speed(texts: list[str]) -> dict[str, float]:
    """Sentences split a second from plain text, and the share without a cut."""
    splitter = load_splitter("rules")
    captions = [Caption(text) for text in texts]
    begin = time.perf_counter()
    splits = splitter.split(captions)
    seconds = time.perf_counter() - begin
    dropped = sum(split is None for split in splits)
    return {"sentences_per_second": len(texts) / seconds, "no_verb_phrase": dropped / len(texts)}


if __name__ == "__main__":
    main()
