"""Pooling: what the releases of all rounds say together of all candidates that were ever voted on.

A round asks of every record which of its candidates is nearest. If the records follow the law w over the candidates of
all rounds, round r gives its candidate i the share ``Σ w_x`` over the x that are nearest to i: each release is a noisy
linear measurement of one w. The law is fitted to all of them at once, by weighted least squares and
exponentiated gradient from the even law (Kivinen and Warmuth 1997), and stopped where what is left is what noise alone
would leave (Morozov 1966), as a closer fit would fit the noise. Post-processing; costs no privacy.
Proof that it is consistent: docs/proofs/post_processing.md. Measured: benchmarks/pooling.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.release import Release

RESIDUE: Final = 0.95
"""The fit stops where squared residues, in variances of the noise, are this part of their number: pooled candidates are
many more than it takes to explain some of the noise too."""
LEAST_GAIN: Final = 1.0
"""A step must bring the squared residue down by one variance at least: where all that can be gained is less, as beside
much noise, the law stays where it is."""
EVEN: Final = 0.1
"""Share of the even law in what a fit beside public votes starts from: what no public record is near stays possible."""
_STEPS: Final = 100
_FIRST_STEP: Final = 0.5
"""Largest change of a log share in the first step; a step that helps lets the next go further, one that does not is
halved."""
_LONGER: Final = 1.3
_SHORTEST: Final = 1e-3
_LEAST_ERROR: Final = 1e-100
"""Squared errors below count as this much, so that no weight overflows."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One round's shares s as a measurement of the pooled law w: ``s = A·w`` and noise.

    Attributes:
        shares: s, float64 (d,), signed.
        cells: A as int64 (p,), the row in which each pooled candidate's column has its 1.
        precision: one over the variance of the noise on a share.
    """

    shares: FloatArray
    cells: IntArray
    precision: float

    def residue(self, law: FloatArray) -> tuple[float, FloatArray]:
        """Return the squared residue in variances, and for each pooled candidate how the law should change."""
        missed = self.shares - np.bincount(self.cells, weights=law, minlength=self.shares.size)
        return self.precision * float(missed @ missed), self.precision * missed[self.cells]


def pooled_shares(
    releases: Sequence[Release], cells: Sequence[IntArray], *, public_voters: int | None = None
) -> FloatArray:
    """Return the share of each pooled candidate, float64 (p,), a distribution.

    Args:
        releases: of the rounds, at least one. One without information, such as draws that are all noise, is left out.
        cells: for each round int64 (p,), which of its candidates is nearest to each pooled candidate.
        public_voters: number of public records behind the releases' priors. The fit then starts from what these say,
            fitted in the same way, and is pulled away as far as the releases show it to be wrong.
    """
    law = np.full(len(cells[0]), 1.0 / len(cells[0]))
    if public_voters is not None:
        priors = [one.prior for one in releases if one.prior is not None]
        seen = _fitted([_sampled(prior, of, public_voters) for prior, of in zip(priors, cells, strict=True)], law)
        law = (1.0 - EVEN) * seen + EVEN * law
    return _fitted([_measured(release, of) for release, of in zip(releases, cells, strict=True)], law)


def _measured(release: Release, cells: IntArray) -> _Measured:
    """Return a release as a measurement; one without information has no precision."""
    shares = release.shares()
    return _Measured(shares, cells, shares.size / max(release.error(), _LEAST_ERROR))


def _sampled(shares: FloatArray, cells: IntArray, voters: int) -> _Measured:
    """Return exact shares of a sample of people as a measurement of the law that they were drawn from."""
    return _Measured(shares, cells, shares.size * voters / max(1.0 - float(shares @ shares), _LEAST_ERROR))


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
        if left > residue - LEAST_GAIN:
            step /= 2.0
        else:
            law, residue, slope, step = moved, left, its_slope, step * _LONGER
    return law


def _missed(rounds: Sequence[_Measured], law: FloatArray) -> tuple[float, FloatArray]:
    """Return the squared residue of all rounds and its slope along the simplex, the steepest entry being ±1."""
    found = [one.residue(law) for one in rounds]
    slope = np.sum([slope for _, slope in found], axis=0) if found else np.zeros(law.size)
    slope -= law @ slope
    return sum(residue for residue, _ in found), slope / (np.abs(slope).max() or 1.0)


def _moved(law: FloatArray, slope: FloatArray, step: float) -> FloatArray:
    """Return the law after one step of exponentiated gradient."""
    moved = law * np.exp(step * (slope - slope.max()))
    return np.asarray(moved / moved.sum())
