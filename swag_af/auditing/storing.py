"""The folder that an audit leaves, and its reader. Computes nothing but tiers, and shows nothing.

    audit.json         what was audited and how: files, hashes, options, seed, versions, groups, probes, counts, tiers
    diagnostics.jsonl  a line for each check that was made, in order of code and subject
    words.jsonl        a line for each association of a word or n-gram with a label, strongest first
    questions.jsonl    a line for each instance: what each probe made of it, and its tier
    comparison.json    before against after, where the audit was a comparison (`swag_af.auditing.comparison`)
    audit.html         the page, where one was asked for (`swag_af.reporting.pages.audit`)

The same audit gives the same bytes; times and paths of the machine are in none of them. The folder is there whole or
not at all.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.auditing.codes.code import is_computed
from swag_af.auditing.diagnostics import Diagnostic
from swag_af.auditing.outcome import Association, Audit, FoldKind, Probe, over_seeds
from swag_af.auditing.tiers import TIERS, Tiers, tiers_of
from swag_af.data.disk.files import read_json, read_jsonl, read_records, write_json, write_jsonl
from swag_af.data.disk.files import write_text as write_file
from swag_af.data.disk.manifests import FORMAT, as_read, check_made_by, read_finished
from swag_af.data.disk.records import Count
from swag_af.data.disk.replacing import check_there, replacing
from swag_af.data.errors import FormatError, InputError
from swag_af.data.instances.instances import Instances, Kind

ABOUT, DIAGNOSTICS, WORDS, QUESTIONS = "audit.json", "diagnostics.jsonl", "words.jsonl", "questions.jsonl"
RECORDS = (ABOUT, DIAGNOSTICS, WORDS, QUESTIONS)
"""The files that every audit has."""
_AGAIN = "Audit the data again."


@dataclass(frozen=True, slots=True)
class ProbeRecord:
    """How a probe was made."""

    name: str
    """As in its diagnostic and in `questions.jsonl`."""
    input: str
    model: str
    folds: FoldKind
    n_folds: Count
    seed: Count
    fitted_on: str
    scored_on: str
    n: Count
    """Instances that it scored."""


@dataclass(frozen=True, slots=True)
class About:
    """What was audited, and how."""

    name: str
    of: Kind
    classes: tuple[str, ...]
    n: Count
    """Instances."""
    n_answers: dict[str, Count]
    """How many instances have that number of answers."""
    chance: float
    """The mean over instances."""
    splits: dict[str, Count]
    """Instances of each published split; one without a name where there is none."""
    n_groups: Count
    groups: str
    """How groups were made, in a sentence."""
    files: dict[str, str]
    """The SHA-256 of each file."""
    notes: tuple[str, ...]
    """How the files were read."""
    counts: dict[str, Count]
    """Checks by status."""
    probes: tuple[ProbeRecord, ...]
    tiers: dict[str, Count]
    """Instances of each tier; empty without a probe to tell them by."""
    weights: dict[str, float]
    """The weight of each probe in the tiers."""
    record: dict[str, Any]
    """Options, seed, versions."""
    reading: dict[str, str] = field(default_factory=dict)
    """How the files are to be read, where that is not found by itself: options by name."""


@dataclass(frozen=True, slots=True)
class Question:
    """A line of `questions.jsonl`."""

    id: str
    split: str
    where: str
    """Its place in the file."""
    group: Count
    gold: Count
    """The number of the right answer."""
    chance: float
    probability: dict[str, float]
    """Of gold, by each probe that scored it, out of fold."""
    hits: dict[str, float]
    """How far gold came first: 1, 0, or 1/t where t answers tie with it."""
    solved_by: int | None
    """How many of the probes that tiers are told by are right more than half of the time, over seeds and ties; null
    without such probes, as all below."""
    combined: float | None
    """The probability of gold by those probes together."""
    tier: str | None
    """`easy`, `middling` or `hard`: `swag_af.auditing.tiers`."""


@dataclass(frozen=True)
class SavedAudit:
    """All that is kept of an audit, whether it was saved already or not; pages, gates and tables read this."""

    about: About
    diagnostics: tuple[Diagnostic, ...]
    associations: tuple[Association, ...]
    questions: tuple[Question, ...]


def saved_form(audit: Audit | SavedAudit) -> SavedAudit:
    """What is kept of `audit`; of one that has this form already, itself."""
    if isinstance(audit, SavedAudit):
        return audit
    audit = replace(audit, probes=tuple(over_seeds(audit.probes)))
    tiers = tiers_of(audit.probes, audit.instances)
    return SavedAudit(
        _about(audit, tiers),
        tuple(map(_writable_diagnostic, audit.diagnostics)),
        tuple(replace(one, ngram=_writable(one.ngram)) for one in audit.associations),
        tuple(_questions(audit, tiers)),
    )


def check_out(folder: Path) -> None:
    """Raise InputError where `folder` can be no audit's, or is there and is something else."""
    check_made_by("audit", folder, ABOUT)


def check_replaces(folder: Path, instances: Instances) -> None:
    """Raise InputError where `folder` holds the audit of another dataset, by its name or by ids of which none is among
    those of `instances`: that is not to go unasked."""
    if not (folder / ABOUT).is_file():
        return
    there, name = read_json(folder / ABOUT).get("name"), instances.name
    ids = {_writable(one.id) for one in instances.instances}
    if there == name and not ids.isdisjoint(_ids_in(folder) or ids):
        return
    other = "another dataset of that name" if there == name else name
    raise InputError(
        f"{folder}: the audit of {there} is there, and this is one of {other}. Choose another --out, or delete it."
    )


def _ids_in(folder: Path) -> set[str]:
    """The ids of the questions of the audit in `folder`; none where its file is gone or damaged."""
    try:
        return {str(line["id"]) for _, line in read_jsonl(folder / QUESTIONS)}
    except (OSError, FormatError, KeyError, TypeError):
        return set()


def save_audit(audit: Audit | SavedAudit, folder: Path, beside: Mapping[str, str] | None = None) -> None:
    """Write the folder of `audit`, and each text of `beside` into the file of its name beside the records.

    An older audit there is replaced when the new one is whole. Raises InputError for a folder that is something else.
    """
    check_out(folder)
    kept = saved_form(audit)
    with replacing(folder) as temporary:
        temporary.mkdir()
        write_jsonl(temporary / DIAGNOSTICS, map(_diagnostic_line, kept.diagnostics))
        write_jsonl(temporary / WORDS, map(asdict, kept.associations))
        write_jsonl(temporary / QUESTIONS, map(asdict, kept.questions))
        write_json(temporary / ABOUT, {"format": FORMAT, "kind": "audit", **asdict(kept.about)})
        for name, text in (beside or {}).items():
            write_file(temporary / name, text)


def open_audit(folder: Path) -> SavedAudit:
    """The audit that was saved in `folder`; FormatError names the file and the line of what is damaged."""
    about = _read_about(folder)
    questions = tuple(read_records(folder / QUESTIONS, Question, _AGAIN))
    if len(questions) != about.n:
        raise FormatError(f"{folder / QUESTIONS}: {len(questions):,} lines for {about.n:,} instances. {_AGAIN}")
    words = tuple(read_records(folder / WORDS, Association, _AGAIN))
    return SavedAudit(about, read_diagnostics(folder), words, questions)


def read_diagnostics(folder: Path) -> tuple[Diagnostic, ...]:
    """The diagnostics alone, which are all that a gate asks for."""
    counts = _read_about(folder).counts
    found = tuple(read_records(folder / DIAGNOSTICS, Diagnostic, _AGAIN))
    if len(found) != sum(counts.values()):
        raise FormatError(f"{folder / DIAGNOSTICS}: {len(found):,} lines for {sum(counts.values()):,} checks. {_AGAIN}")
    return found


def _about(audit: Audit, tiers: Tiers | None) -> About:
    data = audit.instances
    n_answers = Counter(data.n_answers.tolist())
    splits = {_writable(split): len(rows) for split, rows in data.splits().items()}
    by_tier = np.bincount(tiers.numbers, minlength=len(TIERS)).tolist() if tiers else []
    return About(
        name=_writable(data.name),
        of=data.kind,
        classes=tuple(map(_writable, data.classes)),
        n=len(data),
        n_answers={str(n): n_answers[n] for n in sorted(n_answers)},
        chance=round(float(data.chance.mean()), 6),
        splits=splits,
        n_groups=audit.groups.n,
        groups=audit.groups.said,
        files=dict(data.files),
        notes=data.notes,
        counts=_counts(audit.diagnostics),
        probes=tuple(map(_probe_record, audit.probes)),
        tiers=dict(zip(TIERS, by_tier, strict=False)),
        weights=dict(tiers.weights) if tiers else {},
        record=as_read(audit.record),
    )


def _counts(diagnostics: Sequence[Diagnostic]) -> dict[str, int]:
    """How many checks of each status there are; those that had nothing to look at are idle, not clear."""
    found = Counter(one.status if is_computed(one) else "idle" for one in diagnostics)
    return {status: found[status] for status in ("found", "hint", "clear", "idle")}


def _probe_record(probe: Probe) -> ProbeRecord:
    made = (probe.n_folds, probe.seed, probe.fitted_on, probe.scored_on, len(probe.rows))
    return ProbeRecord(probe.name, probe.input, probe.model, probe.folds, *made)


def _questions(audit: Audit, tiers: Tiers | None) -> Iterator[Question]:
    probabilities = [(probe.name, _by_row(probe.rows, probe.probabilities)) for probe in audit.probes]
    hits = [(probe.name, _by_row(probe.rows, probe.hits)) for probe in audit.probes]
    groups, chance = audit.groups.numbers.tolist(), np.round(audit.instances.chance, 6).tolist()
    for row, one in enumerate(audit.instances.instances):
        yield Question(
            id=_writable(one.id),
            split=_writable(one.split),
            where=_writable(one.where),
            group=groups[row],
            gold=one.answer,
            chance=chance[row],
            probability={name: of[row] for name, of in probabilities if row in of},
            hits={name: of[row] for name, of in hits if row in of},
            solved_by=int(tiers.solved_by[row]) if tiers else None,
            combined=round(float(tiers.probability[row]), 6) if tiers else None,
            tier=TIERS[tiers.numbers[row]] if tiers else None,
        )


def _by_row(rows: np.ndarray, values: np.ndarray) -> dict[int, float]:
    return dict(zip(rows.tolist(), np.round(values, 6).tolist(), strict=True))


def _writable_diagnostic(one: Diagnostic) -> Diagnostic:
    examples = tuple(
        replace(example, **{name: _writable(text) for name, text in asdict(example).items()})
        for example in one.examples
    )
    return replace(one, said=_writable(one.said), subject=_writable(one.subject), examples=examples, even=None)


def _diagnostic_line(one: Diagnostic) -> dict[str, Any]:
    """The line of a diagnostic; where it has no balanced figures, or none of avoiding, there is no field for them."""
    optional = ("balanced", "even", "avoiding")
    return {name: value for name, value in asdict(one).items() if name not in optional or value is not None}


def _writable(text: str) -> str:
    """`text` with halves of characters, which no UTF-8 file can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _read_about(folder: Path) -> About:
    check_there(folder, "no such folder. Check the path, or make it with `swag-af audit DATA`.")
    return read_finished(folder / ABOUT, "audit", About, _AGAIN)
