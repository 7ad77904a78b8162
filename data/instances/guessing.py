"""Which column of a file holds what, told by the names of the columns and by what the first rows have in them.

Of several candidates the first in the tables of `names` counts that holds what it should. Columns that the user named
are taken as they are.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from swag_af.data.cells.labels import AS_LETTERS, AS_TEXT, index_of, is_unlabelled, label_of, number_of, plain
from swag_af.data.cells.values import (
    did_you_mean,
    integer,
    listed,
    numbers_of,
    optional,
    seems_several,
    text_of,
    texts_of,
    with_nested,
    word_of,
)
from swag_af.data.cells.words import GROUPS, IDS, MORE_GROUPS, key_of, source_of, stage_of, variant_of
from swag_af.data.disk.manifests import MANIFEST
from swag_af.data.errors import Faults, InputError, RowError, several
from swag_af.data.instances.instances import Kind
from swag_af.data.instances.layouts.layout import Layout
from swag_af.data.instances.layouts.table import FIRST, check_layout, layout_of
from swag_af.data.instances.names import (
    ANSWERS,
    CLASSES,
    CONTEXTS,
    CONTRAST_SETS,
    GOLDS,
    LABELS,
    MEDIA,
    NEGATIVES,
    OPTIONS,
    PAIRS,
    PASSAGES,
    QUESTION_IDS,
    QUESTIONS,
    SOURCES,
    SPLITS,
    STAGE_NAMES,
    TEXTS,
    VARIANTS,
    from_a_on,
    lists_by_key,
    shortly,
    within,
)
from swag_af.data.instances.options import AUTO, InstanceColumns, ReadingOptions
from swag_af.data.instances.plan import Plan, plain_rows
from swag_af.data.instances.repeats import counted, first_unique, makes_groups
from swag_af.data.instances.tagged import tagged_columns
from swag_af.data.instances.unread import doubts_of, refuse_columns_of_options, refuse_rows_of_options
from swag_af.data.tables.sources import Record, Records, Source

N_SAMPLE = 200
"""How many rows are looked at."""
N_CONSTANT = 10
"""From how many rows on options that never differ are classes."""


def plan_of(source: Source, reading: ReadingOptions) -> Plan:
    """What the columns of `source` hold. Raises InputError where it has no texts, no options or no label."""
    sample = list(islice(source.read(source.columns), N_SAMPLE))
    rows = [record for _, record in sample]
    if not rows:
        raise InputError(f"{source.path}: no rows in it. Check the path.")
    chosen = layout_of([*source.columns, *rows[0]], rows, reading.layout)
    tagged = chosen.tagged or tagged_columns(rows)
    named = {name: value for name, value in asdict(reading.columns).items() if value != AUTO}
    fixed = {name: value for name, value in asdict(chosen.columns).items() if value != AUTO} | named
    check_layout(chosen, rows, source)
    look = _Look(_plain(source, chosen, tagged, iter(sample)), fixed, source)
    look.check_named(named)
    wanted = reading.kind if reading.kind != "auto" else chosen.kind
    found = look.choices(are_asked_for=wanted == "choices") if wanted != "classes" else None
    if found is None and wanted != "choices":
        found = look.classes()
        if found is not None and wanted != "classes":
            look.refuse_unread_options(found[1])
    if found is None:
        raise look.fault(wanted)
    filled = InstanceColumns(**{name: found[1].get(name, "") for name in asdict(reading.columns)})
    is_classes = found[0] == "classes"
    plan = Plan(
        kind=found[0],
        layout=chosen,
        columns=filled,
        guessed=frozenset(asdict(reading.columns)) - set(named),
        names=look.names,
        class_names=tuple(source.class_names.get(filled.label_column, ())) if is_classes else (),
        labels_are=look.form_of(filled.label_column, filled.endings_column) if filled.endings_column else "",
        tagged=chosen.tagged or tuple(name for name in tagged if name in found[1].values()),
        persons=reading.persons,
        made=chosen.made(rows[0]),
        numbers=numbers_of(source, filled.endings_column, look.names),
        class_options=look.options_of(filled.endings_column) if is_classes else (),
    )
    return replace(plan, doubts=(*doubts_of(plan, source, look.rows), *look.other_labels(plan)))


def _plain(source: Source, layout: Layout, tagged: Sequence[str], sample: Records) -> list[Record]:
    """The plain rows of those that are not damaged; raises InputError where all are."""
    plain: list[Record] = []
    faults = Faults(str(source.path), "Mend those rows, or name another --layout.")
    for where, row in sample:
        try:
            plain += plain_rows(row, layout, tagged, "tags", FIRST)
        except RowError as fault:
            faults.add(where, fault)
    if not plain:
        faults.check()
    return plain


_PLURALS = ("choices", "options", "endings", "candidates", "alternatives", "answers")
"""What only options are called."""


class UnknownColumnsError(InputError):
    """Nothing says what the columns of a source hold, or which of them wrong answers."""


Found = tuple[Kind, dict[str, str]]


class _Look:
    """The first rows of a source, and what is known of its columns."""

    def __init__(self, rows: Sequence[Record], fixed: Mapping[str, str], source: Source) -> None:
        self.fixed = fixed
        self.source = source
        names = list(dict.fromkeys(name for row in rows for name in row))
        dotted = list(dict.fromkeys(name for row in rows for name in within(row)))
        self.rows = [with_nested(row, dotted) for row in rows]
        self.names = (*names, *dotted)
        self.by_key = {**lists_by_key(names), **{key_of(name): name for name in reversed(self.names)}}
        self.lists_by_key = lists_by_key(names)

    def check_named(self, named: Mapping[str, str]) -> None:
        """Raise InputError naming the columns that the user named and that are not there."""
        missing = [name for name in named.values() if name and not self.is_there(name)]
        if missing:
            raise InputError(
                f"{self.source.path}: no column {', '.join(missing)} (it has {shortly(self.names)})."
                f"{did_you_mean(missing, self.names)} Check the name."
            )

    def is_there(self, name: str) -> bool:
        """Whether the columns are there; of lettered ones later rows may have more than these."""
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 2 and from_a_on(parts) == parts:
            return {*parts[:2]} <= {*self.names}
        return bool(set(listed(name, self.names))) and set(listed(name, self.names)) <= set(self.names)

    def choices(self, *, are_asked_for: bool) -> Found | None:
        """The columns of questions with options; None where there are none, or where they are not asked for and the
        options may be classes."""
        endings = self.pick("endings_column", OPTIONS, self.may_be_options) or self.refuse_other_options(
            are_asked_for=are_asked_for
        )
        negatives = self.pick("negatives_column", NEGATIVES, self.has_texts)
        gold = self.pick("gold_column", (*GOLDS, *(["answer"] if negatives else [])), self.has_text)
        golds = {"gold_column": gold, "negatives_column": negatives}
        self.refuse_lists_in_a_text(golds["gold_column"], golds["negatives_column"])
        right = self.pick("label_column", LABELS, lambda name: self.says_which(name, endings)) if endings else ""
        if all(golds.values()) and (not right or "gold_column" in self.fixed):
            marked = golds
        elif endings and (are_asked_for or not self.are_classes(endings)):
            # labels that mean no option are told row by row
            right = right or self.pick("label_column", LABELS, lambda name: name in self.names and name != endings)
            marked = {"endings_column": endings, "label_column": right}
        else:
            return None
        if not all(marked.values()):
            raise self.fault("choices")
        if right and right in (options := listed(endings, self.names)):
            raise InputError(
                f"{self.source.path}: {right} is one of the options ({shortly(options)}) and cannot say which is "
                "right. Name another column with --label-column."
            )
        before = self.before_options(set(marked.values()))
        return "choices", marked | before | self.about(has_passage=bool(before["passage_column"]))

    def refuse_other_options(self, *, are_asked_for: bool) -> str:
        """Raise InputError where what is called options is a list of something else than texts, or numbers in any form
        that would be options if they were texts; else empty."""
        for name in (found for key in OPTIONS for found in self.called(key)):
            cell = self.rows[0].get(name)
            if isinstance(cell, list) or (isinstance(cell, str) and cell.lstrip().startswith("[")):
                self.refuse_no_texts(name, self.rows[:1], "Make a list of texts of them.")
        look = _Look([_in_quotes(row) for row in self.rows], self.fixed, self.source)
        options = look.pick("endings_column", OPTIONS, look.may_be_options)
        if options and (are_asked_for or look.pick("label_column", LABELS, partial(look.says_which, options=options))):
            or_else = "" if are_asked_for else ", or, if these are texts with classes, say --kind classes"
            self.refuse_no_texts(options, self.rows, f"Make texts of them{or_else}.")
        return ""

    def refuse_no_texts(self, name: str, rows: Sequence[Record], advice: str) -> None:
        """Raise InputError with what the first of `rows` that has something else than texts under `name` has there."""
        for i, row in enumerate(rows):
            try:
                texts_of(row, name)
            except RowError as fault:
                which = "the first row" if i == 0 else "a row"
                raise InputError(f"{self.source.path}: {which} {fault}. {advice}") from None

    def refuse_lists_in_a_text(self, gold: str, negatives: str) -> None:
        """Raise InputError where cells that were not named seem to hold several wrong answers in one text."""
        if (
            not (gold and negatives)
            or "negatives_column" in self.fixed
            or listed(negatives, self.names) != (negatives,)
        ):
            return
        if self.mostly(lambda row: seems_several(row.get(gold), row.get(negatives), negatives)):
            raise InputError(
                f"{self.source.path}: {negatives} seems to hold several wrong answers in one text, parted by a mark. "
                f"Make a list of texts of them, or say --negatives-column {negatives} if each is one."
            )

    def before_options(self, taken: set[str]) -> dict[str, str]:
        """Where the context, a passage before it and the start of the options are."""
        context = self.pick("context_column", CONTEXTS, lambda name: name not in taken and self.may_ask(name))
        taken = taken | {context}
        asks = key_of(context) in QUESTIONS
        passage = self.pick("passage_column", PASSAGES, lambda name: asks and name not in taken and self.has_text(name))
        start = self.pick("start_column", ("start",), lambda name: key_of(context) == "sent1" and self.has_text(name))
        return {"context_column": context, "passage_column": passage, "start_column": start}

    def classes(self) -> Found | None:
        """The columns of texts with classes; None where there are none."""
        options = self.pick("endings_column", OPTIONS, self.are_classes)
        label = self.pick("label_column", CLASSES, self.has_classes)
        texts = self.pair() or {"text_column": self.pick("text_column", TEXTS, self.has_text)}
        if options and not any(texts.values()):
            texts = {"text_column": self.pick("context_column", CONTEXTS, self.has_text)}
        if not label or not any(texts.values()):
            return None
        self.refuse_free_answers(label, texts)
        return "classes", texts | {"endings_column": options, "label_column": label} | self.about()

    def refuse_free_answers(self, label: str, texts: Mapping[str, str]) -> None:
        """Raise InputError where what is called classes is an answer of its own to each question."""
        asked = key_of(texts.get("text_column", "")) in QUESTIONS and label != self.fixed.get("label_column")
        answers = [str(optional(row, label)) for row in self.rows if optional(row, label) is not None]
        if asked and len(answers) >= N_CONSTANT and 2 * len(set(answers)) > len(answers):
            raise self.no_wrong_answers(label)

    def refuse_unread_options(self, found: Mapping[str, str]) -> None:
        """Raise InputError where what looks like texts with classes has a column that says to hold options, and nothing
        that could be read as such, or where it has options that no name tells (`unread`)."""
        read = {name for column in found.values() for name in listed(column, self.names)}
        looked_for = () if "endings_column" in self.fixed else (*_PLURALS, *NEGATIVES)
        for name in (found for key in looked_for for found in self.called(key)):
            if read.isdisjoint(listed(name, self.names)) and self.has_texts(name):
                raise InputError(
                    f"{self.source.path}: {name} holds no options that can be read, such as a JSON list "
                    f'["one", "two"], or a column for each. Write them so, or, if these are texts with classes, say '
                    "--kind classes."
                )
        if looked_for:
            refuse_columns_of_options(self.source, self.rows, self.names, found)
        refuse_rows_of_options(self.source, self.rows, self.names, found)

    def no_wrong_answers(self, right: str) -> InputError:
        """That there is nothing to choose from: `right` holds answers, and no column others."""
        return UnknownColumnsError(
            f"{self.source.path}: {right} seems to hold right answers alone, and no wrong answers to choose from "
            f"(it has {shortly(self.names)}). Name these with --negatives-column NAME, and the right one with "
            "--gold-column NAME; or what says which is right, with --label-column NAME or --labels-file."
        )

    def pair(self) -> dict[str, str]:
        """Premise and hypothesis; nothing where the text stands alone, or has a name of its own."""
        if self.fixed.get("text_column"):
            return {name: self.fixed.get(name, "") for name in ("text_column", "premise_column")}
        if self.fixed.get("hypothesis_column"):
            return {name: self.fixed.get(name, "") for name in ("hypothesis_column", "premise_column")}
        for first, second in PAIRS:
            one, other = self.by_key.get(first, ""), self.by_key.get(second, "")
            if one and other and self.has_text(one) and self.has_text(other):
                return {"premise_column": self.fixed.get("premise_column", one), "hypothesis_column": other}
        return {}

    def about(self, *, has_passage: bool = False) -> dict[str, str]:
        """What else is said of a row; a passage is its group, where no column is surely called so."""
        group = self.pick("video_column", GROUPS, self.has_words)
        if not (group or has_passage):
            group = self.pick("video_column", MORE_GROUPS, self.makes_groups)
        return {
            "video_column": group,
            "media_column": self.pick("media_column", MEDIA, self.has_words),
            "id_column": self.id_beside(group),
            "split_column": self.pick("split_column", SPLITS, self.has_words),
            "source_column": self.pick("source_column", SOURCES, partial(self.says, source_of)),
            **self.contrasts(),
            **self.stages(),
        }

    def id_beside(self, group: str) -> str:
        """The column of ids: the first whose values do not repeat, where there are several."""
        if "id_column" in self.fixed:
            return self.fixed["id_column"]
        known = dict.fromkeys(found for key in IDS for found in self.called(key) if self.has_words(found))
        return first_unique([name for name in known if name != group], self.counted)

    def counted(self, name: str) -> Counter[str]:
        return counted(self.source, self.rows, name)

    def makes_groups(self, name: str) -> bool:
        """Whether rows share what is under `name`, which is no column of ids that was named."""
        return name != self.fixed.get("id_column") and self.has_words(name) and makes_groups(self.counted(name))

    def stages(self) -> dict[str, str]:
        """Which stage of a question a row is, where it is called as VCR's are, and what the stages of one share."""
        which = self.pick("stage_column", STAGE_NAMES, partial(self.says, stage_of))
        shared = self.pick("question_id_column", QUESTION_IDS if which else (), self.has_words)
        return {"question_id_column": shared, "stage_column": which if shared else self.fixed.get("stage_column", "")}

    def contrasts(self) -> dict[str, str]:
        """What names contrast sets, and which row of one is the original."""
        named = self.pick("contrast_set_column", CONTRAST_SETS, self.has_words)
        found = self.pick("variant_column", VARIANTS if named else (), partial(self.says, variant_of))
        return {"contrast_set_column": named, "variant_column": found}

    def pick(self, field: str, names: Sequence[str], is_it: Callable[[str], bool]) -> str:
        """The column of a field: the one named, else the first known name that holds what it should; or none."""
        if field in self.fixed:
            return self.fixed[field]
        candidates = (found for name in names for found in self.called(name))
        return next((name for name in candidates if is_it(name)), "")

    def called(self, key: str) -> list[str]:
        """The column of this key, and the numbered or lettered ones."""
        return [found for table in (self.by_key, self.lists_by_key) if (found := table.get(key))]

    def has_text(self, name: str) -> bool:
        return self.mostly(lambda row: bool(text_of(row, name).strip()), any_row=True)

    def may_ask(self, name: str) -> bool:
        """Whether there is text; under q, which may be the number of a question, one that is no number."""
        return self.mostly(
            lambda row: bool(text := text_of(row, name).strip()) and not _is_number(name, text), any_row=True
        )

    def has_texts(self, name: str) -> bool:
        return self.mostly(lambda row: any(texts_of(row, name)))

    def may_be_options(self, name: str) -> bool:
        """Two columns that are called by letters, as of a pair of texts, are options where there is a context."""
        letters = [one for one in listed(name, self.names) if len(one) == 1]
        if 0 < len(letters) < 3 and not self.pick("context_column", CONTEXTS, self.has_text):
            return False
        return self.has_options(name)

    def has_options(self, name: str) -> bool:
        return self.mostly(partial(_has_options, name=name))

    def has_words(self, name: str) -> bool:
        return self.mostly(lambda row: _is_word(optional(row, name)), any_row=True)

    def says(self, meaning: Callable[[str], str], name: str) -> bool:
        """Whether the words under `name` mean something to `meaning`."""
        return self.mostly(lambda row: bool(meaning(word_of(row, name))))

    def has_classes(self, name: str) -> bool:
        return name in self.names and self.mostly(lambda row: isinstance(optional(row, name), str | int | float | None))

    def says_which(self, name: str, options: str) -> bool:
        """Whether the labels under `name` mean options in one of the ways to read them, where there are labels."""
        if name not in self.names or name == options:
            return False
        labelled = [row for row in self.rows if not is_unlabelled(optional(row, name))]
        reads = [partial(_means_one, label=name, options=options, base=base) for base in (0, 1, AS_TEXT, AS_LETTERS)]
        return not labelled or any(_mostly(labelled, means_one) for means_one in reads)

    def other_labels(self, plan: Plan) -> Iterator[str]:
        """What is to be said of columns that are not read, are called as labels are, and mean other options."""
        label, options = plan.columns.label_column, plan.columns.endings_column
        if not options or "label_column" not in plan.guessed:
            return
        for name in plan.unread():
            if key_of(name) in LABELS and (n := self._n_apart(label, name, options)):
                yield (
                    f"{name} could be the label, too, and means another option in {n:,} of the first "
                    f"{several(len(self.rows), 'row')}: if it says which is right, say --label-column {name}"
                )

    def _n_apart(self, label: str, other: str, options: str) -> int:
        """In how many rows two columns mean two options, read so that these are fewest; 0 where one means none."""
        read = [
            [[_meant(row, name, options, base) for row in self.rows] for base in (0, 1, AS_TEXT, AS_LETTERS)]
            for name in (label, other)
        ]
        meant = [[way for way in ways if 2 * sum(one is not None for one in way) >= len(way)] for ways in read]
        pairs = (zip(one, two, strict=True) for one in meant[0] for two in meant[1])
        return min((sum(None not in both and both[0] != both[1] for both in pair) for pair in pairs), default=0)

    def form_of(self, label: str, options: str) -> str:
        """What labels are; by the first that there is."""
        labelled = [row for row in self.rows if not is_unlabelled(optional(row, label))]
        row = next((row for row in labelled if _mostly([row], lambda row: bool(texts_of(row, options)))), None)
        if row is None:
            return ""
        texts = texts_of(row, options)
        value, names = label_of(row, label, options, texts)
        if str(value).strip() in names:
            return "names"
        if isinstance(value, list) or (isinstance(value, str) and value.lstrip().startswith("[")):
            return "marks"
        if isinstance(value, bool):
            return "truth values"
        if number_of(value, texts) is not None:
            return "numbers"
        return "texts" if str(value).strip() in [str(text).strip() for text in texts] else "letters"

    def are_classes(self, name: str) -> bool:
        """Whether the options are the same in all rows, in one order, so that they are classes."""
        if not name or len(self.rows) < N_CONSTANT or not self.has_options(name):
            return False
        return len(set(self._options(name))) == 1

    def options_of(self, name: str) -> tuple[str | None, ...]:
        """Those of the first row that has some."""
        return next(self._options(name), ()) if name else ()

    def _options(self, name: str) -> Iterator[tuple[str | None, ...]]:
        return (tuple(texts_of(row, name)) for row in self.rows if _has_options(row, name))

    def mostly(self, holds: Callable[[Record], bool], *, any_row: bool = False) -> bool:
        """Whether half of the rows, or any, hold something; a RowError says no."""
        return _mostly(self.rows, holds, any_row=any_row)

    def fault(self, kind: Kind | None) -> InputError:
        """What is missing."""
        endings = self.pick("endings_column", OPTIONS, self.has_options)
        answers = self.pick("gold_column", ANSWERS, lambda name: self.has_texts(name) or self.has_text(name))
        if answers and endings in ("", answers):
            return self.no_wrong_answers(answers)
        has = f"(it has {shortly(self.names)})"
        if endings and kind != "classes":
            return InputError(
                f"{self.source.path}: no column says which of {endings} is right {has}. {_labels_of(self.source.path)}"
            )
        what = {"choices": "options and a label", "classes": "texts and their classes"}.get(kind or "", "questions")
        return UnknownColumnsError(
            f"{self.source.path}: no columns that look like {what} {has}. Name them with --context-column, "
            "--endings-column and --label-column, or where the right option has a column of its own with "
            "--gold-column and --negatives-column; of classes, with --text-column and --label-column, or of pairs, "
            "with --premise-column, --hypothesis-column and --label-column."
        )


def _labels_of(path: Path) -> str:
    """Where the labels of a file without any may be: in a file beside it, as releases have them for their test."""
    apart = path.with_name(f"{path.stem}_labels.csv")
    if not apart.is_file():
        return "Name it with --label-column NAME, or give the labels with --labels-file."
    folder = f"Name the folder, {path.parent}, for all its files; or " if (path.parent / MANIFEST).is_file() else ""
    advice = f"{folder}read {path.name} alone with --labels-file {apart}."
    return f"{apart.name} beside it has labels. {advice[:1].upper()}{advice[1:]}"


def _has_options(row: Record, name: str) -> bool:
    try:
        return sum(text is not None for text in texts_of(row, name)) > 1
    except RowError:
        return False


def _is_number(name: str, text: str) -> bool:
    return key_of(name) == "q" and integer(text) is not None


def _means_one(row: Record, label: str, options: str, base: int) -> bool:
    return _meant(row, label, options, base) is not None


def _meant(row: Record, label: str, options: str, base: int) -> int | None:
    """The option that the label means; None where it means none."""
    try:
        texts = texts_of(row, options)
        value, names = label_of(row, label, options, texts)
        return index_of(value, label, texts, what=options, names=names, base=base)
    except RowError:
        return None


def _mostly(rows: Sequence[Record], holds: Callable[[Record], bool], *, any_row: bool = False) -> bool:
    n = 0
    for row in rows:
        try:
            n += holds(row)
        except RowError:
            continue
    return n > 0 if any_row else 2 * n >= len(rows) and n > 0


def _in_quotes(value: Any) -> Any:
    """What a table as CSV would have: numbers as texts, within lists and objects, too."""
    if isinstance(value, Mapping):
        return {name: _in_quotes(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_in_quotes(one) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
    return plain(str(value)) if is_number else value


def _is_word(value: object) -> bool:
    """A name or a whole number; pandas makes floats of numbers where one is missing."""
    return isinstance(value, str | int) or (isinstance(value, float) and value.is_integer())
