"""Do the synthetic columns, pairs and triples of columns look like the real ones?

Every figure stands between a ceiling (as many rows drawn from the real table itself: what a perfect generator
would score) and a floor (public rows, or rows uniform over the schema: what no private data would score).
Reads real rows: not private.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.evaluation.association import association_matrix, mean_difference
from evomix.evaluation.binning import Cells, bin_population
from evomix.evaluation.columns import ColumnLike
from evomix.evaluation.coverage import Coverage, category_coverage
from evomix.evaluation.marginals import column_sets, independent_distances, marginal_distances

SET_LIMITS = {1: 10_000, 2: 10_000, 3: 200}
STRONG_RELATION = 0.05
LOST_RELATION = 0.1


@dataclass(frozen=True, slots=True)
class MarginalScore:
    """Total variation of the k-way marginals; 0 is equal, 1 is disjoint.

    Attributes:
        way: k.
        sets: number of sets of k columns compared.
        possible: number of sets there are.
        mean: mean over the sets.
        ceiling: mean of as many rows drawn from the real table, against the real table.
        floor: mean of the floor table, against the real table.
        worst: largest over the sets.
        worst_columns: the set it belongs to.
    """

    way: int
    sets: int
    possible: int
    mean: float
    ceiling: float
    floor: float
    worst: float
    worst_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """Total variation of one column."""

    column: str
    tv: float
    ceiling: float
    floor: float


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


@dataclass(frozen=True, slots=True)
class AssociationScore:
    """Mean absolute difference of the association of all pairs of columns."""

    difference: float
    ceiling: float
    floor: float


@dataclass(frozen=True, slots=True)
class Fidelity:
    """All fidelity figures; ``floor_name`` says what the floors are made of."""

    floor_name: str
    marginals: tuple[MarginalScore, ...]
    columns: tuple[ColumnScore, ...]
    pairs: tuple[PairScore, ...]
    association: AssociationScore
    coverage: tuple[Coverage, ...]
    warnings: tuple[str, ...]


def fidelity(
    real: FloatArray,
    synthetic: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    public: FloatArray | None,
    rng: np.random.Generator,
) -> Fidelity:
    """Compare two populations with at least one row each. Reads real rows: not private.

    Args:
        real: float64 (n, c), missing as NaN.
        synthetic: float64 (m, c).
        columns: the c columns.
        public: float64 (l, c), the floor; None: rows uniform over the schema's cells.
        rng: draws the ceiling's rows and the sampled triples.
    """
    resample = real[rng.integers(len(real), size=len(synthetic))]
    tables = {
        "real": bin_population(real, columns),
        "synthetic": bin_population(synthetic, columns),
        "ceiling": bin_population(resample, columns),
    }
    has_public = public is not None and len(public) > 0
    tables["floor"] = (
        bin_population(public, columns)
        if public is not None and has_public
        else _uniform_cells(columns, tables["real"].sizes, len(synthetic), rng)
    )
    names = [column.name for column in columns]
    distances = {way: _distances(tables, way, rng) for way in (1, 2, 3) if way <= len(columns)}
    association = [association_matrix(table, columns) for table in (real, synthetic, resample)]
    floor_association = (
        association_matrix(public, columns) if public is not None and has_public else np.eye(len(columns))
    )
    pairs = _pair_scores(names, distances.get(2), tables, association, rng)
    coverage = category_coverage(tables["real"], tables["synthetic"], columns)
    return Fidelity(
        floor_name="public rows" if has_public else "rows uniform over the schema",
        marginals=tuple(_marginal_score(way, found, names) for way, found in distances.items()),
        columns=tuple(
            ColumnScore(names[j], float(tv), float(top), float(low))
            for (j,), tv, top, low in zip(*distances[1], strict=True)
        ),
        pairs=pairs,
        association=AssociationScore(
            difference=mean_difference(association[0], association[1]),
            ceiling=mean_difference(association[0], association[2]),
            floor=mean_difference(association[0], floor_association),
        ),
        coverage=coverage,
        warnings=(*_pair_warnings(pairs), *(item.warning() for item in coverage if item.notable)),
    )


_Distances = tuple[list[tuple[int, ...]], FloatArray, FloatArray, FloatArray]
"""Sets of columns, then their distance to the real table for the synthetic, ceiling and floor tables."""


def _distances(tables: dict[str, Cells], way: int, rng: np.random.Generator) -> _Distances:
    sets = column_sets(len(tables["real"].sizes), way, SET_LIMITS[way], rng)
    synthetic, ceiling, floor = (
        marginal_distances(tables["real"], tables[name], sets) for name in ("synthetic", "ceiling", "floor")
    )
    return sets, synthetic, ceiling, floor


def _uniform_cells(columns: Sequence[ColumnLike], sizes: Sequence[int], rows: int, rng: np.random.Generator) -> Cells:
    """Return ``rows`` rows uniform over the cells that the schema allows."""
    codes = np.empty((rows, len(columns)), dtype=np.int64)
    for j, column in enumerate(columns):
        allowed = sizes[j] if column.missing else sizes[j] - 1
        codes[:, j] = rng.integers(allowed, size=rows)
    return Cells(codes, tuple(sizes))


def _marginal_score(way: int, found: _Distances, names: Sequence[str]) -> MarginalScore:
    sets, synthetic, ceiling, floor = found
    worst = int(np.argmax(synthetic))
    return MarginalScore(
        way=way,
        sets=len(sets),
        possible=comb(len(names), way),
        mean=float(synthetic.mean()),
        ceiling=float(ceiling.mean()),
        floor=float(floor.mean()),
        worst=float(synthetic[worst]),
        worst_columns=tuple(names[j] for j in sets[worst]),
    )


def _pair_scores(
    names: Sequence[str],
    found: _Distances | None,
    tables: dict[str, Cells],
    association: Sequence[FloatArray],
    rng: np.random.Generator,
) -> tuple[PairScore, ...]:
    if found is None:
        return ()
    pairs, synthetic, ceiling, _ = found
    independent = independent_distances(tables["real"], tables["synthetic"], pairs, rng)
    lost = independent_distances(tables["real"], tables["ceiling"], pairs, rng)
    # One row moves a total variation by at most 1/n, so its standard deviation is at most 1/(2√n).
    noise = 0.5 / min(len(tables["real"].codes), len(tables["synthetic"].codes)) ** 0.5
    scores = []
    for row, (i, j) in enumerate(pairs):
        room = float(independent[row] - ceiling[row])
        # The real table itself decides whether there is a relation to keep.
        related = lost[row] - ceiling[row] > STRONG_RELATION + 3.0 * noise and room > 0.0
        scores.append(
            PairScore(
                first=names[i],
                second=names[j],
                tv=float(synthetic[row]),
                ceiling=float(ceiling[row]),
                independent=float(independent[row]),
                kept=min(float(independent[row] - synthetic[row]) / room, 1.0) if related else None,
                association_real=float(association[0][i, j]),
                association_synthetic=float(association[1][i, j]),
            )
        )
    return tuple(scores)


def _pair_warnings(pairs: Sequence[PairScore]) -> tuple[str, ...]:
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
