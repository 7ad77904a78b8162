"""Golds that a fold's language model has read elsewhere, nearly or in part.

    python benchmarks/near_golds.py --data DATA --json      # half a minute on one core

A fold's model learns from the sentences of all other folds, dropped pairs included. No second sentence of the fold is
among them, letter for letter; counted are contexts of which another fold has

    near     a sentence whose 3-grams of words have at least that Jaccard similarity with the second sentence's
    ends     a sentence that ends in the gold, word for word
    inside   a longer sentence that holds the whole second sentence, word for word

Letter case and punctuation do not count. What this does to any figure is not asked.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from swag_af import ContextsOptions, contexts
from swag_af.data.captions.context_set import read_contexts, read_dropped
from swag_af.data.context import Context, DroppedPair
from swag_af.data.text.near_duplicates import SHINGLE, shingle_sets, similar_sets
from swag_af.data.text.wording import words

THRESHOLDS = (0.8, 0.7, 0.6)
SETS = {
    "ActivityNet Captions": ("activitynet_captions/train.json", "activitynet_captions/val_1.json"),
    "Charades": ("charades/Charades_v1_train.csv",),
}
Words = tuple[str, ...]
Folds = Mapping[Words, set[int]]
"""The folds that something of these words stands in."""


def main() -> None:
    """Print a row a set, and with --json one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of public data sets")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    arguments = parser.parse_args()
    made = {name: counts([arguments.data / source for source in sources]) for name, sources in SETS.items()}
    for name, found in made.items():
        n = found["contexts"]
        print(f"{name}, {n:,} contexts")
        for what, count in found.items():
            print(f"  {what:10} {count:6,}  {count / n:7.2%}")
    if arguments.json:
        print(json.dumps(made))


def counts(sources: Sequence[Path]) -> dict[str, int]:
    """How many contexts of the captions in `sources` there are, and how many of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contexts.jsonl"
        contexts(ContextsOptions(tuple(sources), path, splitter="rules"))
        every, dropped = read_contexts(path), read_dropped(path)
    sentences: defaultdict[Words, set[int]] = defaultdict(set)
    learnt: list[Context | DroppedPair] = [*every, *(pair for pair in dropped if pair.sent1 and pair.sent2)]
    for item in learnt:
        for sentence in item.sentences:
            sentences[tuple(words(sentence))].add(item.fold)
    seconds = [tuple(words(context.sentences[1])) for context in every]
    golds = [tuple(words(context.gold)) for context in every]
    found = {"contexts": len(every)}
    for threshold in THRESHOLDS:
        found[f"near {threshold}"] = _n_elsewhere(every, seconds, _near(sentences, threshold))
    found["ends"] = _n_elsewhere(every, golds, _parts(sentences, set(golds), at_the_end=True))
    found["inside"] = _n_elsewhere(every, seconds, _parts(sentences, set(seconds), at_the_end=False))
    return found


def _n_elsewhere(every: Sequence[Context], texts: Sequence[Words], folds: Folds) -> int:
    """Contexts whose text stands in a fold that is not theirs."""
    return sum(bool(folds.get(text, set()) - {context.fold}) for context, text in zip(every, texts, strict=True))


def _near(sentences: Folds, threshold: float) -> dict[Words, set[int]]:
    """The folds of each sentence and of those near it."""
    alike: defaultdict[frozenset[Words], list[Words]] = defaultdict(list)
    for sentence in sentences:
        last = max(0, len(sentence) - SHINGLE)
        alike[frozenset(sentence[i : i + SHINGLE] for i in range(last + 1))].append(sentence)
    sets = list(alike.values())  # of those with the same shingles one is compared, for all
    own = [set().union(*(sentences[sentence] for sentence in same)) for same in sets]
    folds = [set(some) for some in own]
    for i, j in similar_sets(shingle_sets([same[0] for same in sets]), threshold)[0].tolist():
        folds[i] |= own[j]
        folds[j] |= own[i]
    return {sentence: some for same, some in zip(sets, folds, strict=True) for sentence in same}


def _parts(sentences: Folds, wanted: set[Words], *, at_the_end: bool) -> dict[Words, set[int]]:
    """The folds of the sentences that end in each of the texts `wanted`, or that hold it and more."""
    lengths = sorted({len(text) for text in wanted} - {0})
    found: defaultdict[Words, set[int]] = defaultdict(set)
    for sentence, folds in sentences.items():
        for n in (n for n in lengths if n < len(sentence) + at_the_end):
            for i in (len(sentence) - n,) if at_the_end else range(len(sentence) - n + 1):
                if (part := sentence[i : i + n]) in wanted:
                    found[part] |= folds
    return found


if __name__ == "__main__":
    main()
