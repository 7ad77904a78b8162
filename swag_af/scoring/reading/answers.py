"""What a cell of anyone's table says of an instance: its answer, or a score of each of its answers.

Which answer was chosen is kept as shares, (M,) flat as in `swag_af.data.instances.instances`: 1 at the one that was
chosen, 1/t where t have the highest score, or the text that was given, so that no order breaks a tie; 0 throughout
where nothing was said.
Knows no files. Whatever cannot be read is a RowError.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np

from swag_af.data.cells.labels import (
    AS_LETTERS,
    AS_TEXT,
    as_written,
    base_named,
    base_of,
    check_base,
    fits_both,
    index_of,
    lacks_label,
    number_of,
    plain,
)
from swag_af.data.cells.values import as_list, integer
from swag_af.data.errors import InputError, RowError, told
from swag_af.data.instances.instances import Instances
from swag_af.data.instances.rows import has_own_ids
from swag_af.data.text.scripts import composed


def shares_of_choices(chosen: np.ndarray, instances: Instances) -> np.ndarray:
    """(M,) of the number of the answer chosen in each instance, (N,) from 0; -1 where there is none."""
    if chosen.shape != (len(instances),) or (chosen >= instances.n_answers).any() or (chosen < -1).any():
        raise InputError(f"{instances.name}: choices take one number of an answer an instance, or -1 for none.")
    shares = np.zeros(int(instances.offsets[-1]))
    said = chosen >= 0
    shares[(instances.offsets[:-1] + chosen.astype(np.int64))[said]] = 1.0
    return shares


def shares_of_scores(scores: np.ndarray, instances: Instances) -> np.ndarray:
    """(M,) of a score of every answer, (M,) or by instance, the highest of which is chosen; NaN throughout an instance
    for none."""
    n = int(instances.offsets[-1])
    if scores.ndim == 2 and len(scores) == len(instances) and (instances.n_answers == scores.shape[1]).all():
        scores = scores.reshape(-1)
    if scores.shape != (n,):
        raise InputError(
            f"{instances.name}: scores take one number for each answer of each instance, {n:,} in all, and "
            f"{'x'.join(map(str, scores.shape))} are given. Choices are whole numbers, -1 for none."
        )
    starts = instances.offsets[:-1]
    n_unknown = np.add.reduceat(np.isnan(scores).astype(np.int64), starts)
    if ((n_unknown > 0) & (n_unknown < instances.n_answers)).any():
        raise InputError(f"{instances.name}: some scores of an instance are no numbers. Give all of them, or none.")
    highest = np.repeat(np.maximum.reduceat(scores, starts), instances.n_answers)  # (M,) NaN where there is none
    is_top = scores == highest
    n_top = np.repeat(np.add.reduceat(is_top.astype(np.int64), starts), instances.n_answers)
    return is_top / np.maximum(n_top, 1)


_NO_ORDER = "the dataset has no order of answers, for gold has a column of its own"


UNKNOWN = -1
"""In place of a row: no instance has this id."""
HIDDEN = -2
"""Likewise: it is that of a row without a label, which was left out."""


class Cells:
    """Reads the cells of predictions on a set of instances."""

    def __init__(
        self,
        instances: Instances,
        class_order: str = "",
        beside: Callable[[], Mapping[str, Sequence[str]]] = dict,
    ) -> None:
        """`class_order` names the classes in the order in which numbers and lists of scores count them; `beside` reads
        the columns of the dataset's files."""
        self.instances = instances
        self._beside = beside
        self.order = _order(instances, class_order)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each id."""
        return {one.id: row for row, one in enumerate(self.instances.instances)}

    @cached_property
    def places(self) -> list[int]:
        """By number from 0 the row of each instance, `HIDDEN` for rows without a label, as they stand in the files."""
        before = [one.before for one in self.instances.unlabelled]
        places: list[int] = np.insert(np.arange(len(self.instances)), np.array(before, np.int64), HIDDEN).tolist()
        return places

    @cached_property
    def _unlabelled(self) -> set[str]:
        return {one.id for one in self.instances.unlabelled}

    def row(self, id: str) -> int:
        """The row of an id, `HIDDEN` where it is that of one without a label, `UNKNOWN` where there is none."""
        if id in self.rows or id.isascii():
            return self.rows.get(id, HIDDEN if id in self._unlabelled else UNKNOWN)
        return self._composed.get(composed(id), UNKNOWN)

    @cached_property
    def _composed(self) -> dict[str, int]:
        """The row of each id by its composed form, which two ids may share: then neither is meant."""
        rows: dict[str, int] = {}
        for id, row in (*self.rows.items(), *((id, HIDDEN) for id in self._unlabelled)):
            rows[composed(id)] = UNKNOWN if composed(id) in rows else row
        return rows

    @cached_property
    def beside(self) -> Mapping[str, Sequence[str]]:
        """By column of the dataset's files the text of each instance."""
        return self._beside()

    @cached_property
    def has_ids(self) -> bool:
        """Whether the dataset has ids of its own; else file and line stand for them."""
        return has_own_ids(self.instances.instances)

    def texts(self, row: int) -> Sequence[str]:
        """The answers of an instance: its options, or the classes."""
        return self.instances.classes or self.instances.instances[row].options

    def given(self, row: int) -> Sequence[str | None]:
        """The same as they are counted: None for blank options of the row, which are no answers."""
        texts, places = self.texts(row), self.instances.instances[row].places
        if not places:
            return texts
        of_place = dict(zip(places, texts, strict=True))
        return [of_place.get(i) for i in range(1 + places[-1])]

    def base(self, values: Sequence[Any], rows: Sequence[int], asked: str) -> tuple[int, str]:
        """From what numbers of answers count in all these cells, and what is to be said of that; `asked` is the value
        of --prediction-base."""
        if asked != "auto":
            return base_named(asked), ""
        if self.are_numbers:
            return AS_TEXT, ""
        cells = zip(values, rows, strict=True)
        given = [(self._written(value, row), self.given(row), self.names(row)) for value, row in cells]
        base = base_of(given)
        check_base(base, given, "predictions", "--prediction-base")
        if base == 1:
            doubt = ", as beside letters; see whether --prediction-base 0 is meant" if fits_both(given) else ""
            return base, f", whose numbers count from 1{doubt}"
        if base == 0 and self.instances.has_order and fits_both(given):
            counts_from, other = self.instances.label_base, 1 - self.instances.label_base
            as_labels = "as the labels do" if counts_from else "no 0 is there"
            doubt = f"{as_labels}, so see whether --prediction-base {other} is meant"
            return counts_from, f", whose numbers are taken to count from {counts_from}: {doubt}"
        return base, ""

    def names(self, row: int) -> Sequence[str]:
        """What stands for an answer beside numbers and letters: the classes, or what the row calls its options."""
        return self.instances.classes or self.instances.instances[row].names[: len(self.given(row))]

    @cached_property
    def are_numbers(self) -> bool:
        """Whether all classes are called by numbers, so that a number is a name unless it is said from where it
        counts."""
        return bool(self.instances.classes) and None not in map(integer, self.instances.classes)

    @cached_property
    def by_name(self) -> int:
        """The base of cells that name answers."""
        return AS_TEXT if self.are_numbers else 0

    @cached_property
    def _classes(self) -> dict[str, int]:
        """The number of each class by its name, in lower case where that is unique; the names True and False too."""
        names = {name.lower(): i for i, name in enumerate(self.instances.classes)}
        exact = {name: i for i, name in enumerate(self.instances.classes)}
        return (names if len(names) == len(exact) else {}) | exact

    def answer(self, value: Any, row: int, column: str, base: int) -> int:
        """The number of the answer that a cell names: by number from `base`, letter, text, or name of a class.

        Where classes are numbers, a number is the name of one if `base` is `AS_TEXT`, and counts them otherwise.
        """
        value, texts, given = self._written(value, row), self.texts(row), self.given(row)
        if (named := self._class(value, base)) is not None:
            return named
        if self.has_none(value, row, base):
            what = "no" if value in (None, "") or value != value else f"{told(value)}, which is no answer, as"
            raise RowError(f"has {what} {column}")
        if self.instances.kind == "classes":
            number = number_of(value)
            if number is not None and not self.order:
                raise RowError(f"has the number {number} under {column} for one of {_listed(texts)}: say --class-order")
            if number is not None and base == AS_TEXT:
                from_1 = number == len(texts)  # past the last where they count from 0
                raise RowError(
                    f"has {number} under {column}, which is none of {_listed(texts)}: give one of these, or say "
                    f"--prediction-base {int(from_1)} if numbers count them{'' if from_1 else ', or 1 if from 1'}"
                )
            if number is None or not 0 <= number - base < len(texts):
                raise RowError(f"has {value!r} under {column}, which is none of {_listed(texts)}")
            return self.order[number - base]
        if not self.instances.has_order:
            return self._by_text(value, texts, column)
        i = index_of(value, column, given, what="options", names=self.names(row), base=base)
        if given[i] is None:
            raise RowError(f"has {told(value)} under {column}, which is a blank option of the row")
        return sum(one is not None for one in given[:i])

    def answers(self, value: Any, row: int, column: str, base: int) -> list[int]:
        """The numbers of the answers that a cell names: several where it is the text of equal options."""
        same = self._of_text(self._written(value, row), row, base)
        return same if len(same) > 1 else [self.answer(value, row, column, base)]

    def _of_text(self, value: Any, row: int, base: int) -> list[int]:
        """The options whose text a cell is, where it is no number, letter or name of one."""
        given, text = self.given(row), plain(str(value)) if isinstance(value, int | float) else value
        if self.instances.kind == "classes" or not isinstance(text, str) or self.has_none(value, row, base):
            return []
        is_number = base != AS_TEXT and number_of(value, given) is not None
        if self.instances.has_order and (is_number or base == AS_LETTERS or text.strip() in self.names(row)):
            return []
        return [i for i, one in enumerate(self.texts(row)) if one.strip() == text.strip()]

    def _written(self, value: Any, row: int) -> Any:
        return as_written(value, self.texts(row), self.names(row))

    def has_none(self, value: Any, row: int, base: int) -> bool:
        """Whether a cell names no answer and says so: it is empty, null, - or -1."""
        return self._class(value, base) is None and lacks_label(value, self.given(row), base)

    def _class(self, value: Any, base: int) -> int | None:
        """The class that a cell names by its name."""
        is_named = self.instances.kind == "classes" and (base == AS_TEXT or not self.are_numbers)
        return self._named(value) if is_named else None

    def _by_text(self, value: Any, texts: Sequence[str], column: str) -> int:
        """The answer whose text is given, where the dataset has no order of answers."""
        text = value.strip() if isinstance(value, str) else None
        meant = [i for i, one in enumerate(texts) if one.strip() == text]
        if len(meant) != 1:
            what = f"has {told(value)} under {column}, which is the text of {'several' if meant else 'none'} of its"
            raise RowError(f"{what} answers: {_NO_ORDER}, so give that text")
        return meant[0]

    def _named(self, value: Any) -> int | None:
        """The class that a text or a truth value names."""
        text = str(value).strip() if isinstance(value, str | bool | int) else ""
        for name in (text, text.lower(), plain(text)):
            if name in self._classes:
                return self._classes[name]
        return None

    def names_all(self, value: Mapping[Any, Any], row: int) -> bool:
        """Whether an object has a score for each answer under its text."""
        texts = [one.strip() for one in self.texts(row)]
        return sorted(str(self._written(text, row)).strip() for text in value) == sorted(texts) == sorted(set(texts))

    def scores(self, value: Any, row: int, column: str) -> list[float]:
        """A score of each answer: a list in their order, or an object by the names of classes, letters or texts."""
        n = len(self.texts(row))
        if isinstance(value, Mapping):
            if self.names_all(value, row):
                by_text = {str(self._written(text, row)).strip(): score for text, score in value.items()}
                return checked_scores([number_in(by_text[one.strip()]) for one in self.texts(row)], column)
            given = {self.answer(name, row, column, self.by_name): score for name, score in value.items()}
            return checked_scores([number_in(given.get(i)) for i in range(n)], column)
        if not self.instances.has_order:
            raise RowError(f"has a list under {column}: {_NO_ORDER}, so give an object of the scores by these texts")
        numbers = [number_in(one) for one in as_list(value, column)]
        places = self.instances.instances[row].places
        if len(numbers) > n and places and places[-1] < len(numbers):  # blank options have scores too
            numbers = [numbers[place] for place in places]
        if len(numbers) != n:
            raise RowError(f"has {len(numbers)} scores under {column} for {n} answers")
        if self.instances.kind == "classes":
            if not self.order:
                raise RowError(f"has a list under {column} for {_listed(self.texts(row))}: say --class-order")
            numbers = [numbers[self.order.index(i)] for i in range(n)]
        return checked_scores(numbers, column)


def _order(instances: Instances, said: str) -> tuple[int, ...]:
    """The number of the class that each number from 0 stands for; empty where nobody says.

    Without `said` it is known of False and True, and of classes that are numbers, which lists of scores count upwards.
    """
    classes = instances.classes
    if said:
        names = [name.strip() for name in said.split(",")]
        if sorted(names) != sorted(classes):
            have = f"classes are {', '.join(classes)}" if classes else "instances have options and no classes"
            raise InputError(f"--class-order {said}: {instances.name}'s {have}. Name each once, with commas between.")
        return tuple(classes.index(name) for name in names)
    known = [name.lower() for name in classes] == ["false", "true"] or None not in map(integer, classes)
    return tuple(range(len(classes))) if classes and known else ()


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:6])


def checked_scores(numbers: Sequence[float | None], column: str) -> list[float]:
    """The scores themselves where all are numbers, minus infinity allowed beside others; RowError otherwise."""
    found = [one for one in numbers if one is not None and (isfinite(one) or one == -inf)]
    if len(found) < len(numbers) or not any(map(isfinite, found)):
        raise RowError(f"has scores under {column} that are no numbers")
    return found


def number_in(value: Any) -> float | None:
    """The number in a cell; None for anything else, a truth value too."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
