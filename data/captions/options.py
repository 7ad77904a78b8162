"""The options of `contexts`: Python signature, flags, TOML schema and saved record in one."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class ContextRules(Options):
    """What a pair must satisfy (Zellers et al. 2018, footnote 2 and A.1; lengths from the released code)."""

    min_sentence_tokens: int = 6
    """Drop a pair whose second sentence has fewer tokens than this. The paper drops 5 or fewer."""
    min_token_count: int = 4
    """Drop a pair whose second sentence holds a token that occurs fewer times than this in the whole source. The paper
    drops 3 or fewer. If this is below the --min-count of `train-lm`, `generate` leaves out contexts with such words in
    gold."""
    min_context_tokens: int = 6
    """Drop a pair whose first sentence and start together have fewer tokens than this."""
    max_context_tokens: int = 100
    """Drop a pair whose first sentence and start together have more tokens than this."""
    min_ending_tokens: int = 5
    """Drop a pair whose ending has fewer tokens than this, the final full stop included."""
    max_ending_tokens: int = 25
    """Drop a pair whose ending has more tokens than this. Generated endings stop there too."""
    max_gap_seconds: float | None = None
    """Drop a pair whose second caption begins more than this many seconds after the first ends. If not given: 25 for
    captions of LSMDC, as in the paper; no limit for others."""
    drop_enclosed: bool = False
    """Drop a pair whose second caption lies within the time of the first, since it may describe the same event again.
    The paper keeps such pairs."""
    drop_foreign: bool = True
    """Drop all pairs of a video whose captions are almost certainly not English. Keep them only for a splitter of their
    language."""
    near_duplicates: float = 0.7
    """Drop a context whose token 3-grams have at least this Jaccard similarity with those of an earlier one, up to 1. 0
    keeps all contexts."""
    n_folds: int = 5
    """Number of folds that the videos are divided into. The language model of a fold is trained on the other folds
    only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = ("min_sentence_tokens", "min_token_count", "min_context_tokens", "min_ending_tokens")
        check_faults(
            [
                *((getattr(self, b) < 0, f"--{b.replace('_', '-')} {getattr(self, b)}: not below 0") for b in bounds),
                (self.max_context_tokens < self.min_context_tokens, "--max-context-tokens: below --min-context-tokens"),
                (self.max_ending_tokens < self.min_ending_tokens, "--max-ending-tokens: below --min-ending-tokens"),
                (
                    self.max_gap_seconds is not None and not 0 <= self.max_gap_seconds < math.inf,
                    f"--max-gap-seconds {self.max_gap_seconds}: seconds, not below 0; a large number bounds nothing",
                ),
                (
                    not 0 <= self.near_duplicates <= 1,
                    f"--near-duplicates {self.near_duplicates}: from 0 (none is dropped) to 1 (same words)",
                ),
                (self.n_folds < 2, f"--n-folds {self.n_folds}: at least 2, or no model could learn from other folds"),
            ]
        )


@dataclass(frozen=True)
class CaptionColumns:
    """Which column of a table of captions holds what. An empty name means that there is none."""

    video_column: str = "video"
    """The video or document. Captions of one video are consecutive. Without this column, each file is one video."""
    sentence_column: str = "sentence"
    """The caption."""
    start_column: str = "start_time"
    """When the caption begins, in seconds or as hours:minutes:seconds. Captions are put in this order if all have
    it."""
    end_column: str = "end_time"
    """When the caption ends."""
    annotator_column: str = "annotator"
    """Who wrote the caption. If a video has several annotators, no pair mixes them."""
    tree_column: str = "tree"
    """The constituency tree of the caption in brackets, with Penn Treebank labels."""
    source_column: str = "source"
    """Where the caption comes from. Without this column, the file name. The 25-second rule applies to lsmdc."""


@dataclass(frozen=True)
class ContextsOptions(Options):
    """Make contexts from consecutive captions: first sentence, start of the second, and its ending (gold).

    A context is the first sentence and the start of the second; gold is the right ending. Writes NAME.jsonl, and beside
    it:
    * NAME.dropped.jsonl: every pair left out, with the reason
    * NAME.dropped.txt: how many were left out for each reason, with an example
    * NAME.manifest.json

    If killed, the same command continues parsing where it stopped. docs/DATA.md says where to get captions.

    Try:
      swag-af contexts train.json val_1.json --out contexts.jsonl
      swag-af contexts LSMDC16_annos_training.csv --out contexts.jsonl
      swag-af contexts youcookii_annotations_trainval.json --out contexts.jsonl
      swag-af contexts Charades_v1_train.csv Charades_v1_test.csv --out contexts.jsonl
      swag-af contexts mine.csv --video-column clip --sentence-column caption
      swag-af contexts captions.parquet saved_dataset/ --start-column begin --end-column end
    """

    sources: tuple[Path, ...]
    """Captions: files of ActivityNet Captions, LSMDC, YouCook2 or Charades as published; or tables with one caption per
    row, as JSONL, CSV / TSV, Parquet, or a folder of `datasets.save_to_disk`."""
    out: Path = Path("contexts.jsonl")
    """The contexts file to write."""
    format: Literal["auto", "activitynet", "lsmdc", "youcook2", "charades", "jsonl", "csv", "parquet", "datasets"] = (
        "auto"
    )
    """Format of the sources. auto detects it for each source."""
    columns: CaptionColumns = field(default_factory=CaptionColumns)
    """Column names, for sources that are tables of captions. An empty name means that there is no such column."""
    splitter: str = "auto"
    """How second sentences are split: trees (in the source), rules, spacy[PIPELINE] or benepar[MODEL]. auto uses a
    caption's tree if it has one, otherwise the best splitter installed, which splits English, as rules do."""
    rules: ContextRules = field(default_factory=ContextRules)
    """Rules that a pair of consecutive captions must satisfy."""
    seed: int = 0
    """Seed for assigning videos to folds."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where second sentences are split."""
    workers: int | None = None
    """Processes that split sentences. If not given: 1; with --engine processes, one for each core; on a cluster, as
    many as it has room for (Slurm: 16)."""
    force: bool = False
    """Replace an existing contexts file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (not self.columns.sentence_column, "--sentence-column: a caption needs one"),
                *worker_faults(self.workers, self.where),
            ]
        )
