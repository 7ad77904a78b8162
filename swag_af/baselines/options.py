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
    """Measure how far models get on a dataset that read endings alone, second sentences, or all: Table 3 of SWAG.

    Each model is fitted on the training split, choosing its best epoch within it, and scored on validation and test;
    where splits are not published, they are dealt by whole groups. The table has means and deviations over seeds, 95 %
    intervals, chance, and what the paper reports for the same row; also which models differ on the same questions, and
    whether the rows have the paper's order.

    Models: random; length (shortest and longest option); conceptnet, over --conceptnet FILE; tfidf; fasttext (extra
    fasttext); encoder[PATH], a frozen sentence encoder, and transformer[PATH], fine-tuned (extra hf); any filter by its
    name; a model of your own, package.module:Class.

    Every cell is a file in --out. A killed run goes on with those that are missing, and more seeds, inputs or models
    extend the table.

    Try:
      swag-af baselines demo/dataset
      swag-af baselines questions.jsonl --models random,length,tfidf,fasttext --seeds 1
      swag-af baselines questions.jsonl --models "lstm,esim" --vectors glove.6B.300d.txt --jobs 4
      swag-af baselines questions.jsonl --dry-run
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset, such as its splits."""
    out: Path = Path("baselines")
    """The folder: a file for each cell, baselines.json, the table as text, CSV, Markdown and LaTeX, and pictures."""
    models: str = AUTO
    """NAME,NAME; auto: random, length, tfidf, fasttext, and the networks of Table 3."""
    inputs: str = AUTO
    """What is read: ending, second-sentence, full (context and second sentence); of classes hypothesis, full; or any
    input of an audit. auto: those that the data has."""
    trained_on: Literal["auto", "all", "found", "found+generated"] = "auto"
    """Training rows by where gold is from. auto: found, and found+generated, where the data tells; else all."""
    seeds: int = 3
    """Fits of each model that draws anything."""
    seed: int = 0
    """The first seed."""
    epochs: int = 0
    """Passes over the training rows at most; 0: what each model says."""
    vectors: Path | None = None
    """Word vectors for the filters that take them: a GloVe, word2vec or Numberbatch text file."""
    conceptnet: Path | None = None
    """ConceptNet's assertions.csv or assertions.csv.gz, for the model conceptnet."""
    splits: Literal["auto", "published", "dealt"] = "auto"
    """auto: those of the data where one is for training and one for scoring, by the word train, dev, val or test in
    their names; else dealt by whole groups, with a warning where there are several."""
    val_share: float = 0.15
    """The share of dealt validation splits."""
    test_share: float = 0.15
    """The share of dealt test splits."""
    split_seed: int = 0
    """Deals the splits; the same for all --seeds, so that all are scored on the same questions."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device for networks."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where cells are fitted; --jobs are the workers there."""
    jobs: int | None = None
    """Cells fitted at once, each in a process of one thread. Not given: 1, or as many as a cluster has room for."""
    dry_run: bool = False
    """List the cells and about how long they take, and write nothing."""
    json: Path | None = None
    """Write baselines.json here too."""

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
