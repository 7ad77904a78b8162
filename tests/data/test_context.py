"""A context beside its media: references are kept, and change nothing where there are none."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from conftest import make_contexts_of

from swag_af.data.captions.context_set import read_contexts, write_contexts
from swag_af.data.context import Context, display, readable
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool

MEDIA = {"image": "kitchen.jpg", "objects": ["person", "cup"]}


def pool_of(contexts: list[Context]) -> CandidatePool:
    return CandidatePool.from_texts(contexts, [["sees a bird.", "sees a tree."]] * len(contexts), tagger="none")


def test_a_context_without_media_is_recorded_as_before_there_were_any() -> None:
    (context,) = make_contexts_of(1, n_videos=1)
    assert context.record() == {name: value for name, value in asdict(context).items() if name != "media"}


def test_media_make_another_pool_and_come_back_from_its_folder(tmp_path: Path) -> None:
    contexts = make_contexts_of(3, n_videos=3)
    shown = [replace(context, media=MEDIA) for context in contexts]
    plain, with_media = pool_of(contexts), pool_of(shown)
    assert plain.identity == pool_of([replace(context, media={}) for context in contexts]).identity
    assert plain.identity != with_media.identity
    assert with_media.save(tmp_path / "pool").contexts == shown


def test_media_are_read_from_a_file_of_contexts(tmp_path: Path) -> None:
    shown = [replace(context, media=MEDIA) for context in make_contexts_of(4, n_videos=2)]
    write_contexts(tmp_path / "contexts.jsonl", shown, [], {})
    assert read_contexts(tmp_path / "contexts.jsonl") == shown
    lines = [json.loads(line) for line in (tmp_path / "contexts.jsonl").read_text().splitlines()]
    assert lines[0]["media"] == MEDIA


def test_media_that_are_no_table_are_refused_with_their_line(tmp_path: Path) -> None:
    record = make_contexts_of(1, n_videos=1)[0].record() | {"media": "kitchen.jpg"}
    (tmp_path / "contexts.jsonl").write_text(json.dumps(record) + "\n")
    with pytest.raises(InputError, match="line 1 has media that are no object"):
        read_contexts(tmp_path / "contexts.jsonl")


def test_contexts_can_still_be_in_a_set() -> None:
    contexts = make_contexts_of(2, n_videos=2)
    assert len({*contexts, replace(contexts[0]), replace(contexts[1], media=MEDIA)}) == 3


def test_a_context_is_shown_with_capitals_and_without_blanks_before_marks() -> None:
    assert display(Context("a man , tired , sits .", "the dog", "barks .")) == ("A man, tired, sits.", "The dog")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a man ca n't go .", "a man can't go."),
        ("he ca n’t go.", "he can’t go."),
        ("says `` no '' .", 'says "no".'),
        ("what is it ?", "what is it?"),
        ("oui , dit-il .", "oui, dit-il."),
    ],
)
def test_what_is_tokenised_throughout_is_shown_as_people_write(text: str, shown: str) -> None:
    assert readable(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "takes 2 . 5 mg",
        "print ( x0 )",
        "un  deux 0 , trois",
        "Où est « la gare » ?",
        "Où est-elle\u00a0?",
        'draws a " jump "-like thing.',
        "sits, and ( as before ) sings.",
    ],
)
def test_what_is_written_with_blanks_keeps_them(text: str) -> None:
    """Texts of people's own lost them in a release, and nothing said so."""
    assert readable(text) == text


@pytest.mark.parametrize("start", ["iPhones", "x19", "np.dot", "a_b", "ßtraße", "eBay sellers", "The lady", "McDonald"])
def test_a_name_with_a_capital_inside_is_released_as_it_is(start: str) -> None:
    assert display(Context("a man sits.", start, "x.")) == ("A man sits.", start)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    return a*b",
        "https://a.b/c?d=1&e=2 opens .",
        "me@x.org writes.",
        "$x^2 + y$ = 3.",
        "<b>bold</b>",
    ],
)
def test_what_is_no_sentence_is_shown_as_it_is_written(text: str) -> None:
    assert display(Context(text, text, "x.")) == (text, text)
