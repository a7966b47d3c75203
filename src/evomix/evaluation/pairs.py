"""Which relations between two columns a synthetic table kept, and which it lost.

A relation is what shuffling one of two columns destroys: the table then lies further from the real one. What the
synthetic table loses by it is compared with what real rows lose by it, told by two parts of the real table without a
common row: a table compared with rows drawn from itself shares its accidents, which look like a relation where
cells are sparse. Reads real rows: not private.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.binning import Cells
from evomix.evaluation.marginals import independent_distances, marginal_distances

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
        strength: how much closer real rows are to other real rows than the same rows with the second column shuffled
            are: about 0 where the columns are unrelated.
        kept: the share of ``strength`` that the synthetic table has, by ``independent`` - ``tv``: at most 1, below 0
            when worse than independence; None where the real columns are too weakly related to tell.
        association_real: Spearman, Cramér's V or correlation ratio in the real table.
        association_synthetic: the same in the synthetic table.
    """

    first: str
    second: str
    tv: float
    ceiling: float
    independent: float
    strength: float
    kept: float | None
    association_real: float
    association_synthetic: float


def pair_scores(
    names: Sequence[str],
    pairs: Sequence[tuple[int, ...]],
    *,
    distances: tuple[FloatArray, FloatArray],
    tables: tuple[Cells, Cells],
    associations: tuple[FloatArray, FloatArray],
    rng: np.random.Generator,
) -> tuple[PairScore, ...]:
    """Score pairs of columns.

    Args:
        names: names of the c columns.
        pairs: positions of two columns each.
        distances: float64 (pairs,) each, of the synthetic and the ceiling table from the real one.
        tables: the real and the synthetic table.
        associations: float64 (c, c) each, of the real and the synthetic table.
        rng: splits and shuffles.
    """
    real, synthetic = tables
    independent = independent_distances(real, synthetic, pairs, rng)
    strength, noise = _strengths(real, len(synthetic.codes), pairs, rng)
    related = strength > STRONG_RELATION + 3.0 * noise
    return tuple(
        PairScore(
            first=names[i],
            second=names[j],
            tv=float(distances[0][row]),
            ceiling=float(distances[1][row]),
            independent=float(independent[row]),
            strength=float(strength[row]),
            kept=min(float((independent[row] - distances[0][row]) / strength[row]), 1.0) if related[row] else None,
            association_real=float(associations[0][i, j]),
            association_synthetic=float(associations[1][i, j]),
        )
        for row, (i, j) in enumerate(pairs)
    )


def _strengths(
    real: Cells, rows: int, pairs: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return the strength of each pair's relation, float64 (pairs,), and a bound on the noise in it.

    One part of the real table takes the synthetic table's place: as many rows, but at most half of all.
    """
    order = rng.permutation(len(real.codes))
    size = min(rows, len(order) // 2)
    if not size:  # one row is related to nothing
        return np.zeros(len(pairs)), 0.0
    part, rest = (Cells(real.codes[chosen], real.sizes) for chosen in (order[:size], order[size:]))
    strength = independent_distances(rest, part, pairs, rng) - marginal_distances(rest, part, pairs)
    # One row moves a total variation by at most 1/size, so its standard deviation is at most 1/(2√size).
    return strength, 0.5 / size**0.5


def pair_warnings(pairs: Sequence[PairScore]) -> tuple[str, ...]:
    """Return a sentence that names the relations lost, strongest first; nothing where all were kept."""
    related = [pair for pair in pairs if pair.kept is not None]
    lost = sorted(
        (pair for pair in related if pair.kept is not None and pair.kept < LOST_RELATION),
        key=lambda pair: -pair.strength,
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
