"""How the rows of a source are read: its layout, and the columns that were named or found."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from swag_af.data.cells.labels import AS_TEXT
from swag_af.data.cells.values import listed
from swag_af.data.cells.words import FOLD, GROUPS, key_of
from swag_af.data.errors import RowError
from swag_af.data.instances.instances import Kind
from swag_af.data.instances.layouts.layout import Layout
from swag_af.data.instances.names import shortly
from swag_af.data.instances.options import InstanceColumns
from swag_af.data.instances.tagged import Persons, with_texts
from swag_af.data.tables.sources import Record


@dataclass(frozen=True)
class Plan:
    """How a source is read."""

    kind: Kind
    layout: Layout
    columns: InstanceColumns
    """Each a column, or empty; none is auto."""
    guessed: frozenset[str] = frozenset()
    """The fields of `columns` that nobody named."""
    names: tuple[str, ...] = ()
    """All columns of the first rows."""
    class_names: tuple[str, ...] = ()
    """What labels that are numbers mean, where they are classes and the file says it."""
    labels_are: str = ""
    """What the labels of the first rows are: numbers, letters, texts, names or marks."""
    tagged: tuple[str, ...] = ()
    """Columns whose texts are lists of words and numbers of objects."""
    persons: Persons = "tags"
    """What persons are called in them."""
    made: Mapping[str, str] = field(default_factory=dict)
    """Of columns that the layout makes, those of the file that they are made of (`Layout.made`)."""
    base: int = 0
    """From what labels that are numbers count; `AS_TEXT` where they are texts of options, `AS_LETTERS` where they are
    letters of which some could be such texts."""
    base_doubt: str = ""
    """What is to be said of that, where they might count otherwise."""
    doubts: tuple[str, ...] = ()
    """What is to be said of columns that are not read, and might have to be."""
    numbers: tuple[int, ...] = ()
    """Of the numbered columns of options, in all rows."""
    class_options: tuple[str | None, ...] = ()
    """The options of every row, where these are the classes."""

    def said(self) -> str:
        """`question = question, options = choices, label = label (numbers), group = none; not read: nr, clip`."""
        words = _WORDS_OF_CHOICES if self.kind == "choices" else _WORDS_OF_CLASSES
        columns = asdict(self.columns)
        named = {word: self.named(name) for name, word in words.items() if columns[name]}
        said = [f"{word} = {name}" for word, name in named.items() if name]
        if self.kind == "choices" and not any(columns[name] for name in BEFORE_OPTIONS):
            said.insert(0, "question = none")
        if not columns["video_column"]:
            said.append(f"group = {self._own_group()}")
        if (video := self.video()) and not self.layout.video:
            said.append(f"video = {video}")
        layout = "" if self.layout.name == "columns" else f" (layout {self.layout.name})"
        unread = self.unread()
        left = f"; not read: {shortly(unread)}" if unread else ""
        return ", ".join(said) + layout + left

    def video(self) -> str:
        """The column that says what a row asks about, where its group may be the fold of a matching; empty where none
        does."""
        if self.layout.video:
            return self.layout.video if self.layout.video in self.names else ""
        if key_of(self.columns.video_column) != FOLD:
            return ""
        by_key = {key_of(name): name for name in reversed(self.names)}
        return next((by_key[key] for key in GROUPS if key in by_key and key != FOLD), "")

    def unread(self) -> tuple[str, ...]:
        """The columns that are nothing of a question; of layouts that make columns of their own, none are told."""
        if self.layout.name != "columns":
            return ()
        read = {
            name
            for column in (*asdict(self.columns).values(), self.video())
            for name in listed(column, self.names) or (column,)
        }
        tops = {name.partition(".")[0] for name in read}
        return tuple(name for name in self.names if name not in read | tops and name.partition(".")[0] not in tops)

    def names_of_rows(self) -> tuple[str, ...]:
        """The columns by which a row, or what it shares with others, is called."""
        one = self.columns
        shared = (one.video_column, one.media_column, one.contrast_set_column, one.question_id_column)
        return tuple(filter(None, (one.id_column, one.split_column, *shared)))

    def _own_group(self) -> str:
        if self.columns.passage_column:
            return "the passage"
        return "the contrast set" if self.columns.contrast_set_column else "none"

    def has_group(self) -> bool:
        """Whether anything says which rows belong together."""
        return bool(self.columns.video_column) or self._own_group() != "none"

    def named(self, field: str) -> str:
        """The columns of a field, as the file has them: `a0 ... a4` for a list of them, with what labels are; empty of
        what is in none."""
        column = str(getattr(self.columns, field))
        several = listed(column, self.names)
        column = self.made.get(column, column)
        if field == "label_column" and self.labels_are:
            are = "texts" if self.base == AS_TEXT else self.labels_are
            return f"{column} ({are}{f' from {self.base}' if are == 'numbers' else ''})"
        return f"{several[0]} ... {several[-1]}" if len(several) > 1 else column


def in_groups_of_all(plans: Sequence[Plan]) -> list[Plan]:
    """The plans, each with the column that was found to say which rows belong together in another of its layout, where
    it has that column and no group: in a small split its values may not repeat, and they may be taken for ids."""

    def with_group(plan: Plan) -> Plan:
        given = (one.columns.video_column for one in plans if one.layout.name == plan.layout.name)
        group = next((name for name in given if name and name in plan.names), "")
        if "video_column" not in plan.guessed or plan.has_group() or not group:
            return plan
        id = "" if plan.columns.id_column == group and "id_column" in plan.guessed else plan.columns.id_column
        return replace(plan, columns=replace(plan.columns, video_column=group, id_column=id), doubts=())

    return [with_group(plan) for plan in plans]


BEFORE_OPTIONS = ("passage_column", "context_column", "start_column")
"""What stands before the options."""


_WORDS_OF_BOTH = {
    "video_column": "group",
    "media_column": "media",
    "id_column": "id",
    "split_column": "split",
    "source_column": "source of gold",
    "contrast_set_column": "contrast set",
    "variant_column": "variant",
    "question_id_column": "question of all stages",
    "stage_column": "stage",
}
_WORDS_OF_CHOICES = {
    "passage_column": "passage",
    "context_column": "question",
    "start_column": "start",
    "endings_column": "options",
    "label_column": "label",
    "gold_column": "gold",
    "negatives_column": "other options",
    **_WORDS_OF_BOTH,
}
_WORDS_OF_CLASSES = {
    "premise_column": "premise",
    "hypothesis_column": "hypothesis",
    "text_column": "text",
    "endings_column": "classes",
    "label_column": "label",
    **_WORDS_OF_BOTH,
}


def plain_rows(row: Record, layout: Layout, tagged: Sequence[str], persons: Persons, place: str) -> Sequence[Record]:
    """The plain rows that a row stands for, its tagged texts rendered; a RowError tells all that is wrong with it."""
    texts, faults = with_texts(row, tagged, persons) if tagged else (row, [])
    try:
        plain = layout.expand(texts, place)
    except RowError as fault:
        faults.append(str(fault))
    if faults:
        raise RowError("; ".join(faults))
    return plain
