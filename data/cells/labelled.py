"""Sources with their labels: a file or folder as it is, one whose labels stand in a second file, a released folder.

    swag-af release        train.csv, val.csv, and test.csv with its labels in test_labels.csv; where it has rationales
                           and both questions of a row are wanted, files of the same names in stages/, with both labels
    PIQA, aNLI             train.jsonl and train-labels.lst, a label a line

A label is joined to its row by the id that both have, or by their order, which is said. What labels mean is decided in
`labels`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swag_af.data.cells.values import word_of
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.errors import InputError, RowError, several
from swag_af.data.files import check_is_file, read_lines
from swag_af.data.manifests import MANIFEST, read_manifest
from swag_af.data.sources import Record, Records, Source, open_source, open_sources

LABEL_NAMES = ("label", "labels", "answer", "answerKey", "answer_key", "gold_label", "gold", "target", "correct")
"""Names of the column of labels in a file of labels."""

IDS = (
    *("id", "qid", "questionid", "exampleid", "uid", "pairid", "idx", "index", "ind", "identifier", "docid", "itemid"),
    *("instanceid", "niid"),
)
"""Names of a column of ids, in small letters, without other signs."""

_TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def open_labelled(
    paths: Sequence[Path],
    format: str = "auto",
    *,
    labels_file: Path | None = None,
    label: str = "",
    id: str = "",
    stages: bool = True,
) -> list[Source]:
    """The sources at `paths`, those of every split where a path has several, with their labels.

    `labels_file` has the labels of the only one of them; it and the source name a row by the column `id`, where both
    have it. The source gets them as its column `label`. Of a release with rationales both questions of a row are read
    with `stages`, the first alone without. Raises InputError where labels do not fit.
    """
    sources = [source for path in paths for source in _sources_at(path, format, stages)]
    if labels_file is None:
        return sources
    if len(sources) != 1:
        raise InputError(f"{labels_file}: labels of one source, and {len(sources)} are named. Name them one by one.")
    return [with_labels(sources[0], labels_file, label=label, id=id)]


def _sources_at(path: Path, format: str, stages: bool) -> list[Source]:
    is_ours = format in ("auto", "csv") and path.is_dir() and (path / MANIFEST).is_file()
    return released(path, stages=stages) if is_ours else open_sources(path, format)


def released(folder: Path, *, stages: bool = True) -> list[Source]:
    """The splits of a folder of `swag-af release`, with the labels of its test; `stages` as `open_labelled` says."""
    manifest = read_manifest(folder, "dataset")
    splits = [split for split, n in manifest["splits"].items() if n > 0]
    if not splits:
        raise InputError(f"{folder}: no questions in it. Release the run again.")
    if stages and "rationales" in manifest:
        both = [(split, _of_stages(folder / "stages" / f"{split}.jsonl", split)) for split in splits]
        return [_with_own_rows(source, folder / f"{split}.csv") for split, source in both]
    sources = [replace(open_source(folder / f"{split}.csv", "csv"), split=split) for split in splits]
    return [_with_own_ids(_with_own_labels(source), folder) for source in sources]


def _of_stages(path: Path, split: str) -> Source:
    """A split whose rows are two questions each (layout `vcr`), with the labels of both."""
    source = replace(open_source(path, "jsonl"), split=split)
    if "answer_label" in source.columns:
        return source
    labels = open_source(path.with_name(f"{path.stem}_labels.jsonl"), "jsonl")

    def read(columns: Sequence[str]) -> Records:
        of_row = {row["annot_id"]: row for _, row in labels.read(labels.columns)}
        for where, row in source.read([name for name in columns if name in source.columns]):
            if row.get("annot_id") not in of_row:
                raise InputError(f"{labels.path}: no label of {row.get('annot_id')} ({path}). Release the run again.")
            yield where, {**row, **of_row[row["annot_id"]]}

    given = tuple(dict.fromkeys((*source.columns, *labels.columns)))
    return replace(source, columns=given, read=read, labels_file=labels.path)


def _with_own_rows(source: Source, regular: Path) -> Source:
    """`source` of both questions with the `fold-ind` that the first ones have in `regular`, in the same order; as it is
    where the release has no such file."""
    if not regular.is_file():
        return source
    own = open_source(regular, "csv")

    def read(columns: Sequence[str]) -> Records:
        asked = [name for name in columns if name in source.columns]
        if "fold-ind" not in columns:
            yield from source.read(asked)
            return
        of_run = (row for _, row in own.read(["startphrase", "fold-ind"]))
        for where, row in source.read([*dict.fromkeys([*asked, "question"])]):
            one = next(of_run, {})
            if str(one.get("startphrase")).split() != str(row.get("question")).split():
                raise InputError(f"{regular}: other questions than {source.path} has ({where}). Release the run again.")
            yield where, {**row, "fold-ind": one["fold-ind"]}

    return replace(source, columns=(*source.columns, "fold-ind"), read=read)


def _with_own_labels(source: Source) -> Source:
    apart = source.path.with_name(f"{source.path.stem}_labels.csv")
    return source if "label" in source.columns else with_labels(source, apart, label="label", id="")


def _with_own_ids(source: Source, folder: Path) -> Source:
    """`source` with the `id`, `row` and `source` of its questions, of which CSV as SWAG's has no columns, from
    `jsonl/`; as it is where the release has none."""
    name = {"val": "validation"}.get(source.split, source.split)
    path = folder / "jsonl" / f"{name}.jsonl"
    if not path.is_file() or {"id", "row"} & set(source.columns):
        return source
    own = open_source(path, "jsonl")

    def read(columns: Sequence[str]) -> Records:
        asked = dict.fromkeys([*(one for one in columns if one in source.columns), "fold-ind"])
        named = (row for _, row in own.read(["id", "row", "source"]))
        for where, row in source.read([*asked]):
            ids = next(named, {})
            if str(ids.get("row")) != str(row.get("fold-ind")):
                raise InputError(f"{path}: other questions than {source.path} has ({where}). Release the run again.")
            yield where, {**row, **ids}

    said = "; ".join(filter(None, [source.said, f"ids of jsonl/{path.name}"]))
    return replace(source, columns=(*source.columns, "id", "row", "source"), read=read, said=said)


def with_labels(source: Source, labels_file: Path, *, label: str, id: str) -> Source:
    """`source` with a column `label` from `labels_file`, joined by the column `id` if both have it, else by another of
    `IDS` that both have, else by order.

    The file is a table (JSONL, CSV ...), or has a label a line. Raises InputError when the rows are read, if there are
    not as many labels as rows, or a row has none.
    """
    labels = _read_labels(labels_file, label, id, source.columns)
    source = with_whole_numbers(source, [labels.id])
    given = label in source.columns

    def read(columns: Sequence[str]) -> Records:
        own = dict.fromkeys(name for name in (*columns, labels.id) if name in source.columns)
        return labels.joined(source.read(list(own)), source.path, label)

    columns = source.columns if given else (*source.columns, label)
    how = f"joined by {labels.id}" if labels.id else "in the order of the rows"
    said = "; ".join(filter(None, [source.said, f"labels of {labels_file.name} {how}"]))
    return replace(source, columns=columns, read=read, labels_file=labels_file, said=said)


def _read_labels(path: Path, label: str, id: str, columns: Sequence[str]) -> "_Labels":
    """The labels in `path`; by id where it has a column of ids that is among the `columns` of the source."""
    if path.suffix.lower() not in _TABLES:
        check_is_file(path)
        return _Labels(path, [line.strip().strip('"') for _, line in read_lines(path) if line.strip()])
    table = open_source(path)
    of_both = [name for name in table.columns if name in columns and name != label]
    usual = [name for name in of_both if re.sub("[^a-z0-9]", "", name.lower()) in IDS]
    id = next((one for one in (id, *usual) if one in of_both), "")
    name = _label_column(table, label, id)
    numbered = with_whole_numbers(table, [id])
    rows = [row for _, row in numbered.read([name, *([id] if id in table.columns else [])])]
    labels = [row.get(name) for row in rows]
    if not id or id not in table.columns:
        return _Labels(path, labels)
    by_id = {_id_of(row, id): label for row, label in zip(rows, labels, strict=True)}
    if len(by_id) != len(labels):
        raise InputError(f"{path}: {several(len(labels) - len(by_id), 'id')} in it twice. Give every row one label.")
    return _Labels(path, labels, id, by_id)


def _label_column(table: Source, label: str, id: str) -> str:
    usual = [name for name in (label, *LABEL_NAMES) if name in table.columns]
    others = [name for name in table.columns if name not in (id, "")]
    if not usual and len(others) != 1:
        raise InputError(
            f"{table.path}: no column {label}, so nothing says which are the labels (it has "
            f"{', '.join(table.columns[:12])}). Say --label-column NAME."
        )
    return usual[0] if usual else others[0]


def _id_of(row: Record, name: str) -> str:
    """The id of a row, the same whether it is a text or a number."""
    try:
        return word_of(row, name)
    except RowError:
        return str(row.get(name))


@dataclass(frozen=True)
class _Labels:
    """The labels of a second file."""

    path: Path
    labels: list[Any]
    """In the order of the file."""
    id: str = ""
    """The column that names a row, where both files have it."""
    by_id: Mapping[str, Any] = field(default_factory=dict)

    def joined(self, rows: Records, source: Path, label: str) -> Records:
        """Every row with its label; raises InputError where there are more rows than labels, or fewer, or a row's id is
        not among those of the labels."""
        n, without, seen = 0, list[str](), set[str]()
        for where, row in rows:
            id = _id_of(row, self.id)
            if self.id and id in seen:
                raise InputError(f"{source}, {where}: the id {id} a second time, and {self.path} has one label of it.")
            seen.add(id)
            if self.id and id not in self.by_id:
                without.append(id)
            if n < len(self.labels):
                yield where, {**row, label: self.by_id.get(id) if self.id else self.labels[n]}
            n += 1
        if n != len(self.labels):
            raise InputError(
                f"{self.path}: {len(self.labels):,} labels, and {source} has {n:,} rows. Each row needs one label, in "
                "the same order or under the same id."
            )
        if without:
            raise InputError(
                f"{self.path}: no label of {several(len(without), 'row')} of {source} (first: {without[0]}). Each row "
                "needs one under its own id; an empty one says that it has none."
            )
