"""Adversarial Filtering for multiple-choice datasets that style alone must not solve.

Reading order (each folder imports only those named before it):

    data       contexts, texts, tags, captions, pools, runs: the ground
    nn         what networks share
    lm         generators of candidate endings
    filters    readers of style
    af         Adversarial Filtering, the algorithm alone
    auditing   how well filters that took no part still find gold
    judging    what people say of endings, and how far they agree
    reporting  a run told to people: curve, tables, page
    releasing  a run to a dataset
    verify     people judge the endings of a run
    cli        the command line

`lm` and `filters` do not know each other, nor do `af`, `auditing` and `judging`. The names here are loaded when first
used; importing swag_af imports neither torch nor spaCy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swag_af.af.loop import filter_pool
    from swag_af.af.options import AFOptions
    from swag_af.auditing.audit import audit_pool
    from swag_af.data.context import Context
    from swag_af.data.errors import SwagAfError
    from swag_af.data.findings import Finding
    from swag_af.data.pool.pool import CandidatePool
    from swag_af.data.run import Run, open_run
    from swag_af.filters.contract import check_filter
    from swag_af.filters.registry import make_filter
    from swag_af.reporting.verb import write_report

_MODULE_OF = {
    "AFOptions": "swag_af.af.options",
    "CandidatePool": "swag_af.data.pool.pool",
    "Context": "swag_af.data.context",
    "Finding": "swag_af.data.findings",
    "Run": "swag_af.data.run",
    "SwagAfError": "swag_af.data.errors",
    "audit_pool": "swag_af.auditing.audit",
    "check_filter": "swag_af.filters.contract",
    "filter_pool": "swag_af.af.loop",
    "make_filter": "swag_af.filters.registry",
    "open_run": "swag_af.data.run",
    "write_report": "swag_af.reporting.verb",
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
