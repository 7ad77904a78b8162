"""The options of the verbs `verify ...`. Imports nothing heavy."""

from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address
from math import inf
from pathlib import Path
from typing import Literal

from swag_af.data.errors import Options, check_faults


@dataclass(frozen=True)
class ServeOptions(Options):
    """Let people judge the endings of a run in their browsers; answers are kept in the run's folder.

    Prints the links for annotators and for the admin page. Stop it with Ctrl-C; the same command resumes. An item is
    one context with endings to judge.

    Try:
      swag-af verify serve run
      swag-af verify serve run --limit 200 --annotators-per-item 2 --qualification builtin
      swag-af verify serve run --media images --limit 200
      swag-af verify serve run --items-per-annotator 20 --completion-url "https://crowd.example/complete?cc=C0DE"
    """

    run: Path
    """The run folder of `swag-af filter`."""
    iteration: int | None = None
    """Show endings of the assignment after this iteration. If not given: the last."""
    limit: int | None = None
    """Show only this many contexts, drawn at random. If not given: all. May grow later."""
    seed: int = 0
    """Seed of the endings, the order of the contexts, and each annotator's order of the endings; also breaks ties."""
    annotators_per_item: int = 1
    """How many people judge an item (Zellers et al. 2018, 3.5: one)."""
    max_annotators_per_item: int | None = None
    """How many people judge an item at most, if those before disagree: no ending is best to more than half of them. If
    not given: three, or --annotators-per-item if that is more."""
    items_per_annotator: int | None = None
    """Items that a person judges before the end is shown. If not given: all."""
    lease_minutes: float = 30.0
    """An item that is not answered for this many minutes goes to somebody else. For people who have not answered any
    item yet, 5 minutes."""
    invited_only: bool = False
    """Let people in only by the links of `swag-af verify invite`, so that nobody can make up ids."""
    qualification: str | None = None
    """Items with known answers that everybody judges first. FILE.jsonl: your own. builtin: four of ours, which anybody
    can look up. drawn: questions made of contexts that --limit leaves out, by a secret of this verification."""
    qualification_questions: int | None = None
    """How many qualification questions each person is asked, drawn for each. If not given: all, or four with
    --qualification drawn."""
    qualification_share: float = 0.75
    """Share of the known answers that a person must give to be let in."""
    min_gold_share: float | None = None
    """People who put gold among the best two less often than this lose the qualification. If not given: 0.55 of six
    endings (Zellers et al. 2018, A.5), 0.66 of four and 0.775 of three, as far above chance. Of two it drops nobody."""
    min_gold_items: int = 10
    """Items after which --min-gold-share is applied (Zellers et al. 2018, A.5)."""
    check_every: int = 0
    """One in this many items of a person is an attention check, whose answer is known. 0: none. Checks look like items,
    are paid like them, and become no verdicts."""
    checks: str = "drawn"
    """Where checks come from. drawn: items of contexts that --limit leaves out, with the words of two endings shuffled
    by a secret of this verification. FILE.jsonl: questions as for --qualification."""
    min_check_share: float = 0.6
    """People who pass a smaller share of the checks are flagged on the admin page."""
    min_checks: int = 3
    """Checks after which --min-check-share is applied."""
    failed_checks: Literal["flag", "pause", "dequalify"] = "flag"
    """What is done with flagged people, at the check that they failed. flag: nothing more. pause: pause them until the
    admin resumes them. dequalify: none of their answers counts."""
    media: Path | None = None
    """The folder of pictures and videos that contexts name (`pool --media-columns`). They are shown above the texts."""
    instructions: Path | None = None
    """A text file shown above our instructions. Blank lines separate its paragraphs."""
    consent: Path | None = None
    """A text file that people must agree to before they begin, and again when it or --instructions change."""
    completion_url: str | None = None
    """Link on the last page: the completion link of a crowd platform."""
    completion_code: str | None = None
    """A code that the last page shows."""
    completion_items: int | None = None
    """Items that a person must have answered to get this link and code. If not given: --items-per-annotator, otherwise
    ten, or all if there are fewer."""
    early_end_url: str | None = None
    """Link on the last page for people who answered fewer, because no more are left or they were dequalified."""
    early_end_code: str | None = None
    """A code for people who answered fewer."""
    screen_out_url: str | None = None
    """Link on the last page for people who did not pass the qualification."""
    screen_out_code: str | None = None
    """A code for people who did not pass the qualification."""
    code_per_annotator: bool = False
    """Show each person an individual code instead. The admin's annotators.csv lists them."""
    min_seconds: float = 0.0
    """Mark answers given in fewer seconds as too fast, on the admin page and in annotators.csv. They count all the
    same."""
    deadline: str | None = None
    """Time from which no new items are handed out, such as 2027-01-31T18:00 (of this machine), or with +00:00."""
    database: str | None = None
    """Where answers are kept: a URL such as postgresql+psycopg://user@host/name. If not given: verification/answers.db
    (SQLite) in the run folder."""
    host: str = "127.0.0.1"
    """The address to listen at. The default can be reached from this machine only."""
    port: int = 8000
    """The port to listen at."""
    admin_token: str | None = None
    """Token that opens the admin page. If not given, one is made and kept in the verification folder."""
    requests_per_minute: int = 240
    """Requests that one annotator may make per minute. One client, an address that several people may share, may make
    ten times as many."""
    connections_per_client: int = 64
    """Connections that one address may hold open. Another one closes the one that has waited longest. Proxies may hold
    more."""
    hosts: tuple[str, ...] = ()
    """Names by which people reach the server (your.host), without ports. Requests under other names are refused, except
    from this machine. If not given: any name."""
    proxies: tuple[str, ...] = ()
    """Addresses of the web servers in front of this one (127.0.0.1). X-Forwarded-For and -Proto are trusted from these
    only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        token = self.admin_token
        at_least_one = (
            "limit",
            "annotators_per_item",
            "qualification_questions",
            "completion_items",
            "items_per_annotator",
            "min_gold_items",
            "min_checks",
            "requests_per_minute",
            "connections_per_client",
        )
        check_faults(
            [
                *(
                    ((n := getattr(self, name)) is not None and n < 1, f"--{name.replace('_', '-')} {n}: at least 1")
                    for name in at_least_one
                ),
                (
                    self.most_annotators < self.annotators_per_item,
                    f"--max-annotators-per-item {self.max_annotators_per_item}: below --annotators-per-item",
                ),
                ((self.completion_items or 0) > (self.items_per_annotator or inf), self._too_many_to_complete),
                *(
                    (not 0 <= (getattr(self, name) or 0) <= 1, f"--{name.replace('_', '-')}: from 0 to 1")
                    for name in ("qualification_share", "min_gold_share", "min_check_share")
                ),
                (
                    self.check_every < 0 or self.check_every == 1,
                    f"--check-every {self.check_every}: 0 for none, or at least 2",
                ),
                *(
                    (not getattr(self, needed.replace("-", "_")), f"{flag}: only with --{needed}")
                    for needed, names in _NEEDING.items()
                    for flag in self.given_of(*names)
                ),
                (self.lease_minutes <= 0, f"--lease-minutes {self.lease_minutes}: above 0"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (not 0 <= self.port <= 65535, f"--port {self.port}: from 0 to 65535"),
                *(
                    (
                        (url := getattr(self, name)) is not None and not url.startswith(("https://", "http://")),
                        f"--{name.replace('_', '-')} {url}: begins with https://",
                    )
                    for name in ("completion_url", "early_end_url", "screen_out_url")
                ),
                *self._no_names,
                (self.min_seconds < 0, f"--min-seconds {self.min_seconds}: not below 0"),
                (
                    self.deadline is not None and not _is_time(self.deadline),
                    f"--deadline {self.deadline}: write it like 2027-01-31T18:00",
                ),
                (
                    token is not None and (len(token) < 12 or not token.isascii() or not token.isprintable()),
                    "--admin-token: at least 12 plain characters",
                ),
            ]
        )

    @property
    def _no_names(self) -> list[tuple[bool, str]]:
        return [
            *((not _is_address(one), f"--proxies {one}: an address, as 127.0.0.1") for one in self.proxies),
            *(
                ("/" in one or (":" in one and not _is_address(one)), f"--hosts {one}: a name alone, as your.host")
                for one in self.hosts
            ),
        ]

    @property
    def _too_many_to_complete(self) -> str:
        return (
            f"--completion-items {self.completion_items}: above --items-per-annotator, so that nobody has ever enough"
        )

    @property
    def most_annotators(self) -> int:
        """People who judge an item at most."""
        given = self.max_annotators_per_item
        return max(MOST_ANNOTATORS, self.annotators_per_item) if given is None else given


MOST_ANNOTATORS = 3
"""People who judge an item at most, when nothing else is said."""

_NEEDING = {
    "qualification": ("qualification_questions", "qualification_share"),
    "check-every": ("checks", "min_check_share", "min_checks", "failed_checks"),
}
"""Options of `ServeOptions` that have no effect without the one before them."""


def unbracketed(address: str) -> str:
    """An address of IPv6 as it is compared: `[::1]`, as it stands in links, is `::1`."""
    return address.strip("[]")


def _is_address(text: str) -> bool:
    try:
        ip_address(unbracketed(text))
    except ValueError:
        return False
    return True


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return False
    return True


@dataclass(frozen=True)
class BackupOptions(Options):
    """Copy all answers of a verification into one file, safely while `verify serve` runs.

    To restore a copy, stop the server, put the copy in the place of verification/answers.db, and delete answers.db-wal
    and answers.db-shm beside it.

    Try:
      swag-af verify backup run --out answers-monday.db
    """

    run: Path
    """The run folder of `swag-af filter`."""
    out: Path = Path("answers-backup.db")
    """The file to write, an SQLite database; only its owner may read it."""
    database: str | None = None
    """Where `verify serve` keeps its answers, if not in the run folder: the URL of an SQLite file."""
    force: bool = False
    """Replace an existing file."""


@dataclass(frozen=True)
class InviteOptions(Options):
    """Write a link for each annotator, signed so that nobody can make one up (`verify serve --invited-only`).

    Try:
      swag-af verify invite run --n 50 --out links.csv
      swag-af verify invite run --annotators ids.txt --address https://your.host --out links.csv
    """

    run: Path
    """The run folder of `swag-af filter`."""
    annotators: Path | None = None
    """A file with one annotator's id per line."""
    n: int | None = None
    """Make up this many ids, instead of reading a file."""
    address: str = "http://127.0.0.1:8000"
    """Where annotators reach the server."""
    out: Path = Path("links.csv")
    """The table to write: annotator, link. Only its owner may read it, since each link is a password."""
    force: bool = False
    """Replace an existing file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults(
            [
                ((self.annotators is None) == (self.n is None), "give either --annotators or --n"),
                (self.n is not None and self.n < 1, f"--n {self.n}: at least 1"),
                (
                    not self.address.startswith(("https://", "http://")),
                    f"--address {self.address}: begins with https://",
                ),
            ]
        )


@dataclass(frozen=True)
class ExportOptions(Options):
    """Write the endings of a run as tasks for people elsewhere, or the verdicts that the web application collected.

    Also writes FILE.key.json beside the tasks, which says what they are and which ending is gold. Keep it, and never
    upload it. `swag-af verify import` needs it.

    Try:
      swag-af verify export run --to mturk --out hits.csv
      swag-af verify export run --to label-studio --out tasks.json --limit 500
      swag-af verify export run --to mturk --out round2.csv --verdicts verdicts.jsonl --annotators-per-item 2
      swag-af verify export run --to verdicts --out verdicts.jsonl
    """

    run: Path
    """The run folder of `swag-af filter`."""
    to: Literal["csv", "label-studio", "prolific", "mturk", "verdicts"] = "csv"
    """What to write. csv: a table to fill in. label-studio: tasks, and a labeling config. prolific: the data set of a
    Task Builder batch, and its questions. mturk: the input of a batch, and its page. verdicts: what `verify serve`
    collected."""
    out: Path = Path("tasks.csv")
    """The file to write. The key, and what else the platform needs, are written beside it."""
    verdicts: Path | None = None
    """Earlier verdicts. Write only what is still to be judged, including refills of items with too few sensible
    endings."""
    annotators_per_item: int = 1
    """With --verdicts: write items again that fewer people than this have judged."""
    linked: Literal["keep", "none"] = "keep"
    """What is done with items whose answer is the first sentence of another, as consecutive captions make them. keep:
    keep them. none: leave one of two out; it comes with --verdicts, once the other is judged."""
    iteration: int | None = None
    """Show endings of the assignment after this iteration. If not given: the last."""
    limit: int | None = None
    """Write only this many contexts, drawn at random. If not given: all."""
    seed: int = 0
    """Seed of the endings, the contexts, and the order of the endings; with --verdicts, breaks ties."""
    database: str | None = None
    """With --to verdicts: where `verify serve` keeps its answers, if not in the run folder."""
    all: bool = False
    """With --to verdicts: include those of dequalified people."""
    force: bool = False
    """Replace existing files."""

    def __post_init__(self) -> None:
        super().__post_init__()
        is_served = self.to == "verdicts"
        check_faults(
            [
                (self.limit is not None and self.limit < 1, f"--limit {self.limit}: at least 1"),
                (self.annotators_per_item < 1, f"--annotators-per-item {self.annotators_per_item}: at least 1"),
                (self.annotators_per_item > 1 and self.verdicts is None, "--annotators-per-item: only with --verdicts"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (self.database is not None and not is_served, "--database: only with --to verdicts"),
                (self.all and not is_served, "--all: only with --to verdicts"),
                (is_served and self.verdicts is not None, "--verdicts: not with --to verdicts"),
                (is_served and self.linked != "keep", "--linked: not with --to verdicts"),
                (is_served and self.limit is not None, "--limit: not with --to verdicts"),
                (is_served and self.iteration is not None, "--iteration: not with --to verdicts"),
                (is_served and self.seed != 0, "--seed: not with --to verdicts"),
            ]
        )


@dataclass(frozen=True)
class ImportOptions(Options):
    """Read what people elsewhere answered, and write it as verdicts.

    The key of the export says which platform the files come from. Without a key, the files are already verdicts, and
    are put together.

    Try:
      swag-af verify import run Batch_1_batch_results.csv --key hits.csv.key.json --out mturk.jsonl
      swag-af verify import run mturk.jsonl web.jsonl --out verdicts.jsonl
    """

    run: Path
    """The run folder that the tasks were exported from."""
    files: tuple[Path, ...]
    """Result files of the platform, or files of verdicts."""
    key: Path | None = None
    """FILE.key.json of the export. If not given, the files are verdicts."""
    out: Path = Path("verdicts.jsonl")
    """The file of verdicts to write."""
    force: bool = False
    """Replace an existing file."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_faults([(not self.files, "no files given: name what the platform gave back")])
