"""Proposes table records from the schema and, where there are some, from public rows.

Half of the variations are *sweeps*: all numbers may move a little at once, as columns do that change together.
The others change a random set of cells of their parent. How many follows the scale; what the cells become
follows the move that the row drew: *mutation* (each cell on its own, `cells.py`), *crossover* (cells copied
from another parent) or *public crossover* (cells copied from the public row, out of a few random ones, that
agrees best with the parent on the cells that stay and changes the others, which keeps what public rows know
about one column given the others).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.errors import SpecError
from evomix.modalities.tabular.cells import Cells, learn_cells, same
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.transform import QuantileTransform

EXTRA_SCALE = 0.25
"""How far records go beyond the public rows when more are asked for than there are."""


class TableGenerator:
    """Random records and variations of records; sees public information only."""

    def __init__(
        self,
        schema: Schema,
        transforms: Sequence[QuantileTransform | None],
        *,
        public: FloatArray | None = None,
        crossover: float = 0.5,
        public_crossover: float = 0.2,
        public_sample: int = 8,
        sweeping: float = 0.5,
    ) -> None:
        """Learn marginals from the public rows.

        Args:
            schema: the public schema.
            transforms: for each modelled column its map to [0, 1], None for categories and booleans.
            public: float64 (m, modelled columns), public rows in natural units and codes; None or empty if
                none.
            crossover: share of rows, at scale 1, that copy cells from another parent.
            public_crossover: share of rows, at scale 1, that copy cells from a public row. Both shares shrink
                with the square root of the scale; the other rows mutate.
            public_sample: public rows looked at for each parent; the one that agrees best gives the cells.
            sweeping: share of rows in which every cell may move, by half the scale; the other shares are of the rest.

        Raises:
            SpecError: shares outside [0, 1], or a sample of none.
        """
        if not (crossover >= 0.0 and public_crossover >= 0.0 and crossover + public_crossover <= 1.0):
            raise SpecError(
                f"expected shares of at least 0 and at most 1 together, got crossover={crossover}, "
                f"public_crossover={public_crossover}"
            )
        if not 0.0 <= sweeping <= 1.0:
            raise SpecError(f"expected a share in [0, 1], got sweeping={sweeping}")
        if public_sample < 1:
            raise SpecError(f"expected a sample of at least 1, got public_sample={public_sample}")
        self._width = len(schema.modelled)
        self._public = np.empty((0, self._width)) if public is None else self._checked(public)
        self._cells = _learn(schema, transforms, self._public)
        self._mutable = np.flatnonzero([cells.mutable for cells in self._cells])
        self._shares = (crossover, public_crossover if len(self._public) else 0.0)
        self._sample = public_sample
        self._sweeping = sweeping
        self._embedder = TableEmbedder(schema, transforms)
        self._farthest = float(self._embedder.weights.sum()) + 1.0
        self._public_coordinates = self._embedder.embed(self._public)

    def random(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return ``size`` fresh records, float64 (size, modelled columns). Costs nothing.

        With public rows these are public rows in random order, each at most once, and past their number
        variations of public rows; without, every column is drawn on its own, even over its range.
        """
        if size < 0:
            raise SpecError(f"expected a size of at least 0, got size={size}")
        if not len(self._public):
            return self._independent(size, rng)
        rows = self._public[rng.permutation(len(self._public))[:size]]
        extra = size - len(rows)
        if extra <= 0:
            return rows
        parents = self._public[rng.integers(len(self._public), size=extra)]
        return np.concatenate([rows, self.vary(parents, EXTRA_SCALE, rng)])

    def vary(self, parents: Population, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return one variation of each parent, float64 as ``parents``. Post-processing; costs nothing.

        Each differs from its parent in at least one cell, if the schema knows more than one record.

        Args:
            parents: float64 (n, modelled columns); left as it is.
            scale: in (0, 1]; a row changes up to this share of its cells, numbers by up to about this share
                of their transformed range.
            rng: public randomness.
        """
        if not 0.0 < scale <= 1.0:
            raise SpecError(f"expected a scale in (0, 1], got scale={scale}")
        before = self._checked(parents)
        children = before.copy()
        if not len(before) or not self._mutable.size:
            return children
        sweeping = rng.random(len(before)) < self._sweeping
        chosen = self._choose(len(before), scale, rng) & ~sweeping[:, None]
        crossover, public = np.sqrt(scale) * np.array(self._shares)
        draw = rng.random(len(before))
        crossing = ~sweeping & (draw < crossover)
        copying = ~(sweeping | crossing) & (draw < crossover + public)
        self._mutate(children, chosen & ~(crossing | copying)[:, None], scale, rng)
        self._cross(children, before, chosen, np.flatnonzero(crossing), rng)
        self._copy_public(children, chosen, np.flatnonzero(copying), rng)
        self._sweep(children, np.flatnonzero(sweeping), scale / 2.0, rng)
        self._make_different(children, before, scale, rng)
        return children

    def _independent(self, size: int, rng: np.random.Generator) -> FloatArray:
        records = np.empty((size, self._width))
        for position, cells in enumerate(self._cells):
            records[:, position] = cells.fresh(size, rng)
        return records

    def _choose(self, size: int, scale: float, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return which cells change, (size, columns): one at least, more at a rate in (0, scale)."""
        rates = scale * rng.random((size, 1), dtype=np.float32)
        chosen = rng.random((size, self._width), dtype=np.float32) < rates
        chosen[np.arange(size), rng.choice(self._mutable, size)] = True
        return chosen

    def _mutate(self, children: FloatArray, chosen: NDArray[np.bool_], scale: float, rng: np.random.Generator) -> None:
        for position in self._mutable:
            rows = np.flatnonzero(chosen[:, position])
            children[rows, position] = self._cells[position].move(children[rows, position], scale, rng)

    def _sweep(self, children: FloatArray, rows: IntArray, reach: float, rng: np.random.Generator) -> None:
        for position in self._mutable:
            children[rows, position] = self._cells[position].sweep(children[rows, position], reach, rng)

    def _cross(
        self,
        children: FloatArray,
        parents: FloatArray,
        chosen: NDArray[np.bool_],
        rows: IntArray,
        rng: np.random.Generator,
    ) -> None:
        donors = parents[rng.integers(len(parents), size=rows.size)]
        children[rows] = np.where(chosen[rows], donors, children[rows])

    def _copy_public(
        self, children: FloatArray, chosen: NDArray[np.bool_], rows: IntArray, rng: np.random.Generator
    ) -> None:
        if not rows.size:
            return
        donors = self._public[self._agreeing(children[rows], chosen[rows], rng)]
        children[rows] = np.where(chosen[rows], donors, children[rows])

    def _agreeing(self, records: FloatArray, chosen: NDArray[np.bool_], rng: np.random.Generator) -> IntArray:
        """Return for each record the public row, of a few random ones, nearest on the cells that stay.

        A row that would change none of the chosen cells comes last.
        """
        own = self._embedder.embed(records)
        changing = chosen[:, self._embedder.sources]
        weights = ~changing * self._embedder.weights
        best = np.zeros(len(records), dtype=np.int64)
        least = np.full(len(records), np.inf)
        for _ in range(self._sample):
            tried = rng.integers(len(self._public), size=len(records))
            gaps = own - self._public_coordinates[tried]
            # Codes and flags that differ do so by at least 1, and squares of numbers stay below.
            squares = np.minimum(gaps * gaps, 1.0)
            distance = np.einsum("ij,ij->i", squares, weights)
            idle = np.einsum("ij,ij->i", squares, changing) == 0.0
            distance[idle] += self._farthest
            best = np.where(distance < least, tried, best)
            least = np.minimum(least, distance)
        return best

    def _make_different(
        self, children: FloatArray, parents: FloatArray, scale: float, rng: np.random.Generator
    ) -> None:
        """Change one cell of every child that came out as its parent."""
        alike = np.flatnonzero(same(children, parents).all(axis=1))
        columns = rng.choice(self._mutable, alike.size)
        for position in np.unique(columns):
            rows = alike[columns == position]
            children[rows, position] = self._cells[position].force(children[rows, position], scale, rng)

    def _checked(self, records: Population) -> FloatArray:
        matrix = np.asarray(records, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != self._width:
            raise SpecError(f"expected records with columns={self._width}, got shape={matrix.shape}")
        return matrix


def _learn(schema: Schema, transforms: Sequence[QuantileTransform | None], public: FloatArray) -> tuple[Cells, ...]:
    return tuple(
        learn_cells(column, transform, public[:, position])
        for position, (column, transform) in enumerate(zip(schema.modelled, transforms, strict=True))
    )
