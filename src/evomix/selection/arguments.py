"""What selections on points accept: where candidates lie, their votes, and how many are to be selected how far apart.

Beyond the bounds here squared distances, or costs in votes times distance, would overflow.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evomix.core.arguments import number, real_array
from evomix.core.arrays import FloatArray, IntArray
from evomix.core.errors import SpecError

LARGEST: Final = 1e150
"""Most that a coordinate may be in size, and most that the sizes of all votes may sum to."""


def vectors(points: ArrayLike) -> NDArray[Any]:
    """Return points as float32 (n, k), if they are that, else as float64.

    Raises:
        SpecError: they are not real numbers (n, k), or a coordinate is not finite or beyond 1e150 in size.
    """
    given = real_array("points", points)
    if given.ndim != 2:
        raise SpecError(f"expected points (n, k), got shape={given.shape}; a single number each as (n, 1)")
    found = given if given.dtype == np.float32 else _doubles(given)
    if not max(float(found.max(initial=0.0)), -float(found.min(initial=0.0))) <= LARGEST:  # so written, NaN fails too
        raise SpecError(f"expected finite points, no coordinate beyond {LARGEST:g} in size; mend or scale the others")
    return found


def signed_votes(votes: ArrayLike, count: int) -> FloatArray:
    """Return the votes of ``count`` points, float64 (count,).

    Raises:
        SpecError: they are not so many real numbers, not finite, or their sizes sum to more than 1e150.
    """
    found = _doubles(real_array("votes", votes))
    if found.shape != (count,):
        raise SpecError(f"expected points (n, k) and votes (n,), got {count} points and votes of shape={found.shape}")
    if not total(found) <= LARGEST:
        raise SpecError(f"expected finite votes whose sizes sum to at most {LARGEST:g}; found infinity, NaN or more")
    return found


def total(votes: FloatArray) -> float:
    """Return the sum of the sizes of votes: NaN or infinity where one is that, or where the sum overflows."""
    with np.errstate(over="ignore"):
        return float(np.abs(votes).sum())


def reach(radius: Any) -> float:
    """Return R as a float, above 0; infinity truncates nothing.

    Raises:
        SpecError: it is no such number.
    """
    found = number("radius", radius)
    if not found / 3.0 > 0.0:  # the cap, which the smallest of floats would round to 0
        raise SpecError(f"expected a radius above 0, got radius={radius}; infinity truncates nothing")
    return found


def thresholds(threshold: ArrayLike, count: int) -> FloatArray:
    """Return τ, float64 of shape () or (count,); either infinity is allowed.

    Raises:
        SpecError: it is neither one number nor one for each candidate, or NaN.
    """
    found = _doubles(real_array("threshold", threshold))
    if found.shape not in {(), (count,)} or np.isnan(found).any():
        raise SpecError(f"expected a threshold, one number or one for each of {count} votes, got {threshold!r}")
    return found


def positions(name: str, given: ArrayLike, count: int) -> IntArray:
    """Return distinct positions among ``count`` candidates, int64 (m,); there may be none.

    Raises:
        SpecError: they are not whole numbers (m,), one stands there twice or is not from 0 to count − 1.
    """
    found = real_array(name, given)
    if found.shape == (0,):  # NumPy's type of nothing is a float
        return np.empty(0, np.int64)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise SpecError(f"expected {name} as integers (m,), got type={found.dtype} of shape={found.shape}")
    if not 0 <= found.min() <= found.max() < count:
        raise SpecError(f"expected {name} from 0 to {count - 1}, got {found.min()} to {found.max()}")
    if np.unique(found).size != found.size:
        raise SpecError(f"expected {name} as distinct positions; a candidate stands there twice")
    return found.astype(np.int64)


def public_randomness(rng: np.random.Generator | None) -> np.random.Generator:
    """Return the generator; a fixed one for ``None``.

    Raises:
        SpecError: it is no NumPy generator.
    """
    if rng is None:
        return np.random.default_rng(0)
    if not isinstance(rng, np.random.Generator):
        raise SpecError(f"expected a random generator, got rng={rng!r}; numpy.random.default_rng(seed) makes one")
    return rng


def _doubles(given: NDArray[Any]) -> FloatArray:
    with np.errstate(over="ignore"):  # of longer floats; what becomes infinite is refused by the caller
        return np.asarray(given, np.float64)
