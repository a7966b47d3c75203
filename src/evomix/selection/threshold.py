"""τ: how many votes a candidate needs before its neighbourhood is believed to hold records.

From the size of the noise, which is public: nothing is read off the votes. Post-processing; costs nothing.
Source: "Understanding Private Evolution as Learning-Augmented Clustering" (2026), section 4.
"""

import math
from typing import Final

import numpy as np
from scipy.stats import binom, norm

from evomix.core.arguments import number, whole
from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.core.release import Draws, Release

NOISE_MULTIPLE: Final = 2.0
"""τ in standard deviations of the noise, unless told otherwise: about one in forty candidates without votes passes.
The theory's bound (:func:`theory_multiple`) lets none pass and drops small clusters for it. Measured:
benchmarks/threshold.py."""


def vote_threshold(release: Release, *, multiple: float = NOISE_MULTIPLE) -> FloatArray:
    """Return the threshold τ of each candidate, float64 (d,), in votes as ``release.estimate()`` counts them.

    A candidate without private votes lies above its threshold with at most the probability that a standard normal
    variable lies above ``multiple``: for Gaussian noise exactly, ``τ = multiple·σ``; for draws by the binomial law
    of how often noise alone draws it. Laplace noise of the same σ has heavier tails, and passes more (3 % at 2).
    What says nothing of the records, be it noise without bound, has an infinite threshold.

    Args:
        release: gives the noise.
        multiple: standard deviations, at least 0; of draws, from 8 on nothing passes.

    Raises:
        SpecError: ``multiple`` is not a finite number of at least 0.
    """
    multiple = number("multiple", multiple)
    if not 0.0 <= multiple < math.inf:
        raise SpecError(f"expected a finite multiple of the noise of at least 0, got multiple={multiple}")
    if not isinstance(release, Draws):
        bounded = math.isfinite(release.stddev)
        return np.full(release.votes.size, multiple * float(release.stddev) if bounded else math.inf)
    if not release.informative:
        return np.full(release.counts.size, math.inf)
    masses = release.mixing_weight * release.noise_distribution
    most = binom.isf(norm.sf(multiple), release.draws, np.minimum(masses, 1.0))
    # In the very steps of the estimate, so that a count of just ``most`` is not above by a rounding.
    return np.asarray(release.units * ((most / release.draws - masses) / (1.0 - release.mixing_weight)))


def theory_multiple(candidates: int, rounds: int, *, failure: float = 0.05) -> float:
    """Return the multiple at which, but for probability ``failure``, no candidate without votes passes in any round.

    ``√(2 ln(m_V·T/η))``, the Gaussian tail bound over all candidates of all rounds (appendix F of the source).

    Args:
        candidates: m_V, candidates of a round, whole, at least 1.
        rounds: T, whole, at least 1.
        failure: η, in (0, 1).

    Raises:
        SpecError: an argument is out of range.

    >>> round(theory_multiple(16_000, 10), 2)
    5.47
    """
    tries = whole("candidates", candidates, least=1) * whole("rounds", rounds, least=1)
    failure = number("failure", failure)
    if not 0.0 < failure < 1.0:
        raise SpecError(f"expected a failure in (0, 1), got failure={failure}")
    return math.sqrt(2.0 * (math.log(tries) - math.log(failure)))  # a quotient might overflow
