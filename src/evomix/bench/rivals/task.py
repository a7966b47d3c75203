"""What every rival is given, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from evomix.modalities.tabular.schema import Schema
from evomix.privacy.adjacency import Adjacency


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableTask:
    """A table to be made private, and on what terms.

    Attributes:
        private: rows whose columns are those of ``schema``; each row is one private unit.
        public: rows with the same columns; None where there are none.
        schema: public columns, bounds and categories.
        target: the column that a later model will predict; None where there is none.
        epsilon, delta: the budget of everything that is read off ``private``.
        rows: synthetic rows wanted.
        seed: of all randomness, the noise included.
        adjacency: the neighbour relation of (ε, δ).
    """

    private: pa.Table
    public: pa.Table | None
    schema: Schema
    target: str | None
    epsilon: float
    delta: float
    rows: int
    seed: int
    adjacency: Adjacency = "replace-one"


Rival: TypeAlias = Callable[[TableTask], pa.Table]
"""Makes ``task.rows`` synthetic rows with the columns of ``task.schema.modelled``."""
