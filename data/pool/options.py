"""The options of `pool` and `tag`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.cells.options import Format, LabelBase
from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class Columns:
    """Which column of a source holds what; an empty name says that there is none, and a dotted one, as choices.text,
    that it is within another."""

    sent1_column: str = "sent1"
    """The first sentence."""
    start_column: str = "start"
    """The beginning of the second sentence; --start-column '' where endings stand alone."""
    context_column: str = ""
    """First sentence and start in one text, split after its last full sentence; in place of the two above. Numbered
    columns such as InputSentence1, InputSentence2 are joined."""
    gold_column: str = "gold"
    """The right ending."""
    negatives_column: str = "negatives"
    """The negatives: a list, a JSON list in a text, numbered columns such as negative0, negative1, or several columns
    with commas between: wrong,worse."""
    endings_column: str = "endings"
    """In place of gold and negatives, all endings, in the same forms."""
    label_column: str = "label"
    """Which of the endings is gold: its number; its letter, A for the first; its text; or a list with a 1 for it. Where
    the endings are `choices.text` and `choices.label` names them, one of those names."""
    id_column: str = "id"
    """A unique name of the row; rows are numbered where there is none."""
    video_column: str = "video"
    """The group that must stay together in folds and splits; where there is none, the only column that is called as
    groups are, such as video_id or story_id, and without one each row is a group of its own."""
    fold_column: str = "fold"
    """The fold, from 0; a row without one gets that of its group, by video and shared texts, or one by lot."""
    source_column: str = "source"
    """Where the row comes from."""
    gold_source_column: str = "gold_source"
    """Whether gold was found in the source (gold) or generated (gen), as releases and SWAG's files say."""
    features_column: str = "features"
    """Features of gold and of each negative, a list of lists of numbers, in the order of the endings."""
    media_columns: str = ""
    """What is shown with the text, with commas between: image,objects. Nothing here opens it; releases have it too."""


@dataclass(frozen=True)
class PoolOptions(Options):
    """Make a pool of negatives of your own, or of a multiple-choice dataset that is to be filtered again.

    Reads one row per context: sent1, start, gold and negatives, any number of negatives of any length. The layouts of
    SWAG and HellaSwag are recognised by their columns, formats by the files. Columns such as question, choices and
    answer are read where no other one could be meant, and it is said which. Negatives that repeat gold or each other,
    apart from letter case, blanks and final full stops, are left out and counted. Warns where letter case, blanks,
    quotes, final marks or invisible characters reveal gold. Needs little memory, even for millions of rows.

    Try:
      swag-af pool mine.jsonl --out pool
      swag-af pool swag/train.csv swag/val.csv --out pool
      swag-af pool questions.parquet --context-column question --endings-column choices --label-column answer
      swag-af pool mine.csv --flag checks.py:means_the_same --tagger none
      swag-af pool mine.jsonl --normalise --out pool
      swag-af pool seen.jsonl --media-columns image,objects --out pool
    """

    sources: tuple[Path, ...]
    """JSONL, JSON, CSV / TSV or Parquet files; folders of `datasets.save_to_disk` or of `swag-af release`, with all of
    their splits."""
    out: Path = Path("pool")
    """The pool folder to write."""
    format: Format = "auto"
    """The format of the sources; auto detects it."""
    layout: Literal["auto", "columns", "swag", "hellaswag"] = "auto"
    """What the columns mean: columns, as named below; or those of a published dataset. auto detects it by their
    names."""
    columns: Columns = field(default_factory=Columns)
    """The names of the columns."""
    labels_file: Path | None = None
    """A second file with the labels of the only source: a table with --label-column, and --id-column where both have
    it, or a label a line in the same order."""
    label_base: LabelBase = "auto"
    """From what labels that are numbers count, or whether they are texts or letters; auto takes 1 where no label is 0
    and one is as large as the number of endings."""
    flag: str = ""
    """A function of your own, FILE.py:NAME or MODULE:NAME, that takes a context and a negative and says whether the
    negative could pass for gold; those are left out."""
    lms: Path | None = None
    """Language models of `swag-af train-lm` that are to read the pool: every row gets the fold whose model has not read
    its ending, and rows that all of them have read are left out and counted."""
    drop_empty: bool = False
    """Drop rows that have no negatives left, and count them, instead of stopping."""
    min_negatives: int = 0
    """Drop rows that have fewer negatives left than this, and count them; 0 drops none. `swag-af filter` needs
    --n-negatives in every row, and more where any is to be swapped."""
    keep_generated: bool = False
    """Keep rows whose gold was generated. They are left out and counted otherwise: a pool does not tell them from the
    others, so that they would be released as found, and perhaps in val or test."""
    normalise: bool = False
    """Give all endings one surface form: straight quotes and plain dashes, no invisible characters or character
    references, single blanks, a full stop where no . ! ? ends them, and each word in one letter case. Other style that
    reveals gold (digits, commas, contractions, words) stays, for audits to find. Starts stay as they are."""
    tagger: str = "auto"
    """What tags the word types: rules, spacy, spacy[PIPELINE] or none; auto takes the best one available. `swag-af tag`
    does it later."""
    force: bool = False
    """Replace an existing pool."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(self.min_negatives < 0, f"--min-negatives {self.min_negatives}: not below 0")])


@dataclass(frozen=True)
class TagOptions(Options):
    """Tag the word types of a pool, or its endings in context: what the filters poslstm and ensemble read.

    The tags are part of the pool's identity, so runs made before belong to another pool: `swag-af filter`
    and `swag-af show` refuse them until the pool is tagged as before. Copy the folder first to keep both.

    A word type has one tag, and a pool is tagged in a second. --in-context tags every candidate in its sentence, in
    several processes; if interrupted, the same command resumes. Tagging word types again removes those tags.

    Try:
      swag-af tag pool
      swag-af tag pool --tagger "spacy[tagger]" --in-context --workers 4
      swag-af tag pool --tagger none
    """

    pool: Path
    """The pool folder."""
    tagger: str = "auto"
    """rules, spacy, spacy[PIPELINE] or none, which removes the tags; auto takes the best one available."""
    in_context: bool = False
    """Tag every candidate in its sentence, not every word type once."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where --in-context is worked on."""
    workers: int | None = None
    """Processes that tag in context. Not given: 1, or as many as a cluster has room for."""

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
