"""Features for any pool by any scorer: the columns that are there, by name, resumed by shard, foreign models named."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import make_contexts_of
from test_scorers import HashScorer
from tiny_causal import save_tiny_gpt2

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.data.captions.context_set import read_contexts
from swag_af.data.context import Context
from swag_af.data.disk.manifests import MANIFEST
from swag_af.data.engines.options import EngineOptions
from swag_af.data.errors import ContractError, InputError
from swag_af.data.pool.folder import FEATURES
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.tokens import tokenize
from swag_af.data.work.locks import alone
from swag_af.endpoints.options import EndpointOptions
from swag_af.lm.features import ANSWERS, features
from swag_af.lm.lstm.scorer import LSTMScorer
from swag_af.lm.options import FeaturesOptions
from swag_af.lm.scorers import table
from swag_af.lm.scorers.checking import check_scorer
from swag_af.lm.scorers.contract import COLUMNS, LENGTHS
from swag_af.nn.device import pick_device

ENDINGS = [f"lifts the {what} and walks to the door." for what in ("dog", "red ball", "guitar", "old bicycle")]


class SomeColumns(HashScorer):
    """Gives two columns of five."""

    def __init__(self) -> None:
        super().__init__(("ending_given_context", "last_token"))


class Interrupted(HashScorer):
    """Is stopped in the second shard, the first time."""

    stops = True

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        for context, values in zip(contexts, super().score(contexts, endings), strict=True):
            if type(self).stops and context.id == "v1-5":
                raise KeyboardInterrupt
            yield values


def texts_pool(folder: Path, n: int = 40) -> CandidatePool:
    """Ragged rows in shards of 16, as a pool of texts has them."""
    contexts = make_contexts_of(n, n_videos=5)
    negatives = [[f"{text[:-1]} {i}." for text in ENDINGS[: 2 + i % 3]] for i in range(n)]
    made = CandidatePool.from_texts(contexts, negatives, tagger="rules")
    return sharded(made, folder)


def sharded(pool: CandidatePool, folder: Path) -> CandidatePool:
    """`pool` on disk in shards of 16 rows."""
    from swag_af.data.pool.folder import finish_pool, write_shard

    entries = []
    for number, at in enumerate(range(0, len(pool), 16)):
        rows = np.arange(at, min(at + 16, len(pool)))
        tables = {name: pool.gather(name, rows) for name in pool.tables if name not in ("text", "text_ends")}
        entries.append(write_shard(folder, number, [pool.contexts[row] for row in rows], tables))
    finish_pool(folder, pool.vocabulary, entries, {"dropped_negatives": {}, "tagger": "rules"})
    return CandidatePool.open(folder)


def slow_table(pool: CandidatePool, scorer: HashScorer) -> np.ndarray:
    """(N, K, F), a candidate at a time."""
    made = np.zeros((len(pool), pool.n_candidates, len(scorer.columns) + 3), np.float32)
    for row, context in enumerate(pool.contexts):
        for k in range(pool.counts[row]):
            text = pool.text(row, k)
            [[values]] = scorer.score([context], [[text]])
            lengths = [len(tokenize(one)) for one in (text, context.start, context.sent1)]
            made[row, k] = [*values, *lengths]
    return made


@pytest.mark.parametrize("scorer", ["HashScorer", "SomeColumns"])
def test_a_pool_gets_the_columns_that_its_scorer_gives_by_name(tmp_path: Path, scorer: str) -> None:
    pool = texts_pool(tmp_path / "pool")
    made = features(FeaturesOptions(tmp_path / "pool", scorer=f"test_scored_features:{scorer}"))
    used = SomeColumns() if scorer == "SomeColumns" else HashScorer()
    assert made.feature_names == (*used.columns, *LENGTHS)
    assert made.manifest["features_by"]["columns"] == list(used.columns)
    np.testing.assert_allclose(made.gather("features", np.arange(len(made))), slow_table(pool, used), rtol=1e-6)
    assert made.identity != pool.identity
    assert not (tmp_path / "pool" / table.PLAN).exists()


def test_processes_that_share_the_work_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
    texts_pool(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    tables = []
    for name, workers in (("one", 1), ("two", 2)):
        made = features(FeaturesOptions(tmp_path / name, scorer="test_scorers:HashScorer", workers=workers))
        tables.append(made.gather("features", np.arange(len(made))))
    np.testing.assert_array_equal(*tables)


def test_stopped_it_goes_on_at_the_next_shard_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_pool(tmp_path / "pool")
    shutil.copytree(tmp_path / "pool", tmp_path / "straight")
    options = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:Interrupted")
    with pytest.raises(KeyboardInterrupt):
        features(options)
    assert "features" not in CandidatePool.open(tmp_path / "pool").tables
    first = tmp_path / "pool/shards/00000/features.npy"
    written = first.stat().st_mtime_ns
    monkeypatch.setattr(Interrupted, "stops", False)
    made = features(options)
    assert first.stat().st_mtime_ns == written
    straight = features(replace(options, pool=tmp_path / "straight"))
    assert made.identity == straight.identity
    assert json.loads((tmp_path / "pool/manifest.json").read_text()) == straight.manifest


def test_what_another_scorer_began_is_kept_until_it_is_taken_away(tmp_path: Path) -> None:
    """A scorer typed by mistake removed what had taken days."""
    pool = texts_pool(tmp_path / "pool")
    with pytest.raises(KeyboardInterrupt):
        features(FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:Interrupted"))
    (first,) = (tmp_path / "pool").rglob("features.npy")
    before = first.read_bytes()
    other = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:SomeColumns")
    with pytest.raises(
        InputError, match=r"begun by a scorer with other .*columns.* or remove .*scoring\.json to begin"
    ):
        features(other)
    assert first.read_bytes() == before
    (tmp_path / "pool" / table.PLAN).unlink()
    made = features(other)
    np.testing.assert_allclose(
        made.gather("features", np.arange(len(made))), slow_table(pool, SomeColumns()), rtol=1e-6
    )


def test_a_scorer_that_scored_no_shard_stands_in_no_other_s_way(tmp_path: Path) -> None:
    """Its refusal advised to take another model, and this was refused."""
    pool = texts_pool(tmp_path / "pool")
    asked = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:ReadsLittle")
    with pytest.raises(InputError, match="take a model that reads more"):
        features(asked)
    made = features(replace(asked, scorer="test_scored_features:SomeColumns"))
    np.testing.assert_allclose(
        made.gather("features", np.arange(len(made))), slow_table(pool, SomeColumns()), rtol=1e-6
    )


class ReadsLittle(HashScorer):
    def score(self, contexts: Any, endings: Any) -> Any:
        raise InputError("row 0: it has 6009 tokens. Leave the row out, or take a model that reads more.")


def test_a_model_is_told_by_its_files_and_not_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another spelling of its path it was another scorer, and what it had scored was removed."""
    texts_pool(tmp_path / "pool")
    gpt = save_tiny_gpt2(tmp_path / "gpt")
    monkeypatch.chdir(tmp_path)
    check, checked = table.check_finite, []

    def interrupted(*arguments: Any, **named: Any) -> None:
        checked.append(arguments)
        if len(checked) == 2:
            raise KeyboardInterrupt
        check(*arguments, **named)

    monkeypatch.setattr(table, "check_finite", interrupted)
    with pytest.raises(KeyboardInterrupt):
        features(FeaturesOptions(Path("pool"), scorer=f"hf[{gpt}]"))
    (first,) = (tmp_path / "pool").rglob("features.npy")
    written = first.stat().st_mtime_ns
    made = features(FeaturesOptions(Path("pool"), scorer="hf[./gpt]"))
    assert first.stat().st_mtime_ns == written
    assert features(FeaturesOptions(Path("pool"), scorer="hf[gpt]")).identity == made.identity


def test_features_that_are_there_stay_and_others_are_refused(tmp_path: Path) -> None:
    texts_pool(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:SomeColumns")
    made = features(options)
    (tmp_path / "pool" / table.PLAN).write_text("{}")  # of a run that was killed after its last step but one
    assert features(options).identity == made.identity
    assert not (tmp_path / "pool" / table.PLAN).exists()
    with pytest.raises(InputError, match=r"has features already\. Likelihoods by hash.*Make the pool again"):
        features(replace(options, scorer="test_scored_features:HashScorerOfTwo"))


class HashScorerOfTwo(SomeColumns):
    def record(self) -> dict[str, str]:
        return {"model": "another"}


def test_a_value_that_is_no_number_is_told_with_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts_pool(tmp_path / "pool")
    monkeypatch.setattr(HashScorer, "values", lambda self, context, ending: [np.nan] * 5)
    with pytest.raises(InputError, match=r"scored by hash: 16 rows hold NaN"):
        features(FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:HashScorer"))


def test_the_mlp_filters_by_the_columns_that_are_there(tmp_path: Path) -> None:
    texts_pool(tmp_path / "pool", n=48)
    pool = features(FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:SomeColumns"))
    run = filter_pool(pool, "mlp", AFOptions(n_negatives=1, iterations=2), out=tmp_path / "run")
    assert len(run.log) == 2


def test_a_foreign_model_is_named_as_such_and_so_is_what_it_cannot_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts_pool(tmp_path / "pool")
    main(["features", str(tmp_path / "pool"), "--scorer", "test_scored_features:SomeColumns"])
    told = (
        "Likelihoods by hash (crc32), a foreign model, which may have read these texts. It cannot give ending_alone, "
        "context_given_ending, context_alone."
    )
    assert told in capsys.readouterr().out
    main(["show", str(tmp_path / "pool")])
    assert told in capsys.readouterr().out


class Asking(HashScorer):
    """Keeps what it is told, as a scorer that asks a server."""

    told: ClassVar[list[Any]] = []

    def __init__(self, endpoint: EndpointOptions, journal: Path) -> None:
        super().__init__()
        self.told.append((endpoint, journal))


def test_a_scorer_that_asks_a_server_is_told_how_and_where_answers_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_pool(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:Asking")
    features(options)
    assert Asking.told == [(options.endpoint, tmp_path / "pool" / ANSWERS)]
    monkeypatch.setattr("swag_af.data.scale.usable_cores", lambda: {0, 1})
    for more in (replace(options, workers=2), replace(options, where=EngineOptions("processes"))):
        with pytest.raises(InputError, match=r"one process writes its answers"):
            features(more)


def test_what_says_how_a_server_is_asked_is_refused_where_none_is(tmp_path: Path) -> None:
    texts_pool(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", endpoint=EndpointOptions(model="m", max_requests=3))
    for scorer in ("lstm", "hf[path/to/model]", "test_scored_features:SomeColumns"):
        with pytest.raises(InputError, match=r"^--model, --max-requests: .* asks no server"):
            features(replace(options, scorer=scorer))


class Raising(HashScorer):
    def values(self, context: str, ending: str) -> list[float]:
        return [1 / len(ending[:0])]


def test_what_a_scorer_of_others_raises_is_one_line_that_names_it(tmp_path: Path) -> None:
    texts_pool(tmp_path / "pool")
    with pytest.raises(ContractError, match=r"Raising: its score raised ZeroDivisionError .*check_scorer` tries it"):
        features(FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:Raising"))


class Short(HashScorer):
    """Answers for fewer contexts than it is asked about."""

    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[np.ndarray]:
        return super().score(contexts[1:], endings[1:])


class Lists(HashScorer):
    def score(self, contexts: Sequence[Context], endings: Sequence[Sequence[str]]) -> Iterator[Any]:
        return (values.tolist() for values in super().score(contexts, endings))


class Letters(HashScorer):
    def __init__(self) -> None:
        letters: Any = "ending_alone"
        super().__init__(letters)


class Numbers(HashScorer):
    def __init__(self) -> None:
        numbers: Any = (1, 2)
        super().__init__(numbers)


class Twice(HashScorer):
    def __init__(self) -> None:
        super().__init__(("ending_alone", "ending_alone"))


class NoRecord(HashScorer):
    def record(self) -> Any:
        return None


class NoModel(HashScorer):
    def record(self) -> Any:
        return {"model": 3}


class Objects(HashScorer):
    def record(self) -> Any:
        return {"model": "m", "made": object()}


class Nameless(HashScorer):
    name: Any = None


MISTAKES = {
    "Short": r"Short: (context 0 has \(.*, not|15 answers for 16 contexts)",
    "Lists": "Lists: context 0 has .*, not an array",
    "Letters": "Letters: its columns are 'ending_alone'; there are ending_given_context",
    "Numbers": r"Numbers: its columns are \(1, 2\); there are",
    "Twice": "Twice: its columns are ending_alone, ending_alone; there are .* each once",
    "NoRecord": r"NoRecord: its record\(\) is None, where a dict is due",
    "NoModel": r"NoModel: its record\(\): model: expected str, got int",
    "Objects": r"Objects: its record\(\) is no JSON object",
    "Nameless": "a Nameless has no text `name`",
}


@pytest.mark.parametrize(("name", "said"), MISTAKES.items(), ids=MISTAKES)
def test_what_no_table_or_manifest_can_keep_of_a_scorer_is_refused(tmp_path: Path, name: str, said: str) -> None:
    """A pool was left with a manifest that no verb could read, or the mistake was told as one of zip()."""
    texts_pool(tmp_path / "pool")
    with pytest.raises(ContractError, match=said) as raised:
        features(FeaturesOptions(tmp_path / "pool", scorer=f"test_scored_features:{name}"))
    assert "zip()" not in str(raised.value)
    assert "features" not in CandidatePool.open(tmp_path / "pool").tables
    with pytest.raises(ContractError):
        check_scorer(globals()[name], make_contexts_of(4, n_videos=4), [ENDINGS] * 4)


def test_lms_go_with_their_own_scorer_alone() -> None:
    with pytest.raises(InputError, match=r"--lms lms: goes with --scorer lstm alone"):
        FeaturesOptions(Path("pool"), Path("lms"), scorer="hf[gpt2]")


# --- the paper's models as a scorer


def readable(contexts_path: Path, n: int) -> list[Context]:
    return [context for context in read_contexts(contexts_path) if context.video][:n]


def test_the_lstm_keeps_the_contract_of_scorers(contexts_path: Path, lms: Path) -> None:
    contexts = readable(contexts_path, 60)[::12]
    check_scorer(LSTMScorer(lms, device="cpu"), contexts, [ENDINGS[i % 2 :] for i in range(len(contexts))])


def test_the_lstm_as_a_scorer_gives_the_values_of_the_verb(contexts_path: Path, lms: Path, tmp_path: Path) -> None:
    contexts = readable(contexts_path, 20)
    CandidatePool.from_texts(contexts, [ENDINGS] * 20).save(tmp_path / "pool")
    made = features(FeaturesOptions(tmp_path / "pool", scorer=f"lstm[{lms}]", workers=1))
    assert made.feature_names == FEATURES
    assert made.manifest["features_by"]["weights"] == LSTMScorer(lms).record()["weights"]
    values = made.gather("features", np.arange(20))
    texts = [[made.text(row, k) for k in range(5)] for row in range(20)]
    given = [FEATURES.index(name) for name in COLUMNS]
    np.testing.assert_array_equal(np.stack(list(LSTMScorer(lms).score(contexts, texts))), values[:, :, given])


def test_other_models_for_features_that_are_there_are_refused(contexts_path: Path, lms: Path, tmp_path: Path) -> None:
    """They were ignored, and all was said to be there."""
    texts_pool(tmp_path / "hashed")
    features(FeaturesOptions(tmp_path / "hashed", scorer="test_scored_features:SomeColumns"))
    CandidatePool.from_texts(readable(contexts_path, 8), [ENDINGS] * 8).save(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", lms=lms, workers=1)
    made = features(options)
    assert features(options).identity == made.identity
    shutil.copytree(lms, tmp_path / "others")
    manifest = tmp_path / "others/fold-0/manifest.json"
    manifest.write_text(manifest.read_text().replace('"weights_sha256": "', '"weights_sha256": "0'))
    for pool, models in (("hashed", lms), ("pool", tmp_path / "others")):
        with pytest.raises(InputError, match=r"has features already, and not by the models in"):
            features(FeaturesOptions(tmp_path / pool, lms=models))


def test_a_table_says_where_it_was_computed(contexts_path: Path, lms: Path, tmp_path: Path) -> None:
    CandidatePool.from_texts(readable(contexts_path, 8), [ENDINGS] * 8).save(tmp_path / "pool")
    made_by = features(FeaturesOptions(tmp_path / "pool", lms=lms, workers=1)).manifest["features_by"]
    on = pick_device("auto").type
    assert (made_by["device"], made_by["output_precision"]) == (on, "bf16" if on == "cuda" else "fp32")


def test_another_process_at_the_same_pool_is_refused(tmp_path: Path) -> None:
    """Two scorers at once left a table of both under the name of one."""
    texts_pool(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:SomeColumns")
    with alone(tmp_path / "pool" / MANIFEST), pytest.raises(InputError, match=r"pool: another process is at work"):
        features(options)
    assert features(options).manifest["features_by"]["source_sha256"]


def test_shards_of_a_scorer_that_was_edited_meanwhile_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts_pool(tmp_path / "pool")
    options = FeaturesOptions(tmp_path / "pool", scorer="test_scored_features:Interrupted")
    monkeypatch.setattr(Interrupted, "stops", True)
    with pytest.raises(KeyboardInterrupt):
        features(options)
    (first,) = (tmp_path / "pool").rglob("features.npy")
    first.write_bytes(b"of the scorer as it was")
    monkeypatch.setattr(Interrupted, "stops", False)
    monkeypatch.setattr(table, "source_of", lambda made: "edited")
    made = features(options)
    with pytest.raises(InputError, match="has features already"):  # of the scorer as it is not any more
        features(options)
    np.testing.assert_allclose(made.gather("features", np.arange(len(made))), slow_table(made, HashScorer()), rtol=1e-6)


def test_models_that_know_few_of_the_words_of_a_pool_are_warned_of(
    contexts_path: Path, lms: Path, tmp_path, capsys
) -> None:
    """Every likelihood was the same, without a word."""
    CandidatePool.from_texts(readable(contexts_path, 8), [ENDINGS] * 8).save(tmp_path / "known")
    strange = [Context("Ein Hund rennt.", "Er", f"springt hoch {i} {i}.", f"{i}", f"v{i}") for i in range(8)]
    endings = [f"bellt laut und {what} danach." for what in ("frisst", "schläft")]
    CandidatePool.from_texts(strange, [endings] * 8).save(tmp_path / "strange")
    known = features(FeaturesOptions(tmp_path / "known", lms=lms, workers=1))
    assert known.manifest["features_by"]["unknown_share"] < 0.25
    assert "Warning" not in capsys.readouterr().err
    made = features(FeaturesOptions(tmp_path / "strange", lms=lms, workers=1))
    share = made.manifest["features_by"]["unknown_share"]
    assert 0.5 < share < 1
    assert (
        f"Warning: {100 * share:.0f} % of the tokens of {tmp_path / 'strange'} are unknown" in capsys.readouterr().err
    )
