"""Adversarial Filtering for multiple-choice datasets that style alone must not solve.

Reading order, each file importing only those before it: `options`, `splits`, `replacement`, `runs`, `audit`, `plot`,
`summary`, `release`, `report_charts`, `report_page`, `report`, `loop`, `show`, `demo`, `verbs`, `cli`. Below stand
`swag_af.lm` and `swag_af.filters`, which do not know each other, and `swag_af.data` below both. The names here are
loaded when first used; importing swag_af imports neither torch nor spaCy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swag_af.audit import Finding, audit_pool
    from swag_af.data.contexts import Context
    from swag_af.data.errors import SwagAfError
    from swag_af.data.pool import CandidatePool
    from swag_af.filters.contract import check_filter
    from swag_af.filters.registry import make_filter
    from swag_af.loop import filter_pool
    from swag_af.options import AFOptions
    from swag_af.report import write_report
    from swag_af.runs import Run, open_run

_MODULE_OF = {
    "AFOptions": "swag_af.options",
    "CandidatePool": "swag_af.data.pool",
    "Context": "swag_af.data.contexts",
    "Finding": "swag_af.audit",
    "Run": "swag_af.runs",
    "SwagAfError": "swag_af.data.errors",
    "audit_pool": "swag_af.audit",
    "check_filter": "swag_af.filters.contract",
    "filter_pool": "swag_af.loop",
    "make_filter": "swag_af.filters.registry",
    "open_run": "swag_af.runs",
    "write_report": "swag_af.report",
}

__all__ = [
    "AFOptions",
    "CandidatePool",
    "Context",
    "Finding",
    "Run",
    "SwagAfError",
    "audit_pool",
    "check_filter",
    "filter_pool",
    "make_filter",
    "open_run",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
