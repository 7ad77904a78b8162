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

    The accuracy told is of premises that took no part in training, nor in the choice of the epoch. The folder serves as
    a filter, nli[FOLDER] (the probabilities of the classes and a linear layer, as in SWAG's SNLI rows), and says how
    far one text entails another. Killed and run again, it goes on from its last finished epoch.

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
    """A file of word vectors (GloVe, word2vec as text, Numberbatch); without, random ones are learned."""
    hidden: int = 304
    """Units of every layer, a multiple of 16 (ESIM: 300)."""
    epochs: int = 10
    """Passes over the training pairs at most; the weights of the best are kept."""
    patience: int = 2
    """Epochs without improvement on the pairs that choose the epoch, before training stops."""
    held_out: float = 0.1
    """Share of the pairs, whole groups of premises, on which the accuracy is measured; half as many choose the
    epoch."""
    neutral_share: float = 0.0
    """Pairs of a premise with a hypothesis of another, added to training as neutral, as a share of it: for matching,
    where most pairs have nothing to do with each other."""
    limit: int = 0
    """Use so many pairs, drawn at random; 0: all."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""
    seed: int = 0
    """Draws the held-out pairs, the start and the order of training."""

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
