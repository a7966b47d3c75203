"""The law of a weighted loss walk, on the multiples of its gain.

Weighting a walk by e^{θ·loss} gives another walk of independent steps. Where it ends is the m-fold convolution of one
step, computed as a power of its characteristic function on a window outside of which Chernoff's bound leaves less
than 10⁻¹⁶. What wraps around, what is cut off and what Fourier transforms err is bounded in ``error``.
Analysis: docs/proofs/composition.md.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.privacy.run_loss import ULP, LossWalk

FOURIER: Final = 16.0
"""Relative ℓ2 error granted to a Fourier transform, in ULPs for each doubling of its length; a test holds the library
to a half of it."""

ComplexArray = NDArray[np.complex128]

_CUT: Final = 1e-16
_POWER: Final = 32.0  # ULPs granted to each factor of a power: 14 for the base, 3 for each of two products, a reserve
_ORDERS: Final = np.geomspace(1e-3, 40.0, 80)


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """A weighted law on the losses ``(start + i)·gain``, of total mass 1 but for ``error``.

    Attributes:
        gain: spacing of the losses.
        start: index of the first loss.
        masses: (s,) masses, not negative.
        variance: of the weighted loss.
        error: bound on all mass outside and all errors of ``masses`` together.
    """

    gain: float
    start: int
    masses: FloatArray
    variance: float
    error: float

    @property
    def reach(self) -> float:
        """The largest size of a loss."""
        return self.gain * max(abs(self.start), abs(self.start + self.masses.size - 1))


def walk_law(walk: LossWalk, tilt: float) -> LatticeLaw:
    """Return the law of ``walk`` weighted by e^{θ·loss}, normalised; θ = ``tilt`` > 0."""
    up, down, stay = _weighted(walk, tilt)
    low, high = _window(walk.steps, up, down, stay)
    length = 1 << (high - low).bit_length()
    frequency = np.arange(length // 2 + 1)
    angle = 2.0 * math.pi / length * frequency
    one = (stay + (up + down) * np.cos(angle)) - 1j * (up - down) * np.sin(angle)
    transform = _power(one, walk.steps)
    # Shift by the window's start, in whole numbers: the angle keeps its digits.
    transform *= np.exp(2j * math.pi / length * ((frequency * low) % length))
    masses = np.maximum(np.fft.irfft(transform, length)[: high - low + 1], 0.0)
    size = np.abs(one)
    error = _POWER * ULP * walk.steps * _norm(size ** (walk.steps - 1))
    error += (FOURIER * length.bit_length() + 8.0) * ULP * _norm(size**walk.steps)
    variance = walk.steps * walk.gain**2 * max(0.0, up + down - (up - down) ** 2)
    return LatticeLaw(walk.gain, low, masses, variance, 2.0 * error + 2.0 * _CUT)


def _weighted(walk: LossWalk, tilt: float) -> tuple[float, float, float]:
    """Return the probabilities of one weighted step, normalised in logarithms: the weights may overflow."""
    log_down = math.log(walk.down)
    log_stay = math.log(walk.stay) if walk.stay > 0.0 else -math.inf
    logs = (log_down + (1.0 + tilt) * walk.gain, log_down - tilt * walk.gain, log_stay)
    most = max(logs)
    weights = [math.exp(each - most) for each in logs]
    total = math.fsum(weights)
    return weights[0] / total, weights[1] / total, weights[2] / total


def _window(steps: int, up: float, down: float, stay: float) -> tuple[int, int]:
    """Return the least and largest end of the walk that are kept; outside lies less than ``_CUT``.

    Chernoff: Pr(end ≥ k) ≤ e^{ln E e^{s·end} − s·k} for every s > 0, the same downwards.
    """
    logarithm = math.log(2.0 / _CUT) + 1e-3
    rise, fall = np.exp(_ORDERS), np.exp(-_ORDERS)
    upwards = steps * np.log(up * rise + down * fall + stay)
    downwards = steps * np.log(up * fall + down * rise + stay)
    high = math.ceil(float(((upwards + logarithm) / _ORDERS).min()))
    low = -math.ceil(float(((downwards + logarithm) / _ORDERS).min()))
    return max(low, -steps), min(high, steps)


def _power(base: ComplexArray, exponent: int) -> ComplexArray:
    """Return ``base**exponent`` by squaring: at most two products for each factor, whose errors are counted."""
    value = np.ones_like(base)
    while exponent:
        if exponent & 1:
            value *= base
        base = base * base
        exponent >>= 1
    return value


def _norm(half: FloatArray) -> float:
    """Return the ℓ2 norm over all frequencies, from those that a real transform keeps."""
    return math.sqrt(2.0 * float(np.square(half).sum()))
