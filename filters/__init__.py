"""Filters: classifiers that say how gold-like a candidate is.

Reading order (each file imports only those named before it):

    contract      what a filter is, in four sentences
    checking      `check_filter`, which tests them on anyone's class
    registry      names to classes: `make_filter("mlp")`
    threads       how many threads decide the bits of a filter
    prepare       filters made ready for a pool, every fault found at once
    sequences     a view as padded tensors
    networks      the five networks
    neural        fitting and scoring, shared by the five
    members       MLPFilter, BagOfWordsFilter, CNNFilter, PosLSTMFilter, EnsembleFilter
    strings       a view as strings
    characters    texts as counts of their characters
    estimators    SklearnFilter, around any scikit-learn estimator, NgramFilter and CharFilter
    fast_text     FastTextFilter
    pretrained    networks of Hugging Face: loading, tokens, a step of fine-tuning
    vector_cache  vectors of texts on disk
    frozen        a pretrained encoder that stays as it is: vectors of texts
    transformer   TransformerFilter, a pretrained encoder that is fine-tuned
    pairs         filters that read two texts: DualBoW, InferSent, DecompAttn, ESIM; and LSTMFilter, which reads one
    nli           a model of natural language inference: train-nli, NLIFilter, entailment
    encoder       EncoderFilter, a regression on a pretrained encoder that stays as it is
    judge         JudgeFilter, a language model behind an address, without training

Importing this package loads no torch; the names below are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swag_af.data.errors import ContractError
    from swag_af.filters.checking import check_filter
    from swag_af.filters.contract import Filter
    from swag_af.filters.encoder import EncoderFilter
    from swag_af.filters.estimators import CharFilter, NgramFilter, SklearnFilter
    from swag_af.filters.fast_text import FastTextFilter
    from swag_af.filters.judge.judge import JudgeFilter
    from swag_af.filters.members import BagOfWordsFilter, CNNFilter, EnsembleFilter, MLPFilter, PosLSTMFilter
    from swag_af.filters.nli.member import NLIFilter
    from swag_af.filters.pairs.members import (
        DecompFilter,
        DualBowFilter,
        ESIMFilter,
        InferSentBilinearFilter,
        InferSentMLPFilter,
        LSTMFilter,
    )
    from swag_af.filters.registry import filter_names, make_filter
    from swag_af.filters.transformer import TransformerFilter

_MODULE_OF = {
    "BagOfWordsFilter": "members",
    "CNNFilter": "members",
    "CharFilter": "estimators",
    "ContractError": "checking",
    "DecompFilter": "pairs.members",
    "DualBowFilter": "pairs.members",
    "ESIMFilter": "pairs.members",
    "EncoderFilter": "encoder",
    "EnsembleFilter": "members",
    "FastTextFilter": "fast_text",
    "Filter": "contract",
    "InferSentBilinearFilter": "pairs.members",
    "InferSentMLPFilter": "pairs.members",
    "JudgeFilter": "judge.judge",
    "LSTMFilter": "pairs.members",
    "MLPFilter": "members",
    "NLIFilter": "nli.member",
    "NgramFilter": "estimators",
    "PosLSTMFilter": "members",
    "SklearnFilter": "estimators",
    "TransformerFilter": "transformer",
    "check_filter": "checking",
    "filter_names": "registry",
    "make_filter": "registry",
}

__all__ = [
    "BagOfWordsFilter",
    "CNNFilter",
    "CharFilter",
    "ContractError",
    "DecompFilter",
    "DualBowFilter",
    "ESIMFilter",
    "EncoderFilter",
    "EnsembleFilter",
    "FastTextFilter",
    "Filter",
    "InferSentBilinearFilter",
    "InferSentMLPFilter",
    "JudgeFilter",
    "LSTMFilter",
    "MLPFilter",
    "NLIFilter",
    "NgramFilter",
    "PosLSTMFilter",
    "SklearnFilter",
    "TransformerFilter",
    "check_filter",
    "filter_names",
    "make_filter",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
