"""What a filter is, in four sentences; `checking` tests them on anyone's class.

    1. The constructor stores settings and does nothing else.
    2. `fit` learns from a view whose column 0 is gold, changes nothing in it, and forgets any earlier fit.
    3. `score` gives one finite float per candidate, whatever else is scored in the same call, changes nothing in its
       view, and permuting the columns permutes the scores and nothing else. It does not read which candidate is gold,
       as `view.contexts[i].gold` and `view.columns` tell.
    4. The same `rng` gives the same scores.

No filter lives here, and nothing of torch.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Protocol, runtime_checkable

import numpy as np

from swag_af.data.disk.files import plain
from swag_af.data.disk.records import parse_record
from swag_af.data.errors import ContractError, FormatError, InputError, several, told
from swag_af.data.plugins.own_code import (
    arguments_lost,
    arguments_of,
    blaming,
    is_own,
    name_and_source,
    name_fault,
    recorded,
    requires_fault,
    source_of,
    takes_anything,
)
from swag_af.data.pool.view import View


@runtime_checkable
class Filter(Protocol):
    """A classifier that scores how gold-like a candidate is.

    Eleven attributes are optional:

    * `requires`, the names of the pool tables that it reads beyond those every pool has, such as `("features",)`;
    * `check()`, called before any work, which raises InputError for what would fail later;
    * `settings() -> dict`, what a resumed run must have the same; without it that is the fields of a dataclass, or the
      arguments that the constructor kept under their names;
    * `answered_by() -> dict`, asked after `check`: what answers behind an address, which a resumed run must have the
      same too;
    * `device`, set to `auto`, `cpu` or `cuda` before the first fit, as the command line says;
    * `argument`, a class attribute: the name of the setting that stands in brackets where the filter is named,
      `transformer[path/to/model]`;
    * `fit_record() -> dict[str, Any]`, after a fit what it chose and reached, which is logged; where its `converged` is
      false, the fit learned nothing, and no candidate is replaced by its scores;
    * `member_scores(view) -> dict[str, np.ndarray]`, the scores (n, m) of each of its heads, which are logged and
      decide nothing, but for one of the filter's own name: that must be what `score` gives, and spares a second pass;
    * `reads_rows`, true where the candidates of a row are read together, so that their scores depend on each other: it
      can audit, and take part in no loop;
    * `unscored`, the score of a candidate that could not be read, below all others: a question that has one is a tie;
    * `said() -> list[str]`, what is to be told of the scores since this was last asked, a line each.
    """

    name: str

    def fit(self, view: View, *, rng: np.random.Generator) -> None:
        """Learn to tell column 0 of `view` from its other columns."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats, higher = more gold-like."""


@runtime_checkable
class LastingFilter(Protocol):
    """A filter that can learn on from where an earlier fit on the same rows ended. Not every filter can."""

    name: str

    def fit_on(self, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator) -> None:
        """As `fit` where there is no `state`; otherwise from it, on the same rows under another assignment."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats, higher = more gold-like."""

    def state(self) -> dict[str, np.ndarray]:
        """All that the last fit learnt, as tables by name."""


@runtime_checkable
class MovableFilter(Protocol):
    """A filter whose fit another process can score by. Not every filter can move."""

    name: str

    def state(self) -> dict[str, np.ndarray]:
        """All that the last fit learnt, as tables by name."""

    def restore(self, view: View, state: dict[str, np.ndarray]) -> None:
        """Be the filter whose `state()` it is, without learning; `view` is any of the pool that it was fitted on."""

    def score(self, view: View) -> np.ndarray:
        """(n, m) floats, higher = more gold-like: the bits of the filter that was fitted."""


@runtime_checkable
class ClassFilter(Protocol):
    """A filter that tells classes apart too: texts with labels, each behind another. Not every filter can."""

    name: str

    def fit_classes(
        self,
        firsts: Sequence[str],
        seconds: Sequence[str],
        labels: np.ndarray,
        n_labels: int,
        groups: np.ndarray,
        *,
        rng: np.random.Generator,
    ) -> None:
        """Learn `labels` (q,) of q pairs of texts; forgets any earlier fit."""

    def score_classes(self, firsts: Sequence[str], seconds: Sequence[str]) -> np.ndarray:
        """(q, n_labels) log-probabilities or logits."""


def settings_of(made: object) -> dict[str, Any]:
    """The settings of a filter, or a guard: what its `settings()` returns, the fields of a dataclass, or the arguments
    that its constructor kept.

    Of a class that is not of this package its source stands beside them: what an edited one did is not its work.
    Raises ContractError for what JSON cannot hold.
    """
    source = source_of(made)
    own = {"source": source} if source else {}
    says = getattr(made, "settings", None)
    if callable(says):
        with blaming(made, "settings"):
            found = says()
        if not isinstance(found, Mapping):
            raise ContractError(f"{type(made).__name__}: settings() returned {type(found).__name__}, not a dict.")
    elif is_dataclass(made):
        found = fields_of(made)
    else:  # what it kept of its arguments it may have kept as anything
        arguments = arguments_of(made) if is_own(made) else {}
        return {name: _told(one) if _fault(one) is None else _object(one) for name, one in arguments.items()} | own
    for name, value in found.items():
        if fault := _fault(value):
            raise ContractError(
                f"{type(made).__name__}: its setting {name!r} cannot be kept with a run: {fault}. Let it be a number, "
                "a text or a list of these, or let `settings()` say it so."
            )
    return {name: _told(value) for name, value in found.items()} | own


def answerer_of(made: object) -> dict[str, Any] | None:
    """What answers behind the address of a filter, or a guard, which it is to be asked after its `check`; None where it
    has no address. ContractError for what JSON cannot hold."""
    says = getattr(made, "answered_by", None)
    if says is None:
        return None
    with blaming(made, "answered_by"):
        found = says()
    return recorded(found, f"{type(made).__name__}.answered_by()")


def answerers_of(named: Mapping[str, object]) -> dict[str, Any]:
    """The same of those that have an address, by name."""
    found = {name: answerer_of(one) for name, one in named.items()}
    return {name: one for name, one in found.items() if one is not None}


def identity_of(made: object) -> dict[str, Any]:
    """All that decides what it says, as far as it can tell: its settings, and what answers it; not before `check`."""
    answerer = answerer_of(made)
    return settings_of(made) | ({} if answerer is None else {"answered_by": answerer})


def fields_of(made: Any) -> dict[str, Any]:
    """What was given to the constructor of a dataclass, by name."""
    return {one.name: getattr(made, one.name) for one in fields(made) if one.init}


def _fault(setting: Any) -> str | None:
    """Why no manifest can hold it; None where one can, and of classes and functions."""
    try:
        made = json.loads(json.dumps(_told(setting), default=plain, allow_nan=False))
        parse_record(made, object, told(setting), "")
    except (TypeError, ValueError, RecursionError, FormatError) as error:
        return str(error).strip(". ")
    return None


def _told(setting: Any) -> Any:
    """A class or a function as its name and source, infinity and NaN as texts, anything else as it is."""
    return name_and_source(setting) if hasattr(setting, "__qualname__") else _finite(setting)


def _object(thing: Any) -> Any:
    """An object that JSON cannot hold: its class, and the numbers and texts that it was made with."""
    plain_kinds = (bool, int, float, str)
    kept = {name: _finite(one) for name, one in sorted(_made_with(thing).items()) if isinstance(one, plain_kinds)}
    return {"class": _told(type(thing)), "keeps": kept} if kept else _told(type(thing))


def _made_with(thing: Any) -> Mapping[str, Any]:
    """What an object keeps of how it was made, not what it has learnt since: its `get_params()`, as scikit-learn's
    have; else its arguments, or, where it did not keep them all under their names or names none, what is under public
    names without a `_` behind.
    """
    says = getattr(thing, "get_params", None)
    if callable(says) and not isinstance(thing, type):
        with blaming(thing, "get_params"):
            return dict(says())
    if not takes_anything(thing) and not arguments_lost(thing) and (arguments := arguments_of(thing)):
        return arguments
    kept = getattr(thing, "__dict__", {})
    return {name: one for name, one in kept.items() if not name.startswith("_") and not name.endswith("_")}


def _finite(value: Any) -> Any:
    """Infinity and NaN as texts, for JSON has no words for them."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def check_fit(name: str, view: View, *, fewest: int = 1) -> None:
    """Raise InputError unless `view` has as many rows as the filter called `name` needs to fit, and 2 candidates in
    each."""
    n, m = view.shape
    if n < fewest or m < 2:
        rows = several(fewest, "row")
        raise InputError(f"filter {name} needs {rows} of 2 candidates or more to fit; this view is {n} x {m}.")


def gold_labels(view: View) -> np.ndarray:
    """(q,) 1 for the candidates of column 0 of `view`, 0 for all others."""
    n, m = view.shape
    return np.tile((np.arange(m) == 0).astype(np.int64), n)


NEVER = 20.0
"""How far below the lowest logit of a text a label lies that no fitted text had: two in a billion."""


def class_logits(decided: np.ndarray, found: np.ndarray, n_labels: int) -> np.ndarray:
    """(q, n_labels) logits: those `decided` (q, k) of the labels `found` (k,), or of two by how much the second is
    above the first (q,), and for all others what says never."""
    known = decided if decided.ndim == 2 else np.stack([np.zeros_like(decided), decided], axis=1)
    logits = np.repeat(known.min(axis=1, keepdims=True) - NEVER, n_labels, axis=1)
    logits[:, found] = known
    return logits


def unfitted(named: str, given: str = "view") -> InputError:
    """The error of a model, `filter mlp` say, that is to score and was never given what it is fitted on."""
    return InputError(f"{named} has not been fitted. Call fit({given}, rng=...) first.")


def record_of_fit(filter: Filter) -> dict[str, Any]:
    """What the last fit of a filter says of itself, infinity and NaN as texts; empty for one that says nothing.
    ContractError for what a log cannot keep."""
    if not hasattr(filter, "fit_record"):
        return {}
    with blaming(filter, "fit_record", ADVICE):
        said = filter.fit_record()
    try:
        of = dict(said) if isinstance(said, Mapping) else said
        made = json.loads(json.dumps(of, default=plain), parse_constant=_CONSTANTS.get)
    except (TypeError, ValueError, RecursionError) as error:
        made, why = None, f" ({error})"
    else:
        why = "" if isinstance(made, dict) else f" ({told(said)} is no dict)"
    if why:
        raise ContractError(
            f"filter {filter.name}: its fit_record cannot be kept{why}. Return a dict of numbers, texts and lists."
        )
    return recorded(made, f"filter {filter.name}: its fit_record", "Return a dict of numbers, texts and lists.")


def has_learned(fit: Mapping[str, Any]) -> bool:
    """Whether a fit that says `fit` of itself learned anything; one that says nothing did."""
    return bool(fit.get("converged", True))


_CONSTANTS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


SCORED_AT_ONCE = 200_000
"""Candidates handed to a filter in one call, at most: bounds the memory of scoring."""


def check_is_filter(made: object, called: str) -> None:
    """Raise ContractError unless `made`, which the user calls so, has what every filter has."""
    if isinstance(made, type):
        raise ContractError(f"filter {made.__name__}: this is a class. Give an object of it, {made.__name__}(...).")
    missing = [f"no method {name}" for name in ("fit", "score") if not callable(getattr(made, name, None))]
    missing += [fault for fault in (name_fault(made), requires_fault(made)) if fault]
    if missing:
        raise ContractError(f"filter {called}: it has {' and '.join(missing)}. `swag_af.check_filter` tests a class.")


ADVICE = "`swag_af.check_filter` tries it with a traceback."


def fit_filter(filter: Filter, view: View, *, rng: np.random.Generator) -> None:
    """`filter.fit(view)`; ContractError where somebody's own raises."""
    with blaming(filter, "fit", ADVICE):
        filter.fit(view, rng=rng)


def fit_filter_on(
    filter: LastingFilter, view: View, state: dict[str, np.ndarray] | None, *, rng: np.random.Generator
) -> None:
    """`filter.fit_on(view, state)`; ContractError where somebody's own raises."""
    with blaming(filter, "fit_on", ADVICE):
        filter.fit_on(view, state, rng=rng)


def state_of(filter: LastingFilter | MovableFilter) -> dict[str, np.ndarray]:
    """`filter.state()`; ContractError unless these are tables by name, which a file can keep."""
    with blaming(filter, "state", ADVICE):
        state: object = filter.state()
    if isinstance(state, dict) and all(isinstance(name, str) and _is_table(one) for name, one in state.items()):
        if taken := _NUMPYS & state.keys():
            raise ContractError(
                f"{type(filter).__name__}.state has a table called {taken.pop()}, which numpy keeps for "
                f"itself. Call it otherwise. {ADVICE}"
            )
        return state
    raise ContractError(
        f"{type(filter).__name__}.state gave {told(state)}, where a dict of numpy arrays by name is due. {ADVICE}"
    )


_NUMPYS = {"file", "allow_pickle"}
"""What `numpy.savez` calls its own arguments."""


def _is_table(value: object) -> bool:
    return isinstance(value, np.ndarray) and not value.dtype.hasobject


def restore_filter(filter: MovableFilter, view: View, state: dict[str, np.ndarray]) -> None:
    """`filter.restore(view, state)`; ContractError where somebody's own raises."""
    with blaming(filter, "restore", ADVICE):
        filter.restore(view, state)


def heads_of(filter: Filter, view: View) -> dict[str, np.ndarray]:
    """What `filter.member_scores(view)` has, each finite numbers (n, m); empty where the filter has no such method."""
    members = getattr(filter, "member_scores", None)
    if members is None:
        return {}
    with blaming(filter, "member_scores", ADVICE):
        heads: object = members(view)
    if not isinstance(heads, Mapping) or not all(isinstance(head, str) for head in heads):
        raise ContractError(
            f"{type(filter).__name__}.member_scores gave {told(heads)}, where a dict of scores by name is due. {ADVICE}"
        )
    return {head: checked_scores(head, scores, view) for head, scores in heads.items()}


def scores_of(filter: Filter, view: View) -> np.ndarray:
    """`filter.score(view)`; raises ContractError unless these are numbers (n, m), all of them finite."""
    with blaming(filter, "score", ADVICE):
        scores = filter.score(view)
    return checked_scores(filter.name, scores, view)


def checked_scores(head: str, scores: np.ndarray, view: View) -> np.ndarray:
    """`scores` as they are; raises ContractError, which names the filter or its `head`, where they have a fault."""
    if fault := score_fault(scores, view):
        raise ContractError(f"filter {head}: {fault}. `swag_af.check_filter` tests a class.")
    return scores


def score_fault(scores: object, view: View) -> str:
    """Why these are no scores of `view`: not numbers (n, m), or not all finite, and one that is no number would be
    counted as right or wrong all the same. Empty where they are."""
    if not isinstance(scores, np.ndarray):
        return f"score gave {told(scores)}, where numbers {view.shape} are due, one a candidate"
    is_plain = type(scores) in (np.ndarray, np.memmap)  # a matrix multiplies otherwise, a masked array hides some
    if not is_plain or scores.shape != view.shape or scores.dtype.kind not in "fiu":
        kind = "" if is_plain else f"a {type(scores).__name__} of "
        return f"score gave {kind}{scores.dtype} {scores.shape}, where numbers {view.shape} are due, one a candidate"
    n = int((~np.isfinite(scores)).sum())
    return f"not all scores are finite ({n:,} of {scores.size:,} {'is' if n == 1 else 'are'} not)" if n else ""


def score_in_parts(filter: Filter, view: View) -> np.ndarray:
    """`scores_of` some rows at a time; the same, since no score depends on what else is scored."""
    return np.concatenate([scores_of(filter, part) for part in parts_of(view)])


def score_questions(filter: Filter, view: View) -> np.ndarray:
    """`score_in_parts` of whole questions, a row each: one with a candidate that the filter could not read is a tie."""
    return with_ties(filter, score_in_parts(filter, view))


def with_ties(filter: Filter, scores: np.ndarray) -> np.ndarray:
    """`scores` (n, m), all the same in a row of which the filter could not read a candidate."""
    is_tie = unread_by(filter, scores).any(axis=1, keepdims=True)
    return np.where(is_tie, 0.0, scores) if is_tie.any() else scores


def unread_by(filter: Filter, scores: np.ndarray) -> np.ndarray:
    """(n, m) of which candidates the filter could not read, given its `scores` (n, m) as they came."""
    unscored = getattr(filter, "unscored", None)
    return np.zeros(scores.shape, bool) if unscored is None else scores == unscored


def parts_of(view: View) -> list[View]:
    """The rows of `view` in parts of like size, each of which is scored in one call."""
    n_parts = max(1, min(len(view), -(-view.columns.size // SCORED_AT_ONCE)))
    return [view.take(part) for part in np.array_split(np.arange(len(view)), n_parts)]
