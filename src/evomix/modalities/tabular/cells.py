"""How one column's cells are drawn and changed; public information only.

Two kinds of column share four verbs. ``fresh`` draws from the public marginal, or evenly; ``move`` changes
cells by an amount that may be nothing, so that common values stay common; ``force`` changes every cell that can change;
``sweep`` moves cells evenly, wherever public values lie. A missing value is an outcome like any other where the column
allows it.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.conform import snap
from evomix.modalities.tabular.transform import QuantileTransform

UNINFORMED_MISSING = 0.1
"""Chance of a missing value where it is allowed and no public rows say how common it is."""

UNIFORM_SHARE = 0.2
"""Weight of the even law in redraws: values that are rare or absent in public rows stay reachable."""

SCALES = 5
"""A number moves by scale·2^-j with j drawn evenly from 0..SCALES-1: far and near in every round."""

SPIKE = 0.005
"""A public value that fills at least this share of its column is a spike."""


class Cells(Protocol):
    """The values of one column; every method takes and returns float64 (n,), NaN for missing."""

    @property
    def mutable(self) -> bool:
        """Whether the column has more than one possible value."""

    def fresh(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return ``size`` independent values."""

    def move(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return a changed copy; single cells may come out as they were."""

    def force(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return a copy in which every cell differs, if the column is mutable."""

    def sweep(self, values: FloatArray, reach: float, rng: np.random.Generator) -> FloatArray:
        """Return a copy moved evenly.

        Numbers move by up to ``reach`` of their range and are then rounded to the column's grid, so that short moves on
        a coarse one come to nothing. What has no order, and whether a value is missing, is redrawn at that chance.
        """


def missing_chance(public: FloatArray) -> float:
    """Return how often a fresh cell of a column that allows it is missing."""
    if public.size == 0:
        return UNINFORMED_MISSING
    observed = float(np.isnan(public).mean())
    return (1.0 - UNIFORM_SHARE) * observed + UNIFORM_SHARE * UNINFORMED_MISSING


@dataclass(frozen=True, slots=True)
class CategoryCells:
    """Codes ``0..levels-1``, and missing with its own probability.

    Attributes:
        levels: number of codes, at least 1.
        cumulative: float64 (levels,), cumulative redraw law over codes, ending at 1.
        missing: probability that a redraw is missing.
    """

    levels: int
    cumulative: FloatArray
    missing: float

    @classmethod
    def learn(cls, column: Column, public: FloatArray) -> "CategoryCells":
        """Take the law from ``public`` codes mixed with the even law, or the even law alone."""
        levels = len(column.values)
        law = np.full(levels, 1.0 / levels)
        present = public[~np.isnan(public)]
        if present.size:
            counts = np.bincount(present.astype(np.int64), minlength=levels)
            law = UNIFORM_SHARE * law + (1.0 - UNIFORM_SHARE) * counts / present.size
        return cls(levels, np.cumsum(law), missing_chance(public) if column.missing else 0.0)

    @property
    def mutable(self) -> bool:
        """Whether there is more than one outcome."""
        return self.levels > 1 or (self.levels == 1 and self.missing > 0.0)

    def fresh(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return codes from the redraw law."""
        codes = np.searchsorted(self.cumulative, rng.random(size), side="right")
        # The last cumulative weight may fall a rounding below 1.
        drawn = np.minimum(codes, self.levels - 1).astype(np.float64)
        return np.where(rng.random(size) < self.missing, np.nan, drawn)

    def move(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Return redraws: codes have no order, so the scale says how many cells change, not how far."""
        return self.fresh(values.size, rng)

    def force(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return redraws, replacing any that came out the same by another code (or by missing, if alone)."""
        drawn = self.move(values, scale, rng)
        if not self.mutable:
            return drawn
        # A code not redrawn moves evenly to one of the others; a single code alternates with missing.
        was_missing = np.isnan(values)
        codes = np.where(was_missing, 0.0, values)
        if self.levels > 1:
            other = (codes + rng.integers(1, self.levels, size=values.size)) % self.levels
            other = np.where(was_missing, rng.integers(self.levels, size=values.size), other)
        else:
            other = np.where(was_missing, 0.0, np.nan)
        return np.where(same(drawn, values), other, drawn)

    def sweep(self, values: FloatArray, reach: float, rng: np.random.Generator) -> FloatArray:
        """Return a copy in which each code is redrawn with probability ``reach``."""
        return np.where(rng.random(values.size) < reach, self.fresh(values.size, rng), values)


@dataclass(frozen=True, slots=True)
class NumberCells:
    """Numbers, dates and times between bounds, on a grid where the column has one.

    Attributes:
        column: bounds and grid.
        transform: the column's map to [0, 1]; moves are made there.
        low: smallest value on the grid.
        high: largest value on the grid.
        missing: probability that a fresh or moved cell is missing.
        observed: float64 (m,), sorted public values without missing ones.
        spikes: share of public cells that hold a value common enough to be a spike.
    """

    column: Column
    transform: QuantileTransform
    low: float
    high: float
    missing: float
    observed: FloatArray
    spikes: float

    @classmethod
    def learn(cls, column: Column, transform: QuantileTransform, public: FloatArray) -> "NumberCells":
        """Take the bounds from ``column`` and learn spikes and missingness from ``public``."""
        assert column.min is not None
        assert column.max is not None
        low, high = snap(column, np.array([column.min, column.max]))
        observed = np.sort(public[~np.isnan(public)])
        counts = np.unique(observed, return_counts=True)[1]
        common = counts[(counts > 1) & (counts >= SPIKE * observed.size)]
        return cls(
            column=column,
            transform=transform,
            low=float(low),
            high=float(high),
            missing=missing_chance(public) if column.missing else 0.0,
            observed=observed,
            spikes=float(common.sum()) / observed.size if observed.size else 0.0,
        )

    @property
    def mutable(self) -> bool:
        """Whether there is more than one outcome."""
        return self.low < self.high or self.missing > 0.0

    def fresh(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return public values, or without any, values even in transformed space; some missing."""
        if self.observed.size:
            drawn = rng.choice(self.observed, size)
        else:
            drawn = snap(self.column, self.transform.inverse(rng.random(size)))
        return self._with_missing(drawn, rng)

    def move(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return values moved near by; on a spiky column many moves go to a public value of similar rank."""
        absent = np.isnan(values)
        held = values[~absent]
        stepped = self._step(held, scale, rng)
        jumps = np.flatnonzero(rng.random(stepped.size) < self.spikes)
        stepped[jumps] = self._jump(held[jumps], stepped[jumps], scale, rng)
        moved = np.empty_like(values)
        moved[~absent] = self._with_missing(stepped, rng)
        moved[absent] = self.fresh(int(absent.sum()), rng)
        return moved

    def force(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return moved values; a cell that stayed takes one step, or else turns missing or present."""
        moved = self.move(values, scale, rng)
        stuck = np.flatnonzero(same(moved, values))
        if self.low < self.high:
            held = values[stuck]
            moved[stuck] = np.where(
                np.isnan(held),
                snap(self.column, self.transform.inverse(rng.random(stuck.size))),
                self._nudge(np.nan_to_num(held, nan=self.low), rng),
            )
        elif self.missing > 0.0:
            moved[stuck] = np.where(np.isnan(values[stuck]), self.low, np.nan)
        return moved

    def sweep(self, values: FloatArray, reach: float, rng: np.random.Generator) -> FloatArray:
        """Return values moved evenly by up to ``reach`` of the range; with that chance some turn missing or present."""
        moved = snap(self.column, values + rng.uniform(-reach, reach, values.size) * (self.high - self.low))
        if self.missing == 0.0:
            return moved
        drawn = self.fresh(values.size, rng)
        turning = (rng.random(values.size) < reach) & (np.isnan(drawn) | np.isnan(values))
        return np.where(turning, drawn, moved)

    def _step(self, values: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Move by Gaussian noise of several widths in transformed space; on a grid, by one point at least."""
        if self.low >= self.high:
            return values.copy()
        position = _reflect(self.transform.forward(values) + _noise(values.size, scale, rng))
        stepped = snap(self.column, self.transform.inverse(position))
        return np.where(stepped == values, self._nudge(values, rng), stepped)

    def _jump(self, values: FloatArray, stepped: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Move by rank among public values, so that spikes are hit, and kept, as often as they are common.

        A value that no public row holds goes to the next one below or above, if that is within the scale;
        otherwise it takes its value in ``stepped``.
        """
        size = self.observed.size
        first = np.searchsorted(self.observed, values, side="left")
        last = np.searchsorted(self.observed, values, side="right")
        within = rng.random(values.size)
        held = first < last
        rank = np.where(held, first + within * (last - first), first + 2.0 * within - 1.0)
        moved = _reflect(rank / size + held * _noise(values.size, scale, rng)) * size
        jumped = self.observed[np.minimum(moved.astype(np.int64), size - 1)]
        gap = np.abs(self.transform.forward(jumped) - self.transform.forward(values))
        return np.where(held | (gap <= scale), jumped, stepped)

    def _nudge(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Move one smallest step up or down at random, inside the bounds; needs low < high."""
        largest = max(abs(self.low), abs(self.high))
        step = self.column.step or max(1e-6 * (self.high - self.low), float(np.spacing(largest)))
        up = snap(self.column, values + step)
        down = snap(self.column, values - step)
        rising = (rng.random(values.size) < 0.5) | (down == values)
        return np.where(rising & (up != values), up, down)

    def _with_missing(self, values: FloatArray, rng: np.random.Generator) -> FloatArray:
        if self.missing == 0.0:
            return values
        return np.where(rng.random(values.size) < self.missing, np.nan, values)


def learn_cells(column: Column, transform: QuantileTransform | None, public: FloatArray) -> Cells:
    """Return how cells of ``column`` are drawn and changed.

    Args:
        column: a modelled column of a table.
        transform: its map to [0, 1], for a column of numbers, dates or times.
        public: float64 (m,), its public cells; empty if there are none.
    """
    if column.coded:
        return CategoryCells.learn(column, public)
    if transform is None:
        raise SchemaError(f"expected a transform for column={column.name!r} of type={column.type!r}, got none")
    return NumberCells.learn(column, transform, public)


def same(first: FloatArray, second: FloatArray) -> NDArray[np.bool_]:
    """Return where two arrays hold the same value, counting missing as one value."""
    return np.asarray((first == second) | (np.isnan(first) & np.isnan(second)))


def _noise(size: int, scale: float, rng: np.random.Generator) -> FloatArray:
    widths = scale * np.exp2(-rng.integers(SCALES, size=size))
    return np.asarray(rng.standard_normal(size) * widths)


def _reflect(positions: FloatArray) -> FloatArray:
    """Fold the line into [0, 1] as between two mirrors."""
    return np.asarray(1.0 - np.abs(1.0 - np.abs(positions) % 2.0))
