"""What stands in a row of the table: rules, which learn nothing from texts, and learned models with their settings.

`random` guesses: all options tie, and ties are shared, so it has exactly the accuracy that is expected of it. Of
classes it stands for the largest class of the training rows. `length` is two rows, `shortest` and `longest`, by words.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from swag_af.auditing.probes.models import FastTextModel
from swag_af.auditing.probes.probe import DEFAULT_MODELS, FASTTEXT, TFIDF
from swag_af.baselines.conceptnet import ConceptNet, check_conceptnet, conceptnet_scores
from swag_af.baselines.options import BaselinesOptions
from swag_af.data.disk.manifests import sha256_file, sha256_json, sha256_tree
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances, Texts
from swag_af.data.instances.options import AUTO
from swag_af.data.text.wording import words
from swag_af.filters.contract import settings_of
from swag_af.filters.registry import REGISTRY, parse_names
from swag_af.filters.strings import reads_ending_alone

RANDOM, MAJORITY, SHORTEST, LONGEST, CONCEPTNET = "random", "majority", "shortest", "longest", "conceptnet"
LENGTH = "length"
RULES = (RANDOM, MAJORITY, SHORTEST, LONGEST, CONCEPTNET)
TABLE_3 = (RANDOM, LENGTH, TFIDF, FASTTEXT, "lstm", "dualbow", "infersent-mlp", "infersent-bilinear", "decomp", "esim")
"""What is fitted when no models are named, in the order of the paper's table; those that need files are named."""
DRAWS_NOTHING = (*RULES, TFIDF, "ngrams", "chars", "nli")
"""Every seed gives the same, so one is enough."""
OF_OPTIONS = "chooses among options, and these are texts with classes"
"""Why a rule has no row, or no cell, where there are no options."""


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    """As it was asked for: `lstm`, `encoder[PATH]`."""
    vectors: Path | None = None
    """Those of --vectors, where it takes word vectors and its brackets name none."""
    epochs: int = 0
    """Passes at most; 0: its own."""
    device: str = "auto"
    conceptnet: Path | None = None

    @property
    def label(self) -> str:
        """As the table calls it: of a path its last two parts, its settings, and behind them --vectors where
        it reads those."""
        path = self.path
        name = self.name
        if path is not None:
            name = name.replace(str(REGISTRY.parted(name)[1]), "/".join(path.absolute().parts[-2:]), 1)
        return f"{name} + {_stem(self.vectors)}" if self.vectors else name

    @property
    def base(self) -> str:
        """Its name, brackets aside."""
        return self.name.partition("[")[0]

    @property
    def path(self) -> Path | None:
        """The file or folder that stands in its brackets, if there is one of that name."""
        argument = REGISTRY.parted(self.name)[1]
        return Path(argument) if argument and Path(argument).exists() else None

    @property
    def vectors_read(self) -> str:
        """The name of the file of word vectors that it reads, whoever named it; empty without one."""
        if self.vectors is not None:
            return self.vectors.name
        is_filter = not self.is_rule and self.name not in DEFAULT_MODELS
        return Path(str(REGISTRY.in_brackets(self.name).get("vectors", "") if is_filter else "")).name

    @property
    def is_rule(self) -> bool:
        """Whether it is fitted on no texts."""
        return self.name in RULES

    @property
    def draws(self) -> bool:
        """Whether its fits differ by seed."""
        return self.base not in DRAWS_NOTHING

    @cached_property
    def reads(self) -> Literal["ending", "two", "any"]:
        """`ending` for what reads options alone, `two` for what needs two texts; else `any`."""
        made = None if self.is_rule else self.make()
        if reads_ending_alone(made):
            return "ending"
        return "any" if getattr(made, "reads_one", True) else "two"

    def make(self) -> Any:
        """A new model with its settings; raises InputError where it cannot be used on this machine."""
        if self.name == TFIDF:
            return TFIDF
        if self.name == FASTTEXT:
            made: Any = FastTextModel()
            made.settings = replace(made.settings, epochs=self.epochs) if self.epochs else made.settings
            return made
        REGISTRY.find(self.name, beside=(RANDOM, LENGTH, *RULES, *DEFAULT_MODELS))
        made = REGISTRY.make(self.name)
        settings = {"vectors": str(self.vectors or ""), "max_epochs": self.epochs, "device": self.device}
        settings |= {"epochs": self.epochs} if self.base == FASTTEXT else {}
        for name, value in settings.items():
            if value and hasattr(made, name) and name not in REGISTRY.written(self.name):  # brackets decide
                setattr(made, name, value)
        getattr(made, "check", lambda: None)()
        return made

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What decides its figures beside data and seed: hashes in place of files, and no device."""
        if self.name == CONCEPTNET:
            assert self.conceptnet is not None
            check_conceptnet(self.conceptnet)
            return {"conceptnet": sha256_file(self.conceptnet)}
        if self.is_rule or self.name == TFIDF:
            return {}
        made = self.make()
        found = asdict(made.settings) if isinstance(made, FastTextModel) else settings_of(made)
        kept = {name: _plain(value) for name, value in found.items() if name != "device"}
        named = getattr(made, "argument", "")
        if self.path is None or named not in kept:
            return kept
        if str(found[named]) == REGISTRY.parted(self.name)[1]:
            files = sha256_tree(self.path)
        else:  # it says which of its files decide
            files = found[named] if isinstance(found[named], str) else sha256_json(found[named])
        return {name: value for name, value in kept.items() if name != named} | {"files": files}


def rows_asked(options: BaselinesOptions, instances: Instances) -> tuple[list[Row], list[str]]:
    """The rows of the table, checked, and what had to be left out of the default ones.

    Raises one InputError that names every model which was asked for and cannot be used.
    """
    is_auto = options.models == AUTO
    named = [name for name in TABLE_3 if _is_known(name)] if is_auto else parse_names("--models", options.models)
    names = [*named, *([CONCEPTNET] if is_auto and options.conceptnet else [])]
    rows, faults = [], []
    for name in _expanded(names, instances):
        row = Row(name, epochs=options.epochs, device=options.device, conceptnet=options.conceptnet)
        try:
            row = replace(row, vectors=options.vectors) if options.vectors and _takes_vectors(row) else row
            _ = row.settings
            rows.append(row)
        except InputError as fault:
            faults.append(str(fault))
    if faults and not is_auto:
        raise InputError(" ".join(dict.fromkeys(faults)))
    _check_labels(rows)
    if options.vectors and not any(row.vectors for row in rows):
        raise InputError(
            f"--vectors {options.vectors}: none of the models reads word vectors, or their brackets name others. Name "
            "one that reads these."
        )
    has_no_length = LENGTH in names and instances.kind == "classes"
    return rows, [f"left out: {fault}" for fault in ([f"{LENGTH}: {OF_OPTIONS}"] if has_no_length else []) + faults]


def _check_labels(rows: Sequence[Row]) -> None:
    """Raise InputError where two models have one name in the table: their figures would be taken for two seeds."""
    of: dict[str, Row] = {}
    for row in rows:
        if of.setdefault(row.label, row).settings != row.settings:
            raise InputError(
                f"--models: {of[row.label].name} and {row.name} are both {row.label} in the table. Rename a folder, or "
                "give each an --out of its own."
            )


def rule_scores(row: Row, texts: Texts, answers: np.ndarray, n_classes: int) -> np.ndarray:
    """(M,) the scores that a rule gives every answer; `answers` are those of the training rows."""
    if row.name == CONCEPTNET:
        assert row.conceptnet is not None
        return conceptnet_scores(ConceptNet.read(row.conceptnet), texts)
    if row.name in (SHORTEST, LONGEST):
        lengths = np.array([len(words(option)) for option in texts.options], np.float64)
        return lengths if row.name == LONGEST else -lengths
    if row.name == MAJORITY:
        return np.tile(np.bincount(answers, minlength=n_classes).astype(np.float64), len(texts))
    return np.zeros(int(texts.offsets[-1]))


def _expanded(names: Sequence[str], instances: Instances) -> list[str]:
    """`length` is two rules, and guessing of classes is naming the largest."""
    stand = {LENGTH: [SHORTEST, LONGEST]} if instances.kind == "choices" else {LENGTH: [], RANDOM: [MAJORITY]}
    return list(dict.fromkeys(one for name in names for one in stand.get(name, [name])))


def _is_known(name: str) -> bool:
    return name in (RANDOM, LENGTH, *DEFAULT_MODELS) or name in REGISTRY.names()


def _takes_vectors(row: Row) -> bool:
    """Whether it reads word vectors, and its brackets name none."""
    if row.is_rule or row.name in DEFAULT_MODELS or "vectors" in REGISTRY.written(row.name):
        return False
    return hasattr(row.make(), "vectors")


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _stem(path: Path | None) -> str:
    """`glove.6B.300d` of `glove.6B.300d.txt.gz`."""
    name = path.name if path else ""
    for suffix in (".gz", ".txt", ".vec", ".bz2"):
        name = name.removesuffix(suffix)
    return name


def settings_key(row: Row) -> str:
    """Eight hexadecimal digits of its settings."""
    return hashlib.sha256(sha256_json(row.settings).encode()).hexdigest()[:8]
