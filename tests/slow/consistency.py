"""The slow, obvious twin of consistency: sets as lists of members, one after the other."""

from math import prod

from swag_af.auditing.outcome import Probe
from swag_af.data.instances.instances import Instances


def sets_wholly_right(probe: Probe, instances: Instances) -> dict[str, float]:
    """How far each set is wholly right, of those that the probe scored in full."""
    hits = dict(zip(probe.rows.tolist(), probe.hits.tolist(), strict=True))
    members: dict[str, list[int]] = {}
    for row, one in enumerate(instances.instances):
        if one.contrast_set:
            members.setdefault(one.contrast_set, []).append(row)
    whole = {name: rows for name, rows in members.items() if all(row in hits for row in rows)}
    if not any(len(rows) > 1 for rows in whole.values()):
        return {}
    return {name: prod(hits[row] for row in rows) for name, rows in whole.items()}


def chances_of_sets(instances: Instances, names: list[str]) -> list[float]:
    """Of choices the product of 1 / options; of classes whether all are of the largest class."""
    labels = [one.answer for one in instances.instances]
    largest = max(sorted(set(labels)), key=labels.count)
    found = []
    for name in names:
        mine = [one for one in instances.instances if one.contrast_set == name]
        if instances.kind == "choices":
            found.append(prod(1 / len(one.options) for one in mine))
        else:
            found.append(float(all(one.answer == largest for one in mine)))
    return found


def alike_chances_of_sets(instances: Instances, names: list[str]) -> list[float]:
    """Of choices, 1 / options for each different list of options in a set, and 0 if one has two right options."""
    found = []
    for name in names:
        golds: dict[tuple[str, ...], set[str]] = {}
        for one in instances.instances:
            if one.contrast_set == name:
                golds.setdefault(tuple(sorted(one.options)), set()).add(one.options[one.answer])
        found.append(prod((len(right) == 1) / len(options) for options, right in golds.items()))
    return found
