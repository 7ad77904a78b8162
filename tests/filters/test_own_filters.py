"""Filters of others: what `check_filter` finds in them; mistakes of theirs are one line, and no bug of ours."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import make_pool

from swag_af.af.loop import filter_pool
from swag_af.af.options import AFOptions
from swag_af.auditing.runs.audit import AuditPlan, audit_pool, audit_run
from swag_af.data.engines.options import EngineOptions, Workers
from swag_af.data.errors import ContractError, InputError
from swag_af.data.pool.pool import CandidatePool
from swag_af.data.pool.view import View
from swag_af.filters.checking import check_filter
from swag_af.filters.contract import record_of_fit, settings_of

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")

TWO = Workers[Any](2, EngineOptions("processes"))
ONCE = AFOptions(iterations=1, n_negatives=3)


class Lengths:
    """A good filter, which can learn on and move; each class below has a mistake."""

    name: Any = "lengths"
    weight = 0.0

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        self.fit_on(view, None, rng=rng)

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        lengths = view.lengths.astype(np.float64)
        was = 0.0 if state is None else float(state["weight"])
        self.weight = was + float((lengths[:, :1] - lengths[:, 1:]).mean()) + float(rng.random())

    def state(self) -> dict[str, np.ndarray]:
        return {"weight": np.array(self.weight)}

    def restore(self, view: View, state: dict[str, np.ndarray]) -> None:
        self.weight = float(state["weight"])

    def score(self, view: View) -> Any:
        return self.weight * view.lengths


class Nameless(Lengths):
    name = None


class Unreadable(Lengths):
    name = "two\nlines"


class WithoutFit:
    name = "without-fit"

    def score(self, view: View) -> np.ndarray:
        return view.lengths.astype(np.float64)


class WithoutRng(Lengths):
    def fit(self, view: View) -> None:  # the mistake
        return


class Letters(Lengths):
    requires: ClassVar[Any] = "features"


class Unheard(Lengths):
    requires = ("nonsense",)


class Unsaid(Lengths):
    def score(self, view: View) -> Any:
        return view.features[..., 0].astype(np.float64)


class Ticking(Lengths):
    def settings(self) -> dict[str, Any]:
        return {"now": time.perf_counter()}


class Unchecked(Lengths):
    def check(self) -> None:
        raise KeyError("weights")


class OneHead(Lengths):
    def member_scores(self, view: View) -> Any:
        return {"part": np.zeros(3)}


class NoHeads(Lengths):
    def member_scores(self, view: View) -> Any:
        return [1]


class Number(Lengths):
    def said(self) -> Any:
        return 3


class Loses(Lengths):
    def restore(self, view: View, state: dict[str, np.ndarray]) -> None:
        self.weight = -float(state["weight"])


class NoTables(Lengths):
    def state(self) -> Any:
        return {"weight": {"a": 1}}


class GoesElsewhere(Lengths):
    """Learns on from what it happens to have, not from the state."""

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        super().fit_on(view, None if state is None else self.state(), rng=rng)


class OtherBegin(Lengths):
    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        super().fit(view, rng=rng)
        self.weight *= 2


class Matrix(Lengths):
    def score(self, view: View) -> Any:
        return np.matrix(super().score(view))


class Lost(Lengths):
    """Raises where it is fitted."""

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        raise KeyError("weights")


class Unlike(Lengths):
    """Gives no scores."""

    def score(self, view: View) -> Any:
        return None


FAULTS: dict[type, str] = {
    Nameless: "has no text `name`",
    Unreadable: "a `name` that nobody can read",
    WithoutFit: "no method fit",
    WithoutRng: r"WithoutRng\.fit raised TypeError .*unexpected keyword argument 'rng'",
    Letters: r"`requires` 'features', where names of tables are due, as \('features',\)",
    Unheard: "it requires nonsense, and there are ",
    Unsaid: "Unsaid reads features, which not every pool has, and does not require them",
    Ticking: "two constructions have other settings",
    Unchecked: r"Unchecked\.check raised KeyError \('weights'\)\. It was raised by .*test_own_filters.py, line",
    OneHead: r"filter part: score gave float64 \(3,\), where numbers",
    NoHeads: r"NoHeads\.member_scores gave \[1\], where a dict of scores by name is due",
    Number: r"Number\.said gave 3, where a list of lines is due",
    Loses: "given its state.. by restore scores otherwise, so that workers would make another run",
    NoTables: r"NoTables\.state gave .*where a dict of numpy arrays by name is due",
    GoesElsewhere: "fit_on from the same state scores otherwise",
    OtherBegin: "fit_on without a state scores otherwise than fit",
    Matrix: r"score gave a matrix of float64 \(48, 5\)",
    Unlike: "score gave None, where numbers",
}


def test_a_filter_that_learns_on_and_moves_keeps_the_contract() -> None:
    check_filter(Lengths)


@pytest.mark.parametrize(("made", "said"), FAULTS.items(), ids=[one.__name__ for one in FAULTS])
def test_check_filter_finds_the_mistake(made: Any, said: str) -> None:
    with pytest.raises(ContractError, match=said) as raised:
        check_filter(made)
    assert "\n" not in str(raised.value)


def test_what_the_loop_takes_check_filter_takes() -> None:
    """Whole numbers, and filters that read rows, which can audit."""

    class Whole(Lengths):
        def score(self, view: View) -> Any:
            return view.lengths.astype(np.uint8)

    class OfRows(Lengths):
        reads_rows = True

        def score(self, view: View) -> Any:
            scores = super().score(view)
            return scores - scores.mean(axis=1, keepdims=True)

    check_filter(Whole)
    check_filter(OfRows)
    with pytest.raises(InputError, match="reads_rows") as raised:
        filter_pool(make_pool(), OfRows(), ONCE)
    assert "letter" not in str(raised.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pool().save(tmp_path_factory.mktemp("pools") / "pool").path or Path()


IN_LOOPS: dict[type, str] = {
    WithoutRng: r"WithoutRng\.fit raised TypeError",
    Matrix: r"filter lengths: score gave a matrix of float64",
    NoHeads: r"NoHeads\.member_scores gave",
    Lost: r"Lost\.fit raised KeyError \('weights'\)\. `swag_af.check_filter`.*test_own_filters.py, line",
}


@pytest.mark.parametrize(("made", "said"), IN_LOOPS.items(), ids=[one.__name__ for one in IN_LOOPS])
def test_a_mistake_in_a_filter_of_the_users_is_one_line(made: Callable[[], Any], said: str) -> None:
    with pytest.raises(ContractError, match=said) as raised:
        filter_pool(make_pool(), made(), ONCE)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("made", [Lost, NoTables])
def test_so_it_is_where_another_process_does_the_work(made: Callable[[], Any], folder: Path, tmp_path: Path) -> None:
    """It was told as a bug of ours, with exit code 70."""
    together = replace(ONCE, iterations=5, splits="together")
    with pytest.raises(ContractError, match=r"(Lost\.fit_on raised KeyError|NoTables\.state gave)"):
        filter_pool(CandidatePool.open(folder), made(), together, out=tmp_path / "run", workers=TWO)


def test_and_where_a_run_is_audited_by_several(folder: Path, tmp_path: Path) -> None:
    run = filter_pool(CandidatePool.open(folder), Lengths(), ONCE, out=tmp_path / "run")
    plan = AuditPlan((0, 1), [f"{__name__}:Lost"], n_folds=2)
    with pytest.raises(ContractError, match=r"Lost\.fit raised KeyError"):
        audit_run(run, plan, workers=TWO)


def test_what_it_says_is_lines(folder: Path) -> None:
    pool = CandidatePool.open(folder)
    with pytest.raises(ContractError, match=r"Number\.said gave 3"):
        audit_pool(pool, np.tile(np.arange(4), (len(pool), 1)), [Number()], n_folds=2)


@pytest.mark.parametrize(
    ("setting", "said"),
    [([float("nan")], "not JSON compliant"), (1 << 70, "beyond 64 bits"), ({"a": object()}, "no place in a manifest")],
)
def test_settings_that_no_manifest_can_give_back_are_refused(setting: Any, said: str) -> None:
    class Set(Lengths):
        def settings(self) -> dict[str, Any]:
            return {"one": setting}

        def fit_record(self) -> dict[str, Any]:
            return {"one": 1 << 70}

    with pytest.raises(ContractError, match=f"setting 'one' cannot be kept with a run: .*{said}"):
        settings_of(Set())
    with pytest.raises(ContractError, match=r"fit_record: .*beyond 64 bits"):
        record_of_fit(Set())


def test_folds_that_stay_are_refused_with_what_a_class_lacks() -> None:
    class Fresh:
        name = "fresh"

        def fit(self, view: View, *, rng: np.random.Generator) -> None:
            return

        def score(self, view: View) -> np.ndarray:
            return view.lengths.astype(np.float64)

    with pytest.raises(InputError, match="A class of your own can where it has `fit_on` and `state`"):
        filter_pool(make_pool(), Fresh(), replace(ONCE, splits="fixed"))


def test_a_run_of_a_class_that_was_edited_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was advised to repeat the command that was repeated."""
    text = f"from {__name__} import Lengths\n\nclass Mine(Lengths):\n    name = 'mine'\n"
    (tmp_path / "edited_filter.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    pool, twice = CandidatePool.open(folder), replace(ONCE, iterations=2)
    filter_pool(pool, "edited_filter:Mine", ONCE, out=tmp_path / "run")
    (tmp_path / "edited_filter.py").write_text(text + "# edited\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"the source of filter edited_filter:Mine has changed .* Undo the edit"
    ) as raised:
        filter_pool(pool, "edited_filter:Mine", twice, out=tmp_path / "run")
    assert "Repeat" not in str(raised.value)


def test_what_an_array_of_torch_is_told_as_is_one_line() -> None:
    class Tensor(Lengths):
        def score(self, view: View) -> Any:
            import torch

            return torch.zeros(view.shape)

    with pytest.raises(ContractError, match="score gave tensor") as raised:
        check_filter(Tensor)
    assert "\n" not in str(raised.value)


class Scale:
    """An object that JSON cannot hold."""

    def __init__(self, by: float) -> None:
        self.by = by


class Scaled(Lengths):
    """Keeps an object as its setting."""

    name = "scaled"

    def __init__(self, scale: Scale) -> None:
        self.scale = scale


def test_an_object_among_the_settings_is_told_from_one_with_other_numbers(pool_folder: Path, tmp_path: Path) -> None:
    """A run of the one went on with the other."""
    assert settings_of(Scaled(Scale(1))) == settings_of(Scaled(Scale(1)))
    filter_pool(CandidatePool.open(pool_folder), Scaled(Scale(1)), ONCE, out=tmp_path / "run")
    with pytest.raises(InputError, match=r"begun with other .*by \(1, now -1\)"):
        filter_pool(CandidatePool.open(pool_folder), Scaled(Scale(-1)), ONCE, out=tmp_path / "run")


class Filed(Lengths):
    """Calls a table of its state as numpy calls the file that it writes to."""

    def state(self) -> dict[str, np.ndarray]:
        return {"weight": np.array(self.weight), "file": np.zeros(1)}


def test_a_state_with_a_name_that_numpy_takes_is_told() -> None:
    with pytest.raises(ContractError, match="a table called file, which numpy keeps for itself"):
        check_filter(Filed())


class Open:
    """An object whose constructor takes anything."""

    def __init__(self, **given: float) -> None:
        vars(self).update(given)


class Learns(Lengths):
    """Fits the object that it was given, in place."""

    name = "learns"

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        super().fit_on(view, state, rng=rng)
        if hasattr(self.model, "get_params"):
            self.model.fit(view.lengths.reshape(-1, 1), np.arange(view.lengths.size) % 2)
        self.model.n_seen_ = len(view)
        if isinstance(self.model, Scale):
            self.model.n_seen = len(view)


def estimator(by: float) -> Any:
    from sklearn.linear_model import LogisticRegression  # other processes import this file, and need none

    return LogisticRegression(C=by)


MODELS: dict[str, Callable[[float], Any]] = {
    "an estimator": estimator,
    "an object": Scale,
    "one of any arguments": lambda by: Open(by=by),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_what_an_argument_has_learnt_is_no_setting(
    model: Callable[[float], Any], pool_folder: Path, tmp_path: Path
) -> None:
    """A run did not go on with the very object that it had begun with."""
    check_filter(lambda: Learns(model(1)))
    assert settings_of(Learns(model(1))) != settings_of(Learns(model(2)))
    mine, pool = Learns(model(1)), CandidatePool.open(pool_folder)
    filter_pool(pool, mine, ONCE, out=tmp_path / "run")
    assert filter_pool(pool, mine, replace(ONCE, iterations=2), out=tmp_path / "run").n_finished == 2
    with pytest.raises(InputError, match="begun with other"):
        filter_pool(pool, Learns(model(2)), replace(ONCE, iterations=3), out=tmp_path / "run")


class Mutable(Learns):
    """Changes what it was given."""

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        super().fit_on(view, state, rng=rng)
        self.model.by = self.weight


class Renamed(Scale):
    """Keeps its argument under another name."""

    def __init__(self, w: float) -> None:
        self.by = w


def test_an_argument_kept_under_another_name_is_a_setting() -> None:
    """Runs of two such filters were one run."""
    one, two = (settings_of(Mutable(Renamed(w))) for w in (1, -5))
    assert one != two


class Drifting(Lengths):
    def settings(self) -> dict[str, Any]:
        return {"rate": 1, "weight": self.weight}


def test_a_setting_that_a_fit_changes_is_named() -> None:
    """Of a class without `settings()` it was said that its settings() change."""
    with pytest.raises(ContractError, match="what it keeps of its argument model changes when it is fitted"):
        check_filter(lambda: Mutable(Scale(1)))
    with pytest.raises(ContractError, match="its setting weight changes when it is fitted"):
        check_filter(Drifting)
