"""The options of `baselines`. Imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import AUTO, ReadingOptions
from swag_af.filters.registry import parse_names


@dataclass(frozen=True)
class BaselinesOptions(Options):
    """Measure models that read endings alone, second sentences, or everything: Table 3 of SWAG.

    Each model is fitted on the training split, where it also chooses its best epoch, and scored on validation and test.
    If no splits are published, whole groups are dealt into splits. The table has means and deviations over seeds, 95 %
    intervals, chance, and what the paper reports for the same row. It also says which models differ on the same
    questions, and whether the rows have the paper's order.

    Models:
    * random
    * length: the shortest and the longest option
    * conceptnet: needs --conceptnet FILE
    * tfidf
    * fasttext (extra fasttext)
    * encoder[PATH]: a frozen sentence encoder (extra hf)
    * transformer[PATH]: fine-tuned (extra hf)
    * any filter, by its name
    * package.module:Class: a model of your own

    Every cell of the table is a file in --out. If killed, the same command fits the missing cells. More seeds, inputs
    or models extend the table.

    Try:
      swag-af baselines demo/dataset
      swag-af baselines questions.jsonl --models random,length,tfidf,fasttext --seeds 1
      swag-af baselines questions.jsonl --models "lstm,esim" --vectors glove.6B.300d.txt --jobs 4
      swag-af baselines questions.jsonl --dry-run
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset, such as its splits."""
    out: Path = Path("baselines")
    """The folder to write: a file for each cell, baselines.json, the table as text, CSV, Markdown and LaTeX, and
    pictures."""
    models: str = AUTO
    """NAME,NAME. auto: random, length, tfidf, fasttext, and the networks of Table 3."""
    inputs: str = AUTO
    """What models read: ending, second-sentence, full (context and second sentence); for texts with classes hypothesis,
    full; or any input of an audit. auto: those that the data has."""
    trained_on: Literal["auto", "all", "found", "found+generated"] = "auto"
    """Which training rows to use, by where gold comes from. auto: found, and found+generated, if the data distinguishes
    them; otherwise all."""
    seeds: int = 3
    """Fits of each model that draws anything at random."""
    seed: int = 0
    """The first seed."""
    epochs: int = 0
    """Passes over the training rows, at most. 0: each model's own number."""
    vectors: Path | None = None
    """Word vectors for the filters that take them: a GloVe, word2vec or Numberbatch text file."""
    conceptnet: Path | None = None
    """ConceptNet's assertions.csv or assertions.csv.gz, for the model conceptnet."""
    splits: Literal["auto", "published", "dealt"] = "auto"
    """auto: the published splits if one is for training and one for scoring, by the word train, dev, val or test in
    their names; otherwise dealt by whole groups, with a warning if there are several."""
    val_share: float = 0.15
    """Share of the validation split, if splits are dealt."""
    test_share: float = 0.15
    """Share of the test split, if splits are dealt."""
    split_seed: int = 0
    """Seed for dealing the splits. It is the same for all --seeds, so that all are scored on the same questions."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where networks compute."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where cells are fitted. --jobs sets the workers there."""
    jobs: int | None = None
    """Cells fitted at once, each in a process with one thread. If not given: 1; with --engine processes, one for each
    core; on a cluster, as many as it has room for (Slurm: 16)."""
    dry_run: bool = False
    """List the cells and about how long they take, and write nothing."""
    json: Path | None = None
    """Also write baselines.json to this file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        names = () if self.models == AUTO else parse_names("--models", self.models)
        shares = self.val_share + self.test_share
        check_faults(
            [
                (self.models != AUTO and not names, "--models none: name at least one"),
                (self.inputs != AUTO and not parse_names("--inputs", self.inputs), "--inputs none: at least one"),
                ("conceptnet" in names and self.conceptnet is None, "model conceptnet: name its file, --conceptnet"),
                (
                    self.conceptnet is not None and self.models != AUTO and "conceptnet" not in names,
                    f"--conceptnet {self.conceptnet}: none of the models reads it. Name conceptnet among --models",
                ),
                (
                    self.conceptnet is not None and not self.conceptnet.exists(),
                    f"--conceptnet {self.conceptnet}: not there",
                ),
                (self.seeds < 1, f"--seeds {self.seeds}: at least 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (self.split_seed < 0, f"--split-seed {self.split_seed}: not below 0"),
                (self.epochs < 0, f"--epochs {self.epochs}: not below 0"),
                *worker_faults(self.jobs, self.where, "--jobs"),
                (self.val_share < 0 or self.test_share < 0, "--val-share and --test-share: not below 0"),
                (not 0 < shares < 1, f"--val-share and --test-share: {shares:g} together, above 0 and below 1"),
            ]
        )
