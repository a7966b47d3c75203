"""The write-ahead ledger: what was promised about each data set, over all runs.

Order of events in a run: ``open_run`` charges the whole run, ``begin_round`` records each release before
it is computed, ``finish_run`` closes it. Every call is one durable transaction, so a crash is never free:
what was charged stays charged, and a round that was begun is never computed a second time.

Charges of one data set add up by basic composition (Dwork et al. 2006), in exact decimals, and so must all
protect the same unit under the same neighbour relation. Amounts, units, run names and specifications are
public; the records' digest is kept only under a random key of this ledger, so that it cannot be looked up
elsewhere. Proof: docs/proofs/ledger.md.
"""

import hmac
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evomix.core.errors import PrivacyError, SpecError
from evomix.privacy import ledger_rows as rows_of
from evomix.privacy.budget import Budget, rounded_up, total
from evomix.privacy.ledger_file import ledger_path, reading, writing
from evomix.privacy.ledger_rows import Entry
from evomix.privacy.ledger_rules import checked_name, checked_text, refuse_charge

__all__ = ["Balance", "Budget", "Entry", "Ledger"]


@dataclass(frozen=True, slots=True)
class Balance:
    """Where a data set stands.

    Attributes:
        dataset: its name.
        granted: the budget over all runs; ``None`` means that none was set and charges are only recorded.
        spent: sum of the charges that count, rounded up.
        left: what may still be asked, rounded down; ``None`` without a grant.
        unit: what the charges that count protect, in words (more than one where runs of several units were charged
            before a budget was granted: their sum bounds nothing, no further run is admitted); ``None`` without any.
        adjacency: their neighbour relation; ``None`` without any.
        mixed: whether they protect more than one unit, or under more than one relation.
        runs: number of charges that count.
        voided: number of charges that the owner forgot by a reset.
    """

    dataset: str
    granted: Budget | None
    spent: Budget
    left: Budget | None
    unit: str | None
    adjacency: str | None
    mixed: bool
    runs: int
    voided: int


class Ledger:
    """Append-only charges in one file; safe with several processes at once. Holds no open connection."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Name the file: ``path``, else ``EVOMIX_LEDGER``, else one ledger per user. Nothing is made yet."""
        self.path: Path = ledger_path(path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def grant(self, dataset: str, budget: Budget) -> None:
        """Set the budget of a data set over all its runs, in place of any earlier one.

        Raises:
            SpecError: for a budget that cannot be granted or an unusable name.
            EnvironmentFailure: when the ledger cannot be written.
        """
        dataset = checked_name("dataset", dataset)
        budget.require_spendable()
        with writing(self.path) as connection:
            rows_of.insert_grant(connection, dataset, budget)

    def reset(self, dataset: str) -> int:
        """Forget the past charges of a data set on its owner's word; return how many.

        They stay in the file, marked with the time. Their runs can no longer be resumed.

        Raises:
            EnvironmentFailure: when the ledger cannot be written.
        """
        dataset = checked_name("dataset", dataset)
        with writing(self.path) as connection:
            return connection.execute(
                "INSERT INTO voids SELECT run_id, ? FROM charges "
                "WHERE dataset = ? AND run_id NOT IN (SELECT run_id FROM voids)",
                (rows_of.now(), dataset),
            ).rowcount

    def open_run(
        self,
        run_id: str,
        dataset: str,
        budget: Budget,
        *,
        fingerprint: bytes | None,
        spec_digest: str,
        unit: str = "one row",
        adjacency: str = "replace-one",
        grant: Budget | None = None,
        rounds: int | None = None,
    ) -> None:
        """Charge a whole run before anything is drawn; on disk when this returns.

        Args:
            run_id: a name never used before.
            dataset: the name that budgets are kept under.
            budget: the most the run can cost.
            fingerprint: digest of the private records, stored sealed; ``None`` when there is none.
            spec_digest: digest of the public specification.
            unit: what ``budget`` protects, in public words; the same for all charges under one granted budget.
            adjacency: the neighbour relation of ``budget``; likewise.
            grant: the data set's budget, registered with this charge when it has none yet.
            rounds: number of releases this charge was computed for; ``begin_round`` refuses any beyond.

        Raises:
            BudgetExceeded: when the charges would exceed the data set's budget; nothing is recorded.
            PrivacyError: when ``run_id`` was charged before.
            SpecError: when the data set has a budget and its charges protect another unit, ``grant`` differs from the
                registered budget, or an amount or name is unusable; nothing is recorded.
            EnvironmentFailure: when the ledger cannot be written.
        """
        run_id, dataset = checked_name("run_id", run_id), checked_name("dataset", dataset)
        unit, adjacency = checked_text("unit", unit), checked_text("adjacency", adjacency)
        budget.require_spendable()
        if grant is not None:
            grant.require_spendable()
        with writing(self.path) as connection:
            if rows_of.is_charged(connection, run_id):
                raise PrivacyError(f"Expected a new run; run_id={run_id!r} was charged before. Resume or rename it.")
            granted, charges = rows_of.granted(connection, dataset), rows_of.counting(connection, dataset)
            refuse_charge(
                dataset, budget, granted=granted, grant=grant, charges=charges, unit=unit, adjacency=adjacency
            )
            if granted is None and grant is not None:
                rows_of.insert_grant(connection, dataset, grant)
            seal = None if fingerprint is None else rows_of.sealed(connection, fingerprint)
            rows_of.insert_charge(
                connection,
                run_id,
                dataset,
                budget,
                unit=unit,
                adjacency=adjacency,
                seal=seal,
                spec_digest=spec_digest,
                rounds=rounds,
            )

    def check_charge(
        self, dataset: str, budget: Budget, *, unit: str, adjacency: str, grant: Budget | None = None
    ) -> None:
        """Refuse what :meth:`open_run` would refuse of a new run as the ledger stands now; nothing is written.

        Raises:
            BudgetExceeded, SpecError, EnvironmentFailure: as :meth:`open_run`.
        """
        dataset = checked_name("dataset", dataset)
        unit, adjacency = checked_text("unit", unit), checked_text("adjacency", adjacency)
        budget.require_spendable()
        if grant is not None:
            grant.require_spendable()
        with reading(self.path) as connection:
            granted = None if connection is None else rows_of.granted(connection, dataset)
            charges = [] if connection is None else rows_of.counting(connection, dataset)
        refuse_charge(dataset, budget, granted=granted, grant=grant, charges=charges, unit=unit, adjacency=adjacency)

    def begin_round(self, run_id: str, round_index: int) -> None:
        """Record a release that is about to be computed; on disk when this returns. One caller only succeeds.

        Raises:
            PrivacyError: when the run is unknown, finished or voided, or the round was begun before or lies
                beyond what was charged.
            EnvironmentFailure: when the ledger cannot be written.
        """
        run_id = checked_name("run_id", run_id)
        with writing(self.path) as connection:
            charge = rows_of.charge(connection, run_id)
            rows_of.refuse_voided(charge)
            rows_of.refuse_finished(charge)
            rounds = charge["rounds"]
            if round_index < 0 or (rounds is not None and round_index >= rounds):
                raise PrivacyError(f"round_index={round_index} of run_id={run_id!r} was not charged for.")
            try:
                connection.execute("INSERT INTO rounds VALUES (?, ?, ?)", (run_id, int(round_index), rows_of.now()))
            except sqlite3.IntegrityError:
                raise PrivacyError(
                    f"round_index={round_index} of run_id={run_id!r} was begun before; computing it again "
                    "would release it twice for one charge. Go on with the next round."
                ) from None

    def started_rounds(self, run_id: str) -> frozenset[int]:
        """Return the rounds that were begun; empty for an unknown run."""
        run_id = checked_name("run_id", run_id)
        with reading(self.path) as connection:
            if connection is None:
                return frozenset()
            begun = connection.execute("SELECT round_index FROM rounds WHERE run_id = ?", (run_id,))
            return frozenset(row["round_index"] for row in begun)

    def finish_run(self, run_id: str) -> None:
        """Record that a run is over; no round can begin any more. Saying it again changes nothing.

        Raises:
            PrivacyError: when the run is unknown.
            EnvironmentFailure: when the ledger cannot be written.
        """
        run_id = checked_name("run_id", run_id)
        with writing(self.path) as connection:
            rows_of.charge(connection, run_id)
            connection.execute("INSERT OR IGNORE INTO finishes VALUES (?, ?)", (run_id, rows_of.now()))

    def check_resume(
        self, run_id: str, *, fingerprint: bytes | None, spec_digest: str, epsilon: float, delta: float
    ) -> None:
        """Refuse to go on with a run on anything but what it was charged for.

        Raises:
            SpecError: naming what differs (data, epsilon, delta, specification); never a value of the data.
            PrivacyError: when the run is unknown or voided.
            EnvironmentFailure: when the ledger cannot be read.
        """
        run_id = checked_name("run_id", run_id)
        with reading(self.path) as connection:
            if connection is None:
                raise rows_of.unknown(run_id)
            charge = rows_of.charge(connection, run_id)
            rows_of.refuse_voided(charge)
            seal = None if fingerprint is None else rows_of.sealed(connection, fingerprint)
        charged = Budget(float(charge["epsilon"]), float(charge["delta"])).exact()
        asked = Budget(epsilon, delta).exact()
        same = {
            "data": hmac.compare_digest(charge["fingerprint"] or b"", seal or b""),
            "epsilon": charged[0] == asked[0],
            "delta": charged[1] == asked[1],
            "specification": charge["spec_digest"] == spec_digest,
        }
        if different := [name for name, equal in same.items() if not equal]:
            raise SpecError(
                f"Expected to resume run_id={run_id!r} as it began; different now: {', '.join(different)}. "
                "Restore what it began with, or start a new run, with a new charge, in another run directory."
            )

    def balance(self, dataset: str) -> Balance:
        """Return where a data set stands; all zero for an unknown one.

        Raises:
            EnvironmentFailure: when the ledger cannot be read.
        """
        dataset = checked_name("dataset", dataset)
        with reading(self.path) as connection:
            granted = None if connection is None else rows_of.granted(connection, dataset)
            charges = [] if connection is None else rows_of.entries(connection, dataset)
        counting = [entry for entry in charges if entry.voided_at is None]
        spent = total(entry.budget for entry in counting)
        return Balance(
            dataset=dataset,
            granted=granted,
            spent=rounded_up(spent),
            left=None if granted is None else granted.minus(spent),
            unit=_all_of(entry.unit for entry in counting),
            adjacency=_all_of(entry.adjacency for entry in counting),
            mixed=len({(entry.unit, entry.adjacency) for entry in counting}) > 1,
            runs=len(counting),
            voided=len(charges) - len(counting),
        )

    def datasets(self) -> tuple[str, ...]:
        """Return the names that have a grant or a charge, sorted."""
        with reading(self.path) as connection:
            if connection is None:
                return ()
            names = connection.execute("SELECT dataset FROM grants UNION SELECT dataset FROM charges ORDER BY 1")
            return tuple(row["dataset"] for row in names)

    def entries(self, dataset: str | None = None) -> tuple[Entry, ...]:
        """Return the charges in the order written, of one data set or of all; voided ones too."""
        name = None if dataset is None else checked_name("dataset", dataset)
        with reading(self.path) as connection:
            return () if connection is None else tuple(rows_of.entries(connection, name))

    def seal(self, digest: bytes) -> bytes:
        """Return HMAC-SHA256 of ``digest`` under this ledger's key.

        Raises:
            EnvironmentFailure: when the ledger, which is made if need be, cannot be written.
        """
        with writing(self.path) as connection:
            return rows_of.sealed(connection, digest)


def _all_of(words: Iterable[str]) -> str | None:
    """Return the different words, in order; ``None`` for none."""
    return " and ".join(sorted(set(words))) or None
