"""The options of `train-tagger`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass
from pathlib import Path

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class TrainTaggerOptions(Options):
    """Train a small spaCy pipeline on your own treebank: better tags than the rules', and parses.

    Use its folder as `--tagger "spacy[FOLDER]"` or `--splitter "spacy[FOLDER]"`. If interrupted, the same command
    resumes after the last finished epoch. Universal Dependencies has treebanks: UD English EWT takes ten minutes of one
    core.

    Try:
      swag-af train-tagger en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out tagger
      swag-af contexts captions.json --splitter "spacy[tagger]"
      swag-af tag pool --tagger "spacy[tagger]" --in-context
    """

    treebank: Path
    """Sentences to learn from: CoNLL-U with universal tags and dependencies."""
    out: Path = Path("tagger")
    """The folder to write: a spaCy pipeline."""
    dev: Path | None = None
    """Sentences to choose the best epoch by, CoNLL-U. Without them, every tenth sentence of the treebank is held
    out."""
    epochs: int = 8
    """Passes over the treebank."""
    width: int = 96
    """Width of the word representations."""
    parser: bool = True
    """Learn dependencies too, which `--splitter` reads. Tags alone take less time."""
    lower_share: float = 0.25
    """Share of the sentences that are lower-cased, different ones in each pass, because captions often are
    lower-case."""
    seed: int = 0
    """Seed for weights, order and dropout."""
    force: bool = False
    """Replace an existing pipeline."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.epochs < 1, f"--epochs {self.epochs}: at least 1"),
                (self.width < 8, f"--width {self.width}: at least 8"),
                (not 0 <= self.lower_share <= 1, f"--lower-share {self.lower_share}: from 0 to 1"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )
