"""How near variations come to targets when nothing is private: each target keeps its nearest candidate.

This is Private Evolution without noise, with as many parents as targets: what a run could reach at best with this
generator. A target's own *ceiling* is its distance from a random sample of public points as large as the population:
what real records of the same kind, of which none was made for it, would reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import SpecError
from evomix.core.protocols import Generator
from evomix.diagnosis.pairs import Vectors, nearest


@dataclass(frozen=True, slots=True)
class Approach:
    """An evolution towards n targets.

    Attributes:
        targets: (n, …).
        distances: float64 (T + 1, n), from each target to its nearest candidate; row 0 is the start.
        parents: (n, …), each target's nearest candidate in the end.
        scales: of the variations of a round.
    """

    targets: Population
    distances: FloatArray
    parents: Population
    scales: tuple[float, ...]

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.distances) - 1


def approach(
    generator: Generator,
    vectors: Vectors,
    targets: Population,
    *,
    start: Population,
    scales: Sequence[float],
    rounds: int,
    rng: np.random.Generator,
) -> Approach:
    """Return how near a population comes to public targets, round by round. Costs nothing.

    In a round every parent and a variation of it at every scale are candidates of all targets; the next parents are
    each target's nearest candidate, repeats included, so every target has variations of its own.

    Args:
        generator: whose variations these are.
        vectors: gives points.
        targets: (n, …), at least one, which the generator has not seen.
        start: (m, …), the first candidates.
        scales: of a parent's variations.
        rounds: T ≥ 1.
        rng: public randomness.

    Raises:
        SpecError: no targets, no start, or no round.
    """
    if not len(targets) or not len(start) or rounds < 1 or not scales:
        raise SpecError(
            f"an approach needs targets, a start, scales and rounds; found targets={len(targets)}, "
            f"start={len(start)}, scales={len(scales)}, rounds={rounds}"
        )
    positions, distance = nearest(start, targets, vectors)
    parents, curve = start[positions], [distance]
    for _ in range(rounds):
        candidates = np.concatenate([parents, *(generator.vary(parents, scale, rng) for scale in scales)])
        positions, distance = nearest(candidates, targets, vectors)
        parents = candidates[positions]
        curve.append(distance)
    return Approach(targets, np.array(curve), parents, tuple(scales))


def ceilings(
    vectors: Vectors, targets: Population, public: Population, *, size: int, samples: int, rng: np.random.Generator
) -> FloatArray:
    """Return each target's mean distance from random samples of public points, float64 (n,).

    Args:
        vectors: gives points.
        targets: (n, …), not among ``public``.
        public: (l, …), at least ``size``.
        size: points of a sample.
        samples: how many samples.
        rng: public randomness.
    """
    found = [nearest(public[rng.choice(len(public), size, replace=False)], targets, vectors)[1] for _ in range(samples)]
    return np.asarray(np.mean(found, axis=0))
