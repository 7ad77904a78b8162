"""The kept lines of a file of rows, JSONL or CSV, copied byte for byte; nothing of them is read as text."""

import os
from collections.abc import Collection
from pathlib import Path

from swag_af.data.disk.replacing import remove_leftovers_of, replacing
from swag_af.data.errors import InputError
from swag_af.data.instances.instances import Instances
from swag_af.data.tables.sources import open_source, read_csv, separator_of


def check_target(target: Path, out: Path, names: Collection[str], *, is_ours: bool) -> None:
    """Raise InputError unless `target` can be written, beside what goes into the folder `out` under `names`.

    What killed runs left of it is cleared away. A file that stands there must be ours; its lines are read later.
    """
    remove_leftovers_of(Path(os.path.abspath(target)))
    above = next(parent for parent in target.absolute().parents if parent.exists())
    theirs = {out.resolve(), *out.resolve().parents, *((out / name).resolve() for name in names)}
    faults = {
        "this is a folder, and a file is to be written": target.is_dir(),
        "--out writes something else there": target.resolve() in theirs,
        "already exists": target.exists() and not is_ours,
        f"{above} is a file, not a folder": not above.is_dir(),
    }
    fault = next((said for said, is_so in faults.items() if is_so), None)
    if fault:
        raise InputError(f"--write {target}: {fault}. Name another file.")


def check_lines(path: Path, format: str) -> None:
    """Raise InputError unless the lines of `path` can be copied."""
    found = "folder" if path.is_dir() else open_source(path, format).format
    if found not in ("jsonl", "csv"):
        raise InputError(f"--write: {path} is a {found}, and lines are copied of JSONL and CSV. Leave --write out.")


def check_rows(path: Path, instances: Instances) -> None:
    """Raise InputError where a line holds several instances, of which some may be kept and others not."""
    places = [one.where for one in instances.instances]
    if len(set(places)) < len(places):
        raise InputError(f"--write: rows of {path} hold several questions each, which no line can part. Leave it out.")


def write_kept(source: Path, target: Path, instances: Instances, kept: Collection[int], format: str) -> None:
    """Write those lines of `source` that the instances `kept` stand on to `target`, unless it has them already.

    Of CSV the header, if there is one, comes first, and a row is all of its lines. Rows without a label are no
    instances, and are left out, as are blank lines between rows. Raises InputError where `target` has anything else.
    """
    content = kept_content(source, instances, kept, format)
    if target.exists():
        if target.read_bytes() != content:
            raise InputError(f"--write {target}: already exists, and has other lines. Name another file.")
        return
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def kept_content(source: Path, instances: Instances, kept: Collection[int], format: str) -> bytes:
    """The lines of `source` that the instances `kept` stand on."""
    wanted = {int(instances.instances[row].where.rpartition(" ")[2]) for row in kept}
    lines = source.read_bytes().splitlines(keepends=True)  # at \n, \r and \r\n, as the readers number them
    opened = open_source(source, format)
    is_csv = opened.format == "csv"
    ends = _ends_of_csv(source, opened.has_header) if is_csv else list(range(1, 1 + len(lines)))
    has_header = is_csv and opened.has_header
    rows = enumerate(zip([0, *ends], ends, strict=False))
    chosen = [(begin, end) for i, (begin, end) in rows if end in wanted or (has_header and i == 0)]
    return b"".join(b"".join(lines[begin:end]).lstrip(b"\r\n") for begin, end in chosen)


def _ends_of_csv(path: Path, has_header: bool) -> list[int]:
    """The number of the last line of the header, if there is one, and of each row."""
    separator = separator_of(path)
    return [line for line, _ in read_csv(path, separator, quotes=has_header or separator != "\t")]
