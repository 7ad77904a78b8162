"""`croissant.json`: the files, their hashes and their columns, in the dataset format Croissant 1.0 of ML Commons.

Made without a library; the tests check it with `mlcroissant`. Licence, citation, address and, where the pool does not
know it, the language are left for the publisher to add.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import write_json
from swag_af.data.disk.manifests import sha256_file
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.files.formats import KINDS
from swag_af.releasing.files.stages import FOLDER, columns_shown, stage_columns
from swag_af.releasing.files.swag_csv import FULL_SPLITS, full_columns, full_width, regular_columns
from swag_af.releasing.questions import SPLITS

CROISSANT = "croissant.json"

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet"),
            *("format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField"),
            "transform",
        )
    },
}
"""The terms of Croissant 1.0, with which every such file must begin."""


def write_croissant(folder: Path, dataset: Dataset) -> None:
    """Write `croissant.json`, which describes the CSV files in `folder`."""
    write_json(folder / CROISSANT, croissant(folder, dataset))


def croissant(folder: Path, dataset: Dataset) -> dict[str, Any]:
    """The content of the file, as JSON-LD."""
    columns_of = _columns_of_files(dataset)
    method, year = ("Matching", 2019) if dataset.run.matching else ("Filtering", 2018)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": dataset.options.out.resolve().name,
        "description": f"{len(dataset.questions):,} multiple-choice questions of {1 + dataset.options.n_distractors} "
        f"endings, made by Adversarial {method} (Zellers et al. {year}). README.md tells how.",
        "keywords": [f"adversarial {method.lower()}", "multiple choice", *(["commonsense"] if dataset.goes_on else [])],
        **({"inLanguage": "en"} if dataset.is_english else {}),
        "version": "1.0.0",
        "distribution": [_file(folder, name) for name in columns_of],
        "recordSet": [_record_set(name, columns) for name, columns in columns_of.items()],
    }


def _columns_of_files(dataset: Dataset) -> dict[str, dict[str, str]]:
    """The named columns of each file that has rows, with what they hold."""
    regular = regular_columns(dataset.questions[0])
    splits = [split for split in SPLITS if dataset.sizes[split]]
    found = {f"{split}.csv": _kinds(regular[:-1] if split == "test" else regular) for split in splits}
    if dataset.opinions is not None:
        full = full_columns(dataset.questions[0], full_width(dataset.questions))
        found |= {f"{split}_full.csv": _kinds(full) for split in splits if split in FULL_SPLITS}
    if dataset.rationales is not None:
        of_stages = stage_columns(dataset.questions)
        for split in splits:
            shown = columns_shown(of_stages, split)
            found[f"{FOLDER}/{split}.jsonl"] = {name: of_stages[name] for name in shown}
    return found


def _kinds(columns: Sequence[str]) -> dict[str, str]:
    return {name: KINDS.get(name, "string") for name in columns}


def _file(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "text/csv" if path.suffix == ".csv" else "application/jsonlines",
        "contentSize": f"{path.stat().st_size} B",
        "sha256": sha256_file(path),
    }


def _record_set(file: str, columns: Mapping[str, str]) -> dict[str, Any]:
    name = file.removesuffix(".csv").removesuffix(".jsonl")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": "sc:Integer" if kind in ("int64", "label") else "sc:Text",
                **({"repeated": True} if kind == "list" else {}),
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }
            for column, kind in columns.items()
        ],
    }
