"""Rows of a graphical model, with counts as near to the expected ones as whole numbers can be."""

import numpy as np

from evomix.bench.rivals.factor import Factor
from evomix.bench.rivals.graphical_model import GraphicalModel
from evomix.core.arrays import FloatArray, IntArray


def sample_rows(model: GraphicalModel, count: int, rng: np.random.Generator) -> IntArray:
    """Return rows by randomized rounding down the tree, int64 (count, columns).

    Columns are filled one after another. Rows that agree on what the next column depends on form a group; the group
    gets each value as often as expected, rounded down, and the rest by systematic sampling, so that each value's
    expected count is exact. Source: McKenna, Miklau and Sheldon (2021), section 4.3.

    Args:
        model: what to sample.
        count: number of rows.
        rng: of the rounding and the order.
    """
    rows = np.zeros((count, len(model.sizes)), np.int64)
    for belief, separator in zip(model.beliefs, model.tree.separators, strict=True):
        known = separator
        for column in belief.columns:
            if column not in separator:
                known = tuple(sorted((*known, column)))
                _fill(rows, column, belief.sum_to(known), rng)
    return rows


def _fill(rows: IntArray, column: int, joint: Factor, rng: np.random.Generator) -> None:
    """Set one column of all rows, given the other columns of ``joint``."""
    axis = joint.columns.index(column)
    shape = joint.values.shape
    table = np.moveaxis(joint.values, axis, -1).reshape(-1, shape[axis])
    others = [j for j in joint.columns if j != column]
    cell = np.zeros(len(rows), np.int64)
    for j in others:
        cell = cell * shape[joint.columns.index(j)] + rows[:, j]
    groups, members = np.unique(cell, return_counts=True)
    counts = round_shares(_shares(table[groups]), members, rng)
    order = np.lexsort((rng.random(len(rows)), cell))
    values = np.broadcast_to(np.arange(shape[axis]), counts.shape)
    rows[order, column] = np.repeat(values.reshape(-1), counts.reshape(-1))


def _shares(table: FloatArray) -> FloatArray:
    """Return each row scaled to one; even where a row has no mass."""
    mass = table.sum(axis=1, keepdims=True)
    return np.where(mass > 0.0, table / np.where(mass > 0.0, mass, 1.0), 1.0 / table.shape[1])


def round_shares(shares: FloatArray, members: IntArray, rng: np.random.Generator) -> IntArray:
    """Return whole counts of expectation ``members × shares``, each within one of it, int64 (groups, values).

    Args:
        shares: float64 (groups, values), rows sum to one.
        members: rows in each group, int64 (groups,), at least 1.
        rng: of the rounding.
    """
    edges = np.cumsum(shares, axis=1)
    edges *= (members / edges[:, -1])[:, None]
    edges[:, -1] = members
    offset = rng.random((len(members), 1))
    marks = np.floor(edges + offset).astype(np.int64)
    marks[:, -1] = members
    return np.diff(marks, axis=1, prepend=0)
