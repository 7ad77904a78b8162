"""Rules of one feature: how often they are right, against luck, and the diagnostics of many of them at once.

A rule reads scores or bins that know no labels. Of choices it takes the option with the highest score, ties shared, and
nothing is fitted. Of classes it takes, for each bin of the feature, the class that is most frequent there in the other
folds. Hits of such a rule in different folds hang together, since each fold is learnt from for the others, and luck
would be found too often (Bengio and Grandvalet 2004). Whether it is luck is therefore asked of a rule that learns
forward: each fold from the folds before it, so that hits in one fold say nothing of luck in the next. Where classes are
unequal, a second rule is tried: a bin has the class of which most texts are there, and each class weighs the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from swag_af.auditing.balance import are_unequal, class_weights, said_of, weighed
from swag_af.auditing.diagnostics import Balanced, Diagnostic, Example, Status, of_accuracy
from swag_af.auditing.examples import worst
from swag_af.auditing.integrity.labels import ALPHA
from swag_af.auditing.ranking import hits
from swag_af.auditing.single.significance import LEVEL, adjusted, p_value
from swag_af.data.errors import several
from swag_af.data.instances.grouping import Groups
from swag_af.data.instances.instances import Instances

POSITION, NAMED = "AF202", "AF214"
"""The codes of rules that choose by the place of an option, and by how the question names it; found at `ALPHA`, as the
balance of labels (AF508) is, which is the same question."""
N_BINS = 10
"""Bins of a feature, of about as many texts each."""


@dataclass(frozen=True)
class Tried:
    """A rule that was tried on the instances `rows`."""

    code: str
    subject: str
    said: str
    """The sentence of its diagnostic; may hold `{value}`, `{low}`, `{high}` and `{chance}`."""
    rows: np.ndarray
    """(n,) the instances to which the rule applies."""
    hits: np.ndarray
    """(n,) how far it was right, 0 to 1."""
    chance: np.ndarray
    """(n,) how far a rule that knows nothing would be, as the diagnostic says it."""
    residuals: np.ndarray
    """(n,) how far it was right beyond what luck gives."""
    variances: np.ndarray
    """(n,) of the residuals, if it is luck."""
    margins: np.ndarray
    """(n,) how clear the choice was."""
    mirror: str = ""
    """The opposite rule, which is left out where every question has two options."""
    found_from: float | None = None
    """The lowest value, above chance, that is more than a hint; where None, any that differs from chance."""
    weights: np.ndarray | None = None
    """(C,) how much a hit in each class counts, where not the same."""
    balanced: "Tried | None" = None
    """The rule by which each class weighs the same, where classes are unequal."""
    even: "Tried | None" = None
    """The same where they are nearly equal; it is compared, and no test allows for it."""


def choose(
    code: str, subject: str, scores: np.ndarray, instances: Instances, *, forward: np.ndarray | None = None
) -> Tried:
    """The rule that chooses the option with the highest of `scores` (M,).

    Where scores were learnt from labels of other folds, `forward` (M,) are those learnt from the folds before.
    """
    is_top, n_top = _highest(scores, instances)
    tested, n_tested = (scores, n_top) if forward is None else (forward, _highest(forward, instances)[1])
    n_options = instances.n_answers
    said = f"The rule `{subject}` finds gold in {{value}} of {several(len(instances), 'question')}"
    said += f" ({{low}} to {{high}}; chance {{chance}}); it tells options apart in {int((n_top < n_options).sum()):,}."
    return Tried(
        code=code,
        subject=subject,
        said=said,
        rows=np.arange(len(instances)),
        hits=hits(scores, instances),
        chance=instances.chance,
        residuals=hits(tested, instances) - instances.chance,
        variances=instances.chance * (1 / n_tested - instances.chance),
        margins=_margins(scores, is_top, instances),
    )


def choose_either(code: str, subjects: tuple[str, str], scores: np.ndarray, instances: Instances) -> list[Tried]:
    """The rules that choose the option with the highest of `scores` (M,), and with the lowest.

    Where every question has two options, each is right where the other is not, so there is one: that which is right
    more often, of equals the first.
    """
    tried = [choose(code, subject, sign * scores, instances) for subject, sign in zip(subjects, (1, -1), strict=True)]
    return one_of_mirrors(tried, instances)


def one_of_mirrors(tried: list[Tried], instances: Instances) -> list[Tried]:
    """All of `tried`; of two opposite rules the better one, where every question has two options."""
    if len(tried) != 2 or (instances.n_answers != 2).any():
        return tried
    better = max(tried, key=lambda one: one.hits.sum())
    (other,) = [one.subject for one in tried if one is not better]
    return [replace(better, mirror=other)]


def _highest(scores: np.ndarray, instances: Instances) -> tuple[np.ndarray, np.ndarray]:
    """(M,) whether an option has the highest score of its question; (N,) how many have it."""
    begins = instances.offsets[:-1]
    is_top = scores == np.repeat(np.maximum.reduceat(scores, begins), instances.n_answers)
    return is_top, np.add.reduceat(is_top.astype(np.int64), begins)


def _margins(scores: np.ndarray, is_top: np.ndarray, instances: Instances) -> np.ndarray:
    """(N,) how far the highest score is above the next; 0 where all are equal."""
    begins = instances.offsets[:-1]
    second = np.maximum.reduceat(np.where(is_top, -np.inf, scores), begins)
    return np.where(np.isfinite(second), np.maximum.reduceat(scores, begins) - second, 0.0)


def classify(code: str, subject: str, bins: np.ndarray, instances: Instances, folds: np.ndarray) -> Tried:
    """The rule that takes the class most frequent, in the other `folds` (N,), among texts of the same of `bins` (N,).

    A bin that the other folds lack has the class most frequent in them; classes that are as frequent share. `balanced`,
    or `even`, is the rule by which each class weighs the same.
    """
    plain = _classified(code, subject, bins, instances, folds, None)
    weights = class_weights(instances.answers, len(instances.classes))
    if weights is None:
        return plain
    alike = _classified(code, subject, bins, instances, folds, weights)
    return replace(plain, balanced=alike) if are_unequal(weights) else replace(plain, even=alike)


def _classified(
    code: str, subject: str, bins: np.ndarray, instances: Instances, folds: np.ndarray, weights: np.ndarray | None
) -> Tried:
    """The rule of `classify`, or, with `weights` (C,), the one by which each class weighs the same."""
    labels, each = instances.answers, np.ones(len(instances.classes)) if weights is None else weights
    shares = frequent_classes(bins, instances, folds, weights=weights)  # (N, C)
    forward = frequent_classes(bins, instances, folds, forward=True, weights=weights)
    residuals, variances = _beyond_luck(forward * each, labels, folds)
    said = f"`{subject}` alone tells the class of {{value}} of {several(len(instances), 'text')} ({{low}} to {{high}}; "
    return Tried(
        code=code,
        subject=subject,
        said=f"{said}largest class has {{chance}}).",
        rows=np.arange(len(instances)),
        hits=shares[np.arange(len(labels)), labels],
        chance=instances.chance if weights is None else np.full(len(labels), 1 / np.count_nonzero(weights)),
        residuals=residuals,
        variances=variances,
        margins=np.zeros(len(labels)) if weights is None else each[labels],
        weights=weights,
    )


def quantile_bins(values: np.ndarray) -> np.ndarray:
    """(N,) the bin of each of `values` (N,), from 0: `N_BINS` of about equal sizes, equal values together."""
    inner = np.quantile(values, np.arange(1, N_BINS) / N_BINS, method="higher")
    return np.searchsorted(np.unique(inner), values, side="right")


def frequent_classes(
    bins: np.ndarray,
    instances: Instances,
    folds: np.ndarray,
    *,
    forward: bool = False,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """(N, C) 1 at the class that the rule of `classify` takes; 1/t at each where t share.

    `forward`: each fold's learnt from the folds before it, and not from all others. With `weights` (C,) a bin's class
    is the one of whose texts the largest share is there; one that counts nothing is never taken.
    """
    n_classes, n_bins, labels = len(instances.classes), int(bins.max()) + 1, instances.answers
    shares = np.empty((len(instances), n_classes))
    for fold in range(int(folds.max()) + 1):
        train, own = (folds < fold) if forward else (folds != fold), folds == fold
        counts = np.bincount(bins[train] * n_classes + labels[train], minlength=n_bins * n_classes)
        counts, of_class = counts.reshape(n_bins, n_classes), np.bincount(labels[train], minlength=n_classes)
        if weights is None:
            counts = counts * (1 + int(train.sum())) + of_class  # the latter decides between equals only
        else:
            counts = np.where(weights > 0, (counts / np.maximum(of_class, 1)).round(12), -1.0)
        is_top = counts == counts.max(axis=1, keepdims=True)
        shares[own] = (is_top / is_top.sum(axis=1, keepdims=True))[bins[own]]
    return shares


def _beyond_luck(shares: np.ndarray, labels: np.ndarray, folds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N,) hits beyond what the same choices give when labels are dealt anew within each fold; (N,) their variances.

    Labels of a fold are as good as in any order to a rule that was fitted on the others. The sum of `shares` (N, C) at
    the labels then has the mean and variance of Hoeffding (1951, "A combinatorial central limit theorem"): those of
    the shares with the means of their rows and columns taken out.
    """
    residuals, variances = np.zeros((2, len(labels)))
    for fold in range(int(folds.max()) + 1):
        at = np.flatnonzero(folds == fold)
        chosen, present = shares[at], np.bincount(labels[at], minlength=shares.shape[1]) / len(at)  # (n, C), (C,)
        centred = chosen - (chosen @ present)[:, None] - chosen.mean(axis=0) + chosen.mean(axis=0) @ present
        residuals[at] = centred[np.arange(len(at)), labels[at]]
        variances[at] = (centred**2) @ present * len(at) / max(1, len(at) - 1)
    return residuals, variances


def diagnostics_of(tried: Sequence[Tried], instances: Instances, groups: Groups) -> list[Diagnostic]:
    """A diagnostic for each of `tried`, in order of code and subject, whose status allows for how many there are.

    `found` asks for two things: a p-value below 0.05 after Benjamini and Hochberg over the rules that tell any answers
    apart, and a 95 % interval that leaves out chance. With the first alone it is a hint: more than luck, but too
    seldom of use to show in the accuracy. Positions are a family of their own, at 0.01, and so are names of them: where
    many features are found, one in twenty of those beside them is let through. Where classes are unequal, the two rules
    of a feature are in one diagnostic, and both count among the rules.
    """
    families = [[one for one in tried if one.code == code] for code in (POSITION, NAMED)]
    families.append([one for one in tried if one.code not in (POSITION, NAMED)])
    found = [one for family in families for one in _of_family(family, instances, groups)]
    return sorted(found, key=lambda one: (one.code, one.subject))


def _of_family(tried: Sequence[Tried], instances: Instances, groups: Groups) -> Iterator[Diagnostic]:
    """The diagnostic of each of `tried`, allowing for all of them, and for those of equal classes beside them."""
    every = [*tried, *(one.balanced for one in tried if one.balanced)]
    p_values = np.array([_p_value(one, groups) for one in every])
    q_values, telling = np.ones(len(every)), np.array([bool((one.variances > 0).any()) for one in every], bool)
    q_values[telling] = adjusted(p_values[telling])
    n_rules, of_rule = int(telling.sum()), {id(one): q for one, q in zip(every, q_values.tolist(), strict=True)}
    for one in tried:
        plain = _diagnostic(one, of_rule[id(one)], n_rules, instances, groups)
        if one.balanced:
            plain = _with_balanced(plain, one.balanced, of_rule[id(one.balanced)], n_rules, instances, groups)
        yield replace(plain, even=_weighed(one.even, instances, groups)) if one.even else plain


def _with_balanced(
    plain: Diagnostic, tried: Tried, q: float, n_rules: int, instances: Instances, groups: Groups
) -> Diagnostic:
    """The diagnostic `plain` of a feature, with what the rule `tried`, of equal classes, finds above chance."""
    one = _weighed(tried, instances, groups)
    is_luck = q >= LEVEL or one.value <= one.chance
    one = replace(one, status="clear" if is_luck else "found" if one.status == "found" else "hint")
    said = f"{plain.said} {said_of(one)}"
    said += "" if is_luck else f" Adjusted for {several(n_rules, 'rule')}, p {_said(q)}."
    status = plain.status if is_luck or plain.status == "found" else one.status
    both = replace(plain, said=said, balanced=one, status=status)
    if not both.stands_on_balanced:
        return both
    shown = (tried.hits == 1.0) & (tried.variances > 0)
    examples = worst(instances, tried.rows[shown], tried.margins[shown], f"{tried.subject}: right")
    return replace(both, examples=examples)


def _weighed(tried: Tried, instances: Instances, groups: Groups) -> Balanced:
    assert tried.weights is not None
    return weighed(tried.hits, instances.answers, tried.weights, groups.take(tried.rows).numbers)


def _p_value(tried: Tried, groups: Groups) -> float:
    return p_value(tried.residuals, tried.variances, groups.take(tried.rows).numbers) if len(tried.rows) else 1.0


def _diagnostic(tried: Tried, q: float, n_rules: int, instances: Instances, groups: Groups) -> Diagnostic:
    if not len(tried.rows):
        return Diagnostic(tried.code, tried.subject, "clear", 0.0, "accuracy", tried.said)
    if instances.kind == "choices" and not tried.variances.any() and np.array_equal(tried.hits, tried.chance):
        return _deciding_nothing(tried, instances, groups)
    said = f"{tried.said} Adjusted for {several(n_rules, 'rule')}, p {_said(q)}." if q < _level(tried) else tried.said
    said += f" Of two options `{tried.mirror}` finds it in the others." if tried.mirror else ""
    one = of_accuracy(tried.code, tried.subject, tried.hits, tried.chance, groups.take(tried.rows).numbers, said=said)
    status = _status(one, q < _level(tried), tried.found_from)
    shown = () if status == "clear" else _examples(tried, one, instances)
    return replace(one, status=status, examples=shown, mirror=tried.mirror)


def _deciding_nothing(tried: Tried, instances: Instances, groups: Groups) -> Diagnostic:
    """Of a rule by which no question's options differ: it is at chance, and no luck is in that."""
    rule = f"`{tried.subject}`{f' or `{tried.mirror}`' if tried.mirror else ''}"
    said = f"By {rule} no options differ in any of {several(len(tried.rows), 'question')}, so it tells nothing."
    found = of_accuracy(
        tried.code, tried.subject, tried.chance, tried.chance, groups.take(tried.rows).numbers, said=said
    )
    return replace(found, low=found.value, high=found.value, mirror=tried.mirror)


def _said(p: float) -> str:
    return f"= {p:.1g}" if p > 1e-99 else "< 1e-99"


def _level(tried: Tried) -> float:
    return ALPHA if tried.code in (POSITION, NAMED) else LEVEL


def _status(one: Diagnostic, is_sure: bool, found_from: float | None) -> Status:
    if not is_sure:
        return "clear"
    is_enough = found_from is None or (one.value >= found_from and one.value > (one.chance or 0.0))
    return "found" if one.status == "found" and is_enough else "hint"


def _examples(tried: Tried, one: Diagnostic, instances: Instances) -> tuple[Example, ...]:
    """Instances in which the rule alone decides: for gold, or against it where it is below chance."""
    is_above = one.value > (one.chance or 0.0)
    shown = (tried.hits == (1.0 if is_above else 0.0)) & (tried.variances > 0)
    said = f"{tried.subject}: {'right' if is_above else 'wrong'}"
    return worst(instances, tried.rows[shown], tried.margins[shown], said)
