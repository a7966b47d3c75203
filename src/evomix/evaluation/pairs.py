"""Which relations between two columns a synthetic table kept, and which it lost.

A pair is scored between two tables of the synthetic size: real rows (all is kept) and the synthetic table with one
column shuffled (nothing is). Reads real rows: not private.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.binning import Cells
from evomix.evaluation.marginals import independent_distances

STRONG_RELATION = 0.05
LOST_RELATION = 0.1


@dataclass(frozen=True, slots=True)
class PairScore:
    """How well the relation of two columns came through.

    Attributes:
        first: a column.
        second: another column.
        tv: total variation of the 2-way marginal.
        ceiling: that of as many real rows.
        independent: that of the synthetic table with its second column shuffled.
        kept: how far ``tv`` lies from ``independent`` (0) to ``ceiling`` (1); below 0 when worse than
            independence; None where the real columns are too weakly related to tell.
        association_real: Spearman, Cramér's V or correlation ratio in the real table.
        association_synthetic: the same in the synthetic table.
    """

    first: str
    second: str
    tv: float
    ceiling: float
    independent: float
    kept: float | None
    association_real: float
    association_synthetic: float


def pair_scores(
    names: Sequence[str],
    pairs: Sequence[tuple[int, ...]],
    *,
    distances: tuple[FloatArray, FloatArray],
    tables: tuple[Cells, Cells, Cells],
    associations: tuple[FloatArray, FloatArray],
    rng: np.random.Generator,
) -> tuple[PairScore, ...]:
    """Score pairs of columns.

    Args:
        names: names of the c columns.
        pairs: positions of two columns each.
        distances: float64 (pairs,) each, of the synthetic and the ceiling table from the real one.
        tables: real, synthetic and ceiling table.
        associations: float64 (c, c) each, of the real and the synthetic table.
        rng: shuffles.
    """
    real, synthetic, ceiling = tables
    independent = independent_distances(real, synthetic, pairs, rng)
    # The real table itself decides whether there is a relation to keep. One row moves a total variation by at most
    # 1/n, so its standard deviation is at most 1/(2√n).
    noise = 0.5 / min(len(real.codes), len(synthetic.codes)) ** 0.5
    strength = independent_distances(real, ceiling, pairs, rng) - distances[1]
    room = independent - distances[1]
    related = (strength > STRONG_RELATION + 3.0 * noise) & (room > 0.0)
    return tuple(
        PairScore(
            first=names[i],
            second=names[j],
            tv=float(distances[0][row]),
            ceiling=float(distances[1][row]),
            independent=float(independent[row]),
            kept=min(float((independent[row] - distances[0][row]) / room[row]), 1.0) if related[row] else None,
            association_real=float(associations[0][i, j]),
            association_synthetic=float(associations[1][i, j]),
        )
        for row, (i, j) in enumerate(pairs)
    )


def pair_warnings(pairs: Sequence[PairScore]) -> tuple[str, ...]:
    """Return a sentence that names the relations lost, strongest first; nothing where all were kept."""
    related = [pair for pair in pairs if pair.kept is not None]
    lost = sorted(
        (pair for pair in related if pair.kept is not None and pair.kept < LOST_RELATION),
        key=lambda pair: pair.ceiling - pair.independent,
    )
    if not lost:
        return ()
    examples = ", ".join(f"{pair.first} with {pair.second}" for pair in lost[:3])
    more = ", …" if len(lost) > 3 else ""
    sentence = (
        f"relations lost: {len(lost)} of {len(related)} related pairs of columns are no better than "
        f"independent columns would be ({examples}{more})"
    )
    return (sentence,)
