"""Claims about which contexts of a file get endings."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from hypothesis import given
from hypothesis import strategies as st

from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context
from swag_af.data.disk.files import write_jsonl
from swag_af.data.errors import InputError
from swag_af.lm.choosing import copies_line, positions_of, whole_videos
from swag_af.lm.options import GenerateOptions, TextOptions
from swag_af.lm.verb import generate


@given(videos=st.lists(st.integers(0, 12), min_size=1, max_size=60), n=st.integers(1, 60), seed=st.integers(0, 3))
def test_no_video_is_split_and_no_fold_passes_its_share(videos: list[int], n: int, seed: int) -> None:
    (one,) = make_contexts_of(1, n_videos=1)
    contexts = [replace(one, id=f"{i}", video=f"v{video}", fold=video % 3) for i, video in enumerate(videos)]
    n = min(n, len(contexts))
    taken = set(whole_videos(contexts, n, rng=np.random.default_rng(seed)).tolist())
    for i, j in np.ndindex(len(videos), len(videos)):
        assert videos[i] != videos[j] or (i in taken) == (j in taken)
    assert len(taken) <= n
    for fold in {video % 3 for video in videos}:
        share = n * sum(video % 3 == fold for video in videos) / len(videos)
        assert sum(videos[i] % 3 == fold for i in taken) <= share + 1


def test_fold_numbers_with_gaps_change_no_choice() -> None:
    """Every number up to the largest was looked at: most of a second for 20,000 contexts and a fold 99,999."""
    contexts = make_contexts_of(60, n_videos=20)
    apart = [replace(context, fold=999_999 if context.fold == 4 else context.fold) for context in contexts]
    picks = (whole_videos(some, 30, rng=np.random.default_rng(0)).tolist() for some in (contexts, apart))
    assert next(picks) == next(picks)


def test_videos_of_one_context_give_just_as_many_as_asked_for() -> None:
    contexts = make_contexts_of(50, n_videos=50)
    taken = whole_videos(contexts, 20, rng=np.random.default_rng(0))
    assert np.bincount([contexts[i].fold for i in taken]).tolist() == [4] * 5


def test_contexts_of_no_video_are_drawn_one_by_one() -> None:
    contexts = [replace(context, video="", fold=0) for context in make_contexts_of(9, n_videos=1)]
    assert len(whole_videos(contexts, 4, rng=np.random.default_rng(0))) == 4


def test_a_pool_of_whole_videos_is_none_of_single_contexts(contexts_path: Path, tmp_path: Path) -> None:
    """A choice by videos goes on as one of contexts no more than the other way round."""
    options = GenerateOptions(
        contexts_path, out=tmp_path / "pool", generator="ngram", n_negatives=3, limit=8, text=TextOptions()
    )
    made = generate(options)
    assert made.manifest["plan"]["limit_by"] is None  # as where it was not there, in pools of an earlier release
    by_video = replace(options, limit_by="video")
    with pytest.raises(InputError, match="begun with other"):
        generate(by_video)
    again = generate(replace(by_video, out=tmp_path / "videos"))
    with pytest.raises(InputError, match="begun with other"):
        generate(replace(options, out=tmp_path / "videos"))
    every = read_contexts(contexts_path)
    chosen = {every[i].id for i in positions_of(every, by_video)}
    assert {context.id for context in again.contexts} <= chosen
    assert again.manifest["plan"]["limit_by"] == "video"


def test_contexts_that_stand_twice_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pool had identical rows, of which only shared negatives were told."""
    contexts = [replace(context, id="", video="", media={}) for context in make_contexts_of(12, n_videos=6)]
    path = tmp_path / "contexts.jsonl"
    write_jsonl(path, (context.record() for context in (*contexts, *contexts[:2])))
    generate(GenerateOptions(path, out=tmp_path / "pool", generator="ngram", n_negatives=2, min_tokens=1))
    n = len(contexts) + 2 - len({(one.sent1, one.start, one.gold) for one in contexts})
    assert f"Warning: {n} of 14 contexts copy an earlier one" in capsys.readouterr().err
    assert copies_line(list(dict.fromkeys(contexts))) is None
    assert copies_line([contexts[0], replace(contexts[0], media={"image": "other.jpg"})]) is None


def test_a_video_of_two_folds_passes_no_share() -> None:
    contexts = [Context("A.", "He", "b.", video="v", fold=i % 2) for i in range(10)]
    contexts += [Context("A.", "He", "b.", video=f"w{i}", fold=i % 2) for i in range(30)]
    for seed in range(12):
        assert len(whole_videos(contexts, 12, rng=np.random.default_rng(seed))) <= 12
