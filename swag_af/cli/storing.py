"""Which verbs take addresses in object stores (`s3://bucket/pool`) in place of paths, and how they are given them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from swag_af.af.options import FilterOptions
from swag_af.auditing.options import AuditOptions
from swag_af.cli.options import ShowOptions
from swag_af.data.captions.options import ContextsOptions
from swag_af.data.disk.urls import check_addresses, urls_in
from swag_af.data.errors import InputError
from swag_af.data.pool.options import PoolOptions, TagOptions
from swag_af.guarding.options import GuardOptions
from swag_af.lm.options import FeaturesOptions, GenerateOptions, TrainLMOptions
from swag_af.releasing.options import ReleaseOptions
from swag_af.reporting.options import ReportOptions

VERBS = {
    ContextsOptions: "contexts",
    TrainLMOptions: "train-lm",
    GenerateOptions: "generate",
    FeaturesOptions: "features",
    PoolOptions: "pool",
    TagOptions: "tag",
    GuardOptions: "guard",
    FilterOptions: "filter",
    AuditOptions: "audit",
    ReportOptions: "report",
    ReleaseOptions: "release",
    ShowOptions: "show",
}
"""The verbs that take addresses, by their options."""

WRITTEN: dict[type, str] = {
    GenerateOptions: "lms",
    FeaturesOptions: "pool",
    TagOptions: "pool",
    GuardOptions: "pool",
    AuditOptions: "data",
    ReportOptions: "run",
}
"""The option, other than `out`, whose folder a verb writes into: it adds to what is there, as `generate` does the
models that are missing."""


@contextmanager
def in_stores(options: Any) -> Iterator[Any]:
    """`options` with local folders for the addresses among them, which are fetched now and sent as they change.

    Raises InputError for verbs that work on local folders alone.
    """
    check_addresses(options)
    urls = urls_in(options)
    if not urls:
        yield options
        return
    if type(options) not in VERBS:
        raise InputError(f"{urls[0]}: only {', '.join(VERBS.values())} take addresses. Copy it to this machine first.")
    from swag_af.data.stores.opened import mirrored

    with mirrored(options, ("out", WRITTEN.get(type(options), "out"))) as local:
        yield local
