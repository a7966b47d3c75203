"""The fold over rounds, saved after each one so that it can be resumed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evomix.core.arrays import Population
from evomix.core.protocols import Generator, Selection
from evomix.core.schedule import SCHEDULES
from evomix.evolution.state import STATE_FILE, State, load_state, save_state
from evomix.evolution.step import Privatise, Round, propose, step
from evomix.formats.atomic import remove_leftovers


@dataclass(frozen=True, slots=True)
class Evolution:
    """The public settings of a run.

    Attributes:
        candidates: most candidates of each round; as many entries as rounds.
        most_variations: variations of each parent, besides the parent itself, where the candidates leave room for them.
        first_scale, last_scale: how far variations go in the first and in the last round.
        schedule: name of the schedule that the scales follow.
        pooled: whether all rounds are kept, to be read together in the end. Then a round's candidates are variations
            alone: their parents were voted on, and that is not forgotten.
    """

    candidates: tuple[int, ...]
    most_variations: int
    first_scale: float = 1.0
    last_scale: float = 0.1
    schedule: str = "geometric"
    pooled: bool = False

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.candidates)

    def variations(self, round_index: int) -> int:
        """Return how many variations of each parent a round has."""
        return min(self.most_variations, self.candidates[round_index] - (not self.pooled))

    def keeps_parents(self, round_index: int) -> bool:
        """Return whether the parents are among a round's candidates."""
        return not self.pooled or not self.variations(round_index)

    def parents(self, round_index: int) -> int:
        """Return how many parents a round varies: as many as keep it within its candidates."""
        of_each = self.variations(round_index) + self.keeps_parents(round_index)
        return max(self.candidates[round_index] // of_each, 1)

    def scales(self, round_index: int) -> tuple[float, ...]:
        """Return how far each variation of a parent goes in a round."""
        return SCHEDULES[self.schedule](
            round_index, self.rounds, self.variations(round_index), first=self.first_scale, last=self.last_scale
        )


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
    describe: Callable[[int], Mapping[str, Any]] | None = None,
) -> State:
    """Run the rounds and return the last state.

    Args:
        evolution: the settings.
        initial: candidates of round 0; voted on as they are.
        generator: proposes variations.
        privatise: the private side.
        select: turns a release over candidates into parents.
        rng: public randomness.
        checkpoint: folder to save to after every round and to go on from; ``None`` keeps nothing.
        begun: rounds that were begun by an earlier, interrupted run. One that was begun but not saved is
            forfeited: its budget is spent, so it is never released again.
        on_round: called after each round that was saved.
        describe: gives the public parameters of a round's release, to be kept with the state.
    """
    state = None
    if checkpoint is not None:
        state = load_state(checkpoint)
        remove_leftovers(checkpoint / STATE_FILE)  # of a run that was killed in its last round, which saves no more
    if state is None:
        state = State(0, initial[:0], initial[:0], None, rng.bit_generator.state)
    rng.bit_generator.state = dict(state.rng_state)
    first = max([state.next_round, *(index + 1 for index in begun)])
    for index in range(first, evolution.rounds):
        candidates = _candidates(evolution, index, state, initial, generator=generator, select=select, rng=rng)
        size = evolution.parents(min(index + 1, evolution.rounds - 1))  # as many as the next round varies
        done = step(index, candidates, privatise=privatise, select=select, size=size, rng=rng)
        told = state.told if describe is None else (*state.told, {"round": index, **describe(index)})
        earlier = state.released if evolution.pooled else ()
        state = State(index + 1, done.parents, done.candidates, done.release, rng.bit_generator.state, told, earlier)
        if checkpoint is not None:
            save_state(state, checkpoint)
        if on_round is not None:
            on_round(index, done)
    return state


def _candidates(
    evolution: Evolution,
    index: int,
    state: State,
    initial: Population,
    *,
    generator: Generator,
    select: Selection,
    rng: np.random.Generator,
) -> Population:
    """Return a round's candidates, within what the round allows."""
    if state.release is None:  # in round 0, or when all rounds before were lost
        most = evolution.candidates[index]
        return initial if len(initial) <= most else initial[:most]
    parents, size = state.parents, evolution.parents(index)
    if len(parents) != size:  # they were selected for a round that was lost, and rounds differ
        parents = state.candidates[select.parents(state.release, state.candidates, size, rng)]
    return propose(
        parents,
        generator=generator,
        scales=evolution.scales(index),
        rng=rng,
        keep=evolution.keeps_parents(index),
    )
