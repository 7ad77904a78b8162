"""The store of a verification: the answers, and the settings that the verification was begun with.

    RUN/verification/answers.db    the tables of `schema`, unless --database names another place
    RUN/verification/keys.json     the admin token and the secret that signs cookies; for the owner's eyes only

Opens and reads; `desk` hands out items and takes answers.
"""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import Connection, Engine, delete, insert, inspect, make_url, select
from sqlalchemy.exc import DBAPIError

from swag_af.data.disk.files import read_json
from swag_af.data.disk.manifests import check_same, differences, read_manifest
from swag_af.data.disk.records import parse_record
from swag_af.data.disk.replacing import remove_leftovers_of, replacing
from swag_af.data.disk.urls import command
from swag_af.data.errors import InputError
from swag_af.data.work.locks import alone, clear_lock
from swag_af.judging.verdicts import Item, Verdict
from swag_af.verify.schema import (
    WRITER,
    annotators,
    ended_sessions,
    items,
    make_engine,
    settings,
    tasks,
    upgrade,
    writing,
)

FOLDER = "verification"
ORDERS = "orders"
"""The setting that older releases, whose orders followed from the seed, did not have."""

VERDICT = (tasks.c.row, tasks.c.annotator, tasks.c.ratings, tasks.c.best, tasks.c.second, tasks.c.seconds)
"""The columns of a task that make a verdict; stores of older releases have them all."""


@dataclass(frozen=True)
class Store:
    """An open verification."""

    engine: Engine
    settings: Mapping[str, Any]
    """The settings that it was begun with: pool_identity, iteration, seed, how orders are drawn."""

    @property
    def has_secret_orders(self) -> bool:
        """Whether the order of an item's endings is drawn by the secret; it stays as it was begun, for drafts and
        answers are kept by the places shown."""
        return self.settings.get(ORDERS) == "secret"

    def verdicts(self, include_dequalified: bool = False) -> list[Verdict]:
        """Every answer, by row, round and annotator; those of dequalified annotators only when asked for."""
        query = (
            select(*VERDICT, items.c.columns, items.c.round)
            .join(items, items.c.id == tasks.c.item)
            .join(annotators, annotators.c.id == tasks.c.annotator)
            .where(tasks.c.answered_at.is_not(None))
            .order_by(items.c.row, items.c.round, tasks.c.annotator)
        )
        if not include_dequalified:
            query = query.where(annotators.c.state != "dequalified")
        with self.engine.connect() as connection:
            return [verdict_of(answer) for answer in connection.execute(query)]

    def checkpoint(self) -> None:
        """Move what SQLite's write-ahead log holds into the database file itself; nothing elsewhere."""
        if self.engine.dialect.name == "sqlite":
            with self.engine.connect() as connection:
                connection.rollback()  # a checkpoint cannot run within a transaction
                raw = connection.connection.driver_connection
                assert raw is not None
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    def end_session(self, number: str, now: float, forget_at: float) -> None:
        """Record that the browser with this number was logged out; forget those whose cookies have expired."""
        with writing(self.engine) as connection:
            gone = (ended_sessions.c.forget_at < now) | (ended_sessions.c.number == number)
            connection.execute(delete(ended_sessions).where(gone))
            connection.execute(insert(ended_sessions).values(number=number, forget_at=forget_at))

    def has_ended(self, number: str) -> bool:
        """Whether the browser with this number was logged out."""
        with self.engine.connect() as connection:
            found = connection.scalar(select(ended_sessions.c.number).where(ended_sessions.c.number == number))
        return found is not None

    @property
    def file(self) -> Path | None:
        """The file that holds the answers; None where a server does."""
        name = self.engine.url.database
        return Path(name) if name and self.engine.dialect.name == "sqlite" else None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_store(run_path: Path | str, database: str | None = None) -> Store:
    """The verification of the run in `run_path`; InputError when none was begun, or it is one of another pool."""
    path = Path(run_path)
    manifest = read_manifest(path, "run")
    engine = make_engine(database, _database_path(path))
    file = Path(engine.url.database) if engine.dialect.name == "sqlite" and engine.url.database else None
    is_missing = file is not None and not file.exists() and (database is None or file.parent.is_dir())
    if is_missing or not _has_tables(engine, database):  # which would make the file
        raise InputError(f"{path}: no verification was begun. `{command('verify', 'serve', path)}` begins one.")
    with engine.connect() as connection:
        known = _settings(connection)
    identity = manifest.get("unguarded_identity", manifest["pool_identity"])  # as the server begins it
    check_same(known, {"pool_identity": identity}, path, "--database")
    return Store(engine, known)


def begin_store(run_path: Path, database: str | None, begun_with: Mapping[str, Any]) -> Store:
    """The verification of a run, begun now or before with the same pool, iteration and seed.

    One without any item, of a start that was refused, is begun anew.
    """
    folder = run_path / FOLDER
    engine = make_engine(database, _database_path(run_path))
    folder.mkdir(mode=0o700, exist_ok=True)
    if engine.dialect.name == "sqlite" and engine.url.database:
        _keep_private(Path(engine.url.database))
    _has_tables(engine, database)  # raises where the database cannot be opened
    upgrade(engine)
    with writing(engine) as connection:
        known = _settings(connection)
        if not known or (differences(known, begun_with) and not _has_items(connection)):
            connection.execute(delete(settings))
            known = {WRITER: None, ORDERS: "secret", **begun_with}
            connection.execute(insert(settings), [{"name": name, "value": known[name]} for name in known])
    if known:
        check_same(known, begun_with, folder, "--database, or give --iteration and --seed as they were")
    return Store(engine, {**known, **begun_with})


@dataclass(frozen=True, slots=True)
class Keys:
    """The content of `keys.json`."""

    admin_token: Annotated[str, Meta(min_length=12, pattern="^[!-~]+$")]
    """Opens the admin's pages."""
    secret: Annotated[str, Meta(min_length=32)]
    """Signs cookies and links, and draws what annotators must not foretell."""


def read_keys(run_path: Path) -> Keys:
    """The keys of a verification, made on first use; only the owner may read the file."""
    path = run_path / FOLDER / "keys.json"
    if path.exists():
        clear_lock(path)  # of who was killed after making them
    else:
        with alone(path, is_told=False):
            _make_keys(path)
    return parse_record(read_json(path), Keys, path, "Put it back from a copy; without it links and cookies are void.")


def _make_keys(path: Path) -> None:
    """Write the keys, unless they are there."""
    if not path.exists():
        remove_leftovers_of(path)
        with replacing(path, private=True) as temporary:
            made = Keys(secrets.token_urlsafe(18), secrets.token_hex(32))
            temporary.write_text(json.dumps(asdict(made), indent=2) + "\n", encoding="utf-8")


def _keep_private(path: Path) -> None:
    """Make the database file and its logs, which get the mode of the file, readable by the owner alone."""
    if path.parent.is_dir() and str(path) != ":memory:":
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        for one in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if one.exists():
                one.chmod(0o600)


def verdict_of(answer: Any) -> Verdict:
    """The verdict of a row of `tasks`, joined with the columns and the round of its item."""
    item = Item(answer.row, tuple(answer.columns), answer.round)
    return Verdict(item, answer.annotator, tuple(answer.ratings), answer.best, answer.second, answer.seconds)


def put_setting(connection: Connection, name: str, value: Any) -> None:
    """Make `value` the one of the setting `name`."""
    connection.execute(delete(settings).where(settings.c.name == name))
    connection.execute(insert(settings).values(name=name, value=value))


def _settings(connection: Connection) -> dict[str, Any]:
    return {line.name: line.value for line in connection.execute(select(settings))}


def _has_items(connection: Connection) -> bool:
    return connection.scalar(select(items.c.id).limit(1)) is not None


def _database_path(run_path: Path) -> Path:
    return run_path / FOLDER / "answers.db"


def _has_tables(engine: Engine, database: str | None) -> bool:
    try:
        return inspect(engine).has_table(settings.name)
    except DBAPIError as error:
        where = make_url(database).render_as_string() if database else engine.url.database
        raise InputError(
            f"{where}: cannot be opened ({error.orig}). Mend that and run the same command again."
        ) from None
