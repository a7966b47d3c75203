"""How far a release will be from the votes, forecast by simulating it on public stand-ins.

Nothing private enters: the stand-ins are public or made up, so a forecast costs no privacy and guarantees nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.release import Draws, NoisyVotes, Release
from evomix.experiment.stand_ins import PublicVotes, StandIn
from evomix.selection.denoising import shrunk
from evomix.selection.shares import vote_shares

_SIMULATIONS: Final = 16
_LEAST_SIMULATIONS: Final = 2
_SIMULATED_CANDIDATES: Final = 160_000
"""Candidates of all simulated releases together, where that leaves enough of them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Expected total variation from the votes.

    Attributes:
        draws_tv: of the released draws as they are; noisy votes are clipped at 0 and as many draws are made of them.
        estimate_tv: of the estimate that a run with public rows goes on with (denoising "shrunk").
    """

    draws_tv: float
    estimate_tv: float


@dataclass(frozen=True, slots=True)
class MixtureRelease:
    """A round of a mixture.

    Attributes:
        weight: β.
        draws: draws of the round.
        units: n.
        noise: gives the noise distribution, float64 (d,), beside a stand-in.
    """

    weight: float
    draws: int
    units: int
    noise: Callable[[StandIn], FloatArray]

    def simulate(self, stand_in: StandIn, rng: np.random.Generator) -> Forecast:
        """Return what one simulated release misses."""
        noise = self.noise(stand_in)
        law = (1.0 - self.weight) * stand_in.votes + self.weight * noise
        counts = rng.multinomial(self.draws, law / law.sum())
        release = Draws(counts, self.weight, noise, max(self.units, 1), prior=stand_in.public)
        return _missed(stand_in, counts / self.draws, release)


@dataclass(frozen=True, slots=True)
class VotesRelease:
    """A round of noisy votes.

    Attributes:
        stddev: σ of the noise on a vote, in units.
        draws: draws that are made of the votes, to compare with a mixture's.
        units: n.
    """

    stddev: float
    draws: int
    units: int

    def simulate(self, stand_in: StandIn, rng: np.random.Generator) -> Forecast:
        """Return what one simulated release misses."""
        units = max(self.units, 1)
        votes = units * stand_in.votes + rng.normal(0.0, self.stddev, stand_in.votes.size)
        law = np.maximum(votes, 0.0)
        total = float(law.sum())
        law = law / total if total > 0.0 else np.full(law.size, 1.0 / law.size)
        drawn = rng.multinomial(self.draws, law / law.sum()) / self.draws
        return _missed(stand_in, drawn, NoisyVotes(votes, self.stddev, units, prior=stand_in.public))


def forecast(
    release: MixtureRelease | VotesRelease, stand_ins: Sequence[StandIn], *, repeats: int = 1, seed: int = 0
) -> Forecast:
    """Return the mean of what simulated releases miss.

    Args:
        release: what a round releases.
        stand_ins: what the private votes might be, at least one.
        repeats: releases simulated on each.
        seed: of the public randomness; the same for releases that are to be compared.
    """
    rng = np.random.default_rng(seed)
    found = [release.simulate(one, rng) for one in stand_ins for _ in range(repeats)]
    return Forecast(float(np.mean([one.draws_tv for one in found])), float(np.mean([one.estimate_tv for one in found])))


def full_forecast(release: MixtureRelease | VotesRelease, public: PublicVotes, *, seed: int = 0) -> Forecast:
    """Return the forecast on all stand-ins that public votes give, as many releases as :func:`simulations` says.

    Args:
        release: what a round releases.
        public: public votes and γ.
        seed: of the public randomness; the same for releases that are to be compared.
    """
    stand_ins = public.stand_ins(np.random.default_rng(seed))
    repeats = max(simulations(public.candidates) // len(stand_ins), 1)
    return forecast(release, stand_ins, repeats=repeats, seed=seed)


def simulations(candidates: int) -> int:
    """Return how many releases a forecast simulates: few where the mean over many candidates scatters little.

    >>> simulations(1000), simulations(20_000), simulations(100_000)
    (16, 8, 2)
    """
    return min(max(_SIMULATED_CANDIDATES // candidates, _LEAST_SIMULATIONS), _SIMULATIONS)


def uniform_noise(stand_in: StandIn) -> FloatArray:
    """Return LinMix's noise distribution, float64 (d,)."""
    return np.full(stand_in.votes.size, 1.0 / stand_in.votes.size)


def _missed(stand_in: StandIn, drawn: FloatArray, release: Release) -> Forecast:
    # What runs with public rows do; without any they may choose a slower one that misses less.
    return Forecast(_distance(stand_in.votes, drawn), _distance(stand_in.votes, vote_shares(release, shrunk)))


def _distance(p: FloatArray, q: FloatArray) -> float:
    return 0.5 * float(np.abs(p - q).sum())
