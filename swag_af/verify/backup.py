"""The verb `verify backup`: all answers of a verification in one file, also while the server runs.

A copy of `answers.db` alone may lack the latest answers, which SQLite keeps in `answers.db-wal` until a checkpoint.
"""

import sqlite3
from contextlib import closing

from swag_af.data.disk.replacing import check_apart, check_output, replacing
from swag_af.data.errors import InputError
from swag_af.verify.options import BackupOptions
from swag_af.verify.store import open_store


def backup(options: BackupOptions) -> int:
    """Write the copy; returns the number of answers in it."""
    check_output(options.out, force=options.force)
    store = open_store(options.run, options.database)
    source = store.file
    store.close()
    if source is None:
        raise InputError("verify backup copies SQLite databases only. Use pg_dump for PostgreSQL.")
    check_apart("--out", options.out, (source,))
    with (
        replacing(options.out, private=True) as temporary,
        closing(sqlite3.connect(source, timeout=30)) as live,
        closing(sqlite3.connect(temporary)) as copy,
    ):
        live.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE").close()  # all in one file, with no log beside it
        (n,) = copy.execute("SELECT count(*) FROM tasks WHERE answered_at IS NOT NULL").fetchone()
    return int(n)
