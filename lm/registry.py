"""Generators by name: ours, those that packages announce in `swag_af.generators`, or `package.module:Class`.

How names are read says `swag_af.data.plugins.registry`. Imports no generator by itself.
"""

from typing import TYPE_CHECKING, Any

from swag_af.data.plugins.registry import Registry

if TYPE_CHECKING:
    from swag_af.lm.contract import Generator

GENERATORS = Registry(
    "generator",
    {
        "lstm": "swag_af.lm.lstm.generator:LSTMGenerator",
        "ngram": "swag_af.lm.ngram:NgramGenerator",
        "hf": "swag_af.lm.causal.generator:CausalGenerator",
        "endpoint": "swag_af.lm.endpoint.generator:EndpointGenerator",
    },
    {
        "lstm": "path/to/lms",
        "hf": "path/to/model",
        "endpoint": "URL",
    },
    "swag_af.check_generator",
    ("generate",),
)


def make_generator(name: str, **settings: Any) -> "Generator":
    """A new generator; raises InputError for an unknown name or a setting that it does not take, ContractError for what
    is none."""
    made: Generator = GENERATORS.make(name, **settings)
    return made
