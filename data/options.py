"""The options of `contexts`, `pool` and `tag`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.errors import check_faults


@dataclass(frozen=True)
class ContextRules:
    """What a pair must satisfy (Zellers et al. 2018, footnote 2 and A.1; lengths from the released code)."""

    min_sentence_tokens: int = 6
    """Drop a pair whose second sentence has fewer tokens (the paper drops 5 or fewer)."""
    min_token_count: int = 4
    """Drop a pair whose second sentence holds a token seen less often in the whole source (the paper drops 3 or
    fewer)."""
    min_context_tokens: int = 6
    """Drop a pair whose first sentence and start together have fewer tokens."""
    max_context_tokens: int = 100
    """Drop a pair whose first sentence and start together have more tokens."""
    min_ending_tokens: int = 5
    """Drop a pair whose ending has fewer tokens, the final full stop counted."""
    max_ending_tokens: int = 25
    """Drop a pair whose ending has more tokens; generated endings stop there too."""
    max_gap_seconds: float | None = None
    """Drop a pair whose second caption begins later than this after the first ends (the paper: 25, for LSMDC only)."""
    n_folds: int = 5
    """How many folds the videos are dealt into; a fold's language model never sees the fold."""

    def __post_init__(self) -> None:
        bounds = ("min_sentence_tokens", "min_token_count", "min_context_tokens", "min_ending_tokens")
        check_faults(
            [
                *((getattr(self, b) < 0, f"--{b.replace('_', '-')} {getattr(self, b)}: not below 0") for b in bounds),
                (self.max_context_tokens < self.min_context_tokens, "--max-context-tokens: below --min-context-tokens"),
                (self.max_ending_tokens < self.min_ending_tokens, "--max-ending-tokens: below --min-ending-tokens"),
                (self.n_folds < 2, f"--n-folds {self.n_folds}: at least 2, or no model could learn from other folds"),
            ]
        )


@dataclass(frozen=True)
class Contexts:
    """Make contexts from consecutive captions: first sentence, start of the second, and its ending (gold).

    Writes NAME.jsonl, NAME.dropped.jsonl (every pair left out, with its reason) and NAME.manifest.json.

    Try:
      swag-af contexts train.json val_1.json --out contexts.jsonl
      swag-af contexts captions.csv --out contexts.jsonl --max-gap-seconds 25
    """

    sources: tuple[Path, ...]
    """Caption files: ActivityNet Captions JSON, or JSONL / CSV with the columns video and sentence (start_time,
    end_time, tree if known)."""
    out: Path = Path("contexts.jsonl")
    """The contexts file to write."""
    format: Literal["auto", "activitynet", "jsonl", "csv"] = "auto"
    """The format of the sources; auto looks at their names."""
    splitter: str = "auto"
    """What splits the second sentence: trees (in the source), rules, spacy or spacy:PIPELINE; auto takes the
    best at hand."""
    rules: ContextRules = field(default_factory=ContextRules)
    """What a pair must satisfy."""
    seed: int = 0
    """Deals the videos into folds."""
    force: bool = False
    """Replace an existing contexts file."""

    def __post_init__(self) -> None:
        check_faults([(self.seed < 0, f"--seed {self.seed}: not below 0")])


@dataclass(frozen=True)
class Columns:
    """Which column of a source holds what; an empty name says that there is none."""

    sent1_column: str = "sent1"
    """The first sentence."""
    start_column: str = "start"
    """The beginning of the second sentence; --start-column '' where endings stand alone."""
    context_column: str = ""
    """First sentence and start in one text, parted after its last full sentence; in place of the two above."""
    gold_column: str = "gold"
    """The right ending."""
    negatives_column: str = "negatives"
    """The negatives: a list, a JSON list in a text, or numbered columns such as negative0, negative1."""
    endings_column: str = "endings"
    """In place of gold and negatives, all endings, likewise."""
    label_column: str = "label"
    """Which of the endings is gold, counted from 0."""
    id_column: str = "id"
    """A name for the row, its own; rows are numbered where there is none."""
    video_column: str = "video"
    """The group that must stay together in folds and splits; each row its own where there is none."""
    fold_column: str = "fold"
    """The fold, from 0; dealt by video where no row has one."""
    source_column: str = "source"
    """Where the row comes from."""
    features_column: str = "features"
    """Features of gold and of each negative, a list of lists of numbers, in the order of the endings."""


@dataclass(frozen=True)
class Pool:
    """Make a pool of negatives of your own, or of a multiple-choice dataset that is to be filtered again.

    Reads one row a context: sent1, start, gold and negatives, rows of any number of negatives of any length. The
    layouts of SWAG and HellaSwag are told by their columns, and formats by the files. Negatives that repeat gold or
    each other, letter case and blanks aside, are left out and counted. Needs little memory at millions of rows.

    Try:
      swag-af pool mine.jsonl --out pool
      swag-af pool swag/train.csv swag/val.csv --out pool
      swag-af pool questions.parquet --context-column question --endings-column choices --label-column answer
      swag-af pool mine.csv --flag checks.py:means_the_same --tagger none
    """

    sources: tuple[Path, ...]
    """JSONL, CSV / TSV or Parquet files, or folders of `datasets.save_to_disk`."""
    out: Path = Path("pool")
    """The pool folder to write."""
    format: Literal["auto", "jsonl", "csv", "parquet", "datasets"] = "auto"
    """The format of the sources; auto looks at them."""
    layout: Literal["auto", "columns", "swag", "hellaswag"] = "auto"
    """What the columns mean: columns, as named below; or those of a published dataset. auto looks at their names."""
    columns: Columns = field(default_factory=Columns)
    """The names of the columns."""
    flag: str = ""
    """A function of your own, FILE.py:NAME or MODULE:NAME, that takes a context and a negative and says whether the
    negative could pass for gold; those are left out."""
    drop_empty: bool = False
    """Drop rows that have no negatives left, and count them, instead of stopping."""
    tagger: str = "auto"
    """What tags the word types: rules, spacy, spacy:PIPELINE or none; auto takes the best at hand. `swag-af tag`
    does it later."""
    force: bool = False
    """Replace an existing pool."""


@dataclass(frozen=True)
class Tag:
    """Tag the word types of a pool, again or for the first time: what the filters poslstm and ensemble read.

    The tags are part of what a pool is, so runs on it as it was are runs of another pool: `swag-af filter` and
    `swag-af show` refuse them until the pool is tagged as before. Copy the folder first to keep both.

    Try:
      swag-af tag pool
      swag-af tag pool --tagger spacy:en_core_web_sm
      swag-af tag pool --tagger none
    """

    pool: Path
    """The pool folder."""
    tagger: str = "auto"
    """rules, spacy, spacy:PIPELINE or none, which takes the tags away; auto takes the best at hand."""
