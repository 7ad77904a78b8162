"""How well and how fast taggers and splitters work; the defaults need no download.

    python benchmarks/splitters.py --treebank en_ewt-ud-test.conllu --captions train.json --json
    python benchmarks/splitters.py --treebank en_ewt-ud-test.conllu --tagger spacy:tagger --splitter spacy:tagger

Tags are compared with a UD treebank's gold tags on its gold tokens, in context and by word type (how a pool is tagged
unless `--in-context` is asked for: each type once, then a look-up). Splits are compared with the cut that gold
dependencies give, on sentences whose root is a verb with a subject before it. Captions (ActivityNet's
`{id: {"sentences": [...]}}`) give the splitter's speed and the share that cannot be cut; without them the treebank's
sentences do. All speeds are by CPU seconds. Prints tables, and with --json one JSON line last.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.syntax.splitters import load_splitter
from swag_af.data.syntax.treebank import Sentence, gold_cut, read_treebank
from swag_af.data.tags import TAGS, load_tagger, tag_word_types
from swag_af.data.tokens import normalise_blanks
from swag_af.data.video import Caption
from swag_af.data.vocabulary import build_vocabulary

LENGTHS = (10, 20, 30)
"""Bounds of the classes of sentence length, in tokens."""


def main() -> None:
    options = _options()
    sentences = read_treebank(options.treebank)
    texts = read_captions(options.captions) if options.captions else [s.text for s in sentences]
    figures = {
        **measure_tags(sentences, options.tagger),
        **measure_pool(sentences, options.tagger),
        **measure_splits(sentences, options.splitter),
        **measure_speed(texts[: options.n_captions], options.splitter),
    }
    print(f"\ntagger {options.tagger}, splitter {options.splitter}")
    for name, value in figures.items():
        print(f"  {name:36} {value:15.4f}" if value < 2 else f"  {name:36} {value:15,.0f}")
    if options.json:
        print(json.dumps({"tagger": options.tagger, "splitter": options.splitter, **figures}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--treebank", type=Path, required=True, help="a CoNLL-U file with gold tags and heads")
    parser.add_argument("--captions", type=Path, help="ActivityNet Captions, JSON")
    parser.add_argument("--n-captions", type=int, default=20_000, help="captions to time (default 20000)")
    parser.add_argument("--tagger", default="rules", help="rules, or spacy:PIPELINE")
    parser.add_argument("--splitter", default="rules", help="rules, spacy:PIPELINE or benepar:MODEL")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON line, last")
    return parser.parse_args()


def read_captions(path: Path) -> list[str]:
    videos = json.loads(path.read_text(encoding="utf-8"))
    return [normalise_blanks(text) for video in videos.values() for text in video["sentences"]]


def measure_tags(sentences: list[Sentence], name: str = "rules") -> dict[str, float]:
    """Shares of gold tokens tagged as in the treebank, in context and by type, and sentences tagged a second."""
    tagger = load_tagger(name)
    words = [sentence.words for sentence in sentences]
    tagger.tag(words[:100])  # what is loaded at the first call
    tagged, seconds = _timed(lambda: tagger.tag(words))
    vocabulary = build_vocabulary(words, min_count=1)
    code = dict(zip(vocabulary.tokens, tag_word_types(vocabulary.spellings, tagger), strict=True))
    by_type = [[TAGS[code[word.lower()]] for word in sentence] for sentence in words]
    for title, found in (("tags in context", tagged), ("tags of word types", by_type)):
        pairs = [
            (len(s.words), gold, tag, word.lower())
            for s, tags in zip(sentences, found, strict=True)
            for gold, tag, word in zip(s.tags, tags, s.words, strict=True)
        ]
        _print_by_length(title, [(n, gold == tag) for n, gold, tag, _ in pairs])
        _print_commonest("gold -> found", ((g, "->", t) for _, g, t, _ in pairs if g != t), len(pairs))
        _print_commonest("words", ((w, g, "->", t) for _, g, t, w in pairs if g != t), len(pairs))
    return {
        "tag_accuracy": _share(gold == tag for s, t in zip(sentences, tagged, strict=True) for gold, tag in _zip(s, t)),
        "word_type_tag_accuracy": _share(
            gold == tag for s, t in zip(sentences, by_type, strict=True) for gold, tag in _zip(s, t)
        ),
        "tokens_per_second_in_context": sum(map(len, words)) / seconds,
        "sentences_per_second_in_context": len(words) / seconds,
    }


def measure_pool(sentences: list[Sentence], name: str = "rules", *, n_rows: int = 4000) -> dict[str, float]:
    """Tokens of a pool tagged a second as a filter gets them: the tags of its types, looked up by the ids of a table.

    The table is (n_rows, 64, 25) uint16 on disk, of endings cut from the treebank, and is read by the block.
    """
    vocabulary = build_vocabulary([s.words for s in sentences], min_count=1)
    codes, seconds_types = _timed(lambda: tag_word_types(vocabulary.spellings, load_tagger(name)))
    rng = np.random.default_rng(0)
    endings = [vocabulary.ids(s.words)[:25] for s in sentences]
    padded = np.array([ending + [0] * (25 - len(ending)) for ending in endings], np.uint16)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens.npy"
        np.save(path, padded[rng.integers(len(endings), size=(n_rows, 64))])
        table = np.load(path, mmap_mode="r")  # (N, K, L)
        _, seconds = _timed(lambda: [codes[table[begin : begin + 128]] for begin in range(0, n_rows, 128)])
        n_tokens = int(np.count_nonzero(table))
    return {"tokens_per_second": n_tokens / seconds, "word_types_per_second": len(vocabulary) / seconds_types}


def measure_splits(sentences: list[Sentence], name: str = "rules") -> dict[str, float]:
    """Share of eligible sentences that are cut before the same token as by the gold dependencies.

    Sentences are given as the splitter's own tokens, gold ones where they agree: those that do not are left out.
    """
    cuts = [(s, gold) for s in sentences if (gold := gold_cut(s)) is not None]
    found = [_cut_token(split, s) for split, (s, _) in zip(_split_words(name, [s for s, _ in cuts]), cuts, strict=True)]
    right = [at == gold for at, (_, gold) in zip(found, cuts, strict=True)]
    _print_by_length("splits", [(len(s.words), ok) for ok, (s, _) in zip(right, cuts, strict=True)])
    mistakes = (_mistake(s, gold, at) for at, (s, gold) in zip(found, cuts, strict=True) if at != gold)
    _print_commonest("mistakes", mistakes, len(cuts))
    return {"split_accuracy": _share(right), "n_split_sentences": len(cuts)}


def _split_words(name: str, sentences: list[Sentence]) -> list[Any]:
    """What the splitter cuts, each gold word a token of its own as far as the tokeniser lets it."""
    return load_splitter(name).split([Caption(" ".join(s.words)) for s in sentences])


def _cut_token(split: Any, sentence: Sentence) -> int | None:
    """The gold token before which the cut falls, -1 when it falls inside one."""
    if split is None:
        return None
    n_letters = len(split.start.replace(" ", ""))
    ends = np.cumsum([len(word.replace(" ", "")) for word in sentence.words]).tolist()
    return ends.index(n_letters) + 1 if n_letters in ends else -1


def _mistake(sentence: Sentence, gold: int, found: int | None) -> tuple[str, ...]:
    """A class of wrong cuts: none at all, too early or too late, and what stands before the right or the wrong one."""
    if found is None:
        return ("no cut",)
    late = found > gold
    between = {sentence.tags[i] for i in range(min(found, gold), max(found, gold))}
    why = next((tag for tag in ("SCONJ", "CCONJ", "PUNCT", "VERB", "AUX") if tag in between), "other words")
    return ("too late" if late else "too early", "across", why)


def measure_speed(texts: list[str], name: str = "rules") -> dict[str, float]:
    """Sentences split a second from plain text, and the share without a cut."""
    splitter = load_splitter(name)
    captions = [Caption(text) for text in texts]
    splitter.split(captions[:100])
    splits, seconds = _timed(lambda: splitter.split(captions))
    dropped = sum(split is None for split in splits)
    return {"sentences_per_second": len(texts) / seconds, "no_verb_phrase": dropped / len(texts)}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` returns and the CPU seconds that it took."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def _zip(sentence: Sentence, tags: list[str]) -> Iterable[tuple[str, str]]:
    return zip(sentence.tags, tags, strict=True)


def _share(right: Iterable[bool]) -> float:
    listed = list(right)
    return sum(listed) / len(listed)


def _print_by_length(title: str, right: list[tuple[int, bool]]) -> None:
    print(f"\n{title}, by the length of the sentence")
    for low, high in zip((0, *LENGTHS), (*LENGTHS, 10**6), strict=True):
        those = [ok for n, ok in right if low < n <= high]
        if those:
            print(
                f"  {low + 1:3} to {high if high < 10**6 else '...':3} tokens {_share(those):8.1%} of {len(those):6,}"
            )


def _print_commonest(title: str, cases: Iterable[tuple[Hashable, ...]], n: int) -> None:
    counts = Counter(cases)
    print(f"  commonest {title}: ", end="")
    print("; ".join(f"{' '.join(map(str, case))} {k / n:.1%} ({k})" for case, k in counts.most_common(10)))


if __name__ == "__main__":
    main()
