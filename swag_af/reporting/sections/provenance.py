"""The sections of a report about how the run was made: command, options, hashes, versions, seconds."""

import hashlib
import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from swag_af.af.options import FilterOptions
from swag_af.data.disk.manifests import sha256_json, version_of
from swag_af.data.disk.urls import command, option_words
from swag_af.data.runs.run import Run
from swag_af.data.work.progress import duration
from swag_af.reporting.page import render
from swag_af.reporting.sections.subject import Subject
from swag_af.reporting.tables.text import generator_lines


def provenance(subject: Subject) -> str:
    """The exact command, the options, hashes and versions."""
    manifest = subject.manifest
    made_by = manifest.get("made_by") or {}
    phases = ", ".join(f"{name} from iteration {first}" for name, first in manifest.get("phases", []))
    matched = subject.run.matching is not None
    options = {**({} if matched else {"phases": phases or "-"}), **manifest.get("options", {})}
    return render(
        "provenance",
        command=command_of(FilterOptions, "filter", made_by["options"]) if made_by.get("verb") == "filter" else "",
        options={name.replace("_", " "): value for name, value in options.items()},
        matched=matched,
        generator=[line.replace("`", "") for line in generator_lines(subject.run.pool.manifest)],
        prompt=_prompt(subject.run.pool.manifest.get("generator", {}).get("prompt") or {}),
        hashes=_hashes(subject.run),
        versions=_versions(),
        filters={
            name: ", ".join(f"{key} {_told(value)}" for key, value in settings.items()) or "-"
            for name, settings in manifest.get("filters", {}).items()
        },
    )


def _told(setting: Any) -> Any:
    """Of a model, which stands as the hashes of its files, one hash."""
    return f"SHA-256 {sha256_json(setting)[:12]} of its files" if isinstance(setting, dict) else setting


def _prompt(record: Mapping[str, Any]) -> str:
    """All that a language model was told, as JSON; empty where there was none."""
    told = {name: value for name, value in record.items() if name not in ("sha256", "shows_gold", "name")}
    return json.dumps(told, indent=1, ensure_ascii=False) if told else ""


def command_of(dataclass: type, verb: str, options: Mapping[str, Any]) -> str:
    """The command line for `options`, which are as `asdict` gives them; options at their defaults are left out."""
    return command(*verb.split(), *option_words(dataclass, options))


def _hashes(run: Run) -> dict[str, object]:
    pool = run.pool
    hashes: dict[str, object] = {"pool": pool.identity, "vocabulary": pool.vocabulary.sha256}
    for fold, sha256 in sorted(pool.manifest.get("plan", {}).get("lms", {}).items()):
        hashes[f"language models of fold {fold}"] = sha256
    hashes["first assignment" if run.matching is None else "assignment"] = _sha256(run.start)
    if run.matching is None:
        hashes[f"assignment after iteration {run.n_finished}"] = _sha256(run.assignment())
    return hashes


def _sha256(assignment: np.ndarray) -> str:
    """The hash of the values as little-endian int32, row by row."""
    return hashlib.sha256(np.ascontiguousarray(assignment, dtype="<i4").tobytes()).hexdigest()


def _versions() -> dict[str, object]:
    found: dict[str, object] = {"Python": platform.python_version()}
    for package in ("swag-af", "numpy", "torch", "scikit-learn", "fasttext"):
        found[package] = version_of(package) or "not installed"
    return found


def timing(run: Run) -> str:
    """Everything that differs when the same run is made again."""
    if not run.timing:
        return render("timing", values={})
    seconds = [t.seconds for t in run.timing]
    values = {
        "all iterations": duration(sum(seconds)),
        "an iteration, median": f"{np.median(seconds):.2f} s",
        "of it fitting, in all": duration(sum(t.fit_seconds for t in run.timing)),
        "peak memory": f"{max(t.peak_memory_gb for t in run.timing):.2f} GB",
    }
    return render("timing", values=values)
