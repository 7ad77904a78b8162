"""The folder that refining leaves, and its reader. Asks nobody.

    refine.json      options, hashes of the files, what was flagged beside luck, rounds, control, audits; written last
    questions.jsonl  the questions that are kept, as they are now, a line each
    versions.jsonl   every version of every question with what judges made of it, by round
    answers          every answer of a server
    refining         fits of filters, from which a killed run goes on, until it is finished

The same data, options, seed and answers give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from swag_af.data.disk.files import read_records, write_json, write_jsonl
from swag_af.data.disk.manifests import FORMAT, read_finished
from swag_af.data.disk.records import Count
from swag_af.data.display.brief import brief
from swag_af.data.instances.instances import Instances
from swag_af.refining.audits import BeforeAfter
from swag_af.refining.chance import Luck
from swag_af.refining.recipe import Control, Outcome, RoundCount, Share, Version

ABOUT, QUESTIONS, VERSIONS = "refine.json", "questions.jsonl", "versions.jsonl"
WORK, ANSWERS = "refining", "answers"
_AGAIN = "Refine the data again."


@dataclass(frozen=True, slots=True)
class About:
    """What was refined, and what came of it."""

    name: str
    recipe: str
    n: Count
    n_kept: Count
    n_flagged: Count
    """Still flagged at the end; kept only where the options say so."""
    n_rewritten: Count
    """Kept questions with other options than they had."""
    n_short: Count
    """Kept questions that could not be given as many options as were wanted."""
    chance: float
    n_groups: Count
    groups: str
    files: dict[str, str]
    notes: tuple[str, ...]
    """How the files were read."""
    options: dict[str, Any]
    judges: dict[str, dict[str, Any]]
    """The settings of each."""
    rewriter: dict[str, Any]
    first: Share
    """Flagged as they were given."""
    luck: Luck | None
    """None only in a folder of an earlier version, where a filter has one try alone."""
    rounds: tuple[RoundCount, ...]
    control: Control | None
    audits: tuple[BeforeAfter, ...]
    said: tuple[str, ...]
    """Of judges' answers and of audits left out, a line each."""
    versions: dict[str, str]
    one_try: str = ""
    """Where the tries of filters are one, why, and what helps."""


@brief
@dataclass(frozen=True)
class Refined:
    """A folder of `refine`."""

    path: Path
    about: About
    versions: tuple[Version, ...]


def open_refined(folder: Path) -> Refined:
    """The finished folder of `refine`; FormatError names the file of what is damaged."""
    about = read_finished(folder / ABOUT, "refine", About, _AGAIN)
    return Refined(folder, about, tuple(read_records(folder / VERSIONS, Version, _AGAIN)))


def write_refined(folder: Path, about: About, outcome: Outcome, kept: Instances, identity: Mapping[str, Any]) -> None:
    """Write the records; `refine.json`, by which the folder is known as finished, last."""
    flagged = {outcome.instances.instances[row].id for row in outcome.flagged.nonzero()[0].tolist()}
    before = "sent1" if any(one.start for one in kept.instances) else "context"  # a start is read behind sent1 alone
    write_jsonl(folder / QUESTIONS, (_record(one, before, flagged=one.id in flagged) for one in kept.instances))
    write_jsonl(folder / VERSIONS, map(asdict, outcome.versions))
    write_json(folder / ABOUT, {"format": FORMAT, "kind": "refine", "identity": identity, **asdict(about)})


def _record(one: Any, before: str, *, flagged: bool) -> dict[str, Any]:
    """A question as a row that every reader of ours understands; `before` is what its context is called."""
    row = {"id": one.id, before: one.context, "start": one.start, "options": list(one.options), "label": one.answer}
    more = {"group": one.group, "split": one.split, "media": one.media}
    more |= {"contrast_set": one.contrast_set, "variant": one.variant, "question_id": one.question, "stage": one.stage}
    more |= {"gold-source": one.gold_source, "objects": list(one.objects)}
    return row | {name: value for name, value in more.items() if value} | ({"flagged": True} if flagged else {})
