"""What every method of tables is read beside: real rows, public rows, and what knows less than either."""

import numpy as np
import pyarrow as pa

from evomix.bench.table_set import TableSet
from evomix.core.arrays import FloatArray
from evomix.evaluation.columns import bounds, is_number_like, labels
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema


def table_references(parts: TableSet) -> tuple[str, ...]:
    """Return the names of the references that a set has."""
    public = () if parts.public is None else ("public_all", "public_same_rows")
    return ("real_all", "real_same_rows", "real_bootstrap", *public, "real_columns", "uniform")


def reference_table(name: str, parts: TableSet, rows: int, seed: int) -> pa.Table:
    """Return the table of a reference.

    Args:
        name: one of :func:`table_references`.
        parts: of the set.
        rows: of the table, where a method's would have as many; a part that holds fewer gives all it has.
        seed: of what is drawn.
    """
    rng = np.random.default_rng(seed)
    real = parts.private if parts.unit is None else parts.private.drop_columns([parts.unit])
    held = parts.public if name.startswith("public") and parts.public is not None else real
    match name:
        case "real_all" | "public_all":
            return held
        case "real_same_rows" | "public_same_rows":
            return held.take(pa.array(rng.permutation(held.num_rows)[:rows]))
        case "real_bootstrap":
            return held.take(pa.array(rng.integers(held.num_rows, size=rows)))
        case "real_columns":
            drawn = [column.take(pa.array(rng.integers(held.num_rows, size=rows))) for column in held.columns]
            return pa.table(drawn, names=held.column_names)
        case _:
            return even_rows(parts.schema, rows, rng)


def even_rows(schema: Schema, rows: int, rng: np.random.Generator) -> pa.Table:
    """Return rows whose cells are even over what a schema allows, each column by itself."""
    even = np.stack([_even(column, rows, rng) for column in schema.modelled], axis=1)
    return TableCodec(schema).decode(even)


def _even(column: Column, rows: int, rng: np.random.Generator) -> FloatArray:
    """Return cells even over a column's values, "missing" being one of a category's, and never a number's."""
    if is_number_like(column):
        return rng.uniform(*bounds(column), size=rows)
    count = len(labels(column))
    cells = rng.integers(count + column.missing, size=rows).astype(np.float64)
    return np.where(cells == count, np.nan, cells)
