"""Labels that stand in a file of their own, joined to the rows that they are of.

By the id of a row, however either file calls it, else by the order of the rows, which is said; and refused where a
column that both have shows that they stand in another. What labels mean is decided in `labels`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from swag_af.data.cells.order import counts_otherwise, in_another_order, is_count, is_unique
from swag_af.data.cells.values import word_of
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.cells.words import IDS, key_of
from swag_af.data.disk.files import check_is_file, read_lines
from swag_af.data.errors import InputError, RowError, several
from swag_af.data.tables.sources import Record, Records, Source, open_source

LABEL_NAMES = ("label", "labels", "answer", "answerkey", "goldlabel", "gold", "target", "correct")
"""Names of the column of labels in a file of labels, as `key_of` has them."""

_COUNTS = ("", "unnamed0", "row", "index", "idx", "ind")
"""Of a column that may count the rows: pandas writes its index without a name."""

_TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")

Words = Mapping[str, list[str]]
"""By column what every row has, as a text; empty where it has nothing."""


def with_labels(source: Source, labels_file: Path, *, label: str, id: str) -> Source:
    """`source` with a column `label` from `labels_file`, joined by the column `id` if both have it, else by another of
    `IDS` that both have, else by a column that has exactly the ids of `source`, else by order.

    The file is a table (JSONL, CSV ...), or has a label a line. Raises InputError where nothing but the order could
    join them and a column says that it is another; and when the rows are read, if there are not as many labels as
    rows, or a row has none.
    """
    labels = _read_labels(labels_file, label, id, source)
    source = with_whole_numbers(source, [labels.id])
    given = label in source.columns

    def read(columns: Sequence[str]) -> Records:
        own = dict.fromkeys(name for name in (*columns, labels.id) if name in source.columns)
        return labels.joined(source.read(list(own)), source.path, label)

    columns = source.columns if given else (*source.columns, label)
    said = "; ".join(filter(None, [source.said, f"labels of {labels_file.name} {labels.how}"]))
    return replace(source, columns=columns, read=read, labels_file=labels_file, said=said)


def _read_labels(path: Path, label: str, id: str, source: Source) -> "_Labels":
    """The labels in `path`, and how they are joined to the rows of `source`."""
    if path.suffix.lower() not in _TABLES:
        check_is_file(path)
        return _Labels(path, [line.strip().strip('"') for _, line in read_lines(path) if line.strip()])
    table = open_source(path)
    known = _known_label(table, label)
    others = [name for name in table.columns if name != known]
    given = _words(table, others)
    theirs, own, shown = _ids(path, given, source, label=label, id=id)
    name = known or _only_other(table, label, theirs)
    labels = [row.get(name) for _, row in table.read([name])]
    if not own:
        return _Labels(path, labels, how=f"in the order of the rows{_as_say(shown)}")
    by_id = dict(zip(given[theirs], labels, strict=True))
    if len(by_id) != len(labels):
        raise InputError(f"{path}: {several(len(labels) - len(by_id), 'id')} in it twice. Give every row one label.")
    return _Labels(path, labels, own, by_id, f"joined by {own}{'' if theirs == own else f', there {theirs}'}")


def _known_label(table: Source, label: str) -> str:
    """The column of labels that is called so, by the name that was asked for or a usual one; empty where none is."""
    by_key = {key_of(name): name for name in reversed(table.columns)}
    return label if label in table.columns else next(filter(None, map(by_key.get, (key_of(label), *LABEL_NAMES))), "")


def _only_other(table: Source, label: str, id: str) -> str:
    others = [name for name in table.columns if name not in (id, "")]
    if len(others) != 1:
        raise InputError(
            f"{table.path}: no column {label}, so nothing says which are the labels (it has "
            f"{', '.join(table.columns[:12])}). Say --label-column NAME."
        )
    return others[0]


def _words(source: Source, names: Sequence[str]) -> Words:
    words: dict[str, list[str]] = {name: [] for name in names}
    for _, row in with_whole_numbers(source, names).read(list(names)) if names else ():
        for name in names:
            words[name].append(_id_of(row, name) if name else str(row.get(name, "")).strip())
    return words


def _ids(path: Path, given: Words, source: Source, *, label: str, id: str) -> tuple[str, str, list[str]]:
    """`(theirs, own, shown)`: the column of ids of the labels and that of `source`, both empty where rows are joined by
    order, which the columns `shown` show to be the same."""
    alike = list(_called_alike(given, [name for name in source.columns if name != label]))
    ids = sorted((pair for pair in alike if key_of(pair[1]) in (key_of(id), *IDS)), key=lambda pair: pair[1] != id)
    said = [pair for pair in ids if pair[1] == id != "id"]
    if certain := next((pair for pair in (*said, *ids) if pair in said or is_unique(given[pair[0]])), None):
        return (*certain, [])
    if not given:
        return "", "", []
    own = _words(source, [name for name in source.columns if name != label])
    named = next((pair for pair in ids if is_unique(own[pair[1]])), None)
    if found := named or _of_same_values(path, given, own, source, id):
        return (*found, [])
    return "", "", _in_same_order(path, given, own, source, alike)


def _called_alike(given: Words, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The columns that both have, in the order of the labels': of the same name, or of one that is compared alike."""
    by_key = {key_of(name): name for name in reversed(names)}
    for name in given:
        if own := name if name in names else by_key.get(key_of(name), ""):
            yield name, own


def _of_same_values(path: Path, given: Words, own: Words, source: Source, id: str) -> tuple[str, str] | None:
    """A column whose values are exactly the ids of the source, whatever it is called. Raises InputError where it counts
    the rows as they stand, and the ids are such numbers in another order: either could be meant."""
    of_source = [name for name in own if name == id or key_of(name) in IDS]
    for name in sorted(of_source, key=lambda name: name != id):
        for theirs, words in given.items():
            if not is_unique(own[name]) or len(words) != len(own[name]) or set(words) != set(own[name]):
                continue
            if is_count(words) and words != own[name]:
                raise InputError(
                    f"{path}: its {_named(theirs)} may count the rows, or be the {name} of {source.path}, which means "
                    f"others. Call it {name} if it is, or take it out."
                )
            return theirs, name
    return None


def _in_same_order(path: Path, given: Words, own: Words, source: Source, alike: Sequence[tuple[str, str]]) -> list[str]:
    """The columns that show that labels stand in the order of the rows; raises InputError where one shows that they do
    not: it has what one of the source has in another order, or counts rows otherwise."""
    same = []
    for theirs, name in alike:
        is_id = key_of(name) in IDS  # and repeats in both, so that it names no row
        if given[theirs] == own[name]:
            same += [name] if len(set(own[name])) > 1 else []
        elif in_another_order(given[theirs], own[name]) or (is_id and len(given[theirs]) == len(own[name])):
            raise _another_order(path, f"its {_named(theirs)} stands in another order than in", name, own, source)
    paired = {theirs for theirs, _ in alike}
    for theirs, words in given.items():
        if theirs in paired or is_count(words):
            continue
        for name in own:
            if is_unique(own[name]) and set(words) == set(own[name]) and in_another_order(words, own[name]):
                raise _another_order(path, f"its {theirs} has, in another order, the {name} of", name, own, source)
        if key_of(theirs) in _COUNTS and counts_otherwise(words):
            raise InputError(
                f"{path}: its {_named(theirs)} counts rows in another order than they stand in, and {source.path} has "
                "no such column. Sort the labels by it and take it out, or give both files ids."
            )
    return same


def _another_order(path: Path, what: str, name: str, own: Words, source: Source) -> InputError:
    by = f"Say --id-column {name}" if is_unique(own[name]) and name else "Give each row an id in both"
    return InputError(
        f"{path}: no column has the ids of the rows, and {what} {source.path}. {by}, or bring the two to one order."
    )


def _named(name: str) -> str:
    return name or "column without a name"


def _as_say(columns: Sequence[str]) -> str:
    named = [name for name in columns if name][:3]
    return f", as {', '.join(named)} {'says' if len(named) == 1 else 'say'}" if named else ""


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
    """The column of the source that names a row, where the file has its names."""
    by_id: Mapping[str, Any] = field(default_factory=dict)
    how: str = "in the order of the rows"
    """What is said of it."""

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
