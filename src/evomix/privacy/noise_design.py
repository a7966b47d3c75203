"""Choose the noise distribution of PubMix: near the public one, with a floor that keeps the mixing weight small.

A floor t costs worst-case distance Ψ and buys a smaller β_min(t, t); the design minimises β_min(t, t)·Ψ. Only public
numbers enter, so designing costs no privacy, and the guarantee does not depend on how well it is done: any
distribution with every mass at least t is covered by what is accounted for (t, t).
Source: PubMix, Theorem 4.2 and Remark 4.5. Proofs: docs/proofs/noise_design.md, docs/proofs/mixing.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from evomix.core.arguments import number
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError
from evomix.privacy.calibration import GRID, mixing_weight
from evomix.privacy.exact_design import ExactSearch
from evomix.privacy.floor_intervals import ACCOUNTED
from evomix.privacy.floor_raising import as_distribution
from evomix.privacy.floor_search import FloorSearch, best_raising
from evomix.privacy.worst_case import check_proximity

_LARGEST_TOTAL: Final = 2**62


@dataclass(frozen=True, slots=True)
class NoiseDesign:
    """A noise distribution and what it leads to.

    Attributes:
        distribution: float64 (d,), P_nse.
        floor: t, a multiple of 2⁻⁵³ that no mass of ``distribution`` falls below: what is accounted for.
        mixing_weight: β_min at (t, t).
        objective: β·Ψ, how far the release law can be from the votes in total variation (an upper bound).
        lower_bound: certified: no distribution with any floor (of those asked for) has a smaller objective.
        rule: how the floor was raised: "proportional_fill", "water_fill", "raise_floor" or "uniform"; "exact" where
            cutting planes found something better than these.
    """

    distribution: FloatArray
    floor: float
    mixing_weight: float
    objective: float
    lower_bound: float
    rule: str

    @property
    def gap(self) -> float:
        """Return by how much at most the objective could be smaller: ``objective − lower_bound``, at least 0."""
        return max(self.objective - self.lower_bound, 0.0)


def design_noise(
    p: ArrayLike,
    *,
    proximity: float,
    epsilon: float,
    delta: float,
    n: int,
    draws: int,
    method: str = "closed_form",
    floors: Sequence[float] | None = None,
    tolerance: float = 1e-6,
    time_limit_s: float = 60.0,
) -> NoiseDesign:
    """Return the noise distribution with the least worst-case distance β·Ψ, and a bound that nothing beats.

    ``closed_form``: at each floor the best of three floor raisings is taken; floors are scanned on a logarithmic grid
    up to 1/d, where the result is uniform (LinMix), then refined around the best by golden section: at most 23 values
    of β, and 24 for the bound. So the design is never worse than LinMix. Under a second at d = 10⁵.

    ``exact``: starts from there and searches all distributions with all floors by cutting planes, until the relative
    gap is ``tolerance`` (PubMix, Theorem 4.2). For up to 384 different masses in ``p`` only time limits that; beyond,
    similar masses are treated alike and the gap that remains is stated. Never worse than the closed form, and its
    bound holds however it ended. Public arithmetic; costs no privacy.

    Args:
        p: (d,) public distribution, for instance normalised public votes.
        proximity: γ in [0, 1], how far private votes may lie from ``p`` (total variation). 1 gives the uniform.
        epsilon: ε > 0.
        delta: δ in (0, 1).
        n: number of private units.
        draws: draws over all rounds.
        method: "closed_form" or "exact".
        floors: floors to choose among, in (0, 1/d]; ``None`` searches all. Objective and bound are then over these.
        tolerance: relative gap that ends the exact search, in [1e-7, 1).
        time_limit_s: seconds after which the exact search returns the best so far with its gap. The closed form, which
            comes first, is not limited: it needs up to 47 values of β, at most 0.1 s each but for n ≪ draws.

    Raises:
        SpecError: an argument is out of range.
    """
    _check_search(method, tolerance, time_limit_s)
    check_proximity(proximity)
    public = as_distribution(p)
    floors = None if floors is None else [number("floors", floor) for floor in floors]

    def weight(floor: float) -> float:
        return mixing_weight(epsilon, delta, n=n, draws=draws, floor=floor)

    search = FloorSearch(public, proximity=proximity, weight=weight)
    uniform = floors is None and proximity >= 1.0  # then uniform noise is optimal (Corollary 4.6)
    if floors is not None:
        best = search.among(floors)
    else:
        best = search.among([1.0 / public.size]) if uniform else search.best()
    closed = NoiseDesign(
        distribution=best.raised(public),
        floor=best.floor,
        mixing_weight=best.weight,
        objective=best.objective,
        lower_bound=search.lower_bound(continuous=floors is None),
        rule=best.rule,
    )
    if method == "closed_form" or closed.gap <= tolerance * closed.objective:
        return closed
    exact = ExactSearch(
        public,
        proximity=proximity,
        weight=weight,
        known=search.weights,
        objective=closed.objective,
        tolerance=tolerance - 2.0 * (1.0 - ACCOUNTED),
        time_limit_s=time_limit_s,
    )
    with threadpool_limits(1, user_api="blas"):  # matrices so small that more threads only wait for one another
        if floors is None:
            exact.everywhere(closed.floor)
        else:
            exact.among(list(search.weights))
    return _better(closed, exact, tolerance)


def conform(p: ArrayLike, *, floor: float, proximity: float) -> FloatArray:
    """Return ``p`` raised to a given floor, float64 (d,), by the rule with the smallest worst case.

    For later rounds of a run, whose β and floor are fixed. Public arithmetic; costs no privacy.

    Args:
        p: (d,) public distribution.
        floor: t in [0, 1/d].
        proximity: γ in [0, 1].

    Raises:
        SpecError: an argument is out of range.
    """
    return best_raising(as_distribution(p), floor=floor, proximity=proximity)[1]


def to_weights(distribution: ArrayLike, *, floor: float, total: int = GRID) -> IntArray:
    """Return integer weights near ``distribution``, int64 (d,), that sum to ``total`` exactly.

    Every weight is at least ``⌈floor·total⌉`` in exact arithmetic, so sampling by weight gives every candidate at
    least the mass that is accounted for. What lies above that is shared out by largest remainder (ties: lowest
    position first). O(d). Public arithmetic; costs no privacy.

    Args:
        distribution: (d,) distribution, no mass below ``floor`` (but for rounding).
        floor: t in [0, 1/d].
        total: what the weights sum to, in 1..2⁶².

    Raises:
        SpecError: an argument is out of range, or ``d·⌈floor·total⌉`` exceeds ``total``.
    """
    masses = as_distribution(distribution, name="distribution")
    if not 1 <= total <= _LARGEST_TOTAL or not 0.0 <= floor <= 1.0:
        raise SpecError(f"total must lie in 1..2^62 and floor in [0, 1], found total={total!r}, floor={floor!r}")
    if masses.min() < floor * (1.0 - 1e-9):
        raise SpecError(f"distribution has masses below floor={floor!r}; raise it with conform() first")
    least = math.ceil(Fraction(floor) * total)
    spare = total - masses.size * least
    if spare < 0:
        raise SpecError(
            f"{masses.size} candidates cannot each weigh at least ceil(floor*total)={least} within total={total}; "
            f"lower floor={floor!r} to at most floor(total/d)/total"
        )
    return least + _shared(spare, np.maximum(masses - floor, 0.0))


def proximity(distributions: Sequence[ArrayLike] | FloatArray) -> float:
    """Return γ: the mean total variation between pairs of public distributions.

    Args:
        distributions: k ≥ 2 distributions over the same d candidates.

    Raises:
        SpecError: fewer than two, of different lengths, or no distributions.
    """
    rows = [as_distribution(p, name=f"distributions[{i}]") for i, p in enumerate(distributions)]
    k = len(rows)
    if k < 2 or len({row.size for row in rows}) != 1:
        raise SpecError(f"proximity needs two or more distributions of one length, found {[r.size for r in rows]}")
    # Sorted per candidate, the r-th smallest of k is the larger in r pairs and the smaller in k−1−r.
    ranks = 2.0 * np.arange(k) - (k - 1)
    spread = float((ranks @ np.sort(np.stack(rows), axis=0)).sum())
    return min(max(spread / (k * (k - 1)), 0.0), 1.0)


def proximity_of_folds(assignments: IntArray, candidates: int, *, folds: int = 5, rng: np.random.Generator) -> float:
    """Return γ from one public data set: the mean total variation between the votes of random folds.

    The sampling noise of a fold counts as distance, which errs towards a larger γ.

    Args:
        assignments: int64 (l,), the candidate each public record votes for.
        candidates: number of candidates d.
        folds: number of folds, 2..l; their sizes differ by at most one.
        rng: public randomness.

    Raises:
        SpecError: too few records or folds, or an assignment outside 0..d−1.
    """
    votes = np.asarray(assignments)
    if not 2 <= folds <= votes.size:
        raise SpecError(f"folds must lie in 2..{votes.size} (the number of public records), found folds={folds}")
    if votes.min() < 0 or votes.max() >= candidates:
        raise SpecError(f"assignments must lie in 0..candidates-1, found candidates={candidates}")
    fold = np.arange(votes.size) % folds
    counts = np.bincount(fold * candidates + rng.permutation(votes), minlength=folds * candidates)
    histograms = counts.reshape(folds, candidates) / np.bincount(fold)[:, None]
    return proximity(histograms)


def _shared(spare: int, excess: FloatArray) -> IntArray:
    """Share ``spare`` out in proportion to ``excess``, exactly."""
    size = excess.size
    total = float(excess.sum())
    ideal = excess / total * spare if total > 0.0 else np.zeros(size)
    # Shrinking by 2⁻⁴⁷, more than all rounding here, keeps the sum of the whole parts at or below spare.
    ideal *= 1.0 - 2.0**-47
    whole = np.floor(ideal).astype(np.int64)
    all_get, some_get = divmod(spare - int(whole.sum()), size)
    whole += all_get
    remainder = ideal - np.floor(ideal)
    if some_get:
        threshold = np.partition(remainder, size - some_get)[size - some_get]
        above = remainder > threshold
        ties = np.flatnonzero(remainder == threshold)[: some_get - int(np.count_nonzero(above))]
        whole[above] += 1
        whole[ties] += 1
    return whole


def _better(closed: NoiseDesign, exact: ExactSearch, tolerance: float) -> NoiseDesign:
    """Return the closed form where the bound shows that it is optimal to the tolerance, else the better; one bound."""
    lower, found = max(closed.lower_bound, exact.lower * ACCOUNTED), exact.design
    if found is None or closed.objective - lower <= tolerance * closed.objective:
        return replace(closed, lower_bound=min(lower, closed.objective))
    return NoiseDesign(
        distribution=found.distribution,
        floor=found.floor,
        mixing_weight=found.weight,
        objective=found.objective,
        lower_bound=min(lower, found.objective),
        rule="exact",
    )


def _check_search(method: str, tolerance: float, time_limit_s: float) -> None:
    if method not in {"closed_form", "exact"}:
        raise SpecError(f"method must be 'closed_form' or 'exact', found method={method!r}")
    if not 1e-7 <= number("tolerance", tolerance) < 1.0:
        raise SpecError(f"tolerance is a relative gap in [1e-7, 1), found tolerance={tolerance!r}")
    if not number("time_limit_s", time_limit_s) >= 0.0:
        raise SpecError(f"time_limit_s must be at least 0, found time_limit_s={time_limit_s!r}")
