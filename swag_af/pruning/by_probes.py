"""The probes of an audit as a measure of predictability: how much of the question they answer together, out of fold.

Every round makes them anew on what is left, with other folds of whole groups, and stacks them as the tiers of an audit
do (`swag_af.auditing.tiers`), so probes that found nothing choose nobody. Where labels are noise, hardly any instance
reaches the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.probes.inputs import MAIN, input_names
from swag_af.auditing.probes.probe import AnyModel, planned, probes
from swag_af.auditing.tiers import answered, baseline, tiers_of
from swag_af.data.errors import InputError
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances


@dataclass(frozen=True)
class ByProbes:
    """How predictable the instances of a set are to probes, round after round."""

    instances: Instances
    groups: np.ndarray
    """(N,) what folds keep whole."""
    inputs: Sequence[str]
    models: Sequence[AnyModel]
    n_folds: int = 5
    seed: int = 0

    def predictability(self, rows: np.ndarray, round: int) -> np.ndarray:
        """(r,) the share of the information on gold that probes of `rows` (r,) have, below 0 where they mislead.

        Depends on seed and round, and on nothing that happened before. Raises InputError where no probe can be made.
        """
        left = self.instances.take(rows)
        groups = Groups(self.groups, "of what is left").take(rows)
        seed = int(np.random.SeedSequence((self.seed, round, *b"probes")).generate_state(1)[0])
        tasks = planned(left, groups, inputs=self.inputs, models=self.models, n_folds=self.n_folds, seeds=(seed,))
        made = probes(left, groups, tasks)
        tiers = tiers_of(made.found, left)
        if tiers is None:
            raise InputError(f"--by probes: none could be made. {'; '.join(made.left_out)}")
        return answered(tiers.probability, baseline(left))


def main_inputs(instances: Instances) -> tuple[str, ...]:
    """The partial inputs where artifacts are looked for first, of those that `instances` have."""
    return tuple(name for name in input_names(instances.texts) if name in MAIN)
