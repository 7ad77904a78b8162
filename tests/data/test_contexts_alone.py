"""Two processes at one file of contexts: the second is refused, and harms nothing."""

from pathlib import Path

import pytest

from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.readers import caption_rows
from swag_af.data.captions.verb import contexts
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.data.sample.grammar import sample_videos
from swag_af.data.work.locks import alone


def test_the_second_to_come_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "captions.jsonl"
    write_jsonl(source, caption_rows(sample_videos(6)))
    rules = ContextRules(min_token_count=1)
    options = ContextsOptions((source,), tmp_path / "made" / "contexts.jsonl", splitter="rules", rules=rules)
    with alone(options.out), pytest.raises(InputError, match=r"contexts\.jsonl: another process is at work on this"):
        contexts(options)
    assert not list(options.out.parent.iterdir())
    assert contexts(options)["kept"]
    assert not list(options.out.parent.glob(".*"))


def test_what_is_refused_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        contexts(ContextsOptions((tmp_path / "missing.jsonl",), tmp_path / "made" / "contexts.jsonl"))
    assert not list(tmp_path.iterdir())
