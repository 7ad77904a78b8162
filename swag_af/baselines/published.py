"""What papers report on SWAG, to stand beside figures of our own; in percent, validation and test.

Table 3 of Zellers et al. 2018, "SWAG: A Large-Scale Adversarial Dataset for Grounded Commonsense Inference"; for BERT
Zellers et al. 2019, "HellaSwag", table of ending-only models. They are other data than yours, and mostly other word
vectors: a mark to look towards, no target.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SWAG = "Zellers et al. 2018, Table 3"
HELLASWAG = "Zellers et al. 2019, on SWAG"

INPUTS = ENDING, SECOND, FULL = "ending", "second-sentence", "full"
"""The columns, the fullest last."""
Pair = tuple[float | None, float | None]
"""Validation and test."""


@dataclass(frozen=True)
class Published:
    """A row of a paper."""

    name: str
    found: Mapping[str, Pair]
    """By input, trained on found endings."""
    generated: Mapping[str, Pair]
    """Trained on found and generated ones."""
    source: str = SWAG


_SAME: dict[str, Pair] = {ENDING: (25.0, 25.0), SECOND: (25.0, 25.0), FULL: (25.0, 25.0)}
_LENGTH: dict[str, Pair] = {ENDING: (26.7, 27.0)}
_CONCEPTNET: dict[str, Pair] = {SECOND: (26.0, 26.0)}

ROWS: dict[str, Published] = {
    "random": Published("Random", _SAME, _SAME),
    "shortest": Published("Length (shortest)", _LENGTH, _LENGTH),
    "conceptnet": Published("ConceptNet", _CONCEPTNET, _CONCEPTNET),
    "fasttext": Published(
        "fastText",
        {ENDING: (27.5, 26.9), SECOND: (29.2, 27.8), FULL: (29.4, 28.0)},
        {ENDING: (29.9, 29.0), SECOND: (29.8, 29.0), FULL: (30.3, 29.8)},
    ),
    "encoder": Published(
        "Sentence encoders (SkipThoughts)",
        {ENDING: (32.4, 32.1), SECOND: (33.0, 32.4)},
        {ENDING: (32.2, 31.8), SECOND: (32.8, 32.3)},
    ),
    "lstm": Published(
        "LSTM sequence model",
        {ENDING: (31.9, 31.8), SECOND: (32.7, 32.4), FULL: (43.1, 43.6)},
        {ENDING: (32.9, 32.4), SECOND: (34.3, 33.5), FULL: (45.6, 45.7)},
    ),
    "lstm numberbatch": Published(
        "LSTM+Numberbatch",
        {ENDING: (32.4, 32.6), SECOND: (31.9, 31.9), FULL: (39.9, 40.2)},
        {ENDING: (32.3, 31.9), SECOND: (34.1, 32.8), FULL: (41.2, 40.5)},
    ),
    "dualbow": Published(
        "DualBoW+GloVe",
        {SECOND: (31.3, 31.3), FULL: (34.5, 34.7)},
        {SECOND: (31.9, 31.2), FULL: (32.9, 33.1)},
    ),
    "dualbow numberbatch": Published(
        "DualBoW+Numberbatch",
        {SECOND: (31.9, 31.4), FULL: (35.1, 35.1)},
        {SECOND: (31.6, 31.3), FULL: (34.2, 34.1)},
    ),
    "infersent-mlp": Published(
        "InferSent-MLP",
        {SECOND: (32.9, 32.1), FULL: (35.9, 36.2)},
        {SECOND: (32.8, 32.7), FULL: (39.5, 39.4)},
    ),
    "infersent-bilinear": Published(
        "InferSent-Bilinear",
        {SECOND: (32.0, 31.3), FULL: (40.5, 40.3)},
        {SECOND: (31.6, 31.3), FULL: (39.0, 38.4)},
    ),
    "nli": Published("SNLI-ESIM", {FULL: (36.4, 36.1)}, {FULL: (36.2, 36.0)}),
    "decomp": Published(
        "DecompAttn+GloVe",
        {SECOND: (29.8, 30.3), FULL: (47.4, 47.6)},
        {SECOND: (31.1, 31.7), FULL: (48.5, 48.6)},
    ),
    "decomp numberbatch": Published(
        "DecompAttn+Numberbatch",
        {SECOND: (32.4, 31.7), FULL: (47.4, 48.0)},
        {SECOND: (32.5, 31.9), FULL: (48.0, 48.3)},
    ),
    "esim": Published(
        "ESIM+GloVe",
        {SECOND: (34.8, 35.1), FULL: (51.9, 52.7)},
        {SECOND: (36.3, 36.7), FULL: (52.5, 52.5)},
    ),
    "esim numberbatch": Published(
        "ESIM+Numberbatch",
        {SECOND: (33.1, 32.6), FULL: (46.5, 46.4)},
        {SECOND: (33.0, 32.4), FULL: (44.0, 44.6)},
    ),
    "transformer": Published("BERT-Large", {ENDING: (74.8, None), FULL: (86.7, None)}, {}, HELLASWAG),
}
"""By the names of our models; `numberbatch` behind it where the word vectors are those."""

PEOPLE: dict[str, float] = {
    "1 annotator": 0.828,
    "3 annotators": 0.851,
    "5 annotators": 0.880,
    "expert": 0.850,
}
"""Accuracy of people on 100 questions of SWAG, 0 to 1, by majority, reading all (Zellers et al. 2018, Table 3)."""


def published_row(name: str, vectors: str = "") -> Published | None:
    """The row of the model `name`, brackets aside, with word vectors of the file name `vectors`; None if no paper has
    one."""
    base = name.partition("[")[0]
    if "numberbatch" in vectors.lower() and f"{base} numberbatch" in ROWS:
        return ROWS[f"{base} numberbatch"]
    return ROWS.get(base)


def published_figure(row: Published | None, input: str, trained_on: str, part: str) -> float | None:
    """Its accuracy, from 0 to 1, in one cell of the table; None where the paper has none."""
    if row is None:
        return None
    of = row.generated if trained_on == "found+generated" else row.found
    value = of.get(input, (None, None))[0 if part == "validation" else 1]
    return None if value is None else round(value / 100, 4)
