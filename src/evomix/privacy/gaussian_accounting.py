"""Privacy of T rounds of Gaussian histogram noise on the vote lattice, as certified upper bounds.

One round releases ``votes + Z`` in micro-votes, ``Z`` independent discrete Gaussians of scale lattice·σ
(Canonne, Kamath & Steinke 2020). With sensitivities Δ₁ and Δ₂ of one unit (L1, L2), T adaptive rounds satisfy

    δ(ε) ≤ e^c · δ_µ(ε - k),   µ² = Σ Δ₂²/σ_t²,   c = Σ Δ₁/(24·lattice·σ_t²),   k = Σ Δ₁/(2·lattice·σ_t²)

where δ_µ is the curve of the continuous Gaussian (Balle & Wang 2018). On the lattice of 2²⁰ the
correction k is below a millionth of µ². It covers any non-negative votes of total mass one per unit.
Proof: docs/proofs/gaussian.md.
"""

import math
from collections.abc import Sequence

from evomix.core.arguments import number
from evomix.core.errors import SpecError
from evomix.privacy.adjacency import LATTICE, Adjacency, l1_sensitivity, l2_sensitivity_squared
from evomix.privacy.analytic_gaussian import TINY, gaussian_curve
from evomix.privacy.threshold import check_rounds, smallest

_UP = 1.0 + 2.0**-48
"""Covers the roundings of a short chain of additions, products and roots of positive numbers."""


def gaussian_delta(
    epsilon: float,
    *,
    stddev: float | Sequence[float],
    rounds: int = 1,
    adjacency: Adjacency = "replace-one",
    lattice: int = LATTICE,
) -> float:
    """Return an upper bound on δ(ε) of T rounds of Gaussian noise; rounds may be chosen adaptively.

    Args:
        epsilon: ε, finite and not negative.
        stddev: σ of the noise on each candidate's votes, in private units; one for all rounds or one a round.
        rounds: T, where ``stddev`` is one number.
        adjacency: neighbour relation; L2 sensitivity √2 under replace-one, 1 under add-remove.
        lattice: micro-votes per private unit.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.
    """
    return _delta(_epsilon(epsilon), _inverse_variances(stddev, rounds), adjacency, lattice)


def gaussian_epsilon(
    delta: float,
    *,
    stddev: float | Sequence[float],
    rounds: int = 1,
    adjacency: Adjacency = "replace-one",
    lattice: int = LATTICE,
) -> float:
    """Return an upper bound on the smallest ε that holds with ``delta``; 0.0 when δ alone suffices.

    Args:
        delta: δ, strictly between 0 and 1: Gaussian noise has no ε at δ = 0.
        stddev: as in `gaussian_delta`.
        rounds: as in `gaussian_delta`.
        adjacency: as in `gaussian_delta`.
        lattice: as in `gaussian_delta`.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.
    """
    delta = _target(delta)
    total = _inverse_variances(stddev, rounds)
    if _delta(0.0, total, adjacency, lattice) <= delta:
        return 0.0
    return smallest(lambda epsilon: _delta(epsilon, total, adjacency, lattice) <= delta, guess=1.0)


def gaussian_stddev(
    epsilon: float,
    delta: float,
    *,
    rounds: int = 1,
    adjacency: Adjacency = "replace-one",
    lattice: int = LATTICE,
) -> float:
    """Return the σ that T rounds need, in private units, rounded up: put back, it never spends more.

    Args:
        epsilon: ε for all rounds together, finite and not negative.
        delta: δ, strictly between 0 and 1.
        rounds: T.
        adjacency: as in `gaussian_delta`.
        lattice: as in `gaussian_delta`.

    Raises:
        SpecError: for an argument outside its range.
        UnsupportedAdjacency: for another relation.

    >>> round(gaussian_stddev(1.0, 1e-5, adjacency="add-remove"), 4)
    3.7306
    """
    epsilon, delta = _epsilon(epsilon), _target(delta)

    def suffices(stddev: float) -> bool:
        return _delta(epsilon, _inverse_variances(stddev, rounds), adjacency, lattice) <= delta

    return smallest(suffices, guess=1.0)


def _delta(epsilon: float, inverse_variances: float, adjacency: Adjacency, lattice: int) -> float:
    """Return the bound of the module's docstring, each part rounded to the safe side."""
    if lattice < 1:
        raise SpecError(f"Expected lattice of at least 1; found lattice={lattice!r}.")
    mu = math.sqrt(l2_sensitivity_squared(adjacency) * inverse_variances) * _UP
    per_lattice = l1_sensitivity(adjacency) * inverse_variances / lattice * _UP
    shift = per_lattice / 2.0
    # ε - k loses the digits of k below the last one of ε: round the difference down.
    curve = gaussian_curve(math.nextafter(epsilon - shift, -math.inf), mu)
    exponent = per_lattice / 24.0
    if exponent > 700.0:
        return 1.0
    return min(1.0, curve * math.exp(exponent) * _UP + TINY)


def _inverse_variances(stddev: float | Sequence[float], rounds: int) -> float:
    """Return Σ 1/σ_t², rounded up."""
    check_rounds(rounds)
    if isinstance(stddev, Sequence):
        if rounds not in {1, len(stddev)} or not stddev:
            raise SpecError(f"Expected one stddev a round; found rounds={rounds!r} and {len(stddev)} of stddev.")
        return math.fsum(_inverse_variance(each) for each in stddev) * _UP
    return rounds * _inverse_variance(stddev) * _UP


def _inverse_variance(stddev: float) -> float:
    sigma = number("stddev", stddev)
    if not 1e-150 < sigma < 1e150:
        raise SpecError(f"Expected stddev to be positive and finite; found stddev={stddev!r}.")
    return 1.0 / sigma / sigma * _UP


def _epsilon(epsilon: float) -> float:
    if not 0.0 <= number("epsilon", epsilon) < math.inf:
        raise SpecError(f"Expected epsilon to be finite and not negative; found epsilon={epsilon!r}.")
    return number("epsilon", epsilon)


def _target(delta: float) -> float:
    if not 0.0 < number("delta", delta) < 1.0:
        raise SpecError(
            f"Expected 0 < delta < 1; found delta={delta!r}. Gaussian noise has no guarantee at delta 0; "
            "Laplace noise has."
        )
    return number("delta", delta)
