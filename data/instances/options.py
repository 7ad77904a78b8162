"""How anyone's dataset is read, and which columns hold what: signature, flags, TOML schema and record in one."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.cells.options import Format, LabelBase
from swag_af.data.errors import InputError, Options

AUTO = "auto"
"""A column that is looked for by its name and by what is in it."""

LayoutName = Literal[
    "auto",
    "columns",
    "swag",
    "hellaswag",
    "nlvr2",
    "vcr",
    "vcr-cs",
    "race",
    "boolq-contrast",
    "marked-pairs",
    "lm-eval",
]
"""auto looks at the names of the columns; columns reads them as they are."""


@dataclass(frozen=True)
class InstanceColumns:
    """Which column holds what. auto looks for it by name and content. An empty name means that there is none. A dotted
    name, such as choices.text, is a field within another column."""

    context_column: str = AUTO
    """The question, or whatever comes before the options. Numbered columns are joined."""
    passage_column: str = AUTO
    """A text before the context, which several questions may share."""
    start_column: str = AUTO
    """The beginning that every option completes."""
    endings_column: str = AUTO
    """All options: a list, numbered columns such as a0, a1, or several columns separated by commas: A,B,C,D."""
    label_column: str = AUTO
    """The right option: its number, letter, text or name, or a list with a 1 in its place. For texts with classes, the
    class."""
    gold_column: str = AUTO
    """The right option alone. Used with --negatives-column, instead of columns of options and label."""
    negatives_column: str = AUTO
    """The wrong options, in the same forms as --endings-column."""
    premise_column: str = AUTO
    """For texts with classes: the text before the one that is classified."""
    hypothesis_column: str = AUTO
    """For pairs with classes: the text that is classified."""
    text_column: str = AUTO
    """For single texts with classes: the text."""
    video_column: str = AUTO
    """The group that must stay in one fold: video, passage, image set."""
    media_column: str = AUTO
    """What the row shows beside its text, such as an image. Rows with equal texts and different media are different
    questions."""
    id_column: str = AUTO
    """A unique name for the row. Without this column, file and line."""
    split_column: str = AUTO
    """The published split of the row. Without this column, the file, if several are read."""
    source_column: str = AUTO
    """Whether gold was found or generated, as in SWAG's `gold-source`: a word that begins with found or gold, or
    with gen."""
    contrast_set_column: str = AUTO
    """The contrast set of the row. Rows of one contrast set should all be answered correctly."""
    variant_column: str = AUTO
    """Which row of a contrast set is the original and which are contrast."""
    question_id_column: str = AUTO
    """For questions asked in stages: what the stages of one question share."""
    stage_column: str = AUTO
    """Name of the stage, such as Q->A or QA->R."""


@dataclass(frozen=True)
class ReadingOptions(Options):
    """How the files of a dataset are read."""

    format: Format = "auto"
    """Format of the files. auto detects it."""
    layout: LayoutName = "auto"
    """Layout of the columns: that of a published dataset, by its name; columns, read as they are; or auto, which looks
    at their names."""
    kind: Literal["auto", "choices", "classes"] = "auto"
    """choices: questions with options. classes: texts with classes. auto decides by the columns."""
    columns: InstanceColumns = field(default_factory=InstanceColumns)
    """Column names. auto looks for a column by name and content. An empty name means that there is none. A dotted name,
    such as choices.text, is a field within another column."""
    label_base: LabelBase = "auto"
    """How labels are read: 0 or 1 (numbers that count from there), text (texts of options), or letters, even if an
    option is itself called B. auto decides from all labels."""
    labels_file: Path | None = None
    """A second file with the labels, matched by id or line by line."""
    persons: Literal["tags", "names"] = "tags"
    """How to write persons in texts that are lists of words with numbers of objects (VCR): as tags ([person1]) or as
    neutral names."""
    mask: str = ""
    """What to replace by [MASK] in all texts: matches of a regular expression, or persons. persons means their tags, or
    the names in their place, if the set has any; otherwise pronouns and nouns for persons."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mask and self.mask != PERSONS:
            try:
                re.compile(self.mask)
            except re.error as fault:
                raise InputError(
                    f"--mask {self.mask}: no regular expression ({fault}). Mend it, or say persons."
                ) from None


PERSONS = "persons"
"""The mask that hides whoever is named."""
