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
    """Which column holds what: auto looks for it by name and content, an empty name says that there is none, and a
    dotted one, as choices.text, that it is within another."""

    context_column: str = AUTO
    """The question, or whatever comes before the options; numbered columns are joined."""
    passage_column: str = AUTO
    """A text before the context that several questions may share."""
    start_column: str = AUTO
    """The beginning that every option completes."""
    endings_column: str = AUTO
    """All options: a list, numbered columns such as a0, a1, or several columns with commas between: A,B,C,D."""
    label_column: str = AUTO
    """Which of the options is right: its number, letter, text or name, or a list with a 1 for it; or the class."""
    gold_column: str = AUTO
    """In place of options and label, the right one alone ..."""
    negatives_column: str = AUTO
    """... and the others, in the same forms as the options."""
    premise_column: str = AUTO
    """Of texts with classes, the text before the one that is classified."""
    hypothesis_column: str = AUTO
    """Of pairs with classes, the text that is classified."""
    text_column: str = AUTO
    """Of single texts with classes, the text."""
    video_column: str = AUTO
    """The group that no fold may part: video, passage, image set."""
    media_column: str = AUTO
    """What the row shows beside its text, such as an image: equal texts with other media are not the same question."""
    id_column: str = AUTO
    """A unique name of the row; file and line where there is none."""
    split_column: str = AUTO
    """The published split of the row; the file where several are read."""
    source_column: str = AUTO
    """What says whether gold was found or generated, as `gold-source` of SWAG: a word that begins so, or with gold."""
    contrast_set_column: str = AUTO
    """What names the contrast set: the rows that are to be right together."""
    variant_column: str = AUTO
    """What says which row of a contrast set is the original and which are contrast."""
    question_id_column: str = AUTO
    """Where a question is asked in stages, what these share."""
    stage_column: str = AUTO
    """The name of the stage, as Q->A or QA->R."""


@dataclass(frozen=True)
class ReadingOptions(Options):
    """How the files of a dataset are read."""

    format: Format = "auto"
    """The format of the files; auto detects it."""
    layout: LayoutName = "auto"
    """What the columns mean: those of a published dataset, or auto."""
    kind: Literal["auto", "choices", "classes"] = "auto"
    """Questions with options, or texts with classes; auto tells by the columns."""
    columns: InstanceColumns = field(default_factory=InstanceColumns)
    """The names of the columns."""
    label_base: LabelBase = "auto"
    """What labels that are numbers count from, or what they are: texts of options, or letters, also where an option is
    called B; auto tells by all of them."""
    labels_file: Path | None = None
    """A second file with the labels, by id or line by line."""
    persons: Literal["tags", "names"] = "tags"
    """Where texts are lists of words with numbers of objects (VCR): as [person1], or by neutral names."""
    mask: str = ""
    """What is hidden in all texts, as [MASK]: a regular expression, or persons: their tags, or the names in place of
    these, where the set has any; pronouns and nouns for persons in sets that have none."""

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
