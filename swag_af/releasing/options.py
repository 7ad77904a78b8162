"""The options of `release`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults
from swag_af.filters.registry import DEFAULT_AUDIT, parse_names


@dataclass(frozen=True)
class ReleaseOptions(Options):
    """Make a multiple-choice dataset from a run, and from people's verdicts on its endings, if any.

    Writes SWAG's CSV files, JSONL, Parquet, a dataset card, Croissant metadata, and tasks for lm-evaluation-harness.

    With --verdicts, questions are made by the rules of Zellers et al. 2018 (3.5 and A.4), and every context left out is
    counted by reason. Without, distractors are drawn from each context's assigned negatives, and the card says that
    nobody has verified them.

    No video is in two splits. Near-duplicates share a split too, except where a template would join more than a tenth
    of the texts; the card counts these. Fresh filters measure how much style gives away in exactly these questions, and
    the card states what they find.

    Try:
      swag-af release run --out dataset
      swag-af release run --verdicts verdicts.jsonl --out dataset
      swag-af release run --verdicts monday.jsonl tuesday.jsonl --judge dawid-skene --formats none
      swag-af release run --out dataset --iteration 122 --seed 1
      swag-af release run --out dataset --linked held-out
    """

    run: Path
    """The run folder of `swag-af filter`."""
    out: Path = Path("dataset")
    """The folder for the dataset."""
    verdicts: tuple[Path, ...] = ()
    """Verdicts of annotators: files from `swag-af verify export` or `verify import`."""
    judge: Literal["majority", "dawid-skene", "mace"] = "majority"
    """How several verdicts on one item become one judgement. The models (dawid-skene, mace) need the extra verify."""
    screen: bool = True
    """Drop annotators who rank gold among their two best too seldom, once they have judged 10 items: in under 55 % of
    items of six endings (Zellers et al. 2018, A.5), 66 % of four and 77.5 % of three. Of two it drops nobody."""
    iteration: int | None = None
    """Release the assignment after this iteration, which must be the one that people were shown. If not given: the
    last."""
    n_distractors: int = 3
    """Distractors per question."""
    val_share: float = 0.18
    """Share of the contexts for validation (SWAG: 20k of 113k)."""
    test_share: float = 0.18
    """Share of the contexts for testing (SWAG: 20k of 113k)."""
    near_duplicates: float = 0.7
    """Contexts this similar share a split: Jaccard similarity of token 3-grams, above 0. 1 joins only equal ones."""
    linked: Literal["keep", "held-out", "none"] = "keep"
    """What is done with questions whose answer is the first sentence of another, as consecutive captions make them.
    keep: keep them, as SWAG does, and count them on the card. held-out: leave one of two out of validation and test.
    none: leave one of two out of every split."""
    audit: str = ",".join(DEFAULT_AUDIT)
    """Fresh filters that measure how much style gives away in the released questions. They are fitted and scored across
    folds of these questions: NAME,NAME, or none."""
    formats: str = "auto"
    """What is written beside CSV: jsonl,parquet, or none. auto is both, but Parquet only if pyarrow is installed."""
    seed: int = 0
    """Seed of splits, distractors and the order of answers; also breaks ties between verdicts."""
    force: bool = False
    """Replace an existing dataset folder, unless files were added to it or edited since."""

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_names("--audit", self.audit)
        shares, alone = (self.val_share, self.test_share), not self.verdicts
        check_faults(
            [
                (self.n_distractors < 1, f"--n-distractors {self.n_distractors}: at least 1"),
                (
                    not (min(shares) >= 0 and sum(shares) < 1),  # a share that is no number is neither
                    "--val-share and --test-share: not below 0, and less than 1 together",
                ),
                (not 0 < self.near_duplicates <= 1, f"--near-duplicates {self.near_duplicates}: over 0, and 1 at most"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (alone and self.judge != "majority", "--judge: only with --verdicts"),
                (alone and not self.screen, "--no-screen: only with --verdicts"),
            ]
        )
