"""The options of `train-nli`. Imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import ReadingOptions

NEUTRAL = "neutral"
"""The class of texts that neither follow nor contradict."""


KIND, WORK, BEGUN = "nli", "work", "begun.json"
"""The kind in the manifest of the folder; its folder while it is made, and the file there of what it was begun with."""


@dataclass(frozen=True)
class TrainNLIOptions(Options):
    """Train a model of natural language inference on pairs of texts with classes, such as SNLI's or MultiNLI's.

    The reported accuracy is on premises that were used neither for training nor for choosing the epoch. The folder
    serves as a filter, nli[FOLDER] (the probabilities of the classes and a linear layer, as in SWAG's SNLI rows), and
    says how far one text entails another. If killed, the same command continues from its last finished epoch.

    Try:
      swag-af train-nli snli.jsonl --out nli
      swag-af train-nli snli.jsonl --out nli --model decomp --vectors glove.6B.300d.txt
      swag-af train-nli snli.jsonl --out nli --limit 20000 --hidden 96 --epochs 3
    """

    data: tuple[Path, ...]
    """Files of pairs with classes."""
    out: Path = Path("nli")
    """The folder to write."""
    model: Literal["esim", "decomp"] = "esim"
    """ESIM (Chen et al. 2017) or decomposable attention (Parikh et al. 2016)."""
    vectors: str = ""
    """A file of word vectors (GloVe, word2vec as text, Numberbatch). Without it, random ones are learned."""
    hidden: int = 304
    """Units in every layer, a multiple of 16 (ESIM: 300)."""
    epochs: int = 10
    """Maximum passes over the training pairs. The weights of the best pass are kept."""
    patience: int = 2
    """Stop training after this many epochs without improvement on the pairs that choose the epoch."""
    held_out: float = 0.1
    """Share of the pairs, in whole groups of premises, on which the accuracy is measured. Half as many other pairs
    choose the epoch."""
    neutral_share: float = 0.0
    """Neutral pairs to add to training, as a share of the training pairs. Each is a premise with the hypothesis of
    another. For matching, where most pairs are unrelated."""
    limit: int = 0
    """Use only this many pairs, drawn at random. 0: all."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda if there is one."""
    seed: int = 0
    """Seed of the held-out pairs, the initial weights and the order of training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.hidden < 16 or self.hidden % 16 > 0, f"--hidden {self.hidden}: a multiple of 16"),
                (self.epochs < 1, f"--epochs {self.epochs}: at least 1"),
                (self.patience < 1, f"--patience {self.patience}: at least 1"),
                (not 0 < self.held_out <= 0.5, f"--held-out {self.held_out}: above 0, at most 0.5"),
                (not 0 <= self.neutral_share <= 10, f"--neutral-share {self.neutral_share}: from 0 to 10"),
                (self.limit < 0, f"--limit {self.limit}: not below 0"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )
