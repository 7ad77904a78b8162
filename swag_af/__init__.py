"""Adversarial Filtering for multiple-choice datasets that style alone must not solve.

Reading order (each file or folder imports only those named before it):

    options        the options of the verbs from `filter` on
    splits         whole videos held out and dealt into folds
    replacement    which distractors leave and which candidates enter
    runs           a run: start, replacements, log
    verdicts       items that people judge, and what they say of them
    consensus      one judgement an item out of several annotators' verdicts
    reliability    how far annotators agree, in numbers
    agreement      those numbers beside the paper's, in tables
    intervals      how far a share and a paired difference may be from the truth
    audit          how well filters that took no part still find gold
    plot           curves as PNG and SVG
    findings       what audits come to, in rows and sentences
    summary        numbers and tables of runs, as text
    release        a run to a dataset
    verify         people judge the endings of a run
    report_charts  the charts of a report
    report_page    the page around them
    report_subject  what a report tells of, read once
    report_curves  curve, audits and work by iteration
    report_contents  endings and questions before and after
    report_people  what people said, where they were asked
    report_making  command, options, hashes, versions, seconds
    report         the verb `report`
    loop           the verb `filter`: split, fit, score, replace
    show           the verb `show`
    demo           the verb `demo`
    verbs          what each verb prints
    cli            the command line

Below stand `swag_af.lm` and `swag_af.filters`, which do not know each other, and `swag_af.data` below both. The names
here are loaded when first used; importing swag_af imports neither torch nor spaCy.
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
