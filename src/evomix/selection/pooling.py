"""Pooling: what the releases of all rounds say together of all candidates that were ever voted on.

A round asks of every record which of its candidates is nearest. If the records follow the law w over the candidates of
all rounds, round r gives its candidate i the share ``Σ w_x`` over the x that are nearest to i: each release is a noisy
linear measurement of one w. The law is fitted to all of them at once, by weighted least squares and exponentiated
gradient (Kivinen and Warmuth 1997), and ends where no more is left than noise alone would leave (Morozov 1966), as a
closer fit would fit the noise. Post-processing; costs no privacy.
What it does and what is approximate: docs/proofs/post_processing.md, section 7. Measured: benchmarks/pooling.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.release import Draws, Release

RESIDUE: Final = 0.95
"""The fit stops where squared residues, in variances of the noise, are this part of their number: pooled candidates are
many more than it takes to explain some of the noise too."""
LEAST_GAIN: Final = 1.0
"""A step must bring the squared residue down by one variance at least: where all that can be gained is less, as beside
much noise, the law stays where it is."""
EVEN: Final = (0.1, 0.5)
"""Least and largest share of the even law in what a fit beside public votes starts from: what no public record is near
stays possible, and what public records say of many columns at once is not forgotten where single columns are off."""
_VAGUE: Final = 10.0
"""How many variances the two must be apart before the releases rather than the least share decide between them."""
_STEPS: Final = 300
_FIRST_STEP: Final = 0.5
"""Largest change of a log share in the first step; a step that helps lets the next go further, one that does not is
halved."""
_LONGER: Final = 1.3
_SHORTEST, _LONGEST = 1e-3, 4.0
_LEAST_ERROR: Final = 1e-100
"""Squared errors below count as this much, so that no weight overflows."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One round's shares s as a measurement of the pooled law w: ``s = A·w`` and noise.

    Attributes:
        shares: s, float64 (d,), signed.
        cells: A as int64 (p,), the row in which each pooled candidate's column has its 1.
        precision: one over the variance of the noise on a share, its mean over candidates; 0 without information.
    """

    shares: FloatArray
    cells: IntArray
    precision: float

    def missed(self, law: FloatArray) -> FloatArray:
        """Return what the shares have beyond those of a law, float64 (d,)."""
        return np.asarray(self.shares - np.bincount(self.cells, weights=law, minlength=self.shares.size))

    def residue(self, law: FloatArray) -> tuple[float, FloatArray]:
        """Return the squared residue in variances, and for each pooled candidate how the law should change."""
        missed = self.missed(law)
        return self.precision * float(missed @ missed), self.precision * missed[self.cells]


def pooled_shares(
    releases: Sequence[Release], cells: Sequence[IntArray], *, public_voters: int | None = None
) -> FloatArray:
    """Return the share of each pooled candidate, float64 (p,), a distribution.

    Args:
        releases: of the rounds, at least one. One without information, such as draws that are all noise, is left out.
        cells: for each round int64 (p,), which of its candidates is nearest to each pooled candidate.
        public_voters: number of public records behind the releases' priors. The fit then starts between what these say,
            fitted in the same way, and the even law: where the releases are missed least.
    """
    law = np.full(len(cells[0]), 1.0 / len(cells[0]))
    measured = [_measured(release, of) for release, of in zip(releases, cells, strict=True)]
    if public_voters is not None:
        law = _nearest_between(_seen(releases, cells, public_voters, law), law, measured)
    return _fitted(measured, law)


def _seen(releases: Sequence[Release], cells: Sequence[IntArray], voters: int, law: FloatArray) -> FloatArray:
    """Return the law that the priors of the releases lead to from ``law``."""
    pairs = zip(releases, cells, strict=True)
    return _fitted([_sampled(one.prior, of, voters) for one, of in pairs if one.prior is not None], law)


def _nearest_between(seen: FloatArray, even: FloatArray, measured: Sequence[_Measured]) -> FloatArray:
    """Return the law of least residue between two, a quadratic in one number; the second is a part within EVEN."""
    slope = curvature = 0.0
    for one in measured:
        towards = np.bincount(one.cells, weights=even - seen, minlength=one.shares.size)
        slope += one.precision * float(towards @ one.missed(seen))
        curvature += one.precision * float(towards @ towards)
    least, most = EVEN
    part = min(max((slope + _VAGUE * least) / (curvature + _VAGUE), least), most)
    return np.asarray((1.0 - part) * seen + part * even)


def _measured(release: Release, cells: IntArray) -> _Measured:
    """Return a release as a measurement."""
    error = release.error()
    if isinstance(release, Draws) and release.informative:
        # Few draws may all fall on one candidate, and would seem to be without error.
        error = max(error, _scatter(0.0, release.draws) / (1.0 - release.mixing_weight) ** 2)
    return _precise(release.shares(), cells, error)


def _sampled(shares: FloatArray, cells: IntArray, voters: int) -> _Measured:
    """Return exact shares of a sample of people as a measurement of the law that they were drawn from."""
    return _precise(shares, cells, _scatter(1.0 - float(shares @ shares), voters))


def _scatter(spread: float, size: int) -> float:
    """Return the squared error of the shares of a sample, ``1 − Σp²`` over its size, where that is 1/size at least."""
    return max(spread, 1.0 / max(size, 1)) / max(size, 1)


def _precise(shares: FloatArray, cells: IntArray, error: float) -> _Measured:
    """Return shares with a squared error over all of them; a single share is 1 and tells nothing."""
    return _Measured(shares, cells, shares.size / max(error, _LEAST_ERROR) if shares.size > 1 else 0.0)


def _fitted(measured: Sequence[_Measured], law: FloatArray) -> FloatArray:
    """Return the law that a descent from ``law`` ends at."""
    rounds = [one for one in measured if one.precision > 0.0]
    enough = RESIDUE * sum(one.shares.size for one in rounds)
    residue, slope = _missed(rounds, law)
    step = _FIRST_STEP
    for _ in range(_STEPS):
        if residue <= enough or step < _SHORTEST or not slope.any():
            break
        moved = _moved(law, slope, step)
        left, its_slope = _missed(rounds, moved)
        if left <= residue - LEAST_GAIN and left < residue:  # a gain of 1 rounds away beside a huge residue
            law, residue, slope, step = moved, left, its_slope, min(step * _LONGER, _LONGEST)
        else:
            step /= 2.0
    return law


def _missed(rounds: Sequence[_Measured], law: FloatArray) -> tuple[float, FloatArray]:
    """Return the squared residue of all rounds and its slope along the simplex, the steepest entry being ±1."""
    residue, slope = 0.0, np.zeros(law.size)
    for one in rounds:
        left, its_slope = one.residue(law)
        residue += left
        slope += its_slope
    slope -= law @ slope
    return residue, slope / (np.abs(slope).max() or 1.0)


def _moved(law: FloatArray, slope: FloatArray, step: float) -> FloatArray:
    """Return the law after one step of exponentiated gradient."""
    moved = law * np.exp(step * (slope - slope.max()))
    return np.asarray(moved / moved.sum())
