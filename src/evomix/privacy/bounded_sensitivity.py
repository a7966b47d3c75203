"""Mixing mechanisms on any estimator that one private unit can move only so far.

A round draws from ``(1−β)·P̄ + β·noise`` with noise masses of at least t. Let P̄ be any distribution over the candidates,
computed from the private units, and let neighbouring data sets move it by at most s on one candidate and by at most r
in total variation. Then one draw is dominated by the three-outcome pair

    P = (b + g,  b,      rest)        g = (1−β)·r
    Q = (b,      b + g,  rest)        b = β·t·r/s

and m draws, in rounds of any shape, by its m-fold product. Votes are s = r = 1/n; a vote that a smoothing kernel
spreads, with no more than κ on one candidate, is s = κ/n and r = 1/n, and so costs less. Where only s is known,
r ≤ min(1, s/(2t)) holds anyway, because there are at most 1/t candidates.

The pair is evomix's own; it is never looser than PubMix's Lemma H.1, which stands beside it for comparison.
Which neighbour relation the figures speak of is that for which s and r hold. Proof: docs/proofs/bounded_sensitivity.md.
"""

import math
from fractions import Fraction
from typing import Final

from evomix.core.arguments import whole
from evomix.privacy.calibration import check_delta, check_epsilon, check_floors, check_loss, check_share, least_weight
from evomix.privacy.hockey_stick import MAX_DRAWS, pair_delta

_LEAST_MOVE: Final = Fraction(1, 2**100)  # smaller moves are counted as this one: safe, and well inside the floats
_ROUNDING: Final = 2.0**-45  # relative; far more than the few operations of the published bound can lose


def bounded_delta(
    epsilon: float,
    *,
    mixing_weight: float,
    sensitivity: float,
    draws: int,
    floor: float,
    spread: float | None = None,
) -> float:
    """Return an upper bound on δ(ε) of ``draws`` draws from a mixture with an estimator of bounded sensitivity.

    Holds under the neighbour relation, in both directions, for which ``sensitivity`` and ``spread`` hold. Rounds may be
    chosen adaptively as long as all keep to the same four numbers.

    Args:
        epsilon: ε ≥ 0.
        mixing_weight: β in [0, 1], the share of noise.
        sensitivity: s in [0, 1], how far neighbours can move the estimator on any one candidate.
        draws: number of draws over all rounds, at most ``MAX_DRAWS``.
        floor: t, smallest mass of any round's noise distribution, in [0, 1/2].
        spread: r in [0, 1], how far neighbours can move the estimator in total variation; ``None`` where nothing is
            known of it, which gives the exact sum that the paper's Lemma H.1 bounds, or less.

    Raises:
        SpecError: a parameter is out of range.

    Source: ours. Proof: docs/proofs/bounded_sensitivity.md.

    Smoothing each of 1200 votes evenly over four candidates, at the same mixing weight:

    >>> known = {"mixing_weight": 0.3, "draws": 1000, "floor": 1e-3}
    >>> f"{bounded_delta(3.0, sensitivity=1 / 1200, spread=1 / 1200, **known):.1e}"
    '1.6e-02'
    >>> f"{bounded_delta(3.0, sensitivity=0.25 / 1200, spread=1 / 1200, **known):.1e}"
    '4.2e-05'
    """
    epsilon = check_loss(epsilon)
    mixing_weight = check_share("mixing_weight", mixing_weight)
    draws = whole("draws", draws, least=0, most=MAX_DRAWS)
    base, move = _base_and_move(sensitivity, floor, spread)
    return _pair_delta(epsilon, mixing_weight, draws, base, move)


def bounded_mixing_weight(
    epsilon: float, delta: float, *, sensitivity: float, draws: int, floor: float, spread: float | None = None
) -> float:
    """Return the least share of noise β that meets (ε, δ) with an estimator of bounded sensitivity.

    A multiple of 2⁻⁵³, rounded up: put back into :func:`bounded_delta` it gives at most ``delta``. Arguments and
    neighbour relation as there.

    Raises:
        SpecError: a parameter is out of range.

    Source: ours. Proof: docs/proofs/bounded_sensitivity.md.
    """
    epsilon, target = check_epsilon(epsilon), check_delta(delta)
    draws = whole("draws", draws, least=0, most=MAX_DRAWS)
    base, move = _base_and_move(sensitivity, floor, spread)
    return least_weight(lambda beta: _pair_delta(epsilon, beta, draws, base, move), target)


def _base_and_move(sensitivity: float, floor: float, spread: float | None) -> tuple[Fraction, Fraction]:
    """Validate; return (base mass at β = 1, r), exact rationals with s and r made consistent.

    No candidate moves further than the whole (s ≤ r); at most 1/t candidates move by at most s each (r ≤ s/(2t)).
    """
    s = Fraction(check_share("sensitivity", sensitivity))
    r = Fraction(1 if spread is None else check_share("spread", spread))
    t = Fraction(check_floors(floor)[0])
    if t > 0:
        r = min(r, s / (2 * t))
    s = min(s, r)
    if s == 0:
        return t, Fraction(0)
    s = max(s, _LEAST_MOVE)
    r = max(r, s)
    return t * r / s, r


def _pair_delta(epsilon: float, mixing_weight: float, draws: int, base: Fraction, move: Fraction) -> float:
    """Return δ(ε) of the pair; its masses are rounded once each, from exact values."""
    beta = Fraction(mixing_weight)
    b, g = beta * base, (1 - beta) * move
    return pair_delta(epsilon, draws=draws, gap=float(g), bases=(float(b), float(b)), rest=float(1 - 2 * b - g))


def lemma_h1_delta(epsilon: float, *, mixing_weight: float, sensitivity: float, draws: int, floor: float) -> float:
    """Return δ(ε) as PubMix's Lemma H.1 bounds it; for comparison only, :func:`bounded_delta` is never above it.

    The Chernoff bound of randomised response with likelihood ratio 1 + η, η = (1−β)s/(βt), at the paper's order α*;
    1 where that order is not above 1, 0 where ε ≥ m·ln(1 + η). Arguments, neighbour relation and errors as there.

    Source: PubMix, Lemma H.1. Proof that it is looser: docs/proofs/bounded_sensitivity.md.
    """
    epsilon = check_loss(epsilon)
    beta, s = check_share("mixing_weight", mixing_weight), check_share("sensitivity", sensitivity)
    draws = whole("draws", draws, least=0, most=MAX_DRAWS)
    return _published(epsilon, beta, s, draws, check_floors(floor)[0])


def lemma_h1_weight(epsilon: float, delta: float, *, sensitivity: float, draws: int, floor: float) -> float:
    """Return the least β for which PubMix's Lemma H.1 shows (ε, δ); for comparison only.

    A multiple of 2⁻⁵³, rounded up; :func:`bounded_mixing_weight` is never above it (but for the last bits). Arguments,
    neighbour relation and errors as there.

    Source: PubMix, Lemma H.1.
    """
    epsilon, target = check_epsilon(epsilon), check_delta(delta)
    s, t = check_share("sensitivity", sensitivity), check_floors(floor)[0]
    draws = whole("draws", draws, least=0, most=MAX_DRAWS)
    return least_weight(lambda beta: _published(epsilon, beta, s, draws, t), target)


def _published(epsilon: float, beta: float, s: float, draws: int, t: float) -> float:
    """Return Lemma H.1's δ, rounded up.

    With l = ln(1+η) and x = (α−1)·l the moment is h(α) = 1 + (4 sinh²(x/2) + η(eˣ−1))/(η+2): nothing cancels. Any x > 0
    gives a valid bound, so rounding α* itself is harmless.
    """
    if beta == 1.0 or s == 0.0 or draws == 0:
        return 0.0
    if beta * t < 1e-290:
        return 1.0
    eta = max((1.0 - beta) * s / (beta * t) * (1.0 + _ROUNDING), float(_LEAST_MOVE))
    log_ratio = math.log1p(eta)
    most = draws * log_ratio * (1.0 + _ROUNDING)
    if epsilon >= most:
        return 0.0
    x = 0.5 * (math.log((most + epsilon) / (most - epsilon)) - log_ratio)
    if x <= 0.0:
        return 1.0
    moment = math.log1p(4.0 * math.sinh(x / 2.0) ** 2 / (eta + 2.0) + math.expm1(x) * (eta / (eta + 2.0)))
    spent, saved = draws * moment, x / log_ratio * epsilon
    exponent = spent - saved + _ROUNDING * (spent + saved)
    return min(1.0, math.nextafter(math.exp(min(exponent, 0.0)) * (1.0 + _ROUNDING), math.inf))
