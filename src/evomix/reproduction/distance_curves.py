"""How far from the private votes each mechanism ends, against the number m of synthetic rows: Figures 1(d) and 4.

Figure 1(d) looks at the law from which rows are drawn, Figure 4 at the rows themselves, whose own sampling noise
comes on top. Figures that read real rows have no guarantee; they are for data declared public.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evomix.reproduction.census import CELLS, States
from evomix.reproduction.releases import Mixture, ReleaseLaw, gaussian, linmix, pubmix, total_variation
from evomix.reproduction.state_pairs import StatePair, pairs_of

SHARES: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
QUICK_SHARES: Final = (0.01, 0.1, 1.0)
MIDDLE: Final = 0.1  # m = n/10, where the mechanisms are compared

PUBMIX: Final = "PubMix"
LINMIX: Final = "LinMix"
GAUSSIAN: Final = "Gaussian"
THRESHOLDED: Final = "Gaussian above a threshold (ours)"
PUBLIC: Final = "public rows as they are"
REAL: Final = "private rows as they are"
MECHANISMS: Final = (PUBMIX, LINMIX, GAUSSIAN)
LAW_CURVES: Final = (*MECHANISMS, THRESHOLDED, PUBLIC)
ROW_CURVES: Final = (*LAW_CURVES, REAL)


@dataclass(frozen=True, slots=True)
class Distances:
    """Total variation to the private votes at each m.

    Attributes:
        draws: the numbers m, ascending.
        mean: by curve, the mean over repetitions at each m.
        spread: by curve, their standard deviation at each m; 0 where nothing is random.
        designs: what PubMix and LinMix used at each m.
    """

    draws: tuple[int, ...]
    mean: Mapping[str, tuple[float, ...]]
    spread: Mapping[str, tuple[float, ...]]
    designs: tuple[Mapping[str, Any], ...]

    def at(self, curve: str, draws: int) -> float:
        """Return the mean of ``curve`` at one of the m."""
        return self.mean[curve][self.draws.index(draws)]


def draws_of(pair: StatePair, shares: tuple[float, ...]) -> tuple[int, ...]:
    """Return the numbers m for a pair, distinct and ascending."""
    return tuple(sorted({max(1, round(share * pair.budget.n)) for share in shares}))


def middle(pair: StatePair) -> int:
    """Return m = n/10."""
    return draws_of(pair, (MIDDLE,))[0]


def mixtures_at(pair: StatePair, draws: int) -> dict[str, Mixture]:
    """Return the mixing mechanisms for ``draws`` rows: n, γ and public votes decide, no private row does."""
    return {
        PUBMIX: pubmix(pair.public_votes, pair.budget, proximity=pair.proximity, draws=draws),
        LINMIX: linmix(CELLS, pair.budget, draws=draws),
    }


def law_of(curve: str, pair: StatePair, mixtures: Mapping[str, Mixture], rng: np.random.Generator) -> ReleaseLaw:
    """Return the law from which ``curve`` draws rows; ``rng`` is used by the noisy histograms only."""
    if curve in mixtures:
        return mixtures[curve].law(pair.private_votes)
    if curve in {GAUSSIAN, THRESHOLDED}:
        return gaussian(pair.private_votes, pair.budget, rng, thresholded=curve == THRESHOLDED)
    return ReleaseLaw(pair.public_votes if curve == PUBLIC else pair.private_votes, {})


def distances(
    pair: StatePair, *, shares: tuple[float, ...], seeds: int, curves: tuple[str, ...], drawn: bool
) -> Distances:
    """Return the distances of ``curves`` for one pair of states.

    Args:
        pair: the two states.
        shares: the numbers m as shares of n.
        seeds: repetitions.
        curves: which laws to look at.
        drawn: whether to draw m rows from each law, or to look at the law itself.
    """
    all_draws = draws_of(pair, shares)
    values = {curve: np.empty((len(all_draws), seeds)) for curve in curves}
    designs = []
    for k, draws in enumerate(all_draws):
        mixtures = mixtures_at(pair, draws)
        designs.append({"draws": draws} | {name: mixture.parameters for name, mixture in mixtures.items()})
        for seed in range(seeds):
            for j, curve in enumerate(curves):
                # One stream for each (repetition, m, curve): a curve does not depend on which others are drawn.
                rng = np.random.default_rng([seed, draws, j])
                law = law_of(curve, pair, mixtures, rng)
                reached = law.draw(draws, rng) if drawn else law.distribution
                values[curve][k, seed] = total_variation(pair.private_votes, reached)
    degrees = 1 if seeds > 1 else 0
    return Distances(
        draws=all_draws,
        mean={curve: tuple(found.mean(axis=1).tolist()) for curve, found in values.items()},
        spread={curve: tuple(found.std(axis=1, ddof=degrees).tolist()) for curve, found in values.items()},
        designs=tuple(designs),
    )


def all_ordered_pairs(states: States, *, drawn: bool) -> list[dict[str, Any]]:
    """Return one line for each ordered pair of states: its distances at m = n/10, one repetition."""
    lines = []
    for private in states.cells:
        publics = tuple(name for name in states.cells if name != private)
        for pair in pairs_of(states, private, publics):
            found = distances(pair, shares=(MIDDLE,), seeds=1, curves=(*MECHANISMS, THRESHOLDED), drawn=drawn)
            line = {"private": private, "public": pair.public, "n": pair.budget.n, "proximity": pair.proximity}
            lines.append(
                line | {"distance": pair.distance} | {curve: values[0] for curve, values in found.mean.items()}
            )
    return lines
