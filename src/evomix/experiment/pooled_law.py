"""The law of the final rows from all rounds of a run together: post-processing."""

from dataclasses import dataclass

import numpy as np

from evomix.core.arrays import FloatArray, Population, distinct
from evomix.core.protocols import Embedder
from evomix.evolution.state import State
from evomix.selection.pooling import pooled_shares


@dataclass(frozen=True, slots=True)
class PooledLaw:
    """What all releases say together.

    Attributes:
        candidates: (p, …) the distinct candidates of all rounds.
        shares: float64 (p,), their law.
    """

    candidates: Population
    shares: FloatArray


def pooled_law(state: State, embedder: Embedder, *, public_voters: int | None) -> PooledLaw | None:
    """Return the law of the rounds that a state keeps; ``None`` where it keeps one: that release says all.

    Args:
        state: of a run whose rounds are kept.
        embedder: the geometry of the votes.
        public_voters: number of public records that voted beside the private ones; ``None`` without any.
    """
    rounds = state.released
    if len(rounds) < 2:
        return None
    candidates = distinct(np.concatenate([one.candidates for one in rounds]))
    cells = [embedder.index(one.candidates).nearest(candidates) for one in rounds]
    return PooledLaw(candidates, pooled_shares([one.release for one in rounds], cells, public_voters=public_voters))
