"""Where a ledger lies and how its file is opened: made safely, checked, and durable.

The file is SQLite in rollback-journal mode with ``synchronous=EXTRA``: when a transaction returns, file and
folder are on disk, so a charge survives a killed process and a power cut. Tables are append-only; triggers
refuse any change of what was written.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from evomix.core.errors import EnvironmentFailure

APPLICATION_ID = 0x45764D78  # "EvMx", written into the file's header
VERSION = 2
BUSY_TIMEOUT_S = 60.0

_TABLES = {
    "secret": "one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL",
    "grants": (
        "number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL, "
        "granted_at TEXT NOT NULL"
    ),
    "charges": (
        "number INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, dataset TEXT NOT NULL, "
        "epsilon TEXT NOT NULL, delta TEXT NOT NULL, fingerprint BLOB, spec_digest TEXT NOT NULL, "
        "rounds INTEGER, unit TEXT NOT NULL, adjacency TEXT NOT NULL, charged_at TEXT NOT NULL"
    ),
    "rounds": (
        "run_id TEXT NOT NULL REFERENCES charges (run_id), round_index INTEGER NOT NULL, "
        "begun_at TEXT NOT NULL, UNIQUE (run_id, round_index)"
    ),
    "finishes": "run_id TEXT NOT NULL UNIQUE REFERENCES charges (run_id), finished_at TEXT NOT NULL",
    "voids": "run_id TEXT NOT NULL UNIQUE REFERENCES charges (run_id), voided_at TEXT NOT NULL",
}


def ledger_path(path: str | os.PathLike[str] | None) -> Path:
    """Return ``path``, else the environment's ``EVOMIX_LEDGER``, else one ledger per user."""
    if path is not None:
        return Path(path)
    if named := os.environ.get("EVOMIX_LEDGER"):
        return Path(named)
    return platformdirs.user_data_path("evomix") / "ledger.sqlite"


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open an existing ledger to look something up; ``None`` where there is none yet.

    Raises:
        EnvironmentFailure: when the file cannot be read or is not a sound ledger.
    """
    with _explained(path):
        if not path.exists():
            yield None
            return
        connection = _connect(path)
        try:
            connection.execute("BEGIN")  # one snapshot for all that is read
            yield connection if _is_initialised(connection, path) else None
        finally:
            connection.close()


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a ledger, made if need be, in one transaction that holds the write lock.

    The transaction is committed, durably, when the block ends; nothing of it is kept when the block raises.

    Raises:
        EnvironmentFailure: when the file cannot be made or written, stays locked or is not a sound ledger.
    """
    with _explained(path):
        _make_file(path)
        connection = _connect(path)
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not _is_initialised(connection, path):
                    _initialise(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        finally:
            connection.close()


def _make_file(path: Path) -> None:
    """Make folder (0700) and file (0600): budgets and the sealing key are the owner's alone."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _connect(path: Path) -> sqlite3.Connection:
    # mode=rw never makes a file, so that the only way to one is _make_file with its permissions.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_initialised(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether this is a ledger (true) or an empty file (false); refuse anything else."""
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if (application, version) == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        return False
    if application != APPLICATION_ID:
        raise EnvironmentFailure(
            f"Expected a privacy ledger; found another kind of database at ledger={str(path)!r}. "
            "Name a ledger with --ledger or EVOMIX_LEDGER."
        )
    if version != VERSION:
        raise EnvironmentFailure(
            f"Expected a ledger of version {VERSION}; found version={version} at ledger={str(path)!r}. "
            "Use a version of evomix that knows it, or name another ledger with --ledger or EVOMIX_LEDGER; "
            "another one does not count what was spent here."
        )
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("quick_check failed")
    return True


def _initialise(connection: sqlite3.Connection) -> None:
    for table, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({columns})")
        for change in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
            )
    connection.execute("INSERT INTO secret VALUES (1, ?)", (secrets.token_bytes(32),))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the disk or SQLite report into one message with a way out."""
    where = f"ledger={str(path)!r}"
    try:
        yield
    except sqlite3.OperationalError as error:
        raise EnvironmentFailure(
            f"The privacy ledger cannot be used, so nothing was released: {error}; {where}. "
            "It must be a writable file on a local disk; name another with --ledger or EVOMIX_LEDGER."
        ) from error
    except sqlite3.DatabaseError as error:
        raise EnvironmentFailure(
            f"Expected a sound privacy ledger; the file is damaged or something else: {error}; {where}. "
            "Restore it from a backup: a fresh one would forget what was spent."
        ) from error
    except OSError as error:
        raise EnvironmentFailure(
            f"The privacy ledger cannot be made or read: {error.strerror}; {where}. "
            "Name another with --ledger or EVOMIX_LEDGER."
        ) from error
