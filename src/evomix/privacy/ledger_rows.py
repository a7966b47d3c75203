"""What is read from and written to the ledger's tables, inside a transaction that the caller holds."""

import hashlib
import hmac
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evomix.core.errors import PrivacyError
from evomix.privacy.budget import Budget


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge, as it was written; times are ISO 8601 in UTC.

    Attributes:
        run_id: the run that was charged.
        dataset: the name its budget is kept under.
        budget: what was charged.
        unit: what the charge protects, in words ("one row", "all rows with one value of 'person'").
        adjacency: the neighbour relation of the charge ("replace-one").
        spec_digest: digest of the run's public specification.
        charged_at: when.
        rounds_begun: number of releases begun.
        finished_at: when the run was over; ``None`` before that.
        voided_at: when the owner forgot the charge; ``None`` while it counts.
        sealed_fingerprint: the records' digest under the ledger's secret (``Ledger.seal``), if one was given.
    """

    run_id: str
    dataset: str
    budget: Budget
    unit: str
    adjacency: str
    spec_digest: str
    charged_at: str
    rounds_begun: int
    finished_at: str | None
    voided_at: str | None
    sealed_fingerprint: bytes | None = field(repr=False)


def now() -> str:
    """Return the time as the ledger writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def sealed(connection: sqlite3.Connection, digest: bytes) -> bytes:
    """Return HMAC-SHA256 of ``digest`` under the ledger's secret."""
    key: bytes = connection.execute("SELECT key FROM secret").fetchone()["key"]
    return hmac.digest(key, digest, hashlib.sha256)


def insert_grant(connection: sqlite3.Connection, dataset: str, budget: Budget) -> None:
    """Write a grant; the latest one of a data set is in force."""
    connection.execute(
        "INSERT INTO grants (dataset, epsilon, delta, granted_at) VALUES (?, ?, ?, ?)",
        (dataset, repr(float(budget.epsilon)), repr(float(budget.delta)), now()),
    )


def granted(connection: sqlite3.Connection, dataset: str) -> Budget | None:
    """Return the grant in force."""
    row = connection.execute(
        "SELECT epsilon, delta FROM grants WHERE dataset = ? ORDER BY number DESC LIMIT 1", (dataset,)
    ).fetchone()
    return None if row is None else _budget(row)


def insert_charge(
    connection: sqlite3.Connection,
    run_id: str,
    dataset: str,
    budget: Budget,
    *,
    unit: str,
    adjacency: str,
    seal: bytes | None,
    spec_digest: str,
    rounds: int | None,
) -> None:
    """Write a charge."""
    amount = repr(float(budget.epsilon)), repr(float(budget.delta))
    connection.execute(
        "INSERT INTO charges "
        "(run_id, dataset, epsilon, delta, fingerprint, spec_digest, rounds, unit, adjacency, charged_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (run_id, dataset, *amount, seal, spec_digest, rounds, unit, adjacency, now()),
    )


def is_charged(connection: sqlite3.Connection, run_id: str) -> bool:
    """Return whether the run was ever charged."""
    return connection.execute("SELECT 1 FROM charges WHERE run_id = ?", (run_id,)).fetchone() is not None


def charge(connection: sqlite3.Connection, run_id: str) -> sqlite3.Row:
    """Return the charge of a run.

    Raises:
        PrivacyError: when the run is unknown.
    """
    row: sqlite3.Row | None = connection.execute(f"{_CHARGES} WHERE charges.run_id = ?", (run_id,)).fetchone()
    if row is None:
        raise unknown(run_id)
    return row


def unknown(run_id: str) -> PrivacyError:
    """Return the error about a run that was never charged."""
    return PrivacyError(f"Expected a charged run; run_id={run_id!r} is not in this ledger. Start it as a new run.")


def refuse_voided(row: sqlite3.Row) -> None:
    """Refuse a run whose charge the owner forgot: nothing pays for its releases any more.

    Raises:
        PrivacyError: when the charge is void.
    """
    if (at := row["voided_at"]) is not None:
        raise PrivacyError(
            f"Expected a charge that counts; that of run_id={row['run_id']!r} was voided by a reset "
            f"at {at}. Start a new run."
        )


def refuse_finished(row: sqlite3.Row) -> None:
    """Refuse a run that is over.

    Raises:
        PrivacyError: when the run was finished.
    """
    if (at := row["finished_at"]) is not None:
        raise PrivacyError(f"Expected an open run; run_id={row['run_id']!r} was finished at {at}. Start a new run.")


def counting(connection: sqlite3.Connection, dataset: str) -> list[Entry]:
    """Return the charges of a data set that were not voided."""
    return [entry for entry in entries(connection, dataset) if entry.voided_at is None]


def entries(connection: sqlite3.Connection, dataset: str | None) -> list[Entry]:
    """Return the charges of one data set, or of all, in the order written."""
    rows = connection.execute(f"{_CHARGES} WHERE ?1 IS NULL OR dataset = ?1 ORDER BY number", (dataset,))
    return [
        Entry(
            run_id=row["run_id"],
            dataset=row["dataset"],
            budget=_budget(row),
            unit=row["unit"],
            adjacency=row["adjacency"],
            spec_digest=row["spec_digest"],
            charged_at=row["charged_at"],
            rounds_begun=row["rounds_begun"],
            finished_at=row["finished_at"],
            voided_at=row["voided_at"],
            sealed_fingerprint=row["fingerprint"],
        )
        for row in rows
    ]


_CHARGES = (
    "SELECT charges.*, finished_at, voided_at, "
    "(SELECT COUNT(*) FROM rounds WHERE rounds.run_id = charges.run_id) AS rounds_begun "
    "FROM charges LEFT JOIN finishes USING (run_id) LEFT JOIN voids USING (run_id)"
)


def _budget(row: sqlite3.Row) -> Budget:
    return Budget(float(row["epsilon"]), float(row["delta"]))
