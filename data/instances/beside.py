"""The columns of a set's files, those that no instance keeps among them."""

from collections.abc import Sequence
from pathlib import Path

from swag_af.data.cells.order import word_or_nothing
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.options import ReadingOptions
from swag_af.data.instances.reading import names_of, sources_of


def columns_beside(paths: Sequence[Path], reading: ReadingOptions, instances: Instances) -> dict[str, list[str]]:
    """By column the text or whole number of each of the N `instances`, which were read of `paths` in this way; empty
    where its row has none, and of our own pools and runs."""
    rows: dict[str, list[int]] = {}
    for row, one in enumerate(instances.instances):
        rows.setdefault(one.where, []).append(row)
    found: dict[str, list[str]] = {}
    sources = sources_of(paths, reading)
    for source, name in zip(sources, names_of([source.path for source in sources]), strict=True):
        for where, record in with_whole_numbers(source, source.columns).read(source.columns):
            for row in rows.get(f"{name}, {where}", ()):
                for column in source.columns:
                    found.setdefault(column, [""] * len(instances))[row] = word_or_nothing(record, column)
    return found
