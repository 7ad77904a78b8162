"""The paper's language models as a scorer: each row by the model of a fold that has not read its ending."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from swag_af.data.context import Context
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.disk.urls import command, name_of
from swag_af.data.errors import InputError, several
from swag_af.data.folds import SEEN, FoldMap, Readable
from swag_af.data.pool.folder import FEATURES
from swag_af.data.tokens import tokenize
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.candidates import Readers, load_readers
from swag_af.lm.lstm.checkpoints import fold_path, open_vocabulary, trained_folds
from swag_af.lm.lstm.features import Endings, all_features
from swag_af.lm.options import Precision
from swag_af.lm.scorers.contract import COLUMNS
from swag_af.nn.device import pick_device

_GIVEN = [FEATURES.index(name) for name in COLUMNS]


@dataclass
class LSTMScorer:
    """All five columns; `ending_alone` and `context_given_ending` are the backward model's (see `features`)."""

    lms: Path | str
    """The folder of `swag-af train-lm`; its map of folds says which model may read which row."""
    device: str = "auto"
    _readers: dict[int, Readers] = field(default_factory=dict, init=False, repr=False, compare=False)

    name: ClassVar[str] = "lstm"
    argument: ClassVar[str] = "lms"
    columns: ClassVar[tuple[str, ...]] = COLUMNS

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        """For each context, in order: (K, 5) float32; InputError for rows whose endings all models have learnt."""
        folds = self.folds_of(contexts)
        texts = [self._texts(context, mine) for context, mine in zip(contexts, endings, strict=True)]
        made: dict[int, np.ndarray] = {}
        for fold in np.unique(folds).tolist():
            mine = np.flatnonzero(folds == fold).tolist()
            readers = self.readers_of(fold)
            for i, values in all_features(readers.forward, readers.backward, [texts[at] for at in mine]):
                made[mine[i]] = values[:, _GIVEN]
        yield from (made[position] for position in range(len(contexts)))

    def folds_of(self, contexts: Sequence[Context]) -> np.ndarray:
        """(n,) whose model reads each of `contexts`: one that has not learnt its ending."""
        return readable_by(contexts, Path(self.lms), "these contexts").folds

    def record(self) -> dict[str, Any]:
        """The folder, its corpus, and the hash of each fold's weights; not foreign, since folds decide."""
        lms = Path(self.lms)
        weights = {str(fold): self._weights(fold) for fold in trained_folds(lms)}
        return {
            "model": name_of(lms),
            "foreign": False,
            "corpus": read_manifest(lms, "lm")["corpus_sha256"],
            "weights": weights,
        }

    def readers_of(self, fold: int) -> Readers:
        """The models of `fold`; those of the fold at hand alone are kept."""
        if fold not in self._readers:
            self._readers.clear()
            device = pick_device(self.device).type
            self._readers[fold] = load_readers(Path(self.lms), fold, device=device, precision=precision_on(device))
        return self._readers[fold]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The token types of the models."""
        return open_vocabulary(Path(self.lms))

    def _weights(self, fold: int) -> str:
        return str(read_manifest(fold_path(Path(self.lms), fold), "lm-fold")["weights_sha256"])

    def _texts(self, context: Context, endings: Sequence[str]) -> tuple[list[int], list[int], Endings]:
        sent1, start, *ids = (self.vocabulary.ids(tokenize(text)) for text in (context.sent1, context.start, *endings))
        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        for row, one in zip(tokens, ids, strict=True):
            row[: len(one)] = one
        return sent1, start, Endings([*sent1, *start], tokens, np.array(list(map(len, ids))))


def precision_on(device: str) -> Precision:
    """Of the output layer, on `cpu` or `cuda`."""
    return "bf16" if device == "cuda" else "fp32"


def readable_by(contexts: Sequence[Context], lms: Path, where: str) -> Readable:
    """Which fold's model reads each of `contexts`, which stand in `where`; InputError for those whose endings all
    models have learnt."""
    folds, trained = FoldMap.load(lms), trained_folds(lms)
    if not trained:
        raise InputError(f"{lms}: no fold is trained. `{command('train-lm', 'CONTEXTS', '--out', lms)}` trains them.")
    readable = folds.readable(contexts, trained)
    seen = np.flatnonzero(readable.folds == SEEN)
    if len(seen):
        raise InputError(
            f"{where}: {several(len(seen), 'row has a second sentence', 'rows have second sentences')} that "
            f"several folds of {lms} have, so every model has learnt it (first: {contexts[seen[0]].id}). "
            f"`{command('pool', 'SOURCE', '--lms', lms)}` makes a pool without such rows, and counts them."
        )
    untrained = sorted(set(readable.folds.tolist()) - set(trained))
    if untrained:
        train = command("train-lm", "CONTEXTS", "--out", lms, "--folds", *untrained)
        n = int(np.isin(readable.folds, untrained).sum())
        raise InputError(
            f"{lms}: {several(n, 'row')} of {where} may be read by the models of folds "
            f"{' '.join(map(str, untrained))} alone, which are not trained. `{train}` trains them."
        )
    return readable
