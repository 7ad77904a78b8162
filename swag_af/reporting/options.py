"""The options of `report`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class ReportOptions(Options):
    """Write a run as one HTML file: curve, audits, distributions and questions before and after, options and hashes.

    The file needs no network and no script. `swag-af filter` writes one into the run folder. This writes it again and,
    without --out, also the curve beside it. With --verdicts it also shows what people said about the endings.

    Try:
      swag-af report run
      swag-af report run --out report.html
      swag-af report run --verdicts verdicts.jsonl
    """

    run: Path
    """The run folder of `swag-af filter`."""
    out: Path | None = None
    """The file to write. If not given: report.html in the run folder."""
    n_questions: int = 20
    """How many questions to show, before and after."""
    verdicts: tuple[Path, ...] = ()
    """Verdicts of annotators: files from `swag-af verify export` or `verify import`."""
    judge: Literal["majority", "dawid-skene", "mace"] = "majority"
    """With --verdicts: how several verdicts on one item become one judgement, as in `swag-af release`."""
    screen: bool = True
    """With --verdicts: drop annotators who rarely rank gold among their two best, as `swag-af release` does."""
    iteration: int | None = None
    """With --verdicts: the iteration whose assignment people were shown. If not given: the last."""
    force: bool = False
    """Replace an existing file outside the run folder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        alone = not self.verdicts
        check_faults(
            [
                (self.n_questions < 0, f"--n-questions {self.n_questions}: not below 0"),
                (alone and self.judge != "majority", "--judge: only with --verdicts"),
                (alone and not self.screen, "--no-screen: only with --verdicts"),
                (alone and self.iteration is not None, "--iteration: only with --verdicts"),
            ]
        )
