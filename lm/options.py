"""The options of `train-lm` and `generate`: Python signature, flags, TOML schema and saved record in one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from swag_af.data.disk.urls import RECORDS_ONLY
from swag_af.data.engines.options import EngineOptions, worker_faults
from swag_af.data.errors import Options, check_faults
from swag_af.data.scale import Part, parse_part
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
    """Share of hidden units dropped from the recurrence, with one mask per sequence."""
    embedding_dropout: float = 0.2
    """Share of word types (distinct words) whose whole embedding is dropped, drawn anew for each batch."""
    epochs: int = 15
    """Passes over the training pairs. The weights with the best held-out perplexity are kept."""
    pretrain_epochs: int = 2
    """Passes over the pairs of consecutive book sentences (Zellers et al. 2018, A.2). Refused unless --pretrain gives
    books."""
    batch_size: int = 32
    """Sentence pairs per batch."""
    learning_rate: float = 1e-3
    """Adam's step size at the start."""
    decay_every: int = 5
    """Divide the learning rate by ten every time this many epochs have passed (by a mistake, the released scheduler
    does so after one)."""
    weight_decay: float = 1e-6
    """Adam's weight decay."""
    clip_norm: float = 1.0
    """Clip gradients to this norm."""
    held_out: float = 0.05
    """Share of the training videos held out to choose the best epoch. The fold itself is never used for that."""
    min_count: int = 3
    """Tokens that occur fewer times than this are unknown to the model."""
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    """Arithmetic of training. bf16-mixed is faster on GPUs and on processors with instructions for it, such as AMX.
    Sampling stays in full precision."""

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
    """Train the forward and backward language models, one pair per fold.

    The models of a fold learn only from the videos of the other folds, so they have not read the second sentences that
    their samples compete with. They may have read a near-duplicate of one, or its ending after another
    beginning (counted in docs/CAPTIONS.md).

    If killed, the same command continues from its last finished epoch. Several machines may train into one folder at
    once: no two work on the same model, and a machine that finds a model being trained waits for it.

    Try:
      swag-af train-lm contexts.jsonl --out lms
      swag-af train-lm contexts.jsonl --out lms --engine "ray[auto]" --gpus-per-task 1
      swag-af train-lm contexts.jsonl --out lms --pretrain novels/
      swag-af train-lm contexts.jsonl --out lms --folds 0 --hidden 256 --epochs 6
    """

    contexts: Path
    """The contexts file that `swag-af contexts` wrote."""
    out: Path = Path("lms")
    """The folder for the models, with one folder per fold."""
    folds: tuple[int, ...] = ()
    """Train only these folds. If not given, all."""
    use_dropped: bool = True
    """Also learn from dropped pairs: their captions are sound, and only unfit as questions. Foreign captions and broken
    encodings are not used."""
    lm: LMOptions = field(default_factory=LMOptions)
    """Size and training of the models."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute. auto takes a GPU if there is one."""
    seed: int = 0
    """Seed. The same seed, data and device give the same weights. On a CPU, each fold must also have the same number of
    threads: if there are several (`OMP_NUM_THREADS`), each fold's share depends on --folds."""
    pretrain: tuple[Path, ...] = ()
    """Plain-text books, or folders of them, to learn from first, as pairs of consecutive sentences. This is done once
    for all folds; the books are not needed again afterwards."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where folds are trained."""
    workers: int | None = None
    """Folds trained at once, each with a model in memory. If not given: as many as torch has threads
    (`OMP_NUM_THREADS`); at most 2 on a GPU; 1 if there is little to learn from; on a cluster, as many as it has room
    for (Slurm: 16). Does not change the weights that a CPU learns: each requested fold has an equal share of the
    threads, however many are trained at once."""

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
    """What generators of text are asked, and what is done with their endings. Not for `lstm`."""

    prompt: str = "auto"
    """How a language model is asked: continuation, wrong-ending, wrong-answer, or a TOML file of yours
    (docs/GENERATORS.md). auto takes wrong-answer if most contexts are a question without a start, otherwise what suits
    the generator."""
    temperature: float = 1.0
    """Sampling temperature. Below 1, likely endings become more likely; above 1, less."""
    top_p: float = 1.0
    """Sample only from the likeliest tokens whose probabilities add up to this. 1 takes all tokens."""
    normalise: bool = True
    """Give gold and endings one surface form, as in `swag-af pool`. Models write quotes, capitals and blanks
    differently from people; otherwise that would be filtered instead of what they say."""

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
    model (docs/GENERATORS.md). Work goes row by row. If killed, the same command continues from the last finished row,
    to the same bytes. Several processes or machines may share the work with --shard.

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
    """The folder of `swag-af train-lm`. Folds missing there are trained first, with its options or those below."""
    out: Path = field(default=Path("pool"), metadata=RECORDS_ONLY)
    """The folder for the pool."""
    generator: str = "lstm"
    """What writes the endings: lstm, ngram, another name from docs/GENERATORS.md, or package.module:Class. Options that
    a generator does not use are refused."""
    n_negatives: int = 1023
    """Distinct endings to sample per context, none equal to gold (Zellers et al. 2018, 3.3)."""
    min_tokens: int = 5
    """Length of the shortest ending in tokens, the same as for gold. The released code has no such bound, and 8 % of
    its samples give themselves away."""
    max_tokens: int = 25
    """Length of the longest ending in tokens. Sampling stops there (A.3)."""
    max_draws: int = 40
    """Drop a context that has not given --n-negatives distinct endings after this many times as many draws."""
    features: Literal["full", "lazy"] = "full"
    """full: compute all features now. lazy: the two features of the backward model, two thirds of the work, are
    computed only for the candidates that a filter asks for, when it does: about a third of them in a run of 140
    iterations. The values are the same."""
    limit: int | None = None
    """Use only this many contexts, drawn at random with the seed."""
    limit_by: Literal["context", "video"] = "context"
    """What --limit draws: single contexts, or whole videos, from every fold its share."""
    folds: tuple[int, ...] = ()
    """Use only the contexts of these folds. If not given, all."""
    reuse: tuple[Path, ...] = ()
    """Finished pools of the same contexts file, models, seed and settings, with another --limit or other --folds. The
    rows they have of the contexts asked for are copied, not made again; the rows are the same. Pools with full features
    can be reused for lazy ones, and lazy features computed so far are copied too."""
    shard_rows: int | None = None
    """Contexts per shard. If not given: 64, or more if that makes over 64 shards."""
    shard: str | None = None
    """I/N, with I from 1 to N: make only every N-th shard, beginning with the I-th; if texts are generated, every N-th
    context. N processes may share a folder, or use folders of their own, whose shards/ or journal/ you put into one
    afterwards. The process that finds all made joins them."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where the work runs."""
    workers: int | None = None
    """Processes that sample and score, each with one thread and one model in memory. If not given: as many as torch has
    threads (`OMP_NUM_THREADS`), fewer for little work, 1 on a GPU; on a cluster, as many as it has room for (Slurm:
    16). Does not change the pool."""
    live_rows: int | None = None
    """Endings that a process works on at a time. More are faster up to a point, and take memory. Does not change the
    pool."""
    output_precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Arithmetic of the product with the vocabulary. auto: fp32 on a CPU, bf16 on a GPU. bf16 is faster and changes the
    probabilities slightly (docs/PERFORMANCE.md)."""
    dry_run: bool = False
    """Print the disk, time and memory it would take, and write nothing. This takes some seconds: it measures products
    on this machine and, if there are trained models, tries a few contexts."""
    tagger: str = "auto"
    """What tags the word types (distinct words) of the vocabulary."""
    use_dropped: bool = True
    """As in train-lm, for models still to be trained."""
    lm: LMOptions = field(default_factory=LMOptions)
    """As in train-lm, for models still to be trained."""
    text: TextOptions = field(default_factory=TextOptions)
    """Options for generators of text. They are not for `lstm`."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How the server is asked, for --generator endpoint[URL]."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to compute. auto takes a GPU if there is one."""
    seed: int = 0
    """Seed. The same seed, models and device give the same pool."""

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

    For a pool of `swag-af generate --features lazy`, filtering itself computes features for the candidates it looks at.
    This command computes all of them, so that the pool no longer needs its models. Any other pool gets its features
    from the models in --lms, trained on its own contexts or others, or from another --scorer. The program says what a
    scorer cannot give, and the table has the columns that are there. If killed, the same command continues at the next
    shard.

    Try:
      swag-af features pool
      swag-af features mine --lms lms
      swag-af features mine --scorer hf[path/to/gpt2]
    """

    pool: Path
    """The pool folder."""
    lms: Path | None = None
    """The folder of the language models. For a pool of `swag-af generate`: where the models that made it are now."""
    scorer: str = "lstm"
    """What scores. lstm: the models in --lms, each row by one that has not learnt it. hf[PATH]: any causal model on
    disk or on the hub. endpoint[URL]: a server that gives likelihoods of given texts. package.module:Class: your own.
    All except lstm may have read the texts, and the pool says so."""
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    """How the server is asked, for --scorer endpoint[URL]."""
    where: EngineOptions = field(default_factory=EngineOptions)
    """Where the work runs."""
    workers: int | None = None
    """Processes that compute, each with one thread and one model in memory. If not given: as many as torch has threads
    (`OMP_NUM_THREADS`), fewer for little work, 1 on a GPU; for other scorers 1, with --engine processes one for each
    core; on a cluster, as many as it has room for (Slurm: 16). Does not change the values."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                *worker_faults(self.workers, self.where),
                (self.lms is not None and self.scorer != "lstm", f"--lms {self.lms}: goes with --scorer lstm alone"),
            ]
        )
