"""The options of `describe`. Imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import ReadingOptions

Of = Literal["golds", "options", "contexts"]
"""Which texts verbs and curves are of."""


@dataclass(frozen=True)
class DescribeOptions(Options):
    """Describe a dataset: counts, lengths, words, common verbs beside other corpora, topics.

    Makes SWAG's Tables 6 and 7 and Figure 4 (Zellers et al. 2018) and NLVR2's curves of sentence lengths (Suhr et
    al. 2019) for any dataset that `swag-af audit` reads. --out DIR has each table as CSV, Markdown and LaTeX, each
    picture as PNG, SVG and PDF, all figures as describe.json, and one page.

    Try:
      swag-af describe questions.jsonl
      swag-af describe swag.jsonl --beside snli.jsonl --out described
      swag-af describe train.csv val.csv --topics 0 --tagger "spacy[en_core_web_sm]"
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset."""
    beside: tuple[Path, ...] = ()
    """Other corpora, whose verbs and lengths are shown beside: labelled data that can be read without further
    options."""
    out: Path | None = None
    """The folder to write. Without it, the program only prints tables."""
    of: Of = "golds"
    """Texts that verbs and curves are taken from. golds: right options; with classes, the texts. options: all options.
    contexts: contexts; with pairs, the premises."""
    tagger: str = "rules"
    """What finds verbs: rules, spacy[PIPELINE] or auto."""
    verbs: int = 40
    """How many of the most common verbs to show. 0: none."""
    topics: int = 20
    """How many topics to fit. 0: none."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files of the dataset are read."""
    seed: int = 0
    """Seed for the order of texts, and for the initial state and the held-out part of the topic model."""
    force: bool = False
    """Replace a folder that an earlier `describe` wrote."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.verbs < 0, f"--verbs {self.verbs}: not below 0"),
                (self.topics < 0 or self.topics == 1, f"--topics {self.topics}: 2 or more, or 0 for none"),
                (not 0 <= self.seed < 1 << 32, f"--seed {self.seed}: from 0 to 4,294,967,295"),
            ]
        )
