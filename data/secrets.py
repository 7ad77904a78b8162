"""Random numbers that nobody can foretell who does not know a secret."""

import hmac

import numpy as np


def secret_rng(secret: str, name: str) -> np.random.Generator:
    """A generator for what is called `name`; the same secret and name give the same numbers."""
    return np.random.default_rng(list(hmac.digest(secret.encode(), f"draw {name}".encode(), "sha256")))
