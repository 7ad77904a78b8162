"""The YAML header of the dataset card, from which the Hugging Face hub and `datasets.load_dataset` know the files."""

import json
from collections.abc import Sequence

from swag_af.releasing.dataset import Dataset
from swag_af.releasing.formats import HUB_NAMES
from swag_af.releasing.questions import SPLITS
from swag_af.releasing.swag_csv import FULL_SPLITS, full_columns, full_width, regular_columns

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
        "language:\n- en",
        "license: unknown",
        "multilinguality:\n- monolingual",
        f"annotations_creators:\n{annotators}",
        "language_creators:\n- found" + ("" if matched else "\n- machine-generated"),
        f"size_categories:\n- {size_category(len(dataset.questions))}",
        "task_categories:\n- multiple-choice",
        f"tags:\n- adversarial-{'matching' if matched else 'filtering'}\n- commonsense",
    ]
    configs = ["regular", "full"] if judged else ["regular"]
    if "parquet" in formats:
        lines += ["dataset_info:", *(line for name in configs for line in _info_lines(dataset, name))]
    lines += ["configs:", *(line for name in configs for line in _config_lines(dataset, name, "parquet" in formats))]
    return [*lines, "---"]


def size_category(n: int) -> str:
    """The hub's size category for `n` rows."""
    return next((name for limit, name in _SIZES if n < limit), "n>10M")


def _info_lines(dataset: Dataset, config: str) -> list[str]:
    n_choices = 1 + dataset.options.n_distractors
    columns = regular_columns(n_choices) if config == "regular" else full_columns(full_width(dataset.questions))
    lines = [f"- config_name: {config}", "  features:"]
    for column in columns:
        lines.append(f"  - name: {column}")
        if column == "label":
            lines += ["    dtype:", "      class_label:", "        names:"]
            lines += [f"          '{i}': '{i}'" for i in range(n_choices)]
        else:
            lines.append("    dtype: string")
    return lines


def _config_lines(dataset: Dataset, config: str, has_parquet: bool) -> list[str]:
    splits = [split for split in SPLITS if dataset.sizes[split] and (has_parquet or split != "test")]
    if config == "full":
        splits = [split for split in splits if split in FULL_SPLITS]
    lines = [f"- config_name: {config}", *(["  default: true"] if config == "regular" else []), "  data_files:"]
    for split in splits:
        folder, suffix = ("data", "") if config == "regular" else ("full", "_full")
        path = f"{folder}/{HUB_NAMES[split]}-*.parquet" if has_parquet else f"{split}{suffix}.csv"
        lines += [f"  - split: {HUB_NAMES[split]}", f"    path: {path}"]
    return lines
