"""Which contexts of a file are to get endings, and how the work is shared."""

from collections.abc import Sequence

import numpy as np

from swag_af.data.context import Context
from swag_af.data.errors import InputError
from swag_af.lm.options import GenerateOptions


def chosen_of(contexts: Sequence[Context], options: GenerateOptions) -> list[Context]:
    """Those of `contexts` that --folds and --limit choose, in their order; InputError where there are none."""
    chosen = [context for context in contexts if not options.folds or context.fold in options.folds]
    if not chosen:
        raise InputError(f"--folds {' '.join(map(str, options.folds))}: {options.contexts} has no contexts in them.")
    if options.limit is not None and options.limit < len(chosen):
        picked = np.random.default_rng(options.seed).permutation(len(chosen))[: options.limit]
        chosen = [chosen[i] for i in sorted(picked.tolist())]
    return chosen
