"""Models of Hugging Face: the package, a model's configuration, failures as one line. Loads no weights by itself.

A model is a folder, or a name that is fetched.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError, in_one_line
from swag_af.data.extras import install
from swag_af.data.work.progress import note


def read_config(model: str) -> Any:
    """The model's configuration; InputError when it cannot be had."""
    transformers = import_transformers()
    if model.startswith(("/", ".", "~")) and not Path(model).is_dir():
        raise InputError(f"{model}: no such folder. Check the path.")
    with readable(model):
        if Path(model).is_dir() and not (Path(model) / "config.json").exists():
            raise OSError("no config.json in it")  # transformers would guess the kind from the folder's name
        return transformers.AutoConfig.from_pretrained(model)


def read_tokenizer(model: str, config: Any) -> Any:
    """The tokenizer of a model of that configuration; InputError where it cannot be had, or has no words."""
    with readable(model):
        tokenizer = import_transformers().AutoTokenizer.from_pretrained(model, config=config)
        if len(tokenizer) <= len(set(tokenizer.all_special_ids)):  # transformers 5 makes one of no files at all
            raise OSError("its tokenizer has no words: its files are missing")
    return tokenizer


def read_network(model: str, config: Any, kind: str, dtype: Any, *, new_head: bool = False) -> Any:
    """The network by transformers' class `kind` with all its weights; InputError where its files lack some. Those of a
    head may be new where that is meant."""
    network, lacking = network_and_lacking(model, config, kind, dtype, new_head=new_head)
    check_whole(model, lacking)
    return network


def network_and_lacking(
    model: str, config: Any, kind: str, dtype: Any, *, new_head: bool = False
) -> tuple[Any, list[str]]:
    """The network, and which weights its files lack, so that they were drawn at random; a pooler's, which only heads
    read, and those of a new head aside, which may have another shape than the head in the files."""
    with readable(model):
        load = getattr(import_transformers(), kind).from_pretrained
        how = {"torch_dtype": dtype, "output_loading_info": True, "ignore_mismatched_sizes": new_head}
        network, told = load(model, config=config, **how)
        inside = f"{network.base_model_prefix}." if new_head else ""
        mismatched = [key if isinstance(key, str) else key[0] for key in told["mismatched_keys"]]  # transformers 5 or 4
        if other := [key for key in mismatched if key.startswith(inside)]:
            raise ValueError(f"the weights {other[0]} have another shape than its config.json says")
    return network, sorted(key for key in told["missing_keys"] if key.startswith(inside) and "pooler" not in key)


def check_whole(model: str, lacking: Sequence[str]) -> None:
    """Raise InputError where the files of a model lack weights."""
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise InputError(
            f"{model}: its files lack the weights {lacking[0]}{more}, which would be drawn at random. Save the model "
            "again with all of them, or take another."
        )


_TOLD = set[str]()
"""The models of which it was told that they are fetched."""


@contextlib.contextmanager
def readable(model: str) -> Iterator[None]:
    """Loading without transformers' remarks about the new head, and its failures as one line; what is fetched is told,
    and shows its progress, and what is read from a folder does neither."""
    logging = import_transformers().utils.logging
    from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from huggingface_hub.utils import logging as of_hub

    before, hides = logging.get_verbosity(), logging.is_progress_bar_enabled()
    shows_fetching, before_of_hub = not are_progress_bars_disabled(), of_hub.get_verbosity()
    logging.set_verbosity_error()
    of_hub.set_verbosity_error()  # each try of several where there is no network
    try:
        if not Path(model).is_dir() and _revision_kept(model) is None and model not in _TOLD:
            _TOLD.add(model)
            note(f"{model}: no such folder, so it is fetched from the Hugging Face hub.")
        if hides:
            logging.disable_progress_bar()  # those of fetching as well
        if shows_fetching and not Path(model).is_dir():
            enable_progress_bars()
        yield
    except (OSError, ValueError, KeyError, TypeError, ImportError, RuntimeError, SafetensorError) as error:
        why = re.split(r"\.\s|\n", str(error).strip())[0].rstrip(".")
        raise InputError(
            f"{model}: no model that can be read ({why}). Give a folder with a model and its tokenizer, or a name on "
            "the Hugging Face hub."
        ) from error
    finally:
        logging.set_verbosity(before)
        of_hub.set_verbosity(before_of_hub)
        if hides:
            logging.enable_progress_bar()
        if not shows_fetching:
            disable_progress_bars()


def import_transformers() -> Any:
    """The package; InputError where it is missing, or something that it needs is."""
    try:
        import transformers
    except ImportError as error:
        is_missing = isinstance(error, ModuleNotFoundError) and error.name == "transformers"
        why = "is not installed. Install it" if is_missing else "cannot be imported ({}). Install what it needs"
        told = why.format(in_one_line(error, 100))
        raise InputError(f"transformers {told} with: {install('hf')}") from error
    return transformers


HASHED = (".safetensors", ".bin", ".json", ".model", ".txt", ".jinja")
"""The kinds of files that decide what a model says: weights, configuration, tokenizer."""


def told_by(model: str, config: Any) -> dict[str, Any]:
    """What tells a model from others, for records: `model`, and `files`, the hashes of its folder, or `revision`."""
    if not Path(model).is_dir():
        return {"model": model, "revision": getattr(config, "_commit_hash", None) or _revision_kept(model)}
    return {"model": model, "files": hashes_of(Path(model))}


def contents_of(model: str) -> dict[str, Any]:
    """What stands in place of a model's name in settings that a run must keep: the hashes of its folder, which may be
    filled with other weights, or name and revision."""
    if Path(model).is_dir():
        return hashes_of(Path(model))
    return told_by(model, read_config(model))


def _revision_kept(model: str) -> str | None:
    """The revision of a fetched model by where it is kept: transformers 5 does not tell it."""
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(model, "config.json")
    parts = Path(path).parts if isinstance(path, str) else ()
    return parts[parts.index("snapshots") + 1] if "snapshots" in parts else None


def hashes_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file, by name, that decides what the model in a folder says."""
    return {path.name: _hash_of(path) for path in sorted(folder.iterdir()) if path.suffix in HASHED}


def _hash_of(path: Path) -> str:
    found = path.stat()
    return _hash_once(path.absolute(), found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=1024)
def _hash_once(path: Path, size: int, changed: int) -> str:
    """An audit asks once a probe, and weights are gigabytes."""
    return sha256_file(path)
