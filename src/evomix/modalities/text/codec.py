"""Tables with a text column to populations of texts, and back."""

import pyarrow as pa

from evomix.core.arrays import Population
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import made_up
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.values import as_text
from evomix.modalities.text.classes import Classes
from evomix.modalities.text.embedder import TextEmbedder
from evomix.modalities.text.normal_form import normal_form
from evomix.modalities.text.records import classes as classes_of
from evomix.modalities.text.records import population, texts


class TextCodec:
    """Carries public records between columnar form and an object array of (class position, text).

    Args:
        schema: one text column, at most one label, ids.
        text: name of the text column.
        classes: of the label.
    """

    def __init__(self, schema: Schema, text: str, classes: Classes) -> None:
        self.schema, self.text, self.classes = schema, text, classes

    def encode(self, table: pa.Table) -> Population:
        """Return the records; a missing text is an empty one. Never raises because of a cell's value."""
        return population(zip(self.classes.positions(table).tolist(), read_texts(table, self.text), strict=True))

    def decode(self, population: Population) -> pa.Table:
        """Return records in the columns of the schema; ids are made up anew."""
        columns = []
        for column in self.schema.columns:
            if column.name == self.text:
                columns.append(pa.chunked_array([pa.array(texts(population), pa.string())]))
            elif self.classes.column is not None and column.name == self.classes.column.name:
                columns.append(self.classes.decode(classes_of(population)))
            else:
                columns.append(pa.chunked_array([made_up(column, len(population))]))
        return pa.table(columns, names=list(self.schema.names))


class Placing:
    """Carries private records to points: from here on there is no text of theirs.

    Args:
        codec: of the public records, for the columns.
        embedder: the geometry of the votes; its encoder must be local.
    """

    def __init__(self, codec: TextCodec, embedder: TextEmbedder) -> None:
        self._codec, self._embedder = codec, embedder

    def encode(self, table: pa.Table) -> Population:
        """Return the records as points, float32 (n, k). Never raises because of a cell's value."""
        return self._embedder.place(read_texts(table, self._codec.text), self._codec.classes.positions(table))


def read_texts(table: pa.Table, name: str) -> list[str]:
    """Return a text column's cells in normal form; a missing one is empty.

    Raises:
        SchemaError: the column is not there once.
    """
    if table.column_names.count(name) != 1:
        raise SchemaError(f"expected one text column {name!r}; found {table.column_names}")
    return [normal_form(cell or "") for cell in as_text(table.column(name)).to_pylist()]
