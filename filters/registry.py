"""Filters by name: ours, those that installed packages announce in `swag_af.filters`, or `package.module:Class`.

How names are read says `swag_af.data.plugins.registry`. Imports no filter by itself.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from swag_af.data.errors import InputError
from swag_af.data.plugins.registry import Registry, split_names

if TYPE_CHECKING:
    from swag_af.filters.contract import Filter

FILTERS: dict[str, str] = {
    "mlp": "swag_af.filters.members:MLPFilter",
    "bow": "swag_af.filters.members:BagOfWordsFilter",
    "cnn": "swag_af.filters.members:CNNFilter",
    "poslstm": "swag_af.filters.members:PosLSTMFilter",
    "ensemble": "swag_af.filters.members:EnsembleFilter",
    "ngrams": "swag_af.filters.estimators:NgramFilter",
    "chars": "swag_af.filters.estimators:CharFilter",
    "fasttext": "swag_af.filters.fast_text:FastTextFilter",
    "transformer": "swag_af.filters.transformer:TransformerFilter",
    "dualbow": "swag_af.filters.pairs.members:DualBowFilter",
    "infersent-mlp": "swag_af.filters.pairs.members:InferSentMLPFilter",
    "infersent-bilinear": "swag_af.filters.pairs.members:InferSentBilinearFilter",
    "lstm": "swag_af.filters.pairs.members:LSTMFilter",
    "decomp": "swag_af.filters.pairs.members:DecompFilter",
    "esim": "swag_af.filters.pairs.members:ESIMFilter",
    "nli": "swag_af.filters.nli.member:NLIFilter",
    "encoder": "swag_af.filters.encoder:EncoderFilter",
    "judge": "swag_af.filters.judge.judge:JudgeFilter",
}
REGISTRY = Registry(
    "filter",
    FILTERS,
    {"transformer": "path/to/model", "encoder": "path/to/model", "nli": "folder of train-nli", "judge": "URL"},
    "swag_af.check_filter",
)

LABELS = {
    "mlp": "LM perplexity MLP",
    "bow": "bag of words",
    "cnn": "CNN",
    "poslstm": "POS BiLSTM",
    "ensemble": "ensemble",
    "ngrams": "n-gram regression",
    "fasttext": "fastText",
    "chars": "character n-grams",
    "dualbow": "DualBoW",
    "infersent-mlp": "InferSent-MLP",
    "infersent-bilinear": "InferSent-Bilinear",
    "lstm": "LSTM sequence model",
    "decomp": "decomposable attention",
    "esim": "ESIM",
    "nli": "NLI probabilities",
    "transformer": "fine-tuned transformer",
    "encoder": "frozen encoder",
    "judge": "zero-shot judge",
}
"""How filters are called where there is room for words, brackets aside."""

PRETRAINED = ("transformer", "encoder", "judge")
"""Filters that begin from a model which has read much else."""

DEFAULT_AUDIT = ("ngrams", "chars", "fasttext")
"""Audit filters when none are named: a logistic regression on bags of n-grams, another on the characters as they are
written, and fastText."""


def make_filter(name: str, *, beside: Sequence[str] = (), **settings: Any) -> "Filter":
    """A new, unfitted filter; raises InputError for an unknown name or a setting that it does not take. `beside` are
    names of other things that the caller takes, for that error to list."""
    from swag_af.filters.contract import check_is_filter

    REGISTRY.find(name, beside=beside)
    if twice := sorted(REGISTRY.written(name) & settings.keys()):
        raise InputError(f"filter {name}: {twice[0]} is given twice.")
    made: Filter = REGISTRY.make(name, **settings)
    check_is_filter(made, name)
    return made


def label_of(name: str) -> str:
    """How the filter of that name is called where there is room for words; of a long path the end:
    `frozen encoder (models/minilm, inputs=second)`."""
    head, _, settings = name.partition("[")
    label = LABELS.get(head, head)
    if not settings:
        return label
    first, *others = (part.strip() for part in split_names(settings.removesuffix("]")))
    end = first if "://" in first else "/".join(part for part in PurePath(first).parts[-2:] if part != "/")
    return f"{label} ({', '.join([end, *others])})"


def is_pretrained(name: str) -> bool:
    """Whether the filter of that name, with or without brackets, is one of `PRETRAINED`."""
    return name.partition("[")[0] in PRETRAINED


def filter_names() -> list[str]:
    """The names that `make_filter` takes as they are, ours first."""
    return [name for name in REGISTRY.names() if name not in REGISTRY.takes]


def parse_names(flag: str, text: str) -> tuple[str, ...]:
    """`"ngrams, fasttext"` to `("ngrams", "fasttext")`, `"none"` to `()`; InputError for a blank or repeated name.

    Commas in brackets part nothing: `encoder[path,inputs=ending]` is one name.
    """
    names = tuple(part.strip() for part in split_names(text))
    if names == ("none",):
        return ()
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{flag} {text}: a name is blank or repeated. Write it like ngrams,fasttext.")
    return names


MOST_ITERATIONS = 10_000_000
"""A phase has fewer: a number of more digits is a mistake."""


def parse_schedule(text: str) -> tuple[tuple[str, int], ...]:
    """`"mlp:100,ensemble:40"`, filters and iterations, to `(("mlp", 100), ("ensemble", 40))`; InputError for anything
    else."""
    phases = []
    for part in split_names(text):
        name, _, count = part.strip().rpartition(":")
        if name and count.isdecimal() and len(count.lstrip("0")) > 7:  # before `int`, which takes 4,300 digits
            raise InputError(f"--schedule {text[:80]}: COUNT is below {MOST_ITERATIONS:,}. Ask for fewer iterations.")
        count = count.lstrip("0") or count[:1]
        if name and count.isdecimal() and int(count) < 1:
            raise InputError(
                f"--schedule {text[:80]}: {part.strip()[:80]!r}: COUNT is 1 or more. Leave out a filter that has none."
            )
        if part.count("[") > part.count("]"):
            raise InputError(f"--schedule {text}: {part.strip()!r} opens a bracket and does not close it.")
        if not name or not count.isdecimal():
            raise InputError(
                f"--schedule {text}: {part.strip()!r} is not NAME:COUNT. Write it like mlp:100,ensemble:40."
            )
        phases.append((name, int(count)))
    return tuple(phases)
