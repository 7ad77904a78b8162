"""The options of `guard`. Imports nothing heavy."""

import math
from dataclasses import dataclass, field
from pathlib import Path

from swag_af.data.errors import InputError, Options, check_faults
from swag_af.endpoints.options import EndpointOptions
from swag_af.filters.registry import parse_names

AUTO, NONE = "auto", "none"


@dataclass(frozen=True)
class GuardOptions(Options):
    """Mark wrong endings that could be right, and keep them out of every assignment.

    The better a generator is, the more of its wrong endings may be right. Each guard scores every candidate, and marks
    those whose score reaches its threshold. What an excluding guard marks is flagged: `swag-af filter` assigns none of
    it, unless --ignore-guard is given. `swag-af verify` shows people questions with marked endings first. The report of
    a run and the card of a dataset have the rates.

    Guards, with the threshold from which they mark:
    * words (0.6): words and letter triples shared with gold, as a share of the shorter text
    * nli[FOLDER] (0.9): by a `train-nli` model, the second sentence follows from gold's, or the reverse
    * likelihood (0 nats per token): likelier than gold, by the pool's language model
    * judge[URL] (0.6): an OpenAI-compatible server says Yes, the ending is as plausible as gold
    * package.module:Class: your own

    likelihood only marks, and keeps nothing out. If no wrong ending is likelier than gold, choosing the likeliest
    solves the set, so excluding by it makes a giveaway.

    The scores are part of the pool's identity: runs made before can still be read, but not continued. If killed, the
    same command continues after its last finished block. Other thresholds or more guards ask about no candidate twice.
    The guards of a call replace those of an earlier one, so name all in one --by; the program says what is no longer
    kept out.

    Try:
      swag-af guard pool
      swag-af guard pool --by "words,nli[nli],likelihood"
      swag-af guard pool --by "words,judge[http://localhost:8000/v1]" --only-assigned run
      swag-af guard pool --by words --thresholds words=0.7 --min-negatives 9 --out guarded
      swag-af guard pool --by none
    """

    pool: Path
    """The pool folder."""
    by: str = "words"
    """The guards: NAME,NAME. none removes what earlier guards said."""
    thresholds: str = ""
    """Thresholds other than the defaults: NAME=NUMBER,NAME=NUMBER."""
    exclude: str = AUTO
    """The guards that keep candidates out: NAME,NAME, or none. auto: all except likelihood."""
    only_assigned: Path | None = None
    """Ask only about the candidates that this run of the pool assigns. For guards that cost much."""
    out: Path | None = None
    """Write a guarded copy to this folder, and leave the pool unchanged."""
    min_negatives: int = 0
    """With --out: leave out rows that have fewer unflagged negatives than this, and count them."""
    workers: int = 1
    """Processes that score."""
    dry_run: bool = False
    """Only print how many candidates would be asked about, and the time."""
    force: bool = False
    """Replace an existing --out."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How the server of judge[URL] is asked."""

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_names("--by", self.by)
        if self.exclude != AUTO:
            parse_names("--exclude", self.exclude)
        parse_thresholds(self.thresholds)
        is_removal = self.by == NONE
        check_faults(
            [
                (self.min_negatives < 0, f"--min-negatives {self.min_negatives}: not below 0"),
                (
                    self.min_negatives > 0 and not self.out,
                    "--min-negatives: with --out, for the pool without those rows",
                ),
                (self.workers < 1, f"--workers {self.workers}: at least 1"),
                (is_removal and bool(self.out or self.dry_run), "--by none: without --out and --dry-run"),
                (is_removal and bool(self.thresholds), "--by none: without --thresholds"),
                (is_removal and self.exclude != AUTO, "--by none: without --exclude"),
                (is_removal and self.only_assigned is not None, "--by none: without --only-assigned"),
            ]
        )


def parse_thresholds(text: str) -> dict[str, float]:
    """`"words=0.7,likelihood=1"` to numbers by name; InputError for anything else."""
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name.strip() in found:
            raise InputError(f"--thresholds {text}: {name.strip()} is there twice. Leave one out.")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise InputError(f"--thresholds {text}: {part!r} is not NAME=NUMBER. Write it like words=0.7.") from None
        if not math.isfinite(found[name.strip()]):
            raise InputError(f"--thresholds {text}: {part!r} is no finite number. Write it like words=0.7.")
    return found
