"""What a reproduced figure consists of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from evomix.reproduction.census import States
from evomix.reproduction.texts import Texts

Verdict = bool | Literal["not comparable"]

NOT_COMPARABLE: Final = "not comparable"


@dataclass(frozen=True, slots=True)
class Request:
    """What a figure is made from.

    Attributes:
        states: the rows of each state; None for figures that read no data.
        seeds: number of repetitions, at least 1.
        quick: fewer points, for a first look and for tests.
        texts: texts with their topics; None for figures that read none.
        embedder: MODULE:FUNCTION that gives the vectors of texts; None for the default one.
    """

    states: States | None
    seeds: int
    quick: bool = False
    texts: Texts | None = None
    embedder: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the paper says, in our words, and what we found.

    Attributes:
        text: what the paper says or shows.
        supported: whether our numbers agree; "not comparable" where the paper's own numbers are not at hand.
        evidence: the numbers that decide.
    """

    text: str
    supported: Verdict
    evidence: str

    def __post_init__(self) -> None:
        """Take NumPy's truth values as Python's own, which files and verdicts know."""
        if self.supported != NOT_COMPARABLE:
            object.__setattr__(self, "supported", bool(self.supported))


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A figure as we found it.

    Attributes:
        plots: (suffix of the file's name, SVG document); the first one's suffix is empty.
        settings: what was fixed beforehand.
        numbers: what was measured, as plain values.
        header: columns of the short table.
        rows: its lines.
        claims: what the paper says and whether it holds here.
        notes: what a reader must know to read the plot rightly.
    """

    plots: tuple[tuple[str, str], ...]
    settings: Mapping[str, Any]
    numbers: Mapping[str, Any]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = field(default=())
