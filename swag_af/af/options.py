"""The options of the verb `filter` and of `filter_pool`; what policies mean. Imports nothing heavy."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import InputError, Options, check_faults
from swag_af.filters.registry import DEFAULT_AUDIT, parse_names


@dataclass(frozen=True)
class AFOptions(Options):
    """Adversarial Filtering (defaults: Zellers et al. 2018, Algorithm 1 and 3.2)."""

    iterations: int | None = None
    """Iterations in all. The last phase of the schedule continues until then. If not given: the sum of the schedule."""
    n_negatives: int = 9
    """Negatives assigned to each context (k in the paper)."""
    n_easy: int = 2
    """Easy distractors (those that the filter scores below gold) replaced in each held-out context per iteration, at
    most."""
    rule: Literal["paper", "released"] = "paper"
    """Which candidates may enter. paper: any that scores above the easy distractor it replaces. released: any that
    scores above gold."""
    pick: Literal["random", "hardest"] = "random"
    """Which candidates leave and enter. random: drawn uniformly. hardest: the lowest scored leave, the highest scored
    enter."""
    swaps: Literal["always", "gap"] = "always"
    """always: replace up to --n-easy in every iteration. gap, as in HellaSwag: replace none in an iteration in which
    gold beats a single negative at most 52.5 % of the time, and one if at most 57.5 % (Zellers et al. 2019)."""
    test_share: float = 0.2
    """Share of the contexts that is held out, measured and re-assigned in each iteration."""
    split_by: Literal["video", "context"] = "video"
    """Hold out whole videos, or single contexts as the paper does."""
    splits: Literal["fresh", "rounds", "fixed", "together"] = "fresh"
    """How contexts are held out. fresh: another share in every iteration, and a filter fitted from scratch, as in the
    paper. rounds: the same, but in each round of 1 / --test-share iterations every context is held out once. fixed: the
    same 1 / --test-share folds are held out in turn; each keeps its own filter, which learns for one more epoch when
    its turn comes again. together: as fixed, but all folds of a round are fitted on the same assignment, so --workers
    fit them in parallel. fixed and together take a fraction of the time, and make other questions (docs/PERFORMANCE.md,
    Fixed splits)."""
    most_fitted: int | None = None
    """Contexts that a filter is fitted on, at most, drawn anew in each iteration from those that are not held out. If
    not given: all of them, which at a million contexts takes hours per iteration (docs/SCALE.md)."""
    scan: Literal["lazy", "full"] = "lazy"
    """lazy: score candidates along a random permutation until enough pass. full: score all of them. Both draw the same
    candidates."""
    until: float | None = None
    """Stop once the accuracy of the last phase, averaged over --window iterations, is within this of chance, or below.
    More iterations would go on swapping past it."""
    window: int = 10
    """Iterations that --until averages over."""
    seed: int = 0
    """Seed. The same seed, pool and filter give the same run."""
    ignore_guard: bool = False
    """Let candidates enter even if `swag-af guard` has flagged them."""

    @property
    def goes_on(self) -> bool:
        """Whether filters learn on from iteration to iteration."""
        return self.splits in ("fixed", "together")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.iterations is not None and self.iterations < 1, f"--iterations {self.iterations}: at least 1"),
                (self.n_negatives < 1, f"--n-negatives {self.n_negatives}: at least 1"),
                (self.n_easy < 1, f"--n-easy {self.n_easy}: at least 1"),
                (not 0 < self.test_share < 1, f"--test-share {self.test_share}: between 0 and 1"),
                (
                    self.most_fitted is not None and self.most_fitted < 2,
                    f"--most-fitted {self.most_fitted}: at least 2",
                ),
                (
                    self.most_fitted is not None and self.goes_on,
                    f"--most-fitted: not with --splits {self.splits}, whose filters need the same contexts again",
                ),
                (self.until is not None and self.until < 0, f"--until {self.until}: not below 0"),
                (self.window < 1, f"--window {self.window}: at least 1"),
                (self.until is None and bool(self.given_of("window")), "--window: only with --until"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )


POLICIES: dict[str, dict[str, Any]] = {
    "paper": {"rule": "paper", "pick": "random", "swaps": "always"},
    "released": {"rule": "released", "pick": "random", "swaps": "always"},
    "hardest": {"rule": "paper", "pick": "hardest", "swaps": "always"},
    "hellaswag": {"rule": "paper", "pick": "random", "swaps": "gap"},
}
"""What `--policy NAME` sets: Algorithm 1 of Zellers et al. 2018, its released code, lowest scored out and highest in,
and the swaps of Zellers et al. 2019."""


def with_policy(options: AFOptions, policy: str | None) -> AFOptions:
    """`options` with what the policy sets; InputError where one of these is neither that nor the default."""
    if policy is None:
        return options
    if policy not in POLICIES:
        raise InputError(f"--policy {policy}: there are {', '.join(POLICIES)}.")
    default = AFOptions()
    for name, value in POLICIES[policy].items():
        given = getattr(options, name)
        if given not in (getattr(default, name), value):
            raise InputError(f"--policy {policy} means --{name} {value}, not {given}. Give one of the two.")
    return replace(options, **POLICIES[policy])


NO_SLURM = (
    "--engine slurm: an iteration needs the one before it, and would wait in the queue every time. Ask Slurm for one "
    "job with several cores, and in it for --engine processes --workers N; or take --engine ray"
)


@dataclass(frozen=True)
class FilterOptions(Options):
    """Filter a pool adversarially: fit, score held-out contexts, swap easy distractors, again and again.

    Writes a run folder with the assignment (gold and the chosen distractors of each context) after every iteration, the
    log, the accuracy curve as PNG and SVG, audits by filters that took no part in filtering, and report.html. If
    killed, the same command continues after its last finished iteration, to the same bytes. With more --iterations, a
    finished run continues.

    Filters:
    * ngrams, fasttext, bow, cnn, poslstm: read the second sentence, which is start and ending
    * chars: reads the ending alone, letter by letter
    * transformer[MODEL], encoder[MODEL]: read the first sentence too
    * mlp: reads the language model's probabilities and the lengths, no words
    * ensemble: mlp, bow, cnn and poslstm together

    mlp and ensemble need a pool with features (`swag-af features`), poslstm and ensemble one with tags (`swag-af tag`).

    Try:
      swag-af filter pool --iterations 140 --out run
      swag-af filter pool --out quick --schedule mlp:20,ensemble:5
      swag-af filter pool --out released --policy released --seed 1
      swag-af filter pool --out watched --audit-every 10
      swag-af filter pool --out ended --until-unseen ngrams --within 0.05
    """

    pool: Path
    """The pool folder of `swag-af generate` or `swag-af pool`."""
    out: Path = Path("run")
    """The run folder."""
    schedule: str = "mlp:100,ensemble:40"
    """Filters in order, with the number of iterations for each: NAME:COUNT,NAME:COUNT. A filter that takes an argument
    has it in brackets: transformer[path/to/model]:5."""
    policy: Literal["paper", "released", "hardest", "hellaswag"] | None = None
    """Set --rule, --pick and --swaps together."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where filters with networks compute. On a CPU results repeat to the bit; on a GPU that is not promised."""
    audit: str = ",".join(DEFAULT_AUDIT)
    """Filters that take no part in filtering, fitted anew. Their accuracy is measured over folds of whole videos,
    before and after: NAME,NAME, or none."""
    audit_every: int = 0
    """Also audit every time this many iterations are done. 0: at the end only."""
    until_unseen: str = ""
    """End the run once this filter is near chance. The schedule must not use a filter of its kind. It is fitted and
    scored across folds of whole videos every --unseen-every iterations, and its whole 95 % interval must be within
    --within of chance, above and below, twice in a row. Because it decides when to stop, its last accuracy flatters the
    run: judge by the filters of --audit."""
    within: float = 0.05
    """With --until-unseen: how far from chance the interval may reach."""
    unseen_every: int = 10
    """With --until-unseen: iterations between two checks."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where the work runs."""
    workers: int | None = None
    """Processes with one thread each, or actors of a Ray cluster. They do not change the run. With --splits together
    they fit the folds in parallel. Otherwise they only score, if over 200,000 candidates are scored at a time, as with
    --scan full or --pick hardest. If not given: as many as torch has threads (`OMP_NUM_THREADS`) with --splits together
    or --engine processes, 1 on a GPU and for filters without networks; with --engine ray, as many as the cluster has
    room for; otherwise none."""
    af: AFOptions = field(default_factory=AFOptions)
    """Settings of Adversarial Filtering."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.audit_every < 0, f"--audit-every {self.audit_every}: not below 0"),
                (self.within < 0, f"--within {self.within:g}: not below 0"),
                (self.unseen_every < 1, f"--unseen-every {self.unseen_every}: at least 1"),
                *worker_faults(self.workers, self.where),
                (self.where.kind == "slurm", NO_SLURM),
                *(
                    (not self.until_unseen, f"{flag}: only with --until-unseen")
                    for flag in self.given_of("within", "unseen_every")
                ),
            ]
        )
        names = parse_names("--audit", self.audit)
        is_idle = bool(self.audit_every) and not names and not self.until_unseen
        check_faults([(is_idle, f"--audit-every {self.audit_every}: --audit {self.audit} names no filter to audit by")])
