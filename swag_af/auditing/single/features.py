"""The single features of an audit by name, and what each tells of the labels. Codes AF201 to AF215."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.single import form
from swag_af.auditing.single.likeness import content_overlap, likeness, long_words, overlap
from swag_af.auditing.single.naming import WAYS, named
from swag_af.auditing.single.numbers import values
from swag_af.auditing.single.perplexity import surprise
from swag_af.auditing.single.recurrence import in_other_contexts, recurrences, right_elsewhere, same_texts
from swag_af.auditing.single.rules import (
    NAMED,
    Tried,
    choose,
    choose_either,
    classify,
    diagnostics_of,
    one_of_mirrors,
    quantile_bins,
)
from swag_af.auditing.single.tables import Seen
from swag_af.data.errors import InputError, near_names
from swag_af.data.instances.grouping import Groups, folds_of
from swag_af.data.instances.instances import Instances

MOST_POSITIONS = 10
"""Positions that are looked at, from the first."""


@dataclass(frozen=True)
class Feature:
    """A number for each option of a question, or for each classified text, that no label is needed for."""

    code: str
    highest: str
    """The rule that chooses the option with the highest number; its subject."""
    lowest: str
    """The rule that chooses that with the lowest."""
    of: Callable[[Seen], np.ndarray]
    """(M,) of choices, (N,) of classes."""
    kinds: tuple[str, ...] = ("choices", "classes")
    in_english: bool = False
    """Whether it goes by the tags of a tagger for English."""
    if_any: bool = False
    """Whether it gives nothing where no text has it."""

    @property
    def is_of_form(self) -> bool:
        """Whether it is one of the text alone, so that it can be asked of a premise, too."""
        return self.code in OF_FORM


OF_FORM = ("AF201", "AF205", "AF206", "AF207", "AF208", "AF212", "AF215")
"""Codes of the form of one text: of classes with premises, these are asked of both."""

FEATURES: dict[str, Feature] = {
    "characters": Feature("AF201", "longest", "shortest", form.characters),
    "tokens": Feature("AF201", "most tokens", "fewest tokens", form.tokens),
    "overlap": Feature("AF203", "most overlap", "least overlap", overlap),
    "content overlap": Feature(
        "AF203", "most content overlap", "least content overlap", content_overlap, in_english=True
    ),
    "long words": Feature("AF203", "most long words of the context", "fewest long words of the context", long_words),
    "likeness": Feature("AF204", "most alike", "odd one out", likeness, ("choices",)),
    "full stop": Feature("AF205", "full stop", "no full stop", form.full_stop),
    "question mark": Feature("AF205", "question mark", "no question mark", form.question_mark),
    "commas": Feature("AF205", "most commas", "fewest commas", form.commas),
    "capital": Feature("AF206", "first letter capital", "first letter small", form.capital),
    "words in capitals": Feature("AF206", "most words in capitals", "fewest words in capitals", form.capitals),
    "capitals within": Feature("AF206", "most capitals within", "fewest capitals within", form.capitals_within),
    "digits": Feature("AF207", "most digits", "fewest digits", form.digits),
    "quotes": Feature("AF208", "most quotes", "fewest quotes", form.quotes),
    "stray blanks": Feature("AF212", "most stray blanks", "fewest stray blanks", form.stray_blanks),
    "typography": Feature("AF212", "most typographic signs", "fewest typographic signs", form.typographic),
    "accents apart": Feature("AF212", "accents apart", "no accents apart", form.accents_apart, if_any=True),
    "doubled words": Feature("AF215", "most doubled words", "fewest doubled words", form.doubled_words),
    "number": Feature("AF213", "largest number", "smallest number", values, ("choices",)),
    "nouns": Feature("AF209", "most nouns", "fewest nouns", form.part_of_speech("NOUN", "PROPN"), in_english=True),
    "verbs": Feature("AF209", "most verbs", "fewest verbs", form.part_of_speech("VERB", "AUX"), in_english=True),
    "adjectives": Feature("AF209", "most adjectives", "fewest adjectives", form.part_of_speech("ADJ"), in_english=True),
    "adverbs": Feature("AF209", "most adverbs", "fewest adverbs", form.part_of_speech("ADV"), in_english=True),
    "pronouns": Feature("AF209", "most pronouns", "fewest pronouns", form.part_of_speech("PRON"), in_english=True),
    "recurrence": Feature("AF211", "recurs most", "recurs least", recurrences),
    "contexts": Feature("AF211", "in most other contexts", "in fewest other contexts", in_other_contexts),
}
"""The features of a text and its instance alone; parts of speech are shares of the tokens."""

OTHERS = ("position", "named", "perplexity", "label elsewhere")
"""Features that ask for more: an order of options, twice, models of other folds, labels of other folds."""


def feature_diagnostics(
    instances: Instances,
    groups: Groups,
    *,
    features: Sequence[str] = (*FEATURES, *OTHERS),
    n_folds: int = 5,
    seed: int = 0,
    seen: Seen | None = None,
) -> list[Diagnostic]:
    """A diagnostic for each rule of `features`; found or not is decided for all of them together.

    Of choices each feature gives two rules, highest and lowest, and position one a place; where every question has two
    options, the better of two opposite ones (`mirror`). Of classes one rule, whose subject is the feature, and one of
    the premise where there is one and the feature is of form. What needs a
    fit is fitted on the other `n_folds` folds of whole groups, drawn by `seed`. `seen` are tables of the texts that
    were made already. Raises InputError for a name that is no feature. A feature that the kind of data does not have
    gives nothing.
    """
    unknown = [name for name in features if name not in FEATURES and name not in OTHERS]
    if unknown:
        hint = near_names(unknown[0], [*FEATURES, *OTHERS])
        raise InputError(f"{unknown[0]}: no such feature.{hint} There are {', '.join([*FEATURES, *OTHERS])}.")
    folds = folds_of(instances, groups, n_folds, seed=seed)
    seen = seen or Seen(instances.texts)
    rules = choices_rules if instances.kind == "choices" else classes_rules
    tried = [rule for name in features for rule in rules(name, seen, instances, folds)]
    return diagnostics_of(tried, instances, groups)


def choices_rules(name: str, seen: Seen, instances: Instances, folds: np.ndarray) -> Iterator[Tried]:
    """The rules of one feature of choices."""
    if name == "position":
        yield from _position_rules(seen, instances)
    elif name == "named":
        ways = zip(WAYS, named(seen), strict=True) if seen.texts.has_order else ()
        yield from (choose(NAMED, f"{way} in the question", scores, instances) for way, scores in ways)
    elif name == "perplexity":
        bits = surprise(seen, folds)
        yield from choose_either("AF210", ("most perplexing", "least perplexing"), bits, instances)
    elif name == "label elsewhere":
        scores, forward = (right_elsewhere(seen, folds, instances, forward=only) for only in (False, True))
        yield choose("AF211", "right most often elsewhere", scores, instances, forward=forward)
    else:
        feature = FEATURES[name]
        scores = feature.of(seen)
        if scores.any() or not feature.if_any:
            yield from choose_either(feature.code, (feature.highest, feature.lowest), scores, instances)


def _position_rules(seen: Seen, instances: Instances) -> Iterator[Tried]:
    """A rule for each place, and for the last where it is not the same in all; none where the order of options was
    drawn."""
    if seen.texts.has_order:
        place = form.position(seen)
        places = range(1, min(MOST_POSITIONS, int(place.max())) + 1)
        tried = [choose("AF202", f"option {at}", (place == at).astype(float), instances) for at in places]
        if len(set(instances.n_answers.tolist())) > 1:
            tried.append(choose("AF202", "last option", place, instances))
        yield from one_of_mirrors(tried, instances)


def classes_rules(name: str, seen: Seen, instances: Instances, folds: np.ndarray) -> Iterator[Tried]:
    """The rules of one feature of classes, of the text and, if it is of form, of the premise; none where classes do
    not have it."""
    if name == "label elsewhere":
        yield classify("AF211", name, same_texts(seen), instances, folds)
    elif name == "perplexity":
        yield classify("AF210", name, quantile_bins(surprise(seen, folds)), instances, folds)
    elif name in FEATURES and "classes" in FEATURES[name].kinds:
        feature = FEATURES[name]
        of = {name: seen}
        if feature.is_of_form and any(seen.texts.contexts):
            of[f"{name} of the premise"] = seen.premises
        for subject, read in of.items():
            values = feature.of(read)
            if values.any() or not feature.if_any:
                yield classify(feature.code, subject, quantile_bins(values), instances, folds)
