"""δ(ε) of a mixing mechanism: a certified upper bound on the hockey-stick divergence of its worst pair.

One draw of a mixture on two neighbouring data sets is dominated by a three-outcome pair

    P = (b1 + g,  b2,      rest)
    Q = (b1,      b2 + g,  rest)

and m draws by its m-fold product. For votes, ``g = (1−β)/n`` and ``b1, b2 = β·t1, β·t2`` with the two smallest noise
masses (PubMix, Theorem 4.1; proof: docs/proofs/mixing.md); other estimators have other numbers
(docs/proofs/bounded_sensitivity.md). Both sides give the first two outcomes the same total S, so the number N of draws
that fall on them has one law, Bin(m, S), under either, and

    E_{e^ε}(P^m ‖ Q^m) = Σ_N Pr(N) · Σ_{k: L(N,k) > ε} Bin(k; N, p1/S) · (1 − e^{ε − L(N,k)}),
    L(N,k) = k·a − (N−k)·b,   a = ln(p1/q1),  b = ln(q2/p2).

Every term is positive: nothing cancels, so relative errors only add up and can be bounded by counting operations.
Probabilities are carried by exact-start recurrences as scaled numbers; what is cut off is bounded by a geometric
series and added; the final value is inflated by the counted rounding error.
"""

import math
from typing import Final

import numpy as np

from evomix.core.compiled import compiled

MAX_DRAWS: Final = 10_000_000
"""Largest number of draws that is accounted for."""

_ULP: Final = 2.0**-53
_SMALLEST: Final = 2.0**-150  # ratios of outcomes below this are not computed with; a coarser bound is given
_CUT: Final = 1e-17  # relative size of what may be cut off (and is added back as a bound)
_BIG: Final = 2.0**300  # scaled numbers are mantissa · 2^(300·exponent)
_DENORMAL_SLACK: Final = 2.0**-1048  # more than all underflows of a run of MAX_DRAWS terms can lose (about 3e-316)
_NO_REST: Final = 2.0**-250  # a third outcome rarer than this is counted as if it never came


@compiled
def _power(base: float, exponent: int) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return ``base**exponent`` as a scaled number, by squaring."""
    value, scale = 1.0, 0
    factor, factor_scale = base, 0
    while exponent > 0:
        if exponent & 1:
            value *= factor
            scale += factor_scale
            if 0.0 < value < 1.0 / _BIG:
                value *= _BIG
                scale -= 1
        factor *= factor
        factor_scale *= 2
        if 0.0 < factor < 1.0 / _BIG:
            factor *= _BIG
            factor_scale -= 1
        exponent >>= 1
    return value, scale


@compiled
def _unscale(value: float, scale: int) -> float:  # pragma: no cover - compiled
    """Return a scaled number as a float (0 on underflow, which the caller's slack covers)."""
    while scale < 0 and value > 0.0:
        value /= _BIG
        scale += 1
    while scale > 0 and value < math.inf:
        value *= _BIG
        scale -= 1
    return value


@compiled
def _loss(k: int, total: int, a: float, b: float) -> float:  # pragma: no cover - compiled
    """Return the privacy loss of (N, k), rounded up."""
    return k * a - (total - k) * b + 16.0 * _ULP * (k * a + (total - k) * b)


@compiled
def _tail(
    epsilon: float, total: int, k: int, pmf: float, scale: int, odds: float, a: float, b: float
) -> tuple[float, int, int]:  # pragma: no cover - compiled
    """Return Σ_{j ≥ k} Bin(j; total)·(1 − e^{ε−L}) as a scaled number, and how many terms it took."""
    summed = 0.0
    first = k
    while True:
        gain = _loss(k, total, a, b) - epsilon
        if gain > 0.0:
            summed += pmf * -math.expm1(-gain)
        if k == total:
            break
        ratio = (total - k) / (k + 1.0) * odds
        pmf *= ratio
        k += 1
        if ratio < 1.0:
            rest = pmf / (1.0 - ratio)
            if rest <= _CUT * summed:
                summed += rest
                break
        if pmf > _BIG:
            pmf /= _BIG
            summed /= _BIG
            scale += 1
    return summed, scale, k - first


@compiled
def _smallest(epsilon: float, draws: int, a: float, b: float) -> int:  # pragma: no cover - compiled
    """Return the least N at which all N draws on outcome 1 lose more than ε (draws + 1 if there is none)."""
    total = max(1, math.floor(min(epsilon / a, draws + 1.0) * (1.0 - 32.0 * _ULP)))
    while total <= draws and _loss(total, total, a, b) <= epsilon:
        total += 1
    return total


@compiled
def _rescaled(value: float, scale: int) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return the same scaled number with a mantissa away from overflow and underflow."""
    if value > _BIG:
        return value / _BIG, scale + 1
    if 0.0 < value < 1.0 / _BIG:
        return value * _BIG, scale - 1
    return value, scale


@compiled
def _count_law(total: int, draws: int, both: float, rest: float) -> tuple[float, int]:  # pragma: no cover - compiled
    """Return Pr(N = total) for N ~ Bin(draws, both) as a scaled number, from its exact value at N = 0."""
    if rest <= 0.0:
        return (1.0, 0) if total == draws else (0.0, 0)
    weight, scale = _power(rest, draws)
    for count in range(total):
        weight *= (draws - count) / (count + 1.0) * (both / rest)
        weight, scale = _rescaled(weight, scale)
    return weight, scale


@compiled
def _next_threshold(
    epsilon: float, total: int, k: int, pmf: float, scale: int, odds: float, other: float, a: float, b: float
) -> tuple[int, float, int]:  # pragma: no cover - compiled
    """Go from Bin(k; N−1) to Bin(k*; N), where k* is the least count that loses more than ε among N = ``total``."""
    pmf *= total / float(total - k) * other
    while k < total and _loss(k, total, a, b) <= epsilon:
        pmf *= (total - k) / (k + 1.0) * odds
        k += 1
    pmf, scale = _rescaled(pmf, scale)
    return k, pmf, scale


@compiled
def _divergence(  # noqa: C901  (two sums over one recurrence; apart they would hide it)
    epsilon: float, draws: int, p1: float, p2: float, rest: float, a: float, b: float
) -> float:  # pragma: no cover - compiled
    """Return an upper bound on E_{e^ε}(P^m ‖ Q^m) for P = (p1, p2, rest) and per-outcome losses a, −b, 0.

    The threshold k*(N) starts at k* = N at the least N that can lose ε, where its probability is a plain power, and
    follows N by the two binomial recurrences. N is summed from its most likely value upward, then downward, each until
    a bound on what is left no longer counts; the bound is added.
    """
    both = p1 + p2
    odds, other = p1 / p2, p2 / both
    low = _smallest(epsilon, draws, a, b)
    if low > draws:
        return 0.0
    start = draws if rest <= 0.0 else max(low, min(draws, math.floor(draws * both)))
    weights, weight_scales = np.zeros(start - low + 1), np.zeros(start - low + 1, np.int64)
    pmfs, scales = np.empty(start - low + 1), np.empty(start - low + 1, np.int64)
    thresholds = np.empty(start - low + 1, np.int64)
    k = low
    pmf, scale = _power(p1 / both, low)
    weight, weight_scale = _count_law(low, draws, both, rest)
    for total in range(low, start + 1):
        if total > low:
            k, pmf, scale = _next_threshold(epsilon, total, k, pmf, scale, odds, other, a, b)
            if rest > 0.0:
                weight *= (draws - total + 1) / float(total) * (both / rest)
                weight, weight_scale = _rescaled(weight, weight_scale)
        weights[total - low], weight_scales[total - low] = weight, weight_scale
        pmfs[total - low], scales[total - low], thresholds[total - low] = pmf, scale, k
    if rest <= 0.0:
        weight, weight_scale = 1.0, 0

    summed, longest, total = 0.0, 0, start
    while True:
        inner, inner_scale, terms = _tail(epsilon, total, k, pmf, scale, odds, a, b)
        longest = max(longest, terms)
        summed += _unscale(inner * weight, inner_scale + weight_scale)
        if total == draws:
            break
        total += 1
        ratio = (draws - total + 1) / float(total) * (both / rest)
        weight, weight_scale = _rescaled(weight * ratio, weight_scale)
        if ratio < 1.0:
            left = _unscale(weight / (1.0 - ratio), weight_scale)
            if left <= _CUT * summed or left < 1e-315:
                summed += left
                break
        k, pmf, scale = _next_threshold(epsilon, total, k, pmf, scale, odds, other, a, b)
    highest = total

    for total in range(start - 1, low - 1, -1) if rest > 0.0 else range(0):
        at = total - low
        inner, inner_scale, terms = _tail(epsilon, total, thresholds[at], pmfs[at], scales[at], odds, a, b)
        longest = max(longest, terms)
        summed += _unscale(inner * weights[at], inner_scale + weight_scales[at])
        ratio = total / ((draws - total + 1.0) * (both / rest))
        if ratio < 1.0:
            # The inner sum grows with N (more draws reveal more), so it bounds every smaller N's.
            left = _unscale(inner * weights[at] * (ratio / (1.0 - ratio)), inner_scale + weight_scales[at])
            if left <= _CUT * summed:
                summed += left
                break
    counted = 8.0 * draws + 64.0 * (highest + longest + 16.0)
    return summed * (1.0 + counted * _ULP) + _DENORMAL_SLACK


def pair_delta(epsilon: float, *, draws: int, gap: float, bases: tuple[float, float], rest: float) -> float:
    """Return an upper bound on E_{e^ε}(P^m ‖ Q^m) for P = (b1 + g, b2, rest), Q = (b1, b2 + g, rest), in both orders.

    The second order has b1 and b2 exchanged; it is E_{e^ε}(Q^m ‖ P^m) as well. So the larger of the two, which is
    returned, is δ(ε) for neighbours taken in either order. Arguments are not validated here.

    Args:
        epsilon: ε ≥ 0.
        draws: m, at most ``MAX_DRAWS``.
        gap: g, 0 or at least 2⁻²⁰⁰.
        bases: b1 and b2.
        rest: 1 − b1 − b2 − g.

    The probabilities may be off by a relative 4·2⁻⁵³ (``rest``: 6·2⁻⁵³): the bound allows for that.
    Proof and rounding analysis: docs/proofs/mixing.md, section 4.
    """
    if gap <= 0.0 or draws == 0:
        return 0.0
    if min(bases) < _SMALLEST * gap:
        # With base mass 0 one hit of the record's outcome in m draws betrays it. Less base mass is never better, so
        # this also bounds masses so far below the gap that the recurrences would leave the range of floats.
        exact = 1.0 if gap >= 1.0 else -math.expm1(draws * math.log1p(-gap))
        return min(1.0, exact * (1.0 + 1e-14))
    rest = rest if rest > _NO_REST else 0.0
    worst = 0.0
    for one, two in (bases, bases[::-1]) if bases[0] != bases[1] else (bases,):
        a, b = math.log1p(gap / one), math.log1p(gap / two)
        worst = max(worst, _divergence(epsilon, draws, one + gap, two, rest, a, b))
    return min(1.0, math.nextafter(worst, math.inf)) if worst > 0.0 else 0.0


def mixing_delta(epsilon: float, *, mixing_weight: float, n: int, draws: int, floors: tuple[float, float]) -> float:
    """Return an upper bound on δ(ε) of ``draws`` i.i.d. draws under replace-one neighbours.

    Arguments are taken as exact numbers and are not validated here: see ``evomix.privacy.calibration``.

    Args:
        epsilon: ε ≥ 0.
        mixing_weight: β in [0, 1].
        n: number of private units, at least 1.
        draws: m, at most ``MAX_DRAWS``.
        floors: lower bounds on the two smallest masses of the noise distribution; their sum is at most 1.

    Source: PubMix, Theorem 4.1. Proof: docs/proofs/mixing.md.
    """
    low, high = floors
    return pair_delta(
        epsilon,
        draws=draws,
        gap=(1.0 - mixing_weight) / n,
        bases=(mixing_weight * low, mixing_weight * high),
        # 1 − β(t1+t2) − g as a sum of non-negative terms, so that it keeps its relative accuracy.
        rest=mixing_weight * math.fsum((1.0, -low, -high)) + (1.0 - mixing_weight) * ((n - 1) / n),
    )
