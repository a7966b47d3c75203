"""How far public data lie from one another: what γ is taken from, and how much of it is sampling.

Two samples of one law differ too, the more so the fewer rows and the more cells they have. Rows that are dealt out
anew into groups of the same sizes differ by just that. With γ the mean total variation between the groups' votes and s
what dealing anew gives on average, the distance of the laws themselves lies between about γ − s and γ: the votes are
the laws plus noise, and |D + noise| is on average at least |D| (Jensen) and at most |D| + |noise|.

A run takes γ, the upper end: private votes that lie further off than γ break what was promised of the worst case, a γ
that is too large only gives up some usefulness. Public arithmetic; costs no privacy.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.experiment.public_side import PublicSide
from evomix.privacy.noise_design import proximity

DEALS: Final = 20
"""Times that rows are dealt out anew; their mean is known to about a hundredth of itself by then."""
COLUMN_DEALS: Final = 5
PIECES: Final = 20
"""Pieces that a column of numbers is cut into, each with about as many public rows as the others."""


@dataclass(frozen=True, slots=True)
class Apart:
    """How far groups of public rows lie from one another.

    Attributes:
        distance: mean total variation between pairs of groups; γ, as a run takes it.
        sampling: what groups of the same sizes from one law show on average.
    """

    distance: float
    sampling: float

    @property
    def corrected(self) -> float:
        """Distance without its sampling part: about the least that the laws can be apart."""
        return max(self.distance - self.sampling, 0.0)


@dataclass(frozen=True, slots=True)
class ColumnApart:
    """How far groups lie from one another in one column.

    Attributes:
        name: of the column.
        apart: total variation between the groups' marginals, and its sampling part.
    """

    name: str
    apart: Apart


def voters_of_sets(side: PublicSide, *, most: int, rng: np.random.Generator) -> tuple[Population, IntArray]:
    """Return public records that vote, (v, …), and the public table of each, int64 (v,).

    All rows, or of large tables a random part: each table may have as many as any other, so that a small one is heard.

    Args:
        side: the public side; has rows.
        most: rows of all tables together, about.
        rng: public randomness.
    """
    rows = side.modality.public
    assert rows is not None
    if len(rows) <= most:
        return rows, np.repeat(np.arange(len(side.sets)), side.sets)
    quota = most // len(side.sets)
    ends = np.cumsum(side.sets)
    kept = [
        np.arange(end - size, end) if size <= quota else end - size + rng.choice(size, quota, replace=False)
        for size, end in zip(side.sets, ends, strict=True)
    ]
    return rows[np.concatenate(kept)], np.repeat(np.arange(len(kept)), [len(part) for part in kept])


def group_votes(cells: IntArray, groups: IntArray, size: int) -> FloatArray:
    """Return the share of each cell in each group, float64 (k, size); every group has a row."""
    k = int(groups.max()) + 1
    counts = np.bincount(groups * size + cells, minlength=k * size).reshape(k, size)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def apart(cells: IntArray, groups: IntArray, *, rng: np.random.Generator, deals: int = DEALS) -> Apart:
    """Return how far groups lie from one another, and how far chance alone would take them.

    Args:
        cells: int64 (v,), the candidate that each public row votes for, or its cell in a column.
        groups: int64 (v,), 0..k−1, k ≥ 2, each with a row.
        rng: public randomness.
        deals: times that rows are dealt out anew.
    """
    size = int(cells.max()) + 1
    dealt = [proximity(group_votes(rng.permutation(cells), groups, size)) for _ in range(deals)]
    return Apart(proximity(group_votes(cells, groups, size)), float(np.mean(dealt)))


def columns_apart(
    side: PublicSide, rows: Population, groups: IntArray, *, rng: np.random.Generator
) -> tuple[ColumnApart, ...]:
    """Return every modelled column's distance between groups of public rows, the furthest beyond chance first.

    Args:
        side: the public side.
        rows: float64 (v, c), public rows.
        groups: int64 (v,), as in :func:`apart`.
        rng: public randomness.
    """
    found = [
        ColumnApart(
            column.name,
            apart(
                _cells(np.asarray(rows[:, place], np.float64), cut=column.ordered), groups, rng=rng, deals=COLUMN_DEALS
            ),
        )
        for place, column in enumerate(side.schema.modelled)
    ]
    return tuple(sorted(found, key=lambda one: (one.apart.corrected, one.apart.distance), reverse=True))


def _cells(values: FloatArray, *, cut: bool) -> IntArray:
    """Return the cell of each value: one a value, or :data:`PIECES` of about equal count; missing has its own."""
    distinct, cell = np.unique(values, return_inverse=True)
    if not cut or len(distinct) <= PIECES:
        return cell.astype(np.int64)
    edges = np.unique(np.nanquantile(values, np.linspace(0.0, 1.0, PIECES + 1)[1:-1]))
    return np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right")).astype(np.int64)
