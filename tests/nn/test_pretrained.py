"""Models of Hugging Face: what is missing is told as what it is."""

import sys
from pathlib import Path

import pytest
from tiny_bert import save_tiny_bert

from swag_af.data.errors import InputError
from swag_af.nn.pretrained import import_transformers, read_config, read_tokenizer


def test_a_package_that_is_missing_and_one_that_cannot_be_imported_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(InputError, match=r"^transformers is not installed\. Install it with: pip install 'swag-af"):
        import_transformers()
    (tmp_path / "transformers.py").write_text("import no_such_package\n", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "transformers")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"cannot be imported \(No module named 'no_such_package'\)"):
        import_transformers()


def test_a_tokenizer_without_words_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers 5 makes one of special tokens alone where a folder has none of its files."""
    model = save_tiny_bert(tmp_path / "bert")
    tokenizer = read_tokenizer(model, read_config(model))
    assert len(tokenizer) > len(tokenizer.all_special_ids)
    monkeypatch.setattr(type(tokenizer), "__len__", lambda self: len(self.all_special_ids))
    with pytest.raises(InputError, match=r"no model that can be read \(its tokenizer has no words"):
        read_tokenizer(model, read_config(model))
