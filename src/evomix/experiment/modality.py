"""What a run needs of a kind of record, be it a row of a table or a text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.protocols import Codec, Embedder, Generator
from evomix.modalities.tabular.schema import Column, Schema


class Modality(Protocol):
    """Columns, codec, generator and geometry of a kind of record; all of it public."""

    @property
    def kind(self) -> str:
        """The name of the modality: "table" or "text"."""

    @property
    def schema(self) -> Schema:
        """Columns of the synthetic table."""

    @property
    def codec(self) -> Codec:
        """Carries public records to populations, and populations to tables."""

    @property
    def generator(self) -> Generator:
        """Proposes records."""

    @property
    def embedder(self) -> Embedder:
        """The distance between records."""

    @property
    def public(self) -> Population | None:
        """The public records; ``None`` without any."""

    @property
    def costly(self) -> bool:
        """Whether proposing records costs so much that it must not be done twice."""

    @property
    def spares(self) -> Population | None:
        """Public records that may stand in the output as they are; ``None`` where none may."""

    @property
    def groups(self) -> Callable[[Population], IntArray] | None:
        """From candidates to groups, int64 (d,), of which each is to keep a parent; ``None`` without such groups."""

    @property
    def repeats(self) -> bool:
        """Whether a record may stand in the output as often as its share says, as real ones of this kind do."""

    def balanced(self, shares: FloatArray, candidates: Population) -> FloatArray:
        """Return the law of the final rows, float64 (d,), with what the schema fixes of it; sums to 1."""

    def charted(self, population: Population) -> tuple[Sequence[Column], FloatArray]:
        """Return what a report draws of records: c columns, and float64 (n, c), missing as NaN."""

    def examples(self, population: Population) -> Sequence[str]:
        """Return some records to be read, where a reader can judge them; may be empty."""

    def remarks(self, population: Population) -> tuple[str, ...]:
        """Return sentences for the user on how the final records came out; public facts."""

    def made(self) -> Mapping[str, Any]:
        """Return public figures of how records were proposed, for the report; may be empty."""

    def first(self, size: int, rng: np.random.Generator) -> Population:
        """Return candidates to begin with, at most ``size`` distinct ones."""
