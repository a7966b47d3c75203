"""Columns as inputs of gradient boosting."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.evaluation.columns import ColumnLike, labels

MOST_LEVELS = 255
"""Gradient boosting on histograms takes at most this many categories a column."""


@dataclass(frozen=True, slots=True)
class Features:
    """Inputs of one model.

    Attributes:
        train: float64 (n, f), missing as NaN.
        test: float64 (k, f).
        categorical: bool (f,), which features are categories.
    """

    train: FloatArray
    test: FloatArray
    categorical: NDArray[np.bool_]


def make_features(train: FloatArray, test: FloatArray, columns: Sequence[ColumnLike], *, target: int) -> Features:
    """Return every column but the target as a feature.

    Columns that are constant in training tell nothing and are left out. A category of more than 255 values
    becomes the rank of its frequency in training.
    """
    kept: list[tuple[FloatArray, FloatArray, bool]] = []
    for j, column in enumerate(columns):
        if j == target or _is_constant(train[:, j]):
            continue
        levels = len(labels(column))
        if column.type == "category" and levels > MOST_LEVELS:
            rank = _frequency_rank(train[:, j], levels)
            kept.append((_recode(train[:, j], rank), _recode(test[:, j], rank), False))
        else:
            kept.append((train[:, j], test[:, j], column.type == "category"))
    if not kept:
        return Features(np.empty((len(train), 0)), np.empty((len(test), 0)), np.empty(0, dtype=np.bool_))
    trains, tests, categorical = zip(*kept, strict=True)
    return Features(np.column_stack(trains), np.column_stack(tests), np.array(categorical))


def _is_constant(values: FloatArray) -> bool:
    absent = np.isnan(values)
    return bool(absent.all() or (not absent.any() and values.min() == values.max()))


def _frequency_rank(values: FloatArray, levels: int) -> FloatArray:
    codes = values[~np.isnan(values)].astype(np.int64)
    counts = np.bincount(np.clip(codes, 0, levels - 1), minlength=levels)
    rank = np.empty(levels)
    rank[np.argsort(-counts, kind="stable")] = np.arange(levels)
    return rank


def _recode(values: FloatArray, rank: FloatArray) -> FloatArray:
    absent = np.isnan(values)
    codes = np.clip(np.where(absent, 0.0, values).astype(np.int64), 0, len(rank) - 1)
    return np.where(absent, np.nan, rank[codes])
