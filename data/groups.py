"""Which contexts belong together: those of one video share their people and their places.

Knows nothing of splits; who holds out whole groups stands above.
"""

from collections.abc import Sequence

import numpy as np

from swag_af.data.contexts import Context


def video_groups(contexts: Sequence[Context]) -> np.ndarray:
    """(n,) group numbers, equal for contexts of one video; a context without a video is a group of its own."""
    names = [context.video or f"\0{row}" for row, context in enumerate(contexts)]
    return np.unique(names, return_inverse=True)[1]
