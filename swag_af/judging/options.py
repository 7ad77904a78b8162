"""The options of `verify agreement`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class AgreementOptions(Options):
    """Print how far annotators agree, and how they label gold and other endings, beside the paper's Table 2.

    Try:
      swag-af verify agreement verdicts.jsonl
      swag-af verify agreement verdicts.jsonl --model dawid-skene --json agreement.json
    """

    verdicts: Path
    """A file of verdicts (what each person answered), from `verify export --to verdicts` or `verify import`."""
    model: Literal["majority", "dawid-skene", "mace"] = "majority"
    """A model of the annotators. It is shown beside the majority, and gives each annotator a skill."""
    json: Path | None = None
    """Also write all figures to this file."""
    seed: int = 0
    """Seed of the bootstrap; also breaks ties among endings."""
    force: bool = False
    """Replace an existing --json file."""
    screen: bool = True
    """Leave out annotators who rank gold among their two best too seldom, as `release` and `report` do. They count only
    in their own figures."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(self.seed < 0, f"--seed {self.seed}: not below 0")])


@dataclass(frozen=True)
class JudgingOptions(Options):
    """How verdicts become judgements, for `release` and `report` alike."""

    run: Path
    """The run folder whose endings were judged."""
    verdicts: tuple[Path, ...]
    """Files of verdicts."""
    judge: Literal["majority", "dawid-skene", "mace"] = "majority"
    """How several verdicts on one item become one judgement."""
    screen: bool = True
    """Drop annotators who seldom rank gold among their two best."""
    seed: int = 0
    """Breaks ties."""
