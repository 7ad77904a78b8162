"""Generators by name: ours, those that packages announce in `swag_af.generators`, or `package.module:Class`.

How names are read says `swag_af.data.registry`. Imports no generator by itself.
"""

from typing import TYPE_CHECKING, Any

from swag_af.data.registry import Registry

if TYPE_CHECKING:
    from swag_af.lm.contract import Generator

GENERATORS = Registry(
    "generator",
    {
        "lstm": "swag_af.lm.lstm.generator:LSTMGenerator",
        "hf": "swag_af.lm.causal.generator:CausalGenerator",
    },
    {
        "lstm": "path/to/lms",
        "hf": "path/to/model",
    },
)


def make_generator(name: str, **settings: Any) -> "Generator":
    """A new generator; raises InputError for an unknown name or a setting that it does not take."""
    made: Generator = GENERATORS.make(name, **settings)
    return made
