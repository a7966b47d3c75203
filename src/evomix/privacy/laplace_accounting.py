"""Privacy of T rounds of Laplace histogram noise on the vote lattice, as certified upper bounds.

One round adds discrete Laplace noise of scale b to each candidate's votes. The candidates that gain votes
when one unit changes gain at most 1 in all, those that lose votes lose at most 1 in all, and the noise of
both groups is independent: a round is Δ₁ mechanisms (2 under replace-one, 1 under add-remove), each ε₀-DP
with ε₀ = 1/b. So T adaptive rounds are never worse than k = T·Δ₁ rounds of randomised response at ε₀
(Kairouz, Oh & Viswanath 2015):

    δ(ε) = Σ_j C(k, j) p^{k-j} (1-p)^j (1 - e^{ε - (k-2j) ε₀})₊,   p = e^{ε₀}/(1 + e^{ε₀}),

which is zero from the pure ε = T·Δ₁/b on. Proof and rounding analysis: docs/proofs/laplace.md.
"""

import math

import numpy as np
from scipy.special import gammaln

from evomix.core.arguments import number
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.adjacency import Adjacency, l1_sensitivity
from evomix.privacy.threshold import check_rounds, smallest

_UNIT = 2.0**-53
_MOST_TERMS = 2_000_000


def laplace_delta(epsilon: float, *, scale: float, rounds: int = 1, adjacency: Adjacency = "replace-one") -> float:
    """Return an upper bound on δ(ε) of T rounds of Laplace noise; rounds may be chosen adaptively.

    Args:
        epsilon: ε, finite and not negative.
        scale: b of the noise on each candidate's votes, in private units (its standard deviation is b√2).
        rounds: T.
        adjacency: neighbour relation; L1 sensitivity 2 under replace-one, 1 under add-remove.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.
    """
    epsilon, _ = _checked(epsilon, 0.0, rounds)
    return _delta(epsilon, _pure(scale), rounds * l1_sensitivity(adjacency))


def laplace_epsilon(delta: float, *, scale: float, rounds: int = 1, adjacency: Adjacency = "replace-one") -> float:
    """Return an upper bound on the smallest ε that holds with ``delta``; T·Δ₁/b at δ = 0.

    Args:
        delta: δ, in [0, 1).
        scale: as in `laplace_delta`.
        rounds: as in `laplace_delta`.
        adjacency: as in `laplace_delta`.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.
    """
    _, delta = _checked(0.0, delta, rounds)
    pure, copies = _pure(scale), rounds * l1_sensitivity(adjacency)
    most = _pure_total(pure, copies)
    if delta == 0.0:
        return most
    if _delta(0.0, pure, copies) <= delta:
        return 0.0
    return smallest(lambda epsilon: _delta(epsilon, pure, copies) <= delta, guess=most)


def laplace_scale(epsilon: float, delta: float, *, rounds: int = 1, adjacency: Adjacency = "replace-one") -> float:
    """Return the b that T rounds need, in private units, rounded up: put back, it never spends more.

    Args:
        epsilon: ε for all rounds together, positive and finite.
        delta: δ, in [0, 1); at 0 the answer is the pure T·Δ₁/ε.
        rounds: T.
        adjacency: as in `laplace_delta`.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.

    >>> laplace_scale(0.5, 0.0, rounds=3, adjacency="add-remove") - 6.0 < 1e-12
    True
    """
    epsilon, delta = _checked(epsilon, delta, rounds)
    if epsilon == 0.0:
        raise SpecError(f"Expected epsilon > 0; found epsilon={epsilon!r}.")

    copies = rounds * l1_sensitivity(adjacency)

    def suffices(scale: float) -> bool:
        pure = _pure(scale)
        if delta == 0.0:
            return _pure_total(pure, copies) <= epsilon
        return _delta(epsilon, pure, copies) <= delta

    return smallest(suffices, guess=copies / epsilon * (1.0 + 2.0**-40))


def _pure(scale: float) -> float:
    """Return ε₀ = 1/b, rounded up."""
    if not 1e-150 < number("scale", scale) < 1e150:
        raise SpecError(f"Expected scale to be positive and finite; found scale={scale!r}.")
    return math.nextafter(1.0 / number("scale", scale), math.inf)


def _pure_total(pure: float, copies: int) -> float:
    return math.nextafter(copies * pure, math.inf)


def _delta(epsilon: float, pure: float, copies: int) -> float:
    """Return the module's sum, rounded up: logarithms and gaps carry their worst rounding error outwards."""
    if epsilon >= _pure_total(pure, copies):
        return 0.0
    wrong = _contributing(epsilon, pure, copies)
    right = copies - wrong
    log_right = -math.log1p(math.exp(-pure))
    log_wrong = log_right - pure
    binomials = gammaln(copies + 1.0) - gammaln(wrong + 1.0) - gammaln(right + 1.0)
    logs = binomials + right * log_right + wrong * log_wrong
    log_slack = 16.0 * _UNIT * (1.0 + 3.0 * copies * math.log(copies + 2.0) + copies * pure)
    gap_slack = 4.0 * _UNIT * (epsilon + copies * pure)
    gaps = np.maximum((right - wrong) * pure - epsilon + gap_slack, 0.0)
    total = math.fsum(np.exp(np.minimum(logs + log_slack, 0.0)) * -np.expm1(-gaps))
    return min(1.0, total * (1.0 + 16.0 * _UNIT) + math.ulp(0.0) * (len(wrong) + 1))


def _contributing(epsilon: float, pure: float, copies: int) -> FloatArray:
    """Return every number of wrong answers j whose loss (T - 2j)·ε₀ exceeds ε, and perhaps one more."""
    most = min(copies / 2.0, (copies - epsilon / pure) / 2.0 + 1.0)
    if most > _MOST_TERMS:
        raise SpecError(f"Expected fewer rounds of Laplace noise for this budget; found rounds*sensitivity={copies!r}.")
    return np.arange(math.floor(most) + 1.0)


def _checked(epsilon: float, delta: float, rounds: int) -> tuple[float, float]:
    epsilon, delta = number("epsilon", epsilon), number("delta", delta)
    if not 0.0 <= epsilon < math.inf:
        raise SpecError(f"Expected epsilon to be finite and not negative; found epsilon={epsilon!r}.")
    if not 0.0 <= delta < 1.0:
        raise SpecError(f"Expected 0 <= delta < 1; found delta={delta!r}.")
    check_rounds(rounds)
    return epsilon, delta
