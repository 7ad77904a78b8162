"""What a trained NLI model says of pairs of texts, in probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from swag_af.data.disk.manifests import MANIFEST, sha256_file
from swag_af.data.errors import InputError
from swag_af.data.numbers.interval import interval, paired_difference
from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.data.work.progress import note
from swag_af.filters.nli.folder import NLIModel, open_nli


def probabilities(model: NLIModel, firsts: Sequence[str], seconds: Sequence[str]) -> np.ndarray:
    """(q, C) the probability of each of `model.manifest.classes` for q pairs of premise and hypothesis."""
    return shares(model.filter.score_classes(firsts, seconds))


def entailment(firsts: Sequence[str], seconds: Sequence[str], folder: Path | str) -> np.ndarray:
    """(q,) the probability that each of `seconds` follows from its first, by the model in `folder`.

    For all pairs of many texts encode them once: `model.filter.encode_texts` and `compare`, then `shares` and
    `entailment_class`. Raises InputError for lists of other lengths, or of something else than texts.
    """
    are_lists = not isinstance(firsts, str) and not isinstance(seconds, str)
    if (
        not are_lists
        or not len(firsts) == len(seconds) > 0
        or not all(isinstance(one, str) for one in (*firsts, *seconds))
    ):
        raise InputError("entailment takes two lists of as many texts, one pair at least.")
    model = open_nli(folder)
    of_class: np.ndarray = probabilities(model, firsts, seconds)[:, entailment_class(model)]
    return of_class


def either_way(model: NLIModel, firsts: Sequence[str], seconds: Sequence[str]) -> np.ndarray:
    """(q,) the larger of the probabilities that the second of each pair follows from the first, and the first from it.

    Every distinct text is encoded once, for both directions and all its pairs.
    """
    texts = list(dict.fromkeys([*firsts, *seconds]))
    place = {text: i for i, text in enumerate(texts)}
    first, second = (np.array([place[text] for text in side], np.int64) for side in (firsts, seconds))
    encoded, which = model.filter.encode_texts(texts), entailment_class(model)
    there = shares(model.filter.compare(encoded, first, second))[:, which]
    back = shares(model.filter.compare(encoded, second, first))[:, which]
    made: np.ndarray = np.maximum(there, back)
    return made


def entailment_class(model: NLIModel) -> int:
    """The number of the class of what follows; InputError where no class, or more than one, has such a name."""
    found = entailment_classes(model.manifest.classes)
    if len(found) != 1:
        raise InputError(
            f"{model.path}: which of its classes is entailment? They are {', '.join(model.manifest.classes)}. Train it "
            "on data whose classes have names."
        )
    return found[0]


def entailment_classes(classes: Sequence[str]) -> list[int]:
    """The numbers of those of `classes` that have the name of what follows."""
    return [i for i, name in enumerate(classes) if name.lower().startswith("entail")]


def doubt_of(model: NLIModel) -> str:
    """That the model is not seen to know more than which class is the largest; empty where it is."""
    held = model.held_out()
    labels, said, groups = (np.array([getattr(one, name) for one in held]) for name in ("label", "said", "group"))
    largest = np.bincount(labels).argmax()
    hits, guesses = (labels == said).astype(float), (labels == largest).astype(float)
    if paired_difference(guesses, hits, groups).low > 0:
        return ""
    return (
        f"{model.path}: of the held-out pairs it is right in {in_percent(hits.mean())} "
        f"({from_to(*interval(hits, groups))}), and its largest class, {model.manifest.classes[largest]}, is "
        f"{in_percent(guesses.mean())} of them: it is not seen to know anything. Train one on more pairs, for more "
        "--epochs, or with --vectors."
    )


def shares(logits: np.ndarray) -> np.ndarray:
    """(q, C) softmax of `logits` (q, C), float64."""
    raised = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


@dataclass(kw_only=True)
class ByEntailment:
    """A component `nli[FOLDER]` that asks a model of `swag-af train-nli` what follows from what."""

    folder: str
    """What `train-nli` wrote."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    name: ClassVar[str] = "nli"
    argument: ClassVar[str] = "folder"
    """What stands in the brackets of `nli[...]`."""

    def check(self) -> None:
        """Raise InputError where the folder holds no model that can be read, or none that has a class of entailment;
        warn of one that is not seen to know anything."""
        entailment_class(self.model)
        if doubt := doubt_of(self.model):
            note(f"Warning: {doubt}")

    def settings(self) -> dict[str, Any]:
        """The hash of the folder's manifest, in place of its path, and the device."""
        return {"folder": sha256_file(self.model.path / MANIFEST), "device": self.device}

    @cached_property
    def model(self) -> NLIModel:
        """Read once."""
        return open_nli(self.folder, device=self.device)
