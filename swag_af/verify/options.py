"""The options of `verify serve`, `verify export` and `verify import`. Imports nothing heavy."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from swag_af.data.errors import check_faults, check_numbers


@dataclass(frozen=True)
class ServeOptions:
    """Let people judge the endings of a run in their browsers; answers are kept in the run's folder.

    Prints the link for annotators and the one for the admin page. Stop it with Ctrl-C; the same command goes on.

    Try:
      swag-af verify serve run
      swag-af verify serve run --limit 200 --annotators-per-item 2 --qualification builtin
      swag-af verify serve run --items-per-annotator 20 --completion-url "https://crowd.example/complete?cc=C0DE"
    """

    run: Path
    """The run folder of `swag-af filter`."""
    iteration: int | None = None
    """Show endings of the assignment after this iteration; the last when not given."""
    limit: int | None = None
    """Show this many contexts, drawn at random; all when not given. May grow later."""
    seed: int = 0
    """Draws the endings, the order of the contexts, and each annotator's order of the endings; breaks ties."""
    annotators_per_item: int = 1
    """People who judge an item (Zellers et al. 2018, 3.5: one)."""
    max_annotators_per_item: int = 3
    """People who judge it at most, when those before disagree: no ending is best to more than half of them."""
    items_per_annotator: int | None = None
    """Items a person judges before the end is shown; all there are when not given."""
    lease_minutes: float = 30.0
    """An item that is not answered for so long goes to somebody else."""
    qualification: str | None = None
    """Items with known answers that everybody judges first: FILE.jsonl, or builtin for four of ours."""
    qualification_share: float = 0.75
    """Share of the known answers that one must give to be let in."""
    min_gold_share: float = 0.55
    """Who puts gold among the best two less often loses the qualification (Zellers et al. 2018, A.5)."""
    min_gold_items: int = 10
    """Items after which that is looked at (Zellers et al. 2018, A.5)."""
    completion_url: str | None = None
    """Where the last page leads: the completion link of a crowd platform."""
    completion_code: str | None = None
    """A code that the last page shows."""
    database: str | None = None
    """Where answers are kept: a URL like postgresql+psycopg://user@host/name; verification/answers.db (SQLite) in the
    run folder when not given."""
    host: str = "127.0.0.1"
    """The address to listen at; the default is reached from this machine only."""
    port: int = 8000
    """The port to listen at."""
    admin_token: str | None = None
    """What opens the admin page; made and kept in the verification folder when not given."""
    requests_per_minute: int = 240
    """Requests that one annotator may make; one client, an address that several may share, ten times as many."""

    def __post_init__(self) -> None:
        url = self.completion_url
        token = self.admin_token
        at_least_one = ("limit", "annotators_per_item", "items_per_annotator", "min_gold_items", "requests_per_minute")
        check_faults(
            [
                *(
                    ((n := getattr(self, name)) is not None and n < 1, f"--{name.replace('_', '-')} {n}: at least 1")
                    for name in at_least_one
                ),
                (
                    self.max_annotators_per_item < self.annotators_per_item,
                    f"--max-annotators-per-item {self.max_annotators_per_item}: below --annotators-per-item",
                ),
                *(
                    (not 0 <= getattr(self, name) <= 1, f"--{name.replace('_', '-')}: from 0 to 1")
                    for name in ("qualification_share", "min_gold_share")
                ),
                (self.lease_minutes <= 0, f"--lease-minutes {self.lease_minutes}: above 0"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (not 0 <= self.port <= 65535, f"--port {self.port}: from 0 to 65535"),
                (
                    url is not None and not url.startswith(("https://", "http://")),
                    f"--completion-url {url}: begins with https://",
                ),
                (
                    token is not None and (len(token) < 12 or not token.isascii() or not token.isprintable()),
                    "--admin-token: at least 12 plain characters",
                ),
            ]
        )
        check_numbers(self)


@dataclass(frozen=True)
class ExportOptions:
    """Write the endings of a run as tasks for people elsewhere, or the verdicts that the web application collected.

    Beside the tasks stands FILE.key.json, which says what they are and which ending is gold: keep it, and never upload
    it. `swag-af verify import` needs it.

    Try:
      swag-af verify export run --to mturk --out hits.csv
      swag-af verify export run --to label-studio --out tasks.json --limit 500
      swag-af verify export run --to mturk --out round2.csv --verdicts verdicts.jsonl --annotators-per-item 2
      swag-af verify export run --to verdicts --out verdicts.jsonl
    """

    run: Path
    """The run folder of `swag-af filter`."""
    to: Literal["csv", "label-studio", "prolific", "mturk", "verdicts"] = "csv"
    """csv: a table to fill in; label-studio: tasks, and a labeling config; prolific: the data set of a Task Builder
    batch, and its questions; mturk: the input of a batch, and its page; verdicts: what `verify serve` collected."""
    out: Path = Path("tasks.csv")
    """The file to write; what else the platform wants, and the key, are written beside it."""
    verdicts: Path | None = None
    """Earlier verdicts: write only what is still to be judged, with refills of items with too few sensible endings."""
    annotators_per_item: int = 1
    """With --verdicts: items that fewer people have judged are written again."""
    iteration: int | None = None
    """Show endings of the assignment after this iteration; the last when not given."""
    limit: int | None = None
    """Write this many contexts, drawn at random; all when not given."""
    seed: int = 0
    """Draws the endings, the contexts, and the order of the endings; with --verdicts, breaks ties."""
    database: str | None = None
    """With --to verdicts: where `verify serve` keeps its answers, when not in the run folder."""
    force: bool = False
    """Replace existing files."""

    def __post_init__(self) -> None:
        is_served = self.to == "verdicts"
        check_faults(
            [
                (self.limit is not None and self.limit < 1, f"--limit {self.limit}: at least 1"),
                (self.annotators_per_item < 1, f"--annotators-per-item {self.annotators_per_item}: at least 1"),
                (self.annotators_per_item > 1 and self.verdicts is None, "--annotators-per-item: only with --verdicts"),
                (self.seed < 0, f"--seed {self.seed}: not below 0"),
                (self.database is not None and not is_served, "--database: only with --to verdicts"),
                (is_served and self.verdicts is not None, "--verdicts: not with --to verdicts"),
                (is_served and self.limit is not None, "--limit: not with --to verdicts"),
            ]
        )
        check_numbers(self)


@dataclass(frozen=True)
class ImportOptions:
    """Read what people elsewhere answered, and write it as verdicts.

    The key of the export says which platform's files these are. Without a key the files are verdicts already, and are
    put together.

    Try:
      swag-af verify import run Batch_1_batch_results.csv --key hits.csv.key.json --out mturk.jsonl
      swag-af verify import run mturk.jsonl web.jsonl --out verdicts.jsonl
    """

    run: Path
    """The run folder that the tasks were exported from."""
    files: tuple[Path, ...]
    """What the platform gave back, or files of verdicts."""
    key: Path | None = None
    """FILE.key.json of the export; not given, the files are verdicts."""
    out: Path = Path("verdicts.jsonl")
    """The file of verdicts to write."""
    force: bool = False
    """Replace an existing file."""

    def __post_init__(self) -> None:
        check_faults([(not self.files, "no files given: name what the platform gave back")])
        check_numbers(self)
