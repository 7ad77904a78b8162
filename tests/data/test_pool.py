"""Claims about the pool: texts come back, tables read back, damage is one line."""

import shutil
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter, make_contexts_of, make_pool
from hypothesis import given, settings
from hypothesis import strategies as st

from swag_af.af.options import FilterOptions
from swag_af.cli.options import ShowOptions
from swag_af.cli.runs.filtering import run_filter
from swag_af.cli.showing.show import show
from swag_af.data.context import Context
from swag_af.data.disk.files import Lines, read_json, read_lines, write_array, write_json
from swag_af.data.disk.manifests import write_manifest
from swag_af.data.errors import ContractError, FormatError, InputError
from swag_af.data.pool import rows as tables
from swag_af.data.pool.folder import FEATURES, finish_pool, write_shard
from swag_af.data.pool.guard import comparable
from swag_af.data.pool.listing import Contexts
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.sharing import SharedTextWarning
from swag_af.data.pooling.verb import as_given
from swag_af.data.tags import load_tagger
from swag_af.data.text.normalise import normalise
from swag_af.data.text.scripts import characters_apart
from swag_af.data.tokens import tokenize
from swag_af.filters.checking import check_filter
from swag_af.filters.members import MLPFilter

CONTEXTS = [
    Context("A man  waits.", "He", "rides   the Bus.", video="v"),
    Context("Zoë waits.", "", "läuft «heim» 中文 🚲!"),
]
NEGATIVES = [
    ["Sings.", "  sings. ", "rides the bus.", "eats a\tPie", ""],
    ["geht.", "GEHT.", "e\u0301té’s over", "sits \u2028 down."],
]
KEPT = [
    ["rides   the Bus.", "Sings.", "eats a\tPie"],
    ["läuft «heim» 中文 🚲!", "geht.", "e\u0301té’s over", "sits \u2028 down."],
]


def features(*n_candidates: int) -> list[np.ndarray]:
    return [np.arange(8 * n, dtype=np.float32).reshape(n, 8) + 1 for n in n_candidates]


def small(**settings: object) -> CandidatePool:
    return CandidatePool.from_texts(CONTEXTS, NEGATIVES, tagger="rules", **settings)


def texts_of(pool: CandidatePool) -> list[list[str]]:
    return [[pool.text(row, k) for k in range(count)] for row, count in enumerate(pool.counts)]


def test_the_fakes_keep_the_contract() -> None:
    check_filter(HashFilter)


def test_texts_come_back_exactly_as_given() -> None:
    assert texts_of(small()) == KEPT


def test_texts_come_back_exactly_as_given_from_disk(tmp_path: Path) -> None:
    assert texts_of(small().save(tmp_path / "pool")) == KEPT


def test_contexts_come_back_exactly_as_given_from_disk(tmp_path: Path) -> None:
    pool = small()
    assert pool.save(tmp_path / "pool").contexts == pool.contexts


def test_negatives_equal_to_gold_or_to_each_other_are_dropped_and_counted() -> None:
    pool = small()
    assert pool.manifest["dropped_negatives"] == {"blank": 1, "equal_to_gold": 1, "repeated": 2, "flagged": 0}
    assert pool.counts.tolist() == [3, 4]
    assert pool.n_candidates == 4


SAME_WORDS = [
    ("eats a pie.", "Eats  a pie ."),
    ("does n't eat.", "doesn't eat."),
    ("can not eat.", "cannot eat"),
    ("ｅａｔｓ a pie.", "eats a pie."),
    ("isst Stra\u00dfe.", "ISST STRASSE."),
    ("e\u0301te\u0301.", "\u00e9t\u00e9."),
    ("doesn\u2019t \u201cwait\u201d.", 'doesn\'t "wait".'),
    ("says ``no''.", 'says "no".'),
    ("ea\u00adts\u200b.", "eats."),
    ("1  1/2 cups", "1\u00a01/2cups"),
    ("( 3 ) 4 %", "(3)4%"),
]


@pytest.mark.parametrize(("one", "other"), SAME_WORDS)
def test_texts_of_the_same_words_are_compared_as_equal(one: str, other: str) -> None:
    assert comparable(one) == comparable(other) != ""


OTHER_WORDS = [
    ("eats.", "eats!"),
    ("eats a pie.", "eats pies."),
    ("3.5", "35"),
    ("1 1/2", "11/2"),
    ("10 000", "10000"),
    ("é", "e"),
    ("-", "."),
    ("?", "."),
]


@pytest.mark.parametrize(("one", "other"), OTHER_WORDS)
def test_texts_of_other_words_are_not(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)


@pytest.mark.parametrize("text", ["", " \t\u2028", "\u200b\ufeff"])
def test_a_text_without_a_visible_character_has_nothing_to_compare(text: str) -> None:
    assert comparable(text) == ""


def test_where_all_are_flagged_the_row_says_so() -> None:
    with pytest.raises(InputError, match=r"row 0 has no negatives that the flag function leaves \(it flags"):
        small(flag=lambda context, negative: True)


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (30, 0), (0, -1), (0, 19)])
def test_a_candidate_that_is_not_there_has_no_text(pool: CandidatePool, row: int, column: int) -> None:
    """The texts of other candidates were its own."""
    with pytest.raises(InputError, match=f"row {row}"):
        pool.text(row, column)


def test_negatives_that_the_users_function_flags_are_left_out_and_counted() -> None:
    asked = []

    def flag(context: Context, negative: str) -> bool:
        asked.append((context.id, negative))
        return "pie" in negative.lower()

    pool = small(flag=flag)
    assert texts_of(pool)[0] == ["rides   the Bus.", "Sings."]
    assert pool.manifest["dropped_negatives"]["flagged"] == 1
    assert asked[:2] == [("row-0", "Sings."), ("row-0", "eats a\tPie")]
    assert len(asked) == len(set(asked)) == 5


def test_an_exception_in_the_users_function_is_one_line_that_names_the_row() -> None:
    with pytest.raises(
        ContractError, match=r"row-0: for the negative 'Sings\.' the flag function flag raised ZeroDivisionError \(div"
    ) as told:

        def flag(context: Context, negative: str) -> bool:
            return bool(1 / 0)

        small(flag=flag)
    assert isinstance(told.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("error", [InputError("words.txt: not there."), OSError(28, "No space left")])
def test_what_the_users_function_says_in_a_line_and_what_the_system_reports_stay(error: Exception) -> None:
    """They were told as mistakes of the function."""

    def flag(context: Context, negative: str) -> bool:
        raise error

    with pytest.raises(type(error)) as told:
        small(flag=flag)
    assert told.value is error


def test_features_go_with_the_candidates_that_stay() -> None:
    values = features(6, 5)
    pool = small(features=values)
    got = pool.gather("features", np.arange(2))
    np.testing.assert_array_equal(got[0], [*values[0][[0, 1, 4]], np.zeros(8)])
    np.testing.assert_array_equal(got[1], values[1][[0, 1, 3, 4]])


class Column(list):
    """A column of a table that was sorted: `[i]` is the row that the label `i` has, not the i-th."""

    def __init__(self, values: list, labels: list[int]):
        super().__init__(values)
        self.labels = labels

    def __getitem__(self, label):
        return list(self)[self.labels.index(label)]


def test_columns_of_a_sorted_table_go_by_place() -> None:
    labels, values = [1, 0], features(6, 5)
    pool = CandidatePool.from_texts(
        Column(CONTEXTS, labels), Column(NEGATIVES, labels), features=Column(values, labels), tagger="rules"
    )
    rows = np.arange(2)
    np.testing.assert_array_equal(pool.gather("features", rows), small(features=values).gather("features", rows))


def test_an_id_that_is_no_text_is_refused_and_none_is_none() -> None:
    numbers: list[Any] = [0, 7]
    for number in numbers:
        with pytest.raises(InputError, match=f"row 0 has no text under id, but {number}"):
            CandidatePool.from_texts([replace(CONTEXTS[0], id=number)], NEGATIVES[:1])
    nothing: Any = None
    nameless = [replace(one, id=nothing) for one in CONTEXTS]
    assert [context.id for context in CandidatePool.from_texts(nameless, NEGATIVES).contexts] == ["row-0", "row-1"]


def test_questions_of_few_passages_are_told() -> None:
    rng, contexts, negatives = np.random.default_rng(0), [], []
    for p in range(5):
        words = [f"t{p}w{j}" for j in range(40)]
        for k in range(30):
            contexts.append(Context(f"{' '.join(words)}.", f"Question {k}:", f"{' '.join(rng.choice(words, 6))}."))
            negatives.append([f"{' '.join(rng.choice(words, 6))}." for _ in range(3)])
    with pytest.warns(SharedTextWarning, match="150 of 150 rows share a sentence, .*name it: .*video="):
        CandidatePool.from_texts(contexts, negatives, tagger="none")
    named = [replace(one, video=one.sent1[:5]) for one in contexts]
    told = [replace(one, sent1="Choose the best answer.") for one in contexts]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SharedTextWarning)
        CandidatePool.from_texts(told, negatives, tagger="none")
        assert len(np.unique(CandidatePool.from_texts(named, negatives, tagger="none").groups)) == 5


def test_rows_that_are_not_there_are_told() -> None:
    pool = small()
    for row in (-1, 2):
        with pytest.raises(InputError, match=f"row {row}: the pool has 2"):
            pool.texts_of_row(row)


def test_contexts_without_ids_are_named_by_their_row() -> None:
    assert [(context.id, context.video) for context in small().contexts] == [("row-0", "v"), ("row-1", "row-1")]


BAD_TEXTS = {
    "no rows": ([], [], "at least one"),
    "more contexts than lists": (CONTEXTS, [["a"]], "2 contexts and 1 lists"),
    "no negative left": (CONTEXTS, [["Rides the bus."], ["a"]], "row 0 has no negatives that differ"),
    "several faults": (CONTEXTS, [[" "], []], r"2 rows cannot be used \(first: row 0 .*; row 1 has no negatives"),
    "half a character": (CONTEXTS, [["a"], ["b", "\ud83d"]], "row 1 has half a surrogate pair under negative 1"),
    "no text": (CONTEXTS, [["a"], [None]], "row 1 has no text under negative 0"),
    "a text for a list": (CONTEXTS, [["a"], "burns it."], r"row 1 has 'burns it.' for negatives, where a list"),
    "nothing for a list": (CONTEXTS, [["a"], None], "row 1 has None for negatives"),
    "one text for all": (CONTEXTS, "burns it.", "negatives: a str, where a list is due"),
    "records": ([{"gold": "a"}, {}], [["a"], ["b"]], "row 0: a dict, where a swag_af.Context"),
    "one id twice": ([Context("A.", "He", "x", id="a")] * 2, [["a"], ["b"]], "1 id is of several rows .first: 'a'."),
    "no word for a video": ([Context("A.", "He", "x", video=3)], [["a"]], "row 0 has no text under video, but 3"),
    "a fold below all": ([Context("A.", "He", "x", fold=-7)], [["a"]], "row 0 has -7 as fold"),
    "a fold above all": ([Context("A.", "He", "x", fold=10**9)], [["a"]], "row 0 has 1000000000 as fold"),
    "media of bytes": ([Context("A.", "He", "x", media={"b": b"x"})], [["a"]], "row 0 has media under 'b' that JSON"),
    "media of NaN": ([Context("A.", "He", "x", media={"t": [float("nan")]})], [["a"]], "row 0 has media under 't'"),
    "media of a text": ([Context("A.", "He", "x", media="a.jpg")], [["a"]], "row 0 has 'a.jpg' as media"),
    "no number of a fold": ([Context("A.", "He", "x", fold="train")], [["a"]], "row 0 has 'train' as fold"),
    "blank gold": ([Context("A.", "He", " ")], [["runs.", "sits."]], "gold"),
}


@pytest.mark.parametrize(("contexts", "negatives", "said"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_texts_that_make_no_pool_are_refused(contexts: list, negatives: list, said: str) -> None:
    with pytest.raises(InputError, match=said):
        CandidatePool.from_texts(contexts, negatives, tagger="rules")


BAD_FEATURES = {
    "not a number": ([features(6)[0], np.full((5, 8), np.nan)], "row 1"),
    "infinite": ([np.full((6, 8), np.inf), features(5)[0]], "row 0"),
    "a row too few": (features(6), "1 arrays"),
    "a candidate too few": (features(6, 4), "row 1"),
    "a candidate too many": (features(6, 6), "row 1"),
    "complex": ([features(6)[0] * 1j, features(5)[0]], "row 0 has features that are no table of numbers"),
    "a table by name": ({"row-0": features(6)[0], "row-1": features(5)[0]}, "features: a dict, where a list is due"),
    "another width": ([features(6)[0], np.ones((5, 7))], "row 1 has 7 features a candidate, and the rows before it"),
}


@pytest.mark.parametrize(("values", "said"), BAD_FEATURES.values(), ids=BAD_FEATURES.keys())
def test_features_that_do_not_fit_are_refused(values: list[np.ndarray], said: str) -> None:
    with pytest.raises(InputError, match=said):
        small(features=values)


# ---------------------------------------------------------------------------------------------------- feature names


def test_features_of_ones_own_are_numbered_and_keep_their_numbers_on_disk(tmp_path: Path) -> None:
    pool = small(features=[values[:, :3] for values in features(6, 5)])
    assert pool.feature_names == pool.save(tmp_path / "pool").feature_names == ("feature_1", "feature_2", "feature_3")


def test_features_of_ones_own_keep_their_names_on_disk(tmp_path: Path) -> None:
    pool = small(features=[values[:, :2] for values in features(6, 5)], feature_names=["bleu", "overlap"])
    assert pool.save(tmp_path / "pool").feature_names == ("bleu", "overlap")
    assert read_json(tmp_path / "pool" / "manifest.json")["feature_names"] == ["bleu", "overlap"]


BAD_NAMES = {
    "too few": (features(6, 5), ["bleu"], "row 0 has 8 features a candidate, and 1 feature names"),
    "twice": ([values[:, :2] for values in features(6, 5)], ["bleu", "bleu"], "has a name twice"),
    "of nothing": (None, ["bleu"], "without features"),
}


@pytest.mark.parametrize(("values", "names", "reason"), BAD_NAMES.values(), ids=BAD_NAMES.keys())
def test_names_that_do_not_fit_the_features_are_refused(
    values: list[np.ndarray] | None, names: list[str], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        small(features=values, feature_names=names)


def test_a_pool_without_features_names_none(tmp_path: Path) -> None:
    assert small().save(tmp_path / "pool").feature_names == ()
    assert "feature_names" not in read_json(tmp_path / "pool" / "manifest.json")


def test_a_table_by_language_models_has_their_names(tmp_path: Path) -> None:
    pool = small().save(tmp_path / "pool")
    before = pool.identity
    write_array(tmp_path / "pool" / "shards" / "00000" / "features.npy", np.zeros((2, 4, 8), np.float32))
    made = pool.with_table("features", {"features_by": {}})
    assert made.feature_names == tuple(made.manifest["feature_names"]) == FEATURES
    again = made.with_tables(pool.tables, {})
    assert "feature_names" not in again.manifest
    assert again.identity == before


@pytest.mark.parametrize("made_by", [{"plan": {}}, {"dropped_negatives": {}, "features_by": {}}, {}])
def test_pools_made_before_names_were_recorded_have_those_of_the_language_models(tmp_path: Path, made_by: dict) -> None:
    assert without_names(tmp_path / "pool", 8, made_by).feature_names == FEATURES


@pytest.mark.parametrize(("n", "made_by"), [(8, {"dropped_negatives": {}}), (5, {})])
def test_those_whose_owner_gave_the_features_have_numbers(tmp_path: Path, n: int, made_by: dict) -> None:
    assert without_names(tmp_path / "pool", n, made_by).feature_names == tuple(f"feature_{i + 1}" for i in range(n))


def without_names(folder: Path, n: int, made_by: dict) -> CandidatePool:
    """A pool with `n` features and a manifest that names none, as earlier releases wrote it."""
    small(features=[np.resize(values, (len(values), n)) for values in features(6, 5)]).save(folder)
    manifest = read_json(folder / "manifest.json")
    for name in ("feature_names", "dropped_negatives"):
        del manifest[name]
    write_json(folder / "manifest.json", manifest | made_by)
    return CandidatePool.open(folder)


def test_names_are_no_part_of_the_identity(tmp_path: Path) -> None:
    made = [small(features=features(6, 5), feature_names=names) for names in (None, list("abcdefgh"))]
    assert made[0].identity == made[1].identity == made[1].save(tmp_path / "pool").identity


def test_features_left_for_later_go_into_the_columns_of_their_names(tmp_path: Path) -> None:
    small(features=[np.zeros((n, 3)) for n in (6, 5)], feature_names=["first", "late", "last"]).save(tmp_path / "pool")
    table = tmp_path / "pool" / "shards" / "00000" / "features.npy"
    values = np.load(table)
    values[:, :, 1] = np.nan
    np.save(table, values)
    manifest = read_json(tmp_path / "pool" / "manifest.json")
    write_json(tmp_path / "pool" / "manifest.json", manifest | {"lazy_features": ["late"]})
    pool = CandidatePool.open(tmp_path / "pool")
    pool.filler = lambda pool, rows, columns: (10.0 * rows + columns)[:, None]
    assert pool.gather("features", np.array([1]), np.array([[2]])).tolist() == [[[0.0, 12.0, 0.0]]]


def test_the_mlp_reads_features_of_any_number_and_names() -> None:
    rng = np.random.default_rng(0)
    contexts = make_contexts_of(24, n_videos=6)
    values = [rng.normal(size=(5, 3)) + 4 * (np.arange(5) == 0)[:, None] for _ in contexts]  # gold is higher
    pool = CandidatePool.from_texts(
        contexts, [["a.", "b.", "c.", "d."]] * 24, features=values, feature_names=["x", "y", "z"], tagger="none"
    )
    view = pool.view(np.arange(24), np.tile(np.arange(5), (24, 1)))
    mlp = MLPFilter(width=16, max_epochs=30)
    mlp.fit(view, rng=rng)
    assert (mlp.score(view).argmax(axis=1) == 0).mean() > 0.8


def test_rows_to_save_are_rising_numbers_or_a_mask(pool: CandidatePool, tmp_path: Path) -> None:
    """A mask was taken for the rows 0 and 1."""
    mask = np.zeros(len(pool), bool)
    mask[[1, 3]] = True
    for i, rows in enumerate((mask, np.array([1, 3]), [1, 3])):
        kept = pool.save(tmp_path / f"{i}", rows=rows)
        assert [context.id for context in kept.contexts] == [pool.contexts[row].id for row in (1, 3)]
    for wrong in ([3, 1], [1, 1], [], [-1], [len(pool)], [0.5], mask[1:], [[1]]):
        with pytest.raises(InputError, match=r"^rows: "):
            pool.save(tmp_path / "wrong", rows=np.array(wrong))
    assert not (tmp_path / "wrong").exists()


def test_candidates_that_are_not_there_have_no_text() -> None:
    """Another row's text was given."""
    contexts = make_contexts_of(2, n_videos=2)
    pool = CandidatePool.from_texts(contexts, [["a b.", "c d.", "e f."], ["g h."]])
    assert pool.view(np.array([1, 0]), np.array([[0, 1, 2, 3], [0, 1, 2, 3]])).texts == [
        [contexts[1].gold, "g h.", "", ""],
        [contexts[0].gold, "a b.", "c d.", "e f."],
    ]
    assert pool.texts_of(np.array([0]), np.array([[9]])) == [[""]]
    for rows, columns in (([0], [[-1]]), ([2], [[0]]), ([-1], [[0]])):
        with pytest.raises(InputError, match="not there"):
            pool.texts_of(np.array(rows), np.array(columns))


def test_what_a_pool_hands_out_and_keeps_cannot_be_written_into(pool: CandidatePool) -> None:
    for array in (pool.counts, pool.groups, pool.n_eligible):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_groups_are_kept_as_they_were_given() -> None:
    groups = np.array([0, 0, 1, 1])
    pool = CandidatePool.from_grouped_texts(make_contexts_of(4, n_videos=4), [["a b.", "c d."]] * 4, groups)
    groups[:] = 0
    assert pool.groups.tolist() == [0, 0, 1, 1]


def test_a_saved_pool_opens_with_equal_tables_vocabulary_and_manifest(pool: CandidatePool, pool_folder: Path) -> None:
    opened = CandidatePool.open(pool_folder)
    rows = np.arange(len(pool))
    assert opened.tables == pool.tables
    for table in ("tokens", "lengths", "starts", "start_lengths", "counts", "features"):
        np.testing.assert_array_equal(opened.gather(table, rows), pool.gather(table, rows))
        assert opened.gather(table, rows).dtype == pool.gather(table, rows).dtype
    assert opened.vocabulary.tokens == pool.vocabulary.tokens
    np.testing.assert_array_equal(opened.vocabulary.tags, pool.vocabulary.tags)
    assert texts_of(opened) == texts_of(pool)
    assert opened.manifest["dropped_negatives"] == pool.manifest["dropped_negatives"]


@pytest.mark.parametrize(("lms", "known_as"), [("../lms", "../../lms"), ("s3://bucket/lms", "s3://bucket/lms")])
def test_a_copy_finds_the_models_of_a_pool(tmp_path: Path, lms: str, known_as: str) -> None:
    """The way to them from the copy; an address stays as it is, and was taken for a folder called `s3:`."""
    made = small().save(tmp_path / "pool", changes={"lms_path": lms})
    assert made.save(tmp_path / "sub" / "copy").manifest["lms_path"] == known_as


def test_opening_reads_no_table(pool_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a table was read")

    monkeypatch.setattr(np, "load", refuse)
    assert len(CandidatePool.open(pool_folder)) == 30


def test_a_standing_folder_is_not_overwritten(tmp_path: Path) -> None:
    write_json(tmp_path / "mine" / "thesis.json", {})
    for force in (False, True):
        with pytest.raises((InputError, FormatError)):
            small().save(tmp_path / "mine", force=force)
    assert (tmp_path / "mine" / "thesis.json").exists()


def sharded(pool: CandidatePool, folder: Path, *sizes: int) -> CandidatePool:
    """`pool` written again in shards of these sizes."""
    entries, begin = [], 0
    for number, size in enumerate(sizes):
        rows = np.arange(begin, begin + size)
        tables = {
            name: pool.gather(name, rows)
            for name in ("tokens", "lengths", "starts", "start_lengths", "counts", "features")
        }
        entries.append(write_shard(folder, number, pool.contexts[begin : begin + size], tables))
        begin += size
    finish_pool(folder, pool.vocabulary, entries, {})
    return CandidatePool.open(folder)


@pytest.fixture(scope="module")
def in_shards(pool: CandidatePool, tmp_path_factory: pytest.TempPathFactory) -> CandidatePool:
    return sharded(pool, tmp_path_factory.mktemp("shards") / "pool", 7, 0, 1, 22)


@pytest.mark.parametrize("rows", [[29, 0, 7, 8, 3, 7], [7], [2, 1], []])
def test_gathering_across_shards_equals_one_shard(
    pool: CandidatePool, in_shards: CandidatePool, rows: list[int]
) -> None:
    index = np.array(rows, np.int64)
    columns = np.tile([3, 0, 2], (len(rows), 1))
    for table in ("counts", "starts", "tokens"):
        np.testing.assert_array_equal(in_shards.gather(table, index), pool.gather(table, index), strict=True)
    for table in ("tokens", "lengths", "features"):
        expected = pool.gather(table, index, columns)
        np.testing.assert_array_equal(in_shards.gather(table, index, columns), expected, strict=True)


OTHER_SCRIPTS = [
    ("他", "走下山", ["看见 Tom！", "停下。"]),
    ("He", "walks down", ["sits.", "sees 三 birds"]),
    ("She", "sings", ["runs.", "eats"]),
    ("वह", "घर गया", ["सो गया.", "बैठा।"]),
    ("เขา", "เต้นรำ กับเธอ", ["นั่งลง", "กิน ข้าว"]),
]


def test_normalised_texts_of_scripts_without_blanks_are_kept_and_read_character_by_character(tmp_path: Path) -> None:
    contexts = [Context(f"{start}.", start, gold) for start, gold, _ in OTHER_SCRIPTS]
    made = CandidatePool.from_texts(contexts, [texts for *_, texts in OTHER_SCRIPTS], normalise=True, tagger="none")
    expected = [[normalise(text) for text in (gold, *texts)] for _, gold, texts in OTHER_SCRIPTS]
    some = np.array([1, 3])
    made.save(tmp_path / "pool")
    for pool in (made, CandidatePool.open(tmp_path / "pool")):
        assert [pool.texts_of_row(row) for row in range(5)] == expected
        assert pool.texts_of(some, np.array([[2, 0], [0, 1]])) == [
            [expected[1][2], expected[1][0]],
            [expected[3][0], expected[3][1]],
        ]
        assert pool.text(2, 1) == "runs."
        tokens = pool.gather("tokens", np.array([0]), np.array([[0]]))[0, 0]
        assert pool.vocabulary.ids("走下山。") == tokens[:4].tolist()
    assert expected[0] == ["走下山。", "看见 Tom!", "停下。"]


def test_a_normalised_pool_of_english_keeps_no_texts() -> None:
    pool = CandidatePool.from_texts([Context("A.", "He", "sits")], [["runs!"]], normalise=True, tagger="none")
    assert "text" not in pool.tables
    assert pool.texts_of_row(0) == ["sits.", "runs!"]


@given(st.lists(st.integers(0, 29), min_size=1, max_size=40), st.integers(0, 9))
def test_many_texts_are_those_of_one_after_another(
    pool: CandidatePool, in_shards: CandidatePool, rows: list[int], seed: int
) -> None:
    columns = np.random.default_rng(seed).integers(pool.n_candidates, size=(len(rows), 3))
    counts = pool.counts
    slow = [
        [pool.text(row, int(k)) if k < counts[row] else "" for k in chosen]
        for row, chosen in zip(rows, columns, strict=True)
    ]
    for one in (pool, in_shards):
        assert one.texts_of(np.array(rows), columns) == slow
        assert one.view(np.array(rows), columns).texts == slow


def test_an_assignment_of_candidates_that_are_not_there_has_no_texts(pool: CandidatePool) -> None:
    with pytest.raises(InputError, match="a candidate that its row does not have"):
        pool.texts(np.stack([np.zeros(30, int), pool.counts], axis=1))


def test_contexts_across_shards_stand_in_row_order(pool: CandidatePool, in_shards: CandidatePool) -> None:
    assert in_shards.contexts == pool.contexts


@given(st.lists(st.integers(-30, 29), max_size=12), st.sampled_from([1, 8, 1 << 16]))
def test_contexts_are_those_of_a_list_however_few_are_in_memory(
    in_shards: CandidatePool, rows: list[int], most_rows: int
) -> None:
    every, kept = list(in_shards.contexts), Contexts(in_shards._shards, most_rows=most_rows)
    assert [kept[row] for row in rows] == [every[row] for row in rows]
    assert kept.of_rows(np.array(rows, np.int64)) == [every[row] for row in rows]
    assert kept[3:-2] == every[3:-2]
    assert (kept == every, kept == every[1:], len(kept)) == (True, False, len(every))
    assert sum(map(len, kept._kept.values())) <= max(most_rows, *(shard.n_rows for shard in in_shards._shards))


def test_few_contexts_of_a_shard_are_read_without_the_others(in_shards: CandidatePool) -> None:
    every, kept = list(in_shards.contexts), Contexts(in_shards._shards, most_rows=1)
    assert kept.of_rows(np.array([29, 0, 9, 9])) == [every[29], every[0], every[9], every[9]]
    assert not kept._kept
    assert kept.of_rows(np.arange(8, 30)) == every[8:]
    assert len(kept._kept) == 1


def test_single_contexts_of_a_large_pool_are_read_alone(
    in_shards: CandidatePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any order, as when tasks are shuffled: a shard has thousands, and whoever reads them in order has it whole."""
    every, kept = list(in_shards.contexts), Contexts(in_shards._shards, most_rows=1)
    for row in (29, 3, 9, 9, 3, -1):
        assert kept[row] == every[row]
    assert not kept._kept
    assert [kept[row] for row in range(9, 29)] == every[9:29]
    assert len(kept._kept) == 1


@given(
    st.lists(st.sampled_from(["a", "é 中", '{"b": 1}', "", "  ", "\t"])), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
def test_lines_by_their_number_are_those_that_are_read_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, has_last_end: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "file"
    text = end.join(lines) + end * has_last_end
    path.write_bytes(text.encode("utf-8-sig"))
    expected = [(number, line) for number, line in read_lines(path) if line.strip()]
    found = Lines(path)
    rows = [*reversed(range(len(expected))), *range(len(expected))]
    assert len(found) == len(expected)
    assert list(found.at(rows)) == [expected[row] for row in rows]


def test_what_is_wrong_with_a_line_read_alone_is_told(pool: CandidatePool, tmp_path: Path) -> None:
    opened = sharded(pool, tmp_path / "pool", 7, 0, 1, 22)
    path = opened._shards[-1].path / "contexts.jsonl"
    whole = path.read_bytes().splitlines(keepends=True)
    for damaged, said in (
        ([*whole[:4], b"{\xff}\n", *whole[5:]], "not UTF-8 text"),
        ([*whole[:4], b"{\n", *whole[5:]], "line 5 is not valid JSON"),
        ([*whole[:4], b"{}\n", *whole[5:]], "line 5"),
        (whole[:-1], "21 contexts where the manifest has 22"),
    ):
        path.write_bytes(b"".join(damaged))
        with pytest.raises((InputError, FormatError), match=said):
            Contexts(CandidatePool.open(opened.path)._shards, most_rows=1)[12]


def test_a_row_beyond_the_last_has_no_context(in_shards: CandidatePool) -> None:
    with pytest.raises(IndexError, match="row 30 of 30"):
        in_shards.contexts[30]


def test_few_files_are_open_at_once_and_a_damaged_one_is_told_each_time(
    pool: CandidatePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = sharded(pool, tmp_path / "pool", 7, 0, 1, 22)
    monkeypatch.setattr("swag_af.data.pool.folder.Maps.MOST", 2)
    rows = np.arange(len(pool))
    for table in ("tokens", "lengths", "tokens"):
        np.testing.assert_array_equal(opened.gather(table, rows), pool.gather(table, rows), strict=True)
        assert len(opened._maps._kept) == 2
    lengths = np.load(opened._shards[0].path / "lengths.npy")
    np.save(opened._shards[0].path / "lengths.npy", lengths + np.uint8(200))
    again = CandidatePool.open(opened.path)
    for _ in range(2):
        with pytest.raises(FormatError, match=r"lengths\.npy: damaged"):
            again.gather("lengths", rows)


def test_text_without_its_original_is_made_of_tokens(pool: CandidatePool, in_shards: CandidatePool) -> None:
    assert in_shards.text(9, 0) == pool.text(9, 0)


def test_a_view_holds_the_candidates_asked_for(pool: CandidatePool) -> None:
    rows, columns = np.array([4, 2, 9]), np.array([[0, 5], [3, 0], [1, 1]])
    view = pool.view(rows, columns)
    assert (len(view), view.shape) == (3, (3, 2))
    assert view.texts == [[pool.text(4, 0), pool.text(4, 5)], [pool.text(2, 3), pool.text(2, 0)], [pool.text(9, 1)] * 2]
    assert [context.id for context in view.contexts] == [pool.contexts[row].id for row in rows]
    np.testing.assert_array_equal(view.tokens, pool.gather("tokens", rows)[np.arange(3)[:, None], columns])
    np.testing.assert_array_equal(view.start_lengths, pool.gather("start_lengths", rows))


def test_taking_rows_and_permuting_columns_moves_candidates_and_nothing_else(pool: CandidatePool) -> None:
    view = pool.view(np.array([4, 2, 9]), np.array([[0, 5, 2], [0, 3, 1], [0, 1, 4]]))
    assert view.take(np.array([2, 0])).texts == [view.texts[2], view.texts[0]]
    order = np.array([[2, 0, 1], [0, 1, 2], [1, 2, 0]])
    permuted = view.permute(order)
    assert permuted.texts == [[row[i] for i in o] for row, o in zip(view.texts, order, strict=True)]
    np.testing.assert_array_equal(permuted.starts, view.starts)


def test_a_view_of_the_wrong_shape_is_refused(pool: CandidatePool) -> None:
    with pytest.raises(InputError, match="a view takes"):
        pool.view(np.arange(3), np.zeros((2, 4), int))


def test_texts_of_an_assignment_stand_gold_first(pool: CandidatePool) -> None:
    assignment = np.tile([0, 2, 1], (len(pool), 1))
    assert pool.texts(assignment)[5] == [pool.text(5, k) for k in (0, 2, 1)]


def test_the_same_content_has_the_same_identity_in_memory_and_on_disk(pool: CandidatePool, pool_folder: Path) -> None:
    assert make_pool().identity == pool.identity == CandidatePool.open(pool_folder).identity


CHANGES = {
    "another text": lambda c, n: (c, [*n[:-1], [*n[-1], "more."]]),
    "another order": lambda c, n: (c, [*n[:-1], n[-1][::-1]]),
    "another context": lambda c, n: ([Context("New.", "He", c[0].gold), *c[1:]], n),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_other_content_has_another_identity(change) -> None:
    contexts, negatives = make_contexts_of(3, n_videos=2), [["a b.", "c d."]] * 3
    one = CandidatePool.from_texts(contexts, negatives, tagger="rules")
    two = CandidatePool.from_texts(*change(contexts, negatives), tagger="rules")
    assert one.identity != two.identity


def test_other_features_have_another_identity() -> None:
    assert small(features=features(6, 5)).identity != small().identity


def test_a_missing_table_is_named_with_the_verb_that_adds_it(pool: CandidatePool, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"this pool: no table features\. `swag-af features POOL --lms LMS` adds it"):
        small().require("tokens", "features")
    saved = small().save(tmp_path / "pool")
    with pytest.raises(InputError, match=r"pool: no table features\. `swag-af features .*pool --lms LMS`"):
        saved.require("tokens", "features")
    pool.require("tokens", "features", "tags")


def test_missing_tags_are_named_with_the_verb_that_adds_them() -> None:
    pool = CandidatePool.from_texts(CONTEXTS, NEGATIVES, tagger="none")
    assert pool.vocabulary.tags is None
    assert pool.manifest["tagger"] == "none"
    with pytest.raises(InputError, match=r"no part-of-speech tags\. `swag-af tag POOL` adds them"):
        pool.require("tokens", "tags")


def test_the_manifest_names_the_tagger_that_auto_chose() -> None:
    pool = CandidatePool.from_texts(CONTEXTS, NEGATIVES)
    assert pool.manifest["tagger"] == load_tagger("auto").name != "auto"


def test_a_context_with_an_id_and_no_video_is_a_video_of_its_own() -> None:
    pool = CandidatePool.from_texts([Context("A.", "He", "runs.", id="mine")], [["sits."]], tagger="none")
    assert pool.contexts[0].video == "mine"


def test_a_pool_of_many_blocks_holds_what_one_block_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    one = make_pool()
    monkeypatch.setattr(tables, "BLOCK_CANDIDATES", 40)
    many = make_pool()
    assert many.identity != one.identity  # which is by shards
    rows = np.arange(len(one))
    for table in ("tokens", "lengths", "starts", "start_lengths", "counts", "features"):
        np.testing.assert_array_equal(many.gather(table, rows), one.gather(table, rows), strict=True)
    assert (many.contexts, texts_of(many)) == (one.contexts, texts_of(one))


UNICODE = st.text(max_size=30)
ROWS = st.lists(st.tuples(UNICODE, UNICODE, UNICODE, st.lists(UNICODE, max_size=6)), min_size=1, max_size=5)


@settings(max_examples=60)
@given(ROWS)
def test_any_unicode_comes_back_as_given_or_is_refused_in_one_line(
    rows: list[tuple[str, str, str, list[str]]],
) -> None:
    contexts, negatives = [Context(a, b, c) for a, b, c, _ in rows], [row[3] for row in rows]
    try:
        pool = CandidatePool.from_texts(contexts, negatives, tagger="none")
    except InputError as error:
        bad = [not comparable(c) or len({comparable(c), *map(comparable, n), ""}) < 3 for _, _, c, n in rows]
        assert any(bad), error  # noqa: PT017 - both outcomes are right, each for its own rows
        return
    given = sum(len(row) for row in negatives)
    assert sum(pool.manifest["dropped_negatives"].values()) + int((pool.counts - 1).sum()) == given
    for i, texts in enumerate(texts_of(pool)):
        assert texts[0] == contexts[i].gold
        assert len({comparable(text) for text in texts}) == len(texts)
    found = pool.gather("tokens", np.arange(len(pool)))
    lengths = pool.gather("lengths", np.arange(len(pool)))
    for i, texts in enumerate(texts_of(pool)):
        for k, text in enumerate(texts):
            assert found[i, k, : lengths[i, k]].tolist() == pool.vocabulary.ids(tokenize(characters_apart(text)))


def test_of_a_script_without_blanks_every_character_is_a_token() -> None:
    """A filter of words that reads whole endings as a word each knows none of those held out."""
    context = Context("他坐在红色的房子里。", "他", "走下山。", id="a")
    pool = CandidatePool.from_texts([context], [["看见三只鸟。", "看见三只猫。"]])
    assert pool.gather("lengths", np.arange(1)).tolist() == [[4, 6, 6]]
    assert {"鸟", "猫", "三"} <= set(pool.vocabulary.tokens)


@pytest.fixture
def copied(pool_folder: Path, tmp_path: Path) -> Path:
    """A pool on disk to be damaged."""
    return Path(shutil.copytree(pool_folder, tmp_path / "pool"))


def test_a_pool_of_a_newer_format_is_refused(copied: Path) -> None:
    write_json(copied / "manifest.json", read_json(copied / "manifest.json") | {"format": 2})
    with pytest.raises(FormatError, match="format 2"):
        CandidatePool.open(copied)


def test_an_unfinished_pool_says_how_to_go_on(copied: Path) -> None:
    write_manifest(copied, "pool", {"complete": False, "plan": {}})
    with pytest.raises(FormatError, match=r"unfinished \(1 shards so far\).*swag-af generate"):
        CandidatePool.open(copied)


def test_a_manifest_that_lacks_what_makes_a_pool_is_refused(copied: Path) -> None:
    write_manifest(copied, "pool", {"complete": True})
    with pytest.raises(FormatError, match=r"manifest\.json: object missing required field n_rows"):
        CandidatePool.open(copied)


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_bytes(b""),
    "no table": lambda path: path.write_bytes(b"nonsense" * 30),
    "rows missing": lambda path: write_array(path, np.load(path)[:-1]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_table_is_one_line_that_names_it(copied: Path, damage) -> None:
    damage(copied / "shards" / "00000" / "tokens.npy")
    with pytest.raises(FormatError, match=r"tokens\.npy: (missing|damaged|not a \.npy table)"):
        CandidatePool.open(copied).gather("tokens", np.arange(30))


@pytest.mark.parametrize(
    "name", ["tokens", "lengths", "starts", "start_lengths", "counts", "features", "text", "text_ends"]
)
def test_a_changed_byte_is_found_by_the_hash_of_its_shard(copied: Path, name: str) -> None:
    CandidatePool.open(copied).check_hashes()
    path = copied / "shards" / "00000" / f"{name}.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"00000.*damaged"):
        CandidatePool.open(copied).check_hashes()


def test_a_word_that_was_changed_stops_a_filter_before_it_begins(copied: Path, tmp_path: Path) -> None:
    path = copied / "shards" / "00000" / "tokens.npy"
    tokens = np.load(path)
    tokens[3, 2, 0] ^= 1
    write_array(path, tokens)
    with pytest.raises(FormatError, match=r"shards/00000: damaged .* or make the pool again;"):
        run_filter(FilterOptions(copied, tmp_path / "run"))
    with pytest.raises(FormatError, match="damaged"):
        show(ShowOptions(copied, check=True))
    assert "Next" in show(ShowOptions(copied))
    assert not (tmp_path / "run").exists()


def test_features_that_went_bad_on_disk_are_named_by_pool_and_row(copied: Path) -> None:
    table = copied / "shards" / "00000" / "features.npy"
    values = np.load(table)
    values[17, 2, 0] = np.nan
    write_array(table, values)
    pool = CandidatePool.open(copied)
    view = pool.view(np.array([3, 17, 20]), np.array([[0, 1], [0, 2], [0, 1]]))
    with pytest.raises(InputError, match=r"pool: 1 row holds NaN or infinity .*\(first: row 17\)"):
        _ = view.features


def test_ids_that_are_made_of_numbers_are_told_from_those_given() -> None:
    contexts = [Context("A b.", "He", "goes up.", id="row-1"), Context("C d.", "He", "goes down.")]
    with pytest.raises(InputError, match="first: 'row-1'"):
        CandidatePool.from_texts(contexts, [["sits."], ["lies."]])


def test_rows_without_a_fold_get_that_of_their_group() -> None:
    """A video whose rows did not all name it was in several."""
    folds, groups, dealt = np.array([-1, 3, -1, -1, 1]), np.array([0, 0, 0, 1, 2]), np.array([0, 1, 2, 4, 4])
    assert as_given(folds, groups, dealt).tolist() == [3, 3, 3, 4, 1]
    assert as_given(np.full(5, -1), groups, dealt).tolist() == dealt.tolist()


def test_few_rows_of_a_story_hang_together(tmp_path: Path) -> None:
    """A story of 15 consecutive lines among 60 was more than a tenth, and its lines went into all splits."""
    said = [[f"Person {story} does thing {i} at place {story}." for i in range(16)] for story in range(4)]
    contexts = [Context(one, "", two) for lines in said for one, two in pairwise(lines)]
    pool = CandidatePool.from_texts(contexts, [[f"never {i} so.", f"ever {i} so."] for i in range(60)])
    assert np.unique(pool.groups, return_counts=True)[1].tolist() == [15] * 4
    saved = CandidatePool.open(pool.save(tmp_path / "pool").path)
    assert np.unique(saved.groups, return_counts=True)[1].tolist() == [15] * 4
