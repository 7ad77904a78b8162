"""The sections of a report that say how the run was made: command, options, hashes, versions, seconds."""

import hashlib
import platform
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from swag_af.af.options import FilterOptions
from swag_af.data.run import Run
from swag_af.reporting.charts import escape
from swag_af.reporting.page import facts, folded, paragraph, section
from swag_af.reporting.subject import Subject
from swag_af.reporting.text import duration


def making(subject: Subject) -> str:
    """The exact command, options, hashes and versions."""
    run, manifest = subject.run, subject.manifest
    made_by = manifest.get("made_by") or {}
    if made_by.get("verb") == "filter":
        how = f"<pre><code>{escape(command_of(FilterOptions, 'filter', made_by['options']))}</code></pre>\n"
    else:
        how = paragraph("Made in Python by swag_af.filter_pool with these options.")
    phases = ", ".join(f"{name} from iteration {first}" for name, first in manifest.get("phases", []))
    options = {"phases": phases or "-", **manifest.get("options", {})}
    filters = {
        name: ", ".join(f"{key} {value}" for key, value in settings.items()) or "-"
        for name, settings in manifest.get("filters", {}).items()
    }
    return section(
        "making",
        "How it was made",
        how,
        "<h3>Options</h3>\n",
        facts({name.replace("_", " "): value for name, value in options.items()}),
        "<h3>Hashes (SHA-256)</h3>\n",
        facts(_hashes(run)),
        "<h3>Versions that wrote this page</h3>\n",
        facts(_versions()),
        folded("Settings of the filters", facts(filters)) if filters else "",
    )


def command_of(dataclass: type, verb: str, options: Mapping[str, Any]) -> str:
    """The command line that says `options`, as `asdict` gives them; what has its default value is not said."""
    words = ["swag-af", verb]
    for name, value, default in _flat(dataclass, options):
        flag = f"--{name.replace('_', '-')}"
        if default is MISSING:
            words.append(shlex.quote(str(value)))
        elif isinstance(value, bool) and value != default:
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif value is not None and str(value) != str(default):
            words += [flag, shlex.quote(str(value))]
    return " ".join(words)


def _flat(dataclass: type, options: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Name, value and default of every option, those of nested dataclasses among them."""
    found: list[tuple[str, Any, Any]] = []
    for field in fields(dataclass):
        if field.name not in options:
            continue
        value, kind = options[field.name], field.type
        if isinstance(kind, type) and is_dataclass(kind):
            found += _flat(kind, value)
        else:
            found.append((field.name, value, field.default))
    return found


def _hashes(run: Run) -> dict[str, object]:
    pool = run.pool
    hashes: dict[str, object] = {"pool": pool.identity, "vocabulary": pool.vocabulary.sha256}
    for fold, sha256 in sorted(pool.manifest.get("plan", {}).get("lms", {}).items()):
        hashes[f"language models of fold {fold}"] = sha256
    hashes["first assignment"] = _sha256(run.start)
    hashes[f"assignment after iteration {run.n_finished}"] = _sha256(run.assignment())
    return hashes


def _sha256(assignment: np.ndarray) -> str:
    """Of the values as little-endian int32, row by row."""
    return hashlib.sha256(np.ascontiguousarray(assignment, dtype="<i4").tobytes()).hexdigest()


def _versions() -> dict[str, object]:
    found: dict[str, object] = {"Python": platform.python_version()}
    for package in ("swag-af", "numpy", "torch", "scikit-learn", "fasttext"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def timing(run: Run) -> str:
    """All that differs from one making of the same run to the next."""
    if not run.timing:
        return section("timing", "Timing", paragraph("Nothing has been timed yet."))
    seconds = [t.seconds for t in run.timing]
    values = {
        "all iterations": duration(sum(seconds)),
        "an iteration, median": f"{np.median(seconds):.2f} s",
        "of it fitting, in all": duration(sum(t.fit_seconds for t in run.timing)),
        "peak memory": f"{max(t.peak_memory_gb for t in run.timing):.2f} GB",
    }
    return section("timing", "Timing", facts(values, kind="tiles"), paragraph("Audits are not counted in."))
