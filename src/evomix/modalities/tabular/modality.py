"""Everything a run needs to know about one table, bundled."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evomix.core.arrays import FloatArray
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.schema import Schema
from evomix.modalities.tabular.transform import learn_transforms


@dataclass(frozen=True, slots=True)
class TableModality:
    """A table's schema, codec, generator and geometry; all of it public.

    Attributes:
        schema: columns, types, bounds and categories.
        codec: carries tables to populations and back.
        generator: proposes records.
        embedder: the distance between records.
        public: float64 (m, modelled columns), the public rows as a population; None without a public table.
    """

    schema: Schema
    codec: TableCodec
    generator: TableGenerator
    embedder: TableEmbedder
    public: FloatArray | None


def build_table_modality(
    schema: Schema, public: pa.Table | None, *, target: str | None, target_weight: float = 1.0
) -> TableModality:
    """Build the modality of a table from public information. Costs nothing.

    Args:
        schema: the public schema.
        public: the public table, whose columns fit ``schema``; its transforms, marginals and rows are
            learned.
        target: the column that a later model will predict.
        target_weight: factor on the target's weight in the distance.

    Raises:
        SchemaError: the target is not a column that is modelled; the schema holds a text or image column, or
            nothing to model; a column of the schema is not in ``public``.
    """
    names = [column.name for column in schema.modelled]
    if target is not None and target not in names:
        raise SchemaError(f"expected the target among {names}, got target={target!r}")
    codec = TableCodec(schema)
    rows = None if public is None else np.asarray(codec.encode(public), dtype=np.float64)
    transforms = learn_transforms(schema, rows)
    return TableModality(
        schema=schema,
        codec=codec,
        generator=TableGenerator(schema, transforms, public=rows),
        embedder=TableEmbedder(schema, transforms, target=target, target_weight=target_weight),
        public=rows,
    )
