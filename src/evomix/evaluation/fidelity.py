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
from evomix.evaluation.marginals import column_sets, marginal_distances
from evomix.evaluation.pairs import PairScore, pair_scores, pair_warnings

SET_LIMITS = {1: 10_000, 2: 10_000, 3: 200}


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
        uniform: mean of rows uniform over the schema, against the real table: what knowing nothing scores.
        worst: largest over the sets.
        worst_columns: the set it belongs to.
    """

    way: int
    sets: int
    possible: int
    mean: float
    ceiling: float
    floor: float
    uniform: float
    worst: float
    worst_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """Total variation of one column; ceiling, floor and uniform as for marginals."""

    column: str
    tv: float
    ceiling: float
    floor: float
    uniform: float


@dataclass(frozen=True, slots=True)
class AssociationScore:
    """Mean absolute difference of the association of all pairs of columns; ``uniform``: no relation at all."""

    difference: float
    ceiling: float
    floor: float
    uniform: float


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
    has_public = public is not None and len(public) > 0
    populations = {"real": real, "synthetic": synthetic, "ceiling": real[rng.integers(len(real), size=len(synthetic))]}
    if public is not None and has_public:
        populations["floor"] = public
    tables = {name: bin_population(rows, columns) for name, rows in populations.items()}
    tables["uniform"] = _uniform_cells(columns, tables["real"].sizes, len(synthetic), rng)
    tables.setdefault("floor", tables["uniform"])
    names = [column.name for column in columns]
    distances = {way: _distances(tables, way, rng) for way in (1, 2, 3) if way <= len(columns)}
    associations = {name: association_matrix(rows, columns) for name, rows in populations.items()}
    pairs: tuple[PairScore, ...] = ()
    if len(columns) > 1:
        pairs = pair_scores(
            names,
            distances[2].sets,
            distances=(distances[2].synthetic, distances[2].ceiling),
            tables=(tables["real"], tables["synthetic"]),
            associations=(associations["real"], associations["synthetic"]),
            rng=rng,
        )
    coverage = category_coverage(tables["real"], tables["synthetic"], columns)
    return Fidelity(
        floor_name="public rows" if has_public else "rows uniform over the schema",
        marginals=tuple(_marginal_score(way, found, names) for way, found in distances.items()),
        columns=_column_scores(distances[1], names),
        pairs=pairs,
        association=_association_score(associations),
        coverage=coverage,
        warnings=(*pair_warnings(pairs), *(item.warning() for item in coverage if item.notable)),
    )


@dataclass(frozen=True, slots=True)
class _Distances:
    """Sets of columns, and the distance of each table from the real one on each of them."""

    sets: list[tuple[int, ...]]
    synthetic: FloatArray
    ceiling: FloatArray
    floor: FloatArray
    uniform: FloatArray


def _distances(tables: dict[str, Cells], way: int, rng: np.random.Generator) -> _Distances:
    sets = column_sets(len(tables["real"].sizes), way, SET_LIMITS[way], rng)
    others = ("synthetic", "ceiling", "floor", "uniform")
    return _Distances(sets, **{name: marginal_distances(tables["real"], tables[name], sets) for name in others})


def _uniform_cells(columns: Sequence[ColumnLike], sizes: Sequence[int], rows: int, rng: np.random.Generator) -> Cells:
    """Return ``rows`` rows uniform over the cells that the schema allows."""
    codes = np.empty((rows, len(columns)), dtype=np.int64)
    for j, column in enumerate(columns):
        allowed = sizes[j] if column.missing else sizes[j] - 1
        codes[:, j] = rng.integers(allowed, size=rows)
    return Cells(codes, tuple(sizes))


def _marginal_score(way: int, found: _Distances, names: Sequence[str]) -> MarginalScore:
    worst = int(np.argmax(found.synthetic))
    return MarginalScore(
        way=way,
        sets=len(found.sets),
        possible=comb(len(names), way),
        mean=float(found.synthetic.mean()),
        ceiling=float(found.ceiling.mean()),
        floor=float(found.floor.mean()),
        uniform=float(found.uniform.mean()),
        worst=float(found.synthetic[worst]),
        worst_columns=tuple(names[j] for j in found.sets[worst]),
    )


def _column_scores(found: _Distances, names: Sequence[str]) -> tuple[ColumnScore, ...]:
    return tuple(
        ColumnScore(
            column=names[j],
            tv=float(found.synthetic[row]),
            ceiling=float(found.ceiling[row]),
            floor=float(found.floor[row]),
            uniform=float(found.uniform[row]),
        )
        for row, (j,) in enumerate(found.sets)
    )


def _association_score(associations: dict[str, FloatArray]) -> AssociationScore:
    real = associations["real"]
    unrelated = np.eye(len(real))
    return AssociationScore(
        difference=mean_difference(real, associations["synthetic"]),
        ceiling=mean_difference(real, associations["ceiling"]),
        floor=mean_difference(real, associations.get("floor", unrelated)),
        uniform=mean_difference(real, unrelated),
    )
