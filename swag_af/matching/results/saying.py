"""A matching in sentences: what was matched, by which models, which of them stand in for VCR's, and what came of it."""

from pathlib import Path

from swag_af.data.errors import several
from swag_af.data.numbers.percent import from_to, in_percent
from swag_af.data.plugins.registry import Registry
from swag_af.matching.algorithm.buckets import sizes_said
from swag_af.matching.contract import RELEVANCE, SIMILARITY
from swag_af.matching.options import MatchingOptions
from swag_af.matching.results.questions import Figures, Stage

PRONOUNS_IN_VCR, TAGS_IN_VCR = 0.889, 0.689
"""What the figures of the same name are on the 159 public items of VCR-CS."""

RELEVANCE_IS = {
    "tfidf": "a logistic regression on words in common; VCR fine-tuned BERT-Base, for which it stands in",
    "encoder": "two encoders of bags of words, trained on the other folds; VCR fine-tuned BERT-Base, for which they "
    "stand in",
    "filter": "a filter of two texts, trained on the other folds; VCR fine-tuned BERT-Base, for which it stands in",
    "cross": "a cross-encoder, fine-tuned on the other folds as VCR's BERT-Base was",
}
SIMILARITY_IS = {
    "lexical": "words and letters in common; VCR asked a model of entailment, for which it stands in",
    "nli": "entailment in either direction, as in VCR",
}
"""What models are, by name."""


def said_of(stage: Stage, options: MatchingOptions, made: Figures) -> list[str]:
    """How the wrong answers of `stage` came about, a sentence each, for cards and pages."""
    n_folds = int(stage.plan.folds.max()) + 1
    return [
        f"Every wrong answer is the right answer of another row: {several(options.n_distractors, 'round')} of "
        "maximum-weight matching (Adversarial Matching, Zellers et al. 2019b), in each of which every answer is used "
        "once.",
        f"A match is worth log P(relevant) + {options.weight:g} log(1 - P(same meaning)); the weight is the lambda of "
        "the paper, and larger is easier.",
        f"Relevance: {_model(RELEVANCE, options.relevance)}.",
        f"Similarity: {_model(SIMILARITY, options.similarity)}.",
        f"{several(made.n, 'row')} in {several(n_folds, 'fold')} of whole groups and "
        f"{sizes_said(stage.plan.buckets)}; rows of one bucket get each other's answers, and relevance in a fold "
        "was learned from the others.",
        *_exactness(options, made),
        *figure_lines(made),
    ]


def _model(names: Registry, name: str) -> str:
    """What a model is called, with the folder in its brackets told by its last part alone, and what it is."""
    base, setting = names.parted(name)
    called = base if setting is None else f"{base}[{Path(setting).name}]"
    own = f"a model of its publisher's ({base.partition(':')[0]})"
    return f"{called}, {(RELEVANCE_IS | SIMILARITY_IS).get(base, own)}"


def _exactness(options: MatchingOptions, made: Figures) -> list[str]:
    if options.top is None:
        return []
    return [
        f"Only the {options.top} best of each row were matched; that cost at most {made.loss / made.n:.4f} of worth a "
        "row."
    ]


def figure_lines(made: Figures) -> list[str]:
    """What can be said of a matching without asking anybody, a sentence each."""
    lines = [
        *_knows(made),
        f"The model of relevance prefers the right answer in {in_percent(made.relevance_accuracy)} of the rows "
        f"(chance {in_percent(made.chance)}); wrong answers were chosen to be preferred.",
        f"A wrong answer means the same as the right one with a probability of {in_percent(made.similarity)} on "
        "average, says the model of similarity.",
        *_overlap(made),
    ]
    if made.same_pronouns is not None:
        lines.append(
            f"{in_percent(made.same_pronouns)} of the wrong answers have the pronouns of the right one (VCR-CS: "
            f"{in_percent(PRONOUNS_IN_VCR)})."
        )
    if made.tags_named is not None:
        lines.append(
            f"{in_percent(made.tags_named)} of their tags occur in the query or the right answer (VCR-CS: "
            f"{in_percent(TAGS_IN_VCR)})."
        )
    return lines


def _overlap(made: Figures) -> list[str]:
    """How often two rules that need no knowledge are right; wrong answers were chosen for relevance, so they may have
    more or less in common with the question than the right one."""
    if not made.least_overlap:
        return []
    sides = made.least_overlap, made.most_overlap
    of_least, of_most = (f"{in_percent(one)} (95 % interval {from_to(low, high)})" for one, low, high in sides)
    return [
        f"The option with the least content overlap with the question is right in {of_least}, that with the most in "
        f"{of_most}; chance {in_percent(made.chance)}. Whether that is a shortcut, AF203 of `swag-af audit` says."
    ]


def _knows(made: Figures) -> list[str]:
    if made.preferred is None:
        return []
    low, high = made.preferred_interval
    return [
        "Of the right answer and a random one of the same bucket, the model of relevance prefers the right one in "
        f"{in_percent(made.preferred)} (95 % interval {from_to(low, high)}; luck: 50.0)."
    ]
