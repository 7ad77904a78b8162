"""What became of texts and of contexts: their counts, and what is said where no context has its endings."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from swag_af.data.errors import ExhaustedError
from swag_af.lm.contract import DRAWN_OUT, TOO_LONG, Generated
from swag_af.lm.texts.journal import Kept
from swag_af.lm.texts.plan import Job

_ADVICE = {
    **dict.fromkeys(("gold_too_short", "too_short"), "Lower --min-tokens"),
    **dict.fromkeys(("gold_too_long", "too_long"), "Raise --max-tokens"),
    **dict.fromkeys(
        (TOO_LONG, "context_too_long"), "Take --prompt continuation, which is short, or a model that reads more"
    ),
    **dict.fromkeys(("refusal", "filtered", "nothing_found"), "Take another --prompt or another model"),
    **dict.fromkeys(("unfinished", "several_sentences"), 'Take a --prompt with ends = "text", or another model'),
    "repeated": "Lower --n-negatives, or raise --temperature",
}
"""What may help, by the reason of contexts or, where these had too few endings, of their texts."""


@dataclass
class Texts:
    """What became of texts, for the bar, the estimate and the record alike."""

    n_drawn: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    def add(self, answer: Generated | Kept) -> None:
        """Count the texts of one answer."""
        self.n_drawn += answer.n_drawn or len(answer.endings) + sum(answer.rejected.values())
        self.rejected.update(answer.rejected)

    @property
    def rejected_share(self) -> float:
        """The share of the texts that were left out for a reason; those beyond what was asked for have none."""
        return min(1.0, self.rejected.total() / max(1, self.n_drawn))


def nothing_left(job: Job, drops: Mapping[str, int], texts: Texts | None = None) -> ExhaustedError:
    """The error of a pool without a row, by the reasons of contexts and those of their `texts`."""
    rejected = texts.rejected if texts else Counter[str]()
    why = _counted(drops)
    if texts and rejected:
        why += f"; of {texts.n_drawn:,} texts {rejected.total():,} were left out: {_counted(rejected)}"
    return ExhaustedError(
        f"{job.options.out}: none of {len(job.contexts)} contexts has {job.options.n_negatives} endings ({why}). "
        f"{advice_of(drops, rejected)}{_where(job)}."
    )


def advice_of(drops: Mapping[str, int], rejected: Mapping[str, int]) -> str:
    """What to do about the commonest reason."""
    (reason, _), *_ = Counter(drops).most_common(1)
    if reason == DRAWN_OUT and rejected:
        ((reason, _),) = Counter(rejected).most_common(1)
    return _ADVICE.get(reason, "Lower --n-negatives, or mend the contexts")


def _where(job: Job) -> str:
    """Where the next try may go, once something is in the folder."""
    out = job.options.out
    if not out.exists():
        return ""
    asked = any(out.glob("answers*.jsonl"))
    return f", with another --out: {out} keeps the answers that were asked for" if asked else f", and remove {out}"


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in Counter(reasons).most_common())
