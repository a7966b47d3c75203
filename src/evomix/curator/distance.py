"""How far private votes lie from public ones: one noisy number, charged before a record is read."""

from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import PrivacyError
from evomix.core.protocols import Embedder
from evomix.curator.curator import RoundLedger
from evomix.curator.guard import withheld
from evomix.curator.records import PrivateRecords
from evomix.curator.voting import tally_units
from evomix.privacy.adjacency import LATTICE
from evomix.privacy.mechanisms.distance import MeasuredDistance, NoisyDistance


def release_distance(
    records: PrivateRecords,
    embedder: Embedder,
    candidates: Population,
    public: FloatArray,
    mechanism: NoisyDistance,
    *,
    ledger: RoundLedger,
) -> MeasuredDistance:
    """Let all private units vote and return their noisy distance from the public votes.

    Guarantee: ε-DP with δ = 0 per private unit under replace-one, ε the mechanism's; proof: docs/proofs/distance.md.
    The ledger notes the release before a record is read, so it happens at most once for a charge.

    Args:
        records: the private records.
        embedder: the public geometry of votes.
        candidates: public, (d, …).
        public: float64 (d,), shares of the public votes for them.
        mechanism: calibrated for as many units as there are.
        ledger: records the one round of this release, number 0.

    Raises:
        PrivacyError: the mechanism is about another number of units, or the release was begun before.
        PrivateRecordsFailure: records could not be read or voted; the charge stands.
    """
    if mechanism.units != records.units:
        raise PrivacyError(
            f"the release is calibrated for units={mechanism.units}; the records have units={records.units}"
        )
    index, public_votes = embedder.index(candidates), mechanism.public_votes(public)
    ledger.begin_round(0)
    with withheld("measuring the distance of the public data"):
        return mechanism.release(tally_units(index, records, len(candidates), mass=LATTICE), public_votes)
