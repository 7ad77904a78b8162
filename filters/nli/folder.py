"""The folder of an NLI model.

    nli/manifest.json          format, kind, options, classes, hashes, losses and accuracy; written last
    nli/weights.safetensors    the network's
    nli/words.json             the words of its table of vectors, in the order of its rows
    nli/held_out.jsonl         every held-out pair by id: its class, what was said, its group

While it is made, `work/` holds what it was begun with and its last finished epoch; it is gone afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from swag_af.data.disk.files import read_json, read_records
from swag_af.data.disk.manifests import MANIFEST, read_manifest, sha256_file
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import replacing
from swag_af.data.errors import FormatError, in_one_line
from swag_af.filters.nli.options import KIND
from swag_af.filters.pairs.fitting import PairFilter
from swag_af.filters.pairs.members import DecompFilter, ESIMFilter
from swag_af.filters.pairs.vectors import open_vectors

WEIGHTS, WORDS, HELD_OUT = "weights.safetensors", "words.json", "held_out.jsonl"
MODELS: Mapping[str, type[DecompFilter] | type[ESIMFilter]] = {"esim": ESIMFilter, "decomp": DecompFilter}


@dataclass(frozen=True)
class NLIManifest:
    """What the manifest says."""

    options: dict[str, Any]
    """Settings of the filter that was trained: model, hidden, vectors; and `identity`, all that decided the bytes."""
    classes: tuple[str, ...]
    sha256: dict[str, str]
    """Of the files in the folder, by name."""
    vectors_sha256: str
    """Of the file of word vectors, empty where there was none."""
    data: dict[str, str]
    """The files that were read, and their hashes."""
    n_train: int
    n_stop: int
    n_held_out: int
    losses: tuple[float, ...]
    """Cross-entropy on the pairs that choose the epoch, in nats, one an epoch."""
    coverage: float
    """Share of the words of the training texts that the file of vectors has."""
    accuracy: float
    """On the held-out pairs."""
    notes: tuple[str, ...] = ()
    """How the files were read, and what is to be known of their classes."""


@dataclass(frozen=True)
class HeldOut:
    """One held-out pair."""

    id: str
    label: int
    said: int
    group: int


@dataclass(frozen=True)
class NLIModel:
    """A trained model."""

    path: Path
    manifest: NLIManifest
    filter: PairFilter
    """Fitted on the classes: `score_classes`, `encode_texts`, `compare`."""

    def held_out(self) -> list[HeldOut]:
        """What it said of every pair that was held out."""
        return list(read_records(self.path / HELD_OUT, HeldOut))


def open_nli(path: Path | str, *, device: str = "auto") -> NLIModel:
    """The model in the folder `path`; InputError where it is none, FormatError where it is damaged."""
    path = Path(path)
    again = f"Remove {path} and train it again with train-nli."
    record = read_manifest(path, KIND)
    manifest = parse_record(
        {name: value for name, value in record.items() if name not in ("format", "kind")},
        NLIManifest,
        path / MANIFEST,
        again,
    )
    for name in (WEIGHTS, WORDS, HELD_OUT):
        if not (path / name).is_file() or sha256_file(path / name) != manifest.sha256.get(name):
            raise FormatError(f"{path / name}: missing, or changed since its manifest was written. {again}")
    filter = filter_of({**manifest.options, "vectors": _vectors(path, manifest)}, device)
    if filter.vectors and open_vectors(filter.vectors).sha256 != manifest.vectors_sha256:
        raise FormatError(f"{filter.vectors}: not the word vectors that {path} was trained with. Put those back.")
    try:
        filter.restore(read_json(path / WORDS), read_tensors(path / WEIGHTS), len(manifest.classes))
    except (KeyError, RuntimeError) as error:
        raise FormatError(f"{path / WEIGHTS}: not of this model ({in_one_line(error)}). {again}") from None
    return NLIModel(path, manifest, filter)


def _vectors(path: Path, manifest: NLIManifest) -> str:
    """The file of word vectors that the model in `path` was trained with, from wherever it is opened; empty where there
    was none. FormatError where it is not there."""
    named = manifest.options["vectors"]
    found = [one for one in (path / named, Path(named)) if named and one.is_file()]
    if named and not found:
        raise FormatError(f"{path}: its word vectors {named} are not there. Put them back, or train it anew.")
    return str(found[0]) if found else ""


def filter_of(options: Mapping[str, Any], device: str) -> PairFilter:
    """An unfitted filter by the `model`, `hidden`, `vectors` of `options`."""
    if options.get("model") not in MODELS:
        raise FormatError(f"NLI model {options.get('model')!r}: there are {', '.join(MODELS)}. Train it anew.")
    kind = MODELS[options["model"]]
    return kind(hidden=options["hidden"], vectors=options["vectors"], device=device)


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write a safetensors file, whole or not at all."""
    from safetensors.torch import save

    with replacing(path) as temporary:
        temporary.write_bytes(save({name: one.detach().cpu().contiguous() for name, one in tensors.items()}))


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file; FormatError where it is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        found: dict[str, torch.Tensor] = load_file(path)
        return found
    except (OSError, SafetensorError) as error:
        raise FormatError(f"{path}: damaged ({in_one_line(error)}). Remove it and run again.") from None


def words_in_order(rows: Mapping[str, int]) -> Sequence[str]:
    """The words of a table in the order of its rows."""
    return sorted(rows, key=rows.__getitem__)
