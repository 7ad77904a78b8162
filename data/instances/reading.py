"""Any labelled dataset as instances: files and folders of others, our own pools, runs and released folders.

What its columns hold is named or looked for (`guessing`), and said in the notes of the set. Rows without a label are
left out and counted; rows of no use are refused, the first three named.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, count, islice
from pathlib import Path
from typing import Any

from swag_af.data.cells.labelled import open_labelled
from swag_af.data.cells.labels import Cells, base_doubt, base_named, base_of, check_base, doubt_beside
from swag_af.data.cells.options import LabelBase
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.cells.words import CONTRAST, ORIGINAL
from swag_af.data.errors import MOST_TOLD, InputError, check_kind, several, told
from swag_af.data.instances import own
from swag_af.data.instances.contrast import in_pairs, notes_of, numbers_by_id, pairs_of_files, with_originals
from swag_af.data.instances.guessing import plan_of
from swag_af.data.instances.instances import Instance, Instances, Kind, Unlabelled
from swag_af.data.instances.layouts.images import NLVR2
from swag_af.data.instances.masking import masked
from swag_af.data.instances.options import AUTO, ReadingOptions
from swag_af.data.instances.plan import Plan, in_groups_of_all
from swag_af.data.instances.rows import MINUS_ONE, UNLABELLED, Found, Hidden, counted, found_in, labels_in, place_of
from swag_af.data.tables.sources import Source, check_once
from swag_af.data.work.progress import Advance, progress

MOST_CLASSES = 100
"""More classes than this are taken for something else; so are classes of fewer than two rows each."""
_FEW = 20
"""Fewer rows than this may have any classes."""


def read_instances(
    sources: Path | str | Sequence[Path | str],
    options: ReadingOptions | None = None,
    *,
    name: str = "",
) -> Instances:
    """All instances of `sources`, a file or several that may be splits of one set, read as `options` say.

    A `labels_file` has the labels of the only source (`cells.labelled`). Raises InputError for what cannot be read, for
    sources of two kinds, and where a source that was named has no labels at all.
    """
    paths = _paths_of(sources)
    reading = ReadingOptions() if options is None else options
    check_kind("options", reading, ReadingOptions)
    check_once(paths)
    ours = [path for path in paths if own.kind_of(path) in own.KINDS]
    opened = sources_of(paths, reading)
    if reading.labels_file:  # and not one of older labels
        reading = replace(reading, columns=replace(reading.columns, label_column=_label(reading)))
    plans = in_groups_of_all([plan_of(source, reading) for source in opened])
    opened = [with_whole_numbers(source, plan.names_of_rows()) for source, plan in zip(opened, plans, strict=True)]
    several = len(paths) > 1
    parts = _parts_of_files(opened, _with_bases(opened, plans, reading.label_base), paths)
    parts += _parts_of_ours(ours, several=several)
    made = _joined(parts, name or paths[0].stem)
    has_names = reading.persons == "names" and any(plan.tagged for plan in plans)
    return masked(made, reading.mask, has_names=has_names) if reading.mask else made


def _paths_of(sources: object) -> list[Path]:
    """One path or several; InputError for anything else."""
    if not sources:
        raise InputError("no file given. Name one or more.")
    given = list(sources) if isinstance(sources, Iterable) and not isinstance(sources, str) else [sources]
    paths = [Path(one) for one in given if isinstance(one, Path | str)]
    if len(paths) < len(given):
        raise InputError(f"sources: {told(sources)}, where a path is due, or a list of paths.")
    return paths


def sources_of(paths: Sequence[Path], reading: ReadingOptions) -> list[Source]:
    """The opened files of others at `paths`, with their labels."""
    others = [path for path in paths if own.kind_of(path) not in own.KINDS]
    id = "id" if reading.columns.id_column == AUTO else reading.columns.id_column
    labels = reading.labels_file
    return open_labelled(others, reading.format, labels_file=labels, label=_label(reading), id=id) if others else []


def _label(reading: ReadingOptions) -> str:
    """The column of labels that come from a file of their own."""
    named = reading.columns.label_column
    return "label" if named in (AUTO, "") else named


@dataclass
class _Part:
    """What was read of a source."""

    path: Path
    kind: Kind
    found: list[Found]
    files: dict[str, str]
    notes: list[str] = field(default_factory=list)
    has_order: bool = True
    ids_guessed: bool = True
    layout: str = ""
    """Of files of others."""
    n_rows: int = 0
    """How many rows were read, those without a label too."""
    label_base: int = 0
    """From what number its labels count."""
    hidden: list[Hidden] = field(default_factory=list)
    """The rows without a label."""


def _parts_of_ours(paths: Sequence[Path], *, several: bool) -> list[_Part]:
    opened = [own.open_own(path) for path in paths]
    names = own.group_names([one.pool for one in opened]) if opened else []
    return [
        _part_of_ours(one, own.questions_of(one, groups), one.path.name if several else "")
        for one, groups in zip(opened, names, strict=True)
    ]


def _part_of_ours(read: own.Own, questions: Iterable[Found], split: str) -> _Part:
    found = [one._replace(split=split) for one in questions]
    return _Part(read.path, "choices", found, read.files, [read.said], has_order=False)


def _with_bases(sources: Sequence[Source], plans: Sequence[Plan], wanted: LabelBase) -> list[Plan]:
    """The plans, each with the number from which its labels count: that of all sources of its layout and column."""

    def column(plan: Plan) -> tuple[str, str]:
        return plan.layout.name, plan.columns.label_column

    def cells(which: tuple[str, str]) -> Cells:
        pairs = zip(sources, plans, strict=True)
        return chain.from_iterable(labels_in(source, plan) for source, plan in pairs if column(plan) == which)

    if wanted != "auto":
        return [replace(plan, base=base_named(wanted)) for plan in plans]
    bases = {which: base_of(cells(which)) for which in {column(plan) for plan in plans}}
    _check_one_base([(source, plan) for source, plan in zip(sources, plans, strict=True) if not bases[column(plan)]])
    for which, base in bases.items():
        check_base(base, cells(which), f"labels under {which[1]}", "--label-base")
    doubts = {which: base_doubt(base, cells(which)) for which, base in bases.items()}
    n_of = Counter(map(column, plans))

    def with_base(source: Source, plan: Plan) -> Plan:
        which = column(plan)
        doubt = doubts[which] or (doubt_beside(bases[which], labels_in(source, plan)) if n_of[which] > 1 else "")
        return replace(plan, base=bases[which], base_doubt=doubt)

    return [with_base(source, plan) for source, plan in zip(sources, plans, strict=True)]


def _check_one_base(read: Sequence[tuple[Source, Plan]]) -> None:
    """Raise InputError where labels of one file count from 0, and those of another with the same columns from 1."""
    first: dict[tuple[str, str, int], Path] = {}
    for source, plan in read if len(read) > 1 else ():
        column = plan.layout.name, plan.columns.label_column
        first.setdefault((*column, base_of(labels_in(source, plan))), source.path)
        from_0, from_1 = first.get((*column, 0)), first.get((*column, 1))
        if from_0 and from_1:
            raise InputError(
                f"{from_1}: its labels under {column[1]} seem to count from 1, and those of {from_0} from 0, so one of "
                "the two would be off by one. Make both count from the same number, or read one of them alone."
            )


def _parts_of_files(sources: Sequence[Source], plans: Sequence[Plan], paths: Sequence[Path]) -> list[_Part]:
    names, splits = names_of([source.path for source in sources]), _splits_of([source.path for source in sources])
    with progress("read", sum(source.n_rows for source in sources), "rows") as advance:
        parts = []
        for source, plan, name, of_file in zip(sources, plans, names, splits, strict=True):
            split = source.split or (of_file if len(paths) > 1 else "")
            parts.append(_part_of_file(source, plan, name, split, advance))
            if not parts[-1].found and source.path in paths:
                raise _no_labels(source, plan)
    return _with_sets(parts)


def _part_of_file(source: Source, plan: Plan, name: str, split: str, advance: Advance) -> _Part:
    """What a source holds that is called `name`; its rows are of `split` where they name none."""
    found: list[Found] = []
    n_rows, tally, hidden = 0, Counter[str](), list[Hidden]()
    for of_row in found_in(source, plan, name, tally, hidden):
        found += [one if one.split or not split else one._replace(split=split) for one in of_row]
        n_rows += 1
        advance(1)
    files = {_file_name(source, name, file): digest for file, digest in source.hashes().items()}
    said = (*_notes(source, plan, len(found), n_rows, tally), *plan.doubts, *filter(None, [plan.base_doubt]))
    notes = [f"{name}: {note}" for note in said]
    ids_guessed = "id_column" in plan.guessed and not (plan.layout.unique or plan.layout.numbered)
    has_order = not plan.columns.gold_column
    about = (has_order, ids_guessed, plan.layout.name, n_rows, plan.base, hidden)
    return _Part(source.path, plan.kind, found, files, notes, *about)


def _with_sets(parts: list[_Part]) -> list[_Part]:
    """The parts, with the contrast sets that several of them make together."""
    by_path = {part.path: part for part in parts}
    for name, original, contrast in pairs_of_files(list(by_path)):
        _pair(by_path[original], by_path[contrast], name)
    of_images = [part for part in parts if part.layout == NLVR2.name]
    joined, said = with_originals([one for part in of_images for one in part.found])
    rest = iter(joined)
    for part in of_images:
        part.found = list(islice(rest, len(part.found)))
    if said:
        of_images[-1].notes += said
    return parts


def _pair(original: _Part, contrast: _Part, name: str) -> None:
    """Makes a contrast set of every two rows of the same id, or where these do not say of the same number, where each
    row is an instance."""
    parts = {ORIGINAL: original, CONTRAST: contrast}
    if any(one.contrast_set for part in parts.values() for one in part.found):
        return
    if not len(original.found) == original.n_rows == contrast.n_rows == len(contrast.found):
        has = f"{len(original.found):,} and {len(contrast.found):,}"
        contrast.notes.append(f"{name or 'set'}: original and contrast have {has} labelled rows: no pairs of them")
        return
    numbers = numbers_by_id(original.found, contrast.found)
    if numbers is None and any(one.id for one in (*original.found, *contrast.found)):
        contrast.notes.append(f"{name or 'set'}: original and contrast have other ids: pairs are rows of one number")
    for variant, part in parts.items():
        split, mine = _split_of(part.path), numbers if variant == CONTRAST else None
        part.found = [
            one._replace(split=name) if one.split == split else one for one in in_pairs(part.found, name, variant, mine)
        ]


def names_of(paths: Sequence[Path]) -> list[str]:
    """What each file is called: its name, with as many folders before it as tell it from the others.

    Raises InputError where one is named twice.
    """
    check_once(paths)
    parts = [path.absolute().parts for path in paths]
    lists = (["/".join(one[-n:]) for one in parts] for n in count(1))
    return next(names for names in lists if len(set(names)) == len(names))


def _file_name(source: Source, name: str, file: str) -> str:
    """What a file of the source that is called `name` is called."""
    if source.path.is_dir():
        return f"{name}/{file}"
    return name if file == source.path.name else file


def _split_of(path: Path) -> str:
    """`train` of train.csv and of train-00000-of-00002.parquet."""
    return re.sub(r"-\d+-of-\d+$", "", path.stem)


def _splits_of(paths: Sequence[Path]) -> list[str]:
    """What each file is called as a split: by its name, or where all have one name and each a folder of its own, as
    `train/0000.parquet`, by that."""
    names, folders = [_split_of(path) for path in paths], [path.absolute().parent.name for path in paths]
    return folders if len(set(names)) == 1 < len(paths) == len(set(folders)) else names


def _no_labels(source: Source, plan: Plan) -> InputError:
    return InputError(
        f"{source.path}: none of its rows has a label under {plan.named('label_column')}, as in a test file whose "
        "answers are kept. Leave the file out, name the column with --label-column NAME, or give the labels with "
        "--labels-file."
    )


def _notes(source: Source, plan: Plan, n: int, n_rows: int, tally: Counter[str]) -> Iterator[str]:
    what = "multiple choice" if plan.kind == "choices" else "texts with classes"
    drawn = "; the order of options was drawn" if plan.columns.gold_column else ""
    unlabelled, minus_one = tally.pop(UNLABELLED, 0), tally.pop(MINUS_ONE, 0)
    rows = several(n_rows, "row")
    count = f"{several(n, 'instance')} of {rows}" if n + unlabelled > n_rows else several(n, "row")
    yield f"{count} read as {what}: {plan.said()}{drawn}"
    if source.said:
        yield source.said
    if unlabelled:
        more = f"; {minus_one:,} {MINUS_ONE}" if minus_one else ""
        yield f"{unlabelled:,} of {unlabelled + n:,} {UNLABELLED}{more}"
    yield from (counted(count, what) for what, count in sorted(tally.items()) if count)


def _joined(parts: Sequence[_Part], name: str) -> Instances:
    """One set of all parts; raises InputError where they are of two kinds."""
    kind = _kind_of(parts)
    _check_classes(parts)
    found = [one for part in parts for one in part.found]
    classes = _classes(found, name) if kind == "classes" else ()
    if len(classes) == 1 and any(part.hidden for part in parts):
        raise InputError(
            f"{name}: one class only, {told(classes[0])}; rows whose label is empty, - or -1 have none, and were left "
            "out. If one of these is a class, call it otherwise."
        )
    named = any(not part.ids_guessed for part in parts)
    ids, said_of_ids = _ids(found, named)
    notes = [note for part in parts for note in part.notes]
    return Instances(
        tuple(_instances(found, ids, classes)),
        kind,
        classes=classes,
        name=name,
        has_order=all(part.has_order for part in parts),
        files={file: digest for part in parts for file, digest in part.files.items()},
        notes=(*notes, *_notes_of_classes(found, classes), *notes_of(found), *said_of_ids),
        label_base=1 if kind == "choices" and all(part.label_base == 1 for part in parts) else 0,
        cut_sets=_cut_sets(parts),
        unlabelled=tuple(_unlabelled(parts, has_ids=_has_ids(found, named))),
    )


def _kind_of(parts: Sequence[_Part]) -> Kind:
    """The kind of all parts."""
    kinds = {part.kind: part for part in parts}
    if len(kinds) > 1:
        one, other = kinds["choices"].path, kinds["classes"].path
        raise InputError(f"{one} holds questions with options, {other} texts with classes. Read them one by one.")
    return parts[0].kind


def _instances(found: Iterable[Found], ids: Iterable[str], classes: Sequence[str]) -> Iterator[Instance]:
    """What was found, with its id and the number of its answer."""
    numbers = {label: i for i, label in enumerate(classes)}
    for one, id in zip(found, ids, strict=True):
        answer = one.answer if isinstance(one.answer, int) else numbers[one.answer]
        yield Instance(**one._asdict() | {"id": id, "answer": answer})


def _cut_sets(parts: Iterable[_Part]) -> frozenset[str]:
    """The contrast sets of which rows without a label were left out, and others were not."""
    kept = {one.contrast_set for part in parts for one in part.found if one.contrast_set}
    return frozenset(kept & {row.contrast_set for part in parts if part.found for row in part.hidden})


def _unlabelled(parts: Sequence[_Part], *, has_ids: bool) -> Iterator[Unlabelled]:
    """The rows without a label, which are called as labelled ones are."""
    before = 0
    for part in parts:
        for row in part.hidden:
            yield Unlabelled((has_ids and row.id) or place_of(row.where), before + row.before)
        before += len(part.found)


def _check_classes(parts: Sequence[_Part]) -> None:
    """Raise InputError where two files have two classes or more each, and none in common: they write them otherwise."""
    of_files = [(part.path, {str(one.answer) for one in part.found}) for part in parts if part.kind == "classes"]
    for (one, ours), (other, theirs) in combinations([found for found in of_files if len(found[1]) > 1], 2):
        if not ours & theirs:
            raise InputError(
                f"{other}: its classes are {_some(theirs)}, those of {one} {_some(ours)}, and none is in both. Write "
                "them alike, or read one of the two alone."
            )


def _some(classes: set[str]) -> str:
    return ", ".join(_cut(name) for name in sorted(classes)[:5])


def _classes(found: Iterable[Found], name: str) -> tuple[str, ...]:
    """The names of the classes, numbers by size and others by letter; whichever order the rows have."""
    counts = Counter(str(one.answer) for one in found)
    n = counts.total()
    if len(counts) > MOST_CLASSES or (n >= _FEW and len(counts) > n / 2):
        raise InputError(
            f"{name}: {len(counts):,} classes in {n:,} rows (one is {told(min(counts))}), so the labels are none. "
            "Name their column with --label-column, or that of the options with --endings-column."
        )
    return tuple(sorted(counts, key=_by_size))


def _notes_of_classes(found: Iterable[Found], classes: Sequence[str]) -> Iterator[str]:
    """What is to be said of the classes; nothing where there are none."""
    if classes:
        sizes = Counter(str(one.answer) for one in found)
        yield f"classes: {', '.join(map(_cut, classes))}"
        yield from (*_alike(sizes), *_misspelt(sizes), *_on_a_scale(classes))


def _alike(sizes: Mapping[str, int]) -> Iterator[str]:
    """What is to be said of classes that differ in letter case, and may be one; `sizes` are their rows."""
    same: dict[str, list[str]] = {}
    for name in sorted(sizes):
        same.setdefault(name.casefold(), []).append(name)
    for names in same.values():
        if len(names) > 1:
            which = ", ".join(f"{_cut(name)} ({several(sizes[name], 'row')})" for name in names)
            yield (
                f"{which} differ in letter case alone and are {len(names)} classes: if they are one, write them alike "
                "in the file"
            )


def _misspelt(sizes: Mapping[str, int]) -> Iterator[str]:
    """What is to be said of rare classes that are called as a common one but for a letter; `sizes` are their rows."""
    rare = [(name, n) for name, n in sorted(sizes.items()) if n == 1 or _RARE * n < sum(sizes.values())]
    for name, n in rare:
        near = [other for other, of in sizes.items() if of >= _OFTEN * n and _is_one_edit(name, other)]
        if near:
            meant = max(near, key=sizes.__getitem__)
            has = f"{several(n, 'row')} {'has' if n == 1 else 'have'} {_cut(name)}"
            yield f"{has}: did you mean {_cut(meant)} ({several(sizes[meant], 'row')})? Mend it in the file"


def _is_one_edit(name: str, other: str) -> bool:
    """Whether a letter that was changed, added, left out or exchanged with the next makes one of the other, letter case
    aside; short names and numbered ones differ by no more where both are meant."""
    short, long = sorted((name.casefold(), other.casefold()), key=len)
    if short == long or len(long) < _SPELT or any(map(str.isdigit, short + long)):
        return False
    i = next((i for i, (one, two) in enumerate(zip(short, long, strict=False)) if one != two), len(short))
    if len(short) < len(long):
        return short[i:] == long[i + 1 :]
    return short[i + 1 :] == long[i + 1 :] or short[i:] == long[i + 1] + long[i] + long[i + 2 :]


_RARE, _OFTEN, _SPELT = 500, 20, 4
"""A class of fewer than one row in `_RARE`, or of one, may be misspelt where one with `_OFTEN` times its rows is called
nearly so, and has `_SPELT` letters."""


def _on_a_scale(classes: Sequence[str]) -> Iterator[str]:
    """What is to be said of classes that are numbers, and not whole ones: they may be points of a scale."""
    broken = [name for name in classes if "." in name]
    if broken and all(map(_NUMBER.fullmatch, classes)):
        yield f"{', '.join(map(_cut, broken))}: labels that are no whole numbers are classes as others: is that meant?"


_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?")


def _by_size(label: str) -> tuple[Any, ...]:
    return (0, float(label), label) if _NUMBER.fullmatch(label) else (1, 0, label)


def _ids(found: Sequence[Found], named: bool) -> tuple[list[str], list[str]]:
    """The ids of all rows, and what is to be said of them: file and line where they have none, or not each its own."""
    given = [one.id for one in found]
    if _has_ids(found, named):
        return [id or place_of(one.where) for id, one in zip(given, found, strict=True)], []
    said = ["the ids of the rows repeat, so file and line stand for them"] if any(given) else []
    places = [place_of(one.where) for one in found]
    n_of, seen = Counter(places), Counter[str]()
    for i, place in enumerate(places):
        if n_of[place] > 1:  # a passage with several questions
            places[i] = f"{place}:{seen[place]}"
            seen[place] += 1
    return places, said


def _has_ids(found: Sequence[Found], named: bool) -> bool:
    """Whether rows are called by the ids that they have: their column was named, or none is there twice."""
    own = [one.id for one in found if one.id]
    return named or len(set(own)) == len(own)


def _cut(name: str) -> str:
    return name if len(name) <= MOST_TOLD else f"{name[: MOST_TOLD - 4]} ..."
