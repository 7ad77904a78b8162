"""Claims about `guard`: what it writes, what it asks, how it goes on, and that runs keep to it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import HashFilter, make_pool
from folders import files_of

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.cli.main import main
from swag_af.data.context import Context
from swag_af.data.errors import ContractError, ExhaustedError, InputError
from swag_af.data.pool.folder import FEATURES, GUARD_TABLES
from swag_af.data.pool.guarded import counts_before, guard_counts, guard_rows, guards_of, marks
from swag_af.data.pool.options import TagOptions
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.recount import recounted
from swag_af.data.pool.view import View
from swag_af.data.pooling.verb import tag
from swag_af.data.runs.run import open_run
from swag_af.endpoints.options import EndpointOptions
from swag_af.guarding import scoring
from swag_af.guarding.checking import check_guard
from swag_af.guarding.contract import GUARDS
from swag_af.guarding.likelihood import LikelihoodGuard
from swag_af.guarding.options import GuardOptions
from swag_af.guarding.verb import WORK, guard, guard_estimate
from swag_af.guarding.words import WordsGuard

OPTIONS = AFOptions(iterations=6, n_negatives=3)


class EvenGuard:
    """Marks every candidate with an even number; counts what it is asked."""

    name: ClassVar[str] = "even"
    threshold: ClassVar[float] = 1.0
    about: ClassVar[str] = "has an even number"
    asked: ClassVar[list[tuple[int, int]]] = []
    killed_after: ClassVar[int | None] = None

    def score(self, view: View) -> np.ndarray:
        if self.killed_after is not None and len(self.asked) >= self.killed_after:
            raise KeyboardInterrupt
        rows = np.broadcast_to(view.rows[:, None], view.columns.shape)
        self.asked.extend(zip(rows.ravel().tolist(), view.columns.ravel().tolist(), strict=True))
        return (view.columns % 2 == 0).astype(np.float64)


@pytest.fixture(autouse=True)
def even(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard `even` has a name; blocks are small."""
    ours = dict(GUARDS.ours) | {"even": "test_guard:EvenGuard"}
    monkeypatch.setitem(vars(GUARDS), "ours", ours)
    monkeypatch.setattr(scoring, "BLOCK_CANDIDATES", 64)
    monkeypatch.setattr(EvenGuard, "asked", [])


@pytest.fixture(scope="module")
def pool_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The usual pool, with the names that features of language models have; not to be changed."""
    folder = tmp_path_factory.mktemp("pools") / "pool"
    pool = make_pool()
    pool.save(folder, changes={"feature_names": list(FEATURES)})
    return folder


@pytest.fixture
def folder(pool_folder: Path, tmp_path: Path) -> Path:
    """A copy of the pool."""
    return Path(shutil.copytree(pool_folder, tmp_path / "pool"))


def even_flags(pool: CandidatePool) -> np.ndarray:
    """(N, K) the slow and obvious: even, there, and not gold."""
    return np.array([[k > 0 and k % 2 == 0 and k < n for k in range(pool.n_candidates)] for n in pool.counts])


@pytest.mark.parametrize("make", [WordsGuard, LikelihoodGuard])
def test_our_guards_keep_the_contract(make: Callable[[], Any]) -> None:
    check_guard(make)


class Broken:
    name, threshold = "broken", 0.5

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def score(self, view: View) -> np.ndarray:
        made = (view.columns + view.rows[:, None]).astype(np.float64)
        if self.fault == "nan":
            made[0, 0] = np.nan
        if self.fault == "company":
            made += view.columns.size
        if self.fault == "alone" and made.size > 1:
            made += 1
        if self.fault == "random":
            made += np.random.default_rng().random()
        if self.fault == "position":
            made += np.arange(made.shape[1])
        return made[0] if self.fault == "shape" else made


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("nan", "finite"),
        ("shape", "48 x 5"),
        ("company", "among fewer"),
        ("alone", "scored alone"),
        ("random", "sentence 3"),
        ("position", "permuting"),
    ],
)
def test_a_guard_that_breaks_a_sentence_is_told_which(fault: str, said: str) -> None:
    check_guard(Broken)
    with pytest.raises(ContractError, match=said):
        check_guard(lambda: Broken(fault))


class Raising:
    """A mistake while it scores."""

    name, threshold = "raising", 0.5

    def score(self, view: View) -> np.ndarray:
        raise KeyError("boom")


class TwoTables:
    """Wants other things than a view."""

    name, threshold = "two-tables", 0.5

    def score(self, contexts: Any, endings: Any) -> np.ndarray:
        return np.zeros(1)


class Nameless:
    """No guard at all."""


MISTAKES = {
    "Raising": "its score raised KeyError .'boom'.. `swag_af.check_guard`",
    "TwoTables": "its score raised TypeError .*missing 1 required positional argument.*check_guard",
    "Nameless": "a Nameless has no text `name`, no number `threshold`, no method `score`. `check_guard`",
}


@pytest.mark.parametrize(("name", "said"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_in_a_guard_of_the_users_is_one_line(folder: Path, name: str, said: str) -> None:
    before = files_of(folder)
    with pytest.raises(ContractError, match=said) as raised:
        guard(GuardOptions(folder, by=f"test_guard:{name}"))
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)
    assert files_of(folder) == before


class Unfit:
    """A guard but for one attribute."""

    name: ClassVar[Any] = "unfit"
    threshold: ClassVar[Any] = 0.5
    fault: ClassVar[str] = ""

    def score(self, view: View) -> np.ndarray:
        return np.zeros(view.shape)


UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "about none": ({"about": None}, "an `about` that is no text, but None"),
    "about a number": ({"about": 3}, "an `about` that is no text, but 3"),
    "no name": ({"name": None}, "no text `name`"),
    "two lines": ({"name": "a\nb"}, "a `name` that nobody can read"),
    "threshold nan": ({"threshold": float("nan")}, "no finite `threshold`, but nan"),
    "threshold a text": ({"threshold": "0.5"}, "no number `threshold`"),
    "excludes a text": ({"excludes": "no"}, "an `excludes` that is not True or False, but 'no'"),
    "requires a text": ({"requires": "features"}, "a `requires` 'features', where names of tables are due"),
    "settings": ({"settings": lambda self: {"a": object()}}, "its setting 'a' cannot be kept"),
    "settings nan": ({"settings": lambda self: {"a": [float("nan")]}}, "its setting 'a' cannot be kept"),
    "settings raise": ({"settings": lambda self: {}["a"]}, r"settings raised KeyError"),
    "who answers": ({"answered_by": lambda self: None}, r"Unfit.answered_by\(\) is None, where a dict is due"),
    "who answers raises": ({"answered_by": lambda self: {}["a"]}, r"answered_by raised KeyError"),
}


@pytest.mark.parametrize(("attributes", "said"), UNFIT.values(), ids=UNFIT)
def test_what_no_manifest_can_keep_of_a_guard_is_told_before_any_work(
    folder: Path, attributes: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good pool was left with a manifest that no verb could read."""
    for name, value in attributes.items():
        monkeypatch.setattr(Unfit, name, value, raising=False)
    before = files_of(folder)
    with pytest.raises(ContractError, match=said):
        guard(GuardOptions(folder, by="test_guard:Unfit"))
    assert files_of(folder) == before
    with pytest.raises(ContractError, match=said):
        check_guard(Unfit)


def test_a_threshold_of_numpy_is_a_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unfit, "threshold", np.float32(0.5))
    check_guard(Unfit)
    assert guard(GuardOptions(folder, by="test_guard:Unfit")).manifest["guards"][0]["threshold"] == 0.5


class Unsaid(Unfit):
    def score(self, view: View) -> np.ndarray:
        return view.features[..., 0].astype(np.float64)


def test_check_guard_tells_what_a_class_lacks_and_what_it_raises() -> None:
    with pytest.raises(ContractError, match="Unsaid reads features, which not every pool has"):
        check_guard(Unsaid)
    with pytest.raises(ContractError, match="no method `score`"):
        check_guard(Nameless)
    with pytest.raises(ContractError, match=r"Raising\.score raised KeyError"):
        check_guard(Raising)


def test_every_candidate_is_asked_about_once_and_flagged_as_it_should_be(folder: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    np.testing.assert_array_equal(made.flagged(np.arange(len(made))), even_flags(made))
    negatives = [pair for pair in EvenGuard.asked if pair[1]]
    assert len(negatives) == len(set(negatives)) == made.counts.sum() - len(made)
    assert not (folder / WORK).exists()
    np.testing.assert_array_equal(made.n_eligible, made.counts - even_flags(made).sum(axis=1))


def test_gold_and_what_is_not_there_have_no_score(folder: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    scores = made.gather("guard_scores", np.arange(len(made)))[:, :, 0]
    there = (np.arange(made.n_candidates) > 0) & (np.arange(made.n_candidates) < made.counts[:, None])
    np.testing.assert_array_equal(np.isfinite(scores), there)


def test_none_gives_the_pool_back_as_it_was(folder: Path) -> None:
    before = CandidatePool.open(folder)
    guarded = guard(GuardOptions(folder, "even"))
    assert guarded.identity != before.identity == guarded.unguarded_identity
    after = guard(GuardOptions(folder, "none"))
    assert (after.identity, after.tables) == (before.identity, before.tables)
    assert not list(folder.rglob("flagged.npy"))


def test_a_saved_copy_has_the_same_identity(folder: Path, tmp_path: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    copy = made.save(tmp_path / "copy")
    assert (copy.identity, copy.unguarded_identity) == (made.identity, made.unguarded_identity)
    out = guard(GuardOptions(folder, "even", out=tmp_path / "out"))
    assert (out.identity, out.unguarded_identity) == (made.identity, made.unguarded_identity)


def test_killed_and_run_again_it_asks_nothing_twice_and_ends_with_the_same_bytes(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = Path(shutil.copytree(folder, tmp_path / "straight"))
    guard(GuardOptions(straight, "even"))
    n_asked = len(EvenGuard.asked)  # the first gold once more, before any work
    EvenGuard.asked.clear()
    monkeypatch.setattr(EvenGuard, "killed_after", n_asked // 2)
    with pytest.raises(KeyboardInterrupt):
        guard(GuardOptions(folder, "even"))
    assert CandidatePool.open(folder).tables == CandidatePool.open(straight).tables[: -len(GUARD_TABLES)]
    monkeypatch.setattr(EvenGuard, "killed_after", None)
    guard(GuardOptions(folder, "even"))
    assert len(EvenGuard.asked) == n_asked + 1
    assert files_of(folder) == files_of(straight)


def test_killed_before_the_manifest_it_ends_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard(GuardOptions(folder, "even"))
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    guard(GuardOptions(other, "even,words"))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(CandidatePool, "write_arrays", stop)
        guard(GuardOptions(folder, "even,words"))
    EvenGuard.asked.clear()
    guard(GuardOptions(folder, "even,words"))
    assert EvenGuard.asked == [(0, 0)]
    assert files_of(folder) == files_of(other)


def test_a_kill_between_the_last_steps_forgets_nothing_that_was_asked_before(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first run assigns was flagged; the second command, killed and run again, knew its own run alone."""
    pool = CandidatePool.open(folder)
    for seed in (0, 1):
        filter_pool(pool, HashFilter(), replace(OPTIONS, seed=seed), out=tmp_path / f"run-{seed}")
    guard(GuardOptions(folder, "even", only_assigned=tmp_path / "run-0"))
    before = Path(shutil.copytree(folder, tmp_path / "before"))
    second = GuardOptions(folder, "even", only_assigned=tmp_path / "run-1")
    whole = guard(second)
    expected = files_of(folder)
    assert whole.flagged(np.arange(len(whole))).sum() > CandidatePool.open(before).flagged(np.arange(len(pool))).sum()

    for step in ("write_arrays", "with_tables"):
        shutil.rmtree(folder)
        shutil.copytree(before, folder)
        original, calls = getattr(CandidatePool, step), []

        def stop(self: CandidatePool, *given: Any, original: Any = original, calls: list[Any] = calls) -> Any:
            calls.append(given)
            if len(calls) == 2 or original.__name__ == "write_arrays":
                raise KeyboardInterrupt
            return original(self, *given)

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(CandidatePool, step, stop)
            guard(second)
        assert "flagged" not in CandidatePool.open(folder).tables
        guard(second)
        assert files_of(folder) == expected


def test_what_another_command_adds_meanwhile_is_not_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard that ended while candidates were tagged was gone, and nobody said so; and the other way round."""
    stale = CandidatePool.open(folder)
    guard(GuardOptions(folder, "even"))
    with pytest.raises(InputError, match="another command has changed this pool meanwhile"):
        stale.with_tables(stale.tables, {})

    def meanwhile(*_: object, **__: object) -> None:
        tag(TagOptions(folder, "rules", in_context=True))

    with monkeypatch.context() as patched, pytest.raises(InputError, match="another process is at work"):
        patched.setattr("swag_af.guarding.verb.score_all", meanwhile)
        guard(GuardOptions(folder, "words"))


def test_other_thresholds_and_more_guards_ask_no_candidate_again(folder: Path) -> None:
    guard(GuardOptions(folder, "even"))
    EvenGuard.asked.clear()
    made = guard(GuardOptions(folder, "likelihood,even", "even=2"))
    assert EvenGuard.asked == [(0, 0)]
    assert not made.flagged(np.arange(len(made))).any()
    assert [one["name"] for one in guards_of(made)] == ["likelihood", "even"]


def test_settings_are_those_that_a_manifest_gives_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tuple came back as a list, so all was asked again."""
    monkeypatch.setattr(EvenGuard, "settings", lambda self: {"words": ("a", "b")}, raising=False)
    guard(GuardOptions(folder, "even"))
    EvenGuard.asked.clear()
    guard(GuardOptions(folder, "even", "even=2"))
    assert EvenGuard.asked == [(0, 0)]  # gold, to see that it keeps its contract


def test_processes_make_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    guard(GuardOptions(folder, "words,likelihood"))
    guard(GuardOptions(other, "words,likelihood", workers=2))
    assert files_of(folder) == files_of(other)


class Answered(EvenGuard):
    """Stands for what answers behind an address, which it knows once it was checked."""

    name: ClassVar[str] = "answered"

    def check(self) -> None:
        self.found = "one"

    def answered_by(self) -> dict[str, str]:
        return {"model": self.found}


def test_processes_are_told_who_answers_and_do_not_ask(folder: Path, tmp_path: Path) -> None:
    """Each asked a guard of its own, which nobody had checked, and what it raised ended the guarding."""
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    check_guard(Answered)
    made = guard(GuardOptions(folder, "test_guard:Answered"))
    guard(GuardOptions(other, "test_guard:Answered", workers=2))
    assert guards_of(made)[0]["settings"]["answered_by"] == {"model": "one"}
    assert files_of(folder) == files_of(other)


def test_no_run_assigns_what_is_flagged(folder: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    run = filter_pool(made, HashFilter(), OPTIONS)
    assert sum(map(len, run.replacements))
    for iteration in range(run.n_finished + 1):
        assert not np.take_along_axis(even_flags(made), run.assignment(iteration).astype(np.int64), axis=1).any()


def test_a_table_without_a_flag_changes_no_byte_of_a_run(folder: Path, pool_folder: Path, tmp_path: Path) -> None:
    guard(GuardOptions(folder, "even", "even=2"))
    for name, place in (("plain", pool_folder), ("guarded", folder)):
        filter_pool(CandidatePool.open(place), HashFilter(), OPTIONS, out=tmp_path / name)
    plain, guarded = (files_of(tmp_path / name) for name in ("plain", "guarded"))
    changing = {"manifest.json", "timing.jsonl"}
    assert {k: v for k, v in plain.items() if k not in changing} == {
        k: v for k, v in guarded.items() if k not in changing
    }
    assert "ignore_guard" not in json.loads(plain["manifest.json"])["options"]


def test_a_run_that_ignores_the_guard_is_that_of_the_pool_without_it(folder: Path, pool_folder: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    ignoring = filter_pool(made, HashFilter(), replace(OPTIONS, ignore_guard=True))
    plain = filter_pool(CandidatePool.open(pool_folder), HashFilter(), OPTIONS)
    np.testing.assert_array_equal(ignoring.assignment(), plain.assignment())


def test_a_run_from_before_the_guard_is_read_and_not_gone_on_with(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    before = filter_pool(CandidatePool.open(folder), HashFilter(), OPTIONS, out=out).assignment()
    made = guard(GuardOptions(folder, "even"))
    np.testing.assert_array_equal(open_run(out).assignment(), before)
    for ignore in (False, True):
        with pytest.raises(InputError, match="before `swag-af guard`"):
            filter_pool(made, HashFilter(), replace(OPTIONS, iterations=9, ignore_guard=ignore), out=out)


def test_a_guarded_run_is_read_under_another_guard_and_resumed_under_its_own(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    filter_pool(guard(GuardOptions(folder, "even")), HashFilter(), OPTIONS, out=out)
    with pytest.raises(InputError, match="ignore_guard"):
        options = replace(OPTIONS, ignore_guard=True)
        filter_pool(CandidatePool.open(folder), HashFilter(), options, out=out)
    guard(GuardOptions(folder, "words"))
    assert open_run(out).n_finished == 6
    again = filter_pool(guard(GuardOptions(folder, "even")), HashFilter(), replace(OPTIONS, iterations=8), out=out)
    assert again.n_finished == 8


def test_rows_with_too_little_left_are_named_or_left_out_and_counted(folder: Path, tmp_path: Path) -> None:
    made = guard(GuardOptions(folder, "even"))
    enough = np.flatnonzero(made.n_eligible > 7)
    assert 0 < len(enough) < len(made)
    with pytest.raises(ExhaustedError, match="flagged ones"):
        filter_pool(made, HashFilter(), replace(OPTIONS, n_negatives=7))
    kept = guard(GuardOptions(folder, "even", out=tmp_path / "kept", min_negatives=7))
    assert [context.id for context in kept.contexts] == [made.contexts[row].id for row in enough.tolist()]
    assert kept.manifest["rows_dropped_by_guards"] == len(made) - len(enough)
    assert counts_before(kept) == guard_counts(made) != guard_counts(kept)
    for new, old in enumerate(enough.tolist()):
        texts = ([pool.text(row, k) for k in range(made.counts[old])] for pool, row in ((kept, new), (made, old)))
        assert next(texts) == next(texts)
    np.testing.assert_array_equal(kept.flagged(np.arange(len(kept))), made.flagged(enough))
    kept.check_tables()
    kept.check_hashes()
    again = CandidatePool.from_grouped_texts(
        kept.contexts,
        [[kept.text(row, k) for k in range(1, int(n))] for row, n in enumerate(kept.counts)],
        kept.groups,
    )
    for counted in ("shared_texts", "surface"):
        assert kept.manifest[counted] == again.manifest[counted]
    filter_pool(kept, HashFilter(), replace(OPTIONS, n_negatives=7))
    with pytest.raises(ExhaustedError, match="no row has 99"):
        guard(GuardOptions(folder, "even", out=tmp_path / "none", min_negatives=99))
    assert not (tmp_path / "none").exists()


def test_a_copy_of_rows_that_were_kept_counts_by_its_own_guards(folder: Path, tmp_path: Path) -> None:
    """Other guards were told beside the counts of those before: wrong figures, or an IndexError."""
    kept = guard(GuardOptions(folder, "even,words", out=tmp_path / "kept", min_negatives=7))
    n_dropped = kept.manifest["rows_dropped_by_guards"]
    again = guard(GuardOptions(tmp_path / "kept", "words", out=tmp_path / "again"))
    assert counts_before(again) is None
    assert again.manifest["rows_dropped_by_guards"] == n_dropped
    fewer = guard(GuardOptions(tmp_path / "kept", "even", out=tmp_path / "fewer", min_negatives=8))
    assert fewer.manifest["rows_dropped_by_guards"] == n_dropped + len(kept) - len(fewer) > n_dropped


def test_what_is_counted_over_all_rows_is_counted_again_for_those_that_are_left(tmp_path: Path) -> None:
    """Rows without a recycled gold were warned of those that had gone."""
    golds = [f"goes {place} ." for place in ("home", "up", "down", "out", "away", "back")]
    contexts = [Context(f"Room {i} is seen .", "He", gold, video=f"v{i}") for i, gold in enumerate(golds)]
    negatives = [[f"sings song {k} of {i} ." for k in range(1, 5)] for i in range(6)]
    negatives[1][0], negatives[2][1] = golds[2], golds[1]
    pool = CandidatePool.from_texts(contexts, negatives)
    assert pool.manifest["shared_texts"]["n_golds_among_negatives"] == 2
    of_all = recounted(pool, np.arange(6))
    assert of_all == {name: pool.manifest[name] for name in ("shared_texts", "surface")}
    left = np.array([0, 3, 4, 5])
    assert recounted(pool, left)["shared_texts"]["n_golds_among_negatives"] == 0
    saved = pool.save(tmp_path / "left", rows=left)
    assert not {"shared_texts", "surface"} & set(saved.manifest)


def test_a_folder_of_others_beside_the_copy_is_left_alone(folder: Path, tmp_path: Path) -> None:
    """Scores wait in it, and it is removed in the end."""
    notes = tmp_path / f"kept.{WORK}" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    for _ in range(2):
        with pytest.raises(InputError, match=r"kept\.guarding: this is there, and was not made by guard"):
            guard(GuardOptions(folder, "even", out=tmp_path / "kept"))
        assert notes.read_text() == "mine"
        (tmp_path / "kept").mkdir(exist_ok=True)
    assert not list((tmp_path / "kept").iterdir())


def test_only_what_a_run_assigns_is_asked_about(folder: Path, tmp_path: Path) -> None:
    run = filter_pool(CandidatePool.open(folder), HashFilter(), OPTIONS, out=tmp_path / "run")
    made = guard(GuardOptions(folder, "even", only_assigned=tmp_path / "run"))
    assigned = {(row, int(k)) for row, columns in enumerate(run.assignment()) for k in columns}
    assert set(EvenGuard.asked) == assigned
    counts = guard_counts(made)
    assert counts is not None
    assert counts.guards[0].n_asked == run.assignment()[:, 1:].size
    EvenGuard.asked.clear()
    again = guard(GuardOptions(folder, "even"))
    assert not assigned & {(row, k) for row, k in EvenGuard.asked if k}  # what is known is not asked again
    assert (again.flagged(np.arange(len(again))) == even_flags(again)).all()


def test_what_says_how_a_server_is_asked_is_refused_where_none_is(folder: Path) -> None:
    options = GuardOptions(folder, "words,even", endpoint=EndpointOptions(model="m", concurrency=2))
    with pytest.raises(InputError, match=r"^--model, --concurrency: no guard of --by asks a server"):
        guard(options)


def test_a_run_of_another_pool_is_refused(folder: Path, tmp_path: Path) -> None:
    filter_pool(make_pool(3), HashFilter(), OPTIONS, out=tmp_path / "run")
    with pytest.raises(InputError, match="--only-assigned"):
        guard(GuardOptions(folder, "even", only_assigned=tmp_path / "run"))


def test_likelihood_marks_the_likelier_and_keeps_none_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = guard(GuardOptions(folder, "likelihood", "likelihood=0.5"))
    rows, columns = np.arange(len(made)), np.tile(np.arange(made.n_candidates), (len(made), 1))
    first = made.gather("features", rows)[:, :, 0]
    there = (columns > 0) & (columns < made.counts[:, None])
    np.testing.assert_array_equal(marks(made, rows, columns)[:, :, 0], there & (first[:, :1] - first >= 0.5))
    assert not made.flagged(rows).any()
    assert "giveaway" not in capsys.readouterr().err
    assert guard(GuardOptions(folder, "likelihood", exclude="likelihood")).flagged(rows).any()
    assert "giveaway" in capsys.readouterr().err


def test_counts_are_those_of_a_slow_loop(folder: Path) -> None:
    made = guard(GuardOptions(folder, "even,likelihood"))
    scores, flagged = (made.gather(name, np.arange(len(made))) for name in ("guard_scores", "flagged"))
    pairs = [(row, k) for row in range(len(made)) for k in range(1, int(made.counts[row]))]
    counts = guard_counts(made)
    assert counts is not None
    assert (counts.n, counts.n_flagged) == (len(pairs), sum(bool(flagged[pair]) for pair in pairs))
    for i, one in enumerate(counts.guards):
        assert one.n_marked == sum(bool(scores[row, k, i] >= one.threshold) for row, k in pairs)
    assert guard_rows({"of the pool": counts})[-1][0] == "flagged"
    assert guard_counts(make_pool()) is None


def test_a_dry_run_says_how_many_and_writes_nothing(folder: Path) -> None:
    before = files_of(folder)
    (one,) = guard_estimate(GuardOptions(folder, "words"))
    pool = CandidatePool.open(folder)
    assert (one.name, one.n) == ("words", pool.counts.sum() - len(pool))
    assert one.seconds > 0
    assert files_of(folder) == before
    guard(GuardOptions(folder, "words"))
    assert guard_estimate(GuardOptions(folder, "words"))[0].n == 0


BAD = {
    "no such guard": (("--by", "wrds"), "no guard 'wrds'. Did you mean words?"),
    "a threshold of another": (("--thresholds", "nli=0.5"), "nli is none of the guards words"),
    "no number": (("--thresholds", "words"), "'words' is not NAME=NUMBER"),
    "not a number": (("--thresholds", "words=nan"), "is no finite number"),
    "a threshold twice": (("--thresholds", "words=0.6, words=0.9"), "words is there twice"),
    "no end": (("--thresholds", "words=inf"), "is no finite number"),
    "beyond a share": (("--thresholds", "words=7"), "its scores are from 0 to 1, so it would mark nothing"),
    "excluded but not asked": (("--exclude", "likelihood"), "likelihood is none of the guards"),
    "rows left out in place": (("--min-negatives", "3"), "--min-negatives: with --out"),
    "no model": (("--by", "nli[absent]"), "absent"),
    "no folder named": (("--by", "nli"), "nli[path/to/model]"),
    "twice": (("--by", "words,words"), "repeated"),
    "nothing to remove from a copy": (("--by", "none", "--out", "x"), "without --out"),
    "nothing to keep out": (("--by", "none", "--exclude", "words"), "without --exclude"),
    "nothing to ask about": (("--by", "none", "--only-assigned", "run"), "without --only-assigned"),
}


@pytest.mark.parametrize(("flags", "said"), BAD.values(), ids=BAD.keys())
def test_bad_options_are_one_line_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], said: str
) -> None:
    before = files_of(folder)
    with pytest.raises(SystemExit) as stopped:
        main(["guard", str(folder), *flags])
    err = capsys.readouterr().err
    assert (stopped.value.code, err.count("\n")) == (2, 1)
    assert said in err
    assert files_of(folder) == before


def test_a_pool_without_features_has_no_likelihood(tmp_path: Path) -> None:
    from conftest import make_contexts_of

    contexts = make_contexts_of(4, n_videos=4)
    CandidatePool.from_texts(contexts, [["sits.", "stands."]] * 4).save(tmp_path / "pool")
    with pytest.raises(InputError, match="no table features"):
        guard(GuardOptions(tmp_path / "pool", "likelihood"))


def test_the_command_says_rates_examples_and_what_is_next(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["guard", str(folder), "--by", "even,likelihood"])
    out = capsys.readouterr().out
    assert "has an even number (from 1)" in out
    assert "flagged" in out
    assert "even keeps out 4" in out
    assert f"swag-af filter {folder}" in out
    main(["show", str(folder)])
    assert "has an even number (from 1)" in capsys.readouterr().out
    main(["guard", str(folder), "--by", "even", "--dry-run"])
    assert "Nothing was written" in capsys.readouterr().out
    main(["guard", str(folder), "--by", "none"])
    assert "no guard says anything" in capsys.readouterr().out


@pytest.mark.parametrize("in_place", [True, False])
def test_what_another_guard_no_longer_keeps_out_is_said_and_counted(
    in_place: bool, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the first guard kept out was assigned again, and nothing said so."""
    before = guard(GuardOptions(folder, "even"))
    rows = np.arange(len(before))
    flagged = before.gather("flagged", rows).copy()
    capsys.readouterr()
    main(["guard", str(folder), "--by", "words", *([] if in_place else ["--out", str(tmp_path / "out")])])
    made = CandidatePool.open(folder if in_place else tmp_path / "out")
    n = int((flagged & ~made.gather("flagged", rows)).sum())
    assert made.manifest["no_longer_kept_out"] == {"even": n}
    assert n > 0
    assert f"no longer kept out: even, {n:,} candidates. To keep them out" in capsys.readouterr().out


def test_where_all_stays_kept_out_nothing_is_said_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    guard(GuardOptions(folder, "even"))
    main(["guard", str(folder), "--by", "even,words"])
    assert "no longer" not in capsys.readouterr().out
    assert "no_longer_kept_out" not in CandidatePool.open(folder).manifest


@pytest.mark.parametrize(
    ("flags", "advice"),
    [
        (("--by", "even", "--exclude", "none"), "name even in --exclude."),
        (("--by", "even", "--thresholds", "even=2"), "lower --thresholds of even, or ask without --only-assigned."),
        (("--by", "none"), "name all guards in one --by."),
    ],
)
def test_what_would_keep_candidates_out_again_is_what_let_them_in(
    flags: tuple[str, ...], advice: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All guards in one --by were advised whatever had done it, and nothing was said where all were taken away."""
    before = guard(GuardOptions(folder, "even"))
    n = int(before.gather("flagged", np.arange(len(before))).sum())
    capsys.readouterr()
    main(["guard", str(folder), *flags])
    said = capsys.readouterr().out
    assert f"no longer kept out: even, {n:,} candidates. To keep them out, {advice}" in said
    assert CandidatePool.open(folder).manifest["no_longer_kept_out"] == {"even": n}


def test_guards_that_keep_nothing_out_leave_nothing_to_tell_when_they_go(folder: Path) -> None:
    guard(GuardOptions(folder, "even"))
    guard(GuardOptions(folder, "even", exclude="none"))
    assert not guard(GuardOptions(folder, "none")).manifest["no_longer_kept_out"]
