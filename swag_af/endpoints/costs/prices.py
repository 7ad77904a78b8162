"""What tokens cost: a TOML file of prices by model.

    ["my-model"]
    prompt = 0.5    # money for a million tokens of prompts
    answer = 1.5    # and of answers

The file says no currency, and neither do we.
"""

from dataclasses import dataclass
from pathlib import Path

from swag_af.data.disk.files import read_toml
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import InputError

_MILLION = 1e6


@dataclass(frozen=True)
class Price:
    """Money for a million tokens."""

    prompt: float
    answer: float

    def of(self, prompt_tokens: int, answer_tokens: int) -> float:
        """Money for so many tokens."""
        return (self.prompt * prompt_tokens + self.answer * answer_tokens) / _MILLION


def read_price(path: Path, model: str) -> Price:
    """The price of `model` in the file, or its only one where the model has no name; InputError where it has none, or
    one that is negative."""
    table = read_toml(path)
    if not model:
        model = _only(path, list(table))
    if model not in table:
        known = ", ".join(sorted(table)[:5]) or "none"
        raise InputError(
            f'--prices {path}: no price of {model!r}, but of {known}. Add ["{model}"] with prompt, answer.'
        )
    price = parse_record(table[model], Price, f"--prices {path}", "See docs/GENERATORS.md.", error=InputError)
    if price.prompt < 0 or price.answer < 0:
        raise InputError(f"--prices {path}: a price of {model!r} is below 0. Mend it.")
    return price


def _only(path: Path, models: list[str]) -> str:
    """The model that alone has a price; InputError where another one has, too, or none."""
    if len(models) != 1:
        known = ", ".join(sorted(models)[:5]) or "no model"
        raise InputError(
            f"--prices {path}: has prices of {known}, and no model is named. Name one by --model NAME, in brackets by "
            "model=NAME."
        )
    return models[0]
