"""How far the noise distribution can be from the private one, given that the public one is near.

With ``A`` the public distribution and γ its proximity, the private distribution may be any with TV(·, A) ≤ γ, and

    Ψ(P) = max TV(Q, P) over such Q  =  max over R, 1 ≤ |R| ≤ d−1, of  P(R) − max(A(R) − γ, 0),

where R are the candidates from which Q withdraws as much as it may (the complement of the set S in the paper's
form). Entries with P ≥ A gain by being in R, so all are, unless R is everything but one of them. If they hold γ
of the public mass, Ψ = TV(A, P) + γ; if not, the rest of R is a knapsack: gain P_i, size A_i > P_i, room γ less
what they hold, room exceeded at unit price.
Utility only: no privacy guarantee rests on this file. Source: PubMix, Lemma E.1; proofs: docs/proofs/noise_design.md.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arguments import number
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.privacy.floor_raising import as_distribution
from evomix.privacy.knapsack import MOST_STATES, Filling, fill

_SMALL: Final = 24  # undecided candidates that even the quick bound solves exactly
_TIGHT: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WorstCase:
    """Where the worst private distribution withdraws, in classes of candidates with equal masses.

    Attributes:
        counts: int64 (c,), how many candidates of each class are in R.
        value: ``P(R) − max(A(R) − γ, 0)``.
        upper: no set has more.
    """

    counts: IntArray
    value: float
    upper: float


def worst_case_tv(noise: ArrayLike, *, public: ArrayLike, proximity: float) -> float:
    """Return Ψ, the largest total variation between ``noise`` and a private distribution near ``public``.

    Never below the truth, and nearly always within 1e-9 of it (a 0/1 knapsack, solved by dynamic programming). Where
    that would take long it is an upper bound at most ``max(public)/2`` above Ψ, and usually 1e-6. Milliseconds for
    hundreds of candidates, a second or two at 10⁴. Public arithmetic; costs no privacy.

    Args:
        noise: (d,) noise distribution P.
        public: (d,) public distribution A.
        proximity: γ in [0, 1].

    Raises:
        SpecError: an argument is no distribution, the lengths differ or γ lies outside [0, 1].
    """
    p, a = _checked(noise, public, proximity)
    return worst_counts(p, a, np.ones(p.size, dtype=np.int64), proximity=proximity).upper


def worst_set(noise: ArrayLike, *, public: ArrayLike, proximity: float) -> NDArray[np.bool_]:
    """Return the set S of candidates, bool (d,), on which the worst private distribution exceeds ``noise``.

    ``min(A(S) + γ, 1) − P(S)`` is Ψ, to the accuracy of :func:`worst_case_tv`; arguments, errors and cost as there.
    Neither empty nor everything but for a single candidate, which has no such set.
    """
    p, a = _checked(noise, public, proximity)
    if p.size == 1:
        return np.zeros(1, dtype=np.bool_)
    case = worst_counts(p, a, np.ones(p.size, dtype=np.int64), proximity=proximity)
    outside: NDArray[np.bool_] = case.counts == 0
    return outside


def psi_upper(noise: ArrayLike, *, public: ArrayLike, proximity: float) -> float:
    """Return an upper bound of Ψ in one sort: milliseconds at d = 10⁵.

    At most ``max(public)/2`` above Ψ; exact in the closed case, for uniform noise and for up to 24 undecided
    candidates. Arguments, errors and cost as in :func:`worst_case_tv`.
    """
    p, a = _checked(noise, public, proximity)
    sack = _reduced(p, a, np.ones(p.size, dtype=np.int64), proximity)
    if isinstance(sack, WorstCase):
        return sack.upper
    if sack.gain.size <= _SMALL:
        return max(sack.all_but_one, sack.base + _filled(sack, 0.0, MOST_STATES).upper)
    return _one_sort(sack)


def worst_counts(
    noise: FloatArray,
    mass: FloatArray,
    count: IntArray,
    *,
    proximity: float,
    tolerance: float = _TIGHT,
    most_states: int = MOST_STATES,
) -> WorstCase:
    """Return the worst case for classes of equal candidates, with a bracket for Ψ.

    Args:
        noise: (c,) noise mass of one candidate of each class.
        mass: (c,) its public mass.
        count: int64 (c,) candidates in the class.
        proximity: γ in [0, 1].
        tolerance: how near ``value`` must come to ``upper`` where the knapsack allows it.
        most_states: how far the knapsack may go for that.
    """
    sack = _reduced(noise, mass, count, proximity)
    if isinstance(sack, WorstCase):
        return sack
    filling = _filled(sack, tolerance, most_states)
    value, upper = sack.base + filling.value, sack.base + filling.upper
    if value < sack.all_but_one:
        return WorstCase(_all_but_one(count, sack.left_out), sack.all_but_one, max(sack.all_but_one, upper))
    counts = np.where(sack.decided, count, 0)
    counts[sack.undecided] = filling.counts
    return WorstCase(counts, value, upper)


@dataclass(frozen=True, slots=True)
class _Sack:
    """What is left to decide once the classes with P ≥ A are in R."""

    base: float  # noise mass of the decided
    room: float  # γ less their public mass, above 0
    gain: FloatArray  # (u,) noise masses of the undecided
    size: FloatArray  # (u,) their public masses, each above its gain
    count: IntArray  # (u,)
    decided: NDArray[np.bool_]  # (c,)
    undecided: NDArray[np.intp]  # (u,) their classes
    all_but_one: float  # the best R that leaves out one candidate, decided or not
    left_out: int  # the class of that one
    cap: float  # 1 − min P: R may not be everything


def _checked(noise: ArrayLike, public: ArrayLike, proximity: float) -> tuple[FloatArray, FloatArray]:
    p, a = as_distribution(noise, name="noise"), as_distribution(public, name="public")
    if p.size != a.size:
        raise SpecError(f"noise and public must be of one length, found {p.size} and {a.size}")
    check_proximity(proximity)
    return p, a


def check_proximity(proximity: float) -> None:
    """Raise ``SpecError`` unless γ lies in [0, 1]."""
    if not 0.0 <= number("proximity", proximity) <= 1.0:
        raise SpecError(f"proximity must lie in [0, 1], found proximity={proximity!r}")


def _reduced(p: FloatArray, a: FloatArray, count: IntArray, proximity: float) -> WorstCase | _Sack:
    """Return the worst case where it has a closed form, else the knapsack."""
    if p.size == 1 and count[0] == 1:
        return WorstCase(np.zeros(1, dtype=np.int64), 0.0, 0.0)
    but_one = 1.0 - p - np.maximum(1.0 - a - proximity, 0.0)
    left_out = int(np.argmax(but_one))
    all_but_one = float(but_one[left_out])
    decided = p >= a
    if decided.all():  # noise is the public distribution
        return WorstCase(_all_but_one(count, left_out), all_but_one, all_but_one)
    number = count[decided]
    base, room = float((p[decided] * number).sum()), proximity - float((a[decided] * number).sum())
    if room <= 0.0:
        value = float(((a - p)[~decided] * count[~decided]).sum()) + proximity
        return WorstCase(np.where(decided, count, 0), value, value)
    undecided = np.flatnonzero(~decided)
    gain, size, number = p[undecided], a[undecided], count[undecided]
    cap = 1.0 - float(p.min())
    return _Sack(base, room, gain, size, number, decided, undecided, all_but_one, left_out, cap)


def _all_but_one(count: IntArray, left_out: int) -> IntArray:
    counts = count.copy()
    counts[left_out] -= 1
    return counts


def _filled(sack: _Sack, tolerance: float, most_states: int) -> Filling:
    return fill(sack.gain, sack.size, sack.count, room=sack.room, tolerance=tolerance, most_states=most_states)


def _one_sort(sack: _Sack) -> float:
    """Return the fractional bound of single candidates; for equal gains, where prefixes are best, the truth."""
    order = np.argsort(-sack.gain / sack.size, kind="stable")
    gain, size = sack.gain[order], sack.size[order]
    gained = sack.base + np.concatenate(([0.0], np.cumsum(gain)))
    filled = np.concatenate(([0.0], np.cumsum(size)))
    if gain.min() == gain.max():
        prefixes = gained - np.maximum(filled - sack.room, 0.0)
        return max(sack.all_but_one, float(prefixes[:-1].max()))  # the last would make R everything
    return max(sack.all_but_one, min(float(np.interp(sack.room, filled, gained)), sack.cap))
