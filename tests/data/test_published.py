"""Claims about the readers of published sets, about mending text, and about telling a file's kind."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import shared

from swag_af.data.captions.columns import seconds
from swag_af.data.captions.language import foreign_videos
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.readers import format_of, read_videos
from swag_af.data.captions.repair import is_broken, mend, mend_videos
from swag_af.data.captions.verb import contexts
from swag_af.data.errors import InputError
from swag_af.data.text.sentences import sentences_of
from swag_af.data.video import Caption, Video


def clip(movie: str, begin: str, end: str, sentence: str) -> str:
    return "\t".join([f"{movie}_{begin}-{end}", begin, end, begin, end, sentence])


LSMDC = "\n".join(
    [
        clip("0001_A_Film", "00.01.00.500", "00.01.02.000", 'SOMEONE opens the "old" door.'),
        clip("0001_A_Film", "00.00.51.926", "00.00.54.129", " SOMEONE  waits. "),
        clip("0002_Another", "01.00.00.000", "01.00.01.000", 'He says "go.'),
        "",
    ]
)


def test_lsmdc_has_movies_as_videos_in_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "LSMDC16_annos_training.csv"
    path.write_text(LSMDC)
    assert format_of(path) == "lsmdc"
    assert read_videos(path) == [
        Video(
            "0001_A_Film",
            "lsmdc",
            (
                Caption("SOMEONE waits.", (51.926, 54.129)),
                Caption('SOMEONE opens the "old" door.', (60.5, 62.0)),
            ),
        ),
        Video("0002_Another", "lsmdc", (Caption('He says "go.', (3600.0, 3601.0)),)),
    ]


@pytest.mark.parametrize(
    "line", ["0001_A_Film\t1\t2\t3\t4\tHe.", clip("0001_A", "00.00.01.000", "00.00.02.000", "")[:-1]]
)
def test_a_line_that_is_no_annotation_of_lsmdc_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(LSMDC + line + "\n")
    with pytest.raises(InputError, match="line 4 is no annotation"):
        read_videos(path)


YOUCOOK2 = {
    "database": {
        "v1": {
            "subset": "training",
            "annotations": [
                {"segment": [9, 12], "id": 0, "sentence": "stir the soup"},
                {"segment": [1, 5], "id": 1, "sentence": "cut  the onions "},
            ],
        },
        "v2": {"subset": "testing"},
    }
}


@pytest.mark.parametrize("indent", [None, 2])
def test_youcook2_has_steps_in_order_of_time(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "youcookii.json"
    path.write_text(json.dumps(YOUCOOK2, indent=indent))
    assert format_of(path) == "youcook2"
    steps = (Caption("cut the onions", (1.0, 5.0)), Caption("stir the soup", (9.0, 12.0)))
    assert read_videos(path) == [Video("v1", "youcook2", steps), Video("v2", "youcook2", ())]


@pytest.mark.parametrize(
    "step", [{"sentence": "stir"}, {"segment": [0, 1]}, {"sentence": "stir", "segment": [0]}, "stir"]
)
def test_a_broken_entry_of_youcook2_is_named(tmp_path: Path, step: object) -> None:
    path = tmp_path / "youcookii.json"
    path.write_text(json.dumps({"database": {"v7": {"annotations": [step]}}}))
    with pytest.raises(InputError, match="'v7'"):
        read_videos(path)


def test_a_video_that_stands_twice_in_a_file_is_refused(tmp_path: Path) -> None:
    """The later one took the place of the earlier, unsaid."""
    path = tmp_path / "train.json"
    entry = '{"duration": 2, "timestamps": [[0, 1], [1, 2]], "sentences": ["A a.", "B b."]}'
    path.write_text(f'{{"v1": {entry}, "v2": {entry}, "v1": {entry}}}')
    with pytest.raises(InputError, match="'v1' stands twice in one object"):
        read_videos(path)


def test_charades_has_a_video_of_untimed_sentences_a_row(tmp_path: Path) -> None:
    path = tmp_path / "Charades_v1_train.csv"
    path.write_text(
        "id,subject,script,descriptions,length\n"
        'A1,S,"A person sits, reading. They stand up.",They read. They stand.,30\n'
        'A2,S,"A person runs.",,12\n'
    )
    assert format_of(path) == "charades"
    sentences = (Caption("A person sits, reading."), Caption("They stand up."))
    assert read_videos(path) == [
        Video("A1", "charades", sentences),
        Video("A2", "charades", (Caption("A person runs."),)),
    ]


def test_a_script_of_charades_needs_its_video(tmp_path: Path) -> None:
    path = tmp_path / "Charades_v1_train.csv"
    path.write_text("id,subject,script,descriptions,length\nA1,S,A person runs.,,12\n,S,A person sits.,,12\n")
    with pytest.raises(InputError, match="line 3 has no 'id'"):
        read_videos(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He says "stop!" and runs away.', ['He says "stop!" and runs away.']),
        ("He shouts (loudly!) and leaves.", ["He shouts (loudly!) and leaves."]),
        ('He says "stop!" She runs away.', ['He says "stop!"', "She runs away."]),
        ("He sits down. the woman leaves.", ["He sits down.", "the woman leaves."]),
    ],
)
def test_a_sentence_goes_on_behind_what_is_said_in_it(text: str, expected: list[str]) -> None:
    assert sentences_of(text) == expected


@pytest.mark.parametrize(
    "sentences",
    [
        ["One.", "Two!", "three?"],
        ["He watches T.V. in bed.", "Mr. Smith, i.e. he, snores at 3.5 dB."],
        ['He says "stop."', "She stops ..."],
        [
            "No stop at the end",
        ][:1],
    ],
)
def test_sentences_of_a_text_are_found(sentences: list[str]) -> None:
    assert sentences_of("  ".join(sentences)) == sentences


def test_a_sentence_may_begin_without_a_blank() -> None:
    assert sentences_of("He sits down.Then he eats 3.5 eggs.") == ["He sits down.", "Then he eats 3.5 eggs."]


@given(st.text(st.sampled_from("aB.?! \"'3\n"), max_size=30))
@settings(max_examples=100)
def test_sentences_lose_nothing_but_blanks(text: str) -> None:
    sentences = sentences_of(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentences)


@pytest.mark.parametrize(
    ("value", "expected"), [("93.5", 93.5), (7, 7.0), ("1:33,5", 93.5), ("01:01:33", 3693.0), ("01.01.33.250", 3693.25)]
)
def test_times_are_numbers_or_clocks(value: object, expected: float) -> None:
    assert seconds(value) == expected


@pytest.mark.parametrize("value", ["soon", "nan", "inf", "", "1.2.3", None])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        seconds(value)


MENDED = [
    ("The man &amp; the dog&#39;s toy.", "The man & the dog's toy."),
    ("I don&amp;#39;t &amp;amp;lt; run.", "I don't < run."),
    ("A \u200bcaf\u00ad\u00e9.\ufeff", "A café."),
    ("A \U0001f468\u200d\U0001f469 and \U0001f3c3\u200d\u2640\ufe0f.",) * 2,
    ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.",) * 2,
    ("A\u200d caf\u200c\u00e9 \U0001f3c3\u200d.", "A caf\u00e9 \U0001f3c3."),
    ("The cafÃ© is open.", "The café is open."),
    ("Itâ€™s a dog.", "It’s a dog."),
    ("A&B; AT&T &nosuch; stay.", "A&B; AT&T &nosuch; stay."),
    ("El Niño, naïve “quotes” – fine.", "El Niño, naïve “quotes” – fine."),
]


@pytest.mark.parametrize(("text", "expected"), MENDED)
def test_text_is_mended_where_that_is_sure(text: str, expected: str) -> None:
    assert mend(text) == expected
    assert not is_broken(expected)


@pytest.mark.parametrize("text", ["A caf\ufffd is open.", "\ufffd\ufffd walks down the hill."])
def test_letters_that_are_lost_are_broken(text: str) -> None:
    assert is_broken(mend(text))


@given(st.text(st.sampled_from("ab &;#3amp\u200b\u00e9Ã©â€™"), max_size=25))
@settings(max_examples=100)
def test_plain_text_stays_and_mended_text_has_nothing_invisible(text: str) -> None:
    assert "\u200b" not in mend(text)
    plain = "".join(letter for letter in text if letter in "ab 3").strip()
    assert mend(plain) == " ".join(plain.split())


def test_mended_captions_are_counted_and_those_with_trees_left_alone() -> None:
    video = Video("v", "s", (Caption("A &amp; b."), Caption("C d."), Caption("E &amp; f.", tree="(S (X E))")))
    (mended,), n = mend_videos([video])
    assert [caption.text for caption in mended.captions] == ["A & b.", "C d.", "E &amp; f."]
    assert n == 1


FOREIGN = [
    ("Un hombre camina por la calle con su perro.", "Luego se sienta en un banco y mira el río."),
    ("Ein Mann steht auf einem Feld und wirft einen Ball.", "Dann fängt der Hund den Ball."),
    ("Une femme est assise devant un piano.", "Elle commence à jouer une chanson."),
    ("Мужчина идёт по улице.", "Потом он садится на скамейку."),
    ("一个男人在街上走路。", "然后他坐在长椅上。"),
]
ENGLISH = [("He runs.", "She runs."), ("SOMEONE stares.", "SOMEONE grins."), ("", ""), ("Stir.", "Add salt.")]


@pytest.mark.parametrize("captions", FOREIGN)
def test_another_language_is_told_by_two_captions(captions: tuple[str, str]) -> None:
    assert foreign_videos([Video("v", "s", tuple(map(Caption, captions)))]) == [True]


@pytest.mark.parametrize("captions", ENGLISH)
def test_short_english_is_never_another_language(captions: tuple[str, str]) -> None:
    assert foreign_videos([Video("v", "s", tuple(map(Caption, captions)))]) == [False]


def test_a_context_set_is_made_of_several_kinds_at_once(tmp_path: Path) -> None:
    rows = [
        ("v", "The man &amp; the dog sit on the hill.", 0, 9),
        ("v", "The man walks down to the blue river.", 40, 50),
        ("v", "The man walks down to the blue river.", 51, 60),
    ]
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("video", "sentence", "start_time", "end_time"), *rows])
    (tmp_path / "lsmdc.csv").write_text(
        clip("1_A", "00.00.01.000", "00.00.02.000", "SOMEONE sits on the hill.")
        + "\n"
        + clip("1_A", "00.00.28.000", "00.00.30.000", "The man walks down to the blue lake.")
        + "\n"
    )
    rules = ContextRules(min_token_count=1)
    out = tmp_path / "c.jsonl"
    table = contexts(
        ContextsOptions((tmp_path / "mine.csv", tmp_path / "lsmdc.csv"), out, splitter="rules", rules=rules)
    )
    assert {name: n for name, n in table.items() if n} == {"pairs": 3, "kept": 1, "repeated": 1, "gap": 1}
    manifest = json.loads(out.with_suffix(".manifest.json").read_text())
    assert [source["format"] for source in manifest["made_by"]["sources"]] == ["csv", "lsmdc"]
    assert "1 mended" in manifest["made_by"]["sources"][0]["read"]


def test_an_output_that_is_a_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    source = tmp_path / "mine.csv"
    source.write_text("no captions")
    with pytest.raises(InputError, match="this is a folder"):
        contexts(ContextsOptions((source,), tmp_path, format="csv", force=True))


COUNTS = {
    "activitynet_captions/train.json": ("activitynet", 10_009, 37_421),
    "youcook2/yc2_annotations_trainval.json": ("youcook2", 1_790, 13_829),
    "charades/Charades_v1_train.csv": ("charades", 7_985, 13_031),
}


@pytest.mark.real
@pytest.mark.parametrize("name", COUNTS)
def test_the_published_files_have_the_counts_that_the_documents_say(name: str) -> None:
    path = shared(name)
    format, n_videos, n_captions = COUNTS[name]
    assert format_of(path) == format
    videos = read_videos(path)
    assert (len(videos), sum(len(video.captions) for video in videos)) == (n_videos, n_captions)
