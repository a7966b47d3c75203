"""Rows as points: does the synthetic table lie where real rows do, and is it met everywhere they are?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.metrics.comparison import Comparison, compare

MEASURES: Final = ("precision", "recall", "wasserstein")
MOST_POINTS: Final = 4_000
"""Points a side that are compared."""
_MOST_TRANSPORTED: Final = 2_000
_NEIGHBOURS: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The tables' rows, or samples of them, as vectors in one space.

    Attributes:
        real: floats (n, k).
        synthetic: floats (m, k).
        public: floats (l, k): the floor; None without a public table.
        control: floats (r, k), real rows the synthesizer never saw: the ceiling; None: a part of ``real`` instead.
    """

    real: FloatArray
    synthetic: FloatArray
    public: FloatArray | None = None
    control: FloatArray | None = None


def geometry(points: Points, *, seed: int, measures: Sequence[str] = MEASURES) -> Comparison | None:
    """Return figures (precision, data-based recall, W1) with ceiling and floor; None with too few real rows for them.

    At most 4,000 points a side take part; W1 is the mean over parts of at most 2,000. Reads real rows: not private.

    Args:
        points: the tables.
        seed: of the samples.
        measures: which figures of :func:`evomix.metrics.compare`.

    Raises:
        SpecError: vectors that are not finite or of different dimensions; a table without rows.
    """
    if not len(points.real) or not len(points.synthetic):
        raise SpecError("expected rows in both tables, found none; there is nothing to compare")
    apart = 0
    control = points.control if points.control is not None and len(points.control) else None
    if control is None:
        apart = min(len(points.real) // 2, len(points.synthetic), MOST_POINTS)
    if len(points.real) - apart <= _NEIGHBOURS or (control is None and not apart):
        return None
    return compare(
        points.real,
        points.synthetic,
        reference=control,
        public=points.public if points.public is not None and len(points.public) else None,
        measures=measures,
        k=_NEIGHBOURS,
        most=MOST_POINTS,
        most_transported=_MOST_TRANSPORTED,
        seed=seed,
    )
