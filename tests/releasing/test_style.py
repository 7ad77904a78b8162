"""Claims about what a dataset says of style: what was measured on its own questions, and nothing more."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import FeatureFilter, HashFilter, make_contexts_of, make_pool
from judged import judged_options, make_run

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing import diagnostics
from swag_af.cli.options import ShowOptions
from swag_af.cli.showing.show import show
from swag_af.data.disk.manifests import read_manifest
from swag_af.data.errors import InputError
from swag_af.data.numbers.interval import CROSS_VALIDATED
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.runs.findings import Finding
from swag_af.data.runs.run import Run, open_run
from swag_af.filters import registry
from swag_af.filters.registry import DEFAULT_AUDIT
from swag_af.releasing.cards.style import NOBODY, style_in_short, style_lines
from swag_af.releasing.dataset import Dataset
from swag_af.releasing.options import ReleaseOptions
from swag_af.releasing.style import Style
from swag_af.releasing.verb import release


@pytest.fixture(autouse=True)
def plain(fake_filters: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes by name, and no curves."""
    monkeypatch.setattr("swag_af.releasing.verb.plot_run", lambda run, folder: [])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two iterations on 60 contexts of ten videos."""
    return make_run(tmp_path_factory.mktemp("runs"))


def released(run: Run, folder: Path, **changes) -> tuple[Dataset, str]:
    """The dataset and its card."""
    dataset = release(ReleaseOptions(run.path, folder / "dataset", **{"audit": "feature,hash", **changes}))
    return dataset, (folder / "dataset" / "README.md").read_text()


def test_the_questions_are_measured_as_they_are_released(run: Run, tmp_path: Path, monkeypatch) -> None:
    seen: dict[int, tuple[str, ...]] = {}

    class Watched(HashFilter):
        def score(self, view):
            seen.update(zip(view.rows.tolist(), map(tuple, view.texts), strict=True))
            return super().score(view)

    monkeypatch.setattr("swag_af.filters.prepare.make_filter", lambda name: Watched())
    dataset, _ = released(run, tmp_path)
    assert {row: (texts[0], set(texts[1:])) for row, texts in seen.items()} == {
        q.example.row: (q.answer, set(q.endings) - {q.answer}) for q in dataset.questions
    }


def test_no_group_is_fitted_on_and_scored_by_the_same_fit(run: Run, tmp_path: Path, monkeypatch) -> None:
    rows: list[set[int]] = []

    class Watched(HashFilter):
        def fit(self, view, *, rng):
            rows.append(set(view.rows.tolist()))
            super().fit(view, rng=rng)

        def score(self, view):
            rows.append(set(view.rows.tolist()))
            return super().score(view)

    monkeypatch.setattr("swag_af.filters.prepare.make_filter", lambda name: Watched())
    dataset = release(replace(judged_options(run, tmp_path), audit="hash"))
    assert dataset.n_generated  # second examples stay with their firsts
    group = {q.example.row: g for q, g in zip(dataset.questions, dataset.groups, strict=True)}
    for fitted, scored in zip(rows[::2], rows[1::2], strict=True):
        assert not {group[row] for row in fitted} & {group[row] for row in scored}


def test_card_manifest_terminal_and_show_say_the_same(run: Run, tmp_path: Path) -> None:
    dataset, card = released(run, tmp_path)
    kept = read_manifest(tmp_path / "dataset", "dataset")["audits"]
    assert [one["filter"] for one in kept["findings"]] == ["feature", "hash"]
    assert "hits" not in json.dumps(kept)
    assert kept["summary"] == style_in_short(run, dataset.style)
    assert kept["summary"] in card
    assert kept["summary"] in show(ShowOptions(tmp_path / "dataset"))
    for one in kept["findings"]:
        assert one["chance"] == 0.25
        assert f"{one['accuracy']:.3f}" in card
        assert f"{one['accuracy']:.3f}" in "\n".join(style_lines(run, dataset.style))


def test_a_filter_whose_kind_took_part_is_marked(run: Run, tmp_path: Path) -> None:
    _, card = released(run, tmp_path)
    assert "| hash (took part) |" in card
    assert "| feature |" in card


def test_the_card_claims_no_result_of_filtering(run: Run, tmp_path: Path) -> None:
    _, card = released(run, tmp_path)
    assert "does not give the right one away" not in card


def of_accuracy(accuracy: float) -> Finding:
    return Finding(None, "fresh", accuracy, accuracy - 0.04, accuracy + 0.04, 0.25, 100, 50, 5, 0, (25.0,) * 4)


CASES = {
    "above": ((0.4, 0.25), "style still gives some of the answers away"),
    "not told": ((0.25, 0.26), "no more than that is known"),
    "below": ((0.1, 0.25), "Below chance is a finding too"),
}


@pytest.mark.parametrize(("found", "said"), CASES.values(), ids=CASES.keys())
def test_the_summary_says_what_was_found_and_not_the_others(run: Run, found: tuple[float, ...], said: str) -> None:
    summary = style_in_short(run, Style(tuple(map(of_accuracy, found))))
    assert said in summary
    assert not [other for _, other in CASES.values() if other != said and other in summary]


def test_who_asks_for_none_is_told_that_nobody_measured(run: Run, tmp_path: Path) -> None:
    dataset, card = released(run, tmp_path, audit="none")
    assert f"{NOBODY}: no filter was asked for" in card.partition("\n## ")[0]
    assert NOBODY in "\n".join(style_lines(run, dataset.style))


def test_what_was_not_asked_is_listed_and_people_are_among_it_only_where_nobody_judged(
    run: Run, tmp_path: Path
) -> None:
    _, card = released(run, tmp_path)
    assert "* what pretrained models find" in card
    assert "* whether people can answer these questions at all." in card
    release(replace(judged_options(run, tmp_path), audit="hash"))
    judged = (tmp_path / "kitchen" / "README.md").read_text()
    assert "* what pretrained models find" in judged
    assert "whether people can answer" not in judged


def small_run(folder: Path, n: int, n_videos: int) -> Run:
    contexts = make_contexts_of(n, n_videos=n_videos)
    negatives = [[f"sees {k} birds and {i} trees." for k in range(8)] for i in range(n)]
    CandidatePool.from_texts(contexts, negatives, tagger="rules").save(folder / "pool")
    options = AFOptions(iterations=1, n_negatives=4, test_share=0.4, split_by="context")
    filter_pool(CandidatePool.open(folder / "pool"), HashFilter(), options, out=folder / "run")
    return open_run(folder / "run")


@pytest.mark.parametrize(("n", "n_videos"), [(30, 1), (6, 6)])
def test_a_set_too_small_to_be_measured_is_said_so(tmp_path: Path, n: int, n_videos: int) -> None:
    _, card = released(small_run(tmp_path, n, n_videos), tmp_path, audit="hash")
    assert f"{n} questions in {n_videos} groups are too few" in card


def test_a_set_of_few_groups_is_measured_as_an_audit_measures_it(tmp_path: Path) -> None:
    """Of 4 groups the card said that style cannot be measured, and `audit` of the same file measured it."""
    dataset, card = released(small_run(tmp_path, 30, 4), tmp_path, audit="hash")
    assert [(one.n_groups, one.n_folds) for one in dataset.style.findings] == [(4, 4)]
    assert "fitted on all but one of 4 parts of the groups" in card
    assert "With 4 groups only large effects can be found." in card


class Packageless(HashFilter):
    """Cannot be fitted where its package is not installed."""

    def check(self) -> None:
        raise InputError("its package is not installed. Install it with: pip install it")


def test_a_default_filter_that_cannot_be_had_is_left_out_with_a_note(run: Run, tmp_path: Path, monkeypatch) -> None:
    for name in DEFAULT_AUDIT:
        monkeypatch.setitem(registry.FILTERS, name, "conftest:FeatureFilter")
    monkeypatch.setitem(registry.FILTERS, DEFAULT_AUDIT[-1], "test_style:Packageless")
    dataset, card = released(run, tmp_path, audit=ReleaseOptions(Path("run")).audit)
    assert len(dataset.style.findings) == len(DEFAULT_AUDIT) - 1
    assert f"`{DEFAULT_AUDIT[-1]}` was left out: its package is not installed" in card
    assert "was left out: its package" in "\n".join(style_lines(run, dataset.style))


@pytest.mark.parametrize("names", ["hahs", "hash,packageless", "hash,,hash"])
def test_a_filter_named_by_hand_that_cannot_be_had_is_refused_before_any_work(
    run: Run, tmp_path: Path, monkeypatch, names: str
) -> None:
    monkeypatch.setitem(registry.FILTERS, "packageless", "test_style:Packageless")
    monkeypatch.setattr("swag_af.releasing.verb.assemble", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(InputError):
        released(run, tmp_path, audit=names)
    assert not (tmp_path / "dataset").exists()


def test_a_signal_that_the_released_questions_hold_is_found(tmp_path: Path) -> None:
    pool = make_pool(n=60)
    features = pool.gather("features", np.arange(len(pool))).copy()
    features[:, 0] += 3
    pool._shards[0]._arrays["features"] = features
    pool.save(tmp_path / "pool")
    options = AFOptions(iterations=1, n_negatives=5)
    made = filter_pool(CandidatePool.open(tmp_path / "pool"), HashFilter(), options, out=tmp_path / "run")
    dataset, card = released(made, tmp_path, audit="feature")
    assert dataset.style.findings[0].low > 0.4
    assert "style still gives some of the answers away" in card
    assert FeatureFilter.name in card


def test_the_card_says_why_an_audit_by_its_groups_has_other_values(run: Run, tmp_path: Path) -> None:
    """Nothing said so, and `audit` of the released files differed from the card by its folds."""
    _, card = released(run, tmp_path)
    said = card.partition("--video-column group` ")[2]
    assert said.startswith("goes by the groups above, and draws folds of its own, so that its values differ by luck.")


def test_the_card_has_the_interval_that_an_audit_of_the_dataset_has(run: Run, tmp_path: Path) -> None:
    """It was narrower by a third, for the same probes of the same questions."""
    dataset, card = released(run, tmp_path, audit="hash")
    (found,) = dataset.style.findings
    groups = np.array(dataset.groups)
    hits, chance = np.array(found.hits), np.full(len(groups), 0.25)
    probed = diagnostics.of_accuracy("AF101", "hash", hits, chance, groups, said="", times=CROSS_VALIDATED)
    assert (found.low, found.high) == pytest.approx((probed.low, probed.high), abs=1e-4)
    assert "and for fits that share most of what they learn from." in card
