"""Relevance by a filter that reads two texts, `filter[esim]`: query and response as a pair, true or not.

Not every filter can be one. A filter is fitted and scores within one pool, whose words have numbers of their own, and
what is to be scored here is not known when it learns. So it has to be one that learns classes of pairs of plain texts.

Letters: `n` queries, `m` responses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.work.progress import progress
from swag_af.filters.contract import ClassFilter, settings_of, unfitted
from swag_af.filters.registry import make_filter
from swag_af.matching.contract import training_pairs
from swag_af.matching.models.tiles import Compare, all_pairs


@dataclass(kw_only=True)
class FilterRelevance:
    """A filter's probability that a response is the query's own, learned from one true pair in four.

    Filters that know a text before they meet another (esim, decomp, dualbow, infersent) read each text once.
    """

    filter: str
    """Its name: dualbow, infersent-mlp, infersent-bilinear, decomp, esim, lstm, encoder[MODEL], or
    package.module:Class with `fit_classes` and `score_classes`."""

    _fitted: Any = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "filter"
    argument: ClassVar[str] = "filter"
    """What stands in the brackets of `filter[...]`."""
    n_measured: ClassVar[int] = 150
    """Rows that a dry run learns from and scores."""

    def check(self) -> None:
        """Raise InputError where there is no such filter, it reads no pairs, or it says itself that it cannot work."""
        made = self._make()
        if hasattr(made, "check"):
            made.check()

    def settings(self) -> dict[str, Any]:
        """Those of the filter, with its name."""
        return {"filter": self.filter, **settings_of(self._make())}

    def _make(self) -> ClassFilter:
        made = make_filter(self.filter)
        if not isinstance(made, ClassFilter):
            raise InputError(
                f"relevance filter[{self.filter}]: this filter learns no pairs of texts with classes. Take esim, "
                "decomp, dualbow, infersent-mlp, infersent-bilinear, lstm or encoder[MODEL]."
            )
        return made

    def fit(self, queries: Sequence[str], responses: Sequence[str], *, rng: np.random.Generator) -> None:
        """As `Relevance` says; pairs of one query stay together where the filter holds some aside."""
        made = self._make()
        first, second = training_pairs(len(queries), rng=rng)
        texts = [queries[row] for row in first], [responses[row] for row in second]
        made.fit_classes(*texts, (first == second).astype(np.int64), 2, first, rng=rng)
        self._fitted = made

    def score(self, queries: Sequence[str], responses: Sequence[str]) -> np.ndarray:
        """As `Relevance` says."""
        if self._fitted is None:
            raise unfitted("relevance filter", "queries, responses")
        n, m = len(queries), len(responses)
        compare = _comparing(self._fitted, [*queries, *responses])
        with progress(self.filter, n * m, "pairs") as advance:
            return all_pairs(compare, np.arange(n), n + np.arange(m), 1, advance)


def _comparing(made: Any, texts: Sequence[str]) -> Compare:
    """How pairs of `texts` are compared: each encoded once where the filter can, or both read anew."""
    if hasattr(made, "encode_texts") and not made.reads_one:
        encoded = made.encode_texts(texts)
        return lambda first, second: made.compare(encoded, first, second)
    return lambda first, second: made.score_classes([texts[i] for i in first], [texts[j] for j in second])
