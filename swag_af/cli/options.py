"""The options of `show` and `demo`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class ShowOptions(Options):
    """Show what a file or folder of this program is: numbers, examples, what to run next.

    Recognises context files, language models and their folds, pools, matchings, runs, datasets, folders of audit,
    prune, diagnose, refine, baselines, describe and train-nli, records of score, baselines and describe, files of
    verdicts, and the folder `verification` in a run.

    Try:
      swag-af show contexts.jsonl
      swag-af show run --n 10 --seed 3
    """

    path: Path
    """What to look at."""
    n: int = 3
    """How many examples to print."""
    seed: int = 0
    """Seed for drawing the examples."""
    check: bool = False
    """For a pool, also check whether contexts and tables still have the hashes in its manifest. This reads the whole
    pool (about 1.5 seconds per gigabyte)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(self.n < 0, f"--n {self.n}: not below 0"), (self.seed < 0, f"--seed {self.seed}: not below 0")])


@dataclass(frozen=True)
class DemoOptions(Options):
    """Go from captions to a dataset on a bundled synthetic sample: contexts, models, pool, filtering, release.

    Takes about three minutes on two cores. If killed, the same command continues. Once it is done, the same command
    only prints.

    Try:
      swag-af demo
      swag-af demo --out /tmp/demo --seed 1
    """

    out: Path = Path("demo")
    """The folder for everything that the demo makes."""
    seed: int = 0
    """Seed of the captions and of every verb."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(self.seed < 0, f"--seed {self.seed}: not below 0")])
