"""Models of Hugging Face: what is missing is told as what it is."""

import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tiny_bert import save_tiny_bert

from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import InputError
from swag_af.nn.pretrained import (
    contents_of,
    import_transformers,
    read_config,
    read_network,
    read_tokenizer,
    told_by,
)


def test_a_package_that_is_missing_and_one_that_cannot_be_imported_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"^transformers is not installed\. Install it with: pip install "):
        import_transformers()
    (tmp_path / "transformers.py").write_text("import no_such_package\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "transformers")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"cannot be imported \(No module named 'no_such_package'\)"):
        import_transformers()


def test_weights_that_the_files_lack_are_not_drawn_at_random(tmp_path: Path) -> None:
    folder = Path(save_tiny_bert(tmp_path / "bert"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] += 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for kind, new_head in (("AutoModel", False), ("AutoModelForMultipleChoice", True)):
        with pytest.raises(InputError, match=r"its files lack the weights \S+ and \d+ more, which would be"):
            read_network(str(folder), read_config(str(folder)), kind, torch.float32, new_head=new_head)


def test_a_new_head_alone_may_be_drawn(tmp_path: Path) -> None:
    model = save_tiny_bert(tmp_path / "bert")
    read_network(model, read_config(model), "AutoModelForMultipleChoice", torch.float32, new_head=True)
    with pytest.raises(InputError, match="its files lack the weights classifier"):
        read_network(model, read_config(model), "AutoModelForMultipleChoice", torch.float32)


def test_a_head_of_another_shape_is_drawn_anew_and_a_body_of_another_shape_refused(tmp_path: Path) -> None:
    """A model that was fine-tuned on three classes could not be a filter's."""
    transformers = pytest.importorskip("transformers")
    model = save_tiny_bert(tmp_path / "bert")
    tuned = transformers.AutoModelForSequenceClassification.from_pretrained(model, num_labels=3)
    tuned.save_pretrained(model)
    network = read_network(model, read_config(model), "AutoModelForMultipleChoice", torch.float32, new_head=True)
    body, expected = network.bert.state_dict(), tuned.bert.state_dict()
    assert all(torch.equal(body[name], expected[name]) for name in expected)
    assert network.classifier.weight.shape == (1, 32)
    path = Path(model) / "config.json"
    config = json.loads(path.read_text(encoding="utf-8")) | {"intermediate_size": 64}
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=r"the weights bert\.\S+ have another shape than its config\.json says"):
        read_network(model, read_config(model), "AutoModelForMultipleChoice", torch.float32, new_head=True)


def test_a_file_that_was_cut_short_and_a_folder_that_is_not_there_are_told(tmp_path: Path) -> None:
    folder = Path(save_tiny_bert(tmp_path / "bert"))
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=f"^{folder}: no model that can be read"):
        read_network(str(folder), read_config(str(folder)), "AutoModel", torch.float32)
    with pytest.raises(InputError, match=r"nowhere: no such folder\. Check the path\."):
        read_config(str(tmp_path / "nowhere"))


def test_what_is_fetched_is_told_once_and_tries_of_the_hub_are_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    transformers = pytest.importorskip("transformers")

    def unreachable(model: str) -> None:
        logging.getLogger("huggingface_hub.utils._http").warning("Retrying in 8s [Retry 5/5].")
        raise OSError(f"We couldn't connect to the hub to load {model}. Check your connection.")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", unreachable)
    for _ in range(2):
        with pytest.raises(InputError, match=r"some/model: no model that can be read \(We couldn't connect"):
            read_config("some/model")
    assert capsys.readouterr().err == "some/model: no such folder, so it is fetched from the Hugging Face hub.\n"


def test_a_fetched_model_is_recorded_by_its_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers 4 tells it with the configuration, 5 does not."""
    huggingface_hub = pytest.importorskip("huggingface_hub")
    kept = "/cache/models--some--name/snapshots/0123abcd/config.json"
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda model, file: kept)
    assert told_by("some/name", SimpleNamespace(_commit_hash="4567")) == {"model": "some/name", "revision": "4567"}
    assert told_by("some/name", SimpleNamespace()) == {"model": "some/name", "revision": "0123abcd"}
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda model, file: None)
    assert told_by("some/name", SimpleNamespace())["revision"] is None


def test_the_contents_of_a_model_are_those_of_its_files_now(tmp_path: Path) -> None:
    folder = Path(save_tiny_bert(tmp_path / "bert"))
    before = contents_of(str(folder))
    assert before["model.safetensors"] == sha256_file(folder / "model.safetensors")
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    after = contents_of(str(folder))
    assert {name for name in after if after[name] != before[name]} == {"model.safetensors"}


def test_a_tokenizer_without_words_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers 5 makes one of special tokens alone where a folder has none of its files."""
    model = save_tiny_bert(tmp_path / "bert")
    tokenizer = read_tokenizer(model, read_config(model))
    assert len(tokenizer) > len(tokenizer.all_special_ids)
    monkeypatch.setattr(type(tokenizer), "__len__", lambda self: len(self.all_special_ids))
    with pytest.raises(InputError, match=r"no model that can be read \(its tokenizer has no words"):
        read_tokenizer(model, read_config(model))
