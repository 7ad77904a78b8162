"""The options of `diagnose`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults
from swag_af.filters.registry import parse_names


@dataclass(frozen=True)
class DiagnoseOptions(Options):
    """Say why the accuracy curve of a run is not lower: the pool, the filter, the candidates, or too few contexts.

    Fits the filter of the last phase anew, several times, over folds of whole groups, and asks:
    * Does the pool have harder candidates left?
    * What would taking them do, judged by a fit that did not choose them?
    * Do independent fits agree on candidates, swaps and mistakes?
    * How well does a fresh filter tell gold from random candidates, by number of contexts?
    * What would more contexts, more candidates or other candidates change?

    What the figures do not support is reported as unknown.

    Writes a page, diagnosis.html, a record of all figures, diagnosis.json, and rows.jsonl with a line for each context.
    If killed, the same command continues after the last finished fit, to the same bytes. A run of `match` has no
    filters: name some, and the diagnosis says what the matching gives away to them.

    Try:
      swag-af diagnose run
      swag-af diagnose run --limit 1000 --filters bow,ngrams
      swag-af diagnose run --seeds 5 --out why --json why.json
    """

    run: Path
    """The run folder of `swag-af filter` or `match`."""
    out: Path | None = None
    """The folder to write. If not given: `diagnosis` in the run folder."""
    filters: str = ""
    """NAME,NAME. The first one is diagnosed, the others are shown beside it. If not given: the filter of the last
    phase."""
    seeds: int = 3
    """Independent fits of each filter, each with its own folds; and draws of the curves by number of contexts. At least
    2: one judges what another chose."""
    folds: int = 5
    """Parts that whole groups are dealt into. Every context is scored by a fit on the other parts."""
    limit: int = 0
    """Diagnose a random sample of about this many contexts, in whole groups. Filters are fitted on these alone. 0:
    all."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where filters with networks compute."""
    json: Path | None = None
    """Also write the record of all figures to this file."""
    seed: int = 0
    """Seed of the folds, samples, candidates and fits."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.seeds < 2, f"--seeds {self.seeds}: at least 2, since one fit judges what another chose"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.limit < 0, f"--limit {self.limit}: not below 0"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )
        if self.filters:
            names = parse_names("--filters", self.filters)
            check_faults([(not names, "--filters none: at least one")])
