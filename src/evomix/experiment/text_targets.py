"""What models predict from texts: a column of every table, as classes or as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError, SpecError
from evomix.evaluation.columns import WHOLE, bounds, in_words, labels
from evomix.evaluation.downstream import MOST_WHOLE_CLASSES
from evomix.evaluation.text.downstream import Task
from evomix.experiment.common_schema import as_schema, schema_of_all
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.schema import Schema

TASKS: Final = ("auto", "classification", "regression")


@dataclass(frozen=True, slots=True, eq=False)
class TextTargets:
    """A target of several tables.

    Attributes:
        name: of the column.
        task: what it is for models.
        by_table: class names, object (rows,) with None where missing, or float64 (rows,) with NaN.
    """

    name: str
    task: Task
    by_table: dict[str, NDArray[Any]]


def read_targets(tables: Mapping[str, pa.Table], name: str, *, text: str, schema: Any, task: str) -> TextTargets:
    """Return the target of every table that has it; the real and the synthetic one must.

    By themselves categories, truths and whole numbers of at most 20 possible values are classes, all else numbers, as
    for any table.

    Args:
        tables: "real", "synthetic" and perhaps "public".
        name: the target's column.
        text: the column of texts, which is none.
        schema: path, dict or Schema with the column; None: what all tables have in it.
        task: one of :data:`TASKS`.

    Raises:
        SpecError: the column is missing or is the text, or a regression on what is no number.
        SchemaError: the schema says nothing of it.
    """
    for role in ("real", "synthetic"):
        if name == text or tables[role].column_names.count(name) != 1:
            others = [column for column in tables[role].column_names if column != text]
            raise SpecError(
                f"expected target to be a column of the {role} table beside its texts: "
                f"{', '.join(map(repr, others)) or 'it has none'}; found target={name!r}"
            )
    held = {role: table.select([name]) for role, table in tables.items() if table.column_names.count(name) == 1}
    column = schema_of_all(None, held).columns[0] if schema is None else as_schema(schema).column(name)
    if not column.modelled:
        raise SpecError(f"expected a target with values to learn; found target={name!r}, which is {_kind(column)}")
    codec = TableCodec(Schema((column,)))
    values = {role: np.asarray(codec.encode(table), np.float64)[:, 0] for role, table in held.items()}
    classes = column.type in ("category", "boolean")
    if task == "regression" and classes:
        raise SpecError(f"expected numbers to predict by regression; found target={name!r} of type={column.type}")
    if task == "regression" or (task == "auto" and not classes and not _few_whole(column)):
        return TextTargets(name, "regression", dict(values))
    return TextTargets(name, "classification", {role: _names(column, found) for role, found in values.items()})


def _kind(column: Column) -> str:
    return "an identifier" if column.type == "id" else "always empty" if column.type != "text" else "another text"


def _few_whole(column: Column) -> bool:
    if column.type not in WHOLE:
        return False
    try:
        low, high = bounds(column)
    except SchemaError:
        return False
    return high - low < MOST_WHOLE_CLASSES


def _names(column: Column, values: FloatArray) -> NDArray[Any]:
    """Return the word of each value, object (n,), None where missing."""
    known = labels(column) if column.type in ("category", "boolean") else None
    found = np.empty(len(values), object)
    found[:] = [
        None if np.isnan(value) else in_words(column, value) if known is None else known[int(value)]
        for value in values.tolist()
    ]
    return found
