"""Which events to count: chosen beforehand, on a simulation of the claimed law, so from public parameters alone.

The events are ``loss > c``. With exact probabilities the best c is the mechanism's own ε at δ; with counted ones a
lower c has more hits and loses less to chance. That event suits a mechanism that keeps its claim. One with too little
noise may give it rarely on either side, as its losses crowd around their mean; two lower thresholds are there for
those.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.audit.claim import Event, epsilon_bounds, seen_from
from evomix.audit.release import SIDES, Release, Side
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

SHARES: Final = (0.5, 0.2)
"""How often the loss exceeds the two lower thresholds on its likely side, if the claim is exact."""

_SIMULATED: Final = 2**19
_BATCH: Final = 2**17
_LEVELS: Final = 512
_LARGEST_LOG: Final = 50.0  # a weight beyond e^50 marks a threshold that nobody wants
_SEED: Final = 0  # fixed: the events are a function of the claim


@dataclass(frozen=True, slots=True)
class Forecast:
    """Losses simulated from the claimed law, for each side as seen from it, in falling order; float64 (simulated,)."""

    losses: tuple[FloatArray, FloatArray]

    def best(self, likely: Side, delta: float, *, trials: int, mistake: float) -> tuple[Event, float]:
        """Return the event that promises the largest lower bound on ε at ``delta``, and that bound.

        The simulated losses give the event's probability on the likely side; weighted with e^(−loss) they give that
        on the other.
        """
        losses = self.losses[likely]
        last = _ends_of_runs(losses)
        if not last.size:
            return Event(likely, float(losses[0])), 0.0
        last = last[np.unique(np.searchsorted(last, np.geomspace(1, losses.size, _LEVELS)).clip(0, last.size - 1))]
        share = (last + 1.0) / losses.size
        other = np.cumsum(np.exp(np.minimum(-losses, _LARGEST_LOG)))[last] / losses.size
        bounds = epsilon_bounds(
            trials * share, trials * np.minimum(other, share), trials=trials, delta=delta, mistake=mistake
        )
        best = int(np.argmax(bounds))
        return Event(likely, _after(losses, int(last[best]))), float(bounds[best])

    def exceeded(self, likely: Side, share: float) -> Event:
        """Return the event with about this probability on its likely side."""
        losses = self.losses[likely]
        last = _ends_of_runs(losses)
        if not last.size:
            return Event(likely, float(losses[0]))
        return Event(likely, _after(losses, int(last[np.argmin(np.abs(last + 1.0 - share * losses.size))])))

    def expected(self, delta: float, *, trials: int, mistake: float) -> float:
        """Return about what a mechanism that keeps its claim with nothing to spare shows at ``delta``."""
        return max(self.best(side, delta, trials=trials, mistake=mistake)[1] for side in SIDES)

    def events(self, deltas: Sequence[float], *, trials: int, mistake: float) -> list[Event]:
        """Return the events to count: every one of them gives a bound at every δ."""
        return [
            event
            for side in SIDES
            for event in (
                *(self.best(side, delta, trials=trials, mistake=mistake)[0] for delta in deltas),
                *(self.exceeded(side, share) for share in SHARES),
            )
        ]


def forecast(releases: Sequence[Release]) -> Forecast:
    """Simulate a run of ``releases`` as claimed; the sampling code has no part in it."""
    rng = np.random.default_rng(_SEED)

    def simulated(side: Side) -> FloatArray:
        parts = [
            np.sum([release.claimed_losses(side, _BATCH, rng) for release in releases], axis=0)
            for _ in range(_SIMULATED // _BATCH)
        ]
        return np.sort(seen_from(side, np.concatenate(parts)))[::-1]

    return Forecast((simulated(0), simulated(1)))


def mistake_rate(confidence: float, *, deltas: int) -> float:
    """Return the chance of error left to each bound, so that all are right with probability ``confidence``.

    Raises:
        SpecError: confidence outside (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise SpecError(f"confidence must lie strictly between 0 and 1, such as 0.999; found confidence={confidence!r}")
    events = len(SIDES) * (deltas + len(SHARES))
    return (1.0 - confidence) / (2 * events)


def _ends_of_runs(losses: FloatArray) -> IntArray:
    """Return where a run of equal losses ends, but for the last one, int64 (runs − 1,)."""
    return np.flatnonzero(losses[:-1] > losses[1:])


def _after(losses: FloatArray, position: int) -> float:
    """Return a threshold between a loss and the next smaller one."""
    return float(losses[position] + losses[position + 1]) / 2.0
