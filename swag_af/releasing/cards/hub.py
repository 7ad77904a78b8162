"""The YAML header of the dataset card, from which the Hugging Face hub and `datasets.load_dataset` know the files."""

import json
import re
from collections.abc import Mapping, Sequence

from swag_af.releasing.dataset import Dataset
from swag_af.releasing.files.formats import HUB_NAMES, KINDS
from swag_af.releasing.files.stages import FOLDER, stage_columns
from swag_af.releasing.files.swag_csv import FULL_SPLITS, full_columns, full_width, regular_columns
from swag_af.releasing.questions import SPLITS

_PLAIN = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[A-Za-z][\w-]*", re.ASCII | re.IGNORECASE)
"""Names that YAML takes as texts without quotes."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))


def header_lines(dataset: Dataset, formats: Sequence[str]) -> list[str]:
    """YAML between two lines of dashes: the kind of dataset, and the files and features of each configuration.

    The files are Parquet, or CSV where there is no Parquet; features are declared for Parquet only, because the first
    column of the CSV files has no name.
    """
    judged = dataset.opinions is not None
    annotators = "- crowdsourced\n- machine-generated" if judged else "- machine-generated"
    matched = dataset.run.matching is not None
    lines = [
        "---",
        f"pretty_name: {json.dumps(dataset.options.out.resolve().name, ensure_ascii=False)}",
        *(["language:\n- en"] if dataset.is_english else []),
        "license: unknown",
        *(["multilinguality:\n- monolingual"] if dataset.is_english else []),
        f"annotations_creators:\n{annotators}",
        f"language_creators:\n- found{_of_endings(dataset)}",
        f"size_categories:\n- {size_category(len(dataset.questions))}",
        "task_categories:\n- multiple-choice",
        f"tags:\n- adversarial-{'matching' if matched else 'filtering'}",
        *(["- commonsense"] if dataset.goes_on else []),
    ]
    configs = [*(["regular", "full"] if judged else ["regular"]), *([FOLDER] if dataset.rationales else [])]
    if "parquet" in formats:
        lines += ["dataset_info:", *(line for name in configs for line in _info_lines(dataset, name))]
    files = [line for name in configs for line in _config_lines(dataset, name, "parquet" in formats)]
    return [*lines, *(["configs:", *files] if files else []), "---"]


def _of_endings(dataset: Dataset) -> str:
    """Who wrote the wrong endings: models that `generate` asked; people, the golds of other rows; or nobody that the
    pool knows of, which was made of endings from elsewhere."""
    verb = (dataset.run.pool.manifest.get("made_by") or {}).get("verb")
    return {"generate": "\n- machine-generated", "match": ""}.get(str(verb), "\n- other")


def size_category(n: int) -> str:
    """The hub's size category for `n` rows."""
    return next((name for limit, name in _SIZES if n < limit), "n>10M")


def _info_lines(dataset: Dataset, config: str) -> list[str]:
    labels = [f"          '{i}': '{i}'" for i in range(1 + dataset.options.n_distractors)]
    types = {
        "label": ["    dtype:", "      class_label:", "        names:", *labels],
        "string": ["    dtype: string"],
        "int64": ["    dtype: int64"],
        "list": ["    sequence: string"],
    }
    lines = [f"- config_name: {config}", "  features:"]
    for column, kind in _columns(dataset, config).items():
        lines += [f"  - name: {column if _PLAIN.fullmatch(column) else json.dumps(column)}", *types[kind]]
    return lines


def _columns(dataset: Dataset, config: str) -> Mapping[str, str]:
    """What each column of a configuration holds."""
    if config == FOLDER:
        return stage_columns(dataset.questions)
    first, width = dataset.questions[0], full_width(dataset.questions)
    names = regular_columns(first) if config == "regular" else full_columns(first, width)
    return {name: KINDS.get(name, "string") for name in names}


_PLACES = {
    "regular": ("data", "{}.csv"),
    "full": ("full", "{}_full.csv"),
    FOLDER: (FOLDER, f"{FOLDER}/{{}}.jsonl"),
}
"""Of each configuration the folder of its Parquet files, and its file of a split where there is no Parquet."""


def _config_lines(dataset: Dataset, config: str, has_parquet: bool) -> list[str]:
    splits = [split for split in SPLITS if dataset.sizes[split] and (has_parquet or split != "test")]
    if config == "full":
        splits = [split for split in splits if split in FULL_SPLITS]
    if not splits:
        return []  # a test split alone, without Parquet: its CSV has other columns
    lines = [f"- config_name: {config}", *(["  default: true"] if config == "regular" else []), "  data_files:"]
    for split in splits:
        folder, plain = _PLACES[config]
        path = f"{folder}/{HUB_NAMES[split]}-*.parquet" if has_parquet else plain.format(split)
        lines += [f"  - split: {HUB_NAMES[split]}", f"    path: {path}"]
    return lines
