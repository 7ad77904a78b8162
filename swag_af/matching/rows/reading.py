"""Files to rows of query and response: pairs of columns, contexts of ours, and whatever multiple-choice data we read.

Of multiple-choice questions the right option is the response, and the wrong ones are left behind: they are what is to
be replaced. Of contrast sets the originals are taken, and what was edited is left behind: its right answer is a wrong
one of its original (VCR-CS), or nearly the same question.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path

from swag_af.data.captions.context_set import read_contexts, read_contexts_manifest
from swag_af.data.cells.values import did_you_mean, listed, optional, text_of, texts_of, word_of
from swag_af.data.cells.whole import with_whole_numbers
from swag_af.data.cells.words import ORIGINAL, is_placeholder, key_of
from swag_af.data.context import Context
from swag_af.data.disk.files import read_jsonl
from swag_af.data.disk.manifests import MANIFEST, sha256_file
from swag_af.data.errors import Faults, InputError, RowError, several
from swag_af.data.instances.guessing import UnknownColumnsError
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.instances.reading import names_of, read_instances
from swag_af.data.tables.sources import Record, Source, open_sources
from swag_af.data.text.wording import comparable
from swag_af.matching.options import AUTO, PairColumns
from swag_af.matching.rows.items import Item, Items
from swag_af.matching.rows.tags import objects_of, tags_in

NAMES: dict[str, tuple[str, ...]] = {
    "query_column": ("query", "question", "prompt", "instruction", "input", "context"),
    "response_column": ("response", "answer", "completion", "output", "target"),
    "rationale_column": ("rationale", "explanation", "reason"),
    "group_column": ("group", "movie", "video", "video_id", "document", "source_id", "passage_id"),
    "objects_column": ("objects",),
}
"""What columns are looked for, by name, as `key_of` has it."""

SURE = {"query_column": "query", "response_column": "response"}
"""Names that mean nothing else, whatever is in the columns."""


def read_items(
    sources: Sequence[Path], pairs: PairColumns | None = None, reading: ReadingOptions | None = None
) -> Items:
    """The rows of all `sources`, read as the options say. Raises InputError for what cannot be read."""
    if not sources:
        raise InputError("no file given. Name one or more.")
    columns, options = pairs or PairColumns(), reading or ReadingOptions()
    called = sources[0].stem
    if options.layout == "auto" and all(_has_contexts(path, options) for path in sources):
        _check_unused(f"{called}: contexts, whose form is fixed", _flags(columns, options))
        _check_lines(sources, options)
        return _of_contexts(sources, called)
    if options.layout in ("auto", "columns") and all(_has_pairs(path, columns, options) for path in sources):
        of_pairs = {"--id-column", "--media-column", *_flags(columns, ReadingOptions())}
        what = "read as queries and responses (their groups: --group-column)"
        _check_unused(f"{called}: {what}", _flags(columns, options) - of_pairs)
        return _of_pairs(sources, columns, options, called)
    if options.persons == "names":
        raise InputError(
            "--persons names: a name would go with its answer into scenes where nobody has it, which tells that it is "
            "wrong. Leave it out: matching resolves tags, as [person1], to objects of the new scene."
        )
    try:
        instances = read_instances(sources, options, name=called)
        _check_unused(
            f"{called}: read as questions with options (their groups: --video-column)",
            _flags(columns, ReadingOptions()) if instances.kind == "choices" else set(),
        )
        return items_of_instances(instances)
    except UnknownColumnsError as fault:
        _check_rows(sources, columns, options, called)
        raise InputError(
            f"{fault} Of questions with right answers alone, with --query-column and --response-column."
        ) from None


def _check_rows(sources: Sequence[Path], columns: PairColumns, options: ReadingOptions, name: str) -> None:
    """Raise InputError for rows that cannot be read as query and response, where columns are called so and nobody named
    columns of options."""
    opened = [source for path in sources for source in _opened(path, options)]
    found = [_found(source, columns) for source in opened]
    if _flags(PairColumns(), options) or not all(one["query_column"] and one["response_column"] for one in found):
        return
    try:
        _of_pairs(sources, columns, options, name)
    except InputError as fault:
        raise InputError(f"{fault} Where wrong answers are there, too, name these with --negatives-column.") from None


def _flags(pairs: PairColumns, reading: ReadingOptions) -> set[str]:
    """The flags of columns and of reading that were given, but for the format and the layout."""
    given = asdict(pairs) | asdict(reading.columns) | {name: getattr(reading, name) for name in _READING}
    usual = (
        asdict(PairColumns()) | asdict(InstanceColumns()) | {name: getattr(ReadingOptions, name) for name in _READING}
    )
    return {f"--{name.replace('_', '-')}" for name, value in given.items() if value != usual[name]}


_READING = ("kind", "label_base", "labels_file", "persons", "mask")


def _check_unused(read: str, flags: set[str]) -> None:
    """Raise InputError where flags were given that say nothing of what was read."""
    if flags:
        says, it = ("says", "it") if len(flags) == 1 else ("say", "them")
        raise InputError(f"{read}, of which {', '.join(sorted(flags))} {says} nothing. Leave {it} out.")


def items_of_instances(instances: Instances) -> Items:
    """The questions of `instances` with their right options; InputError for texts with classes.

    Raises InputError where a row asks for a rationale alone.
    """
    if instances.kind == "classes":
        raise InputError(
            f"{instances.name}: texts with classes, which have no answers to recycle. Name a query and a response with "
            "--query-column and --response-column."
        )
    asked = [one for one in instances.instances if one.stage != "QA->R"]
    if not asked:
        raise InputError(f"{instances.name}: rationales alone, and no questions. Check the file.")
    if not any(one.context or one.start for one in asked):
        raise InputError(
            f"{instances.name}: no column of questions, so nothing could be relevant to them. Name it with "
            "--context-column; of questions with right answers alone, with --query-column and --response-column. "
            f"It was {'; '.join(instances.notes)}."
        )
    rationales = {one.question: one.options[one.answer] for one in instances.instances if one.stage == "QA->R"}
    kept = without_edits(asked)
    _check_visible(instances.name, ((one.where or one.id, one.options[one.answer]) for one in kept), "its right answer")
    rows = tuple(_item_of(one, rationales.get(one.question, "") if one.question else "") for one in kept)
    doubts = _doubtful(rows, [one.where or one.id for one in kept])
    left = len(asked) - len(kept)
    said = (f"{left:,} contrast questions were left out, whose originals are matched",) if left else ()
    return Items(rows, instances.name, dict(instances.files), (*instances.notes, *said, *doubts))


def _check_visible(source: str, texts: Iterable[tuple[str, str]], what: str) -> None:
    """Raise InputError for responses, each behind its place, without a character that can be seen."""
    faults = Faults(source, _MEND)
    for where, text in texts:
        if not comparable(text):
            faults.add(where, RowError(f"has nothing that can be seen as {what}"))
    faults.check()


_MEND = "Mend those rows, or take them out."


def without_edits(instances: Sequence[Instance]) -> list[Instance]:
    """Those that are no edit of another: members of a contrast set whose original is there are left out."""
    originals = {one.contrast_set for one in instances if one.contrast_set and one.variant == ORIGINAL}
    return [one for one in instances if one.variant == ORIGINAL or one.contrast_set not in originals]


def _item_of(one: Instance, rationale: str) -> Item:
    context = Context(one.context, one.start, one.options[one.answer], id=one.id, video=one.group)
    return Item(context, _seen(rationale), one.objects, one.media)


def _seen(rationale: str) -> str:
    """`rationale`; empty where it has no character that can be seen."""
    return rationale if comparable(rationale) else ""


def _has_contexts(path: Path, options: ReadingOptions) -> bool:
    """Whether these are contexts, ours or in our form: a first sentence, a start and gold, and no endings beside."""
    if not path.is_file():
        return False
    if read_contexts_manifest(path) is not None:
        return True
    columns = tuple(column for source in open_sources(path, options.format) for column in source.columns)
    return {"sent1", "start", "gold"} <= set(columns) and not any(listed(name, columns) for name in _WITH_OPTIONS)


_WITH_OPTIONS = ("choices", "options", "endings", "negatives")
"""Columns of questions that have wrong answers already."""


def _check_lines(sources: Sequence[Path], options: ReadingOptions) -> None:
    """Raise InputError for contexts in anything but lines of JSON, as which alone they are read."""
    for path in sources:
        if read_contexts_manifest(path) is None and open_sources(path, options.format)[0].format != "jsonl":
            raise InputError(
                f"{path}: has the columns of contexts (sent1, start, gold), which are read as JSONL, a line a context. "
                "Write it so, or put first sentence and start into one column, query, and call gold response."
            )


def _of_contexts(sources: Sequence[Path], name: str) -> Items:
    called = names_of(sources)
    rows: list[Item] = []
    places: list[Place] = []
    for path, file in zip(sources, called, strict=True):
        contexts = read_contexts(path)
        lines = [f"line {line}" for line, _ in read_jsonl(path)]
        _check_visible(str(path), zip(lines, (context.gold for context in contexts), strict=True), "gold")
        places += [(path, line) for line in lines]
        rows += [
            Item(replace(context, id=context.id or f"{file}:{number:08}")) for number, context in enumerate(contexts)
        ]
    files = dict(zip(called, map(sha256_file, sources), strict=True))
    _check_ids(rows, places)
    said = f"{len(rows):,} contexts: first sentence and start are the query"
    return Items(tuple(rows), name, files, (said, *_doubtful(rows, _told(places))))


Place = tuple[Path, str]
"""A file, and where in it: `line 7`."""


def _told(places: Iterable[Place]) -> list[str]:
    return [f"{path.name}, {where}" for path, where in places]


def _check_ids(rows: Sequence[Item], places: Sequence[Place]) -> None:
    """Raise InputError for the first of `rows`, which stand at `places`, with the id of an earlier one."""
    first: dict[str, Place] = {}
    for row, (path, where) in zip(rows, places, strict=True):
        other, there = first.setdefault(row.context.id, (path, where))
        if (other, there) != (path, where):
            known = there if other == path else f"{other}: {there}"
            raise InputError(
                f"{path}: {where} has the id {row.context.id!r} of {known}. Make ids unique, or read none with "
                "--id-column ''."
            )


def _doubtful(rows: Sequence[Item], places: Sequence[str]) -> list[str]:
    """Rows that may be meant to be none, which stay: answers that say that there is none, and rows that are there
    twice; a sentence each, with the first of `places`."""
    first: dict[str, str] = {}
    seen: dict[Item, str] = {}
    repeats = []
    for row, place in zip(rows, places, strict=True):
        if is_placeholder(row.response):
            first.setdefault(row.response, place)
        earlier = seen.setdefault(replace(row, context=replace(row.context, id="")), place)
        repeats += [] if earlier == place else [f"{place}, as {earlier}"]
    n_of = Counter(row.response for row in rows)
    said = [
        f"{several(n_of[text], 'row')} with the answer {text!r} (the first: {place})" for text, place in first.items()
    ]
    notes = [f"{', '.join(said)}: remove them if that is no answer"] if said else []
    if repeats:
        n = several(len(repeats), "row")
        notes.append(f"{n} with question, answer and group of an earlier one (the first: {repeats[0]}): remove them")
    return notes


def _has_pairs(path: Path, columns: PairColumns, options: ReadingOptions) -> bool:
    """Whether the query and the response have columns, and the response is one text."""
    if (path / MANIFEST).is_file():  # a release, a pool or a run of ours
        return False
    named = {columns.query_column, columns.response_column} != {AUTO}
    for source in _opened(path, options):
        found = _found(source, columns)
        if not found["query_column"] or not found["response_column"]:
            if named:
                _complain(source, asdict(columns).values())
            return False
        if not named and (set(_WITH_OPTIONS) & set(_by_key(source)) or not _has_answers(source, found)):
            return False
    return True


def _opened(path: Path, options: ReadingOptions) -> list[Source]:
    """The sources at `path`, with the columns of all their rows: in JSONL the first row may lack some."""
    return [
        replace(one, columns=tuple(dict.fromkeys(name for _, row in one.read(()) for name in row)))
        if one.format == "jsonl"
        else one
        for one in open_sources(path, options.format)
    ]


def _has_answers(source: Source, found: Mapping[str, str]) -> bool:
    """Whether the names of the columns are sure, or the first responses are answers and not labels."""
    if all(key_of(found[field]) == name for field, name in SURE.items()):
        return True
    sample = [row for _, row in islice(source.read(source.columns), 20)]
    return _are_texts([row.get(found["response_column"]) for row in sample])


def _are_texts(values: Sequence[object]) -> bool:
    """Whether the values that there are, are answers: some of several words or characters that stand for words, or many
    different ones; and mostly no labels such as 2 or B."""
    given = [value for value in values if value is not None and value != ""]
    texts = [value.strip() for value in given if isinstance(value, str)]
    n_labels = sum(len(text) < 2 or text.isdigit() for text in texts if text) + len(given) - len(texts)
    are_words = any(" " in text or not text.isascii() for text in texts) or 2 * len(set(texts)) > max(len(texts), 6)
    return 2 * n_labels < len(given) and are_words


def _found(source: Source, columns: PairColumns) -> dict[str, str]:
    """The column of each field; empty where there is none."""
    given, found = _by_key(source), {}
    for field, wanted in asdict(columns).items():
        known = (given[key] for key in map(key_of, NAMES[field]) if key in given)
        found[field] = next(known, "") if wanted == AUTO else wanted if wanted in source.columns else ""
    return found


def _by_key(source: Source) -> dict[str, str]:
    """The columns by the `key_of` their names, the first of those that have the same."""
    return {key_of(name): name for name in reversed(source.columns)}


def _complain(source: Source, named: Iterable[str]) -> None:
    wanted = sorted(name for name in named if name not in (AUTO, "", *source.columns))
    if not wanted:
        raise InputError(f"{source.path}: no response. Name both with --query-column and --response-column.")
    raise InputError(
        f"{source.path}: no column {', '.join(wanted)} (it has {', '.join(source.columns[:12])})."
        f"{did_you_mean(wanted, source.columns)} Check the name."
    )


def _of_pairs(sources: Sequence[Path], columns: PairColumns, options: ReadingOptions, name: str) -> Items:
    opened = [source for path in sources for source in _opened(path, options)]
    rows: list[Item] = []
    places: list[Place] = []
    files: dict[str, str] = {}
    notes = []
    for source, called in zip(opened, names_of([source.path for source in opened]), strict=True):
        found = _found(source, columns)
        named = {*asdict(columns).values(), options.columns.id_column, options.columns.media_column}
        if not named <= {AUTO, "", *source.columns}:
            _complain(source, named)
        wheres, of_source = _rows(source, found, called, options)
        rows += of_source
        places += [(source.path, where) for where in wheres]
        files |= {
            called if file == source.path.name else f"{called}/{file}": sha for file, sha in source.hashes().items()
        }
        said = ", ".join(f"{field.removesuffix('_column')} = {column}" for field, column in found.items() if column)
        unread = _unread(source, found, columns)
        notes.append(f"{called}: read as queries and responses: {said}{unread}{_without_group(of_source, found)}")
    _check_ids(rows, places)
    return Items(tuple(rows), name, files, (*notes, *_doubtful(rows, _told(places))))


def _unread(source: Source, found: Mapping[str, str], columns: PairColumns) -> str:
    """The columns that may be of the query, too, beside the one that was found by its name."""
    known = [name for name in source.columns if key_of(name) in NAMES["query_column"] and name not in found.values()]
    if columns.query_column != AUTO or not known:
        return ""
    others = f"not read: {', '.join(known)} (--query-column names one column"
    return f"; {others}: for all of a query, join them into one and name it)"


def _without_group(rows: Sequence[Item], found: Mapping[str, str]) -> str:
    """How many rows have none of the groups that others have, or that there are none."""
    if not found["group_column"]:
        return "; no column of groups, so each row is by itself (--group-column names one)"
    n = sum(not item.context.video for item in rows)
    return f"; {n:,} of {len(rows):,} rows have no {found['group_column']}, and are by themselves" if n else ""


def _rows(
    source: Source, found: Mapping[str, str], called: str, options: ReadingOptions
) -> tuple[list[str], list[Item]]:
    """Where the rows of a source stand, and the rows."""
    faults = Faults(str(source.path), _MEND)
    id_column, media = _id_column(source, options), _named(options.columns.media_column)
    wanted = [column for column in {*found.values(), id_column, media} if column]
    wheres, rows = [], []
    named = with_whole_numbers(source, [id_column, media, found["group_column"]])
    for number, (where, record) in enumerate(named.read(wanted)):
        try:
            item = _item(record, found, word_of(record, id_column) or f"{called}:{number:08}")
            rows.append(replace(item, media=word_of(record, media)))
            wheres.append(where)
        except RowError as fault:
            faults.add(where, fault)
    faults.check()
    return wheres, rows


def _named(column: str) -> str:
    """A column that was named; empty for auto."""
    return "" if column == AUTO else column


def _id_column(source: Source, options: ReadingOptions) -> str:
    return _by_key(source).get("id", "") if options.columns.id_column == AUTO else options.columns.id_column


def _check_tags(objects: Sequence[str], *texts: str) -> None:
    """Raise RowError for a tag of an object that a list of objects does not have, where there is one."""
    known = set(objects_of(objects))
    strange = [tag for text in texts for tag in tags_in(text) if tag not in known] if objects else []
    if strange:
        kind, number = strange[0]
        raise RowError(f"names [{kind}{number}], and its objects number from 1 within each kind: {', '.join(objects)}")


def _item(record: Record, found: Mapping[str, str], id: str) -> Item:
    query, response = text_of(record, found["query_column"]), text_of(record, found["response_column"])
    for column, text in ((found["query_column"], query), (found["response_column"], response)):
        if not comparable(text):
            raise RowError(f"has nothing under {column}")
    objects = _objects(record, found["objects_column"])
    has_rationale = optional(record, found["rationale_column"]) is not None
    rationale = text_of(record, found["rationale_column"]) if has_rationale else ""
    _check_tags(objects, query, response, rationale)
    context = Context(query.strip(), "", response.strip(), id=id, video=word_of(record, found["group_column"]))
    return Item(context, _seen(rationale.strip()), tuple(objects))


def _objects(record: Record, column: str) -> list[str]:
    """The kinds of a list, or of one text with commas between."""
    cell = optional(record, column)
    given = [] if cell is None else texts_of(record, column)
    kinds = cell.split(",") if given == [cell] else given
    return [kind.strip() for kind in kinds if kind and kind.strip()]
