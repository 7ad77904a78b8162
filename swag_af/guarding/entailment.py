"""The guard `nli[FOLDER]`: an ending that follows from gold, or gold from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from swag_af.data.files import MANIFEST, sha256_file
from swag_af.data.pool.pool import View
from swag_af.filters.nli.entailing import either_way, entailment_class
from swag_af.filters.nli.folder import NLIModel, open_nli


@dataclass(kw_only=True)
class EntailmentGuard:
    """The larger of the probabilities that the second sentence with the ending follows from that with gold, and
    the other way round, by a model of `swag-af train-nli`."""

    folder: str
    """What `train-nli` wrote."""
    device: str = "auto"
    """`cpu`, `cuda`, or `auto`: cuda where there is one."""

    name: ClassVar[str] = "nli"
    argument: ClassVar[str] = "folder"
    threshold: ClassVar[float] = 0.9
    excludes: ClassVar[bool] = True
    about: ClassVar[str] = "entails gold's sentence, or follows from it"

    def check(self) -> None:
        """Raise InputError where the folder holds no model that can be read, or none that knows entailment."""
        entailment_class(self.model)

    def settings(self) -> dict[str, Any]:
        """The hash of the folder's manifest, in place of its path, and the device."""
        return {"folder": sha256_file(self.model.path / MANIFEST), "device": self.device}

    @cached_property
    def model(self) -> NLIModel:
        """Read once."""
        return open_nli(self.folder, device=self.device)

    def score(self, view: View) -> np.ndarray:
        """(n, m) float32 probabilities."""
        n, m = view.shape
        golds = [context.sentences[1] for context in view.contexts for _ in range(m)]
        seconds = [
            f"{context.start} {text}"
            for context, texts in zip(view.contexts, view.texts, strict=True)
            for text in texts
        ]
        return either_way(self.model, golds, seconds).astype(np.float32).reshape(n, m)
