"""Small tables as codes, and releases of them whose noise is chosen."""

import numpy as np

from evomix.core.release import NoisyVotes
from evomix.marginals.blocks import Block
from evomix.marginals.model import CountedTable
from evomix.marginals.stages import Shape
from evomix.selection.empirical_bayes import empirical_bayes


def shape_of(sizes, *, target=None, ordered=(), missing=()):
    """Return a shape; ``ordered`` and ``missing`` are positions of columns."""
    places = range(len(sizes))
    return Shape(tuple(sizes), tuple(j in ordered for j in places), tuple(j in missing for j in places), target)


def fine_block(shape, *columns):
    """Return a block of columns that are not coarsened."""
    return Block(columns, tuple(np.arange(shape.sizes[j]) for j in columns))


def same(codes):
    return np.asarray(codes, np.int64)


def table_of(shape, *, public=None, units=4000, seed=0):
    return CountedTable(shape, same, empirical_bayes, public, units, seed)


def counts_of(panel, rows):
    return np.concatenate(
        [np.bincount(cells, minlength=size) for cells, size in zip(panel.cells(rows), panel.sizes, strict=True)]
    ).astype(float)


def release_of(panel, rows, *, stddev, rng=None):
    """Return the counts of a panel; with ``rng`` noise of the stated standard deviation is added."""
    votes = counts_of(panel, rows)
    noise = 0.0 if rng is None else rng.normal(0.0, stddev, len(votes))
    return NoisyVotes(votes + noise, stddev, len(rows))


def learned(table, rows, *, stddev=1e-6, rng=None, lost=()):
    """Let a table take in all its stages, but for those that are lost; return it."""
    for stage in range(len(table.stages)):
        panel = table.panel(stage, stddev)
        table.learn(stage, panel, None if stage in lost else release_of(panel, rows, stddev=stddev, rng=rng))
    return table


def distance(block, one, other):
    """Return the total variation between two tables on a block."""
    return float(np.abs(block.shares(one) - block.shares(other)).sum() / 2.0)
