"""The random numbers of a context: from the seed and its own words, whatever else is generated and in which order."""

import hashlib

import numpy as np

from swag_af.data.context import Context


def rng_of(context: Context, seed: int) -> np.random.Generator:
    """A new generator of random numbers, the same for the same seed and context."""
    text = "\x1f".join((context.id, context.sent1, context.start, context.gold))
    words = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return np.random.default_rng((seed, words))
