"""Sources with their labels: a file or folder as it is, one whose labels stand in a second file, a released folder.

    swag-af release        train.csv, val.csv, and test.csv with its labels in test_labels.csv; where it has rationales
                           and both questions of a row are wanted, files of the same names in stages/, with both labels
    PIQA, aNLI             train.jsonl and train-labels.lst, a label a line

How a label is joined to its row is decided in `joining`, what it means in `labels`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from swag_af.data.cells.joining import with_labels
from swag_af.data.disk.manifests import MANIFEST, read_manifest
from swag_af.data.errors import InputError
from swag_af.data.tables.sources import Records, Source, open_source, open_sources


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
