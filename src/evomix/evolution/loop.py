"""The fold over rounds, saved after each one so that it can be resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evomix.core.arrays import Population
from evomix.core.protocols import Generator, Selection
from evomix.core.schedule import geometric_scale
from evomix.evolution.state import State, load_state, save_state
from evomix.evolution.step import Privatise, Round, propose, step


@dataclass(frozen=True, slots=True)
class Evolution:
    """The public settings of a run.

    Attributes:
        rounds: T.
        size: number of parents carried from round to round.
        variations: variations of each parent per round, besides the parent itself.
        first_scale, last_scale: how far variations go in the first and in the last round.
    """

    rounds: int
    size: int
    variations: int
    first_scale: float = 1.0
    last_scale: float = 0.1

    def scale(self, round_index: int) -> float:
        """Return how far the variations of a round go."""
        return geometric_scale(round_index, self.rounds, first=self.first_scale, last=self.last_scale)


def evolve(
    evolution: Evolution,
    initial: Population,
    *,
    generator: Generator,
    privatise: Privatise,
    select: Selection,
    rng: np.random.Generator,
    checkpoint: Path | None = None,
    begun: frozenset[int] = frozenset(),
    on_round: Callable[[int, Round], None] | None = None,
) -> State:
    """Run the rounds and return the last state.

    Args:
        evolution: the settings.
        initial: candidates of round 0; voted on as they are.
        generator: proposes variations.
        privatise: the private side.
        select: turns a release into parents.
        rng: public randomness.
        checkpoint: folder to save to after every round and to go on from; ``None`` keeps nothing.
        begun: rounds that were begun by an earlier, interrupted run. One that was begun but not saved is
            forfeited: its budget is spent, so it is never released again.
        on_round: called after each round that was saved.
    """
    state = load_state(checkpoint) if checkpoint is not None else None
    if state is None:
        state = State(0, initial[:0], initial[:0], None, rng.bit_generator.state)
    rng.bit_generator.state = dict(state.rng_state)
    first = max([state.next_round, *(index + 1 for index in begun)])
    for index in range(first, evolution.rounds):
        if state.release is None:
            candidates = initial
        else:
            candidates = propose(
                state.parents,
                generator=generator,
                scale=evolution.scale(index),
                variations=evolution.variations,
                rng=rng,
            )
        done = step(index, candidates, privatise=privatise, select=select, size=evolution.size, rng=rng)
        state = State(index + 1, done.parents, done.candidates, done.release, rng.bit_generator.state)
        if checkpoint is not None:
            save_state(state, checkpoint)
        if on_round is not None:
            on_round(index, done)
    return state
