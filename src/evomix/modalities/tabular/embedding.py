"""The mixed-type distance of tables as coordinates.

Squared distance of two records: ``Σ_j w_j·d_j`` over the modelled columns, with every ``d_j`` in [0, 1]:

* integer, number, date, datetime: ``(u − v)²``, where u and v are the values carried to [0, 1] by the
  column's public transform;
* category, boolean: ``1[x ≠ y]``, where missing is one more value;
* a number-like column that allows missing values takes two coordinates, u with weight w (½ when missing) and
  a flag with weight ¾·w, so that missing lies between ¾·w and w from every value and at 0 from missing.

One column therefore moves the distance by at most its weight, whatever its type, unit or number of
categories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import IntArray, Population
from evomix.core.errors import SpecError
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.transform import QuantileTransform
from evomix.modalities.tabular.vectors import as_points
from evomix.neighbors.tabular import CATEGORY, NUMBER, TabularIndex

_MISSING_POSITION = 0.5
_MISSING_CODE = -1.0
_FLAG_SHARE = 0.75


class TableEmbedder:
    """Embeds a table's records; each embedding depends on that record alone.

    Attributes:
        kinds: uint8 (c',), NUMBER or CATEGORY for each coordinate.
        weights: float32 (c',), weight of each coordinate.
        sources: int64 (c',), the modelled column behind each coordinate.
    """

    def __init__(
        self,
        schema: Schema,
        transforms: Sequence[QuantileTransform | None],
        *,
        weights: Mapping[str, float] | None = None,
        target: str | None = None,
        target_weight: float = 1.0,
    ) -> None:
        """Prepare the geometry.

        Args:
            schema: the public schema.
            transforms: for each modelled column its map to [0, 1], None for categories and booleans.
            weights: weight of single columns, by name; the others weigh 1.
            target: the column that a later model will predict.
            target_weight: factor on the target's weight.

        Raises:
            SpecError: a weight is not finite and positive, or names a column that is not modelled.
        """
        self._columns = schema.modelled
        self._transforms = tuple(transforms)
        by_name = _column_weights(schema, weights or {}, target, target_weight)
        kinds: list[int] = []
        shares: list[float] = []
        sources: list[int] = []
        for position, column in enumerate(self._columns):
            weight = by_name[column.name]
            kinds.append(NUMBER if column.ordered else CATEGORY)
            shares.append(weight)
            sources.append(position)
            if column.ordered and column.missing:
                kinds.append(CATEGORY)
                shares.append(_FLAG_SHARE * weight)
                sources.append(position)
        self.kinds = np.array(kinds, dtype=np.uint8)
        self.weights = np.array(shares, dtype=np.float32)
        self.sources = np.array(sources, dtype=np.int64)

    def embed(self, population: Population) -> NDArray[np.float32]:
        """Return coordinates, float32 (n, c'), never NaN.

        Args:
            population: float64 (n, modelled columns), natural units and codes, NaN for missing.
        """
        records = np.asarray(population, dtype=np.float64)
        if records.ndim != 2 or records.shape[1] != len(self._columns):
            raise SpecError(f"expected records with columns={len(self._columns)}, got columns={records.shape[1:]}")
        coordinates = np.empty((len(records), self.kinds.size), dtype=np.float32)
        at = 0
        for position, (column, transform) in enumerate(zip(self._columns, self._transforms, strict=True)):
            values = records[:, position]
            absent = np.isnan(values)
            if transform is None:
                coordinates[:, at] = np.where(absent, _MISSING_CODE, values)
                at += 1
                continue
            coordinates[:, at] = _MISSING_POSITION
            coordinates[~absent, at] = transform.forward(values[~absent])
            at += 1
            if column.missing:
                coordinates[:, at] = absent
                at += 1
        return coordinates

    def index(self, candidates: Population) -> "TableIndex":
        """Prepare ``candidates`` (at least one) for exact search."""
        kernel = TabularIndex(self.embed(candidates), kinds=self.kinds, weights=self.weights)
        return TableIndex(self, kernel)

    def vectors(self, candidates: Population) -> NDArray[np.float32]:
        """Return ``candidates`` as points, float32 (n, k), whose squared Euclidean distance is that of the votes.

        Exact up to float32; of columns with very many categories approximately (:mod:`.vectors`).
        """
        return as_points(self.embed(candidates), kinds=self.kinds, weights=self.weights)


@dataclass(frozen=True, slots=True)
class TableIndex:
    """Candidates ready for search by records in natural units."""

    embedder: TableEmbedder
    kernel: TabularIndex

    def nearest(self, records: Population) -> IntArray:
        """Return for each record the position of its nearest candidate, ties to the lowest, int64 (n,)."""
        return self.kernel.nearest(self.embedder.embed(records))


def _column_weights(
    schema: Schema, given: Mapping[str, float], target: str | None, target_weight: float
) -> dict[str, float]:
    weights = {column.name: 1.0 for column in schema.modelled}
    for name in [*given, *([] if target is None else [target])]:
        if name not in weights:
            raise SpecError(f"expected a weight's column among {list(weights)}, got column={name!r}")
    weights.update(given)
    if target is not None:
        weights[target] *= target_weight
    for name, weight in weights.items():
        if not (np.isfinite(weight) and weight > 0.0):
            raise SpecError(f"expected a finite positive weight, got weight={weight} for column={name!r}")
    return weights
