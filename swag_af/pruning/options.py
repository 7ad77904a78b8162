"""The options of `prune`. Imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.auditing.options import PROBE_MODELS
from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import AUTO, ReadingOptions
from swag_af.filters.registry import parse_names


@dataclass(frozen=True)
class PruneOptions(Options):
    """Find the instances of a dataset that are solved without its task, as AFLite does, and list the others.

    Nothing is deleted: the folder has the ids that are kept and removed, and --write copies the kept lines.

    AFLite (Sakaguchi et al. 2020; Le Bras et al. 2020) fits linear classifiers on random parts of the data, on fixed
    features of the texts. The predictability of an instance is the share of the fits without it that predict it
    correctly. The most predictable instances are removed, a few per round. --by probes uses the probes of `swag-af
    audit` instead.

    The accuracy of what chose the rows falls by construction. So the dataset and the result are audited, and so are
    sets with as many rows removed at random. What falls below chance was made by the pruning, and this is reported.

    Features:
    * tfidf-svd
    * fasttext: vectors fitted on the texts without labels (extra fasttext)
    * encoder[PATH]: a Hugging Face encoder, mean-pooled (extra hf)

    Try:
      swag-af prune questions.jsonl --out pruned
      swag-af prune questions.jsonl --by probes --out pruned
      swag-af prune pairs.jsonl --features "encoder[all-MiniLM-L6-v2]" --target 5000 --write hard.jsonl
      swag-af prune questions.jsonl --agreement-column votes
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset."""
    out: Path = Path("pruned")
    """The folder to write: ids kept and removed, curve, audits before and after."""
    by: Literal["aflite", "probes"] = "aflite"
    """What measures how predictable an instance is. aflite: linear classifiers on random partitions. probes: the probes
    of an audit."""
    features: str = "tfidf-svd"
    """For AFLite: tfidf-svd, fasttext or encoder[PATH]."""
    input: str = AUTO
    """What is read of an instance: options, second-sentence, full; hypothesis, premise, full. auto: the options, or the
    hypothesis; for probes also the second sentence, if there is one. full, and shuffled, are for AFLite alone: probes
    of all words read the task itself, and choose nothing."""
    partitions: int = 64
    """For AFLite: random partitions per round, with one fit each (WinoGrande: 64)."""
    train_share: float = 0.2
    """For AFLite: share of all instances that each fit gets (WinoGrande: 10,000 of 47,000). The number stays the same
    while the set shrinks, and ends the rounds when no more than that are left."""
    slice_share: float | None = None
    """Share of all instances that a round removes, at most. If not given: 0.01 (WinoGrande: 500 of 47,000), for probes
    0.05."""
    threshold: float | None = None
    """Predictability from which an instance may be removed. If not given: 0.75 for AFLite, as the share of fits that
    predict it; 0.5 for probes, as the share of the question that they answer, as in the tier `easy`."""
    target: int = 0
    """Stop at this many instances, fewer than there are. 0: stop when a round finds fewer to remove than it may."""
    split_by: Literal["group", "instance"] = "group"
    """What partitions and folds keep whole: groups, or single instances as published."""
    probe_models: str = ",".join(PROBE_MODELS[:1])
    """Models for --by probes: NAME,NAME."""
    audit_models: str = ",".join(PROBE_MODELS)
    """Models of the probes that audit before, after and the random removals: NAME,NAME. Name some of another kind than
    those that chose the rows: chars, cnn, transformer[MODEL], or encoder[MODEL] if --features reads another MODEL."""
    draws: int = 5
    """Random removals to audit. With fewer than 3, no verdict is given."""
    points: int = 4
    """Sizes at which the curve is measured, besides the whole set."""
    agreement_column: str = ""
    """A column that says how far annotators agree. It holds a number from 0 to 1; or two or more labels, as a list
    (nulls are no labels) or as an object by annotator; or how many gave each label, or what share: {"e": 98, "n": 2}.
    If labels are numbers too, the whole column decides: its objects of numbers are labels by annotator if all numbers
    can be labels and no name is a label, otherwise counts. What could be either, with different results, is refused:
    give lists."""
    verdicts: Path | None = None
    """Verdicts of people (verdicts.jsonl) on the endings of the only source, a run."""
    write: Path | None = None
    """Copy the kept lines of the only source, JSONL or CSV, to this file, byte for byte."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    folds: int = 5
    """Folds of the cross-validation of probes."""
    seed: int = 0
    """Seed of the partitions, folds, random removals and fits."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.partitions < 2, f"--partitions {self.partitions}: at least 2"),
                (not 0 < self.train_share < 1, f"--train-share {self.train_share:g}: above 0 and below 1"),
                (not 0 < self.slice < 1, f"--slice-share {self.slice:g}: above 0 and below 1"),
                (not 0 < self.least <= 1, f"--threshold {self.least:g}: above 0, and 1 at most"),
                (self.target < 0, f"--target {self.target}: not below 0"),
                (self.draws < 2, f"--draws {self.draws}: at least 2"),
                (self.points < 1, f"--points {self.points}: at least 1"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (not parse_names("--probe-models", self.probe_models), "--probe-models none: at least one"),
                (not parse_names("--audit-models", self.audit_models), "--audit-models none: at least one"),
                (
                    bool(self.write or self.verdicts) and len(self.data) != 1,
                    "--write and --verdicts: name one file of DATA",
                ),
                (bool(self.agreement_column and self.verdicts), "--agreement-column and --verdicts: one of them"),
                *self._faults_of_measure(),
            ]
        )

    def _faults_of_measure(self) -> list[tuple[bool, str]]:
        other = "probes" if self.by == "aflite" else "aflite"
        return [(True, f"{flag}: of --by {other} alone") for flag in self.given_of(*_OF[other])]

    @property
    def slice(self) -> float:
        """The share of all instances that a round removes at most."""
        return self.slice_share if self.slice_share is not None else 0.01 if self.by == "aflite" else 0.05

    @property
    def least(self) -> float:
        """The predictability from which an instance may be removed."""
        return self.threshold if self.threshold is not None else 0.75 if self.by == "aflite" else 0.5


_OF = {"aflite": ("features", "partitions", "train_share"), "probes": ("probe_models",)}
"""The options of one measure alone; whoever leaves them as they are has not given them."""
