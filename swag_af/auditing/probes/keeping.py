"""Finished probes, kept while an audit goes on: one that was killed and is typed again makes the others alone.

    .audit.probes/0f3a...9c.npz    a probe, beside the folder of the audit; named by the hash of all that decides it

The folder is gone when the audit is written.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.outcome import Probe
from swag_af.data.disk.files import read_arrays
from swag_af.data.disk.manifests import sha256_json, version_of
from swag_af.data.disk.replacing import replacing
from swag_af.data.errors import FormatError, InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances

DECIDES = ("swag-af", "numpy", "scipy", "scikit-learn", "fasttext", "torch", "transformers", "tokenizers")
"""Packages whose version may change a probe."""
COLUMNS = ("rows", "hits", "probabilities", "scores")
ABOUT = ("input", "model", "folds", "n_folds", "seed", "fitted_on", "scored_on")


@dataclass(frozen=True)
class KeptProbes:
    """The probes of one set of instances that are kept in a folder, which may have those of other sets too."""

    folder: Path
    instances: Instances
    groups: Groups

    def check(self, instances: Instances, groups: Groups) -> None:
        """Raise InputError unless these are the probes of `instances` in `groups`."""
        for what, same in (
            ("instances", self.instances == instances),
            ("groups", np.array_equal(self.groups.numbers, groups.numbers)),
        ):
            if not same:
                raise InputError(
                    f"kept: probes of {self.instances.name} with other {what}, so none would fit {instances.name}. "
                    "Give KeptProbes(folder, instances, groups) with the instances and groups that are audited."
                )

    def has(self, made_by: Mapping[str, Any]) -> bool:
        """Whether the probe that the settings `made_by` decide is there."""
        return self._path(made_by).exists()

    def find(self, made_by: Mapping[str, Any]) -> Probe | None:
        """That probe; None where it is not there, FormatError where it is damaged."""
        path = self._path(made_by)
        if not path.exists():
            return None
        advice = f"Remove {self.folder}, and run the command again."
        kept = read_arrays(path, advice)
        try:
            values: dict[str, Any] = json.loads(str(kept["about"])) | {name: kept[name] for name in COLUMNS}
            return Probe(**values)
        except (KeyError, TypeError, ValueError):
            raise FormatError(f"{path}: not a probe. {advice}") from None

    def keep(self, made_by: Mapping[str, Any], probe: Probe) -> None:
        """Write the probe that `made_by` decides."""
        about = json.dumps({name: getattr(probe, name) for name in ABOUT})
        with replacing(self._path(made_by)) as temporary, temporary.open("wb") as file:
            np.savez(file, about=np.array(about), **{name: getattr(probe, name) for name in COLUMNS})

    def _path(self, made_by: Mapping[str, Any]) -> Path:
        return self.folder / f"{sha256_json({**self._same, **made_by})}.npz"

    @cached_property
    def _same(self) -> dict[str, Any]:
        """What decides every probe: texts, labels, groups, versions."""
        digest, data = hashlib.sha256(), self.instances
        digest.update(repr((data.kind, data.classes, data.has_order)).encode())
        for one in data.instances:
            digest.update(repr(one).encode())
        digest.update(np.ascontiguousarray(self.groups.numbers, np.int64).tobytes())
        return {"data": digest.hexdigest(), "versions": {name: version_of(name) for name in DECIDES}}
