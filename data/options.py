"""The options of `contexts`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.errors import check_faults


@dataclass(frozen=True)
class ContextRules:
    """What a pair must satisfy (Zellers et al. 2018, footnote 2 and A.1; lengths from the released code)."""

    min_sentence_tokens: int = 6
    """Drop a pair whose second sentence has fewer tokens (the paper drops 5 or fewer)."""
    min_token_count: int = 4
    """Drop a pair whose second sentence holds a token seen less often in the whole source (the paper drops 3 or
    fewer)."""
    min_context_tokens: int = 6
    """Drop a pair whose first sentence and start together have fewer tokens."""
    max_context_tokens: int = 100
    """Drop a pair whose first sentence and start together have more tokens."""
    min_ending_tokens: int = 5
    """Drop a pair whose ending has fewer tokens, the final full stop counted."""
    max_ending_tokens: int = 25
    """Drop a pair whose ending has more tokens; generated endings stop there too."""
    max_gap_seconds: float | None = None
    """Drop a pair whose second caption begins later than this after the first ends (the paper: 25, for LSMDC only)."""
    n_folds: int = 5
    """How many folds the videos are dealt into; a fold's language model never sees the fold."""

    def __post_init__(self) -> None:
        bounds = ("min_sentence_tokens", "min_token_count", "min_context_tokens", "min_ending_tokens")
        check_faults(
            [
                *((getattr(self, b) < 0, f"--{b.replace('_', '-')} {getattr(self, b)}: not below 0") for b in bounds),
                (self.max_context_tokens < self.min_context_tokens, "--max-context-tokens: below --min-context-tokens"),
                (self.max_ending_tokens < self.min_ending_tokens, "--max-ending-tokens: below --min-ending-tokens"),
                (self.n_folds < 2, f"--n-folds {self.n_folds}: at least 2, or no model could learn from other folds"),
            ]
        )


@dataclass(frozen=True)
class Contexts:
    """Make contexts from consecutive captions: first sentence, start of the second, and its ending (gold).

    Writes NAME.jsonl, NAME.dropped.jsonl (every pair left out, with its reason) and NAME.manifest.json.

    Try:
      swag-af contexts train.json val_1.json --out contexts.jsonl
      swag-af contexts captions.csv --out contexts.jsonl --max-gap-seconds 25
    """

    sources: tuple[Path, ...]
    """Caption files: ActivityNet Captions JSON, or JSONL / CSV with the columns video and sentence (start_time,
    end_time, tree if known)."""
    out: Path = Path("contexts.jsonl")
    """The contexts file to write."""
    format: Literal["auto", "activitynet", "jsonl", "csv"] = "auto"
    """The format of the sources; auto looks at their names."""
    splitter: str = "auto"
    """What splits the second sentence: trees (in the source), rules, spacy or spacy:PIPELINE; auto takes the
    best at hand."""
    rules: ContextRules = field(default_factory=ContextRules)
    """What a pair must satisfy."""
    seed: int = 0
    """Deals the videos into folds."""
    force: bool = False
    """Replace an existing contexts file."""

    def __post_init__(self) -> None:
        check_faults([(self.seed < 0, f"--seed {self.seed}: not below 0")])
