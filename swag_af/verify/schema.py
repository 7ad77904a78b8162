"""The tables of a verification, and their database engine: SQLite in WAL mode, or PostgreSQL by URL.

`settings` holds what must stay the same, then `annotators`, `items`, and `tasks`: one row for each item that was shown
to one annotator, which becomes the answer. `checks` are the attention checks, and the questions of the qualification
that were drawn, with the other contexts whose `golds` stand in them; `linked` are contexts of which one's answer stands
in another, by the sentence that they share; `consents` say who accepted which of the `texts`,
and when. `events` is the log of what the admin changed, and `ended_sessions` are the browsers that were logged out. The
comments explain the columns; later files fill them. Stores of older releases get what they lack (`upgrade`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    DDL,
    JSON,
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.schema import CreateColumn

from swag_af.data.errors import InputError
from swag_af.data.extras import install

metadata = MetaData()

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSON),
)

annotators = Table(
    "annotators",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("state", String(16), nullable=False),  # new (not qualified yet), active, failed, dequalified
    Column("paused", Boolean, nullable=False),
    Column("exempt", Boolean, nullable=False),  # qualified by the admin: no rule dequalifies them
    Column("begun_at", Float, nullable=False),
    Column("study", String(64)),  # the platform's id of the study (Prolific's STUDY_ID)
    Column("submission", String(64)),  # the platform's id of this person's submission (Prolific's SESSION_ID)
)

items = Table(
    "items",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("row", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("columns", JSON, nullable=False),
    Column(
        "rank", Integer, nullable=False
    ),  # the order in which items are shown, drawn by the seed; below 0 where guards marked endings
    Column("priority", Integer, nullable=False),  # 0 disagreement, 1 some answers, 2 refilled, 3 untouched
    Column("n_answers", Integer, nullable=False),  # those that count
    Column("wanted", Integer, nullable=False),  # answers it needs, as far as is known by now
    Column("is_open", Boolean, nullable=False),  # n_answers < wanted, but for withdrawn refills, which are closed
    UniqueConstraint("row", "round"),
    Index("items_to_show", "is_open", "priority", "rank"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", String(32), primary_key=True),  # not to be guessed
    Column("item", String(32), nullable=False),  # the id of an item, a qualification question, or a check
    Column("row", Integer),  # none for these two
    Column("annotator", String(64), nullable=False),
    Column("session", String(32), nullable=False),  # only the browser that holds it sees the answer again
    Column("begun_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),  # the end of the lease, for tasks not answered
    Column("draft", JSON),
    Column("answered_at", Float),
    Column("revision", Integer, nullable=False),  # how often it was answered; a form with an older number is refused
    Column("ratings", JSON),
    Column("best", Integer),
    Column("second", Integer),
    Column("seconds", Float),
    Column("is_check", Boolean),  # an attention check, which has no row; null for others
    Column("passed", Boolean),  # of a check that was answered
    UniqueConstraint("item", "annotator"),
    Index("tasks_of_an_annotator", "annotator", "row"),
    Index("tasks_of_a_row", "row"),
)

N_RATED = func.json_array_length(tasks.c.ratings, type_=Integer)
"""The endings that an answer rates: all of its item."""

checks = Table(
    "checks",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("row", Integer),  # the context it was made of; none for those from a file
    Column("question", JSON, nullable=False),  # kept, so that it can be shown whatever the next start is given
)

golds = Table(
    "golds",
    metadata,
    Column("question", String(32), primary_key=True),  # the id of one of the checks that is a drawn question
    Column("row", Integer, primary_key=True),  # another context, whose gold is among its endings
)

linked = Table(
    "linked",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("sentence", Integer, primary_key=True),  # a number of its own
    Column("is_answer", Boolean, primary_key=True),  # the second sentence of the context, with gold; else in `sent1`
    Index("links_of_a_sentence", "sentence"),
)

texts = Table(
    "texts",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("content", JSON, nullable=False),  # consent and instructions: lists of paragraphs
)

consents = Table(
    "consents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("annotator", String(64), nullable=False, index=True),
    Column("sha256", String(64), nullable=False),  # of the text that was accepted
    Column("at", Float, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("who", String(80), nullable=False),  # the admin and the address, or the rule
    Column("action", String(16), nullable=False),
    Column("annotator", String(64)),  # none for the whole study
    Column("before", JSON),  # the annotator's state, paused and exempt, as they were
)

ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("number", String(32), primary_key=True),  # of a browser that was logged out: its cookie counts no more
    Column("forget_at", Float, nullable=False),  # by then the cookie has expired by itself
)

WRITER = "writer"
"""The line of `settings` that a transaction locks before it writes."""


def make_engine(database: str | None, path: Path) -> Engine:
    """The engine of the URL `database`, or of the SQLite file `path`. Makes no table and no file."""
    try:
        url = make_url(database or f"sqlite:///{path}")
        if url.get_backend_name() not in ("sqlite", "postgresql"):
            where = url.render_as_string()
            raise InputError(f"--database {where}: neither PostgreSQL nor SQLite. Write it like {_EXAMPLE}.")
        engine = create_engine(url, pool_pre_ping=True, **({} if url.drivername == "sqlite" else {"pool_size": 10}))
    except (ArgumentError, NoSuchModuleError):
        raise InputError(f"--database {database}: not a database URL. Write it like {_EXAMPLE}.") from None
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed. Install it with: {install('postgres')}") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


_EXAMPLE = "postgresql+psycopg://user:password@host/name"


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def upgrade(engine: Engine) -> None:
    """Make the tables and the columns that the database lacks: all of them, or those that an older release had not."""
    metadata.create_all(engine)
    known = inspect(engine)
    for table in metadata.sorted_tables:
        present = {column["name"] for column in known.get_columns(table.name)}
        for column in table.columns:
            if column.name not in present:
                add = f'ALTER TABLE "{table.name}" ADD COLUMN {CreateColumn(column).compile(engine)}'
                with engine.begin() as connection:
                    connection.execute(DDL(add.replace("%", "%%")))


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes. One at a time, in all processes: what it reads stays true until it ends."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(select(settings.c.name).where(settings.c.name == WRITER).with_for_update()).all()
        yield connection
