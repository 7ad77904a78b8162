"""The subject of a report: a run, its manifest and its audits, read once, with the names and colours of its filters.

Writes nothing.
"""

from dataclasses import dataclass
from typing import Any

from swag_af.data.disk.manifests import MANIFEST, read_manifest
from swag_af.data.runs.findings import Finding, read_audits
from swag_af.data.runs.run import Run
from swag_af.reporting.plot import audit_points, colours, curves

GOLD, BEFORE, AFTER, FIRST_FILTER = 0, 1, 2, 3
"""Numbers of the colours that are the same in every report; those of the filters follow."""
FIXED_COLOURS = ("#b07d00", "#7d8590", "#2563c9")


@dataclass(frozen=True)
class Subject:
    """A run, and the data that several sections of its report share."""

    run: Run
    manifest: dict[str, Any]
    """Empty for a run in memory."""
    findings: tuple[Finding, ...]
    """Every audit of an iteration that the run has."""
    audits: dict[str, list[Finding]]
    """For every audit filter its findings, by iteration; findings of several seeds are averaged."""
    left_out: tuple[tuple[str, str], ...]
    """Audit filters that were not available, and why."""
    filters: tuple[str, ...]
    """Every head and audit filter that has a colour, in order."""

    @property
    def colours(self) -> list[str]:
        """The colours of the page, by number."""
        return [*FIXED_COLOURS, *colours(self.filters).values()]

    def colour(self, name: str) -> int:
        """The number of a filter's colour."""
        return FIRST_FILTER + self.filters.index(name)


def subject_of(run: Run) -> Subject:
    """The subject for `run`, which may be unfinished, and in memory."""
    there = run.path is not None and (run.path / MANIFEST).exists()
    manifest = read_manifest(run.path, "run") if run.path is not None and there else {}
    kept = read_audits(run.path)
    audits = audit_points(run, kept)
    findings = tuple(f for f in kept.findings if f.iteration is not None and f.iteration <= run.n_finished)
    return Subject(run, manifest, findings, audits, kept.left_out, tuple(dict.fromkeys([*curves(run), *audits])))
