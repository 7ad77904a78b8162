"""A description as tables of values, with what each column holds; how they are written is decided elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from swag_af.data.numbers.percent import in_percent
from swag_af.describing.counts import Count
from swag_af.describing.description import Description
from swag_af.describing.topics import Topics
from swag_af.describing.verbs import Ratio, VerbRow, Verbs

Form = Literal["text", "count", "number", "share", "times"]
"""How a value is shown: a share as percent, a number with two decimals, times as a ratio."""
Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    form: Form = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper."""

    name: str
    """Of its file."""
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    """A value is None where there is none."""

    def shown(self) -> list[tuple[str, ...]]:
        """The header and the rows as texts."""
        forms = [column.form for column in self.columns]
        rows = [tuple(map(_shown, row, forms)) for row in self.rows]
        return [tuple(column.name for column in self.columns), *rows]


def _shown(value: Value, form: Form) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if form == "share":
        return in_percent(value, 2)
    if form == "times":
        return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
    return f"{value:,.2f}" if form == "number" else f"{value:,}"


def tables_of(description: Description) -> tuple[Table, ...]:
    """All tables that have a row."""
    return tuple(table for table in _tables(description) if table.rows)


def _tables(description: Description) -> Iterator[Table]:
    counts, name = description.counts, description.name
    yield _counted("counts", f"Statistics of {name}.", counts.whole)
    yield _counted("splits", f"Instances of {name} by split.", counts.splits)
    yield _counted("sources", f"Instances of {name} by how the names of their groups begin.", counts.sources)
    yield _counted("labels", f"Labels of {name}.", counts.labels)
    yield _counted("questions", f"What the contexts of {name} ask; shares of all.", counts.first_words)
    yield _counted(
        "vocabulary", f"The vocabulary of {name}, in lower case, each different text once.", counts.vocabulary
    )
    yield _lengths(description)
    yield _sentences(description)
    if description.verbs:
        yield _verbs(description.verbs)
        yield from _surest(description.verbs)
        yield _coverage(description.verbs)
    if description.topics:
        yield _topics(description.topics, name)


def _counted(name: str, caption: str, counts: Sequence[Count]) -> Table:
    rows = tuple((one.what, one.n, one.share) for one in counts)
    columns = (Column(name), Column("n", "count"), Column("share", "share"))
    if all(share is None for _, _, share in rows):
        return Table(name, caption, columns[:2], tuple(row[:2] for row in rows))
    return Table(name, caption, columns, rows)


def _lengths(description: Description) -> Table:
    columns = (
        *(Column("part"), Column("n", "count"), Column("mean", "number"), Column("sd", "number")),
        *(Column("least", "count"), Column("5 %", "number"), Column("median", "number"), Column("95 %", "number")),
        *(Column("most", "count"), Column("words", "number"), Column("signs", "number")),
    )
    rows = tuple(
        (
            *(one.part, one.n, one.mean, one.sd, one.least, one.q5, one.median, one.q95, one.most),
            *(one.words, one.signs),
        )
        for one in description.lengths
    )
    caption = (
        f"Lengths of the texts of {description.name} in tokens, punctuation included; last the mean number of words "
        "(without punctuation) and of signs (clitics and marks apart, objects named together as one)."
    )
    return Table("lengths", caption, columns, rows)


_RIGHT = "golds (right options, each with its start; of classes, the texts)"


def _sentences(description: Description) -> Table:
    of = {"options": "options, each with its start", "contexts": "contexts"}.get(description.sentences_of, _RIGHT)
    caption = f"Different sentences of the {of}, and their mean length in tokens, as in the picture."
    rows = tuple((one.name, one.n, one.mean) for one in description.curves)
    return Table("lengths-sentences", caption, (Column("corpus"), Column("n", "count"), Column("mean", "number")), rows)


def _verbs(verbs: Verbs) -> Table:
    caption = f"The {len(verbs.rows)} commonest verbs of the {verbs.of}: shares of all verbs{_beside(verbs)}."
    columns = [Column("verb")]
    for name in verbs.corpora:
        columns += [Column(name, "count"), Column(f"{name} share", "share")]
    return Table("verbs", caption, (*columns, *_ratio_columns(verbs.corpora[1:])), tuple(map(_verb_row, verbs.rows)))


def _beside(verbs: Verbs) -> str:
    return f", and how many times as common each is in the first ({_SHRUNK})" if verbs.corpora[1:] else ""


_SHRUNK = "odds ratio, shrunk towards 1, the more so the rarer a verb is, and 95 % interval"


def _ratio_columns(names: Sequence[str]) -> Iterator[Column]:
    for name in names:
        yield from (Column(f"times {name}", "times"), Column("low", "times"), Column("high", "times"))


def _verb_row(row: VerbRow) -> tuple[Value, ...]:
    values: list[Value] = [row.verb]
    for n, share in zip(row.counts, row.shares, strict=True):
        values += [n, share]
    for ratio in row.ratios:
        values += _ratio(ratio)
    return tuple(values)


def _ratio(ratio: Ratio) -> list[Value]:
    return [ratio.times, ratio.low, ratio.high]


def _surest(verbs: Verbs) -> Iterator[Table]:
    """For each other corpus, the verbs that are surely commoner in the first, then those that are rarer."""
    several = len(verbs.corpora) > 2
    for i, name in enumerate(verbs.corpora[1:]):
        rows = [("commoner", row) for row in verbs.commoner[i]] + [("rarer", row) for row in verbs.rarer[i]]
        caption = (
            f"The verbs that are most surely commoner, or rarer, in {verbs.corpora[0]} than in {name}, of all verbs of "
            f"both, by the near end of the interval ({_SHRUNK}). Many verbs are looked at, so one or the other is here "
            "by luck."
        )
        columns = (
            *(Column("here"), Column("verb"), Column(verbs.corpora[0], "share"), Column(name, "share")),
            *_ratio_columns([name]),
        )
        table = f"verbs-apart-{i + 1}" if several else "verbs-apart"
        values = ((here, row.verb, row.shares[0], row.shares[i + 1], *_ratio(row.ratios[i])) for here, row in rows)
        yield Table(table, caption, columns, tuple(values))


def _coverage(verbs: Verbs) -> Table:
    columns = (
        *(Column("corpus"), Column("verbs", "count"), Column("different", "count")),
        *(Column(f"first {rank}", "share") for rank in _RANKS),
        *(Column("half are", "count"), Column("90 % are", "count")),
    )
    rows = tuple(
        (
            *(f"{one.name}{', drawn' if one.drawn else ''}", one.n, one.n_types),
            *(one.shares[min(rank, len(one.shares)) - 1] if one.shares else None for rank in _RANKS),
            *(one.half, one.nine_tenths),
        )
        for one in verbs.curves
    )
    caption = (
        "What share of all verbs the commonest are, and how many of the commonest are half and nine tenths of all. "
        "The fewer verbs, the steeper a curve: drawn is a random draw of as many as the smallest corpus has."
    )
    return Table("verbs-cumulative", caption, columns, rows)


_RANKS = (10, 40, 100, 400)


def _topics(topics: Topics, name: str) -> Table:
    caption = f"Topics of {name}: share of {topics.n_documents:,} documents, likeliest words."
    rows = tuple((", ".join(one.words), one.share) for one in topics.topics)
    return Table("topics", caption, (Column("words"), Column("share", "share")), rows)
