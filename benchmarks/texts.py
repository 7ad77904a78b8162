"""CPU seconds of tokens, near duplicates and language on the captions of any sources, and how their times overlap, one
JSON line last.

python benchmarks/texts.py train.json val_1.json yc2_annotations_trainval.json Charades_v1_train.csv
"""

import argparse
import json
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from nltk.tokenize.destructive import NLTKWordTokenizer

from swag_af.data.captions.drops import gap_seconds, is_enclosed
from swag_af.data.captions.language import foreign_videos
from swag_af.data.captions.readers import read_videos
from swag_af.data.text.near_duplicates import repeats
from swag_af.data.tokens import detokenize, token_spans, tokenize
from swag_af.data.video import Video


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--threshold", type=float, default=0.7)
    options = parser.parse_args()
    videos = [video for source in options.sources for video in read_videos(source)]
    texts = [caption.text for video in videos for caption in video.captions]
    began = time.process_time()
    ours = [token_spans(text) for text in texts]
    tokenised = time.process_time()
    nltk = NLTKWordTokenizer()
    theirs = [list(nltk.span_tokenize(text)) for text in texts]
    by_nltk = time.process_time()
    near = repeats([tokenize(text.lower()) for text in texts], threshold=options.threshold)
    compared = time.process_time()
    n_foreign = sum(foreign_videos(videos))
    told = time.process_time()
    tokens = [tokenize(text) for text in texts]
    figures = {
        "captions": len(texts),
        "token_seconds": tokenised - began,
        "nltk_seconds": by_nltk - tokenised,
        "tokens_differ": sum(one != other for one, other in zip(ours, theirs, strict=True)),
        "near_duplicate_seconds": compared - by_nltk,
        "near_duplicates": len(near),
        "language_seconds": told - compared,
        "foreign_videos": n_foreign,
        "round_trips_differ": sum(tokenize(detokenize(words)) != words for words in tokens),
    }
    figures |= overlaps(videos)
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}))


def overlaps(videos: Sequence[Video]) -> dict[str, int]:
    """Pairs of consecutive captions: those whose second caption begins before the first ends, or ends by then too, and
    those whose first caption spans the times of all captions of its video. Videos without times do not count."""
    found = dict.fromkeys(("timed_pairs", "overlapping", "enclosed", "first_spans_all"), 0)
    for video in videos:
        times = [caption.seconds for caption in video.captions if caption.seconds is not None]
        ends = [end for _, end in times if end is not None]
        if not ends or len(ends) < len(video.captions):
            continue
        whole = (min(start for start, _ in times), max(ends))
        for first, second in pairwise(video.captions):
            found["timed_pairs"] += 1
            found["overlapping"] += gap_seconds(first, second) < 0
            found["enclosed"] += is_enclosed(first, second)
            found["first_spans_all"] += first.seconds == whole
    return found


if __name__ == "__main__":
    main()
