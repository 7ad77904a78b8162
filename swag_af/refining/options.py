"""The options of `refine`. Imports nothing heavy."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults
from swag_af.data.instances.options import ReadingOptions
from swag_af.filters.registry import parse_names

LARGEST_PANEL = 4


@dataclass(frozen=True)
class RefineOptions(Options):
    """Find questions that models answer blind, and rewrite or remove them by a published recipe.

    Blind means that something is hidden from the model. The recipes:
    * cinepile (CinePile 2.0, Rawal et al. 2024): a blind judge answers each question in --orders orders of its options.
    A question answered correctly in --degenerate-at of them or more is degenerate: --rewriter writes its wrong options
    anew, given the judge's reason, in up to --rounds rounds. Question and right answer stay as they are.
    * mmmu-pro (MMMU-Pro, Yue et al. 2024): two to four blind models answer each question --tries times. A question that
    at least --votes of them answer correctly more than --more-than times is removed. --to-options then adds wrong
    options to the rest.

    Guesses are sometimes right too, so what luck alone would flag is shown beside every share. A figure that questions
    were selected by falls when it is measured again, whatever was done. So flagged questions are judged once more, as
    they were and as they are now, in as many new orders. Questions that are not flagged are not touched, and every
    version is kept.

    A judge is judge[URL]. It is shown the question and its options, and video or image are hidden; with see=options it
    is shown the options alone, and the context is hidden. For mmmu-pro a judge may also be a filter (ngrams,
    encoder[PATH]), fitted across folds on the options.

    Try:
      swag-af refine questions.jsonl --judge "judge[http://localhost:8000]" --dry-run
      swag-af refine q.jsonl --judge "judge[http://a:8000,see=options]" --rewriter "endpoint[http://b:8000]"
      swag-af refine q.jsonl --recipe mmmu-pro --judge "judge[http://localhost:8000],ngrams,chars"
    """

    data: tuple[Path, ...]
    """Files or folders of one dataset of questions with options, or a pool or run."""
    judge: str = ""
    """What answers: judge[URL]; for mmmu-pro two to four, NAME,NAME."""
    recipe: Literal["cinepile", "mmmu-pro"] = "cinepile"
    """Which questions are flagged, and what is done with them."""
    rewriter: str = ""
    """What writes wrong options: endpoint[URL]. For mmmu-pro only with --to-options."""
    out: Path = Path("refined")
    """The folder to write: the questions, all versions with verdicts, what was found, the servers' answers."""
    orders: int = 5
    """For cinepile: orders of the options in which each question is answered."""
    degenerate_at: int = 3
    """For cinepile: right answers, out of --orders, that make a question degenerate."""
    rounds: int = 5
    """For cinepile: how often a question is rewritten, at most."""
    unmended: Literal["drop", "flag"] = "drop"
    """For cinepile: drop questions that are degenerate after the last round, or keep them, flagged."""
    tries: int = 10
    """For mmmu-pro: how often each model answers; a judge in other orders, a filter with other folds and seeds."""
    more_than: int = 5
    """For mmmu-pro: a model counts as answering a question that it gets right more often than this."""
    votes: int | None = None
    """For mmmu-pro: models that must answer a question for it to be removed. If not given: three of four, otherwise
    all."""
    to_options: int = 0
    """For mmmu-pro: options that each question has in the end. 0: as many as it has."""
    audit_models: str = "ngrams,chars"
    """Filters that read the options before and after, across folds: NAME,NAME, or none."""
    folds: int = 5
    """Folds of the filters."""
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """How the files are read."""
    seed: int = 0
    """Seed of orders and folds."""
    dry_run: bool = False
    """Print how much would be asked, and ask nothing."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.orders < 1, f"--orders {self.orders}: at least 1"),
                (not 1 <= self.degenerate_at <= self.orders, f"--degenerate-at {self.degenerate_at}: 1 to --orders"),
                (self.rounds < 1, f"--rounds {self.rounds}: at least 1"),
                (self.tries < 1, f"--tries {self.tries}: at least 1"),
                (not 0 <= self.more_than < self.tries, f"--more-than {self.more_than}: from 0, below --tries"),
                (self.to_options < 0 or self.to_options == 1, f"--to-options {self.to_options}: 2 or more, or 0"),
                (self.folds < 2, f"--folds {self.folds}: at least 2"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                *self._faults_of_recipe(),
            ]
        )
        parse_names("--audit-models", self.audit_models)

    def _faults_of_recipe(self) -> list[tuple[bool, str]]:
        n, is_vote = len(self.judges), self.recipe == "mmmu-pro"
        other = "cinepile" if is_vote else "mmmu-pro"
        needs = (not is_vote and not self.dry_run) or bool(self.to_options)
        return [
            (n == 0, "--judge: none given. Name one, as judge[URL]"),
            (not is_vote and n > 1, f"--judge {self.judge}: one, for cinepile"),
            (is_vote and n > 0 and not 2 <= n <= LARGEST_PANEL, f"--judge {self.judge}: two to four, for mmmu-pro"),
            (n > 0 and not 1 <= self.n_votes <= n, f"--votes {self.n_votes}: 1 to the number of judges"),
            (needs and not self.rewriter, "--rewriter: none given, and wrong options are to be written"),
            (
                is_vote and bool(self.rewriter) and not self.to_options,
                "--rewriter: mmmu-pro has use for one only with --to-options",
            ),
            *((True, f"{flag}: only with --recipe {other}") for flag in self.given_of(*_OF[other])),
        ]

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges."""
        return () if not self.judge else parse_names("--judge", self.judge)

    @property
    def n_votes(self) -> int:
        """Models that must answer a question for it to go: `votes`, or three quarters of them, rounded up."""
        return -(-3 * len(self.judges) // 4) if self.votes is None else self.votes


_OF = {
    "cinepile": ("orders", "degenerate_at", "rounds", "unmended"),
    "mmmu-pro": ("tries", "more_than", "votes", "to_options"),
}
"""The options of one recipe alone; whoever leaves them as they are has not given them."""
