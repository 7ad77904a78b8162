"""The options of `train-lm` and `generate`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults
from swag_af.data.scale import Part, parse_part
from swag_af.data.urls import RECORDS_ONLY
from swag_af.endpoints.options import EndpointOptions

Precision = Literal["fp32", "bf16"]
"""Arithmetic of the output layer's product while sampling and scoring."""


@dataclass(frozen=True)
class LMOptions(Options):
    """Size and training of one language model (defaults: Zellers et al. 2018, A.2, and the released code)."""

    hidden: int = 512
    """Units of the embedding and of every hidden layer."""
    layers: int = 2
    """LSTM layers in each direction, joined by highway connections."""
    recurrent_dropout: float = 0.2
    """Share of hidden units dropped from the recurrence, one mask a sequence."""
    embedding_dropout: float = 0.2
    """Share of word types whose embedding is dropped as a whole, drawn anew for each batch."""
    epochs: int = 15
    """Passes over the training pairs; the weights of the best held-out perplexity are kept."""
    pretrain_epochs: int = 2
    """Passes over the pairs of consecutive book sentences (Zellers et al. 2018, A.2); refused where no books are given
    by --pretrain."""
    batch_size: int = 32
    """Sentence pairs in a batch."""
    learning_rate: float = 1e-3
    """Adam's step size at the start."""
    decay_every: int = 5
    """Divide the learning rate by ten after so many epochs (the released scheduler slips and does so after one)."""
    weight_decay: float = 1e-6
    """Adam's weight decay."""
    clip_norm: float = 1.0
    """Gradients are clipped to this norm."""
    held_out: float = 0.05
    """Share of the training videos held out to choose the best epoch; the fold itself is never used for that."""
    min_count: int = 3
    """Tokens seen less often are unknown to the model."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    """Arithmetic of training; bf16-mixed is faster on GPUs and on processors with instructions for it, as AMX. Sampling
    stays in full precision."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = ("hidden", "layers", "epochs", "pretrain_epochs", "batch_size", "decay_every", "min_count")
        shares = ("recurrent_dropout", "embedding_dropout")
        check_faults(
            [
                *((getattr(self, name) < 1, f"--{flag(name)} {getattr(self, name)}: at least 1") for name in whole),
                *(
                    (not 0 <= getattr(self, s) < 1, f"--{flag(s)} {getattr(self, s)}: from 0 to below 1")
                    for s in shares
                ),
                (not 0 < self.held_out < 1, f"--held-out {self.held_out}: between 0 and 1"),
                (self.learning_rate <= 0, f"--learning-rate {self.learning_rate}: above 0"),
                (self.weight_decay < 0, f"--weight-decay {self.weight_decay}: not below 0"),
                (self.clip_norm <= 0, f"--clip-norm {self.clip_norm}: above 0"),
            ]
        )


def flag(name: str) -> str:
    """`batch_size` as it is typed: `batch-size`."""
    return name.replace("_", "-")


@dataclass(frozen=True)
class TrainLMOptions(Options):
    """Train the forward and backward language models, one pair of models a fold.

    A fold's model learns from the videos of the other folds alone, so it has not read the second sentences that its
    samples compete with. It may have read a near twin, or an ending behind another beginning (counted in
    docs/CAPTIONS.md). Killed and run again, it goes on from its last finished epoch. Several machines may train into
    one folder at once: no two work on the same model, and whoever finds one at work waits for it.

    Try:
      swag-af train-lm contexts.jsonl --out lms
      swag-af train-lm contexts.jsonl --out lms --engine "ray[auto]" --gpus-per-task 1
      swag-af train-lm contexts.jsonl --out lms --pretrain novels/
      swag-af train-lm contexts.jsonl --out lms --folds 0 --hidden 256 --epochs 6
    """

    contexts: Path
    """The contexts file that `swag-af contexts` wrote."""
    out: Path = Path("lms")
    """The folder for the models, one folder a fold inside."""
    folds: tuple[int, ...] = ()
    """Train these folds only; all when not given."""
    use_dropped: bool = True
    """Learn from the dropped pairs too, whose captions are sound and only unfit as questions; not from foreign ones and
    broken encodings."""
    lm: LMOptions = field(default_factory=LMOptions)
    """Size and training of the models."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute; auto takes a GPU when there is one."""
    seed: int = 0
    """The same seed, data and device give the same weights, on a CPU with the same number of threads for each fold: of
    several threads (`OMP_NUM_THREADS`) other --folds have other shares."""
    pretrain: tuple[Path, ...] = ()
    """Plain-text books, or folders of them, to learn from first: pairs of consecutive sentences, once for all
    folds. Not needed again once that is done."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where folds are trained."""
    workers: int | None = None
    """Folds trained at once, each with a model in memory. Not given: as many as torch has threads (`OMP_NUM_THREADS`),
    2 at most on a GPU, 1 with little to learn from, and as many as a cluster has room for. Does not change the weights
    that a CPU learns: each of the folds asked for has an equal share of the threads, however many are trained at
    once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                *worker_faults(self.workers, self.where),
            ]
        )


@dataclass(frozen=True)
class TextOptions(Options):
    """What generators of text are told, and what becomes of their endings; not for `lstm`."""

    prompt: str = "auto"
    """How a language model is asked: continuation, wrong-ending, wrong-answer, or a TOML file of your own
    (docs/GENERATORS.md). auto takes wrong-answer where most contexts are a question without a start, and otherwise what
    suits the generator."""
    temperature: float = 1.0
    """Of sampling: below 1 the likely endings are more likely, above 1 less."""
    top_p: float = 1.0
    """Sample from the likeliest tokens only whose probabilities add up to this; 1 takes all."""
    normalise: bool = True
    """Give gold and endings one surface form, as in `swag-af pool`: models write quotes, capitals and blanks otherwise
    than people do, and that would be filtered in place of what they say."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                (self.temperature < 0, f"--temperature {self.temperature}: not below 0"),
                (not 0 < self.top_p <= 1, f"--top-p {self.top_p}: above 0, and 1 at most"),
            ]
        )


@dataclass(frozen=True)
class GenerateOptions(Options):
    """Sample distinct endings for every context and write the pool that `swag-af filter` works on.

    The paper's generator, lstm, trains the fold models that are missing. Others write texts: n-grams, or any language
    model (docs/GENERATORS.md). Work goes row by row: killed and run again, it goes on from the last finished row to the
    same bytes. Several processes or machines may share the work with --shard.

    Try:
      swag-af generate contexts.jsonl --lms lms --out pool
      swag-af generate contexts.jsonl --lms lms --out pool --limit 500 --folds 0
      swag-af generate contexts.jsonl --lms lms --out larger --limit 5000 --reuse pool
      swag-af generate contexts.jsonl --lms lms --out pool --features lazy --dry-run
      swag-af generate contexts.jsonl --generator ngram --n-negatives 127 --out pool
      swag-af generate questions.jsonl --generator ngram --min-tokens 1 --n-negatives 31 --out pool
    """

    contexts: Path
    """The contexts file that `swag-af contexts` wrote."""
    lms: Path = Path("lms")
    """The folder of `swag-af train-lm`; folds missing there are trained first, with its options or those below."""
    out: Path = field(default=Path("pool"), metadata=RECORDS_ONLY)
    """The folder for the pool."""
    generator: str = "lstm"
    """What writes the endings: lstm, ngram, another by its name in docs/GENERATORS.md, or package.module:Class. Options
    that a generator does not use are refused."""
    n_negatives: int = 1023
    """Distinct endings to sample a context, none equal to gold (Zellers et al. 2018, 3.3)."""
    min_tokens: int = 5
    """Shortest ending, as for gold: the released code has no such bound, and 8 % of its samples give themselves
    away."""
    max_tokens: int = 25
    """Longest ending; sampling stops there (A.3)."""
    max_draws: int = 40
    """Drop a context that has not given its distinct endings after this many times as many draws."""
    features: Literal["full", "lazy"] = "full"
    """lazy: the two features of the backward model, two thirds of the work, are computed for the candidates that a
    filter asks for, when it does: about a third of them in a run of 140 iterations. The values are the same."""
    limit: int | None = None
    """Use this many contexts only, drawn at random with the seed."""
    limit_by: Literal["context", "video"] = "context"
    """Of --limit: draw single contexts, or whole videos, from every fold its share."""
    folds: tuple[int, ...] = ()
    """Use the contexts of these folds only; all when not given."""
    reuse: tuple[Path, ...] = ()
    """Finished pools of the same contexts file, models, seed and settings with another --limit or other --folds: what
    they have of the contexts asked for is copied, not made again. The rows are the same. Pools of full features give
    to lazy ones too, and what has been computed of lazy features comes along."""
    shard_rows: int | None = None
    """Contexts in a shard. Not given: 64, or more where that makes over 64 shards."""
    shard: str | None = None
    """I/N, with I from 1 to N: make every N-th shard only, or context where texts are generated, from the I-th. Let N
    processes share a folder, or put their shards/ or journal/ into one afterwards; whoever finds all made joins
    them."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where the work is done."""
    workers: int | None = None
    """Processes that sample and score, one thread and one model in memory each. Not given: as many as torch has threads
    (`OMP_NUM_THREADS`), fewer for little work, 1 on a GPU. Does not change the pool."""
    live_rows: int | None = None
    """Endings that a process works on at a time: more are faster up to a point and take memory. Does not change the
    pool."""
    output_precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Arithmetic of the product with the vocabulary; auto is fp32 on a CPU and bf16 on a GPU. bf16 is faster, and
    changes the probabilities slightly (docs/PERFORMANCE.md)."""
    dry_run: bool = False
    """Say what disk, time and memory it would take, and write nothing; takes some seconds, to measure products here and
    to try a few contexts where models are trained."""
    tagger: str = "auto"
    """What tags the word types of the vocabulary."""
    use_dropped: bool = True
    """As in train-lm, for the models still to be trained."""
    lm: LMOptions = field(default_factory=LMOptions)
    """As in train-lm, for the models still to be trained."""
    text: TextOptions = field(default_factory=TextOptions)
    """What generators of text are told."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How a server is asked."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute; auto takes a GPU when there is one."""
    seed: int = 0
    """The same seed, models and device give the same pool."""

    def __post_init__(self) -> None:
        super().__post_init__()
        optional = ("limit", "shard_rows", "live_rows")
        whole = ("n_negatives", "min_tokens", "max_draws", *(n for n in optional if getattr(self, n) is not None))
        check_faults(
            [
                *((getattr(self, name) < 1, f"--{flag(name)} {getattr(self, name)}: at least 1") for name in whole),
                (
                    self.max_tokens < self.min_tokens,
                    f"--max-tokens {self.max_tokens}: below --min-tokens {self.min_tokens}",
                ),
                *worker_faults(self.workers, self.where),
                (self.shard is not None and self.part is None, f"--shard {self.shard}: write I/N, I from 1 to N"),
                (self.limit is None and self.limit_by != "context", "--limit-by: only with --limit"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
            ]
        )

    @property
    def part(self) -> Part | None:
        """`--shard 2/8` as (1, 8): the shards 1, 9, 17, ... counted from 0."""
        return parse_part(self.shard or "")


@dataclass(frozen=True)
class FeaturesOptions(Options):
    """Compute likelihoods and lengths for every candidate of a pool that lacks them.

    For pools of `swag-af generate --features lazy` filtering does so by itself for the candidates that it looks at;
    this makes them complete, so that they no longer need their models. Any other pool gets its features from the
    models in --lms, trained on its own contexts or others, or from another --scorer. What a scorer cannot give is said,
    and the table has the columns that are there. Killed and run again, it goes on at the next shard.

    Try:
      swag-af features pool
      swag-af features mine --lms lms
      swag-af features mine --scorer hf[path/to/gpt2]
    """

    pool: Path
    """The pool folder."""
    lms: Path | None = None
    """The folder of the language models. For a pool of `swag-af generate`: where those it was made with are now."""
    scorer: str = "lstm"
    """Who scores: lstm, the models in --lms, each row by one that has not learnt it; hf[PATH], any causal model on disk
    or on the hub; endpoint[URL], a server that gives likelihoods of given texts; or your own, package.module:Class.
    Others than lstm may have read the texts, and the pool says so."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How a server is asked, for --scorer endpoint[URL]."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where the work is done."""
    workers: int | None = None
    """Processes that compute, one thread and one model in memory each. Not given: as many as torch has threads
    (`OMP_NUM_THREADS`), fewer for little work, 1 on a GPU and for other scorers. Does not change the values."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                *worker_faults(self.workers, self.where),
                (self.lms is not None and self.scorer != "lstm", f"--lms {self.lms}: goes with --scorer lstm alone"),
            ]
        )
