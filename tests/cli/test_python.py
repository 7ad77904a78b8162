"""Claims about the verbs as functions of `swag_af`: each takes its options, returns what it made, prints nothing."""

import inspect
from pathlib import Path

import pytest
from folders import write

import swag_af
from swag_af.cli.parsing import VERBS
from swag_af.data.captions.readers import caption_rows
from swag_af.data.sample.grammar import sample_videos
from swag_af.lm.options import LMOptions

FUNCTIONS = {
    verb: f"run_{verb}" if verb in ("audit", "baselines", "filter") else verb.replace("-", "_")
    for verb in VERBS
    if verb not in ("demo", "explain", "show") and not verb.startswith("verify ")
}
"""What each verb is in Python. `demo`, `explain` and `show` only print, and `verify ...` talks with people."""


@pytest.mark.parametrize(("verb", "name"), FUNCTIONS.items())
def test_a_verb_and_its_options_are_public(verb: str, name: str) -> None:
    options = VERBS[verb][0]
    (parameter,) = inspect.signature(getattr(swag_af, name)).parameters.values()
    assert {name, options.__name__} <= set(swag_af.__all__)
    assert parameter.annotation is getattr(swag_af, options.__name__) is options


@pytest.mark.parametrize(("verb", "name"), FUNCTIONS.items())
def test_a_verb_refuses_what_is_no_options_of_its(verb: str, name: str) -> None:
    """A path, which is what a reader of the command line tries first, ended in an AttributeError."""
    for given in ("captions.json", None, swag_af.TextOptions()):
        with pytest.raises(swag_af.SwagAfError, match=rf"{name}: takes {VERBS[verb][0].__name__}, and was given a"):
            getattr(swag_af, name)(given)


def test_options_within_options_are_of_their_class() -> None:
    with pytest.raises(swag_af.SwagAfError, match="reading: a str, where ReadingOptions is due"):
        swag_af.AuditOptions(Path("a"), reading="auto")


def test_the_verbs_make_a_dataset_and_print_nothing(
    tmp_path: Path, fake_filters: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swag_af.reporting.verb.plot_run", lambda run, folder: [])
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])
    captions, contexts, lms, pool, run = (
        tmp_path / name for name in ("captions.jsonl", "c.jsonl", "lms", "pool", "run")
    )
    write(captions, caption_rows(sample_videos(40)))
    rules = swag_af.ContextRules(min_token_count=1, n_folds=2)
    size = LMOptions(hidden=24, epochs=4, batch_size=16, learning_rate=1e-2, min_count=1)

    drops = swag_af.contexts(swag_af.ContextsOptions((captions,), contexts, splitter="trees", rules=rules))
    assert drops["kept"]
    assert set(swag_af.train_lm(swag_af.TrainLMOptions(contexts, lms, lm=size))) == {0, 1}
    generate = swag_af.GenerateOptions(contexts, lms, pool, n_negatives=7, limit=12, features="lazy", lm=size)
    assert len(swag_af.generate(generate)) == 12
    assert not swag_af.features(swag_af.FeaturesOptions(pool)).missing_features().any()
    assert swag_af.tag(swag_af.TagOptions(pool, "none")).vocabulary.tags is None
    options = swag_af.AFOptions(iterations=2, n_negatives=3)
    made = swag_af.run_filter(swag_af.FilterOptions(pool, run, "hash:2", audit="none", af=options))
    assert made.n_finished == 2
    _, findings = swag_af.audit_of_run(swag_af.AuditOptions((run,), filters="feature", folds=2))
    assert [finding.iteration for finding in findings] == [0, 2]
    assert swag_af.report(swag_af.ReportOptions(run)) == run / "report.html"
    dataset = swag_af.release(swag_af.ReleaseOptions(run, tmp_path / "dataset", audit="none"))
    assert len(dataset.questions) == 12
    assert capsys.readouterr().out == ""


def test_endings_of_a_file_become_a_pool_and_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "mine.jsonl"
    rows = [{"sent1": f"It rains {i}.", "start": "He", "gold": "runs.", "negatives": ["sits."]} for i in range(3)]
    write(source, rows)
    assert len(swag_af.pool(swag_af.PoolOptions((source,), tmp_path / "pool"))) == 3
    assert capsys.readouterr().out == ""
