"""Claims about the map of folds: no model reads an ending that it has learnt, whatever fold number the row bears."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.data.context import Context
from swag_af.data.disk.manifests import write_manifest
from swag_af.data.errors import FormatError, InputError
from swag_af.data.folds import FOLDS, SEEN, FoldMap

WORDS = st.sampled_from(["a", "b", "c", "d"])
PAIRS = st.lists(st.tuples(st.sampled_from(["", "v", "w"]), st.tuples(WORDS, WORDS), st.integers(0, 2)), max_size=12)


def context_of(second: str, video: str = "", first: str = "x", fold: int = 0) -> Context:
    start, _, gold = second.partition(" ")
    return Context(f"{first}.", start, gold, "id", video, "tests", fold)


@given(
    PAIRS, st.sampled_from(["", "v", "w", "z"]), st.sampled_from(["a", "b", "c", "d", "e"]), st.sampled_from([".", ""])
)
@settings(max_examples=300)
def test_the_model_that_may_read_a_context_was_trained_on_none_of_its_texts(
    pairs: list[tuple[str, tuple[str, str], int]], video: str, second: str, mark: str
) -> None:
    fold_of_video: dict[str, int] = {}
    pairs = [(v, texts, fold_of_video.setdefault(v, fold) if v else fold) for v, texts, fold in pairs]
    context = replace(context_of(second, video), sent1=f"x{mark}")
    (fold,) = FoldMap.of(pairs).readable([context], trained=[0, 1, 2]).folds.tolist()

    def has_read(model: int) -> bool:
        """The model of a fold learns from the pairs of the others."""
        return any(f != model and ((v and v == video) or second in texts) for v, texts, f in pairs)

    assert all(map(has_read, range(3))) if fold == SEEN else not has_read(fold)


def test_sentences_are_told_by_their_words_alone() -> None:
    known = FoldMap.of([("v", ("He sits.", "She  does n't RUN ."), 2)])
    assert known.folds_of(context_of("she doesn't run")) == (2,)
    assert known.folds_of(context_of("she runs")) == ()


WRITTEN = {
    "as it was": ("He sits.", "The man", "runs down the hill."),
    "the start in the first sentence": ("He sits. The man", "", "runs down the hill."),
    "all in the ending": ("He sits.", "", "The man runs down the hill."),
    "both sentences in the ending": ("", "", "He sits. The man runs down the hill."),
    "another mark": ("He sits.", "The man", "runs down the hill!"),
    "quoted": ("He sits.", "The man", '"runs down the hill."'),
    "a comma": ("He sits.", "The man,", "runs down the hill;"),
    "a story so far": ("One day. He sits.", "The man", "runs down the hill."),
    "no mark behind the first sentence": ("he sits", "the man", "runs down the hill."),
    "a full stop of another script": ("他坐下。", "The man", "runs down the hill."),
}


@pytest.mark.parametrize("form", WRITTEN)
def test_a_sentence_is_known_wherever_fields_part_it_and_whatever_marks_it_has(form: str) -> None:
    known = FoldMap.of([("v", ("He sits.", "The man runs down the hill."), 2)])
    assert known.folds_of(Context(*WRITTEN[form])) == (2,)


def test_a_sentence_inside_a_longer_first_field_has_been_read() -> None:
    known = FoldMap.of([("v", ("A dog barks. The man runs down the hill.", "He falls."), 1)])
    assert known.folds_of(context_of("The man runs down the hill.")) == (1,)


def test_a_foreign_context_goes_where_its_first_sentence_was_not_learnt() -> None:
    known = FoldMap.of([("v", ("one", "two"), 2), ("w", ("three", "four"), 1)])
    readable = known.readable(
        [context_of("new", first="one"), context_of("new", fold=1), context_of("new", fold=7)], [0, 1, 2]
    )
    assert readable.folds.tolist() == [2, 1, 0]
    assert readable.n_foreign == 3


LM = {"options": {}, "corpus_sha256": "", "seed": 0}
"""The other fields of a manifest."""


def test_a_map_is_read_as_written(tmp_path: Path) -> None:
    made = FoldMap.of([("v", ("one", "two"), 2), ("", ("one", "three"), 0)])
    write_manifest(tmp_path, "lm", LM | {"folds_sha256": made.save(tmp_path)})
    assert FoldMap.load(tmp_path) == made


@pytest.mark.parametrize("change", ["missing", "changed"])
def test_a_map_that_is_gone_or_changed_is_refused(tmp_path: Path, change: str) -> None:
    made = FoldMap.of([("v", ("one", "two"), 2)])
    write_manifest(tmp_path, "lm", LM | {"folds_sha256": made.save(tmp_path)})
    if change == "missing":
        (tmp_path / FOLDS).unlink()
    else:
        replace(made, videos={"v": 1}).save(tmp_path)
    with pytest.raises(FormatError, match="nothing says what these models have read"):
        FoldMap.load(tmp_path)


def test_a_video_in_two_folds_is_refused() -> None:
    with pytest.raises(InputError, match="video v: in folds 2 and 0"):
        FoldMap.of([("v", ("one", "two"), 2), ("", ("one", "two"), 1), ("v", ("three", "four"), 0)])


@pytest.mark.parametrize("video", ["line-1", "row-1"])
def test_a_name_that_nobody_gave_is_no_video(video: str) -> None:
    """Lines of two files are called the same."""
    known = FoldMap.of([(video, ("a", "b"), 0), ("", ("c", "d"), 1)])
    nameless = [replace(context_of(second, video), id="7") for second in ("d", "e")]
    assert [known.folds_of(context) for context in nameless] == [(1,), ()]
    assert known.folds_of(context_of("e", "v")) == ()


def test_a_video_of_one_context_that_is_called_as_it_is_a_video() -> None:
    """It was none, so that a model could read new texts of a video that it had learnt."""
    known = FoldMap.of([("v1", ("He sits.", "She runs."), 2), ("v2", ("He eats.", "She sings."), 0)])
    mine = replace(context_of("She waves.", "v1"), id="v1")
    assert known.folds_of(mine) == known.folds_of(replace(mine, sent1="He sits.")) == (2,)
    assert known.readable([mine], [0, 1, 2]).folds.tolist() == [2]


@pytest.mark.parametrize(("first", "second"), [("He eats.", "She waves."), ("He waves.", "She sings.")])
def test_no_model_reads_a_context_that_is_called_as_a_video_whose_texts_are_of_another_fold(
    first: str, second: str
) -> None:
    """By its own id it was given to the model of fold 2, which had learnt its ending behind another beginning."""
    known = FoldMap.of([("v1", ("He sits.", "She runs."), 2), ("v2", ("He eats.", "She sings."), 0)])
    other = replace(context_of(second, "v1"), id="v1", sent1=first)
    assert known.folds_of(other) == (0, 2)
    assert known.readable([other], [0, 1, 2]).folds.tolist() == [SEEN]
