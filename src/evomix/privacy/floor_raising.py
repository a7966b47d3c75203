"""Raise a distribution's smallest masses to a floor at the least total-variation cost.

Three ways, equal in what they raise and in the total they move, different in who gives the mass:

* ``water_fill`` (WF) takes the same amount from every large mass,
* ``proportional_fill`` takes the same share of every large mass,
* ``raise_floor`` (MIFR) takes from a donor set of small total mass and leaves every other entry as it was.

Inputs and outputs are public; nothing here costs privacy. Proofs: docs/proofs/noise_design.md.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.donors import DonorComparison, Donors, greedy_donors, least_donors

_SUM_TOLERANCE = 1e-9
_SUM_ROUNDING = 1e-14  # what summing itself leaves: such p stay as they are
_FLOOR_SLACK = 1e-12


def as_distribution(p: ArrayLike, *, name: str = "p") -> FloatArray:
    """Return a copy of ``p`` as float64 (d,) that sums to 1 up to rounding.

    Args:
        p: (d,) masses, finite, non-negative, summing to 1 within 1e-9 (what is left of that is scaled away).
        name: what the message calls it.

    Raises:
        SpecError: ``p`` is no distribution.
    """
    masses = np.array(p, dtype=np.float64)
    if masses.ndim != 1 or masses.size == 0:
        raise SpecError(f"{name} must be one row of masses, found {name}.shape={masses.shape}")
    if not np.isfinite(masses).all() or masses.min() < 0:
        raise SpecError(f"{name} must hold finite masses of at least 0; check how it was normalised")
    total = float(masses.sum())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise SpecError(f"{name} must sum to 1, found {name}.sum()={total!r}; divide it by its sum first")
    return masses if abs(total - 1.0) <= _SUM_ROUNDING else masses / total


def water_fill(p: ArrayLike, *, floor: float) -> FloatArray:
    """Return ``max(floor, p − τ)`` with τ such that the sum is 1: large masses are levelled down alike.

    Post-processing of public numbers; costs nothing. Of all distributions with that floor none is nearer to
    ``p`` in total variation. O(d log d). Source: PubMix, Definition 4.3 (WF).

    Args:
        p: (d,) distribution.
        floor: smallest mass t wanted, in [0, 1/d].

    Returns:
        float64 (d,), every entry at least ``floor``. ``floor=0`` gives ``p``, ``floor=1/d`` the uniform.

    Raises:
        SpecError: ``p`` is no distribution or ``floor`` lies outside [0, 1/d].
    """
    return _fill(p, floor, _level)


def proportional_fill(p: ArrayLike, *, floor: float) -> FloatArray:
    """Return ``max(floor, c·p)`` with c such that the sum is 1: large masses shrink by the same share.

    Post-processing of public numbers; costs nothing. As near to ``p`` in total variation as any distribution
    with that floor, and of all of them the one whose worst case over *divisible* sets is least, which is the
    worst case itself when no single mass matters (docs/proofs/noise_design.md). O(d log d).

    Args:
        p: (d,) distribution.
        floor: smallest mass t wanted, in [0, 1/d].

    Returns:
        float64 (d,), every entry at least ``floor``. ``floor=0`` gives ``p``, ``floor=1/d`` the uniform.

    Raises:
        SpecError: ``p`` is no distribution or ``floor`` lies outside [0, 1/d].
    """
    return _fill(p, floor, _shrink)


def raise_floor(p: ArrayLike, *, floor: float, donors: Donors = "greedy") -> FloatArray:
    """Return ``p`` with masses up to ``floor`` raised to it and the rest left alone but for a few donors.

    The least-mass donor set is a covering knapsack. "greedy" takes the largest entries until one more would do, and
    for that last one the smallest entry that suffices; "exact" solves the knapsack. Donors shrink by the same share,
    none below ``floor``. Among equal masses the lowest position gives first, so the result is a function of ``p`` and
    ``floor``. Post-processing of public numbers; costs nothing. As near to ``p`` in total variation as any
    distribution with that floor. O(d log d) for "greedy"; "exact" takes milliseconds for hundreds of candidates.
    Source: PubMix, Definition 4.4 (MIFR, maximum-invariance floor raising).

    Args:
        p: (d,) distribution.
        floor: smallest mass t wanted, in [0, 1/d].
        donors: "greedy" or "exact".

    Returns:
        float64 (d,), every entry at least ``floor``. ``floor=0`` gives ``p``, ``floor=1/d`` the uniform.

    Raises:
        SpecError: an argument is out of range, or the exact donor set is not proven in reasonable time.
    """
    if donors not in {"greedy", "exact"}:
        raise SpecError(f"donors must be 'greedy' or 'exact', found donors={donors!r}")
    masses = as_distribution(p)
    floor = _checked_floor(floor, masses.size)
    need = _need(masses, floor)
    if need <= 0.0:
        return masses
    giving = (greedy_donors if donors == "greedy" else least_donors)(masses, floor, need)
    raised = np.maximum(masses, floor)
    raised[giving] = _shrink(masses[giving], floor, need)
    return raised


def compare_donors(p: ArrayLike, *, floor: float) -> DonorComparison:
    """Say whether the greedy donors of :func:`raise_floor` are of least mass, and by how much they are not.

    Public arithmetic; costs no privacy.

    Args:
        p: (d,) distribution.
        floor: smallest mass t wanted, in [0, 1/d].

    Raises:
        SpecError: an argument is out of range, or the exact donor set is not proven in reasonable time.

    The greedy donors are 0.4 and, for what is still missing, 0.25; but 0.35 and 0.25 can give as much:

    >>> found = compare_donors([0.0, 0.0, 0.0, 0.0, 0.25, 0.35, 0.4], floor=0.09)
    >>> f"{found.greedy:.2f} {found.exact:.2f} {found.differ}"
    '0.65 0.60 True'
    """
    masses = as_distribution(p)
    floor = _checked_floor(floor, masses.size)
    need = _need(masses, floor)
    if need <= 0.0:
        return DonorComparison(0.0, 0.0)
    greedy, least = (choose(masses, floor, need) for choose in (greedy_donors, least_donors))
    return DonorComparison(float(masses[greedy].sum()), float(masses[least].sum()))


_Taking = Callable[[FloatArray, float, float], FloatArray]


def _fill(p: ArrayLike, floor: float, take: _Taking) -> FloatArray:
    masses = as_distribution(p)
    floor = _checked_floor(floor, masses.size)
    need = _need(masses, floor)
    if need <= 0.0:
        return masses
    above = masses > floor
    raised = np.full(masses.size, floor)
    if above.any():  # else p is the uniform distribution up to rounding
        raised[above] = take(masses[above], floor, need)
    return raised


def _checked_floor(floor: float, size: int) -> float:
    if not 0.0 <= floor <= (1.0 + _FLOOR_SLACK) / size:
        raise SpecError(f"floor must lie in [0, 1/d] = [0, {1.0 / size!r}] for d={size}, found floor={floor!r}")
    return min(float(floor), 1.0 / size)


def _need(masses: FloatArray, floor: float) -> float:
    """Return the mass that entries below the floor lack."""
    return float(np.maximum(floor - masses, 0.0).sum())


def _level(donors: FloatArray, floor: float, need: float) -> FloatArray:
    """Take ``need`` in equal amounts; a donor that reaches the floor stops giving."""
    ordered = np.sort(donors, kind="stable")
    owed = _owed(ordered, floor, need)
    giving = donors >= _smallest_giver(ordered, owed / np.arange(ordered.size, 0, -1), floor)
    rest = need - float((donors[~giving] - floor).sum())
    return np.where(giving, np.maximum(donors - rest / np.count_nonzero(giving), floor), floor)


def _shrink(donors: FloatArray, floor: float, need: float) -> FloatArray:
    """Take ``need`` in equal shares; a donor that reaches the floor stops giving."""
    ordered = np.sort(donors, kind="stable")
    owed = _owed(ordered, floor, need)
    tail = np.cumsum(ordered[::-1])[::-1]
    giving = donors >= _smallest_giver(ordered, owed * (ordered / tail), floor)
    rest = need - float((donors[~giving] - floor).sum())
    share = rest / float(donors[giving].sum())
    return np.where(giving, np.maximum(donors - share * donors, floor), floor)


def _owed(ordered: FloatArray, floor: float, need: float) -> FloatArray:
    """Return what the donors from each position on must give if all before it give down to the floor."""
    capacity = np.cumsum(ordered - floor)
    return need - np.concatenate(([0.0], capacity[:-1]))


def _smallest_giver(ordered: FloatArray, loss: FloatArray, floor: float) -> float:
    """Return the smallest donor that still stands at or above the floor after its loss.

    ``loss[k]`` is what donor k gives if exactly the donors before k are drained. Standing is monotone in k.
    """
    drained: NDArray[np.bool_] = ordered - loss < floor
    return float(ordered[min(int(np.count_nonzero(drained)), ordered.size - 1)])
