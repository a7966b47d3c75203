"""Number columns on the scale from 0 to 1 on which distances are taken.

Half of the scale is straight (the share of the way from ``min`` to ``max``) and half is the public
distribution (the share of public values below): a spread-out tail cannot squeeze the bulk together, and no
value is ever squeezed onto another, since the straight half alone is strictly increasing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

ENOUGH_VALUES = 20
MOST_KNOTS = 1024
DECADES = 3


@dataclass(frozen=True, slots=True)
class QuantileTransform:
    """A strictly increasing, piecewise linear map from a column's bounds to [0, 1].

    Attributes:
        knots: float64 (k,), strictly increasing values in population units, from ``min`` to ``max``.
        levels: float64 (k,), their images, strictly increasing from 0 to 1. A constant column has one knot
            and the level ½.

    Post-processing of public data and the schema; costs nothing.
    """

    knots: FloatArray
    levels: FloatArray

    def forward(self, values: FloatArray) -> FloatArray:
        """Return the levels of values in population units, same shape; NaN stays, the rest is clamped."""
        unit = self._unit
        inside = np.clip(values, self.knots[0], self.knots[-1])
        return np.where(np.isnan(values), np.nan, np.interp(inside * unit, self.knots * unit, self.levels))

    def inverse(self, levels: FloatArray) -> FloatArray:
        """Return the values of levels in [0, 1], same shape; NaN stays. Exact at the bounds; not rounded."""
        unit = self._unit
        return np.where(np.isnan(levels), np.nan, np.interp(levels, self.levels, self.knots * unit) / unit)

    @property
    def _unit(self) -> float:
        """A power of two that lifts bounds which differ by a denormal number: slopes between them overflow."""
        return 2.0**600 if 0.0 < self.knots[-1] - self.knots[0] < 1e-290 else 1.0

    def to_dict(self) -> dict[str, list[float]]:
        """Return the state as JSON content."""
        return {"knots": self.knots.tolist(), "levels": self.levels.tolist()}

    @classmethod
    def from_dict(cls, state: Mapping[str, Sequence[float]]) -> "QuantileTransform":
        """Build the transform from its state."""
        return cls(np.asarray(state["knots"], dtype=np.float64), np.asarray(state["levels"], dtype=np.float64))


def learn_transform(column: Column, public: FloatArray | None = None) -> QuantileTransform:
    """Return the transform of an ordered column.

    Args:
        column: its bounds end the scale.
        public: float64 (n,), *public* values in population units, NaN for missing. With fewer than 20 values
            the shape comes from the schema alone: straight, except that whole numbers from 0 or above that
            span more than three decades (and positive numbers that do) take the logarithm for the curved
            half.
    """
    low, high = column.min, column.max
    assert low is not None
    assert high is not None
    if low == high:
        return QuantileTransform(np.array([low]), np.array([0.5]))
    seen = np.empty(0) if public is None else np.clip(public[~np.isnan(public)], low, high)
    if len(seen) >= ENOUGH_VALUES:
        knots, curved = _distribution(seen, low, high)
    else:
        knots, curved = _logarithm(column, low, high)
    straight = (knots - low) / (high - low)
    return _strict(knots, (straight + curved) / 2.0)


def learn_transforms(schema: Schema, public: FloatArray | None = None) -> tuple[QuantileTransform | None, ...]:
    """Return the transform of each column of ``schema.modelled``, None for categories and booleans.

    Args:
        schema: the columns.
        public: *public* population, float64 (n, modelled columns), or None.
    """
    return tuple(
        learn_transform(column, None if public is None else public[:, position]) if column.ordered else None
        for position, column in enumerate(schema.modelled)
    )


def _distribution(seen: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Knots at public values with their mid-ranks: a value held by many keeps its distance from others."""
    values, counts = np.unique(seen, return_counts=True)
    below = np.cumsum(counts)
    ranks = (below - counts / 2.0) / below[-1]
    if len(values) > MOST_KNOTS:
        kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], MOST_KNOTS)))
        values, ranks = values[kept], ranks[kept]
    first = ranks[0] if values[0] == low else 0.0
    last = ranks[-1] if values[-1] == high else 1.0
    if last <= first:  # all public values are one bound
        return np.array([low, high]), np.array([0.0, 1.0])
    knots = np.concatenate([[low], values, [high]])
    curved = np.concatenate([[0.0], (ranks - first) / (last - first), [1.0]])
    return knots, curved


def _logarithm(column: Column, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    unit = 1.0 if column.type == "integer" else low
    if column.type not in ("integer", "number") or low < 0.0 or unit <= 0.0 or high <= 10**DECADES * max(low, unit):
        return np.array([low, high]), np.array([0.0, 1.0])
    share = np.concatenate([[0.0], np.geomspace(10.0 ** -(2 * DECADES), 1.0, 97)])
    curved = np.log1p(10**DECADES * share) / np.log1p(10**DECADES)
    return low + share * (high - low), curved


def _strict(knots: FloatArray, levels: FloatArray) -> QuantileTransform:
    """Drop knots too close to the one before for a finite slope; ``min`` is exactly 0 and ``max`` exactly 1."""
    closest = 1e-12 * (knots[-1] - knots[0])
    inner = (np.diff(knots, append=np.inf) > closest) & (np.diff(knots, prepend=-np.inf) > closest)
    inner[0], inner[-1] = True, False
    knots = np.concatenate([knots[inner], [knots[-1]]])
    levels = np.concatenate([levels[inner], [1.0]])
    levels[0] = 0.0
    return QuantileTransform(knots, levels)
