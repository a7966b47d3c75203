"""From nearest candidates to votes, in whole units so that no rounding enters the sensitivity."""

import numpy as np

from evomix.core.arrays import IntArray
from evomix.core.errors import SpecError


def tally(nearest: IntArray, candidates: int, *, mass: int) -> IntArray:
    """Return the votes of all records, int64 (d,), in units of 1/``mass`` of a record.

    Each record splits ``mass`` units over its nearest candidates as evenly as whole numbers allow, the nearer
    ones taking what is left over. The total is exactly ``n·mass``. A record adds entries ≥ 0 that sum to
    ``mass``, so its own ℓ2 norm is at most ``mass``, and replacing it moves the votes by at most ``2·mass``
    in ℓ1 and ``√2·mass`` in ℓ2, whatever ``count``.

    Args:
        nearest: int64 (n, count), positions of each record's nearest candidates, nearest first; count ≥ 1.
        candidates: number of candidates d.
        mass: vote units of a record, at least 1.

    Raises:
        SpecError: an argument is out of range, or ``n·mass`` does not fit int64.

    >>> tally(np.array([[2, 0], [0, 1]]), 4, mass=3)
    array([3, 1, 2, 0])
    """
    if nearest.ndim != 2 or nearest.shape[1] == 0:
        raise SpecError(f"expected nearest of shape (n, count) with count ≥ 1, got shape={nearest.shape}")
    records, count = nearest.shape
    largest = np.iinfo(np.int64).max // max(1, records)
    if not 1 <= mass <= largest:
        raise SpecError(f"expected mass from 1 to {largest} for {records} records, got mass={mass}")
    if records and not (nearest.min() >= 0 and nearest.max() < candidates):
        raise SpecError(f"expected positions from 0 to candidates - 1, got candidates={candidates}")
    share, left_over = divmod(mass, count)
    votes = np.zeros(candidates, dtype=np.int64)
    for rank in range(count):
        units = share + (rank < left_over)
        votes += units * np.bincount(nearest[:, rank], minlength=candidates)
    return votes
