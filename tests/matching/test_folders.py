"""Claims about the folder of a matching: what others have there is not touched, and two matchings are not mixed."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from folders import files_of

from swag_af.cli.main import main
from swag_af.data.disk.files import read_json, write_json, write_jsonl
from swag_af.data.disk.replacing import HOST
from swag_af.data.errors import InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.matching.options import MatchingOptions, MatchOptions, SweepOptions
from swag_af.matching.sweep import dry_run as dry_run_of_sweep
from swag_af.matching.sweep import sweep
from swag_af.matching.verb import begin_work, dry_run, match
from tests.matching.test_work import made

SWEEPING = SweepOptions(sweep=(0.1, 1.0), shown=10)


@pytest.fixture
def options(tmp_path: Path) -> MatchOptions:
    rows = [
        {"id": i.context.id, "query": i.query, "response": i.response, "group": i.context.video} for i in made(240).rows
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    return MatchOptions((tmp_path / "rows.jsonl",), tmp_path / "out", MatchingOptions(relevance="tfidf", folds=3))


@pytest.mark.parametrize("name", ["work/thesis.txt", "work/identity.json", "pool/mine.txt", "notes.txt"])
def test_what_others_have_in_a_folder_is_not_touched(name: str, options: MatchOptions) -> None:
    """A folder with another's `work` was taken for ours, and that was removed at the end."""
    (options.out / name).parent.mkdir(parents=True)
    (options.out / name).write_text('["mine"]')
    swept = replace(options, sweeping=SWEEPING)
    for verb, asked in ((match, options), (dry_run, options), (sweep, swept), (dry_run_of_sweep, swept)):
        with pytest.raises(InputError, match="was not made by match"):
            verb(asked)
    with pytest.raises(SystemExit) as stopped:
        main(["match", str(options.data[0]), "--out", str(options.out), "--relevance", "tfidf", "--folds", "3"])
    assert stopped.value.code == 2
    assert files_of(options.out) == {name: b'["mine"]'}


def test_a_matching_that_was_killed_before_it_said_what_it_began_is_begun(options: MatchOptions) -> None:
    (options.out / "work").mkdir(parents=True)
    (options.out / "work" / f".identity.json.{HOST}.999999999.tmp").write_text("{")
    assert match(options).path == options.out
    assert not (options.out / "work").exists()


def test_what_a_kill_behind_the_record_leaves_is_removed(options: MatchOptions) -> None:
    match(options)
    whole = files_of(options.out)
    (options.out / "work" / "answers").mkdir(parents=True)
    match(options)
    assert files_of(options.out) == whole
    assert not (options.out / "work").exists()


@pytest.mark.parametrize("name", ["pool", "run", "rationales/pool"])
def test_a_pool_or_run_that_match_did_not_make_is_not_replaced(name: str, options: MatchOptions) -> None:
    begin_work(options.out, {"swag_af": "0"})
    contexts = [item.context for item in made(8).rows]
    pool = CandidatePool.from_texts(contexts, [["no."]] * 8).save(options.out / name)
    with pytest.raises(InputError, match=rf"{name}: this is there, and was not made by match.* Move it away"):
        match(options)
    assert CandidatePool.open(options.out / name).identity == pool.identity
    assert read_json(options.out / "work" / "identity.json") == {"swag_af": "0"}


def test_a_run_of_people_that_match_did_not_make_is_not_replaced(options: MatchOptions) -> None:
    begin_work(options.out, {"swag_af": "0", "weights": []})
    (options.out / "people" / "run").mkdir(parents=True)
    (options.out / "people" / "run" / "log.jsonl").write_text("mine")
    with pytest.raises(InputError, match=r"people/run: this is there, and was not made by match"):
        sweep(replace(options, sweeping=SWEEPING))
    assert (options.out / "people" / "run" / "log.jsonl").read_text() == "mine"


def test_a_pool_that_a_killed_matching_left_is_made_again(options: MatchOptions) -> None:
    match(options)
    whole = files_of(options.out)
    begin_work(options.out, read_json(options.out / "matched.json")["identity"])
    (options.out / "matched.json").unlink()
    (options.out / "run" / "manifest.json").unlink()
    match(options)
    assert files_of(options.out) == whole


@pytest.mark.parametrize("left", ["all", "record", "work"])
def test_a_matching_in_the_folder_of_a_sweep_is_refused_and_the_reverse(left: str, options: MatchOptions) -> None:
    swept = replace(options, sweeping=SWEEPING)
    sweep(swept)
    other = replace(options, out=options.out.with_name("other"))
    match(other)
    begin_work(other.out, read_json(other.out / "matched.json")["identity"])
    for out, record in ((swept.out, "sweep.json"), (other.out, "matched.json")):
        if left == "record":
            shutil.rmtree(out / "work")
        if left == "work":
            (out / record).unlink()
    before = files_of(swept.out), files_of(other.out)
    for verb in (match, dry_run):
        with pytest.raises(InputError, match="a sweep was begun here, and a plain matching would be mixed with it"):
            verb(replace(options, out=swept.out))
    for verb in (sweep, dry_run_of_sweep):
        with pytest.raises(InputError, match="a plain matching was begun here, and a sweep would be mixed with it"):
            verb(replace(swept, out=other.out))
    assert (files_of(swept.out), files_of(other.out)) == before


def test_questions_of_people_are_of_the_lambdas_and_the_data_that_are_asked_for(options: MatchOptions) -> None:
    """Where `work` was deleted, those of other lambdas were taken, and verdicts counted at the wrong ones."""
    swept = replace(options, sweeping=SWEEPING)
    sweep(swept)
    whole = files_of(swept.out)
    shutil.rmtree(swept.out / "work")
    kept = files_of(swept.out)
    others = replace(swept, sweeping=replace(SWEEPING, sweep=(0.5, 2.0)))
    with pytest.raises(InputError, match=r"sweep\.json: finished with other weights"):
        sweep(others)
    assert files_of(swept.out) == kept
    (swept.out / "sweep.json").unlink()
    begin_work(swept.out, {"swag_af": "0", "weights": []})
    with pytest.raises(InputError, match=r"people\.json: begun with other weights"):
        sweep(others)
    sweep(swept)
    assert files_of(swept.out) == whole
    write_jsonl(options.data[0], [{"query": i.query, "response": f"{i.response} again"} for i in made(240).rows])
    shutil.rmtree(swept.out / "work")
    with pytest.raises(InputError, match=r"sweep\.json: finished with other rows"):
        sweep(swept)


def test_questions_that_do_not_say_of_what_they_are_are_those_of_the_points(options: MatchOptions) -> None:
    swept = replace(options, sweeping=SWEEPING)
    sweep(swept)
    whose = read_json(swept.out / "people.json")
    write_json(swept.out / "people.json", {name: whose[name] for name in ("pool_identity", "weights")})
    assert len(sweep(swept)) == 2


@pytest.mark.parametrize("relevance", ["encoder", "encoder[size=8]"])
def test_too_few_rows_to_learn_relevance_from_are_told_by_a_dry_run_too(relevance: str, tmp_path: Path) -> None:
    """`--dry-run` took what `match` refused once its folder of work stood."""
    rows = [{"id": i.context.id, "query": i.query, "response": i.response} for i in made(36).rows]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    matching = MatchingOptions(relevance=relevance, folds=2, n_distractors=1)
    options = MatchOptions((tmp_path / "rows.jsonl",), tmp_path / "out", matching)
    swept = replace(options, sweeping=SWEEPING)
    for verb, asked in ((match, options), (dry_run, options), (sweep, swept), (dry_run_of_sweep, swept)):
        with pytest.raises(
            InputError, match=r"leaves 18 queries .* at least 20\. Take more --folds or --relevance tfidf"
        ):
            verb(asked)
    assert not options.out.exists()
    assert match(replace(options, matching=replace(matching, folds=3))).answers.n == 36
