"""Whether a column that was taken for the answers is the gold column of the dataset, copied beside them."""

from collections.abc import Sequence

import numpy as np

from swag_af.data.errors import InputError
from swag_af.data.instances.options import AUTO
from swag_af.data.tables.sources import Source
from swag_af.scoring.options import PredictionOptions
from swag_af.scoring.reading.answers import Cells
from swag_af.scoring.reading.forms import ANSWERS
from swag_af.scoring.reading.tables import IDS


def check_not_gold(
    source: Source, answer: str, known: Sequence[str], is_right: np.ndarray, cells: Cells, options: PredictionOptions
) -> None:
    """Raise InputError where the column `answer` was guessed, may hold gold by its name and is right in every row, and
    the file has columns that could be the answers: neither those `known`, nor ids, nor columns of the dataset.

    However few rows there are: naming the column is easy, and a wrong 100 % is not seen.
    """
    if options.prediction_column != AUTO or answer not in ANSWERS or not len(is_right) or not is_right.all():
        return
    passed = {answer, "", *known, *IDS, *cells.beside}
    others = [name for name in source.columns if name not in passed]
    if others:
        raise InputError(
            f"{source.path}: {answer} is right in every row, as gold is, and {', '.join(others[:6])} could be the "
            f"answers. Say --prediction-column NAME, {answer} if that is what was answered."
        )
