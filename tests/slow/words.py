"""A slow, obvious twin of the associations of words: dictionaries of sets."""

import math
from collections import defaultdict
from collections.abc import Sequence

from slow.single_features import tokens_of
from swag_af.data.instances.instances import Instance, Instances
from swag_af.data.text.wording import comparable


def ngrams_of(text: str, n_max: int) -> set[str]:
    tokens = tokens_of(text)
    return {" ".join(tokens[i : i + n]) for n in range(1, n_max + 1) for i in range(len(tokens) - n + 1)}


def associations(
    instances: Instances, groups: Sequence[int], *, n_max: int, min_count: int
) -> dict[tuple[str, str], tuple[int, float, float, float]]:
    """(n, share, chance, z) of every n-gram and label."""
    met: defaultdict[tuple[str, str], list[tuple[float, float, int]]] = defaultdict(list)
    counted = _without_copies(instances, groups)
    for one, group in counted:
        per_option = [ngrams_of(option, n_max) for option in one.options]
        for ngram in set().union(*per_option):
            if instances.kind == "classes":
                for number, label in enumerate(instances.classes):
                    share = sum(other.answer == number for other, _ in counted) / len(counted)
                    if 0 < share < 1:
                        met[ngram, label].append((float(one.answer == number), share, group))
                continue
            n_with = sum(ngram in ngrams for ngrams in per_option)
            if n_with < len(one.options):
                met[ngram, "gold"].append((float(ngram in per_option[one.answer]), n_with / len(one.options), group))
    return {key: _statistics(units) for key, units in met.items() if len(units) >= min_count}


def _without_copies(instances: Instances, groups: Sequence[int]) -> list[tuple[Instance, int]]:
    kept: list[tuple[Instance, int]] = []
    for one, group in zip(instances.instances, groups, strict=True):
        if not any(group == other and _is_copy(instances, one, earlier) for earlier, other in kept):
            kept.append((one, group))
    return kept


def _is_copy(instances: Instances, one: Instance, other: Instance) -> bool:
    def read(it: Instance) -> list[object]:
        options = [comparable(option) for option in it.options]
        gold = it.answer if instances.kind == "classes" else options[it.answer]
        shown = [comparable(it.context), comparable(it.start), *sorted(options)]
        return [gold, *([shown, it.media] if any(shown) else [])]

    return read(one) == read(other)


def _statistics(units: list[tuple[float, float, int]]) -> tuple[int, float, float, float]:
    n = len(units)
    share, chance = (sum(column) / n for column in list(zip(*units, strict=True))[:2])
    sums: defaultdict[int, float] = defaultdict(float)
    for hit, expected, group in units:
        sums[group] += hit - expected
    effect = sum(one**2 for one in sums.values()) / sum((hit - expected) ** 2 for hit, expected, _ in units)
    return n, share, chance, (share - chance) / math.sqrt(chance * (1 - chance) / n * max(1.0, effect))
