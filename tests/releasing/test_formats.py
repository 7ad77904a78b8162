"""Claims about the formats of a dataset: SWAG's own, JSONL, Parquet, Croissant, each read back by those who know it."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import HashFilter
from judged import judged_options, make_run, release_without_curve, rows_of

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.verbs import release as verb
from swag_af.data.captions.options import ContextRules, ContextsOptions
from swag_af.data.captions.readers import caption_rows
from swag_af.data.captions.verb import contexts
from swag_af.data.context import Context, display
from swag_af.data.disk.files import read_jsonl, write_jsonl
from swag_af.data.disk.manifests import sha256_file
from swag_af.data.errors import ExhaustedError, InputError
from swag_af.data.extras import install
from swag_af.data.instances.options import InstanceColumns, ReadingOptions
from swag_af.data.instances.reading import read_instances
from swag_af.data.pool.options import PoolOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pooling.verb import pool as build_pool
from swag_af.data.sample.grammar import sample_videos
from swag_af.lm.options import GenerateOptions
from swag_af.lm.verb import generate
from swag_af.releasing.cards.card import dataset_card
from swag_af.releasing.cards.hub import header_lines, size_category
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.files.croissant import croissant
from swag_af.releasing.options import ReleaseOptions

SWAG = Path(__file__).resolve().parents[3] / "shared" / "data" / "swag"
REGULAR = ",video-id,fold-ind,startphrase,sent1,sent2,gold-source,ending0,ending1,ending2,ending3,label"
FULL = (
    "video-id,fold-ind,startphrase,gold-ending,distractor-0,distractor-1,distractor-2,distractor-3,gold-source,"
    "gold-type,distractor-0-type,distractor-1-type,distractor-2-type,distractor-3-type,sent1,sent2"
)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ReleaseOptions:
    folder = tmp_path_factory.mktemp("judged")
    return judged_options(make_run(folder), folder)


@pytest.fixture(scope="module")
def made(options: ReleaseOptions) -> Dataset:
    return release_without_curve(options)


# ------------------------------------------------------------------------------- SWAG's files


def test_the_headers_are_those_of_swag(options: ReleaseOptions, made: Dataset) -> None:
    assert (options.out / "train.csv").read_text().splitlines()[0] == REGULAR
    assert (options.out / "test.csv").read_text().splitlines()[0] == REGULAR.removesuffix(",label")
    assert (options.out / "val_full.csv").read_text().splitlines()[0] == FULL


def test_pandas_reads_the_regular_files_by_their_index(options: ReleaseOptions, made: Dataset) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(options.out / "train.csv", index_col=0)
    assert frame.index.tolist() == list(range(made.sizes["train"]))
    assert frame["label"].dtype.kind == frame["fold-ind"].dtype.kind == "i"
    assert frame[[f"ending{i}" for i in range(4)]].notna().all(axis=None)
    assert set(frame["gold-source"]) == {"gold", "gen"}


def test_pandas_reads_a_fourth_distractor_that_is_not_there_as_missing(options: ReleaseOptions, made: Dataset) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(options.out / "train_full.csv")
    few = frame["distractor-3"].isna()
    assert few.any()
    assert not few.all()
    assert (frame["distractor-3-type"].isna() == few).all()
    assert frame.drop(columns=["distractor-3", "distractor-3-type"]).notna().all(axis=None)
    assert set(frame["gold-source"]) == {"gold0-orig", "gold1-orig", "gen-orig"}


def conventions(startphrase: str, endings: list[str]) -> list[str]:
    """Which of SWAG's conventions of text are broken."""
    return [
        *(["start in lower case"] if not startphrase[:1].isupper() else []),
        *(f"capital: {ending}" for ending in endings if ending[:1].isupper()),
        *(f"tokenised: {text}" for text in (startphrase, *endings) if re.search(r" [.,?!;:]| n't| 's ", text)),
        *(f"blanks: {text}" for text in (startphrase, *endings) if re.search(r"^\s|\s$|\s\s", text)),
        *(f"no end: {ending}" for ending in endings if ending[-1] not in ".?!"),
    ]


def test_questions_are_spelt_by_the_conventions_of_swag(options: ReleaseOptions, made: Dataset) -> None:
    for split in ("train", "val", "test"):
        for row in rows_of(options.out / f"{split}.csv"):
            assert conventions(row["startphrase"], [row[f"ending{i}"] for i in range(4)]) == []


@pytest.mark.real
@pytest.mark.skipif(not SWAG.exists(), reason="no SWAG at ../shared/data")
def test_real_questions_of_swag_keep_those_conventions() -> None:
    rows = [record for _, record in read_jsonl(SWAG / "swag_questions.jsonl")]
    broken = [row for row in rows if conventions(row["startphrase"], row["endings"])]
    assert len(broken) <= 0.02 * len(rows)


@pytest.mark.real
@pytest.mark.skipif(not SWAG.exists(), reason="no SWAG at ../shared/data")
def test_real_contexts_of_swag_would_be_released_as_they_stand() -> None:
    rows = [record for _, record in read_jsonl(SWAG / "swag_pairs.jsonl")]
    rows = [row for row in rows if row["sent1"][0].isupper() and row["sent2"][0].isupper()]
    same = [
        row
        for row in rows
        if display(Context(row["sent1"], row["sent2"], "")) == (row["sent1"], row["sent2"])
        and f"{row['sent1']} {row['sent2']}" == row["startphrase"]
    ]
    assert len(same) >= 0.97 * len(rows)


@pytest.mark.real
@pytest.mark.skipif(not SWAG.exists(), reason="no SWAG at ../shared/data")
def test_the_columns_that_real_rows_tell_of_are_ours() -> None:
    (_, question), (_, pair) = (
        next(read_jsonl(SWAG / "swag_questions.jsonl")),
        next(read_jsonl(SWAG / "swag_pairs.jsonl")),
    )
    assert {"startphrase", "label"} <= question.keys() & set(REGULAR.split(","))
    assert len(question["endings"]) == sum(name.startswith("ending") for name in REGULAR.split(","))
    assert {"startphrase", "sent1", "sent2"} <= pair.keys() & set(FULL.split(","))


# ------------------------------------------------------------------------------- JSONL


def test_a_pool_can_be_made_of_the_jsonl(options: ReleaseOptions, made: Dataset, tmp_path: Path) -> None:
    source = (options.out / "jsonl" / "train.jsonl",)
    pool = build_pool(PoolOptions(source, tmp_path / "pool", keep_generated=True))
    train = made.of_split("train")
    assert [context.id for context in pool.contexts] == [question.id for question in train]
    for row, question in enumerate(train):
        assert (pool.contexts[row].sent1, pool.contexts[row].start) == (question.sent1, question.start)
        assert pool.text(row, 0) == question.answer


@pytest.mark.parametrize("name", ["jsonl/train.jsonl", "train.csv", "train_full.csv", ""])
def test_generated_answers_are_left_out_of_a_pool_and_counted(
    options: ReleaseOptions, made: Dataset, tmp_path: Path, name: str
) -> None:
    """They were released again as found, and could be in val or test."""
    pool = build_pool(PoolOptions((options.out / name,), tmp_path / "pool", min_negatives=1))
    golds = {row[0] for row in pool.texts(np.zeros((len(pool), 1), dtype=np.int64))}
    generated = {question.answer for question in made.questions if question.example.is_generated}
    assert pool.manifest["drops"]["generated_gold"] == made.n_generated > 0
    assert not golds & generated


def test_where_no_gold_was_found_the_pool_says_what_keeps_them(tmp_path: Path) -> None:
    row = {"sent1": "He sits.", "start": "He", "gold": "is up.", "negatives": ["was up."], "gold_source": "gen-orig"}
    write_jsonl(tmp_path / "rows.jsonl", [row])
    with pytest.raises(ExhaustedError, match="gold was found; --keep-generated keeps the others"):
        build_pool(PoolOptions((tmp_path / "rows.jsonl",), tmp_path / "pool"))
    write_jsonl(tmp_path / "rows.jsonl", [row | {"gold_source": "LSMDC"}])
    assert len(build_pool(PoolOptions((tmp_path / "rows.jsonl",), tmp_path / "pool"))) == 1, "a word of another column"


def test_the_jsonl_of_test_does_not_give_its_answers_away(options: ReleaseOptions, made: Dataset) -> None:
    records = [record for _, record in read_jsonl(options.out / "jsonl" / "test.jsonl")]
    assert len(records) == made.sizes["test"]
    assert not {"label", "gold_source"} & {name for record in records for name in record}


def test_an_audit_of_the_jsonl_can_go_by_the_groups_of_the_card(options: ReleaseOptions, made: Dataset) -> None:
    """The card's intervals are those of groups that share a split, which no file named: an audit had narrower ones."""
    files = [options.out / "jsonl" / f"{split}.jsonl" for split in ("train", "validation")]
    by_group = ReadingOptions(columns=InstanceColumns(video_column="group"))
    read = read_instances(files, by_group)
    of = {question.id: group for question, group in zip(made.questions, made.groups, strict=True)}
    assert [one.group for one in read.instances] == [str(of[one.id]) for one in read.instances]


# ------------------------------------------------------------------------------- Parquet and the hub


@pytest.fixture
def load(options: ReleaseOptions, made: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`datasets.load_dataset` of the folder, without network."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    return lambda *config: datasets.load_dataset(str(options.out), *config, cache_dir=str(tmp_path / "cache"))


def test_load_dataset_opens_the_folder(load: Any, options: ReleaseOptions, made: Dataset) -> None:
    loaded = load()
    assert {split: len(rows) for split, rows in loaded.items()} == {
        "train": made.sizes["train"],
        "validation": made.sizes["val"],
        "test": made.sizes["test"],
    }
    assert loaded["train"].features["label"].names == ["0", "1", "2", "3"]
    assert set(loaded["test"]["label"]) == {-1}
    regular = [{k: v for k, v in row.items() if k} for row in rows_of(options.out / "val.csv")]
    assert [row | {"label": str(row["label"])} for row in loaded["validation"]] == regular


def test_load_dataset_opens_the_full_configuration(load: Any, options: ReleaseOptions) -> None:
    loaded = load("full")
    assert list(loaded) == ["train", "validation"]
    assert list(loaded["train"]) == rows_of(options.out / "train_full.csv")


def test_load_dataset_opens_csv_where_there_is_no_parquet(
    options: ReleaseOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    dataset = release_without_curve(replace(options, out=tmp_path / "plain", formats="none"))
    loaded = datasets.load_dataset(str(tmp_path / "plain"), cache_dir=str(tmp_path / "cache"))
    assert len(loaded["train"]) == dataset.sizes["train"]
    assert not (tmp_path / "plain" / "data").exists()


@pytest.mark.parametrize(
    ("n", "name"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (113_557, "100K<n<1M"), (10**8, "n>10M")]
)
def test_sizes_have_the_names_of_the_hub(n: int, name: str) -> None:
    assert size_category(n) == name


@pytest.mark.parametrize(
    ("verb", "creators"),
    [("generate", ["found", "machine-generated"]), ("match", ["found"]), ("pool", ["found", "other"])],
)
def test_the_header_says_who_wrote_the_endings_as_far_as_the_pool_knows(
    made: Dataset, monkeypatch: pytest.MonkeyPatch, verb: str, creators: list[str]
) -> None:
    yaml = pytest.importorskip("yaml")
    monkeypatch.setitem(made.run.pool.manifest, "made_by", {"verb": verb})
    header = yaml.safe_load("\n".join(header_lines(made, ("jsonl",))[1:-1]))
    assert header["language_creators"] == creators


@pytest.mark.parametrize("drops", [None, {"pairs": 70, "kept": 60}, {"pairs": 70, "kept": 60, "foreign": 0}])
def test_the_language_is_told_only_of_contexts_that_were_looked_at_for_it(
    made: Dataset, options: ReleaseOptions, monkeypatch: pytest.MonkeyPatch, drops: dict[str, int] | None
) -> None:
    """A release of French texts said that it was English, and so did one of captions in any language."""
    is_told = "foreign" in (drops or {})
    yaml = pytest.importorskip("yaml")
    monkeypatch.setitem(made.run.pool.manifest, "contexts", drops)
    header = yaml.safe_load("\n".join(header_lines(made, ("jsonl",))[1:-1]))
    described = croissant(options.out, made)
    assert (header.get("language"), described.get("inLanguage")) == ((["en"], "en") if is_told else (None, None))
    assert ("**Language** of the captions" in dataset_card(made, ())) is not is_told


@pytest.mark.parametrize("drops_foreign", [True, False])
def test_a_release_is_english_where_the_verb_dropped_other_captions(tmp_path: Path, drops_foreign: bool) -> None:
    """Contexts of `--no-drop-foreign` were released as English: their manifest had a count of drops for it."""
    write_jsonl(tmp_path / "captions.jsonl", caption_rows(sample_videos(20)))
    rules = ContextRules(min_token_count=1, drop_foreign=drops_foreign)
    source = (tmp_path / "captions.jsonl",)
    contexts(ContextsOptions(source, tmp_path / "c.jsonl", rules=rules))
    generated = {"generator": "ngram", "tagger": "rules", "n_negatives": 4}
    generate(GenerateOptions(tmp_path / "c.jsonl", out=tmp_path / "pool", **generated))
    pool = CandidatePool.open(tmp_path / "pool")
    filter_pool(pool, HashFilter(), AFOptions(iterations=1, n_negatives=3), out=tmp_path / "run")
    released = release_without_curve(ReleaseOptions(tmp_path / "run", tmp_path / "park", audit="none"))
    assert released.is_english is drops_foreign


# ------------------------------------------------------------------------------- which formats


def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swag_af.releasing.files.formats.has_pyarrow", lambda: False)


def test_without_pyarrow_the_default_leaves_parquet_out(
    options: ReleaseOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pyarrow(monkeypatch)
    release_without_curve(replace(options, out=tmp_path / "dataset"))
    assert (tmp_path / "dataset" / "jsonl").exists()
    assert not (tmp_path / "dataset" / "data").exists()
    assert "Parquet" not in (tmp_path / "dataset" / "README.md").read_text()


def test_without_pyarrow_the_verb_says_what_to_install(
    options: ReleaseOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_pyarrow(monkeypatch)
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
    verb(replace(options, out=tmp_path / "dataset"))
    assert "Note: no Parquet" in capsys.readouterr().out


def test_without_pyarrow_parquet_by_name_is_refused(
    options: ReleaseOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pyarrow(monkeypatch)
    with pytest.raises(InputError, match=re.escape(install("publish"))):
        release_without_curve(replace(options, out=tmp_path / "dataset", formats="parquet"))
    assert not (tmp_path / "dataset").exists()


def test_a_format_that_is_none_is_refused(options: ReleaseOptions, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no format 'xml'"):
        release_without_curve(replace(options, out=tmp_path / "dataset", formats="jsonl,xml"))


# ------------------------------------------------------------------------------- Croissant


def test_mlcroissant_validates_the_metadata(options: ReleaseOptions, made: Dataset) -> None:
    mlc = pytest.importorskip("mlcroissant")
    metadata = mlc.Dataset(jsonld=str(options.out / "croissant.json")).metadata
    assert not metadata.issues.errors
    assert {record_set.id for record_set in metadata.record_sets} == {"train", "val", "test", "train_full", "val_full"}


@pytest.mark.parametrize("name", ["train", "test", "val_full"])
def test_mlcroissant_reads_the_records(options: ReleaseOptions, made: Dataset, name: str) -> None:
    mlc = pytest.importorskip("mlcroissant")
    records = list(mlc.Dataset(jsonld=str(options.out / "croissant.json")).records(record_set=name))
    rows = rows_of(options.out / f"{name}.csv")
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        for column in ("startphrase", "sent2", "label" if "label" in row else "video-id"):
            value = record[f"{name}/{column}"]
            assert (value.decode() if isinstance(value, bytes) else str(value)) == row[column]


def test_croissant_has_the_hashes_and_sizes_of_the_files(options: ReleaseOptions, made: Dataset) -> None:
    files = json.loads((options.out / "croissant.json").read_text())["distribution"]
    assert {file["contentUrl"] for file in files} >= {"train.csv", "val.csv", "test.csv"}
    for file in files:
        path = options.out / file["contentUrl"]
        assert file["sha256"] == sha256_file(path)
        assert file["contentSize"] == f"{path.stat().st_size} B"
