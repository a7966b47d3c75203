"""One schema for several tables that are compared: columns, and types that the cells of all have."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.errors import SchemaError
from evomix.modalities.tabular.column import BOOLEAN_VALUES
from evomix.modalities.tabular.fit import check_fit
from evomix.modalities.tabular.inference import infer_schema
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.values import as_text, is_empty, parse_booleans


def as_schema(given: Any) -> Schema:
    """Return a schema that is given as one, as its content or as the path of its file."""
    if isinstance(given, Schema):
        return given
    return Schema.from_dict(given) if isinstance(given, dict) else Schema.from_json(str(given))


def schema_of_all(given: Any, tables: Mapping[str, pa.Table]) -> Schema:
    """Return the schema to compare under, after checking that all tables have its columns."""
    if given is None:
        names = tables["real"].column_names
        missing = {name: sorted(set(names) ^ set(table.column_names)) for name, table in tables.items()}
        if any(missing.values()):
            raise SchemaError(
                "the tables have different columns: "
                + "; ".join(f"{name} differs in {', '.join(map(repr, odd))}" for name, odd in missing.items() if odd)
            )
        return infer_schema(stacked([table.select(names) for table in tables.values()])).schema
    schema = as_schema(given)
    for name, table in tables.items():
        check_fit(schema, table.schema, role="private", described=f"the schema (checking the {name} table)")
    return schema


def stacked(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the tables one below the other, each column in a type that all its cells have, else as text."""
    names = tables[0].column_names
    columns = {name: _in_one_type([table.column(name) for table in tables]) for name in names}
    return pa.table(
        {
            name: pa.chunked_array([c for cells in parts for c in cells.chunks], parts[0].type)
            for name, parts in columns.items()
        }
    )


def _in_one_type(parts: list[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """Return a column of each table in the type that all have, as booleans where that is what all mean, else text."""
    truths = [parse_booleans(part, spellings=BOOLEAN_VALUES) for part in parts]
    mean_truth = all(bool((is_empty(part) | ~np.isnan(truth)).all()) for part, truth in zip(parts, truths, strict=True))
    # Words such as yes and no, or 0 and 1, stay what they are, unless another table says true and false.
    if mean_truth and any(map(_says_true_or_false, parts)):
        return [pa.chunked_array([pa.array(truth == 1.0, mask=np.isnan(truth))]) for truth in truths]
    if all(part.type == parts[0].type for part in parts):
        return parts
    return [pa.chunked_array([as_text(part)]) for part in parts]


def _says_true_or_false(cells: pa.ChunkedArray) -> bool:
    """Tell whether a column without other words than truths is spelled as one."""
    if pa.types.is_boolean(cells.type):
        return True
    text = as_text(cells)
    spelled = pc.is_in(pc.utf8_lower(text), value_set=pa.array(BOOLEAN_VALUES, pa.large_string()))
    empty = is_empty(cells)
    return bool((np.asarray(pc.fill_null(spelled, False)) | empty).all()) and not bool(empty.all())
