"""LinMix: mix the votes with the uniform distribution; the best choice without public data.

Proof: docs/proofs/linmix.md. Source: PubMix, Corollary 4.6.
"""

import math
from fractions import Fraction

import numpy as np

from evomix.core.arrays import IntArray
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.mechanisms.mixture import Mixture


def linmix(epsilon: float, delta: float, *, units: int, draws: int, candidates: int) -> Mixture:
    """Calibrate LinMix for rounds of at most ``candidates`` candidates.

    Guarantee: (ε, δ)-DP under replacing one unit, for ``draws`` draws in all.
    """
    floor = uniform_mass(candidates)
    weight = mixing_weight(epsilon, delta, n=max(units, 1), draws=draws, floor=floor)
    return Mixture("linmix", weight, floor, draws, units, epsilon, delta)


def uniform_mass(candidates: int) -> float:
    """Return 1/candidates rounded down (½ for a single candidate, whose release says nothing)."""
    exact = Fraction(1, max(candidates, 2))
    mass = float(exact)
    return mass if Fraction(mass) <= exact else math.nextafter(mass, 0.0)


def uniform_weights(candidates: int) -> IntArray:
    """Return integer weights of the uniform distribution, int64 (candidates,)."""
    return np.ones(candidates, np.int64)
