"""The options of `audit`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import check_faults, check_numbers
from swag_af.filters.registry import DEFAULT_AUDIT, parse_names


@dataclass(frozen=True)
class AuditOptions:
    """Measure how well fresh filters still find gold, with filters that took no part in the filtering.

    Each filter is fitted and scored across folds of whole videos, before the filtering and after it; the table shows
    accuracy with a 95 % interval, and below it the difference, paired by context. Audits are kept in the run folder,
    where the curve and the report read them; those that are there already are not repeated.

    Filters: ngrams, fasttext, bow, cnn and poslstm read the second sentence, which is start and ending; chars reads the
    ending alone, letter by letter; transformer[MODEL] reads the first sentence too; mlp reads the language model's
    probabilities and the lengths, no words; ensemble is mlp, bow, cnn and poslstm together. mlp and ensemble need a
    pool with features (`swag-af features`), poslstm and ensemble one with tags (`swag-af tag`).

    Try:
      swag-af audit run
      swag-af audit run --seeds 5
      swag-af audit run --iteration 20 --filters cnn
    """

    run: Path
    """The run folder of `swag-af filter`."""
    filters: str = ",".join(DEFAULT_AUDIT)
    """Filters to fit: NAME,NAME."""
    iteration: int | None = None
    """Audit only the assignment after this iteration (0: before any); before any and after the last when not given."""
    folds: int = 5
    """Parts that the videos are divided into; a filter is fitted on all but one, and scores that one."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """The device for filters with networks."""
    seed: int | None = None
    """Seed of the folds and the fits; that of the run when not given."""
    seeds: int = 1
    """Repeat each audit with this many seeds, counted from --seed: other folds, other fits."""

    def __post_init__(self) -> None:
        check_faults(
            [
                (not parse_names("--filters", self.filters), "--filters none: an audit takes at least one filter"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.seeds < 1, f"--seeds {self.seeds}: at least 1"),
                (self.seed is not None and self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )
        check_numbers(self)


@dataclass(frozen=True)
class ExplainOptions:
    """Tell what a code of an audit means: how it is computed, its source, when it misleads, what to do.

    Without a code: the list of all of them, by family.

    Try:
      swag-af explain
      swag-af explain AF101
      swag-af explain options-only-solvable
    """

    codes: tuple[str, ...]
    """Codes, by number or by name; none lists them all."""
