"""The folder of language models: what `train-lm` leaves and `generate` reads.

    lms/manifest.json          format, kind, options, hashes of corpus and vocabulary
    lms/vocabulary.tsv         shared by all folds
    lms/folds.json             what each fold's model has not read (`swag_af.data.folds`)
    lms/pretrained/            what all folds start from, when there were books; like a fold
    lms/fold-0/weights.safetensors, manifest.json (perplexities), epochs.jsonl

While a fold trains, `fold-0/checkpoints/` holds its last finished epoch; it is gone when the fold is done.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from swag_af.data.disk.files import read_json, write_json
from swag_af.data.disk.manifests import (
    MANIFEST,
    check_manifest,
    check_same,
    read_manifest,
    sha256_file,
    sha256_json,
    write_manifest,
)
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import remove_leftovers, replacing
from swag_af.data.disk.urls import command
from swag_af.data.errors import FormatError, InputError, in_one_line
from swag_af.data.folds import FOLDS, FoldMap
from swag_af.data.vocabulary import Vocabulary
from swag_af.lm.lstm.network import BidirectionalLM
from swag_af.lm.options import LMOptions

CURVE = "epochs.jsonl"
"""The training curve of a finished model, a line an epoch."""
BEGUN = ("vocabulary.tsv", FOLDS)
"""What stands in the folder of models before its manifest, and so may be there of a run that was killed."""

CHECKPOINTS = "checkpoints"
"""Where the epochs of an unfinished model are kept, in its folder."""


def open_lm_folder(
    path: Path,
    options: LMOptions,
    corpus_sha256: str,
    vocabulary: Vocabulary,
    folds: FoldMap,
    seed: int,
    books: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Begin the folder, or go on with one begun under the same options; returns its manifest.

    `books` are the names and hashes of the books to pretrain on. None begins a folder without, and goes on with
    either kind, unless the pretraining is unfinished.
    """
    books_sha256 = None if books is None else sha256_json(books)
    check_options(path, options, "--out", with_books=books is not None)
    if not (path / "manifest.json").exists():
        vocabulary.save(path / "vocabulary.tsv")
        content = {"options": asdict(options), "corpus_sha256": corpus_sha256, "seed": seed}
        content |= {"books_sha256": books_sha256, "books": books, "folds_sha256": folds.save(path)}
        write_manifest(path, "lm", content | {"vocabulary_sha256": sha256_file(path / "vocabulary.tsv")})
    manifest = read_manifest(path, "lm")
    check_same(manifest, {"corpus_sha256": corpus_sha256, "seed": seed}, path, "--out")
    if books is not None:
        check_same(manifest, {"books_sha256": books_sha256}, path, "--out")
    elif manifest.get("books_sha256") and not is_finished(pretrained_path(path)):
        raise InputError(f"{path}: begun with --pretrain, and that is unfinished. Repeat the first command.")
    remove_leftovers(path)
    if not (path / FOLDS).exists() or sha256_file(path / FOLDS) != manifest.get("folds_sha256"):
        manifest |= {"folds_sha256": folds.save(path)}  # the folder is older than this file, or lost it
        write_json(path / MANIFEST, manifest)
    return manifest


def check_options(path: Path, options: LMOptions, flag: str, *, with_books: bool = False) -> None:
    """Raise InputError where the folder of models at `path`, named by `flag`, was begun with other `options`.

    How often books are read counts where there are books: in the folder, or given (`with_books`). Elsewhere it is
    refused, unless it is the default.
    """
    manifest = read_manifest(path, "lm") if (path / MANIFEST).exists() else {}
    has_books = with_books or bool(manifest.get("books_sha256"))
    if options.pretrain_epochs != LMOptions.pretrain_epochs and not has_books:
        raise InputError(
            f"--pretrain-epochs {options.pretrain_epochs}: goes with books, and {path} has none. Leave it out, or name "
            "books by --pretrain of `swag-af train-lm`."
        )
    if manifest:
        now = {name: value for name, value in asdict(options).items() if has_books or name != "pretrain_epochs"}
        check_same(asdict(options_of(manifest, path)), now, path, flag)


def trained_folds(path: Path) -> list[int]:
    """The folds whose models are finished, in order."""
    found = (re.fullmatch(r"fold-(\d+)", folder.name) for folder in path.glob("fold-*"))
    return sorted(int(match[1]) for match in found if match and is_trained(path, int(match[1])))


def fold_path(path: Path, fold: int) -> Path:
    """Where the model of `fold` lives."""
    return path / f"fold-{fold}"


def pretrained_path(path: Path) -> Path:
    """Where the model that all folds start from lives, when there were books."""
    return path / "pretrained"


def is_trained(path: Path, fold: int) -> bool:
    """Whether the model of `fold` is finished."""
    return is_finished(fold_path(path, fold))


def is_finished(folder: Path) -> bool:
    """Whether the model of a fold's folder, or of the pretraining's, is finished."""
    return (folder / MANIFEST).exists()


def epochs_done(folder: Path) -> int:
    """How many epochs of the model in `folder` an earlier, killed run has finished."""
    last = last_checkpoint(folder)
    if last is None:
        return 0
    try:
        return int(torch.load(last, map_location="cpu", mmap=True, weights_only=False)["epoch"]) + 1
    except (RuntimeError, EOFError, KeyError, UnpicklingError) as error:
        raise FormatError(
            f"{last}: damaged ({in_one_line(error, 100)}). Remove {last.parent}, and the model is trained from its "
            "beginning."
        ) from None


def last_checkpoint(folder: Path) -> Path | None:
    """The last finished epoch of an earlier, killed run."""
    path = folder / CHECKPOINTS / "last.ckpt"
    return path if path.exists() else None


def save_model(folder: Path, kind: str, model: BidirectionalLM, report: dict[str, Any]) -> None:
    """Write the weights, then the manifest that says the model is done."""
    from safetensors.torch import save

    with replacing(folder / "weights.safetensors") as temporary:
        temporary.write_bytes(save({name: v.detach().cpu().contiguous() for name, v in model.state_dict().items()}))
    write_manifest(folder, kind, report | {"weights_sha256": sha256_file(folder / "weights.safetensors")})


def load_weights(folder: Path, model: BidirectionalLM) -> None:
    """Fill `model` with the weights that `save_model` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    weights = folder / "weights.safetensors"
    _check_hash(folder)
    try:
        model.load_state_dict(load_file(weights))
    except (OSError, RuntimeError, SafetensorError) as error:
        raise FormatError(f"{weights}: damaged ({in_one_line(error)}). Remove {folder} and train it again.") from None


def _check_hash(folder: Path) -> None:
    """Raise FormatError unless the weights are there, and those that the manifest of a finished model names."""
    weights = folder / "weights.safetensors"
    if not weights.is_file():
        raise FormatError(f"{weights}: missing, or no file. Remove {folder} and train it again.")
    if is_finished(folder):
        manifest = check_manifest(read_json(folder / MANIFEST), folder / MANIFEST)
        if manifest.get("weights_sha256") != sha256_file(weights):
            raise FormatError(f"{weights}: changed since its manifest was written. Remove {folder} and train it again.")


def options_of(manifest: Mapping[str, Any], path: Path) -> LMOptions:
    """The options in the manifest of the folder of models at `path`; FormatError where they cannot be."""
    return parse_record(
        manifest["options"], LMOptions, f"{path / MANIFEST}: options", "Train anew into another folder."
    )


def load_fold(path: Path, fold: int, *, device: str) -> tuple[BidirectionalLM, Vocabulary]:
    """The finished model of `fold` in evaluation mode on `device`, and its vocabulary."""
    manifest = read_manifest(path, "lm")
    if not is_trained(path, fold):
        raise FormatError(
            f"{path}: fold {fold} is not trained. "
            f"`{command('train-lm', 'CONTEXTS', '--out', path, '--folds', fold)}` trains it."
        )
    vocabulary, options = open_vocabulary(path), options_of(manifest, path)
    _check_shapes(fold_path(path, fold) / "weights.safetensors", len(vocabulary), options)
    model = new_model(len(vocabulary), options)
    load_weights(fold_path(path, fold), model)
    return model.to(device).eval(), vocabulary


def check_fold(path: Path, fold: int) -> None:
    """Raise FormatError unless the finished model of `fold` can be loaded; takes no memory for one."""
    _check_hash(fold_path(path, fold))
    options = options_of(read_manifest(path, "lm"), path)
    _check_shapes(fold_path(path, fold) / "weights.safetensors", len(open_vocabulary(path)), options)


def open_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary that all models of the folder share."""
    return Vocabulary.load(path / "vocabulary.tsv", read_manifest(path, "lm").get("vocabulary_sha256"))


def _check_shapes(weights: Path, n_types: int, options: LMOptions) -> None:
    """Raise FormatError unless the file has the arrays of such a model, before any memory is taken for one."""
    from safetensors import SafetensorError, safe_open

    with torch.device("meta"):
        planned = {name: list(value.shape) for name, value in new_model(n_types, options).state_dict().items()}
    try:
        with safe_open(weights, "pt") as file:
            names = file.keys()  # the file is no dictionary, and cannot be iterated
            found = {name: file.get_slice(name).get_shape() for name in names}
    except (OSError, SafetensorError) as error:
        raise FormatError(f"{weights}: damaged ({in_one_line(error)}). Train the fold again.") from None
    wrong = [name for name in planned if found.get(name) != planned[name]]
    if wrong:
        raise FormatError(
            f"{weights}: {wrong[0]} is {found.get(wrong[0])} where the manifest and the vocabulary make it "
            f"{planned[wrong[0]]}. Put the files back that belong together, or train anew."
        )


def new_model(n_types: int, options: LMOptions) -> BidirectionalLM:
    """An untrained model of these options for a vocabulary of `n_types`."""
    return BidirectionalLM(
        n_types,
        options.hidden,
        options.layers,
        recurrent_dropout=options.recurrent_dropout,
        embedding_dropout=options.embedding_dropout,
    )
