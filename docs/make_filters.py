"""Writes docs/FILTERS.md from the filters themselves: `python docs/make_filters.py`."""

import dataclasses
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docstring_parser

from swag_af.endpoints.options import EndpointOptions
from swag_af.filters.neural import FitSettings
from swag_af.filters.registry import FILTERS, LABELS, REGISTRY
from swag_af.reporting.markdown import markdown_table

PAGE = Path(__file__).parent / "FILTERS.md"

HEAD = """# Filters

Written by `python docs/make_filters.py` from the filters themselves; do not edit.

A filter reads what stands in an assignment and says which ending looks like gold. The same ones re-assign in a run
(`swag-af filter --schedule`), end it (`--until-unseen`), and audit it (`--audit`, `swag-af audit run --filters`); those
that read texts alone are probes of any dataset, too (`swag-af audit questions.jsonl --filters`, beside `tfidf`).

Settings stand in brackets behind the name; what a filter must be given comes first, the others by their names:

    swag-af filter pool --schedule "mlp[max_epochs=5]:100,ensemble[width=256,mlp_width=256]:40" --out run
    swag-af audit run --filters "ngrams,encoder[path/to/model,inputs=second]"
    swag-af audit questions.jsonl --filters "judge[http://localhost:8000]"

Several values of one setting stand between commas: `transformer[path/to/model,learning_rates=1e-5,2e-5]`. A run keeps
the hashes of the files of a model or of word vectors, not their path: with other weights in the same folder it does not
go on. Names on the Hugging Face hub are fetched once; where there is no network, `HF_HUB_OFFLINE=1` saves the wait.

In Python: `swag_af.make_filter("mlp", max_epochs=5)`. One of your own is `package.module:Class`, or an entry point in
`swag_af.filters`; [CONTRIBUTING.md](../CONTRIBUTING.md) says what it must do, `swag_af.check_filter` tries it, and any
estimator of scikit-learn becomes one by `SklearnFilter`.
"""

EXTRAS = {"fasttext": "fasttext", "transformer": "hf", "encoder": "hf", "judge": "endpoints"}
"""The extra to install."""


def filters_page() -> str:
    """The text of docs/FILTERS.md."""
    rows = [("filter", "name", "reads", "needs")]
    rows += [
        (f"[`{name}`](#{name})", label, _first(REGISTRY.find(name)), _needs(name)) for name, label in LABELS.items()
    ]
    parts = [HEAD, "\n".join(markdown_table(rows)), *map(_section, FILTERS), _networks()]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _section(name: str) -> str:
    factory: Any = REGISTRY.find(name)
    is_network = issubclass(factory, FitSettings)
    shared = {(one.name, one.default) for one in dataclasses.fields(FitSettings)} if is_network else set()
    own = [one for one in dataclasses.fields(factory) if one.init and (one.name, one.default) not in shared]
    more = ", with these changed or added:" if own else "."
    others = f"Its settings are those of [networks](#networks){more}" if is_network else ""
    return "\n\n".join(part for part in (f"## {name}", _body(factory), others, _table(name, factory, own)) if part)


def _networks() -> str:
    """The settings that all networks of ours share."""
    return f"## networks\n\n{_body(FitSettings)}\n\n{_table('', FitSettings, dataclasses.fields(FitSettings))}"


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
