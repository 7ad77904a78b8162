"""The instances for which every file has a prediction, where only those are to be scored (`--only-predicted`)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.scoring.figures import members
from swag_af.scoring.reading.predictions import Predictions, given_in


def predicted_rows(instances: Instances, models: Sequence[Predictions]) -> np.ndarray:
    """(n,) the rows that all `models` predict, in order; InputError where there is none."""
    rows = np.flatnonzero(np.all([given_in(instances, one.shares) for one in models], axis=0))
    if not len(rows):
        raise InputError(f"--only-predicted: no instance of {instances.name} has a prediction in every file.")
    return rows


def only_rows(instances: Instances, rows: np.ndarray) -> Instances:
    """The instances `rows`, which are fewer than all, with a note of what is left out.

    A contrast set or a question asked in stages of which not all is there is none any more, since having a part of it
    right is easier.
    """
    kept = instances.take(rows)
    sets = _whole([one.contrast_set for one in instances.instances], rows)
    asked = _whole([one.question for one in instances.instances], rows)
    made = tuple(
        replace(
            one,
            contrast_set=one.contrast_set if one.contrast_set in sets else "",
            question=one.question if one.question in asked else "",
        )
        for one in kept.instances
    )
    return replace(kept, instances=made, notes=(*instances.notes, _note(instances, kept, sets)))


def _whole(names: Sequence[str], rows: np.ndarray) -> set[str]:
    """The names of which no row is missing."""
    given = set(rows.tolist())
    return {name for name, all_rows in members(names).items() if given.issuperset(all_rows)}


def _note(instances: Instances, kept: Instances, sets: set[str]) -> str:
    n = len(instances) - len(kept)
    n_sets = len({one.contrast_set for one in kept.instances if one.contrast_set} - sets)
    cut = f"; {n_sets:,} contrast sets with a part of them are in no figure of sets" if n_sets else ""
    return f"--only-predicted: {n:,} of {len(instances):,} instances have no prediction in every file: left out{cut}"
