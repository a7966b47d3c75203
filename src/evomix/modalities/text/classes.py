"""The label of a text: a column with few values, each a class that texts are made in and vote within."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.column import Column
from evomix.modalities.tabular.domain import domain_size, enumerate_domain
from evomix.modalities.tabular.schema import Schema

MOST_CLASSES: Final = 200
"""Each class needs candidates of its own."""


@dataclass(frozen=True, slots=True)
class Classes:
    """The values of a label column, or one nameless class where there is none.

    Attributes:
        column: the label; ``None`` without one.
        cells: float64 (c,), the values as the column's codes, ascending; NaN, for missing, is last.
        words: each as a word for a prompt; empty for a missing or nameless one.
        shares: float64 (c,), public shares of the classes, summing to 1; ``None`` where the schema gives none.
    """

    column: Column | None
    cells: FloatArray
    words: tuple[str, ...]
    shares: FloatArray | None = None

    @classmethod
    def of(cls, column: Column | None) -> "Classes":
        """Return the classes of a label column.

        Raises:
            SchemaError: the column has more than :data:`MOST_CLASSES` values.
        """
        if column is None:
            return cls(None, np.zeros(1), ("",))
        schema = Schema((column,))
        if not domain_size(schema) <= MOST_CLASSES:
            raise SchemaError(
                f"column {column.name!r} has more than {MOST_CLASSES} values, too many for the label of a text: each "
                "needs texts of its own. Declare fewer values or a coarser 'multiple_of' in the schema, or leave it out"
            )
        cells = enumerate_domain(schema)
        spelled = TableCodec(schema).decode(cells).column(0).to_pylist()
        shares = None
        if column.shares:
            shares = np.zeros(len(cells))  # a missing label has none
            shares[: len(column.shares)] = column.shares
        return cls(column, cells[:, 0], tuple("" if word is None else str(word) for word in spelled), shares)

    def __len__(self) -> int:
        """Return how many classes there are."""
        return len(self.words)

    @property
    def fallback(self) -> str:
        """What a cell counts as that is none of the values: the schema's rule, which no record can move."""
        assert self.column is not None
        position = int(np.minimum(np.searchsorted(self.cells, self.column.fallback), len(self) - 1))
        return self.words[position] or "none"

    def positions(self, table: pa.Table) -> IntArray:
        """Return the class of each row, int64 (n,). Total on values: the column's rules say what odd cells become."""
        if self.column is None:
            return np.zeros(table.num_rows, np.int64)
        codes = np.asarray(TableCodec(Schema((self.column,))).encode(table), np.float64)[:, 0]
        return np.minimum(np.searchsorted(self.cells, codes), len(self) - 1)  # NaN sorts last, as among the cells

    def decode(self, positions: IntArray) -> pa.ChunkedArray:
        """Return the label column's cells for class positions."""
        assert self.column is not None
        return TableCodec(Schema((self.column,))).decode(self.cells[positions][:, None]).column(0)
