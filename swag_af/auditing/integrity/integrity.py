"""The integrity of a dataset: duplicates, contradictions, balance of labels, damaged text. Fits nothing.

Every check gives a diagnostic (AF501 to AF516), also where it found nothing. Neither the order of the instances nor
that of their options changes a value, but for the balance of positions.
"""

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.integrity.damaged import damage_diagnostics
from swag_af.auditing.integrity.duplicates import duplicate_diagnostics
from swag_af.auditing.integrity.ids import id_diagnostic
from swag_af.auditing.integrity.labels import label_diagnostics
from swag_af.auditing.integrity.recycled import recycling_diagnostic
from swag_af.auditing.integrity.repeated import repeated_diagnostics
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances


def integrity_diagnostics(instances: Instances, groups: Groups) -> list[Diagnostic]:
    """What all checks of integrity found, by code, then subject; intervals take `groups` as drawn whole."""
    found = [
        *duplicate_diagnostics(instances, groups.numbers),
        *repeated_diagnostics(instances, groups.numbers),
        *label_diagnostics(instances, groups.numbers),
        *damage_diagnostics(instances, groups.numbers),
        id_diagnostic(instances, groups.numbers),
        recycling_diagnostic(instances, groups.numbers),
    ]
    return sorted(found, key=lambda one: (one.code, one.subject))
