"""What a benchmark needs of a kind of record, be it a text or a row of a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from evomix.bench.cost import Cost, measured


@dataclass(frozen=True, slots=True)
class Measured:
    """A score that is taken of every method and reference.

    Attributes:
        name: its key.
        title: for readers.
        better: "higher" or "lower".
    """

    name: str
    title: str
    better: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Made:
    """What came of a method or a reference.

    Attributes:
        table: its records; None where there are none.
        cost: what they took to make.
        unable: why there are none, in a few words for readers; empty where there are.
        over_s: the seconds that it was given, where it is unable because they were too few.
    """

    table: pa.Table | None
    cost: Cost = field(default_factory=Cost)
    unable: str = ""
    over_s: float | None = None


def made_here(make: Callable[[], pa.Table]) -> Made:
    """Return what ``make`` makes in this process, and what that took."""
    with measured() as cost:
        table = make()
    return Made(table, cost)


class Contest(Protocol):
    """Data that were split once, who makes synthetic tables from them, and what scores these."""

    @property
    def measures(self) -> tuple[Measured, ...]:
        """The scores, the one that matters most first."""

    @property
    def references(self) -> tuple[str, ...]:
        """Names of the references that this data has."""

    @property
    def time_limit_s(self) -> float | None:
        """Seconds on the clock that a method may take; None for as many as it needs."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Plain values that decide scores, beside method, ε and seed: a result under others is another result."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """Plain values for readers: sizes and sources."""

    def check(self, method: str, epsilon: float) -> None:
        """Refuse settings that no run could have, before the first run is made.

        Raises:
            SpecError: as a run would.
        """

    def synthesize(self, method: str, epsilon: float, seed: int, *, folder: Path) -> Made:
        """Return the synthetic table of a method, or why it cannot make one of this data.

        Args:
            method: its name.
            epsilon: ε of the whole run.
            seed: of the public randomness.
            folder: for what is dear to make; it is this result's own, may hold what an interrupted go left, and goes
                when the result is kept.
        """

    def reference(self, name: str, seed: int, *, folder: Path) -> Made:
        """Return the table of a reference; arguments as in :meth:`synthesize`."""

    def score(self, table: pa.Table, *, seed: int, complete: bool) -> dict[str, float | None]:
        """Return every score of a table against the test part; None where one is not defined.

        Args:
            table: synthetic or reference records.
            seed: of everything drawn.
            complete: whether the table has the rows of a method, so that figures that depend on their number compare.
        """

    def make_ready(self) -> None:
        """Do, once, what all results share, and drop what the last one left, so that each pays for itself alone."""
