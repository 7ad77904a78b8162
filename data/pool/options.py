"""The options of `pool` and `tag`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.cells.options import Format, LabelBase
from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class Columns:
    """Which column of a source holds what. An empty name means that there is none. A dotted name, such as choices.text,
    is a field within another column."""

    sent1_column: str = "sent1"
    """The first sentence."""
    start_column: str = "start"
    """The beginning of the second sentence. Pass --start-column '' if endings stand alone."""
    context_column: str = ""
    """First sentence and start in one text, instead of the two columns above. It is split after its last full sentence.
    Numbered columns such as InputSentence1, InputSentence2 are joined."""
    gold_column: str = "gold"
    """The right ending."""
    negatives_column: str = "negatives"
    """The negatives (wrong endings): a list, a JSON list as text, numbered columns such as negative0, negative1, or
    several columns separated by commas: wrong,worse."""
    endings_column: str = "endings"
    """All endings, instead of gold and negatives, in the same forms."""
    label_column: str = "label"
    """Which of the endings is gold: its number; its letter, A for the first; its text; or a list with a 1 in its place.
    If the endings are `choices.text` and `choices.label` names them, one of those names."""
    id_column: str = "id"
    """A unique name for the row. Without this column, rows are numbered."""
    video_column: str = "video"
    """The group that must stay together in folds and splits. Without this column, the only one with a usual name for
    groups, such as video_id or story_id; if there is none, each row is its own group."""
    fold_column: str = "fold"
    """The fold, counted from 0. A row without one gets the fold of its group (same video or shared texts), otherwise a
    random one."""
    source_column: str = "source"
    """Where the row comes from."""
    gold_source_column: str = "gold_source"
    """Whether gold was found in the source (gold) or generated (gen), as in releases and in SWAG's files."""
    features_column: str = "features"
    """Features of gold and of each negative, in the order of the endings: a list of lists of numbers."""
    media_columns: str = ""
    """Columns that name what is shown with the text, separated by commas: image,objects. `pool` does not open these
    files. Releases keep the columns."""


@dataclass(frozen=True)
class PoolOptions(Options):
    """Make a pool from your own negatives, or from a multiple-choice dataset to be filtered again.

    Reads one row per context: first sentence (sent1), start of the second, right ending (gold), and any number of wrong
    endings (negatives) of any length. The layouts of SWAG and HellaSwag are recognised by their columns, formats by the
    files. Other columns that `audit` reads, such as question, choices and answer, are read if no other column is left
    over, and the program says which it read.

    Negatives that repeat gold or each other are left out and counted; letter case, blanks and final full stops are
    ignored in this. Warns if letter case, blanks, quotes, final marks or invisible characters reveal gold. Needs little
    memory, even for millions of rows.

    Try:
      swag-af pool mine.jsonl --out pool
      swag-af pool swag/train.csv swag/val.csv --out pool
      swag-af pool questions.parquet --context-column question --endings-column choices --label-column answer
      swag-af pool mine.csv --flag checks.py:means_the_same --tagger none
      swag-af pool mine.jsonl --normalise --out pool
      swag-af pool seen.jsonl --media-columns image,objects --out pool
    """

    sources: tuple[Path, ...]
    """JSONL, JSON, CSV / TSV or Parquet files; or folders of `datasets.save_to_disk` or of `swag-af release`, with all
    their splits."""
    out: Path = Path("pool")
    """The pool folder to write."""
    format: Format = "auto"
    """Format of the sources. auto detects it."""
    layout: Literal["auto", "columns", "swag", "hellaswag"] = "auto"
    """Layout of the columns: columns, as named below, or that of swag or hellaswag. auto detects it by the column
    names."""
    columns: Columns = field(default_factory=Columns)
    """Column names. An empty name means that there is none. A dotted name, such as choices.text, is a field within
    another column."""
    labels_file: Path | None = None
    """A second file with the labels, if there is only one source: a table with --label-column, and with --id-column if
    both files have it; or one label per line in the same order."""
    label_base: LabelBase = "auto"
    """How labels are read: 0 or 1 (numbers that count from there), text (texts of endings) or letters. auto takes 1 if
    no label is 0 and one is as large as the number of endings."""
    flag: str = ""
    """A function of yours, FILE.py:NAME or MODULE:NAME. It takes a context and a negative and says whether the negative
    could pass for gold. Such negatives are left out."""
    lms: Path | None = None
    """Language models of `swag-af train-lm` that will read the pool. Every row gets the fold whose model has not read
    its ending. Rows that all models have read are left out and counted."""
    drop_empty: bool = False
    """Drop rows that have no negatives left, and count them, instead of stopping."""
    min_negatives: int = 0
    """Drop rows that have fewer negatives left than this, and count them. 0 drops none. `swag-af filter` needs
    --n-negatives in every row, and more if any are to be swapped."""
    keep_generated: bool = False
    """Keep rows whose gold was generated. By default they are left out and counted: a pool does not distinguish them
    from others, so they would be released as found, perhaps in val or test."""
    normalise: bool = False
    """Give all endings one surface form: straight quotes and plain dashes, no invisible characters or character
    references, single blanks, a full stop unless . ! ? ends them, and each word in one letter case. Other style that
    reveals gold (digits, commas, contractions, words) stays, for audits to find. Starts stay as they are."""
    tagger: str = "auto"
    """Tags the word types (distinct words): rules, spacy, spacy[PIPELINE] or none. auto takes the best one available.
    `swag-af tag` can do this later."""
    force: bool = False
    """Replace an existing pool."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(self.min_negatives < 0, f"--min-negatives {self.min_negatives}: not below 0")])


@dataclass(frozen=True)
class TagOptions(Options):
    """Tag the word types of a pool, or its endings in context: what the filters poslstm and ensemble read.

    The tags are part of the pool's identity. Runs made before belong to another pool: `swag-af filter` and `swag-af
    show` refuse them until the pool is tagged as before. To keep both, copy the folder first.

    By default each word type (distinct word) has one tag, and a pool is tagged in a second. --in-context tags every
    candidate in its sentence, in several processes; if interrupted, the same command resumes. Tagging word types again
    removes those tags.

    Try:
      swag-af tag pool
      swag-af tag pool --tagger "spacy[tagger]" --in-context --workers 4
      swag-af tag pool --tagger none
    """

    pool: Path
    """The pool folder."""
    tagger: str = "auto"
    """Tagger: rules, spacy, spacy[PIPELINE] or none, which removes the tags. auto takes the best one available."""
    in_context: bool = False
    """Tag every candidate in its sentence, instead of every word type once."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where --in-context runs."""
    workers: int | None = None
    """Processes that tag in context. If not given: 1; with --engine processes, one for each core; on a cluster, as many
    as it has room for (Slurm: 16)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = self.workers is not None or self.where != EngineOptions()
        check_faults(
            [
                *worker_faults(self.workers, self.where),
                (self.in_context and self.tagger == "none", "--tagger none: name a tagger beside --in-context"),
                (
                    shares and not self.in_context,
                    "--engine and --workers are for --in-context: word types take a second",
                ),
            ]
        )
