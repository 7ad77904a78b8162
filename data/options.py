"""The options of `contexts`, `pool` and `tag`: Python signature, flags, TOML schema and saved record in one."""

import math
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
    """Drop a pair whose second caption begins later than this after the first ends. Unset it is 25 for captions of
    LSMDC, as in the paper, and no bound for others."""
    drop_enclosed: bool = False
    """Drop a pair whose second caption lies within the time of the first, and so may tell the same once more. The
    paper keeps them."""
    drop_foreign: bool = True
    """Drop the pairs of videos whose captions are surely not English."""
    near_duplicates: float = 0.7
    """Drop a context that says nearly the same as an earlier one: the least share of their token 3-grams that both
    have, up to 1; 0 keeps them all."""
    n_folds: int = 5
    """How many folds the videos are dealt into; a fold's language model never sees the fold."""

    def __post_init__(self) -> None:
        bounds = ("min_sentence_tokens", "min_token_count", "min_context_tokens", "min_ending_tokens")
        check_faults(
            [
                *((getattr(self, b) < 0, f"--{b.replace('_', '-')} {getattr(self, b)}: not below 0") for b in bounds),
                (self.max_context_tokens < self.min_context_tokens, "--max-context-tokens: below --min-context-tokens"),
                (self.max_ending_tokens < self.min_ending_tokens, "--max-ending-tokens: below --min-ending-tokens"),
                (
                    self.max_gap_seconds is not None and not math.isfinite(self.max_gap_seconds),
                    f"--max-gap-seconds {self.max_gap_seconds}: a number of seconds; a large one bounds nothing",
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
    """Which column of a table of captions holds what; an empty name says that there is none."""

    video_column: str = "video"
    """What names the video, or the document: captions of one are consecutive."""
    sentence_column: str = "sentence"
    """The caption."""
    start_column: str = "start_time"
    """When it begins, in seconds or as hours:minutes:seconds; captions stand in this order where all have it."""
    end_column: str = "end_time"
    """When it ends."""
    annotator_column: str = "annotator"
    """Who wrote it: where a video has several, pairs never mix them."""
    tree_column: str = "tree"
    """Its constituency tree in brackets, Penn Treebank labels."""
    source_column: str = "source"
    """Where it comes from; the name of the file where nothing says it. For lsmdc the 25-second rule holds."""


@dataclass(frozen=True)
class Contexts:
    """Make contexts from consecutive captions: first sentence, start of the second, and its ending (gold).

    Writes NAME.jsonl, NAME.dropped.jsonl (every pair left out, with its reason), NAME.dropped.txt (how many for which
    reason, with an example) and NAME.manifest.json. docs/DATA.md says where to get captions.

    Try:
      swag-af contexts train.json val_1.json --out contexts.jsonl
      swag-af contexts LSMDC16_annos_training.csv --out contexts.jsonl
      swag-af contexts youcookii_annotations_trainval.json --out contexts.jsonl
      swag-af contexts Charades_v1_train.csv Charades_v1_test.csv --out contexts.jsonl
      swag-af contexts mine.csv --video-column clip --sentence-column caption
      swag-af contexts captions.parquet saved_dataset/ --start-column begin --end-column end
    """

    sources: tuple[Path, ...]
    """Captions: files of ActivityNet Captions, LSMDC, YouCook2 or Charades as they are published; or a row a caption in
    JSONL, CSV / TSV, Parquet, or a folder of `datasets.save_to_disk`."""
    out: Path = Path("contexts.jsonl")
    """The contexts file to write."""
    format: Literal["auto", "activitynet", "lsmdc", "youcook2", "charades", "jsonl", "csv", "parquet", "datasets"] = (
        "auto"
    )
    """What the sources are; auto looks at each."""
    columns: CaptionColumns = field(default_factory=CaptionColumns)
    """The names of the columns, where a source is a table of captions."""
    splitter: str = "auto"
    """What splits the second sentence: trees (in the source), rules, spacy:PIPELINE or benepar:MODEL; auto takes a
    caption's tree where it has one, and otherwise the best that is installed."""
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
    """The fold, from 0; dealt by video and shared texts where no row has one."""
    source_column: str = "source"
    """Where the row comes from."""
    features_column: str = "features"
    """Features of gold and of each negative, a list of lists of numbers, in the order of the endings."""


@dataclass(frozen=True)
class Pool:
    """Make a pool of negatives of your own, or of a multiple-choice dataset that is to be filtered again.

    Reads one row a context: sent1, start, gold and negatives, rows of any number of negatives of any length. The
    layouts of SWAG and HellaSwag are told by their columns, and formats by the files. Negatives that repeat gold or
    each other, letter case and blanks aside, are left out and counted. Warns where letter case, blanks, quotes, final
    marks or invisible characters tell gold. Needs little memory at millions of rows.

    Try:
      swag-af pool mine.jsonl --out pool
      swag-af pool swag/train.csv swag/val.csv --out pool
      swag-af pool questions.parquet --context-column question --endings-column choices --label-column answer
      swag-af pool mine.csv --flag checks.py:means_the_same --tagger none
      swag-af pool mine.jsonl --normalise --out pool
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
    lms: Path | None = None
    """Language models of `swag-af train-lm` that are to read the pool: every row gets the fold whose model has not read
    its ending, and rows that all of them have read are left out and counted."""
    drop_empty: bool = False
    """Drop rows that have no negatives left, and count them, instead of stopping."""
    normalise: bool = False
    """Give all endings one surface form: straight quotes and plain dashes, no invisible characters or character
    references, single blanks, a full stop where no . ! ? ends them, and each word in one letter case. Other style that
    tells gold (digits, commas, contractions, words) stays, and is for audits to find. Starts stay as they are."""
    tagger: str = "auto"
    """What tags the word types: rules, spacy, spacy:PIPELINE or none; auto takes the best at hand. `swag-af tag`
    does it later."""
    force: bool = False
    """Replace an existing pool."""


@dataclass(frozen=True)
class Tag:
    """Tag the word types of a pool, or its endings in context: what the filters poslstm and ensemble read.

    The tags are part of what a pool is, so runs on it as it was are runs of another pool: `swag-af filter` and
    `swag-af show` refuse them until the pool is tagged as before. Copy the folder first to keep both.

    A word type has one tag, and a pool is tagged in a second. --in-context tags every candidate in its sentence, by
    processes side by side; interrupted, the same command goes on. Tagging word types again takes those tags away.

    Try:
      swag-af tag pool
      swag-af tag pool --tagger spacy:tagger --in-context --workers 4
      swag-af tag pool --tagger none
    """

    pool: Path
    """The pool folder."""
    tagger: str = "auto"
    """rules, spacy, spacy:PIPELINE or none, which takes the tags away; auto takes the best at hand."""
    in_context: bool = False
    """Tag every candidate in its sentence, not every word type once."""
    workers: int = 1
    """Processes that tag in context."""

    def __post_init__(self) -> None:
        check_faults(
            [
                (self.workers < 1, f"--workers {self.workers}: at least 1"),
                (self.in_context and self.tagger == "none", "--tagger none: name a tagger beside --in-context"),
            ]
        )


@dataclass(frozen=True)
class TrainTagger:
    """Train a small spaCy pipeline on a treebank of yours: better tags than the rules', and parses.

    Its folder is what `--tagger spacy:FOLDER` and `--splitter spacy:FOLDER` take. Interrupted, the same command goes on
    from the last finished epoch. Universal Dependencies has treebanks: UD English EWT takes ten minutes of one core.

    Try:
      swag-af train-tagger en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out tagger
      swag-af contexts captions.json --splitter spacy:tagger
      swag-af tag pool --tagger spacy:tagger --in-context
    """

    treebank: Path
    """Sentences to learn, CoNLL-U with universal tags and dependencies."""
    out: Path = Path("tagger")
    """The folder to write, a spaCy pipeline."""
    dev: Path | None = None
    """Sentences that choose the best epoch, CoNLL-U; without them every tenth of the treebank is held out."""
    epochs: int = 8
    """Passes over the treebank."""
    width: int = 96
    """Width of the word representations."""
    parser: bool = True
    """Learn dependencies too, which `--splitter` reads; tags alone take less time."""
    lower_share: float = 0.25
    """Share of the sentences that are lower-cased, in each pass others: captions often are."""
    seed: int = 0
    """Weights, order and dropout."""
    force: bool = False
    """Replace an existing pipeline."""

    def __post_init__(self) -> None:
        check_faults(
            [
                (self.epochs < 1, f"--epochs {self.epochs}: at least 1"),
                (self.width < 8, f"--width {self.width}: at least 8"),
                (not 0 <= self.lower_share <= 1, f"--lower-share {self.lower_share}: from 0 to 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )
