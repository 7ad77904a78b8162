"""Typed records: what a JSON object of ours must contain, checked against a type before anything uses it.

`parse_record` turns a JSON value into a dataclass, a TypedDict or a list of numbers, or says in one line which field is
missing or wrong. Manifests have their types here, by kind. Unknown fields are ignored: later releases may add some.
Reads no files.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Annotated, Any, Literal, NotRequired, TypedDict, TypeVar

import msgspec

from swag_af.data.errors import FormatError, SwagAfError

T = TypeVar("T")

Count = Annotated[int, msgspec.Meta(ge=0)]
"""A number of things."""
Size = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]
"""The length of an axis."""
Name = Annotated[str, msgspec.Meta(pattern=r"^[^/\\\x00]*[^/\\\x00.][^/\\\x00]*$")]
"""The name of a file, without a folder."""
PathText = Annotated[str, msgspec.Meta(pattern=r"^[^\x00]+$")]
"""A path."""
FoldName = Annotated[str, msgspec.Meta(pattern=r"^\d{1,9}$")]
"""A fold number as a JSON key."""
Phase = tuple[str, Size]
"""A filter, and the iteration that it begins with."""
Filters = dict[str, dict[str, Any]]
Counts = dict[str, Count]

UNMEASURED = ("forward", "backward")
"""Perplexities, which are NaN where there was no sentence to measure them on."""

LARGEST = (1 << 63) - 1
"""Whole numbers beyond this fit into no table."""


class ShardEntry(TypedDict):
    """A shard in the manifest of its pool."""

    name: Name
    n_rows: Count
    sha256: str
    unguarded_sha256: NotRequired[str]


class FinishedShard(ShardEntry):
    """The content of `shard.json`."""

    tables: list[Name]
    n_candidates: Size


class Perplexity(TypedDict):
    """Token perplexity in each direction."""

    forward: float
    backward: float


class TrainedOn(TypedDict):
    """What trained a language model from an epoch on."""

    from_epoch: Size
    device: str
    threads: Size


class FoldManifest(TypedDict):
    """A fold's finished language model."""

    fold: Count
    best_epoch: Count
    held_out_perplexity: Perplexity
    fold_perplexity: Perplexity
    weights_sha256: str
    trained_on: NotRequired[list[TrainedOn]]


class PretrainedManifest(TypedDict):
    """The finished model that all folds start from."""

    weights_sha256: str
    trained_on: NotRequired[list[TrainedOn]]


class LMManifest(TypedDict):
    """A folder of language models."""

    options: dict[str, Any]
    corpus_sha256: str
    seed: Count
    vocabulary_sha256: NotRequired[str]
    folds_sha256: NotRequired[str]
    books_sha256: NotRequired[str | None]


class Plan(TypedDict):
    """What decides the bytes of a generated pool."""

    lms: NotRequired[dict[FoldName, str]]


class LazyPlan(TypedDict):
    """The same of a pool whose features are computed when they are used."""

    lms: dict[FoldName, str]
    device: Literal["cpu", "cuda"]
    output_precision: Literal["fp32", "bf16"]


class AnyPool(TypedDict):
    """A pool, finished or not."""

    complete: bool


class SurfaceFeature(TypedDict):
    """A difference in form between gold and negatives."""

    feature: str
    rule: str
    accuracy: float
    chance: float
    n_rows: Count
    n_differing: Count
    z: float
    low: NotRequired[float | None]
    high: NotRequired[float | None]


class ModelOfPool(TypedDict):
    """What a pool keeps of the report of a fold's language model."""

    fold_perplexity: Perplexity


class MadeBy(TypedDict):
    """What made a folder."""

    verb: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    normalise: NotRequired[bool]


class GuardEntry(TypedDict):
    """A guard whose scores a pool has."""

    name: str
    threshold: float
    excludes: bool
    about: str
    settings: dict[str, Any]


class PromptRecord(TypedDict):
    """What a language model was told."""

    task: str
    sha256: str
    shows_gold: bool
    name: NotRequired[str]


class OwnRecord(TypedDict):
    """What a generator or a scorer says of itself; it adds what it likes."""

    name: NotRequired[str]
    model: NotRequired[str]
    prompt: NotRequired[PromptRecord]
    foreign: NotRequired[bool]


class GeneratorRecord(TypedDict):
    """What wrote the endings of a pool; a generator adds what it likes."""

    name: str
    model: NotRequired[str]
    prompt: NotRequired[PromptRecord]


class PoolManifest(AnyPool):
    """A finished pool."""

    n_rows: Size
    n_candidates: Size
    tables: list[Name]
    vocabulary_sha256: str
    shards: Annotated[list[ShardEntry], msgspec.Meta(min_length=1)]
    feature_names: NotRequired[list[str]]
    lazy_features: NotRequired[list[str]]
    lms_path: NotRequired[PathText]
    generator: NotRequired[GeneratorRecord]
    tagger: NotRequired[str]
    context_tagger: NotRequired[str | None]
    plan: NotRequired[Plan]
    n_draws: NotRequired[Count]
    rejected_draws: NotRequired[Counts]
    drops: NotRequired[Counts]
    copied_rows: NotRequired[Count]
    dropped_negatives: NotRequired[Counts]
    contexts: NotRequired[Counts | None]
    shared_texts: NotRequired[dict[str, int | bool]]
    surface: NotRequired[list[SurfaceFeature]]
    lms: NotRequired[dict[FoldName, ModelOfPool]]
    features_by: NotRequired[dict[str, Any]]
    guards: NotRequired[list[GuardEntry] | None]
    rows_dropped_by_guards: NotRequired[Count]
    no_longer_kept_out: NotRequired[Counts | None]
    made_by: NotRequired[MadeBy | None]


class AnyRunOptions(TypedDict):
    """The options of any run: one of somebody's own script may have none."""

    rule: NotRequired[str]
    pick: NotRequired[str]
    seed: NotRequired[Count]


class OtherStage(TypedDict):
    """The run of the other questions that were matched with those of a run."""

    run: PathText
    pool_identity: str


class Matching(TypedDict):
    """How `swag-af match` chose the wrong answers of a run."""

    weight: float
    relevance: str
    similarity: str
    said: list[str]
    cautions: NotRequired[list[str]]
    rationales: NotRequired[OtherStage]


class RunManifest(TypedDict):
    """A run."""

    pool: PathText
    pool_identity: str
    unguarded_identity: NotRequired[str]
    phases: NotRequired[list[Phase]]
    filters: NotRequired[Filters]
    answered_by: NotRequired[Filters]
    options: NotRequired[AnyRunOptions]
    n_planned: NotRequired[Count]
    made_by: NotRequired[MadeBy | None]
    matching: NotRequired[Matching]
    threads: NotRequired[Size]


class RunOptions(TypedDict):
    """The options of a run that are shown, or used again."""

    rule: str
    pick: str
    seed: Count


class FilteredRun(TypedDict):
    """A run that `swag-af filter` began."""

    phases: list[Phase]
    options: RunOptions
    n_planned: Count


class MatchedOptions(TypedDict):
    """The options of a matching that are used again."""

    seed: Count


class MatchedRun(TypedDict):
    """A run that `swag-af match` made: all is assigned from the start, and no filter takes part."""

    matching: Matching
    options: MatchedOptions


class PairCounts(TypedDict):
    """The counts of pairs that every table of drops has, beside the reasons."""

    pairs: Count
    kept: Count


class ContextsManifest(TypedDict):
    """What stands beside a file of contexts."""

    drops: Counts
    sha256: str
    dropped_sha256: str


class Verified(TypedDict):
    """The verdicts behind a dataset."""

    n_verdicts: Count
    n_annotators: Count
    n_annotators_dropped: Count
    judge: str


class StyleSummary(TypedDict):
    """What audits found in a dataset, in words."""

    summary: str


class RationalesSummary(TypedDict):
    """The questions of a dataset that ask for the rationale of an answer."""

    n_questions: Count
    splits: Counts


class DatasetManifest(TypedDict):
    """A released dataset."""

    n_questions: Count
    n_choices: Size
    splits: Counts
    human_verdicts: Verified | None
    n_generated_answers: Count
    left_out: Counts
    audits: NotRequired[StyleSummary]
    rationales: NotRequired[RationalesSummary]
    formats: NotRequired[list[str]]
    harness_tasks: NotRequired[list[str]]


MANIFESTS: dict[str, Any] = {
    "pool": AnyPool,
    "run": RunManifest,
    "lm": LMManifest,
    "lm-fold": FoldManifest,
    "lm-pretrained": PretrainedManifest,
    "contexts": ContextsManifest,
    "dataset": DatasetManifest,
}
"""The type of the manifests of each kind; other kinds are read by nobody but their own writers."""

AGAIN = "Make it again with the command that wrote it."


def parse_record(
    value: Any, kind: type[T], where: object, advice: str = AGAIN, *, error: type[SwagAfError] = FormatError
) -> T:
    """`value`, made of dictionaries and lists, as an instance of `kind`; `error` names the first wrong field.

    Numbers must be finite, and whole numbers within 64 bits. `where` is the file, or the file and the line.
    """
    try:
        found = msgspec.convert(value, kind)
    except msgspec.ValidationError as found_wrong:
        fault, _, place = str(found_wrong).partition(" - at ")
        raise error(f"{where}: {_field(place)}{_plain(fault)}. {advice}") from None
    except (OverflowError, RecursionError, ValueError) as found_wrong:  # a number that fits no float, a wrong option
        raise error(f"{where}: {found_wrong}. {advice}") from None
    if bad := strange_number(found):
        raise error(f"{where}: {bad}. {advice}")
    return found


def check_record(
    value: Any, kind: Any, where: object, advice: str = AGAIN, *, error: type[SwagAfError] = FormatError
) -> None:
    """As `parse_record`, for a value that is used as it is."""
    parse_record(value, kind, where, advice, error=error)


def _field(place: str) -> str:
    """The path of a field in words: `$.shards[0].n_rows` -> `shards[0].n_rows: `."""
    name = place.strip("`").removeprefix("$").removeprefix(".")
    return f"{name}: " if name else ""


def _plain(fault: str) -> str:
    """The fault without code marks, and without a capital."""
    return (fault[:1].lower() + fault[1:]).replace("`", "")


def strange_number(value: Any, at: str = "") -> str:
    """The first number that is infinite, NaN or beyond 64 bits, in words; empty if there is none. `at` is its place."""
    if isinstance(value, float):
        return "" if isfinite(value) else f"{at or 'value'}: {value} is not a finite number"
    if isinstance(value, int):
        return "" if -LARGEST <= value <= LARGEST else f"{at or 'value'}: a whole number beyond 64 bits"
    return next(filter(None, (strange_number(inner, name) for name, inner in _inner(value, at))), "")


def _inner(value: Any, at: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        named = ((f"{at}.{name}" if at else str(name), name, inner) for name, inner in value.items())
        return ((place, inner) for place, name, inner in named if name not in UNMEASURED or inner == inner)
    if isinstance(value, list | tuple):
        return ((f"{at}[{i}]", inner) for i, inner in enumerate(value))
    if is_dataclass(value):
        return ((f"{at}.{f.name}" if at else f.name, getattr(value, f.name)) for f in fields(value))
    return ()
