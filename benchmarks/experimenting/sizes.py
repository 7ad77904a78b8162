"""How large the experiment is, and the arms: ways of filtering that are compared, each with one thing changed."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Arm:
    """A way of filtering, tried on the first parts of the pool."""

    name: str
    about: str
    """What is asked, as the tables call it."""
    schedule: str
    """`{mlp}` and `{ensemble}` stand for the iterations of the size, `{all}` for their sum, `{joint}` for the filter
    of the second phase."""
    parts: int
    """On the parts below this one, from `first_part` on."""
    flags: tuple[str, ...] = ()
    """More flags of `filter`."""
    pool: str = ""
    """Another pool than the part as it is: `few` candidates, `few-read` those with features by models that have read
    gold, `half` and `quarter` of the contexts, `double` and `many` (five times) as many, `weak` of weaker language
    models, `dealt` of as many contexts as a part has, others of which are those of `nested`, a part a share."""
    against: str = "main"
    """The arm that differs in one thing."""
    seed: int = 0
    """Added to the seed of a run, which is the number of its part. An arm with one differs from the other in chance
    alone."""
    first_part: int = 0

    @property
    def begins_as(self) -> str:
        """The arm whose runs begin with the same random assignments on the same parts; its own name where none does."""
        if self.seed:
            return self.name
        if not self.pool:
            return "main"
        return self.against if self.pool == self.against else self.name


MAIN = "mlp:{mlp},{joint}:{ensemble}"

ARMS = (
    Arm("main", "MLP first, then the ensemble (the paper's schedule)", MAIN, 5),
    Arm("again", "the same with another seed: what chance does", MAIN, 2, seed=100),
    Arm("mlp-only", "the MLP alone", "mlp:{all}", 5),
    Arm("ensemble-only", "the ensemble from the start", "{joint}:{ensemble}", 2),
    Arm("released", "newcomers score above gold (released code)", MAIN, 2, flags=("--policy", "released")),
    Arm("by-context", "single contexts held out, not videos (the paper)", MAIN, 1, flags=("--split-by", "context")),
    Arm("fixed", "folds that stay, filters that learn on", MAIN, 5, flags=("--splits", "fixed")),
    Arm("quick-mlp", "the MLP fitted for one epoch", "mlp[max_epochs=1]:{mlp},{joint}:{ensemble}", 1),
    Arm("slim-ensemble", "a joint layer of 256 units, not 2,048", "mlp:{mlp},ensemble[width=256]:{ensemble}", 1),
    Arm("half", "half of the contexts", MAIN, 1, pool="half"),
    Arm("quarter", "a quarter of the contexts", MAIN, 1, pool="quarter"),
    Arm("double", "twice the contexts", MAIN, 5, pool="double"),
    Arm("weak", "candidates and likelihoods of weaker language models", MAIN, 2, pool="weak"),
    Arm("few", "an eighth of the candidates", MAIN, 1, pool="few"),
    Arm("few-read", "likelihoods by models that have read gold", MAIN, 1, pool="few-read", against="few"),
)
AGAIN = tuple(
    Arm(f"again-{seed}", "the same contexts, another seed", MAIN, 3, (), "double", "double", seed, first_part=2)
    for seed in (100, 200, 300, 400)
)
"""What chance does in a run over twice the contexts of one part."""
_SHORT = "mlp:{mlp},{joint}[max_epochs=1]:{ensemble}"
QUICK = Arm("quick-ensemble", "the ensemble fitted for one epoch", _SHORT, 2, pool="double", against="double")
"""Shorter fits, at the number of contexts where they pay more. Predicted before the first run: an iteration costs 40 to
70 % of the exact one's; fresh filters that took no part find no more than two points more, an MLP or an ensemble none
to three more."""
DEALT = (
    Arm("dealt", "other contexts, an eighth of the candidates", MAIN, 5, pool="dealt", against="dealt"),
    Arm("dealt-fixed", "the same by folds that stay", MAIN, 5, ("--splits", "fixed"), "dealt", "dealt"),
    Arm("dealt-released", "the same by the released code's rule", MAIN, 5, ("--policy", "released"), "dealt", "dealt"),
)
"""What another way to filter does, over five parts whose candidates cost an eighth. Predicted before the first run:
in the questions of `dealt-fixed` a fresh MLP finds one to five points more than in those of `dealt`, as in the two
parts of `fixed`, and no filter that took no part finds more than two points more; in those of `dealt-released` no
filter finds two points more or less."""
BIG = Arm("big", "all parts in one run", MAIN, 5)
"""All parts filtered at once."""
BIGGER = Arm(
    *("bigger", "five times the contexts of two parts in one run", MAIN, 5), pool="many", against="double", first_part=3
)
"""As many contexts as all parts have in the arm `double`, by the models of two of them."""


@dataclass(frozen=True)
class Size:
    """What a run of the experiment does."""

    name: str
    captions: tuple[str, ...]
    """Files below `activitynet_captions` in the data folder."""
    books: bool
    lm: tuple[str, ...]
    """Flags of `train-lm`, but for --hidden."""
    hidden: int
    n_folds: int
    n_contexts: int
    n_candidates: int
    n_few: int
    """Candidates of the pool with fewer."""
    n_mlp: int
    n_ensemble: int
    window: int
    """Iterations whose mean is taken on both sides of the change of filters."""
    audit_seeds: int
    growth: tuple[int, ...]
    """Numbers of contexts, ascending."""
    growth_draws: int
    """With all contexts there is one, since others would have the same rows."""
    wide: tuple[int, ...] = ()
    """Numbers of contexts, ascending, of a pool that has no more candidates than a question: growth beyond `pool`."""
    wide_folds: tuple[int, ...] = ()
    """The folds whose contexts these are."""
    nested: tuple[int, ...] = ()
    """Numbers of contexts, ascending, of runs over those of `wide_folds`, `n_few` candidates each: does the jump grow
    with the number alone? Predicted before the first of them: it is 5 to 8 points in 10,000 contexts and 1 to 4 in
    1,250, and larger in 10,000 by 2 to 5, an interval over the draws that excludes zero."""
    nested_draws: int = 0
    """Draws of contexts and seeds; the fewer contexts of a draw are among the more."""
    nested_iterations: tuple[int, int] = (50, 10)
    """Of the MLP and of the filter of the second phase in these."""
    n_repeats: int = 0
    """Further seeds of the audits, by filters that take part, of runs on all parts and of the parts' questions read
    together."""
    n_read: int = 100
    n_mixed: int = 40
    """Contexts whose reader sees endings from before and after filtering."""
    features: str = "full"
    """Flag of `generate` for the parts: `lazy` ones are computed for the candidates that are asked about."""
    joint: str = "ensemble"
    """The filter of the second phase."""
    seed: int = 0
    """Added to the seeds of the parts and of the runs: a size with another one has other contexts of the same folds."""
    unseen: tuple[str, ...] = ("ngrams", "chars", "fasttext")
    """Filters that take no part in any run, and audit."""
    finders: tuple[str, ...] = ("mlp", "bow", "cnn", "poslstm", "ensemble", "ngrams", "fasttext")
    """Filters whose growth with the number of contexts is measured."""
    arms: tuple[Arm, ...] = field(default=ARMS)
    together: tuple[Arm, ...] = (BIG, BIGGER)
    """Runs on all parts at once, or on all of an arm's."""

    @property
    def n_parts(self) -> int:
        """A part is a fold's: its language model, contexts of its videos alone, the runs on them, and their seed."""
        return self.n_folds

    @property
    def part_rows(self) -> int:
        """Contexts of a part."""
        return self.n_contexts // self.n_parts

    def parts_of(self, arm: Arm) -> range:
        """The parts of an arm, each with a run, or all in one."""
        return range(arm.first_part, min(arm.parts, self.n_parts))

    def schedule(self, arm: Arm) -> str:
        """The schedule of an arm, written out."""
        counts = {"mlp": self.n_mlp, "ensemble": self.n_ensemble, "all": self.n_mlp + self.n_ensemble}
        return arm.schedule.format(joint=self.joint, **counts)


PAPER = Size(
    name="paper",
    captions=("train.json", "val_1.json"),
    books=True,
    lm=("--epochs", "4", "--decay-every", "2", "--pretrain-epochs", "1", "--precision", "bf16-mixed"),
    hidden=256,
    n_folds=5,
    n_contexts=5000,
    n_candidates=1024,
    n_few=128,
    n_mlp=100,
    n_ensemble=40,
    window=10,
    audit_seeds=2,
    growth=(250, 500, 1000, 2000, 5000),
    growth_draws=3,
    wide=(1250, 2500, 5000, 10_000),
    wide_folds=(3, 4),
    nested=(1250, 2500, 5000, 10_000),
    nested_draws=5,
    n_repeats=2,
    arms=(*(arm for arm in ARMS if not arm.seed), *AGAIN, QUICK, *DEALT),
)

FEW_ARMS = tuple(arm for arm in ARMS if arm.pool != "double")
"""Those of a size whose point is to be done soon."""

SMALL = Size(
    name="small",
    captions=("val_1.json",),
    books=False,
    lm=("--epochs", "3", "--decay-every", "2", "--precision", "bf16-mixed"),
    hidden=128,
    n_folds=3,
    n_contexts=900,
    n_candidates=128,
    n_few=16,
    n_mlp=24,
    n_ensemble=8,
    window=4,
    audit_seeds=1,
    growth=(150, 300, 600, 900),
    growth_draws=2,
    arms=tuple(replace(arm, parts=min(arm.parts, 3 if arm.name in ("main", "mlp-only") else 1)) for arm in FEW_ARMS),
    together=(BIG,),
)

MANY = replace(
    PAPER,
    name="many",
    n_folds=2,
    n_contexts=10_000,
    n_candidates=128,
    n_few=16,
    n_mlp=50,
    n_ensemble=10,
    audit_seeds=1,
    growth=(1250, 2500, 5000, 10_000),
    growth_draws=1,
    wide=(),
    wide_folds=(),
    nested=(),
    nested_draws=0,
    n_repeats=0,
    arms=(
        *(replace(arm, parts=2) for arm in ARMS if arm.name in ("main", "half", "quarter")),
        Arm("quarter-again", "a quarter of the contexts, another seed", MAIN, 2, (), "quarter", "quarter", 100),
    ),
    together=(BIG, Arm("big-again", "all parts in one run, another seed", MAIN, 2, seed=100)),
)
"""As many contexts as any run has, an eighth of the candidates, and the same language models and candidates for all
numbers of contexts: does the jump grow with their number alone? 50 iterations of the MLP, since after 40 the curves of
`big` and `bigger` fell no further. Predicted before the first run: if that is what the paper's jump takes, the runs
over 10,000 contexts jump by three points more than those over 1,250."""

LARGE = replace(
    MANY,
    name="large",
    n_candidates=1024,
    n_few=128,
    features="lazy",
    n_mlp=100,
    n_ensemble=40,
    growth_draws=2,
    finders=("mlp", "ensemble"),
    n_repeats=1,
    arms=(MANY.arms[0],),
    together=(BIG,),
)
"""The contexts and language models of `many` with all candidates and the paper's schedule, in one run. Predicted before
the first run, of which `many` has ten iterations of the ensemble: the MLP ends at 11 to 13 % (13.7 there), the ensemble
begins 5 to 8 points above that, and its last ten iterations end 2 to 5 points below where it began, not at the MLP's
level; fresh filters find at the random start no more by an ensemble than by an MLP."""

_CONTROLS = ("main", "mlp-only", "ensemble-only", "released", "fixed")
"""Each on every part: of two parts no interval says much."""
FULL = replace(
    LARGE,
    name="full",
    n_folds=5,
    growth=(250, 500, 1000, 2000, 5000, 10_000),
    finders=PAPER.finders,
    arms=tuple(replace(arm, parts=5) for arm in ARMS if arm.name in _CONTROLS),
    seed=10,
)
"""As `large`, of five folds, 2,000 contexts each, whose models have learnt from four fifths of the captions, as the
paper's: does what came out there come out again, by better models and over other contexts? With a run on each fold's
contexts, and the controls on these. Predicted before the first run, from `large`: the MLP ends at 11 to 13.5 %, the
jump is 5 to 9 points, the last ten iterations of the ensemble are 3 to 7 points below its first; at the random start a
fresh ensemble finds 1 to 6 points more than a fresh MLP.

That run had the contexts of the arm `double`, all five parts of it. Made again, all of it by the same commands, it has
others of the same folds, a third of which are among those. Predicted before that, from the first run and from the five
of `double`: what the first run gave comes again within two points each; over the five parts the jump is 0.5 to 3.5
points, and the ensemble's own iterations lower a fresh ensemble in `big` by 4 to 10 points, and by 0.5 to 5 over the
parts."""

TINY = Size(
    name="tiny",
    captions=("captions.jsonl",),
    books=False,
    lm=("--epochs", "4", "--batch-size", "16", "--learning-rate", "1e-2", "--min-count", "1"),
    hidden=24,
    n_folds=2,
    n_contexts=48,
    n_candidates=16,
    n_few=12,
    n_mlp=3,
    n_ensemble=2,
    window=2,
    audit_seeds=1,
    growth=(24, 48),
    growth_draws=1,
    wide=(24, 48),
    wide_folds=(0, 1),
    nested=(24, 48),
    nested_draws=2,
    nested_iterations=(3, 2),
    n_repeats=1,
    n_read=5,
    n_mixed=2,
    joint="bow",
    unseen=("ngrams",),
    finders=("ngrams",),
    arms=(
        *(replace(arm, parts=2 if arm.name == "main" else 1) for arm in ARMS if arm.name in ("main", "again")),
        *DEALT[:2],
    ),
    together=(BIG,),
)

SIZES = {size.name: size for size in (PAPER, SMALL, MANY, LARGE, FULL, TINY)}
