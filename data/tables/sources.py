"""Source files of rows, read one row at a time: JSONL, CSV, Parquet, and folders of `datasets.save_to_disk`.

`open_source` looks at a file once and returns its columns and how many rows to expect; rows are dictionaries, each with
its place in the file. Of one JSON list, all rows are in memory. pyarrow is imported when a Parquet file or a `datasets`
folder is opened. What the columns mean is decided elsewhere.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from swag_af.data.disk.files import check_is_file, read_json, read_jsonl, read_lines
from swag_af.data.disk.manifests import matched_hint, sha256_file
from swag_af.data.disk.records import Name, PathText, parse_record
from swag_af.data.disk.replacing import check_there
from swag_af.data.errors import InputError, in_one_line, told
from swag_af.data.extras import install
from swag_af.data.tables.headerless import columns_without_header

Record = Mapping[str, Any]
Records = Iterator[tuple[str, Record]]
"""`("line 7", {...})` a row."""

_BATCH_ROWS = 512
_LONGEST_CELL = (1 << 31) - 1


@dataclass(frozen=True)
class Source:
    """A file or folder of rows."""

    path: Path
    format: str
    columns: tuple[str, ...]
    """Those of the first row, in JSONL."""
    n_rows: int
    """How many rows to expect; for text, lines."""
    read: Callable[[Sequence[str]], Records]
    """Reads the rows from the first on; columns that are not named may be left out."""
    split: str = ""
    """The published split that it is, where a folder of several names it."""
    labels_file: Path | None = None
    """The file that its labels were joined from."""
    has_header: bool = True
    """Whether the first line of a table names its columns."""
    said: str = ""
    """What is to be told of how it was opened."""
    class_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What the numbers from 0 in a column mean, where `datasets` recorded it."""

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the file under its name, or of each file of the folder, and of the file of its labels, which
        has its folder's name before its own where the other is called the same."""
        files = [self.path] if self.path.is_file() else sorted(_files_of_state(self.path))
        found = {path.name: sha256_file(path) for path in files}
        if self.labels_file is None:
            return found
        name = self.labels_file.name
        name = f"{self.labels_file.absolute().parent.name}/{name}" if name in found else name
        return found | {name: sha256_file(self.labels_file)}


def open_sources(path: Path, format: str = "auto") -> list[Source]:
    """As `open_source`; every split of a dictionary of splits that `datasets` saved is a source."""
    if format not in ("auto", "datasets") or not (path / _SPLITS).is_file():
        return [open_source(path, format)]
    named = parse_record(read_json(path / _SPLITS), _Splits, path / _SPLITS, _SAVE_AGAIN)["splits"]
    if not named:
        raise InputError(f"{path}: no splits in it. Check the path.")
    return [replace(open_source(path / split, "datasets"), split=split) for split in named]


def open_source(path: Path, format: str = "auto") -> Source:
    """The source at `path`; `format` is `jsonl`, `json`, `csv`, `parquet`, `datasets`, or `auto`, which looks at it.

    Raises InputError when it is not there, holds no rows, or cannot be read.
    """
    check_there(path)
    if not path.is_dir():
        check_is_file(path)
        check_unpacked(path)
    chosen = _guess_format(path) if format == "auto" else format
    if path.is_dir() != (chosen == "datasets"):
        expected = "a folder of `datasets.save_to_disk`" if chosen == "datasets" else f"a file, for {chosen}"
        raise InputError(f"{path}: not {expected}. Check the path, or say another --format.")
    source = _OPENERS[chosen](path)
    if not source.columns or not source.n_rows:
        raise InputError(f"{path}: no rows in it. Check the path.")
    return source


def check_once(paths: Iterable[Path]) -> None:
    """Raise InputError where two of `paths` are one file or folder, whatever they call it: its rows would count
    twice."""
    seen = set[Path]()
    for path in paths:
        if path.resolve() in seen:
            raise InputError(f"{path}: named twice. Name each source once.")
        seen.add(path.resolve())


_COMPRESSED = re.compile(rb"\x1f\x8b|PK\x03\x04|BZh[1-9]1AY|\xfd7zXZ|\(\xb5/\xfd")
"""How files of gzip, zip, bzip2, xz and zstd begin."""


def check_unpacked(path: Path) -> None:
    """Raise InputError for a compressed file, whatever its name says."""
    with path.open("rb") as file:
        if _COMPRESSED.match(file.read(8)):
            how = f", say with `gunzip {path.name}`" if path.suffix.lower() == ".gz" else ""
            raise InputError(f"{path}: compressed. Unpack it first{how}.")


def _guess_format(path: Path) -> str:
    if path.is_dir():
        return "datasets"
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        head = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"[") and suffix not in (".csv", ".tsv"):
        return "json"
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    if head.startswith(b"{") and suffix not in (".csv", ".tsv"):
        return "json" if _is_one_object(path) else "jsonl"
    if suffix in (".csv", ".tsv"):
        return "csv"
    raise InputError(f"{path}: cannot tell its format. Say --format {' | '.join(_OPENERS)}.")


def _is_one_object(path: Path) -> bool:
    """Whether a file is one object over several lines, or one that holds its rows under `data`, or by columns."""
    lines = list(islice((line for _, line in read_lines(path) if line.strip()), 2))
    first = lines[0].rstrip()
    try:
        content = json.loads(first)
    except (ValueError, RecursionError) as error:
        is_open = first.endswith(("{", "[", ",", ":")) and not str(error).startswith("Extra data")
        return len(lines) > 1 and (is_open or not lines[1].startswith("{"))
    rows = content.get("data")
    holds_rows = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    return len(lines) == 1 and (holds_rows or rows_by_columns(content) is not None)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        n, n_returns, last = 0, 0, b"\n"
        while chunk := file.read(1 << 20):
            n, n_returns, last = n + chunk.count(b"\n"), n_returns + chunk.count(b"\r"), chunk[-1:]
    return n + (last != b"\n") if n else n_returns + (last not in b"\r\n")


def _open_jsonl(path: Path) -> Source:
    """Its columns are those of any line, as they are of any element of a list."""
    n_rows, columns = 0, dict[str, None]()
    for _, row in read_jsonl(path):
        n_rows += 1
        columns |= dict.fromkeys(row)

    def read(_: Sequence[str]) -> Records:
        for number, record in read_jsonl(path):
            yield f"line {number}", record

    return Source(path, "jsonl", tuple(columns), n_rows, read)


def _open_json(path: Path) -> Source:
    """One list of objects; an object that holds one under `data`, as SQuAD's do; one of columns; or one object, which
    is one row.

    A first element of `data` that has no column of the second is about the file.
    """
    content = read_json(path)
    rows, first = (content, 0) if isinstance(content, list) else ([content], 0)
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        rows = content["data"]
        first = int(_is_about_the_file(rows))
    elif isinstance(content, dict) and (by_columns := rows_by_columns(content)) is not None:
        rows = by_columns
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, dict)), None)
    if wrong is not None:
        raise InputError(f"{path}: row {wrong} of its list is not a JSON object. Write [{{...}}, ...].")
    columns = tuple(dict.fromkeys(name for row in rows[first:] for name in row))
    said = "the first element of `data` is about the file, and no row" if first else ""

    def read(_: Sequence[str]) -> Records:
        return ((f"row {i}", row) for i, row in islice(enumerate(rows), first, None))

    return Source(path, "json", columns, len(rows) - first, read, said=said)


def rows_by_columns(content: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns: each an object of the same numbers of rows, as pandas' `to_json` writes them,
    or lists of one length, as `Dataset.to_dict` has them; None where it is none, such as objects by id or lists of rows
    by split."""
    columns = list(content.values())
    first = columns[0] if len(columns) > 1 else None
    if not isinstance(first, dict | list) or len(first) < 2:
        return None
    if isinstance(first, dict):
        alike = all(isinstance(column, dict) and column.keys() == first.keys() for column in columns)
        is_table = alike and all(row.isdecimal() for row in first)
        return [{name: column[row] for name, column in content.items()} for row in first] if is_table else None
    if all(isinstance(column, list) and len(column) == len(first) for column in columns):
        are_rows = all(isinstance(column[0], dict) for column in columns)
        return None if are_rows else [dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True)]
    return None


def _is_about_the_file(rows: Sequence[Any]) -> bool:
    return len(rows) > 1 and isinstance(rows[0], dict) and isinstance(rows[1], dict) and not rows[0].keys() & rows[1]


def _open_csv(path: Path) -> Source:
    """A table parted as `separator_of` finds it, with a header line, whose names are those without the blanks around
    them, unless the rows need none."""
    separator = separator_of(path)
    known = columns_without_header(row for _, row in read_csv(path, separator, quotes=separator != "\t"))
    quotes = separator != "\t" or (not known and _are_quoted(path))
    header = known or tuple(name.strip() for name in next(read_csv(path, separator, quotes=quotes), (0, []))[1])
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(f"{path}: its header names {', '.join(map(told, repeated))} more than once. Rename one.")

    def read(_: Sequence[str]) -> Records:
        rows = read_csv(path, separator, quotes=quotes)
        for line, row in islice(rows, 0 if known else 1, None):
            if len(row) != len(header):
                raise InputError(
                    f"{path}: the row that ends in line {line} has {len(row)} cells, and the header {len(header)}. "
                    "Quote cells that hold the separator, or mend the row."
                )
            yield f"line {line}", dict(zip(header, row, strict=True))

    n_rows = max(0, _count_lines(path) - (not known) - bool(said_separator(path)))
    said = [f"no header line in it: its columns are taken for {', '.join(known)}"] if known else []
    said += [f"cells parted by {_SAID[separator]}"] if separator in _SAID else []
    return Source(path, "csv", header, n_rows, read, has_header=not known, said="; ".join(said))


_SAID = {";": "semicolons", "|": "bars"}
_SEP = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


def said_separator(path: Path) -> str:
    """What the first line of a table says that parts its cells, as Excel reads and writes it: `sep=;`. Empty where that
    line is one of the table."""
    _, line = next(read_lines(path), (0, ""))
    found = _SEP.fullmatch(line)
    return found[1] if found else ""


def _are_quoted(path: Path) -> bool:
    """Whether quotes stand around cells of a tab-separated table: not where a cell between two of them would hold tabs
    or line ends, or none can be read, and without them every line has as many cells as the first."""
    if not any('"' in line for _, line in read_lines(path)):
        return True
    try:
        if not any("\t" in cell or "\n" in cell for _, row in read_csv(path, "\t") for cell in row):
            return True
    except InputError:
        pass
    return len({len(row) for _, row in read_csv(path, "\t", quotes=False)}) != 1


def separator_of(path: Path) -> str:
    """What parts the cells of a table: what its first line says (`sep=;`); tabs where its name ends in `.tsv`; else
    whichever of comma, semicolon, tab and bar makes most cells of the first row, and several of the second.
    Spreadsheets of many countries write semicolons."""
    if said := said_separator(path):
        return said
    if path.suffix.lower() == ".tsv":
        return "\t"
    best, most = ",", 1
    for separator in ",;\t|":
        n_cells = [len(row) for _, row in islice(read_csv(path, separator, strict=False), 2)]
        if n_cells and min(n_cells) > 1 and n_cells[0] > most:
            best, most = separator, n_cells[0]
    return best


def read_csv(
    path: Path, separator: str = ",", *, strict: bool = True, quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """`(number of its last line, cells)` for every row of a UTF-8 table that is not blank, the header first; the line
    that says the separator is none.

    `strict` refuses quotes within cells that are not quoted; spreadsheets of others may have them. Without `quotes` a
    quote is a character as any other.
    """
    csv.field_size_limit(_LONGEST_CELL)  # of the process, and never lowered: tables may be read side by side
    first = int(bool(said_separator(path)))
    lines = (line for _, line in islice(read_lines(path), first, None))
    reader = csv.reader(
        lines, delimiter=separator, strict=strict, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    )
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"{path}: line {first + reader.line_num} is not readable as UTF-8 CSV ({error}). Mend it."
            ) from None
        if row:
            yield first + reader.line_num, row


def _open_parquet(path: Path) -> Source:
    parquet = _pyarrow("pyarrow.parquet", path)

    def read(columns: Sequence[str]) -> Records:
        number = 0
        with _arrow_errors(path), parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=list(columns)):
                for record in batch.to_pylist():
                    yield f"row {number}", record
                    number += 1

    with _arrow_errors(path), parquet.ParquetFile(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        return Source(path, "parquet", tuple(schema.names), n_rows, read, class_names=_class_names(schema))


def _open_datasets(path: Path) -> Source:
    """What `datasets.save_to_disk` wrote: `state.json` names files of Arrow record batches."""
    ipc = _pyarrow("pyarrow.ipc", path)
    files = _files_of_state(path)

    def batches() -> Iterator[Any]:
        for file in files:
            with _arrow_errors(file), _memory_map(file) as mapped, ipc.open_stream(mapped) as stream:
                yield from stream

    first = next(batches(), None)
    names = () if first is None else tuple(first.schema.names)
    n_rows = sum(len(batch) for batch in batches())
    known = {} if first is None else _class_names(first.schema)
    return Source(path, "datasets", names, n_rows, lambda columns: _rows_of(batches(), columns), class_names=known)


def _class_names(schema: Any) -> dict[str, list[str]]:
    """The names of the classes of each column that `datasets` wrote as a ClassLabel."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        labels = {name: one for name, one in features.items() if isinstance(one, Mapping)}  # a list of one is a feature
        return {name: list(one["names"]) for name, one in labels.items() if one.get("_type") == "ClassLabel"}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def _files_of_state(path: Path) -> list[Path]:
    """The files that `state.json` lists; raises InputError where they are not all rows in order."""
    if (path / _SPLITS).exists():
        splits = parse_record(read_json(path / _SPLITS), _Splits, path / _SPLITS, _SAVE_AGAIN)
        named = " or ".join(str(path / split) for split in splits["splits"])
        raise InputError(f"{path}: several splits. Name those to read, each a source: {named}.")
    if not (path / "state.json").exists():
        hint = matched_hint(path) or f"Name the files in it{_some_files(path)}, or check the path."
        raise InputError(f"{path}: no state.json here, so this is no folder of `datasets.save_to_disk`. {hint}")
    state = parse_record(read_json(path / "state.json"), _State, path / "state.json", _SAVE_AGAIN)
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise InputError(f"{path}: rows chosen by an index. Save it again after `dataset.flatten_indices()`.")
    return [path / entry["filename"] for entry in state.get("_data_files", [])]


def _some_files(path: Path) -> str:
    """A few files of rows in a folder, or below it, for a line to the user."""
    kinds = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
    found = [one for depth in ("*", "*/*") for one in sorted(path.glob(depth)) if one.suffix.lower() in kinds]
    more = ", ..." if len(found) > _FEW else ""
    return f" ({', '.join(str(one.relative_to(path)) for one in found[:_FEW])}{more})" if found else ""


_FEW = 3
_SPLITS = "dataset_dict.json"


class _Splits(TypedDict):
    """`dataset_dict.json`."""

    splits: list[Name]


class _DataFile(TypedDict):
    filename: PathText


class _State(TypedDict):
    """`state.json`."""

    _data_files: NotRequired[list[_DataFile]]
    _indices_files: NotRequired[list[Any] | None]
    _indices_data_files: NotRequired[list[Any] | None]


_SAVE_AGAIN = "Save it again with `datasets`."


def _rows_of(batches: Iterable[Any], columns: Sequence[str]) -> Records:
    number = 0
    for batch in batches:
        chosen = batch.select([name for name in columns if name in batch.schema.names])
        for at in range(0, len(batch), _BATCH_ROWS):
            for record in chosen.slice(at, _BATCH_ROWS).to_pylist():
                yield f"row {number}", record
                number += 1


def _memory_map(file: Path) -> Any:
    return _pyarrow("pyarrow", file).memory_map(str(file))


def _pyarrow(module: str, path: Path) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise InputError(f"{path}: reading it takes pyarrow. Install it with: {install('parquet')}") from None


@contextmanager
def _arrow_errors(path: Path) -> Iterator[None]:
    """Errors of pyarrow about a damaged file as an InputError of one line."""
    try:
        yield
    except (_pyarrow("pyarrow", path).ArrowException, OSError, ValueError, OverflowError, KeyError) as error:
        raise InputError(f"{path}: damaged or of another format ({in_one_line(error)}). Write it again.") from None


_OPENERS: dict[str, Callable[[Path], Source]] = {
    "jsonl": _open_jsonl,
    "json": _open_json,
    "csv": _open_csv,
    "parquet": _open_parquet,
    "datasets": _open_datasets,
}
