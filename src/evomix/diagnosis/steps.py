"""What the variations of one scale do: how far, in how many directions, and how much of it towards the data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, Population
from evomix.core.errors import GeneratorError
from evomix.core.protocols import Generator
from evomix.diagnosis.dimension import components, correlation_dimension, participation_ratio
from evomix.diagnosis.effective_rank import Shares, anticoncentration, shares
from evomix.diagnosis.pairs import Pairs, Vectors

LEAST_VARIATIONS: Final = 8
"""Fewer variations of a point tell nothing of their spread."""
ROWS: Final = 4096
"""Records embedded at a time: 400 MB as doubles, at the most coordinates that tables take."""
POOLED: Final = 2048
"""Variations from which principal axes are taken; that many are an eigenvalue problem of a second or two."""


@dataclass(frozen=True, slots=True)
class Steps:
    """Variations at one scale, for p pairs of a record y and the target x that it serves.

    Attributes:
        scale: how far variations were allowed to go.
        variations: N, of each record.
        length: float64 (p,), √tr Cov[Z], in units of distance.
        shares: 1/λ with its error.
        constant: float64 (p,), c.
        drift: float64 (p,), ‖E[Z] − y‖ in units of the length; the theory takes it for 0. The noise of a mean of N is
            taken out.
        participation: float64 (p,), participation ratio.
        correlation: float64 (p,), correlation dimension.
        components: principal axes that hold 90 % of the variance.
        nearer: float64 (p, N), distances of the variations from x, in those of y from x; sorted, at most 1.
    """

    scale: float
    variations: int
    length: FloatArray
    shares: Shares
    constant: FloatArray
    drift: FloatArray
    participation: FloatArray
    correlation: FloatArray
    components: int
    nearer: FloatArray

    @property
    def gain(self) -> FloatArray:
        """c/(200·λ) of each pair: the part of the distance that a round takes off at least (Theorem 3.4)."""
        return np.asarray(np.nan_to_num(self.constant * self.shares.share) / 200.0)

    def best_of(self, count: int) -> FloatArray:
        """Return the expected factor on the distance of the nearest of ``count`` variations and y itself, (p,).

        Unbiased: the mean over all choices of ``count`` from the N variations.
        """
        total = self.variations
        if not 1 <= count <= total:
            raise ValueError(f"expected a count in 1..{total}, got count={count}")
        # The i-th smallest is the least of a choice if the others come from the total − i that are larger.
        weights = np.zeros(total)
        chance = count / total
        for place in range(total - count + 1):
            weights[place] = chance
            chance *= (total - place - count) / (total - place - 1) if place < total - 1 else 0.0
        return np.asarray(self.nearer @ weights)


def measure_steps(
    generator: Generator,
    vectors: Vectors,
    pairs: Pairs,
    *,
    scale: float,
    variations: int,
    rng: np.random.Generator,
) -> Steps:
    """Return what variations at a scale do. Public points only; costs nothing.

    The whole population is varied in each call, as in a run, because a variation may mix two of its records.

    Args:
        generator: whose variations these are.
        vectors: gives points.
        pairs: at least one.
        scale: in (0, 1].
        variations: N ≥ 8, of each record.
        rng: public randomness.

    Raises:
        GeneratorError: the generator does not give one variation of each parent.
    """
    drawn = [_varied(generator, pairs, scale, rng) for _ in range(variations)]
    parts = [_measured(points, targets, clouds) for points, targets, clouds in _clouds(vectors, pairs, drawn)]
    length, share, error, constant, drift, participation, correlation = (
        np.concatenate(column) for column in zip(*(part[:-1] for part in parts), strict=True)
    )
    few = slice(0, max(POOLED // variations, 1))
    _, _, pooled = next(_clouds(vectors, _part(pairs, few), [one[few] for one in drawn]))
    return Steps(
        scale=scale,
        variations=variations,
        length=length,
        shares=Shares(share, error),
        constant=constant,
        drift=drift,
        participation=participation,
        correlation=correlation,
        components=components(pooled),
        nearer=np.concatenate([part[-1] for part in parts]),
    )


def _varied(generator: Generator, pairs: Pairs, scale: float, rng: np.random.Generator) -> Population:
    """Return a variation of y of each pair, made among the whole population."""
    made = generator.vary(pairs.population, scale, rng)
    if len(made) != len(pairs.population):
        raise GeneratorError(
            f"expected a variation of each of {len(pairs.population)} parents, got variations={len(made)}"
        )
    return made[pairs.parents]


def _part(pairs: Pairs, part: slice) -> Pairs:
    return Pairs(pairs.population, pairs.parents[part], pairs.targets[part])


def _clouds(
    vectors: Vectors, pairs: Pairs, drawn: list[Population]
) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Yield points y (b, k), x (b, k) and variations (b, N, k), some pairs at a time."""
    block = max(ROWS // (len(drawn) + 2), 1)
    for start in range(0, len(pairs.parents), block):
        part = _part(pairs, slice(start, start + block))
        size = len(part.parents)
        together = [part.population[part.parents], part.targets, *(one[start : start + block] for one in drawn)]
        points = np.asarray(vectors(np.concatenate(together)), dtype=np.float64)
        yield (
            points[:size],
            points[size : 2 * size],
            points[2 * size :].reshape(-1, size, points.shape[1]).swapaxes(0, 1),
        )


def _measured(points: FloatArray, targets: FloatArray, clouds: FloatArray) -> tuple[FloatArray, ...]:
    count = clouds.shape[1]
    gaps = targets - points
    distances = np.linalg.norm(gaps, axis=1)
    directions = gaps / distances[:, None]
    share, error = shares(clouds, directions)
    trace = clouds.var(axis=1, ddof=1).sum(axis=1)
    moved = ((clouds.mean(axis=1) - points) ** 2).sum(axis=1) - trace / count
    drift = np.divide(np.sqrt(np.maximum(moved, 0.0)), np.sqrt(trace), out=np.zeros(len(points)), where=trace > 0.0)
    away = np.linalg.norm(clouds - targets[:, None], axis=2) / distances[:, None]
    return (
        np.sqrt(trace),
        share,
        error,
        anticoncentration(points, clouds, directions),
        drift,
        participation_ratio(clouds),
        correlation_dimension(clouds),
        np.sort(np.minimum(away, 1.0), axis=1),
    )
