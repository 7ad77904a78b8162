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

    With a better generator wrong endings become right ones. Every candidate gets a score from each guard, and is marked
    where that reaches a threshold. What an excluding guard marks is flagged: `swag-af filter` assigns none of it,
    unless --ignore-guard is given, and `swag-af verify` shows people questions with marked endings first. Rates stand
    in the report of a run and in the card of a dataset.

    Guards: words (from 0.6: the ending shares its words with gold, or all of them stand in it); nli[FOLDER] (from 0.9:
    by a model of `swag-af train-nli`, the second sentence follows from gold's, or gold's from it); likelihood (from 0
    nats a token: likelier than gold by the pool's language model); judge[URL] (from 0.6: a model behind an address that
    speaks as OpenAI's do says Yes when asked whether the ending is as plausible as gold); package.module:Class.

    likelihood marks only, and keeps nothing out: a set in which no wrong ending is likelier than gold is solved by
    choosing the likeliest, so excluding by it makes a giveaway.

    The scores are part of the pool's identity: runs made before are read as ever, but not gone on with. Killed and run
    again, it goes on after its last finished block. Other thresholds or more guards ask no candidate twice. The guards
    of a call replace those of an earlier one, so name all in one --by; what is no longer kept out is said.

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
    """The guards: NAME,NAME; none removes what guards said."""
    thresholds: str = ""
    """Other thresholds than the defaults: NAME=NUMBER,NAME=NUMBER."""
    exclude: str = AUTO
    """The guards that keep candidates out: NAME,NAME; none; auto: all but likelihood."""
    only_assigned: Path | None = None
    """Ask only about the candidates that this run of the pool assigns: for guards that cost much."""
    out: Path | None = None
    """Write a guarded copy to this folder, and leave the pool as it is."""
    min_negatives: int = 0
    """With --out: leave out rows that have fewer negatives than this which are not flagged, and count them."""
    workers: int = 1
    """Processes that score."""
    dry_run: bool = False
    """Only say how many candidates would be asked about, and the time."""
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
