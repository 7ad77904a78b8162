"""What audits found, stored with the run that was audited.

    run/audits.jsonl    a line for each audit, by iteration, then filter; same seed, same bytes
    run/unseen.jsonl    a line for each check of the filter that may end the run, where there is one

Several seeds are several audits; `over_seeds` averages them. Auditing itself happens in `swag_af.auditing`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from swag_af.data.disk.files import read_log, read_records, write_jsonl
from swag_af.data.disk.records import parse_record
from swag_af.data.numbers.interval import CROSS_VALIDATED, DIGITS, widened
from swag_af.data.work.locks import alone

AUDITS = "audits.jsonl"
UNSEEN = "unseen.jsonl"
GONE_BELOW = "below chance: swaps have gone past it, or the pool recycles golds"
"""What is told of a filter that could end the run and whose whole interval is below chance."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one audit filter found in one assignment."""

    iteration: int | None
    """The assignment audited is the one after this iteration; None when it came from no run."""
    filter: str
    accuracy: float
    """Share of the contexts whose gold scores highest among the A, 0 to 1; a tie at the top counts as a guess."""
    low: float
    """The 95 % interval of `accuracy` begins here ..."""
    high: float
    """... and ends here."""
    chance: float
    n: int
    """Contexts scored: all of them."""
    n_groups: int
    """Groups that folds keep together: of one video, or sharing texts."""
    n_folds: int
    seed: int
    ranks: tuple[float, ...]
    """(A,) contexts whose gold comes first, second, ... by score; a tie is shared among its ranks."""
    settings: str = ""
    """The filter's settings, as `fingerprint` writes them; empty in older files and for a filter that has none."""
    hits: tuple[float, ...] = field(default=(), repr=False)
    """(N,) for every context, in order, 1 where its gold scores highest, 1/t at a tie of t, else 0; empty in older
    files."""
    said: tuple[str, ...] = ()
    """What the filter had to tell of its scores, a line each: answers of a judge that could not be read, say."""
    fits: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    """What the fit of each fold says of itself, such as the learning rate that it chose; in the file where there is
    something."""
    variance_times: float = 1.0
    """How many times the variance of single hits the interval allows for: `CROSS_VALIDATED`. 1 in older files, whose
    intervals are widened when they are read."""


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """A line about a filter that was not available."""

    filter: str
    left_out: str


@dataclass(frozen=True, slots=True)
class Audits:
    """The contents of `audits.jsonl`."""

    findings: tuple[Finding, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Filters that were requested and are not available here, and why."""


def over_seeds(findings: Iterable[Finding]) -> list[tuple[Finding, int]]:
    """Findings that differ only in their seed merged into one, with the number of seeds; sorted by filter, then
    iteration.

    Accuracy, interval, ranks and hits are means over the seeds; `seed` is the first one.
    """
    alike: dict[tuple[Any, ...], list[Finding]] = {}
    for one in findings:
        at = -1 if one.iteration is None else one.iteration
        alike.setdefault((one.filter, at, one.n_folds, one.n_groups, one.settings), []).append(one)
    return [(_mean_of(alike[key]), len(alike[key])) for key in sorted(alike)]


def _mean_of(findings: Sequence[Finding]) -> Finding:
    """One mean finding of several that differ only in their seed."""
    if len(findings) == 1:
        return findings[0]
    lacks_hits = any(not f.hits for f in findings)  # an older file's
    return replace(
        min(findings, key=lambda f: f.seed),
        accuracy=float(np.mean([f.accuracy for f in findings])),
        low=float(np.mean([f.low for f in findings])),
        high=float(np.mean([f.high for f in findings])),
        ranks=tuple(np.mean([f.ranks for f in findings], axis=0).tolist()),
        hits=() if lacks_hits else tuple(np.mean([f.hits for f in findings], axis=0).tolist()),
    )


def read_audits(path: Path | None) -> Audits:
    """The audits stored in the run folder `path`, in order; none where there is no file."""
    if path is None or not (path / AUDITS).exists():
        return Audits()
    findings, left_out = [], []
    for number, record in read_log(path / AUDITS):
        where, advice = f"{path / AUDITS}: line {number} is not an audit", "Delete the file and audit again."
        if "left_out" in record:
            reason = parse_record(record, _LeftOut, where, advice)
            left_out.append((reason.filter, reason.left_out))
        else:
            record.setdefault("n_groups", record.pop("n_videos", 0))  # its name in older files
            findings.append(_as_now(parse_record(record, Finding, where, advice)))
    return Audits(tuple(findings), tuple(left_out))


def _as_now(finding: Finding) -> Finding:
    """One of an older file with the interval that audits state now."""
    if finding.variance_times != 1:
        return finding
    low, high = widened(finding.accuracy, finding.low, finding.high, times=CROSS_VALIDATED)
    return replace(finding, low=round(low, DIGITS), high=round(high, DIGITS), variance_times=CROSS_VALIDATED)


def record_of(finding: Finding) -> dict[str, Any]:
    """A finding for JSON; hits that are whole numbers are written without a decimal point, and what is not said, or not
    known of fits, is left out."""
    hits = [int(hit) if hit in (0, 1) else hit for hit in finding.hits]
    return {k: v for k, v in asdict(finding).items() if v or k not in ("said", "fits")} | {"hits": hits}


def key_of(finding: Finding) -> tuple[Any, ...]:
    """What identifies an audit."""
    return finding.iteration, finding.filter, finding.n_folds, finding.seed, finding.settings


def keep(path: Path, *, finding: Finding | None = None, left_out: tuple[str, str] | None = None) -> None:
    """Store one more in the run folder `path`, sorted among what is there; others may do so at the same time."""
    with alone(path / AUDITS, is_told=False):
        kept = read_audits(path)
        findings = {key_of(f): f for f in (*kept.findings, *([finding] if finding else []))}
        reasons = dict([*kept.left_out, *([left_out] if left_out else [])])
        if finding:
            reasons.pop(finding.filter, None)
        lines = [record_of(findings[key]) for key in sorted(findings)]
        lines += [{"filter": name, "left_out": reason} for name, reason in sorted(reasons.items())]
        write_jsonl(path / AUDITS, lines)


@dataclass(frozen=True, slots=True)
class UnseenCheck:
    """Whether a filter of a kind that the run does not use was near enough to chance after an iteration."""

    filter: str
    iteration: int
    accuracy: float
    low: float
    """The 95 % interval of `accuracy`, which is what counts, begins here ..."""
    high: float
    """... and ends here."""
    chance: float
    within: float
    """How far from chance it may be, at most, above or below."""

    @property
    def is_near(self) -> bool:
        """Whether the whole interval is near enough."""
        return self.chance - self.within <= self.low and self.high <= self.chance + self.within

    @property
    def is_below(self) -> bool:
        """Whether the whole interval is below chance."""
        return self.high < self.chance


def read_unseen(path: Path | None) -> tuple[UnseenCheck, ...]:
    """The checks stored in the run folder `path`, by iteration; none where there is no file."""
    if path is None or not (path / UNSEEN).exists():
        return ()
    advice = "Delete the file and run the same command again."
    return tuple(read_records(path / UNSEEN, UnseenCheck, advice, is_log=True))


def write_unseen(path: Path, checks: Sequence[UnseenCheck]) -> None:
    """Store the checks in the run folder `path`."""
    write_jsonl(path / UNSEEN, map(asdict, checks))
