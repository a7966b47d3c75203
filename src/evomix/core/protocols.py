"""The extension points. Closed on purpose: voting, mechanisms, noise and accounting.

A *population* is an array of public records along its first axis, whatever the modality, so that taking rows
and joining populations is plain NumPy.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evomix.core.arrays import FloatArray, IntArray, Population
from evomix.core.release import Release


class Generator(Protocol):
    """Proposes public records; never sees private ones."""

    def random(self, size: int, rng: np.random.Generator) -> Population:
        """Return ``size`` fresh records."""

    def vary(self, parents: Population, scale: float, rng: np.random.Generator) -> Population:
        """Return one variation of each parent; ``scale`` in (0, 1] is how far it may go."""


class NearestIndex(Protocol):
    """Candidates prepared for exact nearest-neighbour search."""

    def nearest(self, records: Population) -> IntArray:
        """Return for each record the position of its nearest candidate, int64 (n,).

        Ties go to the lowest position. The answer for a record depends on that record and the candidates alone:
        what else is in the batch must not matter, or a vote's sensitivity would exceed one.
        """


class Panel(Protocol):
    """Several partitions of all possible records, each into cells; a record is in one cell of each."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of each partition."""

    def cells(self, records: Population) -> Iterator[IntArray]:
        """Yield for each partition the cell of every record, int64 (n,), in 0..size−1.

        The cell of a record depends on that record alone.
        """


class Embedder(Protocol):
    """Turns candidates into an index or into points; the same geometry serves private and public records."""

    def index(self, candidates: Population) -> NearestIndex:
        """Prepare ``candidates`` for search."""

    def vectors(self, candidates: Population) -> NDArray[Any]:
        """Return ``candidates`` as points, floats (n, k), whose Euclidean distance is the one ``index`` searches by."""


class Encoding(Protocol):
    """Takes records from columnar form to what an index is searched by.

    ``encode`` is *total on values*: whatever a cell holds becomes a value inside the public schema, so that no
    private value can decide between success and failure.
    """

    def encode(self, table: pa.Table) -> Population:
        """Return the records of ``table``; never raises because of a cell's value."""


class Codec(Encoding, Protocol):
    """Carries records between columnar form and a population."""

    def decode(self, population: Population) -> pa.Table:
        """Return ``population`` in columnar form."""


class Selection(Protocol):
    """Turns a release into the next parents, and in the end into rows. Post-processing; costs nothing.

    A selection that looks at where candidates lie is made with the function that gives their points (an embedder's
    ``vectors``), so that whoever calls it need not know.
    """

    def parents(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> IntArray:
        """Return positions of ``size`` selected candidates (repeats allowed), int64 (size,)."""

    def shares(self, release: Release, candidates: Population, size: int, rng: np.random.Generator) -> FloatArray:
        """Return the law of the final rows when ``size`` are asked for: float64 (d,), at least 0, summing to 1."""

    def describe(self, release: Release) -> Mapping[str, Any]:
        """Return public figures of what is selected from ``release``, for the record of the run; may be empty."""
