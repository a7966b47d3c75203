"""The privacy curve of the Gaussian mechanism, never below its true value in floating point.

Two unit-variance Gaussians at distance µ have the hockey-stick divergence (Balle & Wang 2018, Theorem 8)

    δ(ε) = Φ(µ/2 - ε/µ) - e^ε Φ(-µ/2 - ε/µ).

With z = ε/µ - µ/2, w = ε/µ + µ/2 and the Mills ratio m(x) = Φ(-x)/φ(x), e^ε φ(w) = φ(z) turns it into
``φ(z)·(m(z) - m(w))``, which has no huge factor. It falls in z and grows in w, so moving both outward by
their rounding errors gives an upper bound. Where µ is small the difference cancels; there

    m(z) - m(w) = ∫ (1 - x·m(x)) dx over [z, w]  ≤  µ·(g(z) + g(w))/2,   g(x) = 1 - x·m(x),

because g is convex (g(x) = ∫ t e^{-xt - t²/2} dt over t > 0). Both bounds hold everywhere; the smaller
one counts. Proof and rounding analysis: docs/proofs/gaussian.md.
"""

import math

from scipy.special import erfcx, ndtr

TINY = math.ulp(0.0)
"""The smallest positive double: what an upper bound on a positive number is at least."""

_UNIT = 2.0**-53
_LIBRARY = 2.0**-40
"""Relative error granted to m(x) and Φ(x) as computed here; a test holds them to half of it."""


def gaussian_curve(epsilon: float, mu: float) -> float:
    """Return an upper bound on δ(ε) of two unit Gaussians at distance ``mu``, at most 1.

    Args:
        epsilon: any real number; negative ones are meaningful (γ < 1).
        mu: distance in standard deviations, positive; infinity gives 1.
    """
    centre, half = epsilon / mu, mu / 2.0
    if half == math.inf:
        return 1.0
    if centre - half > 1e3:  # below e^-499999: far under the smallest double
        return TINY
    slack = 8.0 * _UNIT * (abs(centre) + half)
    z, w = (centre - half) - slack, (centre + half) + slack  # the true ones lie within two slacks inwards
    if z < -37.0:  # for ε ≥ 0 nearer to 1 than a double can say; beyond, m(z) would overflow
        return 1.0
    difference = _mills(z) * (1.0 + _LIBRARY) - _mills(w) * (1.0 - _LIBRARY)
    trapezoid = mu * (1.0 + _LIBRARY) * 0.5 * (_slope(z) + _slope(w - 2.0 * slack))
    nearest = z if z >= 0.0 else min(z + 2.0 * slack, 0.0)
    bound = 1.0
    for bracket in (difference, trapezoid):
        if 0.0 < bracket < math.inf:
            logarithm = math.log(bracket) - 0.5 * nearest * nearest - 0.5 * math.log(2.0 * math.pi)
            bound = min(bound, math.exp(min(logarithm, 0.0)) * (1.0 + 4.0 * _LIBRARY))
    if z < 0.0:  # where δ is large: Φ(-z) less the second term, without a common factor
        farthest = max(-z, z + 2.0 * slack)
        second = math.exp(-0.5 * farthest * farthest) / math.sqrt(2.0 * math.pi) * _mills(w)
        bound = min(bound, float(ndtr(-z)) * (1.0 + _LIBRARY) - second * (1.0 - 4.0 * _LIBRARY))
    return min(1.0, math.nextafter(max(bound, 0.0), math.inf) + TINY)


def _mills(x: float) -> float:
    """Return Φ(-x)/φ(x)."""
    return math.sqrt(math.pi / 2.0) * float(erfcx(x / math.sqrt(2.0)))


def _slope(x: float) -> float:
    """Return an upper bound on 1 - x·m(x), which is positive and falls in x."""
    product = x * _mills(x)
    return (1.0 - product) + _LIBRARY * abs(product)
