"""A set of labelled instances, as any audit, baseline or score sees it; where they come from is decided elsewhere.

Two kinds. *Choices*: a context, and options of which one is right; not all rows need have
the same number of options. *Classes*: a text, perhaps behind another (hypothesis and premise), whose label is one of
the classes of the set.

    choices    context "What could be put on a wall?"     options paint | carpet | curtains    answer 1
    classes    context "A man stands near a wall."        options Humans near a wall.          answer 0 of the classes

Both have `M` answers in all, `n_answers[i]` of them for instance `i`, one of which is right: options, or classes. What
concerns answers is flat, (M,), answers of instance 0 first; `offsets` says where each begins. Whoever computes
anything from the texts is handed `texts`, which hold no label.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Literal, NamedTuple, get_args

import numpy as np

from swag_af.data.captions.language import foreign_language
from swag_af.data.display.brief import brief
from swag_af.data.errors import InputError, told

Kind = Literal["choices", "classes"]


@dataclass(frozen=True, slots=True)
class Instance:
    """One question, or one labelled text."""

    id: str
    """Unique in the set."""
    context: str
    """What comes first: a sentence, question, passage or premise; empty where there is none."""
    options: tuple[str, ...]
    """Of choices, the options in the order of the dataset; of classes, the one text that is classified."""
    answer: int
    """The right one of `options`, or of the classes of the set."""
    start: str = ""
    """The beginning that every option completes, as in SWAG's second sentence; empty where options stand alone."""
    group: str = ""
    """What no split should separate: video, passage, image set; empty where the dataset names none."""
    split: str = ""
    """The published split; empty where there is one only."""
    where: str = ""
    """Its place in the file: `val.jsonl, line 7`."""
    media: str = ""
    """What it shows that is no text, by name: a video, a pair of images; empty where its texts are all there is. Equal
    texts with different media are different instances."""
    contrast_set: str = ""
    """What is to be right together with others: an original and its edits, a sentence with several inputs (NLVR2)."""
    variant: str = ""
    """Of a contrast set: `original` or `contrast`, where the dataset tells."""
    question: str = ""
    """Where a question is asked in stages, what they share: VCR's `annot_id`."""
    stage: str = ""
    """Which one: `Q->A` or `QA->R`."""
    gold_source: str = ""
    """`found` or `generated`, where the dataset tells where gold is from."""
    objects: tuple[str, ...] = ()
    """The kinds of what its tags may stand for, where the row lists them (VCR): `[chair2]` is the second chair."""
    places: tuple[int, ...] = ()
    """Of each option, which one of the row it is, from 0, where blank ones before it were left out: so do labels and
    predictions count. Empty where that is its place among `options`."""
    names: tuple[str, ...] = ()
    """What the row calls its options, blank ones too, where these are no numbers, nor A, B and so on in this order:
    predictions may say them."""
    video: str = ""
    """What it asks about, as far as the dataset says it, where `group` is the fold of a matching, which holds many."""


@dataclass(frozen=True)
class Texts:
    """What of a set may be read before its labels are: nothing here depends on them."""

    kind: Kind
    contexts: tuple[str, ...]
    """(N,)"""
    starts: tuple[str, ...]
    """(N,)"""
    options: tuple[str, ...]
    """Of choices, (M,), all options; of classes, (N,), the texts that are classified."""
    offsets: np.ndarray
    """(N + 1,) where the answers of each instance begin among the M."""
    has_order: bool
    """Whether the order of options is that of the dataset; False where it was drawn because gold has a column of its
    own, so that nothing may be said of positions."""
    has_media: bool = False
    """Whether anything is shown beside the texts."""

    def __len__(self) -> int:
        return len(self.contexts)

    @cached_property
    def rows(self) -> np.ndarray:
        """The instance of each entry of `options`: (M,) of choices, (N,) of classes."""
        n = len(self)
        return np.repeat(np.arange(n), np.diff(self.offsets)) if self.kind == "choices" else np.arange(n)


class Unlabelled(NamedTuple):
    """A row that is no instance, for want of a label."""

    id: str
    before: int
    """How many instances stand before it."""


@brief
@dataclass(frozen=True)
class Instances:
    """A set of instances of one kind."""

    instances: tuple[Instance, ...]
    kind: Kind
    classes: tuple[str, ...] = ()
    """Names of the classes, where they are classes."""
    name: str = "data"
    """What the set is called on a page."""
    has_order: bool = True
    """As in `Texts`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The name of each file that was read, and the SHA-256 of its content."""
    notes: tuple[str, ...] = ()
    """How the files were read, a sentence each: formats, columns, what was left out."""
    unmasked: tuple[Instance, ...] | None = None
    """The instances before anything was hidden in their texts; None where nothing was."""
    label_base: Literal[0, 1] = 0
    """From what number the labels of all its files count the options; 0 where they do not."""
    cut_sets: frozenset[str] = frozenset()
    """Contrast sets of which rows without a label were left out on reading."""
    unlabelled: tuple[Unlabelled, ...] = ()
    """The rows without a label that were left out on reading, in order."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InputError(f"{self.name}: kind {told(self.kind)}, where one of {', '.join(get_args(Kind))} is due.")
        if not self.instances:
            raise InputError(f"{self.name}: no instances in it. Check the file.")
        if self.kind == "classes" and len(self.classes) < 2:
            only = told(self.classes[0]) if self.classes else "none"
            raise InputError(f"{self.name}: one class only, {only}: nothing is to be told apart. Two or more are due.")
        fault = next(filter(None, map(self._fault, self.instances)), "")
        if fault:
            raise InputError(f"{self.name}: {fault}")
        wrong = next((one for one in self.instances if not self._has_answer(one)), None)
        if wrong is not None:
            of = "its options" if self.kind == "choices" else "the classes"
            raise InputError(
                f"{self.name}: {told(wrong.id)} has the answer {told(wrong.answer)}, no number of {of} from 0."
            )
        repeated = [id for id, n in Counter(one.id for one in self.instances).items() if n > 1]
        if repeated:
            first = told(repeated[0])
            one = f"the id {first} occurs twice"
            raise InputError(
                f"{self.name}: {one if len(repeated) == 1 else f'{len(repeated):,} ids occur twice (first: {first})'}. "
                "Make ids unique."
            )

    def _fault(self, one: object) -> str:
        """What is no instance of this kind in a member; empty where nothing is."""
        if not isinstance(one, Instance):
            return f"a {type(one).__name__} among the instances, where an Instance is due."
        if not isinstance(one.options, tuple | list):
            return f"{told(one.id)} has {type(one.options).__name__} options, where a tuple of texts is due."
        if strange := [text for text in (one.context, one.start, *one.options) if not isinstance(text, str)]:
            return f"{told(one.id)} has {told(strange[0])} among its texts, which is none."
        if self.kind == "classes" and len(one.options) != 1:
            return f"{told(one.id)} has {len(one.options)} options, where the one text that is classified is due."
        return ""

    def _has_answer(self, one: Instance) -> bool:
        n = len(one.options) if self.kind == "choices" else len(self.classes)
        return isinstance(one.answer, Integral) and not isinstance(one.answer, bool) and 0 <= one.answer < n

    def __len__(self) -> int:
        return len(self.instances)

    @cached_property
    def foreign_language(self) -> str:
        """The code of the language of most texts, whatever is hidden in them; empty for English, and where it is not
        sure."""
        ones = self.unmasked or self.instances
        return foreign_language(text for one in ones for text in (one.context, one.start, *one.options))

    @cached_property
    def n_answers(self) -> np.ndarray:
        """(N,) options of each instance, or the number of classes."""
        if self.kind == "classes":
            return np.full(len(self), len(self.classes), np.int64)
        return np.array([len(one.options) for one in self.instances], np.int64)

    @cached_property
    def masked(self) -> np.ndarray | None:
        """(N,) in which instances something was hidden; None where nothing was to be."""
        if self.unmasked is None:
            return None
        return np.array([one is not other for one, other in zip(self.instances, self.unmasked, strict=True)], bool)

    @cached_property
    def offsets(self) -> np.ndarray:
        """(N + 1,) where the answers of each instance begin among the M."""
        return np.concatenate([[0], np.cumsum(self.n_answers)])

    @cached_property
    def answers(self) -> np.ndarray:
        """(N,) the number of the right answer of each instance."""
        return np.array([one.answer for one in self.instances], np.int64)

    @cached_property
    def is_gold(self) -> np.ndarray:
        """(M,) whether an answer is the right one."""
        gold = np.zeros(int(self.offsets[-1]), bool)
        gold[self.offsets[:-1] + self.answers] = True
        return gold

    @cached_property
    def chance(self) -> np.ndarray:
        """(N,) how often a guess that knows no texts is right: 1 / options; of classes, the share of the largest."""
        if self.kind == "classes":
            return np.full(len(self), np.bincount(self.answers).max() / len(self))
        return 1 / self.n_answers

    @cached_property
    def texts(self) -> Texts:
        """The texts without the labels."""
        return Texts(
            self.kind,
            tuple(one.context for one in self.instances),
            tuple(one.start for one in self.instances),
            tuple(option for one in self.instances for option in one.options),
            self.offsets,
            self.has_order,
            any(one.media for one in self.instances),
        )

    def take(self, rows: Sequence[int] | np.ndarray) -> "Instances":
        """The set of the instances `rows` alone: numbers (n,) from 0, or a mask (N,). InputError for others."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise InputError(f"rows: a mask of shape {chosen.shape}, where ({len(self)},) is due.")
            chosen = np.flatnonzero(chosen)
        are_numbers = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not chosen.size)
        numbers = chosen.tolist() if are_numbers else [-1]
        if not 0 <= min(numbers, default=0) <= max(numbers, default=0) < len(self):
            raise InputError(f"rows {told(rows)}: numbers from 0 to {len(self) - 1:,}, or a mask, are due.")
        before = None if self.unmasked is None else tuple(self.unmasked[row] for row in numbers)
        return replace(self, instances=tuple(self.instances[row] for row in numbers), unmasked=before)

    def splits(self) -> dict[str, np.ndarray]:
        """The rows of each published split, in the order in which the splits begin."""
        found: dict[str, list[int]] = {}
        for row, one in enumerate(self.instances):
            found.setdefault(one.split, []).append(row)
        return {split: np.array(rows) for split, rows in found.items()}
