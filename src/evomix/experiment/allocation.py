"""How a budget is laid out: draws, rounds, and as many candidates as the votes can tell apart."""

import math
from collections.abc import Sequence
from typing import Final

from evomix.experiment.per_round import MIXING
from evomix.privacy.calibration import mixing_weight
from evomix.privacy.gaussian_accounting import gaussian_stddev
from evomix.privacy.laplace_accounting import laplace_scale
from evomix.privacy.mechanisms.linmix import uniform_mass

ROUNDS: Final = 2
"""Rounds when the first candidates are public records and the budget is small."""
PLENTY, RICH = 0.08, 0.3
"""Worth of a round, as a share of the table, from which twice and four times as many rounds pay."""
BLIND_ROUNDS: Final = 16
"""Rounds when they can only be made up from the schema, and have a longer way to go; also when all are pooled, and none
is spent in vain."""
VARIATIONS: Final = 3
POOLED_VARIATIONS: Final = 1
DRAWS_PER_UNIT: Final = 2
"""Draws planned per private unit: more still help the estimate, but less and less."""
LEAST_DRAWS, MOST_DRAWS = 500, 100_000
SIZES: Final = (30, 100, 200, 500, 1000, 2000, 3000, 5000, 8000, 12_000, 20_000)
SIGNAL_PER_CANDIDATE: Final = 0.1
"""Effective noise-free draws per candidate and round below which more candidates only add noise."""
POOLED_SIGNAL: Final = 0.02
"""The same where all rounds are pooled, and neighbours speak for one another."""
POOLED_CANDIDATES: Final = 5000
"""Most candidates then: the time grows with the square of the rounds. Measured: benchmarks/pooling.py."""


def default_delta(n: int) -> float:
    """Return the δ of a run that names none: 1/(n ln n), and never above 10⁻⁶. n is public."""
    return min(1e-6, 1.0 / (n * math.log(n))) if n > 1 else 1e-6


def default_draws(n: int, rounds: int | None = None) -> int:
    """Return the draws of a run that names none, over all its rounds, of which each has one at least."""
    return max(min(max(DRAWS_PER_UNIT * n, LEAST_DRAWS), MOST_DRAWS), rounds or 0)


def default_variations(*, pooled: bool) -> int:
    """Return the variations of each parent: one where all rounds are pooled, as then parents are many."""
    return POOLED_VARIATIONS if pooled else VARIATIONS


def split_draws(total: int, rounds: int) -> tuple[int, ...]:
    """Return ``total`` draws spread evenly over ``rounds`` rounds.

    >>> split_draws(10, 3)
    (4, 3, 3)
    """
    return tuple(total // rounds + (index < total % rounds) for index in range(rounds))


def draws_of(names: Sequence[str], total: int) -> tuple[int, ...]:
    """Return the draws of each round, spread evenly over those that draw; 0 for the others.

    >>> draws_of(["linmix", "gaussian", "linmix"], 7)
    (4, 0, 3)
    """
    mixing = [name in MIXING for name in names]
    shares = iter(split_draws(total, sum(mixing)) if any(mixing) else ())
    return tuple(next(shares) if draws else 0 for draws in mixing)


def signal_of(
    mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, rounds: int, candidates: int
) -> float:
    """Return a round's worth in noise-free draws, at the uniform noise distribution.

    m draws with a share β of noise estimate a vote share as well as m·(1−β)² draws without noise; a histogram with
    noise σ on each of d counts as well as n²/(d·σ²) draws.
    """
    if mechanism in MIXING:
        weight = mixing_weight(epsilon, delta, n=max(n, 1), draws=draws, floor=uniform_mass(candidates))
        return draws / rounds * (1.0 - weight) ** 2
    return votes_signal(mechanism, noise_of(mechanism, epsilon=epsilon, delta=delta, rounds=rounds), n, candidates)


def votes_signal(mechanism: str, noise: float, n: int, candidates: int) -> float:
    """Return what noisy votes are worth in noise-free draws: n²/(d·σ²)."""
    spread = noise * (math.sqrt(2.0) if mechanism == "laplace" else 1.0)
    return float(n) ** 2 / (candidates * spread**2)


def noise_of(mechanism: str, *, epsilon: float, delta: float, rounds: int) -> float:
    """Return the noise of a histogram mechanism on a vote under replace-one, in units."""
    if mechanism == "gaussian":
        return gaussian_stddev(epsilon, delta, rounds=rounds, adjacency="replace-one")
    return laplace_scale(epsilon, delta, rounds=rounds, adjacency="replace-one")


def choose_candidates(
    mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, rounds: int, pooled: bool = False
) -> int:
    """Return the largest number of candidates whose votes still stand out of the noise, in a round or of all pooled."""
    pooled = pooled and rounds > 1  # of one round there is nothing to pool
    chosen, least = SIZES[0], POOLED_SIGNAL if pooled else SIGNAL_PER_CANDIDATE
    for size in SIZES[1:]:
        signal = signal_of(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=rounds, candidates=size)
        if signal < least * size or (pooled and size > POOLED_CANDIDATES):
            break
        chosen = size
    return chosen


def default_rounds(
    mechanism: str, *, n: int, epsilon: float, delta: float, draws: int, candidates: int | None, informed: bool
) -> int:
    """Return T: few rounds where each is noisy, more where the votes can lead further from the first candidates."""
    if not informed:
        return min(BLIND_ROUNDS, draws)
    size = candidates
    if size is None:
        size = choose_candidates(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=ROUNDS)
    signal = signal_of(mechanism, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=ROUNDS, candidates=size)
    worth = signal / max(n, 1)
    return min(ROUNDS * (4 if worth >= RICH else 2 if worth >= PLENTY else 1), draws)


def allocate(
    names: Sequence[str],
    sizes: Sequence[int] | None,
    rounds: int | None,
    *,
    n: int,
    epsilon: float,
    delta: float,
    draws: int,
    domain_size: float,
    informed: bool,
    pooled: bool,
) -> tuple[int, ...]:
    """Return the most candidates of each round; as many entries as rounds.

    Args:
        names: the mechanism of every round, or one for all.
        sizes: most candidates of every round, or one for all; ``None`` is to be chosen: the least that any of the
            mechanisms tells apart.
        rounds: T if it is given; else it is chosen, and is 1 when the candidates are all possible records.
        n: private units.
        epsilon: ε of all rounds.
        delta: δ of all rounds.
        draws: draws over all rounds.
        domain_size: number of possible records, if it is finite.
        informed: whether the first candidates are public records.
        pooled: whether rows are made of all releases together.
    """

    def told_apart(rounds: int) -> int:
        return min(
            choose_candidates(name, n=n, epsilon=epsilon, delta=delta, draws=draws, rounds=rounds, pooled=pooled)
            for name in dict.fromkeys(names)
        )

    if rounds is None and domain_size <= (told_apart(1) if sizes is None else max(sizes)):
        return (int(domain_size),)
    if rounds is None:
        most = None if sizes is None else max(sizes)
        rounds = default_rounds(
            names[0],
            n=n,
            epsilon=epsilon,
            delta=delta,
            draws=draws,
            candidates=most,
            informed=informed and not pooled,
        )
    if sizes is None:
        sizes = (told_apart(rounds),)
    capped = [int(min(size, domain_size)) for size in sizes]
    return tuple(capped * rounds if len(capped) == 1 else capped)
