"""Claims about swag_af.data.extras: the command works as it is printed, however the package was installed."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from swag_af.data import extras
from swag_af.data.errors import InputError
from swag_af.data.extras import install
from swag_af.filters.fast_text import import_fasttext


class Noted:
    def __init__(self, noted: object) -> None:
        self.noted = noted

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.noted is None else json.dumps(self.noted)


def test_in_a_checkout_its_folder_is_named() -> None:
    *command, what = shlex.split(install("hf"))
    assert command == ["pip", "install", "-e"]
    assert what.endswith("[hf]")
    assert (Path(what.removesuffix("[hf]")) / "pyproject.toml").exists()


@pytest.mark.parametrize("name", ["swag-af", "a folder's copy"])
def test_what_pip_installed_from_a_folder_names_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path / "site-packages")
    monkeypatch.setattr(extras, "distribution", lambda name: Noted({"url": folder.as_uri(), "dir_info": {}}))
    assert shlex.split(install("hf")) == ["pip", "install", f"{folder}[hf]"]


@pytest.mark.parametrize("noted", [None, {"url": "file:///gone/since", "dir_info": {}}, {"url": "https://host/a.whl"}])
def test_elsewhere_the_package_is_named(noted: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(extras, "distribution", lambda name: Noted(noted))
    assert shlex.split(install("s3")) == ["pip", "install", "swag-af[s3]"]


def test_what_is_there_and_cannot_be_imported_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fasttext.py").write_text("raise ImportError('libstdc++.so: no version', name='fasttext_pybind')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "fasttext", raising=False)
    with pytest.raises(
        InputError, match=r"^fasttext_pybind cannot be imported \(libstdc\+\+\.so: no version\)\. Install"
    ):
        import_fasttext()
    (tmp_path / "fasttext.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(InputError, match=r"^nothing_of_this_name is not installed\. Install it with: pip install "):
        import_fasttext()
