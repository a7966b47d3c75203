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

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import Bounds, LinearConstraint, milp

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.floor_raising import as_distribution, proportional_fill

_CORE = 24  # undecided candidates searched exhaustively: 2 · 2¹² sums
_SOLVE_UP_TO = 400
_NODE_LIMIT = 2_000
_TIGHT = 1e-6  # HiGHS works to this absolute gap
_ROUNDING = 1e-7  # and its bound was seen 1e-8 off


def worst_case_tv(noise: ArrayLike, *, public: ArrayLike, proximity: float) -> float:
    """Return Ψ, the largest total variation between ``noise`` and a private distribution near ``public``.

    Never below the truth, and the truth in the closed case, for uniform noise, and for up to 24 undecided
    candidates; within 2e-6 of it for up to 400 (a 0/1 program, by HiGHS, which is given 2,000 nodes). Beyond, and
    when the solver gives up, it is an upper bound at most ``max(public)/2`` above Ψ, and usually 1e-4.
    Public arithmetic; costs no privacy.

    Args:
        noise: (d,) noise distribution P.
        public: (d,) public distribution A.
        proximity: γ in [0, 1].

    Raises:
        SpecError: an argument is no distribution, the lengths differ or γ lies outside [0, 1].
    """
    reduced = _reduced(noise, public, proximity)
    if isinstance(reduced, float):
        return reduced
    lower, upper = _bounds(reduced)
    if upper - lower > _TIGHT:
        lower = max(lower, _core_optimum(reduced))
    if upper - lower > _TIGHT and reduced.gain.size <= _SOLVE_UP_TO:
        upper = min(upper, max(lower, _solved(reduced)))
    return upper


def psi_upper(noise: ArrayLike, *, public: ArrayLike, proximity: float) -> float:
    """Return an upper bound of Ψ in one sort: milliseconds at d = 10⁵.

    At most ``max(public)/2`` above Ψ; exact in the closed case, for uniform noise and for up to 24 undecided
    candidates. Arguments, errors and cost as in :func:`worst_case_tv`.
    """
    reduced = _reduced(noise, public, proximity)
    return reduced if isinstance(reduced, float) else _bounds(reduced)[1]


def minimax_lower(public: ArrayLike, *, floor: float, proximity: float) -> float:
    """Return a lower bound of min Ψ(P) over all P with every mass at least ``floor``.

    The largest of three bounds, each the mean of ``P(R) − max(A(R) − γ, 0)`` over some sets R, which no P can
    bring down: sets that drop one candidate, the set of raised candidates, and, when those do not hold γ, arcs of
    the others laid on a circle. Arguments, errors and cost as in :func:`worst_case_tv`; proof (with the loss
    term): docs/proofs/noise_design.md.
    """
    a = as_distribution(public, name="public")
    _check_proximity(proximity)
    if a.size == 1:
        return 0.0
    filled = proportional_fill(a, floor=floor)
    all_but_one = 1.0 - (1.0 + float(np.maximum(1.0 - a - proximity, 0.0).sum())) / a.size
    raised = a <= floor
    held = float(a[raised].sum())
    cost = float(np.maximum(floor - a, 0.0).sum())
    if held >= proximity and not raised.all():
        return max(all_but_one, cost + proximity)
    return max(all_but_one, cost, _arcs(a, filled <= floor, floor, proximity))


def _check_proximity(proximity: float) -> None:
    if not 0.0 <= proximity <= 1.0:
        raise SpecError(f"proximity must lie in [0, 1], found proximity={proximity!r}")


@dataclass(frozen=True, slots=True)
class _Knapsack:
    """What is left to decide once the entries with P ≥ A are in R; the undecided by falling gain per size."""

    base: float  # noise mass of the decided
    room: float  # γ less their public mass, above 0
    gain: FloatArray  # (u,) noise masses of the undecided
    size: FloatArray  # (u,) public masses of the undecided, each above its gain
    all_but_one: float  # the best R that leaves out one candidate, decided or not
    cap: float  # 1 − min P: R may not be everything


def _reduced(noise: ArrayLike, public: ArrayLike, proximity: float) -> float | _Knapsack:
    """Return Ψ where it has a closed form, else the knapsack."""
    p, a = as_distribution(noise, name="noise"), as_distribution(public, name="public")
    if p.size != a.size:
        raise SpecError(f"noise and public must be of one length, found {p.size} and {a.size}")
    _check_proximity(proximity)
    if p.size == 1:
        return 0.0
    cap = 1.0 - float(p.min())
    undecided = a > p
    if not undecided.any():  # noise is the public distribution
        return min(float(proximity), cap)
    room = proximity - float(a[~undecided].sum())
    if room <= 0.0:
        return float((a - p)[undecided].sum()) + proximity
    all_but_one = float((1.0 - p - np.maximum(1.0 - a - proximity, 0.0)).max())
    gain, size = p[undecided], a[undecided]
    order = np.argsort(-gain / size, kind="stable")
    return _Knapsack(float(p[~undecided].sum()), room, gain[order], size[order], all_but_one, cap)


def _bounds(k: _Knapsack) -> tuple[float, float]:
    """Return an attained value and an upper bound: greedy by gain per size, whole and fractional."""
    gained = k.base + np.concatenate(([0.0], np.cumsum(k.gain)))
    filled = np.concatenate(([0.0], np.cumsum(k.size)))
    prefixes = gained - np.maximum(filled - k.room, 0.0)
    lower = max(k.all_but_one, float(prefixes[:-1].max()))  # the last would make R everything
    if k.gain.min() == k.gain.max():  # for equal gains the cheapest sets are prefixes
        return lower, lower
    if k.gain.size <= _CORE:
        optimum = max(lower, _core_optimum(k))
        return optimum, optimum
    return lower, max(lower, min(float(np.interp(k.room, filled, gained)), k.cap))


def _core_optimum(k: _Knapsack) -> float:
    """Return the best value over all subsets of the core: the candidates about which greedy is least sure.

    Those before the core are in R, those after it are not. The set of all the core, which may be everything, is
    left to greedy.
    """
    critical = int(np.searchsorted(np.cumsum(k.size), k.room, side="right"))
    start = min(max(0, critical - _CORE // 2), max(0, k.gain.size - _CORE))
    core = slice(start, start + _CORE)
    gain, size = k.gain[core], k.size[core]
    room = k.room - float(k.size[:start].sum())
    middle = gain.size // 2
    left, right = _subset_sums(gain[:middle], size[:middle]), _subset_sums(gain[middle:], size[middle:])
    best = max(_join(left[:, :-1], right, room), _join(left[:, -1:], right[:, :-1], room))
    return k.base + float(k.gain[:start].sum()) + best


def _subset_sums(gain: FloatArray, size: FloatArray) -> FloatArray:
    """Return gain and size of every subset, float64 (2, 2^u); the last is the whole."""
    sums = np.zeros((2, 1))
    for one in np.stack((gain, size)).T:
        sums = np.concatenate((sums, sums + one[:, None]), axis=1)
    return sums


def _join(left: FloatArray, right: FloatArray, room: float) -> float:
    """Return the best value of a left subset joined with a right one.

    Of the right subsets that still fit, the one of largest gain is best; of those that do not, the one of largest
    gain less size, the excess being paid for.
    """
    gain, size = right[:, np.argsort(right[1], kind="stable")]
    fits = np.searchsorted(size, room - left[1], side="right")
    within = np.append(-np.inf, np.maximum.accumulate(gain))[fits]
    beyond = np.append(np.maximum.accumulate((gain - size)[::-1])[::-1], -np.inf)[fits]
    return float((left[0] + np.maximum(within, beyond + room - left[1])).max())


def _solved(k: _Knapsack) -> float:
    """Return an upper bound, tight to the solver's gap: maximise gain·x − y with y ≥ size·x − room, not all x."""
    u = k.gain.size
    answer = milp(
        np.append(-k.gain, 1.0),
        integrality=np.append(np.ones(u), 0.0),
        bounds=Bounds(0.0, np.append(np.ones(u), np.inf)),
        constraints=[
            LinearConstraint(np.append(k.size, -1.0), ub=k.room),
            LinearConstraint(np.append(np.ones(u), 0.0), ub=u - 1),
        ],
        options={"mip_rel_gap": 0.0, "node_limit": _NODE_LIMIT},
    )
    bound = answer.mip_dual_bound
    return k.cap if bound is None else k.base - float(bound) + _ROUNDING


def _arcs(a: FloatArray, floored: np.ndarray, floor: float, proximity: float) -> float:
    """Return the bound from arcs; ``floored`` are the entries that proportional filling leaves at the floor."""
    held = float(a[floored].sum())
    if held > proximity:  # the smallest masses alone, as many as γ has room for
        smallest = np.cumsum(np.sort(a[floored]))
        return floor * int(np.searchsorted(smallest, proximity, side="right"))
    rest = a[~floored]
    if rest.size == 0 or rest.max() > 1.0 - proximity:  # an arc might be everything
        return 0.0
    share = (proximity - held) / (1.0 - held)
    base = floor * int(np.count_nonzero(floored))
    return base + share * (1.0 - base) - float(np.square(rest).sum()) / (4.0 * (1.0 - held))
