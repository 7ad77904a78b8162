"""Writes docs/FILTERS.md from the filters themselves: `python docs/make_filters.py`."""

import dataclasses
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docstring_parser

from swag_af.endpoints.options import EndpointOptions
from swag_af.filters.neural import FitSettings
from swag_af.filters.pairs.fitting import PairFilter
from swag_af.filters.registry import FILTERS, LABELS, REGISTRY
from swag_af.reporting.tables.markdown import markdown_table

PAGE = Path(__file__).parent / "FILTERS.md"

HEAD = """# Filters

Written by `python docs/make_filters.py` from the filters themselves; do not edit.

A filter reads the candidates of an assignment and scores how much each looks like gold. Filters re-assign candidates in
a run (`swag-af filter --schedule`), decide when to stop it (`--until-unseen`), and audit it (`--audit`, `swag-af audit
run --filters`). Filters that read texts alone are also probes of any dataset: `swag-af audit questions.jsonl
--filters`, which takes `tfidf` too.

Settings go in brackets after the name. A required argument comes first; the others are given by name:

    swag-af filter pool --schedule "mlp[max_epochs=5]:100,ensemble[width=256,mlp_width=256]:40" --out run
    swag-af audit run --filters "ngrams,encoder[path/to/model,inputs=second]"
    swag-af audit questions.jsonl --filters "judge[http://localhost:8000]"

* Several values of one setting are separated by commas: `transformer[path/to/model,learning_rates=1e-5,2e-5]`.
* A run records the hashes of model and word-vector files, not their paths. If these files change, it does not resume.
* Models named on the Hugging Face hub are downloaded once. Offline, set `HF_HUB_OFFLINE=1` to skip the wait.
* In Python: `swag_af.make_filter("mlp", max_epochs=5)`.
* Your own filter is `package.module:Class`, or an entry point in `swag_af.filters`.
  [CONTRIBUTING.md](../CONTRIBUTING.md) describes the contract, and `swag_af.check_filter` tests it. `SklearnFilter`
  wraps any scikit-learn estimator.
"""

EXTRAS = {"fasttext": "fasttext", "transformer": "hf", "encoder": "hf", "judge": "endpoints"}
"""The extra to install."""


def filters_page() -> str:
    """The text of docs/FILTERS.md."""
    rows = [("filter", "name", "reads", "needs")]
    rows += [
        (f"[`{name}`](#{name})", label, _first(REGISTRY.find(name)), _needs(name)) for name, label in LABELS.items()
    ]
    parts = [HEAD, "\n".join(markdown_table(rows)), *map(_section, FILTERS), *map(_shared, SHARED)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _section(name: str) -> str:
    factory: Any = REGISTRY.find(name)
    shared = next((kind for kind in SHARED if issubclass(factory, kind)), None)
    own = _beyond(factory, shared)
    more = ", with these changed or added:" if own else "."
    others = f"Its settings are those of {_link(shared)}{more}" if shared else ""
    return "\n\n".join(part for part in (f"## {name}", _body(factory), others, _table(name, factory, own)) if part)


SHARED: dict[type[FitSettings], str] = {PairFilter: "two-text networks", FitSettings: "networks"}
"""Classes whose settings several filters share, the narrower first, and the heading that they have."""


def _shared(kind: type[FitSettings]) -> str:
    """The settings that all filters of a kind share."""
    wider = FitSettings if kind is PairFilter else None
    others = f"The settings of {_link(wider)}, with these changed or added:" if wider else ""
    parts = (f"## {SHARED[kind]}", _ABOUT.get(kind) or _body(kind), others, _table("", kind, _beyond(kind, wider)))
    return "\n\n".join(part for part in parts if part)


_ABOUT: dict[type[FitSettings], str] = {
    PairFilter: "Shared by `dualbow`, `infersent-mlp`, `infersent-bilinear`, `lstm`, `decomp`, `esim`. `name[FILE]` "
    "reads word vectors from FILE. Words of the fit that are not in it (all of them where there is no file) get random "
    "vectors; those met once only share one. A word first met later has the file's vector, or that shared one."
}
"""Where the docstring of a kind speaks to programmers."""


def _link(kind: type[FitSettings] | None) -> str:
    heading = SHARED[kind] if kind else ""
    return f"[{heading}](#{heading.replace(' ', '-')})"


def _beyond(kind: Any, shared: type[FitSettings] | None) -> list["dataclasses.Field[Any]"]:
    """The settings of a class that are not, or not with this default, those that it shares."""
    theirs: Any = shared
    known = {(one.name, one.default) for one in dataclasses.fields(theirs)} if shared else set()
    return [one for one in dataclasses.fields(kind) if one.init and (one.name, one.default) not in known]


def _body(factory: Any) -> str:
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(factory.__doc__ or "").split("\n\n"))


def _table(name: str, factory: Any, settings: Sequence["dataclasses.Field[Any]"]) -> str:
    kinds = [EndpointOptions, *reversed(factory.__mro__[:-1])]  # whose docstrings those of servers refer to
    told = {
        param.args[1]: " ".join((param.description or "").split())
        for kind in kinds
        for param in docstring_parser.parse_from_object(kind).params
    }
    rows = [
        (f"`{one.name}`", _default(name, one), told.get(one.name, ""))
        for one in settings
        if one.init and one.name not in _OF_CALLERS
    ]
    return "\n".join(markdown_table([("setting", "default", ""), *rows])) if rows else ""


_OF_CALLERS = ("asker",)
"""Fields that no text in brackets can give."""


def _default(name: str, one: "dataclasses.Field[Any]") -> str:
    if one.default is not dataclasses.MISSING:
        values = one.default if isinstance(one.default, tuple) else (one.default,)
        return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
    return f"comes first: `{name}[{REGISTRY.takes[name]}]`" if name in REGISTRY.takes else ""


def _first(factory: Any) -> str:
    return _body(factory).split("\n\n")[0]


def _needs(name: str) -> str:
    requires = {"features": "a pool with features", "tags": "a pool with tags"}
    needs = [requires[one] for one in getattr(REGISTRY.find(name), "requires", ())]
    return ", ".join([*needs, *([f"extra `{EXTRAS[name]}`"] if name in EXTRAS else [])])


if __name__ == "__main__":
    PAGE.write_text(filters_page(), encoding="utf-8")
