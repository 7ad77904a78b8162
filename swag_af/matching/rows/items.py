"""What is matched: rows of a query and its right response, as contexts, and what their tags stand for.

A query is a context's first sentence and start, its response the gold ending; a question without a start has all of
itself in `sent1`. Where the texts come from, `reading` says.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from swag_af.data.captions.context_set import NearJoined, join_near_duplicates
from swag_af.data.context import Context
from swag_af.data.errors import Faults, InputError, RowError
from swag_af.data.splits import join_by_text, named_groups, numbered
from swag_af.data.text.wording import by_value, comparable, sentence_keys
from swag_af.data.tokens import one_after_another
from swag_af.matching.rows.tags import Scene, objects_of, template

NEAR_DUPLICATES = 0.7
"""The Jaccard similarity of token 3-grams from which rows are in one group: what `release` takes for one split."""


@dataclass(frozen=True, slots=True)
class Item:
    """One query with its right response."""

    context: Context
    """`sent1` and `start` are the query, `gold` the response, `video` the group."""
    rationale: str = ""
    """Why the response is right, where the data says it."""
    objects: tuple[str, ...] = ()
    """The kinds of the row's objects, in the order in which tags number them."""
    media: str = ""
    """What the row shows that is no text, such as an image, by name."""

    @property
    def query(self) -> str:
        """All that comes before the response."""
        return one_after_another(self.context.sent1, self.context.start).strip()

    @property
    def response(self) -> str:
        """The right answer."""
        return self.context.gold

    @property
    def asked(self) -> str:
        """Equal for rows that ask the same: the same words about the same media."""
        return repr((comparable(self.query), self.media, sorted(self.context.media.items())))

    def with_media(self) -> Context:
        """The context with what the row shows, in the columns of VCR: what a release gives along."""
        shown = {"img_fn": self.media, "objects": list(self.objects)}
        return replace(self.context, media={**self.context.media, **{name: one for name, one in shown.items() if one}})

    def scene(self) -> Scene:
        """What tags of responses may stand for in this row."""
        return Scene.of(objects_of(self.objects), [self.query, self.response])


@dataclass(frozen=True)
class Items:
    """`n` rows to be matched, in the order of their ids."""

    rows: tuple[Item, ...]
    name: str = "data"
    files: dict[str, str] = field(default_factory=dict)
    """The name of each file that was read, and the SHA-256 of its content."""
    notes: tuple[str, ...] = ()
    """How the files were read, a sentence each."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(sorted(self.rows, key=lambda item: item.context.id)))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: Sequence[int] | np.ndarray) -> "Items":
        """The set of the rows at these places alone."""
        return replace(self, rows=tuple(self.rows[int(row)] for row in rows))

    @cached_property
    def queries(self) -> list[str]:
        """n queries as models read them: the kind of each object in place of its tag."""
        return [template(item.query) for item in self.rows]

    @cached_property
    def responses(self) -> list[str]:
        """n responses, likewise."""
        return [template(item.response) for item in self.rows]

    @cached_property
    def texts(self) -> np.ndarray:
        """(n,) numbers that are equal for responses of the same words, and for numbers of one value: 12 is 12.0."""
        return numbered([by_value(comparable(text)) for text in self.responses])

    @cached_property
    def questions(self) -> np.ndarray:
        """(n,) numbers that are equal for rows of one question, of which each has a right answer: the same words about
        the same media, in whatever fold.

        The same words in two groups that the data names are two questions, as about two films; `cautions` counts where
        one has a right answer of the other.
        """
        return numbered([repr((row.asked, row.context.video)) for row in self.rows])

    def right_for(self, rows: np.ndarray) -> np.ndarray:
        """(b, b) whether response j of `rows` (b,) has the text of a right answer to the question of row i: its own, or
        that of another row of the question, which may be outside of `rows`."""
        asked, question = np.unique(self.questions[rows], return_inverse=True)
        said, text = np.unique(self.texts[rows], return_inverse=True)
        known = np.isin(self.questions, asked) & np.isin(self.texts, said)
        is_right = np.zeros((len(asked), len(said)), bool)
        is_right[np.searchsorted(asked, self.questions[known]), np.searchsorted(said, self.texts[known])] = True
        return is_right[question][:, text]

    @cached_property
    def groups(self) -> np.ndarray:
        """(n,) numbers of the groups that the data names, joined where rows share a query or a sentence of one, as far
        as no group grows too large, and where query and response are nearly the same.

        A release joins what is nearly the same into one split, so that must not be in two folds.
        """
        return self.near_joined.groups

    @cached_property
    def near_joined(self) -> NearJoined:
        """The `groups`, and whether a template made so many rows alike that it did not count."""
        named = named_groups([item.context.video for item in self.rows])
        keys = [sentence_keys(item.query) for item in self.rows]
        rows = np.repeat(np.arange(len(self)), [len(of_row) for of_row in keys])
        joined = join_by_text(named, rows, np.array([key for of_row in keys for key in of_row], np.int64))
        return join_near_duplicates(joined.groups, [item.context for item in self.rows], NEAR_DUPLICATES)


def items_of(queries: Sequence[str], responses: Sequence[str], groups: Sequence[str] | None = None) -> Items:
    """Rows of plain texts; ids count them. `groups` name what belongs together, each row by itself when not given.

    Raises InputError where a text is missing, empty or no text.
    """
    queries, responses = list(queries), list(responses)
    named = [""] * len(queries) if groups is None else list(groups)
    if not len(queries) == len(responses) == len(named):
        n_groups = "" if groups is None else f" and {len(named)} groups"
        raise InputError(f"{len(queries)} queries, {len(responses)} responses{n_groups}: give as many of each.")
    if not len(queries):
        raise InputError("no queries. Give some, each with its response.")
    faults = Faults("texts", "Mend them, or leave those rows out.")
    for i, row in enumerate(zip(queries, responses, named, strict=True)):
        for what, text in zip(("query", "response", "group"), row, strict=True):
            if not isinstance(text, str):
                faults.add(f"row {i}", RowError(f"its {what} is {type(text).__name__}, no text"))
            elif what != "group" and not comparable(text):
                faults.add(f"row {i}", RowError(f"its {what} is empty"))
    faults.check()
    width = len(str(len(queries)))
    return Items(
        tuple(
            Item(Context(query, "", response, id=f"{i:0{width}}", video=group))
            for i, (query, response, group) in enumerate(zip(queries, responses, named, strict=True))
        )
    )
