"""Claims about warnings: captions of several people in one video, and rules that drop a large share, are named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from folders import write

from swag_af.data.captions.advice import (
    FLAGS,
    drop_warnings,
    language_warnings,
    markup_warnings,
    sentence_warnings,
    time_warnings,
)
from swag_af.data.captions.drops import REASONS
from swag_af.data.captions.options import CaptionColumns, ContextRules, ContextsOptions
from swag_af.data.captions.readers import read_videos
from swag_af.data.captions.repair import mend_videos
from swag_af.data.captions.verb import contexts
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.video import Caption


def timed(path: Path, times: list[list[int]]) -> Path:
    """One video in ActivityNet's layout."""
    sentences = [f"The man walks to the door {i} of the house." for i in range(len(times))]
    path.write_text(json.dumps({"v": {"timestamps": times, "sentences": sentences}}))
    return path


SEVERAL_PEOPLE = [[0, 90], [10, 30], [40, 60], [0, 85], [12, 28], [41, 62], [5, 80], [11, 31]]


def test_captions_of_several_people_in_one_video_are_noticed(tmp_path: Path) -> None:
    """As TACoS is when it is read as one person's ActivityNet."""
    videos = read_videos(timed(tmp_path / "a.json", SEVERAL_PEOPLE))
    back, enclosed = time_warnings("a.json", videos, ContextRules())
    assert "a.json: 2 of 7 following captions (29%) begin before the one listed above them" in back
    assert "pairs (57%) the second caption lies within the time of the first" in enclosed
    assert "--drop-enclosed" in enclosed
    assert len(time_warnings("a.json", videos, ContextRules(drop_enclosed=True))) == 1


def test_captions_of_one_person_bring_no_warning(tmp_path: Path) -> None:
    videos = read_videos(timed(tmp_path / "a.json", [[3 * i, 3 * i + 4] for i in range(20)]))
    assert time_warnings("a.json", videos, ContextRules()) == []


def test_captions_of_several_sentences_are_noticed(tmp_path: Path) -> None:
    """Paragraphs made golds of several sentences, which the endings beside them were not."""
    one, two = "A man hits the ball.", "A man hits the ball. The other one runs away."
    path = tmp_path / "rows.jsonl"
    write(path, ({"video": "v", "sentence": text} for text in [one] * 98 + [two] * 2))
    (line,) = sentence_warnings("rows.jsonl", read_videos(path))
    assert line.startswith("rows.jsonl: 2 of 100 captions (2%) are of several sentences.")
    write(path, ({"video": "v", "sentence": text} for text in [one] * 99 + [two]))
    assert sentence_warnings("rows.jsonl", read_videos(path)) == []


def test_tags_of_html_are_counted(tmp_path: Path) -> None:
    """They became words of endings without a word."""
    texts = ["A man</b> sits.", "He eats.<BR />", "&lt;p&gt;He reads.", "He says x < y and b > c.", "He <3 cats."]
    path = write(tmp_path / "rows.jsonl", [{"video": "v", "sentence": text} for text in texts])
    videos, _ = mend_videos(read_videos(path))
    (line,) = markup_warnings("rows.jsonl", videos)
    assert line.startswith("rows.jsonl: 3 of 5 captions (60%) have HTML tags (first: '</b>'), ")
    assert markup_warnings("rows.jsonl", [replace(video, captions=video.captions[3:]) for video in videos]) == []


def test_tables_count_captions_that_go_back_too(tmp_path: Path) -> None:
    rows = [{"video": "v", "sentence": "A b c.", "start_time": t, "end_time": t + 1} for t in (5, 1, 7, 2)]
    write(tmp_path / "rows.jsonl", rows)
    (video,) = read_videos(tmp_path / "rows.jsonl")
    assert video.n_back == 2


def test_a_reason_that_drops_more_than_a_third_names_its_option() -> None:
    drops = dict.fromkeys(REASONS, 0) | {"pairs": 100, "kept": 60, "rare_token": 34, "repeated": 6}
    (line,) = drop_warnings(drops)
    assert line.startswith("34 of 100 pairs (34%) are left out")
    assert "--min-token-count" in line
    assert drop_warnings(drops | {"rare_token": 33, "kept": 61}) == []


def test_every_option_that_is_named_exists() -> None:
    fields = set(ContextRules.__dataclass_fields__) | {"splitter"}
    for advice in FLAGS.values():
        assert advice.split()[0].removeprefix("--").removeprefix("no-").replace("-", "_") in fields


def test_the_verb_says_both_on_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = timed(tmp_path / "a.json", SEVERAL_PEOPLE)
    rules = ContextRules(min_token_count=2, drop_enclosed=True, near_duplicates=0)
    with pytest.raises(ExhaustedError, match="relax the rules: --no-drop-enclosed"):
        contexts(ContextsOptions((source,), tmp_path / "b.jsonl", splitter="rules", rules=rules))
    rules = ContextRules(min_token_count=1, near_duplicates=0)
    contexts(ContextsOptions((source,), tmp_path / "c.jsonl", splitter="rules", rules=rules))
    err = capsys.readouterr().err
    assert "Warning: a.json: 2 of 7 following captions" in err
    assert "--drop-enclosed" in err


GERMAN = ["Die Köchin geht in die neue Küche am Bahnhof.", "Der Lehrer schickt den alten Brief am Bahnhof."]
CHINESE = ["工人在花园里擦干净新的钥匙。", "歌手在车站搬走沉重的窗户。"]


def captions_of(path: Path, texts: list[str]) -> Path:
    return write(path, [{"video": f"v{i}", "sentence": text} for i in range(3) for text in texts])


@pytest.mark.parametrize("drop_foreign", [True, False])
def test_captions_of_another_language_are_told_what_splits_them_instead_of_rules_to_relax(
    drop_foreign: bool, tmp_path: Path
) -> None:
    """Each rule that was relaxed named the next, and the last one made contexts that were cut before German *am*."""
    source, rules = captions_of(tmp_path / "a.jsonl", GERMAN), ContextRules(drop_foreign=drop_foreign)
    with pytest.raises(ExhaustedError, match=r"not English \(language de\).*spacy\[PIPELINE\]") as error:
        contexts(ContextsOptions((source,), tmp_path / "b.jsonl", splitter="rules", rules=rules))
    assert "relax" not in str(error.value)


def test_contexts_of_another_language_by_rules_of_english_are_warned_of_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = captions_of(tmp_path / "a.jsonl", GERMAN)
    rules = ContextRules(drop_foreign=False, min_token_count=1, min_ending_tokens=2)
    assert contexts(ContextsOptions((source,), tmp_path / "b.jsonl", splitter="rules", rules=rules))["kept"] == 1
    assert capsys.readouterr().err.count("Most captions are not English (language de)") == 1


@pytest.mark.parametrize("splitter", ["rules", "spacy[zh_core_web_sm]"])
def test_captions_without_blanks_are_told_that_no_splitter_cuts_them(splitter: str, tmp_path: Path) -> None:
    """Four rules to relax were named one after another, to no end."""
    (line,) = language_warnings(read_videos(captions_of(tmp_path / "a.jsonl", CHINESE)), splitter)
    assert "(language zh), and no splitter" in line
    assert "Instead write contexts of your own" in line


def test_a_splitter_of_that_language_brings_no_warning(tmp_path: Path) -> None:
    videos = read_videos(captions_of(tmp_path / "a.jsonl", GERMAN))
    assert not language_warnings(videos, "spacy[de_core_news_sm]")
    trees = [replace(video, captions=tuple(Caption(c.text, tree="(S x)") for c in video.captions)) for video in videos]
    assert not language_warnings(trees, "auto")
    assert language_warnings(videos, "auto")


def test_a_column_named_for_a_published_set_is_refused(tmp_path: Path) -> None:
    """Its columns are known, so that the option would do nothing."""
    source = timed(tmp_path / "a.json", SEVERAL_PEOPLE)
    with pytest.raises(InputError, match="read as activitynet"):
        contexts(ContextsOptions((source,), tmp_path / "c.jsonl", columns=CaptionColumns(start_column="begin")))
