"""Questions of which one's answer stands in the context of another, as consecutive captions make them.

The second caption of one question is the first of the next, in SWAG too. A model that is asked question by question
does not see it; whoever reads the whole file looks the answer up, also that of a test question whose label is withheld.
"""

from collections import Counter
from collections.abc import Mapping

from swag_af.data.text.linked import Links
from swag_af.releasing.questions import SPLITS

HELD_OUT = frozenset(("val", "test"))
"""The splits whose answers are not to be looked up."""


def count_by_split(links: Links, split_of: Mapping[int, str]) -> dict[str, int]:
    """How many contexts of each split have their answer in another context, of those that are in one."""
    linked = (i for i, others in links.items() if i in split_of and any(j in split_of for j in others if j != i))
    counts = Counter(split_of[i] for i in linked)
    return {split: counts[split] for split in SPLITS if counts[split]}
