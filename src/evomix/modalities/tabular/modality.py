"""Everything a run needs to know about one table, bundled."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from evomix.core.arrays import FloatArray, Population, distinct
from evomix.core.errors import SchemaError
from evomix.modalities.tabular.codec import TableCodec
from evomix.modalities.tabular.domain import domain_size, enumerate_domain
from evomix.modalities.tabular.embedding import TableEmbedder
from evomix.modalities.tabular.generator import TableGenerator
from evomix.modalities.tabular.schema import Column, Schema
from evomix.modalities.tabular.transform import learn_transforms

OVERSAMPLING: Final = 4
"""Records looked at for each first candidate, because public tables repeat rows."""
TOP_UP_SCALE: Final = 0.25
"""How far first candidates go beyond public rows where these are too few."""


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

    @property
    def kind(self) -> str:
        """The name of the modality."""
        return "table"

    @property
    def costly(self) -> bool:
        """Whether records must not be proposed twice; they take microseconds."""
        return False

    @property
    def spares(self) -> FloatArray | None:
        """Public records that may stand in the output as they are."""
        return self.public

    @property
    def repeats(self) -> bool:
        """Whether rows repeat: those of real tables do."""
        return True

    @property
    def groups(self) -> None:
        """None: rows of a table vote across all values."""
        return

    def balanced(self, shares: FloatArray, candidates: Population) -> FloatArray:  # noqa: ARG002  (a text's label may be)
        """Return ``shares``: a table's schema fixes none."""
        return shares

    def charted(self, population: Population) -> tuple[tuple[Column, ...], FloatArray]:
        """Return the modelled columns and the records themselves."""
        return self.schema.modelled, np.asarray(population, np.float64)

    def examples(self, population: Population) -> tuple[str, ...]:  # noqa: ARG002  (a text has some)
        """Return none: charts say more of rows."""
        return ()

    def remarks(self, population: Population) -> tuple[str, ...]:  # noqa: ARG002  (of texts there are some)
        """Return none: rows repeat as rows of real tables do."""
        return ()

    def made(self) -> dict[str, Any]:
        """Return nothing: proposing rows costs nothing worth telling."""
        return {}

    def first(self, size: int, rng: np.random.Generator) -> Population:
        """Return candidates to begin with, at most ``size`` distinct ones.

        Every possible record if ``size`` allows, else what the generator proposes. Public tables repeat rows, so more
        are asked for than are needed, and what is still missing is made by varying those that are there.
        """
        if domain_size(self.schema) <= size:
            return enumerate_domain(self.schema)
        found = distinct(self.generator.random(OVERSAMPLING * size, rng))[:size]
        if len(found) == size:
            return found
        varied = self.generator.vary(found[rng.integers(len(found), size=OVERSAMPLING * size)], TOP_UP_SCALE, rng)
        return distinct(np.concatenate([found, varied]))[:size]


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
    if shared := [column.name for column in schema.columns if column.shares]:
        raise SchemaError(f"column {shared[0]!r}: 'shares' is for the label of texts; in a table votes decide. Drop it")
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
