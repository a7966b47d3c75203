"""The whole evaluation of a synthetic table, one call."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.evaluation.columns import ColumnLike
from evomix.evaluation.copies import Copies, measure_copies
from evomix.evaluation.downstream import Downstream, downstream
from evomix.evaluation.fidelity import Fidelity, fidelity
from evomix.evaluation.geometry import Points, geometry
from evomix.evaluation.verdict import verdict
from evomix.metrics.comparison import Comparison
from evomix.metrics.points import draw

COST = (
    "These figures are computed from real rows without noise. Publishing them costs ε = ∞ for the people in "
    "that table, unless it is a held-out part declared as not protected by this guarantee."
)
MOST_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measured quality and measured risk of a synthetic table; neither is a privacy bound.

    Attributes:
        real_rows: rows of the real table.
        synthetic_rows: rows of the synthetic table.
        public_rows: rows of the public table, 0 when there is none.
        columns: number of columns compared.
        verdict: whether the synthetic table is closer to the real rows than the public one; None without a public
            table.
        cost: what reading the real table means for its people.
        fidelity: marginals, relations, categories.
        copies: exact copies and distances to real rows.
        downstream: scores of models; None without a target.
        geometry: precision, recall and W1 of rows as points; None where no points were given or real rows are too few.
        warnings: plain sentences, the loudest first.
    """

    real_rows: int
    synthetic_rows: int
    public_rows: int
    columns: int
    verdict: str | None
    cost: str
    fidelity: Fidelity
    copies: Copies
    downstream: Downstream | None
    geometry: Comparison | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as JSON: finite numbers, texts, lists, objects; null where undefined."""
        found: dict[str, Any] = as_json(asdict(self))
        return found


def evaluate(
    real: FloatArray,
    synthetic: FloatArray,
    columns: Sequence[ColumnLike],
    *,
    public: FloatArray | None = None,
    control: FloatArray | None = None,
    target: str | None = None,
    points: Points | None = None,
    seeds: int = 3,
    rng_seed: int = 0,
) -> Evaluation:
    """Compare a synthetic table with a real one. Reads real rows without noise: ε = ∞ for them.

    Copies are counted over all rows; every other figure uses at most 200,000 rows of each table, drawn at
    random.

    Args:
        real: float64 (n, c), n ≥ 1, missing as NaN.
        synthetic: float64 (m, c), m ≥ 1.
        columns: the c columns of the schema that are modelled.
        public: float64 (l, c), rows anyone may have: the floor.
        control: float64 (k, c), real rows the synthesizer never saw: what chance explains of copies.
        target: the column that models shall predict; None: no models.
        points: rows of the same tables as vectors; None: no geometry.
        seeds: number of train/test splits, ≥ 1.
        rng_seed: seed of everything drawn here.

    Raises:
        SpecError: an empty table, a matrix that does not fit the columns, an unknown target, or seeds < 1.
    """
    _check(columns, seeds, real=real, synthetic=synthetic, public=public, control=control)
    rng = np.random.default_rng(rng_seed)
    copies = measure_copies(real, synthetic, columns, control=control, rng=rng)
    sizes = len(real), len(synthetic), 0 if public is None else len(public)
    real, synthetic = draw(real, MOST_ROWS, rng), draw(synthetic, MOST_ROWS, rng)
    public = None if public is None else draw(public, MOST_ROWS, rng)
    likeness = fidelity(real, synthetic, columns, public=public, rng=rng)
    models = None
    if target is not None:
        models = downstream(real, synthetic, columns, target=target, public=public, seeds=seeds, rng_seed=rng_seed)
    lying = None if points is None else geometry(points, seed=rng_seed)
    return Evaluation(
        real_rows=sizes[0],
        synthetic_rows=sizes[1],
        public_rows=sizes[2],
        columns=len(columns),
        verdict=verdict(likeness, models, lying) if public is not None and len(public) else None,
        cost=COST,
        fidelity=likeness,
        copies=copies,
        downstream=models,
        geometry=lying,
        warnings=(*copies.warnings, *likeness.warnings, *(models.warnings if models else ())),
    )


def _check(columns: Sequence[ColumnLike], seeds: int, **tables: FloatArray | None) -> None:
    if seeds < 1:
        raise SpecError(f"expected at least one train/test split, found seeds={seeds}")
    if not columns:
        raise SpecError("expected at least one column to compare, found none but identifiers")
    for name, rows in tables.items():
        if rows is None:
            continue
        if rows.ndim != 2 or rows.shape[1] != len(columns):
            raise SpecError(f"expected the {name} table to have {len(columns)} columns, found shape={rows.shape}")
        if not len(rows) and name in ("real", "synthetic"):
            raise SpecError(f"expected rows in the {name} table, found none; there is nothing to compare")


def as_json(value: Any) -> Any:
    """Return nested values as JSON content: lists for tuples, null for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
