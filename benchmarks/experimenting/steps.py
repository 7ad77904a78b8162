"""The steps of the experiment: commands of swag-af, run in the experiment's folder, and what they cost in CPU seconds.

    OUT/contexts.jsonl  lms/  lms-weak/        what all is made of
    OUT/parts/0 ... 4   parts/0-few ...        a pool a fold, which is a part; variants of them for single arms
    OUT/pool            pool-many              all parts together, and several of five times the contexts
    OUT/big  bigger     runs/ARM-PART          runs: on these, and the arms on each part
    OUT/deep  nested/5000-1 ...        a pool of many contexts and few candidates, runs over more and more of them
    OUT/starts             pools of some of these contexts, with one thing changed in each
    OUT/released  released-random              datasets of one main run, at its end and at its start
    OUT/record                                 what the results are made of, run by run

Forecasts rest on the measurements in docs/PERFORMANCE.md, one thread of the machine named there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experimenting.sizes import Arm, Size
from swag_af.filters.registry import parse_schedule

TOKENS_A_SECOND = 3500
"""That a language model of 256 units learns from in a CPU second, at the vocabulary of ActivityNet Captions."""


@dataclass(frozen=True)
class Setting:
    """Where the experiment lies and what it reads."""

    size: Size
    out: Path
    data: Path
    encoder: Path | None = None
    parts: tuple[int, ...] = ()
    """Do the work of these parts only; of all where empty."""
    arms: tuple[str, ...] = ()
    """Make and audit the runs of these arms only; of all where empty."""

    def together(self) -> list[Arm]:
        """The runs on several parts together that are worked on."""
        numbers = set(self.numbers())
        chosen = [arm for arm in self.size.together if not self.arms or arm.name in self.arms]
        return [arm for arm in chosen if set(self.size.parts_of(arm)) <= numbers]

    def numbers(self) -> list[int]:
        """The parts that are worked on."""
        return [number for number in range(self.size.n_parts) if not self.parts or number in self.parts]

    def runs(self) -> list[tuple[str, Arm, int]]:
        """Folder, arm and part of every run on a part."""
        return [
            (f"runs/{arm.name}-{part}", arm, part)
            for arm in self.size.arms
            for part in self.numbers()
            if part in self.size.parts_of(arm) and (not self.arms or arm.name in self.arms)
            if arm.pool != DEALT or has_wide_folds(self)
        ]

    def run_names(self) -> list[str]:
        """The folders of all runs."""
        return [*(arm.name for arm in self.together()), *(out for out, _, _ in self.runs())]

    def whole(self) -> "Setting":
        """The same with nothing left out."""
        return replace(self, parts=(), arms=())

    def pool_of(self, arm: Arm, part: int) -> str:
        """The folder of the pool that an arm filters."""
        return f"parts/{part}-{arm.pool}" if arm.pool else f"parts/{part}"


@dataclass(frozen=True)
class Command:
    """A command of swag-af, typed in the experiment's folder."""

    words: tuple[str, ...]
    seconds: float = 0.0
    """CPU seconds, forecast."""
    made: str = ""
    """Where this exists the command is done: for verbs that would refuse, not go on."""
    run: str = ""
    """The run that it makes or measures."""
    needs: str = ""
    """A run that must have all of its iterations: for verbs that would take an unfinished one as it is."""


def commands(setting: Setting) -> dict[str, list[Command]]:
    """The commands of every step that consists of commands, by its name."""
    return {
        "contexts": [_contexts(setting)],
        "train-lm": [
            _train_lm(setting, part, variant) for part, variant in generated(setting) if variant in ("", WEAK)
        ],
        "generate": [
            *(_generate(setting, part, variant) for part, variant in generated(setting)),
            *_of_folds(setting, WIDE, setting.size.wide, N_NEGATIVES),
            *_of_folds(setting, DEEP, setting.size.nested, setting.size.n_few - 1),
        ],
        "filter": list(_filters(setting)),
        "audit": list(_audits(setting)),
        "encoder": list(_encoder_audits(setting)),
        "nested": list(_nested(setting)),
        "release": [_release(setting, "released"), _release(setting, UNFILTERED, "--iteration", "0")],
    }


WEAK = "weak"
"""The variant of a part whose language models have a quarter of the units and read the captions once, and no books."""
DOUBLE = "double"
"""The variant of a part that has twice the contexts, those of the part among them, by the same language models."""
MANY = "many"
"""The variant that has five times the contexts, those of `double` among them. It is filtered once: two of its features
are computed for the candidates that are asked about."""
TIMES = {DOUBLE: 2, MANY: 5}
"""How many times the contexts of a part."""


def generated(setting: Setting) -> list[tuple[int, str]]:
    """Part and variant, empty, `double`, `many` or `weak`, of every pool that language models have written for it."""
    asked = {(part, arm.pool) for _, arm, part in setting.runs() if arm.pool in (DOUBLE, WEAK)}
    for arm in setting.together():
        asked |= {(part, pool) for part in setting.size.parts_of(arm) if arm.pool for pool in (DOUBLE, arm.pool)}
    parts = [(part, "") for part in setting.numbers()]
    return [*parts, *sorted(asked, key=lambda one: (one[1], one[0]))]


def models_of(variant: str) -> str:
    """The folder of the language models that wrote such a pool."""
    return f"lms-{variant}" if variant == WEAK else "lms"


SHARED = (("filter", "audit", "encoder"), ("nested",))
"""Steps whose commands are of single runs, so that several processes can share them by runs; together those that are of
the same ones."""
PER_RUN = tuple(step for steps in SHARED for step in steps)


def shares(setting: Setting, n: int) -> list[set[str]]:
    """The runs of each of `n` processes, about as long by the forecasts: the longest first, each to the least busy."""
    by_name = commands(setting)
    runs = [set[str]() for _ in range(n)]
    for steps in SHARED:
        busy = [0.0] * n
        seconds = defaultdict[str, float](float)
        for command in (command for step in steps for command in by_name[step]):
            seconds[command.run] += command.seconds
        for run, takes in sorted(seconds.items(), key=lambda one: -one[1]):
            least = busy.index(min(busy))
            runs[least].add(run)
            busy[least] += takes
    return runs


def _contexts(setting: Setting) -> Command:
    size = setting.size
    sources = [str(setting.data / "activitynet_captions" / name) for name in size.captions]
    rules = [] if size.n_folds == 5 else ["--n-folds", str(size.n_folds)]
    rules += ["--min-token-count", "1"] if size.name == "tiny" else []
    splitter = "trees" if size.name == "tiny" else "rules"
    words = ("contexts", *sources, "--out", "contexts.jsonl", "--splitter", splitter, *rules)
    return Command(words, 15, made="contexts.manifest.json")


def _train_lm(setting: Setting, part: int, variant: str) -> Command:
    size = setting.size
    has_books = size.books and not variant
    books = ("--pretrain", str(setting.data / "novels")) if has_books else ()
    flags = dict(zip(size.lm[::2], size.lm[1::2], strict=True))
    if variant:
        flags = {name: flags[name] for name in flags if name not in ("--decay-every", "--pretrain-epochs")}
        flags["--epochs"] = "1"
    hidden = _hidden(size, variant)
    how = (*books, "--hidden", str(hidden), *(word for flag in flags.items() for word in flag))
    words = ("train-lm", "contexts.jsonl", "--out", models_of(variant), *how, "--folds", str(part))
    share = 1.0 if len(size.captions) > 1 else 1 / 3  # of 1.1 million tokens of captions; two passes of 2 of books
    tokens = int(flags["--epochs"]) * (1 - 1 / size.n_folds) * 1.1e6 * share + (4.0e6 if has_books and part == 0 else 0)
    return Command(words, tokens * hidden / 256 / TOKENS_A_SECOND)


def _hidden(size: Size, variant: str) -> int:
    """Units of the language models."""
    return size.hidden // 4 if variant == WEAK else size.hidden


def _generate(setting: Setting, part: int, variant: str) -> Command:
    size = setting.size
    n, out = size.part_rows, f"parts/{part}-{variant}" if variant else f"parts/{part}"
    smaller = {DOUBLE: f"parts/{part}", MANY: f"parts/{part}-{DOUBLE}"}
    reuse = ("--reuse", smaller[variant]) if variant in smaller else ()
    limit = str(TIMES.get(variant, 1) * n)
    which = ("--folds", str(part), "--limit", limit, "--limit-by", "video", "--seed", str(size.seed + part))
    features = "lazy" if variant == MANY else size.features
    what = ("--n-negatives", str(size.n_candidates - 1), "--features", features, *reuse)
    words = ("generate", "contexts.jsonl", "--lms", models_of(variant), "--out", out, *which, *what)
    seconds = FULL_FEATURES if features == "full" else LAZY_FEATURES
    return Command(words, seconds * n * size.n_candidates / 1024 * _hidden(size, variant) / 256)


WIDE = "wide"
"""The folder of a pool of many contexts and as few candidates as a question has."""
N_NEGATIVES = 9
"""Wrong endings of a question."""
DEEP = "deep"
"""The folder of a pool of the same contexts with enough candidates to filter."""
NESTED = "nested"
"""The folder of runs over more and more of its contexts."""


DEALT = "dealt"
"""The variant of a part that has as many of its contexts, others in each."""


def has_wide_folds(setting: Setting) -> bool:
    """Whether the folds are worked on whose contexts are taken in growing numbers."""
    return set(setting.size.wide_folds) <= set(setting.numbers())


def _of_folds(setting: Setting, out: str, counts: Sequence[int], n_negatives: int) -> Iterator[Command]:
    """A pool of the most contexts that are asked for."""
    size = setting.size
    if counts and has_wide_folds(setting):
        folds, n = tuple(map(str, size.wide_folds)), counts[-1]
        which = ("--folds", *folds, "--limit", str(n), "--limit-by", "video", "--seed", "0")
        what = ("--n-negatives", str(n_negatives), "--features", "full")
        words = ("generate", "contexts.jsonl", "--lms", models_of(""), "--out", out, *which, *what)
        yield Command(words, (0.07 + 0.003 * n_negatives) * n * size.hidden / 256)


def nested_cells(setting: Setting) -> list[tuple[int, int]]:
    """Number of contexts and draw of the runs over more and more contexts: a draw of all numbers before the next."""
    size = setting.size
    counts = size.nested[::-1] if has_wide_folds(setting) else ()
    return [(n, draw) for draw in range(size.nested_draws) for n in counts]


def nested_pool(size: Size, n: int, draw: int) -> str:
    """The folder of the pool of `n` contexts; of the most, that of all."""
    return DEEP if n == size.nested[-1] else f"{NESTED}/pool-{n}-{draw}"


def _nested(setting: Setting) -> Iterator[Command]:
    """The runs, then what fresh filters find in them at random and after the first phase."""
    size = setting.size
    n_mlp, n_joint = size.nested_iterations
    schedule = f"mlp:{n_mlp},{size.joint}:{n_joint}"
    filters = ("mlp", size.joint)
    cells = [(f"{NESTED}/{n}-{draw}", n, draw) for n, draw in nested_cells(setting)]
    for out, n, draw in cells:
        how = ("--schedule", schedule, "--audit", "none", "--seed", str(draw))
        seconds = n_mlp * seconds_of_fit("mlp", n) + n_joint * seconds_of_fit(size.joint, n)
        yield Command(("filter", nested_pool(size, n, draw), "--out", out, *how), seconds, run=out)
    for out, n, draw in cells:
        for iteration in (0, n_mlp):
            words = ("audit", out, "--iteration", str(iteration), "--seed", str(draw), "--filters", ",".join(filters))
            yield Command(words, sum(5 * seconds_of_fit(name, n) for name in filters), run=out)


def _filters(setting: Setting) -> Iterator[Command]:
    size = setting.size
    main = size.arms[0]
    for arm in setting.together():
        yield _filter(pool_of_all(arm.pool), arm.name, size, main, size.seed + arm.seed, rows_of(size, arm))
    for out, arm, part in setting.runs():
        yield _filter(setting.pool_of(arm, part), out, size, arm, size.seed + part + arm.seed, rows_of(size, arm))


def pool_of_all(variant: str) -> str:
    """The folder of all parts together."""
    return f"pool-{variant}" if variant else "pool"


def rows_of(size: Size, arm: Arm) -> int:
    """Contexts of the pool that an arm filters, nearly."""
    n = size.part_rows * (len(size.parts_of(arm)) if arm in size.together else 1)
    return n * TIMES.get(arm.pool, 1) // {"half": 2, "quarter": 4}.get(arm.pool, 1)


def _filter(pool: str, out: str, size: Size, arm: Arm, seed: int, n: int) -> Command:
    words = ("filter", pool, "--out", out, "--schedule", size.schedule(arm), "--audit", "none", "--seed", str(seed))
    phases = parse_schedule(size.schedule(arm))
    share = 0.25 if "fixed" in arm.flags else 1.0  # of a fit from scratch, about
    seconds = share * sum(count * seconds_of_fit(name, n) for name, count in phases)
    if size.features == "lazy" and arm.begins_as == arm.name:  # others find most features there
        seconds += _ASKED * (FULL_FEATURES - LAZY_FEATURES) * n * size.n_candidates / 1024
    return Command((*words, *arm.flags), seconds, run=out)


FULL_FEATURES, LAZY_FEATURES = 3.0, 0.9
"""CPU seconds of a context of 1,024 candidates by 256 units, with all features and with those that a draw gives."""
_ASKED = 0.2
"""Of the candidates of a pool, whose other features the first run on it asks for: 0.198 in one part of 2,000 contexts x
1,024, after 100 iterations of the MLP and 3 of the ensemble."""


def seconds_of_fit(name: str, n: int) -> float:
    """CPU seconds of an iteration, or of a fit, with `n` contexts (docs/PERFORMANCE.md)."""
    at = np.log([500, 2000, 10_000])
    per = {"mlp": (0.52, 2.6, 7.7)}.get(name.partition("[")[0], (13.7, 39.1, 160.0))
    low = n / 500 if n < 500 else 1.0
    return float(low * np.exp(np.interp(np.log(max(n, 500)), at, np.log(per))))


def audited(setting: Setting) -> Iterator[tuple[str, int, int]]:
    """The runs that are audited, at which iteration, and the contexts of each.

    Runs on a part begin with the same random assignment, which is audited once, with the first arm; the end of the
    first phase is where one filter has done what it can and the next begins.
    """
    size = setting.size
    ends = {arm.name: sum(n for _, n in parse_schedule(size.schedule(arm))) for arm in size.arms}
    for arm in setting.together():
        for iteration in (0, size.n_mlp, ends["main"]):
            yield arm.name, iteration, rows_of(size, arm)
    for out, arm, _ in setting.runs():
        begins = (0,) if arm.begins_as == arm.name else ()
        for iteration in (*begins, *((size.n_mlp,) if "," in arm.schedule else ()), ends[arm.name]):
            yield out, iteration, rows_of(size, arm)


def _audits(setting: Setting) -> Iterator[Command]:
    for run, iteration, n in audited(setting):
        words = ("audit", run, "--iteration", str(iteration), "--seed", "0")
        again = ("mlp", setting.size.joint)  # those that take part, by fresh fits
        deep = sum(5 * seconds_of_fit(name, n) for name in again)
        if setting.size.audit_seeds == 1:
            yield Command((*words, "--filters", ",".join((*setting.size.unseen, *again))), deep + 5 * n / 500, run=run)
            continue
        seeds = ("--seeds", str(setting.size.audit_seeds))
        cheap = 5 * setting.size.audit_seeds * n / 500
        yield Command((*words, "--filters", ",".join(setting.size.unseen), *seeds), cheap, run=run)
        yield Command((*words, "--filters", ",".join(again)), deep, run=run)


def encoder_name(setting: Setting) -> str:
    """The filter of a pretrained encoder, as `audit` knows it."""
    return f"encoder[{setting.encoder},inputs=second]"


def seconds_of_encoder(n: int) -> float:
    """CPU seconds of an audit of `n` contexts by a pretrained encoder."""
    return 10 * n / 185


def encoder_audited(setting: Setting) -> Iterator[tuple[str, int, int]]:
    """The main runs and those of all parts, at every moment that is audited."""
    for run, iteration, n in audited(setting):
        if "/main-" in run or "/" not in run:
            yield run, iteration, n


def _encoder_audits(setting: Setting) -> Iterator[Command]:
    """An adversary with pretrained weights that took no part."""
    for run, iteration, n in encoder_audited(setting) if setting.encoder else ():
        words = ("audit", run, "--iteration", str(iteration), "--seed", "0", "--filters", encoder_name(setting))
        yield Command(words, seconds_of_encoder(n), run=run)


RELEASED = "runs/main-0"
"""The run whose questions are released, and read."""
UNFILTERED = "released-random"
"""The same questions with the random endings of the start."""


def _release(setting: Setting, out: str, *which: str) -> Command:
    how = ("--n-distractors", "3", "--audit", "none", "--formats", "jsonl")
    words = ("release", RELEASED, "--out", out, *which, *how)
    return Command(words, 20 + rows_of(setting.size, setting.size.arms[0]) / 200, made=out, needs=RELEASED)


def without_places(setting: Setting, text: str) -> str:
    """The text with DATA, ENCODER and OUT for what lies elsewhere."""
    places = {setting.data: "DATA", setting.encoder: "ENCODER", setting.out.resolve(): "OUT"}
    for place, name in places.items():
        text = text.replace(str(place), name) if place else text
    return text


def total_of(made: Sequence[Command]) -> float:
    """CPU seconds of all."""
    return sum(one.seconds for one in made)


def with_hidden(size: Size, hidden: int | None) -> Size:
    """The size with language models of `hidden` units."""
    return size if hidden is None else replace(size, hidden=hidden)
