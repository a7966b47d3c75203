"""Votes made private, simulated: the product's parameters, seeded randomness, no ledger.

A mechanism is set up before it meets a vote, for all rounds together, under replace-one neighbours.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from evomix.core.arrays import FloatArray, IntArray
from evomix.core.release import Draws, NoisyVotes, Release
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.mechanisms.linmix import linmix
from evomix.privacy.mechanisms.mixture import Mixture
from evomix.privacy.mechanisms.pubmix import public_weights, pubmix
from evomix.privacy.noise_design import proximity_of_folds
from evomix.reproduction.releases import ADJACENCY, Budget

GAUSSIAN: Final = "Gaussian"
LINMIX: Final = "LinMix"
PUBMIX: Final = "PubMix"

Privatise = Callable[[FloatArray, FloatArray, np.random.Generator], Release]
"""From the private votes for each candidate and the public ones, both (d,), to a release."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run may release.

    Attributes:
        budget: ε, infinite for votes without noise; δ; n.
        rounds: T.
        draws: draws a round of the mixing mechanisms.
        candidates: most candidates of a round.
    """

    budget: Budget
    rounds: int
    draws: int
    candidates: int

    @property
    def free(self) -> bool:
        """Whether there is no budget to keep to."""
        return math.isinf(self.budget.epsilon)


def gaussian(spending: Spending) -> Privatise:
    """Return Gaussian noise on the votes of every candidate."""
    stddev = 0.0
    if not spending.free:
        budget = spending.budget
        stddev = gaussian_stddev(budget.epsilon, budget.delta, rounds=spending.rounds, adjacency=ADJACENCY)

    def privatise(votes: FloatArray, public: FloatArray, rng: np.random.Generator) -> Release:
        del public
        return NoisyVotes(votes + rng.normal(0.0, stddev, votes.size), stddev, spending.budget.n)

    return privatise


def uniform_mixing(spending: Spending) -> Privatise:
    """Return LinMix: draws from the votes mixed with the uniform distribution."""
    n, draws = spending.budget.n, spending.draws
    weight = 0.0
    if not spending.free:
        weight = linmix(
            spending.budget.epsilon,
            spending.budget.delta,
            units=n,
            draws=spending.rounds * draws,
            candidates=spending.candidates,
        ).mixing_weight

    def privatise(votes: FloatArray, public: FloatArray, rng: np.random.Generator) -> Release:
        del public
        return _drawn(votes, weight, np.full(votes.size, 1.0 / votes.size), draws, rng)

    return privatise


def public_mixing(spending: Spending, nearest: IntArray, candidates: int, rng: np.random.Generator) -> Privatise:
    """Return PubMix: draws from the votes mixed with public votes, designed on those of the first round.

    Args:
        spending: what may be released.
        nearest: int64 (l,), the candidate of the first round nearest to each public text.
        candidates: number of candidates of the first round.
        rng: public randomness; γ is the mean total variation between random fifths of the public votes.
    """
    draws = spending.draws
    gamma = proximity_of_folds(nearest, candidates, rng=rng)
    mixture = None if spending.free else _designed(spending, nearest, candidates, gamma)

    def privatise(votes: FloatArray, public: FloatArray, rng: np.random.Generator) -> Release:
        shares = public / public.sum()
        if mixture is None:
            return _drawn(votes, 0.0, shares, draws, rng, prior=shares)
        weights = public_weights(shares, mixture=mixture, proximity=gamma)
        return _drawn(votes, mixture.mixing_weight, weights / weights.sum(), draws, rng, prior=shares)

    return privatise


def _designed(spending: Spending, nearest: IntArray, candidates: int, gamma: float) -> Mixture:
    budget = spending.budget
    shares = np.bincount(nearest, minlength=candidates) / len(nearest)
    # Later rounds may have more candidates than the first, and each needs the floor's mass: none goes above 1/d.
    padded = np.concatenate([shares, np.zeros(spending.candidates - candidates)])
    return pubmix(
        budget.epsilon,
        budget.delta,
        units=budget.n,
        draws=spending.rounds * spending.draws,
        public=padded,
        proximity=gamma,
    )


def _drawn(
    votes: FloatArray,
    weight: float,
    noise: FloatArray,
    draws: int,
    rng: np.random.Generator,
    *,
    prior: FloatArray | None = None,
) -> Draws:
    units = int(votes.sum())
    law = (1.0 - weight) * votes / units + weight * noise
    counts = rng.multinomial(draws, law / law.sum()).astype(np.int64)
    return Draws(counts, weight, noise, units, prior)
