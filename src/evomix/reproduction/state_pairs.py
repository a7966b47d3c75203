"""Which state plays the private part and which the public one, chosen by a rule before anything is measured.

States are ranked by their number of rows; the largest with the second, the third with the fourth and so on make
pairs, and the larger of each pair is the private one.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import InputFileError, SpecError
from evomix.privacy.noise_design import proximity
from evomix.reproduction.census import States, histogram
from evomix.reproduction.releases import Budget, total_variation

EPSILON: Final = 5.0
KEPT: Final = 0.8  # of the private state's rows; the rest tests what is trained on synthetic rows
PAIRS: Final = 3
LEAST_STATES: Final = 4
_LEAST_ROWS: Final = 20


@dataclass(frozen=True, slots=True)
class StatePair:
    """A private state, a public one, and what is known without a private row.

    Attributes:
        private: letters of the private state.
        public: letters of the public one.
        kept: int64 (n,) cells of the private rows.
        held_out: int64 cells of the private state's other rows.
        private_votes: float64 (d,) shares among ``kept``.
        public_votes: float64 (d,) shares among all rows of the public state.
        proximity: γ, the mean distance between pairs of states other than the private one.
    """

    private: str
    public: str
    kept: IntArray
    held_out: IntArray
    private_votes: FloatArray
    public_votes: FloatArray
    proximity: float

    @property
    def name(self) -> str:
        """The pair in words."""
        return f"{self.private} private, {self.public} public"

    @property
    def slug(self) -> str:
        """The pair as part of a file's name."""
        return "".join(c if c.isalnum() else "-" for c in f"{self.private}-{self.public}".lower())

    @property
    def budget(self) -> Budget:
        """ε = 5, δ = 1/n."""
        return Budget(EPSILON, 1.0 / len(self.kept), len(self.kept))

    @property
    def distance(self) -> float:
        """Total variation between private and public votes, which a private run would not know."""
        return total_variation(self.private_votes, self.public_votes)


def needed(states: States | None) -> States:
    """Return ``states``.

    Raises:
        SpecError: there are none.
        InputFileError: too few states or rows for pairs and a proximity.
    """
    if states is None:
        raise SpecError("this figure needs --data FILE, a table of states")
    short = [name for name, cells in states.cells.items() if len(cells) < _LEAST_ROWS]
    if len(states.cells) < LEAST_STATES or short:
        raise InputFileError(
            f"Expected at least {LEAST_STATES} states with {_LEAST_ROWS} rows each in {states.source!r}; "
            f"found {len(states.cells)}, too small: {', '.join(short) or 'none'}."
        )
    return states


def chosen_pairs(states: States, *, seed: int = 0, most: int = PAIRS) -> tuple[StatePair, ...]:
    """Return the pairs of neighbours in size, ``most`` at most; ``seed`` decides which rows are held out."""
    names = list(states.cells)
    couples = list(zip(names[0::2], names[1::2], strict=False))[:most]
    return tuple(pair for private, public in couples for pair in pairs_of(states, private, (public,), seed=seed))


def pairs_of(states: States, private: str, publics: tuple[str, ...], *, seed: int = 0) -> tuple[StatePair, ...]:
    """Return pairs of one private state with several public ones."""
    cells = states.cells[private]
    order = np.random.default_rng([seed, len(cells)]).permutation(len(cells))
    kept, held_out = np.split(cells[order], [round(KEPT * len(cells))])
    votes = {name: histogram(rows) for name, rows in states.cells.items() if name != private}
    spread = proximity(list(votes.values()))
    mine = histogram(kept)
    return tuple(StatePair(private, public, kept, held_out, mine, votes[public], spread) for public in publics)
