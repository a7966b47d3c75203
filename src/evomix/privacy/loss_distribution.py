"""δ(ε) of a run whose rounds differ, from the distribution of its privacy loss: a certified upper bound.

The loss is a sum of independent walks and one normal part (``run_loss``). With W the law of the walks' sum,

    δ(ε) = Σ_l W(l)·h(ε − l),     h(y) = (1 − e^y)₊,  or the Gaussian curve δ_µ(y) where there is Gaussian noise.

W is made on a grid, by Fourier transforms. Three things keep the answer an upper bound, and a near one:

* A whole round, not each draw, is brought onto the grid, and its atoms are split over their two neighbours so that
  both the pair's masses are kept. Merging undoes a split, so the split pair dominates (Doroshenko et al. 2022,
  "connect the dots"); its error is of second order in the grid's step.
* Everything is weighted with e^{θ·loss} first, θ about the best Rényi order less one. The answer becomes the Rényi
  bound times a sum of a law against a function that is at most 1, so an absolute error of that sum, which is what
  cutting tails and Fourier transforms make, is an error relative to the Rényi bound, however small δ is.
* These errors are bounded and added.

Proof: docs/proofs/composition.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.privacy.analytic_gaussian import gaussian_curve
from evomix.privacy.loss_walk_law import FOURIER, LatticeLaw, walk_law
from evomix.privacy.renyi import TINY, best_tilt, log_conversion, log_delta, renyi_delta
from evomix.privacy.run_loss import ULP, LossWalk, RunLoss

_POINTS_PER_SD: Final = 256.0
_MOST_POINTS: Final = 2**16
_CURVE_POINTS_PER_SD: Final = 32.0
_ORDINARY: Final = 1e12  # beyond, products of such numbers leave the range of doubles, and δ is next to 1 or 0
_NO_MASS: Final = 1e-19  # grid points with less of the weighted law are not worth a value of the Gaussian curve


@dataclass(frozen=True, slots=True)
class _GridLaw:
    """A weighted law on the losses ``(start + i)·step``.

    Attributes:
        start: index of the first grid point.
        masses: (s,) masses, not negative.
        error: bound on the sum of all errors in ``masses``.
    """

    start: int
    masses: FloatArray
    error: float


def distribution_delta(epsilon: float, loss: RunLoss) -> float:
    """Return an upper bound on δ(ε) of a run, near the exact value of its dominating pair.

    Post-processing of public parameters. ``docs/proofs/composition.md`` has the proof and the error analysis.

    Args:
        epsilon: ε, finite and not negative.
        loss: what dominates the run, its parameters fixed in advance.
    """
    if loss.exposed > 0.0:
        return min(1.0, (loss.exposed + distribution_delta(epsilon, loss.hidden())) * (1.0 + 4.0 * ULP))
    if epsilon >= loss.largest:
        return 0.0
    if max(epsilon, loss.variance) > _ORDINARY:
        return renyi_delta(epsilon, loss)
    tilt = best_tilt(loss.log_moment, epsilon)
    laws = [walk_law(walk, tilt) for walk in loss.walks]
    step = _grid_step(epsilon, loss, laws)
    if len(laws) > 1 and tilt * step > 1.0:
        return renyi_delta(epsilon, loss)  # next to the largest loss, where one atom counts and the two agree
    law = _sum_of([_on_grid(each, step, tilt) for each in laws])
    reach = math.fsum(each.reach for each in laws)
    shifted = epsilon - loss.per_lattice / 2.0 - 64.0 * ULP * (epsilon + reach + step * law.masses.size)
    part = min(1.0, _weighed(law, shifted, step, loss, tilt))
    whole = math.fsum(
        (
            log_delta(loss.log_moment(tilt), shifted, tilt),
            math.log(part) if part > 0.0 else math.log(TINY),
            loss.per_lattice / 24.0,
            *(walk.steps * _step_slack(walk, tilt) for walk in loss.walks),
            law.masses.size * 4.0 * ULP,
        )
    )
    return min(1.0, math.exp(min(0.0, whole)) * (1.0 + 64.0 * ULP) + TINY)


def _step_slack(walk: LossWalk, tilt: float) -> float:
    """Return a bound on the relative error of the weighted probabilities of one step."""
    return 32.0 * ULP * (2.0 + (1.0 + tilt) * walk.gain - math.log(walk.down))


def _grid_step(epsilon: float, loss: RunLoss, laws: Sequence[LatticeLaw]) -> float:
    """Return the step: a 256th of the loss's spread, no coarser than a part of ε, and not too many points.

    A single walk lies on the multiples of its own gain; taking these brings no rounding at all.
    """
    if len(laws) == 1:
        return laws[0].gain
    if not laws:
        return math.sqrt(loss.variance)  # one point, anywhere
    spread = math.sqrt(math.fsum((loss.variance, *(law.variance for law in laws))))
    widest = math.fsum(law.gain * law.masses.size for law in laws)
    wanted = min(spread, max(epsilon, spread / 16.0)) / _POINTS_PER_SD
    return max(wanted, widest / _MOST_POINTS)


def _on_grid(law: LatticeLaw, step: float, tilt: float) -> _GridLaw:
    """Bring a weighted law onto the grid, each atom split over its two neighbours.

    An atom of mass w at loss l between g and g + s goes up with share (1 − e^{−(l−g)})/(1 − e^{−s}): the masses w
    and w·e^{−l} of the two sides are both kept. Moving weighted mass by x multiplies it by e^{θx}.
    """
    if step == law.gain:
        return _GridLaw(law.start, law.masses, law.error)
    losses = law.gain * np.arange(law.start, law.start + law.masses.size, dtype=np.float64)
    below = np.floor(losses / step)
    over = np.clip(losses - below * step, 0.0, step)
    share = np.expm1(-over) / math.expm1(-step)
    index = (below - below[0]).astype(np.int64)
    size = int(index[-1]) + 2
    masses = np.zeros(size)
    masses += np.bincount(index, law.masses * (1.0 - share) * np.exp(-tilt * over), minlength=size)
    masses += np.bincount(index + 1, law.masses * share * np.exp(tilt * (step - over)), minlength=size)
    return _GridLaw(int(below[0]), masses, law.error * math.exp(tilt * step))


def _sum_of(laws: Sequence[_GridLaw]) -> _GridLaw:
    """Return the law of a sum of independent losses, with the error of computing it by Fourier transforms.

    The transform is long enough for nothing to wrap around. With x̂ the transforms, ‖error‖₁ ≤ √N·‖error‖₂ =
    ‖error of Πx̂‖₂, and ‖x̂‖∞ ≤ ‖x‖₁, ‖x̂‖₂ = √N·‖x‖₂ bound that.
    """
    if not laws:
        return _GridLaw(0, np.ones(1), 0.0)
    if len(laws) == 1:
        return laws[0]
    size = sum(law.masses.size - 1 for law in laws) + 1
    length = 1 << (size - 1).bit_length()
    product = np.ones(length // 2 + 1, np.complex128)
    for law in laws:
        product *= np.fft.rfft(law.masses, length)
    masses = np.maximum(np.fft.irfft(product, length)[:size], 0.0)
    totals = [float(law.masses.sum()) + law.error for law in laws]
    whole = math.prod(totals)
    squares = math.fsum(float(np.linalg.norm(law.masses)) / total for law, total in zip(laws, totals, strict=True))
    transforms = FOURIER * ULP * (length.bit_length() + 1.0) * math.sqrt(length) * 2.0 * squares
    inherited = math.fsum(law.error / total for law, total in zip(laws, totals, strict=True))
    return _GridLaw(sum(law.start for law in laws), masses, 2.0 * whole * (transforms + inherited))


def _weighed(law: _GridLaw, epsilon: float, step: float, loss: RunLoss, tilt: float) -> float:
    """Return Σ W_θ(l)·f(l) plus the law's error; f(l) = e^{θ(ε−l)}·h(ε−l) over its own bound, so at most 1."""
    highest = epsilon - step * law.start
    if loss.variance > 0.0:
        values = _gaussian_values(highest, step, law.masses, loss, tilt)
    else:
        y = np.minimum(highest - step * np.arange(law.masses.size, dtype=np.float64), 0.0)
        values = np.exp(tilt * y - log_conversion(tilt)) * -np.expm1(y)
    return float((law.masses * np.minimum(values, 1.0)).sum()) + law.error


def _gaussian_values(highest: float, step: float, masses: FloatArray, loss: RunLoss, tilt: float) -> FloatArray:
    """Return upper bounds on e^{θy}·δ_µ(y) over its Rényi bound at y = ``highest``, ``highest − step``, and so on.

    δ_µ is convex in e^y, so chords between some of its values lie above it.
    """
    mu = math.sqrt(loss.variance) * (1.0 + 2.0**-48)
    log_bound = tilt * (1.0 + tilt) * loss.variance / 2.0 + log_conversion(tilt)
    stride = max(1, int(min(mu / _CURVE_POINTS_PER_SD / step, float(masses.size))))
    nodes = np.arange(0, masses.size + stride, stride)
    y = highest - step * np.arange(nodes[-1] + 1, dtype=np.float64)
    worth = np.append(np.add.reduceat(masses, nodes[:-1]) > _NO_MASS, False)
    heights = np.ones(nodes.size)
    needed = worth | np.append(False, worth[:-1])
    heights[needed] = _curve(y[nodes[needed]], mu)
    left = np.arange(masses.size) // stride
    y, upper, lower = y[: masses.size], y[nodes[left]], y[nodes[left + 1]]
    width = np.expm1(lower - upper)  # 0 where the grid is finer than the doubles around ε: then the larger value counts
    share = np.divide(np.expm1(lower - y), width, out=np.zeros_like(y), where=width < 0.0) * np.exp(y - upper)
    curve = np.maximum(share * heights[left] + (1.0 - share) * heights[left + 1], TINY)
    values = np.exp(np.minimum(tilt * y - log_bound + np.log(curve), 1.0)) * (1.0 + 2.0**-40)
    return np.where(worth[left], values, 1.0)


def _curve(y: FloatArray, mu: float) -> FloatArray:
    """Return upper bounds on δ_µ(y) for any real ``y``.

    The pair looks the same with its sides exchanged, so δ_µ(y) = 1 − e^y + e^y·δ_µ(−y); and δ_µ(y) ≤ Φ(µ/2 − y/µ).
    """
    far = np.abs(y)
    beyond = np.full(y.size, TINY)
    counts = far < mu * (40.0 + mu / 2.0)  # farther out lies less than Φ(−40) < 10⁻³⁴⁸
    beyond[counts] = [gaussian_curve(each, mu) for each in far[counts].tolist()]
    below = np.minimum(y, 0.0)
    curve: FloatArray = np.minimum(1.0, -np.expm1(below) + np.exp(below) * beyond)
    return curve
