"""Scorers by name: ours, those that packages announce in `swag_af.scorers`, or `package.module:Class`.

How names are read says `swag_af.data.plugins.registry`. Imports no scorer by itself.
"""

from typing import TYPE_CHECKING, Any

from swag_af.data.plugins.registry import Registry

if TYPE_CHECKING:
    from swag_af.lm.scorers.contract import Scorer

SCORERS = Registry(
    "scorer",
    {
        "lstm": "swag_af.lm.lstm.scorer:LSTMScorer",
        "hf": "swag_af.lm.causal.scorer:CausalScorer",
        "endpoint": "swag_af.lm.endpoint.scorer:EndpointScorer",
    },
    {"lstm": "path/to/lms", "hf": "path/to/model", "endpoint": "URL"},
    "swag_af.lm.scorers.checking.check_scorer",
    ("score", "record"),
)


def make_scorer(name: str, **settings: Any) -> "Scorer":
    """A new scorer; raises InputError for an unknown name or a setting that it does not take, ContractError for what
    is none."""
    made: Scorer = SCORERS.make(name, **settings)
    return made


def settings_of(name: str, **settings: Any) -> dict[str, Any]:
    """Those of `settings` that the constructor of the scorer takes; all where it takes any."""
    taken = SCORERS.settings_taken(name)
    return settings if taken is None else {key: value for key, value in settings.items() if key in taken}
