"""Public stand-ins for the private votes, on which a plan is tried out before any private record is opened."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from evomix.core.arrays import FloatArray
from evomix.core.errors import SpecError
from evomix.privacy.floor_raising import as_distribution
from evomix.privacy.noise_design import proximity as mean_distance

MOST_STAND_INS: Final = 8
"""More would only cost time: their mean is known well by then."""
MOVED_STAND_INS: Final = 5
ASSUMED_PROXIMITY: Final = 0.5
"""γ when a single histogram tells nothing about how near it is and the user does not either."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """What the private votes might be, and what would then be public.

    Attributes:
        votes: float64 (d,), stands for the private votes; sums to 1.
        public: float64 (d,), the public votes beside it; ``None`` without public data.
    """

    votes: FloatArray
    public: FloatArray | None


@dataclass(frozen=True, slots=True)
class PublicVotes:
    """What public data say of the votes.

    Attributes:
        histograms: k ≥ 1 rows of float64 (d,), each summing to 1.
        proximity: γ, how far private votes are taken to lie from public ones.
        assumed: whether γ is :data:`ASSUMED_PROXIMITY`, for want of anything that tells.
    """

    histograms: tuple[FloatArray, ...]
    proximity: float
    assumed: bool = False

    @property
    def pooled(self) -> FloatArray:
        """The mean of the histograms: what the noise is designed on."""
        return np.asarray(np.mean(self.histograms, axis=0))

    @property
    def candidates(self) -> int:
        """Number of candidates, d."""
        return self.histograms[0].size

    @property
    def moved_by(self) -> float:
        """How far the stand-ins lie from what is public beside them: γ, or of several histograms what these show."""
        return mean_distance(self.histograms) if len(self.histograms) > 1 else self.proximity

    def coarsened(self, candidates: int) -> "PublicVotes":
        """Return the votes with neighbouring entries joined to ``candidates`` of them, as even in number as can be.

        γ stays: joining candidates never takes distributions apart.
        """
        if candidates >= self.candidates:
            return self
        starts = np.arange(candidates) * self.candidates // candidates
        return replace(self, histograms=tuple(np.add.reduceat(one, starts) for one in self.histograms))

    def stand_ins(self, rng: np.random.Generator, *, most: int = MOST_STAND_INS) -> tuple[StandIn, ...]:
        """Return stand-ins for the private votes.

        Of several histograms, each in turn is held out as the private one beside the mean of the others. A single one
        is moved by γ in random directions, which assumes that the private votes differ from it here and there alike:
        mass leaves a random half of the candidates and goes to the other half, both in proportion to what they have.
        """
        k = len(self.histograms)
        if k == 1:
            public = self.histograms[0]
            some = range(min(MOVED_STAND_INS, most))
            return tuple(StandIn(_moved(public, self.proximity, rng), public) for _ in some)
        total = self.pooled * k
        held_out = range(k) if k <= most else rng.choice(k, most, replace=False)
        return tuple(
            StandIn(one, _normalised(np.maximum(total - one, 0.0))) for one in (self.histograms[i] for i in held_out)
        )


def public_votes(histograms: Any, proximity: float | str) -> PublicVotes | None:
    """Return one histogram or several as checked public votes; ``None`` for none.

    Args:
        histograms: (d,) shares, or k of them.
        proximity: γ in [0, 1]; "auto" is the mean total variation between several, 0.5 for a single one.

    Raises:
        SpecError: an entry is no distribution, the lengths differ, or one is given twice.
    """
    if histograms is None:
        return None
    rows = [
        as_distribution(row, name="public_histogram" if name is None else f"public_histogram[{name}]")
        for name, row in _rows(histograms)
    ]
    if len({row.size for row in rows}) > 1:
        raise SpecError(
            "public histograms must be over the same candidates; found lengths "
            f"{', '.join(str(row.size) for row in rows)}. Count all of them on one list of candidates"
        )
    for (first, one), (second, other) in combinations(enumerate(rows, start=1), 2):
        if np.array_equal(one, other):
            raise SpecError(
                f"public histograms {first} and {second} are the same; votes that count twice make public data look "
                "nearer to one another than they are. Give each once"
            )
    if isinstance(proximity, str):
        gamma = mean_distance(rows) if len(rows) > 1 else ASSUMED_PROXIMITY
    else:
        gamma = float(proximity)
    return PublicVotes(tuple(rows), gamma, assumed=isinstance(proximity, str) and len(rows) == 1)


def _rows(histograms: Any) -> list[tuple[int | None, FloatArray]]:
    """Return the rows that were given, with the position of each where there may be several.

    Raises:
        SpecError: they are no rows of numbers.
    """
    try:
        several = histograms if isinstance(histograms, np.ndarray) else list(histograms)
        single = len(several) > 0 and np.ndim(several[0]) == 0
        rows: list[tuple[int | None, Any]] = [(None, np.asarray(several))] if single else []
        if not single:
            rows.extend((index, np.asarray(one)) for index, one in enumerate(several))
        numbers = all(row.dtype.kind in "iuf" and row.ndim == 1 for _, row in rows)
    except (TypeError, ValueError):
        numbers = False
    if not numbers or not rows:
        raise SpecError(
            "public_histogram must be one list of shares or several such lists; found a mixture of both, or other "
            "things than numbers"
        )
    return [(index, row.astype(np.float64)) for index, row in rows]


def falling_votes(candidates: int) -> StandIn:
    """Return votes that fall off as 1/rank: a common shape, where nothing is known."""
    votes = 1.0 / np.arange(1, candidates + 1)
    return StandIn(votes / votes.sum(), None)


def _moved(public: FloatArray, amount: float, rng: np.random.Generator) -> FloatArray:
    """Return votes at total variation ``amount`` from ``public``, or as far as that goes."""
    if public.size == 1:
        return public
    order = rng.permutation(public.size)
    held = np.cumsum(public[order])
    # Half of the candidates give, or as many as hold the amount; one at least receives.
    cut = min(max(int(np.searchsorted(held, amount)) + 1, public.size // 2), public.size - 1)
    givers, takers = order[:cut], order[cut:]
    mass = float(public[givers].sum())
    amount = min(amount, mass)
    moved = public.copy()
    if mass > 0.0:
        moved[givers] *= 1.0 - amount / mass
    had = public[takers]
    moved[takers] += amount * (had / had.sum() if had.sum() > 0.0 else 1.0 / takers.size)
    return _normalised(moved)


def _normalised(masses: FloatArray) -> FloatArray:
    return np.asarray(masses / masses.sum())
