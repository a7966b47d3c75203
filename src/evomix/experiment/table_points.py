"""The rows of several tables as vectors in one space, for metrics that work on vectors."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.geometry import MOST_POINTS, Points
from evomix.metrics.points import draw
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.transform import learn_transforms
from evomix.modalities.tabular.vectors import as_points

_MOST_COORDINATES: Final = 1_500
"""Keeps 16,000 points within 200 MB; what columns with more values lose is stated in ``modalities.tabular.vectors``."""


def table_points(schema: Schema, rows: Mapping[str, FloatArray], *, seed: int = 0) -> Points:
    """Return rows as vectors whose Euclidean distance is that of the votes, up to columns with very many categories.

    At most as many rows of each table as the metrics look at are drawn. The scale of numbers is learned from the public
    rows, or else from the schema, as in a run. Reads real rows: not private.

    Args:
        schema: the columns.
        rows: populations "real", "synthetic" and perhaps "public", float64 (·, modelled columns).
        seed: of the samples.
    """
    rng = np.random.default_rng(seed)
    # Half of the real rows stand in the synthetic ones' place, for the ceiling.
    most = {"real": 2 * MOST_POINTS}
    kept = {name: draw(table, most.get(name, MOST_POINTS), rng) for name, table in rows.items()}
    embedder = TableEmbedder(schema, learn_transforms(schema, rows.get("public")))
    together = as_points(
        embedder.embed(np.concatenate(list(kept.values()))),
        kinds=embedder.kinds,
        weights=embedder.weights,
        most=_MOST_COORDINATES,
    )
    ends = np.cumsum([len(table) for table in kept.values()])[:-1]
    return Points(**dict(zip(kept, np.split(together.astype(np.float64), ends), strict=True)))
