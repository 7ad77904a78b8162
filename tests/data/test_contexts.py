"""Claims about contexts: every drop has its reason, folds keep videos whole, and files read back."""

import errno
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import make_contexts_of
from folders import write

from swag_af.data.captions.advice import time_warnings
from swag_af.data.captions.context_set import (
    drop_report_path_of,
    dropped_path_of,
    manifest_path_of,
    read_contexts,
    read_contexts_manifest,
    read_dropped,
    write_contexts,
)
from swag_af.data.captions.contexts import make_contexts
from swag_af.data.captions.drops import REASONS, drop_table, is_enclosed, with_full_stop
from swag_af.data.captions.options import ContextRules
from swag_af.data.context import Context, DroppedPair
from swag_af.data.errors import FormatError, InputError
from swag_af.data.syntax.splitters import Split
from swag_af.data.video import Caption, Video


class SplitAtIs:
    """A splitter that cuts before the first ` is `."""

    name = "is"

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        parts = [caption.text.partition(" is ") for caption in captions]
        return [Split(start, f"is {rest}") if rest else None for start, _, rest in parts]


FIRST, SECOND = "The man holds a big red kite.", "The man is running down the hill."
LAX = {"min_token_count": 1}


def made(
    *pairs: tuple[str, ...], seed: int = 0, seconds: int = 10, source: str = "tests", **rules: object
) -> tuple[list[Context], list[DroppedPair]]:
    """Contexts of one video a pair, a caption begun every twenty seconds; the first lasts so many."""
    videos = [
        Video(
            f"v{i}",
            source,
            tuple(Caption(text, (20.0 * k, 20.0 * k + (seconds if k == 0 else 10))) for k, text in enumerate(captions)),
        )
        for i, captions in enumerate(pairs)
    ]
    return make_contexts(videos, SplitAtIs(), ContextRules(**LAX | rules), rng=np.random.default_rng(seed))


def test_a_sound_pair_makes_a_context() -> None:
    contexts, dropped = made((FIRST, SECOND))
    assert dropped == []
    (context,) = contexts
    assert (context.sent1, context.start, context.gold) == (FIRST, "The man", "is running down the hill.")
    assert (context.id, context.video, context.source) == ("v0-0", "v0", "tests")


GERMAN = ("Ein Mann steht auf einem Feld und wirft einen Ball.", "Dann fängt der Hund den Ball und läuft weg.")

DROPS = [
    ("foreign", GERMAN, {}),
    ("broken_encoding", (FIRST, "The man is running down the\ufffd hill."), {}),
    ("broken_encoding", ("The cafÃ© of the man is \x9d closed.", SECOND), {}),
    ("enclosed", ("A man climbs all day.", SECOND), {"drop_enclosed": True}),
    ("empty_caption", ("", SECOND), {}),
    ("empty_caption", (FIRST, ""), {}),
    ("gap", (FIRST, SECOND), {"max_gap_seconds": 9.0}),
    ("repeated", (SECOND, SECOND.lower()), {}),
    ("repeated", (SECOND.rstrip("."), SECOND), {}),
    ("short_sentence", (FIRST, "He is up."), {}),
    ("rare_token", (FIRST, SECOND), {"min_token_count": 4}),
    ("no_verb_phrase", (FIRST, "The man runs down the hill."), {}),
    ("short_context", ("Hi.", "He is running down the hill."), {}),
    ("long_context", (FIRST, SECOND), {"max_context_tokens": 9}),
    ("short_ending", (FIRST, SECOND), {"min_ending_tokens": 7}),
    ("long_ending", (FIRST, SECOND), {"max_ending_tokens": 5}),
]


@pytest.mark.parametrize(("reason", "pair", "rules"), DROPS)
def test_a_pair_is_dropped_and_counted_for_its_reason(reason: str, pair: tuple[str, str], rules: dict) -> None:
    contexts, dropped = made(pair, seconds=30 if reason == "enclosed" else 10, **rules)
    table = drop_table(len(contexts), dropped)
    assert {name: n for name, n in table.items() if n} == {"pairs": 1, reason: 1}
    assert [drop.reason for drop in dropped] == [reason]


def test_a_context_met_again_is_a_duplicate() -> None:
    contexts, dropped = made((FIRST, SECOND), (FIRST, SECOND))
    assert len(contexts) == 1
    assert [(drop.reason, drop.video) for drop in dropped] == [("duplicate", "v1")]


def test_every_reason_has_its_example() -> None:
    assert {reason for reason, *_ in DROPS} | {"duplicate", "near_duplicate"} == set(REASONS)


def test_an_enclosed_caption_is_kept_unless_asked_for() -> None:
    assert len(made((FIRST, SECOND), seconds=30)[0]) == 1
    assert len(made((FIRST, SECOND), seconds=29, drop_enclosed=True)[0]) == 1


def test_other_languages_are_kept_when_asked_for() -> None:
    assert made(GERMAN, drop_foreign=False)[1][0].reason == "no_verb_phrase"


@pytest.mark.parametrize(
    ("source", "gap", "kept"),
    [
        ("tests", None, True),
        ("lsmdc", None, False),
        ("LSMDC", None, False),
        ("lsmdc", 50.0, True),
        ("lsmdc", 30.0, True),
        ("tests", 25.0, False),
    ],
)
def test_the_25_second_rule_is_lsmdcs_unless_another_is_said(source: str, gap: float | None, kept: bool) -> None:
    contexts, _ = made((FIRST, SECOND), seconds=-6, source=source, max_gap_seconds=gap)  # 26 seconds between
    assert bool(contexts) is kept


LONG = "The tall man in the blue coat and the hat is painting the old wooden door of the house."


def test_nearly_the_same_as_one_that_stays_is_dropped_and_the_first_stays() -> None:
    contexts, dropped = made((FIRST, LONG), (FIRST, LONG.replace("old", "new")), near_duplicates=0.6)
    assert [context.video for context in contexts] == ["v0"]
    assert [(drop.reason, drop.video) for drop in dropped] == [("near_duplicate", "v1")]
    assert (dropped[0].sent1, dropped[0].sent2) == (FIRST, LONG.replace("old", "new"))


def test_a_near_duplicate_of_one_that_went_stays() -> None:
    one, two, three = LONG, LONG.replace("old", "new"), LONG.replace("old", "new").replace("wooden", "iron")
    near = {"near_duplicates": 0.75}
    assert [len(made(*((FIRST, text) for text in texts), **near)[0]) for texts in ((one, two), (two, three))] == [1, 1]
    assert [c.video for c in made((FIRST, one), (FIRST, two), (FIRST, three), **near)[0]] == ["v0", "v2"]


def test_the_second_sentence_of_one_pair_is_no_near_duplicate_of_the_first_of_the_next() -> None:
    contexts, _ = made((FIRST, LONG, SECOND), near_duplicates=0.2)
    assert len(contexts) == 2


def test_no_near_duplicate_is_dropped_when_none_is_asked_for() -> None:
    assert len(made((FIRST, LONG), (FIRST, LONG.replace("old", "new")), near_duplicates=0.0)[0]) == 2


@pytest.mark.parametrize(
    "rules", [{"near_duplicates": 1.1}, {"max_gap_seconds": float("inf")}, {"max_gap_seconds": -5.0}]
)
def test_rules_that_make_no_sense_are_refused(rules: dict) -> None:
    with pytest.raises(InputError, match=next(iter(rules)).replace("_", "-")):
        ContextRules(**rules)


class CountingSplitter(SplitAtIs):
    """Notes which captions it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def split(self, captions: Sequence[Caption]) -> list[Split | None]:
        self.asked += [caption.text for caption in captions]
        return super().split(captions)


def test_only_pairs_that_can_still_make_a_context_are_split() -> None:
    splitter = CountingSplitter()
    video = Video("v", "tests", tuple(map(Caption, (FIRST, SECOND, SECOND, "Go."))))
    make_contexts([video], splitter, ContextRules(**LAX), rng=np.random.default_rng(0))
    assert splitter.asked == [SECOND]


def test_the_table_beside_the_contexts_has_a_line_and_an_example_for_each_reason_met(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    contexts, dropped = made((FIRST, SECOND), ("", SECOND), (FIRST, "He is up."))
    write_contexts(path, contexts, dropped, {})
    text = drop_report_path_of(path).read_text()
    assert "empty caption" in text
    assert "v2-0: He is up." in text
    assert "rare token" not in text
    assert "all                    3" in text


JUST_INSIDE = [
    {"max_gap_seconds": 10.0},
    {"min_sentence_tokens": 8},
    {"max_context_tokens": 10},
    {"min_context_tokens": 10},
    {"min_ending_tokens": 6},
    {"max_ending_tokens": 6},
]


@pytest.mark.parametrize("rules", JUST_INSIDE)
def test_a_bound_itself_is_inside(rules: dict) -> None:
    assert len(made((FIRST, SECOND), **rules)[0]) == 1


def test_a_token_seen_often_enough_is_not_rare() -> None:
    assert len(made(*[(FIRST, SECOND)] * 4, min_token_count=4)[0]) == 1


def test_pairs_of_the_table_are_all_pairs_of_the_source() -> None:
    pairs = [pair for _, pair, _ in DROPS] + [(FIRST, SECOND, FIRST, SECOND, "The dog is eating a very large bone.")]
    contexts, dropped = made(*pairs)
    table = drop_table(len(contexts), dropped)
    assert table["pairs"] == sum(len(pair) - 1 for pair in pairs)
    assert table["kept"] + sum(table[reason] for reason in REASONS) == table["pairs"]
    assert len(dropped) == table["pairs"] - len(contexts)


def test_an_open_sentence_is_closed_with_a_full_stop() -> None:
    assert [with_full_stop(Caption(text)).text for text in ("He runs", "He runs,", "He runs!", "")] == [
        "He runs.", "He runs.", "He runs!", "",
    ]  # fmt: skip


def test_of_several_marks_at_the_end_one_is_left() -> None:
    """`contexts` kept golds that no model could end like, and generation dropped them all."""
    texts = ("He reads a book...", "He reads!!", "He reads?!", "He reads.. ", "He reads...?", "...")
    assert [with_full_stop(Caption(text.strip())).text for text in texts] == [
        "He reads a book.", "He reads!", "He reads?", "He reads.", "He reads?", ".",
    ]  # fmt: skip
    assert with_full_stop(Caption("He reads!!", tree="(S)")).text == "He reads!!"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ('He says "come in now."', 'He says "come in now".'),
        ("He takes the bread\u2026", "He takes the bread."),
        ('She asks who he is?"', 'She asks who he is"?'),
        ("He shouts (stop!!)", "He shouts (stop)!"),
        ("He leaves (by the door.)", "He leaves (by the door)."),
        ('The sign says "open"', 'The sign says "open".'),
    ],
)
def test_a_stop_within_quotes_is_moved_behind_them(text: str, closed: str) -> None:
    assert with_full_stop(Caption(text)).text == closed
    assert with_full_stop(Caption(text, tree="(S)")).text == closed


def test_repeats_are_in_the_fold_of_what_they_repeat() -> None:
    """Though so many of them that no sentence which they share joins them."""
    same = [Video(f"same{i}", "tests", (Caption(FIRST), Caption(SECOND))) for i in range(10)]
    videos = [*stories(30), *same]
    rules = ContextRules(**(LAX | {"near_duplicates": 0}))
    contexts, dropped = make_contexts(videos, SplitAtIs(), rules, rng=np.random.default_rng(0))
    of_same = [item for item in [*contexts, *dropped] if item.video.startswith("same")]
    assert [item.reason for item in dropped if item.video.startswith("same")] == ["duplicate"] * 9
    assert len({item.fold for item in of_same}) == 1


def test_lines_of_a_few_stories_share_folds_with_their_story(tmp_path: Path) -> None:
    """However few they are: a tenth of fifteen lines is one."""
    lines = [
        {"sent1": f"Person {s} does thing {i}.", "start": f"Person {s}", "gold": f"does thing {i + 1}."}
        for s in range(3)
        for i in range(5)
    ]
    path = tmp_path / "mine.jsonl"
    write(path, lines)
    read = read_contexts(path)
    assert all(len({c.fold for c in read[at : at + 5]}) == 1 for at in (0, 5, 10))
    assert len({c.video for c in read}) == 3


def test_a_video_listed_twice_has_one_fold_and_context_ids_of_its_own() -> None:
    texts = [(FIRST, SECOND, "The boy is eating a very large cake."), (FIRST, "The boy is flying to the moon.")]
    videos = [Video("same", "tests", tuple(map(Caption, captions))) for captions in texts]
    others = [Video(f"v{i}", "tests", (Caption(FIRST),)) for i in range(8)]
    rules = ContextRules(min_token_count=1)
    contexts, _ = make_contexts([*videos, *others], SplitAtIs(), rules, rng=np.random.default_rng(3))
    assert len(contexts) == 3
    assert len({context.fold for context in contexts}) == 1
    assert len({context.id for context in contexts}) == 3


def stories(n: int) -> list[Video]:
    """`n` videos of three captions each, which share none."""
    return [
        Video(
            f"v{i}",
            "tests",
            tuple(Caption(f"Person {i} of room{i} is {doing} thing{i} near door{i}.") for doing in DOINGS),
        )
        for i in range(n)
    ]


DOINGS = ("lifting", "painting", "throwing")


def folds_of(videos: list[Video], seed: int = 0) -> dict[str, int]:
    contexts, dropped = make_contexts(videos, SplitAtIs(), ContextRules(**LAX), rng=np.random.default_rng(seed))
    return {item.video: item.fold for item in [*contexts, *dropped]}


def test_the_same_seed_deals_the_same_folds_in_any_order_and_another_seed_others() -> None:
    videos = stories(40)
    assert folds_of(videos) == folds_of(videos[::-1])
    assert folds_of(videos) != folds_of(videos, seed=1)
    assert set(Counter(folds_of(videos).values()).values()) == {8}


@pytest.mark.parametrize("seed", range(5))
def test_videos_that_share_a_sentence_share_a_fold(seed: int) -> None:
    videos = stories(40)
    leaking = Caption("person 3 of room3 is PAINTING  thing3 near door3")
    videos[20] = replace(videos[20], captions=(*videos[20].captions, leaking))
    folds = folds_of(videos, seed)
    assert folds["v3"] == folds["v20"]


def test_a_context_dropped_as_a_duplicate_is_in_the_fold_of_the_first() -> None:
    videos = stories(40)
    videos[30] = replace(videos[30], captions=videos[7].captions)
    contexts, dropped = made_of(videos)
    assert {pair.video for pair in dropped} == {"v30"}
    assert {pair.reason for pair in dropped} == {"duplicate"}
    assert len({item.fold for item in [*contexts, *dropped] if item.video in ("v7", "v30")}) == 1


def made_of(videos: list[Video]) -> tuple[list[Context], list[DroppedPair]]:
    return make_contexts(videos, SplitAtIs(), ContextRules(**LAX), rng=np.random.default_rng(0))


def test_contexts_and_dropped_pairs_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    contexts, dropped = made((FIRST, SECOND), ("", SECOND), ("Ein Käfer \u2028läuft.", SECOND))
    write_contexts(path, contexts, dropped, {"verb": "contexts"})
    assert read_dropped(path) == dropped
    assert [c.gold for c in read_contexts(path)] == [c.gold for c in contexts]
    manifest = read_contexts_manifest(path)
    assert manifest is not None
    assert manifest["drops"]["kept"] == len(contexts)


def test_a_disk_that_fills_up_keeps_all_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.jsonl"
    write_contexts(path, make_contexts_of(3, n_videos=3), [], {})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    rename = os.replace

    def full(source: Path, target: Path) -> None:
        if dropped_path_of(path).name in Path(target).name:
            raise OSError(errno.ENOSPC, "full")
        rename(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="full"):
        write_contexts(path, make_contexts_of(5, n_videos=3), [], {})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def lines(folder: Path, *records: object) -> Path:
    path = folder / "theirs.jsonl"
    write(path, records)
    return path


MINIMAL = {"sent1": "A  b.", "start": " He ", "gold": "runs."}


def test_sent1_start_and_gold_are_enough_and_lose_stray_blanks(tmp_path: Path) -> None:
    (context,) = read_contexts(lines(tmp_path, MINIMAL | {"theirs": 1}))
    assert (context.sent1, context.start, context.gold, context.source) == ("A b.", "He", "runs.", "custom")


def test_contexts_without_folds_are_dealt_into_some_by_video(tmp_path: Path) -> None:
    contexts = read_contexts(lines(tmp_path, *(MINIMAL | {"video": f"v{i // 2}"} for i in range(20))))
    assert len({context.fold for context in contexts}) == 5
    assert all(len({c.fold for c in contexts if c.video == video}) == 1 for video in {c.video for c in contexts})


def test_whole_numbers_are_names_as_they_are_in_tables(tmp_path: Path) -> None:
    """`pool` took the same lines."""
    first, second = read_contexts(lines(tmp_path, *(MINIMAL | {"id": i, "video": 7, "source": 1} for i in (0, 12))))
    assert (first.id, second.id, second.video, second.source) == ("0", "12", "7", "1")


REFUSED = [
    (MINIMAL | {"gold": "  "}, "line 2 has an empty gold"),
    ({"sent1": "A.", "start": "He"}, "line 2 has no text under gold"),
    ({"sent1": None, "start": 3, "gold": "runs."}, "line 2 has no text under sent1, start"),
    (MINIMAL | {"fold": True}, "line 2 has a fold"),
    (MINIMAL | {"fold": -1}, "line 2 has fold -1"),
    (MINIMAL | {"fold": "0"}, "line 2 has a fold that is no whole number"),
    (MINIMAL | {"id": 7.5}, r"line 2 has an id that is no text\. Write id as one"),
    (MINIMAL | {"id": True}, "line 2 has an id that is no text"),
    (MINIMAL | {"video": None}, "line 2 has a video that is no text"),
    (MINIMAL | {"media": {"score": float("nan")}}, r"line 2 has media\.score: nan is not a finite number"),
    (MINIMAL | {"media": {"ids": [1 << 64]}}, r"line 2 has media\.ids\[0\]: a whole number beyond 64 bits"),
]


@pytest.mark.parametrize(("record", "said"), REFUSED)
def test_a_line_that_is_no_context_is_refused_by_number(tmp_path: Path, record: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_contexts(lines(tmp_path, MINIMAL, record))


def test_a_file_without_contexts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no contexts"):
        read_contexts(lines(tmp_path))


def test_a_file_of_somebody_else_has_no_manifest_and_no_dropped_pairs(tmp_path: Path) -> None:
    path = lines(tmp_path, MINIMAL)
    assert read_contexts_manifest(path) is None
    assert read_dropped(path) == []


def test_dropped_pairs_that_are_gone_are_missed(contexts_file: Path) -> None:
    """Contexts copied without them gave other models, and nothing was said."""
    dropped_path_of(contexts_file).unlink()
    with pytest.raises(FormatError, match=r"not there, though it was written with .*--no-use-dropped"):
        read_dropped(contexts_file)


def test_dropped_pairs_of_another_deal_are_refused(contexts_file: Path) -> None:
    contexts_file.write_text(contexts_file.read_text() + json.dumps(MINIMAL) + "\n")
    with pytest.raises(FormatError, match="not written together"):
        read_dropped(contexts_file)


def test_a_manifest_of_a_newer_format_is_refused(contexts_file: Path) -> None:
    manifest = manifest_path_of(contexts_file)
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(FormatError, match="format 2"):
        read_contexts_manifest(contexts_file)


def test_videos_with_some_times_only_are_told_and_not_enclosed_by_what_comes_later() -> None:
    """The file's order stood without a word, and what begins before was said to lie within."""
    captions = (Caption(FIRST, (200.0, 300.0)), Caption(SECOND, (0.0, 5.0)), Caption(FIRST))
    assert not is_enclosed(*captions[:2])
    assert is_enclosed(captions[0], Caption(SECOND, (250.0, 300.0)))
    (line,) = time_warnings("a.jsonl", [Video("v", "a", captions)], ContextRules(drop_enclosed=True))
    assert line.startswith("a.jsonl: 1 video has times for some captions only, so their captions stay in the order")
