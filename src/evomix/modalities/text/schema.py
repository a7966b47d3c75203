"""Which column holds the text, which one its label: from the schema, the public table and what the user said."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from evomix.core.errors import SchemaError, SpecError
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.inference import Inferred, infer_schema
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.values import as_text, is_text

LEAST_WORDS: Final = 4.0
"""Mean words of a cell from which a column reads as free text."""
MOST_TEXT_COLUMNS: Final = 2
"""Columns of a public table up to which free text makes it a set of texts: the text and a label."""
LEAST_DISTINCT: Final = 0.5
"""Share of different cells from which it does."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What the modelled columns of a text schema are for.

    Attributes:
        text: name of the text column.
        label: the label column; ``None`` without one.
    """

    text: str
    label: Column | None


def free_text_columns(table: pa.Table) -> list[str]:
    """Return the names of the columns of a *public* table that read as free text: many words, few repeats."""
    return [name for name in table.column_names if _is_free_text(table.column(name))]


def is_set_of_texts(table: pa.Table) -> bool:
    """Return whether a *public* table is one of texts: a column of free text, and a label at most."""
    return table.num_columns <= MOST_TEXT_COLUMNS and bool(free_text_columns(table))


def infer_either_schema(table: pa.Table, *, text: str | None = None) -> Inferred:
    """Infer the schema of a *public* table, with a text column where one is named, or where it is a set of texts.

    Raises:
        SchemaError: as :func:`infer_text_schema`.
    """
    as_texts = text is not None or is_set_of_texts(table)
    return infer_text_schema(table, text=text, target=None) if as_texts else infer_schema(table)


def holds_text(schema: Schema) -> bool:
    """Return whether a schema declares a text column."""
    return any(column.type == "text" for column in schema.columns)


def infer_text_schema(table: pa.Table, *, text: str | None, target: str | None) -> Inferred:
    """Infer the schema of a *public* table with a text column; of the others as for any table.

    Args:
        table: public records, at least one.
        text: name of the text column; default the one of most words on average, of those that are stored as text.
        target: the label, which is not the text.

    Raises:
        SchemaError: there is no such column, or as :func:`infer_schema`.
    """
    if table.num_rows == 0:
        raise SchemaError("the public table has no rows, so its columns are not known; give a schema instead")
    name, notes = (text, ()) if text is not None else _longest(table, target)
    if name not in table.column_names:
        raise SchemaError(f"the public table has no text column {name!r}; it has {', '.join(table.column_names)}")
    others = table.drop_columns([name])
    inferred = infer_schema(others) if others.num_columns else Inferred(Schema((Column(name, "text"),)), ())
    found = {column.name: column for column in inferred.schema.columns} | {name: Column(name, "text")}
    return Inferred(Schema(tuple(found[one] for one in table.column_names)), (*notes, *inferred.warnings))


def roles_of(schema: Schema, *, target: str | None) -> Roles:
    """Return the text column and the label of a schema.

    Raises:
        SpecError: the target is no column, or is the text.
        SchemaError: there is not one text column, or more than a label beside it.
    """
    found = [column.name for column in schema.columns if column.type == "text"]
    if len(found) != 1:
        raise SchemaError(
            f"a text run models one column of type 'text'; the schema has {_listed(found)}. Declare the column with "
            'the texts as {"name": …, "type": "text"}'
        )
    others = [column for column in schema.modelled if column.type != "text"]
    names = [column.name for column in others]
    if target is not None and target not in names:
        raise SpecError(f"expected the target, the label of a text, among {_listed(names)}; found target={target!r}")
    rest = [name for name in names if name != target]
    if rest and (target is not None or len(rest) > 1):
        raise SchemaError(
            f"a text run models a text and one label; beside {found[0]!r} there are {_listed(names)}. Drop the columns "
            "that are not needed from all tables, or declare them as 'id' in a schema: ids are made up anew"
        )
    return Roles(found[0], others[0] if others else None)


def _longest(table: pa.Table, target: str | None) -> tuple[str, Sequence[str]]:
    """Return the column of most words on average, and a note on that."""
    means = {name: _mean_words(table.column(name)) for name in table.column_names if name != target}
    means = {name: mean for name, mean in means.items() if mean > 0.0}
    if not means:
        raise SchemaError("the public table has no column with texts; name it (--text-column), or give a schema")
    name = max(means, key=lambda one: means[one])
    return name, () if len(means) == 1 else (f"column {name!r} is taken as the text (--text-column names another)",)


def _is_free_text(cells: pa.ChunkedArray) -> bool:
    if _mean_words(cells) < LEAST_WORDS:
        return False
    distinct = pc.count_distinct(as_text(cells)).as_py()
    return bool(distinct >= LEAST_DISTINCT * len(cells))


def _mean_words(cells: pa.ChunkedArray) -> float:
    """Return the mean words of a column that is stored as text; 0 for another."""
    kind = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if not is_text(kind):
        return 0.0
    words = pc.sum(pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(as_text(cells))))).as_py()
    return float(words or 0) / max(len(cells), 1)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) if names else "none"
