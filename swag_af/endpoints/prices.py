"""What tokens cost: a TOML file of prices by model.

    ["my-model"]
    prompt = 0.5    # money for a million tokens of prompts
    answer = 1.5    # and of answers

The file says no currency, and neither do we.
"""

from dataclasses import dataclass
from pathlib import Path

from swag_af.data.errors import InputError
from swag_af.data.files import read_toml
from swag_af.data.records import parse_record

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
    """The price of `model` in the file; InputError where it has none, or one that is negative."""
    table = read_toml(path)
    if model not in table:
        known = ", ".join(sorted(table)[:5]) or "none"
        raise InputError(
            f'--prices {path}: no price of {model!r}, but of {known}. Add ["{model}"] with prompt, answer.'
        )
    price = parse_record(table[model], Price, f"--prices {path}", "See docs/GENERATORS.md.", error=InputError)
    if price.prompt < 0 or price.answer < 0:
        raise InputError(f"--prices {path}: a price of {model!r} is below 0. Mend it.")
    return price
